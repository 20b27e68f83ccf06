//! The columns of nodes, queues, classes of frames and schemes, and of the summary.

use super::{Run, jain};
use crate::frames::{FrameClass, LossCause, Tally};
use crate::record::{Cell, Columns, Record};
use crate::scenario::Scenario;
use crate::taps::{category_id, interface_id, queue_ids};
use crate::world::World;
use mac::{CategoryCounters, Station};
use units::{Dur, NodeId, SimTime};

/// The counters of each interface after warm-up.
fn counters(world: &World) -> impl Iterator<Item = mac::Counters> {
    world.stations().zip(&world.warm.stations).map(|(station, then)| station.counters().since(then))
}

/// A node with its radio if it has one, or one of several radios of a node.
pub(super) struct NodeRow<'a> {
    id: String,
    is_dead: bool,
    /// The radio, with its counters after warm-up.
    radio: Option<(&'a Station, mac::Counters)>,
}

impl NodeRow<'_> {
    fn radio(&self) -> Option<&mac::Counters> {
        self.radio.as_ref().map(|(_, counted)| counted)
    }

    /// The same of a radio that aggregates.
    fn aggregating(&self) -> Option<&mac::Counters> {
        let (station, counted) = self.radio.as_ref()?;
        station.config().aggregation.map(|_| counted)
    }
}

columns! { impl NodeRow<'_>, |it| {
    "id" => &*it.id,
    "is_dead": share, "1 if the node was switched off at the end" => it.is_dead,
    "msdus_offered": "MSDUs handed to its MAC" => it.radio()?.msdus_offered,
    "msdus_delivered": "MSDUs acknowledged, or sent to a group" => it.radio()?.msdus_delivered,
    "msdus_given_up": "MSDUs dropped after the last attempt" => it.radio()?.msdus_given_up,
    "msdus_expired": "MSDUs that a queue dropped on purpose before an attempt" => it.radio()?.msdus_expired,
    "msdus_refused": "MSDUs that the queue refused: full, or dropped early" => it.radio()?.msdus_refused,
    "msdus_queued": "MSDUs in the queue at the end" => it.radio.as_ref().map(|(station, _)| station.backlog())?,
    "exchanges": "frame exchanges begun" => it.radio()?.exchanges,
    "failures": "frames without the response they asked for" => it.radio()?.failures,
    "data_frames_sent": "data frames sent, repetitions included" => it.radio()?.data_frames_sent,
    "data_frames_retried": "data frames sent again" => it.radio()?.data_frames_retried,
    "rts_sent": "RTS sent" => it.radio()?.rts_sent,
    "msdus_received": "MSDUs received, duplicates left out" => it.radio()?.msdus_received,
    "duplicates": "data frames received again" => it.radio()?.duplicates,
    "airtime_s": "time on the air" => it.radio()?.airtime.as_secs_f64(),
    "data_ppdus": "with aggregation: PPDUs with data" => it.aggregating()?.data_ppdus(),
    "mpdus_a_ppdu": "with aggregation: MPDUs in a PPDU with data, mean" => {
        let counted = it.aggregating()?;
        mean(counted.data_frames_sent, counted.data_ppdus())
    },
    "a_mpdu_mean_bytes": "with aggregation: length of the PPDUs with several MPDUs, mean" => {
        let counted = it.aggregating()?;
        mean(counted.a_mpdus.bytes.0, counted.a_mpdus.sent)
    },
    "block_ack_requests": "with aggregation: Block Ack Requests sent" => it.aggregating()?.block_ack_requests,
    "gaps_given_up": "with aggregation: MPDUs that its reorder buffers stopped waiting for" =>
        it.aggregating()?.gaps_given_up,
    "longest_hold_s_total": "with aggregation: longest time that an MPDU was in a reorder buffer, of the whole run" =>
        it.aggregating()?.longest_hold.as_secs_f64(),
} }

/// `sum` over `n`; NaN of none.
pub(super) fn mean(sum: u64, n: u64) -> f64 {
    if n == 0 { f64::NAN } else { sum as f64 / n as f64 }
}

