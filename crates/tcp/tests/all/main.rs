//! The tests of crate tcp, in one binary: linking is most of a small test's time.
#![allow(clippy::unwrap_used, reason = "tests")]

/// The sender of the examples, as a crate outside of the repository has it.
#[path = "../../../../examples/bpf/brake.rs"]
mod brake;
mod closed_form;
mod every_cc;
mod pipe;
mod scripts;
mod senders;
