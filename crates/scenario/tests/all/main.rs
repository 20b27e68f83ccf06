//! The tests of crate scenario, in one binary: linking is most of a small test's time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod aggregation;
mod checks;
mod common;
mod errors;
mod keys;
mod overrides;
mod plugs;
mod queue_keys;
mod queues;

mod random;
