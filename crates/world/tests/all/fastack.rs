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
    for delay in ["2 ms", "50 ms"] {
        for channel in ["", LOSSES, FOR_GOOD] {
            for more in ["", FASTACK, "[[scheme]]\nname = \"snoop\"\non_report = true\n"] {
                let text = cell(["10 s", delay, "", channel, more], 1);
                let run = run(&text, 1);
                let goodput = Run::number(&run.summary, "goodput_bps").unwrap();
                println!("{delay} {channel} {} goodput {goodput}: retr {:?} timeouts {:?} acks heard at server {} undelivered {:?}",
                    more.contains("fast"), run.flow(0, "retransmissions"), run.flow(0, "timeouts"),
                    run.flow(0, "acks_sent").unwrap(), run.flow(0, "acked_undelivered_bytes"));
                for row in &run.schemes { println!("   {row:?}"); }
            }
        }
    }
}
