//! One AODV router by hand: messages in, orders out.

use engine::{Purpose, Streams};
use net::router::aodv::{self, Aodv, Error, Message, Number, Reply, Request, Settings};
use net::{Addresses, Hop, Order, Orders, Router, RouterFacts, address};
use plugin::{Params, Value};
use std::net::Ipv4Addr;
use std::sync::Arc;
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{AODV_PORT, Content, Ipv4, L4, Packet, Payload, Udp};

/// The radio of every node.
pub const RADIO: InterfaceId = InterfaceId(0);

/// The address of a node.
pub fn ip(node: u32) -> Ipv4Addr {
    address(NodeId(node))
}

/// A time in milliseconds.
pub fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(ms)
}

/// The router's constants, some of them set.
pub fn settings(set: &[(&str, Value)]) -> Settings {
    let mut params = Params::defaults(aodv::INFO.params);
    set.iter().for_each(|(key, value)| params.set(key, *value));
    Settings::of(&params)
}

/// The router of node `id` among `nodes`.
pub fn router(id: u32, nodes: usize, set: &[(&str, Value)]) -> Aodv {
    let node = NodeId(id);
    let facts = RouterFacts {
        node,
        address: address(node),
        interfaces: vec![RADIO],
        addresses: Addresses::new(nodes, []),
        least_cost: vec![],
        draws: Streams::new(7).get(Purpose::Routing, u64::from(id)),
    };
    Aodv::new(facts, settings(set))
}

/// A data packet.
pub fn data(from: u32, to: u32) -> Packet {
    let ip = Ipv4 { src: ip(from), dst: ip(to), ..Ipv4::default() };
    let l4 = L4::Udp(Udp { src_port: 9, dst_port: 9 });
    Packet { ip, l4, payload: Payload::stream(0, 100), flow: FlowId::forward(0) }
}

/// A control packet with these bytes.
pub fn control(from: Ipv4Addr, to: Ipv4Addr, ttl: u8, bytes: &[u8]) -> Packet {
    let payload = Payload::new(bytes.len() as u32, Content::Bytes(Arc::from(bytes)));
    let l4 = L4::Udp(Udp { src_port: AODV_PORT, dst_port: AODV_PORT });
    Packet { ip: Ipv4 { src: from, dst: to, ttl, ..Ipv4::default() }, l4, payload, flow: FlowId::NONE }
}

/// The message of a control packet.
pub fn message(packet: &Packet) -> Option<Message> {
    match &packet.payload.content {
        Content::Bytes(bytes) => Message::read(bytes),
        Content::Virtual { .. } => None,
    }
}

/// Something that the router did.
#[derive(Debug, Clone, PartialEq)]
pub enum Did {
    /// A message to a neighbour, or to all.
    Sent {
        message: Message,
        ttl: u8,
        to: Option<u32>,
    },
    Found(u32),
    Unreachable(u32),
    Recall(u32),
    Flush(u32),
    Hold(Ipv4Addr),
}

impl Did {
    pub fn request(&self) -> &Request {
        match self {
            Did::Sent { message: Message::Request(request), .. } => request,
            other => panic!("{other:?} is no request"),
        }
    }

    pub fn reply(&self) -> (&Reply, Option<u32>) {
        match self {
            Did::Sent { message: Message::Reply(reply), to, .. } => (reply, *to),
            other => panic!("{other:?} is no reply"),
        }
    }

    pub fn error(&self) -> (&Error, Option<u32>) {
        match self {
            Did::Sent { message: Message::Error(error), to, .. } => (error, *to),
            other => panic!("{other:?} is no error"),
        }
    }
}

/// Node 0 and its clock; its neighbours are the test's.
pub struct Bench {
    pub router: Aodv,
    pub now: SimTime,
    orders: Orders,
}

impl Bench {
    pub fn new(set: &[(&str, Value)]) -> Bench {
        Bench { router: router(0, 64, set), now: SimTime::ZERO, orders: Orders::default() }
    }

    /// The orders of the router since they were last asked for.
    pub fn did(&mut self) -> Vec<Did> {
        let node = |address| net::node_of(address, 1 << 20).expect("an address of ours").0;
        let did = |order| match order {
            Order::Send(packet, at, to) => {
                assert_eq!(at, RADIO);
                assert_eq!(packet.ip.src, ip(0));
                let to = (to != NodeId::BROADCAST).then_some(to.0);
                assert_eq!(packet.ip.dst, to.map_or(Ipv4Addr::BROADCAST, ip));
                Did::Sent { message: message(&packet).expect("sound"), ttl: packet.ip.ttl, to }
            }
            Order::Found(address) => Did::Found(node(address)),
            Order::Unreachable(address) => Did::Unreachable(node(address)),
            Order::Recall(at, to) => {
                assert_eq!(at, RADIO);
                Did::Recall(to.0)
            }
            Order::Flush(at, to) => {
                assert_eq!(at, RADIO);
                Did::Flush(to.0)
            }
            Order::Hold(packet) => Did::Hold(packet.ip.dst),
            Order::Weigh(..) => unreachable!("it computes no routes"),
        };
        self.orders.drain().map(did).collect()
    }

