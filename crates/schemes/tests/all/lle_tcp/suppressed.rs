//! The ACKs that the receiving station keeps off the air.

use super::*;

#[test]
fn acks_stay_off_the_air_in_each_phase_and_what_carries_more_than_an_ack_never_does() {
    // The side that opens: its third ACK. @KLI06 Fig. 3.4
    let mut opener = paired(&[]);
    assert!(out(&mut opener, syn(OUT)).is_some(), "SYN");
    opener.report(&syn(OUT), Fate::Delivered);
    opener.pass(Place::FromAir, syn_ack(IN)).unwrap();
    assert!(out(&mut opener, ack(OUT, 1, WINDOW)).is_none(), "third ACK");

    // The side that is opened: SYN-ACK; then ACKs of data and of the peer's FIN, and its own FIN.
    let mut bench = paired(&[]);
    bench.pass(Place::FromAir, syn(IN)).unwrap();
    assert!(out(&mut bench, syn_ack(OUT)).is_some(), "SYN-ACK");
    bench.report(&syn_ack(OUT), Fate::Delivered);
    bench.pass(Place::FromAir, nth(IN, 0)).unwrap();
    assert!(out(&mut bench, ack(OUT, 1001, WINDOW)).is_none(), "ACK of data");
    bench.pass(Place::FromAir, nth(IN, 1)).unwrap();
    assert!(out(&mut bench, segment(OUT, Flags::ACK, Seq(1), 10, Seq(2001), WINDOW)).is_some(), "ACK on data");
    bench.pass(Place::FromAir, segment(IN, FIN_ACK, Seq(2001), 0, Seq(11), WINDOW)).unwrap();
    assert!(out(&mut bench, segment(OUT, Flags::ACK, Seq(11), 0, Seq(2002), WINDOW)).is_none(), "ACK of FIN");
    assert!(out(&mut bench, segment(OUT, FIN_ACK, Seq(11), 0, Seq(2002), WINDOW)).is_some(), "FIN");
    assert_eq!((bench.counter("acks_suppressed"), bench.counter("acks_passed"), bench.held()), (2, 0, 0));
    let reset = Flags::RST | Flags::ACK;
    assert!(out(&mut bench, segment(OUT, reset, Seq(12), 0, Seq(3000), WINDOW)).is_some(), "RST, though it advances");
}

#[test]
fn a_duplicate_ack_is_never_suppressed() {
    let mut bench = receiver();
    bench.pass(Place::FromAir, nth(IN, 0)).unwrap();
    assert!(out(&mut bench, ack(OUT, 1001, WINDOW)).is_none());
    for _ in 0..4 {
        assert!(out(&mut bench, ack(OUT, 1001, WINDOW)).is_some(), "a duplicate");
        bench.report(&ack(OUT, 1001, WINDOW), Fate::Delivered);
    }
    assert!(out(&mut bench, ack(OUT, 1, WINDOW)).is_some(), "an older number advances nothing either");
    assert_eq!((bench.counter("acks_suppressed"), bench.counter("acks_passed")), (1, 5));
}

#[test]
fn every_change_of_the_window_crosses_the_air() {
    let mut bench = receiver();
    // Shrinks, closes, opens again, and stays.
    for (i, (window, passes)) in
        [(WINDOW, false), (30_000, true), (30_000, false), (0, true), (20_000, true), (20_000, false)]
            .iter()
            .enumerate()
    {
        bench.pass(Place::FromAir, nth(IN, i as u32)).unwrap();
        let update = ack(OUT, 1001 + 1000 * i as u32, *window);
        let left = out(&mut bench, update.clone());
        assert_eq!(left.as_ref(), passes.then_some(&update), "{i}: {window}");
        if *passes {
            bench.report(&update, Fate::Delivered);
        }
    }
    // A window update acknowledges nothing: it is a duplicate by number, and a change.
    assert!(out(&mut bench, ack(OUT, 6001, 40_000)).is_some());
}

#[test]
fn a_closed_window_is_repeated_with_every_ack() {
    let mut bench = receiver();
    bench.pass(Place::FromAir, nth(IN, 0)).unwrap();
    for number in [1001, 1002, 1003] {
        // Probes of a byte each are taken and acknowledged; the window stays shut, and is confirmed each time.
        assert!(out(&mut bench, ack(OUT, number, 0)).is_some(), "{number}");
        bench.report(&ack(OUT, number, 0), Fate::Delivered);
    }
}

