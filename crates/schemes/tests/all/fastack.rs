//! FastACK on the bench: an access point between a sender on the wire and a client.

use mac::Fate;
use queue::Space;
use schemes::testing::{self, Bench, HERE, IN, OUT, THERE, ack, data, node, segment};
use schemes::{NodeFacts, PeerEvent, Place, Toward, Value};
use std::net::Ipv4Addr;
use units::{Bytes, Dur, NodeId, SimTime};
use wire::{Flags, L4, Packet, Payload, Seq, SeqRange};

const WINDOW: u16 = 50_000;

/// An access point that is neither end of the connection.
fn access_point() -> NodeFacts<'static> {
    NodeFacts { forwards: true, address: Ipv4Addr::new(10, 0, 0, 9), ..node(HERE, 3) }
}

fn fastack(set: &[(&str, Value)]) -> Bench {
    let mut bench = testing::bench("fastack", access_point(), set).unwrap();
    bench.now = SimTime::from_ns(1_000_000_000);
    // The handshake's last ACKs: the client waits for number 1.
    assert!(bench.pass(Place::FromAir, ack(IN, 1, WINDOW)).is_some());
    bench
}

/// Segment `n`, counted from 0, of 1000 bytes from number 1 on.
fn nth(n: u32) -> Packet {
    data(OUT, 1 + 1000 * n..1001 + 1000 * n)
}

/// Segments go to the radio, and this becomes of them.
fn send(bench: &mut Bench, segments: std::ops::Range<u32>, fate: Fate) {
    for n in segments.clone() {
        assert_eq!(bench.pass(Place::ToAir, nth(n)), Some(nth(n)));
    }
    segments.for_each(|n| bench.report(&nth(n), fate));
}

/// Lets all that is due at this instant happen.
fn settle(bench: &mut Bench) {
    while bench.next_wakeup() <= bench.now {
        assert!(bench.next_timer());
    }
}

/// The client waits for segment `n`. Returns the ACK as its sender gets it.
fn waits_for(bench: &mut Bench, n: u32) -> Option<Packet> {
    bench.now += Dur::from_ms(1);
    bench.pass(Place::FromAir, ack(IN, 1 + 1000 * n, WINDOW))
}

/// ACKs made since, by the segments before which all is acknowledged and the windows in bytes; segments sent by radio.
fn came(bench: &mut Bench) -> (Vec<(u32, u16)>, Vec<u32>) {
    settle(bench);
    let (mut acks, mut repeated) = (Vec::new(), Vec::new());
    for (packet, toward) in bench.take_injected() {
        let tcp = *packet.tcp().unwrap();
        if packet.pure_ack().is_some() {
            assert_eq!((toward, packet.flow, tcp.seq), (Toward::Route, IN, Seq(1)));
            acks.push(((tcp.ack.0 - 1) / 1000, tcp.window));
        } else {
            assert_eq!(toward, Toward::Air(THERE));
            repeated.push((tcp.seq.0 - 1) / 1000);
        }
    }
    (acks, repeated)
}

fn acks(bench: &mut Bench) -> Vec<(u32, u16)> {
    let (acks, repeated) = came(bench);
    assert_eq!(repeated, []);
    acks
}

fn repeated(bench: &mut Bench) -> Vec<u32> {
    let (acks, repeated) = came(bench);
    assert_eq!(acks, []);
    repeated
}

/// The segments that are sent again at the next timeout, and its time.
fn timeout(bench: &mut Bench) -> (Vec<u32>, SimTime) {
    loop {
        assert!(bench.next_timer());
        let again = repeated(bench);
        if !again.is_empty() {
            return (again, bench.now);
        }
    }
}

