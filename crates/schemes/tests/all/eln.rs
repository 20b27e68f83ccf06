//! ELN on a bench: which ACKs are marked and which are not, and what a sender makes of a mark.
//!
//! HERE is the base station and its radio neighbour the mobile, whose data is `IN`; `OUT` is data towards it. A segment
//! has 1000 B; its first byte has number 1.

use mac::Fate;
use schemes::testing::{Bench, Ground, HERE, IN, OUT, ack, bench, data, heard, node, scheme, segment};
use schemes::{NodeFacts, Place, Port, Value};
use tcp::{Ack, Config, Connection, FlowFacts, Input, Loss, Output, SenderHook};
use units::{Bytes, Dur, FlowId, SimTime};
use wire::{Flags, Packet, Payload, Seq, SeqRange, Tcp};

const WINDOW: u16 = 65_535;

/// A base station that forwards and has no flow of its own.
fn station_with(params: &[(&str, Value)]) -> Bench {
    let node = NodeFacts { forwards: true, starts_flows: false, ends_flows: false, ..node(HERE, 3) };
    bench("eln", node, params).unwrap()
}

fn station() -> Bench {
    station_with(&[])
}

/// The mobile's segments of these numbers come in, each of which must pass as it is.
fn comes_in(bench: &mut Bench, ranges: &[(u32, u32)]) {
    for &(start, end) in ranges {
        let packet = data(IN, start..end);
        assert_eq!(bench.pass(Place::FromAir, packet.clone()), Some(packet));
    }
}

/// True if a packet comes out marked. Nothing else of it may change.
fn is_marked(bench: &mut Bench, at: Place, packet: &Packet) -> bool {
    let passed = bench.pass(at, packet.clone()).unwrap();
    let flags = passed.tcp().unwrap().flags;
    let mut unmarked = passed;
    unmarked.tcp_mut().unwrap().flags = flags.without(Flags::LOSS_NOTICE);
    assert_eq!(unmarked, *packet);
    flags.has(Flags::LOSS_NOTICE)
}

/// The ACK of the mobile's data, on its way to the mobile.
fn marked_up(bench: &mut Bench, number: u32) -> bool {
    is_marked(bench, Place::ToAir, &ack(OUT, number, WINDOW))
}

/// The mobile's ACK of data towards it.
fn marked_down(bench: &mut Bench, number: u32) -> bool {
    is_marked(bench, Place::FromAir, &ack(IN, number, WINDOW))
}

#[test]
fn what_is_missing_in_what_comes_from_the_mobile_marks_the_acks_that_wait_for_it() {
    let mut bench = station();
    comes_in(&mut bench, &[(1, 1001), (2001, 3001), (4001, 5001)]); // 1001 and 3001 are missing
    assert_eq!(bench.counter("uplink_losses"), 2);
    assert!(!marked_up(&mut bench, 1), "the first has come in");
    assert!(marked_up(&mut bench, 1001), "the first ACK that waits for it");
    assert!(marked_up(&mut bench, 1001), "and a duplicate");
    assert!(marked_up(&mut bench, 1501), "a part of it is still missing");
    assert!(!marked_up(&mut bench, 2001));
    assert!(marked_up(&mut bench, 3001), "a partial ACK tells of the second loss");
    assert!(!marked_up(&mut bench, 5001));
    assert_eq!(bench.counter("acks_marked"), 4);
}

#[test]
fn a_duplicate_ack_is_marked_only_for_a_radio_loss() {
    for (fate, expected) in [
        (Fate::GivenUp, true),
        (Fate::QueueFull, false),
        (Fate::Expired, false),
        (Fate::Attempt, false),
        (Fate::Delivered, false),
    ] {
        let mut bench = station();
        bench.send(data(OUT, 1..1001), Fate::Delivered);
        bench.send(data(OUT, 1001..2001), fate);
        bench.send(data(OUT, 2001..3001), Fate::Delivered);
        assert_eq!(marked_down(&mut bench, 1001), expected, "{fate:?}");
        assert_eq!(marked_down(&mut bench, 1001), expected, "{fate:?}");
        assert!(!marked_down(&mut bench, 3001), "{fate:?}");
    }
}

#[test]
fn what_is_acknowledged_is_forgotten() {
    let mut bench = station();
    comes_in(&mut bench, &[(1, 1001), (2001, 3001)]);
    bench.send(data(OUT, 1..1001), Fate::GivenUp); // and yet it arrived: only the MAC's ACK was lost
    assert!(!marked_up(&mut bench, 3001) && !marked_down(&mut bench, 1001));
    assert!(!marked_up(&mut bench, 1001) && !marked_down(&mut bench, 1), "ACKs that have been overtaken");
}

