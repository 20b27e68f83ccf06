//! Routes as they are computed at the start, and anew when an event breaks or heals a link or moves a node.

use super::{Order, Orders, Router, RouterFacts};
use crate::{Addresses, Hop, LinkSample};
use plugin::{Info, Params};
use std::net::Ipv4Addr;
use units::{InterfaceId, NodeId, SimTime};
use wire::Packet;

/// Its declaration.
pub const INFO: Info = Info {
    id: "static",
    summary: "least-cost routes of the topology at the start; no control packets",
    source: "DIJ59",
    params: &[],
};

/// The router of a node.
pub fn make(facts: RouterFacts, _: &Params) -> Box<dyn Router> {
    Box::new(Fixed { own: facts.address, addresses: facts.addresses, next: facts.least_cost })
}

/// A row of hops, one for each node.
#[derive(Debug)]
struct Fixed {
    own: Ipv4Addr,
    addresses: Addresses,
    next: Vec<Option<Hop>>,
}

impl Router for Fixed {
    fn next(&mut self, _: SimTime, packet: &Packet, _: Option<NodeId>) -> Option<Hop> {
        // What a host sends to itself goes nowhere: there is no loopback.
        let to = self.addresses.node(packet.ip.dst).filter(|_| packet.ip.dst != self.own)?;
        self.next[to.index()]
    }

    /// Routes are computed for all nodes together, by a metric that may want it.
    fn measured(&mut self, _: SimTime, at: InterfaceId, to: NodeId, sample: LinkSample, orders: &mut Orders) {
        orders.push(Order::Weigh(at, to, sample));
    }

    fn rerouted(&mut self, _: SimTime, least_cost: &[Option<Hop>], _: &mut Orders) {
        self.next.copy_from_slice(least_cost);
    }
}
