//! @RFC4728 sec. 4.3, 8.2.1, 8.2.2: requests.

use crate::dsr_bench::{Bench, Did, control, data, error, ip, ips, request};
use net::router::dsr::Choice;
use plugin::Value;
use std::net::Ipv4Addr;
use units::Dur;

/// The times in ms, and the TTLs, of the requests until `end`.
fn requests(bench: &mut Bench, end: u64) -> Vec<(u64, u8)> {
    let mut sent = Vec::new();
    for ms in 0..end {
        for did in bench.did() {
            if let Did::Sent { ttl, .. } = did {
                sent.push((ms, ttl));
            }
        }
        bench.passes(1);
    }
    sent
}

#[test]
fn rfc4728_3_3_3_neighbours_alone_are_asked_first_then_the_network_after_30_ms() {
    let mut bench = Bench::at_once(&[]);
    assert!(bench.seeks(&data(0, 9)));
    // RequestPeriod 0.5 s, doubled each time, 10 s at most; patience 30 s.
    let want = [(0, 1), (30, 255), (530, 255), (1530, 255), (3530, 255), (7530, 255), (15_530, 255), (25_530, 255)];
    assert_eq!(requests(&mut bench, 60_000), want);
}

#[test]
fn rfc4728_8_2_1_a_request_goes_to_all_with_its_target_a_new_number_and_no_node_yet() {
    let mut bench = Bench::at_once(&[]);
    bench.seeks(&data(0, 9));
    let Did::Sent { dst, options, to, .. } = bench.only() else { panic!("a request") };
    let [Choice::Request(first)] = &options[..] else { panic!("{options:?}") };
    assert_eq!((dst, to, first.target, first.hops.len()), (Ipv4Addr::BROADCAST, None, ip(9), 0));
    let did = bench.passes(30).only();
    assert_eq!(did.request().0.id, first.id.wrapping_add(1));
}

#[test]
fn rfc4728_3_3_3_without_ring_zero_the_network_is_asked_at_once() {
    let mut bench = Bench::at_once(&[("ring_zero", Value::Bool(false)), ("discovery_hop_limit", Value::Int(7))]);
    bench.seeks(&data(0, 9));
    assert_eq!(requests(&mut bench, 1000), [(0, 7), (500, 7)]);
}

#[test]
fn rfc4728_8_2_one_discovery_serves_all_packets_for_a_target() {
    let mut bench = Bench::at_once(&[]);
    for _ in 0..3 {
        assert!(bench.seeks(&data(0, 9)));
    }
    assert_eq!((bench.did().len(), bench.count("discoveries")), (1, 1));
    assert!(bench.seeks(&data(0, 8)));
    assert_eq!((bench.did().len(), bench.count("discoveries")), (1, 2));
}

#[test]
fn rfc4728_4_3_the_wait_is_kept_beyond_a_discovery_until_a_reply_comes() {
    let mut bench = Bench::at_once(&[("send_buffer_timeout", Value::Time(Dur::from_ms(1000)))]);
    bench.seeks(&data(0, 9));
    // Asked at 0, 30 and 530 ms; the packet ends at 1000 ms, and the next request may go at 1530 ms.
    assert_eq!(bench.passes(1100).did().len(), 3);
    assert!(bench.seeks(&data(0, 9)), "packets wait");
    assert_eq!(bench.passes(429).did(), []);
    let did = bench.passes(1).only();
    assert_eq!((did.request().1, bench.now), (255, crate::dsr_bench::at(1530)));
    // A reply ends the wait: the next discovery begins with the neighbours.
    bench.answered(&[1, 9]);
    assert_eq!(bench.only(), Did::Found(9));
    bench.loses(1, &crate::dsr_bench::data_over(0, &[1], 9, 1, 0));
    bench.did();
    bench.seeks(&data(0, 9));
    assert_eq!(bench.only().request().1, 1);
}

