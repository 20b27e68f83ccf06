//! BBR by hand: each equation with numbers.

use super::*;
use plugin::Params;
use wire::Flags;

const MSS: Bytes = Bytes(1000);
const RTT: Dur = Dur::from_ms(100);

fn bbr(first_phase: i64) -> Bbr {
    let mut params = Params::defaults(INFO.params);
    params.set("first_phase", Value::Int(first_phase));
    let mut bbr = Bbr::made(&params);
    bbr.rtt = Some(RTT);
    bbr
}

fn window() -> Window {
    let mut win = Window::new(MSS, 10, None);
    win.handshake_rtt = Some(RTT);
    win
}

/// An ACK at `ms` of what left when `prior` bytes were delivered; `delivered` bytes since then, in `interval` ms.
fn ack(ms: u64, prior: u64, delivered: u64, interval: u64) -> Ack {
    Ack {
        now: SimTime::ZERO + Dur::from_ms(ms),
        number: Seq(0),
        acked: MSS,
        counted: MSS,
        prior_flight: MSS,
        rtt: Some(RTT),
        duplicate: false,
        local: false,
        flags: Flags::ACK,
        sacked: Bytes::ZERO,
        lost: Bytes::ZERO,
        rate: Some(RateSample {
            delivered: Bytes(delivered),
            interval: Dur::from_ms(interval),
            prior_delivered: Bytes(prior),
            app_limited: false,
        }),
        timestamps: None,
    }
}

/// In ProbeBW at 1 MB/s and 100 ms: a bandwidth-delay product of 100 segments.
fn cruising(first_phase: i64, win: &mut Window) -> Bbr {
    let mut bbr = bbr(first_phase);
    bbr.aggregation.on = false;
    bbr.filled_pipe = true;
    bbr.bandwidth.update(0, 1e6);
    bbr.pacing = Some(1e6);
    (bbr.rtt_at, bbr.mode) = (SimTime::ZERO, Mode::Drain);
    bbr.delivered = 1_000_000;
    bbr.next_round = 2_000_000;
    win.observe(Bytes(100_000), false);
    bbr.check_drain(&ack(1000, 0, 0, 0), win);
    assert_eq!(bbr.mode, Mode::ProbeBw);
    bbr
}

#[test]
fn the_bandwidth_is_the_greatest_of_ten_rounds_and_this_one() {
    let mut bandwidth = Greatest::default();
    for (round, value, greatest) in
        [(1, 100.0, 100.0), (5, 50.0, 100.0), (11, 10.0, 100.0), (12, 10.0, 50.0), (16, 1.0, 10.0), (40, 2.0, 2.0)]
    {
        bandwidth.update(round, value);
        assert_eq!(bandwidth.get(), greatest, "round {round}");
    }
}

