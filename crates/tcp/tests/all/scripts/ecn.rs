//! Explicit Congestion Notification. @RFC3168 sec. 6.1

use super::script::{Script, config, connected};
use tcp::{Config, ack, cc};

fn ecn() -> Config {
    Config { ecn: true, ..config() }
}

/// Connected at 0.1 s to a peer that agreed, with this window.
fn agreed(config: Config, win: u32) -> Script {
    let mut script = Script::open(config);
    script.run(&format!(
        "0    > SEW 0:0(0) <mss 1000>
         0.1  < SE. 0:0(0) ack 1 win {win} <mss 1000>
         0.1  connected
         0.1  > . 1:1(0) ack 1
         0.1  is ecn=true"
    ));
    script
}

/// Eight segments are out and may be marked, more is waiting.
fn eight_out(congestion: &str) -> Script {
    let congestion = cc::find(congestion).unwrap();
    let mut script = agreed(Config { congestion, initial_window_segments: 8, ..ecn() }, 65_535);
    script.run(
        "1    write 40000
         1    > . 1:1001(1000) ack 1 ect
         1    > . 1001:2001(1000) ack 1 ect
         1    > . 2001:3001(1000) ack 1 ect
         1    > . 3001:4001(1000) ack 1 ect
         1    > . 4001:5001(1000) ack 1 ect
         1    > . 5001:6001(1000) ack 1 ect
         1    > . 6001:7001(1000) ack 1 ect
         1    > . 7001:8001(1000) ack 1 ect",
    );
    script
}

#[test]
fn an_offer_and_an_agreement_make_new_data_markable() {
    agreed(ecn(), 20_000).run("1 write 500\n 1 > P. 1:501(500) ack 1 ect");
    Script::listen(ecn()).run(
        "0    < SEW 0:0(0) win 20000 <mss 1000>
         0    > SE. 0:0(0) ack 1 <mss 1000>
         0.1  < . 1:1(0) ack 1
         0.1  connected
         0.1  is ecn=true
         1    write 500
         1    > P. 1:501(500) ack 1 ect",
    );
}

#[test]
fn a_peer_that_does_not_agree_or_reflects_the_offer_gets_plain_tcp() {
    for answer in ["S.", "SEW.", "SW."] {
        Script::open(ecn()).run(&format!(
            "0    > SEW 0:0(0) <mss 1000>
             0.1  < {answer} 0:0(0) ack 1 win 20000 <mss 1000>
             0.1  connected
             0.1  > . 1:1(0) ack 1
             0.1  is ecn=false
             1    write 500
             1    > P. 1:501(500) ack 1
             1.1  < . 1:1001(1000) ack 501 ce
             1.1  > . 501:501(0) ack 1001
             1.1  is ecn-marks=0"
        ));
    }
}

#[test]
fn a_plain_syn_and_an_end_that_does_without_make_a_plain_syn_ack() {
    for (config, syn) in [(ecn(), "S"), (ecn(), "SE"), (ecn(), "SW"), (config(), "SEW")] {
        Script::listen(config).run(&format!(
            "0    < {syn} 0:0(0) win 20000 <mss 1000>
             0    > S. 0:0(0) ack 1 <mss 1000>
             0.1  < . 1:1(0) ack 1
             0.1  connected
             0.1  is ecn=false
             1    write 500
             1    > P. 1:501(500) ack 1"
        ));
    }
}

#[test]
fn without_agreement_an_echo_says_nothing() {
    connected(config(), "20000 <mss 1000>").run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:2001(1000) ack 1
         1.1  < E. 1:1(0) ack 1001
         1.1  is cwnd=3000 ecn-cuts=0",
    );
}

#[test]
fn a_lost_syn_offers_ecn_again_and_so_does_a_lost_syn_ack() {
    Script::open(ecn()).run(
        "0    > SEW 0:0(0) <mss 1000>
         1    > SEW 0:0(0) <mss 1000> again
         1.1  < SE. 0:0(0) ack 1 win 20000 <mss 1000>
         1.1  connected
         1.1  > . 1:1(0) ack 1
         1.1  is ecn=true",
    );
    Script::listen(ecn()).run(
        "0    < SEW 0:0(0) win 20000 <mss 1000>
         0    > SE. 0:0(0) ack 1 <mss 1000>
         1    > SE. 0:0(0) ack 1 <mss 1000> again
         1.1  < . 1:1(0) ack 1
         1.1  connected
         1.1  is ecn=true",
    );
}

