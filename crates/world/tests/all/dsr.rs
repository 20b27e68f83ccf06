//! DSR in whole cells: what is on the air, and what becomes of packets.

use crate::cells::run;
use crate::network::seen::{Seen, watched};
use crate::on_demand::{
    arrives_over_one_that_restarts, carries_tcp, cbr, count, dissected, finds_its_way_as, head, noisy_frames,
    refuses_what_it_cannot_route, routing_frames, sent, string,
};
use crate::without_oracle::WithoutOracle;
use net::router::dsr::{self, Choice, Dsr, Header, Settings, SourceRoute};
use net::{Router, RouterFacts};
use plugin::{Info, Params};
use std::collections::BTreeMap;
use testkit::tshark::is_here;
use units::{Dur, NodeId, SimTime};
use wire::dot11::MacAddr;
use wire::{Content, L4, Packet};
use world::Registries;

/// Two ways from `a` to `d`, over `b` and over `c`: these do not hear each other, nor do the ends.
fn diamond(seconds: u32, every_ms: u32, routing: &str) -> String {
    let node = |name: &str, x: i32, y: i32| format!("[[node]]\nname = \"{name}\"\nposition = [{x}, {y}]\n");
    head(seconds, routing)
        + &node("a", 0, 0)
        + &node("b", 150, 150)
        + &node("c", 150, -150)
        + &node("d", 300, 0)
        + &cbr("a", "d", every_ms)
}

/// The DSR header of a packet in a capture, and the number of what follows it.
fn header(packet: &Packet) -> Option<(Header, u8)> {
    let (L4::Opaque, Content::Bytes(bytes)) = (&packet.l4, &packet.payload.content) else { return None };
    let behind_ip = bytes.get(20..).filter(|_| bytes[9] == 48)?;
    let len = 4 + usize::from(u16::from_be_bytes([behind_ip[2], behind_ip[3]]));
    Some((Header::read(&behind_ip[..len]).expect("sound"), behind_ip[0]))
}

/// The source route of a packet with data.
fn way(packet: &Packet) -> Option<SourceRoute> {
    header(packet).filter(|(_, next)| *next == 17).and_then(|(header, _)| header.route().cloned())
}

#[test]
fn a_destination_four_hops_away_is_found_by_five_requests_and_four_replies_after_30_ms() {
    let text = string(5, 3, 200, "\"dsr\"");
    let run = run(&text, 1);
    // One to the neighbours; one of the source and one of each relay. The reply is sent by the destination and by each relay.
    let counted = ["rreq_originated", "rreq_sent", "rrep_sent", "rerr_sent"].map(|name| count(&run, name));
    assert_eq!(counted, [2, 5, 4, 0]);
    assert_eq!(routing_frames(&run, "sent"), 9.0);
    // Ten packets from 1.0 to 2.8 s; the first waits. Each goes over four hops with a header of 4, and 4 + 3 * 4 bytes of the option.
    assert_eq!(run.flow(0, "delivered_packets"), Some(10.0));
    assert_eq!((count(&run, "headers_sent"), count(&run, "header_bytes")), (40, 800));
    let seen = watched(&text);
    let own = sent(&seen["n1"], 0);
    let first = own.iter().find(|seen| way(&seen.packet).is_some()).expect("a packet");
    // Offered at 1 s; 30 ms for the neighbours. Four jitters of up to 10 ms, and nine frames of less than 2 ms each with their backoff.
    let after_ms = (first.at - SimTime::from_ns(1_000_000_000)).ns() / 1_000_000;
    assert!((30..30 + 40 + 18).contains(&after_ms), "{after_ms} ms");
    let over = [1, 2, 3].map(|node| net::address(NodeId(node)));
    assert_eq!(way(&first.packet), Some(SourceRoute::over(&over)));
    // 20 of IP, 20 of DSR, 8 of UDP, 1000 of data.
    assert_eq!(first.packet.ip_len().0, 1048);
}

#[test]
fn each_hop_counts_its_segment_and_the_host_gets_the_packet_as_it_was_sent() {
    let seen = watched(&string(4, 2, 400, "\"dsr\""));
    for (node, left) in [("n1", 2), ("n2", 1), ("n3", 0)] {
        let index = node[1..].parse::<u32>().unwrap() - 1;
        let ways: Vec<SourceRoute> = sent(&seen[node], index).iter().filter_map(|seen| way(&seen.packet)).collect();
        assert!(
            !ways.is_empty() && ways.iter().all(|way| way.left == left && way.hops.len() == 2),
            "{node}: {ways:?}"
        );
    }
}

#[test]
fn a_neighbour_is_sent_to_without_a_header_by_one_request_and_one_reply() {
    let run = run(&string(2, 3, 200, "\"dsr\""), 1);
    let counted = ["rreq_sent", "rrep_sent", "header_bytes"].map(|name| count(&run, name));
    assert_eq!((counted, run.flow(0, "delivered_packets")), ([1, 1, 0], Some(10.0)));
}

