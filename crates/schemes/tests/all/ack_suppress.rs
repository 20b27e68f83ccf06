//! ACK suppression: each driver's rule by its own counters and timers, and what no rule may do.

use crate::queue_bed::Bed;
use mac::Sought;
use proptest::prelude::*;
use queue::Limit;
use schemes::testing::{self, Bench, HERE, IN, OUT, THERE, ack, data, node, segment};
use schemes::{NodeFacts, Place, Toward, Value};
use units::{Dur, FlowId, SimTime};
use wire::{Flags, Packet, Seq, SeqRange};

fn bench(rule: &'static str, set: &[(&'static str, Value)]) -> Bench {
    let set: Vec<_> = [("rule", Value::Choice(rule))].into_iter().chain(set.iter().copied()).collect();
    testing::bench("ack-suppress", node(HERE, 2), &set).unwrap()
}

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(ms)
}

/// The host's ACK of this number goes down at `ms`: true if it goes on.
fn says(bench: &mut Bench, ms: u64, number: u32) -> bool {
    tells(bench, ms, ack(OUT, number, 1000))
}

fn tells(bench: &mut Bench, ms: u64, packet: Packet) -> bool {
    bench.now = at(ms);
    bench.pass(Place::ToAir, packet).is_some()
}

/// Numbers of what was held and goes on now.
fn released(bench: &mut Bench) -> Vec<u32> {
    let injected = bench.take_injected();
    let onward = Toward::Onward(Place::ToAir, Some(THERE));
    assert!(injected.iter().all(|(_, toward)| *toward == onward));
    injected.iter().map(|(packet, _)| packet.tcp().unwrap().ack.0).collect()
}

fn with_timestamps(number: u32, tsval: u32) -> Packet {
    let mut packet = ack(OUT, number, 1000);
    packet.tcp_mut().unwrap().options.push_timestamps(tsval, 1);
    packet
}

#[test]
fn it_sits_at_radios_with_tcp_alone() {
    let sits = |node: NodeFacts<'static>| testing::bench("ack-suppress", node, &[]).is_some();
    let own = node(HERE, 2);
    assert!(sits(own) && sits(NodeFacts { forwards: true, starts_flows: false, ends_flows: false, ..own }));
    assert!(!sits(NodeFacts { has_air: false, ..own }) && !sits(NodeFacts { carries_tcp: false, ..own }));
}

// broadcom-hold

#[test]
fn of_three_acks_one_goes_out_and_it_is_the_latest() {
    let mut bench = bench("broadcom-hold", &[]);
    // 1 and 2 are held, 3 goes; 4 and 5 are held, 6 goes.
    let passed: Vec<bool> = (1..=6).map(|i| says(&mut bench, i, 1000 * i as u32)).collect();
    assert_eq!(passed, [false, false, true, false, false, true]);
    assert_eq!((bench.held(), bench.next_wakeup()), (0, SimTime::NEVER));
    assert_eq!((bench.counter("acks_suppressed"), bench.counter("acks_passed")), (4, 2));
    assert_eq!(bench.take_injected().len(), 0);
}

#[test]
fn a_held_ack_goes_after_10_ms_from_the_first_that_waited() {
    let mut bench = bench("broadcom-hold", &[]);
    assert!(!says(&mut bench, 3, 1000) && !says(&mut bench, 9, 2000));
    assert_eq!(bench.next_wakeup(), at(13));
    assert!(bench.next_timer());
    assert_eq!((released(&mut bench), bench.held()), (vec![2000], 0));
    assert_eq!((bench.counter("acks_timed_out"), bench.counter("acks_suppressed")), (1, 1));
    // The count begins anew: 3 and 4 are held, 5 goes.
    assert_eq!([14, 15, 16].map(|ms| says(&mut bench, ms, 1000 * ms as u32)), [false, false, true]);
}

