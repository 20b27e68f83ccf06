//! FastACK in whole networks: a server, a wire, an access point, clients of 802.11ac. What it is worth, what it costs, and what becomes of
//! data that it has acknowledged when access points die or clients move.

use crate::cells::run;
use std::fmt::Write;
use world::{Cell, Row, Run};

/// `n` downloads over a wire of this delay, with these words on each flow and in `[channel]`.
fn cell([duration, delay, tcp, channel, more]: [&str; 5], n: usize) -> String {
    let mut text = format!(
        r#"
[scenario]
duration = "{duration}"
[radio]
standard = "802.11ac"
width = "80 MHz"
mcs = 7
[channel]
{channel}
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[link]]
between = ["server", "ap"]
rate = "1 Gb/s"
delay = "{delay}"
queue = {{ packets = 2000 }}
{more}
"#
    );
    for i in 0..n {
        _ = write!(
            text,
            "[[node]]\nname = \"s{i}\"\n[[flow]]\nfrom = \"server\"\nto = \"s{i}\"\n\
             transport = {{ protocol = \"tcp\", preset = \"linux\", congestion = \"cubic\" }}\n{tcp}\n"
        );
    }
    text
}

const FASTACK: &str = "[[scheme]]\nname = \"fastack\"\n";
const LOSSES: &str = "errors = { model = \"packet\", per = 0.1, control_per = 0.02 }";
/// A hundredth of all MSDUs is lost for good.
const FOR_GOOD: &str = "errors = { model = \"packet\", per = 0.01, at = \"msdu\" }";

fn total(rows: &[Row], name: &str) -> f64 {
    rows.iter().filter_map(|row| Run::number(row, name)).sum()
}

fn node(run: &Run, id: &str, name: &str) -> f64 {
    let row = run.nodes.iter().find(|row| row[0].1 == Cell::Text(id.to_owned())).unwrap();
    Run::number(row, name).unwrap()
}

#[test]
fn probe() {
    for (delay, n) in [("2 ms", 1), ("50 ms", 1), ("50 ms", 10)] {
        for (radio, channel) in [("", LOSSES), ("aggregation = { attempts = 3 }", "errors = { model = \"packet\", per = 0.2 }")] {
            for more in ["", FASTACK, "[[scheme]]\nname = \"snoop\"\non_report = true\n"] {
                for seed in 1..=3 {
                let text = cell(["10 s", delay, "", channel, more], n).replace("mcs = 7", &format!("mcs = 7\n{radio}"));
                let run = run(&text, seed);
                let goodput = Run::number(&run.summary, "goodput_bps").unwrap();
                println!("{delay} {n} {channel} {more:20?} goodput {:.2}: retr {:?} timeouts {:?} refused {} given up {}", goodput/1e6,
                    run.flow(0, "retransmissions"), run.flow(0, "timeouts"),
                    node(&run, "ap", "msdus_refused"), node(&run, "ap", "msdus_given_up"));
                for row in &run.schemes { if seed == 1 {println!("   {:?}", row.iter().map(|(n, c)| format!("{n}={c:?}")).collect::<Vec<_>>().join(" "));} }
                }
            }
        }
    }
}

#[test]
fn killprobe() {
    let text = std::fs::read_to_string("/tmp/k.toml").unwrap();
    println!("without");
    let r = std::panic::catch_unwind(|| { run(&text, 1); });
    println!("{:?} with", r.is_ok());
    let r = std::panic::catch_unwind(|| { run(&(text.clone() + FASTACK), 1); });
    println!("{:?}", r.is_ok());
}
