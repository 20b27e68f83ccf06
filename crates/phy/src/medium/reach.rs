//! A medium in which a pair is in reach or not.
//!
//! A station locks on a signal that starts while nothing else is in the air around it and it does not transmit. Any
//! second signal spoils the first, one that starts at the same instant included, and cannot be locked on. A station that
//! transmits hears nothing.
//!
//! All of that is a matter of sets, so what happens at 64 stations is a few operations on words.

use super::Hearing;
use units::{NodeId, Nodes, SimTime};

/// The ears of 64 stations, a bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Ears {
    transmitting: u64,
    /// A signal of another stands there.
    hearing: u64,
    /// What they are locked on is spoilt. Of no meaning elsewhere.
    spoilt: u64,
}

/// A transmitter's signal at 64 stations.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    /// Who hears it, whether it stands now or not.
    listeners: u64,
    /// Who is locked on it.
    locked: u64,
    /// Who has transmitted since it began.
    deaf: u64,
}

/// Who hears whom, and what stands at each station.
#[derive(Debug)]
pub struct Reach {
    nodes: usize,
    ears: Vec<Ears>,
    /// Of each transmitter, a block after the other.
    reached: Vec<Reached>,
    /// Whose signals stand, in no order.
    airing: Vec<NodeId>,
    /// When each transmitter's last signal began.
    started: Vec<SimTime>,
    /// Whose began last.
    latest: NodeId,
}

impl Reach {
    /// A medium in which everybody hears everybody.
    pub fn new(nodes: usize) -> Reach {
        let blocks = Nodes::blocks(nodes);
        let mut medium = Reach {
            nodes,
            ears: vec![Ears::default(); blocks],
            reached: vec![Reached::default(); nodes * blocks],
            airing: Vec::with_capacity(nodes),
            started: vec![SimTime::ZERO; nodes],
            latest: NodeId(0),
        };
        (0..nodes as u32).for_each(|from| medium.set_reaches(NodeId(from), |_| true));
        medium
    }

    fn row(&self, from: NodeId) -> &[Reached] {
        &self.reached[from.index() * self.ears.len()..][..self.ears.len()]
    }

    /// What is kept of the signal of `from` at a station, and the station's bit.
    fn at(&self, from: NodeId, to: NodeId) -> (&Reached, u64) {
        let one = Nodes::from(to);
        (&self.reached[from.index() * self.ears.len() + one.index()], one.bits)
    }

    /// Sets whether `to` hears `from`.
    pub fn set_reach(&mut self, from: NodeId, to: NodeId, in_reach: bool) {
        let one = Nodes::from(to);
        let listeners = &mut self.reached[from.index() * self.ears.len() + one.index()].listeners;
        *listeners = if in_reach && from != to { *listeners | one.bits } else { *listeners & !one.bits };
    }

    /// Sets who hears `from`, all at once.
    pub fn set_reaches(&mut self, from: NodeId, in_reach: impl Fn(NodeId) -> bool) {
        for to in (0..self.nodes as u32).map(NodeId) {
            self.set_reach(from, to, in_reach(to));
        }
    }

    /// Whether `to` hears `from`.
    pub fn hears(&self, to: NodeId, from: NodeId) -> bool {
        let (at, bit) = self.at(from, to);
        at.listeners & bit != 0
    }

    /// Who hears `from`, in order of id.
    pub fn listeners(&self, from: NodeId) -> Vec<NodeId> {
        (0..).zip(self.row(from)).flat_map(|(block, at)| Nodes { block, bits: at.listeners }).collect()
    }

    /// Whether `node` transmits now.
    pub fn is_transmitting(&self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        self.ears[one.index()].transmitting & one.bits != 0
    }

    /// Whether a signal of another station stands at `node` now.
    pub fn hears_any(&self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        self.ears[one.index()].hearing & one.bits != 0
    }

    /// Whether `node` is locked on a frame now.
    pub fn is_locked(&self, node: NodeId) -> bool {
        self.airing.iter().any(|from| {
            let (at, bit) = self.at(*from, node);
            at.locked & bit != 0
        })
    }

    /// Whether a signal has begun at `node` at `instant` or later.
    pub fn has_heard_since(&self, instant: SimTime, node: NodeId) -> bool {
        let is_one = |from: NodeId| self.started[from.index()] >= instant && self.hears(node, from);
        is_one(self.latest)
            || self.started[self.latest.index()] >= instant && (0..self.nodes as u32).map(NodeId).any(is_one)
    }

    /// `node` begins to transmit: it goes deaf, and what it was receiving is lost to it.
    pub fn start(&mut self, node: NodeId) {
        let one = Nodes::from(node);
        debug_assert!(!self.is_transmitting(node), "{node} transmits twice at once");
        self.ears[one.index()].transmitting |= one.bits;
        for from in &self.airing {
            let at = &mut self.reached[from.index() * self.ears.len() + one.index()];
            at.locked &= !one.bits;
            at.deaf |= one.bits;
        }
    }

