//! The schema and the decoder know the same keys, and any key misspelt is recognised.

use crate::common::{
    AIR, EXAMPLES, FREE, GROUND, LEAST, MATRIX, TCP, UDP, WIRED, changed, discipline, examples, names, read, refused,
};
use phy::errors::{Sojourn, Step};
use phy::{PathLoss, Standard};
use queue::Limit;
use scenario::*;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use toml::Value;
use units::{BitRate, Bytes, Db, Dbm, Dur, NodeId};

fn schema() -> Json {
    serde_json::from_str(&json_schema_for(&names())).unwrap()
}

/// One key in a tree: where it is (for the error's path), its table's place (a JSON pointer), its name, its place among
/// the schema's keys.
struct KeyUse {
    path: String,
    pointer: String,
    key: String,
    in_schema: String,
}

/// Every key that `value` writes, beside the schema's own description of it.
fn walk(value: &Value, schema: &Json, path: &str, pointer: &str, place: &str, uses: &mut Vec<KeyUse>) {
    match value {
        // A table by names of nodes: its keys are the file's own.
        Value::Table(_) if schema["additionalProperties"].is_object() => {}
        Value::Table(table) => {
            let (schema, place) = alternative(table, schema, place);
            for (key, value) in table {
                let below = &schema["properties"][key];
                assert!(below.is_object(), "{path}.{key} is not in the schema");
                let one = KeyUse {
                    path: if path.is_empty() { key.clone() } else { format!("{path}.{key}") },
                    pointer: pointer.to_owned(),
                    key: key.clone(),
                    in_schema: format!("{place}/{key}"),
                };
                let deeper = format!("{pointer}/{key}");
                walk(value, below, &one.path, &deeper, &one.in_schema, uses);
                uses.push(one);
            }
        }
        Value::Array(entries) => {
            for (i, entry) in entries.iter().enumerate() {
                let (path, pointer) = (format!("{path}[{i}]"), format!("{pointer}/{i}"));
                walk(entry, &schema["items"], &path, &pointer, place, uses);
            }
        }
        _ => {}
    }
}

/// Of a tagged table, the alternative whose constant the table writes.
fn alternative<'s>(table: &toml::Table, schema: &'s Json, place: &str) -> (&'s Json, String) {
    let Some(alternatives) = schema["oneOf"].as_array() else { return (schema, place.to_owned()) };
    for option in alternatives {
        for (key, property) in option["properties"].as_object().unwrap() {
            // A word that need not be written is meant where none is.
            let is_silent = !option["required"].as_array().unwrap().contains(&Json::from(key.as_str()));
            if let Some(word) = property["const"].as_str()
                && table.get(key).map_or(is_silent.then_some(word), Value::as_str) == Some(word)
            {
                return (option, format!("{place}<{word}>"));
            }
        }
    }
    panic!("{place}: no alternative of the schema is {table}");
}

/// Every key of the schema.
fn keys_of(schema: &Json, place: &str, keys: &mut BTreeSet<String>) {
    for option in schema["oneOf"].as_array().into_iter().flatten() {
        let mut constants = option["properties"].as_object().unwrap().values().filter_map(|p| p["const"].as_str());
        let word = constants.next().unwrap();
        keys_of(option, &format!("{place}<{word}>"), keys);
    }
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        keys.insert(format!("{place}/{key}"));
        keys_of(below, &format!("{place}/{key}"), keys);
    }
    if schema["items"].is_object() {
        keys_of(&schema["items"], place, keys);
    }
}

fn uses_of(text: &str) -> (Value, Vec<KeyUse>) {
    let tree = Value::Table(toml::from_str(text).unwrap());
    let mut uses = Vec::new();
    walk(&tree, &schema(), "", "", "", &mut uses);
    (tree, uses)
}

/// One place for tables that have one description and stand at several.
fn described_once(place: &str) -> String {
    [
        ("/channel/further/", "/channel/"),
        ("/channel/pair/errors<", "/errors<"),
        ("/channel/errors<", "/errors<"),
        ("/node/aggregation/", "/radio/aggregation/"),
        ("/flow/reverse<", "/traffic<"),
        ("/flow/traffic<", "/traffic<"),
        (">/good/", ">/state/"),
        (">/bad/", ">/state/"),
        ("/node/aggregation", "/radio/aggregation"),
        ("/scheme<ftca>", "/scheme"),
        ("/scheme<lle-tcp>", "/scheme"),
        // A wire refuses it by its name: its keys are written at radios.
        ("/link/queue<mac80211>", "/radio/queue<mac80211>"),
    ]
    .iter()
    .fold(place.to_owned(), |place, (of, to)| place.replace(of, to))
}

