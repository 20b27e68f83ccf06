//! Five schemes written from docs/design/contract.md and the public API alone: does the contract suffice?
//!
//! `ftca`, `tcp-aware-arq`, `c3tcp` and `snoop` are skeletons with the honest core of their mechanism, one file each and
//! outside the crate, as a user would write them; `lle-tcp` is reached through the registry. The last part asks that
//! every registered scheme builds, and that a scheme which does more than it declares is caught.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test's parts, not an interface")]

#[path = "five/c3tcp.rs"]
mod c3tcp;
#[path = "five/ftca.rs"]
mod ftca;
#[path = "five/lle_tcp.rs"]
mod lle_tcp;
#[path = "five/node.rs"]
mod node;
#[path = "five/registry.rs"]
mod registry;
#[path = "five/snoop.rs"]
mod snoop;
#[path = "five/tcp_aware_arq.rs"]
mod tcp_aware_arq;

use schemes::Site;
use units::NodeId;

/// A station with a radio in a network of two, whose TCP receivers acknowledge every segment.
pub const STATION: Site = Site { node: NodeId(0), nodes: 2, has_air: true, forwards: false, receiver: Some("every") };
/// An access point.
pub const ACCESS_POINT: Site = Site { node: NodeId(0), nodes: 3, has_air: true, forwards: true, receiver: None };
