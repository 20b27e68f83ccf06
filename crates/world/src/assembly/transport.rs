//! Transport ends and applications out of a scenario.

use super::Result;
use crate::flow::{Delivered, Flow, Sink, Source, Transport};
use crate::scenario::{self as sc, InputError};
use engine::{Purpose, Streams};
use schemes::{Agent, Port};
use tcp::Connection;
use units::{Bytes, Dur, FlowId, SimTime};
use wire::Seq;

/// The receiver policy of a flow.
pub(super) fn policy(spec: &sc::TcpSpec) -> &'static str {
    let chosen = spec.receiver.as_deref().unwrap_or(DEFAULT_POLICY);
    tcp::ack::NAMES.iter().copied().find(|name| *name == chosen).unwrap_or(DEFAULT_POLICY)
}

/// What `tcp::Config` makes when nobody says anything.
const DEFAULT_POLICY: &str = "delayed-ack";

fn tcp_config(spec: &sc::TcpSpec, initial_sequence: u32, path: &str) -> Result<tcp::Config> {
    let mss = u16::try_from(spec.datagram.0.saturating_sub(40)).unwrap_or(u16::MAX);
    let mut config = tcp::Config { mss, ..tcp::Config::default() };
    if let Some(chosen) = spec.congestion.as_deref().and_then(tcp::cc::find) {
        config.congestion = chosen;
    }
    if let Some(chosen) = tcp::ack::find(policy(spec)) {
        config.ack_policy = chosen;
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
    set(&mut config.ecn, spec.ecn);
    set(&mut config.limited_transmit, spec.limited_transmit);
    set(&mut config.handshake_rtt, spec.handshake_rtt);
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

pub(super) fn flow(
    flow: &sc::Flow,
    index: u32,
    streams: &Streams,
    agents: &mut [Vec<Box<dyn Agent>>],
) -> Result<Flow> {
    let entity = |end: u64| u64::from(index) * 2 + end;
    // Both from the dynamic range (RFC 6335): no dissector takes the payload for a protocol of its own.
    let ports = [49_152, 57_344].map(|first: u16| first + (index % 8_192) as u16);
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
                let may = |agent: &&mut Box<dyn Agent>| {
                    [Port::LossResponse, Port::RttSample].iter().any(|port| agent.info().turns(*port))
                };
                for agent in agents[node.index()].iter_mut().filter(may) {
                    if let Some(hook) = agent.sender_hook(id) {
                        connections[end].set_hook(hook);
                    }
                }
            }
            Transport::Tcp(connections)
        }
    };
    let buffer = match &flow.transport {
        sc::Transport::Tcp(spec) => spec.send_buffer.unwrap_or(tcp::Config::default().send_buffer),
        sc::Transport::Udp(_) => Bytes::ZERO,
    };
    let source = |traffic, end| Source::new(traffic, streams.get(Purpose::Traffic, entity(end)), buffer);
    Ok(Flow {
        name: flow.name.clone(),
        ends: [flow.from, flow.to],
        ports,
        tos: flow.dscp << 2,
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
        finished: None,
        failed: None,
        ack_gaps: flow.ack_gaps.then(Default::default),
    })
}
