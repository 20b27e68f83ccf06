//! Every kind of contradiction between keys, and the one line it is answered with.

use crate::common::{CHANNELS, LEAST, TCP, UDP, WIRED, all_refused, changed, read, refused};

#[test]
fn the_radio() {
    all_refused(
        TCP,
        &[
            (
                "data_rate = \"11 Mb/s\"",
                "data_rate = \"54 Mb/s\"",
                "radio.data_rate: 802.11b has no rate \"54 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"",
            ),
            (
                "basic_rate = \"1 Mb/s\"",
                "basic_rate = \"6 Mb/s\"",
                "radio.basic_rate: 802.11b has no rate \"6 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"",
            ),
            (
                "control_rate = \"basic\"",
                "control_rate = \"6 Mb/s\"",
                "radio.control_rate: 802.11b has no rate \"6 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"",
            ),
            (
                "control_rate = \"basic\"",
                "rts_rate = \"6 Mb/s\"",
                "radio.rts_rate: 802.11b has no rate \"6 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"",
            ),
            (
                "control_rate = \"basic\"",
                "basic_rate_set = [\"1 Mb/s\"]",
                "radio.basic_rate_set: basic_rate says that there is only one; give either of them",
            ),
            (
                "basic_rate = \"1 Mb/s\"",
                "basic_rate_set = [\"1 Mb/s\", \"6 Mb/s\"]",
                "radio.basic_rate_set[1]: 802.11b has no rate \"6 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"",
            ),
            (
                "basic_rate = \"1 Mb/s\"",
                "basic_rate_set = [\"2 Mb/s\", \"2 Mb/s\"]",
                "radio.basic_rate_set[1]: \"2 Mb/s\" is here twice",
            ),
            (
                "basic_rate = \"1 Mb/s\"",
                "basic_rate_set = []",
                "radio.basic_rate_set: expected bit rates such as [\"1 Mb/s\", \"2 Mb/s\"], got an array of 0",
            ),
            (
                "data_rate = \"5.5 Mb/s\"",
                "data_rate = \"6 Mb/s\"",
                "node[0].data_rate: 802.11b has no rate \"6 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"",
            ),
            (
                "c = \"11 Mb/s\"",
                "c = \"12 Mb/s\"",
                "node[0].data_rate_to.c: 802.11b has no rate \"12 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"",
            ),
            ("c = \"11 Mb/s\"", "a = \"11 Mb/s\"", "node[0].data_rate_to.a: a node sends nothing to itself"),
            ("c = \"11 Mb/s\"", "cc = \"11 Mb/s\"", "node[0].data_rate_to.cc: no node \"cc\"; did you mean \"c\"?"),
            (
                "c = \"11 Mb/s\"",
                "c = 11",
                "node[0].data_rate_to.c: expected a string such as \"11 Mb/s\", got integer 11",
            ),
            (
                "data_rate_to = { b = \"2 Mb/s\", c = \"11 Mb/s\" }",
                "data_rate_to = \"2 Mb/s\"",
                "node[0].data_rate_to: expected a bit rate for each receiver such as { laptop = \"11 Mb/s\" }, got string \"2 Mb/s\"",
            ),
            ("cw_min = 15", "cw_min = 600", "radio.cw_max: 511 is less than cw_min, 600"),
            ("cw_min = 15\ncw_max = 511", "cw_max = 15", "radio.cw_max: 15 is less than cw_min, 31, the standard's"),
            (
                "cw_min = 15\ncw_max = 511",
                "cw_min = 2047",
                "radio.cw_min: 2047 is greater than cw_max, 1023, the standard's",
            ),
            (
                "cw_min = 15",
                "slot = \"short\"",
                "radio.slot: only 802.11g has a slot to choose, and standard is \"802.11b\"",
            ),
            (
                "{ packets = 100 }",
                "{ bytes = \"900 B\" }",
                "radio.queue.bytes: 900 B holds not one datagram of 1000 B (flow[0])",
            ),
        ],
    );
    let old = changed(LEAST, "\"802.11b\"", "\"802.11\"\npreamble = \"short\"");
    refused(&old, "radio.preamble: 802.11 has only the long preamble; 802.11b and 802.11g have a short one");
    let ofdm = changed(LEAST, "\"802.11b\"", "\"802.11a\"\npreamble = \"long\"");
    refused(&ofdm, "radio.preamble: 802.11a has no DSSS preamble to choose");
}

