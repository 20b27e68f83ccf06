//! The RTTs of each round trip, for controllers that listen to delay.

use crate::Ack;
use units::Dur;
use wire::Seq;

/// A round trip that is over. Times in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Round {
    /// The least RTT ever: the path without queues.
    pub base: f64,
    /// The greatest RTT ever.
    pub most: f64,
    /// The least of this round trip: the one that a delayed ACK blurs least.
    pub least: f64,
    /// The mean of this round trip.
    pub mean: f64,
}

impl Round {
    /// The part of a window that stands in queues: `window (1 - base / RTT)`. @BP95 sec. IV-B, "Diff"
    pub fn queued(&self, window: f64) -> f64 {
        window * (1.0 - self.base / self.least)
    }
}

/// Cuts time into round trips, and keeps their RTTs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rounds {
    /// The round trip is over when this is acknowledged. None before the first ACK.
    end: Option<Seq>,
    base: Option<Dur>,
    most: Dur,
    least: Option<Dur>,
    sum: Dur,
    samples: u64,
}

impl Rounds {
    /// Takes an ACK. Returns the round trip that ends with it, if one does that had any RTT.
    pub fn update(&mut self, ack: &Ack) -> Option<Round> {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.most = self.most.max(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        if self.end.is_some_and(|end| ack.number.lt(end)) {
            return None;
        }
        let first = self.end.replace(ack.next()).is_none();
        if first {
            self.forget();
            return None;
        }
        let over = self.base.zip(self.least).map(|(base, least)| Round {
            base: base.as_secs_f64(),
            most: self.most.as_secs_f64(),
            least: least.as_secs_f64(),
            mean: self.sum.as_secs_f64() / self.samples as f64,
        });
        self.forget();
        over
    }

    /// The RTTs of the round trip that lasts tell nothing: the connection was idle.
    pub fn forget(&mut self) {
        (self.least, self.sum, self.samples) = (None, Dur::ZERO, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;

    #[test]
    fn a_round_trip_ends_when_what_was_in_flight_at_its_beginning_is_acknowledged() {
        let mut acks = Acks::new(1000);
        let mut rounds = Rounds::default();
        // The first ACK begins one; ten segments are in flight after it.
        assert_eq!(rounds.update(&acks.rtt_ms(100).flight(10).next(1)), None);
        for rtt in [100, 110, 120, 130, 140, 150, 160, 170, 180] {
            assert_eq!(rounds.update(&acks.rtt_ms(rtt).next(1)), None);
        }
        let round = rounds.update(&acks.rtt_ms(190).next(1)).unwrap();
        assert!((round.base - 0.1).abs() < 1e-12 && (round.most - 0.19).abs() < 1e-12, "{round:?}");
        assert!((round.least - 0.1).abs() < 1e-12 && (round.mean - 0.145).abs() < 1e-12, "{round:?}"); // 1450 / 10
        // The next: base is kept, the rest is new. 20 (1 - 100/125) = 4.
        for _ in 0..9 {
            assert_eq!(rounds.update(&acks.rtt_ms(130).next(1)), None);
        }
        let round = rounds.update(&acks.rtt_ms(125).next(1)).unwrap();
        assert!((round.least - 0.125).abs() < 1e-12 && (round.queued(20.0) - 4.0).abs() < 1e-12, "{round:?}");
    }

    #[test]
    fn a_round_trip_without_rtt_is_none() {
        let mut acks = Acks::new(1000);
        let mut rounds = Rounds::default();
        rounds.update(&acks.rtt_ms(100).flight(1).next(1));
        assert!(rounds.update(&acks.rtt_ms(100).next(1)).is_some());
        assert_eq!(rounds.update(&acks.rtt_ms(0).next(1)), None);
    }
}
