//! Fast retransmit and what follows, for each of the three. @RFC5681 sec. 3.2, @RFC6582, @RFC3042

use super::script::{Script, config, connected};
use tcp::{Config, cc};

/// Eight segments are out, the first is lost, more is waiting.
fn eight_out(congestion: &str) -> Script {
    let congestion = cc::find(congestion).unwrap();
    eight_out_of(Config { congestion, initial_window_segments: 8, ..config() })
}

fn eight_out_of(config: Config) -> Script {
    let mut script = connected(config, "65535 <mss 1000>");
    script.run(
        "1    write 40000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1    > . 4001:5001(1000) ack 1
         1    > . 5001:6001(1000) ack 1
         1    > . 6001:7001(1000) ack 1
         1    > . 7001:8001(1000) ack 1
         1    is cwnd=8000 flight=8000",
    );
    script
}

#[test]
fn tahoe_sends_one_segment_and_starts_slowly() {
    eight_out("tahoe").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.12 is cwnd=1000 ssthresh=4000 recovery=false
         1.13 < . 1:1(0) ack 1
         1.14 < . 1:1(0) ack 1
         1.15 < . 1:1(0) ack 1
         1.16 < . 1:1(0) ack 1
         1.22 < . 1:1(0) ack 8001
         1.22 > . 8001:9001(1000) ack 1
         1.22 > . 9001:10001(1000) ack 1
         1.22 is cwnd=2000 fast-retransmits=1 dup-acks=7",
    );
}

#[test]
fn reno_inflates_by_the_duplicates_and_deflates_at_the_new_ack() {
    eight_out("reno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.12 is cwnd=4000 ssthresh=4000 inflation=3000 recovery=true
         1.13 < . 1:1(0) ack 1
         1.14 < . 1:1(0) ack 1           // 4000 + 5000 > 8000 in flight
         1.14 > . 8001:9001(1000) ack 1
         1.15 < . 1:1(0) ack 1
         1.15 > . 9001:10001(1000) ack 1
         1.16 < . 1:1(0) ack 1
         1.16 > . 10001:11001(1000) ack 1
         1.22 < . 1:1(0) ack 8001
         1.22 > . 11001:12001(1000) ack 1
         1.22 is cwnd=4000 inflation=0 recovery=false flight=4000
         1.3  < . 1:1(0) ack 9001        // congestion avoidance: 1000 * 1000 / 4000
         1.3  > . 12001:13001(1000) ack 1
         1.3  is cwnd=4250",
    );
}

#[test]
fn reno_leaves_recovery_at_a_partial_ack_and_needs_three_more_duplicates() {
    // Segments 1 and 5 are lost.
    eight_out("reno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.13 < . 1:1(0) ack 1
         1.14 < . 1:1(0) ack 1
         1.14 > . 8001:9001(1000) ack 1
         1.15 < . 1:1(0) ack 1
         1.15 > . 9001:10001(1000) ack 1
         1.22 < . 1:1(0) ack 4001
         1.22 is cwnd=4000 recovery=false flight=6000
         1.24 < . 1:1(0) ack 4001
         1.25 < . 1:1(0) ack 4001
         // Only two: the rest is for the timer, whose RTO runs from the last ACK of new data.
         2.22 > . 4001:5001(1000) ack 1 again
         2.22 is cwnd=1000 ssthresh=3000 timeouts=1",
    );
}

#[test]
fn newreno_repairs_a_hole_per_partial_ack() {
    // Segments 1 and 5 are lost.
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.13 < . 1:1(0) ack 1
         1.14 < . 1:1(0) ack 1
         1.14 > . 8001:9001(1000) ack 1
         1.15 < . 1:1(0) ack 1
         1.15 > . 9001:10001(1000) ack 1
         1.15 is inflation=6000
         1.22 < . 1:1(0) ack 4001
         1.22 > . 4001:5001(1000) ack 1 again
         // 6000 - 4000 + 1000; 4000 + 3000 > 6000 in flight
         1.22 > . 10001:11001(1000) ack 1
         1.22 is cwnd=4000 inflation=3000 recovery=true
         1.24 < . 1:1(0) ack 4001
         1.24 > . 11001:12001(1000) ack 1
         1.25 < . 1:1(0) ack 4001
         1.25 > . 12001:13001(1000) ack 1
         // All of what was out when it began. RFC 6582 step 3 (1): min(4000, max(3000, 1000) + 1000)
         1.32 < . 1:1(0) ack 10001
         1.32 > . 13001:14001(1000) ack 1
         1.32 is cwnd=4000 inflation=0 recovery=false flight=4000 fast-retransmits=1 timeouts=0",
    );
}

