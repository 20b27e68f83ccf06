//! A scenario that was checked, and what all its runs share.

use crate::assembly;
use crate::scenario::{self, InputError, Names, Scenario};
use plugin::Registry;
use schemes::Scheme;
use std::sync::Arc;
use tcp::{ack, cc, recovery};
use units::Bytes;

/// The plug-ins that a scenario may name. A program adds its own to [`Registries::builtin`].
#[derive(Debug, Clone)]
pub struct Registries {
    /// Cross-layer schemes.
    pub schemes: Registry<Scheme>,
    /// Congestion controls.
    pub congestion: Registry<cc::Make>,
    /// Acknowledgement policies of TCP receivers.
    pub receivers: Registry<ack::Make>,
    /// Loss recoveries of TCP senders.
    pub recoveries: Registry<recovery::Make>,
}

impl Registries {
    /// Those of this workspace.
    pub fn builtin() -> Registries {
        Registries {
            schemes: schemes::registry(),
            congestion: cc::registry(),
            receivers: ack::registry(),
            recoveries: recovery::registry(),
        }
    }

    /// What a reader of scenarios needs of them.
    fn names(&self) -> Names {
        Names {
            congestion: self.congestion.declarations(),
            receivers: self.receivers.declarations(),
            recoveries: self.recoveries.declarations(),
            schemes: self.schemes.declarations(),
        }
    }
}

/// A scenario that was checked whole. A clone is cheap: all runs of a cell share one.
#[derive(Debug, Clone)]
pub struct Blueprint {
    shared: Arc<Shared>,
}

/// What no seed changes.
#[derive(Debug)]
pub(crate) struct Shared {
    pub scenario: Scenario,
    pub registries: Registries,
    /// The MAC of each node, before schemes change it.
    pub macs: Vec<mac::Config>,
    /// Where errors strike.
    pub errors_at: mac::ErrorsAt,
    /// The TCP of each flow, both ends alike but for the initial sequence number; `None` for UDP.
    pub tcps: Vec<Option<tcp::Config>>,
    /// The largest datagram of any flow.
    pub mtu: Bytes,
}

impl Blueprint {
    /// Checks what the scenario's own checks cannot know. Everything that may fail is tried once, for the scenario's seed.
    fn new(scenario: Scenario, registries: Registries) -> Result<Blueprint, InputError> {
        let macs = assembly::macs(&scenario)?;
        let errors_at = assembly::errors_at(&scenario)?;
        let mtu = scenario.flows.iter().map(|flow| flow.entry.transport.datagram).max().unwrap_or(Bytes(1500));
        let mut shared = Shared { scenario, registries, macs, errors_at, tcps: Vec::new(), mtu };
        assembly::sites(&shared, shared.scenario.seed)?;
        shared.tcps = assembly::tcps(&shared.scenario, &shared.registries)?;
        Ok(Blueprint { shared: Arc::new(shared) })
    }

    /// What the file says.
    pub fn scenario(&self) -> &Scenario {
        &self.shared.scenario
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// Reads a scenario with the plug-ins of this workspace; see [`scenario::parse`].
///
/// # Errors
/// The first mistake, as one line.
pub fn parse(text: &str, overrides: &[(String, String)]) -> Result<Blueprint, InputError> {
    parse_with(text, overrides, Registries::builtin())
}

/// Reads a scenario with these plug-ins.
///
/// # Errors
/// The first mistake, as one line.
pub fn parse_with(
    text: &str,
    overrides: &[(String, String)],
    registries: Registries,
) -> Result<Blueprint, InputError> {
    let scenario = scenario::parse(text, overrides, &registries.names())?;
    Blueprint::new(scenario, registries)
}

/// The JSON Schema of a scenario, with the plug-ins of this workspace.
pub fn schema() -> String {
    scenario::json_schema_for(&Registries::builtin().names())
}
