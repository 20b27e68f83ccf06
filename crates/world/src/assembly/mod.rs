//! A blueprint becomes a world.

mod agents;
mod network;
mod places;
mod radio;
mod transport;

use crate::scenario::{InputError, RtsFor, Scenario};
use crate::shared::Shared;
use crate::taps::{Attachments, Taps};
use crate::world::{Appointment, Parts, World};
use engine::{Purpose, Streams};
use mac::{Channel, Config, Contention, Dcf, Fifo, Plan, Station, TxQueue};
use net::RouterSite;
use network::Network;
use node::{Chain, Node};
use phy::Medium;
use schemes::{Agent, Port};
use units::{Dur, NodeId, SimTime};

type Result<T> = core::result::Result<T, InputError>;

pub(crate) use radio::{errors_at, macs};
pub(crate) use transport::tcps;

/// Where everything stands and who sits where, for one seed.
pub(crate) struct Sites {
    medium: Medium,
    network: Network,
    agents: Vec<Vec<Box<dyn Agent>>>,
    /// The MAC of each node, as schemes left it.
    configs: Vec<Config>,
}

/// Places nodes and schemes.
///
/// # Errors
/// What the scenario's own checks cannot know: no way between the ends of a flow, a scheme where it does not sit, two
/// schemes on one port.
pub(crate) fn sites(shared: &Shared, seed: u64) -> Result<Sites> {
    let (scenario, streams) = (&shared.scenario, Streams::new(seed));
    let places = places::places(scenario, &streams);
    let mut medium = radio::medium(scenario, &places, &streams);
    let mut network = network::network(scenario, &places, &medium)?;
    let mut agents = agents::agents(shared, &network)?;
    let mut configs = shared.macs.clone();
    if agents::configure(scenario, &network, &mut agents, &mut configs, &mut medium)? {
        network = network::network(scenario, &places, &medium)?;
    }
    Ok(Sites { medium, network, agents, configs })
}

/// Puts a world together for one seed.
///
/// # Errors
/// See [`sites`].
pub(crate) fn world(shared: &Shared, seed: u64, taps: Taps) -> Result<World> {
    let (scenario, streams, mtu) = (&shared.scenario, Streams::new(seed), shared.mtu);
    let nodes = scenario.nodes.len();
    let Sites { medium, network, mut agents, configs } = sites(shared, seed)?;
    let errors = radio::errors(scenario, &streams);
    let contention = Contention::new(nodes, |node| configs[node.index()].contenders(&streams, node));
    let patience = configs
        .iter()
        .map(|c| c.rts_nav_patience(c.control_modes.response_to(c.data_rate)))
        .max()
        .unwrap_or(Dur::ZERO);
    let channel = Channel::new(medium, contention, errors, shared.errors_at, nodes, patience);
    let queue = network::queue_spec(&scenario.radio.queue, mtu, scenario.radio.data_rate);
    let flow = |i| transport::flow(shared, i, &streams, &mut agents);
    let flows = (0..scenario.flows.len() as u32).map(flow).collect();
    let peers: Vec<u8> = configs.iter().map(Config::categories).collect();
    let mut stations = Vec::with_capacity(nodes);
    for (i, config) in configs.into_iter().enumerate() {
        let mut queues = Vec::new();
        for category in 0..config.accesses().len() as u64 {
            let draws = streams.get(Purpose::Queue, category << 32 | i as u64);
            let fifo = || Box::new(Fifo::new(queue, mtu, draws)) as Box<dyn TxQueue>;
            queues.push(match holder(&mut agents[i], Port::TxQueue) {
                Some(agent) => agent.tx_queue(queue.limit, mtu).unwrap_or_else(|| agent.around_queue(fifo())),
                None => fifo(),
            });
        }
        let own = holder(&mut agents[i], Port::Exchange).and_then(|agent| agent.plan());
        let plan: Box<dyn Plan> = own.unwrap_or_else(|| Box::new(Dcf));
        let node = NodeId(i as u32);
        let mut station = Station::new(node, &peers, channel.contention.first(node), config, queues, plan);
        if let Some(classifier) = holder(&mut agents[i], Port::Classifier).and_then(|agent| agent.classifier()) {
            station.classify_by(classifier);
        }
        if let Some(transmit) = holder(&mut agents[i], Port::Transmit).and_then(|agent| agent.transmit()) {
            station.transmit_by(transmit);
        }
        if agents[i].iter().any(|agent| agent.info().reads(schemes::Signal::TxAttempt)) {
            station.report_attempts();
        }
        stations.push(station);
    }
    let Network { routes, neighbours, .. } = network;
    let router = network::router(shared);
    let made = agents.into_iter().zip((0..).map(NodeId)).map(|(agents, node)| {
        let address = net::address(node);
        let site = RouterSite { node, address, least_cost: routes.row(node).to_vec() };
        let router = (router.plugin)(site, &router.params);
        Node::new(node, address, Chain::new(agents), router, scenario.nodes[node.index()].entry.host_delay)
    });
    let made = made.collect();
    let agenda = agenda(scenario, &taps);
    let wires = network::wires(scenario, &streams, mtu);
    let spares_rts_without_payload = scenario.radio.rts_for == RtsFor::Data;
    Ok(World::new(Parts {
        channel,
        stations,
        nodes: made,
        flows,
        agenda,
        taps,
        wires,
        neighbours,
        spares_rts_without_payload,
    }))
}

/// What a capture shows of the network: its nodes, wires and cells.
pub(crate) fn attachments(scenario: &Scenario, seed: u64) -> Result<Attachments> {
    let streams = Streams::new(seed);
    let places = places::places(scenario, &streams);
    let network = network::network(scenario, &places, &radio::medium(scenario, &places, &streams))?;
    let nodes = scenario.nodes.iter().map(|node| (node.name.clone(), node.has_radio)).collect();
    let wires =
        scenario.links.iter().flat_map(|link| link.ends.directions().map(|(a, b)| ([a, b], link.name.clone())));
    Ok(Attachments { nodes, wires: wires.collect(), access_point: network.access_point })
}

/// The agent of a node that claims a port; there is at most one.
fn holder(agents: &mut [Box<dyn Agent>], port: Port) -> Option<&mut Box<dyn Agent>> {
    agents.iter_mut().find(|agent| agent.info().turns(port))
}

/// A flow like that of the scenario, for tests that open one during a run.
#[cfg(test)]
pub(crate) fn flow(shared: &Shared, index: u32, seed: u64) -> crate::flow::Flow {
    let mut nobody: Vec<_> = shared.scenario.nodes.iter().map(|_| Vec::new()).collect();
    transport::flow(shared, index, &Streams::new(seed), &mut nobody)
}

fn agenda(scenario: &Scenario, taps: &Taps) -> Vec<(SimTime, Appointment)> {
    let at = |dur: Dur| SimTime::ZERO + dur;
    // First: what happens at the instant warm-up ends is measured.
    let mut agenda = vec![(at(scenario.warmup), Appointment::WarmupEnds)];
    for (i, flow) in scenario.flows.iter().enumerate() {
        agenda.push((at(flow.start), Appointment::Start(i as u32)));
        if flow.stop < scenario.duration {
            agenda.push((at(flow.stop), Appointment::Stop(i as u32)));
        }
    }
    agenda.extend(scenario.events.iter().map(|event| (at(event.at), Appointment::Scenario(event.what))));
    if let Some(every) = taps.sampling() {
        let samples = scenario.duration / every;
        agenda.extend((1..=samples).map(|i| (at(every * i), Appointment::Sample)));
    }
    agenda.push((at(scenario.duration), Appointment::End));
    agenda
}
