//! The TX vector: what the MAC tells the PHY with each frame. @80211-2020 16.2.2, 17.2.2, 19.2.2

use crate::BlockCode;
use core::fmt;
use units::{BitRate, Dbm};

/// The PPDU's format, and with it the clause that defines its modulation: of the formats here each is a modulation class of its
/// own. @80211-2020 10.6.9
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// DSSS and CCK. @80211-2020 clauses 15, 16
    Dsss,
    /// OFDM in the 5 GHz band. @80211-2020 clause 17
    Ofdm,
    /// OFDM in the 2.4 GHz band, with 6 µs of signal extension. @80211-2020 clause 18
    ErpOfdm,
}

/// Length of the DSSS preamble. OFDM has one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preamble {
    /// 144 µs, then a header of 48 µs at 1 Mb/s. @80211-2020 16.2.2.2
    Long,
    /// 72 µs, then a header of 24 µs at 2 Mb/s; not for 1 Mb/s. @80211-2020 16.2.2.3
    Short,
}

/// CH_BANDWIDTH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bandwidth {
    /// Of OFDM.
    Mhz20,
    /// Of DSSS and CCK.
    Mhz22,
}

/// GI_TYPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardInterval {
    /// DSSS and CCK have none.
    None,
    /// 0.8 µs before each OFDM symbol of 3.2 µs. @80211-2020 table 17-5
    Ns800,
}

/// Everything in a TX vector but the power: what TXTIME and error curves follow from. Two frames of one mode are at the
/// same rate; equal bit rates are not enough for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// FORMAT.
    pub format: Format,
    /// Which rate of the format, the slowest 0: the index of modulation and coding.
    pub mcs: u8,
    /// CH_BANDWIDTH.
    pub bandwidth: Bandwidth,
    /// Spatial streams.
    pub streams: u8,
    /// GI_TYPE.
    pub guard_interval: GuardInterval,
    /// PREAMBLE_TYPE, of DSSS; long for all others.
    pub preamble: Preamble,
}

/// 1, 2, 5.5, 11 Mb/s. @80211-2020 16.2.3.4
const DSSS_KBPS: [u64; 4] = [1000, 2000, 5500, 11_000];
/// @80211-2020 table 17-4
const OFDM_MBPS: [u16; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

impl Mode {
    /// DSSS or CCK behind a long preamble.
    pub const fn dsss(mcs: u8) -> Mode {
        let (bandwidth, guard_interval, preamble) = (Bandwidth::Mhz22, GuardInterval::None, Preamble::Long);
        Mode { format: Format::Dsss, mcs, bandwidth, streams: 1, guard_interval, preamble }
    }

    /// OFDM in 20 MHz.
    pub const fn ofdm(mcs: u8) -> Mode {
        let (bandwidth, guard_interval, preamble) = (Bandwidth::Mhz20, GuardInterval::Ns800, Preamble::Long);
        Mode { format: Format::Ofdm, mcs, bandwidth, streams: 1, guard_interval, preamble }
    }

    /// ERP-OFDM.
    pub const fn erp_ofdm(mcs: u8) -> Mode {
        Mode { format: Format::ErpOfdm, ..Mode::ofdm(mcs) }
    }

    /// The same with this preamble, where there is a choice: DSSS above 1 Mb/s.
    #[must_use]
    pub const fn with_preamble(self, preamble: Preamble) -> Mode {
        match self.format {
            Format::Dsss if self.mcs > 0 => Mode { preamble, ..self },
            _ => self,
        }
    }

    /// Nominal bit rate.
    pub const fn bit_rate(self) -> BitRate {
        BitRate::from_kbps(match self.format {
            Format::Dsss => DSSS_KBPS[self.mcs as usize],
            Format::Ofdm | Format::ErpOfdm => OFDM_MBPS[self.mcs as usize] as u64 * 1000,
        })
    }

    /// N_DBPS, four times the rate in Mb/s since a symbol lasts 4 µs; 0 where there are no symbols. @80211-2020 table 17-4
    pub const fn data_bits_per_symbol(self) -> u64 {
        match self.format {
            Format::Dsss => 0,
            Format::Ofdm | Format::ErpOfdm => 4 * OFDM_MBPS[self.mcs as usize] as u64,
        }
    }

    /// How many there are of format and rate.
    pub const COUNT: usize = 20;

    /// One of each format and rate, in order of [`Mode::index`].
    pub fn all() -> [Mode; Mode::COUNT] {
        std::array::from_fn(|i| match i {
            0..4 => Mode::dsss(i as u8),
            4..12 => Mode::ofdm(i as u8 - 4),
            _ => Mode::erp_ofdm(i as u8 - 12),
        })
    }

    /// Its place among [`Mode::all`], whatever its preamble: for tables of what is known of each format and rate.
    pub const fn index(self) -> usize {
        self.mcs as usize
            + match self.format {
                Format::Dsss => 0,
                Format::Ofdm => 4,
                Format::ErpOfdm => 12,
            }
    }

    /// All of it in one word, for tables of what is known of a mode.
    pub const fn word(self) -> u32 {
        let (format, gi, preamble) = (self.format as u32, self.guard_interval as u32, self.preamble as u32);
        self.mcs as u32
            | (self.streams as u32) << 8
            | format << 16
            | (self.bandwidth as u32) << 20
            | gi << 24
            | preamble << 28
    }
}

/// The TX vector of one PPDU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TxVector {
    /// How its PSDU is carried.
    pub mode: Mode,
    /// TXPWR_LEVEL. Of no meaning where signals have no powers.
    pub power: TxPower,
    /// The block code over its PSDU; `None`: none but that of the modulation. Airtime counts it, and of the error models that of
    /// independent bits ([`crate::Hit::Bit`]): to the others, and to error curves, it is no help.
    pub code: Option<BlockCode>,
}

