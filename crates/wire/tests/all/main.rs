//! The tests of crate wire, in one binary: linking is most of a small test's time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod tshark;
