//! my-sender: adds so many segments per round trip, and keeps so much of the window after a loss.
//!
//! - **Source** none yet: the paper, by its key in `docs/references.bib`. Arithmetic: @RFC5681.
//! - **Sits** sender. **Reads** acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** CHANGE: where it differs from its source. "None" is a claim and needs a test.
//! - **Checked** tests below; `every_cc`.

// It works as it stands, and with its defaults it is NewReno. What to change is marked CHANGE; the trait says when each method is called.
use crate::Ack;
use crate::cc::{Congestion, CongestionControl, Info, Params, Window, reno};
use plugin::{Kind, Param, Value};

/// What the list says.
pub const INFO: Info = Info {
    id: "my-sender",
    // CHANGE: one line for `interlayer list congestion`.
    summary: "adds so many segments per round trip, and keeps so much of the window after a loss",
    // CHANGE: the key of the paper in docs/references.bib.
    source: "none",
    // CHANGE: its keys in a scenario. A key has a range and a default; the reader of scenarios checks both.
    params: &[
        Param {
            key: "added",
            kind: Kind::Float { min: 0.01, max: 100.0 },
            default: Value::Float(1.0),
            doc: "Segments that a round trip adds in congestion avoidance.",
        },
        Param {
            key: "kept",
            kind: Kind::Float { min: 0.1, max: 0.95 },
            default: Value::Float(0.5),
            doc: "What a loss leaves of what was in flight.",
        },
    ],
};

/// CHANGE: what one direction of one connection remembers. The window itself is the sender's.
#[derive(Debug)]
struct Sender {
    added: f64,
    kept: f64,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(Sender { added: params.float("added"), kept: params.float("kept") })
}

impl CongestionControl for Sender {
    /// CHANGE: an ACK of new data. `ack` has what it tells: bytes, RTT, delivery rate if `needs_rate` says so.
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            reno::additive_increase(ack, self.added, win);
        }
    }

    /// CHANGE: the window is to be cut. `why` tells a fast retransmit from a mark and a timeout.
    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        reno::cut_to(why, self.kept, win);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, SimTime};
    use wire::{Flags, Seq};

    /// An ACK of one segment of 1000 bytes, with ten in flight.
    fn ack() -> Ack {
        Ack {
            now: SimTime::ZERO,
            number: Seq(1000),
            acked: Bytes(1000),
            counted: Bytes(1000),
            prior_flight: Bytes(10_000),
            rtt: None,
            duplicate: false,
            local: false,
            flags: Flags::ACK,
            sacked: Bytes::ZERO,
            lost: Bytes::ZERO,
            rate: None,
            timestamps: None,
        }
    }

    /// A controller, and a window of ten segments in congestion avoidance, all in flight.
    fn sender(set: &[(&'static str, f64)]) -> (Box<dyn CongestionControl>, Window) {
        let mut params = Params::defaults(INFO.params);
        set.iter().for_each(|(key, value)| params.set(key, Value::Float(*value)));
        let mut win = Window::new(Bytes(1000), 10, Some(Bytes(2000)));
        win.observe(win.cwnd, false);
        (make(&params), win)
    }

    #[test]
    fn a_round_trip_adds_so_many_segments() {
        for (added, grown) in [(1.0, 10_100), (2.0, 10_200)] {
            let (mut sender, mut win) = sender(&[("added", added)]);
            sender.on_ack(&ack(), &mut win); // added * 1000 * 1000 / 10,000
            assert_eq!(win.cwnd, Bytes(grown));
        }
    }

    #[test]
    fn a_loss_leaves_so_much_of_the_flight() {
        for (kept, left) in [(0.5, 5000), (0.8, 8000)] {
            let (mut sender, mut win) = sender(&[("kept", kept)]);
            sender.on_congestion(Congestion::FastRetransmit, &mut win);
            assert_eq!(win.cwnd, Bytes(left));
        }
    }
}
