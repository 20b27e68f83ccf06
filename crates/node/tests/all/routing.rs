//! A router with a timer, held packets and broadcast control packets, across three nodes in a row.

use crate::driver::{Air, node};
use crate::flood::Flood;
use net::RouterFacts;
use units::{Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Payload, Udp};

fn row(hears: [&[u32]; 3]) -> Air {
    let facts = |id: u32| {
        let (node, interfaces) = (NodeId(id), vec![InterfaceId(id)]);
        RouterFacts {
            node,
            address: net::address(node),
            interfaces,
            addresses: net::Addresses::default(),
            least_cost: vec![],
        }
    };
    let nodes = (0..3).map(|id| node(id, vec![], Box::new(Flood::new(facts(id))), Dur::ZERO)).collect();
    Air::new(nodes, hears.map(<[u32]>::to_vec).to_vec())
}

fn datagram(from: u32, to: u32, offset: u64) -> Packet {
    let ip = Ipv4 { src: net::address(NodeId(from)), dst: net::address(NodeId(to)), ..Ipv4::default() };
    let l4 = L4::Udp(Udp { src_port: 9, dst_port: 9 });
    Packet { ip, l4, payload: Payload::stream(offset, 100), flow: FlowId::forward(0) }
}

fn frames(air: &mut Air) -> Vec<(u32, Option<u32>)> {
    let to = |node: NodeId| (node != NodeId::BROADCAST).then_some(node.0);
    air.frames.drain(..).map(|(from, other)| (from.0, to(other))).collect()
}

#[test]
fn a_packet_waits_for_its_route_and_goes_on_over_two_hops_when_it_is_found() {
    let mut air = row([&[1], &[0, 2], &[1]]);
    air.send(0, datagram(0, 2, 0));
    // 0 asks all, 1 asks all, 2 answers 1, 1 answers 0; then the packet goes, which had waited.
    assert_eq!(frames(&mut air), [(0, None), (1, None), (2, Some(1)), (1, Some(0)), (0, Some(1)), (1, Some(2))]);
    let [(at, there, packet)] = &air.delivered[..] else { panic!("{:?}", air.delivered) };
    assert_eq!((*at, *there, packet.ip.ttl), (SimTime::ZERO, NodeId(2), 63));
    // The route stands, and the way back with it.
    air.send(0, datagram(0, 2, 100));
    air.send(2, datagram(2, 0, 0));
    assert_eq!(frames(&mut air), [(0, Some(1)), (1, Some(2)), (2, Some(1)), (1, Some(0))]);
    assert_eq!((air.delivered.len(), air.packets.live()), (3, 0));
    assert!(!air.wait(), "no search is under way");
}

#[test]
fn what_waits_for_a_route_that_is_not_found_ends_when_the_router_gives_up() {
    let mut air = row([&[1], &[0], &[]]);
    air.send(0, datagram(0, 2, 0));
    air.send(0, datagram(0, 2, 100));
    assert_eq!((air.nodes[0].held(), air.packets.live()), (2, 2));
    assert_eq!(air.nodes[0].next_wakeup(), SimTime::ZERO + Dur::from_ms(200));
    assert!(air.wait());
    assert_eq!((air.nodes[0].held(), air.packets.live(), air.delivered.len()), (0, 0, 0));
    // Another search, now that 2 is there.
    air.hears = vec![vec![1], vec![0, 2], vec![1]];
    air.send(0, datagram(0, 2, 200));
    assert_eq!(air.delivered.len(), 1);
}

#[test]
fn a_link_that_failed_is_forgotten_and_the_next_packet_seeks_again() {
    let mut air = row([&[1], &[0, 2], &[1]]);
    air.send(0, datagram(0, 2, 0));
    frames(&mut air);
    let report = given_up(NodeId(1));
    let packet = datagram(0, 2, 0);
    air.tell(0, node::Input::Report(InterfaceId(0), &packet, &report));
    air.send(0, datagram(0, 2, 100));
    assert_eq!(frames(&mut air)[..2], [(0, None), (1, None)], "a question before the packet");
    assert_eq!(air.delivered.len(), 2);
}

/// The MAC's report of a packet to `to` that it gives up.
fn given_up(to: NodeId) -> mac::TxReport {
    use mac::{Fate, Msdu};
    let mut packets = wire::Packets::default();
    let pkt = packets.put(datagram(0, 2, 0));
    let msdu = Msdu::new(SimTime::ZERO, pkt, &packets, to, 0);
    msdu.report(SimTime::ZERO, Fate::GivenUp, None)
}

#[test]
fn control_packets_do_not_reach_the_host_and_other_broadcasts_do() {
    let mut air = row([&[1], &[0, 2], &[1]]);
    let mut packet = datagram(0, 0, 0);
    packet.ip.dst = std::net::Ipv4Addr::BROADCAST;
    let pkt = air.packets.put(packet);
    air.tell(1, node::Input::FromAir(pkt, InterfaceId(1), NodeId(0), mac::MacOptions::default()));
    assert_eq!(air.delivered.len(), 1);
    air.send(0, datagram(0, 2, 0));
    assert_eq!(air.delivered.iter().filter(|(_, node, _)| *node == NodeId(1)).count(), 1);
}

/// A router that knows its neighbours and nothing else.
#[derive(Debug, Default)]
struct Watches(u64);

impl net::Router for Watches {
    fn next(&mut self, _: SimTime, _: &Packet) -> Option<net::Hop> {
        None
    }

    fn watches_neighbours(&self) -> bool {
        true
    }

    fn neighbour(&mut self, _: SimTime, _: InterfaceId, node: NodeId, is_up: bool, _: &mut net::Orders) {
        let bit = 1 << node.0;
        self.0 = if is_up { self.0 | bit } else { self.0 & !bit };
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("neighbours", self.0);
    }
}

#[test]
fn a_router_that_watches_is_told_of_neighbours_that_come_and_go_and_another_is_not_asked_to() {
    use schemes::PeerEvent;
    let mut air = Air::new(vec![node(0, vec![], Box::<Watches>::default(), Dur::ZERO)], vec![vec![]]);
    assert!(air.nodes[0].wants_peers());
    for (peer, event) in [(1, PeerEvent::Up(&[])), (5, PeerEvent::Up(&[])), (1, PeerEvent::Down)] {
        air.tell(0, node::Input::Peer(InterfaceId(0), NodeId(peer), event));
    }
    let mut known = 0;
    air.nodes[0].router().counters(&mut |_, value| known = value);
    assert_eq!(known, 1 << 5);
    assert!(!row([&[], &[], &[]]).nodes[0].wants_peers());
}
