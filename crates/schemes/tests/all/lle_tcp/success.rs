//! The ACKs that the sending station makes of SUCCESS.

use super::*;

#[test]
fn success_makes_the_ack_that_the_receiver_would_have_written() {
    let mut bench = paired(&[("strategy", "every")]);
    let offers = |packet| with_options(packet, |options| assert!(options.push_window_scale(2)));
    bench.send(stamped(offers(syn(OUT)), 500, 0), Fate::Delivered);
    let answer = segment(IN, SYN_ACK, Seq(9_000), 0, Seq(1), WINDOW);
    bench.pass(Place::FromAir, stamped(offers(answer), 70, 500)).unwrap();
    // The host's window and the receiver's next number come from what it wrote: 10 B, window 4 · 10 000.
    let reverse = stamped(segment(IN, Flags::ACK, Seq(9_001), 10, Seq(1), 10_000), 77, 501);
    bench.pass(Place::FromAir, reverse).unwrap();
    let sent = Packet { ip: wire::Ipv4 { id: 7, ..nth(OUT, 0).ip }, ..stamped(nth(OUT, 0), 600, 77) };
    bench.send(sent, Fate::Delivered);

    let injected = bench.take_injected();
    let [(ack, toward)] = injected.as_slice() else { panic!("one ACK, not {injected:?}") };
    let expected = bare(stamped(segment(IN, Flags::ACK, Seq(9_011), 0, Seq(1001), 10_000), 77, 600));
    // Addresses and ports of the other direction, TSval 77 as the receiver said last, TSecr 600 from the data.
    assert_eq!((&ack.l4, &ack.payload, ack.flow, *toward), (&expected.l4, &expected.payload, IN, Toward::Route));
    assert_eq!((ack.ip.src, ack.ip.dst, ack.ip.ttl), (expected.ip.src, expected.ip.dst, 64));
    let mut bytes = Vec::new();
    ack.emit(&mut bytes).unwrap();
    assert_eq!(wire::verify(&bytes), Ok(wire::Integrity::Good));
    assert_eq!(Packet::parse(&bytes, IN).unwrap(), *ack, "as bytes and back");
}

#[test]
fn a_window_heard_in_a_syn_is_not_scaled_and_the_made_ack_says_it_scaled_if_both_sides_offered() {
    for (both, field) in [(true, 40_000 >> 2), (false, 40_000)] {
        let mut bench = paired(&[("strategy", "every")]);
        let offers = |packet| with_options(packet, |options| assert!(options.push_window_scale(2)));
        bench.send(if both { offers(syn(OUT)) } else { syn(OUT) }, Fate::Delivered);
        bench.pass(Place::FromAir, offers(segment(IN, SYN_ACK, Seq(0), 0, Seq(1), 40_000))).unwrap();
        bench.send(nth(OUT, 0), Fate::Delivered);
        assert_eq!(bench.take_injected()[0].0.tcp().unwrap().window, field);
    }
}

#[test]
fn success_of_a_syn_ack_makes_the_third_ack_and_that_of_a_syn_none() {
    let mut bench = paired(&[]);
    bench.send(syn(OUT), Fate::Delivered);
    assert_eq!(made(&mut bench), []);

    let mut bench = paired(&[]);
    bench.pass(Place::FromAir, segment(IN, Flags::SYN, Seq(800), 0, Seq(0), 5_000)).unwrap();
    bench.send(segment(OUT, SYN_ACK, Seq(300), 0, Seq(801), WINDOW), Fate::Delivered);
    let injected = bench.take_injected();
    assert_eq!(injected, [(bare(segment(IN, Flags::ACK, Seq(801), 0, Seq(301), 5_000)), Toward::Route)]);
}

#[test]
fn success_of_what_occupies_no_number_makes_nothing() {
    let mut bench = sender();
    bench.send(segment(OUT, Flags::ACK, Seq(1), 0, Seq(1), WINDOW), Fate::Delivered);
    bench.send(segment(OUT, Flags::RST | Flags::ACK, Seq(1), 0, Seq(1), WINDOW), Fate::Delivered);
    assert_eq!(made(&mut bench), []);
    bench.send(segment(OUT, FIN_ACK, Seq(1), 0, Seq(1), WINDOW), Fate::Delivered);
    assert_eq!(made(&mut bench), [2], "a FIN does");
}

