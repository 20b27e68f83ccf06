//! At the station.

use super::*;
use mac::{Fate, TxReport};
use schemes::Port;
use schemes::testing::{Ground, IN, THERE, scheme, segment as any};
use units::{Dur, SimTime};
use wire::{Flags, SeqRange};

/// The MAC has done with the packet of this serial.
fn done(bench: &mut Bench, number: u32, serial: u64, fate: Fate) {
    let now = bench.now;
    let report = TxReport {
        fate,
        serial,
        to: THERE,
        category: 0,
        attempts: 7,
        ppdu: None,
        in_order: None,
        enqueued: now,
        head: now,
        first: now,
        done: now,
        airtime: Dur::ZERO,
    };
    bench.report_with(&segment(OUT, number), &report);
}

/// These pass and are discarded.
fn discarded(bench: &mut Bench, numbers: &[u32]) {
    for &number in numbers {
        let serial = passes(bench, number);
        done(bench, number, serial, Fate::GivenUp);
    }
}

/// A station that has discarded these.
fn after(numbers: &[u32]) -> Bench {
    let mut bench = relay(&[]);
    discarded(&mut bench, numbers);
    bench
}

#[test]
fn a_discard_is_told_once_on_the_next_ack_of_the_flow() {
    let mut bench = relay(&[]);
    let serial = passes(&mut bench, 1);
    // This ACK has passed: it may wait in the transmit queue still, and stays as it is.
    assert_eq!(told(&mut bench, 1), []);
    done(&mut bench, 1, serial, Fate::GivenUp);
    let of_another = ack(FlowId(3), 1, WINDOW);
    assert_eq!(told_at(&mut bench, Place::Transit, of_another), []);
    assert_eq!(told(&mut bench, 1), [1]);
    assert_eq!(told(&mut bench, 1), [], "none is left");
    assert_eq!((bench.counter("discards"), bench.counter("numbers_told"), bench.held()), (1, 1, 0));
}

#[test]
fn only_what_the_mac_gave_up_is_told() {
    for fate in [Fate::Delivered, Fate::Expired, Fate::QueueFull] {
        let mut bench = relay(&[]);
        let serial = passes(&mut bench, 1);
        done(&mut bench, 1, serial, fate);
        assert_eq!(told(&mut bench, 1), [], "{fate:?}");
    }
    // An ACK without payload, a SYN and a FIN are no data.
    let mut bench = relay(&[]);
    for flags in [Flags::ACK, Flags::SYN, Flags::FIN | Flags::ACK] {
        let packet = any(OUT, flags, Seq(1), 0, Seq(1), WINDOW);
        bench.pass(Place::Transit, packet.clone()).unwrap();
        bench.report(&packet, Fate::GivenUp);
    }
    assert_eq!((told(&mut bench, 1), bench.counter("discards")), (vec![], 0));
}

#[test]
fn several_go_on_one_ack_in_order_and_what_does_not_fit_waits() {
    let mut bench = after(&[5001, 1, 3001, 2001, 4001]);
    let mut crowded = ack(IN, 1, WINDOW);
    let options = &mut crowded.tcp_mut().unwrap().options;
    options.push_timestamps(1, 2);
    let full = {
        let mut full = crowded.clone();
        let blocks = [(6001, 7001), (8001, 9001), (9501, 9601)].map(|(a, b)| SeqRange { start: Seq(a), end: Seq(b) });
        assert_eq!(full.tcp_mut().unwrap().options.push_sack(&blocks), 3);
        full
    };
    crowded.tcp_mut().unwrap().options.push_sack(&[SeqRange::new(Seq(6001), 1000)]);
    assert_eq!(told_at(&mut bench, Place::Transit, full), [], "40 bytes are 40 bytes");
    assert_eq!(told_at(&mut bench, Place::Transit, crowded), [1, 2001, 3001]);
    assert_eq!(told(&mut bench, 1), [4001, 5001]);
    assert_eq!((bench.counter("acks_with_numbers"), bench.counter("acks_without_room")), (2, 1));
}

