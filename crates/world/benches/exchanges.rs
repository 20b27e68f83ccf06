//! Frame exchanges a second of whole runs: `cargo bench -p interlayer-world`. Budget: 0.5 µs an exchange with six stations
//! and TCP, 15 ms for 30 s of one flow. docs/design/performance.md says where the time goes.

use std::sync::atomic::AtomicBool;
use world::Blueprint;
use world::{Record, Run};

const DOT11B: &str = "standard = '802.11b'\ndata_rate = '11 Mb/s'\nbasic_rate = '1 Mb/s'";
const DOT11A: &str = "standard = '802.11a'\ndata_rate = '54 Mb/s'";
const UPLOAD: &str =
    "transport = { protocol = 'tcp', preset = 'rfc', datagram = '576 B' }\ntraffic = { model = 'bulk' }";
const DOWNLOAD: &str =
    "transport = { protocol = 'tcp', preset = 'rfc', datagram = '1500 B' }\ntraffic = { model = 'bulk' }";
const SATURATED: &str = "transport = { protocol = 'udp', datagram = '1500 B' }\ntraffic = { model = 'saturated' }";

/// `stations` with a flow each to one sink.
fn star(stations: u32, seconds: u32, radio: &str, flow: &str, scheme: &str) -> Blueprint {
    let mut text =
        format!("[scenario]\nname = 'star'\nduration = '{seconds} s'\n[radio]\n{radio}\n[[node]]\nname = 'sink'\n");
    for i in 0..stations {
        text += &format!("[[node]]\nname = 's{i}'\n[[flow]]\nfrom = 's{i}'\nto = 'sink'\n{flow}\n");
    }
    world::parse(&(text + scheme), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A server, a wire, an access point, and a download for each of `stations`.
fn behind_an_access_point(stations: u32, seconds: u32, radio: &str) -> Blueprint {
    let mut text = format!(
        "scenario = {{ duration = '{seconds} s' }}\n[radio]\n{radio}\n[[node]]\nname = 'server'\n[[node]]\nname = 'ap'\nrole = 'ap'\n\
         [[link]]\nbetween = ['server', 'ap']\nrate = '100 Mb/s'\ndelay = '2 ms'\n"
    );
    for i in 0..stations {
        text += &format!("[[node]]\nname = 's{i}'\n[[flow]]\nfrom = 'server'\nto = 's{i}'\n{DOWNLOAD}\n");
    }
    world::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Blueprint) -> Run {
    world::run(scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance")
}

fn main() {
    let lle = "[[scheme]]\nname = 'lle-tcp'\n";
    let scenes = [
        ("one LLE-TCP flow, 30 s", star(1, 30, DOT11B, DOWNLOAD, lle)),
        ("one TCP flow, 30 s", star(1, 30, DOT11B, DOWNLOAD, "")),
        ("10 downloads behind an access point, 100 s", behind_an_access_point(10, 100, DOT11B)),
        ("6 TCP uploads, 30 s", star(6, 30, DOT11A, UPLOAD, "")),
        ("50 TCP uploads, 10 s", star(50, 10, DOT11A, UPLOAD, "")),
        ("50 saturated, 10 s", star(50, 10, DOT11A, SATURATED, "")),
    ];
    for (name, scenario) in &scenes {
        testkit::bench::fastest(name, "exchange", || run(scenario).exchanges);
    }
}
