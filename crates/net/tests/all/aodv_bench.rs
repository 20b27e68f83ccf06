//! One AODV router by hand: messages in, orders out.

pub use crate::bench::{RADIO, data, ip};

use crate::bench::{self, Tested, node};
use net::router::aodv::{self, Aodv, Error, Message, Number, Reply, Request, Settings};
use net::{Hop, Order, Router, RouterFacts};
use plugin::{Info, Params};
use std::net::Ipv4Addr;
use std::sync::Arc;
use units::{FlowId, NodeId};
use wire::{AODV_PORT, Content, Ipv4, L4, Packet, Payload, Udp};

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

impl Tested for Aodv {
    const INFO: &'static Info = &aodv::INFO;
    const NODES: usize = 64;
    type Did = Did;

    fn make(facts: RouterFacts, params: &Params) -> Aodv {
        Aodv::new(facts, Settings::of(params))
    }

    fn did(order: Order) -> Did {
        match order {
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
        }
    }
}

/// The bench of an AODV router.
pub type Bench = bench::Bench<Aodv>;

impl Bench {
    /// A message comes from a neighbour, to all if it is a request.
    pub fn hears(&mut self, from: u32, ttl: u8, message: &Message) {
        let is_to_all = matches!(message, Message::Request(_));
        let to = if is_to_all { Ipv4Addr::BROADCAST } else { ip(0) };
        self.gets(from, &control(ip(from), to, ttl, &message.bytes()));
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
