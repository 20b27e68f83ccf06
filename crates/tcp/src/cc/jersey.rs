//! Jersey: the window follows the estimated bandwidth when routers warn of congestion.
//!
//! - **Source** @XTA04: Xu, Tian & Ansari, "TCP-Jersey for Wireless IP Communications", IEEE JSAC 22(4), 2004, as @SAN14 describes
//!   it (sec. 4.3): R_n = (RTT R_(n-1) + L_n) / ((t_n - t_(n-1)) + RTT) (eq. 4.4); the optimal window is RTT R_n. Growth: @RFC5681.
//! - **Sits** sender; its router is a queue with `discipline = "congestion-warning"`. **Reads** acked and SACKed bytes,
//!   duplicates, time, RTT, marks. **Turns** cwnd, ssthresh.
//! - **Departs** the paper itself was not at hand. (a) L_n is what the ACK tells has arrived, duplicates counted as in
//!   [`super::westwood`]; the RTT of eq. 4.4 is the last sample; (b) @SAN14 writes RTT for the window, others the least RTT:
//!   `window_rtt`, by default the least; (c) a loss without a warning sets the window as well unless `routers_warn`: a path
//!   whose routers do not mark would take it for random; (d) timeouts as @RFC5681, with the estimate for ssthresh.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::westwood::{Arrivals, cut_to_estimate, recovered};
use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::{Dur, SimTime};
use wire::{Flags, Seq};

/// The parameters of Jersey and New Jersey.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        key: "window_rtt",
        kind: Kind::Choice(&["least", "last"]),
        default: Value::Choice("least"),
        doc: "The RTT that makes a window of the bandwidth: the least ever, or the last.",
    },
    Param {
        key: "routers_warn",
        kind: Kind::Bool,
        default: Value::Bool(false),
        doc: "Queues mark (congestion-warning, with ecn = true): a loss without a mark in the last round trip is random and cuts nothing.",
    },
];

/// Its declaration.
pub const INFO: Info = Info {
    id: "jersey",
    summary: "the window follows the estimated bandwidth when routers warn, or after a loss",
    source: "XTA04",
    params: PARAMS,
};

/// The controller, also of New Jersey.
#[derive(Debug)]
pub struct Jersey {
    window_rtt_is_least: bool,
    routers_warn: bool,
    /// t_n is the receiver's timestamp: New Jersey.
    receiver_clock: bool,
    arrivals: Arrivals,
    /// R_n, in bytes per second.
    rate: f64,
    /// The time when the last ACK came, and its TSval.
    last: Option<(SimTime, Option<u32>)>,
    rtt: Dur,
    rtt_min: Dur,
    /// A warning counts until this is acknowledged.
    warned: Option<Seq>,
    una: Seq,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(from_params(params, false))
}

/// Jersey, or New Jersey with the receiver's clock.
pub(crate) fn from_params(params: &Params, receiver_clock: bool) -> Jersey {
    Jersey {
        window_rtt_is_least: params.choice("window_rtt") == "least",
        routers_warn: params.bool("routers_warn"),
        receiver_clock,
        arrivals: Arrivals::default(),
        rate: 0.0,
        last: None,
        rtt: Dur::ZERO,
        rtt_min: Dur::ZERO,
        warned: None,
        una: Seq(0),
    }
}

impl Jersey {
    /// Eq. 4.4.
    fn arrived(&mut self, ack: &Ack, bytes: u64, tick: Dur) {
        let stamp = ack.timestamps.map(|(value, _)| value);
        let Some((last, last_stamp)) = self.last.replace((ack.now, stamp)) else { return };
        let elapsed = match last_stamp.zip(stamp).filter(|_| self.receiver_clock) {
            Some((before, now)) => {
                let ticks = (now.wrapping_sub(before) as i32).max(0) as u32;
                tick.as_secs_f64() * f64::from(ticks)
            }
            None => ack.now.since(last).as_secs_f64(),
        };
        if self.rtt > Dur::ZERO {
            let rtt = self.rtt.as_secs_f64();
            self.rate = (rtt * self.rate + bytes as f64) / (elapsed + rtt);
        }
    }

    /// The optimal window in bytes.
    fn optimum(&self) -> f64 {
        let rtt = if self.window_rtt_is_least { self.rtt_min } else { self.rtt };
        rtt.as_secs_f64() * self.rate
    }
}

