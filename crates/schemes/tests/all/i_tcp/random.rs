//! Random hosts, random weather on both links: the stream arrives whole and in order, and the books close.

use super::net::{FIXED, MOBILE, Net, Weather};
use super::{bench, secs};
use proptest::prelude::*;
use schemes::Value;
use tcp::{Config, Counters, ack, cc};
use units::{Bytes, Dur, SimTime};
use wire::Seq;

#[derive(Debug, Clone)]
struct Case {
    configs: [Config; 2],
    weather: [Weather; 2],
    opener: usize,
    sends: [u64; 2],
    buffer: u64,
    congestion: &'static str,
    min_rto_ms: u64,
    seed: u64,
}

fn config() -> impl Strategy<Value = Config> {
    let names = (prop::sample::select(cc::NAMES), prop::sample::select(ack::NAMES));
    let sizes = (200u16..1500, 1u32..11, 1_500u64..60_000, 1_500u64..120_000);
    let isn = prop_oneof![(0u32..5000).prop_map(|n| Seq(u32::MAX - n)), any::<u32>().prop_map(Seq)];
    (names, sizes, any::<[bool; 3]>(), prop::option::of(0u8..8), isn, 100u64..1000).prop_map(
        |((congestion, policy), sizes, [timestamps, sack, ecn], window_scale, initial_sequence, min_rto)| Config {
            congestion: cc::find(congestion).unwrap(),
            ack_policy: ack::find(policy).unwrap(),
            mss: sizes.0,
            initial_window_segments: sizes.1,
            send_buffer: Bytes(sizes.2),
            receive_buffer: Bytes(sizes.3),
            timestamps,
            sack,
            ecn,
            window_scale,
            initial_sequence,
            min_rto: Dur::from_ms(min_rto),
            syn_retries: 20,
            // Longer than any wait between repetitions, so that what is sent again finds somebody.
            time_wait: Dur::from_secs(600),
            ..Config::default()
        },
    )
}

fn weather() -> impl Strategy<Value = Weather> {
    (0u64..10, 0u64..5, prop_oneof![Just(0), 0u64..20_000]).prop_map(
        |(loss_percent, duplicate_percent, jitter_us)| Weather { loss_percent, duplicate_percent, jitter_us },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let sizes = ([0u64..60_000, 0u64..60_000], 0u64..200_000);
    let wireless = (prop::sample::select(cc::NAMES), 50u64..1000);
    ([config(), config()], [weather(), weather()], 0usize..2, sizes, wireless, any::<u64>()).prop_map(
        |(configs, weather, opener, (sends, buffer), (congestion, min_rto_ms), seed)| Case {
            configs,
            weather,
            opener,
            sends,
            buffer,
            congestion,
            min_rto_ms,
            seed,
        },
    )
}

/// Runs a case; what both ends counted, and how many packets were seen.
fn run(case: &Case) -> ([Counters; 2], usize) {
    let bench = bench(&[
        ("buffer", Value::Size(Bytes(case.buffer))),
        ("congestion", Value::Choice(case.congestion)),
        ("min_rto", Value::Time(Dur::from_ms(case.min_rto_ms))),
    ]);
    let mut net = Net::new(bench, case.configs.clone(), case.opener);
    net.set_weather(case.weather, case.seed);
    for end in [MOBILE, FIXED] {
        net.write(end, case.sends[end]);
        net.close(end);
    }
    // TIME-WAIT is over, and repetitions that nobody hears have come to an end.
    net.run_until(secs(5_000));
    assert_eq!(net.next(), SimTime::NEVER);
    for end in [MOBILE, FIXED] {
        assert_eq!((net.ends[end].read, net.ends[end].peer_closed), (case.sends[1 - end], true));
    }
    let segment = case.configs[case.opener].mss.max(1460);
    let held_at_most = 2 * case.buffer.max(2 * u64::from(segment));
    assert!(net.bench.counter("highest_acked_not_delivered_bytes") <= held_at_most);
    assert_eq!(net.bench.counter("acked_not_delivered_bytes"), 0);
    assert_eq!(net.bench.counter("acked_lost_bytes"), 0);
    assert_eq!(net.bench.counter("forwarded_bytes"), case.sends[0] + case.sends[1]);
    assert_eq!(net.bench.counter("segments_refused"), 0);
    (net.ends.map(|end| *end.conn.counters()), net.log.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_crosses_both_halves_once_and_in_order(case in case()) {
        let first = run(&case);
        prop_assert_eq!(first, run(&case), "replay equals itself");
    }
}
