//! Error curves against `validation/phy`: the papers' formulae worked out by a program that shares nothing with this
//! one, the figures the authors of @PEI09 and ns-3 print, and ns-3 itself; and what holds for every curve.

use phy::curves::awgn;
use phy::curves::{bits, front};
use phy::format::DSSS;
use phy::{Coding, Mode, Part, Preamble, Standard, Waveform, Width, airtime, ln_survival};
use proptest::prelude::*;
use units::{BitRate, Bytes, Db, Dur};

const REFERENCE: &str = include_str!("../../../../validation/phy/curves.csv");
const SPOTS: &str = include_str!("../../../../validation/phy/spots.csv");
const MODEM: &str = include_str!("../../../../validation/phy/modem.csv");
const NS3: &str = include_str!("../../../../validation/phy/ns3.csv");

fn rate(mbps: &str) -> Mode {
    let kbps = (mbps.parse::<f64>().expect("a rate in Mb/s") * 1000.0) as u64;
    Standard::G.mode(BitRate::from_kbps(kbps)).expect("802.11g has every rate")
}

fn every_rate() -> Vec<Mode> {
    let wide = Waveform { width: Width::Mhz80, coding: Coding::Ldpc, ..Waveform::PLAIN };
    let ht = (0..8).map(|mcs| Mode::ht(mcs, 1, Waveform::PLAIN));
    let vht = (0..10).map(|mcs| Mode::vht(mcs, 1, Waveform { coding: Coding::Bcc, ..wide }));
    let he = (0..12).map(|mcs| Mode::he(mcs, 1, wide));
    let legacy = [Standard::B, Standard::A, Standard::G].iter().flat_map(|standard| standard.modes()).copied();
    legacy.chain(ht.chain(vht).chain(he).map(Result::unwrap)).collect()
}

/// The lines below the header, as numbers behind the rate.
fn table(text: &'static str, header: &str) -> Vec<(&'static str, Vec<f64>)> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header));
    lines
        .map(|line| {
            let (rate, rest) = line.split_once(',').expect("columns");
            (rate, rest.split(',').map(|field| field.parse().expect("a number")).collect())
        })
        .collect()
}

/// SINR in dB at which a run is lost so often, by bisection.
fn sinr_db(rate: Mode, part: Part, bits: f64, loss: f64) -> f64 {
    db_where_lost(loss, |sinr| ln_survival(rate, part, sinr, bits))
}

/// SINR in dB at which so much is lost, given the logarithm of what survives a SINR.
fn db_where_lost(loss: f64, survival: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-30.0, 50.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let lost = -libm::expm1(survival(Db(middle).ratio()));
        if lost > loss { low = middle } else { high = middle }
    }
    high
}

#[test]
fn every_curve_is_its_source_s_within_a_hundredth_of_a_decibel() {
    // Asked for: 0.5 dB at 10 % loss. The formulae are the same, so only the table of CCK may differ: by 0.1 % of a
    // logarithm, 0.001 dB.
    for text in [REFERENCE, NS3] {
        let rows = table(text, "rate_mbps,bits,loss,sinr_db");
        assert_eq!(rows.len(), if text == NS3 { 48 } else { 156 });
        for (mbps, row) in rows {
            let (bits, loss, wanted) = (row[0], row[1], row[2]);
            let got = sinr_db(rate(mbps), Part::Payload, bits, loss);
            assert!((got - wanted).abs() < 0.01, "{mbps} Mb/s, {bits} bits, loss {loss}: {got}, source {wanted}");
        }
    }
}

#[test]
fn the_figures_printed_by_the_authors_are_met() {
    let rows = table(SPOTS, "rate_mbps,bits,sinr_db,survival,tolerance");
    assert_eq!(rows.len(), 46);
    for (mbps, row) in rows {
        let got = libm::exp(ln_survival(rate(mbps), Part::Payload, Db(row[1]).ratio(), row[0]));
        assert!((got - row[2]).abs() <= row[3], "{mbps} Mb/s at {} dB: {got}, printed {}", row[1], row[2]);
    }
}

/// SNR in dB at which the modem lost so many packets: between the rows of modem.csv around it, on a line of ln(−ln(1 − PER)).
fn measured_db(rows: &[&[f64]], loss: f64) -> f64 {
    let hazard = |per: f64| libm::log(-libm::log1p(-per.min(0.9999)));
    let around = rows.windows(2).find(|pair| pair[0][1] >= loss && pair[1][1] < loss);
    let [low, high] = around.expect("rows on both sides") else { unreachable!("windows of two") };
    low[0] + (high[0] - low[0]) * (hazard(loss) - hazard(low[1])) / (hazard(high[1]) - hazard(low[1]))
}

