//! What a run found: records of named cells, the unit in the name.
//!
//! Rates and counters cover the time after warm-up unless a name ends in `_total`, `acked_undelivered_bytes` (state at
//! the end), `until_first_loss_s` and `until_second_loss_s` (from the start of the flow; to the end of the run where TCP
//! found no such loss) and scheme counters (whole run).

use crate::flow::{Flow, Stated, Transport};
use crate::frames::{FrameClass, LossCause, Tally};
use crate::record::{self, Cell, Record};
use crate::scenario::Scenario;
use crate::taps::{Column, Recorded, Timeline, category_id, interface_id, queue_ids};
use crate::world::World;
use mac::Station;
use units::{Bytes, Dur, NodeId, SimTime};
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
    /// Whether nothing is missing.
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
    /// One a window and flow, one a window and queue.
    pub windows: Vec<Record>,
    /// Of all flows together.
    pub summary: Record,
    /// PHY, MAC, TCP, if asked for.
    pub fingerprint: Option<[u64; 3]>,
    /// Time series, if asked for.
    pub series: Option<Vec<Column>>,
    /// The timeline of the air, if asked for.
    pub timeline: Option<Timeline>,
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

/// Reads the results off a world whose run is over.
pub(crate) fn collect(world: &World, scenario: &Scenario, seed: u64, sim_s: f64, recorded: Recorded) -> Run {
    let flows: Vec<Record> = {
        let starts = scenario.flows.iter().map(|flow| flow.start);
        let row =
            |(flow, start): (&Flow, Dur)| flow.stated().map(|stated| flow_record(flow, stated, start, scenario));
        world.flows.iter().zip(starts).filter_map(row).collect()
    };
    let rates: Vec<f64> = flows.iter().filter_map(|record| Run::number(record, "goodput_bps")).collect();
    let max = rates.iter().copied().fold(0.0, f64::max);
    let min = rates.iter().copied().fold(max, f64::min);
    // From zero: an empty sum of floats is -0.
    let sum_of = |name: &str| flows.iter().filter_map(|record| Run::number(record, name)).fold(0.0, |a, b| a + b);
    let mut summary = vec![
        ("goodput_bps", Cell::Real(rates.iter().sum())),
        ("datagram_throughput_bps", Cell::Real(sum_of("datagram_throughput_bps"))),
        ("jain", Cell::Real(jain(&rates))),
        ("goodput_spread_bps", Cell::Real(max - min)),
        ("retransmissions", Cell::Real(sum_of("retransmissions"))),
        ("timeouts", Cell::Real(sum_of("timeouts"))),
        ("collision_probability", Cell::Real(collision_probability(world))),
    ];
    let counted = world.frames.since(&world.warm.frames);
    summary.extend(LossCause::ALL.map(|cause| (cause.column(), Cell::Count(counted.losses(cause)))));

    let names: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
    Run {
        seed,
        sim_s,
        simulated: scenario.duration,
        events: world.handled,
        exchanges: world.stations().map(|s| s.counters().exchanges).sum(),
        flows,
        nodes: nodes(world, scenario),
        queues: queues(world, scenario),
        frames: frames(world),
        schemes: schemes(world, scenario),
        windows: world.windows.records(&queue_ids(scenario), &world.flows, &world.interfaces, &names),
        summary,
        fingerprint: recorded.fingerprint,
        series: recorded.series,
        timeline: recorded.timeline,
        books: books(world),
    }
}

/// Data frames and RTS that another transmission spoilt or that found the addressee transmitting, over all exchanges
/// begun. Between saturated stations, the conditional collision probability p of @BIA00.
fn collision_probability(world: &World) -> f64 {
    let exchanges: u64 = counters(world).map(|c| c.exchanges).sum();
    let counted = world.frames.since(&world.warm.frames);
    let is_response =
        |class| matches!(class, FrameClass::Cts | FrameClass::Ack | FrameClass::BlockAck | FrameClass::Nack);
    let initiated = counted.tallies.iter().filter(|(class, _)| !is_response(*class));
    let lost: u64 = initiated.map(|(_, tally)| tally.collision + tally.half_duplex).sum();
    if exchanges == 0 { 0.0 } else { lost as f64 / exchanges as f64 }
}

/// What each interface counted after warm-up.
fn counters(world: &World) -> impl Iterator<Item = mac::Counters> {
    world.stations().zip(&world.warm.stations).map(|(station, then)| station.counters().since(then))
}

