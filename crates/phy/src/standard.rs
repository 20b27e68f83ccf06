//! Standards, their rates and their timing.

use crate::format::amendment::Amendment;
use crate::format::{Band, Refusal, Waveform, he, ht, vht};
use crate::mode::{Mode, NoSuchMode, mode_at};
use units::{BitRate, Dur};

/// An edition of the PHY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// The 1997 direct-sequence PHY: 1 and 2 Mb/s. @80211-2020 clause 15
    Dsss,
    /// 802.11b: up to 11 Mb/s. @80211-2020 clause 16
    B,
    /// 802.11a: OFDM in the 5 GHz band. @80211-2020 clause 17
    A,
    /// 802.11g: ERP-OFDM in the 2.4 GHz band, with the rates of 802.11b beside it. @80211-2020 clause 18
    G,
    /// 802.11n: HT in the 5 GHz band, beside 802.11a. @80211-2020 clause 19
    N,
    /// 802.11n: HT in the 2.4 GHz band, beside 802.11g. @80211-2020 clause 19
    N2_4,
    /// 802.11ac: VHT, beside 802.11a. @80211-2020 clause 21
    Ac,
    /// 802.11ax: HE in the 5 GHz band, beside 802.11a. 802.11ax-2021 clause 27
    Ax,
}

const DSSS: &[Mode] = &[Mode::dsss(0), Mode::dsss(1)];
const HR_DSSS: &[Mode] = &[Mode::dsss(0), Mode::dsss(1), Mode::dsss(2), Mode::dsss(3)];
const OFDM: &[Mode] = &[
    Mode::ofdm(0),
    Mode::ofdm(1),
    Mode::ofdm(2),
    Mode::ofdm(3),
    Mode::ofdm(4),
    Mode::ofdm(5),
    Mode::ofdm(6),
    Mode::ofdm(7),
];
const ERP: &[Mode] = &[
    Mode::dsss(0),
    Mode::dsss(1),
    Mode::dsss(2),
    Mode::erp_ofdm(0),
    Mode::erp_ofdm(1),
    Mode::dsss(3),
    Mode::erp_ofdm(2),
    Mode::erp_ofdm(3),
    Mode::erp_ofdm(4),
    Mode::erp_ofdm(5),
    Mode::erp_ofdm(6),
    Mode::erp_ofdm(7),
];

impl Standard {
    /// Its rates, slowest first, behind a long preamble where there is a choice. Of 802.11n, ac and ax those of 802.11a or g, in which
    /// their control frames go; [`Standard::radio_modes`] has the others.
    pub const fn modes(self) -> &'static [Mode] {
        match self {
            Standard::Dsss => DSSS,
            Standard::B => HR_DSSS,
            Standard::A | Standard::N | Standard::Ac | Standard::Ax => OFDM,
            Standard::G | Standard::N2_4 => ERP,
        }
    }

    /// Its band.
    pub const fn band(self) -> Band {
        match self {
            Standard::Dsss | Standard::B | Standard::G | Standard::N2_4 => Band::Ghz2_4,
            Standard::A | Standard::N | Standard::Ac | Standard::Ax => Band::Ghz5,
        }
    }

    fn amendment(self) -> Option<&'static Amendment> {
        match self {
            Standard::Dsss | Standard::B | Standard::A | Standard::G => None,
            Standard::N | Standard::N2_4 => Some(&ht::AMENDMENT),
            Standard::Ac => Some(&vht::AMENDMENT),
            Standard::Ax => Some(&he::AMENDMENT),
        }
    }

    /// The mode of its newest format with this MCS (of HT 0 to 7) in each of so many streams; the band is the standard's. Equal ones
    /// are the same mode, however often it is asked for. Each is kept for good, so this is no call for a frame.
    ///
    /// # Errors
    /// The standard lacks it.
    pub fn mcs(self, mcs: u8, streams: u8, waveform: Waveform) -> Result<Mode, Refusal> {
        let amendment = self.amendment().ok_or(Refusal::NoMcs)?;
        amendment.mode(mcs, streams, Waveform { band: self.band(), ..waveform })
    }

    /// The table of a radio, slowest first: the modes of its newest format with 1 to so many streams, beside those of
    /// [`Standard::modes`]. Before 802.11n these are all.
    ///
    /// # Errors
    /// The standard lacks it for every MCS: a width, a guard interval, a coding. An MCS that it lacks is left out.
    pub fn radio_modes(self, streams: u8, waveform: Waveform) -> Result<Vec<Mode>, Refusal> {
        let mut all = self.modes().to_vec();
        if let Some(amendment) = self.amendment() {
            all.extend(amendment.modes(streams, Waveform { band: self.band(), ..waveform })?);
        }
        all.sort_by_key(|mode| mode.bit_rate());
        Ok(all)
    }

    /// Modes that every station of the standard must receive, slowest first: control responses go in them unless a network says
    /// otherwise.
    pub fn mandatory(self) -> impl Iterator<Item = Mode> {
        self.modes().iter().copied().filter(|mode| mode.format.mandatory.contains(mode))
    }

    /// The mode of that nominal bit rate.
    ///
    /// # Errors
    /// The standard has none, or several.
    pub fn mode(self, bit_rate: BitRate) -> Result<Mode, NoSuchMode> {
        mode_at(self.modes(), bit_rate)
    }

    /// Slot, interframe spaces and contention window of the standard.
    pub const fn timing(self) -> Timing {
        match self {
            // aSlotTime, aSIFSTime, aCWmin, aCWmax: @80211-2020 table 15-4 (DSSS), table 16-4 (HR/DSSS).
            Standard::Dsss | Standard::B => {
                Timing { slot: Dur::from_us(20), sifs: Dur::from_us(10), cw_min: 31, cw_max: 1023 }
            }
            // @80211-2020 table 17-21, 20 MHz channel spacing; tables 19-25, 21-28; 802.11ax-2021 table 27-54.
            Standard::A | Standard::N | Standard::Ac | Standard::Ax => {
                Timing { slot: Dur::from_us(9), sifs: Dur::from_us(16), cw_min: 15, cw_max: 1023 }
            }
            // @80211-2020 tables 18-5, 19-25: short slot; 20 µs in a network with stations of 802.11b.
            Standard::G | Standard::N2_4 => {
                Timing { slot: Dur::from_us(9), sifs: Dur::from_us(10), cw_min: 15, cw_max: 1023 }
            }
        }
    }
}

