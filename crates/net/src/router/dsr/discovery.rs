//! Route discovery. @RFC4728 sec. 8.2

use super::options::{Choice, Header, Reply, Request, SourceRoute};
use super::{Dsr, Learned, Order, Orders, TTL, part};
use std::net::Ipv4Addr;
use units::{Dur, NodeId, SimTime};
use wire::Packet;

/// The TTL of a request that is not passed on. @RFC4728 sec. 3.3.3
const NEIGHBOURS: u8 = 1;

impl Dsr {
    /// A packet of this node waits for a route. Returns whether one is sought.
    pub(super) fn search(&mut self, now: SimTime, target: Ipv4Addr, orders: &mut Orders) -> bool {
        if self.addresses.node(target).is_none_or(|node| node == self.node) {
            return false;
        }
        let room = self.settings.request_table_size;
        let until = SimTime::from_ns(now.ns().saturating_add(self.settings.send_buffer_timeout.ns()));
        let Some(search) = self.targets.entry(now, target, room) else { return false };
        if search.wanted_until.replace(until).is_none() {
            search.tries = 0;
            self.counters.discoveries += 1;
            if search.next_at <= now {
                self.request(now, target, orders);
            }
        }
        true
    }

    /// Sends the next request for a target. @RFC4728 sec. 8.2.1
    fn request(&mut self, now: SimTime, target: Ipv4Addr, orders: &mut Orders) {
        let Some(search) = self.targets.get_mut(target) else { return };
        let is_first = self.settings.ring_zero && !search.has_asked_neighbours;
        let ttl = if is_first {
            search.has_asked_neighbours = true;
            search.next_at = now + self.settings.nonprop_request_timeout;
            NEIGHBOURS
        } else {
            search.floods = search.floods.saturating_add(1);
            search.tries += 1;
            search.next_at = now + self.settings.wait(search.floods);
            self.settings.discovery_hop_limit
        };
        self.request_id = self.request_id.wrapping_add(1);
        let request = Choice::Request(Request { id: self.request_id, target, hops: Vec::new() });
        let error = if is_first { self.to_spread.clone() } else { self.to_spread.take() };
        let options = error.map(Choice::Error).into_iter().chain([request]).collect();
        let packet = self.packet(Ipv4Addr::BROADCAST, ttl, options);
        self.counters.rreq_originated += 1;
        self.send(packet, None, orders);
    }

    /// Goes on with the searches whose wait is over.
    pub(super) fn search_on(&mut self, now: SimTime, orders: &mut Orders) {
        let due = self.targets.wanted().filter(|(_, it)| it.next_at <= now);
        let due: Vec<(Ipv4Addr, bool, bool)> = due
            .map(|(target, it)| {
                let is_over = it.wanted_until.is_some_and(|until| until <= now);
                (target, is_over, it.tries > self.settings.max_request_rexmt)
            })
            .collect();
        for (target, is_over, has_failed) in due {
            if !is_over && !has_failed {
                self.request(now, target, orders);
                continue;
            }
            self.counters.discoveries_failed += 1;
            if let Some(search) = self.targets.get_mut(target) {
                search.wanted_until = None;
            }
            orders.push(Order::Unreachable(target));
        }
    }

