use super::*;
use crate::Config;
use crate::tx_queue::RaTid;
use engine::{Purpose, Streams};
use phy::{MpduSet, Standard, Waveform};
use units::Bytes;

const TO: NodeId = NodeId(1);

/// One of 802.11n with so many streams.
fn control(streams: u8, set: &[(&str, Value)]) -> MinstrelHt {
    let config = Config::of(Standard::N, Mode::ofdm(0));
    let modes = Standard::N.radio_modes(streams, Waveform::PLAIN).expect("it has them");
    let config = Config { modes: modes.clone(), ..config };
    let mut params = Params::defaults(INFO.params);
    set.iter().for_each(|(key, value)| params.set(key, *value));
    let draws = Streams::new(1).get(Purpose::RateControl, 0);
    let given = Given { config: &config, supported: &|| Supported::by_all(&modes), draws };
    MinstrelHt::new(&params, given).expect("802.11n has groups")
}

fn at(ms: u64) -> SimTime {
    SimTime::from_ns(ms * 1_000_000)
}

/// The chain at a time: MCS, tries, RTS, and whether it may be an aggregate.
fn ask(rates: &mut MinstrelHt, ms: u64) -> Vec<(u8, u8, bool, bool)> {
    let mut chain = Chain::of([Stage::of(Mode::ofdm(0))]);
    let head = Head { link: RaTid { to: TO, tid: Some(0) }, mpdu: Bytes(1538), attempts: 0 };
    rates.chain(at(ms), &head, &mut chain);
    let of = |stage: &Stage| (stage.mode.mcs, stage.tries, stage.rts, stage.longest > Dur::ZERO);
    chain.stages().iter().map(of).collect()
}

/// An attempt is over: so many MPDUs, of which so many were acknowledged.
fn tell(rates: &mut MinstrelHt, ms: u64, mcs: u8, mpdus: usize, acknowledged: usize) {
    let mode = Standard::N.mcs(mcs % 8, mcs / 8 + 1, Waveform::PLAIN).expect("it has it");
    let acknowledged = &MpduSet::first(acknowledged);
    let link = RaTid { to: TO, tid: Some(0) };
    let airtime = Dur::from_us(100);
    let report = PsduReport { link, ppdu: Some(1), mode, stage: 0, nth: 1, airtime, mpdus, acknowledged };
    rates.attempted(at(ms), &report);
}

#[test]
fn the_filter_gives_what_the_kernels_integers_give() {
    // Coefficients: 4096 − 5273 + 2350 = 1173. The first input is the output: certainty.
    assert_eq!((NEW, filtered(0, 0, 4096)), (1173, (4096, 4096)));
    // A window of failures counts 1: (1173 · 1 + 5273 · 4096 − 2350 · 4096) / 4096 = 11973781 / 4096 = 2923.3.
    assert_eq!(filtered(4096, 4096, 0), (2923, 4096));
    // Certainty again: (1173 · 4096 + 5273 · 2923 − 2350 · 4096) / 4096 = 10592 · 10³ / 4096 = 2585.9: it lags.
    assert_eq!(filtered(2923, 4096, 4096), (2585, 2923));
    // It neither goes below nothing nor above certainty: 1173 + 5273 · 100 − 2350 · 4096 is negative.
    assert_eq!(filtered(100, 4096, 0), (1, 100));
    assert_eq!(filtered(4096, 2000, 4096), (4096, 4096));
    // The average before 5.12: three parts of four, 4096 − 32 · 4096 / 128.
    assert_eq!((mixed(4096, 0), mixed(0, 4096)), (3072, 1024));
}

