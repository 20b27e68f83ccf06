//! A blueprint becomes a world.

mod agents;
mod draws;
mod handoff;
mod modes;
mod moving;
mod network;
mod places;
mod radio;
mod topology;
mod transport;
mod weights;

use crate::interface::Interface;
use crate::scenario::{EventKind, InputError, Mistakes, Per, RtsFor, Scenario};
use crate::shared::Shared;
use crate::taps::{Attachments, Taps};
use crate::windows::Windows;
use crate::world::{Appointment, Parts, Topology, Ways, World};
use engine::{Purpose, Streams};
use handoff::Handoffs;
use mac::rate::{Given, Unfit};
use mac::{Aggregation, Channel, Config, Contention, Fifo, Fixed, Links, RateControl, RtsPatience, Station, TxQueue};
use moving::Moving;
use net::RouterFacts;
use network::Network;
use node::{Chain, Node};
use phy::format::DSSS;
use phy::{Format, Medium};
use plugin::Chosen;
use radio::Tuned;
use schemes::{Hooks, Port, Stack};
use std::rc::Rc;
use topology::Standing;
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};

type Result<T> = core::result::Result<T, InputError>;

/// The values of all that were made, or all mistakes.
fn all<T>(each: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut found = Mistakes::default();
    let made = each.filter_map(|one| found.take(one)).collect();
    found.into_result()?;
    Ok(made)
}

pub(crate) use draws::drawn;
pub(crate) use modes::MeanSnr;
pub(crate) use network::is_on_demand;
pub(crate) use radio::{errors_at, macs};
pub(crate) use transport::{keys, tcps};
pub(crate) use weights::learns;

/// The places of nodes and of schemes, for one seed.
pub(crate) struct Placement {
    places: Vec<[f64; 2]>,
    /// Of each channel.
    media: Vec<Medium>,
    network: Network,
    stacks: Vec<Stack>,
}

/// Places nodes and schemes.
///
/// # Errors
/// All that the scenario's own checks cannot know: no way between the ends of a flow, a scheme at a node where it cannot sit, two
/// schemes that exclude each other.
pub(crate) fn placement(shared: &Shared, seed: u64) -> Result<Placement> {
    let (scenario, streams) = (&shared.scenario, Streams::new(seed));
    let places = moving::begin(shared, &streams);
    moving::check(shared, &places)?;
    let mut media = radio::media(scenario, &places, &streams);
    let network = |media: &[Medium]| network::network(shared, &places, &media.iter().collect::<Vec<_>>(), &streams);
    let mut found = network(&media)?;
    let stacks = agents::stacks(shared, &found, &media, &streams)?;
    if shared.learns && !stacks.iter().any(|stack| stack.claims.iter().any(|claims| claims.turns(Port::Routes))) {
        let why = format!(
            "\"{}\" learns from what a scheme measures, and none here does; write a [[scheme]] that measures links",
            weights::route_metric(scenario, &shared.registries).info.id
        );
        return Err(InputError::new("route_metric".to_owned(), why));
    }
    if agents::set_powers(scenario, &stacks, &mut media) {
        found = network(&media)?;
    }
    Ok(Placement { places, media, network: found, stacks })
}

/// The schemes of each node that turn `port`.
///
/// # Errors
/// See [`placement`].
pub(crate) fn turning(shared: &Shared, seed: u64, port: Port) -> Result<Vec<Vec<&'static str>>> {
    let turns =
        |stack: &Stack| stack.claims.iter().filter(|claims| claims.turns(port)).map(|claims| claims.scheme).collect();
    Ok(placement(shared, seed)?.stacks.iter().map(turns).collect())
}

/// The schemes that need our own TCP ends at their nodes.
///
/// # Errors
/// See [`placement`].
pub(crate) fn bound_to_own_tcp(shared: &Shared, seed: u64) -> Result<Vec<(NodeId, &'static str)>> {
    let stacks = placement(shared, seed)?.stacks;
    let of_node = |(node, stack): (NodeId, &Stack)| {
        let bound = stack.claims.iter().filter(|claims| claims.needs_own_tcp());
        bound.map(|claims| (node, claims.scheme)).collect::<Vec<_>>()
    };
    Ok((0..).map(NodeId).zip(&stacks).flat_map(of_node).collect())
}

