//! The preset `ns2`: the ways of ns-2.35's agent (its source; facts in the design page).

use crate::aodv_bench::{Bench, Did, data, error, request};
use net::router::aodv::Message;
use plugin::Value;

const NS2: (&str, Value) = ("preset", Value::Choice("ns2"));

#[test]
fn ns2_searches_by_ttl_5_and_7_then_four_times_the_network_with_waits_that_grow_by_floods() {
    let mut bench = Bench::new(&[NS2]);
    assert!(bench.seeks(None, &data(0, 9)));
    let (mut sent, mut ended) = (Vec::new(), None);
    for ms in 0..30_000 {
        for did in bench.did() {
            match did {
                Did::Sent { ttl, .. } => sent.push((ms, ttl)),
                other => ended = ended.or(Some((ms, other))),
            }
        }
        bench.passes(1);
    }
    // 2 * 30 ms * TTL, times the floods so far: 300, 420, 1800, 3600, 5400, 7200 ms.
    assert_eq!(sent, [(0, 5), (300, 7), (720, 30), (2520, 30), (6120, 30), (11_520, 30)]);
    assert_eq!(ended, Some((18_720, Did::Unreachable(9))));
}

#[test]
fn ns2_is_silent_for_ten_seconds_after_a_search_in_vain() {
    let mut bench = Bench::new(&[NS2, ("rreq_retries", Value::Int(0)), ("ttl_start", Value::Int(30))]);
    bench.seeks(None, &data(0, 9));
    bench.did();
    assert_eq!(bench.passes(1800).only(), Did::Unreachable(9));
    assert!(bench.seeks(None, &data(0, 9)), "packets wait");
    assert_eq!(bench.passes(9999).did(), []);
    assert_eq!(bench.passes(1).did().len(), 1);
}

/// Node 7 is `behind` hops away, node 9 is `ahead` over neighbour 1.
fn relay(behind: u8, ahead: u8) -> Bench {
    let mut bench = Bench::new(&[NS2]);
    bench.learns(9, 10, ahead, 1);
    bench.hears(2, 1, &request(7, 1, 1, behind - 1, 9, None));
    bench.did();
    bench
}

#[test]
fn ns2_repairs_a_route_whose_packet_has_come_farther_than_it_has_to_go_and_leaves_the_queue() {
    let mut bench = relay(4, 3);
    bench.loses(1, &data(7, 9));
    let did = bench.did();
    assert!(matches!(did[..], [Did::Sent { message: Message::Request(_), .. }, Did::Hold(_)]), "{did:?}");
    assert!(bench.route(1).is_some(), "no other route ends");
}

#[test]
fn ns2_drops_what_is_queued_and_tells_all_if_the_way_ahead_is_as_long() {
    let mut bench = relay(3, 3);
    bench.loses(1, &data(7, 9));
    let did = bench.did();
    assert_eq!((did[0].clone(), did.len()), (Did::Flush(1), 2));
    assert_eq!(did[1].error().1, None);
}

#[test]
fn ns2_drops_what_is_queued_for_the_sender_of_an_error() {
    let mut bench = relay(3, 3);
    bench.hears(1, 1, &error(&[(9, 17)]));
    assert_eq!(bench.did()[0], Did::Flush(1));
}

#[test]
fn ns2_does_not_save_a_packet_of_its_own_nor_what_is_queued_behind_it() {
    let mut bench = Bench::new(&[NS2]);
    bench.learns(9, 10, 3, 1);
    bench.loses(1, &data(0, 9));
    let did = bench.did();
    assert_eq!((did[0].clone(), did.len()), (Did::Flush(1), 2));
    assert_eq!(did[1].error().1, None, "all are told, though no relay is known to use the routes");
    assert!(bench.seeks(None, &data(0, 9)), "the next packet seeks");
}

#[test]
fn ns2_gives_a_route_ten_seconds_and_a_reverse_route_six_and_a_key_beside_the_preset_wins() {
    let mut bench = relay(3, 3);
    assert_eq!(bench.lasts(7), 10_000, "prolonged by the reply");
    let mut bench = Bench::new(&[NS2]);
    bench.hears(2, 9, &request(7, 1, 1, 2, 9, None));
    assert_eq!(bench.lasts(7), 6000);
    let mut bench = Bench::new(&[NS2, ("ttl_start", Value::Int(2))]);
    bench.seeks(None, &data(0, 9));
    assert!(matches!(bench.only(), Did::Sent { ttl: 2, .. }));
}
