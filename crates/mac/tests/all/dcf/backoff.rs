//! Times at which stations send. @80211-2020 10.3.4

use super::harness::*;
use mac::{AtAddressee, Fate, Kind, Loss};
use phy::{ErrorModel, Hit};
use units::Dur;

/// Data, SIFS, ACK.
const EXCHANGE: u64 = DATA + SIFS + ACK;

#[test]
fn a_frame_for_an_idle_medium_goes_at_once_and_its_ack_a_sifs_later() {
    let mut net = Setup::default().net();
    net.enqueue(1000, A, B, 1500).run(9000);
    assert_eq!(net.data_starts(A), [1000]);
    assert_eq!(net.of(B, Kind::Ack)[0].start, 1000 + DATA + SIFS);
    let delivered: Vec<_> = net.delivered.iter().map(|it| (it.when, it.node, it.from)).collect();
    assert_eq!(delivered, [(1000 + DATA, B, A)]);
    assert_eq!(net.done(A), [(Fate::Delivered, 1)]);
}

#[test]
fn backoff_freezes_while_another_sends_and_goes_on_with_whole_slots_a_difs_after() {
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    // A finds the medium busy (D to nobody in particular, 1310 from 100): it draws.
    let slots = u64::from(backoffs(A).below(32));
    assert!(slots >= 4, "the seed gives A something to freeze: {slots}");
    let idle = 100 + DATA;
    // In the middle of A's fourth slot D is heard again: three slots have counted.
    let again = idle + DIFS + 3 * SLOT + SLOT / 2;
    net.air(100, frame(Kind::Data, D, NOBODY, 0))
        .enqueue(200, A, B, 1500)
        .air(again, frame(Kind::Data, D, NOBODY, 0))
        .run(9000);
    assert_eq!(net.data_starts(A), [again + DATA + DIFS + (slots - 3) * SLOT]);
}

#[test]
fn eifs_follows_a_frame_in_error_and_a_correct_frame_ends_it() {
    let slots = u64::from(backoffs(A).below(32));
    let hit = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 1.0 });
    // Without more, A waits an EIFS after D's frame, which it could not read.
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    net.errors(0, D, A, hit).air(100, frame(Kind::Data, D, NOBODY, 0)).enqueue(200, A, B, 1500).run(9000);
    assert_eq!(net.data_starts(A), [100 + DATA + EIFS + slots * SLOT]);
    // A control frame of C that A can read, well inside the EIFS: a DIFS from its end.
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    let ack = 100 + DATA + SIFS;
    net.errors(0, D, A, hit)
        .air(100, frame(Kind::Data, D, NOBODY, 0))
        .air(ack, frame(Kind::Ack, C, NOBODY, 0))
        .enqueue(200, A, B, 1500)
        .run(9000);
    assert_eq!(net.data_starts(A), [ack + ACK + DIFS + slots * SLOT]);
}

#[test]
fn stations_whose_slots_end_together_collide_and_both_know_only_by_the_timeout() {
    // CW 0: both draw nothing, and start a DIFS after D.
    let mut net = Setup { nodes: 4, cw: (0, 0), ..Setup::default() }.net();
    net.air(100, frame(Kind::Data, D, NOBODY, 0))
        .enqueue(200, A, C, 1500)
        .enqueue(300, B, C, 1500)
        .run(100 + DATA + 2000);
    let start = 100 + DATA + DIFS;
    assert_eq!((net.data_starts(A)[0], net.data_starts(B)[0]), (start, start));
    assert!(net.delivered.is_empty() && net.of(C, Kind::Ack).is_empty());
    let failed: Vec<_> = net.said.iter().map(|s| (s.when, s.node, s.fate)).collect();
    let when = start + DATA + TIMEOUT;
    assert_eq!(failed, [(when, A, Fate::Attempt), (when, B, Fate::Attempt)]);
    // C locked on the first, which the second spoilt; the second began under it.
    let fates: Vec<_> = net.ended.iter().filter(|it| it.frame.to == C).map(|it| it.fate).collect();
    assert_eq!(fates, [AtAddressee::Lost(Loss::Collision); 2]);
}

