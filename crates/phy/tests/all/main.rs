//! The tests of crate phy, in one binary: linking is most of a small test's time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod airtime_anchors;
mod airtime_modes;
mod airtime_table;
mod curves;
mod interference;
mod mpdu_set;
