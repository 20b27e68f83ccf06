//! Control packets that wait for their time.

use engine::Stream;
use std::collections::VecDeque;
use units::{Dur, SimTime};

/// Packets that wait at most.
const MOST: usize = 1024;

/// A bounded queue of what is to be sent, the first to go first; what has the same time goes in the order in which it came.
#[derive(Debug)]
pub(super) struct Delayed<T>(VecDeque<(SimTime, T)>);

impl<T> Default for Delayed<T> {
    fn default() -> Delayed<T> {
        Delayed(VecDeque::new())
    }
}

impl<T> Delayed<T> {
    pub(super) fn has_room(&self) -> bool {
        self.0.len() < MOST
    }

    /// Keeps one until a time; without room it is lost.
    pub(super) fn push(&mut self, at: SimTime, one: T) {
        if self.has_room() {
            let place = self.0.partition_point(|(other, _)| *other <= at);
            self.0.insert(place, (at, one));
        }
    }

    /// Takes the first whose time has come.
    pub(super) fn pop_due(&mut self, now: SimTime) -> Option<T> {
        (self.first() <= now).then(|| self.0.pop_front()).flatten().map(|(_, one)| one)
    }

    /// The time of the first.
    pub(super) fn first(&self) -> SimTime {
        self.0.front().map_or(SimTime::NEVER, |(at, _)| *at)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A random part of a time.
pub(super) fn part(most: Dur, draws: &mut Stream) -> Dur {
    Dur::from_ns((draws.unit() * most.ns() as f64) as u64)
}
