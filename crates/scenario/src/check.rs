//! The checks of several keys together.

use crate::channel::{Channel, Channels, Delay, Distribution, Ends, Fading, Link, Pair};
use crate::check_mcs;
use crate::error::Mistakes;
use crate::errors::LinkErrors;
use crate::file::{Cut, EventKind, SchemeUse, TimeWindow, TimedEvent};
use crate::flow::{Flow, Protocol, Reader, Traffic};
use crate::mobility;
use crate::node::Node;
use crate::queues::{Per, Queue, RadioQueue};
use crate::radio::{ControlRate, Preamble, Protection, Radio, Slot, bit_rates, has_mcs};
use crate::shape::NEEDS_POWERS;
use crate::words::Words;
use crate::{Names, Result, Scenario};
use phy::{NoSuchMode, Standard};
use plugin::suggest;
use queue::{Limit, Spec, Unsound};
use std::collections::BTreeMap;
use units::{BitRate, Bytes, ChannelId, Dur, NodeId};

/// The greatest MSDU, less LLC/SNAP: the greatest IP datagram. @80211-2020 9.2.4.8
const GREATEST_DATAGRAM: Bytes = Bytes(2304 - 8);
/// IPv4 and TCP, without options.
const TCP_HEADERS: u64 = 40;
/// The timestamps option, padded. @RFC7323 appendix A
const TIMESTAMPS: u64 = 12;
/// IPv4 and UDP.
const UDP_HEADERS: u64 = 28;

/// Finds the contradictions: of each key, or entry of an array, the first.
pub(crate) fn check(s: &Scenario, names: &Names) -> Result<()> {
    let mut found = Mistakes::default();
    found.take(run(s));
    radio(&s.radio, &mut found);
    found.take(standards(s));
    nodes(s, &mut found);
    found.take(fragmentation(s));
    for (id, one) in (0..).map(ChannelId).zip(s.channels.iter()) {
        found.take(channel(one, &Channels::path(id)));
        pairs(s, id, &mut found);
    }
    links(s, &mut found);
    let of_nodes =
        entries(s).filter_map(|node| Some((format!("node[{}].queue", node.index), node.entry.queue.as_ref()?)));
    for (path, RadioQueue { per, queue }) in [("radio.queue".to_owned(), &s.radio.queue)].into_iter().chain(of_nodes)
    {
        found.take(self::queue(s, names, queue, *per != Some(Per::Interface), &path));
    }
    for link in &s.links {
        found.take(queue(s, names, &link.queue, false, &format!("link[{}].queue", link.index)));
    }
    flows(s, &mut found);
    schemes(s, &mut found);
    events(s, &mut found);
    windows(s, &mut found);
    found.into_result()
}

fn run(s: &Scenario) -> Result<()> {
    if s.warmup >= s.duration {
        fail!("scenario.warmup", "{} leaves nothing of a run of {}", s.warmup, s.duration);
    }
    if s.series_every < Dur::from_ms(50) && s.duration / s.series_every > MOST_BUCKETS {
        fail!("scenario.series_every", "{} is more than {MOST_BUCKETS} samples in {}", s.series_every, s.duration);
    }
    Ok(())
}

/// The first node of each entry.
fn entries(s: &Scenario) -> impl Iterator<Item = &Node> {
    let is_first = |i: usize| i == 0 || s.nodes[i - 1].index != s.nodes[i].index;
    s.nodes.iter().enumerate().filter(move |(i, _)| is_first(*i)).map(|(_, node)| node)
}

