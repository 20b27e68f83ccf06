//! Snoop on the bench: a base station between a sender on the wire and a mobile.

use mac::Fate;
use queue::Space;
use schemes::testing::{self, Bench, HERE, IN, OUT, THERE, ack, data, node, segment};
use schemes::{NodeFacts, PeerEvent, Place, Toward, Value};
use std::net::Ipv4Addr;
use units::{Bytes, Dur, NodeId, SimTime};
use wire::{Flags, L4, Packet, Payload, Seq, SeqRange};

const WINDOW: u16 = 50_000;

/// A base station that is neither end of the connection.
fn base_station() -> NodeFacts<'static> {
    NodeFacts { forwards: true, address: Ipv4Addr::new(10, 0, 0, 9), ..node(HERE, 3) }
}

fn snoop(set: &[(&str, Value)]) -> Bench {
    let mut bench = testing::bench("snoop", base_station(), set).unwrap();
    bench.now = SimTime::from_ns(1_000_000_000);
    // The handshake's last ACKs: the mobile waits for number 1.
    assert!(bench.pass(Place::FromAir, ack(IN, 1, WINDOW)).is_some());
    bench
}

/// Segment `n`, counted from 0, of 1000 bytes from number 1 on.
fn nth(n: u32) -> Packet {
    data(OUT, 1 + 1000 * n..1001 + 1000 * n)
}

/// `n` segments go by, 1 ms apart.
fn send(bench: &mut Bench, segments: std::ops::Range<u32>) {
    for n in segments {
        bench.now += Dur::from_ms(1);
        assert_eq!(bench.pass(Place::ToAir, nth(n)), Some(nth(n)));
    }
}

/// The mobile waits for segment `n` and says so. Whether the sender gets to know.
fn waits_for(bench: &mut Bench, n: u32) -> bool {
    bench.now += Dur::from_ms(1);
    bench.pass(Place::FromAir, ack(IN, 1 + 1000 * n, WINDOW)).is_some()
}

/// The segments that were sent again, by radio.
fn repeated(bench: &mut Bench) -> Vec<u32> {
    let tell = |(packet, toward): (Packet, Toward)| {
        assert_eq!(toward, Toward::Air(THERE));
        (packet.tcp().unwrap().seq.0 - 1) / 1000
    };
    bench.take_injected().into_iter().map(tell).collect()
}

/// The segment that the timer repeats next, and when.
fn timer_repeats(bench: &mut Bench) -> (u32, SimTime) {
    loop {
        assert!(bench.next_timer());
        if let [n] = repeated(bench)[..] {
            return (n, bench.now);
        }
    }
}

#[test]
fn the_first_duplicate_repeats_the_lost_packet_and_no_duplicate_reaches_the_sender() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..5);
    assert!(waits_for(&mut bench, 1));
    // Segment 1 is lost; 2, 3 and 4 bring a duplicate each.
    for _ in 0..3 {
        assert!(!waits_for(&mut bench, 1));
    }
    assert_eq!(repeated(&mut bench), [1]);
    assert!(waits_for(&mut bench, 5));
    assert_eq!((bench.counter("local_retransmissions_dup"), bench.counter("dup_acks_absorbed")), (1, 3));
    assert_eq!((bench.counter("cached"), bench.held()), (5, 0));
}

#[test]
fn a_duplicate_beyond_the_expected_ones_means_the_repetition_was_lost_too() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..4);
    // Segment 0 is lost. Three were sent behind it, so after the first duplicate two more are to come.
    assert!(!waits_for(&mut bench, 0));
    send(&mut bench, 4..5);
    assert!(!waits_for(&mut bench, 0) && !waits_for(&mut bench, 0));
    assert_eq!(repeated(&mut bench), [0]);
    // The fourth is the answer to segment 4, which was sent after the repetition.
    assert!(!waits_for(&mut bench, 0));
    assert_eq!(repeated(&mut bench), [0]);
    // All four that were sent behind it have answered: what comes next tells the same of the second repetition.
    send(&mut bench, 5..6);
    assert!(!waits_for(&mut bench, 0));
    assert_eq!(repeated(&mut bench), [0]);
    assert!(waits_for(&mut bench, 6));
    assert_eq!(bench.counter("dup_acks_absorbed"), 5);
}

