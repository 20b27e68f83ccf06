//! Radio links of 802.11n and later: the mode of data frames as the run begins, which stays, the SNR that it was chosen by, and what went.

use super::tables::mean;
use crate::assembly::MeanSnr;
use crate::record::{Columns, Record};
use crate::scenario::{Role, has_mcs};
use crate::shared::Shared;
use crate::world::World;
use mac::Sent;
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
    sent: Sent,
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
    "data_ppdus": "PPDUs with data under block acknowledgment" => it.sent.ppdus,
    "mean_mpdus": "MPDUs in a PPDU with data under block acknowledgment" => mean(it.sent.mpdus, it.sent.ppdus),
    "window_stalls": "PPDUs that the window kept from taking another MPDU" => it.sent.stalled,
    "data_airtime_s": "time on the air of PPDUs with data under block acknowledgment" => it.sent.airtime.as_secs_f64(),
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
    for (at, (interface, neighbours)) in world.interfaces.iter().zip(&world.neighbours).enumerate() {
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
            let before = world.warm.sent.get(at).and_then(|sent| sent.get(&to)).copied().unwrap_or_default();
            let sent = interface.station.sent_to(to).since(before);
            rows.push(LinkRow { from: &own.name, to: &nodes[to.index()].name, mode, snr_db, sent }.record());
        }
    }
    rows
}