#[test]
fn newreno_restarts_its_timer_at_the_first_partial_ack_only() {
    // Segments 1, 3, 5 are lost and everything after; then silence.
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.22 < . 1:1(0) ack 2001
         1.22 > . 2001:3001(1000) ack 1 again
         1.32 < . 1:1(0) ack 4001
         1.32 > . 4001:5001(1000) ack 1 again
         // 4000 + (3000 - 2000 + 1000 - 2000 + 1000) = 5000 > 4000 in flight
         1.32 > . 8001:9001(1000) ack 1
         1.32 is inflation=1000
         2.22 > . 4001:5001(1000) ack 1 again
         2.22 is timeouts=1 recovery=false cwnd=1000",
    );
}

#[test]
fn newreno_leaves_without_a_burst_when_little_is_in_flight() {
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         // The other duplicates are lost. Nothing is in flight: max(0, SMSS) + SMSS.
         1.22 < . 1:1(0) ack 8001
         1.22 > . 8001:9001(1000) ack 1
         1.22 > . 9001:10001(1000) ack 1
         1.22 is cwnd=2000 ssthresh=4000",
    );
}

#[test]
fn newreno_takes_duplicates_of_its_own_repairs_for_no_loss() {
    // RFC 6582 sec. 3.2 step 2: the ACK must cover more than "recover".
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.22 < . 1:1(0) ack 8001
         1.22 > . 8001:9001(1000) ack 1
         1.22 > . 9001:10001(1000) ack 1
         1.3  < . 1:1(0) ack 8001
         1.3  < . 1:1(0) ack 8001
         1.3  < . 1:1(0) ack 8001
         1.3  is fast-retransmits=1 recovery=false
         1.32 < . 1:1(0) ack 9001
         1.32 > . 10001:11001(1000) ack 1
         1.32 > . 11001:12001(1000) ack 1
         1.4  < . 1:1(0) ack 9001
         1.4  < . 1:1(0) ack 9001
         1.4  < . 1:1(0) ack 9001
         1.4  > . 9001:10001(1000) ack 1 again
         1.4  > . 12001:13001(1000) ack 1
         1.4  > . 13001:14001(1000) ack 1
         1.4  is fast-retransmits=2 recovery=true",
    );
}

#[test]
fn a_timeout_ends_fast_recovery() {
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.13 < . 1:1(0) ack 1
         2.12 > . 1:1001(1000) ack 1 again
         // Four of the eight have left the network: half of the other four. RFC 5681 sec. 4.3: the loss of a
         // retransmission lowers ssthresh a second time.
         2.12 is recovery=false inflation=0 cwnd=1000 ssthresh=2000 flight=1000",
    );
}

#[test]
fn a_timeout_in_fast_recovery_never_raises_ssthresh() {
    // Seven duplicates let three more out: eleven are not acknowledged, but only four are in the network.
    for congestion in ["reno", "newreno"] {
        eight_out(congestion).run(
            "1.1  < . 1:1(0) ack 1
             1.11 < . 1:1(0) ack 1
             1.12 < . 1:1(0) ack 1
             1.12 > . 1:1001(1000) ack 1 again
             1.13 < . 1:1(0) ack 1
             1.14 < . 1:1(0) ack 1
             1.14 > . 8001:9001(1000) ack 1
             1.15 < . 1:1(0) ack 1
             1.15 > . 9001:10001(1000) ack 1
             1.16 < . 1:1(0) ack 1
             1.16 > . 10001:11001(1000) ack 1
             1.16 is cwnd=4000 ssthresh=4000 flight=11000 inflation=7000
             2.12 > . 1:1001(1000) ack 1 again
             2.12 is cwnd=1000 ssthresh=2000 timeouts=1 recovery=false",
        );
    }
}

#[test]
fn a_timeout_after_reno_left_recovery_halves_the_flight_with_limited_transmit_too() {
    // Segments 1 and 5 are lost, as above; the last two duplicates let nothing out, for six are out and cwnd is four.
    let limited = Config {
        congestion: cc::find("reno").unwrap(),
        initial_window_segments: 8,
        limited_transmit: true,
        ..config()
    };
    eight_out_of(limited).run(
        "1.1  < . 1:1(0) ack 1
         1.1  > . 8001:9001(1000) ack 1
         1.11 < . 1:1(0) ack 1
         1.11 > . 9001:10001(1000) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.13 < . 1:1(0) ack 1
         1.14 < . 1:1(0) ack 1
         1.15 < . 1:1(0) ack 1
         1.22 < . 1:1(0) ack 4001
         1.22 is cwnd=4000 recovery=false flight=6000
         1.24 < . 1:1(0) ack 4001
         1.25 < . 1:1(0) ack 4001
         2.22 > . 4001:5001(1000) ack 1 again
         2.22 is cwnd=1000 ssthresh=3000 timeouts=1",
    );
}

