//! Packets on their way through a node: past its agents, to the radio or to the host.

use super::{Job, World};
use crate::flow::{Delivered, Transport, node_of};
use engine::Class;
use mac::{Input, Msdu};
use schemes::Place;
use tcp::Input as TcpInput;
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, L4, Pkt};

impl World {
    pub(super) fn run_jobs(&mut self) {
        while let Some(job) = self.jobs.pop_front() {
            let now = self.now();
            match job {
                Job::Packet { node, pkt, at, after, peer } => self.walk(now, node, pkt, at, after, peer),
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

    pub(super) fn enqueue(&mut self, now: SimTime, node: NodeId, pkt: Pkt, peer: Option<NodeId>) {
        let Some(to) = peer else {
            self.packets.free(pkt, DropWhy::NoRoute);
            return;
        };
        let packet = self.packets.get(&pkt);
        let room: u8 = self.chains[node.index()].writes_options().map(|member| member.mac_room(packet, to)).sum();
        let msdu = Msdu::new(now, pkt, &self.packets, to, room);
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
}
