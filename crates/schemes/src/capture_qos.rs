//! Service differentiation by capture: whose frames have priority sends them with more power, so that the receiver
//! captures them out of collisions.
//!
//! - **Source** @NLH07: Nyandoro, Libman & Hassan, "Service differentiation using the capture effect in 802.11 wireless LANs",
//!   IEEE Trans. Wireless Commun. 6(8), 2007, as @SAN14 section 4.2 tells it, and the abstracts of its forerunners (IEEE
//!   WCNC 2004, Globecom 2005); the paper itself was not at hand.
//! - **Realism** no oracle. More power reaches farther, and is counted against nobody's battery here. Per class it takes a
//!   card that sets power per frame, which @SAN14 doubts, and a look at TCP headers.
//! - **Departs** the papers raise a station (`for = "all"`); per class is ours, after @SAN14's remark. Then the answers of the
//!   node (CTS, ACK) stay at its own power.
//! - **Bound** without `at` in the scenario every node has it, and nobody an advantage.
//! - **Checked** `tests/all/capture_qos.rs`; `world/tests/all/ack_priority.rs`: who wins a collision, and by how much goodput.

use crate::{Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Msdu, Transmit};
use phy::{TxPower, TxVector};
use units::{Dbm, MilliWatt};
use wire::{Class, Packet};

/// Its declaration.
pub const INFO: Info = Info {
    id: "capture-qos",
    summary: "frames with priority go out with more power, so that receivers capture them, if it is enough",
    source: "NLH07",
    params: &[
        Param {
            key: "more_mw",
            kind: Kind::Float { min: 0.0, max: 10_000.0 },
            default: Value::Float(10.0),
            doc: "how much more than the node's own transmit power, in mW; captures begin some 10 dB over other frames",
        },
        Param {
            key: "for",
            kind: Kind::Choice(&["all", "tcp-ack", "tcp-control", "tcp-data", "udp"]),
            default: Value::Choice("all"),
            doc: "all frames of the node, pure ACKs, all TCP segments without payload, those with payload, datagrams of UDP",
        },
    ],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let classes: &'static [Class] = match params.choice("for") {
        "tcp-ack" => &[Class::TcpAck],
        "tcp-control" => &[Class::TcpAck, Class::TcpControl],
        "tcp-data" => &[Class::TcpData],
        "udp" => &[Class::Udp],
        _ => &[],
    };
    site.needs_powers()?;
    let more = MilliWatt(params.float("more_mw"));
    let radio = site.radio();
    let power = (radio.tx_power.milliwatt() + more).dbm();
    if classes.is_empty() {
        radio.tx_power = power;
    } else {
        site.reads_tcp();
        site.transmit(Louder { classes, power });
    }
    Ok(())
}

/// More power for some classes.
#[derive(Debug, Clone, Copy)]
struct Louder {
    classes: &'static [Class],
    power: Dbm,
}

impl Transmit for Louder {
    fn tx_vector(&mut self, _: &Msdu, packet: &Packet, own: TxVector) -> TxVector {
        if self.classes.contains(&Class::of(packet)) { TxVector { power: TxPower::of(self.power), ..own } } else { own }
    }
}