#[test]
fn it_begins_with_a_window_per_rtt_times_the_gain_less_one_percent() {
    // 10000 B / 100 ms * 2.885 * 0.99 = 285615 B/s.
    let (mut bbr, mut win) = (bbr(-1), window());
    assert_eq!(bbr.pacing_rate(&win), None);
    bbr.on_sent(SimTime::ZERO, MSS, &mut win);
    assert_eq!(bbr.pacing_rate(&win), Some(BitRate::from_bps(2_284_920)));
    // Without an RTT: per millisecond.
    let (mut other, mut win) = (self::bbr(-1), Window::new(MSS, 10, None));
    other.rtt = None;
    other.on_sent(SimTime::ZERO, MSS, &mut win);
    assert_eq!(other.pacing_rate(&win), Some(BitRate::from_bps(228_492_000)));
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe() {
    let (mut bbr, mut win) = (bbr(0), window());
    bbr.on_sent(SimTime::ZERO, MSS, &mut win);
    // Bandwidths in kB/s. 125 is a quarter more than 100; from 130 on nothing is 162.5.
    let mut delivered = 0;
    for (i, (kilobytes, count, filled)) in
        [(100, 0, false), (124, 1, false), (130, 0, false), (130, 1, false), (120, 2, false), (162, 3, true)]
            .into_iter()
            .enumerate()
    {
        let bytes = kilobytes * 100;
        win.observe(Bytes(200_000), false);
        bbr.on_ack(&ack(100 * (i as u64 + 1), delivered, bytes, 100), &mut win);
        delivered += bytes;
        assert_eq!((bbr.full_count, bbr.filled_pipe), (count, filled), "round {i}");
    }
    assert_eq!((bbr.mode, bbr.pacing_gain), (Mode::Drain, 1.0 / HIGH_GAIN));
    // 162 kB/s at 1 / 2.885 and 0.99.
    let rate = bbr.pacing_rate(&win).unwrap().bps() as f64 / 8.0;
    assert!((rate - 162_000.0 / 2.885 * 0.99).abs() < 1.0, "{rate}");
    // 16.2 segments, 17; a quantum of one below 1.2 Mb/s: 20.
    assert_eq!(bbr.inflight(1.0, 0.0, &win), Bytes(20_000));
    win.observe(Bytes(20_000), false);
    bbr.on_ack(&ack(700, delivered, 16_200, 100), &mut win);
    assert_eq!((bbr.mode, bbr.phase, bbr.pacing_gain), (Mode::ProbeBw, 0, 1.25));
}

#[test]
fn what_the_application_limits_neither_fills_the_pipe_nor_lowers_the_bandwidth() {
    let (mut bbr, mut win) = (bbr(0), window());
    bbr.on_sent(SimTime::ZERO, MSS, &mut win);
    let mut delivered = 0;
    let mut limited = |kilobytes: u64, i: u64, app_limited| {
        let mut ack = ack(100 * i, delivered, kilobytes * 100, 100);
        ack.rate = ack.rate.map(|rate| RateSample { app_limited, ..rate });
        delivered += kilobytes * 100;
        bbr.on_ack(&ack, &mut win);
        (bbr.bandwidth.get(), bbr.full_count)
    };
    assert_eq!(limited(100, 1, false), (1e5, 0));
    for i in 2..20 {
        assert_eq!(limited(50, i, true), (1e5, 0), "round {i}");
    }
    assert_eq!(limited(110, 20, true), (1.1e5, 0), "more than was known is news");
}

#[test]
fn the_window_is_two_products_three_quanta_and_two_more_while_it_probes() {
    // 2 * 100 segments; 1 MB/s is 0.98 segments per 2^-10 s, two at least: 206, and 208 while it probes.
    let mut win = window();
    let probing = cruising(0, &mut win);
    assert_eq!(probing.inflight(2.0, 0.0, &win), Bytes(208_000));
    let mut bbr = cruising(2, &mut win);
    assert_eq!(bbr.inflight(2.0, 0.0, &win), Bytes(206_000));
    win.cwnd = Bytes(205_000);
    bbr.on_ack(&ack(1050, 900_000, 103_000, 103), &mut win); // 3000 B more than before
    assert_eq!(win.cwnd, Bytes(206_000));
}

#[test]
fn the_cycle_probes_until_enough_is_in_flight_and_drains_until_the_queue_is_gone() {
    let mut win = window();
    let mut bbr = cruising(0, &mut win);
    // Each ACK delivers 1000 B, so 1000 B more were in flight before it.
    let mut delivered = 1_000_000;
    let mut step = |ms: u64, flight: u64, lost: u64, bbr: &mut Bbr| {
        win.observe(Bytes(flight), false);
        delivered += 1000;
        let acked = ack(ms, delivered - 100_000, 100_000, 100);
        bbr.on_ack(&Ack { lost: Bytes(lost), ..acked }, &mut win);
        (bbr.phase, bbr.pacing_gain)
    };
    // 1.25 * 100 segments, 6 for the quanta, even, and 2: 134.
    assert_eq!(step(1100, 140_000, 0, &mut bbr), (0, 1.25), "not longer than the RTT");
    assert_eq!(step(1101, 132_000, 0, &mut bbr), (0, 1.25));
    assert_eq!(step(1102, 133_000, 0, &mut bbr), (1, 0.75));
    assert_eq!(step(1103, 106_000, 0, &mut bbr), (1, 0.75));
    assert_eq!(step(1104, 105_000, 0, &mut bbr), (2, 1.0)); // 100 + 6 = 106
    // Then an RTT each.
    for (phase, gain) in [(3, 1.0), (4, 1.0), (5, 1.0), (6, 1.0), (7, 1.0), (0, 1.25)] {
        let begun = 1104 + 101 * (phase as u64 + if phase == 0 { 8 } else { 0 } - 3);
        assert_ne!(step(begun + 100, 100_000, 0, &mut bbr).0, phase);
        assert_eq!(step(begun + 101, 100_000, 0, &mut bbr), (phase, gain));
    }
    // A loss ends the probe after an RTT.
    assert_eq!(step(1104 + 606 + 100, 100_000, 1000, &mut bbr), (0, 1.25));
    assert_eq!(step(1104 + 606 + 101, 100_000, 1000, &mut bbr), (1, 0.75));
}

#[test]
fn the_first_phase_is_never_the_one_that_drains_and_each_other_is_drawn() {
    let mut seen = [0; 8];
    for number in 0..700 {
        let mut bbr = bbr(-1);
        bbr.enter_probe_bandwidth(SimTime::ZERO + Dur::from_ms(number), Seq(number as u32 * 1000));
        seen[bbr.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    // 700 draws of seven: 100 each, deviation 9.3; four of them.
    assert!(seen.iter().enumerate().all(|(i, n)| i == 1 || (63..=137).contains(n)), "{seen:?}");
}

#[test]
fn acks_that_come_in_bursts_widen_the_window_by_what_was_not_expected() {
    let mut aggregation = Aggregation::new(true);
    let (at, wide) = (|ms| SimTime::ZERO + Dur::from_ms(ms), Bytes(1 << 20));
    // At 1 MB/s. 5000 B, then 6000 B a millisecond later, of which 1000 were expected.
    aggregation.update(at(0), 5000, 1e6, false, wide);
    assert_eq!(aggregation.room(1e6), 5000.0);
    aggregation.update(at(1), 6000, 1e6, false, wide);
    assert_eq!(aggregation.room(1e6), 10_000.0);
    // 20 ms later 20000 were expected and 11000 came: a new epoch begins.
    aggregation.update(at(21), 2000, 1e6, false, wide);
    aggregation.update(at(22), 2000, 1e6, false, wide); // 4000 - 1000
    assert_eq!(aggregation.room(1e6), 10_000.0);
    // Ten rounds later the burst is forgotten.
    for i in 0..10 {
        aggregation.update(at(122 + 100 * i), 1000, 1e6, true, wide);
    }
    assert_eq!(aggregation.room(1e6), 1000.0);
    // Never more than the window, nor than 100 ms at the bandwidth.
    aggregation.update(at(2000), 400_000, 1e6, false, Bytes(300_000));
    assert_eq!(aggregation.room(1e6), 100_000.0);
    assert_eq!(aggregation.room(1e7), 300_000.0);
}

#[test]
fn a_loss_conserves_packets_for_a_round_and_then_the_window_comes_back() {
    let mut win = window();
    let mut bbr = cruising(2, &mut win);
    win.cwnd = Bytes(206_000);
    win.pipe = Bytes(120_000);
    bbr.on_congestion(Congestion::FastRetransmit, &mut win);
    assert_eq!(win.cwnd, Bytes(121_000));
    win.observe(Bytes(119_000), true);
    bbr.on_dup_ack(&ack(1001, 900_000, 103_000, 100), &mut win);
    assert_eq!(win.cwnd, Bytes(122_000)); // 119 in flight and 3 delivered
    // The next round begins: what arrives doubles.
    bbr.on_dup_ack(&ack(1100, 1_000_000, 4000, 100), &mut win);
    assert_eq!(win.cwnd, Bytes(123_000));
    win.observe(Bytes(100_000), false);
    bbr.on_recovered(&mut win);
    assert_eq!(win.cwnd, Bytes(206_000));
}

#[test]
fn after_a_timeout_the_window_comes_back_when_all_that_was_out_is_acknowledged() {
    let mut win = window();
    let mut bbr = cruising(2, &mut win);
    win.cwnd = Bytes(206_000);
    bbr.on_congestion(Congestion::Rto { repeated: false }, &mut win);
    win.timeout_lasts = true;
    assert_eq!(win.cwnd, MSS);
    win.observe(MSS, false);
    bbr.on_ack(&ack(2000, 1_000_000, 1000, 100), &mut win);
    assert_eq!(win.cwnd, Bytes(4000)); // at least four segments
    bbr.on_ack(&ack(2010, 1_000_000, 3000, 100), &mut win);
    assert_eq!(win.cwnd, Bytes(6000)); // 2000 more
    win.timeout_lasts = false;
    bbr.on_ack(&ack(2100, 1_001_000, 3000, 100), &mut win);
    assert_eq!(win.cwnd, Bytes(206_000));
}

#[test]
fn a_least_rtt_of_ten_seconds_ago_is_measured_anew_with_four_segments() {
    let mut win = window();
    let mut bbr = cruising(2, &mut win);
    win.cwnd = Bytes(206_000);
    let late = |ms, prior, rtt| Ack { rtt: Some(Dur::from_ms(rtt)), ..ack(ms, prior, 100_000, 100) };
    bbr.on_ack(&late(10_000, 900_000, 105), &mut win);
    assert_eq!(bbr.mode, Mode::ProbeBw);
    bbr.on_ack(&late(10_001, 901_000, 105), &mut win);
    assert_eq!((bbr.mode, win.cwnd, bbr.rtt), (Mode::ProbeRtt, Bytes(4000), Some(Dur::from_ms(105))));
    assert!(win.mark_app_limited);
    // 200 ms from when no more than four are in flight, and at least a round.
    win.observe(Bytes(4000), false);
    bbr.on_ack(&late(10_100, 902_000, 101), &mut win);
    assert_eq!(bbr.rtt, Some(Dur::from_ms(101)));
    win.observe(Bytes(3000), false);
    bbr.on_ack(&late(10_300, 903_000, 101), &mut win);
    assert_eq!(bbr.mode, Mode::ProbeRtt);
    bbr.on_ack(&late(10_301, 1_002_000, 101), &mut win); // prior is what was delivered at 10.1 s
    assert_eq!((bbr.mode, bbr.cwnd_gain), (Mode::ProbeBw, 2.0));
    assert!(win.cwnd > Bytes(200_000));
}

#[test]
fn a_restart_from_idle_paces_at_the_bandwidth_and_does_not_probe_the_rtt() {
    let mut win = window();
    let mut bbr = cruising(0, &mut win);
    win.observe(Bytes::ZERO, false);
    bbr.on_ack(&ack(1010, 900_000, 101_000, 101), &mut win);
    assert_eq!(bbr.pacing_rate(&win), Some(BitRate::from_bps(9_900_000))); // 1 MB/s * 1.25 * 0.99
    win.app_limited = true;
    bbr.on_sent(SimTime::ZERO + Dur::from_secs(15), MSS, &mut win);
    assert_eq!(bbr.pacing_rate(&win), Some(BitRate::from_bps(7_920_000))); // 1 MB/s * 0.99
    let late = ack(15_100, 1_001_000, 1000, 100);
    win.observe(Bytes(1000), false);
    bbr.on_ack(&late, &mut win);
    assert_eq!((bbr.mode, bbr.rtt_at), (Mode::ProbeBw, late.now));
}
