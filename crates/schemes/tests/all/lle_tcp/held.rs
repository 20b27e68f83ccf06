//! The data that the receiving station keeps for a host that has no room for it, or has to bring up to date before its host would
//! take it: data that is acknowledged in the host's name.

use super::*;

/// A receiving station whose host has 3000 B of room and has acknowledged nothing of what arrived.
fn small_receiver() -> Bench {
    let mut bench = paired(&[("strategy", "every")]);
    bench.pass(Place::FromAir, stamped(syn(IN), 10, 0)).unwrap();
    bench.send(stamped(segment(OUT, SYN_ACK, Seq(0), 0, Seq(1), 3_000), 50, 10), Fate::Delivered);
    bench.take_injected();
    bench.pass(Place::FromAir, stamped(nth(IN, 0), 11, 50)).unwrap();
    assert!(out(&mut bench, stamped(ack(OUT, 1001, 2_000), 51, 11)).is_some(), "the window has shrunk");
    bench.report(&stamped(ack(OUT, 1001, 2_000), 51, 11), Fate::Delivered);
    bench
}

#[test]
fn a_notice_is_not_ecn_capable_whatever_its_host_has_sent() {
    // @RFC3168 sec. 6.1.4
    let mut bench = small_receiver();
    let mut data = stamped(segment(OUT, Flags::ACK, Seq(1), 500, Seq(1001), 2_000), 52, 11);
    data.ip.tos = wire::ecn::ECT_0;
    assert!(out(&mut bench, data).is_some(), "data crosses the air");
    for i in 1..4 {
        bench.pass(Place::FromAir, stamped(nth(IN, i), 14, 50));
    }
    let [(notice, _)] = bench.take_injected().try_into().unwrap();
    assert_eq!((notice.ip.ecn(), notice.tcp().unwrap().seq), (wire::ecn::NOT_ECT, Seq(501)));
}

#[test]
fn data_beyond_the_hosts_window_is_held_answered_with_a_notice_and_released_with_a_fresh_tsval() {
    let mut bench = small_receiver();
    bench.now = SimTime::from_ns(1_000_000);
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)).unwrap();
    bench.pass(Place::FromAir, stamped(nth(IN, 2), 13, 50)).unwrap();
    // The host admits numbers up to 3001.
    assert_eq!(bench.pass(Place::FromAir, stamped(nth(IN, 3), 14, 50)), None, "held");
    let notice = bare(stamped(ack(OUT, 1001, 0), 51, 11));
    assert_eq!(bench.take_injected(), [(notice.clone(), Toward::Air(THERE))]);
    assert_eq!((bench.held(), bench.counter("segments_held"), bench.counter("notices_sent")), (1, 1, 1));
    // One notice at a time; a copy of what is held is not held twice.
    assert_eq!(bench.pass(Place::FromAir, stamped(nth(IN, 4), 15, 50)), None);
    assert_eq!(bench.pass(Place::FromAir, stamped(nth(IN, 4), 16, 50)), None);
    assert_eq!((bench.take_injected(), bench.held()), (vec![], 2));
    bench.now = SimTime::from_ns(3_000_000);
    bench.report(&notice, Fate::Delivered);
    assert_eq!(bench.counter("slowest_notice_ns"), 2_000_000);

    // The host acknowledges what it took; while anything is held its windows are closed.
    let closed = out(&mut bench, stamped(ack(OUT, 3001, 0), 53, 13)).expect("a closed window crosses the air");
    assert_eq!(closed.tcp().unwrap().window, 0);
    assert_eq!(bench.take_injected(), []);
    // It admits one segment, which goes on, and not a byte of the next; then half of that, and a copy goes on.
    let opens = out(&mut bench, stamped(ack(OUT, 3001, 1_000), 59, 13)).expect("a change");
    assert_eq!(opens.tcp().unwrap().window, 0, "still something held");
    assert_eq!((bench.injected.len(), bench.held()), (1, 1));
    let opens = out(&mut bench, stamped(ack(OUT, 3001, 1_500), 60, 13)).expect("a change");
    assert_eq!(opens.tcp().unwrap().window, 0, "still something held");
    let released = bench.take_injected();
    let expected = [nth(IN, 3), nth(IN, 4)].map(|packet| (stamped(packet, 16, 50), Toward::Host));
    assert_eq!(released, expected, "with the latest TSval, or PAWS would discard what waited");
    assert_eq!(bench.held(), 1);
    // Then all: nothing is held, and the window is the host's again.
    let opens = out(&mut bench, stamped(ack(OUT, 4501, 2_000), 61, 16)).unwrap();
    assert_eq!(opens.tcp().unwrap().window, 2_000);
    assert_eq!(bench.take_injected(), [(stamped(nth(IN, 4), 16, 50), Toward::Host)]);
    assert_eq!(bench.held(), 0);
}

