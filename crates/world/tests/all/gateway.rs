//! Addresses outside the network: packets for them leave by the node that stands for their longest prefix.

use std::net::Ipv4Addr;
use units::{FlowId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Payload, Udp};
use world::{Drive, DriveError, Record};

const SENDER: NodeId = NodeId(0);
const LAB: NodeId = NodeId(2);
const GATEWAY: NodeId = NodeId(3);

/// A station on one channel, a relay to another with a laboratory's network on it, and behind a wire the way to everywhere else.
const TEXT: &str = r#"
scenario = { duration = "2 s" }
radio = { standard = "802.11b" }
[[channel.further]]
name = "back"
[[node]]
name = "sender"
[[node]]
name = "relay"
channels = ["main", "back"]
[[node]]
name = "lab"
channels = ["back"]
prefixes = ["192.0.2.0/24"]
[[node]]
name = "gateway"
prefixes = ["0.0.0.0/0"]
[[link]]
between = ["relay", "gateway"]
rate = "10 Mb/s"
delay = "5 ms"
[[flow]]
from = "sender"
to = "lab"
start = "1 s"
traffic = { model = "cbr", rate = "100 kb/s" }
transport = { protocol = "udp" }
"#;

fn drive(text: &str) -> Drive {
    let blueprint = world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    Drive::new(&blueprint, 1, &Record::default()).unwrap()
}

fn datagram(src: Ipv4Addr, dst: Ipv4Addr, ports: [u16; 2]) -> Vec<u8> {
    let l4 = L4::Udp(Udp { src_port: ports[0], dst_port: ports[1] });
    let ip = Ipv4 { src, dst, ..Ipv4::default() };
    let mut bytes = Vec::new();
    Packet { ip, l4, payload: Payload::stream(0, 100), flow: FlowId::NONE }.emit(&mut bytes).unwrap();
    bytes
}

fn arrived(drive: &mut Drive, node: NodeId) -> Vec<(Ipv4Addr, Ipv4Addr, u8)> {
    drive.drain(node).map(|it| (it.packet.ip.src, it.packet.ip.dst, it.packet.ip.ttl)).collect()
}

#[test]
fn a_packet_leaves_by_the_node_of_its_longest_prefix_and_an_answer_comes_back() {
    let mut drive = drive(TEXT);
    let own = net::address(SENDER);
    let [lab, away, node]: [Ipv4Addr; 3] = [[192, 0, 2, 9].into(), [203, 0, 113, 5].into(), net::address(LAB)];
    for to in [lab, away, node] {
        drive.inject_bytes(SENDER, &datagram(own, to, [4000, 5000]), SimTime::ZERO).unwrap();
    }
    drive.advance(SimTime::from_ns(100_000_000)).unwrap();
    // Both are two hops away: the relay has passed them on.
    assert_eq!(arrived(&mut drive, LAB), [(own, lab, 63), (own, node, 63)]);
    assert_eq!(arrived(&mut drive, GATEWAY), [(own, away, 63)]);
    let now = drive.now();
    let answer = drive.inject_bytes(GATEWAY, &datagram(away, own, [5000, 4000]), now).unwrap();
    assert!(answer.is_reverse(), "it is of the flow that the sender opened");
    drive.advance(SimTime::from_ns(200_000_000)).unwrap();
    assert_eq!(arrived(&mut drive, SENDER), [(away, own, 63)]);
    assert!(drive.finish().unwrap().books.balance());
}

#[test]
fn without_a_default_route_an_address_of_nobody_is_refused() {
    let mut drive = drive(&TEXT.replace("prefixes = [\"0.0.0.0/0\"]\n", ""));
    let to = Ipv4Addr::new(203, 0, 113, 5);
    let refused = drive.inject_bytes(SENDER, &datagram(net::address(SENDER), to, [1, 2]), SimTime::ZERO);
    assert_eq!(refused, Err(DriveError::NoWay(to)));
}
