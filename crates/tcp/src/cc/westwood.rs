//! Westwood: after a loss the window is what the rate of ACKs says the path holds.
//!
//! - **Source** @MCGSW01: Mascolo, Casetti, Gerla, Sanadidi & Wang, "TCP Westwood: Bandwidth Estimation for Enhanced Transport
//!   over Wireless Links", MobiCom 2001: samples b_k (eq. 1), the filter by Tustin's approximation with null samples (eq. 2 and
//!   sec. 2.2), duplicate and delayed ACKs (sec. 2.3), what a loss sets (sec. 3.1, 3.2). Growth: @RFC5681.
//! - **Sits** sender. **Reads** acked and SACKed bytes, duplicates, time, RTT. **Turns** cwnd, ssthresh.
//! - **Departs** (a) AckedCount keeps bytes, and what a partial ACK covers without the duplicates before it: the paper counts
//!   one segment where they were more; (b) ACKs of one instant are one sample; (c) 64 null samples in a row are as good as all;
//!   (d) before the first estimate a loss halves the window; (e) a mark is answered as a loss, which the paper has not.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::{Dur, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "westwood",
    summary: "after a loss the window is the estimated rate times the least RTT; a sample per ACK",
    source: "MCGSW01",
    params: &[Param {
        key: "tau",
        kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(60) },
        default: Value::Time(Dur::from_ms(500)),
        doc: "Time constant of the filter; after half of it without an ACK comes a sample of no bandwidth.",
    }],
};

/// Counts what ACKs say has arrived, each byte once. @MCGSW01 sec. 2.3
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrivals {
    /// Bytes counted for duplicates, and not yet covered by an ACK.
    ahead: u64,
}

impl Arrivals {
    /// Counts an ACK of new data, and returns the bytes that it newly reports.
    pub fn on_ack(&mut self, ack: &Ack) -> u64 {
        let covered = ack.acked.0.min(self.ahead);
        self.ahead += ack.sacked.0;
        self.ahead -= covered;
        if ack.prior_flight <= ack.acked {
            self.ahead = 0; // nothing is in flight
        }
        ack.acked.0 - covered + ack.sacked.0
    }

    /// Counts a duplicate, and returns its bytes: those of its SACK blocks, or the segment that has left the network.
    pub fn on_duplicate(&mut self, ack: &Ack, win: &Window) -> u64 {
        let bytes = if ack.sacked.0 > 0 { ack.sacked.0 } else { win.mss().0 };
        self.ahead += bytes;
        bytes
    }
}

/// The filter. Rates in bytes per second.
#[derive(Debug, Clone, Copy)]
struct Filter {
    tau: f64,
    rate: f64,
    sample: f64,
    last: Option<SimTime>,
    /// Told at the time of the last sample, and not in it.
    pending: u64,
}

impl Filter {
    /// Eq. 2: a sample `delta` seconds after the last.
    fn sample(&mut self, sample: f64, delta: f64) {
        let keep = (2.0 * self.tau - delta) / (2.0 * self.tau + delta);
        self.rate = keep * self.rate + (1.0 - keep) * (sample + self.sample) / 2.0;
        self.sample = sample;
    }

    /// `bytes` have arrived.
    fn arrived(&mut self, now: SimTime, bytes: u64) {
        let Some(last) = self.last else {
            self.last = Some(now);
            return;
        };
        let mut delta = now.since(last).as_secs_f64();
        if delta <= 0.0 {
            self.pending += bytes;
            return;
        }
        let most = self.tau / 2.0;
        for _ in 0..64 {
            if delta <= most {
                break;
            }
            self.sample(0.0, most); // sec. 2.2
            delta -= most;
        }
        delta = delta.min(most);
        self.sample((self.pending + bytes) as f64 / delta, delta);
        (self.last, self.pending) = (Some(now), 0);
    }
}

/// The controller.
#[derive(Debug)]
pub struct Westwood {
    filter: Filter,
    arrivals: Arrivals,
    rtt_min: Option<Dur>,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    let tau = params.time("tau").as_secs_f64();
    let filter = Filter { tau, rate: 0.0, sample: 0.0, last: None, pending: 0 };
    Box::new(Westwood { filter, arrivals: Arrivals::default(), rtt_min: None })
}

/// Cuts to the estimate of a controller, the bytes that the path holds: the threshold becomes the estimate, the window at
/// most that. @MCGSW01 sec. 3
pub(crate) fn cut_to_estimate(why: Congestion, estimate: Option<f64>, win: &mut Window) {
    let Some(bytes) = estimate.filter(|bytes| *bytes > 0.0) else { return reno::cut(why, win) };
    match why {
        Congestion::FastRetransmit => win.cut_to(bytes),
        Congestion::EcnMark => win.mark_to(bytes),
        Congestion::Rto { repeated } => {
            if !repeated {
                win.cut_to(bytes);
            }
            win.cwnd = win.mss();
        }
    }
}

