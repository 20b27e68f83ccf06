//! `i-tcp` in the whole simulator: a server behind a wire, an access point that splits, 802.11b with packets lost for good.
//! Every run checks that no packet is unaccounted for.

use crate::cells::run;
use proptest::prelude::*;
use std::fmt::Write;
use world::{Cell, Run};

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
        let transport = "{ protocol = \"tcp\", preset = \"rfc\", congestion = \"reno\", receiver = \"delayed-ack\" }";
        let traffic = format!("{{ model = \"bulk\"{bytes} }}");
        _ = writeln!(
            text,
            "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntraffic = {traffic}\ntransport = {transport}"
        );
    }
    text
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

/// A connection of a random cell.
#[derive(Debug, Clone)]
struct Stream {
    is_upload: bool,
    there: u32,
    back: u32,
    /// The rate of the reader, in kb/s; everything at once if `None`.
    reader: Option<u32>,
    receive_buffer: u32,
    /// Timestamps, SACK, scaling.
    options: (bool, bool, bool),
}

/// The parameters of random cells.
#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    /// Loss on the air, on the wire; packets the AP's queue and the wire's hold; delay of the wire.
    path: (u32, u32, u32, u32, u32),
    buffer: u32,
    streams: Vec<Stream>,
    kill: Option<u32>,
}

fn case() -> impl Strategy<Value = Case> {
    let path = (0u32..9, 0u32..3, 5u32..60, 5u32..60, 0u32..60);
    let sizes = (1u32..200_000, 0u32..100_000, prop::option::of(300u32..3000), 8000u32..100_000);
    let stream = (any::<bool>(), sizes, any::<(bool, bool, bool)>()).prop_map(
        |(is_upload, (there, back, reader, receive_buffer), options)| Stream {
            is_upload,
            there,
            back,
            reader,
            receive_buffer,
            options,
        },
    );
    let kill = prop::option::weighted(0.2, 100u32..5_000);
    (any::<u32>(), path, 0u32..300_000, prop::collection::vec(stream, 1..6), kill)
        .prop_map(|(seed, path, buffer, streams, kill)| Case { seed: seed.into(), path, buffer, streams, kill })
}

fn random_scenario(case: &Case) -> String {
    let (per, loss, air, wire, delay) = case.path;
    let mut text = format!(
        r#"
[scenario]
duration = "3600 s"
[radio]
standard = "802.11b"
queue = {{ packets = {air} }}
[channel]
errors = {{ model = "packet", per = 0.{per:02}, at = "msdu" }}
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "laptop"
[[link]]
between = ["server", "ap"]
rate = "20 Mb/s"
delay = "{delay} ms"
loss = 0.{loss:02}
queue = {{ discipline = "drop-tail", packets = {wire} }}
[[scheme]]
name = "i-tcp"
buffer = "{} B"
min_rto = "100 ms"
"#,
        case.buffer
    );
    for Stream { is_upload, there, back, reader, receive_buffer, options: (timestamps, sack, scale) } in &case.streams
    {
        let (from, to) = if *is_upload { ("laptop", "server") } else { ("server", "laptop") };
        let bulk = |bytes: u32| match bytes {
            0 => "{ model = \"none\" }".to_owned(),
            _ => format!("{{ model = \"bulk\", bytes = \"{bytes} B\" }}"),
        };
        let reader = reader.map_or("{ model = \"instant\" }".to_owned(), |rate| {
            format!("{{ model = \"rate\", rate = \"{rate} kb/s\" }}")
        });
        _ = write!(
            text,
            r#"
[[flow]]
from = "{from}"
to = "{to}"
traffic = {}
reverse = {}
reader = {reader}
[flow.transport]
protocol = "tcp"
preset = "rfc"
timestamps = {timestamps}
sack = {sack}
window_scale = {}
receive_buffer = "{receive_buffer} B"
min_rto = "200 ms"
"#,
            bulk(*there),
            bulk(*back),
            if *scale { "\"auto\"" } else { "\"off\"" },
        );
    }
    if let Some(at) = case.kill {
        _ = write!(text, "[[event]]\nat = \"{at} ms\"\nkill = \"ap\"\n");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_cell_all_arrives_unless_the_access_point_dies(case in case()) {
        let run = run(&random_scenario(&case), case.seed);
        let held = f64::from(case.buffer.max(2 * 1460));
        for (flow, stream) in run.flows.iter().zip(&case.streams) {
            let lost = [cell(flow, "acked_undelivered_bytes"), cell(flow, "reverse_acked_undelivered_bytes")];
            if case.kill.is_some() {
                prop_assert!(lost[0] <= held && lost[1] <= held, "{lost:?}");
            } else {
                let all = [cell(flow, "delivered_bytes_total"), cell(flow, "reverse_delivered_bytes_total")];
                prop_assert_eq!(all, [f64::from(stream.there), f64::from(stream.back)]);
                prop_assert_eq!(lost, [0.0; 2]);
            }
        }
        if case.kill.is_none() {
            let crossed: u32 = case.streams.iter().map(|stream| stream.there + stream.back).sum();
            prop_assert_eq!(cell(&run.schemes[0], "forwarded_bytes"), f64::from(crossed));
        }
        prop_assert_eq!(cell(&run.schemes[0], "segments_refused"), 0.0);
    }
}

#[test]
fn what_watches_the_radio_stands_behind_it() {
    let order =
        |first: &str, second: &str| format!("[[scheme]]\nname = \"{first}\"\n[[scheme]]\nname = \"{second}\"\n");
    let text = |schemes: &str| scenario("2 ms", &[("server", "laptop")], "", schemes);
    assert!(world::parse(&text(&order("i-tcp", "lle-tcp")), &[]).is_ok());
    assert_eq!(
        world::parse(&text(&order("lle-tcp", "i-tcp")), &[]).unwrap_err().to_string(),
        "scheme[1].name: i-tcp ends connections at \"ap\", and lle-tcp before it would not see its packets; write i-tcp first"
    );
}
