//! Parts of a run measured on their own: against the rows of the whole run, and by hand.

use crate::cells::recorded;
use std::sync::atomic::AtomicBool;
use world::{Record, Run};

/// A download behind a slow wire, and datagrams of 1000 B every 10 ms from another node, which dies at 1.5 s.
const SCENE: &str = r#"
[scenario]
duration = "2 s"
warmup = "500 ms"
[radio]
standard = "802.11b"
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "sta"
position = [5, 0]
[[node]]
name = "talker"
[[link]]
between = ["server", "ap"]
rate = "4 Mb/s"
delay = "10 ms"
[[link]]
between = ["talker", "server"]
rate = "100 Mb/s"
delay = "1 ms"
[[flow]]
name = "download"
from = "server"
to = "sta"
[[flow]]
name = "talk"
from = "talker"
to = "server"
traffic = { model = "cbr", rate = "800 kb/s" }
transport = { protocol = "udp", datagram = "1028 B" }
[[event]]
at = "1500 ms"
kill = "talker"
"#;

const WINDOWS: &str = r#"
[[window]]
name = "measured"
from = "500 ms"
to = "2 s"
every = "100 ms"
[[window]]
name = "late"
from = "1 s"
to = "2 s"
every = "250 ms"
"#;

fn run(text: &str, record: &Record) -> Run {
    recorded(text, 1, record)
}

fn row<'a>(run: &'a Run, id: &str) -> &'a world::Row {
    let is_it = |row: &&world::Row| row[0].1 == world::Cell::Text(id.to_owned());
    run.windows.iter().find(is_it).unwrap_or_else(|| panic!("no row {id}"))
}

fn number(run: &Run, id: &str, name: &str) -> f64 {
    Run::number(row(run, id), name).unwrap_or_else(|| panic!("{id} has no {name}"))
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-9), "{a} is not {b}");
}

#[test]
fn a_window_over_the_measured_time_has_the_means_of_the_whole_run() {
    let run = run(&(SCENE.to_owned() + WINDOWS), &Record::default());
    for name in ["goodput_bps", "cwnd_mean_bytes", "rtt_mean_s", "cwnd_per_srtt_bps"] {
        near(number(&run, "measured.download", name), run.flow(0, name).unwrap());
    }
    let wire = run.queues.iter().find(|row| row[0].1 == world::Cell::Text("server->ap".to_owned())).unwrap();
    near(number(&run, "measured.server->ap", "mean_packets"), Run::number(wire, "mean_packets").unwrap());
    assert!(number(&run, "measured.server->ap", "mean_packets") > 1.0, "the slow wire has a queue");
    // A window's rate is its congestion window over its RTT: no more than both extremes say.
    let most = number(&run, "measured.download", "cwnd_max_bytes") * 8.0 / 0.020;
    let rate = number(&run, "measured.download", "cwnd_per_srtt_bps");
    assert!(rate > 1e6 && rate < most, "{rate} of at most {most}");
}

#[test]
fn buckets_by_hand() {
    let run = run(&(SCENE.to_owned() + WINDOWS), &Record::default());
    // 1000 B every 10 ms until 1.5 s: two buckets of 250 ms with 25 datagrams, two with none, give or take one on the way.
    near(number(&run, "late.talk", "goodput_zero_share"), 0.5);
    let full: f64 = 25.0 * 1000.0 * 8.0 / 0.25;
    let most = number(&run, "late.talk", "goodput_max_bps");
    assert!((most - full).abs() <= full / 25.0, "{most} is not {full} within a datagram");
    // Of 1, 1, 0, 0 the mean is 1/2, the variance 4 (1/2)^2 / 3, so the variation is 2 / sqrt(3).
    let cv = number(&run, "late.talk", "goodput_cv");
    assert!((cv - 2.0 / 3.0_f64.sqrt()).abs() < 0.05, "{cv}");
    near(number(&run, "late.download", "goodput_zero_share"), 0.0);
    near(number(&run, "late.talk", "goodput_min_bps"), 0.0);
    let (least, mean) =
        (number(&run, "late.download", "goodput_min_bps"), number(&run, "late.download", "goodput_bps"));
    assert!(least > 0.0 && least < mean, "{least} of a mean of {mean}");
}

#[test]
fn the_total_of_a_window_has_the_greatest_bucket_of_all_flows_together() {
    let run = run(&(SCENE.to_owned() + WINDOWS), &Record::default());
    let flows = ["late.talk", "late.download"];
    let sum = |name: &str| flows.iter().map(|id| number(&run, id, name)).sum::<f64>();
    assert!((number(&run, "late.total", "goodput_bps") - sum("goodput_bps")).abs() <= 2.0);
    // The download goes on at the same rate: the greatest bucket of both is one in which the other talks, the least one in which it is silent.
    let most = number(&run, "late.total", "goodput_max_bps");
    let one = number(&run, "late.download", "goodput_max_bps").max(number(&run, "late.talk", "goodput_max_bps"));
    assert!(most > one && most <= sum("goodput_max_bps"), "{most} above {one}, at most the sum");
    let least = number(&run, "late.total", "goodput_min_bps");
    assert!(least >= sum("goodput_min_bps") && least < most, "{least}");
    near(number(&run, "late.total", "goodput_zero_share"), 0.0);
}

