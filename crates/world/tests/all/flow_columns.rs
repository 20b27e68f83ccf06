//! Columns of a flow that say when its losses came and how its ACKs are spaced.
//!
//! @ZSC91: Zhang, Shenker, Clark, "Observations on the Dynamics of a Congestion Control Algorithm: The Effects of Two-Way
//! Traffic", SIGCOMM 1991: ACKs are compressed where they wait behind data that goes their way, and nowhere else.
#![allow(clippy::unwrap_used)] // In a test a panic is the report.

use std::sync::atomic::AtomicBool;
use world::{Record, Run};

/// A wire of 1 Mb/s and 20 ms with so large a buffer, and flows between its ends.
fn run(buffer: u32, flows: &[&str]) -> Run {
    let mut text = format!(
        "[scenario]\nduration = \"60 s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mb/s\"\ndelay = \"20 ms\"\nqueue = {{ packets = {buffer} }}\n"
    );
    flows.iter().for_each(|flow| text += &format!("[[flow]]\n{flow}\n"));
    let scenario = world::parse(&text, &[]).unwrap();
    world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).unwrap()
}

#[test]
fn acks_are_compressed_behind_data_that_goes_their_way_and_only_there() {
    let there = "from = \"a\"\nto = \"b\"\nack_gaps = true\ntransport = { protocol = \"tcp\", preset = \"rfc\", receiver = \"every\" }";
    let back = "from = \"b\"\nto = \"a\"\nstart = \"3 s\"\ntransport = { protocol = \"tcp\", preset = \"rfc\", receiver = \"every\" }";
    let alone = run(50, &[there]);
    assert!(alone.flow(0, "acks_compared").unwrap() > 4000.0); // 60 s of 12 ms each
    assert_eq!(alone.flow(0, "acks_compressed"), Some(0.0));
    // A segment of 1500 B takes 12 ms, and its ACK leaves and arrives as long after the one before; to a sixteenth.
    for column in ["ack_leaving_gap_p50_s", "ack_arriving_gap_p50_s"] {
        let gap = alone.flow(0, column).unwrap();
        assert!((gap / 0.012 - 1.0).abs() < 1.0 / 16.0, "{column} {gap}");
    }
    let both = run(50, &[there, back]);
    let share = both.flow(0, "ack_compressed_share").unwrap();
    assert!(share > 0.5, "{share} of the ACKs leave a queue of data in clusters");
    // 40 B at 1 Mb/s: as close as ACKs can arrive.
    let gap = both.flow(0, "ack_arriving_gap_p10_s").unwrap();
    assert!((gap / 320e-6 - 1.0).abs() < 1.0 / 16.0, "{gap}");
}

#[test]
fn the_columns_of_ack_gaps_are_there_for_those_who_ask() {
    let run = run(50, &["from = \"a\"\nto = \"b\""]);
    assert!(run.flows[0].iter().all(|(name, _)| !name.starts_with("ack_")));
}

#[test]
fn the_first_two_losses_are_dated_from_the_start_of_the_flow() {
    let flow = |start: &str| format!("from = \"a\"\nto = \"b\"\nstart = \"{start}\"\ntransport.preset = \"rfc\"");
    let now = run(10, &[&flow("0 s")]);
    let (first, second) = (now.flow(0, "until_first_loss_s").unwrap(), now.flow(0, "until_second_loss_s").unwrap());
    assert!(now.flow(0, "fast_retransmits").unwrap() >= 2.0);
    assert!(0.0 < first && first < second && second < 60.0, "{first} {second}");
    // Slow start doubles 2 segments until 10 in the buffer and what the path holds, 4, are full: three or four times 40 ms
    // and what the queue adds, at most 120 ms a time. Found within one more.
    assert!((0.12..0.7).contains(&first), "{first}");
    let later = run(10, &[&flow("5 s")]);
    assert!((later.flow(0, "until_first_loss_s").unwrap() - first).abs() < 1e-9);
    let none = run(1000, &[&format!("{}\ntransport.max_window = 20", flow("0 s"))]);
    // Without a loss both are the length of the flow.
    assert_eq!([none.flow(0, "until_first_loss_s"), none.flow(0, "until_second_loss_s")], [Some(60.0); 2]);
}

#[test]
fn a_lone_first_segment_whose_ack_is_delayed_beyond_the_least_rto_meets_a_timeout_only_if_the_syn_was_timed() {
    // SYN and SYN-ACK take 41 ms, so that the RTO is its least, 200 ms; the ACK of a lone segment comes after 252 ms.
    let flow = |rtt: bool| {
        format!(
            "from = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\", preset = \"rfc\", initial_window = 1, min_rto = \"200 ms\", \
             delayed_ack_timeout = \"200 ms\", initial_rto = \"3 s\", handshake_rtt = {rtt} }}"
        )
    };
    assert_eq!(run(1000, &[&flow(true)]).flow(0, "timeouts"), Some(1.0));
    assert_eq!(run(1000, &[&flow(false)]).flow(0, "timeouts"), Some(0.0));
}