#[test]
fn a_listener_waits_eifs_after_a_collision_while_its_transmitters_count_from_their_timeout() {
    // Data frames of A and B collide at C; D hears both, has something to send and draws.
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    let clash = 1000;
    net.enqueue(clash, A, C, 1500).enqueue(clash, B, C, 1500).enqueue(clash + 5, D, C, 1500).run(clash + DATA + 3000);
    let end = clash + DATA;
    let own = |node| u64::from(backoffs(node).below(64)) * SLOT + end + TIMEOUT;
    let listener = end + EIFS + u64::from(backoffs(D).below(32)) * SLOT;
    // The first of the three starts when its own count says; the others have frozen.
    let starts: Vec<_> = net.sent.iter().filter(|s| s.start > clash && s.kind == Kind::Data).collect();
    let expected = [(own(A), A), (own(B), B), (listener, D)].into_iter().min().expect("three");
    assert_eq!((starts[0].start, starts[0].from), expected);
}

#[test]
fn an_eifs_that_was_waited_out_is_not_owed_again_after_the_stations_own_collision() {
    // A hears a frame in error, waits its EIFS out, and collides with B, whose longer frame still stands at A when A's ends.
    // A has heard nothing in error since: it counts from its timeout, a DIFS of idle being over, not from an EIFS.
    let mut net = Setup { nodes: 4, cw: (0, 0), ..Setup::default() }.net();
    let hit = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 1.0 });
    let start = 100 + DATA + EIFS;
    let longer = Shown { airtime: Dur::from_us(DATA + 100), ..frame(Kind::Data, B, NOBODY, 0) };
    net.errors(0, D, A, hit)
        .air(100, frame(Kind::Data, D, NOBODY, 0))
        .enqueue(200, A, C, 1500)
        .air(start, longer)
        .run(start + DATA + 1000);
    assert_eq!(net.data_starts(A), [start, start + DATA + TIMEOUT]);
}

#[test]
fn post_backoff_delays_what_comes_soon_after_a_success_and_not_what_comes_late() {
    let slots = u64::from(backoffs(A).below(32));
    let end = 1000 + EXCHANGE;
    for (second, expected) in [
        (end + 1, end + DIFS + slots * SLOT),
        (end + DIFS + slots * SLOT - 1, end + DIFS + slots * SLOT),
        (end + DIFS + slots * SLOT + 7, end + DIFS + slots * SLOT + 7),
    ] {
        let mut net = Setup::default().net();
        net.enqueue(1000, A, B, 1500).enqueue(second, A, B, 1500).run(20_000);
        assert_eq!(net.data_starts(A), [1000, expected]);
    }
}

#[test]
fn post_backoff_delays_what_comes_soon_after_a_discard() {
    // B cannot hear A: seven attempts, backoffs from CW 63, 127, 255, 511, 1023, 1023, then post-backoff from CW 31.
    let mut draws = backoffs(A);
    let retries: Vec<u64> = [63, 127, 255, 511, 1023, 1023].map(|cw| u64::from(draws.below(cw + 1))).to_vec();
    let last = 1000 + 7 * DATA + 6 * TIMEOUT + retries.iter().sum::<u64>() * SLOT;
    let discarded = last + TIMEOUT;
    let slots = u64::from(draws.below(32));
    for (second, expected) in [(1, slots * SLOT), (slots * SLOT + 3, slots * SLOT + 3)] {
        let mut net = Setup { deaf: vec![(A, B)], ..Setup::default() }.net();
        net.enqueue(1000, A, B, 1500).enqueue(discarded + second, A, B, 1500).run(discarded + 1500);
        assert_eq!(net.said[6].when, discarded);
        assert_eq!(net.data_starts(A)[7], discarded + expected);
    }
}
