//! Wires, cells and routes out of a scenario.

use super::Result;
use super::handoff::Belongs;
use super::radio::{Tuned, distance_m, gain_at};
use super::transport::chosen;
use super::weights::Weights;
use crate::registries::Registries;
use crate::scenario::{self as sc, InputError, Scenario};
use crate::shared::Shared;
use crate::world::Ways;
use engine::{Purpose, Stream, Streams};
use mac::{Fixed, RateControl};
use net::{Addresses, Costs, Hop, HopCount, RouterFacts, Routes, Wire, WireConfig};
use phy::Medium;
use phy::errors::{ErrorModel, Hit};
use plugin::Chosen;
use std::cell::RefCell;
use std::collections::BTreeMap;
use units::{BitRate, ChannelId, Db, Dur, InterfaceId, LinkId, NodeId};

/// The ways between nodes.
#[derive(Debug)]
pub(super) struct Network {
    pub routes: Routes,
    /// The radio neighbours on each channel.
    pub near: Vec<Near>,
}

impl Network {
    /// The access point a station belongs to; the first where it is on several channels.
    pub fn access_point(&self, node: NodeId) -> Option<NodeId> {
        self.near.iter().find_map(|near| near.access_point[node.index()])
    }

    /// The ways that a run keeps up to date.
    pub fn into_ways(self, scenario: &Scenario) -> Ways {
        let Network { routes, mut near, .. } = self;
        let saturators = saturators(scenario, &routes);
        let neighbours = scenario.interfaces().map(|(node, on)| {
            let list = &mut near[on.index()].neighbours[node.index()];
            std::mem::take(list)
        });
        Ways { neighbours: neighbours.collect(), routes, saturators }
    }
}

/// Saturating flows of each interface: the one by which their way begins.
pub(super) fn saturators(scenario: &Scenario, routes: &Routes) -> Vec<Vec<u32>> {
    let ids = interface_ids(scenario);
    let mut saturators = vec![Vec::new(); scenario.interfaces().count()];
    for (i, flow) in (0u32..).zip(&scenario.flows).filter(|(_, flow)| flow.traffic() == sc::Traffic::Saturated) {
        let own = || scenario.nodes[flow.from.index()].channels.first().map(|on| ids[on.index()][flow.from.index()]);
        let interface = match routes.next(flow.from, flow.to) {
            Some(Hop::Air(interface, _)) => Some(interface),
            Some(Hop::Wire(..)) => None,
            // What it sends has no way, and ends at its node.
            None => own(),
        };
        if let Some(interface) = interface {
            saturators[interface.index()].push(i);
        }
    }
    saturators
}

/// The interface of each node on each channel; [`InterfaceId::NONE`] where it has none.
fn interface_ids(scenario: &Scenario) -> Vec<Vec<InterfaceId>> {
    let mut ids = vec![vec![InterfaceId::NONE; scenario.nodes.len()]; scenario.channels.iter().count()];
    for (id, (node, on)) in (0..).map(InterfaceId).zip(scenario.interfaces()) {
        ids[on.index()][node.index()] = id;
    }
    ids
}

fn nodes(scenario: &Scenario) -> impl Iterator<Item = NodeId> + use<> {
    (0..scenario.nodes.len() as u32).map(NodeId)
}

/// Radio neighbours on one channel.
#[derive(Debug, Clone)]
pub(super) struct Near {
    /// Of each node, in order of id.
    pub neighbours: Vec<Vec<NodeId>>,
    /// The access point a station belongs to.
    pub access_point: Vec<Option<NodeId>>,
    /// True if there is no access point.
    pub is_independent: bool,
}

impl Near {
    /// A station goes over to this access point.
    pub fn belong(&mut self, station: NodeId, to: NodeId) {
        if let Some(from) = self.access_point[station.index()].replace(to) {
            self.neighbours[from.index()].retain(|other| *other != station);
        }
        self.neighbours[station.index()] = vec![to];
        let stations = &mut self.neighbours[to.index()];
        if let Err(place) = stations.binary_search(&station) {
            stations.insert(place, station);
        }
    }
}

/// Radio neighbours on each channel, whatever the flows. Those stations that `belong` to an access point stay with it.
pub(super) fn near(
    shared: &Shared,
    places: &[[f64; 2]],
    media: &[&Medium],
    streams: &Streams,
    belongs: &Belongs,
) -> Vec<Near> {
    let all = Tuned::all(&shared.scenario, streams).zip(media);
    all.map(|(on, medium)| near_on(shared, on, places, medium, belongs)).collect()
}

