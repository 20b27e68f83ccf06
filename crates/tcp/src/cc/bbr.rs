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
//! - **Checked** tests below; `tests/all/scripts/bbr.rs`; `every_cc`; `validation/linux`.

use super::{Congestion, CongestionControl, Info, Params, Probe, Window};
use crate::{Ack, RateSample};
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
/// BtlBwFilterLen, in rounds. Sec. 4.1.1.4
const BANDWIDTH_ROUNDS: u64 = 10;
/// RTpropFilterLen. Sec. 4.1.2.2
const RTT_LASTS: Dur = Dur::from_secs(10);
/// ProbeRTTDuration. Sec. 4.3.5
const PROBE_RTT: Dur = Dur::from_ms(200);
/// BBRMinPipeCwnd, in segments. Sec. 4.2.3.5
const LEAST_WINDOW: u64 = 4;
/// Growth of the bandwidth that says that the pipe was not full, and rounds without. Sec. 4.3.2.2
const FULL: (f64, u32) = (1.25, 3);
/// Rounds that each of the two slots of the aggregation filter lasts. Linux
const AGGREGATION_ROUNDS: u32 = 5;
/// The most that aggregation adds, as a time at the estimated bandwidth. Linux
const AGGREGATION_MOST: Dur = Dur::from_ms(100);
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

/// The greatest value of this round and of the ten before. Rounds pass only when there is a value: an idle application forgets
/// nothing. Sec. 4.1.1.5
#[derive(Debug, Clone, Copy, Default)]
struct Greatest {
    /// The greatest of each round, at its number modulo the length.
    rounds: [f64; BANDWIDTH_ROUNDS as usize + 1],
    last: u64,
    greatest: f64,
}

impl Greatest {
    fn get(&self) -> f64 {
        self.greatest
    }

    fn update(&mut self, round: u64, value: f64) {
        let len = self.rounds.len() as u64;
        for old in (self.last + 1).max((round + 1).saturating_sub(len))..=round {
            self.rounds[(old % len) as usize] = 0.0;
        }
        let slot = &mut self.rounds[(round % len) as usize];
        *slot = slot.max(value);
        self.last = round;
        self.greatest = self.rounds.iter().copied().fold(0.0, f64::max);
    }
}

/// The bytes that ACKs brought beyond the estimated bandwidth. Linux, bbr_update_ack_aggregation
#[derive(Debug, Clone, Copy, Default)]
struct Aggregation {
    on: bool,
    since: SimTime,
    acked: u64,
    /// The greatest excess of these rounds and of those before.
    extra: [u64; 2],
    slot: usize,
    rounds: u32,
}

impl Aggregation {
    /// `delivered` bytes came at `now`, where `bandwidth` was expected; a window of `cwnd`.
    fn update(&mut self, now: SimTime, delivered: u64, bandwidth: f64, round_starts: bool, cwnd: Bytes) {
        if !self.on {
            return;
        }
        if round_starts {
            self.rounds += 1;
            if self.rounds >= AGGREGATION_ROUNDS {
                (self.rounds, self.slot) = (0, 1 - self.slot);
                self.extra[self.slot] = 0;
            }
        }
        let mut expected = (bandwidth * seconds(now.since(self.since))) as u64;
        if self.acked <= expected {
            (self.acked, self.since, expected) = (0, now, 0);
        }
        self.acked += delivered;
        let extra = (self.acked - expected).min(cwnd.0);
        self.extra[self.slot] = self.extra[self.slot].max(extra);
    }

    /// Bytes that the window should hold beyond two bandwidth-delay products.
    fn room(&self, bandwidth: f64) -> f64 {
        let extra = self.extra[0].max(self.extra[1]) as f64;
        extra.min(bandwidth * seconds(AGGREGATION_MOST))
    }
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
        aggregation: Aggregation { on: params.bool("ack_aggregation"), ..Aggregation::default() },
        }
    }
}

