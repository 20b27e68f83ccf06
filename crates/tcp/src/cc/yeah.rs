//! YeAH: fast like Scalable TCP while the path's queues are short, Reno otherwise, and drains queues before a loss.
//!
//! - **Source** @BPV07: Baiocchi, Castellani & Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007; its rules and
//!   constants as in the author's code in Linux (net/ipv4/tcp_yeah.c: `tcp_yeah_cong_avoid`, `tcp_yeah_ssthresh`).
//! - **Sits** sender. **Reads** RTT, acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) the kernel's rules with real numbers; (b) in fast mode a round trip adds a hundredth of the window (@KEL03),
//!   at least a segment; (c) cuts of the flight size, by the share that the kernel takes of cwnd.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::rounds::{Round, Rounds};
use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::Bytes;

/// Its declaration.
pub const INFO: Info = Info {
    id: "yeah",
    summary: "Scalable while queues are short, Reno otherwise; drains queues before a loss",
    source: "BPV07",
    params: &[
        Param {
            key: "queue_most",
            kind: Kind::Float { min: 1.0, max: 100_000.0 },
            default: Value::Float(80.0),
            doc: "Q_max: segments queued from which the window shrinks.",
        },
        Param {
            key: "phi",
            kind: Kind::Float { min: 1.0, max: 1000.0 },
            default: Value::Float(8.0),
            doc: "A queueing delay above this part of the least RTT is slow mode.",
        },
        Param {
            key: "rho",
            kind: Kind::Int { min: 1, max: 100_000 },
            default: Value::Int(16),
            doc: "Round trips of slow mode from which others are taken to compete, and a loss halves the window.",
        },
        Param {
            key: "zeta",
            kind: Kind::Int { min: 1, max: 100_000 },
            default: Value::Int(50),
            doc: "Round trips of fast mode after which no other is taken to compete.",
        },
    ],
};

/// The largest share of the window that a round trip removes: 1 / 2^epsilon. Up to that it removes the whole queue: 1 /
/// gamma, with gamma 1.
const DECONGESTION_MOST: f64 = 0.5;
/// The least share of the window that a loss takes: 1 / 2^delta.
const CUT_LEAST: f64 = 0.125;

/// The state that round trips and cuts change; windows in segments.
#[derive(Debug, Clone, Copy)]
struct State {
    queued: f64,
    /// Round trips of slow mode in a row.
    slow: i64,
    /// Round trips of fast mode since the last cut.
    fast: i64,
    /// The window that a competing Reno would have: drained queues leave this much.
    reno: f64,
}

/// The controller.
#[derive(Debug)]
pub struct Yeah {
    queue_most: f64,
    phi: f64,
    rho: i64,
    zeta: i64,
    rounds: Rounds,
    now: State,
    /// Before the last cut, for an undo.
    before: State,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(from_params(params))
}

fn from_params(params: &Params) -> Yeah {
    let now = State { queued: 0.0, slow: 0, fast: 0, reno: 2.0 };
    Yeah {
        queue_most: params.float("queue_most"),
        phi: params.float("phi"),
        rho: params.int("rho"),
        zeta: params.int("zeta"),
        rounds: Rounds::default(),
        now,
        before: now,
    }
}

impl Yeah {
    /// A round trip is over: which mode, and whether the queue is to be drained.
    fn judge(&mut self, round: &Round, win: &mut Window) {
        let window = win.segments();
        let now = &mut self.now;
        now.queued = round.queued(window);
        let long = now.queued > self.queue_most;
        if long || round.least - round.base > round.base / self.phi {
            if long && window > now.reno {
                let left = (window - now.queued.min(window * DECONGESTION_MOST)).max(now.reno);
                win.cwnd = Bytes((left * win.mss().0 as f64) as u64).max(win.mss() * 2);
                win.ssthresh = win.cwnd;
            }
            now.reno = if now.reno <= 2.0 { (win.segments() / 2.0).max(2.0) } else { now.reno + 1.0 };
            now.slow += 1;
        } else {
            now.fast += 1;
            if now.fast > self.zeta {
                (now.reno, now.fast) = (2.0, 0);
            }
            now.slow = 0;
        }
    }