#[test]
fn what_the_wire_has_lost_is_no_radio_loss() {
    // Data towards the mobile arrives here with a gap already; what there is gets through.
    let mut bench = station();
    for range in [1..1001, 2001..3001] {
        let packet = bench.pass(Place::Transit, data(OUT, range)).unwrap();
        bench.send(packet, Fate::Delivered);
    }
    assert!(!marked_down(&mut bench, 1001));
}

#[test]
fn what_has_come_in_since_is_not_missing_any_more() {
    let mut bench = station();
    comes_in(&mut bench, &[(1, 1001), (3001, 4001), (1001, 2001), (4001, 5001)]);
    assert!(!marked_up(&mut bench, 1001), "repeated by the mobile: if it is missing still, the wire lost it");
    assert!(marked_up(&mut bench, 2001), "not repeated yet");
    assert!(!marked_up(&mut bench, 3001), "what is new follows the highest number, not the repetition");
}

#[test]
fn the_latest_word_on_a_number_towards_the_mobile_counts() {
    let lost_then = |fate: Fate| {
        let mut bench = station();
        bench.send(data(OUT, 1..1001), Fate::GivenUp);
        bench.send(data(OUT, 1..1001), fate);
        marked_down(&mut bench, 1)
    };
    assert!(!lost_then(Fate::Delivered));
    assert!(!lost_then(Fate::QueueFull), "its repetition met congestion");
    assert!(lost_then(Fate::GivenUp));
    assert!(lost_then(Fate::Attempt), "an attempt says nothing final");
    // Half a segment delivered leaves the other half lost.
    let mut bench = station();
    bench.send(data(OUT, 1..1001), Fate::GivenUp);
    bench.send(data(OUT, 1..501), Fate::Delivered);
    assert!(!marked_down(&mut bench, 1) && marked_down(&mut bench, 501));
}

#[test]
fn each_direction_can_be_had_alone() {
    for (direction, up, down) in [("uplink", true, false), ("downlink", false, true), ("both", true, true)] {
        let mut bench = station_with(&[("direction", Value::Choice(direction))]);
        comes_in(&mut bench, &[(1, 1001), (2001, 3001)]);
        bench.send(data(OUT, 1..1001), Fate::GivenUp);
        assert_eq!((marked_up(&mut bench, 1001), marked_down(&mut bench, 1)), (up, down), "{direction}");
    }
}

#[test]
fn an_ack_that_rides_on_data_is_marked_like_any_other() {
    let mut bench = station();
    comes_in(&mut bench, &[(1, 1001), (2001, 3001)]);
    let piggyback = segment(OUT, Flags::ACK | Flags::PSH, Seq(1), 500, Seq(1001), WINDOW);
    assert!(is_marked(&mut bench, Place::ToAir, &piggyback));
    let no_ack = segment(OUT, Flags::PSH, Seq(1), 500, Seq(1001), WINDOW);
    assert!(!is_marked(&mut bench, Place::ToAir, &no_ack), "without the ACK bit there is no number");
}

#[test]
fn flows_are_kept_apart() {
    let mut bench = station();
    comes_in(&mut bench, &[(1, 1001), (2001, 3001)]);
    assert!(!is_marked(&mut bench, Place::ToAir, &ack(FlowId(2), 1001, WINDOW)));
    // The mobile's own ACKs of the same numbers are of the other direction.
    assert!(!marked_down(&mut bench, 1001));
    assert!(marked_up(&mut bench, 1001));
}

#[test]
fn numbers_may_wrap() {
    // A gap of 1000 around zero: from 2^32 - 500 to 500.
    let mut bench = station();
    let first = segment(IN, Flags::ACK, Seq(0) - 1500, 1000, Seq(1), WINDOW);
    bench.pass(Place::FromAir, first).unwrap();
    comes_in(&mut bench, &[(500, 1500)]);
    for (number, expected) in [(Seq(0) - 501, false), (Seq(0) - 500, true), (Seq(499), true), (Seq(500), false)] {
        let ack = segment(OUT, Flags::ACK, Seq(1), 0, number, WINDOW);
        assert_eq!(is_marked(&mut bench, Place::ToAir, &ack), expected, "{number}");
    }
}

