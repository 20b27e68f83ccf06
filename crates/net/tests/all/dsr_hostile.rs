//! Hostile packets: no panic, bounded tables, and never a node twice on a way.

use crate::bench::router;
use crate::dsr_bench::{RADIO, data, ip, options};
use engine::{Purpose, Stream, Streams};
use net::router::dsr::{Ack, Choice, Dsr, Error, ErrorKind, Header, Reply, Request, SourceRoute};
use net::{Order, Orders, Router};
use plugin::Value;
use std::net::Ipv4Addr;
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Payload};

fn address(draws: &mut Stream) -> Ipv4Addr {
    match draws.below(16) {
        0 | 1 => ip(0),
        2 => Ipv4Addr::BROADCAST,
        3 => Ipv4Addr::from(draws.below(u32::MAX)),
        4 => Ipv4Addr::UNSPECIFIED,
        _ => ip(draws.below(12)),
    }
}

fn list(draws: &mut Stream, most: u32) -> Vec<Ipv4Addr> {
    let len = if draws.chance(0.1) { most } else { draws.below(5) };
    (0..len).map(|_| address(draws)).collect()
}

fn forged(draws: &mut Stream) -> Choice {
    match draws.below(7) {
        0 => Choice::Request(Request { id: draws.below(4) as u16, target: address(draws), hops: list(draws, 62) }),
        1 => {
            let mut hops = list(draws, 62);
            hops.push(address(draws));
            Choice::Reply(Reply { is_last_external: draws.chance(0.1), hops })
        }
        2 => {
            let kind = match draws.below(4) {
                0 => ErrorKind::NotSupported(draws.below(256) as u8),
                1 => ErrorKind::Other(4 + draws.below(200) as u8, vec![7; draws.below(9) as usize]),
                _ => ErrorKind::Unreachable(address(draws)),
            };
            let salvage = draws.below(16) as u8;
            Choice::Error(Error { salvage, source: address(draws), destination: address(draws), kind })
        }
        3 => Choice::AckRequest(draws.below(1 << 16) as u16),
        4 => Choice::Ack(Ack { id: 1, source: address(draws), destination: address(draws) }),
        5 => {
            let hops = list(draws, 63);
            let left = draws.below(hops.len() as u32 + 1) as u8;
            let external = [draws.chance(0.05), draws.chance(0.05)];
            Choice::Route(SourceRoute { external, salvage: draws.below(16) as u8, left, hops })
        }
        _ => Choice::Unknown(
            [4, 5, 37, 69, 101, 133, 229, 255][draws.below(8) as usize],
            vec![9; draws.below(5) as usize],
        ),
    }
}

/// The bytes of a header that somebody may have made.
fn header(draws: &mut Stream) -> Vec<u8> {
    let mut bytes = Header((0..1 + draws.below(3)).map(|_| forged(draws)).collect()).bytes();
    match draws.below(10) {
        0 => bytes.truncate(draws.below(bytes.len() as u32 + 1) as usize),
        1 => bytes = (0..draws.below(64)).map(|_| draws.below(256) as u8).collect(),
        // One with a source route that says 255 bytes and 63 segments, whatever there is.
        2 => bytes = [&[0, 0, 0, 12, 96, 255, 0, 63][..], &[10, 1, 0, 1, 10, 1, 0, 2]].concat(),
        3 => {
            let place = draws.below(bytes.len() as u32) as usize;
            bytes[place] ^= 1 << draws.below(8);
        }
        _ => {}
    }
    bytes
}

/// No way on this packet holds a node twice.
fn holds_no_node_twice(packet: &Packet) {
    for option in options(packet) {
        let Choice::Route(route) = option else { continue };
        let ends = [packet.ip.dst].into_iter().chain((route.salvage == 0).then_some(packet.ip.src));
        let mut all: Vec<Ipv4Addr> = route.hops.iter().copied().chain(ends).collect();
        let len = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), len, "{route:?}");
    }
}

/// So many hostile inputs, and a look at the router after each.
fn harass(inputs: u32, seed: u64, set: &[(&str, Value)]) {
    let mut draws = Streams::new(seed).get(Purpose::Routing, 1 << 42);
    let draws = &mut draws;
    let mut dsr = router::<Dsr>(0, 64, set);
    let (mut now, mut orders) = (SimTime::ZERO, Orders::default());
    for i in 0..inputs {
        let from = NodeId(1 + draws.below(8));
        let src = if draws.chance(0.5) { net::address(from) } else { address(draws) };
        let dst = match draws.below(3) {
            0 => Ipv4Addr::BROADCAST,
            1 => ip(0),
            _ => address(draws),
        };
        let l4 = if draws.chance(0.5) { L4::Nothing } else { data(1, 2).l4 };
        let ip_header = Ipv4 { src, dst, ttl: [0, 1, 2, 255][draws.below(4) as usize], ..Ipv4::default() };
        let mut packet = Packet { ip: ip_header, l4, payload: Payload::EMPTY, flow: FlowId::NONE };
        packet.set_routing_header(&header(draws));
        let neighbour = draws.chance(0.8).then_some(from);
        match draws.below(4) {
            0 => dsr.control(now, &packet, RADIO, from, &mut orders),
            1 => dsr.arrived(now, &mut packet, neighbour, &mut orders),
            2 => dsr.link_failed(now, RADIO, from, &packet, &mut orders),
            _ => {
                dsr.toward(now, &packet, neighbour);
                if dsr.prepare(now, &mut packet, neighbour, &mut orders).is_some() {
                    holds_no_node_twice(&packet);
                } else {
                    dsr.seek(now, &packet, neighbour, &mut orders);
                }
            }
        }
        let mut own = data(if draws.chance(0.8) { 0 } else { draws.below(12) }, draws.below(12));
        if dsr.prepare(now, &mut own, None, &mut orders).is_some() {
            holds_no_node_twice(&own);
        } else {
            dsr.seek(now, &own, None, &mut orders);
        }
        if draws.chance(0.0001) {
            dsr.restart(now, &mut orders);
        }
        look_at(&mut orders);
        now += Dur::from_us(u64::from(draws.below(20_000)));
        if dsr.next_wakeup() <= now {
            dsr.timer(now, &mut orders);
            assert!(dsr.next_wakeup() > now, "time stands still");
            look_at(&mut orders);
        }
        if i % 64 == 0 {
            is_sound(&mut dsr, now);
        }
    }
}

/// Its control packets can be read, and their ways are ways.
fn look_at(orders: &mut Orders) {
    for order in orders.drain() {
        if let Order::Send(packet, _, to) = order {
            assert_ne!(to, NodeId(0), "to itself");
            holds_no_node_twice(&packet);
        }
    }
}

fn is_sound(dsr: &mut Dsr, now: SimTime) {
    let [paths, seen, delayed, targets] = dsr.sizes();
    assert!(paths <= 94 && seen <= 64 * 16 && delayed <= 1024 && targets <= 64);
    for path in dsr.paths(now) {
        let mut all = path.hops.clone();
        all.push(ip(0));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), path.hops.len() + 1, "{path:?}");
    }
}

#[test]
fn hostile_packets_do_no_harm() {
    harass(50_000, 1, &[]);
    harass(50_000, 2, &[("preset", Value::Choice("ns2"))]);
}

#[test]
#[ignore = "minutes: make validate"]
fn ten_million_hostile_packets_do_no_harm() {
    (0..50).for_each(|seed| harass(100_000, seed, &[]));
    (50..100).for_each(|seed| harass(100_000, seed, &[("preset", Value::Choice("ns2"))]));
}
