//! Proportional rate reduction. @RFC9937 sec. 6

use super::script::{Script, config, out};
use tcp::Config;

const PEER: &str = "65535 <mss 1000, sackOK>";

/// Twenty segments are out, more is waiting; ssthresh will be ten.
fn twenty_out() -> Script {
    out(Config { sack: true, prr: true, initial_window_segments: 20, ..config() }, PEER, 20, 60_000)
}

/// As above, and nothing more is waiting.
fn twenty_are_all() -> Script {
    out(Config { sack: true, prr: true, initial_window_segments: 20, ..config() }, PEER, 20, 20_000)
}

#[test]
fn above_ssthresh_one_segment_leaves_for_two_that_arrive() {
    // RecoverFS is 20000: the three SACKed by the ACK that begins recovery are delivered in it.
    twenty_out().run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         // 3000 * 10000 / 20000 = 1500 in all: one segment, and half of one is left over.
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is ssthresh=10000 cwnd=17500 pipe=17000
         1.11 < . 1:1(0) ack 1 <sack 1001:5001>
         1.11 > . 20001:21001(1000) ack 1          // 4000 / 2 - 1000
         1.12 < . 1:1(0) ack 1 <sack 1001:6001>
         1.12 is cwnd=16500 pipe=16000             // 5000 / 2 - 2000: half a segment
         1.13 < . 1:1(0) ack 1 <sack 1001:7001>
         1.13 > . 21001:22001(1000) ack 1
         1.14 < . 1:1(0) ack 1 <sack 1001:8001>
         1.15 < . 1:1(0) ack 1 <sack 1001:9001>
         1.15 > . 22001:23001(1000) ack 1
         1.15 is pipe=15000 cwnd=15000",
    );
}

#[test]
fn at_the_end_the_window_is_ssthresh() {
    twenty_out().run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 1001:20001>
         1.2  > . 20001:21001(1000) ack 1
         1.2  > . 21001:22001(1000) ack 1
         1.2  > . 22001:23001(1000) ack 1
         1.2  > . 23001:24001(1000) ack 1
         1.2  > . 24001:25001(1000) ack 1
         1.2  > . 25001:26001(1000) ack 1
         1.2  > . 26001:27001(1000) ack 1
         1.2  > . 27001:28001(1000) ack 1
         1.2  > . 28001:29001(1000) ack 1
         // 1000 in the pipe is below ssthresh: 19000 delivered, 1000 out; no more than ssthresh.
         1.2  is cwnd=10000 pipe=10000
         1.3  < . 1:1(0) ack 20001
         1.3  > . 29001:30001(1000) ack 1
         1.3  is recovery=false cwnd=10000 ssthresh=10000 pipe=10000",
    );
}

#[test]
fn after_a_burst_of_losses_as_much_leaves_as_arrives() {
    // The conservative reduction bound. Segments 1 to 16 are lost: the pipe is far below ssthresh.
    twenty_out().run(
        "1.1  < . 1:1(0) ack 1 <sack 16001:19001>
         // 20000 - 3000 - 16000: 1000; three have arrived, three leave.
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.1  is pipe=4000 cwnd=4000 ssthresh=10000
         1.11 < . 1:1(0) ack 1 <sack 16001:20001>
         1.11 > . 3001:4001(1000) ack 1 again
         1.11 is pipe=4000 cwnd=4000",
    );
}

#[test]
fn an_ack_of_new_data_without_further_loss_lets_one_more_leave() {
    // The slow start reduction bound. All losses are repaired, so the ACK is safe; new data fills up.
    twenty_out().run(
        "1.1  < . 1:1(0) ack 1 <sack 16001:19001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         // Thirteen wait for their repair: an ACK that shows a hole that is not repaired is not safe.
         1.2  < . 1:1(0) ack 1001 <sack 16001:19001>
         1.2  > . 3001:4001(1000) ack 1 again
         1.2  is cwnd=4000 pipe=4000",
    );
    // Segments 1 to 12 are lost and the last six are not there yet; then there is nothing left to repair.
    twenty_out().run(
        "1.1  < . 1:1(0) ack 1 <sack 3001:14001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.1  > . 20001:21001(1000) ack 1
         1.1  is cwnd=10000 pipe=10000
         1.2  < . 1:1(0) ack 1001 <sack 3001:20001>
         // Seven arrived, and one more may leave; to ssthresh it would be seven.
         1.2  > . 21001:22001(1000) ack 1
         1.2  > . 22001:23001(1000) ack 1
         1.2  > . 23001:24001(1000) ack 1
         1.2  > . 24001:25001(1000) ack 1
         1.2  > . 25001:26001(1000) ack 1
         1.2  > . 26001:27001(1000) ack 1
         1.2  > . 27001:28001(1000) ack 1
         1.2  is cwnd=10000 pipe=10000",
    );
}

#[test]
fn what_the_application_had_not_written_leaves_when_it_has() {
    // Sec. 7: missed opportunities are kept. Nineteen of twenty arrive while there is nothing to send.
    twenty_are_all().run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 1001:15001>
         1.2  > P. 19001:20001(1000) ack 1 again    // the rescue
         1.2  is cwnd=10000 pipe=7000
         1.3  write 10000
         1.3  > . 20001:21001(1000) ack 1
         1.3  > . 21001:22001(1000) ack 1
         1.3  > . 22001:23001(1000) ack 1
         1.3  is pipe=10000 recovery=true",
    );
}

#[test]
fn a_timeout_ends_the_reduction() {
    twenty_out().run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         2.1  > . 1:1001(1000) ack 1 again
         2.1  is cwnd=1000 recovery=false ssthresh=8500
         2.2  < . 1:1(0) ack 4001
         2.2  > . 4001:5001(1000) ack 1 again
         2.2  > . 5001:6001(1000) ack 1 again
         2.2  is cwnd=2000",
    );
}

#[test]
fn a_window_scaled_to_the_reduction_works_for_reno_too() {
    // The controller has nothing to do with it.
    let reno = Config {
        sack: true,
        prr: true,
        initial_window_segments: 20,
        congestion: tcp::cc::find("reno").unwrap(),
        ..config()
    };
    out(reno, PEER, 20, 60_000).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  is ssthresh=10000 cwnd=17500 pipe=17000 recovery=true",
    );
}