/// The end of a recovery whose cut may have left cwnd below ssthresh: it stays there.
pub(crate) fn recovered(win: &mut Window) {
    let kept = win.cwnd;
    win.deflate();
    win.cwnd = win.cwnd.min(kept);
}

impl CongestionControl for Westwood {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        let bytes = self.arrivals.on_ack(ack);
        self.filter.arrived(ack.now, bytes);
        reno::grow(ack, win);
    }

    fn on_dup_ack(&mut self, ack: &Ack, win: &mut Window) {
        let bytes = self.arrivals.on_duplicate(ack, win);
        self.filter.arrived(ack.now, bytes);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        let estimate = self.rtt_min.map(|rtt| self.filter.rate * rtt.as_secs_f64());
        cut_to_estimate(why, estimate, win);
    }

    fn on_recovered(&mut self, win: &mut Window) {
        recovered(win);
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("westwood.bandwidth", "b/s", self.filter.rate * 8.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    fn filter() -> Filter {
        Filter { tau: 0.5, rate: 0.0, sample: 0.0, last: None, pending: 0 }
    }

    #[test]
    fn the_filter_is_tustins() {
        // 1000 B in 100 ms: b = 10000 B/s, keep = 0.9/1.1; 2/11 (10000 + 0)/2 = 909.09, then 0.9/1.1 of that
        // and 2/11 (10000 + 10000)/2: 743.80 + 1818.18 = 2561.98.
        let mut filter = filter();
        filter.arrived(SimTime::ZERO, 1000);
        filter.arrived(SimTime::ZERO + Dur::from_ms(100), 1000);
        assert!((filter.rate - 10_000.0 / 11.0).abs() < 1e-9, "{}", filter.rate);
        filter.arrived(SimTime::ZERO + Dur::from_ms(200), 1000);
        assert!((filter.rate - (10_000.0 / 11.0 * 9.0 / 11.0 + 20_000.0 / 11.0)).abs() < 1e-9, "{}", filter.rate);
    }

    #[test]
    fn silence_is_samples_of_nothing() {
        // 600 ms: null samples after 250 and 500 ms, each keeps 0.75/1.25 = 0.6, then 1000 B in 100 ms.
        let mut filter = filter();
        filter.arrived(SimTime::ZERO, 1000);
        (filter.rate, filter.sample) = (20_000.0, 20_000.0);
        filter.arrived(SimTime::ZERO + Dur::from_ms(600), 1000);
        let first = 0.6 * 20_000.0 + 0.4 * 10_000.0; // the mean of 20000 and 0
        let second: f64 = 0.6 * first;
        let third = 9.0 / 11.0 * second + 2.0 / 11.0 * 5000.0;
        assert!((filter.rate - third).abs() < 1e-6, "{} {third}", filter.rate);
    }

    #[test]
    fn each_byte_counts_once() {
        let mut acks = Acks::new(1000);
        let win = Window::new(Bytes(1000), 10, None);
        let mut arrivals = Arrivals::default();
        acks.flight(10);
        assert_eq!(arrivals.on_ack(&acks.next(2)), 2000); // delayed
        let duplicates: u64 = (0..5).map(|_| arrivals.on_duplicate(&acks.next(0), &win)).sum();
        assert_eq!(duplicates, 5000);
        assert_eq!(arrivals.on_ack(&acks.next(3)), 0); // partial: the hole and two of the five
        assert_eq!(arrivals.on_ack(&acks.next(5)), 3000); // 8 in all: 5 and 3
    }

    #[test]
    fn a_loss_leaves_what_the_path_holds() {
        // 125000 B/s and 100 ms: 12500 B of 20000, and no growth where the window is less than that.
        for (cwnd, left) in [(20, 12_500), (8, 8000)] {
            let mut win = Window::new(Bytes(1000), cwnd, None);
            win.observe(win.cwnd, false);
            cut_to_estimate(Congestion::FastRetransmit, Some(125_000.0 * 0.1), &mut win);
            assert_eq!((win.cwnd, win.ssthresh), (Bytes(left), Bytes(12_500)));
            recovered(&mut win);
            assert!(win.cwnd <= Bytes(left));
            cut_to_estimate(Congestion::Rto { repeated: false }, Some(300.0), &mut win);
            assert_eq!((win.cwnd, win.ssthresh), (Bytes(1000), Bytes(2000))); // at least two segments
        }
    }
}
