//! A driven world in real time: packets of real hosts go through the modelled air, and what arrives is written when the wall clock is there.
//!
//! [`run`] is the loop: one thread, devices that are polled, a monotonic clock. [`Gate`] stands between bytes and the world, and knows no
//! time; [`replay`] hands it a recorded run again, in virtual time. This crate alone has a clock and file descriptors of devices; it makes
//! neither namespaces nor devices (the Python layer `interlayer.live` does). docs/design/live.md

mod gate;
mod histogram;
mod record;
mod replay;
#[cfg(target_os = "linux")]
mod run;
mod set;

pub use gate::{Conversation, Count, Fate, Gate};
pub use histogram::Histogram;
pub use record::{RecordError, Recorder};
pub use replay::{ReplayError, Replayed, replay};
#[cfg(target_os = "linux")]
pub use run::{Ended, Gauge, Handle, Host, LATE, LiveError, Options, Outcome, run};
pub use set::{Command, SetError};
