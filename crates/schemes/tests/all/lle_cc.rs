//! LLE-TCP's congestion control module on the bench: the sender of a path whose next hop is a relay.

use mac::Fate;
use schemes::testing::{self, Bench, HERE, IN, OUT, THERE, ack, data, node, segment};
use schemes::{NodeFacts, Place, Toward, Value};
use std::net::Ipv4Addr;
use tcp::{Config, Connection, FlowFacts};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, L4, Packet, Seq};

/// Two hops away; the bench's neighbour is a relay.
const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 99);
const WINDOW: u16 = 50_000;
const MSS: u16 = 1000;
/// The room at this end, in bytes.
const ROOM: u32 = 60_000;

fn far(mut packet: Packet) -> Packet {
    if packet.flow == OUT {
        packet.ip.dst = FAR
    } else {
        packet.ip.src = FAR
    }
    packet
}

/// A sender whose connection stands: its SYN had number 0, the other end waits for number 1.
fn sender(set: &[(&str, Value)]) -> Bench {
    let station = NodeFacts { starts_flows: true, ..node(HERE, 5) };
    let mut bench = testing::bench("lle-cc", station, set).unwrap();
    bench.now = SimTime::from_ns(1_000_000_000);
    let idle = Connection::listen(Config::default(), 1, 2).facts();
    bench.set_facts(
        OUT,
        FlowFacts { mss: Bytes(u64::from(MSS)), rcv_nxt: Seq(1), rcv_wnd: Bytes(u64::from(ROOM)), ..idle },
    );
    let mut syn = far(segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), WINDOW));
    syn.tcp_mut().unwrap().options.push_sack_permitted();
    let syn = bench.pass(Place::FromHost, syn).unwrap();
    assert!(!syn.tcp().unwrap().options.sack_permitted(), "duplicates made here carry no blocks");
    let answer = far(segment(IN, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), WINDOW));
    assert!(bench.pass(Place::ToHost, answer).is_some());
    bench
}

/// The same where the other end has opened the connection. Both offer to shift windows by three bits.
fn opened_by_the_other_end() -> Bench {
    let station = NodeFacts { starts_flows: true, ..node(HERE, 5) };
    let mut bench = testing::bench("lle-cc", station, &[]).unwrap();
    let idle = Connection::listen(Config::default(), 1, 2).facts();
    bench.set_facts(
        OUT,
        FlowFacts { mss: Bytes(u64::from(MSS)), rcv_nxt: Seq(1), rcv_wnd: Bytes(u64::from(ROOM)), ..idle },
    );
    let shifted = |mut syn: Packet| {
        syn.tcp_mut().unwrap().options.push_window_scale(3);
        syn
    };
    bench.pass(Place::ToHost, shifted(far(segment(IN, Flags::SYN, Seq(0), 0, Seq(0), WINDOW))));
    bench.pass(Place::FromHost, shifted(far(segment(OUT, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), WINDOW))));
    bench.pass(Place::ToHost, far(segment(IN, Flags::ACK, Seq(1), 0, Seq(1), 250)));
    bench
}

/// Segment `n`, counted from 0, of 1000 bytes from number 1 on.
fn nth(n: u32) -> Packet {
    far(data(OUT, 1 + 1000 * n..1001 + 1000 * n))
}

/// TCP sends segment `n`, and the first hop delivers it.
fn crosses(bench: &mut Bench, n: u32) {
    bench.now += Dur::from_ms(1);
    assert_eq!(bench.pass(Place::FromHost, nth(n)), Some(nth(n)));
    bench.report(&nth(n), Fate::Delivered);
}

/// The ACKs that TCP was told since the last look: number and window of each.
fn told(bench: &mut Bench) -> Vec<(u32, u16)> {
    let tell = |(packet, toward): (Packet, Toward)| {
        assert_eq!((toward, packet.flow, packet.ip.src), (Toward::Host, IN, FAR));
        let tcp = *packet.pure_ack().unwrap();
        (tcp.ack.0, tcp.window)
    };
    bench.take_injected().into_iter().map(tell).collect()
}

