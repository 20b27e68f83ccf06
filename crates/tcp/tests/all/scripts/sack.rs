//! Recovery by the scoreboard. @RFC6675 sec. 4, 5

use super::script::{Script, config, connected, out};
use tcp::{Config, FlowFacts, Loss, SenderHook, SeqRange, cc, recovery};

pub const PEER: &str = "65535 <mss 1000, sackOK>";

pub fn sack() -> Config {
    Config { sack: true, initial_window_segments: 10, ..config() }
}

/// Ten segments are out, more is waiting.
pub fn ten_out(config: Config) -> Script {
    out(config, PEER, 10, 40_000)
}

/// Ten segments are out, and that is all.
fn ten_are_all(config: Config) -> Script {
    out(config, PEER, 10, 10_000)
}

#[test]
fn one_hole_is_repaired_while_new_data_fills_the_pipe() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.1  > . 10001:11001(1000) ack 1            // limited transmit: 9000 in the pipe, cwnd 10000
         1.11 < . 1:1(0) ack 1 <sack 1001:3001>
         1.11 > . 11001:12001(1000) ack 1
         1.12 < . 1:1(0) ack 1 <sack 1001:4001>
         1.12 > . 1:1001(1000) ack 1 again
         // Half of ten, not of the twelve that limited transmit made. 12000 - 3000 SACKed - 1000 lost + 1000 again.
         1.12 is cwnd=5000 ssthresh=5000 pipe=9000 flight=12000 recovery=true
         1.13 < . 1:1(0) ack 1 <sack 1001:8001>
         1.13 is pipe=5000
         1.14 < . 1:1(0) ack 1 <sack 1001:9001>
         1.14 > . 12001:13001(1000) ack 1
         1.15 < . 1:1(0) ack 1 <sack 1001:10001>
         1.15 > . 13001:14001(1000) ack 1
         1.16 < . 1:1(0) ack 1 <sack 1001:12001>
         1.16 > . 14001:15001(1000) ack 1
         1.16 > . 15001:16001(1000) ack 1
         1.22 < . 1:1(0) ack 12001
         1.22 > . 16001:17001(1000) ack 1
         1.22 is cwnd=5000 recovery=false pipe=5000 fast-retransmits=1 retransmissions=1",
    );
}

#[test]
fn several_holes_are_repaired_in_one_round_trip() {
    // Segments 1, 3, 5 are lost.
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.1  > . 10001:11001(1000) ack 1
         1.11 < . 1:1(0) ack 1 <sack 3001:4001, sack 1001:2001>
         1.11 > . 11001:12001(1000) ack 1
         1.12 < . 1:1(0) ack 1 <sack 5001:6001, sack 3001:4001, sack 1001:2001>
         1.12 > . 1:1001(1000) ack 1 again
         // One and nothing more: 12000 - 3000 - 1000 + 1000.
         1.12 is cwnd=5000 pipe=9000
         1.13 < . 1:1(0) ack 1 <sack 5001:7001, sack 3001:4001, sack 1001:2001>
         1.13 is pipe=7000                           // the third is lost as well: three segments beyond it
         1.14 < . 1:1(0) ack 1 <sack 5001:8001, sack 3001:4001, sack 1001:2001>
         1.14 is pipe=5000                           // and the fifth
         1.15 < . 1:1(0) ack 1 <sack 5001:9001, sack 3001:4001, sack 1001:2001>
         1.15 > . 2001:3001(1000) ack 1 again
         1.16 < . 1:1(0) ack 1 <sack 5001:10001, sack 3001:4001, sack 1001:2001>
         1.16 > . 4001:5001(1000) ack 1 again
         1.17 < . 1:1(0) ack 1 <sack 5001:11001, sack 3001:4001, sack 1001:2001>
         1.17 > . 12001:13001(1000) ack 1
         1.22 < . 1:1(0) ack 2001 <sack 5001:12001, sack 3001:4001>
         1.22 > . 13001:14001(1000) ack 1
         1.22 > . 14001:15001(1000) ack 1
         1.25 < . 1:1(0) ack 4001 <sack 5001:12001>
         1.25 > . 15001:16001(1000) ack 1
         1.26 < . 1:1(0) ack 12001
         1.26 > . 16001:17001(1000) ack 1
         1.26 is recovery=false cwnd=5000 retransmissions=3 fast-retransmits=1 timeouts=0",
    );
}

