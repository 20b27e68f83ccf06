//! Scalable TCP: the window grows by a fixed share of itself, so a loss costs the same number of round trips at any speed.
//!
//! - **Source** @KEL03: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", CCR 33(2), 2003, sec. 3:
//!   a = 0.01 per ACK, b = 0.125; Reno up to the legacy window, 16 segments.
//! - **Sits** sender. **Reads** acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** cuts of the flight size (@RFC5681 eq. 4). Linux has 0.02, for delayed ACKs, and no legacy window.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::{Congestion, CongestionControl, Info, Params, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};

/// Its declaration.
pub const INFO: Info = Info {
    id: "scalable",
    summary: "grows by a hundredth of each ACK, cuts by an eighth",
    source: "KEL03",
    params: &[
        Param {
            key: "a",
            kind: Kind::Float { min: 0.0001, max: 1.0 },
            default: Value::Float(0.01),
            doc: "Segments that each ACK adds.",
        },
        Param {
            key: "b",
            kind: Kind::Float { min: 0.01, max: 0.9 },
            default: Value::Float(0.125),
            doc: "What a cut takes of the window.",
        },
        Param {
            key: "legacy_window",
            kind: Kind::Int { min: 0, max: 1_000_000 },
            default: Value::Int(16),
            doc: "Segments up to which it is Reno.",
        },
    ],
};

/// The controller. It has no state beyond the window.
#[derive(Debug)]
pub struct Scalable {
    a: f64,
    b: f64,
    legacy_window: f64,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    let legacy_window = params.int("legacy_window") as f64;
    Box::new(Scalable { a: params.float("a"), b: params.float("b"), legacy_window })
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            // `a` per ACK is `a` windows per round trip.
            let window = win.segments();
            let per_rtt = if window <= self.legacy_window { 1.0 } else { self.a * window };
            reno::additive_increase(ack, per_rtt, win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        let left = if win.segments() <= self.legacy_window { 0.5 } else { 1.0 - self.b };
        reno::cut_to(why, left, win);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    #[test]
    fn above_the_legacy_window_an_ack_adds_a_hundredth_of_a_segment_and_a_loss_takes_an_eighth() {
        for (segments, grown, left) in [(15, 15_066, 7500), (200, 200_010, 175_000)] {
            let mut scalable = make(&Params::defaults(INFO.params));
            let mut win = Window::new(Bytes(1000), segments, Some(Bytes(2000)));
            win.observe(win.cwnd, false);
            scalable.on_ack(&Acks::new(1000).next(1), &mut win);
            assert_eq!(win.cwnd, Bytes(grown)); // 1000 / 15 = 66.7, or 10
            scalable.on_congestion(Congestion::FastRetransmit, &mut win);
            assert_eq!(win.cwnd, Bytes(left));
        }
    }

    #[test]
    fn a_cut_is_made_good_in_as_many_round_trips_at_any_speed() {
        // ln(8/7) / ln(1.01) = 13.42 round trips; the paper: about 13.
        for segments in [100, 10_000] {
            let mut scalable = make(&Params::defaults(INFO.params));
            let mut win = Window::new(Bytes(1000), segments, Some(Bytes(2000)));
            win.observe(win.cwnd, false);
            scalable.on_congestion(Congestion::FastRetransmit, &mut win);
            let mut acks = Acks::new(1000);
            let mut rounds = 0;
            while win.cwnd < Bytes(u64::from(segments) * 1000) {
                acks.round(scalable.as_mut(), &mut win);
                rounds += 1;
            }
            assert_eq!(rounds, 14, "{segments}");
        }
    }
}
