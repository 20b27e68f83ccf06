//! OFDM in the 5 GHz band. @80211-2020 clause 17

use super::Format;
use crate::curves::{Part, nist};
use crate::mode::{Coding, Field, Front, Mode, Preamble, Row, Symbols};
use units::{BitRate, Dur, Hertz};

/// OFDM in the 5 GHz band. @80211-2020 clause 17
///
/// TXTIME = 16 + 4 + 4 · ⌈(16 + 8 · bytes + 6) / N_DBPS⌉ µs. @80211-2020 eq. 17-29
pub static OFDM: Format = Format {
    name: "OFDM",
    // @80211-2020 17.3.2.2
    mandatory: &[Mode::ofdm(0), Mode::ofdm(2), Mode::ofdm(4)],
    delimits_one: false,
    survival,
};

/// Rates in 20 MHz. @80211-2020 table 17-4
pub(super) const MBPS: [u16; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

static ROWS: [Row; 8] = [
    row(&OFDM, 0, Dur::ZERO, Mode::ofdm(0)),
    row(&OFDM, 1, Dur::ZERO, Mode::ofdm(1)),
    row(&OFDM, 2, Dur::ZERO, Mode::ofdm(2)),
    row(&OFDM, 3, Dur::ZERO, Mode::ofdm(3)),
    row(&OFDM, 4, Dur::ZERO, Mode::ofdm(4)),
    row(&OFDM, 5, Dur::ZERO, Mode::ofdm(5)),
    row(&OFDM, 6, Dur::ZERO, Mode::ofdm(6)),
    row(&OFDM, 7, Dur::ZERO, Mode::ofdm(7)),
];

impl Mode {
    /// OFDM in 20 MHz: 6, 9, 12, 18, 24, 36, 48, 54 Mb/s, counted from 0. By rate: [`crate::Standard::mode`].
    pub const fn ofdm(index: u8) -> Mode {
        Mode::of(&ROWS[index as usize])
    }
}

/// Training symbols and SIGNAL, with the names of later clauses. @80211-2020 table 17-5
pub(super) const FIELDS: [Field; 3] = [
    Field::us("L-STF", Part::Preamble, 8),
    Field::us("L-LTF", Part::Preamble, 8),
    Field::us("L-SIG", Part::Header, 4),
];

/// A rate of a format whose PPDU is that of clause 17. `this` is the mode that the row becomes.
pub(super) const fn row(format: &'static Format, rate: u8, signal_extension: Dur, this: Mode) -> Row {
    let mbps = MBPS[rate as usize] as u64;
    Row {
        format,
        mcs: rate,
        streams: 1,
        bandwidth: Hertz(20e6),
        primary_share: 1.0,
        coding: Some(Coding::Bcc),
        guard_interval: Dur::from_ns(800), // @80211-2020 table 17-5
        preamble: Preamble::Long,
        twin: None,
        bit_rate: BitRate::from_kbps(1000 * mbps),
        reference: this,
        // SIGNAL at 6 Mb/s. @80211-2020 17.3.4
        front: Front::of(&FIELDS, BitRate::from_bps(0), BitRate::from_kbps(6000)),
        rx_phy_start_delay: Dur::from_us(25), // @80211-2020 table 17-21
        // N_DBPS is four times the rate in Mb/s. Service and tail bits: @80211-2020 17.3.5.2, 17.3.5.3
        symbols: Symbols::new(Dur::from_us(4), 2 * 4 * mbps, 16, 6),
        signal_extension,
    }
}

/// The NIST model: BPSK to 64-QAM, each with two of the rates 1/2, 2/3, 3/4. @80211-2020 table 17-4
pub(super) fn survival(mode: Mode, part: Part, sinr: f64) -> f64 {
    use nist::{BPSK, HALF, QAM16, QAM64, QPSK, THREE_QUARTERS, TWO_THIRDS};
    let (constellation, code) = match (part, mode.mcs) {
        (Part::Preamble | Part::Training, _) => return 0.0,
        (Part::Header, _) | (Part::Payload, 0) => (BPSK, &HALF),
        (Part::Payload, 1) => (BPSK, &THREE_QUARTERS),
        (Part::Payload, 2) => (QPSK, &HALF),
        (Part::Payload, 3) => (QPSK, &THREE_QUARTERS),
        (Part::Payload, 4) => (QAM16, &HALF),
        (Part::Payload, 5) => (QAM16, &THREE_QUARTERS),
        (Part::Payload, 6) => (QAM64, &TWO_THIRDS),
        (Part::Payload, _) => (QAM64, &THREE_QUARTERS),
    };
    nist::survival(constellation, code, sinr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_carry_the_bits_of_the_table() {
        // N_DBPS of 6 … 54 Mb/s. @80211-2020 table 17-4
        let bits = [24, 36, 48, 72, 96, 144, 192, 216];
        assert_eq!(ROWS.each_ref().map(|row| row.symbols.bits_in_two.get() / 2), bits);
    }
}
