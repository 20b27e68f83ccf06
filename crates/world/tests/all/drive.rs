//! A driven world: in parts as in one go, with packets that come from outside, between events too, and packets that leave.

use crate::determinism::{ALL, bits, fingerprints, run, scenario, text};
use crate::timeline::{BASE_STATION, LEVELS};
use engine::{Purpose, Stream, Streams};
use std::sync::Arc;
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{Content, Echo, Flags, Ipv4, L4, Packet, Payload, Seq, Tcp, TcpOptions, Udp};
use world::{Arrived, Blueprint, Drive, DriveError, Record};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// Users of pages and messages behind an access point, whose connections come and go.
const USERS: &str = r#"
scenario = { duration = "4 s", warmup = "1 s" }
radio = { standard = "802.11g", access = "edca" }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "phone"
[[link]]
between = ["server", "ap"]
rate = "20 Mb/s"
delay = "5 ms"
[[flow]]
from = "server"
to = "phone"
traffic = { model = "http", page_every = "300 ms", objects = 5, object_size = "9 kB", connections = 3 }
transport = { protocol = "tcp" }
[[flow]]
from = "server"
to = "phone"
traffic = { model = "email", every = "200 ms" }
transport = { protocol = "tcp", preset = "rfc" }
"#;

/// Two stations of 802.11b, 11 Mb/s, long preamble, and a third. Their own flow says nothing before 9 s.
const QUIET: &str = r#"
scenario = { duration = "10 s" }
radio = { standard = "802.11b" }
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
[[flow]]
from = "a"
to = "c"
start = "9 s"
traffic = { model = "cbr", rate = "100 kb/s" }
transport = { protocol = "udp", datagram = "300 B" }
"#;

