//! @RFC9293 sec. 3.5

use super::script::{Script, config, connected};
use tcp::{Config, Seq};
use units::Bytes;

#[test]
fn three_way_handshake_of_the_active_end() {
    Script::open(config()).run(
        "0    > S 0:0(0) win 65535 <mss 1000>
         0.1  < S. 0:0(0) ack 1 win 20000 <mss 800>
         0.1  connected
         0.1  > . 1:1(0) ack 1 win 65535
         0.1  is state=Established mss=800 cwnd=1600 rwnd=20000 srtt=100ms rto=1s",
    );
}

#[test]
fn three_way_handshake_of_the_passive_end() {
    Script::listen(config()).run(
        "0    is state=Listen
         1    < S 0:0(0) win 20000 <mss 800>
         1    > S. 0:0(0) ack 1 win 65535 <mss 1000>
         1.1  < . 1:1(0) ack 1
         1.1  connected
         1.1  is state=Established mss=800",
    );
}

#[test]
fn a_peer_without_mss_option_takes_536_bytes() {
    connected(config(), "20000").run("0.1 is mss=536");
}

#[test]
fn a_lost_syn_is_repeated_after_1_2_4_seconds_and_leaves_a_window_of_one_segment() {
    Script::open(config()).run(
        "0    > S 0:0(0) <mss 1000>
         1    > S 0:0(0) <mss 1000> again
         3    > S 0:0(0) <mss 1000> again
         3.1  < S. 0:0(0) ack 1 win 20000 <mss 1000>
         3.1  connected
         3.1  > . 1:1(0) ack 1
         // Karn: no sample; RFC 6298 (5.7): 3 s for the first data; RFC 5681 sec. 3.1: one segment.
         3.1  is cwnd=1000 rto=3s srtt=none",
    );
}

#[test]
fn a_lost_syn_ack_is_repeated_by_timer_and_at_once_for_a_repeated_syn() {
    Script::listen(config()).run(
        "0    < S 0:0(0) win 20000 <mss 1000>
         0    > S. 0:0(0) ack 1 <mss 1000>
         1    > S. 0:0(0) ack 1 <mss 1000> again
         1.5  < S 0:0(0) win 20000 <mss 1000>
         1.5  > S. 0:0(0) ack 1 <mss 1000> again
         1.6  < . 1:1(0) ack 1
         1.6  connected
         1.6  is cwnd=1000",
    );
}

#[test]
fn an_unanswered_syn_fails_after_its_retries() {
    Script::open(Config { syn_retries: 2, ..config() }).run(
        "0    > S 0:0(0) <mss 1000>
         1    > S 0:0(0) <mss 1000> again
         3    > S 0:0(0) <mss 1000> again
         7    failed TimedOut
         7    is state=Closed",
    );
}

#[test]
fn data_stands_in_for_a_lost_third_ack() {
    Script::listen(config()).run(
        "0    < S 0:0(0) win 20000 <mss 1000>
         0    > S. 0:0(0) ack 1 <mss 1000>
         0.2  < P. 1:501(500) ack 1
         0.2  connected
         0.2  > . 1:1(0) ack 501
         0.2  is delivered=500 state=Established",
    );
}

#[test]
fn a_repeated_syn_ack_in_established_is_answered_by_an_ack() {
    connected(config(), "20000 <mss 1000>").run(
        "1 < S. 0:0(0) ack 1 <mss 1000>
         1 > . 1:1(0) ack 1
         1 is state=Established discarded=1",
    );
}

#[test]
fn simultaneous_open() {
    // RFC 9293 figure 8, the view of one end.
    Script::open(config()).run(
        "0     > S 0:0(0) <mss 1000>
         0.05  < S 0:0(0) win 20000 <mss 900>
         0.05  > S. 0:0(0) ack 1 <mss 1000> again
         0.05  is state=SynReceived
         0.1   < S. 0:0(0) ack 1 <mss 900>
         0.1   connected
         0.1   is state=Established mss=900",
    );
}

