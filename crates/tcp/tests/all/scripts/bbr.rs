//! BBR's phases, over a bottleneck whose every instant can be worked by hand. draft-cardwell-iccrg-bbr-congestion-control-00
//!
//! The line carries a segment of 1000 B of payload in 800 us (1.25 MB/s) and has 39.5 ms of delay there and back, so the least RTT is
//! 40.3 ms and the bandwidth-delay product 50.375 segments. Each segment is acknowledged when it arrives.

use super::script::{Script, config, connected};
use std::collections::VecDeque;
use tcp::cc::Probe;
use tcp::{Config, Connection, Input, Output, Seq};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Payload, SeqRange, SeqSet, Tcp, TcpOptions};

const SERVICE: Dur = Dur::from_us(800);
const DELAY: Dur = Dur::from_us(39_500);
const PEER: &str = "65535 <mss 1000, sackOK, wscale 5>";
/// Below the bandwidth by this much. Linux
const MARGIN: f64 = 0.99;

fn bbr(first_phase: i64) -> Config {
    let mut congestion = tcp::cc::find("bbr").unwrap();
    congestion.params.set("first_phase", plugin::Value::Int(first_phase));
    congestion.params.set("ack_aggregation", plugin::Value::Bool(false));
    Config {
        congestion,
        sack: true,
        window_scale: Some(5),
        send_buffer: Bytes(1 << 24),
        initial_window_segments: 10,
        ..config()
    }
}

/// The gauges of the controller.
#[derive(Default, Debug, Clone, Copy)]
struct Seen {
    bandwidth: f64,
    rtt: f64,
    gain: f64,
    mode: f64,
}

impl Probe for Seen {
    fn gauge(&mut self, name: &'static str, _: &'static str, value: f64) {
        *match name {
            "bbr.bandwidth" => &mut self.bandwidth,
            "bbr.min_rtt" => &mut self.rtt,
            "bbr.pacing_gain" => &mut self.gain,
            "bbr.mode" => &mut self.mode,
            other => panic!("{other}"),
        } = value / if name == "bbr.bandwidth" { 8.0 } else { 1.0 };
    }
}

/// A sender, the bottleneck and a receiver that acknowledges.
struct Line {
    conn: Connection,
    now: SimTime,
    free_at: SimTime,
    delay: Dur,
    /// The ACKs under way: time of arrival at the sender, and data acknowledged.
    acks: VecDeque<(SimTime, SeqRange)>,
    received: SeqSet,
    next: Seq,
    /// The data segments that are lost, counted from 1.
    drops: Vec<u64>,
    count: u64,
    /// The departure of each data segment, and the data in flight then.
    sent: Vec<(SimTime, u64)>,
    /// The gauges of the controller after each ACK.
    seen: Vec<(SimTime, Seen)>,
}

impl Line {
    fn new(config: Config) -> Line {
        Line::after(connected(config, PEER))
    }

