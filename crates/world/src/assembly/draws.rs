//! The draws of a run before it is built: a layout that has what is asked for, and the ends of flows.

use super::Result;
use super::handoff::Belongs;
use super::{moving, network, places, radio};
use crate::scenario::{InputError, Layout, Redraw, Scenario};
use crate::shared::Shared;
use engine::{Purpose, Stream, Streams};
use net::Hop;
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use units::NodeId;

/// The scenario with what the seed draws: which layout, and the ends of flows with `hops`. The same, if nothing is.
///
/// # Errors
/// In as many layouts as the scenario allows none is connected, if it must be, or flows find no pairs.
pub(crate) fn drawn(shared: &Shared, seed: u64) -> Result<Cow<'_, Shared>> {
    let scenario = &shared.scenario;
    let redraw = match scenario.layout {
        Some(Layout::Disc { redraw, .. } | Layout::Rectangle { redraw, .. }) => Some(redraw),
        _ => None,
    };
    let must_connect = redraw.is_some_and(|redraw| redraw.connected);
    if !must_connect && scenario.flows.iter().all(|flow| flow.entry.hops.is_none()) {
        return Ok(Cow::Borrowed(shared));
    }
    let streams = Streams::new(seed);
    let draws = redraw.map_or(1, |redraw: Redraw| redraw.tries);
    let mut refused = None;
    for layout in 0..draws {
        let places = if moving::moves(scenario) {
            moving::begin(&Shared { layout, ..shared.clone() }, &streams)
        } else {
            places::places(scenario, &streams, layout)
        };
        let media = radio::media(scenario, &places, &streams);
        let near = network::near(shared, &places, &media.iter().collect::<Vec<_>>(), &streams, &Belongs::new());
        let graph = Graph::new(&network::hops_of(scenario, &[], &near));
        if must_connect && !graph.is_connected() {
            refused.get_or_insert(Refused::Apart);
            continue;
        }
        match ends(scenario, &graph, &streams, layout) {
            Ok(ends) => {
                let mut own = shared.clone();
                own.layout = layout;
                for (flow, (from, to)) in own.scenario.flows.iter_mut().zip(ends) {
                    (flow.from, flow.to) = (from, to);
                }
                return Ok(Cow::Owned(own));
            }
            Err(flow) => refused = Some(Refused::NoPair(flow)),
        }
    }
    Err(refused.unwrap_or(Refused::Apart).error(scenario, redraw, seed))
}

/// The reason why a layout is drawn again.
#[derive(Debug, Clone, Copy)]
enum Refused {
    /// Two nodes have no way to each other.
    Apart,
    /// No pair is left for this flow.
    NoPair(usize),
}

impl Refused {
    fn error(self, scenario: &Scenario, redraw: Option<Redraw>, seed: u64) -> InputError {
        let layouts = |draws: u32| match draws {
            1 => format!("the layout of seed {seed}"),
            _ => format!("{draws} layouts of seed {seed}"),
        };
        let tried = redraw.map(|redraw| layouts(redraw.tries));
        match self {
            Refused::Apart => {
                let tried = tried.unwrap_or_default();
                let message =
                    format!("not so in {tried}; more nodes, more range or less area would help, or more tries");
                InputError::new("layout.connected".to_owned(), message)
            }
            Refused::NoPair(flow) => {
                let flow = &scenario.flows[flow];
                let (from, to) = (&flow.entry.from.name, &flow.entry.to.name);
                let apart = flow.entry.hops.map(|hops| hops.to_string()).unwrap_or_default();
                let place = tried.map_or_else(|| "where the nodes stand".to_owned(), |tried| format!("in {tried}"));
                let message =
                    format!("no pair of \"{from}\" and \"{to}\" {apart} apart is left for \"{}\" {place}", flow.name);
                InputError::new(format!("flow[{}].hops", flow.index), message)
            }
        }
    }
}

/// The neighbours of each node, one hop away.
struct Graph {
    on: Vec<Vec<NodeId>>,
}

impl Graph {
    fn new(hops: &[Vec<Hop>]) -> Graph {
        Graph { on: hops.iter().map(|list| list.iter().map(|hop| hop.node()).collect()).collect() }
    }

    /// The hops from `from` to each node; `None` where no way leads.
    fn distances(&self, from: NodeId) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.on.len()];
        let mut queue = VecDeque::from([(from, 0)]);
        distances[from.index()] = Some(0);
        while let Some((node, hops)) = queue.pop_front() {
            for next in &self.on[node.index()] {
                if distances[next.index()].is_none() {
                    distances[next.index()] = Some(hops + 1);
                    queue.push_back((*next, hops + 1));
                }
            }
        }
        distances
    }

    /// True if everybody finds a way to everybody: the first node to all, and all to it.
    fn is_connected(&self) -> bool {
        let mut back = vec![Vec::new(); self.on.len()];
        for (from, list) in (0..).map(NodeId).zip(&self.on) {
            list.iter().for_each(|to| back[to.index()].push(from));
        }
        let reaches_all = |graph: &Graph| graph.distances(NodeId(0)).iter().all(Option::is_some);
        reaches_all(self) && reaches_all(&Graph { on: back })
    }
}

