//! The change in the spacing of a flow's pure ACKs between the end that sends them and the end that gets them.
//!
//! *ACK compression* (@ZSC91): ACKs that waited behind one another arrive closer together than they left, and the sender
//! answers with a burst. Whether an ACK was compressed is asked of the two gaps before it, the one with which it left and
//! the one with which it arrived, so that nothing need be known of rates. Kept only for flows that ask for it
//! (`flow.ack_gaps`): a few hundred bytes and a queue of what is on the way.

use std::collections::VecDeque;
use units::{Dur, SimTime};

/// An ACK is compressed if it arrives less than 1/COMPRESSION as long after the one before as it left. Our choice: a queue
/// that drains at the rate at which it was filled does not do that.
const COMPRESSION: u64 = 2;

/// ACKs remembered on their way: more than any window has. Those of them that agents swallow are forgotten by this.
const MOST: usize = 4096;

/// The spacing of one flow's ACKs.
#[derive(Debug, Default)]
pub(crate) struct AckGaps {
    /// IP identification, and when it left.
    on_the_way: VecDeque<(u16, SimTime)>,
    left: Option<SimTime>,
    /// The arrival of the last one, and its departure (`None` of one that an agent made).
    arrived: Option<(SimTime, Option<SimTime>)>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    leaving: Gaps,
    arriving: Gaps,
    /// Arrivals whose gap can be compared with that at which they left.
    compared: u64,
    compressed: u64,
    /// The run of compressed ACKs that lasts, the ACK before it included, and what they acknowledge.
    burst: Burst,
    bursts: u64,
    burst_acks: u64,
    largest: Burst,
}

#[derive(Debug, Default, Clone, Copy)]
struct Burst {
    acks: u64,
    bytes: u64,
}

impl AckGaps {
    /// A pure ACK leaves the end that received data.
    pub fn leaves(&mut self, now: SimTime, id: u16) {
        if let Some(before) = self.left.replace(now) {
            self.counts.leaving.add(now - before);
        }
        if self.on_the_way.len() == MOST {
            self.on_the_way.pop_front();
        }
        self.on_the_way.push_back((id, now));
    }

    /// One arrives at the sender of data, and acknowledges `bytes` more. Those that left before it are lost.
    pub fn arrives(&mut self, now: SimTime, id: u16, bytes: u64) {
        let place = self.on_the_way.iter().position(|(known, _)| *known == id);
        let left = place.and_then(|place| self.on_the_way.drain(..=place).next_back()).map(|(_, at)| at);
        let before = self.arrived.replace((now, left));
        let counts = &mut self.counts;
        let mut is_compressed = false;
        if let Some((at, _)) = before {
            counts.arriving.add(now - at);
        }
        if let (Some((at, Some(left_before))), Some(left)) = (before, left) {
            is_compressed = (now - at).ns().saturating_mul(COMPRESSION) < (left - left_before).ns();
            counts.compared += 1;
            counts.compressed += u64::from(is_compressed);
        }
        if !is_compressed {
            counts.burst = Burst::default();
        }
        counts.burst = Burst { acks: counts.burst.acks + 1, bytes: counts.burst.bytes + bytes };
        if is_compressed {
            counts.bursts += u64::from(counts.burst.acks == 2);
            counts.burst_acks += if counts.burst.acks == 2 { 2 } else { 1 };
            counts.largest.acks = counts.largest.acks.max(counts.burst.acks);
            counts.largest.bytes = counts.largest.bytes.max(counts.burst.bytes);
        }
    }

    /// Forgets what was counted, not what is on the way.
    pub fn restart(&mut self) {
        self.counts = Counts::default();
    }
}

