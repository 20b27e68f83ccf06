//! AIFSN by power, under EDCA and under DCF.

use mac::{Config, Edca, Msdu, TxopLimits};
use phy::Standard;
use schemes::station_aifs::{INFO, build};
use schemes::testing::{OUT, data, site};
use schemes::{Params, Powers, Setup, Site, Value};
use units::{BitRate, Dbm, NodeId, SimTime};
use wire::Packets;

const AP: NodeId = NodeId(0);

/// The AIFSNs of a station's categories (under DCF: of its DIFS) among three that the access point hears at these levels.
fn aifsns(levels: [f64; 3], station: u32, edca: bool, set: &[(&str, Value)]) -> Result<Vec<u8>, String> {
    let mut params = Params::defaults(INFO.params);
    set.iter().for_each(|(key, value)| params.set(key, *value));
    let categories = if edca { 4 } else { 0 };
    let mut agent = build(&Site { categories, ..site(NodeId(station), 4) }, &params).unwrap();
    let mut mac = Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(54_000)).unwrap());
    if edca {
        let categories = Edca::standard(Standard::A, &mac.timing, TxopLimits::Zero);
        mac = mac.with_edca(categories);
    }
    let mean = |from: NodeId, to: NodeId| {
        assert_eq!(to, AP);
        Dbm(levels[from.index() - 1])
    };
    let stations = |_| vec![NodeId(1), NodeId(2), NodeId(3)];
    let powers = Some(Powers { mean: &mean, stations: &stations });
    let mut setup =
        Setup { node: NodeId(station), mac, tx_power: Dbm(16.0), access_point: Some(AP), has_powers: true, powers };
    agent.configure(&mut setup)?;
    if let Some(edca) = setup.mac.edca {
        return Ok(edca.categories.iter().map(|category| category.aifsn).collect());
    }
    let (mut all, packet) = (Packets::default(), data(OUT, 1..1449));
    let pkt = all.put(packet.clone());
    let msdu = Msdu::new(SimTime::ZERO, pkt, &all, AP, 0);
    Ok(vec![agent.transmit().unwrap().aifsn(&msdu, &packet, 2)])
}

#[test]
fn every_ten_decibel_over_the_weakest_are_a_slot_for_all_categories() {
    let levels = [-80.0, -66.0, -44.0];
    let of = |station| aifsns(levels, station, true, &[]).unwrap();
    // The standard's 7, 3, 2, 2 at the weakest; 14 dB are one slot, 36 dB four.
    assert_eq!([of(1), of(2), of(3)], [[7, 3, 2, 2], [8, 4, 3, 3], [11, 7, 6, 6]]);
    let set = [("least", Value::Int(1)), ("largest", Value::Int(7)), ("db_per_slot", Value::Float(12.0))];
    let of = |station| aifsns(levels, station, true, &set).unwrap();
    assert_eq!([of(1), of(2), of(3)], [[6, 2, 1, 1], [7, 3, 2, 2], [7, 5, 4, 4]]);
    // However loud: 2 + 255 slots and more are the largest there is.
    assert_eq!(aifsns([-4000.0, 0.0, 0.0], 2, true, &[]).unwrap(), [15; 4]);
    assert_eq!(aifsns([-70.0; 3], 2, true, &[]).unwrap(), [7, 3, 2, 2], "equals have the same");
}

#[test]
fn under_dcf_it_is_the_difs() {
    let of = |station| aifsns([-80.0, -66.0, -44.0], station, false, &[]).unwrap();
    assert_eq!([of(1), of(2), of(3)], [[2], [3], [6]]);
}

#[test]
fn it_sits_at_stations_and_what_they_lack_is_told() {
    let params = Params::defaults(INFO.params);
    assert!(build(&Site { forwards: true, ..site(AP, 4) }, &params).is_none(), "an access point");
    let set = [("least", Value::Int(5)), ("largest", Value::Int(4))];
    assert_eq!(aifsns([-70.0; 3], 1, true, &set).unwrap_err(), "least 5 is over largest 4");
    let mac = Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(54_000)).unwrap());
    let mut agent = build(&site(NodeId(1), 4), &params).unwrap();
    let mut setup =
        Setup { node: NodeId(1), mac, tx_power: Dbm(16.0), access_point: None, has_powers: false, powers: None };
    assert!(agent.configure(&mut setup).unwrap_err().contains("role = \"ap\""));
    setup.access_point = Some(AP);
    assert!(agent.configure(&mut setup).unwrap_err().contains("propagation"));
}
