//! Stations that go over from one access point to another: when, how long they are silent, and what becomes of packets and connections.

use crate::cells::{recorded, run, two_access_points};
use proptest::prelude::*;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use units::{Dur, NodeId, SimTime};
use world::{Record, Run, RunError, Timeline, Transmission, Window};

const AP: [NodeId; 2] = [NodeId(2), NodeId(3)];
const STA: NodeId = NodeId(4);

/// Log-distance of exponent 3: 8 dB are a ratio of distances of 10^(8/30) = 1.8478.
const POWERS: &str = "propagation = { model = \"log-distance\", exponent = 3.0 }";

/// Both access points are 100 m apart, on one channel, and wired to a router behind which a server is. A station has this mobility.
fn cell(duration: &str, radio: &str, channel: &str, mobility: &str, more: &str) -> String {
    let head = format!("[scenario]\nduration = \"{duration}\"\n[radio]\n{radio}\n[channel]\n{channel}");
    let station = format!("name = \"sta\"\nposition = [20, 0]\nmobility = {mobility}");
    two_access_points(&head, &station, ["delay = \"5 ms\"", "delay = \"1 ms\""], more)
}

const B: &str = "standard = \"802.11b\"\ntx_power = \"30 dBm\"";

/// From (20, 0) past the second access point at 10 m/s.
const PAST: &str = "{ model = \"line\", through = [[90, 0]], speed = \"10 m/s\" }";

fn udp(from: &str, to: &str, rate: &str) -> String {
    format!(
        "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"udp\", datagram = \"500 B\" }}\n\
         traffic = {{ model = \"cbr\", rate = \"{rate}\" }}\n"
    )
}

fn tcp(from: &str, to: &str, traffic: &str) -> String {
    format!(
        "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"tcp\", preset = \"rfc\" }}\ntraffic = {traffic}\n"
    )
}

/// The instants at which the station has parted from an access point or joined it, behind the begin of the run.
fn meetings(run: &Run) -> Vec<(u64, NodeId, bool)> {
    let all = &run.motion.as_ref().expect("it was asked for").meetings;
    let later = all.iter().filter(|it| it.at > SimTime::ZERO && it.pair[1] == STA);
    later.map(|it| (it.at.ns(), it.pair[0], it.is_up)).collect()
}

fn with_series(text: &str) -> Run {
    recorded(text, 1, &Record { series: true, ..Record::default() })
}

/// Nanoseconds until the station is so far from the first access point that the second is 8 dB stronger: x / (100 − x) = 10^(8/30).
fn instant() -> f64 {
    let ratio = libm::pow(10.0, 8.0 / 30.0);
    (100.0 * ratio / (1.0 + ratio) - 20.0) / 10.0 * 1e9
}

fn assert_near(got: u64, wanted: f64) {
    assert!((got as f64 - wanted).abs() <= 3.0, "{got} {wanted}");
}

#[test]
fn a_station_goes_over_where_the_other_is_eight_decibels_stronger() {
    for (more, time) in [("", 50e6), ("\nhandoff_time = \"200 ms\"", 200e6)] {
        let text = cell("8 s", &(B.to_owned() + more), POWERS, PAST, &udp("server", "sta", "100 kb/s"));
        let [(down, from, false), (up, to, true)] = meetings(&with_series(&text))[..] else { panic!("one handoff") };
        assert_eq!(([from, to], down), (AP, up));
        assert_near(up, instant() + time);
    }
    // 3 dB are 10^(3/30) = 1.2589: 55.73 m, 3.573 s.
    let hysteresis = B.to_owned() + "\nhandoff_hysteresis = \"3 dB\"";
    let text = cell("8 s", &hysteresis, POWERS, PAST, &udp("server", "sta", "100 kb/s"));
    let ratio = libm::pow(10.0, 0.1);
    assert_near(meetings(&with_series(&text))[1].0, (100.0 * ratio / (1.0 + ratio) - 20.0) * 1e8 + 50e6);
}

