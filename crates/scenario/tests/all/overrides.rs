//! `--set`: what it replaces, and how it fails.

use scenario::RtsThreshold;

use crate::common::{LEAST, TCP, read_with};

#[test]
fn overrides_replace_values() {
    let s = read_with(
        TCP,
        &[
            ("flow.0.transport.datagram", "500 B"),
            ("flow.download.transport.congestion", "reno"),
            ("flow[1].name", "\"upload\""),
            ("flow.upload.stop", "40 s"),
            ("node.c.position", "[1, 2.5]"),
            ("channel.pair.0.reach", "true"),
            ("radio.rts_threshold", "off"),
            ("scenario.seed", "9"),
            ("scheme.lle-tcp.guard", "1 ms"),
        ],
    )
    .unwrap();
    assert_eq!(s.flows[0].entry.transport.datagram, units::Bytes(500));
    assert_eq!(s.flows[1].name, "upload");
    assert_eq!(s.nodes[2].entry.position, Some([1.0, 2.5]));
    assert_eq!((s.channels.first.pair[0].reach, s.radio.rts_threshold, s.seed), (Some(true), RtsThreshold::Off, 9));
    assert_eq!(s.schemes[1].plug.chosen.params.time("guard"), units::Dur::from_ms(1));

    let s = read_with(
        LEAST,
        &[
            ("channel.errors", "{ model = 'packet', per = 0.1 }"),
            ("flow.0.transport.datagram", "500 B"),
            ("scheme", "[{ name = 'ftca' }, { name = 'lle-tcp', at = ['sender'] }]"),
            ("scheme.1.at", "['receiver']"),
            ("channel.errors.per", "0.2"),
        ],
    )
    .unwrap();
    let at = mac::ErrorsAt::Attempt;
    assert_eq!(s.channels.first.errors, scenario::ErrorSpec::Packet { per: 0.2, control_per: 0.0, at });
    assert_eq!(s.schemes[1].at, Some(vec![units::NodeId(1)]));
}

#[test]
fn a_star_stands_for_every_entry() {
    let s = read_with(TCP, &[("flow.*.transport.datagram", "500 B"), ("flow.1.transport.datagram", "1000 B")]);
    let sizes: Vec<u64> = s.unwrap().flows.iter().map(|flow| flow.entry.transport.datagram.0).collect();
    assert_eq!(sizes, [500, 1000, 500, 500]);
    for (text, path, line) in [
        (TCP, "flow.*.to", "flow[0].to: the flow would run from \"a\" to itself"),
        (LEAST, "scheme.*.to", "scheme.*.to: there is no [[scheme]] to change"),
    ] {
        assert_eq!(read_with(text, &[(path, "a")]).unwrap_err().to_string(), line);
    }
    // A flow over UDP has no congestion control: it is left as it is.
    let datagrams = ("flow.3.transport", "{ protocol = 'udp' }");
    let rate = ("flow.3.traffic", "{ model = 'cbr', rate = '1 Mb/s' }");
    let veno = ("flow.*.transport.congestion", "veno");
    let s = read_with(TCP, &[datagrams, rate, veno]).unwrap();
    let named = |flow: &scenario::Flow| Some(flow.entry.transport.tcp()?.congestion.as_ref()?.id());
    assert_eq!(s.flows.iter().map(named).collect::<Vec<_>>(), [Some("veno"), Some("veno"), Some("veno"), None]);
    let refused = |overrides: &[(&str, &str)]| read_with(TCP, overrides).unwrap_err().to_string();
    assert_eq!(
        refused(&[("flow.*.transport", "{ protocol = 'udp' }"), veno]),
        "flow.*.transport.congestion: no flow has transport.congestion: its transport is another"
    );
    assert_eq!(
        refused(&[datagrams, rate, ("flow.*.transport.congstion", "veno")]),
        "flow[0].transport.congstion: no such key; did you mean \"congestion\"?"
    );
    let none = [("event", "[]"), ("event.*.at", "1 s")];
    assert_eq!(
        read_with(TCP, &none).unwrap_err().to_string(),
        "event.*.at: event has no entry called \"*\"; there are none"
    );
}

