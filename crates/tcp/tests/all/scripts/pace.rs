//! The departure of segments, and the end of slow start: pacing, HyStart++, delivery rate samples.

use super::script::{Script, config, connected};
use std::cell::RefCell;
use std::rc::Rc;
use tcp::cc::{Congestion, CongestionControl, Window};
use tcp::{Ack, Config, Input, Output, RateSample};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Payload, Tcp, TcpOptions};

#[test]
fn a_window_is_spread_over_half_a_round_trip_in_slow_start_and_over_most_of_one_after_it() {
    // SRTT 100 ms, four segments: 8000 B in 100 ms, 12.5 ms each.
    let paced = Config { pacing: true, initial_window_segments: 4, ..config() };
    connected(paced.clone(), "65535 <mss 1000>").run(
        "1       write 10000
         1       > . 1:1001(1000) ack 1
         1.0125  > . 1001:2001(1000) ack 1
         1.025   > . 2001:3001(1000) ack 1
         1.0375  > . 3001:4001(1000) ack 1",
    );
    // 1.2 windows: 4800 B in 100 ms, 20.8333 ms each.
    connected(Config { initial_ssthresh: Some(Bytes(4000)), ..paced }, "65535 <mss 1000>").run(
        "1            write 10000
         1            > . 1:1001(1000) ack 1
         1.020833334  > . 1001:2001(1000) ack 1
         1.041666668  > . 2001:3001(1000) ack 1",
    );
}

#[test]
fn repairs_by_the_scoreboard_are_paced_too() {
    let paced = Config { pacing: true, sack: true, initial_window_segments: 4, ..config() };
    connected(paced, "65535 <mss 1000, sackOK>").run(
        "1       write 4000
         1       > . 1:1001(1000) ack 1
         1.0125  > . 1001:2001(1000) ack 1
         1.025   > . 2001:3001(1000) ack 1
         1.0375  > P. 3001:4001(1000) ack 1
         2       > . 1:1001(1000) ack 1 again
         2.1     < . 1:1(0) ack 1001
         // ssthresh 2000 = cwnd: 2400 B in 100 ms, 41.67 ms each.
         2.1     > . 1001:2001(1000) ack 1 again
         2.141666667 > . 2001:3001(1000) ack 1 again",
    );
}

/// A connection with a window of up to half a megabyte, driven ACK by ACK.
fn wide(config: Config) -> Script {
    let wide = Config { window_scale: Some(3), send_buffer: Bytes(1 << 20), initial_window_segments: 10, ..config };
    let mut script = connected(wide, "65535 <mss 1000, wscale 3>");
    drive(&mut script, 1000, &[Input::Write(1 << 19)]);
    script
}

