//! AODV in whole cells: what is on the air, and what becomes of packets.

use crate::aodv_watched::registries;
use crate::cells::run;
use crate::network::seen::{Seen, watched};
use crate::on_demand::{
    arrives_over_one_that_restarts, carries_tcp, count, dissected, finds_its_way_as, noisy_frames,
    refuses_what_it_cannot_route, routing_frames, sent, string,
};
use net::router::aodv::Message;
use std::collections::BTreeMap;
use testkit::tshark::is_here;
use units::{Dur, NodeId, SimTime};
use wire::dot11::MacAddr;
use wire::{Content, L4, Packet};

/// The control message in a packet.
fn message(packet: &Packet) -> Option<Message> {
    match (&packet.l4, &packet.payload.content) {
        (L4::Udp(header), Content::Bytes(bytes)) if header.dst_port == 654 => Message::read(bytes),
        _ => None,
    }
}

#[test]
fn rings_find_a_destination_four_hops_away_by_eight_requests_and_four_replies_after_640_ms() {
    let text = string(5, 3, 200, "\"aodv\"");
    let run = run(&text, 1);
    assert_eq!((count(&run, "rreq_sent"), count(&run, "rrep_sent"), count(&run, "rerr_sent")), (8, 4, 0));
    assert_eq!(routing_frames(&run, "sent"), 12.0);
    // Ten packets from 1.0 to 2.8 s; those of the search wait.
    assert_eq!(run.flow(0, "delivered_packets"), Some(10.0));
    let seen = watched(&text);
    let first = sent(&seen["n1"], 0).into_iter().find(|seen| message(&seen.packet).is_none()).expect("a packet");
    // Offered at 1 s; rings of TTL 1 and 3 in vain take 2 * 40 ms * (3 + 5). The way: three jitters of up to 10 ms, and nine frames of
    // less than 2 ms each with their backoff.
    let after_ms = (first.at - SimTime::from_ns(1_000_000_000)).ns() / 1_000_000;
    assert!((640..640 + 30 + 18).contains(&after_ms), "{after_ms} ms");
}

#[test]
fn a_link_that_breaks_under_a_flow_costs_one_failure_and_two_errors_and_nothing_is_sent_over_it_again() {
    // Seven attempts at 2 Mb/s may take longer than 40 ms: then the next packet is queued behind.
    for (every_ms, after_ms) in [(400, 0), (40, 0), (40, 10), (40, 20), (40, 30)] {
        let event = format!("[[event]]\nat = \"{} ms\"\nbreak = [\"n3\", \"n4\"]\n", 2500 + after_ms);
        let text = string(5, 4, every_ms, "\"aodv\"").replace("11 Mb/s", "2 Mb/s") + &event;
        let text = text.replace("range = \"250 m\"", "range = \"250 m\"\nsense_range = \"2 km\"");
        let (run, seen) = (run(&text, 1), watched(&text));
        let of = |node: u32| MacAddr::of_node(NodeId(node));
        let goes_to = |seen: &Seen, node: u32| seen.air.as_ref().is_some_and(|it| it.addr1 == of(node));
        let is_error = |seen: &Seen| matches!(message(&seen.packet), Some(Message::Error(_)));
        let own = sent(&seen["n3"], 2);
        // The failed packet took seven attempts; those behind it were taken back: none was attempted at all.
        let broke = SimTime::ZERO + Dur::from_ms(2500 + after_ms);
        let attempts: Vec<SimTime> =
            own.iter().filter(|seen| goes_to(seen, 3) && seen.at > broke).map(|seen| seen.at).collect();
        assert_eq!((count(&run, "link_failures"), attempts.len()), (1, 7));
        // n3 tells n2, which tells n1. A packet that was on its way when its receiver had no route any more draws one error more each.
        let failed = attempts[6];
        let told = own.iter().find(|seen| is_error(seen)).expect("an error").at;
        let late = |node: u32, since: SimTime| {
            let name = format!("n{}", node + 1);
            seen[&name]
                .iter()
                .filter(|it| goes_to(it, node) && message(&it.packet).is_none() && it.at > since)
                .count()
        };
        let late = late(2, failed) + late(1, told);
        assert_eq!(count(&run, "rerr_sent"), 2 + late as u64, "{after_ms} ms");
        assert!(late == 0 || every_ms == 40, "two errors and no more");
    }
}

#[test]
fn control_packets_cost_airtime_collide_and_are_lost() {
    let (sent, airtime) = noisy_frames("{ name = \"aodv\", hello = true }");
    // A Hello of 20 B takes 192 us and 8 * (24 + 8 + 28 + 20 + 4) us at 1 Mb/s, which is the least that any of them takes.
    assert!(airtime > sent * 0.1e-3 && airtime < sent * 2e-3, "{airtime} s");
}

#[test]
fn it_finds_its_way_in_a_cell_whose_oracle_is_empty() {
    // Those of one second, and of the searches after it that found nothing, may be lost.
    finds_its_way_as("\"aodv\"", registries(), 80.0);
}

#[test]
fn a_node_that_restarts_is_silent_for_delete_period_and_then_forwards_again() {
    let arrived = arrives_over_one_that_restarts(40, "\"aodv\"", |seen| {
        message(&seen.packet).is_none() && seen.air.as_ref().is_some_and(|it| it.addr1 == MacAddr::of_node(NodeId(2)))
    });
    // DELETE_PERIOD is 15 s; a source that seeks finds a way within 13.2 s of its standing.
    assert!(arrived.iter().all(|at| *at < 2000 || *at >= 19_000), "{arrived:?}");
    assert!(arrived.iter().any(|at| (19_000..19_000 + 13_200 + 200).contains(at)), "{arrived:?}");
}

#[test]
fn tcp_crosses_a_string_and_no_packet_runs_out_of_hops() {
    carries_tcp("\"aodv\"");
}

#[test]
fn cells_with_access_points_wires_or_saturated_sources_are_refused_in_one_line() {
    refuses_what_it_cannot_route("\"aodv\"");
}

#[test]
fn tshark_dissects_every_message_and_finds_none_malformed() {
    if !is_here() {
        return;
    }
    let routing =
        "{ name = \"aodv\", hello = true, hello_interval = \"500 ms\", rrep_ack = true, local_repair = true }";
    let mut kinds = BTreeMap::<String, u32>::new();
    let run = dissected(routing, &["udp.dstport", "aodv.type", "frame.protocols"], |frame| {
        if frame["udp.dstport"] == "654" {
            assert!(frame["frame.protocols"].contains("aodv"), "{frame:?}");
            *kinds.entry(frame["aodv.type"].clone()).or_default() += 1;
        }
    });
    let counted =
        ["rreq_sent", "rrep_sent", "rerr_sent", "rrep_ack_sent", "hello_sent"].map(|name| count(&run, name));
    assert!(counted.iter().all(|count| *count > 0), "{counted:?}");
    assert_eq!(kinds.keys().map(String::as_str).collect::<Vec<_>>(), ["1", "2", "3", "4"], "{kinds:?}");
}
