//! @RFC3561 sec. 6.1: sequence numbers; and sec. 6.2: route table entries and precursor lists.

use crate::aodv_bench::{Bench, Did, data, error, reply, request};
use net::router::aodv::Number;

#[test]
fn rfc3561_6_1_a_node_counts_its_number_up_before_each_request_of_its_own() {
    let mut bench = Bench::new(&[]);
    assert!(bench.seeks(None, &data(0, 9)));
    assert_eq!(bench.only().request().originator_number, Number(1));
    bench.passes(240);
    assert_eq!(bench.only().request().originator_number, Number(2));
}

#[test]
fn rfc3561_6_1_a_destination_answers_with_the_higher_of_its_own_number_and_the_requests() {
    for (own, asked, answered) in [(5, Some(9), 9), (5, Some(3), 5), (5, None, 5), (5, Some(5), 5)] {
        let mut bench = Bench::new(&[]);
        bench.router.set_number(Number(own));
        bench.hears(1, 1, &request(7, 1, 1, 2, 0, asked));
        assert_eq!(bench.only().reply().0.destination_number, Number(answered), "{own} {asked:?}");
        assert_eq!(bench.router.number(), Number(answered));
    }
}

#[test]
fn rfc3561_6_1_the_number_after_the_largest_is_zero_and_the_largest_positive_is_followed_by_the_most_negative() {
    for (own, next) in [(4_294_967_295, 0), (2_147_483_647, 2_147_483_648)] {
        let mut bench = Bench::new(&[]);
        bench.router.set_number(Number(own));
        bench.seeks(None, &data(0, 9));
        assert_eq!(bench.only().request().originator_number, Number(next));
    }
}

#[test]
fn rfc3561_6_1_numbers_are_compared_as_signed_differences_of_32_bits() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 4_294_967_295, 3, 1);
    // 0 - 4294967295 = 1: fresher.
    bench.hears(2, 35, &reply(9, 0, 5, 0));
    assert_eq!(bench.route(9), Some((Some(0), 6, 2)));
    // 2147483648 - 0 is -2147483648: stale.
    bench.hears(1, 35, &reply(9, 2_147_483_648, 0, 0));
    assert_eq!(bench.route(9), Some((Some(0), 6, 2)));
    // 2147483647 - 0: fresher.
    bench.hears(1, 35, &reply(9, 2_147_483_647, 7, 0));
    assert_eq!(bench.route(9), Some((Some(2_147_483_647), 8, 1)));
}

#[test]
fn rfc3561_6_1_stale_information_is_discarded_whatever_its_hop_count() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.hears(2, 35, &reply(9, 9, 0, 0));
    assert_eq!(bench.route(9), Some((Some(10), 3, 1)));
}

#[test]
fn rfc3561_6_1_a_lost_link_counts_up_the_number_of_each_destination_over_it_and_of_no_other() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.learns(8, 4_294_967_295, 2, 1);
    bench.learns(7, 20, 2, 2);
    bench.loses(1, &data(0, 9));
    assert_eq!((bench.ended(9), bench.ended(8)), (Some(Some(11)), Some(Some(0))));
    assert_eq!(bench.route(7), Some((Some(20), 2, 2)));
}

#[test]
fn rfc3561_6_1_a_route_whose_time_is_over_counts_its_number_up() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    // The reply's lifetime is 6 s.
    bench.passes(5_999);
    assert_eq!(bench.route(9), Some((Some(10), 3, 1)));
    bench.passes(1);
    assert_eq!((bench.route(9), bench.ended(9)), (None, Some(Some(11))));
}

#[test]
fn rfc3561_6_1_a_route_that_has_ended_takes_news_of_at_least_its_number() {
    for (number, is_taken) in [(10, false), (11, true), (12, true)] {
        let mut bench = Bench::new(&[]);
        bench.learns(9, 10, 3, 1);
        bench.loses(1, &data(4, 9));
        bench.hears(2, 35, &reply(9, number, 6, 0));
        assert_eq!(bench.route(9).is_some(), is_taken, "{number}");
    }
}

#[test]
fn rfc3561_6_2_a_control_packet_makes_an_entry_for_its_neighbour_without_a_number() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 1, &request(7, 1, 1, 2, 9, None));
    assert_eq!(bench.route(1), Some((None, 1, 1)));
    assert_eq!(bench.lasts(1), 3000);
    bench.hears(2, 1, &error(&[(8, 1)]));
    assert_eq!(bench.route(2), Some((None, 1, 2)));
}

#[test]
fn rfc3561_6_2_i_a_higher_number_wins_though_its_way_is_longer() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 2, 1);
    bench.hears(2, 35, &reply(9, 11, 8, 0));
    assert_eq!(bench.route(9), Some((Some(11), 9, 2)));
}

