//! @RFC3561 sec. 6.3 and 6.4: requests and their rings; sec. 6.5: requests of others.

use crate::aodv_bench::{Bench, Did, data, ip, reply, request};
use net::router::aodv::{Message, Number};
use plugin::Value;
use units::Dur;

fn ttl(did: &Did) -> u8 {
    match did {
        Did::Sent { ttl, to: None, .. } => *ttl,
        other => panic!("{other:?} is no broadcast"),
    }
}

/// The times in ms of all requests of one search, with their TTL, to its end.
fn rings(bench: &mut Bench) -> (Vec<(u64, u8)>, u64) {
    assert!(bench.seeks(None, &data(0, 9)));
    let mut sent = Vec::new();
    for ms in 0..60_000 {
        for did in bench.did() {
            if did == Did::Unreachable(9) {
                return (sent, ms);
            }
            sent.push((ms, ttl(&did)));
        }
        bench.passes(1);
    }
    panic!("the search does not end");
}

#[test]
fn rfc3561_6_3_a_request_has_hop_count_zero_the_u_flag_and_the_own_address() {
    let mut bench = Bench::new(&[]);
    bench.seeks(None, &data(0, 9));
    let did = bench.only();
    let asked = did.request();
    assert_eq!((asked.hops, asked.destination_number, asked.id), (0, None, 1));
    assert_eq!((asked.originator, asked.destination), (ip(0), ip(9)));
}

#[test]
fn rfc3561_6_3_the_last_number_known_of_the_destination_is_copied() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.passes(6000);
    bench.seeks(None, &data(0, 9));
    assert_eq!(bench.only().request().destination_number, Some(Number(11)));
}

#[test]
fn rfc3561_6_3_each_attempt_counts_the_request_id_up() {
    let mut bench = Bench::new(&[]);
    bench.seeks(None, &data(0, 9));
    let first = bench.only().request().id;
    bench.passes(240);
    let second = bench.only().request().id;
    bench.seeks(None, &data(0, 8));
    assert_eq!([second, bench.only().request().id], [first + 1, first + 2], "one id for all destinations");
}

#[test]
fn rfc3561_6_3_a_request_of_its_own_that_comes_back_is_not_passed_on() {
    let mut bench = Bench::new(&[]);
    bench.seeks(None, &data(0, 9));
    let did = bench.only();
    let mut own = did.request().clone();
    own.hops = 1;
    bench.hears(1, 34, &Message::Request(own));
    assert_eq!(bench.passes(100).did(), []);
}

#[test]
fn rfc3561_6_3_the_g_and_d_flags_are_as_configured() {
    for (gratuitous, only) in [(true, false), (false, true)] {
        let set = [("gratuitous_rrep", Value::Bool(gratuitous)), ("destination_only", Value::Bool(only))];
        let mut bench = Bench::new(&set);
        bench.seeks(None, &data(0, 9));
        let did = bench.only();
        assert_eq!((did.request().gratuitous, did.request().destination_only), (gratuitous, only));
    }
    let mut bench = Bench::new(&[]);
    bench.seeks(None, &data(0, 9));
    let did = bench.only();
    assert_eq!((did.request().gratuitous, did.request().destination_only), (true, false));
}

#[test]
fn rfc3561_6_3_no_more_than_ten_requests_leave_in_a_second() {
    let mut bench = Bench::new(&[("node_traversal_time", Value::Time(Dur::from_secs(1)))]);
    for node in 10..22 {
        assert!(bench.seeks(None, &data(0, node)));
    }
    assert_eq!(bench.did().len(), 10);
    bench.passes(999);
    assert_eq!(bench.did().len(), 0);
    bench.passes(1);
    let did = bench.did();
    assert_eq!(did.iter().map(|did| did.request().destination).collect::<Vec<_>>(), [ip(20), ip(21)]);
}

