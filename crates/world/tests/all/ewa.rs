//! Explicit window adaptation in a whole network: senders behind a fast wire fill the queue of an access point.

use std::sync::atomic::AtomicBool;
use world::{Record, Run};

/// Packets the access point's queue dropped, its mean length, and the goodput of four flows together over 10 s, in bit/s.
fn four_flows(scheme: &str) -> [f64; 3] {
    let mut text = format!(
        r#"
[scenario]
duration = "11 s"
warmup = "1 s"

[radio]
standard = "802.11b"
queue = {{ packets = 50 }}

[[node]]
name = "server"

[[node]]
name = "ap"
role = "ap"

[[node]]
name = "mobile"

[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "2 ms"

{scheme}
"#
    );
    for _ in 0..4 {
        text += r#"
[[flow]]
from = "server"
to = "mobile"
transport = { protocol = "tcp", preset = "rfc", congestion = "newreno" }
"#;
    }
    let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    // Queues of radios come first, in the order of the nodes that have one.
    let queue = |name| Run::number(&run.queues[0], name).unwrap_or_else(|| panic!("no column {name}"));
    let goodput = (0..4).map(|flow| run.flow(flow, "goodput_bps").unwrap_or(f64::NAN)).sum();
    [queue("dropped_packets"), queue("mean_packets"), goodput]
}

#[test]
fn the_queue_stays_within_its_bounds_and_the_radio_busy() {
    let [dropped, _, goodput] = four_flows("");
    assert!(dropped > 10.0, "without it the queue overflows: {dropped}");
    // Four windows of log2(50 − Q) segments each settle where 4 · log2(50 − Q) = Q and a bit: 50 − 18 = 32, 4 · 5 = 20.
    let [none, length, with] = four_flows("[[scheme]]\nname = \"ewa\"\n");
    assert!(none == 0.0 && (10.0..25.0).contains(&length), "{none} dropped, {length} queued");
    assert!(with > 0.97 * goodput, "{with} of {goodput}");
}

#[test]
fn an_alpha_that_adapts_keeps_the_average_queue_near_its_threshold() {
    // A fifth of 50.
    let [_, length, _] = four_flows("[[scheme]]\nname = \"ewa\"\nadapt = true\n");
    assert!((5.0..15.0).contains(&length), "{length}");
}
