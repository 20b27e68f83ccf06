//! Transmissions that overlap others where those are received: the causes of collisions.

use crate::frame::{Kind, Label};
use phy::Medium;
use units::{NodeId, SimTime};

/// The transmission that overlapped a frame first at its addressee; of several that did so at one instant, the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The beginning of the overlap.
    pub since: SimTime,
    /// Its transmitter.
    pub by: NodeId,
    /// The kind of its frame.
    pub kind: Kind,
    /// The label of its frame.
    pub label: Label,
}

/// The transmission that first overlapped each frame in the air at its addressee.
#[derive(Debug)]
pub(crate) struct Overlaps {
    airing: Vec<Airing>,
    /// Of each transmitter's frame; kept until its next.
    pub first: Vec<Option<Overlap>>,
}

/// A frame in the air, as far as others may overlap it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Airing {
    pub from: NodeId,
    pub to: NodeId,
    pub kind: Kind,
    pub label: Label,
}

impl Overlaps {
    pub fn new(nodes: usize) -> Overlaps {
        Overlaps { airing: Vec::with_capacity(nodes), first: vec![None; nodes] }
    }

    /// Begins a frame, which has reached its listeners.
    #[inline]
    pub fn start(&mut self, now: SimTime, new: Airing, medium: &Medium) {
        self.first[new.from.index()] = None;
        if !self.airing.is_empty() {
            self.note_each(now, new, medium);
        }
        self.airing.push(new);
    }

    #[inline(never)]
    fn note_each(&mut self, now: SimTime, new: Airing, medium: &Medium) {
        for i in 0..self.airing.len() {
            let other = self.airing[i];
            self.note(now, other, new, medium);
            self.note(now, new, other, medium);
        }
    }

    /// Notes that `other` overlaps `frame` from `now` on, if it is heard where that is received.
    fn note(&mut self, now: SimTime, frame: Airing, other: Airing, medium: &Medium) {
        let at = frame.to;
        if at.index() >= self.first.len() || !medium.overlaps(at, other.from) {
            return;
        }
        let first = &mut self.first[frame.from.index()];
        let is_first = first.is_none_or(|Overlap { since, by, .. }| {
            // In order of strength, then of id, whichever is told first.
            let is_weaker = medium.is_stronger(at, by, other.from);
            now == since && !is_weaker && (medium.is_stronger(at, other.from, by) || other.from < by)
        });
        if is_first {
            *first = Some(Overlap { since: now, by: other.from, kind: other.kind, label: other.label });
        }
    }

    /// Ends a frame. Returns the transmission that overlapped it first.
    #[inline]
    pub fn end(&mut self, from: NodeId) -> Option<Overlap> {
        if self.airing.len() == 1 {
            self.airing.clear();
        } else {
            self.airing.retain(|airing| airing.from != from);
        }
        self.first[from.index()]
    }
}
