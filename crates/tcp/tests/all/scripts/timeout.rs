//! The retransmission timer, Karn's rule, timestamps. @RFC6298, @RFC7323

use super::script::{Script, config, connected};
use tcp::Config;
use units::Dur;

const PEER: &str = "20000 <mss 1000>";

fn stamped() -> Config {
    Config { timestamps: true, ..config() }
}

#[test]
fn the_rto_doubles_and_stays_doubled_until_a_sample() {
    connected(config(), PEER).run(
        "1    write 1000
         1    > P. 1:1001(1000) ack 1
         2    > P. 1:1001(1000) ack 1 again
         4    > P. 1:1001(1000) ack 1 again
         8    > P. 1:1001(1000) ack 1 again
         8.1  < . 1:1(0) ack 1001
         // Karn: that may be for any of the four. The RTO stays what it was.
         8.1  is rto=8s rtt-samples=1 timeouts=3 srtt=100ms
         9    write 1000
         9    > P. 1001:2001(1000) ack 1
         9.1  < . 1:1(0) ack 2001
         9.1  is rto=1s rtt-samples=2",
    );
}

#[test]
fn the_backoff_stops_at_the_largest_rto() {
    connected(Config { max_rto: Dur::from_secs(3), ..config() }, PEER).run(
        "1    write 1000
         1    > P. 1:1001(1000) ack 1
         2    > P. 1:1001(1000) ack 1 again
         4    > P. 1:1001(1000) ack 1 again
         7    > P. 1:1001(1000) ack 1 again
         10   > P. 1:1001(1000) ack 1 again
         10   is rto=3s",
    );
}

#[test]
fn an_ack_of_what_was_sent_again_does_not_end_the_backoff_an_ack_of_new_data_does() {
    // RFC 6298 sec. 5, the note after (5.7): only a sample collapses the RTO, and only new data gives one.
    connected(Config { initial_window_segments: 4, ..config() }, PEER).run(
        "1    write 5000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 1001
         2.1  > . 1001:2001(1000) ack 1 again
         2.1  > . 2001:3001(1000) ack 1 again
         2.1  is rto=2s cwnd=2000
         4.1  > . 1001:2001(1000) ack 1 again    // two seconds, then four; another segment: ssthresh again
         4.1  is rto=4s cwnd=1000 ssthresh=2000
         4.2  < . 1:1(0) ack 4001
         4.2  > P. 4001:5001(1000) ack 1
         4.2  is rto=4s rtt-samples=1
         4.3  < . 1:1(0) ack 5001
         4.3  is rto=1s rtt-samples=2",
    );
}

#[test]
fn timeouts_without_progress_are_one_sequence_told_by_its_first_rto() {
    connected(config(), PEER).run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:2001(1000) ack 1
         2    > . 1:1001(1000) ack 1 again
         4    > . 1:1001(1000) ack 1 again
         4    is timeouts=2 timeout-sequences=1 first-rtos=1s
         // Progress; Karn keeps the RTO at 4 s, and that is what the next sequence begins with: 1 + 4 s.
         4.1  < . 1:1(0) ack 1001
         4.1  > P. 1001:2001(1000) ack 1 again
         8.1  > P. 1001:2001(1000) ack 1 again
         8.1  is timeouts=3 timeout-sequences=2 first-rtos=5s",
    );
}

#[test]
fn an_ack_of_new_data_restarts_the_timer() {
    connected(config(), PEER).run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:2001(1000) ack 1
         1.9  < . 1:1(0) ack 1001      // sample 900 ms: RTTVAR 3/4 * 50 + 1/4 * 800 = 237.5, SRTT 200
         1.9  is srtt=200ms rto=1150ms
         3.05 > P. 1001:2001(1000) ack 1 again",
    );
}

#[test]
fn a_timeout_goes_back_n_in_slow_start_and_skips_what_was_received() {
    connected(Config { initial_window_segments: 6, ..config() }, PEER).run(
        "1    write 8000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1    > . 4001:5001(1000) ack 1
         1    > . 5001:6001(1000) ack 1
         2    > . 1:1001(1000) ack 1 again
         2    is cwnd=1000 ssthresh=3000 flight=1000
         2.1  < . 1:1(0) ack 1001
         2.1  > . 1001:2001(1000) ack 1 again
         2.1  > . 2001:3001(1000) ack 1 again
         // Segments 4 to 6 had arrived: nothing of them is sent again.
         2.2  < . 1:1(0) ack 6001
         2.2  > . 6001:7001(1000) ack 1
         2.2  > P. 7001:8001(1000) ack 1
         2.2  is cwnd=3000",
    );
}