fn near_on(shared: &Shared, on: Tuned<'_>, places: &[[f64; 2]], medium: &Medium, belongs: &Belongs) -> Near {
    let scenario = on.scenario;
    let hear_each_other = |a: NodeId, b: NodeId| medium.hears(a, b) && medium.hears(b, a);
    let is_mobile = super::moving::moves(scenario);
    let is_access_point = |node: NodeId| scenario.nodes[node.index()].entry.role == sc::Role::Ap && on.has(node);
    let access_points: Vec<NodeId> = nodes(scenario).filter(|node| is_access_point(*node)).collect();
    let access_point: Vec<Option<NodeId>> = nodes(scenario)
        .map(|node| {
            let others = || access_points.iter().copied().filter(|ap| *ap != node);
            if let Some(own) = belongs.get(&(on.id, node)) {
                return *own;
            }
            let to = |ap: &NodeId| distance_m(places, node, *ap);
            // A station of a network that moves begins with the strongest, which shadowing may have made another than the nearest.
            let to = |ap: &NodeId| match (medium, is_mobile) {
                (Medium::Sinr(levels), true) => -Db::from_ratio(levels.transmit_mw(*ap)).0 - levels.gain(*ap, node).0,
                _ => to(ap),
            };
            let in_reach = others().filter(|ap| hear_each_other(node, *ap)).min_by(|a, b| to(a).total_cmp(&to(b)));
            // A station that shadowing has cut off, which is drawn, still belongs to the nearest: its frames are lost.
            let is_shadowed = on.channel.powers.as_ref().is_some_and(|powers| powers.shadowing.0 > 0.0);
            let nearest =
                in_reach.or_else(|| others().filter(|_| is_shadowed).min_by(|a, b| to(a).total_cmp(&to(b))));
            nearest.filter(|_| on.has(node) && !is_access_point(node))
        })
        .collect();
    let is_independent = access_points.is_empty();
    let exchange = Exchange::new(shared, medium);
    let neighbours: Vec<Vec<NodeId>> = nodes(scenario)
        .map(|node| match access_point[node.index()] {
            Some(ap) => vec![ap],
            None if is_access_point(node) => {
                nodes(scenario).filter(|station| access_point[station.index()] == Some(node)).collect()
            }
            None if is_independent => {
                medium.listeners(node).into_iter().filter(|other| exchange.is_possible(node, *other)).collect()
            }
            None => Vec::new(),
        })
        .collect();
    Near { neighbours, access_point, is_independent }
}

/// Neighbours and routes of a network.
///
/// # Errors
/// A flow that has no way, or whose traffic cannot take it.
pub(super) fn network(shared: &Shared, places: &[[f64; 2]], media: &[&Medium], streams: &Streams) -> Result<Network> {
    let (none, weights) = (Belongs::new(), Weights::new(shared));
    let network = standing(shared, places, media, streams, &Standing { cut: &[], belongs: &none, weights: &weights });
    if shared.is_on_demand {
        check_on_demand(shared)?;
    } else {
        check(&shared.scenario, &network.routes)?;
    }
    Ok(network)
}

/// The state of a run that its ways depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'a> {
    /// Wires that are broken.
    pub cut: &'a [LinkId],
    /// Stations that belong to an access point.
    pub belongs: &'a Belongs,
    /// The weights of hops.
    pub weights: &'a Weights,
}

