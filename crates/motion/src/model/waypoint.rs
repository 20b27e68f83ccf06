//! Random waypoint: straight to a point drawn anywhere in a rectangle, at a speed drawn for the leg, then a pause.
//!
//! - **Source** @JM96. Stationary start: @NC04, pauses included.
//! - **Departs** None.
//!
//! A node is found on a leg with a probability in proportion to the time that the leg takes. So it is found pausing with probability
//! E\[pause\] / (E\[pause\] + E\[length\] E\[1/speed\]); on a leg between two points with a density in proportion to their distance, at a speed v
//! with a density in proportion to 1/v, anywhere on the way; or anywhere in a pause, of a length p with a density in proportion to p.

use super::{Area, Model, Start};
use crate::{Leg, Point};
use engine::Stream;
use units::{Dur, SimTime};

#[derive(Debug)]
pub(super) struct Waypoint {
    area: Area,
    speeds: [f64; 2],
    pauses: [Dur; 2],
    start: Start,
    place: Option<Point>,
    draws: Stream,
    is_pausing: bool,
}

impl Waypoint {
    pub fn new(
        area: Area,
        speeds: [f64; 2],
        pauses: [Dur; 2],
        start: Start,
        place: Option<Point>,
        draws: Stream,
    ) -> Waypoint {
        Waypoint { area, speeds, pauses, start, place, draws, is_pausing: false }
    }

    /// A pause.
    fn pause(&mut self, begins: SimTime, at: Point) -> Leg {
        let [low, high] = self.pauses.map(Dur::as_secs_f64);
        self.is_pausing = true;
        Leg::stand(begins, seconds(low + (high - low) * self.draws.unit()), at)
    }

    fn travel(&mut self, begins: SimTime, from: Point) -> Leg {
        let to = self.area.draw(&mut self.draws);
        let [low, high] = self.speeds;
        self.is_pausing = false;
        Leg::between(begins, from, to, low + (high - low) * self.draws.unit())
    }

    /// The leg on which it is found at any time.
    fn found(&mut self) -> Leg {
        let [low, high] = self.speeds;
        let [shortest, longest] = self.pauses.map(Dur::as_secs_f64);
        // The mean of 1/v over speeds that are equally likely.
        let slowness = if high > low { libm::log(high / low) / (high - low) } else { 1.0 / low };
        let (pause, travel) = ((shortest + longest) / 2.0, self.area.mean_distance() * slowness);
        if self.draws.chance(pause / (pause + travel)) {
            // A pause of density in proportion to its length, and any instant of it.
            let (least, most) = (shortest * shortest, longest * longest);
            let length = libm::sqrt(least + (most - least) * self.draws.unit());
            let at = self.area.draw(&mut self.draws);
            self.is_pausing = true;
            return Leg::stand(SimTime::ZERO, seconds(length * self.draws.unit()), at);
        }
        let longest = libm::hypot(self.area.width, self.area.height);
        loop {
            let (from, to) = (self.area.draw(&mut self.draws), self.area.draw(&mut self.draws));
            let length = libm::hypot(to[0] - from[0], to[1] - from[1]);
            if self.draws.unit() * longest < length {
                let share = self.draws.unit();
                let at = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * share);
                // The density 1/v between two speeds: its distribution's inverse.
                let speed = low * libm::pow(high / low, self.draws.unit());
                return Leg::between(SimTime::ZERO, at, to, speed);
            }
        }
    }
}

fn seconds(seconds: f64) -> Dur {
    Dur::from_ns((seconds * 1e9) as u64)
}

impl Model for Waypoint {
    fn first(&mut self) -> Leg {
        if self.start == Start::Stationary {
            return self.found();
        }
        let at = self.place.unwrap_or_else(|| self.area.draw(&mut self.draws));
        if self.pauses[1] > Dur::ZERO { self.pause(SimTime::ZERO, at) } else { self.travel(SimTime::ZERO, at) }
    }

    fn next(&mut self, ended: &Leg) -> Leg {
        let (now, at) = (ended.ends, ended.to());
        if !self.is_pausing && self.pauses[1] > Dur::ZERO { self.pause(now, at) } else { self.travel(now, at) }
    }
}
