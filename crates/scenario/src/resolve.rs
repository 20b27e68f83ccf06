//! From the file to the scenario: groups become nodes and flows, and each node has what `[radio]` says of all.

use crate::channel::{Channels, Ends, Link, LinkEntry};
use crate::edca::{Access, categories};
use crate::error::Mistakes;
use crate::file::{Cut, File, Layout, RunKeys, SchemeUse, TimeWindow, TimedEvent};
use crate::flow::{Flow, FlowEntry, Protocol};
use crate::group::Group;
use crate::item::Item;
use crate::node::{Node, NodeEntry};
use crate::plug::{Plug, RouteMetrics, Routers};
use crate::radio::{Radio, Slot, TX_POWER, bit_rates, highest};
use crate::shape::NEEDS_POWERS;
use crate::{InputError, Result};
use phy::Standard;
use plugin::suggest;
use std::sync::Arc;
use units::{ChannelId, Dur, NodeId};

/// Everything a run needs to know, apart from defaults that belong to other crates (`None`).
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name in reports; empty when the file does not say, and then reports take the file's name.
    pub name: String,
    /// Of the whole run, warm-up included. More than zero, at most 10⁶ s.
    pub duration: Dur,
    /// Rates and counters are taken after it, those of schemes from the start; shorter than `duration`.
    pub warmup: Dur,
    /// Of the first run; further replications derive theirs.
    pub seed: u64,
    /// Between two samples of the time series.
    pub series_every: Dur,
    /// The parameters that all radios have in common. Nodes have taken over those that concern them.
    pub radio: Radio,
    /// The reach of nodes, and the quality of their links; [`units::ChannelId`] indexes them.
    pub channels: Channels,
    /// At least two; [`units::NodeId`] indexes them. Names are unique.
    pub nodes: Vec<Node>,
    /// Names are unique; no direction is given twice.
    pub links: Vec<Link>,
    /// `None`: the router of scenarios that name none.
    pub routing: Option<Plug<Routers>>,
    /// `None`: the metric of scenarios that name none.
    pub route_metric: Option<Plug<RouteMetrics>>,
    /// Names unique.
    pub flows: Vec<Flow>,
    /// In the order of the file, which is the order of the chain.
    pub schemes: Vec<SchemeUse>,
    /// In the order of the file, not of time.
    pub events: Vec<TimedEvent>,
    /// Parts of the run that are measured on their own. Names are unique.
    pub windows: Vec<TimeWindow>,
    /// Of nodes without a position; `None`: at the origin.
    pub layout: Option<Layout>,
}

/// Two scenarios are equal if they mean the same, however they are written.
impl PartialEq for Scenario {
    fn eq(&self, other: &Scenario) -> bool {
        self.written() == other.written()
    }
}

impl Scenario {
    /// The scenario with its defaults filled in, as the file would spell them, in the order of the documentation. What is
    /// left to other crates' defaults (`None`) is not there. Written as TOML it reads as the same scenario.
    pub fn to_json(&self) -> serde_json::Value {
        self.written().write(&self.node_names()).unwrap_or_default()
    }

    /// The links that break with this, as indices; none if it is a radio link.
    pub fn links_of(&self, cut: &Cut) -> Vec<usize> {
        let is_it = |link: &Link| match cut {
            Cut::Link(name) => link.name == *name,
            Cut::Between(a, b) => [(*a, *b), (*b, *a)].contains(&(link.ends.from, link.ends.to)),
        };
        self.links.iter().enumerate().filter(|(_, link)| is_it(link)).map(|(i, _)| i).collect()
    }

    /// The radio interfaces: in order of their nodes, those of a node in the order in which it names their channels.
    pub fn interfaces(&self) -> impl Iterator<Item = (NodeId, ChannelId)> {
        let nodes = (0..).map(NodeId).zip(&self.nodes);
        nodes.flat_map(|(id, node)| node.channels.iter().map(move |on| (id, *on)))
    }

