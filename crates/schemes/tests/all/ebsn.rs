//! EBSN on a bench: which failures the source is told of, and what it does when it is told.
//!
//! The base station has address 10.0.0.9; the bench's packets run between 10.0.0.1 (data on `OUT`) and 10.0.0.2 (`IN`).

use mac::Fate;
use schemes::testing::{Bench, HERE, IN, OUT, ack, bench, data, node, segment};
use schemes::{NodeFacts, Params, Place, Signal, Toward, Value};
use std::net::Ipv4Addr;
use tcp::{Config, Connection, Input, SenderCommand};
use units::{Dur, FlowId, SimTime};
use wire::{Flags, NoticeKind, Packet, Payload, Seq, Tcp};

const STATION: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

fn at(node: NodeFacts<'static>, min_interval: Dur) -> Option<Bench> {
    let defaults = Params::defaults(schemes::ebsn::INFO.params);
    assert_eq!(defaults.time("min_interval"), Dur::ZERO, "the paper's rule");
    bench("ebsn", node, &[("min_interval", Value::Time(min_interval))])
}

fn station(min_interval: Dur) -> Bench {
    let relay = NodeFacts { forwards: true, starts_flows: false, ends_flows: false, ..node(HERE, 3) };
    at(NodeFacts { address: STATION, ..relay }, min_interval).unwrap()
}

/// A source with a connection of its own, the one of `OUT`.
fn source() -> Bench {
    let mut bench = at(node(HERE, 3), Dur::ZERO).unwrap();
    bench.set_facts(OUT, Connection::listen(Config::default(), 1, 2).facts());
    bench
}

fn notice(kind: NoticeKind, code: u8) -> Packet {
    data(OUT, 1..1001).notice_of(STATION, kind, code).unwrap()
}

#[test]
fn each_failed_attempt_of_data_is_told_to_its_source() {
    let mut bench = station(Dur::ZERO);
    for packet in [data(OUT, 1001..2001), data(IN, 1..501)] {
        for _ in 0..2 {
            bench.report(&packet, Fate::Attempt);
        }
        let told = bench.take_injected();
        assert_eq!(told.len(), 2);
        for (notice, toward) in told {
            assert_eq!(toward, Toward::Route);
            assert_eq!((notice.ip.src, notice.ip.dst), (STATION, packet.ip.src));
            assert_eq!(notice.flow, packet.flow.reverse(), "it runs against the data");
            let quote = notice.notice().unwrap().quote;
            let tcp = packet.tcp().unwrap();
            assert_eq!((quote.seq, quote.src_port, quote.dst_port), (tcp.seq, tcp.src_port, tcp.dst_port));
            assert_eq!(notice.ip_len().0, 56, "IP 20, ICMP 8, the quoted header 20 and 8 bytes");
        }
    }
    assert_eq!(bench.counter("notices"), 4);
}

#[test]
fn nothing_else_is_told() {
    let mut bench = station(Dur::ZERO);
    let packet = data(OUT, 1..1001);
    for fate in [Fate::Delivered, Fate::GivenUp, Fate::QueueFull, Fate::Expired] {
        bench.report(&packet, fate);
    }
    bench.report(&ack(OUT, 1, 65_535), Fate::Attempt);
    bench.report(&segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), 65_535), Fate::Attempt);
    bench.report(&notice(NoticeKind::Experiment1, 0), Fate::Attempt);
    let mut own = packet;
    own.ip.src = STATION;
    bench.report(&own, Fate::Attempt);
    assert_eq!(bench.take_injected(), []);
}

#[test]
fn notices_of_a_flow_can_be_spaced() {
    let mut bench = station(Dur::from_ms(10));
    let mut told = |ms: u64, flow: FlowId| {
        bench.now = SimTime::ZERO + Dur::from_ms(ms);
        bench.report(&data(flow, 1..1001), Fate::Attempt);
        bench.take_injected().len()
    };
    let got = [0, 4, 9, 10, 19, 20].map(|ms| told(ms, OUT));
    assert_eq!(got, [1, 0, 0, 1, 0, 1], "counted from the last one sent, not from the last failure");
    assert_eq!(told(21, IN), 1, "another flow");
}

