//! TCP-aware dynamic ARQ on a bench: what an access point learns of round trips, and in which order its queue repeats.

use mac::{Msdu, Next, TxQueue};
use proptest::prelude::*;
use queue::Limit;
use schemes::testing::{Bench, Ground, HERE, THERE, ack, data, dcf, node, scheme};
use schemes::{NodeFacts, Place, Value};
use units::{Bytes, Dur, FlowId, SimTime};
use wire::{DropWhy, L4, Packet, Packets};

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(ms)
}

/// An access point: its agent on a bench, its queue beside it.
struct Ap {
    bench: Bench,
    queue: Box<dyn TxQueue>,
    all: Packets,
}

fn ap(set: &[(&str, Value)]) -> Ap {
    let relay = NodeFacts {
        forwards: true,
        starts_flows: false,
        ends_flows: false,
        queue: Limit::Bytes(Bytes(32_000)),
        ..node(HERE, 2)
    };
    let mut ground = Ground::new(relay).with_mac(dcf(phy::Standard::A));
    assert!(ground.install(&scheme("tcp-aware-arq", set)).unwrap());
    let queue = ground.queue();
    Ap { bench: Bench::new(ground.stack), queue, all: Packets::default() }
}

fn stamped(mut packet: Packet, tsval: u32, tsecr: u32) -> Packet {
    packet.tcp_mut().unwrap().options.push_timestamps(tsval, tsecr);
    packet
}

/// A flow of data towards the air, one for each number.
fn flow(n: u32) -> FlowId {
    FlowId(2 * n)
}

impl Ap {
    fn down(&mut self, ms: u64, packet: Packet) {
        self.bench.now = at(ms);
        assert!(self.bench.pass(Place::ToAir, packet).is_some());
    }

    fn up(&mut self, ms: u64, packet: Packet) {
        self.bench.now = at(ms);
        assert!(self.bench.pass(Place::FromAir, packet).is_some());
    }

    /// One sample of so many milliseconds for flow `n`: RTO is then three times that.
    fn rtt(&mut self, n: u32, ms: u64) {
        let (there, back) = (flow(n), flow(n).reverse());
        self.up(0, stamped(ack(back, 1, 9_000), 500, 0));
        self.down(ms / 2, stamped(data(there, 1..1001), 100, 500));
        self.up(ms, stamped(ack(back, 1001, 9_000), 501, 100));
        self.down(ms + ms / 2, stamped(data(there, 1001..2001), 101, 501));
    }

    fn msdu(&mut self, n: u32, from: u32) -> Msdu {
        let pkt = self.all.put(data(flow(n), from..from + 1000));
        Msdu::new(at(0), pkt, &self.all, THERE, 0)
    }

    /// It has failed so often now.
    fn fails(&mut self, mut msdu: Msdu, failures: u8) -> Next {
        msdu.failures.0 = failures;
        self.queue.failed(at(1), msdu, false, &self.all)
    }

    fn waits(&mut self, n: u32, from: u32, failures: u8) {
        let msdu = self.msdu(n, from);
        assert!(matches!(self.fails(msdu, failures), Next::Yield));
    }

    /// Flow and number of what goes next, until nothing is left.
    fn order(&mut self, now: SimTime) -> Vec<(u32, u32)> {
        let mut order = Vec::new();
        while let Some(msdu) = self.queue.pop(now, &mut self.all) {
            let packet = self.all.free(msdu.pkt, DropWhy::Delivered);
            order.push((packet.flow.0 / 2, packet.tcp().map_or(0, |tcp| tcp.seq.0)));
        }
        order
    }
}

#[test]
fn timestamps_tell_both_halves_of_a_round_trip() {
    let mut ap = ap(&[]);
    let (there, back) = (flow(0), flow(0).reverse());
    ap.down(0, stamped(data(there, 1..1001), 100, 0));
    ap.down(1, stamped(data(there, 1001..2001), 100, 0)); // the same tick
    ap.up(10, stamped(ack(back, 1001, 9_000), 700, 100)); // the air and the station: 10 ms
    ap.up(12, stamped(ack(back, 2001, 9_000), 700, 100));
    assert_eq!(ap.bench.counter("rtt_samples"), 0, "the wire is not known yet");
    ap.down(40, stamped(data(there, 2001..3001), 101, 700)); // the wire and the server: 30 ms
    assert_eq!((ap.bench.counter("rtt_samples"), ap.bench.counter("rtt_sum_us")), (1, 40_000));
    // An echo of a later tick says nothing exact of the one that is followed.
    ap.up(90, stamped(ack(back, 3001, 9_000), 701, 105));
    ap.down(95, stamped(data(there, 3001..4001), 106, 702));
    assert_eq!(ap.bench.counter("rtt_samples"), 1);
}