#[test]
fn what_the_mac_delivers_is_acknowledged_by_twos_and_the_rest_at_the_end_of_the_instant() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..5, Fate::Delivered);
    // The window is the right edge, 50 000 bytes behind number 1, less what was acknowledged.
    assert_eq!(acks(&mut bench), [(2, 48_000), (4, 46_000), (5, 45_000)]);
    assert_eq!((bench.counter("fast_acks"), bench.counter("segments_acknowledged"), bench.held()), (3, 5, 5));
    for (segments, expected) in [(1, vec![1, 2, 3, 4, 5]), (64, vec![5])] {
        let mut bench = fastack(&[("ack_every", Value::Int(segments))]);
        send(&mut bench, 0..5, Fate::Delivered);
        assert_eq!(acks(&mut bench).iter().map(|(n, _)| *n).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_copy_is_held_for_each_acknowledged_byte_until_the_clients_own_ack_covers_it() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..5, Fate::Delivered);
    assert_eq!(bench.counter("acked_held_bytes"), 5000);
    assert_eq!(waits_for(&mut bench, 2), None);
    assert_eq!((bench.held(), bench.counter("acked_held_bytes")), (3, 3000));
    // It has part of a segment: the copy stays.
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 2501, WINDOW)), None);
    assert_eq!((bench.held(), bench.counter("acked_held_bytes")), (3, 2500));
    assert_eq!(waits_for(&mut bench, 5), None);
    assert_eq!((bench.held(), bench.counter("acks_suppressed")), (0, 3));
}

#[test]
fn a_block_ack_with_holes_acknowledges_up_to_the_first_and_the_rest_when_it_has_closed() {
    let mut bench = fastack(&[]);
    (0..4).for_each(|n| assert!(bench.pass(Place::ToAir, nth(n)).is_some()));
    for n in [0, 2, 3] {
        bench.report(&nth(n), Fate::Delivered);
    }
    assert_eq!(acks(&mut bench), [(1, 49_000)]);
    // Held, and not acknowledged: these are not on the sender's account.
    assert_eq!((bench.held(), bench.counter("acked_held_bytes")), (3, 1000));
    bench.report(&nth(1), Fate::Delivered);
    assert_eq!(acks(&mut bench), [(4, 46_000)]);
}

#[test]
fn where_memory_is_full_nothing_is_acknowledged_until_the_client_has_done_so() {
    // Datagrams of 1040 bytes: two find room.
    let mut bench = fastack(&[("memory", Value::Size(Bytes(3000)))]);
    send(&mut bench, 0..4, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(2, 48_000)]);
    assert_eq!((bench.counter("segments_uncopied"), bench.counter("highest_copies_bytes")), (2, 2080));
    assert_eq!(waits_for(&mut bench, 2), None);
    // What found no room is acknowledged by the client alone; what comes then is copied again.
    send(&mut bench, 4..5, Fate::Delivered);
    assert_eq!(acks(&mut bench), []);
    assert_eq!(waits_for(&mut bench, 4), Some(ack(IN, 4001, WINDOW)));
    send(&mut bench, 5..6, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(6, 48_000)]);
}

#[test]
fn the_clients_ack_passes_where_the_radio_is_ahead_of_the_macs_word() {
    let mut bench = fastack(&[]);
    assert!(bench.pass(Place::ToAir, nth(0)).is_some());
    // The Block Ack was lost, the MPDU was not.
    assert_eq!(waits_for(&mut bench, 1), Some(ack(IN, 1001, WINDOW)));
    bench.report(&nth(0), Fate::Delivered);
    assert_eq!((acks(&mut bench), bench.held()), (vec![], 0));
}

#[test]
fn nothing_is_acknowledged_before_the_client_is_known_nor_beyond_its_window() {
    let mut bench = testing::bench("fastack", access_point(), &[]).unwrap();
    send(&mut bench, 0..2, Fate::Delivered);
    assert_eq!((acks(&mut bench), bench.held()), (vec![], 0));
    // A window that has shrunk is news.
    let mut bench = fastack(&[]);
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 1, 2500)), Some(ack(IN, 1, 2500)));
    send(&mut bench, 0..3, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(2, 500)]);
}

#[test]
fn a_fin_and_a_syn_are_left_to_the_client() {
    let mut bench = testing::bench("fastack", access_point(), &[]).unwrap();
    let syn = segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), WINDOW);
    assert_eq!(bench.pass(Place::ToAir, syn.clone()), Some(syn.clone()));
    bench.report(&syn, Fate::Delivered);
    let syn_ack = segment(IN, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), WINDOW);
    assert_eq!(bench.pass(Place::FromAir, syn_ack.clone()), Some(syn_ack));
    let fin = segment(OUT, Flags::FIN | Flags::ACK, Seq(1), 1000, Seq(1), WINDOW);
    assert_eq!(bench.pass(Place::ToAir, fin.clone()), Some(fin.clone()));
    bench.report(&fin, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(1, 49_000)]);
    // Its data was acknowledged, it was not.
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 1001, WINDOW)), None);
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 1002, WINDOW)), Some(ack(IN, 1002, WINDOW)));
    assert_eq!(bench.held(), 0);
}

