//! Second pass: from decoded tables to typed values, node names to ids.

use super::item::{Fields, Item};
use super::types::*;
use super::{InputError, Names};
use plugin::suggest::no_such;
use schemes::Params;
use std::collections::BTreeMap;
use std::fmt::Display;
use units::{BitRate, Bytes, Db, Dbm, Dur, Hertz, NodeId};

type Result<T> = std::result::Result<T, InputError>;

/// The whole scenario.
pub(super) fn scenario(file: &Fields, names: &Names) -> Result<Scenario> {
    let run: &Fields = file.get("scenario");
    let duration = run.get("duration");
    let wired: Vec<&str> = file.tables("link").flat_map(at_link).collect();
    let has_radio: Vec<bool> = file.tables("node").map(|fields| has_radio(fields, &wired)).collect();
    let radio = match file.opt("radio") {
        Some(fields) => radio(fields)?,
        None if has_radio.contains(&true) => return Err(InputError::new("radio", "missing; expected a table")),
        None => NO_RADIO,
    };
    let defaults = file.opt("radio").map(NodeDefaults::of).unwrap_or_default();
    let entries = file.tables("node").zip(has_radio).enumerate();
    let nodes = entries.flat_map(|(i, (fields, has_radio))| node(fields, i, &radio, &defaults, has_radio));
    let nodes: Vec<Node> = nodes.collect();
    if file.get::<&Fields>("channel").opt::<&Fields>("propagation").is_none() {
        needs_powers(file)?;
    }
    let directory = Directory::new(&nodes, file.tables("node"))?;
    let links = file.tables("link").enumerate().map(|(i, fields)| link(fields, i, &directory));
    let links = links.collect::<Result<_>>()?;
    let mut flows = Vec::new();
    for (i, fields) in file.tables("flow").enumerate() {
        flow(fields, i, duration, &directory, &mut flows)?;
    }
    Ok(Scenario {
        name: run.opt::<&str>("name").unwrap_or_default().to_owned(),
        duration,
        warmup: run.get("warmup"),
        seed: run.get("seed"),
        channel: channel(file.get("channel"), carrier(radio.standard), &directory)?,
        flows,
        schemes: {
            let uses = file.tables("scheme").enumerate();
            uses.map(|(i, fields)| scheme(fields, i, names, &directory)).collect::<Result<_>>()?
        },
        events: {
            let events = file.tables("event").enumerate();
            events.map(|(i, fields)| event(fields, i, &directory)).collect::<Result<_>>()?
        },
        layout: file.opt("layout").map(layout),
        radio,
        nodes,
        links,
    })
}

fn layout(fields: &Fields) -> Layout {
    match fields.tag {
        "grid" => Layout::Grid(fields.get("spacing")),
        "disc" => Layout::Disc(fields.get("radius")),
        "line" => Layout::Line(fields.get("spacing")),
        _ => Layout::Star(fields.get("radius")),
    }
}

/// Without powers, keys that speak of them would be of no effect.
fn needs_powers(file: &Fields) -> Result<()> {
    const OF_RADIO: [&str; 7] = [
        "tx_power",
        "cca_ed",
        "cca_preamble_latency",
        "preamble_sinr",
        "capture",
        "capture_clear",
        "capture_garbled",
    ];
    let is_written = |fields: &Fields, key: &&str| fields.opt::<&Item>(key).is_some();
    let radio =
        file.opt::<&Fields>("radio").and_then(|radio| OF_RADIO.into_iter().find(|key| is_written(radio, key)));
    let node = file.tables("node").position(|node| is_written(node, &"tx_power"));
    let path = match (radio, node) {
        (Some(key), _) => format!("radio.{key}"),
        (None, Some(i)) => format!("node[{i}].tx_power"),
        (None, None) => return Ok(()),
    };
    Err(InputError::new(path, "has an effect only with channel.propagation"))
}

/// The nodes that a link names.
fn at_link(fields: &Fields) -> Vec<&str> {
    let between: &[Item] = fields.opt("between").unwrap_or_default();
    let between =
        between.iter().filter_map(|item| if let Item::Text(name) = item { Some(name.as_str()) } else { None });
    between.chain(fields.opt("from")).chain(fields.opt("to")).collect()
}

