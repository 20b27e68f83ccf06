//! A scenario becomes a runnable world, and a run becomes results.
//!
//! The world wires the layers (radio and MAC, agents, transport ends, applications) and decides nothing about them. Models
//! one channel, access points and wires behind them, static nodes and routes. Leaves out, for now:
//! routing protocols, mobility.

mod ack_gaps;
mod assembly;
mod chain;
mod flow;
mod results;
mod runner;
pub mod scenario;
mod taps;
mod world;

pub use mac::{FRAME_CLASSES, LOSS_CAUSES};
pub use results::{Books, Cell, Record as Row, Run, jain};
pub use runner::{Record, RunError, names, parse, run, run_batch, schema};
pub use taps::{Carried, Column, OUTCOMES, Timeline, Transmission, Window};
