//! The times of acknowledgments, and their blocks. @RFC1122 4.2.3.2, @RFC5681 sec. 4.2, @RFC2018

use super::script::{config, connected};
use tcp::{Config, ack};
use units::Dur;

const PEER: &str = "20000 <mss 1000>";

fn delayed() -> Config {
    Config { ack_policy: ack::find("delayed-ack").unwrap(), ..config() }
}

#[test]
fn every_segment_is_acknowledged_at_once() {
    connected(config(), PEER).run(
        "1 < . 1:1001(1000) ack 1
         1 > . 1:1(0) ack 1001
         1 < . 1001:1101(100) ack 1
         1 > . 1:1(0) ack 1101",
    );
}

#[test]
fn a_delayed_ack_goes_out_with_the_second_segment() {
    connected(delayed(), PEER).run(
        "1    < . 1:1001(1000) ack 1
         1.1  < . 1001:2001(1000) ack 1
         1.1  > . 1:1(0) ack 2001
         1.15 < . 2001:3001(1000) ack 1
         1.16 < . 3001:4001(1000) ack 1
         1.16 > . 1:1(0) ack 4001",
    );
}

#[test]
fn a_delayed_ack_goes_out_200_ms_after_the_first_segment_that_waits() {
    connected(Config { delayed_ack_count: 4, ..delayed() }, PEER).run(
        "1    < . 1:1001(1000) ack 1
         1.1  < . 1001:2001(1000) ack 1
         1.2  > . 1:1(0) ack 2001",
    );
}

#[test]
fn a_delayed_ack_rides_on_data() {
    connected(delayed(), PEER).run(
        "1    < . 1:1001(1000) ack 1
         1.1  write 500
         1.1  > P. 1:501(500) ack 1001
         1.15 < . 1001:2001(1000) ack 1
         1.35 > . 501:501(0) ack 2001    // the timer and the count began anew
         1.36 < . 2001:2001(0) ack 501",
    );
}

#[test]
fn beyond_a_gap_and_into_a_gap_is_acknowledged_at_once() {
    connected(delayed(), PEER).run(
        "1    < . 1:1001(1000) ack 1
         1.01 < . 2001:3001(1000) ack 1
         1.01 > . 1:1(0) ack 1001
         1.02 < . 4001:5001(1000) ack 1
         1.02 > . 1:1(0) ack 1001
         1.03 < . 1001:2001(1000) ack 1   // fills the first gap
         1.03 > . 1:1(0) ack 3001
         1.04 < . 3001:4001(1000) ack 1
         1.04 > . 1:1(0) ack 5001
         1.04 is delivered=5000 out-of-order=2",
    );
}

#[test]
fn a_duplicate_is_acknowledged_at_once() {
    connected(delayed(), PEER).run(
        "1    < . 1:1001(1000) ack 1
         1.2  > . 1:1(0) ack 1001
         1.3  < . 1:1001(1000) ack 1
         1.3  > . 1:1(0) ack 1001
         1.3  is duplicates=1 delivered=1000",
    );
}

#[test]
fn the_new_part_of_a_segment_is_taken() {
    connected(config(), PEER).run(
        "1 < . 1:1001(1000) ack 1
         1 > . 1:1(0) ack 1001
         1 < . 501:1501(1000) ack 1
         1 > . 1:1(0) ack 1501
         1 is delivered=1500",
    );
}

#[test]
fn a_duplicate_ack_is_pure_though_data_waits() {
    // RFC 5681 sec. 2 (b): with data it would not count as one.
    connected(Config { initial_window_segments: 1, ..config() }, PEER).run(
        "1 write 2000
         1 > . 1:1001(1000) ack 1
         1 < . 1001:2001(1000) ack 1001
         1 > . 1001:1001(0) ack 1
         1 > P. 1001:2001(1000) ack 1",
    );
}

#[test]
fn dynamic_delayed_acks_thin_out_at_segments_2_5_9() {
    let dynamic = Config {
        ack_policy: ack::find("dynamic-delayed-ack").unwrap(),
        delayed_ack_timeout: Dur::from_ms(100),
        ..config()
    };
    connected(dynamic, PEER).run(
        "1 < . 1:1001(1000) ack 1
         1 > . 1:1(0) ack 1001            // d = 1
         1 < . 1001:2001(1000) ack 1
         1 < . 2001:3001(1000) ack 1
         1 > . 1:1(0) ack 3001            // d = 2
         1 < . 3001:4001(1000) ack 1      // d = 2 here
         1 < . 4001:5001(1000) ack 1      // d = 3 from segment 5 on
         1 < . 5001:6001(1000) ack 1
         1 > . 1:1(0) ack 6001
         1 < . 6001:7001(1000) ack 1
         1 < . 7001:8001(1000) ack 1
         1 < . 8001:9001(1000) ack 1      // d = 4 from segment 9 on
         1 < . 9001:10001(1000) ack 1
         1 > . 1:1(0) ack 10001
         1 < . 10001:11001(1000) ack 1
         1 < . 11001:12001(1000) ack 1
         1.1 > . 1:1(0) ack 12001",
    );
}