#[test]
fn within_the_hysteresis_it_stays_whichever_way_it_walks() {
    // Each is 8 dB the stronger beyond 100 · 1.8478 / 2.8478 = 64.89 m, at 35.11 m and 64.89 m.
    let walk = |points: &str| {
        let mobility = format!("{{ model = \"line\", through = {points}, speed = \"10 m/s\" }}");
        let text = cell("12 s", B, POWERS, &mobility, &udp("server", "sta", "100 kb/s"));
        meetings(&with_series(&text)).into_iter().filter(|it| it.2).map(|it| (it.0, it.1)).collect::<Vec<_>>()
    };
    assert_eq!(walk("[[64, 0], [40, 0], [64, 0]]"), []);
    let twice = walk("[[70, 0], [36, 0], [60, 0]]");
    assert_eq!(twice.iter().map(|it| it.1).collect::<Vec<_>>(), [AP[1]], "at 36 m it is not back yet");
    let back = walk("[[70, 0], [30, 0], [60, 0]]");
    assert_eq!(back.iter().map(|it| it.1).collect::<Vec<_>>(), [AP[1], AP[0]]);
    // 5 s to 70 m, and back to where the distances are in the same ratio the other way round: 35.11 m.
    let ratio = libm::pow(10.0, 8.0 / 30.0);
    assert_near(back[1].0, 5e9 + (70.0 - 100.0 / (1.0 + ratio)) * 1e8 + 50e6);
}

#[test]
fn while_it_goes_over_it_is_silent() {
    let flows = udp("sta", "server", "400 kb/s") + &udp("server", "sta", "400 kb/s");
    let text = cell("6 s", B, POWERS, PAST, &flows);
    let record =
        Record { timeline: Some(Window { from: SimTime::ZERO, until: SimTime::NEVER }), ..Record::default() };
    let run = recorded(&text, 1, &record);
    let timeline: &Timeline = run.timeline.as_ref().unwrap();
    let left = SimTime::from_ns(instant() as u64);
    let joins = left + Dur::from_ms(50);
    let own = |it: &&Transmission| it.from == STA;
    let begins: Vec<SimTime> = timeline.transmissions.iter().filter(own).map(|it| it.start).collect();
    // A datagram each way every 10 ms: it is heard of until it leaves and from its return on.
    let within = |from: SimTime, to: SimTime| begins.iter().filter(|at| **at >= from && **at < to).count();
    assert!(within(left - Dur::from_ms(25), left) >= 4, "before");
    assert_eq!(within(left + Dur::from_ns(5), joins), 0, "between");
    assert!(within(joins, joins + Dur::from_ms(25)) >= 6, "what has waited goes out at once");
    // All frames from there on are for the new access point, or for what the old one has still tried.
    let data = timeline.transmissions.iter().filter(own).filter(|it| it.start >= joins && it.to == AP[0]);
    assert!(data.count() <= 3, "it sends its data to the new one");
}

#[test]
fn packets_that_wait_at_the_old_access_point_are_lost_or_forwarded() {
    // 2 Mb/s in datagrams of 500 B: one every 2 ms, 25 during the silence. The old access point tries some, up to 7 times each with
    // a mean backoff of 15.5 to 511.5 slots of 20 us: at least 10 still wait.
    let lost = |queue: &str| {
        let radio = format!("{B}\nhandoff_queue = \"{queue}\"");
        let run = run(&cell("6 s", &radio, POWERS, PAST, &udp("server", "sta", "2 Mb/s")), 1);
        assert!(run.books.balance(), "{:?}", run.books);
        let number = |name: &str| run.flow(0, name).unwrap();
        // At the end some are on their way: 7 ms of wires and the MAC.
        number("datagrams_sent_total") - number("delivered_packets")
    };
    let (dropped, forwarded) = (lost("drop"), lost("forward"));
    assert!((10.0..=35.0).contains(&dropped), "{dropped}");
    assert!(forwarded <= 15.0 && dropped - forwarded >= 8.0, "{dropped} {forwarded}");
    // What the station itself has queued is lost nowhere but in service.
    let run = run(&cell("6 s", B, POWERS, PAST, &udp("sta", "server", "1 Mb/s")), 1);
    let number = |name: &str| run.flow(0, name).unwrap();
    assert!(number("datagrams_sent_total") - number("delivered_packets") <= 6.0);
}

