//! @RFC3561 sec. 6.11: errors; sec. 6.12: local repair; sec. 6.13: reboots.

use crate::aodv_bench::{Bench, Did, data, error, ip, reply, request};
use net::router::aodv::{Error, Message, Number};
use plugin::Value;

/// A bench with a route to node 9, three hops over neighbour 1, which neighbours of `precursors` use for node 7's sake.
fn on_a_route(set: &[(&str, Value)], precursors: &[u32]) -> Bench {
    let mut bench = Bench::new(set);
    bench.learns(9, 10, 3, 1);
    for (id, neighbour) in (1..).zip(precursors) {
        // The first of them is on the way back to node 7, five hops away.
        bench.hears(*neighbour, 1, &request(7, id, id, 4, 9, None));
    }
    bench.did();
    bench
}

fn no_delete(message: Message) -> Message {
    match message {
        Message::Error(Error { unreachable, .. }) => Message::Error(Error { no_delete: true, unreachable }),
        other => other,
    }
}

const REPAIR: (&str, Value) = ("local_repair", Value::Bool(true));

#[test]
fn rfc3561_6_11_i_a_single_precursor_is_told_by_a_message_to_it_alone() {
    let mut bench = on_a_route(&[], &[2]);
    bench.loses(1, &data(7, 9));
    let did = bench.did();
    assert_eq!((did.len(), did[0].clone()), (2, Did::Recall(1)));
    let (told, to) = did[1].error();
    assert_eq!((to, told.no_delete), (Some(2), false));
    // The neighbour itself has no number, and is a way to 9 for its precursor.
    assert_eq!(told.unreachable, [(ip(1), Number(0)), (ip(9), Number(11))]);
    assert!(matches!(did[1], Did::Sent { ttl: 1, .. }));
}

#[test]
fn rfc3561_6_11_several_precursors_are_told_by_one_broadcast() {
    let mut bench = on_a_route(&[], &[2, 3]);
    bench.loses(1, &data(7, 9));
    bench.did();
    let did = bench.passes(10).only();
    assert_eq!((did.error().1, bench.count("rerr_sent")), (None, 1));
    assert!(matches!(did, Did::Sent { ttl: 1, .. }));
}

#[test]
fn rfc3561_6_11_destinations_without_precursors_are_not_in_the_message() {
    let mut bench = on_a_route(&[], &[2]);
    bench.learns(8, 30, 2, 1);
    bench.loses(1, &data(7, 9));
    let did = bench.did();
    assert!(did[1].error().0.unreachable.iter().all(|(address, _)| *address != ip(8)));
    assert_eq!(bench.ended(8), Some(Some(31)));
}

#[test]
fn rfc3561_6_11_without_any_precursor_no_message_is_sent() {
    let mut bench = on_a_route(&[], &[]);
    bench.loses(1, &data(7, 9));
    assert_eq!(bench.did(), [Did::Recall(1)]);
}

#[test]
fn rfc3561_6_11_ii_a_packet_without_a_route_is_answered_by_an_error_to_the_neighbour_that_sent_it() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.passes(6000);
    assert!(!bench.seeks(Some(4), &data(7, 9)));
    let did = bench.only();
    assert_eq!(did.error(), (&Error { no_delete: false, unreachable: vec![(ip(9), Number(11))] }, Some(4)));
    // Of a destination that nothing is known of the number is unknown: zero.
    assert!(!bench.seeks(Some(4), &data(7, 30)));
    assert_eq!(bench.only().error().0.unreachable, [(ip(30), Number(0))]);
}

#[test]
fn rfc3561_6_11_ii_packets_that_were_recalled_end_without_an_error() {
    let mut bench = Bench::new(&[]);
    assert!(!bench.seeks(None, &data(7, 9)));
    assert_eq!(bench.did(), []);
}

#[test]
fn rfc3561_6_11_iii_an_error_ends_the_routes_over_its_sender_and_goes_on_to_their_precursors() {
    let mut bench = on_a_route(&[], &[2]);
    bench.learns(8, 30, 4, 5);
    bench.hears(1, 1, &error(&[(9, 17), (8, 40), (33, 1)]));
    let did = bench.did();
    assert_eq!((did[0].clone(), did.len()), (Did::Recall(1), 2));
    assert_eq!(did[1].error(), (&Error { no_delete: false, unreachable: vec![(ip(9), Number(17))] }, Some(2)));
    assert_eq!(bench.ended(9), Some(Some(17)));
    assert_eq!(bench.route(8), Some((Some(30), 4, 5)), "another next hop");
    assert_eq!(bench.route(1).map(|route| route.2), Some(1), "its sender is there");
}

