//! Every mode of HT, VHT and HE against the standard's formulas, written here once more; and what the standard lacks.

use phy::curves::{Part, front};
use phy::medium::Span;
use phy::{Band, Coding, HeLtf, Mode, NoSuchMode, Refusal, Standard, TxTime, Waveform, Width, mode_at};
use units::{BitRate, Bytes, Dur};

const WIDTHS: [Width; 4] = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160];

fn wave(width: Width, gi_ns: u64, coding: Coding) -> Waveform {
    Waveform { width, guard_interval: Dur::from_ns(gi_ns), coding, ..Waveform::PLAIN }
}

type Make = fn(u8, u8, Waveform) -> Result<Mode, Refusal>;

/// A PHY as the standard's tables have it.
struct Phy {
    make: Make,
    /// Data subcarriers by width.
    n_sd: &'static [f64],
    /// A symbol without its guard interval.
    symbol_us: f64,
    guard_intervals_ns: &'static [u64],
    most_mcs: u8,
}

const HT: Phy =
    Phy { make: Mode::ht, n_sd: &[52.0, 108.0], symbol_us: 3.2, guard_intervals_ns: &[400, 800], most_mcs: 7 };
const VHT: Phy = Phy { make: Mode::vht, n_sd: &[52.0, 108.0, 234.0, 468.0], most_mcs: 9, ..HT };
const HE: Phy = Phy {
    make: Mode::he,
    n_sd: &[234.0, 468.0, 980.0, 1960.0],
    symbol_us: 12.8,
    guard_intervals_ns: &[800, 1600, 3200],
    most_mcs: 11,
};

/// Bits of a constellation point and code rate: BPSK 1/2 to 1024-QAM 5/6.
const POINTS: [(f64, f64); 12] = [
    (1.0, 1.0 / 2.0),
    (2.0, 1.0 / 2.0),
    (2.0, 3.0 / 4.0),
    (4.0, 1.0 / 2.0),
    (4.0, 3.0 / 4.0),
    (6.0, 2.0 / 3.0),
    (6.0, 3.0 / 4.0),
    (6.0, 5.0 / 6.0),
    (8.0, 3.0 / 4.0),
    (8.0, 5.0 / 6.0),
    (10.0, 3.0 / 4.0),
    (10.0, 5.0 / 6.0),
];

#[test]
fn every_mode_has_the_symbols_and_bits_of_the_formula() {
    let mut modes = 0;
    for Phy { make, n_sd, symbol_us, guard_intervals_ns, most_mcs } in [HT, VHT, HE] {
        for (width, n_sd) in WIDTHS.into_iter().zip(n_sd) {
            for (mcs, streams) in (0..=most_mcs).flat_map(|mcs| (1..=4).map(move |streams| (mcs, streams))) {
                let (bits, rate) = POINTS[usize::from(mcs)];
                let n_dbps = (n_sd * bits * rate * f64::from(streams) + 1e-6).floor();
                for &gi_ns in guard_intervals_ns {
                    let Ok(mode) = make(mcs, streams, wave(width, gi_ns, Coding::Ldpc)) else { continue };
                    let t_sym = symbol_us + gi_ns as f64 / 1000.0;
                    assert_eq!(mode.symbols.lasts.ns(), (t_sym * 1000.0).round() as u64, "{mode}");
                    assert_eq!(mode.symbols.bits_in_two.get(), 2 * n_dbps as u64, "{mode}");
                    // The tables print 0.1 Mb/s, of what is not rounded down.
                    let tenths = n_sd * bits * rate * f64::from(streams) / t_sym * 10.0;
                    assert_eq!(
                        mode.bit_rate(),
                        BitRate::from_kbps(100 * (tenths + 0.5 + 1e-6).floor() as u64),
                        "{mode}"
                    );
                    assert_eq!(mode.streams, streams);
                    assert_eq!(mode.bandwidth.0 * mode.primary_share, 20e6);
                    modes += 1;
                }
            }
        }
    }
    // HT 2 widths · 8 · 4 · 2; VHT (4 · 10 · 4 − 5) · 2; HE 4 · 12 · 4 · 3.
    assert_eq!(modes, 128 + 310 + 576);
}

