//! `mobility`: the motion of nodes.

use crate::Result;
use crate::item::{About, Mistake};
use crate::node::Node;
use crate::scalar::{Metres, MetresPerSecond, SOME_TIME};
use core::ops::RangeInclusive;
use motion::Spec;
use serde_json::json;
use toml::Value;
use units::Dur;

words! { impl motion::Start, noun "start" { "stationary" => Stationary, "uniform" => Uniform } }

/// Points to go through.
#[derive(Debug, Clone, PartialEq)]
pub struct Points(pub Vec<[f64; 2]>);

const POINTS: &str = "points such as [[0, 0], [50, 10]]";

scalar! {
    Points, RangeInclusive<f64>, RangeInclusive::new(-1e7, 1e7),
    |value, within, at| {
        let entries = value.as_array().filter(|all| !all.is_empty()).ok_or(Mistake::Unexpected)?;
        let point = |(i, entry): (usize, &Value)| <[f64; 2]>::read(entry, within, &at.index(i));
        Ok(Points(entries.iter().enumerate().map(point).collect::<Result<_>>()?))
    },
    |within, names| {
        let one = <[f64; 2]>::about(within, names).schema;
        About::new(POINTS, json!({ "type": "array", "items": one, "minItems": 1 }))
    },
    |it, _| Some(json!(it.0))
}

table! {
    /// A rectangle that a node keeps to.
    #[derive(Copy)]
    pub struct Area {
        /// From west to east.
        width: Metres,
        /// From south to north.
        height: Metres,
        /// Its centre: east and north of the origin, in metres.
        centre: Option<[f64; 2]>, or "[0, 0]",
    }
}

impl Area {
    fn area(self) -> motion::Area {
        motion::Area { centre: self.centre.unwrap_or_default(), width: self.width.0, height: self.height.0 }
    }
}

table! {
    /// Speeds that are drawn.
    #[derive(Copy)]
    pub struct Speeds {
        /// The least; all between are equally likely.
        min_speed: MetresPerSecond,
        /// The greatest.
        max_speed: MetresPerSecond,
    }
}

tagged! {
    /// The motion of a node.
    pub enum Mobility, by "model", noun "mobility model" {
        /// Straight to a point drawn anywhere in a rectangle, at a speed drawn for each leg; then a pause ([mobile nodes](mobile.md)).
        "waypoint" => Waypoint {
            /// The rectangle in which the points are.
            area => Area,
            /// Of its legs.
            speeds => Speeds,
            /// At each point; with pause_max the shortest.
            pause: Dur = "0 s",
            /// The longest pause; all between are equally likely.
            pause_max: Option<Dur>, or "pause",
            /// As the node is found at any later time (`stationary`), or with a pause at its position or anywhere (`uniform`): the old papers' start,
            /// after which speeds fall.
            start: motion::Start = "stationary",
        },
        /// In a direction and at a speed that are drawn anew after a time or a distance; the border of a rectangle reflects.
        "walk" => Walk {
            /// The rectangle whose border reflects.
            area => Area,
            /// Of its legs.
            speeds => Speeds,
            /// Between two draws.
            time: Option<Dur>, in SOME_TIME, or "by distance",
            /// Between two draws.
            distance: Option<Metres>, or "by time",
        },
        /// Straight from its position: with a velocity for ever, or through points to the last.
        "line" => Line {
            /// Metres a second eastwards and northwards.
            velocity: Option<[f64; 2]>, or "through points",
            /// East and north of the origin, in metres.
            through: Option<Points>, or "with a velocity",
            /// On its way through points.
            speed: Option<MetresPerSecond>, or "with a velocity",
            /// It stands so long first.
            after: Dur = "0 s",
        },
        /// As a file says: in ns-2's format, as `setdest` and BonnMotion write it, or if its name ends in .csv rows of time, node, x, y.
        "trace" => Trace {
            /// Relative to the working directory. Nodes that name one file are its nodes 0, 1, … in the order of the scenario.
            file: String,
        },
    }
}

