//! What my-scheme counts, and what it drops.

use schemes::my_scheme::{INFO, install};
use schemes::testing::{Bench, HERE, OUT, ack, bench_of, data, node, with};
use schemes::{Place, Value};

/// A station with a radio on which the scheme runs, with these parameters.
fn bench(set: &[(&str, Value)]) -> Bench {
    bench_of(&with(&INFO, install, set), node(HERE, 2)).expect("it sits at every node with a radio")
}

/// How many of so many data segments pass.
fn passed(bench: &mut Bench, of: u32) -> usize {
    (0..of).filter(|_| bench.pass(Place::ToAir, data(OUT, 1..1449)).is_some()).count()
}

#[test]
fn it_counts_data_segments_and_drops_none_unless_asked_to() {
    let mut bench = bench(&[]);
    assert_eq!(passed(&mut bench, 10), 10);
    assert!(bench.pass(Place::ToAir, ack(OUT, 1, 65_535)).is_some(), "an ACK is none of its business");
    assert_eq!((bench.counter("segments_seen"), bench.counter("segments_dropped")), (10, 0));
}

#[test]
fn it_drops_every_nth_if_asked_to() {
    let mut bench = bench(&[("drop_every", Value::Int(4))]);
    assert_eq!(passed(&mut bench, 10), 8);
    assert_eq!((bench.counter("segments_seen"), bench.counter("segments_dropped")), (10, 2));
}
