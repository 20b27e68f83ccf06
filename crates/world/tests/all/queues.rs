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

/// Downloads to two laptops, of which the second walks away after the first second of warm-up.
const WALKS_AWAY: &str = r#"
scenario = { duration = "5 s", warmup = "1 s" }
radio = { standard = "802.11b", queue = { packets = 50, per = "interface" } }
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "stays"
[[node]]
name = "goes"
[[flow]]
from = "ap"
to = "stays"
transport = { protocol = "udp" }
traffic = { model = "cbr", rate = "3 Mb/s" }
[[flow]]
from = "ap"
to = "goes"
transport = { protocol = "udp" }
traffic = { model = "cbr", rate = "2 Mb/s" }
[[event]]
at = "1 s"
kill = "goes"
"#;

#[test]
fn beside_a_receiver_that_is_gone_a_queue_by_receiver_keeps_anothers_goodput_and_one_for_all_does_not() {
    for access in ["dcf", "edca"] {
        let of = |per: &str, discipline: &str| {
            let access = format!("\"{access}\"");
            let queue = format!("{{ per = \"{per}\", packets = 50, discipline = \"{discipline}\" }}");
            let run = run(WALKS_AWAY, &[("radio.access", &access), ("radio.queue", &queue)]);
            run.flow(0, "goodput_bps").unwrap() / 1e6
        };
        for discipline in ["drop-tail", "codel", "fq-codel"] {
            let [shared, by_receiver] = ["interface", "receiver"].map(|per| of(per, discipline));
            // 3 Mb/s of datagrams of 1500 B, 28 B of them headers.
            assert!(
                (by_receiver / (3.0 * 1472.0 / 1500.0) - 1.0).abs() < 0.03,
                "{access} {discipline}: {by_receiver} Mb/s"
            );
            assert!(shared < 0.3 * by_receiver, "{access} {discipline}: {shared} of {by_receiver} Mb/s");
        }
    }
}
