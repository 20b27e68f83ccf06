//! Durations by size: counted in buckets, so that an hour of packets takes no more memory than a second.

use units::Dur;

/// Buckets in which a duration doubles.
const STEPS: u64 = 32;

/// Buckets in all: [`STEPS`] for each of the 64 bits, the lowest of which share one each.
const BUCKETS: usize = (STEPS * 64) as usize;

/// The counts of durations by size. A quantile is known to 3 %.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    longest: Dur,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; BUCKETS], count: 0, longest: Dur::ZERO }
    }
}

/// The bucket of a duration in ns: those below [`STEPS`] have one each, all others the first five bits behind their highest.
fn bucket(ns: u64) -> usize {
    let shift = ns.max(1).ilog2().saturating_sub(STEPS.ilog2());
    (u64::from(shift) * STEPS + (ns >> shift)) as usize
}

/// The longest duration of a bucket, in ns.
fn longest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / STEPS).saturating_sub(1);
    let mantissa = bucket - shift * STEPS;
    ((mantissa + 1) << shift).wrapping_sub(1)
}

impl Histogram {
    /// Counts one more.
    pub fn add(&mut self, duration: Dur) {
        self.counts[bucket(duration.ns())] += 1;
        self.count += 1;
        self.longest = self.longest.max(duration);
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest of all; zero of none.
    pub fn longest(&self) -> Dur {
        self.longest
    }

    /// The least duration that no more than the share `1 - q` exceed, 3 % too long at most; zero of none. `q` is from 0 to 1.
    pub fn quantile(&self, q: f64) -> Dur {
        let mut left = whole_above(q.clamp(0.0, 1.0) * self.count as f64).max(1);
        for (at, count) in self.counts.iter().enumerate() {
            if *count >= left {
                return Dur::from_ns(longest(at)).min(self.longest);
            }
            left -= count;
        }
        self.longest
    }

    /// The number of those that exceed `limit`, which is rounded up to the end of its bucket.
    pub fn above(&self, limit: Dur) -> u64 {
        self.counts[bucket(limit.ns()) + 1..].iter().sum()
    }

    /// The longest duration and the count of each bucket that has some, the shortest first.
    pub fn rows(&self) -> impl Iterator<Item = (Dur, u64)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(at, count)| (Dur::from_ns(longest(at)), *count))
    }
}

/// The least whole number that is no less than `x`. `x` is not negative.
fn whole_above(x: f64) -> u64 {
    let whole = x as u64;
    whole + u64::from(whole as f64 != x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_is_in_a_bucket_that_ends_less_than_a_thirtieth_behind_it() {
        let mut before = 0;
        for ns in (0..200).chain((8..63).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + (1 << (bit - 2))])) {
            let found = bucket(ns);
            assert!(found < BUCKETS && found >= before, "{ns}");
            let end = longest(found);
            assert!(end >= ns && (end - ns) * 30 <= ns.max(30), "{ns} {end}");
            before = found;
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn quantiles_of_a_thousand_are_those_of_a_sorted_list_within_a_bucket() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.longest()), (Dur::ZERO, Dur::ZERO));
        (1..=1000).rev().for_each(|us| histogram.add(Dur::from_us(us)));
        for (q, us) in [(0.0, 1), (0.5, 500), (0.99, 990), (0.999, 999), (1.0, 1000)] {
            let (found, exact) = (histogram.quantile(q).ns() as f64, us as f64 * 1000.0);
            assert!(found >= exact && found <= exact * 1.033, "{q}: {found}");
        }
        assert_eq!((histogram.count(), histogram.longest()), (1000, Dur::from_us(1000)));
        let above = histogram.above(Dur::from_us(990));
        assert!((above as i64 - 10).abs() <= 31, "{above}");
        assert_eq!(histogram.rows().map(|(_, count)| count).sum::<u64>(), 1000);
    }
}
