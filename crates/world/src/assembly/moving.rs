//! Nodes that move: their models, the ranges at which pairs meet and part, and what follows for the media.

use super::handoff::{Handoffs, Instant};
use super::network::{self, Near};
use super::radio::{self, Tuned};
use super::{Result, places};
use crate::scenario::{InputError, Mobility, Propagation, Scenario};
use crate::shared::Shared;
use crate::traces::{OnDisk, is_trace_of, mobilities};
use crate::world::{Met, Roam};
use engine::{Purpose, Streams};
use motion::model::Given;
use motion::trace::Player;
use motion::{Change, Leg, Model, Motion, Point};
use net::{Costs, Hop, HopCount, Routes};
use phy::{Medium, Shadow};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;
use units::{ChannelId, Db, LinkId, NodeId, SimTime};

/// True if a node moves.
pub(super) fn moves(scenario: &Scenario) -> bool {
    mobilities(scenario).next().is_some()
}

/// The model of every node that moves. `places` are as the layout has them.
///
/// # Errors
/// A trace that cannot be opened any more.
fn models(shared: &Shared, streams: &Streams, places: &[Point]) -> Result<Vec<Option<Box<dyn Model>>>> {
    let scenario = &shared.scenario;
    let mut players: Vec<Rc<RefCell<Player>>> = Vec::new();
    for trace in &shared.traces {
        let file = File::open(&trace.file).map_err(|error| {
            let path = format!("node[{}].mobility.file", scenario.nodes[trace.nodes[0].index()].index);
            InputError::new(path, format!("{}: {error}", trace.file))
        })?;
        let player = Player::new(Arc::clone(&trace.index), Box::new(OnDisk(file)), &trace.names);
        players.push(Rc::new(RefCell::new(player)));
    }
    let mut models: Vec<Option<Box<dyn Model>>> = scenario.nodes.iter().map(|_| None).collect();
    for (node, mobility) in mobilities(scenario) {
        let trace = shared.traces.iter().zip(&players).find_map(|(trace, player)| {
            is_trace_of(mobility, &trace.file).then_some(())?;
            Some((Rc::clone(player), trace.nodes.binary_search(&node).ok()?))
        });
        models[node.index()] = Some(model(shared, streams, node, mobility, places, trace));
    }
    Ok(models)
}

fn model(
    shared: &Shared,
    streams: &Streams,
    node: NodeId,
    mobility: &Mobility,
    places: &[Point],
    trace: Option<(Rc<RefCell<Player>>, usize)>,
) -> Box<dyn Model> {
    let scenario = &shared.scenario;
    let is_placed = scenario.layout.is_some() || scenario.nodes[node.index()].entry.position.is_some();
    let draws = streams.get(Purpose::Mobility, u64::from(shared.layout) << 32 | u64::from(node.0));
    mobility.spec().make(Given { place: is_placed.then_some(places[node.index()]), draws, trace })
}

/// The position of every node as a run begins: see `places.rs`, and of nodes that move where their model begins.
pub(super) fn begin(shared: &Shared, streams: &Streams) -> Vec<Point> {
    let laid_out = places::places(&shared.scenario, streams, shared.layout);
    let mut found = laid_out.clone();
    for (node, mobility) in mobilities(&shared.scenario) {
        let trace = shared.traces.iter().find(|trace| is_trace_of(mobility, &trace.file));
        let stated = trace.and_then(|trace| trace.index.place(trace.nodes.binary_search(&node).ok()?));
        found[node.index()] =
            stated.unwrap_or_else(|| model(shared, streams, node, mobility, &laid_out, None).first().from);
    }
    found
}

/// Checks that nodes begin within their areas.
///
/// # Errors
/// A layout puts one outside.
pub(super) fn check(shared: &Shared, places: &[Point]) -> Result<()> {
    for (node, mobility) in mobilities(&shared.scenario) {
        let at = places[node.index()];
        if mobility.spec().area().is_some_and(|area| !area.holds(at)) {
            let path = format!("node[{}].mobility", shared.scenario.nodes[node.index()].index);
            let message = format!("[layout] puts it at [{}, {}], outside of this area", at[0], at[1]);
            return Err(InputError::new(path, message));
        }
    }
    Ok(())
}

/// The meaning of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Within it frames are decoded.
    Reach,
    /// Within it they are sensed.
    Sense,
    /// Within it both decode each other's data frames and responses, where signals have powers.
    Exchange,
}