#[test]
fn reading_4_an_error_with_a_number_that_is_not_higher_ends_the_route_and_lowers_no_number() {
    for told in [0, 9, 10, 11] {
        let mut bench = on_a_route(&[], &[]);
        bench.hears(1, 1, &error(&[(9, told)]));
        assert_eq!(bench.ended(9), Some(Some(11)), "{told}");
    }
}

#[test]
fn rfc3561_6_11_3_a_route_that_has_ended_is_remembered_for_delete_period_from_then_or_from_the_last_packet_for_it() {
    let mut bench = on_a_route(&[], &[]);
    bench.loses(1, &data(7, 9));
    assert_eq!(bench.lasts(9), 15_000);
    bench.passes(5000);
    bench.seeks(Some(2), &data(7, 9));
    assert_eq!(bench.lasts(9), 15_000);
    assert_eq!(bench.ended(9), Some(Some(11)));
}

#[test]
fn rfc3561_6_11_no_more_than_ten_errors_are_made_in_a_second() {
    let mut bench = Bench::new(&[]);
    for _ in 0..12 {
        bench.seeks(Some(4), &data(7, 9));
    }
    assert_eq!(bench.did().len(), 10);
    bench.passes(1000);
    bench.seeks(Some(4), &data(7, 9));
    assert_eq!(bench.did().len(), 1);
}

#[test]
fn rfc3561_6_12_no_link_is_repaired_unless_a_scenario_asks_for_it() {
    let mut bench = on_a_route(&[], &[2]);
    bench.loses(1, &data(7, 9));
    assert!(bench.did().iter().all(|did| !matches!(did, Did::Hold(_))));
    assert_eq!(bench.count("repairs"), 0);
}

#[test]
fn rfc3561_6_12_a_repair_asks_for_the_number_counted_up_within_its_ttl_and_keeps_the_packet() {
    let mut bench = on_a_route(&[REPAIR], &[2]);
    bench.loses(1, &data(7, 9));
    let did = bench.did();
    // The search, the packet; nobody is told of 9. max(3, 5 / 2) + 2 = 5.
    let search = did.iter().find(|did| matches!(did, Did::Sent { message: Message::Request(_), ttl: 5, to: None }));
    assert_eq!(search.expect("a search").request().destination_number, Some(Number(11)));
    assert!(did.contains(&Did::Hold(ip(9))), "{did:?}");
    assert!(bench.seeks(Some(2), &data(7, 9)), "further packets wait");
    assert_eq!(bench.did(), []);
}

#[test]
fn rfc3561_6_12_the_ttl_of_a_repair_is_half_the_way_to_the_source_if_that_is_more() {
    let mut bench = Bench::new(&[REPAIR]);
    bench.learns(9, 10, 2, 1);
    bench.hears(2, 1, &request(7, 1, 1, 9, 9, None));
    bench.did();
    bench.loses(1, &data(7, 9));
    // max(2, 10 / 2) + 2.
    assert!(bench.did().iter().any(|did| matches!(did, Did::Sent { ttl: 7, to: None, .. })));
}

#[test]
fn rfc3561_6_12_a_destination_that_is_too_far_is_not_repaired() {
    let mut bench = Bench::new(&[REPAIR, ("max_repair_ttl", Value::Int(2))]);
    bench.learns(9, 10, 3, 1);
    bench.hears(2, 1, &request(7, 1, 1, 4, 9, None));
    bench.did();
    bench.loses(1, &data(7, 9));
    assert!(bench.did().iter().all(|did| !matches!(did, Did::Sent { message: Message::Request(_), .. })));
    assert!(!bench.seeks(Some(2), &data(7, 9)));
}

#[test]
fn rfc3561_6_12_a_repair_in_vain_ends_in_an_error_after_its_discovery_period() {
    let mut bench = on_a_route(&[REPAIR], &[2]);
    bench.loses(1, &data(7, 9));
    bench.did();
    // 2 * 40 ms * (5 + 2).
    assert_eq!(bench.passes(559).did(), []);
    let did = bench.passes(1).did();
    assert_eq!((did[0].error().1, did[1].clone(), did.len()), (Some(2), Did::Unreachable(9), 2));
    assert_eq!((bench.count("repairs"), bench.count("repairs_failed")), (1, 1));
}