#[test]
fn sack_blocks_name_the_latest_first_and_fit_beside_timestamps() {
    let offers = Config { sack: true, ..config() };
    connected(offers.clone(), "20000 <mss 1000, sackOK>").run(
        "1 < . 2001:3001(1000) ack 1
         1 > . 1:1(0) ack 1 <sack 2001:3001>
         1 < . 4001:5001(1000) ack 1
         1 > . 1:1(0) ack 1 <sack 4001:5001, sack 2001:3001>
         1 < . 3001:4001(1000) ack 1
         1 > . 1:1(0) ack 1 <sack 2001:5001>
         1 < . 6001:7001(1000) ack 1
         1 > . 1:1(0) ack 1 <sack 6001:7001, sack 2001:5001>
         1 < . 1:2001(2000) ack 1
         1 > . 1:1(0) ack 5001 <sack 6001:7001>
         1 < . 5001:6001(1000) ack 1
         1 > . 1:1(0) ack 7001",
    );
    connected(Config { timestamps: true, ..offers }, "20000 <mss 1000, sackOK, TS val 5 ecr 0>").run(
        "1 < . 1001:1101(100) ack 1 <TS val 6 ecr 100>
         1 > . 1:1(0) ack 1 <TS val 1000 ecr 5, sack 1001:1101>
         1 < . 2001:2101(100) ack 1 <TS val 6 ecr 100>
         1 > . 1:1(0) ack 1 <TS val 1000 ecr 5, sack 2001:2101, sack 1001:1101>
         1 < . 3001:3101(100) ack 1 <TS val 6 ecr 100>
         1 > . 1:1(0) ack 1 <TS val 1000 ecr 5, sack 3001:3101, sack 2001:2101, sack 1001:1101>
         1 < . 4001:4101(100) ack 1 <TS val 6 ecr 100>
         1 > . 1:1(0) ack 1 <TS val 1000 ecr 5, sack 4001:4101, sack 3001:3101, sack 2001:2101>",
    );
}

#[test]
fn without_negotiation_there_are_no_blocks() {
    connected(Config { sack: true, ..config() }, PEER).run(
        "1 < . 2001:3001(1000) ack 1
         1 > . 1:1(0) ack 1",
    );
}

#[test]
fn with_quickack_16_segments_are_acknowledged_at_once_then_the_delay_is_40_ms() {
    // As Linux. Without it the first segment waits for 200 ms (above).
    let mut script = connected(Config { quickack: true, ..delayed() }, PEER);
    let mut segment = |at: &str, i: u32, answer: &str| {
        script.run(&format!(
            "{at} < . {}:{}(1000) ack 1\n{answer} > . 1:1(0) ack {}",
            i * 1000 + 1,
            i * 1000 + 1001,
            i * 1000 + 1001
        ));
    };
    for i in 0..16 {
        segment("1", i, "1");
    }
    segment("1.01", 16, "1.05");
    // After a pause of an RTO (1 s) at once again.
    segment("3", 17, "3");
}

#[test]
fn what_came_twice_is_the_first_block_once() {
    // RFC 2883 sec. 4: below the ACK; within a block beyond a gap, which then follows; a part.
    connected(Config { sack: true, ..config() }, "20000 <mss 1000, sackOK>").run(
        "1    < . 1:1001(1000) ack 1
         1    > . 1:1(0) ack 1001
         1.1  < . 1:1001(1000) ack 1
         1.1  > . 1:1(0) ack 1001 <sack 1:1001>
         1.2  < . 2001:4001(2000) ack 1
         1.2  > . 1:1(0) ack 1001 <sack 2001:4001>
         1.3  < . 2001:3001(1000) ack 1
         1.3  > . 1:1(0) ack 1001 <sack 2001:3001, sack 2001:4001>
         1.4  < . 1:1001(1000) ack 1
         1.4  > . 1:1(0) ack 1001 <sack 1:1001, sack 2001:4001>
         1.5  < . 501:2001(1500) ack 1
         1.5  > . 1:1(0) ack 4001 <sack 501:1001>
         1.6  < . 4001:5001(1000) ack 1
         1.6  > . 1:1(0) ack 5001",
    );
}

/// An end with SACK to which `first` bytes have come in segments of 500; the examples count them from 0, this script from 1.
fn dsack(first: u32) -> super::script::Script {
    let mut script = connected(Config { sack: true, ..config() }, "20000 <mss 1000, sackOK>");
    let mut text = String::new();
    for from in (0..first).step_by(500) {
        let to = from + 500;
        text += &format!("1 < . {}:{}(500) ack 1\n1 > . 1:1(0) ack {}\n", from + 1, to + 1, to + 1);
    }
    script.run(&text);
    script
}

#[test]
fn dsack_a_duplicate_segment() {
    // RFC 2883 sec. 4.1.1, example 1.
    dsack(4000).run(
        "2    < . 3001:3501(500) ack 1
         2    > . 1:1(0) ack 4001 <sack 3001:3501>",
    );
}

