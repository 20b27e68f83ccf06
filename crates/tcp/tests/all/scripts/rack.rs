//! RACK and the tail loss probe. @RFC8985

use super::script::{Script, config, connected, out};
use tcp::{Config, recovery};

const PEER: &str = "65535 <mss 1000, sackOK>";

fn rack() -> Config {
    Config { sack: true, rack: true, initial_window_segments: 10, ..config() }
}

fn tlp() -> Config {
    Config { tlp: true, ..rack() }
}

/// Ten segments are out at 1 s, more is waiting; the RTT of the SYN was 100 ms.
fn ten_out(config: Config) -> Script {
    out(config, PEER, 10, 40_000)
}

#[test]
fn three_segments_sacked_beyond_a_hole_leave_it_no_time() {
    // Sec. 6.2 step 4: no reordering was seen and DupThresh segments are SACKed: the window is nothing.
    ten_out(rack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.1  > . 10001:11001(1000) ack 1
         1.1  < . 1:1(0) ack 1 <sack 1001:3001>
         1.1  > . 11001:12001(1000) ack 1
         1.1  is recovery=false
         1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is recovery=true cwnd=5000 ssthresh=5000",
    );
}

#[test]
fn fewer_leave_it_a_quarter_of_the_least_rtt() {
    // Steps 4, 5: min RTT 100 ms; what left at 1 s is lost at 1.125 s.
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:2001>
         1.1   > . 10001:11001(1000) ack 1
         1.125 > . 1:1001(1000) ack 1 again
         1.125 is recovery=true cwnd=5000 fast-retransmits=1",
    );
}

#[test]
fn reordering_within_the_window_costs_nothing() {
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:3001>
         1.1   > . 10001:11001(1000) ack 1
         1.1   > . 11001:12001(1000) ack 1
         1.12  < . 1:1(0) ack 3001
         1.12  > . 12001:13001(1000) ack 1
         1.12  > . 13001:14001(1000) ack 1
         1.13  is recovery=false retransmissions=0 cwnd=11000",
    );
}

#[test]
fn once_reordering_was_seen_three_segments_are_not_enough() {
    // Step 3: the first arrives after the third, and was never sent again. From then on a quarter of the RTT is left.
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:3001>
         1.1   > . 10001:11001(1000) ack 1
         1.1   > . 11001:12001(1000) ack 1
         1.11  < . 1:1(0) ack 3001
         1.11  > . 12001:13001(1000) ack 1
         1.11  > . 13001:14001(1000) ack 1
         1.11  < . 1:1(0) ack 3001 <sack 4001:9001>
         1.11  > . 14001:15001(1000) ack 1
         1.11  > . 15001:16001(1000) ack 1
         1.11  > . 16001:17001(1000) ack 1
         1.11  > . 17001:18001(1000) ack 1
         1.11  > . 18001:19001(1000) ack 1
         1.11  is recovery=false
         // It left at 1 s; those beyond it took 110 ms, and a quarter of 100 ms is left.
         1.135 > . 3001:4001(1000) ack 1 again
         1.135 is recovery=true",
    );
}

#[test]
fn a_lost_repair_is_found_by_what_left_after_it() {
    // What RFC 6675 leaves to the timer. The repair leaves at 1.1 s, new data after it.
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:4001>
         1.1   > . 1:1001(1000) ack 1 again
         1.15  < . 1:1(0) ack 1 <sack 1001:10001>
         1.15  > . 10001:11001(1000) ack 1
         1.15  > . 11001:12001(1000) ack 1
         1.15  > . 12001:13001(1000) ack 1
         1.15  > . 13001:14001(1000) ack 1
         1.25  < . 1:1(0) ack 1 <sack 1001:11001>
         // 10001 left at 1.15 and took 100 ms; the repair left at 1.1, and is lost.
         1.25  > . 1:1001(1000) ack 1 again
         1.25  > . 14001:15001(1000) ack 1
         1.25  is timeouts=0 retransmissions=2 fast-retransmits=1
         1.35  < . 1:1(0) ack 14001
         1.35  > . 15001:16001(1000) ack 1
         1.35  > . 16001:17001(1000) ack 1
         1.35  > . 17001:18001(1000) ack 1
         1.35  > . 18001:19001(1000) ack 1
         1.35  is recovery=false cwnd=5000",
    );
}

