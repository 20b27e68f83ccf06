//! Windows: buffers, silly windows on both sides, zero windows, Nagle. @RFC9293 sec. 3.7.4, 3.8.6, @RFC896

use super::script::{Script, config, connected};
use plugin::Chosen;
use tcp::cc::{self, Congestion, CongestionControl, Window};
use tcp::{Ack, Config};
use units::{BitRate, Bytes};

fn small_buffer() -> Config {
    Config { receive_buffer: Bytes(3000), ..config() }
}

#[test]
fn a_slow_reader_closes_the_window_and_reopens_it_by_a_segment() {
    connected(small_buffer(), "20000 <mss 1000>").slow_reader().run(
        "1 < . 1:1001(1000) ack 1
         1 readable 0:1000
         1 > . 1:1(0) ack 1001 win 2000
         1 < . 1001:2001(1000) ack 1
         1 readable 1000:2000
         1 > . 1:1(0) ack 2001 win 1000
         1 < . 2001:3001(1000) ack 1
         1 readable 2000:3000
         1 > . 1:1(0) ack 3001 win 0
         2 < . 3001:3002(1) ack 1         // a probe
         2 > . 1:1(0) ack 3001 win 0
         2 is discarded=1 delivered=3000
         3 read 999                       // less than a segment: not worth a word
         3 < . 3001:3002(1) ack 1
         3 > . 1:1(0) ack 3001 win 0
         4 read 1
         4 > . 1:1(0) ack 3001 win 1000
         4 is updates=1
         5 read 2000
         5 > . 1:1(0) ack 3001 win 3000   // thrice what was left
         5 is updates=2",
    );
}

#[test]
fn an_instant_reader_keeps_the_window_open() {
    connected(small_buffer(), "20000 <mss 1000>").run(
        "1 < . 1:1001(1000) ack 1
         1 > . 1:1(0) ack 1001 win 3000
         1 < . 1001:2001(1000) ack 1
         1 > . 1:1(0) ack 2001 win 3000
         1 is updates=0",
    );
}

#[test]
fn what_lies_beyond_the_window_is_cut_off() {
    connected(small_buffer(), "20000 <mss 1000>").slow_reader().run(
        "1 < . 1:2501(2500) ack 1
         1 readable 0:2500
         1 > . 1:1(0) ack 2501 win 500
         1 < F. 2501:3501(1000) ack 1     // half of it fits, the FIN does not
         1 readable 2500:3000
         1 > . 1:1(0) ack 3001 win 0
         1 is state=Established delivered=3000",
    );
}

#[test]
fn a_closed_window_is_probed_with_backoff_and_used_when_it_opens() {
    connected(config(), "1000 <mss 1000>").run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1.1  < . 1:1(0) ack 1001 win 0
         2.1  > . 1001:1002(1) ack 1
         2.2  < . 1:1(0) ack 1001
         4.1  > . 1001:1002(1) ack 1 again
         4.2  < . 1:1(0) ack 1001
         8.1  > . 1001:1002(1) ack 1 again
         8.2  < . 1:1(0) ack 1001
         8.2  is probes=3 timeouts=0 dup-acks=0 cwnd=2000   // idle: the initial window
         9    < . 1:1(0) ack 1001 win 5000
         9    > P. 1001:2001(1000) ack 1 again    // from the byte that was probed with
         9.1  < . 1:1(0) ack 2001
         9.1  is flight=0",
    );
}

#[test]
fn a_probe_that_is_taken_counts_as_sent() {
    connected(config(), "1000 <mss 1000>").run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1.1  < . 1:1(0) ack 1001 win 0
         2.1  > . 1001:1002(1) ack 1
         2.2  < . 1:1(0) ack 1002 win 5000
         2.2  > P. 1002:2001(999) ack 1
         2.3  < . 1:1(0) ack 2001
         2.3  is flight=0 retransmissions=0",
    );
}

#[test]
fn a_window_that_stays_shut_is_probed_for_ever_a_silent_peer_is_given_up() {
    connected(Config { max_retries: 2, ..config() }, "0 <mss 1000>").run(
        "1    write 1000
         2    > . 1:2(1) ack 1
         2    < . 1:1(0) ack 1
         4    > . 1:2(1) ack 1 again
         4    < . 1:1(0) ack 1
         8    > . 1:2(1) ack 1 again
         8    < . 1:1(0) ack 1
         16   > . 1:2(1) ack 1 again
         32   > . 1:2(1) ack 1 again
         64   failed TimedOut",
    );
}

#[test]
fn the_sender_leaves_a_silly_window_alone_until_the_timer_overrides() {
    // RFC 9293 3.8.6.2.1: less than a segment, less than half of the largest window, not all there is.
    connected(config(), "4000 <mss 1000>").run(
        "1    write 10000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1.1  < . 1:1(0) ack 2001 win 300
         2.1  > . 2001:2301(300) ack 1
         2.2  < . 1:1(0) ack 2301 win 600
         2.3  < . 1:1(0) ack 2301 win 1000
         2.3  > . 2301:3301(1000) ack 1",
    );
}