#[test]
fn links_and_queues() {
    all_refused(
        WIRED,
        &[
            ("name = \"backbone\"", "name = \"link1\"", "link[1].name: link[0] is called \"link1\" already"),
            (
                "break = \"backbone\"",
                "break = \"backbon\"",
                "event[0].break: no link \"backbon\"; did you mean \"backbone\"?",
            ),
            (
                "break = \"backbone\"",
                "heal = [\"mirror\", \"laptop\"]",
                "event[0].heal: no link joins \"mirror\" and \"laptop\", and \"mirror\" has no radio",
            ),
            (
                "break = \"backbone\"",
                "move = \"server\"\nto = [1, 2]",
                "event[0].move: \"server\" has no radio: where it stands is of no consequence",
            ),
            (
                "from = \"router\"\nto = \"ap\"",
                "from = \"router\"\nto = \"router\"",
                "link[1].to: \"router\" is also from",
            ),
            (
                "from = \"router\"\nto = \"ap\"",
                "from = \"server\"\nto = \"router\"",
                "link[1]: link[0] leads from \"server\" to \"router\" already",
            ),
            (
                "from = \"router\"\nto = \"ap\"",
                "from = \"router\"",
                "link[1]: give either between (both ways), or from and to (one way)",
            ),
            (
                "between = [\"server\", \"router\"]",
                "between = [\"server\", \"rooter\"]",
                "link[0].between[1]: no node \"rooter\"; did you mean \"router\"?",
            ),
            (
                "loss = 0.001",
                "loss = 0.001\nerrors = { model = \"bit\", ber = 1e-6 }",
                "link[0].errors: this link has a loss of 0.001 already; write either loss or errors",
            ),
            ("packets = 20", "packets = 20, bytes = \"9 kB\"", "link[4].queue: give either packets or bytes"),
            (
                "packets = 20",
                "packets = 20, min_th = 3",
                "link[4].queue.min_th: no such key with discipline = \"drop-tail\"; it goes with \"red\"",
            ),
            (
                "bytes = \"150 kB\"",
                "bytes = \"1 kB\"",
                "link[0].queue.bytes: 1000 B holds not one datagram of 1500 B (flow[0])",
            ),
            ("max_th = 30", "max_th = 9", "radio.queue.max_th: 9 is not above min_th, 10"),
            ("weight = 0.01", "weight = 0", "radio.queue.weight: must be more than zero"),
            (
                "name = \"laptop\"",
                "name = \"laptop\"\nqueue = { packets = 5, bytes = \"9 kB\" }",
                "node[4].queue: give either packets or bytes",
            ),
            (
                "name = \"laptop\"",
                "name = \"laptop\"\nqueue = { discipline = \"red\", packets = 5, min_th = 4, max_th = 3 }",
                "node[4].queue.max_th: 3 is not above min_th, 4",
            ),
            (
                "name = \"mirror\"",
                "name = \"mirror\"\nqueue = { packets = 5 }",
                "node[1].queue: \"mirror\" has no radio; a wire has its queues in its [[link]]",
            ),
        ],
    );
    let pair = format!("{WIRED}\n[[channel.pair]]\nbetween = [\"laptop\", \"server\"]\n");
    refused(&pair, "channel.pair[0].between[1]: \"server\" has no radio");
}