fn nodes(s: &Scenario, found: &mut Mistakes) {
    let node = |id: NodeId, node: &Node| -> Result<()> {
        let i = node.index;
        rate_of(node.standard, node.data_rate, || format!("node[{i}]"), "data_rate")?;
        for (to, rate) in node.entry.data_rates() {
            let (name, receiver) = (self::name(s, *to), s.nodes[to.index()].standard);
            // What has MCSs sends to an older station in its rates.
            if has_mcs(node.standard) && has_mcs(receiver) {
                fail!("node[{i}].data_rate_to.{name}", "{} has MCSs: take mcs_to", receiver.word());
            }
            for standard in [node.standard, receiver].into_iter().filter(|standard| !has_mcs(*standard)) {
                rate_of(standard, *rate, || format!("node[{i}].data_rate_to"), name)?;
            }
            // A group may have a rate to its own members.
            if *to == id && node.entry.count.is_none() {
                fail!("node[{i}].data_rate_to.{name}", "a node sends nothing to itself");
            }
            if let Some(without) = [id, *to].into_iter().find(|it| !s.nodes[it.index()].has_radio) {
                fail!("node[{i}].data_rate_to.{name}", "\"{}\" has no radio", self::name(s, without));
            }
        }
        check_mcs::node(&s.radio, node)?;
        if node.entry.queue.is_some() && !node.has_radio {
            fail!("node[{i}].queue", "\"{}\" has no radio; a wire has its queues in its [[link]]", node.name);
        }
        mobility::check(node, is_by_place(s, node))
    };
    for (id, one) in (0..).map(NodeId).zip(&s.nodes) {
        found.take(node(id, one));
    }
    let mut given = BTreeMap::new();
    let mut prefixes = |node: &Node| -> Result<()> {
        let i = node.index;
        for (k, prefix) in node.entry.prefixes().iter().enumerate() {
            if let Some(first) = given.insert(*prefix, node.name.clone()) {
                fail!("node[{i}].prefixes[{k}]", "\"{first}\" stands for {prefix} already");
            }
        }
        Ok(())
    };
    for one in &s.nodes {
        found.take(prefixes(one));
    }
}

fn fragmentation(s: &Scenario) -> Result<()> {
    let crate::FragmentationThreshold::Above(size) = s.radio.fragmentation_threshold else { return Ok(()) };
    if !(256..=8000).contains(&size.0) {
        fail!("radio.fragmentation_threshold", "{size} is not between 256 B and 8000 B (IEEE 802.11)")
    }
    let aggregates = |node: &&Node| node.has_radio && node.aggregation(&s.radio).is_some_and(|own| own.starts());
    if let Some(node) = s.nodes.iter().find(aggregates) {
        let (name, standard) = (&node.name, node.standard.word());
        fail!(
            "radio.fragmentation_threshold",
            "\"{name}\" is a station of {standard}, and what block acknowledgment is for goes whole; write \"off\", or \
             block_ack = [] in [radio.aggregation]"
        )
    }
    Ok(())
}

fn channel(channel: &Channel, path: &str) -> Result<()> {
    if let Some(powers) = &channel.powers
        && powers.shadowing_decorrelation.is_some()
        && powers.shadowing.0 == 0.0
    {
        fail!("{path}.shadowing_decorrelation", "needs {path}.shadowing");
    }
    if let Some(Fading::Jakes { doppler, speed }) = channel.powers.as_ref().map(|powers| powers.fading)
        && doppler.is_some() == speed.is_some()
    {
        fail!("{path}.fading", "give either doppler (such as \"10 Hz\") or speed (such as \"1 m/s\")");
    }
    match (channel.range, channel.sense_range) {
        (None, Some(_)) => {
            fail!("{path}.sense_range", "has an effect only with channel.range: without it everyone hears everyone")
        }
        (Some(range), Some(sense_range)) if sense_range.0 < range.0 => {
            fail!("{path}.sense_range", "{sense_range} is less than range, {range}: what is decoded is sensed")
        }
        _ => Ok(()),
    }
}

/// Buckets of a window: more are a mistake of units.
const MOST_BUCKETS: u64 = 1_000_000;

fn windows(s: &Scenario, found: &mut Mistakes) {
    let mut names = BTreeMap::new();
    let mut check = |i: usize, window: &TimeWindow| -> Result<()> {
        if let Some(first) = names.insert(window.name.clone(), i) {
            fail!("window[{i}].name", "window[{first}] is called \"{}\" already", window.name);
        }
        if window.to > s.duration {
            fail!("window[{i}].to", "{} is after the end of the run at {}", window.to, s.duration);
        }
        if window.from >= window.to {
            fail!("window[{i}].from", "{} leaves nothing of a window to {}", window.from, window.to);
        }
        let (length, every) = (window.to - window.from, window.every);
        if every > length {
            fail!("window[{i}].every", "{every} is longer than the window, {length}");
        }
        if !length.ns().is_multiple_of(every.ns()) {
            fail!("window[{i}].every", "the window, {length}, is no multiple of {every}");
        }
        if length / every > MOST_BUCKETS {
            fail!("window[{i}].every", "{every} is more than {MOST_BUCKETS} buckets in {length}");
        }
        Ok(())
    };
    for (i, window) in s.windows.iter().enumerate() {
        found.take(check(i, window));
    }
}