/// The rows of modem.csv of one curve: SNR in dB and PER.
fn modem_curve(coding: &str, mcs: u8, bytes: f64) -> Vec<[f64; 2]> {
    let rows = table(MODEM, "coding,mcs,bytes,snr_db,packets,errors,seed");
    let own = rows.into_iter().filter(|(name, row)| *name == coding && row[0] == f64::from(mcs) && row[1] == bytes);
    own.map(|(_, row)| [row[2], row[4] / row[3]]).collect()
}

#[test]
fn curves_of_ht_and_later_are_the_modem_s_within_a_tenth_of_a_decibel() {
    // 32 B are not what was fitted: they try the law of lengths, for which 0.3 dB are allowed.
    for (name, coding, mcs_count, bytes, tolerance) in [
        ("bcc", Coding::Bcc, 10, 1458.0, 0.1),
        ("ldpc", Coding::Ldpc, 12, 1458.0, 0.1),
        ("bcc", Coding::Bcc, 10, 32.0, 0.3),
    ] {
        for mcs in 0..mcs_count {
            let rows = modem_curve(name, mcs, bytes);
            let rows: Vec<_> = rows.iter().map(<[f64; 2]>::as_slice).collect();
            for loss in [0.1, 0.5] {
                let got = db_where_lost(loss, |snr| 8.0 * bytes * awgn::survival(coding, mcs, snr));
                let wanted = measured_db(&rows, loss);
                assert!((got - wanted).abs() < tolerance, "{name} {mcs}, {bytes} B, {loss}: {got}, modem {wanted}");
            }
        }
    }
}

#[test]
fn curves_of_ht_and_later_rise_with_the_snr_and_fall_with_the_mcs_of_a_constellation() {
    for (coding, mcs_count) in [(Coding::Bcc, 10), (Coding::Ldpc, 12)] {
        for mcs in 0..mcs_count {
            let curve = |step: i32| awgn::survival(coding, mcs, Db(f64::from(step) / 100.0).ratio());
            assert!((-3000..5000).all(|step| curve(step + 1) >= curve(step)), "{coding:?} {mcs}");
            assert!(curve(-3000) < -0.69 && curve(4000) == 0.0, "{coding:?} {mcs}");
        }
        let needed = |mcs: u8| db_where_lost(0.1, |snr| 11664.0 * awgn::survival(coding, mcs, snr));
        assert!((1..mcs_count).all(|mcs| needed(mcs) > needed(mcs - 1) + 0.5), "{coding:?}");
    }
    let gain = |mcs| {
        [Coding::Bcc, Coding::Ldpc].map(|coding| db_where_lost(0.1, |snr| 11664.0 * awgn::survival(coding, mcs, snr)))
    };
    assert!((0..10).all(|mcs| gain(mcs)[0] > gain(mcs)[1] + 1.0), "LDPC gains a decibel at least");
}

#[test]
fn a_faster_rate_of_the_same_phy_needs_more_sinr() {
    // Across both PHYs of 802.11g it is not so: 11 Mb/s needs more than 12 Mb/s.
    for standard in [Standard::B, Standard::A] {
        let needed: Vec<f64> =
            standard.modes().iter().map(|&rate| sinr_db(rate, Part::Payload, 8000.0, 0.1)).collect();
        assert!(needed.is_sorted_by(|slower, faster| slower < faster), "{standard:?}: {needed:?}");
    }
    let g = |mbps| sinr_db(rate(mbps), Part::Payload, 8000.0, 0.1);
    assert!(g("11") > g("12"));
}

#[test]
fn preamble_and_header_are_carried_as_the_standard_says() {
    let (sinr, eleven) = (0.5, rate("11"));
    let at = |mbps, part| ln_survival(rate(mbps), part, sinr, 48.0);
    for mbps in ["1", "2", "5.5", "11"] {
        assert_eq!(at(mbps, Part::Preamble), at("1", Part::Payload));
        assert_eq!(at(mbps, Part::Header), at("1", Part::Payload));
        let short = rate(mbps).with_preamble(Preamble::Short);
        let header = if mbps == "1" { "1" } else { "2" };
        assert_eq!(ln_survival(short, Part::Header, sinr, 48.0), at(header, Part::Payload));
    }
    for mbps in ["6", "24", "54"] {
        assert_eq!(at(mbps, Part::Preamble), 0.0);
        assert_eq!(at(mbps, Part::Header), at("6", Part::Payload));
    }
    // Spans and bits: 144 + 48 bits; 72 + 24 µs with 48 bits at 2 Mb/s; SIGNAL has 24 bits in 4 µs.
    let of = |rate: Mode, preamble| {
        let mode = rate.with_preamble(preamble);
        front(mode).map(|(part, span)| (span.ns() / 1000, bits(mode, part, span)))
    };
    // None of them trains again behind its header.
    assert_eq!(of(eleven, Preamble::Long), [(144, 144.0), (48, 48.0), (0, 0.0)]);
    assert_eq!(of(eleven, Preamble::Short), [(72, 72.0), (24, 48.0), (0, 0.0)]);
    assert_eq!(of(rate("1"), Preamble::Short), [(144, 144.0), (48, 48.0), (0, 0.0)]);
    assert_eq!(of(rate("54"), Preamble::Short), [(16, 0.0), (4, 24.0), (0, 0.0)]);
    // A payload of 1000 bytes at 54 Mb/s has ⌈8022 / 216⌉ = 38 symbols of 216 bits, service, tail and pad bits included.
    for standard in [Standard::A, Standard::G] {
        let fast = standard.mode(BitRate::from_kbps(54_000)).expect("54 Mb/s");
        let parts: u64 = front(fast).iter().map(|(_, span)| span.ns()).sum();
        let whole = airtime(fast, Bytes(1000));
        let payload = Dur::from_ns(whole.ns() - parts - fast.signal_extension.ns());
        assert_eq!(bits(fast, Part::Payload, payload), 38.0 * 216.0);
    }
}