#[test]
fn bcc_has_an_encoder_for_every_so_many_megabits() {
    // As ns-3 has it: from 320 Mb/s on (350 with the short guard interval), in VHT from 540 (600); of four streams or fewer one
    // exception. HE has one.
    for (make, limits, phy) in [(Mode::ht as Make, [350e6, 320e6], "HT"), (Mode::vht, [600e6, 540e6], "VHT")] {
        for (gi_ns, limit) in [400, 800].into_iter().zip(limits) {
            for width in WIDTHS {
                for (mcs, streams) in (0..10).flat_map(|mcs| (1..=4).map(move |streams| (mcs, streams))) {
                    let Ok(mode) = make(mcs, streams, wave(width, gi_ns, Coding::Bcc)) else { continue };
                    // The printed rate is rounded, by less than the limits leave between two modes.
                    let mut n_es = ((mode.bit_rate().bps() as f64 - 5e4) / limit).ceil() as u64;
                    if (phy, width, streams, mcs) == ("VHT", Width::Mhz160, 4, 7) {
                        n_es = 6;
                    }
                    assert_eq!(mode.symbols.tail, 6 * n_es, "{mode}");
                }
            }
        }
    }
    assert_eq!(Mode::he(9, 4, Waveform::PLAIN).unwrap().symbols.tail, 6);
}

#[test]
fn rates_that_everybody_knows() {
    let kbps = |make: Make, mcs, streams, width, gi_ns| {
        make(mcs, streams, wave(width, gi_ns, Coding::Ldpc)).unwrap().bit_rate().bps() / 1000
    };
    use Width::{Mhz20, Mhz40, Mhz80, Mhz160};
    for (make, mcs, streams, width, gi_ns, wanted) in [
        (Mode::ht as Make, 7, 1, Mhz20, 800, 65_000),
        (Mode::ht, 7, 1, Mhz20, 400, 72_200),
        (Mode::ht, 7, 2, Mhz40, 400, 300_000),
        (Mode::ht, 7, 4, Mhz40, 400, 600_000),
        (Mode::vht, 9, 1, Mhz80, 400, 433_300),
        (Mode::vht, 9, 2, Mhz80, 400, 866_700),
        (Mode::vht, 9, 2, Mhz160, 400, 1_733_300),
        (Mode::he, 0, 1, Mhz20, 3200, 7300),
        (Mode::he, 0, 1, Mhz20, 800, 8600),
        (Mode::he, 11, 1, Mhz20, 800, 143_400),
        (Mode::he, 11, 1, Mhz80, 800, 600_500),
        (Mode::he, 11, 2, Mhz80, 800, 1_201_000),
        (Mode::he, 11, 2, Mhz160, 800, 2_402_000),
    ] {
        assert_eq!(kbps(make, mcs, streams, width, gi_ns), wanted, "MCS {mcs}, {streams} streams, {width}");
    }
}

#[test]
fn vht_lacks_the_modes_that_the_standard_s_tables_leave_out() {
    let lacks = WIDTHS.into_iter().flat_map(|width| {
        let all = (0..10).flat_map(move |mcs| (1..=4).map(move |streams| (width, mcs, streams)));
        all.filter(|(width, mcs, streams)| {
            let [bcc, ldpc] = [Coding::Bcc, Coding::Ldpc].map(|it| Mode::vht(*mcs, *streams, wave(*width, 800, it)));
            assert_eq!(bcc.is_err(), ldpc.is_err());
            bcc.is_err()
        })
    });
    use Width::{Mhz20, Mhz80, Mhz160};
    let known = [(Mhz20, 9, 1), (Mhz20, 9, 2), (Mhz20, 9, 4), (Mhz80, 6, 3), (Mhz160, 9, 3)];
    assert_eq!(lacks.collect::<Vec<_>>(), known);
}

