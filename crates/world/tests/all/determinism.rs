//! (Scenario, seed, version) fixes every bit: whatever runs beside it, whatever is recorded of it, in debug and release.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;
use world::Blueprint;
use world::{Cell, Record, Row, Run};

const HEAD: &str = "[scenario]\nduration = \"2 s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n";

/// LLE-TCP with two-way data, timestamps, a slow reader and errors in both frames and answers.
const LLE: &str = r#"
[radio]
standard = "802.11b"
[channel]
errors = { model = "packet", per = 0.1, control_per = 0.05, at = "attempt" }
[[flow]]
from = "a"
to = "b"
reverse = { model = "poisson", rate = "300 kb/s" }
reader = { model = "on-off", on = "300 ms", off = "200 ms" }
transport = { protocol = "tcp", preset = "rfc", timestamps = true, receive_buffer = "20 kB", min_rto = "200 ms" }
[[scheme]]
name = "lle-tcp"
"#;

/// Contention of TCP and Poisson traffic from three stations under RTS/CTS, a channel of two states.
const CONTENTION: &str = r#"
[radio]
standard = "802.11g"
rts_threshold = "500 B"
[channel]
errors = { model = "two-state", good = { ber = 1e-6 }, bad = { ber = 2e-4 }, mean_good = "50 ms", mean_bad = "10 ms", unit = "time", shared = "link", control = true, at = "attempt" }
[[node]]
name = "c"
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc", receiver = "dynamic-delayed-ack", congestion = "reno" }
[[flow]]
from = "c"
to = "b"
traffic = { model = "poisson", rate = "3 Mb/s" }
transport = { protocol = "udp", datagram = "700 B" }
[[flow]]
from = "b"
to = "c"
traffic = { model = "poisson", rate = "1 Mb/s" }
transport = { protocol = "tcp", preset = "rfc", congestion = "tahoe" }
"#;

/// Saturated stations, one of which dies, and losses of whole MSDUs.
const SATURATED: &str = r#"
[radio]
standard = "802.11"
[channel]
errors = { model = "packet", per = 0.05, at = "msdu" }
[[node]]
name = "c"
[[flow]]
from = "a"
to = "b"
traffic = { model = "saturated" }
transport = { protocol = "udp" }
[[flow]]
from = "c"
to = "a"
traffic = { model = "saturated" }
transport = { protocol = "udp", datagram = "300 B" }
[[event]]
at = "1500 ms"
kill = "c"
"#;

/// A cell behind wires that differ in both directions, lose, and drop or mark early by chance; flows of all directions.
const NETWORK: &str = r#"
[radio]
standard = "802.11g"
queue = { discipline = "red", packets = 60, min_th = 2, max_th = 20, weight = 0.05, ecn = true }
[channel]
errors = { model = "packet", per = 0.05, control_per = 0.02 }
[[node]]
name = "router"
radio = false
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "c"
[[link]]
between = ["a", "router"]
rate = "50 Mb/s"
delay = "3 ms"
queue = { discipline = "red", packets = 100, min_th = 2, max_th = 9, max_p = 0.2, weight = 0.1 }
[[link]]
from = "router"
to = "ap"
rate = "8 Mb/s"
delay = "1 ms"
loss = 0.01
queue = { discipline = "red", bytes = "30 kB", min_th = 3000, max_th = 12000, weight = 0.1, ecn = true }
[[link]]
from = "ap"
to = "router"
rate = "2 Mb/s"
delay = "700 us"
loss = 0.002
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc", ecn = true, sack = true, min_rto = "200 ms" }
[[flow]]
from = "c"
to = "a"
transport = { protocol = "tcp", preset = "rfc", timestamps = true, min_rto = "200 ms" }
[[flow]]
from = "b"
to = "c"
traffic = { model = "poisson", rate = "1 Mb/s" }
transport = { protocol = "udp", datagram = "600 B" }
[[flow]]
from = "a"
to = "c"
traffic = { model = "poisson", rate = "2 Mb/s" }
transport = { protocol = "udp", datagram = "1000 B" }
"#;

pub(crate) const ALL: [&str; 4] = [LLE, CONTENTION, SATURATED, NETWORK];

pub(crate) fn text(rest: &str) -> String {
    format!("{HEAD}{rest}")
}

