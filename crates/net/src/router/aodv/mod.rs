//! AODV: routes are sought when they are needed, and sequence numbers of destinations keep them free of loops.
//!
//! - **Source** @RFC3561, whole but section 7 (subnets) and the multicast flags. A node answers for the prefixes that it stands for,
//!   address by address.
//! - **Knows** its own address and interfaces, and what packets tell it. It asks neither for neighbours nor for computed routes.
//! - **Readings** Where the letter permits a loop (@GHTP13) or says nothing, the reading is this:
//!   1. A number that is known is never forgotten for a lower or an unknown one while its route is remembered: not by the entry for a
//!      previous hop "without a valid sequence number" (6.5, 6.7), not by 6.7 (i). That entry gets one hop and keeps its number.
//!   2. A reverse route takes a request's next hop and hop count under the rule of 6.2 alone, where 6.5 copies both always.
//!   3. Each route that ends counts its number up, one whose time is over too (6.1 has it so, 6.11 is silent).
//!   4. A RERR ends the routes over its sender whatever its number; the number becomes the higher of its own, counted up, and that of
//!      the RERR (6.11 copies it, which may lower it).
//!   5. No node has a route to itself: a RREP about its own address, and a RREQ of its own, end with it.
//!   6. The number of a destination that answers is the higher of its own and the request's (6.1; 6.6.1 says "equal to that
//!      incremented value" and covers one case of it).
//!   7. A route's life is prolonged by nothing but packets that its next hop is sent, and such that came from it: the route to a
//!      packet's source only if the packet came over it (6.2), that to a request's originator likewise (6.5), those to next and previous
//!      hops only if they are direct. Packets that pass from or to a destination keep alive what is remembered of a route that has
//!      ended. So a node remembers longer than others use it, which the deletion after DELETE_PERIOD rests on.
//!   8. The lifetime in a RREP counts up to DELETE_PERIOD.
//!   9. After a reboot nothing is sent but RERRs and acknowledgements, numbers are noted without routes, and a reply that
//!      was to be passed on prolongs the wait as a data packet does (6.13).
//!   10. A hop count that cannot be counted up ends its message.
//!   11. A reply that confirms a route as it is, of the same number, hop count and next hop, is passed on as one that updates it. By the
//!       letter of 6.7 it ends, and a search with the D flag past a neighbour that said Hello never finds its destination.
//! - **Choices** The search of the whole network is tried once and RREQ_RETRIES times again (6.3 has both readings). A source keeps a
//!   packet that its own MAC gave up; a relay does so for local repair only. A RERR for a packet without a route goes to the neighbour
//!   that sent it. A failed reply puts its neighbour on the blacklist and breaks the link. Broadcasts that answer others wait for a
//!   random part of `jitter` (@RFC5148); the first of a search goes at once.
//! - **Preset** `ns2` has the constants and ways of ns-2.35's agent: waits that grow by floods, 10 s of silence after a search in vain,
//!   repair if the way behind is longer than the way ahead, else queue and packet dropped; errors to all. It does not have its
//!   gaps of 10 ms between packets that are released, its data TTL of 30 and its timer of 0.5 s.
//! - **Preset** `ns3` has the ways of ns-3 3.37's agent. It heeds the MAC's reports of neighbours in its list alone: those it heard a new
//!   request or a reply of, or forwards to; a report takes its neighbour off the list. It saves nothing: neither the packet that was
//!   given up nor what is queued behind it, which goes on to the old neighbour. A relay whose route, even one that has ended, leads to
//!   the neighbour that asks does not pass its request on. A request does not revive the route to its originator, though a reply goes
//!   that way. A reply that gives a route forgets who used the old one, and so does whatever a
//!   neighbour says for the route to itself. An error about a packet without a route goes to the next
//!   hop towards its source, which need not be who sent it: then that neighbour goes on for ever. Errors are passed on, and said again,
//!   of routes that have ended too, without a limit. Nobody is blacklisted, and numbers stay as they were (`counts_up`). ns-3 lists the next hop towards
//!   the sender of what a node is delivered; here it is that of TCP packets, which are answered. It does not have its jitter of whole
//!   milliseconds and the acknowledgements that it asks of replies about a neighbour.
//! - **Departs** none else known.
//! - **Checked** crates/net/tests/all/aodv*.rs; crates/world/tests/all/aodv.rs.

