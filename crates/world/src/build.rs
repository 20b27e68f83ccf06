//! A scenario becomes a world.

use crate::chain::Chain;
use crate::flow::{Delivered, Flow, Sink, Source, Transport};
use crate::scenario::{self as sc, InputError, Scenario};
use crate::taps::Taps;
use crate::world::{Appointment, Parts, World};
use engine::{Purpose, Stream, Streams};
use mac::{Access, Channel, Config, Contention, ErrorsAt, Fifo, Rts, Station, TxQueue};
use phy::errors::Sojourn;
use phy::{ErrorModel, Errors, Hit, Medium, Preamble, Rate, Standard, airtime};
use schemes::{Agent, Port, Site};
use tcp::Connection;
use units::{BitRate, Bytes, Db, Dur, FlowId, NodeId, SimTime};
use wire::Seq;

type Result<T> = core::result::Result<T, InputError>;

/// Puts the world of `scenario` together for one seed.
///
/// # Errors
/// What the scenario's own checks cannot know: a scheme where it does not sit, two schemes on one port, TCP parameters
/// that do not go together.
pub(crate) fn world(scenario: &Scenario, seed: u64, taps: Taps) -> Result<World> {
    let streams = Streams::new(seed);
    let nodes = scenario.nodes.len();
    let configs: Vec<Config> = scenario.nodes.iter().map(|node| mac_config(&scenario.radio, node)).collect();
    let contention = Contention::new(nodes, |node| vec![access(&configs[node.index()], &streams, node)]);
    let patience = configs.iter().map(|c| c.rts_nav_patience(c.control_rate(c.data_rate))).max().unwrap_or(Dur::ZERO);
    let (errors, errors_at) = errors(scenario, &streams);
    let channel = Channel::new(medium(scenario), contention, errors, errors_at, nodes, patience);
    let mut agents = agents(scenario)?;
    let mtu = scenario.flows.iter().map(|flow| flow.transport.datagram()).max().unwrap_or(Bytes(1500));
    let limit = match scenario.radio.queue {
        sc::QueueLimit::Packets(n) => queue::Limit::Packets(n),
        sc::QueueLimit::Bytes(n) => queue::Limit::Bytes(n),
    };
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (i, flow) in scenario.flows.iter().enumerate() {
        flows.push(self::flow(flow, i as u32, &streams, &mut agents)?);
    }
    let mut stations = Vec::with_capacity(nodes);
    for (i, config) in configs.into_iter().enumerate() {
        let own = agents[i].iter_mut().find_map(|agent| agent.tx_queue());
        let queue: Box<dyn TxQueue> = own.unwrap_or_else(|| Box::new(Fifo::new(limit, mtu)));
        let node = NodeId(i as u32);
        let mut station = Station::new(node, nodes, channel.contention.dcf(node), config, queue);
        if agents[i].iter().any(|agent| agent.info().reads(schemes::Signal::TxAttempt)) {
            station.report_attempts();
        }
        stations.push(station);
    }
    let chains = agents.into_iter().map(Chain::new).collect();
    let delays = scenario.nodes.iter().map(|node| node.host_delay).collect();
    let agenda = agenda(scenario, &taps);
    Ok(World::new(Parts { channel, stations, chains, delays, flows, agenda, taps }))
}

fn standard(standard: sc::Standard) -> Standard {
    match standard {
        sc::Standard::Dot11 => Standard::Dsss,
        sc::Standard::Dot11b => Standard::B,
        sc::Standard::Dot11a => Standard::A,
        sc::Standard::Dot11g => Standard::G,
    }
}

/// The rate of that value: the scenario's reader has checked that the standard has it.
fn rate(radio: &sc::Radio, bit_rate: BitRate) -> Rate {
    standard(radio.standard).rate(bit_rate).unwrap_or(standard(radio.standard).rates()[0])
}