#[test]
fn a_plus_appends_an_entry_that_later_overrides_name() {
    let s = read_with(
        TCP,
        &[
            ("node.+", "{ name = 'd' }"),
            ("flow.+", "{ from = 'd', to = 'a' }"),
            ("flow.+", "{ name = 'last', from = 'b', to = 'd' }"),
            ("flow[4].transport.datagram", "500 B"),
            ("flow.last.transport.datagram", "700 B"),
            ("node.d.position", "[1, 2]"),
        ],
    )
    .unwrap();
    let before = read_with(TCP, &[]).unwrap();
    assert_eq!((s.nodes.len(), s.flows.len()), (before.nodes.len() + 1, before.flows.len() + 2));
    let named = |s: &scenario::Scenario| s.flows.iter().map(|flow| flow.name.clone()).collect::<Vec<_>>();
    assert_eq!(named(&s)[..4], named(&before)[..]);
    let ends = |flow: &scenario::Flow| (flow.from.0, flow.to.0, flow.entry.transport.datagram.0);
    assert_eq!(s.flows[4..].iter().map(ends).collect::<Vec<_>>(), [(3, 0, 500), (1, 3, 700)]);
    assert_eq!((&*s.flows[4].name, s.nodes[3].entry.position), ("flow4", Some([1.0, 2.0])));
    // Of what the file has none, it is the first.
    let s = read_with(LEAST, &[("scheme.+", "{ name = 'lle-tcp' }"), ("scheme.lle-tcp.guard", "1 ms")]).unwrap();
    assert_eq!(s.schemes[0].plug.chosen.params.time("guard"), units::Dur::from_ms(1));
    let reversed = [("flow[4].to", "b"), ("flow.+", "{ from = 'a', to = 'b' }")];
    let line = "flow[4].to: flow has 4 entries, flow.0 to flow.3";
    assert_eq!(read_with(TCP, &reversed).unwrap_err().to_string(), line);
}

#[test]
fn a_plus_is_refused_where_no_table_can_be_appended() {
    let arrays = "there are \"node\", \"link\", \"flow\", \"scheme\", \"event\", \"window\", \"channel.pair\", \
                  \"channel.further\" and \"channel.further.pair\"";
    let is_none = |path: &str, at: &str, hint: &str| format!("{path}: \"{at}\" is no array of tables; {hint}");
    for (path, value, line) in [
        ("flwo.+", "{ from = 'a', to = 'b' }", is_none("flwo.+", "flwo", "did you mean \"flow\"?")),
        ("radio.+", "{ x = 1 }", is_none("radio.+", "radio", arrays)),
        ("node.a.position.+", "{}", is_none("node.a.position.+", "node.a.position", arrays)),
        ("+", "{}", is_none("+", "", arrays)),
        ("flow.+.from", "a", "flow.+.from: + is the last step: flow.+ = { from = … }".to_owned()),
        (
            "flow.+",
            "a",
            "flow.+: expected a table such as { from = \"sta1\", to = \"ap\" }, got string \"a\"".to_owned(),
        ),
        (
            "node.+",
            "[{ name = 'd' }]",
            "node.+: expected a table such as { name = \"sta9\" }, got an array".to_owned(),
        ),
        ("flow.+", "{ from = 'a', to = 'z' }", {
            "flow[4].to: no node \"z\"; there are \"a\", \"b\" and \"c\"".to_owned()
        }),
        ("flow.+", "{ from = 'a', too = 'b' }", "flow[4].too: no such key; did you mean \"to\"?".to_owned()),
    ] {
        assert_eq!(read_with(TCP, &[(path, value)]).expect_err(&line).to_string(), line);
    }
}

/// The paths of the arrays of tables of a schema.
fn arrays_of_tables(schema: &serde_json::Value, path: &str, found: &mut Vec<String>) {
    let items = schema.get("items").filter(|items| items.get("properties").is_some() || items.get("oneOf").is_some());
    if let Some(items) = items {
        found.push(path.to_owned());
        return arrays_of_tables(items, &format!("{path}.0"), found);
    }
    for (key, below) in schema.get("properties").and_then(|all| all.as_object()).into_iter().flatten() {
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        arrays_of_tables(below, &at, found);
    }
}

#[test]
fn a_plus_is_understood_at_every_array_of_tables_of_the_schema() {
    let schema = serde_json::from_str(&scenario::json_schema_for(&crate::common::names())).unwrap();
    let mut found = Vec::new();
    arrays_of_tables(&schema, "", &mut found);
    assert!(found.len() >= 9, "{found:?}");
    let far = ("channel.further.+".to_owned(), "{ name = 'far' }".to_owned());
    for path in found {
        let appended = (format!("{path}.+"), "{ name = 'new' }".to_owned());
        let told = scenario::overridden(LEAST, &[far.clone(), appended]).unwrap_or_else(|error| panic!("{error}"));
        assert!(told.contains("\"name\":\"new\""), "{path}: {told}");
    }
}

