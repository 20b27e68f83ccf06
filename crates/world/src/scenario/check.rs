//! Third pass: what keys say together.

use super::InputError;
use super::types::*;
use plugin::suggest;
use std::collections::BTreeMap;
use units::{BitRate, Bytes, Dur, NodeId};

type Result<T> = std::result::Result<T, InputError>;

/// The greatest MSDU, less LLC/SNAP: the greatest IP datagram. @80211-2020 9.2.4.8
const GREATEST_DATAGRAM: Bytes = Bytes(2304 - 8);
/// IPv4 and TCP, without options.
const TCP_HEADERS: u64 = 40;
/// The timestamps option, padded. @RFC7323 appendix A
const TIMESTAMPS: u64 = 12;
/// IPv4 and UDP.
const UDP_HEADERS: u64 = 28;

/// Finds the first contradiction.
pub(super) fn check(s: &Scenario) -> Result<()> {
    if s.warmup >= s.duration {
        let message = format!("{} leaves nothing of a run of {}", s.warmup, s.duration);
        return Err(InputError::new("scenario.warmup", message));
    }
    radio(&s.radio)?;
    for node in &s.nodes {
        rate_of(&s.radio, node.data_rate, || format!("node[{}].data_rate", node.entry.0))?;
    }
    pairs(s)?;
    links(s)?;
    queues(s)?;
    flows(s)?;
    schemes(s)?;
    for (i, event) in s.events.iter().enumerate() {
        if event.at > s.duration {
            let message = format!("{} is after the end of the run at {}", event.at, s.duration);
            return Err(InputError::new(format!("event[{i}].at"), message));
        }
    }
    Ok(())
}

fn rate_of(radio: &Radio, rate: BitRate, path: impl FnOnce() -> String) -> Result<()> {
    let rates: Vec<BitRate> = radio.standard.rates_kbps().iter().map(|kbps| BitRate::from_kbps(*kbps)).collect();
    if rates.contains(&rate) {
        return Ok(());
    }
    let rates: Vec<String> = rates.iter().map(ToString::to_string).collect();
    let message =
        format!("{} has no rate \"{rate}\"; there are {}", radio.standard.word(), suggest::list_all(&rates));
    Err(InputError::new(path(), message))
}

fn radio(radio: &Radio) -> Result<()> {
    rate_of(radio, radio.data_rate, || "radio.data_rate".to_owned())?;
    if let Some(rate) = radio.basic_rate {
        rate_of(radio, rate, || "radio.basic_rate".to_owned())?;
    }
    if let ControlRate::Fixed(rate) = radio.control_rate {
        rate_of(radio, rate, || "radio.control_rate".to_owned())?;
    }
    // The shortest frame of all: an ACK at 54 Mb/s, 20 us and one symbol of 4. @80211-2020 17.3.2.2
    let shortest = Dur::from_us(24);
    if radio.levels.cca_preamble_latency >= shortest {
        let message =
            format!("{} is not less than the shortest frame, {shortest}", radio.levels.cca_preamble_latency);
        return Err(InputError::new("radio.cca_preamble_latency", message));
    }
    if radio.standard == Standard::Dot11 && radio.preamble == Some(Preamble::Short) {
        let message = "802.11 has only the long preamble; 802.11b and 802.11g have a short one";
        return Err(InputError::new("radio.preamble", message));
    }
    // The standard's own, as the table of domain.md has them; needed here only where one of the two is written.
    let least = if matches!(radio.standard, Standard::Dot11 | Standard::Dot11b) { 31 } else { 15 };
    let (min, max) = (radio.cw_min.unwrap_or(least), radio.cw_max.unwrap_or(1023));
    if min > max {
        let (key, whose) = if radio.cw_max.is_some() {
            ("cw_max", if radio.cw_min.is_some() { "" } else { ", the standard's" })
        } else {
            ("cw_min", ", the standard's")
        };
        let message = match key {
            "cw_max" => format!("{max} is less than cw_min, {min}{whose}"),
            _ => format!("{min} is greater than cw_max, {max}{whose}"),
        };
        return Err(InputError::new(format!("radio.{key}"), message));
    }
    Ok(())
}

