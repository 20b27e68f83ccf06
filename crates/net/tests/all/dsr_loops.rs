//! Networks at random: no way ever holds a node twice; and routes that heal.

use crate::air::{Air, Airborne};
use crate::dsr_bench::{AT_ONCE, at, options};
use crate::restless::{MINUTE, heals, restless};
use engine::Stream;
use net::router::dsr::{Choice, Dsr};
use plugin::Value;
use proptest::prelude::*;
use std::net::Ipv4Addr;
use units::Dur;
use wire::{L4, Packet};

impl Airborne for Dsr {
    type Said = Vec<Choice>;
    /// A packet whose way holds a node twice.
    type Loop = Packet;

    fn is_control(packet: &Packet) -> bool {
        packet.l4 == L4::Nothing
    }

    fn said(packet: &Packet) -> Vec<Choice> {
        if Dsr::is_control(packet) { options(packet) } else { Vec::new() }
    }

    fn loop_of_packet(packet: &Packet) -> Option<Packet> {
        holds_twice(packet).then(|| packet.clone())
    }
}

/// True if a way that a packet takes or tells holds a node twice.
fn holds_twice(packet: &Packet) -> bool {
    let is_twice = |mut all: Vec<Ipv4Addr>| {
        let len = all.len();
        all.sort_unstable();
        all.dedup();
        all.len() < len
    };
    options(packet).into_iter().any(|option| match option {
        Choice::Route(it) => {
            let ends = [packet.ip.dst].into_iter().chain((it.salvage == 0).then_some(packet.ip.src));
            is_twice(it.hops.into_iter().chain(ends).collect())
        }
        Choice::Reply(it) => is_twice(it.hops.into_iter().chain([packet.ip.dst]).collect()),
        Choice::Request(it) => is_twice(it.hops.into_iter().chain([packet.ip.src]).collect()),
        _ => false,
    })
}

#[test]
fn ring_zero_and_a_flood_reach_a_destination_four_hops_away_by_five_requests_and_four_replies() {
    let mut air = Air::<Dsr>::string(5, &AT_ONCE);
    air.offer(at(0), 0, 4, Dur::from_secs(100), at(0));
    assert_eq!(air.run(at(29)), None);
    assert_eq!(air.frames.len(), 1, "the neighbours are asked, and do not know");
    assert_eq!(air.run(at(2000)), None);
    let count = |is: fn(&Choice) -> bool| air.frames.iter().filter(|it| it.said.iter().any(is)).count();
    // 1 of TTL 1, then the source and three relays: the destination passes none on.
    assert_eq!(count(|option| matches!(option, Choice::Request(_))), 5);
    assert_eq!(count(|option| matches!(option, Choice::Reply(_))), 4);
    assert_eq!(count(|option| matches!(option, Choice::Error(_))), 0);
    // 30 ms, and frames of 1 ms: 4 there, 4 back, 4 with the packet.
    assert_eq!(air.delivered, [(at(30 + 12), 0, 4)]);
}

/// Settings at random, most of them the RFC's.
fn settings(draws: &mut Stream) -> Vec<(&'static str, Value)> {
    let mut set = Vec::new();
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
    set
}

proptest! {
    // `make validate` has 10 000 cases: PROPTEST_CASES.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_way_ever_holds_a_node_twice(seed: u64) {
        prop_assert_eq!(restless::<Dsr>(seed, true, settings).run(MINUTE), None);
    }

    #[test]
    fn a_route_heals_once_a_way_stands_while_its_source_keeps_offering(seed: u64) {
        // Requests to one target are 10 s apart at the most. Each packet over a stale way ends one link of it.
        heals::<Dsr>(restless(seed, false, settings), Dur::from_ms(10_000 + 5000))?;
    }
}