#[test]
fn a_peer_that_repeats_its_syn_without_the_offer_has_withdrawn_it() {
    // RFC 3168 sec. 6.1.1.1, the example scenario.
    Script::listen(ecn()).run(
        "0    < SEW 0:0(0) win 20000 <mss 1000>
         0    > SE. 0:0(0) ack 1 <mss 1000>
         0.9  < S 0:0(0) win 20000 <mss 1000>
         0.9  > S. 0:0(0) ack 1 <mss 1000> again
         1    < . 1:1(0) ack 1
         1    connected
         1    is ecn=false",
    );
}

#[test]
fn a_simultaneous_open_agrees_if_every_syn_does() {
    for (syn_ack, agreed) in [("SE.", true), ("S.", false)] {
        Script::open(ecn()).run(&format!(
            "0     > SEW 0:0(0) <mss 1000>
             0.05  < SEW 0:0(0) win 20000 <mss 1000>
             0.05  > SE. 0:0(0) ack 1 <mss 1000> again
             0.1   < {syn_ack} 0:0(0) ack 1 <mss 1000>
             0.1   connected
             0.1   is state=Established ecn={agreed}"
        ));
    }
}

#[test]
fn a_mark_is_echoed_on_everything_until_cwr() {
    agreed(ecn(), 20_000).run(
        "1    < . 1:1001(1000) ack 1 ce
         1    > E. 1:1(0) ack 1001
         1.1  < . 1001:2001(1000) ack 1
         1.1  > E. 1:1(0) ack 2001
         1.2  write 500
         1.2  > PE. 1:501(500) ack 2001 ect
         2.2  > PE. 1:501(500) ack 2001 again
         2.3  < W. 2001:3001(1000) ack 501
         2.3  > . 501:501(0) ack 3001
         2.4  < . 3001:4001(1000) ack 501
         2.4  > . 501:501(0) ack 4001
         2.5  < W. 4001:5001(1000) ack 501 ce     // told of an earlier one, and marked itself
         2.5  > E. 501:501(0) ack 5001
         2.5  is ecn-marks=2",
    );
}

#[test]
fn a_mark_out_of_order_is_echoed_by_the_duplicate_ack() {
    agreed(ecn(), 20_000).run(
        "1    < . 1001:2001(1000) ack 1 ce
         1    > E. 1:1(0) ack 1
         1.1  < . 1:1001(1000) ack 1
         1.1  > E. 1:1(0) ack 2001",
    );
}

#[test]
fn a_mark_waits_for_the_delayed_ack() {
    // RFC 3168 sec. 6.1.3: ECE if any of the segments acknowledged was marked.
    agreed(Config { ack_policy: ack::find("delayed-ack").unwrap(), ..ecn() }, 20_000).run(
        "1    < . 1:1001(1000) ack 1 ce
         1.1  < . 1001:2001(1000) ack 1
         1.1  > E. 1:1(0) ack 2001
         2    < W. 2001:3001(1000) ack 1
         2.1  < . 3001:4001(1000) ack 1 ce
         2.1  > E. 1:1(0) ack 4001
         3    < W. 4001:5001(1000) ack 1
         3.2  > . 1:1(0) ack 5001
         4    < . 5001:6001(1000) ack 1 ce
         4.2  > E. 1:1(0) ack 6001
         // Marked before the cut that the next one tells of: answered already.
         5    < W. 6001:7001(1000) ack 1
         5.2  > . 1:1(0) ack 7001
         6    < . 7001:8001(1000) ack 1 ce
         6.1  < W. 8001:9001(1000) ack 1
         6.1  > . 1:1(0) ack 9001
         6.1  is ecn-marks=4",
    );
}

