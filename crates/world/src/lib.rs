//! The scenario runner (filled by world).

pub mod scenario;
