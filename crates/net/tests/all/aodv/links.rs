//! @RFC3561 sec. 6.8: links of one direction; sec. 6.9: Hello messages; sec. 6.10: links that are lost.

use crate::aodv_bench::{Bench, Did, control, data, ip, reply, request};
use net::router::aodv::{Message, Reply};
use plugin::Value;
use std::net::Ipv4Addr;
use units::Dur;

/// A neighbour says Hello, with a life of 2 s.
fn hello(bench: &mut Bench, from: u32, number: u32, interval_ms: Option<u32>) {
    let Message::Reply(it) = reply(from, number, 0, from) else { unreachable!() };
    let message = Message::Reply(Reply { lifetime_ms: 2000, hello_interval_ms: interval_ms, ..it });
    bench.gets(from, &control(ip(from), Ipv4Addr::BROADCAST, 1, &message.bytes()));
}

const HELLO: (&str, Value) = ("hello", Value::Bool(true));

#[test]
fn rfc3561_6_8_requests_of_a_neighbour_that_a_reply_did_not_reach_are_ignored_for_blacklist_timeout() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 2, 0, None));
    let Did::Sent { message, .. } = bench.only() else { panic!("a reply") };
    bench.loses(1, &control(ip(0), ip(1), 35, &message.bytes()));
    bench.did();
    bench.hears(1, 9, &request(7, 34, 2, 2, 0, None));
    assert_eq!((bench.did(), bench.route(1)), (vec![], None));
    bench.hears(2, 9, &request(7, 34, 2, 2, 0, None));
    assert_eq!(bench.only().reply().1, Some(2), "another neighbour's are not");
    // RREQ_RETRIES * NET_TRAVERSAL_TIME = 2 * 2.8 s.
    bench.passes(5599);
    bench.hears(1, 9, &request(7, 35, 3, 2, 0, None));
    assert_eq!(bench.did(), []);
    bench.passes(1);
    bench.hears(1, 9, &request(7, 36, 4, 2, 0, None));
    assert_eq!(bench.only().reply().1, Some(1));
    assert_eq!(bench.count("blacklisted"), 1);
}

#[test]
fn rfc3561_6_8_data_that_is_lost_puts_nobody_on_the_blacklist() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.loses(1, &data(5, 9));
    bench.did();
    bench.hears(1, 9, &request(7, 33, 1, 2, 0, None));
    assert_eq!(bench.only().reply().1, Some(1));
}

#[test]
fn rfc3561_6_8_a_missing_acknowledgement_puts_the_neighbour_on_the_blacklist_after_next_hop_wait() {
    for acknowledged in [true, false] {
        let mut bench = Bench::new(&[("rrep_ack", Value::Bool(true))]);
        bench.hears(1, 9, &request(7, 33, 1, 2, 0, None));
        bench.did();
        // NODE_TRAVERSAL_TIME + 10 ms.
        bench.passes(49);
        if acknowledged {
            bench.hears(1, 1, &Message::ReplyAck);
        }
        bench.passes(1);
        assert_eq!(bench.count("blacklisted"), u64::from(!acknowledged));
        bench.hears(1, 9, &request(7, 34, 2, 2, 0, None));
        assert_eq!(bench.did().len(), usize::from(acknowledged));
    }
}

#[test]
fn rfc3561_5_4_a_reply_with_the_a_bit_is_acknowledged_by_its_receiver() {
    let Message::Reply(mut asks) = reply(9, 10, 2, 0) else { unreachable!() };
    asks.wants_ack = true;
    let mut bench = Bench::new(&[]);
    bench.hears(1, 35, &Message::Reply(asks));
    assert_eq!(bench.only(), Did::Sent { message: Message::ReplyAck, ttl: 1, to: Some(1) });
}

#[test]
fn rfc3561_6_9_no_hello_is_said_unless_a_scenario_asks_for_it() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    assert_eq!(bench.passes(5000).did(), []);
}

#[test]
fn rfc3561_6_9_a_node_on_an_active_route_says_hello_every_interval_and_another_is_silent() {
    let mut bench = Bench::new(&[HELLO]);
    assert_eq!(bench.passes(5000).did(), []);
    bench.learns(9, 10, 3, 1);
    let did = bench.passes(3000).did();
    assert_eq!(did.len(), 3);
    let (said, to) = did[0].reply();
    assert_eq!((to, said.destination, said.hops, said.lifetime_ms), (None, ip(0), 0, 2000));
    assert_eq!((said.destination_number.0, said.hello_interval_ms), (0, None));
    assert!(matches!(did[0], Did::Sent { ttl: 1, .. }));
    assert_eq!(bench.count("hello_sent"), 3);
}

