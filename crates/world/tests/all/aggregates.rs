//! A-MPDUs and Block Acks in captures, read by tshark: who had which MPDU, what the Block Acks say of it, and that TCP repeats what we
//! say it repeats.

use crate::tshark::{Captured, Frame, capture_with, mac_of, tshark_is_here};
use mac::{AfterSilence, Aggregation, Discard};
use plugin::Info;
use std::collections::BTreeSet;
use world::Registries;

/// A scheme that has every station aggregate as 802.11n does, ask for Block Acks that did not come, and give up an MSDU after three
/// attempts.
static AGGREGATES: Info = Info { id: "aggregates", summary: "A-MPDUs", source: "none", params: &[] };

pub fn registries() -> Registries {
    let Registries { schemes, .. } = Registries::builtin();
    let schemes = schemes.with(&AGGREGATES, |site, _| {
        let (after_silence, discard) = (AfterSilence::Request, Discard::Attempts(3));
        site.radio().mac.aggregation = Some(Aggregation { after_silence, discard, ..Aggregation::HT });
        Ok(())
    });
    Registries { schemes: schemes.unwrap(), ..Registries::builtin() }
}

/// TCP at TID 0 and TID 5 at once. An eighth of the MPDUs is lost, 0.2 % after three attempts, and a twentieth of the Block Acks.
pub const CELL: &str = r#"
[scenario]
duration = "2 s"
[radio]
standard = "802.11a"
access = "edca"
queue = { packets = 300 }
[channel]
errors = { model = "packet", per = 0.125, control_per = 0.05 }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc", min_rto = "200 ms" }
[[flow]]
from = "a"
to = "b"
dscp = 40
traffic = { model = "bulk", bytes = "400 kB" }
transport = { protocol = "tcp", preset = "rfc", min_rto = "200 ms" }
[[scheme]]
name = "aggregates"
"#;

const QOS_DATA: &str = "40";
const BLOCK_ACK_REQ: &str = "24";
const BLOCK_ACK: &str = "25";

/// Numbers of a frame's field.
fn numbers(frame: &Frame, field: &str) -> Vec<u16> {
    frame.text(field).split(',').filter(|it| !it.is_empty()).map(|it| it.parse().unwrap()).collect()
}

fn captured() -> Captured {
    let captured = capture_with(CELL, registries());
    for frame in captured.frames.iter().flatten() {
        assert_eq!(frame.text("_ws.malformed"), "", "{frame:?}");
        assert_eq!(frame.text("wlan.fcs.status"), "1", "{frame:?}");
        let is_error = frame.text("_ws.expert.severity").split(',').any(|level| level == "8388608");
        assert!(!is_error, "{frame:?}");
        for checksum in ["ip.checksum.status", "tcp.checksum.status"] {
            assert!(["", "1"].contains(&frame.text(checksum)), "{frame:?}");
        }
    }
    captured
}

/// A recipient's scoreboard for one TID, as what its own capture says of the MPDUs that it received.
#[derive(Default)]
struct Board {
    received: BTreeSet<u16>,
    start: u16,
}

impl Board {
    fn data(&mut self, seq: u16) {
        self.received.insert(seq);
        self.start = self.start.max(seq.saturating_sub(63));
    }

    /// Numbers that a Block Ack says are missing.
    fn missing(&self) -> Vec<u16> {
        (self.start..self.start + 64).filter(|seq| !self.received.contains(seq)).collect()
    }
}