#[test]
fn a_second_recovery_leaves_the_copy_of_the_first_alone() {
    // Sec. 6.2 step 5 names what is lost. The first recovery ends at 1.255 with a copy of 10001 five milliseconds under way; at 1.285
    // time takes 12001 for lost, and nothing else: 13001 left with it, 10001 after both.
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:4001>
         1.1   > . 1:1001(1000) ack 1 again
         1.15  < . 1:1(0) ack 1 <sack 1001:8001>
         1.15  > . 10001:11001(1000) ack 1
         1.15  > . 11001:12001(1000) ack 1
         1.16  < . 1:1(0) ack 1 <sack 1001:10001>
         1.16  > . 12001:13001(1000) ack 1
         1.16  > . 13001:14001(1000) ack 1
         1.25  < . 1:1(0) ack 1 <sack 11001:12001, sack 1001:10001>
         1.25  > . 1:1001(1000) ack 1 again
         1.25  > . 10001:11001(1000) ack 1 again
         1.25  > . 14001:15001(1000) ack 1
         1.255 < . 1:1(0) ack 10001 <sack 11001:12001>     // the first repair, late
         1.255 > . 15001:16001(1000) ack 1
         1.255 is recovery=false
         1.26  < . 1:1(0) ack 10001 <sack 13001:14001, sack 11001:12001>
         1.26  > . 16001:17001(1000) ack 1
         1.285 > . 12001:13001(1000) ack 1 again
         1.285 is recovery=true retransmissions=4
         1.35  < . 1:1(0) ack 12001 <sack 13001:14001>",
    );
}

#[test]
fn a_report_of_a_duplicate_widens_the_window() {
    // Step 4: the repair was needless, so the next hole has two quarters of 100 ms.
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:2001>
         1.1   > . 10001:11001(1000) ack 1
         1.125 > . 1:1001(1000) ack 1 again
         1.13  < . 1:1(0) ack 2001
         1.2   < . 1:1(0) ack 2001 <sack 1:1001>     // DSACK
         1.21  < . 1:1(0) ack 10001
         1.21  > . 11001:12001(1000) ack 1
         1.21  > . 12001:13001(1000) ack 1
         1.21  > . 13001:14001(1000) ack 1
         1.21  > . 14001:15001(1000) ack 1
         1.3   < . 1:1(0) ack 11001
         1.3   > . 15001:16001(1000) ack 1
         1.3   is recovery=false cwnd=5000
         1.31  < . 1:1(0) ack 11001 <sack 12001:13001>
         1.31  > . 16001:17001(1000) ack 1
         // 11001 left at 1.21, RTT 100 ms, and 50 ms more
         1.36  > . 11001:12001(1000) ack 1 again",
    );
}

#[test]
fn a_timeout_takes_for_lost_what_left_long_enough_ago() {
    // Sec. 6.3: the first, and what is older than the RTT and the window; what left just now is in flight yet.
    let mut script = connected(Config { initial_window_segments: 4, ..rack() }, PEER);
    script.run(
        "1     write 2000
         1     > . 1:1001(1000) ack 1
         1     > P. 1001:2001(1000) ack 1
         1.1   < . 1:1(0) ack 1001
         2.05  write 1000
         2.05  > P. 2001:3001(1000) ack 1
         2.1   > . 1001:2001(1000) ack 1 again
         2.1   is pipe=2000 cwnd=1000
         2.15  < . 1:1(0) ack 3001
         2.15  is retransmissions=1 flight=0",
    );
}

#[test]
fn rack_needs_sack_recovery() {
    let error = |config: Config| config.check().unwrap_err().to_string();
    for (name, config) in [
        ("rack", Config { rack: true, ..config() }),
        ("tlp", Config { tlp: true, ..config() }),
        ("prr", Config { prr: true, ..config() }),
        ("rack", Config { rack: true, sack: true, recovery: recovery::find("newreno"), ..config() }),
        ("tlp", Config { tlp: true, sack: true, congestion: tcp::cc::find("tahoe").unwrap(), ..config() }),
    ] {
        assert_eq!(error(config), format!("{name}: needs sack = true and recovery = \"sack\""));
    }
    assert_eq!(
        error(Config { recovery: recovery::find("sack"), ..config() }),
        "recovery: \"sack\" needs sack = true"
    );
}

#[test]
fn the_probe_is_new_data_if_there_is_some() {
    // Sec. 7.3. Two segments of the window of two are out; PTO is 2 SRTT = 200 ms.
    let mut script = connected(Config { initial_window_segments: 2, ..tlp() }, PEER);
    script.run(
        "1     write 10000
         1     > . 1:1001(1000) ack 1
         1     > . 1001:2001(1000) ack 1
         1.2   > . 2001:3001(1000) ack 1              // beyond cwnd
         1.2   is tail-probes=1 retransmissions=0 cwnd=2000
         1.3   < . 1:1(0) ack 3001
         1.3   > . 3001:4001(1000) ack 1
         1.3   > . 4001:5001(1000) ack 1
         1.3   > . 5001:6001(1000) ack 1
         1.3   is cwnd=3000 timeouts=0",
    );
}

