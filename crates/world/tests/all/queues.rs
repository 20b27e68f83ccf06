//! Interface queues of a scenario: which node has which.

use std::sync::atomic::AtomicBool;
use world::{Record, Run};

fn run(text: &str, overrides: &[(&str, &str)]) -> Run {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let blueprint = world::parse_with(text, &overrides, world::Registries::builtin()).unwrap();
    world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)).unwrap()
}

/// A number of the queue with this name.
fn queue(run: &Run, id: &str, column: &str) -> f64 {
    let is_it = |record: &&world::Row| {
        record.iter().any(|(key, cell)| *key == "id" && *cell == world::Cell::Text(id.to_owned()))
    };
    run.queues.iter().find(is_it).and_then(|record| Run::number(record, column)).unwrap()
}

/// Both ends of a cell send more than it carries.
const BOTH_WAYS: &str = r#"
scenario = { duration = "3 s" }
radio = { standard = "802.11a", data_rate = "6 Mb/s", queue = { packets = 200 } }
[[node]]
name = "ap"
role = "ap"
queue = { discipline = "fq-codel", packets = 1000 }
[[node]]
name = "laptop"
[[flow]]
name = "download"
from = "ap"
to = "laptop"
transport = { protocol = "udp" }
traffic = { model = "cbr", rate = "6 Mb/s" }
[[flow]]
name = "upload"
from = "laptop"
to = "ap"
transport = { protocol = "udp" }
traffic = { model = "cbr", rate = "6 Mb/s" }
"#;

#[test]
fn fq_codel_at_the_access_point_only_drops_early_there_and_the_station_drops_at_its_tail() {
    let own = run(BOTH_WAYS, &[]);
    assert!(queue(&own, "ap.air", "dropped_early_packets") > 0.0);
    assert_eq!(queue(&own, "laptop.air", "dropped_early_packets"), 0.0);
    assert!(queue(&own, "laptop.air", "dropped_packets") > 0.0);
    assert!(queue(&own, "ap.air", "max_packets_total") > 200.0, "its limit is its own");
    assert_eq!(queue(&own, "laptop.air", "max_packets_total"), 200.0);
}
