//! A scenario becomes a runnable world, and a run becomes results.
//!
//! The world wires the layers (radio and MAC, agents, transport ends, applications) and decides nothing about them. It runs to its
//! end ([`run`], [`Runner`]), or from instant to instant, with packets that come from outside ([`Drive`]). Models
//! channels, access points and wires behind them, routes of least cost or those that a routing protocol finds, nodes that move, and events:
//! nodes that die, rise or stand elsewhere from one instant on, links that break and heal.

#[macro_use]
mod record;

mod ack_gaps;
mod application;
mod assembly;
mod blame;
mod blueprint;
mod drive;
mod flow;
mod frames;
mod interface;
mod latency;
mod memory;
mod panics;
mod registries;
mod results;
mod runner;
mod shared;
mod taps;
mod traces;
mod users;
mod windows;
mod world;

pub use ::scenario;
pub use blueprint::{Blueprint, parse, parse_with, schema};
pub use drive::{Drive, DriveError, Look};
pub use frames::{FrameClass, LossCause, PerClass, Tally};
pub use panics::try_plugins;
pub use record::{Cell, Metric, Record as Row, Support};
pub use registries::Registries;
pub use results::{Books, Run, jain, metrics};
pub use runner::{Around, Done, Record, RunError, Runner, run, run_batch};
pub use taps::{Access, Arrival, Portion, Settled, Stop, Story};
pub use taps::{Carried, Column, Meeting, Outcome, Paths, Pulse, Scene, Timeline, Transmission, Walked, Window};
pub use world::Arrived;

/// The examples of docs/driving.md, to be compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/driving.md")]
struct Driving;
