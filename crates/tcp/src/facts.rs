//! Facts about a flow, for others to read.

use crate::RateSample;
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Seq};

/// The effect of a payload on the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// Came next, with nothing missing.
    InOrder,
    /// Came next and closed (part of) a gap.
    FilledGap,
    /// Lies beyond a gap.
    OutOfOrder,
    /// Brought nothing.
    Duplicate,
}

/// One acknowledgment, as controllers and hooks see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The time it came.
    pub now: SimTime,
    /// The next number the receiver waits for.
    pub number: Seq,
    /// Payload it newly acknowledges; zero for a duplicate.
    pub acked: Bytes,
    /// The part of it that growth counts: [`Ack::acked`], or with [`crate::Config::count_delivered`] the bytes it newly
    /// delivered.
    pub counted: Bytes,
    /// Bytes in flight before it.
    pub prior_flight: Bytes,
    /// The RTT it measured, if it did. At most one per window without timestamps, unless the sender keeps records of segments
    /// (SACK recovery, or the controller asks for it): then of the youngest that it acknowledges and that was sent once.
    pub rtt: Option<Dur>,
    /// True if it is a duplicate in the sense of @RFC5681 sec. 2.
    pub duplicate: bool,
    /// True if it was made at this node ([`crate::SenderCommand::LocalAck`]) and never seen on the wire.
    pub local: bool,
    /// The header's control bits.
    pub flags: Flags,
    /// Bytes that its SACK blocks newly report, if the sender keeps a scoreboard. @RFC2018
    pub sacked: Bytes,
    /// Bytes that it made the sender take for lost, by the scoreboard. Zero for a hook, which is asked before.
    pub lost: Bytes,
    /// The delivery rate it tells, if the controller asks for it or recovery is by SACK.
    pub rate: Option<RateSample>,
    /// Its timestamps, TSval and TSecr, if both ends use them. @RFC7323
    pub timestamps: Option<(u32, u32)>,
}

impl Ack {
    /// The next number to send: segments that leave from now on are acknowledged beyond it. A round trip lasts until an
    /// ACK reaches the value that this had at its beginning.
    pub fn next(&self) -> Seq {
        self.number + self.prior_flight.saturating_sub(self.acked).0 as u32
    }
}

/// A snapshot of one end of a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowFacts {
    /// Oldest number not acknowledged.
    pub snd_una: Seq,
    /// Next number to send; behind [`FlowFacts::snd_max`] while a timeout's go-back-N lasts.
    pub snd_nxt: Seq,
    /// One past the highest number ever sent.
    pub snd_max: Seq,
    /// Next number expected from the peer.
    pub rcv_nxt: Seq,
    /// Congestion window, without the inflation of fast recovery.
    pub cwnd: Bytes,
    /// Slow-start threshold; `u64::MAX` while unlimited.
    pub ssthresh: Bytes,
    /// `snd_nxt - snd_una`: bytes in flight. @RFC5681 sec. 2
    pub flight_size: Bytes,
    /// Bytes that duplicate ACKs add to the window during fast recovery (and limited transmit before it).
    pub inflation: Bytes,
    /// Payload of a full segment to the peer, options deducted.
    pub mss: Bytes,
    /// The peer's window, counted from `snd_una`.
    pub snd_wnd: Bytes,
    /// The window this end last offered, less what came since.
    pub rcv_wnd: Bytes,
    /// Smoothed RTT; `None` before the first sample.
    pub srtt: Option<Dur>,
    /// RTT variation; zero before the first sample.
    pub rttvar: Dur,
    /// Retransmission timeout, backoff included.
    pub rto: Dur,
    /// Duplicate ACKs in a row.
    pub dup_acks: u32,
    /// True while fast recovery lasts.
    pub in_recovery: bool,
    /// True while [`crate::SenderCommand::Freeze`] holds.
    pub frozen: bool,
    /// Bytes the application has written that were never sent.
    pub unsent: Bytes,
}

