//! The cells and runs that many tests of whole networks share.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use world::{Blueprint, Record, Run};

/// A server, an access point, a mobile, and the wire between the first two, whose further keys come next.
pub const SERVER_AP_MOBILE: &str = r#"
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "mobile"
[[link]]
between = ["server", "ap"]
"#;

/// A server, an access point and `n` stations, each with a download of CUBIC. `head` has what stands before the nodes, `wire` the keys of the
/// wire, `more` further tables, `transport` further keys of each transport, and `flow` of each flow.
pub fn downloads(n: usize, [head, wire, more, transport, flow]: [&str; 5]) -> String {
    let mut text = format!(
        "{head}\n[[node]]\nname = \"server\"\n[[node]]\nname = \"ap\"\nrole = \"ap\"\n\
         [[link]]\nbetween = [\"server\", \"ap\"]\n{wire}\n{more}\n"
    );
    for i in 0..n {
        _ = writeln!(
            text,
            "[[node]]\nname = \"s{i}\"\n[[flow]]\nfrom = \"server\"\nto = \"s{i}\"\n\
             transport = {{ protocol = \"tcp\", preset = \"linux\", small_queue = \"off\", congestion = \"cubic\"{transport} }}\n{flow}"
        );
    }
    text
}

/// A server behind a router, two access points 100 m apart on one channel, and a station with these keys. `wires` are the keys of the wires to
/// the server and to each access point.
pub fn two_access_points(head: &str, station: &str, [to_server, to_ap]: [&str; 2], more: &str) -> String {
    let ap = |i: u32| format!("[[node]]\nname = \"ap{i}\"\nrole = \"ap\"\nposition = [{}, 0]\n", 100 * (i - 1));
    let wire =
        |to: &str, keys: &str| format!("[[link]]\nbetween = [\"router\", \"{to}\"]\nrate = \"100 Mb/s\"\n{keys}\n");
    format!(
        "{head}\n[[node]]\nname = \"server\"\n[[node]]\nname = \"router\"\n{}{}[[node]]\n{station}\n{}{}{}{more}\n",
        ap(1),
        ap(2),
        wire("server", to_server),
        wire("ap1", to_ap),
        wire("ap2", to_ap)
    )
}

/// The blueprint of a scenario.
pub fn parsed(text: &str) -> Blueprint {
    world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A run of a scenario, recorded. It fails if a packet is unaccounted for.
pub fn recorded(text: &str, seed: u64, record: &Record) -> Run {
    world::run(&parsed(text), seed, record, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A run of a scenario. It fails if a packet is unaccounted for.
pub fn run(text: &str, seed: u64) -> Run {
    recorded(text, seed, &Record::default())
}

/// The same with its fingerprints.
pub fn fingerprinted(text: &str, seed: u64) -> Run {
    recorded(text, seed, &Record { fingerprint: true, ..Record::default() })
}
