//! How much power, and for which frames.

use mac::{Config, Msdu};
use phy::{Standard, TxVector};
use schemes::capture_qos::{INFO, build};
use schemes::testing::{HERE, OUT, THERE, ack, data, segment, site};
use schemes::{Agent, Params, Setup, Value};
use units::{BitRate, Dbm, SimTime};
use wire::{Flags, L4, Packet, Packets, Seq, Udp};

fn agent(of: &'static str, more_mw: f64) -> Box<dyn Agent> {
    let mut params = Params::defaults(INFO.params);
    params.set("for", Value::Choice(of));
    params.set("more_mw", Value::Float(more_mw));
    build(&site(HERE, 2), &params).unwrap()
}

/// The node's power after `agent` has changed it.
fn configured(agent: &mut dyn Agent, own: f64, has_powers: bool) -> Result<f64, String> {
    let mac = Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(6000)).unwrap());
    let mut setup =
        Setup { node: HERE, mac, tx_power: Dbm(own), access_point: Some(THERE), has_powers, powers: None };
    agent.configure(&mut setup)?;
    Ok(setup.tx_power.0)
}

#[test]
fn ten_milliwatt_more_are_three_decibel_over_ten_and_ten_over_one() {
    // 10 dBm are 10 mW, with 10 more 20 mW: 10 log 20 = 13.0103 dBm. 0 dBm is 1 mW: 11 mW are 10.4139 dBm.
    for (own, more, then) in [(10.0, 10.0, 13.0103), (0.0, 10.0, 10.4139), (16.0, 0.0, 16.0)] {
        let got = configured(&mut *agent("all", more), own, true).unwrap();
        assert!((got - then).abs() < 1e-4, "{own} dBm and {more} mW: {got}");
    }
}

#[test]
fn per_class_the_node_keeps_its_power_and_those_frames_have_more() {
    let bare = |flags| segment(OUT, flags, Seq(0), 0, Seq(0), 65_535);
    let datagram = Packet { l4: L4::Udp(Udp::default()), ..data(OUT, 1..1449) };
    let packets =
        [ack(OUT, 1, 65_535), bare(Flags::SYN), bare(Flags::FIN | Flags::ACK), data(OUT, 1..1449), datagram];
    for (of, louder) in [
        ("tcp-ack", [true, false, false, false, false]),
        ("tcp-control", [true, true, true, false, false]),
        ("tcp-data", [false, false, false, true, false]),
        ("udp", [false, false, false, false, true]),
    ] {
        let mut agent = agent(of, 10.0);
        assert_eq!(configured(&mut *agent, 0.0, true), Ok(0.0), "{of}");
        let mut transmit = agent.transmit().unwrap();
        let own: TxVector = Standard::A.modes()[0].into();
        let more = packets.each_ref().map(|packet| {
            let mut all = Packets::default();
            let pkt = all.put(packet.clone());
            let msdu = Msdu::new(SimTime::ZERO, pkt, &all, THERE, 0);
            let tx = transmit.tx_vector(&msdu, packet, own);
            assert_eq!((tx.mode, transmit.aifsn(&msdu, packet, 3)), (own.mode, 3));
            tx.power.map(|power| (power.0 - 10.4139).abs() < 1e-4)
        });
        assert_eq!(more, louder.map(|is| is.then_some(true)), "{of}");
    }
}

#[test]
fn without_powers_there_is_nothing_to_raise() {
    for of in ["all", "tcp-ack"] {
        assert!(configured(&mut *agent(of, 10.0), 16.0, false).unwrap_err().contains("propagation = "));
    }
}
