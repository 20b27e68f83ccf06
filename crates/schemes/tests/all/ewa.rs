//! Explicit window adaptation on the bench: a router whose radio queue fills.

use queue::Space;
use schemes::testing::{Bench, HERE, IN, OUT, ack, bench, node, segment};
use schemes::{NodeFacts, Place, Value};
use units::{Bytes, Dur};
use wire::tcp::kind;
use wire::{Flags, L4, Packet, Payload, Seq};

fn router() -> NodeFacts<'static> {
    NodeFacts { forwards: true, ..node(HERE, 3) }
}

/// A SYN with an MSS of 1460 and perhaps a window scale.
fn syn(from_sender: bool, scale: Option<u8>) -> Packet {
    let (flow, flags) = if from_sender { (OUT, Flags::SYN) } else { (IN, Flags::SYN | Flags::ACK) };
    let mut packet = segment(flow, flags, Seq(0), 0, Seq(u32::from(!from_sender)), 60_000);
    let options = &mut packet.tcp_mut().unwrap().options;
    options.push_mss(1460);
    if let Some(shift) = scale {
        options.push_window_scale(shift);
    }
    packet
}

fn ewa(set: &[(&str, Value)]) -> Bench {
    bench("ewa", router(), set).unwrap()
}

/// A connection whose handshake went by.
fn connected(set: &[(&str, Value)], scale: Option<u8>) -> Bench {
    let mut bench = ewa(set);
    assert_eq!(bench.pass(Place::ToAir, syn(true, scale)), Some(syn(true, scale)));
    assert_eq!(bench.pass(Place::FromAir, syn(false, scale)), Some(syn(false, scale)));
    bench
}

/// Room for so many datagrams of 1500 bytes, of 128.
fn room(bench: &mut Bench, datagrams: u64) {
    let used = 128 - datagrams;
    bench.set_room(Space { free: Bytes(datagrams * 1500), used: Bytes(used * 1500), entries: used as u32 });
}

/// The window field with which an ACK leaves for the sender.
fn shown(bench: &mut Bench, number: u32, window: u16) -> Option<u16> {
    bench.pass(Place::FromAir, ack(IN, number, window)).map(|packet| packet.tcp().unwrap().window)
}

#[test]
fn the_window_falls_as_the_queue_fills_and_never_below_one_segment() {
    let mut bench = connected(&[], None);
    // log2 of 128, 64, 16, 2 and nothing: 7, 6, 4, 1 and at least 1 segments of 1460 bytes.
    for (number, (free, segments)) in [(128, 7), (64, 6), (16, 4), (2, 1), (0, 1)].into_iter().enumerate() {
        room(&mut bench, free);
        assert_eq!(shown(&mut bench, 1 + number as u32, 60_000), Some(segments * 1460), "room for {free}");
    }
    assert_eq!(bench.counter("windows_lowered"), 5);
}

#[test]
fn it_is_never_more_than_the_receiver_advertised() {
    let mut bench = connected(&[("alpha", Value::Float(100.0))], None);
    room(&mut bench, 128);
    assert_eq!(
        [(1, 60_000), (2, 500), (3, 0)].map(|(n, w)| shown(&mut bench, n, w)),
        [Some(60_000), Some(500), Some(0)]
    );
    assert_eq!(bench.counter("windows_lowered"), 0);
}

#[test]
fn a_scaled_window_is_written_in_its_units() {
    let mut bench = connected(&[], Some(4));
    room(&mut bench, 64);
    // 6 · 1460 / 16 = 547.5
    assert_eq!(shown(&mut bench, 1, 60_000), Some(547));
}

#[test]
fn duplicates_stay_duplicates_and_updates_do_not_become_such() {
    let mut bench = connected(&[], None);
    room(&mut bench, 64);
    assert_eq!(shown(&mut bench, 1, 60_000), Some(8760));
    room(&mut bench, 16);
    assert_eq!(shown(&mut bench, 1, 60_000), Some(8760));
    assert_eq!(shown(&mut bench, 1, 50_000), Some(5840));
    assert_eq!(shown(&mut bench, 1, 60_000), None);
    assert_eq!((bench.counter("duplicates_repeated"), bench.counter("updates_withheld")), (1, 1));
}

