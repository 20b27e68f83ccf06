//! @RFC4728 sec. 8.1: packets and their source routes.

use crate::dsr_bench::{Bench, Did, control, data, data_over, ip, options, route, route_of};
use net::Router;
use net::router::dsr::{Ack, Choice, ErrorKind, Header};
use wire::L4;

#[test]
fn rfc4728_8_1_3_a_packet_carries_the_nodes_between_its_ends() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 9]);
    let mut packet = data(0, 9);
    let before = ["headers_sent", "header_bytes"].map(|name| bench.count(name));
    assert_eq!(bench.sends(None, &mut packet), Some(1));
    assert_eq!(route_of(&packet), Some(route(&[1, 2], 2, 0)));
    // 4 bytes, and 4 + 2 * 4 of the option. The data itself is untouched.
    assert_eq!(packet.ip_len().0, 28 + 100 + 16);
    let after = ["headers_sent", "header_bytes"].map(|name| bench.count(name));
    assert_eq!(after, [before[0] + 1, before[1] + 16]);
    packet.remove_routing_header();
    assert_eq!(packet, data(0, 9));
}

#[test]
fn rfc4728_8_1_1_a_packet_to_a_neighbour_has_no_header() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[9]);
    let mut packet = data(0, 9);
    assert_eq!(bench.sends(None, &mut packet), Some(9));
    assert_eq!((packet, bench.count("header_bytes")), (data(0, 9), 0));
}

#[test]
fn rfc4728_8_1_5_each_relay_counts_down_and_the_last_sends_to_the_destination() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data_over(7, &[0, 3, 4], 9, 3, 0);
    assert_eq!(bench.sends(Some(7), &mut packet), Some(3));
    assert_eq!(route_of(&packet), Some(route(&[0, 3, 4], 2, 0)));
    let mut packet = data_over(7, &[3, 4, 0], 9, 1, 0);
    assert_eq!(bench.sends(Some(4), &mut packet), Some(9));
    assert_eq!(route_of(&packet), Some(route(&[3, 4, 0], 0, 0)));
    assert_eq!(bench.count("header_bytes"), 40);
}

#[test]
fn rfc4728_8_1_5_the_cache_is_not_asked_for_the_next_hop_of_a_packet_that_has_its_way() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[9]);
    let mut packet = data_over(7, &[0, 3], 9, 2, 0);
    assert_eq!(bench.sends(Some(7), &mut packet), Some(3));
}

#[test]
fn rfc4728_8_1_4_the_destination_takes_the_header_off_and_knows_the_way_back() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data_over(7, &[6, 5], 0, 0, 0);
    bench.ends(5, &mut packet);
    assert_eq!((packet, bench.way(7)), (data(7, 0), Some(vec![5, 6, 7])));
}

#[test]
fn a_source_route_that_holds_a_node_twice_is_refused() {
    let mut bench = Bench::at_once(&[]);
    for over in [&[0, 3, 3][..], &[0, 7], &[0, 9], &[0, 3, 0], &[0, 9999]] {
        let mut packet = data_over(7, over, 9, over.len() as u8, 0);
        assert_eq!(bench.sends(Some(7), &mut packet), None, "{over:?}");
    }
    assert_eq!((bench.count("refused"), bench.did()), (5, vec![]));
}

#[test]
fn a_packet_whose_way_does_not_lead_from_its_sender_to_here_is_refused() {
    let mut bench = Bench::at_once(&[]);
    for (from, over, left) in [(6, &[0, 3][..], 2), (7, &[3, 0], 2), (7, &[0, 3], 1), (7, &[3, 4], 2)] {
        let mut packet = data_over(7, over, 9, left, 0);
        assert_eq!(bench.sends(Some(from), &mut packet), None, "{over:?}");
        assert!(!bench.router.seek(bench.now, &packet, None, &mut net::Orders::default()));
    }
    assert_eq!(bench.count("refused"), 4);
    // At its end, too: it arrives, and nothing is learned from it.
    let mut packet = data_over(7, &[6, 5], 0, 0, 0);
    bench.ends(4, &mut packet);
    assert_eq!((packet, bench.way(7), bench.count("refused")), (data(7, 0), None, 5));
}

#[test]
fn a_header_that_cannot_be_read_ends_its_packet_on_the_way_and_not_at_its_end() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data(7, 9);
    packet.set_routing_header(&[0, 0, 0, 9, 1]);
    assert_eq!(bench.sends(Some(7), &mut packet), None);
    let mut packet = data(7, 0);
    packet.set_routing_header(&[0, 0, 0, 9, 1]);
    bench.ends(7, &mut packet);
    assert_eq!((packet, bench.count("refused")), (data(7, 0), 2));
}