#[test]
fn dsack_an_out_of_order_segment_and_a_duplicate() {
    // Sec. 4.1.2, example 2.
    dsack(4000).run(
        "2    < . 4501:5001(500) ack 1
         2    > . 1:1(0) ack 4001 <sack 4501:5001>
         2.1  < . 3001:3501(500) ack 1
         2.1  > . 1:1(0) ack 4001 <sack 3001:3501, sack 4501:5001>",
    );
}

#[test]
fn dsack_a_duplicate_of_an_out_of_order_segment() {
    // Sec. 4.1.3, example 3.
    dsack(4000).run(
        "2    < . 4501:5001(500) ack 1
         2    > . 1:1(0) ack 4001 <sack 4501:5001>
         2.1  < . 5001:5501(500) ack 1
         2.1  > . 1:1(0) ack 4001 <sack 4501:5501>
         2.2  < . 5001:5501(500) ack 1
         2.2  > . 1:1(0) ack 4001 <sack 5001:5501, sack 4501:5501>",
    );
}

#[test]
fn dsack_a_part_of_a_segment() {
    // Sec. 4.2.1, example 4.
    dsack(1000).run(
        "2    < . 2001:2501(500) ack 1
         2    > . 1:1(0) ack 1001 <sack 2001:2501>
         2.1  < . 1001:1501(500) ack 1
         2.1  > . 1:1(0) ack 1501 <sack 2001:2501>
         2.2  < . 1001:2001(1000) ack 1
         2.2  > . 1:1(0) ack 2501 <sack 1001:1501>",
    );
}

#[test]
fn dsack_of_two_parts_below_the_ack_the_first_is_told() {
    // Sec. 4.2.2, example 5.
    dsack(1000).run(
        "2    < . 3001:3501(500) ack 1
         2    > . 1:1(0) ack 1001 <sack 3001:3501>
         2.1  < . 1001:1501(500) ack 1
         2.1  > . 1:1(0) ack 1501 <sack 3001:3501>
         2.2  < . 2001:2501(500) ack 1
         2.2  > . 1:1(0) ack 1501 <sack 2001:2501, sack 3001:3501>
         2.3  < . 1001:2501(1500) ack 1
         2.3  > . 1:1(0) ack 2501 <sack 1001:1501, sack 3001:3501>",
    );
}

#[test]
fn dsack_of_two_parts_beyond_the_ack_the_first_is_told_and_the_block_it_is_in() {
    // Sec. 4.2.3, example 6, whose second segment received is 2500-2999 (the printed 2000-2499 is within nothing sent).
    dsack(1000).run(
        "2    < . 3501:4001(500) ack 1
         2    > . 1:1(0) ack 1001 <sack 3501:4001>
         2.1  < . 1501:2001(500) ack 1
         2.1  > . 1:1(0) ack 1001 <sack 1501:2001, sack 3501:4001>
         2.2  < . 2501:3001(500) ack 1
         2.2  > . 1:1(0) ack 1001 <sack 2501:3001, sack 1501:2001, sack 3501:4001>
         2.3  < . 1501:3001(1500) ack 1
         2.3  > . 1:1(0) ack 1001 <sack 1501:2001, sack 1501:3001, sack 3501:4001>",
    );
}

#[test]
fn behind_gro_a_batch_has_one_ack_and_a_segment_alone_waits() {
    let gro = Config { ack_policy: ack::find("gro").unwrap(), ..config() };
    connected(gro, PEER).run(
        "1    < . 1:1001(1000) ack 1
         1    < . 1001:2001(1000) ack 1
         1    > . 1:1(0) ack 2001
         1.01 < . 2001:3001(1000) ack 1
         1.21 > . 1:1(0) ack 3001
         1.3  < . 3001:4001(1000) ack 1
         1.31 < . 4001:5001(1000) ack 1
         1.31 > . 1:1(0) ack 5001",
    );
}

#[test]
fn tack_acknowledges_two_segments_or_more_and_four_times_in_the_least_round_trip() {
    // The handshake took 100 ms: an ACK each 25 ms at most.
    let tack = Config { ack_policy: ack::find("tack").unwrap(), ..config() };
    connected(tack, PEER).run(
        "1     < . 1:1001(1000) ack 1
         1     < . 1001:2001(1000) ack 1
         1     > . 1:1(0) ack 2001
         1.01  < . 2001:3001(1000) ack 1
         1.011 < . 3001:4001(1000) ack 1
         1.025 > . 1:1(0) ack 4001           // nothing comes any more: the interval has passed
         1.03  < . 4001:5001(1000) ack 1
         1.06  < . 5001:6001(1000) ack 1
         1.06  > . 1:1(0) ack 6001           // it passed while one waited
         1.07  < . 6001:7001(1000) ack 1
         1.27  > . 1:1(0) ack 7001           // one alone: 200 ms
         1.3   < . 8001:9001(1000) ack 1
         1.3   > . 1:1(0) ack 7001           // beyond a gap: at once",
    );
}
