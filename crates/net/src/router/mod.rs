//! Routers: a router chooses a packet's next hop, and talks to other routers.

mod delayed;
mod settings;

use crate::{Addresses, Hop, LinkSample};
use engine::Stream;
use plugin::Params;
use std::net::Ipv4Addr;
use units::{Dur, InterfaceId, NodeId, SimTime};
use wire::Packet;

/// An action that a router asks its node for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Send a control packet of the router's own making by radio: from this interface to a neighbour, or to all in its reach
    /// ([`NodeId::BROADCAST`]).
    Send(Packet, InterfaceId, NodeId),
    /// The route to this address is known now: packets that wait for it go on.
    Found(Ipv4Addr),
    /// The search is given up: packets that wait for it end.
    Unreachable(Ipv4Addr),
    /// Take back what waits in the transmit queue of this interface for that neighbour, which has gone: each packet is asked about
    /// anew ([`Router::next`], then [`Router::seek`]). What the MAC has in service is tried to its end.
    Recall(InterfaceId, NodeId),
    /// Drop what waits there for that neighbour.
    Flush(InterfaceId, NodeId),
    /// Keep a packet that the MAC gave up ([`Router::link_failed`]): it waits for a route as those do that were sought one for.
    Hold(Packet),
    /// Weigh the link from this interface to that neighbour by a measurement: computed routes take it into account.
    Weigh(InterfaceId, NodeId, LinkSample),
}

/// A router's orders, in sequence. Its node carries them out when the router's method has returned.
#[derive(Debug, Default)]
pub struct Orders(Vec<Order>);

impl Orders {
    /// Asks for one thing more.
    pub fn push(&mut self, order: Order) {
        self.0.push(order);
    }

    /// True if nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all that was asked for. The room is kept.
    pub fn drain(&mut self) -> impl Iterator<Item = Order> + '_ {
        self.0.drain(..)
    }
}

/// The routing protocol of one node, sans-IO. Its node calls it; what it wants it writes into [`Orders`].
pub trait Router {
    /// The hop that a packet takes now; `None` if no route is known. `from` is the neighbour that it came from, `None` for one of this
    /// host, of an agent here, or one that has waited. Asked for every packet that leaves or passes the node, sometimes twice.
    fn next(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>) -> Option<Hop>;

    /// The hop that a packet from a neighbour will take, as agents are told it before the packet leaves: what [`Router::next`] says,
    /// unless the router [prepares](Router::prepare) packets.
    fn toward(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>) -> Option<Hop> {
        self.next(now, packet, from)
    }

    /// [`Router::next`] knew no route, for a packet from the same neighbour. A router whose packets carry headers writes them here, and
    /// names the hop; `None`: it has none.
    fn prepare(
        &mut self,
        _now: SimTime,
        _packet: &mut Packet,
        _from: Option<NodeId>,
        _orders: &mut Orders,
    ) -> Option<Hop> {
        None
    }

    /// A packet with a [routing header](Packet::routing_header) and a transport has reached its destination. The router takes the header off.
    fn arrived(&mut self, _now: SimTime, packet: &mut Packet, _from: Option<NodeId>, _orders: &mut Orders) {
        packet.remove_routing_header();
    }

    /// [`Router::prepare`] knew no route either. Returns whether the packet is to wait while one is sought;
    /// otherwise it ends.
    fn seek(&mut self, _now: SimTime, _packet: &Packet, _from: Option<NodeId>, _orders: &mut Orders) -> bool {
        false
    }

    /// True if it finds routes by talking to other routers by radio, in a network without access points. It gets no computed ones:
    /// [`RouterFacts::least_cost`] is empty, and [`Router::rerouted`] is not called.
    fn is_on_demand(&self) -> bool {
        false
    }

    /// The UDP port of its control packets; `None` if it has none. What arrives for it never reaches the host.
    fn port(&self) -> Option<u16> {
        None
    }

    /// A control packet came from neighbour `from` to this interface: one to its [port](Router::port), or one with a
    /// [routing header](Packet::routing_header) and nothing behind it.
    fn control(&mut self, _now: SimTime, _packet: &Packet, _at: InterfaceId, _from: NodeId, _orders: &mut Orders) {}