fn flow_record(flow: &Flow, stated: &Stated, start: Dur, scenario: &Scenario) -> Record {
    let name = |node: NodeId| Cell::Text(scenario.nodes[node.index()].name.clone());
    let measured = scenario.duration.saturating_sub(scenario.warmup);
    let rate = |bytes: u64| Cell::Real((Bytes(bytes) / measured).bps() as f64);
    let since = |end: usize| {
        let (now, then) = (&stated.delivered[end], &stated.warm[end]);
        (now.payload - then.payload, now.datagram - then.datagram, now.packets - then.packets)
    };
    let (payload, datagram, packets) = since(1);
    let mut record: Record = vec![
        ("id", Cell::Text(stated.name.clone())),
        ("from", name(flow.ends[0])),
        ("to", name(flow.ends[1])),
        (
            "protocol",
            Cell::Text(if matches!(flow.transport, Transport::Udp { .. }) { "udp" } else { "tcp" }.to_owned()),
        ),
        ("goodput_bps", rate(payload)),
        ("datagram_throughput_bps", rate(datagram)),
        ("delivered_bytes", Cell::Count(payload)),
        ("delivered_packets", Cell::Count(packets)),
        ("delivered_bytes_total", Cell::Count(stated.delivered[1].payload)),
        ("finish_time_s", Cell::Real(stated.finished.map_or(f64::NAN, |at| at.as_secs_f64()))),
    ];
    record.extend(stated.latency.record());
    match &flow.transport {
        Transport::Udp { sent } => record.push(("datagrams_sent_total", Cell::Count(*sent))),
        Transport::User(user) => {
            let (asked, _, _) = since(0);
            record.extend([
                ("reverse_goodput_bps", rate(asked)),
                ("reverse_delivered_bytes_total", Cell::Count(stated.delivered[0].payload)),
            ]);
            record.extend(user.record());
        }
        Transport::Tcp(ends) => {
            let (back, _, _) = since(0);
            let now = [ends[0].counters(), ends[1].counters()];
            let then = &stated.warm_counters;
            let count = |end: usize, read: fn(&tcp::Counters) -> u64| Cell::Count(read(&now[end]) - read(&then[end]));
            let samples = now[0].rtt_samples - then[0].rtt_samples;
            let rtt_sum = now[0].rtt_sum - then[0].rtt_sum;
            let rtt = if samples == 0 { f64::NAN } else { rtt_sum.as_secs_f64() / samples as f64 };
            let sequences = now[0].timeout_sequences - then[0].timeout_sequences;
            let rto_sum = now[0].first_rto_sum - then[0].first_rto_sum;
            let first_rto = if sequences == 0 { f64::NAN } else { rto_sum.as_secs_f64() / sequences as f64 };
            let end = SimTime::ZERO + scenario.duration;
            let windows = ends[0].window_time(end).since(&stated.warm_windows);
            let (cwnd, window) = windows.means().unwrap_or((f64::NAN, f64::NAN));
            let until_loss = |nth: usize| {
                let at = now[0].losses_found[nth].unwrap_or(end);
                Cell::Real((at - SimTime::ZERO).saturating_sub(start).as_secs_f64())
            };
            record.extend([
                ("reverse_goodput_bps", rate(back)),
                ("reverse_delivered_bytes_total", Cell::Count(stated.delivered[0].payload)),
                ("segments_sent", count(0, |c| c.data_segments_sent)),
                ("retransmissions", count(0, |c| c.retransmissions)),
                ("retransmissions_total", Cell::Count(now[0].retransmissions)),
                ("timeouts", count(0, |c| c.timeouts)),
                ("timeout_sequences", Cell::Count(sequences)),
                ("first_rto_mean_s", Cell::Real(first_rto)),
                ("fast_retransmits", count(0, |c| c.fast_retransmits)),
                ("spurious_losses", count(0, |c| c.spurious_losses)),
                ("dup_acks_received", count(0, |c| c.dup_acks_received)),
                ("ecn_marks_received", count(1, |c| c.ecn_marks_received)),
                ("ecn_cuts", count(0, |c| c.ecn_cuts)),
                ("zero_window_probes", count(0, |c| c.zero_window_probes)),
                ("acks_sent", count(1, |c| c.acks_sent)),
                ("out_of_order_segments", count(1, |c| c.out_of_order_segments)),
                ("duplicate_segments", count(1, |c| c.duplicate_segments)),
                ("rtt_samples", Cell::Count(samples)),
                ("rtt_mean_s", Cell::Real(rtt)),
                ("cwnd_mean_bytes", Cell::Real(cwnd)),
                ("window_mean_bytes", Cell::Real(window)),
                ("cwnd_per_srtt_bps", Cell::Real(windows.rate_bps().unwrap_or(f64::NAN))),
                ("acked_bytes_total", Cell::Count(ends[0].acknowledged())),
                ("acked_undelivered_bytes", Cell::Count(flow.acked_undelivered(0))),
                ("reverse_acked_undelivered_bytes", Cell::Count(flow.acked_undelivered(1))),
                ("state", Cell::Text(format!("{:?}", ends[0].state()))),
                ("failed", Cell::Count(u64::from(flow.has_failed))),
                ("until_first_loss_s", until_loss(0)),
                ("until_second_loss_s", until_loss(1)),
            ]);
            if let Some(gaps) = &stated.ack_gaps {
                record.extend(gaps.record());
            }
        }
        Transport::Outside | Transport::Closed => {}
    }
    record
}