#[test]
fn marks_and_cwr_outside_the_window_and_marks_without_data_are_ignored() {
    // RFC 3168 sec. 6.1.4, 6.1.5.
    agreed(ecn(), 20_000).run(
        "1    < . 1:1(0) ack 1 ce
         1    < . 1:1001(1000) ack 1
         1    > . 1:1(0) ack 1001
         1.1  < . 1:1001(1000) ack 1 ce
         1.1  > . 1:1(0) ack 1001
         1.2  < . 90001:91001(1000) ack 1 ce
         1.2  > . 1:1(0) ack 1001
         1.2  is ecn-marks=0
         1.3  < . 1001:2001(1000) ack 1 ce
         1.3  > E. 1:1(0) ack 2001
         1.4  < W. 1:1001(1000) ack 1
         1.4  > E. 1:1(0) ack 2001
         1.4  is ecn-marks=1",
    );
}

#[test]
fn an_echo_halves_the_window_once_per_window_and_the_first_new_data_says_so() {
    for congestion in ["reno", "newreno", "tahoe"] {
        eight_out(congestion).run(
            "1.1  < E. 1:1(0) ack 1001        // half of the eight that were out
             1.1  is cwnd=4000 ssthresh=4000 ecn-cuts=1
             1.11 < E. 1:1(0) ack 2001
             1.12 < E. 1:1(0) ack 3001
             1.13 < E. 1:1(0) ack 4001
             1.14 < E. 1:1(0) ack 5001
             1.14 > W. 8001:9001(1000) ack 1 ect
             1.15 < E. 1:1(0) ack 6001
             1.15 > . 9001:10001(1000) ack 1 ect
             1.16 < E. 1:1(0) ack 7001
             1.16 > . 10001:11001(1000) ack 1 ect
             1.17 < E. 1:1(0) ack 8001        // all that was out at the cut: still the same window
             1.17 > . 11001:12001(1000) ack 1 ect
             1.17 is cwnd=4000 ssthresh=4000 ecn-cuts=1
             1.24 < . 1:1(0) ack 9001         // 1000 * 1000 / 4000
             1.24 > . 12001:13001(1000) ack 1 ect
             1.24 is cwnd=4250
             1.25 < E. 1:1(0) ack 10001       // news: half of the four from 9001 on
             1.25 is cwnd=2000 ssthresh=2000 ecn-cuts=2 retransmissions=0",
        );
    }
}

#[test]
fn an_echo_that_goes_on_past_cwr_is_a_new_one() {
    eight_out("newreno").run(
        "1.1  < E. 1:1(0) ack 8001        // eight out: half
         1.1  > W. 8001:9001(1000) ack 1 ect
         1.1  > . 9001:10001(1000) ack 1 ect
         1.1  > . 10001:11001(1000) ack 1 ect
         1.1  > . 11001:12001(1000) ack 1 ect
         1.1  is cwnd=4000
         1.2  < E. 1:1(0) ack 9001        // the segment with CWR was marked too
         1.2  is cwnd=2000 ecn-cuts=2",
    );
}

#[test]
fn a_loss_in_the_window_that_a_mark_has_cut_is_repaired_without_a_second_cut() {
    // Segment 1 is marked, segment 2 lost. RFC 3168 sec. 6.1.2: once for drops and marks of one window.
    eight_out("reno").run(
        "1.1  < E. 1:1(0) ack 1001
         1.11 < E. 1:1(0) ack 1001
         1.12 < E. 1:1(0) ack 1001
         1.13 < E. 1:1(0) ack 1001
         1.13 > . 1001:2001(1000) ack 1 again
         1.13 is cwnd=4000 ssthresh=4000 inflation=3000 recovery=true ecn-cuts=1 fast-retransmits=1
         1.14 < E. 1:1(0) ack 1001            // 4000 + 4000 > 7000 in flight
         1.14 > W. 8001:9001(1000) ack 1 ect
         1.15 < E. 1:1(0) ack 1001
         1.15 > . 9001:10001(1000) ack 1 ect
         1.16 < E. 1:1(0) ack 1001
         1.16 > . 10001:11001(1000) ack 1 ect
         1.23 < E. 1:1(0) ack 8001
         1.23 > . 11001:12001(1000) ack 1 ect
         1.23 is cwnd=4000 ssthresh=4000 recovery=false ecn-cuts=1",
    );
}