#[test]
fn nodes_and_flows() {
    all_refused(
        TCP,
        &[
            ("name = \"b\"", "name = \"a\"", "node[1].name: node[0] is called \"a\" already"),
            (
                "name = \"b\"",
                "name = \"a.b\"",
                "node[1].name: \"a.b\" contains a dot or bracket, which separate keys in paths",
            ),
            ("name = \"b\"", "name = \"12\"", "node[1].name: \"12\" is a number, which in paths means an index"),
            (
                "from = \"a\"\nto = \"b\"",
                "from = \"a\"\nto = \"bb\"",
                "flow[0].to: no node \"bb\"; did you mean \"b\"?",
            ),
            (
                "from = \"a\"\nto = \"b\"",
                "from = \"a\"\nto = \"server\"",
                "flow[0].to: no node \"server\"; there are \"a\", \"b\" and \"c\"",
            ),
            (
                "from = \"a\"\nto = \"b\"",
                "from = \"a\"\nto = \"a\"",
                "flow[0].to: the flow would run from \"a\" to itself",
            ),
            (
                "from = \"b\"",
                "name = \"download\"\nfrom = \"b\"",
                "flow[1].name: flow[0] is called \"download\" already",
            ),
            ("start = \"1 s\"", "start = \"60 s\"", "flow[0].start: 60 s is not before the end of the run at 60 s"),
            ("stop = \"50 s\"", "stop = \"500 ms\"", "flow[0].stop: 500 ms is not after the start at 1 s"),
            ("warmup = \"5 s\"", "warmup = \"60 s\"", "scenario.warmup: 60 s leaves nothing of a run of 60 s"),
            ("kill = \"c\"", "kill = \"d\"", "event[0].kill: no node \"d\"; there are \"a\", \"b\" and \"c\""),
            ("kill = \"c\"", "", "event[0]: give one of kill, restart, break, heal and move"),
            (
                "kill = \"c\"",
                "kill = \"c\"\nheal = \"x\"",
                "event[0]: give one of kill, restart, break, heal and move",
            ),
            ("kill = \"c\"", "kill = \"c\"\nto = [1, 2]", "event[0].to: has an effect only with move"),
            ("kill = \"c\"", "mve = \"c\"", "event[0].mve: no such key; did you mean \"move\"?"),
            ("to = [7, -8.5]", "", "event[3].to: missing; expected two numbers such as [0, 22.5]"),
            ("to = [7, -8.5]", "to = [7]", "event[3].to: expected two numbers such as [0, 22.5], got an array of 1"),
            ("move = \"b\"", "move = \"d\"", "event[3].move: no node \"d\"; there are \"a\", \"b\" and \"c\""),
            (
                "range = \"22.5 m\"\nsense_range = \"50 m\"\n",
                "",
                "event[3].move: where nodes stand is of no consequence without channel.range or a propagation by distance",
            ),
            ("break = [\"a\", \"b\"]", "break = [\"a\", \"a\"]", "event[1].break[1]: \"a\" is here twice"),
            ("break = [\"a\", \"b\"]", "break = \"wire\"", "event[1].break: no link \"wire\"; there are none"),
            (
                "break = [\"a\", \"b\"]",
                "break = 3",
                "event[1].break: expected the name of a link, or two names of nodes such as [\"a\", \"b\"], got integer 3",
            ),
            ("at = \"3 s\"", "at = \"61 s\"", "event[0].at: 61 s is after the end of the run at 60 s"),
            (
                "between = [\"a\", \"b\"]",
                "between = [\"a\", \"x\"]",
                "channel.pair[0].between[1]: no node \"x\"; there are \"a\", \"b\" and \"c\"",
            ),
            (
                "between = [\"a\", \"b\"]",
                "between = [\"a\", \"a\"]",
                "channel.pair[0].between[1]: \"a\" is here twice",
            ),
            (
                "between = [\"a\", \"b\"]",
                "between = [\"c\", \"a\"]",
                "channel.pair[1]: channel.pair[0] speaks of \"a\" to \"c\" already",
            ),
            ("from = \"a\"\nto = \"c\"", "from = \"a\"\nto = \"a\"", "channel.pair[1].to: \"a\" is also from"),
            (
                "datagram = \"1000 B\"",
                "datagram = \"52 B\"",
                "flow[0].transport.datagram: 52 B has no room for data beside 52 B of TCP/IP headers and timestamps",
            ),
            (
                "datagram = \"1000 B\"",
                "datagram = \"2297 B\"",
                "flow[0].transport.datagram: 2297 B does not fit an MSDU; 2296 B is the most",
            ),
            (
                "datagram = \"1000 B\"",
                "datagram = \"0.5 B\"",
                "flow[0].transport.datagram: \"0.5 B\" is not a whole number of bytes",
            ),
            ("min_rto = \"1 s\"", "min_rto = \"61 s\"", "flow[0].transport.min_rto: 61 s is more than max_rto, 60 s"),
            (
                "\"poisson\", rate = \"1 Mb/s\"",
                "\"saturated\"",
                "flow[1].traffic.model: \"saturated\" is not for TCP; take bulk, cbr, poisson or chunks",
            ),
            (
                "\"cbr\", rate = \"2 Mb/s\"",
                "\"saturated\"",
                "flow[1].reverse.model: \"saturated\" is not for TCP; take bulk, cbr, poisson or chunks",
            ),
        ],
    );
    all_refused(
        UDP,
        &[
            (
                "\"500 B\"",
                "\"28 B\"",
                "flow[0].transport.datagram: 28 B has no room for data beside 28 B of UDP/IP headers",
            ),
            (
                "\"saturated\"",
                "\"bulk\"",
                "flow[0].traffic.model: \"bulk\" is not for UDP; take cbr, poisson or saturated",
            ),
            (
                "to = \"b\"",
                "to = \"b\"\nreader = { model = \"instant\" }",
                "flow[0].reader: only TCP has it, and this flow's protocol is \"udp\"",
            ),
            (
                "to = \"b\"",
                "to = \"b\"\nreverse = { model = \"none\" }",
                "flow[0].reverse: only TCP has it, and this flow's protocol is \"udp\"",
            ),
            (
                "datagram = \"500 B\"",
                "nagle = true",
                "flow[0].transport.nagle: no such key with protocol = \"udp\"; it goes with \"tcp\"",
            ),
        ],
    );
}