#[test]
fn a_packet_that_arrived_twice_does_not_start_a_chain_of_repetitions() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..2);
    // The ACKs are late; the timer repeats segment 0, which had arrived.
    assert!(bench.next_timer());
    assert_eq!(repeated(&mut bench), [0]);
    assert!(waits_for(&mut bench, 2));
    send(&mut bench, 2..5);
    // The mobile's answer to the second copy. Nothing is missing.
    assert!(!waits_for(&mut bench, 2));
    assert_eq!(repeated(&mut bench), []);
    // Another duplicate is a loss again.
    assert!(!waits_for(&mut bench, 2));
    assert_eq!(repeated(&mut bench), [2]);
}

#[test]
fn a_repetition_that_was_needed_hides_no_later_loss() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..3);
    assert!(!waits_for(&mut bench, 0) && waits_for(&mut bench, 3));
    // Data sent after the repetition is acknowledged: whatever the repetition would bring has come.
    send(&mut bench, 3..7);
    assert!(waits_for(&mut bench, 4) && !waits_for(&mut bench, 4));
    assert_eq!(repeated(&mut bench), [0, 4]);
}

#[test]
fn nor_does_one_that_the_sender_sent_twice() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..3);
    send(&mut bench, 0..1);
    assert!(waits_for(&mut bench, 3));
    send(&mut bench, 3..5);
    assert!(!waits_for(&mut bench, 3));
    assert_eq!(repeated(&mut bench), []);
    assert!(!waits_for(&mut bench, 3));
    assert_eq!(repeated(&mut bench), [3]);
}

#[test]
fn what_is_not_in_the_cache_is_the_senders_loss() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..1);
    // Segment 1 was lost on the wire.
    send(&mut bench, 2..5);
    assert!(waits_for(&mut bench, 1));
    for _ in 0..3 {
        assert!(waits_for(&mut bench, 1));
    }
    // The timer does not repeat what the mobile cannot use yet.
    while bench.next_timer() {}
    assert_eq!(repeated(&mut bench), []);
    // The sender repeats it, it is kept, and the sender goes on counting duplicates: they still pass.
    send(&mut bench, 1..2);
    assert!(waits_for(&mut bench, 1));
    assert_eq!(repeated(&mut bench), []);
    assert_eq!(bench.counter("sender_retransmissions"), 1);
    assert!(waits_for(&mut bench, 5));
    assert_eq!(bench.held(), 0);
}

#[test]
fn a_senders_repetition_replaces_the_older_copy() {
    let stamped = |tsval| {
        let mut packet = nth(0);
        packet.tcp_mut().unwrap().options.push_timestamps(tsval, 0);
        packet
    };
    let mut bench = snoop(&[]);
    for tsval in [7, 8] {
        assert!(bench.pass(Place::ToAir, stamped(tsval)).is_some());
    }
    assert_eq!(bench.held(), 1);
    assert!(bench.next_timer());
    assert_eq!(bench.take_injected(), [(stamped(8), Toward::Air(THERE))]);
}

#[test]
fn a_copy_goes_out_with_the_timestamp_that_the_mobile_has_echoed_if_its_own_is_older() {
    let stamped = |mut packet: Packet, tsval, tsecr| {
        packet.tcp_mut().unwrap().options.push_timestamps(tsval, tsecr);
        packet
    };
    // Segment 1 was sent at 140; the sender has repeated segment 0 at 155, and the mobile echoes that.
    for (echoed, expected) in [(155, 155), (130, 140)] {
        let mut bench = snoop(&[]);
        for n in 0..3 {
            assert!(bench.pass(Place::ToAir, stamped(nth(n), 140, 9)).is_some());
        }
        for waits_for in [1001, 1001] {
            _ = bench.pass(Place::FromAir, stamped(ack(IN, waits_for, WINDOW), 200, echoed));
        }
        assert_eq!(bench.take_injected(), [(stamped(nth(1), expected, 9), Toward::Air(THERE))]);
    }
}

