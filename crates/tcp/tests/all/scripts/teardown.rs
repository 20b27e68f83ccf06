//! @RFC9293 sec. 3.6, 3.10.7.4

use super::script::{Script, config, connected};
use tcp::Config;

const PEER: &str = "20000 <mss 1000>";

#[test]
fn the_active_closer_waits_2_msl() {
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1    is state=FinWait1
         1.1  < . 1:1(0) ack 2
         1.1  is state=FinWait2
         1.2  < F. 1:1(0) ack 2
         1.2  peer-closed
         1.2  > . 2:2(0) ack 2
         1.2  is state=TimeWait
         61.2 closed
         61.2 is state=Closed",
    );
}

#[test]
fn time_wait_acknowledges_a_repeated_fin_and_starts_anew() {
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1.2  < F. 1:1(0) ack 2
         1.2  peer-closed
         1.2  > . 2:2(0) ack 2
         31.2 < F. 1:1(0) ack 2
         31.2 > . 2:2(0) ack 2
         91.2 closed",
    );
}

#[test]
fn the_passive_closer_is_done_with_the_last_ack() {
    connected(config(), PEER).run(
        "1    < F. 1:1(0) ack 1
         1    peer-closed
         1    > . 1:1(0) ack 2
         1    is state=CloseWait
         2    close
         2    > F. 1:1(0) ack 2
         2    is state=LastAck
         2.1  < . 2:2(0) ack 2
         2.1  closed",
    );
}

#[test]
fn simultaneous_close() {
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1.05 < F. 1:1(0) ack 1
         1.05 peer-closed
         1.05 > . 2:2(0) ack 2
         1.05 is state=Closing
         1.1  < . 2:2(0) ack 2
         1.1  is state=TimeWait",
    );
}

#[test]
fn a_lost_fin_is_repeated_by_the_timer() {
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         2    > F. 1:1(0) ack 1 again
         4    > F. 1:1(0) ack 1 again
         4.1  < . 1:1(0) ack 2
         4.1  is state=FinWait2",
    );
}

#[test]
fn a_fin_is_repeated_in_closing_and_last_ack_too() {
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1.05 < F. 1:1(0) ack 1
         1.05 peer-closed
         1.05 > . 2:2(0) ack 2
         2    > F. 1:1(0) ack 2 again
         2    is state=Closing
         2.1  < . 2:2(0) ack 2
         2.1  is state=TimeWait",
    );
    connected(config(), PEER).run(
        "1    < F. 1:1(0) ack 1
         1    peer-closed
         1    > . 1:1(0) ack 2
         2    close
         2    > F. 1:1(0) ack 2
         3    > F. 1:1(0) ack 2 again
         3    is state=LastAck
         3.1  < . 2:2(0) ack 2
         3.1  closed",
    );
}

#[test]
fn the_fin_rides_on_the_last_data_and_a_close_stops_the_stream() {
    connected(config(), PEER).run(
        "1    write 1500
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:1501(500) ack 1
         1.1  < . 1:1(0) ack 1501
         2    write 2500
         2    > . 1501:2501(1000) ack 1
         2    > . 2501:3501(1000) ack 1
         2    > P. 3501:4001(500) ack 1
         2    close
         2    > F. 4001:4001(0) ack 1
         2    write 100
         2.1  < . 1:1(0) ack 4002
         2.1  is state=FinWait2 unsent=0",
    );
    connected(Config { initial_window_segments: 1, ..config() }, PEER).run(
        "1    write 1500
         1    > . 1:1001(1000) ack 1
         1    close
         1.1  < . 1:1(0) ack 1001
         1.1  > FP. 1001:1501(500) ack 1
         1.2  < . 1:1(0) ack 1501      // all but the FIN
         1.2  is state=FinWait1
         1.3  < . 1:1(0) ack 1502
         1.3  is state=FinWait2",
    );
}

#[test]
fn a_half_closed_end_still_receives() {
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1.1  < . 1:1001(1000) ack 2
         1.1  > . 2:2(0) ack 1001
         5    < FP. 1001:1501(500) ack 2
         5    peer-closed
         5    > . 2:2(0) ack 1502
         5    is state=TimeWait delivered=1500",
    );
}

#[test]
fn a_half_closed_peer_is_still_served() {
    connected(config(), PEER).run(
        "1    < F. 1:1(0) ack 1
         1    peer-closed
         1    > . 1:1(0) ack 2
         2    write 1000
         2    > P. 1:1001(1000) ack 2
         2.1  < . 2:2(0) ack 1001
         2.1  is state=CloseWait flight=0",
    );
}

#[test]
fn a_fin_ahead_of_missing_data_waits_for_it() {
    connected(config(), PEER).run(
        "1    < F. 1001:1501(500) ack 1
         1    > . 1:1(0) ack 1
         1    is state=Established
         1.1  < . 1:1001(1000) ack 1
         1.1  peer-closed
         1.1  > . 1:1(0) ack 1502
         1.1  is state=CloseWait delivered=1500",
    );
}

