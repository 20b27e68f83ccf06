//! Packets on their way through a node: past its agents, to the radio or to the host.

use super::{Job, Passage, World};
use crate::flow::{Delivered, Transport};
use crate::frames::{self, FrameClass};
use engine::Class;
use mac::{Input, Msdu};
use net::Hop;
use schemes::Place;
use tcp::Input as TcpInput;
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, L4, Pkt};

impl World {
    pub(super) fn run_jobs(&mut self) {
        while let Some(job) = self.jobs.pop_front() {
            let now = self.now();
            match job {
                Job::Packet(passage) => self.walk(now, passage),
                Job::Pump(flow, end) => self.pump(now, flow, end),
            }
        }
    }

    /// A packet passes the agents that sit at `at`, then goes where that leads.
    fn walk(&mut self, now: SimTime, passage: Passage) {
        let Passage { node, mut pkt, mut at, mut after, mut peer } = passage;
        if self.is_dead[node.index()] {
            self.packets.free(pkt, DropWhy::NodeDown);
            return;
        }
        let is_opaque = self.packets.get(&pkt).l4 == L4::Opaque;
        loop {
            let mut outward = at.is_outward();
            if matches!(at, Place::FromHost | Place::Transit) {
                let hop = self.next_hop(node, &pkt);
                peer = hop.map(Hop::node);
                outward &= at == Place::FromHost || !matches!(hop, Some(Hop::Wire(..)));
            }
            while let Some(member) = self.chains[node.index()].next(at, after, outward).filter(|_| !is_opaque) {
                after = Some(member);
                match self.ask(node, member, peer, |agent, cx| agent.packet(at, pkt, cx)) {
                    Some(passed) => pkt = passed,
                    None => return,
                }
            }
            after = None;
            at = match at {
                Place::FromHost | Place::Transit => {
                    // A packet is older by one for every node that passes it on, its source not among them.
                    // @RFC791 sec. 3.2, @RFC1812 sec. 5.3.1
                    if at == Place::Transit && !self.ages(node, &pkt) {
                        self.packets.free(pkt, DropWhy::TtlExpired);
                        return;
                    }
                    match self.next_hop(node, &pkt) {
                        Some(Hop::Air(next)) => {
                            peer = Some(next);
                            Place::ToAir
                        }
                        Some(Hop::Wire(link, _)) => {
                            self.put_on_wire(now, link, pkt);
                            return;
                        }
                        None => {
                            self.packets.free(pkt, DropWhy::NoRoute);
                            return;
                        }
                    }
                }
                Place::FromAir if self.destination(&pkt) == Some(node) => Place::ToHost,
                Place::FromAir => Place::Transit,
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

    /// The node a packet is for.
    pub(super) fn destination(&self, pkt: &Pkt) -> Option<NodeId> {
        net::node_of(self.packets.get(pkt).ip.dst, self.stations.len())
    }

    /// Who comes next after `node` on a packet's way, and over what.
    pub(super) fn next_hop(&self, node: NodeId, pkt: &Pkt) -> Option<Hop> {
        self.destination(pkt).and_then(|to| self.routes.next(node, to))
    }

    /// A packet that is passed on loses one of its hops. Returns whether it may go on. An opaque packet goes as it came, and
    /// what an agent of this node made in its name goes as from any host.
    fn ages(&mut self, node: NodeId, pkt: &Pkt) -> bool {
        let packet = self.packets.get_mut(pkt);
        if packet.l4 == L4::Opaque || packet.ip.src == net::address(node) {
            return true;
        }
        packet.ip.ttl = packet.ip.ttl.saturating_sub(1);
        packet.ip.ttl > 0
    }

    fn enqueue(&mut self, now: SimTime, node: NodeId, pkt: Pkt, peer: Option<NodeId>) {
        let Some(to) = peer else {
            self.packets.free(pkt, DropWhy::NoRoute);
            return;
        };
        let packet = self.packets.get(&pkt);
        let room: u8 = self.chains[node.index()].writes_options().map(|member| member.mac_room(packet, to)).sum();
        let label = frames::label(packet);
        let mut msdu = Msdu::new(now, pkt, &self.packets, to, room);
        msdu.label = label;
        msdu.spares_rts = self.spares_rts_without_payload && !FrameClass::of(mac::Kind::Data, label).is_data();
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

    pub(super) fn inbox(&mut self, now: SimTime, node: NodeId) {
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
                self.taps.tcp(now, packet, true);
                let before = ends[end].counters().delivered_segments;
                let acknowledged = ends[end].acknowledged();
                let ce = packet.ip.is_ce();
                ends[end].handle(now, TcpInput::Segment { tcp: header, payload: &packet.payload, ce });
                if let (0, Some(gaps), true) = (end, &mut flow.ack_gaps, packet.pure_ack().is_some()) {
                    gaps.arrives(now, packet.ip.id, ends[0].acknowledged() - acknowledged);
                }
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
}
