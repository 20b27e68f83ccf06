//! One router by hand: packets in, orders out. Each protocol adds its own words in a file of its own.

use engine::{Purpose, Streams};
use net::{Addresses, Order, Orders, Router, RouterFacts, address};
use plugin::{Info, Params, Value};
use std::fmt::Debug;
use std::net::Ipv4Addr;
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Payload, Udp};

/// The radio of every node.
pub const RADIO: InterfaceId = InterfaceId(0);

/// The address of a node.
pub fn ip(node: u32) -> Ipv4Addr {
    address(NodeId(node))
}

/// The node of an address.
pub fn node(address: Ipv4Addr) -> u32 {
    net::node_of(address, 1 << 20).expect("an address of ours").0
}

/// A time in milliseconds.
pub fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(ms)
}

/// A data packet without a header.
pub fn data(from: u32, to: u32) -> Packet {
    let ip = Ipv4 { src: ip(from), dst: ip(to), ..Ipv4::default() };
    let l4 = L4::Udp(Udp { src_port: 9, dst_port: 9 });
    Packet { ip, l4, payload: Payload::stream(0, 100), flow: FlowId::forward(0) }
}

/// A protocol under test.
pub trait Tested: Router + Sized {
    const INFO: &'static Info;
    /// The nodes of a bench's network.
    const NODES: usize;
    /// Something that the router did.
    type Did: Debug;

    fn make(facts: RouterFacts, params: &Params) -> Self;

    /// An order in the words of the protocol's tests. It fails if the router may not give it.
    fn did(order: Order) -> Self::Did;
}

/// The router of node `id` among `nodes`, some of its parameters set.
pub fn router<R: Tested>(id: u32, nodes: usize, set: &[(&str, Value)]) -> R {
    let mut params = Params::defaults(R::INFO.params);
    set.iter().for_each(|(key, value)| params.set(key, *value));
    let node = NodeId(id);
    let facts = RouterFacts {
        node,
        address: address(node),
        interfaces: vec![RADIO],
        addresses: Addresses::new(nodes, []),
        least_cost: vec![],
        draws: Streams::new(7).get(Purpose::Routing, u64::from(id)),
    };
    R::make(facts, &params)
}

/// Node 0 and its clock; its neighbours are the test's.
pub struct Bench<R> {
    pub router: R,
    pub now: SimTime,
    pub orders: Orders,
}

impl<R: Tested> Bench<R> {
    pub fn new(set: &[(&str, Value)]) -> Bench<R> {
        Bench { router: router(0, R::NODES, set), now: SimTime::ZERO, orders: Orders::default() }
    }

    /// The orders of the router since they were last asked for.
    pub fn did(&mut self) -> Vec<R::Did> {
        self.orders.drain().map(R::did).collect()
    }

    /// The one thing that it did.
    pub fn only(&mut self) -> R::Did {
        let mut did = self.did();
        assert_eq!(did.len(), 1, "{did:?}");
        did.remove(0)
    }

    /// A control packet comes from a neighbour.
    pub fn gets(&mut self, from: u32, packet: &Packet) {
        self.router.control(self.now, packet, RADIO, NodeId(from), &mut self.orders);
    }

    /// Time passes, and timers go off when they are due.
    pub fn passes(&mut self, ms: u64) -> &mut Bench<R> {
        let end = self.now + Dur::from_ms(ms);
        while self.router.next_wakeup() <= end {
            self.now = self.now.max(self.router.next_wakeup());
            self.router.timer(self.now, &mut self.orders);
        }
        self.now = end;
        self
    }

    pub fn loses(&mut self, to: u32, packet: &Packet) {
        self.router.link_failed(self.now, RADIO, NodeId(to), packet, &mut self.orders);
    }

    pub fn count(&self, name: &str) -> u64 {
        let mut found = None;
        self.router.counters(&mut |key, value| {
            if key == name {
                found = Some(value);
            }
        });
        found.expect("a counter")
    }
}
