//! FTCA: TCP's control packets take the highest access category, everything else a lower one.
//!
//! - **Source** seed 002, chapter 5.
//! - **Realism** no oracle; reads TCP headers, so encrypted traffic is all "everything else".
//! - **Departs** "everything else" keeps the category its DSCP asks for, at most the second highest.
//! - **Checked** tests below.

use mac::Classifier;
use schemes::{Agent, Info, Params, Port, Signal, Site};
use units::NodeId;
use wire::{Flags, Packet};

pub const INFO: Info = Info {
    id: "ftca",
    summary: "TCP control packets to the highest access category",
    source: "seed 002",
    sits: &[],
    reads: &[Signal::TcpHeader],
    turns: &[Port::Classifier],
    params: &[],
};

pub fn build(site: &Site, _: &Params) -> Option<Box<dyn Agent>> {
    site.has_air.then(|| Box::new(Ftca) as Box<dyn Agent>)
}

#[derive(Debug)]
struct Ftca;

impl Agent for Ftca {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn classifier(&mut self) -> Option<Box<dyn Classifier>> {
        Some(Box::new(Control))
    }
}

/// SYN, SYN-ACK, FIN, RST and pure ACKs above all else.
#[derive(Debug)]
struct Control;

/// The highest category, and the one below.
const VOICE: u8 = 3;
const VIDEO: u8 = 2;

impl Classifier for Control {
    fn category(&mut self, packet: &Packet, _: NodeId, default: u8) -> u8 {
        let is_control = packet
            .tcp()
            .is_some_and(|tcp| packet.payload.len == 0 && tcp.flags.any(Flags::SYN | Flags::FIN | Flags::RST));
        if is_control || packet.pure_ack().is_some() { VOICE } else { default.min(VIDEO) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use mac::{
        Channel, Config, Contention, Dcf, Edca, ErrorsAt, Fifo, Input, Msdu, Output, Station, TxQueue, TxopLimits,
    };
    use phy::{ErrorModel, Errors, Hit, Medium, Standard};
    use queue::{Limit, Spec};
    use schemes::testing::{HERE, OUT, THERE, ack, data, segment};
    use units::{BitRate, Bytes, Dur, SimTime};
    use wire::{L4, Packets, Seq, Udp};

    fn category_of(packet: &Packet, default: u8) -> u8 {
        let mut agent = build(&crate::station(), &Params::default()).unwrap();
        agent.classifier().unwrap().category(packet, THERE, default)
    }

    #[test]
    fn control_packets_go_to_category_three_and_data_never_shares_it() {
        let syn = |flags| segment(OUT, flags, Seq(0), 0, Seq(0), 65_535);
        for control in [Flags::SYN, Flags::SYN | Flags::ACK, Flags::FIN | Flags::ACK, Flags::RST] {
            assert_eq!(category_of(&syn(control), 1), 3, "{control:?}");
        }
        assert_eq!(category_of(&ack(OUT, 1449, 65_535), 0), 3);
        let datagram = Packet { l4: L4::Udp(Udp::default()), ..data(OUT, 1..1449) };
        let last = segment(OUT, Flags::FIN | Flags::ACK, Seq(1), 1448, Seq(1), 65_535);
        for other in [data(OUT, 1..1449), datagram, last] {
            assert_eq!([0, 1, 2, 3].map(|default| category_of(&other, default)), [0, 1, 2, 2]);
        }
    }

    /// An interface of 802.11a with the standard's categories, alone on its channel.
    fn interface(streams: &Streams) -> (Station, Channel) {
        let config = Config::of(Standard::A, Standard::A.rate(BitRate::from_kbps(54_000)).unwrap());
        let edca = Edca::standard(Standard::A, &config.timing, TxopLimits::Zero);
        let config = config.with_edca(edca);
        let contention = Contention::new(2, |node| config.contenders(streams, node));
        let errors = Errors::new(2, streams, |_, _| ErrorModel::One(Hit::NEVER));
        let channel = Channel::new(Medium::new(2), contention, errors, ErrorsAt::Attempt, 2, Dur::from_us(100));
        let queue = |_| {
            let draws = streams.get(engine::Purpose::Queue, 0);
            Box::new(Fifo::new(Spec::drop_tail(Limit::Packets(400)), Bytes(1500), draws)) as Box<dyn TxQueue>
        };
        let queues = (0..4).map(queue).collect();
        let first = channel.contention.first(HERE);
        (Station::new(HERE, &[4, 4], first, config, queues, Box::new(Dcf::default())), channel)
    }

    #[test]
    fn on_a_real_interface_an_ack_overtakes_the_data_queued_before_it_and_goes_as_voice() {
        let streams = Streams::new(1);
        for (ftca, first) in [(true, (3, 7)), (false, (1, 0))] {
            let (mut station, mut channel) = interface(&streams);
            if ftca {
                let mut agent = build(&crate::station(), &Params::default()).unwrap();
                station.classify_by(agent.classifier().unwrap());
            }
            let (mut all, mut out) = (Packets::default(), Vec::new());
            // The medium is busy, so both draw; the windows of best effort and voice do not overlap with this seed.
            let now = SimTime::ZERO + Dur::from_us(1000);
            channel.contention.busy(now, HERE);
            for packet in [data(OUT, 1..1449), data(OUT, 1449..2897), ack(OUT, 1, 65_535)] {
                let pkt = all.put(packet);
                let msdu = Msdu::new(now, pkt, &all, THERE, 0);
                station.handle(now, Input::Enqueue(msdu), &mut channel, &mut all, &mut out);
            }
            let offered: Vec<u64> = station.category_counters().map(|category| category.msdus_offered).collect();
            assert_eq!(offered, if ftca { [0, 2, 0, 1] } else { [0, 3, 0, 0] });
            channel.contention.idle(now, HERE, None);
            let (granted, mut winners) = (channel.contention.next_grant(), Vec::new());
            channel.contention.winners(granted, &mut winners);
            assert_eq!(winners.len(), 1);
            station.handle(granted, Input::Granted, &mut channel, &mut all, &mut out);
            let [Output::Transmit(frame)] = &out[..] else { panic!("one frame goes out: {out:?}") };
            let qos = frame.qos.unwrap();
            assert_eq!((qos.category, qos.user_priority), first);
            // 40 B of IP and TCP in 38 B of MAC.
            assert_eq!(frame.mpdu == Bytes(78), ftca);
            for msdu in station.kill(granted, &mut channel) {
                all.free(msdu.pkt, wire::DropWhy::NodeDown);
            }
        }
    }
}