#[test]
fn the_schemes() {
    all_refused(
        TCP,
        &[
            (
                "name = \"lle-tcp\"",
                "name = \"lletcp\"",
                "scheme[1].name: no scheme \"lletcp\"; did you mean \"lle-tcp\"?",
            ),
            ("name = \"lle-tcp\"", "name = 3", "scheme[1].name: expected the name of a scheme, got integer 3"),
            ("name = \"lle-tcp\"", "nam = \"lle-tcp\"", "scheme[1].nam: no such key; did you mean \"name\"?"),
            (
                "at = [\"a\", \"b\"]",
                "at = [\"a\", \"d\"]",
                "scheme[1].at[1]: no node \"d\"; there are \"a\", \"b\" and \"c\"",
            ),
            ("at = [\"a\", \"b\"]", "at = [\"a\", \"a\"]", "scheme[1].at[1]: \"a\" is here twice"),
            ("guard =", "gaurd =", "scheme[1].gaurd: no such key; did you mean \"guard\"?"),
            (
                "advertise = \"free-buffer\"",
                "advertise = \"free\"",
                "scheme[1].advertise: no advertise \"free\"; there are \"free-buffer\" and \"receiver\"",
            ),
            (
                "guard = \"20 ms\"",
                "guard = 20",
                "scheme[1].guard: expected a string such as \"20 ms\", got integer 20",
            ),
            (
                "duplicates = 4",
                "duplicates = 10",
                "scheme[1].duplicates: expected a whole number from 1 to 9, got integer 10",
            ),
            ("weight = 1", "weight = inf", "scheme[1].weight: expected a number from 0 to 2, got float inf"),
            ("strip_sack = true", "strip_sack = 1", "scheme[1].strip_sack: expected true or false, got integer 1"),
            (
                "name = \"ftca\"",
                "name = \"lle-tcp\"",
                "scheme[1].name: scheme[0] is \"lle-tcp\" too, and one of them sits wherever it can",
            ),
            (
                "name = \"ftca\"",
                "name = \"lle-tcp\"\nat = [\"c\", \"b\"]",
                "scheme[1].at[1]: scheme[0] is \"lle-tcp\" at \"b\" already",
            ),
            (
                "name = \"ftca\"",
                "name = \"ftca\"\nguard = 3",
                "scheme[0].guard: no such key; known are \"name\" and \"at\"",
            ),
        ],
    );
}