#[test]
fn what_the_standard_lacks_is_refused_by_name() {
    use Coding::{Bcc, Ldpc};
    use Width::{Mhz20, Mhz40, Mhz80, Mhz160};
    let with = |ltf| Waveform { he_ltf: Some(ltf), ..wave(Mhz20, 1600, Bcc) };
    let low = |width| Waveform { band: Band::Ghz2_4, ..wave(width, 800, Ldpc) };
    for (got, wanted) in [
        (Mode::vht(9, 1, wave(Mhz20, 800, Bcc)), "VHT has no MCS 9 at 20 MHz with 1 spatial stream"),
        (Mode::vht(6, 3, wave(Mhz80, 400, Bcc)), "VHT has no MCS 6 at 80 MHz with 3 spatial streams"),
        (Mode::ht(8, 1, wave(Mhz20, 800, Bcc)), "HT has no MCS 8; there are 0 to 7"),
        (Mode::vht(10, 1, wave(Mhz80, 800, Bcc)), "VHT has no MCS 10; there are 0 to 9"),
        (Mode::he(12, 1, wave(Mhz80, 800, Ldpc)), "HE has no MCS 12; there are 0 to 11"),
        (Mode::ht(7, 5, wave(Mhz20, 800, Bcc)), "HT with 5 spatial streams is not modelled; there are 1 to 4"),
        (Mode::he(7, 0, wave(Mhz20, 800, Bcc)), "HE with 0 spatial streams is not modelled; there are 1 to 4"),
        (Mode::ht(7, 1, wave(Mhz80, 800, Bcc)), "HT has no channels of 80 MHz at 5 GHz"),
        (Mode::vht(7, 1, low(Mhz20)), "VHT has no channels of 20 MHz at 2.4 GHz"),
        (Mode::he(7, 1, low(Mhz80)), "HE has no channels of 80 MHz at 2.4 GHz"),
        (Mode::ht(7, 1, wave(Mhz20, 1600, Bcc)), "HT has no guard interval of 1600 ns; there are 400 ns, 800 ns"),
        (
            Mode::he(7, 1, wave(Mhz20, 400, Bcc)),
            "HE has no guard interval of 400 ns; there are 800 ns, 1600 ns, 3200 ns",
        ),
        (Mode::he(7, 1, with(HeLtf::X4)), "HE has no 4x HE-LTF with a guard interval of 1600 ns"),
        (Mode::vht(7, 1, Waveform { guard_interval: Dur::from_ns(800), ..with(HeLtf::X1) }), "VHT has no HE-LTF"),
        (Mode::he(7, 1, wave(Mhz40, 800, Bcc)), "HE has no BCC at 40 MHz, only LDPC"),
        (Mode::he(10, 1, wave(Mhz20, 800, Bcc)), "HE has no BCC with MCS 10, only LDPC"),
        (Standard::A.mcs(7, 1, wave(Mhz160, 800, Bcc)), "only 802.11n, ac and ax have MCSs"),
    ] {
        assert_eq!(got.map(|mode| mode.to_string()).map_err(|it| it.to_string()), Err(wanted.to_owned()));
    }
}

#[test]
fn a_mode_that_is_asked_for_again_is_the_same_from_every_thread() {
    let ask = || {
        let all =
            (0..12).flat_map(|mcs| (1..=4).map(move |n| Mode::he(mcs, n, wave(Width::Mhz160, 1600, Coding::Ldpc))));
        all.collect::<Result<Vec<_>, _>>().unwrap()
    };
    let threads = [(); 4].map(|()| std::thread::spawn(ask));
    for thread in threads {
        assert_eq!(thread.join().unwrap(), ask());
    }
    // A choice left open is the choice that it stands for; another choice is another mode, whatever its rate.
    let at = |change: Waveform| Mode::he(5, 1, change).unwrap();
    let plain = Waveform::PLAIN;
    assert_eq!(at(plain), at(Waveform { he_ltf: Some(HeLtf::X2), ..plain }));
    for other in [
        Waveform { he_ltf: Some(HeLtf::X1), ..plain },
        Waveform { coding: Coding::Ldpc, ..plain },
        Waveform { tx_time: TxTime::Ns3, ..plain },
        Waveform { band: Band::Ghz2_4, ..plain },
    ] {
        assert_eq!(at(plain).bit_rate(), at(other).bit_rate());
        assert_ne!(at(plain), at(other));
    }
}