/// A row of each node, with what its radio counted. Of several radios each has a row of its own behind it, `relay.air.backhaul`.
fn nodes(world: &World, scenario: &Scenario) -> Vec<Record> {
    let mut counted = world.interfaces.iter().zip(counters(world)).peekable();
    let mut rows = Vec::new();
    for ((id, node), own) in (0..).map(NodeId).zip(&scenario.nodes).zip(&world.nodes) {
        let row = |name| vec![("id", Cell::Text(name)), ("is_dead", Cell::Count(u64::from(own.is_dead())))];
        let mut here = Vec::new();
        while let Some((interface, c)) = counted.next_if(|(interface, _)| interface.node == id) {
            here.push((interface.channel, radio(&interface.station, &c)));
        }
        let mut first = row(node.name.clone());
        if here.len() == 1 {
            first.extend(here.drain(..).flat_map(|(_, columns)| columns));
        }
        rows.push(first);
        for (channel, columns) in here {
            let id = interface_id(scenario, id, channel);
            rows.push(row(id).into_iter().chain(columns).collect());
        }
    }
    rows
}

/// What a radio counted.
fn radio(station: &Station, c: &mac::Counters) -> Record {
    vec![
        ("msdus_offered", Cell::Count(c.msdus_offered)),
        ("msdus_delivered", Cell::Count(c.msdus_delivered)),
        ("msdus_given_up", Cell::Count(c.msdus_given_up)),
        ("msdus_expired", Cell::Count(c.msdus_expired)),
        ("msdus_refused", Cell::Count(c.msdus_refused)),
        ("msdus_queued", Cell::Count(station.backlog())),
        ("exchanges", Cell::Count(c.exchanges)),
        ("failures", Cell::Count(c.failures)),
        ("data_frames_sent", Cell::Count(c.data_frames_sent)),
        ("data_frames_retried", Cell::Count(c.data_frames_retried)),
        ("rts_sent", Cell::Count(c.rts_sent)),
        ("msdus_received", Cell::Count(c.msdus_received)),
        ("duplicates", Cell::Count(c.duplicates)),
        ("airtime_s", Cell::Real(c.airtime.as_secs_f64())),
    ]
}

fn queues(world: &World, scenario: &Scenario) -> Vec<Record> {
    let ids = queue_ids(scenario);
    let now = SimTime::ZERO + scenario.duration;
    let measured = scenario.duration.saturating_sub(scenario.warmup);
    let row = |id: &str, stats: &queue::Stats| -> Record {
        vec![
            ("id", Cell::Text(id.to_owned())),
            ("offered_packets", Cell::Count(stats.offered)),
            ("departed_packets", Cell::Count(stats.departed)),
            ("dropped_packets", Cell::Count(stats.dropped())),
            ("dropped_early_packets", Cell::Count(stats.dropped_early)),
            ("marked_packets", Cell::Count(stats.marked)),
            ("mean_packets", Cell::Real(stats.mean_entries(measured))),
            ("max_packets_total", Cell::Count(u64::from(stats.max_entries))),
            ("mean_wait_s", Cell::Real(stats.mean_wait().map_or(f64::NAN, Dur::as_secs_f64))),
        ]
    };
    let mut rows = Vec::new();
    for ((air, station), then) in ids.air.iter().zip(world.stations()).zip(&world.warm.queues) {
        let categories = station.queues().zip(station.category_counters());
        for ((i, (queue, counters)), then) in categories.enumerate().zip(then) {
            let (Some(stats), Some(then)) = (queue.stats(now), then) else { continue };
            let mut row = row(&category_id(air, station, i), &stats.since(then));
            if station.config().edca.is_some() {
                row.push(("txops_total", Cell::Count(counters.txops)));
                row.push(("internal_collisions_total", Cell::Count(counters.internal_collisions)));
            }
            rows.push(row);
        }
    }
    for ((id, wire), (queue, sent)) in ids.wires.iter().zip(&world.wires).zip(&world.warm.wires) {
        let mut row = row(id, &wire.queue().stats(now).since(queue));
        let sent = wire.stats().since(sent);
        row.push(("sent_bytes", Cell::Count(sent.sent_bytes.0)));
        row.push(("lost_packets", Cell::Count(sent.lost)));
        rows.push(row);
    }
    rows
}

