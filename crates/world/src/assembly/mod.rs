//! A scenario becomes a world.

mod agents;
mod network;
mod places;
mod radio;
mod transport;

use crate::chain::Chain;
use crate::scenario::{InputError, Scenario};
use crate::taps::{Attachments, Taps};
use crate::world::{Appointment, Parts, World};
use engine::{Purpose, Streams};
use mac::{Channel, Config, Contention, Dcf, Fifo, Plan, Station, TxQueue};
use schemes::{Agent, Port};
use units::{Bytes, Dur, NodeId, SimTime};

type Result<T> = core::result::Result<T, InputError>;

/// Puts the world of `scenario` together for one seed.
///
/// # Errors
/// What the scenario's own checks cannot know: a scheme where it does not sit, two schemes on one port, TCP parameters
/// that do not go together.
pub(crate) fn world(scenario: &Scenario, seed: u64, taps: Taps) -> Result<World> {
    let streams = Streams::new(seed);
    let nodes = scenario.nodes.len();
    let mut configs: Vec<Config> =
        scenario.nodes.iter().map(|node| radio::mac_config(&scenario.radio, node)).collect();
    for (config, node) in configs.iter().zip(&scenario.nodes) {
        // What a scenario says of a category meets the standard's own values here only.
        if let Some(Err(message)) = config.edca.as_ref().map(mac::Edca::check) {
            return Err(InputError { path: format!("node[{}].edca", node.entry.0), message });
        }
    }
    let (errors, errors_at) = radio::errors(scenario, &streams)?;
    let places = places::places(scenario, &streams);
    let mut medium = radio::medium(scenario, &places, &streams);
    let mut network = network::network(scenario, &places, &medium)?;
    let mut agents = agents::agents(scenario, &network)?;
    if agents::configure(scenario, &network, &mut agents, &mut configs, &mut medium)? {
        network = network::network(scenario, &places, &medium)?;
    }
    let contention = Contention::new(nodes, |node| configs[node.index()].contenders(&streams, node));
    let patience = configs.iter().map(|c| c.rts_nav_patience(c.control_rate(c.data_rate))).max().unwrap_or(Dur::ZERO);
    let channel = Channel::new(medium, contention, errors, errors_at, nodes, patience);
    let mtu = scenario.flows.iter().map(|flow| flow.transport.datagram()).max().unwrap_or(Bytes(1500));
    let queue = network::queue_spec(&scenario.radio.queue, mtu, scenario.radio.data_rate);
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (i, flow) in scenario.flows.iter().enumerate() {
        flows.push(transport::flow(flow, i as u32, &streams, &mut agents)?);
    }
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
        let plan: Box<dyn Plan> = own.unwrap_or_else(|| Box::new(Dcf::default()));
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
    let chains = agents.into_iter().map(Chain::new).collect();
    let delays = scenario.nodes.iter().map(|node| node.host_delay).collect();
    let agenda = agenda(scenario, &taps);
    let wires = network::wires(scenario, &streams, mtu);
    let network::Network { routes, neighbours, .. } = network;
    Ok(World::new(Parts { channel, stations, chains, delays, flows, agenda, taps, wires, routes, neighbours }))
}

/// What a capture shows of the network: its nodes, wires and cells.
pub(crate) fn attachments(scenario: &Scenario, seed: u64) -> Result<Attachments> {
    let streams = Streams::new(seed);
    let places = places::places(scenario, &streams);
    let network = network::network(scenario, &places, &radio::medium(scenario, &places, &streams))?;
    let nodes = scenario.nodes.iter().map(|node| (node.name.clone(), node.has_radio)).collect();
    let wires = scenario.links.iter().flat_map(|link| link.directions().map(|(a, b)| ([a, b], link.name.clone())));
    Ok(Attachments { nodes, wires: wires.collect(), access_point: network.access_point })
}

/// The agent of a node that claims a port; there is at most one.
fn holder(agents: &mut [Box<dyn Agent>], port: Port) -> Option<&mut Box<dyn Agent>> {
    agents.iter_mut().find(|agent| agent.info().turns(port))
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