#[test]
fn tahoe_starts_slowly_after_a_loss_in_a_marked_window_and_leaves_ssthresh() {
    eight_out("tahoe").run(
        "1.1  < E. 1:1(0) ack 1001
         1.11 < E. 1:1(0) ack 1001
         1.12 < E. 1:1(0) ack 1001
         1.13 < E. 1:1(0) ack 1001
         1.13 > . 1001:2001(1000) ack 1 again
         1.13 is cwnd=1000 ssthresh=4000 ecn-cuts=1",
    );
}

#[test]
fn a_loss_of_what_left_after_the_cut_cuts_again() {
    // The segment that carried CWR is lost: its loss is answered, and the next new data carries CWR instead.
    eight_out("reno").run(
        "1.1  < E. 1:1(0) ack 8001
         1.1  > W. 8001:9001(1000) ack 1 ect
         1.1  > . 9001:10001(1000) ack 1 ect
         1.1  > . 10001:11001(1000) ack 1 ect
         1.1  > . 11001:12001(1000) ack 1 ect
         1.2  < E. 1:1(0) ack 8001
         1.21 < E. 1:1(0) ack 8001
         1.22 < E. 1:1(0) ack 8001
         1.22 > . 8001:9001(1000) ack 1 again
         1.22 > W. 12001:13001(1000) ack 1 ect     // 2000 + 3000 > 4000 in flight
         1.22 is cwnd=2000 ssthresh=2000 ecn-cuts=1 fast-retransmits=1",
    );
}

#[test]
fn an_echo_in_fast_recovery_and_of_its_window_cuts_nothing() {
    eight_out("reno").run(
        "1.1  < . 1:1(0) ack 1
         1.11 < . 1:1(0) ack 1
         1.12 < . 1:1(0) ack 1
         1.12 > . 1:1001(1000) ack 1 again
         1.13 < E. 1:1(0) ack 1
         1.13 is cwnd=4000 recovery=true ecn-cuts=0
         1.22 < E. 1:1(0) ack 8001
         1.22 > W. 8001:9001(1000) ack 1 ect       // for the loss: any cut is told
         1.22 > . 9001:10001(1000) ack 1 ect
         1.22 > . 10001:11001(1000) ack 1 ect
         1.22 > . 11001:12001(1000) ack 1 ect
         1.22 is cwnd=4000 recovery=false ecn-cuts=0",
    );
}

#[test]
fn after_a_timeout_what_is_sent_again_is_not_markable_and_new_data_carries_cwr() {
    eight_out("newreno").run(
        "2    > . 1:1001(1000) ack 1 again
         2.1  < E. 1:1(0) ack 1001              // one window, one cut; and nothing grows
         2.1  > . 1001:2001(1000) ack 1 again
         2.1  is cwnd=1000 ssthresh=4000 ecn-cuts=0
         2.2  < . 1:1(0) ack 8001
         2.2  > W. 8001:9001(1000) ack 1 ect
         2.2  > . 9001:10001(1000) ack 1 ect
         2.2  is cwnd=2000",
    );
}

#[test]
fn a_small_window_goes_down_to_one_segment() {
    agreed(Config { initial_window_segments: 3, ..ecn() }, 65_535).run(
        "1    write 9000
         1    > . 1:1001(1000) ack 1 ect
         1    > . 1001:2001(1000) ack 1 ect
         1    > . 2001:3001(1000) ack 1 ect
         1.1  < E. 1:1(0) ack 3001
         1.1  > W. 3001:4001(1000) ack 1 ect
         1.1  is cwnd=1500 ssthresh=2000
         1.2  < E. 1:1(0) ack 4001
         1.2  > W. 4001:5001(1000) ack 1 ect
         1.2  is cwnd=1000 ssthresh=2000 ecn-cuts=2",
    );
}

#[test]
fn an_echo_at_a_window_of_one_segment_holds_new_data_back_for_an_rto() {
    // RFC 3168 sec. 6.1.2: the timer takes the place of a further cut.
    agreed(Config { initial_window_segments: 1, ..ecn() }, 65_535).run(
        "1    write 9000
         1    > . 1:1001(1000) ack 1 ect
         1.1  < E. 1:1(0) ack 1001
         1.1  is cwnd=1000 ssthresh=2000 ecn-cuts=1 flight=0
         2.1  > W. 1001:2001(1000) ack 1 ect
         2.1  is timeouts=0 rto=1s
         2.2  < . 1:1(0) ack 2001
         2.2  > . 2001:3001(1000) ack 1 ect
         2.2  > . 3001:4001(1000) ack 1 ect",
    );
}