#[test]
fn old_data_is_answered_with_the_last_ack_and_a_probe_passes() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..2);
    assert!(waits_for(&mut bench, 2));
    // That ACK is lost on the wire.
    assert_eq!(bench.pass(Place::ToAir, nth(0)), None);
    assert_eq!(bench.take_injected(), [(ack(IN, 2001, WINDOW), Toward::Route)]);
    // A keepalive asks whether the mobile lives: nobody answers in its name. Its answer passes.
    assert!(bench.pass(Place::ToAir, data(OUT, 2000..2001)).is_some());
    assert!(waits_for(&mut bench, 2));
    assert_eq!((bench.take_injected(), bench.held()), (vec![], 0));
}

#[test]
fn an_ack_overtaken_by_a_later_one_is_dropped_but_not_one_with_data() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..3);
    assert!(waits_for(&mut bench, 2));
    assert!(!waits_for(&mut bench, 1));
    assert_eq!(bench.counter("spurious_acks_dropped"), 1);
    let with_data = segment(IN, Flags::ACK, Seq(1), 100, Seq(1001), WINDOW);
    assert_eq!(bench.pass(Place::FromAir, with_data.clone()), Some(with_data));
}

#[test]
fn a_duplicate_with_another_window_or_an_echo_of_congestion_passes() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..4);
    assert!(bench.pass(Place::FromAir, ack(IN, 1, WINDOW - 1000)).is_some());
    let echo =
        |ece| segment(IN, if ece { Flags::ACK | Flags::ECE } else { Flags::ACK }, Seq(1), 0, Seq(1), WINDOW - 1000);
    assert!(bench.pass(Place::FromAir, echo(true)).is_some());
    assert_eq!(repeated(&mut bench), []);
    // Told once, the echo is no news.
    assert!(bench.pass(Place::FromAir, echo(true)).is_none());
    assert_eq!(repeated(&mut bench), [0]);
}

#[test]
fn data_that_acknowledges_is_no_duplicate() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..2);
    for _ in 0..3 {
        assert!(bench.pass(Place::FromAir, segment(IN, Flags::ACK, Seq(1), 100, Seq(1), WINDOW)).is_some());
    }
    assert_eq!(repeated(&mut bench), []);
}

#[test]
fn a_closed_window_stops_the_timer_and_probes_are_left_alone() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..2);
    assert!(bench.pass(Place::FromAir, ack(IN, 1001, 0)).is_some());
    // Segment 1 is beyond the window; the timer that was set for it finds nothing to do.
    while bench.next_timer() {}
    assert_eq!(repeated(&mut bench), []);
    // A probe is not kept, and both its answers pass.
    assert!(bench.pass(Place::ToAir, data(OUT, 2001..2002)).is_some());
    assert_eq!(bench.held(), 1);
    for _ in 0..2 {
        assert!(bench.pass(Place::FromAir, ack(IN, 1001, 0)).is_some());
    }
    // Open again: what is kept is repaired as before.
    assert!(bench.pass(Place::FromAir, ack(IN, 1001, WINDOW)).is_some());
    assert!(bench.next_timer());
    assert_eq!(repeated(&mut bench), [1]);
}

#[test]
fn the_timer_waits_as_long_as_the_measured_air_suggests() {
    let mut bench = snoop(&[]);
    // One sample of 40 ms: srtt 40, rttvar 20, timeout 40 + 4 * 20 = 120 ms.
    send(&mut bench, 0..1);
    bench.now += Dur::from_ms(39);
    assert!(waits_for(&mut bench, 1));
    send(&mut bench, 1..2);
    let sent = bench.now;
    assert_eq!(timer_repeats(&mut bench), (1, sent + Dur::from_ms(120)));
    assert_eq!(bench.counter("local_retransmissions_timer"), 1);
    // What was repeated gives no sample: the next timeout is the same. @RFC6298 sec. 3
    assert!(waits_for(&mut bench, 2));
    send(&mut bench, 2..3);
    let sent = bench.now;
    assert_eq!(timer_repeats(&mut bench), (2, sent + Dur::from_ms(120)));
    // Nor does what the sender repeated; then a sample of 80 ms: srtt (7 · 40 + 80) / 8 = 45, rttvar
    // (3 · 20 + 40) / 4 = 25, timeout 45 + 4 · 25 = 145 ms.
    assert!(waits_for(&mut bench, 3));
    send(&mut bench, 3..4);
    send(&mut bench, 3..4);
    assert!(waits_for(&mut bench, 4));
    send(&mut bench, 4..5);
    bench.now += Dur::from_ms(79);
    assert!(waits_for(&mut bench, 5));
    send(&mut bench, 5..6);
    let sent = bench.now;
    assert_eq!(timer_repeats(&mut bench), (5, sent + Dur::from_ms(145)));
}