#[test]
fn the_examples_write_every_key_of_the_schema() {
    let mut all = BTreeSet::new();
    keys_of(&schema(), "", &mut all);
    let mut all: BTreeSet<String> = all.iter().map(|key| described_once(key)).collect();
    assert!(all.len() > 100, "{all:?}");
    for text in &examples() {
        for one in uses_of(text).1 {
            all.remove(&described_once(&one.in_schema));
        }
    }
    assert!(all.is_empty(), "no example writes {all:#?}");
}

/// A letter dropped, two swapped, one doubled, at each place of the word.
fn misspellings(key: &str) -> Vec<String> {
    let letters: Vec<char> = key.chars().collect();
    let mut all = Vec::new();
    for i in 0..letters.len() {
        let (mut dropped, mut doubled, mut swapped) = (letters.clone(), letters.clone(), letters.clone());
        dropped.remove(i);
        doubled.insert(i, letters[i]);
        all.extend([dropped, doubled]);
        if i + 1 < letters.len() {
            swapped.swap(i, i + 1);
            all.push(swapped);
        }
    }
    let words = all.into_iter().map(String::from_iter);
    words.filter(|word| word != key).collect()
}

#[test]
fn every_key_misspelt_is_named_with_its_path_and_the_right_key() {
    let mut count = 0;
    for text in EXAMPLES {
        let (tree, uses) = uses_of(text);
        for one in uses {
            for wrong in misspellings(&one.key) {
                let mut tree = tree.clone();
                let table = at(&mut tree, &one.pointer);
                // In its old place, so that errors come in the same order.
                *table = table
                    .iter()
                    .map(|(k, v)| (if *k == one.key { wrong.clone() } else { k.clone() }, v.clone()))
                    .collect();
                let text = toml::to_string(&tree).unwrap();
                let error = read(&text).expect_err(&wrong);
                let stem = one.path.strip_suffix(&one.key).unwrap();
                assert_eq!(error.path, format!("{stem}{wrong}"), "{error}");
                let suggested =
                    error.message.strip_prefix("no such key; did you mean ").unwrap_or_else(|| panic!("{error}"));
                assert!(suggested.contains(&format!("\"{}\"", one.key)), "{error}");
                count += 1;
            }
        }
    }
    assert!(count > 2000, "{count}");
}

fn at<'t>(tree: &'t mut Value, pointer: &str) -> &'t mut toml::Table {
    let found = pointer.split('/').filter(|step| !step.is_empty()).fold(tree, |value, step| match value {
        Value::Array(entries) => &mut entries[step.parse::<usize>().unwrap()],
        Value::Table(table) => table.get_mut(step).unwrap(),
        other => panic!("{other} has no {step}"),
    });
    found.as_table_mut().unwrap()
}

#[test]
fn what_is_read_is_written_and_read_again() {
    for text in &examples() {
        let scenario = read(text).unwrap();
        let json = scenario.to_json();
        let again = toml::to_string(&json).unwrap();
        assert_eq!(read(&again).unwrap_or_else(|error| panic!("{error}\n{again}")), scenario);
        assert_eq!(read(&again).unwrap().to_json().to_string(), json.to_string());
        // And all of it is in the schema.
        uses_of(&again);
    }
}

#[test]
fn the_schema_without_names_allows_any_scheme() {
    let schema: Json = serde_json::from_str(&json_schema()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["scheme"]["items"]["additionalProperties"], true);
    assert_eq!(schema["properties"]["radio"]["properties"]["max_attempts"]["default"], 7);
    assert_eq!(schema["properties"]["radio"]["required"], serde_json::json!(["standard"]));
}