/// A link over which MCS 0 and 1 work and nothing else does, in frames of one MPDU every 5 ms, worked by hand.
#[test]
fn the_choices_after_a_sequence_of_outcomes_are_those_worked_by_hand() {
    let mut rates = control(1, &[]);
    let mut probes = Vec::new();
    for ms in (0..100).step_by(5) {
        let chain = ask(&mut rates, ms);
        // MCS 0 takes 1477 µs, MCS 1 738 µs. Contention: 67 + 139 = 206 µs for two tries, then 283, 571, 1147.
        // MCS 0 behind RTS: 206 + 2 (228 + 1477) = 3616; + 283 + 1705 = 5604: 3 tries; + 571 + 1705 is above 6000.
        // MCS 1: 206 + 2 (108 + 738) = 1898; + 283 + 846 = 3027; + 571 + 846 = 4444; + 1147 + 846 is above 6000: 4 tries.
        // The same behind RTS: 206 + 2 · 966 = 2138; 3387; 4924; 7037: 4 tries.
        // Before statistics are closed all is MCS 0, of which nothing is known: 2 tries. The report of 50 ms closes them.
        let slow = [(0, 2, false, true), (0, 2, true, true), (0, 2, true, true)];
        let fast = [(1, 4, false, true), (0, 3, true, true), (1, 4, true, true)];
        let expected = if ms <= 50 { slow } else { fast };
        let (mcs, tries, rts, _) = chain[0];
        if chain[0] == expected[0] {
            assert_eq!(chain, expected, "{ms} ms");
        } else {
            // A probe: one frame, one try, and alone also in the stages behind it, which are those of the chain.
            let alone = |stage: &(u8, u8, bool, bool)| (stage.0, stage.1, stage.2, false);
            assert_eq!((tries, rts), (1, false));
            assert_eq!(chain[1..], expected[1..].iter().map(alone).collect::<Vec<_>>());
            assert!(chain.iter().all(|(.., aggregates)| !aggregates));
            probes.push((ms, mcs));
        }
        let works = usize::from(mcs < 2);
        tell(&mut rates, ms, mcs, 1, works);
        if works == 0 {
            // It is repeated in the second stage.
            tell(&mut rates, ms + 1, expected[1].0, 1, 1);
        }
    }
    // The first is an INC, to the next rate above MCS 0. At 20 ms a JUMP to any above. At 40 ms an INC, but the one group has no
    // further next rate. Statistics are closed at 50 ms, from when on the clock of probes begins anew: at 55 ms a JUMP, at 75 an INC to
    // MCS 2, at 95 a SLOW one, for which nothing stands between MCS 1 and MCS 0.
    let times: Vec<u64> = probes.iter().map(|probe| probe.0).collect();
    assert_eq!(times, [0, 20, 55, 75]);
    assert_eq!((probes[0].1, probes[3].1), (1, 2));
    assert!(probes[1].1 >= 1 && probes[2].1 >= 2, "{probes:?}");
}

#[test]
fn statistics_are_closed_by_a_report_once_50_ms_have_passed_and_by_no_timer() {
    let mut rates = control(1, &[]);
    ask(&mut rates, 0);
    tell(&mut rates, 1, 7, 1, 1);
    assert!(!rates.has_timer() && rates.next_wakeup() == SimTime::NEVER);
    // A second without a report: frames are asked about, and a timer, if somebody sets one, does nothing.
    for ms in (100..1100).step_by(100) {
        rates.timer(at(ms));
        ask(&mut rates, ms);
        assert_eq!(ask(&mut rates, ms)[0].0, 0, "{ms} ms");
    }
    tell(&mut rates, 1100, 0, 1, 1);
    assert_eq!(rates.expected(TO).mcs, 7, "the report of 1100 ms has closed them");
    // And the next ones not before 50 ms have passed.
    tell(&mut rates, 1149, 7, 40, 20);
    tell(&mut rates, 1149, 7, 40, 0);
    assert_eq!(rates.receivers.get(TO).map(|it| it.closed), Some(at(1100)));
    tell(&mut rates, 1150, 7, 1, 0);
    assert_eq!(rates.receivers.get(TO).map(|it| it.closed), Some(at(1150)));
}