/// The state of motion on a channel.
#[derive(Debug)]
struct OnChannel {
    /// Index of its range of each kind.
    ranges: [Option<usize>; 3],
    /// Metres that both ends of each ordered pair had gone when its gain was computed; none where a pair is in reach or not.
    gone: Vec<[f64; 2]>,
    /// Shadowing that changes along the way, of each unordered pair by its rank; none where it belongs to the pair.
    shadows: Vec<Shadow>,
}

/// The place of an unordered pair of two different nodes: those of a higher node stand behind those of all lower ones.
fn rank(one: NodeId, other: NodeId) -> usize {
    let (low, high) = (one.min(other).index(), one.max(other).index());
    high * (high - 1) / 2 + low
}

/// The motion of a run.
#[derive(Debug)]
pub(super) struct Moving {
    motion: Motion,
    kinds: Vec<(ChannelId, Kind)>,
    channels: Vec<OnChannel>,
    /// Directions between nodes that have met or parted, of which the medium has not been told: their transmitters transmit.
    pending: Vec<(ChannelId, NodeId, NodeId)>,
    /// Pairs that have met or parted, of which nodes have not been told.
    untold: Vec<(ChannelId, NodeId, NodeId)>,
    /// Metres that each node had gone when its leg began.
    metres: Vec<f64>,
    /// Radio neighbours on each channel, as nodes were told.
    near: Vec<Near>,
    routes: Routes,
    /// Hops from every node to each destination, as of `routes`; not of those that an event has changed since.
    costs: BTreeMap<NodeId, Vec<Option<u64>>>,
    /// Room of [`Moving::renew`].
    renewed: Vec<(NodeId, Db)>,
    pub handoffs: Handoffs,
}

impl Moving {
    /// The motion of a run that begins at these places.
    ///
    /// # Errors
    /// As of [`models`].
    pub fn new(
        shared: &Shared,
        streams: &Streams,
        begin: &[Point],
        media: &mut [Medium],
        near: Vec<Near>,
        routes: Routes,
    ) -> Result<Moving> {
        let scenario = &shared.scenario;
        let mut kinds = Vec::new();
        let mut channels = Vec::new();
        let all: Vec<Tuned<'_>> = Tuned::all(scenario, streams).collect();
        for on in &all {
            let mut ranges = [None; 3];
            let mut put = |kind: Kind| {
                ranges[kind as usize] = Some(kinds.len());
                kinds.push((on.id, kind));
            };
            let has_powers = on.channel.powers.is_some();
            if has_powers && near[on.id.index()].is_independent {
                put(Kind::Exchange);
            }
            if !has_powers && on.channel.range.is_some() {
                put(Kind::Reach);
            }
            if !has_powers && on.channel.sense_range.is_some() {
                put(Kind::Sense);
            }
            let nodes = scenario.nodes.len();
            let gone = vec![[0.0; 2]; if has_powers { nodes * nodes } else { 0 }];
            let shadows = on.channel.powers.as_ref().map_or_else(Vec::new, |powers| shadows(*on, powers, nodes));
            channels.push(OnChannel { ranges, gone, shadows });
        }
        for medium in media.iter_mut() {
            if let Medium::Sinr(levels) = medium {
                levels.set_moving();
            }
        }
        let exchanges: Vec<Option<network::Radii<'_>>> = all
            .iter()
            .zip(media.iter())
            .map(|(on, medium)| Some(network::Radii::new(shared, *on, on.channel.powers.as_ref()?, medium)))
            .collect();
        let radius = |range: usize, a: NodeId, b: NodeId| -> Option<f64> {
            let (channel, kind): (ChannelId, Kind) = kinds[range];
            let on = all[channel.index()];
            if !(on.has(a) && on.has(b)) {
                return None;
            }
            match kind {
                Kind::Reach => on.channel.range.map(|range| range.0),
                Kind::Sense => on.channel.sense_range.map(|range| range.0),
                Kind::Exchange => exchanges[channel.index()].as_ref().map(|radii| radii.of(a, b)),
            }
        };
        let laid_out = places::places(scenario, streams, shared.layout);
        let places: Vec<Point> = begin.to_vec();
        let motion = Motion::new(&places, models(shared, streams, &laid_out)?, kinds.len(), radius);
        let metres = vec![0.0; scenario.nodes.len()];
        drop(exchanges);
        let mut handoffs = Handoffs::new(scenario, streams, &motion, media, &near);
        let (now, cut) = (SimTime::ZERO, &BTreeSet::new());
        handoffs.look(Instant { now, scenario, streams, motion: &motion, cut }, None);
        Ok(Moving {
            motion,
            kinds,
            channels,
            pending: Vec::new(),
            untold: Vec::new(),
            metres,
            near,
            routes,
            costs: BTreeMap::new(),
            renewed: Vec::new(),
            handoffs,
        })
    }