/// The counters of one end since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// All segments sent.
    pub segments_sent: u64,
    /// Segments sent with payload, retransmissions included.
    pub data_segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Segments that began with a number sent before, SYN and FIN included.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Those of them that followed progress, and not another expiry: sequences of timeouts. @PFTK00 sec. II-B
    pub timeout_sequences: u64,
    /// The RTO that ran out at the first timeout of each sequence, summed. Over their number, the T0 of @PFTK00.
    pub first_rto_sum: Dur,
    /// Losses found by duplicate ACKs.
    pub fast_retransmits: u64,
    /// Tail loss probes sent. @RFC8985 sec. 7
    pub tail_loss_probes: u64,
    /// Losses that were none: their cuts were undone. @RFC4015
    pub spurious_losses: u64,
    /// The times when losses of data were found for the first two times: by duplicate ACKs, or the first timeout of a
    /// sequence.
    pub losses_found: [Option<SimTime>; 2],
    /// Data segments received in the window with a congestion mark, if ECN was agreed on. @RFC3168 sec. 6.1.3
    pub ecn_marks_received: u64,
    /// Window cuts that answered an echoed mark. @RFC3168 sec. 6.1.2
    pub ecn_cuts: u64,
    /// Window cuts because the own host's queue refused a segment.
    pub local_cuts: u64,
    /// Duplicate ACKs received. @RFC5681 sec. 2
    pub dup_acks_received: u64,
    /// Pure ACKs sent.
    pub acks_sent: u64,
    /// Pure ACKs received, duplicates included.
    pub pure_acks_received: u64,
    /// Pure ACKs sent only because the application had read.
    pub window_updates_sent: u64,
    /// Probes of a closed window sent. @RFC9293 sec. 3.8.6.1
    pub zero_window_probes: u64,
    /// Data segments received beyond a gap.
    pub out_of_order_segments: u64,
    /// Data segments received that brought nothing new.
    pub duplicate_segments: u64,
    /// Segments received and dropped unprocessed: outside the window, failed PAWS, no ACK bit.
    pub segments_discarded: u64,
    /// RTT samples taken.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Dur,
    /// The smallest; zero if there is none.
    pub rtt_min: Dur,
    /// The largest.
    pub rtt_max: Dur,
    /// Payload bytes received in order.
    pub delivered_bytes: u64,
    /// Data segments received that brought something new.
    pub delivered_segments: u64,
}

/// The windows of one end, integrated over the time in which it may send data.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WindowTime {
    /// That time.
    pub time: Dur,
    /// Congestion window, in byte·ns.
    pub cwnd: f64,
    /// The lesser of congestion window and the peer's window, in byte·ns.
    pub usable: f64,
    /// Congestion window over smoothed RTT, the rate that the window allows, in bytes; nothing before the first sample.
    pub rate: f64,
}

impl WindowTime {
    /// For `dur` these were the congestion window, the peer's, and the smoothed RTT.
    pub(crate) fn stay(&mut self, dur: Dur, cwnd: Bytes, peers: Bytes, srtt: Option<Dur>) {
        self.time += dur;
        let ns = dur.ns() as f64;
        self.cwnd += ns * cwnd.0 as f64;
        self.usable += ns * cwnd.min(peers).0 as f64;
        if let Some(srtt) = srtt {
            self.rate += ns * cwnd.0 as f64 / srtt.ns().max(1) as f64;
        }
    }

    /// Returns the sums after `then`.
    #[must_use]
    pub fn since(&self, then: &WindowTime) -> WindowTime {
        WindowTime {
            time: self.time - then.time,
            cwnd: self.cwnd - then.cwnd,
            usable: self.usable - then.usable,
            rate: self.rate - then.rate,
        }
    }

    /// Mean congestion window and mean usable window, in bytes; `None` of no time.
    pub fn means(&self) -> Option<(f64, f64)> {
        let ns = self.time.ns() as f64;
        (ns > 0.0).then(|| (self.cwnd / ns, self.usable / ns))
    }

    /// Mean of congestion window over smoothed RTT, in bits per second; `None` of no time.
    pub fn rate_bps(&self) -> Option<f64> {
        let ns = self.time.ns() as f64;
        (ns > 0.0).then(|| self.rate / ns * 8e9)
    }
}

impl Counters {
    /// A segment has left with so much payload.
    pub(crate) fn sent(&mut self, payload: u32) {
        self.segments_sent += 1;
        self.data_segments_sent += u64::from(payload > 0);
        self.bytes_sent += u64::from(payload);
    }

    /// Takes back a segment that was not sent after all; `again` if it would have been a retransmission.
    pub(crate) fn refused(&mut self, payload: u32, again: bool) {
        self.segments_sent -= 1;
        self.data_segments_sent -= u64::from(payload > 0);
        self.bytes_sent -= u64::from(payload);
        self.retransmissions -= u64::from(again);
    }

    /// A pure ACK has left; `updates_window`: only because the application had read.
    pub(crate) fn ack_sent(&mut self, updates_window: bool) {
        self.segments_sent += 1;
        self.acks_sent += 1;
        self.window_updates_sent += u64::from(updates_window);
    }

    /// Counts a data segment that has come within the window, beyond a gap or not, and the bytes that it has put in
    /// order.
    pub(crate) fn received(&mut self, arrived: Arrived, in_order: u32) {
        match arrived {
            Arrived::Duplicate => self.duplicate_segments += 1,
            Arrived::InOrder | Arrived::FilledGap => self.delivered_segments += 1,
            Arrived::OutOfOrder => {
                self.delivered_segments += 1;
                self.out_of_order_segments += 1;
            }
        }
        self.delivered_bytes += u64::from(in_order);
    }

    pub(crate) fn loss_found(&mut self, now: SimTime) {
        if let Some(free) = self.losses_found.iter_mut().find(|at| at.is_none()) {
            *free = Some(now);
        }
    }

    pub(crate) fn rtt(&mut self, sample: Dur) {
        self.rtt_min = if self.rtt_samples == 0 { sample } else { self.rtt_min.min(sample) };
        self.rtt_max = self.rtt_max.max(sample);
        self.rtt_sum += sample;
        self.rtt_samples += 1;
    }
}
