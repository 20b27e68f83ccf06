//! AODV as a test's own plug-in without an oracle: after each call that a node makes of its router the graph of next hops of all nodes is
//! looked at.

use crate::without_oracle::WithoutOracle;
use net::router::aodv::{self, Aodv, Settings};
use net::{Router, RouterFacts};
use plugin::{Info, Params};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use units::{NodeId, SimTime};
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

/// Looks at the graph.
fn look(now: SimTime, node: NodeId, router: &mut Aodv) {
    let valid = router.routes(now).filter(|(_, route)| route.is_valid);
    let routes = valid.map(|(destination, route)| (*destination, (route.next.1, route.until))).collect();
    GRAPH.with_borrow_mut(|graph| graph.update(now, node, routes));
}

fn make(facts: RouterFacts, params: &Params) -> WithoutOracle<Aodv> {
    WithoutOracle::new(facts, |facts| Aodv::new(facts, Settings::of(params)), look)
}

fn watched(facts: RouterFacts, params: &Params) -> Box<dyn Router> {
    Box::new(make(facts, params))
}

fn numberless(facts: RouterFacts, params: &Params) -> Box<dyn Router> {
    let mut it = make(facts, params);
    it.router.ignore_numbers();
    Box::new(it)
}
