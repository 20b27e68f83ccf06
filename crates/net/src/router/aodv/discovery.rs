//! Searches for routes: rings that grow, then the whole network. @RFC3561 sec. 6.3, 6.4, 6.12

use super::message::{Message, Request};
use super::settings::NS2_LONGEST_WAIT;
use super::{Aodv, Order, Orders};
use std::net::Ipv4Addr;
use units::{NodeId, SimTime};
use wire::Packet;

/// Searches under way at most.
const MOST_SEARCHES: usize = 256;

/// A search for one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    ttl: u8,
    /// Requests to the whole network that were sent.
    floods: u32,
    /// The end of the wait for an answer, or the time at which the next request may go.
    pub deadline: SimTime,
    /// True if the request of this round is still to be sent: the limit of requests, or the silence after a reboot, holds it back.
    is_held: bool,
    /// Of a local repair: the hop count before the link broke.
    pub repairs: Option<u8>,
    /// True if a packet of this node waits.
    is_own: bool,
}

impl Aodv {
    /// A packet has no route. Returns whether it is to wait for one.
    pub(super) fn lacks_route(
        &mut self,
        now: SimTime,
        packet: &Packet,
        from: Option<NodeId>,
        orders: &mut Orders,
    ) -> bool {
        let (destination, source) = (packet.ip.dst, packet.ip.src);
        let is_nowhere = destination.is_broadcast() || destination.is_multicast() || destination.is_unspecified();
        if Aodv::is_control(packet) || is_nowhere || self.is_own(destination) {
            return false;
        }
        if self.is_own(source) {
            return self.search(now, destination, orders);
        }
        if self.is_silent(now) {
            self.refuse_while_silent(now, destination, orders);
            return false;
        }
        let life = self.settings.active_route_timeout;
        self.table.extend(now, destination, now + life);
        if self.searches.get(&destination).is_some_and(|search| search.repairs.is_some()) {
            return true;
        }
        if self.table.at(now, destination).is_some_and(|route| route.is_repairable) {
            return self.repair(now, destination, source, orders);
        }
        if self.settings.is_ns3 {
            self.refuse_to_source(now, destination, source, orders);
        } else if let Some(from) = from {
            self.refuse(now, destination, from, orders);
        }
        false
    }

    /// Seeks a route for a packet of this node. Returns whether it is to wait.
    pub(super) fn search(&mut self, now: SimTime, destination: Ipv4Addr, orders: &mut Orders) -> bool {
        if let Some(search) = self.searches.get_mut(&destination) {
            search.is_own = true;
            return true;
        }
        if self.searches.len() >= MOST_SEARCHES {
            return false;
        }
        self.counters.discoveries += 1;
        // The last hop count known, and an increment. @RFC3561 sec. 6.4
        let known = self.table.at(now, destination).map(|route| route.hops);
        let ttl = known.map_or(self.settings.ttl_start, |hops| hops.saturating_add(self.settings.ttl_increment));
        let ttl = self.ring(ttl);
        let search = Search { ttl, floods: 0, deadline: now, is_held: true, repairs: None, is_own: true };
        self.searches.insert(destination, search);
        self.request(now, destination, orders);
        true
    }

    /// Seeks another way for a packet of `source` in place of a link that broke here. @RFC3561 sec. 6.12
    pub(super) fn repair(
        &mut self,
        now: SimTime,
        destination: Ipv4Addr,
        source: Ipv4Addr,
        orders: &mut Orders,
    ) -> bool {
        let Some(route) = self.table.at(now, destination) else { return false };
        let hops = route.hops;
        route.is_repairable = false;
        if self.searches.len() >= MOST_SEARCHES {
            return false;
        }
        self.counters.repairs += 1;
        let least = match self.settings.min_repair_ttl {
            0 => u64::from(hops),
            ttl => ttl,
        };
        let back = self.table.at(now, source).map_or(0, |route| route.hops);
        let ttl = least.max(u64::from(back) / 2) + self.settings.local_add_ttl;
        let ttl = u8::try_from(ttl).unwrap_or(u8::MAX).min(self.settings.net_diameter);
        let search = Search { ttl, floods: 0, deadline: now, is_held: true, repairs: Some(hops), is_own: false };
        self.searches.insert(destination, search);
        self.request(now, destination, orders);
        true
    }

