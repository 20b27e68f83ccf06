//! Marks of ECN and recovery by the scoreboard: one cut for a window of data. @RFC3168 sec. 6.1.2

use super::sack::sack;
use super::script::Script;
use tcp::Config;

/// Ten segments are out that may be marked.
fn ten_marked(config: Config) -> Script {
    let mut text = "0    > SEW 0:0(0) <mss 1000, sackOK>
         0.1  < SE. 0:0(0) ack 1 win 65535 <mss 1000, sackOK>
         0.1  connected
         0.1  > . 1:1(0) ack 1
         1    write 40000"
        .to_owned();
    for i in 0..10 {
        text += &format!("\n1 > . {}:{}(1000) ack 1 ect", i * 1000 + 1, i * 1000 + 1001);
    }
    let mut script = Script::open(Config { ecn: true, ..config });
    script.run(&text);
    script
}

#[test]
fn a_mark_in_recovery_cuts_nothing_more() {
    // RFC 3168 sec. 6.1.2: once per window of data.
    ten_marked(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < E. 1:1(0) ack 1 <sack 1001:5001>
         1.3  < E. 1:1(0) ack 1 <sack 1001:8001>
         1.3  > W. 10001:11001(1000) ack 1 ect
         1.3  > . 11001:12001(1000) ack 1 ect
         1.3  is cwnd=5000 ssthresh=5000 ecn-cuts=0",
    );
}

#[test]
fn a_mark_on_a_duplicate_cuts_the_window_and_the_loss_after_it_does_not() {
    // RFC 3168 sec. 6.1.2: one cut for a window of data, by mark or by loss. Repairs are not ECT, the first new data says CWR.
    ten_marked(sack()).run(
        "1.1  < E. 1:1(0) ack 1 <sack 1001:2001>
         1.1  is cwnd=5000 ssthresh=5000 ecn-cuts=1 recovery=false
         1.11 < E. 1:1(0) ack 1 <sack 1001:4001>
         1.11 > . 1:1001(1000) ack 1 again
         1.11 is cwnd=5000 ssthresh=5000 ecn-cuts=1 recovery=true
         1.12 < E. 1:1(0) ack 1 <sack 1001:9001>
         1.12 > W. 10001:11001(1000) ack 1 ect
         1.12 > . 11001:12001(1000) ack 1 ect
         1.12 > . 12001:13001(1000) ack 1 ect
         1.12 is cwnd=5000 pipe=5000 ecn-cuts=1",
    );
}

#[test]
fn a_mark_after_recovery_cuts_again() {
    ten_marked(sack()).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         1.2  < . 1:1(0) ack 10001
         1.2  > W. 10001:11001(1000) ack 1 ect
         1.2  > . 11001:12001(1000) ack 1 ect
         1.2  > . 12001:13001(1000) ack 1 ect
         1.2  > . 13001:14001(1000) ack 1 ect
         1.2  > . 14001:15001(1000) ack 1 ect
         1.2  is cwnd=5000 recovery=false
         1.3  < E. 1:1(0) ack 12001                   // beyond the segment with CWR
         1.3  is cwnd=2500 ssthresh=2500 ecn-cuts=1",
    );
}