/// Found by `world/tests/all/conservation.rs`: a host with 1128 B of room left and nothing unread waits for data, and its
/// station for a window that would admit a whole segment.
#[test]
fn of_a_segment_admitted_in_part_the_host_gets_a_copy_at_once() {
    let mut bench = small_receiver();
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)).unwrap();
    let opens = stamped(ack(OUT, 2001, 1_128), 52, 12);
    bench.send(opens, Fate::Delivered);
    // Of these 1460 B the host admits 1128.
    let sent = stamped(data(IN, 2001..3461), 13, 50);
    assert_eq!(bench.pass(Place::FromAir, sent.clone()), Some(sent.clone()));
    assert_eq!(bench.held(), 1);
    assert_eq!(bench.take_injected().len(), 1, "a notice: all of it is acknowledged");
    // It takes them, and later the rest.
    out(&mut bench, stamped(ack(OUT, 3129, 0), 53, 13)).expect("a closed window");
    assert_eq!((bench.take_injected(), bench.held()), (vec![], 1));
    let opens = out(&mut bench, stamped(ack(OUT, 3129, 3_000), 60, 13)).unwrap();
    assert_eq!(opens.tcp().unwrap().window, 3_000);
    assert_eq!((bench.take_injected(), bench.held()), (vec![(sent, Toward::Host)], 0));
}

#[test]
fn what_the_host_has_acknowledged_meanwhile_is_not_given_to_it_again() {
    let mut bench = small_receiver();
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)).unwrap();
    bench.pass(Place::FromAir, stamped(data(IN, 2001..3461), 13, 50)).unwrap();
    assert_eq!(bench.held(), 1);
    // The copy came through whole: the host's buffer had become free in between.
    out(&mut bench, stamped(ack(OUT, 3461, 3_000), 60, 13)).unwrap();
    assert!(
        bench.take_injected().iter().all(|(_, toward)| *toward != Toward::Host),
        "or it would answer a duplicate"
    );
    assert_eq!(bench.held(), 0);
}

#[test]
fn a_fin_needs_no_room() {
    let mut bench = small_receiver();
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)).unwrap();
    let last = stamped(segment(IN, FIN_ACK, Seq(2001), 1000, Seq(1), WINDOW), 13, 50);
    assert_eq!(bench.pass(Place::FromAir, last.clone()), Some(last));
    assert_eq!((bench.held(), bench.take_injected()), (0, vec![]));
}

#[test]
fn a_fin_without_data_waits_for_what_is_held_before_it() {
    // Its place lies beyond the host's edge: the host would discard it, and nobody would send it again.
    let mut bench = small_receiver();
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)).unwrap();
    bench.pass(Place::FromAir, stamped(data(IN, 2001..3461), 13, 50)).unwrap();
    let fin = stamped(segment(IN, FIN_ACK, Seq(3461), 0, Seq(1), WINDOW), 14, 50);
    assert_eq!((bench.pass(Place::FromAir, fin.clone()), bench.held()), (None, 2));
    bench.take_injected();
    // It admits the data to the last byte, and so the FIN.
    out(&mut bench, stamped(ack(OUT, 3001, 460), 60, 13)).unwrap();
    let released: Vec<_> = bench.take_injected().into_iter().map(|(packet, _)| packet.tcp_range().unwrap()).collect();
    assert_eq!((released, bench.held()), (vec![SeqRange::new(Seq(2001), 1460), SeqRange::new(Seq(3461), 1)], 0));
}