#[test]
fn the_probe_is_the_last_segment_if_there_is_nothing_new_and_finds_the_loss_of_the_tail() {
    // Sec. 7.3, 7.4: the ninth and tenth are lost. The probe's SACK tells of the ninth: three ACKs earlier than the timer.
    out(tlp(), PEER, 10, 10_000).run(
        "1.1   < . 1:1(0) ack 8001
         1.3   > P. 9001:10001(1000) ack 1 again
         1.3   is tail-probes=1
         1.4   < . 1:1(0) ack 8001 <sack 9001:10001>
         // The ninth left 300 ms before the probe that arrived: longer ago than any reordering.
         1.4   > . 8001:9001(1000) ack 1 again
         1.4   is recovery=true timeouts=0
         1.5   < . 1:1(0) ack 10001
         1.5   is recovery=false",
    );
}

#[test]
fn a_probe_that_repairs_the_only_loss_cuts_the_window() {
    // Sec. 7.4.2: the tenth alone is lost; what is acknowledged goes beyond the probe only with new data.
    out(tlp(), PEER, 10, 10_000).run(
        "1.1   < . 1:1(0) ack 9001
         1.5   > P. 9001:10001(1000) ack 1 again      // one segment in flight: 200 ms more for a delayed ACK
         1.55  write 1000
         1.55  > P. 10001:11001(1000) ack 1
         1.65  < . 1:1(0) ack 11001
         1.65  is ssthresh=2000 cwnd=2000 recovery=false timeouts=0",
    );
}

#[test]
fn a_probe_that_came_twice_was_needless() {
    // Sec. 7.4.1: the DSACK says that nothing was lost.
    out(tlp(), PEER, 10, 10_000).run(
        "1.1   < . 1:1(0) ack 9001
         1.5   > P. 9001:10001(1000) ack 1 again
         1.51  < . 1:1(0) ack 10001
         1.51  is cwnd=12000
         1.6   < . 1:1(0) ack 10001 <sack 9001:10001>
         1.6   is cwnd=12000 fast-retransmits=0",
    );
}

#[test]
fn a_second_ack_of_the_same_without_blocks_says_so_too() {
    out(tlp(), PEER, 10, 10_000).run(
        "1.1   < . 1:1(0) ack 9001
         1.5   > P. 9001:10001(1000) ack 1 again
         1.51  < . 1:1(0) ack 10001
         1.6   < . 1:1(0) ack 10001
         1.7   write 1000
         1.7   > P. 10001:11001(1000) ack 1
         1.8   < . 1:1(0) ack 11001
         1.8   is fast-retransmits=0",
    );
}

#[test]
fn after_a_probe_the_retransmission_timer_runs() {
    out(tlp(), PEER, 10, 10_000).run(
        "1.1   < . 1:1(0) ack 9001
         1.5   > P. 9001:10001(1000) ack 1 again
         2.5   > P. 9001:10001(1000) ack 1 again
         2.5   is timeouts=1 tail-probes=1 cwnd=1000",
    );
}

#[test]
fn there_is_no_probe_while_something_is_sacked_or_recovery_lasts() {
    // Sec. 7.2. The hole is repaired by time, and the timer of the probe stays off.
    out(tlp(), PEER, 10, 10_000).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:2001>
         1.125 > . 1:1001(1000) ack 1 again
         2.125 > . 1:1001(1000) ack 1 again
         2.125 is tail-probes=0 timeouts=1",
    );
}

#[test]
fn the_probe_is_never_later_than_the_timeout() {
    // SRTT 600 ms: 2 SRTT are more than the RTO of 1 s allows? 600 + 4 * 300 = 1.8 s; PTO = 1.2 s comes first.
    let mut script = Script::open(tlp());
    script.run(
        "0     > S 0:0(0) <mss 1000, sackOK>
         0.6   < S. 0:0(0) ack 1 win 65535 <mss 1000, sackOK>
         0.6   connected
         0.6   > . 1:1(0) ack 1
         1     write 2000
         1     > . 1:1001(1000) ack 1
         1     > P. 1001:2001(1000) ack 1
         2.2   > P. 1001:2001(1000) ack 1 again
         2.2   is tail-probes=1 rto=1800ms",
    );
    // TLP_calc_PTO: with a largest RTO of 1 s the probe leaves when the timeout would come, and the timer starts anew.
    let mut script = Script::open(Config { max_rto: units::Dur::from_secs(1), ..tlp() });
    script.run(
        "0     > S 0:0(0) <mss 1000, sackOK>
         0.6   < S. 0:0(0) ack 1 win 65535 <mss 1000, sackOK>
         0.6   connected
         0.6   > . 1:1(0) ack 1
         1     write 2000
         1     > . 1:1001(1000) ack 1
         1     > P. 1001:2001(1000) ack 1
         2     > P. 1001:2001(1000) ack 1 again
         2     is tail-probes=1 timeouts=0
         3     > . 1:1001(1000) ack 1 again
         3     is timeouts=1",
    );
}

