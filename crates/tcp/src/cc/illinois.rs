//! Illinois: losses say when to cut, the queueing delay says by how much, and how fast to grow.
//!
//! - **Source** @LBS08: Liu, Başar & Srikant, "TCP-Illinois: A Loss- and Delay-based Congestion Control Algorithm for High-speed
//!   Networks", Performance Evaluation 65, 2008: alpha = f1(d_a), beta = f2(d_a) (sec. 2), with d_1 = 0.01 d_m, d_2 = 0.1 d_m,
//!   d_3 = 0.8 d_m.
//! - **Sits** sender. **Reads** acked bytes, RTT, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) real numbers; (b) d_m is of the greatest RTT sample ever, as Linux and ns-3; (c) W_thresh is 15 segments, as
//!   Linux (the paper: 10); (d) after a timeout alpha = 1 and beta = 1/2, as Linux; (e) cuts of the flight size (@RFC5681 eq. 4).
//! - **Checked** tests below; `every_cc`; `senders`.

use super::rounds::{Round, Rounds};
use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};

/// Its declaration.
pub const INFO: Info = Info {
    id: "illinois",
    summary: "Reno whose growth and cuts follow the queueing delay",
    source: "LBS08",
    params: &[
        Param {
            key: "alpha_min",
            kind: Kind::Float { min: 0.01, max: 1.0 },
            default: Value::Float(0.3),
            doc: "Segments per round trip at the greatest delay.",
        },
        Param {
            key: "alpha_max",
            kind: Kind::Float { min: 1.0, max: 1000.0 },
            default: Value::Float(10.0),
            doc: "Segments per round trip without delay.",
        },
        Param {
            key: "beta_min",
            kind: Kind::Float { min: 0.01, max: 0.5 },
            default: Value::Float(0.125),
            doc: "What a cut takes at a small delay.",
        },
        Param {
            key: "beta_max",
            kind: Kind::Float { min: 0.5, max: 0.9 },
            default: Value::Float(0.5),
            doc: "What a cut takes at a great delay.",
        },
        Param {
            key: "window_threshold",
            kind: Kind::Int { min: 0, max: 1_000_000 },
            default: Value::Int(15),
            doc: "Segments below which it is Reno.",
        },
        Param {
            key: "theta",
            kind: Kind::Int { min: 1, max: 1000 },
            default: Value::Int(5),
            doc: "Round trips of small delay after which growth is at its greatest again.",
        },
    ],
};

/// alpha and beta of the round trip.
#[derive(Debug, Clone, Copy)]
struct State {
    alpha: f64,
    beta: f64,
    /// The delay has been above d_1 since alpha was at its greatest.
    above: bool,
    /// Round trips below d_1 since.
    low: i64,
}

/// Reno's.
const RENO: State = State { alpha: 1.0, beta: 0.5, above: false, low: 0 };

/// The controller.
#[derive(Debug)]
pub struct Illinois {
    alpha: (f64, f64),
    beta: (f64, f64),
    window_threshold: f64,
    theta: i64,
    rounds: Rounds,
    now: State,
    /// Before the last cut, for an undo.
    before: State,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(from_params(params))
}

fn from_params(params: &Params) -> Illinois {
    Illinois {
        alpha: (params.float("alpha_min"), params.float("alpha_max")),
        beta: (params.float("beta_min"), params.float("beta_max")),
        window_threshold: params.int("window_threshold") as f64,
        theta: params.int("theta"),
        rounds: Rounds::default(),
        now: RENO,
        before: RENO,
    }
}

impl Illinois {
    /// f1: from alpha_max at d_1 down to alpha_min at d_m, a hyperbola. Delays in seconds.
    fn growth(&self, delay: f64, most: f64) -> f64 {
        let (min, max) = self.alpha;
        let (most, delay) = (0.99 * most, delay - 0.01 * most);
        most * max / (most + delay * (max - min) / min)
    }

    /// f2: beta_min up to d_2, beta_max from d_3 on, a straight line between.
    fn cut(&self, delay: f64, most: f64) -> f64 {
        let (min, max) = self.beta;
        let (low, high) = (0.1 * most, 0.8 * most);
        if delay <= low {
            min
        } else if delay >= high {
            max
        } else {
            min + (max - min) * (delay - low) / (high - low)
        }
    }

