//! Cross-layer systems, one file each, behind one contract.

pub mod params;

pub use params::{Kind, Param, Params, Value};
