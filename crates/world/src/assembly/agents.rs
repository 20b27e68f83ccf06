//! The seats of schemes: the nodes at which each of them is installed.

use super::Result;
use super::network::Network;
use super::transport::policy;
use crate::scenario::{self as sc, InputError, Scenario};
use crate::shared::Shared;
use engine::Streams;
use phy::Medium;
use schemes::{NodeFacts, Powers, Radio, Stack};
use units::{Dbm, NodeId};

/// The schemes of each node, installed in the order of the file: each at all its nodes before the next one.
pub(super) fn stacks(shared: &Shared, network: &Network, media: &[Medium], streams: &Streams) -> Result<Vec<Stack>> {
    let scenario = &shared.scenario;
    let radio = |(mac, node): (&mac::Config, &sc::Node)| Radio { mac: mac.clone(), tx_power: node.tx_power };
    let mut stacks: Vec<Stack> = shared.macs.iter().zip(&scenario.nodes).map(radio).map(Stack::new).collect();
    let mut tx_powers: Vec<Dbm> = scenario.nodes.iter().map(|node| node.tx_power).collect();
    let relays = relays(shared, network);
    let all: Vec<NodeId> = (0..scenario.nodes.len() as u32).map(NodeId).collect();
    let mut install = |i: usize, used: &sc::SchemeUse| -> Result<()> {
        let Some(entry) = shared.registries.schemes.find(used.plug.id()) else { return Ok(()) };
        let scheme = entry.with(used.plug.chosen.params.clone());
        let (id, error) =
            (entry.info.id, |key: &str, message| InputError::new(format!("scheme[{i}].{key}"), message));
        let mut sits_anywhere = false;
        for node in used.at.as_ref().unwrap_or(&all) {
            let facts = facts(shared, *node, network, relays[node.index()]);
            let stack = &mut stacks[node.index()];
            let measured = Measured::at(scenario, *node, media, &tx_powers, network);
            let powers = measured.as_ref().map(|measured| measured as &dyn Powers);
            let sits = stack.install(&scheme, facts, powers, *streams).map_err(|line| error("name", line))?;
            if !sits && used.at.is_some() {
                return Err(error("at", format!("{id} does not sit at \"{}\"", facts.name)));
            }
            if sits && scenario.nodes[node.index()].channels.len() > 1 {
                let why = format!("\"{}\" has several radios, and a scheme sits at a node with one", facts.name);
                let hint = if used.at.is_some() { "" } else { "; name the others" };
                return Err(error("at", format!("{why}{hint}")));
            }
            tx_powers[node.index()] = stack.radio.tx_power;
            sits_anywhere |= sits;
        }
        if !sits_anywhere {
            // An access point is what most of these miss: would it sit at one?
            let at_one = all.iter().filter(|node| scenario.nodes[node.index()].has_radio).any(|node| {
                let own = facts(shared, *node, network, relays[node.index()]);
                let access_point = NodeFacts { forwards: true, access_point: None, ..own };
                let trial = Stack::new(radio((&shared.macs[node.index()], &scenario.nodes[node.index()])));
                let measured = Measured::at(scenario, *node, media, &tx_powers, network);
                let powers = measured.as_ref().map(|measured| measured as &dyn Powers);
                { trial }.install(&scheme, access_point, powers, *streams).is_ok_and(|sits| sits)
            });
            let needs = if at_one {
                "it needs an access point (role = \"ap\") or a relay"
            } else {
                "its page in docs/schemes says where it sits"
            };
            return Err(error("name", format!("{id} sits at no node of this scenario; {needs}")));
        }
        Ok(())
    };
    let mut found = sc::Mistakes::default();
    for (i, used) in scenario.schemes.iter().enumerate() {
        found.take(install(i, used));
    }
    found.into_result()?;
    Ok(stacks)
}

