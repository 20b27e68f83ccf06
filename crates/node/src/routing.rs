//! A node's router, and packets that wait for routes.

use net::{Orders, Router};
use schemes::Place;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use units::SimTime;
use wire::{DropWhy, Packets, Pkt};

/// The router, and the packets that wait for it.
#[derive(Debug)]
pub(crate) struct Routing {
    pub router: Box<dyn Router>,
    /// The UDP port of its control packets.
    pub port: Option<u16>,
    /// The time of its timer: asked of it whenever it was told something.
    pub wakeup: SimTime,
    /// Packets that wait for a route, the oldest first, and where they were.
    waiting: VecDeque<(Pkt, Place)>,
    /// The router's orders that its node has not carried out yet.
    pub orders: Orders,
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

    /// Ends the packets that wait.
    pub fn release(&mut self, packets: &mut Packets) {
        for (pkt, _) in self.waiting.drain(..) {
            packets.free(pkt, DropWhy::NodeDown);
        }
    }

    /// No route is known for a packet at `at`: it waits, if the router seeks one, or ends.
    pub fn seek(&mut self, now: SimTime, pkt: Pkt, at: Place, packets: &mut Packets) {
        let is_sought = self.router.seek(now, packets.get(&pkt), &mut self.orders);
        if !is_sought || self.waiting.len() >= self.router.may_wait() {
            packets.free(pkt, DropWhy::NoRoute);
            return;
        }
        self.waiting.push_back((pkt, at));
    }

    /// Takes the first packet that waits for `address`.
    pub fn take(&mut self, address: Ipv4Addr, packets: &Packets) -> Option<(Pkt, Place)> {
        let place = self.waiting.iter().position(|(pkt, _)| packets.get(pkt).ip.dst == address)?;
        self.waiting.remove(place)
    }
}
