//! A router with a timer, held packets and broadcast control packets, across three nodes in a row.

use crate::driver::{Air, node};
use crate::flood::Flood;
use engine::{Purpose, Streams};
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
            draws: Streams::new(1).get(Purpose::Routing, u64::from(id)),
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

/// A router with one neighbour that goes at the first failure: it keeps the packet, wants back what was queued, and looks for a way.
#[derive(Debug)]
struct Careful {
    hop: Option<net::Hop>,
    came_from: Vec<Option<NodeId>>,
}

impl net::Router for Careful {
    fn next(&mut self, _: SimTime, _: &Packet, from: Option<NodeId>) -> Option<net::Hop> {
        self.came_from.push(from);
        self.hop
    }

    fn seek(&mut self, _: SimTime, _: &Packet, _: Option<NodeId>, _: &mut net::Orders) -> bool {
        true
    }

    fn link_failed(&mut self, _: SimTime, at: InterfaceId, to: NodeId, packet: &Packet, orders: &mut net::Orders) {
        self.hop = None;
        orders.push(net::Order::Recall(at, to));
        orders.push(net::Order::Hold(packet.clone()));
    }

    fn timer(&mut self, _: SimTime, orders: &mut net::Orders) {
        self.hop = Some(net::Hop::Air(InterfaceId(0), NodeId(2)));
        orders.push(net::Order::Found(net::address(NodeId(9))));
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("strangers", self.came_from.iter().filter(|from| from.is_none()).count() as u64);
        out("asked", self.came_from.len() as u64);
    }

    fn next_wakeup(&self) -> SimTime {
        if self.hop.is_none() { SimTime::from_ns(5) } else { SimTime::NEVER }
    }
}

#[test]
fn a_packet_that_was_given_up_is_kept_and_those_that_were_queued_come_back_and_all_go_the_other_way() {
    let toward = net::Hop::Air(InterfaceId(0), NodeId(1));
    let mut node = node(0, vec![], Box::new(Careful { hop: Some(toward), came_from: vec![] }), Dur::ZERO);
    let (mut packets, mut host) = (wire::Packets::default(), crate::driver::Nothing);
    let mut queued = Vec::new();
    for offset in [0, 100, 200] {
        let pkt = packets.put(datagram(7, 9, offset));
        node.receive(pkt, InterfaceId(0), NodeId(7));
        queued.extend(node.poll(SimTime::ZERO, &mut packets, &mut host));
    }
    let mut toward: Vec<NodeId> = Vec::new();
    let mut pkts = Vec::new();
    for output in queued {
        let node::Output::ToAir { pkt, to, .. } = output else { panic!("{output:?}") };
        toward.push(to);
        pkts.push(pkt);
    }
    assert_eq!(toward, [NodeId(1); 3]);
    // The MAC gives the first one up; the two others are in its queue.
    let lost = packets.free(pkts.remove(0), wire::DropWhy::MacDone).clone();
    let report = given_up(NodeId(1));
    let input = node::Input::Report(InterfaceId(0), &lost, &report);
    node.handle(SimTime::ZERO, input, &mut packets, &mut host);
    assert_eq!(node.next_recall(), Some((InterfaceId(0), NodeId(1), None)));
    assert_eq!(node.next_recall(), None);
    for pkt in pkts {
        node.handle(SimTime::ZERO, node::Input::Recalled(pkt), &mut packets, &mut host);
    }
    assert_eq!(node.poll(SimTime::ZERO, &mut packets, &mut host), None);
    assert_eq!((node.held(), packets.live()), (3, 3));
    node.handle(SimTime::from_ns(5), node::Input::Timer, &mut packets, &mut host);
    let mut went = Vec::new();
    while let Some(output) = node.poll(SimTime::from_ns(5), &mut packets, &mut host) {
        let node::Output::ToAir { pkt, to, .. } = output else { panic!("{output:?}") };
        // No hop was counted twice.
        went.push((to, packets.get(&pkt).ip.ttl, packets.get(&pkt).payload.clone()));
    }
    assert_eq!(went.iter().map(|(to, ttl, _)| (*to, *ttl)).collect::<Vec<_>>(), [(NodeId(2), 63); 3]);
    assert!(went.iter().map(|(.., payload)| payload).eq([0, 100, 200].map(|at| Payload::stream(at, 100)).iter()));
    // Asked with the neighbour it came from, and without once it had waited.
    let mut counted = Vec::new();
    node.router().counters(&mut |name, count| counted.push((name, count)));
    assert_eq!(counted, [("strangers", 5), ("asked", 8)]);
}

