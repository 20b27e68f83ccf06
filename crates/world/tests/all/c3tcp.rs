//! C³TCP over a string of stations, on the air.
//!
//! 802.11b at 11 Mb/s with control frames at 1 Mb/s and RTS/CTS. A datagram of 1000 B in a frame with options: 1053 B, 192 + 766 = 958 us. The equations'
//! T_tr behind it: SIFS 10, ACK 192 + 8 * 14 / 11 = 202.18, DIFS 50: 262.18 us. RTS and CTS before it: 352 + 10 + 304 + 10 = 676 us.

use crate::cells;
use crate::tshark::{Captured, capture, tshark_is_here};
use world::Run;

fn string(nodes: usize, scheme: &str) -> String {
    format!(
        r#"
[scenario]
duration = "8 s"
[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
basic_rate = "1 Mb/s"
control_rate = "1 Mb/s"
rts_threshold = "0 B"
queue = {{ packets = 20 }}
[channel]
range = "22.5 m"
[layout]
model = "line"
spacing = "20 m"
[[node]]
name = "n"
count = {nodes}
[[flow]]
name = "tcp"
from = "n1"
to = "n{nodes}"
transport = {{ protocol = "tcp", preset = "rfc", congestion = "reno", receiver = "every", datagram = "1000 B" }}
{scheme}
"#
    )
}

const C3TCP: &str = "[[scheme]]\nname = \"c3tcp\"\n";
/// Data of subtype 1101, as tshark numbers it.
const EXTENDED: &str = "45";

fn run(text: &str) -> Run {
    cells::run(text, 1)
}

fn extended(captured: &Captured, node: usize) -> u64 {
    captured.count(node, |frame| frame.is(EXTENDED))
}

#[test]
fn frames_with_options_are_frames_of_a_reserved_subtype_and_none_is_malformed() {
    if !tshark_is_here() {
        return;
    }
    let captured = capture(&string(4, C3TCP));
    for node in 0..4 {
        let is_sound = |frame: &crate::tshark::Frame| {
            frame.text("_ws.malformed").is_empty() && frame.text("wlan.fcs.status") == "1"
        };
        assert_eq!(captured.count(node, |frame| !is_sound(frame)), 0);
        assert!(extended(&captured, node) > 500, "node {node}: {}", extended(&captured, node));
    }
    assert!(captured.run.scheme("c3tcp", "samples") > 100.0);
}

#[test]
fn relays_that_know_no_options_get_plain_frames_from_the_second_attempt_on() {
    let at_the_ends = "[[scheme]]\nname = \"c3tcp\"\nat = [\"n1\", \"n4\"]\n";
    let (with, plain) = (run(&string(4, at_the_ends)), run(&string(4, "")));
    assert_eq!(with.scheme("c3tcp", "samples"), 0.0, "nothing crosses a relay that drops options");
    assert_eq!(with.scheme("c3tcp", "windows_lowered"), 0.0);
    let [with, plain] = [&with, &plain].map(|run| run.flow(0, "goodput_bps").unwrap());
    assert!(with > 0.8 * plain && plain > 3e5, "{with} beside {plain}: a question costs one attempt");
}

#[test]
fn alone_over_one_hop_the_delay_is_the_access_of_two_frames() {
    // Between two stations the window is a few segments: data wait for the ACK under way, or for nobody. From the head of its queue to the end of
    // T_tr a data frame takes at least DIFS, RTS, CTS and T_tr; so does the ACK, of 93 B: 192 + 68 us.
    let run = run(&string(2, C3TCP));
    let of = |name| run.scheme("c3tcp", name);
    let mean_us = of("delay_sum_us") / of("samples");
    let around = 50.0 + 676.0 + 262.18;
    let least = (around + 958.0) + (around + 260.0);
    // At most each waits for a whole exchange of the other and the longest first backoff.
    let most = 2.0 * least + 2.0 * 31.0 * 20.0 + 2.0 * 304.0;
    assert!((least..most).contains(&mean_us), "{mean_us} us of {least} to {most}");
    // The bandwidth of each packet is its 1000 B over no less than the access of its own frame.
    let mean_bps = of("bandwidth_sum_bytes_per_s") / of("samples");
    let fastest = 1000.0 / ((around + 958.0) * 1e-6);
    assert!(mean_bps < fastest && mean_bps > 0.25 * fastest, "{mean_bps} of at most {fastest}");
}

#[test]
fn it_keeps_the_queues_of_a_string_short_and_loses_nothing() {
    let [plain, with] = [run(&string(4, "")), run(&string(4, C3TCP))];
    let [long, short] = [&plain, &with].map(|run| run.flow(0, "rtt_mean_s").unwrap());
    assert!(short < 0.5 * long, "{short} beside {long}");
    let [without, goodput] = [&plain, &with].map(|run| run.flow(0, "goodput_bps").unwrap());
    assert!(goodput > 0.9 * without, "{goodput} beside {without}");
    assert_eq!(with.flow(0, "acked_undelivered_bytes"), Some(0.0), "it acknowledges nothing itself");
}
