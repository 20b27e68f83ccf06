//! A router whose packets carry headers: DSR across three nodes in a row.

use crate::driver::{Air, Nothing, node};
use engine::{Purpose, Streams};
use net::RouterFacts;
use net::router::dsr::{Dsr, INFO, Settings};
use plugin::{Params, Value};
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp};

fn router(id: u32, buffer: i64) -> Box<Dsr> {
    let mut params = Params::defaults(INFO.params);
    for key in ["jitter", "reply_delay"] {
        params.set(key, Value::Time(Dur::ZERO));
    }
    params.set("send_buffer", Value::Int(buffer));
    let node = NodeId(id);
    let facts = RouterFacts {
        node,
        address: net::address(node),
        interfaces: vec![InterfaceId(id)],
        addresses: net::Addresses::new(3, []),
        least_cost: vec![],
        draws: Streams::new(1).get(Purpose::Routing, u64::from(id)),
    };
    Box::new(Dsr::new(facts, Settings::of(&params)))
}

fn datagram(from: u32, to: u32, offset: u64) -> Packet {
    let ip = Ipv4 { src: net::address(NodeId(from)), dst: net::address(NodeId(to)), ..Ipv4::default() };
    let l4 = L4::Udp(Udp { src_port: 9, dst_port: 9 });
    Packet { ip, l4, payload: Payload::stream(offset, 100), flow: FlowId::forward(0) }
}

#[test]
fn a_header_is_put_on_counted_down_and_taken_off_and_the_host_gets_what_was_sent() {
    let nodes = (0..3).map(|id| node(id, vec![], router(id, 64), Dur::ZERO)).collect();
    let mut air = Air::new(nodes, vec![vec![1], vec![0, 2], vec![1]]);
    air.send(0, datagram(0, 2, 0));
    assert!(air.delivered.is_empty(), "the neighbours do not know");
    assert!(air.wait());
    let [(at, there, packet)] = &air.delivered[..] else { panic!("{:?}", air.delivered) };
    assert_eq!((*at, *there), (SimTime::ZERO + Dur::from_ms(30), NodeId(2)));
    let sent = datagram(0, 2, 0);
    assert_eq!(*packet, Packet { ip: Ipv4 { ttl: 63, ..sent.ip }, ..sent });
    // The way back was learned from it.
    air.send(2, datagram(2, 0, 0));
    assert_eq!((air.delivered.len(), air.packets.live()), (2, 0));
    let mut headers = 0;
    air.nodes.iter().for_each(|node| {
        node.router().counters(&mut |name, n| headers += if name == "headers_sent" { n } else { 0 })
    });
    assert_eq!(headers, 4, "one each hop, there and back");
}

#[test]
fn the_packet_that_has_waited_longest_makes_room() {
    let mut node = node(0, vec![], router(0, 2), Dur::ZERO);
    let (mut packets, mut host) = (Packets::default(), Nothing);
    for offset in [0, 100, 200] {
        let pkt = packets.put(datagram(0, 2, offset));
        node.send(pkt);
        while node.poll(SimTime::ZERO, &mut packets, &mut host).is_some() {}
    }
    // Beside them the request, which the driver has.
    assert_eq!((node.held(), packets.ended(DropWhy::NoRoute)), (2, 1));
    node.kill(SimTime::ZERO, &mut packets, &mut host);
    assert_eq!(packets.ended(DropWhy::NodeDown), 2);
}