#[test]
fn a_full_queue_makes_nothing_and_neither_does_an_expired_packet_or_a_failed_attempt() {
    let mut bench = sender();
    for fate in [Fate::QueueFull, Fate::Expired, Fate::Attempt] {
        bench.send(nth(OUT, 0), fate);
        assert_eq!(made(&mut bench), [], "{fate:?}");
    }
    bench.send(nth(OUT, 0), Fate::Delivered);
    assert_eq!(made(&mut bench), [1001]);
}

#[test]
fn while_the_window_is_closed_the_host_answers_for_itself() {
    let mut bench = sender();
    bench.send(nth(OUT, 0), Fate::Delivered);
    bench.pass(Place::FromAir, ack(IN, 1001, 0)).unwrap();
    made(&mut bench);
    bench.send(data(OUT, 1001..1002), Fate::Delivered); // a probe
    assert_eq!(made(&mut bench), []);
    bench.pass(Place::FromAir, ack(IN, 1002, 4_000)).unwrap();
    bench.send(data(OUT, 1002..2002), Fate::Delivered);
    let injected = bench.take_injected();
    assert_eq!(injected[0].0.tcp().map(|tcp| (tcp.ack, tcp.window)), Some((Seq(2002), 4_000)));
}

#[test]
fn numbers_wrap() {
    let mut bench = paired(&[("strategy", "every")]);
    let start = u32::MAX - 1_499; // 1500 numbers before the wrap
    bench.send(segment(OUT, Flags::SYN, Seq(start) - 1, 0, Seq(0), WINDOW), Fate::Delivered);
    bench.pass(Place::FromAir, segment(IN, SYN_ACK, Seq(u32::MAX), 0, Seq(start), WINDOW)).unwrap();
    let piece = |i: u32| segment(OUT, Flags::ACK, Seq(start) + i * 1000, 1000, Seq(0), WINDOW);
    bench.send(piece(0), Fate::Delivered);
    bench.send(piece(1), Fate::GivenUp);
    bench.send(piece(2), Fate::Delivered);
    bench.send(piece(1), Fate::Delivered);
    let numbers = [1000, 1000, 1000, 1000, 3000].map(|n| start.wrapping_add(n));
    let injected = bench.take_injected();
    assert_eq!(injected.iter().map(|(p, _)| p.tcp().unwrap().ack.0).collect::<Vec<_>>(), numbers);
    assert!(injected.iter().all(|(p, _)| p.tcp().unwrap().seq == Seq(0)), "the receiver's SYN was the last number");
}

#[test]
fn a_relay_that_the_handshake_did_not_pass_makes_acks_with_the_numbers_it_hears() {
    // Both initial numbers beyond 2³¹, where 0 counts as later.
    let (ours, theirs) = (Seq(3_000_000_000), Seq(2_500_000_000));
    let mut bench = paired(&[("strategy", "every")]);
    let sent = |i: u32| segment(OUT, Flags::ACK, ours + i * 1000, 1000, theirs, WINDOW);
    bench.send(sent(0), Fate::Delivered);
    assert!(made(&mut bench).is_empty(), "nothing has been heard of the receiver");
    bench.pass(Place::FromAir, segment(IN, Flags::ACK, theirs, 0, ours + 1000, WINDOW)).unwrap();
    bench.send(sent(1), Fate::Delivered);
    let (ack, _) = bench.take_injected().pop().unwrap();
    let tcp = ack.pure_ack().unwrap();
    assert_eq!((tcp.seq, tcp.ack), (theirs, ours + 2000));
    // Two losses in different runs: three duplicates each.
    bench.send(sent(2), Fate::GivenUp);
    assert_eq!(bench.take_injected().len(), 3);
    bench.send(sent(2), Fate::Delivered);
    bench.take_injected();
    bench.send(sent(3), Fate::GivenUp);
    assert_eq!(bench.take_injected().len(), 3, "the first run is over");
}