#[test]
fn a_fin_that_is_repeated_with_its_data_does_not_cost_the_copy() {
    let mut bench = fastack(&[]);
    let fin = segment(OUT, Flags::FIN | Flags::ACK, Seq(1), 1000, Seq(1), WINDOW);
    for passed in [Some(fin.clone()), None] {
        assert_eq!(bench.pass(Place::ToAir, fin.clone()), passed);
        bench.report(&fin, Fate::Delivered);
        assert_eq!(bench.counter("acked_held_bytes"), 1000);
    }
    // Without data it is the client's to answer.
    let alone = segment(OUT, Flags::FIN | Flags::ACK, Seq(1001), 0, Seq(1), WINDOW);
    assert_eq!(bench.pass(Place::ToAir, alone.clone()), Some(alone));
}

#[test]
fn windows_are_scaled_as_the_syns_agreed() {
    let mut bench = testing::bench("fastack", access_point(), &[]).unwrap();
    let opening = |flow, flags, ack, shift| {
        let mut packet = segment(flow, flags, Seq(0), 0, Seq(ack), 60_000);
        packet.tcp_mut().unwrap().options.push_window_scale(shift);
        packet
    };
    assert!(bench.pass(Place::ToAir, opening(OUT, Flags::SYN, 0, 2)).is_some());
    assert!(bench.pass(Place::FromAir, opening(IN, Flags::SYN | Flags::ACK, 1, 7)).is_some());
    // 60 000 bytes in units of 128; then 500 units.
    send(&mut bench, 0..2, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(2, (58_000 / 128) as u16)]);
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 2001, 500)), None);
    send(&mut bench, 2..4, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(4, ((64_000 - 2000) / 128) as u16)]);
}

#[test]
fn an_ack_echoes_the_first_segment_it_answers_and_has_the_clients_last_timestamp() {
    let stamped = |mut packet: Packet, tsval, tsecr| {
        packet.tcp_mut().unwrap().options.push_timestamps(tsval, tsecr);
        packet
    };
    let mut bench = testing::bench("fastack", access_point(), &[]).unwrap();
    assert!(bench.pass(Place::FromAir, stamped(ack(IN, 1, WINDOW), 700, 100)).is_some());
    for n in 0..3 {
        assert!(bench.pass(Place::ToAir, stamped(nth(n), 110 + n, 700)).is_some());
        bench.report(&stamped(nth(n), 110 + n, 700), Fate::Delivered);
    }
    settle(&mut bench);
    let made = bench.take_injected();
    let stamps: Vec<_> = made.iter().map(|(packet, _)| packet.tcp().unwrap().options.timestamps()).collect();
    assert_eq!(stamps, [Some((700, 110)), Some((700, 112))]);
}

#[test]
fn what_the_sender_repeats_and_was_told_is_answered_here() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..2, Fate::Delivered);
    acks(&mut bench);
    assert_eq!(bench.pass(Place::ToAir, nth(0)), None);
    assert_eq!(acks(&mut bench), [(2, 48_000)]);
    assert_eq!(bench.counter("acks_repeated"), 1);
    // What lies in a copy behind a hole is dropped, too; nothing is said of it. The hole itself goes to the client.
    send(&mut bench, 3..4, Fate::Delivered);
    assert_eq!((bench.pass(Place::ToAir, nth(3)), acks(&mut bench)), (None, vec![]));
    assert_eq!((bench.counter("sender_retransmissions_dropped"), bench.held()), (1, 3));
    send(&mut bench, 2..3, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(4, 46_000)]);
}

#[test]
fn what_the_sender_repeats_twice_goes_to_the_client() {
    // Segment 0 has gone, and was acknowledged, by another access point: here nothing is told.
    let mut bench = fastack(&[]);
    send(&mut bench, 1..2, Fate::Delivered);
    assert_eq!((acks(&mut bench), bench.held()), (vec![], 1));
    assert_eq!(bench.pass(Place::ToAir, nth(1)), None);
    assert_eq!(bench.pass(Place::ToAir, nth(1)), Some(nth(1)));
    bench.report(&nth(1), Fate::Delivered);
    assert_eq!(bench.counter("sender_retransmissions_dropped"), 1);
    // It answers what it has already, and its ACK passes.
    assert!(waits_for(&mut bench, 2).is_some());
    assert_eq!(bench.held(), 0);
}

