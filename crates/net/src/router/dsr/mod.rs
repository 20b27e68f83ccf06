//! DSR: routes are sought when they are needed, and each packet carries its own.
//!
//! - **Source** @RFC4728, whole but for flow state (5, 7, 8.6), promiscuous listening and what rests on it (gratuitous replies, passive
//!   acknowledgements, the end of a delay by 8.2.5), several addresses of a node (8.4), fragments (8.5), external links, and nested errors.
//! - **Knows** its own address and interfaces, and what packets tell it. It asks neither for neighbours nor for computed routes.
//! - **Cache** whole paths (4.1), not links: no search can join two of them to a loop, and ns-2's is one. What replies to this node
//!   brought has room of its own.
//! - **Readings** Where the letter contradicts itself or leaves a choice:
//!   1. Option types are those of section 6 (a request is 1, a reply 2, an acknowledgement 32), not of 8.2 and 8.3 (2, 3, 6). A reply
//!      has no identifier (6.3).
//!   2. Segments Left counts the listed nodes that a packet has still to reach (6.7): it leaves its source with n of n, and a node that
//!      takes it in counts down before it sends on. By the letter of 8.1.5 the first would send it to itself.
//!   3. A node that salvages is the first of the new list (8.3.6), and has been reached.
//!   4. Reversed ways are cached, of requests too (3.3.1, third case). Of a packet with a reply that is the way it has come.
//!   5. A packet to a neighbour has no header (8.1.1).
//!   6. A packet of a node that its own MAC gave up is sent another way, or waits for one (4.5); a relay salvages or gives up.
//!   7. An error goes with the next requests of its receiver until the whole network has been asked once (3.4.4).
//!   8. The blacklist knows "probable" alone (4.6): after a time its entries end, and are not asked about.
//!   9. A source route that names a node twice is refused, whoever wrote it; so is one that the frame's sender is not on.
//!   10. A request with an error aboard ends at a relay that answers it, as one without (8.2.3 would pass the error on to the target).
//!   11. A discovery goes on as long as packets may wait for it, at most MaxRequestRexmt times. The waits are remembered beyond.
//! - **Preset** `ns2` has the bounds and waits of ns-2.35's agent: 16 hops, 0.5, 2, 8, 10 s between requests, paths that never age. It has
//!   neither its promiscuous learning, gratuitous replies and flow state nor its 20 bytes of IP header more and its queue.
//! - **Departs** none else known.
//! - **Checked** crates/net/tests/all/dsr*.rs; crates/world/tests/all/dsr.rs.

mod cache;
mod discovery;
mod maintenance;
mod options;
mod passage;
mod settings;
mod table;

pub use cache::Path;
pub use options::{Ack, Choice, Error, ErrorKind, Header, MOST_LISTED, MOST_RECORDED, Reply, Request, SourceRoute};
pub use settings::Settings;

use super::delayed::{Delayed, part};
use super::{Order, Orders, Router, RouterFacts};
use crate::{Addresses, Hop};
use cache::{Cache, Learned};
use engine::Stream;
use plugin::{Info, Params};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use table::{Seen, Targets};
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Payload};

/// Its declaration.
pub const INFO: Info = Info {
    id: "dsr",
    summary: "routes sought on demand by flooded requests; each packet carries its own, and relays salvage it",
    source: "RFC4728",
    params: settings::PARAMS,
};

/// The router of a node.
pub fn make(facts: RouterFacts, params: &Params) -> Box<dyn Router> {
    Box::new(Dsr::new(facts, Settings::of(params)))
}

/// The TTL of replies and errors.
const TTL: u8 = 255;

#[derive(Debug, Default)]
struct Counters {
    rreq_sent: u64,
    rreq_originated: u64,
    rrep_sent: u64,
    rrep_cached: u64,
    rerr_sent: u64,
    ack_sent: u64,
    discoveries: u64,
    discoveries_failed: u64,
    link_failures: u64,
    salvaged: u64,
    blacklisted: u64,
    refused: u64,
    headers_sent: u64,
    header_bytes: u64,
}

