//! Vegas: keeps between alpha and beta segments queued in the path, and does not wait for a loss.
//!
//! - **Source** @BP95: Brakmo & Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8),
//!   1995, sec. IV-B (congestion avoidance), IV-C (slow start). Cuts: @RFC5681.
//! - **Sits** sender. **Reads** RTT, acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) real numbers; the RTT of a round trip is its least, since a delayed ACK blurs the others (as Linux and
//!   ns-3); (b) the window moves by a segment at the end of a round trip, not in the course of the next; (c) slow start ends
//!   at the window that the measured rate fills, plus one segment, as Linux: the paper says that it ends, not where;
//!   (d) sec. IV-A, retransmission at the first duplicate ACK by a fine timer, is left to `recovery` and `rack`; (e) a loss
//!   halves the window, as Linux and ns-3; (f) the defaults are Vegas-2,4, where the paper has that and Vegas-1,3.
//! - **Checked** tests below; `every_cc`; `senders` (alone on a bottleneck; retransmits less than Reno).

use super::rounds::{Round, Rounds};
use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};

/// Its declaration.
pub const INFO: Info = Info {
    id: "vegas",
    summary: "keeps a few segments queued in the path, by the RTT",
    source: "BP95",
    params: &[
        Param {
            key: "alpha",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: Value::Float(2.0),
            doc: "Segments queued below which the window grows.",
        },
        Param {
            key: "beta",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: Value::Float(4.0),
            doc: "Segments queued above which it shrinks; no less than alpha counts.",
        },
        Param {
            key: "gamma",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: Value::Float(1.0),
            doc: "Segments queued above which slow start ends.",
        },
        Param {
            key: "slow_start",
            kind: Kind::Choice(&["every-other", "every"]),
            default: Value::Choice("every-other"),
            doc: "In which round trips slow start grows: in every other one (the paper), or in each (Linux).",
        },
    ],
};

/// Segments queued, see [`INFO`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thresholds {
    pub alpha: f64,
    pub beta: f64,
    pub gamma: f64,
}

/// The response of Vegas and its descendants to an ACK.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Core {
    pub rounds: Rounds,
    /// Segments queued in the last round trip.
    pub queued: f64,
    /// Slow start pauses in every other round trip.
    every_other: bool,
    pauses: bool,
}

impl Core {
    /// Slow start grows in `every_other` round trip, or in each.
    pub fn new(every_other: bool) -> Core {
        Core { every_other, ..Core::default() }
    }

    /// Moves the window after an ACK, with which `round` ended. @BP95 sec. IV-B, IV-C
    pub fn adjust(&mut self, ack: &Ack, round: Option<&Round>, thresholds: Thresholds, win: &mut Window) {
        let Some(round) = round else {
            if win.in_slow_start() && !self.pauses {
                reno::slow_start(ack, win);
            }
            return;
        };
        self.queued = round.queued(win.segments());
        if win.in_recovery() {
            return;
        }
        let (mss, least) = (win.mss(), win.mss() * 2);
        if win.in_slow_start() {
            if self.queued > thresholds.gamma {
                let filled = units::Bytes((win.cwnd.0 as f64 * (round.base / round.least)) as u64) + mss;
                win.cwnd = win.cwnd.min(filled.max(least));
                win.ssthresh = win.ssthresh.min(win.cwnd.max(least));
                self.pauses = false;
            } else {
                self.pauses = self.every_other && !self.pauses;
                if !self.pauses {
                    reno::slow_start(ack, win);
                }
            }
        } else if self.queued < thresholds.alpha {
            if win.may_grow() {
                win.cwnd += mss;
            }
        } else if self.queued > thresholds.beta.max(thresholds.alpha) && win.cwnd > least {
            win.cwnd = (win.cwnd - mss).max(least);
            win.ssthresh = win.ssthresh.min(win.cwnd); // else it would be slow start
        }
    }
}

