//! HT-mixed in 20 MHz of the 5 GHz band, four modes of it. @80211-2020 clause 19

use phy::curves::{Part, nist};
use phy::format::OFDM;
use phy::mode::{Front, Row, Symbols};
use phy::{Format, Mode, Preamble};
use units::{BitRate, Dur, Hertz};

/// HT-mixed in 5 GHz. In 2.4 GHz it would be another: with a signal extension, and responses in ERP-OFDM.
pub static HT: Format = Format {
    name: "HT",
    mandatory: &[mode(0), mode(2)],
    // A response goes in a legacy format, which all stations around can read. @80211-2020 10.6.6.5.2
    responses: &OFDM,
    survival,
};

/// MCS 3, 7 and 9; MCS 7 with the short guard interval. N_DBPS: 104 and 260 with one stream, 2 · 52 with two. @80211-2020 tables
/// 19-27 and 19-28; rates that are no whole number of kb/s as printed there.
static ROWS: [Row; 4] = [
    row(3, 1, 800, 104, 26_000, 24_000),
    row(9, 2, 800, 104, 26_000, 12_000),
    row(7, 1, 800, 260, 65_000, 54_000),
    row(7, 1, 400, 260, 72_200, 54_000),
];

const fn mode(place: usize) -> Mode {
    Mode::of(&ROWS[place])
}

/// `reference` is the non-HT reference rate: that of the constellation and code of a stream. @80211-2020 10.6.11
const fn row(mcs: u8, streams: u8, gi_ns: u64, n_dbps: u64, kbps: u64, reference: u64) -> Row {
    Row {
        format: &HT,
        mcs,
        streams,
        bandwidth: Hertz(20e6),
        guard_interval: Dur::from_ns(gi_ns),
        preamble: Preamble::Long,
        twin: None,
        bit_rate: BitRate::from_kbps(kbps),
        reference_rate: BitRate::from_kbps(reference),
        front: Front {
            preamble: Dur::from_us(8 + 8), // L-STF, L-LTF
            preamble_rate: BitRate::from_bps(0),
            header: Dur::from_us(4 + 8), // L-SIG, HT-SIG
            header_rate: BitRate::from_kbps(6000),
            training: Dur::from_us(4 + 4 * streams as u64), // HT-STF, an HT-LTF for each stream (one or two)
        },
        rx_phy_start_delay: Dur::from_us(33), // @80211-2020 table 19-25
        symbols: Symbols {
            rounded_to: Dur::from_us(4),
            ..Symbols::new(Dur::from_ns(3200 + gi_ns), 2 * n_dbps, 16, 6)
        },
        signal_extension: Dur::ZERO,
    }
}

/// Both streams at full power: those of a receiver that tells them apart without loss.
fn survival(mode: Mode, part: Part, sinr: f64) -> f64 {
    match (part, mode.mcs) {
        (Part::Preamble | Part::Training, _) => 0.0,
        (Part::Header, _) => nist::survival(nist::BPSK, &nist::HALF, sinr),
        (Part::Payload, 3) => nist::survival(nist::QAM16, &nist::HALF, sinr),
        (Part::Payload, 9) => nist::survival(nist::QPSK, &nist::HALF, sinr),
        // MCS 7 has rate 5/6; 3/4 is the nearest here.
        (Part::Payload, _) => nist::survival(nist::QAM64, &nist::THREE_QUARTERS, sinr),
    }
}

/// 16-QAM 1/2 in one stream: 26 Mb/s.
pub const MCS3: Mode = mode(0);
/// QPSK 1/2 in two streams: 26 Mb/s.
pub const MCS9: Mode = mode(1);
/// 64-QAM 5/6 in one stream: 65 Mb/s.
pub const MCS7: Mode = mode(2);
/// The same with the short guard interval: 72.2 Mb/s.
pub const MCS7_SHORT: Mode = mode(3);