/// Whether powers decide: then a pair has a gain and no reach, otherwise the reverse.
fn pairs(s: &Scenario) -> Result<()> {
    for (i, pair) in s.channel.pairs.iter().enumerate() {
        let wrong = match (&s.channel.propagation, pair.gain, pair.reach) {
            (None, Some(_), _) => Some(("gain", "has an effect only with channel.propagation")),
            (Some(_), _, Some(_)) => {
                Some(("reach", "powers decide who hears whom where channel.propagation is given; write a gain"))
            }
            _ => None,
        };
        if let Some((key, message)) = wrong {
            return Err(InputError::new(format!("channel.pair[{i}].{key}"), message));
        }
    }
    let mut given: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for (i, pair) in s.channel.pairs.iter().enumerate() {
        for (key, node) in [
            (if pair.both_ways { "between[0]" } else { "from" }, pair.from),
            (if pair.both_ways { "between[1]" } else { "to" }, pair.to),
        ] {
            if !s.nodes[node.index()].has_radio {
                let message = format!("\"{}\" has no radio", s.nodes[node.index()].name);
                return Err(InputError::new(format!("channel.pair[{i}].{key}"), message));
            }
        }
        let back = pair.both_ways.then_some((pair.to, pair.from));
        for direction in std::iter::once((pair.from, pair.to)).chain(back) {
            if let Some(first) = given.insert(direction, i) {
                let (from, to) = (&s.nodes[direction.0.index()].name, &s.nodes[direction.1.index()].name);
                let message = format!("channel.pair[{first}] speaks of \"{from}\" to \"{to}\" already");
                return Err(InputError::new(format!("channel.pair[{i}]"), message));
            }
        }
    }
    Ok(())
}

fn links(s: &Scenario) -> Result<()> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut given: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for (i, link) in s.links.iter().enumerate() {
        if let Some(first) = names.insert(&link.name, i) {
            let message = format!("link[{first}] is called \"{}\" already", link.name);
            return Err(InputError::new(format!("link[{i}].name"), message));
        }
        for direction in link.directions() {
            if let Some(first) = given.insert(direction, i) {
                let (from, to) = (&s.nodes[direction.0.index()].name, &s.nodes[direction.1.index()].name);
                let message = format!("link[{first}] leads from \"{from}\" to \"{to}\" already");
                return Err(InputError::new(format!("link[{i}]"), message));
            }
        }
    }
    Ok(())
}

/// Each queue with its path.
fn all_queues(s: &Scenario) -> impl Iterator<Item = (String, &Queue)> {
    let links = s.links.iter().enumerate().map(|(i, link)| (format!("link[{i}].queue"), &link.queue));
    std::iter::once(("radio.queue".to_owned(), &s.radio.queue)).chain(links)
}

fn queues(s: &Scenario) -> Result<()> {
    for (path, queue) in all_queues(s) {
        if let QueueLimit::Bytes(limit) = queue.limit
            && let Some(flow) = s.flows.iter().find(|flow| limit < flow.transport.datagram())
        {
            let (datagram, Entry(i)) = (flow.transport.datagram(), flow.entry);
            let message = format!("{limit} holds not one datagram of {datagram} (flow[{i}])");
            return Err(InputError::new(format!("{path}.bytes"), message));
        }
        let Discipline::Red { min_th, max_th, max_p, weight, .. } = queue.discipline else { continue };
        if max_th <= min_th {
            return Err(InputError::new(format!("{path}.max_th"), format!("{max_th} is not above min_th, {min_th}")));
        }
        for (key, value) in [("max_p", max_p), ("weight", weight)] {
            if value <= 0.0 {
                return Err(InputError::new(format!("{path}.{key}"), "must be more than zero"));
            }
        }
    }
    Ok(())
}

