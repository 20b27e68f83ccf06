//! What results and series call queues.

use super::QueueIds;
use crate::scenario::Scenario;
use units::NodeId;

/// What results and series call the queue of a category: `ap.air`, or `ap.air.vo` and so on. A scheme may have added one.
pub(crate) fn category_id(air: &str, station: &mac::Station, category: usize) -> String {
    let edca = station.config().edca.as_ref();
    edca.map_or_else(|| air.to_owned(), |edca| format!("{air}.{}", edca.categories[category].name))
}

/// What results and series call the queues of a scenario.
pub(crate) fn queue_ids(scenario: &Scenario) -> QueueIds {
    let name = |node: NodeId| &scenario.nodes[node.index()].name;
    let air = scenario.nodes.iter().map(|node| node.has_radio.then(|| format!("{}.air", node.name))).collect();
    let directions = scenario.links.iter().flat_map(|link| link.ends.directions());
    QueueIds { air, wires: directions.map(|(from, to)| format!("{}->{}", name(from), name(to))).collect() }
}