#[test]
fn every_advance_puts_the_timer_off() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..3);
    // Samples of 3 ms: the least timeout counts.
    for n in 1..3 {
        assert!(waits_for(&mut bench, n));
    }
    let acked = bench.now;
    assert_eq!(timer_repeats(&mut bench), (2, acked + Dur::from_ms(100)));
}

#[test]
fn after_so_many_repetitions_in_vain_the_sender_is_left_to_it() {
    let mut bench = snoop(&[("max_retransmissions", Value::Int(2))]);
    send(&mut bench, 0..3);
    while bench.next_timer() {}
    assert_eq!(repeated(&mut bench), [0, 0]);
    assert_eq!((bench.counter("evicted"), bench.held()), (3, 0));
    assert!(waits_for(&mut bench, 0));
    // The same for duplicates.
    send(&mut bench, 3..4);
    assert!(waits_for(&mut bench, 3));
    for n in 4..7 {
        send(&mut bench, n..n + 1);
        assert_eq!(waits_for(&mut bench, 3), n == 6);
    }
    assert_eq!(repeated(&mut bench), [3, 3]);
}

#[test]
fn a_full_cache_lets_later_packets_by_uncached() {
    let mut bench = snoop(&[("cache", Value::Int(2))]);
    send(&mut bench, 0..4);
    assert_eq!((bench.held(), bench.counter("uncached")), (2, 2));
    assert!(waits_for(&mut bench, 2));
    assert!(waits_for(&mut bench, 2));
    assert_eq!(repeated(&mut bench), []);
    send(&mut bench, 4..5);
    assert_eq!(bench.held(), 1);
}

#[test]
fn what_the_queue_has_no_room_for_is_not_kept() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..1);
    bench.set_room(Space { free: Bytes(500), used: Bytes(10_000), entries: 10 });
    send(&mut bench, 1..2);
    assert_eq!((bench.held(), bench.counter("uncached")), (1, 1));
    // Nor is anything repeated into it: the duplicates pass.
    assert!(waits_for(&mut bench, 0));
    assert_eq!(repeated(&mut bench), []);
}

#[test]
fn numbers_that_wrap_are_in_order() {
    let mut bench = snoop(&[]);
    let start = u32::MAX - 1499;
    let at = |n: u32| segment(OUT, Flags::ACK, Seq(start) + 1000 * n, 1000, Seq(1), 65_535);
    assert!(
        bench.pass(Place::FromAir, segment(IN, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(start), WINDOW)).is_some()
    );
    for n in 0..4 {
        assert!(bench.pass(Place::ToAir, at(n)).is_some());
    }
    let numbers = [1000, 1000, 1000, 4000].map(|n| (Seq(start) + n).0);
    let passed = numbers.map(|number| bench.pass(Place::FromAir, ack(IN, number, WINDOW)).is_some());
    assert_eq!(passed, [true, false, false, true]);
    assert_eq!(bench.take_injected(), [(at(1), Toward::Air(THERE))]);
    assert_eq!(bench.held(), 0);
}

#[test]
fn a_connection_under_an_old_ones_name_starts_afresh() {
    for syn_is_seen in [true, false] {
        let mut bench = snoop(&[]);
        send(&mut bench, 0..3);
        assert!(waits_for(&mut bench, 2));
        // A new connection whose numbers lie before those of the old one: nothing of it is taken for old.
        if syn_is_seen {
            let syn = segment(OUT, Flags::SYN, Seq(0) - 9_001, 0, Seq(0), WINDOW);
            assert!(bench.pass(Place::ToAir, syn).is_some());
            assert_eq!(bench.held(), 0);
        }
        let number = |n: u32| Seq(0) - 9_000 + n;
        assert!(bench.pass(Place::FromAir, ack(IN, number(0).0, WINDOW)).is_some());
        let first = segment(OUT, Flags::ACK, number(0), 1000, Seq(1), 65_535);
        assert!(bench.pass(Place::ToAir, first).is_some());
        assert_eq!(bench.held(), 1);
        assert!(bench.pass(Place::FromAir, ack(IN, number(1000).0, WINDOW)).is_some());
        assert_eq!(bench.held(), 0);
    }
}

