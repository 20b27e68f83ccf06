//! Parts that a scenario chooses by name: congestion controls, receiver policies, schemes.
//!
//! A plug-in declares itself in one [`Info`]: its id, a summary, its source and its parameters. A layer keeps its plug-ins
//! in a [`Registry`], which is a plain value: a program outside this workspace adds an entry of its own and hands the
//! registry on. Nothing here knows what a plug-in does; that is the type `T` of `Registry<T>`.
//!
//! Leaves out: reading values from a file. The crate `scenario` does that, by [`Kind`].

pub mod absent;
mod failure;
mod params;
mod registry;
mod spelling;
pub mod suggest;

pub use failure::Failure;
pub use params::{Context, Kind, Param, Params, Value};
pub use registry::{Chosen, Entry, Info, Refused, Registry};
