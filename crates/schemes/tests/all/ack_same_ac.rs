//! The stations whose AIFS is shorter, and the difference in slots.

use mac::Msdu;
use phy::Standard;
use schemes::testing::{Ground, HERE, OUT, THERE, ack, data, dcf, node, scheme, segment};
use schemes::{NodeFacts, Value};
use units::SimTime;
use wire::{Flags, Packet, Packets, Seq};

fn access_point() -> Ground {
    Ground::new(NodeFacts { forwards: true, ..node(HERE, 2) })
}

fn aifsn(set: &[(&str, Value)], packet: &Packet, own: u8) -> u8 {
    let mut all = Packets::default();
    let pkt = all.put(packet.clone());
    let msdu = Msdu::new(SimTime::ZERO, pkt, &all, THERE, 0);
    let mut ground = access_point();
    ground.install(&scheme("ack-same-ac", set)).unwrap();
    ground.stack.transmit().unwrap().aifsn(&msdu, packet, own)
}

#[test]
fn an_ack_waits_a_slot_less_than_its_category_and_nothing_else_does() {
    // BK, BE, VI, VO: 7, 3, 2, 2.
    assert_eq!([7, 3, 2, 1].map(|own| aifsn(&[], &ack(OUT, 1, 65_535), own)), [6, 2, 1, 1]);
    let bare = |flags| segment(OUT, flags, Seq(0), 0, Seq(0), 65_535);
    for other in [data(OUT, 1..1449), bare(Flags::SYN | Flags::ACK), bare(Flags::FIN | Flags::ACK)] {
        assert_eq!([7, 3, 2, 1].map(|own| aifsn(&[], &other, own)), [7, 3, 2, 1], "{other:?}");
    }
    // As many slots as wished, but not below the floor; a category that is below it by itself stays there.
    let set = [("slots", Value::Int(4)), ("least", Value::Int(2))];
    assert_eq!([7, 3, 2, 1].map(|own| aifsn(&set, &ack(OUT, 1, 65_535), own)), [3, 2, 2, 1]);
}

#[test]
fn it_sits_where_packets_are_forwarded_and_needs_categories() {
    let plain = scheme("ack-same-ac", &[]);
    assert_eq!(Ground::new(node(HERE, 2)).install(&plain), Ok(false), "a station");
    assert_eq!(access_point().install(&plain), Ok(true));
    let error = access_point().with_mac(dcf(Standard::A)).install(&plain).unwrap_err();
    assert!(error.contains("access = \"edca\""), "{error}");
}
