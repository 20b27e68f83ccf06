//! Replies, their acknowledgements, and Hello messages. @RFC3561 sec. 6.6 to 6.9

use super::message::{Message, Reply, ms};
use super::table::{Neighbour, Offer, Route};
use super::{Aodv, ONE_HOP, Orders};
use std::net::Ipv4Addr;
use units::{Dur, NodeId, SimTime};

impl Aodv {
    /// Sends a reply to the neighbour on the way to its originator, and notes which neighbours use which routes. @RFC3561 sec. 6.7
    pub(super) fn send_reply(&mut self, now: SimTime, mut reply: Reply, to: Neighbour, orders: &mut Orders) {
        let life = self.settings.active_route_timeout;
        if let Some(route) = self.table.active(now, reply.destination) {
            route.precede(to);
            let next = route.next;
            // @RFC3561 sec. 6.7: the next hop towards the destination is used by the next hop towards the source.
            let neighbour = crate::address(next.1);
            if let Some(route) = self.table.active(now, neighbour).filter(|_| next != to) {
                route.precede(to);
            }
            // @RFC3561 sec. 6.6.2, 6.6.3: and the other way round.
            if let Some(route) = self.table.active(now, reply.originator) {
                route.precede(next);
            }
        }
        self.table.extend(now, reply.originator, now + life);
        reply.wants_ack = self.settings.rrep_ack;
        if reply.wants_ack {
            self.unacknowledged.set(to.1, now + self.settings.next_hop_wait);
        }
        self.send(now, &Message::Reply(reply), self.settings.net_diameter, Some(to), orders);
    }

    pub(super) fn replied(&mut self, now: SimTime, mut reply: Reply, from: Neighbour, orders: &mut Orders) {
        if reply.wants_ack {
            self.send(now, &Message::ReplyAck, ONE_HOP, Some(from), orders);
        }
        let is_silent = self.is_silent(now);
        if !is_silent {
            self.hear(now, from, None, self.settings.active_route_timeout, orders);
        }
        let (destination, originator) = (reply.destination, reply.originator);
        let Some(hops) = reply.hops.checked_add(1) else { return };
        if self.is_own(destination) {
            return;
        }
        let life = Dur::from_ms(u64::from(reply.lifetime_ms)).min(self.settings.delete_period);
        let number = Some(reply.destination_number);
        let offer = Offer { number, hops, next: from, until: now + life };
        if is_silent {
            self.table.note(now, destination, offer);
            if !self.is_own(originator) {
                self.silent_until = now + self.settings.delete_period;
            }
            return;
        }
        let had = self.searches.get(&destination).and_then(|search| search.repairs);
        let known = self.table.active(now, destination).map(|route| (route.number, route.hops, route.next));
        if !self.table.offer(now, destination, offer) {
            return;
        }
        // @RFC3561 sec. 6.7: an update sets the expiry, though it be earlier.
        if known != Some((number, hops, from))
            && let Some(route) = self.table.at(now, destination)
        {
            route.until = offer.until;
            if self.settings.is_ns3 {
                route.precursors.clear();
            }
        }
        if let Some(before) = had {
            self.repaired(now, destination, before, hops, orders);
        }
        self.found(now, destination, orders);
        if self.is_own(originator) {
            return;
        }
        if let Some(back) = self.way_back(now, originator).map(|route| route.next) {
            reply.hops = hops;
            self.send_reply(now, reply, back, orders);
        }
    }

    /// The route that a reply takes: for ns-3 one that has ended will do.
    pub(super) fn way_back(&mut self, now: SimTime, originator: Ipv4Addr) -> Option<&Route> {
        let also_ended = self.settings.is_ns3;
        self.table.at(now, originator).filter(|route| route.is_valid || also_ended).map(|route| &*route)
    }

    /// Ignores requests of a neighbour that a reply did not reach. @RFC3561 sec. 6.8
    pub(super) fn blacklist(&mut self, now: SimTime, node: NodeId) {
        self.counters.blacklisted += 1;
        self.blacklist.set(node, now + self.settings.blacklist_timeout);
    }

    pub(super) fn hello_patience(&self) -> Dur {
        self.settings.hello_interval * self.settings.allowed_hello_loss
    }

    /// A Hello message. @RFC3561 sec. 6.9
    pub(super) fn greeting(&mut self, now: SimTime, reply: &Reply, from: Neighbour, orders: &mut Orders) {
        if reply.destination != crate::address(from.1) || reply.hops != 0 || self.is_silent(now) {
            return;
        }
        let interval = reply.hello_interval_ms.map(|ms| Dur::from_ms(u64::from(ms)));
        let life = interval.map_or(self.hello_patience(), |interval| interval * self.settings.allowed_hello_loss);
        let life = life.min(self.settings.delete_period);
        if self.settings.hello {
            self.greeted.set(from.1, now + life);
        }
        self.hear(now, from, Some(reply.destination_number), life, orders);
    }

    /// Sends the Hello message that is due, and takes the neighbours for lost that were silent.
    pub(super) fn greet(&mut self, now: SimTime, orders: &mut Orders) {
        for node in self.greeted.take_due(now) {
            for interface in self.interfaces.clone() {
                self.link_lost(now, (interface, node), None, orders);
            }
        }
        if self.next_hello > now {
            return;
        }
        self.next_hello = now + self.settings.hello_interval;
        let spoke = self.last_broadcast.is_some_and(|at| at + self.settings.hello_interval > now);
        if spoke || !self.table.is_any_active(now) {
            return;
        }
        let interval = ms(self.settings.hello_interval);
        let hello = Reply {
            wants_ack: false,
            prefix: 0,
            hops: 0,
            destination: self.own,
            destination_number: self.number,
            originator: self.own,
            lifetime_ms: ms(self.hello_patience()),
            // @RFC3561 sec. 9.1, 10: told if it is not the default.
            hello_interval_ms: (interval != 1000).then_some(interval),
        };
        self.send(now, &Message::Reply(hello), ONE_HOP, None, orders);
    }
}