#[test]
fn duplicates_count_as_acks_and_an_older_one_is_dropped() {
    let mut bench = bench("broadcom-hold", &[]);
    // Three duplicates are one ACK on the air: fast retransmit waits for nine.
    assert_eq!([0, 1, 2].map(|ms| says(&mut bench, ms, 1000)), [false, false, true]);
    assert!(!says(&mut bench, 3, 3000) && !says(&mut bench, 4, 2000));
    bench.next_timer();
    assert_eq!((released(&mut bench), bench.counter("acks_suppressed")), (vec![3000], 3));
}

#[test]
fn dhd_touches_plain_acks_of_four_flows_and_nothing_else() {
    let mut bench = bench("broadcom-hold", &[]);
    for flags in [Flags::ACK | Flags::ECE, Flags::ACK | Flags::FIN, Flags::ACK | Flags::PSH, Flags::SYN | Flags::ACK]
    {
        assert!(tells(&mut bench, 0, segment(OUT, flags, Seq(1), 0, Seq(9000), 9)), "{flags:?}");
    }
    assert!(tells(&mut bench, 0, data(OUT, 1..1001)));
    // Even flows: of five, four are held.
    let held: Vec<bool> = (0..5).map(|flow| !tells(&mut bench, 0, ack(FlowId(2 * flow), 1000, 1000))).collect();
    assert_eq!((held, bench.held()), (vec![true, true, true, true, false], 4));
}

#[test]
fn the_ratio_and_the_delay_are_parameters() {
    let mut bench = bench("broadcom-hold", &[("ratio", Value::Int(2)), ("delay", Value::Time(Dur::from_ms(4)))]);
    assert_eq!([0, 1, 2].map(|ms| says(&mut bench, ms, 1 + ms as u32)), [false, true, false]);
    assert_eq!(bench.next_wakeup(), at(6));
}

// unisoc

#[test]
fn twelve_in_a_row_are_dropped_at_most() {
    let mut bench = bench("unisoc", &[]);
    // The first of a connection passes. Then 12 are held, each in place of the one before; the 13th passes and drops the 12th.
    assert!(says(&mut bench, 0, 1000));
    let passed: Vec<bool> = (2..=27).map(|i| says(&mut bench, 1, 1000 * i)).collect();
    let places: Vec<usize> = (0..26).filter(|i| passed[*i]).collect();
    assert_eq!(places, [12, 25]);
    assert_eq!((bench.counter("acks_suppressed"), bench.counter("acks_passed"), bench.held()), (24, 3, 0));
    assert_eq!(bench.next_wakeup(), SimTime::NEVER);
}

#[test]
fn unisoc_waits_10_ms_from_the_first_it_holds_and_counts_anew() {
    let mut bench = bench("unisoc", &[("drops", Value::Int(3))]);
    assert!(says(&mut bench, 0, 1000));
    assert!(!says(&mut bench, 2, 2000) && !says(&mut bench, 11, 3000));
    assert_eq!(bench.next_wakeup(), at(12));
    bench.next_timer();
    assert_eq!(released(&mut bench), [3000]);
    assert_eq!([13, 14, 15, 16].map(|ms| says(&mut bench, ms, 1000 * ms as u32)), [false, false, false, true]);
}

#[test]
fn duplicates_and_what_says_more_pass_and_a_newer_number_drops_what_is_held() {
    let mut bench = bench("unisoc", &[]);
    assert!(says(&mut bench, 0, 1000) && !says(&mut bench, 1, 2000));
    // A duplicate passes, and the held one stays.
    assert!(says(&mut bench, 2, 2000) && bench.held() == 1);
    // With a block of SACK and the same number likewise; with a newer number, on data, it is superseded.
    let mut sack = ack(OUT, 2000, 1000);
    sack.tcp_mut().unwrap().options.push_sack(&[SeqRange { start: Seq(3000), end: Seq(4000) }]);
    assert!(tells(&mut bench, 3, sack) && bench.held() == 1);
    assert!(tells(&mut bench, 4, segment(OUT, Flags::ACK, Seq(1), 500, Seq(3000), 1000)));
    assert_eq!((bench.held(), bench.next_wakeup(), bench.counter("acks_suppressed")), (0, SimTime::NEVER, 1));
}