/// A row of each node. Of several radios each has a row of its own behind it, `relay.air.backhaul`.
pub(super) fn nodes(world: &World, scenario: &Scenario) -> Vec<Record> {
    let mut counted = world.interfaces.iter().zip(counters(world)).peekable();
    let mut rows = Vec::new();
    for ((id, node), own) in (0..).map(NodeId).zip(&scenario.nodes).zip(&world.nodes) {
        let row = |id, radio| NodeRow { id, is_dead: own.is_dead(), radio }.record();
        let mut here = Vec::new();
        while let Some((interface, counted)) = counted.next_if(|(interface, _)| interface.node == id) {
            here.push((interface.channel, (&interface.station, counted)));
        }
        let only = if here.len() == 1 { here.pop() } else { None };
        let mut record = row(node.name.clone(), only.map(|(_, radio)| radio));
        own.router().counters(&mut |name, value| record.push((name, Cell::Count(value))));
        rows.push(record);
        rows.extend(here.into_iter().map(|(on, radio)| row(interface_id(scenario, id, on), Some(radio))));
    }
    rows
}

/// A queue, of a category of a radio or of a wire.
pub(super) struct QueueRow<'a> {
    id: String,
    /// After warm-up.
    stats: queue::Stats,
    measured: Dur,
    /// Of an EDCAF.
    category: Option<&'a CategoryCounters>,
    /// True of one whose station aggregates.
    aggregates: bool,
    /// Of a wire, after warm-up.
    sent: Option<net::WireStats>,
}

columns! { impl QueueRow<'_>, |it| {
    "id" => &*it.id,
    "offered_packets": "packets that came" => it.stats.offered,
    "departed_packets": "packets that left" => it.stats.departed,
    "dropped_packets": "packets dropped, for whatever reason" => it.stats.dropped(),
    "dropped_early_packets": "packets that an AQM dropped" => it.stats.dropped_early,
    "marked_packets": "packets marked with ECN" => it.stats.marked,
    "mean_packets": whole, "length, mean over time" => it.stats.mean_entries(it.measured),
    "max_packets_total": "the greatest length, of the whole run" => u64::from(it.stats.max_entries),
    "mean_wait_s": "mean wait of a packet" => it.stats.mean_wait().map_or(f64::NAN, Dur::as_secs_f64),
    "txops_total": "EDCA: TXOPs won, of the whole run" => it.category?.txops,
    "internal_collisions_total":
        "EDCA: collisions with a higher category of the same station, of the whole run" =>
        it.category?.internal_collisions,
    "mpdus_a_ppdu_total": "with aggregation: MPDUs in a PPDU with data, mean of the whole run" => {
        let counted = it.category.filter(|_| it.aggregates)?;
        mean(counted.data_frames_sent, counted.data_ppdus())
    },
    "sent_bytes": whole, "a wire: bytes sent" => it.sent.as_ref()?.sent_bytes.0,
    "lost_packets": whole, "a wire: packets lost on the way" => it.sent.as_ref()?.lost,
} }

pub(super) fn queues(world: &World, scenario: &Scenario) -> Vec<Record> {
    let ids = queue_ids(scenario);
    let now = SimTime::ZERO + scenario.duration;
    let measured = scenario.duration.saturating_sub(scenario.warmup);
    let mut rows = Vec::new();
    for ((air, station), then) in ids.air.iter().zip(world.stations()).zip(&world.warm.queues) {
        let categories = station.queues().zip(station.category_counters());
        for ((i, (queue, counters)), then) in categories.enumerate().zip(then) {
            let (Some(stats), Some(then)) = (queue.stats(now), then) else { continue };
            let category = station.config().edca.is_some().then_some(counters);
            let (id, aggregates) = (category_id(air, station, i), station.config().aggregation.is_some());
            let stats = stats.since(then);
            rows.push(QueueRow { id, stats, measured, category, aggregates, sent: None }.record());
        }
    }
    for ((id, wire), (queue, sent)) in ids.wires.iter().zip(&world.wires).zip(&world.warm.wires) {
        let (stats, sent) = (wire.queue().stats(now).since(queue), Some(wire.stats().since(sent)));
        let (id, category, aggregates) = (id.clone(), None, false);
        rows.push(QueueRow { id, stats, measured, category, aggregates, sent }.record());
    }
    rows
}

/// The fates of a class of frames. Rates are shares of the transmissions, repeated ones among them. A frame was spoilt by the
/// transmission that overlapped it first at its addressee: data (TCP or UDP), a pure TCP ACK, RTS or CTS, or another (SYN, FIN,
/// MAC ACK, routing, neither TCP nor UDP); the four sum to `lost_to_collision`.
pub(super) struct FrameRow<'a> {
    class: FrameClass,
    tally: &'a Tally,
}