#[test]
fn reno_cuts_again_from_the_flight_for_a_second_loss_of_one_window() {
    // Segments 1 and 3 are lost. Every fast retransmit cuts, but from FlightSize (RFC 5681 eq. 4): eight are out beside
    // a cwnd of four, so it stays four, where 4.3BSD, which halves cwnd, would come to two.
    eight_out("reno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.13 < . 1:1(0) ack 1
         1.14 < . 1:1(0) ack 1
         1.14 > . 8001:9001(1000) ack 1
         1.15 < . 1:1(0) ack 1
         1.15 > . 9001:10001(1000) ack 1
         1.22 < . 1:1(0) ack 2001
         1.22 is cwnd=4000 recovery=false flight=8000
         1.24 < . 1:1(0) ack 2001
         1.25 < . 1:1(0) ack 2001
         1.26 < . 1:1(0) ack 2001       // the network repeats one; two new segments provoke only two
         1.26 > . 2001:3001(1000) ack 1 again
         1.26 is cwnd=4000 ssthresh=4000 inflation=3000 flight=8000 fast-retransmits=2",
    );
}

#[test]
fn duplicates_after_a_timeout_do_not_retransmit_until_it_is_past() {
    // RFC 6582 sec. 3.2 step 4 and step 2, for every sender.
    for congestion in ["tahoe", "reno", "newreno"] {
        eight_out(congestion).run(
            "2    > . 1:1001(1000) ack 1 again
             2.1  < . 1:1(0) ack 1001
             2.1  > . 1001:2001(1000) ack 1 again
             2.1  > . 2001:3001(1000) ack 1 again
             2.2  < . 1:1(0) ack 1001
             2.21 < . 1:1(0) ack 1001
             2.22 < . 1:1(0) ack 1001
             2.23 < . 1:1(0) ack 1001
             2.23 is fast-retransmits=0 recovery=false dup-acks=4",
        );
    }
}

#[test]
fn limited_transmit_sends_two_segments_that_do_not_count() {
    let limited = Config { initial_window_segments: 8, limited_transmit: true, ..config() };
    eight_out_of(limited).run(
        "1.1  < . 1:1(0) ack 1
         1.1  > . 8001:9001(1000) ack 1
         1.11 < . 1:1(0) ack 1
         1.11 > . 9001:10001(1000) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.12 is ssthresh=4000 cwnd=4000 flight=10000   // half of 8000, not of 10000",
    );
}

#[test]
fn limited_transmit_is_over_with_an_ack_of_new_data() {
    let limited = Config { initial_window_segments: 8, limited_transmit: true, ..config() };
    eight_out_of(limited).run(
        "1.1  < . 1:1(0) ack 1
         1.1  > . 8001:9001(1000) ack 1
         1.11 < . 1:1(0) ack 1
         1.11 > . 9001:10001(1000) ack 1
         1.12 < . 1:1(0) ack 3001        // reordering: 9000 - 7000 in flight
         1.12 > . 10001:11001(1000) ack 1
         1.12 > . 11001:12001(1000) ack 1
         1.12 is cwnd=9000 inflation=0 retransmissions=0",
    );
}

#[test]
fn nothing_is_timed_across_a_fast_retransmit() {
    // Karn: the ACK that ends recovery covers the segment that was being timed, and says nothing of the path.
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.22 < . 1:1(0) ack 8001
         1.22 > . 8001:9001(1000) ack 1
         1.22 > . 9001:10001(1000) ack 1
         1.22 is rtt-samples=1                // the SYN's
         1.32 < . 1:1(0) ack 9001
         1.32 > . 10001:11001(1000) ack 1
         1.32 > . 11001:12001(1000) ack 1
         1.32 is rtt-samples=2 srtt=100ms",
    );
}

#[test]
fn what_is_no_duplicate() {
    // RFC 5681 sec. 2: (b) data, (c) FIN, (e) another window; (a) nothing outstanding.
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1 win 60000
         1.1  is dup-acks=0
         1.1  < . 1:101(100) ack 1 win 60000
         1.1  > . 8001:8001(0) ack 101
         1.1  is dup-acks=0
         1.1  < F. 101:101(0) ack 1 win 60000
         1.1  peer-closed
         1.1  > . 8001:8001(0) ack 102
         1.1  is dup-acks=0
         1.1  < . 102:102(0) ack 1 win 60000
         1.1  is dup-acks=1",
    );
    connected(config(), "20000 <mss 1000>").run(
        "1    < . 1:1(0) ack 1
         1    < . 1:1(0) ack 1
         1    < . 1:1(0) ack 1
         1    is dup-acks=0",
    );
}

#[test]
fn two_duplicates_are_reordering() {
    eight_out("newreno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 3001
         1.12 > . 8001:9001(1000) ack 1
         1.12 > . 9001:10001(1000) ack 1
         1.12 > . 10001:11001(1000) ack 1
         1.12 > . 11001:12001(1000) ack 1
         1.12 is cwnd=9000 retransmissions=0",
    );
}

#[test]
fn byte_counting_makes_up_for_delayed_acks() {
    let abc = Config { byte_counting: Some(2), initial_window_segments: 8, ..config() };
    eight_out_of(abc).run(
        "1.1  < . 1:1(0) ack 2001
         1.1  > . 8001:9001(1000) ack 1
         1.1  > . 9001:10001(1000) ack 1
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.1  is cwnd=10000",
    );
}
