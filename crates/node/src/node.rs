//! The node itself: packets on their way past its agents, to the air, to a wire, to the host.

use crate::routing::Routing;
use crate::stage::Stage;
use crate::{Chain, Host, Input, Output};
use mac::{Fate, MacOptions, TxReport};
use net::{Addresses, Hop, LinkSample, Order, Orders, Router};
use schemes::{Action, Agent, Cx, PeerEvent, Place, Port, Signal, Toward};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use units::{Dur, InterfaceId, NodeId, SimTime};
use wire::{DropWhy, L4, Packet, Packets, Pkt};

/// A packet on its way through a node.
#[derive(Debug)]
struct Passage {
    pkt: Pkt,
    stage: Stage,
    /// The member of the chain that had it last at this place.
    after: Option<u8>,
    /// The neighbour it comes from or, from `ToAir` on, goes to.
    peer: Option<NodeId>,
    /// The interface between, if it is a radio neighbour.
    interface: InterfaceId,
}

impl Passage {
    /// Of a packet that has nothing to do with a radio yet.
    fn new(pkt: Pkt, stage: Stage, peer: Option<NodeId>) -> Passage {
        Passage { pkt, stage, after: None, peer, interface: InterfaceId::NONE }
    }

    /// Of a packet that came by radio, or goes.
    fn by_radio(pkt: Pkt, at: Place, interface: InterfaceId, peer: NodeId) -> Passage {
        Passage { pkt, stage: Stage::At(at), after: None, peer: Some(peer), interface }
    }
}

/// A host's way in, if it is slow.
#[derive(Debug, Default)]
struct Inbox {
    delay: Dur,
    waiting: VecDeque<(SimTime, Pkt)>,
}

/// Packets of one instant for which there is room from the start: a window that a sender lets go at once. In the steady
/// state nothing is allocated.
const WORK_ROOM: usize = 64;

/// One node. Nothing it does is done inside [`Node::handle`] but what agents and the router are told there: packets move
/// when it is stepped.
#[derive(Debug)]
pub struct Node {
    id: NodeId,
    address: Ipv4Addr,
    /// Those of the network, if it stands for prefixes: a gateway.
    addresses: Option<Addresses>,
    /// Its only interface, or the first: that of what its agents send by radio, which sit at nodes with one.
    interface: InterfaceId,
    chain: Chain,
    routing: Routing,
    inbox: Inbox,
    work: VecDeque<Passage>,
    actions: VecDeque<Action>,
    wakeup: SimTime,
    is_dead: bool,
    /// Somebody here reads all reports.
    wants_reports: bool,
}

impl Node {
    /// A node with this router, address and chain, whose agents send by `interface` ([`InterfaceId::NONE`] without a radio). What is for
    /// its host reaches it after `host_delay`.
    pub fn new(
        id: NodeId,
        address: Ipv4Addr,
        interface: InterfaceId,
        chain: Chain,
        router: Box<dyn Router>,
        host_delay: Dur,
    ) -> Node {
        let wants_reports = !chain.reads_reports().is_empty();
        let mut node = Node {
            id,
            address,
            addresses: None,
            interface,
            chain,
            routing: Routing::new(router),
            inbox: Inbox { delay: host_delay, waiting: VecDeque::new() },
            work: VecDeque::with_capacity(WORK_ROOM),
            actions: VecDeque::with_capacity(16),
            wakeup: SimTime::NEVER,
            is_dead: false,
            wants_reports,
        };
        node.set_wakeup();
        node
    }

    /// Stands for a prefix: packets to it in these `addresses` reach its host from now on.
    pub fn stand_for(&mut self, addresses: Addresses) {
        self.addresses = Some(addresses);
    }

    /// Its host wants to know which packets have left its queues: it [wants](Node::wants) all reports.
    pub fn want_reports(&mut self) {
        self.wants_reports = true;
    }

    /// Its first interface; [`InterfaceId::NONE`] without a radio.
    pub fn interface(&self) -> InterfaceId {
        self.interface
    }

    /// Its agents.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Its router.
    pub fn router(&self) -> &dyn Router {
        &*self.routing.router
    }

    /// True once it was killed.
    pub fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Packets in its care: on their way, held by agents, waiting for routes or for the host.
    pub fn held(&self) -> u64 {
        let held: u64 = self.chain.members.iter().map(|member| member.agent.held()).sum();
        held + self.routing.waiting() + (self.inbox.waiting.len() + self.work.len()) as u64
    }

