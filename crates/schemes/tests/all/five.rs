//! Schemes written from docs/design/contract.md and the public API alone: does the contract suffice?
//!
//! `tcp-aware-arq` and `c3tcp` are skeletons with the honest core of their mechanism, one file each and
//! outside the crate, as a user would write them; `lle-tcp` is reached through the registry. The last part asks that every
//! registered scheme builds, and that a scheme which does more than it declares is caught.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test's parts, not an interface")]

mod c3tcp;
mod lle_tcp;
mod registry;
mod tcp_aware_arq;

use schemes::Site;
use schemes::testing::{HERE, site};

/// A station with a radio in a network of two, whose TCP receivers acknowledge every segment.
pub fn station() -> Site {
    Site { receiver: Some("every"), ..site(HERE, 2) }
}

/// An access point.
pub fn access_point() -> Site {
    Site { forwards: true, starts_flows: false, ends_flows: false, ..site(HERE, 3) }
}