    fn node_names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// The file of this scenario, in which every node and flow has an entry of its own.
    fn written(&self) -> File {
        let names = self.node_names();
        let has_powers = self.channels.have_powers();
        let name = Some(self.name.clone()).filter(|name| !name.is_empty());
        File {
            scenario: RunKeys {
                name,
                duration: self.duration,
                warmup: self.warmup,
                seed: self.seed,
                series_every: self.series_every,
            },
            // Each node says it itself.
            radio: Some(Radio { tx_power: None, access: None, edca: None, ..self.radio.clone() }),
            channel: self.channels.clone(),
            node: (0..)
                .map(NodeId)
                .zip(&self.nodes)
                .map(|(id, node)| node.written(id, has_powers, &self.radio))
                .collect(),
            link: self.links.iter().map(|link| link.written(&names)).collect(),
            routing: self.routing.clone(),
            route_metric: self.route_metric.clone(),
            flow: self.flows.iter().map(|flow| flow.written(&names)).collect(),
            scheme: self.schemes.clone(),
            layout: self.layout,
            event: self.events.clone(),
            window: self.windows.clone(),
        }
    }
}

/// Checks the keys that `[radio]` must and must not have. `has_radio` is of each entry of a node.
pub(crate) fn check_radio(file: &File, has_radio: &[bool], found: &mut Mistakes) {
    let mut says = |path: &str, message: &str| found.note(InputError::new(path, message));
    if file.radio.is_none() && has_radio.contains(&true) {
        says("radio", "missing; expected a table");
    }
    let mut have_powers = false;
    for (id, channel) in (0..).map(ChannelId).zip(file.channel.iter()).filter(|(_, it)| it.powers.is_some()) {
        have_powers = true;
        let path = Channels::path(id);
        if channel.range.is_some() {
            says(&format!("{path}.range"), "powers decide who hears whom where channel.propagation is given");
        }
        if channel.sense_range.is_some() {
            let why = "where channel.propagation is given, powers and radio.cca_ed decide who senses whom";
            says(&format!("{path}.sense_range"), why);
        }
    }
    if have_powers {
        return;
    }
    if file.radio.as_ref().is_some_and(|radio| radio.tx_power.is_some()) {
        says("radio.tx_power", NEEDS_POWERS);
    }
    for (i, _) in file.node.iter().enumerate().filter(|(_, entry)| entry.tx_power.is_some()) {
        says(&format!("node[{i}].tx_power"), NEEDS_POWERS);
    }
}

/// The scenario of a file. `has_radio` is of each entry of a node; `silent` is the radio if the file has none.
pub(crate) fn resolve(file: File, has_radio: &[bool], silent: Radio) -> Result<Scenario> {
    let mut radio = file.radio.unwrap_or(silent);
    let entries = file.node.into_iter().zip(has_radio).enumerate();
    let mut mistakes = Mistakes::default();
    let names = names_of_channels(&file.channel, &mut mistakes);
    let mut nodes: Vec<Node> = Vec::new();
    for (index, (entry, has_radio)) in entries {
        let channels = mistakes.take(channels_of(&entry, index, &names, *has_radio)).unwrap_or_default();
        nodes.extend(members(entry, index, &radio, channels));
    }
    if radio.standard == Standard::G && radio.slot.is_none() {
        // Slots are short only if all stations can have them. @80211-2020 9.4.1.4
        let has_b = nodes.iter().any(|node| node.is_non_erp(&radio));
        radio.slot = Some(if has_b { Slot::Long } else { Slot::Short });
    }
    let mut links = Vec::new();
    for (index, entry) in file.link.into_iter().enumerate() {
        mistakes.take(wires(entry, index, &mut links));
    }
    let mut windows = file.window;
    for (i, window) in windows.iter_mut().enumerate().filter(|(_, window)| window.name.is_empty()) {
        window.name = format!("window{i}");
    }
    let mut flows = Vec::new();
    for (index, entry) in file.flow.into_iter().enumerate() {
        mistakes.take(connections(entry, index, file.scenario.duration, &mut flows));
    }
    mistakes.into_result()?;
    Ok(Scenario {
        name: file.scenario.name.unwrap_or_default(),
        duration: file.scenario.duration,
        warmup: file.scenario.warmup,
        seed: file.scenario.seed,
        series_every: file.scenario.series_every,
        radio,
        channels: file.channel,
        nodes,
        links,
        routing: file.routing,
        route_metric: file.route_metric,
        flows,
        schemes: file.scheme,
        events: file.event,
        windows,
        layout: file.layout,
    })
}

