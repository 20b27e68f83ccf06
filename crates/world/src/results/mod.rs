//! The results of a run: records of named cells, the unit in the name.
//!
//! Rates and counters cover the time after warm-up unless a name ends in `_total`, `acked_undelivered_bytes` (state at
//! the end), `until_first_loss_s` and `until_second_loss_s` (from the start of the flow; to the end of the run where TCP
//! found no such loss) and scheme counters (whole run).

mod flows;
mod links;
mod tables;

use crate::record::{self, Cell, Columns, Metric, Record};
use crate::shared::Shared;
use crate::taps::{Column, Paths, Recorded, Scene, Story, Timeline, queue_ids};
use crate::windows;
use crate::world::World;
use units::Dur;
use wire::DropWhy;

/// The books at the end of a run. Every line must balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Books {
    /// Packets ever made.
    pub made: u64,
    /// Packets that ended, for whatever reason.
    pub ended: u64,
    /// Packets left in the arena.
    pub live: u64,
    /// Packets that queues, agents and inboxes say they hold.
    pub in_care: u64,
    /// MSDUs offered to all MACs.
    pub msdus_offered: u64,
    /// MSDUs delivered, given up, refused, lost with their node, or still in care.
    pub msdus_accounted: u64,
    /// Of the packets made: those that a driver handed in.
    pub injected: u64,
    /// Of the packets that ended: those that arrived at an end outside.
    pub arrived_outside: u64,
}

impl Books {
    /// True if nothing is missing.
    pub fn balance(&self) -> bool {
        self.made == self.ended + self.live && self.live == self.in_care && self.msdus_offered == self.msdus_accounted
    }
}

/// The result of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// Wall-clock time of the event loop; NaN for a driven world.
    pub sim_s: f64,
    /// Virtual time it covered.
    pub simulated: Dur,
    /// Timers that went off.
    pub events: u64,
    /// Frame exchanges begun.
    pub exchanges: u64,
    /// One a flow.
    pub flows: Vec<Record>,
    /// One a node; behind that of a node with several radios one for each of them.
    pub nodes: Vec<Record>,
    /// One a queue: of radios, then of wires.
    pub queues: Vec<Record>,
    /// One a class of frames.
    pub frames: Vec<Record>,
    /// One a (scheme, node).
    pub schemes: Vec<Record>,
    /// One a direction of a radio link of 802.11n or later.
    pub links: Vec<Record>,
    /// One a window and flow, one a window and queue.
    pub windows: Vec<Record>,
    /// Of all flows together.
    pub summary: Record,
    /// PHY, MAC, TCP, if asked for.
    pub fingerprint: Option<[u64; 3]>,
    /// Time series, if asked for.
    pub series: Option<Vec<Column>>,
    /// Paths of nodes that move and meetings of neighbours, with the series or the scene.
    pub motion: Option<Paths>,
    /// The timeline of the air, if asked for.
    pub timeline: Option<Timeline>,
    /// The scene, if asked for.
    pub scene: Option<Scene>,
    /// The stories of the frames of the timeline, with a scene.
    pub story: Option<Story>,
    /// Packet conservation.
    pub books: Books,
}

impl Run {
    /// A number in a record, for tests and reports.
    pub fn number(record: &Record, name: &str) -> Option<f64> {
        record::number(record, name)
    }

    /// A number of flow `index`.
    pub fn flow(&self, index: usize, name: &str) -> Option<f64> {
        Run::number(self.flows.get(index)?, name)
    }

    /// The sum of a counter over all nodes of a scheme.
    pub fn scheme(&self, scheme: &str, name: &str) -> f64 {
        let is_it =
            |record: &&Record| record.iter().any(|(n, c)| *n == "scheme" && *c == Cell::Text(scheme.to_owned()));
        self.schemes.iter().filter(is_it).filter_map(|record| Run::number(record, name)).sum()
    }
}

/// Jain's index of fairness, (Σx)² / (n Σx²); NaN, which is undefined, for no flow or where nothing was delivered. @JCH84
pub fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    if squares == 0.0 { f64::NAN } else { sum * sum / (rates.len() as f64 * squares) }
}

/// Every metric, by the table that has it: `flow.NAME`, `node.NAME`, …, `summary`. What a scheme counts it names itself.
pub fn metrics() -> impl Iterator<Item = (&'static str, &'static Metric)> {
    let tables: [(&str, &[&[Metric]]); 8] = [
        ("flow.NAME", flows::METRICS),
        ("node.NAME", &[tables::NodeRow::METRICS]),
        ("queue.NAME", &[tables::QueueRow::METRICS]),
        ("frame.CLASS", &[tables::FrameRow::METRICS]),
        ("link.FROM->TO", &[links::LinkRow::METRICS]),
        ("window.WINDOW.NAME", windows::METRICS),
        ("scheme.SCHEME@NODE", &[tables::Held::METRICS]),
        ("summary", &[tables::Summary::METRICS]),
    ];
    tables.into_iter().flat_map(|(table, parts)| parts.iter().copied().flatten().map(move |metric| (table, metric)))
}

/// Reads the results off a world whose run is over.
pub(crate) fn collect(world: &World, shared: &Shared, seed: u64, sim_s: f64, recorded: Recorded) -> Run {
    let scenario = &shared.scenario;
    let flows = flows::rows(&world.flows, scenario);
    let summary = tables::Summary::new(world, &flows).record();
    let names: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
    Run {
        seed,
        sim_s,
        simulated: scenario.duration,
        events: world.handled,
        exchanges: world.stations().map(|s| s.counters().exchanges).sum(),
        flows,
        nodes: tables::nodes(world, scenario),
        queues: tables::queues(world, scenario),
        frames: tables::frames(world),
        schemes: tables::schemes(world, scenario),
        links: links::rows(world, shared, seed),
        windows: world.windows.records(&queue_ids(scenario), &world.flows, &world.interfaces, &names),
        summary,
        fingerprint: recorded.fingerprint,
        series: recorded.series,
        motion: recorded.motion.map(|paths| paths.end(world.now())),
        timeline: recorded.timeline,
        scene: recorded.scene,
        story: recorded.story,
        books: books(world),
    }
}

fn books(world: &World) -> Books {
    const WHY: [DropWhy; DropWhy::COUNT] = [
        DropWhy::Delivered,
        DropWhy::MacDone,
        DropWhy::QueueFull,
        DropWhy::Suppressed,
        DropWhy::Scheme,
        DropWhy::CopyDone,
        DropWhy::Consumed,
        DropWhy::NoRoute,
        DropWhy::NodeDown,
        DropWhy::LinkLoss,
        DropWhy::TtlExpired,
        DropWhy::Handoff,
    ];
    let msdus = world.stations().map(|station| {
        let c = station.counters();
        (c.msdus_offered, c.msdus_ended() + station.backlog())
    });
    let (msdus_offered, msdus_accounted) = msdus.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    Books {
        made: world.packets.made(),
        ended: WHY.iter().map(|why| world.packets.ended(*why)).sum(),
        live: world.packets.live(),
        in_care: world.in_care(),
        msdus_offered,
        msdus_accounted,
        injected: world.outside.injected,
        arrived_outside: world.outside.arrived,
    }
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn jains_index_is_one_for_equal_shares_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), 1.0);
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        // (1 + 2 + 3)² / (3 · 14) = 36 / 42.
        assert!((jain(&[1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-15);
        assert!(jain(&[]).is_nan() && jain(&[0.0, 0.0]).is_nan());
    }
}
