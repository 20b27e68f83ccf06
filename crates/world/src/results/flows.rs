//! The columns of a flow.

use crate::ack_gaps::AckGaps;
use crate::flow::{Delivered, Flow, Stated, Transport};
use crate::latency::Latency;
use crate::record::{Columns, Metric, Record, mean_s};
use crate::scenario::Scenario;
use crate::users::User;
use tcp::{Connection, Counters, WindowTime};
use units::{Bytes, Dur, NodeId, SimTime};

/// The metrics of flows, in the order of their columns.
pub(super) const METRICS: &[&[Metric]] = &[
    Forward::METRICS,
    Latency::METRICS,
    Backward::METRICS,
    Datagrams::METRICS,
    User::METRICS,
    Senders::METRICS,
    AckGaps::METRICS,
];

/// The row of each flow that the scenario has.
pub(super) fn rows(flows: &[Flow], scenario: &Scenario) -> Vec<Record> {
    let starts = scenario.flows.iter().map(|flow| flow.start);
    let row = |(flow, start)| Some(row(&Forward { flow, stated: Flow::stated(flow)?, scenario }, start));
    flows.iter().zip(starts).filter_map(row).collect()
}

fn row(forward: &Forward, start: Dur) -> Record {
    let Forward { flow, stated, scenario } = forward;
    let mut row = forward.record();
    stated.latency.put(&mut row);
    match &flow.transport {
        Transport::Udp { sent } => Datagrams(*sent).put(&mut row),
        Transport::User(user) => {
            Backward(forward).put(&mut row);
            user.put(&mut row);
            let [now, then] = user.servers();
            Senders { now, then, one: None }.put(&mut row);
        }
        Transport::Tcp(ends) => {
            Backward(forward).put(&mut row);
            let end = SimTime::ZERO + scenario.duration;
            let windows = ends[0].window_time(end).since(&stated.warm_windows);
            let one = One { flow, stated, ends, windows, end, start };
            Senders { now: *ends[0].counters(), then: stated.warm_counters[0], one: Some(one) }.put(&mut row);
            stated.ack_gaps.iter().for_each(|gaps| gaps.put(&mut row));
        }
        Transport::Outside | Transport::Closed => {}
    }
    row
}

/// A flow, and what its second end got.
struct Forward<'a> {
    flow: &'a Flow,
    stated: &'a Stated,
    scenario: &'a Scenario,
}

impl Forward<'_> {
    fn name(&self, end: usize) -> &str {
        let node: NodeId = self.flow.ends[end];
        &self.scenario.nodes[node.index()].name
    }

    /// The deliveries at an end after warm-up.
    fn delivered(&self, end: usize) -> Delivered {
        let (now, then) = (&self.stated.delivered[end], &self.stated.warm[end]);
        Delivered {
            payload: now.payload - then.payload,
            datagram: now.datagram - then.datagram,
            packets: now.packets - then.packets,
        }
    }

    /// Bits per second after warm-up.
    fn rate(&self, bytes: u64) -> f64 {
        (Bytes(bytes) / self.scenario.duration.saturating_sub(self.scenario.warmup)).bps() as f64
    }
}

columns! { impl Forward<'_>, |it| {
    "id" => &*it.stated.name,
    "from" => it.name(0),
    "to" => it.name(1),
    "protocol" => if matches!(it.flow.transport, Transport::Udp { .. }) { "udp" } else { "tcp" },
    "goodput_bps": "payload delivered at `to`" => it.rate(it.delivered(1).payload),
    "datagram_throughput_bps": "the same with TCP or UDP and IP headers" => it.rate(it.delivered(1).datagram),
    "delivered_bytes": whole, "payload delivered at `to`" => it.delivered(1).payload,
    "delivered_packets": whole, "packets delivered at `to`" => it.delivered(1).packets,
    "delivered_bytes_total": "payload delivered, of the whole run" => it.stated.delivered[1].payload,
    "finish_time_s": "when the last byte of a flow with an end was delivered" =>
        it.stated.finished.map_or(f64::NAN, |at| at.as_secs_f64()),
} }

/// A flow with two ends that get something: what the first got.
struct Backward<'a>(&'a Forward<'a>);

columns! { impl Backward<'_>, |it| {
    "reverse_goodput_bps": "payload delivered at `from`" => it.0.rate(it.0.delivered(0).payload),
    "reverse_delivered_bytes_total": "payload delivered at `from`, of the whole run" =>
        it.0.stated.delivered[0].payload,
} }

/// Datagrams sent.
struct Datagrams(u64);

columns! { impl Datagrams, |it| {
    "datagrams_sent_total": "UDP: datagrams sent, of the whole run" => it.0,
} }

/// TCP: what the senders of data counted together, and at the end of warm-up.
struct Senders<'a> {
    now: Counters,
    then: Counters,
    /// If the flow is one connection.
    one: Option<One<'a>>,
}

/// A connection.
struct One<'a> {
    flow: &'a Flow,
    stated: &'a Stated,
    ends: &'a [Connection; 2],
    /// Of the sender, after warm-up.
    windows: WindowTime,
    end: SimTime,
    /// The beginning of the flow.
    start: Dur,
}