#[test]
fn rfc3561_6_9_a_broadcast_within_the_interval_stands_for_hello() {
    let mut bench = Bench::new(&[HELLO, ("ttl_start", Value::Int(35))]);
    bench.learns(9, 10, 3, 1);
    // The first Hello is within the first second; the request comes before it.
    bench.seeks(None, &data(0, 30));
    bench.did();
    assert_eq!(bench.passes(999).did(), []);
    assert_eq!(bench.passes(1001).did().len(), 1);
}

#[test]
fn rfc3561_6_9_a_hello_makes_a_route_to_its_neighbour_with_its_latest_number() {
    let mut bench = Bench::new(&[HELLO]);
    hello(&mut bench, 3, 7, None);
    assert_eq!((bench.route(3), bench.lasts(3)), (Some((Some(7), 1, 3)), 2000));
    hello(&mut bench, 3, 9, None);
    assert_eq!(bench.route(3), Some((Some(9), 1, 3)));
    assert_eq!(bench.routes(None, &data(0, 3)), Some(3));
    // A longer life is not cut short.
    hello(&mut bench, 3, 9, None);
    assert_eq!(bench.lasts(3), 3000);
}

#[test]
fn rfc3561_6_9_a_neighbour_that_said_hello_and_is_silent_for_two_intervals_is_lost() {
    let mut bench = Bench::new(&[HELLO]);
    hello(&mut bench, 2, 7, None);
    bench.learns(9, 10, 3, 2);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    bench.did();
    bench.passes(1999);
    assert!(bench.route(9).is_some());
    let did = bench.passes(1).did();
    assert_eq!(bench.ended(9), Some(Some(11)));
    let error = did.iter().find(|did| matches!(did, Did::Sent { message: Message::Error(_), .. }));
    assert_eq!(error.expect("an error").error().1, Some(1));
}

#[test]
fn rfc3561_6_9_any_control_packet_of_a_neighbour_counts_as_a_sign_of_life() {
    let mut bench = Bench::new(&[HELLO]);
    hello(&mut bench, 2, 7, None);
    bench.learns(9, 10, 3, 2);
    bench.passes(1500);
    bench.hears(2, 1, &request(30, 1, 1, 0, 31, None));
    bench.passes(1999);
    assert!(bench.route(9).is_some());
    bench.passes(1);
    assert!(bench.route(9).is_none());
}

#[test]
fn rfc3561_6_9_a_route_that_hello_made_and_nobody_uses_ends_without_an_error() {
    let mut bench = Bench::new(&[HELLO]);
    hello(&mut bench, 2, 7, None);
    let did = bench.passes(2000).did();
    assert!(did.iter().all(|did| !matches!(did, Did::Sent { message: Message::Error(_), .. })), "{did:?}");
    assert_eq!(bench.route(2), None);
}

#[test]
fn rfc3561_9_1_an_interval_other_than_the_default_is_told_and_heeded() {
    let mut bench = Bench::new(&[HELLO, ("hello_interval", Value::Time(Dur::from_ms(500)))]);
    bench.learns(9, 10, 3, 1);
    let did = bench.passes(500).only();
    assert_eq!((did.reply().0.hello_interval_ms, did.reply().0.lifetime_ms), (Some(500), 1000));
    hello(&mut bench, 2, 7, Some(4000));
    // Two intervals of that neighbour.
    assert_eq!(bench.lasts(2), 8000);
}

#[test]
fn rfc3561_6_10_a_packet_that_the_mac_gave_up_ends_all_routes_over_that_neighbour_and_recalls_what_is_queued() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.learns(8, 10, 2, 1);
    bench.learns(7, 20, 2, 2);
    bench.loses(1, &data(5, 9));
    assert_eq!(bench.did(), [Did::Recall(1)]);
    assert_eq!([9, 8, 1, 7].map(|node| bench.route(node).is_some()), [false, false, false, true]);
    assert_eq!(bench.count("link_failures"), 1);
    bench.loses(1, &data(5, 9));
    assert_eq!(bench.did(), [], "what was in service fails too, and there is nothing left to do");
}

#[test]
fn choice_a_source_keeps_its_packet_that_was_given_up_and_seeks_another_way() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.loses(1, &data(0, 9));
    let did = bench.did();
    assert_eq!((did[0].clone(), did[2].clone(), did.len()), (Did::Recall(1), Did::Hold(ip(9)), 3));
    assert_eq!(did[1].request().destination_number.map(|number| number.0), Some(11));
}