/// Characteristics of the PHY that the MAC depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// aSlotTime.
    pub slot: Dur,
    /// aSIFSTime.
    pub sifs: Dur,
    /// aCWmin.
    pub cw_min: u16,
    /// aCWmax.
    pub cw_max: u16,
}

impl Timing {
    /// DIFS = SIFS + 2 slots. @80211-2020 10.3.7
    pub fn difs(&self) -> Dur {
        self.sifs + self.slot * 2
    }

    /// EIFS = SIFS + DIFS + the time of an ACK at the lowest mandatory rate. @80211-2020 10.3.7
    pub fn eifs(&self, ack_at_lowest: Dur) -> Dur {
        self.sifs + self.difs() + ack_at_lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difs_and_eifs_are_those_of_the_tables() {
        // SIFS + 2 slots (@80211-2020 10.3.7): DIFS 50, 34, 28 µs.
        assert_eq!(Standard::B.timing().difs(), Dur::from_us(50));
        assert_eq!(Standard::A.timing().difs(), Dur::from_us(34));
        assert_eq!(Standard::G.timing().difs(), Dur::from_us(28));
        // 10 + 50 + (192 + 112) for 802.11b long; 16 + 34 + 44 for 802.11a.
        assert_eq!(Standard::B.timing().eifs(Dur::from_us(304)), Dur::from_us(364));
        assert_eq!(Standard::A.timing().eifs(Dur::from_us(44)), Dur::from_us(94));
    }

    #[test]
    fn every_rate_is_found_by_its_value_and_no_other_is() {
        for standard in [Standard::Dsss, Standard::B, Standard::A, Standard::G] {
            for mode in standard.modes() {
                assert_eq!(standard.mode(mode.bit_rate()), Ok(*mode));
            }
            assert!(standard.modes().is_sorted_by_key(|mode| mode.bit_rate()));
            assert!(standard.mode(BitRate::from_kbps(7000)).is_err());
        }
    }

    #[test]
    fn mandatory_rates_are_those_of_the_standard() {
        // @80211-2020 15.4.4.2, 16.3.3, 17.3.2.2, 18.2
        let kbps =
            |standard: Standard| standard.mandatory().map(|mode| mode.bit_rate().bps() / 1000).collect::<Vec<_>>();
        assert_eq!(kbps(Standard::Dsss), [1000, 2000]);
        assert_eq!(kbps(Standard::B), [1000, 2000, 5500, 11_000]);
        assert_eq!(kbps(Standard::A), [6000, 12_000, 24_000]);
        assert_eq!(kbps(Standard::G), [1000, 2000, 5500, 6000, 11_000, 12_000, 24_000]);
    }
}