/// A node at a link is a wired host unless something about it speaks of a radio.
fn has_radio(fields: &Fields, wired: &[&str]) -> bool {
    let speaks_of_one = fields.opt::<&[Item]>("position").is_some() || fields.get::<&str>("role") == "ap";
    fields.opt("radio").unwrap_or(speaks_of_one || !wired.contains(&fields.get("name")))
}

/// Of a scenario without radios: what 802.11b has where nothing is said.
const NO_RADIO: Radio = Radio {
    standard: Standard::Dot11b,
    data_rate: BitRate::from_kbps(11_000),
    basic_rate: None,
    control_rate: ControlRate::Basic,
    preamble: Some(Preamble::Long),
    rts_threshold: None,
    rts_for: RtsFor::All,
    max_attempts: 7,
    max_attempts_long: 4,
    after_timeout: AfterTimeout::Letter,
    cw_min: None,
    cw_max: None,
    slot: None,
    queue: Queue { limit: QueueLimit::Packets(50), discipline: Discipline::DropTail },
    levels: LEVELS,
    access_in_gap: None,
    countdown: None,
};

/// What radios have where nothing is said.
const LEVELS: Levels =
    Levels { cca_ed: Dbm(-62.0), cca_preamble_latency: Dur::from_us(4), preamble_sinr: Db(4.0), capture: None };
/// 40 mW, ns-3's default (16.0206 dBm).
const TX_POWER: Dbm = Dbm(16.0);

/// What nodes have that say nothing of their own.
struct NodeDefaults {
    tx_power: Dbm,
    access: Access,
    categories: [Category; 4],
}

impl Default for NodeDefaults {
    fn default() -> NodeDefaults {
        NodeDefaults { tx_power: TX_POWER, access: Access::Dcf, categories: [Category::default(); 4] }
    }
}

impl NodeDefaults {
    fn of(radio: &Fields) -> NodeDefaults {
        let mut defaults = NodeDefaults::default();
        defaults.tx_power = radio.opt("tx_power").unwrap_or(defaults.tx_power);
        defaults.access = access(radio.get("access"));
        if let Some(edca) = radio.opt("edca") {
            categories(edca, &mut defaults.categories);
        }
        defaults
    }
}

fn access(word: &str) -> Access {
    if word == "edca" { Access::Edca } else { Access::Dcf }
}

/// What a table says of categories, over what they were.
fn categories(edca: &Fields, all: &mut [Category; 4]) {
    for (key, category) in ["bk", "be", "vi", "vo"].into_iter().zip(all) {
        let Some(fields) = edca.opt::<&Fields>(key) else { continue };
        category.aifsn = fields.opt("aifsn").or(category.aifsn);
        category.cw_min = fields.opt("cw_min").or(category.cw_min);
        category.cw_max = fields.opt("cw_max").or(category.cw_max);
        category.txop_limit = fields.opt("txop_limit").or(category.txop_limit);
    }
}

/// Where node names lead.
struct Directory<'n> {
    ids: BTreeMap<&'n str, NodeId>,
    /// Entries that made several nodes, by the name in the file.
    groups: BTreeMap<&'n str, Vec<NodeId>>,
    /// In the order of the file, for suggestions.
    names: Vec<&'n str>,
}