#[test]
fn half_the_largest_window_is_worth_sending_to_a_small_peer() {
    connected(config(), "800 <mss 1000>").run(
        "1    write 1000
         1    > . 1:801(800) ack 1
         1.1  < . 1:1(0) ack 801 win 200
         1.1  > P. 801:1001(200) ack 1",
    );
    connected(config(), "800 <mss 1000>").run(
        "1    write 2000
         1    > . 1:801(800) ack 1
         1.1  < . 1:1(0) ack 801 win 399
         1.2  < . 1:1(0) ack 801 win 400
         1.2  > . 801:1201(400) ack 1",
    );
}

#[test]
fn nagle_holds_a_small_segment_back_while_anything_is_in_flight() {
    connected(Config { nagle: true, ..config() }, "20000 <mss 1000>").run(
        "1    write 100
         1    > P. 1:101(100) ack 1
         1    write 100
         1    write 200
         1.1  < . 1:1(0) ack 101
         1.1  > P. 101:401(300) ack 1
         1.1  write 1500
         1.1  > . 401:1401(1000) ack 1
         1.2  < . 1:1(0) ack 1401
         1.2  > P. 1401:1901(500) ack 1
         1.2  write 50
         1.2  close                       // a FIN lets go
         1.2  > FP. 1901:1951(50) ack 1",
    );
}

#[test]
fn without_nagle_small_segments_go_at_once() {
    connected(config(), "20000 <mss 1000>").run(
        "1    write 100
         1    > P. 1:101(100) ack 1
         1    write 100
         1    > P. 101:201(100) ack 1",
    );
}

#[test]
fn the_senders_own_limit_holds_and_cwnd_does_not_run_away() {
    connected(Config { max_window_segments: Some(2), ..config() }, "65535 <mss 1000>").run(
        "1    write 10000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1.1  < . 1:1(0) ack 1001
         1.1  > . 2001:3001(1000) ack 1
         1.1  < . 1:1(0) ack 2001
         1.1  > . 3001:4001(1000) ack 1
         1.2  < . 1:1(0) ack 3001
         1.2  > . 4001:5001(1000) ack 1
         1.2  < . 1:1(0) ack 4001
         1.2  > . 5001:6001(1000) ack 1
         1.2  is cwnd=4000 flight=2000   // grown only while it was less than twice 2000",
    );
}

#[test]
fn an_older_segment_does_not_set_the_window() {
    // SND.WL1, SND.WL2.
    connected(config(), "20000 <mss 1000>").run(
        "1    < . 1:101(100) ack 1 win 9000
         1    > . 1:1(0) ack 101
         1    is rwnd=9000
         1    < . 1:1(0) ack 1 win 5000          // delayed on the way: not acceptable
         1    > . 1:1(0) ack 101
         1    is rwnd=9000
         1    < . 301:401(100) ack 1 win 7000
         1    > . 1:1(0) ack 101
         1    < . 101:301(200) ack 1 win 8000    // acceptable, but from before the last
         1    > . 1:1(0) ack 401
         1    is rwnd=7000",
    );
}

#[test]
fn the_send_buffer_limits_the_flight_and_says_when_it_has_room() {
    connected(Config { send_buffer: Bytes(2500), initial_window_segments: 10, ..config() }, "65535 <mss 1000>").run(
        "1    write 4000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         // 500 more are in the buffer, but not the end of what was written: no small segment
         1.1  < . 1:1(0) ack 1001
         1.1  > . 2001:3001(1000) ack 1
         1.2  < . 1:1(0) ack 2001
         1.2  send-space
         1.2  > P. 3001:4001(1000) ack 1",
    );
}

#[test]
fn after_an_idle_rto_the_window_is_the_initial_one_again() {
    let idle = |idle_restart| Config { idle_restart, ..config() };
    let grow = "1    write 2000
                1    > . 1:1001(1000) ack 1
                1    > P. 1001:2001(1000) ack 1
                1.1  < . 1:1(0) ack 1001
                1.1  < . 1:1(0) ack 2001
                1.1  is cwnd=4000 rto=1s
                2.05 write 3000
                2.05 > . 2001:3001(1000) ack 1
                2.05 > . 3001:4001(1000) ack 1";
    connected(idle(true), "65535 <mss 1000>").run(&format!("{grow}\n 2.05 is cwnd=2000"));
    connected(idle(false), "65535 <mss 1000>").run(&format!("{grow}\n 2.05 > P. 4001:5001(1000) ack 1"));
}

#[derive(Debug)]
struct Paced;

impl CongestionControl for Paced {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, _: Congestion, _: &mut Window) {}
    fn pacing_rate(&self, _: &Window) -> Option<BitRate> {
        Some(BitRate::from_kbps(800)) // 1000 bytes in 10 ms
    }
}

#[test]
fn a_pacing_controller_spreads_its_window() {
    let congestion: Chosen<cc::Make> = Chosen { plugin: |_| Box::new(Paced), ..config().congestion };
    let paced = Config { congestion, initial_window_segments: 3, ..config() };
    connected(paced, "65535 <mss 1000>").run(
        "1    write 10000
         1    > . 1:1001(1000) ack 1
         1.01 > . 1001:2001(1000) ack 1
         1.02 > . 2001:3001(1000) ack 1
         1.1  < . 1:1(0) ack 2001
         1.1  > . 3001:4001(1000) ack 1
         1.11 > . 4001:5001(1000) ack 1",
    );
}

