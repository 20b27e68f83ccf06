//! Random walk: any direction and a speed, drawn anew after a time or a distance; the border of a rectangle reflects.
//!
//! - **Source** @CBD02 section 2.1.
//! - **Departs** None.
//!
//! A node that begins anywhere in the rectangle is found anywhere in it at every later time: reflection keeps the uniform distribution.

use super::{Area, Model, Stretch};
use crate::{Leg, Point};
use core::f64::consts::TAU;
use engine::Stream;
use units::{Dur, SimTime};

#[derive(Debug)]
pub(super) struct Walk {
    area: Area,
    speeds: [f64; 2],
    stretch: Stretch,
    place: Option<Point>,
    draws: Stream,
    velocity: Point,
    /// Of this draw.
    rest: Dur,
}

impl Walk {
    pub fn new(area: Area, speeds: [f64; 2], stretch: Stretch, place: Option<Point>, draws: Stream) -> Walk {
        Walk { area, speeds, stretch, place, draws, velocity: [0.0; 2], rest: Dur::ZERO }
    }

    /// Straight on until the draw is over, or to the border, which turns it.
    fn go(&mut self, begins: SimTime, from: Point) -> Leg {
        if self.rest == Dur::ZERO {
            let angle = TAU * self.draws.unit();
            let [low, high] = self.speeds;
            let speed = low + (high - low) * self.draws.unit();
            self.velocity = [speed * libm::cos(angle), speed * libm::sin(angle)];
            self.rest = match self.stretch {
                Stretch::Time(time) => time,
                Stretch::Metres(metres) => Dur::from_ns((metres / speed * 1e9) as u64),
            }
            .max(Dur::from_ns(1));
        }
        let bounds = self.area.bounds();
        let border = |axis: usize| {
            let v = self.velocity[axis];
            let wall = if v > 0.0 { bounds[axis][1] } else { bounds[axis][0] };
            let ns = if v == 0.0 { f64::INFINITY } else { libm::ceil(((wall - from[axis]) / v).max(0.0) * 1e9) };
            (ns, axis, wall)
        };
        let hits = [border(0), border(1)];
        let (ns, ..) = if hits[0].0 <= hits[1].0 { hits[0] } else { hits[1] };
        let lasts = if ns < self.rest.ns() as f64 { Dur::from_ns((ns as u64).max(1)) } else { self.rest };
        self.rest = self.rest.saturating_sub(lasts);
        let ends = begins + lasts;
        let mut to = [0, 1].map(|axis| from[axis] + self.velocity[axis] * lasts.as_secs_f64());
        for (own, axis, wall) in hits {
            if own <= lasts.ns() as f64 {
                to[axis] = wall;
                self.velocity[axis] = -self.velocity[axis];
            }
        }
        Leg::until(begins, ends, from, to)
    }
}

impl Model for Walk {
    fn first(&mut self) -> Leg {
        let at = self.place.unwrap_or_else(|| self.area.draw(&mut self.draws));
        self.go(SimTime::ZERO, at)
    }

    fn next(&mut self, ended: &Leg) -> Leg {
        self.go(ended.ends, ended.to())
    }
}
