//! MSDUs in fragments: their bursts, what is repeated, what is given up. @80211-2020 10.4, 10.5, 10.3.2.12
//!
//! 802.11b at 11 Mb/s, times in µs. A datagram of 1500 B has a body of 1508 B. Frames of 552 B carry 524 of it: 552, 552, 488 B, on
//! the air for 192 + 402 = 594 and 192 + 355 = 547.

use crate::dcf::harness::{A, ACK, B, C, CTS, RTS, SIFS, config};
use crate::harness::{Build, CLEAN, HIT, Net, Sent};
use mac::{Config, Fate, Kind};
use phy::{ErrorModel, Hit};
use units::{Bytes, Dur, NodeId};

const LONG: u64 = 594;
const LAST: u64 = 547;
const SECOND: u64 = 1_000_000;
/// Spoils data and spares control frames.
const DATA_LOST: ErrorModel = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 0.0 });

fn net_with(change: impl Fn(&mut Config)) -> Net {
    let mut config = config();
    config.fragmentation = Some(Bytes(552));
    change(&mut config);
    let configs = vec![config; 3];
    Net::build(&Build { limit: queue::Limit::Packets(50), ..Build::of(&configs) })
}

fn net() -> Net {
    net_with(|_| {})
}

/// Start of each frame of the exchange since the first of A, with its length in time.
fn times(net: &Net) -> Vec<(Kind, u64, u64)> {
    let first = net.sent.first().unwrap().start;
    net.sent.iter().map(|sent| (sent.kind, sent.start - first, sent.end - sent.start)).collect()
}

fn lengths(net: &Net) -> Vec<u64> {
    net.of(A, Kind::Data).iter().map(|sent| sent.frame.mpdu.0).collect()
}

fn durations(sent: &[Sent]) -> Vec<Dur> {
    sent.iter().map(|sent| sent.frame.duration).collect()
}

#[test]
fn a_burst_takes_what_it_takes_by_hand_and_each_fragment_reserves_the_next() {
    let mut net = net();
    net.enqueue(1, A, B, 1500).run(SECOND);
    let mut at = 0;
    let mut expected = Vec::new();
    for airtime in [LONG, LONG, LAST] {
        expected.push((Kind::Data, at, airtime));
        at += airtime + SIFS;
        expected.push((Kind::Ack, at, ACK));
        at += ACK + SIFS;
    }
    assert_eq!(times(&net), expected);
    assert_eq!(lengths(&net), [552, 552, 488]);
    // The ACK, then the next fragment and its ACK.
    let us = Dur::from_us;
    let own = SIFS + ACK;
    assert_eq!(
        durations(&net.of(A, Kind::Data)),
        [us(own + SIFS + LONG + own), us(own + SIFS + LAST + own), us(own)]
    );
    assert_eq!(durations(&net.of(B, Kind::Ack)), [us(SIFS + LONG + own), us(SIFS + LAST + own), us(0)]);
    assert_eq!((net.done(A), net.delivered.len()), (vec![(Fate::Delivered, 3)], 1));
    let numbers: Vec<u16> = net.of(A, Kind::Data).iter().map(|sent| sent.frame.seq).collect();
    assert_eq!(numbers, [0, 0, 0]);
}

#[test]
fn what_fits_into_one_frame_goes_whole() {
    let mut net = net();
    // 28 B of header and FCS, 8 of LLC and SNAP.
    net.enqueue(1, A, B, 516).enqueue(2, A, B, 517).run(SECOND);
    assert_eq!(lengths(&net), [552, 552, 29]);
    assert_eq!(net.delivered.len(), 2);
}

