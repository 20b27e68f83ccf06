//! A straight line: with a velocity for ever, or through points to the last, where the node stays.

use super::Model;
use crate::{Leg, Point};
use units::{Dur, SimTime};

#[derive(Debug)]
pub(super) struct Line {
    at: Point,
    after: Dur,
    velocity: Option<Point>,
    points: std::vec::IntoIter<Point>,
    speed: f64,
}

impl Line {
    pub fn away(at: Point, velocity: Point, after: Dur) -> Line {
        Line { at, after, velocity: Some(velocity), points: Vec::new().into_iter(), speed: 0.0 }
    }

    pub fn through(at: Point, points: Vec<Point>, speed: f64, after: Dur) -> Line {
        Line { at, after, velocity: None, points: points.into_iter(), speed }
    }

    fn go(&mut self, begins: SimTime, from: Point) -> Leg {
        match (self.velocity, self.points.next()) {
            (Some(velocity), _) => Leg::away(begins, from, velocity),
            (None, Some(to)) => Leg::between(begins, from, to, self.speed),
            (None, None) => Leg::rest(begins, from),
        }
    }
}

impl Model for Line {
    fn first(&mut self) -> Leg {
        if self.after > Dur::ZERO {
            return Leg::stand(SimTime::ZERO, self.after, self.at);
        }
        self.go(SimTime::ZERO, self.at)
    }

    fn next(&mut self, ended: &Leg) -> Leg {
        self.go(ended.ends, ended.to())
    }
}