#[test]
fn the_probe_runs_from_the_ack_and_is_bounded_by_the_timer_that_the_ack_has_started() {
    // Sec. 7.2. SRTT 600 ms, RTTVAR 3/4 * 300 = 225 ms: the RTO is 1.5 s, from the ACK of 1.6 s to 3.1 s. PTO is 1.2 s.
    let mut script = Script::open(tlp());
    script.run(
        "0     > S 0:0(0) <mss 1000, sackOK>
         0.6   < S. 0:0(0) ack 1 win 65535 <mss 1000, sackOK>
         0.6   connected
         0.6   > . 1:1(0) ack 1
         1     write 3000
         1     > . 1:1001(1000) ack 1
         1     > . 1001:2001(1000) ack 1
         1     > P. 2001:3001(1000) ack 1
         1.6   < . 1:1(0) ack 1001
         1.6   is rto=1500ms srtt=600ms
         2.8   > P. 2001:3001(1000) ack 1 again
         2.8   is tail-probes=1 timeouts=0
         4.3   > . 1001:2001(1000) ack 1 again
         4.3   is timeouts=1",
    );
}

#[test]
fn without_an_rtt_the_probe_waits_for_a_second() {
    // Sec. 7.2. The RTT of the handshake is not taken, and the first RTO is 3 s.
    let config = Config { handshake_rtt: false, initial_rto: units::Dur::from_secs(3), ..tlp() };
    connected(config, PEER).run(
        "1     write 2000
         1     > . 1:1001(1000) ack 1
         1     > P. 1001:2001(1000) ack 1
         2     > P. 1001:2001(1000) ack 1 again
         5     > . 1:1001(1000) ack 1 again
         5     is tail-probes=1 timeouts=1",
    );
}

#[test]
fn the_probe_is_the_last_segment_if_the_peers_window_holds_no_more() {
    // Sec. 7.3: new data only within the receive window.
    connected(tlp(), "2000 <mss 1000, sackOK>").run(
        "1     write 10000
         1     > . 1:1001(1000) ack 1
         1     > . 1001:2001(1000) ack 1
         1.2   > . 1001:2001(1000) ack 1 again
         1.2   is tail-probes=1 retransmissions=1",
    );
}

#[test]
fn what_one_ack_tells_is_no_reordering() {
    // Sec. 6.2 step 3 compares with what had arrived before: an ACK of the first two segments that also SACKs the fourth tells
    // nothing of their order. So three SACKed segments leave the third no time.
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 2001 <sack 3001:4001>
         1.1   > . 10001:11001(1000) ack 1
         1.1   > . 11001:12001(1000) ack 1
         1.1   > . 12001:13001(1000) ack 1
         1.1   > . 13001:14001(1000) ack 1
         1.11  < . 1:1(0) ack 2001 <sack 3001:6001>
         1.11  > . 2001:3001(1000) ack 1 again
         1.11  is recovery=true cwnd=6000 ssthresh=6000 pipe=9000",
    );
}

#[test]
fn blocks_of_one_ack_tell_no_order() {
    // Two ACKs were lost: the block that changed last comes first, and is the higher one.
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 6001:7001, sack 3001:4001>
         1.1   > . 10001:11001(1000) ack 1
         1.1   > . 11001:12001(1000) ack 1
         1.11  < . 1:1(0) ack 1 <sack 6001:8001, sack 3001:4001>
         // Before 8001 all left at 1 s and has no time left: five are lost. 12 - 3 - 5, and one sent again.
         1.11  > . 1:1001(1000) ack 1 again
         1.11  is recovery=true cwnd=5000 pipe=5000",
    );
}

