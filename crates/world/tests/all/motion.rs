//! Nodes that move: when they meet and part, what follows for frames, routes and neighbours, and what moves no bit.

use crate::determinism::{bits, fingerprints, run};
use engine::{Purpose, Streams};
use std::fmt::Write;
use std::path::PathBuf;
use units::{NodeId, SimTime};
use world::{Blueprint, Drive, Meeting, Paths, Record, Run};

fn parse(text: &str) -> Blueprint {
    world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(text: &str) -> String {
    world::parse(text, &[]).expect_err(text).to_string()
}

/// A scenario of 802.11b with this reach, whose first two nodes say little: a datagram of 100 B a second from 900 ms on.
fn quiet(duration: &str, range: &str, nodes: &str) -> String {
    format!(
        "scenario = {{ duration = \"{duration}\" }}\nradio = {{ standard = \"802.11b\" }}\n\
         channel = {{ range = \"{range}\" }}\n{nodes}\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\nstart = \"900 ms\"\ntransport = {{ protocol = \"udp\", datagram = \"100 B\" }}\n\
         traffic = {{ model = \"cbr\", rate = \"576 b/s\" }}\n"
    )
}

fn line(name: &str, position: [f64; 2], velocity: [f64; 2]) -> String {
    let mobility = format!("{{ model = \"line\", velocity = {velocity:?} }}");
    format!("[[node]]\nname = \"{name}\"\nposition = {position:?}\nmobility = {mobility}\n")
}

fn stand(name: &str, position: [f64; 2]) -> String {
    format!("[[node]]\nname = \"{name}\"\nposition = {position:?}\n")
}

fn with_series() -> Record {
    Record { series: true, ..Record::default() }
}

fn paths(text: &str, seed: u64) -> Paths {
    run(&parse(text), seed, &with_series()).motion.expect("it was asked for")
}

/// Instants at which a pair meets and parts.
fn meetings(paths: &Paths, pair: [u32; 2]) -> Vec<(u64, bool)> {
    let own = |it: &&Meeting| it.pair == pair.map(NodeId);
    paths.meetings.iter().filter(own).map(|it| (it.at.ns(), it.is_up)).collect()
}

#[test]
fn two_nodes_on_crossing_lines_meet_and_part_at_the_roots_to_the_nanosecond() {
    // From (0, −30) north at 3 m/s and from (−40, 0) east at 4 m/s: 5 |t − 10| metres apart, 22.5 m from 5.5 to 14.5 s. A datagram of
    // every whole second is no longer in the air at either.
    let nodes = line("a", [0.0, -30.0], [0.0, 3.0]) + &line("b", [-40.0, 0.0], [4.0, 0.0]);
    let text = quiet("30 s", "22.5 m", &nodes);
    let run = run(&parse(&text), 1, &with_series());
    let paths = run.motion.as_ref().unwrap();
    assert_eq!(meetings(paths, [0, 1]), [(5_500_000_000, true), (14_500_000_001, false)]);
    // Of the datagrams of 0.9, 1.9, …, 29.9 s those of 5.9 to 13.9 s arrive: a CBR source begins at its start.
    assert_eq!(run.flow(0, "delivered_packets"), Some(9.0));
    // A leg for ever ends with the run: 30 s at 4 m/s.
    let legs: Vec<_> = paths.legs.iter().filter(|leg| leg.node == NodeId(1)).collect();
    assert_eq!((legs.len(), legs[0].to, legs[0].ends.ns()), (1, [80.0, 0.0], 30_000_000_000));
}

#[test]
fn straight_paths_are_in_contact_for_pi_r_over_two_v_on_average() {
    // 200 nodes pass b at 2 m/s, at distances that fill −22.5 m to 22.5 m evenly: π · 22.5 / 4 = 17.67 s.
    const PATHS: u32 = 200;
    let mut nodes = stand("b", [0.0, 0.0]) + &stand("a", [5000.0, 0.0]);
    for i in 0..PATHS {
        let beside = 22.5 * (2.0 * (f64::from(i) + 0.5) / f64::from(PATHS) - 1.0);
        nodes += &line(&format!("path{i}"), [-50.0, beside], [2.0, 0.0]);
    }
    let paths = paths(&quiet("60 s", "22.5 m", &nodes), 1);
    let mut sum = 0.0;
    for i in 0..PATHS {
        let [(met, true), (parted, false)] = meetings(&paths, [0, i + 2])[..] else { panic!("one contact") };
        sum += (parted - met) as f64 / 1e9;
    }
    let (mean, wanted) = (sum / f64::from(PATHS), core::f64::consts::PI * 22.5 / 4.0);
    assert!((mean / wanted - 1.0).abs() < 0.01, "{mean} {wanted}");
}

/// Nodes of a waypoint model in a square of 100 m around the origin.
fn waypoint(name: &str, count: u32, more: &str) -> String {
    format!(
        "[[node]]\nname = \"{name}\"\ncount = {count}\nmobility = {{ model = \"waypoint\", width = \"100 m\", height = \"100 m\", \
         min_speed = \"1 m/s\", max_speed = \"5 m/s\"{more} }}\n"
    )
}

#[test]
fn the_paths_of_a_run_are_those_of_the_model() {
    let nodes = stand("a", [0.0, 0.0]) + &stand("b", [0.0, 1.0]) + &waypoint("w", 200, ", pause = \"10 s\"");
    let paths = paths(&quiet("400 s", "1 m", &nodes), 3);
    // Complete legs, not the first: 0.521405 of 100 m, deviation 24.79 m. About 390 / 31 of each of 200 nodes, and long legs are a
    // little less likely to be over at the end of the run: by a leg's length over the run's, 1 % of the variance over the mean.
    let end = SimTime::from_ns(400_000_000_000);
    let length = |leg: &world::Walked| (leg.to[0] - leg.from[0]).hypot(leg.to[1] - leg.from[1]);
    let complete: Vec<f64> = paths
        .legs
        .iter()
        .filter(|leg| leg.begins > SimTime::ZERO && leg.ends < end && leg.from != leg.to)
        .map(length)
        .collect();
    let mean = complete.iter().sum::<f64>() / complete.len() as f64;
    assert!(complete.len() > 2000 && (mean - 52.14).abs() < 2.4, "{mean} of {}", complete.len());
    // 32.28 % stand: 200 nodes at 39 instants ten seconds apart, of which some 13 are independent: four standard errors are 3.7 %.
    let mut standing = 0;
    for instant in (1..40).map(|i| SimTime::from_ns(i * 10_000_000_000)) {
        let now = paths.legs.iter().filter(|leg| leg.begins <= instant && instant < leg.ends);
        standing += now.filter(|leg| leg.from == leg.to).count();
    }
    let share = standing as f64 / (39.0 * 200.0);
    assert!((share - 0.3228).abs() < 0.037, "{share}");
    // Legs follow each other, without a gap in time or place.
    for node in 2..202 {
        let own: Vec<_> = paths.legs.iter().filter(|leg| leg.node == NodeId(node)).collect();
        assert!(own[0].begins == SimTime::ZERO && own.last().unwrap().ends == end);
        assert!(own.windows(2).all(|two| two[0].ends == two[1].begins && two[0].to == two[1].from));
    }
}

/// Ten nodes that move among each other, three flows, what a seed draws.
const BUSY: &str = r#"
scenario = { duration = "20 s" }
radio = { standard = "802.11b", rts_threshold = "500 B" }
channel = { range = "40 m", sense_range = "60 m" }
[[node]]
name = "a"
[[node]]
name = "b"
position = [20, 20]
mobility = { model = "line", through = [[-40, 30], [40, -30], [0, 0]], speed = "12 m/s" }
[[node]]
name = "w"
count = 6
mobility = { model = "waypoint", width = "100 m", height = "100 m", min_speed = "5 m/s", max_speed = "15 m/s", pause_max = "1 s" }
[[node]]
name = "r"
count = 2
mobility = { model = "walk", width = "80 m", height = "80 m", min_speed = "3 m/s", max_speed = "9 m/s", time = "3 s" }
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp" }
[[flow]]
from = "w1"
to = "w2"
transport = { protocol = "tcp" }
[[flow]]
from = "w3"
to = "r1"
transport = { protocol = "udp", datagram = "800 B" }
traffic = { model = "poisson", rate = "300 kb/s" }
"#;

/// The same where signals have powers.
fn with_powers(text: &str, more: &str) -> String {
    let channel = "channel = { range = \"40 m\", sense_range = \"60 m\" }";
    assert!(text.contains(channel));
    let propagation = "{ model = \"log-distance\", exponent = 4 }";
    text.replace(channel, &format!("channel = {{ propagation = {propagation}{more} }}"))
}

fn busy() -> [String; 3] {
    let fading = ", shadowing = \"4 dB\", fading = { model = \"rayleigh\", coherence = \"20 ms\" }";
    [BUSY.to_owned(), with_powers(BUSY, ""), with_powers(BUSY, fading)]
}

#[test]
fn a_run_in_parts_has_every_bit_of_one_in_one_go() {
    let mut draws = Streams::new(5).get(Purpose::Layout, 0);
    for text in busy() {
        let blueprint = parse(&text);
        // A driven world has routes to all nodes.
        let whole = Drive::new(&blueprint, 2, &fingerprints()).unwrap().finish().unwrap();
        let mut drive = Drive::new(&blueprint, 2, &fingerprints()).unwrap();
        while !drive.is_over() {
            let next = drive.now().ns() + (draws.unit() * 4e8) as u64;
            let next = SimTime::from_ns(next).min(drive.end());
            drive.advance(next).unwrap();
        }
        let parts = drive.finish().unwrap();
        assert_eq!((bits(&parts), parts.fingerprint), (bits(&whole), whole.fingerprint));
        assert!(whole.flow(0, "delivered_packets").unwrap() > 100.0, "something happens");
    }
}

/// A folder of its own, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("interlayer-motion-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn series_and_captures_move_no_bit() {
    for (i, text) in busy().iter().enumerate() {
        let blueprint = parse(text);
        let bare = run(&blueprint, 4, &fingerprints());
        assert!(bare.motion.is_none());
        let folder = Folder::new(&format!("captures{i}"));
        let record = Record { series: true, pcap_dir: Some(folder.0.clone()), ..fingerprints() };
        let recorded = run(&blueprint, 4, &record);
        // Samples are events: 20 s, every 50 ms.
        assert_eq!(recorded.events - bare.events, 400);
        assert_eq!(bits(&recorded), bits(&Run { events: recorded.events, ..bare.clone() }));
        assert_eq!(recorded.fingerprint, bare.fingerprint);
        assert!(recorded.motion.unwrap().legs.len() > 30);
    }
}

