//! Networks at random: no loops, ever; and routes that heal.

use crate::air::{Air, Airborne};
use crate::aodv_bench::{ip, message};
use crate::bench::at;
use crate::restless::{MINUTE, heals, restless};
use engine::Stream;
use net::router::aodv::{Aodv, Message};
use plugin::Value;
use proptest::prelude::*;
use units::Dur;
use wire::Packet;

impl Airborne for Aodv {
    type Said = Option<Message>;
    /// The nodes of a loop, and its destination.
    type Loop = (Vec<usize>, usize);

    fn is_control(packet: &Packet) -> bool {
        message(packet).is_some()
    }

    fn said(packet: &Packet) -> Option<Message> {
        message(packet)
    }

    fn loop_of_routes(air: &mut Air<Aodv>) -> Option<(Vec<usize>, usize)> {
        let (now, nodes) = (air.now, air.len());
        for destination in 0..nodes {
            let next: Vec<Option<usize>> = (0..nodes)
                .map(|node| {
                    if air.is_dead(node) || node == destination {
                        return None;
                    }
                    let route = air.router(node).route(now, ip(destination as u32))?;
                    route.is_valid.then_some(route.next.1.index())
                })
                .collect();
            for start in 0..nodes {
                let (mut way, mut here) = (vec![start], start);
                while let Some(there) = next[here] {
                    if way.len() > nodes {
                        return Some((way, destination));
                    }
                    way.push(there);
                    here = there;
                }
            }
        }
        None
    }
}

#[test]
fn three_rings_reach_a_destination_four_hops_away_by_eight_requests_and_four_replies() {
    let mut air = Air::<Aodv>::string(5, &[]);
    air.offer(at(0), 0, 4, Dur::from_secs(100), at(0));
    assert_eq!(air.run(at(2000)), None);
    let count = |is: fn(&Message) -> bool| air.frames.iter().filter(|it| it.said.as_ref().is_some_and(is)).count();
    // Rings of TTL 1, 3, 5: 1 + 3 + 4 requests, since the destination passes none on.
    assert_eq!(count(|message| matches!(message, Message::Request(_))), 8);
    assert_eq!(count(|message| matches!(message, Message::Reply(_))), 4);
    // 2 * 40 ms * (1 + 2) and 2 * 40 ms * (3 + 2) in vain.
    let third = air.frames.iter().filter(|it| it.from == 0 && it.said.is_some()).nth(2).expect("a third ring");
    assert_eq!(third.at, at(640));
    assert_eq!(air.delivered.len(), 1);
}

/// Settings at random, most of them the RFC's.
fn settings(draws: &mut Stream) -> Vec<(&'static str, Value)> {
    let mut set = Vec::new();
    for key in ["hello", "local_repair", "rrep_ack", "destination_only"] {
        if draws.chance(0.25) {
            set.push((key, Value::Bool(true)));
        }
    }
    if draws.chance(0.5) {
        set.push(("gratuitous_rrep", Value::Bool(false)));
    }
    if draws.chance(0.3) {
        set.push(("active_route_timeout", Value::Time(Dur::from_ms(2500))));
    }
    if draws.chance(0.5) {
        set.push(("ttl_start", Value::Int(7)));
    }
    set
}

/// A network that changes all the time, with these settings besides those at random.
fn restless_with(seed: u64, more: &[(&'static str, Value)]) -> Air<Aodv> {
    restless(seed, true, |draws| [&settings(draws), more].concat())
}

proptest! {
    // `make validate` has 10 000 cases: PROPTEST_CASES.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_next_hops_ever_form_a_loop(seed: u64) {
        let found = restless_with(seed, &[]).run(MINUTE);
        prop_assert_eq!(found, None);
    }

    #[test]
    fn a_route_heals_once_a_way_stands_while_its_source_keeps_offering(seed: u64) {
        // 1.92 s of rings in vain and 4 * NET_TRAVERSAL_TIME; up to 100 ms to the next packet; 7 hops of 11 ms for a request, of
        // 1 ms each for the reply and the packet.
        heals::<Aodv>(restless(seed, false, settings), Dur::from_ms(13_200 + 100 + 7 * 13))?;
    }
}

#[test]
fn without_sequence_numbers_next_hops_do_form_loops() {
    let has_loop = |seed: &u64| {
        let mut air = restless_with(*seed, &[]);
        (0..air.len()).for_each(|node| air.router(node).ignore_numbers());
        air.run(MINUTE).is_some()
    };
    let loops = (0..20).filter(has_loop).count();
    assert!(loops > 0, "the test finds no loop where there must be some");
}

#[test]
fn where_routes_that_end_keep_their_numbers_next_hops_do_form_loops() {
    // @RFC3561 sec. 6.11 counts them up; ns-3 3.37 does not.
    let kept = [("counts_up", Value::Bool(false))];
    let has_loop = |seed: &u64| restless_with(*seed, &kept).run(MINUTE).is_some();
    assert!((0..100).any(|seed| has_loop(&seed)), "no loop is found where there must be some");
}
