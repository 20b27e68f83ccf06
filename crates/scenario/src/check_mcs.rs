//! The checks of keys of 802.11n and later: modes, widths, aggregation.

use crate::Result;
use crate::aggregation::Aggregation;
use crate::edca::Access;
use crate::modes::Mcs;
use crate::node::Node;
use crate::radio::{Radio, has_mcs, highest};
use crate::words::Words;
use phy::{Refusal, Standard, Waveform, Width};
use plugin::suggest;
use units::Dur;

/// Checks the keys of all stations.
pub(crate) fn radio(radio: &Radio) -> Result<()> {
    let standard = radio.standard;
    let table = "radio";
    if !has_mcs(standard) {
        return absent(table, standard, radio.modes.written());
    }
    if radio.data_rate != highest(standard) {
        fail!("{table}.data_rate", "{}", has_mcs_instead(standard))
    }
    let (streams, waveform) = (radio.modes.streams(), radio.modes.waveform(standard, radio.tx_time()));
    modes(table, standard, streams, waveform)?;
    if let Some(mcs) = radio.modes.mcs().fixed() {
        self::mcs(table, "mcs", standard, mcs, streams, waveform)?;
    }
    aggregation(standard, radio.modes.aggregation.as_ref(), radio.access, table)
}

/// Checks the keys that a node has for itself.
pub(crate) fn node(radio: &Radio, node: &Node) -> Result<()> {
    let (entry, standard, table) = (&node.entry, node.standard, &*format!("node[{}]", node.index));
    if !has_mcs(standard) {
        return absent(table, standard, entry.modes.written().or(entry.mcs_to.as_ref().map(|_| "mcs_to")));
    }
    if entry.data_rate.is_some_and(|rate| rate != highest(standard)) {
        fail!("{table}.data_rate", "{}", has_mcs_instead(standard))
    }
    let channel = radio.modes.waveform(radio.standard, radio.tx_time()).width;
    if let Some(width) = entry.modes.width.filter(|width| *width > channel) {
        fail!("{table}.width", "{width} is more than the channel has: radio.width is {channel}")
    }
    let (streams, waveform) = (node.modes.streams(), node.waveform(radio));
    // What it has from the radio has been told of that.
    if standard != radio.standard || entry.modes.written().is_some() {
        modes(table, standard, streams, waveform)?;
    }
    let own = entry.modes.mcs.and_then(Mcs::fixed).map(|mcs| ("mcs", mcs));
    for (key, mcs) in own.into_iter().chain(entry.mcs_to().iter().map(|(_, mcs)| ("mcs_to", *mcs))) {
        self::mcs(table, key, standard, mcs, streams, waveform)?;
    }
    aggregation(standard, entry.modes.aggregation.as_ref(), Some(node.access), table)
}

/// Keys that a standard before 802.11n has not got.
fn absent(table: &str, standard: Standard, written: Option<&str>) -> Result<()> {
    let word = standard.word();
    match written {
        Some(key @ "aggregation") => fail!("{table}.{key}", "802.11n, ac and ax have it, and standard is \"{word}\""),
        Some(key) => {
            fail!("{table}.{key}", "802.11n, ac and ax have it, and standard is \"{word}\"; it has data_rate")
        }
        None => Ok(()),
    }
}

fn has_mcs_instead(standard: Standard) -> String {
    format!("{} has MCSs: take mcs, streams and width", standard.word())
}

/// The standard has streams, width, guard interval and coding.
fn modes(table: &str, standard: Standard, streams: u8, waveform: Waveform) -> Result<()> {
    let Err(refusal) = standard.radio_modes(streams, waveform) else { return Ok(()) };
    let key = match refusal {
        Refusal::Streams(..) => "streams",
        Refusal::Width(..) => "width",
        Refusal::BccWidth(_) => "coding",
        Refusal::GuardInterval(..) | Refusal::HeLtf(..) | Refusal::NoHeLtf(_) => "guard_interval",
        Refusal::Mcs(..) | Refusal::BccMcs(_) | Refusal::Bits { .. } | Refusal::NoMcs => "mcs",
    };
    let instead = match refusal {
        Refusal::Width(..) => {
            let has = |width: &Width| standard.radio_modes(streams, Waveform { width: *width, ..waveform }).is_ok();
            let widths = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160].into_iter().filter(has);
            format!("; there are {}", suggest::list_all(&widths.map(|width| width.to_string()).collect::<Vec<_>>()))
        }
        _ => String::new(),
    };
    fail!("{table}.{key}", "{refusal}{instead}")
}