    /// The TTL of a ring that is to be so wide: beyond the threshold the whole network is searched.
    fn ring(&self, ttl: u8) -> u8 {
        if ttl > self.settings.ttl_threshold { self.settings.net_diameter } else { ttl.min(self.settings.net_diameter) }
    }

    /// Sends the request of a search's round, as soon as it may.
    fn request(&mut self, now: SimTime, destination: Ipv4Addr, orders: &mut Orders) {
        let Some(search) = self.searches.get_mut(&destination) else { return };
        self.quiet.retain(|_, until| *until > now);
        let quiet_until = self.quiet.get(&destination).copied().unwrap_or(now);
        let free_at = self.requests.free_at(now).max(self.silent_until).max(quiet_until);
        (search.is_held, search.deadline) = (free_at > now, free_at);
        if search.is_held {
            return;
        }
        self.requests.take(now);
        let ttl = search.ttl;
        search.deadline = now
            + if self.settings.is_ns2 {
                search.floods += u32::from(ttl >= self.settings.net_diameter);
                let wait = self.settings.ring_traversal_time(ttl) * u64::from(search.floods.max(1));
                wait.min(NS2_LONGEST_WAIT)
            } else if ttl < self.settings.net_diameter || search.repairs.is_some() {
                self.settings.ring_traversal_time(ttl)
            } else {
                search.floods += 1;
                self.settings.net_traversal_time * (1 << (search.floods - 1))
            };
        let deadline = search.deadline;
        self.number = self.number.next();
        self.request_id = self.request_id.wrapping_add(1);
        self.seen.insert(now, (self.own, self.request_id), now + self.settings.path_discovery_time);
        self.table.keep(now, destination, deadline.max(now + self.settings.net_traversal_time * 2));
        let request = Request {
            gratuitous: self.settings.gratuitous_rrep,
            destination_only: self.settings.destination_only,
            hops: 0,
            id: self.request_id,
            destination,
            destination_number: self.table.at(now, destination).and_then(|route| route.number),
            originator: self.own,
            originator_number: self.number,
        };
        self.counters.rreq_originated += 1;
        self.send(now, &Message::Request(request), ttl, None, orders);
    }

    /// Rounds whose time is over: the next one, or the end.
    pub(super) fn search_on(&mut self, now: SimTime, orders: &mut Orders) {
        let due = self.searches.iter().filter(|(_, search)| search.deadline <= now);
        let due: Vec<Ipv4Addr> = due.map(|(destination, _)| *destination).collect();
        for destination in due {
            let Some(search) = self.searches.get(&destination).cloned() else { continue };
            if search.is_held {
                self.request(now, destination, orders);
                continue;
            }
            let is_whole = search.ttl >= self.settings.net_diameter;
            if search.repairs.is_some() {
                self.counters.repairs_failed += 1;
                self.not_repaired(now, destination, orders);
                if !search.is_own {
                    self.give_up(destination, orders);
                    continue;
                }
            } else if is_whole && search.floods > self.settings.rreq_retries {
                self.counters.discoveries_failed += 1;
                if self.settings.is_ns2 {
                    self.quiet.insert(destination, now + NS2_LONGEST_WAIT);
                }
                self.give_up(destination, orders);
                continue;
            }
            let wider = self.ring(search.ttl.saturating_add(self.settings.ttl_increment));
            if let Some(search) = self.searches.get_mut(&destination) {
                search.repairs = None;
                search.ttl = wider;
            }
            self.request(now, destination, orders);
        }
    }

    fn give_up(&mut self, destination: Ipv4Addr, orders: &mut Orders) {
        self.searches.remove(&destination);
        orders.push(Order::Unreachable(destination));
    }

    /// After a reboot: nothing is known, and nothing is sent for DELETE_PERIOD. @RFC3561 sec. 6.13
    pub(super) fn reboot(&mut self, now: SimTime) {
        self.table.clear();
        self.number = super::Number(0);
        self.request_id = 0;
        self.seen = super::Seen::default();
        self.searches.clear();
        self.requests = super::Rate::new(self.settings.rreq_ratelimit);
        self.errors = super::Rate::new(self.settings.rerr_ratelimit);
        (self.blacklist, self.unacknowledged) = (super::Timed::default(), super::Timed::default());
        self.greeted = super::Timed::default();
        self.last_broadcast = None;
        self.delayed.clear();
        self.quiet.clear();
        self.listed.clear();
        self.silent_until = now + self.settings.delete_period;
        if self.settings.hello {
            self.next_hello = self.silent_until;
        }
    }
}
