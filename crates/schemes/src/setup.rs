//! A node's radio before the run: what a scheme may set once and for all.

use mac::Config;
use units::{Dbm, NodeId};

/// The parameters of a node's radio, as the scenario gives them and schemes before this one have changed them.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The node.
    pub node: NodeId,
    /// Its MAC: interframe spaces, contention windows, categories, rates, retry limits.
    pub mac: Config,
    /// Its transmit power.
    pub tx_power: Dbm,
    /// The access point it belongs to; `None` at one, and where there is none.
    pub access_point: Option<NodeId>,
    /// Whether signals have powers at all.
    pub has_powers: bool,
    /// Where they have, what is known of them; for who declares to read [`crate::Signal::Powers`].
    pub powers: Option<Powers<'a>>,
}

/// Mean powers at receivers, with the transmit powers of the scenario: what an access point measures of its stations.
#[derive(Clone, Copy)]
pub struct Powers<'a> {
    /// Of the first node's signal at the second.
    pub mean: &'a dyn Fn(NodeId, NodeId) -> Dbm,
    /// The stations of each access point.
    pub stations: &'a dyn Fn(NodeId) -> Vec<NodeId>,
}

impl std::fmt::Debug for Powers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Powers")
    }
}
