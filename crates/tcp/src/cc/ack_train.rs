//! HyStart of 2008, which CUBIC has in Linux: slow start ends when ACKs come in a train as long as half a round trip, or the RTT rises.
//!
//! - **Source** @HR08: Ha & Rhee, "Hybrid Slow Start for High-Bandwidth and Long-Distance Networks", PFLDnet 2008; the constants are
//!   those of Linux (tcp_cubic.c since 5.6).
//! - **Departs** the train is compared with half the least RTT and half a millisecond, Linux's bound for its segmentation at
//!   less than 2 Gb/s; paced senders, which compare with the whole, are not told apart.

use crate::Ack;
use crate::cc::Window;
use units::{Dur, SimTime};
use wire::Seq;

/// Below this window, in segments, nothing is looked at.
const LEAST_WINDOW: u64 = 16;
/// ACKs farther apart are no train.
const TRAIN_GAP: Dur = Dur::from_ms(2);
/// The delay that segmentation may cause.
const SEGMENTATION: Dur = Dur::from_ms(1);
/// Samples of a round before its least RTT counts.
const SAMPLES: u32 = 8;
/// Bounds of how much the RTT may rise, an eighth of the least.
const RISE: (Dur, Dur) = (Dur::from_ms(4), Dur::from_ms(16));

/// The state of slow start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckTrain {
    /// The round is over when this is acknowledged.
    end: Option<Seq>,
    begun: SimTime,
    last: SimTime,
    /// The least RTT of the connection, and of this round.
    least: Option<Dur>,
    current: Option<Dur>,
    samples: u32,
}

impl AckTrain {
    /// An ACK in slow start. Returns whether slow start is over.
    pub fn on_ack(&mut self, ack: &Ack, win: &Window) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.end.is_none_or(|end| end.lt(ack.number)) {
            let out = u32::try_from(win.flight_size().0).unwrap_or(u32::MAX);
            *self = AckTrain {
                end: Some(ack.number + out),
                begun: ack.now,
                last: ack.now,
                least: self.least,
                ..AckTrain::default()
            };
        }
        if win.cwnd < win.mss() * LEAST_WINDOW {
            return false;
        }
        if ack.now.since(self.last) <= TRAIN_GAP {
            self.last = ack.now;
            if ack.now.since(self.begun) > (least + SEGMENTATION) / 2 {
                return true;
            }
        }
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        current > least + (least / 8).max(RISE.0).min(RISE.1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use units::Bytes;

    /// An ACK of a segment at `us`, with 20 segments of 1000 B out behind it.
    fn ack(us: u64, number: u32, rtt_us: u64) -> Ack {
        Ack {
            now: SimTime::ZERO + Dur::from_us(us),
            number: Seq(number),
            prior_flight: Bytes(21_000),
            rtt: Some(Dur::from_us(rtt_us)),
            ..testing::ack(1000)
        }
    }

    fn window(segments: u32) -> Window {
        let mut win = Window::new(Bytes(1000), segments, None);
        win.observe(Bytes(20_000), false);
        win
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        // ACKs every 1.2 ms; RTT 40 ms: more than 20.5 ms after the first is the 19th (18 gaps are 21.6 ms).
        let over = |gap: u64, segments| {
            let (mut train, win) = (AckTrain::default(), window(segments));
            (0..21).find(|i| train.on_ack(&ack(*i * gap, *i as u32 * 1000, 40_000), &win))
        };
        assert_eq!(over(1200, 20), Some(18));
        assert_eq!(over(1200, 15), None, "the window is small");
        assert_eq!(over(2100, 20), None, "farther apart than 2 ms");
    }

    #[test]
    fn an_rtt_that_is_an_eighth_more_after_eight_samples_ends_slow_start() {
        // Least 80 ms: 10 ms more. ACKs 3 ms apart are no train.
        let over = |rtt_us: u64| {
            let (mut train, win) = (AckTrain::default(), window(20));
            assert!(!train.on_ack(&ack(0, 0, 80_000), &win));
            let first = 30_000; // the round of the first ACK ended at 20000
            (0..20).find(|i| train.on_ack(&ack(100_000 + 3000 * i, first + 1000 * *i as u32, rtt_us), &win))
        };
        assert_eq!(over(90_000), None);
        assert_eq!(over(90_001), Some(8)); // the ninth
    }

    #[test]
    fn the_rise_is_from_4_to_16_ms() {
        for (least, rise) in [(8000, 4000), (400_000, 16_000)] {
            let over = |more: u64| {
                let (mut train, win) = (AckTrain::default(), window(20));
                train.on_ack(&ack(0, 0, least), &win);
                (0..20).any(|i| train.on_ack(&ack(500_000 + 3000 * i, 30_000 + 1000 * i as u32, least + more), &win))
            };
            assert!(!over(rise) && over(rise + 1), "{least}");
        }
    }
}
