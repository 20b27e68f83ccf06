//! No input panics, and every error is one line.

use crate::common::{EXAMPLES, TCP, names, read};
use proptest::prelude::*;
use scenario::{Scenario, parse};

fn survives(text: &str, overrides: &[(String, String)]) -> Option<Scenario> {
    match parse(text, overrides, &names()) {
        Ok(scenario) => {
            let again = toml::to_string(&scenario.to_json()).unwrap();
            assert_eq!(read(&again).unwrap_or_else(|error| panic!("{error}\n{again}")), scenario);
            Some(scenario)
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.chars().any(char::is_control) && !error.path.is_empty(), "{line:?}");
            assert!(line.len() < 20_000, "{}", line.len());
            None
        }
    }
}

/// Values of every TOML type, most of them wrong anywhere.
const VALUES: &[&str] = &[
    "1",
    "-1",
    "0",
    "9223372036854775807",
    "-9223372036854775808",
    "0.0",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "-inf",
    "true",
    "\"\"",
    "\"off\"",
    "\"0 B\"",
    "\"1e18 B\"",
    "\"9e9 s\"",
    "\"1e-9 ns\"",
    "\"1e300 Mb/s\"",
    "\"a\"",
    "\"b\"",
    "\"\\u0000\"",
    "[]",
    "[1]",
    "[1, 2]",
    "[\"a\", \"b\"]",
    "[[]]",
    "[{}]",
    "{}",
    "{ model = \"none\" }",
    "{ protocol = \"udp\" }",
    "{ packets = 1 }",
    "1979-05-27",
    "\"802.11a\"",
    "\"frame\"",
    "\"msdu\"",
    "\"tcp\"",
    "\"lle-tcp\"",
];

const PATHS: &[&str] = &[
    "scenario.duration",
    "scenario",
    "scenario.seed",
    "radio",
    "radio.queue",
    "radio.standard",
    "radio.cw_min",
    "radio.cw_max",
    "radio.data_rate",
    "radio.basic_rate",
    "radio.rts_threshold",
    "channel",
    "channel.range",
    "channel.errors",
    "channel.pair",
    "channel.pair.0",
    "channel.pair.1.errors.unit",
    "channel.pair.0.between",
    "channel.pair.1.errors.mean_good",
    "node",
    "node.0",
    "node.a.name",
    "node.b.position",
    "node.c.data_rate",
    "flow",
    "flow.0",
    "flow.0.from",
    "flow.1.to",
    "flow.0.start",
    "flow.0.stop",
    "flow.0.transport",
    "flow.1.transport.protocol",
    "flow.0.transport.datagram",
    "flow.1.transport.max_rto",
    "flow.1.traffic",
    "flow.1.reverse",
    "flow.2.reader",
    "flow.2.traffic.model",
    "scheme",
    "scheme.0",
    "scheme.0.name",
    "scheme.1.at",
    "scheme.1.weight",
    "event",
    "event.0",
    "event.0.at",
    "event.0.kill",
    "nothing.at.all",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC*") {
        survives(&text, &[]);
    }

    #[test]
    fn any_lines_of_toml(lines in prop::collection::vec(
        prop_oneof![
            prop::sample::select(TCP.lines().collect::<Vec<_>>()).prop_map(str::to_owned),
            "[a-z_]{1,12} = (\"[ -~]{0,8}\"|-?[0-9]{1,20}|[0-9]\\.[0-9]e[0-9]{1,3}|\\[\\]|\\{\\})",
            "\\[\\[?[a-z.]{1,12}\\]\\]?",
        ],
        0..40,
    )) {
        survives(&lines.join("\n"), &[]);
    }

    #[test]
    fn an_example_with_bytes_changed(which in 0..EXAMPLES.len(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3, any::<char>()), 1..6)) {
        let mut text: Vec<char> = EXAMPLES[which].chars().collect();
        for (at, kind, c) in edits {
            let at = at.index(text.len());
            match kind {
                0 => { text.remove(at); }
                1 => text.insert(at, c),
                _ => text[at] = c,
            }
        }
        survives(&String::from_iter(text), &[]);
    }

    #[test]
    fn an_example_with_values_replaced(which in 0..EXAMPLES.len(), sets in prop::collection::vec((prop::sample::select(PATHS), prop::sample::select(VALUES)), 1..4)) {
        let sets: Vec<_> = sets.into_iter().map(|(path, value)| (path.to_owned(), value.to_owned())).collect();
        survives(EXAMPLES[which], &sets);
    }

    #[test]
    fn any_override(path in "[a-z0-9.\\[\\]_]{0,24}|\\PC{0,12}", value in "\\PC*") {
        survives(TCP, &[(path, value)]);
    }
}
