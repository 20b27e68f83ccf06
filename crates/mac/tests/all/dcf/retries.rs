//! Retry counters, CW, and what the MAC says in the end. @80211-2020 10.3.3, 10.3.4.4

use super::harness::*;
use mac::{Fate, Kind};
use phy::{ErrorModel, Hit};
use units::Bytes;

const HIT: ErrorModel = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 1.0 });

#[test]
fn a_frame_is_sent_seven_times_in_all_with_cw_doubling_and_then_discarded() {
    let mut net = Setup { deaf: vec![(A, B)], ..Setup::default() }.net();
    net.enqueue(1000, A, B, 1500).enqueue(1000, A, B, 1500).run(400_000);
    let mut draws = backoffs(A);
    let mut expected = vec![1000];
    // Six retries, then the next MSDU from CW 31 again: a discard resets it.
    for cw in [63, 127, 255, 511, 1023, 1023, 31, 63] {
        let last = expected[expected.len() - 1];
        expected.push(last + DATA + TIMEOUT + u64::from(draws.below(cw + 1)) * SLOT);
    }
    assert_eq!(net.data_starts(A)[..9], expected);
    assert_eq!(net.done(A), [(Fate::GivenUp, 7), (Fate::GivenUp, 7)]);
    let retry_bits: Vec<bool> = net.of(A, Kind::Data).iter().map(|s| s.is_retry).collect();
    assert_eq!(retry_bits[..8], [false, true, true, true, true, true, true, false]);
}

#[test]
fn a_success_brings_cw_back() {
    // Three attempts are hit, the fourth is not; the next MSDU waits its post-backoff from CW 31.
    let mut draws = backoffs(A);
    let retries: Vec<u64> = [63, 127, 255].map(|cw| u64::from(draws.below(cw + 1))).to_vec();
    let fourth = 1000 + 3 * (DATA + TIMEOUT) + retries.iter().sum::<u64>() * SLOT;
    let mut net = Setup::default().net();
    net.errors(0, A, B, HIT)
        .errors(fourth - 1, A, B, ErrorModel::One(Hit::NEVER))
        .enqueue(1000, A, B, 1500)
        .enqueue(1000, A, B, 1500)
        .run(fourth + 5000);
    let after = fourth + DATA + SIFS + ACK + DIFS + u64::from(draws.below(32)) * SLOT;
    assert_eq!(net.data_starts(A)[3..], [fourth, after]);
    assert_eq!(net.done(A), [(Fate::Delivered, 4), (Fate::Delivered, 1)]);
}

#[test]
fn an_rts_that_nobody_answers_is_sent_seven_times() {
    let mut net = Setup { rts_threshold: Some(Bytes(0)), deaf: vec![(A, B)], ..Setup::default() }.net();
    net.enqueue(1000, A, B, 1500).run(400_000);
    assert_eq!(net.of(A, Kind::Rts).len(), 7);
    assert!(net.of(A, Kind::Data).is_empty());
    assert_eq!(net.done(A), [(Fate::GivenUp, 7)]);
}

#[test]
fn a_frame_above_the_rts_threshold_is_sent_four_times_though_each_cts_came() {
    let data_is_hit = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 0.0 });
    let mut net = Setup { rts_threshold: Some(Bytes(500)), errors: data_is_hit, ..Setup::default() }.net();
    net.enqueue(1000, A, B, 1500).run(400_000);
    assert_eq!((net.of(A, Kind::Rts).len(), net.of(B, Kind::Cts).len(), net.of(A, Kind::Data).len()), (4, 4, 4));
    assert_eq!(net.done(A), [(Fate::GivenUp, 4)]);
    // One that is not above it goes without RTS, seven times.
    let mut net = Setup { rts_threshold: Some(Bytes(500)), errors: data_is_hit, ..Setup::default() }.net();
    net.enqueue(1000, A, B, 464).run(400_000);
    assert_eq!((net.of(A, Kind::Rts).len(), net.of(A, Kind::Data).len()), (0, 7));
}

#[test]
fn rts_cts_data_and_ack_follow_each_other_by_sifs() {
    let mut net = Setup { rts_threshold: Some(Bytes(0)), ..Setup::default() }.net();
    net.enqueue(1000, A, B, 1500).run(9000);
    let seen: Vec<_> = net.sent.iter().map(|s| (s.from, s.kind, s.start)).collect();
    let cts = 1000 + RTS + SIFS;
    let data = cts + CTS + SIFS;
    let ack = data + DATA + SIFS;
    assert_eq!(seen, [(A, Kind::Rts, 1000), (B, Kind::Cts, cts), (A, Kind::Data, data), (B, Kind::Ack, ack)]);
}

#[test]
fn a_queue_refuses_what_exceeds_its_packets_or_its_bytes() {
    // One MSDU is in service and no longer queued.
    for limit in [queue::Limit::Packets(2), queue::Limit::Bytes(Bytes(3000))] {
        let mut net = Setup { limit, ..Setup::default() }.net();
        for _ in 0..4 {
            net.enqueue(1000, A, B, 1500);
        }
        net.enqueue(1001, A, B, 100).run(50_000);
        assert_eq!(net.done(A)[..2], [(Fate::QueueFull, 0), (Fate::QueueFull, 0)]);
        assert_eq!(net.done(A)[2..], [(Fate::Delivered, 1); 3]);
        assert_eq!((net.stations[0].counters().msdus_refused, net.stations[0].counters().msdus_offered), (2, 5));
    }
    // Where bytes count, a small packet still fits behind two of 1400 B; where packets count, it does not.
    for (limit, refused) in [(queue::Limit::Packets(2), 1), (queue::Limit::Bytes(Bytes(3000)), 0)] {
        let mut net = Setup { limit, ..Setup::default() }.net();
        net.enqueue(1000, A, B, 1400).enqueue(1000, A, B, 1400).enqueue(1000, A, B, 1400).enqueue(1001, A, B, 200);
        net.run(50_000);
        assert_eq!(net.stations[0].counters().msdus_refused, refused);
    }
}