impl CongestionControl for Jersey {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            self.rtt = rtt;
            self.rtt_min = if self.rtt_min == Dur::ZERO { rtt } else { self.rtt_min.min(rtt) };
        }
        self.una = ack.number;
        if ack.flags.has(Flags::ECE) {
            self.warned = Some(ack.next());
        } else if self.warned.is_some_and(|until| until.le(ack.number)) {
            self.warned = None;
        }
        let bytes = self.arrivals.on_ack(ack);
        self.arrived(ack, bytes, win.timestamp_tick());
        reno::grow(ack, win);
    }

    fn on_dup_ack(&mut self, ack: &Ack, win: &mut Window) {
        if ack.flags.has(Flags::ECE) {
            self.warned = Some(ack.next());
        }
        let bytes = self.arrivals.on_duplicate(ack, win);
        self.arrived(ack, bytes, win.timestamp_tick());
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        if why == Congestion::FastRetransmit && self.routers_warn && self.warned.is_none() {
            win.ssthresh = win.cwnd.max(win.mss() * 2); // random: what is lost is sent again, nothing else
            return;
        }
        cut_to_estimate(why, Some(self.optimum()), win);
    }

    fn on_recovered(&mut self, win: &mut Window) {
        recovered(win);
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("jersey.bandwidth", "b/s", self.rate * 8.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    fn jersey(receiver_clock: bool) -> Jersey {
        from_params(&Params::defaults(PARAMS), receiver_clock)
    }

    fn window() -> Window {
        let mut win = Window::new(Bytes(1000), 20, Some(Bytes(1000)));
        win.observe(win.cwnd, true);
        win
    }

    #[test]
    fn equation_4_4() {
        let (mut jersey, mut acks, mut win) = (jersey(false), Acks::new(1000), window());
        acks.rtt_ms(90).gap(Dur::from_ms(10));
        jersey.on_ack(&acks.next(1), &mut win);
        jersey.on_ack(&acks.next(1), &mut win);
        // (0.09 * 0 + 1000) / (0.01 + 0.09) = 10000; (0.09 * 10000 + 1000) / 0.1 = 19000.
        assert!((jersey.rate - 10_000.0).abs() < 1e-9);
        jersey.on_ack(&acks.next(1), &mut win);
        assert!((jersey.rate - 19_000.0).abs() < 1e-9);
        for _ in 0..300 {
            jersey.on_ack(&acks.next(1), &mut win);
        }
        assert!((jersey.rate - 100_000.0).abs() < 1e-3, "1000 B each 10 ms: {}", jersey.rate);
        assert!((jersey.optimum() - 9000.0).abs() < 1e-3);
    }

    #[test]
    fn compressed_acks_deceive_jersey_and_not_new_jersey() {
        // Ten segments arrive 10 ms apart; their ACKs come together, each 100 ms.
        let mut rates = vec![];
        for receiver_clock in [false, true] {
            let (mut jersey, mut acks, mut win) = (jersey(receiver_clock), Acks::new(1000), window());
            let mut arrival = 0;
            for _ in 0..50 {
                for i in 0..10 {
                    arrival += 10;
                    acks.rtt_ms(100).stamp(arrival).gap(Dur::from_ms(if i == 0 { 100 } else { 0 }));
                    jersey.on_ack(&acks.next(1), &mut win);
                }
            }
            rates.push(jersey.rate);
        }
        // New Jersey: 100000 B/s. Jersey: just after the ten, R = x + 10 * 1000 / 0.1 with x = R / 2 + … above it.
        assert!((rates[1] - 100_000.0).abs() < 1.0, "{rates:?}");
        assert!(rates[0] > 140_000.0, "{rates:?}");
    }

    #[test]
    fn a_loss_without_a_warning_cuts_nothing_where_routers_warn() {
        let mut params = Params::defaults(PARAMS);
        params.set("routers_warn", Value::Bool(true));
        let (mut jersey, mut acks, mut win) = (from_params(&params, false), Acks::new(1000), window());
        acks.rtt_ms(100).flight(20).gap(Dur::from_ms(10));
        for _ in 0..300 {
            jersey.on_ack(&acks.next(1), &mut win);
        }
        jersey.on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!((win.cwnd, win.ssthresh), (Bytes(20_000), Bytes(20_000)));
        let mut warned = acks.next(1);
        warned.flags |= Flags::ECE;
        jersey.on_ack(&warned, &mut win);
        jersey.on_congestion(Congestion::FastRetransmit, &mut win);
        assert_eq!((win.cwnd.0.div_ceil(10), win.ssthresh.0.div_ceil(10)), (1000, 1000)); // 100000 B/s, 100 ms
    }
}
