//! Errors of frames: their places and their effects.

use super::harness::*;
use mac::{ErrorsAt, Fate, Kind};
use phy::errors::Sojourn;
use phy::{ErrorModel, Hit};
use units::Dur;

const HALF: ErrorModel = ErrorModel::One(Hit::Packet { per: 0.5, control_per: 0.0 });

fn attempts(errors_at: ErrorsAt) -> Vec<(Fate, u8)> {
    let mut net = Setup { errors: HALF, errors_at, limit: queue::Limit::Packets(500), ..Setup::default() }.net();
    for _ in 0..400 {
        net.enqueue(1000, A, B, 200);
    }
    net.run(10_000_000);
    assert_eq!(net.done(A).len(), 400);
    net.done(A)
}

#[test]
fn errors_drawn_for_each_attempt_are_retried_and_rarely_fatal() {
    let done = attempts(ErrorsAt::Attempt);
    // k attempts with probability 2⁻ᵏ; given up after seven with 2⁻⁷: 3.1 of 400 expected, 12 with probability 10⁻⁴.
    for k in 1..=7 {
        assert!(done.iter().any(|(_, n)| *n == k), "some MSDU takes {k} attempts");
    }
    assert!(done.iter().all(|(fate, n)| *fate == Fate::Delivered || *n == 7));
    assert!(done.iter().filter(|(fate, _)| *fate == Fate::GivenUp).count() < 12);
}

#[test]
fn errors_drawn_for_each_msdu_let_it_pass_at_once_or_never() {
    let done = attempts(ErrorsAt::Msdu);
    assert!(done.iter().all(|d| [(Fate::Delivered, 1), (Fate::GivenUp, 7)].contains(d)), "{done:?}");
    // Half of 400 are lost, standard deviation 10.
    let lost = done.iter().filter(|(fate, _)| *fate == Fate::GivenUp).count();
    assert!(lost.abs_diff(200) < 40, "{lost}");
}

#[test]
fn a_bad_state_shared_by_both_directions_spares_the_acks_of_what_arrived() {
    // Both states last 50 ms on average, an exchange 0.6 ms. If a link has one state, an ACK is lost only where it changed
    // between data and ACK; if each direction has its own, half of what arrives loses its ACK and comes again.
    let all = Hit::Packet { per: 1.0, control_per: 1.0 };
    let sojourn = Sojourn::Time { good: Dur::from_ms(50), bad: Dur::from_ms(50) };
    let [shared, apart] = [true, false].map(|shared| {
        let errors = ErrorModel::Two { good: Hit::NEVER, bad: all, sojourn, shared };
        let mut net = Setup { errors, limit: queue::Limit::Packets(2000), ..Setup::default() }.net();
        for _ in 0..1000 {
            net.enqueue(1000, A, B, 200);
        }
        net.run(20_000_000);
        let b = net.stations[1].counters();
        let acks = net.of(B, Kind::Ack).len() as u64;
        assert_eq!(acks, b.msdus_received + b.duplicates, "what arrives is acknowledged");
        b.duplicates
    });
    assert!(apart > 20 * shared.max(1), "{shared} duplicates over one state, {apart} over two");
}
