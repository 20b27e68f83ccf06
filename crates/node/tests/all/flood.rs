//! A router of some thirty lines: it asks by flooding, and the target answers along the way back.

use net::{Hop, Order, Orders, Router, RouterSite};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{Content, Ipv4, L4, Packet, Payload, Udp};

const PORT: u16 = 654;
const PATIENCE: Dur = Dur::from_ms(200);

#[derive(Debug)]
pub struct Flood {
    own: Ipv4Addr,
    next: BTreeMap<Ipv4Addr, NodeId>,
    seen: BTreeMap<(Ipv4Addr, Ipv4Addr), u8>,
    sought: Option<(Ipv4Addr, SimTime)>,
    round: u8,
}

impl Flood {
    pub fn new(site: RouterSite) -> Flood {
        Flood { own: site.address, next: BTreeMap::new(), seen: BTreeMap::new(), sought: None, round: 0 }
    }

    /// A question (round above 0) or an answer (0) about the way from `origin` to `target`.
    fn says(&self, round: u8, origin: Ipv4Addr, target: Ipv4Addr, to: NodeId) -> Order {
        let dst = if to == NodeId::BROADCAST { Ipv4Addr::BROADCAST } else { net::address(to) };
        let bytes = [&[round][..], &origin.octets(), &target.octets()].concat();
        let payload = Payload { len: bytes.len() as u32, content: Content::Bytes(Arc::from(bytes)) };
        let ip = Ipv4 { src: self.own, dst, ttl: 1, ..Ipv4::default() };
        let l4 = L4::Udp(Udp { src_port: PORT, dst_port: PORT });
        Order::Send(Packet { ip, l4, payload, flow: FlowId::NONE }, to)
    }
}

impl Router for Flood {
    fn next(&mut self, _: SimTime, packet: &Packet) -> Option<Hop> {
        self.next.get(&packet.ip.dst).copied().map(Hop::Air)
    }

    fn seek(&mut self, now: SimTime, packet: &Packet, orders: &mut Orders) -> bool {
        if self.sought.is_none() {
            (self.round, self.sought) = (self.round + 1, Some((packet.ip.dst, now + PATIENCE)));
            orders.push(self.says(self.round, self.own, packet.ip.dst, NodeId::BROADCAST));
        }
        self.sought.is_some_and(|(target, _)| target == packet.ip.dst)
    }

    fn port(&self) -> Option<u16> {
        Some(PORT)
    }

    fn control(&mut self, _: SimTime, packet: &Packet, from: NodeId, orders: &mut Orders) {
        let Content::Bytes(bytes) = &packet.payload.content else { return };
        let [round, a, b, c, d, e, f, g, h] = bytes[..] else { return };
        let (origin, target) = (Ipv4Addr::new(a, b, c, d), Ipv4Addr::new(e, f, g, h));
        if round == 0 {
            self.next.insert(target, from);
            match self.next.get(&origin) {
                _ if origin == self.own => {
                    self.sought = None;
                    orders.push(Order::Found(target));
                }
                Some(back) => orders.push(self.says(0, origin, target, *back)),
                None => {}
            }
        } else if origin != self.own && self.seen.insert((origin, target), round) != Some(round) {
            self.next.insert(origin, from);
            let is_me = target == self.own;
            let to = if is_me { from } else { NodeId::BROADCAST };
            orders.push(self.says(if is_me { 0 } else { round }, origin, target, to));
        }
    }

    fn link_failed(&mut self, _: SimTime, to: NodeId, _: &Packet, _: &mut Orders) {
        self.next.retain(|_, hop| *hop != to);
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
