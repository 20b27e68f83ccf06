//! A scenario that was checked, and what all its runs share.

use crate::assembly;
use crate::memory;
use crate::registries::Registries;
use crate::scenario::{self, InputError, Scenario};
use crate::shared::Shared;
use crate::traces;
use std::sync::Arc;
use units::{Bytes, NodeId};

/// Up to so many nodes a scenario is put together when it is read, and what is wrong with its routes and schemes is found then.
/// Beyond, that would take memory and time as a run does; the run finds it, before it begins.
const TRIED_NODES: usize = 1000;

/// A scenario that was checked whole. A clone is cheap: all runs of a cell share one.
#[derive(Debug, Clone)]
pub struct Blueprint {
    shared: Arc<Shared>,
}

impl Blueprint {
    /// Checks what the scenario's own checks cannot know. Everything that may fail is tried once, for the scenario's seed, up to
    /// [`TRIED_NODES`].
    fn new(scenario: Scenario, registries: Registries) -> Result<Blueprint, InputError> {
        let mut found = scenario::Mistakes::default();
        let macs = found.take(assembly::macs(&scenario));
        let errors_at = found.take(assembly::errors_at(&scenario));
        let tcps = found.take(assembly::tcps(&scenario, &registries));
        let traces = found.take(traces::traces(&scenario));
        found.into_result()?;
        let (Some(macs), Some(errors_at), Some(tcps), Some(traces)) = (macs, errors_at, tcps, traces) else {
            unreachable!("what is not there is a mistake");
        };
        let mtu = scenario.flows.iter().map(|flow| flow.entry.transport.datagram).max().unwrap_or(Bytes(1500));
        let is_on_demand = assembly::is_on_demand(&scenario, &registries);
        let learns = assembly::learns(&scenario, &registries);
        let shared = Shared {
            scenario,
            registries,
            macs,
            errors_at,
            tcps,
            mtu,
            is_on_demand,
            learns,
            leads_everywhere: false,
            traces,
            layout: 0,
        };
        assembly::check_rate_controls(&shared)?;
        if shared.scenario.nodes.len() <= TRIED_NODES {
            let seed = shared.scenario.seed;
            assembly::placement(&*assembly::drawn(&shared, seed)?, seed)?;
        }
        Ok(Blueprint { shared: Arc::new(shared) })
    }

    /// The content of the file.
    pub fn scenario(&self) -> &Scenario {
        &self.shared.scenario
    }

    /// The same with every key of each TCP connection written out, as the preset and the keys beside it make them.
    pub fn effective(&self) -> Scenario {
        let mut scenario = self.shared.scenario.clone();
        for (flow, config) in scenario.flows.iter_mut().zip(&self.shared.tcps) {
            if let (Some(spec), Some(config)) = (flow.entry.transport.tcp(), config) {
                let keys = assembly::keys(spec, config);
                Arc::make_mut(&mut flow.entry).set_tcp(keys);
            }
        }
        scenario
    }

    /// The memory in bytes that one run takes, at most; what the taps keep is not in it.
    pub fn run_bytes(&self) -> usize {
        memory::of_run(&self.shared)
    }

    /// The schemes that work beside our own TCP ends alone, with their nodes: [`schemes::Claims::needs_own_tcp`].
    ///
    /// # Errors
    /// As of a run, before it begins.
    pub fn bound_to_own_tcp(&self, seed: u64) -> Result<Vec<(NodeId, &'static str)>, InputError> {
        assembly::bound_to_own_tcp(&*assembly::drawn(&self.shared, seed)?, seed)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// Reads a scenario with the plug-ins of this workspace; see [`scenario::parse`].
///
/// # Errors
/// Every mistake, as one line each.
pub fn parse(text: &str, overrides: &[(String, String)]) -> Result<Blueprint, InputError> {
    parse_with(text, overrides, Registries::builtin())
}

/// Reads a scenario with these plug-ins.
///
/// # Errors
/// Every mistake, as one line each.
pub fn parse_with(
    text: &str,
    overrides: &[(String, String)],
    registries: Registries,
) -> Result<Blueprint, InputError> {
    let scenario = scenario::parse(text, overrides, &registries.names())?;
    Blueprint::new(scenario, registries)
}

/// The JSON Schema of a scenario, with these plug-ins.
pub fn schema(registries: &Registries) -> String {
    scenario::json_schema_for(&registries.names())
}