    /// The one thing that it did.
    pub fn only(&mut self) -> Did {
        let mut did = self.did();
        assert_eq!(did.len(), 1, "{did:?}");
        did.remove(0)
    }

    /// A message comes from a neighbour, to all if it is a request.
    pub fn hears(&mut self, from: u32, ttl: u8, message: &Message) {
        let is_to_all = matches!(message, Message::Request(_));
        let to = if is_to_all { Ipv4Addr::BROADCAST } else { ip(0) };
        self.gets(from, &control(ip(from), to, ttl, &message.bytes()));
    }

    /// A control packet comes from a neighbour.
    pub fn gets(&mut self, from: u32, packet: &Packet) {
        self.router.control(self.now, packet, RADIO, NodeId(from), &mut self.orders);
    }

    /// Time passes, and timers go off when they are due.
    pub fn passes(&mut self, ms: u64) -> &mut Bench {
        let end = self.now + Dur::from_ms(ms);
        while self.router.next_wakeup() <= end {
            self.now = self.now.max(self.router.next_wakeup());
            self.router.timer(self.now, &mut self.orders);
        }
        self.now = end;
        self
    }

    /// A packet is routed, from a neighbour if it is not this node's. Returns the next hop.
    pub fn routes(&mut self, from: Option<u32>, packet: &Packet) -> Option<u32> {
        match self.router.next(self.now, packet, from.map(NodeId)) {
            Some(Hop::Air(_, node)) => Some(node.0),
            Some(Hop::Wire(..)) => panic!("AODV knows no wires"),
            None => None,
        }
    }

    /// A packet has no route. Returns whether it waits.
    pub fn seeks(&mut self, from: Option<u32>, packet: &Packet) -> bool {
        assert_eq!(self.routes(from, packet), None);
        self.router.seek(self.now, packet, from.map(NodeId), &mut self.orders)
    }

    pub fn loses(&mut self, to: u32, packet: &Packet) {
        self.router.link_failed(self.now, RADIO, NodeId(to), packet, &mut self.orders);
    }

    pub fn reboots(&mut self) {
        self.router.restart(self.now, &mut self.orders);
    }

    /// (number, hops, next hop) of the route to a node, if packets may take it.
    pub fn route(&mut self, to: u32) -> Option<(Option<u32>, u8, u32)> {
        let route = self.router.route(self.now, ip(to)).filter(|route| route.is_valid)?;
        Some((route.number.map(|number| number.0), route.hops, route.next.1.0))
    }

    /// The number that is remembered of a route that has ended.
    pub fn ended(&mut self, to: u32) -> Option<Option<u32>> {
        let route = self.router.route(self.now, ip(to)).filter(|route| !route.is_valid)?;
        Some(route.number.map(|number| number.0))
    }

    /// The milliseconds for which a route is valid, or remembered.
    pub fn lasts(&mut self, to: u32) -> u64 {
        let now = self.now;
        let route = self.router.route(now, ip(to)).expect("a route");
        (route.until - now).ns() / 1_000_000
    }

    pub fn precursors(&mut self, to: u32) -> Vec<u32> {
        let route = self.router.route(self.now, ip(to)).expect("a route");
        route.precursors.iter().map(|(_, node)| node.0).collect()
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

    /// A route to a node over a neighbour, by a reply that is addressed to this node.
    pub fn learns(&mut self, to: u32, number: u32, hops: u8, over: u32) {
        self.hears(over, 35, &reply(to, number, hops - 1, 0));
        assert_eq!(self.route(to), Some((Some(number), hops, over)));
        self.did();
    }
}

/// A request of `originator`, with number `number`, for `destination`, of which `known` is known.
pub fn request(originator: u32, number: u32, id: u32, hops: u8, destination: u32, known: Option<u32>) -> Message {
    Message::Request(Request {
        gratuitous: false,
        destination_only: false,
        hops,
        id,
        destination: ip(destination),
        destination_number: known.map(Number),
        originator: ip(originator),
        originator_number: Number(number),
    })
}

/// A reply to `originator` about `destination`, valid for 6 s.
pub fn reply(destination: u32, number: u32, hops: u8, originator: u32) -> Message {
    Message::Reply(Reply {
        wants_ack: false,
        prefix: 0,
        hops,
        destination: ip(destination),
        destination_number: Number(number),
        originator: ip(originator),
        lifetime_ms: 6000,
        hello_interval_ms: None,
    })
}

/// An error about these destinations.
pub fn error(unreachable: &[(u32, u32)]) -> Message {
    let unreachable = unreachable.iter().map(|(node, number)| (ip(*node), Number(*number))).collect();
    Message::Error(Error { no_delete: false, unreachable })
}
