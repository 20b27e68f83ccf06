//! Requests that come in: reverse routes, answers, and what is passed on. @RFC3561 sec. 6.5, 6.6

use super::message::{Message, Reply, Request, ms};
use super::settings::NS2_REVERSE_ROUTE_LIFE;
use super::table::{Neighbour, Offer};
use super::{Aodv, Orders};
use units::SimTime;

impl Aodv {
    pub(super) fn requested(
        &mut self,
        now: SimTime,
        mut request: Request,
        ttl: u8,
        from: Neighbour,
        orders: &mut Orders,
    ) {
        // @RFC3561 sec. 6.8
        if self.blacklist.holds(now, from.1) {
            return;
        }
        let is_silent = self.is_silent(now);
        if !is_silent {
            self.hear(now, from, None, self.settings.active_route_timeout, orders);
        }
        let (originator, destination) = (request.originator, request.destination);
        let Some(hops) = request.hops.checked_add(1) else { return };
        let until = now + self.settings.path_discovery_time;
        if self.is_own(originator) || !self.seen.insert(now, (originator, request.id), until) {
            return;
        }
        if self.settings.is_ns3 {
            self.listed.insert(from.1);
        }
        // Before the request gives this route another hop, as its originator's may.
        let leads_back = self.settings.is_ns3
            && !self.is_own(destination)
            && self.table.at(now, destination).is_some_and(|route| route.next == from);
        if self.is_own(destination)
            && let Some(number) = request.destination_number
        {
            // @RFC3561 sec. 6.1, 6.13
            self.number = self.number.max(number);
        }
        let life = self.settings.net_traversal_time * 2;
        let life = life.saturating_sub(self.settings.node_traversal_time * (2 * u64::from(hops)));
        let life = if self.settings.is_ns2 { NS2_REVERSE_ROUTE_LIFE } else { life };
        let offer = Offer { number: Some(request.originator_number), hops, next: from, until: now + life };
        if is_silent {
            self.table.note(now, originator, offer);
            return;
        }
        let stays_ended = self.settings.is_ns3 && self.table.redirect_ended(now, originator, offer);
        if !stays_ended
            && !self.table.offer(now, originator, offer)
            && self.table.active(now, originator).is_some_and(|route| route.next == from)
        {
            self.table.extend(now, originator, now + life);
        }
        self.found(now, originator, orders);
        if leads_back || self.answers(now, &request, orders) || ttl <= 1 {
            return;
        }
        request.hops = hops;
        let known = self.table.at(now, destination).and_then(|route| route.number);
        request.destination_number = match (request.destination_number, known) {
            (Some(asked), Some(known)) => Some(asked.max(known)),
            (asked, known) => asked.or(known),
        };
        self.send_later(now, Message::Request(request), ttl - 1, orders);
    }

    /// Answers a request, if it may: as its destination, or with a route that is fresh enough. @RFC3561 sec. 6.6
    fn answers(&mut self, now: SimTime, request: &Request, orders: &mut Orders) -> bool {
        let (originator, destination) = (request.originator, request.destination);
        let Some(back) = self.way_back(now, originator) else { return self.is_own(destination) };
        let (back, back_hops, back_until) = (back.next, back.hops, back.until);
        let mut reply = Reply {
            wants_ack: false,
            prefix: 0,
            hops: 0,
            destination,
            destination_number: self.number,
            originator,
            lifetime_ms: ms(self.settings.my_route_timeout),
            hello_interval_ms: None,
        };
        if self.is_own(destination) {
            self.send_reply(now, reply, back, orders);
            return true;
        }
        let ignores_numbers = self.table.ignores_numbers;
        let Some(route) = self.table.active(now, destination) else { return false };
        let Some(number) = route.number else { return false };
        let is_fresh = request.destination_number.is_none_or(|asked| !asked.is_after(number)) || ignores_numbers;
        if !is_fresh || request.destination_only {
            return false;
        }
        let forth = route.next;
        (reply.hops, reply.destination_number) = (route.hops, number);
        reply.lifetime_ms = ms(route.until - now);
        self.send_reply(now, reply, back, orders);
        if request.gratuitous {
            // @RFC3561 sec. 6.6.3
            self.counters.rrep_gratuitous += 1;
            let reply = Reply {
                wants_ack: false,
                prefix: 0,
                hops: back_hops,
                destination: originator,
                destination_number: request.originator_number,
                originator: destination,
                lifetime_ms: ms(back_until - now),
                hello_interval_ms: None,
            };
            self.send_reply(now, reply, forth, orders);
        }
        true
    }
}
