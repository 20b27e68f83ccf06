//! Schemes written from docs/design/contract.md and the public API alone: does the contract suffice?
//!
//! Each is one file outside the crate, as a user would write it. The last part asks that every registered scheme sits somewhere, and that an
//! agent which does more than its seat asked for is caught.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test's parts, not an interface")]

mod ack_thinning;
mod block_ack_receiver;
mod hand;
mod learning_rates;
mod mpdu_fates;
mod registry;
mod thinner;
mod three_stages;

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
