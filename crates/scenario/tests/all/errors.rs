//! Every kind of mistake in shape, and the one line it is answered with.

use crate::common::{LEAST, MATRIX, TCP, UDP, all_refused, changed, read, read_with, refused};

#[test]
fn syntax() {
    refused("[scenario\n", "line 1, column 10: unclosed table, expected `]`");
    refused("a = 1\n\né = 2", "line 3, column 1: invalid unquoted key, expected letters, numbers, `-`, `_`");
    refused("[a]\n[a]\n", "line 2, column 2: duplicate key");
    // Deeper than any scenario: refused by the parser, not by the stack.
    for open in ["[", "{a="] {
        let text = format!("a = {}", open.repeat(100_000));
        assert!(read(&text).unwrap_err().path.starts_with("line 1, "));
        assert!(read_with(LEAST, &[("scenario.name", &text[4..])]).is_err());
    }
}

#[test]
fn missing() {
    refused("", "scenario: missing; expected a table");
    all_refused(
        LEAST,
        &[
            ("duration = \"10 s\"", "", "scenario.duration: missing; expected a string such as \"20 ms\""),
            (
                "standard = \"802.11b\"",
                "",
                "radio.standard: missing; expected \"802.11\", \"802.11b\", \"802.11a\", \"802.11g\", \"802.11n\", \"802.11n-2.4\", \
                 \"802.11ac\" or \"802.11ax\"",
            ),
            ("from = \"sender\"", "", "flow[0].from: missing; expected the name of a node"),
            ("name = \"receiver\"", "", "node[1].name: missing; expected a name such as \"laptop\""),
            (
                "[[flow]]",
                "[[event]]",
                "event[0].from: no such key here; it belongs to [[channel.pair]] or [[channel.further.pair]] or [[link]] or [[flow]] or [[window]]",
            ),
            (
                "[[flow]]",
                "[[flow]]\ntraffic = {}",
                "flow[0].traffic.model: missing; expected \"none\", \"bulk\", \"cbr\", \"poisson\", \"on-off\", \"saturated\", \"chunks\" or \"letters\"",
            ),
            ("[[flow]]", "[[scheme]]", "scheme[0].name: missing; expected the name of a scheme"),
        ],
    );
    let no_flow = &LEAST[..LEAST.find("[[flow]]").unwrap()];
    refused(no_flow, "flow: missing; a scenario needs at least one [[flow]]");
    refused(&format!("flow = []\n{no_flow}"), "flow: empty; a scenario needs at least one [[flow]]");
    let no_node = &LEAST[..LEAST.find("[[node]]").unwrap()];
    refused(no_node, "node: missing; a scenario needs at least one [[node]]");
    refused(
        &changed(UDP, "traffic = { model = \"saturated\" }", ""),
        "flow[0].traffic: missing; UDP needs model = \"cbr\", \"poisson\" or \"saturated\"",
    );
    all_refused(
        TCP,
        &[
            ("good = { ber = 1e-6 }", "good = {}", "channel.pair[1].errors.good: give either per or ber"),
            (
                "bad = { per = 0.5 }",
                "bad = { per = 0.5, ber = 0.1 }",
                "channel.pair[1].errors.bad: give either per or ber",
            ),
            ("{ packets = 100 }", "{ packets = 100, bytes = \"1 kB\" }", "radio.queue: give either packets or bytes"),
            (
                "to = \"c\"\nerrors",
                "errors",
                "channel.pair[1]: give either between (both ways), or from and to (one way)",
            ),
            (
                "between = [\"a\", \"b\"]",
                "",
                "channel.pair[0]: give either between (both ways), or from and to (one way)",
            ),
        ],
    );
}

