//! FTCA, fair TCP channel access: TCP's control packets have the highest access category for themselves.
//!
//! - **Source** seed 002 chapter 5. The author's published code (csdev/ns3-ftca) leaves FIN and RST out, against the text:
//!   `control = "set-up"`.
//! - **Realism** no oracle; a look at TCP headers at every node, so encrypted traffic is all "everything else".
//! - **Departs** what the text leaves open: a segment that carries data is data whatever its flags (SYN, FIN, piggybacked
//!   ACK), or data would contend with ACKs again. Everything else keeps the category its DSCP asks for, but one below the
//!   highest where that is the highest.
//! - **Bound** with one category alone there is nothing to keep apart; an input error says so under DCF.
//! - **Checked** `tests/all/ftca.rs` (by hand, and over random segments); `world/tests/all/ftca.rs` (whole runs).

use crate::{Agent, Info, Kind, Param, Params, Port, Signal, Site, Value};
use mac::Classifier;
use units::NodeId;
use wire::{Flags, Packet};

/// What it reads and turns.
pub const INFO: Info = Info {
    id: "ftca",
    summary: "TCP's control packets have the highest access category for themselves",
    source: "seed 002 chapter 5",
    sits: &[],
    reads: &[Signal::TcpHeader],
    turns: &[Port::Classifier],
    params: &[Param {
        key: "control",
        kind: Kind::Choice(&["all", "set-up"]),
        default: Value::Choice("all"),
        doc: "which control packets: pure ACK, SYN, SYN-ACK, FIN and RST (the text), or without FIN and RST (the author's code)",
    }],
};

/// At every node with a radio.
pub fn build(site: &Site, params: &Params) -> Option<Box<dyn Agent>> {
    let sorter = Sorter { top: site.categories.saturating_sub(1), with_teardown: params.choice("control") == "all" };
    site.has_air.then(|| Box::new(Ftca { sorter }) as Box<dyn Agent>)
}

#[derive(Debug)]
struct Ftca {
    sorter: Sorter,
}

impl Agent for Ftca {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn classifier(&mut self) -> Option<Box<dyn Classifier>> {
        Some(Box::new(self.sorter))
    }
}

/// Control packets above all else.
#[derive(Debug, Clone, Copy)]
struct Sorter {
    /// The highest category.
    top: u8,
    with_teardown: bool,
}

impl Classifier for Sorter {
    fn category(&mut self, packet: &Packet, _: NodeId, default: u8) -> u8 {
        if is_control(packet, self.with_teardown) { self.top } else { default.min(self.top.saturating_sub(1)) }
    }
}

/// A TCP segment without payload that opens or, if they count, ends a connection, or a pure ACK.
fn is_control(packet: &Packet, with_teardown: bool) -> bool {
    let Some(tcp) = packet.tcp().filter(|_| packet.payload.len == 0) else { return false };
    let ends = tcp.flags.any(Flags::FIN | Flags::RST);
    tcp.flags.any(Flags::SYN | Flags::ACK) && !ends || with_teardown && ends
}
