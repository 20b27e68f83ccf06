//! Compound TCP: a window for losses as Reno's, and one for delay that fills what losses leave free.
//!
//! - **Source** @TSZS06: Tan, Song, Zhang & Sridharan, "A Compound TCP Approach for High-speed and Long Distance Networks",
//!   INFOCOM 2006, and draft-sridharan-tcpm-ctcp-02: win = cwnd + dwnd; dwnd grows by alpha win^k - 1 in a round trip that has
//!   fewer than gamma segments queued, and shrinks by zeta times those queued otherwise; a loss leaves win (1 - beta).
//! - **Sits** sender. **Reads** RTT, acked bytes, flight size. **Turns** cwnd (their win), ssthresh.
//! - **Departs** (a) dwnd moves at the end of a round trip, by the mean of its RTTs (the paper: a smoothed one); (b) gamma is
//!   fixed at 30: its tuning by the draft is not here; (c) zeta = 1 and the least window of dwnd, 41 segments, are parameters
//!   whose printed values could not be checked; (d) cuts of the flight size (@RFC5681 eq. 4).
//! - **Checked** tests below; `every_cc`; `senders`.

use super::rounds::{Round, Rounds};
use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::Bytes;

/// Its declaration.
pub const INFO: Info = Info {
    id: "compound",
    summary: "Reno's window and one that grows while little is queued",
    source: "TSZS06",
    params: &[
        Param {
            key: "alpha",
            kind: Kind::Float { min: 0.001, max: 10.0 },
            default: Value::Float(0.125),
            doc: "Factor of the growth by delay.",
        },
        Param {
            key: "beta",
            kind: Kind::Float { min: 0.01, max: 0.9 },
            default: Value::Float(0.5),
            doc: "What a loss takes of the window.",
        },
        Param {
            key: "k",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: Value::Float(0.75),
            doc: "Exponent of the growth by delay.",
        },
        Param {
            key: "gamma",
            kind: Kind::Float { min: 0.0, max: 10_000.0 },
            default: Value::Float(30.0),
            doc: "Segments queued from which the window of delay shrinks.",
        },
        Param {
            key: "zeta",
            kind: Kind::Float { min: 0.0, max: 100.0 },
            default: Value::Float(1.0),
            doc: "By how much of those queued.",
        },
        Param {
            key: "low_window",
            kind: Kind::Int { min: 0, max: 1_000_000 },
            default: Value::Int(41),
            doc: "Segments below which it is Reno.",
        },
    ],
};

/// The controller.
#[derive(Debug)]
pub struct Compound {
    alpha: f64,
    beta: f64,
    k: f64,
    gamma: f64,
    zeta: f64,
    low_window: f64,
    rounds: Rounds,
    /// In segments: this part of cwnd.
    dwnd: f64,
    /// Before the last cut, for an undo.
    before: f64,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(from_params(params))
}

fn from_params(params: &Params) -> Compound {
    Compound {
        alpha: params.float("alpha"),
        beta: params.float("beta"),
        k: params.float("k"),
        gamma: params.float("gamma"),
        zeta: params.float("zeta"),
        low_window: params.int("low_window") as f64,
        rounds: Rounds::default(),
        dwnd: 0.0,
        before: 0.0,
    }
}

impl Compound {
    /// dwnd after a round trip, with a window of `win` segments of which `queued` stood in queues.
    fn next(&self, win: f64, queued: f64) -> f64 {
        if queued < self.gamma {
            self.dwnd + (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0)
        } else {
            (self.dwnd - self.zeta * queued).max(0.0)
        }
    }

    fn move_by_delay(&mut self, round: &Round, win: &mut Window) {
        let segments = win.segments();
        let queued = segments * (1.0 - round.base / round.mean);
        let next = if segments < self.low_window && queued < self.gamma {
            self.dwnd
        } else {
            self.next(segments, queued)
        };
        let mss = win.mss().0 as f64;
        if next < self.dwnd {
            win.cwnd = win.cwnd.saturating_sub(Bytes(((self.dwnd - next) * mss) as u64)).max(win.mss() * 2);
            win.ssthresh = win.ssthresh.min(win.cwnd); // else it would be slow start
            self.dwnd = next;
        } else if win.may_grow() {
            win.grow((next - self.dwnd) * mss);
            self.dwnd = next;
        }
    }
}

