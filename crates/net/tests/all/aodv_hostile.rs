//! Hostile messages: no panic, bounded tables, and never the node itself as next hop.

use crate::aodv_bench::{RADIO, control, data, error, ip, reply, request};
use crate::bench::router;
use engine::{Purpose, Stream, Streams};
use net::router::aodv::{Aodv, Error, MOST_ROUTES, MOST_SEEN, Message, Number, Reply, Request};
use net::{Orders, Router};
use plugin::Value;
use std::net::Ipv4Addr;
use units::{Dur, NodeId, SimTime};

fn address(draws: &mut Stream) -> Ipv4Addr {
    match draws.below(8) {
        0 => ip(0),
        1 => Ipv4Addr::BROADCAST,
        2 => Ipv4Addr::from(word(draws)),
        3 => Ipv4Addr::UNSPECIFIED,
        _ => ip(draws.below(12)),
    }
}

fn word(draws: &mut Stream) -> u32 {
    draws.below(u32::MAX)
}

fn number(draws: &mut Stream) -> Number {
    let edge = [0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff][draws.below(6) as usize];
    Number(if draws.chance(0.3) { word(draws) } else { edge })
}

fn hops(draws: &mut Stream) -> u8 {
    [0, 1, 2, 34, 253, 254, 255][draws.below(7) as usize]
}

fn forged(draws: &mut Stream) -> Message {
    match draws.below(4) {
        0 => Message::Request(Request {
            gratuitous: draws.chance(0.5),
            destination_only: draws.chance(0.2),
            hops: hops(draws),
            id: word(draws),
            destination: address(draws),
            destination_number: draws.chance(0.7).then(|| number(draws)),
            originator: address(draws),
            originator_number: number(draws),
        }),
        1 => Message::Reply(Reply {
            wants_ack: draws.chance(0.3),
            prefix: draws.below(32) as u8,
            hops: hops(draws),
            destination: address(draws),
            destination_number: number(draws),
            originator: address(draws),
            lifetime_ms: [0, 1, 6000, u32::MAX][draws.below(4) as usize],
            hello_interval_ms: draws.chance(0.2).then(|| word(draws)),
        }),
        2 => {
            let unreachable = (0..1 + draws.below(40)).map(|_| (address(draws), number(draws))).collect();
            Message::Error(Error { no_delete: draws.chance(0.2), unreachable })
        }
        _ => Message::ReplyAck,
    }
}

/// So many hostile inputs, and a look at the router after each.
fn harass(inputs: u32, seed: u64, set: &[(&str, Value)]) {
    let mut draws = Streams::new(seed).get(Purpose::Routing, 1 << 42);
    let draws = &mut draws;
    let mut aodv = router::<Aodv>(0, 64, set);
    let (mut now, mut orders) = (SimTime::ZERO, Orders::default());
    for i in 0..inputs {
        let from = 1 + draws.below(8);
        let mut bytes = forged(draws).bytes();
        match draws.below(10) {
            0 => bytes.truncate(draws.below(bytes.len() as u32 + 1) as usize),
            1 => bytes = (0..draws.below(64)).map(|_| draws.below(256) as u8).collect(),
            2 => {
                let place = draws.below(bytes.len() as u32) as usize;
                bytes[place] ^= 1 << draws.below(8);
            }
            _ => {}
        }
        let source = if draws.chance(0.95) { ip(from) } else { address(draws) };
        let to = if draws.chance(0.5) { Ipv4Addr::BROADCAST } else { ip(0) };
        let packet = control(source, to, [0, 1, 2, 255][draws.below(4) as usize], &bytes);
        aodv.control(now, &packet, RADIO, NodeId(from), &mut orders);
        let packet = data(draws.below(12), draws.below(12));
        let neighbour = draws.chance(0.7).then_some(NodeId(from));
        if aodv.next(now, &packet, neighbour).is_none() {
            aodv.seek(now, &packet, neighbour, &mut orders);
        }
        if draws.chance(0.02) {
            aodv.link_failed(now, RADIO, NodeId(from), &packet, &mut orders);
        }
        if draws.chance(0.0001) {
            aodv.restart(now, &mut orders);
        }
        _ = orders.drain().count();
        now += Dur::from_us(u64::from(draws.below(20_000)));
        if aodv.next_wakeup() <= now {
            aodv.timer(now, &mut orders);
            assert!(aodv.next_wakeup() > now, "time stands still");
            _ = orders.drain().count();
        }
        if i % 64 == 0 {
            is_sound(&mut aodv, now);
        }
    }
}