/// The pairs of nodes that two groups make: one node with each of a group, or of two equal groups first with first, second with second.
fn pairs(from: &Group, to: &Group) -> core::result::Result<Vec<(NodeId, NodeId)>, String> {
    let (some, others) = (from.nodes.len(), to.nodes.len());
    if some > 1 && others > 1 {
        if some != others {
            let (a, b) = (&from.name, &to.name);
            return Err(format!("\"{a}\" is {some} nodes and \"{b}\" {others}; as many, or one"));
        }
        return Ok(from.nodes.iter().copied().zip(to.nodes.iter().copied()).collect());
    }
    Ok(from.nodes.iter().flat_map(|from| to.nodes.iter().map(move |to| (*from, *to))).collect())
}

/// The links of an entry: one, or one for each node of a group.
fn wires(entry: LinkEntry, index: usize, links: &mut Vec<Link>) -> Result<()> {
    let (from, to) = (&entry.ends.from, &entry.ends.to);
    let pairs = pairs(from, to).map_err(|why| InputError::new(format!("link[{index}]"), why))?;
    let is_group = from.has_count || to.has_count;
    for (nth, (from, to)) in pairs.into_iter().enumerate() {
        let name = match &*entry.name {
            "" => format!("link{}", links.len()),
            name if is_group => format!("{name}{}", nth + 1),
            name => name.to_owned(),
        };
        links.push(Link {
            name,
            ends: Ends { from, to, both_ways: entry.ends.both_ways },
            rate: entry.rate,
            delay: entry.delay,
            loss: entry.loss,
            errors: entry.errors,
            queue: entry.queue.clone(),
            index,
        });
    }
    Ok(())
}

/// The names of all channels, each its own.
fn names_of_channels(channels: &Channels, found: &mut Mistakes) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (id, name) in (0..).map(ChannelId).zip(channels.names()) {
        if let Some(first) = names.iter().position(|known| known == name) {
            let first = Channels::path(ChannelId(first as u32));
            let message = format!("{first} is called \"{name}\" already");
            found.note(InputError::new(format!("{}.name", Channels::path(id)), message));
        }
        names.push(name.to_owned());
    }
    names
}

/// The channels that the nodes of an entry have a radio on; `names` are those of all channels.
fn channels_of(entry: &NodeEntry, index: usize, names: &[String], has_radio: bool) -> Result<Vec<ChannelId>> {
    let Some(stated) = &entry.channels else {
        return Ok(if has_radio { vec![ChannelId(0)] } else { Vec::new() });
    };
    if !has_radio {
        fail!("node[{index}].channels", "\"{}\" has no radio", entry.name);
    }
    let id = |(place, name): (usize, &String)| {
        let found = names.iter().position(|known| known == name).map(|id| ChannelId(id as u32));
        found.ok_or_else(|| {
            let path = format!("node[{index}].channels[{place}]");
            InputError::new(path, suggest::no_such("channel", name, names))
        })
    };
    stated.0.iter().enumerate().map(id).collect()
}

/// The nodes of an entry.
fn members(entry: NodeEntry, index: usize, radio: &Radio, channels: Vec<ChannelId>) -> Vec<Node> {
    let names = match entry.count {
        None => vec![entry.name.clone()],
        Some(count) => (1..=count).map(|nth| format!("{}{nth}", entry.name)).collect(),
    };
    let entry = Arc::new(entry);
    let node = |name| Node {
        name,
        tx_power: entry.tx_power.or(radio.tx_power).unwrap_or(TX_POWER),
        access: entry.access.or(radio.access).unwrap_or(Access::Dcf),
        categories: categories(entry.edca, radio.edca),
        has_radio: !channels.is_empty(),
        channels: channels.clone(),
        standard: entry.standard.unwrap_or(radio.standard),
        data_rate: entry.data_rate.unwrap_or_else(|| {
            let own = entry.standard.unwrap_or(radio.standard);
            if bit_rates(own).any(|rate| rate == radio.data_rate) { radio.data_rate } else { highest(own) }
        }),
        modes: entry.modes.or(&radio.modes),
        rate_control: entry.rate_control.clone().or_else(|| radio.rate_control.clone()),
        queue: entry.queue.as_ref().unwrap_or(&radio.queue).clone(),
        entry: Arc::clone(&entry),
        index,
    };
    names.into_iter().map(node).collect()
}