    /// The time at which it wants [`Input::Timer`]; [`SimTime::NEVER`] if it has nothing to wait for.
    pub fn next_wakeup(&self) -> SimTime {
        self.wakeup
    }

    /// True if anybody here wants to be told of neighbours: a driver may spare the other nodes.
    pub fn wants_peers(&self) -> bool {
        !self.chain.members.is_empty() || self.routing.router.watches_neighbours()
    }

    /// True if its router is told computed routes.
    pub fn is_routed(&self) -> bool {
        !self.routing.router.is_on_demand()
    }

    /// True if anybody here reads this report: a driver may spare the other nodes.
    pub fn wants(&self, report: &TxReport) -> bool {
        report.fate == Fate::GivenUp || self.wants_reports
    }

    fn set_wakeup(&mut self) {
        let inbox = self.inbox.waiting.front().map_or(SimTime::NEVER, |(at, _)| *at);
        self.wakeup = self.chain.next_timer().min(inbox).min(self.routing.wakeup).min(self.routing.first_ends());
    }

    /// Something happened.
    pub fn handle<H: Host>(&mut self, now: SimTime, input: Input<'_>, packets: &mut Packets, host: &mut H) {
        match input {
            Input::FromHost(pkt) => {
                self.send(pkt);
                host.wake();
            }
            Input::FromAir(pkt, interface, from, options) => {
                if !options.bytes().is_empty() {
                    self.read_options(now, from, &pkt, &options, packets, host);
                }
                self.receive(pkt, interface, from);
                host.wake();
            }
            Input::FromWire(pkt, from) => {
                let at = if self.is_mine(packets.get(&pkt).ip.dst) { Place::ToHost } else { Place::Transit };
                self.push(Passage::new(pkt, Stage::At(at), Some(from)), host);
            }
            Input::Attempt(packet, report) => {
                for i in 0..self.chain.reads_attempts().len() {
                    let member = self.chain.reads_attempts()[i];
                    self.ask(now, member, Some(report.to), packets, host, |agent, cx| {
                        agent.report(packet, report, cx)
                    });
                }
            }
            Input::Report(interface, packet, report) => {
                for i in 0..self.chain.reads_reports().len() {
                    let member = self.chain.reads_reports()[i];
                    self.ask(now, member, Some(report.to), packets, host, |agent, cx| {
                        agent.report(packet, report, cx)
                    });
                }
                if report.fate == Fate::GivenUp {
                    let to = report.to;
                    self.route(now, packets, host, |router, _, orders| {
                        router.link_failed(now, interface, to, packet, orders);
                    });
                }
            }
            Input::LostOnWire(packet, serial, to) => {
                for i in 0..self.chain.reads_wire_losses().len() {
                    let member = self.chain.reads_wire_losses()[i];
                    self.ask(now, member, Some(to), packets, host, |agent, cx| {
                        agent.lost_on_wire(packet, serial, cx)
                    });
                }
            }
            Input::Peer(interface, peer, event) => {
                for member in 0..self.chain.members.len() as u8 {
                    self.ask(now, member, Some(peer), packets, host, |agent, cx| agent.peer(peer, event, cx));
                }
                if self.routing.router.watches_neighbours() {
                    let is_up = matches!(event, PeerEvent::Up(_));
                    self.route(now, packets, host, |router, _, orders| {
                        router.neighbour(now, interface, peer, is_up, orders);
                    });
                }
            }
            Input::Closed(flow) => {
                for member in 0..self.chain.members.len() as u8 {
                    self.ask(now, member, None, packets, host, |agent, cx| agent.closed(flow, cx));
                }
            }
            Input::Recalled(pkt) => self.push(Passage::new(pkt, Stage::Again, None), host),
            Input::Routes(_) if self.routing.router.is_on_demand() => {}
            Input::Routes(hops) => {
                self.route(now, packets, host, |router, _, orders| router.rerouted(now, hops, orders))
            }
            Input::Timer => self.timer(now, packets, host),
        }
    }

    /// [`Input::FromHost`] for a driver that has nothing to lend at the moment and counts the step itself.
    pub fn send(&mut self, pkt: Pkt) {
        self.work.push_back(Passage::new(pkt, Stage::At(Place::FromHost), None));
    }