#[test]
fn what_may_be_lost_goes_after_new_data() {
    // NextSeg (3): no new data, room in the pipe, below the highest SACKed.
    ten_are_all(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.11 < . 1:1(0) ack 1 <sack 1001:3001>
         1.12 < . 1:1(0) ack 1 <sack 4001:9001, sack 1001:3001>
         1.12 > . 1:1001(1000) ack 1 again
         // 10000 - 7000 - 2000 + 1000 = 2000: the fourth is lost, then nothing is
         1.12 > . 3001:4001(1000) ack 1 again
         // NextSeg (4), below: the tenth, beyond the highest SACKed.
         1.12 > P. 9001:10001(1000) ack 1 again
         1.12 is pipe=4000 cwnd=5000",
    );
    ten_are_all(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is pipe=7000
         1.2  < . 1:1(0) ack 1 <sack 8001:9001, sack 5001:7001, sack 1001:4001>
         // The fifth is lost; the eighth has one segment beyond it, and goes by NextSeg (3).
         1.2  > . 4001:5001(1000) ack 1 again
         1.2  > . 7001:8001(1000) ack 1 again
         1.2  is pipe=5000",
    );
}

#[test]
fn the_last_segment_goes_once_more_for_each_recovery() {
    // NextSeg (4), the rescue: of a loss at the tail no SACK tells. Segments 1 and 10 are lost.
    ten_are_all(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.11 < . 1:1(0) ack 1 <sack 1001:8001>
         1.11 > P. 9001:10001(1000) ack 1 again
         1.12 < . 1:1(0) ack 1 <sack 1001:9001>
         1.12 is pipe=3000                           // once: nothing more
         1.2  < . 1:1(0) ack 9001
         1.21 < . 1:1(0) ack 10001
         1.21 is recovery=false retransmissions=2 timeouts=0",
    );
}

#[test]
fn a_repair_that_is_lost_waits_for_the_timer() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 1001:10001>
         1.2  > . 10001:11001(1000) ack 1
         1.2  > . 11001:12001(1000) ack 1
         1.2  > . 12001:13001(1000) ack 1
         1.2  > . 13001:14001(1000) ack 1
         1.3  < . 1:1(0) ack 1 <sack 1001:14001>
         1.3  > . 14001:15001(1000) ack 1
         1.3  > . 15001:16001(1000) ack 1
         1.3  > . 16001:17001(1000) ack 1
         1.3  > . 17001:18001(1000) ack 1
         2.1  > . 1:1001(1000) ack 1 again
         // Half of the five in the pipe, but two at least.
         2.1  is cwnd=1000 ssthresh=2500 recovery=false timeouts=1 pipe=1000",
    );
}

#[test]
fn after_a_timeout_only_what_is_not_sacked_is_sent_again() {
    // Segments 1, 2 and 7 to 10 are lost.
    ten_are_all(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 2001:4001>
         2    > . 1:1001(1000) ack 1 again
         2    is pipe=1000 cwnd=1000 ssthresh=5000
         2.1  < . 1:1(0) ack 1001 <sack 2001:4001>
         2.1  > . 1001:2001(1000) ack 1 again
         2.1  > . 4001:5001(1000) ack 1 again
         2.1  is cwnd=2000 pipe=2000
         2.2  < . 1:1(0) ack 4001
         2.2  > . 5001:6001(1000) ack 1 again
         2.2  > . 6001:7001(1000) ack 1 again
         2.2  is cwnd=3000
         2.3  < . 1:1(0) ack 7001
         2.3  > . 7001:8001(1000) ack 1 again
         2.3  > . 8001:9001(1000) ack 1 again
         2.3  > P. 9001:10001(1000) ack 1 again
         2.4  < . 1:1(0) ack 10001
         2.4  is retransmissions=8 timeouts=1 flight=0",
    );
}