impl<'n> Directory<'n> {
    fn new(nodes: &'n [Node], entries: impl Iterator<Item = &'n Fields>) -> Result<Directory<'n>> {
        let mut ids = BTreeMap::new();
        for (id, node) in (0u32..).map(NodeId).zip(nodes) {
            if let Some(first) = ids.insert(node.name.as_str(), id) {
                let Entry(first) = nodes[first.index()].entry;
                let message = format!("node[{first}] is called \"{}\" already", node.name);
                return Err(InputError::new(format!("node[{}].name", node.entry.0), message));
            }
        }
        let mut groups: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
        let mut names = Vec::with_capacity(nodes.len());
        for (i, fields) in entries.enumerate() {
            let name: &str = fields.get("name");
            names.push(name);
            if fields.opt::<u32>("count").is_none() {
                continue;
            }
            let members = (0u32..).map(NodeId).zip(nodes).filter(|(_, node)| node.entry.0 == i);
            let clash = groups.insert(name, members.map(|(id, _)| id).collect()).is_some() || ids.contains_key(name);
            if clash {
                return Err(InputError::new(
                    format!("node[{i}].name"),
                    format!("another entry is called \"{name}\""),
                ));
            }
        }
        Ok(Directory { ids, groups, names })
    }

    /// The nodes of a name: one, or all that its entry made.
    fn all(&self, name: &str, path: impl Fn() -> String) -> Result<Vec<NodeId>> {
        match self.groups.get(name) {
            Some(group) => Ok(group.clone()),
            None => Ok(vec![self.find(name, path)?]),
        }
    }

    fn find(&self, name: &str, path: impl FnOnce() -> String) -> Result<NodeId> {
        match self.ids.get(name) {
            Some(id) => Ok(*id),
            None if self.groups.contains_key(name) => {
                let message = format!("\"{name}\" are several nodes; write \"{name}1\" for the first of them");
                Err(InputError::new(path(), message))
            }
            None => Err(InputError::new(path(), no_such("node", name, &self.names))),
        }
    }

    /// The nodes of an array.
    fn list(&self, items: &[Item], path: &dyn Display) -> Result<Vec<NodeId>> {
        let named = items.iter().enumerate().filter_map(|(i, item)| match item {
            Item::Text(name) => Some((i, name)),
            _ => None,
        });
        let mut found = Vec::with_capacity(items.len());
        let mut first_at = BTreeMap::new();
        for (i, name) in named {
            for id in self.all(name, || format!("{path}[{i}]"))? {
                if first_at.insert(id, i).is_some() {
                    return Err(InputError::new(format!("{path}[{i}]"), format!("\"{name}\" is here twice")));
                }
                found.push(id);
            }
        }
        Ok(found)
    }
}

fn text(fields: &Fields, key: &str) -> String {
    fields.get::<&str>(key).to_owned()
}

fn radio(fields: &Fields) -> Result<Radio> {
    let standard = match fields.get("standard") {
        "802.11" => Standard::Dot11,
        "802.11b" => Standard::Dot11b,
        "802.11a" => Standard::Dot11a,
        _ => Standard::Dot11g,
    };
    let highest = standard.rates_kbps().last().copied().unwrap_or_default();
    let data_rate = fields.opt("data_rate").unwrap_or(BitRate::from_kbps(highest));
    let given: Option<&str> = fields.opt("preamble");
    let dsss = standard != Standard::Dot11a;
    if !dsss && given.is_some() {
        return Err(InputError::new("radio.preamble", "802.11a has no DSSS preamble to choose"));
    }
    let slot: Option<&str> = fields.opt("slot");
    if standard != Standard::Dot11g && slot.is_some() {
        let message = format!("only 802.11g has a slot to choose, and standard is \"{}\"", standard.word());
        return Err(InputError::new("radio.slot", message));
    }
    Ok(Radio {
        standard,
        data_rate,
        basic_rate: fields.opt("basic_rate"),
        control_rate: match fields.get::<&Item>("control_rate") {
            Item::Rate(rate) => ControlRate::Fixed(*rate),
            _ => ControlRate::Basic,
        },
        preamble: dsss.then_some(if given == Some("short") { Preamble::Short } else { Preamble::Long }),
        rts_threshold: match fields.get::<&Item>("rts_threshold") {
            Item::Size(bytes) => Some(*bytes),
            _ => None,
        },
        rts_for: if fields.get::<&str>("rts_for") == "data" { RtsFor::Data } else { RtsFor::All },
        max_attempts: fields.get("max_attempts"),
        max_attempts_long: fields.get("max_attempts_long"),
        after_timeout: match fields.get("after_timeout") {
            "fresh-ifs" => AfterTimeout::FreshIfs,
            "eifs" => AfterTimeout::Eifs,
            _ => AfterTimeout::Letter,
        },
        cw_min: fields.opt("cw_min"),
        cw_max: fields.opt("cw_max"),
        slot: (standard == Standard::Dot11g).then_some(if slot == Some("long") { Slot::Long } else { Slot::Short }),
        queue: queue(fields.get("queue"), &"radio.queue")?,
        levels: Levels {
            cca_ed: fields.opt("cca_ed").unwrap_or(LEVELS.cca_ed),
            cca_preamble_latency: fields.opt("cca_preamble_latency").unwrap_or(LEVELS.cca_preamble_latency),
            preamble_sinr: fields.opt("preamble_sinr").unwrap_or(LEVELS.preamble_sinr),
            capture: fields.opt("capture").unwrap_or(false).then(|| {
                // design.md section 4, domain.md: about 10 dB over a decodable frame, 15 to 25 over a garbled one.
                let margin = |key, default| fields.opt(key).unwrap_or(Db(default));
                (margin("capture_clear", 10.0), margin("capture_garbled", 15.0))
            }),
        },
        access_in_gap: fields.opt("access_in_gap").map(|word| match word {
            "edca-letter" => AccessInGap::EdcaLetter,
            "always-draw" => AccessInGap::AlwaysDraw,
            _ => AccessInGap::DcfLetter,
        }),
        countdown: fields.opt("countdown").map(access),
    })
}

