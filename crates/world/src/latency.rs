//! The time of payload from its first transmission to the application, and its variation.
//!
//! Of TCP, from the first sending of a segment to its delivery in order: repetitions and waiting for gaps are in it. Of UDP, from sending
//! to arrival; what is lost has no latency.

use crate::record::mean_s;
use std::collections::VecDeque;
use units::{Dur, SimTime};

/// Sub-buckets of each power of two: values in one bucket differ by at most an eighth.
const SUB: u32 = 8;
/// Powers of two, in microseconds, from 1 us to more than an hour.
const POWERS: u32 = 32;

/// A histogram with logarithmic buckets, of fixed size.
#[derive(Debug)]
pub(crate) struct Histogram {
    counts: Box<[u32; (SUB * POWERS) as usize]>,
    n: u64,
    most: Dur,
}

impl Histogram {
    pub(crate) fn new() -> Histogram {
        Histogram { counts: Box::new([0; (SUB * POWERS) as usize]), n: 0, most: Dur::ZERO }
    }

    fn bucket(dur: Dur) -> usize {
        let us = (dur.ns() / 1000).clamp(1, (1 << POWERS) - 1);
        let power = us.ilog2();
        // The three bits behind the leading one.
        let sub = if power >= 3 { (us >> (power - 3)) & 7 } else { (us << (3 - power)) & 7 };
        (power * SUB) as usize + sub as usize
    }

    pub(crate) fn put(&mut self, dur: Dur) {
        let count = &mut self.counts[Histogram::bucket(dur)];
        *count = count.saturating_add(1);
        self.n += 1;
        self.most = self.most.max(dur);
    }

    /// The value that a share `p` of all lie at or below, to within a bucket, in seconds; NaN of none.
    pub(crate) fn quantile(&self, p: f64) -> f64 {
        let rank = (p * self.n as f64).ceil().max(1.0);
        let mut below = 0.0;
        for (i, count) in self.counts.iter().enumerate() {
            let own = f64::from(*count);
            if own > 0.0 && below + own >= rank {
                let (power, sub) = (i as u32 / SUB, i as u32 % SUB);
                let width = f64::from(1u32 << power.min(31)) / f64::from(SUB);
                let low = f64::from(1u32 << power.min(31)) + f64::from(sub) * width;
                let high = (low + width).min(self.most.as_secs_f64() * 1e6).max(low);
                return (low + (high - low) * (rank - below) / own) * 1e-6;
            }
            below += own;
        }
        f64::NAN
    }
}

/// Of one flow, forward.
#[derive(Debug, Default)]
pub(crate) struct Latency {
    /// Ends of what was sent and has not been delivered, with the time of its first sending.
    under_way: VecDeque<(u64, SimTime)>,
    sent: u64,
    histogram: Option<Histogram>,
    sum: Dur,
    last: Option<Dur>,
    jitter: Dur,
    jitters: u64,
}

/// Room from the start: what a window of 64 kB holds, so that it does not grow bit by bit.
const USUAL: usize = 64;
/// The most payloads under way at once: beyond it the first sent is not measured.
const MOST_UNDER_WAY: usize = 1 << 16;

impl Latency {
    /// Payload up to `end` of the stream leaves; what was sent before is known already.
    pub fn leaves(&mut self, now: SimTime, end: u64) {
        if end > self.sent {
            self.sent = end;
            if self.under_way.capacity() == 0 {
                self.under_way.reserve(USUAL);
            }
            self.under_way.push_back((end, now));
            if self.under_way.len() > MOST_UNDER_WAY {
                self.under_way.pop_front();
            }
        }
    }

    /// All payload up to `end` has reached the application.
    pub fn delivered(&mut self, now: SimTime, end: u64) {
        while let Some((_, sent)) = self.under_way.front().copied().filter(|(of, _)| *of <= end) {
            self.under_way.pop_front();
            self.put(now.since(sent));
        }
    }

    /// The datagram that ends at `end` has arrived; those before it that have not are lost or late.
    pub fn arrived(&mut self, now: SimTime, end: u64) {
        while let Some((of, sent)) = self.under_way.front().copied().filter(|(of, _)| *of <= end) {
            self.under_way.pop_front();
            if of == end {
                self.put(now.since(sent));
            }
        }
    }

