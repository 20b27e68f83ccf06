//! A node's router, and packets that wait for routes.

use crate::node::{Passage, Stage};
use crate::{Host, Node};
use net::{Order, Orders, Router};
use schemes::Place;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use units::{NodeId, SimTime};
use wire::{DropWhy, Packets, Pkt};

/// The router and what waits for it.
#[derive(Debug)]
pub(crate) struct Routing {
    pub router: Box<dyn Router>,
    /// The UDP port of its control packets.
    pub port: Option<u16>,
    /// When its timer goes off: asked of it whenever it was told something.
    pub wakeup: SimTime,
    /// Packets that wait for a route, the oldest first, and where they were.
    waiting: VecDeque<(Pkt, Place)>,
    orders: Orders,
}

impl Routing {
    pub fn new(router: Box<dyn Router>) -> Routing {
        Routing {
            port: router.port(),
            wakeup: router.next_wakeup(),
            router,
            waiting: VecDeque::new(),
            orders: Orders::default(),
        }
    }

    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Ends what waits.
    pub fn release(&mut self, packets: &mut Packets) {
        for (pkt, _) in self.waiting.drain(..) {
            packets.free(pkt, DropWhy::NodeDown);
        }
    }

    /// No route is known for a packet at `at`: it waits, if the router seeks one, or ends.
    fn seek(&mut self, now: SimTime, pkt: Pkt, at: Place, packets: &mut Packets) {
        let is_sought = self.router.seek(now, packets.get(&pkt), &mut self.orders);
        if !is_sought || self.waiting.len() >= self.router.may_wait() {
            packets.free(pkt, DropWhy::NoRoute);
            return;
        }
        self.waiting.push_back((pkt, at));
    }

    /// Takes the first that waits for `address`.
    fn take(&mut self, address: Ipv4Addr, packets: &Packets) -> Option<(Pkt, Place)> {
        let place = self.waiting.iter().position(|(pkt, _)| packets.get(pkt).ip.dst == address)?;
        self.waiting.remove(place)
    }
}

impl Node {
    /// Lets the router answer, and carries out what it asks for.
    pub(crate) fn route<H: Host>(
        &mut self,
        packets: &mut Packets,
        host: &mut H,
        ask: impl FnOnce(&mut dyn Router, &Packets, &mut Orders),
    ) {
        ask(&mut *self.routing.router, packets, &mut self.routing.orders);
        self.carry_out(packets, host);
    }

    /// See [`Routing::seek`].
    pub(crate) fn seek<H: Host>(&mut self, now: SimTime, pkt: Pkt, at: Place, packets: &mut Packets, host: &mut H) {
        self.routing.seek(now, pkt, at, packets);
        self.carry_out(packets, host);
    }

    fn carry_out<H: Host>(&mut self, packets: &mut Packets, host: &mut H) {
        let mut orders = std::mem::take(&mut self.routing.orders);
        for order in orders.drain() {
            match order {
                Order::Send(packet, to) => {
                    let pkt = packets.put(packet);
                    self.push(Passage::new(pkt, Stage::At(Place::ToAir), Some(to)), host);
                }
                Order::Found(address) => {
                    while let Some((pkt, at)) = self.routing.take(address, packets) {
                        self.push(Passage::new(pkt, Stage::Routed(at), None), host);
                    }
                }
                Order::Unreachable(address) => {
                    while let Some((pkt, _)) = self.routing.take(address, packets) {
                        packets.free(pkt, DropWhy::NoRoute);
                    }
                }
            }
        }
        self.routing.orders = orders;
        self.routing.wakeup = self.routing.router.next_wakeup();
        self.set_wakeup();
    }

    /// The MAC has given up a packet to this neighbour.
    pub(crate) fn link_failed<H: Host>(
        &mut self,
        now: SimTime,
        to: NodeId,
        packet: &wire::Packet,
        packets: &mut Packets,
        host: &mut H,
    ) {
        self.route(packets, host, |router, _, orders| router.link_failed(now, to, packet, orders));
    }
}
