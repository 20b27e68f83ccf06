//! A leg: a straight line at constant speed, or a stand.

use crate::Point;
use units::{Dur, SimTime};

/// A node's motion from one instant to another: straight, at constant speed. It may stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// Its begin.
    pub begins: SimTime,
    /// Its end, later than its begin; [`SimTime::NEVER`] for one that goes on for ever.
    pub ends: SimTime,
    /// The node's place at its begin.
    pub from: Point,
    /// Metres a second.
    pub velocity: Point,
    /// The node's place at its end; of no meaning if it has none.
    to: Point,
}

impl Leg {
    /// The shortest leg: what ends with its begin would let a model draw for ever at one instant.
    const SHORTEST: Dur = Dur::from_ns(1);

    /// From one point to another at so many metres a second, above zero. Its end is rounded up to the nanosecond.
    pub fn between(begins: SimTime, from: Point, to: Point, speed: f64) -> Leg {
        let way = [to[0] - from[0], to[1] - from[1]];
        let ns = libm::ceil(libm::hypot(way[0], way[1]) / speed * 1e9);
        Leg::until(begins, begins + Dur::from_ns(ns as u64), from, to)
    }

    /// From one point to another between two instants.
    pub fn until(begins: SimTime, ends: SimTime, from: Point, to: Point) -> Leg {
        let ends = ends.max(begins + Leg::SHORTEST);
        let lasts = (ends - begins).as_secs_f64();
        let velocity = [0, 1].map(|axis| (to[axis] - from[axis]) / lasts);
        Leg { begins, ends, from, velocity, to }
    }

    /// A stand of so long.
    pub fn stand(begins: SimTime, lasts: Dur, at: Point) -> Leg {
        Leg::until(begins, begins + lasts.max(Leg::SHORTEST), at, at)
    }

    /// A stand for ever.
    pub fn rest(begins: SimTime, at: Point) -> Leg {
        Leg { begins, ends: SimTime::NEVER, from: at, velocity: [0.0; 2], to: at }
    }

    /// With this velocity, for ever.
    pub fn away(begins: SimTime, from: Point, velocity: Point) -> Leg {
        Leg { begins, ends: SimTime::NEVER, from, velocity, to: from }
    }

    /// The leg as far as `at`, which lies within it. It has the velocity that it had.
    #[must_use]
    pub fn cut(self, at: SimTime) -> Leg {
        let ends = at.max(self.begins + Leg::SHORTEST);
        if ends >= self.ends { self } else { Leg { ends, to: self.place(ends), ..self } }
    }

    /// The place of the node at an instant of the leg; at its ends before and after.
    pub fn place(&self, at: SimTime) -> Point {
        if at >= self.ends && self.ends != SimTime::NEVER {
            return self.to;
        }
        let passed = at.since(self.begins).as_secs_f64();
        [0, 1].map(|axis| self.from[axis] + self.velocity[axis] * passed)
    }

    /// The node's place at its end.
    pub fn to(&self) -> Point {
        self.to
    }

    /// Metres a second.
    pub fn speed(&self) -> f64 {
        libm::hypot(self.velocity[0], self.velocity[1])
    }

    /// True if the node stands.
    pub fn is_stand(&self) -> bool {
        self.velocity == [0.0; 2]
    }
}
