//! The running world: what happens, in order, and who is told. It wires layers and decides nothing about them.
//!
//! Every event is a timer of some entity; what an event sets in motion at the same instant is a queue of jobs that is
//! emptied before the next event. Agents are asked one at a time and what they ask for becomes jobs, so nobody is
//! re-entered.

use crate::chain::Chain;
use crate::flow::{Delivered, Flow, Transport, address, node_of};
use crate::scenario::{EventKind, Traffic};
use crate::taps::Taps;
use engine::{Class, Slot, Timers};
use mac::{Channel, Fate, Frame, Input, Kind, Msdu, Output, Reception, Station, TxReport};
use queue::Space;
use schemes::{Action, Cx, NodeView, Place, Toward};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use tcp::{FlowFacts, Input as TcpInput, Output as TcpOutput};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Pkt, Udp};

/// What a timer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next entry of the agenda.
    Agenda,
    /// Contention is won by somebody.
    Grant,
    /// Stations may drop a NAV.
    NavCheck,
    /// The frame of a node leaves the air.
    AirEnd(NodeId),
    /// A station's MAC.
    Station(NodeId),
    /// The agents of a node.
    Agents(NodeId),
    /// Packets on their way from a node's radio to its transport (`host_delay`).
    Inbox(NodeId),
    /// One end of a TCP connection.
    Tcp(u32, u8),
    /// What one end's application writes.
    Source(u32, u8),
    /// What one end's application reads.
    Sink(u32, u8),
}

/// What happens once, at a time known from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appointment {
    Start(u32),
    Stop(u32),
    WarmupEnds,
    Scenario(EventKind),
    Sample,
    End,
}

/// Something to be done before the instant is over.
#[derive(Debug)]
enum Job {
    /// A packet moves on along its path. `after`: the member of the chain that had it last at this place.
    Packet { node: NodeId, pkt: Pkt, at: Place, after: Option<u8>, peer: Option<NodeId> },
    /// A frame goes into the air.
    Transmit(Frame),
    /// A TCP end has outputs.
    Pump(u32, u8),
}

/// A host's way in, if it is slow.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub delay: Dur,
    waiting: VecDeque<(SimTime, Pkt)>,
}

/// Everything of one run.
#[derive(Debug)]
pub(crate) struct World {
    pub timers: Timers,
    pub events: Vec<Event>,
    pub agenda: Vec<(SimTime, Appointment)>,
    pub next_appointment: usize,
    pub packets: Packets,
    pub channel: Channel,
    pub stations: Vec<Station>,
    pub chains: Vec<Chain>,
    pub inboxes: Vec<Inbox>,
    pub flows: Vec<Flow>,
    /// Flows that keep the queue of each node from running empty.
    pub saturators: Vec<Vec<u32>>,
    pub is_dead: Vec<bool>,
    pub taps: Taps,
    pub handled: u64,
    jobs: VecDeque<Job>,
    actions: Vec<Action>,
    receptions: Vec<Reception>,
    outputs: Vec<Output>,
    winners: Vec<mac::ContenderId>,
    grant_at: SimTime,
    nav_check_at: SimTime,
}

/// The run was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// What an agent may ask of its node.
struct View<'a> {
    node: NodeId,
    flows: &'a [Flow],
    station: &'a Station,
}

impl NodeView for View<'_> {
    fn facts(&self, flow: FlowId) -> Option<FlowFacts> {
        let it = self.flows.get(flow.connection())?;
        let end = it.ends.iter().position(|node| *node == self.node)?;
        it.connection(end).map(tcp::Connection::facts)
    }

    fn room(&self) -> Space {
        self.station.queue().space()
    }
}

/// Where the timers of each kind begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    nodes: usize,
}

impl Layout {
    const AGENDA: Slot = Slot(0);
    const GRANT: Slot = Slot(1);
    const NAV: Slot = Slot(2);

    pub fn of(nodes: usize) -> Layout {
        Layout { nodes }
    }

