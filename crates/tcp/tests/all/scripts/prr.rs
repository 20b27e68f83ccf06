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
    // The slow start reduction bound. All losses are repaired; new data fills up. Segments 1 to 12 are lost and the last six are not there yet; then there is nothing left to repair.
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

/// Twenty segments are out; time and not duplicates will tell that the first ones are lost.
fn twenty_out_by_time() -> Script {
    out(Config { sack: true, prr: true, rack: true, initial_window_segments: 20, ..config() }, PEER, 20, 60_000)
}

#[test]
fn a_recovery_that_the_reordering_timer_begins_lets_one_segment_leave() {
    // Fifteen are lost and two SACKed, which are too few: the timer begins recovery, with 5000 in the pipe and an ssthresh of 10000.
    // Nothing was delivered: sec. 6.2 forces one segment out. As tcp_rack_reo_timeout of Linux, the timer counts for a delivered one.
    twenty_out_by_time().run(
        "1.1   < . 1:1(0) ack 1 <sack 15001:17001>
         1.1   > . 20001:21001(1000) ack 1
         1.1   > . 21001:22001(1000) ack 1
         1.125 > . 1:1001(1000) ack 1 again
         1.125 is recovery=true ssthresh=10000 pipe=6000 cwnd=6000
         // From then on as much leaves as arrives.
         1.13  < . 1:1(0) ack 1 <sack 15001:18001>
         1.13  > . 1001:2001(1000) ack 1 again
         1.13  is pipe=6000 cwnd=6000",
    );
}

#[test]
fn above_ssthresh_the_reordering_timer_lets_one_segment_leave_and_the_reduction_is_proportional() {
    // RecoverFS is 21000 - 1000; half of what arrives leaves, the timer's segment included.
    twenty_out_by_time().run(
        "1.1   < . 1:1(0) ack 1 <sack 1001:2001>
         1.1   > . 20001:21001(1000) ack 1
         1.125 > . 1:1001(1000) ack 1 again
         1.125 is recovery=true ssthresh=10000 pipe=20000
         1.13  < . 1:1(0) ack 1 <sack 1001:3001>
         1.14  < . 1:1(0) ack 1 <sack 1001:4001>
         1.14  is pipe=18000 cwnd=18500
         1.15  < . 1:1(0) ack 1 <sack 1001:5001>
         1.15  > . 21001:22001(1000) ack 1
         1.15  is pipe=18000",
    );
}

#[test]
fn losses_that_were_known_before_do_not_make_an_ack_unsafe() {
    // Sec. 6.2: SafeACK asks for no further loss that this ACK indicates. Segments 1 to 16 are lost and known to be; the ACK of the first
    // repair tells of none beyond them: what has arrived leaves, and one segment more.
    twenty_out().run(
        "1.1  < . 1:1(0) ack 1 <sack 16001:19001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1001 <sack 16001:19001>
         1.2  > . 3001:4001(1000) ack 1 again
         1.2  > . 4001:5001(1000) ack 1 again
         1.2  is cwnd=5000 pipe=5000",
    );
}

#[test]
fn an_ack_that_tells_of_a_further_loss_is_not_safe() {
    // The repair of the first segment arrives, and three segments beyond the fourth: it is lost too. Four arrived, four leave. Before the
    // ACK 5001 to 19001 were in flight, and three of them are SACKed now.
    let mut script = out(Config { sack: true, prr: true, initial_window_segments: 40, ..config() }, PEER, 40, 90_000);
    script.run(
        "1.1  < . 1:1(0) ack 1 <sack 30001:33001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.1  is pipe=10000 cwnd=10000 ssthresh=20000
         1.2  < . 1:1(0) ack 1001 <sack 34001:37001, sack 30001:33001>
         // 33001 is lost by this ACK. 10000 - 4000 - 1000 are in the pipe.
         1.2  > . 3001:4001(1000) ack 1 again
         1.2  > . 4001:5001(1000) ack 1 again
         1.2  > . 5001:6001(1000) ack 1 again
         1.2  > . 6001:7001(1000) ack 1 again
         1.2  is pipe=9000 cwnd=9000",
    );
}

#[test]
fn an_ack_that_calls_for_the_rescue_is_not_safe() {
    // Sec. 6.2 names it. The repair of the first segment comes last, so that no ACK is safe and the window stays at six; the ACK of it
    // finds nothing to send but the rescue: one arrived, and one leaves.
    twenty_are_all().run(
        "1.1  < . 1:1(0) ack 1 <sack 14001:17001>
         1.1  > . 1:1001(1000) ack 1 again
         1.1  > . 1001:2001(1000) ack 1 again
         1.1  > . 2001:3001(1000) ack 1 again
         1.2  < . 1:1(0) ack 1 <sack 1001:3001, sack 14001:17001>
         1.2  > . 3001:4001(1000) ack 1 again
         1.2  > . 4001:5001(1000) ack 1 again
         1.3  < . 1:1(0) ack 1 <sack 1001:5001, sack 14001:17001>
         1.3  > . 5001:6001(1000) ack 1 again
         1.3  > . 6001:7001(1000) ack 1 again
         1.4  < . 1:1(0) ack 1 <sack 1001:7001, sack 14001:17001>
         1.4  > . 7001:8001(1000) ack 1 again
         1.4  > . 8001:9001(1000) ack 1 again
         1.5  < . 1:1(0) ack 1 <sack 1001:9001, sack 14001:17001>
         1.5  > . 9001:10001(1000) ack 1 again
         1.5  > . 10001:11001(1000) ack 1 again
         1.6  < . 1:1(0) ack 1 <sack 1001:11001, sack 14001:17001>
         1.6  > . 11001:12001(1000) ack 1 again
         1.6  > . 12001:13001(1000) ack 1 again
         1.7  < . 1:1(0) ack 1 <sack 1001:12001, sack 14001:17001>
         1.7  > . 13001:14001(1000) ack 1 again
         1.7  is cwnd=6000 pipe=6000 ssthresh=10000
         1.8  < . 1:1(0) ack 12001 <sack 14001:17001>
         1.8  > P. 19001:20001(1000) ack 1 again
         1.8  is cwnd=6000 pipe=6000",
    );
}