/// Hands over inputs at `ms`; what the end sends is dropped. Returns how many segments of data that were.
fn drive(script: &mut Script, ms: u64, inputs: &[Input<'_>]) -> u32 {
    let now = SimTime::ZERO + Dur::from_ms(ms);
    let mut sent = 0;
    for input in inputs {
        script.conn.handle(now, *input);
        while let Some(output) = script.conn.poll(now) {
            sent += u32::from(matches!(output, Output::Segment { payload: Payload { len: 1.., .. }, .. }));
        }
    }
    sent
}

/// `n` ACKs of a segment each.
fn acks(script: &mut Script, ms: u64, n: u32) {
    for _ in 0..n {
        let (seq, ack) = (script.conn.rcv_nxt(), script.conn.snd_una() + 1000);
        let options = TcpOptions::default();
        let tcp = Tcp { src_port: 2, dst_port: 1, seq, ack, flags: Flags::ACK, window: 65535, urgent: 0, options };
        drive(script, ms, &[Input::Segment { tcp: &tcp, payload: &Payload::EMPTY, ce: false }]);
    }
}

#[test]
fn hystart_leaves_slow_start_when_the_rtt_rises() {
    // RFC 9406 sec. 4.2. A round of 100 ms, one of 120 ms: at its eighth sample growth falls to a quarter.
    let mut script = wide(Config { hystart: true, ..config() });
    acks(&mut script, 1100, 10);
    script.run("1.1 is cwnd=20000");
    acks(&mut script, 1220, 20);
    script.run("1.22 is cwnd=30250"); // 20000 + 7 * 1000 + 13 * 250
    // Four more rounds like it, then congestion avoidance from there.
    let mut at = 1220;
    for _ in 0..3 {
        at += 120;
        let flight = script.conn.flight_size().0 / 1000;
        acks(&mut script, at, flight as u32);
        assert_eq!(script.conn.ssthresh(), Bytes(u64::MAX), "at {at}");
    }
    let flight = script.conn.flight_size().0 / 1000;
    acks(&mut script, at + 120, flight as u32);
    assert!(script.conn.ssthresh() < Bytes(u64::MAX));
    assert!(
        script.conn.cwnd() >= script.conn.ssthresh() && script.conn.cwnd() < script.conn.ssthresh() + Bytes(2000)
    );
}

#[test]
fn hystart_resumes_slow_start_when_the_rise_was_a_spike() {
    let mut script = wide(Config { hystart: true, ..config() });
    acks(&mut script, 1100, 10);
    acks(&mut script, 1220, 20);
    script.run("1.22 is cwnd=30250");
    // Back to 100 ms. The last two of those ACKs were of this round: at its sixth more there are eight samples.
    acks(&mut script, 1320, 30);
    script.run("1.32 is cwnd=56500"); // 30250 + 5 * 250 + 25 * 1000
}

#[test]
fn without_hystart_slow_start_goes_on() {
    let mut script = wide(config());
    acks(&mut script, 1100, 10);
    acks(&mut script, 1220, 20);
    script.run("1.22 is cwnd=40000");
}

#[test]
fn hystart_counts_bytes_up_to_eight_segments_per_ack() {
    // RFC 9406 sec. 4.2: L = 8.
    let mut script = wide(Config { hystart: true, ..config() });
    let (seq, ack) = (script.conn.rcv_nxt(), script.conn.snd_una() + 9000);
    let options = TcpOptions::default();
    let tcp = Tcp { src_port: 2, dst_port: 1, seq, ack, flags: Flags::ACK, window: 65535, urgent: 0, options };
    drive(&mut script, 1100, &[Input::Segment { tcp: &tcp, payload: &Payload::EMPTY, ce: false }]);
    script.run("1.1 is cwnd=18000");
}

#[test]
fn hystart_counts_all_bytes_if_segments_are_paced() {
    // RFC 9406 sec. 4.2: L is infinite with pacing. SRTT 100 ms, ten segments: 20000 B in 100 ms.
    let paced = Config { hystart: true, pacing: true, initial_window_segments: 10, ..config() };
    let mut text = "1 write 40000".to_owned();
    for i in 0..10 {
        text += &format!("\n1.{:03} > . {}:{}(1000) ack 1", 5 * i, i * 1000 + 1, i * 1000 + 1001);
    }
    connected(paced, "65535 <mss 1000>").run(&text).run(
        "1.1 < . 1:1(0) ack 9001
         1.1 > . 10001:11001(1000) ack 1
         1.1 is cwnd=19000",
    );
}

#[test]
fn hystart_is_for_the_first_slow_start() {
    // RFC 9406 sec. 4.3: after a timeout slow start is what it was, however the RTT rises.
    let mut script = connected(Config { hystart: true, initial_window_segments: 10, ..config() }, "65535 <mss 1000>");
    let mut text = "1 write 60000".to_owned();
    for i in 0..10 {
        text += &format!("\n1 > . {}:{}(1000) ack 1", i * 1000 + 1, i * 1000 + 1001);
    }
    script.run(&text).run(
        "2   > . 1:1001(1000) ack 1 again
         2   is cwnd=1000 ssthresh=5000
         2.1 < . 1:1(0) ack 10001
         2.1 > . 10001:11001(1000) ack 1
         2.1 > . 11001:12001(1000) ack 1
         2.1 is cwnd=2000                             // one segment per ACK: neither eight nor a quarter
         2.5 < . 1:1(0) ack 11001
         2.5 > . 12001:13001(1000) ack 1
         2.5 > . 13001:14001(1000) ack 1
         2.5 is cwnd=3000",
    );
}

/// A controller that keeps its window and notes what it is told.
#[derive(Debug)]
struct Notes(Rc<RefCell<Vec<Ack>>>);

impl CongestionControl for Notes {
    fn on_ack(&mut self, ack: &Ack, _: &mut Window) {
        self.0.borrow_mut().push(*ack);
    }

    fn on_dup_ack(&mut self, ack: &Ack, _: &mut Window) {
        self.0.borrow_mut().push(*ack);
    }

    fn on_congestion(&mut self, _: Congestion, _: &mut Window) {}

    fn needs_rate(&self) -> bool {
        true
    }
}

fn noted(config: Config, peer: &str) -> (Script, Rc<RefCell<Vec<Ack>>>) {
    let notes = Rc::new(RefCell::new(Vec::new()));
    let mut script = Script::open(config);
    script.conn.set_congestion(Box::new(Notes(notes.clone())));
    let sack = if script.conn.config().sack { ", sackOK" } else { "" };
    script.run(&format!(
        "0   > S 0:0(0) <mss 1000{sack}>
         0.1 < S. 0:0(0) ack 1 win {peer}
         0.1 connected
         0.1 > . 1:1(0) ack 1"
    ));
    (script, notes)
}

#[test]
fn a_controller_that_asks_for_it_hears_the_delivery_rate() {
    let four = Config { initial_window_segments: 4, ..config() };
    let (mut script, notes) = noted(four, "65535 <mss 1000>");
    script.run(
        "1    write 8000
         1    > . 1:1001(1000) ack 1
         1    > . 1001:2001(1000) ack 1
         1    > . 2001:3001(1000) ack 1
         1    > . 3001:4001(1000) ack 1
         1.1  < . 1:1(0) ack 2001
         1.1  > . 4001:5001(1000) ack 1
         1.1  > . 5001:6001(1000) ack 1
         1.15 < . 1:1(0) ack 4001
         1.15 > . 6001:7001(1000) ack 1
         1.15 > P. 7001:8001(1000) ack 1
         1.2  < . 1:1(0) ack 6001",
    );
    let rate = |i: usize| notes.borrow()[i].rate.unwrap();
    let sample = |delivered, ms, prior, app_limited| RateSample {
        delivered: Bytes(delivered),
        interval: Dur::from_ms(ms),
        prior_delivered: Bytes(prior),
        app_limited,
    };
    // Before the first write there was nothing to send: what leaves then is marked.
    assert_eq!(rate(0), sample(2000, 100, 0, true));
    assert_eq!(rate(1), sample(4000, 150, 0, true)); // all left at 1 s
    // What left at 1.1 s, when 2000 B were delivered: until 1.2 s 4000 B more.
    assert_eq!(rate(2), sample(4000, 100, 2000, false));
}

#[test]
fn samples_of_an_idle_application_are_marked() {
    let four = Config { initial_window_segments: 4, ..config() };
    let (mut script, notes) = noted(four, "65535 <mss 1000>");
    script.run(
        "1    write 1000
         1    > P. 1:1001(1000) ack 1
         1.1  < . 1:1(0) ack 1001
         1.2  write 1000
         1.2  > P. 1001:2001(1000) ack 1
         1.3  < . 1:1(0) ack 2001
         2    write 4000
         2    > . 2001:3001(1000) ack 1
         2    > . 3001:4001(1000) ack 1
         2    > . 4001:5001(1000) ack 1
         2    > P. 5001:6001(1000) ack 1
         2.1  < . 1:1(0) ack 6001",
    );
    let limited: Vec<bool> = notes.borrow().iter().map(|ack| ack.rate.unwrap().app_limited).collect();
    assert_eq!(limited, [true; 3]);
}

#[test]
fn a_controller_hears_what_was_sacked_and_lost() {
    let sack = Config { sack: true, initial_window_segments: 10, ..config() };
    let (mut script, notes) = noted(sack, "65535 <mss 1000, sackOK>");
    let mut text = "1 write 10000".to_owned();
    for i in 0..10 {
        let push = if i == 9 { "P" } else { "" };
        text += &format!("\n1 > {push}. {}:{}(1000) ack 1", i * 1000 + 1, i * 1000 + 1001);
    }
    script.run(&text).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:3001>
         1.11 < . 1:1(0) ack 1 <sack 1001:5001>
         1.11 > . 1:1001(1000) ack 1 again
         1.11 > P. 9001:10001(1000) ack 1 again
         1.2  < . 1:1(0) ack 5001 <sack 6001:7001>
         1.2  > . 5001:6001(1000) ack 1 again",
    );
    let seen: Vec<_> = notes.borrow().iter().map(|a| (a.acked.0, a.sacked.0, a.lost.0, a.duplicate)).collect();
    assert_eq!(seen[..3], [(0, 2000, 0, true), (0, 2000, 1000, true), (5000, 1000, 0, false)]);
}

#[test]
fn a_controller_hears_the_timestamps() {
    let stamped = Config { timestamps: true, mss: 1012, ..config() };
    let notes = Rc::new(RefCell::new(Vec::new()));
    let mut script = Script::open(stamped);
    script.conn.set_congestion(Box::new(Notes(notes.clone())));
    script.run(
        "0    > S 0:0(0) <mss 1012, TS val 0 ecr 0>
         0.1  < S. 0:0(0) ack 1 win 65535 <mss 1012, TS val 500 ecr 0>
         0.1  connected
         0.1  > . 1:1(0) ack 1 <TS val 100 ecr 500>
         1    write 1000
         1    > P. 1:1001(1000) ack 1 <TS val 1000 ecr 500>
         1.1  < . 1:1(0) ack 1001 <TS val 1450 ecr 1000>",
    );
    assert_eq!(notes.borrow()[0].timestamps, Some((1450, 1000)));
}