fn is_sound(aodv: &mut Aodv, now: SimTime) {
    let [routes, seen, delayed, searches] = aodv.sizes();
    assert!(routes <= MOST_ROUTES && seen <= MOST_SEEN && delayed <= 1024 && searches <= 256);
    for (destination, route) in aodv.routes(now) {
        assert_ne!(*destination, ip(0), "a route to itself");
        assert_ne!(route.next.1, NodeId(0), "a way over itself");
        assert!(route.hops > 0 && route.precursors.len() <= 64);
    }
}

#[test]
fn hostile_messages_do_no_harm() {
    harass(50_000, 1, &[]);
    let all = ["hello", "local_repair", "rrep_ack"].map(|key| (key, Value::Bool(true)));
    harass(50_000, 2, &all);
    harass(50_000, 3, &[("preset", Value::Choice("ns3"))]);
}

#[test]
#[ignore = "a minute: make validate"]
fn ten_million_hostile_messages_do_no_harm() {
    let all = ["hello", "local_repair", "rrep_ack"].map(|key| (key, Value::Bool(true)));
    (0..50).for_each(|seed| harass(100_000, seed, &[]));
    (50..100).for_each(|seed| harass(100_000, seed, &all));
}

/// A router with a route to node 9 over neighbour 1, after these messages of neighbour 2.
fn after(messages: &[Message]) -> Aodv {
    let (mut aodv, mut orders) = (router::<Aodv>(0, 64, &[]), Orders::default());
    let mut tell = |from: u32, message: &Message| {
        let packet = control(ip(from), ip(0), 9, &message.bytes());
        aodv.control(SimTime::ZERO, &packet, RADIO, NodeId(from), &mut orders);
    };
    tell(1, &reply(9, 10, 2, 0));
    messages.iter().for_each(|message| tell(2, message));
    aodv
}

#[test]
fn a_number_ahead_by_half_of_all_is_stale() {
    let mut aodv = after(&[reply(9, 10 + (1 << 31), 0, 0)]);
    let route = aodv.route(SimTime::ZERO, ip(9)).expect("a route");
    assert_eq!((route.number, route.next.1), (Some(Number(10)), NodeId(1)));
}

#[test]
fn its_own_address_as_originator_changes_nothing() {
    let mut aodv = after(&[request(0, 77, 1, 0, 9, None), reply(0, 77, 0, 9)]);
    assert_eq!((aodv.route(SimTime::ZERO, ip(0)).is_none(), aodv.number()), (true, Number(0)));
}

#[test]
fn an_error_of_a_stranger_about_forty_destinations_ends_no_route_of_another() {
    let all: Vec<(u32, u32)> = (0..40).map(|node| (node, 0xffff_ffff)).collect();
    let mut aodv = after(&[error(&all)]);
    assert!(aodv.route(SimTime::ZERO, ip(9)).is_some_and(|route| route.is_valid));
}

#[test]
fn a_message_in_the_name_of_another_is_refused() {
    let (mut aodv, mut orders) = (router::<Aodv>(0, 64, &[]), Orders::default());
    let packet = control(ip(3), ip(0), 9, &reply(9, 10, 2, 0).bytes());
    aodv.control(SimTime::ZERO, &packet, RADIO, NodeId(1), &mut orders);
    assert!(aodv.route(SimTime::ZERO, ip(9)).is_none());
    let mut refused = 0;
    aodv.counters(&mut |name, count| refused += if name == "refused" { count } else { 0 });
    assert_eq!(refused, 1);
}