#[test]
fn as_many_nodes_as_there_may_be_are_read() {
    let nodes: String = (0..64_998).map(|i| format!("[[node]]\nname = \"n{i}\"\n")).collect();
    assert_eq!(read(&format!("{LEAST}{nodes}")).unwrap().nodes.len(), 65_000);
    let wrong = changed(&format!("{LEAST}{nodes}"), "to = \"receiver\"", "to = \"n64997x\"");
    refused(&wrong, "flow[0].to: no node \"n64997x\"; did you mean \"n64997\"?");
}

#[test]
fn stations_of_802_11b_among_those_of_802_11g() {
    let b = changed(UDP, "name = \"b\"", "name = \"b\"\nstandard = \"802.11b\"");
    refused(&b, "radio.control_rate: \"b\" is a station of 802.11b, which has no rate \"6 Mb/s\"");
    let b = changed(&b, "control_rate = \"6 Mb/s\", ", "");
    refused(&b, "radio.basic_rate_set[1]: \"b\" is a station of 802.11b, which has no rate \"6 Mb/s\"");
    let b = changed(&b, "basic_rate_set = [\"1 Mb/s\", \"6 Mb/s\"], ", "");
    let s = read(&b).unwrap();
    let rate = units::BitRate::from_kbps;
    assert_eq!([0, 1].map(|i| s.nodes[i].data_rate), [rate(54_000), rate(11_000)]);
    let long = |text: &str| read(text).unwrap().radio.slot;
    assert_eq!(
        long(&changed(&b, "slot = \"long\", ", "")),
        Some(scenario::Slot::Long),
        "no station has a short slot"
    );
    let short = changed(&b, "slot = \"long\"", "slot = \"short\"");
    refused(&short, "radio.slot: \"b\" is a station of 802.11b, which has no short slots");
    let fast = changed(&b, "standard = \"802.11b\"", "standard = \"802.11b\"\ndata_rate = \"54 Mb/s\"");
    let rates = "802.11b has no rate \"54 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"";
    refused(&fast, &format!("node[1].data_rate: {rates}"));
    let to = changed(&b, "name = \"a\"", "name = \"a\"\ndata_rate_to = { b = \"54 Mb/s\" }");
    refused(&to, &format!("node[0].data_rate_to.b: {rates}"));
    let a = changed(&b, "standard = \"802.11b\"", "standard = \"802.11a\"");
    refused(
        &a,
        "node[1].standard: \"802.11a\" cannot be where radio.standard is \"802.11g\"; \"802.11b\" can be in \"802.11g\"",
    );
    let g = changed(LEAST, "\"802.11b\"", "\"802.11b\"\nprotection = \"cts-to-self\"");
    refused(&g, "radio.protection: only 802.11g has something to protect, and standard is \"802.11b\"");
}