#[test]
fn the_full_example_means_what_it_says() {
    let s = read(TCP).unwrap();
    assert_eq!((s.name.as_str(), s.duration, s.warmup, s.seed), ("full", Dur::from_secs(60), Dur::from_secs(5), 7));
    assert_eq!(s.radio.preamble, Some(Preamble::Short));
    assert_eq!(s.radio.rts_threshold, RtsThreshold::Above(Bytes(500)));
    assert_eq!((s.radio.cw_min, s.radio.cw_max, s.radio.slot), (Some(15), Some(511), None));
    assert_eq!(s.channels.first.range, Some(Metres(22.5)));
    let at = mac::ErrorsAt::Msdu;
    assert_eq!(s.channels.first.errors, ErrorSpec::Packet { per: 0.01, control_per: 0.001, at });
    assert!(s.channels.first.pair[0].ends.both_ways && !s.channels.first.pair[1].ends.both_ways);
    assert_eq!((s.channels.first.pair[1].ends.from, s.channels.first.pair[1].ends.to), (NodeId(0), NodeId(2)));
    assert_eq!(
        s.channels.first.pair[1].errors,
        Some(ErrorSpec::TwoState {
            good: StateError::Ber(1e-6),
            bad: StateError::Per(0.5),
            sojourn: Sojourn::Time { good: Dur::from_secs(1), bad: Dur::from_ms(100) },
            shared: Shared::Direction,
            control: false,
            at,
        })
    );
    assert_eq!((s.nodes[0].entry.role, s.nodes[0].data_rate), (Role::Ap, BitRate::from_kbps(5500)));
    assert_eq!((s.nodes[1].entry.position, s.nodes[1].data_rate), (Some([-3.5, 10.0]), BitRate::from_kbps(11_000)));
    let rates = [0, 1].map(|node: usize| s.nodes[node].rate_control.as_ref().unwrap());
    assert_eq!(rates.map(Plug::id), ["coarse", "fixed"], "its own, and that of all radios");
    let tcp = s.flows[0].entry.transport.tcp().unwrap();
    assert_eq!(
        (tcp.congestion.as_ref().map(Plug::id), tcp.window_scale),
        (Some("veno"), Some(WindowScale::Shift(7)))
    );
    assert_eq!(tcp.initial_sequence, Some(4_294_967_000));
    assert_eq!(s.flows[0].reader(), Reader::OnOff { on: Dur::from_secs(1), off: Dur::from_secs(2) });
    assert_eq!(s.flows[1].name, "flow1");
    assert_eq!(s.flows[1].traffic(), Traffic::Poisson { rate: BitRate::from_kbps(1000) });
    assert_eq!(s.schemes[0].at, None);
    assert_eq!(s.schemes[1].at, Some(vec![NodeId(0), NodeId(1)]));
    assert_eq!(s.schemes[1].plug.chosen.params.choice("advertise"), "free-buffer");
    assert_eq!(s.schemes[1].plug.chosen.params.get("weight"), plugin::Value::Float(1.0));
    let [a, b] = [NodeId(0), NodeId(1)];
    let what = [
        EventKind::Kill(NodeId(2)),
        EventKind::Break(Cut::Between(a, b)),
        EventKind::Heal(Cut::Between(b, a)),
        EventKind::Move(b, [7.0, -8.5]),
        EventKind::Restart(NodeId(2)),
    ];
    let events = (3..).zip(what).map(|(s, what)| TimedEvent { at: Dur::from_secs(s), what });
    assert_eq!(s.events, events.collect::<Vec<_>>());
}

#[test]
fn silence_means_the_documented_defaults() {
    let s = read(LEAST).unwrap();
    assert_eq!((s.name.as_str(), s.warmup, s.seed), ("", Dur::ZERO, 1));
    let radio = Radio {
        standard: Standard::B,
        data_rate: BitRate::from_kbps(11_000),
        rate_control: None,
        basic_rate: None,
        basic_rate_set: None,
        control_rate: ControlRate::Basic,
        rts_rate: None,
        preamble: Some(Preamble::Long),
        modes: Modes::default(),
        dscp_map: None,
        rts_threshold: RtsThreshold::Off,
        fragmentation_threshold: FragmentationThreshold::Off,
        rts_for: RtsFor::All,
        handoff_time: None,
        handoff_queue: None,
        max_attempts: 7,
        max_attempts_long: 4,
        after_timeout: mac::AfterTimeout::Letter,
        tx_power: None,
        levels: None,
        access: Some(Access::Dcf),
        edca: None,
        cw_min: None,
        cw_max: None,
        slot: None,
        protection: Protection::Auto,
        queue: RadioQueue {
            per: None,
            queue: Queue { limit: Limit::Packets(50), discipline: discipline("drop-tail", &[]) },
        },
        access_in_gap: None,
        txop_protection: None,
        countdown: None,
    };
    assert_eq!(s.radio, radio);
    assert_eq!(
        s.channels.first,
        Channel {
            range: None,
            sense_range: None,
            sense_eifs: true,
            errors: ErrorSpec::None,
            pair: vec![],
            powers: None
        }
    );
    let flow = &s.flows[0];
    assert_eq!((flow.name.as_str(), flow.start, flow.stop), ("flow0", Dur::ZERO, s.duration));
    assert_eq!(flow.entry.transport.datagram, Bytes(1500));
    let quiet = (Traffic::Bulk { bytes: None }, Traffic::None, Reader::Instant);
    assert_eq!((flow.traffic(), flow.reverse(), flow.reader()), quiet);
    assert!(s.schemes.is_empty() && s.events.is_empty());

    let s = read(MATRIX).unwrap();
    let capture = Capture { interference: phy::Interference::Noise, relock: None };
    let levels = Levels {
        cca_ed: Dbm(-62.0),
        cca_preamble_latency: Dur::from_us(4),
        preamble_sinr: Db(4.0),
        move_step: None,
        handoff_hysteresis: None,
        capture,
    };
    assert_eq!((s.radio.levels, s.nodes[0].tx_power), (Some(levels), Dbm(16.0)));

    let s = read(UDP).unwrap();
    assert_eq!((s.radio.data_rate, s.radio.basic_rate), (BitRate::from_kbps(54_000), None));
    assert_eq!(s.radio.control_rate, ControlRate::Fixed(BitRate::from_kbps(6000)));
    let queue = Queue { limit: Limit::Bytes(Bytes(64_000)), discipline: discipline("drop-tail", &[]) };
    assert_eq!((s.radio.slot, s.radio.queue.queue), (Some(Slot::Long), queue));
}

