//! Packets one by one: what is forwarded arrives as an access point would leave it, the rest is counted by its reason.

use crate::packets::{
    AP, CELL, NODES, PHONE, SERVER, arrived, gate, headed, ms, older, parse, sealed, six, tcp, udp,
};
use live::{Command, Fate, Gate};
use net::{address, address6};
use std::net::Ipv6Addr;
use units::{NodeId, SimTime};
use wire::Flags;

/// `bytes` with others in the place of some.
fn with(mut bytes: Vec<u8>, at: usize, other: &[u8]) -> Vec<u8> {
    bytes[at..at + other.len()].copy_from_slice(other);
    bytes
}

/// A segment whose header is as long as it can be, with these options, 0 behind them.
fn with_options(options: &[u8]) -> Vec<u8> {
    let mut bytes = tcp(SERVER, PHONE, [80, 4000], [1, 1], Flags::ACK, 100);
    bytes[32] = 0xF0;
    bytes[40..80].fill(0);
    sealed(with(bytes, 40, options))
}

/// Hands `bytes` to the host of `node`; what they have become, and what has arrived anywhere within 50 ms.
fn one(gate: &mut Gate, node: NodeId, bytes: &[u8]) -> (Fate, Vec<(NodeId, Vec<u8>)>) {
    let now = gate.drive().now();
    let fate = gate.enter(node, bytes, now);
    gate.drive().advance(now + ms(50).since(SimTime::ZERO)).unwrap();
    let came = (0..NODES as u32).map(NodeId).flat_map(|to| arrived(gate, to).into_iter().map(move |got| (to, got)));
    (fate, came.collect())
}

#[test]
fn what_an_access_point_forwards_arrives_byte_for_byte() {
    let segment = || tcp(SERVER, PHONE, [80, 4000], [1, 1], Flags::PSH | Flags::ACK, 900);
    let datagram = || udp(SERVER, PHONE, [5000, 6000], 300);
    let with_router_alert = {
        let mut bytes = datagram();
        bytes.splice(20..20, [0x94, 4, 0, 0]);
        bytes[0] = 0x46;
        headed(with(bytes, 2, &(20u16 + 4 + 8 + 300).to_be_bytes()))
    };
    let six = |next: u8, rest: &[u8]| six(SERVER, address6(PHONE), next, rest);
    let typed = [
        ("a segment", segment()),
        ("a datagram", datagram()),
        ("1500 bytes", udp(SERVER, PHONE, [1, 2], 1472)),
        ("no payload", udp(SERVER, PHONE, [0, 0], 0)),
        ("an option of no length", with_options(&[8, 0, 5, 0])),
        ("an option beyond the header", with_options(&[1, 1, 5, 255])),
        ("forty options of 255", with_options(&[255; 40])),
        ("selective acknowledgements of nonsense", with_options(&[5, 34, 255, 255, 255, 255, 0, 0, 0, 0, 1])),
        ("all flags", sealed(with(segment(), 32, &[0x8F, 0xFF]))),
        ("the urgent pointer", sealed(with(segment(), 38, &[255, 255]))),
    ];
    let untouched = [
        ("a wrong checksum of a segment", with(segment(), 36, &[1, 2])),
        ("a wrong checksum of a datagram", with(datagram(), 26, &[1, 2])),
        ("a datagram without checksum", with(datagram(), 26, &[0, 0])),
        ("a datagram shorter than its packet", sealed(with(datagram(), 24, &[0, 20]))),
        ("a datagram longer than its packet", sealed(with(datagram(), 24, &[255, 255]))),
        ("a header of TCP that ends behind the packet", sealed(with(segment(), 32, &[0xF0]))[..60].to_vec()),
        ("a header of TCP of four words", sealed(with(segment(), 32, &[0x40]))),
        ("the first fragment", headed(with(datagram(), 6, &[0x20, 0]))),
        ("a fragment further on", headed(with(datagram(), 6, &[0x1F, 0xFF]))),
        ("the reserved flag", headed(with(datagram(), 6, &[0x80, 0]))),
        ("another protocol", headed(with(datagram(), 9, &[47]))),
        ("ICMP of no known type", headed(with(datagram(), 9, &[1]))),
        ("an option of IP", with_router_alert),
        ("a source that is a third node", sealed(with(datagram(), 12, &address(AP).octets()))),
        ("a source that is its destination", sealed(with(segment(), 12, &address(PHONE).octets()))),
        ("a source that is nobody", sealed(with(segment(), 12, &[0; 4]))),
        ("IPv6, UDP", six(17, &[0, 1, 0, 2, 0, 12, 9, 9, 1, 2, 3, 4])),
        ("IPv6, nothing", six(59, &[])),
        ("IPv6, options hop by hop", six(0, &[6, 0, 5, 2, 0, 0, 1, 0, 0, 1])),
        ("IPv6, options of no length", six(0, &[6, 255, 0, 0])),
        ("IPv6, a fragment", six(44, &[17, 0, 0, 1, 0, 0, 0, 7, 1, 2, 3])),
        ("IPv6, routing", six(43, &[6, 2, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1])),
        ("IPv6, extensions in a circle", six(60, &[60; 1400])),
    ];
    let mut gate = gate(CELL);
    for (what, mut bytes) in typed {
        // What is behind the segment's own end is a link's padding.
        let good = bytes.clone();
        assert_eq!(
            one(&mut gate, SERVER, &bytes),
            (Fate::Entered, vec![(PHONE, older(good.clone()))]),
            "{what}, over the access point"
        );
        if bytes.len() < 1490 {
            bytes.extend([7; 9]);
            assert_eq!(one(&mut gate, SERVER, &bytes).1, [(PHONE, older(good))], "{what}, with padding");
        }
    }
    for (what, bytes) in untouched {
        let bytes =
            if bytes[0] >> 4 == 4 && bytes.len() == 60 { sealed(headed(with(bytes, 2, &[0, 60]))) } else { bytes };
        let found = one(&mut gate, SERVER, &bytes);
        assert_eq!(found, (Fate::Opaque, vec![(PHONE, bytes)]), "{what}");
    }
    // On one hop nothing is older.
    let near = udp(AP, PHONE, [1, 2], 77);
    assert_eq!(one(&mut gate, AP, &near), (Fate::Entered, vec![(PHONE, near)]));
    assert!(gate.into_drive().stop().unwrap().books.balance());
}