#[test]
fn no_more_than_the_history_is_kept_and_the_lowest_are() {
    let mut bench = relay(&[("history", Value::Int(2))]);
    discarded(&mut bench, &[3001, 2001, 1]);
    assert_eq!(told(&mut bench, 1), [1, 2001]);
}

#[test]
fn what_an_ack_covers_is_not_told() {
    let mut bench = after(&[1, 2001]);
    assert_eq!(told(&mut bench, 2001), [2001], "the first has arrived: its MAC ACKs were lost");
    // An ACK that comes late tells nothing new, and brings nothing back.
    assert_eq!(told(&mut bench, 1), []);
    // Data that acknowledges counts as well.
    let mut bench = after(&[1]);
    let data = any(IN, Flags::ACK, Seq(1), 100, Seq(1001), WINDOW);
    assert_eq!(told_at(&mut bench, Place::Transit, data), []);
    assert_eq!(told(&mut bench, 1), []);
}

#[test]
fn only_pure_acks_on_their_way_to_the_sender_carry_numbers() {
    let mut bench = after(&[1]);
    for (flags, len) in [(Flags::ACK, 1), (Flags::ACK | Flags::FIN, 0), (Flags::ACK | Flags::SYN, 0), (Flags(0), 0)] {
        let packet = any(IN, flags, Seq(1), len, Seq(1), WINDOW);
        assert_eq!(told_at(&mut bench, Place::Transit, packet), [], "{flags:?} {len}");
    }
    for at in [Place::FromAir, Place::ToAir, Place::FromHost] {
        assert_eq!(told_at(&mut bench, at, ack(IN, 1, WINDOW)), [], "{at:?}");
    }
    assert_eq!(told(&mut bench, 1), [1]);
}

#[test]
fn at_the_senders_own_node_the_number_goes_on_the_ack_that_comes_up() {
    let mut bench = bench("nack-vegas", node(HERE, 3), &[]).unwrap();
    let packet = segment(OUT, 1);
    assert_eq!(bench.pass(Place::FromHost, packet.clone()), Some(packet));
    let serial = bench.serial;
    done(&mut bench, 1, serial, Fate::GivenUp);
    assert_eq!(told_at(&mut bench, Place::ToHost, ack(IN, 1, WINDOW)), [1]);
    // Data that comes up is nobody's copy.
    bench.pass(Place::ToHost, segment(IN, 1)).unwrap();
    assert_eq!(told_at(&mut bench, Place::ToHost, ack(OUT, 1, WINDOW)), []);
}

#[test]
fn a_copy_that_passes_or_arrives_ends_the_matter() {
    // The sender has repeated it by itself.
    let mut bench = after(&[1]);
    let copy = passes(&mut bench, 1);
    assert_eq!(told(&mut bench, 1), []);
    // The copy is discarded too.
    done(&mut bench, 1, copy, Fate::GivenUp);
    assert_eq!(told(&mut bench, 1), [1]);
    // Two discards of one number, none told: one number.
    let mut bench = after(&[1, 1]);
    assert_eq!(told(&mut bench, 1), [1]);
    // Told, repeated, and now the copy is lost to the queue: that is no corruption.
    let copy = passes(&mut bench, 1);
    done(&mut bench, 1, copy, Fate::QueueFull);
    assert_eq!(told(&mut bench, 1), []);
}

#[test]
fn the_late_discard_of_an_original_whose_copy_is_here_is_not_told() {
    let mut bench = relay(&[]);
    let original = passes(&mut bench, 1);
    let next = passes(&mut bench, 1001);
    let copy = passes(&mut bench, 1);
    done(&mut bench, 1, original, Fate::GivenUp);
    done(&mut bench, 1001, next, Fate::GivenUp);
    assert_eq!(told(&mut bench, 1), [1001]);
    assert_eq!(bench.counter("late_discards"), 1);
    done(&mut bench, 1, copy, Fate::GivenUp);
    assert_eq!(told(&mut bench, 1), [1]);
}

