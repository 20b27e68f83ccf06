//! BBR version 1: a model of the path, its bandwidth and its least RTT, instead of losses.
//!
//! - **Source** @CARDWELL17: draft-cardwell-iccrg-bbr-congestion-control-00; @CARDWELL16 (ACM Queue 14(5)). Rate samples:
//!   @DRAFT-DRE. The ACK-aggregation term and the margin of the pacing rate are Linux's (tcp_bbr.c since 5.0).
//! - **Sits** sender. **Reads** rate samples, RTT, flight size, losses. **Turns** cwnd, pacing rate.
//! - **Departs** (a) a controller has no random numbers: the first phase of the gain cycle is drawn from the number and the
//!   time of the ACK that begins it, and so from the seed by way of the initial sequence number; (b) the send quantum is what
//!   Linux takes below 12 Mb/s with its segments of one MSS: one segment below 1.2 Mb/s, else two, or a millisecond's worth; segments
//!   leave one by one; (c) no long-term bandwidth of a policer (Linux, not in the draft); (d) a mark of ECN changes nothing, as in
//!   Linux; (e) delayed ACKs are not told apart when the least RTT has expired; (f) in flight is what is in flight now, not at the
//!   departure of the next segment.
//! - **Checked** `bbr/tests.rs`; `tests/all/scripts/bbr.rs`; `every_cc`; `validation/linux`.

mod estimates;

use super::{Congestion, CongestionControl, Info, Params, Probe, Window};
use crate::{Ack, RateSample};
use estimates::{Aggregation, Greatest, seconds};
use plugin::{Kind, Param, Value};
use units::{BitRate, Bytes, Dur, SimTime};
use wire::Seq;

/// Its declaration.
pub const INFO: Info = Info {
    id: "bbr",
    summary: "paces at the measured bandwidth and keeps two bandwidth-delay products in flight",
    source: "CARDWELL17",
    params: &[
        Param {
            key: "ack_aggregation",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "The window makes room for ACKs that come in bursts, as Linux since 5.0.",
        },
        Param {
            key: "first_phase",
            kind: Kind::Int { min: -1, max: 7 },
            default: Value::Int(-1),
            doc: "Where the gain cycle begins: 0 probes, 2 to 7 cruise; -1 draws one, but never 1, which drains.",
        },
        Param {
            key: "margin",
            kind: Kind::Float { min: 0.0, max: 0.5 },
            default: Value::Float(0.01),
            doc: "By how much the pacing rate is below the estimate; the draft has 0.",
        },
    ],
};

/// BBRHighGain, 2 / ln 2: the least that doubles the rate in a round. Sec. 3.5
const HIGH_GAIN: f64 = 2.885;
/// The cwnd gain of ProbeBW. Sec. 4.2.3.2
const CWND_GAIN: f64 = 2.0;
/// Pacing gains of ProbeBW. Sec. 4.3.4.2
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// RTpropFilterLen. Sec. 4.1.2.2
const RTT_LASTS: Dur = Dur::from_secs(10);
/// ProbeRTTDuration. Sec. 4.3.5
const PROBE_RTT: Dur = Dur::from_ms(200);
/// BBRMinPipeCwnd, in segments. Sec. 4.2.3.5
const LEAST_WINDOW: u64 = 4;
/// Growth of the bandwidth that says that the pipe was not full, and rounds without. Sec. 4.3.2.2
const FULL: (f64, u32) = (1.25, 3);
/// Below this pacing rate the send quantum is one segment. Sec. 4.2.2
const SLOW: BitRate = BitRate::from_kbps(1200);

/// The state of BBR. Sec. 4.3
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The controller. Rates are in bytes per second. BBR.* of the draft
#[derive(Debug)]
pub struct Bbr {
    margin: f64,
    first_phase: Option<usize>,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// BBR.pacing_rate; none before the first segment.
    pacing: Option<f64>,
    /// True once an RTT went into it.
    timed: bool,
    /// BtlBw.
    bandwidth: Greatest,
    /// RTprop; none before the first RTT.
    rtt: Option<Dur>,
    rtt_at: SimTime,
    /// C.delivered, as the last sample tells it.
    delivered: u64,
    round: u64,
    next_round: u64,
    round_starts: bool,
    filled_pipe: bool,
    full_bandwidth: f64,
    full_count: u32,
    phase: usize,
    phase_since: SimTime,
    /// The time when ProbeRTT may end, and whether a round of it is over.
    probe_done: Option<SimTime>,
    probe_round: bool,
    /// The cwnd before a recovery or ProbeRTT.
    prior_cwnd: Bytes,
    /// The first round of fast recovery: what arrives leaves.
    conserves: bool,
    /// After a timeout.
    timeout: bool,
    idle_restart: bool,
    /// The last ACK left nothing in flight.
    quiet: bool,
    aggregation: Aggregation,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(Bbr::made(params))
}