#[test]
fn pushed_data_is_acknowledged_at_once() {
    let mut bench = bench("unisoc", &[]);
    assert!(says(&mut bench, 0, 1000));
    // Data of the other direction with PSH, which starts at 2000.
    let pushed = segment(IN, Flags::ACK | Flags::PSH, Seq(2000), 1000, Seq(1), 1000);
    assert!(bench.pass(Place::FromAir, pushed).is_some());
    assert!(!says(&mut bench, 1, 1500)); // it does not reach there
    assert!(says(&mut bench, 2, 3000) && !says(&mut bench, 3, 4000));
}

#[test]
fn the_rule_of_10_ms_holds_no_ack_with_timestamps_and_that_of_sc2355_does() {
    for (options, passes) in [("none", true), ("timestamps", false)] {
        let mut bench = bench("unisoc", &[("options", Value::Choice(options))]);
        assert!(tells(&mut bench, 0, with_timestamps(1000, 1)));
        assert_eq!(tells(&mut bench, 1, with_timestamps(2000, 2)), passes, "{options}");
    }
}

#[test]
fn a_33rd_flow_passes_until_another_is_four_seconds_old() {
    let mut bench = bench("unisoc", &[]);
    for flow in 0..33 {
        assert!(tells(&mut bench, 0, ack(FlowId(2 * flow), 1000, 1000)));
    }
    assert!(!tells(&mut bench, 1, ack(FlowId(62), 2000, 1000)) && tells(&mut bench, 1, ack(FlowId(64), 2000, 1000)));
    bench.next_timer();
    // Flow 64 takes the place of flow 0, and its next is held.
    assert!(tells(&mut bench, 4001, ack(FlowId(64), 3000, 1000)));
    assert!(!tells(&mut bench, 4001, ack(FlowId(64), 4000, 1000)));
}

#[test]
fn what_is_held_ends_with_its_node_or_its_connection() {
    for rule in ["broadcom-hold", "unisoc"] {
        for dies in [true, false] {
            let mut bench = bench(rule, &[]);
            says(&mut bench, 0, 1000);
            assert!(!says(&mut bench, 0, 2000) && bench.held() == 1);
            if dies {
                bench.release()
            } else {
                bench.closed(OUT)
            }
            assert_eq!((bench.held(), bench.next_wakeup()), (0, SimTime::NEVER), "{rule}");
        }
    }
}

// broadcom-replace

fn queued(rule: &'static str, limit: Limit) -> Bed {
    Bed::new("ack-suppress", &[("rule", Value::Choice(rule))], limit)
}

const ROOMY: Limit = Limit::Packets(50);

#[test]
fn a_later_ack_takes_the_place_of_the_one_that_waits() {
    for aggregates in [false, true] {
        let mut bed = queued("broadcom-replace", ROOMY);
        for packet in
            [data(OUT, 7..107), ack(OUT, 1000, 9), data(OUT, 107..207), ack(OUT, 2000, 9), ack(OUT, 3000, 9)]
        {
            assert!(bed.push(packet));
        }
        // Three ACKs of 40 bytes and two segments of 140: all count until they are handed out.
        assert_eq!(bed.space(), (5, 400));
        let out = if aggregates { bed.aggregated() } else { bed.popped() };
        assert_eq!(out, [7, 3000, 107], "the place is that of the first");
        assert_eq!(bed.expired(), [2000, 1000]);
        assert_eq!((bed.bench.counter("acks_suppressed"), bed.bench.counter("acks_passed")), (2, 1));
        assert_eq!(bed.drained(), 0);
    }
}