    /// What each slot stands for.
    pub fn events(nodes: usize, flows: usize) -> Vec<Event> {
        let ids = || (0..nodes as u32).map(NodeId);
        let mut events = vec![Event::Agenda, Event::Grant, Event::NavCheck];
        events.extend(ids().map(Event::AirEnd));
        events.extend(ids().map(Event::Station));
        events.extend(ids().map(Event::Agents));
        events.extend(ids().map(Event::Inbox));
        for flow in 0..flows as u32 {
            events.extend([Event::Tcp(flow, 0), Event::Tcp(flow, 1)]);
            events.extend([Event::Source(flow, 0), Event::Source(flow, 1)]);
            events.extend([Event::Sink(flow, 0), Event::Sink(flow, 1)]);
        }
        events
    }

    fn node(self, kind: usize, node: NodeId) -> Slot {
        Slot((3 + kind * self.nodes) as u32 + node.0)
    }

    fn air(self, node: NodeId) -> Slot {
        self.node(0, node)
    }

    fn station(self, node: NodeId) -> Slot {
        self.node(1, node)
    }

    fn agents(self, node: NodeId) -> Slot {
        self.node(2, node)
    }

    fn inbox(self, node: NodeId) -> Slot {
        self.node(3, node)
    }

    fn flow(self, flow: u32, which: u32) -> Slot {
        Slot((3 + 4 * self.nodes) as u32 + 6 * flow + which)
    }

    fn tcp(self, flow: u32, end: u8) -> Slot {
        self.flow(flow, u32::from(end))
    }

    fn source(self, flow: u32, end: u8) -> Slot {
        self.flow(flow, 2 + u32::from(end))
    }

    fn sink(self, flow: u32, end: u8) -> Slot {
        self.flow(flow, 4 + u32::from(end))
    }
}

/// What a world is put together from; see `build`.
pub(crate) struct Parts {
    pub channel: Channel,
    pub stations: Vec<Station>,
    pub chains: Vec<Chain>,
    pub delays: Vec<Dur>,
    pub flows: Vec<Flow>,
    pub agenda: Vec<(SimTime, Appointment)>,
    pub taps: Taps,
}

impl World {
    pub fn new(parts: Parts) -> World {
        let Parts { channel, stations, chains, delays, flows, mut agenda, taps } = parts;
        let nodes = stations.len();
        // Stable: what is listed first at one instant happens first.
        agenda.sort_by_key(|(at, _)| *at);
        let events = Layout::events(nodes, flows.len());
        let mut saturators = vec![Vec::new(); nodes];
        for (i, flow) in flows.iter().enumerate() {
            if flow.sources[0].traffic == Traffic::Saturated {
                saturators[flow.ends[0].index()].push(i as u32);
            }
        }
        let inboxes = delays.into_iter().map(|delay| Inbox { delay, waiting: VecDeque::new() }).collect();
        let mut world = World {
            timers: Timers::new(events.len()),
            events,
            next_appointment: 0,
            packets: Packets::with_capacity(1024),
            channel,
            stations,
            chains,
            inboxes,
            flows,
            saturators,
            is_dead: vec![false; nodes],
            taps,
            handled: 0,
            jobs: VecDeque::with_capacity(64),
            actions: Vec::with_capacity(16),
            receptions: Vec::with_capacity(nodes),
            outputs: Vec::with_capacity(16),
            winners: Vec::with_capacity(nodes),
            grant_at: SimTime::NEVER,
            nav_check_at: SimTime::NEVER,
            agenda,
        };
        world.set_agenda();
        world.introduce();
        world
    }

    fn layout(&self) -> Layout {
        Layout::of(self.stations.len())
    }

    fn now(&self) -> SimTime {
        self.timers.now()
    }

    fn set_agenda(&mut self) {
        let at = self.agenda.get(self.next_appointment).map_or(SimTime::NEVER, |(at, _)| *at);
        self.timers.set(Layout::AGENDA, at, Class::Run);
    }

