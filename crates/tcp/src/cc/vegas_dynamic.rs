//! Vegas with dynamic thresholds: alpha and beta follow an estimate of what the path's queues hold.
//!
//! - **Source** @CDC11: Cheng, Deng & Chao, "Congestion Control with Dynamic Threshold Adaptation and Cross-layer Response for TCP
//!   over IEEE 802.11 Wireless Networks", WINSYS 2011: Q_m (eq. 3), Q_t (eq. 4), alpha (eq. 5), beta (eq. 6). The rest: Vegas.
//! - **Sits** sender. **Reads** RTT, acked bytes, time, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** the paper leaves open: (a) rho, the preset duration and how lambda is averaged: `rho`, `stable_time`,
//!   `lambda_gain`; (b) nu: as printed, the time of a transmission over the RTT, which is next to nothing and smooths nothing;
//!   its next sentence means utilisation: `nu`. That is 1 wherever the window is what the path carries (Little), and Q_t
//!   would stand still: `nu_most` bounds it; (c) stable means that the window stays, alpha <= delta <= beta; (d) where Q_t is
//!   below 3 the bounds of eq. 5 and 6 contradict themselves, and the lower ones hold; (e) eq. 5 and 6 are worked off once in a
//!   round trip. The negative ACK of its sec. 3.1 is a scheme.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::rounds::Round;
use super::vegas::{Core, Thresholds};
use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::{Dur, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "vegas-dynamic",
    summary: "Vegas whose thresholds follow the estimated queue",
    source: "CDC11",
    params: &[
        Param {
            key: "rho",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: Value::Float(0.5),
            doc: "Weight of the queue by RTTs against that by the bandwidth (eq. 3).",
        },
        Param {
            key: "nu",
            kind: Kind::Choice(&["transmission", "utilisation"]),
            default: Value::Choice("utilisation"),
            doc: "Weight of the last Q_t (eq. 4): time of a transmission over the RTT (as printed), or of all in a round trip.",
        },
        Param {
            key: "nu_most",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: Value::Float(0.875),
            doc: "Bound of that weight.",
        },
        Param {
            key: "stable_time",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(3600) },
            default: Value::Time(Dur::from_secs(1)),
            doc: "After so long without a change of the window alpha is halved (eq. 5).",
        },
        Param {
            key: "lambda_gain",
            kind: Kind::Float { min: 0.001, max: 1.0 },
            default: Value::Float(0.125),
            doc: "Weight of an ACK in the averages that the bandwidth is made of.",
        },
        Param {
            key: "m",
            kind: Kind::Float { min: 1.0, max: 100.0 },
            default: Value::Float(1.5),
            doc: "beta over alpha (eq. 6).",
        },
    ],
};

/// The defaults of eq. 5 and 6, which a timeout brings back.
const ALPHA: f64 = 1.0;
const BETA: f64 = 3.0;

/// The state that round trips and cuts change, in segments.
#[derive(Debug, Clone, Copy)]
struct State {
    alpha: f64,
    beta: f64,
    /// Q_t.
    queue: f64,
    stable_since: Option<SimTime>,
}

/// The controller.
#[derive(Debug)]
pub struct Dynamic {
    rho: f64,
    as_printed: bool,
    nu_most: f64,
    stable_time: Dur,
    gain: f64,
    m: f64,
    core: Core,
    now: State,
    /// Before the last cut, for an undo.
    before: State,
    last: Option<SimTime>,
    /// Means per ACK: its gap in seconds, what it acknowledges in segments.
    gap: f64,
    acked: f64,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(from_params(params))
}

fn from_params(params: &Params) -> Dynamic {
    let now = State { alpha: ALPHA, beta: BETA, queue: 0.0, stable_since: None };
    Dynamic {
        rho: params.float("rho"),
        as_printed: params.choice("nu") == "transmission",
        nu_most: params.float("nu_most"),
        stable_time: params.time("stable_time"),
        gain: params.float("lambda_gain"),
        m: params.float("m"),
        core: Core::new(true),
        now,
        before: now,
        last: None,
        gap: 0.0,
        acked: 0.0,
    }
}

