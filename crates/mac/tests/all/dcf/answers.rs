//! Responses of receivers, and what senders make of them. @80211-2020 10.3.2.11, 10.3.2.14, 10.3.6

use super::harness::*;
use mac::{Fate, Kind};
use phy::{ErrorModel, Hit};
use units::NodeId;

#[test]
fn a_lost_ack_brings_a_retry_that_is_acknowledged_and_not_delivered_again() {
    let ack_is_hit = ErrorModel::One(Hit::Packet { per: 0.0, control_per: 1.0 });
    let mut net = Setup::default().net();
    let over = 1000 + DATA + SIFS + ACK + 1;
    net.errors(0, B, A, ack_is_hit).errors(over, B, A, ErrorModel::One(Hit::NEVER)).enqueue(1000, A, B, 1500);
    net.run(20_000);
    assert_eq!(net.of(A, Kind::Data).iter().map(|s| s.is_retry).collect::<Vec<_>>(), [false, true]);
    assert_eq!(net.of(B, Kind::Ack).len(), 2);
    assert_eq!(net.delivered.len(), 1);
    let b = net.stations[1].counters();
    assert_eq!((b.msdus_received, b.duplicates), (1, 1));
    assert_eq!(net.done(A), [(Fate::Delivered, 2)]);
}

#[test]
fn a_broadcast_goes_once_at_the_basic_rate_and_is_answered_by_nobody() {
    let all_is_hit = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 1.0 });
    for (errors, receivers) in [(ErrorModel::One(Hit::NEVER), 2), (all_is_hit, 0)] {
        let mut net = Setup { errors, ..Setup::default() }.net();
        net.enqueue(1000, A, NodeId::BROADCAST, 1500).run(40_000);
        assert_eq!(net.sent.len(), 1);
        // 192 + 1536 · 8 at 1 Mb/s.
        assert_eq!(net.sent[0].end - net.sent[0].start, 192 + 12_288);
        assert_eq!(net.delivered.len(), receivers);
        assert_eq!(net.done(A), [(Fate::Delivered, 1)]);
    }
}

#[test]
fn a_preamble_within_the_ack_timeout_extends_it_to_the_end_of_that_frame() {
    // B cannot hear A, so no ACK comes. D begins 1 µs before the timeout, or 1 µs after it.
    let end = 1000 + DATA;
    for (start, failed_at) in [(end + TIMEOUT - 1, end + TIMEOUT - 1 + DATA), (end + TIMEOUT + 1, end + TIMEOUT)] {
        let mut net = Setup { nodes: 4, deaf: vec![(A, B)], ..Setup::default() }.net();
        net.enqueue(1000, A, B, 1500).air(start, frame(Kind::Data, D, NOBODY, 0)).run(end + TIMEOUT + 2 * DATA);
        assert_eq!((net.said[0].when, net.said[0].fate), (failed_at, Fate::Attempt));
    }
}

#[test]
fn an_ack_for_another_is_no_answer() {
    let end = 1000 + DATA;
    let mut net = Setup { nodes: 4, deaf: vec![(A, B)], ..Setup::default() }.net();
    net.enqueue(1000, A, B, 1500).air(end + SIFS, frame(Kind::Ack, D, NOBODY, 0)).run(end + 1000);
    assert_eq!((net.said[0].when, net.said[0].fate), (end + SIFS + ACK, Fate::Attempt));
}

#[test]
fn hidden_stations_collide_where_stations_in_reach_would_defer() {
    // B hears A and C, which hear each other or not. C's frame comes in the middle of A's.
    for (hidden, delivered) in [(false, 2), (true, 0)] {
        let deaf = if hidden { vec![(A, C), (C, A)] } else { Vec::new() };
        let mut net = Setup { deaf, ..Setup::default() }.net();
        net.enqueue(1000, A, B, 1500).enqueue(1500, C, B, 1500).run(1000 + 2 * DATA + 2000);
        assert_eq!(net.delivered.len(), delivered, "hidden: {hidden}");
    }
}