/// The classes that spoil frames, as columns put them together.
const BY_DATA: &[FrameClass] = &[FrameClass::TcpData, FrameClass::Udp];
const BY_ACK: &[FrameClass] = &[FrameClass::TcpAck];
const BY_RTS: &[FrameClass] = &[FrameClass::Rts, FrameClass::Cts];

impl FrameRow<'_> {
    fn with(&self, classes: &[FrameClass]) -> u64 {
        classes.iter().map(|class| self.tally.collided_with[*class]).sum()
    }

    fn rate(&self, lost: u64) -> f64 {
        lost as f64 / self.tally.sent as f64
    }
}

columns! { impl FrameRow<'_>, |it| {
    "class" => it.class.name(),
    "sent": "frames sent" => it.tally.sent,
    "received": "frames received" => it.tally.received,
    "lost_to_noise": "lost to noise" => it.tally.noise,
    "lost_to_collision": "lost to another transmission" => it.tally.collision,
    "lost_to_half_duplex": "lost, since the addressee transmitted" => it.tally.half_duplex,
    "lost_to_data": "of the collisions: with data" => it.with(BY_DATA),
    "lost_to_tcp_ack": "of the collisions: with a pure TCP ACK" => it.with(BY_ACK),
    "lost_to_rts_cts": "of the collisions: with RTS or CTS" => it.with(BY_RTS),
    "lost_to_other": "of the collisions: with other frames" =>
        it.tally.collision - it.with(BY_DATA) - it.with(BY_ACK) - it.with(BY_RTS),
    "error_rate": share, "share of the frames that were lost" =>
        it.rate(it.tally.noise + it.tally.collision + it.tally.half_duplex),
    "half_duplex_rate": share, "share that was lost, since the addressee transmitted" => it.rate(it.tally.half_duplex),
    "data_collision_rate": share, "share that collided with data" => it.rate(it.with(BY_DATA)),
    "tcp_ack_collision_rate": share, "share that collided with a pure TCP ACK" => it.rate(it.with(BY_ACK)),
    "rts_cts_collision_rate": share, "share that collided with RTS or CTS" => it.rate(it.with(BY_RTS)),
    "captured": "received in spite of an overlap" => it.tally.captured,
    "airtime_s": "time on the air" => it.tally.airtime.as_secs_f64(),
} }

pub(super) fn frames(world: &World) -> Vec<Record> {
    let counted = world.frames.since(&world.warm.frames);
    let rows = counted.tallies.iter().filter(|(_, tally)| tally.sent > 0);
    rows.map(|(class, tally)| FrameRow { class, tally }.record()).collect()
}

/// The packets that a scheme holds at a node.
pub(super) struct Held(u64);

columns! { impl Held, |it| {
    "packets_held": "packets that a scheme holds at the end" => it.0,
} }

/// A row of each scheme at each node. What its agents count comes before what they hold.
pub(super) fn schemes(world: &World, scenario: &Scenario) -> Vec<Record> {
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
            Held(members.iter().map(|member| member.agent.held()).sum()).put(&mut row);
            rows.push(row);
        }
    }
    rows
}

/// All flows together, and why frames were lost.
pub(super) struct Summary<'a> {
    world: &'a World,
    flows: &'a [Record],
    goodputs: Vec<f64>,
}