pub(crate) fn scenario(rest: &str) -> Blueprint {
    world::parse(&text(rest), &[]).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn fingerprints() -> Record {
    Record { fingerprint: true, ..Record::default() }
}

pub(crate) fn run(scenario: &Blueprint, seed: u64, record: &Record) -> Run {
    world::run(scenario, seed, record, &AtomicBool::new(false)).unwrap()
}

/// Rows as text. Numbers are compared as bits: NaN equals itself, 0 does not equal -0.
fn text_of(rows: &[Row]) -> String {
    let cell = |(name, cell): &(&str, Cell)| match cell {
        Cell::Real(x) => format!("{name} {:016x} ", x.to_bits()),
        other => format!("{name} {other:?} "),
    };
    rows.iter().flatten().map(cell).collect()
}

/// Everything of a run but the time it took.
pub(crate) fn bits(run: &Run) -> String {
    let Run { seed, sim_s: _, simulated, events, exchanges, flows, nodes, queues, frames, schemes, .. } = run;
    let Run { summary, books, .. } = run;
    let records: Vec<String> = [flows, nodes, queues, frames, schemes].map(|all| text_of(all)).into();
    let summary = text_of(std::slice::from_ref(summary));
    format!("{seed} {simulated:?} {events} {exchanges} {books:?} {summary} {records:?}")
}

/// Renewing: run this test, put in what it prints, and say in the commit which behaviour changed and why (CONTRIBUTING.md,
/// Commits: new fingerprints alone, with the reason). PHY: frames on the air. MAC: reports on MSDUs. TCP: segments
/// at transport ends. Which of the three moved, and in which scenario, tells where to look: a change of TCP alone leaves
/// SATURATED as it is. Debug and release builds assert the same numbers (`cargo test`, `cargo test --release`).
#[test]
fn golden_fingerprints_are_what_they_were() {
    const GOLDEN: [[u64; 3]; 4] = [
        [0x7cd0_3dc9_a6d6_3b9e, 0x3798_c863_d982_1c31, 0xf8af_4586_c0bc_9b2d],
        [0xf8bd_192d_a6e6_2a6b, 0x1706_44f2_d985_5061, 0x80ed_cd16_e500_f7c2],
        // The last is the hash of nothing: there is no TCP in it.
        [0xf470_2a96_647e_e8a2, 0xb992_a315_5de0_f84c, 0xcbf2_9ce4_8422_2325],
        [0x9e88_618a_cad5_4c62, 0x1f78_3512_b9ca_165b, 0x639b_152f_fc40_4f95],
    ];
    let found = ALL.map(|text| run(&scenario(text), 1, &fingerprints()).fingerprint.unwrap());
    assert_eq!(found, GOLDEN, "new: {found:#018x?}");
}

#[test]
fn seeds_differ() {
    for text in ALL {
        let scenario = scenario(text);
        let prints = [1, 2, 3].map(|seed| run(&scenario, seed, &fingerprints()).fingerprint.unwrap());
        assert!(prints[0] != prints[1] && prints[1] != prints[2] && prints[0] != prints[2]);
    }
}

#[test]
fn a_batch_gives_the_same_bits_whatever_the_number_of_jobs() {
    let scenarios = ALL.map(scenario);
    let tasks: Vec<(&Blueprint, u64)> = (0..12).map(|i| (&scenarios[i % 4], i as u64 / 4 + 1)).collect();
    let batch = |jobs| {
        let runs = world::run_batch(&tasks, jobs, &fingerprints());
        runs.into_iter().map(Result::unwrap).collect::<Vec<Run>>()
    };
    let alone: Vec<Run> = tasks.iter().map(|(scenario, seed)| run(scenario, *seed, &fingerprints())).collect();
    for jobs in [1, 2, 3, 0] {
        for (i, (one, other)) in alone.iter().zip(batch(jobs)).enumerate() {
            assert_eq!(bits(one), bits(&other), "task {i}, {jobs} jobs");
            assert_eq!(one.fingerprint, other.fingerprint, "task {i}, {jobs} jobs");
        }
    }
}

#[test]
fn two_worlds_on_two_threads_give_the_bits_they_give_alone() {
    let scenarios = ALL.map(scenario);
    let alone = scenarios.each_ref().map(|scenario| run(scenario, 7, &fingerprints()));
    // Each with each, itself included, over and over while the other runs.
    for (i, j) in [(0, 0), (0, 1), (1, 2), (3, 2)] {
        let together = thread::scope(|scope| {
            let other = scope.spawn(|| [0; 3].map(|_| run(&scenarios[j], 7, &fingerprints())));
            let one = [0; 3].map(|_| run(&scenarios[i], 7, &fingerprints()));
            (one, other.join().unwrap())
        });
        for (one, other) in together.0.iter().zip(&together.1) {
            assert_eq!((bits(one), one.fingerprint), (bits(&alone[i]), alone[i].fingerprint));
            assert_eq!((bits(other), other.fingerprint), (bits(&alone[j]), alone[j].fingerprint));
        }
    }
}

/// A folder of its own, removed when done.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_is_recorded_changes_no_bit_of_the_results_and_captures_are_the_same_files() {
    let folder = |name: &str| {
        Folder(std::env::temp_dir().join(format!("interlayer-determinism-{}-{name}", std::process::id())))
    };
    for (i, text) in ALL.iter().enumerate() {
        let scenario = scenario(text);
        let bare = run(&scenario, 3, &Record::default());
        assert!(bare.fingerprint.is_none() && bare.series.is_none());
        let folders = ["one", "other"].map(|name| folder(&format!("{i}-{name}")));
        for fingerprint in [false, true] {
            for series in [false, true] {
                for pcap_dir in [None, Some(folders[usize::from(series)].0.clone())] {
                    let record = Record { pcap_dir, series, fingerprint, timeline: None, scene: series };
                    let recorded = run(&scenario, 3, &record);
                    // Samples are events of their own: how many there were is the one thing they change.
                    let expected = Run { events: recorded.events, ..bare.clone() };
                    assert_eq!(bits(&recorded), bits(&expected), "{record:?}");
                    let samples = if series { 40 } else { 0 }; // 2 s, every 50 ms
                    assert_eq!(recorded.events - bare.events, samples, "{record:?}");
                    let print = recorded.fingerprint;
                    assert_eq!(print, run(&scenario, 3, &Record { fingerprint, ..Record::default() }).fingerprint);
                    assert_eq!((print.is_some(), recorded.series.is_some()), (fingerprint, series));
                }
            }
        }
        for node in &scenario.scenario().nodes {
            let files = |folder: &Folder| testkit::tshark::captures_of(&folder.0, &node.name, 3);
            let (ones, others) = (files(&folders[0]), files(&folders[1]));
            assert!(!ones.is_empty() && ones.len() == others.len(), "{}", node.name);
            for (one, other) in ones.iter().zip(&others) {
                let [bytes, same] = [one, other].map(|path| std::fs::read(path).unwrap());
                assert!(bytes.len() > 1000, "{}: {} B", one.display(), bytes.len());
                assert!(bytes == same, "{}", one.display());
            }
        }
    }
}

