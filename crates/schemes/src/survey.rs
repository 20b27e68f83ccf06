//! The claims of a scheme, and its refusal beside block acknowledgment, found out by installing it.

use crate::claims::Claims;
use crate::site::{NO_BLOCK_ACK, NodeFacts, Powers};
use crate::stack::{Radio, Stack};
use crate::{Chosen, Install, Kind, Params, Value};
use engine::Streams;
use mac::{Aggregation, Config, Edca, TxopLimits};
use phy::Standard;
use plugin::Entry;
use queue::Limit;
use std::net::Ipv4Addr;
use units::{Bytes, Dbm, NodeId};

/// A network of an access point (0), two stations (1, 2) and a host behind a wire (3).
#[derive(Debug)]
struct Sample;

const ACCESS_POINT: NodeId = NodeId(0);

impl Powers for Sample {
    fn mean(&self, from: NodeId, _: NodeId) -> Dbm {
        Dbm(-50.0 - 10.0 * f64::from(from.0))
    }

    fn stations(&self, _: NodeId) -> Vec<NodeId> {
        vec![NodeId(1), NodeId(2)]
    }
}

/// Returns the claims of a scheme at some sample nodes together (an access point with and without flows of its own, a
/// station, a wired host; each under EDCA and under DCF, and with block acknowledgment), with its default parameters and with each other value of each
/// parameter that is a choice or a truth value. Nothing is declared by hand.
pub fn survey(entry: &Entry<Install>) -> Claims {
    let defaults = Params::defaults(entry.info.params);
    let mut all = vec![defaults.clone()];
    for param in entry.info.params {
        let others: Vec<Value> = match param.kind {
            Kind::Choice(words) => words.iter().map(|word| Value::Choice(word)).collect(),
            Kind::Bool => vec![Value::Bool(true), Value::Bool(false)],
            _ => Vec::new(),
        };
        for value in others {
            let mut params = defaults.clone();
            params.set(param.key, value);
            all.push(params);
        }
    }
    let chosen = all.into_iter().map(|params| entry.with(params));
    chosen.fold(Claims::none(entry.info.id), |claims, chosen| claims.with(at_samples(&chosen)))
}

/// Returns the reason for which a scheme, with its default parameters, is refused at a node of 802.11ax that starts agreements of
/// block acknowledgment, as its message has it; `None`: it works there. Nothing is declared by hand.
pub fn refusal_beside_block_ack(entry: &Entry<Install>) -> Option<String> {
    let (chosen, alone) = (entry.chosen(), edca(Standard::Ax));
    let aggregating = Config { aggregation: Some(Aggregation::of(Standard::Ax)), ..alone.clone() };
    let refused = samples(Standard::Ax).into_iter().find_map(|node| {
        // A scheme that is refused without agreements too lacks something else.
        install(&chosen, node, &alone).ok()?;
        install(&chosen, node, &aggregating).err()
    })?;
    let why = refused.split_once("\": ").map_or(&*refused, |(_, why)| why);
    Some(why.strip_suffix(NO_BLOCK_ACK).and_then(|why| why.strip_suffix("; write ")).unwrap_or(why).to_owned())
}

/// A station, an access point with and without flows of its own, a wired host.
fn samples(standard: Standard) -> [NodeFacts<'static>; 4] {
    let station = NodeFacts {
        id: NodeId(1),
        name: "sample",
        nodes: 4,
        has_air: true,
        address: Ipv4Addr::new(10, 0, 0, 1),
        forwards: false,
        starts_flows: true,
        ends_flows: true,
        carries_tcp: true,
        access_point: Some(ACCESS_POINT),
        receiver: None,
        standard,
        queue: Limit::Packets(100),
        mtu: Bytes(1500),
    };
    let access_point = NodeFacts { id: ACCESS_POINT, forwards: true, access_point: None, ..station };
    let relay = NodeFacts { starts_flows: false, ends_flows: false, ..access_point };
    let host = NodeFacts { id: NodeId(3), has_air: false, access_point: None, ..station };
    [station, access_point, relay, host]
}

fn dcf(standard: Standard) -> Config {
    Config::of(standard, standard.modes()[0])
}

fn edca(standard: Standard) -> Config {
    let dcf = dcf(standard);
    let categories = Edca::standard(standard, &dcf.timing, TxopLimits::Zero);
    dcf.with_edca(categories)
}

fn install(chosen: &Chosen<Install>, node: NodeFacts<'_>, mac: &Config) -> Result<Stack, String> {
    let mut stack = Stack::new(Radio { mac: mac.clone(), tx_power: Dbm(16.0) });
    stack.install(chosen, node, Some(&Sample), Streams::new(1))?;
    Ok(stack)
}

fn at_samples(chosen: &Chosen<Install>) -> Claims {
    let mut claims = Claims::none(chosen.info.id);
    let aggregating = || Config { aggregation: Some(Aggregation::of(Standard::N)), ..edca(Standard::N) };
    for (standard, mac) in
        [(Standard::A, dcf(Standard::A)), (Standard::A, edca(Standard::A)), (Standard::N, aggregating())]
    {
        for node in samples(standard) {
            // Where it refuses to be, it asks for nothing.
            if let Ok(stack) = install(chosen, node, &mac) {
                claims = stack.claims.iter().fold(claims, |claims, own| claims.with(*own));
            }
        }
    }
    claims
}
