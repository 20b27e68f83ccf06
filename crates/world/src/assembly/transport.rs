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

/// What a scenario gets that names no preset.
const DEFAULT: tcp::Preset = tcp::Preset::Linux;

/// The preset of a flow.
fn preset(spec: &sc::Tcp) -> tcp::Preset {
    spec.preset.unwrap_or(DEFAULT)
}

/// The receiver policy of a flow.
pub(super) fn policy(spec: &sc::Tcp) -> &'static str {
    spec.receiver.as_ref().map_or_else(|| preset(spec).config(1460).ack_policy.info.id, Plug::id)
}

/// The TCP of each flow; `None` for UDP.
pub(crate) fn tcps(scenario: &Scenario, registries: &Registries) -> Result<Vec<Option<Arc<tcp::Config>>>> {
    let config = |(i, flow): (usize, &sc::Flow)| {
        let transport = &flow.entry.transport;
        transport.tcp().map(|spec| tcp_config(spec, transport.datagram, registries, i).map(Arc::new)).transpose()
    };
    all(scenario.flows.iter().enumerate().map(config))
}

/// What a registry has of a plug-in that a scenario names, with the scenario's parameters.
pub(super) fn chosen<K: Registered, T: Copy>(registry: &Registry<T>, plug: &Plug<K>) -> Chosen<T> {
    let entry = registry.find(plug.id()).expect("the scenario was read with this registry");
    entry.with(plug.chosen.params.clone())
}

/// Keys that are called as the field of `tcp::Config` that they set.
macro_rules! same {
    ($spec:ident => $config:ident: $($field:ident)*) => {
        $($config.$field = $spec.$field.unwrap_or($config.$field);)*
    };
}

fn tcp_config(spec: &sc::Tcp, datagram: Bytes, registries: &Registries, flow: usize) -> Result<tcp::Config> {
    let mss = u16::try_from(datagram.0.saturating_sub(40)).unwrap_or(u16::MAX);
    let preset = preset(spec);
    let mut config = preset.config(mss);
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
    same!(spec => config: prr rack tlp undo hystart pacing);
    same!(spec => config: min_rto initial_rto max_rto granularity delayed_ack_timeout);
    same!(spec => config: quickack nagle timestamps sack ecn limited_transmit handshake_rtt send_buffer receive_buffer);
    same!(spec => config: timestamp_tick count_delivered local_congestion dup_ack_threshold idle_restart validate_cwnd time_wait syn_retries max_retries);
    if !config.repairs_by_sack() {
        // Without SACK recovery, which a key beside the preset has switched off, the preset's own of it falls away.
        config.prr &= spec.prr.is_some();
        config.rack &= spec.rack.is_some();
        config.tlp &= spec.tlp.is_some();
    }
    config.byte_counting = match spec.byte_counting {
        None => config.byte_counting,
        Some(sc::ByteCounting::Off) => None,
        Some(sc::ByteCounting::Limit(limit)) => Some(limit),
    };
    config.user_timeout = match spec.user_timeout {
        None => config.user_timeout,
        Some(sc::UserTimeout::Off) => None,
        Some(sc::UserTimeout::After(time)) => Some(time),
    };
    config.delayed_ack_count = spec.delayed_ack_count.map_or(config.delayed_ack_count, u32::from);
    config.initial_window_segments = spec.initial_window.unwrap_or(config.initial_window_segments);
    config.max_window_segments = spec.max_window.or(config.max_window_segments);
    config.initial_ssthresh = match spec.initial_ssthresh {
        None => config.initial_ssthresh,
        Some(sc::Ssthresh::Unlimited) => None,
        Some(sc::Ssthresh::Bytes(bytes)) => Some(bytes),
    };
    config.window_scale = match spec.window_scale {
        None if preset.scales() => Some(tcp::window_scale(config.receive_buffer)),
        None => config.window_scale,
        Some(sc::WindowScale::Off) => None,
        Some(sc::WindowScale::Shift(shift)) => Some(shift),
        Some(sc::WindowScale::Auto) => Some(tcp::window_scale(config.receive_buffer)),
    };
    config.check().map_err(|error| {
        let text = error.to_string();
        let (key, message) = text.split_once(": ").unwrap_or(("", &text));
        let key = if key == "mss" { "datagram" } else { key };
        InputError::new(format!("flow[{flow}].transport.{key}"), message.to_owned())
    })?;
    Ok(config)
}

/// What a scenario says of a plug-in that a configuration has: all its parameters.
fn plug<K, T>(chosen: &Chosen<T>) -> Plug<K> {
    let mut params = plugin::Params::defaults(chosen.info.params);
    chosen.params.iter().for_each(|(key, value)| params.set(key, value));
    Plug::new(chosen.info, params)
}

/// Every key of a connection, as `config` has it; what `spec` alone says stays.
pub(crate) fn keys(spec: &sc::Tcp, config: &tcp::Config) -> sc::Tcp {
    sc::Tcp {
        preset: Some(preset(spec)),
        congestion: Some(plug(&config.congestion)),
        recovery: config.recovery.as_ref().map(plug),
        prr: Some(config.prr),
        rack: Some(config.rack),
        tlp: Some(config.tlp),
        undo: Some(config.undo),
        hystart: Some(config.hystart),
        pacing: Some(config.pacing),
        receiver: Some(plug(&config.ack_policy)),
        delayed_ack_timeout: Some(config.delayed_ack_timeout),
        delayed_ack_count: u8::try_from(config.delayed_ack_count).ok(),
        quickack: Some(config.quickack),
        initial_window: Some(config.initial_window_segments),
        initial_ssthresh: Some(config.initial_ssthresh.map_or(sc::Ssthresh::Unlimited, sc::Ssthresh::Bytes)),
        max_window: config.max_window_segments,
        send_buffer: Some(config.send_buffer),
        receive_buffer: Some(config.receive_buffer),
        min_rto: Some(config.min_rto),
        initial_rto: Some(config.initial_rto),
        max_rto: Some(config.max_rto),
        handshake_rtt: Some(config.handshake_rtt),
        granularity: Some(config.granularity),
        nagle: Some(config.nagle),
        timestamps: Some(config.timestamps),
        timestamp_tick: Some(config.timestamp_tick),
        sack: Some(config.sack),
        window_scale: Some(config.window_scale.map_or(sc::WindowScale::Off, sc::WindowScale::Shift)),
        ecn: Some(config.ecn),
        limited_transmit: Some(config.limited_transmit),
        byte_counting: Some(config.byte_counting.map_or(sc::ByteCounting::Off, sc::ByteCounting::Limit)),
        count_delivered: Some(config.count_delivered),
        local_congestion: Some(config.local_congestion),
        dup_ack_threshold: Some(config.dup_ack_threshold),
        idle_restart: Some(config.idle_restart),
        validate_cwnd: Some(config.validate_cwnd),
        time_wait: Some(config.time_wait),
        syn_retries: Some(config.syn_retries),
        max_retries: Some(config.max_retries),
        user_timeout: Some(config.user_timeout.map_or(sc::UserTimeout::Off, sc::UserTimeout::After)),
        initial_sequence: spec.initial_sequence,
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