    /// An event puts a node elsewhere.
    pub fn put(&mut self, node: NodeId, at: Point, now: SimTime) {
        self.motion.put(node, at, now);
    }

    pub fn next_wakeup(&mut self) -> SimTime {
        self.motion.next_wakeup().min(self.handoffs.next_wakeup())
    }

    /// A node has begun a leg, or all may be otherwise: another access point may become the stronger one.
    pub fn look(
        &mut self,
        now: SimTime,
        scenario: &Scenario,
        streams: &Streams,
        cut: &BTreeSet<(NodeId, NodeId)>,
        node: Option<NodeId>,
    ) {
        self.handoffs.look(Instant { now, scenario, streams, motion: &self.motion, cut }, node);
    }

    /// Stations that leave an access point or join one at `now`.
    pub fn roam(
        &mut self,
        now: SimTime,
        scenario: &Scenario,
        streams: &Streams,
        cut: &BTreeSet<(NodeId, NodeId)>,
        media: &[&Medium],
    ) -> Vec<Roam> {
        let at = Instant { now, scenario, streams, motion: &self.motion, cut };
        self.handoffs.advance(at, media, &mut self.near)
    }

    /// Makes what changes at `now`. `begins` is told of legs.
    pub fn advance(&mut self, now: SimTime, begins: &mut dyn FnMut(NodeId, &Leg)) {
        while let Some(change) = self.motion.advance(now) {
            match change {
                Change::Leg(node, ended) => {
                    self.metres[node.index()] += ended.speed() * (ended.ends - ended.begins).as_secs_f64();
                    begins(node, self.motion.leg(node));
                }
                Change::Pair { range, pair: [a, b], .. } => {
                    let (channel, kind) = self.kinds[range];
                    if kind != Kind::Exchange {
                        for direction in [(channel, a, b), (channel, b, a)] {
                            if !self.pending.contains(&direction) {
                                self.pending.push(direction);
                            }
                        }
                    }
                    if !self.untold.contains(&(channel, a, b)) {
                        self.untold.push((channel, a, b));
                    }
                }
            }
        }
    }

    /// The legs that nodes are on, of those that move.
    pub fn legs(&self) -> impl Iterator<Item = (NodeId, &Leg)> {
        self.motion.movers().iter().map(|node| (*node, self.motion.leg(*node)))
    }

    /// Notes the places of those that move.
    pub fn places(&self, now: SimTime, places: &mut [Point]) {
        for node in self.motion.movers() {
            places[node.index()] = self.motion.place(*node, now);
        }
    }

    pub fn is_stale(&self) -> bool {
        !self.pending.is_empty()
    }

    /// True of a node that hears `from`, and of one that senses it.
    fn wanted(&self, on: Tuned<'_>, from: NodeId, to: NodeId, places: &[Point]) -> (bool, bool) {
        if !(on.has(from) && on.has(to)) || from == to {
            return (false, false);
        }
        let mut directions =
            on.channel.pair.iter().flat_map(|pair| pair.ends.directions().map(move |it| (it, pair.reach)));
        let stated = directions.by_ref().filter(|(ends, reach)| *ends == (from, to) && reach.is_some()).last();
        if let Some((_, Some(reach))) = stated {
            return (reach, reach);
        }
        let ranges = &self.channels[on.id.index()].ranges;
        let is_moving = |node: &NodeId| self.motion.movers().binary_search(node).is_ok();
        let moves = [from, to].iter().any(is_moving);
        let within = |kind: Kind, radius: Option<f64>| match (ranges[kind as usize], radius) {
            (Some(range), _) if moves => self.motion.is_near(range, from, to),
            (_, Some(radius)) => radio::distance_m(places, from, to) <= radius,
            (_, None) => true,
        };
        let hears = within(Kind::Reach, on.channel.range.map(|it| it.0));
        let senses = on.channel.sense_range.is_some() && within(Kind::Sense, on.channel.sense_range.map(|it| it.0));
        (hears, hears || senses)
    }