#[test]
fn ssthresh_is_cut_once_for_a_segment_that_times_out_twice() {
    connected(Config { initial_window_segments: 6, ..config() }, PEER).run(
        "1    write 6000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1    > . 4001:5001(1000) ack 1
         1    > P. 5001:6001(1000) ack 1
         2    > . 1:1001(1000) ack 1 again
         4    > . 1:1001(1000) ack 1 again
         4    is cwnd=1000 ssthresh=3000 timeouts=2",
    );
}

#[test]
fn after_r2_the_connection_fails() {
    connected(Config { max_retries: 2, ..config() }, PEER).run(
        "1    write 1000
         1    > P. 1:1001(1000) ack 1
         2    > P. 1:1001(1000) ack 1 again
         4    > P. 1:1001(1000) ack 1 again
         8    failed TimedOut",
    );
}

#[test]
fn the_smallest_rto_and_the_granularity_are_parameters() {
    let fast = Config { min_rto: Dur::from_ms(200), granularity: Dur::from_ms(500), ..config() };
    connected(fast, PEER).run("0.1 is srtt=100ms rto=600ms");
    let fast = Config { min_rto: Dur::from_ms(200), ..config() };
    connected(fast, PEER).run("0.1 is srtt=100ms rto=300ms");
}

#[test]
fn with_timestamps_a_retransmission_gives_a_sample_too() {
    connected(stamped(), "20000 <mss 1000, TS val 5 ecr 0>").run(
        "1    write 988
         1    > P. 1:989(988) ack 1 <TS val 1000 ecr 5>
         2    > P. 1:989(988) ack 1 <TS val 2000 ecr 5> again
         2.1  < . 1:1(0) ack 989 <TS val 6 ecr 2000>
         // 100 ms: RTTVAR 3/4 * 50 = 37.5, SRTT 100.
         2.1  is rtt-samples=2 srtt=100ms rto=1s",
    );
}

#[test]
fn timestamps_measure_every_ack_and_echo_the_first_that_waits() {
    let policy = tcp::ack::find("delayed-ack").unwrap();
    connected(Config { ack_policy: policy, ..stamped() }, "20000 <mss 1000, TS val 5 ecr 0>").run(
        "1    < . 1:101(100) ack 1 <TS val 11 ecr 100>
         1.05 < . 101:201(100) ack 1 <TS val 12 ecr 100>
         // RFC 7323 sec. 4.3: a delayed ACK echoes the earliest segment it is for.
         1.05 > . 1:1(0) ack 201 <TS val 1050 ecr 11>
         1.06 < . 301:401(100) ack 1 <TS val 14 ecr 100>
         1.06 > . 1:1(0) ack 201 <TS val 1060 ecr 11>
         1.07 < . 201:301(100) ack 1 <TS val 15 ecr 100>
         1.07 > . 1:1(0) ack 401 <TS val 1070 ecr 15>",
    );
}

#[test]
fn paws_drops_the_old_and_the_unstamped() {
    connected(stamped(), "20000 <mss 1000, TS val 500 ecr 0>").run(
        "1    < . 1:101(100) ack 1 <TS val 499 ecr 100>
         1    > . 1:1(0) ack 1 <TS val 1000 ecr 500>
         1    < . 1:101(100) ack 1
         1    is delivered=0 discarded=2
         1    < . 1:101(100) ack 1 <TS val 500 ecr 100>
         1    > . 1:1(0) ack 101 <TS val 1000 ecr 500>
         // The timestamp clock wraps too.
         2    < . 101:201(100) ack 1 <TS val 2147483900 ecr 100>
         2    > . 1:1(0) ack 201 <TS val 2000 ecr 2147483900>
         3    < . 201:301(100) ack 1 <TS val 10 ecr 100>
         3    > . 1:1(0) ack 301 <TS val 3000 ecr 10>",
    );
}

#[test]
fn a_segment_dropped_for_its_ack_number_leaves_ts_recent_alone() {
    // A forged timestamp of the future would make PAWS drop the peer.
    connected(stamped(), "20000 <mss 1000, TS val 500 ecr 0>").run(
        "1    < . 1:101(100) ack 9001 <TS val 999999 ecr 100>
         1    > . 1:1(0) ack 1 <TS val 1000 ecr 500>
         1.1  < . 1:101(100) ack 1 <TS val 501 ecr 100>
         1.1  > . 1:1(0) ack 101 <TS val 1100 ecr 501>
         1.1  is delivered=100",
    );
}

