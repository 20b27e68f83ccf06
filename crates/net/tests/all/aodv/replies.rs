//! @RFC3561 sec. 6.6: who answers, and what; sec. 6.7: replies of others.

use crate::aodv_bench::{Bench, Did, data, ip, reply, request};
use net::router::aodv::{Message, Number};
use plugin::Value;

fn with_g(message: Message) -> Message {
    match message {
        Message::Request(mut asked) => {
            asked.gratuitous = true;
            Message::Request(asked)
        }
        other => other,
    }
}

#[test]
fn rfc3561_6_6_i_the_destination_answers_the_neighbour_on_the_way_back() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 2, 0, None));
    let did = bench.only();
    let (answer, to) = did.reply();
    assert_eq!((to, answer.destination, answer.originator), (Some(1), ip(0), ip(7)));
}

#[test]
fn rfc3561_6_6_ii_a_relay_with_a_route_of_the_same_or_a_higher_number_answers() {
    for (asked, answers) in [(None, true), (Some(9), true), (Some(10), true), (Some(11), false)] {
        let mut bench = Bench::new(&[]);
        bench.learns(9, 10, 3, 2);
        bench.hears(1, 9, &request(7, 33, 1, 2, 9, asked));
        let did = bench.passes(10).only();
        let is_answer = matches!(did, Did::Sent { message: Message::Reply(_), .. });
        assert_eq!(is_answer, answers, "{asked:?}");
    }
}

#[test]
fn rfc3561_6_6_ii_a_relay_does_not_answer_with_a_route_that_has_ended() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 2);
    bench.passes(6000);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    bench.passes(10).only().request();
}

#[test]
fn rfc3561_6_6_ii_a_relay_does_not_answer_without_a_number() {
    let mut bench = Bench::new(&[]);
    bench.hears(2, 1, &request(30, 1, 1, 0, 31, None));
    assert_eq!(bench.route(2), Some((None, 1, 2)));
    bench.hears(1, 9, &request(7, 33, 1, 2, 2, None));
    bench.passes(10).only().request();
}

#[test]
fn rfc3561_6_6_ii_the_d_flag_leaves_the_answer_to_the_destination() {
    let Message::Request(mut asked) = request(7, 33, 1, 2, 9, None) else { unreachable!() };
    asked.destination_only = true;
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 2);
    bench.hears(1, 9, &Message::Request(asked));
    let did = bench.passes(10).only();
    assert!(did.request().destination_only);
    assert_eq!(did.request().destination_number, Some(Number(10)));
}

#[test]
fn rfc3561_6_6_1_a_destination_counts_up_if_the_request_has_that_number_and_else_keeps_its_own() {
    for (asked, number) in [(Some(6), 6), (Some(4), 5), (None, 5)] {
        let mut bench = Bench::new(&[]);
        bench.router.set_number(Number(5));
        bench.hears(1, 9, &request(7, 33, 1, 2, 0, asked));
        assert_eq!(bench.only().reply().0.destination_number, Number(number));
    }
}

#[test]
fn rfc3561_6_6_1_a_destination_answers_with_no_hops_and_my_route_timeout() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 9, &request(7, 33, 1, 2, 0, None));
    let did = bench.only();
    // 2 * ACTIVE_ROUTE_TIMEOUT.
    assert_eq!((did.reply().0.hops, did.reply().0.lifetime_ms, did.reply().0.prefix), (0, 6000, 0));
}

#[test]
fn rfc3561_6_6_2_a_relay_answers_with_its_hops_its_number_and_the_life_that_is_left() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 2);
    bench.passes(2500);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, Some(4)));
    let did = bench.only();
    let (answer, to) = did.reply();
    assert_eq!((answer.hops, answer.destination_number, answer.lifetime_ms, to), (3, Number(10), 3500, Some(1)));
}

#[test]
fn rfc3561_6_6_2_the_last_hop_is_a_precursor_forth_and_the_next_hop_one_back() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 2);
    bench.hears(1, 9, &request(7, 33, 1, 2, 9, None));
    assert_eq!((bench.precursors(9), bench.precursors(7)), (vec![1], vec![2]));
}

#[test]
fn rfc3561_6_6_3_a_relay_that_answers_tells_the_destination_if_the_g_flag_asks_for_it() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 2);
    bench.hears(1, 9, &with_g(request(7, 33, 1, 2, 9, None)));
    let did = bench.did();
    assert_eq!((did[0].reply().1, did[1].reply().1, did.len()), (Some(1), Some(2), 2));
    let told = did[1].reply().0;
    // Hops and life of the reverse route: 3, and 2 * 2800 - 2 * 3 * 40 ms.
    assert_eq!((told.hops, told.destination, told.originator), (3, ip(7), ip(9)));
    assert_eq!((told.destination_number, told.lifetime_ms), (Number(33), 5360));
    assert_eq!(bench.count("rrep_gratuitous"), 1);
}

#[test]
fn rfc3561_6_6_3_the_answer_is_the_same_without_the_g_flag_and_nobody_else_is_told() {
    let answers = [true, false].map(|g| {
        let mut bench = Bench::new(&[]);
        bench.learns(9, 10, 3, 2);
        let asked = request(7, 33, 1, 2, 9, None);
        bench.hears(1, 9, &if g { with_g(asked) } else { asked });
        let mut did = bench.did();
        (did.len(), did.remove(0))
    });
    assert_eq!((answers[0].0, answers[1].0), (2, 1));
    assert_eq!(answers[0].1, answers[1].1);
}