#[test]
fn a_receiver_that_has_thrown_away_what_it_sacked_gets_it_again() {
    // Reneging, RFC 2018 sec. 8: at the timeout the first segment is SACKed, and not acknowledged.
    ten_are_all(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:3001>
         1.2  < . 1:1(0) ack 1001
         1.2  is pipe=7000
         2.2  > . 1001:2001(1000) ack 1 again
         2.2  is pipe=1000
         2.3  < . 1:1(0) ack 2001
         2.3  > . 2001:3001(1000) ack 1 again
         2.3  > . 3001:4001(1000) ack 1 again",
    );
}

#[test]
fn more_losses_within_a_recovery_are_repaired_without_a_second_cut() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 5001:8001, sack 1001:4001>
         1.2  > . 4001:5001(1000) ack 1 again
         1.2  > . 10001:11001(1000) ack 1
         1.2  is cwnd=5000 ssthresh=5000 fast-retransmits=1 pipe=5000",
    );
}

#[test]
fn a_loss_beyond_the_recovery_point_begins_another() {
    // RecoveryPoint is 10001; 11001 is lost after it.
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 1001:10001>
         1.2  > . 10001:11001(1000) ack 1
         1.2  > . 11001:12001(1000) ack 1
         1.2  > . 12001:13001(1000) ack 1
         1.2  > . 13001:14001(1000) ack 1
         1.3  < . 1:1(0) ack 10001
         1.3  > . 14001:15001(1000) ack 1
         1.3  is recovery=false cwnd=5000
         1.4  < . 1:1(0) ack 10001 <sack 11001:14001>
         1.4  > . 10001:11001(1000) ack 1 again
         1.4  is recovery=true cwnd=2500 fast-retransmits=2",
    );
}

#[test]
fn after_a_timeout_no_recovery_begins_until_all_that_was_out_is_acknowledged() {
    // Sec. 5.1: RecoveryPoint is HighData at the timeout.
    ten_are_all(sack()).run(
        "2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 1001
         2.1  > . 1001:2001(1000) ack 1 again
         2.1  > . 2001:3001(1000) ack 1 again
         2.2  < . 1:1(0) ack 1001 <sack 2001:8001>
         // 9000 - 6000 SACKed - 3000 lost + 1000 again: the pipe has room for the next.
         2.2  > . 8001:9001(1000) ack 1 again
         2.2  is recovery=false fast-retransmits=0 pipe=2000",
    );
}

#[test]
fn a_timeout_in_recovery_ends_it() {
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         2.1  > . 1:1001(1000) ack 1 again
         // 10000 - 3000 are in the pipe.
         2.1  is recovery=false cwnd=1000 ssthresh=3500 pipe=1000 timeouts=1",
    );
}

#[test]
fn a_peer_without_sack_gets_newreno() {
    let mut script = out(sack(), "65535 <mss 1000>", 10, 40_000);
    script.run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.12 is inflation=3000 cwnd=5000 recovery=true",
    );
    let named = Config { recovery: recovery::find("sack"), ..sack() };
    out(named, "65535 <mss 1000>", 10, 40_000).run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.12 is inflation=3000 recovery=true",
    );
}

