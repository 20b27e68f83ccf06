//! A router of some thirty lines: it asks by flooding, and the target answers along the way back.

use net::{Hop, Order, Orders, Router, RouterFacts};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Content, Ipv4, L4, Packet, Payload, Udp};

const PORT: u16 = 654;
const PATIENCE: Dur = Dur::from_ms(200);

#[derive(Debug)]
pub struct Flood {
    own: Ipv4Addr,
    interfaces: Vec<InterfaceId>,
    next: BTreeMap<Ipv4Addr, (InterfaceId, NodeId)>,
    seen: BTreeMap<(Ipv4Addr, Ipv4Addr), u8>,
    sought: Option<(Ipv4Addr, SimTime)>,
    round: u8,
}

impl Flood {
    pub fn new(facts: RouterFacts) -> Flood {
        let RouterFacts { address, interfaces, .. } = facts;
        Flood { own: address, interfaces, next: BTreeMap::new(), seen: BTreeMap::new(), sought: None, round: 0 }
    }

    /// Says it to all in reach of each interface.
    fn say_to_all(&self, round: u8, origin: Ipv4Addr, target: Ipv4Addr, orders: &mut Orders) {
        for interface in &self.interfaces {
            orders.push(self.says(round, origin, target, (*interface, NodeId::BROADCAST)));
        }
    }

    /// A question (round above 0) or an answer (0) about the way from `origin` to `target`.
    fn says(&self, round: u8, origin: Ipv4Addr, target: Ipv4Addr, (at, to): (InterfaceId, NodeId)) -> Order {
        let dst = if to == NodeId::BROADCAST { Ipv4Addr::BROADCAST } else { net::address(to) };
        let bytes = [&[round][..], &origin.octets(), &target.octets()].concat();
        let payload = Payload::new(bytes.len() as u32, Content::Bytes(Arc::from(bytes)));
        let ip = Ipv4 { src: self.own, dst, ttl: 1, ..Ipv4::default() };
        let l4 = L4::Udp(Udp { src_port: PORT, dst_port: PORT });
        Order::Send(Packet { ip, l4, payload, flow: FlowId::NONE }, at, to)
    }
}

impl Router for Flood {
    fn next(&mut self, _: SimTime, packet: &Packet, _: Option<NodeId>) -> Option<Hop> {
        self.next.get(&packet.ip.dst).map(|(at, to)| Hop::Air(*at, *to))
    }

    fn seek(&mut self, now: SimTime, packet: &Packet, _: Option<NodeId>, orders: &mut Orders) -> bool {
        if self.sought.is_none() {
            (self.round, self.sought) = (self.round + 1, Some((packet.ip.dst, now + PATIENCE)));
            self.say_to_all(self.round, self.own, packet.ip.dst, orders);
        }
        self.sought.is_some_and(|(target, _)| target == packet.ip.dst)
    }

    fn port(&self) -> Option<u16> {
        Some(PORT)
    }

    fn control(&mut self, _: SimTime, packet: &Packet, at: InterfaceId, from: NodeId, orders: &mut Orders) {
        let Content::Bytes(bytes) = &packet.payload.content else { return };
        let [round, a, b, c, d, e, f, g, h] = bytes[..] else { return };
        let (origin, target) = (Ipv4Addr::new(a, b, c, d), Ipv4Addr::new(e, f, g, h));
        if round == 0 {
            self.next.insert(target, (at, from));
            match self.next.get(&origin) {
                _ if origin == self.own => {
                    self.sought = None;
                    orders.push(Order::Found(target));
                }
                Some(back) => orders.push(self.says(0, origin, target, *back)),
                None => {}
            }
        } else if origin != self.own && self.seen.insert((origin, target), round) != Some(round) {
            self.next.insert(origin, (at, from));
            if target == self.own {
                orders.push(self.says(0, origin, target, (at, from)));
            } else {
                self.say_to_all(round, origin, target, orders);
            }
        }
    }

    fn link_failed(&mut self, _: SimTime, at: InterfaceId, to: NodeId, _: &Packet, _: &mut Orders) {
        self.next.retain(|_, hop| *hop != (at, to));
    }

    fn timer(&mut self, _: SimTime, orders: &mut Orders) {
        if let Some((target, _)) = self.sought.take() {
            orders.push(Order::Unreachable(target));
        }
    }

    fn next_wakeup(&self) -> SimTime {
        self.sought.map_or(SimTime::NEVER, |(_, until)| until)
    }
}