mod discovery;
mod errors;
mod limits;
mod message;
mod number;
mod replies;
mod requests;
mod settings;
mod table;

pub use limits::MOST_SEEN;
pub use message::{Error, MOST_UNREACHABLE, Message, Reply, Request};
pub use number::Number;
pub use settings::Settings;
pub use table::{MOST_ROUTES, Neighbour, Route};

use super::delayed::{Delayed, part};
use super::{Order, Orders, Router, RouterFacts};
use crate::{Addresses, Hop};
use discovery::Search;
use engine::Stream;
use limits::{Rate, Seen, Timed};
use plugin::{Info, Params};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;
use table::Table;
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{AODV_PORT, Content, Ipv4, L4, Packet, Payload, Udp};

/// Its declaration.
pub const INFO: Info = Info {
    id: "aodv",
    summary: "routes sought on demand by flooded requests; sequence numbers keep them free of loops",
    source: "RFC3561",
    params: settings::PARAMS,
};

/// The router of a node.
pub fn make(facts: RouterFacts, params: &Params) -> Box<dyn Router> {
    Box::new(Aodv::new(facts, Settings::of(params)))
}

/// The TTL of messages to a neighbour.
const ONE_HOP: u8 = 1;

#[derive(Debug, Default)]
struct Counters {
    rreq_sent: u64,
    rreq_originated: u64,
    rrep_sent: u64,
    rrep_gratuitous: u64,
    rrep_ack_sent: u64,
    rerr_sent: u64,
    hello_sent: u64,
    discoveries: u64,
    discoveries_failed: u64,
    link_failures: u64,
    repairs: u64,
    repairs_failed: u64,
    blacklisted: u64,
    refused: u64,
}

/// The router of one node.
#[derive(Debug)]
pub struct Aodv {
    own: Ipv4Addr,
    node: NodeId,
    interfaces: Vec<InterfaceId>,
    addresses: Addresses,
    draws: Stream,
    settings: Settings,
    table: Table,
    /// Its own number.
    number: Number,
    request_id: u32,
    seen: Seen,
    searches: BTreeMap<Ipv4Addr, Search>,
    requests: Rate,
    errors: Rate,
    blacklist: Timed,
    /// Neighbours whose acknowledgement is awaited.
    unacknowledged: Timed,
    /// Neighbours that send Hello messages, until they would be lost.
    greeted: Timed,
    last_broadcast: Option<SimTime>,
    next_hello: SimTime,
    /// Broadcasts that wait for their jitter, each with its TTL.
    delayed: Delayed<(Message, u8)>,
    /// After a reboot: until when it sends nothing.
    silent_until: SimTime,
    /// ns-2: destinations that were sought in vain, and until when they are not sought again.
    quiet: BTreeMap<Ipv4Addr, SimTime>,
    /// ns-3: the neighbours in its list. What the MAC reports of others it does not heed.
    listed: BTreeSet<NodeId>,
    counters: Counters,
}

impl Aodv {
    /// A router that knows nothing yet.
    pub fn new(facts: RouterFacts, settings: Settings) -> Aodv {
        let RouterFacts { node, address: own, interfaces, addresses, mut draws, .. } = facts;
        let next_hello = match settings.hello {
            true => SimTime::ZERO + part(settings.hello_interval, &mut draws),
            false => SimTime::NEVER,
        };
        Aodv {
            own,
            node,
            interfaces,
            addresses,
            draws,
            table: Table::new(settings.delete_period, settings.counts_up),
            number: Number(0),
            request_id: 0,
            seen: Seen::default(),
            searches: BTreeMap::new(),
            requests: Rate::new(settings.rreq_ratelimit),
            errors: Rate::new(settings.rerr_ratelimit),
            blacklist: Timed::default(),
            unacknowledged: Timed::default(),
            greeted: Timed::default(),
            last_broadcast: None,
            next_hello,
            delayed: Delayed::default(),
            silent_until: SimTime::ZERO,
            quiet: BTreeMap::new(),
            listed: BTreeSet::new(),
            counters: Counters::default(),
            settings,
        }
    }

    /// Compares no sequence numbers from now on: for the test that shows what they are for.
    #[doc(hidden)]
    pub fn ignore_numbers(&mut self) {
        self.table.ignores_numbers = true;
    }

