//! FTCA, fair TCP channel access: TCP's control packets have the highest access category for themselves.
//!
//! - **Source** @SAN14 chapter 5. The author's published code (csdev/ns3-ftca) leaves FIN and RST out, against the text:
//!   `control = "set-up"`.
//! - **Realism** no oracle; a look at TCP headers at every node, so encrypted traffic is all "everything else".
//! - **Departs** what the text leaves open: a segment that carries data is data whatever its flags (SYN, FIN, piggybacked
//!   ACK), or data would contend with ACKs again. Everything else keeps the category its DSCP asks for, but one below the
//!   highest where that is the highest.
//!   "Highest" is what schemes before this one in the file have left. After `tap` that is its category of ACKs, which all control
//!   packets then share; before it, control packets have VO for themselves and TAP's ACKs go above it: the reading in which both
//!   texts hold.
//! - **Bound** with one category alone there is nothing to keep apart; an input error says so under DCF.
//! - **Checked** `tests/all/ftca.rs` (by hand, and over random segments); `world/tests/all/ftca.rs` (whole runs).

use crate::{Info, Kind, Param, Params, Refusal, Site, Value};
use mac::Classifier;
use units::NodeId;
use wire::{Flags, Packet};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ftca",
    summary: "TCP's control packets have the highest access category for themselves",
    source: "SAN14 chapter 5",
    params: &[Param {
        key: "control",
        kind: Kind::Choice(&["all", "set-up"]),
        default: Value::Choice("all"),
        doc: "which control packets: pure ACK, SYN, SYN-ACK, FIN and RST (the text), or without FIN and RST (the author's code)",
    }],
};

/// Installs the classifier at every node with a radio. The highest category is the highest that schemes before this one
/// have left: behind `tap` its category for ACKs, before it the highest below that.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.has_air {
        let top = site.mac().categories().saturating_sub(1);
        site.reads_tcp();
        site.classify(Sorter { top, with_teardown: params.choice("control") == "all" });
    }
    Ok(())
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

/// True for a TCP segment without payload that opens or, if they count, ends a connection, and for a pure ACK.
fn is_control(packet: &Packet, with_teardown: bool) -> bool {
    let Some(tcp) = packet.tcp().filter(|_| packet.payload.len == 0) else { return false };
    let ends = tcp.flags.any(Flags::FIN | Flags::RST);
    tcp.flags.any(Flags::SYN | Flags::ACK) && !ends || with_teardown && ends
}
