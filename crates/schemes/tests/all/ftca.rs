//! FTCA by hand, over random segments, and on a real interface.

use engine::Streams;
use mac::{
    Channel, Classifier, Config, Contention, Dcf, Edca, ErrorsAt, Fifo, Input, Msdu, Station, TxQueue, TxopLimits,
};
use phy::{ErrorModel, Errors, Hit, Medium, Standard};
use proptest::prelude::*;
use queue::{Limit, Spec};
use schemes::Value;
use schemes::testing::{Ground, HERE, OUT, THERE, ack, data, edca, node, scheme, segment};
use units::{BitRate, Bytes, Dur, FlowId, SimTime};
use wire::{Flags, L4, Packet, Packets, Seq, Udp};

fn ftca(control: &'static str) -> Box<dyn Classifier> {
    let mut ground = Ground::new(node(HERE, 2));
    assert!(ground.install(&scheme("ftca", &[("control", Value::Choice(control))])).unwrap());
    ground.stack.classifier().unwrap()
}

fn category_of(control: &'static str, packet: &Packet, default: u8) -> u8 {
    ftca(control).category(packet, THERE, default)
}

#[test]
fn control_packets_have_category_three_and_data_never_shares_it() {
    let bare = |flags| segment(OUT, flags, Seq(0), 0, Seq(0), 65_535);
    for control in [Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK, Flags::ACK | Flags::ECE] {
        assert_eq!(["all", "set-up"].map(|all| category_of(all, &bare(control), 1)), [3, 3], "{control:?}");
    }
    for end in [Flags::FIN, Flags::FIN | Flags::ACK, Flags::RST, Flags::RST | Flags::ACK] {
        assert_eq!(["all", "set-up"].map(|all| category_of(all, &bare(end), 1)), [3, 1], "{end:?}");
    }
    let datagram = Packet { l4: L4::Udp(Udp::default()), ..data(OUT, 1..1449) };
    let last = segment(OUT, Flags::FIN | Flags::ACK, Seq(1), 1448, Seq(1), 65_535);
    let early = segment(OUT, Flags::SYN, Seq(1), 1448, Seq(1), 65_535);
    for other in [data(OUT, 1..1449), datagram, last, early] {
        assert_eq!([0, 1, 2, 3].map(|default| category_of("all", &other, default)), [0, 1, 2, 2]);
    }
}

#[test]
fn the_top_is_the_highest_category_the_station_has() {
    for (categories, top, below) in [(5, 4, 3), (2, 1, 0), (1, 0, 0)] {
        let mut mac = edca(Standard::B);
        let edca = mac.edca.as_mut().unwrap();
        edca.categories.resize(categories, edca.categories[0].clone());
        edca.of_priority = [0; 8];
        let mut ground = Ground::new(node(HERE, 2)).with_mac(mac);
        ground.install(&scheme("ftca", &[])).unwrap();
        let mut classifier = ground.stack.classifier().unwrap();
        assert_eq!(classifier.category(&ack(OUT, 1, 65_535), THERE, 0), top);
        assert_eq!(classifier.category(&data(OUT, 1..1449), THERE, 7), below);
    }
}

proptest! {
    /// Whatever the flags, numbers, DSCP's category and length: with a payload it stays below, without one it is control.
    #[test]
    fn no_data_enters_the_top_category_and_no_control_packet_leaves_it(
        flags in 0..=Flags::ALL.0, seq: u32, number: u32, len in prop_oneof![Just(0u32), 1u32..3000], window: u16,
        default in 0u8..4, flow in 0u32..4,
    ) {
        let flags = Flags(flags);
        let packet = segment(FlowId(flow), flags, Seq(seq), len, Seq(number), window);
        let category = category_of("all", &packet, default);
        prop_assert_eq!(category == 3, len == 0 && flags.any(Flags::SYN | Flags::ACK | Flags::FIN | Flags::RST));
        prop_assert!(category == 3 || category == default.min(2));
        if flags.any(Flags::FIN | Flags::RST) {
            prop_assert_eq!(category_of("set-up", &packet, default), default.min(2));
        } else {
            prop_assert_eq!(category_of("set-up", &packet, default), category);
        }
    }
}

/// An interface of 802.11a with the standard's categories, alone on its channel.
fn interface(streams: &Streams) -> (Station, Channel) {
    let config = Config::of(Standard::A, Standard::A.mode(BitRate::from_kbps(54_000)).unwrap());
    let edca = Edca::standard(Standard::A, &config.timing, TxopLimits::Zero);
    let config = config.with_edca(edca);
    let contention = Contention::new(2, |node| config.contenders(streams, node));
    let errors = Errors::new(2, streams, |_, _| ErrorModel::One(Hit::NEVER));
    let channel = Channel::new(
        Medium::new(2),
        contention,
        errors,
        ErrorsAt::Attempt,
        2,
        mac::RtsPatience::always(Dur::from_us(100)),
    );
    let queue = |_| {
        let draws = streams.get(engine::Purpose::Queue, 0);
        Box::new(Fifo::new(&Spec::drop_tail(Limit::Packets(400)), Bytes(1500), draws)) as Box<dyn TxQueue>
    };
    let queues = (0..4).map(queue).collect();
    let first = channel.contention.first(HERE);
    (Station::new(HERE, &[4, 4], first, config, queues, Box::new(Dcf)), channel)
}

#[test]
fn on_a_real_interface_an_ack_overtakes_the_data_queued_before_it_and_goes_as_voice() {
    let streams = Streams::new(1);
    for (is_on, first) in [(true, (3, 7)), (false, (1, 0))] {
        let (mut station, mut channel) = interface(&streams);
        if is_on {
            station.classify_by(ftca("all"));
        }
        let (mut all, mut out) = (Packets::default(), Vec::new());
        // The medium is busy, so both draw; the windows of best effort and voice do not overlap with this seed.
        let now = SimTime::ZERO + Dur::from_us(1000);
        channel.contention.busy(now, HERE);
        for packet in [data(OUT, 1..1449), data(OUT, 1449..2897), ack(OUT, 1, 65_535)] {
            let pkt = all.put(packet);
            let msdu = Msdu::new(now, pkt, &all, THERE, 0);
            station.handle(now, Input::Enqueue(msdu), &mut channel.at(HERE), &mut all, &mut out);
        }
        let offered: Vec<u64> = station.category_counters().map(|category| category.msdus_offered).collect();
        assert_eq!(offered, if is_on { [0, 2, 0, 1] } else { [0, 3, 0, 0] });
        channel.contention.idle(now, HERE);
        let (granted, mut winners) = (channel.contention.next_grant(), Vec::new());
        channel.contention.winners(granted, &mut winners);
        assert_eq!(winners.len(), 1);
        let mut air = channel.at(HERE);
        station.handle(granted, Input::Granted, &mut air, &mut all, &mut out);
        assert!(air.transmits && out.is_empty(), "one frame goes out: {out:?}");
        let frame = channel.frame(HERE).unwrap();
        let qos = frame.data().unwrap().qos.unwrap();
        assert_eq!((qos.category, qos.user_priority), first);
        // 40 B of IP and TCP in 38 B of MAC.
        assert_eq!(frame.psdu.len() == Bytes(78), is_on);
        for pkt in station.kill(granted, &mut channel.at(HERE), &mut all) {
            all.free(pkt, wire::DropWhy::NodeDown);
        }
    }
}