#[test]
fn a_node_at_a_link_has_a_radio_only_if_something_says_so() {
    let s = read(WIRED).unwrap();
    assert_eq!(s.nodes.iter().map(|node| node.has_radio).collect::<Vec<_>>(), [false, false, false, true, true]);
    let told = changed(WIRED, "name = \"server\"", "name = \"server\"\nradio = true");
    assert!(read(&told).unwrap().nodes[0].has_radio);
    let placed = changed(WIRED, "name = \"server\"", "name = \"server\"\nposition = [1, 2]");
    assert!(read(&placed).unwrap().nodes[0].has_radio);
    let thresholds = [("min_th", 15_000.0), ("max_th", 45_000.0), ("max_p", 0.1), ("weight", 0.002)];
    let thresholds = thresholds.map(|(key, value)| (key, plugin::Value::Float(value)));
    let red = discipline(
        "red",
        &[&thresholds[..], &[("gentle", plugin::Value::Bool(true)), ("ecn", plugin::Value::Bool(false))]].concat(),
    );
    let backbone = Link {
        name: "backbone".to_owned(),
        ends: Ends { from: NodeId(0), to: NodeId(2), both_ways: true },
        rate: BitRate::from_kbps(100_000),
        delay: Delay::Fixed(Dur::from_ms(2)),
        loss: 0.001,
        errors: LinkErrors::None,
        queue: Queue { limit: Limit::Bytes(Bytes(150_000)), discipline: red },
        index: 0,
    };
    assert_eq!(s.links[0], backbone);
    let sojourn = Sojourn::Frame { good: 10.0, bad: 6.667, step: Step::All };
    let (good, bad) = (StateError::Ber(1e-8), StateError::Per(0.001));
    let errors = [2, 3, 4].map(|i| s.links[i].errors);
    let wanted = [
        LinkErrors::TwoState { good, bad, sojourn },
        LinkErrors::Packet { per: 0.01 },
        LinkErrors::Bit { ber: 1e-6 },
    ];
    assert_eq!(errors, wanted);
    let queue = Queue { limit: Limit::Packets(100), discipline: discipline("drop-tail", &[]) };
    let (name, delay, from, to) = ("link1".to_owned(), Delay::Fixed(Dur::ZERO), NodeId(2), NodeId(3));
    assert_eq!(
        s.links[1],
        Link {
            name,
            ends: Ends { from, to, both_ways: false },
            rate: BitRate::from_kbps(8000),
            delay,
            loss: 0.0,
            errors: LinkErrors::None,
            queue,
            index: 1,
        }
    );
}

