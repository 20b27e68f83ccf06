//! Radio links of 802.11n and later as a run begins: the mode of data frames, which stays, and the SNR that it was chosen by.

use crate::assembly::MeanSnr;
use crate::record::{Columns, Record};
use crate::scenario::{Role, has_mcs};
use crate::shared::Shared;
use crate::world::World;
use phy::Mode;
use std::collections::BTreeSet;
use units::NodeId;

/// A link between two stations in one direction.
pub(super) struct LinkRow<'a> {
    from: &'a str,
    to: &'a str,
    mode: Mode,
    /// `None` where signals have no powers. It may be below 0, so it is no metric.
    snr_db: Option<f64>,
}

columns! { impl LinkRow<'_>, |it| {
    "id" => format!("{}->{}", it.from, it.to),
    "from" => it.from,
    "to" => it.to,
    "mode" => it.mode.to_string(),
    "mcs" => u64::from(it.mode.mcs),
    "streams" => u64::from(it.mode.streams),
    "bit_rate_bps": "bit rate of data frames as the run begins" => it.mode.bit_rate().bps() as f64,
    "snr_db" => it.snr_db?,
} }

/// A row of each direction of each link of a station that has MCSs: with its access point, and with stations that it has exchanged data with.
pub(super) fn rows(world: &World, shared: &Shared, seed: u64) -> Vec<Record> {
    let nodes = &shared.scenario.nodes;
    if !nodes.iter().any(|node| has_mcs(node.standard)) {
        return Vec::new();
    }
    let snr = MeanSnr::of(shared, seed);
    let mut rows = Vec::new();
    let is_ap = |id: NodeId| nodes[id.index()].entry.role == Role::Ap;
    for (interface, neighbours) in world.interfaces.iter().zip(&world.neighbours) {
        let (from, config) = (interface.node, interface.station.config());
        let own = &nodes[from.index()];
        if !has_mcs(own.standard) {
            continue;
        }
        let partners: BTreeSet<NodeId> = interface.station.partners().collect();
        let has_row = |to: &NodeId| is_ap(from) || is_ap(*to) || partners.contains(to);
        for to in neighbours.iter().copied().filter(has_row) {
            let stated = config.data_rate_to.iter().find(|(other, _)| *other == to);
            let mode = stated.map_or(config.data_rate, |(_, mode)| *mode);
            let snr_db = snr.over(mode, interface.channel, from, to).map(|snr| snr.0);
            rows.push(LinkRow { from: &own.name, to: &nodes[to.index()].name, mode, snr_db }.record());
        }
    }
    rows
}