/// Puts a world together for one seed.
///
/// # Errors
/// See [`placement`].
pub(crate) fn world(shared: &Shared, seed: u64, mut taps: Taps) -> Result<World> {
    let (scenario, streams, mtu) = (&shared.scenario, Streams::new(seed), shared.mtu);
    let Placement { places, mut media, network, mut stacks } = placement(shared, seed)?;
    taps.places(&places);
    let changes =
        scenario.events.iter().any(|event| !matches!(event.what, EventKind::Kill(_) | EventKind::Restart(_)));
    let mut configs: Vec<Config> = stacks.iter().map(|stack| stack.radio.mac.clone()).collect();
    let on: Vec<Tuned<'_>> = Tuned::all(scenario, &streams).collect();
    on.iter().for_each(|on| modes::choose(*on, &places, &mut configs));
    let announced: Vec<Rc<[Option<Aggregation>]>> = on.iter().map(|on| announced(*on, &configs)).collect();
    let moving = if moving::moves(scenario) {
        Some(Moving::new(shared, &streams, &places, &mut media, network.near.clone(), network.routes.clone())?)
    } else {
        None
    };
    if let Some(moving) = &moving {
        check_handoffs(shared, &moving.handoffs, &stacks)?;
    }
    let topology = (changes || moving.is_some() || shared.learns)
        .then(|| Box::new(Standing::new(shared, streams, places, moving)) as Box<dyn Topology>);
    let channels = on.iter().zip(media).map(|(on, medium)| channel(shared, *on, medium, &configs));
    let mut channels: Vec<Channel> = channels.collect();
    let mut hooks: Vec<Hooks> = stacks.iter_mut().map(|stack| std::mem::take(&mut stack.hooks)).collect();
    let flow = |i| {
        let mut flow = transport::flow(shared, i, &streams);
        flow.hook(FlowId::forward(i), &mut hooks);
        flow
    };
    let flows = (0..scenario.flows.len() as u32).map(flow).collect();
    let peers: Vec<u8> = configs.iter().map(Config::categories).collect();
    let mut interfaces = Vec::new();
    for (node, channel) in scenario.interfaces() {
        let (own, stack, config) =
            (&scenario.nodes[node.index()], &mut stacks[node.index()], configs[node.index()].clone());
        let streams = on[channel.index()].streams;
        let spec = network::queue_spec(shared, &own.queue.queue, scenario.radio.data_rate);
        let per = own.queue.per.unwrap_or_else(|| network::per(&spec));
        let mut queues = Vec::new();
        for category in 0..config.accesses().len() as u64 {
            let entity = category << 32 | u64::from(node.0);
            let queue: Box<dyn TxQueue> = match per {
                Per::Interface => Box::new(Fifo::new(&spec, mtu, streams.get(Purpose::Queue, entity))),
                Per::Receiver => {
                    let mut links = Links::new(&spec, mtu, streams.within(Purpose::Queue, entity));
                    links.count_first_by(own.standard.modes()[0]);
                    Box::new(links)
                }
            };
            queues.push(stack.queue(queue));
        }
        let rates = rate_control(shared, stack, &config, node, &streams)?;
        let air = &mut channels[channel.index()];
        let mut station = Station::new(node, &peers, air.contention.first(node), config, queues, stack.plan());
        if let Some(rates) = rates {
            station.rates_by(rates);
        }
        if station.config().aggregation.is_some() {
            station.aggregate_with(announced[channel.index()].clone());
        }
        fit(&mut station, stack);
        if station.heeds_damage() {
            air.heed_damage(node);
        }
        interfaces.push(Interface { node, channel, station });
    }
    let Ways { routes, neighbours, saturators } = network.into_ways(scenario);
    let (router, addresses) = (network::router(scenario, &shared.registries), network::addresses(scenario));
    // In order of their nodes.
    let mut ids = (0..).map(InterfaceId).zip(&interfaces).peekable();
    let made = stacks.into_iter().zip((0..).map(NodeId)).map(|(stack, node)| {
        let address = net::address(node);
        let own = std::iter::from_fn(|| ids.next_if(|(_, it)| it.node == node).map(|(id, _)| id));
        let own: Vec<InterfaceId> = own.collect();
        let first = own.first().copied().unwrap_or(InterfaceId::NONE);
        let least_cost = if shared.is_on_demand { Vec::new() } else { routes.row(node).to_vec() };
        let addresses = addresses.clone();
        let draws = streams.get(Purpose::Routing, u64::from(node.0));
        let facts = RouterFacts { node, address, interfaces: own, addresses: addresses.clone(), least_cost, draws };
        let router = (router.plugin)(facts, &router.params);
        let chain = Chain::new(stack.members, stack.capabilities);
        let entry = &scenario.nodes[node.index()].entry;
        let mut made = Node::new(node, address, first, chain, router, entry.host_delay);
        if !entry.prefixes().is_empty() {
            made.stand_for(addresses);
        }
        made
    });
    let mut made: Vec<Node> = made.collect();
    for (flow, tcp) in scenario.flows.iter().zip(&shared.tcps) {
        if tcp.as_ref().is_some_and(|tcp| tcp.counts_queued()) {
            [flow.from, flow.to].iter().for_each(|node| made[node.index()].want_reports());
        }
    }
    let agenda = agenda(scenario, &taps);
    let wires = network::wires(shared, &streams);
    let spares_rts_without_payload = scenario.radio.rts_for == RtsFor::Data;
    Ok(World::new(Parts {
        channels,
        interfaces,
        nodes: made,
        addresses,
        flows,
        hooks,
        agenda,
        taps,
        windows: Windows::new(&scenario.windows, scenario.flows.len()),
        wires,
        neighbours,
        saturators,
        topology,
        spares_rts_without_payload,
    }))
}