fn queue(fields: &Fields, path: &dyn Display) -> Result<Queue> {
    let limit = match (fields.opt("packets"), fields.opt("bytes")) {
        (Some(packets), None) => QueueLimit::Packets(packets),
        (None, Some(bytes)) => QueueLimit::Bytes(bytes),
        _ => return Err(InputError::new(path.to_string(), "give either packets or bytes")),
    };
    let discipline = match fields.tag {
        "red" => Discipline::Red {
            min_th: fields.get("min_th"),
            max_th: fields.get("max_th"),
            max_p: fields.get("max_p"),
            weight: fields.get("weight"),
            gentle: fields.get("gentle"),
            ecn: fields.get("ecn"),
        },
        _ => Discipline::DropTail,
    };
    Ok(Queue { limit, discipline })
}

/// Two nodes: `between`, or `from` and `to`. The third says whether both directions are meant.
fn ends(fields: &Fields, path: &str, nodes: &Directory) -> Result<(NodeId, NodeId, bool)> {
    let (between, from, to) = (fields.opt("between"), fields.opt::<&str>("from"), fields.opt::<&str>("to"));
    match (between, from, to) {
        (Some(both), None, None) => match nodes.list(both, &format_args!("{path}.between"))?[..] {
            [a, b] => Ok((a, b, true)),
            _ => Err(InputError::new(format!("{path}.between"), "expected two nodes")),
        },
        (None, Some(from), Some(to)) => {
            let from_id = nodes.find(from, || format!("{path}.from"))?;
            let to_id = nodes.find(to, || format!("{path}.to"))?;
            if from_id == to_id {
                return Err(InputError::new(format!("{path}.to"), format!("\"{to}\" is also from")));
            }
            Ok((from_id, to_id, false))
        }
        _ => Err(InputError::new(path, "give either between (both ways), or from and to (one way)")),
    }
}

fn link(fields: &Fields, i: usize, nodes: &Directory) -> Result<Link> {
    let path = format!("link[{i}]");
    let (from, to, both_ways) = ends(fields, &path, nodes)?;
    Ok(Link {
        name: fields.opt::<&str>("name").map_or_else(|| format!("link{i}"), str::to_owned),
        from,
        to,
        both_ways,
        rate: fields.get("rate"),
        delay: fields.get("delay"),
        loss: fields.get("loss"),
        queue: queue(fields.get("queue"), &format_args!("{path}.queue"))?,
    })
}