#[test]
fn a_notice_rearms_the_timer_of_its_flow_and_goes_no_further() {
    let mut bench = source();
    assert_eq!(bench.pass(Place::ToHost, notice(NoticeKind::Experiment1, 0)), None);
    assert_eq!(bench.commands, [(OUT, SenderCommand::RearmRto)]);
    assert_eq!(bench.held(), 0);
}

#[test]
fn what_is_no_notice_of_a_flow_of_this_host_is_left_alone() {
    let mut bench = source();
    for packet in [
        notice(NoticeKind::Experiment1, 1),
        notice(NoticeKind::Experiment2, 0),
        notice(NoticeKind::Unreachable, 0),
        notice(NoticeKind::SourceQuench, 0),
        data(FlowId(4), 1..1001).notice_of(STATION, NoticeKind::Experiment1, 0).unwrap(),
        ack(IN, 1001, 65_535),
    ] {
        assert_eq!(bench.pass(Place::ToHost, packet.clone()), Some(packet));
    }
    assert_eq!(bench.commands, []);
}

#[test]
fn it_sits_where_there_is_something_to_tell_or_to_heed() {
    let node = NodeFacts { starts_flows: false, ends_flows: false, ..node(HERE, 3) };
    let roles = |node: NodeFacts<'static>| {
        let claims = at(node, Dur::ZERO)?.claims();
        Some((claims.reads(Signal::TxAttempt), claims.sits_at(Place::ToHost)))
    };
    assert_eq!(roles(node), None);
    assert_eq!(roles(NodeFacts { forwards: true, has_air: false, ..node }), None);
    assert_eq!(roles(NodeFacts { forwards: true, ..node }), Some((true, false)));
    assert_eq!(roles(NodeFacts { starts_flows: true, has_air: false, ..node }), Some((false, true)));
    assert_eq!(roles(NodeFacts { forwards: true, ends_flows: true, ..node }), Some((true, true)));
}

#[test]
fn a_real_sender_does_not_time_out_while_it_is_told() {
    // A SYN that takes 100 ms gives an RTO of 300 ms (@RFC6298 sec. 2.2: R + 4 R/2), so 200 ms between notices will do.
    let timeouts = |told: bool| {
        let config = Config { min_rto: Dur::from_ms(200), ..Config::default() };
        let mut sender = Connection::open(config, 1, 2);
        let ms = |ms: u64| SimTime::ZERO + Dur::from_ms(ms);
        let quiet = |sender: &mut Connection, now| while sender.poll(now).is_some() {};
        quiet(&mut sender, ms(0));
        let syn_ack = Tcp { flags: Flags::SYN | Flags::ACK, ack: Seq(1), window: 65_535, ..Tcp::default() };
        sender.handle(ms(100), Input::Segment { tcp: &syn_ack, payload: &Payload::EMPTY, ce: false });
        sender.handle(ms(100), Input::Write(1000));
        quiet(&mut sender, ms(100));
        let mut bench = source();
        for now in (1..=10).map(|i| ms(100 + 200 * i)) {
            if sender.next_wakeup() <= now {
                sender.handle(now, Input::Timer);
            }
            if told {
                bench.pass(Place::ToHost, notice(NoticeKind::Experiment1, 0));
            }
            for (_, command) in std::mem::take(&mut bench.commands) {
                sender.handle(now, Input::Command(command));
            }
            quiet(&mut sender, now);
        }
        sender.counters().timeouts
    };
    // Untold, at 400 ms (seen at 500), 600 ms later (1100) and 1200 ms later (2300, after the end).
    assert_eq!((timeouts(true), timeouts(false)), (0, 2));
}