/// Found by `world/tests/all/lle_delivery.rs` with 20,000 cases. A host takes an ACK number more than a window old for forged
/// and discards the segment with its data (@RFC5961 sec. 5.2), which has been acknowledged.
#[test]
fn what_was_held_says_what_its_host_was_told_meanwhile() {
    let mut bench = small_receiver();
    for i in [1, 2] {
        bench.pass(Place::FromAir, stamped(nth(IN, i), 12, 50)).unwrap();
    }
    for i in [3, 4] {
        assert_eq!(bench.pass(Place::FromAir, stamped(nth(IN, i), 12, 50)), None, "held");
    }
    // Its data is acknowledged by this station, and then by its peer with another window.
    bench.send(stamped(segment(OUT, Flags::ACK, Seq(1), 700, Seq(3001), 0), 52, 12), Fate::Delivered);
    bench.take_injected();
    let released = |bench: &mut Bench| {
        let mut injected = bench.take_injected();
        injected.retain(|(_, toward)| *toward == Toward::Host);
        let tcp = injected.iter().filter_map(|(packet, _)| packet.tcp());
        tcp.map(|tcp| (tcp.seq, tcp.ack, tcp.window)).collect::<Vec<_>>()
    };
    out(&mut bench, stamped(ack(OUT, 3001, 1_000), 59, 13)).unwrap();
    assert_eq!(released(&mut bench), [(Seq(3001), Seq(701), WINDOW)], "the ACK made here");
    bench.pass(Place::FromAir, stamped(ack(IN, 701, 9_000), 14, 52)).unwrap();
    out(&mut bench, stamped(ack(OUT, 4001, 1_000), 60, 13)).unwrap();
    assert_eq!(released(&mut bench), [(Seq(4001), Seq(701), 9_000)], "the ACK heard last");
}

/// Found by `world/tests/all/conservation.rs`: the sender closes on the ACK made for its FIN, answers every later window with
/// a reset, and those answered the notices, or ended the host's connection.
#[test]
fn after_the_peers_fin_no_notice_is_given_and_no_reset_reaches_a_host_whose_data_is_held() {
    let mut bench = small_receiver();
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)).unwrap();
    let last = stamped(segment(IN, FIN_ACK, Seq(2001), 1_460, Seq(1), WINDOW), 13, 50);
    assert_eq!(bench.pass(Place::FromAir, last.clone()), Some(last.clone()), "what is admitted");
    assert_eq!((bench.take_injected(), bench.held()), (vec![], 1), "who has sent a FIN sends no more");
    let reset = segment(IN, Flags::RST, Seq(3001), 0, Seq(0), 0);
    assert_eq!(bench.pass(Place::FromAir, reset.clone()), None);
    assert_eq!((bench.take_injected(), bench.held()), (vec![], 1));
    out(&mut bench, stamped(ack(OUT, 3001, 3_000), 60, 13)).unwrap();
    assert_eq!((bench.take_injected(), bench.held()), (vec![(last, Toward::Host)], 0));
    assert_eq!(bench.pass(Place::FromAir, reset.clone()), Some(reset), "nothing is held");
}

#[test]
fn a_reset_before_the_peers_fin_is_the_hosts_business_and_no_reason_for_a_notice() {
    let mut bench = small_receiver();
    for i in [1, 2, 3] {
        bench.pass(Place::FromAir, stamped(nth(IN, i), 12, 50));
    }
    let [(notice, _)] = bench.take_injected().try_into().unwrap();
    bench.report(&notice, Fate::Delivered);
    let reset = segment(IN, Flags::RST, Seq(1001), 0, Seq(0), 0);
    assert_eq!(bench.pass(Place::FromAir, reset.clone()), Some(reset));
    assert_eq!(bench.take_injected(), []);
}

#[test]
fn a_notice_that_was_lost_is_repeated_with_the_next_segment() {
    let mut bench = small_receiver();
    for i in [1, 2, 3] {
        bench.pass(Place::FromAir, stamped(nth(IN, i), 12, 50));
    }
    let [(notice, _)] = bench.take_injected().try_into().unwrap();
    bench.report(&notice, Fate::GivenUp);
    assert_eq!(bench.pass(Place::FromAir, stamped(nth(IN, 4), 13, 50)), None);
    assert_eq!(bench.take_injected(), [(notice, Toward::Air(THERE))]);
    assert_eq!((bench.counter("notices_sent"), bench.held()), (2, 2));
}