/// The nodes of an entry.
fn node(fields: &Fields, entry: usize, radio: &Radio, defaults: &NodeDefaults, has_radio: bool) -> Vec<Node> {
    let mut categories = defaults.categories;
    if let Some(edca) = fields.opt("edca") {
        self::categories(edca, &mut categories);
    }
    let node = Node {
        name: text(fields, "name"),
        entry: Entry(entry),
        position_m: fields.opt("position").map(|position: &[Item]| match position {
            [Item::Num(x), Item::Num(y)] => [*x, *y],
            _ => [0.0; 2],
        }),
        tx_power: fields.opt("tx_power").unwrap_or(defaults.tx_power),
        access: fields.opt("access").map_or(defaults.access, access),
        categories,
        has_radio,
        role: if fields.get::<&str>("role") == "ap" { Role::Ap } else { Role::Station },
        data_rate: fields.opt("data_rate").unwrap_or(radio.data_rate),
        host_delay: fields.get("host_delay"),
    };
    match fields.opt::<u32>("count") {
        None => vec![node],
        Some(count) => (1..=count).map(|i| Node { name: format!("{}{i}", node.name), ..node.clone() }).collect(),
    }
}

fn channel(fields: &Fields, frequency: Hertz, nodes: &Directory) -> Result<Channel> {
    let pairs = fields.tables("pair").enumerate();
    Ok(Channel {
        range_m: fields.opt("range"),
        propagation: propagation(fields, frequency)?,
        errors: errors(fields.get("errors"), &"channel.errors")?,
        pairs: pairs.map(|(i, fields)| pair(fields, i, nodes)).collect::<Result<_>>()?,
    })
}

/// The middle of a usual channel: 36 at 5 GHz, 6 at 2.4 GHz. @80211-2020 annex E, 15.4.4.3
fn carrier(standard: Standard) -> Hertz {
    Hertz(if standard == Standard::Dot11a { 5.18e9 } else { 2.437e9 })
}

fn propagation(fields: &Fields, carrier: Hertz) -> Result<Option<Propagation>> {
    let Some(model) = fields.opt::<&Fields>("propagation") else {
        for key in ["shadowing", "fading", "noise_figure", "noise"] {
            if fields.opt::<&Item>(key).is_some() {
                let message = "has an effect only with channel.propagation";
                return Err(InputError::new(format!("channel.{key}"), message));
            }
        }
        return Ok(None);
    };
    if fields.opt::<&Item>("range").is_some() {
        return Err(InputError::new(
            "channel.range",
            "powers decide who hears whom where channel.propagation is given",
        ));
    }
    let frequency = || model.opt("frequency").unwrap_or(carrier);
    let loss = match model.tag {
        "free-space" => PathLoss::FreeSpace { frequency: frequency() },
        "two-ray-ground" => PathLoss::TwoRayGround { frequency: frequency(), height_m: model.get("height") },
        "log-distance" => PathLoss::LogDistance {
            exponent: model.get("exponent"),
            reference_m: model.get("reference_distance"),
            reference_loss: model.get("reference_loss"),
        },
        _ => PathLoss::Matrix,
    };
    let fading: Option<&Fields> = fields.opt("fading");
    Ok(Some(Propagation {
        loss,
        shadowing: fields.opt("shadowing").unwrap_or(Db(0.0)),
        coherence: fading.and_then(|fading| fading.opt("coherence")),
        noise: match fields.opt("noise") {
            Some(level) => Noise::Level(level),
            // What receivers of the time add; ns-3's default too.
            None => Noise::Figure(fields.opt("noise_figure").unwrap_or(Db(7.0))),
        },
    }))
}

fn pair(fields: &Fields, i: usize, nodes: &Directory) -> Result<Pair> {
    let path = format!("channel.pair[{i}]");
    let (from, to, both_ways) = ends(fields, &path, nodes)?;
    let own = fields.opt("errors").map(|own| errors(own, &format_args!("{path}.errors")));
    Ok(Pair {
        from,
        to,
        both_ways,
        reach: fields.opt("reach"),
        gain: fields.opt::<Db>("gain"),
        errors: own.transpose()?,
    })
}