#[test]
fn unknown_keys_and_words() {
    all_refused(
        TCP,
        &[
            (
                "{ model = \"packet\", per = 0.01, control_per = 0.001, at = \"msdu\" }",
                "{ per = 0.01 }",
                "channel.errors.model: missing; \"per\" goes with \"packet\"",
            ),
            ("data_rate = \"11", "que = \"11", "radio.que: no such key; did you mean \"queue\"?"),
            (
                "data_rate = \"11",
                "rts = \"11",
                "radio.rts: no such key; did you mean \"rts_rate\", \"rts_threshold\" or \"rts_for\"?",
            ),
            ("data_rate = \"11", "dat_rate = \"11", "radio.dat_rate: no such key; did you mean \"data_rate\"?"),
            (
                "congestion = \"veno\"",
                "congestion = \"venno\"",
                "flow[0].transport.congestion: no congestion control \"venno\"; did you mean \"veno\"?",
            ),
            (
                "congestion = \"veno\"",
                "congestion = \"xyz\"",
                "flow[0].transport.congestion: no congestion control \"xyz\"; there are \"newreno\", \"reno\", \"tahoe\", \"vegas\" and \"veno\"",
            ),
            (
                "receiver = \"delayed-ack\"",
                "receiver = \"delayed_ak\"",
                "flow[0].transport.receiver: no receiver \"delayed_ak\"; did you mean \"delayed-ack\"?",
            ),
            (
                "standard = \"802.11b\"",
                "standard = \"802.11be\"",
                "radio.standard: standard \"802.11be\" is not modelled yet, see docs/not-modelled.md; the nearest that is: \"802.11ax\"",
            ),
            (
                "standard = \"802.11b\"",
                "standard = \"wimax\"",
                "radio.standard: no standard \"wimax\"; there are \"802.11\", \"802.11b\", \"802.11a\", \"802.11g\", \"802.11n\", \"802.11n-2.4\", \"802.11ac\" and \"802.11ax\"",
            ),
            (
                "protocol = \"tcp\"",
                "protocol = \"tpc\"",
                "flow[0].transport.protocol: no transport protocol \"tpc\"; did you mean \"tcp\"?",
            ),
            (
                "model = \"packet\"",
                "model = \"snr\"",
                "channel.errors.model: no error model \"snr\"; there are \"none\", \"packet\", \"bit\" and \"two-state\"",
            ),
            (
                "model = \"bulk\", bytes",
                "model = \"cbr\", bytes",
                "flow[0].traffic.bytes: no such key with model = \"cbr\"; it goes with \"bulk\"",
            ),
            (
                "model = \"packet\", per",
                "model = \"bit\", per",
                "channel.errors.per: no such key with model = \"bit\"; it goes with \"packet\"",
            ),
            (
                "seed = 7",
                "data_rate = \"1 Mb/s\"",
                "scenario.data_rate: no such key here; it belongs to [radio] or [[node]]",
            ),
            (
                "standard = \"802.11b\"",
                "standard = \"802.11b\"\nrate = \"1 Mb/s\"",
                "radio.rate: no such key; did you mean \"data_rate\", \"basic_rate\", \"control_rate\" or \"rts_rate\"?",
            ),
            (
                "seed = 7",
                "colour = 7",
                "scenario.colour: no such key; known are \"name\", \"duration\", \"warmup\", \"seed\" and \"series_every\"",
            ),
            (
                "seed = 7",
                "\"a b\\n\" = 7",
                "scenario.\"a b\\n\": no such key; known are \"name\", \"duration\", \"warmup\", \"seed\" and \"series_every\"",
            ),
            (
                "control_rate = \"basic\"",
                "control_rate = \"basik\"",
                "radio.control_rate: no such value \"basik\"; did you mean \"basic\"?",
            ),
            (
                "rts_threshold = \"500 B\"",
                "rts_threshold = \"never\"",
                "radio.rts_threshold: expected \"off\" or a string such as \"1500 B\", got string \"never\"",
            ),
            (
                "rts_threshold = \"500 B\"",
                "rts_threshold = \"500\"",
                "radio.rts_threshold: \"500\": the unit is missing (B, kB, KB, MB, GB); write it like \"1500 B\"",
            ),
            (
                "rts_threshold = \"500 B\"",
                "rts_threshold = 500",
                "radio.rts_threshold: expected \"off\" or a string such as \"1500 B\", got integer 500",
            ),
            (
                "window_scale = 7",
                "window_scale = 15",
                "flow[0].transport.window_scale: expected \"auto\", \"off\" or a whole number from 0 to 14, got integer 15",
            ),
        ],
    );
    all_refused(
        MATRIX,
        &[(
            "gain = \"-70 dB\"",
            "gain = \"-70 dBm\"",
            "channel.pair[0].gain: \"-70 dBm\": \"dBm\" is none of dB; write it like \"10 dB\"",
        )],
    );
    refused(
        &format!("{LEAST}\n[[link]]\nbetween = [\"sender\", \"receiver\"]"),
        "link[0].rate: missing; expected a string such as \"11 Mb/s\"",
    );
    refused(
        &format!("{LEAST}\n[channel]\npropagation = {{ model = \"log-distanse\" }}"),
        "channel.propagation.model: no propagation model \"log-distanse\"; did you mean \"log-distance\"?",
    );
}

