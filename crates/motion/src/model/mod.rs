//! Mobility models: one file each.

mod line;
mod walk;
mod waypoint;

use crate::trace::{Player, Replay};
use crate::{Leg, Point};
use engine::Stream;
use std::cell::RefCell;
use std::rc::Rc;
use units::Dur;

/// A node's legs, one after the other.
pub trait Model {
    /// The leg that it is on as the run begins, at time zero.
    fn first(&mut self) -> Leg;
    /// The leg that follows: it begins where and when `ended` ends.
    fn next(&mut self, ended: &Leg) -> Leg;
}

units::debug_by_name!(Model);

/// A rectangle, and its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Its centre.
    pub centre: Point,
    /// Metres from west to east.
    pub width: f64,
    /// Metres from south to north.
    pub height: f64,
}

impl Area {
    fn sides(&self) -> Point {
        [self.width, self.height]
    }

    /// A point of it, each equally likely.
    fn draw(&self, draws: &mut Stream) -> Point {
        let unit = [draws.unit(), draws.unit()];
        [0, 1].map(|axis| self.centre[axis] + self.sides()[axis] * (unit[axis] - 0.5))
    }

    /// Its least and greatest coordinate of each axis.
    fn bounds(&self) -> [[f64; 2]; 2] {
        [0, 1].map(|axis| {
            let half = self.sides()[axis] / 2.0;
            [self.centre[axis] - half, self.centre[axis] + half]
        })
    }

    /// True if a point lies in it.
    pub fn holds(&self, point: Point) -> bool {
        self.bounds().iter().zip(point).all(|([low, high], at)| (*low..=*high).contains(&at))
    }

    /// The mean distance of two of its points, each equally likely anywhere: 0.5214 of the side of a square. (@GHO51)
    pub fn mean_distance(&self) -> f64 {
        let (a, b) = (self.width, self.height);
        let d = libm::hypot(a, b);
        let (aa, bb) = (a * a, b * b);
        let logs = bb / a * libm::log((a + d) / b) + aa / b * libm::log((b + d) / a);
        (aa * a / bb + bb * b / aa + d * (3.0 - aa / bb - bb / aa) + 2.5 * logs) / 15.0
    }
}

/// The begin of a waypoint model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// As it is found at any later time.
    Stationary,
    /// Anywhere in the area, with a pause: what it is found doing changes over the first legs.
    Uniform,
}

/// The length of a walk's legs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stretch {
    /// In time.
    Time(Dur),
    /// In metres.
    Metres(f64),
}

/// A model and its parameters, as a scenario states them.
#[derive(Debug, Clone, PartialEq)]
pub enum Spec {
    /// See `waypoint.rs`.
    Waypoint {
        /// The rectangle in which points are drawn.
        area: Area,
        /// Least and greatest, in metres a second.
        speeds: [f64; 2],
        /// Shortest and longest.
        pauses: [Dur; 2],
        /// Its begin.
        start: Start,
    },
    /// See `walk.rs`.
    Walk {
        /// The rectangle whose border turns it back.
        area: Area,
        /// Least and greatest, in metres a second.
        speeds: [f64; 2],
        /// Between two draws of direction and speed.
        stretch: Stretch,
    },
    /// See `line.rs`: with this velocity for ever.
    Away {
        /// Metres a second.
        velocity: Point,
        /// The time that it stands before.
        after: Dur,
    },
    /// See `line.rs`: through these points.
    Through {
        /// In order.
        points: Vec<Point>,
        /// Metres a second.
        speed: f64,
        /// The time that it stands before.
        after: Dur,
    },
    /// See `trace.rs`.
    Trace {
        /// Of the trace.
        file: String,
    },
}

/// The circumstances of a model.
#[derive(Debug)]
pub struct Given {
    /// The place that the scenario or its layout has for the node, if any.
    pub place: Option<Point>,
    /// Its draws.
    pub draws: Stream,
    /// The trace that it follows, and its number there.
    pub trace: Option<(Rc<RefCell<Player>>, usize)>,
}

impl Spec {
    /// The model of one node.
    pub fn make(&self, given: Given) -> Box<dyn Model> {
        let Given { place, draws, trace } = given;
        let at = place.unwrap_or_default();
        match self.clone() {
            Spec::Waypoint { area, speeds, pauses, start } => {
                Box::new(waypoint::Waypoint::new(area, speeds, pauses, start, place, draws))
            }
            Spec::Walk { area, speeds, stretch } => Box::new(walk::Walk::new(area, speeds, stretch, place, draws)),
            Spec::Away { velocity, after } => Box::new(line::Line::away(at, velocity, after)),
            Spec::Through { points, speed, after } => Box::new(line::Line::through(at, points, speed, after)),
            Spec::Trace { .. } => match trace {
                Some((player, node)) => Box::new(Replay::new(player, node, at)),
                None => Box::new(line::Line::through(at, Vec::new(), 1.0, Dur::ZERO)),
            },
        }
    }

    /// The area that the node keeps to.
    pub fn area(&self) -> Option<&Area> {
        match self {
            Spec::Waypoint { area, .. } | Spec::Walk { area, .. } => Some(area),
            Spec::Away { .. } | Spec::Through { .. } | Spec::Trace { .. } => None,
        }
    }

    /// True if a node begins where it is put; otherwise the model says where.
    pub fn begins_where_it_is_put(&self) -> bool {
        !matches!(self, Spec::Waypoint { start: Start::Stationary, .. } | Spec::Trace { .. })
    }
}
