//! OFDM as HT, VHT and HE have it: modulation and coding by MCS, the bits of a symbol, the rate.
//!
//! rate = N_SD · N_BPSCS · R · N_SS / T_SYM. @80211-2020 tables 19-27, 21-30; HE: 802.11ax-2021 tables 27-54 ff.

use crate::curves::{Part, awgn, nist};
use crate::mode::Coding;
use units::{BitRate, Dur};

/// Modulation and coding of one stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mcs {
    /// N_BPSCS: bits of a constellation point.
    pub bits: u32,
    /// q of the code rate q / (q + 1).
    pub q: u32,
    /// The rate of non-HT OFDM with this modulation and code, counted from 0: the non-HT reference rate. @80211-2020 table 10-10
    pub reference: u8,
}

const fn mcs(bits: u32, q: u32, reference: u8) -> Mcs {
    Mcs { bits, q, reference }
}

/// BPSK, QPSK, 16-, 64-, 256- and 1024-QAM. HT has the first 8, VHT 10.
pub(super) const MCS: [Mcs; 12] = [
    mcs(1, 1, 0),
    mcs(2, 1, 2),
    mcs(2, 3, 3),
    mcs(4, 1, 4),
    mcs(4, 3, 5),
    mcs(6, 2, 6),
    mcs(6, 3, 7),
    mcs(6, 5, 7),
    mcs(8, 3, 7),
    mcs(8, 5, 7),
    mcs(10, 3, 7),
    mcs(10, 5, 7),
];

impl Mcs {
    /// N_CBPS: coded bits of a symbol with so many data subcarriers (N_SD).
    pub fn n_cbps(self, n_sd: u32, streams: u8) -> u32 {
        n_sd * self.bits * u32::from(streams)
    }

    /// N_DBPS: data bits among so many coded ones, rounded down as HE has it. @80211-2020 19.3.11; 802.11ax-2021 table 27-15
    pub fn n_dbps(self, n_cbps: u32) -> u32 {
        n_cbps * self.q / (self.q + 1)
    }

    /// The nominal rate of symbols of this length, rounded to 0.1 Mb/s as the standard's tables have it.
    pub fn bit_rate(self, n_cbps: u32, symbol: Dur) -> BitRate {
        // n bits in t ns are 10⁴ n / t units of 0.1 Mb/s.
        let (bits, span) = (u64::from(n_cbps * self.q) * 10_000, u64::from(self.q + 1) * symbol.ns());
        BitRate::from_kbps(100 * ((2 * bits + span) / (2 * span)))
    }
}

/// N_LTF: training symbols for 1 to 4 streams. @80211-2020 tables 19-13, 21-13
pub(super) const N_LTF: [u64; 4] = [1, 2, 4, 4];

/// Headers as OFDM's 6 Mb/s; payload by the MCS of one stream. Each stream at the full SINR: a receiver that tells streams apart
/// without loss.
pub(super) fn survival(coding: Option<Coding>, mcs: u8, part: Part, sinr: f64) -> f64 {
    match part {
        Part::Preamble | Part::Training => 0.0,
        Part::Header => nist::survival(nist::BPSK, &nist::HALF, sinr),
        Part::Payload => awgn::survival(coding.unwrap_or(Coding::Bcc), mcs, sinr),
    }
}
