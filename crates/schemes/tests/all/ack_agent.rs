//! The TCP ACK agent's two halves, each on its bench.

use mac::Fate;
use schemes::ack_agent::INFO;
use schemes::testing::{self, Bench, HERE, IN, OUT, THERE, ack, data, node, segment};
use schemes::{Capability, NodeFacts, PeerEvent, Place, Toward};
use units::FlowId;
use wire::{Flags, Packet, Seq};

const MAKES: u32 = 1;
const DROPS: u32 = 2;

fn bench(forwards: bool, partner: u32) -> Bench {
    let mut bench = testing::bench("ack-agent", NodeFacts { forwards, ..node(HERE, 2) }, &[]).unwrap();
    bench.peer(THERE, PeerEvent::Up(&[Capability { scheme: INFO.id, detail: partner }]));
    bench
}

/// An access point that forwards data of [`OUT`] to its station, whose window has been heard.
fn access_point() -> Bench {
    let mut bench = bench(true, DROPS);
    down(&mut bench, segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), 65_535), Fate::Delivered);
    bench.pass(Place::FromAir, segment(IN, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 60_000)).unwrap();
    bench
}

/// Forwards a packet by radio.
fn down(bench: &mut Bench, packet: Packet, fate: Fate) {
    let packet = bench.pass(Place::ToAir, packet).unwrap();
    bench.report(&packet, fate);
}

/// The `i`-th full segment.
fn nth(i: u32) -> Packet {
    data(OUT, 1 + 1000 * i..1001 + 1000 * i)
}

/// Numbers, windows and ways of the ACKs made since the last look.
fn made(bench: &mut Bench) -> Vec<(u32, u16)> {
    let injected = bench.take_injected();
    assert!(injected.iter().all(|(packet, toward)| packet.pure_ack().is_some() && *toward == Toward::Route));
    injected.iter().map(|(packet, _)| (packet.tcp().unwrap().ack.0, packet.tcp().unwrap().window)).collect()
}

#[test]
fn each_data_segment_the_mac_has_delivered_makes_an_ack_with_the_receivers_last_window() {
    let mut bench = access_point();
    assert_eq!(made(&mut bench), []);
    for i in 0..3 {
        down(&mut bench, nth(i), Fate::Delivered);
    }
    assert_eq!(made(&mut bench), [(1001, 60_000), (2001, 60_000), (3001, 60_000)]);
}

#[test]
fn a_failure_makes_nothing_and_what_follows_waits_for_the_receivers_own_word() {
    let mut bench = access_point();
    for (i, fate) in [(0, Fate::Delivered), (1, Fate::GivenUp), (2, Fate::Delivered), (3, Fate::QueueFull)] {
        down(&mut bench, nth(i), fate);
    }
    assert_eq!(made(&mut bench), [(1001, 60_000)]);
    // Its duplicate ACK passes as it is; the repetition closes the hole.
    let duplicate = ack(IN, 1001, 60_000);
    assert_eq!(bench.pass(Place::FromAir, duplicate.clone()), Some(duplicate));
    down(&mut bench, nth(1), Fate::Delivered);
    assert_eq!(made(&mut bench), [(3001, 60_000)]);
}

#[test]
fn a_station_drops_the_ack_that_was_made_and_passes_duplicates_and_windows() {
    let mut bench = bench(false, MAKES);
    bench.pass(Place::FromAir, segment(IN, Flags::SYN, Seq(0), 0, Seq(0), 65_535)).unwrap();
    bench.send(segment(OUT, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 60_000), Fate::Delivered);
    let mut says = |number, window| {
        let packet = bench.pass(Place::FromHost, ack(OUT, number, window));
        if let Some(packet) = &packet {
            bench.report(packet, Fate::Delivered);
        }
        packet.is_some()
    };
    assert!(!says(1001, 60_000), "made from the MAC ACK already");
    assert!(says(1001, 60_000), "a duplicate");
    assert!(says(2001, 50_000), "another window");
    assert!(!says(3001, 50_000));
    assert_eq!((bench.counter("acks_suppressed"), bench.counter("acks_passed")), (2, 2));
}

#[test]
fn a_filter_without_a_generator_drops_nothing_and_a_generator_without_a_filter_makes_nothing() {
    // Two stations, two access points, and neighbours that have nothing.
    for partner in [DROPS, 0, 7] {
        let mut bench = bench(false, partner);
        bench.pass(Place::FromAir, segment(IN, Flags::SYN, Seq(0), 0, Seq(0), 65_535)).unwrap();
        bench.send(segment(OUT, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 60_000), Fate::Delivered);
        assert!(bench.pass(Place::FromHost, ack(OUT, 1001, 60_000)).is_some());
    }
    for partner in [MAKES, 0, 7] {
        let mut bench = bench(true, partner);
        down(&mut bench, segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), 65_535), Fate::Delivered);
        bench.pass(Place::FromAir, segment(IN, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 60_000)).unwrap();
        down(&mut bench, nth(0), Fate::Delivered);
        assert_eq!(made(&mut bench), []);
    }
}

#[test]
fn acks_of_an_upload_pass_the_access_point_untouched() {
    // The station sends; the access point forwards ACKs to it, which occupy no number.
    let mut bench = access_point();
    for number in [1001, 2001] {
        let passes = ack(FlowId(2), number, 65_535);
        assert_eq!(bench.pass(Place::ToAir, passes.clone()), Some(passes.clone()));
        bench.report(&passes, Fate::Delivered);
    }
    assert_eq!(made(&mut bench), []);
    assert_eq!(bench.counter("acks_made"), 0);
}