#[test]
fn what_is_no_sinr_or_no_run_is_answered_all_the_same() {
    let odd = [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, f64::from_bits(1), f64::MIN_POSITIVE, f64::MAX, f64::INFINITY];
    for rate in every_rate() {
        for part in [Part::Preamble, Part::Header, Part::Header, Part::Payload] {
            for sinr in odd {
                for bits in [f64::NAN, -1.0, 0.0] {
                    assert_eq!(ln_survival(rate, part, sinr, bits), 0.0);
                }
                let lost = ln_survival(rate, part, sinr, 8000.0);
                assert!(lost <= 0.0, "{rate:?} {part:?} {sinr}: {lost}");
                let is_bitless = part == Part::Preamble && rate.format != &DSSS;
                if sinr >= f64::MAX || is_bitless {
                    assert_eq!(lost, 0.0);
                } else {
                    // At best guessed: 2⁻⁸⁰⁰⁰.
                    assert!(lost <= -5545.0, "{rate:?} {part:?} {sinr}: {lost}");
                }
            }
        }
    }
}

fn a_case() -> impl Strategy<Value = (Mode, Part)> {
    let rates = every_rate();
    let part = prop_oneof![Just(Part::Preamble), Just(Part::Header), Just(Part::Header), Just(Part::Payload)];
    (0..rates.len(), part).prop_map(move |(index, part)| (rates[index], part))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn survival_is_a_probability_that_grows_with_sinr_and_falls_with_length(
        (rate, part) in a_case(), db in -60.0..60.0f64, more_db in 0.0..3.0f64, bits in 0.0..20_000.0f64, more in 0.0..20_000.0f64,
    ) {
        let sinr = Db(db).ratio();
        let survival = ln_survival(rate, part, sinr, bits);
        prop_assert!(survival <= 0.0 && (0.0..=1.0).contains(&libm::exp(survival)));
        prop_assert!(ln_survival(rate, part, sinr, bits + more) <= survival);
        // Two SINRs a last bit apart may come out in either order.
        prop_assert!(ln_survival(rate, part, sinr * Db(more_db).ratio(), bits) >= survival * (1.0 + 1e-12));
    }

    #[test]
    fn pieces_of_a_run_add_up_to_it((rate, part) in a_case(), db in -20.0..40.0f64, bits in 1.0..20_000.0f64, cut in 0.0..1.0f64) {
        let sinr = Db(db).ratio();
        let first = (bits * cut).floor();
        let whole = ln_survival(rate, part, sinr, bits);
        let pieces = ln_survival(rate, part, sinr, first) + ln_survival(rate, part, sinr, bits - first);
        prop_assert!(whole == pieces || (whole - pieces).abs() <= 1e-12 * whole.abs(), "{whole} {pieces}");
    }

    #[test]
    fn at_forty_decibel_nothing_is_lost_to_noise((rate, part) in a_case(), bits in 0.0..20_000.0f64) {
        // 1024-QAM needs 12 dB more than the 64-QAM of the legacy rates.
        let db = if rate.mcs > 9 { 52.0 } else { 40.0 };
        prop_assert_eq!(libm::exp(ln_survival(rate, part, Db(db).ratio(), bits)), 1.0);
    }
}

#[test]
fn no_curve_has_a_step_back_anywhere() {
    // In steps of a thousandth of a decibel from −40 to 40 dB, where the pieces of a table or a clamp would show.
    for rate in every_rate() {
        for part in [Part::Header, Part::Payload] {
            let curve = |step: i32| ln_survival(rate, part, Db(f64::from(step) / 1000.0).ratio(), 1.0);
            let steps_back = (-40_000..40_000).filter(|&step| curve(step + 1) < curve(step)).count();
            assert_eq!(steps_back, 0, "{rate:?} {part:?}");
        }
    }
}
