//! The common parts of several crates' tests: an allocator that counts, and questions to tshark.
//!
//! A development dependency only. It knows no other crate of the workspace, so that every one of them can use it.

pub mod alloc;
pub mod tshark;
