//! An agent's view of its node while it is asked, and the actions it asks for.

use crate::claims::{Claims, Place, Port, Signal};
use net::LinkSample;
use queue::Space;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use tcp::{FlowFacts, SenderCommand};
use units::{FlowId, NodeId, SimTime};
use wire::{DropWhy, Packet, Packets, Pkt};

/// The destination of an injected packet. It continues from its injector's position in the chain of agents, and does not
/// return to the injector at that place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// To this node's own transport: at [`Place::ToHost`], past the agents nearer the host.
    Host,
    /// To this neighbour, by radio: at [`Place::ToAir`], past the agents nearer the air.
    Air(NodeId),
    /// Wherever its destination address leads: to this node's transport, by radio as [`Toward::Air`], or by wire, past the agents
    /// before the injector at [`Place::Transit`].
    Route,
    /// On from where the agent kept it, as if it had let it pass then: a packet held at this place, on its way to (or
    /// from) this neighbour.
    Onward(Place, Option<NodeId>),
}

/// The name of one of an agent's timers. Setting one again replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub u64);

/// Something an agent asked for. Carried out after its method has returned.
#[derive(Debug)]
pub enum Action {
    /// Send this packet on from the agent's position.
    Inject(Pkt, Toward),
    /// Set (or, with `NEVER`, clear) one of its timers.
    Timer(Key, SimTime),
    /// Tell the TCP sender of a flow that starts at this node.
    Command(FlowId, SenderCommand),
    /// Hand the measurement of the link to this radio neighbour to the node's router.
    Measured(NodeId, LinkSample),
}

/// The questions that an agent may ask its node while it runs.
pub trait NodeView {
    /// State of the TCP end of `flow` at this node, if it has one here: sender or receiver.
    fn facts(&self, flow: FlowId) -> Option<FlowFacts>;
    /// Room in this node's transmit queue.
    fn room(&self) -> Space;
    /// Address of a neighbour: what an ARP table knows.
    fn address(&self, neighbour: NodeId) -> Ipv4Addr;
}

/// An agent's view of its node.
pub struct Cx<'a> {
    /// The instant.
    pub now: SimTime,
    /// This node.
    pub node: NodeId,
    /// The neighbour on this link: next hop of a packet on its way out (at `FromHost` and `Transit` by radio or by wire), previous
    /// hop of one that came in, receiver of a reported one. `None` where there is none: timers, packets from this host to itself.
    pub peer: Option<NodeId>,
    claims: &'a Claims,
    packets: &'a mut Packets,
    view: &'a dyn NodeView,
    actions: &'a mut VecDeque<Action>,
}

impl<'a> Cx<'a> {
    /// A view for the agent of a seat with these claims. Its driver carries out `actions` when the agent has returned, the first first.
    pub fn new(
        now: SimTime,
        node: NodeId,
        peer: Option<NodeId>,
        claims: &'a Claims,
        packets: &'a mut Packets,
        view: &'a dyn NodeView,
        actions: &'a mut VecDeque<Action>,
    ) -> Cx<'a> {
        Cx { now, node, peer, claims, packets, view, actions }
    }

    fn check_reads(&self, signal: Signal) {
        let Claims { scheme, .. } = self.claims;
        debug_assert!(self.claims.reads(signal), "{scheme} reads {signal:?} and its seat did not ask for it");
    }

    fn check_turns(&self, ports: &[Port]) {
        let (Claims { scheme, .. }, asked) = (self.claims, ports.iter().any(|port| self.claims.turns(*port)));
        debug_assert!(asked, "{scheme} turns one of {ports:?} and its seat did not ask for it");
    }

    /// Looks at a packet.
    pub fn get(&self, pkt: &Pkt) -> &Packet {
        self.packets.get(pkt)
    }

    /// A packet's serial: what was noted of it where it came in is found again where it goes out, and in reports. It holds at
    /// this node alone. A copy has one of its own.
    pub fn serial(&self, pkt: &Pkt) -> u64 {
        self.packets.serial(pkt)
    }

    /// Rewrites a packet. It may grow at `FromHost`, `Transit` and `ToAir`, since its airtime is computed when it is queued; TCP
    /// options may be added at `ToHost` too. At `FromAir` it may not grow.
    pub fn get_mut(&mut self, pkt: &Pkt) -> &mut Packet {
        self.check_turns(&[Port::TcpFlags, Port::TcpNumbers, Port::TcpOptions, Port::Rwnd]);
        self.packets.get_mut(pkt)
    }

    /// A copy of a packet, owned by the agent.
    pub fn copy(&mut self, pkt: &Pkt) -> Pkt {
        self.check_turns(&[Port::Packets]);
        self.packets.copy(pkt)
    }

    /// A packet of the agent's own making.
    pub fn make(&mut self, packet: Packet) -> Pkt {
        self.check_turns(&[Port::Packets]);
        self.packets.put(packet)
    }

    /// Ends a packet and says why.
    pub fn drop(&mut self, pkt: Pkt, why: DropWhy) {
        self.check_turns(&[Port::Packets]);
        self.packets.free(pkt, why);
    }

    /// Sends a packet on from the agent's position in the chain.
    pub fn inject(&mut self, pkt: Pkt, toward: Toward) {
        self.check_turns(&[Port::Packets]);
        self.actions.push_back(Action::Inject(pkt, toward));
    }

    /// Sets a timer of the agent, replacing it if it is set; `NEVER` clears it.
    pub fn timer(&mut self, key: Key, at: SimTime) {
        self.actions.push_back(Action::Timer(key, at));
    }

    /// Tells the TCP sender of `flow`, which must start at this node, what to do.
    pub fn command(&mut self, flow: FlowId, command: SenderCommand) {
        self.check_turns(&[Port::Sender]);
        self.actions.push_back(Action::Command(flow, command));
    }

    /// Hands the measurement of the link to a radio neighbour to this node's router, by a packet that has arrived there.
    pub fn measured(&mut self, neighbour: NodeId, sample: LinkSample) {
        self.check_turns(&[Port::Routes]);
        self.actions.push_back(Action::Measured(neighbour, sample));
    }

    /// State of the TCP end at this node of the connection that `flow`, either direction, belongs to.
    pub fn facts(&self, flow: FlowId) -> Option<FlowFacts> {
        self.check_reads(Signal::FlowFacts);
        self.view.facts(flow)
    }

    /// The address of a neighbour, as an ARP table knows it. A packet with this destination takes its last hop now.
    pub fn address(&self, neighbour: NodeId) -> Ipv4Addr {
        self.view.address(neighbour)
    }

    /// Room in this node's transmit queue; under EDCA in that of best effort.
    pub fn room(&self) -> Space {
        self.check_reads(Signal::QueueRoom);
        self.view.room()
    }
}
