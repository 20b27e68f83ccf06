//! Loss events and the intervals between them. @RFC5348 sec. 5

use units::{Dur, SimTime};

/// Weights of the last eight intervals, the newest first. Sec. 5.4
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// NDUPACK: packets beyond a gap that make a loss. Sec. 5.1
const BEYOND: u64 = 3;

/// I_mean of `intervals`, of which the first is the one that lasts: it counts only if that makes the mean longer. None without a
/// finished one. Sec. 5.4
pub fn mean_interval(intervals: &[f64]) -> Option<f64> {
    let finished = intervals.len().checked_sub(1).filter(|n| *n > 0)?.min(WEIGHTS.len());
    let sum = |of: &[f64]| of.iter().zip(WEIGHTS).map(|(interval, weight)| interval * weight).sum::<f64>();
    let weights: f64 = WEIGHTS[..finished].iter().sum();
    Some(sum(&intervals[..finished]).max(sum(&intervals[1..=finished])) / weights)
}

/// The receiver's record of losses.
#[derive(Debug, Default)]
pub struct History {
    /// The last packets in order, with their arrival: enough to tell a loss from reordering.
    recent: Vec<(u64, SimTime)>,
    /// The next number that is not accounted for: received, or taken for lost.
    next: u64,
    /// The arrival time of the packet before `next`, or the time it would have arrived.
    before: SimTime,
    /// The first packet of the last loss event, and when it would have come.
    event: Option<(u64, SimTime)>,
    /// Finished intervals in packets, the newest first.
    intervals: Vec<f64>,
    highest: u64,
}

impl History {
    /// A packet came. `rtt` is the sender's; `first` makes the interval before the first loss, in packets. Returns whether a loss event
    /// begins. Sec. 5.1, 5.2, 6.3.1
    pub fn receive(&mut self, now: SimTime, number: u64, rtt: Dur, first: impl FnOnce() -> f64) -> bool {
        self.highest = self.highest.max(number);
        if number < self.next {
            return false; // late, or twice
        }
        let place = self.recent.partition_point(|(other, _)| *other < number);
        if self.recent.get(place).is_none_or(|(other, _)| *other != number) {
            self.recent.insert(place, (number, now));
        }
        let mut begun = None;
        loop {
            match self.recent.first() {
                Some(&(first, at)) if first == self.next => {
                    (self.next, self.before) = (first + 1, at);
                    self.recent.remove(0);
                }
                Some(&(first, at)) if self.recent.len() as u64 >= BEYOND => {
                    // Those before the first are lost. They would have come evenly between it and the one before. Sec. 5.2
                    let gap = at.since(self.before).ns() / (first + 1 - self.next);
                    for lost in self.next..first {
                        let would = self.before + Dur::from_ns(gap);
                        self.before = would;
                        if self.event.is_none_or(|(_, event)| event + rtt < would) {
                            begun = begun.or(Some(self.event.is_none()));
                            self.intervals.insert(0, self.event.map_or(0.0, |(start, _)| (lost - start) as f64));
                            self.intervals.truncate(WEIGHTS.len());
                            self.event = Some((lost, would));
                        }
                    }
                    self.next = first;
                }
                _ => break,
            }
        }
        if begun == Some(true) {
            let last = self.intervals.len() - 1;
            self.intervals[last] = first().max(1.0);
        }
        begun.is_some()
    }

    /// The loss event rate; 0 before the first loss. Sec. 5.4
    pub fn rate(&self) -> f64 {
        let Some((start, _)) = self.event else { return 0.0 };
        let mut all = vec![(self.highest + 1 - start) as f64];
        all.extend(&self.intervals);
        mean_interval(&all).map_or(0.0, |mean| 1.0 / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_eight_intervals_is_weighted() {
        // 6 weights in all. The last four of 100, the four before of 200: (4 * 100 + 200 * 2) / 6 = 133.33.
        let past = [100.0, 100.0, 100.0, 100.0, 200.0, 200.0, 200.0, 200.0];
        let mean = |now: f64| mean_interval(&[&[now], &past[..]].concat()).unwrap();
        assert!((mean(0.0) - 800.0 / 6.0).abs() < 1e-9);
        // One of 400 that lasts: (400 + 300 + 0.8 * 100 + 200 * 1.2) / 6 = 170.
        assert!((mean(400.0) - 170.0).abs() < 1e-9);
        // Two intervals alone: weights 1 and 1.
        assert_eq!(mean_interval(&[0.0, 10.0, 30.0]), Some(20.0));
        assert_eq!(mean_interval(&[5.0]), None);
    }

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn three_packets_beyond_make_a_loss_and_losses_within_a_round_trip_one_event() {
        let (mut history, rtt) = (History::default(), Dur::from_ms(100));
        let mut receive = |n: u64| history.receive(at(10 * n), n, rtt, || 50.0);
        for n in [0, 1, 2, 4, 3, 5, 6] {
            assert!(!receive(n), "{n}: reordering");
        }
        // 7 is lost; 10 is the third beyond it.
        assert_eq!([8, 9, 10].map(&mut receive), [false, false, true]);
        // 12 would have come 50 ms after 7: the same event. 20 is another: 130 ms.
        for n in [11, 13, 14, 15, 16, 17, 18, 19, 21, 22] {
            assert!(!receive(n), "{n}");
        }
        assert!(receive(23));
        // Finished: 13 packets, and 50 before the first loss; the one that lasts has 4. (13 + 50) / 2.
        assert!((history.rate() - 2.0 / 63.0).abs() < 1e-12, "{}", history.rate());
    }
}
