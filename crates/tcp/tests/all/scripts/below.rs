//! Data in the queues of the own host. Linux: tcp_small_queue_check, tcp_update_pacing_rate.
//!
//! The handshake took 0.1 s. In slow start the pacing rate is twice the window a round trip; a segment has 1000 B.

use super::script::{Script, config, out};
use tcp::{Config, SmallQueue};

const PEER: &str = "65535 <mss 1000, sackOK>";

/// Connected; nothing was written yet.
fn connected(small_queue: SmallQueue, initial_window_segments: u32) -> Script {
    out(Config { small_queue, initial_window_segments, sack: true, ..config() }, PEER, 0, 0)
}

#[test]
fn no_more_leaves_while_more_than_two_packets_of_two_segments_wait_and_one_leaves_for_each_that_has_left() {
    // 2 * 10,000 B / 0.1 s: 195 B in 2^-10 s. Two packets of two segments are 4000 B.
    connected(SmallQueue::Linux, 10).run(
        "1    queues wire
         1    write 40000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1    > . 4001:5001(1000) ack 1
         1.01 left 1000
         1.01 > . 5001:6001(1000) ack 1
         1.02 left 2000
         1.02 > . 6001:7001(1000) ack 1
         1.02 > . 7001:8001(1000) ack 1
         1.03 < . 1:1(0) ack 3001              // says nothing of the queue
         1.03 left 3000
         1.03 > . 8001:9001(1000) ack 1
         1.03 > . 9001:10001(1000) ack 1
         1.03 > . 10001:11001(1000) ack 1",
    );
}

#[test]
fn by_radio_packets_have_the_data_of_eight_ms_by_wire_of_one() {
    // 2 * 40,000 B / 0.1 s: 6250 B in 2^-7 s, so that 12,500 may wait; 781 B in 2^-10 s, and two packets have two segments each.
    for (interface, leave) in [("radio", 13), ("wire", 5)] {
        let mut script = connected(SmallQueue::Linux, 40);
        let sent = |n: u32| format!("1 > . {}:{}(1000) ack 1\n", n * 1000 + 1, n * 1000 + 1001);
        let all: String = (0..leave).map(sent).collect();
        script.run(&format!("1 queues {interface}\n1 write 40000\n{all}"));
    }
    // 50,000 B in 2^-2 s: the window is the limit.
    let all: String = (0..10).map(|n| format!("1 > . {}:{}(1000) ack 1\n", n * 1000 + 1, n * 1000 + 1001)).collect();
    connected(SmallQueue::Shift(2), 10).run(&format!("1 queues wire\n1 write 40000\n{all}"));
}

#[test]
fn where_the_round_trip_is_short_packets_are_longer() {
    // After an ACK in 1 ms the least round trip halves 64 kB once. Two packets are more than the window.
    connected(SmallQueue::Linux, 10).run(
        "1     queues wire
         1     write 60000
         1     > . 1:1001(1000) ack 1
         1     > . 1001:2001(1000) ack 1
         1     > . 2001:3001(1000) ack 1
         1     > . 3001:4001(1000) ack 1
         1     > . 4001:5001(1000) ack 1
         1.001 < . 1:1(0) ack 1001
         1.001 > . 5001:6001(1000) ack 1
         1.001 > . 6001:7001(1000) ack 1
         1.001 > . 7001:8001(1000) ack 1
         1.001 > . 8001:9001(1000) ack 1
         1.001 > . 9001:10001(1000) ack 1
         1.001 > . 10001:11001(1000) ack 1",
    );
}

#[test]
fn a_segment_leaves_whatever_waits_if_no_more_than_one_is_out() {
    connected(SmallQueue::Linux, 10).run(
        "1    queues wire
         1    write 40000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1    > . 4001:5001(1000) ack 1
         1.1  < . 1:1(0) ack 3001
         1.11 < . 1:1(0) ack 4001
         1.11 > . 5001:6001(1000) ack 1",
    );
}

#[test]
fn a_repair_leaves_up_to_twice_as_much() {
    connected(SmallQueue::Linux, 10).run(
        "1    queues wire
         1    write 40000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1    > . 4001:5001(1000) ack 1
         1.01 left 5000
         1.01 > . 5001:6001(1000) ack 1
         1.01 > . 6001:7001(1000) ack 1
         1.01 > . 7001:8001(1000) ack 1
         1.01 > . 8001:9001(1000) ack 1
         1.01 > . 9001:10001(1000) ack 1
         1.1  < . 1:1(0) ack 1 <sack 5001:10001>
         1.1  > . 1:1001(1000) ack 1 again      // 5000 wait, 8000 may
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.1  > . 3001:4001(1000) ack 1 again
         1.11 left 1000
         1.11 > . 4001:5001(1000) ack 1 again",
    );
}

#[test]
fn without_the_key_the_window_is_the_limit() {
    let all: String = (0..10).map(|n| format!("1 > . {}:{}(1000) ack 1\n", n * 1000 + 1, n * 1000 + 1001)).collect();
    connected(SmallQueue::Off, 10).run(&format!("1 queues radio\n1 write 40000\n{all}"));
}

#[test]
fn news_of_the_queue_do_not_make_a_refused_segment_leave_again() {
    let config =
        Config { local_congestion: true, small_queue: SmallQueue::Linux, initial_window_segments: 10, ..config() };
    out(Config { sack: true, ..config }, PEER, 0, 0).run(
        "1    queues radio
         1    full
         1    write 40000
         1    > . 1:1001(1000) ack 1 refused
         1    left 1000
         1.01 left 0
         1.01 is flight=0",
    );
}