#[test]
fn a_window_that_closed_opens_again() {
    let mut bench = connected(&[], None);
    room(&mut bench, 64);
    assert_eq!([0, 60_000].map(|window| shown(&mut bench, 1, window)), [Some(0), Some(8760)]);
}

#[test]
fn a_connection_that_was_up_before_is_left_alone() {
    for seen in [None, Some(true), Some(false)] {
        let mut bench = ewa(&[]);
        room(&mut bench, 2);
        if let Some(from_sender) = seen {
            let place = if from_sender { Place::ToAir } else { Place::FromAir };
            assert!(bench.pass(place, syn(from_sender, None)).is_some());
        }
        assert_eq!(shown(&mut bench, 1, 60_000), Some(60_000));
    }
}

#[test]
fn windows_of_the_other_direction_and_what_it_cannot_read_pass() {
    let mut bench = connected(&[], None);
    room(&mut bench, 2);
    let towards_the_mobile = ack(OUT, 1, 60_000);
    assert_eq!(bench.pass(Place::ToAir, towards_the_mobile.clone()), Some(towards_the_mobile));
    let opaque = Packet { l4: L4::Opaque, payload: Payload::stream(0, 1000), ..ack(IN, 1, 60_000) };
    assert_eq!(bench.pass(Place::FromAir, opaque.clone()), Some(opaque));
}

#[test]
fn a_new_syn_forgets_the_old_connections_scale() {
    let mut bench = connected(&[], Some(4));
    room(&mut bench, 64);
    assert!(bench.pass(Place::ToAir, syn(true, None)).is_some());
    // Half known, it is left alone.
    assert_eq!(shown(&mut bench, 1, 60_000), Some(60_000));
    assert!(bench.pass(Place::FromAir, syn(false, None)).is_some());
    assert_eq!(shown(&mut bench, 1, 60_000), Some(8760));
    // After a reset nothing is known.
    assert!(bench.pass(Place::ToAir, segment(OUT, Flags::RST, Seq(1), 0, Seq(0), 0)).is_some());
    assert_eq!(shown(&mut bench, 2, 60_000), Some(60_000));
}

#[test]
fn the_lesser_of_both_sides_segments_counts_and_536_bytes_where_nothing_is_said() {
    let mut bench = ewa(&[]);
    let mut silent = syn(false, None);
    silent.tcp_mut().unwrap().options.blank(kind::MSS);
    for (place, packet) in [(Place::ToAir, syn(true, None)), (Place::FromAir, silent)] {
        assert!(bench.pass(place, packet).is_some());
    }
    // Room for 64 datagrams of 576 bytes: six segments of 536.
    bench.set_room(Space { free: Bytes(64 * 576), used: Bytes::ZERO, entries: 0 });
    assert_eq!(shown(&mut bench, 1, 60_000), Some(6 * 536));
}

#[test]
fn an_adapting_alpha_opens_windows_over_an_empty_queue_and_closes_them_over_a_full_one() {
    let after = |adapt, datagrams| {
        let mut bench = connected(&[("adapt", Value::Bool(adapt))], None);
        room(&mut bench, datagrams);
        for number in 0..10 {
            bench.now += Dur::from_ms(20);
            assert!(shown(&mut bench, number, 60_000).is_some());
        }
        // What it would show for room for 64 datagrams, which are six segments at α = 1.
        room(&mut bench, 64);
        bench.now += Dur::from_ms(1);
        shown(&mut bench, 10, 60_000).unwrap()
    };
    // The tenth ACK has seen α rise nine times by 1/8 (nobody had felt it at the first): 6 · 1460 · 2.125 = 18615.
    assert_eq!([false, true].map(|adapt| after(adapt, 128)), [8760, 18_615]);
    // Ten times 31/32 of it over a queue half full: 6 · 1460 · 0.72798 = 6377.
    assert_eq!([false, true].map(|adapt| after(adapt, 64)), [8760, 6377]);
}

#[test]
fn it_sits_at_routers_with_a_radio() {
    let sits = |node| bench("ewa", node, &[]).is_some();
    assert!(sits(router()) && !sits(node(HERE, 3)) && !sits(NodeFacts { has_air: false, ..router() }));
}
