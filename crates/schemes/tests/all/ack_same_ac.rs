//! Whose AIFS is shorter, and by how much.

use mac::{Config, Edca, Msdu, TxopLimits};
use phy::Standard;
use schemes::ack_same_ac::{INFO, build};
use schemes::testing::{HERE, OUT, THERE, ack, data, segment, site};
use schemes::{Agent, Params, Setup, Site, Value};
use units::{BitRate, Dbm, SimTime};
use wire::{Flags, Packet, Packets, Seq};

fn agent(set: &[(&str, Value)]) -> Box<dyn Agent> {
    let mut params = Params::defaults(INFO.params);
    set.iter().for_each(|(key, value)| params.set(key, *value));
    build(&Site { forwards: true, ..site(HERE, 2) }, &params).unwrap()
}

fn aifsn(set: &[(&str, Value)], packet: &Packet, own: u8) -> u8 {
    let mut all = Packets::default();
    let pkt = all.put(packet.clone());
    let msdu = Msdu::new(SimTime::ZERO, pkt, &all, THERE, 0);
    agent(set).transmit().unwrap().aifsn(&msdu, packet, own)
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
    assert!(build(&site(HERE, 2), &Params::defaults(INFO.params)).is_none(), "a station");
    let mac = Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(54_000)).unwrap());
    let edca = Edca::standard(Standard::A, &mac.timing, TxopLimits::Zero);
    let with = mac.clone().with_edca(edca);
    let setup =
        |mac| Setup { node: HERE, mac, tx_power: Dbm(16.0), access_point: None, has_powers: false, powers: None };
    assert_eq!(agent(&[]).configure(&mut setup(with)), Ok(()));
    assert!(agent(&[]).configure(&mut setup(mac)).unwrap_err().contains("access = \"edca\""));
}
