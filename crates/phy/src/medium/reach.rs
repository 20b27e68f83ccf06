//! A medium in which a pair is in reach or not.
//!
//! A station locks on a signal that starts while nothing else is in the air around it and it does not transmit. Any
//! second signal spoils the first, one that starts at the same instant included, and cannot be locked on. A station that
//! transmits hears nothing.

use super::{Heard, NOTHING, Verdict};
use units::{Db, NodeId, SimTime};

/// Who hears whom, and how loud.
#[derive(Debug, Clone)]
struct Pair {
    in_reach: bool,
    gain: Db,
}

/// One listener's ear.
#[derive(Debug, Clone, Copy)]
struct Ear {
    /// Signals of others standing here now.
    signals: u16,
    is_transmitting: bool,
    is_spoilt: bool,
    locked_on: NodeId,
    /// When the last signal began.
    last_start: SimTime,
    /// When its own last transmission ended.
    stopped: SimTime,
}

/// Pairs in reach, and what stands at each station.
#[derive(Debug)]
pub struct Reach {
    nodes: usize,
    pairs: Vec<Pair>,
    /// Listeners of each transmitter, in order of id; derived from `pairs`.
    listeners: Vec<Vec<NodeId>>,
    ears: Vec<Ear>,
}

impl Reach {
    /// A medium in which everybody hears everybody.
    pub fn new(nodes: usize) -> Reach {
        let silence = Ear {
            signals: 0,
            is_transmitting: false,
            is_spoilt: false,
            locked_on: NOTHING,
            last_start: SimTime::ZERO,
            stopped: SimTime::ZERO,
        };
        let pairs = vec![Pair { in_reach: true, gain: Db(0.0) }; nodes * nodes];
        let mut medium = Reach { nodes, pairs, listeners: vec![Vec::new(); nodes], ears: vec![silence; nodes] };
        (0..nodes).for_each(|from| medium.list(from));
        medium
    }

    fn list(&mut self, from: usize) {
        let row = &self.pairs[from * self.nodes..][..self.nodes];
        let hears = row.iter().enumerate().filter(|(to, pair)| *to != from && pair.in_reach);
        self.listeners[from] = hears.map(|(to, _)| NodeId(to as u32)).collect();
    }

    /// Sets whether `to` hears `from`.
    pub fn set_reach(&mut self, from: NodeId, to: NodeId, in_reach: bool) {
        self.pairs[from.index() * self.nodes + to.index()].in_reach = in_reach;
        self.list(from.index());
    }

    /// Sets who hears `from`, all at once.
    pub fn set_reaches(&mut self, from: NodeId, in_reach: impl Fn(NodeId) -> bool) {
        for (to, pair) in self.pairs[from.index() * self.nodes..][..self.nodes].iter_mut().enumerate() {
            pair.in_reach = in_reach(NodeId(to as u32));
        }
        self.list(from.index());
    }

    /// Whether `to` hears `from`.
    pub fn hears(&self, to: NodeId, from: NodeId) -> bool {
        to != from && self.pairs[from.index() * self.nodes + to.index()].in_reach
    }

    /// Sets the gain from `from` to `to` (negative: a loss).
    pub fn set_gain(&mut self, from: NodeId, to: NodeId, gain: Db) {
        self.pairs[from.index() * self.nodes + to.index()].gain = gain;
    }

    /// The gain from `from` to `to`.
    pub fn gain(&self, from: NodeId, to: NodeId) -> Db {
        self.pairs[from.index() * self.nodes + to.index()].gain
    }

    /// Who hears `from`, in order of id.
    pub fn listeners(&self, from: NodeId) -> &[NodeId] {
        &self.listeners[from.index()]
    }

    /// Whether `node` transmits now.
    pub fn is_transmitting(&self, node: NodeId) -> bool {
        self.ears[node.index()].is_transmitting
    }

    /// Whether a signal of another station stands at `node` now.
    pub fn hears_any(&self, node: NodeId) -> bool {
        self.ears[node.index()].signals > 0
    }

    /// Whether `node` is locked on a frame now.
    pub fn is_locked(&self, node: NodeId) -> bool {
        self.ears[node.index()].locked_on != NOTHING
    }

    /// When the last signal at `node` began.
    pub fn last_start(&self, node: NodeId) -> SimTime {
        self.ears[node.index()].last_start
    }

    /// `node` begins to transmit: it goes deaf, and what it was receiving is lost to it.
    pub fn start(&mut self, node: NodeId) {
        let ear = &mut self.ears[node.index()];
        debug_assert!(!ear.is_transmitting, "{node} transmits twice at once");
        ear.is_transmitting = true;
        ear.locked_on = NOTHING;
    }

    /// The signal of `from` reaches its listeners, in order of id. `broken` is told of those whose silence it broke.
    pub fn arrive(&mut self, now: SimTime, from: NodeId, mut broken: impl FnMut(NodeId)) {
        for &to in &self.listeners[from.index()] {
            let ear = &mut self.ears[to.index()];
            ear.signals += 1;
            ear.last_start = now;
            if ear.signals > 1 {
                ear.is_spoilt = true;
            } else if !ear.is_transmitting {
                ear.locked_on = from;
                ear.is_spoilt = false;
                broken(to);
            }
        }
    }

    /// `node` ends its transmission. Returns whether the air around it is silent.
    pub fn stop(&mut self, now: SimTime, node: NodeId) -> bool {
        let ear = &mut self.ears[node.index()];
        debug_assert!(ear.is_transmitting, "{node} ends what it did not begin");
        ear.is_transmitting = false;
        ear.stopped = now;
        ear.signals == 0
    }

    /// The signal of `from`, which began at `started`, ends at its listeners, in order of id. `heard` is told what each
    /// made of it.
    pub fn leave(&mut self, from: NodeId, started: SimTime, mut heard: impl FnMut(NodeId, Heard)) {
        for &to in &self.listeners[from.index()] {
            let ear = &mut self.ears[to.index()];
            ear.signals -= 1;
            let verdict = match ear.locked_on == from {
                false if ear.is_transmitting || ear.stopped > started => Verdict::Deaf,
                false => Verdict::NotLocked,
                true if ear.is_spoilt => Verdict::Spoilt,
                true => Verdict::Clear,
            };
            let is_locked = ear.locked_on == from;
            if is_locked {
                ear.locked_on = NOTHING;
            }
            let turns_idle = ear.signals == 0 && !ear.is_transmitting;
            heard(to, Heard { verdict, is_locked, is_free: is_locked, turns_idle });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        medium.leave(from, at(0), |node, heard| {
            if node == to {
                found = Some(heard);
            }
        });
        found.expect("a listener")
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
        assert!(medium.stop(at(8), A) && medium.stop(at(8), C));
        start(&mut medium, 9, A);
        assert_eq!(leave(&mut medium, A, B).verdict, Verdict::Clear);
    }

    #[test]
    fn who_transmits_is_deaf_until_the_next_signal_starts() {
        let mut medium = Reach::new(2);
        start(&mut medium, 0, A);
        start(&mut medium, 0, B);
        // B ends first: A's signal still stands, but B missed its beginning.
        assert!(!medium.stop(at(10), B));
        assert!(!leave(&mut medium, B, A).turns_idle);
        assert!(medium.stop(at(20), A));
        assert_eq!(
            leave(&mut medium, A, B),
            Heard { verdict: Verdict::Deaf, is_locked: false, is_free: false, turns_idle: true }
        );
    }
}
