//! Schemes written from docs/design/contract.md and the public API alone: does the contract suffice?
//!
//! `tcp-aware-arq` and `c3tcp` are skeletons with the honest core of their mechanism, one file each and
//! outside the crate, as a user would write them; `lle-tcp` is reached through the registry. The last part asks that every
//! registered scheme sits somewhere, and that an agent which does more than its seat asked for is caught.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test's parts, not an interface")]

mod c3tcp;
mod lle_tcp;
mod registry;
mod tcp_aware_arq;
mod thinner;

use schemes::NodeFacts;
use schemes::testing::{HERE, node};

/// A station with a radio in a network of two, whose TCP receivers acknowledge every segment.
pub fn station() -> NodeFacts<'static> {
    NodeFacts { receiver: Some("every"), ..node(HERE, 2) }
}

/// An access point.
pub fn access_point() -> NodeFacts<'static> {
    NodeFacts { forwards: true, starts_flows: false, ends_flows: false, ..node(HERE, 3) }
}