#[test]
fn duplicates_older_numbers_and_other_lengths_are_queued_behind() {
    let mut bed = queued("broadcom-replace", ROOMY);
    for packet in
        [ack(OUT, 2000, 9), ack(OUT, 2000, 9), ack(OUT, 1000, 9), with_timestamps(3000, 1), ack(OUT, 4000, 9)]
    {
        bed.push(packet);
    }
    // 4000 takes the first place of the flow, and overtakes the others.
    assert_eq!((bed.popped(), bed.expired()), (vec![4000, 2000, 1000, 3000], vec![2000]));
}

#[test]
fn of_a_fifth_flow_nothing_is_replaced_until_one_has_gone() {
    let mut bed = queued("broadcom-replace", ROOMY);
    for flow in 0..5 {
        bed.push(ack(FlowId(2 * flow), 1000, 9));
    }
    bed.push(ack(FlowId(8), 2000, 9));
    assert_eq!(bed.space().0, 6);
    bed.pop();
    bed.push(ack(FlowId(8), 3000, 9));
    bed.push(ack(FlowId(8), 4000, 9));
    assert_eq!(bed.popped(), [1000, 1000, 1000, 1000, 2000, 4000]);
    assert_eq!(bed.expired(), [3000]);
}

#[test]
fn what_a_wrapper_around_it_withdraws_is_the_one_that_goes() {
    let mut bed = queued("broadcom-replace", ROOMY);
    bed.push(ack(OUT, 1000, 9)); // the packet with serial 1
    bed.push(ack(OUT, 2000, 9));
    assert!(bed.queue.withdraw(SimTime::ZERO, Sought::Serial(1), &bed.all).is_none(), "it is covered");
    let out = bed.queue.withdraw(SimTime::ZERO, Sought::Serial(2), &bed.all).unwrap();
    assert_eq!(bed.all.free(out.pkt, wire::DropWhy::Scheme).tcp().unwrap().ack, Seq(2000));
    assert_eq!((bed.expired(), bed.popped()), (vec![1000], vec![]));
}

#[test]
fn a_full_queue_replaces_and_one_that_drains_gives_all_back() {
    let mut bed = queued("broadcom-replace", Limit::Packets(1));
    assert!(bed.push(ack(OUT, 1000, 9)) && bed.push(ack(OUT, 2000, 9)) && bed.push(ack(OUT, 3000, 9)));
    assert!(!bed.push(ack(IN, 1, 9)), "it is full");
    assert_eq!(bed.drained(), 3);
}

// wilc1000

#[test]
fn before_something_is_sent_acks_below_the_greatest_leave() {
    let mut bed = queued("wilc1000", ROOMY);
    for packet in [ack(OUT, 1000, 9), data(OUT, 7..107), ack(OUT, 3000, 9), ack(OUT, 2000, 9), ack(OUT, 3000, 9)] {
        assert!(bed.push(packet));
    }
    // The duplicate of the greatest stays.
    assert_eq!((bed.expired(), bed.popped()), (vec![1000, 2000], vec![7, 3000, 3000]));
    assert_eq!((bed.bench.counter("acks_suppressed"), bed.bench.counter("acks_passed")), (2, 2));
}

#[test]
fn a_look_is_taken_once_and_an_aggregate_takes_one_too() {
    let mut bed = queued("wilc1000", ROOMY);
    bed.push(ack(OUT, 1000, 9));
    assert_eq!(bed.expired(), [0; 0]);
    // An ACK is looked at once: 1000 stays.
    bed.push(ack(OUT, 2000, 9));
    bed.push(ack(OUT, 3000, 9));
    assert_eq!((bed.aggregated(), bed.expired()), (vec![1000, 3000], vec![2000]));
}

#[test]
fn a_connection_is_a_flow_and_a_sequence_number() {
    let mut bed = queued("wilc1000", ROOMY);
    bed.push(ack(OUT, 1000, 9));
    bed.push(ack(IN, 9000, 9));
    // Its host has sent data meanwhile.
    bed.push(segment(OUT, Flags::ACK, Seq(501), 0, Seq(2000), 9));
    assert_eq!((bed.expired(), bed.popped()), (vec![], vec![1000, 9000, 2000]));
}

// Whatever happens

