//! @RFC4728 sec. 8.3: links that break, errors, packets that are salvaged.

use crate::dsr_bench::{Bench, Did, control, data, data_over, error, ip, ips, reply, route, route_of};
use net::router::dsr::{Choice, ErrorKind};
use plugin::Value;

#[test]
fn rfc4728_8_3_4_a_relay_tells_the_source_back_along_the_way() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data_over(7, &[6, 5, 0, 3], 9, 2, 0);
    bench.sends(Some(5), &mut packet);
    bench.loses(3, &packet);
    let did = bench.did();
    assert_eq!(did.len(), 2, "{did:?}");
    let (told, to) = did[0].error();
    assert_eq!(
        (told.source, told.destination, &told.kind, told.salvage),
        (ip(0), ip(7), &ErrorKind::Unreachable(ip(3)), 0)
    );
    let Did::Sent { dst, ttl, options, .. } = &did[0] else { panic!("an error") };
    assert_eq!((*dst, *ttl, to, &options[0]), (ip(7), 255, Some(5), &Choice::Route(route(&[5, 6], 2, 0))));
    assert_eq!(did[1], Did::Recall(3), "what is queued is asked anew");
    assert_eq!(bench.count("link_failures"), 1);
}

#[test]
fn rfc4728_8_3_4_an_error_needs_no_cache_to_find_back() {
    let mut bench = Bench::at_once(&[("passing_paths", Value::Int(1))]);
    let mut packet = data_over(7, &[6, 5, 0, 3], 9, 2, 0);
    bench.sends(Some(5), &mut packet);
    // Another way takes the only place.
    bench.asked(30, 1, 31, &[32], 9);
    bench.did();
    bench.loses(3, &packet);
    let did = bench.did();
    let Did::Sent { options, to, .. } = &did[0] else { panic!("an error") };
    assert_eq!((&options[0], *to), (&Choice::Route(route(&[5, 6], 2, 0)), Some(5)));
}

#[test]
fn rfc4728_8_3_5_the_source_forgets_the_link_and_takes_another_way() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 9]);
    bench.answered(&[4, 5, 6, 9]);
    bench.gets(1, &control(1, ip(0), 9, vec![error(1, 2, 0)]));
    assert_eq!((bench.way(9), bench.did()), (Some(vec![4, 5, 6, 9]), vec![]));
}

#[test]
fn rfc4728_8_3_5_a_relay_that_passes_an_error_on_heeds_it() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[5, 3, 9]);
    let back = Choice::Route(route(&[5, 0], 1, 0));
    let mut packet = control(8, ip(7), 9, vec![back, error(3, 9, 7)]);
    assert_eq!(bench.sends(Some(5), &mut packet), Some(7));
    assert_eq!(bench.way(9), None);
}

#[test]
fn rfc4728_4_5_a_packet_of_this_node_takes_another_way_or_waits_for_one() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 2, 9]);
    bench.answered(&[4, 5, 6, 9]);
    let mut packet = data(0, 9);
    bench.sends(None, &mut packet);
    bench.loses(1, &packet);
    assert_eq!(bench.did(), [Did::Hold(packet.clone()), Did::Found(9), Did::Recall(1)]);
    assert_eq!(bench.sends(None, &mut packet), Some(4));
    assert_eq!(route_of(&packet), Some(route(&[4, 5, 6], 3, 0)), "not salvaged: it begins here");
    bench.loses(4, &packet);
    bench.did();
    assert!(bench.seeks(&packet));
    assert_eq!(bench.only().request().0.target, ip(9));
}

#[test]
fn rfc4728_4_5_a_packet_to_a_neighbour_that_has_gone_is_sought_another_way_for() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[9]);
    bench.loses(9, &data(0, 9));
    assert_eq!(bench.did(), [Did::Hold(data(0, 9)), Did::Found(9), Did::Recall(9)]);
    assert!(bench.seeks(&data(0, 9)));
    assert_eq!(bench.only().request().0.target, ip(9));
}

#[test]
fn rfc4728_8_3_6_a_relay_salvages_after_it_has_told_the_source() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[4, 9]);
    let mut packet = data_over(7, &[6, 0, 3], 9, 2, 0);
    bench.sends(Some(6), &mut packet);
    bench.loses(3, &packet);
    let did = bench.did();
    assert_eq!(did[0].error().0.destination, ip(7));
    assert_eq!(did[1..], [Did::Hold(packet.clone()), Did::Found(9), Did::Recall(3)]);
    assert_eq!(bench.sends(None, &mut packet), Some(4));
    // This node is the first of the new list, and has been reached.
    assert_eq!(route_of(&packet), Some(route(&[0, 4], 1, 1)));
    assert_eq!((bench.count("salvaged"), bench.did()), (1, vec![]));
}