    /// Sets its own sequence number, as if it had counted up to it: for tests of the rollover.
    #[doc(hidden)]
    pub fn set_number(&mut self, number: Number) {
        self.number = number;
    }

    /// Its own sequence number.
    pub fn number(&self) -> Number {
        self.number
    }

    /// The route to a destination, one that has ended too; `None` if nothing is remembered of it.
    pub fn route(&mut self, now: SimTime, destination: Ipv4Addr) -> Option<&Route> {
        self.table.at(now, destination).map(|route| &*route)
    }

    /// All routes, those that have ended too.
    pub fn routes(&mut self, now: SimTime) -> impl Iterator<Item = (&Ipv4Addr, &Route)> {
        self.table.routes(now)
    }

    /// Entries of its tables: routes, requests seen, broadcasts that wait, searches.
    pub fn sizes(&self) -> [usize; 4] {
        [self.table.len(), self.seen.len(), self.delayed.len(), self.searches.len()]
    }

    /// True while it is silent after a reboot.
    pub fn is_silent(&self, now: SimTime) -> bool {
        now < self.silent_until
    }

    fn is_own(&self, address: Ipv4Addr) -> bool {
        address == self.own || self.addresses.node(address) == Some(self.node)
    }

    /// Sends a message at once.
    fn send(&mut self, now: SimTime, message: &Message, ttl: u8, to: Option<table::Neighbour>, orders: &mut Orders) {
        let count = match message {
            Message::Request(_) => &mut self.counters.rreq_sent,
            Message::Reply(_) if to.is_none() => &mut self.counters.hello_sent,
            Message::Reply(_) => &mut self.counters.rrep_sent,
            Message::Error(_) => &mut self.counters.rerr_sent,
            Message::ReplyAck => &mut self.counters.rrep_ack_sent,
        };
        *count += 1;
        let bytes = message.bytes();
        let payload = Payload::new(bytes.len() as u32, Content::Bytes(Arc::from(bytes)));
        let l4 = L4::Udp(Udp { src_port: AODV_PORT, dst_port: AODV_PORT });
        let ip = Ipv4 { src: self.own, dst: Ipv4Addr::BROADCAST, ttl, ..Ipv4::default() };
        let mut packet = Packet { ip, l4, payload, flow: FlowId::NONE };
        match to {
            Some((interface, node)) => {
                packet.ip.dst = crate::address(node);
                orders.push(Order::Send(packet, interface, node));
            }
            None => {
                self.last_broadcast = Some(now);
                for interface in &self.interfaces {
                    orders.push(Order::Send(packet.clone(), *interface, NodeId::BROADCAST));
                }
            }
        }
    }

    /// Broadcasts a message after a random part of the jitter.
    fn send_later(&mut self, now: SimTime, message: Message, ttl: u8, orders: &mut Orders) {
        if self.settings.jitter == Dur::ZERO {
            return self.send(now, &message, ttl, None, orders);
        }
        // What is lost draws no wait.
        if self.delayed.has_room() {
            let at = now + part(self.settings.jitter, &mut self.draws);
            self.delayed.push(at, (message, ttl));
        }
    }

    /// A route to this destination may be there now: what waits for it goes on.
    fn found(&mut self, now: SimTime, destination: Ipv4Addr, orders: &mut Orders) {
        if self.searches.contains_key(&destination) && self.table.active(now, destination).is_some() {
            self.searches.remove(&destination);
            orders.push(Order::Found(destination));
        }
    }

    /// A control packet came from a neighbour: there is a route to it. @RFC3561 sec. 6.2
    fn hear(&mut self, now: SimTime, from: table::Neighbour, number: Option<Number>, life: Dur, orders: &mut Orders) {
        if self.settings.is_ns3
            && let Some(route) = self.table.at(now, crate::address(from.1))
            && (route.number.is_none() || route.hops > 1)
        {
            route.precursors.clear();
        }
        self.table.hear(now, from, now + life, number);
        self.found(now, crate::address(from.1), orders);
    }

    /// True if this is a control packet of AODV.
    fn is_control(packet: &Packet) -> bool {
        matches!(&packet.l4, L4::Udp(header) if header.dst_port == AODV_PORT) && packet.flow == FlowId::NONE
    }
}

impl Router for Aodv {
    fn is_on_demand(&self) -> bool {
        true
    }