    /// Neighbours in reach of each other exchange what they can do: association is implied.
    fn introduce(&mut self) {
        let capabilities: Vec<Vec<schemes::Capability>> = self
            .chains
            .iter()
            .map(|chain| chain.members.iter().filter_map(|member| member.agent.capability()).collect())
            .collect();
        for node in (0..self.stations.len() as u32).map(NodeId) {
            for peer in self.channel.medium.listeners(node).to_vec() {
                let can = &capabilities[peer.index()];
                for member in 0..self.chains[node.index()].members.len() as u8 {
                    self.ask(node, member, Some(peer), |agent, cx| {
                        agent.peer(peer, schemes::PeerEvent::Up(can), cx);
                    });
                }
            }
        }
        self.run_jobs();
    }

    /// Runs to the end of the agenda.
    ///
    /// # Errors
    /// When `stop` is set; looked at every few thousand events.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<(), Interrupted> {
        while let Some((now, slot)) = self.timers.pop() {
            self.handled += 1;
            if self.handled.is_multiple_of(8192) && stop.load(Ordering::Relaxed) {
                return Err(Interrupted);
            }
            match self.events[slot.0 as usize] {
                Event::Agenda => {
                    if self.keep_appointment(now) {
                        return Ok(());
                    }
                }
                Event::Grant => self.grant(now),
                Event::NavCheck => self.channel.check_navs(now),
                Event::AirEnd(node) => self.air_end(now, node),
                Event::Station(node) => self.station(now, node, Input::Timer),
                Event::Agents(node) => self.agents_timer(now, node),
                Event::Inbox(node) => self.inbox(now, node),
                Event::Tcp(flow, end) => {
                    self.tcp(now, flow, end, TcpInput::Timer);
                }
                Event::Source(flow, end) => self.source(now, flow, end),
                Event::Sink(flow, end) => self.sink(now, flow, end),
            }
            self.run_jobs();
            self.set_contention();
        }
        Ok(())
    }

    fn set_contention(&mut self) {
        if self.channel.contention.take_changed() {
            let grant_at = self.channel.contention.next_grant();
            if grant_at != self.grant_at || self.timers.at(Layout::GRANT) != grant_at {
                self.grant_at = grant_at;
                self.timers.set(Layout::GRANT, grant_at, Class::Start);
            }
        }
        let nav_check_at = self.channel.next_nav_check();
        if nav_check_at != self.nav_check_at {
            self.nav_check_at = nav_check_at;
            self.timers.set(Layout::NAV, nav_check_at, Class::Between);
        }
    }

    /// Returns whether the run is over.
    fn keep_appointment(&mut self, now: SimTime) -> bool {
        let (_, what) = self.agenda[self.next_appointment];
        self.next_appointment += 1;
        self.set_agenda();
        match what {
            Appointment::Start(flow) => self.start_flow(now, flow),
            Appointment::Stop(flow) => self.stop_flow(now, flow),
            Appointment::WarmupEnds => self.warm_up(),
            Appointment::Scenario(EventKind::Kill(node)) => self.kill(now, node),
            Appointment::Sample => self.taps.sample(now, &self.flows, &self.stations),
            Appointment::End => return true,
        }
        false
    }

    fn warm_up(&mut self) {
        for flow in &mut self.flows {
            flow.warm = flow.delivered;
            if let Transport::Tcp(ends) = &flow.transport {
                flow.warm_counters = [*ends[0].counters(), *ends[1].counters()];
            }
        }
    }

    // The air.

    fn grant(&mut self, now: SimTime) {
        self.grant_at = SimTime::NEVER;
        let mut winners = std::mem::take(&mut self.winners);
        winners.clear();
        self.channel.contention.winners(now, &mut winners);
        for id in &winners {
            let node = self.channel.contention.node(*id);
            self.station(now, node, Input::Granted);
        }
        self.winners = winners;
    }

    fn transmit(&mut self, now: SimTime, frame: Frame) {
        if frame.kind == Kind::Data {
            self.write_options(frame.from);
        }
        self.channel.start(now, frame);
        let slot = self.layout().air(frame.from);
        self.timers.set(slot, now + frame.airtime, Class::End);
    }

    /// MAC options are written when the frame goes out, at each attempt.
    fn write_options(&mut self, node: NodeId) {
        let Some(msdu) = self.stations[node.index()].current() else { return };
        if msdu.options_room == 0 {
            return;
        }
        let mut options = mac::MacOptions::default();
        let (packet, to) = (self.packets.get(&msdu.pkt).clone(), msdu.to);
        for member in 0..self.chains[node.index()].members.len() as u8 {
            self.ask(node, member, Some(to), |agent, cx| {
                agent.mac_options(Place::ToAir, &packet, &mut options, cx);
            });
        }
        if let Some(msdu) = self.stations[node.index()].current_mut() {
            msdu.options = options;
        }
    }

    fn air_end(&mut self, now: SimTime, node: NodeId) {
        let mut receptions = std::mem::take(&mut self.receptions);
        receptions.clear();
        let frame = self.channel.end(now, node, &mut receptions);
        self.taps.frame(now, &frame, &receptions, &self.stations, &self.packets);
        self.station(now, node, Input::Sent);
        for reception in &receptions {
            let input = if reception.is_for_me { Input::Received(frame) } else { Input::WaitedOut };
            self.station(now, reception.node, input);
        }
        self.receptions = receptions;
    }

    /// Tells a station something and carries out what it asks for.
    fn station(&mut self, now: SimTime, node: NodeId, input: Input) {
        let mut outputs = std::mem::take(&mut self.outputs);
        let station = &mut self.stations[node.index()];
        station.handle(now, input, &mut self.channel, &self.packets, &mut outputs);
        let (at, class) = station.next_wakeup();
        let slot = self.layout().station(node);
        if self.timers.at(slot) != at {
            self.timers.set(slot, at, class);
        }
        for output in outputs.drain(..) {
            match output {
                Output::Transmit(frame) => self.jobs.push_back(Job::Transmit(frame)),
                Output::Deliver(frame) => self.receive(node, &frame),
                Output::Attempt(report) => self.attempted(node, &report),
                Output::Done(msdu, report) => self.done(now, node, msdu, &report),
            }
        }
        self.outputs = outputs;
    }

    fn receive(&mut self, node: NodeId, frame: &Frame) {
        let Some(sent) = self.stations[frame.from.index()].current() else { return };
        let (pkt, options) = (self.packets.copy(&sent.pkt), sent.options);
        if !options.bytes().is_empty() {
            self.read_options(node, frame.from, &pkt, options);
        }
        self.jobs.push_back(Job::Packet { node, pkt, at: Place::FromAir, after: None, peer: Some(frame.from) });
    }

    fn read_options(&mut self, node: NodeId, from: NodeId, pkt: &Pkt, mut options: mac::MacOptions) {
        let packet = self.packets.get(pkt).clone();
        for member in (0..self.chains[node.index()].members.len() as u8).rev() {
            self.ask(node, member, Some(from), |agent, cx| {
                agent.mac_options(Place::FromAir, &packet, &mut options, cx);
            });
        }
    }

    fn attempted(&mut self, node: NodeId, report: &TxReport) {
        for i in 0..self.chains[node.index()].reads_attempts().len() {
            let member = self.chains[node.index()].reads_attempts()[i];
            let Some(msdu) = self.stations[node.index()].current() else { return };
            let packet = self.packets.get(&msdu.pkt).clone();
            self.ask(node, member, Some(report.to), |agent, cx| agent.report(&packet, report, cx));
        }
    }

    fn done(&mut self, now: SimTime, node: NodeId, msdu: Msdu, report: &TxReport) {
        let why = match (self.is_dead[node.index()], report.fate) {
            (true, _) => DropWhy::NodeDown,
            (false, Fate::QueueFull) => DropWhy::QueueFull,
            (false, _) => DropWhy::MacDone,
        };
        self.taps.mac(now, node, report);
        let packet = self.packets.free(msdu.pkt, why);
        for i in 0..self.chains[node.index()].reads_reports().len() {
            let member = self.chains[node.index()].reads_reports()[i];
            self.ask(node, member, Some(report.to), |agent, cx| agent.report(&packet, report, cx));
        }
        if report.fate != Fate::QueueFull {
            self.refill(now, node);
        }
    }

    // Agents.

    /// Asks one agent; what it asks for becomes jobs that go on from its position.
    fn ask<R>(
        &mut self,
        node: NodeId,
        member: u8,
        peer: Option<NodeId>,
        question: impl FnOnce(&mut dyn schemes::Agent, &mut Cx) -> R,
    ) -> R {
        let now = self.timers.now();
        let view = View { node, flows: &self.flows, station: &self.stations[node.index()] };
        let it = &mut self.chains[node.index()].members[usize::from(member)];
        let mut cx = Cx::new(now, node, peer, it.info, &mut self.packets, &view, &mut self.actions);
        let answer = question(&mut *it.agent, &mut cx);
        if !self.actions.is_empty() {
            self.act(now, node, member);
        }
        answer
    }

    fn act(&mut self, now: SimTime, node: NodeId, member: u8) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                Action::Inject(pkt, toward) => self.inject(node, member, pkt, toward),
                Action::Timer(key, at) => {
                    self.chains[node.index()].set_timer(member, key, at);
                    let next = self.chains[node.index()].next_timer();
                    let slot = self.layout().agents(node);
                    if self.timers.at(slot) != next {
                        self.timers.set(slot, next, Class::Between);
                    }
                }
                Action::Command(flow, command) => {
                    let it = &self.flows[flow.connection()];
                    if let Some(end) = it.ends.iter().position(|n| *n == node) {
                        self.tcp(now, flow.connection() as u32, end as u8, TcpInput::Command(command));
                    }
                }
            }
        }
        self.actions = actions;
    }

    fn inject(&mut self, node: NodeId, member: u8, pkt: Pkt, toward: Toward) {
        let to = node_of(self.packets.get(&pkt).ip.dst, self.stations.len());
        let (at, peer) = match toward {
            Toward::Host => (Place::ToHost, None),
            Toward::Air(peer) => (Place::ToAir, Some(peer)),
            Toward::Route if to == Some(node) => (Place::ToHost, None),
            Toward::Route => (Place::ToAir, to),
        };
        self.jobs.push_back(Job::Packet { node, pkt, at, after: Some(member), peer });
    }

    fn agents_timer(&mut self, now: SimTime, node: NodeId) {
        while let Some((member, key)) = self.chains[node.index()].take_due(now) {
            self.ask(node, member, None, |agent, cx| agent.timer(key, cx));
        }
        let next = self.chains[node.index()].next_timer();
        self.timers.set(self.layout().agents(node), next, Class::Between);
    }

    // Packets on their way.

    fn run_jobs(&mut self) {
        while let Some(job) = self.jobs.pop_front() {
            let now = self.now();
            match job {
                Job::Packet { node, pkt, at, after, peer } => self.walk(now, node, pkt, at, after, peer),
                Job::Transmit(frame) => self.transmit(now, frame),
                Job::Pump(flow, end) => self.pump(now, flow, end),
            }
        }
    }

    /// A packet passes the agents that sit at `at`, then goes where that leads.
    fn walk(
        &mut self,
        now: SimTime,
        node: NodeId,
        mut pkt: Pkt,
        mut at: Place,
        mut after: Option<u8>,
        mut peer: Option<NodeId>,
    ) {
        if self.is_dead[node.index()] {
            self.packets.free(pkt, DropWhy::NodeDown);
            return;
        }
        let is_opaque = self.packets.get(&pkt).l4 == L4::Opaque;
        loop {
            while let Some(member) = self.chains[node.index()].next(at, after).filter(|_| !is_opaque) {
                after = Some(member);
                match self.ask(node, member, peer, |agent, cx| agent.packet(at, pkt, cx)) {
                    Some(passed) => pkt = passed,
                    None => return,
                }
            }
            after = None;
            let to = node_of(self.packets.get(&pkt).ip.dst, self.stations.len());
            at = match at {
                Place::FromHost | Place::Transit => Place::ToAir,
                Place::FromAir if to == Some(node) => Place::ToHost,
                Place::FromAir => {
                    peer = to;
                    Place::Transit
                }
                Place::ToAir => {
                    self.enqueue(now, node, pkt, peer);
                    return;
                }
                Place::ToHost => {
                    self.arrive(now, node, pkt);
                    return;
                }
            };
        }
    }

    fn enqueue(&mut self, now: SimTime, node: NodeId, pkt: Pkt, peer: Option<NodeId>) {
        let Some(to) = peer else {
            self.packets.free(pkt, DropWhy::NoRoute);
            return;
        };
        let packet = self.packets.get(&pkt);
        let room: u8 = self.chains[node.index()].members.iter().map(|m| m.agent.mac_room(packet)).sum();
        let mpdu = mac::frame::DATA_HEADER + mac::frame::LLC_SNAP + packet.ip_len() + mac::frame::FCS;
        let class = mac::Class::of(packet);
        let msdu = Msdu::new(now, pkt, to, mpdu + Bytes(u64::from(room)), class, room);
        self.station(now, node, Input::Enqueue(msdu));
    }

    /// A packet has come up to the host, which may be slow.
    fn arrive(&mut self, now: SimTime, node: NodeId, pkt: Pkt) {
        let inbox = &mut self.inboxes[node.index()];
        if inbox.delay == Dur::ZERO {
            self.deliver(now, node, pkt);
            return;
        }
        inbox.waiting.push_back((now + inbox.delay, pkt));
        if inbox.waiting.len() == 1 {
            let at = now + inbox.delay;
            self.timers.set(self.layout().inbox(node), at, Class::Between);
        }
    }

    fn inbox(&mut self, now: SimTime, node: NodeId) {
        while self.inboxes[node.index()].waiting.front().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, pkt)) = self.inboxes[node.index()].waiting.pop_front() {
                self.deliver(now, node, pkt);
            }
        }
        let next = self.inboxes[node.index()].waiting.front().map_or(SimTime::NEVER, |(at, _)| *at);
        self.timers.set(self.layout().inbox(node), next, Class::Between);
    }

    /// A packet has reached the transport of its node.
    fn deliver(&mut self, now: SimTime, node: NodeId, pkt: Pkt) {
        let index = self.packets.get(&pkt).flow.connection();
        let Some(flow) = self.flows.get_mut(index) else {
            self.packets.free(pkt, DropWhy::NoRoute);
            return;
        };
        let packet = self.packets.free(pkt, DropWhy::Delivered);
        // The even id of a connection runs to its second end.
        let end = usize::from(packet.flow == FlowId::forward(index as u32));
        if flow.ends[end] != node {
            return;
        }
        let ip_len = packet.ip_len().0;
        match (&mut flow.transport, &packet.l4) {
            (Transport::Tcp(ends), L4::Tcp(header)) => {
                self.taps.tcp(now, &packet, true);
                let before = ends[end].counters().delivered_segments;
                ends[end].handle(now, TcpInput::Segment { tcp: header, payload: &packet.payload, ce: false });
                if ends[end].counters().delivered_segments > before {
                    flow.delivered[end].datagram += ip_len;
                    flow.delivered[end].packets += 1;
                }
                self.jobs.push_back(Job::Pump(index as u32, end as u8));
            }
            (Transport::Udp { .. }, L4::Udp(_)) => {
                let got: &mut Delivered = &mut flow.delivered[end];
                got.payload += u64::from(packet.payload.len);
                got.datagram += ip_len;
                got.packets += 1;
            }
            _ => {}
        }
    }

    // Hosts.

    fn tcp(&mut self, now: SimTime, flow: u32, end: u8, input: TcpInput<'_>) {
        let it = &mut self.flows[flow as usize];
        if self.is_dead[it.ends[usize::from(end)].index()] {
            return;
        }
        if let Transport::Tcp(ends) = &mut it.transport {
            ends[usize::from(end)].handle(now, input);
            self.jobs.push_back(Job::Pump(flow, end));
        }
    }

    /// Fetches all outputs of one end and sets its timer.
    fn pump(&mut self, now: SimTime, index: u32, end: u8) {
        let e = usize::from(end);
        let slot = self.layout().tcp(index, end);
        let (source_slot, sink_slot) = (self.layout().source(index, end), self.layout().sink(index, end));
        let flow = &mut self.flows[index as usize];
        let Transport::Tcp(ends) = &mut flow.transport else { return };
        let node = flow.ends[e];
        if self.is_dead[node.index()] {
            return;
        }
        let connection = &mut ends[e];
        while let Some(output) = connection.poll(now) {
            match output {
                TcpOutput::Segment { tcp, payload, .. } => {
                    flow.ip_id[e] = flow.ip_id[e].wrapping_add(1);
                    let ip = Ipv4 {
                        src: address(flow.ends[e]),
                        dst: address(flow.ends[1 - e]),
                        id: flow.ip_id[e],
                        ..Ipv4::default()
                    };
                    let forward = FlowId::forward(index);
                    let id = if e == 0 { forward } else { forward.reverse() };
                    let packet = Packet { ip, l4: L4::Tcp(tcp), payload, flow: id };
                    self.taps.tcp(now, &packet, false);
                    let pkt = self.packets.put(packet);
                    let peer = Some(flow.ends[1 - e]);
                    self.jobs.push_back(Job::Packet { node, pkt, at: Place::FromHost, after: None, peer });
                }
                TcpOutput::Connected | TcpOutput::SendSpace => {
                    if output == TcpOutput::Connected && flow.sources[e].is_timed() {
                        flow.sources[e].next = now;
                        self.timers.set(source_slot, now, Class::Between);
                    }
                    let n = flow.sources[e].bulk();
                    if n > 0 {
                        connection.handle(now, TcpInput::Write(n));
                    }
                    if flow.sources[e].is_done {
                        connection.handle(now, TcpInput::Close);
                    }
                }
                TcpOutput::Readable { len, .. } => {
                    flow.delivered[e].payload += u64::from(len);
                    let before = flow.sinks[e].next;
                    let n = flow.sinks[e].arrived(now, u64::from(len));
                    if n > 0 {
                        connection.handle(now, TcpInput::Read(n));
                    }
                    if flow.sinks[e].next != before {
                        self.timers.set(sink_slot, flow.sinks[e].next, Class::Between);
                    }
                }
                // The other application is done: so is this one, unless it has something to write itself.
                TcpOutput::PeerClosed => {
                    if flow.sources[e].traffic == Traffic::None || flow.sources[e].is_done {
                        connection.handle(now, TcpInput::Close);
                    }
                }
                TcpOutput::Closed => {}
                TcpOutput::Failed(_) => flow.failed = Some("connection failed"),
            }
        }
        let at = connection.next_wakeup();
        if self.timers.at(slot) != at {
            self.timers.set(slot, at, Class::Between);
        }
    }

    fn start_flow(&mut self, now: SimTime, index: u32) {
        let flow = &mut self.flows[index as usize];
        flow.is_started = true;
        let node = flow.ends[0];
        match flow.transport {
            Transport::Tcp(_) => self.jobs.push_back(Job::Pump(index, 0)),
            Transport::Udp { .. } if flow.sources[0].is_timed() => {
                flow.sources[0].next = now;
                self.source(now, index, 0);
            }
            Transport::Udp { .. } => self.refill(now, node),
        }
    }

    fn stop_flow(&mut self, now: SimTime, index: u32) {
        let flow = &mut self.flows[index as usize];
        for source in &mut flow.sources {
            source.is_done = true;
            source.next = SimTime::NEVER;
        }
        for end in 0..2 {
            let slot = self.layout().source(index, end);
            self.timers.set(slot, SimTime::NEVER, Class::Between);
            self.tcp(now, index, end, TcpInput::Close);
        }
    }

    /// An application writes by the clock.
    fn source(&mut self, now: SimTime, index: u32, end: u8) {
        let e = usize::from(end);
        let flow = &mut self.flows[index as usize];
        if self.is_dead[flow.ends[e].index()] || flow.sources[e].is_done {
            return;
        }
        let is_udp = matches!(flow.transport, Transport::Udp { .. });
        let unit = flow.datagram.0 - if is_udp { 28 } else { 40 };
        let n = flow.sources[e].timed(unit);
        let next = flow.sources[e].next;
        if is_udp {
            self.datagram(index);
        } else {
            self.tcp(now, index, end, TcpInput::Write(n));
        }
        self.timers.set(self.layout().source(index, end), next, Class::Between);
    }

    /// An application reads by the clock.
    fn sink(&mut self, now: SimTime, index: u32, end: u8) {
        let sink = &mut self.flows[index as usize].sinks[usize::from(end)];
        let n = sink.tick(now);
        let next = sink.next;
        self.timers.set(self.layout().sink(index, end), next, Class::Between);
        if n > 0 {
            self.tcp(now, index, end, TcpInput::Read(n));
        }
    }

    /// One UDP datagram leaves the first end of a flow.
    fn datagram(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let Transport::Udp { sent } = &mut flow.transport else { return };
        let len = (flow.datagram.0 - 28) as u32;
        let payload = Payload::stream(*sent * u64::from(len), len);
        *sent += 1;
        flow.ip_id[0] = flow.ip_id[0].wrapping_add(1);
        let ip =
            Ipv4 { src: address(flow.ends[0]), dst: address(flow.ends[1]), id: flow.ip_id[0], ..Ipv4::default() };
        let l4 = L4::Udp(Udp { src_port: flow.ports[0], dst_port: flow.ports[1] });
        let pkt = self.packets.put(Packet { ip, l4, payload, flow: FlowId::forward(index) });
        let (node, peer) = (flow.ends[0], Some(flow.ends[1]));
        self.jobs.push_back(Job::Packet { node, pkt, at: Place::FromHost, after: None, peer });
    }

    /// Saturated sources of a node see to it that its queue holds the next datagram.
    fn refill(&mut self, now: SimTime, node: NodeId) {
        if self.saturators[node.index()].is_empty() || self.is_dead[node.index()] {
            return;
        }
        for i in 0..self.saturators[node.index()].len() {
            let flow = self.saturators[node.index()][i];
            let it = &self.flows[flow as usize];
            let runs = it.is_started && now < it.stop;
            let missing = 2u64.saturating_sub(self.stations[node.index()].backlog());
            for _ in 0..missing.min(if runs { 2 } else { 0 }) {
                self.datagram(flow);
            }
        }
    }

    /// A node dies: its radio falls silent, its packets are lost, its transport ends stand still.
    fn kill(&mut self, _: SimTime, node: NodeId) {
        if std::mem::replace(&mut self.is_dead[node.index()], true) {
            return;
        }
        for msdu in self.stations[node.index()].kill(&mut self.channel) {
            self.packets.free(msdu.pkt, DropWhy::NodeDown);
        }
        for (_, pkt) in self.inboxes[node.index()].waiting.drain(..) {
            self.packets.free(pkt, DropWhy::NodeDown);
        }
        self.release(node);
        let layout = self.layout();
        let mut stop = vec![layout.station(node), layout.agents(node), layout.inbox(node)];
        for (i, flow) in self.flows.iter().enumerate() {
            for end in 0..2u8 {
                if flow.ends[usize::from(end)] == node {
                    let i = i as u32;
                    stop.extend([layout.tcp(i, end), layout.source(i, end), layout.sink(i, end)]);
                }
            }
        }
        for slot in stop {
            self.timers.set(slot, SimTime::NEVER, Class::Between);
        }
    }

    /// The agents of a node let go of what they hold.
    pub fn release(&mut self, node: NodeId) {
        for member in 0..self.chains[node.index()].members.len() as u8 {
            self.ask(node, member, None, |agent, cx| agent.release(cx));
        }
    }

    /// Packets in somebody's care, by what each part of the world says of itself.
    pub fn in_care(&self) -> u64 {
        let queued: u64 = self.stations.iter().map(Station::backlog).sum();
        let held: u64 = self.chains.iter().flat_map(|c| &c.members).map(|m| m.agent.held()).sum();
        let waiting: u64 = self.inboxes.iter().map(|inbox| inbox.waiting.len() as u64).sum();
        queued + held + waiting
    }
}