/// The router of one node.
#[derive(Debug)]
pub struct Dsr {
    own: Ipv4Addr,
    node: NodeId,
    interfaces: Vec<InterfaceId>,
    addresses: Addresses,
    draws: Stream,
    settings: Settings,
    cache: Cache,
    targets: Targets,
    seen: Seen,
    request_id: u16,
    /// Neighbours that a reply did not reach, and until when their requests are ignored.
    blacklist: BTreeMap<NodeId, SimTime>,
    /// The interface at which a neighbour was heard last; kept where there are several.
    heard: BTreeMap<NodeId, InterfaceId>,
    /// The last error that this node was told, for its next requests.
    to_spread: Option<Error>,
    /// The sources that were told of a broken link at this instant.
    told: (SimTime, Vec<(Ipv4Addr, NodeId)>),
    /// Control packets that wait, each for a neighbour or for all.
    delayed: Delayed<(Packet, Option<NodeId>)>,
    counters: Counters,
}

impl Dsr {
    /// A router that knows nothing yet.
    pub fn new(facts: RouterFacts, settings: Settings) -> Dsr {
        let RouterFacts { node, address: own, interfaces, addresses, mut draws, .. } = facts;
        let room = [settings.own_paths, settings.passing_paths];
        Dsr {
            own,
            node,
            interfaces,
            addresses,
            request_id: draws.below(1 << 16) as u16,
            draws,
            cache: Cache::new(room, settings.route_cache_timeout),
            targets: Targets::default(),
            seen: Seen::default(),
            blacklist: BTreeMap::new(),
            heard: BTreeMap::new(),
            to_spread: None,
            told: (SimTime::ZERO, Vec::new()),
            delayed: Delayed::default(),
            counters: Counters::default(),
            settings,
        }
    }

    /// The paths in its cache.
    pub fn paths(&mut self, now: SimTime) -> impl Iterator<Item = &Path> {
        self.cache.paths(now)
    }

    /// Entries of its tables: paths, requests seen, packets that wait for their time, targets.
    pub fn sizes(&self) -> [usize; 4] {
        [self.cache.len(), self.seen.len(), self.delayed.len(), self.targets.len()]
    }

    fn is_own(&self, address: Ipv4Addr) -> bool {
        address == self.own || self.addresses.node(address) == Some(self.node)
    }

    /// True if the addresses are of nodes of the network, each another.
    fn is_plain(&self, addresses: impl IntoIterator<Item = Ipv4Addr>) -> bool {
        let nodes: Option<Vec<NodeId>> = addresses.into_iter().map(|address| self.addresses.node(address)).collect();
        nodes.is_some_and(|mut nodes| {
            let all = nodes.len();
            nodes.sort_unstable();
            nodes.dedup();
            nodes.len() == all
        })
    }

    /// Remembers a path from this node, if it is one: not too long, and without this node and repetitions.
    fn learn(&mut self, now: SimTime, hops: &[Ipv4Addr], learned: Learned) {
        let is_path = !hops.is_empty() && hops.len() <= self.settings.max_hops;
        if is_path && self.is_plain(hops.iter().copied().chain([self.own])) {
            self.cache.add(now, hops, learned);
        }
    }

    /// Lets packets go that wait for a route which is known now. @RFC4728 sec. 4.1
    fn release(&mut self, now: SimTime, orders: &mut Orders) {
        let wanted: Vec<Ipv4Addr> = self.targets.wanted().map(|(target, _)| target).collect();
        for target in wanted.into_iter().filter(|target| self.cache.knows(now, *target)) {
            if let Some(search) = self.targets.get_mut(target) {
                search.wanted_until = None;
            }
            orders.push(Order::Found(target));
        }
    }

    /// The hop to a neighbour.
    fn hop(&self, address: Ipv4Addr) -> Option<Hop> {
        let node = self.addresses.node(address)?;
        let interface = self.heard.get(&node).or(self.interfaces.first())?;
        Some(Hop::Air(*interface, node))
    }

    /// Sends a control packet at once: to a neighbour, or to all.
    fn send(&mut self, packet: Packet, to: Option<NodeId>, orders: &mut Orders) {
        if let Some(header) = packet.routing_header().and_then(Header::read) {
            self.counters.rreq_sent += u64::from(header.request().is_some());
            self.counters.rrep_sent += u64::from(header.replies().next().is_some());
            self.counters.rerr_sent += u64::from(header.request().is_none() && header.errors().next().is_some());
            self.counters.ack_sent += header.0.iter().filter(|it| matches!(it, Choice::Ack(_))).count() as u64;
        }
        match to {
            Some(node) => {
                if let Some(interface) = self.heard.get(&node).or(self.interfaces.first()) {
                    orders.push(Order::Send(packet, *interface, node));
                }
            }
            None => {
                for interface in &self.interfaces {
                    orders.push(Order::Send(packet.clone(), *interface, NodeId::BROADCAST));
                }
            }
        }
    }