impl CongestionControl for Compound {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        let round = self.rounds.update(ack);
        if win.in_slow_start() {
            reno::slow_start(ack, win);
            return;
        }
        reno::additive_increase(ack, 1.0, win);
        if let Some(round) = round.filter(|_| !win.in_recovery()) {
            self.move_by_delay(&round, win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        let repeated = why == (Congestion::Rto { repeated: true });
        if !repeated {
            self.before = self.dwnd;
        }
        let by_loss = (win.segments() - self.dwnd).max(0.0) / 2.0;
        reno::cut_to(why, 1.0 - self.beta, win);
        self.dwnd = match why {
            Congestion::Rto { .. } => 0.0,
            _ => (win.segments() - by_loss).max(0.0),
        };
    }

    fn on_undo(&mut self, _win: &mut Window) {
        self.dwnd = self.before;
    }

    fn on_idle_restart(&mut self, win: &mut Window) {
        win.cwnd = win.cwnd.min(win.initial());
        self.dwnd = 0.0;
        self.rounds.forget();
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("compound.dwnd", "segments", self.dwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compound() -> Compound {
        from_params(&Params::defaults(INFO.params))
    }

    #[test]
    fn the_window_of_delay_grows_with_the_window_and_shrinks_with_the_queue() {
        let mut compound = compound();
        // 256^0.75 = 64, an eighth 8, less one; 16^0.75 = 8: an eighth is 1.
        assert!((compound.next(256.0, 0.0) - 7.0).abs() < 1e-9);
        assert!((compound.next(16.0, 0.0)).abs() < 1e-9);
        compound.dwnd = 100.0;
        assert!((compound.next(256.0, 29.9) - 107.0).abs() < 1e-9);
        assert!((compound.next(256.0, 30.0) - 70.0).abs() < 1e-9);
        assert_eq!(compound.next(256.0, 101.0), 0.0);
    }

    #[test]
    fn a_round_trip_adds_both_windows() {
        let mut compound = compound();
        let mut win = Window::new(Bytes(1000), 256, Some(Bytes(1000)));
        win.observe(win.cwnd, false);
        // 10 segments are queued: 256 (1 - 100/104.07).
        let round = Round { base: 0.1, most: 0.2, least: 0.1, mean: 0.104 };
        compound.move_by_delay(&round, &mut win);
        assert_eq!((win.cwnd, compound.dwnd), (Bytes(263_000), 7.0));
        let congested = Round { mean: 0.125, ..round }; // 263 (1 - 0.8) = 52.6 queued: more than dwnd
        compound.move_by_delay(&congested, &mut win);
        assert_eq!((win.cwnd, compound.dwnd), (Bytes(256_000), 0.0));
        win.cwnd = Bytes(40_000); // below the least window
        compound.move_by_delay(&round, &mut win);
        assert_eq!((win.cwnd, compound.dwnd), (Bytes(40_000), 0.0));
    }

    #[test]
    fn a_loss_halves_both_windows_and_a_timeout_forgets_the_delay() {
        let mut compound = compound();
        let mut win = Window::new(Bytes(1000), 300, Some(Bytes(1000)));
        win.observe(win.cwnd, false);
        compound.dwnd = 200.0;
        compound.on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!((win.cwnd, compound.dwnd), (Bytes(150_000), 100.0)); // 100/2 and 300/2 - 50
        win.observe(win.cwnd, false);
        compound.on_congestion(Congestion::Rto { repeated: false }, &mut win);
        assert_eq!((win.ssthresh, compound.dwnd), (Bytes(75_000), 0.0));
        compound.on_undo(&mut win);
        assert_eq!(compound.dwnd, 100.0);
    }
}