impl Bbr {
    fn made(params: &Params) -> Bbr {
        Bbr {
            margin: params.float("margin"),
            first_phase: usize::try_from(params.int("first_phase")).ok(),
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing: None,
            timed: false,
            bandwidth: Greatest::default(),
            rtt: None,
            rtt_at: SimTime::ZERO,
            delivered: 0,
            round: 0,
            next_round: 0,
            round_starts: false,
            filled_pipe: false,
            full_bandwidth: 0.0,
            full_count: 0,
            phase: 0,
            phase_since: SimTime::ZERO,
            probe_done: None,
            probe_round: false,
            prior_cwnd: Bytes::ZERO,
            conserves: false,
            timeout: false,
            idle_restart: false,
            quiet: true,
            aggregation: Aggregation::new(params.bool("ack_aggregation")),
        }
    }
}

impl Bbr {
    /// The least window, `BBRMinPipeCwnd`.
    fn least(win: &Window) -> Bytes {
        win.mss() * LEAST_WINDOW
    }

    /// The bytes to keep in flight at this gain, with `extra` bytes beyond: whole segments, an even number of them, and
    /// three quanta for hosts that send and acknowledge in bursts. Sec. 4.2.3.2, BBRInflight; Linux,
    /// bbr_quantization_budget
    fn inflight(&self, gain: f64, extra: f64, win: &Window) -> Bytes {
        let Some(rtt) = self.rtt else { return win.initial() };
        let mss = win.mss().0;
        let bytes = gain * self.bandwidth.get() * seconds(rtt) + extra;
        let rate = self.pacing.unwrap_or(0.0);
        let least = if rate * 8.0 < SLOW.bps() as f64 { 1 } else { 2 };
        let quantum = ((rate / 1024.0) as u64 / mss).clamp(least, 127); // Linux: 2^-10 s at the pacing rate
        let segments = (bytes / mss as f64).ceil() as u64 + 3 * quantum;
        let segments = segments.next_multiple_of(2) + if self.mode == Mode::ProbeBw && self.phase == 0 { 2 } else { 0 };
        win.mss() * segments
    }

    /// Sec. 4.1.1.3 and 4.1.1.5, BBRUpdateRound, BBRUpdateBtlBw
    fn update_bandwidth(&mut self, sample: &RateSample) {
        if sample.prior_delivered.0 >= self.next_round {
            self.next_round = self.delivered;
            self.round += 1;
            (self.round_starts, self.conserves) = (true, false);
        }
        if sample.interval > Dur::ZERO {
            let rate = sample.delivered.0 as f64 / seconds(sample.interval);
            if !sample.app_limited || rate >= self.bandwidth.get() {
                self.bandwidth.update(self.round, rate);
            }
        }
    }

    /// Sec. 4.3.2.2, BBRCheckFullPipe
    fn check_full_pipe(&mut self, app_limited: bool) {
        if self.filled_pipe || !self.round_starts || app_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_bandwidth * FULL.0 {
            (self.full_bandwidth, self.full_count) = (bandwidth, 0);
            return;
        }
        self.full_count += 1;
        self.filled_pipe = self.full_count >= FULL.1;
    }

    /// Sec. 4.3.3
    fn check_drain(&mut self, ack: &Ack, win: &Window) {
        if self.mode == Mode::Startup && self.filled_pipe {
            (self.mode, self.pacing_gain, self.cwnd_gain) = (Mode::Drain, 1.0 / HIGH_GAIN, HIGH_GAIN);
        }
        if self.mode == Mode::Drain && win.flight_size() <= self.inflight(1.0, 0.0, win) {
            self.enter_probe_bandwidth(ack.now, ack.number);
        }
    }