/// Flows of a scenario: each has memory of its own from the start.
const MOST_FLOWS: usize = 100_000;

/// The flows of an entry: one, or one for each node of a group.
fn connections(entry: FlowEntry, index: usize, duration: Dur, flows: &mut Vec<Flow>) -> Result<()> {
    if entry.transport.protocol == Protocol::Udp {
        let is_written = [entry.reverse.is_some(), entry.reader.is_some(), entry.ack_gaps.is_some()];
        let keys = ["reverse", "reader", "ack_gaps"].into_iter().zip(is_written);
        if let Some((key, _)) = keys.into_iter().find(|(_, is_written)| *is_written) {
            fail!("flow[{index}].{key}", "only TCP has it, and this flow's protocol is \"udp\"");
        }
    }
    if entry.traffic.is_none() {
        let models = "model = \"cbr\", \"poisson\" or \"saturated\"";
        fail!("flow[{index}].traffic", "missing; UDP needs {models}");
    }
    let (from, to) = (&entry.from, &entry.to);
    if entry.hops.is_some() {
        return drawn(entry, index, duration, flows);
    }
    let mut pairs = pairs(from, to).map_err(|why| {
        InputError::new(format!("flow[{index}].to"), format!("{why}; or both are drawn: hops = \"any\""))
    })?;
    if let Some(count) = entry.count {
        pairs = pairs.iter().copied().cycle().take(count as usize).collect();
    }
    let is_group = from.has_count || to.has_count || entry.count.is_some();
    if let Some(last) = flows.len().checked_add(pairs.len()).filter(|all| *all > MOST_FLOWS) {
        fail!("flow[{index}].count", "that makes {last} flows; there can be {MOST_FLOWS}");
    }
    if pairs.iter().any(|(from, to)| from == to) {
        let or =
            if is_group { ", each node to itself; or both ends are drawn: hops = \"any\"" } else { " to itself" };
        fail!("flow[{index}].to", "the flow would run from \"{}\"{or}", entry.to.name);
    }
    push(entry, index, duration, pairs, is_group, flows);
    Ok(())
}

/// The flows of an entry whose ends are drawn. They have the first two nodes that will do, until then.
fn drawn(entry: FlowEntry, index: usize, duration: Dur, flows: &mut Vec<Flow>) -> Result<()> {
    let (from, to) = (&entry.from, &entry.to);
    let in_both = from.nodes.iter().filter(|node| to.nodes.contains(node)).count() as u64;
    let ordered = from.nodes.len() as u64 * to.nodes.len() as u64 - in_both;
    // A pair within both can be drawn in either order.
    let possible = ordered - in_both * in_both.saturating_sub(1) / 2;
    let count = entry.count.unwrap_or(1);
    if u64::from(count) > possible {
        let (a, b) = (&from.name, &to.name);
        fail!("flow[{index}].count", "{count} pairs are to be drawn, and \"{a}\" and \"{b}\" make {possible}");
    }
    let mut all = from.nodes.iter().flat_map(|from| to.nodes.iter().map(move |to| (*from, *to)));
    let first = all.find(|(from, to)| from != to);
    let pairs = first.map_or_else(Vec::new, |pair| vec![pair; count as usize]);
    let is_group = entry.count.is_some();
    push(entry, index, duration, pairs, is_group, flows);
    Ok(())
}

/// Adds a flow of an entry for each of these pairs of ends.
fn push(
    entry: FlowEntry,
    index: usize,
    duration: Dur,
    pairs: Vec<(NodeId, NodeId)>,
    is_group: bool,
    flows: &mut Vec<Flow>,
) {
    let entry = Arc::new(entry);
    for (nth, (from, to)) in pairs.into_iter().enumerate() {
        let stagger = entry.stagger.unwrap_or_default().saturating_mul(nth as u64);
        flows.push(Flow {
            name: match &entry.name {
                None => format!("flow{}", flows.len()),
                Some(name) if is_group => format!("{name}{}", nth + 1),
                Some(name) => name.clone(),
            },
            from,
            to,
            start: entry.start.saturating_add(stagger),
            stop: entry.stop.unwrap_or(duration).min(duration),
            entry: Arc::clone(&entry),
            index,
        });
    }
}