#[test]
fn types_units_and_ranges() {
    all_refused(
        TCP,
        &[
            (
                "warmup = \"5 s\"",
                "warmup = 20",
                "scenario.warmup: expected a string such as \"20 ms\", got integer 20",
            ),
            (
                "warmup = \"5 s\"",
                "warmup = 2.5",
                "scenario.warmup: expected a string such as \"20 ms\", got float 2.5",
            ),
            (
                "warmup = \"5 s\"",
                "warmup = 07:32:00",
                "scenario.warmup: expected a string such as \"20 ms\", got a date or time of day",
            ),
            (
                "warmup = \"5 s\"",
                "warmup = \"5 Mb\"",
                "scenario.warmup: \"5 Mb\": \"Mb\" is none of ns, us, ms, s, min; write it like \"20 ms\"",
            ),
            ("warmup = \"5 s\"", "warmup = \"-5 s\"", "scenario.warmup: \"-5 s\" is negative"),
            (
                "warmup = \"5 s\"",
                "warmup = \"1e9 s\"",
                "scenario.warmup: \"1e9 s\" is too large; 1000000 s is the most",
            ),
            ("duration = \"60 s\"", "duration = \"0 s\"", "scenario.duration: \"0 s\" must be more than zero"),
            (
                "duration = \"60 s\"",
                "duration = \"1000001 s\"",
                "scenario.duration: \"1000001 s\" is too large; 1000000 s is the most",
            ),
            ("seed = 7", "seed = -7", "scenario.seed: expected a whole number of at least 0, got integer -7"),
            ("seed = 7", "seed = 7.0", "scenario.seed: expected a whole number of at least 0, got float 7.0"),
            ("name = \"full\"", "name = \"\"", "scenario.name: empty; give it a name"),
            ("per = 0.01,", "per = 1.5,", "channel.errors.per: expected a probability from 0 to 1, got float 1.5"),
            ("per = 0.01,", "per = nan,", "channel.errors.per: expected a probability from 0 to 1, got float NaN"),
            ("per = 0.01,", "per = -inf,", "channel.errors.per: expected a probability from 0 to 1, got float -inf"),
            (
                "per = 0.01,",
                "per = \"1 %\",",
                "channel.errors.per: expected a probability from 0 to 1, got string \"1 %\"",
            ),
            (
                "range = \"22.5 m\"",
                "range = 22.5",
                "channel.range: expected a string such as \"22.5 m\", got float 22.5",
            ),
            (
                "range = \"22.5 m\"",
                "range = \"22.5\"",
                "channel.range: \"22.5\": the unit is none of m, km; write it like \"22.5 m\"",
            ),
            ("range = \"22.5 m\"", "range = \"-1 m\"", "channel.range: \"-1 m\" must be more than zero"),
            (
                "range = \"22.5 m\"",
                "range = \"inf m\"",
                "channel.range: \"inf m\" is too large; 10000 km is the most",
            ),
            ("reach = false", "reach = \"no\"", "channel.pair[0].reach: expected true or false, got string \"no\""),
            (
                "between = [\"a\", \"b\"]",
                "between = [\"a\"]",
                "channel.pair[0].between: expected two names of nodes such as [\"a\", \"b\"], got an array of 1",
            ),
            (
                "between = [\"a\", \"b\"]",
                "between = [\"a\", 2]",
                "channel.pair[0].between[1]: expected the name of a node, got integer 2",
            ),
            (
                "position = [0, 0]",
                "position = [0]",
                "node[0].position: expected two numbers such as [0, 22.5], got an array of 1",
            ),
            (
                "position = [0, 0]",
                "position = [0, nan]",
                "node[0].position[1]: expected a number from -10000000 to 10000000, got float NaN",
            ),
            (
                "poisson\", rate = \"1 Mb/s\"",
                "poisson\", rate = \"0 Mb/s\"",
                "flow[1].traffic.rate: \"0 Mb/s\" must be more than zero",
            ),
            (
                "poisson\", rate = \"1 Mb/s\"",
                "poisson\", rate = \"-1 Mb/s\"",
                "flow[1].traffic.rate: \"-1 Mb/s\" is negative",
            ),
            (
                "max_attempts = 5",
                "max_attempts = 0",
                "radio.max_attempts: expected a whole number from 1 to 255, got integer 0",
            ),
            (
                "max_window = 20",
                "max_window = 0",
                "flow[0].transport.max_window: expected a whole number from 1 to 1000000000, got integer 0",
            ),
            (
                "mean_good = \"1 s\"",
                "mean_good = 100",
                "channel.pair[1].errors.mean_good: expected a string such as \"100 ms\", since unit is \"time\"",
            ),
            (
                "unit = \"time\"",
                "unit = \"time\", step = \"data\"",
                "channel.pair[1].errors.step: has an effect only with unit = \"frame\"; states of unit = \"time\" end by the clock",
            ),
            (
                "unit = \"time\"",
                "unit = \"frame\", step = \"dat\"",
                "channel.pair[1].errors.step: no kind of frames \"dat\"; did you mean \"data\"?",
            ),
            (
                "unit = \"time\"",
                "unit = \"frame\"",
                "channel.pair[1].errors.mean_good: expected a number of frames such as 100, since unit is \"frame\"",
            ),
            (
                "at = [\"a\", \"b\"]",
                "at = []",
                "scheme[1].at: expected names of nodes such as [\"a\", \"b\"], got an array of 0",
            ),
            (
                "at = [\"a\", \"b\"]",
                "at = \"a\"",
                "scheme[1].at: expected names of nodes such as [\"a\", \"b\"], got string \"a\"",
            ),
        ],
    );
    refused("radio = 3", "radio: expected a table, got integer 3");
    refused("[[radio]]", "radio: expected a table, got an array; write [radio] once");
    refused("[node]", "node: expected an array of tables, got a table; write [[node]]");
    refused("node = [3]", "node[0]: expected a table, got integer 3");
    let long = format!("[scenario]\nduration = \"{}\"", "9".repeat(1_000_000));
    assert!(read(&long).unwrap_err().to_string().len() < 200);
    let mut many = "[[node]]\nname = 'a'\n".repeat(65_001);
    many.push_str(LEAST);
    refused(&many, "node: 65003 entries are too many; 65000 are the most");
}