/// The standard has the MCS, with the streams, the width and the coding.
fn mcs(table: &str, key: &str, standard: Standard, mcs: u8, streams: u8, waveform: Waveform) -> Result<()> {
    let Err(refusal) = standard.mcs(mcs, streams, waveform) else { return Ok(()) };
    let below = (0..mcs).rev().find(|mcs| standard.mcs(*mcs, streams, waveform).is_ok());
    match (refusal, below) {
        (Refusal::Bits { .. } | Refusal::BccMcs(_), Some(below)) => {
            fail!("{table}.{key}", "{refusal}; the next below is {below}")
        }
        _ => fail!("{table}.{key}", "{refusal}"),
    }
}

fn aggregation(standard: Standard, it: Option<&Aggregation>, access: Option<Access>, table: &str) -> Result<()> {
    let Some(it) = it else { return Ok(()) };
    let (at, word) = (format!("{table}.aggregation"), standard.word());
    if access == Some(Access::Dcf) {
        let key = if it.block_ack.is_some() { ".block_ack" } else { "" };
        fail!("{at}{key}", "block acknowledgment is of QoS stations, and access is \"dcf\"; take \"edca\"")
    }
    let own = mac::Aggregation::of(standard);
    let window = it.window.unwrap_or(own.buffer);
    if window > own.buffer {
        fail!("{at}.window", "{window} is more than {word} has: {}{}", own.buffer, wider(window))
    }
    if let Some(mpdus) = it.mpdus.filter(|mpdus| *mpdus > window) {
        let more = if mpdus <= own.buffer { String::new() } else { wider(mpdus) };
        fail!("{at}.mpdus", "{mpdus} is more than the window, {window}{more}")
    }
    if let Some(spacing) = it.spacing.filter(|spacing| *spacing > Dur::from_us(16)) {
        fail!("{at}.spacing", "{spacing} is more than 16 us, the most that a receiver can ask for")
    }
    if let Some(bytes) = it.bytes.filter(|bytes| *bytes > own.bytes) {
        fail!("{at}.bytes", "{bytes} is more than {word} has: {}", own.bytes)
    }
    if let Some(largest) = it.largest_mpdu.filter(|largest| !own.mpdu_lengths().contains(largest)) {
        let has: Vec<String> = own.mpdu_lengths().iter().map(ToString::to_string).collect();
        fail!("{at}.largest_mpdu", "{word} has no limit of {largest}; there are {}", suggest::list_all(&has))
    }
    if let Some(amsdu) = it.amsdu.filter(|amsdu| *amsdu > own.longest_amsdu()) {
        fail!("{at}.amsdu", "{amsdu} is more than {word} has: {}", own.longest_amsdu())
    }
    if let Some(time) = it.time.filter(|time| *time > mac::Aggregation::LONGEST_PPDU) {
        fail!("{at}.time", "{time} is more than a PPDU can last: {}", mac::Aggregation::LONGEST_PPDU)
    }
    if let Some(lifetime) = it.lifetime.filter(|lifetime| *lifetime < SHORTEST_LIFETIME) {
        fail!("{at}.lifetime", "{lifetime} is over before a frame has had its turn: take {SHORTEST_LIFETIME} or more")
    }
    if it.attempts.is_some() && it.lifetime.is_some() {
        fail!("{at}.attempts", "lifetime says what ends them already; give either of them")
    }
    Ok(())
}

/// A shorter lifetime gives up nearly all. Our choice.
const SHORTEST_LIFETIME: Dur = Dur::from_ms(1);

/// The standard with windows of so many.
fn wider(window: u16) -> String {
    let of_ax = mac::Aggregation::HE.buffer;
    if window <= of_ax {
        format!("; 802.11ax has {of_ax}")
    } else {
        "; such windows are of 802.11be, which is not modelled yet".to_owned()
    }
}