    /// Tells a medium without powers who hears `from`.
    pub fn heard(
        &self,
        on: Tuned<'_>,
        places: &[Point],
        is_cut: impl Fn(NodeId, NodeId) -> bool,
        from: NodeId,
        medium: &mut Medium,
    ) {
        for to in (0..on.scenario.nodes.len() as u32).map(NodeId) {
            let (hears, senses) = self.wanted(on, from, to, places);
            let stands = !is_cut(from, to);
            medium.set_pair(from, to, hears && stands, senses && stands);
        }
    }

    /// Tells the media of the directions whose transmitters are silent.
    pub fn settle(
        &mut self,
        scenario: &Scenario,
        streams: &Streams,
        places: &[Point],
        cut: &BTreeSet<(NodeId, NodeId)>,
        media: &mut [&mut Medium],
    ) {
        if self.pending.is_empty() {
            return;
        }
        let all: Vec<Tuned<'_>> = Tuned::all(scenario, streams).collect();
        let mut pending = std::mem::take(&mut self.pending);
        pending.retain(|(channel, from, to)| {
            let medium = &mut *media[channel.index()];
            let is_sending = medium.is_transmitting(*from);
            if !is_sending {
                let (hears, senses) = self.wanted(all[channel.index()], *from, *to, places);
                let stands = !cut.contains(&((*from).min(*to), (*from).max(*to)));
                medium.set_pair(*from, *to, hears && stands, senses && stands);
            }
            is_sending
        });
        self.pending = pending;
    }

    /// Neighbours that nodes have won or lost, of which they have not been told, as far as the media know.
    pub fn met(&mut self, media: &[&Medium], cut: &BTreeSet<(NodeId, NodeId)>) -> Vec<Met> {
        let mut met = Vec::new();
        let Moving { untold, pending, near, motion, channels, handoffs, .. } = self;
        untold.retain(|&(channel, a, b)| {
            if pending.contains(&(channel, a, b)) || pending.contains(&(channel, b, a)) {
                return true;
            }
            let near = &mut near[channel.index()];
            if !near.is_independent {
                handoffs.met(channel, [a, b]);
                return false;
            }
            let is_up = match channels[channel.index()].ranges[Kind::Exchange as usize] {
                Some(range) => motion.is_near(range, a, b) && !cut.contains(&(a, b)),
                None => {
                    let medium = media[channel.index()];
                    medium.hears(a, b) && medium.hears(b, a)
                }
            };
            let mut is_new = false;
            for (node, other) in [(a, b), (b, a)] {
                let list = &mut near.neighbours[node.index()];
                match (list.binary_search(&other), is_up) {
                    (Err(place), true) => list.insert(place, other),
                    (Ok(place), false) => _ = list.remove(place),
                    _ => continue,
                }
                is_new = true;
            }
            if is_new {
                met.push(Met { channel, pair: [a, b], is_up });
            }
            false
        });
        met
    }

    /// Neighbours as all are told anew.
    pub fn set_near(&mut self, near: Vec<Near>, routes: Routes) {
        (self.near, self.routes) = (near, routes);
        self.costs.clear();
        self.untold.retain(|(channel, a, b)| {
            self.pending.contains(&(*channel, *a, *b)) || self.pending.contains(&(*channel, *b, *a))
        });
    }

    /// Routes over those who are near now, after these have met. Returns them, and the nodes whose hops are others than before.
    pub fn reroute(&mut self, shared: &Shared, cut: &[LinkId], met: &[Met]) -> (&Routes, Vec<NodeId>) {
        let scenario = &shared.scenario;
        let Moving { routes, costs, near, .. } = self;
        let hops = network::hops_of(scenario, cut, near);
        let (mut others, mut anew, mut choosing) = (BTreeSet::new(), Vec::new(), Vec::new());
        for to in network::ends(shared) {
            match costs.get(&to).and_then(|costs| who_chooses(costs, &hops, met)) {
                Some(nodes) => choosing.push((to, nodes)),
                None => anew.push(to),
            }
        }
        for (to, nodes) in choosing {
            for node in nodes {
                let before = routes.next(node, to);
                routes.choose(node, &hops[node.index()], to, &costs[&to], &HopCount);
                if routes.next(node, to) != before {
                    others.insert(node);
                }
            }
        }
        if !anew.is_empty() {
            let hop_to = |routes: &Routes, to: NodeId| -> Vec<Option<Hop>> {
                (0..scenario.nodes.len() as u32).map(|from| routes.next(NodeId(from), to)).collect()
            };
            let before: Vec<_> = anew.iter().map(|to| hop_to(routes, *to)).collect();
            network::renew(scenario, near, (&hops, &HopCount), routes, &anew, |to, found| {
                _ = costs.insert(to, found)
            });
            for (to, before) in anew.iter().zip(before) {
                let changed = (0..).map(NodeId).zip(before.iter().zip(hop_to(routes, *to)));
                others.extend(changed.filter(|(_, (was, is))| **was != *is).map(|(node, _)| node));
            }
        }
        if cfg!(debug_assertions) {
            let (mut all, ends) = (routes.clone(), network::ends(shared));
            network::renew(scenario, near, (&hops, &HopCount), &mut all, &ends, |to, found| {
                assert_eq!(costs[&to], found, "to {to}")
            });
            let mut nodes = (0..scenario.nodes.len() as u32).map(NodeId);
            assert!(nodes.all(|node| all.row(node) == routes.row(node)), "routes are those that are found anew");
        }
        (routes, others.into_iter().collect())
    }