#[test]
fn a_timeout_into_a_closed_window_probes() {
    // The peer has taken its window back (it should not): what is in flight is gone, and nothing may follow.
    connected(config(), "4000 <mss 1000>").run(
        "1    write 3000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1.1  < . 1:1(0) ack 1001 win 0
         2.1  > . 1001:1002(1) ack 1 again
         2.1  is timeouts=1 probes=1
         4.1  > . 1001:1002(1) ack 1 again
         4.2  < . 1:1(0) ack 2001 win 4000
         4.2  > P. 2001:3001(1000) ack 1",
    );
}

#[test]
fn a_fin_waits_for_a_closed_window_and_probes_it_for_as_long_as_the_peer_answers() {
    // RFC 9293 sec. 3.8.6.1: the connection must stay open.
    let impatient = Config { max_retries: 2, ..config() };
    connected(impatient, "1000 <mss 1000>").run(
        "1     write 1000
         1     > P. 1:1001(1000) ack 1
         1     close
         1.1   < . 1:1(0) ack 1001 win 0
         2.1   > F. 1001:1001(0) ack 1
         2.2   < . 1:1(0) ack 1001 win 0
         4.1   > F. 1001:1001(0) ack 1 again
         4.2   < . 1:1(0) ack 1001 win 0
         8.1   > F. 1001:1001(0) ack 1 again
         8.2   < . 1:1(0) ack 1001 win 0
         16.1  > F. 1001:1001(0) ack 1 again
         16.2  < . 1:1(0) ack 1001 win 0
         16.2  is state=FinWait1 probes=4 timeouts=0
         17    < . 1:1(0) ack 1001 win 1
         17    > F. 1001:1001(0) ack 1 again
         17.1  < . 1:1(0) ack 1002
         17.1  is state=FinWait2",
    );
}

#[test]
fn a_fin_does_not_ride_beyond_the_window() {
    let one = Config { initial_window_segments: 1, ..config() };
    connected(one, "1000 <mss 1000>").run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    close
         1.1  < . 1:1(0) ack 1001 win 1000
         1.1  > P. 1001:2001(1000) ack 1
         1.2  < . 1:1(0) ack 2001 win 1000
         1.2  > F. 2001:2001(0) ack 1",
    );
}

#[test]
fn an_ack_older_than_the_largest_window_takes_its_data_with_it() {
    // RFC 5961 sec. 5.2: SND.UNA - MAX.SND.WND <= SEG.ACK. The peer's largest window is 2000.
    connected(config(), "2000 <mss 1000>").run(
        "1    write 2000
         1    > . 1:1001(1000) ack 1
         1    > P. 1001:2001(1000) ack 1
         1.1  < . 1:1(0) ack 2001
         1.2  < . 1:101(100) ack 0
         1.2  > . 2001:2001(0) ack 1
         1.2  is delivered=0 discarded=1
         1.3  < . 1:101(100) ack 1
         1.3  > . 2001:2001(0) ack 101
         1.3  is delivered=100",
    );
}

/// `n` segments are out of a window of ten, and no more is waiting.
fn out_of_ten(n: u32, ssthresh: Option<Bytes>) -> Script {
    let ten = Config { initial_window_segments: 10, initial_ssthresh: ssthresh, ..config() };
    let mut script = connected(ten, "65535 <mss 1000>");
    let mut text = format!("1 write {}", n * 1000);
    for i in 0..n {
        let push = if i + 1 == n { "P" } else { "" };
        text += &format!("\n1 > {push}. {}:{}(1000) ack 1", i * 1000 + 1, (i + 1) * 1000 + 1);
    }
    script.run(&text);
    script
}

#[test]
fn a_window_that_was_full_grows_though_nothing_follows() {
    // The greatest flight of the round counts, as in Linux: each of the ten ACKs adds a segment.
    let mut script = out_of_ten(10, None);
    for i in 1..=10 {
        script.run(&format!("1.1 < . 1:1(0) ack {}", i * 1000 + 1));
    }
    script.run("1.1 is cwnd=20000 flight=0");
}

#[test]
fn a_window_half_used_does_not_grow_one_more_than_half_used_does() {
    // With six of ten, cwnd < 12000 holds for two ACKs.
    for (used, cwnd) in [(5, 10_000), (6, 12_000)] {
        let mut script = out_of_ten(used, None);
        for i in 1..=used {
            script.run(&format!("1.1 < . 1:1(0) ack {}", i * 1000 + 1));
        }
        script.run(&format!("1.1 is cwnd={cwnd}"));
    }
}

#[test]
fn in_congestion_avoidance_only_a_full_window_grows() {
    for (used, cwnd) in [(9, 10_000), (10, 10_100)] {
        let mut script = out_of_ten(used, Some(Bytes(5000)));
        script.run(&format!("1.1 < . 1:1(0) ack 1001\n1.1 is cwnd={cwnd}"));
    }
}
