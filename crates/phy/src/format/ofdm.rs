//! OFDM in the 5 GHz band. @80211-2020 clause 17

use super::Format;
use crate::curves::{Part, nist};
use crate::mode::{Front, Mode, Preamble, Row, Symbols};
use units::{BitRate, Dur, Hertz};

/// OFDM in the 5 GHz band. @80211-2020 clause 17
///
/// TXTIME = 16 + 4 + 4 · ⌈(16 + 8 · bytes + 6) / N_DBPS⌉ µs. @80211-2020 eq. 17-29
pub static OFDM: Format = Format {
    name: "OFDM",
    // @80211-2020 17.3.2.2
    mandatory: &[Mode::ofdm(0), Mode::ofdm(2), Mode::ofdm(4)],
    responses: &OFDM,
    survival,
};

/// Rates in 20 MHz. @80211-2020 table 17-4
pub(super) const MBPS: [u16; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

static ROWS: [Row; 8] = [
    row(&OFDM, 0, Dur::ZERO),
    row(&OFDM, 1, Dur::ZERO),
    row(&OFDM, 2, Dur::ZERO),
    row(&OFDM, 3, Dur::ZERO),
    row(&OFDM, 4, Dur::ZERO),
    row(&OFDM, 5, Dur::ZERO),
    row(&OFDM, 6, Dur::ZERO),
    row(&OFDM, 7, Dur::ZERO),
];

impl Mode {
    /// OFDM in 20 MHz: 6, 9, 12, 18, 24, 36, 48, 54 Mb/s, counted from 0. By rate: [`crate::Standard::mode`].
    pub const fn ofdm(index: u8) -> Mode {
        Mode::of(&ROWS[index as usize])
    }
}

/// A rate of a format whose PPDU is that of clause 17.
pub(super) const fn row(format: &'static Format, rate: u8, signal_extension: Dur) -> Row {
    let mbps = MBPS[rate as usize] as u64;
    Row {
        format,
        mcs: rate,
        streams: 1,
        bandwidth: Hertz(20e6),
        guard_interval: Dur::from_ns(800), // @80211-2020 table 17-5
        preamble: Preamble::Long,
        twin: None,
        bit_rate: BitRate::from_kbps(1000 * mbps),
        reference_rate: BitRate::from_kbps(1000 * mbps),
        // Training symbols; SIGNAL at 6 Mb/s. @80211-2020 table 17-5, 17.3.4
        front: Front {
            preamble: Dur::from_us(16),
            preamble_rate: BitRate::from_bps(0),
            header: Dur::from_us(4),
            header_rate: BitRate::from_kbps(6000),
            training: Dur::ZERO,
        },
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
