//! Losses that were none. @RFC3522, @RFC3708, @RFC5682, @RFC4015

use super::script::{Script, config, out};
use tcp::{Config, Undo};

const STAMPED: &str = "65535 <mss 1000, TS val 500 ecr 0>";
const SACK: &str = "65535 <mss 1000, sackOK>";
const PLAIN: &str = "65535 <mss 1000>";

fn with(undo: Undo) -> Config {
    Config { undo, initial_window_segments: 10, ..config() }
}

/// With timestamps a segment holds 988 B: eight are out at 1 s.
fn stamped(undo: Undo) -> Script {
    let config = Config { timestamps: true, mss: 1012, initial_window_segments: 8, ..with(undo) };
    let mut script = super::script::connected(config, STAMPED.replace("1000", "1012").as_str());
    let mut text = "1 write 40000".to_owned();
    for i in 0..8 {
        text += &format!("\n1 > . {}:{}(1000) ack 1 <TS val 1000 ecr 500>", i * 1000 + 1, i * 1000 + 1001);
    }
    script.run(&text);
    script
}

#[test]
fn a_timestamp_older_than_the_repetition_undoes_a_timeout() {
    // Eifel: the ACK echoes 1000, the repetition left at 2000. cwnd is what is in flight and what was acknowledged.
    stamped(Undo::Eifel).run(
        "2    > . 1:1001(1000) ack 1 <TS val 2000 ecr 500> again
         2    is cwnd=1000 ssthresh=4000
         2.05 < . 1:1(0) ack 1001 <TS val 600 ecr 1000>
         2.05 > . 8001:9001(1000) ack 1 <TS val 2050 ecr 600>
         2.05 is cwnd=8000 undone=1 retransmissions=1
         2.06 < . 1:1(0) ack 2001 <TS val 601 ecr 1000>
         2.06 > . 9001:10001(1000) ack 1 <TS val 2060 ecr 601>
         2.06 > . 10001:11001(1000) ack 1 <TS val 2060 ecr 601>
         2.06 is cwnd=9000",
    );
}

#[test]
fn a_timestamp_of_the_repetition_undoes_nothing() {
    stamped(Undo::Eifel).run(
        "2    > . 1:1001(1000) ack 1 <TS val 2000 ecr 500> again
         2.1  < . 1:1(0) ack 1001 <TS val 600 ecr 2000>
         2.1  > . 1001:2001(1000) ack 1 <TS val 2100 ecr 600> again
         2.1  > . 2001:3001(1000) ack 1 <TS val 2100 ecr 600> again
         // Only the first ACK tells.
         2.2  < . 1:1(0) ack 2001 <TS val 601 ecr 1000>
         2.2  > . 3001:4001(1000) ack 1 <TS val 2200 ecr 601> again
         2.2  > . 4001:5001(1000) ack 1 <TS val 2200 ecr 601> again
         2.2  is undone=0 cwnd=3000 ssthresh=4000",
    );
}

#[test]
fn reordering_taken_for_a_loss_is_undone_by_the_timestamp() {
    stamped(Undo::Eifel).run(
        "1.1  < . 1:1(0) ack 1 <TS val 600 ecr 1000>
         1.11 < . 1:1(0) ack 1 <TS val 601 ecr 1000>
         1.12 < . 1:1(0) ack 1 <TS val 602 ecr 1000>
         1.12 > . 1:1001(1000) ack 1 <TS val 1120 ecr 602> again
         1.12 is cwnd=4000 ssthresh=4000 recovery=true
         1.13 < . 1:1(0) ack 4001 <TS val 603 ecr 1000>
         1.13 > . 8001:9001(1000) ack 1 <TS val 1130 ecr 603>
         1.13 > . 9001:10001(1000) ack 1 <TS val 1130 ecr 603>
         1.13 > . 10001:11001(1000) ack 1 <TS val 1130 ecr 603>
         1.13 > . 11001:12001(1000) ack 1 <TS val 1130 ecr 603>
         1.13 is cwnd=8000 recovery=false undone=1 retransmissions=1",
    );
}

#[test]
fn nothing_is_undone_unless_it_is_asked_for() {
    stamped(Undo::None).run(
        "2    > . 1:1001(1000) ack 1 <TS val 2000 ecr 500> again
         2.05 < . 1:1(0) ack 1001 <TS val 600 ecr 1000>
         2.05 > . 1001:2001(1000) ack 1 <TS val 2050 ecr 600> again
         2.05 > . 2001:3001(1000) ack 1 <TS val 2050 ecr 600> again
         2.05 is cwnd=2000 undone=0",
    );
    let error = with(Undo::Eifel).check().unwrap_err().to_string();
    assert_eq!(error, "undo: \"eifel\" needs timestamps = true, or sack = true");
}