#[test]
fn a_question_to_the_client_is_answered_by_the_client() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..2, Fate::Delivered);
    acks(&mut bench);
    // Keepalives: the number before the next, with a byte and without. The answer has the number and window that stand.
    for keepalive in [data(OUT, 2000..2001), data(OUT, 2000..2000)] {
        assert_eq!(bench.pass(Place::ToAir, keepalive.clone()), Some(keepalive));
        assert_eq!(waits_for(&mut bench, 0), Some(ack(IN, 2001, 48_000)));
        assert_eq!(waits_for(&mut bench, 0), None);
    }
    // A probe of a closed window.
    let mut bench = fastack(&[]);
    assert!(bench.pass(Place::FromAir, ack(IN, 1, 2000)).is_some());
    send(&mut bench, 0..2, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(2, 0)]);
    let probe = data(OUT, 2001..2002);
    assert_eq!(bench.pass(Place::ToAir, probe.clone()), Some(probe.clone()));
    bench.report(&probe, Fate::Delivered);
    assert_eq!((acks(&mut bench), bench.held()), (vec![], 2));
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 2001, 0)), Some(ack(IN, 2001, 0)));
}

#[test]
fn a_window_that_has_become_small_is_opened_by_the_clients_ack() {
    let mut bench = testing::bench("fastack", access_point(), &[]).unwrap();
    assert!(bench.pass(Place::FromAir, ack(IN, 1, 8000)).is_some());
    send(&mut bench, 0..7, Fate::Delivered);
    assert_eq!(acks(&mut bench).last(), Some(&(7, 1000)));
    // Its host has read nothing: the edge stands where it stood.
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 2001, 6000)), None);
    // A thousand bytes more, and the sender has less than two segments left.
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 3001, 6000)), Some(ack(IN, 7001, 2000)));
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 4001, 5500)), None, "500 of 8000");
    // Six are open, more than half: no news.
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 7001, 6000)), Some(ack(IN, 7001, 6000)));
    assert_eq!(bench.pass(Place::FromAir, ack(IN, 7001, 8000)), None);
}

#[test]
fn signals_data_and_fins_of_the_client_pass_with_the_number_that_was_told() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..4, Fate::Delivered);
    acks(&mut bench);
    let says = |flags, len, number, window| segment(IN, Flags::ACK | flags, Seq(1), len, Seq(number), window);
    assert_eq!(
        bench.pass(Place::FromAir, says(Flags::ECE, 0, 1001, WINDOW)),
        Some(says(Flags::ECE, 0, 4001, 47_000)) // 51 001 - 4001
    );
    assert_eq!(bench.pass(Place::FromAir, says(Flags::ECE, 0, 2001, WINDOW)), None, "known");
    // ACKs made meanwhile have it, too.
    send(&mut bench, 4..6, Fate::Delivered);
    let (made, _) = bench.take_injected().pop().unwrap();
    assert_eq!(made.tcp().unwrap().flags, Flags::ACK | Flags::ECE);
    for flags in [Flags(0), Flags::FIN] {
        let data = |number, window| says(flags, 100, number, window);
        assert_eq!(bench.pass(Place::FromAir, data(1001, WINDOW)), Some(data(6001, 46_000)), "older than known");
    }
    // A reset passes as it is and ends all.
    let reset = segment(IN, Flags::RST, Seq(1), 0, Seq(0), 0);
    assert_eq!(bench.pass(Place::FromAir, reset.clone()), Some(reset));
    assert_eq!((bench.held(), bench.counter("acked_lost_bytes")), (0, 4000));
}

#[test]
fn what_the_mac_has_given_up_goes_out_again_and_is_acknowledged_when_it_has_arrived() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..3, Fate::GivenUp);
    assert_eq!(repeated(&mut bench), [0, 1, 2]);
    // Duplicates say what is known: nothing passes.
    assert_eq!((waits_for(&mut bench, 0), waits_for(&mut bench, 0)), (None, None));
    (0..3).for_each(|n| bench.report(&nth(n), Fate::Delivered));
    assert_eq!(acks(&mut bench), [(2, 48_000), (3, 47_000)]);
    assert_eq!(bench.counter("local_retransmissions_report"), 3);
}