/// Gives the nodes the transmit powers that schemes have left. Returns whether one is another now.
pub(super) fn set_powers(scenario: &Scenario, stacks: &[Stack], media: &mut [Medium]) -> bool {
    let mut is_other = false;
    for medium in media {
        let Medium::Sinr(levels) = medium else { continue };
        for ((id, node), stack) in (0..).map(NodeId).zip(&scenario.nodes).zip(stacks) {
            if stack.radio.tx_power != node.tx_power {
                levels.set_power(id, stack.radio.tx_power);
                is_other = true;
            }
        }
    }
    is_other
}

/// Mean powers on one channel with the transmit powers that schemes have left so far.
#[derive(Debug)]
struct Measured<'a> {
    medium: &'a Medium,
    tx_powers: &'a [Dbm],
    network: &'a Network,
}

impl<'a> Measured<'a> {
    /// On the channel of a node; `None` if signals have no powers there.
    fn at(
        scenario: &Scenario,
        node: NodeId,
        media: &'a [Medium],
        tx_powers: &'a [Dbm],
        network: &'a Network,
    ) -> Option<Measured<'a>> {
        let channel = scenario.nodes[node.index()].channels.first().copied().unwrap_or_default();
        let has_powers = scenario.channels.get(channel).powers.is_some();
        has_powers.then(|| Measured { medium: &media[channel.index()], tx_powers, network })
    }
}

impl Powers for Measured<'_> {
    fn mean(&self, from: NodeId, to: NodeId) -> Dbm {
        let own = self.tx_powers[from.index()];
        match self.medium {
            Medium::Sinr(levels) => Dbm(own.0 + levels.gain(from, to).0),
            Medium::UnitDisc(_) => own,
        }
    }

    fn stations(&self, access_point: NodeId) -> Vec<NodeId> {
        let all = (0..self.tx_powers.len() as u32).map(NodeId);
        all.filter(|station| self.network.access_point(*station) == Some(access_point)).collect()
    }
}

/// The nodes that forward: access points, and those that a route of some flow leads through or, where routes are found in the run,
/// may lead through.
fn relays(shared: &Shared, network: &Network) -> Vec<bool> {
    let scenario = &shared.scenario;
    // Where routes are found in the run, any radio may be on one.
    let may_forward = |node: &sc::Node| node.entry.role == sc::Role::Ap || shared.is_on_demand && node.has_radio;
    let mut relays: Vec<bool> = scenario.nodes.iter().map(may_forward).collect();
    for flow in &scenario.flows {
        let ways = [(flow.from, flow.to), (flow.to, flow.from)];
        ways.iter().flat_map(|(a, b)| network.routes.between(*a, *b)).for_each(|node| relays[node.index()] = true);
    }
    relays
}

fn facts<'s>(shared: &'s Shared, id: NodeId, network: &Network, forwards: bool) -> NodeFacts<'s> {
    let scenario = &shared.scenario;
    let mut policies = scenario.flows.iter().flat_map(|flow| {
        let Some(tcp) = flow.entry.transport.tcp() else { return Vec::new() };
        let reads = [(flow.to, flow.traffic()), (flow.from, flow.reverse())];
        let here = reads.into_iter().filter(|(at, traffic)| *at == id && *traffic != sc::Traffic::None);
        here.map(|_| policy(tcp)).collect()
    });
    let first = policies.next();
    let receiver = first.filter(|one| policies.all(|other| other == *one));
    let node = &scenario.nodes[id.index()];
    NodeFacts {
        id,
        name: &node.name,
        nodes: scenario.nodes.len(),
        has_air: node.has_radio,
        address: net::address(id),
        forwards,
        starts_flows: scenario.flows.iter().any(|flow| flow.from == id),
        ends_flows: scenario.flows.iter().any(|flow| flow.to == id),
        carries_tcp: scenario.flows.is_empty()
            || scenario
                .flows
                .iter()
                .any(|flow| flow.entry.transport.tcp().is_some() && (forwards || flow.from == id || flow.to == id)),
        access_point: network.access_point(id),
        receiver,
        standard: node.standard,
        queue: node.queue.queue.limit,
        mtu: shared.mtu,
    }
}