#[test]
fn tcp_goes_on_over_the_new_access_point() {
    for flow in [tcp("server", "sta", "{ model = \"bulk\" }"), tcp("sta", "server", "{ model = \"bulk\" }")] {
        for queue in ["drop", "forward"] {
            let delivered = |duration: &str, mobility: &str| {
                let radio = format!("{B}\nhandoff_queue = \"{queue}\"");
                run(&cell(duration, &radio, POWERS, mobility, &flow), 1).flow(0, "delivered_bytes_total").unwrap()
            };
            let (before, after) = (delivered("4400 ms", PAST), delivered("9 s", PAST));
            // As long again, less the silence and what TCP makes of it: a timeout of 200 ms to 1 s.
            assert!(after - before >= 0.6 * before, "{queue}: {before} {after}\n{flow}");
        }
    }
}

#[test]
fn where_a_pair_is_in_reach_or_not_it_goes_when_it_leaves_the_reach_of_its_own() {
    let b = "standard = \"802.11b\"";
    let joins = |range: &str| {
        let channel = format!("range = \"{range}\"");
        let text = cell("8 s", b, &channel, PAST, &udp("server", "sta", "10 kb/s"));
        meetings(&with_series(&text))
    };
    // 60 m: the reach of the first ends at 60 m, 4 s; that of the second begins at 40 m. A datagram every 400 ms is not in the air then.
    assert_eq!(joins("60 m"), [(4_050_000_001, AP[0], false), (4_050_000_001, AP[1], true)]);
    // 40 m: between 40 and 60 m there is none. It joins the second as it comes into its reach, at 4 s.
    assert_eq!(joins("40 m"), [(4_050_000_000, AP[0], false), (4_050_000_000, AP[1], true)]);
}

#[test]
fn two_reaches_with_a_gap_cost_what_is_sent_in_it() {
    // The gap lasts from 2 to 4 s, and 50 ms: of the datagrams of 100 ms each at least 20 are lost.
    let text = cell("7 s", "standard = \"802.11b\"", "range = \"40 m\"", PAST, &udp("server", "sta", "40 kb/s"));
    let run = run(&text, 1);
    let number = |name: &str| run.flow(0, name).unwrap();
    let lost = number("datagrams_sent_total") - number("delivered_packets");
    assert!((20.0..=23.0).contains(&lost), "{lost}");
}

/// To and fro at 20 m/s: five handoffs in 20 s.
const TO_AND_FRO: &str =
    "{ model = \"line\", through = [[90, 0], [10, 0], [90, 0], [10, 0], [90, 0]], speed = \"20 m/s\" }";

/// A DCF of 802.11b whose access points drop; EDCA and block acknowledgment of 802.11n, whose access points forward.
const RADIOS: [&str; 2] = [
    "standard = \"802.11b\"\ntx_power = \"30 dBm\"\nhandoff_queue = \"drop\"",
    "standard = \"802.11n\"\nmcs = 2\ntx_power = \"30 dBm\"\nhandoff_queue = \"forward\"",
];

