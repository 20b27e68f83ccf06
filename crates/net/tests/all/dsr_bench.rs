//! One DSR router by hand: packets in, orders out.

pub use crate::bench::{RADIO, at, data, ip};

use crate::bench::{self, Tested, node};
use net::router::dsr::{self, Choice, Dsr, Error, ErrorKind, Header, Reply, Request, Settings, SourceRoute};
use net::{Hop, Order, Orders, Router, RouterFacts};
use plugin::{Info, Params, Value};
use std::net::Ipv4Addr;
use units::{Dur, FlowId, NodeId};
use wire::{Ipv4, L4, Packet, Payload};

/// No jitter and no delays: what is asked for happens at once.
pub const AT_ONCE: [(&str, Value); 2] = [("jitter", Value::Time(Dur::ZERO)), ("reply_delay", Value::Time(Dur::ZERO))];

/// The addresses of nodes.
pub fn ips(nodes: &[u32]) -> Vec<Ipv4Addr> {
    nodes.iter().map(|node| ip(*node)).collect()
}

/// A data packet on its way over these nodes, `left` of which it has still to reach.
pub fn data_over(from: u32, over: &[u32], to: u32, left: u8, salvage: u8) -> Packet {
    let mut packet = data(from, to);
    packet.set_routing_header(&Header(vec![Choice::Route(route(over, left, salvage))]).bytes());
    packet
}

/// A source route.
pub fn route(over: &[u32], left: u8, salvage: u8) -> SourceRoute {
    SourceRoute { external: [false; 2], salvage, left, hops: ips(over) }
}

/// A packet without data, with these options.
pub fn control(from: u32, to: Ipv4Addr, ttl: u8, options: Vec<Choice>) -> Packet {
    let ip = Ipv4 { src: ip(from), dst: to, ttl, ..Ipv4::default() };
    let mut packet = Packet { ip, l4: L4::Nothing, payload: Payload::EMPTY, flow: FlowId::NONE };
    packet.set_routing_header(&Header(options).bytes());
    packet
}

/// A request of `initiator` for `target`, passed on by these nodes.
pub fn request(id: u16, target: u32, hops: &[u32]) -> Choice {
    Choice::Request(Request { id, target: ip(target), hops: ips(hops) })
}

/// A reply with this way.
pub fn reply(hops: &[u32]) -> Choice {
    Choice::Reply(Reply { is_last_external: false, hops: ips(hops) })
}

/// `source` does not reach `hop`: `destination` is to know.
pub fn error(source: u32, hop: u32, destination: u32) -> Choice {
    let kind = ErrorKind::Unreachable(ip(hop));
    Choice::Error(Error { salvage: 0, source: ip(source), destination: ip(destination), kind })
}

/// The options of a packet; none without a header.
pub fn options(packet: &Packet) -> Vec<Choice> {
    packet.routing_header().map_or_else(Vec::new, |bytes| Header::read(bytes).expect("sound").0)
}

/// The source route of a packet.
pub fn route_of(packet: &Packet) -> Option<SourceRoute> {
    packet.routing_header().and_then(Header::read).and_then(|header| header.route().cloned())
}

/// Something that the router did.
#[derive(Debug, Clone, PartialEq)]
pub enum Did {
    /// A control packet to a neighbour, or to all: its destination, TTL and options.
    Sent {
        dst: Ipv4Addr,
        ttl: u8,
        options: Vec<Choice>,
        to: Option<u32>,
    },
    Found(u32),
    Unreachable(u32),
    Recall(u32),
    Hold(Packet),
}

impl Did {
    /// The request that it sent, and its TTL.
    pub fn request(&self) -> (&Request, u8) {
        match self {
            Did::Sent { options, ttl, to: None, .. } => {
                let request =
                    options.iter().find_map(|it| if let Choice::Request(it) = it { Some(it) } else { None });
                (request.expect("a request"), *ttl)
            }
            other => panic!("{other:?} is no request"),
        }
    }

    /// The way that it told, of what destination, over what relays, and to what neighbour.
    pub fn reply(&self) -> (Vec<Ipv4Addr>, Ipv4Addr, Vec<Ipv4Addr>, Option<u32>) {
        let Did::Sent { dst, options, to, .. } = self else { panic!("{self:?} is no reply") };
        let way = options.iter().find_map(|it| if let Choice::Reply(it) = it { Some(it.hops.clone()) } else { None });
        let over =
            options.iter().find_map(|it| if let Choice::Route(it) = it { Some(it.hops.clone()) } else { None });
        (way.expect("a reply"), *dst, over.unwrap_or_default(), *to)
    }