#[test]
fn a_motion_so_slow_that_nothing_changes_gives_the_bits_of_standing_nodes() {
    let text = |mobility: &str| {
        let mut text = "scenario = { duration = \"5 s\" }\nradio = { standard = \"802.11b\" }\n\
                        channel = { range = \"40 m\", sense_range = \"60 m\" }\n"
            .to_owned();
        for (i, x) in [0, 30, 60, 90].into_iter().enumerate() {
            write!(text, "[[node]]\nname = \"n{i}\"\nposition = [{x}, 0]\n{mobility}").unwrap();
        }
        text + "[[flow]]\nfrom = \"n0\"\nto = \"n3\"\ntransport = { protocol = \"tcp\" }\n\
                [[flow]]\nfrom = \"n2\"\nto = \"n1\"\ntransport = { protocol = \"udp\" }\ntraffic = { model = \"poisson\", rate = \"1 Mb/s\" }\n"
    };
    // A micrometre a second: 5 µm, far less than the step of 0.1 m.
    let slow = "mobility = { model = \"line\", velocity = [1e-6, 1e-6] }\n";
    let turn = "mobility = { model = \"line\", through = [[1e-6, 0], [0, 0], [95, 1e-6]], speed = \"1e-6 m/s\" }\n";
    let mut found = 0.0;
    let shadowed = ", shadowing = \"2 dB\"";
    let along_the_way = format!("{shadowed}, shadowing_decorrelation = \"20 m\"");
    for powers in [None, Some(shadowed), Some(&along_the_way)] {
        let made = |mobility: &str, powers: Option<&str>| {
            let text = text(mobility);
            parse(&powers.map_or(text.clone(), |powers| with_powers(&text, powers)))
        };
        let make = |mobility: &str| made(mobility, powers);
        // Of nodes that stand the shadowing is that of the pair, whatever it would be along a way.
        let still = run(&made("", powers.map(|_| shadowed)), 3, &fingerprints());
        assert_eq!(bits(&run(&make(""), 3, &fingerprints())), bits(&still));
        for mobility in [slow, turn] {
            let moving = run(&make(mobility), 3, &fingerprints());
            assert_eq!(moving.fingerprint, still.fingerprint);
            assert_eq!(bits(&Run { events: still.events, ..moving }), bits(&still));
        }
        found += still.flow(0, "delivered_packets").unwrap();
    }
    assert!(found > 500.0, "{found}");
}

