//! @RFC4728 sec. 8.2.3 to 8.2.6: replies.

use crate::dsr_bench::{Bench, Did, control, data, ip, ips, reply, route};
use net::router::dsr::Choice;
use plugin::Value;
use units::Dur;

#[test]
fn rfc4728_8_2_2_the_target_answers_with_the_whole_way_back_along_it() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 0, &[6, 5], 8);
    let did = bench.only();
    assert_eq!(did.reply(), (ips(&[6, 5, 0]), ip(7), ips(&[5, 6]), Some(5)));
}

#[test]
fn rfc4728_8_2_4_a_neighbour_is_answered_without_a_source_route() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 0, &[], 1);
    assert_eq!(bench.only().reply(), (ips(&[0]), ip(7), vec![], Some(7)));
}

#[test]
fn rfc4728_8_2_4_the_target_answers_every_request_that_reaches_it() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 0, &[6], 8);
    bench.asked(7, 3, 0, &[5], 8);
    assert_eq!((bench.did().len(), bench.count("rrep_sent")), (2, 2));
}

#[test]
fn rfc4728_8_2_4_the_target_waits_for_a_jitter() {
    let mut bench = Bench::new(&[("jitter", Value::Time(Dur::from_ms(10)))]);
    bench.asked(7, 3, 0, &[6], 8);
    assert_eq!(bench.did(), []);
    assert_eq!(bench.passes(10).did().len(), 1);
}

#[test]
fn rfc4728_8_2_3_a_relay_that_knows_a_way_answers_and_passes_nothing_on() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    bench.asked(7, 3, 9, &[6], 8);
    assert_eq!(bench.only().reply(), (ips(&[6, 0, 1, 9]), ip(7), ips(&[6]), Some(6)));
    assert_eq!(bench.count("rrep_cached"), 1);
}

#[test]
fn rfc4728_3_3_3_a_neighbour_answers_a_request_of_ttl_1_from_its_cache() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    bench.asked(7, 3, 9, &[], 1);
    assert_eq!(bench.only().reply(), (ips(&[0, 1, 9]), ip(7), vec![], Some(7)));
}

#[test]
fn rfc4728_8_2_3_a_way_that_would_hold_a_node_twice_is_not_told_and_another_is() {
    let mut bench = Bench::at_once(&[]);
    // The figure of 3.3.2: the request came over 6, and the way leads back to it.
    bench.learns(&[6, 9]);
    bench.asked(7, 3, 9, &[6], 8);
    assert_eq!(bench.only().request().0.hops, ips(&[6, 0]));
    bench.answered(&[4, 3, 9]);
    bench.asked(7, 4, 9, &[6], 8);
    assert_eq!(bench.only().reply().0, ips(&[6, 0, 4, 3, 9]));
    // Nor over the initiator.
    bench.asked(4, 5, 9, &[5], 8);
    assert_eq!(bench.only().reply().0, ips(&[5, 0, 6, 9]));
}

#[test]
fn rfc4728_8_2_3_without_cached_replies_the_target_alone_answers() {
    let mut bench = Bench::at_once(&[("cached_replies", Value::Bool(false))]);
    bench.learns(&[1, 9]);
    bench.asked(7, 3, 9, &[6], 8);
    assert_eq!(bench.only().request().0.hops, ips(&[6, 0]));
}

#[test]
fn rfc4728_8_2_5_a_reply_from_a_cache_waits_by_the_hops_that_it_tells_of() {
    let mut bench = Bench::new(&[("reply_delay", Value::Time(Dur::from_ms(100)))]);
    bench.learns(&[1, 9]);
    bench.asked(7, 3, 9, &[6], 8);
    // H (h - 1 + r) with h = 4: 300 to 400 ms.
    assert_eq!(bench.passes(300).did(), []);
    assert_eq!(bench.passes(100).did().len(), 1);
}

#[test]
fn rfc4728_8_2_6_a_reply_sends_what_waits_on_its_way() {
    let mut bench = Bench::at_once(&[]);
    bench.seeks(&data(0, 9));
    bench.did();
    bench.answered(&[1, 2, 9]);
    assert_eq!((bench.only(), bench.way(9)), (Did::Found(9), Some(vec![1, 2, 9])));
    assert_eq!(bench.passes(60_000).did(), [], "and nothing is sought any more");
}

#[test]
fn rfc4728_4_1_whatever_brings_a_way_sends_what_waits() {
    let mut bench = Bench::at_once(&[]);
    bench.seeks(&data(0, 7));
    bench.did();
    // 7 seeks somebody else.
    bench.asked(7, 3, 9, &[6], 8);
    assert_eq!(bench.did()[0], Did::Found(7));
}

#[test]
fn rfc4728_8_2_6_a_relay_takes_what_is_behind_it_and_passes_the_reply_on() {
    let mut bench = Bench::at_once(&[]);
    let back = Choice::Route(route(&[5, 0, 6], 2, 0));
    let mut packet = control(9, ip(7), 9, vec![back, reply(&[6, 0, 5, 9])]);
    assert_eq!(bench.sends(Some(5), &mut packet), Some(6));
    assert_eq!(crate::dsr_bench::route_of(&packet), Some(route(&[5, 0, 6], 1, 0)));
    assert_eq!(bench.way(9), Some(vec![5, 9]));
}

#[test]
fn a_reply_with_this_node_or_another_twice_is_of_no_use() {
    let mut bench = Bench::at_once(&[]);
    for way in [&[1, 0, 9][..], &[1, 2, 1, 9], &[0], &[1, 9999]] {
        bench.gets(1, &control(1, ip(0), 9, vec![reply(way)]));
    }
    assert_eq!((bench.way(9), bench.count("refused")), (None, 4));
}

#[test]
fn a_reply_in_anothers_name_is_refused() {
    let mut bench = Bench::at_once(&[]);
    bench.gets(2, &control(1, ip(0), 9, vec![reply(&[1, 9])]));
    assert_eq!((bench.way(9), bench.count("refused")), (None, 1));
}