    /// A request came from a neighbour. @RFC4728 sec. 8.2.2
    pub(super) fn requested(&mut self, now: SimTime, packet: &Packet, header: &Header, from: NodeId, orders: &mut Orders) {
        let Some(request) = header.request() else { return };
        let (initiator, hops) = (packet.ip.src, &request.hops);
        let is_sound = self.addresses.node(*hops.last().unwrap_or(&initiator)) == Some(from)
            && self.is_plain(hops.iter().copied().chain([initiator]));
        if !is_sound {
            self.counters.refused += 1;
            return;
        }
        let has_passed_here = self.is_own(initiator) || hops.iter().any(|hop| self.is_own(*hop));
        // It heard this node: the link has both directions. @RFC4728 sec. 4.6
        let before = if hops.len() > 1 { hops[hops.len() - 2] } else { initiator };
        if !hops.is_empty() && self.is_own(before) {
            self.blacklist.remove(&from);
        }
        if has_passed_here {
            return;
        }
        let is_blacklisted = self.blacklist.get(&from).is_some_and(|until| *until > now);
        let back: Vec<Ipv4Addr> = hops.iter().rev().copied().chain([initiator]).collect();
        if !is_blacklisted {
            self.learn(now, &back, Learned::Passing);
            self.release(now, orders);
        }
        if self.is_own(request.target) {
            let way = hops.iter().copied().chain([request.target]).collect();
            let wait = part(self.settings.jitter, &mut self.draws);
            return self.reply(now, wait, way, &back, orders);
        }
        let table = [self.settings.request_table_size, self.settings.request_table_ids];
        if is_blacklisted || !self.seen.insert(initiator, (request.id, request.target), table) {
            return;
        }
        let own = self.own;
        if self.settings.cached_replies {
            let most = self.settings.max_hops;
            let addresses = self.addresses.clone();
            let is_fit = |rest: &[Ipv4Addr]| {
                let is_on_way = |hop: &Ipv4Addr| {
                    let node = addresses.node(*hop);
                    back.iter().any(|it| addresses.node(*it) == node)
                };
                hops.len() + 1 + rest.len() <= most && !rest.iter().any(is_on_way)
            };
            if let Some(rest) = self.cache.find(now, request.target, is_fit) {
                let way: Vec<Ipv4Addr> = hops.iter().copied().chain([own]).chain(rest).collect();
                // H * (h - 1 + r). @RFC4728 sec. 8.2.5
                let step = self.settings.reply_delay;
                let wait = step * (way.len() as u64 - 1) + part(step, &mut self.draws);
                self.counters.rrep_cached += 1;
                return self.reply(now, wait, way, &back, orders);
            }
        }
        // This node and a target behind it would be two hops more.
        if packet.ip.ttl <= 1 || hops.len() + 2 > self.settings.max_hops {
            return;
        }
        let options = header.0.iter().cloned().map(|option| match option {
            Choice::Request(mut it) => {
                it.hops.push(own);
                Choice::Request(it)
            }
            other => other,
        });
        let mut onward = packet.clone();
        onward.ip.ttl -= 1;
        onward.set_routing_header(&Header(options.collect()).bytes());
        let wait = part(self.settings.jitter, &mut self.draws);
        self.send_after(now, wait, onward, None, orders);
    }

    /// Sends a reply with this way, back along the way on which the request came. @RFC4728 sec. 8.2.4
    fn reply(&mut self, now: SimTime, wait: Dur, way: Vec<Ipv4Addr>, back: &[Ipv4Addr], orders: &mut Orders) {
        let Some((initiator, relays)) = back.split_last() else { return };
        let reply = Choice::Reply(Reply { is_last_external: false, hops: way });
        self.send_along(now, wait, *initiator, relays, reply, orders);
    }

    /// Sends a control packet to `dst` over these relays.
    pub(super) fn send_along(
        &mut self,
        now: SimTime,
        wait: Dur,
        dst: Ipv4Addr,
        relays: &[Ipv4Addr],
        option: Choice,
        orders: &mut Orders,
    ) {
        let Some(first) = self.addresses.node(*relays.first().unwrap_or(&dst)) else { return };
        let route = (!relays.is_empty()).then(|| Choice::Route(SourceRoute::over(relays)));
        let packet = self.packet(dst, TTL, route.into_iter().chain([option]).collect());
        self.send_after(now, wait, packet, Some(first), orders);
    }

    /// Takes from a reply that ends or passes here what follows this node on its way. @RFC4728 sec. 8.1.4, 8.2.6
    pub(super) fn replied(&mut self, now: SimTime, initiator: Ipv4Addr, reply: &Reply, orders: &mut Orders) {
        let hops = &reply.hops;
        let (Some(target), false) = (hops.last(), reply.is_last_external) else { return };
        if !self.is_plain(hops.iter().copied().chain([initiator])) {
            self.counters.refused += 1;
            return;
        }
        if self.is_own(initiator) {
            self.learn(now, hops, Learned::Asked);
            self.release(now, orders);
            if self.cache.knows(now, *target) {
                self.targets.found(*target);
            }
        } else if let Some(place) = hops.iter().position(|hop| self.is_own(*hop)) {
            self.learn(now, &hops[place + 1..], Learned::Passing);
            self.release(now, orders);
        }
    }
}
