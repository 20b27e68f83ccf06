//! TCP-aware dynamic ARQ at an access point: what it learns of round trips, and what its order buys where the air fades.

use crate::cells;
use std::fmt::Write;
use world::Run;

/// Downloads of six stations from servers of their own, with round trips of 10, 20, … 60 ms on the wire.
fn cell(tick: &str, channel: &str, scheme: &str) -> String {
    let mut text = format!(
        r#"
[scenario]
duration = "20 s"
warmup = "2 s"
[radio]
standard = "802.11a"
data_rate = "6 Mb/s"
fragmentation_threshold = "320 B"
max_attempts = 4
max_attempts_long = 4
queue = {{ bytes = "32 kB" }}
[channel]
{channel}
[layout]
model = "star"
radius = "50 m"
[[node]]
name = "ap"
role = "ap"
{scheme}
"#
    );
    for i in 1..=6 {
        _ = write!(
            text,
            r#"
[[node]]
name = "sta{i}"
[[node]]
name = "srv{i}"
radio = false
[[link]]
between = ["srv{i}", "ap"]
rate = "100 Mb/s"
delay = "{} ms"
[[flow]]
from = "srv{i}"
to = "sta{i}"
transport = {{ protocol = "tcp", preset = "rfc", congestion = "reno", receiver = "every", timestamps = true, timestamp_tick = "{tick}" }}
"#,
            5 * i
        );
    }
    text
}

const FADING: &str = "propagation = { model = \"log-distance\", exponent = 3 }\nfading = { model = \"rayleigh\", coherence = \"10 ms\" }";

fn scheme(params: &str) -> String {
    format!("[[scheme]]\nname = \"tcp-aware-arq\"\n{params}\n")
}

fn run(text: &str) -> Run {
    cells::run(text, 1)
}

fn total(run: &Run, column: &str) -> f64 {
    (0..6).map(|flow| run.flow(flow, column).unwrap()).sum()
}

#[test]
fn timestamps_see_round_trips_as_the_senders_do_and_self_clocking_sees_them_too_short() {
    let senders = total(&run(&cell("1 ms", "", &scheme(""))), "rtt_mean_s") / 6.0;
    // Of half a second only the first packet of each tick is followed: fewer samples, and half trips of different instants. Self-clocking
    // takes for set free what was on the wire when the ACK passed.
    for (rtt, tick, least, low, high) in [
        ("timestamps", "1 ms", 300.0, 0.85, 1.15),
        ("timestamps", "500 ms", 50.0, 0.7, 1.5),
        ("self-clocking", "1 ms", 300.0, 0.4, 0.9),
    ] {
        let run = run(&cell(tick, "", &scheme(&format!("rtt = \"{rtt}\""))));
        let of = |name: &str| run.scheme("tcp-aware-arq", name);
        let seen = of("rtt_sum_us") / of("rtt_samples") * 1e-6;
        assert!(of("rtt_samples") > least, "{rtt} {tick}: {}", of("rtt_samples"));
        assert!((low..high).contains(&(seen / senders)), "{rtt} {tick}: {seen}, the senders {senders}");
    }
}

#[test]
fn where_links_fade_sending_something_else_meanwhile_is_what_pays_and_not_the_order_by_rto() {
    let sum = |text: &str| (1..=4).map(|seed| total(&cells::run(text, seed), "goodput_bps")).sum::<f64>();
    let plain = sum(&cell("500 ms", FADING, ""));
    let ordered = cell("500 ms", FADING, &scheme(""));
    // The counter-run: no RTT is ever known, so all RTOs are equal and what failed stands aside in the order of failure.
    let aside = sum(&ordered.replace("timestamps = true", "timestamps = false"));
    let ordered = sum(&ordered);
    assert!(ordered > 1.2 * plain, "{ordered} beside {plain}");
    assert!(aside > ordered, "{aside} without any RTT, {ordered} in the order of RTO, {plain} plain");
}

#[test]
fn nothing_is_gained_where_fresh_data_may_not_overtake_what_is_repeated() {
    let sum = |scheme: &str| {
        let text = cell("500 ms", FADING, scheme);
        (1..=4).map(|seed| total(&cells::run(&text, seed), "goodput_bps")).sum::<f64>()
    };
    let plain = sum("");
    let gain = |fresh: &str| sum(&scheme(&format!("fresh = \"{fresh}\""))) / plain;
    let last = gain("last");
    assert!((0.9..1.1).contains(&last), "behind all: {last}");
    for fresh in ["first", "behind", "beside"] {
        let gain = gain(fresh);
        assert!(gain > 1.2, "{fresh}: {gain}");
    }
}

#[test]
fn downlink_data_of_udp_and_acks_of_uploads_pass_beside_the_queues() {
    let text = cell("1 ms", FADING, &scheme("fresh = \"beside\""))
        + "[[flow]]\nfrom = \"srv1\"\nto = \"sta1\"\ntransport = { protocol = \"udp\" }\ntraffic = { model = \"cbr\", rate = \"200 kb/s\" }\n\
           [[flow]]\nfrom = \"sta2\"\nto = \"srv2\"\ntransport = { protocol = \"tcp\", preset = \"rfc\" }\n";
    let run = run(&text);
    assert!(run.flow(6, "goodput_bps").unwrap() > 50_000.0 && run.flow(7, "goodput_bps").unwrap() > 20_000.0);
}