    fn update(&mut self, round: &Round, window: f64) {
        if window < self.window_threshold {
            (self.now.alpha, self.now.beta) = (RENO.alpha, RENO.beta);
            return;
        }
        let (delay, most) = (round.mean - round.base, round.most - round.base);
        self.now.beta = self.cut(delay, most);
        if delay > 0.01 * most {
            self.now.above = true;
            self.now.alpha = self.growth(delay, most);
        } else if !self.now.above {
            self.now.alpha = self.alpha.1;
        } else {
            self.now.low += 1;
            if self.now.low >= self.theta {
                (self.now.low, self.now.above, self.now.alpha) = (0, false, self.alpha.1);
            }
        }
    }
}

impl CongestionControl for Illinois {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if let Some(round) = self.rounds.update(ack) {
            self.update(&round, win.segments());
        }
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            reno::additive_increase(ack, self.now.alpha, win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        reno::cut_to(why, 1.0 - self.now.beta, win);
        if let Congestion::Rto { repeated } = why {
            if !repeated {
                self.before = self.now;
            }
            self.now = RENO;
        } else {
            self.before = self.now;
        }
    }

    fn on_undo(&mut self, _win: &mut Window) {
        self.now = self.before;
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("illinois.alpha", "segments", self.now.alpha);
        out.gauge("illinois.beta", "1", self.now.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn illinois() -> Illinois {
        from_params(&Params::defaults(INFO.params))
    }

    /// A round trip over a path of 100 ms whose queues hold 100 ms at most.
    fn round(delay: f64) -> Round {
        Round { base: 0.1, most: 0.2, least: 0.1 + delay, mean: 0.1 + delay }
    }

    #[test]
    fn growth_and_cuts_by_delay() {
        let illinois = illinois();
        // d_m = 100 ms. f1: 10 at 1 ms, 0.3 at 100 ms; at 50 ms 99 * 10 / (99 + 49 * 9.7/0.3) = 0.5881.
        for (delay, alpha) in [(0.001, 10.0), (0.1, 0.3), (0.05, 0.588_1)] {
            assert!((illinois.growth(delay, 0.1) - alpha).abs() < 1e-4, "{delay}: {}", illinois.growth(delay, 0.1));
        }
        // f2: 1/8 up to 10 ms, 1/2 from 80 ms on; in the middle, at 45 ms, 5/16.
        for (delay, beta) in [(0.0, 0.125), (0.01, 0.125), (0.045, 0.3125), (0.08, 0.5), (0.1, 0.5)] {
            assert!((illinois.cut(delay, 0.1) - beta).abs() < 1e-12, "{delay}");
        }
    }

    #[test]
    fn after_a_delay_five_good_round_trips_bring_full_growth_back() {
        let mut illinois = illinois();
        illinois.update(&round(0.0), 20.0);
        assert_eq!(illinois.now.alpha, 10.0);
        illinois.update(&round(0.1), 20.0);
        assert!((illinois.now.alpha - 0.3).abs() < 1e-12);
        for i in 1..=5 {
            illinois.update(&round(0.0), 20.0);
            assert_eq!(illinois.now.alpha > 9.0, i == 5, "{i}");
        }
    }

    #[test]
    fn small_windows_and_timeouts_are_renos() {
        let mut illinois = illinois();
        illinois.update(&round(0.0), 14.9);
        assert_eq!((illinois.now.alpha, illinois.now.beta), (1.0, 0.5));
        illinois.update(&round(0.0), 15.0);
        let mut win = Window::new(Bytes(1000), 16, Some(Bytes(1)));
        win.observe(win.cwnd, false);
        illinois.on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!(win.cwnd, Bytes(14_000)); // 7/8
        illinois.on_congestion(Congestion::Rto { repeated: false }, &mut win);
        assert_eq!((illinois.now.alpha, illinois.now.beta), (1.0, 0.5));
        illinois.on_undo(&mut win);
        assert_eq!((illinois.now.alpha, illinois.now.beta), (10.0, 0.125));
    }
}
