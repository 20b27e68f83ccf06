//! One DSR router by hand: packets in, orders out.

use engine::{Purpose, Streams};
use net::router::dsr::{self, Choice, Dsr, Error, ErrorKind, Header, Reply, Request, Settings, SourceRoute};
use net::{Addresses, Hop, Order, Orders, Router, RouterFacts, address};
use plugin::{Params, Value};
use std::net::Ipv4Addr;
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Payload, Udp};

/// The radio of every node.
pub const RADIO: InterfaceId = InterfaceId(0);
/// No jitter and no delays: what is asked for happens at once.
pub const AT_ONCE: [(&str, Value); 2] = [("jitter", Value::Time(Dur::ZERO)), ("reply_delay", Value::Time(Dur::ZERO))];

/// The address of a node.
pub fn ip(node: u32) -> Ipv4Addr {
    address(NodeId(node))
}

/// The addresses of nodes.
pub fn ips(nodes: &[u32]) -> Vec<Ipv4Addr> {
    nodes.iter().map(|node| ip(*node)).collect()
}

/// A time in milliseconds.
pub fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(ms)
}

/// The router of node `id` among `nodes`.
pub fn router(id: u32, nodes: usize, set: &[(&str, Value)]) -> Dsr {
    let mut params = Params::defaults(dsr::INFO.params);
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
    Dsr::new(facts, Settings::of(&params))
}

/// A data packet without a header.
pub fn data(from: u32, to: u32) -> Packet {
    let ip = Ipv4 { src: ip(from), dst: ip(to), ..Ipv4::default() };
    let l4 = L4::Udp(Udp { src_port: 9, dst_port: 9 });
    Packet { ip, l4, payload: Payload::stream(0, 100), flow: FlowId::forward(0) }
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

/// Node 0 and its clock; its neighbours are the test's.
pub struct Bench {
    pub router: Dsr,
    pub now: SimTime,
    orders: Orders,
}

impl Bench {
    pub fn new(set: &[(&str, Value)]) -> Bench {
        Bench { router: router(0, 128, set), now: SimTime::ZERO, orders: Orders::default() }
    }

    /// One without jitter and delays.
    pub fn at_once(set: &[(&str, Value)]) -> Bench {
        Bench::new(&[&AT_ONCE, set].concat())
    }

    /// The orders of the router since they were last asked for.
    pub fn did(&mut self) -> Vec<Did> {
        let node = |address| net::node_of(address, 1 << 20).expect("an address of ours").0;
        let did = |order| match order {
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
        };
        self.orders.drain().map(did).collect()
    }

    /// The one thing that it did.
    pub fn only(&mut self) -> Did {
        let mut did = self.did();
        assert_eq!(did.len(), 1, "{did:?}");
        did.remove(0)
    }

    /// A control packet comes from a neighbour.
    pub fn gets(&mut self, from: u32, packet: &Packet) {
        self.router.control(self.now, packet, RADIO, NodeId(from), &mut self.orders);
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

    pub fn loses(&mut self, to: u32, packet: &Packet) {
        self.router.link_failed(self.now, RADIO, NodeId(to), packet, &mut self.orders);
    }

    /// The way to a node that a packet of this node would take now: the nodes behind this one.
    pub fn way(&mut self, to: u32) -> Option<Vec<u32>> {
        let node = |address: &Ipv4Addr| net::node_of(*address, 1 << 20).expect("ours").0;
        let mut packet = data(0, to);
        let mut orders = Orders::default();
        self.router.prepare(self.now, &mut packet, None, &mut orders)?;
        let mut way: Vec<u32> = route_of(&packet).map_or_else(Vec::new, |it| it.hops.iter().map(node).collect());
        way.push(to);
        Some(way)
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