fn rate_of(of: Standard, rate: BitRate, table: impl Fn() -> String, key: &str) -> Result<()> {
    let Err(unnamed) = of.mode(rate) else { return Ok(()) };
    let (table, standard) = (table(), of.word());
    match unnamed {
        NoSuchMode::None(_, rates) => {
            let rates: Vec<String> = rates.iter().map(ToString::to_string).collect();
            let rates = suggest::list_all(&rates);
            fail!("{table}.{key}", "{standard} has no rate \"{rate}\"; there are {rates}")
        }
        several @ NoSuchMode::Several(..) => fail!("{table}.{key}", "{several}"),
    }
}

fn radio(radio: &Radio, found: &mut Mistakes) {
    found.take(preamble_and_slot(radio));
    let fixed = if let ControlRate::Fixed(rate) = radio.control_rate { Some(rate) } else { None };
    let rates = [
        ("data_rate", Some(radio.data_rate)),
        ("basic_rate", radio.basic_rate),
        ("control_rate", fixed),
        ("rts_rate", radio.rts_rate),
    ];
    for (key, rate) in rates.into_iter().filter_map(|(key, rate)| Some((key, rate?))) {
        found.take(rate_of(radio.standard, rate, || "radio".to_owned(), key));
    }
    found.take(basic_rate_set(radio));
    found.take(check_mcs::radio(radio));
    found.take(latency(radio));
    found.take(hysteresis(radio));
    found.take(contention_window(radio));
}

fn preamble_and_slot(radio: &Radio) -> Result<()> {
    match (radio.standard, radio.preamble, radio.slot) {
        (standard, Some(Preamble::Ns3), _) if !has_mcs(standard) => {
            fail!(
                "radio.preamble",
                "\"ns3\" is of 802.11n, ac and ax; {} has \"long\" and \"short\"",
                standard.word()
            )
        }
        (standard, Some(Preamble::Long | Preamble::Short), _) if has_mcs(standard) => {
            fail!("radio.preamble", "{} has one preamble; \"ns3\" counts airtimes as ns-3 does", standard.word())
        }
        (Standard::A, Some(_), _) => fail!("radio.preamble", "802.11a has no DSSS preamble to choose"),
        (Standard::Dsss, Some(Preamble::Short), _) => {
            fail!("radio.preamble", "802.11 has only the long preamble; 802.11b and 802.11g have a short one")
        }
        (Standard::G, ..) | (_, _, None) => {}
        (standard, ..) => {
            let standard = standard.word();
            fail!("radio.slot", "only 802.11g has a slot to choose, and standard is \"{standard}\"")
        }
    }
    Ok(())
}

fn basic_rate_set(radio: &Radio) -> Result<()> {
    if radio.basic_rate.is_some() && radio.basic_rate_set.is_some() {
        fail!("radio.basic_rate_set", "basic_rate says that there is only one; give either of them");
    }
    let set = radio.basic_rate_set.as_deref().unwrap_or_default();
    for (i, rate) in set.iter().enumerate() {
        rate_of(radio.standard, *rate, || "radio".to_owned(), &format!("basic_rate_set[{i}]"))?;
        if set[..i].contains(rate) {
            fail!("radio.basic_rate_set[{i}]", "\"{rate}\" is here twice");
        }
    }
    Ok(())
}

fn latency(radio: &Radio) -> Result<()> {
    // The shortest frame of all: an ACK at 54 Mb/s, 20 us and one symbol of 4. @80211-2020 17.3.2.2
    let shortest = Dur::from_us(24);
    if let Some(latency) = radio.levels.map(|levels| levels.cca_preamble_latency).filter(|it| *it >= shortest) {
        fail!("radio.cca_preamble_latency", "{latency} is not less than the shortest frame, {shortest}");
    }
    Ok(())
}

