//! The modes of a receiver in groups of streams × guard interval × width, and how long an average packet takes in each.

use super::super::receivers::is_mcs;
use crate::Config;
use phy::{Mode, airtime};
use units::{Bytes, Dur};

/// An average packet.
const PACKET: Bytes = Bytes(1200);
/// MPDUs over which the last symbol of an A-MPDU is shared.
const MPDUS: u64 = 16;
/// An average packet and its FCS, where each packet is a PPDU of its own: as mac80211 counts.
const LEGACY: Bytes = Bytes(1204);

/// A mode of a receiver.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub mode: Mode,
    /// Nanoseconds of an average packet; of a legacy mode with its preamble and a SIFS.
    pub duration: u64,
    /// Its group.
    pub group: usize,
}

/// Rates that differ in their MCS alone.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Index of its slowest rate in [`Table::rates`].
    pub first: usize,
    /// Its rates.
    pub len: usize,
    pub streams: u8,
}

impl Group {
    /// Indices of its rates, slowest first.
    pub fn rates(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.len
    }
}

/// The rates of receivers that know the same modes, group by group: by width, then guard interval, then streams.
#[derive(Debug)]
pub struct Table {
    pub rates: Vec<Rate>,
    pub groups: Vec<Group>,
    /// Modes of 802.11n and later, in which packets are aggregated.
    pub aggregates: bool,
    /// Microseconds of an exchange beside the data, without and with RTS/CTS.
    pub overhead: [u64; 2],
}

impl Table {
    /// Of these modes; of a radio with MCSs these alone, as in mac80211.
    pub fn of(modes: &[Mode], config: &Config) -> Table {
        let aggregates = modes.iter().any(|mode| is_mcs(*mode));
        let mut own: Vec<Mode> = modes.iter().filter(|mode| is_mcs(**mode) || !aggregates).copied().collect();
        let group = |mode: &Mode| {
            let guard = u64::MAX - mode.guard_interval.ns(); // the long one first
            (mode.coding.is_some(), mode.bandwidth.0 as u64, guard, mode.streams)
        };
        own.sort_by_key(|mode| (group(mode), mode.mcs));
        let (mut rates, mut groups) = (Vec::new(), Vec::<Group>::new());
        let mut last = None;
        for mode in own {
            if last != Some(group(&mode)) {
                last = Some(group(&mode));
                groups.push(Group { first: rates.len(), len: 0, streams: mode.streams });
            }
            let here = groups.len() - 1;
            groups[here].len += 1;
            let duration = if aggregates { aggregated(mode) } else { alone(mode, config) };
            rates.push(Rate { mode, duration, group: here });
        }
        Table { rates, groups, aggregates, overhead: overhead(aggregates, config) }
    }
}

/// One packet of many in a PPDU: its share of the symbols.
fn aggregated(mode: Mode) -> u64 {
    let bits = MPDUS * PACKET.bits();
    let symbols = (2 * bits).div_ceil(mode.symbols.bits_in_two.get());
    symbols * mode.symbols.lasts.ns() / MPDUS
}

/// One packet in a PPDU, and the SIFS behind it.
fn alone(mode: Mode, config: &Config) -> u64 {
    (airtime(mode, LEGACY) + config.timing.sifs).ns()
}

/// mac80211's estimate: a SIFS and a legacy frame at 6 Mb/s each. The frame before data has no bytes beside its FCS: 16 + 16 + 4 + 12 =
/// 48 µs; an acknowledgment has 10: 16 + 16 + 4 + 24 = 60 µs; RTS and CTS are two of these. Legacy data have the acknowledgment alone, at
/// the lowest rate.
fn overhead(aggregates: bool, config: &Config) -> [u64; 2] {
    if aggregates {
        return [48 + 60, 48 + 60 + 2 * 60];
    }
    let response = airtime(config.lowest_rate, Bytes(14)) + config.timing.sifs;
    let of = |responses: u64| (response * responses).ns() / Dur::from_us(1).ns();
    [of(1), of(3)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use phy::{Standard, Waveform};

    #[test]
    fn durations_are_those_worked_by_hand() {
        let config = Config::of(Standard::N, Mode::ofdm(0));
        let of = |standard: Standard, streams: u8| {
            Table::of(&standard.radio_modes(streams, Waveform::PLAIN).expect("it has them"), &config)
        };
        let n = of(Standard::N, 2);
        // 16 · 9600 bits: 26 a symbol of 4 µs, ⌈5907.7⌉ · 4 / 16; 260: ⌈590.8⌉ · 4 / 16 = 147.75; two streams 520: ⌈295.4⌉ · 4 / 16 = 74.
        assert_eq!([0, 7, 15].map(|rate| n.rates[rate].duration), [1_477_000, 147_750, 74_000]);
        let groups: Vec<_> = n.groups.iter().map(|group| (group.first, group.len, group.streams)).collect();
        assert_eq!((groups, n.overhead), (vec![(0, 8, 1), (8, 8, 2)], [108, 228]));
        // MCS 9 of one stream is no mode of 20 MHz.
        assert_eq!(of(Standard::Ac, 1).groups[0].len, 9);
        // 802.11ax has 12 MCSs, but 10 and 11 take LDPC; and symbols of 13.6 µs: MCS 0 has 117 bits in one, ⌈1312.8⌉ · 13.6 / 16 = 1116.05.
        let ax = of(Standard::Ax, 1);
        assert_eq!((ax.groups[0].len, ax.rates[0].duration), (10, 1_116_050));
        // 54 Mb/s: 1204 B are ⌈9654 / 216⌉ = 45 symbols: 20 + 180, and 16. The ACK at 6 Mb/s: 44 and 16.
        let a = of(Standard::A, 1);
        assert_eq!((a.rates[7].duration, a.overhead, a.groups.len()), (216_000, [60, 180], 1));
    }
}