#[test]
fn a_recovery_that_is_named_does_without_the_blocks() {
    for (name, inflation) in [("newreno", 3000), ("reno", 3000)] {
        ten_out(Config { recovery: recovery::find(name), ..sack() }).run(&format!(
            "1.1  < . 1:1(0) ack 1 <sack 1001:2001>
             1.11 < . 1:1(0) ack 1 <sack 1001:3001>
             1.12 < . 1:1(0) ack 1 <sack 1001:4001>
             1.12 > . 1:1001(1000) ack 1 again
             1.12 is inflation={inflation} cwnd=5000 recovery=true"
        ));
    }
}

#[test]
fn tahoe_with_sack_stays_tahoe_and_reno_recovers_by_sack() {
    let with = |name: &str| Config { congestion: cc::find(name).unwrap(), ..sack() };
    ten_out(with("tahoe")).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:2001>
         1.11 < . 1:1(0) ack 1 <sack 1001:3001>
         1.12 < . 1:1(0) ack 1 <sack 1001:4001>
         1.12 > . 1:1001(1000) ack 1 again
         1.12 is cwnd=1000 recovery=false",
    );
    ten_out(with("reno")).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 5001:8001, sack 1001:4001>
         1.2  > . 4001:5001(1000) ack 1 again
         1.2  > . 10001:11001(1000) ack 1
         1.3  < . 1:1(0) ack 4001 <sack 5001:8001>
         1.3  > . 11001:12001(1000) ack 1
         1.3  is recovery=true                        // a partial ACK does not end it",
    );
}

#[test]
fn tahoe_recovers_by_sack_if_it_is_told_to() {
    let config = Config { congestion: cc::find("tahoe").unwrap(), recovery: recovery::find("sack"), ..sack() };
    ten_out(config).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is cwnd=1000 ssthresh=5000 recovery=true pipe=7000",
    );
}

#[test]
fn a_window_taken_back_is_probed_and_the_blocks_are_forgotten() {
    ten_are_all(sack()).run(
        "1.1  < . 1:1(0) ack 1 win 0 <sack 1001:2001>
         2    > . 1:2(1) ack 1 again
         2.1  < . 1:1(0) ack 2 win 20000
         2.1  > . 2:1002(1000) ack 1 again
         2.1  is timeouts=1 probes=1 cwnd=1001 pipe=1000",
    );
}

#[test]
fn a_lost_fin_is_repaired_with_its_segment() {
    let mut script = connected(sack(), PEER);
    script.run(
        "1    write 3500
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > P. 3001:3501(500) ack 1
         1    close
         1    > F. 3501:3501(0) ack 1
         1.1  < . 1:1(0) ack 2001
         2.1  > . 2001:3001(1000) ack 1 again
         2.2  < . 1:1(0) ack 3001
         2.2  > P. 3001:3501(500) ack 1 again
         2.2  > F. 3501:3501(0) ack 1 again
         2.3  < . 1:1(0) ack 3502
         2.3  is state=FinWait2",
    );
}

#[derive(Debug)]
struct NoCongestion;

impl SenderHook for NoCongestion {
    fn loss(&mut self, _: Loss, _: SeqRange, _: &FlowFacts) -> Loss {
        Loss::Corruption
    }
}

#[test]
fn a_loss_that_a_scheme_takes_for_none_of_congestion_is_repaired_without_a_cut() {
    let mut script = connected(sack(), PEER).hook(NoCongestion);
    let mut text = "1 write 20000".to_owned();
    for i in 0..10 {
        text += &format!("\n1 > . {}:{}(1000) ack 1", i * 1000 + 1, i * 1000 + 1001);
    }
    script.run(&text).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.1  > . 12001:13001(1000) ack 1
         1.1  is cwnd=10000 recovery=true pipe=10000",
    );
}

#[test]
fn a_schemes_retransmission_counts_in_the_pipe() {
    ten_out(sack()).run(
        "1.05 retransmit 1:1001
         1.05 > . 1:1001(1000) ack 1 again
         1.05 is pipe=11000 cwnd=10000
         1.1  < . 1:1(0) ack 1001
         1.1  > . 10001:11001(1000) ack 1
         1.1  > . 11001:12001(1000) ack 1
         1.1  is pipe=11000",
    );
}

