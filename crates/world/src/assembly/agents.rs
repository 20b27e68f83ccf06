//! Which agents sit where.

use super::Result;
use super::network::Network;
use super::transport::policy;
use crate::scenario::{self as sc, InputError, Scenario};
use crate::shared::Shared;
use mac::{Config, Edca};
use phy::Medium;
use schemes::{Agent, Info, Place, Port, Powers, Setup, Signal, Site};
use units::{Dbm, NodeId};

/// Ports that only one scheme of a node can hold, and what a message calls them. A sender has one hook for both of its
/// ports.
const EXCLUSIVE: &[(&[Port], &str)] = &[
    (&[Port::TxQueue], "transmit queue"),
    (&[Port::Classifier], "classifier"),
    (&[Port::Exchange], "frame exchange"),
    (&[Port::Transmit], "transmit settings"),
    (&[Port::Acks], "TCP ACKs"),
    (&[Port::LossResponse, Port::RttSample], "TCP senders"),
];

/// The agents of each node, in the order of the file.
pub(super) fn agents(shared: &Shared, network: &Network) -> Result<Vec<Vec<Box<dyn Agent>>>> {
    let scenario = &shared.scenario;
    let nodes = scenario.nodes.len();
    let mut agents: Vec<Vec<Box<dyn Agent>>> = (0..nodes).map(|_| Vec::new()).collect();
    // Who holds an exclusive port at a node.
    let relays = relays(scenario, network);
    let mut holders: Vec<Vec<(&str, usize)>> = vec![Vec::new(); nodes];
    for (i, used) in scenario.schemes.iter().enumerate() {
        let id = used.plug.id();
        let Some(scheme) = shared.registries.schemes.find(id).map(|entry| entry.plugin) else { continue };
        let all: Vec<NodeId> = (0..nodes as u32).map(NodeId).collect();
        let places = used.at.as_ref().unwrap_or(&all);
        let mut sits = false;
        for node in places {
            let Some(agent) = (scheme.build)(&site(shared, *node, relays[node.index()]), &used.plug.chosen.params)
            else {
                if used.at.is_some() {
                    let name = &scenario.nodes[node.index()].name;
                    let message = format!("{id} does not sit at \"{name}\"");
                    return Err(InputError { path: format!("scheme[{i}].at"), message });
                }
                continue;
            };
            let own = &scenario.nodes[node.index()];
            if agent.info().turns(Port::Classifier) && own.access == sc::Access::Dcf {
                let message = format!(
                    "{id} chooses access categories, and \"{}\" has none; write access = \"edca\" in [radio] or there",
                    own.name
                );
                return Err(InputError { path: format!("scheme[{i}].name"), message });
            }
            for (ports, what) in EXCLUSIVE {
                // What this agent claims: the scheme's own may be narrower with other parameters.
                if !ports.iter().any(|port| agent.info().turns(*port)) {
                    continue;
                }
                if let Some((_, other)) = holders[node.index()].iter().find(|(held, _)| held == what) {
                    let (name, at) = (&scenario.nodes[node.index()].name, scenario.schemes[*other].plug.id());
                    let message = format!("{at} and {id} both claim the {what} of \"{name}\"");
                    return Err(InputError { path: format!("scheme[{i}].name"), message });
                }
                holders[node.index()].push((what, i));
            }
            if agent.info().turns(Port::Connections)
                && let Some(other) = agents[node.index()].iter().find(|other| watches_radio(other.info()))
            {
                let (other, name) = (other.info().id, &scenario.nodes[node.index()].name);
                let message = format!(
                    "{id} ends connections at \"{name}\", and {other} before it would not see its packets; write {id} first"
                );
                return Err(InputError { path: format!("scheme[{i}].name"), message });
            }
            sits = true;
            agents[node.index()].push(agent);
        }
        if !sits {
            let message = format!("{id} sits at no node of this scenario");
            return Err(InputError { path: format!("scheme[{i}].name"), message });
        }
    }
    Ok(agents)
}