impl From<Mode> for TxVector {
    /// At the transmitter's own power, without a code.
    fn from(mode: Mode) -> TxVector {
        TxVector { mode, power: TxPower::OWN, code: None }
    }
}

/// TXPWR_LEVEL: the transmitter's own, or another. One word, since frames are copied on the hot path.
#[derive(Clone, Copy)]
pub struct TxPower(f64);

impl TxPower {
    /// That of the transmitter.
    pub const OWN: TxPower = TxPower(f64::NAN);

    /// This one. NaN is [`TxPower::OWN`].
    pub const fn of(level: Dbm) -> TxPower {
        TxPower(level.0)
    }

    /// `None`: the transmitter's own.
    pub fn level(self) -> Option<Dbm> {
        (!self.0.is_nan()).then_some(Dbm(self.0))
    }
}

impl PartialEq for TxPower {
    fn eq(&self, other: &TxPower) -> bool {
        self.level() == other.level()
    }
}

impl fmt::Debug for TxPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.level(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Standard;

    #[test]
    fn no_two_modes_share_a_word() {
        let mut words = Vec::new();
        for standard in [Standard::G, Standard::A] {
            for mode in standard.modes() {
                words.push(mode.word());
                let short = mode.with_preamble(Preamble::Short);
                if short != *mode {
                    words.push(short.word());
                }
            }
        }
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!((words.len(), all), (12 + 3 + 8, 12 + 3 + 8), "three DSSS rates have a short preamble");
    }

    #[test]
    fn a_power_is_the_transmitters_own_or_another() {
        assert_eq!((TxPower::OWN.level(), TxPower::of(Dbm(-3.0)).level()), (None, Some(Dbm(-3.0))));
        assert!(TxPower::OWN == TxPower::OWN && TxPower::OWN != TxPower::of(Dbm(0.0)));
        assert!(size_of::<TxVector>() <= 24, "{} bytes, copied with every frame", size_of::<TxVector>());
    }

    #[test]
    fn every_mode_is_found_at_its_index() {
        for (i, mode) in Mode::all().into_iter().enumerate() {
            assert_eq!((mode.index(), mode.with_preamble(Preamble::Short).index()), (i, i));
        }
    }

    #[test]
    fn one_megabit_has_no_short_preamble_and_ofdm_has_no_choice() {
        assert_eq!(Mode::dsss(0).with_preamble(Preamble::Short), Mode::dsss(0));
        assert_eq!(Mode::dsss(3).with_preamble(Preamble::Short).preamble, Preamble::Short);
        assert_eq!(Mode::erp_ofdm(7).with_preamble(Preamble::Short), Mode::erp_ofdm(7));
        assert_eq!(
            (Mode::ofdm(7).bit_rate(), Mode::ofdm(7).data_bits_per_symbol()),
            (BitRate::from_kbps(54_000), 216)
        );
    }
}