#[test]
fn shadowing_changes_along_the_way_or_belongs_to_the_pair() {
    // No loss by distance: 16 dBm less 106 dB is 4 dB above the noise of -94 dBm, what a preamble needs, and shadowing of 20 dB decides. 1000 m are 200
    // decorrelation distances of 5 m: of the datagrams about half arrive, and of a pair that keeps its shadowing all or none.
    let share = |along: &str, seed: u64| {
        let text = format!(
            "scenario = {{ duration = \"20 s\" }}\nradio = {{ standard = \"802.11b\", data_rate = \"1 Mb/s\", tx_power = \"16 dBm\" }}\n\
             [channel]\npropagation = {{ model = \"log-distance\", exponent = 0.0, reference_loss = \"106 dB\" }}\nshadowing = \"20 dB\"\n{along}\n{}{}\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\", datagram = \"128 B\" }}\n\
             traffic = {{ model = \"cbr\", rate = \"20 kb/s\" }}\n",
            stand("a", [0.0, 0.0]),
            line("b", [10.0, 0.0], [50.0, 0.0]),
        );
        run(&parse(&text), seed, &Record::default()).flow(0, "delivered_packets").unwrap() / 500.0
    };
    let (mut all, mut none) = (0, 0);
    for seed in 1..=8 {
        let along = share("shadowing_decorrelation = \"5 m\"", seed);
        assert!((0.2..0.8).contains(&along), "{along} with seed {seed}");
        let of_pair = share("", seed);
        all += u32::from(of_pair > 0.98);
        none += u32::from(of_pair < 0.02);
    }
    assert!(all >= 2 && none >= 2 && all + none >= 7, "{all} {none}");
    let text = "scenario = { duration = \"1 s\" }\nradio = { standard = \"802.11b\" }\n\
                channel = { propagation = { model = \"log-distance\" }, shadowing_decorrelation = \"5 m\" }\n";
    let text =
        text.to_owned() + &stand("a", [0.0, 0.0]) + &stand("b", [9.0, 0.0]) + "[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
    assert_eq!(refusal(&text), "channel.shadowing_decorrelation: needs channel.shadowing");
}