#[test]
fn self_clocking_follows_a_packet_to_the_data_that_its_ack_sets_free() {
    let mut ap = ap(&[("rtt", Value::Choice("self-clocking"))]);
    let (there, back) = (flow(0), flow(0).reverse());
    ap.down(0, data(there, 1..1001));
    ap.down(1, data(there, 1001..2001));
    ap.up(10, ack(back, 1001, 9_000));
    ap.down(40, data(there, 2001..3001));
    assert_eq!((ap.bench.counter("rtt_samples"), ap.bench.counter("rtt_sum_us")), (1, 40_000));
    // The one that was set free is followed next; a repetition ends that.
    ap.down(50, data(there, 1..1001));
    ap.up(60, ack(back, 3001, 9_000));
    ap.down(90, data(there, 3001..4001));
    assert_eq!(ap.bench.counter("rtt_samples"), 1);
}

#[test]
fn each_queue_goes_in_order_of_rto_and_behind_those_with_fewer_reattempts() {
    let mut ap = ap(&[("urgent", Value::Choice("none"))]);
    ap.rtt(1, 100);
    ap.rtt(2, 20);
    ap.rtt(3, 50);
    ap.waits(1, 1, 1);
    ap.waits(2, 1, 3); // Q3
    ap.waits(3, 1, 1);
    ap.waits(1, 1001, 2); // Q2
    ap.waits(3, 1001, 2);
    ap.waits(2, 1001, 1);
    assert_eq!(ap.order(at(1)), [(2, 1001), (3, 1), (1, 1), (3, 1001), (1, 1001), (2, 1)]);
}

#[test]
fn after_the_third_reattempt_it_is_given_up() {
    let mut ap = ap(&[]);
    for failures in 1..=3 {
        let msdu = ap.msdu(0, 1);
        assert!(matches!(ap.fails(msdu, failures), Next::Yield));
    }
    let msdu = ap.msdu(0, 1);
    let Next::GiveUp(msdu) = ap.fails(msdu, 4) else { panic!("four transmissions") };
    ap.all.free(msdu.pkt, DropWhy::Scheme);
    assert_eq!(ap.order(at(1)).len(), 3);
}

#[test]
fn a_head_whose_rto_is_below_two_rtt_goes_first() {
    // One sample of R: RTO = R + 4 R / 2 = 3 R, above 2 R. Equal samples make D shrink by a quarter each: 3 R, 2.5 R, 2.125 R, 1.84 R.
    // Every second round trip is a sample: the first timestamp of the last one is followed.
    let steady = |ap: &mut Ap| {
        let (there, back) = (flow(1), flow(1).reverse());
        for i in 0..9u32 {
            let (t, n) = (u64::from(i) * 200, 1 + 1000 * i);
            ap.up(t, stamped(ack(back, n, 9_000), 500 + i, 99 + i));
            ap.down(t + 40, stamped(data(there, n..n + 1000), 100 + i, 500 + i));
            ap.up(t + 100, stamped(ack(back, n + 1000, 9_000), 500 + i, 100 + i));
        }
    };
    for (urgent, expected) in [("retried", [(1, 1), (2, 1)]), ("none", [(2, 1), (1, 1)])] {
        let mut ap = ap(&[("urgent", Value::Choice(urgent))]);
        steady(&mut ap);
        ap.rtt(2, 20);
        ap.waits(1, 1, 2); // Q2
        ap.waits(2, 1, 1); // Q1
        assert_eq!(ap.order(at(1)), expected, "{urgent}");
    }
    // With a minimum of a second it never is.
    let mut ap = ap(&[("min_rto", Value::Time(Dur::from_secs(1)))]);
    steady(&mut ap);
    ap.rtt(2, 20);
    ap.waits(1, 1, 2);
    ap.waits(2, 1, 1);
    assert_eq!((ap.order(at(1)), ap.bench.counter("urgent_first")), (vec![(2, 1), (1, 1)], 0));
}