impl Senders<'_> {
    /// A counter of all senders, after warm-up.
    fn all(&self, read: fn(&Counters) -> u64) -> u64 {
        read(&self.now) - read(&self.then)
    }

    /// A counter of the sender, after warm-up.
    fn sender(&self, read: fn(&Counters) -> u64) -> Option<u64> {
        self.one.as_ref().map(|_| self.all(read))
    }

    /// A counter of the receiver, after warm-up.
    fn receiver(&self, read: fn(&Counters) -> u64) -> Option<u64> {
        let one = self.one.as_ref()?;
        Some(read(&one.ends[1].counters()) - read(&one.stated.warm_counters[1]))
    }

    /// Mean of what a sum counts, over its number, after warm-up.
    fn mean(&self, sum: fn(&Counters) -> Dur, n: fn(&Counters) -> u64) -> f64 {
        mean_s(sum(&self.now) - sum(&self.then), self.all(n))
    }
}

impl One<'_> {
    /// From the start of the flow to the first or second loss, or to the end of the run.
    fn until_loss(&self, nth: usize) -> f64 {
        let at = self.ends[0].counters().losses_found[nth].unwrap_or(self.end);
        (at - SimTime::ZERO).saturating_sub(self.start).as_secs_f64()
    }

    /// Means over time of the congestion window, and of the smaller of it and the receiver's.
    fn windows(&self) -> (f64, f64) {
        self.windows.means().unwrap_or((f64::NAN, f64::NAN))
    }
}

columns! { impl Senders<'_>, |it| {
    "segments_sent": "TCP: data segments sent, retransmissions included" => it.all(|c| c.data_segments_sent),
    "retransmissions": "TCP: segments sent again" => it.all(|c| c.retransmissions),
    "retransmissions_total": "TCP: the same, of the whole run" => it.now.retransmissions,
    "timeouts": "TCP: expiries of the retransmission timer" => it.all(|c| c.timeouts),
    "timeout_sequences": "TCP: timeouts that did not follow another one" => it.sender(|c| c.timeout_sequences)?,
    "first_rto_mean_s": "TCP: RTO of the first timeout of each sequence" =>
        it.one.as_ref().map(|_| it.mean(|c| c.first_rto_sum, |c| c.timeout_sequences))?,
    "fast_retransmits": "TCP: losses found without a timeout" => it.all(|c| c.fast_retransmits),
    "spurious_losses": "TCP: losses that were none; their cuts were undone" => it.sender(|c| c.spurious_losses)?,
    "dup_acks_received": "TCP: duplicate ACKs at the sender" => it.sender(|c| c.dup_acks_received)?,
    "ecn_marks_received": "TCP: data segments received with a congestion mark" =>
        it.receiver(|c| c.ecn_marks_received)?,
    "ecn_cuts": "TCP: window cuts that answered a mark" => it.sender(|c| c.ecn_cuts)?,
    "zero_window_probes": "TCP: probes of a closed window" => it.sender(|c| c.zero_window_probes)?,
    "acks_sent": "TCP: pure ACKs of the receiver" => it.receiver(|c| c.acks_sent)?,
    "out_of_order_segments": "TCP: segments received out of order" => it.receiver(|c| c.out_of_order_segments)?,
    "duplicate_segments": "TCP: segments received again" => it.receiver(|c| c.duplicate_segments)?,
    "rtt_samples": "TCP: measured round trips" => it.all(|c| c.rtt_samples),
    "rtt_mean_s": "TCP: their mean" => it.mean(|c| c.rtt_sum, |c| c.rtt_samples),
    "cwnd_mean_bytes": "TCP: congestion window, mean over time" => it.one.as_ref()?.windows().0,
    "window_mean_bytes": "TCP: the smaller of the congestion and the receiver's window, mean over time" =>
        it.one.as_ref()?.windows().1,
    "cwnd_per_srtt_bps": "TCP: congestion window over smoothed RTT, mean over time" =>
        it.one.as_ref()?.windows.rate_bps().unwrap_or(f64::NAN),
    "acked_bytes_total": "TCP: bytes acknowledged to the sender, of the whole run" =>
        it.one.as_ref()?.ends[0].acknowledged(),
    "acked_undelivered_bytes": "TCP: bytes acknowledged and not delivered" =>
        it.one.as_ref()?.flow.acked_undelivered(0),
    "reverse_acked_undelivered_bytes": "TCP: the same of the other direction" =>
        it.one.as_ref()?.flow.acked_undelivered(1),
    "state" => format!("{:?}", it.one.as_ref()?.ends[0].state()),
    "failed": share, "TCP: 1 if the connection failed" => it.one.as_ref()?.flow.has_failed,
    "until_first_loss_s": "TCP: from the start to the first loss found" => it.one.as_ref()?.until_loss(0),
    "until_second_loss_s": "TCP: from the start to the second loss found" => it.one.as_ref()?.until_loss(1),
} }