#[test]
fn routes_follow_a_relay_that_comes_and_goes() {
    // a at 0 m, c at 60 m, out of each other's reach of 40 m. The relay comes from the south at x = 30 m at 10 m/s: within 40 m of
    // both while |y| ≤ √(1600 − 900) = 26.458 m, so from (100 − 26.458) / 10 = 7.354 s to 12.646 s.
    let nodes = stand("a", [0.0, 0.0]) + &stand("b", [60.0, 0.0]) + &line("relay", [30.0, -100.0], [0.0, 10.0]);
    let run = run(&parse(&quiet("20 s", "40 m", &nodes)), 1, &with_series());
    // Datagrams of 7.9, 8.9, …, 11.9 s; the one of 12.9 s is too late.
    assert_eq!(run.flow(0, "delivered_packets"), Some(5.0));
    let paths = run.motion.unwrap();
    let half = 700f64.sqrt();
    let wanted = [((100.0 - half) * 1e8).ceil() as u64, ((100.0 + half) * 1e8).ceil() as u64];
    for pair in [[0, 2], [1, 2]] {
        assert_eq!(meetings(&paths, pair), [(wanted[0], true), (wanted[1], false)]);
    }
    assert_eq!(meetings(&paths, [0, 1]), []);
}

#[test]
fn where_signals_have_powers_a_station_that_walks_away_is_lost_where_its_power_falls_below_sensitivity() {
    // At 5 m/s and a fixed rate all frames arrive near and none far; the distance between is that at which neighbours part.
    let text = r#"
scenario = { duration = "60 s" }
radio = { standard = "802.11b" }
channel = { propagation = { model = "log-distance", exponent = 4, reference_loss = "40 dB" } }
[[node]]
name = "a"
position = [0, 0]
[[node]]
name = "b"
position = [1, 0]
mobility = { model = "line", velocity = [5, 0] }
[[flow]]
from = "a"
to = "b"
transport = { protocol = "udp", datagram = "1028 B" }
traffic = { model = "cbr", rate = "80 kb/s" }
"#;
    let found = run(&parse(text), 1, &with_series());
    let paths = found.motion.as_ref().unwrap();
    let [(0, true), (parted, false)] = meetings(paths, [0, 1])[..] else { panic!("{:?}", paths.meetings) };
    let parted = parted as f64 / 1e9;
    // Ten datagrams a second: those until then arrive, but for the last metres.
    let delivered = found.flow(0, "delivered_packets").unwrap();
    assert!((2.0..50.0).contains(&parted), "{parted}");
    assert!((delivered - 10.0 * parted).abs() < 0.1 * 10.0 * parted, "{delivered} {parted}");
    // The same border among stations that stand: a tenth nearer are 1.8 dB more, a fifth farther 3.2 dB less.
    let place = 1.0 + 5.0 * parted;
    let at = |x: f64| {
        let text = text.replace("position = [1, 0]", &format!("position = [{x}, 0]"));
        let text = text.replace("mobility = { model = \"line\", velocity = [5, 0] }\n", "");
        run(&parse(&text), 1, &Record::default()).flow(0, "delivered_packets").unwrap()
    };
    assert!(at(place * 0.9) > 590.0 && at(place * 1.2) < 60.0, "{} {}", at(place * 0.9), at(place * 1.2));
    // A larger step is coarser, and steps are what it goes by: without any the station never leaves.
    let coarse = text
        .replace("radio = { standard = \"802.11b\" }", "radio = { standard = \"802.11b\", move_step = \"10000 m\" }");
    assert_eq!(run(&parse(&coarse), 1, &Record::default()).flow(0, "delivered_packets"), Some(600.0));
}