    /// Sec. 4.3.4.3, BBREnterProbeBW: any phase but the one that drains.
    fn enter_probe_bandwidth(&mut self, now: SimTime, number: Seq) {
        // A step of SplitMix64 (Steele et al. 2014) spreads the bits of the number and the time.
        let drawn = || {
            let mut bits = (u64::from(number.0) << 32 ^ now.ns()).wrapping_add(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            match ((bits ^ bits >> 31) % 7) as usize {
                0 => 0,
                other => other + 1,
            }
        };
        (self.mode, self.cwnd_gain) = (Mode::ProbeBw, CWND_GAIN);
        self.phase = self.first_phase.unwrap_or_else(drawn);
        (self.pacing_gain, self.phase_since) = (CYCLE[self.phase], now);
    }

    /// Sec. 4.3.4.3, BBRCheckCyclePhase. `before` was in flight before the ACK.
    fn cycle(&mut self, ack: &Ack, before: Bytes, win: &Window) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let full_length = self.rtt.is_none_or(|rtt| ack.now.since(self.phase_since) > rtt);
        let over = match self.phase {
            0 => full_length && (ack.lost > Bytes::ZERO || before >= self.inflight(CYCLE[0], 0.0, win)),
            1 => full_length || before <= self.inflight(1.0, 0.0, win),
            _ => full_length,
        };
        if over {
            self.phase = (self.phase + 1) % CYCLE.len();
            (self.pacing_gain, self.phase_since) = (CYCLE[self.phase], ack.now);
        }
    }

    /// RTprop, and ProbeRTT when it is too old. Sec. 4.1.2.3, 4.3.5
    fn check_probe_rtt(&mut self, ack: &Ack, win: &mut Window) {
        let expired = self.rtt.is_some() && ack.now > self.rtt_at + RTT_LASTS;
        if let Some(rtt) = ack.rtt.filter(|rtt| expired || self.rtt.is_none_or(|least| *rtt <= least)) {
            (self.rtt, self.rtt_at) = (Some(rtt), ack.now);
        }
        if expired && self.mode != Mode::ProbeRtt && !self.idle_restart {
            self.save_cwnd(win);
            (self.mode, self.pacing_gain, self.cwnd_gain) = (Mode::ProbeRtt, 1.0, 1.0);
            self.probe_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            win.mark_app_limited();
            match self.probe_done {
                None if win.flight_size() <= Bbr::least(win) => {
                    self.probe_done = Some(ack.now + PROBE_RTT);
                    (self.probe_round, self.next_round) = (false, self.delivered);
                }
                None => {}
                Some(done) => {
                    self.probe_round |= self.round_starts;
                    if self.probe_round && ack.now > done {
                        self.end_probe_rtt(ack.now, ack.number, win);
                    }
                }
            }
        }
        self.idle_restart = false;
    }

    /// Sec. 4.3.5, BBRExitProbeRTT
    fn end_probe_rtt(&mut self, now: SimTime, number: Seq, win: &mut Window) {
        self.rtt_at = now;
        win.cwnd = win.cwnd.max(self.prior_cwnd);
        if self.filled_pipe {
            self.enter_probe_bandwidth(now, number);
        } else {
            (self.mode, self.pacing_gain, self.cwnd_gain) = (Mode::Startup, HIGH_GAIN, HIGH_GAIN);
        }
    }

    /// Sec. 4.2.3.4, BBRSaveCwnd
    fn save_cwnd(&mut self, win: &Window) {
        let lasts = win.in_recovery() || self.timeout || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if lasts { self.prior_cwnd.max(win.cwnd) } else { win.cwnd };
    }

    /// Before anything is measured a window per RTT, or per millisecond. Sec. 4.2.1, BBRInitPacingRate
    fn begin_pacing(&mut self, win: &Window) {
        let rtt = win.handshake_rtt().or(self.rtt);
        self.timed = rtt.is_some();
        self.rtt = self.rtt.or(win.handshake_rtt());
        let rate = win.cwnd.0 as f64 / seconds(rtt.unwrap_or(Dur::from_ms(1)));
        self.pacing = Some(HIGH_GAIN * rate * (1.0 - self.margin));
    }

    /// Sec. 4.2.1, BBRSetPacingRateWithGain
    fn set_pacing(&mut self, gain: f64, win: &Window) {
        if self.pacing.is_none() || !self.timed && self.rtt.is_some() {
            self.begin_pacing(win);
        }
        let rate = gain * self.bandwidth.get() * (1.0 - self.margin);
        if rate > 0.0 && (self.filled_pipe || self.pacing.is_none_or(|now| rate > now)) {
            self.pacing = Some(rate);
        }
    }

    /// Sec. 4.2.3.6, BBRSetCwnd
    fn set_cwnd(&mut self, ack: &Ack, delivered: u64, win: &mut Window) {
        if delivered > 0 {
            win.cwnd = win.cwnd.saturating_sub(ack.lost).max(win.mss());
            if self.conserves {
                win.cwnd = win.cwnd.max(win.flight_size() + Bytes(delivered));
            } else {
                let extra = if self.filled_pipe { self.aggregation.room(self.bandwidth.get()) } else { 0.0 };
                let target = self.inflight(self.cwnd_gain, extra, win);
                let more = win.cwnd + Bytes(delivered);
                if self.filled_pipe {
                    win.cwnd = more.min(target);
                } else if win.cwnd < target || self.delivered < win.initial().0 {
                    win.cwnd = more;
                }
                win.cwnd = win.cwnd.max(Bbr::least(win));
            }
        }
        if self.mode == Mode::ProbeRtt {
            win.cwnd = win.cwnd.min(Bbr::least(win));
        }
    }