/// An ACK of one of two flows, or a duplicate, or the timer.
#[derive(Debug, Clone, Copy)]
enum Event {
    Ack { flow: u32, step: u32 },
    Waits(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let step = prop_oneof![3 => Just(1000u32), 1 => Just(0u32), 1 => 1u32..5000];
    prop_oneof![
        6 => (0u32..2, step).prop_map(|(flow, step)| Event::Ack { flow, step }),
        1 => (0u64..30).prop_map(Event::Waits),
    ]
}

/// Past the wrap of numbers.
const BEGIN: u32 = u32::MAX - 20_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_latest_ack_of_each_flow_goes_out_within_the_delay(
        history in prop::collection::vec(event(), 1..80),
        rule in prop::sample::select(vec!["broadcom-hold", "unisoc"]),
    ) {
        let mut bench = bench(rule, &[]);
        // Of each flow the latest number said, when it was first said, and the latest that went out.
        let mut said = [(BEGIN, SimTime::ZERO); 2];
        let mut out = [BEGIN; 2];
        let mut written = 0;
        for event in history.into_iter().chain([Event::Waits(30)]) {
            match event {
                Event::Ack { flow, step } => {
                    let of = &mut said[flow as usize];
                    if step > 0 {
                        *of = (of.0.wrapping_add(step), bench.now);
                    }
                    written += 1;
                    let packet = ack(FlowId(2 * flow), of.0, 1000);
                    if bench.pass(Place::ToAir, packet).is_some() {
                        out[flow as usize] = of.0;
                    }
                }
                Event::Waits(ms) => {
                    let until = bench.now + Dur::from_ms(ms);
                    while bench.next_wakeup() <= until {
                        bench.next_timer();
                    }
                    bench.now = until;
                }
            }
            for (packet, _) in bench.take_injected() {
                let (flow, number) = (packet.flow.0 as usize / 2, packet.tcp().unwrap().ack);
                prop_assert!(Seq(out[flow]).le(number), "nothing older than what went out is sent");
                out[flow] = number.0;
            }
            for flow in 0..2 {
                let (number, since) = said[flow];
                let is_out = out[flow] == number;
                prop_assert!(is_out || bench.now <= since + Dur::from_ms(10), "{} of flow {}", number, flow);
            }
        }
        // Each ACK was suppressed or went out, once.
        let [suppressed, passed, timed_out] =
            ["acks_suppressed", "acks_passed", "acks_timed_out"].map(|name| bench.counter(name));
        prop_assert_eq!((bench.held(), suppressed + passed + timed_out), (0, written));
    }

    #[test]
    fn of_what_is_queued_the_latest_of_each_flow_is_sent(
        history in prop::collection::vec((event(), prop::bool::weighted(0.3)), 1..60),
        rule in prop::sample::select(vec!["broadcom-replace", "wilc1000"]),
    ) {
        let mut bed = queued(rule, ROOMY);
        let (mut said, mut out) = ([BEGIN; 2], [BEGIN; 2]);
        let (mut written, mut gone) = (0, 0);
        let mut sends = |bed: &mut Bed, out: &mut [u32; 2]| {
            gone += bed.expired().len();
            let Some(packet) = bed.pop() else { return gone };
            gone += 1;
            let (flow, number) = (packet.flow.0 as usize / 2, packet.tcp().unwrap().ack);
            if Seq(out[flow]).lt(number) {
                out[flow] = number.0;
            }
            gone
        };
        for (event, is_sent) in history {
            if let Event::Ack { flow, step } = event {
                let of = &mut said[flow as usize];
                *of = of.wrapping_add(step);
                written += usize::from(bed.push(ack(FlowId(2 * flow), *of, 1000)));
            }
            if is_sent {
                sends(&mut bed, &mut out);
            }
        }
        for _ in 0..=written {
            sends(&mut bed, &mut out);
        }
        prop_assert_eq!(out, said);
        prop_assert_eq!((sends(&mut bed, &mut out), bed.drained()), (written, 0));
    }
}