fn ten_out(undo: Undo, peer: &str) -> Script {
    out(Config { sack: peer == SACK, ..with(undo) }, peer, 10, 40_000)
}

#[test]
fn a_report_that_the_repetition_came_twice_undoes_the_cut() {
    // RFC 3708. Segment 1 was late.
    ten_out(Undo::Eifel, SACK).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.12 < . 1:1(0) ack 4001
         1.12 is cwnd=5000 recovery=true pipe=6000
         1.2  < . 1:1(0) ack 4001 <sack 1:1001>
         1.2  > . 10001:11001(1000) ack 1
         1.2  > . 11001:12001(1000) ack 1
         1.2  > . 12001:13001(1000) ack 1
         1.2  > . 13001:14001(1000) ack 1
         1.2  is cwnd=10000 recovery=false undone=1",
    );
}

#[test]
fn each_repetition_has_to_be_reported() {
    // Segments 1 and 5 were late.
    ten_out(Undo::FRto, SACK).run(
        "1.1  < . 1:1(0) ack 1 <sack 5001:8001, sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 4001:5001(1000) ack 1 again
         1.1  > . 10001:11001(1000) ack 1
         1.2  < . 1:1(0) ack 8001
         1.2  > . 11001:12001(1000) ack 1
         1.2  > . 12001:13001(1000) ack 1
         1.25 < . 1:1(0) ack 8001 <sack 1:1001>
         1.25 is undone=0 cwnd=5000
         1.26 < . 1:1(0) ack 8001 <sack 4001:5001>
         1.26 > . 13001:14001(1000) ack 1
         1.26 > . 14001:15001(1000) ack 1
         1.26 > . 15001:16001(1000) ack 1
         1.26 > . 16001:17001(1000) ack 1
         1.26 > . 17001:18001(1000) ack 1
         1.26 is undone=1 cwnd=10000",
    );
}

#[test]
fn a_report_that_comes_after_recovery_undoes_it_too() {
    ten_out(Undo::All, SACK).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.12 < . 1:1(0) ack 10001
         1.12 > . 10001:11001(1000) ack 1
         1.12 > . 11001:12001(1000) ack 1
         1.12 > . 12001:13001(1000) ack 1
         1.12 > . 13001:14001(1000) ack 1
         1.12 > . 14001:15001(1000) ack 1
         1.12 is recovery=false cwnd=5000
         1.2  < . 1:1(0) ack 10001 <sack 1:1001>
         1.2  > . 15001:16001(1000) ack 1
         1.2  > . 16001:17001(1000) ack 1
         1.2  > . 17001:18001(1000) ack 1
         1.2  > . 18001:19001(1000) ack 1
         1.2  > . 19001:20001(1000) ack 1
         1.2  is cwnd=10000 undone=1",
    );
}

#[test]
fn f_rto_two_acks_after_a_timeout_that_go_on_show_that_it_was_a_delay() {
    // RFC 5682 sec. 2.1 steps 2b, 3b.
    ten_out(Undo::FRto, PLAIN).run(
        "2    > . 1:1001(1000) ack 1 again
         2    is cwnd=1000 ssthresh=5000
         2.1  < . 1:1(0) ack 1001
         2.1  > . 10001:11001(1000) ack 1
         2.1  > . 11001:12001(1000) ack 1
         2.1  is undone=0 cwnd=2000
         2.2  < . 1:1(0) ack 2001
         2.2  is undone=1 cwnd=10000 retransmissions=1 flight=10000
         2.3  < . 1:1(0) ack 3001
         2.3  > . 12001:13001(1000) ack 1
         2.3  > . 13001:14001(1000) ack 1
         2.3  is cwnd=11000",
    );
}

#[test]
fn f_rto_a_duplicate_after_a_timeout_is_believed() {
    // Step 2a.
    ten_out(Undo::FRto, PLAIN).run(
        "2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 1
         2.1  is flight=1000 cwnd=1000
         2.2  < . 1:1(0) ack 1001
         2.2  > . 1001:2001(1000) ack 1 again
         2.2  > . 2001:3001(1000) ack 1 again
         2.2  is undone=0 cwnd=2000",
    );
}

