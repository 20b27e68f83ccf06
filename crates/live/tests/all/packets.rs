//! Packets as hosts send them, in bytes, and scenarios for them.

use live::Gate;
use net::{address, address6};
use std::net::{Ipv4Addr, Ipv6Addr};
use units::{FlowId, NodeId, SimTime};
use wire::bytes::{checksum, protocol};
use wire::{Flags, Ipv4, L4, Packet, Payload, Seq, Tcp, TcpOptions, Udp};
use world::{Blueprint, Drive, Record};

pub const SERVER: NodeId = NodeId(0);
pub const AP: NodeId = NodeId(1);
pub const PHONE: NodeId = NodeId(2);
pub const NODES: usize = 3;

/// A server behind an access point, and a phone. The flow of the scenario says nothing.
pub const CELL: &str = r#"
scenario = { duration = "100 s" }
radio = { standard = "802.11g" }
channel = { range = "30 m" }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "phone"
position = [5, 0]
[[link]]
name = "backhaul"
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "1 ms"
[[flow]]
from = "server"
to = "phone"
start = "99 s"
traffic = { model = "none" }
"#;

pub fn parse(text: &str) -> Blueprint {
    world::parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub fn gate(text: &str) -> Gate {
    let blueprint = parse(text);
    Gate::new(Drive::new(&blueprint, 1, &Record::default()).unwrap(), blueprint.scenario().nodes.len())
}

pub fn ms(ms: u64) -> SimTime {
    SimTime::from_ns(1_000_000 * ms)
}

/// The packets that have arrived at `node`.
pub fn arrived(gate: &mut Gate, node: NodeId) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    gate.leave(node, |_, bytes| all.push(bytes.to_vec()));
    all
}

fn bytes_of(from: NodeId, to: NodeId, l4: L4, len: u32) -> Vec<u8> {
    let ip = Ipv4 { src: address(from), dst: address(to), id: 7, ..Ipv4::default() };
    let mut bytes = Vec::new();
    Packet { ip, l4, payload: Payload::stream(1, len), flow: FlowId::NONE }.emit(&mut bytes).unwrap();
    bytes
}

/// A datagram with `len` bytes of payload.
pub fn udp(from: NodeId, to: NodeId, ports: [u16; 2], len: u32) -> Vec<u8> {
    bytes_of(from, to, L4::Udp(Udp { src_port: ports[0], dst_port: ports[1] }), len)
}

/// A segment with timestamps and `len` bytes of payload.
pub fn tcp(from: NodeId, to: NodeId, ports: [u16; 2], [seq, ack]: [u32; 2], flags: Flags, len: u32) -> Vec<u8> {
    let mut options = TcpOptions::default();
    assert!(options.push_timestamps(7, 9));
    let [src_port, dst_port] = ports;
    let tcp =
        Tcp { src_port, dst_port, seq: Seq(seq), ack: Seq(ack), flags, window: 5000, options, ..Tcp::default() };
    bytes_of(from, to, L4::Tcp(tcp), len)
}

/// An IPv6 packet with `rest` behind its header, which is of type `next`.
pub fn six(from: NodeId, to: Ipv6Addr, next: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((rest.len() as u16).to_be_bytes());
    bytes.extend([next, 64]);
    bytes.extend(address6(from).octets());
    bytes.extend(to.octets());
    bytes.extend(rest);
    bytes
}

/// `bytes` with the checksum of their IPv4 header as it must be.
pub fn headed(mut bytes: Vec<u8>) -> Vec<u8> {
    let header = (usize::from(bytes[0] & 15) * 4).clamp(20, bytes.len());
    bytes[10..12].fill(0);
    let sum = checksum::checksum(&bytes[..header]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// `bytes` with the checksums of header and segment as they must be, so that what else is odd is found.
pub fn sealed(bytes: Vec<u8>) -> Vec<u8> {
    let mut bytes = headed(bytes);
    let header = usize::from(bytes[0] & 15) * 4;
    let at = match bytes[9] {
        protocol::TCP => header + 16,
        protocol::UDP => header + 6,
        _ => return bytes,
    };
    if header < 20 || bytes.len() < at + 2 {
        return bytes;
    }
    let [src, dst] = [12, 16].map(|at| Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]));
    bytes[at..at + 2].fill(0);
    let len = (bytes.len() - header) as u16;
    let sum = checksum::pseudo_header(src, dst, bytes[9], len).bytes(&bytes[header..]).checksum();
    bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// A typed packet behind a relay: its time to live is one less, and the checksum of its header goes with it.
pub fn older(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[8] -= 1;
    headed(bytes)
}
