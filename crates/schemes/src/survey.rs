//! The claims of a scheme, found out by installing it.

use crate::claims::Claims;
use crate::site::{NodeFacts, Powers};
use crate::stack::{Radio, Stack};
use crate::{Chosen, Install, Kind, Params, Value};
use engine::Streams;
use mac::{Config, Edca, TxopLimits};
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
/// station, a wired host; each under EDCA and under DCF), with its default parameters and with each other value of each
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

fn at_samples(chosen: &Chosen<Install>) -> Claims {
    let station = NodeFacts {
        id: NodeId(1),
        name: "sample",
        nodes: 4,
        has_air: true,
        address: Ipv4Addr::new(10, 0, 0, 1),
        forwards: false,
        starts_flows: true,
        ends_flows: true,
        access_point: Some(ACCESS_POINT),
        receiver: None,
        standard: Standard::A,
        queue: Limit::Packets(100),
        mtu: Bytes(1500),
    };
    let access_point = NodeFacts { id: ACCESS_POINT, forwards: true, access_point: None, ..station };
    let relay = NodeFacts { starts_flows: false, ends_flows: false, ..access_point };
    let host = NodeFacts { id: NodeId(3), has_air: false, access_point: None, ..station };
    let dcf = Config::of(Standard::A, Standard::A.modes()[0]);
    let edca = dcf.clone().with_edca(Edca::standard(Standard::A, &dcf.timing, TxopLimits::Zero));
    let mut claims = Claims::none(chosen.info.id);
    for node in [station, access_point, relay, host] {
        for mac in [&dcf, &edca] {
            let mut stack = Stack::new(Radio { mac: mac.clone(), tx_power: Dbm(16.0) });
            // Where it refuses to be, it asks for nothing.
            if stack.install(chosen, node, Some(&Sample), Streams::new(1)).is_ok() {
                claims = stack.claims.iter().fold(claims, |claims, own| claims.with(*own));
            }
        }
    }
    claims
}