fn frames(world: &World) -> Vec<Record> {
    let counted = world.frames.since(&world.warm.frames);
    let rows = counted.tallies.iter().filter(|(_, tally)| tally.sent > 0);
    rows.map(|(class, tally)| frame_record(class, tally)).collect()
}

/// How a class of frames fared. Rates are shares of the transmissions, repeated ones among them. What spoilt a frame is
/// the transmission that overlapped it first at its addressee: data (TCP or UDP), a pure TCP ACK, RTS or CTS, or another
/// (SYN, FIN, MAC ACK, what is neither TCP nor UDP); the four sum to `lost_to_collision`.
fn frame_record(class: FrameClass, tally: &Tally) -> Record {
    use FrameClass::{Cts, Rts, TcpAck, TcpData, Udp};
    let with = |classes: &[FrameClass]| -> u64 { classes.iter().map(|class| tally.collided_with[*class]).sum() };
    let rate = |lost: u64| Cell::Real(lost as f64 / tally.sent as f64);
    let (data, ack, rts) = (with(&[TcpData, Udp]), with(&[TcpAck]), with(&[Rts, Cts]));
    let other = tally.collision - data - ack - rts;
    vec![
        ("class", Cell::Text(class.name().to_owned())),
        ("sent", Cell::Count(tally.sent)),
        ("received", Cell::Count(tally.received)),
        ("lost_to_noise", Cell::Count(tally.noise)),
        ("lost_to_collision", Cell::Count(tally.collision)),
        ("lost_to_half_duplex", Cell::Count(tally.half_duplex)),
        ("lost_to_data", Cell::Count(data)),
        ("lost_to_tcp_ack", Cell::Count(ack)),
        ("lost_to_rts_cts", Cell::Count(rts)),
        ("lost_to_other", Cell::Count(other)),
        ("error_rate", rate(tally.noise + tally.collision + tally.half_duplex)),
        ("half_duplex_rate", rate(tally.half_duplex)),
        ("data_collision_rate", rate(data)),
        ("tcp_ack_collision_rate", rate(ack)),
        ("rts_cts_collision_rate", rate(rts)),
        ("captured", Cell::Count(tally.captured)),
        ("airtime_s", Cell::Real(tally.airtime.as_secs_f64())),
    ]
}

fn schemes(world: &World, scenario: &Scenario) -> Vec<Record> {
    let mut rows = Vec::new();
    for (node, own) in scenario.nodes.iter().zip(&world.nodes) {
        // A scheme has one row, however many agents it has here.
        for members in own.chain().members().chunk_by(|one, other| one.instance == other.instance) {
            let id = members[0].claims.scheme;
            let mut row: Record = vec![
                ("id", Cell::Text(format!("{id}@{}", node.name))),
                ("scheme", Cell::Text(id.to_owned())),
                ("node", Cell::Text(node.name.clone())),
            ];
            for member in members {
                member.agent.counters(&mut |name, value| row.push((name, Cell::Count(value))));
            }
            row.push(("packets_held", Cell::Count(members.iter().map(|member| member.agent.held()).sum())));
            rows.push(row);
        }
    }
    rows
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
    #![allow(clippy::unwrap_used)] // In a test a panic is the report.
    use super::{Run, frame_record, jain};
    use crate::frames::{FrameClass, PerClass, Tally};

    #[test]
    fn a_class_of_frames_says_what_spoilt_it_in_shares_of_what_was_sent() {
        // Of 200: 10 lost to noise, 20 to an addressee that transmitted, and to tcp-data, tcp-ack, tcp-control, udp, other, rts, cts, ack:
        let with = [16, 8, 1, 4, 2, 6, 3, 5, 0, 0];
        let collided_with = PerClass::from_fn(|class| with[class as usize]);
        let tally =
            Tally { sent: 200, noise: 10, half_duplex: 20, collision: 45, collided_with, ..Default::default() };
        let record = frame_record(FrameClass::TcpAck, &tally);
        let found = |name| Run::number(&record, name).unwrap();
        let counts = ["lost_to_data", "lost_to_tcp_ack", "lost_to_rts_cts", "lost_to_other"].map(found);
        assert_eq!(counts, [20.0, 8.0, 9.0, 8.0]);
        assert_eq!(counts.iter().sum::<f64>(), found("lost_to_collision"));
        let rates = ["error_rate", "half_duplex_rate", "data_collision_rate", "tcp_ack_collision_rate"].map(found);
        assert_eq!(rates, [0.375, 0.1, 0.1, 0.04]);
        assert_eq!(found("rts_cts_collision_rate"), 0.045);
    }

    #[test]
    fn jains_index_is_one_for_equal_shares_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), 1.0);
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        // (1 + 2 + 3)² / (3 · 14) = 36 / 42.
        assert!((jain(&[1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-15);
        assert!(jain(&[]).is_nan() && jain(&[0.0, 0.0]).is_nan());
    }
}