fn mac_config(radio: &sc::Radio, node: &sc::Node) -> Config {
    let standard = standard(radio.standard);
    let mut config = Config::of(standard, rate(radio, node.data_rate));
    config.preamble = match radio.preamble {
        Some(sc::Preamble::Short) => Preamble::Short,
        Some(sc::Preamble::Long) | None => Preamble::Long,
    };
    if radio.slot == Some(sc::Slot::Long) {
        config.timing.slot = Dur::from_us(20); // @80211-2020 18.4.4
    }
    config.timing.cw_min = radio.cw_min.unwrap_or(config.timing.cw_min);
    config.timing.cw_max = radio.cw_max.unwrap_or(config.timing.cw_max);
    if let Some(only) = radio.basic_rate {
        config.basic_rate = rate(radio, only);
        config.control_rates = vec![config.basic_rate];
    } else if matches!(config.data_rate.modulation, phy::Modulation::ErpOfdm { .. }) {
        // OFDM frames are answered by OFDM frames; 6 Mb/s is the lowest of them. @80211-2020 10.6.6.5.2
        let ofdm = |rate: &Rate| rate.modulation != phy::Modulation::Dsss;
        config.control_rates.retain(ofdm);
        config.basic_rate = config.control_rates[0];
    }
    if let sc::ControlRate::Fixed(fixed) = radio.control_rate {
        config.control_rates = vec![rate(radio, fixed)];
    }
    config.rts = Rts { threshold: radio.rts_threshold, for_payload_only: radio.rts_for == sc::RtsFor::Data };
    config.max_attempts = radio.max_attempts;
    config.max_attempts_long = radio.max_attempts_long;
    config.after_timeout = match radio.after_timeout {
        sc::AfterTimeout::Letter => mac::AfterTimeout::Letter,
        sc::AfterTimeout::FreshIfs => mac::AfterTimeout::FreshIfs,
        sc::AfterTimeout::Eifs => mac::AfterTimeout::Eifs,
    };
    config
}

fn access(config: &Config, streams: &Streams, node: NodeId) -> (Access, Stream) {
    let access = Access {
        ifs: config.timing.difs(),
        eifs: config.timing.eifs(airtime(config.basic_rate, mac::frame::ACK, config.preamble)),
        slot: config.timing.slot,
        cw_min: config.timing.cw_min,
        cw_max: config.timing.cw_max,
    };
    (access, streams.get(Purpose::Backoff, u64::from(node.0)))
}

fn medium(scenario: &Scenario) -> Medium {
    let mut medium = Medium::new(scenario.nodes.len());
    let ids = || (0..scenario.nodes.len() as u32).map(NodeId);
    if let Some(range_m) = scenario.channel.range_m {
        for from in ids() {
            for to in ids().filter(|to| *to != from) {
                let [a, b] = [from, to].map(|node| scenario.nodes[node.index()].position_m);
                let distance_m = libm::hypot(a[0] - b[0], a[1] - b[1]);
                medium.set_reach(from, to, distance_m <= range_m);
            }
        }
    }
    for pair in &scenario.channel.pairs {
        for (from, to) in directions(pair) {
            if let Some(in_reach) = pair.reach {
                medium.set_reach(from, to, in_reach);
            }
            if pair.gain != Db(0.0) {
                medium.set_gain(from, to, pair.gain);
            }
        }
    }
    medium
}

fn directions(pair: &sc::Pair) -> impl Iterator<Item = (NodeId, NodeId)> {
    [(pair.from, pair.to)].into_iter().chain(pair.both_ways.then_some((pair.to, pair.from)))
}

fn errors(scenario: &Scenario, streams: &Streams) -> (Errors, ErrorsAt) {
    let of = |from: NodeId, to: NodeId| -> sc::ErrorSpec {
        let own = |pair: &&sc::Pair| directions(pair).any(|d| d == (from, to)) && pair.errors.is_some();
        let pair = scenario.channel.pairs.iter().find(own);
        pair.and_then(|pair| pair.errors).unwrap_or(scenario.channel.errors)
    };
    let all = scenario.channel.pairs.iter().filter_map(|pair| pair.errors).chain([scenario.channel.errors]);
    let is_msdu = all.into_iter().any(|spec| errors_at(&spec) == Some(sc::ErrorAt::Msdu));
    let at = if is_msdu { ErrorsAt::Msdu } else { ErrorsAt::Attempt };
    (Errors::new(scenario.nodes.len(), streams, |from, to| model(&of(from, to))), at)
}

fn errors_at(spec: &sc::ErrorSpec) -> Option<sc::ErrorAt> {
    match spec {
        sc::ErrorSpec::None => None,
        sc::ErrorSpec::Packet { at, .. } | sc::ErrorSpec::Bit { at, .. } | sc::ErrorSpec::TwoState { at, .. } => {
            Some(*at)
        }
    }
}

fn model(spec: &sc::ErrorSpec) -> ErrorModel {
    match *spec {
        sc::ErrorSpec::None => ErrorModel::One(Hit::NEVER),
        sc::ErrorSpec::Packet { per, control_per, .. } => ErrorModel::One(Hit::Packet { per, control_per }),
        sc::ErrorSpec::Bit { ber, control, .. } => ErrorModel::One(Hit::Bit { ber, control }),
        sc::ErrorSpec::TwoState { good, bad, sojourn, shared, control, .. } => ErrorModel::Two {
            good: state(good, control),
            bad: state(bad, control),
            sojourn: match sojourn {
                sc::Sojourn::Time { mean_good, mean_bad } => Sojourn::Time { good: mean_good, bad: mean_bad },
                sc::Sojourn::Frames { mean_good, mean_bad } => Sojourn::Frame { good: mean_good, bad: mean_bad },
            },
            shared: shared == sc::Shared::Link,
        },
    }
}

