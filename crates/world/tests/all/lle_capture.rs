//! LLE-TCP on the air, read by tshark: ACKs of TCP do not cross it, and what was made in their place is what the MAC
//! acknowledged.
//!
//! tshark's own "duplicate ACK" is not used: it needs to have seen the ACK that is repeated, and that one was
//! suppressed. Without tshark the tests print that they were skipped; with `INTERLAYER_REQUIRE_TSHARK=1` they fail.

use crate::tshark::{ACK, Captured, DATA, TCP_SYN, capture, tshark_is_here};

fn scenario(errors: &str, scheme: &str, reverse: &str) -> String {
    format!(
        r#"
[scenario]
duration = "20 s"
[radio]
standard = "802.11b"
queue = {{ packets = 300 }}
[channel]
errors = {errors}
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
traffic = {{ model = "bulk", bytes = "400040 B" }}
reverse = {reverse}
transport = {{ protocol = "tcp", preset = "rfc", receiver = "every" }}
{scheme}
"#
    )
}

const SCHEME: &str = "[[scheme]]\nname = \"lle-tcp\"\nstrategy = \"every\"";
const NO_ERRORS: &str = "{ model = \"none\" }";
/// A tenth of the attempts fails. Seven of them in a row: 1 in 10 million.
const RETRIES: &str = "{ model = \"packet\", per = 0.1, at = \"attempt\" }";
const LOSSES: &str = "{ model = \"packet\", per = 0.02, at = \"msdu\" }";
const NONE: &str = "{ model = \"none\" }";

/// Frames with a pure ACK from either node, as both captures have them.
fn pure_acks(captured: &Captured) -> [u64; 2] {
    [0, 1].map(|node| captured.count(node, crate::tshark::Frame::is_pure_ack))
}

#[test]
fn without_lle_tcp_acks_cross_the_air_and_the_filter_sees_them() {
    if !tshark_is_here() {
        return;
    }
    let captured = capture(&scenario(NO_ERRORS, "", NONE));
    // 400040 B are 274 segments of 1460 B: the last carries the FIN and is acknowledged on the other one.
    let acks = captured.flow(0, "acks_sent");
    assert_eq!(acks, 273);
    let [at_sender, at_receiver] = pure_acks(&captured);
    assert!(at_sender > acks && at_receiver > acks, "{at_sender} and {at_receiver}, {acks} from the receiver alone");
}

#[test]
fn no_standalone_ack_crosses_the_air_and_made_is_what_the_mac_acknowledged() {
    if !tshark_is_here() {
        return;
    }
    // Whole segments only: a shorter one would change the window by what it is short of, and that crosses the air.
    for (errors, reverse) in
        [(NO_ERRORS, NONE), (RETRIES, NONE), (RETRIES, "{ model = \"bulk\", bytes = \"102200 B\" }")]
    {
        let captured = capture(&scenario(errors, SCHEME, reverse));
        assert_eq!(captured.flow(0, "delivered_bytes_total"), 400_040);
        // Not one, from the handshake's third to the last of the teardown.
        assert_eq!(pure_acks(&captured), [0, 0], "{errors}, {reverse}");
        for node in [0, 1] {
            assert_eq!(captured.node(node, "msdus_given_up"), 0, "no residual loss");
            // What this node sent for the first time and occupies numbers: data, SYN, SYN-ACK, FIN.
            let sent = captured.count(node, |frame| frame.from(node) && frame.occupies_numbers());
            let opening = captured.count(node, |frame| frame.from(node) && frame.tcp_flags() == Some(TCP_SYN));
            // All of it was acknowledged by the MAC: an ACK frame each reached this node.
            assert_eq!(captured.count(node, |frame| frame.is(ACK) && frame.to(node)), sent);
            assert_eq!(captured.lle(node, "acks_made"), sent - opening, "node {node}, {errors}: all but the SYN");
            assert_eq!(captured.lle(node, "segments_delivered"), sent - opening);
            assert_eq!(captured.lle(node, "segments_acknowledged"), sent - opening);
            assert_eq!(captured.lle(node, "dup_acks_made"), 0);
            assert_eq!(captured.lle(node, "acks_passed"), 0);
            assert_eq!(captured.node(node, "msdus_offered"), sent, "nothing else was queued");
        }
        // Each ACK the receiving TCP wrote is in the scheme's counter, or rode on data.
        assert_eq!(captured.lle(1, "acks_suppressed"), captured.flow(0, "acks_sent"));
        let made: u64 = [0, 1].iter().map(|node| captured.lle(*node, "acks_made")).sum();
        assert_eq!(captured.run.scheme("lle-tcp", "acks_made") as u64, made);
        if reverse == NONE {
            // The 274 segments, the last of which carries the FIN; SYN-ACK and FIN of the other side.
            assert_eq!([captured.lle(0, "acks_made"), captured.lle(1, "acks_made")], [274, 2]);
            assert_eq!(captured.flow(0, "retransmissions_total"), 0);
        }
    }
}

#[test]
fn under_residual_losses_only_duplicate_acks_cross_the_air() {
    if !tshark_is_here() {
        return;
    }
    let captured = capture(&scenario(LOSSES, SCHEME, NONE));
    assert_eq!(captured.flow(0, "delivered_bytes_total"), 400_040);
    assert!(captured.node(0, "msdus_given_up") >= 3, "losses");
    assert!(captured.lle(0, "dup_acks_made") >= 9, "three for each run of them");
    // A TCP receiver repeats its last ACK for each segment beyond a gap and each it has already: those cross the air,
    // whether or not they arrive, and nothing else does.
    let duplicates = captured.flow(0, "out_of_order_segments") + captured.flow(0, "duplicate_segments");
    let sent = captured.count(1, |frame| frame.from(1) && frame.is_pure_ack());
    assert!(sent >= 10, "{sent} duplicate ACKs");
    assert_eq!(sent, duplicates);
    assert_eq!(captured.lle(1, "acks_passed"), duplicates);
    assert_eq!(captured.lle(1, "acks_suppressed"), captured.flow(0, "acks_sent") - duplicates);
    // The sender's own pure ACKs: none.
    assert_eq!(captured.count(0, |frame| frame.from(0) && frame.is_pure_ack()), 0);
    // What was sent again was sent again on FAILURE: found by tshark, counted by TCP, and never more than was lost.
    let again = captured.count(0, |frame| frame.from(0) && frame.is_tcp_retransmission());
    assert_eq!(again, captured.flow(0, "retransmissions_total"));
    // MAC: what reached the air of this node's data is what it says.
    let sent = captured.count(0, |frame| frame.is(DATA) && frame.from(0));
    assert_eq!(sent, captured.node(0, "data_frames_sent"));
}
