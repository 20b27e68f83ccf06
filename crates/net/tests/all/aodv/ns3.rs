//! The preset `ns3`: the ways of ns-3 3.37's agent (src/aodv/model; facts in the design page).

use crate::aodv_bench::{Bench, Did, data, error, ip, reply, request};
use net::router::aodv::Number;
use plugin::Value;
use wire::{L4, Packet, Tcp};

const NS3: (&str, Value) = ("preset", Value::Choice("ns3"));

/// A relay on the way from node 7, which neighbour 2 leads to, to node 9, three hops away over neighbour 1.
fn relay() -> Bench {
    let mut bench = Bench::new(&[NS3]);
    bench.hears(2, 1, &request(7, 1, 1, 1, 9, None));
    bench.hears(1, 35, &reply(9, 10, 2, 7));
    bench.did();
    bench
}

#[test]
fn ns3_heeds_no_report_of_a_neighbour_that_is_not_in_its_list() {
    let mut bench = relay();
    bench.loses(1, &data(7, 9));
    assert_eq!(bench.did(), []);
    assert_eq!(bench.route(9), Some((Some(10), 3, 1)));
}

#[test]
fn ns3_lists_whom_it_forwards_to_until_a_report_and_saves_nothing() {
    let mut bench = relay();
    assert_eq!(bench.routes(Some(2), &data(7, 9)), Some(1));
    bench.loses(1, &data(7, 9));
    let told = bench.did();
    assert!(matches!(told[..], [Did::Sent { to: Some(2), .. }]), "nothing is held or recalled: {told:?}");
    assert_eq!(bench.ended(9), Some(Some(10)), "the number stays");
    bench.learns(9, 12, 3, 1);
    bench.hears(1, 35, &reply(8, 5, 2, 7));
    bench.did();
    assert_eq!(bench.routes(Some(2), &data(7, 8)), Some(1));
    bench.loses(1, &data(7, 8));
    bench.did();
    bench.loses(1, &data(7, 8));
    assert_eq!(bench.did(), [], "off the list");
}

#[test]
fn ns3_lists_whom_it_hears_a_new_request_of_and_whose_reply_comes_over_a_known_link() {
    for is_request in [true, false] {
        let mut bench = Bench::new(&[NS3]);
        bench.learns(9, 10, 3, 1);
        if is_request {
            bench.hears(1, 1, &request(6, 1, 1, 2, 5, None));
        } else {
            bench.learns(8, 10, 3, 1);
        }
        bench.loses(1, &data(0, 9));
        assert_eq!(bench.did(), [], "no precursor, and nothing saved");
        assert_eq!(bench.route(9), None);
    }
}

#[test]
fn ns3_lists_the_next_hop_of_a_source_of_tcp_alone() {
    let mut bench = Bench::new(&[NS3]);
    bench.learns(9, 10, 3, 1);
    assert_eq!(bench.routes(None, &data(0, 9)), Some(1));
    bench.loses(1, &data(0, 9));
    assert!(bench.route(9).is_some(), "it is not told that its datagrams are lost");
    let segment = Packet { l4: L4::Tcp(Tcp::default()), ..data(0, 9) };
    assert_eq!(bench.routes(None, &segment), Some(1));
    bench.loses(1, &segment);
    assert!(bench.route(9).is_none());
}

#[test]
fn ns3_passes_no_request_on_to_where_its_own_route_leads_back() {
    let mut bench = relay();
    bench.hears(1, 5, &request(6, 1, 1, 1, 9, Some(11)));
    assert_eq!(bench.passes(10).did(), []);
    bench.hears(3, 5, &request(6, 2, 2, 1, 9, Some(11)));
    assert_eq!(bench.passes(10).only().request().destination, ip(9));
}

#[test]
fn ns3_revives_no_route_by_a_request_and_replies_over_it_all_the_same() {
    let mut bench = relay();
    bench.hears(2, 1, &error(&[(7, 1)]));
    bench.did();
    bench.hears(3, 1, &request(7, 2, 2, 1, 9, None));
    assert_eq!(bench.route(7), None);
    let did = bench.only();
    let (answer, to) = did.reply();
    assert_eq!((answer.destination, to), (ip(9), Some(3)));
    bench.hears(3, 35, &reply(7, 3, 2, 9));
    assert_eq!(bench.route(7), Some((Some(3), 3, 3)));
}

#[test]
fn ns3_forgets_who_uses_a_route_when_a_reply_renews_it() {
    let mut bench = relay();
    assert_eq!(bench.precursors(9), [2]);
    bench.hears(1, 35, &reply(9, 12, 2, 0));
    assert_eq!(bench.precursors(9), [0; 0]);
}

#[test]
fn ns3_passes_errors_on_of_routes_that_have_ended_too() {
    let mut bench = relay();
    for _ in 0..20 {
        bench.hears(1, 1, &error(&[(9, 10)]));
        let told = bench.did();
        assert_eq!(told.len(), 1, "{told:?}");
        let (told, to) = told[0].error();
        assert_eq!((&told.unreachable[..], to), (&[(ip(9), Number(10))][..], Some(2)));
    }
}

#[test]
fn ns3_says_an_error_for_each_packet_without_a_route_to_the_next_hop_towards_its_source() {
    let mut bench = relay();
    bench.hears(1, 1, &error(&[(9, 10)]));
    bench.did();
    for _ in 0..20 {
        assert!(!bench.seeks(Some(3), &data(7, 9)));
        assert_eq!(bench.only().error().1, Some(2), "neighbour 3, which sent it, is not told");
    }
    assert!(!bench.seeks(Some(3), &data(6, 9)));
    assert_eq!(bench.only().error().1, None, "all are, where no route leads to the source");
}

#[test]
fn ns3_knows_no_neighbour_after_a_reboot() {
    let mut bench = relay();
    assert_eq!(bench.routes(Some(2), &data(7, 9)), Some(1));
    bench.reboots();
    bench.loses(1, &data(7, 9));
    assert_eq!((bench.did(), bench.count("link_failures")), (vec![], 0));
}
