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
    use schemes::testing::{OUT, THERE, ack, data, segment};
    use wire::{L4, Seq, Udp};

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
}