#[test]
fn a_link_from_a_group_is_a_link_each_with_a_delay_that_may_be_drawn() {
    let many = |link: &str| {
        format!(
            "scenario = {{ duration = \"1 s\" }}\n[[node]]\nname = \"server\"\ncount = 3\n[[node]]\nname = \"hub\"\n\
             [[link]]\nname = \"wan\"\nbetween = [\"server\", \"hub\"]\nrate = \"8 Mb/s\"\n{link}\n\
             [[flow]]\nfrom = \"server\"\nto = \"hub\"\n"
        )
    };
    let drawn = "delay = { draw = \"uniform\", low = \"10 ms\", high = \"50 ms\" }";
    let s = read(&many(drawn)).unwrap();
    assert!(s.nodes.iter().all(|node| !node.has_radio), "a group at a link is wired");
    let (low, high) = (Dur::from_ms(10), Dur::from_ms(50));
    for (i, link) in (0u32..).zip(&s.links) {
        assert_eq!((link.name.clone(), link.index), (format!("wan{}", i + 1), 0));
        assert_eq!(link.ends, Ends { from: NodeId(i), to: NodeId(3), both_ways: true });
        assert_eq!(link.delay, Delay::Drawn(Distribution::Uniform { low, high }));
    }
    assert_eq!(s.links.len(), 3);
    assert_eq!(read(&toml::to_string(&s.to_json()).unwrap()).unwrap(), s);
    assert!(read(&many(drawn).replace("count = 3", "count = 0")).unwrap().links.is_empty());
    let one_way = many(drawn)
        .replace("count = 3", "count = 3\nradio = false")
        .replace("between = [\"server\", \"hub\"]", "from = \"hub\"\nto = [\"server1\", \"server3\"]");
    let ends: Vec<_> = read(&one_way).unwrap().links.iter().map(|link| link.ends).collect();
    assert_eq!(ends, [0, 2].map(|to| Ends { from: NodeId(3), to: NodeId(to), both_ways: false }));
    let listed = "scenario = { duration = \"1 s\" }\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[node]]\nname = \"c\"\n\
                  [[link]]\nfrom = [\"a\", \"b\"]\nto = \"c\"\nrate = \"1 Mb/s\"\n[[flow]]\nfrom = \"a\"\nto = \"c\"\n";
    let names: Vec<_> = read(listed).unwrap().links.into_iter().map(|link| link.name).collect();
    assert_eq!(names, ["link0", "link1"]);
    for (spelt, meant) in [
        (
            "{ draw = \"normal\", mean = \"20 ms\", deviation = \"5 ms\" }",
            Distribution::Normal { mean: Dur::from_ms(20), deviation: Dur::from_ms(5), low: Dur::ZERO, high: None },
        ),
        (
            "{ draw = \"normal\", mean = \"20 ms\", deviation = \"5 ms\", low = \"10 ms\", high = \"50 ms\" }",
            Distribution::Normal { mean: Dur::from_ms(20), deviation: Dur::from_ms(5), low, high: Some(high) },
        ),
        ("{ draw = \"exponential\", mean = \"10 ms\" }", Distribution::Exponential { mean: low }),
    ] {
        let s = read(&many(&format!("delay = {spelt}"))).unwrap();
        assert_eq!(s.links[2].delay, Delay::Drawn(meant));
        assert_eq!(read(&toml::to_string(&s.to_json()).unwrap()).unwrap(), s);
    }
    let refuse = |delay: &str, line: &str| refused(&many(&format!("delay = {delay}")), line);
    let expected = "a string such as \"20 ms\", or a distribution such as { draw = \"uniform\", low = \"10 ms\", high = \"50 ms\" }";
    refuse("3", &format!("link[0].delay: expected {expected}, got integer 3"));
    refuse("\"3\"", "link[0].delay: \"3\": the unit is missing (ns, us, ms, s, min); write it like \"20 ms\"");
    refuse(
        "{ draw = \"unifrom\", low = \"1 ms\", high = \"2 ms\" }",
        "link[0].delay.draw: no distribution \"unifrom\"; did you mean \"uniform\"?",
    );
    refuse(
        "{ draw = \"uniform\", low = \"1 ms\" }",
        "link[0].delay.high: missing; expected a string such as \"20 ms\"",
    );
    refuse(
        "{ draw = \"uniform\", mean = \"1 ms\" }",
        "link[0].delay.mean: no such key with draw = \"uniform\"; it goes with \"normal\" or \"exponential\"",
    );
    refuse(
        "{ draw = \"uniform\", low = \"3 ms\", high = \"2 ms\" }",
        "link[0].delay.high: 2 ms is less than low, 3 ms",
    );
    let normal = |rest: &str| format!("{{ draw = \"normal\", mean = \"20 ms\", deviation = \"5 ms\", {rest} }}");
    refuse(&normal("low = \"21 ms\""), "link[0].delay.mean: 20 ms is less than low, 21 ms");
    refuse(&normal("high = \"19 ms\""), "link[0].delay.mean: 20 ms is more than high, 19 ms");
    let with_radios = many(drawn).replace("scenario =", "radio = { standard = \"802.11b\" }\nscenario =");
    let both = with_radios.replace("[\"server\", \"hub\"]", "[\"server\", \"server\"]");
    refused(&both, "link[0].to: \"server1\" is also from");
    let itself = with_radios.replace("[\"server\", \"hub\"]", "[\"hub\", \"hub\"]");
    refused(&itself, "link[0].to: \"hub\" is also from");
}

