//! The rhythm in which ACKs are made.

use super::*;

/// After which of the first 18 segments ACKs are made.
fn rhythm(bench: &mut Bench) -> Vec<u32> {
    let mut rhythm = Vec::new();
    for i in 0..18 {
        bench.send(nth(OUT, i), Fate::Delivered);
        let numbers = made(bench);
        assert!(numbers.iter().all(|n| *n == 1001 + 1000 * i), "{numbers:?} after segment {i}");
        rhythm.extend(numbers.iter().map(|_| i + 1));
    }
    rhythm
}

#[test]
fn acks_are_made_in_the_rhythm_of_the_chosen_strategy() {
    let all: Vec<u32> = (1..=18).collect();
    let even: Vec<u32> = (1..=9).map(|i| 2 * i).collect();
    // @AJ03: d = 1, 2, 3, 4 from segments 1, 2, 5, 9.
    let dynamic = vec![1, 3, 6, 10, 14, 18];
    for (strategy, expected) in [("every", &all), ("delayed-ack", &even), ("dynamic-delayed-ack", &dynamic)] {
        let mut bench = sender_with(&[("strategy", strategy)]);
        assert_eq!(&rhythm(&mut bench), expected, "{strategy}");
        assert_eq!(bench.counter("acks_made"), expected.len() as u64);
        assert_eq!(bench.counter("segments_acknowledged"), 18, "{strategy}");
    }
}

#[test]
fn what_went_to_a_relay_has_not_arrived() {
    // A route that changes: the same flow leaves for its destination, then for a relay that has an agent too.
    let relay = NodeId(THERE.0 + 1);
    let mut bench =
        testing::bench("lle-tcp", node(HERE, relay.index() + 1), &[("strategy", Value::Choice("every"))]).unwrap();
    let can = [Capability { scheme: "lle-tcp", detail: 1 }];
    bench.peer(THERE, PeerEvent::Up(&can));
    bench.peer(relay, PeerEvent::Up(&can));
    open(&mut bench, OUT);
    let to_relay = |fate| TxReport {
        fate,
        serial: 0,
        to: relay,
        category: 0,
        attempts: 1,
        ppdu: None,
        in_order: None,
        enqueued: SimTime::ZERO,
        head: SimTime::ZERO,
        first: SimTime::ZERO,
        done: SimTime::ZERO,
        airtime: Dur::ZERO,
    };
    bench.report_with(&data(OUT, 1..1001), &to_relay(Fate::Delivered));
    bench.report_with(&data(OUT, 1001..2001), &to_relay(Fate::GivenUp));
    assert_eq!(bench.take_injected(), []);
    bench.send(data(OUT, 1..1001), Fate::Delivered);
    assert_eq!(bench.take_injected().len(), 1);
}

#[test]
fn follow_makes_acks_as_the_receiving_station_announced() {
    for (announced, expected) in
        [(None, 18), (Some("every"), 18), (Some("delayed-ack"), 9), (Some("dynamic-delayed-ack"), 6)]
    {
        let detail = alone(&[], announced).announced().unwrap();
        let mut bench = alone(&[], Some("every"));
        bench.peer(THERE, PeerEvent::Up(&[Capability { scheme: "lle-tcp", detail }]));
        open(&mut bench, OUT);
        assert_eq!(rhythm(&mut bench).len(), expected, "{announced:?}");
    }
}

#[test]
fn a_delayed_ack_is_made_at_the_latest_200_ms_after_the_first_segment_it_is_for() {
    let mut bench = sender_with(&[("strategy", "delayed-ack")]);
    bench.now = SimTime::from_ns(5_000_000);
    bench.send(nth(OUT, 0), Fate::Delivered);
    assert_eq!(made(&mut bench), []);
    assert!(bench.next_timer());
    assert_eq!((bench.now, made(&mut bench)), (SimTime::from_ns(205_000_000), vec![1001]));
    assert!(!bench.next_timer(), "one timer, once");
    // The second of a pair leaves it nothing to make.
    bench.send(nth(OUT, 1), Fate::Delivered);
    bench.send(nth(OUT, 2), Fate::Delivered);
    assert_eq!(made(&mut bench), [3001]);
    while bench.next_timer() {}
    assert_eq!(made(&mut bench), []);
    // And it runs anew for the next.
    bench.now = SimTime::from_ns(900_000_000);
    bench.send(nth(OUT, 3), Fate::Delivered);
    assert!(bench.next_timer());
    assert_eq!((bench.now, made(&mut bench)), (SimTime::from_ns(1_100_000_000), vec![4001]));
}

#[test]
fn the_timer_of_a_delayed_ack_runs_from_the_first_segment_that_waits() {
    let mut bench = sender_with(&[("strategy", "dynamic-delayed-ack")]);
    (0..10).for_each(|i| bench.send(nth(OUT, i), Fate::Delivered));
    made(&mut bench);
    // From here on one ACK for four.
    for i in 10..13 {
        bench.send(nth(OUT, i), Fate::Delivered);
        bench.now += Dur::from_ms(50);
    }
    assert!(bench.next_timer());
    assert_eq!((bench.now, made(&mut bench)), (SimTime::from_ns(200_000_000), vec![13_001]));
}

#[test]
fn what_no_receiver_delays_is_not_delayed_here() {
    // A segment that fills a hole, and a FIN. @RFC5681 sec. 4.2
    let mut bench = sender_with(&[("strategy", "delayed-ack")]);
    bench.send(nth(OUT, 0), Fate::GivenUp);
    bench.send(nth(OUT, 1), Fate::Delivered);
    made(&mut bench);
    bench.send(nth(OUT, 0), Fate::Delivered);
    assert_eq!(made(&mut bench), [2001]);
    bench.send(segment(OUT, FIN_ACK, Seq(2001), 500, Seq(1), WINDOW), Fate::Delivered);
    assert_eq!((made(&mut bench), bench.next_timer()), (vec![2502], false));
}

#[test]
fn a_failure_first_tells_what_waits_for_its_delayed_ack() {
    let mut bench = sender_with(&[("strategy", "delayed-ack")]);
    bench.send(nth(OUT, 0), Fate::Delivered);
    bench.send(nth(OUT, 1), Fate::GivenUp);
    assert_eq!(made(&mut bench), [1001; 4], "an ACK and three duplicates of it");
    while bench.next_timer() {}
    assert_eq!(made(&mut bench), [], "not once more by its timer");
}