/// The same in the midst of a run; flows may have no way.
pub(super) fn standing(
    shared: &Shared,
    places: &[[f64; 2]],
    media: &[&Medium],
    streams: &Streams,
    state: &Standing<'_>,
) -> Network {
    let (scenario, Standing { cut, belongs, weights }) = (&shared.scenario, *state);
    let mut near = near(shared, places, media, streams, belongs);
    if shared.is_on_demand {
        let routes = Routes::least_cost(&vec![Vec::new(); scenario.nodes.len()], [], &HopCount);
        return Network { routes, near };
    }
    let ids = interface_ids(scenario);
    let lists: Vec<&[Vec<NodeId>]> = near.iter().map(|near| &near.neighbours[..]).collect();
    let mut routes = match weights.costs(shared, media) {
        None => least_hops(scenario, cut, &ids, &lists, ends(shared)),
        Some(costs) => Routes::least_cost(&hops(scenario, cut, &ids, &lists), ends(shared), &costs),
    };
    let is_by_preamble: Vec<bool> =
        near.iter().zip(media).map(|(near, it)| near.is_independent && matches!(it, Medium::Sinr(_))).collect();
    if is_by_preamble.contains(&true) {
        let lost = without_way(scenario, &routes);
        if !lost.is_empty() {
            let heard = |(i, near): (usize, &Near)| {
                if is_by_preamble[i] {
                    nodes(scenario).map(|node| who_is_heard(media[i], node)).collect()
                } else {
                    near.neighbours.clone()
                }
            };
            let heard: Vec<Vec<Vec<NodeId>>> = near.iter().enumerate().map(heard).collect();
            let lists: Vec<&[Vec<NodeId>]> = heard.iter().map(|list| &list[..]).collect();
            let others = least_hops(scenario, cut, &ids, &lists, lost.clone());
            over_whoever_is_heard(scenario, &mut routes, &mut near, &lost, &others);
        }
    }
    in_vain(scenario, &ids, &near, &mut routes);
    Network { routes, near }
}

/// Those whose preambles `node` hears, as they hear its.
fn who_is_heard(medium: &Medium, node: NodeId) -> Vec<NodeId> {
    let hear_each_other = |other: &NodeId| medium.hears(node, *other) && medium.hears(*other, node);
    medium.listeners(node).into_iter().filter(hear_each_other).collect()
}

/// Flows between radios that are out of reach send in vain, as stations whose peer has walked away do.
fn in_vain(scenario: &Scenario, ids: &[Vec<InterfaceId>], near: &[Near], routes: &mut Routes) {
    let ways = scenario.flows.iter().flat_map(|flow| [(flow.from, flow.to), (flow.to, flow.from)]);
    for (from, to) in ways {
        if routes.next(from, to).is_some() {
            continue;
        }
        let both = |ids: &&Vec<InterfaceId>| [from, to].iter().all(|node| ids[node.index()] != InterfaceId::NONE);
        let independent = ids.iter().zip(near).filter(|(_, near)| near.is_independent).map(|(ids, _)| ids);
        if let Some(ids) = { independent }.find(both) {
            routes.set(from, to, Hop::Air(ids[from.index()], to));
        }
    }
}

/// The exchange of data frames between stations of an independent BSS, at the rates that the scenario sets.
pub(super) struct Exchange<'a> {
    shared: &'a Shared,
    medium: &'a Medium,
    rates: Vec<Fixed>,
}

impl<'a> Exchange<'a> {
    pub fn new(shared: &'a Shared, medium: &'a Medium) -> Exchange<'a> {
        Exchange { shared, medium, rates: shared.macs.iter().map(Fixed::of).collect() }
    }

    /// True if `to` decodes data frames of `from` at the rate set for it, and `from` the responses. A rate control may go down to
    /// the receiver's lowest rate.
    fn is_possible(&self, from: NodeId, to: NodeId) -> bool {
        from != to
            && self.medium.hears(to, from)
            && self.medium.hears(from, to)
            && self.decode(from, to, |to, from, mode| self.medium.decodes(to, from, mode))
    }

    /// The same where the gain both ways is this one.
    fn is_possible_at(&self, from: NodeId, to: NodeId, [there, back]: [Db; 2]) -> bool {
        let Medium::Sinr(levels) = self.medium else { return self.is_possible(from, to) };
        let gain = |sender: NodeId| if sender == from { there } else { back };
        levels.hears_at(to, from, there)
            && levels.hears_at(from, to, back)
            && self.decode(from, to, |to, from, mode| levels.decodes_at(to, from, mode, gain(from)))
    }

    /// The mode that is set for data frames; `None` where a rate control adapts it.
    fn set(&self, from: NodeId, to: NodeId) -> Option<phy::Mode> {
        let adapts =
            self.shared.scenario.nodes[from.index()].rate_control.as_ref().is_some_and(|plug| plug.id() != "fixed");
        (!adapts).then(|| self.rates[from.index()].expected(to))
    }

    /// The mode of data frames that are to arrive: the one that is set or, where a rate control adapts it, the highest at which both ends
    /// decode each other.
    pub fn best(&self, from: NodeId, to: NodeId) -> phy::Mode {
        let (own, others) = (&self.shared.macs[from.index()].modes, &self.shared.macs[to.index()]);
        let decodes = |mode: &&phy::Mode| {
            let response = others.control_modes.response_to(**mode);
            others.modes.contains(mode)
                && self.medium.decodes(to, from, **mode)
                && self.medium.decodes(from, to, response)
        };
        let set = self.set(from, to);
        set.unwrap_or_else(|| own.iter().rev().find(decodes).copied().unwrap_or(own[0]))
    }

    /// True if `to` decodes the data frame, and `from` the response.
    fn decode(&self, from: NodeId, to: NodeId, decodes: impl Fn(NodeId, NodeId, phy::Mode) -> bool) -> bool {
        let mode = match self.set(from, to) {
            Some(set) => set,
            None => self.shared.scenario.nodes[to.index()].standard.modes()[0],
        };
        let response = self.shared.macs[to.index()].control_modes.response_to(mode);
        decodes(to, from, mode) && decodes(from, to, response)
    }
}

