//! A node with one agent, for what `schemes::testing::Bench` cannot do: MAC options, reports with times, the neighbour of
//! each call. A node and not a world: tests carry packets and options from one to the next by hand.

use mac::{Fate, MacOptions, TxReport};
use queue::Space;
use schemes::{Action, Agent, Capability, Cx, NodeView, PeerEvent, Place};
use tcp::FlowFacts;
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Packet, Packets};

#[derive(Debug, Default)]
struct View {
    facts: Option<(FlowId, FlowFacts)>,
}

impl NodeView for View {
    fn facts(&self, flow: FlowId) -> Option<FlowFacts> {
        self.facts.filter(|(of, _)| *of == flow).map(|(_, facts)| facts)
    }

    fn room(&self) -> Space {
        Space { free: Bytes(150_000), used: Bytes::ZERO, entries: 0 }
    }
}

#[derive(Debug)]
pub struct Node {
    agent: Box<dyn Agent>,
    packets: Packets,
    actions: Vec<Action>,
    view: View,
}

impl Node {
    pub fn new(agent: Box<dyn Agent>) -> Node {
        Node { agent, packets: Packets::default(), actions: Vec::new(), view: View::default() }
    }

    pub fn set_facts(&mut self, flow: FlowId, facts: FlowFacts) {
        self.view.facts = Some((flow, facts));
    }

    fn ask<R>(&mut self, peer: NodeId, ask: impl FnOnce(&mut dyn Agent, &mut Cx) -> R) -> R {
        let info = self.agent.info();
        let (now, here, peer) = (SimTime::ZERO, NodeId(0), Some(peer));
        let mut cx = Cx::new(now, here, peer, info, &mut self.packets, &self.view, &mut self.actions);
        ask(&mut *self.agent, &mut cx)
    }

    /// A neighbour is in reach and announces these.
    pub fn up(&mut self, peer: NodeId, can: &[Capability]) {
        self.ask(peer, |agent, cx| agent.peer(peer, PeerEvent::Up(can), cx));
    }

    /// A packet passes; what the agent made of it.
    pub fn pass(&mut self, at: Place, peer: NodeId, packet: &Packet) -> Packet {
        if !self.agent.info().sits_at(at) {
            return packet.clone();
        }
        let pkt = self.packets.put(packet.clone());
        let passed = self.ask(peer, |agent, cx| agent.packet(at, pkt, cx)).expect("the agent lets all packets pass");
        self.packets.free(passed, DropWhy::Delivered)
    }

    /// A packet is queued for `peer` and transmitted: the room asked for, and the options of its frame.
    pub fn transmit(&mut self, peer: NodeId, packet: &Packet) -> (u8, MacOptions) {
        let queued = self.pass(Place::ToAir, peer, packet);
        let room = self.agent.mac_room(&queued);
        let mut options = MacOptions::default();
        for _attempt in 0..2 {
            self.ask(peer, |agent, cx| agent.mac_options(Place::ToAir, &queued, &mut options, cx));
        }
        (room, options)
    }

    /// A frame with options is received from `peer`.
    pub fn receive(&mut self, peer: NodeId, packet: &Packet, mut options: MacOptions) -> Packet {
        self.ask(peer, |agent, cx| agent.mac_options(Place::FromAir, packet, &mut options, cx));
        self.pass(Place::FromAir, peer, packet)
    }

    /// The MAC delivered `packet` to `peer`: it waited in the queue, then took until it was acknowledged.
    pub fn delivered(&mut self, peer: NodeId, packet: &Packet, waited: Dur, took: Dur) {
        let head = SimTime::ZERO + waited;
        let report = TxReport {
            fate: Fate::Delivered,
            to: peer,
            attempts: 1,
            enqueued: SimTime::ZERO,
            head,
            first: head,
            done: head + took,
            airtime: took,
        };
        self.ask(peer, |agent, cx| agent.report(packet, &report, cx));
    }
}