#[test]
fn what_no_access_point_forwards_is_counted_by_its_reason_and_goes_nowhere() {
    let good = || udp(SERVER, PHONE, [5000, 6000], 300);
    let to = |address: [u8; 4]| sealed(with(good(), 16, &address));
    let to6 = |address: &str| six(SERVER, address.parse::<Ipv6Addr>().unwrap(), 17, &[0; 20]);
    let long = |len: usize| {
        let mut bytes = good();
        bytes.resize(len, 0);
        sealed(with(bytes, 2, &(len as u16).to_be_bytes()))
    };
    let mut gate = gate(CELL);
    let cuts = (0..good().len()).map(|len| (Fate::Malformed, "cut", good()[..len].to_vec()));
    let cut6 = (0..60).map(|len| (Fate::Malformed, "cut, IPv6", to6("fd5b:1a7e:4c0d::3")[..len].to_vec()));
    let own6 = address6(SERVER).to_string();
    let others = [
        (Fate::Malformed, "a wrong checksum of the header", with(good(), 10, &[1, 2])),
        (Fate::Malformed, "a header of four words", headed(with(good(), 0, &[0x44]))),
        (Fate::Malformed, "a header longer than the packet", headed(with(good(), 2, &[0, 16]))),
        (Fate::Malformed, "version 0", with(good(), 0, &[0x05])),
        (Fate::Malformed, "version 15", with(good(), 0, &[0xF5])),
        (Fate::TooLong, "1501 bytes", long(1501)),
        (Fate::TooLong, "65,535 bytes", long(65_535)),
        (Fate::TooLong, "1501 bytes of IPv6", six(SERVER, address6(PHONE), 17, &[0; 1461])),
        (Fate::TooLong, "65,575 bytes of IPv6", six(SERVER, address6(PHONE), 17, &[0; 65_535])),
        (Fate::Nobody, "multicast", to([224, 0, 0, 251])),
        (Fate::Nobody, "broadcast", to([255; 4])),
        (Fate::Nobody, "no address", to([0; 4])),
        (Fate::Nobody, "an address of nobody", to([192, 0, 2, 1])),
        (Fate::Nobody, "the address behind the last node's", to([10, 1, 0, 4])),
        (Fate::Nobody, "to itself", to(address(SERVER).octets())),
        (Fate::Nobody, "IPv6 multicast", to6("ff02::fb")),
        (Fate::Nobody, "routers of the link", to6("ff02::2")),
        (Fate::Nobody, "link-local", to6("fe80::1")),
        (Fate::Nobody, "IPv6 to itself", to6(&own6)),
        (Fate::Nobody, "IPv6 of nobody", to6("2001:db8::1")),
    ];
    let mut counts = [0; Fate::ALL.len()];
    for (fate, what, bytes) in cuts.chain(cut6).chain(others) {
        assert_eq!(one(&mut gate, SERVER, &bytes), (fate, vec![]), "{what}: {} bytes", bytes.len());
        counts[fate as usize] += 1;
    }
    assert!(gate.fates().map(|(_, count)| count).eq(counts));
    assert_eq!(gate.conversations().count(), 0);
    let run = gate.into_drive().stop().unwrap();
    assert!(run.books.balance());
    assert_eq!((run.books.injected, run.books.made), (0, 0));
}