impl Dynamic {
    /// lambda, in segments per second; zero if unknown.
    fn bandwidth(&self) -> f64 {
        if self.gap > 0.0 { self.acked / self.gap } else { 0.0 }
    }

    /// The ACK at hand as a sample of lambda.
    fn listen(&mut self, ack: &Ack, win: &Window) {
        let Some(last) = self.last.replace(ack.now) else { return };
        let (gap, acked) = (ack.now.since(last).as_secs_f64(), ack.acked / win.mss());
        if self.gap == 0.0 {
            (self.gap, self.acked) = (gap, acked);
        } else {
            self.gap += self.gain * (gap - self.gap);
            self.acked += self.gain * (acked - self.acked);
        }
    }

    /// Eq. 3.
    fn measured(&self, window: f64, round: &Round) -> f64 {
        let least = window / round.most;
        let by_rtt = window / round.base - least;
        let by_rate = self.bandwidth() - least;
        ((self.rho * by_rtt + (1.0 - self.rho) * by_rate) * round.base).max(0.0)
    }

    /// nu of eq. 4.
    fn nu(&self, window: f64, rtt: f64) -> f64 {
        let bandwidth = self.bandwidth();
        if bandwidth <= 0.0 {
            return 0.0;
        }
        let sent = if self.as_printed { 1.0 } else { window };
        (sent / bandwidth / rtt).clamp(0.0, self.nu_most)
    }

    /// The bounds of eq. 5 and 6.
    fn bound(&mut self) {
        let now = &mut self.now;
        now.alpha = now.alpha.clamp(1.0, (now.queue - 2.0).max(1.0));
        now.beta = (self.m * now.alpha).clamp(BETA, now.queue.max(BETA));
    }

    /// Eq. 4 to 6 after a round trip.
    fn adapt(&mut self, time: SimTime, window: f64, round: &Round) {
        let (measured, nu) = (self.measured(window, round), self.nu(window, round.mean));
        let now = &mut self.now;
        now.queue = nu * now.queue + (1.0 - nu) * measured;
        let queued = round.queued(window); // delta, eq. 1
        if (now.alpha..=now.beta).contains(&queued) {
            let since = *now.stable_since.get_or_insert(time);
            if time.since(since) < self.stable_time {
                now.alpha = now.queue;
            } else {
                (now.alpha, now.stable_since) = (now.alpha / 2.0, Some(time));
            }
        } else {
            now.stable_since = None;
        }
        self.bound();
    }
}

