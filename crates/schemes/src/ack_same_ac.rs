//! ACK priority within the data's category: at the access point a TCP ACK waits in the same queue as data, but a shorter
//! AIFS.
//!
//! - **Source** @TZL08: Thangaraj, Zeng & Li, "Performance analysis of the IEEE 802.11e wireless networks with TCP ACK
//!   prioritization", IEEE ICCCN 2008, as @SAN14 chapter 5 tells it and its abstract; the paper itself was not at hand.
//! - **Realism** no oracle; a look at TCP headers at the access point alone. A card that sets AIFS per category only cannot.
//! - **Departs** how much shorter is not told: `slots`. An access point may have AIFSN 1, a station 2 at least (@80211-2020
//!   annex C, dot11QAPEDCATableAIFSN and dot11EDCATableAIFSN).
//! - **Bound** the AIFS is that of the packet at the head of the line: an ACK behind data waits for it.
//! - **Checked** `tests/all/ack_same_ac.rs`; `world/tests/all/ack_priority.rs`: throughput up, stations no more equal.

use crate::{Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Msdu, Transmit};
use wire::{Class, Packet};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ack-same-ac",
    summary: "at the access point TCP's ACKs stay in the data's category and wait a shorter AIFS there",
    source: "TZL08",
    params: &[
        Param {
            key: "slots",
            kind: Kind::Int { min: 1, max: 14 },
            default: Value::Int(1),
            doc: "how many slots the AIFS of an ACK is shorter than its category's; ours, the paper was not to be had",
        },
        Param {
            key: "least",
            kind: Kind::Int { min: 1, max: 15 },
            default: Value::Int(1),
            doc: "no AIFSN is made smaller than this one",
        },
    ],
};

/// At nodes that forward by radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !(site.node.forwards && site.node.has_air) {
        return Ok(());
    }
    if site.mac().edca.is_none() {
        return Err("no access categories, so no AIFS of a class; write access = \"edca\"".into());
    }
    site.reads_tcp();
    site.transmit(Sooner { slots: params.int("slots") as u8, least: params.int("least") as u8 });
    Ok(())
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