/// The distances within which stations of an independent BSS exchange data frames, where signals have powers.
pub(super) struct Radii<'a> {
    on: Tuned<'a>,
    powers: &'a sc::Propagation,
    exchange: Exchange<'a>,
    /// The least gain at which nodes of two entries of the file exchange frames, both ways; and the distance of a gain.
    least: RefCell<BTreeMap<(usize, usize), Db>>,
    distances: RefCell<BTreeMap<u64, f64>>,
}

/// Steps of a bisection: of 10⁷ m a hundredth of a micrometre is left.
const HALVES: u32 = 50;

/// The greatest number at which something holds that holds up to some number; `low` if it holds nowhere, infinite if everywhere.
fn greatest(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if holds(high) {
        return f64::INFINITY;
    }
    let halve = |(low, high): (f64, f64), _| {
        let middle = (low + high) / 2.0;
        if holds(middle) { (middle, high) } else { (low, middle) }
    };
    (0..HALVES).fold((low, high), halve).0
}

impl<'a> Radii<'a> {
    pub fn new(shared: &'a Shared, on: Tuned<'a>, powers: &'a sc::Propagation, medium: &'a Medium) -> Radii<'a> {
        let exchange = Exchange::new(shared, medium);
        Radii { on, powers, exchange, least: RefCell::default(), distances: RefCell::default() }
    }

    fn is_possible(&self, a: NodeId, b: NodeId, [there, back]: [Db; 2]) -> bool {
        self.exchange.is_possible_at(a, b, [there, back]) && self.exchange.is_possible_at(b, a, [back, there])
    }

    /// Metres within which two nodes exchange frames both ways; 0 if nowhere.
    pub fn of(&self, a: NodeId, b: NodeId) -> f64 {
        let entry = |node: NodeId| &self.on.scenario.nodes[node.index()];
        let is_stated = |pair: &sc::Pair| pair.ends.directions().any(|d| d == (a, b) || d == (b, a));
        let have_own_rates = [a, b].iter().any(|node| !entry(*node).entry.data_rates().is_empty());
        if have_own_rates || self.on.channel.pair.iter().any(is_stated) {
            let at = |metres: f64| [(a, b), (b, a)].map(|(from, to)| gain_at(self.on, self.powers, from, to, metres));
            return greatest(0.0, 1e7, |metres| self.is_possible(a, b, at(metres)));
        }
        let key = (entry(a).index, entry(b).index);
        let known = self.least.borrow().get(&key).copied();
        // Loss in dB: what is possible with a loss is possible with less of it.
        let least = known.unwrap_or_else(|| {
            let most = greatest(0.0, 1e3, |loss| self.is_possible(a, b, [Db(-loss); 2]));
            self.least.borrow_mut().insert(key, Db(-most));
            Db(-most)
        });
        let solve = || greatest(0.0, 1e7, |metres| gain_at(self.on, self.powers, a, b, metres).0 >= least.0);
        if self.powers.shadowing.0 > 0.0 {
            return solve();
        }
        let known = self.distances.borrow().get(&least.0.to_bits()).copied();
        known.unwrap_or_else(|| {
            let found = solve();
            self.distances.borrow_mut().insert(least.0.to_bits(), found);
            found
        })
    }
}

