//! The memory of the machine that a run will take, told before it is made.
//!
//! The parts that grow with the square of the nodes are counted where they are made, with the sizes of their own types: the
//! medium, the errors of pairs, routes, and the state that stations keep of each other. The rest is a constant for each node and
//! flow. `tests/allocations.rs` compares the sum with the bytes that the allocator was asked for.

use crate::scenario::{Channel, ErrorSpec, EventKind, Role};
use crate::shared::Shared;
use crate::traces::mobilities;
use mac::{Config, Station};
use motion::Motion;
use net::Routes;
use phy::Errors;
use phy::medium::{Sinr, UnitDisc};
use units::NodeId;

/// Of a node beside what it keeps of each other: its station and chain; and of each of its categories, which is one under DCF: a queue
/// with its packets.
const NODE: usize = 11_000;
const CATEGORY: usize = 9_000;
/// Of a flow: two ends.
const FLOW: usize = 5_000;
/// Of a scheme at a node, and what it keeps there of each other node, at most.
const SCHEME: usize = 5_000;
const SCHEME_PEER: usize = 8;
/// Hops of a flow, the mean over all flows at most: longer strings have few flows.
const HOPS: usize = 16;

/// The memory in bytes of one run, at most.
pub(crate) fn of_run(shared: &Shared) -> usize {
    let scenario = &shared.scenario;
    let nodes = scenario.nodes.len();
    let pairs = nodes * nodes;
    // With access points a station has one neighbour. Without, all may be neighbours; if they surely are, nothing is searched.
    let is_independent = !scenario.nodes.iter().any(|node| node.entry.role == Role::Ap);
    let (mut air, mut neighbours, mut second) = (0, 0, 0);
    for channel in scenario.channels.iter() {
        let has_levels = channel.powers.is_some() && scenario.radio.levels.is_some();
        let specs = || channel.pair.iter().filter_map(|pair| pair.errors).chain([channel.errors]);
        let have_states = specs().any(|spec| matches!(spec, ErrorSpec::TwoState { .. }));
        air += if has_levels { Sinr::bytes(nodes) } else { UnitDisc::bytes(nodes) };
        let fading = channel.powers.as_ref().and_then(|it| it.fading_model(scenario.radio.standard));
        air += pairs * fading.map_or(0, phy::FadingModel::bytes);
        air += if specs().all(|spec| spec == ErrorSpec::None) { 0 } else { Errors::bytes(nodes, have_states) };
        let is_mesh = !has_levels && channel.range.is_none() && scenario.links.is_empty();
        neighbours += match (is_independent, is_mesh) {
            (true, true) => pairs * size_of::<NodeId>(),
            (true, false) => pairs * size_of::<NodeId>() + Routes::search_bytes(pairs),
            (false, _) => 0,
        };
        // Where no way leads at the rates set, a second search over all that are heard.
        if is_independent && has_levels {
            second += pairs * size_of::<NodeId>() + Routes::search_bytes(pairs) + Routes::bytes(nodes);
        }
    }
    // The table, and the row of each node at its router.
    let routes = 2 * Routes::bytes(nodes);
    // Events and motion that change who is joined to whom: routes and neighbours are made anew beside those that stand.
    let changes =
        scenario.events.iter().any(|event| !matches!(event.what, EventKind::Kill(_) | EventKind::Restart(_)));
    let movers = mobilities(scenario).count();
    let motion = movers_bytes(shared, movers);
    let anew = if changes || movers > 0 || shared.learns { neighbours + second + Routes::bytes(nodes) } else { 0 };
    let categories = shared.macs.iter().map(Config::categories).max().unwrap_or(0);
    // Each hop of a flow is a link at both of its ends.
    let links = pairs.min(2 * HOPS * scenario.flows.len()) * Station::BYTES_A_LINK;
    // A node without a radio has no interface, and counts as one here.
    let interfaces = scenario.nodes.iter().map(|node| node.channels.len().max(1)).sum::<usize>();
    let stations = interfaces * nodes * Station::BYTES_A_PEER + links;
    let schemes = scenario.schemes.len() * (nodes * SCHEME + pairs * SCHEME_PEER);
    let linear = interfaces * (NODE + usize::from(categories.max(1)) * CATEGORY) + scenario.flows.len() * FLOW;
    air + motion + routes + neighbours + second + anew + stations + schemes + linear
}

/// The memory of so many nodes that move: two ranges of a channel, or what gains were computed from, and a buffer for each part of a trace.
fn movers_bytes(shared: &Shared, movers: usize) -> usize {
    if movers == 0 {
        return 0;
    }
    let nodes = shared.scenario.nodes.len();
    let ranges = 2 * shared.scenario.channels.iter().count();
    let gains = if shared.scenario.channels.have_powers() { nodes * nodes * size_of::<[f64; 2]>() } else { 0 };
    let decorrelates =
        |channel: &Channel| channel.powers.as_ref().is_some_and(|it| it.shadowing_decorrelation.is_some());
    let shadows = nodes * nodes / 2
        * size_of::<phy::Shadow>()
        * shared.scenario.channels.iter().filter(|it| decorrelates(it)).count();
    Motion::bytes(movers, nodes, ranges)
        + gains
        + shadows
        + shared.traces.iter().map(|trace| trace.index.bytes()).sum::<usize>()
}
