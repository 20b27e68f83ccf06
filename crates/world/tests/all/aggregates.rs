//! A-MPDUs and Block Acks in captures, read by tshark: who had which MPDU, what the Block Acks say of it, and that TCP repeats what we
//! say it repeats.

use crate::tshark::{Captured, Frame, capture, tshark_is_here};
use std::collections::BTreeSet;
use world::{Outcome, Transmission};

/// A radio: its keys, the window of its agreements, and its data rate as tshark works it out of the fields of radiotap.
struct Radio {
    keys: &'static str,
    aggregation: &'static str,
    window: u16,
    rate: &'static str,
}

/// HT; VHT with A-MSDUs in A-MPDUs; HE, whose Block Acks have 256 places.
const RADIOS: [Radio; 3] = [
    Radio { keys: "standard = '802.11n', mcs = 7", aggregation: "", window: 64, rate: "65" },
    Radio {
        keys: "standard = '802.11ac', mcs = 9, width = '80 MHz', guard_interval = '0.4 us'",
        aggregation: ", amsdu = '4 kB'",
        window: 64,
        rate: "433.333",
    },
    Radio { keys: "standard = '802.11ax', mcs = 9, width = '80 MHz'", aggregation: "", window: 256, rate: "480.4" },
];

/// TCP at TID 0 and TID 5 at once. An eighth of the MPDUs is lost, 0.2 % after three attempts, and a twentieth of the Block Acks, for
/// which the sender asks then.
fn cell(radio: &Radio) -> String {
    let (keys, aggregation) = (radio.keys.replace(", ", "\n"), radio.aggregation);
    format!(
        r#"
[scenario]
duration = "3 s"
[radio]
{keys}
aggregation = {{ attempts = 3, after_silence = "request"{aggregation} }}
queue = {{ packets = 300 }}
[channel]
errors = {{ model = "packet", per = 0.125, control_per = 0.05 }}
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
traffic = {{ model = "bulk", bytes = "2 MB" }}
transport = {{ protocol = "tcp", preset = "rfc", min_rto = "200 ms" }}
[[flow]]
from = "a"
to = "b"
dscp = 40
traffic = {{ model = "bulk", bytes = "2 MB" }}
transport = {{ protocol = "tcp", preset = "rfc", min_rto = "200 ms" }}
"#
    )
}

const QOS_DATA: &str = "40";
const BLOCK_ACK_REQ: &str = "24";
const BLOCK_ACK: &str = "25";

/// Numbers of a frame's field.
fn numbers(frame: &Frame, field: &str) -> Vec<u16> {
    frame.text(field).split(',').filter(|it| !it.is_empty()).map(|it| it.parse().unwrap()).collect()
}

#[test]
fn tshark_reads_the_aggregates_and_block_acks_of_ht_vht_and_he_as_we_meant_them() {
    if !tshark_is_here() {
        return;
    }
    for radio in &RADIOS {
        let captured = sound(&cell(radio));
        block_acks_say_what_their_sender_received(radio, &captured);
        mpdus_share_a_number_and_those_lost_stand_at_their_sender_alone(radio, &captured);
        tshark_finds_the_segments_that_tcp_sent_again(radio, &captured);
    }
}

/// A run in which tshark has nothing to object to.
fn sound(text: &str) -> Captured {
    let captured = capture(text);
    for frame in captured.frames.iter().flatten() {
        assert_eq!(frame.text("_ws.malformed"), "", "{frame:?}");
        assert_eq!(frame.text("wlan.fcs.status"), "1", "{frame:?}");
        let is_error = frame.text("_ws.expert.severity").split(',').any(|level| level == "8388608");
        assert!(!is_error, "{frame:?}");
        for checksum in ["ip.checksum.status", "tcp.checksum.status"] {
            // One for each MSDU.
            let all_good = frame.text(checksum).split(',').all(|status| ["", "1"].contains(&status));
            assert!(all_good, "{frame:?}");
        }
    }
    captured
}

/// A recipient's scoreboard for one TID, by what its own capture says of the MPDUs that it received.
struct Board {
    received: BTreeSet<u16>,
    start: u16,
    window: u16,
}

impl Board {
    fn data(&mut self, seq: u16) {
        self.received.insert(seq);
        self.start = self.start.max(seq.saturating_sub(self.window - 1));
    }

    /// Numbers that a Block Ack says are missing.
    fn missing(&self) -> Vec<u16> {
        (self.start..self.start + self.window).filter(|seq| !self.received.contains(seq)).collect()
    }
}

fn block_acks_say_what_their_sender_received(radio: &Radio, captured: &Captured) {
    let (mut block_acks, window) = (0, radio.window);
    // Both are recipients: of data and of TCP's ACKs.
    for (own, tid) in [(0, 0), (0, 5), (1, 0), (1, 5)] {
        let mut board = Board { received: BTreeSet::new(), start: 0, window };
        for frame in &captured.frames[own] {
            if frame.is(QOS_DATA) && frame.to(own) && frame.number("wlan.qos.tid") == Some(tid) {
                let seq = frame.number("wlan.seq").unwrap() as u16;
                assert!(seq < 4096 - window, "numbers do not wrap here");
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
                assert_eq!(frame.text("wlan.ba.bm").len(), usize::from(window) / 4, "{frame:?}");
                assert_eq!(numbers(frame, "wlan.ba.bm.missing_frame"), board.missing(), "{frame:?}");
            }
        }
    }
    let sent = |node: usize| captured.count(node, |frame| frame.is(BLOCK_ACK) && frame.from(node));
    assert_eq!(block_acks, sent(0) + sent(1), "each has one of these TIDs");
    assert!(block_acks > 100, "{block_acks}");
    let asked = captured.count(0, |frame| frame.is(BLOCK_ACK_REQ) && frame.from(0));
    assert!(asked > 1, "{asked} requests");
}

