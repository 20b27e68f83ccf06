//! Rayleigh block fading: the factor is exponential of mean 1, constant for a coherence time, then drawn anew and independently.
//!
//! Each pair's intervals begin at a phase of its own, or all channels of the world would change at the same instants.
//! Leaves out: the correlation of successive intervals ([`doppler`](super::doppler) has it).

use crate::propagation::pair;
use engine::{Purpose, Streams};
use units::{Dur, NodeId, SimTime};

/// The fading of one unordered pair.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    draws: Streams,
    coherence: Dur,
    phase: Dur,
}

/// The stream of a pair that is not an interval's: intervals count from 0.
const PHASE: u64 = u64::MAX;

impl Block {
    /// The fading of a pair, the same in both directions. A coherence time of 0 is taken as 1 ns.
    pub fn of_pair(streams: &Streams, one: NodeId, other: NodeId, coherence: Dur) -> Block {
        let draws = streams.within(Purpose::Fading, pair(one, other));
        let coherence = coherence.max(Dur::from_ns(1));
        let phase = Dur::from_ns((draws.get(Purpose::Fading, PHASE).unit() * coherence.ns() as f64) as u64);
        Block { draws, coherence, phase }
    }

    /// The interval that `now` lies in.
    pub fn interval(&self, now: SimTime) -> u64 {
        now.ns().saturating_add(self.phase.ns()) / self.coherence.ns()
    }

    /// The first instant after that interval; `NEVER` if it is beyond the range of time.
    pub fn ends(&self, interval: u64) -> SimTime {
        let end = interval.saturating_add(1).checked_mul(self.coherence.ns());
        end.map_or(SimTime::NEVER, |end| SimTime::from_ns(end - self.phase.ns()))
    }

    /// The factor on the power during that interval: exponential, mean 1 (0 once in 2⁵³).
    pub fn power(&self, interval: u64) -> f64 {
        self.draws.get(Purpose::Fading, interval).exponential()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fading(one: u32, other: u32) -> Block {
        Block::of_pair(&Streams::new(4), NodeId(one), NodeId(other), Dur::from_ms(5))
    }

    #[test]
    fn powers_are_exponential_of_mean_one_and_successive_ones_independent() {
        // 1000 intervals of each of 100 pairs. Standard errors of 100,000 draws: mean 0.0032; square (mean 2, deviation √20)
        // 0.0141; P(power < 0.1) = 1 − e^−0.1 = 9.516 %: 0.093 %; product of successive deviations (mean 0, deviation 1)
        // 0.0032. Four of each.
        let draws: Vec<Vec<f64>> =
            (1..=100).map(|other| (0..1000).map(|interval| fading(0, other).power(interval)).collect()).collect();
        let all = || draws.iter().flatten();
        let mean = |sum: f64| sum / 1e5;
        assert!((mean(all().sum()) - 1.0).abs() < 0.0127);
        assert!((mean(all().map(|p| p * p).sum()) - 2.0).abs() < 0.0566);
        assert!((mean(all().filter(|p| **p < 0.1).count() as f64) - 0.095_163).abs() < 0.0037);
        let together = |pairs: f64| (pairs / 1e5).abs() < 0.0127;
        assert!(together(draws.iter().flat_map(|d| d.windows(2)).map(|w| (w[0] - 1.0) * (w[1] - 1.0)).sum()));
        // Neighbouring pairs in the same interval.
        let beside = draws.windows(2).flat_map(|d| d[0].iter().zip(&d[1]));
        assert!(together(beside.map(|(one, other)| (one - 1.0) * (other - 1.0)).sum()));
    }

    #[test]
    fn a_power_does_not_depend_on_who_asks_when_and_how_often() {
        let forwards: Vec<f64> = (0..50).map(|interval| fading(3, 8).power(interval)).collect();
        let kept = fading(8, 3);
        let backwards: Vec<f64> = (0..50).rev().map(|interval| kept.power(interval)).collect();
        assert!(forwards.iter().eq(backwards.iter().rev()));
        assert_eq!(kept.power(49), forwards[49]);
        assert_ne!(fading(3, 9).power(0), forwards[0]);
    }

    #[test]
    fn an_interval_lasts_a_coherence_time_and_begins_anywhere() {
        let mut phases = Vec::new();
        for other in 1..=50 {
            let fading = fading(0, other);
            assert_eq!(fading.interval(SimTime::ZERO), 0);
            let first = fading.ends(0);
            assert!(first > SimTime::ZERO && first <= SimTime::ZERO + Dur::from_ms(5));
            for interval in 0..20 {
                let end = fading.ends(interval);
                assert_eq!(end, first + Dur::from_ms(5) * interval);
                assert_eq!(fading.interval(end), interval + 1);
                assert_eq!(fading.interval(end - Dur::from_ns(1)), interval);
            }
            phases.push(first.ns());
        }
        // Uniform over 5 ms: the mean of 50 is 2.5 ms with a standard error of 0.204; four of them.
        let mean = phases.iter().sum::<u64>() as f64 / 50.0;
        assert!((mean - 2.5e6).abs() < 0.82e6, "{mean}");
        phases.sort_unstable();
        phases.dedup();
        assert_eq!(phases.len(), 50);
    }

    #[test]
    fn no_coherence_time_is_too_short_or_too_long() {
        for coherence in [Dur::ZERO, Dur::from_ns(1), Dur::MAX] {
            let fading = Block::of_pair(&Streams::new(1), NodeId(0), NodeId(1), coherence);
            for now in [SimTime::ZERO, SimTime::from_ns(1 << 40), SimTime::NEVER] {
                let interval = fading.interval(now);
                assert!(fading.power(interval) >= 0.0);
                assert!(fading.ends(interval) > now || now == SimTime::NEVER);
            }
        }
    }
}