#[test]
fn rfc3561_6_7_a_reply_makes_routes_to_its_neighbour_and_to_its_destination_with_one_hop_more() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 35, &reply(9, 10, 2, 0));
    assert_eq!((bench.route(1), bench.route(9)), (Some((None, 1, 1)), Some((Some(10), 3, 1))));
    assert_eq!(bench.lasts(9), 6000);
}

#[test]
fn rfc3561_6_7_i_a_route_without_a_number_is_updated() {
    let mut bench = Bench::new(&[]);
    bench.hears(9, 1, &request(30, 1, 1, 0, 31, None));
    bench.hears(1, 35, &reply(9, 10, 2, 0));
    assert_eq!(bench.route(9), Some((Some(10), 3, 1)));
}

#[test]
fn rfc3561_6_7_ii_a_higher_number_updates_and_sets_the_expiry_to_the_replys() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    let Message::Reply(mut news) = reply(9, 11, 5, 0) else { unreachable!() };
    news.lifetime_ms = 4000;
    bench.hears(2, 35, &Message::Reply(news));
    assert_eq!((bench.route(9), bench.lasts(9)), (Some((Some(11), 6, 2)), 4000));
}

#[test]
fn rfc3561_6_7_iii_the_same_number_updates_a_route_that_has_ended() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.loses(1, &data(5, 9));
    bench.hears(2, 35, &reply(9, 11, 5, 0));
    assert_eq!(bench.route(9), Some((Some(11), 6, 2)));
}

#[test]
fn rfc3561_6_7_iv_the_same_number_updates_if_the_new_hop_count_is_smaller() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.hears(2, 35, &reply(9, 10, 2, 0));
    assert_eq!(bench.route(9), Some((Some(10), 3, 1)));
    bench.hears(2, 35, &reply(9, 10, 1, 0));
    assert_eq!(bench.route(9), Some((Some(10), 2, 2)));
}

#[test]
fn rfc3561_6_7_a_reply_is_passed_on_to_its_originator_with_one_hop_more() {
    let mut bench = Bench::new(&[]);
    bench.hears(2, 9, &request(7, 33, 1, 1, 9, None));
    bench.passes(10).did();
    bench.hears(1, 35, &reply(9, 10, 2, 7));
    let did = bench.only();
    let (passed, to) = did.reply();
    assert_eq!((passed.hops, passed.lifetime_ms, to), (3, 6000, Some(2)));
    assert_eq!((passed.destination, passed.originator), (ip(9), ip(7)));
}

#[test]
fn rfc3561_6_7_a_reply_that_updates_nothing_is_not_passed_on() {
    let mut bench = Bench::new(&[]);
    bench.hears(2, 9, &request(7, 33, 1, 1, 9, None));
    bench.passes(10).did();
    bench.hears(1, 35, &reply(9, 10, 2, 7));
    bench.did();
    bench.hears(3, 35, &reply(9, 10, 2, 7));
    assert_eq!(bench.did(), []);
}

#[test]
fn rfc3561_6_7_a_reply_whose_originator_has_no_route_ends() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 35, &reply(9, 10, 2, 7));
    assert_eq!(bench.did(), []);
    assert_eq!(bench.route(9), Some((Some(10), 3, 1)));
}

#[test]
fn rfc3561_6_7_a_reply_that_is_passed_on_prolongs_the_reverse_route_and_notes_both_precursors() {
    let mut bench = Bench::new(&[]);
    bench.hears(2, 9, &request(7, 33, 1, 1, 9, None));
    bench.passes(4000).did();
    // 2 * 2800 - 2 * 2 * 40 - 4000.
    assert_eq!(bench.lasts(7), 1440);
    bench.hears(1, 35, &reply(9, 10, 2, 7));
    assert_eq!(bench.lasts(7), 3000);
    assert_eq!((bench.precursors(9), bench.precursors(1), bench.precursors(7)), (vec![2], vec![2], vec![1]));
}

#[test]
fn rfc3561_6_7_a_reply_over_a_link_in_doubt_asks_for_an_acknowledgement() {
    for asks in [false, true] {
        let mut bench = Bench::new(&[("rrep_ack", Value::Bool(asks))]);
        bench.hears(1, 9, &request(7, 33, 1, 2, 0, None));
        assert_eq!(bench.only().reply().0.wants_ack, asks);
    }
}

#[test]
fn reading_8_a_lifetime_counts_up_to_delete_period() {
    let Message::Reply(mut long) = reply(9, 11, 5, 0) else { unreachable!() };
    long.lifetime_ms = u32::MAX;
    let mut bench = Bench::new(&[]);
    bench.hears(1, 35, &Message::Reply(long));
    assert_eq!(bench.lasts(9), 15_000);
}

#[test]
fn reading_11_a_reply_that_confirms_the_route_as_it_is_is_passed_on() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 1, 9);
    bench.passes(1000);
    let Message::Request(mut asked) = request(7, 33, 1, 2, 9, Some(10)) else { unreachable!() };
    asked.destination_only = true;
    bench.hears(1, 9, &Message::Request(asked));
    bench.passes(10).did();
    bench.hears(9, 35, &reply(9, 10, 0, 7));
    assert_eq!(bench.only().reply().1, Some(1));
    assert_eq!(bench.lasts(9), 6000);
}