#[test]
fn rfc4728_9_after_max_request_rexmt_the_packets_end() {
    let mut bench = Bench::at_once(&[("max_request_rexmt", Value::Int(1))]);
    bench.seeks(&data(0, 9));
    let did = bench.passes(1529).did();
    assert_eq!(did.len(), 3, "{did:?}");
    assert_eq!(bench.passes(1).only(), Did::Unreachable(9));
    assert_eq!(bench.count("discoveries_failed"), 1);
}

#[test]
fn rfc4728_8_2_nobody_seeks_itself_a_stranger_or_for_another() {
    let mut bench = Bench::at_once(&[]);
    let mut stranger = data(0, 9);
    stranger.ip.dst = Ipv4Addr::new(192, 0, 2, 1);
    assert!(!bench.seeks(&data(0, 0)) && !bench.seeks(&stranger));
    // A relay whose packet has nowhere to go.
    let mut packet = crate::dsr_bench::data_over(7, &[0], 9, 1, 0);
    assert_eq!(bench.sends(Some(7), &mut packet), Some(9));
    assert!(!net::Router::seek(&mut bench.router, bench.now, &packet, None, &mut net::Orders::default()));
    assert_eq!(bench.did(), []);
}

#[test]
fn rfc4728_8_2_2_a_relay_adds_itself_and_passes_the_request_on_with_a_lower_ttl() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 9, &[5], 8);
    let did = bench.only();
    let (passed, ttl) = did.request();
    assert_eq!((passed.id, passed.target, &passed.hops, ttl), (3, ip(9), &ips(&[5, 0]), 7));
    assert_eq!(bench.count("rreq_originated"), 0);
}

#[test]
fn rfc4728_8_2_2_a_request_is_passed_on_after_a_jitter_of_up_to_10_ms() {
    let mut waits = Vec::new();
    for id in 0..40 {
        let mut bench = Bench::new(&[]);
        // Draws differ by what was drawn before.
        (0..id).for_each(|other| bench.asked(8, other, 9, &[5], 8));
        bench.passes(100).did();
        bench.asked(7, 3, 9, &[5], 8);
        waits.push(
            (0..=11)
                .find(|_| {
                    bench.did().len() == 1 || {
                        bench.passes(1);
                        false
                    }
                })
                .expect("sent"),
        );
    }
    assert!(waits.iter().all(|ms| *ms <= 10) && waits.iter().any(|ms| *ms <= 3) && waits.iter().any(|ms| *ms >= 7));
}

#[test]
fn rfc4728_3_3_3_a_request_whose_ttl_is_over_is_not_passed_on() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 9, &[], 1);
    assert_eq!(bench.did(), []);
}

#[test]
fn rfc4728_8_2_2_a_request_is_passed_on_once_by_initiator_number_and_target() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 9, &[5], 8);
    bench.did();
    bench.asked(7, 3, 9, &[4], 8);
    assert_eq!(bench.did(), []);
    bench.asked(7, 3, 8, &[5], 8);
    assert_eq!(bench.did().len(), 1, "another target");
    bench.asked(6, 3, 9, &[5], 8);
    assert_eq!(bench.did().len(), 1, "another initiator");
}

#[test]
fn rfc4728_4_3_sixteen_requests_of_one_initiator_are_remembered() {
    let mut bench = Bench::at_once(&[]);
    (0..17).for_each(|id| bench.asked(7, id, 9, &[5], 8));
    bench.did();
    bench.asked(7, 1, 9, &[5], 8);
    assert_eq!(bench.did(), []);
    bench.asked(7, 0, 9, &[5], 8);
    assert_eq!(bench.did().len(), 1, "the oldest is forgotten");
}

#[test]
fn rfc4728_4_3_sixty_four_initiators_are_remembered_the_latest() {
    let mut bench = Bench::at_once(&[("cached_replies", Value::Bool(false))]);
    (10..75).for_each(|initiator| bench.asked(initiator, 1, 9, &[5], 8));
    bench.did();
    bench.asked(74, 1, 9, &[5], 8);
    assert_eq!(bench.did(), []);
    bench.asked(10, 1, 9, &[5], 8);
    assert_eq!(bench.did().len(), 1);
}