/// The segments that went out again.
fn repeated(bench: &mut Bench) -> Vec<u32> {
    let tell = |(packet, toward): (Packet, Toward)| {
        assert_eq!((toward, packet.flow), (Toward::Route, OUT));
        (packet.tcp().unwrap().seq.0 - 1) / 1000
    };
    bench.take_injected().into_iter().map(tell).collect()
}

/// The other end waits for segment `n` and says so. What TCP sees of it.
fn waits_for(bench: &mut Bench, n: u32) -> Option<Packet> {
    bench.now += Dur::from_ms(1);
    bench.pass(Place::ToHost, far(ack(IN, 1 + 1000 * n, WINDOW)))
}

#[test]
fn tcp_is_acknowledged_for_the_first_hop_and_given_one_segment_at_a_time() {
    let mut bench = sender(&[]);
    crosses(&mut bench, 0);
    assert_eq!(told(&mut bench), [(1001, MSS)]);
    crosses(&mut bench, 1);
    assert_eq!(told(&mut bench), [(2001, MSS)]);
    assert_eq!(bench.held(), 0, "copies are no packets of the node's");
    // What it knows already it does not hear again.
    assert_eq!(waits_for(&mut bench, 1), None);
    assert_eq!((told(&mut bench), bench.counter("acks_made")), (vec![], 2));
}

#[test]
fn a_full_buffer_closes_the_window_and_an_ack_from_the_end_opens_it_with_one_duplicate() {
    let mut bench = sender(&[("buffer", Value::Int(2))]);
    crosses(&mut bench, 0);
    crosses(&mut bench, 1);
    assert_eq!(told(&mut bench), [(1001, MSS), (2001, 0)]);
    assert_eq!(bench.counter("stops"), 1);
    // A probe of the closed window is answered here.
    let probe = far(data(OUT, 2001..2002));
    assert_eq!(bench.pass(Place::FromHost, probe), None);
    assert_eq!(told(&mut bench), [(2001, 0)]);
    assert_eq!(waits_for(&mut bench, 1), None);
    assert_eq!(told(&mut bench), [(2001, MSS)]);
}

#[test]
fn no_more_is_on_its_way_than_the_other_end_has_room_for() {
    let mut bench = sender(&[]);
    bench.pass(Place::ToHost, far(ack(IN, 1, 2_500)));
    crosses(&mut bench, 0);
    crosses(&mut bench, 1);
    assert_eq!(told(&mut bench), [(1001, MSS), (2001, 0)], "2000 of 2500 bytes are on their way");
    // All has arrived, and the other end has room for less than a segment: that is what TCP sees.
    assert_eq!(bench.pass(Place::ToHost, far(ack(IN, 2001, 400))), None);
    assert_eq!(told(&mut bench), [(2001, 400)]);
    // It closes. A probe must then reach it, or nobody would hear when it opens.
    crosses(&mut bench, 2);
    told(&mut bench);
    bench.pass(Place::ToHost, far(ack(IN, 3001, 0)));
    let probe = far(data(OUT, 3001..3002));
    assert_eq!(bench.pass(Place::FromHost, probe.clone()), Some(probe));
}

#[test]
fn windows_are_shifted_as_agreed_whoever_opened_the_connection() {
    let mut bench = opened_by_the_other_end();
    // 2000 bytes of window: a segment, and room for another.
    crosses(&mut bench, 0);
    assert_eq!(told(&mut bench), [(1001, MSS / 8)]);
    crosses(&mut bench, 1);
    assert_eq!(told(&mut bench), [(2001, 0)]);
}