#[test]
fn a_reset_and_an_acknowledged_fin_end_the_state() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..2);
    assert!(bench.pass(Place::ToAir, segment(OUT, Flags::RST, Seq(2001), 0, Seq(1), 0)).is_some());
    assert_eq!(bench.held(), 0);
    send(&mut bench, 2..3);
    let fin = segment(OUT, Flags::FIN | Flags::ACK, Seq(3001), 100, Seq(1), WINDOW);
    assert!(bench.pass(Place::ToAir, fin.clone()).is_some());
    assert_eq!(bench.held(), 2);
    assert!(bench.pass(Place::FromAir, ack(IN, 3102, WINDOW)).is_some());
    assert_eq!(bench.held(), 0);
    // What the sender repeats of a connection that is over goes to the mobile, not to an agent without memory of it.
    assert!(bench.pass(Place::ToAir, fin).is_some());
}

#[test]
fn a_lost_fin_is_repaired() {
    let mut bench = snoop(&[]);
    let fin = segment(OUT, Flags::FIN | Flags::ACK, Seq(1), 0, Seq(1), WINDOW);
    assert!(bench.pass(Place::ToAir, fin.clone()).is_some());
    assert!(bench.next_timer());
    assert_eq!(bench.take_injected(), [(fin, Toward::Air(THERE))]);
}

#[test]
fn numbers_too_far_away_for_any_window_are_another_connections() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..2);
    assert!(waits_for(&mut bench, 2));
    let far = segment(OUT, Flags::ACK, Seq(2001) - 0x7fff_0000, 1000, Seq(1), 65_535);
    assert_eq!(bench.pass(Place::ToAir, far.clone()), Some(far));
    assert_eq!((bench.held(), bench.take_injected()), (1, vec![]));
}

#[test]
fn an_old_ack_is_known_as_such_however_much_was_acknowledged() {
    let mut bench = snoop(&[]);
    // Two gibibytes in steps of half of one.
    for step in 1..=4 {
        assert!(bench.pass(Place::FromAir, ack(IN, 1 + step * (1 << 29), WINDOW)).is_some());
    }
    assert!(bench.pass(Place::FromAir, ack(IN, 4 * (1 << 29), WINDOW)).is_none());
}

/// A duplicate of segment `n` with these SACK blocks, in bytes.
fn sacked(n: u32, blocks: &[(u32, u32)]) -> Packet {
    let mut packet = ack(IN, 1 + 1000 * n, WINDOW);
    let blocks: Vec<_> = blocks.iter().map(|(start, end)| SeqRange { start: Seq(*start), end: Seq(*end) }).collect();
    packet.tcp_mut().unwrap().options.push_sack(&blocks);
    packet
}

#[test]
fn sack_blocks_above_a_hole_that_is_repaired_here_are_hidden() {
    let passes = |sack, is_here: bool| {
        let mut bench = snoop(&[("sack", Value::Choice(sack))]);
        send(&mut bench, 0..1);
        if is_here {
            send(&mut bench, 1..2);
        }
        send(&mut bench, 2..6);
        let passed = bench.pass(Place::FromAir, sacked(1, &[(2001, 6001)])).unwrap();
        passed.tcp().unwrap().options.sack_blocks().next().is_some()
    };
    assert!(!passes("hide", true));
    assert!(passes("hide", false) && passes("keep", true));
}