    /// The same by other costs than hops: every destination is searched anew.
    pub fn reroute_by<C: Costs>(&mut self, shared: &Shared, cut: &[LinkId], costs: &C) -> (&Routes, Vec<NodeId>) {
        let Moving { routes, near, .. } = self;
        let (hops, ends, before) =
            (network::hops_of(&shared.scenario, cut, near), network::ends(shared), routes.clone());
        network::renew(&shared.scenario, near, (&hops, costs), routes, &ends, |_, _| {});
        let nodes = (0..shared.scenario.nodes.len() as u32).map(NodeId);
        let others = nodes.filter(|node| before.row(*node) != routes.row(*node)).collect();
        (routes, others)
    }

    /// An event has made the gains from `from` anew, as if nobody had moved: they are to be renewed when it transmits.
    pub fn forget_gains(&mut self, channel: ChannelId, from: NodeId) {
        let OnChannel { gone, shadows, .. } = &mut self.channels[channel.index()];
        if !shadows.is_empty() {
            let nodes = self.metres.len();
            gone[from.index() * nodes..][..nodes].fill([f64::NEG_INFINITY; 2]);
        }
    }

    /// Renews the gains from `from`, which is about to transmit, to those that have moved, or that it has moved away from.
    pub fn renew(
        &mut self,
        now: SimTime,
        on: Tuned<'_>,
        from: NodeId,
        places: &mut [Point],
        cut: &BTreeSet<(NodeId, NodeId)>,
        medium: &mut Medium,
    ) {
        let (Medium::Sinr(levels), Some(powers), Some(thresholds)) =
            (medium, &on.channel.powers, &on.scenario.radio.levels)
        else {
            return;
        };
        let (step, nodes) = (thresholds.step().0, on.scenario.nodes.len());
        let Moving { motion, metres, channels, renewed, .. } = self;
        let gone_by = |node: NodeId| {
            let leg = motion.leg(node);
            metres[node.index()] + leg.speed() * now.since(leg.begins).as_secs_f64()
        };
        let own = gone_by(from);
        places[from.index()] = motion.place(from, now);
        let OnChannel { gone, shadows, .. } = &mut channels[on.id.index()];
        let rows = &mut gone[from.index() * nodes..][..nodes];
        renewed.extend((0..nodes as u32).map(NodeId).zip(rows).filter_map(|(to, seen)| {
            let their = gone_by(to);
            if own - seen[0] <= step && their - seen[1] <= step || cut.contains(&(from.min(to), from.max(to))) {
                return None;
            }
            *seen = [own, their];
            places[to.index()] = motion.place(to, now);
            let Some(decorrelation) = powers.shadowing_decorrelation.filter(|_| from != to) else {
                return Some((to, radio::mean_gain(on, powers, places, from, to)));
            };
            let shadow = &mut shadows[rank(from, to)];
            let shadowing = || shadow.after(own + their, decorrelation.0, powers.shadowing);
            Some((to, radio::gain_with(on, powers, from, to, radio::distance_m(places, from, to), shadowing)))
        }));
        levels.renew(from, renewed.drain(..));
    }
}