    /// @RFC3561 sec. 6.2: what a packet takes is used, and stays.
    fn next(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>) -> Option<Hop> {
        let (destination, source) = (packet.ip.dst, packet.ip.src);
        if self.is_silent(now) || Aodv::is_control(packet) {
            return None;
        }
        let life = self.settings.active_route_timeout;
        let until = now + life;
        let route = self.table.active(now, destination)?;
        route.until = route.until.max(until);
        let (interface, node) = route.next;
        if self.settings.is_ns3 && (from.is_some() || matches!(packet.l4, L4::Tcp(_))) {
            self.listed.insert(node);
            self.listed.extend(from);
        }
        for neighbour in [Some(node), from].into_iter().flatten() {
            let address = crate::address(neighbour);
            if self.table.at(now, address).is_some_and(|route| route.is_direct(address)) {
                self.table.extend(now, address, until);
            }
        }
        if let Some(from) = from
            && self.table.at(now, source).is_some_and(|route| !route.is_valid || route.next.1 == from)
        {
            self.table.extend(now, source, until);
        }
        Some(Hop::Air(interface, node))
    }

    fn seek(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>, orders: &mut Orders) -> bool {
        self.lacks_route(now, packet, from, orders)
    }

    fn port(&self) -> Option<u16> {
        Some(AODV_PORT)
    }

    fn control(&mut self, now: SimTime, packet: &Packet, at: InterfaceId, from: NodeId, orders: &mut Orders) {
        // A message is of its neighbour's making, whoever it speaks of.
        let is_sound = from != self.node && packet.ip.src == crate::address(from) && !self.is_own(packet.ip.src);
        let message = match &packet.payload.content {
            Content::Bytes(bytes) if is_sound => Message::read(bytes),
            _ => None,
        };
        let Some(message) = message else {
            self.counters.refused += 1;
            return;
        };
        if self.greeted.contains(from) {
            self.greeted.set(from, now + self.hello_patience());
        }
        if self.settings.is_ns3 && !packet.ip.dst.is_broadcast() && self.table.active(now, packet.ip.src).is_some() {
            self.listed.insert(from);
        }
        match message {
            Message::Request(request) => self.requested(now, request, packet.ip.ttl, (at, from), orders),
            Message::Reply(reply) if packet.ip.dst.is_broadcast() => self.greeting(now, &reply, (at, from), orders),
            Message::Reply(reply) => self.replied(now, reply, (at, from), orders),
            Message::Error(error) => self.told_of_errors(now, &error, (at, from), orders),
            Message::ReplyAck => self.unacknowledged.remove(from),
        }
    }

    fn link_failed(&mut self, now: SimTime, at: InterfaceId, to: NodeId, packet: &Packet, orders: &mut Orders) {
        self.link_lost(now, (at, to), Some(packet), orders);
    }

    fn restart(&mut self, now: SimTime, _: &mut Orders) {
        self.reboot(now);
    }

    fn timer(&mut self, now: SimTime, orders: &mut Orders) {
        while let Some((message, ttl)) = self.delayed.pop_due(now) {
            self.send(now, &message, ttl, None, orders);
        }
        self.search_on(now, orders);
        for node in self.unacknowledged.take_due(now) {
            self.blacklist(now, node);
        }
        self.greet(now, orders);
    }

    fn next_wakeup(&self) -> SimTime {
        let searches = self.searches.values().map(|search| search.deadline).min().unwrap_or(SimTime::NEVER);
        let hello = self.next_hello.min(self.greeted.first());
        self.delayed.first().min(searches).min(self.unacknowledged.first()).min(hello)
    }

    fn may_wait(&self) -> usize {
        self.settings.buffer
    }

    fn patience(&self) -> Dur {
        self.settings.buffer_time
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let it = &self.counters;
        out("rreq_sent", it.rreq_sent);
        out("rreq_originated", it.rreq_originated);
        out("rrep_sent", it.rrep_sent);
        out("rrep_gratuitous", it.rrep_gratuitous);
        out("rrep_ack_sent", it.rrep_ack_sent);
        out("rerr_sent", it.rerr_sent);
        out("hello_sent", it.hello_sent);
        out("discoveries", it.discoveries);
        out("discoveries_failed", it.discoveries_failed);
        out("link_failures", it.link_failures);
        out("repairs", it.repairs);
        out("repairs_failed", it.repairs_failed);
        out("blacklisted", it.blacklisted);
        out("refused", it.refused);
    }
}