    /// The error that it told, and to what neighbour.
    pub fn error(&self) -> (&Error, Option<u32>) {
        let Did::Sent { options, to, .. } = self else { panic!("{self:?} is no error") };
        let error = options.iter().find_map(|it| if let Choice::Error(it) = it { Some(it) } else { None });
        (error.expect("an error"), *to)
    }
}

impl Tested for Dsr {
    const INFO: &'static Info = &dsr::INFO;
    const NODES: usize = 128;
    type Did = Did;

    fn make(facts: RouterFacts, params: &Params) -> Dsr {
        Dsr::new(facts, Settings::of(params))
    }

    fn did(order: Order) -> Did {
        match order {
            Order::Send(packet, at, to) => {
                assert_eq!((at, packet.l4), (RADIO, L4::Nothing));
                let to = (to != NodeId::BROADCAST).then_some(to.0);
                Did::Sent { dst: packet.ip.dst, ttl: packet.ip.ttl, options: options(&packet), to }
            }
            Order::Found(address) => Did::Found(node(address)),
            Order::Unreachable(address) => Did::Unreachable(node(address)),
            Order::Recall(at, to) => {
                assert_eq!(at, RADIO);
                Did::Recall(to.0)
            }
            Order::Hold(packet) => Did::Hold(packet),
            Order::Flush(..) | Order::Weigh(..) => unreachable!("it asks for neither"),
        }
    }
}

/// The bench of a DSR router.
pub type Bench = bench::Bench<Dsr>;

impl Bench {
    /// One without jitter and delays.
    pub fn at_once(set: &[(&str, Value)]) -> Bench {
        Bench::new(&[&AT_ONCE, set].concat())
    }

    /// A request of `initiator` comes, passed on by these nodes.
    pub fn asked(&mut self, initiator: u32, id: u16, target: u32, hops: &[u32], ttl: u8) {
        let packet = control(initiator, Ipv4Addr::BROADCAST, ttl, vec![request(id, target, hops)]);
        self.gets(*hops.last().unwrap_or(&initiator), &packet);
    }

    /// A reply to this node comes from the last node of its way, over all others.
    pub fn answered(&mut self, way: &[u32]) {
        let (target, relays) = way.split_last().expect("a way");
        let back: Vec<u32> = relays.iter().rev().copied().collect();
        let options = match &back[..] {
            [] => vec![reply(way)],
            _ => vec![Choice::Route(route(&back, 0, 0)), reply(way)],
        };
        self.gets(way[0], &control(*target, ip(0), 9, options));
    }

    /// It knows this way by a reply.
    pub fn learns(&mut self, way: &[u32]) {
        self.answered(way);
        assert_eq!(self.way(way[way.len() - 1]).as_deref(), Some(way));
        self.did();
    }

    /// A packet is to leave, from a neighbour if it is not this node's. Returns its next hop.
    pub fn sends(&mut self, from: Option<u32>, packet: &mut Packet) -> Option<u32> {
        assert_eq!(self.router.next(self.now, packet, from.map(NodeId)), None);
        match self.router.prepare(self.now, packet, from.map(NodeId), &mut self.orders) {
            Some(Hop::Air(RADIO, node)) => Some(node.0),
            None => None,
            other => panic!("{other:?}"),
        }
    }

    /// A packet of this node has no route. Returns whether it waits.
    pub fn seeks(&mut self, packet: &Packet) -> bool {
        let mut packet = packet.clone();
        assert_eq!(self.sends(None, &mut packet), None);
        self.router.seek(self.now, &packet, None, &mut self.orders)
    }

    /// A packet has reached this node.
    pub fn ends(&mut self, from: u32, packet: &mut Packet) {
        self.router.arrived(self.now, packet, Some(NodeId(from)), &mut self.orders);
    }

    /// The way to a node that a packet of this node would take now: the nodes behind this one.
    pub fn way(&mut self, to: u32) -> Option<Vec<u32>> {
        let mut packet = data(0, to);
        let mut orders = Orders::default();
        self.router.prepare(self.now, &mut packet, None, &mut orders)?;
        let mut way: Vec<u32> = route_of(&packet).map_or_else(Vec::new, |it| it.hops.into_iter().map(node).collect());
        way.push(to);
        Some(way)
    }
}
