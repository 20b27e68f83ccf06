//! LLE-TCP on a bench, rule by rule: the ACKs that stay off the air, those made in their place, and a real TCP behind them.
//!
//! HERE is the receiving station in `suppressed` and `held` (data on `IN`, its host's ACKs on `OUT`) and the sending one in the
//! others (data on `OUT`). Numbers: each side's SYN has number 0, so data begins at 1.

use mac::{Fate, TxReport};
use schemes::testing::{self, Bench, HERE, IN, OUT, THERE, ack, data, node, segment};
use schemes::{Capability, NodeFacts, PeerEvent, Place, Toward, Value};
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{Flags, Packet, Seq, SeqRange, TcpOptions};

mod failure;
mod held;
mod rhythm;
mod success;
mod suppressed;

const SYN_ACK: Flags = Flags(Flags::SYN.0 | Flags::ACK.0);
const FIN_ACK: Flags = Flags(Flags::FIN.0 | Flags::ACK.0);
const WINDOW: u16 = 65_535;

/// A station with LLE-TCP and these parameters, whose receivers follow `receiver`; without a partner yet.
fn alone(params: &[(&str, &'static str)], receiver: Option<&'static str>) -> Bench {
    let set: Vec<(&str, Value)> = params.iter().map(|(key, word)| (*key, Value::Choice(word))).collect();
    testing::bench("lle-tcp", NodeFacts { receiver, ..node(HERE, 3) }, &set).unwrap()
}

/// The same with a partner that announces what it announces itself.
fn paired(params: &[(&str, &'static str)]) -> Bench {
    let mut bench = alone(params, None);
    bench.pair();
    bench
}

/// A packet of the host on its way to the radio.
fn out(bench: &mut Bench, packet: Packet) -> Option<Packet> {
    let packet = bench.pass(Place::FromHost, packet)?;
    bench.pass(Place::ToAir, packet)
}

fn syn(flow: FlowId) -> Packet {
    segment(flow, Flags::SYN, Seq(0), 0, Seq(0), WINDOW)
}

fn syn_ack(flow: FlowId) -> Packet {
    segment(flow, SYN_ACK, Seq(0), 0, Seq(1), WINDOW)
}

fn with_options(mut packet: Packet, set: impl FnOnce(&mut TcpOptions)) -> Packet {
    set(&mut packet.tcp_mut().unwrap().options);
    packet
}

fn stamped(packet: Packet, tsval: u32, tsecr: u32) -> Packet {
    with_options(packet, |options| assert!(options.push_timestamps(tsval, tsecr)))
}

/// A receiving station: the peer has opened, the handshake is done and its window confirmed by the MAC.
fn receiver() -> Bench {
    let mut bench = paired(&[("strategy", "every")]);
    bench.pass(Place::FromAir, syn(IN)).unwrap();
    bench.send(syn_ack(OUT), Fate::Delivered);
    bench.take_injected(); // the third ACK, made in the peer's name
    bench.pass(Place::FromAir, ack(IN, 1, WINDOW)).unwrap();
    bench
}

/// A sending station that opened `flow`.
fn open(bench: &mut Bench, flow: FlowId) {
    bench.send(syn(flow), Fate::Delivered);
    bench.pass(Place::FromAir, syn_ack(flow.reverse())).unwrap();
}

fn sender_with(params: &[(&str, &'static str)]) -> Bench {
    let mut bench = paired(params);
    open(&mut bench, OUT);
    bench
}

fn sender() -> Bench {
    sender_with(&[("strategy", "every")])
}

/// A pure ACK as an agent makes it: without payload there is no place in the stream.
fn bare(packet: Packet) -> Packet {
    Packet { payload: wire::Payload::EMPTY, ..packet }
}

/// The numbers of the ACKs made since the last look, all of them towards the host.
fn made(bench: &mut Bench) -> Vec<u32> {
    let injected = bench.take_injected();
    let number = |(packet, toward): &(Packet, Toward)| {
        assert_eq!(*toward, Toward::Route);
        packet.pure_ack().unwrap().ack.0
    };
    injected.iter().map(number).collect()
}

/// Segment `i` of `flow`, 1000 B each.
fn nth(flow: FlowId, i: u32) -> Packet {
    data(flow, 1 + i * 1000..1001 + i * 1000)
}

// Reverse data.

#[test]
fn a_stale_piggybacked_ack_is_raised_and_with_clear_its_flag_is_cleared() {
    for (setting, expected) in [("raise", (Flags::ACK, Seq(2001))), ("clear", (Flags(0), Seq(1)))] {
        let mut bench = sender_with(&[("strategy", "every"), ("stale_piggyback", setting)]);
        bench.send(nth(OUT, 0), Fate::Delivered);
        bench.send(nth(OUT, 1), Fate::Delivered);
        // Written by a host that had not seen either.
        let sent = segment(IN, Flags::ACK, Seq(1), 500, Seq(1), WINDOW);
        let got = bench.pass(Place::FromAir, sent.clone()).unwrap();
        let tcp = got.tcp().unwrap();
        assert_eq!((tcp.flags, tcp.ack), expected, "{setting}");
        assert_eq!((tcp.seq, &got.payload, got.ip), (Seq(1), &sent.payload, sent.ip));
        assert_eq!(bench.counter("stale_piggybacks"), 1);
        // One that is up to date is nobody's business.
        let fresh = segment(IN, Flags::ACK, Seq(501), 500, Seq(2001), WINDOW);
        assert_eq!(bench.pass(Place::FromAir, fresh.clone()), Some(fresh), "{setting}");
        assert_eq!(bench.counter("stale_piggybacks"), 1);
    }
}

#[test]
fn a_late_pure_ack_passes_as_it_is_unless_it_brings_a_window() {
    for setting in ["raise", "clear"] {
        let mut bench = sender_with(&[("strategy", "every"), ("stale_piggyback", setting)]);
        bench.send(nth(OUT, 0), Fate::Delivered);
        let late = ack(IN, 1, WINDOW);
        assert_eq!(bench.pass(Place::FromAir, late.clone()), Some(late));
        let closes = bench.pass(Place::FromAir, ack(IN, 1, 0));
        assert_eq!(closes, Some(ack(IN, 1001, 0)), "TCP would ignore the window of an old number");
        assert_eq!(bench.counter("stale_piggybacks"), 0);
    }
}

/// Hands everything one end has to say to the other, and back, until both are silent.
fn settle(now: SimTime, ends: &mut [tcp::Connection; 2]) {
    loop {
        let mut said = false;
        for from in 0..2 {
            while let Some(output) = ends[from].poll(now) {
                if let tcp::Output::Segment { tcp, payload, .. } = output {
                    said = true;
                    ends[1 - from].handle(now, tcp::Input::Segment { tcp: &tcp, payload: &payload, ce: false });
                }
            }
        }
        if !said {
            return;
        }
    }
}

/// The reason for the default `raise`: the MAC has acknowledged the segment, so nobody sends it again.
#[test]
fn a_real_tcp_discards_a_segment_whose_ack_flag_was_cleared_and_takes_one_whose_number_was_raised() {
    for (setting, delivered, discarded) in [("raise", 500, 0), ("clear", 0, 1)] {
        let config = tcp::Config::default();
        let mut ends =
            [tcp::Connection::open(config.clone(), 40_000, 5_000), tcp::Connection::listen(config, 5_000, 40_000)];
        let now = SimTime::from_ns(1_000_000);
        settle(now, &mut ends);
        assert!(ends.iter().all(|end| end.state() == tcp::State::Established));
        // Two segments arrive and are acknowledged by the generator, while their receiver, with data of its own, has not
        // seen them.
        let mut bench = sender_with(&[("strategy", "every"), ("stale_piggyback", setting)]);
        ends[0].handle(now, tcp::Input::Write(2 * 1460));
        while let Some(output) = ends[0].poll(now) {
            let tcp::Output::Segment { tcp, payload, .. } = output else { continue };
            bench.send(Packet { l4: wire::L4::Tcp(tcp), payload, ..nth(OUT, 0) }, Fate::Delivered);
        }
        for (made, _) in bench.take_injected() {
            ends[0].handle(now, tcp::Input::Segment { tcp: made.tcp().unwrap(), payload: &made.payload, ce: false });
        }
        assert_eq!(ends[0].acknowledged(), 2 * 1460);
        ends[1].handle(now, tcp::Input::Write(500));
        let Some(tcp::Output::Segment { tcp, payload, .. }) = ends[1].poll(now) else { panic!("nothing sent") };
        assert_eq!((tcp.ack, payload.len), (Seq(1), 500), "stale");
        let got = bench.pass(Place::FromAir, Packet { l4: wire::L4::Tcp(tcp), payload, ..nth(IN, 0) }).unwrap();
        ends[0].handle(now, tcp::Input::Segment { tcp: got.tcp().unwrap(), payload: &got.payload, ce: false });
        let counters = ends[0].counters();
        // @RFC9293 sec. 3.10.7.4, fifth: "if the ACK bit is off, drop the segment".
        assert_eq!((counters.delivered_bytes, counters.segments_discarded), (delivered, discarded), "{setting}");
    }
}

// The stations that take part.

#[test]
fn without_a_partner_nothing_is_touched() {
    let other = [Capability { scheme: "snoop", detail: 1 }];
    let mut of_another_scheme = alone(&[], None);
    of_another_scheme.peer(THERE, PeerEvent::Up(&other));
    let mut gone = paired(&[]);
    gone.peer(THERE, PeerEvent::Down);
    for mut bench in [alone(&[], None), of_another_scheme, gone] {
        let offer = with_options(syn(OUT), |options| assert!(options.push_sack_permitted()));
        assert_eq!(out(&mut bench, offer.clone()), Some(offer));
        let answer = with_options(syn_ack(IN), |options| assert!(options.push_sack_permitted()));
        assert_eq!(bench.pass(Place::FromAir, answer.clone()), Some(answer));
        for i in 0..3 {
            bench.send(nth(OUT, i), if i == 1 { Fate::GivenUp } else { Fate::Delivered });
            assert_eq!(bench.pass(Place::FromAir, nth(IN, i)), Some(nth(IN, i)));
            let own = ack(OUT, 1001 + 1000 * i, WINDOW);
            assert_eq!(out(&mut bench, own.clone()), Some(own));
        }
        assert_eq!((made(&mut bench), bench.next_timer(), bench.held()), (vec![], false, 0));
        for counter in ["acks_made", "dup_acks_made", "segments_delivered", "acks_suppressed", "acks_passed"] {
            assert_eq!(bench.counter(counter), 0, "{counter}");
        }
    }
}

#[test]
fn several_flows_are_kept_apart() {
    let mut bench = paired(&[("strategy", "delayed-ack")]);
    let flows = [FlowId(0), FlowId(2), FlowId(4)];
    for flow in flows {
        open(&mut bench, flow);
    }
    // A delayed ACK each, one run of losses, and one window.
    bench.send(nth(flows[0], 0), Fate::Delivered);
    bench.now = SimTime::from_ns(1_000_000);
    bench.send(nth(flows[1], 0), Fate::Delivered);
    bench.send(nth(flows[2], 0), Fate::GivenUp);
    bench.pass(Place::FromAir, ack(flows[1].reverse(), 1, 9_000)).unwrap();
    let said = |bench: &mut Bench| -> Vec<(FlowId, u32, u16)> {
        let all = bench.take_injected();
        all.iter().map(|(p, _)| (p.flow, p.tcp().unwrap().ack.0, p.tcp().unwrap().window)).collect()
    };
    assert_eq!(said(&mut bench), [(flows[2].reverse(), 1, WINDOW); 3]);
    assert!(bench.next_timer());
    assert_eq!(said(&mut bench), [(flows[0].reverse(), 1001, WINDOW)]);
    assert!(bench.next_timer());
    assert_eq!(said(&mut bench), [(flows[1].reverse(), 1001, 9_000)]);
    // And in the other half: one flow's ACK is no duplicate of another's.
    let mut bench = receiver();
    bench.pass(Place::FromAir, syn(FlowId(3))).unwrap();
    bench.send(syn_ack(FlowId(2)), Fate::Delivered);
    for (flow, number) in [(OUT, 1001), (FlowId(2), 1001), (OUT, 2001), (FlowId(2), 2001)] {
        bench.pass(Place::FromAir, data(flow.reverse(), number - 1000..number)).unwrap();
        assert!(out(&mut bench, ack(flow, number, WINDOW)).is_none(), "{flow:?} {number}");
    }
}

#[test]
fn sack_permitted_is_taken_out_of_syns_both_ways_unless_kept() {
    let offer = |packet: Packet| {
        with_options(packet, |options| {
            assert!(options.push_mss(1460) && options.push_sack_permitted() && options.push_window_scale(3));
        })
    };
    for (setting, stays) in [("strip", false), ("keep", true), ("make", true)] {
        let mut bench = paired(&[("sack", setting)]);
        let sent = out(&mut bench, offer(syn(OUT))).unwrap();
        let heard = bench.pass(Place::FromAir, offer(syn_ack(IN))).unwrap();
        for packet in [sent, heard] {
            let options = packet.tcp().unwrap().options;
            assert_eq!(options.sack_permitted(), stays, "{setting}");
            assert_eq!((options.mss(), options.window_scale(), options.len()), (Some(1460), Some(3), 12));
        }
    }
}

#[test]
fn acks_made_beyond_a_hole_have_blocks_where_that_is_asked_and_both_ends_permit_sack() {
    let offer = |packet: Packet| with_options(packet, |options| assert!(options.push_sack_permitted()));
    let block = |from: u32, segments: u32| SeqRange::new(nth(OUT, from).tcp().unwrap().seq, segments * 1000);
    for (setting, receiver_permits, is_told) in
        [("make", true, true), ("make", false, false), ("keep", true, false), ("strip", true, false)]
    {
        let mut bench = paired(&[("sack", setting), ("strategy", "every")]);
        out(&mut bench, offer(syn(OUT)));
        bench.pass(Place::FromAir, if receiver_permits { offer(syn_ack(IN)) } else { syn_ack(IN) });
        out(&mut bench, ack(OUT, 1, WINDOW));
        bench.pass(Place::FromAir, ack(IN, 1, WINDOW));
        bench.take_injected();
        let mut told = Vec::new();
        // Segment 0 is lost, then 2; 1, 3 and 5 arrive, 3 twice; then 0 does, and 2.
        for n in [1, 3, 5, 3, 0, 2] {
            bench.send(nth(OUT, n), Fate::Delivered);
            told.extend(bench.take_injected().into_iter().map(|(made, _)| {
                let tcp = made.tcp().unwrap();
                (tcp.ack, tcp.options.sack_blocks().collect::<Vec<_>>())
            }));
        }
        let (one, three) = (nth(OUT, 1).tcp().unwrap().seq + 1000, nth(OUT, 3).tcp().unwrap().seq + 1000);
        let (first, third, fifth) = (block(1, 1), block(3, 1), block(5, 1));
        let start = nth(OUT, 0).tcp().unwrap().seq;
        let expected = if is_told {
            vec![
                (start, vec![first]),
                (start, vec![third, first]),
                (start, vec![fifth, third, first]),
                (one, vec![third, fifth]), // what came last is told first, @RFC2018 sec. 4
                (three, vec![fifth]),
            ]
        } else {
            vec![(one, vec![]), (three, vec![])]
        };
        assert_eq!(told, expected, "{setting}");
        assert_eq!(bench.counter("sacks_made"), if is_told { 3 } else { 0 });
    }
}

// Data that the receiving host does not admit.

/// A packet as the other end sees it: what leaves here arrives there.
fn across(packet: Packet) -> Packet {
    let ip = wire::Ipv4 { src: packet.ip.dst, dst: packet.ip.src, ..packet.ip };
    Packet { ip, flow: packet.flow.reverse(), ..packet }
}

#[test]
fn what_one_half_makes_the_other_keeps_back_and_the_rest_crosses_the_air() {
    // Generator and filter of one flow on two benches, a real TCP behind the second, segments of many sizes.
    let (mut here, mut there) = (sender(), receiver());
    let config = tcp::Config { ack_policy: tcp::ack::find("every").unwrap(), ..tcp::Config::default() };
    let mut host = tcp::Connection::listen(config, 5_000, 40_000);
    let now = SimTime::ZERO + Dur::from_ms(1);
    let mut tell = |packet: &Packet| -> Vec<Packet> {
        host.handle(now, tcp::Input::Segment { tcp: packet.tcp().unwrap(), payload: &packet.payload, ce: false });
        let mut said = Vec::new();
        while let Some(output) = host.poll(now) {
            match output {
                tcp::Output::Segment { tcp, payload, .. } => {
                    said.push(Packet { l4: wire::L4::Tcp(tcp), payload, ..nth(OUT, 0) });
                }
                tcp::Output::Readable { len, .. } => host.handle(now, tcp::Input::Read(u64::from(len))),
                _ => {}
            }
        }
        said
    };
    tell(&syn(IN));
    tell(&ack(IN, 1, WINDOW));
    let (mut at, mut crossed) = (1, 0);
    for len in [1, 1460, 3, 700, 1460, 1460, 2] {
        let sent = segment(OUT, Flags::ACK, Seq(at), len, Seq(1), WINDOW);
        let payload = wire::Payload::stream(u64::from(at) - 1, len);
        let arrived = there.pass(Place::FromAir, across(Packet { payload, ..sent.clone() })).unwrap();
        here.send(sent, Fate::Delivered);
        at += len;
        let [own] = tell(&arrived).try_into().unwrap();
        let [(made, _)] = here.take_injected().try_into().unwrap();
        let (made, written) = (made.tcp().unwrap(), *own.tcp().unwrap());
        assert_eq!((made.ack, written.ack), (Seq(at), Seq(at)));
        // Silly-window avoidance keeps the edge where it is for small segments: the window differs by what they were.
        match out(&mut there, own) {
            None => assert_eq!(made.window, written.window, "{at}"),
            Some(own) => {
                assert_ne!(made.window, written.window, "{at}");
                there.report(&own, Fate::Delivered);
                here.pass(Place::FromAir, across(own)).unwrap();
                crossed += 1;
            }
        }
    }
    assert_eq!((here.counter("acks_made"), there.counter("acks_suppressed") + crossed), (7, 7));
    assert!(crossed > 0 && crossed < 7);
}