/// The controller.
#[derive(Debug)]
pub struct Vegas {
    thresholds: Thresholds,
    core: Core,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    let (alpha, beta, gamma) = (params.float("alpha"), params.float("beta"), params.float("gamma"));
    let core = Core::new(params.choice("slow_start") == "every-other");
    Box::new(Vegas { thresholds: Thresholds { alpha, beta, gamma }, core })
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        let round = self.core.rounds.update(ack);
        self.core.adjust(ack, round.as_ref(), self.thresholds, win);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        reno::cut(why, win);
    }

    fn on_idle_restart(&mut self, win: &mut Window) {
        win.cwnd = win.cwnd.min(win.initial());
        self.core.rounds.forget();
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("vegas.queued", "segments", self.core.queued);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    fn vegas() -> Box<dyn CongestionControl> {
        make(&Params::defaults(INFO.params))
    }

    /// Twenty segments in congestion avoidance, whose path takes 100 ms.
    fn at_20() -> (Acks, Box<dyn CongestionControl>, Window) {
        let (mut acks, mut vegas) = (Acks::new(1000), vegas());
        let mut win = Window::new(Bytes(1000), 20, Some(Bytes(2000)));
        win.observe(win.cwnd, true);
        vegas.on_ack(&acks.rtt_ms(100).flight(20).next(1), &mut win); // only tells the base
        (acks, vegas, win)
    }

    #[test]
    fn the_window_moves_by_a_segment_if_fewer_than_alpha_or_more_than_beta_are_queued() {
        // 20 (1 - 100/RTT): 105 ms 0.95, 115 ms 2.6, 130 ms 4.6 segments.
        for (rtt, cwnd) in [(105, 21_000), (115, 20_000), (130, 19_000)] {
            let (mut acks, mut vegas, mut win) = at_20();
            acks.rtt_ms(rtt).round(vegas.as_mut(), &mut win);
            assert_eq!(win.cwnd, Bytes(cwnd), "{rtt} ms");
            assert!(!win.in_slow_start());
        }
    }

    #[test]
    fn slow_start_doubles_in_every_other_round_trip() {
        for (which, doublings) in [("every-other", 4.0), ("every", 8.0)] {
            let mut params = Params::defaults(INFO.params);
            params.set("slow_start", Value::Choice(which));
            let (mut acks, mut vegas) = (Acks::new(1000), make(&params));
            let mut win = Window::new(Bytes(1000), 4, None);
            acks.rtt_ms(100);
            for _ in 0..8 {
                acks.round(vegas.as_mut(), &mut win);
            }
            let got = libm::log2(win.segments() / 4.0);
            assert!((got - doublings).abs() <= 0.5, "{which}: {got} in eight round trips");
        }
    }

    #[test]
    fn slow_start_ends_when_more_than_gamma_are_queued() {
        let (mut acks, mut vegas) = (Acks::new(1000), vegas());
        let mut win = Window::new(Bytes(1000), 16, None);
        win.observe(win.cwnd, true);
        vegas.on_ack(&acks.rtt_ms(100).flight(16).next(1), &mut win);
        win.observe(win.cwnd, false);
        win.limited = false; // it does not grow meanwhile
        acks.rtt_ms(125).round(vegas.as_mut(), &mut win);
        // 16 (1 - 100/125) = 3.2 > 1: 16 * 100/125 = 12.8 segments fill the path, and one.
        assert_eq!((win.cwnd, win.ssthresh), (Bytes(13_800), Bytes(13_800)));
    }

    #[test]
    fn the_window_stays_at_two_segments_at_least() {
        let (mut acks, mut vegas) = (Acks::new(1000), vegas());
        let mut win = Window::new(Bytes(1000), 10, Some(Bytes(2000)));
        vegas.on_ack(&acks.rtt_ms(10).flight(10).next(1), &mut win);
        for _ in 0..30 {
            acks.rtt_ms(1000).round(vegas.as_mut(), &mut win); // 2 (1 - 1/100) = 1.98 < alpha: it grows again
            assert!(win.cwnd >= Bytes(2000));
        }
        assert!(win.cwnd < Bytes(6000), "{}", win.cwnd);
    }
}
