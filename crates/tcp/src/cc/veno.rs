//! Veno: guesses from the segments queued in the path whether a loss was random.
//!
//! - **Source** @FL03: Fu & Liew, "TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks", IEEE JSAC 21(2),
//!   2003, sec. II (N = Actual (RTT - BaseRTT); beta = 3; 4/5 for a random loss; growth every other round trip). Base: @RFC5681.
//! - **Sits** sender. **Reads** RTT, acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) N is of the last RTT sample and the least RTT ever, which no loss makes forgotten (as Linux); (b) "one
//!   segment every other round trip" is half a segment in each; (c) cuts are of the flight size, as @RFC5681 eq. 4 asks, where
//!   the paper cuts cwnd; (d) a mark halves: it is no random loss.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::Dur;

/// Its declaration.
pub const INFO: Info = Info {
    id: "veno",
    summary: "Reno that cuts less where few segments are queued: the loss was random",
    source: "FL03",
    params: &[
        Param {
            key: "beta",
            kind: Kind::Float { min: 0.0, max: 1000.0 },
            default: Value::Float(3.0),
            doc: "Segments queued below which a loss is taken for random.",
        },
        Param {
            key: "random_factor",
            kind: Kind::Float { min: 0.5, max: 0.99 },
            default: Value::Float(0.8),
            doc: "What a random loss leaves of the window.",
        },
    ],
};

/// The controller.
#[derive(Debug)]
pub struct Veno {
    beta: f64,
    random_factor: f64,
    base: Option<Dur>,
    /// N of sec. II.
    queued: f64,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    let (beta, random_factor) = (params.float("beta"), params.float("random_factor"));
    Box::new(Veno { beta, random_factor, base: None, queued: 0.0 })
}

impl CongestionControl for Veno {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            let base = self.base.map_or(rtt, |base| base.min(rtt));
            self.base = Some(base);
            self.queued = win.segments() * (1.0 - base.as_secs_f64() / rtt.as_secs_f64());
        }
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            let per_rtt = if self.queued < self.beta { 1.0 } else { 0.5 }; // departure (b)
            reno::additive_increase(ack, per_rtt, win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        let random = why == Congestion::FastRetransmit && self.queued < self.beta;
        reno::cut_to(why, if random { self.random_factor } else { 0.5 }, win);
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("veno.queued", "segments", self.queued);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    /// Twenty segments in congestion avoidance, after RTTs of 100 ms and `rtt`; the base and one ACK have been seen.
    fn at(rtt: u64) -> (Acks, Box<dyn CongestionControl>, Window) {
        let (mut acks, mut veno) = (Acks::new(1000), make(&Params::defaults(INFO.params)));
        let mut win = Window::new(Bytes(1000), 20, Some(Bytes(2000)));
        win.observe(win.cwnd, true);
        veno.on_ack(&acks.rtt_ms(100).flight(19).next(1), &mut win);
        veno.on_ack(&acks.rtt_ms(rtt).next(1), &mut win);
        win.observe(win.cwnd, false);
        (acks, veno, win)
    }

    #[test]
    fn a_loss_with_fewer_than_three_segments_queued_leaves_four_fifths() {
        // 20 (1 - 100/115) = 2.6, 20 (1 - 100/120) = 3.3.
        for (rtt, left) in [(115, 16_000), (120, 10_000)] {
            let (_, mut veno, mut win) = at(rtt);
            veno.on_congestion(Congestion::FastRetransmit, &mut win);
            assert_eq!((win.cwnd, win.ssthresh), (Bytes(left), Bytes(left)), "{rtt} ms");
        }
        let (_, mut veno, mut win) = at(115);
        veno.on_congestion(Congestion::Rto { repeated: false }, &mut win);
        assert_eq!((win.cwnd, win.ssthresh), (Bytes(1000), Bytes(10_000)), "a timeout is none");
    }

    #[test]
    fn growth_is_halved_where_more_than_three_are_queued() {
        for (rtt, cwnd) in [(115, 20_050), (120, 20_025)] {
            let (mut acks, mut veno, mut win) = at(rtt);
            veno.on_ack(&acks.next(1), &mut win); // 1000 * 1000 / 20000, or half of that
            assert_eq!(win.cwnd, Bytes(cwnd));
        }
    }
}
