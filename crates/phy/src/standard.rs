//! Standards, their rates and their timing.

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
    /// Its rates, slowest first, behind a long preamble where there is a choice.
    pub const fn modes(self) -> &'static [Mode] {
        match self {
            Standard::Dsss => DSSS,
            Standard::B => HR_DSSS,
            Standard::A => OFDM,
            Standard::G => ERP,
        }
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
            // @80211-2020 table 17-21, 20 MHz channel spacing.
            Standard::A => Timing { slot: Dur::from_us(9), sifs: Dur::from_us(16), cw_min: 15, cw_max: 1023 },
            // @80211-2020 table 18-5: short slot; 20 µs in a network with stations of 802.11b.
            Standard::G => Timing { slot: Dur::from_us(9), sifs: Dur::from_us(10), cw_min: 15, cw_max: 1023 },
        }
    }
}

/// What the MAC takes from the PHY's characteristics.
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