    /// Sends a control packet after a time.
    fn send_after(&mut self, now: SimTime, wait: Dur, packet: Packet, to: Option<NodeId>, orders: &mut Orders) {
        if wait == Dur::ZERO {
            return self.send(packet, to, orders);
        }
        self.delayed.push(now + wait, (packet, to));
    }

    /// A control packet of this node with these options.
    fn packet(&self, dst: Ipv4Addr, ttl: u8, options: Vec<Choice>) -> Packet {
        let ip = Ipv4 { src: self.own, dst, ttl, ..Ipv4::default() };
        let mut packet = Packet { ip, l4: L4::Nothing, payload: Payload::EMPTY, flow: FlowId::NONE };
        packet.set_routing_header(&Header(options).bytes());
        packet
    }
}

impl Router for Dsr {
    fn is_on_demand(&self) -> bool {
        true
    }

    /// None ever: a packet needs a header, or its header a look, before it goes.
    fn next(&mut self, _: SimTime, _: &Packet, _: Option<NodeId>) -> Option<Hop> {
        None
    }

    fn toward(&mut self, now: SimTime, packet: &Packet, _: Option<NodeId>) -> Option<Hop> {
        self.looks_ahead(now, packet)
    }

    fn prepare(&mut self, now: SimTime, packet: &mut Packet, from: Option<NodeId>, orders: &mut Orders) -> Option<Hop> {
        self.passes(now, packet, from, orders)
    }

    fn seek(&mut self, now: SimTime, packet: &Packet, _: Option<NodeId>, orders: &mut Orders) -> bool {
        let is_data = packet.l4 != L4::Nothing && packet.routing_header().is_none();
        is_data && self.search(now, packet.ip.dst, orders)
    }

    fn makes_room(&self) -> bool {
        true
    }

    fn arrived(&mut self, now: SimTime, packet: &mut Packet, from: Option<NodeId>, orders: &mut Orders) {
        self.ends(now, packet, from, orders);
    }

    fn control(&mut self, now: SimTime, packet: &Packet, at: InterfaceId, from: NodeId, orders: &mut Orders) {
        if self.interfaces.len() > 1 {
            self.heard.insert(from, at);
        }
        self.hears(now, packet, from, orders);
    }

    fn link_failed(&mut self, now: SimTime, at: InterfaceId, to: NodeId, packet: &Packet, orders: &mut Orders) {
        self.link_lost(now, (at, to), packet, orders);
    }

    fn restart(&mut self, _: SimTime, _: &mut Orders) {
        self.cache.clear();
        self.targets.clear();
        self.seen.clear();
        self.blacklist.clear();
        self.heard.clear();
        self.delayed.clear();
        self.to_spread = None;
        // @RFC4728 sec. 4.3: a random number, lest the first requests count as seen.
        self.request_id = self.draws.below(1 << 16) as u16;
    }

    fn timer(&mut self, now: SimTime, orders: &mut Orders) {
        while let Some((packet, to)) = self.delayed.pop_due(now) {
            self.send(packet, to, orders);
        }
        self.search_on(now, orders);
    }

    fn next_wakeup(&self) -> SimTime {
        self.targets.wanted().map(|(_, search)| search.next_at).fold(self.delayed.first(), SimTime::min)
    }

    fn may_wait(&self) -> usize {
        self.settings.send_buffer
    }

    fn patience(&self) -> Dur {
        self.settings.send_buffer_timeout
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let it = &self.counters;
        out("rreq_sent", it.rreq_sent);
        out("rreq_originated", it.rreq_originated);
        out("rrep_sent", it.rrep_sent);
        out("rrep_cached", it.rrep_cached);
        out("rerr_sent", it.rerr_sent);
        out("dsr_ack_sent", it.ack_sent);
        out("discoveries", it.discoveries);
        out("discoveries_failed", it.discoveries_failed);
        out("link_failures", it.link_failures);
        out("salvaged", it.salvaged);
        out("blacklisted", it.blacklisted);
        out("refused", it.refused);
        out("headers_sent", it.headers_sent);
        out("header_bytes", it.header_bytes);
    }
}
