//! H-TCP: grows faster the longer the last loss is ago, and cuts by what queues hold.
//!
//! - **Source** @LS04: Leith & Shorten, "H-TCP: TCP for High-speed and Long-distance Networks", PFLDnet 2004, and
//!   draft-leith-tcp-htcp-06: alpha(D) = 1 + 10 (D - D_L) + ((D - D_L) / 2)^2 beyond D_L = 1 s, alpha = 2 (1 - beta) alpha(D),
//!   beta = RTT_min / RTT_max within 0.5 and 0.8, or 0.5 if the throughput changed by more than a fifth; RTT scaling.
//! - **Sits** sender. **Reads** acked bytes, time, RTT, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) real numbers where Linux has fixed point and seconds; (b) the throughput before a cut is the greatest of a
//!   filtered rate (3/4, 1/4), and each cut lets RTT_max fade by 5 %, as Linux; (c) the first cut takes 0.5, as Linux; (d) D
//!   begins with the first ACK after recovery; (e) cuts of the flight size (@RFC5681 eq. 4).
//! - **Checked** tests below; `every_cc`; `senders`.

use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::{Dur, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "h-tcp",
    summary: "grows with the square of the time since the last loss, cuts by what queues hold",
    source: "LS04",
    params: &[
        Param {
            key: "rtt_scaling",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "Growth per time, not per round trip, is that of a path of 100 ms.",
        },
        Param {
            key: "adaptive_backoff",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "A cut leaves RTT_min / RTT_max, from 0.5 to 0.8; otherwise 0.5.",
        },
        Param {
            key: "bandwidth_switch",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "A cut leaves 0.5 if the throughput changed by more than a fifth since the last.",
        },
    ],
};

/// D_L: the seconds after the last recovery in which growth is Reno's.
const LOW: f64 = 1.0;
/// Bounds of beta.
const BETA: (f64, f64) = (0.5, 0.8);
/// The path that RTT scaling refers to, in seconds, and the bounds of its ratio.
const REFERENCE: (f64, f64, f64) = (0.1, 0.5, 10.0);

/// The state that cuts change.
#[derive(Debug, Clone, Copy)]
struct State {
    /// The end of the last recovery. None: it lasts.
    since: Option<SimTime>,
    beta: f64,
    rtt_max: f64,
    /// The throughput of the epoch: filtered, its greatest, and that of the epoch before. Bytes per second.
    rate: f64,
    max_rate: f64,
    old_max_rate: f64,
    /// A cut has taken 0.5; the next may adapt.
    adapts: bool,
}

/// The controller.
#[derive(Debug)]
pub struct HTcp {
    rtt_scaling: bool,
    adaptive_backoff: bool,
    bandwidth_switch: bool,
    now: State,
    /// Before the last cut, for an undo.
    before: State,
    /// In seconds; zero before the first.
    rtt_min: f64,
    /// The throughput sample at hand.
    bytes: u64,
    sampled: SimTime,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(from_params(params))
}

fn from_params(params: &Params) -> HTcp {
    let now = State {
        since: None,
        beta: BETA.0,
        rtt_max: 0.0,
        rate: 0.0,
        max_rate: 0.0,
        old_max_rate: 0.0,
        adapts: false,
    };
    HTcp {
        rtt_scaling: params.bool("rtt_scaling"),
        adaptive_backoff: params.bool("adaptive_backoff"),
        bandwidth_switch: params.bool("bandwidth_switch"),
        now,
        before: now,
        rtt_min: 0.0,
        bytes: 0,
        sampled: SimTime::ZERO,
    }
}

impl HTcp {
    /// Segments per round trip, `elapsed` seconds after the last cut.
    fn alpha(&self, elapsed: f64) -> f64 {
        let beyond = (elapsed - LOW).max(0.0);
        let mut factor = 1.0 + 10.0 * beyond + (beyond / 2.0) * (beyond / 2.0);
        if self.rtt_scaling && self.rtt_min > 0.0 {
            factor = (factor / (REFERENCE.0 / self.rtt_min).clamp(REFERENCE.1, REFERENCE.2)).max(1.0);
        }
        2.0 * (1.0 - self.now.beta) * factor
    }

