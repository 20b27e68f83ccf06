//! Segments that the own host refuses. Linux: tcp_transmit_skb, tcp_write_xmit, tcp_enter_cwr.

use super::script::{Script, config, out};
use tcp::Config;

const PEER: &str = "65535 <mss 1000, sackOK>";

fn local() -> Config {
    Config { sack: true, prr: true, local_congestion: true, initial_window_segments: 10, ..config() }
}

/// Ten segments are out at 1 s, more is waiting.
fn ten_out(config: Config) -> Script {
    out(config, PEER, 10, 40_000)
}

#[test]
fn a_refused_segment_was_not_sent_and_the_window_comes_down_in_a_round_trip() {
    // Nothing leaves after it before the next ACK, and it is no retransmission then. RecoverFS is nine segments that are out, ssthresh half
    // of cwnd.
    ten_out(local()).run(
        "1.09 full
         1.1  < . 1:1(0) ack 1001
         1.1  > . 10001:11001(1000) ack 1 refused
         1.1  is flight=9000 ssthresh=5500 cwnd=11000 local-cuts=1 retransmissions=0 recovery=false
         1.1  room
         1.11 < . 1:1(0) ack 2001
         1.11 is cwnd=8612 pipe=8000                 // 1000 * 5500 / 9000
         1.12 < . 1:1(0) ack 3001
         1.12 > . 10001:11001(1000) ack 1            // 2000 * 5500 / 9000
         1.12 is cwnd=8223 pipe=8000
         1.13 < . 1:1(0) ack 8001
         1.13 > . 11001:12001(1000) ack 1
         1.13 > . 12001:13001(1000) ack 1
         1.13 is cwnd=5500 pipe=5000
         1.14 < . 1:1(0) ack 10001
         1.14 > . 13001:14001(1000) ack 1
         1.14 > . 14001:15001(1000) ack 1
         1.14 is cwnd=5500 ssthresh=5500 local-cuts=1 retransmissions=0",
    );
}

#[test]
fn a_window_is_cut_once_for_all_that_its_host_refuses() {
    ten_out(local()).run(
        "1.09 full
         1.1  < . 1:1(0) ack 1001
         1.1  > . 10001:11001(1000) ack 1 refused
         1.11 < . 1:1(0) ack 3001
         1.11 > . 10001:11001(1000) ack 1 refused
         1.12 < . 1:1(0) ack 4001
         1.12 > . 10001:11001(1000) ack 1 refused
         1.12 is local-cuts=1 ssthresh=5500 flight=6000",
    );
}

#[test]
fn if_nothing_is_in_flight_a_refused_segment_is_tried_again_after_an_rto() {
    // No ACK will come. Linux: the timer of the probe of a closed window, tcp_probe0_base.
    out(local(), PEER, 1, 1000).run(
        "1.1  < . 1:1(0) ack 1001
         1.5  full
         1.5  write 2000
         1.5  > . 1001:2001(1000) ack 1 refused
         1.5  is flight=0 rto=1s timeouts=0
         2.5  > . 1001:2001(1000) ack 1 refused
         3    room
         3.5  > . 1001:2001(1000) ack 1
         3.5  > P. 2001:3001(1000) ack 1
         3.5  is timeouts=0 retransmissions=0 cwnd=5000 local-cuts=1",
    );
}

#[test]
fn a_refused_repair_is_due_again_at_the_next_ack() {
    ten_out(local()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:3001>
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.1  full
         1.11 < . 1:1(0) ack 1 <sack 1001:4001>
         1.11 > . 1:1001(1000) ack 1 again refused
         1.11 is recovery=true retransmissions=0 local-cuts=0 pipe=8000 ssthresh=5000
         1.12 room
         1.12 < . 1:1(0) ack 1 <sack 1001:5001>
         1.12 > . 1:1001(1000) ack 1 again
         1.12 is retransmissions=1",
    );
}

#[test]
fn without_the_key_what_the_host_refuses_is_lost() {
    ten_out(Config { local_congestion: false, ..local() }).run(
        "1.09 full
         1.1  < . 1:1(0) ack 1001
         1.1  > . 10001:11001(1000) ack 1 refused
         1.1  > . 11001:12001(1000) ack 1 refused
         1.1  is flight=11000 cwnd=11000 local-cuts=0",
    );
}

#[test]
fn without_sack_the_window_is_cut_at_once() {
    let plain = Config { sack: false, prr: false, ..local() };
    out(plain, "65535 <mss 1000>", 10, 40_000).run(
        "1.09 full
         1.1  < . 1:1(0) ack 1001
         1.1  > . 10001:11001(1000) ack 1 refused
         1.1  is flight=9000 ssthresh=5500 cwnd=5500 local-cuts=1
         1.1  room
         1.11 < . 1:1(0) ack 7001
         1.11 > . 10001:11001(1000) ack 1
         1.11 > . 11001:12001(1000) ack 1
         1.11 is local-cuts=1 retransmissions=0",
    );
}

#[test]
fn a_pure_ack_that_is_refused_says_nothing_of_the_segment_that_begins_where_it_stands() {
    // The ACK was written before the segment, and came to the queue after it. Taken for it, the peer's answer was to data never sent, for
    // ever (RFC 9293 3.10.7.4).
    out(local(), PEER, 10, 12_000).run(
        "1.1  < . 1:1(0) ack 1001
         1.1  > . 10001:11001(1000) ack 1
         1.1  > P. 11001:12001(1000) ack 1
         1.1  refused 11001:11001
         1.1  is local-cuts=0
         1.2  < . 1:1(0) ack 12001
         1.2  is pipe=0 local-cuts=0",
    );
}
