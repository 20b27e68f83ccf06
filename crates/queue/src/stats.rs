//! The counters of a queue.

use units::{Bytes, Dur};

/// Counters of a queue. `offered` is `departed`, both kinds of drops, `withdrawn`, `abandoned` and what is queued
/// now, together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets that asked to be taken in.
    pub offered: u64,
    /// Their bytes.
    pub bytes_offered: Bytes,
    /// Packets that left to be sent.
    pub departed: u64,
    /// Their bytes.
    pub bytes_departed: Bytes,
    /// Packets that did not fit, or that made room for others.
    pub dropped_full: u64,
    /// Packets that the discipline dropped though there was room: RED when they came, CoDel when they were to leave.
    pub dropped_early: u64,
    /// Packets that the queue's owner took back before they were sent.
    pub withdrawn: u64,
    /// Packets to be marked with CE when they were taken in or left, whether or not another router had.
    pub marked: u64,
    /// Packets that were in it when it was emptied by force.
    pub abandoned: u64,
    /// The most entries there ever were at once.
    pub max_entries: u32,
    /// Entries, integrated over time, in packet·ns.
    pub entry_time: u128,
    /// Time the departed spent in it, summed.
    pub wait: Dur,
}

impl Stats {
    /// Counts so many entries queued for `dur`.
    pub(crate) fn stay(&mut self, dur: Dur, entries: usize) {
        self.entry_time += u128::from(dur.ns()) * entries as u128;
    }

    /// Returns the counts after `then`. `max_entries` stays that of the whole time: a maximum has no difference.
    #[must_use]
    pub fn since(&self, then: &Stats) -> Stats {
        Stats {
            offered: self.offered - then.offered,
            bytes_offered: self.bytes_offered - then.bytes_offered,
            departed: self.departed - then.departed,
            bytes_departed: self.bytes_departed - then.bytes_departed,
            dropped_full: self.dropped_full - then.dropped_full,
            dropped_early: self.dropped_early - then.dropped_early,
            withdrawn: self.withdrawn - then.withdrawn,
            marked: self.marked - then.marked,
            abandoned: self.abandoned - then.abandoned,
            max_entries: self.max_entries,
            entry_time: self.entry_time - then.entry_time,
            wait: self.wait - then.wait,
        }
    }

    /// The counters of two queues together. `max_entries` is the greater of theirs: when each was longest, they do not say.
    #[must_use]
    pub fn with(&self, other: &Stats) -> Stats {
        Stats {
            offered: self.offered + other.offered,
            bytes_offered: self.bytes_offered + other.bytes_offered,
            departed: self.departed + other.departed,
            bytes_departed: self.bytes_departed + other.bytes_departed,
            dropped_full: self.dropped_full + other.dropped_full,
            dropped_early: self.dropped_early + other.dropped_early,
            withdrawn: self.withdrawn + other.withdrawn,
            marked: self.marked + other.marked,
            abandoned: self.abandoned + other.abandoned,
            max_entries: self.max_entries.max(other.max_entries),
            entry_time: self.entry_time + other.entry_time,
            wait: self.wait + other.wait,
        }
    }

    /// Packets that will not be sent: refused for whichever reason, or withdrawn.
    pub fn dropped(&self) -> u64 {
        self.dropped_full + self.dropped_early + self.withdrawn
    }

    /// Entries on average over `over`, the time these counters cover; 0 for no time.
    pub fn mean_entries(&self, over: Dur) -> f64 {
        mean(self.entry_time, over)
    }

    /// Time a departed packet spent in the queue, on average, rounded down to whole ns; `None` if none departed.
    pub fn mean_wait(&self) -> Option<Dur> {
        (self.departed > 0).then(|| self.wait / self.departed)
    }
}

fn mean(integral: u128, over: Dur) -> f64 {
    if over == Dur::ZERO { 0.0 } else { integral as f64 / over.ns() as f64 }
}