    /// True if it wants to be told of neighbours; see [`Router::neighbour`].
    fn watches_neighbours(&self) -> bool {
        false
    }

    /// Frames of this neighbour can be decoded at an interface now, or cannot any more. Told to routers that [watch](Router::watches_neighbours).
    fn neighbour(&mut self, _now: SimTime, _at: InterfaceId, _node: NodeId, _is_up: bool, _orders: &mut Orders) {}

    /// Links have broken or healed, or nodes have moved: the least-cost hops to each node are these now, as in
    /// [`RouterFacts::least_cost`]. Told to routers that are not [on demand](Router::is_on_demand).
    fn rerouted(&mut self, _now: SimTime, _least_cost: &[Option<Hop>], _orders: &mut Orders) {}

    /// The MAC of an interface has given a packet to this neighbour up. It is lost, unless the router asks to [hold](Order::Hold) it.
    fn link_failed(&mut self, _now: SimTime, _at: InterfaceId, _to: NodeId, _packet: &Packet, _orders: &mut Orders) {}

    /// A scheme of this node has measured the link from an interface to a neighbour: by a packet that arrived there.
    fn measured(&mut self, _now: SimTime, _at: InterfaceId, _to: NodeId, _sample: LinkSample, _orders: &mut Orders) {}

    /// The node was dead and comes back: everything that it knew is lost.
    fn restart(&mut self, _now: SimTime, _orders: &mut Orders) {}

    /// Its timer went off.
    fn timer(&mut self, _now: SimTime, _orders: &mut Orders) {}

    /// The time of its timer; [`SimTime::NEVER`] if it has none.
    fn next_wakeup(&self) -> SimTime {
        SimTime::NEVER
    }

    /// Packets that may wait for routes at one time; further ones end.
    fn may_wait(&self) -> usize {
        64
    }

    /// True if the packet that has waited longest ends where there is no room for another; otherwise the new one ends.
    fn makes_room(&self) -> bool {
        false
    }

    /// The longest time for which a packet waits for a route; then it ends.
    fn patience(&self) -> Dur {
        Dur::MAX
    }

    /// Its counters, by name.
    fn counters(&self, _out: &mut dyn FnMut(&'static str, u64)) {}
}

units::debug_by_name!(Router);

/// The facts from which a router is made at a node.
#[derive(Debug, Clone)]
pub struct RouterFacts {
    /// The node.
    pub node: NodeId,
    /// Its address.
    pub address: Ipv4Addr,
    /// Its radio interfaces.
    pub interfaces: Vec<InterfaceId>,
    /// The addresses of the network.
    pub addresses: Addresses,
    /// The least-cost hop to each node of the network, as the topology at the start has it; `None` where no way leads, or
    /// where no flow ends. Empty for a router that is [on demand](Router::is_on_demand).
    pub least_cost: Vec<Option<Hop>>,
    /// Its draws: jitter.
    pub draws: Stream,
}

/// The constructor of a router.
pub type Make = fn(RouterFacts, &Params) -> Box<dyn Router>;

/// The router of scenarios that name none.
pub const DEFAULT: &str = "static";

plugin::registry! { "router", Make:
    "aodv" => aodv,
    "dsr" => dsr,
    "static" => fixed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_makes_the_router_that_a_scenario_gets_unasked() {
        assert_eq!(NAMES, ["aodv", "dsr", "static"]);
        let address = crate::address(NodeId(0));
        let (node, addresses) = (NodeId(0), Addresses::default());
        let draws = engine::Streams::new(1).get(engine::Purpose::Routing, 0);
        let facts = RouterFacts { node, address, interfaces: vec![], addresses, least_cost: vec![], draws };
        let chosen = find(DEFAULT).expect("the default is registered");
        let router = (chosen.plugin)(facts, &chosen.params);
        assert_eq!((router.port(), router.next_wakeup()), (None, SimTime::NEVER));
    }
}
