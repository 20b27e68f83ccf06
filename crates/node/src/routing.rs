//! A node's router, and packets that wait for routes.

use crate::stage::Stage;
use net::{Orders, Router};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use units::{InterfaceId, NodeId, SimTime};
use wire::{DropWhy, Packets, Pkt};

/// The router, and the packets that wait for it.
#[derive(Debug)]
pub(crate) struct Routing {
    pub router: Box<dyn Router>,
    /// The UDP port of its control packets.
    pub port: Option<u16>,
    /// The time of its timer: asked of it whenever it was told something.
    pub wakeup: SimTime,
    /// Packets that wait for a route, the oldest first, and their next stage.
    waiting: VecDeque<(Pkt, Stage)>,
    /// The router's orders that its node has not carried out yet.
    pub orders: Orders,
    /// Neighbours whose packets are to come back from transmit queues.
    pub recalls: Vec<(InterfaceId, NodeId)>,
}

impl Routing {
    pub fn new(router: Box<dyn Router>) -> Routing {
        Routing {
            port: router.port(),
            wakeup: router.next_wakeup(),
            router,
            waiting: VecDeque::new(),
            orders: Orders::default(),
            recalls: Vec::new(),
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

    /// No route is known for a packet that goes on at this stage once there is one: it waits, if the router seeks one, or ends.
    pub fn seek(&mut self, now: SimTime, pkt: Pkt, then: Stage, packets: &mut Packets) {
        if self.router.seek(now, packets.get(&pkt), &mut self.orders) {
            self.wait(pkt, then, packets);
        } else {
            packets.free(pkt, DropWhy::NoRoute);
        }
    }

    /// A packet waits for a route, if there is room for it.
    pub fn wait(&mut self, pkt: Pkt, then: Stage, packets: &mut Packets) {
        if self.waiting.len() < self.router.may_wait() {
            self.waiting.push_back((pkt, then));
        } else {
            packets.free(pkt, DropWhy::NoRoute);
        }
    }

    /// Takes the first packet that waits for `address`.
    pub fn take(&mut self, address: Ipv4Addr, packets: &Packets) -> Option<(Pkt, Stage)> {
        let place = self.waiting.iter().position(|(pkt, _)| packets.get(pkt).ip.dst == address)?;
        self.waiting.remove(place)
    }
}
