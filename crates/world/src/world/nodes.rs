//! Nodes: what the world lends them, and what it does for them.

use super::{Job, Seldom, World};
use crate::flow::{Delivered, Flows, Owner, Transport};
use crate::frames::{self, FrameClass};
use crate::interface::Interface;
use engine::Class;
use mac::Msdu;
use node::{Host, Node, Output};
use queue::Space;
use schemes::NodeView;
use std::net::Ipv4Addr;
use tcp::{FlowFacts, Input as TcpInput, SenderCommand};
use units::{Bytes, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Content, DropWhy, L4, Packets, Pkt};

/// The parts that the world lends a node while it is asked.
pub(super) struct Lent<'a> {
    now: SimTime,
    node: NodeId,
    flows: &'a mut Flows,
    interfaces: &'a [Interface],
    /// The node's first interface.
    interface: InterfaceId,
    jobs: &'a mut Vec<Job>,
    weighs: bool,
}

impl NodeView for Lent<'_> {
    fn facts(&self, flow: FlowId) -> Option<FlowFacts> {
        let it = self.flows.get(flow)?;
        let end = it.ends.iter().position(|node| *node == self.node)?;
        it.connection(end).map(tcp::Connection::facts)
    }

    fn room(&self) -> Space {
        let own = self.interfaces.get(self.interface.index());
        own.map_or(Space { free: Bytes(u64::MAX), used: Bytes::ZERO, entries: 0 }, |own| own.station.queue().space())
    }

    fn address(&self, neighbour: NodeId) -> Ipv4Addr {
        net::address(neighbour)
    }
}

impl Host for Lent<'_> {
    fn command(&mut self, flow: FlowId, command: SenderCommand) {
        let Some(it) = self.flows.get_mut(flow) else { return };
        let Some(end) = it.ends.iter().position(|node| *node == self.node) else { return };
        if let Transport::Tcp(ends) = &mut it.transport {
            ends[end].handle(self.now, TcpInput::Command(command));
            self.jobs.push(Job::Pump(flow.connection() as u32, end as u8));
        }
    }

    fn wake(&mut self) {
        self.jobs.push(Job::Step(self.node));
    }

    fn recall(&mut self) {
        self.jobs.push(Job::Seldom(Seldom::Recall(self.node)));
    }

    fn weigh(&mut self) -> bool {
        if self.weighs {
            self.jobs.push(Job::Seldom(Seldom::Weigh(self.node)));
        }
        self.weighs
    }
}

impl World {
    #[inline]
    pub(super) fn run_jobs(&mut self) {
        if !self.jobs.is_empty() {
            self.run_all_jobs();
        }
    }

    #[inline(never)]
    fn run_all_jobs(&mut self) {
        // A list that is read to its end and then emptied: cheaper than a ring, and as short as what one instant sets in motion.
        let mut next = 0;
        let handed_up = self.jobs.len();
        while let Some(&job) = self.jobs.get(next) {
            next += 1;
            self.job(job);
            if self.hands_up_several {
                self.run_what_follows(handed_up);
            }
        }
        self.jobs.clear();
    }

    /// A PSDU hands up many packets at once. What one sets in motion, beyond so many jobs, goes before the next: a host answers packet
    /// by packet.
    #[inline(never)]
    fn run_what_follows(&mut self, handed_up: usize) {
        let mut next = handed_up;
        while let Some(&job) = self.jobs.get(next) {
            next += 1;
            self.job(job);
        }
        self.jobs.truncate(handed_up);
    }

    #[inline(always)]
    fn job(&mut self, job: Job) {
        let now = self.now();
        match job {
            Job::Step(node) => self.step(now, node),
            Job::Pump(flow, end) => self.pump(now, flow, end),
            Job::Seldom(job) => self.seldom(now, job),
        }
    }

    #[cold]
    #[inline(never)]
    fn seldom(&mut self, now: SimTime, job: Seldom) {
        match job {
            Seldom::Recall(node) => self.recall(now, node),
            Seldom::Weigh(node) => self.weigh(now, node),
        }
    }

    /// A node's router takes packets back from transmit queues.
    #[cold]
    fn recall(&mut self, now: SimTime, id: NodeId) {
        while let Some((interface, to, why)) = self.nodes[id.index()].next_recall() {
            self.take_back(now, interface, to, why);
        }
    }

    /// Packets that an interface has queued for a neighbour that has gone: they are asked about anew, or end for this reason.
    pub(super) fn take_back(&mut self, now: SimTime, id: InterfaceId, to: NodeId, why: Option<DropWhy>) {
        let Interface { node, station, .. } = &mut self.interfaces[id.index()];
        let node = *node;
        for pkt in station.recall(now, to, &mut self.packets) {
            match why {
                None => self.tell(now, node, node::Input::Recalled(pkt)),
                Some(why) => _ = self.packets.free(pkt, why),
            }
        }
        self.refill(now, id);
    }

