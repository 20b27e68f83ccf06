//! @RFC4728 sec. 4.1: the route cache, by paths.

use crate::dsr_bench::{Bench, control, data_over, error, ip, reply};
use plugin::Value;

#[test]
fn rfc4728_4_1_the_shortest_of_several_ways_is_taken_and_of_equals_the_first() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 3, 9]);
    bench.answered(&[4, 5, 9]);
    assert_eq!(bench.way(9), Some(vec![4, 5, 9]));
    bench.answered(&[6, 7, 9]);
    assert_eq!(bench.way(9), Some(vec![4, 5, 9]));
}

#[test]
fn rfc4728_4_1_the_beginning_of_a_path_is_a_way_to_each_of_its_nodes() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 3]);
    assert_eq!((bench.way(1), bench.way(2)), (Some(vec![1]), Some(vec![1, 2])));
}

#[test]
fn rfc4728_4_1_several_ways_to_one_node_are_kept() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    bench.answered(&[2, 3, 9]);
    bench.loses(1, &data_over(0, &[1], 9, 1, 0));
    assert_eq!(bench.way(9), Some(vec![2, 3, 9]));
}

#[test]
fn rfc4728_9_a_path_that_is_not_used_is_forgotten_after_300_s_and_one_that_is_lives_on() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    bench.passes(299_999);
    assert_eq!(bench.way(9), Some(vec![1, 9]), "and this is a use");
    bench.passes(299_999);
    assert_eq!(bench.way(9), Some(vec![1, 9]));
    bench.passes(300_000);
    assert_eq!(bench.way(9), None);
}

#[test]
fn rfc4728_4_1_the_path_that_was_used_longest_ago_makes_room() {
    let mut bench = Bench::at_once(&[("own_paths", Value::Int(2)), ("passing_paths", Value::Int(1))]);
    // Passing paths to the repliers are in a list of their own.
    bench.learns(&[1]);
    bench.learns(&[2]);
    assert_eq!(bench.way(1), Some(vec![1]), "used last");
    bench.learns(&[3]);
    assert_eq!((bench.way(1), bench.way(2), bench.way(3)), (Some(vec![1]), None, Some(vec![3])));
}

#[test]
fn rfc4728_4_1_what_passes_drives_nothing_out_that_was_asked_for() {
    let mut bench = Bench::at_once(&[("own_paths", Value::Int(1)), ("passing_paths", Value::Int(2))]);
    bench.learns(&[1, 9]);
    for source in 20..30 {
        let mut packet = data_over(source, &[0], 40, 1, 0);
        assert_eq!(bench.sends(Some(source), &mut packet), Some(40));
    }
    assert_eq!(bench.way(9), Some(vec![1, 9]));
    let [paths, ..] = bench.router.sizes();
    assert_eq!(paths, 3);
}

#[test]
fn rfc4728_3_3_1_a_relay_caches_the_way_of_a_packet_in_both_directions() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data_over(7, &[6, 0, 3], 9, 2, 0);
    assert_eq!(bench.sends(Some(6), &mut packet), Some(3));
    assert_eq!((bench.way(9), bench.way(7)), (Some(vec![3, 9]), Some(vec![6, 7])));
}

#[test]
fn rfc4728_3_3_1_of_a_packet_with_a_reply_only_the_way_that_it_has_come_is_cached() {
    let mut bench = Bench::at_once(&[]);
    // 7 asked for 9; the reply goes 9, 5, 0, 6, 7.
    let route = net::router::dsr::Choice::Route(crate::dsr_bench::route(&[5, 0, 6], 2, 0));
    let mut packet = control(9, ip(7), 9, vec![route, reply(&[6, 0, 5, 9])]);
    assert_eq!(bench.sends(Some(5), &mut packet), Some(6));
    assert_eq!(bench.way(9), Some(vec![5, 9]));
    assert_eq!((bench.way(6), bench.way(7)), (None, None), "whether they hear is what the reply finds out");
}

#[test]
fn rfc4728_8_1_4_the_way_of_a_request_is_cached_reversed() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 1, 9, &[6, 5], 9);
    assert_eq!((bench.way(7), bench.way(6)), (Some(vec![5, 6, 7]), Some(vec![5, 6])));
}

#[test]
fn rfc4728_8_1_4_of_a_salvaged_packet_no_link_leads_from_its_source_to_the_list() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data_over(7, &[6, 0], 9, 1, 1);
    assert_eq!(bench.sends(Some(6), &mut packet), Some(9));
    assert_eq!((bench.way(6), bench.way(7)), (Some(vec![6]), None));
}

#[test]
fn rfc4728_8_3_5_paths_are_cut_before_a_link_that_is_broken() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 3, 9]);
    bench.gets(1, &control(1, ip(0), 9, vec![error(2, 3, 0)]));
    assert_eq!((bench.way(9), bench.way(3), bench.way(2)), (None, None, Some(vec![1, 2])));
}

#[test]
fn rfc4728_8_3_5_the_same_link_the_other_way_round_stays() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 3, 9]);
    bench.gets(1, &control(1, ip(0), 9, vec![error(3, 2, 0)]));
    assert_eq!(bench.way(9), Some(vec![1, 2, 3, 9]));
}

#[test]
fn a_way_over_an_external_link_is_not_cached() {
    let mut bench = Bench::at_once(&[]);
    let external = net::router::dsr::Reply { is_last_external: true, hops: crate::dsr_bench::ips(&[1, 9]) };
    bench.gets(1, &control(1, ip(0), 9, vec![net::router::dsr::Choice::Reply(external)]));
    assert_eq!(bench.way(9), None);
}

#[test]
fn a_restart_forgets_all() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    net::Router::restart(&mut bench.router, bench.now, &mut net::Orders::default());
    assert_eq!((bench.way(9), bench.router.sizes()), (None, [0; 4]));
}