#[test]
fn a_local_ack_leaves_the_scoreboard_right() {
    ten_out(sack()).run(
        "1.05 local-ack 2501
         1.05 > . 10001:11001(1000) ack 1
         1.05 > . 11001:12001(1000) ack 1
         1.05 > . 12001:13001(1000) ack 1
         1.05 is pipe=10500 cwnd=11000
         1.1  < . 1:1(0) ack 2501 <sack 3001:6001>
         1.1  > . 2501:3001(500) ack 1 again
         1.1  is recovery=true pipe=7500",
    );
}

#[test]
fn several_holes_and_a_lost_repair_wait_for_the_timer_and_then_go_in_order() {
    // Segments 1, 3, 5 are lost, and the repair of 3. Without RACK nothing tells of that. RFC 6675 sec. 5.1
    ten_are_all(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 5001:8001, sack 3001:4001, sack 1001:2001>
         // 10000 - 5000 - 3000 in the pipe: the three, up to five.
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.1  > . 4001:5001(1000) ack 1 again
         1.1  is pipe=5000 cwnd=5000
         1.2  < . 1:1(0) ack 2001 <sack 3001:10001>
         // Nothing is new, lost, or in doubt below the highest; the rescue would be of a segment that is on its way.
         1.2  is pipe=1000
         2.2  > . 2001:3001(1000) ack 1 again
         2.2  is timeouts=1 cwnd=1000
         2.3  < . 1:1(0) ack 10001
         2.3  is retransmissions=4 flight=0",
    );
}

#[test]
fn a_timeout_halves_the_flight_though_a_part_of_it_is_sacked() {
    // RFC 5681 eq. 4: FlightSize is what was sent and is not acknowledged (sec. 2). Two of the ten are SACKed, too few for a recovery.
    out(sack(), PEER, 10, 10_000).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:3001>
         2    > . 1:1001(1000) ack 1 again
         2    is ssthresh=5000 cwnd=1000 timeouts=1",
    );
}

#[test]
fn a_timeout_in_recovery_lowers_ssthresh_a_second_time() {
    // RFC 5681 sec. 4.3: the loss of a retransmission counts twice. What the SACKed segments let out is left out of the flight, as what
    // duplicates let out without SACK: fourteen are not acknowledged, nine of them are SACKed.
    ten_out(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 1001:10001>
         1.2  > . 10001:11001(1000) ack 1
         1.2  > . 11001:12001(1000) ack 1
         1.2  > . 12001:13001(1000) ack 1
         1.2  > . 13001:14001(1000) ack 1
         1.2  is ssthresh=5000 flight=14000 pipe=5000
         2.1  > . 1:1001(1000) ack 1 again
         2.1  is ssthresh=2500 cwnd=1000",
    );
}

#[test]
fn growth_counts_what_was_newly_delivered_if_it_is_told_to() {
    // Two segments are SACKed before the first, which was only late, and let two out. Of the 3000 B that the next ACK acknowledges 1000 are
    // news. As Linux: tcp_cong_avoid is told acked_sacked.
    for (count_delivered, cwnd) in [(true, 11_000), (false, 13_000)] {
        let counted = Config { byte_counting: Some(255), count_delivered, rack: true, ..sack() };
        let left: String = (12..cwnd / 1000 + 3)
            .map(|i| format!("\n1.12 > . {}:{}(1000) ack 1", i * 1000 + 1, i * 1000 + 1001))
            .collect();
        ten_out(counted).run(&format!(
            "1.1  < . 1:1(0) ack 1 <sack 1001:3001>
             1.1  > . 10001:11001(1000) ack 1
             1.1  > . 11001:12001(1000) ack 1
             1.12 < . 1:1(0) ack 3001{left}
             1.12 is recovery=false cwnd={cwnd} pipe={cwnd}",
        ));
    }
}