#[test]
fn options_are_used_only_if_both_ends_offer_them() {
    let all = Config { timestamps: true, sack: true, window_scale: Some(2), ..config() };
    Script::open(all.clone()).run(
        "0    > S 0:0(0) win 65535 <mss 1000, sackOK, TS val 0 ecr 0, wscale 2>
         0.1  < S. 0:0(0) ack 1 win 60000 <mss 1000>
         0.1  connected
         0.1  > . 1:1(0) ack 1 win 65535
         0.1  is mss=1000 rwnd=60000",
    );
    Script::open(Config { receive_buffer: Bytes(200_000), ..all }).run(
        "0    > S 0:0(0) win 65535 <mss 1000, sackOK, TS val 0 ecr 0, wscale 2>
         0.1  < S. 0:0(0) ack 1 win 60000 <mss 1000, sackOK, TS val 7 ecr 0, wscale 3>
         0.1  connected
         // The SYN-ACK's window is not scaled; ours now is.
         0.1  > . 1:1(0) ack 1 win 50000 <TS val 100 ecr 7>
         0.1  is mss=988 rwnd=60000
         0.2  < . 1:1(0) ack 1 win 60000 <TS val 8 ecr 100>
         0.2  is rwnd=480000",
    );
}

#[test]
fn a_scaled_window_is_shifted_both_ways_but_never_on_a_syn() {
    // RFC 7323 sec. 2.2: ours by 3, theirs by 2.
    let scaled = Config { window_scale: Some(3), receive_buffer: Bytes(100_000), ..config() };
    Script::listen(scaled.clone()).run(
        "0    < S 0:0(0) win 1000 <mss 1000, wscale 2>
         0    > S. 0:0(0) ack 1 win 65535 <mss 1000, wscale 3>
         0.1  < . 1:1(0) ack 1 win 1000
         0.1  connected
         0.1  is rwnd=4000
         1    < . 1:1001(1000) ack 1 win 500
         1    > . 1:1(0) ack 1001 win 12500       // 100000 / 8
         1    is rwnd=2000",
    );
    Script::listen(scaled).run(
        "0    < S 0:0(0) win 1000 <mss 1000>
         0    > S. 0:0(0) ack 1 win 65535 <mss 1000>
         0.1  < . 1:1(0) ack 1 win 1000
         0.1  connected
         0.1  is rwnd=1000
         1    < . 1:1001(1000) ack 1
         1    > . 1:1(0) ack 1001 win 65535",
    );
}

#[test]
fn a_reset_refuses_the_active_end_and_returns_the_passive_end_to_listen() {
    Script::open(config()).run(
        "0    > S 0:0(0) <mss 1000>
         0.1  < R. 0:0(0) ack 1
         0.1  failed Refused",
    );
    Script::listen(config()).run(
        "0    < S 0:0(0) win 20000
         0    > S. 0:0(0) ack 1 <mss 1000>
         0.1  < R 1:1(0)
         0.1  is state=Listen
         5    < S 0:0(0) win 20000
         5    > S. 0:0(0) ack 1 <mss 1000>",
    );
}

#[test]
fn an_ack_of_something_else_is_reset_in_syn_sent_and_listen() {
    Script::open(config()).run(
        "0    > S 0:0(0) <mss 1000>
         0.1  < . 0:0(0) ack 77
         0.1  > R 77:77(0) win 0
         0.1  < R. 0:0(0) ack 77      // neither: its reset proves nothing
         0.1  is state=SynSent",
    );
    Script::listen(config()).run(
        "0    < . 0:0(0) ack 77
         0    > R 77:77(0) win 0
         0    is state=Listen",
    );
}

#[test]
fn sequence_numbers_wrap() {
    // Both initial numbers are a few hundred below 2^32 (the script's peer always).
    connected(Config { initial_sequence: Seq(u32::MAX - 1500), ..config() }, "65535 <mss 1000>").run(
        "0.1  write 4000
         0.1  > . 1:1001(1000) ack 1
         0.1  > . 1001:2001(1000) ack 1
         0.2  < . 1:1001(1000) ack 2001
         0.2  > . 2001:3001(1000) ack 1001
         0.2  > P. 3001:4001(1000) ack 1001
         0.3  < . 1001:2001(1000) ack 4001
         0.3  > . 4001:4001(0) ack 2001
         0.3  is flight=0 delivered=2000 cwnd=4000",
    );
}

#[test]
fn syn_received_acknowledges_what_it_cannot_accept_at_once_and_not_later() {
    // RFC 9293 sec. 3.10.7.4, first; RFC 5961 sec. 3.2 for the reset.
    Script::listen(config()).run(
        "0    < S 0:0(0) win 20000 <mss 1000>
         0    > S. 0:0(0) ack 1 <mss 1000>
         0.1  < . 70001:70001(0) ack 1
         0.1  > . 1:1(0) ack 1 win 65535
         0.2  < R 101:101(0)
         0.2  > . 1:1(0) ack 1
         0.2  is state=SynReceived
         0.3  < . 1:1(0) ack 1
         0.3  connected
         0.4  write 100
         0.4  > P. 1:101(100) ack 1",
    );
}