#[test]
fn two_groups_make_pairs_in_order() {
    let both = "[[node]]\nname = \"srv\"\ncount = 3\n[[link]]\nbetween = [\"srv\", \"ap\"]\nrate = \"10 Mb/s\"\n";
    let text = format!("{}{both}", changed(AIR, "from = \"sta\"\nto = \"ap\"", "from = \"srv\"\nto = \"sta\""));
    let ends = |text: &str| read(text).unwrap().flows.iter().map(|flow| (flow.from.0, flow.to.0)).collect::<Vec<_>>();
    assert_eq!(ends(&text), [(5, 1), (6, 2), (7, 3)]);
    assert_eq!(
        ends(&changed(&text, "to = \"sta\"", "to = \"sta\"\ncount = 5"))[2..],
        [(7, 3), (5, 1), (6, 2)],
        "round and round"
    );
    assert_eq!(ends(&changed(&text, "to = \"sta\"", "to = \"sta\"\ncount = 2")), [(5, 1), (6, 2)]);
    let four = changed(&text, "name = \"srv\"\ncount = 3", "name = \"srv\"\ncount = 4");
    refused(
        &four,
        "flow[0].to: \"srv\" is 4 nodes and \"sta\" 3; as many, or one; or both are drawn: hops = \"any\"",
    );
}

#[test]
fn an_entry_with_a_count_makes_as_many_nodes_and_a_flow_from_it_one_for_each() {
    let s = read(AIR).unwrap();
    assert_eq!(s.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["ap", "sta1", "sta2", "sta3", "old"]);
    let flows: Vec<_> =
        s.flows.iter().map(|flow| (flow.name.as_str(), flow.from, flow.to, flow.entry.dscp)).collect();
    assert_eq!(
        flows,
        [("up1", NodeId(1), NodeId(0), 46), ("up2", NodeId(2), NodeId(0), 46), ("up3", NodeId(3), NodeId(0), 46)]
    );
    let later = read(&changed(AIR, "to = \"ap\"", "to = \"ap\"\nstart = \"1 s\"\nstagger = \"10 ms\"")).unwrap();
    assert_eq!(later.flows.iter().map(|flow| flow.start).collect::<Vec<_>>(), [1000, 1010, 1020].map(Dur::from_ms));
    refused(
        &changed(AIR, "to = \"ap\"", "to = \"ap\"\nstagger = \"900000 s\""),
        "flow[0].start: 900000 s is not before the end of the run at 5 s",
    );
    let twice = read(&changed(AIR, "to = \"ap\"", "to = \"ap\"\ncount = 5\nstagger = \"10 ms\"")).unwrap();
    let named: Vec<_> = twice.flows.iter().map(|flow| (flow.name.as_str(), flow.from.0, flow.start)).collect();
    let at = Dur::from_ms;
    assert_eq!(named[2..5], [("up3", 3, at(20)), ("up4", 1, at(30)), ("up5", 2, at(40))]);
    assert_eq!(named.len(), 5, "round the three stations");
    assert!(read(&changed(AIR, "to = \"ap\"", "to = \"ap\"\ncount = 0")).unwrap().flows.is_empty());
    refused(
        &changed(AIR, "to = \"ap\"", "to = \"ap\"\ncount = 20000"),
        "flow[0].count: expected a whole number from 0 to 10000, got integer 20000",
    );
    let none = read(&changed(AIR, "count = 3", "count = 0")).unwrap();
    assert_eq!(none.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["ap", "old"]);
    assert!(none.flows.is_empty(), "a flow from no node is no flow");
    refused(
        &changed(AIR, "from = \"sta\"\nto = \"ap\"", "from = \"ap\"\nto = \"stb\""),
        "flow[0].to: no node \"stb\"; did you mean \"sta\"?",
    );
    refused(
        &changed(AIR, "from = \"sta\"\nto = \"ap\"", "from = \"sta\"\nto = \"sta\""),
        "flow[0].to: the flow would run from \"sta\", each node to itself; or both ends are drawn: hops = \"any\"",
    );
    refused(&changed(AIR, "name = \"old\"", "name = \"sta2\""), "node[2].name: node[1] is called \"sta2\" already");
    let pair = format!("{AIR}[[channel.pair]]\nbetween = [\"ap\", \"sta\"]\ngain = \"-60 dB\"\n");
    refused(&pair, "channel.pair[0].between: expected two nodes");
}