fn hysteresis(radio: &Radio) -> Result<()> {
    match radio.levels.and_then(|levels| levels.handoff_hysteresis) {
        Some(excess) if excess.0 < 0.0 => {
            fail!("radio.handoff_hysteresis", "{excess} is less than 0 dB: a station would go to and fro")
        }
        _ => Ok(()),
    }
}

fn contention_window(radio: &Radio) -> Result<()> {
    let standard = radio.standard.timing();
    let (min, max) = (radio.cw_min.unwrap_or(standard.cw_min), radio.cw_max.unwrap_or(standard.cw_max));
    match (radio.cw_min, radio.cw_max) {
        _ if min <= max => Ok(()),
        (Some(_), Some(_)) => fail!("radio.cw_max", "{max} is less than cw_min, {min}"),
        (None, Some(_)) => fail!("radio.cw_max", "{max} is less than cw_min, {min}, the standard's"),
        (_, None) => fail!("radio.cw_min", "{min} is greater than cw_max, {max}, the standard's"),
    }
}

/// True if stations of one standard can be in a cell of another, newer one.
fn phy_goes_beside(own: Standard, all: Standard) -> bool {
    let older: &[Standard] = match all {
        Standard::G => &[Standard::B],
        Standard::N2_4 => &[Standard::B, Standard::G],
        Standard::N => &[Standard::A],
        Standard::Ac => &[Standard::A, Standard::N],
        Standard::Ax => &[Standard::A, Standard::N, Standard::Ac],
        Standard::Dsss | Standard::B | Standard::A => &[],
    };
    older.contains(&own)
}

/// Older stations among newer ones, and what all of them must know.
fn standards(s: &Scenario) -> Result<()> {
    let radio = &s.radio;
    let stranger = |node: &&Node| node.standard != radio.standard;
    if let Some(node) = s
        .nodes
        .iter()
        .filter(stranger)
        .find(|node| !node.has_radio || !phy_goes_beside(node.standard, radio.standard))
    {
        let (i, own, all) = (node.index, node.standard.word(), radio.standard.word());
        if !node.has_radio {
            fail!("node[{i}].standard", "\"{}\" has no radio", node.name);
        }
        fail!(
            "node[{i}].standard",
            "\"{own}\" cannot be where radio.standard is \"{all}\"; \"802.11b\" can be in \"802.11g\""
        );
    }
    if radio.protection != Protection::Auto && radio.standard != Standard::G {
        let all = radio.standard.word();
        fail!("radio.protection", "only 802.11g has something to protect, and standard is \"{all}\"");
    }
    let Some(node) = s.nodes.iter().find(stranger) else { return Ok(()) };
    let (name, own) = (&node.name, node.standard.word());
    if radio.slot == Some(Slot::Short) {
        fail!("radio.slot", "\"{name}\" is a station of {own}, which has no short slots");
    }
    let fixed = if let ControlRate::Fixed(rate) = radio.control_rate { Some(rate) } else { None };
    let alone = [("basic_rate", radio.basic_rate), ("control_rate", fixed), ("rts_rate", radio.rts_rate)];
    let alone = alone.into_iter().filter_map(|(key, rate)| Some((key.to_owned(), rate?)));
    let set = radio.basic_rate_set.iter().flatten().enumerate();
    let set = set.map(|(i, rate)| (format!("basic_rate_set[{i}]"), *rate));
    for (key, rate) in alone.chain(set) {
        if !bit_rates(node.standard).any(|known| known == rate) {
            fail!("radio.{key}", "\"{name}\" is a station of {own}, which has no rate \"{rate}\"");
        }
    }
    Ok(())
}

fn name(s: &Scenario, node: NodeId) -> &str {
    &s.nodes[node.index()].name
}

/// The directions between pairs of nodes that entries have: no direction is given twice.
#[derive(Default)]
struct Directions {
    given: BTreeMap<(NodeId, NodeId), usize>,
}

impl Directions {
    /// Notes the directions of entry `i`; `says` is what the first entry does with two names.
    fn note(&mut self, s: &Scenario, ends: &Ends, array: &str, i: usize, says: [&str; 2]) -> Result<()> {
        for (from, to) in ends.directions() {
            if let Some(first) = self.given.insert((from, to), i) {
                let ([says, between], from, to) = (says, name(s, from), name(s, to));
                fail!("{array}[{i}]", "{array}[{first}] {says} \"{from}\" {between} \"{to}\" already");
            }
        }
        Ok(())
    }
}

