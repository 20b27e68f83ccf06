//! A medium with powers, signal by signal. Node 0 is the receiver looked at; all transmit with 0 dBm, so that a gain in dB
//! is a level in dBm. Noise −110 dBm.

mod capture;
mod modem;
mod parts;
mod same_as_unit_disc;
mod segments;
mod sensing;
mod widths;

use super::*;
use crate::TxPower;
use crate::curves::Part;
use crate::curves::interference::Interference;
use crate::standard::Standard;
use engine::Streams;
use units::{BitRate, Dbm};

pub const R: NodeId = NodeId(0);
pub const X: NodeId = NodeId(1);
pub const Y: NodeId = NodeId(2);
pub const Z: NodeId = NodeId(3);

pub fn us(n: u64) -> SimTime {
    SimTime::ZERO + Dur::from_us(n)
}

pub fn rate(standard: Standard, mbps: u64) -> Mode {
    standard.mode(BitRate::from_kbps(1000 * mbps)).expect("a rate of the standard")
}

/// SINR from which a payload is received, in dB.
pub fn need_db(rate: Mode) -> f64 {
    match rate.bit_rate().bps() / 1_000_000 {
        0..=11 => 5.0,
        12..=24 => 12.0,
        _ => 22.0,
    }
}

/// All or nothing: payloads at [`need_db`], what comes before at 4 dB.
pub fn step(rate: Mode, part: Part, sinr: f64, bits: f64) -> f64 {
    let need = if part == Part::Payload { need_db(rate) } else { 4.0 };
    if bits == 0.0 || sinr >= Db(need).ratio() { 0.0 } else { f64::NEG_INFINITY }
}

pub const CAPTURE: Option<Capture> = Some(Capture { clear: Db(10.0), garbled: Db(15.0) });

pub fn config(capture: Option<Capture>) -> SinrConfig {
    SinrConfig {
        power: Dbm(0.0),
        noise: Dbm(-110.0),
        floor: Db(10.0),
        cca_ed: Dbm(-62.0),
        cca_preamble_latency: Dur::from_us(4),
        preamble_sinr: Db(4.0),
        capture,
        interference: Interference::Noise,
        curve: step,
        fading: None,
    }
}

/// A medium in which R hears the others at these levels, and nobody else anybody.
pub fn medium(config: &SinrConfig, levels: &[(NodeId, f64)]) -> Medium {
    let mut medium = Medium::Sinr(Box::new(Sinr::new(4, config, &Streams::new(1))));
    for (from, level) in levels {
        medium.set_gain(*from, R, Db(*level));
    }
    medium
}

/// A transmission in a test.
#[derive(Debug, Clone, Copy)]
pub struct Tx {
    pub from: NodeId,
    pub start: SimTime,
    pub end: SimTime,
    pub rate: Mode,
}

/// From `start` to `end` in µs.
pub fn tx(from: NodeId, start: u64, end: u64, rate: Mode) -> Tx {
    Tx { from, start: us(start), end: us(end), rate }
}

/// Transmitter, listener, and the listener's verdict on a transmission.
pub type Outcome = (NodeId, NodeId, Heard);

/// Everything that was said during a history.
#[derive(Debug, Default)]
pub struct Said {
    /// (listener, transmitter, what it heard), in order.
    pub heard: Vec<Outcome>,
    /// Starts of the transmissions of `heard`.
    pub starts: Vec<SimTime>,
    /// (when, at whom, whether carrier sense turned busy), in order.
    pub sensed: Vec<(SimTime, NodeId, bool)>,
}

impl Said {
    pub fn verdict(&self, to: NodeId, from: NodeId) -> Verdict {
        self.heard.iter().find(|(at, by, _)| (*at, *by) == (to, from)).expect("a listener").2.verdict
    }

    /// Instants at which carrier sense of R turned busy (+) and idle (−), in µs.
    pub fn sensed_at_r(&self) -> Vec<(char, u64)> {
        let at_r = self.sensed.iter().filter(|(_, at, _)| *at == R);
        at_r.map(|(when, _, is_busy)| (if *is_busy { '+' } else { '-' }, when.ns() / 1000)).collect()
    }
}

fn order((now, class, i): (SimTime, u8, usize), all: &[Tx]) -> (SimTime, u8, usize) {
    (now, class, if class == 2 { i } else { all[i].from.index() })
}

/// Plays transmissions; those of one instant start in the order given and end in order of transmitter.
pub fn play(medium: &mut Medium, all: &[Tx]) -> Said {
    // At one instant: ends, preambles that are over, starts.
    let mut agenda: Vec<(SimTime, u8, usize)> = Vec::new();
    for (i, tx) in all.iter().enumerate() {
        agenda.extend([(tx.start, 2, i), (tx.end, 0, i)]);
    }
    let mut said = Said::default();
    while let Some(next) = (0..agenda.len()).min_by_key(|i| order(agenda[*i], all)) {
        let (now, class, i) = agenda.remove(next);
        let Tx { from, start, end, rate } = all[i];
        let ppdu = Ppdu::whole(from, NodeId::BROADCAST, rate.into(), end.since(start));
        match class {
            0 => {
                if medium.stop(now, from) {
                    said.sensed.push((now, from, false));
                }
                medium.leave(now, &ppdu, |heard| {
                    for (to, heard) in heard.each() {
                        said.heard.push((to, from, heard));
                        said.starts.push(start);
                        if heard.turns_idle {
                            said.sensed.push((now, to, false));
                        }
                    }
                });
            }
            1 => medium.sense(now, from, |nodes| said.sensed.extend(nodes.map(|to| (now, to, true)))),
            _ => {
                medium.start(now, from);
                let sense_at = medium.arrive(now, &ppdu, |nodes| said.sensed.extend(nodes.map(|to| (now, to, true))));
                if sense_at < end {
                    agenda.push((sense_at, 1, i));
                }
            }
        }
    }
    said
}
