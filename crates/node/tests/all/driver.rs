//! A driver without a simulator: nodes whose radios reach the neighbours in a list, without loss and without delay.

use node::{Chain, Host, Input, Node, Output};
use queue::Space;
use schemes::{Member, NodeView};
use std::net::Ipv4Addr;
use tcp::{FlowFacts, SenderCommand};
use units::{Bytes, Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{DropWhy, Packet, Packets};

/// A host without transport: it has no connections and room for everything.
#[derive(Debug, Default)]
pub struct Nothing;

impl NodeView for Nothing {
    fn facts(&self, _: FlowId) -> Option<FlowFacts> {
        None
    }

    fn room(&self) -> Space {
        Space { free: Bytes(u64::MAX), used: Bytes::ZERO, entries: 0 }
    }

    fn address(&self, neighbour: NodeId) -> Ipv4Addr {
        net::address(neighbour)
    }
}

impl Host for Nothing {
    fn command(&mut self, _: FlowId, _: SenderCommand) {}
}

/// Nodes in the air.
#[derive(Debug)]
pub struct Air {
    pub now: SimTime,
    pub nodes: Vec<Node>,
    /// The neighbours that hear each.
    pub hears: Vec<Vec<u32>>,
    pub packets: Packets,
    /// The packets that reached a host: time, host, packet.
    pub delivered: Vec<(SimTime, NodeId, Packet)>,
    /// Frames sent, by sender and receiver.
    pub frames: Vec<(NodeId, NodeId)>,
}

impl Air {
    pub fn new(nodes: Vec<Node>, hears: Vec<Vec<u32>>) -> Air {
        let packets = Packets::default();
        Air { now: SimTime::ZERO, nodes, hears, packets, delivered: vec![], frames: vec![] }
    }

    /// A host sends.
    pub fn send(&mut self, from: u32, packet: Packet) {
        let pkt = self.packets.put(packet);
        self.tell(from, Input::FromHost(pkt));
    }

    pub fn tell(&mut self, node: u32, what: Input<'_>) {
        self.nodes[node as usize].handle(self.now, what, &mut self.packets, &mut Nothing);
        self.settle();
    }

    /// Moves packets until nothing moves.
    fn settle(&mut self) {
        let mut moved = true;
        while moved {
            moved = false;
            for id in 0..self.nodes.len() {
                while let Some(output) = self.nodes[id].poll(self.now, &mut self.packets, &mut Nothing) {
                    moved = true;
                    self.carry(NodeId(id as u32), output);
                }
            }
        }
    }

    fn carry(&mut self, from: NodeId, output: Output) {
        match output {
            Output::ToAir { pkt, to, .. } => {
                self.frames.push((from, to));
                let packet = self.packets.free(pkt, DropWhy::MacDone).clone();
                let hearers = self.hears[from.index()].clone();
                for node in hearers.into_iter().filter(|node| [NodeId(*node), NodeId::BROADCAST].contains(&to)) {
                    let pkt = self.packets.put(packet.clone());
                    let what = Input::FromAir(pkt, InterfaceId(node), from, mac::MacOptions::default());
                    self.nodes[node as usize].handle(self.now, what, &mut self.packets, &mut Nothing);
                }
            }
            Output::Deliver(pkt) => {
                let packet = self.packets.free(pkt, DropWhy::Delivered).clone();
                self.delivered.push((self.now, from, packet));
            }
            Output::ToWire(..) => panic!("there are no wires"),
        }
    }

    /// Lets time pass to the next timer of a node; `false` if there is none.
    pub fn wait(&mut self) -> bool {
        let at = self.nodes.iter().map(Node::next_wakeup).min().unwrap_or(SimTime::NEVER);
        if at == SimTime::NEVER {
            return false;
        }
        self.now = at;
        for node in 0..self.nodes.len() as u32 {
            if self.nodes[node as usize].next_wakeup() <= at {
                self.tell(node, Input::Timer);
            }
        }
        true
    }
}

/// A node with these agents and this router.
pub fn node(id: u32, agents: Vec<Member>, router: Box<dyn net::Router>, host_delay: Dur) -> Node {
    let (id, interface) = (NodeId(id), InterfaceId(id));
    Node::new(id, net::address(id), interface, Chain::new(agents, vec![]), router, host_delay)
}
