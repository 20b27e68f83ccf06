//! Service differentiation by capture: whose frames have priority sends them with more power, so that the receiver
//! captures them out of collisions.
//!
//! - **Source** @NLH07: Nyandoro, Libman & Hassan, "Service differentiation using the capture effect in 802.11 wireless LANs",
//!   IEEE Trans. Wireless Commun. 6(8), 2007, as seed 002 section 4.2 tells it, and the abstracts of its forerunners (IEEE
//!   WCNC 2004, Globecom 2005); the paper itself was not at hand.
//! - **Realism** no oracle. More power reaches farther, and is counted against nobody's battery here. Per class it takes a
//!   card that sets power per frame, which seed 002 doubts, and a look at TCP headers.
//! - **Departs** the papers raise a station (`for = "all"`); per class is ours, after seed 002's remark. Then the answers of the
//!   node (CTS, ACK) stay at its own power.
//! - **Bound** without `at` in the scenario every node has it, and nobody an advantage.
//! - **Checked** `tests/all/capture_qos.rs`; `world/tests/all/ack_priority.rs`: who wins a collision, and by how much goodput.

use crate::{Agent, Info, Kind, Param, Params, Port, Setup, Signal, Site, Value};
use mac::{Msdu, Transmit};
use phy::TxVector;
use units::{Dbm, MilliWatt};
use wire::{Class, Packet};

/// What it reads and turns.
pub const INFO: Info = Info {
    id: "capture-qos",
    summary: "frames with priority go out with more power, so that receivers capture them",
    source: "NLH07",
    sits: &[],
    reads: &[Signal::TcpHeader],
    turns: &[Port::Parameters, Port::Transmit],
    params: &[
        Param {
            key: "more_mw",
            kind: Kind::Float { min: 0.0, max: 10_000.0 },
            default: Value::Float(10.0),
            doc: "how much more than the node's own transmit power, in mW",
        },
        Param {
            key: "for",
            kind: Kind::Choice(&["all", "tcp-ack", "tcp-control", "tcp-data", "udp"]),
            default: Value::Choice("all"),
            doc: "all frames of the node, pure ACKs, all TCP segments without payload, those with payload, datagrams of UDP",
        },
    ],
};

/// All frames of a node: nothing is read.
static STATION: Info = Info { reads: &[], turns: &[Port::Parameters], ..INFO };

/// At every node with a radio.
pub fn build(site: &Site, params: &Params) -> Option<Box<dyn Agent>> {
    let classes: &'static [Class] = match params.choice("for") {
        "tcp-ack" => &[Class::TcpAck],
        "tcp-control" => &[Class::TcpAck, Class::TcpControl],
        "tcp-data" => &[Class::TcpData],
        "udp" => &[Class::Udp],
        _ => &[],
    };
    let info = if classes.is_empty() { &STATION } else { &INFO };
    let louder = Louder { classes, power: None };
    let agent = CaptureQos { info, more: MilliWatt(params.float("more_mw")), louder };
    site.has_air.then(|| Box::new(agent) as Box<dyn Agent>)
}

#[derive(Debug)]
struct CaptureQos {
    info: &'static Info,
    more: MilliWatt,
    louder: Louder,
}

impl Agent for CaptureQos {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn configure(&mut self, setup: &mut Setup<'_>) -> Result<(), String> {
        let no_powers = "signals have no powers; write propagation = { model = \"log-distance\" } in [channel]";
        if !setup.has_powers {
            return Err(no_powers.to_owned());
        }
        let power = (setup.tx_power.milliwatt() + self.more).dbm();
        if self.louder.classes.is_empty() {
            setup.tx_power = power;
        } else {
            self.louder.power = Some(power);
        }
        Ok(())
    }

    fn transmit(&mut self) -> Option<Box<dyn Transmit>> {
        Some(Box::new(self.louder))
    }
}

/// More power for some classes.
#[derive(Debug, Clone, Copy)]
struct Louder {
    classes: &'static [Class],
    power: Option<Dbm>,
}

impl Transmit for Louder {
    fn tx_vector(&mut self, _: &Msdu, packet: &Packet, own: TxVector) -> TxVector {
        if self.classes.contains(&Class::of(packet)) { TxVector { power: self.power, ..own } } else { own }
    }
}
