//! A node that is handed real bytes: what it does not touch leaves as it came, and what it rewrites is right.

use crate::driver::{Nothing, node};
use node::{Demux, FlowIds, Input, Node, Output};
use schemes::testing::{self, Ground};
use schemes::{Agent, Cx, Field, Info, Member, Params, Place, Refusal, Site};
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Flags, Integrity, Ipv4, L4, Packet, Packets, Payload, Pkt, Seq, Tcp, TcpOptions, verify};

/// Sets the window of what passes in the air's direction to 1,234.
#[derive(Debug)]
struct Rewriter;

static REWRITER: Info = Info { id: "rewriter", summary: "rewrites windows", source: "none", params: &[] };

fn rewriter(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    site.agent(Rewriter).listen([Place::ToAir]).rewrites(Field::Window);
    Ok(())
}

impl Agent for Rewriter {
    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        if let Some(tcp) = cx.get_mut(&pkt).tcp_mut() {
            tcp.window = 1_234;
        }
        Some(pkt)
    }
}

fn rewriters() -> Vec<Member> {
    let mut ground = Ground::new(testing::node(NodeId(0), 2));
    ground.install(&testing::with(&REWRITER, rewriter, &[])).expect("nothing speaks against it");
    ground.stack.members
}

/// A driver of bytes: one node, what comes by a wire leaves by radio.
struct Tunnel {
    node: Node,
    demux: Demux,
    ids: FlowIds,
    packets: Packets,
    /// The connections of what left.
    flows: Vec<FlowId>,
}

/// The radio neighbour whose address everything is for.
const PEER: NodeId = NodeId(1);

impl Tunnel {
    fn new(agents: Vec<Member>) -> Tunnel {
        let (interface, id) = (InterfaceId(0), NodeId(0));
        let least_cost = vec![None, Some(net::Hop::Air(interface, PEER))];
        let (interfaces, addresses) = (vec![interface], net::Addresses::new(2, []));
        let draws = engine::Streams::new(1).get(engine::Purpose::Routing, 0);
        let facts =
            net::RouterFacts { node: id, address: net::address(id), interfaces, addresses, least_cost, draws };
        let fixed = net::router::find("static").expect("it is registered");
        let router = (fixed.plugin)(facts, &fixed.params);
        let node = node(0, agents, router, Dur::ZERO);
        Tunnel { node, demux: Demux::new(100), ids: FlowIds::default(), packets: Packets::default(), flows: vec![] }
    }

    /// The bytes that leave by radio for those that the node's own host sends.
    fn through(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.send(bytes, Input::FromHost)
    }

    fn send(&mut self, bytes: &[u8], how: impl FnOnce(Pkt) -> Input<'static>) -> Vec<u8> {
        let mut packet = Packet::parse(bytes, FlowId::NONE).expect("the bytes are an IP packet");
        packet.flow = self.demux.flow_of(SimTime::ZERO, &packet, &mut self.ids);
        self.flows.push(packet.flow);
        let pkt = self.packets.put(packet);
        self.node.handle(SimTime::ZERO, how(pkt), &mut self.packets, &mut Nothing);
        let Some(Output::ToAir { pkt, to: PEER, .. }) =
            self.node.poll(SimTime::ZERO, &mut self.packets, &mut Nothing)
        else {
            panic!("it did not go to the peer");
        };
        let mut out = Vec::new();
        self.packets.free(pkt, wire::DropWhy::MacDone).emit(&mut out).expect("what was parsed can be written");
        assert_eq!(self.packets.live(), 0);
        out
    }
}

fn ip(header_words: u8, protocol: u8, options: &[u8], body: &[u8]) -> Vec<u8> {
    let len = usize::from(header_words) * 4 + body.len();
    let mut bytes =
        vec![0x40 | header_words, 0x10, (len >> 8) as u8, len as u8, 0xab, 0xcd, 0x40, 0, 61, protocol, 0, 0];
    bytes.extend([203, 0, 113, 5]);
    bytes.extend(net::address(PEER).octets());
    bytes.extend(options);
    let sum = checksum(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(body);
    bytes
}

/// The Internet checksum (@RFC1071), written for this test and not the library's.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(((folded & 0xffff) + (folded >> 16)) as u16)
}

/// A segment in the middle of a connection whose handshake nobody saw, with timestamps and an option of an experiment.
fn segment() -> Vec<u8> {
    let mut tcp = vec![0x9c, 0x40, 0, 80, 1, 2, 3, 4, 5, 6, 7, 8, 0xa0, 0x18, 0x20, 0, 0, 0, 0, 0];
    tcp.extend([1, 1, 8, 10, 0, 0, 1, 0, 0, 0, 2, 0]); // NOP, NOP, timestamps
    tcp.extend([253, 4, 0xbe, 0xef, 1, 1, 1, 0]); // an experiment (@RFC4727), NOPs, the end of the list
    tcp.extend(b"hello, world");
    seal(&mut tcp);
    ip(5, 6, &[], &tcp)
}