/// Finds the routes to these destinations over these `hops` anew: those of [`standing`], without its last resort. `found` is told as by
/// [`Routes::renew`].
pub(super) fn renew<C: Costs>(
    scenario: &Scenario,
    near: &[Near],
    (hops, costs): (&[Vec<Hop>], &C),
    routes: &mut Routes,
    to: &[NodeId],
    found: impl FnMut(NodeId, Vec<Option<C::Cost>>),
) {
    routes.renew(hops, to.iter().copied(), costs, found);
    in_vain(scenario, &interface_ids(scenario), near, routes);
}

/// The nodes that routes lead to.
pub(super) fn ends(shared: &Shared) -> Vec<NodeId> {
    let scenario = &shared.scenario;
    let mut ends: Vec<NodeId> = if shared.leads_everywhere {
        nodes(scenario).collect()
    } else {
        scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect()
    };
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Destinations of flows that have no way there.
fn without_way(scenario: &Scenario, routes: &Routes) -> Vec<NodeId> {
    let ways = scenario.flows.iter().flat_map(|flow| [(flow.from, flow.to), (flow.to, flow.from)]);
    let mut lost: Vec<NodeId> =
        ways.filter(|(from, to)| routes.next(*from, *to).is_none()).map(|(_, to)| to).collect();
    lost.sort_unstable();
    lost.dedup();
    lost
}

/// Looks for a way over stations that hear each other's preambles, for those who have none at the rates set: many frames are lost
/// on it. Such neighbours are the `others`, and those who need them the `lost`.
fn over_whoever_is_heard(
    scenario: &Scenario,
    routes: &mut Routes,
    near: &mut [Near],
    lost: &[NodeId],
    others: &Routes,
) {
    let on: Vec<ChannelId> = scenario.interfaces().map(|(_, on)| on).collect();
    for (from, to) in lost.iter().flat_map(|to| nodes(scenario).map(move |from| (from, *to))) {
        let (None, Some(hop)) = (routes.next(from, to), others.next(from, to)) else { continue };
        routes.set(from, to, hop);
        let Hop::Air(interface, node) = hop else { continue };
        let list = &mut near[on[interface.index()].index()].neighbours[from.index()];
        if let Err(place) = list.binary_search(&node) {
            list.insert(place, node);
        }
    }
}

/// Routes of least hops over wires and these neighbours on each channel.
fn least_hops(
    scenario: &Scenario,
    cut: &[LinkId],
    ids: &[Vec<InterfaceId>],
    neighbours: &[&[Vec<NodeId>]],
    ends: Vec<NodeId>,
) -> Routes {
    let all = scenario.nodes.len();
    // Everybody is everybody's neighbour: there is nothing to search, and among a thousand nodes it would take seconds.
    if let ([list], [ids], true) = (neighbours, ids, scenario.links.is_empty())
        && list.iter().all(|list| list.len() + 1 == all)
    {
        let mut routes = Routes::least_cost(&vec![Vec::new(); all], [], &HopCount);
        for to in ends {
            let others = nodes(scenario).filter(|from| *from != to);
            others.for_each(|from| routes.set(from, to, Hop::Air(ids[from.index()], to)));
        }
        return routes;
    }
    Routes::least_cost(&hops(scenario, cut, ids, neighbours), ends, &HopCount)
}

/// The hops that lead on from each node while these wires are `cut`.
pub(super) fn hops_of(scenario: &Scenario, cut: &[LinkId], near: &[Near]) -> Vec<Vec<Hop>> {
    let lists: Vec<&[Vec<NodeId>]> = near.iter().map(|near| &near.neighbours[..]).collect();
    hops(scenario, cut, &interface_ids(scenario), &lists)
}

/// The hops that lead on from each node: wires that are not `cut`, then radio neighbours by channel.
fn hops(
    scenario: &Scenario,
    cut: &[LinkId],
    ids: &[Vec<InterfaceId>],
    neighbours: &[&[Vec<NodeId>]],
) -> Vec<Vec<Hop>> {
    let mut hops: Vec<Vec<Hop>> = vec![Vec::new(); scenario.nodes.len()];
    for (i, (from, to)) in directions(scenario).filter(|(i, _)| !cut.contains(&LinkId(*i))) {
        hops[from.index()].push(Hop::Wire(LinkId(i), to));
    }
    for (ids, lists) in ids.iter().zip(neighbours) {
        for ((list, air), id) in hops.iter_mut().zip(*lists).zip(ids) {
            list.extend(air.iter().map(|node| Hop::Air(*id, *node)));
        }
    }
    hops
}

/// Each flow has a way there and back, if a hopeless one.
fn check(scenario: &Scenario, routes: &Routes) -> Result<()> {
    for flow in &scenario.flows {
        for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
            if routes.next(from, to).is_none() {
                let [a, b] = [from, to].map(|node| &scenario.nodes[node.index()].name);
                let message = format!("no way leads from \"{a}\" to \"{b}\"");
                return Err(InputError::new(format!("flow[{}]", flow.index), message));
            }
        }
        if flow.traffic() == sc::Traffic::Saturated && matches!(routes.next(flow.from, flow.to), Some(Hop::Wire(..)))
        {
            let from = &scenario.nodes[flow.from.index()].name;
            let message = format!(
                "\"saturated\" keeps the queue of a radio full, and the way from \"{from}\" begins with a wire"
            );
            return Err(InputError::new(format!("flow[{}].traffic.model", flow.index), message));
        }
    }
    Ok(())
}

