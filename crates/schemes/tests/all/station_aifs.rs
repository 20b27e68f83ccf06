//! AIFSN by power, under EDCA and under DCF.

use mac::{Msdu, Transmit};
use phy::Standard;
use schemes::testing::{Ground, OUT, data, dcf, edca, node, scheme};
use schemes::{NodeFacts, Powers, Value};
use units::{Dbm, NodeId, SimTime};
use wire::Packets;

const AP: NodeId = NodeId(0);

/// Three stations that the access point hears at these levels, in dBm.
#[derive(Debug)]
struct Heard([f64; 3]);

impl Powers for Heard {
    fn mean(&self, from: NodeId, to: NodeId) -> Dbm {
        assert_eq!(to, AP);
        Dbm(self.0[from.index() - 1])
    }

    fn stations(&self, _: NodeId) -> Vec<NodeId> {
        vec![NodeId(1), NodeId(2), NodeId(3)]
    }
}

fn station(id: u32, is_edca: bool) -> Ground {
    let node = NodeFacts { access_point: Some(AP), ..node(NodeId(id), 4) };
    Ground::new(node).with_mac(if is_edca { edca(Standard::A) } else { dcf(Standard::A) })
}

/// The AIFSNs of a station's categories (under DCF: of its DIFS) among three that the access point hears at these levels.
fn aifsns(levels: [f64; 3], id: u32, is_edca: bool, set: &[(&str, Value)]) -> Result<Vec<u8>, String> {
    let mut ground = Ground { powers: Some(Box::new(Heard(levels))), ..station(id, is_edca) };
    ground.install(&scheme("station-aifs", set))?;
    if let Some(edca) = ground.stack.radio.mac.edca {
        return Ok(edca.categories.iter().map(|category| category.aifsn).collect());
    }
    let (mut all, packet) = (Packets::default(), data(OUT, 1..1449));
    let pkt = all.put(packet.clone());
    let msdu = Msdu::new(SimTime::ZERO, pkt, &all, AP, 0);
    let mut transmit: Box<dyn Transmit> = ground.stack.transmit().unwrap();
    Ok(vec![transmit.aifsn(&msdu, &packet, 2)])
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
    let plain = scheme("station-aifs", &[]);
    let access_point = NodeFacts { forwards: true, ..node(AP, 4) };
    assert_eq!(Ground::new(access_point).install(&plain), Ok(false), "an access point");
    let set = [("least", Value::Int(5)), ("largest", Value::Int(4))];
    assert!(aifsns([-70.0; 3], 1, true, &set).unwrap_err().ends_with("least 5 is over largest 4"));
    let mut alone = Ground::new(node(NodeId(1), 4));
    assert!(alone.install(&plain).unwrap_err().contains("role = \"ap\""));
    assert!(station(1, true).install(&plain).unwrap_err().contains("propagation"));
}