#[test]
fn a_duplicate_that_reports_a_duplicate_is_no_loss() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..3);
    assert!(waits_for(&mut bench, 1));
    // The network itself doubled segment 0. @RFC2883 sec. 4
    assert!(bench.pass(Place::FromAir, sacked(1, &[(1, 1001)])).is_some());
    assert_eq!(repeated(&mut bench), []);
    // Nor is it one of the duplicates that are expected: of segments 2 to 4, the first repeats segment 1.
    send(&mut bench, 3..5);
    assert!(!waits_for(&mut bench, 1));
    assert!(bench.pass(Place::FromAir, sacked(1, &[(1, 1001)])).is_some());
    assert!(!waits_for(&mut bench, 1) && !waits_for(&mut bench, 1));
    assert_eq!(repeated(&mut bench), [1]);
}

#[test]
fn the_second_or_third_duplicate_may_be_the_one_that_counts() {
    let mut bench = snoop(&[("dup_ack_threshold", Value::Int(3))]);
    send(&mut bench, 0..5);
    let passed = [0, 0, 0, 0].map(|n| waits_for(&mut bench, n));
    assert_eq!((passed, repeated(&mut bench)), ([true, true, false, false], vec![0]));
    // It counts anew for every number; and not at all once the timer has repeated the packet.
    assert!(waits_for(&mut bench, 5));
    send(&mut bench, 5..8);
    assert!(waits_for(&mut bench, 6) && waits_for(&mut bench, 6) && waits_for(&mut bench, 6));
    assert!(waits_for(&mut bench, 8));
    send(&mut bench, 8..10);
    assert_eq!(timer_repeats(&mut bench).0, 8);
    send(&mut bench, 10..11);
    assert!(!waits_for(&mut bench, 8) && !waits_for(&mut bench, 8));
    assert_eq!(repeated(&mut bench), [8]);
}

#[test]
fn the_macs_word_is_heard_only_if_asked_for() {
    for (on_report, expected) in [(false, vec![]), (true, vec![1])] {
        let mut bench = snoop(&[("on_report", Value::Bool(on_report))]);
        send(&mut bench, 0..3);
        bench.report(&nth(1), Fate::GivenUp);
        bench.report(&nth(2), Fate::Delivered);
        assert_eq!(repeated(&mut bench), expected);
        if on_report {
            // The duplicate of segment 2 was to be expected: no second repetition.
            assert!(waits_for(&mut bench, 1) && !waits_for(&mut bench, 1));
            assert_eq!(repeated(&mut bench), []);
            bench.report(&nth(2), Fate::QueueFull);
            assert_eq!((bench.held(), bench.counter("local_retransmissions_report")), (1, 1));
        }
    }
}

#[test]
fn what_it_cannot_read_passes_and_so_do_the_base_stations_own_connections() {
    let mut bench = snoop(&[]);
    let opaque = Packet { l4: L4::Opaque, payload: Payload::stream(0, 1000), ..nth(0) };
    assert_eq!(bench.pass(Place::ToAir, opaque.clone()), Some(opaque));
    let own = base_station().address;
    for n in 0..3 {
        let mut packet = nth(n);
        packet.ip.src = own;
        assert!(bench.pass(Place::ToAir, packet).is_some());
    }
    for _ in 0..3 {
        let mut duplicate = ack(IN, 1, WINDOW);
        duplicate.ip.dst = own;
        assert!(bench.pass(Place::FromAir, duplicate).is_some());
    }
    assert_eq!((bench.held(), bench.take_injected(), bench.next_timer()), (0, vec![], false));
}

#[test]
fn copies_go_with_the_mobile_or_the_node() {
    let mut bench = snoop(&[]);
    send(&mut bench, 0..3);
    bench.peer(NodeId(2), PeerEvent::Down);
    assert_eq!(bench.held(), 3);
    bench.peer(THERE, PeerEvent::Down);
    assert_eq!(bench.held(), 0);
    send(&mut bench, 3..5);
    bench.release();
    assert_eq!(bench.held(), 0);
    assert!(bench.next_timer());
    assert_eq!(repeated(&mut bench), []);
}

#[test]
fn it_sits_only_where_a_radio_is_forwarded_to() {
    let sits = |node| testing::bench("snoop", node, &[]).is_some_and(|bench| bench.held() == 0);
    assert!(sits(base_station()));
    assert!(!sits(NodeFacts { forwards: false, ..base_station() }));
    assert!(!sits(NodeFacts { has_air: false, ..base_station() }));
}
