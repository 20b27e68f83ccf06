//! Transport ends and applications out of a scenario.

use super::{Result, all};
use crate::flow::{Delivered, Flow, Owner, Sink, Source, Stated, Transport};
use crate::latency::Latency;
use crate::registries::Registries;
use crate::scenario::{self as sc, InputError, Plug, Registered, Scenario};
use crate::shared::Shared;
use crate::users::User;
use engine::{Purpose, Streams};
use plugin::{Chosen, Registry};
use std::sync::Arc;
use tcp::Connection;
use units::{Bytes, SimTime};
use wire::Seq;

/// The receiver policy of a flow.
pub(super) fn policy(spec: &sc::Tcp) -> &'static str {
    spec.receiver.as_ref().map_or_else(|| spec.preset().config(1460).ack_policy.info.id, Plug::id)
}

/// The TCP of each flow; `None` for UDP.
pub(crate) fn tcps(scenario: &Scenario, registries: &Registries) -> Result<Vec<Option<Arc<tcp::Config>>>> {
    let config = |(i, flow): (usize, &sc::Flow)| {
        let transport = &flow.entry.transport;
        transport.tcp().map(|spec| tcp_config(spec, transport.datagram, registries, i).map(Arc::new)).transpose()
    };
    all(scenario.flows.iter().enumerate().map(config))
}

/// The registry's plug-in that a scenario names, with the scenario's parameters.
pub(super) fn chosen<K: Registered, T: Copy>(registry: &Registry<T>, plug: &Plug<K>) -> Chosen<T> {
    let entry = registry.find(plug.id()).expect("the scenario was read with this registry");
    entry.with(plug.chosen.params.clone())
}

fn tcp_config(spec: &sc::Tcp, datagram: Bytes, registries: &Registries, flow: usize) -> Result<tcp::Config> {
    let mss = u16::try_from(datagram.0.saturating_sub(40)).unwrap_or(u16::MAX);
    let mut config = spec.preset().config(mss);
    if let Some(plug) = &spec.congestion {
        let mut named = chosen(&registries.congestion, plug);
        if named.info.id == config.congestion.info.id {
            // The preset's own, named: Linux's CUBIC stays Linux's.
            named.params = named.params.over(&config.congestion.params);
        }
        config.congestion = named;
    }
    if let Some(plug) = &spec.receiver {
        config.ack_policy = chosen(&registries.receivers, plug);
    }
    if let Some(plug) = &spec.recovery {
        config.recovery = Some(chosen(&registries.recoveries, plug));
    }
    spec.configure(&mut config);
    config.check().map_err(|error| {
        let text = error.to_string();
        let (key, message) = text.split_once(": ").unwrap_or(("", &text));
        let key = if key == "mss" { "datagram" } else { key };
        InputError::new(format!("flow[{flow}].transport.{key}"), message.to_owned())
    })?;
    Ok(config)
}

/// The words of a scenario for a plug-in of a configuration: all its parameters.
fn plug<K, T>(chosen: &Chosen<T>) -> Plug<K> {
    let mut params = plugin::Params::defaults(chosen.info.params);
    chosen.params.iter().for_each(|(key, value)| params.set(key, value));
    Plug::new(chosen.info, params)
}

/// Every key of a connection, as `config` has it.
pub(crate) fn keys(spec: &sc::Tcp, config: &tcp::Config) -> sc::Tcp {
    sc::Tcp {
        congestion: Some(plug(&config.congestion)),
        recovery: config.recovery.as_ref().map(plug),
        receiver: Some(plug(&config.ack_policy)),
        ..spec.effective(config)
    }
}

/// The user of a flow.
fn user(shared: &Shared, index: u32, config: &Arc<tcp::Config>, streams: &Streams) -> User {
    let plug = shared.scenario.flows[index as usize].user().expect("the caller has seen one");
    let chosen = chosen(&shared.registries.traffic, plug);
    let entity = u64::from(index) * 2;
    let draws = streams.get(Purpose::Traffic, entity);
    let model = (chosen.plugin)(traffic::Given { params: &chosen.params, draws });
    User::new(model, Arc::clone(config), streams.get(Purpose::Transport, entity))
}

/// A flow of the scenario, without the say of schemes in its senders.
pub(super) fn flow(shared: &Shared, index: u32, streams: &Streams) -> Flow {
    let flow = &shared.scenario.flows[index as usize];
    let spec = &flow.entry.transport;
    let entity = |end: u64| u64::from(index) * 2 + end;
    // Both from the dynamic range (RFC 6335): no dissector takes the payload for a protocol of its own.
    let ports = [49_152, 57_344].map(|first: u16| first + (index % 8_192) as u16);
    let transport = match (&shared.tcps[index as usize], spec.tcp()) {
        (Some(config), Some(_)) if flow.user().is_some() => {
            Transport::User(Box::new(user(shared, index, config, streams)))
        }
        (Some(config), Some(keys)) => {
            let mut ends = Box::new([
                Connection::open(Arc::clone(config), ports[0], ports[1]),
                Connection::listen(Arc::clone(config), ports[1], ports[0]),
            ]);
            for (end, connection) in (0u64..).zip(ends.iter_mut()) {
                let mut draws = streams.get(Purpose::Transport, entity(end));
                let drawn = draws.below(1 << 16) << 16 | draws.below(1 << 16);
                connection.set_initial_sequence(Seq(keys.initial_sequence.unwrap_or(drawn)));
            }
            ends[0].watch_windows();
            Transport::Tcp(ends)
        }
        _ => Transport::Udp { sent: 0 },
    };
    let buffer = shared.tcps[index as usize].as_ref().map_or(Bytes::ZERO, |config| config.send_buffer);
    let source = |traffic, end| Source::new(traffic, streams.get(Purpose::Traffic, entity(end)), buffer);
    let stated = Stated {
        name: flow.name.clone(),
        datagram: spec.datagram,
        sources: [source(flow.traffic(), 0), source(flow.reverse(), 1)],
        sinks: [Sink::new(sc::Reader::Instant), Sink::new(flow.reader())],
        stop: SimTime::ZERO + flow.stop,
        delivered: [Delivered::default(); 2],
        warm: [Delivered::default(); 2],
        warm_counters: [tcp::Counters::default(); 2],
        warm_windows: tcp::WindowTime::default(),
        is_started: false,
        finished: None,
        latency: Latency::default(),
        ack_gaps: (flow.entry.ack_gaps == Some(true)).then(Default::default),
    };
    Flow {
        ends: [flow.from, flow.to],
        ports,
        ip_id: [0; 2],
        tos: flow.entry.dscp << 2,
        has_failed: false,
        transport,
        owner: Owner::Scenario(Box::new(stated)),
    }
}