    fn put(&mut self, latency: Dur) {
        self.histogram.get_or_insert_with(Histogram::new).put(latency);
        self.sum += latency;
        if let Some(last) = self.last.replace(latency) {
            self.jitter += last.max(latency) - last.min(latency);
            self.jitters += 1;
        }
    }

    /// The sum of what was measured and its number, for the mean of a span of time.
    pub fn so_far(&self) -> (Dur, u64) {
        (self.sum, self.n())
    }

    /// Forgets what was measured; what is under way stays.
    pub fn restart(&mut self) {
        let Latency { under_way, sent, .. } = std::mem::take(self);
        (self.under_way, self.sent) = (under_way, sent);
    }

    /// The number of payloads measured.
    fn n(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.n)
    }

    fn quantile(&self, p: f64) -> f64 {
        self.histogram.as_ref().map_or(f64::NAN, |histogram| histogram.quantile(p))
    }
}

columns! { impl Latency, |it| {
    "latency_mean_s":
        "from first sending to delivery in order, queues and repetitions of MAC and TCP included" =>
        mean_s(it.sum, it.n()),
    "latency_p50_s": "its median" => it.quantile(0.5),
    "latency_p95_s": "its 95th percentile" => it.quantile(0.95),
    "latency_p99_s": "its 99th percentile" => it.quantile(0.99),
    "jitter_mean_s": "mean difference of the latencies of two packets in a row" => mean_s(it.jitter, it.jitters),
} }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Columns;

    fn number(latency: &Latency, name: &str) -> f64 {
        crate::record::number(&latency.record(), name).unwrap()
    }

    fn at(us: u64) -> SimTime {
        SimTime::ZERO + Dur::from_us(us)
    }

    #[test]
    fn every_value_lies_in_its_bucket() {
        for us in (1..5_000).chain([1 << 20, (1 << 20) + 12_345, 1 << 31, u64::from(u32::MAX)]) {
            let mut histogram = Histogram::new();
            histogram.put(Dur::from_us(us));
            let (low, high) = (histogram.quantile(1e-9) * 1e6, histogram.quantile(1.0) * 1e6);
            let us = us as f64;
            assert!(low <= high && high <= us * 1.001 && high >= us * 0.999, "{us}: {low} to {high}");
        }
    }

    #[test]
    fn percentiles_of_a_thousand_latencies() {
        // 1, 2, … 1000 ms
        let mut latency = Latency::default();
        for i in 1..=1000u64 {
            latency.leaves(at(0), i);
            latency.delivered(at(i * 1000), i);
        }
        for (name, ms) in [("latency_p50_s", 500.0), ("latency_p95_s", 950.0), ("latency_p99_s", 990.0)] {
            let found = number(&latency, name) * 1000.0;
            assert!((found - ms).abs() < 0.02 * ms, "{name}: {found}, not {ms}");
        }
        assert!((number(&latency, "latency_mean_s") - 0.5005).abs() < 1e-9);
        assert!((number(&latency, "jitter_mean_s") - 0.001).abs() < 1e-9);
    }

    #[test]
    fn a_repetition_counts_from_the_first_sending_and_a_gap_delays_what_lies_behind_it() {
        let mut latency = Latency::default();
        latency.leaves(at(0), 1000);
        latency.leaves(at(100), 2000);
        latency.leaves(at(5_000), 1000); // sent again
        latency.delivered(at(6_000), 2000); // fills the gap: both at once
        assert!((number(&latency, "latency_mean_s") - (6_000.0 + 5_900.0) / 2.0 * 1e-6).abs() < 1e-12);
    }

    #[test]
    fn a_lost_datagram_has_no_latency() {
        let mut latency = Latency::default();
        (1..=3).for_each(|i| latency.leaves(at(i * 10), i * 100));
        latency.arrived(at(110), 100);
        latency.arrived(at(230), 300);
        latency.arrived(at(900), 200); // late: given up
        assert!((number(&latency, "latency_mean_s") - 150e-6).abs() < 1e-12);
        assert!(number(&Latency::default(), "latency_p99_s").is_nan());
    }
}
