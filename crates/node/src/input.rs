//! Inputs of a node from its driver, its outputs, and its questions to the driver.

use mac::{MacOptions, TxReport};
use net::Hop;
use schemes::{NodeView, PeerEvent};
use tcp::SenderCommand;
use units::{FlowId, InterfaceId, LinkId, NodeId};
use wire::{Packet, Pkt};

/// An event at a node.
#[derive(Debug)]
pub enum Input<'a> {
    /// Its own transport sends a packet.
    FromHost(Pkt),
    /// One of its interfaces has received a packet from a neighbour, with the MAC options of its frame.
    FromAir(Pkt, InterfaceId, NodeId, MacOptions),
    /// A packet came out of a wire from that neighbour.
    FromWire(Pkt, NodeId),
    /// The MAC has failed to send a packet once.
    Attempt(&'a Packet, &'a TxReport),
    /// The MAC of an interface has done with a packet.
    Report(InterfaceId, &'a Packet, &'a TxReport),
    /// A packet with this serial that was put on the wire to that neighbour was lost there. A driver may spare nodes of which nobody
    /// reads it ([`Chain::reads_wire_losses`](crate::Chain::reads_wire_losses)).
    LostOnWire(&'a Packet, u64, NodeId),
    /// Frames of a neighbour can be decoded at an interface, or cannot any more.
    Peer(InterfaceId, NodeId, PeerEvent<'a>),
    /// Both ends of a connection have closed: its number will be another's.
    Closed(FlowId),
    /// A packet was taken back from the transmit queue of an interface, as its router asked ([`Host::recall`]).
    Recalled(Pkt),
    /// The least-cost hops to each node are others now.
    Routes(&'a [Option<Hop>]),
    /// Its timer went off.
    Timer,
}

/// An action of a node: each moves one packet to its end here.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// A packet for the transmit queue.
    ToAir {
        /// The packet.
        pkt: Pkt,
        /// The interface whose queue it is.
        interface: InterfaceId,
        /// The neighbour; [`NodeId::BROADCAST`] for all in reach.
        to: NodeId,
        /// Bytes that its frame keeps free for MAC options.
        options_room: u8,
    },
    /// A packet for this direction of a wired link.
    ToWire(LinkId, Pkt),
    /// A packet for the node's own transport.
    Deliver(Pkt),
}

/// The services that a driver lends a node while it is asked.
pub trait Host: NodeView {
    /// Tells the TCP sender of a flow that starts at this node, at once.
    fn command(&mut self, flow: FlowId, command: SenderCommand);

    /// The node has one thing more to do: one [`Node::step`](crate::Node::step) more is due. A driver that calls
    /// [`Node::poll`](crate::Node::poll) after each input need not count.
    fn wake(&mut self) {}

    /// Its router wants packets back from transmit queues: [`Node::next_recall`](crate::Node::next_recall) says which, once the node has
    /// returned.
    fn recall(&mut self) {}

    /// Its router has a measurement of a link for computed routes: [`Node::next_sample`](crate::Node::next_sample) says which, once the node
    /// has returned. False, as a driver's is whose routes need none: it is not kept.
    fn weigh(&mut self) -> bool {
        false
    }
}