#[test]
fn another_connection_of_the_same_flow_begins_with_a_clean_slate() {
    let lost = || {
        let mut bench = station();
        comes_in(&mut bench, &[(1, 1001), (2001, 3001)]);
        bench.send(data(OUT, 1..1001), Fate::GivenUp);
        bench
    };
    let mut bench = lost();
    bench.pass(Place::FromAir, segment(IN, Flags::SYN, Seq(0), 0, Seq(0), WINDOW)).unwrap();
    bench.pass(Place::ToAir, segment(OUT, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), WINDOW)).unwrap();
    assert!(!marked_up(&mut bench, 1001) && !marked_down(&mut bench, 1));
    comes_in(&mut bench, &[(1, 1001)]); // follows the SYN: nothing is missing
    assert_eq!(bench.counter("uplink_losses"), 1);

    let mut bench = lost();
    bench.pass(Place::ToAir, segment(OUT, Flags::RST, Seq(1), 0, Seq(0), WINDOW)).unwrap();
    assert!(!marked_up(&mut bench, 1001) && !marked_down(&mut bench, 1));

    // A distance that no window allows is none between segments of one connection.
    let mut bench = lost();
    bench.pass(Place::FromAir, data(IN, 1_500_000_000..1_500_001_000)).unwrap();
    assert!(!marked_up(&mut bench, 1001));
    assert_eq!(bench.counter("uplink_losses"), 1);
}

#[test]
fn it_sits_where_there_is_something_to_mark_or_to_obey() {
    let nowhere = NodeFacts { starts_flows: false, ends_flows: false, ..node(HERE, 3) };
    let turns = |node: NodeFacts<'static>| {
        let mut ground = Ground::new(node);
        let sits = ground.install(&scheme("eln", &[])).unwrap();
        sits.then(|| [Port::TcpFlags, Port::SenderHook].map(|port| ground.stack.turns(port)))
    };
    assert_eq!(turns(nowhere), None);
    assert_eq!(turns(NodeFacts { forwards: true, has_air: false, ..nowhere }), None);
    assert_eq!(turns(NodeFacts { forwards: true, ..nowhere }), Some([true, false]));
    assert_eq!(turns(NodeFacts { ends_flows: true, ..nowhere }), Some([false, true]));
    assert_eq!(turns(NodeFacts { forwards: true, ends_flows: true, ..nowhere }), Some([true, true]));
}

/// The hook of a host's agent on its sender.
fn hook(duplicates: i64) -> Box<dyn SenderHook> {
    let mut bench = bench("eln", node(HERE, 2), &[("duplicates", Value::Int(duplicates))]).unwrap();
    bench.stack.sender_hook(OUT).unwrap()
}

/// Facts of a connection; none of them matters to this scheme.
fn facts() -> FlowFacts {
    Connection::listen(Config::default(), 1, 2).facts()
}

/// A duplicate ACK.
fn again(number: u32, flags: Flags, local: bool) -> Ack {
    Ack { prior_flight: Bytes(4000), duplicate: true, local, flags, ..heard(number, 0) }
}

#[test]
fn a_loss_is_the_radios_if_the_latest_ack_says_so_of_that_very_number() {
    let mut hook = hook(1);
    let marked = Flags::ACK | Flags::LOSS_NOTICE;
    let judge = |hook: &mut dyn SenderHook, start: u32| {
        hook.loss(Loss::Congestion, SeqRange::new(Seq(start), 1000), &facts())
    };
    assert_eq!(judge(&mut *hook, 1001), Loss::Congestion);
    hook.on_ack(&again(1001, marked, false), &facts());
    assert_eq!(judge(&mut *hook, 1001), Loss::Corruption);
    assert_eq!(judge(&mut *hook, 2001), Loss::Congestion);
    hook.on_ack(&again(1001, Flags::ACK, true), &facts());
    assert_eq!(judge(&mut *hook, 1001), Loss::Corruption, "an ACK made at this node knows nothing of the radio");
    hook.on_ack(&again(1001, Flags::ACK, false), &facts());
    assert_eq!(judge(&mut *hook, 1001), Loss::Congestion, "no longer marked: the wire has lost the repetition");
}

#[test]
fn a_marked_duplicate_counts_for_more_but_never_for_less() {
    for (duplicates, configured, expected) in [(1, 3, 1), (2, 3, 2), (3, 3, 3), (3, 2, 2)] {
        let mut hook = hook(duplicates);
        assert_eq!(hook.dup_ack_threshold(configured, &facts()), configured);
        hook.on_ack(&again(1, Flags::ACK | Flags::LOSS_NOTICE, false), &facts());
        assert_eq!(hook.dup_ack_threshold(configured, &facts()), expected);
        hook.on_ack(&again(1, Flags::ACK, false), &facts());
        assert_eq!(hook.dup_ack_threshold(configured, &facts()), configured);
    }
}