fn state(error: sc::StateError, control: bool) -> Hit {
    match error {
        sc::StateError::Per(per) => Hit::Packet { per, control_per: if control { per } else { 0.0 } },
        sc::StateError::Ber(ber) => Hit::Bit { ber, control },
    }
}

/// The agents of each node, in the order of the file.
fn agents(scenario: &Scenario) -> Result<Vec<Vec<Box<dyn Agent>>>> {
    let nodes = scenario.nodes.len();
    let mut agents: Vec<Vec<Box<dyn Agent>>> = (0..nodes).map(|_| Vec::new()).collect();
    // Who holds an exclusive port at a node.
    let mut holders: Vec<Vec<(Port, usize)>> = vec![Vec::new(); nodes];
    for (i, used) in scenario.schemes.iter().enumerate() {
        let Some(scheme) = schemes::find(used.name) else { continue };
        let all: Vec<NodeId> = (0..nodes as u32).map(NodeId).collect();
        let places = used.at.as_ref().unwrap_or(&all);
        let mut sits = false;
        for node in places {
            let Some(agent) = (scheme.build)(&site(scenario, *node), &used.params) else {
                if used.at.is_some() {
                    let name = &scenario.nodes[node.index()].name;
                    let message = format!("{} does not sit at \"{name}\"", used.name);
                    return Err(InputError { path: format!("scheme[{i}].at"), message });
                }
                continue;
            };
            for port in [Port::TxQueue, Port::Classifier, Port::Exchange] {
                if !scheme.info.turns(port) {
                    continue;
                }
                if let Some((_, other)) = holders[node.index()].iter().find(|(p, _)| *p == port) {
                    let (name, at) = (&scenario.nodes[node.index()].name, scenario.schemes[*other].name);
                    let message = format!("{at} and {} both claim the {port:?} of \"{name}\"", used.name);
                    return Err(InputError { path: format!("scheme[{i}].name"), message });
                }
                holders[node.index()].push((port, i));
            }
            sits = true;
            agents[node.index()].push(agent);
        }
        if !sits {
            let message = format!("{} sits at no node of this scenario", used.name);
            return Err(InputError { path: format!("scheme[{i}].name"), message });
        }
    }
    Ok(agents)
}

fn site(scenario: &Scenario, node: NodeId) -> Site {
    let mut policies = scenario.flows.iter().flat_map(|flow| {
        let sc::Transport::Tcp(spec) = &flow.transport else { return Vec::new() };
        let reads = [(flow.to, &flow.traffic), (flow.from, &flow.reverse)];
        let here = reads.into_iter().filter(|(at, traffic)| *at == node && **traffic != sc::Traffic::None);
        here.map(|_| policy(spec)).collect()
    });
    let first = policies.next();
    let receiver = first.filter(|one| policies.all(|other| other == *one));
    Site {
        node,
        nodes: scenario.nodes.len(),
        has_air: true,
        forwards: scenario.nodes[node.index()].role == sc::Role::Ap,
        receiver,
    }
}

/// The receiver policy of a flow.
fn policy(spec: &sc::TcpSpec) -> &'static str {
    let chosen = spec.receiver.as_deref().unwrap_or(DEFAULT_POLICY);
    tcp::ack::NAMES.iter().copied().find(|name| *name == chosen).unwrap_or(DEFAULT_POLICY)
}

/// What `tcp::Config` makes when nobody says anything.
const DEFAULT_POLICY: &str = "delayed-ack";

