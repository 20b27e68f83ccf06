//! AIFS per station: a station that the access point hears louder waits longer, so that it meets weaker ones less often and
//! captures fewer of their frames.
//!
//! - **Source** @GRGSD06: Ganu, Ramachandran, Gruteser, Seskar & Deng, "Methods for restoring MAC layer fairness in IEEE 802.11
//!   networks with physical layer capture", ACM REALMAN 2006, as @SAN14 chapter 5 tells it; the paper itself was not at hand.
//! - **Realism** no oracle: an access point measures the powers of its stations. It may tell them EDCA parameters, but in
//!   beacons the same to all (@80211-2020 9.4.2.28); for each its own takes another way.
//! - **Departs** how AIFS follows from power is not told: the weakest station has `least`, and each `db_per_slot` over it makes a
//!   slot more, up to `largest`; 10 dB are ours. All categories are moved alike, so that their order stays; the highest begins
//!   at `least`. Under DCF, which knows no AIFS, it takes the place of the DIFS.
//! - **Bound** mean powers of the scenario, once before the run: no fading. One power of the access point's own frames.
//! - **Checked** `tests/all/station_aifs.rs`; `world/tests/all/ack_priority.rs`: near over far goodput falls.

use crate::{Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Msdu, Transmit};
use wire::Packet;

const fn aifsn(key: &'static str, default: i64, doc: &'static str) -> Param {
    Param { key, kind: Kind::Int { min: 1, max: 15 }, default: Value::Int(default), doc }
}

/// Its declaration.
pub const INFO: Info = Info {
    id: "station-aifs",
    summary: "stations that their access point hears louder wait a longer AIFS",
    source: "GRGSD06",
    params: &[
        aifsn("least", 2, "AIFSN of the weakest station's highest category; its DIFS under DCF"),
        Param {
            key: "db_per_slot",
            kind: Kind::Float { min: 0.1, max: 100.0 },
            default: Value::Float(10.0),
            doc: "so many dB over the weakest station make one slot more, to the nearest; ours, the paper was not to be had",
        },
        aifsn("largest", 15, "AIFSN that no category exceeds"),
    ],
};

/// At every node with a radio that does not forward.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || site.node.forwards {
        return Ok(());
    }
    let number = |key: &str| params.int(key) as u8;
    let (least, largest) = (number("least"), number("largest"));
    if least > largest {
        return Err(format!("least {least} is over largest {largest}").into());
    }
    let least = least.saturating_add(slots(site, params.float("db_per_slot"))?);
    let Some(edca) = &mut site.radio().mac.edca else {
        site.transmit(Difs { aifsn: least.min(largest) });
        return Ok(());
    };
    let own = edca.categories.iter().map(|category| category.aifsn).min().unwrap_or(0);
    for category in &mut edca.categories {
        category.aifsn = (category.aifsn - own).saturating_add(least).min(largest);
    }
    Ok(())
}

/// Returns the slots that the station waits longer than the weakest station of the same access point.
fn slots(site: &mut Site, db_per_slot: f64) -> Result<u8, Refusal> {
    let ap = site.node.access_point.ok_or("it belongs to no access point; write role = \"ap\" at one node")?;
    let powers = site.powers()?;
    let mean_dbm = |station| powers.mean(station, ap).0;
    let weakest = powers.stations(ap).into_iter().map(mean_dbm).fold(f64::INFINITY, f64::min);
    // A float is cast to the nearest end of the integer's range.
    Ok(libm::round((mean_dbm(site.node.id) - weakest) / db_per_slot) as u8)
}

/// Another interframe space than DIFS for all frames.
#[derive(Debug, Clone, Copy)]
struct Difs {
    aifsn: u8,
}

impl Transmit for Difs {
    fn aifsn(&mut self, _: &Msdu, _: &Packet, _: u8) -> u8 {
        self.aifsn
    }
}
