//! ACK priority within the data's category: at the access point a TCP ACK waits in the same queue as data, but a shorter
//! AIFS.
//!
//! - **Source** @TZL08: Thangaraj, Zeng & Li, "Performance analysis of the IEEE 802.11e wireless networks with TCP ACK
//!   prioritization", IEEE ICCCN 2008, as seed 002 chapter 5 tells it and its abstract; the paper itself was not at hand.
//! - **Realism** no oracle; a look at TCP headers at the access point alone. A card that sets AIFS per category only cannot.
//! - **Departs** how much shorter is not told: `slots`. An access point may have AIFSN 1, a station 2 at least (@80211-2020
//!   annex C, dot11QAPEDCATableAIFSN and dot11EDCATableAIFSN).
//! - **Bound** the AIFS is that of the packet at the head of the line: an ACK behind data waits for it.
//! - **Checked** `tests/all/ack_same_ac.rs`; `world/tests/all/ack_priority.rs`: throughput up, stations no more equal.

use crate::{Agent, Info, Kind, Param, Params, Port, Setup, Signal, Site, Value};
use mac::{Msdu, Transmit};
use wire::{Class, Packet};

/// What it reads and turns.
pub const INFO: Info = Info {
    id: "ack-same-ac",
    summary: "at the access point TCP's ACKs stay in the data's category and wait a shorter AIFS there",
    source: "TZL08",
    sits: &[],
    reads: &[Signal::TcpHeader],
    turns: &[Port::Parameters, Port::Transmit],
    params: &[
        Param {
            key: "slots",
            kind: Kind::Int { min: 1, max: 14 },
            default: Value::Int(1),
            doc: "how many slots the AIFS of an ACK is shorter than its category's",
        },
        Param {
            key: "least",
            kind: Kind::Int { min: 1, max: 15 },
            default: Value::Int(1),
            doc: "no AIFSN is made smaller than this one",
        },
    ],
};

/// At whoever forwards by radio.
pub fn build(site: &Site, params: &Params) -> Option<Box<dyn Agent>> {
    let (slots, least) = (params.int("slots") as u8, params.int("least") as u8);
    (site.forwards && site.has_air).then(|| Box::new(AckSameAc { sooner: Sooner { slots, least } }) as Box<dyn Agent>)
}

#[derive(Debug)]
struct AckSameAc {
    sooner: Sooner,
}

impl Agent for AckSameAc {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn configure(&mut self, setup: &mut Setup<'_>) -> Result<(), String> {
        let none = "no access categories, so no AIFS of a class; write access = \"edca\"";
        setup.mac.edca.as_ref().map(|_| ()).ok_or_else(|| none.to_owned())
    }

    fn transmit(&mut self) -> Option<Box<dyn Transmit>> {
        Some(Box::new(self.sooner))
    }
}

/// A shorter AIFS for pure ACKs.
#[derive(Debug, Clone, Copy)]
struct Sooner {
    slots: u8,
    least: u8,
}

impl Transmit for Sooner {
    fn aifsn(&mut self, _: &Msdu, packet: &Packet, own: u8) -> u8 {
        if Class::of(packet) == Class::TcpAck { own.saturating_sub(self.slots).max(self.least.min(own)) } else { own }
    }
}