// `ack_burst_*` are of runs of compressed ACKs, the one before a run included.
columns! { impl AckGaps, |it| {
    "ack_leaving_gap_p10_s":
        "TCP, with ack_gaps: between two ACKs where they leave, 10th percentile" => gap_s(&it.counts.leaving, 0.1),
    "ack_leaving_gap_p50_s":
        "TCP, with ack_gaps: between two ACKs where they leave, median" => gap_s(&it.counts.leaving, 0.5),
    "ack_leaving_gap_p90_s":
        "TCP, with ack_gaps: between two ACKs where they leave, 90th percentile" => gap_s(&it.counts.leaving, 0.9),
    "ack_leaving_gap_p99_s":
        "TCP, with ack_gaps: between two ACKs where they leave, 99th percentile" => gap_s(&it.counts.leaving, 0.99),
    "ack_arriving_gap_p10_s":
        "TCP, with ack_gaps: between two ACKs where they arrive, 10th percentile" => gap_s(&it.counts.arriving, 0.1),
    "ack_arriving_gap_p50_s":
        "TCP, with ack_gaps: between two ACKs where they arrive, median" => gap_s(&it.counts.arriving, 0.5),
    "ack_arriving_gap_p90_s":
        "TCP, with ack_gaps: between two ACKs where they arrive, 90th percentile" => gap_s(&it.counts.arriving, 0.9),
    "ack_arriving_gap_p99_s":
        "TCP, with ack_gaps: between two ACKs where they arrive, 99th percentile" => gap_s(&it.counts.arriving, 0.99),
    "acks_compared": "TCP, with ack_gaps: ACKs whose gaps at both ends were compared" => it.counts.compared,
    "acks_compressed":
        "TCP, with ack_gaps: ACKs that arrived closer together than half their spacing" => it.counts.compressed,
    "ack_compressed_share": share, "TCP, with ack_gaps: their share of those compared" =>
        ratio(it.counts.compressed, it.counts.compared),
    "ack_bursts": "TCP, with ack_gaps: runs of compressed ACKs" => it.counts.bursts,
    "ack_burst_mean": "TCP, with ack_gaps: ACKs of a burst, on the mean" =>
        ratio(it.counts.burst_acks, it.counts.bursts),
    "ack_burst_max": "TCP, with ack_gaps: ACKs of the longest burst" => it.counts.largest.acks,
    "ack_burst_max_bytes": whole, "TCP, with ack_gaps: bytes that the longest burst acknowledged" =>
        it.counts.largest.bytes,
} }

/// The gap in seconds that `share` of all do not exceed; NaN of none.
fn gap_s(gaps: &Gaps, share: f64) -> f64 {
    gaps.quantile(share).unwrap_or(f64::NAN)
}

/// `n` of `of`; NaN of none.
fn ratio(n: u64, of: u64) -> f64 {
    if of == 0 { f64::NAN } else { n as f64 / of as f64 }
}

/// Bins of an octave: a gap is known to 1/16 of itself, half a bin.
const BINS: u32 = 8;

/// The limits of the bins: one for all that is shorter than 2^SHORTEST ns (1 us), another for all longer than 2^LONGEST ns (69 s).
const SHORTEST: u32 = 10;
const LONGEST: u32 = 36;

/// A histogram of gaps, equal bins within an octave.
#[derive(Debug)]
struct Gaps {
    bins: [u64; ((LONGEST - SHORTEST) * BINS + 2) as usize],
}

impl Default for Gaps {
    fn default() -> Gaps {
        Gaps { bins: [0; ((LONGEST - SHORTEST) * BINS + 2) as usize] }
    }
}

impl Gaps {
    fn add(&mut self, gap: Dur) {
        self.bins[Gaps::bin(gap.ns())] += 1;
    }

    fn bin(ns: u64) -> usize {
        if ns < 1 << SHORTEST {
            return 0;
        }
        let octave = ns.ilog2();
        if octave >= LONGEST {
            return ((LONGEST - SHORTEST) * BINS + 1) as usize;
        }
        let within = (ns >> (octave - BINS.ilog2())) as u32 - BINS;
        (1 + (octave - SHORTEST) * BINS + within) as usize
    }

    /// The middle of a bin, in seconds; for the last one its lower edge.
    fn middle(bin: usize) -> f64 {
        let unit = f64::from(1 << SHORTEST) * 1e-9;
        let Some(nth) = bin.checked_sub(1) else { return unit / 2.0 };
        let (octave, within) = (nth as u32 / BINS, nth as u32 % BINS);
        let half = if octave == LONGEST - SHORTEST { 0.0 } else { 0.5 };
        unit * (1u64 << octave) as f64 * (1.0 + (f64::from(within) + half) / f64::from(BINS))
    }