#[test]
fn rfc4728_8_2_2_a_request_that_was_here_ends() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 9, &[0, 5], 8);
    bench.asked(0, 4, 9, &[5], 8);
    assert_eq!((bench.did(), bench.count("refused")), (vec![], 0));
}

#[test]
fn a_request_in_anothers_name_or_with_a_node_twice_is_refused() {
    let mut bench = Bench::at_once(&[]);
    let packet = |hops: &[u32]| control(7, Ipv4Addr::BROADCAST, 9, vec![request(3, 9, hops)]);
    bench.gets(4, &packet(&[5]));
    bench.gets(5, &packet(&[]));
    bench.gets(5, &packet(&[5, 6, 5]));
    bench.gets(5, &packet(&[7, 5]));
    bench.gets(5, &packet(&[6, 9999, 5]));
    assert_eq!((bench.did(), bench.count("refused"), bench.way(7)), (vec![], 5, None));
}

#[test]
fn a_request_that_has_no_room_for_another_node_is_not_passed_on() {
    let mut bench = Bench::at_once(&[]);
    // 62 hops are the most: 61 nodes between the ends, this one among them.
    let sixty: Vec<u32> = (20..80).collect();
    bench.asked(7, 3, 9, &sixty, 200);
    assert_eq!(bench.only().request().0.hops.len(), 61);
    let one_more: Vec<u32> = (20..81).collect();
    bench.asked(7, 4, 9, &one_more, 200);
    assert_eq!(bench.did(), []);
}

#[test]
fn rfc4728_3_4_4_an_error_goes_with_the_next_requests_until_the_network_was_asked() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 9]);
    bench.gets(1, &control(1, ip(0), 9, vec![error(1, 2, 0)]));
    bench.seeks(&data(0, 9));
    let sent = bench.passes(1000).did();
    let errors = |did: &Did| match did {
        Did::Sent { options, .. } => options.iter().filter(|it| matches!(it, Choice::Error(_))).count(),
        other => panic!("{other:?}"),
    };
    assert_eq!(sent.iter().map(errors).collect::<Vec<_>>(), [1, 1, 0]);
}

#[test]
fn rfc4728_3_4_4_an_error_aboard_a_request_is_heeded_before_it_and_passed_on() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 9]);
    bench.gets(5, &control(5, Ipv4Addr::BROADCAST, 9, vec![error(1, 2, 5), request(3, 9, &[])]));
    let Did::Sent { options, to: None, .. } = bench.only() else { panic!("no reply: its way is broken") };
    assert_eq!(options, [error(1, 2, 5), request(3, 9, &[0])]);
}

#[test]
fn rfc4728_4_6_requests_of_a_neighbour_that_a_reply_did_not_reach_are_ignored_for_a_time() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 0, &[5], 8);
    let Did::Sent { options, dst, .. } = bench.only() else { panic!("a reply") };
    bench.loses(5, &control(0, dst, 9, options));
    bench.did();
    assert_eq!(bench.count("blacklisted"), 1);
    bench.asked(7, 4, 9, &[5], 8);
    assert_eq!(bench.did(), []);
    bench.asked(7, 4, 9, &[4], 8);
    assert_eq!(bench.did().len(), 1, "another neighbour's are not");
    bench.passes(500);
    bench.asked(7, 5, 9, &[5], 8);
    assert_eq!(bench.did().len(), 1);
}

#[test]
fn rfc4728_4_6_a_neighbour_that_passes_a_request_of_this_node_on_has_heard_it() {
    let mut bench = Bench::at_once(&[]);
    bench.asked(7, 3, 0, &[5], 8);
    let Did::Sent { options, dst, .. } = bench.only() else { panic!("a reply") };
    bench.loses(5, &control(0, dst, 9, options));
    bench.did();
    bench.asked(0, 1, 9, &[5], 8);
    bench.asked(7, 4, 9, &[5], 8);
    assert_eq!(bench.did().len(), 1);
}
