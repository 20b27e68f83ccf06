//! The duplicate ACKs that the sending station makes of FAILURE.

use super::*;

#[test]
fn failure_makes_three_duplicates_for_the_first_loss_of_a_run_only() {
    let mut bench = sender();
    bench.pass(Place::FromAir, ack(IN, 1, 30_000)).unwrap(); // the last window heard
    bench.send(nth(OUT, 0), Fate::Delivered);
    bench.take_injected();
    bench.send(nth(OUT, 1), Fate::GivenUp);
    let three = bench.take_injected();
    assert_eq!(three, vec![(bare(ack(IN, 1001, 30_000)), Toward::Route); 3]);
    for i in [2, 3] {
        bench.send(nth(OUT, i), Fate::GivenUp);
    }
    bench.send(nth(OUT, 1), Fate::GivenUp); // the repetition, too
    assert_eq!(made(&mut bench), []);
    assert_eq!((bench.counter("dup_acks_made"), bench.counter("acks_made")), (3, 1));
}

#[test]
fn a_run_of_losses_ends_when_all_that_was_under_way_is_made_up_for() {
    let mut bench = sender();
    // Segments 0 to 3 are with the MAC when the first is lost.
    let under_way = [0, 1, 2, 3].map(|i| out(&mut bench, nth(OUT, i)).unwrap());
    bench.report(&under_way[0], Fate::GivenUp);
    assert_eq!(made(&mut bench), [1, 1, 1]);
    bench.report(&under_way[1], Fate::Delivered);
    bench.report(&under_way[2], Fate::GivenUp);
    bench.report(&under_way[3], Fate::Delivered);
    assert_eq!(made(&mut bench), [], "beyond the hole, or of the same run");
    bench.send(nth(OUT, 0), Fate::Delivered);
    assert_eq!(made(&mut bench), [2001], "up to the second hole");
    bench.send(nth(OUT, 2), Fate::GivenUp);
    assert_eq!(made(&mut bench), [], "segment 2 belongs to the run");
    bench.send(nth(OUT, 2), Fate::Delivered);
    assert_eq!(made(&mut bench), [4001]);
    bench.send(nth(OUT, 4), Fate::GivenUp);
    assert_eq!(made(&mut bench), [4001; 3], "a new run");
}

#[test]
fn the_receivers_own_ack_ends_a_run_as_well() {
    let mut bench = sender();
    bench.send(nth(OUT, 0), Fate::GivenUp);
    made(&mut bench);
    bench.pass(Place::FromAir, ack(IN, 1001, WINDOW)).unwrap(); // it had arrived
    bench.send(nth(OUT, 1), Fate::GivenUp);
    assert_eq!(made(&mut bench), [1001; 3]);
}

#[test]
fn after_a_lost_mac_ack_the_next_made_ack_jumps_to_the_highest_contiguous_byte() {
    let mut bench = sender();
    bench.send(nth(OUT, 0), Fate::GivenUp); // its last MAC ACK was lost: it is there
    made(&mut bench);
    for i in [1, 2, 3] {
        bench.send(nth(OUT, i), Fate::Delivered);
    }
    assert_eq!(made(&mut bench), [], "nothing beyond a hole");
    bench.send(nth(OUT, 0), Fate::Delivered);
    assert_eq!(made(&mut bench), [4001]);
    assert_eq!((bench.counter("segments_delivered"), bench.counter("segments_acknowledged")), (4, 4));
    bench.send(nth(OUT, 0), Fate::Delivered);
    bench.send(nth(OUT, 1), Fate::GivenUp);
    assert_eq!(made(&mut bench), [], "what is acknowledged already says nothing new");
}

#[test]
fn failure_without_payload_is_left_to_tcps_timer() {
    let mut bench = paired(&[]);
    bench.send(syn(OUT), Fate::GivenUp);
    open(&mut bench, OUT);
    bench.send(segment(OUT, FIN_ACK, Seq(1), 0, Seq(1), WINDOW), Fate::GivenUp);
    bench.send(ack(OUT, 1, WINDOW), Fate::GivenUp);
    assert_eq!(made(&mut bench), []);
    bench.send(segment(OUT, FIN_ACK, Seq(1), 0, Seq(1), WINDOW), Fate::Delivered);
    assert_eq!(made(&mut bench), [2]);
}