/// Flow 1 has failed once, twice and three times, at 1, 1001 and 2001; flow 2 is fresh, with the least RTO; 0 is no data.
fn with_fresh(fresh: &'static str) -> Ap {
    let mut ap = ap(&[("fresh", Value::Choice(fresh)), ("urgent", Value::Choice("none"))]);
    ap.rtt(1, 100);
    ap.rtt(2, 20);
    for failures in 1..=3 {
        ap.waits(1, 1 + 1000 * (u32::from(failures) - 1), failures);
    }
    let fresh = ap.msdu(2, 1);
    ap.queue.push(at(0), fresh, &mut ap.all).unwrap();
    let other = ap.all.put(Packet { l4: L4::Opaque, ..data(flow(0), 1..1001) });
    let other = Msdu::new(at(0), other, &ap.all, THERE, 0);
    ap.queue.push(at(0), other, &mut ap.all).unwrap();
    ap
}

#[test]
fn what_was_never_sent_stands_where_it_is_told_to() {
    let (fresh, other, [q1, q2, q3]) = ((2, 1), (0, 0), [(1, 1), (1, 1001), (1, 2001)]);
    for (name, expected) in [
        ("beside", [fresh, other, q1, q2, q3]),
        ("first", [fresh, other, q1, q2, q3]),
        ("behind", [q1, fresh, other, q2, q3]),
        ("behind-q2", [q1, q2, fresh, other, q3]),
        ("last", [q1, q2, q3, fresh, other]),
    ] {
        assert_eq!(with_fresh(name).order(at(1)), expected, "{name}");
    }
    // Beside: by RTO, so what waits in Q1 goes before fresh data of a longer RTO; first: never.
    for (name, expected) in [("beside", [(2, 1), (1, 1)]), ("first", [(1, 1), (2, 1)])] {
        let mut ap = ap(&[("fresh", Value::Choice(name)), ("urgent", Value::Choice("none"))]);
        ap.rtt(1, 100);
        ap.rtt(2, 20);
        ap.waits(2, 1, 1);
        let fresh = ap.msdu(1, 1);
        ap.queue.push(at(0), fresh, &mut ap.all).unwrap();
        assert_eq!(ap.order(at(1)), expected, "{name}");
    }
}

/// The entries of a model of the order: a flow whose RTO is 60 ms for each of its number, and so often failed; 0: fresh.
fn entries() -> impl Strategy<Value = Vec<(u32, u8)>> {
    prop::collection::vec((1u32..4, 0u8..4), 0..24)
}

proptest! {
    /// The whole order from its definition: places in order; in Q1 to Q3 by RTO, then as they came; fresh data as they came.
    #[test]
    fn the_order_is_that_of_places_then_of_rto(
        fresh in prop::sample::select(vec!["beside", "first", "behind", "behind-q2", "last"]),
        entries in entries(),
    ) {
        let mut ap = ap(&[("fresh", Value::Choice(fresh)), ("urgent", Value::Choice("none"))]);
        (1..4).for_each(|flow| ap.rtt(flow, 20 * u64::from(flow)));
        let place = |failures: u8| match (fresh, failures) {
            ("beside", 0) | (_, 1) => 1.0,
            ("first", 0) => 0.5,
            ("behind", 0) => 1.5,
            ("behind-q2", 0) => 2.5,
            (_, 0) => 3.5,
            _ => f64::from(failures),
        };
        let mut expected = Vec::new();
        for (i, &(flow, failures)) in (0u32..).zip(&entries) {
            let from = 1 + 1000 * i;
            if failures == 0 {
                let msdu = ap.msdu(flow, from);
                ap.queue.push(at(0), msdu, &mut ap.all).unwrap();
            } else {
                ap.waits(flow, from, failures);
            }
            let by_rto = if failures > 0 || fresh == "beside" { flow } else { 0 };
            expected.push((place(failures), by_rto, (flow, from)));
        }
        // Those of one place and one RTO go as they came, whatever their flow.
        expected.sort_by(|a, b| (a.0, a.1, a.2.1).partial_cmp(&(b.0, b.1, b.2.1)).unwrap());
        let expected: Vec<_> = expected.into_iter().map(|(_, _, what)| what).collect();
        prop_assert_eq!(ap.order(at(1)), expected);
        prop_assert_eq!((ap.queue.space().entries, ap.all.live()), (0, 0));
    }
}

#[test]
fn what_failed_last_goes_next_where_fresh_data_stand_behind_all() {
    let mut ap = ap(&[("fresh", Value::Choice("last"))]);
    for from in [1, 1001] {
        let fresh = ap.msdu(2, from);
        ap.queue.push(at(0), fresh, &mut ap.all).unwrap();
    }
    let first = ap.queue.pop(at(0), &mut ap.all).unwrap();
    assert!(matches!(ap.fails(first, 1), Next::Yield));
    assert_eq!(ap.order(at(1)), [(2, 1), (2, 1001)]);
    assert_eq!(ap.bench.counter("reattempts_out_of_order"), 0, "as the plain MAC repeats");
}