/// A router that knows its neighbours and nothing else.
#[derive(Debug, Default)]
struct Watches(u64);

impl net::Router for Watches {
    fn next(&mut self, _: SimTime, _: &Packet, _: Option<NodeId>) -> Option<net::Hop> {
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

/// Measures 2 ms for each packet that a neighbour has acknowledged.
#[derive(Debug)]
struct Stopwatch;

static STOPWATCH: schemes::Info =
    schemes::Info { id: "stopwatch", summary: "measures links", source: "none", params: &[] };

const MEASURED: net::LinkSample = net::LinkSample { delay: Dur::from_ms(2), bytes_per_s: 64_000 };

impl schemes::Agent for Stopwatch {
    fn report(&mut self, _: &Packet, report: &mac::TxReport, cx: &mut schemes::Cx) {
        cx.measured(report.to, MEASURED);
    }
}

/// A driver that weighs routes, or not.
struct Weighing(bool);

impl schemes::NodeView for Weighing {
    fn facts(&self, _: FlowId) -> Option<tcp::FlowFacts> {
        None
    }

    fn room(&self) -> queue::Space {
        schemes::NodeView::room(&crate::driver::Nothing)
    }

    fn address(&self, neighbour: NodeId) -> std::net::Ipv4Addr {
        net::address(neighbour)
    }
}

impl node::Host for Weighing {
    fn command(&mut self, _: FlowId, _: tcp::SenderCommand) {}

    fn weigh(&mut self) -> bool {
        self.0
    }
}

#[test]
fn a_schemes_measurement_of_a_link_comes_to_the_driver_by_the_router_of_computed_routes_alone() {
    let install = |site: &mut schemes::Site, _: &schemes::Params| {
        site.agent(Stopwatch).reports().feeds_routes();
        Ok(())
    };
    let computed = net::router::find("static").expect("a router");
    let facts = RouterFacts {
        node: NodeId(0),
        address: net::address(NodeId(0)),
        interfaces: vec![InterfaceId(0)],
        addresses: net::Addresses::default(),
        least_cost: vec![None; 2],
        draws: Streams::new(1).get(Purpose::Routing, 0),
    };
    for (is_computed, weighs) in [(true, true), (true, false), (false, true)] {
        let mut ground = schemes::testing::Ground::new(schemes::testing::node(NodeId(0), 2));
        ground.install(&schemes::testing::with(&STOPWATCH, install, &[])).expect("nothing speaks against it");
        let router: Box<dyn net::Router> = if is_computed {
            (computed.plugin)(facts.clone(), &computed.params)
        } else {
            Box::new(Flood::new(facts.clone()))
        };
        let mut node = node(0, ground.stack.members, router, Dur::ZERO);
        let (mut packets, mut host) = (wire::Packets::default(), Weighing(weighs));
        let (packet, report) =
            (datagram(0, 1, 0), mac::TxReport { fate: mac::Fate::Delivered, ..given_up(NodeId(1)) });
        let input = node::Input::Report(InterfaceId(0), &packet, &report);
        node.handle(SimTime::ZERO, input, &mut packets, &mut host);
        let wanted = (is_computed && weighs).then_some((InterfaceId(0), NodeId(1), MEASURED));
        assert_eq!(node.next_sample(), wanted, "{is_computed} {weighs}");
        assert_eq!(node.next_sample(), None);
    }
}