/// Lets schemes change the radios of their nodes. Returns whether a transmit power is another now.
pub(super) fn configure(
    scenario: &Scenario,
    network: &Network,
    agents: &mut [Vec<Box<dyn Agent>>],
    configs: &mut [Config],
    medium: &mut Medium,
) -> Result<bool> {
    let tx_power = |node: NodeId| scenario.nodes[node.index()].tx_power;
    let mut powers = Vec::new();
    for ((node, agents), config) in (0..).map(NodeId).zip(agents).zip(configs) {
        let mean = |from: NodeId, to: NodeId| match &*medium {
            Medium::Levels(levels) => Dbm(tx_power(from).0 + levels.gain(from, to).0),
            Medium::Reach(_) => tx_power(from),
        };
        let stations = |ap: NodeId| {
            let all = (0..network.access_point.len() as u32).map(NodeId);
            all.filter(|station| network.access_point[station.index()] == Some(ap)).collect()
        };
        let mut setup = Setup {
            node,
            mac: config.clone(),
            tx_power: tx_power(node),
            access_point: network.access_point[node.index()],
            has_powers: scenario.channel.powers.is_some(),
            powers: None,
        };
        for agent in agents.iter_mut().filter(|agent| agent.info().turns(Port::Parameters)) {
            let own = agent.info().id;
            let reads_powers = setup.has_powers && agent.info().reads(Signal::Powers);
            setup.powers = reads_powers.then_some(Powers { mean: &mean, stations: &stations });
            let done = agent.configure(&mut setup);
            done.and_then(|()| setup.mac.edca.as_ref().map_or(Ok(()), Edca::check)).map_err(|why| {
                let i = scenario.schemes.iter().position(|used| used.plug.id() == own).unwrap_or(0);
                let message = format!("{own} at \"{}\": {why}", scenario.nodes[node.index()].name);
                InputError { path: format!("scheme[{i}].name"), message }
            })?;
        }
        if setup.tx_power != tx_power(node) {
            powers.push((node, setup.tx_power));
        }
        *config = setup.mac;
    }
    let Medium::Levels(levels) = medium else { return Ok(false) };
    powers.iter().for_each(|(node, power)| levels.set_power(*node, *power));
    Ok(!powers.is_empty())
}

fn watches_radio(info: &Info) -> bool {
    [Place::ToAir, Place::FromAir].iter().any(|place| info.sits_at(*place))
}

/// Which nodes forward: access points, and those that a route of some flow leads through.
fn relays(scenario: &Scenario, network: &Network) -> Vec<bool> {
    let mut relays: Vec<bool> = scenario.nodes.iter().map(|node| node.entry.role == sc::Role::Ap).collect();
    for flow in &scenario.flows {
        let ways = [(flow.from, flow.to), (flow.to, flow.from)];
        ways.iter().flat_map(|(a, b)| network.routes.between(*a, *b)).for_each(|node| relays[node.index()] = true);
    }
    relays
}

fn site(shared: &Shared, node: NodeId, forwards: bool) -> Site {
    let scenario = &shared.scenario;
    let mut policies = scenario.flows.iter().flat_map(|flow| {
        let Some(tcp) = flow.entry.transport.tcp() else { return Vec::new() };
        let reads = [(flow.to, flow.traffic()), (flow.from, flow.reverse())];
        let here = reads.into_iter().filter(|(at, traffic)| *at == node && *traffic != sc::Traffic::None);
        here.map(|_| policy(tcp)).collect()
    });
    let first = policies.next();
    let receiver = first.filter(|one| policies.all(|other| other == *one));
    let config = &shared.macs[node.index()];
    Site {
        node,
        nodes: scenario.nodes.len(),
        has_air: scenario.nodes[node.index()].has_radio,
        address: net::address(node),
        forwards,
        starts_flows: scenario.flows.iter().any(|flow| flow.from == node),
        ends_flows: scenario.flows.iter().any(|flow| flow.to == node),
        max_attempts: config.max_attempts,
        categories: config.categories(),
        timing: config.timing,
        receiver,
    }
}