    fn measure(&mut self, ack: &Ack, win: &Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            let rtt = rtt.as_secs_f64();
            self.rtt_min = if self.rtt_min > 0.0 { self.rtt_min.min(rtt) } else { rtt };
            if !win.in_recovery() {
                self.now.rtt_max = self.now.rtt_max.max(rtt);
            }
        }
        if win.in_recovery() {
            (self.bytes, self.sampled) = (0, ack.now);
            return;
        }
        let since = *self.now.since.get_or_insert(ack.now);
        self.bytes += ack.acked.0;
        let interval = ack.now.since(self.sampled).as_secs_f64();
        if self.bytes + win.mss().0 < win.cwnd.0 || interval < self.rtt_min || self.rtt_min == 0.0 {
            return;
        }
        let sample = self.bytes as f64 / interval;
        if ack.now.since(since).as_secs_f64() <= 3.0 * self.rtt_min {
            (self.now.rate, self.now.max_rate) = (sample, sample); // just after a cut
        } else {
            self.now.rate = (3.0 * self.now.rate + sample) / 4.0;
            self.now.max_rate = self.now.max_rate.max(self.now.rate);
        }
        (self.bytes, self.sampled) = (0, ack.now);
    }

    /// Computes beta for the cut at hand, and ends the epoch.
    fn back_off(&mut self) {
        self.before = self.now;
        let now = &mut self.now;
        let (rate, old) = (now.max_rate, core::mem::replace(&mut now.old_max_rate, now.max_rate));
        let changed = self.bandwidth_switch && !(0.8 * old..=1.2 * old).contains(&rate);
        let adapts = core::mem::replace(&mut now.adapts, !changed);
        now.beta = if self.adaptive_backoff && !changed && adapts && now.rtt_max > 0.0 {
            (self.rtt_min / now.rtt_max).clamp(BETA.0, BETA.1)
        } else {
            BETA.0
        };
        if now.rtt_max > self.rtt_min {
            now.rtt_max = self.rtt_min + 0.95 * (now.rtt_max - self.rtt_min);
        }
        now.since = None;
    }
}

impl CongestionControl for HTcp {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        self.measure(ack, win);
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            let elapsed = self.now.since.map_or(0.0, |since| ack.now.since(since).as_secs_f64());
            reno::additive_increase(ack, self.alpha(elapsed), win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        if why != (Congestion::Rto { repeated: true }) {
            self.back_off();
        }
        reno::cut_to(why, self.now.beta, win);
    }

    fn on_undo(&mut self, _win: &mut Window) {
        self.now = self.before;
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("htcp.beta", "1", self.now.beta);
        out.gauge("htcp.max_rate", "b/s", self.now.max_rate * 8.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    fn htcp() -> HTcp {
        from_params(&Params::defaults(INFO.params))
    }

    #[test]
    fn growth_by_the_time_since_the_last_cut() {
        let mut htcp = htcp();
        // beta 0.5: 1 up to a second, then 1 + 10 * 1 + 0.25 = 11.25 after two, 1 + 20 + 1 = 22 after three.
        for (elapsed, alpha) in [(0.5, 1.0), (1.0, 1.0), (2.0, 11.25), (3.0, 22.0)] {
            assert!((htcp.alpha(elapsed) - alpha).abs() < 1e-12, "{elapsed}: {}", htcp.alpha(elapsed));
        }
        // Scaled: a path of 50 ms grows half as much in a round trip, one of 1 s twice as much, none less than Reno.
        for (rtt_min, alpha) in [(0.05, 5.625), (1.0, 22.5), (0.001, 1.125)] {
            htcp.rtt_min = rtt_min;
            assert!((htcp.alpha(2.0) - alpha).abs() < 1e-12, "{rtt_min}: {}", htcp.alpha(2.0));
        }
        htcp.now.beta = 0.8;
        htcp.rtt_min = 0.1;
        assert!((htcp.alpha(2.0) - 4.5).abs() < 1e-12); // 0.4 * 11.25
    }

    #[test]
    fn a_cut_leaves_the_ratio_of_the_rtts_if_the_throughput_is_as_before() {
        let mut htcp = htcp();
        (htcp.rtt_min, htcp.now.rtt_max) = (0.1, 0.15);
        (htcp.now.max_rate, htcp.now.old_max_rate) = (1e6, 1.1e6);
        htcp.back_off();
        assert!((htcp.now.beta - 0.5).abs() < 1e-12, "the first");
        htcp.now.max_rate = 1e6;
        htcp.back_off();
        // RTT_max faded to 0.1 + 0.95 * 0.05 = 0.1475.
        assert!((htcp.now.beta - 0.1 / 0.1475).abs() < 1e-12, "{}", htcp.now.beta);
        htcp.now.max_rate = 0.7e6;
        htcp.back_off();
        assert!((htcp.now.beta - 0.5).abs() < 1e-12, "the throughput fell by more than a fifth");
    }

    #[test]
    fn the_throughput_is_a_window_over_its_time() {
        let mut htcp = htcp();
        let mut acks = Acks::new(1000);
        let mut win = Window::new(Bytes(1000), 10, Some(Bytes(1000)));
        acks.rtt_ms(100).gap(Dur::from_ms(10));
        // A window of 10 in 100 ms; the ninth ACK is the first with a window less a segment, the tenth after an RTT.
        for _ in 0..12 {
            win.observe(win.cwnd, false);
            htcp.on_ack(&acks.next(1), &mut win);
        }
        assert!((htcp.now.max_rate - 100_000.0).abs() < 1e-6, "{}", htcp.now.max_rate);
    }
}