#[test]
fn a_trace_moves_the_nodes_of_a_group() {
    let folder = Folder::new("trace");
    let file = folder.0.join("two.ns_movements");
    let trace = "$node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 0.0\n$node_(1) set X_ 50.0\n$node_(1) set Y_ 0.0\n\
                 $god_ set-dist 0 1 1\n$ns_ at 2.0 \"$node_(1) setdest 10.0 0.0 5.0\"\n$ns_ at 9.0 \"$node_(1) setdest 100.0 0.0 20.0\"\n";
    std::fs::write(&file, trace).unwrap();
    let text = |file: &str| {
        let node =
            format!("[[node]]\nname = \"n\"\ncount = 2\nmobility = {{ model = \"trace\", file = {file:?} }}\n");
        quiet("30 s", "40 m", &node).replace("\"a\"", "\"n1\"").replace("\"b\"", "\"n2\"")
    };
    let path = file.to_str().unwrap();
    let paths = paths(&text(path), 1);
    // 50 m apart; from 2 s on 5 m/s towards: 40 m at 4 s. At 9 s 15 m apart; then 20 m/s away: 40 m at 10.25 s.
    assert_eq!(meetings(&paths, [0, 1]), [(4_000_000_000, true), (10_250_000_001, false)]);
    std::fs::write(&file, trace.replace("20.0\"", "fast\"")).unwrap();
    assert_eq!(
        refusal(&text(path)),
        format!(
            "node[0].mobility.file: {path}: line 8, column 42: expected a speed in metres a second, a number, got \"fast\""
        )
    );
    std::fs::write(&file, trace.replace("$node_(1)", "$node_(2)")).unwrap();
    assert_eq!(
        refusal(&text(path)),
        format!(
            "node[0].mobility.file: {path}: line 4, column 8: no node 2: 2 nodes of the scenario follow this trace, from 0 on"
        )
    );
    let none = folder.0.join("none");
    assert!(refusal(&text(none.to_str().unwrap())).contains("none: No such file"));
}