fn seal(tcp: &mut [u8]) {
    let mut pseudo = [&[203, 0, 113, 5][..], &net::address(PEER).octets(), &[0, 6]].concat();
    pseudo.extend((tcp.len() as u16).to_be_bytes());
    pseudo.extend(&*tcp);
    let sum = checksum(&pseudo);
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
}

#[test]
fn what_no_agent_touches_leaves_byte_for_byte() {
    let udp = [&[0x13, 0x88, 0, 53, 0, 12, 0, 0][..], b"abcd"].concat(); // no checksum
    let with_options = ip(6, 17, &[7, 3, 4, 0], &udp); // record route
    let unknown = ip(5, 132, &[], &[1, 2, 3, 4, 5, 6, 7]); // SCTP
    let mut fragment = ip(5, 6, &[], &[0; 16]);
    fragment[6] = 0x20; // more fragments
    fragment[10..12].fill(0);
    let sum = checksum(&fragment[..20]);
    fragment[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut damaged = segment();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    for bytes in [segment(), with_options, unknown, fragment, ip(5, 17, &[], &udp), damaged] {
        assert_eq!(Tunnel::new(vec![]).through(&bytes), bytes);
        // Forwarded, it loses a hop, unless the node does not understand it.
        let mut forwarded = Tunnel::new(vec![]).send(&bytes, |pkt| Input::FromWire(pkt, NodeId(7)));
        if forwarded[8] == 60 {
            assert_eq!(checksum(&forwarded[..20]), 0);
            (forwarded[8], forwarded[10], forwarded[11]) = (61, bytes[10], bytes[11]);
        }
        assert_eq!(forwarded, bytes);
    }
}

#[test]
fn a_segment_that_was_not_seen_from_its_handshake_on_is_typed_and_has_a_flow() {
    let mut tunnel = Tunnel::new(vec![]);
    tunnel.through(&segment());
    tunnel.through(&ip(5, 132, &[], &[1, 2, 3]));
    assert_eq!(tunnel.flows, [FlowId::forward(0), FlowId::NONE]);
}

#[test]
fn a_window_that_an_agent_rewrites_leaves_with_a_checksum_that_is_right_and_nothing_else_changes() {
    let before = segment();
    let after = Tunnel::new(rewriters()).through(&before);
    assert_eq!(after[20 + 14..20 + 16], 1_234u16.to_be_bytes());
    let mut expected = before;
    expected[34..36].copy_from_slice(&1_234u16.to_be_bytes());
    expected[36..38].fill(0);
    let mut tcp = expected.split_off(20);
    seal(&mut tcp);
    expected.extend(tcp);
    assert_eq!(after, expected);
    assert_eq!(verify(&after), Ok(Integrity::Good));
}

#[test]
fn what_an_agent_cannot_understand_passes_it_by() {
    let unknown = ip(5, 132, &[], &[1, 2, 3, 4]);
    assert_eq!(Tunnel::new(rewriters()).through(&unknown), unknown);
}

#[test]
fn a_handshake_opens_one_connection_and_its_answer_comes_back_against_it() {
    let (mut demux, mut ids) = (Demux::new(10), FlowIds::default());
    let (a, b) = (std::net::Ipv4Addr::new(203, 0, 113, 5), net::address(PEER));
    let make = |src, dst, ports: (u16, u16), flags| {
        let options = TcpOptions::default();
        let tcp = Tcp { src_port: ports.0, dst_port: ports.1, seq: Seq(7), flags, options, ..Tcp::default() };
        let packet = Packet {
            ip: Ipv4 { src, dst, ..Ipv4::default() },
            l4: L4::Tcp(tcp),
            payload: Payload::EMPTY,
            flow: FlowId::NONE,
        };
        let mut bytes = Vec::new();
        packet.emit(&mut bytes).expect("a segment has bytes");
        Packet::parse(&bytes, FlowId::NONE).expect("they read back")
    };
    let syn = demux.flow_of(SimTime::ZERO, &make(a, b, (1, 2), Flags::SYN), &mut ids);
    let answer = demux.flow_of(SimTime::ZERO, &make(b, a, (2, 1), Flags::SYN | Flags::ACK), &mut ids);
    assert_eq!((answer, demux.len()), (syn.reverse(), 1));
}