fn parse(text: &str) -> Blueprint {
    world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn drive(text: &str) -> Drive {
    Drive::new(&parse(text), 1, &Record::default()).unwrap()
}

fn us(us: u64) -> SimTime {
    SimTime::from_ns(1000 * us)
}

fn ip(from: NodeId, to: NodeId) -> Ipv4 {
    Ipv4 { src: net::address(from), dst: net::address(to), ..Ipv4::default() }
}

/// A datagram of `len` bytes, headers included.
fn datagram(from: NodeId, to: NodeId, len: u32, flow: FlowId) -> Packet {
    let l4 = L4::Udp(Udp { src_port: 4_000, dst_port: 5_000 });
    Packet { ip: ip(from, to), l4, payload: Payload::stream(0, len - 28), flow }
}

fn bytes_of(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.emit(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_run_in_a_hundred_parts_has_every_bit_of_one_in_one_go() {
    let users = parse(USERS);
    let scenarios = ALL.map(scenario).into_iter().chain([LEVELS, BASE_STATION].map(parse)).chain([users]);
    for (i, scenario) in scenarios.enumerate() {
        let whole = run(&scenario, 3, &fingerprints());
        let mut draws = Streams::new(i as u64).get(Purpose::Traffic, 0);
        let mut drive = Drive::new(&scenario, 3, &fingerprints()).unwrap();
        let end = drive.end();
        let mut cuts: Vec<SimTime> =
            (0..100).map(|_| SimTime::from_ns((draws.unit() * end.ns() as f64) as u64)).collect();
        cuts.sort_unstable();
        for (n, cut) in cuts.into_iter().enumerate() {
            drive.advance(cut.max(drive.now())).unwrap();
            assert!(drive.now() >= cut && drive.next_at() > drive.now());
            // To the next event, and to the last instant before it: what is counted lazily is asked for at the wrong moment, if ever.
            let next = drive.next_at();
            match n % 3 {
                0 => drive.advance(next).unwrap(),
                1 => drive.advance(SimTime::from_ns(next.ns() - 1)).unwrap(),
                _ => {}
            }
        }
        let parts = drive.finish().unwrap();
        assert_eq!(parts.fingerprint, whole.fingerprint, "scenario {i}");
        assert_eq!(bits(&parts), bits(&whole), "scenario {i}");
        assert!(parts.sim_s.is_nan());
    }
}

/// The preamble, and 24 B of MAC header, 8 of LLC/SNAP, 4 of FCS beside the datagram at 11 Mb/s, rounded up to whole microseconds.
/// @80211-2020 16.3.4
fn airtime(datagram: u64) -> Dur {
    Dur::from_us(192 + ((24 + 8 + datagram + 4) * 8).div_ceil(11))
}

fn arrivals(drive: &mut Drive, node: NodeId) -> Vec<SimTime> {
    drive.drain(node).map(|arrived| arrived.at).collect()
}

#[test]
fn a_packet_between_events_crosses_an_idle_medium_in_the_time_of_its_frame() {
    let mut drive = drive(QUIET);
    let flow = drive.open(A, B).unwrap();
    // Nothing is due for seconds: the last event, if there was one, is long past.
    let at = SimTime::from_ns(123_456_789);
    drive.advance(SimTime::from_ns(100_000_001)).unwrap();
    assert_eq!((drive.now().ns(), drive.next_at() > us(1_000_000)), (100_000_001, true));
    drive.inject(A, datagram(A, B, 1000, flow), at).unwrap();
    assert_eq!(drive.next_at(), at);
    drive.advance(at).unwrap();
    assert_eq!(
        drive.next_at(),
        at + airtime(1000),
        "the medium was idle for more than DIFS: the frame is in the air"
    );
    drive.advance(at + airtime(1000) + Dur::from_us(1)).unwrap();
    assert_eq!(arrivals(&mut drive, B), [at + airtime(1000)]);
    // A second one finds the medium busy: after SIFS, the ACK and DIFS some slots follow.
    let (second, third) = (us(200_000), us(200_300));
    drive.inject(A, datagram(A, B, 700, flow), third).unwrap();
    drive.inject(B, datagram(B, A, 300, flow.reverse()), second).unwrap();
    drive.advance(us(300_000)).unwrap();
    assert_eq!(arrivals(&mut drive, A), [second + airtime(300)], "the order of calls is not that of their times");
    let [came] = arrivals(&mut drive, B)[..] else { panic!("one packet") };
    // SIFS, the ACK of 14 B at 11 Mb/s, which is a basic rate, DIFS.
    let idle_from = second + airtime(300) + Dur::from_us(10 + 192 + 11 + 50);
    let slots = came.since(idle_from + airtime(700)).ns() / 20_000;
    assert_eq!(came, idle_from + airtime(700) + Dur::from_us(20 * slots));
    assert!(slots < 32);
    let run = drive.finish().unwrap();
    assert_eq!((run.books.injected, run.books.arrived_outside), (3, 3));
}

#[test]
fn before_the_first_difs_is_over_a_packet_waits_for_it() {
    let mut drive = drive(QUIET);
    let flow = drive.open(A, B).unwrap();
    drive.inject(A, datagram(A, B, 500, flow), us(7)).unwrap();
    drive.advance(us(5_000)).unwrap();
    assert_eq!(arrivals(&mut drive, B), [us(50) + airtime(500)]);
}

#[test]
fn packets_of_one_instant_go_together_and_those_of_two_stations_collide() {
    let mut drive = drive(QUIET);
    let flows = [A, B].map(|from| drive.open(from, NodeId(2)).unwrap());
    let at = us(70_000);
    for (from, flow) in [A, B].into_iter().zip(flows) {
        drive.inject(from, datagram(from, NodeId(2), 400, flow), at).unwrap();
    }
    drive.advance(at + airtime(400)).unwrap();
    assert_eq!(arrivals(&mut drive, NodeId(2)), [], "both frames were lost");
    drive.advance(us(100_000)).unwrap();
    assert_eq!(arrivals(&mut drive, NodeId(2)).len(), 2, "they were sent again");
    let run = drive.finish().unwrap();
    let failures: f64 = run.nodes.iter().map(|node| world::Run::number(node, "failures").unwrap()).sum();
    assert!(failures >= 2.0, "{failures}");
}

/// A server behind a wire, an access point and a station, 802.11a with QoS.
const CELL: &str = r#"
scenario = { duration = "3 s" }
radio = { standard = "802.11a", access = "edca" }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "station"
host_delay = "100 us"
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "3 ms"
[[flow]]
from = "ap"
to = "station"
traffic = { model = "poisson", rate = "1 Mb/s" }
transport = { protocol = "udp", datagram = "300 B" }
"#;

#[test]
fn an_injected_packet_comes_out_with_its_bytes() {
    let (server, ap, station) = (NodeId(0), NodeId(1), NodeId(2));
    let text: Arc<[u8]> = Arc::from(&b"not what a stream would have at this place"[..]);
    let payload = || Payload::new(text.len() as u32, Content::Bytes(Arc::clone(&text)));
    let packet = |l4| Packet { ip: ip(ap, station), l4, payload: payload(), flow: FlowId::NONE };
    let mut options = TcpOptions::default();
    assert!(options.push_timestamps(7, 9));
    let tcp =
        Tcp { src_port: 9, dst_port: 10, seq: Seq(77), flags: Flags::PSH | Flags::ACK, options, ..Tcp::default() };
    let mut sent: Vec<Vec<u8>> =
        [L4::Tcp(tcp), L4::Udp(Udp { src_port: 1, dst_port: 2 }), L4::Echo(Echo { reply: false, id: 3, seq: 4 })]
            .map(|l4| bytes_of(&packet(l4)))
            .into();
    // One fragment, with a header checksum of its own: nothing in it is understood, and it arrives all the same.
    let mut fragment = sent[1].clone();
    fragment[6] = 0x20;
    let sum = u16::from_be_bytes([fragment[10], fragment[11]]) + 0x4000 - 0x2000;
    fragment[10..12].copy_from_slice(&sum.to_be_bytes());
    sent.push(fragment);
    // Captures show what nobody understands, too.
    let folder = std::env::temp_dir().join(format!("interlayer-drive-{}", std::process::id()));
    let record = Record { pcap_dir: Some(folder.clone()), ..Record::default() };
    let mut drive = Drive::new(&parse(CELL), 1, &record).unwrap();
    assert_eq!(drive.node("station"), Some(station));
    let flows: Vec<FlowId> = sent.iter().map(|bytes| drive.inject_bytes(ap, bytes, us(500_000)).unwrap()).collect();
    assert!(flows[..3].iter().all(|flow| *flow != FlowId::NONE) && flows[3] == FlowId::NONE);
    drive.advance(us(600_000)).unwrap();
    let came: Vec<Arrived> = drive.drain(station).collect();
    assert_eq!(came.iter().map(|arrived| bytes_of(&arrived.packet)).collect::<Vec<_>>(), sent);
    assert!(came.iter().all(|arrived| arrived.at > us(500_100)), "the host is slow");
    assert_eq!(came.iter().map(|arrived| arrived.packet.flow).collect::<Vec<_>>(), flows);
    // The answer is of the same connection; over the access point it is a hop older.
    let back = Packet { ip: ip(station, server), ..packet(L4::Udp(Udp { src_port: 1, dst_port: 2 })) };
    let there = Packet { ip: ip(server, station), ..packet(L4::Udp(Udp { src_port: 2, dst_port: 1 })) };
    let out = drive.inject_bytes(station, &bytes_of(&back), us(700_000)).unwrap();
    assert_eq!(drive.inject_bytes(server, &bytes_of(&there), us(700_000)).unwrap(), out.reverse());
    drive.advance(us(800_000)).unwrap();
    let [got] = &drive.drain(server).collect::<Vec<_>>()[..] else { panic!("one packet") };
    let older = Packet { ip: Ipv4 { ttl: 63, ..back.ip }, flow: out, ..back };
    assert_eq!(got.packet, older);
    assert_eq!(drive.drain(station).count(), 1);
    drive.finish().unwrap();
    let captures = testkit::tshark::captures_of(&folder, "station", 1);
    let is_in = |bytes: &[u8]| captures.iter().any(|file| contains(&std::fs::read(file).unwrap(), bytes));
    assert!(sent.iter().all(|bytes| is_in(bytes)));
    std::fs::remove_dir_all(folder).unwrap();
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

/// Some packet from `node` to another of `nodes`, of a flow of these or of none; now and then one that is refused.
fn any_packet(draws: &mut Stream, node: NodeId, nodes: u32, flows: &[(FlowId, [NodeId; 2])]) -> Packet {
    let to = NodeId(draws.below(nodes));
    let len = draws.below(1473);
    let flags = Flags((draws.below(64)) as u16);
    let seq = Seq(draws.below(5000));
    let l4 = match draws.below(4) {
        0 => L4::Udp(Udp { src_port: 7, dst_port: 8 }),
        1 => L4::Echo(Echo { reply: false, id: 1, seq: 1 }),
        _ => L4::Tcp(Tcp { src_port: 5, dst_port: 6, seq, ack: Seq(draws.below(5000)), flags, ..Tcp::default() }),
    };
    let payload = match draws.below(3) {
        0 => Payload::stream(u64::from(draws.below(9000)), len),
        1 => Payload::new(len, Content::Bytes(vec![7; len as usize].into())),
        _ => Payload::EMPTY,
    };
    let own = flows.iter().filter(|(_, ends)| ends.contains(&node)).nth(draws.below(3) as usize);
    let mut packet = Packet { ip: ip(node, to), l4, payload, flow: FlowId::NONE };
    if let Some((flow, ends)) = own {
        let is_first = ends[0] == node;
        packet.ip.dst = net::address(ends[usize::from(is_first)]);
        packet.flow = if is_first { *flow } else { flow.reverse() };
    }
    packet.ip.tos = draws.below(256) as u8;
    packet
}

#[test]
fn what_is_handed_in_at_random_is_all_accounted_for() {
    let lle = ALL[0];
    let i_tcp = BASE_STATION.replace("\"snoop\"", "\"i-tcp\"");
    let scenarios = [QUIET, CELL, LEVELS, BASE_STATION, USERS, &i_tcp].map(parse);
    for (i, scenario) in scenarios.into_iter().chain([lle, ALL[2], ALL[3]].map(scenario)).enumerate() {
        let nodes = scenario.scenario().nodes.len() as u32;
        let mut drive = Drive::new(&scenario, 1, &Record::default()).unwrap();
        let mut draws = Streams::new(i as u64).get(Purpose::Traffic, 1);
        let (mut taken, mut came, mut flows) = (0, 0, Vec::new());
        while !drive.is_over() {
            let node = NodeId(draws.below(nodes));
            match draws.below(8) {
                0 if flows.len() < 6 => {
                    let ends = [node, NodeId(draws.below(nodes))];
                    flows.extend(drive.open(ends[0], ends[1]).ok().map(|flow| (flow, ends)));
                }
                1 if flows.len() > 3 => {
                    let (flow, _) = flows.remove(0);
                    drive.close(flow).unwrap();
                    assert_eq!(drive.close(flow), Err(DriveError::NoFlow(flow)));
                }
                2 => came += drive.drain(node).count() as u64,
                3 => drive.advance(drive.now() + Dur::from_us(u64::from(draws.below(20_000)))).unwrap(),
                4 => {
                    let packet = any_packet(&mut draws, node, nodes, &[]);
                    taken += u64::from(drive.inject_bytes(node, &bytes_of(&packet), drive.now()).is_ok());
                }
                _ => {
                    let at = drive.now() + Dur::from_us(u64::from(draws.below(5_000)));
                    let packet = any_packet(&mut draws, node, nodes, &flows);
                    taken += u64::from(drive.inject(node, packet, at).is_ok());
                }
            }
        }
        came += (0..nodes).map(|node| drive.drain(NodeId(node)).count() as u64).sum::<u64>();
        let run = drive.finish().unwrap_or_else(|error| panic!("scenario {i}: {error}"));
        assert!(run.books.balance() && taken > 100 && came > 20, "scenario {i}: {taken} in, {came} out");
        assert_eq!((run.books.injected, run.books.arrived_outside), (taken, came), "scenario {i}");
        println!("scenario {i}: {taken} handed in, {came} arrived");
    }
}

#[test]
fn what_cannot_be_is_refused_in_a_line() {
    let text = format!("{QUIET}[[event]]\nat = \"1 s\"\nkill = \"c\"\n");
    let mut drive = drive(&text);
    let flow = drive.open(A, B).unwrap();
    drive.advance(us(2_000_000)).unwrap();
    let now = drive.now();
    let line = |result: Result<(), DriveError>| result.unwrap_err().to_string();
    let good = || datagram(A, B, 100, flow);
    assert_eq!(line(drive.advance(us(7))), "0.000007000 s is past: the clock stands at 2.000000000 s");
    assert_eq!(line(drive.inject(A, good(), us(7))), "0.000007000 s is past: the clock stands at 2.000000000 s");
    let at_the_end = drive.inject(A, good(), us(10_000_000));
    assert_eq!(line(at_the_end), "nothing happens at 10.000000000 s: the run ends at 10.000000000 s");
    assert_eq!(line(drive.inject(NodeId(3), good(), now)), "no node n3: the scenario has 3, from n0 on");
    assert_eq!(
        line(drive.open(A, NodeId::BROADCAST).map(|_| ())),
        "no node n4294967295: the scenario has 3, from n0 on"
    );
    assert_eq!(line(drive.inject(NodeId(2), good(), now)), "node n2 was killed");
    assert_eq!(line(drive.open(A, A).map(|_| ())), "10.1.0.1 is the address of no other node");
    assert_eq!(drive.mtu(), Bytes(1500));
    assert_eq!(
        line(drive.inject(A, datagram(A, B, 1501, flow), now)),
        format!("a packet of {} is longer than the MTU of {}", Bytes(1501), Bytes(1500))
    );
    assert_eq!(line(drive.inject(B, good(), now)), "10.1.0.2 is the address of no other node");
    assert_eq!(
        line(drive.inject(B, datagram(B, A, 100, flow), now)),
        format!("flow {flow} does not lead from n1 to 10.1.0.1")
    );
    // One of the scenario's, and one that nobody has opened.
    for none in [FlowId::forward(0), FlowId::forward(77), flow.reverse().reverse().reverse()] {
        let refused = drive.inject(A, datagram(A, B, 100, none), now);
        assert!(refused.is_err(), "{none}");
    }
    assert_eq!(line(drive.close(FlowId::forward(0))), "no flow f0 was opened from outside and is still open");
    let mut foreign = good();
    foreign.ip.dst = "192.0.2.1".parse().unwrap();
    assert_eq!(line(drive.inject(A, foreign, now)), "192.0.2.1 is the address of no other node");
    let short = Payload::new(9, Content::Bytes(vec![1; 8].into()));
    assert_eq!(
        line(drive.inject(A, Packet { payload: short, ..good() }, now)),
        "a payload of 9 bytes whose content has 8"
    );
    let beyond = Payload::stream(u64::MAX - 3, 9);
    assert!(drive.inject(A, Packet { payload: beyond, ..good() }, now).is_err());
    assert!(drive.inject(A, Packet { l4: L4::Opaque, ..good() }, now).is_err());

    let bytes = bytes_of(&good());
    let mut refused = |bytes: &[u8]| drive.inject_bytes(A, bytes, now).unwrap_err().to_string();
    assert_eq!(refused(&[]), "0 bytes are too few for an IPv4 header of 20");
    assert_eq!(refused(&[0x60; 40]), "IP version 6, not 4");
    assert_eq!(refused(&bytes[..99]), "total length 100, but only 99 bytes");
    assert_eq!(refused(&[&bytes[..], &[0, 0]].concat()), "2 bytes behind the end of the packet");
    assert_eq!(
        refused(&[0x45; 1501]),
        format!("a packet of {} is longer than the MTU of {}", Bytes(1501), Bytes(1500))
    );
    for (place, what) in [(8, "IP header"), (50, "transport")] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert_eq!(refused(&damaged), format!("the checksum of the {what} is wrong"));
    }
    // Nothing of all that has happened.
    let run = drive.finish().unwrap();
    assert_eq!((run.books.injected, run.books.arrived_outside), (0, 0));
}

#[test]
fn nothing_follows_the_end_and_a_world_may_be_left_half_way() {
    let mut half_way = Drive::new(&scenario(ALL[0]), 1, &Record::default()).unwrap();
    half_way.advance(us(700_000)).unwrap();
    let flow = half_way.open(A, B).unwrap();
    half_way.inject(A, datagram(A, B, 1000, flow), us(700_001)).unwrap();
    half_way.inject(B, datagram(B, A, 1000, flow.reverse()), us(900_000)).unwrap();
    half_way.advance(us(700_300)).unwrap();
    drop(half_way);

    let mut drive = drive(QUIET);
    drive.advance(SimTime::NEVER).unwrap();
    assert!(drive.is_over());
    assert_eq!((drive.now(), drive.now(), drive.next_at()), (drive.end(), us(10_000_000), SimTime::NEVER));
    drive.advance(us(11_000_000)).unwrap();
    assert_eq!(drive.now(), drive.end());
    let flow = drive.open(A, B).unwrap();
    let late = drive.inject(A, datagram(A, B, 99, flow), drive.now());
    assert_eq!(late, Err(DriveError::Over { at: drive.end(), end: drive.end() }));
    assert_eq!(drive.drain(NodeId(9)).count(), 0);
    drive.finish().unwrap();
}

/// A radio and a wire that may break, or a node that may go.
const CHANGING: &str = r#"
scenario = { duration = "400 ms" }
radio = { standard = "802.11b" }
channel = { range = "100 m" }
[[node]]
name = "a"
position = [0, 0]
[[node]]
name = "b"
role = "ap"
position = [5, 0]
[[node]]
name = "c"
[[link]]
name = "wire"
between = ["b", "c"]
rate = "10 Mb/s"
delay = "2 ms"
[[flow]]
from = "a"
to = "c"
transport = { protocol = "tcp", preset = "rfc" }
[[flow]]
from = "c"
to = "a"
traffic = { model = "poisson", rate = "500 kb/s" }
transport = { protocol = "udp", datagram = "700 B" }
"#;

#[test]
fn a_change_is_the_event_of_a_scenario_at_that_instant_bit_for_bit() {
    use world::scenario::{Cut, EventKind};
    let cases = [
        ("kill = \"b\"", EventKind::Kill(B)),
        ("kill = \"c\"", EventKind::Kill(NodeId(2))),
        ("break = [\"a\", \"b\"]", EventKind::Break(Cut::Between(A, B))),
        ("break = \"wire\"", EventKind::Break(Cut::Link("wire".to_owned()))),
        ("move = \"a\"\nto = [7, 100000]", EventKind::Move(A, [7.0, 100_000.0])),
    ];
    let undone = [
        ("heal = [\"b\", \"a\"]", EventKind::Heal(Cut::Between(B, A))),
        ("heal = \"wire\"", EventKind::Heal(Cut::Link("wire".to_owned()))),
        ("move = \"a\"\nto = [5, 2]", EventKind::Move(A, [5.0, 2.0])),
    ];
    let event = |at: u64, what: &str| format!("[[event]]\nat = \"{at} us\"\n{what}\n");
    // Instants at which nothing else happens: a change comes after all events of its instant, an event of the scenario among them.
    let (first, second) = (us(100_007), us(200_013));
    for (i, (text, change)) in cases.iter().enumerate() {
        let again = (i >= 2).then(|| &undone[i - 2]);
        let mut file = CHANGING.to_owned() + &event(100_007, text);
        if let Some((text, _)) = again {
            file += &event(200_013, text);
        }
        let whole = run(&parse(&file), 5, &fingerprints());
        let mut drive = Drive::new(&parse(CHANGING), 5, &fingerprints()).unwrap();
        drive.advance(first).unwrap();
        drive.change(change).unwrap();
        if let Some((_, change)) = again {
            drive.advance(us(150_000)).unwrap();
            drive.advance(second).unwrap();
            drive.change(change).unwrap();
        }
        let mut driven = drive.finish().unwrap();
        let unchanged = run(&parse(CHANGING), 5, &fingerprints());
        assert_ne!(driven.fingerprint, unchanged.fingerprint, "{text}: it changes something");
        assert_eq!(driven.fingerprint, whole.fingerprint, "{text}");
        // An event of the scenario is an event of the agenda, too.
        driven.events += 1 + u64::from(again.is_some());
        assert_eq!(bits(&driven), bits(&whole), "{text}");
    }
    let mut over = drive(CHANGING);
    over.advance(SimTime::NEVER).unwrap();
    let late = over.change(&EventKind::Kill(A)).unwrap_err();
    assert_eq!(late, DriveError::Over { at: over.end(), end: over.end() });
}

#[test]
fn a_run_that_is_stopped_is_one_that_was_meant_to_last_so_long() {
    // The last one has a bulk transfer that comes from behind a wire.
    let all = ALL.map(text).into_iter().chain([LEVELS, USERS, CHANGING].map(str::to_owned));
    for (i, text) in all.enumerate() {
        // Instants at which nothing else happens. Of its last instant a scenario has what comes before its end, and a driver all.
        for stop in [1, 333_337, 1_300_003] {
            let duration = [("scenario.duration".to_owned(), format!("\"{stop} us\""))];
            // A file with an event behind its end, or with no more than a warm-up, says so.
            let Ok(short) = world::parse(&text, &duration) else { continue };
            let mut meant = run(&short, 3, &fingerprints());
            let mut drive = Drive::new(&parse(&text), 3, &fingerprints()).unwrap();
            drive.advance(us(stop).min(drive.end())).unwrap();
            if drive.is_over() {
                continue;
            }
            let stopped = drive.stop().unwrap();
            assert_eq!(stopped.fingerprint, meant.fingerprint, "scenario {i}, {stop} us");
            // The end that it was meant to have is an event, too.
            meant.events -= 1;
            assert_eq!(bits(&stopped), bits(&meant), "scenario {i}, {stop} us");
        }
    }
    // All of a run that ends in its warm-up counts.
    let mut drive = drive(USERS);
    drive.advance(us(900_000)).unwrap();
    let run = drive.stop().unwrap();
    assert_eq!(
        (run.simulated, run.flow(0, "delivered_bytes")),
        (Dur::from_ms(900), run.flow(0, "delivered_bytes_total"))
    );
    assert!(run.flow(0, "delivered_bytes") > Some(1e4));
}