type Pair = (NodeId, NodeId);

/// The ends of all flows, drawn where they are to be: each pair that will do and is left is as likely as any other. Every flow has a stream
/// of its own, and one for each layout.
///
/// # Errors
/// The flow for which no pair is left.
fn ends(
    scenario: &Scenario,
    graph: &Graph,
    streams: &Streams,
    layout: u32,
) -> core::result::Result<Vec<Pair>, usize> {
    let mut taken = BTreeSet::new();
    // The pairs that will do for flows of an entry, and which entry that is.
    let mut candidates: (usize, Vec<Pair>) = (usize::MAX, Vec::new());
    let mut ends = Vec::with_capacity(scenario.flows.len());
    for (i, flow) in scenario.flows.iter().enumerate() {
        let Some(hops) = flow.entry.hops else {
            ends.push((flow.from, flow.to));
            continue;
        };
        if candidates.0 != flow.index {
            let pairs = flow.entry.from.nodes.iter().flat_map(|from| {
                let distances = graph.distances(*from);
                let is_far_enough =
                    move |to: &NodeId| distances[to.index()].is_some_and(|it| it > 0 && hops.allow(it));
                flow.entry.to.nodes.iter().copied().filter(is_far_enough).map(|to| (*from, to))
            });
            candidates = (flow.index, pairs.collect());
        }
        let stream = streams.get(Purpose::Ends, u64::from(layout) << 32 | i as u64);
        let pair = draw(&candidates.1, &taken, stream).ok_or(i)?;
        taken.insert(unordered(pair));
        ends.push(pair);
    }
    Ok(ends)
}

fn unordered((a, b): Pair) -> Pair {
    (a.min(b), a.max(b))
}

/// One of the pairs that are not taken, in either order.
fn draw(candidates: &[Pair], taken: &BTreeSet<Pair>, mut stream: Stream) -> Option<Pair> {
    let is_free = |pair: &Pair| !taken.contains(&unordered(*pair));
    let mut pick = |from: &[Pair]| Some(*from.get(stream.below(u32::try_from(from.len().max(1)).ok()?) as usize)?);
    // Few are taken, as a rule. Where many are, they are left out.
    for _ in 0..16 {
        if let Some(pair) = pick(candidates).filter(is_free) {
            return Some(pair);
        }
    }
    let free: Vec<Pair> = candidates.iter().copied().filter(is_free).collect();
    pick(&free)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(id: u32) -> NodeId {
        NodeId(id)
    }

    #[test]
    fn distances_are_least_hops_and_one_way_is_not_connected() {
        let string =
            |on: [&[u32]; 4]| Graph { on: on.map(|list| list.iter().copied().map(NodeId).collect()).to_vec() };
        let both_ways = string([&[1], &[0, 2], &[1, 3], &[2]]);
        assert_eq!(both_ways.distances(n(0)), [0, 1, 2, 3].map(Some));
        assert!(both_ways.is_connected());
        let one_way = string([&[1], &[0, 2], &[3], &[2]]);
        assert_eq!(one_way.distances(n(3)), [None, None, Some(1), Some(0)]);
        assert!(!one_way.is_connected());
    }

    #[test]
    fn pairs_that_are_left_are_equally_likely_and_none_is_drawn_that_is_taken_in_either_order() {
        let all: Vec<Pair> =
            (0..4).flat_map(|a| (0..4).filter(move |b| *b != a).map(move |b| (n(a), n(b)))).collect();
        let taken = BTreeSet::from([(n(0), n(1)), (n(2), n(3))]);
        let mut found = [0u32; 16];
        for entity in 0..8_000 {
            let (a, b) = draw(&all, &taken, Streams::new(3).get(Purpose::Ends, entity)).expect("eight are left");
            found[a.index() * 4 + b.index()] += 1;
        }
        // Chi-square of eight classes of 1000: seven degrees of freedom exceed 24.32 once in a thousand.
        let left: Vec<u32> = found.into_iter().filter(|n| *n > 0).collect();
        let statistic: f64 = left.iter().map(|n| libm::pow(f64::from(*n) - 1000.0, 2.0) / 1000.0).sum();
        assert!(left.len() == 8 && statistic < 24.32, "{found:?}");
        let every = all.iter().map(|pair| unordered(*pair)).collect();
        assert_eq!(draw(&all, &every, Streams::new(3).get(Purpose::Ends, 0)), None);
        assert_eq!(draw(&[], &taken, Streams::new(3).get(Purpose::Ends, 0)), None);
    }
}
