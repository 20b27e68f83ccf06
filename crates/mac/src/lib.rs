//! mac
