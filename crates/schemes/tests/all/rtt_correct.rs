//! RTT correction on a bench: what of an RTT was link recovery, worked by hand in milliseconds.

use mac::{Fate, TxReport};
use schemes::testing::{Bench, HERE, OUT, THERE, ack, bench, data, node};
use schemes::{NodeFacts, Params, Place, Value};
use tcp::{Config, Connection, FlowFacts, RttSample, SenderHook};
use units::{Dur, SimTime};
use wire::{Packet, Seq, SeqRange};

fn ms(n: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(n)
}

/// The sender's half beside its agent.
struct Station {
    bench: Bench,
    hook: Box<dyn SenderHook>,
    facts: FlowFacts,
    serial: u64,
}

fn station(scope: &'static str, corrects: &'static str) -> Station {
    let set =
        [("scope", Value::Choice(scope)), ("corrects", Value::Choice(corrects)), ("floor", Value::Choice("none"))];
    let mut bench = bench("rtt-correct", node(HERE, 2), &set).unwrap();
    let hook = bench.stack.sender_hook(OUT).unwrap();
    let facts = FlowFacts { snd_max: Seq(100_000), ..Connection::listen(Config::default(), 1, 2).facts() };
    Station { bench, hook, facts, serial: 0 }
}

impl Station {
    /// An MSDU whose attempts failed at these instants, and that had this fate then.
    fn sends(&mut self, packet: &Packet, failures: &[u64], fate: Fate, done: u64) {
        self.serial += 1;
        let report = |fate, done| TxReport {
            fate,
            serial: self.serial,
            to: THERE,
            category: 0,
            attempts: 1,
            ppdu: None,
            in_order: None,
            enqueued: SimTime::ZERO,
            head: SimTime::ZERO,
            first: SimTime::ZERO,
            done: ms(done),
            airtime: Dur::ZERO,
        };
        let reports: Vec<_> = failures.iter().map(|at| report(Fate::Attempt, *at)).collect();
        reports.iter().for_each(|failed| self.bench.report_with(packet, failed));
        let last = report(fate, done);
        self.bench.report_with(packet, &last);
    }

    /// An ACK comes that tells of this RTT. What timer and controller get.
    fn hears(&mut self, packet: &Packet, now: u64, rtt: u64) -> (u64, u64) {
        let tcp = packet.tcp().unwrap();
        self.hook.on_segment(tcp, &self.facts);
        let rtt = Some(Dur::from_ms(rtt));
        let sample = RttSample { now: ms(now), ack: tcp.ack, timer: rtt, controller: rtt };
        let got = self.hook.rtt_sample(sample, &self.facts);
        assert_eq!((got.now, got.ack), (sample.now, sample.ack));
        let of = |rtt: Option<Dur>| rtt.unwrap().ns() / 1_000_000;
        (of(got.timer), of(got.controller))
    }
}

/// Three segments queued together. The first fails at 3 ms and is delivered at 9 ms, the second fails at 12 and 13 and is
/// delivered at 14, the third is delivered at once.
fn three(scope: &'static str, corrects: &'static str) -> Station {
    let mut station = station(scope, corrects);
    station.sends(&data(OUT, 1..1001), &[3, 6], Fate::Delivered, 9);
    station.sends(&data(OUT, 1001..2001), &[12, 13], Fate::Delivered, 14);
    station.sends(&data(OUT, 2001..3001), &[], Fate::Delivered, 17);
    station
}

#[test]
fn the_recovery_of_a_segment_and_of_those_before_it_is_taken_from_the_controllers_rtt() {
    // T_ARQ of the three: 6, 2 and 0 ms. The second waited for the first, the third for both; of the third, sent at 5 ms, the first
    // was 4 ms in recovery.
    for (scope, controller) in [("own", [14, 23, 23]), ("queue", [14, 17, 17])] {
        let mut station = three(scope, "controller");
        assert_eq!(station.hears(&ack(OUT.reverse(), 1001, 9), 20, 20), (20, controller[0]), "{scope}");
        assert_eq!(station.hears(&ack(OUT.reverse(), 2001, 9), 25, 25), (25, controller[1]), "{scope}");
        assert_eq!(station.hears(&ack(OUT.reverse(), 3001, 9), 28, 23), (23, controller[2]), "{scope}");
        assert_eq!((station.bench.counter("segments_recovered"), station.bench.held()), (2, 0));
        assert_eq!(station.bench.counter("samples_corrected"), if scope == "own" { 2 } else { 3 });
    }
}

#[test]
fn an_ack_of_several_segments_tells_of_the_recovery_of_all_and_tells_it_once() {
    for scope in ["own", "queue"] {
        let mut station = three(scope, "controller");
        assert_eq!(station.hears(&ack(OUT.reverse(), 2001, 9), 25, 25), (25, 17), "{scope}: 6 + 2");
        // The same number again, as a duplicate, tells of no data.
        assert_eq!(station.hears(&ack(OUT.reverse(), 2001, 9), 26, 26), (26, 26), "{scope}");
        assert_eq!(station.hears(&ack(OUT.reverse(), 3001, 9), 28, 28), (28, if scope == "own" { 28 } else { 20 }));
    }
}