    /// Whatever an ACK tells. Sec. 4.1, 4.2, BBRUpdateOnACK
    fn update(&mut self, ack: &Ack, win: &mut Window) {
        if core::mem::take(&mut self.timeout) {
            // What the timeout made doubtful is acknowledged, or not yet.
            self.timeout = win.after_timeout_lasts();
            if !self.timeout {
                win.cwnd = win.cwnd.max(self.prior_cwnd);
            }
        }
        self.round_starts = false;
        let before = self.delivered;
        if let Some(sample) = &ack.rate {
            self.delivered = self.delivered.max((sample.prior_delivered + sample.delivered).0);
            self.update_bandwidth(sample);
        }
        let delivered = self.delivered - before;
        if let Some(sample) = &ack.rate {
            self.aggregation.update(ack.now, delivered, self.bandwidth.get(), self.round_starts, win.cwnd);
            let in_flight = win.flight_size() + Bytes(delivered) + ack.lost;
            self.cycle(ack, in_flight, win);
            self.check_full_pipe(sample.app_limited);
        }
        self.check_drain(ack, win);
        self.check_probe_rtt(ack, win);
        self.set_pacing(self.pacing_gain, win);
        self.set_cwnd(ack, delivered, win);
        self.quiet = win.flight_size() == Bytes::ZERO;
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        self.update(ack, win);
    }

    fn on_dup_ack(&mut self, ack: &Ack, win: &mut Window) {
        self.update(ack, win);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        match why {
            Congestion::EcnMark => {}
            // Sec. 4.2.3.4: what is in flight, and what arrives from here on; a round later slow start to the target.
            Congestion::FastRetransmit => {
                self.save_cwnd(win);
                (self.conserves, self.next_round) = (true, self.delivered);
                win.cwnd = (win.pipe() + win.mss()).max(win.mss());
            }
            Congestion::Rto { repeated } => {
                if !repeated {
                    self.save_cwnd(win);
                }
                (self.timeout, self.conserves) = (true, false);
                (self.full_bandwidth, self.round_starts) = (0.0, true); // Linux, bbr_set_state
                win.cwnd = win.mss();
            }
        }
    }

    fn on_sent(&mut self, now: SimTime, _bytes: Bytes, win: &mut Window) {
        if self.pacing.is_none() {
            self.rtt_at = now;
            self.begin_pacing(win);
        }
        // Sec. 4.3.4.4, BBRHandleRestartFromIdle
        if core::mem::take(&mut self.quiet) && win.app_limited() {
            self.idle_restart = true;
            self.aggregation.restart(now);
            if self.mode == Mode::ProbeBw {
                self.set_pacing(1.0, win);
            } else if self.mode == Mode::ProbeRtt && self.probe_done.is_some_and(|done| now > done) {
                self.end_probe_rtt(now, Seq(self.delivered as u32), win);
            }
        }
    }

    fn on_idle_restart(&mut self, _win: &mut Window) {} // the model holds

    fn on_recovered(&mut self, win: &mut Window) {
        self.conserves = false;
        win.cwnd = win.cwnd.max(self.prior_cwnd); // BBRRestoreCwnd; the target bounds it at the next ACK
    }

    fn on_undo(&mut self, win: &mut Window) {
        (self.full_bandwidth, self.full_count) = (0.0, 0); // Linux, bbr_undo_cwnd
        (self.conserves, self.timeout) = (false, false);
        win.cwnd = win.cwnd.max(self.prior_cwnd);
    }

    fn needs_rate(&self) -> bool {
        true
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn pacing_rate(&self, _win: &Window) -> Option<BitRate> {
        self.pacing.map(|rate| BitRate::from_bps(((rate * 8.0).round() as u64).max(1)))
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("bbr.bandwidth", "b/s", self.bandwidth.get() * 8.0);
        out.gauge("bbr.min_rtt", "s", self.rtt.map_or(0.0, seconds));
        out.gauge("bbr.pacing_gain", "1", self.pacing_gain);
        out.gauge("bbr.mode", "0 startup, 1 drain, 2 probe bandwidth, 3 probe rtt", f64::from(self.mode as u8));
    }
}

#[cfg(test)]
mod tests;