#[test]
fn block_acks_say_what_their_sender_received() {
    if !tshark_is_here() {
        return;
    }
    let captured = captured();
    let mut block_acks = 0;
    // Both are recipients: of data and of TCP's ACKs.
    for (own, tid) in [(0, 0), (0, 5), (1, 0), (1, 5)] {
        let mut board = Board::default();
        for frame in &captured.frames[own] {
            if frame.is(QOS_DATA) && frame.to(own) && frame.number("wlan.qos.tid") == Some(tid) {
                let seq = frame.number("wlan.seq").unwrap() as u16;
                assert!(seq < 4000, "numbers do not wrap here");
                board.data(seq);
            }
            if frame.number("wlan.ba.basic.tidinfo") != Some(tid) {
                continue;
            }
            if frame.is(BLOCK_ACK_REQ) && frame.to(own) {
                board.start = board.start.max(frame.number("wlan.fixed.ssc.sequence").unwrap() as u16);
            }
            if frame.is(BLOCK_ACK) && frame.from(own) {
                block_acks += 1;
                assert_eq!(frame.number("wlan.fixed.ssc.sequence"), Some(board.start.into()), "{frame:?}");
                assert_eq!(numbers(frame, "wlan.ba.bm.missing_frame"), board.missing(), "{frame:?}");
                assert_eq!(frame.text("wlan.ba.bm").len(), 16, "64 numbers");
            }
        }
    }
    let sent = |node: usize| captured.count(node, |frame| frame.is(BLOCK_ACK) && frame.from(node));
    assert_eq!(block_acks, sent(0) + sent(1), "each has one of these TIDs");
    assert!(block_acks > 200, "{block_acks}");
    assert!(captured.count(0, |frame| frame.is(BLOCK_ACK_REQ) && frame.from(0)) > 3);
}

#[test]
fn mpdus_of_an_a_mpdu_share_its_number_and_those_lost_stand_at_their_sender_alone() {
    if !tshark_is_here() {
        return;
    }
    let captured = captured();
    let place = |frame: &Frame| {
        assert_eq!(frame.text("radiotap.ampdu.reference"), frame.text("wlan_radio.a_mpdu_aggregate_id"));
        Some((frame.number("radiotap.ampdu.reference")?, frame.number("wlan.seq")?))
    };
    for (sender, addressee) in [(0, 1), (1, 0)] {
        let sent: Vec<&Frame> = captured.frames[sender].iter().filter(|frame| frame.from(sender)).collect();
        let mut lost = 0;
        let got: BTreeSet<_> =
            captured.frames[addressee].iter().filter(|it| it.from(sender)).filter_map(place).collect();
        for a_mpdu in sent.chunk_by(|a, b| place(a).map(|it| it.0) == place(b).map(|it| it.0)) {
            let Some((reference, _)) = place(a_mpdu[0]) else { continue };
            assert!(a_mpdu.len() > 1, "{reference}");
            let last: Vec<bool> = a_mpdu.iter().map(|it| it.text("radiotap.ampdu.flags.last") == "1").collect();
            assert_eq!(last.iter().position(|is_last| *is_last), Some(a_mpdu.len() - 1), "{reference}");
            assert!(a_mpdu.iter().all(|it| it.text("radiotap.ampdu.flags.lastknown") == "1"));
            let times: BTreeSet<&str> = a_mpdu.iter().map(|it| it.text("radiotap.mactime")).collect();
            assert_eq!(times.len(), 1, "{reference}");
            let has = |frame: &&&Frame| place(frame).is_some_and(|at| got.contains(&at));
            lost += a_mpdu.len() - a_mpdu.iter().filter(has).count();
        }
        let of_a_mpdus = sent.iter().filter(|it| place(it).is_some()).count();
        assert!(got.len() + lost == of_a_mpdus, "none is at the addressee that was not sent");
        // Three standard deviations of an eighth.
        let n = of_a_mpdus as f64;
        assert!(n > 100.0 && (lost as f64 - n / 8.0).abs() < 3.0 * (n * 7.0 / 64.0).sqrt(), "{lost} of {n}");
    }
    // All that a sends to b, and the addresses it bears.
    assert!(
        captured.frames[0]
            .iter()
            .filter(|it| it.is(QOS_DATA) && it.from(0))
            .all(|it| it.text("wlan.ra") == mac_of(1))
    );
}

/// What the MAC repeats is left out by its retry bit: tshark takes a frame for such a repetition only if none came between.
#[test]
fn tshark_finds_the_segments_that_tcp_sent_again() {
    if !tshark_is_here() {
        return;
    }
    let captured = captured();
    let again = captured.count(0, |frame| frame.from(0) && !frame.is_retry() && frame.is_tcp_retransmission());
    let ours = captured.flow(0, "retransmissions_total") + captured.flow(1, "retransmissions_total");
    assert!(ours > 3, "MSDUs were given up");
    assert_eq!(again, ours);
}