/// Names may lead to one node twice.
fn same_ends(s: &Scenario, ends: &Ends, array: &str, i: usize) -> Result<()> {
    if ends.from == ends.to {
        fail!("{array}[{i}].to", "\"{}\" is also from", name(s, ends.to));
    }
    Ok(())
}

/// Checks the pairs: with powers a pair has a gain and no reach, otherwise the reverse.
fn pairs(s: &Scenario, id: ChannelId, found: &mut Mistakes) {
    let mut directions = Directions::default();
    let (channel, array) = (s.channels.get(id), format!("{}.pair", Channels::path(id)));
    let mut check = |i: usize, pair: &Pair| -> Result<()> {
        same_ends(s, &pair.ends, &array, i)?;
        if channel.powers.is_none() && pair.gain.is_some() {
            fail!("{array}[{i}].gain", "{NEEDS_POWERS}");
        }
        if channel.powers.is_some() && pair.reach.is_some() {
            let why = "powers decide who hears whom where channel.propagation is given; write a gain";
            fail!("{array}[{i}].reach", "{why}");
        }
        let keys = if pair.ends.both_ways { ["between[0]", "between[1]"] } else { ["from", "to"] };
        for (key, node) in keys.into_iter().zip([pair.ends.from, pair.ends.to]) {
            let own = &s.nodes[node.index()];
            if !own.is_on(id) {
                let on_it = if own.has_radio { " on this channel" } else { "" };
                fail!("{array}[{i}].{key}", "\"{}\" has no radio{on_it}", own.name);
            }
        }
        directions.note(s, &pair.ends, &array, i, ["speaks of", "to"])
    };
    for (i, pair) in channel.pair.iter().enumerate() {
        found.take(check(i, pair));
    }
}

fn links(s: &Scenario, found: &mut Mistakes) {
    let (mut names, mut directions) = (BTreeMap::new(), Directions::default());
    let mut check = |link: &Link| -> Result<()> {
        let i = link.index;
        delay(&link.delay, i)?;
        same_ends(s, &link.ends, "link", i)?;
        if let Some(first) = names.insert(link.name.clone(), i) {
            fail!("link[{i}].name", "link[{first}] is called \"{}\" already", link.name);
        }
        directions.note(s, &link.ends, "link", i, ["leads from", "to"])?;
        if link.loss > 0.0 && link.errors != LinkErrors::None {
            fail!("link[{i}].errors", "this link has a loss of {} already; write either loss or errors", link.loss);
        }
        Ok(())
    };
    for link in &s.links {
        found.take(check(link));
    }
}

/// A distribution has a range, and its mean is in it.
fn delay(delay: &Delay, i: usize) -> Result<()> {
    match *delay {
        Delay::Drawn(Distribution::Uniform { low, high }) if high < low => {
            fail!("link[{i}].delay.high", "{high} is less than low, {low}")
        }
        Delay::Drawn(Distribution::Normal { mean, low, .. }) if mean < low => {
            fail!("link[{i}].delay.mean", "{mean} is less than low, {low}")
        }
        Delay::Drawn(Distribution::Normal { mean, high: Some(high), .. }) if mean > high => {
            fail!("link[{i}].delay.mean", "{mean} is more than high, {high}")
        }
        _ => Ok(()),
    }
}

fn queue(s: &Scenario, names: &Names, queue: &Queue, may_be_of_receiver: bool, path: &str) -> Result<()> {
    if let Limit::Bytes(limit) = queue.limit
        && let Some(flow) = s.flows.iter().find(|flow| limit < flow.entry.transport.datagram)
    {
        let (datagram, i) = (flow.entry.transport.datagram, flow.index);
        fail!("{path}.bytes", "{limit} holds not one datagram of {datagram} (flow[{i}])");
    }
    let chosen = &queue.discipline.chosen;
    let entry = names.queues.find(chosen.info.id).expect("it was read by the registry");
    let spec = Spec::new(queue.limit, entry.with(chosen.params.clone()));
    spec.check(may_be_of_receiver)
        .map_err(|Unsound { key, why }| crate::InputError::new(format!("{path}.{key}"), why))
}

