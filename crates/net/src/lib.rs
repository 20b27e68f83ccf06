//! The network between hosts: addresses, wired links, static routes.
//!
//! A [`Wire`] is one direction of a wired link, sans-IO like every machine here: it is offered packets, says when the next
//! one arrives, and hands it over then. [`Routes`] answers which neighbour leads to a destination. Left out, for now:
//! routing protocols, fragmentation, ARP, link-layer framing of wires (a rate counts IP bytes).

pub mod address;
pub mod routes;
pub mod wire;

pub use address::{address, node_of};
pub use routes::{Hop, HopCount, RouteMetric, Routes};
pub use wire::{Arrival, Wire, WireConfig, WireStats};