    /// In seconds: the gap that `share` of all do not exceed, to 1/16 of itself. `None` if there is none.
    fn quantile(&self, share: f64) -> Option<f64> {
        let all: u64 = self.bins.iter().sum();
        let mut below = 0;
        let found = self.bins.iter().position(|n| {
            below += n;
            below > 0 && below as f64 >= share * all as f64
        });
        found.map(Gaps::middle)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // In a test a panic is the report.
    use super::*;
    use crate::record::Columns;

    fn us(t: u64) -> SimTime {
        SimTime::ZERO + Dur::from_us(t)
    }

    fn number(gaps: &AckGaps, name: &str) -> f64 {
        crate::record::number(&gaps.record(), name).unwrap()
    }

    /// ACKs that left every 1000 us, and arrive at these times; each acknowledges 1000 B.
    fn arriving(at: &[u64]) -> AckGaps {
        let mut gaps = AckGaps::default();
        (0..at.len() as u16).for_each(|id| gaps.leaves(us(1000 * u64::from(id)), id));
        (0u16..).zip(at).for_each(|(id, at)| gaps.arrives(us(*at), id, 1000));
        gaps
    }

    #[test]
    fn acks_that_keep_their_spacing_are_not_compressed_however_late_they_are() {
        let gaps = arriving(&[90_000, 91_000, 91_501, 93_000]); // 501 us is more than half of 1000
        assert_eq!((number(&gaps, "acks_compared"), number(&gaps, "acks_compressed")), (3.0, 0.0));
        assert!(number(&gaps, "ack_burst_mean").is_nan());
    }

    #[test]
    fn acks_held_back_and_let_go_together_are_one_burst_with_the_first_of_them() {
        // Four at once behind the one that was held, one alone, and two at once.
        let gaps = arriving(&[5000, 5100, 5200, 5300, 5400, 9000, 9100]);
        assert_eq!((number(&gaps, "acks_compressed"), number(&gaps, "ack_bursts")), (5.0, 2.0));
        assert_eq!((number(&gaps, "ack_burst_mean"), number(&gaps, "ack_burst_max")), (3.5, 5.0)); // 5 and 2
        assert_eq!(number(&gaps, "ack_burst_max_bytes"), 5000.0);
        assert!((number(&gaps, "ack_compressed_share") - 5.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_lost_ack_widens_both_gaps_and_one_that_nobody_sent_is_compared_with_none() {
        let mut gaps = AckGaps::default();
        (0..4).for_each(|id| gaps.leaves(us(1000 * u64::from(id)), id));
        gaps.arrives(us(5000), 0, 0);
        gaps.arrives(us(6100), 2, 0); // 1 was lost: it left 2000 us later, and 1100 is more than half of that
        gaps.arrives(us(6110), 77, 0);
        gaps.arrives(us(6120), 3, 0);
        assert_eq!((number(&gaps, "acks_compared"), number(&gaps, "acks_compressed")), (1.0, 0.0));
    }

    #[test]
    fn after_warm_up_only_later_gaps_count_but_none_is_lost() {
        let mut gaps = AckGaps::default();
        gaps.leaves(us(0), 0);
        gaps.leaves(us(1000), 1);
        gaps.arrives(us(2000), 0, 0);
        gaps.restart();
        gaps.arrives(us(2100), 1, 0);
        assert_eq!((number(&gaps, "acks_compared"), number(&gaps, "acks_compressed")), (1.0, 1.0));
    }

    #[test]
    fn quantiles_are_true_to_a_sixteenth() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.quantile(0.5), None);
        (1..=1000).for_each(|i| gaps.add(Dur::from_us(10 * i)));
        for (share, exact) in [(0.1, 1e-3), (0.5, 5e-3), (0.9, 9e-3), (0.99, 9.9e-3)] {
            let found = gaps.quantile(share).unwrap();
            assert!((found / exact - 1.0).abs() <= 1.0 / 16.0 + 1e-9, "{share}: {found} for {exact}");
        }
        for ns in [0, 1, 1023, 1024, 1025, 4_000_000, (1 << 36) - 1, 1 << 36, u64::MAX] {
            assert!(Gaps::bin(ns) < gaps.bins.len(), "{ns}");
        }
        // Every bin's middle falls into that bin.
        for bin in 0..gaps.bins.len() {
            assert_eq!(Gaps::bin((Gaps::middle(bin) * 1e9).round() as u64), bin);
        }
    }
}