/// Connections that a scheme ends at an access point would be cut off from their station when it goes over to another.
fn check_handoffs(shared: &Shared, handoffs: &Handoffs, stacks: &[Stack]) -> Result<()> {
    for node in handoffs.access_points() {
        let Some(claims) = stacks[node.index()].claims.iter().find(|claims| claims.turns(Port::Connections)) else {
            continue;
        };
        let (ap, id) = (&shared.scenario.nodes[node.index()].name, claims.scheme);
        let used = shared.scenario.schemes.iter().position(|used| used.plug.id() == id).unwrap_or_default();
        let message = format!(
            "{id} ends connections at \"{ap}\", and stations go over to other access points; it hands nothing over"
        );
        return Err(InputError::new(format!("scheme[{used}].name"), message));
    }
    Ok(())
}

/// The network as a run begins, for a driver that changes it.
pub(crate) fn topology(shared: &Shared, seed: u64) -> Box<dyn Topology> {
    let streams = Streams::new(seed);
    let places = places::places(&shared.scenario, &streams, shared.layout);
    Box::new(Standing::new(shared, streams, places, None))
}

/// A channel, silent yet.
fn channel(shared: &Shared, on: Tuned<'_>, medium: Medium, configs: &[Config]) -> Channel {
    let nodes = configs.len();
    let contention = Contention::new(nodes, |node| configs[node.index()].contenders(&on.streams, node));
    let patience = RtsPatience::of(configs);
    let errors_at = shared.errors_at[on.id.index()];
    let mut channel = Channel::new(medium, contention, radio::errors(on), errors_at, nodes, patience);
    // Of all formats on the channel, those that a station's own radio has no mode of.
    let tuned = || (0..).map(NodeId).zip(configs).filter(|(node, _)| on.has(*node));
    let knows = |config: &Config, format: &Format| config.modes.iter().any(|mode| mode.format == format);
    let mut formats: Vec<&'static Format> = Vec::new();
    for mode in tuned().flat_map(|(_, config)| &config.modes) {
        if !formats.contains(&mode.format) {
            formats.push(mode.format);
        }
    }
    for format in formats {
        for (node, config) in tuned().filter(|(_, config)| !knows(config, format)) {
            let is_detected = format != &DSSS && config.modes.iter().any(|mode| mode.format != &DSSS);
            channel.set_unknown(node, format, is_detected);
        }
    }
    channel
}

/// The part in aggregation that the stations of a channel announce, by node.
fn announced(on: Tuned<'_>, configs: &[Config]) -> Rc<[Option<Aggregation>]> {
    let own = |(node, config): (NodeId, &Config)| config.aggregation.filter(|_| on.has(node));
    (0..).map(NodeId).zip(configs).map(own).collect()
}

/// The part of the network that captures show: nodes, wires and cells.
pub(crate) fn attachments(shared: &Shared, seed: u64) -> Result<Attachments> {
    let (scenario, streams) = (&shared.scenario, Streams::new(seed));
    let places = moving::begin(shared, &streams);
    let media = radio::media(scenario, &places, &streams);
    let network = network::network(shared, &places, &media.iter().collect::<Vec<_>>(), &streams)?;
    let nodes = scenario.nodes.iter().map(|node| (node.name.clone(), node.channels.clone())).collect();
    let channels = scenario.channels.names().map(str::to_owned).collect();
    let access_point = network.near.into_iter().map(|near| near.access_point).collect();
    let wires =
        scenario.links.iter().flat_map(|link| link.ends.directions().map(|(a, b)| ([a, b], link.name.clone())));
    Ok(Attachments { nodes, channels, wires: wires.collect(), access_point })
}