#[test]
fn a_client_that_takes_nothing_is_not_tried_for_ever() {
    let mut bench = fastack(&[("retransmissions", Value::Int(2))]);
    send(&mut bench, 0..1, Fate::GivenUp);
    bench.report(&nth(0), Fate::Delivered);
    acks_and_repeats(&mut bench, &[1], &[0]);
    // Those of one PPDU fail at one instant; four instants in a row.
    (1..6).for_each(|n| assert!(bench.pass(Place::ToAir, nth(n)).is_some()));
    for (n, expected) in [(1, vec![1]), (2, vec![2]), (3, vec![3]), (4, vec![]), (5, vec![])] {
        bench.now += Dur::from_ms(1);
        bench.report(&nth(n), Fate::GivenUp);
        assert_eq!(repeated(&mut bench), expected);
    }
    assert_eq!(bench.counter("acked_held_bytes"), 1000);
}

fn acks_and_repeats(bench: &mut Bench, acked: &[u32], again: &[u32]) {
    let (acks, repeated) = came(bench);
    assert_eq!((acks.iter().map(|(n, _)| *n).collect::<Vec<_>>(), repeated), (acked.to_vec(), again.to_vec()));
}

#[test]
fn congestion_is_for_the_sender_to_see() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..1, Fate::Delivered);
    acks(&mut bench);
    send(&mut bench, 1..2, Fate::QueueFull);
    send(&mut bench, 2..5, Fate::Delivered);
    assert_eq!((acks(&mut bench), waits_for(&mut bench, 1)), (vec![], None));
    // As many duplicates as the client sends, with the window of the last ACK.
    for _ in 0..3 {
        assert_eq!(waits_for(&mut bench, 1), Some(ack(IN, 1001, 49_000)));
    }
    assert_eq!(repeated(&mut bench), []);
    // It repeats the segment, and everything behind is acknowledged at once.
    send(&mut bench, 1..2, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(5, 46_000)]);
    // A full queue takes no repetition either.
    bench.set_room(Space { free: Bytes(500), used: Bytes(10_000), entries: 10 });
    send(&mut bench, 5..6, Fate::GivenUp);
    assert_eq!(repeated(&mut bench), []);
}

#[test]
fn what_the_client_lacks_for_all_the_mac_says_goes_out_again_after_three_duplicates() {
    let mut bench = fastack(&[]);
    // A round trip of 1 ms is known, which may last 3. @RFC6298
    send(&mut bench, 0..1, Fate::Delivered);
    assert_eq!(waits_for(&mut bench, 1), None);
    send(&mut bench, 1..8, Fate::Delivered);
    came(&mut bench);
    // Segments 1 and 4 have vanished in its reorder buffer.
    for expected in [vec![], vec![], vec![], vec![], vec![1], vec![], vec![]] {
        assert_eq!(waits_for(&mut bench, 1), None);
        assert_eq!(repeated(&mut bench), expected);
    }
    bench.report(&nth(1), Fate::Delivered);
    // It waits for 4 now, which went out before 1 did the second time: that is lost, too.
    assert_eq!(waits_for(&mut bench, 4), None);
    assert_eq!(repeated(&mut bench), [4]);
    bench.report(&nth(4), Fate::Delivered);
    assert_eq!(waits_for(&mut bench, 8), None);
    assert_eq!((bench.counter("local_retransmissions_dup"), bench.held()), (2, 0));
}

#[test]
fn sack_blocks_are_hidden_while_their_hole_is_repaired_here_and_pass_otherwise() {
    let sacked = |waits_for: u32, from: u32, to: u32| {
        let mut packet = ack(IN, 1 + 1000 * waits_for, WINDOW);
        let block = SeqRange { start: Seq(1 + 1000 * from), end: Seq(1 + 1000 * to) };
        packet.tcp_mut().unwrap().options.push_sack(&[block]);
        packet
    };
    let mut bench = fastack(&[]);
    send(&mut bench, 0..2, Fate::Delivered);
    // Segment 2 was lost on the wire.
    send(&mut bench, 3..5, Fate::Delivered);
    assert_eq!(acks(&mut bench), [(2, 48_000)]);
    assert_eq!(bench.pass(Place::FromAir, sacked(1, 3, 4)), None, "segment 1 has a copy");
    assert_eq!(bench.pass(Place::FromAir, sacked(2, 3, 4)), Some(sacked(2, 3, 4)), "no news but the blocks");
    assert_eq!(bench.pass(Place::FromAir, sacked(2, 3, 5)), Some(sacked(2, 3, 5)));
    // The MAC is at work on 2; the client has 3, and 1 before this node knew.
    let mut bench = fastack(&[]);
    (0..4).for_each(|n| assert!(bench.pass(Place::ToAir, nth(n)).is_some()));
    let passed = bench.pass(Place::FromAir, sacked(2, 3, 4)).unwrap();
    assert_eq!((passed.tcp().unwrap().ack, passed.tcp().unwrap().options.sack_blocks().count()), (Seq(2001), 0));
}