fn errors(fields: &Fields, path: &dyn Display) -> Result<ErrorSpec> {
    let at = || if fields.get::<&str>("at") == "msdu" { ErrorAt::Msdu } else { ErrorAt::Attempt };
    Ok(match fields.tag {
        "packet" => ErrorSpec::Packet { per: fields.get("per"), control_per: fields.get("control_per"), at: at() },
        "bit" => ErrorSpec::Bit { ber: fields.get("ber"), control: fields.get("control"), at: at() },
        "two-state" => ErrorSpec::TwoState {
            good: state(fields.get("good"), &format_args!("{path}.good"))?,
            bad: state(fields.get("bad"), &format_args!("{path}.bad"))?,
            sojourn: sojourn(fields, path)?,
            shared: if fields.get::<&str>("shared") == "direction" { Shared::Direction } else { Shared::Link },
            control: fields.get("control"),
            at: at(),
        },
        _ => ErrorSpec::None,
    })
}

fn state(fields: &Fields, path: &dyn Display) -> Result<StateError> {
    match (fields.opt("per"), fields.opt("ber")) {
        (Some(per), None) => Ok(StateError::Per(per)),
        (None, Some(ber)) => Ok(StateError::Ber(ber)),
        _ => Err(InputError::new(path.to_string(), "give either per or ber")),
    }
}

fn sojourn(fields: &Fields, path: &dyn Display) -> Result<Sojourn> {
    let in_frames = fields.get::<&str>("unit") == "frame";
    let wrong = |key: &str| {
        let message = if in_frames {
            "expected a number of frames such as 100, since unit is \"frame\""
        } else {
            "expected a string such as \"100 ms\", since unit is \"time\""
        };
        InputError::new(format!("{path}.{key}"), message)
    };
    match (in_frames, fields.get::<&Item>("mean_good"), fields.get::<&Item>("mean_bad")) {
        (false, Item::Time(good), Item::Time(bad)) => Ok(Sojourn::Time { mean_good: *good, mean_bad: *bad }),
        (true, Item::Num(good), Item::Num(bad)) => Ok(Sojourn::Frames { mean_good: *good, mean_bad: *bad }),
        (false, Item::Time(_), _) | (true, Item::Num(_), _) => Err(wrong("mean_bad")),
        _ => Err(wrong("mean_good")),
    }
}

/// The flows of an entry: one, or one for each node of a group.
fn flow(fields: &Fields, i: usize, duration: Dur, nodes: &Directory, flows: &mut Vec<Flow>) -> Result<()> {
    let path = format!("flow[{i}]");
    let transport: &Fields = fields.get("transport");
    let udp = transport.tag == "udp";
    for key in ["reverse", "reader", "ack_gaps"] {
        if udp && fields.opt::<&Item>(key).is_some() {
            return Err(InputError::new(
                format!("{path}.{key}"),
                "only TCP has it, and this flow's protocol is \"udp\"",
            ));
        }
    }
    let written = match fields.opt("traffic").map(traffic) {
        Some(written) => written,
        None if udp => {
            let message = "missing; UDP needs model = \"cbr\", \"poisson\" or \"saturated\"";
            return Err(InputError::new(format!("{path}.traffic"), message));
        }
        None => Traffic::Bulk { bytes: None },
    };
    let (from, to): (&str, &str) = (fields.get("from"), fields.get("to"));
    let (starts, ends) = (nodes.all(from, || format!("{path}.from"))?, nodes.all(to, || format!("{path}.to"))?);
    if starts.len() > 1 && ends.len() > 1 {
        let message = format!("\"{from}\" and \"{to}\" are several nodes each; one end of a flow must be one node");
        return Err(InputError::new(format!("{path}.to"), message));
    }
    let is_group = nodes.groups.contains_key(from) || nodes.groups.contains_key(to);
    let pairs = starts.iter().flat_map(|from| ends.iter().map(move |to| (*from, *to)));
    for (nth, (from_id, to_id)) in pairs.enumerate() {
        if from_id == to_id {
            return Err(InputError::new(format!("{path}.to"), format!("the flow would run from \"{to}\" to itself")));
        }
        flows.push(Flow {
            entry: Entry(i),
            dscp: fields.get("dscp"),
            name: match fields.opt::<&str>("name") {
                None => format!("flow{}", flows.len()),
                Some(name) if is_group => format!("{name}{}", nth + 1),
                Some(name) => name.to_owned(),
            },
            from: from_id,
            to: to_id,
            start: fields.get::<Dur>("start").saturating_add(fields.get::<Dur>("stagger").saturating_mul(nth as u64)),
            stop: fields.opt("stop").unwrap_or(duration).min(duration),
            transport: if udp {
                Transport::Udp(UdpSpec { datagram: transport.get("datagram") })
            } else {
                Transport::Tcp(tcp(transport))
            },
            traffic: written,
            reverse: fields.opt("reverse").map_or(Traffic::None, traffic),
            reader: fields.opt("reader").map_or(Reader::Instant, reader),
            ack_gaps: fields.opt("ack_gaps").unwrap_or(false),
        });
    }
    Ok(())
}

