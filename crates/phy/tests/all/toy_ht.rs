//! A format from outside the crate: HT-mixed in 20 MHz of the 5 GHz band (@80211-2020 clause 19), four modes of it. It uses what
//! everybody may use, and shows what a format has to say.

use phy::curves::{Part, front, nist};
use phy::format::OFDM;
use phy::medium::Span;
use phy::mode::{Front, Row, Symbols};
use phy::{Format, Mode, NoSuchMode, Preamble, Standard, airtime, ln_survival, mode_at};
use units::{BitRate, Bytes, Db, Dur, Hertz};

static HT: Format = Format {
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

/// `reference` is the non-HT reference rate: that of the constellation and code of a stream. @80211-2020 table 10-10
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

const MCS3: Mode = mode(0);
const MCS9: Mode = mode(1);
const MCS7: Mode = mode(2);
const MCS7_SHORT: Mode = mode(3);

#[test]
fn airtimes_worked_by_hand_from_the_formula_of_ht_mixed() {
    let ns = |mode, bytes| airtime(mode, Bytes(bytes)).ns();
    // L-STF 8 + L-LTF 8 + L-SIG 4 + HT-SIG 8 + HT-STF 4 + HT-LTF 4 for each stream: 36 µs with one, 40 with two.
    // @80211-2020 19.3.9, 19.4.3
    // 1536 B: ⌈(16 + 12288 + 6) / 104⌉ = ⌈118.4⌉ = 119 symbols of 4 µs: 476.
    assert_eq!((ns(MCS3, 1536), ns(MCS9, 1536)), (512_000, 516_000));
    // 14 B: ⌈(16 + 112 + 6) / 104⌉ = 2: 8 µs. 10 B fill one symbol but for two bits, 11 B do not fit.
    assert_eq!((ns(MCS3, 14), ns(MCS9, 14)), (44_000, 48_000));
    assert_eq!((ns(MCS3, 10), ns(MCS3, 11)), (40_000, 44_000));
    // MCS 7: ⌈12310 / 260⌉ = ⌈47.3⌉ = 48 symbols: 36 + 192 µs; of 3.6 µs with the short guard interval: 172.8, rounded up to
    // whole 4 µs: 36 + 176.
    assert_eq!((ns(MCS7, 1536), ns(MCS7_SHORT, 1536)), (228_000, 212_000));
}

#[test]
fn two_modes_of_one_rate_are_told_apart_and_the_rate_names_neither() {
    assert_eq!((MCS3.bit_rate(), MCS9.bit_rate()), (BitRate::from_kbps(26_000), BitRate::from_kbps(26_000)));
    assert_ne!(MCS3, MCS9);
    // A radio's table, in order of rate: that of 802.11a with HT. An index is good in this table.
    let mut table = Standard::A.modes().to_vec();
    table.extend([MCS3, MCS9, MCS7, MCS7_SHORT]);
    table.sort_by_key(|mode| mode.bit_rate());
    let place = |wanted| table.iter().position(|mode| *mode == wanted);
    assert_eq!([MCS3, MCS9, MCS7_SHORT].map(place), [Some(5), Some(6), Some(11)]);
    let at = |kbps| mode_at(&table, BitRate::from_kbps(kbps));
    assert_eq!((at(24_000), at(65_000)), (Ok(Mode::ofdm(4)), Ok(MCS7)));
    assert_eq!(at(26_000), Err(NoSuchMode::Several(BitRate::from_kbps(26_000), vec![MCS3, MCS9])));
    let error = at(26_000).unwrap_err().to_string();
    assert!(error.starts_with("26 Mb/s is the rate of HT MCS 3 (") && error.contains(" and HT MCS 9 ("), "{error}");
    assert!(matches!(at(27_000), Err(NoSuchMode::None(..))));
}

#[test]
fn the_format_s_own_curve_judges_its_frames() {
    // QPSK needs 6.99 dB less than 16-QAM for the same argument: 10 · log10(10 / 2).
    let lost = |mode, part, db| ln_survival(mode, part, Db(db).ratio(), 8000.0);
    let wanted = nist::survival(nist::QPSK, &nist::HALF, Db(4.0).ratio()) * 8000.0;
    assert_eq!(lost(MCS9, Part::Payload, 4.0), wanted);
    assert!(lost(MCS3, Part::Payload, 8.0) < 10.0 * lost(MCS9, Part::Payload, 8.0));
    assert_eq!((lost(MCS3, Part::Training, -30.0), lost(MCS3, Part::Preamble, -30.0)), (0.0, 0.0));
    assert_eq!(lost(MCS3, Part::Header, 1.0), lost(Mode::ofdm(0), Part::Payload, 1.0));
}

#[test]
fn its_parts_and_mpdus_lie_where_the_symbols_have_them() {
    let us = front(MCS9).map(|(part, lasts)| (part, lasts.ns() / 1000));
    assert_eq!(us, [(Part::Preamble, 16), (Part::Header, 12), (Part::Training, 12)]);
    // Bits 16 to 16 + 260 behind 36 µs, at 72.2… Mb/s: 16 · 3.6 / 260 = 0.2215 µs, and a symbol later.
    let span = Span::of(MCS7_SHORT, Bytes::ZERO, Bytes(65));
    assert_eq!((span.from.ns(), span.until.ns()), (36_221, 36_221 + 2 * 3600));
}
