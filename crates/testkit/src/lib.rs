//! The common parts of several crates' tests and benches: an allocator that counts, questions to tshark, and a stop watch.
//!
//! A development dependency only. It knows no other crate of the workspace, so that every one of them can use it.

pub mod alloc;
pub mod bench;
pub mod tshark;
