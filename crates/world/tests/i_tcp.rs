//! `i-tcp` in the whole simulator: a server behind a wire, an access point that splits, 802.11b with packets lost for good.
//! Every run checks that no packet is unaccounted for.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use world::{Cell, Record, Run};

const SPLIT: &str = "[[scheme]]\nname = \"i-tcp\"\n";

/// A server, 100 Mb/s with `delay`, an access point, 802.11b on which the MAC gives up on two packets in a hundred, and
/// two laptops. `flows` are (from, to), each with a stream of `bytes`.
fn scenario(delay: &str, flows: &[(&str, &str)], bytes: &str, more: &str) -> String {
    let mut text = format!(
        r#"
[scenario]
duration = "60 s"
[radio]
standard = "802.11b"
[channel]
errors = {{ model = "packet", per = 0.02, at = "msdu" }}
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "laptop"
[[node]]
name = "tablet"
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "{delay}"
{more}
"#
    );
    for (from, to) in flows {
        let transport = "{ protocol = \"tcp\", congestion = \"reno\", receiver = \"delayed-ack\" }";
        let traffic = format!("{{ model = \"bulk\"{bytes} }}");
        _ = writeln!(
            text,
            "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntraffic = {traffic}\ntransport = {transport}"
        );
    }
    text
}

fn run(text: &str, seed: u64) -> Run {
    let scenario = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    world::run(&scenario, seed, &Record::default(), &AtomicBool::new(false))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn cell(record: &[(&'static str, Cell)], name: &str) -> f64 {
    match record.iter().find(|(key, _)| *key == name) {
        Some((_, Cell::Count(n))) => *n as f64,
        Some((_, Cell::Real(x))) => *x,
        other => panic!("{name}: {other:?}"),
    }
}

/// A number of all flows together.
fn flows(run: &Run, name: &str) -> f64 {
    run.flows.iter().map(|flow| cell(flow, name)).sum()
}

#[test]
fn losses_of_the_radio_cost_a_server_neither_a_timeout_nor_a_duplicate() {
    for seed in 1..=5 {
        let run = run(&scenario("2 ms", &[("server", "laptop")], "", SPLIT), seed);
        for name in ["timeouts", "fast_retransmits", "dup_acks_received"] {
            assert_eq!(flows(&run, name), 0.0, "{name}");
        }
        // What it sends again is the byte with which it asked whether the window is open.
        assert!(flows(&run, "retransmissions") <= flows(&run, "zero_window_probes"));
        assert!(cell(&run.schemes[0], "wireless_retransmissions") > 50.0);
        assert_eq!(cell(&run.schemes[0], "wired_retransmissions"), 0.0);
        assert!(cell(&run.schemes[0], "highest_acked_not_delivered_bytes") <= 131_072.0);
    }
}

#[test]
fn over_a_long_wire_a_split_is_worth_more_than_twice_the_goodput_either_way() {
    // Reno's rate under independent loss goes as 1 / RTT as long as no timeout intervenes (@PFTK98): from about 110 ms to
    // about 10 ms. The timeouts of 1 s, which the split does not change, keep it from being ten times.
    for way in [("server", "laptop"), ("laptop", "server")] {
        let mean = |more| {
            let of = |seed| flows(&run(&scenario("50 ms", &[way], "", more), seed), "goodput_bps");
            (1..=5).map(of).sum::<f64>() / 5.0
        };
        let (plain, split) = (mean(""), mean(SPLIT));
        assert!(split > 2.0 * plain, "{way:?}: {split} against {plain} b/s");
    }
}

#[test]
fn ten_connections_at_once_deliver_all_they_were_given_and_end() {
    let ways: Vec<_> = [("server", "laptop"), ("tablet", "server")].into_iter().cycle().take(10).collect();
    let text = scenario("2 ms", &ways, ", bytes = \"300 kB\"", SPLIT);
    let first = run(&text, 1);
    for flow in &first.flows {
        let state = flow.iter().find(|(name, _)| *name == "state");
        assert!(
            matches!(state, Some((_, Cell::Text(state))) if state == "TimeWait" || state == "Closed"),
            "{state:?}"
        );
        assert_eq!((cell(flow, "delivered_bytes_total"), cell(flow, "acked_undelivered_bytes")), (300_000.0, 0.0));
    }
    let scheme = &first.schemes[0];
    assert_eq!((cell(scheme, "connections_split"), cell(scheme, "connections_failed")), (10.0, 0.0));
    assert_eq!((cell(scheme, "forwarded_bytes"), cell(scheme, "acked_not_delivered_bytes")), (3e6, 0.0));
    assert_eq!(first.fingerprint, run(&text, 1).fingerprint, "the same run twice");
}

#[test]
fn two_stations_of_one_access_point_are_left_alone_to_the_last_bit() {
    let plain = run(&scenario("2 ms", &[("laptop", "tablet")], "", ""), 1);
    let split = run(&scenario("2 ms", &[("laptop", "tablet")], "", SPLIT), 1);
    assert_eq!(cell(&split.schemes[0], "connections_split"), 0.0);
    assert!(flows(&split, "goodput_bps") > 0.0);
    assert_eq!(plain.fingerprint, split.fingerprint);
}

#[test]
fn an_access_point_that_dies_takes_with_it_what_it_has_acknowledged() {
    let kill = format!("{SPLIT}[[event]]\nat = \"20 s\"\nkill = \"ap\"\n");
    for seed in 1..=5 {
        let lost =
            flows(&run(&scenario("2 ms", &[("server", "laptop")], "", &kill), seed), "acked_undelivered_bytes");
        // Never more than it may hold, and an ACK that was under way makes it no less.
        assert!(lost > 0.0 && lost <= 131_072.0, "{lost}");
        let plain = "[[event]]\nat = \"20 s\"\nkill = \"ap\"\n";
        let none = run(&scenario("2 ms", &[("server", "laptop")], "", plain), seed);
        assert_eq!(flows(&none, "acked_undelivered_bytes"), 0.0);
    }
}