/// TCP takes no window from a segment older than what it saw last. @RFC9293 section 3.10.7.4
#[test]
fn an_ack_made_here_has_the_number_that_the_other_end_writes_next() {
    let mut bench = sender(&[]);
    // The other end's data 1 to 600 is on its way still; what came was beyond it.
    bench.pass(Place::ToHost, far(segment(IN, Flags::ACK, Seq(601), 500, Seq(1), WINDOW)));
    crosses(&mut bench, 0);
    let numbers = |bench: &mut Bench| {
        bench.take_injected().into_iter().map(|(ack, _)| ack.tcp().unwrap().seq.0).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&mut bench), [1101]);
    // A probe of TCP's window, beyond its edge: an ACK from there would not be taken.
    bench.pass(Place::ToHost, far(segment(IN, Flags::ACK, Seq(1) + ROOM, 1, Seq(1), WINDOW)));
    crosses(&mut bench, 1);
    assert_eq!(numbers(&mut bench), [1]);
}

#[test]
fn what_was_taken_for_a_probe_is_kept_when_tcp_sends_it_again() {
    let mut bench = sender(&[("buffer", Value::Int(1))]);
    crosses(&mut bench, 0);
    assert_eq!(told(&mut bench), [(1001, 0)]);
    // A whole segment against a closed window is consumed like a probe, and TCP goes on behind it once the window opens.
    assert_eq!(bench.pass(Place::FromHost, nth(1)), None);
    waits_for(&mut bench, 1);
    crosses(&mut bench, 2);
    // It has gone back for the hole.
    crosses(&mut bench, 1);
    told(&mut bench);
    for _ in 0..3 {
        waits_for(&mut bench, 1);
    }
    assert_eq!(repeated(&mut bench), [1]);
}

#[test]
fn what_a_hop_further_on_loses_is_repeated_from_here_and_tcp_hears_nothing() {
    let mut bench = sender(&[]);
    (0..6).for_each(|n| crosses(&mut bench, n));
    told(&mut bench);
    // Segments 1 and 3 are lost beyond the first hop.
    assert_eq!(waits_for(&mut bench, 1), None);
    for _ in 0..3 {
        assert_eq!(waits_for(&mut bench, 1), None);
    }
    assert_eq!(repeated(&mut bench), [1]);
    // A partial ACK: the next hole, at once.
    assert_eq!(waits_for(&mut bench, 3), None);
    assert_eq!(repeated(&mut bench), [3]);
    assert_eq!(waits_for(&mut bench, 6), None);
    assert_eq!((repeated(&mut bench), bench.counter("repeated")), (vec![], 2));
    assert_eq!(bench.next_wakeup(), SimTime::NEVER, "nothing is left to repeat");
}

#[test]
fn without_an_answer_the_first_copy_is_repeated_ever_more_rarely_and_then_the_connection_is_reset() {
    let mut bench = sender(&[("max_timeouts", Value::Int(3))]);
    crosses(&mut bench, 0);
    crosses(&mut bench, 1);
    told(&mut bench);
    let began = SimTime::from_ns(1_001_000_000);
    // Before the first sample a second, then twice that. @RFC6298
    for at_ms in [1_000, 3_000, 7_000] {
        assert!(bench.next_timer());
        assert_eq!((bench.now, repeated(&mut bench)), (began + Dur::from_ms(at_ms), vec![0]));
    }
    assert!(bench.next_timer());
    let [(reset, Toward::Host)] = &bench.take_injected()[..] else { panic!("a reset") };
    let tcp = reset.tcp().unwrap();
    assert!(tcp.flags.has(Flags::RST) && (tcp.seq, tcp.ack) == (Seq(1), Seq(2001)));
    assert_eq!((bench.counter("resets"), bench.next_wakeup()), (1, SimTime::NEVER));
}

#[test]
fn the_timeout_follows_round_trips_from_end_to_end() {
    let mut bench = sender(&[("min_timeout", Value::Time(Dur::from_ms(1)))]);
    crosses(&mut bench, 0);
    bench.now += Dur::from_ms(99);
    waits_for(&mut bench, 1);
    // A sample of 100 ms: 100 + 4 * 50.
    crosses(&mut bench, 1);
    assert_eq!(bench.next_wakeup() - bench.now, Dur::from_ms(300));
}