#[test]
fn an_echo_leaves_no_window_what_its_own_ack_has_added() {
    // RFC 3168 sec. 6.1.2: growth by the ACK that carries ECE does not outlast the cut. 17 of 20 are lost, so that PRR begins with three
    // segments and ends with six, below ssthresh. The ACK that ends the recovery would lift it to ssthresh, and carries ECE. Jersey's cut
    // is to its estimate, 6497 B then: above the six segments.
    let sent = |at: &str, first: u32, last: u32| -> String {
        let push = |i: u32| if i == last { "P" } else { "" };
        (first..=last)
            .map(|i| format!("\n{at} > {}. {}:{}(1000) ack 1 ect", push(i), i * 1000 + 1, i * 1000 + 1001))
            .collect()
    };
    let arrive: String = (1..=10).map(|i| format!("\n1.{} < . 1:1(0) ack {}", 1000 + i, i * 1000 + 1)).collect();
    let congestion = cc::find("jersey").unwrap();
    Script::open(Config { congestion, sack: true, prr: true, initial_window_segments: 10, ..ecn() }).run(&format!(
        "0    > SEW 0:0(0) <mss 1000, sackOK>
         0.1  < SE. 0:0(0) ack 1 win 65535 <mss 1000, sackOK>
         0.1  connected
         0.1  > . 1:1(0) ack 1
         1    write 10000{}{arrive}
         1.2  is cwnd=20000
         1.2  write 20000{}
         1.3  < . 1:1(0) ack 10001 <sack 27001:30001>
         1.3  > . 10001:11001(1000) ack 1 again
         1.3  > . 11001:12001(1000) ack 1 again
         1.3  > . 12001:13001(1000) ack 1 again
         1.3  is cwnd=3000 ssthresh=8910
         1.35 write 1000
         1.4  < . 1:1(0) ack 13001 <sack 27001:30001>
         1.4  > . 13001:14001(1000) ack 1 again
         1.4  > . 14001:15001(1000) ack 1 again
         1.4  > . 15001:16001(1000) ack 1 again
         1.4  > . 16001:17001(1000) ack 1 again
         1.5  < . 1:1(0) ack 17001 <sack 27001:30001>
         1.5  > . 17001:18001(1000) ack 1 again
         1.5  > . 18001:19001(1000) ack 1 again
         1.5  > . 19001:20001(1000) ack 1 again
         1.5  > . 20001:21001(1000) ack 1 again
         1.5  > . 21001:22001(1000) ack 1 again
         1.6  < . 1:1(0) ack 22001 <sack 27001:30001>
         1.6  > . 22001:23001(1000) ack 1 again
         1.6  > . 23001:24001(1000) ack 1 again
         1.6  > . 24001:25001(1000) ack 1 again
         1.6  > . 25001:26001(1000) ack 1 again
         1.6  > . 26001:27001(1000) ack 1 again
         1.6  > PW. 30001:31001(1000) ack 1 ect
         1.6  is cwnd=6000 ssthresh=8910
         1.7  < E. 1:1(0) ack 31001
         1.7  is cwnd=6000 ssthresh=6497 ecn-cuts=1",
        sent("1", 0, 9),
        sent("1.2", 10, 29),
    ));
}

#[test]
fn a_probe_of_a_closed_window_is_not_markable_and_leaves_cwr_to_new_data() {
    // RFC 3168 sec. 6.1.6.
    agreed(ecn(), 1000).run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1 ect
         1.1  < E. 1:1(0) ack 1001 win 0
         1.1  is cwnd=1000 ecn-cuts=1
         2.1  > . 1001:1002(1) ack 1
         2.2  < E. 1:1(0) ack 1002 win 5000      // nobody has told the peer yet: no news
         2.2  > PW. 1002:2001(999) ack 1 ect
         2.2  is ecn-cuts=1",
    );
}