#[test]
fn what_cannot_move_is_refused_in_a_line() {
    let with = |mobility: &str, more: &str| {
        let nodes = format!("[[node]]\nname = \"a\"\n{more}mobility = {{ {mobility} }}\n{}", stand("b", [0.0, 0.0]));
        refusal(&quiet("2 s", "40 m", &nodes))
    };
    let square = "width = \"9 m\", height = \"9 m\"";
    let speeds = "min_speed = \"1 m/s\", max_speed = \"2 m/s\"";
    let waypoint = |rest: &str| with(&format!("model = \"waypoint\", {rest}"), "");
    for (said, wanted) in [
        (with("model = \"waypiont\"", ""), "did you mean \"waypoint\"?"),
        (
            waypoint(&format!("{square}, min_speed = \"0 m/s\", max_speed = \"2 m/s\"")),
            "\"0 m/s\" must be more than zero",
        ),
        (
            waypoint(&format!("{square}, min_speed = \"-1 m/s\", max_speed = \"2 m/s\"")),
            "\"-1 m/s\" must be more than zero",
        ),
        (
            waypoint(&format!("{square}, min_speed = \"1 m/s\", max_speed = \"301 m/s\"")),
            "\"301 m/s\" is too large; 300 m/s is the most",
        ),
        (
            waypoint(&format!("{square}, min_speed = \"3 m/s\", max_speed = \"2 m/s\"")),
            "2 m/s is less than min_speed, 3 m/s",
        ),
        (waypoint(&format!("width = \"0 m\", height = \"9 m\", {speeds}")), "\"0 m\" must be more than zero"),
        (
            waypoint(&format!("{square}, {speeds}, pause = \"2 s\", pause_max = \"1 s\"")),
            "1 s is less than pause, 2 s",
        ),
        (with(&format!("model = \"waypoint\", {square}, {speeds}"), "position = [0, 0]\n"), "start = \"uniform\""),
        (
            with(&format!("model = \"walk\", {square}, {speeds}, time = \"1 s\""), "position = [0, 5]\n"),
            "node[0].position: [0, 5] lies outside of the area of its mobility",
        ),
        (with(&format!("model = \"walk\", {square}, {speeds}"), ""), "give either time or distance"),
        (with("model = \"line\"", ""), "give either velocity, or through and speed"),
        (with("model = \"line\", velocity = [0, 0]", ""), "a speed of 0 m/s; more than zero, and 300 m/s at most"),
        (with("model = \"line\", velocity = [300, 1]", ""), "300 m/s at most"),
        (with("model = \"line\", velocity = [1, 1], after = \"-1 s\"", ""), "node[0].mobility.after"),
    ] {
        assert!(said.contains(wanted) && said.lines().count() == 1, "{said}\n{wanted}");
    }
    let mobility = "mobility = { model = \"line\", velocity = [1, 0] }";
    let wired = format!(
        "[[node]]\nname = \"server\"\n{mobility}\n[[link]]\nbetween = [\"server\", \"b\"]\nrate = \"1 Mb/s\"\n{}{}",
        stand("a", [0.0, 0.0]),
        stand("b", [0.0, 0.0])
    );
    let said = refusal(&quiet("2 s", "40 m", &wired));
    assert!(said.contains("node[0].mobility: \"server\" is a wired host"), "{said}");
    let everywhere = quiet("2 s", "40 m", &(line("a", [0.0; 2], [1.0, 0.0]) + &stand("b", [0.0; 2])));
    let everywhere = everywhere.replace("channel = { range = \"40 m\" }\n", "");
    assert!(refusal(&everywhere).contains("of no consequence"));
    let moved = quiet("2 s", "40 m", &(line("a", [0.0; 2], [1.0, 0.0]) + &stand("b", [0.0; 2])))
        + "[[event]]\nat = \"1 s\"\nmove = \"a\"\nto = [0, 0]\n";
    assert!(refusal(&moved).contains("event[0].move: \"a\" has a mobility"), "{}", refusal(&moved));
}

