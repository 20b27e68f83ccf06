//! Networks at random: no loops, ever; and routes that heal.

use crate::aodv_air::Air;
use crate::aodv_bench::at;
use engine::{Purpose, Stream, Streams};
use net::router::aodv::Message;
use plugin::Value;
use proptest::prelude::*;
use units::{Dur, SimTime};

#[test]
fn three_rings_reach_a_destination_four_hops_away_by_eight_requests_and_four_replies() {
    let mut air = Air::string(5, &[]);
    air.offer(at(0), 0, 4, Dur::from_secs(100), at(0));
    assert_eq!(air.run(at(2000)), None);
    let count = |is: fn(&Message) -> bool| air.frames.iter().filter(|it| it.message.as_ref().is_some_and(is)).count();
    // Rings of TTL 1, 3, 5: 1 + 3 + 4 requests, since the destination passes none on.
    assert_eq!(count(|message| matches!(message, Message::Request(_))), 8);
    assert_eq!(count(|message| matches!(message, Message::Reply(_))), 4);
    // 2 * 40 ms * (1 + 2) and 2 * 40 ms * (3 + 2) in vain.
    let third = air.frames.iter().filter(|it| it.from == 0 && it.message.is_some()).nth(2).expect("a third ring");
    assert_eq!(third.at, at(640));
    assert_eq!(air.delivered.len(), 1);
}

fn ms(draws: &mut Stream, low: u32, high: u32) -> SimTime {
    at(u64::from(low + draws.below(high - low)))
}

/// A link of the network, at random.
fn pair(draws: &mut Stream, nodes: u32) -> (usize, usize) {
    let a = draws.below(nodes);
    let b = (a + 1 + draws.below(nodes - 1)) % nodes;
    (a as usize, b as usize)
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

/// A network that changes all the time for a minute: nodes that start at different times, links that break and heal, packets between
/// nodes that come and go, and if asked for lost frames and reboots.
fn restless(seed: u64, has_losses: bool, has_numbers: bool) -> Air {
    restless_with(seed, has_losses, has_numbers, &[])
}

/// The same with these settings besides.
fn restless_with(seed: u64, has_losses: bool, has_numbers: bool, more: &[(&'static str, Value)]) -> Air {
    let mut draws = Streams::new(seed).get(Purpose::Routing, 1 << 41);
    let draws = &mut draws;
    let nodes = 3 + draws.below(6);
    let mut set = settings(draws);
    set.extend_from_slice(more);
    let mut air = Air::new(nodes as usize, seed, &set);
    if has_losses {
        air.loss = [0.0, 0.1, 0.3, 0.5][draws.below(4) as usize];
        for _ in 0..draws.below(3) {
            let (node, _) = pair(draws, nodes);
            let dies = ms(draws, 0, 50_000);
            air.die(dies, dies + Dur::from_ms(u64::from(1 + draws.below(5000))), node);
        }
    }
    for node in 0..nodes as usize {
        if !has_numbers {
            air.router(node).ignore_numbers();
        }
        if draws.chance(0.5) {
            air.start_at(ms(draws, 0, 5000), node);
        }
    }
    let density = 0.25 + 0.5 * draws.unit();
    for a in 0..nodes as usize {
        (0..a).for_each(|b| air.set_link(a, b, draws.chance(density)));
    }
    for _ in 0..draws.below(60) {
        let (a, b) = pair(draws, nodes);
        if draws.chance(0.5) {
            air.break_at(ms(draws, 0, 60_000), a, b);
        } else {
            air.heal_at(ms(draws, 0, 60_000), a, b);
        }
    }
    for _ in 0..1 + draws.below(6) {
        let (a, b) = pair(draws, nodes);
        let start = ms(draws, 0, 40_000);
        let every = Dur::from_ms(u64::from(50 + draws.below(2000)));
        air.offer(start, a as u32, b as u32, every, start + Dur::from_ms(u64::from(draws.below(30_000))));
    }
    air
}

proptest! {
    // `make validate` has 10 000 cases: PROPTEST_CASES.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_next_hops_ever_form_a_loop(seed: u64) {
        let found = restless(seed, true, true).run(at(60_000));
        prop_assert_eq!(found, None);
    }

    #[test]
    fn a_route_heals_once_a_way_stands_while_its_source_keeps_offering(seed: u64) {
        let mut air = restless(seed, false, true);
        // Now all links stand as they do in the end; a string of all nodes among them.
        prop_assert_eq!(air.run(at(60_000)), None);
        let nodes = air.len();
        (1..nodes).for_each(|i| air.set_link(i - 1, i, true));
        let last = nodes as u32 - 1;
        air.offer(air.now, 0, last, Dur::from_ms(100), at(80_000));
        let before = air.delivered.len();
        // 1.92 s of rings in vain and 4 * NET_TRAVERSAL_TIME; up to 100 ms to the next packet; 7 hops of 11 ms for a request, of
        // 1 ms each for the reply and the packet.
        air.run(at(60_000 + 13_200 + 100 + 7 * 13));
        let arrived = air.delivered[before..].iter().any(|(_, from, to)| (*from, *to) == (0, last));
        prop_assert!(arrived, "nothing arrived from 0 at {}", last);
    }
}

#[test]
fn without_sequence_numbers_next_hops_do_form_loops() {
    let has_loop = |seed: &u64| restless(*seed, true, false).run(at(60_000)).is_some();
    let loops = (0..20).filter(has_loop).count();
    assert!(loops > 0, "the test finds no loop where there must be some");
}

#[test]
fn where_routes_that_end_keep_their_numbers_next_hops_do_form_loops() {
    // @RFC3561 sec. 6.11 counts them up; ns-3 3.37 does not.
    let kept = [("counts_up", Value::Bool(false))];
    let has_loop = |seed: &u64| restless_with(*seed, true, true, &kept).run(at(60_000)).is_some();
    assert!((0..100).any(|seed| has_loop(&seed)), "no loop is found where there must be some");
}
