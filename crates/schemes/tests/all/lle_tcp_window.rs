//! LLE-TCP at a base station: the windows it tells senders from the room in its own queue (@KLI06 sec. 3.3).
//!
//! HERE is the base station, data goes out on even flows, segments of 1000 B in datagrams of 1040 B: of a room of 1040 B a
//! window takes 1000. The receiver advertises 65 535 B throughout.

use mac::Fate;
use queue::Space;
use schemes::testing::{self, Bench, HERE, IN, OUT, ack, data, node, segment};
use schemes::{NodeFacts, Place, Toward, Value};
use units::{Bytes, FlowId};
use wire::{Flags, Packet, Seq};

const WINDOW: u16 = 65_535;

/// A base station with a partner, that advertises so.
fn base_station(advertise: &'static str) -> Bench {
    let set = [("strategy", Value::Choice("every")), ("advertise", Value::Choice(advertise))];
    let mut bench = testing::bench("lle-tcp", NodeFacts { forwards: true, ..node(HERE, 2) }, &set).unwrap();
    bench.pair();
    bench
}

/// Room for so many bytes of payload.
fn room(bench: &mut Bench, payload: u64) {
    let free = payload * 1040 / 1000;
    bench.set_room(Space { free: Bytes(free), used: Bytes::ZERO, entries: 0 });
}

/// A connection from the wired side, the sender's window scaled by `shift` if it and the receiver offer it.
fn open(bench: &mut Bench, flow: FlowId, shift: Option<u8>) {
    let offer = |mut packet: Packet| {
        if let Some(shift) = shift {
            packet.tcp_mut().unwrap().options.push_window_scale(shift);
        }
        packet
    };
    bench.pass(Place::ToAir, offer(segment(flow, Flags::SYN, Seq(0), 0, Seq(0), WINDOW)));
    bench.pass(Place::FromAir, offer(segment(flow.reverse(), Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), WINDOW)));
}

/// Segment `i` goes out and meets its fate; the windows of what is made of it, all for the sender.
fn windows(bench: &mut Bench, flow: FlowId, i: u32, fate: Fate) -> Vec<u16> {
    let packet = bench.pass(Place::ToAir, data(flow, 1 + i * 1000..1001 + i * 1000)).unwrap();
    bench.report(&packet, fate);
    let made = bench.take_injected();
    assert!(made.iter().all(|(ack, toward)| *toward == Toward::Route && ack.pure_ack().is_some()));
    made.iter().map(|(ack, _)| ack.tcp().unwrap().window).collect()
}

#[test]
fn a_made_ack_tells_the_room_in_the_queue_and_never_more_than_the_receiver_did() {
    for (advertise, free, told) in [
        ("receiver", 20_000, WINDOW),
        ("free-buffer", 20_000, 20_000),
        ("free-buffer", 70_000, WINDOW),
        // Not less than a segment, or a flow with nothing in flight would never be told more.
        ("free-buffer", 400, 1000),
        ("free-buffer", 0, 1000),
        ("free-buffer-share", 20_000, 20_000),
    ] {
        let mut bench = base_station(advertise);
        open(&mut bench, OUT, None);
        room(&mut bench, free);
        assert_eq!(windows(&mut bench, OUT, 0, Fate::Delivered), [told], "{advertise}, {free} B free");
    }
}

#[test]
fn the_room_is_shared_by_the_flows_that_have_sent_and_are_not_over() {
    let mut bench = base_station("free-buffer-share");
    room(&mut bench, 12_000);
    let flows = [FlowId(0), FlowId(2), FlowId(4)];
    for flow in flows {
        open(&mut bench, flow, None);
    }
    // Open alone does not count.
    let told = flows.map(|flow| windows(&mut bench, flow, 0, Fate::Delivered)[0]);
    assert_eq!(told, [12_000, 6_000, 4_000]);
    // The second sends its FIN and has it delivered: two are left.
    let fin = segment(flows[1], Flags::FIN | Flags::ACK, Seq(1001), 0, Seq(1), WINDOW);
    let fin = bench.pass(Place::ToAir, fin).unwrap();
    bench.report(&fin, Fate::Delivered);
    bench.take_injected();
    assert_eq!(windows(&mut bench, flows[0], 1, Fate::Delivered), [6_000]);
    // The third is reset by its receiver.
    bench.pass(Place::FromAir, segment(flows[2].reverse(), Flags::RST, Seq(1), 0, Seq(0), 0));
    assert_eq!(windows(&mut bench, flows[0], 2, Fate::Delivered), [12_000]);
}

#[test]
fn the_duplicates_of_a_failure_repeat_the_window_told_last_whatever_the_room_is_now() {
    let mut bench = base_station("free-buffer");
    open(&mut bench, OUT, None);
    room(&mut bench, 20_000);
    assert_eq!(windows(&mut bench, OUT, 0, Fate::Delivered), [20_000]);
    room(&mut bench, 3_000);
    assert_eq!(windows(&mut bench, OUT, 1, Fate::GivenUp), [20_000; 3]);
}

#[test]
fn an_ack_that_passes_is_bounded_too_its_duplicate_is_one_still_and_a_closed_window_stays_closed() {
    let mut bench = base_station("free-buffer");
    open(&mut bench, OUT, None);
    room(&mut bench, 20_000);
    assert_eq!(windows(&mut bench, OUT, 0, Fate::Delivered), [20_000]);
    let hear = |bench: &mut Bench, number, window| {
        bench.pass(Place::FromAir, ack(IN, number, window)).map(|packet| packet.tcp().unwrap().window)
    };
    room(&mut bench, 3_000);
    // The receiver's own duplicate: number and window as told to the sender last.
    assert_eq!(hear(&mut bench, 1001, WINDOW), Some(20_000));
    // Exhaustion passes, and so does the reopening, bounded.
    assert_eq!(hear(&mut bench, 1001, 0), Some(0));
    assert_eq!(hear(&mut bench, 1001, WINDOW), Some(3_000));
    // Another update that would tell the sender the same again, and so look like a duplicate, does not reach it.
    assert_eq!(hear(&mut bench, 1001, WINDOW - 5), None);
    assert_eq!(bench.held(), 0);
}

#[test]
fn the_window_is_written_in_the_units_of_the_receivers_scale() {
    let mut bench = base_station("free-buffer");
    open(&mut bench, OUT, Some(4));
    room(&mut bench, 20_000);
    // The receiver's field of 65 535 means 16 times as much; 20 000 / 16 = 1250.
    bench.pass(Place::FromAir, ack(IN, 1, WINDOW));
    assert_eq!(windows(&mut bench, OUT, 0, Fate::Delivered), [1250]);
    // A segment is 62.5 units: 63, rounded up.
    room(&mut bench, 0);
    assert_eq!(windows(&mut bench, OUT, 1, Fate::Delivered), [63]);
}