/// The A-MPDU of a frame and its number there.
fn place(frame: &Frame) -> Option<(u64, u64)> {
    assert_eq!(frame.text("radiotap.ampdu.reference"), frame.text("wlan_radio.a_mpdu_aggregate_id"));
    Some((frame.number("radiotap.ampdu.reference")?, frame.number("wlan.seq")?))
}

fn mpdus_share_a_number_and_those_lost_stand_at_their_sender_alone(radio: &Radio, captured: &Captured) {
    let (mut most_msdus, mut n, mut n_lost) = (1, 0, 0);
    for (sender, addressee) in [(0, 1), (1, 0)] {
        let sent: Vec<&Frame> = captured.frames[sender].iter().filter(|frame| frame.from(sender)).collect();
        let got = captured.frames[addressee].iter().filter(|it| it.from(sender)).filter_map(place);
        let got: BTreeSet<_> = got.collect();
        let mut a_mpdus: Vec<(u16, Vec<u16>)> = Vec::new();
        for a_mpdu in sent.chunk_by(|a, b| place(a).map(|it| it.0) == place(b).map(|it| it.0)) {
            let Some((reference, _)) = place(a_mpdu[0]) else { continue };
            let all = |field| a_mpdu.iter().map(move |it| it.text(field));
            assert!(a_mpdu.len() > 1, "{reference}");
            let last: Vec<bool> = all("radiotap.ampdu.flags.last").map(|it| it == "1").collect();
            assert_eq!(last.iter().position(|is_last| *is_last), Some(a_mpdu.len() - 1), "{reference}");
            assert!(all("radiotap.ampdu.flags.lastknown").all(|it| it == "1"), "{reference}");
            assert!(all("wlan_radio.data_rate").all(|it| it == radio.rate), "{:?}", a_mpdu[0]);
            assert_eq!(all("radiotap.mactime").collect::<BTreeSet<_>>().len(), 1, "{reference}");
            let msdus = all("tcp.seq").map(|it| it.split(',').count()).max();
            most_msdus = most_msdus.max(msdus.unwrap_or(1));
            let lost = (0..).zip(a_mpdu).filter(|(_, it)| place(it).is_some_and(|at| !got.contains(&at)));
            a_mpdus.push((a_mpdu.len() as u16, lost.map(|(place, _)| place).collect()));
        }
        let of_a_mpdus: u16 = a_mpdus.iter().map(|it| it.0).sum();
        let lost: usize = a_mpdus.iter().map(|it| it.1.len()).sum();
        assert_eq!(got.len() + lost, usize::from(of_a_mpdus), "none is at the addressee that was not sent");
        // The timeline of the air has the same.
        let timeline = captured.run.timeline.as_ref().unwrap();
        let own = timeline.transmissions.iter().filter(|it| it.from.index() == sender && it.mpdus > 1);
        let ended: Vec<_> = own.filter(|it| it.outcome() != Outcome::InTheAir).collect();
        let said: Vec<(u16, Vec<u16>)> = ended.iter().map(|it| (it.mpdus, timeline.lost(it).collect())).collect();
        assert_eq!(said, a_mpdus);
        // An addressee that transmits itself loses all of them: errors alone strike one in eight.
        let by_errors = |it: &Transmission| matches!(it.outcome(), Outcome::Received | Outcome::Noise);
        let alone = ended.iter().zip(&a_mpdus).filter(|(it, _)| by_errors(it));
        (n, n_lost) = alone.fold((n, n_lost), |(n, lost), (_, it)| (n + usize::from(it.0), lost + it.1.len()));
    }
    // Three standard deviations of an eighth.
    let expected = n as f64 / 8.0;
    assert!(n > 1000 && (n_lost as f64 - expected).abs() < 3.0 * (expected * 7.0 / 8.0).sqrt(), "{n_lost} of {n}");
    assert_eq!(most_msdus > 1, radio.aggregation.contains("amsdu"), "{most_msdus} MSDUs in an MPDU at most");
}

/// Repetitions by the MAC are left out by their retry bit: tshark takes a frame for such a repetition only if none came between.
fn tshark_finds_the_segments_that_tcp_sent_again(radio: &Radio, captured: &Captured) {
    let first = captured.frames[0].iter().filter(|frame| frame.from(0) && !frame.is_retry());
    // One for each MSDU.
    let marks = |frame: &Frame| {
        let fields = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
        fields.map(|field| frame.text(field).split(',').filter(|it| !it.is_empty()).count()).iter().sum::<usize>()
    };
    let again: usize = first.map(marks).sum();
    let ours = captured.flow(0, "retransmissions_total") + captured.flow(1, "retransmissions_total");
    assert!(ours > 0, "{}: MSDUs were given up", radio.keys);
    assert_eq!(again as u64, ours, "{}", radio.keys);
}