impl CongestionControl for Dynamic {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        self.listen(ack, win);
        let round = self.core.rounds.update(ack);
        if let Some(round) = round.as_ref().filter(|_| !win.in_recovery()) {
            self.adapt(ack.now, win.segments(), round);
        }
        let thresholds = Thresholds { alpha: self.now.alpha, beta: self.now.beta, gamma: 1.0 };
        self.core.adjust(ack, round.as_ref(), thresholds, win);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        if why != (Congestion::Rto { repeated: true }) {
            self.before = self.now;
        }
        if let Congestion::Rto { .. } = why {
            (self.now.alpha, self.now.beta) = (ALPHA, BETA);
        } else {
            self.now.alpha /= 2.0;
            self.bound();
        }
        self.now.stable_since = None;
        reno::cut(why, win);
    }

    fn on_undo(&mut self, _win: &mut Window) {
        self.now = self.before;
    }

    fn on_idle_restart(&mut self, win: &mut Window) {
        win.cwnd = win.cwnd.min(win.initial());
        self.core.rounds.forget();
        self.last = None;
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("vegas.queued", "segments", self.core.queued);
        out.gauge("vegas.alpha", "segments", self.now.alpha);
        out.gauge("vegas.beta", "segments", self.now.beta);
        out.gauge("vegas.queue", "segments", self.now.queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn dynamic(nu: &'static str) -> Dynamic {
        let mut params = Params::defaults(INFO.params);
        params.set("nu", Value::Choice(nu));
        let mut dynamic = from_params(&params);
        (dynamic.gap, dynamic.acked) = (0.005, 1.0); // 200 segments/s
        dynamic
    }

    /// Base 100 ms, greatest 200 ms, now 125 ms.
    const ROUND: Round = Round { base: 0.1, most: 0.2, least: 0.125, mean: 0.125 };

    #[test]
    fn the_queue_of_equation_3() {
        // W = 20: W/min = 200, W/max = 100, lambda = 200: (0.5 * 100 + 0.5 * 100) * 0.1 = 10.
        assert!((dynamic("transmission").measured(20.0, &ROUND) - 10.0).abs() < 1e-12);
        let mut rate = dynamic("transmission");
        rate.rho = 0.0;
        rate.acked = 1.5; // lambda 300: (300 - 100) * 0.1 = 20
        assert!((rate.measured(20.0, &ROUND) - 20.0).abs() < 1e-12);
    }

    #[test]
    fn both_readings_of_nu() {
        // A segment takes 5 ms of 125 ms; 20 of them 100 ms.
        assert!((dynamic("transmission").nu(20.0, 0.125) - 0.04).abs() < 1e-12);
        assert!((dynamic("utilisation").nu(20.0, 0.125) - 0.8).abs() < 1e-12);
        assert!((dynamic("utilisation").nu(25.0, 0.125) - 0.875).abs() < 1e-12, "bounded");
    }

    #[test]
    fn the_thresholds_follow_the_queue_while_the_window_is_stable() {
        let mut dynamic = dynamic("transmission");
        (dynamic.now.alpha, dynamic.now.beta) = (3.0, 5.0);
        let at = |ms| SimTime::ZERO + Dur::from_ms(ms);
        // delta = 20 (1 - 100/125) = 4: stable. Q_t = 0.96 * 10 = 9.6, alpha = Q_t but at most Q_t - 2, beta 1.5 alpha
        // but at most Q_t.
        dynamic.adapt(at(0), 20.0, &ROUND);
        assert!((dynamic.now.queue - 9.6).abs() < 1e-12);
        assert!((dynamic.now.alpha - 7.6).abs() < 1e-12 && (dynamic.now.beta - 9.6).abs() < 1e-12, "{:?}", dynamic.now);
        // Not stable now (4 < 7.6): they stay.
        dynamic.adapt(at(100), 20.0, &ROUND);
        assert!((dynamic.now.alpha - 7.6).abs() < 1e-12 && dynamic.now.stable_since.is_none());
        // Stable for longer than the preset duration: halved.
        (dynamic.now.alpha, dynamic.now.beta, dynamic.now.stable_since) = (3.0, 6.0, Some(at(0)));
        dynamic.adapt(at(1000), 20.0, &ROUND);
        assert!((dynamic.now.alpha - 1.5).abs() < 1e-12 && (dynamic.now.beta - 3.0).abs() < 1e-12, "{:?}", dynamic.now);
    }

    #[test]
    fn losses_halve_alpha_and_timeouts_bring_the_defaults_back() {
        let mut dynamic = dynamic("transmission");
        (dynamic.now.alpha, dynamic.now.beta, dynamic.now.queue) = (8.0, 12.0, 14.0);
        let mut win = Window::new(Bytes(1000), 20, Some(Bytes(1000)));
        win.observe(win.cwnd, false);
        dynamic.on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!((dynamic.now.alpha, dynamic.now.beta, win.cwnd), (4.0, 6.0, Bytes(10_000)));
        dynamic.on_congestion(Congestion::Rto { repeated: false }, &mut win);
        assert_eq!((dynamic.now.alpha, dynamic.now.beta), (1.0, 3.0));
    }
}