#[test]
fn rfc3561_6_12_a_repair_with_a_longer_way_tells_precursors_not_to_delete_theirs() {
    for (hops, told) in [(3, true), (2, false)] {
        let mut bench = on_a_route(&[REPAIR], &[2]);
        bench.loses(1, &data(7, 9));
        bench.did();
        bench.hears(3, 35, &reply(9, 12, hops, 0));
        let did = bench.did();
        assert!(did.contains(&Did::Found(9)));
        let errors: Vec<_> = did.iter().filter(|did| matches!(did, Did::Sent { .. })).collect();
        assert_eq!(errors.len(), usize::from(told));
        if let [only] = errors[..] {
            assert_eq!((only.error().0.no_delete, only.error().1), (true, Some(2)));
        }
        assert_eq!(bench.route(9), Some((Some(12), hops + 1, 3)));
    }
}

#[test]
fn rfc3561_6_12_an_error_with_the_n_flag_deletes_nothing_and_is_passed_on() {
    let mut bench = on_a_route(&[], &[2]);
    bench.hears(1, 1, &no_delete(error(&[(9, 17)])));
    let did = bench.only();
    assert_eq!((did.error().0.no_delete, did.error().1), (true, Some(2)));
    assert_eq!(bench.route(9), Some((Some(10), 3, 1)));
    bench.hears(4, 1, &no_delete(error(&[(9, 17)])));
    assert_eq!(bench.did(), [], "not from the next hop");
}

#[test]
fn rfc3561_6_12_other_routes_over_the_link_are_repaired_when_a_packet_comes_for_them() {
    let mut bench = on_a_route(&[REPAIR], &[2]);
    bench.learns(8, 30, 2, 1);
    bench.hears(2, 1, &request(7, 9, 9, 4, 8, None));
    bench.did();
    bench.loses(1, &data(7, 9));
    let did = bench.did();
    let sought: Vec<_> =
        did.iter().filter(|did| matches!(did, Did::Sent { message: Message::Request(_), .. })).collect();
    assert_eq!(sought.len(), 1, "{did:?}");
    assert!(bench.seeks(Some(2), &data(7, 8)));
    assert_eq!(bench.only().request().destination, ip(8));
    assert_eq!(bench.count("repairs"), 2);
}

#[test]
fn rfc3561_6_13_a_node_that_was_rebooted_seeks_nothing_for_delete_period() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.router.set_number(Number(77));
    bench.reboots();
    assert_eq!((bench.route(9), bench.ended(9), bench.router.number()), (None, None, Number(0)));
    assert!(bench.seeks(None, &data(0, 9)), "its own packets wait");
    assert_eq!(bench.passes(14_999).did(), []);
    assert_eq!(bench.passes(1).only().request().originator_number, Number(1));
}

#[test]
fn rfc3561_6_13_it_notes_numbers_from_control_packets_and_passes_none_on() {
    let mut bench = Bench::new(&[]);
    bench.reboots();
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    bench.hears(1, 35, &reply(8, 44, 2, 0));
    bench.hears(1, 1, &error(&[(8, 44)]));
    assert_eq!(bench.passes(100).did(), []);
    assert_eq!((bench.ended(7), bench.ended(8), bench.ended(1)), (Some(Some(33)), Some(Some(44)), None));
}

#[test]
fn rfc3561_6_13_a_packet_for_another_is_answered_by_an_error_to_all_and_the_wait_begins_anew() {
    let mut bench = Bench::new(&[]);
    bench.reboots();
    bench.passes(10_000);
    assert!(!bench.seeks(Some(2), &data(7, 9)));
    let did = bench.only();
    assert_eq!((did.error().1, did.error().0.unreachable.clone()), (None, vec![(ip(9), Number(0))]));
    bench.seeks(None, &data(0, 9));
    assert_eq!(bench.passes(14_999).did(), []);
    assert_eq!(bench.passes(1).did().len(), 1);
}

#[test]
fn rfc3561_6_13_a_request_for_it_gives_it_its_number_back() {
    let mut bench = Bench::new(&[]);
    bench.reboots();
    bench.hears(1, 9, &request(7, 33, 1, 2, 0, Some(500)));
    assert_eq!((bench.did(), bench.router.number()), (vec![], Number(500)));
}