#[test]
fn a_link_that_breaks_under_a_flow_costs_one_failure_and_one_error_to_the_source_and_is_not_used_again() {
    let event = "[[event]]\nat = \"2500 ms\"\nbreak = [\"n3\", \"n4\"]\n";
    let text = string(5, 4, 400, "\"dsr\"").replace("11 Mb/s", "2 Mb/s") + event;
    let (run, seen) = (run(&text, 1), watched(&text));
    let goes_to =
        |seen: &Seen, node: u32| seen.air.as_ref().is_some_and(|it| it.addr1 == MacAddr::of_node(NodeId(node)));
    let broke = SimTime::ZERO + Dur::from_ms(2500);
    let attempts = sent(&seen["n3"], 2).iter().filter(|seen| goes_to(seen, 3) && seen.at > broke).count();
    // n3 tells n1 over n2.
    assert_eq!((count(&run, "link_failures"), attempts, count(&run, "rerr_sent")), (1, 7, 2));
    let errors = |node: &str, index: u32| {
        sent(&seen[node], index)
            .iter()
            .filter(|seen| {
                header(&seen.packet).is_some_and(|(it, _)| it.request().is_none() && it.errors().count() > 0)
            })
            .count()
    };
    assert_eq!((errors("n3", 2), errors("n2", 1)), (1, 1));
    // The source seeks anew, with the error aboard, at 2.8 s and a little later.
    let asks = sent(&seen["n1"], 0).into_iter().filter(|seen| seen.at > broke);
    let asks: Vec<Header> =
        asks.filter_map(|seen| header(&seen.packet)).filter(|it| it.1 == 59).map(|it| it.0).collect();
    assert!(asks.iter().take(2).all(|it| matches!(it.0[..], [Choice::Error(_), Choice::Request(_)])), "{asks:?}");
}

#[test]
fn a_flow_heals_over_another_way_and_loses_nothing_that_its_source_still_has() {
    for (link, hops) in [(["a", "b"], "first"), (["b", "d"], "second")] {
        for way in ["b", "c"] {
            let broken = link.map(|name| if name == "b" { way } else { name });
            let event = format!("[[event]]\nat = \"2 s\"\nbreak = [\"{}\", \"{}\"]\n", broken[0], broken[1]);
            let run = run(&(diamond(5, 100, "\"dsr\"") + &event), 1);
            let lost = 40.0 - run.flow(0, "delivered_packets").unwrap();
            // A relay whose link breaks has no other way: it gives one packet up, and none is queued behind it.
            let most = if hops == "first" { 0.0 } else { 1.0 };
            assert!((0.0..=most).contains(&lost), "the {hops} hop over {way}: {lost} lost");
        }
    }
}

#[test]
fn a_relay_that_knows_another_way_salvages_what_it_cannot_send_on() {
    // Behind b there are two ways, over e and over f, of which d tells in two replies to one request. One of them is used, and breaks.
    let node = |name: &str, x: i32, y: i32| format!("[[node]]\nname = \"{name}\"\nposition = [{x}, {y}]\n");
    let cell = |salvages: u32, over: &str| {
        let routing = format!("{{ name = \"dsr\", cached_replies = false, max_salvage_count = {salvages} }}");
        let event = format!("[[event]]\nat = \"3 s\"\nbreak = [\"{over}\", \"b\"]\n");
        let nodes = [("a", 0, 0), ("b", 200, 0), ("e", 350, 150), ("f", 350, -150), ("d", 500, 0)];
        let nodes: String = nodes.iter().map(|(name, x, y)| node(name, *x, *y)).collect();
        head(5, &routing) + &nodes + &cbr("a", "d", 50) + &event
    };
    let (mut salvaged, mut lost) = ([0; 2], [0.0; 2]);
    for over in ["e", "f"] {
        for (i, salvages) in [15, 0].into_iter().enumerate() {
            let run = run(&cell(salvages, over), 1);
            salvaged[i] += count(&run, "salvaged");
            lost[i] += 80.0 - run.flow(0, "delivered_packets").unwrap();
        }
    }
    // The packet that failed; none was behind it. Without salvaging it is lost.
    assert_eq!((salvaged, lost), ([1, 0], [0.0, 1.0]));
    let seen = ["e", "f"].map(|over| watched(&cell(15, over)));
    let of_b = seen.iter().flat_map(|seen| sent(&seen["b"], 1));
    let ways: Vec<SourceRoute> = of_b.filter_map(|seen| way(&seen.packet)).filter(|way| way.salvage > 0).collect();
    assert!(
        matches!(&ways[..], [it] if it.salvage == 1 && it.hops[0] == net::address(NodeId(1)) && it.left == 1),
        "{ways:?}"
    );
}