#[test]
fn a_loss_on_the_first_hop_is_three_duplicates_once_in_a_run() {
    let mut bench = sender(&[]);
    crosses(&mut bench, 0);
    told(&mut bench);
    assert_eq!(bench.pass(Place::FromHost, nth(1)), Some(nth(1)));
    bench.report(&nth(1), Fate::GivenUp);
    bench.report(&nth(1), Fate::GivenUp);
    assert_eq!(told(&mut bench), [(1001, MSS); 3]);
    // TCP repeats it; it crosses.
    crosses(&mut bench, 1);
    assert_eq!(told(&mut bench), [(2001, MSS)]);
    bench.pass(Place::FromHost, nth(2));
    bench.report(&nth(2), Fate::GivenUp);
    assert_eq!(told(&mut bench), [(2001, MSS); 3]);
}

#[test]
fn a_probe_that_grows_to_a_segment_is_kept_whole() {
    let mut bench = sender(&[]);
    let probe = far(data(OUT, 1..2));
    bench.pass(Place::FromHost, probe);
    crosses(&mut bench, 0);
    (1..5).for_each(|n| crosses(&mut bench, n));
    told(&mut bench);
    for _ in 0..4 {
        bench.pass(Place::ToHost, far(ack(IN, 1, WINDOW)));
    }
    let again = bench.take_injected();
    let lengths: Vec<_> = again.iter().map(|(packet, _)| packet.payload.len).collect();
    assert_eq!(lengths, [1000]);
}

#[test]
fn a_repetition_says_what_tcp_said_last() {
    let mut bench = sender(&[]);
    let stamped = |mut packet: Packet, tsval: u32, ack: u32| {
        let tcp = packet.tcp_mut().unwrap();
        tcp.options.push_timestamps(tsval, 1);
        tcp.ack = Seq(ack);
        packet
    };
    bench.pass(Place::FromHost, stamped(nth(0), 100, 1));
    bench.pass(Place::FromHost, stamped(far(ack(OUT, 501, WINDOW)), 250, 501));
    assert!(bench.next_timer());
    let again = bench.take_injected();
    let tcp = again[0].0.tcp().unwrap();
    assert_eq!((tcp.seq, tcp.ack, tcp.options.timestamps().unwrap().0), (Seq(1), Seq(501), 250));
}

#[test]
fn data_the_other_way_passes_and_says_what_tcp_knows() {
    let mut bench = sender(&[]);
    crosses(&mut bench, 0);
    crosses(&mut bench, 1);
    told(&mut bench);
    let reverse = far(segment(IN, Flags::ACK, Seq(1), 500, Seq(1001), WINDOW));
    let seen = bench.pass(Place::ToHost, reverse).unwrap();
    assert_eq!((seen.tcp().unwrap().ack, seen.tcp().unwrap().window), (Seq(2001), MSS));
}

#[test]
fn the_end_of_a_connection_passes_and_frees_its_copies() {
    let mut bench = sender(&[]);
    crosses(&mut bench, 0);
    told(&mut bench);
    let fin = far(segment(OUT, Flags::FIN | Flags::ACK, Seq(1001), 0, Seq(1), WINDOW));
    assert_eq!(bench.pass(Place::FromHost, fin.clone()), Some(fin.clone()));
    bench.report(&fin, Fate::Delivered);
    assert_eq!(told(&mut bench), [], "only the other end acknowledges a FIN");
    let last = far(ack(IN, 1002, WINDOW));
    assert_eq!(bench.pass(Place::ToHost, last.clone()), Some(last));
    assert_eq!(bench.next_wakeup(), SimTime::NEVER);
}

#[test]
fn where_the_next_hop_is_the_end_nothing_is_done() {
    let mut bench = sender(&[]);
    let syn = segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), WINDOW);
    assert_eq!(syn.ip.dst, testing::address(THERE));
    assert!(bench.pass(Place::FromHost, syn).is_some());
    let packet = data(OUT, 1..1001);
    assert_eq!(bench.pass(Place::FromHost, packet.clone()), Some(packet.clone()));
    bench.report(&packet, Fate::Delivered);
    assert_eq!(told(&mut bench), []);
    assert!(matches!(packet.l4, L4::Tcp(_)));
}
