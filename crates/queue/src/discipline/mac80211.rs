//! The fair queue of Linux's mac80211: FQ-CoDel for each receiver and traffic identifier of a radio, whose turns go by airtime.
//!
//! - **Source** @HOI17: Hoeiland-Joergensen, Kazior, Taht, Hurtig & Brunstrom, "Ending the Anomaly: Achieving Low Latency and Airtime
//!   Fairness in WiFi", USENIX ATC 2017. Values are those of Linux 6.x: `ieee80211_txq_setup_flows` (quantum 300 B, 4096 flows, 8192
//!   packets), `codel_params` of a station (20 and 100 ms), `IEEE80211_DEFAULT_AIRTIME_WEIGHT` (256 µs),
//!   `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`, `_H` and `IEEE80211_AQL_THRESHOLD` (5, 12 and 24 ms).
//! - **Here** the flows of one receiver, and what a radio needs to know: [`Turns`]. The turns, and what lies below them, are the radio's
//!   (`mac::Links`).
//! - **Departs** flows of one receiver share 4096 places; Linux hashes those of all receivers into them, and a place that is taken by
//!   another receiver's is one more queue of that receiver. The limit is one of an access category, not of the device; a device's 4 MB
//!   (16 with VHT) bound nothing here.
//! - **Checked** `crates/mac/tests/all/airtime.rs`.

use super::codel::{CE_THRESHOLD, INTERVAL, TARGET, ecn};
use super::fq_codel;
use super::{Discipline, Outlet, Unsound};
use plugin::{Info, Kind, Param, Params, Value};
use units::{Bytes, Dur};

/// The turns of a radio's receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// One after the other: a turn is a PSDU.
    Round,
    /// As mac80211 has them.
    Mac80211 {
        /// Airtime that a receiver's account gets when its turn comes and it has used up what it had; `None`: airtime does not count,
        /// and receivers take turns.
        weight: Option<Dur>,
        /// The queue below.
        below: Below,
    },
}

/// The queue below the fair queue, in the hardware or its firmware: what has been handed down is sent in that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// None: a PSDU leaves the fair queue when it is sent.
    Nothing,
    /// A receiver has so many packets in it at most.
    Frames(u32),
    /// A receiver has packets in it as long as those there would take less than `low` on the air, or less than `high` while those of
    /// all would take less than `total`. Airtime Queue Limits.
    Airtime {
        /// Of one receiver.
        low: Dur,
        /// Of one receiver while there is little below.
        high: Dur,
        /// Of all.
        total: Dur,
    },
}

/// Packets of a station that firmware takes where nothing bounds their airtime. A round number, one window of block acknowledgment: drivers
/// differ.
const FIRMWARE_FRAMES: u32 = 64;

const SOME_TIME: Kind = Kind::Time { min: Dur::from_us(1), max: Dur::from_secs(1000) };

/// Its declaration.
pub static INFO: Info = Info {
    id: "mac80211",
    summary: "Linux's radios: flows of each receiver as in fq-codel, receivers in turn by airtime, little below (AQL).",
    source: "HOI17",
    params: &[
        Param { default: Value::Time(Dur::from_ms(20)), ..TARGET },
        INTERVAL,
        ecn(true),
        CE_THRESHOLD,
        Param { default: Value::Size(Bytes(300)), ..fq_codel::QUANTUM },
        Param { default: Value::Int(4096), ..fq_codel::FLOWS },
        fq_codel::DROP_BATCH,
        fq_codel::MEMORY_LIMIT,
        Param {
            key: "airtime",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "Receivers have equal shares of airtime, sent and received; else they take turns.",
        },
        Param {
            key: "weight",
            kind: SOME_TIME,
            default: Value::Time(Dur::from_us(256)),
            doc: "Airtime that a receiver's account gets each time that its turn comes and the account is overdrawn.",
        },
        Param {
            key: "aql",
            kind: Kind::Choice(&["on", "off", "none"]),
            default: Value::Choice("on"),
            doc: "The queue below, in the hardware: bounded by airtime (on), by 64 packets a receiver as firmware has them (off), or none at all, as with ath9k.",
        },
        Param {
            key: "aql_low",
            kind: SOME_TIME,
            default: Value::Time(Dur::from_ms(5)),
            doc: "Airtime that a receiver may have below at any time.",
        },
        Param {
            key: "aql_high",
            kind: SOME_TIME,
            default: Value::Time(Dur::from_ms(12)),
            doc: "Airtime that it may have below while all together have less than aql_threshold.",
        },
        Param {
            key: "aql_threshold",
            kind: SOME_TIME,
            default: Value::Time(Dur::from_ms(24)),
            doc: "Airtime of all below from which aql_low decides.",
        },
    ],
};

/// One of them.
///
/// # Errors
/// It is not that of a radio's receiver; `target` is not below `interval`; airtime is bounded below and does not count; `aql_low` is
/// more than `aql_high`.
pub fn make(params: &Params, outlet: Outlet) -> Result<Box<dyn Discipline>, Unsound> {
    if !outlet.is_of_receiver {
        let why = "\"mac80211\" schedules the receivers of a radio: write per = \"receiver\" there, and \"fq-codel\" on a wire";
        return Err(Unsound::new("discipline", why));
    }
    let weight = params.bool("airtime").then(|| params.time("weight"));
    let below = match params.choice("aql") {
        "none" => Below::Nothing,
        "off" => Below::Frames(FIRMWARE_FRAMES),
        _ => {
            let [low, high, total] = ["aql_low", "aql_high", "aql_threshold"].map(|key| params.time(key));
            if weight.is_none() {
                let why = "\"on\" bounds airtime, which does not count with airtime = false; write \"off\" or \"none\"";
                return Err(Unsound::new("aql", why));
            }
            if low > high {
                return Err(Unsound::new("aql_low", format!("{low} is more than aql_high, {high}")));
            }
            Below::Airtime { low, high, total }
        }
    };
    Ok(Box::new(fq_codel::of(params, outlet)?.with_turns(Turns::Mac80211 { weight, below })))
}
