//! The tests of crate live, in one binary: the gate in virtual time, without sockets.
#![allow(clippy::unwrap_used, reason = "tests")]

mod entering;
mod hostile;
mod marks;
mod packets;
mod replaying;
