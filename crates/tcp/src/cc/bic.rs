//! BIC: a binary search for the window of the last cut, then a slow start beyond it.
//!
//! - **Source** @XHR04: Xu, Harfoush & Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks", INFOCOM
//!   2004; in the form that was shipped, of the authors' code in Linux (net/ipv4/tcp_bic.c: `bictcp_update`,
//!   `bictcp_recalc_ssthresh`), whose constants are the defaults.
//! - **Sits** sender. **Reads** acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) the kernel's rules with real numbers, an increment per round trip and not whole ACKs per segment; (b) no
//!   estimate of segments per ACK: growth counts as in [`super::reno`]; (c) cuts of the flight size (@RFC5681 eq. 4); (d) a
//!   search starts at a quarter of the way (B = 4), where the paper halves it (B = 2), and S_max is 16, where it has 32.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};

/// Its declaration.
pub const INFO: Info = Info {
    id: "bic",
    summary: "a binary search for the window of the last cut, then a slow start beyond it",
    source: "XHR04",
    params: &[
        Param {
            key: "beta",
            kind: Kind::Float { min: 0.1, max: 0.99 },
            default: Value::Float(819.0 / 1024.0),
            doc: "What a cut leaves of the window.",
        },
        Param {
            key: "b",
            kind: Kind::Float { min: 1.5, max: 100.0 },
            default: Value::Float(4.0),
            doc: "A round trip goes this part of the way to the window of the last cut.",
        },
        Param {
            key: "s_max",
            kind: Kind::Float { min: 1.0, max: 10_000.0 },
            default: Value::Float(16.0),
            doc: "Segments that a round trip adds at most.",
        },
        Param {
            key: "smooth_part",
            kind: Kind::Float { min: 1.0, max: 1000.0 },
            default: Value::Float(20.0),
            doc: "Round trips for the last b segments below the window of the last cut, and the first above it.",
        },
        Param {
            key: "low_window",
            kind: Kind::Int { min: 0, max: 1_000_000 },
            default: Value::Int(14),
            doc: "Segments up to which it is Reno.",
        },
        Param {
            key: "fast_convergence",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "A flow whose window shrinks twice leaves room at once.",
        },
    ],
};

/// The state that cuts change.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// W_max, in segments; zero before the first cut, and after a timeout.
    w_max: f64,
    /// There was a cut, and no timeout since.
    cut: bool,
}

/// The controller.
#[derive(Debug)]
pub struct Bic {
    beta: f64,
    b: f64,
    s_max: f64,
    smooth_part: f64,
    low_window: f64,
    fast_convergence: bool,
    now: State,
    /// Before the last cut, for an undo.
    before: State,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(from_params(params))
}

fn from_params(params: &Params) -> Bic {
    Bic {
        beta: params.float("beta"),
        b: params.float("b"),
        s_max: params.float("s_max"),
        smooth_part: params.float("smooth_part"),
        low_window: params.int("low_window") as f64,
        fast_convergence: params.bool("fast_convergence"),
        now: State::default(),
        before: State::default(),
    }
}

impl Bic {
    /// Segments that a round trip adds to this window.
    fn increment(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let smooth = self.b / self.smooth_part;
        let step = if window < self.now.w_max {
            let way = (self.now.w_max - window) / self.b;
            if way <= 1.0 { smooth } else { way.min(self.s_max) } // binary search, linear at first
        } else {
            let beyond = window - self.now.w_max;
            if beyond < self.b {
                smooth
            } else if beyond < self.s_max * (self.b - 1.0) {
                beyond / (self.b - 1.0) // slow start
            } else {
                self.s_max
            }
        };
        // Before the first cut the path is hardly used: at least 5 % in a round trip.
        if self.now.cut { step } else { step.max(window / 20.0) }
    }

    fn cut(&mut self, win: &Window) {
        self.before = self.now;
        let window = win.segments();
        let shrinks = self.fast_convergence && window < self.now.w_max;
        self.now.w_max = if shrinks { window * (1.0 + self.beta) / 2.0 } else { window };
        self.now.cut = true;
    }
}

impl CongestionControl for Bic {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            reno::additive_increase(ack, self.increment(win.segments()), win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        let left = if win.segments() <= self.low_window { 0.5 } else { self.beta };
        match why {
            Congestion::FastRetransmit | Congestion::EcnMark => self.cut(win),
            // A timeout forgets all.
            Congestion::Rto { repeated } => {
                if !repeated {
                    self.before = self.now;
                }
                self.now = State::default();
            }
        }
        reno::cut_to(why, left, win);
    }

    fn on_undo(&mut self, _win: &mut Window) {
        self.now = self.before;
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("bic.w_max", "segments", self.now.w_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn bic() -> Bic {
        from_params(&Params::defaults(INFO.params))
    }

    #[test]
    fn the_increments_of_a_search_for_200_segments() {
        let mut bic = bic();
        bic.now = State { w_max: 200.0, cut: true };
        // Linear while a quarter of the way is more than 16, then that quarter, smooth at the end and the beginning.
        for (window, step) in [
            (10.0, 1.0),
            (100.0, 16.0), // 100/4 = 25
            (160.0, 10.0), // 40/4
            (196.0, 0.2),  // 4/4 is not above 1: 4/20
            (202.0, 0.2),
            (206.0, 2.0),  // 6/3
            (240.0, 40.0 / 3.0),
            (248.0, 16.0), // 48 = 16 * 3
        ] {
            assert!((bic.increment(window) - step).abs() < 1e-12, "{window}: {}", bic.increment(window));
        }
        // No cut yet: from 14 segments on slow start from 0, at least a twentieth.
        bic.now = State::default();
        assert!((bic.increment(30.0) - 10.0).abs() < 1e-12);
        assert!((bic.increment(1000.0) - 50.0).abs() < 1e-12);
    }

    #[test]
    fn a_second_cut_below_the_first_leaves_more_room() {
        let mut bic = bic();
        let mut win = Window::new(Bytes(1000), 100, Some(Bytes(1)));
        win.observe(Bytes(100_000), false);
        bic.on_congestion(Congestion::FastRetransmit, &mut win);
        // 100 * 819/1024 = 79.98; below that 79.98 * 1843/2048 = 71.97.
        assert_eq!(win.cwnd, Bytes(79_980));
        assert!((bic.now.w_max - 100.0).abs() < 1e-12);
        win.observe(win.cwnd, false);
        bic.on_congestion(Congestion::FastRetransmit, &mut win);
        assert!((bic.now.w_max - 79.98 * 1843.0 / 2048.0).abs() < 1e-9, "{}", bic.now.w_max);
        bic.on_undo(&mut win);
        assert!((bic.now.w_max - 100.0).abs() < 1e-12);
        // Small windows are Reno's, and a timeout forgets.
        win.cwnd = Bytes(14_000);
        win.observe(win.cwnd, false);
        bic.on_congestion(Congestion::Rto { repeated: false }, &mut win);
        assert_eq!((win.ssthresh, win.cwnd, bic.now.w_max), (Bytes(7000), Bytes(1000), 0.0));
    }
}
