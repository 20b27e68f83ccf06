//! The state that all runs of a scenario share.

use crate::registries::Registries;
use crate::scenario::Scenario;
use crate::traces::Trace;
use std::sync::Arc;
use units::Bytes;

/// Everything that no seed changes, and the draws of a run: see `assembly::drawn`.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub scenario: Scenario,
    pub registries: Registries,
    /// The MAC of each node, before schemes change it.
    pub macs: Vec<mac::Config>,
    /// The unit that errors strike on each channel.
    pub errors_at: Vec<mac::ErrorsAt>,
    /// The TCP of each flow, both ends alike but for the initial sequence number; `None` for UDP.
    pub tcps: Vec<Option<Arc<tcp::Config>>>,
    /// The largest datagram of any flow.
    pub mtu: Bytes,
    /// The scenario's router finds routes in the run: there are no others.
    pub is_on_demand: bool,
    /// The metric of routes learns from what schemes measure.
    pub learns: bool,
    /// Routes lead to every node, and not to ends of the scenario's flows alone: any may be the end of one that is opened.
    pub leads_everywhere: bool,
    /// The traces that nodes follow.
    pub traces: Vec<Trace>,
    /// The layout that is meant, of those that a seed draws; the first is 0.
    pub layout: u32,
}
