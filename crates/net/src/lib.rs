//! The network between hosts: addresses, wired links, routers.
//!
//! A [`Wire`] is one direction of a wired link, sans-IO like every machine here: it is offered packets, says when the next
//! one arrives, and hands it over then. A [`Router`] says which neighbour leads to a destination; the first is static, over
//! least-cost [`Routes`] by a [`RouteMetric`]. Left out, for now: IP fragments, ARP, link-layer framing of wires (a rate counts IP bytes).

pub mod address;
pub mod measured;
pub mod metric;
pub mod prefix;
pub mod router;
pub mod routes;
pub mod wire;

pub use address::{Addresses, PREFIX6_LEN, address, address6, node_of, node_of6};
pub use measured::{LinkSample, Measured};
pub use metric::{Link, Links, RouteMetric, Unmeasured, Way, Weighed};
pub use prefix::{Prefix, PrefixError, Table};
pub use router::{Order, Orders, Router, RouterFacts};
pub use routes::{Costs, Hop, HopCount, Routes};
pub use wire::{Arrival, Wire, WireConfig, WireStats};
