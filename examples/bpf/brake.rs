//! brake: Reno that stops growing while its own queue is long. It runs in the simulation; brake.bpf.c is the same idea in the kernel.
//!
//! - **Source** none: an example. Arithmetic: @RFC5681.
//! - **Sits** sender. **Reads** RTT, acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** from the kernel's: cuts are of what is in flight, where the kernel cuts cwnd; in congestion avoidance the window
//!   grows by bytes at each ACK, where the kernel adds a segment when a window is acknowledged.
//! - **Checked** tests below, by the tests of crate tcp.

use plugin::{Kind, Param, Value};
use tcp::Ack;
use tcp::cc::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use units::Dur;

/// What the list says.
pub const INFO: Info = Info {
    id: "brake",
    summary: "Reno that stops growing while its own queue is long",
    source: "none",
    params: &[Param {
        key: "tolerate",
        kind: Kind::Float { min: 0.0, max: 1000.0 },
        default: Value::Float(2.0),
        doc: "Queueing delay, in least RTTs, above which the window stands still.",
    }],
};

/// What a connection remembers.
#[derive(Debug)]
struct Brake {
    tolerate: f64,
    least: Option<Dur>,
    queueing: Dur,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(Brake { tolerate: params.float("tolerate"), least: None, queueing: Dur::ZERO })
}

impl CongestionControl for Brake {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if let Some(rtt) = ack.rtt {
            let least = self.least.map_or(rtt, |least| least.min(rtt));
            (self.least, self.queueing) = (Some(least), rtt - least);
        }
        let least = self.least.unwrap_or(Dur::ZERO);
        if self.queueing.as_secs_f64() > self.tolerate * least.as_secs_f64() {
            win.ssthresh = win.ssthresh.min(win.cwnd); // slow start is over
        } else if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            reno::additive_increase(ack, 1.0, win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        reno::cut_to(why, 0.5, win);
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("brake.queueing", "s", self.queueing.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, SimTime};
    use wire::{Flags, Seq};

    /// An ACK of one segment of 1000 bytes after so many milliseconds, with ten in flight.
    fn ack(rtt_ms: u64) -> Ack {
        Ack {
            now: SimTime::ZERO,
            number: Seq(1000),
            acked: Bytes(1000),
            counted: Bytes(1000),
            prior_flight: Bytes(10_000),
            rtt: Some(Dur::from_ms(rtt_ms)),
            duplicate: false,
            local: false,
            flags: Flags::ACK,
            sacked: Bytes::ZERO,
            lost: Bytes::ZERO,
            rate: None,
            timestamps: None,
        }
    }

    /// The windows after ACKs with these RTTs: slow start from ten segments, all in flight.
    fn after(rtts_ms: &[u64]) -> Window {
        let (mut brake, mut win) = (make(&Params::defaults(INFO.params)), Window::new(Bytes(1000), 10, None));
        for rtt in rtts_ms {
            win.observe(win.cwnd, false);
            brake.on_ack(&ack(*rtt), &mut win);
        }
        win
    }

    #[test]
    fn the_window_stands_still_while_the_queue_is_longer_than_two_least_rtts() {
        assert_eq!(after(&[10, 30]).cwnd, Bytes(12_000)); // 20 ms of queue are tolerated
        assert_eq!(after(&[10, 31, 31]).cwnd, Bytes(11_000));
    }

    #[test]
    fn a_long_queue_ends_slow_start_and_a_short_one_lets_it_grow_by_a_segment_per_window() {
        let win = after(&[10, 31, 10]);
        assert_eq!((win.ssthresh, win.cwnd), (Bytes(11_000), Bytes(11_090))); // 1000 * 1000 / 11,000
    }
}
