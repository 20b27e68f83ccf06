//! Retry limits by class: how often a packet of each is sent before its queue gives up.

use mac::{Msdu, Next};
use schemes::testing::{Ground, HERE, OUT, THERE, ack, data, dcf, node, scheme, segment};
use schemes::{NodeFacts, Params, Value};
use units::SimTime;
use wire::{DropWhy, Flags, L4, Packet, Packets, Payload, Seq, Udp};

/// A station with these limits of data, ACKs, control and others; none: the defaults.
fn ground(limits: Option<[i64; 4]>) -> Ground {
    let keys = ["data", "ack", "control", "other"];
    let set: Vec<_> = limits.iter().flat_map(|all| keys.into_iter().zip(all.map(Value::Int))).collect();
    let mut ground = Ground::new(node(HERE, 2)).with_mac(dcf(phy::Standard::B));
    assert!(ground.install(&scheme("class-retry", &set)).unwrap());
    ground
}

/// The transmissions if every attempt fails, the failures counted as short (RTS and frames up to its threshold) or long. The
/// MAC would give up after four.
fn transmissions(ground: &mut Ground, packet: Packet, long: bool) -> u32 {
    let (mut queue, mut all, now) = (ground.queue(), Packets::default(), SimTime::ZERO);
    let msdu = Msdu::new(now, all.put(packet), &all, THERE, 0);
    queue.push(now, msdu, &mut all).unwrap();
    let mut msdu = queue.pop(now, &mut all).unwrap();
    for n in 1..=300 {
        let counter = if long { &mut msdu.failures.1 } else { &mut msdu.failures.0 };
        *counter += 1;
        msdu = match queue.failed(now, msdu, n >= 4, &all) {
            Next::Again(msdu) => msdu,
            Next::GiveUp(msdu) => {
                all.free(msdu.pkt, DropWhy::MacDone);
                return n;
            }
            Next::Yield => panic!("drop-tail takes nothing back"),
        };
    }
    300
}

fn udp() -> Packet {
    Packet { l4: L4::Udp(Udp::default()), payload: Payload::stream(0, 100), ..data(OUT, 1..2) }
}

/// One of each class, with the place of its limit; the two kinds of data and the three of control.
fn packets() -> [(usize, Packet); 8] {
    let control = |flags: Flags| segment(OUT, flags, Seq(1), 0, Seq(1), 9);
    [
        (0, data(OUT, 1..1001)),
        (0, segment(OUT, Flags::ACK | Flags::FIN, Seq(1), 10, Seq(1), 9)),
        (1, ack(OUT, 1, 9)),
        (2, control(Flags::SYN)),
        (2, control(Flags::SYN | Flags::ACK)),
        (2, control(Flags::FIN | Flags::ACK)),
        (2, control(Flags::RST)),
        (3, udp()),
    ]
}

#[test]
fn each_class_is_sent_as_often_as_its_limit_says_and_no_more() {
    let limits = [3, 20, 1, 255];
    let mut ground = ground(Some(limits));
    for (class, packet) in packets() {
        for long in [false, true] {
            let sent = transmissions(&mut ground, packet.clone(), long);
            assert_eq!(i64::from(sent), limits[class], "{packet:?}");
        }
    }
}

#[test]
fn by_default_acks_and_control_are_sent_twice_as_often_as_the_rest() {
    let defaults = Params::defaults(schemes::class_retry::INFO.params);
    let limits = ["data", "ack", "control", "other"].map(|key| defaults.int(key));
    assert_eq!(limits, [7, 14, 14, 7]);
    let mut ground = ground(None);
    for (class, packet) in packets() {
        assert_eq!(i64::from(transmissions(&mut ground, packet, false)), limits[class]);
    }
}

#[test]
fn it_sits_at_every_radio_and_nowhere_else() {
    let sits = |node: NodeFacts<'static>| Ground::new(node).install(&scheme("class-retry", &[])).unwrap();
    let relay = NodeFacts { starts_flows: false, ends_flows: false, forwards: true, ..node(HERE, 2) };
    assert!(sits(node(HERE, 2)) && sits(relay) && !sits(NodeFacts { has_air: false, ..node(HERE, 2) }));
}
