//! AODV as a test's own plug-in: it fails if anybody hands it computed routes or neighbours, and after each call that a node makes of
//! its router the graph of next hops of all nodes is looked at.

use net::router::aodv::{self, Aodv, Settings};
use net::{Hop, Orders, Router, RouterFacts};
use plugin::{Info, Params};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use units::{InterfaceId, NodeId, SimTime};
use wire::Packet;
use world::Registries;

/// A next hop, and the end of its route.
type Entry = (NodeId, SimTime);

/// The routes of all nodes of the run that this thread makes.
#[derive(Debug, Default)]
pub struct Graph {
    routes: BTreeMap<NodeId, BTreeMap<Ipv4Addr, Entry>>,
    /// New next hops that were followed to their end.
    pub followed: u64,
    /// The nodes of the loop that was found first, its destination and time.
    pub found: Option<(Vec<NodeId>, Ipv4Addr, SimTime)>,
}

impl Graph {
    fn next(&self, now: SimTime, node: NodeId, destination: Ipv4Addr) -> Option<NodeId> {
        let (next, until) = self.routes.get(&node)?.get(&destination)?;
        (*until > now).then_some(*next)
    }

    /// The routes of a node are these now. A loop that was not there before leads through a next hop of its that was not there before:
    /// from each such next hop the graph is followed. What ends by its time takes next hops away and adds none.
    fn update(&mut self, now: SimTime, node: NodeId, routes: BTreeMap<Ipv4Addr, Entry>) {
        let is_new = |(destination, (next, _)): &(&Ipv4Addr, &Entry)| {
            net::address(node) != **destination && self.next(now, node, **destination) != Some(*next)
        };
        let new: Vec<Ipv4Addr> = routes.iter().filter(is_new).map(|(destination, _)| *destination).collect();
        self.routes.insert(node, routes);
        for destination in new {
            self.followed += 1;
            let (mut way, mut here) = (vec![node], node);
            while let Some(next) = self.next(now, here, destination) {
                if net::address(next) == destination {
                    break;
                }
                if way.contains(&next) {
                    self.found.get_or_insert((way, destination, now));
                    break;
                }
                way.push(next);
                here = next;
            }
        }
    }
}

thread_local! {
    static GRAPH: RefCell<Graph> = RefCell::default();
}

/// The graph since the last call, by the runs that this thread has made.
pub fn take_graph() -> Graph {
    GRAPH.take()
}

/// The routers of the program and two more: `watched` is AODV, `numberless` the same without a look at sequence numbers.
pub fn registries() -> Registries {
    let mut registries = Registries::builtin();
    registries.routers.add(&WATCHED, watched).unwrap();
    registries.routers.add(&NUMBERLESS, numberless).unwrap();
    registries
}

const fn info(id: &'static str) -> Info {
    Info { id, summary: "AODV without an oracle, watched", source: "none", params: aodv::INFO.params }
}

static WATCHED: Info = info("watched");
static NUMBERLESS: Info = info("numberless");

fn make(facts: RouterFacts, params: &Params) -> Watched {
    assert!(facts.least_cost.is_empty(), "it was handed routes");
    Watched { node: facts.node, router: Aodv::new(facts, Settings::of(params)) }
}

fn watched(facts: RouterFacts, params: &Params) -> Box<dyn Router> {
    Box::new(make(facts, params))
}

fn numberless(facts: RouterFacts, params: &Params) -> Box<dyn Router> {
    let mut it = make(facts, params);
    it.router.ignore_numbers();
    Box::new(it)
}

#[derive(Debug)]
struct Watched {
    node: NodeId,
    router: Aodv,
}

impl Watched {
    /// Asks the router, and looks at the graph.
    fn ask<T>(&mut self, now: SimTime, what: impl FnOnce(&mut Aodv) -> T) -> T {
        let answer = what(&mut self.router);
        let valid = self.router.routes(now).filter(|(_, route)| route.is_valid);
        let routes = valid.map(|(destination, route)| (*destination, (route.next.1, route.until))).collect();
        GRAPH.with_borrow_mut(|graph| graph.update(now, self.node, routes));
        answer
    }
}

impl Router for Watched {
    fn is_on_demand(&self) -> bool {
        true
    }

    fn next(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>) -> Option<Hop> {
        self.ask(now, |router| router.next(now, packet, from))
    }

    fn seek(&mut self, now: SimTime, packet: &Packet, from: Option<NodeId>, orders: &mut Orders) -> bool {
        self.ask(now, |router| router.seek(now, packet, from, orders))
    }

    fn port(&self) -> Option<u16> {
        self.router.port()
    }

    fn control(&mut self, now: SimTime, packet: &Packet, at: InterfaceId, from: NodeId, orders: &mut Orders) {
        self.ask(now, |router| router.control(now, packet, at, from, orders));
    }

    fn neighbour(&mut self, _: SimTime, _: InterfaceId, _: NodeId, _: bool, _: &mut Orders) {
        panic!("it was told of a neighbour");
    }

    fn rerouted(&mut self, _: SimTime, _: &[Option<Hop>], _: &mut Orders) {
        panic!("it was handed routes");
    }

    fn link_failed(&mut self, now: SimTime, at: InterfaceId, to: NodeId, packet: &Packet, orders: &mut Orders) {
        self.ask(now, |router| router.link_failed(now, at, to, packet, orders));
    }

    fn restart(&mut self, now: SimTime, orders: &mut Orders) {
        self.ask(now, |router| router.restart(now, orders));
    }

    fn timer(&mut self, now: SimTime, orders: &mut Orders) {
        self.ask(now, |router| router.timer(now, orders));
    }

    fn next_wakeup(&self) -> SimTime {
        self.router.next_wakeup()
    }

    fn may_wait(&self) -> usize {
        self.router.may_wait()
    }

    fn patience(&self) -> units::Dur {
        self.router.patience()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.router.counters(out);
    }
}