#[test]
fn rfc3561_6_3_waits_for_the_whole_network_double_and_after_two_more_attempts_packets_are_dropped() {
    let flood = Value::Int(35);
    let mut bench = Bench::new(&[("ttl_start", flood)]);
    // NET_TRAVERSAL_TIME = 2 * 40 ms * 35 = 2.8 s, then 5.6 s and 11.2 s.
    assert_eq!(rings(&mut bench), (vec![(0, 35), (2800, 35), (8400, 35)], 19_600));
    assert_eq!(bench.count("discoveries_failed"), 1);
}

#[test]
fn rfc3561_6_3_a_packet_after_a_search_in_vain_begins_another() {
    let mut bench = Bench::new(&[("ttl_start", Value::Int(35)), ("rreq_retries", Value::Int(0))]);
    assert_eq!(rings(&mut bench), (vec![(0, 35)], 2800));
    assert!(bench.seeks(None, &data(0, 9)));
    assert_eq!(bench.only().request().id, 2);
}

#[test]
fn rfc3561_6_3_any_control_message_with_a_route_ends_the_search() {
    let mut bench = Bench::new(&[]);
    bench.seeks(None, &data(0, 7));
    bench.did();
    bench.hears(1, 1, &request(7, 5, 1, 2, 30, None));
    assert_eq!(bench.only(), Did::Found(7));
    assert_eq!(bench.route(7), Some((Some(5), 3, 1)));
}

#[test]
fn rfc3561_6_3_packets_for_a_destination_that_is_sought_wait_without_a_second_search() {
    let mut bench = Bench::new(&[]);
    assert!(bench.seeks(None, &data(0, 9)));
    bench.did();
    assert!(bench.seeks(None, &data(0, 9)));
    assert_eq!(bench.did(), []);
}

#[test]
fn rfc3561_6_4_rings_of_ttl_1_3_5_7_wait_for_ring_traversal_time_then_the_network_is_searched() {
    let mut bench = Bench::new(&[]);
    // 2 * 40 ms * (TTL + 2): 240, 400, 560, 720 ms; then 2.8, 5.6 and 11.2 s.
    let sent = vec![(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35), (10_320, 35)];
    assert_eq!(rings(&mut bench), (sent, 21_520));
}

#[test]
fn rfc3561_6_4_the_timeout_buffer_is_configurable_and_may_be_none() {
    let mut bench = Bench::new(&[("timeout_buffer", Value::Int(0)), ("ttl_threshold", Value::Int(3))]);
    let (sent, _) = rings(&mut bench);
    assert_eq!(sent[..3], [(0, 1), (80, 3), (320, 35)]);
}

#[test]
fn rfc3561_6_4_a_route_that_was_known_is_sought_first_within_its_hop_count_and_an_increment() {
    for (hops, ttls) in [(3, [5, 7, 35]), (5, [7, 35, 35]), (6, [35, 35, 35])] {
        let mut bench = Bench::new(&[]);
        bench.learns(9, 10, hops, 1);
        bench.passes(6000);
        let (sent, _) = rings(&mut bench);
        assert_eq!(sent[..3].iter().map(|(_, ttl)| *ttl).collect::<Vec<_>>(), ttls);
    }
}

#[test]
fn rfc3561_6_4_a_route_that_has_ended_is_remembered_for_delete_period() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    // 6 s of life, then 5 * max(3 s, 1 s).
    bench.passes(6000 + 14_999);
    assert_eq!(bench.ended(9), Some(Some(11)));
    bench.passes(1);
    assert_eq!(bench.ended(9), None);
}

#[test]
fn rfc3561_6_4_a_route_that_is_sought_is_remembered_for_two_net_traversal_times() {
    let mut bench = Bench::new(&[("delete_period", Value::Time(Dur::from_secs(6)))]);
    bench.learns(9, 10, 3, 1);
    bench.passes(6000 + 5000);
    bench.seeks(None, &data(0, 9));
    // 2 * 2.8 s, and another request prolongs it.
    assert_eq!(bench.lasts(9), 5600);
    bench.passes(560);
    assert_eq!(bench.lasts(9), 5600);
}