fn flows(s: &Scenario, found: &mut Mistakes) {
    let mut given: BTreeMap<String, usize> = BTreeMap::new();
    let mut check = |flow: &Flow| -> Result<()> {
        let (i, transport) = (flow.index, &flow.entry.transport);
        if let Some(first) = given.insert(flow.name.clone(), i) {
            fail!("flow[{i}].name", "flow[{first}] is called \"{}\" already", flow.name);
        }
        if flow.start >= s.duration {
            fail!("flow[{i}].start", "{} is not before the end of the run at {}", flow.start, s.duration);
        }
        if flow.stop <= flow.start {
            fail!("flow[{i}].stop", "{} is not after the start at {}", flow.stop, flow.start);
        }
        let (protocol, headers, what) = match &transport.protocol {
            Protocol::Tcp(tcp) if tcp.timestamps == Some(true) => {
                ("TCP", TCP_HEADERS + TIMESTAMPS, "TCP/IP headers and timestamps")
            }
            Protocol::Tcp(_) => ("TCP", TCP_HEADERS, "TCP/IP headers"),
            Protocol::Udp => ("UDP", UDP_HEADERS, "UDP/IP headers"),
        };
        let datagram = transport.datagram;
        if datagram <= Bytes(headers) {
            fail!("flow[{i}].transport.datagram", "{datagram} has no room for data beside {headers} B of {what}");
        }
        if datagram > GREATEST_DATAGRAM {
            let most = GREATEST_DATAGRAM;
            fail!("flow[{i}].transport.datagram", "{datagram} does not fit an MSDU; {most} is the most");
        }
        let of_udp = "cbr, poisson or saturated";
        if let Some(user) = flow.user() {
            if protocol == "UDP" {
                fail!("flow[{i}].traffic.model", "\"{}\" is not for UDP; take {of_udp}", user.id());
            }
            let entry = &flow.entry;
            let is_written = [
                ("reverse", entry.reverse.is_some_and(|reverse| reverse != Traffic::None)),
                ("reader", entry.reader.is_some_and(|reader| reader != Reader::Instant)),
                ("ack_gaps", entry.ack_gaps == Some(true)),
                ("transport.initial_sequence", transport.tcp().is_some_and(|tcp| tcp.initial_sequence.is_some())),
            ];
            if let Some((key, _)) = is_written.into_iter().find(|(_, is_written)| *is_written) {
                fail!(
                    "flow[{i}].{key}",
                    "has no effect with model \"{}\", which has connections of its own",
                    user.id()
                );
            }
        }
        let refused = match (protocol, flow.traffic()) {
            ("UDP", Traffic::None) => Some(("none", of_udp)),
            ("UDP", Traffic::Bulk { .. }) => Some(("bulk", of_udp)),
            ("UDP", Traffic::Chunks { .. }) => Some(("chunks", of_udp)),
            ("TCP", Traffic::Saturated) => Some(("saturated", OF_TCP)),
            _ => None,
        };
        if let Some((word, instead)) = refused {
            fail!("flow[{i}].traffic.model", "\"{word}\" is not for {protocol}; take {instead}");
        }
        if flow.reverse() == Traffic::Saturated {
            fail!("flow[{i}].reverse.model", "\"saturated\" is not for TCP; take {OF_TCP}");
        }
        let Some(tcp) = transport.tcp() else { return Ok(()) };
        let (max, of_tcp) =
            (tcp.max_rto.unwrap_or(Dur::MAX), [("min_rto", tcp.min_rto), ("initial_rto", tcp.initial_rto)]);
        if let Some((key, Some(rto))) = of_tcp.into_iter().find(|(_, rto)| rto.is_some_and(|rto| rto > max)) {
            fail!("flow[{i}].transport.{key}", "{rto} is more than max_rto, {max}");
        }
        Ok(())
    };
    for flow in &s.flows {
        found.take(check(flow));
    }
}

/// The traffic that a TCP application may write.
const OF_TCP: &str = "bulk, cbr, poisson or chunks";

impl Scenario {
    /// Checks a change of the network as one of an event in a file: what breaks exists, and what moves has a place that matters.
    ///
    /// # Errors
    /// The reason why it would change nothing.
    pub fn check_change(&self, what: &EventKind) -> std::result::Result<(), String> {
        change(self, what).map_err(|(_, why)| why)
    }
}