#[test]
fn the_first_mistake_in_the_order_of_the_file_is_told() {
    let text = "[[event]]\nwhen = 3\n[radio]\nstandrad = 3\n[scenario]\nduration = 3\n";
    refused(
        text,
        "event[0].when: no such key; known are \"at\", \"kill\", \"restart\", \"break\", \"heal\", \"move\" and \"to\"",
    );
}

/// All mistakes of a text, as lines.
fn lines(text: &str) -> Vec<String> {
    read(text).unwrap_err().all().map(ToString::to_string).collect()
}

#[test]
fn all_mistakes_of_shape_are_told_at_once_in_the_order_of_the_file() {
    let mut text = LEAST.to_owned();
    for (right, wrong) in [
        ("duration = \"10 s\"", "duraton = \"10 s\"\nseed = -1"),
        ("standard = \"802.11b\"", "standard = \"802.11bb\"\ncw_min = \"many\""),
        ("from = \"sender\"", "from = \"sendr\"\nstart = 3"),
    ] {
        text = changed(&text, right, wrong);
    }
    assert_eq!(
        lines(&text),
        [
            "scenario.duraton: no such key; did you mean \"duration\"?",
            "scenario.seed: expected a whole number of at least 0, got integer -1",
            "radio.standard: no standard \"802.11bb\"; did you mean \"802.11b\"?",
            "radio.cw_min: expected a whole number from 0 to 32767, got string \"many\"",
            "flow[0].start: expected a string such as \"20 ms\", got integer 3",
            "flow[0].from: no node \"sendr\"; did you mean \"sender\"?",
        ]
    );
    assert_eq!(read(&text).unwrap_err().to_string(), lines(&text)[0], "the error itself is the first of them");
}

#[test]
fn a_misspelt_node_is_one_mistake_and_not_one_for_each_use_of_its_name() {
    let text = changed(LEAST, "name = \"sender\"", "nam = \"sender\"");
    assert_eq!(lines(&text), ["node[0].nam: no such key; did you mean \"name\"?"]);
}

#[test]
fn all_contradictions_are_told_at_once() {
    let text = changed(LEAST, "duration = \"10 s\"", "duration = \"10 s\"\nwarmup = \"11 s\"");
    let text =
        changed(&text, "standard = \"802.11b\"", "standard = \"802.11b\"\ndata_rate = \"54 Mb/s\"\ncw_max = 1");
    let found = lines(&changed(&text, "from = \"sender\"", "from = \"sender\"\nstart = \"12 s\""));
    let paths: Vec<&str> = found.iter().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(paths, ["scenario.warmup", "radio.data_rate", "radio.cw_max", "flow[0].start"]);
}

#[test]
fn a_file_with_thousands_of_mistakes_tells_a_hundred_of_them() {
    let nodes = "[[node]]\nnmae = \"x\"\n".repeat(20_000);
    assert_eq!(lines(&format!("{LEAST}{nodes}")).len(), 100);
}