#[test]
fn a_window_that_a_duplicate_has_widened_is_narrow_again_after_16_recoveries_by_timeout() {
    // Sec. 6.2 step 4: "Fast or RTO recovery". Each timeout is followed by a segment that is timed, so that the RTO is 1 s again.
    let mut script = connected(rack(), PEER);
    script.run(
        "0.5   write 1000
         0.5   > P. 1:1001(1000) ack 1
         0.6   < . 1:1(0) ack 1001
         0.7   < . 1:1(0) ack 1001 <sack 1:1001>",
    );
    for i in 0..16u32 {
        let (at, a) = (1 + 10 * i, 1001 + 2000 * i);
        let (b, c) = (a + 1000, a + 2000);
        script.run(&format!(
            "{at}   write 1000
             {at}   > P. {a}:{b}(1000) ack 1
             {after} > P. {a}:{b}(1000) ack 1 again
             {after}.1 < . 1:1(0) ack {b}
             {after}.2 write 1000
             {after}.2 > P. {b}:{c}(1000) ack 1
             {after}.3 < . 1:1(0) ack {c}",
            after = at + 1,
        ));
    }
    script.run(
        "200     write 2000
         200     > . 33001:34001(1000) ack 1
         200     > P. 34001:35001(1000) ack 1
         200.1   < . 1:1(0) ack 33001 <sack 34001:35001>
         200.125 > . 33001:34001(1000) ack 1 again",
    );
}

#[test]
fn a_repair_may_be_lost_twice() {
    ten_out(rack()).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:4001>
         1.1   > . 1:1001(1000) ack 1 again
         1.15  < . 1:1(0) ack 1 <sack 1001:10001>
         1.15  > . 10001:11001(1000) ack 1
         1.15  > . 11001:12001(1000) ack 1
         1.15  > . 12001:13001(1000) ack 1
         1.15  > . 13001:14001(1000) ack 1
         1.25  < . 1:1(0) ack 1 <sack 1001:11001>
         1.25  > . 1:1001(1000) ack 1 again
         1.25  > . 14001:15001(1000) ack 1
         // 14001 left at 1.25 s, after the repair of the same instant, and has arrived: RACK_sent_after.
         1.36  < . 1:1(0) ack 1 <sack 1001:15001>
         1.36  > . 1:1001(1000) ack 1 again
         1.36  > . 15001:16001(1000) ack 1
         1.36  > . 16001:17001(1000) ack 1
         1.36  > . 17001:18001(1000) ack 1
         1.36  > . 18001:19001(1000) ack 1
         1.36  is retransmissions=3 timeouts=0 fast-retransmits=1 cwnd=5000",
    );
}

#[test]
fn the_ack_of_an_original_tells_nothing_of_its_repair() {
    // Sec. 6.2 step 2: the echo is older than the repair. Taken for the repair's, it would make all others lost, which left before it.
    let stamped = Config { timestamps: true, mss: 1012, ..rack() };
    let mut script = connected(stamped, "65535 <mss 1012, sackOK, TS val 500 ecr 0>");
    let mut text = "1 write 10000".to_owned();
    for i in 0..10 {
        let push = if i == 9 { "P" } else { "" };
        text += &format!("\n1 > {push}. {}:{}(1000) ack 1 <TS val 1000 ecr 500>", i * 1000 + 1, i * 1000 + 1001);
    }
    script.run(&text).run(
        "1.1   < . 1:1(0) ack 1 <TS val 600 ecr 1000, sack 1001:4001>
         1.1   > . 1:1001(1000) ack 1 <TS val 1100 ecr 600> again
         1.21  < . 1:1(0) ack 4001 <TS val 601 ecr 1000>
         1.21  is retransmissions=1 pipe=6000 recovery=true",
    );
}

#[test]
fn reneging_is_found_at_the_timeout_with_rack_too() {
    // RFC 2018 sec. 8.
    out(rack(), PEER, 10, 10_000).run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:3001>
         1.125 > . 1:1001(1000) ack 1 again
         // What left at 1 s left before the repair, which took 100 ms: lost. Five of the seven.
         1.225 < . 1:1(0) ack 1001
         1.225 > . 3001:4001(1000) ack 1 again
         1.225 > . 4001:5001(1000) ack 1 again
         1.225 > . 5001:6001(1000) ack 1 again
         1.225 > . 6001:7001(1000) ack 1 again
         1.225 > . 7001:8001(1000) ack 1 again
         2.225 > . 1001:2001(1000) ack 1 again
         2.225 is pipe=1000 timeouts=1
         2.325 < . 1:1(0) ack 2001
         2.325 > . 2001:3001(1000) ack 1 again
         2.325 > . 3001:4001(1000) ack 1 again",
    );
}