#[test]
fn no_packet_ever_carries_a_way_that_holds_a_node_twice() {
    // Twelve nodes on a square move through each other, and links break all the time.
    let text = head(20, "\"dsr\"").replace("range = \"250 m\"", "range = \"200 m\"")
        + "[[node]]\nname = \"n\"\ncount = 12\nmobility = { model = \"waypoint\", width = \"500 m\", height = \"500 m\", \
           min_speed = \"20 m/s\", max_speed = \"30 m/s\" }\n"
        + &cbr("n1", "n12", 50)
        + &cbr("n2", "n11", 70)
        + &cbr("n3", "n10", 90);
    let mut looked_at = 0;
    for seen in watched(&text).values() {
        for seen in seen {
            let Some((header, _)) = header(&seen.packet) else { continue };
            for option in &header.0 {
                let ip = seen.packet.ip;
                let mut all = match option {
                    Choice::Route(it) if it.salvage == 0 => [&[ip.src, ip.dst][..], &it.hops].concat(),
                    Choice::Route(it) => [&[ip.dst][..], &it.hops].concat(),
                    Choice::Request(it) => [&[ip.src][..], &it.hops].concat(),
                    Choice::Reply(it) => [&[ip.dst][..], &it.hops].concat(),
                    _ => continue,
                };
                looked_at += 1;
                let len = all.len();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), len, "{option:?} from {} to {}", ip.src, ip.dst);
            }
        }
    }
    assert!(looked_at > 1000, "{looked_at}");
}

#[test]
fn control_packets_cost_airtime_collide_and_are_lost() {
    let (sent, airtime) = noisy_frames("{ name = \"dsr\", route_cache_timeout = \"50 ms\" }");
    // A reply of 12 B at 11 Mb/s takes 192 us and 8 * (24 + 8 + 20 + 12 + 4) / 11 us; a request of 20 B at 1 Mb/s below 1 ms.
    assert!(airtime > sent * 0.2e-3 && airtime < sent * 2e-3, "{airtime} s");
}

static WATCHED: Info =
    Info { id: "watched", summary: "DSR without an oracle", source: "none", params: dsr::INFO.params };

fn watched_router(facts: RouterFacts, params: &Params) -> Box<dyn Router> {
    Box::new(WithoutOracle::new(facts, |facts| Dsr::new(facts, Settings::of(params)), |_, _, _| ()))
}

#[test]
fn it_finds_its_way_in_a_cell_whose_oracle_is_empty() {
    let mut registries = Registries::builtin();
    registries.routers.add(&WATCHED, watched_router).unwrap();
    // Those of one second wait.
    finds_its_way_as("\"dsr\"", registries, 100.0);
}

#[test]
fn a_node_that_restarts_forwards_at_once() {
    let arrived = arrives_over_one_that_restarts(20, "\"dsr\"", |seen| way(&seen.packet).is_some());
    // Its source asks at 2.0, 2.03, 2.53, 3.53 and 5.53 s.
    assert!(arrived.iter().all(|at| *at < 2050 || *at >= 4000), "{arrived:?}");
    assert!(arrived.iter().any(|at| (4000..5700).contains(at)), "{arrived:?}");
}

#[test]
fn tcp_crosses_a_string() {
    carries_tcp("\"dsr\"");
}

#[test]
fn the_preset_of_ns2_runs_the_same_string() {
    let run = run(&string(5, 3, 200, "{ name = \"dsr\", preset = \"ns2\" }"), 1);
    assert_eq!((count(&run, "rreq_sent"), run.flow(0, "delivered_packets")), (5, Some(10.0)));
}

#[test]
fn cells_with_access_points_wires_saturated_sources_or_keys_of_another_are_refused_in_one_line() {
    refuses_what_it_cannot_route("\"dsr\"");
    let hops = string(3, 3, 100, "{ name = \"dsr\", max_hops = 63 }");
    let mistake = world::parse(&hops, &[]).unwrap_err().to_string();
    assert!(mistake.starts_with("routing.max_hops: ") && !mistake.contains('\n'), "{mistake}");
}

#[test]
fn tshark_dissects_every_header_and_finds_none_malformed() {
    if !is_here() {
        return;
    }
    let mut kinds = BTreeMap::<String, u32>::new();
    let mut datagrams = 0;
    let names = [
        "_ws.expert.message",
        "ip.proto",
        "dsr.option.type",
        "udp.dstport",
        "udp.checksum.status",
        "frame.protocols",
    ];
    let run = dissected("\"dsr\"", &names, |frame| {
        if frame["ip.proto"].starts_with("48") {
            assert!(frame["frame.protocols"].contains("dsr"), "{frame:?}");
            for kind in frame["dsr.option.type"].split(',') {
                *kinds.entry(kind.to_owned()).or_default() += 1;
            }
            datagrams += u32::from(!frame["udp.dstport"].is_empty());
        }
    });
    let counted = ["rreq_sent", "rrep_sent", "rerr_sent", "headers_sent"].map(|name| count(&run, name));
    assert!(counted.iter().all(|count| *count > 0) && datagrams > 0, "{counted:?} {datagrams}");
    // Request, reply, error, source route, Pad1: the replies to the source have 3 bytes and 4 for each node.
    for kind in ["1", "2", "3", "96"] {
        assert!(kinds.contains_key(kind), "{kinds:?}");
    }
}
