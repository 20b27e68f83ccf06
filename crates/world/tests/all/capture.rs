//! Captures, read by tshark: every frame is sound, and its counts are ours.
//!
//! Truth is another program: its dissectors for the bytes, its analysis of TCP for what is a retransmission, and the
//! retry bit for what the MAC repeated. Without tshark the tests print that they were skipped; with
//! `INTERLAYER_REQUIRE_TSHARK=1` they fail.

use crate::tshark::{Captured, DATA, RTS, capture, tshark_is_here};

/// A scenario of three nodes: TCP from the first to the second, UDP from the third to the first.
fn scenario(radio: &str, errors: &str, tcp: &str) -> String {
    format!(
        r#"
[scenario]
duration = "20 s"
[radio]
{radio}
queue = {{ packets = 300 }}
[channel]
errors = {errors}
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
[[flow]]
from = "a"
to = "b"
stop = "18 s"
traffic = {{ model = "bulk", bytes = "400 kB" }}
transport = {{ protocol = "tcp", preset = "rfc", {tcp} }}
[[flow]]
from = "c"
to = "a"
stop = "2 s"
transport = {{ protocol = "udp", datagram = "777 B" }}
traffic = {{ model = "poisson", rate = "200 kb/s" }}
"#
    )
}

/// Every frame of every capture is one tshark has nothing to say against.
fn is_sound(captured: &Captured) {
    const GOOD: [&str; 2] = ["", "1"];
    for (node, frames) in captured.frames.iter().enumerate() {
        for (i, frame) in frames.iter().enumerate() {
            let at = || format!("node {node}, frame {}: {frame:?}", i + 1);
            assert_eq!(frame.text("_ws.malformed"), "", "{}", at());
            assert_eq!(frame.text("wlan.fcs.status"), "1", "{}", at());
            for status in ["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status"] {
                assert!(GOOD.contains(&frame.text(status)), "{}", at());
            }
            // Expert severity 8388608 is an error.
            assert!(!frame.text("_ws.expert.severity").split(',').any(|s| s == "8388608"), "{}", at());
        }
    }
}

/// The frames that the MACs say they sent are those that were on the air.
fn macs_agree(captured: &Captured) {
    for node in 0..captured.frames.len() {
        let sent = captured.count(node, |frame| frame.is(DATA) && frame.from(node));
        let retried = captured.count(node, |frame| frame.is(DATA) && frame.from(node) && frame.is_retry());
        let rts = captured.count(node, |frame| frame.is(RTS) && frame.from(node));
        let heard = captured.count(node, |frame| frame.is(DATA) && frame.to(node) && !frame.from(node));
        assert_eq!(sent, captured.node(node, "data_frames_sent"), "data frames of node {node}");
        assert_eq!(retried, captured.node(node, "data_frames_retried"), "retries of node {node}");
        assert_eq!(rts, captured.node(node, "rts_sent"), "RTS of node {node}");
        // It holds nothing of what others say to others. (A station sends CTS and ACK under no address.)
        let foreign =
            captured.count(node, |frame| (frame.is(DATA) || frame.is(RTS)) && !frame.from(node) && !frame.to(node));
        assert_eq!(foreign, 0, "frames that node {node} only overheard");
        let received = captured.node(node, "msdus_received") + captured.node(node, "duplicates");
        assert_eq!(heard, received, "data frames for node {node}");
    }
}

/// The segments that tshark takes for retransmissions are those that TCP says it sent again. All is over, nothing waits in a queue.
fn tcp_agrees(captured: &Captured) -> u64 {
    assert_eq!(captured.flow(0, "delivered_bytes_total"), 400_000);
    assert_eq!(captured.node(0, "msdus_queued") + captured.node(0, "msdus_refused"), 0);
    let found = captured.count(0, |frame| frame.from(0) && frame.is_tcp_retransmission());
    assert_eq!(found, captured.flow(0, "retransmissions_total"), "TCP retransmissions");
    let segments = captured.count(0, |frame| frame.from(0) && frame.number("tcp.len").is_some_and(|len| len > 0));
    assert_eq!(segments, captured.flow(0, "segments_sent"), "TCP segments");
    found
}

#[test]
fn under_errors_of_attempts_tshark_finds_sound_frames_and_counts_as_we_do() {
    if !tshark_is_here() {
        return;
    }
    // Every standard, RTS/CTS always or above a threshold, both directions of the reservation hit.
    let errors = "{ model = \"packet\", per = 0.1, control_per = 0.05, at = \"attempt\" }";
    for (radio, tcp) in [
        ("standard = \"802.11b\"\nmax_attempts = 3", "receiver = \"delayed-ack\", sack = true, timestamps = true"),
        ("standard = \"802.11b\"\npreamble = \"short\"\nrts_threshold = \"1000 B\"", "receiver = \"every\""),
        ("standard = \"802.11\"\nrts_threshold = \"0 B\"", "window_scale = 3, congestion = \"tahoe\""),
        ("standard = \"802.11a\"\nmax_attempts = 2", "receiver = \"dynamic-delayed-ack\", congestion = \"reno\""),
        ("standard = \"802.11g\"\nrts_threshold = \"0 B\"\nslot = \"long\"", "initial_sequence = 4294900000"),
    ] {
        let captured = capture(&scenario(radio, errors, tcp));
        is_sound(&captured);
        macs_agree(&captured);
        let retransmissions = tcp_agrees(&captured);
        let retried = captured.node(0, "data_frames_retried");
        assert!(retried > 20, "{radio}: {retried} retries show nothing");
        println!("{radio}: {retransmissions} TCP retransmissions, {retried} MAC retries");
    }
}

#[test]
fn under_losses_of_whole_msdus_every_tcp_retransmission_is_found() {
    if !tshark_is_here() {
        return;
    }
    let errors = "{ model = \"packet\", per = 0.02, at = \"msdu\" }";
    for (standard, tcp) in [
        ("802.11b", "congestion = \"newreno\""),
        ("802.11b", "congestion = \"tahoe\", receiver = \"every\""),
        ("802.11a", "congestion = \"reno\", timestamps = true"),
    ] {
        let captured = capture(&scenario(&format!("standard = \"{standard}\""), errors, tcp));
        is_sound(&captured);
        macs_agree(&captured);
        let retransmissions = tcp_agrees(&captured);
        assert!(retransmissions >= 3, "{standard}, {tcp}: {retransmissions} show nothing");
        println!("{standard}, {tcp}: {retransmissions} TCP retransmissions");
    }
}

#[test]
fn udp_on_every_standard_is_sound_and_each_datagram_is_there() {
    if !tshark_is_here() {
        return;
    }
    for radio in ["802.11", "802.11b", "802.11a", "802.11g"] {
        let text = format!(
            r#"
[scenario]
duration = "200 ms"
[radio]
standard = "{radio}"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
stop = "150 ms"
transport = {{ protocol = "udp", datagram = "1401 B" }}
traffic = {{ model = "saturated" }}
"#
        );
        let captured = capture(&text);
        is_sound(&captured);
        macs_agree(&captured);
        // 1401 B less the IP header; an odd length, which the checksum pads.
        let datagrams = captured.count(1, |frame| frame.number("udp.length") == Some(1381));
        assert_eq!(datagrams, captured.flow(0, "datagrams_sent_total"), "{radio}");
        assert!(datagrams > 10, "{radio}: {datagrams}");
    }
}
