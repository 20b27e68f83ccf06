//! Ends outside: packets that a driver hands in, and packets that have arrived for it.

use super::{Job, World};
use crate::flow::Flow;
use std::collections::VecDeque;
use units::{FlowId, NodeId, SimTime};
use wire::{DropWhy, Packet, Pkt};

/// A packet that has arrived for an end outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// The time at which it reached the host of its node.
    pub at: SimTime,
    /// The packet, as the network has left it: older by a hop for each node that passed it on, perhaps marked.
    pub packet: Packet,
}

/// The packets that have gone in and out of a driven world; empty in any other.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Of each node: packets that wait to be taken out, the oldest first.
    waiting: Vec<VecDeque<Arrived>>,
    /// Packets handed in.
    pub injected: u64,
    /// Packets that have arrived, those that wait among them.
    pub arrived: u64,
}

impl Outside {
    /// True if the world is driven.
    fn is_there(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A packet has arrived at `node`.
    #[cold] // In most worlds nothing has an end outside.
    pub(super) fn put(&mut self, at: SimTime, node: NodeId, packet: &Packet) {
        if let Some(waiting) = self.waiting.get_mut(node.index()) {
            waiting.push_back(Arrived { at, packet: packet.clone() });
            self.arrived += 1;
        }
    }

    /// Takes out the packet that has waited longest at `node`.
    pub fn take(&mut self, node: NodeId) -> Option<Arrived> {
        self.waiting.get_mut(node.index())?.pop_front()
    }
}

impl World {
    /// The world has an outside from now on.
    pub(crate) fn open_outside(&mut self) {
        self.outside.waiting.resize_with(self.nodes.len(), VecDeque::new);
    }

    /// Opens a flow between two ends outside. `None` if there is no room for one more.
    pub(crate) fn open_between(&mut self, ends: [NodeId; 2]) -> Option<FlowId> {
        self.open_flow(|_| Flow::outside(ends))
    }

    /// Closes a flow whose ends are outside. Agents are told when its last packets have passed them.
    pub(crate) fn close_between(&mut self, id: FlowId) {
        let now = self.now();
        if self.close_flow(id) {
            self.ended.push_back((now, id));
        }
        self.tell_of_ended(now);
    }

    /// A packet leaves `node` now, as if its host had sent it: as soon as the world goes on.
    pub(crate) fn inject(&mut self, node: NodeId, packet: Packet) {
        self.outside.injected += 1;
        let pkt = self.packets.put(packet);
        self.nodes[node.index()].send(pkt);
        self.jobs.push(Job::Step(node));
    }

    /// A packet has reached a host that has no end of its flow. What is of no flow is the business of an outside, if there is one.
    #[cold]
    pub(super) fn stray(&mut self, now: SimTime, node: NodeId, pkt: Pkt) {
        if self.packets.get(&pkt).flow == FlowId::NONE && self.outside.is_there() {
            let packet = self.packets.free(pkt, DropWhy::Delivered);
            self.outside.put(now, node, packet);
        } else {
            self.packets.free(pkt, DropWhy::NoRoute);
        }
    }
}