/// The shadowing of all pairs that changes along the way, if it does.
fn shadows(on: Tuned<'_>, powers: &Propagation, nodes: usize) -> Vec<Shadow> {
    if powers.shadowing_decorrelation.is_none() {
        return Vec::new();
    }
    let ids = || (0..nodes as u32).map(NodeId);
    let pairs = ids().flat_map(|high| ids().take_while(move |low| *low < high).map(move |low| (low, high)));
    pairs.map(|(low, high)| Shadow::of_pair(&on.streams, low, high, powers.shadowing)).collect()
}

/// The nodes that choose their hop to a destination anew after these have met, where the `costs` to reach it, in hops, stand. `None`: they
/// may not stand.
///
/// Between two nodes as far from a destination no route leads to it, whether they are neighbours or not. Of two that are one hop apart the
/// farther one has another way to choose, or one less; it is as far as before if a neighbour is left that is nearer.
fn who_chooses(costs: &[Option<u64>], hops: &[Vec<Hop>], met: &[Met]) -> Option<Vec<NodeId>> {
    let mut nodes = Vec::new();
    for Met { pair: [a, b], is_up, .. } in met.iter().copied() {
        let (one, other) = (costs[a.index()], costs[b.index()]);
        if one == other {
            continue;
        }
        let (one, other) = (one?, other?);
        if one.abs_diff(other) != 1 {
            return None;
        }
        let (far, nearer) = if one > other { (a, other) } else { (b, one) };
        let is_nearer = |hop: &Hop| costs[hop.node().index()] == Some(nearer);
        if !is_up && !hops[far.index()].iter().any(is_nearer) {
            return None;
        }
        nodes.push(far);
    }
    Some(nodes)
}

#[cfg(test)]
mod tests {
    use crate::Record;
    use crate::runner::recorded_world;
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use units::NodeId;

    const NODES: u32 = 12;

    /// Saturated stations that run among each other at 50 m/s.
    fn text(channel: &str) -> String {
        let mut text = format!(
            "scenario = {{ duration = '4 s' }}\nradio = {{ standard = '802.11b', data_rate = '2 Mb/s' }}\n{channel}\n[[node]]\nname = 'n'\ncount = {NODES}\n\
             mobility = {{ model = 'waypoint', width = '100 m', height = '100 m', min_speed = '20 m/s', max_speed = '80 m/s' }}\n"
        );
        for i in 1..NODES {
            let next = i + 1;
            text += &format!(
                "[[flow]]\nfrom = 'n{i}'\nto = 'n{next}'\ntransport = {{ protocol = 'udp' }}\ntraffic = {{ model = 'poisson', rate = '1 Mb/s' }}\n"
            );
        }
        text
    }

    #[test]
    fn no_frame_ends_with_other_listeners_than_it_began_with() {
        let powers = "channel = { propagation = { model = 'log-distance', exponent = 4 }, shadowing = '6 dB' }";
        for (channel, waits) in [("channel = { range = '30 m', sense_range = '45 m' }", true), (powers, false)] {
            let blueprint = crate::parse(&text(channel), &[]).unwrap_or_else(|error| panic!("{error}"));
            let mut world = recorded_world(blueprint.shared(), 1, &Record::default()).expect("a world");
            let (stop, reached) = (AtomicBool::new(false), AtomicU64::new(0));
            let mut began: Vec<Option<Vec<NodeId>>> = vec![None; NODES as usize];
            let mut last: Vec<Vec<NodeId>> = vec![Vec::new(); NODES as usize];
            let (mut frames, mut changes, mut waiting) = (0, 0, 0);
            while !world.is_over() {
                let next = world.next_at();
                world.advance(next, &stop, &reached).expect("nobody stops it");
                let medium = &world.airs[0].channel.medium;
                for (i, (began, last)) in (0..).zip(began.iter_mut().zip(&mut last)) {
                    let listeners = medium.listeners(NodeId(i));
                    match (&began, medium.is_transmitting(NodeId(i))) {
                        (Some(at_begin), true) => assert_eq!(*at_begin, listeners, "n{} at {next}", i + 1),
                        (None, true) => {
                            (*began, frames) = (Some(listeners.clone()), frames + 1);
                        }
                        (_, false) => *began = None,
                    }
                    changes += u32::from(*last != listeners);
                    *last = listeners;
                }
                waiting += u32::from(world.topology.as_ref().is_some_and(|topology| topology.is_stale()));
            }
            assert!(frames > 1000 && changes > 100, "{frames} frames, {changes} changes");
            assert_eq!(waiting > 10, waits, "changes that had to wait for a frame's end: {waiting}");
        }
    }
}
