//! The scenario runner (filled by world).