    /// Asks a node, and sets its timer if it is due earlier now. One that stands too early is left, as for TCP: it goes off in vain.
    pub(super) fn node<R>(
        &mut self,
        now: SimTime,
        id: NodeId,
        ask: impl FnOnce(&mut Node, &mut Packets, &mut Lent<'_>) -> R,
    ) -> R {
        let World { nodes, packets, flows, interfaces, jobs, weighs_links: weighs, .. } = self;
        let node = &mut nodes[id.index()];
        let was = node.next_wakeup();
        let mut lent = Lent { now, node: id, flows, interfaces, interface: node.interface(), jobs, weighs: *weighs };
        let got = ask(node, packets, &mut lent);
        let at = node.next_wakeup();
        if at < was && at < self.timers.at(self.layout.node(id)) {
            self.timers.set(self.layout.node(id), at, Class::Between);
        }
        got
    }

    /// Tells a node something.
    pub(super) fn tell(&mut self, now: SimTime, id: NodeId, what: node::Input<'_>) {
        self.node(now, id, |node, packets, host| node.handle(now, what, packets, host));
    }

    /// A node's timer went off.
    pub(super) fn wake_node(&mut self, now: SimTime, id: NodeId) {
        self.node(now, id, |node, packets, host| node.handle(now, node::Input::Timer, packets, host));
        let at = self.nodes[id.index()].next_wakeup();
        if self.timers.at(self.layout.node(id)) != at {
            self.timers.set(self.layout.node(id), at, Class::Between);
        }
    }

    /// One packet moves on through a node.
    pub(super) fn step(&mut self, now: SimTime, id: NodeId) {
        match self.node(now, id, |node, packets, host| node.step(now, packets, host)) {
            Some(Output::ToAir { pkt, interface, to, options_room }) => {
                self.enqueue(now, interface, pkt, to, options_room);
            }
            Some(Output::ToWire(link, pkt)) => self.put_on_wire(now, link, pkt),
            Some(Output::Deliver(pkt)) => self.deliver(now, id, pkt),
            None => {}
        }
    }

    fn enqueue(&mut self, now: SimTime, id: InterfaceId, pkt: Pkt, to: NodeId, options_room: u8) {
        let label = frames::label(self.packets.get(&pkt));
        let mut msdu = Msdu::new(now, pkt, &self.packets, to, options_room);
        msdu.label = label;
        msdu.spares_rts = self.spares_rts_without_payload && !FrameClass::of(mac::Kind::Data, label).is_data();
        self.station(now, id, mac::Input::Enqueue(msdu));
    }

    /// A packet has reached the transport of its node.
    fn deliver(&mut self, now: SimTime, node: NodeId, pkt: Pkt) {
        let id = self.packets.get(&pkt).flow;
        let Some(flow) = self.flows.get_mut(id) else {
            self.stray(now, node, pkt);
            return;
        };
        let packet = self.packets.free(pkt, DropWhy::Delivered);
        // The forward direction of a connection runs to its second end.
        let end = usize::from(!id.is_reverse());
        if flow.ends[end] != node {
            return;
        }
        let ip_len = packet.ip_len().0;
        match (&mut flow.transport, &mut flow.owner, &packet.l4) {
            (Transport::Tcp(ends), owner, L4::Tcp(header)) => {
                self.taps.tcp(now, packet, true);
                let before = ends[end].counters().delivered_segments;
                let acknowledged = ends[end].acknowledged();
                let ce = packet.ip.is_ce();
                ends[end].handle(now, TcpInput::Segment { tcp: header, payload: &packet.payload, ce });
                let brought = ends[end].counters().delivered_segments > before;
                match owner {
                    Owner::Scenario(stated) => {
                        if let (0, Some(gaps), true) = (end, &mut stated.ack_gaps, packet.pure_ack().is_some()) {
                            gaps.arrives(now, packet.ip.id, ends[0].acknowledged() - acknowledged);
                        }
                        if brought {
                            stated.delivered[end].packet(ip_len);
                        }
                    }
                    Owner::User(child) if brought => {
                        let user = child.user;
                        self.packet_of_user(user, end, ip_len);
                    }
                    Owner::User(_) | Owner::Driver => {}
                }
                self.jobs.push(Job::Pump(id.connection() as u32, end as u8));
            }
            (Transport::Udp { .. }, Owner::Scenario(stated), L4::Udp(_)) => {
                let got: &mut Delivered = &mut stated.delivered[end];
                got.payload += u64::from(packet.payload.len);
                got.packet(ip_len);
                if let (1, Content::Virtual { offset }) = (end, &packet.payload.content) {
                    stated.latency.arrived(now, offset + u64::from(packet.payload.len));
                }
            }
            (Transport::Outside, ..) => self.outside.put(now, node, packet),
            _ => {}
        }
    }
}