/// True if it is of any consequence where a node stands.
fn is_by_place(s: &Scenario, node: &Node) -> bool {
    let by_place = |channel: &Channel| match &channel.powers {
        Some(powers) => !matches!(powers.propagation, phy::PathLoss::Matrix),
        None => channel.range.is_some(),
    };
    node.channels.iter().any(|id| by_place(s.channels.get(*id)))
}

/// Checks a change. The key of the mistake, and why it is one.
fn change(s: &Scenario, what: &EventKind) -> std::result::Result<(), (&'static str, String)> {
    let (key, cut) = match what {
        EventKind::Kill(_) | EventKind::Restart(_) => return Ok(()),
        EventKind::Break(cut) => ("break", cut),
        EventKind::Heal(cut) => ("heal", cut),
        EventKind::Move(node, _) => {
            let node = &s.nodes[node.index()];
            if !node.has_radio {
                let why = format!("\"{}\" has no radio: where it stands is of no consequence", node.name);
                return Err(("move", why));
            }
            if !is_by_place(s, node) {
                return Err(("move", mobility::NO_CONSEQUENCE.to_owned()));
            }
            if node.entry.mobility.is_some() {
                return Err(("move", format!("\"{}\" has a mobility, which says where it is", node.name)));
            }
            return Ok(());
        }
    };
    let why = match *cut {
        Cut::Link(ref name) if s.links_of(cut).is_empty() => {
            let names: Vec<&str> = s.links.iter().map(|link| link.name.as_str()).collect();
            suggest::no_such("link", name, &names)
        }
        Cut::Between(a, b) if a == b => format!("\"{}\" is here twice", name(s, a)),
        Cut::Between(a, b) if s.links_of(cut).is_empty() => {
            let nodes = [a, b].map(|node| &s.nodes[node.index()]);
            let [first, second] = nodes;
            let neither = format!("no link joins \"{}\" and \"{}\", and", first.name, second.name);
            if let Some(without) = nodes.into_iter().find(|node| !node.has_radio) {
                format!("{neither} \"{}\" has no radio", without.name)
            } else if !first.channels.iter().any(|channel| second.is_on(*channel)) {
                format!("{neither} no channel has a radio of both")
            } else {
                return Ok(());
            }
        }
        _ => return Ok(()),
    };
    Err((key, why))
}

/// Events change something, and before the end.
fn events(s: &Scenario, found: &mut Mistakes) {
    let check = |i: usize, event: &TimedEvent| -> Result<()> {
        if event.at > s.duration {
            fail!("event[{i}].at", "{} is after the end of the run at {}", event.at, s.duration);
        }
        let Err((key, why)) = change(s, &event.what) else { return Ok(()) };
        fail!("event[{i}].{key}", "{why}")
    };
    for (i, event) in s.events.iter().enumerate() {
        found.take(check(i, event));
    }
}

/// No scheme twice at one node.
fn schemes(s: &Scenario, found: &mut Mistakes) {
    // Entries by scheme: the first of each, the one that sits anywhere, and the one at each node.
    let (mut firsts, mut anywhere, mut at_nodes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut check = |i: usize, scheme: &SchemeUse| -> Result<()> {
        let id = scheme.plug.id();
        let clash = if scheme.at.is_none() { firsts.get(id) } else { anywhere.get(id) };
        if let Some(first) = clash {
            let why = "and one of them sits wherever it can";
            fail!("scheme[{i}].name", "scheme[{first}] is \"{id}\" too, {why}");
        }
        firsts.entry(id).or_insert(i);
        let Some(nodes) = &scheme.at else {
            anywhere.insert(id, i);
            return Ok(());
        };
        for (k, node) in nodes.iter().enumerate() {
            if let Some(first) = at_nodes.insert((id, *node), i) {
                let node = name(s, *node);
                fail!("scheme[{i}].at[{k}]", "scheme[{first}] is \"{id}\" at \"{node}\" already");
            }
        }
        Ok(())
    };
    for (i, scheme) in s.schemes.iter().enumerate() {
        found.take(check(i, scheme));
    }
}