#[test]
fn nine_in_ten_are_as_good_as_all() {
    let rates = control(1, &[]);
    let rules = rates.rules;
    let receiver = Receiver::new(at(0), &rules, &rates.tables[0], &rates.columns);
    let of = |p: f64| receiver.throughput(&rules, &rates.tables[0], 7, scaled(p));
    // 147.75 + 108 µs: 100 (3686 · 10⁶ / 255750) / 4096 = 100 · 14412 / 4096 = 351.
    assert_eq!([of(1.0), of(0.95), of(0.9)], [351; 3]);
    // 2048 · 10⁶ / 255750 = 8007: 195. Below a tenth nothing.
    assert_eq!((of(0.5), of(0.099)), (195, 0));
    // In A-MPDUs of 16 the overhead is 6.75 µs: 3686 · 10⁶ / 154500 = 23857: 582.
    let receiver = Receiver { mean_len: 16 * ONE, ..receiver };
    assert_eq!(receiver.throughput(&rules, &rates.tables[0], 7, ONE), 582);
}

#[test]
fn slower_rates_that_were_never_tried_are_as_good_as_faster_ones() {
    let mut rates = control(1, &[]);
    ask(&mut rates, 0);
    // MCS 5 loses 3 of 10; nothing else was tried.
    tell(&mut rates, 60, 5, 10, 7);
    let receiver = rates.receivers.get(TO).expect("it was asked about");
    let probs: Vec<i32> = receiver.stats.iter().map(|stats| stats.prob).collect();
    // 7 · 4096 / 10 = 2867.
    assert_eq!(probs, [2867, 2867, 2867, 2867, 2867, 2867, 0, 0]);
    assert_eq!(receiver.tp, [5, 4, 3, 2]);
}

#[test]
fn the_rate_of_the_highest_probability_has_fewer_streams_than_the_best() {
    let mut rates = control(2, &[]);
    ask(&mut rates, 0);
    tell(&mut rates, 10, 15, 10, 9);
    tell(&mut rates, 60, 4, 10, 10);
    let receiver = rates.receivers.get(TO).expect("it was asked about");
    // Rates 0 to 7 have one stream, 8 to 15 two. The best is MCS 15; of one stream MCS 4 is known to hold.
    assert_eq!((receiver.tp[0], receiver.max_prob), (15, 4));
    // Of 31 and more frames less than a quarter comes through: left before the window ends, for the best of one stream.
    tell(&mut rates, 61, 15, 32, 7);
    assert_eq!(rates.expected(TO).mcs, 4);
}

#[test]
fn probes_of_the_older_kind_stand_sixteen_frames_and_two_a_mpdus_apart() {
    let mut rates = control(1, &[("sampling", Value::Choice("counted"))]);
    let mut probes = Vec::new();
    for frame in 0..400 {
        // All within one window: 1 in 16 + 2 · 1 frames, behind the first four.
        let (mcs, tries, ..) = ask(&mut rates, 0)[0];
        if tries == 1 {
            probes.push(frame);
        }
        tell(&mut rates, 0, mcs, 1, 1);
    }
    let gaps: Vec<i32> = probes.windows(2).skip(4).map(|pair| pair[1] - pair[0]).collect();
    // 18 frames between two probes: 19 from one to the next, or more where a rate that comes up is not worth one.
    assert_eq!(gaps.iter().min(), Some(&19), "{probes:?}");
    assert!(probes.len() <= 4 + 16, "no more of them in a window");
}

#[test]
fn a_radio_of_802_11b_is_refused() {
    let config = Config::of(Standard::B, Mode::dsss(3));
    let draws = Streams::new(1).get(Purpose::RateControl, 0);
    let given = Given { config: &config, supported: &|| Supported::by_all(&config.modes), draws };
    let Unfit(why) = make(&Params::defaults(INFO.params), given).expect_err("it has DSSS alone");
    assert!(why.contains("802.11b") && !why.contains('\n'), "{why}");
}