impl Summary<'_> {
    pub fn new<'a>(world: &'a World, flows: &'a [Record]) -> Summary<'a> {
        let goodputs = flows.iter().filter_map(|row| Run::number(row, "goodput_bps")).collect();
        Summary { world, flows, goodputs }
    }

    fn sum(&self, column: &str) -> f64 {
        // From zero: an empty sum of floats is -0.
        self.flows.iter().filter_map(|row| Run::number(row, column)).fold(0.0, |a, b| a + b)
    }

    /// The largest less the smallest goodput.
    fn spread(&self) -> f64 {
        let max = self.goodputs.iter().copied().fold(0.0, f64::max);
        max - self.goodputs.iter().copied().fold(max, f64::min)
    }

    /// Data frames and RTS that another transmission spoilt or that found the addressee transmitting, over all exchanges
    /// begun. Between saturated stations, the conditional collision probability p of @BIA00.
    fn collision_probability(&self) -> f64 {
        let exchanges: u64 = counters(self.world).map(|c| c.exchanges).sum();
        let counted = self.world.frames.since(&self.world.warm.frames);
        let is_response =
            |class| matches!(class, FrameClass::Cts | FrameClass::Ack | FrameClass::BlockAck | FrameClass::Nack);
        let initiated = counted.tallies.iter().filter(|(class, _)| !is_response(*class));
        let lost: u64 = initiated.map(|(_, tally)| tally.collision + tally.half_duplex).sum();
        if exchanges == 0 { 0.0 } else { lost as f64 / exchanges as f64 }
    }

    /// MPDUs in a PPDU with data of all stations that aggregate; `None` without one.
    fn mpdus_a_ppdu(&self) -> Option<f64> {
        let aggregates = self.world.stations().map(|station| station.config().aggregation.is_some());
        let counted = counters(self.world).zip(aggregates).filter(|(_, aggregates)| *aggregates);
        let (mpdus, ppdus) = counted
            .map(|(of, _)| (of.data_frames_sent, of.data_ppdus()))
            .reduce(|(mpdus, ppdus), of| (mpdus + of.0, ppdus + of.1))?;
        Some(mean(mpdus, ppdus))
    }

    fn lost(&self, cause: LossCause) -> u64 {
        self.world.frames.since(&self.world.warm.frames).losses(cause)
    }
}

columns! { impl Summary<'_>, |it| {
    "goodput_bps": "of all flows together" => it.goodputs.iter().sum::<f64>(),
    "datagram_throughput_bps": "of all flows together" => it.sum("datagram_throughput_bps"),
    "jain": index, "Jain's index of the flows' goodput" => jain(&it.goodputs),
    "goodput_spread_bps": "largest less smallest goodput of a flow" => it.spread(),
    "retransmissions": "of all flows together" => it.sum("retransmissions"),
    "timeouts": "of all flows together" => it.sum("timeouts"),
    "collision_probability":
        "data frames and RTS lost to another transmission, over exchanges begun" => it.collision_probability(),
    "mpdus_a_ppdu": "with aggregation: MPDUs in a PPDU with data, mean" => it.mpdus_a_ppdu()?,
    "lost_to_noise": "frames lost to noise" => it.lost(LossCause::Noise),
    "lost_data_ack": "data lost to a TCP ACK" => it.lost(LossCause::DataAck),
    "lost_ack_data": "TCP ACKs lost to data" => it.lost(LossCause::AckData),
    "lost_data_data": "data lost to data" => it.lost(LossCause::DataData),
    "lost_ack_ack": "TCP ACKs lost to TCP ACKs" => it.lost(LossCause::AckAck),
    "lost_rts": "frames lost to RTS or CTS, and these" => it.lost(LossCause::Rts),
    "lost_other": "frames lost in all other collisions" => it.lost(LossCause::Other),
    "lost_to_half_duplex": "frames lost, since the addressee transmitted" => it.lost(LossCause::HalfDuplex),
} }

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // In a test a panic is the report.
    use super::*;
    use crate::frames::PerClass;

    #[test]
    fn a_class_of_frames_says_what_spoilt_it_in_shares_of_what_was_sent() {
        // Of 200: 10 lost to noise, 20 to an addressee that transmitted, and to tcp-data, tcp-ack, tcp-control, udp, routing, other, rts, cts,
        // ack:
        let with = [16, 8, 1, 4, 3, 2, 6, 3, 5, 0, 0, 0, 0];
        let collided_with = PerClass::from_fn(|class| with[class as usize]);
        let tally =
            Tally { sent: 200, noise: 10, half_duplex: 20, collision: 48, collided_with, ..Default::default() };
        let record = FrameRow { class: FrameClass::TcpAck, tally: &tally }.record();
        let found = |name| Run::number(&record, name).unwrap();
        let counts = ["lost_to_data", "lost_to_tcp_ack", "lost_to_rts_cts", "lost_to_other"].map(found);
        assert_eq!(counts, [20.0, 8.0, 9.0, 11.0]);
        assert_eq!(counts.iter().sum::<f64>(), found("lost_to_collision"));
        let rates = ["error_rate", "half_duplex_rate", "data_collision_rate", "tcp_ack_collision_rate"].map(found);
        assert_eq!(rates, [0.39, 0.1, 0.1, 0.04]);
        assert_eq!(found("rts_cts_collision_rate"), 0.045);
    }
}