fn tcp_config(spec: &sc::TcpSpec, initial_sequence: u32, path: &str) -> Result<tcp::Config> {
    let mut config = tcp::Config::default();
    config.mss = u16::try_from(spec.datagram.0.saturating_sub(40)).unwrap_or(u16::MAX);
    if let Some(make) = spec.congestion.as_deref().and_then(tcp::cc::find) {
        config.congestion = make;
    }
    if let Some(make) = tcp::ack::find(policy(spec)) {
        config.ack_policy = make;
    }
    let set = |to: &mut Dur, from: Option<Dur>| *to = from.unwrap_or(*to);
    set(&mut config.min_rto, spec.min_rto);
    set(&mut config.initial_rto, spec.initial_rto);
    set(&mut config.max_rto, spec.max_rto);
    set(&mut config.granularity, spec.granularity);
    set(&mut config.delayed_ack_timeout, spec.delayed_ack_timeout);
    let set = |to: &mut bool, from: Option<bool>| *to = from.unwrap_or(*to);
    set(&mut config.nagle, spec.nagle);
    set(&mut config.timestamps, spec.timestamps);
    set(&mut config.sack, spec.sack);
    set(&mut config.limited_transmit, spec.limited_transmit);
    config.delayed_ack_count = spec.delayed_ack_count.map_or(config.delayed_ack_count, u32::from);
    config.initial_window_segments = spec.initial_window.unwrap_or(config.initial_window_segments);
    config.max_window_segments = spec.max_window.or(config.max_window_segments);
    config.send_buffer = spec.send_buffer.unwrap_or(config.send_buffer);
    config.receive_buffer = spec.receive_buffer.unwrap_or(config.receive_buffer);
    config.initial_ssthresh = match spec.initial_ssthresh {
        None => config.initial_ssthresh,
        Some(sc::Ssthresh::Unlimited) => None,
        Some(sc::Ssthresh::Bytes(bytes)) => Some(bytes),
    };
    config.window_scale = match spec.window_scale {
        None => config.window_scale,
        Some(sc::WindowScale::Off) => None,
        Some(sc::WindowScale::Shift(shift)) => Some(shift),
        Some(sc::WindowScale::Auto) => {
            let buffer = config.receive_buffer.0;
            Some((0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14))
        }
    };
    config.initial_sequence = Seq(spec.initial_sequence.unwrap_or(initial_sequence));
    config.check().map_err(|error| {
        let text = error.to_string();
        let (key, message) = text.split_once(": ").unwrap_or(("", &text));
        let key = if key == "mss" { "datagram" } else { key };
        InputError { path: format!("{path}.transport.{key}"), message: message.to_owned() }
    })?;
    Ok(config)
}

fn flow(flow: &sc::Flow, index: u32, streams: &Streams, agents: &mut [Vec<Box<dyn Agent>>]) -> Result<Flow> {
    let entity = |end: u64| u64::from(index) * 2 + end;
    let ports = [49_152 + (index % 16_384) as u16, 5_000 + (index % 44_000) as u16];
    let transport = match &flow.transport {
        sc::Transport::Udp(_) => Transport::Udp { sent: 0 },
        sc::Transport::Tcp(spec) => {
            let mut ends = [0u64, 1].map(|end| {
                let mut draws = streams.get(Purpose::Transport, entity(end));
                tcp_config(spec, draws.below(1 << 16) << 16 | draws.below(1 << 16), &format!("flow[{index}]"))
            });
            let take = |end: &mut Result<tcp::Config>| std::mem::replace(end, Ok(tcp::Config::default()));
            let mut connections = [
                Connection::open(take(&mut ends[0])?, ports[0], ports[1]),
                Connection::listen(take(&mut ends[1])?, ports[1], ports[0]),
            ];
            for (end, node) in [flow.from, flow.to].into_iter().enumerate() {
                let id = if end == 0 { FlowId::forward(index) } else { FlowId::forward(index).reverse() };
                for agent in &mut agents[node.index()] {
                    if let Some(hook) = agent.sender_hook(id) {
                        connections[end].set_hook(hook);
                    }
                }
            }
            Transport::Tcp(connections)
        }
    };
    let source = |traffic, end| Source::new(traffic, streams.get(Purpose::Traffic, entity(end)));
    Ok(Flow {
        name: flow.name.clone(),
        ends: [flow.from, flow.to],
        ports,
        datagram: flow.transport.datagram(),
        transport,
        sources: [source(flow.traffic, 0), source(flow.reverse, 1)],
        sinks: [Sink::new(sc::Reader::Instant), Sink::new(flow.reader)],
        stop: SimTime::ZERO + flow.stop,
        delivered: [Delivered::default(); 2],
        warm: [Delivered::default(); 2],
        warm_counters: [tcp::Counters::default(); 2],
        ip_id: [0; 2],
        is_started: false,
        failed: None,
    })
}

fn agenda(scenario: &Scenario, taps: &Taps) -> Vec<(SimTime, Appointment)> {
    let at = |dur: Dur| SimTime::ZERO + dur;
    let mut agenda = Vec::new();
    for (i, flow) in scenario.flows.iter().enumerate() {
        agenda.push((at(flow.start), Appointment::Start(i as u32)));
        if flow.stop < scenario.duration {
            agenda.push((at(flow.stop), Appointment::Stop(i as u32)));
        }
    }
    agenda.extend(scenario.events.iter().map(|event| (at(event.at), Appointment::Scenario(event.what))));
    agenda.push((at(scenario.warmup), Appointment::WarmupEnds));
    if let Some(every) = taps.sampling() {
        let samples = scenario.duration / every;
        agenda.extend((1..=samples).map(|i| (at(every * i), Appointment::Sample)));
    }
    agenda.push((at(scenario.duration), Appointment::End));
    agenda
}