    /// The share of a window that a loss takes.
    fn share_to_cut(&self, window: f64) -> f64 {
        let half = (window / 2.0).max(2.0);
        let cut = if self.now.slow < self.rho {
            self.now.queued.min(half).max(window * CUT_LEAST)
        } else {
            half
        };
        (cut / window).min(1.0)
    }
}

impl CongestionControl for Yeah {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        let round = self.rounds.update(ack);
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            let per_rtt = if self.now.slow == 0 { (win.segments() / 100.0).max(1.0) } else { 1.0 };
            reno::additive_increase(ack, per_rtt, win);
        }
        if let Some(round) = round.filter(|_| !win.in_recovery()) {
            self.judge(&round, win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        let left = 1.0 - self.share_to_cut(win.segments());
        if why != (Congestion::Rto { repeated: true }) {
            self.before = self.now;
            self.now.fast = 0;
            self.now.reno = (self.now.reno / 2.0).max(2.0);
        }
        reno::cut_to(why, left, win);
    }

    fn on_undo(&mut self, _win: &mut Window) {
        self.now = self.before;
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("yeah.queued", "segments", self.now.queued);
        out.gauge("yeah.reno", "segments", self.now.reno);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yeah() -> Yeah {
        from_params(&Params::defaults(INFO.params))
    }

    fn window(segments: u32) -> Window {
        let mut win = Window::new(Bytes(1000), segments, Some(Bytes(1000)));
        win.observe(win.cwnd, false);
        win
    }

    fn round(least: f64) -> Round {
        Round { base: 0.1, most: 0.3, least, mean: least }
    }

    #[test]
    fn a_queue_of_more_than_80_segments_is_drained() {
        let (mut yeah, mut win) = (yeah(), window(400));
        yeah.judge(&round(0.13), &mut win); // 400 (1 - 100/130) = 92.3
        assert_eq!(win.cwnd, Bytes(307_692));
        assert!((yeah.now.reno - 307.692 / 2.0).abs() < 1e-9, "{}", yeah.now.reno);
        yeah.judge(&round(0.3), &mut win); // 205 of 307.7: half, but not below Reno's 153.8
        assert_eq!(win.cwnd, Bytes(153_846));
        assert_eq!(yeah.now.slow, 2);
    }

    #[test]
    fn a_delay_of_an_eighth_is_slow_mode() {
        let (mut yeah, mut win) = (yeah(), window(100));
        yeah.judge(&round(0.112), &mut win); // 10.7 segments, 12 ms of 100
        assert_eq!((yeah.now.slow, yeah.now.fast), (0, 1));
        yeah.judge(&round(0.113), &mut win);
        assert_eq!((yeah.now.slow, win.cwnd), (1, Bytes(100_000)));
    }

    #[test]
    fn a_loss_takes_the_queue_and_half_the_window_where_others_compete() {
        // (queued, round trips of slow mode, left of 100)
        for (queued, slow, left) in [(5.0, 0, 87_500), (30.0, 0, 70_000), (70.0, 0, 50_000), (5.0, 16, 50_000)] {
            let (mut yeah, mut win) = (yeah(), window(100));
            (yeah.now.queued, yeah.now.slow) = (queued, slow);
            yeah.on_congestion(Congestion::FastRetransmit, &mut win);
            assert_eq!(win.cwnd, Bytes(left), "{queued} {slow}");
        }
    }

    #[test]
    fn fifty_fast_round_trips_forget_competition() {
        let (mut yeah, mut win) = (yeah(), window(100));
        yeah.now.reno = 40.0;
        for i in 1..=51 {
            yeah.judge(&round(0.1), &mut win);
            assert_eq!(yeah.now.reno, if i <= 50 { 40.0 } else { 2.0 }, "{i}");
        }
    }
}
