//! The tests of crate mac, in one binary: linking is most of a small test's time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod acknowledgment;
mod airtime;
mod block_ack;
mod block_ack_histories;
mod block_ack_slots;
mod by_hand;
mod dcf;
mod dot11g;
mod edca;
mod extended;
mod fragments;
mod harness;
mod ht;
mod in_order;
mod levels;
mod links;
mod loaded;
mod reverse;