/// Nodes by waypoint at 5 m/s in a square, a reach of 100 m, five TCP flows that may send 2 Mb/s.
fn crowd(routing: &str, nodes: u32, side: u32, duration: &str) -> String {
    let mut text = format!(
        "routing = \"{routing}\"\nscenario = {{ duration = \"{duration}\" }}\nradio = {{ standard = \"802.11b\", data_rate = \"2 Mb/s\" }}\nchannel = {{ range = \"100 m\" }}\n\
         [[node]]\nname = \"n\"\ncount = {nodes}\nmobility = {{ model = \"waypoint\", width = \"{side} m\", height = \"{side} m\", \
         min_speed = \"5 m/s\", max_speed = \"5 m/s\" }}\n"
    );
    for i in 0..5 {
        let (from, to) = (2 * i + 1, 2 * i + 2);
        write!(text, "[[flow]]\nfrom = \"n{from}\"\nto = \"n{to}\"\ntransport = {{ protocol = \"tcp\" }}\n").unwrap();
    }
    text
}

#[test]
#[ignore = "a measurement: 1000 s of 50 nodes are to take 10 s at most in a release build"]
fn what_a_thousand_seconds_of_fifty_nodes_take() {
    for (nodes, side, duration) in [(50, 500, "1000 s"), (500, 1580, "100 s")] {
        for routing in ["static", "aodv"] {
            let found = run(&parse(&crowd(routing, nodes, side, duration)), 1, &with_series());
            let delivered: f64 = (0..5).map(|flow| found.flow(flow, "delivered_packets").unwrap()).sum();
            let (events, paths) = (found.events, found.motion.unwrap());
            let (legs, meetings) = (paths.legs.len(), paths.meetings.len());
            println!(
                "{routing}, {nodes} nodes, {duration}: {:.2} s, {events} events, {legs} legs, {meetings} meetings, {delivered} packets",
                found.sim_s
            );
            assert!(nodes > 50 || found.sim_s <= 10.0, "{} s", found.sim_s);
        }
    }
}
