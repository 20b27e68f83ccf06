//! Second pass: from decoded tables to typed values, node names to ids.

use super::decode::no_such;
use super::item::{Fields, Item};
use super::types::*;
use super::{InputError, Names};
use schemes::Params;
use std::collections::BTreeMap;
use std::fmt::Display;
use units::{BitRate, Bytes, Db, Dur, NodeId};

type Result<T> = std::result::Result<T, InputError>;

/// The whole scenario.
pub(super) fn scenario(file: &Fields, names: &Names) -> Result<Scenario> {
    let run: &Fields = file.get("scenario");
    let duration = run.get("duration");
    let radio = radio(file.get("radio"))?;
    let nodes: Vec<Node> = file.tables("node").map(|fields| node(fields, &radio)).collect();
    let directory = Directory::new(&nodes)?;
    let flows = file.tables("flow").enumerate().map(|(i, fields)| flow(fields, i, duration, &directory));
    let flows = flows.collect::<Result<_>>()?;
    Ok(Scenario {
        name: run.opt::<&str>("name").unwrap_or_default().to_owned(),
        duration,
        warmup: run.get("warmup"),
        seed: run.get("seed"),
        channel: channel(file.get("channel"), &directory)?,
        flows,
        schemes: {
            let uses = file.tables("scheme").enumerate();
            uses.map(|(i, fields)| scheme(fields, i, names, &directory)).collect::<Result<_>>()?
        },
        events: {
            let events = file.tables("event").enumerate();
            events.map(|(i, fields)| event(fields, i, &directory)).collect::<Result<_>>()?
        },
        radio,
        nodes,
    })
}

/// Where node names lead.
struct Directory<'n> {
    ids: BTreeMap<&'n str, NodeId>,
    /// In the order of the file, for suggestions.
    names: Vec<&'n str>,
}

impl<'n> Directory<'n> {
    fn new(nodes: &'n [Node]) -> Result<Directory<'n>> {
        let mut ids = BTreeMap::new();
        for (i, node) in (0u32..).zip(nodes) {
            if let Some(NodeId(first)) = ids.insert(node.name.as_str(), NodeId(i)) {
                let message = format!("node[{first}] is called \"{}\" already", node.name);
                return Err(InputError::new(format!("node[{i}].name"), message));
            }
        }
        Ok(Directory { ids, names: nodes.iter().map(|node| node.name.as_str()).collect() })
    }

    fn find(&self, name: &str, path: impl FnOnce() -> String) -> Result<NodeId> {
        match self.ids.get(name) {
            Some(id) => Ok(*id),
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
            let id = self.find(name, || format!("{path}[{i}]"))?;
            if first_at.insert(id, i).is_some() {
                return Err(InputError::new(format!("{path}[{i}]"), format!("\"{name}\" is here twice")));
            }
            found.push(id);
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
    let queue: &Fields = fields.get("queue");
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
        queue: match (queue.opt("packets"), queue.opt("bytes")) {
            (Some(packets), None) => QueueLimit::Packets(packets),
            (None, Some(bytes)) => QueueLimit::Bytes(bytes),
            _ => return Err(InputError::new("radio.queue", "give either packets or bytes")),
        },
    })
}

fn node(fields: &Fields, radio: &Radio) -> Node {
    let position: &[Item] = fields.get("position");
    Node {
        name: text(fields, "name"),
        position_m: match position {
            [Item::Num(x), Item::Num(y)] => [*x, *y],
            _ => [0.0; 2],
        },
        role: if fields.get::<&str>("role") == "ap" { Role::Ap } else { Role::Station },
        data_rate: fields.opt("data_rate").unwrap_or(radio.data_rate),
        host_delay: fields.get("host_delay"),
    }
}

fn channel(fields: &Fields, nodes: &Directory) -> Result<Channel> {
    let pairs = fields.tables("pair").enumerate();
    Ok(Channel {
        range_m: fields.opt("range"),
        errors: errors(fields.get("errors"), &"channel.errors")?,
        pairs: pairs.map(|(i, fields)| pair(fields, i, nodes)).collect::<Result<_>>()?,
    })
}

fn pair(fields: &Fields, i: usize, nodes: &Directory) -> Result<Pair> {
    let path = format!("channel.pair[{i}]");
    let (between, from, to) = (fields.opt("between"), fields.opt::<&str>("from"), fields.opt::<&str>("to"));
    let (from, to, both_ways) = match (between, from, to) {
        (Some(both), None, None) => match nodes.list(both, &format_args!("{path}.between"))?[..] {
            [a, b] => (a, b, true),
            _ => return Err(InputError::new(path, "between takes two nodes")),
        },
        (None, Some(from), Some(to)) => {
            let from_id = nodes.find(from, || format!("{path}.from"))?;
            let to_id = nodes.find(to, || format!("{path}.to"))?;
            if from_id == to_id {
                return Err(InputError::new(format!("{path}.to"), format!("\"{to}\" is also from")));
            }
            (from_id, to_id, false)
        }
        _ => return Err(InputError::new(path, "give either between (both ways), or from and to (one way)")),
    };
    let own = fields.opt("errors").map(|own| errors(own, &format_args!("{path}.errors")));
    Ok(Pair {
        from,
        to,
        both_ways,
        reach: fields.opt("reach"),
        gain: fields.get::<Db>("gain"),
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

fn flow(fields: &Fields, i: usize, duration: Dur, nodes: &Directory) -> Result<Flow> {
    let path = format!("flow[{i}]");
    let transport: &Fields = fields.get("transport");
    let udp = transport.tag == "udp";
    for key in ["reverse", "reader"] {
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
    let from_id = nodes.find(from, || format!("{path}.from"))?;
    let to_id = nodes.find(to, || format!("{path}.to"))?;
    if from_id == to_id {
        return Err(InputError::new(format!("{path}.to"), format!("the flow would run from \"{to}\" to itself")));
    }
    Ok(Flow {
        name: fields.opt::<&str>("name").map_or_else(|| format!("flow{i}"), str::to_owned),
        from: from_id,
        to: to_id,
        start: fields.get("start"),
        stop: fields.opt("stop").unwrap_or(duration).min(duration),
        transport: if udp {
            Transport::Udp(UdpSpec { datagram: transport.get("datagram") })
        } else {
            Transport::Tcp(tcp(transport))
        },
        traffic: written,
        reverse: fields.opt("reverse").map_or(Traffic::None, traffic),
        reader: fields.opt("reader").map_or(Reader::Instant, reader),
    })
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
        limited_transmit: fields.opt("limited_transmit"),
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