#[test]
fn rfc4728_8_3_6_without_another_way_a_relay_gives_a_packet_up() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data_over(7, &[6, 0, 3], 9, 2, 0);
    bench.sends(Some(6), &mut packet);
    bench.loses(3, &packet);
    let did = bench.did();
    assert!(matches!(did[..], [Did::Sent { .. }, Did::Recall(3)]), "{did:?}");
}

#[test]
fn rfc4728_9_a_packet_is_salvaged_fifteen_times() {
    for (salvage, is_salvaged) in [(14, true), (15, false)] {
        let mut bench = Bench::at_once(&[]);
        bench.learns(&[4, 9]);
        // Salvaged by 6, the first of its list.
        let mut packet = data_over(7, &[6, 0, 3], 9, 2, salvage);
        bench.sends(Some(6), &mut packet);
        bench.loses(3, &packet);
        assert_eq!(bench.did().iter().any(|did| matches!(did, Did::Hold(_))), is_salvaged);
        assert_eq!(bench.sends(None, &mut packet).is_some(), is_salvaged);
        if is_salvaged {
            assert_eq!(route_of(&packet).expect("a way").salvage, 15);
        }
    }
}

#[test]
fn rfc4728_8_3_4_of_a_salvaged_packet_the_node_that_salvaged_it_is_told() {
    let mut bench = Bench::at_once(&[]);
    let mut packet = data_over(7, &[6, 5, 0, 3], 9, 2, 1);
    bench.sends(Some(5), &mut packet);
    bench.loses(3, &packet);
    let did = bench.did();
    let (told, to) = did[0].error();
    assert_eq!((told.destination, told.salvage, to), (ip(6), 1, Some(5)));
}

#[test]
fn rfc4728_8_3_6_the_node_that_salvaged_sends_no_error_to_itself() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[4, 9]);
    let mut packet = data_over(7, &[6, 0, 3], 9, 2, 0);
    bench.sends(Some(6), &mut packet);
    bench.loses(3, &packet);
    bench.sends(None, &mut packet);
    bench.did();
    bench.passes(1);
    bench.loses(4, &packet);
    assert_eq!(bench.did(), [Did::Recall(4)]);
}

#[test]
fn rfc4728_3_4_2_queued_packets_draw_one_error_for_each_source_and_are_salvaged_too() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[4, 9]);
    let mut packets = [7, 7, 8].map(|source| data_over(source, &[0, 3], 9, 2, 0));
    for (packet, from) in packets.iter_mut().zip([7, 7, 8]) {
        bench.sends(Some(from), packet);
    }
    bench.loses(3, &packets[0]);
    bench.did();
    // Taken back at the same instant.
    for packet in &mut packets[1..] {
        assert_eq!(bench.sends(None, packet), Some(4));
    }
    let did = bench.only();
    assert_eq!((did.error().0.destination, bench.count("salvaged")), (ip(8), 2));
}

#[test]
fn rfc4728_8_3_6_a_reply_is_not_salvaged_and_its_neighbour_goes_on_the_blacklist() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[4, 7]);
    let back = Choice::Route(route(&[5, 0, 6], 2, 0));
    let mut packet = control(9, ip(7), 9, vec![back, reply(&[6, 0, 5, 9])]);
    bench.sends(Some(5), &mut packet);
    bench.loses(6, &packet);
    let did = bench.did();
    assert!(matches!(&did[..], [Did::Sent { dst, .. }, Did::Recall(6)] if *dst == ip(9)), "{did:?}");
    assert_eq!(bench.sends(None, &mut packet), None);
    assert_eq!((bench.count("blacklisted"), bench.count("salvaged")), (1, 0));
}

#[test]
fn data_that_is_lost_puts_nobody_on_the_blacklist() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    let mut packet = data(0, 9);
    bench.sends(None, &mut packet);
    bench.loses(1, &packet);
    bench.did();
    bench.asked(7, 3, 9, &[1], 9);
    assert_eq!((bench.only().request().0.hops.clone(), bench.count("blacklisted")), (ips(&[1, 0]), 0));
}

#[test]
fn an_error_about_a_link_of_this_node_is_not_believed() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    bench.gets(5, &control(5, ip(0), 9, vec![error(0, 1, 0)]));
    assert_eq!(bench.way(9), Some(vec![1, 9]));
}

#[test]
fn a_broadcast_that_ends_breaks_no_link() {
    let mut bench = Bench::at_once(&[]);
    bench.learns(&[1, 9]);
    bench.loses(units::NodeId::BROADCAST.0, &control(0, std::net::Ipv4Addr::BROADCAST, 9, vec![]));
    assert_eq!((bench.way(9), bench.did(), bench.count("link_failures")), (Some(vec![1, 9]), vec![], 0));
}