#[test]
fn a_clients_ack_that_stands_still_has_the_first_copy_sent_again_at_doubling_intervals() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..1, Fate::Delivered);
    assert_eq!(waits_for(&mut bench, 1), None);
    send(&mut bench, 1..4, Fate::Delivered);
    came(&mut bench);
    let start = bench.now;
    // 250 ms at least; what is in the MAC's hands is waited for.
    let (again, first) = timeout(&mut bench);
    assert_eq!((again, first), (vec![1], start + Dur::from_ms(250)));
    bench.report(&nth(1), Fate::Delivered);
    assert_eq!(timeout(&mut bench), (vec![1], first + Dur::from_ms(500)));
    bench.report(&nth(1), Fate::GivenUp);
    assert_eq!(repeated(&mut bench), [1]);
    bench.report(&nth(1), Fate::Delivered);
    assert_eq!(timeout(&mut bench), (vec![1], first + Dur::from_ms(1500)));
    assert_eq!(bench.counter("local_retransmissions_timer"), 3);
    // It wakes up, and two duplicates for what came twice are no news.
    assert_eq!(waits_for(&mut bench, 4), None);
    assert_eq!(waits_for(&mut bench, 4), None);
    assert_eq!((waits_for(&mut bench, 4), bench.held()), (None, 0));
}

#[test]
fn a_late_copy_has_the_timestamp_the_client_has_seen_and_the_senders_last_word() {
    let stamped = |mut packet: Packet, tsval, tsecr| {
        packet.tcp_mut().unwrap().options.push_timestamps(tsval, tsecr);
        packet
    };
    let mut bench = fastack(&[]);
    let first = stamped(nth(0), 100, 5);
    assert!(bench.pass(Place::ToAir, first.clone()).is_some());
    bench.report(&first, Fate::Delivered);
    // The sender has repeated what was before it, with 130, and acknowledged 77 777.
    let later = stamped(segment(OUT, Flags::ACK, Seq(1001), 0, Seq(77_777), 4000), 140, 5);
    assert!(bench.pass(Place::ToAir, later).is_some());
    assert_eq!(bench.pass(Place::FromAir, stamped(ack(IN, 1, WINDOW), 50, 130)), None);
    settle(&mut bench);
    bench.take_injected();
    while bench.injected.is_empty() {
        assert!(bench.next_timer());
    }
    let (copy, toward) = bench.take_injected().remove(0);
    let tcp = copy.tcp().unwrap();
    assert_eq!((tcp.options.timestamps(), tcp.ack, tcp.window), (Some((130, 5)), Seq(77_777), 4000));
    assert_eq!(toward, Toward::Air(THERE));
}

#[test]
fn copies_go_after_a_client_that_leaves_and_stay_here() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..2, Fate::Delivered);
    assert!(bench.pass(Place::ToAir, nth(2)).is_some());
    came(&mut bench);
    bench.peer(NodeId(2), PeerEvent::Down);
    assert_eq!(came(&mut bench), (vec![], vec![]));
    bench.peer(THERE, PeerEvent::Down);
    // What it did not acknowledge is its sender's business. The first time they go at once, then one by one: a queue that is too short
    // for all does not refuse the same one each time.
    assert_eq!(bench.take_injected(), [(nth(0), Toward::Route), (nth(1), Toward::Route)]);
    let mut sent = Vec::new();
    while bench.next_timer() {
        sent.extend(bench.take_injected().into_iter().map(|copy| (bench.now, copy)));
    }
    for (round, pair) in sent.chunks(2).enumerate() {
        let copies = [&pair[0].1, &pair[1].1];
        assert_eq!(copies, [&(nth(0), Toward::Route), &(nth(1), Toward::Route)], "round {round}");
        assert!(pair[0].0 < pair[1].0, "{round}");
    }
    assert_eq!((sent.len(), bench.counter("copies_sent_on"), bench.held()), (14, 16, 2));
    // It comes back: what it still lacks goes out by radio.
    bench.peer(THERE, PeerEvent::Up(&[]));
    assert_eq!(timeout(&mut bench).0, [0]);
    assert_eq!(waits_for(&mut bench, 2), None);
    assert_eq!((bench.held(), bench.counter("acked_held_bytes")), (0, 0));
}

