//! Measurements of links, for metrics that learn from them.

use crate::metric::{Learning, Link, Unmeasured};
use std::collections::BTreeMap;
use units::{Bytes, Dur, NodeId, SimTime};

/// A scheme's measurement of a link: of one packet that crossed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkSample {
    /// The time that the link took for the packet.
    pub delay: Dur,
    /// The packet's length by the time that counts as its service: bytes per second.
    pub bytes_per_s: u64,
}

/// Delay and time of a byte, in ns.
#[derive(Debug, Clone, Copy)]
struct Smoothed {
    delay: f64,
    of_byte: f64,
}

impl Smoothed {
    fn of(sample: LinkSample) -> Smoothed {
        Smoothed { delay: sample.delay.ns() as f64, of_byte: 1e9 / sample.bytes_per_s.max(1) as f64 }
    }

    fn towards(self, new: Smoothed, gain: f64) -> Smoothed {
        let step = |old: f64, new: f64| old + gain * (new - old);
        Smoothed { delay: step(self.delay, new.delay), of_byte: step(self.of_byte, new.of_byte) }
    }

    fn differs(self, used: Smoothed, share: f64) -> bool {
        let far = |new: f64, old: f64| (new - old).abs() > share * old;
        far(self.delay, used.delay) || far(self.of_byte, used.of_byte)
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    heard: SimTime,
    smoothed: Smoothed,
    /// The measurement that routes were found with.
    used: Option<Smoothed>,
}

/// The links that schemes have measured. Two rules keep routes from flapping: a link counts with the value of the last search until it has
/// changed by more than [`Learning::change`], and no search follows another within [`Learning::hold`].
#[derive(Debug)]
pub struct Measured {
    learning: Learning,
    links: BTreeMap<(NodeId, NodeId), Entry>,
    /// The time of the last search.
    searched: Option<SimTime>,
}

impl Measured {
    /// Nothing yet.
    pub fn new(learning: Learning) -> Measured {
        Measured { learning, links: BTreeMap::new(), searched: None }
    }

    /// Takes a measurement of the link between two nodes. Returns true if routes are to be found anew.
    pub fn take(&mut self, now: SimTime, from: NodeId, to: NodeId, sample: LinkSample) -> bool {
        let Learning { gain, change, hold, forget, .. } = self.learning;
        let new = Smoothed::of(sample);
        let fresh = Entry { heard: now, smoothed: new, used: None };
        let entry = self.links.entry((from, to)).or_insert(fresh);
        if now.since(entry.heard) > forget {
            *entry = Entry { used: entry.used, ..fresh };
        }
        (entry.heard, entry.smoothed) = (now, entry.smoothed.towards(new, gain));
        let (smoothed, used) = (entry.smoothed, entry.used);
        if self.searched.is_some_and(|last| now.since(last) < hold) {
            return false;
        }
        let is_old = |entry: &Entry| now.since(entry.heard) > forget;
        let has_changed = used.is_none_or(|used| smoothed.differs(used, change));
        if !has_changed && !self.links.values().any(is_old) {
            return false;
        }
        self.links.retain(|_, entry| !is_old(entry));
        for entry in self.links.values_mut() {
            if entry.used.is_none_or(|used| entry.smoothed.differs(used, change)) {
                entry.used = Some(entry.smoothed);
            }
        }
        self.searched = Some(now);
        true
    }

    /// The properties of a hop whose medium time for a packet of this length is known: as measured or, if only its other direction is, as
    /// that.
    pub fn link(&self, from: NodeId, to: NodeId, medium: Dur, packet: Bytes) -> Link {
        let used = |ends| self.links.get(&ends).and_then(|entry: &Entry| entry.used);
        if let Some(used) = used((from, to)).or_else(|| used((to, from))) {
            let (delay, bytes_per_s) = (Dur::from_ns(used.delay as u64), (1e9 / used.of_byte) as u64);
            return Link { medium, delay, bytes_per_s, is_free: false };
        }
        unmeasured(self.learning.unmeasured, medium, packet)
    }
}

/// The properties of a hop that nobody has measured.
pub fn unmeasured(it: Unmeasured, medium: Dur, packet: Bytes) -> Link {
    match it {
        Unmeasured::Free => Link { medium, delay: Dur::ZERO, bytes_per_s: u64::MAX, is_free: true },
        Unmeasured::Medium => known(medium, medium, packet),
    }
}

/// The properties of a hop that takes this time for a packet of this length, and has this delay.
pub fn known(medium: Dur, delay: Dur, packet: Bytes) -> Link {
    let bytes_per_s = packet.0.saturating_mul(1_000_000_000) / medium.ns().max(1);
    Link { medium, delay, bytes_per_s, is_free: false }
}
