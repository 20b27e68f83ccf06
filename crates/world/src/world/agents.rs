//! Agents: one is asked at a time, and what it asks for goes on from its position in the chain.

use super::{Job, Passage, World};
use crate::flow::Flow;
use engine::Class;
use mac::Station;
use net::Hop;
use queue::Space;
use schemes::{Action, Cx, NodeView, Place, Toward};
use std::net::Ipv4Addr;
use tcp::{FlowFacts, Input as TcpInput};
use units::{FlowId, NodeId, SimTime};
use wire::Pkt;

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

    fn address(&self, neighbour: NodeId) -> Ipv4Addr {
        net::address(neighbour)
    }
}

impl World {
    /// Asks one agent; what it asks for becomes jobs that go on from its position.
    pub(super) fn ask<R>(
        &mut self,
        node: NodeId,
        member: u8,
        peer: Option<NodeId>,
        question: impl FnOnce(&mut dyn schemes::Agent, &mut Cx) -> R,
    ) -> R {
        let now = self.timers.now();
        let view = View { node, flows: &self.flows, station: &self.stations[node.index()] };
        let it = &mut self.chains[node.index()].members[usize::from(member)];
        let mut cx = Cx::new(now, node, peer, &it.claims, &mut self.packets, &view, &mut self.actions);
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
        let (at, peer) = match toward {
            Toward::Host => (Place::ToHost, None),
            Toward::Air(peer) => (Place::ToAir, Some(peer)),
            Toward::Route if self.destination(&pkt) == Some(node) => (Place::ToHost, None),
            Toward::Route => match self.next_hop(node, &pkt) {
                Some(Hop::Air(next)) => (Place::ToAir, Some(next)),
                Some(Hop::Wire(..)) | None => (Place::Transit, None),
            },
            Toward::Onward(at, peer) => (at, peer),
        };
        self.jobs.push_back(Job::Packet(Passage { node, pkt, at, after: Some(member), peer }));
    }

    pub(super) fn agents_timer(&mut self, now: SimTime, node: NodeId) {
        while let Some((member, key)) = self.chains[node.index()].take_due(now) {
            self.ask(node, member, None, |agent, cx| agent.timer(key, cx));
        }
        let next = self.chains[node.index()].next_timer();
        self.timers.set(self.layout().agents(node), next, Class::Between);
    }
}