#[test]
fn copies_die_with_the_node_and_that_is_counted() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..3, Fate::Delivered);
    assert_eq!(waits_for(&mut bench, 1), None);
    bench.release();
    assert_eq!((bench.held(), bench.counter("acked_lost_bytes"), bench.counter("acked_held_bytes")), (0, 2000, 0));
    came(&mut bench);
    // It knows nothing afterwards: the client's ACK passes, and nothing is acknowledged beyond a hole.
    assert_eq!(waits_for(&mut bench, 1), Some(ack(IN, 1001, WINDOW)));
    send(&mut bench, 3..5, Fate::Delivered);
    assert_eq!(acks(&mut bench), []);
}

#[test]
fn a_connection_that_has_closed_leaves_nothing() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..3, Fate::Delivered);
    came(&mut bench);
    bench.closed(OUT);
    assert_eq!((bench.held(), bench.counter("acked_lost_bytes")), (0, 0));
    while bench.next_timer() {}
    assert_eq!(came(&mut bench), (vec![], vec![]));
}

#[test]
fn connections_are_kept_apart_and_an_old_ones_name_may_come_again() {
    let mut bench = fastack(&[]);
    send(&mut bench, 0..2, Fate::Delivered);
    acks(&mut bench);
    let syn = segment(OUT, Flags::SYN, Seq(0) - 9001, 0, Seq(0), WINDOW);
    assert!(bench.pass(Place::ToAir, syn).is_some());
    assert_eq!((bench.held(), bench.counter("acked_lost_bytes")), (0, 2000));
    // Without a SYN, far away.
    assert!(bench.pass(Place::FromAir, ack(IN, 1, WINDOW)).is_some());
    send(&mut bench, 0..2, Fate::Delivered);
    acks(&mut bench);
    let far = segment(OUT, Flags::ACK, Seq(1) - 0x7fff_0000, 1000, Seq(1), WINDOW);
    assert_eq!(bench.pass(Place::ToAir, far.clone()), Some(far));
    assert_eq!(bench.held(), 0);
}

#[test]
fn numbers_that_wrap_are_in_order() {
    let mut bench = testing::bench("fastack", access_point(), &[]).unwrap();
    let start = Seq(u32::MAX - 1499);
    let at = |n: u32| segment(OUT, Flags::ACK, start + 1000 * n, 1000, Seq(1), 65_535);
    assert!(bench.pass(Place::FromAir, ack(IN, start.0, WINDOW)).is_some());
    for n in 0..4 {
        assert!(bench.pass(Place::ToAir, at(n)).is_some());
        bench.report(&at(n), Fate::Delivered);
    }
    let numbers: Vec<_> = bench.take_injected().iter().map(|(packet, _)| packet.tcp().unwrap().ack).collect();
    assert_eq!(numbers, [start + 2000, start + 4000]);
    assert_eq!(bench.pass(Place::FromAir, ack(IN, (start + 3000).0, WINDOW)), None);
    assert_eq!(bench.held(), 1);
}

#[test]
fn what_it_cannot_read_passes_and_so_does_what_is_not_its_last_hop() {
    let mut bench = fastack(&[]);
    let opaque = Packet { l4: L4::Opaque, payload: Payload::stream(0, 1000), ..nth(0) };
    assert_eq!(bench.pass(Place::ToAir, opaque.clone()), Some(opaque));
    let mut own = nth(0);
    own.ip.src = access_point().address;
    let mut beyond = nth(0);
    beyond.ip.dst = Ipv4Addr::new(10, 0, 0, 77);
    for packet in [own, beyond] {
        assert_eq!(bench.pass(Place::ToAir, packet.clone()), Some(packet.clone()));
        bench.report(&packet, Fate::Delivered);
    }
    assert_eq!((acks(&mut bench), bench.held()), (vec![], 0));
}

#[test]
fn it_sits_only_where_a_radio_is_forwarded_to() {
    let sits = |node| testing::bench("fastack", node, &[]).is_some();
    assert!(sits(access_point()));
    assert!(!sits(NodeFacts { forwards: false, ..access_point() }));
    assert!(!sits(NodeFacts { has_air: false, ..access_point() }));
}
