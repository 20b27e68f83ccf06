//! Networks at random: no way ever holds a node twice; and routes that heal.

use crate::dsr_air::Air;
use crate::dsr_bench::{AT_ONCE, at};
use engine::{Purpose, Stream, Streams};
use net::router::dsr::Choice;
use plugin::Value;
use proptest::prelude::*;
use units::{Dur, SimTime};

#[test]
fn ring_zero_and_a_flood_reach_a_destination_four_hops_away_by_five_requests_and_four_replies() {
    let mut air = Air::string(5, &AT_ONCE);
    air.offer(at(0), 0, 4, Dur::from_secs(100), at(0));
    air.run(at(29));
    assert_eq!(air.frames.len(), 1, "the neighbours are asked, and do not know");
    air.run(at(2000));
    let count = |is: fn(&Choice) -> bool| air.frames.iter().filter(|it| it.options.iter().any(is)).count();
    // 1 of TTL 1, then the source and three relays: the destination passes none on.
    assert_eq!(count(|option| matches!(option, Choice::Request(_))), 5);
    assert_eq!(count(|option| matches!(option, Choice::Reply(_))), 4);
    assert_eq!(count(|option| matches!(option, Choice::Error(_))), 0);
    // 30 ms, and frames of 1 ms: 4 there, 4 back, 4 with the packet.
    assert_eq!(air.delivered, [(at(30 + 12), 0, 4)]);
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

/// A network that changes all the time for a minute: nodes that start at different times, links that break and heal, packets between
/// nodes that come and go, and if asked for lost frames and reboots.
fn restless(seed: u64, has_losses: bool) -> Air {
    let mut draws = Streams::new(seed).get(Purpose::Routing, 1 << 41);
    let draws = &mut draws;
    let nodes = 3 + draws.below(6);
    let mut set: Vec<(&'static str, Value)> = Vec::new();
    if draws.chance(0.3) {
        set.push(("preset", Value::Choice("ns2")));
    }
    if draws.chance(0.3) {
        set.push(("cached_replies", Value::Bool(false)));
    }
    if draws.chance(0.3) {
        set.push(("route_cache_timeout", Value::Time(Dur::from_secs(2))));
    }
    if draws.chance(0.3) {
        set.push(("passing_paths", Value::Int(3)));
    }
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
    fn no_way_ever_holds_a_node_twice(seed: u64) {
        let mut air = restless(seed, true);
        air.run(at(60_000));
        prop_assert_eq!(air.looped, None);
    }

    #[test]
    fn a_route_heals_once_a_way_stands_while_its_source_keeps_offering(seed: u64) {
        let mut air = restless(seed, false);
        // Now all links stand as they do in the end; a string of all nodes among them.
        air.run(at(60_000));
        let nodes = air.len();
        (1..nodes).for_each(|i| air.set_link(i - 1, i, true));
        let last = nodes as u32 - 1;
        air.offer(air.now, 0, last, Dur::from_ms(100), at(80_000));
        let before = air.delivered.len();
        // Requests to one target are 10 s apart at the most. Each packet over a stale way ends one link of it.
        air.run(at(60_000 + 10_000 + 5000));
        let arrived = air.delivered[before..].iter().any(|(_, from, to)| (*from, *to) == (0, last));
        prop_assert!(arrived, "nothing arrived from 0 at {}", last);
    }
}
