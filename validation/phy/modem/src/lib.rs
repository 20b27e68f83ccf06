//! The project's own modem: what BCC and LDPC of 802.11n, ac and ax lose over AWGN, by Monte Carlo.
//!
//! **Models** one stream of HT, VHT or HE: coding of a PPDU ([`ppdu`]), BCC with its interleaver or LDPC ([`bcc`], [`ldpc`]), Gray QAM
//! with max-log LLRs ([`qam`]), AWGN on each data subcarrier, perfect synchronisation and channel knowledge.
//! **Leaves out** the scrambler (the bits are random as they are), pilots, the tone mapper (a permutation of subcarriers that are all
//! alike) and whatever comes before the data field. Clauses are those of IEEE Std 802.11-2020, HE's of IEEE Std 802.11ax-2021.
//! **SNR** is E_s/N0 of a data subcarrier: noise is counted over the occupied subcarriers alone.
//!
//! Shares no code with the simulator that it judges.

pub mod bcc;
pub mod interference;
pub mod interleaver;
pub mod ldpc;
pub mod noise;
pub mod ppdu;
pub mod qam;
pub mod run;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

/// The forward error correction of a PPDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// The convolutional code, MCS 0 to 9.
    Bcc,
    /// Low-density parity check codes, MCS 0 to 11.
    Ldpc,
}

impl Coding {
    /// How many MCS have it.
    pub fn mcs_count(self) -> usize {
        match self {
            Self::Bcc => 10,
            Self::Ldpc => 12,
        }
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bcc => "bcc",
            Self::Ldpc => "ldpc",
        })
    }
}

impl FromStr for Coding {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "bcc" => Ok(Self::Bcc),
            "ldpc" => Ok(Self::Ldpc),
            _ => Err(format!("no coding {name}")),
        }
    }
}

/// A code rate: `data` bits become `coded` ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub data: usize,
    pub coded: usize,
}

impl Rate {
    pub const HALF: Rate = Rate { data: 1, coded: 2 };
    pub const TWO_THIRDS: Rate = Rate { data: 2, coded: 3 };
    pub const THREE_QUARTERS: Rate = Rate { data: 3, coded: 4 };
    pub const FIVE_SIXTHS: Rate = Rate { data: 5, coded: 6 };

    /// Data bits in so many coded ones, rounded down.
    pub fn of(self, coded: usize) -> usize {
        coded * self.data / self.coded
    }
}

/// A modulation and coding scheme of one stream.
#[derive(Debug, Clone, Copy)]
pub struct Mcs {
    /// N_BPSCS: coded bits of a subcarrier.
    pub bits: usize,
    pub rate: Rate,
}

const fn mcs(bits: usize, rate: Rate) -> Mcs {
    Mcs { bits, rate }
}

/// HT has 0 to 7, VHT 0 to 9, HE all. Tables 19-27, 21-30; 802.11ax-2021 table 27-111
pub const MCS: [Mcs; 12] = [
    mcs(1, Rate::HALF),
    mcs(2, Rate::HALF),
    mcs(2, Rate::THREE_QUARTERS),
    mcs(4, Rate::HALF),
    mcs(4, Rate::THREE_QUARTERS),
    mcs(6, Rate::TWO_THIRDS),
    mcs(6, Rate::THREE_QUARTERS),
    mcs(6, Rate::FIVE_SIXTHS),
    mcs(8, Rate::THREE_QUARTERS),
    mcs(8, Rate::FIVE_SIXTHS),
    mcs(10, Rate::THREE_QUARTERS),
    mcs(10, Rate::FIVE_SIXTHS),
];