#[test]
fn acks_cross_the_air_until_the_mac_confirms_the_last_window() {
    let mut bench = receiver();
    let mut number = 1;
    let mut next = |bench: &mut Bench, window| {
        bench.pass(Place::FromAir, data(IN, number..number + 1000)).unwrap();
        number += 1000;
        let packet = ack(OUT, number, window);
        out(bench, packet.clone()).map(|_| packet)
    };
    assert!(next(&mut bench, WINDOW).is_none());
    let changed = next(&mut bench, 30_000).expect("a changed window");
    let second = next(&mut bench, 30_000).expect("the change is not confirmed");
    bench.report(&changed, Fate::Delivered);
    assert!(next(&mut bench, 30_000).is_none(), "confirmed");
    bench.report(&second, Fate::Delivered);
    let changed = next(&mut bench, 20_000).expect("another change");
    bench.report(&changed, Fate::GivenUp);
    let again = next(&mut bench, 20_000).expect("the partner may not have heard of it");
    let third = next(&mut bench, 20_000).expect("nor is the repetition confirmed");
    bench.report(&again, Fate::QueueFull);
    bench.report(&third, Fate::Delivered);
    let fourth = next(&mut bench, 20_000).expect("one of two was lost, and which one is not known");
    bench.report(&fourth, Fate::Delivered);
    assert!(next(&mut bench, 20_000).is_none(), "confirmed");
}

#[test]
fn an_ack_with_news_for_the_peers_tcp_crosses_the_air() {
    for flag in [Flags::ECE, Flags::CWR, Flags::URG] {
        let mut bench = receiver();
        bench.pass(Place::FromAir, nth(IN, 0)).unwrap();
        let marked = segment(OUT, Flags::ACK | flag, Seq(1), 0, Seq(1001), WINDOW);
        assert!(out(&mut bench, marked).is_some(), "{flag:?}");
    }
}

#[test]
fn the_window_of_a_syn_is_not_scaled_and_later_ones_compare_by_the_field_that_crosses_the_air() {
    let mut bench = paired(&[]);
    let offers = |packet| with_options(packet, |options| assert!(options.push_window_scale(3)));
    bench.pass(Place::FromAir, offers(syn(IN))).unwrap();
    bench.send(offers(segment(OUT, SYN_ACK, Seq(0), 0, Seq(1), 8_000)), Fate::Delivered);
    bench.pass(Place::FromAir, nth(IN, 0)).unwrap();
    // 8000 B, said as 1000 shifted by 3: the window of the SYN-ACK.
    assert!(out(&mut bench, ack(OUT, 1001, 1000)).is_none());
    bench.pass(Place::FromAir, nth(IN, 1)).unwrap();
    assert!(out(&mut bench, ack(OUT, 2001, 8_000)).is_some(), "64000 B");
}

#[test]
fn behind_another_relay_acks_pass_until_the_mac_has_confirmed_one() {
    let mut bench = receiver();
    bench.pass(Place::FromAir, nth(IN, 0)).unwrap();
    assert!(out(&mut bench, ack(OUT, 1001, WINDOW)).is_none(), "the relay makes it");
    // THERE was the partner so far; now the data comes by a third station, with an agent like the first.
    let third = NodeId(2);
    let policy = bench.announced().unwrap();
    bench.peer(third, PeerEvent::Up(&[Capability { scheme: "lle-tcp", detail: policy }]));
    let leaves = |bench: &mut Bench, number| {
        bench
            .relay(&[(Place::FromHost, Some(third)), (Place::ToAir, Some(third))], ack(OUT, number, WINDOW))
            .is_some()
    };
    bench.relay(&[(Place::FromAir, Some(third))], nth(IN, 1)).unwrap();
    assert!(leaves(&mut bench, 2001), "the third knows nothing of the receiver");
    bench.relay(&[(Place::FromAir, Some(third))], nth(IN, 2)).unwrap();
    assert!(leaves(&mut bench, 3001), "nor is it known that the first has arrived");
    bench.report(&ack(OUT, 2001, WINDOW), Fate::Delivered);
    bench.relay(&[(Place::FromAir, Some(third))], nth(IN, 3)).unwrap();
    assert!(!leaves(&mut bench, 4001));
}

#[test]
fn an_ack_that_no_route_is_known_for_passes_and_what_it_admits_is_heard() {
    // A window of two segments: without the ACK the third would be held for a host that has room for it.
    let mut bench = paired(&[("strategy", "every")]);
    bench.pass(Place::FromAir, syn(IN)).unwrap();
    bench.send(segment(OUT, SYN_ACK, Seq(0), 0, Seq(1), 2000), Fate::Delivered);
    bench.pass(Place::FromAir, ack(IN, 1, WINDOW)).unwrap();
    for i in 0..2 {
        assert!(bench.pass(Place::FromAir, nth(IN, i)).is_some());
    }
    assert!(bench.relay(&[(Place::FromHost, None)], ack(OUT, 2001, 2000)).is_some());
    assert!(bench.pass(Place::FromAir, nth(IN, 2)).is_some());
    assert_eq!(bench.held(), 0);
}