/// A real sender with four segments out.
struct Sender(Connection);

const ROUND: Dur = Dur::from_ms(100);

impl Sender {
    fn new(hook: Box<dyn SenderHook>) -> Sender {
        let config = Config { mss: 1000, initial_window_segments: 4, ..Config::default() };
        let mut sender = Sender(Connection::open(config, 1, 2));
        sender.0.set_hook(hook);
        sender.sends(SimTime::ZERO);
        let mut syn_ack = Tcp { flags: Flags::SYN | Flags::ACK, ack: Seq(1), window: WINDOW, ..Tcp::default() };
        syn_ack.options.push_mss(1000);
        let now = SimTime::ZERO + ROUND;
        sender.0.handle(now, Input::Segment { tcp: &syn_ack, payload: &Payload::EMPTY, ce: false });
        sender.0.handle(now, Input::Write(100_000));
        assert_eq!(sender.sends(now), [1, 1001, 2001, 3001]);
        sender
    }

    /// The numbers of what it sends now.
    fn sends(&mut self, now: SimTime) -> Vec<u32> {
        let outputs = std::iter::from_fn(|| self.0.poll(now));
        let number = |output| if let Output::Segment { tcp, .. } = output { Some(tcp.seq.0) } else { None };
        outputs.filter_map(number).collect()
    }

    /// The segments it sends when this ACK comes.
    fn hears(&mut self, number: u32, flags: Flags) -> Vec<u32> {
        let now = SimTime::ZERO + ROUND * 2;
        let tcp = Tcp { flags, seq: Seq(1), ack: Seq(number), window: WINDOW, ..Tcp::default() };
        self.0.handle(now, Input::Segment { tcp: &tcp, payload: &Payload::EMPTY, ce: false });
        self.sends(now)
    }
}

#[test]
fn a_real_sender_repeats_at_the_first_marked_duplicate_and_keeps_its_window() {
    let marked = Flags::ACK | Flags::LOSS_NOTICE;
    let mut told = Sender::new(hook(1));
    // Each duplicate stands for a segment that has left: one new goes out for each.
    assert_eq!(told.hears(1, marked), [1, 4001]);
    assert_eq!(told.hears(1, marked), [5001]);
    assert_eq!(told.hears(1, Flags::ACK), [6001]);
    assert_eq!((told.0.cwnd(), told.0.ssthresh()), (Bytes(4000), Bytes(u64::MAX)));
    // A second loss in that window, 2001: marked, it is repeated at once, and still nothing is cut.
    assert_eq!(told.hears(2001, marked)[0], 2001);
    assert_eq!((told.0.cwnd(), told.0.ssthresh()), (Bytes(4000), Bytes(u64::MAX)));

    let mut untold = Sender::new(hook(1));
    assert_eq!(untold.hears(1, Flags::ACK), []);
    assert_eq!(untold.hears(1, Flags::ACK), []);
    assert_eq!(untold.hears(1, Flags::ACK), [1, 4001]);
    assert_eq!((untold.0.cwnd(), untold.0.ssthresh()), (Bytes(2000), Bytes(2000)), "half of four");
}

#[test]
fn a_second_loss_that_is_not_marked_cuts_the_window_all_the_same() {
    let mut sender = Sender::new(hook(1));
    assert_eq!(sender.hears(1, Flags::ACK | Flags::LOSS_NOTICE), [1, 4001]);
    sender.hears(2001, Flags::ACK);
    assert!(sender.0.ssthresh() < Bytes(u64::MAX));
}

#[test]
fn a_timeout_is_congestion_whatever_the_last_ack_said() {
    let mut sender = Sender::new(hook(1));
    sender.hears(1, Flags::ACK | Flags::LOSS_NOTICE);
    let now = sender.0.next_wakeup();
    sender.0.handle(now, Input::Timer);
    assert_eq!(sender.sends(now), [1], "slow start");
    assert_eq!((sender.0.cwnd(), sender.0.counters().timeouts), (Bytes(1000), 1));
}

#[test]
fn a_new_ack_with_a_mark_starts_no_repetition() {
    let mut sender = Sender::new(hook(1));
    assert_eq!(sender.hears(1001, Flags::ACK | Flags::LOSS_NOTICE), [4001, 5001]);
    assert_eq!(sender.0.counters().retransmissions, 0);
}