#[test]
fn a_host_that_has_only_answered_the_syn_gives_notice_too() {
    // Its first ACK is delayed, and there is room for one segment.
    let mut bench = paired(&[("strategy", "every")]);
    bench.pass(Place::FromAir, stamped(syn(IN), 10, 0)).unwrap();
    let answer = with_options(stamped(segment(OUT, SYN_ACK, Seq(0), 0, Seq(1), 1_000), 50, 10), |options| {
        assert!(options.push_mss(1000) && options.push_window_scale(0));
    });
    bench.send(answer, Fate::Delivered);
    bench.take_injected();
    bench.pass(Place::FromAir, stamped(nth(IN, 0), 11, 50)).unwrap();
    assert_eq!(bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)), None, "held");
    assert_eq!(bench.take_injected(), [(bare(stamped(ack(OUT, 1, 0), 50, 10)), Toward::Air(THERE))]);
}

#[test]
fn a_notice_stands_where_its_host_does() {
    // After data of its own: a segment with an older number would be discarded. @RFC9293 sec. 3.10.7.4
    let mut bench = small_receiver();
    bench.send(stamped(segment(OUT, Flags::ACK, Seq(1), 700, Seq(1001), 2_000), 52, 11), Fate::Delivered);
    // A part of it sent again does not take it back.
    bench.send(stamped(segment(OUT, Flags::ACK, Seq(1), 300, Seq(1001), 2_000), 52, 11), Fate::Delivered);
    bench.take_injected(); // its own data's ACK
    for i in [1, 2, 3] {
        bench.pass(Place::FromAir, stamped(nth(IN, i), 12, 50));
    }
    let injected = bench.take_injected();
    let tcp = injected[0].0.pure_ack().unwrap();
    assert_eq!((tcp.seq, tcp.ack, tcp.window, tcp.flags), (Seq(701), Seq(1001), 0, Flags::ACK));
}

#[test]
fn what_lies_beyond_a_hole_is_not_acknowledged_and_closes_no_window() {
    let mut bench = small_receiver();
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 12, 50)).unwrap();
    // Segment 2 is missing; 3 is beyond the host's window and beyond the hole.
    assert_eq!(bench.pass(Place::FromAir, stamped(nth(IN, 3), 14, 50)), None);
    assert_eq!((bench.take_injected(), bench.held()), (vec![], 1));
    bench.pass(Place::FromAir, stamped(nth(IN, 2), 15, 50)).unwrap();
    assert_eq!(bench.take_injected().len(), 1, "now it is acknowledged: a notice");
}

#[test]
fn a_dying_node_lets_go_of_what_it_holds() {
    let mut bench = small_receiver();
    for i in [1, 2, 3, 4] {
        bench.pass(Place::FromAir, stamped(nth(IN, i), 12, 50));
    }
    assert_eq!(bench.held(), 2);
    bench.release();
    assert_eq!(bench.held(), 0);
}

/// Found by `world/tests/all/network_conservation.rs` beside `tcp-aware-arq`, whose retransmissions pass each other: PAWS discards a segment with an
/// older TSval than one that came in order (@RFC7323 sec. 5.3), though it is acknowledged.
#[test]
fn what_a_link_delivers_out_of_order_says_what_its_host_was_told_last() {
    let mut bench = small_receiver();
    bench.pass(Place::FromAir, stamped(nth(IN, 1), 15, 50)).unwrap();
    let late = bench.pass(Place::FromAir, stamped(nth(IN, 2), 12, 50)).unwrap();
    assert_eq!(late, stamped(nth(IN, 2), 15, 50));
    // A pure ACK holds no data: what PAWS makes of it is no loss.
    let late = stamped(ack(IN, 1, WINDOW), 12, 50);
    assert_eq!(bench.pass(Place::FromAir, late.clone()), Some(late));
}