#[test]
fn the_recovery_of_others_counts_in_the_queue_and_not_as_ones_own() {
    // A packet of another flow is given up at 8 ms, its first failure at 2 ms. This segment is delivered at 10 ms; another packet is in
    // recovery from 11 to 15 ms, behind it.
    for (scope, controller) in [("own", 20), ("queue", 14)] {
        let mut station = station(scope, "controller");
        station.sends(&ack(OUT, 1, 9), &[2, 4, 8], Fate::GivenUp, 8);
        station.sends(&data(OUT, 1..1001), &[], Fate::Delivered, 10);
        station.sends(&ack(OUT, 1, 9), &[11], Fate::Delivered, 15);
        assert_eq!(station.hears(&ack(OUT.reverse(), 1001, 9), 20, 20), (20, controller), "{scope}");
    }
}

#[test]
fn categories_in_recovery_at_once_count_once() {
    // From 2 to 8 ms and from 4 to 9 ms: 7 ms.
    let mut station = station("queue", "controller");
    station.sends(&ack(OUT, 1, 9), &[2], Fate::Delivered, 8);
    station.sends(&data(OUT, 1..1001), &[4], Fate::Delivered, 9);
    assert_eq!(station.hears(&ack(OUT.reverse(), 1001, 9), 20, 20), (20, 13));
}

#[test]
fn a_sack_block_tells_of_what_it_newly_reports() {
    for scope in ["own", "queue"] {
        let mut station = station(scope, "controller");
        station.sends(&data(OUT, 1..1001), &[], Fate::QueueFull, 0);
        station.sends(&data(OUT, 1001..2001), &[3], Fate::Delivered, 9);
        let mut duplicate = ack(OUT.reverse(), 1, 9);
        let block = SeqRange { start: Seq(1001), end: Seq(2001) };
        assert_eq!(duplicate.tcp_mut().unwrap().options.push_sack(&[block]), 1);
        assert_eq!(station.hears(&duplicate, 20, 20), (20, 14), "{scope}");
        assert_eq!(station.hears(&duplicate, 21, 21), (21, 21), "{scope}: no news");
    }
}

#[test]
fn the_timer_is_corrected_only_if_asked_and_an_rtt_stays_above_zero() {
    let mut both = three("own", "both");
    assert_eq!(both.hears(&ack(OUT.reverse(), 1001, 9), 20, 20), (14, 14));
    // An RTT counted from within the recovery, as a timestamp's may be: all of it is recovery but for a nanosecond.
    let mut station = three("queue", "controller");
    station.hook.on_segment(ack(OUT.reverse(), 1001, 9).tcp().unwrap(), &station.facts);
    let rtt = Some(Dur::from_ms(2));
    let sample = RttSample { now: ms(9), ack: Seq(1001), timer: rtt, controller: rtt };
    assert_eq!(station.hook.rtt_sample(sample, &station.facts).controller, Some(Dur::from_ns(1)));
}

#[test]
fn no_corrected_rtt_is_below_the_least_that_was_measured() {
    // The first copy came through and its MAC ACK was lost: 17 of the 20 ms were spent on a copy that nobody waited for. A
    // segment without recovery had 15 ms.
    let mut bench = bench("rtt-correct", node(HERE, 2), &[]).unwrap();
    let hook = bench.stack.sender_hook(OUT).unwrap();
    let mut station = Station { bench, hook, ..station("queue", "controller") };
    station.sends(&data(OUT, 1..1001), &[], Fate::Delivered, 2);
    station.sends(&data(OUT, 1001..2001), &[22], Fate::Delivered, 39);
    assert_eq!(station.hears(&ack(OUT.reverse(), 1001, 9), 15, 15), (15, 15));
    assert_eq!(station.hears(&ack(OUT.reverse(), 2001, 9), 40, 20), (20, 15));
}

#[test]
fn what_was_never_sent_is_acknowledged_by_nobody() {
    let mut station = three("own", "controller");
    station.facts.snd_max = Seq(3001);
    assert_eq!(station.hears(&ack(OUT.reverse(), 50_000, 9), 20, 20), (20, 20), "a forged ACK takes nothing away");
    assert_eq!(station.hears(&ack(OUT.reverse(), 1001, 9), 21, 21), (21, 15));
}

#[test]
fn it_sits_at_stations_with_an_end_of_flows() {
    let defaults = Params::defaults(schemes::rtt_correct::INFO.params);
    let choices = ["scope", "corrects", "floor"].map(|key| defaults.choice(key));
    assert_eq!(choices, ["queue", "controller", "least"]);
    let sits = |node: NodeFacts<'static>| bench("rtt-correct", node, &[]).is_some();
    let relay = NodeFacts { starts_flows: false, ends_flows: false, ..node(HERE, 2) };
    assert!(sits(node(HERE, 2)) && sits(NodeFacts { starts_flows: true, ..relay }));
    assert!(!sits(relay) && !sits(NodeFacts { has_air: false, ..node(HERE, 2) }));
    let claims = bench("rtt-correct", node(HERE, 2), &[]).unwrap().claims();
    assert!(Place::ALL.iter().all(|place| !claims.sits_at(*place)), "it sees no packet pass");
}