#[test]
fn counters_of_a_scheme_in_windows_add_up_to_those_of_the_run() {
    let thirds = |name: &str, from: u32, to: u32| {
        format!("[[window]]\nname = \"{name}\"\nfrom = \"{from} ms\"\nto = \"{to} ms\"\nevery = \"100 ms\"\n")
    };
    let windows = [thirds("first", 0, 500), thirds("second", 500, 1200), thirds("third", 1200, 2000)].concat();
    let run = run(&(SCENE.to_owned() + "[[scheme]]\nname = \"lle-tcp\"\n" + &windows), &Record::default());
    let parts = ["first", "second", "third"].map(|name| number(&run, &format!("{name}.lle-tcp@ap"), "acks_made"));
    assert!(parts.iter().all(|part| *part > 20.0), "{parts:?}");
    // The last bucket ends at the end of the run, and before what else happens at that instant.
    let whole = run.scheme("lle-tcp", "acks_made");
    let parts: f64 = parts.iter().sum();
    assert!((whole - parts).abs() <= 1.0, "{parts} of {whole}");
}

#[test]
fn windows_change_nothing_else() {
    let record = Record { fingerprint: true, ..Record::default() };
    let with = run(&(SCENE.to_owned() + WINDOWS), &record);
    let without = run(SCENE, &record);
    assert_eq!(with.fingerprint, without.fingerprint);
    // As text: NaN is not equal to itself.
    let rows = |run: &Run| format!("{:?} {:?} {:?}", run.flows, run.queues, run.nodes);
    assert_eq!(rows(&with), rows(&without));
    assert!(without.windows.is_empty());
}

#[test]
fn series_are_sampled_as_often_as_asked() {
    let text = SCENE.replace("warmup = \"500 ms\"", "warmup = \"500 ms\"\nseries_every = \"20 ms\"");
    let run = run(&text, &Record { series: true, ..Record::default() });
    let series = run.series.unwrap();
    assert_eq!(series[0].t_s.len(), 100);
    assert_eq!(series[0].t_s[..2], [0.02, 0.04]);
}

#[test]
fn gauges_of_every_controller_are_series_of_its_flow_with_a_unit_that_columns_know() {
    /// The gauges of a controller that has done nothing yet.
    struct Declared(Vec<(&'static str, &'static str)>);
    impl tcp::cc::Probe for Declared {
        fn gauge(&mut self, name: &'static str, unit: &'static str, _: f64) {
            self.0.push((name, unit));
        }
    }
    let mut gauges = 0;
    for entry in tcp::cc::registry().iter() {
        let set = [("flow.0.transport.congestion".to_owned(), entry.info.id.to_owned())];
        let blueprint = world::parse(SCENE, &set).unwrap();
        let record = Record { series: true, ..Record::default() };
        let series = world::run(&blueprint, 1, &record, &AtomicBool::new(false)).unwrap().series.unwrap();
        let mut declared = Declared(Vec::new());
        (entry.plugin)(&plugin::Params::defaults(entry.info.params)).probe(&mut declared);
        for (name, unit) in declared.0 {
            let suffix = match unit {
                "b/s" => "_bps",
                "s" => "_s",
                "segments" | "1" => "",
                mode => {
                    assert!(mode.starts_with("0 "), "{name}: a new unit, {mode}, needs a suffix");
                    ""
                }
            };
            let path = format!("flow.download.{}{suffix}", name.replace('.', "_"));
            let column = series.iter().find(|column| column.name == path).unwrap_or_else(|| panic!("no {path}"));
            assert_eq!(column.t_s, series[0].t_s, "{path}");
            assert!(column.value.iter().all(|value| value.is_finite()), "{path}");
            gauges += 1;
        }
        let names: std::collections::BTreeSet<&str> = series.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names.len(), series.len(), "each column once: {names:?}");
    }
    assert!(gauges > 20, "{gauges}");
}

#[test]
fn what_is_no_window_is_refused() {
    let cases = [
        ("from = \"1 s\"\nto = \"3 s\"", "window[0].to: 3 s is after the end of the run at 2 s"),
        ("from = \"1 s\"\nto = \"1 s\"", "window[0].from: 1 s leaves nothing of a window to 1 s"),
        ("to = \"1 s\"\nevery = \"300 ms\"", "window[0].every: the window, 1 s, is no multiple of 300 ms"),
        ("to = \"1 s\"\nevery = \"2 s\"", "window[0].every: 2 s is longer than the window, 1 s"),
        ("to = \"1 s\"\nevery = \"1 ns\"", "window[0].every: 1 ns is more than 1000000 buckets in 1 s"),
        (
            "to = \"1 s\"\n[[window]]\nname = \"window0\"\nto = \"1 s\"",
            "window[1].name: window[0] is called \"window0\" already",
        ),
    ];
    for (keys, message) in cases {
        let error = world::parse(&format!("{SCENE}[[window]]\n{keys}\n"), &[]).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