#[test]
fn ends_that_are_drawn_are_read_and_written_as_what_they_are_drawn_among() {
    let s = read(&changed(AIR, "to = \"ap\"", "to = [\"sta\", \"old\"]\nhops = [2, 3]\ncount = 2")).unwrap();
    let stations = [1, 2, 3].map(NodeId);
    for (flow, name) in s.flows.iter().zip(["up1", "up2"]) {
        assert_eq!((flow.name.as_str(), flow.entry.hops), (name, Some(Hops::Between(2, 3))));
        assert_eq!((&flow.entry.from.nodes[..], &flow.entry.to.nodes[..3]), (&stations[..], &stations[..]));
        assert_eq!(flow.entry.to.nodes[3], NodeId(4));
    }
    let written = &s.to_json()["flow"];
    assert_eq!(written.as_array().unwrap().len(), 2);
    assert_eq!(written[1]["to"], serde_json::json!(["sta1", "sta2", "sta3", "old"]));
    assert_eq!(read(&toml::to_string(&s.to_json()).unwrap()).unwrap(), s);
    for (hops, read_as) in [("\"any\"", Hops::Any), ("2", Hops::Between(2, 2)), ("[1, 64]", Hops::Between(1, 64))] {
        let one = read(&changed(AIR, "to = \"ap\"", &format!("to = \"ap\"\nhops = {hops}"))).unwrap();
        assert_eq!((one.flows.len(), one.flows[0].entry.hops, one.flows[0].name.as_str()), (1, Some(read_as), "up"));
    }
    // A list of nodes without hops is a group without a name.
    let each = read(&changed(AIR, "from = \"sta\"", "from = [\"sta1\", \"old\"]")).unwrap();
    assert_eq!(each.flows.iter().map(|flow| flow.from).collect::<Vec<_>>(), [1, 4].map(NodeId));
    let refuse = |keys: &str, why: &str| refused(&changed(AIR, "to = \"ap\"", keys), why);
    let expected = "expected a number of hops such as 2, two such as [2, 3], or \"any\", got";
    refuse("to = \"sta\"\nhops = \"two\"", &format!("flow[0].hops: {expected} string \"two\""));
    refuse("to = \"sta\"\nhops = [1, 2, 3]", &format!("flow[0].hops: {expected} an array"));
    refuse("to = \"sta\"\nhops = 0", "flow[0].hops: expected a whole number from 1 to 64, got integer 0");
    refuse("to = \"sta\"\nhops = [3, 2]", "flow[0].hops: [3, 2] begins above its end; write [2, 3]");
    refuse("to = \"sta\"\nhops = [2, 99]", "flow[0].hops[1]: expected a whole number from 1 to 64, got integer 99");
    refuse("to = \"sta\"\nhop = 2", "flow[0].hop: no such key; did you mean \"hops\"?");
    // Of three stations there are three pairs; with one more node on one side three more.
    refuse(
        "to = \"sta\"\nhops = 2\ncount = 4",
        "flow[0].count: 4 pairs are to be drawn, and \"sta\" and \"sta\" make 3",
    );
    refuse(
        "to = [\"sta\", \"old\"]\nhops = 2\ncount = 7",
        "flow[0].count: 7 pairs are to be drawn, and \"sta\" and \"sta, old\" make 6",
    );
    refuse("to = [\"sta\", \"sta1\"]", "flow[0].to[1]: \"sta1\" is here twice");
    refuse("to = []", "flow[0].to: expected the name of a node, or an array with one at least");
    refuse("to = [[\"sta\"]]", "flow[0].to[0]: expected the name of a node, got an array");
}