/// The addresses of the nodes, and of what lies behind them.
pub(super) fn addresses(scenario: &Scenario) -> Addresses {
    let of_node = |(id, node): (NodeId, &'_ sc::Node)| {
        let prefixes = node.entry.prefixes().to_vec();
        prefixes.into_iter().map(move |prefix| (prefix, id))
    };
    Addresses::new(scenario.nodes.len(), nodes(scenario).zip(&scenario.nodes).flat_map(of_node))
}

/// The router that all nodes run.
pub(super) fn router(scenario: &Scenario, registries: &Registries) -> Chosen<net::router::Make> {
    match &scenario.routing {
        Some(plug) => chosen(&registries.routers, plug),
        None => net::router::find(net::router::DEFAULT).expect("the default is registered"),
    }
}

/// True if the scenario's router finds routes in the run.
pub(crate) fn is_on_demand(scenario: &Scenario, registries: &Registries) -> bool {
    let (node, addresses) = (NodeId(0), Addresses::default());
    let draws = Streams::new(0).get(Purpose::Routing, 0);
    let facts =
        RouterFacts { node, address: net::address(node), interfaces: vec![], addresses, least_cost: vec![], draws };
    let router = router(scenario, registries);
    (router.plugin)(facts, &router.params).is_on_demand()
}

/// Routers that talk by radio need radios alone: no access point, no wire, and no source that must know its first hop.
fn check_on_demand(shared: &Shared) -> Result<()> {
    let (scenario, name) = (&shared.scenario, router(&shared.scenario, &shared.registries).info.id);
    let refused = |why: String| Err(InputError::new("routing".to_owned(), why));
    if let Some(metric) = &scenario.route_metric {
        let why = format!(
            "\"{}\" weighs computed routes, and \"{name}\" finds its own; write routing = \"static\"",
            metric.id()
        );
        return Err(InputError::new("route_metric".to_owned(), why));
    }
    if let Some(ap) = scenario.nodes.iter().find(|node| node.entry.role == sc::Role::Ap) {
        return refused(format!("\"{name}\" is for a network without access points, and \"{}\" is one", ap.name));
    }
    if let Some(link) = scenario.links.first() {
        return refused(format!("\"{name}\" finds ways by radio, and \"{}\" is a wire", link.name));
    }
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.traffic() == sc::Traffic::Saturated) {
        let why = format!("\"saturated\" keeps the queue of a radio full, and \"{name}\" may know no way");
        return Err(InputError::new(format!("flow[{}].traffic.model", flow.index), why));
    }
    Ok(())
}

/// The MSDUs that have a queue together, where the scenario does not say: those of a receiver, if the discipline schedules receivers.
pub(super) fn per(spec: &queue::Spec) -> sc::Per {
    match spec.turns() {
        Ok(queue::Turns::Mac80211 { .. }) => sc::Per::Receiver,
        Ok(queue::Turns::Round) | Err(_) => sc::Per::Interface,
    }
}

/// The wires of a link, by its index.
pub(super) fn wires_of(scenario: &Scenario, link: usize) -> impl Iterator<Item = LinkId> {
    let wires = |link: &sc::Link| link.ends.directions().count() as u32;
    let before: u32 = scenario.links[..link].iter().map(wires).sum();
    (before..before + wires(&scenario.links[link])).map(LinkId)
}

