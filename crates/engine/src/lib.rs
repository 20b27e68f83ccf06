//! The engine of a run, which knows no protocol: timers in order of time, independent random streams, fingerprints.
//!
//! Every event of a run is a timer of some entity (a station, a transmission, a TCP end), so the queue is a table of
//! dense slots under a heap: setting a timer again replaces it, nothing is cancelled, nothing is allocated once the
//! table stands, and stale events do not exist.

mod fingerprint;
mod streams;
mod timers;

pub use fingerprint::Fingerprint;
pub use streams::{Purpose, Stream, Streams};
pub use timers::{Class, Slot, Timers};