#[test]
fn paws_forgets_ts_recent_before_the_sign_of_the_clock_turns() {
    // RFC 7323 sec. 5.5: after 24 days. The peer's clock of 1 ms has gone on by 25 days = 2160000000 ticks > 2^31.
    connected(stamped(), "20000 <mss 1000, TS val 500 ecr 0>").run(
        "1       < . 1:101(100) ack 1 <TS val 1400 ecr 100>
         1       > . 1:1(0) ack 101 <TS val 1000 ecr 1400>
         2160001 < . 101:201(100) ack 1 <TS val 2160001400 ecr 100>
         2160001 > . 1:1(0) ack 201 <TS val 2160001000 ecr 2160001400>
         2160002 < . 201:301(100) ack 1 <TS val 2160001399 ecr 100>   // and starts anew
         2160002 > . 1:1(0) ack 201 <TS val 2160002000 ecr 2160001400>",
    );
    // With a tick of 1 us after 34.5 minutes; 2500 s are 2500000000 ticks.
    let fast = Config { timestamp_tick: Dur::from_us(1), ..stamped() };
    connected(fast, "20000 <mss 1000, TS val 500 ecr 0>").run(
        "1    < . 1:101(100) ack 1 <TS val 500 ecr 100000>
         1    > . 1:1(0) ack 101 <TS val 1000000 ecr 500>
         2501 < . 101:201(100) ack 1 <TS val 2500000500 ecr 100000>
         2501 > . 1:1(0) ack 201 <TS val 2501000000 ecr 2500000500>",
    );
}

#[test]
fn a_timestamp_clock_that_wraps_within_a_round_trip_is_refused() {
    for tick in [Dur::from_ns(999), Dur::from_ms(1001)] {
        let error = Config { timestamp_tick: tick, ..stamped() }.check().unwrap_err().to_string();
        assert_eq!(error, format!("timestamp_tick: {tick} is not between 1 us and 1 s"));
    }
}

#[test]
fn the_ack_of_a_last_segment_sent_again_echoes_the_later_copy() {
    // RFC 7323 sec. 4.3 (2). The ACK at 1.0 was lost, so the peer sends the segment again, stamped anew. Were the first stamp
    // echoed, the peer would take its own timeout for a round trip. A copy of an earlier segment changes nothing.
    let every = Config { ack_policy: tcp::ack::find("every").unwrap(), ..stamped() };
    connected(every, "20000 <mss 1000, TS val 5 ecr 0>").run(
        "1   < . 1:1001(1000) ack 1 <TS val 6 ecr 100>
         1   > . 1:1(0) ack 1001 <TS val 1000 ecr 6>
         1   < . 1001:2001(1000) ack 1 <TS val 7 ecr 100>
         1   > . 1:1(0) ack 2001 <TS val 1000 ecr 7>
         2   < . 1:1001(1000) ack 1 <TS val 1006 ecr 100>
         2   > . 1:1(0) ack 2001 <TS val 2000 ecr 7>
         3   < . 1001:2001(1000) ack 1 <TS val 2006 ecr 100>
         3   > . 1:1(0) ack 2001 <TS val 3000 ecr 2006>",
    );
}

#[test]
fn byte_counting_adds_one_segment_per_ack_in_slow_start_after_a_timeout() {
    // RFC 3465 sec. 2.3: L = 1 until slow start is over.
    let counted = Config { byte_counting: Some(2), initial_window_segments: 8, ..config() };
    connected(counted, "65535 <mss 1000>").run(
        "1    write 8000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1    > . 4001:5001(1000) ack 1
         1    > . 5001:6001(1000) ack 1
         1    > . 6001:7001(1000) ack 1
         1    > P. 7001:8001(1000) ack 1
         2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 3001
         2.1  > . 3001:4001(1000) ack 1 again
         2.1  > . 4001:5001(1000) ack 1 again
         2.1  is cwnd=2000 ssthresh=4000
         2.2  < . 1:1(0) ack 5001
         2.2  > . 5001:6001(1000) ack 1 again
         2.2  > . 6001:7001(1000) ack 1 again
         2.2  > P. 7001:8001(1000) ack 1 again
         2.2  is cwnd=3000
         2.3  < . 1:1(0) ack 8001
         2.3  is cwnd=4000",
    );
}

#[test]
fn the_user_timeout_ends_a_connection_that_makes_no_progress() {
    let impatient = Config { user_timeout: Some(Dur::from_secs(5)), ..config() };
    connected(impatient.clone(), "65535 <mss 1000>").run(
        "10    write 2000
         10    > . 1:1001(1000) ack 1
         10    > P. 1001:2001(1000) ack 1
         11    > . 1:1001(1000) ack 1 again
         11.1  < . 1:1(0) ack 1001
         11.1  > P. 1001:2001(1000) ack 1 again
         13.1  > P. 1001:2001(1000) ack 1 again   // five seconds from 11.1 on
         16.1  failed TimedOut",
    );
    // The SYN too.
    Script::open(impatient).run(
        "0    > S 0:0(0) <mss 1000>
         1    > S 0:0(0) <mss 1000> again
         3    > S 0:0(0) <mss 1000> again
         5    failed TimedOut",
    );
}
