//! The transmit power, and the frames that have it.

use mac::Msdu;
use phy::{Standard, TxVector};
use schemes::testing::{Ground, HERE, OUT, THERE, ack, data, node, scheme, segment};
use schemes::{Powers, Value};
use units::{Dbm, NodeId, SimTime};
use wire::{Flags, L4, Packet, Packets, Seq, Udp};

/// Signals have powers, and nobody asks which.
#[derive(Debug)]
struct Some16;

impl Powers for Some16 {
    fn mean(&self, _: NodeId, _: NodeId) -> Dbm {
        Dbm(16.0)
    }

    fn stations(&self, _: NodeId) -> Vec<NodeId> {
        Vec::new()
    }
}

/// A node with this power where the scheme was installed, or why not.
fn installed(of: &'static str, more_mw: f64, own: f64, has_powers: bool) -> Result<Ground, String> {
    let powers = has_powers.then(|| Box::new(Some16) as Box<dyn Powers>);
    let mut ground = Ground { powers, ..Ground::new(node(HERE, 2)) };
    ground.stack.radio.tx_power = Dbm(own);
    let set = [("for", Value::Choice(of)), ("more_mw", Value::Float(more_mw))];
    ground.install(&scheme("capture-qos", &set)).map(|_| ground)
}

#[test]
fn ten_milliwatt_more_are_three_decibel_over_ten_and_ten_over_one() {
    // 10 dBm are 10 mW, with 10 more 20 mW: 10 log 20 = 13.0103 dBm. 0 dBm is 1 mW: 11 mW are 10.4139 dBm.
    for (own, more, then) in [(10.0, 10.0, 13.0103), (0.0, 10.0, 10.4139), (16.0, 0.0, 16.0)] {
        let got = installed("all", more, own, true).unwrap().stack.radio.tx_power.0;
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
        let mut ground = installed(of, 10.0, 0.0, true).unwrap();
        assert_eq!(ground.stack.radio.tx_power.0, 0.0, "{of}");
        let mut transmit = ground.stack.transmit().unwrap();
        let own: TxVector = Standard::A.modes()[0].into();
        let more = packets.each_ref().map(|packet| {
            let mut all = Packets::default();
            let pkt = all.put(packet.clone());
            let msdu = Msdu::new(SimTime::ZERO, pkt, &all, THERE, 0);
            let tx = transmit.tx_vector(&msdu, packet, own);
            assert_eq!((tx.mode, transmit.aifsn(&msdu, packet, 3)), (own.mode, 3));
            tx.power.level().map(|power| (power.0 - 10.4139).abs() < 1e-4)
        });
        assert_eq!(more, louder.map(|is| is.then_some(true)), "{of}");
    }
}

#[test]
fn without_powers_there_is_nothing_to_raise() {
    for of in ["all", "tcp-ack"] {
        assert!(installed(of, 10.0, 16.0, false).unwrap_err().contains("propagation = "));
    }
}