#[test]
fn channels_have_names_and_nodes_are_on_those_that_they_name() {
    let s = read(CHANNELS).unwrap();
    assert_eq!(s.channels.names().collect::<Vec<_>>(), ["front", "back"]);
    let on: Vec<(u32, u32)> = s.interfaces().map(|(node, channel)| (node.0, channel.0)).collect();
    assert_eq!(on, [(0, 0), (1, 0), (1, 1), (2, 1)]);
    let wrong = [
        (
            "channels = [\"back\"]",
            "channels = [\"bakc\"]",
            "node[2].channels[0]: no channel \"bakc\"; did you mean \"back\"?",
        ),
        ("name = \"back\"", "name = \"front\"", "channel.further[0].name: channel is called \"front\" already"),
        (
            "[\"front\", \"back\"]",
            "[\"back\", \"back\"]",
            "node[1].channels[1]: \"back\" is here twice: a node has one interface on a channel",
        ),
        ("channels = [\"back\"]", "channels = [\"back\"]\nradio = false", "node[2].channels: \"b\" has no radio"),
        (
            "[\"relay\", \"b\"]",
            "[\"a\", \"b\"]",
            "channel.further[0].pair[0].between[0]: \"a\" has no radio on this channel",
        ),
        (
            "reach = true",
            "gain = \"-70 dB\"",
            "channel.further[0].pair[0].gain: has an effect only with channel.propagation",
        ),
        (
            "channels = [\"back\"]",
            "channels = []",
            "node[2].channels: expected names of channels such as [\"main\", \"backhaul\"]; a node without a radio has \
             radio = false",
        ),
        (
            "[[flow]]",
            "[[event]]\nat = \"1 s\"\nbreak = [\"a\", \"b\"]\n[[flow]]",
            "event[0].break: no link joins \"a\" and \"b\", and no channel has a radio of both",
        ),
    ];
    let prefixes = |new: &str, message: &str| {
        let text = changed(CHANNELS, "channels = [\"back\"]", &format!("channels = [\"back\"]\nprefixes = [{new}]"));
        refused(&text, message);
    };
    prefixes("\"0.0.0.0/0\"", "node[2].prefixes[0]: \"relay\" stands for 0.0.0.0/0 already");
    prefixes("\"192.0.2.1/24\"", "node[2].prefixes[0]: bits are set behind the first 24");
    prefixes("\"::/0\"", "node[2].prefixes[0]: packets here are IPv4");
    prefixes("\"default\"", "node[2].prefixes[0]: expected an address and a length such as \"192.0.2.0/24\"");
    for (old, new, message) in wrong {
        refused(&changed(CHANNELS, old, new), message);
    }
}

#[test]
fn a_node_with_mcss_has_rates_to_stations_without_them_alone() {
    let cell = |to: &str| {
        format!(
            "scenario = {{ duration = \"1 s\" }}\nradio = {{ standard = \"802.11n-2.4\", access = \"edca\" }}\n[[node]]\nname = \"ap\"\nrole = \"ap\"\n\
             data_rate_to = {{ {to} }}\n[[node]]\nname = \"old\"\nstandard = \"802.11b\"\n[[node]]\nname = \"new\"\n\
             [[flow]]\nfrom = \"ap\"\nto = \"old\"\n"
        )
    };
    let found = read(&cell("old = \"2 Mb/s\"")).unwrap();
    assert_eq!(found.nodes[0].entry.data_rates(), [(units::NodeId(1), units::BitRate::from_bps(2_000_000))]);
    refused(&cell("new = \"6 Mb/s\""), "node[0].data_rate_to.new: 802.11n-2.4 has MCSs: take mcs_to");
    let rates = "802.11b has no rate \"6 Mb/s\"; there are \"1 Mb/s\", \"2 Mb/s\", \"5.5 Mb/s\" and \"11 Mb/s\"";
    refused(&cell("old = \"6 Mb/s\""), &format!("node[0].data_rate_to.old: {rates}"));
}