#[test]
fn a_packet_whose_time_to_live_runs_out_ends_at_the_relay_unless_nobody_reads_it() {
    let mut gate = gate(CELL);
    let last = |bytes| headed(with(bytes, 8, &[1]));
    assert_eq!(one(&mut gate, SERVER, &last(udp(SERVER, PHONE, [1, 2], 9))), (Fate::Entered, vec![]));
    let fragment = last(with(udp(SERVER, PHONE, [1, 2], 9), 6, &[0x20, 0]));
    assert_eq!(one(&mut gate, SERVER, &fragment), (Fate::Opaque, vec![(PHONE, fragment)]));
    let run = gate.into_drive().stop().unwrap();
    assert!(run.books.balance());
    assert_eq!((run.books.injected, run.books.arrived_outside), (2, 1));
}

#[test]
fn what_a_dead_node_sends_or_should_get_ends_as_does_what_comes_after_the_end() {
    let mut gate = gate(CELL);
    let kill = Command::parse("node.phone.dead=true", parse(CELL).scenario()).unwrap();
    gate.drive().change(&kill.what).unwrap();
    assert_eq!(one(&mut gate, PHONE, &udp(PHONE, SERVER, [1, 2], 9)), (Fate::Dead, vec![]));
    assert_eq!(one(&mut gate, PHONE, &six(PHONE, address6(SERVER), 59, &[])), (Fate::Dead, vec![]));
    assert_eq!(one(&mut gate, SERVER, &six(SERVER, address6(PHONE), 59, &[])), (Fate::Dead, vec![]));
    // An access point does not know that, and asks the air in vain.
    assert_eq!(one(&mut gate, SERVER, &udp(SERVER, PHONE, [1, 2], 9)), (Fate::Entered, vec![]));
    gate.drive().advance(SimTime::NEVER).unwrap();
    let end = gate.drive().end();
    assert_eq!(gate.enter(SERVER, &udp(SERVER, AP, [1, 2], 9), end), Fate::Dead);
    assert!(gate.into_drive().finish().unwrap().books.balance());
}

#[test]
fn a_conversation_is_a_direction_between_two_ends_with_its_packets_and_bytes() {
    let mut gate = gate(CELL);
    for i in 0..3 {
        gate.enter(SERVER, &tcp(SERVER, PHONE, [80, 4000], [1 + 100 * i, 1], Flags::ACK, 100), ms(u64::from(i)));
    }
    gate.enter(PHONE, &tcp(PHONE, SERVER, [4000, 80], [1, 301], Flags::ACK, 0), ms(9));
    gate.enter(SERVER, &headed(with(udp(SERVER, PHONE, [1, 2], 72), 6, &[0x20, 0])), ms(10));
    gate.enter(SERVER, &six(SERVER, address6(PHONE), 6, &[0; 60]), ms(11));
    gate.drive().advance(ms(99)).unwrap();
    (0..NODES as u32).for_each(|node| drop(arrived(&mut gate, NodeId(node))));
    let rows: Vec<_> = gate.conversations().cloned().collect();
    let row = |protocol, from, ports| {
        let found = rows.iter().find(|row| (row.protocol, row.from, row.ports) == (protocol, from, ports));
        let found = found.unwrap_or_else(|| panic!("no {protocol} {from}: {rows:?}"));
        assert_eq!(found.sent, found.arrived);
        (found.sent.packets, found.sent.bytes, found.first)
    };
    assert_eq!(row("tcp", SERVER, [80, 4000]), (3, 3 * 152, ms(0)));
    assert_eq!(row("tcp", PHONE, [4000, 80]), (1, 52, ms(9)));
    // A fragment and IPv6 are of their nodes alone.
    assert_eq!(row("other", SERVER, [0, 0]), (2, 200, ms(10)));
    assert_eq!(rows.len(), 3);
}