#[test]
fn rts_goes_before_the_first_fragment_alone() {
    let mut net = net_with(|config| config.rts.threshold = Some(Bytes(0)));
    net.enqueue(1, A, B, 1500).run(SECOND);
    let kinds: Vec<Kind> = net.sent.iter().map(|sent| sent.kind).collect();
    use Kind::{Ack, Cts, Data, Rts};
    assert_eq!(kinds, [Rts, Cts, Data, Ack, Data, Ack, Data, Ack]);
    // It reserves the first fragment and its ACK; the fragment reserves the second.
    let reserved = SIFS + CTS + SIFS + LONG + SIFS + ACK;
    assert_eq!(durations(&net.of(A, Rts)), [Dur::from_us(reserved)]);
    assert_eq!(net.sent[0].end - net.sent[0].start, RTS);
}

#[test]
fn a_lost_fragment_is_repeated_alone_after_a_backoff_and_the_burst_goes_on() {
    let mut net = net();
    net.enqueue(1, A, B, 1500);
    // The second fragment begins some 50 + 594 + 10 + 304 + 10 behind the first access.
    net.errors(900, A, B, DATA_LOST).errors(1700, A, B, CLEAN).run(SECOND);
    assert_eq!(lengths(&net), [552, 552, 552, 488]);
    let retries: Vec<bool> = net.of(A, Kind::Data).iter().map(|sent| sent.is_retry).collect();
    assert_eq!(retries, [false, false, true, false], "the next fragment is a frame of its own");
    assert_eq!((net.done(A), net.delivered.len()), (vec![(Fate::Delivered, 4)], 1));
    let starts = net.data_starts(A);
    assert!(starts[2] > starts[1] + LONG + SIFS + ACK, "behind a timeout and a backoff");
    assert_eq!(starts[3], starts[2] + LONG + SIFS + ACK + SIFS);
}

#[test]
fn each_fragment_has_its_own_attempts_and_one_that_fails_gives_up_the_msdu() {
    let mut net = net_with(|config| config.max_attempts = 3);
    net.enqueue(1, A, B, 1500).enqueue(2, A, B, 1500);
    net.errors(900, A, B, DATA_LOST).run(SECOND);
    // The first fragment once, the second thrice; of the next MSDU the first fragment thrice.
    assert_eq!(lengths(&net), [552; 7]);
    let numbers: Vec<u16> = net.of(A, Kind::Data).iter().map(|sent| sent.frame.seq).collect();
    assert_eq!(numbers, [0, 0, 0, 0, 1, 1, 1]);
    assert_eq!((net.done(A), net.delivered.len()), (vec![(Fate::GivenUp, 4), (Fate::GivenUp, 3)], 0));
}

#[test]
fn a_fragment_whose_ack_was_lost_is_filtered_and_acknowledged_again() {
    let mut net = net();
    net.enqueue(1, A, B, 1500);
    net.errors(0, B, A, HIT).errors(1000, B, A, CLEAN).run(SECOND);
    // The first fragment twice.
    assert_eq!(lengths(&net), [552, 552, 552, 488]);
    assert_eq!((net.delivered.len(), net.stations[1].counters().duplicates), (1, 1));
    // So is the last one, when the MSDU is whole already.
    let mut net = self::net();
    net.enqueue(1, A, B, 1500);
    net.errors(2100, B, A, HIT).errors(3000, B, A, CLEAN).run(SECOND);
    assert_eq!(lengths(&net).last(), Some(&488));
    assert_eq!((net.delivered.len(), net.stations[1].counters().duplicates), (1, 1), "{:?}", times(&net));
}

#[test]
fn nobody_who_hears_a_fragment_comes_between() {
    let mut net = net();
    net.enqueue(1, A, B, 1500).enqueue(300, C, B, 1500).run(SECOND);
    let order: Vec<NodeId> = net.sent.iter().filter(|it| it.kind == Kind::Data).map(|it| it.from).collect();
    assert_eq!(order, [A, A, A, C, C, C]);
}

#[test]
fn frames_with_options_and_group_frames_go_whole() {
    let mut net = net();
    net.options_room = 14;
    net.enqueue(1, A, B, 1500).run(SECOND);
    assert_eq!(lengths(&net), [1536]);
}
