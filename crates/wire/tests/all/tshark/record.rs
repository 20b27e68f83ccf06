//! A capture in the making, with what tshark should say about each of its packets.

use std::net::Ipv4Addr;
use units::{Dur, FlowId, NodeId, SimTime};
use wire::dot11::{DataHeader, Frame, MacAddr};
use wire::pcapng::{Description, Interface, LinkType, Writer};
use wire::radiotap::{Radiotap, RadiotapFlags};
use wire::{Flags, Ipv4, L4, Packet, Payload, Seq, Tcp, TcpOptions};

/// tshark's number for a right checksum, in the fields `*.checksum.status` and `wlan.fcs.status`.
pub const GOOD: &str = "1";
/// Its number for a wrong one.
pub const BAD: &str = "0";

/// Fields of a packet and their values.
pub type Expected = Vec<(&'static str, String)>;

/// A capture being written, and what tshark should say about each of its packets.
pub struct Record {
    pub writer: Writer<Vec<u8>>,
    pub air: Interface,
    pub cable: Interface,
    now: SimTime,
    pub expected: Vec<Expected>,
}

impl Record {
    pub fn new() -> Record {
        let mut writer = Writer::new(Vec::new(), None).unwrap();
        let air = writer.interface(Description::new("air", LinkType::RADIOTAP)).unwrap();
        let cable = writer.interface(Description::new("cable", LinkType::RAW_IP)).unwrap();
        Record { writer, air, cable, now: SimTime::from_ns(1_000_000_001), expected: Vec::new() }
    }

    pub fn write(&mut self, interface: Interface, bytes: &[u8], comment: Option<&str>, mut expected: Expected) {
        self.now += Dur::from_ns(123_457);
        let name = if interface == self.air { "air" } else { "cable" };
        let (s, ns) = (self.now.ns() / 1_000_000_000, self.now.ns() % 1_000_000_000);
        expected.push(("frame.interface_name", name.into()));
        expected.push(("frame.time_epoch", format!("{s}.{ns:09}")));
        expected.extend(comment.map(|text| ("frame.comment", text.into())));
        self.writer.packet(interface, self.now, bytes, comment).unwrap();
        self.expected.push(expected);
    }

    /// A frame behind a plain radiotap header.
    pub fn frame(&mut self, frame: &[u8], expected: Expected) {
        let mut bytes = Vec::new();
        Radiotap { flags: Some(RadiotapFlags::FCS_AT_END), ..Radiotap::default() }.emit(&mut bytes);
        bytes.extend_from_slice(frame);
        self.write(self.air, &bytes, None, expected);
    }

    /// An IP packet twice: on the cable, and in a data frame on the air.
    pub fn packet(&mut self, packet: &Packet, expected: &Expected) {
        let mut bytes = Vec::new();
        packet.emit(&mut bytes).unwrap();
        self.write(self.cable, &bytes, None, expected.clone());
        bytes.clear();
        data_header().emit_packet(packet, &mut bytes).unwrap();
        self.frame(&bytes, with(expected, &[("wlan.fcs.status", GOOD), ("llc.type", "0x0800")]));
    }
}

pub fn node(n: u32) -> MacAddr {
    MacAddr::of_node(NodeId(n))
}

pub fn data_header() -> DataHeader {
    DataHeader::ibss(node(2), node(1), MacAddr::ibss(7))
}

pub fn emitted(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.emit(&mut bytes).unwrap();
    bytes
}

pub fn fields(list: &[(&'static str, &str)]) -> Expected {
    list.iter().map(|(field, value)| (*field, (*value).into())).collect()
}

pub fn with(expected: &Expected, more: &[(&'static str, &str)]) -> Expected {
    [expected.clone(), fields(more)].concat()
}

pub fn packet(l4: L4, payload: Payload) -> Packet {
    let ip = Ipv4 {
        src: Ipv4Addr::new(10, 0, 0, 1),
        dst: Ipv4Addr::new(10, 0, 0, 2),
        tos: 0x02,
        ttl: 61,
        id: 0xBEEF,
        dont_fragment: true,
    };
    Packet { ip, l4, payload, flow: FlowId(0) }
}

pub fn ip_fields() -> Expected {
    fields(&[
        ("ip.src", "10.0.0.1"),
        ("ip.dst", "10.0.0.2"),
        ("ip.dsfield", "0x02"),
        ("ip.ttl", "61"),
        ("ip.id", "0xbeef"),
        ("ip.flags.df", "1"),
        ("ip.flags.mf", "0"),
        ("ip.checksum.status", GOOD),
    ])
}

pub fn segment(flags: Flags, seq: u32, ack: u32, options: TcpOptions) -> Tcp {
    let (src_port, dst_port, window) = (40_001, 40_002, 4_321);
    Tcp { src_port, dst_port, seq: Seq(seq), ack: Seq(ack), flags, window, urgent: 0, options }
}

pub fn tcp_fields(tcp: &Tcp, len: u32) -> Expected {
    let number = |n: u64| n.to_string();
    let mut expected = ip_fields();
    expected.extend([
        ("tcp.checksum.status", GOOD.into()),
        ("tcp.srcport", number(40_001)),
        ("tcp.dstport", number(40_002)),
        ("tcp.seq_raw", tcp.seq.to_string()),
        ("tcp.ack_raw", tcp.ack.to_string()),
        ("tcp.flags", number(tcp.flags.0.into())),
        ("tcp.window_size_value", number(4_321)),
        ("tcp.hdr_len", number(tcp.header_len() as u64)),
        ("tcp.len", number(len.into())),
    ]);
    expected
}
