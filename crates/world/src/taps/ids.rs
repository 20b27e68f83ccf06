//! The names of queues in results and series.

use crate::scenario::Scenario;
use units::{ChannelId, NodeId};

/// The names of the queues in results and series.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueueIds {
    /// Of each interface, `ap.air`, which its categories' begin with.
    pub air: Vec<String>,
    /// Of each wire, `server->ap`.
    pub wires: Vec<String>,
}

/// The name of a category's queue in results and series: `ap.air`, or `ap.air.vo` and so on. A scheme may have added one.
pub(crate) fn category_id(air: &str, station: &mac::Station, category: usize) -> String {
    let edca = station.config().edca.as_ref();
    edca.map_or_else(|| air.to_owned(), |edca| format!("{air}.{}", edca.categories[category].name))
}

/// The names of a scenario's queues in results and series.
pub(crate) fn queue_ids(scenario: &Scenario) -> QueueIds {
    let name = |node: NodeId| &scenario.nodes[node.index()].name;
    let air = scenario.interfaces().map(|(node, channel)| interface_id(scenario, node, channel)).collect();
    let directions = scenario.links.iter().flat_map(|link| link.ends.directions());
    QueueIds { air, wires: directions.map(|(from, to)| format!("{}->{}", name(from), name(to))).collect() }
}

/// The name of an interface in results, series and captures: `ap.air`, or `relay.air.backhaul` of a node with several.
pub(crate) fn interface_id(scenario: &Scenario, node: NodeId, channel: ChannelId) -> String {
    let node = &scenario.nodes[node.index()];
    let on = scenario.channels.names().nth(channel.index()).unwrap_or_default();
    if node.channels.len() > 1 { format!("{}.air.{on}", node.name) } else { format!("{}.air", node.name) }
}