    /// The signal of `from` reaches its listeners. `broken` is told of those whose silence it broke.
    #[inline]
    pub fn arrive(&mut self, now: SimTime, from: NodeId, mut broken: impl FnMut(Nodes)) {
        self.airing.push(from);
        self.started[from.index()] = now;
        self.latest = from;
        let row = &mut self.reached[from.index() * self.ears.len()..][..self.ears.len()];
        for (block, (ears, at)) in (0..).zip(self.ears.iter_mut().zip(row)) {
            at.locked = at.listeners & !ears.hearing & !ears.transmitting;
            at.deaf = at.listeners & ears.transmitting;
            ears.spoilt = (ears.spoilt | at.listeners & ears.hearing) & !at.locked;
            ears.hearing |= at.listeners;
            broken(Nodes { block, bits: at.locked });
        }
    }

    /// `node` ends its transmission. Returns whether the air around it is silent.
    pub fn stop(&mut self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        debug_assert!(self.is_transmitting(node), "{node} ends what it did not begin");
        self.ears[one.index()].transmitting &= !one.bits;
        !self.hears_any(node)
    }

    /// The signal of `from` ends at its listeners. `heard` is told what they made of it.
    #[inline]
    pub fn leave(&mut self, from: NodeId, mut heard: impl FnMut(Hearing)) {
        let blocks = self.ears.len();
        if let Some(i) = self.airing.iter().position(|other| *other == from) {
            self.airing.swap_remove(i);
        }
        for block in 0..blocks {
            let hearing = self.airing.iter().map(|other| self.reached[other.index() * blocks + block].listeners);
            let hearing = hearing.fold(0, |all, some| all | some);
            let (ears, at) = (&mut self.ears[block], &mut self.reached[from.index() * blocks + block]);
            ears.hearing = hearing;
            let locked = std::mem::take(&mut at.locked);
            heard(Hearing {
                block: block as u32,
                listeners: at.listeners,
                locked,
                clear: locked & !ears.spoilt,
                spoilt: locked & ears.spoilt,
                deaf: at.listeners & at.deaf,
                noise: 0,
                free: locked,
                turns_idle: at.listeners & !hearing & !ears.transmitting,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::{Heard, Verdict};

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    fn start(medium: &mut Reach, now: u64, from: NodeId) {
        medium.start(from);
        medium.arrive(at(now), from, |_| {});
    }

    /// What `to` made of the signal of `from`, which began at 0 and ends.
    fn leave(medium: &mut Reach, from: NodeId, to: NodeId) -> Heard {
        let mut found = None;
        medium.leave(from, |heard| found = found.or(heard.each().find(|(node, _)| *node == to)));
        found.expect("a listener").1
    }

    #[test]
    fn of_three_nodes_the_one_out_of_reach_hears_nothing() {
        let mut medium = Reach::new(3);
        for (x, y) in [(A, C), (C, A)] {
            medium.set_reach(x, y, false);
        }
        assert_eq!(medium.listeners(A), [B]);
        assert_eq!(medium.listeners(B), [A, C]);
        start(&mut medium, 0, A);
        assert!(medium.hears_any(B) && !medium.hears_any(C));
        assert_eq!(leave(&mut medium, A, B).verdict, Verdict::Clear);
    }

    #[test]
    fn hidden_transmitters_spoil_each_other_at_the_one_between() {
        let mut medium = Reach::new(3);
        for (x, y) in [(A, C), (C, A)] {
            medium.set_reach(x, y, false);
        }
        start(&mut medium, 0, A);
        start(&mut medium, 5, C);
        assert_eq!(
            leave(&mut medium, A, B),
            Heard { verdict: Verdict::Spoilt, is_locked: true, is_free: true, turns_idle: false }
        );
        assert_eq!(
            leave(&mut medium, C, B),
            Heard { verdict: Verdict::NotLocked, is_locked: false, is_free: false, turns_idle: true }
        );
        // The air is clean again.
        assert!(medium.stop(A) && medium.stop(C));
        start(&mut medium, 9, A);
        assert_eq!(leave(&mut medium, A, B).verdict, Verdict::Clear);
    }

    #[test]
    fn who_transmits_is_deaf_until_the_next_signal_starts() {
        let mut medium = Reach::new(2);
        start(&mut medium, 0, A);
        start(&mut medium, 0, B);
        // B ends first: A's signal still stands, but B missed its beginning.
        assert!(!medium.stop(B));
        assert!(!leave(&mut medium, B, A).turns_idle);
        assert!(medium.stop(A));
        assert_eq!(
            leave(&mut medium, A, B),
            Heard { verdict: Verdict::Deaf, is_locked: false, is_free: false, turns_idle: true }
        );
    }
}
