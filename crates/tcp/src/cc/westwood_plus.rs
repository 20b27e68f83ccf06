//! Westwood+: Westwood with one sample of the bandwidth in each round trip, which compressed ACKs do not inflate.
//!
//! - **Source** @GM04: Grieco & Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion
//!   Control", CCR 34(2), 2004, sec. 2: b_k = d_k / RTT_k, B_k = a B_(k-1) + (1 - a) b_k; cuts as @MCGSW01. Growth: @RFC5681.
//! - **Sits** sender. **Reads** acked and SACKed bytes, duplicates, time, RTT. **Turns** cwnd, ssthresh.
//! - **Departs** (a) `a` = 0.9 as in the authors' ns-2 code and ns-3 (Linux filters twice with 7/8); (b) a sample takes at least
//!   `least_interval`, 50 ms as Linux; (c) the first sample is the first estimate, as Linux; (d) what [`super::westwood`] says of
//!   AckedCount, marks and a loss before the first estimate.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::westwood::{Arrivals, cut_to_estimate, recovered};
use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::{Dur, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "westwood+",
    summary: "Westwood with one sample of the bandwidth in each round trip",
    source: "GM04",
    params: &[
        Param {
            key: "alpha",
            kind: Kind::Float { min: 0.0, max: 0.999 },
            default: Value::Float(0.9),
            doc: "What a sample leaves of the estimate before it.",
        },
        Param {
            key: "least_interval",
            kind: Kind::Time { min: Dur::ZERO, max: Dur::from_secs(60) },
            default: Value::Time(Dur::from_ms(50)),
            doc: "Least time of a sample, if the RTT is less.",
        },
    ],
};

/// The controller. Rates in bytes per second.
#[derive(Debug)]
pub struct WestwoodPlus {
    alpha: f64,
    least_interval: Dur,
    rate: Option<f64>,
    arrivals: Arrivals,
    /// The start of the sample at hand, and its bytes.
    since: Option<SimTime>,
    bytes: u64,
    rtt: Dur,
    rtt_min: Option<Dur>,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(WestwoodPlus {
        alpha: params.float("alpha"),
        least_interval: params.time("least_interval"),
        rate: None,
        arrivals: Arrivals::default(),
        since: None,
        bytes: 0,
        rtt: Dur::ZERO,
        rtt_min: None,
    })
}

impl WestwoodPlus {
    fn arrived(&mut self, now: SimTime, bytes: u64) {
        self.bytes += bytes;
        let Some(since) = self.since else {
            (self.since, self.bytes) = (Some(now), 0); // it came before the sample began
            return;
        };
        let interval = now.since(since);
        if self.rtt == Dur::ZERO || interval < self.rtt.max(self.least_interval) {
            return;
        }
        let sample = self.bytes as f64 / interval.as_secs_f64();
        self.rate = Some(self.rate.map_or(sample, |rate| self.alpha * rate + (1.0 - self.alpha) * sample));
        (self.since, self.bytes) = (Some(now), 0);
    }
}

impl CongestionControl for WestwoodPlus {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            self.rtt = rtt;
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        let bytes = self.arrivals.on_ack(ack);
        self.arrived(ack.now, bytes);
        reno::grow(ack, win);
    }

    fn on_dup_ack(&mut self, ack: &Ack, win: &mut Window) {
        let bytes = self.arrivals.on_duplicate(ack, win);
        self.arrived(ack.now, bytes);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        let estimate = self.rate.zip(self.rtt_min).map(|(rate, rtt)| rate * rtt.as_secs_f64());
        cut_to_estimate(why, estimate, win);
    }

    fn on_recovered(&mut self, win: &mut Window) {
        recovered(win);
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("westwood.bandwidth", "b/s", self.rate.unwrap_or(0.0) * 8.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    #[test]
    fn a_round_trip_is_a_sample() {
        let mut westwood = WestwoodPlus {
            alpha: 0.9,
            least_interval: Dur::from_ms(50),
            rate: None,
            arrivals: Arrivals::default(),
            since: None,
            bytes: 0,
            rtt: Dur::ZERO,
            rtt_min: None,
        };
        let mut acks = Acks::new(1000);
        let mut win = Window::new(Bytes(1000), 10, Some(Bytes(2000)));
        win.observe(win.cwnd, true);
        // 1000 B each 10 ms, RTT 100 ms: 100000 B/s at the eleventh ACK.
        acks.rtt_ms(100).flight(10).gap(Dur::from_ms(10));
        for i in 0..=10 {
            assert_eq!(westwood.rate, None, "{i}");
            westwood.on_ack(&acks.next(1), &mut win);
        }
        assert!((westwood.rate.unwrap() - 100_000.0).abs() < 1e-6);
        // Twice as fast: 0.9 * 100000 + 0.1 * 200000 = 110000.
        acks.gap(Dur::from_ms(5));
        for _ in 0..20 {
            westwood.on_ack(&acks.next(1), &mut win);
        }
        assert!((westwood.rate.unwrap() - 110_000.0).abs() < 1e-6, "{:?}", westwood.rate);
        win.cwnd = Bytes(30_000);
        westwood.on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!((win.cwnd, win.ssthresh), (Bytes(11_000), Bytes(11_000))); // 110000 * 0.1
    }
}
