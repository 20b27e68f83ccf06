//! Standards, their rates and their timing.

use crate::tx_vector::{Format, Mode, Preamble};
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

    /// Rates every station of the standard must receive, among which control answers are sent unless a network says
    /// otherwise. @80211-2020 15.4.4.2, 16.3.3, 17.3.2.2 (6, 12, 24 Mb/s), 18.2
    pub const fn mandatory_kbps(self) -> &'static [u64] {
        match self {
            Standard::Dsss => &[1000, 2000],
            Standard::B => &[1000, 2000, 5500, 11000],
            Standard::A => &[6000, 12000, 24000],
            Standard::G => &[1000, 2000, 5500, 6000, 11000, 12000, 24000],
        }
    }

    /// The rate of that nominal value, if the standard has it. No standard here has one twice.
    pub fn mode(self, bit_rate: BitRate) -> Option<Mode> {
        self.modes().iter().copied().find(|mode| mode.bit_rate() == bit_rate)
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

impl Format {
    /// The mandatory rates of the modulation class, slowest first: what every station that has the class can receive.
    /// @80211-2020 15.4.4.2, 16.3.3 (DSSS, HR/DSSS), 17.3.2.2, 18.2 (OFDM, ERP-OFDM)
    pub const fn mandatory(self) -> &'static [Mode] {
        const OFDM: &[Mode] = &[Mode::ofdm(0), Mode::ofdm(2), Mode::ofdm(4)];
        const ERP_OFDM: &[Mode] = &[Mode::erp_ofdm(0), Mode::erp_ofdm(2), Mode::erp_ofdm(4)];
        match self {
            Format::Dsss => HR_DSSS,
            Format::Ofdm => OFDM,
            Format::ErpOfdm => ERP_OFDM,
        }
    }
}

impl Mode {
    /// From the start of a frame to PHY-RXSTART.indication: preamble and header received. aRxPHYStartDelay,
    /// @80211-2020 tables 15-4, 16-4 (192 µs long, 96 µs short), 17-21 (25 µs).
    pub const fn rx_phy_start_delay(self) -> Dur {
        match (self.format, self.preamble) {
            (Format::Dsss, Preamble::Short) => Dur::from_us(96),
            (Format::Dsss, Preamble::Long) => Dur::from_us(192),
            (Format::Ofdm | Format::ErpOfdm, _) => Dur::from_us(25),
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
                assert_eq!(standard.mode(mode.bit_rate()), Some(*mode));
            }
            assert_eq!(standard.mode(BitRate::from_kbps(7000)), None);
            assert!(standard.mandatory_kbps().iter().all(|&k| standard.mode(BitRate::from_kbps(k)).is_some()));
        }
    }
}