fn tcp(fields: &Fields) -> TcpSpec {
    let word = |key: &str| fields.opt::<&str>(key).map(str::to_owned);
    TcpSpec {
        datagram: fields.get("datagram"),
        congestion: word("congestion"),
        receiver: word("receiver"),
        delayed_ack_timeout: fields.opt("delayed_ack_timeout"),
        delayed_ack_count: fields.opt("delayed_ack_count"),
        initial_window: fields.opt("initial_window"),
        initial_ssthresh: fields.opt::<&Item>("initial_ssthresh").map(|item| match item {
            Item::Size(bytes) => Ssthresh::Bytes(*bytes),
            _ => Ssthresh::Unlimited,
        }),
        max_window: fields.opt("max_window"),
        send_buffer: fields.opt("send_buffer"),
        receive_buffer: fields.opt("receive_buffer"),
        min_rto: fields.opt("min_rto"),
        initial_rto: fields.opt("initial_rto"),
        max_rto: fields.opt("max_rto"),
        granularity: fields.opt("granularity"),
        nagle: fields.opt("nagle"),
        timestamps: fields.opt("timestamps"),
        sack: fields.opt("sack"),
        window_scale: fields.opt::<&Item>("window_scale").map(|item| match item {
            Item::Int(shift) => WindowScale::Shift(u8::try_from(*shift).unwrap_or(14)),
            Item::Word("auto") => WindowScale::Auto,
            _ => WindowScale::Off,
        }),
        ecn: fields.opt("ecn"),
        limited_transmit: fields.opt("limited_transmit"),
        handshake_rtt: fields.opt("handshake_rtt"),
        initial_sequence: fields.opt("initial_sequence"),
    }
}

fn traffic(fields: &Fields) -> Traffic {
    match fields.tag {
        "bulk" => Traffic::Bulk { bytes: fields.opt::<Bytes>("bytes") },
        "cbr" => Traffic::Cbr { rate: fields.get("rate") },
        "poisson" => Traffic::Poisson { rate: fields.get("rate") },
        "saturated" => Traffic::Saturated,
        "chunks" => Traffic::Chunks { size: fields.get("size"), every: fields.get("every") },
        _ => Traffic::None,
    }
}

fn reader(fields: &Fields) -> Reader {
    match fields.tag {
        "rate" => Reader::Rate(fields.get("rate")),
        "on-off" => Reader::OnOff { on: fields.get("on"), off: fields.get("off") },
        _ => Reader::Instant,
    }
}

fn scheme(fields: &Fields, i: usize, names: &Names, nodes: &Directory) -> Result<SchemeUse> {
    let declared = names.schemes.iter().find(|(name, _)| *name == fields.tag).map_or(&[][..], |(_, params)| params);
    let mut params = Params::defaults(declared);
    for (key, item) in &fields.entries {
        if let Item::Param(value) = item {
            params.set(key, *value);
        }
    }
    let at = fields.opt("at").map(|at| nodes.list(at, &format_args!("scheme[{i}].at")));
    Ok(SchemeUse { name: fields.tag, at: at.transpose()?, params })
}

fn event(fields: &Fields, i: usize, nodes: &Directory) -> Result<TimedEvent> {
    let node = nodes.find(fields.get("kill"), || format!("event[{i}].kill"))?;
    Ok(TimedEvent { at: fields.get("at"), what: EventKind::Kill(node) })
}