#[test]
fn numbers_wrap() {
    let first = u32::MAX - 1499;
    let numbers = [first, first.wrapping_add(1000), first.wrapping_add(2000), first.wrapping_add(3000)];
    let mut bench = after(&[numbers[3], numbers[1], numbers[0], numbers[2]]);
    assert_eq!(numbers[2], 500);
    assert_eq!(told(&mut bench, numbers[1]), numbers[1..]);
    // What passes before the highest number is a copy across the wrap as well.
    let (original, copy) = (passes(&mut bench, numbers[0]), passes(&mut bench, numbers[0]));
    assert_ne!(original, copy);
    done(&mut bench, numbers[0], original, Fate::GivenUp);
    assert_eq!(told(&mut bench, numbers[0]), []);
}

#[test]
fn a_connection_that_ends_is_forgotten() {
    for (flow, flags) in [(OUT, Flags::RST), (IN, Flags::RST | Flags::ACK), (OUT, Flags::SYN)] {
        let mut bench = after(&[1]);
        bench.pass(Place::Transit, any(flow, flags, Seq(1), 0, Seq(1), WINDOW)).unwrap();
        assert_eq!(told(&mut bench, 1), [], "{flow:?} {flags:?}");
    }
    // A FIN ends nothing: what is missing before it is still to be repeated.
    let mut bench = after(&[1]);
    bench.pass(Place::Transit, any(OUT, Flags::FIN | Flags::ACK, Seq(1001), 0, Seq(1), WINDOW)).unwrap();
    bench.pass(Place::Transit, any(IN, Flags::FIN | Flags::ACK, Seq(1), 0, Seq(1), WINDOW)).unwrap();
    assert_eq!(told(&mut bench, 1), [1]);
}

#[test]
fn a_silent_flow_is_forgotten_and_one_that_speaks_is_not() {
    let mut bench = relay(&[("forget", Value::Time(Dur::from_secs(10)))]);
    discarded(&mut bench, &[1]);
    bench.now = SimTime::ZERO + Dur::from_secs(6);
    discarded(&mut bench, &[1001]);
    assert!(bench.next_timer(), "after 10 s");
    assert_eq!(
        (bench.now, bench.next_wakeup()),
        (SimTime::ZERO + Dur::from_secs(10), SimTime::ZERO + Dur::from_secs(16))
    );
    assert!(bench.next_timer());
    assert_eq!((told(&mut bench, 1), bench.next_wakeup()), (vec![], SimTime::NEVER));
    let mut bench = relay(&[("forget", Value::Time(Dur::from_secs(10)))]);
    discarded(&mut bench, &[1]);
    bench.now = SimTime::ZERO + Dur::from_secs(6);
    told_at(&mut bench, Place::Transit, any(IN, Flags::ACK, Seq(1), 9, Seq(1), WINDOW));
    assert!(bench.next_timer());
    assert_eq!(told(&mut bench, 1), [1], "an ACK came at 6 s");
}

#[test]
fn losses_on_wires_are_told_if_that_is_wished() {
    for (wires, expected) in [(false, vec![]), (true, vec![1])] {
        let mut bench = relay(&[("wires", Value::Bool(wires))]);
        let serial = passes(&mut bench, 1);
        bench.lost_on_wire(&segment(OUT, 1), serial);
        assert_eq!(told(&mut bench, 1), expected);
        assert_eq!(bench.counter("wire_losses"), u64::from(wires));
    }
}

#[test]
fn it_sits_where_there_is_something_to_discard_or_to_repeat() {
    let nowhere = NodeFacts { starts_flows: false, ends_flows: false, has_air: false, ..node(HERE, 3) };
    let turns = |node: NodeFacts<'static>, wires| {
        let mut ground = Ground::new(node);
        let sits = ground.install(&scheme("nack-vegas", &[("wires", Value::Bool(wires))])).unwrap();
        sits.then(|| [Port::TcpOptions, Port::SenderHook].map(|port| ground.stack.turns(port)))
    };
    assert_eq!(turns(nowhere, false), None);
    assert_eq!(turns(nowhere, true), Some([true, false]));
    assert_eq!(turns(NodeFacts { has_air: true, ..nowhere }, false), Some([true, false]));
    assert_eq!(turns(NodeFacts { ends_flows: true, ..nowhere }, false), Some([false, true]));
    assert_eq!(turns(node(HERE, 3), false), Some([true, true]));
}
