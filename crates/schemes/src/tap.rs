//! TAP, TCP ACK priority: the access point sends the TCP ACKs of uploads ahead of everything, several in one opportunity.
//!
//! - **Source** @CRS07: Choi, Ryu, Seok, Kwon, Choi, "Optimizing aggregate throughput of upstream TCP flows over IEEE 802.11
//!   wireless LANs", PIMRC 2007, as @SAN14 chapter 5 tells it.
//! - **Realism** no oracle: a look at the TCP headers of what the access point forwards, so nothing is done for encrypted traffic.
//! - **Departs**
//!   (a) The text speaks of "multi-destination frame aggregation", with "a SIFS or a RIFS" between ACKs. An A-MPDU has one receiver
//!   (@80211-2020 9.7.3), so this aggregate is built on no standard: each ACK is an ordinary frame with a MAC ACK of its own, a SIFS after the
//!   one before, in one opportunity counted in exchanges: more airtime for the same order. On radios of 802.11n and later likewise,
//!   since `block_ack` starts nothing for voice, whose user priority the ACKs have.
//!   (b) "Immediately after a DIFS" is AIFSN 2 with a contention window of 0, also after a failure: nothing else is
//!   written. Two access points in reach of each other would collide until their limit; `access = "backoff"` is the
//!   other reading, a DIFS and the backoff of plain DCF.
//!   (c) "Several stations": the queue is in order, so up to n ACKs go to whatever stations they are for, one station's own next to each
//!   other included.
//!   (d) The text counts ACKs; a duplicate ACK is one, a segment with payload, SYN, FIN or RST is none.
//! - **Bound** the ACKs of downloads come from stations, which it does not reach.
//! - **Checked** `tests/all/tap.rs`; `world/tests/all/ack_return.rs` (whole runs).

use crate::{Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Category, Classifier, Config};
use units::{Dur, NodeId};
use wire::Packet;

/// Its declaration.
pub const INFO: Info = Info {
    id: "tap",
    summary: "TCP ACKs leave the access point ahead of everything, several in one opportunity; without the paper's aggregation",
    source: "CRS07, in SAN14 chapter 5",
    params: &[
        Param {
            key: "acks",
            kind: Kind::Int { min: 0, max: 64 },
            default: Value::Int(0),
            doc: "TCP ACKs in one transmission opportunity; 0: 4, or 8 at an access point that uses RTS/CTS",
        },
        Param {
            key: "access",
            kind: Kind::Choice(&["difs", "backoff"]),
            default: Value::Choice("difs"),
            doc: "how the first of them gets the medium: a DIFS after it has become idle, or by DIFS and backoff",
        },
    ],
};

/// ACKs in one opportunity with basic access, and with RTS/CTS. @SAN14 chapter 5
const ACKS: [u16; 2] = [4, 8];
/// SIFS and two slots are a DIFS. @80211-2020 10.3.2.3.5
const DIFS_SLOTS: u8 = 2;

/// At what forwards for stations: an access point.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !(site.node.has_air && site.node.forwards) {
        return Ok(());
    }
    // One above those the station had.
    let own = site.mac().categories();
    site.reads_tcp();
    site.classify(Sorter { own });
    let Config { timing, rts, edca, aggregation, .. } = &mut site.radio().mac;
    let Some(edca) = edca else { return Ok(()) };
    let draws = params.choice("access") == "backoff";
    let (cw_min, cw_max) = if draws { (timing.cw_min, timing.cw_max) } else { (0, 0) };
    let highest = edca.categories.last().map_or(0, |category| category.user_priority);
    if aggregation.is_some_and(|own| own.starts_for(highest)) {
        let why = "its ACKs share the user priority of another queue, and an agreement numbers what one queue sends";
        return Err(format!("{why}; write block_ack = [\"bk\", \"be\", \"vi\"] in [radio.aggregation]").into());
    }
    let by_rts = ACKS[usize::from(rts.threshold.is_some())];
    let acks = u16::try_from(params.int("acks")).unwrap_or(0);
    edca.categories.push(Category {
        name: "tcp-ack".to_owned(),
        aifsn: DIFS_SLOTS,
        cw_min,
        cw_max,
        txop_limit: Dur::ZERO,
        txop_exchanges: if acks > 0 { acks } else { by_rts },
        user_priority: highest,
    });
    Ok(())
}

/// TCP ACKs have a category of their own.
#[derive(Debug, Clone, Copy)]
struct Sorter {
    own: u8,
}

impl Classifier for Sorter {
    fn category(&mut self, packet: &Packet, _: NodeId, default: u8) -> u8 {
        if packet.pure_ack().is_some() { self.own } else { default.min(self.own.saturating_sub(1)) }
    }
}