    /// The script has ended at 0.1 s, with an RTT of the handshake of 100 ms.
    fn after(script: Script) -> Line {
        let conn = script.conn;
        Line {
            next: conn.snd_nxt(),
            conn,
            now: SimTime::ZERO + Dur::from_ms(1000),
            free_at: SimTime::ZERO,
            delay: DELAY,
            acks: VecDeque::new(),
            received: SeqSet::default(),
            drops: Vec::new(),
            count: 0,
            sent: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn poll(&mut self) {
        while let Some(output) = self.conn.poll(self.now) {
            let Output::Segment { tcp, payload, .. } = output else { continue };
            if payload.len == 0 {
                continue;
            }
            self.sent.push((self.now, self.conn.pipe().0));
            self.count += 1;
            self.free_at = self.free_at.max(self.now) + SERVICE;
            if !self.drops.contains(&self.count) {
                self.acks.push_back((self.free_at + self.delay, SeqRange::new(tcp.seq, payload.len)));
            }
        }
    }

    fn write(&mut self, bytes: u64) {
        self.conn.handle(self.now, Input::Write(bytes));
        self.poll();
    }

    /// Until then, whatever happens.
    fn run(&mut self, until_ms: u64) {
        let until = SimTime::ZERO + Dur::from_ms(until_ms);
        loop {
            let ack = self.acks.front().map_or(SimTime::NEVER, |(at, _)| *at);
            let timer = self.conn.next_wakeup();
            if ack.min(timer) > until {
                break;
            }
            self.now = ack.min(timer).max(self.now);
            if ack <= timer {
                let (_, range) = self.acks.pop_front().unwrap();
                self.acknowledge(range);
            } else {
                self.conn.handle(self.now, Input::Timer);
            }
            self.poll();
            let mut seen = Seen::default();
            self.conn.probe(&mut seen);
            self.seen.push((self.now, seen));
        }
        self.now = until;
    }

    fn acknowledge(&mut self, range: SeqRange) {
        let mut options = TcpOptions::default();
        if range.start == self.next {
            self.next = self.received.take_from(range.end);
        } else {
            self.received.insert(range);
            options.push_sack(&[*self.received.ranges().iter().find(|block| block.contains(range.start)).unwrap()]);
        }
        let (seq, ack) = (self.conn.rcv_nxt(), self.next);
        let tcp = Tcp { src_port: 2, dst_port: 1, seq, ack, flags: Flags::ACK, window: 65535, urgent: 0, options };
        self.conn.handle(self.now, Input::Segment { tcp: &tcp, payload: &Payload::EMPTY, ce: false });
    }

    fn now_seen(&self) -> Seen {
        self.seen.last().unwrap().1
    }

    /// The first time in this mode, from `from_ms` on.
    fn first(&self, mode: f64, from_ms: u64) -> SimTime {
        let from = SimTime::ZERO + Dur::from_ms(from_ms);
        self.seen.iter().find(|(at, seen)| *at >= from && seen.mode == mode).unwrap().0
    }

    /// Times between segments that left from `from` to `to`, in ns; equal ones in a row are told once.
    fn gaps(&self, from: SimTime, to: SimTime) -> Vec<u64> {
        let sent: Vec<_> = self.sent.iter().filter(|(at, _)| *at >= from && *at <= to).collect();
        let mut gaps: Vec<u64> = sent.windows(2).map(|pair| pair[1].0.since(pair[0].0).ns()).collect();
        gaps.dedup();
        gaps
    }
}

/// The time for which a segment keeps the next back at this gain, rounded up to nanoseconds of whole bits per second.
fn gap(gain: f64) -> u64 {
    let bps = (1.25e6 * MARGIN * gain * 8.0).round();
    (8e12 / bps).ceil() as u64
}

fn near(got: u64, wanted: u64) -> bool {
    got.abs_diff(wanted) <= 2
}

#[test]
fn startup_paces_the_initial_window_at_2_885_windows_per_rtt() {
    // Sec. 4.2.1: 10000 B in 100 ms, times 2.885, less one percent: 285615 B/s, so 3.501217 ms a segment.
    connected(bbr(0), PEER).run(
        "1            write 4000
         1            > . 1:1001(1000) ack 1
         1.003501217  > . 1001:2001(1000) ack 1
         1.007002434  > . 2001:3001(1000) ack 1
         1.010503651  > P. 3001:4001(1000) ack 1",
    );
}

#[test]
fn startup_doubles_the_rate_each_round_until_the_pipe_is_full() {
    let mut line = Line::new(bbr(0));
    line.write(1 << 23);
    line.run(2000);
    // Each round brings at least a quarter more until the bottleneck is reached. Then the samples are its rate, exactly, and
    // three rounds later startup ends.
    let drains = line.first(1.0, 0);
    let full = line.seen.iter().find(|(_, seen)| seen.bandwidth > 1.249e6).unwrap().0;
    assert!(line.seen.iter().all(|(_, seen)| seen.bandwidth < 1.2501e6), "never more than the bottleneck has");
    // A round in startup is an RTT with its queue, at most 2.885 products and six segments: 121 ms; two to four of them.
    let rounds = drains.since(full);
    assert!(rounds > Dur::from_us(2 * 40_300) && rounds < Dur::from_ms(4 * 121), "{rounds}");
    assert!((line.now_seen().rtt - 0.0403).abs() < 1e-9, "the least RTT is that of the first segment");
}

#[test]
fn drain_empties_the_queue_at_the_inverse_of_the_gain() {
    let mut line = Line::new(bbr(0));
    line.write(1 << 23);
    line.run(2000);
    let (from, to) = (line.first(1.0, 0), line.first(2.0, 0));
    // Sec. 4.3.3: 1 / 2.885.
    let gaps = line.gaps(from + Dur::from_ns(gap(1.0)), to);
    assert!(gaps.iter().all(|got| near(*got, gap(1.0 / 2.885))), "{gaps:?}, not {}", gap(1.0 / 2.885));
    // It ends with a product in flight: 51 segments, three quanta of two, even: 58. The last segment left less than a gap of
    // 2.33 ms before, when up to three more were out.
    let flight = line.sent.iter().rfind(|(at, _)| *at < to).unwrap().1;
    assert!((58_000..=61_000).contains(&flight), "{flight}");
}

#[test]
fn probe_bandwidth_cycles_through_its_gains_of_a_round_each() {
    let mut line = Line::new(bbr(0));
    line.write(1 << 23);
    line.run(3500);
    let begun = line.first(2.0, 0);
    let mut phases: Vec<(SimTime, f64)> = Vec::new();
    for (at, seen) in line.seen.iter().filter(|(at, seen)| *at >= begun && seen.mode == 2.0) {
        if phases.last().is_none_or(|(_, gain)| *gain != seen.gain) {
            phases.push((*at, seen.gain));
        }
    }
    // Sec. 4.3.4.2: 5/4, 3/4, then six of 1.
    let gains: Vec<f64> = phases.iter().map(|(_, gain)| *gain).collect();
    assert_eq!(gains[..6], [1.25, 0.75, 1.0, 1.25, 0.75, 1.0]);
    let lasts = |i: usize| phases[i + 1].0.since(phases[i].0);
    // The probe lasts until a quarter more is in flight, and an RTT at least.
    assert!(lasts(0) > Dur::from_us(40_300), "{}", lasts(0));
    // Six rounds of cruising, each ending with the first ACK that is more than 40.3 ms after its begin.
    let cruise = lasts(2);
    assert!(cruise > Dur::from_us(6 * 40_300) && cruise <= Dur::from_us(6 * (40_300 + 2 * 808)), "{cruise}");
    for (i, gain) in [(0, 1.25), (1, 0.75), (2, 1.0)] {
        let gaps = line.gaps(phases[i].0 + Dur::from_ns(gap(0.75)), phases[i + 1].0);
        assert!(!gaps.is_empty() && gaps.iter().all(|got| near(*got, gap(gain))), "{gain}: {gaps:?}");
    }
    // The window: two products are 101 segments, with six 107, even 108; two more while it probes.
    assert!([108_000, 110_000].contains(&line.conn.cwnd().0), "{}", line.conn.cwnd());
}

#[test]
fn probe_rtt_keeps_four_segments_for_200_ms_after_ten_seconds() {
    let mut line = Line::new(bbr(0));
    line.write(1 << 24);
    line.run(14_000);
    // A quarter more in flight always leaves some queue, and the drain after it ends with three quanta of it: the RTT of 40.3 ms
    // of the first segments is not met again.
    let begun = line.first(3.0, 0);
    let least = line.seen.iter().find(|(_, seen)| (seen.rtt - 0.0403).abs() < 1e-9).unwrap().0;
    let since = begun.since(least);
    assert!(since > Dur::from_secs(10) && since < Dur::from_ms(10_300), "{since}");
    let ended = line.seen.iter().find(|(at, seen)| *at > begun && seen.mode == 2.0).unwrap().0;
    // The flight of some 58 segments goes down to four (46 ms or less of queue and RTT), then 200 ms, then the round's rest.
    let lasted = ended.since(begun);
    assert!(lasted > Dur::from_ms(200) && lasted < Dur::from_ms(200 + 110 + 41), "{lasted}");
    let inside = |at: &SimTime| *at > begun + Dur::from_ms(60) && *at < ended;
    let most = line.sent.iter().filter(|(at, _)| inside(at)).map(|(_, flight)| *flight).max().unwrap();
    assert_eq!(most, 4000);
    // What it keeps back itself is no bandwidth of the path's.
    assert!((line.now_seen().bandwidth - 1.25e6).abs() < 1e3, "{:?}", line.now_seen());
    assert!((line.now_seen().rtt - 0.0403).abs() < 1e-9);
    assert!(line.conn.cwnd().0 >= 108_000);
}

#[test]
fn probe_rtt_before_the_pipe_is_full_goes_back_to_startup() {
    // Sec. 4.3.5. An application that never fills the path, nor pauses; after a second the path is 10 ms longer.
    let mut line = Line::new(bbr(0));
    for i in 0..620 {
        line.write(1000);
        line.run(1000 + 20 * (i + 1));
        line.delay = if i < 50 { DELAY } else { DELAY + Dur::from_ms(10) };
    }
    let (begun, back) = (line.first(3.0, 0), line.first(0.0, 12_100));
    // The last RTT of 40.3 ms is that of the segment of 2 s. The first ACK more than 10 s after its ACK is of the one of 12 s.
    assert_eq!(begun, SimTime::ZERO + Dur::from_us(12_050_300));
    // Two segments are in flight: 200 ms from here, then the next ACK. The round is over long before.
    assert_eq!(back, SimTime::ZERO + Dur::from_us(12_270_300));
    assert_eq!((line.now_seen().mode, line.now_seen().gain), (0.0, 2.885));
    assert!((line.now_seen().rtt - 0.0503).abs() < 1e-9, "{:?}", line.now_seen());
}

#[test]
fn an_application_that_pauses_does_not_lower_the_bandwidth() {
    let mut line = Line::new(bbr(0));
    line.write(2_000_000);
    line.run(3500);
    assert!((line.now_seen().bandwidth - 1.25e6).abs() < 1.0, "{:?}", line.now_seen());
    // Two segments each 100 ms for three seconds: 20 kB/s, thirty rounds.
    for i in 0..30 {
        line.write(2000);
        line.run(3500 + 100 * (i + 1));
    }
    assert!((line.now_seen().bandwidth - 1.25e6).abs() < 1.0, "{:?}", line.now_seen());
    assert_eq!(line.now_seen().mode, 2.0);
    // A restart from idle paces at the bandwidth, whatever the phase. Sec. 4.3.4.4
    let sent = line.sent.len();
    line.write(4000);
    line.run(6540);
    let gaps: Vec<u64> = line.sent[sent..].windows(2).map(|pair| pair[1].0.since(pair[0].0).ns()).collect();
    assert!(gaps.len() == 3 && gaps.iter().all(|got| near(*got, gap(1.0))), "{gaps:?}");
}

#[test]
fn an_application_that_never_fills_the_pipe_stays_in_startup() {
    // Sec. 4.3.2.2: rounds limited by the application do not count.
    let mut line = Line::new(bbr(0));
    for i in 0..40 {
        line.write(3000);
        line.run(1000 + 100 * (i + 1));
    }
    assert_eq!((line.now_seen().mode, line.now_seen().gain), (0.0, 2.885));
}

#[test]
fn a_loss_does_not_slow_it_down() {
    // Segments 1500 and 1520 are lost in ProbeBW: the window is conserved for a round, then it is what it was.
    let mut line = Line::new(bbr(2));
    line.drops = vec![1500, 1520];
    line.write(1 << 23);
    line.run(4000);
    let counters = *line.conn.counters();
    assert_eq!((counters.retransmissions, counters.timeouts), (2, 0));
    assert!(counters.fast_retransmits >= 1);
    assert_eq!(line.now_seen().mode, 2.0);
    assert!((line.now_seen().bandwidth - 1.25e6).abs() < 1.0);
    assert!([108_000, 110_000].contains(&line.conn.cwnd().0), "{}", line.conn.cwnd());
    // The line was never idle from 1.2 s on: 2.8 s of 800 us.
    let arrived = line.conn.snd_una() - Seq(1);
    assert!(f64::from(arrived) > 0.97 * 1.25e6 * 2.8, "{arrived}");
}

#[test]
fn a_loss_in_recovery_conserves_packets() {
    // Sec. 4.2.3.4. Without an RTT of the handshake the pacing is 28.56 MB/s: 35.0122 us a segment.
    let mut text = "1 write 40000".to_owned();
    for i in 0..10u64 {
        let at = 1.0 + (i * 35_013) as f64 / 1e9;
        text += &format!("\n{at:.9} > . {}:{}(1000) ack 1", i * 1000 + 1, i * 1000 + 1001);
    }
    let mut script = connected(Config { handshake_rtt: false, ..bbr(0) }, PEER);
    script.run(&text).run(
        "1.1  < . 1:1(0) ack 1 <sack 1001:4001>
         1.1  > . 1:1001(1000) ack 1 again
         // 10 less 3 and the lost one: 6 in flight, 3 delivered.
         1.1  is cwnd=9000 pipe=7000 recovery=true",
    );
}

#[test]
fn prr_leaves_its_window_alone() {
    let prr = Config { prr: true, rack: true, hystart: true, ..bbr(2) };
    let mut line = Line::new(prr);
    line.drops = vec![1500];
    line.write(1 << 23);
    line.run(4000);
    assert_eq!(line.conn.counters().retransmissions, 1);
    assert_eq!(line.conn.ssthresh(), Bytes(u64::MAX));
    assert!([108_000, 110_000].contains(&line.conn.cwnd().0), "{}", line.conn.cwnd());
}

#[test]
fn a_timeout_leaves_one_segment_and_the_model() {
    let mut line = Line::new(bbr(2));
    line.write(3_000_000);
    line.run(2200);
    let bandwidth = line.now_seen().bandwidth;
    // Everything is lost from here on, for a while.
    line.drops = (line.count + 1..line.count + 200).collect();
    line.run(3500); // the least RTO is a second
    assert!(line.conn.counters().timeouts >= 1);
    line.drops.clear();
    line.run(9000);
    assert_eq!(line.conn.flight_size(), Bytes::ZERO, "all has arrived");
    assert!((line.now_seen().bandwidth - bandwidth).abs() / bandwidth < 0.3, "{:?}", line.now_seen());
}