#[test]
fn rfc3561_6_5_a_request_makes_a_reverse_route_with_the_originators_number_and_one_hop_more() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    assert_eq!(bench.route(7), Some((Some(33), 3, 1)));
    assert_eq!(bench.routes(Some(2), &data(2, 7)), Some(1), "packets may take it");
}

#[test]
fn rfc3561_6_5_a_request_is_known_again_for_path_discovery_time() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    assert_eq!(bench.passes(10).did().len(), 1);
    bench.hears(2, 9, &request(7, 33, 1, 0, 9, None));
    assert_eq!(bench.passes(10).did(), []);
    assert_eq!(bench.route(7), Some((Some(33), 3, 1)), "nor does it shorten the reverse route");
    // 2 * NET_TRAVERSAL_TIME.
    bench.passes(5600 - 21);
    bench.hears(2, 9, &request(7, 33, 1, 0, 9, None));
    assert_eq!(bench.passes(1).did(), []);
    bench.hears(2, 9, &request(7, 34, 1, 0, 9, None));
    assert_eq!(bench.passes(10).did().len(), 1);
}

#[test]
fn rfc3561_6_5_a_reverse_route_lasts_for_twice_the_net_traversal_less_the_way_so_far() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    // 2 * 2800 - 2 * 3 * 40.
    assert_eq!(bench.lasts(7), 5360);
}

#[test]
fn rfc3561_6_5_a_reverse_route_that_lasts_longer_is_not_cut_short() {
    let mut bench = Bench::new(&[]);
    bench.learns(7, 32, 3, 1);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    assert_eq!(bench.lasts(7), 6000);
}

#[test]
fn rfc3561_6_5_1_a_stale_number_of_the_originator_is_not_copied_and_its_way_not_taken() {
    let mut bench = Bench::new(&[]);
    bench.learns(7, 40, 3, 1);
    bench.hears(2, 9, &request(7, 33, 1, 0, 9, None));
    assert_eq!(bench.route(7), Some((Some(40), 3, 1)));
}

#[test]
fn rfc3561_6_5_a_request_is_passed_on_with_one_hop_more_and_a_ttl_of_one_less_within_the_jitter() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 4, 2, 9, None));
    assert_eq!(bench.did(), []);
    let did = bench.passes(10).only();
    assert_eq!(ttl(&did), 8);
    assert_eq!((did.request().hops, did.request().id, did.request().originator), (3, 4, ip(7)));
    assert_eq!(did.request().originator_number, Number(33));
}

#[test]
fn rfc3561_6_5_a_request_of_ttl_one_ends() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 1, &request(7, 33, 1, 2, 9, None));
    assert_eq!(bench.passes(100).did(), []);
    assert_eq!(bench.route(7), Some((Some(33), 3, 1)));
}

#[test]
fn rfc3561_6_5_the_highest_number_of_the_destination_travels_along_and_changes_no_table() {
    for (asked, sent) in [(None, 11), (Some(5), 11), (Some(50), 50)] {
        let mut bench = Bench::new(&[]);
        bench.learns(9, 10, 3, 1);
        bench.passes(6000);
        bench.hears(1, 9, &request(7, 33, 1, 2, 9, asked));
        assert_eq!(bench.passes(10).only().request().destination_number, Some(Number(sent)));
        assert_eq!(bench.ended(9), Some(Some(11)));
    }
}

#[test]
fn rfc3561_6_5_a_node_that_answers_does_not_pass_the_request_on() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 2, 0, None));
    assert_eq!(bench.only().reply().1, Some(1));
    assert_eq!(bench.passes(100).did(), []);
}

#[test]
fn reading_10_a_hop_count_that_cannot_be_counted_up_ends_a_request() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 255, 9, None));
    assert_eq!((bench.route(7), bench.passes(100).did()), (None, vec![]));
    bench.hears(1, 9, &reply(9, 10, 255, 0));
    assert_eq!(bench.route(9), None);
}