    /// [`Input::FromAir`] without MAC options, likewise.
    pub fn receive(&mut self, pkt: Pkt, interface: InterfaceId, from: NodeId) {
        self.work.push_back(Passage::by_radio(pkt, Place::FromAir, interface, from));
    }

    /// The next of what its router wants to be taken back: the packets that this interface has queued for that neighbour. The driver hands
    /// each in ([`Input::Recalled`]), or ends it if there is a reason.
    pub fn next_recall(&mut self) -> Option<(InterfaceId, NodeId, Option<DropWhy>)> {
        self.routing.recalls.pop()
    }

    /// The next measurement of a link from this interface to that neighbour that computed routes are to take into account
    /// ([`Host::weigh`]).
    pub fn next_sample(&mut self) -> Option<(InterfaceId, NodeId, LinkSample)> {
        self.routing.samples.pop_front()
    }

    fn timer<H: Host>(&mut self, now: SimTime, packets: &mut Packets, host: &mut H) {
        while let Some((member, key)) = self.chain.take_due(now) {
            self.ask(now, member, None, packets, host, |agent, cx| agent.timer(key, cx));
        }
        while self.inbox.waiting.front().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, pkt)) = self.inbox.waiting.pop_front() {
                self.push(Passage::new(pkt, Stage::Local, None), host);
            }
        }
        self.routing.expire(now, packets);
        if self.routing.wakeup <= now {
            self.route(now, packets, host, |router, _, orders| router.timer(now, orders));
        }
        self.set_wakeup();
    }

    /// Moves packets until one of them reaches its end here; `None` when nothing is left to do.
    pub fn poll<H: Host>(&mut self, now: SimTime, packets: &mut Packets, host: &mut H) -> Option<Output> {
        while !self.work.is_empty() {
            if let Some(output) = self.step(now, packets, host) {
                return Some(output);
            }
        }
        None
    }

    /// Moves one packet as far as it goes: to its end here, which is returned, or into the care of an agent or of the
    /// router. A driver of many nodes that keeps the order in which they were woken calls this once for each
    /// [`Host::wake`]; every other calls [`Node::poll`].
    pub fn step<H: Host>(&mut self, now: SimTime, packets: &mut Packets, host: &mut H) -> Option<Output> {
        let Passage { mut pkt, stage, mut after, mut peer, mut interface } = self.work.pop_front()?;
        if self.is_dead {
            packets.free(pkt, DropWhy::NodeDown);
            return None;
        }
        let mut at = match stage {
            Stage::At(at) => at,
            Stage::Local => return Some(Output::Deliver(pkt)),
            Stage::Routed(_) => match self.leave(now, pkt, (stage, None), packets, host)? {
                Leaves::ByAir(passed, own, next) => {
                    (pkt, interface, peer) = (passed, own, Some(next));
                    Place::ToAir
                }
                Leaves::ByWire(output) => return Some(output),
            },
            Stage::Again => {
                return match self.leave(now, pkt, (stage, None), packets, host)? {
                    Leaves::ByAir(pkt, own, next) => self.goes_on_air(pkt, own, Some(next), packets),
                    Leaves::ByWire(output) => Some(output),
                };
            }
        };
        // An agent that sends a packet on names the next hop, and nobody knows the last one.
        let from = if after.is_none() { peer } else { None };
        loop {
            if self.chain.sits(at) && !matches!(packets.get(&pkt).l4, L4::Opaque) {
                let mut outward = at.is_outward();
                if matches!(at, Place::FromHost | Place::Transit) {
                    let hop = self.routing.router.toward(now, packets.get(&pkt), from);
                    peer = hop.map(Hop::node);
                    outward &= at == Place::FromHost || !matches!(hop, Some(Hop::Wire(..)));
                }
                while let Some(member) = self.chain.next(at, after, outward) {
                    after = Some(member);
                    let passed = self.ask(now, member, peer, packets, host, |agent, cx| agent.packet(at, pkt, cx));
                    if passed.is_none() {
                        self.chain.note_taken(member, 1);
                    }
                    pkt = passed?;
                }
                after = None;
            }
            at = match at {
                Place::FromHost | Place::Transit => {
                    // A packet is older by one for every node that passes it on, its source not among them.
                    // @RFC791 sec. 3.2, @RFC1812 sec. 5.3.1
                    if at == Place::Transit && !self.ages(packets.get_mut(&pkt)) {
                        packets.free(pkt, DropWhy::TtlExpired);
                        return None;
                    }
                    match self.leave(now, pkt, (Stage::Routed(at), from), packets, host)? {
                        Leaves::ByAir(passed, own, next) => {
                            (pkt, interface, peer) = (passed, own, Some(next));
                            Place::ToAir
                        }
                        Leaves::ByWire(output) => return Some(output),
                    }
                }
                Place::FromAir => {
                    let (passed, next) = self.sort(now, pkt, (interface, peer), packets, host)?;
                    pkt = passed;
                    next
                }
                Place::ToAir => return self.goes_on_air(pkt, interface, peer, packets),
                Place::ToHost => return self.arrive(now, pkt),
            };
        }
    }

    /// The hop over which a packet leaves that came from a neighbour; `None` if it waits for a route, and is then at this stage, or has
    /// ended for want of one.
    // In line: each packet that leaves takes it, and what is rare is elsewhere.
    #[inline(always)]
    fn leave<H: Host>(
        &mut self,
        now: SimTime,
        pkt: Pkt,
        (then, from): (Stage, Option<NodeId>),
        packets: &mut Packets,
        host: &mut H,
    ) -> Option<Leaves> {
        match self.routing.router.next(now, packets.get(&pkt), from) {
            Some(Hop::Air(interface, next)) => Some(Leaves::ByAir(pkt, interface, next)),
            Some(Hop::Wire(link, _)) => Some(Leaves::ByWire(Output::ToWire(link, pkt))),
            None => self.leave_unrouted(now, pkt, (then, from), packets, host),
        }
    }

    /// [`Node::leave`], of a packet for which the router has no hop as it is.
    #[cold]
    #[inline(never)]
    fn leave_unrouted<H: Host>(
        &mut self,
        now: SimTime,
        pkt: Pkt,
        (then, from): (Stage, Option<NodeId>),
        packets: &mut Packets,
        host: &mut H,
    ) -> Option<Leaves> {
        let found = self.routing.seek(now, pkt, (then, from), packets);
        self.carry_out(now, packets, host);
        found.map(|(pkt, hop)| match hop {
            Hop::Air(interface, next) => Leaves::ByAir(pkt, interface, next),
            Hop::Wire(link, _) => Leaves::ByWire(Output::ToWire(link, pkt)),
        })
    }

    /// The next place of a packet that the radio received; `None` if it was the router's.
    fn sort<H: Host>(
        &mut self,
        now: SimTime,
        pkt: Pkt,
        (interface, peer): (InterfaceId, Option<NodeId>),
        packets: &mut Packets,
        host: &mut H,
    ) -> Option<(Pkt, Place)> {
        let packet = packets.get(&pkt);
        if !self.is_mine(packet.ip.dst) {
            return Some((pkt, Place::Transit));
        }
        if let (L4::Udp(header), Some(from)) = (&packet.l4, peer)
            && self.routing.port == Some(header.dst_port)
        {
            self.route(now, packets, host, |router, packets, orders| {
                router.control(now, packets.get(&pkt), interface, from, orders);
            });
            packets.free(pkt, DropWhy::Consumed);
            return None;
        }
        if packet.has_routing_header() {
            return self.behind_header(now, pkt, (interface, peer), packets, host);
        }
        Some((pkt, Place::ToHost))
    }

    /// [`Node::sort`], of a packet with a routing header that has reached its destination.
    #[cold]
    #[inline(never)]
    fn behind_header<H: Host>(
        &mut self,
        now: SimTime,
        pkt: Pkt,
        (interface, peer): (InterfaceId, Option<NodeId>),
        packets: &mut Packets,
        host: &mut H,
    ) -> Option<(Pkt, Place)> {
        if packets.get(&pkt).l4 != L4::Nothing {
            self.routing.router.arrived(now, packets.get_mut(&pkt), peer, &mut self.routing.orders);
            self.carry_out(now, packets, host);
            return Some((pkt, Place::ToHost));
        }
        if let Some(from) = peer {
            self.route(now, packets, host, |router, packets, orders| {
                router.control(now, packets.get(&pkt), interface, from, orders);
            });
        }
        packets.free(pkt, DropWhy::Consumed);
        None
    }

    /// True if packets to `address` end here.
    fn is_mine(&self, address: Ipv4Addr) -> bool {
        let is_behind = |addresses: &Addresses| addresses.node(address) == Some(self.id);
        address == self.address || address.is_broadcast() || self.addresses.as_ref().is_some_and(is_behind)
    }

    /// Takes one of its hops from a packet that is passed on. Returns whether it may go on. An opaque packet goes as it
    /// came, and a packet that an agent of this node made in its name goes as from any host.
    fn ages(&self, packet: &mut Packet) -> bool {
        if matches!(packet.l4, L4::Opaque) || packet.ip.src == self.address {
            return true;
        }
        packet.ip.ttl = packet.ip.ttl.saturating_sub(1);
        packet.ip.ttl > 0
    }

    fn goes_on_air(
        &self,
        pkt: Pkt,
        interface: InterfaceId,
        peer: Option<NodeId>,
        packets: &mut Packets,
    ) -> Option<Output> {
        let Some(to) = peer.filter(|_| interface != InterfaceId::NONE) else {
            packets.free(pkt, DropWhy::NoRoute);
            return None;
        };
        let options_room = if self.chain.has_options() {
            let packet = packets.get(&pkt);
            self.chain.writes_options().map(|member| member.mac_room(packet, to)).sum()
        } else {
            0
        };
        Some(Output::ToAir { pkt, interface, to, options_room })
    }

    /// Brings a packet up to the host, which may be slow.
    fn arrive(&mut self, now: SimTime, pkt: Pkt) -> Option<Output> {
        if self.inbox.delay == Dur::ZERO {
            return Some(Output::Deliver(pkt));
        }
        self.inbox.waiting.push_back((now + self.inbox.delay, pkt));
        if self.inbox.waiting.len() == 1 {
            self.set_wakeup();
        }
        None
    }

    fn push<H: Host>(&mut self, passage: Passage, host: &mut H) {
        self.work.push_back(passage);
        host.wake();
    }

    /// MAC options for a frame that goes out now, with what is known of this attempt.
    pub fn write_options<H: Host>(
        &mut self,
        now: SimTime,
        packet: &Packet,
        attempt: &TxReport,
        options: &mut MacOptions,
        packets: &mut Packets,
        host: &mut H,
    ) {
        for member in 0..self.chain.members.len() as u8 {
            if self.chain.members[usize::from(member)].claims.turns(Port::MacOptions) {
                self.ask(now, member, Some(attempt.to), packets, host, |agent, cx| {
                    agent.write_options(packet, attempt, options, cx);
                });
            }
        }
    }

    fn read_options<H: Host>(
        &mut self,
        now: SimTime,
        from: NodeId,
        pkt: &Pkt,
        options: &MacOptions,
        packets: &mut Packets,
        host: &mut H,
    ) {
        let (packet, serial) = (packets.get(pkt).clone(), packets.serial(pkt));
        for member in (0..self.chain.members.len() as u8).rev() {
            if self.chain.members[usize::from(member)].claims.reads(Signal::MacOptions) {
                self.ask(now, member, Some(from), packets, host, |agent, cx| {
                    agent.read_options(&packet, serial, options, cx);
                });
            }
        }
    }

    /// Kills the node: everything in its care ends, and it does nothing from now on.
    pub fn kill<H: Host>(&mut self, now: SimTime, packets: &mut Packets, host: &mut H) {
        self.is_dead = true;
        for (_, pkt) in self.inbox.waiting.drain(..) {
            packets.free(pkt, DropWhy::NodeDown);
        }
        self.release(now, packets, host);
        self.wakeup = SimTime::NEVER;
    }

    /// Brings a node that was killed back. Its router begins with nothing; its agents go on from what they knew.
    pub fn restart<H: Host>(&mut self, now: SimTime, packets: &mut Packets, host: &mut H) {
        self.is_dead = false;
        self.chain.wake(now);
        self.route(now, packets, host, |router, _, orders| router.restart(now, orders));
    }

    /// Makes agents give up the packets they hold, and ends the packets that wait for routes.
    pub fn release<H: Host>(&mut self, now: SimTime, packets: &mut Packets, host: &mut H) {
        for member in 0..self.chain.members.len() as u8 {
            self.ask(now, member, None, packets, host, |agent, cx| agent.release(cx));
        }
        self.routing.release(packets);
    }

    /// Asks one agent, then does what it asked for.
    fn ask<H: Host, R>(
        &mut self,
        now: SimTime,
        member: u8,
        peer: Option<NodeId>,
        packets: &mut Packets,
        host: &mut H,
        question: impl FnOnce(&mut dyn Agent, &mut Cx) -> R,
    ) -> R {
        let before = packets.live() as i64;
        let it = &mut self.chain.members[usize::from(member)];
        let mut cx = Cx::new(now, self.id, peer, &it.claims, packets, host, &mut self.actions);
        let got = question(&mut *it.agent, &mut cx);
        let more = packets.live() as i64 - before;
        if more != 0 {
            self.chain.note_taken(member, more);
        }
        if !self.actions.is_empty() {
            self.act(now, member, packets, host);
        }
        got
    }

    fn act<H: Host>(&mut self, now: SimTime, member: u8, packets: &mut Packets, host: &mut H) {
        while let Some(action) = self.actions.pop_front() {
            match action {
                Action::Inject(pkt, toward) => {
                    self.chain.note_taken(member, -1);
                    self.inject(now, member, pkt, toward, packets, host);
                }
                Action::Timer(key, at) => {
                    self.chain.set_timer(member, key, at);
                    self.set_wakeup();
                }
                Action::Command(flow, command) => host.command(flow, command),
                Action::Measured(peer, sample) => {
                    let interface = self.interface;
                    self.route(now, packets, host, |router, _, orders| {
                        router.measured(now, interface, peer, sample, orders);
                    });
                }
            }
        }
    }

    /// Lets the router answer, and carries out what it asks for.
    fn route<H: Host>(
        &mut self,
        now: SimTime,
        packets: &mut Packets,
        host: &mut H,
        ask: impl FnOnce(&mut dyn Router, &Packets, &mut Orders),
    ) {
        ask(&mut *self.routing.router, packets, &mut self.routing.orders);
        self.carry_out(now, packets, host);
    }

    fn carry_out<H: Host>(&mut self, now: SimTime, packets: &mut Packets, host: &mut H) {
        let mut orders = std::mem::take(&mut self.routing.orders);
        for order in orders.drain() {
            match order {
                Order::Send(packet, interface, to) => {
                    let pkt = packets.put(packet);
                    self.push(Passage::by_radio(pkt, Place::ToAir, interface, to), host);
                }
                Order::Found(address) => {
                    while let Some((pkt, then)) = self.routing.take(address, packets) {
                        self.push(Passage::new(pkt, then, None), host);
                    }
                }
                Order::Recall(interface, to) => {
                    self.routing.recalls.push((interface, to, None));
                    host.recall();
                }
                Order::Flush(interface, to) => {
                    self.routing.recalls.push((interface, to, Some(DropWhy::NoRoute)));
                    host.recall();
                }
                Order::Weigh(interface, to, sample) => {
                    if host.weigh() {
                        self.routing.samples.push_back((interface, to, sample));
                    }
                }
                Order::Hold(packet) => {
                    let pkt = packets.put(packet);
                    self.routing.wait(now, pkt, Stage::Again, packets);
                }
                Order::Unreachable(address) => {
                    while let Some((pkt, _)) = self.routing.take(address, packets) {
                        packets.free(pkt, DropWhy::NoRoute);
                    }
                }
            }
        }
        self.routing.orders = orders;
        self.routing.wakeup = self.routing.router.next_wakeup();
        self.set_wakeup();
    }

    fn inject<H: Host>(
        &mut self,
        now: SimTime,
        member: u8,
        pkt: Pkt,
        toward: Toward,
        packets: &mut Packets,
        host: &mut H,
    ) {
        let (at, peer) = match toward {
            Toward::Host => (Place::ToHost, None),
            Toward::Air(peer) => (Place::ToAir, Some(peer)),
            Toward::Route if self.is_mine(packets.get(&pkt).ip.dst) => (Place::ToHost, None),
            Toward::Route => match self.routing.router.next(now, packets.get(&pkt), None) {
                Some(Hop::Air(_, next)) => (Place::ToAir, Some(next)),
                Some(Hop::Wire(..)) | None => (Place::Transit, None),
            },
            Toward::Onward(at, peer) => (at, peer),
        };
        let (stage, interface) = (Stage::At(at), self.interface);
        self.push(Passage { pkt, stage, after: Some(member), peer, interface }, host);
    }
}

/// The way a packet leaves.
enum Leaves {
    ByAir(Pkt, InterfaceId, NodeId),
    ByWire(Output),
}