impl Mobility {
    /// The same as its layer states it. The scenario's checks have found what is missing.
    pub fn spec(&self) -> Spec {
        let both = |speeds: &Speeds| [speeds.min_speed.0, speeds.max_speed.0];
        match self.clone() {
            Mobility::Waypoint { area, speeds, pause, pause_max, start } => Spec::Waypoint {
                area: area.area(),
                speeds: both(&speeds),
                pauses: [pause, pause_max.unwrap_or(pause)],
                start,
            },
            Mobility::Walk { area, speeds, time, distance } => {
                let metres = motion::Stretch::Metres(distance.map_or(f64::INFINITY, |it| it.0));
                let stretch = time.map_or(metres, motion::Stretch::Time);
                Spec::Walk { area: area.area(), speeds: both(&speeds), stretch }
            }
            Mobility::Line { velocity: Some(velocity), after, .. } => Spec::Away { velocity, after },
            Mobility::Line { through, speed, after, .. } => Spec::Through {
                points: through.map_or_else(Vec::new, |points| points.0),
                speed: speed.map_or(1.0, |speed| speed.0),
                after,
            },
            Mobility::Trace { file } => Spec::Trace { file },
        }
    }
}

/// The reason why motion and moves are refused.
pub(crate) const NO_CONSEQUENCE: &str =
    "where nodes stand is of no consequence without channel.range or a propagation by distance";

/// Checks a node's motion. `matters`: where the node stands is of some consequence.
pub(crate) fn check(node: &Node, matters: bool) -> Result<()> {
    let i = node.index;
    let Some(mobility) = &node.entry.mobility else { return Ok(()) };
    if !node.has_radio {
        let name = &node.name;
        fail!("node[{i}].mobility", "\"{name}\" is a wired host, and wires hold it; radio = true gives it a radio");
    }
    if !matters {
        fail!("node[{i}].mobility", "{NO_CONSEQUENCE}");
    }
    let position = node.entry.position;
    if let Mobility::Waypoint { start: motion::Start::Stationary, .. } = mobility
        && position.is_some()
    {
        let why = "a waypoint in its stationary distribution begins where it is drawn; leave it out, or start = \"uniform\"";
        fail!("node[{i}].position", "{why}");
    }
    if let (Some(at), Some(area)) = (position, mobility.spec().area())
        && !area.holds(at)
    {
        fail!("node[{i}].position", "[{}, {}] lies outside of the area of its mobility", at[0], at[1]);
    }
    match mobility {
        Mobility::Waypoint { speeds, pause, pause_max, .. } => {
            ordered(i, speeds)?;
            if let Some(longest) = pause_max.filter(|longest| longest < pause) {
                fail!("node[{i}].mobility.pause_max", "{longest} is less than pause, {pause}");
            }
        }
        Mobility::Walk { speeds, time, distance, .. } => {
            ordered(i, speeds)?;
            if time.is_some() == distance.is_some() {
                fail!("node[{i}].mobility", "give either time or distance: the stretch between two draws");
            }
        }
        Mobility::Line { velocity, through, speed, .. } => match (velocity, through, speed) {
            (Some(velocity), None, None) => {
                let speed = velocity[0].hypot(velocity[1]);
                if !(speed > 0.0 && speed <= motion::trace::FASTEST) {
                    let bounds = format!("more than zero, and {} m/s at most", motion::trace::FASTEST);
                    fail!("node[{i}].mobility.velocity", "a speed of {speed} m/s; {bounds}");
                }
            }
            (None, Some(_), Some(_)) => {}
            _ => fail!("node[{i}].mobility", "give either velocity, or through and speed"),
        },
        Mobility::Trace { .. } => {}
    }
    Ok(())
}

fn ordered(i: usize, speeds: &Speeds) -> Result<()> {
    let Speeds { min_speed, max_speed } = speeds;
    if min_speed > max_speed {
        fail!("node[{i}].mobility.max_speed", "{max_speed} is less than min_speed, {min_speed}");
    }
    Ok(())
}
