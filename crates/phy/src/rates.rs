//! Standards, their rates and their timing.

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

/// Length of the DSSS preamble. OFDM has one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// 144 µs, then a header of 48 µs at 1 Mb/s. @80211-2020 16.2.2.2
    Long,
    /// 72 µs, then a header of 24 µs at 2 Mb/s; not for 1 Mb/s. @80211-2020 16.2.2.3
    Short,
}

/// How a rate is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modulation {
    /// DSSS or CCK: bits follow one another.
    Dsss,
    /// OFDM: data bits per 4 µs symbol, N_DBPS. @80211-2020 table 17-4
    Ofdm {
        /// N_DBPS.
        data_bits_per_symbol: u16,
    },
    /// OFDM in the 2.4 GHz band: 6 µs of signal extension follow. @80211-2020 18.3.2.4
    ErpOfdm {
        /// N_DBPS.
        data_bits_per_symbol: u16,
    },
}

/// A data rate with the modulation that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Nominal bit rate.
    pub bit_rate: BitRate,
    /// What carries it.
    pub modulation: Modulation,
}

const fn dsss(kbps: u64) -> Rate {
    Rate { bit_rate: BitRate::from_kbps(kbps), modulation: Modulation::Dsss }
}

/// N_DBPS is four times the rate in Mb/s: a symbol lasts 4 µs. @80211-2020 table 17-4
const fn ofdm(mbps: u16) -> Rate {
    let modulation = Modulation::Ofdm { data_bits_per_symbol: 4 * mbps };
    Rate { bit_rate: BitRate::from_kbps(mbps as u64 * 1000), modulation }
}

const fn erp(mbps: u16) -> Rate {
    let modulation = Modulation::ErpOfdm { data_bits_per_symbol: 4 * mbps };
    Rate { bit_rate: BitRate::from_kbps(mbps as u64 * 1000), modulation }
}

const DSSS: &[Rate] = &[dsss(1000), dsss(2000)];
const HR_DSSS: &[Rate] = &[dsss(1000), dsss(2000), dsss(5500), dsss(11000)];
const OFDM: &[Rate] = &[ofdm(6), ofdm(9), ofdm(12), ofdm(18), ofdm(24), ofdm(36), ofdm(48), ofdm(54)];
const ERP: &[Rate] = &[
    dsss(1000),
    dsss(2000),
    dsss(5500),
    erp(6),
    erp(9),
    dsss(11000),
    erp(12),
    erp(18),
    erp(24),
    erp(36),
    erp(48),
    erp(54),
];

impl Standard {
    /// Its rates, slowest first.
    pub const fn rates(self) -> &'static [Rate] {
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

    /// The rate of that nominal value, if the standard has it.
    pub fn rate(self, bit_rate: BitRate) -> Option<Rate> {
        self.rates().iter().copied().find(|rate| rate.bit_rate == bit_rate)
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

impl Rate {
    /// From the start of a frame to PHY-RXSTART.indication: preamble and header received. aRxPHYStartDelay,
    /// @80211-2020 tables 15-4, 16-4 (192 µs long, 96 µs short), 17-21 (25 µs).
    pub const fn rx_phy_start_delay(self, preamble: Preamble) -> Dur {
        match (self.modulation, preamble) {
            (Modulation::Dsss, Preamble::Short) if self.bit_rate.bps() > 1_000_000 => Dur::from_us(96),
            (Modulation::Dsss, _) => Dur::from_us(192),
            _ => Dur::from_us(25),
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
        // domain.md, Constants: DIFS 50, 34, 28 µs.
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
            for rate in standard.rates() {
                assert_eq!(standard.rate(rate.bit_rate), Some(*rate));
            }
            assert_eq!(standard.rate(BitRate::from_kbps(7000)), None);
            assert!(standard.mandatory_kbps().iter().all(|&k| standard.rate(BitRate::from_kbps(k)).is_some()));
        }
    }
}
