//! phy