#[test]
fn rfc3561_6_2_ii_of_equal_numbers_the_shorter_way_wins_and_one_as_long_does_not() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 4, 1);
    bench.hears(2, 35, &reply(9, 10, 3, 0));
    assert_eq!(bench.route(9), Some((Some(10), 4, 1)));
    bench.hears(2, 35, &reply(9, 10, 2, 0));
    assert_eq!(bench.route(9), Some((Some(10), 3, 2)));
}

#[test]
fn rfc3561_6_2_iii_an_unknown_number_gives_way_to_any() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 1, &request(7, 1, 1, 2, 9, None));
    assert_eq!(bench.route(1), Some((None, 1, 1)));
    bench.hears(2, 35, &reply(1, 4_000_000_000, 1, 0));
    assert_eq!(bench.route(1), Some((Some(4_000_000_000), 2, 2)));
}

#[test]
fn rfc3561_6_2_a_route_that_comes_up_fulfils_the_search_for_it() {
    let mut bench = Bench::new(&[]);
    bench.seeks(None, &data(0, 1));
    bench.did();
    bench.hears(1, 1, &request(7, 1, 1, 2, 9, None));
    assert_eq!(bench.only(), Did::Found(1));
    assert_eq!(bench.routes(None, &data(0, 1)), Some(1));
    assert_eq!(bench.passes(5000).did(), [], "no further ring");
}

#[test]
fn rfc3561_6_2_a_packet_prolongs_the_routes_to_its_source_its_destination_and_both_hops() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.learns(7, 20, 2, 2);
    bench.passes(2999);
    // Both neighbours were heard 2999 ms ago, for 3 s; the replies were for 6 s.
    assert_eq!([1, 2, 9, 7].map(|node| bench.lasts(node)), [1, 1, 3001, 3001]);
    bench.passes(1);
    bench.hears(1, 1, &request(30, 1, 1, 0, 31, None));
    bench.hears(2, 1, &request(30, 1, 2, 0, 31, None));
    bench.did();
    bench.passes(2000);
    assert_eq!(bench.routes(Some(2), &data(7, 9)), Some(1));
    assert_eq!([1, 2, 9, 7].map(|node| bench.lasts(node)), [3000; 4]);
}

#[test]
fn rfc3561_6_2_a_life_that_is_longer_than_the_use_of_a_route_gives_it_stays() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.routes(None, &data(0, 9));
    assert_eq!(bench.lasts(9), 6000);
}

#[test]
fn rfc3561_6_2_precursors_are_the_neighbours_to_which_replies_were_sent_or_passed_on() {
    let mut bench = Bench::new(&[]);
    bench.hears(2, 9, &request(7, 1, 1, 0, 9, None));
    bench.passes(10).did();
    bench.hears(1, 35, &reply(9, 10, 2, 7));
    assert_eq!(bench.only().reply().1, Some(2));
    assert_eq!(bench.precursors(9), [2]);
    bench.hears(3, 9, &request(8, 1, 1, 0, 9, None));
    bench.did();
    assert_eq!(bench.precursors(9), [2, 3]);
}

#[test]
fn reading_1_a_neighbour_that_is_heard_keeps_its_number_and_is_one_hop_away() {
    let mut bench = Bench::new(&[]);
    bench.learns(3, 10, 4, 1);
    bench.hears(3, 1, &request(7, 1, 1, 2, 9, None));
    assert_eq!(bench.route(3), Some((Some(10), 1, 3)));
    bench.loses(3, &data(7, 3));
    bench.hears(3, 1, &request(7, 1, 2, 2, 9, None));
    assert_eq!(bench.route(3), Some((Some(11), 1, 3)));
    bench.hears(2, 35, &reply(3, 10, 0, 0));
    assert_eq!(bench.route(3), Some((Some(11), 1, 3)), "the letter of 6.7 (i) would take this");
}

#[test]
fn reading_7_a_packet_that_came_another_way_does_not_prolong_the_route_to_its_source() {
    let mut bench = Bench::new(&[]);
    bench.learns(9, 10, 3, 1);
    bench.learns(7, 20, 2, 2);
    bench.hears(3, 1, &request(30, 1, 1, 0, 31, None));
    bench.passes(4000);
    assert_eq!(bench.routes(Some(3), &data(7, 9)), Some(1));
    assert_eq!(bench.lasts(7), 2000);
    // What is remembered of a route that has ended is kept by what passes from its destination.
    bench.loses(2, &data(5, 7));
    bench.passes(2000);
    assert_eq!(bench.lasts(7), 13_000);
    bench.routes(Some(3), &data(7, 9));
    assert_eq!(bench.lasts(7), 15_000);
}

#[test]
fn reading_5_no_node_has_a_route_to_itself() {
    let mut bench = Bench::new(&[]);
    bench.hears(1, 35, &reply(0, 10, 2, 7));
    bench.hears(1, 9, &request(0, 50, 9, 2, 7, None));
    assert_eq!(bench.route(0), None);
    assert_eq!(bench.passes(100).did(), []);
    assert_eq!(bench.router.number(), Number(0));
}