fn flows(s: &Scenario) -> Result<()> {
    let mut given: BTreeMap<&str, usize> = BTreeMap::new();
    for flow in &s.flows {
        let i = flow.entry.0;
        let wrong = |key: &str, message: String| Err(InputError::new(format!("flow[{i}].{key}"), message));
        if let Some(first) = given.insert(&flow.name, i) {
            return wrong("name", format!("flow[{first}] is called \"{}\" already", flow.name));
        }
        if flow.start >= s.duration {
            return wrong("start", format!("{} is not before the end of the run at {}", flow.start, s.duration));
        }
        if flow.stop <= flow.start {
            return wrong("stop", format!("{} is not after the start at {}", flow.stop, flow.start));
        }
        let datagram = flow.transport.datagram();
        let (headers, what) = match &flow.transport {
            Transport::Tcp(TcpSpec { timestamps: Some(true), .. }) => {
                (TCP_HEADERS + TIMESTAMPS, "TCP/IP headers and timestamps")
            }
            Transport::Tcp(_) => (TCP_HEADERS, "TCP/IP headers"),
            Transport::Udp(_) => (UDP_HEADERS, "UDP/IP headers"),
        };
        if datagram <= Bytes(headers) {
            let message = format!("{datagram} has no room for data beside {headers} B of {what}");
            return wrong("transport.datagram", message);
        }
        if datagram > GREATEST_DATAGRAM {
            let message = format!("{datagram} does not fit an MSDU; {GREATEST_DATAGRAM} is the most");
            return wrong("transport.datagram", message);
        }
        let udp = matches!(flow.transport, Transport::Udp(_));
        let refused = match (udp, flow.traffic) {
            (true, Traffic::None) => Some(("none", "cbr, poisson or saturated")),
            (true, Traffic::Bulk { .. }) => Some(("bulk", "cbr, poisson or saturated")),
            (true, Traffic::Chunks { .. }) => Some(("chunks", "cbr, poisson or saturated")),
            (false, Traffic::Saturated) => Some(("saturated", "bulk, cbr, poisson or chunks")),
            _ => None,
        };
        if let Some((word, instead)) = refused {
            let protocol = if udp { "UDP" } else { "TCP" };
            return wrong("traffic.model", format!("\"{word}\" is not for {protocol}; take {instead}"));
        }
        if flow.reverse == Traffic::Saturated {
            return wrong(
                "reverse.model",
                "\"saturated\" is not for TCP; take bulk, cbr, poisson or chunks".to_owned(),
            );
        }
        if let Transport::Tcp(tcp) = &flow.transport {
            for (key, rto) in [("min_rto", tcp.min_rto), ("initial_rto", tcp.initial_rto)] {
                if let (Some(rto), Some(max)) = (rto, tcp.max_rto)
                    && rto > max
                {
                    return wrong(&format!("transport.{key}"), format!("{rto} is more than max_rto, {max}"));
                }
            }
        }
    }
    Ok(())
}

/// No scheme twice at one node.
fn schemes(s: &Scenario) -> Result<()> {
    let mut given: BTreeMap<(&str, Option<NodeId>), usize> = BTreeMap::new();
    let mut anywhere: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, scheme) in s.schemes.iter().enumerate() {
        let everywhere = given.get(&(scheme.name, None)).copied();
        let clash = if scheme.at.is_none() { anywhere.get(scheme.name).copied() } else { everywhere };
        if let Some(first) = clash {
            let message = format!("scheme[{first}] is \"{}\" too, and one of them sits wherever it can", scheme.name);
            return Err(InputError::new(format!("scheme[{i}].name"), message));
        }
        anywhere.entry(scheme.name).or_insert(i);
        let places: Vec<Option<NodeId>> = match &scheme.at {
            None => vec![None],
            Some(nodes) => nodes.iter().copied().map(Some).collect(),
        };
        for (k, place) in places.into_iter().enumerate() {
            if let (Some(first), Some(node)) = (given.insert((scheme.name, place), i), place) {
                let name = &s.nodes[node.index()].name;
                let message = format!("scheme[{first}] is \"{}\" at \"{name}\" already", scheme.name);
                return Err(InputError::new(format!("scheme[{i}].at[{k}]"), message));
            }
        }
    }
    Ok(())
}
