//! The motion of nodes in the plane: straight legs at constant speed, the models that draw them, and the instants at which two nodes
//! come within a radius of each other or leave it.
//!
//! Nothing is stepped: a position is exact at every instant, and a crossing is a root of a quadratic ([`crossing`]). [`Motion`] is the
//! machine, sans-IO. Left out: obstacles, groups that move together, height, accelerations. docs/design/motion.md

mod crossing;
mod excess;
mod leg;
mod machine;
pub mod model;
pub mod trace;

pub use crossing::crossing;
pub use excess::{Heard, exceeds};
pub use leg::Leg;
pub use machine::{Change, Motion};
pub use model::{Area, Model, Spec, Start, Stretch};

/// East and north of the origin, in metres; of a velocity in metres a second.
pub type Point = [f64; 2];
