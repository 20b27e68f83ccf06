//! The cells and runs that many tests of whole networks share.

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