#[test]
fn rfc4728_8_2_3_what_a_relay_sends_in_anothers_name_claims_no_link_and_is_never_salvaged() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    let mut packet = data(7, 9);
    assert_eq!(bench.sends(None, &mut packet), Some(1));
    assert_eq!(route_of(&packet), Some(route(&[0, 1], 1, 15)));
}

#[test]
fn agents_are_told_the_hop_that_a_packet_will_take() {
    let mut bench = Bench::at_once(&[]);
    let toward = |bench: &mut Bench, packet| bench.router.toward(bench.now, &packet, None).map(net::Hop::node);
    assert_eq!(toward(&mut bench, data(0, 9)), None);
    bench.learns(&[1, 2, 9]);
    let mut packet = data(0, 9);
    assert_eq!(toward(&mut bench, packet.clone()).map(|node| node.0), Some(1));
    bench.sends(None, &mut packet);
    assert_eq!(toward(&mut bench, packet).map(|node| node.0), Some(1));
    assert_eq!(toward(&mut bench, data_over(7, &[6, 0, 3], 9, 2, 0)).map(|node| node.0), Some(3));
    assert_eq!(toward(&mut bench, data_over(7, &[6, 0], 9, 1, 0)).map(|node| node.0), Some(9));
}

#[test]
fn rfc4728_8_3_3_an_acknowledgement_that_is_asked_for_is_sent_and_the_question_goes_no_farther() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data(7, 9);
    let asks = Header(vec![Choice::Route(route(&[0, 3], 2, 0)), Choice::AckRequest(77)]);
    packet.set_routing_header(&asks.bytes());
    assert_eq!(bench.sends(Some(7), &mut packet), Some(3));
    let ack = Choice::Ack(Ack { id: 77, source: ip(0), destination: ip(7) });
    assert_eq!(bench.only(), Did::Sent { dst: ip(7), ttl: 255, options: vec![ack], to: Some(7) });
    assert_eq!(options(&packet), [Choice::Route(route(&[0, 3], 1, 0))]);
}

#[test]
fn rfc4728_8_1_4_an_acknowledgement_tells_of_a_link() {
    let mut bench = Bench::at_once(&[]);
    bench.gets(7, &control(7, ip(0), 9, vec![Choice::Ack(Ack { id: 77, source: ip(7), destination: ip(0) })]));
    assert_eq!(bench.way(7), Some(vec![7]));
}

#[test]
fn rfc4728_8_1_6_an_option_that_is_not_known_is_ignored_taken_out_marked_or_ends_its_packet() {
    // The three high bits say what to do: ignore, remove, mark, drop; and whether the source is told.
    for (kind, passed) in [(0x05, Some(vec![1, 2])), (0x25, None), (0x45, Some(vec![0x81, 2]))] {
        let mut bench = Bench::at_once(&[]);
        let mut packet = data(7, 9);
        let unknown = |data: Vec<u8>| Choice::Unknown(kind, data);
        packet.set_routing_header(&Header(vec![Choice::Route(route(&[0], 1, 0)), unknown(vec![1, 2])]).bytes());
        assert_eq!(bench.sends(Some(7), &mut packet), Some(9));
        assert_eq!(options(&packet).get(1).cloned(), passed.map(unknown), "{kind:#x}");
        assert_eq!(bench.did(), []);
    }
    let mut bench = Bench::at_once(&[]);
    let mut packet = data(7, 9);
    packet.set_routing_header(&Header(vec![Choice::Route(route(&[0], 1, 0)), Choice::Unknown(0xe5, vec![])]).bytes());
    assert_eq!(bench.sends(Some(7), &mut packet), None);
    let did = bench.only();
    let (error, to) = did.error();
    assert_eq!((&error.kind, error.destination, to), (&ErrorKind::NotSupported(0xe5), ip(7), Some(7)));
}

#[test]
fn a_control_packet_that_waits_for_nothing_ends_where_it_has_no_way() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = control(0, ip(9), 9, vec![]);
    packet.remove_routing_header();
    assert_eq!((packet.l4, bench.sends(None, &mut packet)), (L4::Nothing, None));
    assert!(!bench.router.seek(bench.now, &packet, None, &mut net::Orders::default()));
}