#[test]
fn a_station_that_is_idle_changes_nothing_for_the_others() {
    let idle = "[[node]]\nname = \"idle\"\n";
    for text in ALL {
        let without = run(&scenario(text), 5, &fingerprints());
        let with = run(&scenario(&format!("{text}{idle}")), 5, &fingerprints());
        assert_eq!(with.nodes.len(), without.nodes.len() + 1);
        // Not a backoff draw, an error, an arrival or a number of the others is another one.
        let (nodes, schemes, queues) = (with.nodes.clone(), with.schemes.clone(), with.queues.clone());
        let expected = Run { nodes, schemes, queues, ..without.clone() };
        assert_eq!(bits(&with), bits(&Run { events: with.events, ..expected }));
        let shared = without.nodes.len();
        assert_eq!(with.nodes[..shared], without.nodes[..]);
        assert_eq!(with.schemes[..without.schemes.len()], without.schemes[..]);
        // Its queue stands behind those of the other radios and before those of wires.
        let is_its = |row: &&Row| row[0] == ("id", Cell::Text("idle.air".to_owned()));
        let others: Vec<Row> = with.queues.iter().filter(|row| !is_its(row)).cloned().collect();
        assert_eq!((others.len() + 1, text_of(&others)), (with.queues.len(), text_of(&without.queues)));
        let ([_, mac, tcp], [_, mac_without, tcp_without]) =
            (with.fingerprint.unwrap(), without.fingerprint.unwrap());
        assert_eq!((mac, tcp), (mac_without, tcp_without));
    }
}

#[test]
fn a_flow_that_is_added_changes_no_draw_of_the_others_traffic() {
    // What a source draws is its own: a Poisson source sends as much, whoever else there is.
    let text = |more: &str| {
        format!(
            "[radio]\nstandard = \"802.11b\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\ntraffic = {{ model = \"poisson\", rate = \"1 Mb/s\" }}\n{more}"
        )
    };
    let more = "[[flow]]\nfrom = \"b\"\nto = \"a\"\ntransport = { protocol = \"udp\" }\ntraffic = { model = \"poisson\", rate = \"1 Mb/s\" }\n";
    let sent = |text: &str| {
        let run = run(&scenario(text), 2, &Record::default());
        (0..run.flows.len()).map(|flow| run.flow(flow, "datagrams_sent_total").unwrap()).collect::<Vec<f64>>()
    };
    let (one, two) = (sent(&text("")), sent(&text(more)));
    assert_eq!(one[0], two[0]);
    assert_ne!(two[0], two[1], "and each flow has draws of its own");
}