/// The directions of all links, numbered as their wires are.
fn directions(scenario: &Scenario) -> impl Iterator<Item = (u32, (NodeId, NodeId))> {
    (0..).zip(scenario.links.iter().flat_map(|link| link.ends.directions()))
}

pub(super) fn wires(shared: &Shared, streams: &Streams) -> Vec<Wire> {
    let (scenario, mtu) = (&shared.scenario, shared.mtu);
    let delays = (0..).zip(&scenario.links).map(|(i, link)| (link, delay(link.delay, streams, i)));
    let links = delays.flat_map(|(link, delay)| link.ends.directions().map(move |ends| (link, delay, ends)));
    let counts = shared.tcps.iter().flatten().any(|tcp| tcp.counts_queued());
    let wire = |(i, (link, delay, (from, to))): (u64, (&sc::Link, Dur, (NodeId, NodeId)))| {
        let queue = queue_spec(shared, &link.queue, link.rate);
        let config = WireConfig { from, to, rate: link.rate, delay, loss: link.loss, queue, mtu };
        // Queues of radios are numbered by node; no node has a number of those of wires, however many there are.
        let entity = 1 << 32 | i;
        let wire = Wire::new(config, streams.get(Purpose::Link, i), streams.get(Purpose::Queue, entity));
        let wire = wire.with_errors(errors(&link.errors), &streams.within(Purpose::Link, i));
        if counts { wire.with_departures() } else { wire }
    };
    (0..).zip(links).map(wire).collect()
}

/// The losses of a link to noise.
fn errors(spec: &sc::LinkErrors) -> ErrorModel {
    let packet = |per| Hit::Packet { per, control_per: 0.0 };
    let bit = |ber| Hit::Bit { ber, control: false };
    let state = |error| match error {
        sc::StateError::Per(per) => packet(per),
        sc::StateError::Ber(ber) => bit(ber),
    };
    match *spec {
        sc::LinkErrors::None => ErrorModel::One(Hit::NEVER),
        sc::LinkErrors::Packet { per } => ErrorModel::One(packet(per)),
        sc::LinkErrors::Bit { ber } => ErrorModel::One(bit(ber)),
        sc::LinkErrors::TwoState { good, bad, sojourn } => {
            ErrorModel::Two { good: state(good), bad: state(bad), sojourn, shared: false }
        }
    }
}

/// The most draws for a number outside of its limits. If all fail, the limits are so close together that every number between
/// them is equally likely.
const DRAWS: usize = 1000;

/// The delay of a link, by its index.
fn delay(delay: sc::Delay, streams: &Streams, link: u64) -> Dur {
    let of = |draws: fn(&mut Stream) -> f64| draws(&mut streams.get(Purpose::Delay, link));
    let between = |low: Dur, high: Dur| low + Dur::from_ns((of(Stream::unit) * (high - low).ns() as f64) as u64);
    match delay {
        sc::Delay::Fixed(time) => time,
        sc::Delay::Drawn(sc::Distribution::Uniform { low, high }) => between(low, high),
        sc::Delay::Drawn(sc::Distribution::Exponential { mean }) => {
            Dur::from_ns((of(Stream::exponential) * mean.ns() as f64) as u64)
        }
        sc::Delay::Drawn(sc::Distribution::Normal { mean, deviation, low, high }) => {
            let mut draws = streams.get(Purpose::Delay, link);
            let ns = (0..DRAWS).map(|_| draws.normal() * deviation.ns() as f64 + mean.ns() as f64);
            let is_within = |ns: &f64| *ns >= low.ns() as f64 && high.is_none_or(|high| *ns <= high.ns() as f64);
            let found = { ns }.find(is_within).map(|ns| Dur::from_ns(ns as u64));
            found.unwrap_or_else(|| between(low, high.unwrap_or(low)))
        }
    }
}

/// A queue in front of a transmitter of `rate`.
pub(super) fn queue_spec(shared: &Shared, spec: &sc::Queue, rate: BitRate) -> queue::Spec {
    let discipline = chosen(&shared.registries.queues, &spec.discipline);
    // A small packet on the fastest of links takes less than the clock's tick.
    let packet_time = (shared.mtu / rate).max(Dur::from_ns(1));
    queue::Spec { limit: spec.limit, discipline, packet_time }
}
