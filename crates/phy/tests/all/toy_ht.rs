//! A format from outside the crate: `toy_ht/format.rs` says all that a format has to say, with what everybody may use. These are the
//! tests that a format asks for; the MAC's are in crates/mac/tests/all/ht.rs.

mod format;

use format::{MCS3, MCS7, MCS7_SHORT, MCS9};
use phy::curves::{Part, front, nist};
use phy::medium::Span;
use phy::{Mode, NoSuchMode, Standard, airtime, ln_survival, mode_at};
use units::{BitRate, Bytes, Db};

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