/// The rate control of a station: the scenario's, with all that schemes have put around it. `None`: the rate is fixed, which
/// needs none.
fn rate_control(
    shared: &Shared,
    stack: &mut Stack,
    config: &Config,
    node: NodeId,
    streams: &Streams,
) -> Result<Option<Box<dyn RateControl>>> {
    let own = chosen_rate_control(shared, config, node, streams)?;
    if own.is_none() && !stack.has_rate_control() {
        return Ok(None);
    }
    Ok(Some(stack.rate_control(own.unwrap_or_else(|| Box::new(Fixed::of(config))))))
}

/// The rate control that the scenario names for a station.
///
/// # Errors
/// It does not run on the station's radio.
fn chosen_rate_control(
    shared: &Shared,
    config: &Config,
    node: NodeId,
    streams: &Streams,
) -> Result<Option<Box<dyn RateControl>>> {
    let spec = &shared.scenario.nodes[node.index()];
    let Some(plug) = &spec.rate_control else { return Ok(None) };
    let Chosen { plugin, params, .. } = transport::chosen(&shared.registries.rate_controls, plug);
    let draws = streams.get(Purpose::RateControl, u64::from(node.0));
    let supported = || modes::supported(&shared.scenario, node, config);
    let made = plugin(&params, Given { config, supported: &supported, draws });
    made.map(Some).map_err(|Unfit(why)| {
        let path = format!("node[{}].rate_control", spec.index);
        InputError::new(path, format!("\"{}\" does not run here: {why}", plug.id()))
    })
}

/// Checks that the rate controls that a scenario names run on its radios.
///
/// # Errors
/// The first that does not.
pub(crate) fn check_rate_controls(shared: &Shared) -> Result<()> {
    let mut seen = Vec::new();
    for (node, (spec, config)) in (0..).map(NodeId).zip(shared.scenario.nodes.iter().zip(&shared.macs)) {
        // Nodes of one entry are alike.
        if spec.has_radio && !seen.contains(&spec.index) {
            seen.push(spec.index);
            chosen_rate_control(shared, config, node, &Streams::new(shared.scenario.seed))?;
        }
    }
    Ok(())
}

/// Gives a station what else schemes have brought for it.
fn fit(station: &mut Station, stack: &mut Stack) {
    if let Some(classifier) = stack.classifier() {
        station.classify_by(classifier);
    }
    if let Some(transmit) = stack.transmit() {
        station.transmit_by(transmit);
    }
    if let Some(policy) = stack.ack_policy() {
        station.acknowledged_by(policy);
    }
    if let Some(recipient) = stack.recipient() {
        station.receive_by(recipient);
    }
    if let Some(piggyback) = stack.piggyback() {
        station.load_by(piggyback);
    }
    if stack.knows_options() {
        station.extend_frames();
    }
    if stack.reads_attempts() {
        station.report_attempts();
    }
}

/// A flow like that of the scenario, for tests that open one during a run.
#[cfg(test)]
pub(crate) fn flow(shared: &Shared, index: u32, seed: u64) -> crate::flow::Flow {
    transport::flow(shared, index, &Streams::new(seed))
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
    for (i, event) in (0..).zip(&scenario.events) {
        let what = match event.what {
            EventKind::Kill(node) => Appointment::Kill(node),
            EventKind::Restart(node) => Appointment::Restart(node),
            EventKind::Break(_) | EventKind::Heal(_) | EventKind::Move(..) => Appointment::Change(i),
        };
        agenda.push((at(event.at), what));
    }
    if let Some(every) = taps.sampling() {
        let samples = scenario.duration / every;
        agenda.extend((1..=samples).map(|i| (at(every * i), Appointment::Sample)));
    }
    for (i, window) in scenario.windows.iter().enumerate() {
        let buckets = (window.to - window.from) / window.every;
        agenda.extend((0..=buckets).map(|k| (at(window.from + window.every * k), Appointment::Bucket(i as u32))));
    }
    agenda.push((at(scenario.duration), Appointment::End));
    agenda
}