#[test]
fn a_radio_has_its_legacy_modes_and_those_of_its_newest_format_in_order_of_rate() {
    let count = |standard: Standard, streams, width, coding| {
        let modes = standard.radio_modes(streams, wave(width, 800, coding)).unwrap();
        assert!(modes.is_sorted_by_key(|mode| mode.bit_rate()));
        let legacy = standard.modes();
        assert!(legacy.iter().all(|mode| modes.contains(mode)));
        modes.len() - legacy.len()
    };
    use Coding::{Bcc, Ldpc};
    use Width::{Mhz20, Mhz80};
    assert_eq!(count(Standard::N, 2, Width::Mhz40, Bcc), 16);
    assert_eq!(count(Standard::N2_4, 1, Mhz20, Bcc), 8);
    assert_eq!((count(Standard::Ac, 4, Mhz20, Bcc), count(Standard::Ac, 3, Mhz80, Ldpc)), (37, 29));
    assert_eq!((count(Standard::Ax, 2, Mhz20, Bcc), count(Standard::Ax, 2, Mhz80, Ldpc)), (20, 24));
    assert_eq!(count(Standard::A, 1, Mhz20, Bcc), 0);
    let refused = |standard: Standard, waveform| standard.radio_modes(1, waveform).unwrap_err();
    assert_eq!(refused(Standard::Ax, wave(Mhz80, 800, Bcc)), Refusal::BccWidth(Mhz80));
    assert_eq!(refused(Standard::N2_4, wave(Mhz80, 800, Bcc)), Refusal::Width("HT", Mhz80, Band::Ghz2_4));
    // Control frames go in the legacy modes.
    for standard in [Standard::N, Standard::Ac, Standard::Ax] {
        assert!(standard.mandatory().eq(Standard::A.mandatory()) && standard.timing() == Standard::A.timing());
    }
    assert!(Standard::N2_4.mandatory().eq(Standard::G.mandatory()));
}

#[test]
fn the_non_ht_reference_rate_is_that_of_the_modulation_and_code() {
    // 6, 12, 18, 24, 36, 48, 54 Mb/s, and 54 for all denser ones. @80211-2020 table 10-10
    let reference = [0, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7];
    for (mcs, rate) in reference.into_iter().enumerate() {
        for streams in 1..=4 {
            let mode = Mode::he(mcs as u8, streams, wave(Width::Mhz80, 800, Coding::Ldpc)).unwrap();
            assert_eq!(mode.reference, Mode::ofdm(rate));
        }
    }
    let low = Waveform { band: Band::Ghz2_4, ..Waveform::PLAIN };
    assert_eq!(Mode::ht(4, 3, low).unwrap().reference, Mode::erp_ofdm(5));
    for mode in Standard::G.modes() {
        assert_eq!(mode.reference, *mode);
        assert_eq!(mode.twin.map_or(*mode, |twin| twin.reference), mode.twin.unwrap_or(*mode));
    }
}

#[test]
fn two_modes_of_one_rate_are_told_apart_and_the_rate_names_neither() {
    // 26 Mb/s: 16-QAM 1/2 in one stream, MCS 3, and QPSK 1/2 in each of two, which is MCS 9 of HT.
    let (mcs3, mcs9) = (Mode::ht(3, 1, Waveform::PLAIN).unwrap(), Mode::ht(1, 2, Waveform::PLAIN).unwrap());
    let table = Standard::N.radio_modes(2, Waveform::PLAIN).unwrap();
    let rate = BitRate::from_kbps(26_000);
    assert_eq!(mode_at(&table, rate), Err(NoSuchMode::Several(rate, vec![mcs3, mcs9])));
    let error = mode_at(&table, rate).unwrap_err().to_string();
    assert!(error.starts_with("26 Mb/s is the rate of HT MCS 3 (") && error.contains(" and HT MCS 9 ("), "{error}");
    let ldpc = Mode::ht(7, 1, wave(Width::Mhz40, 400, Coding::Ldpc)).unwrap();
    assert_eq!(ldpc.to_string(), "HT MCS 7 (150 Mb/s, streams: 1, 40 MHz, guard interval 400 ns, LDPC)");
}

#[test]
fn parts_and_mpdus_lie_where_the_symbols_have_them() {
    let mode = Mode::ht(7, 2, wave(Width::Mhz20, 400, Coding::Bcc)).unwrap();
    let us = front(mode).map(|(part, lasts)| (part, lasts.ns() / 1000));
    assert_eq!(us, [(Part::Preamble, 16), (Part::Header, 12), (Part::Training, 12)]);
    // Bits 16 to 16 + 520 behind 40 µs: 16 · 3.6 / 520 = 0.1107 µs, and a symbol later.
    let span = Span::of(mode, Bytes::ZERO, Bytes(65));
    assert_eq!((span.from.ns(), span.until.ns()), (40_110, 40_110 + 3600));
}