#[test]
fn a_close_before_the_handshake_is_kept_until_after_it() {
    Script::open(config()).run(
        "0    > S 0:0(0) <mss 1000>
         0    write 500
         0    close
         0.1  < S. 0:0(0) ack 1 win 20000 <mss 1000>
         0.1  connected
         0.1  > FP. 1:501(500) ack 1
         0.1  is state=FinWait1",
    );
}

#[test]
fn a_reset_is_believed_only_at_rcv_nxt() {
    // RFC 5961 sec. 3.2: elsewhere in the window it is challenged, outside ignored.
    connected(config(), PEER).run(
        "1 < R 5000:5000(0)
         1 > . 1:1(0) ack 1
         1 < R 90000:90000(0)
         1 is state=Established discarded=2
         1 < R 1:1(0)
         1 failed Reset",
    );
}

#[test]
fn a_syn_in_the_window_is_challenged() {
    connected(config(), PEER).run(
        "1 < S 300:300(0)
         1 > . 1:1(0) ack 1
         1 is state=Established",
    );
}

#[test]
fn an_abort_resets_and_later_segments_are_reset_too() {
    connected(config(), PEER).run(
        "1    write 1000
         1    > P. 1:1001(1000) ack 1
         1    abort
         1    > R. 1001:1001(0) ack 1 win 0
         1    closed
         1.1  < . 1:1(0) ack 1001
         1.1  > R 1001:1001(0) win 0
         1.2  < R. 1:1(0) ack 1001      // a reset is never answered",
    );
}

#[test]
fn a_segment_without_ack_is_dropped() {
    connected(config(), PEER).run(
        "1 < P 1:1001(1000)
         1 is delivered=0 discarded=1",
    );
}

#[test]
fn an_ack_of_what_was_never_sent_is_answered_and_ignored() {
    connected(config(), PEER).run(
        "1 < . 1:1001(1000) ack 5000
         1 > . 1:1(0) ack 1
         1 is delivered=0 discarded=1",
    );
}

#[test]
fn a_reset_at_the_right_edge_is_dropped_in_silence() {
    // RFC 5961 sec. 3.2 (1): RCV.NXT + RCV.WND is the first number outside.
    connected(config(), PEER).run(
        "1    < R 65536:65536(0)
         1    is state=Established discarded=1
         1.1  < R 65535:65535(0)
         1.1  > . 1:1(0) ack 1
         1.1  is state=Established discarded=2",
    );
}

#[test]
fn time_wait_acknowledges_a_fin_within_the_window_too_and_starts_anew() {
    // A peer that lost count repeats its FIN one number later.
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1.2  < F. 1:1(0) ack 2
         1.2  peer-closed
         1.2  > . 2:2(0) ack 2
         31.2 < F. 2:2(0) ack 2
         31.2 > . 2:2(0) ack 2
         91.2 closed",
    );
}

#[test]
fn forged_segments_draw_ten_acks_in_five_seconds() {
    // RFC 5961 sec. 7. Resets, SYNs, ACKs of what was never sent, ACKs beyond the window.
    let forged = ["R 101:101(0)", "S 5000:5000(0)", ". 1:1(0) ack 9001", ". 70001:70001(0) ack 1"];
    for forged in forged {
        let mut script = connected(config(), PEER);
        for i in 0..1000 {
            let answer = if i < 10 { "1 > . 1:1(0) ack 1" } else { "" };
            script.run(&format!("1 < {forged}\n{answer}"));
        }
        script.run(&format!("6 < {forged}\n6 > . 1:1(0) ack 1\n6 is discarded=1001 state=Established"));
    }
    // What the peer repeats until it is told better is told so each time: an old segment of data.
    let mut script = connected(config(), PEER);
    script.run("1 < . 1:1001(1000) ack 1\n1 > . 1:1(0) ack 1001");
    for _ in 0..20 {
        script.run("1 < . 1:1001(1000) ack 1\n1 > . 1:1(0) ack 1001");
    }
}

#[test]
fn a_reset_carries_the_timestamps_of_its_connection() {
    // RFC 7323 sec. 3.2. What belongs to no connection any more has none.
    connected(Config { timestamps: true, ..config() }, "20000 <mss 1000, TS val 500 ecr 0>").run(
        "1    abort
         1    > R. 1:1(0) ack 1 win 0 <TS val 1000 ecr 500>
         1    closed
         2    < . 1:1(0) ack 1 <TS val 1500 ecr 100>
         2    > R 1:1(0) win 0",
    );
}

#[test]
fn time_wait_answers_an_empty_segment_at_the_right_edge() {
    // RFC 9293 sec. 3.10.7.4, first: with a window a segment of no length is acceptable below RCV.NXT + RCV.WND only; else an ACK is sent.
    connected(config(), PEER).run(
        "1    close
         1    > F. 1:1(0) ack 1
         1.2  < F. 1:1(0) ack 2
         1.2  peer-closed
         1.2  > . 2:2(0) ack 2
         2    < . 2:2(0) ack 2
         2    is discarded=0
         2.1  < . 65536:65536(0) ack 2
         2.1  is discarded=0
         2.2  < . 65537:65537(0) ack 2
         2.2  > . 2:2(0) ack 2
         2.2  is discarded=1 state=TimeWait
         61.2 closed",
    );
}