#[test]
fn connections_deliver_all_bytes_over_five_handoffs_with_every_scheme_that_ends_none() {
    const BYTES: f64 = 10e6;
    let bulk = "{ model = \"bulk\", bytes = \"10 MB\" }";
    let flows = tcp("server", "sta", bulk) + &tcp("sta", "server", bulk);
    for scheme in std::iter::once("").chain(schemes::NAMES.iter().copied()) {
        let mut more = flows.clone();
        if !scheme.is_empty() {
            _ = writeln!(more, "[[scheme]]\nname = \"{scheme}\"");
        }
        let mut refusals = Vec::new();
        for radio in RADIOS {
            let text = cell("90 s", radio, POWERS, TO_AND_FRO, &more);
            let ran = world::parse(&text, &[])
                .map_err(RunError::Input)
                .and_then(|blueprint| world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)));
            let run = match ran {
                Ok(run) => run,
                Err(RunError::Input(error)) => {
                    refusals.push(error.to_string());
                    continue;
                }
                Err(error) => panic!("{scheme}: {error}"),
            };
            for flow in 0..2 {
                let number = |name: &str| run.flow(flow, name).unwrap();
                let ends = ["acked_bytes_total", "delivered_bytes_total"].map(number);
                assert_eq!(ends, [BYTES; 2], "{scheme}, flow {flow}, {radio}");
            }
        }
        if scheme == "i-tcp" {
            let why = "ends connections at \"ap1\", and stations go over to other access points";
            assert!(refusals.len() == 2 && refusals.iter().all(|it| it.contains(why)), "{refusals:?}");
        } else {
            assert!(refusals.len() < RADIOS.len(), "{scheme}: {refusals:?}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refusal = |more: &str| {
        let text = cell("8 s", &(B.to_owned() + more), POWERS, PAST, &udp("server", "sta", "100 kb/s"));
        world::parse(&text, &[]).expect_err(more).to_string()
    };
    assert!(refusal("\nhandoff_hysteresis = \"-1 dB\"").contains("radio.handoff_hysteresis"));
    assert!(refusal("\nhandoff_time = \"0 s\"").contains("radio.handoff_time"));
    assert!(refusal("\nhandoff_queue = \"forwards\"").contains("did you mean \"forward\""));
    let (b, flow) = ("standard = \"802.11b\"\nhandoff_hysteresis = \"4 dB\"", udp("server", "sta", "100 kb/s"));
    let error =
        world::parse(&cell("8 s", b, "range = \"60 m\"", PAST, &flow), &[]).expect_err("no powers").to_string();
    assert!(error.contains("channel.propagation"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// `world::run` fails if a packet or an MSDU is unaccounted for.
    #[test]
    fn the_books_balance_whatever_happens_around_handoffs(
        seed in 0u64..1000,
        radio in 0usize..3,
        has_powers: bool,
        hysteresis in 0u32..10,
        handoff_us in prop::sample::select(vec![1u32, 100, 3_000, 50_000, 900_000]),
        ends_ms in 500u32..6_000,
        events in prop::collection::vec((0u32..6_000, 0usize..7), 0..4),
    ) {
        const MORE: [&str; 3] = [
            "standard = \"802.11b\"\nhandoff_queue = \"forward\"",
            "standard = \"802.11g\"\naccess = \"edca\"\nrts_threshold = \"500 B\"\nfragmentation_threshold = \"400 B\"",
            "standard = \"802.11n\"\nmcs = 1",
        ];
        const EVENTS: [&str; 7] = [
            "kill = \"sta\"", "kill = \"ap1\"", "restart = \"ap1\"", "restart = \"ap2\"", "move = \"ap1\"\nto = [30, 30]",
            "break = [\"sta\", \"ap1\"]", "break = [\"router\", \"ap2\"]",
        ];
        let mut radio = format!("{}\nhandoff_time = \"{handoff_us} us\"\n", MORE[radio]);
        if has_powers {
            _ = write!(radio, "tx_power = \"30 dBm\"\nhandoff_hysteresis = \"{hysteresis} dB\"");
        }
        let channel = if has_powers { "propagation = { model = \"log-distance\" }\nshadowing = \"4 dB\"" } else { "range = \"55 m\"" };
        let mobility = "{ model = \"walk\", width = \"100 m\", height = \"30 m\", centre = [50, 0], min_speed = \"30 m/s\", max_speed = \"60 m/s\", time = \"1 s\" }";
        let mut more = String::new();
        for (from, to) in [("server", "sta"), ("sta", "server")] {
            more += &tcp(from, to, "{ model = \"bulk\" }");
            more += &udp(from, to, "2 Mb/s");
        }
        let mut events = events;
        events.sort_unstable();
        for (at_ms, what) in events.into_iter().filter(|it| it.0 < ends_ms) {
            _ = writeln!(more, "[[event]]\nat = \"{at_ms} ms\"\n{}", EVENTS[what]);
        }
        let run = run(&cell(&format!("{ends_ms} ms"), &radio, channel, mobility, &more), seed);
        prop_assert!(run.books.balance(), "{:?}", run.books);
    }
}
