//! A node's router, and packets that wait for routes.

use crate::stage::Stage;
use net::{Hop, LinkSample, Orders, Router};
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
    /// Packets that wait for a route, the oldest first: until when, and their next stage.
    waiting: VecDeque<(SimTime, Pkt, Stage)>,
    /// The router's orders that its node has not carried out yet.
    pub orders: Orders,
    /// Neighbours whose packets are to come back from transmit queues, and why they end then, if they do.
    pub recalls: Vec<(InterfaceId, NodeId, Option<DropWhy>)>,
    /// Measurements that computed routes are to take into account, the oldest first.
    pub samples: VecDeque<(InterfaceId, NodeId, LinkSample)>,
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
            samples: VecDeque::new(),
        }
    }

    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Ends the packets that wait.
    pub fn release(&mut self, packets: &mut Packets) {
        for (_, pkt, _) in self.waiting.drain(..) {
            packets.free(pkt, DropWhy::NodeDown);
        }
    }

    /// No route is known for a packet from a neighbour as it is: the router may make it ready to go over a hop, which is returned with it.
    /// Else it waits, if the router seeks a route, and goes on at this stage once there is one; or it ends.
    #[cold]
    #[inline(never)]
    pub fn seek(
        &mut self,
        now: SimTime,
        pkt: Pkt,
        (then, from): (Stage, Option<NodeId>),
        packets: &mut Packets,
    ) -> Option<(Pkt, Hop)> {
        if let Some(hop) = self.router.prepare(now, packets.get_mut(&pkt), from, &mut self.orders) {
            return Some((pkt, hop));
        }
        if self.router.seek(now, packets.get(&pkt), from, &mut self.orders) {
            self.wait(now, pkt, then, packets);
        } else {
            packets.free(pkt, DropWhy::NoRoute);
        }
        None
    }

    /// A packet waits for a route, if there is room for it.
    pub fn wait(&mut self, now: SimTime, pkt: Pkt, then: Stage, packets: &mut Packets) {
        let most = self.router.may_wait();
        if self.waiting.len() >= most
            && self.router.makes_room()
            && let Some((_, oldest, _)) = self.waiting.pop_front()
        {
            packets.free(oldest, DropWhy::NoRoute);
        }
        if self.waiting.len() < most {
            let until = SimTime::from_ns(now.ns().saturating_add(self.router.patience().ns()));
            self.waiting.push_back((until, pkt, then));
        } else {
            packets.free(pkt, DropWhy::NoRoute);
        }
    }

    /// Takes the first packet that waits for `address`.
    pub fn take(&mut self, address: Ipv4Addr, packets: &Packets) -> Option<(Pkt, Stage)> {
        let place = self.waiting.iter().position(|(_, pkt, _)| packets.get(pkt).ip.dst == address)?;
        self.waiting.remove(place).map(|(_, pkt, then)| (pkt, then))
    }

    /// Ends the packets that have waited too long.
    pub fn expire(&mut self, now: SimTime, packets: &mut Packets) {
        while self.waiting.front().is_some_and(|(until, ..)| *until <= now) {
            if let Some((_, pkt, _)) = self.waiting.pop_front() {
                packets.free(pkt, DropWhy::NoRoute);
            }
        }
    }

    /// The time at which the first packet has waited too long; [`SimTime::NEVER`] if none waits.
    pub fn first_ends(&self) -> SimTime {
        self.waiting.front().map_or(SimTime::NEVER, |(until, ..)| *until)
    }
}