#[test]
fn overrides_that_lead_nowhere() {
    for (path, value, line) in [
        ("", "1", "\"\": not a path; write it like radio.data_rate or node.ap.position"),
        ("radio..data_rate", "1", "radio..data_rate: not a path; write it like radio.data_rate or node.ap.position"),
        ("radio.dat_rate", "1 Mb/s", "radio.dat_rate: no such key; did you mean \"data_rate\"?"),
        ("raido.data_rate", "1 Mb/s", "raido: no such key; did you mean \"radio\"?"),
        (
            "node.d.position",
            "[0, 0]",
            "node.d.position: node has no entry called \"d\"; there are \"a\", \"b\" and \"c\"",
        ),
        ("node.3.position", "[0, 0]", "node.3.position: node has 3 entries, node.0 to node.2"),
        ("window.1.to", "1 s", "window.1.to: window has one entry, window.0"),
        ("event.5.at", "1 s", "event.5.at: event has 5 entries, event.0 to event.4"),
        (
            "node.99999999999999999999.position",
            "1",
            "node.99999999999999999999.position: node has 3 entries, node.0 to node.2",
        ),
        (
            "radio.standard.name",
            "1",
            "radio.standard.name: radio.standard is string \"802.11b\", which has no \"name\"",
        ),
        ("node.a.position", "[0, 0", "node.a.position: \"[0, 0\" is not TOML: unclosed array, expected `]`"),
        ("scenario.seed", "many", "scenario.seed: expected a whole number of at least 0, got string \"many\""),
        ("flow.download.to", "a", "flow[0].to: the flow would run from \"a\" to itself"),
    ] {
        assert_eq!(read_with(TCP, &[(path, value)]).expect_err(line).to_string(), line);
    }
    let error = read_with(LEAST, &[("scheme.0.at", "['sender']")]).unwrap_err();
    assert_eq!(error.to_string(), "scheme.0.at: there is no [[scheme]] to change");
    let error = read_with(LEAST, &[("scheme", "[{name='ftca'}, {name='ftca'}]"), ("scheme.ftca.at", "['sender']")]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "scheme.ftca.at: scheme[0] and scheme[1] are both called \"ftca\"; take the index"
    );
}

#[test]
fn schemes_are_set_by_words() {
    let set = |text: &str, words: &str| {
        let s = read_with(text, &[("scheme", words)]).unwrap();
        let id = |used: &scenario::SchemeUse| (used.plug.id(), used.plug.chosen.params.clone(), used.at.clone());
        s.schemes.iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(set(TCP, "none"), []);
    assert_eq!(set(LEAST, "lle-tcp"), set(LEAST, "[{ name = 'lle-tcp' }]"));
    assert_eq!(set(LEAST, "ftca, lle-tcp"), set(LEAST, "[{ name = 'ftca' }, { name = 'lle-tcp' }]"));
    assert_eq!(
        set(LEAST, "lle-tcp:guard=1 ms;duplicates=4;at=['sender', 'receiver']"),
        set(LEAST, "[{ name = 'lle-tcp', guard = '1 ms', duplicates = 4, at = ['sender', 'receiver'] }]")
    );
    // What the file says of a scheme stays, as with `interlayer compare`.
    let own: Vec<_> =
        set(TCP, "lle-tcp:guard=1 ms").into_iter().map(|(id, params, at)| (id, params.time("guard"), at)).collect();
    assert!(own.iter().all(|(id, guard, _)| *id == "lle-tcp" && *guard == units::Dur::from_ms(1)));
    assert_eq!(
        own[0].2,
        read_with(TCP, &[]).unwrap().schemes.iter().find(|one| one.plug.id() == "lle-tcp").unwrap().at
    );
    for (words, line) in [
        ("lle-tpc", "scheme[0].name: no scheme \"lle-tpc\"; did you mean \"lle-tcp\"?"),
        ("lle-tcp,", "scheme: an empty name in \"lle-tcp,\"; write none, a scheme, or several with commas"),
        ("lle-tcp:guard", "scheme: \"guard\" is no parameter, as key=value is in NAME:key=value"),
        ("lle-tcp:gard=1 ms", "scheme[0].gard: no such key; did you mean \"guard\"?"),
    ] {
        assert_eq!(read_with(LEAST, &[("scheme", words)]).unwrap_err().to_string(), line);
    }
}

#[test]
fn all_wrong_overrides_are_told_at_once() {
    let error = read_with(LEAST, &[("flow.9.to", "a"), ("node.nobody.role", "ap")]).unwrap_err();
    assert_eq!(error.all().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["flow.9.to", "node.nobody.role"]);
}

#[test]
fn the_file_with_overrides_in_it_is_the_same_scenario() {
    let set = [("radio.data_rate", "5.5 Mb/s"), ("scheme", "lle-tcp:guard=1 ms"), ("flow.*.transport.sack", "true")];
    let pairs = set.map(|(path, value)| (path.to_owned(), value.to_owned()));
    let tables: toml::Table = serde_json::from_str(&scenario::overridden(TCP, &pairs).unwrap()).unwrap();
    let whole = read_with(&toml::to_string(&tables).unwrap(), &[]).unwrap();
    assert_eq!(whole.to_json(), read_with(TCP, &set).unwrap().to_json());
    let wrong = [("node.nobody.role".to_owned(), "ap".to_owned())];
    assert!(scenario::overridden(TCP, &wrong).unwrap_err().to_string().starts_with("node.nobody.role: "));
}
