//! When data is acknowledged, and with which blocks. @RFC1122 4.2.3.2, @RFC5681 sec. 4.2, @RFC2018

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
