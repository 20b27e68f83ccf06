//! LLE-TCP through its registry entry, as a black box: what its row in the list of schemes promises, in numbers.

use mac::Fate;
use schemes::testing::{self, Bench, IN, OUT, ack, data, segment};
use schemes::{Place, Toward, Value};
use wire::{Flags, Packet, Seq};

/// A station that opened a connection to a neighbour, which has LLE-TCP too or not.
fn bench(strategy: &'static str, is_paired: bool) -> Bench {
    let set = [("strategy", Value::Choice(strategy))];
    let mut bench = testing::bench("lle-tcp", crate::five::station(), &set).expect("it sits at stations");
    if is_paired {
        bench.pair();
    }
    // Reported too: without the MAC's word that some window has reached the peer no ACK is suppressed. (Found by trial.)
    bench.send(segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), 65_535), Fate::Delivered);
    let answer = segment(IN, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 65_535);
    bench.pass(Place::FromAir, answer).expect("a SYN-ACK is never suppressed");
    bench
}

fn out(bench: &mut Bench, packet: Packet) -> Option<Packet> {
    let from_host = bench.pass(Place::FromHost, packet)?;
    bench.pass(Place::ToAir, from_host)
}

/// Acknowledgment numbers of what was injected; all of it towards the sender's TCP.
fn acks(bench: &mut Bench) -> Vec<u32> {
    let injected = bench.take_injected();
    assert!(injected.iter().all(|(packet, toward)| *toward == Toward::Route && packet.flow == IN));
    injected.iter().map(|(packet, _)| packet.pure_ack().unwrap().ack.0).collect()
}

#[test]
fn a_mac_success_becomes_one_ack_and_the_first_failure_of_a_run_three_duplicates() {
    let mut bench = bench("every", true);
    bench.send(data(OUT, 1..1449), Fate::Delivered);
    assert_eq!(acks(&mut bench), [1449]);
    bench.send(data(OUT, 1449..2897), Fate::GivenUp);
    assert_eq!(acks(&mut bench), [1449; 3]);
    bench.send(data(OUT, 2897..4345), Fate::GivenUp);
    assert_eq!(acks(&mut bench), []);
    bench.send(data(OUT, 1449..2897), Fate::Delivered);
    assert_eq!(acks(&mut bench), [2897]);
    assert_eq!(bench.held(), 0);
}

#[test]
fn a_delayed_receivers_strategy_makes_one_ack_for_two_segments() {
    let mut bench = bench("delayed-ack", true);
    for i in 0..4 {
        bench.send(data(OUT, 1 + i * 1448..1449 + i * 1448), Fate::Delivered);
    }
    assert_eq!(acks(&mut bench), [2897, 5793]);
}

#[test]
fn the_receiver_keeps_a_new_ack_off_the_air_and_lets_a_duplicate_through() {
    let mut bench = bench("every", true);
    bench.pass(Place::FromAir, data(IN, 1..1449));
    let new = out(&mut bench, ack(OUT, 1449, 65_535));
    let duplicate = out(&mut bench, ack(OUT, 1449, 65_535));
    assert_eq!((new.is_some(), duplicate.is_some()), (false, true));
}

#[test]
fn a_neighbour_without_it_turns_it_off() {
    let mut bench = bench("every", false);
    bench.send(data(OUT, 1..1449), Fate::Delivered);
    assert_eq!(acks(&mut bench), []);
    bench.pass(Place::FromAir, data(IN, 1..1449));
    assert!(out(&mut bench, ack(OUT, 1449, 65_535)).is_some());
}