#[test]
fn f_rto_a_duplicate_after_new_data_is_believed() {
    // Step 3a: a window of three segments at most.
    ten_out(Undo::FRto, PLAIN).run(
        "2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 1001
         2.1  > . 10001:11001(1000) ack 1
         2.1  > . 11001:12001(1000) ack 1
         2.2  < . 1:1(0) ack 1001
         2.2  > . 1001:2001(1000) ack 1 again
         2.2  > . 2001:3001(1000) ack 1 again
         2.2  is undone=0 cwnd=2000 ssthresh=5000",
    );
}

#[test]
fn f_rto_without_new_data_the_timeout_is_believed() {
    out(with(Undo::FRto), PLAIN, 10, 10_000).run(
        "2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 1001
         2.1  > . 1001:2001(1000) ack 1 again
         2.1  > . 2001:3001(1000) ack 1 again
         2.1  is undone=0",
    );
}

#[test]
fn f_rto_an_ack_of_everything_tells_nothing() {
    ten_out(Undo::FRto, PLAIN).run(
        "2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 10001
         2.1  > . 10001:11001(1000) ack 1
         2.1  > . 11001:12001(1000) ack 1
         2.2  < . 1:1(0) ack 12001
         2.2  > . 12001:13001(1000) ack 1
         2.2  > . 13001:14001(1000) ack 1
         2.2  > . 14001:15001(1000) ack 1
         2.2  is undone=0 cwnd=3000",
    );
}

#[test]
fn f_rto_a_second_timeout_is_believed() {
    ten_out(Undo::FRto, PLAIN).run(
        "2    > . 1:1001(1000) ack 1 again
         4    > . 1:1001(1000) ack 1 again
         4.1  < . 1:1(0) ack 1001
         4.1  > . 1001:2001(1000) ack 1 again
         4.1  > . 2001:3001(1000) ack 1 again
         4.1  is undone=0 timeouts=2",
    );
}

#[test]
fn f_rto_with_sack_duplicates_do_not_decide() {
    // RFC 5682 sec. 3.1 step 2: they change the scoreboard, and the sender waits.
    ten_out(Undo::FRto, SACK).run(
        "2    > . 1:1001(1000) ack 1 again
         2.05 < . 1:1(0) ack 1 <sack 2001:3001>
         2.05 is retransmissions=1 pipe=9000
         2.1  < . 1:1(0) ack 1001 <sack 2001:3001>
         2.1  > . 10001:11001(1000) ack 1
         2.1  > . 11001:12001(1000) ack 1
         // Step 3b: the fourth and fifth arrived, and were never repeated.
         2.2  < . 1:1(0) ack 1001 <sack 2001:5001>
         2.2  is undone=1 retransmissions=1 recovery=false cwnd=8000 pipe=8000",
    );
}

#[test]
fn f_rto_with_sack_news_of_new_data_alone_are_of_a_true_timeout() {
    // Step 3a: only what was sent after the timeout arrives.
    ten_out(Undo::FRto, SACK).run(
        "2    > . 1:1001(1000) ack 1 again
         2.1  < . 1:1(0) ack 1001
         2.1  > . 10001:11001(1000) ack 1
         2.1  > . 11001:12001(1000) ack 1
         2.2  < . 1:1(0) ack 1001 <sack 10001:11001>
         2.2  > . 1001:2001(1000) ack 1 again
         2.2  > . 2001:3001(1000) ack 1 again
         2.2  is undone=0 cwnd=2000 pipe=2000",
    );
}

#[test]
fn a_lost_window_is_sent_again_in_order_whatever_may_be_undone() {
    // A true timeout under every kind of doubt: each segment goes out exactly once more.
    for undo in [Undo::Eifel, Undo::FRto, Undo::All] {
        let mut script = out(Config { sack: true, ..with(undo) }, SACK, 4, 4000);
        script.run(
            "2    > . 1:1001(1000) ack 1 again
             2.1  < . 1:1(0) ack 1001
             2.1  > . 1001:2001(1000) ack 1 again
             2.1  > . 2001:3001(1000) ack 1 again
             2.2  < . 1:1(0) ack 3001
             2.2  > P. 3001:4001(1000) ack 1 again
             2.3  < . 1:1(0) ack 4001
             2.3  is retransmissions=4 undone=0 flight=0",
        );
    }
}