#[test]
fn a_fin_without_data_and_a_reset_are_not_markable() {
    agreed(ecn(), 20_000).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1.1  abort
         1.1  > R. 2:2(0) ack 1 win 0
         1.1  closed",
    );
    agreed(ecn(), 20_000).run(
        "1    write 1001
         1    > . 1:1001(1000) ack 1 ect
         1    > P. 1001:1002(1) ack 1 ect
         1    close
         1    > F. 1002:1002(0) ack 1",
    );
}

/// Ten are out at 1 s of 40, with SACK and proportional rate reduction; ssthresh will be five.
fn ten_out_with_prr() -> Script {
    let config = Config { sack: true, prr: true, initial_window_segments: 10, ..ecn() };
    let mut script = Script::open(config);
    let sent: String =
        (0..10).map(|i| format!("\n1 > . {}:{}(1000) ack 1 ect", i * 1000 + 1, i * 1000 + 1001)).collect();
    script.run(&format!(
        "0    > SEW 0:0(0) <mss 1000, sackOK>
         0.1  < SE. 0:0(0) ack 1 win 65535 <mss 1000, sackOK>
         0.1  connected
         0.1  > . 1:1(0) ack 1
         1    write 40000{sent}"
    ));
    script
}

#[test]
fn with_prr_an_echo_brings_the_window_down_in_a_round_trip() {
    // RFC 9937 sec. 4; Linux: tcp_enter_cwr. RecoverFS is ten segments: one leaves for two that arrive, and nothing grows.
    ten_out_with_prr().run(
        "1.1  < E. 1:1(0) ack 1001
         1.1  is ssthresh=5000 cwnd=9500 pipe=9000 ecn-cuts=1 recovery=false
         1.11 < E. 1:1(0) ack 2001
         1.11 > W. 10001:11001(1000) ack 1 ect
         1.12 < E. 1:1(0) ack 3001
         1.12 is cwnd=8500
         1.13 < E. 1:1(0) ack 4001
         1.13 > . 11001:12001(1000) ack 1 ect
         1.14 < E. 1:1(0) ack 9001
         1.14 > . 12001:13001(1000) ack 1 ect
         1.14 > . 13001:14001(1000) ack 1 ect
         1.14 is ssthresh=5000 cwnd=5000 pipe=5000
         1.15 < E. 1:1(0) ack 10001              // all that was out at the mark
         1.15 > . 14001:15001(1000) ack 1 ect
         1.15 is cwnd=5000 ssthresh=5000 ecn-cuts=1
         1.25 < . 1:1(0) ack 11001
         1.25 > . 15001:16001(1000) ack 1 ect
         1.25 is cwnd=5200",
    );
}

#[test]
fn a_loss_while_a_mark_brings_the_window_down_goes_on_with_the_same_reduction() {
    // One reduction for a window of data: ssthresh stays, and the ACKs of the recovery count on from the mark's.
    ten_out_with_prr().run(
        "1.1  < E. 1:1(0) ack 1001
         1.11 < E. 1:1(0) ack 1001 <sack 2001:5001>
         1.11 > . 1001:2001(1000) ack 1 again
         1.11 is recovery=true ssthresh=5000 pipe=6000 cwnd=6000 ecn-cuts=1 fast-retransmits=1
         // 1000 + 3000 + 1000 of RecoverFS = 10000 were delivered, and 1000 were sent: as much as arrives, up to ssthresh.
         1.12 < E. 1:1(0) ack 1001 <sack 2001:6001>
         1.12 is pipe=5000 cwnd=5000
         1.13 < E. 1:1(0) ack 1001 <sack 2001:7001>
         1.13 > W. 10001:11001(1000) ack 1 ect
         1.13 is pipe=5000 cwnd=5000 ecn-cuts=1",
    );
}

#[test]
fn a_timeout_ends_the_reduction_of_a_mark() {
    ten_out_with_prr().run(
        "1.1  < E. 1:1(0) ack 1001
         2.1  > . 1001:2001(1000) ack 1 again
         2.1  is cwnd=1000 timeouts=1
         2.2  < . 1:1(0) ack 2001
         2.2  > . 2001:3001(1000) ack 1 again
         2.2  > . 3001:4001(1000) ack 1 again
         2.2  is cwnd=2000",
    );
}