#[test]
fn powers_categories_and_layout_mean_what_they_say() {
    let s = read(AIR).unwrap();
    assert_eq!(s.layout, Some(Layout::Disc { radius: Metres(25.0), redraw: Redraw { connected: true, tries: 5 } }));
    assert_eq!((s.nodes[0].tx_power, s.nodes[1].tx_power), (Dbm(20.0), Dbm(18.0)));
    assert_eq!((s.nodes[0].access, s.nodes[4].access), (Access::Edca, Access::Dcf));
    let vo = s.nodes[0].categories[3];
    // AIFSN of its own, the rest of the radio's.
    assert_eq!((vo.aifsn, vo.cw_min, vo.txop_limit), (Some(1), Some(3), Some(Dur::from_us(1504))));
    assert_eq!(s.nodes[1].categories[3].aifsn, Some(2));
    let it = s.channels.first.powers.unwrap();
    let loss = PathLoss::LogDistance { exponent: 3.5, reference_m: 2.0, reference_loss_db: 50.0 };
    assert_eq!(
        (it.propagation, it.shadowing, it.fading),
        (loss, Db(4.0), Fading::Rayleigh { coherence: Dur::from_ms(10) })
    );
    let levels = s.radio.levels.unwrap();
    let rule = |levels: &Levels| levels.capture.relock.map(|it| it.rule(levels.preamble_sinr));
    assert_eq!(rule(&levels), Some(phy::Capture { clear: Db(8.0), garbled: Db(20.0) }));
    assert_eq!(levels.capture.interference, phy::Interference::Noise);
    // Not stated: 15 dB over noise, and what a preamble takes (3 dB) where the modem says what a frame suffers.
    let unstated = changed(AIR, "capture_garbled = \"20 dB\"\n", "");
    let garbled = |text: &str| rule(&read(text).unwrap().radio.levels.unwrap()).unwrap().garbled;
    assert_eq!(garbled(&unstated), Db(15.0));
    assert_eq!(garbled(&changed(&unstated, "\"noise\"", "\"modem\"")), Db(3.0));
    refused(
        &changed(AIR, "\"noise\"", "\"modems\""),
        "radio.interference: no measure of interference \"modems\"; did you mean \"modem\"?",
    );
    let alone = "has an effect only with channel.propagation";
    refused(
        &changed(LEAST, "[[node]]", "[channel]\nnoise = \"-90 dBm\"\n[[node]]"),
        &format!("channel.noise: {alone}"),
    );
    refused(&changed(LEAST, "\"802.11b\"", "\"802.11b\"\ntx_power = \"1 dBm\""), &format!("radio.tx_power: {alone}"));
    refused(
        &changed(AIR, "cca_preamble_latency = \"16 us\"", "cca_preamble_latency = \"24 us\""),
        "radio.cca_preamble_latency: 24 us is not less than the shortest frame, 24 us",
    );
    let both = changed(FREE, "channel = {", "channel = { range = \"9 m\",");
    refused(&both, "channel.range: powers decide who hears whom where channel.propagation is given");
}

#[test]
fn fading_by_doppler_has_a_shift_or_a_speed() {
    let model = |text: &str| {
        let s = read(text).unwrap();
        s.channels.first.powers.unwrap().fading_model(s.radio.standard)
    };
    let shift = |text: &str| match model(text) {
        Some(phy::FadingModel::Doppler(shift)) => shift.0,
        other => panic!("{other:?}"),
    };
    assert_eq!(shift(GROUND), 10.0);
    // v f / c: 1 m/s at 2.4 GHz, which the propagation states, is 8.0055 Hz.
    assert!((shift(FREE) - 8.005_538).abs() < 1e-6);
    // A law without a frequency: the middle of the band, 5.18 GHz. 17.279 Hz.
    let air =
        changed(AIR, "{ model = \"rayleigh\", coherence = \"10 ms\" }", "{ model = \"jakes\", speed = \"1 m/s\" }");
    assert!((shift(&air) - 17.278_620).abs() < 1e-6);
    let refuse = |keys: &str, why: &str| refused(&changed(&air, ", speed = \"1 m/s\"", keys), why);
    let either = "channel.fading: give either doppler (such as \"10 Hz\") or speed (such as \"1 m/s\")";
    refuse("", either);
    refuse(", speed = \"1 m/s\", doppler = \"10 Hz\"", either);
    refuse(", speed = \"301 m/s\"", "channel.fading.speed: \"301 m/s\" is too large; 300 m/s is the most");
    refuse(
        ", speed = \"1 mph\"",
        "channel.fading.speed: \"1 mph\": the unit is none of m/s, km/h; write it like \"1.5 m/s\"",
    );
    refuse(", doppler = \"0 Hz\"", "channel.fading.doppler: \"0 Hz\" is out of range");
}

#[test]
fn without_radios_nothing_need_be_said_of_them() {
    let wired = "scenario = { duration = \"1 s\" }\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
                 [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mb/s\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
    let s = read(wired).unwrap();
    assert!(s.nodes.iter().all(|node| !node.has_radio));
    refused(&changed(wired, "name = \"b\"\n", "name = \"b\"\nradio = true\n"), "radio: missing; expected a table");
    // What it has without a word is what 802.11b has without a word.
    let with = changed(wired, "[[node]]", "radio = { standard = \"802.11b\" }\n[[node]]");
    assert_eq!(read(&with).unwrap().radio, s.radio);
}