#[test]
fn served_in_turn_fresh_data_have_their_turn_in_any_order() {
    for (name, expected) in [
        ("first", [2, 1, 1, 1, 2]),
        ("behind", [1, 2, 1, 1, 2]),
        ("behind-q2", [1, 1, 2, 1, 2]),
        ("last", [1, 1, 1, 2, 2]),
    ] {
        let mut ap = ap(&[
            ("fresh", Value::Choice(name)),
            ("service", Value::Choice("round")),
            ("urgent", Value::Choice("none")),
        ]);
        (1..=3).for_each(|failures| ap.waits(1, 1 + 1000 * u32::from(failures), failures));
        for from in [1, 1001] {
            let fresh = ap.msdu(2, from);
            ap.queue.push(at(0), fresh, &mut ap.all).unwrap();
        }
        let order: Vec<u32> = ap.order(at(1)).iter().map(|(flow, _)| *flow).collect();
        assert_eq!(order, expected, "{name}");
    }
}

#[test]
fn what_overtakes_a_repetition_is_counted() {
    let mut ap = ap(&[]);
    let fresh = ap.msdu(2, 1);
    ap.queue.push(at(0), fresh, &mut ap.all).unwrap();
    ap.waits(1, 1, 2);
    assert_eq!((ap.order(at(1)), ap.bench.counter("reattempts_out_of_order")), (vec![(2, 1), (1, 1)], 1));
}

#[test]
fn served_in_turn_each_queue_gives_one() {
    let mut ap = ap(&[("service", Value::Choice("round")), ("urgent", Value::Choice("none"))]);
    for from in [1, 1001] {
        (1..=3).for_each(|failures| ap.waits(1, from + 10_000 * u32::from(failures), failures));
    }
    let order: Vec<u32> = ap.order(at(1)).iter().map(|(_, from)| from / 10_000).collect();
    assert_eq!(order, [1, 2, 3, 1, 2, 3]);
}

#[test]
fn time_left_counts_from_when_a_packet_came() {
    let mut ap = ap(&[("rto", Value::Choice("left")), ("urgent", Value::Choice("none"))]);
    ap.rtt(1, 100); // RTO 300 ms
    ap.rtt(2, 20); // 60 ms
    let mut old = ap.msdu(1, 1);
    old.enqueued = at(0);
    let mut young = ap.msdu(2, 1);
    young.enqueued = at(250);
    assert!(matches!(ap.fails(old, 1), Next::Yield) && matches!(ap.fails(young, 1), Next::Yield));
    assert_eq!(ap.order(at(260)), [(1, 1), (2, 1)], "300 ms comes before 310");
}

#[test]
fn expired_data_is_dropped_if_that_is_asked_for() {
    let mut ap = ap(&[("drop_expired", Value::Bool(true)), ("urgent", Value::Choice("none"))]);
    ap.rtt(1, 100);
    ap.waits(1, 1, 1);
    assert!(ap.queue.expired(at(300), &ap.all).is_none());
    let expired = ap.queue.expired(at(301), &ap.all).unwrap();
    ap.all.free(expired.pkt, DropWhy::Scheme);
    assert_eq!((ap.bench.counter("expired"), ap.order(at(301)).len()), (1, 0));
}

#[test]
fn its_three_queues_share_the_buffer_and_a_dying_node_gives_all_back() {
    let mut ap = ap(&[]);
    // 1040 B each; 30 are 31,200 of 32,000 B.
    (0..30).for_each(|i| ap.waits(1, 1 + 1000 * i, 1));
    let one = ap.msdu(1, 50_001);
    let refused = ap.queue.push(at(1), one, &mut ap.all).unwrap_err();
    ap.all.free(refused.pkt, DropWhy::Scheme);
    assert_eq!((ap.queue.space().entries, ap.queue.space().used), (30, Bytes(31_200)));
    for msdu in ap.queue.drain(at(1)) {
        ap.all.free(msdu.pkt, DropWhy::NodeDown);
    }
    assert_eq!((ap.all.live(), ap.queue.space().used), (0, Bytes::ZERO));
}

#[test]
fn a_connection_that_vanishes_is_forgotten_by_idle_time() {
    let mut ap = ap(&[("idle", Value::Time(Dur::from_secs(10)))]);
    ap.rtt(1, 100);
    assert_eq!(ap.bench.counter("connections_known"), 1);
    while ap.bench.next_timer() {}
    assert_eq!(ap.bench.counter("connections_known"), 0);
    assert!(ap.bench.now < at(30_000), "{:?}", ap.bench.now);
}