fn seconds(time: Dur) -> f64 {
    time.ns() as f64 / 1e9
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
            (self.aggregation.acked, self.aggregation.since) = (0, now);
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
mod tests {
    use super::*;
    use plugin::Params;
    use wire::Flags;

    const MSS: Bytes = Bytes(1000);
    const RTT: Dur = Dur::from_ms(100);

    fn bbr(first_phase: i64) -> Bbr {
        let mut params = Params::defaults(INFO.params);
        params.set("first_phase", Value::Int(first_phase));
        let mut bbr = Bbr::made(&params);
        bbr.rtt = Some(RTT);
        bbr
    }

    fn window() -> Window {
        let mut win = Window::new(MSS, 10, None);
        win.handshake_rtt = Some(RTT);
        win
    }

    /// An ACK at `ms` of what left when `prior` bytes were delivered; `delivered` bytes since then, in `interval` ms.
    fn ack(ms: u64, prior: u64, delivered: u64, interval: u64) -> Ack {
        Ack {
            now: SimTime::ZERO + Dur::from_ms(ms),
            number: Seq(0),
            acked: MSS,
            counted: MSS,
            prior_flight: MSS,
            rtt: Some(RTT),
            duplicate: false,
            local: false,
            flags: Flags::ACK,
            sacked: Bytes::ZERO,
            lost: Bytes::ZERO,
            rate: Some(RateSample {
                delivered: Bytes(delivered),
                interval: Dur::from_ms(interval),
                prior_delivered: Bytes(prior),
                app_limited: false,
            }),
            timestamps: None,
        }
    }

    /// In ProbeBW at 1 MB/s and 100 ms: a bandwidth-delay product of 100 segments.
    fn cruising(first_phase: i64, win: &mut Window) -> Bbr {
        let mut bbr = bbr(first_phase);
        bbr.aggregation.on = false;
        bbr.filled_pipe = true;
        bbr.bandwidth.update(0, 1e6);
        bbr.pacing = Some(1e6);
        (bbr.rtt_at, bbr.mode) = (SimTime::ZERO, Mode::Drain);
        bbr.delivered = 1_000_000;
        bbr.next_round = 2_000_000;
        win.observe(Bytes(100_000), false);
        bbr.check_drain(&ack(1000, 0, 0, 0), win);
        assert_eq!(bbr.mode, Mode::ProbeBw);
        bbr
    }

    #[test]
    fn the_bandwidth_is_the_greatest_of_ten_rounds_and_this_one() {
        let mut bandwidth = Greatest::default();
        for (round, value, greatest) in
            [(1, 100.0, 100.0), (5, 50.0, 100.0), (11, 10.0, 100.0), (12, 10.0, 50.0), (16, 1.0, 10.0), (40, 2.0, 2.0)]
        {
            bandwidth.update(round, value);
            assert_eq!(bandwidth.get(), greatest, "round {round}");
        }
    }

    #[test]
    fn it_begins_with_a_window_per_rtt_times_the_gain_less_one_percent() {
        // 10000 B / 100 ms * 2.885 * 0.99 = 285615 B/s.
        let (mut bbr, mut win) = (bbr(-1), window());
        assert_eq!(bbr.pacing_rate(&win), None);
        bbr.on_sent(SimTime::ZERO, MSS, &mut win);
        assert_eq!(bbr.pacing_rate(&win), Some(BitRate::from_bps(2_284_920)));
        // Without an RTT: per millisecond.
        let (mut other, mut win) = (self::bbr(-1), Window::new(MSS, 10, None));
        other.rtt = None;
        other.on_sent(SimTime::ZERO, MSS, &mut win);
        assert_eq!(other.pacing_rate(&win), Some(BitRate::from_bps(228_492_000)));
    }

    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let (mut bbr, mut win) = (bbr(0), window());
        bbr.on_sent(SimTime::ZERO, MSS, &mut win);
        // Bandwidths in kB/s. 125 is a quarter more than 100; from 130 on nothing is 162.5.
        let mut delivered = 0;
        for (i, (kilobytes, count, filled)) in
            [(100, 0, false), (124, 1, false), (130, 0, false), (130, 1, false), (120, 2, false), (162, 3, true)]
                .into_iter()
                .enumerate()
        {
            let bytes = kilobytes * 100;
            win.observe(Bytes(200_000), false);
            bbr.on_ack(&ack(100 * (i as u64 + 1), delivered, bytes, 100), &mut win);
            delivered += bytes;
            assert_eq!((bbr.full_count, bbr.filled_pipe), (count, filled), "round {i}");
        }
        assert_eq!((bbr.mode, bbr.pacing_gain), (Mode::Drain, 1.0 / HIGH_GAIN));
        // 162 kB/s at 1 / 2.885 and 0.99.
        let rate = bbr.pacing_rate(&win).unwrap().bps() as f64 / 8.0;
        assert!((rate - 162_000.0 / 2.885 * 0.99).abs() < 1.0, "{rate}");
        // 16.2 segments, 17; a quantum of one below 1.2 Mb/s: 20.
        assert_eq!(bbr.inflight(1.0, 0.0, &win), Bytes(20_000));
        win.observe(Bytes(20_000), false);
        bbr.on_ack(&ack(700, delivered, 16_200, 100), &mut win);
        assert_eq!((bbr.mode, bbr.phase, bbr.pacing_gain), (Mode::ProbeBw, 0, 1.25));
    }

    #[test]
    fn what_the_application_limits_neither_fills_the_pipe_nor_lowers_the_bandwidth() {
        let (mut bbr, mut win) = (bbr(0), window());
        bbr.on_sent(SimTime::ZERO, MSS, &mut win);
        let mut delivered = 0;
        let mut limited = |kilobytes: u64, i: u64, app_limited| {
            let mut ack = ack(100 * i, delivered, kilobytes * 100, 100);
            ack.rate = ack.rate.map(|rate| RateSample { app_limited, ..rate });
            delivered += kilobytes * 100;
            bbr.on_ack(&ack, &mut win);
            (bbr.bandwidth.get(), bbr.full_count)
        };
        assert_eq!(limited(100, 1, false), (1e5, 0));
        for i in 2..20 {
            assert_eq!(limited(50, i, true), (1e5, 0), "round {i}");
        }
        assert_eq!(limited(110, 20, true), (1.1e5, 0), "more than was known is news");
    }

    #[test]
    fn the_window_is_two_products_three_quanta_and_two_more_while_it_probes() {
        // 2 * 100 segments; 1 MB/s is 0.98 segments per 2^-10 s, two at least: 206, and 208 while it probes.
        let mut win = window();
        let probing = cruising(0, &mut win);
        assert_eq!(probing.inflight(2.0, 0.0, &win), Bytes(208_000));
        let mut bbr = cruising(2, &mut win);
        assert_eq!(bbr.inflight(2.0, 0.0, &win), Bytes(206_000));
        win.cwnd = Bytes(205_000);
        bbr.on_ack(&ack(1050, 900_000, 103_000, 103), &mut win); // 3000 B more than before
        assert_eq!(win.cwnd, Bytes(206_000));
    }

    #[test]
    fn the_cycle_probes_until_enough_is_in_flight_and_drains_until_the_queue_is_gone() {
        let mut win = window();
        let mut bbr = cruising(0, &mut win);
        // Each ACK delivers 1000 B, so 1000 B more were in flight before it.
        let mut delivered = 1_000_000;
        let mut step = |ms: u64, flight: u64, lost: u64, bbr: &mut Bbr| {
            win.observe(Bytes(flight), false);
            delivered += 1000;
            let acked = ack(ms, delivered - 100_000, 100_000, 100);
            bbr.on_ack(&Ack { lost: Bytes(lost), ..acked }, &mut win);
            (bbr.phase, bbr.pacing_gain)
        };
        // 1.25 * 100 segments, 6 for the quanta, even, and 2: 134.
        assert_eq!(step(1100, 140_000, 0, &mut bbr), (0, 1.25), "not longer than the RTT");
        assert_eq!(step(1101, 132_000, 0, &mut bbr), (0, 1.25));
        assert_eq!(step(1102, 133_000, 0, &mut bbr), (1, 0.75));
        assert_eq!(step(1103, 106_000, 0, &mut bbr), (1, 0.75));
        assert_eq!(step(1104, 105_000, 0, &mut bbr), (2, 1.0)); // 100 + 6 = 106
        // Then an RTT each.
        for (phase, gain) in [(3, 1.0), (4, 1.0), (5, 1.0), (6, 1.0), (7, 1.0), (0, 1.25)] {
            let begun = 1104 + 101 * (phase as u64 + if phase == 0 { 8 } else { 0 } - 3);
            assert_ne!(step(begun + 100, 100_000, 0, &mut bbr).0, phase);
            assert_eq!(step(begun + 101, 100_000, 0, &mut bbr), (phase, gain));
        }
        // A loss ends the probe after an RTT.
        assert_eq!(step(1104 + 606 + 100, 100_000, 1000, &mut bbr), (0, 1.25));
        assert_eq!(step(1104 + 606 + 101, 100_000, 1000, &mut bbr), (1, 0.75));
    }

    #[test]
    fn the_first_phase_is_never_the_one_that_drains_and_each_other_is_drawn() {
        let mut seen = [0; 8];
        for number in 0..700 {
            let mut bbr = bbr(-1);
            bbr.enter_probe_bandwidth(SimTime::ZERO + Dur::from_ms(number), Seq(number as u32 * 1000));
            seen[bbr.phase] += 1;
        }
        assert_eq!(seen[1], 0);
        // 700 draws of seven: 100 each, deviation 9.3; four of them.
        assert!(seen.iter().enumerate().all(|(i, n)| i == 1 || (63..=137).contains(n)), "{seen:?}");
    }

    #[test]
    fn acks_that_come_in_bursts_widen_the_window_by_what_was_not_expected() {
        let mut aggregation = Aggregation { on: true, ..Aggregation::default() };
        let (at, wide) = (|ms| SimTime::ZERO + Dur::from_ms(ms), Bytes(1 << 20));
        // At 1 MB/s. 5000 B, then 6000 B a millisecond later, of which 1000 were expected.
        aggregation.update(at(0), 5000, 1e6, false, wide);
        assert_eq!(aggregation.room(1e6), 5000.0);
        aggregation.update(at(1), 6000, 1e6, false, wide);
        assert_eq!(aggregation.room(1e6), 10_000.0);
        // 20 ms later 20000 were expected and 11000 came: a new epoch begins.
        aggregation.update(at(21), 2000, 1e6, false, wide);
        aggregation.update(at(22), 2000, 1e6, false, wide); // 4000 - 1000
        assert_eq!(aggregation.room(1e6), 10_000.0);
        // Ten rounds later the burst is forgotten.
        for i in 0..10 {
            aggregation.update(at(122 + 100 * i), 1000, 1e6, true, wide);
        }
        assert_eq!(aggregation.room(1e6), 1000.0);
        // Never more than the window, nor than 100 ms at the bandwidth.
        aggregation.update(at(2000), 400_000, 1e6, false, Bytes(300_000));
        assert_eq!(aggregation.room(1e6), 100_000.0);
        assert_eq!(aggregation.room(1e7), 300_000.0);
    }

    #[test]
    fn a_loss_conserves_packets_for_a_round_and_then_the_window_comes_back() {
        let mut win = window();
        let mut bbr = cruising(2, &mut win);
        win.cwnd = Bytes(206_000);
        win.pipe = Bytes(120_000);
        bbr.on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!(win.cwnd, Bytes(121_000));
        win.observe(Bytes(119_000), true);
        bbr.on_dup_ack(&ack(1001, 900_000, 103_000, 100), &mut win);
        assert_eq!(win.cwnd, Bytes(122_000)); // 119 in flight and 3 delivered
        // The next round begins: what arrives doubles.
        bbr.on_dup_ack(&ack(1100, 1_000_000, 4000, 100), &mut win);
        assert_eq!(win.cwnd, Bytes(123_000));
        win.observe(Bytes(100_000), false);
        bbr.on_recovered(&mut win);
        assert_eq!(win.cwnd, Bytes(206_000));
    }

    #[test]
    fn after_a_timeout_the_window_comes_back_when_all_that_was_out_is_acknowledged() {
        let mut win = window();
        let mut bbr = cruising(2, &mut win);
        win.cwnd = Bytes(206_000);
        bbr.on_congestion(Congestion::Rto { repeated: false }, &mut win);
        win.timeout_lasts = true;
        assert_eq!(win.cwnd, MSS);
        win.observe(MSS, false);
        bbr.on_ack(&ack(2000, 1_000_000, 1000, 100), &mut win);
        assert_eq!(win.cwnd, Bytes(4000)); // at least four segments
        bbr.on_ack(&ack(2010, 1_000_000, 3000, 100), &mut win);
        assert_eq!(win.cwnd, Bytes(6000)); // 2000 more
        win.timeout_lasts = false;
        bbr.on_ack(&ack(2100, 1_001_000, 3000, 100), &mut win);
        assert_eq!(win.cwnd, Bytes(206_000));
    }

    #[test]
    fn a_least_rtt_of_ten_seconds_ago_is_measured_anew_with_four_segments() {
        let mut win = window();
        let mut bbr = cruising(2, &mut win);
        win.cwnd = Bytes(206_000);
        let late = |ms, prior, rtt| Ack { rtt: Some(Dur::from_ms(rtt)), ..ack(ms, prior, 100_000, 100) };
        bbr.on_ack(&late(10_000, 900_000, 105), &mut win);
        assert_eq!(bbr.mode, Mode::ProbeBw);
        bbr.on_ack(&late(10_001, 901_000, 105), &mut win);
        assert_eq!((bbr.mode, win.cwnd, bbr.rtt), (Mode::ProbeRtt, Bytes(4000), Some(Dur::from_ms(105))));
        assert!(win.mark_app_limited);
        // 200 ms from when no more than four are in flight, and at least a round.
        win.observe(Bytes(4000), false);
        bbr.on_ack(&late(10_100, 902_000, 101), &mut win);
        assert_eq!(bbr.rtt, Some(Dur::from_ms(101)));
        win.observe(Bytes(3000), false);
        bbr.on_ack(&late(10_300, 903_000, 101), &mut win);
        assert_eq!(bbr.mode, Mode::ProbeRtt);
        bbr.on_ack(&late(10_301, 1_002_000, 101), &mut win); // prior is what was delivered at 10.1 s
        assert_eq!((bbr.mode, bbr.cwnd_gain), (Mode::ProbeBw, 2.0));
        assert!(win.cwnd > Bytes(200_000));
    }

    #[test]
    fn a_restart_from_idle_paces_at_the_bandwidth_and_does_not_probe_the_rtt() {
        let mut win = window();
        let mut bbr = cruising(0, &mut win);
        win.observe(Bytes::ZERO, false);
        bbr.on_ack(&ack(1010, 900_000, 101_000, 101), &mut win);
        assert_eq!(bbr.pacing_rate(&win), Some(BitRate::from_bps(9_900_000))); // 1 MB/s * 1.25 * 0.99
        win.app_limited = true;
        bbr.on_sent(SimTime::ZERO + Dur::from_secs(15), MSS, &mut win);
        assert_eq!(bbr.pacing_rate(&win), Some(BitRate::from_bps(7_920_000))); // 1 MB/s * 0.99
        let late = ack(15_100, 1_001_000, 1000, 100);
        win.observe(Bytes(1000), false);
        bbr.on_ack(&late, &mut win);
        assert_eq!((bbr.mode, bbr.rtt_at), (Mode::ProbeBw, late.now));
    }
}
