//! Keys of queues and of their disciplines.

use crate::common::{CONTROLLED_DELAY, LEAST, WARNING, changed, discipline, read, refused};
use queue::Limit;
use scenario::*;
use serde_json::Value as Json;
use units::{Bytes, Dur};

#[test]
fn a_queue_that_warns_has_a_threshold_that_it_can_find() {
    let s = read(WARNING).unwrap();
    let warns = |threshold| discipline("congestion-warning", &[("threshold", plugin::Value::Float(threshold))]);
    let (packets, bytes) = (Limit::Packets(100), Limit::Bytes(Bytes(20_000)));
    assert_eq!(s.links[0].queue, Queue { limit: packets, discipline: warns(20.0) });
    assert_eq!(s.links[1].queue, Queue { limit: bytes, discipline: warns(3000.0) });
    for (key, line) in [
        ("threshold = 100", "link[0].queue.threshold: 100 is never found: the queue holds 100 packets"),
        ("thresold = 20", "link[0].queue.thresold: no such key; did you mean \"threshold\"?"),
        ("", "link[0].queue.threshold: missing; expected a number from 0 to 1000000000000"),
    ] {
        refused(&changed(WARNING, "threshold = 20", key), line);
    }
    let line = "link[1].queue.threshold: 20000 is never found: the queue holds 20000 bytes";
    refused(&changed(WARNING, "threshold = 3000", "threshold = 20000"), line);
    let line = "link[0].queue.threshold: 1.5 is never found: the queue holds 1 as a share";
    refused(&changed(WARNING, "threshold = 20", "threshold = 1.5, unit = \"share\""), line);
}

#[test]
fn fq_codel_has_the_defaults_of_its_rfc_and_a_target_below_its_interval() {
    let s = read(CONTROLLED_DELAY).unwrap();
    assert_eq!(s.links[1].queue, Queue { limit: Limit::Packets(10_240), discipline: discipline("fq-codel", &[]) });
    let ms = |n| plugin::Value::Time(Dur::from_ms(n));
    let codel = discipline(
        "codel",
        &[("target", ms(20)), ("interval", ms(200)), ("ecn", plugin::Value::Bool(true)), ("ce_threshold", ms(1))],
    );
    assert_eq!(s.radio.queue.queue, Queue { limit: Limit::Packets(1000), discipline: codel });
    for (key, line) in [
        ("target = \"200 ms\"", "radio.queue.target: 200 ms is not below interval, 200 ms"),
        ("target = \"1 ns\"", "radio.queue.target: expected a time from 1 us to 1000 s, got string \"1 ns\""),
        (
            "quantum = \"300 B\"",
            "radio.queue.quantum: no such key with discipline = \"codel\"; it goes with \"fq-codel\" or \"mac80211\"",
        ),
    ] {
        refused(&changed(CONTROLLED_DELAY, "target = \"20 ms\"", key), line);
    }
}

#[test]
fn a_node_has_its_own_queue_or_that_of_all_radios() {
    let own = "name = \"receiver\"\nqueue = { discipline = \"codel\", packets = 9 }";
    let s = read(&changed(LEAST, "name = \"receiver\"", own)).unwrap();
    let (all, codel) = (discipline("drop-tail", &[]), discipline("codel", &[]));
    let queues = s.nodes.iter().map(|node| node.queue.queue.clone()).collect::<Vec<_>>();
    let queue = |packets, discipline| Queue { limit: Limit::Packets(packets), discipline };
    assert_eq!(queues, [queue(50, all), queue(9, codel)]);
    let json = s.to_json();
    assert_eq!((&json["node"][0]["queue"], &json["node"][1]["queue"]["packets"]), (&Json::Null, &Json::from(9)));
    let same = changed(LEAST, "name = \"receiver\"", "name = \"receiver\"\nqueue = { packets = 50 }");
    assert_eq!(read(&same).unwrap(), read(LEAST).unwrap(), "it says what all radios say");
}

#[test]
fn mac80211_is_for_the_receivers_of_radios_and_bounds_airtime_only_where_it_counts() {
    let with = |keys: &str| {
        let queue = format!("name = \"receiver\"\nqueue = {{ packets = 8192, discipline = \"mac80211\"{keys} }}");
        changed(LEAST, "name = \"receiver\"", &queue)
    };
    let own = &read(&with("")).unwrap().nodes[1].queue;
    assert_eq!((own.per, &own.queue.discipline), (None, &discipline("mac80211", &[])));
    for (keys, line) in [
        (
            ", per = \"interface\"",
            "node[1].queue.discipline: \"mac80211\" schedules the receivers of a radio: write per = \"receiver\" there, and \"fq-codel\" on a wire",
        ),
        (
            ", airtime = false",
            "node[1].queue.aql: \"on\" bounds airtime, which does not count with airtime = false; write \"off\" or \"none\"",
        ),
        (", aql_low = \"13 ms\"", "node[1].queue.aql_low: 13 ms is more than aql_high, 12 ms"),
    ] {
        refused(&with(keys), line);
    }
}
