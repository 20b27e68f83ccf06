//! Airtimes of HT, VHT and HE: those that ns-3 tests itself by, each difference of ours by its field, and some worked by hand.

use phy::{Band, Coding, HeLtf, LONGEST_PPDU, Mode, TxTime, Waveform, Width, airtime};
use units::{Bytes, Dur};

fn wave(width: Width, gi_ns: u64, coding: Coding) -> Waveform {
    Waveform { width, guard_interval: Dur::from_ns(gi_ns), coding, ..Waveform::PLAIN }
}

fn in_ns3(waveform: Waveform) -> Waveform {
    Waveform { tx_time: TxTime::Ns3, ..waveform }
}

fn ns<const N: usize>(mode: Mode, bytes: [u64; N]) -> [u64; N] {
    bytes.map(|bytes| airtime(mode, Bytes(bytes)).ns())
}

/// A rate of the table below by the name that it has there.
fn named(name: &str, coding: Coding, change: impl Fn(Waveform) -> Waveform) -> Mode {
    let [format, width, gi] = name.split(' ').collect::<Vec<_>>()[..] else {
        panic!("format and MCS, MHz, ns: {name}")
    };
    let width = match width {
        "20" => Width::Mhz20,
        "40" => Width::Mhz40,
        "80" => Width::Mhz80,
        _ => Width::Mhz160,
    };
    let waveform = change(wave(width, gi.parse().unwrap(), coding));
    let (phy, mcs) = format.split_at(format.find(|it: char| it.is_ascii_digit()).unwrap());
    let mode = match phy {
        "HT" => Mode::ht,
        "VHT" => Mode::vht,
        _ => Mode::he,
    };
    mode(mcs.parse().unwrap(), 1, waveform).unwrap()
}

/// 1536, 76 and 14 B with one stream, in ns: `test/tx-duration-test.cc` of ns-3, and what the standard has. MCS 11 and what is wider
/// than 20 MHz have LDPC in HE.
#[rustfmt::skip]
const ANCHORS: [(&str, Coding, [u64; 3], [u64; 3]); 9] = [
    ("HT7 20 800",  Coding::Bcc,  [228_000, 48_000, 40_000],    [228_000, 48_000, 40_000]),
    // With the short guard interval 82.8, 7.2 and 3.6 µs of symbols are 84, 8 and 4, and 1706.4, 90, 21.6 are 1708, 92, 24.
    ("HT7 40 400",  Coding::Bcc,  [118_800, 43_200, 39_600],    [120_000, 44_000, 40_000]),
    ("HT0 20 400",  Coding::Bcc,  [1_742_400, 126_000, 57_600], [1_744_000, 128_000, 60_000]),
    // VHT-SIG-B: 4 µs.
    ("VHT9 80 800", Coding::Bcc,  [68_000, 40_000, 40_000],     [72_000, 44_000, 44_000]),
    // The HE-LTF lasts 6.4 + 0.8 = 7.2 µs instead of 8.
    ("HE0 20 800",  Coding::Bcc,  [1_485_600, 125_600, 71_200], [1_484_800, 124_800, 70_400]),
    ("HE11 20 800", Coding::Ldpc, [139_200, 57_600, 57_600],    [138_400, 56_800, 56_800]),
    ("HE11 80 800", Coding::Ldpc, [71_200, 57_600, 57_600],     [70_400, 56_800, 56_800]),
    ("HE11 160 800", Coding::Ldpc, [57_600, 57_600, 57_600],    [56_800, 56_800, 56_800]),
    // It lasts 12.8 + 3.2 = 16 µs.
    ("HE0 80 3200", Coding::Ldpc, [460_000, 76_000, 60_000],    [468_000, 84_000, 68_000]),
];

#[test]
fn airtimes_are_those_that_ns_3_prints_and_the_standard_s_differ_by_their_fields() {
    for (name, coding, printed, ours) in ANCHORS {
        assert_eq!(ns(named(name, coding, in_ns3), [1536, 76, 14]), printed, "{name} in ns-3");
        assert_eq!(ns(named(name, coding, |it| it), [1536, 76, 14]), ours, "{name}");
    }
}

#[test]
fn ldpc_has_no_tail_bits_but_in_ns_3() {
    // HE MCS 11 in 20 MHz: N_DBPS = 1950. 16 + 8 · 973 = 7800 bits fill four symbols; with 6 tail bits they need a fifth. 4 · 2340 =
    // 9360 coded bits, ⌈7800 / 1620⌉ = 5 codewords, 300 bits shortened and 60 punctured: few enough.
    let [ours, ns3] = [|it| it, in_ns3].map(|change| named("HE11 20 800", Coding::Ldpc, change));
    assert_eq!((ns(ours, [973]), ns(ns3, [973])), ([43_200 + 4 * 13_600], [44_000 + 5 * 13_600]));
    assert_eq!((ours.symbols.tail, ns3.symbols.tail), (0, 6));
}

#[test]
fn the_lengths_of_he_ltfs_are_the_standard_s() {
    // Behind 20 + 4 + 8 + 4 = 36 µs; of three streams four. 802.11ax-2021 table 27-12
    let us = |ltf, gi_ns, streams| {
        let waveform = Waveform { he_ltf: ltf, ..wave(Width::Mhz20, gi_ns, Coding::Bcc) };
        Mode::he(0, streams, waveform).map(|mode| mode.front.lasts().ns())
    };
    for (ltf, gi_ns, lasts) in [
        (HeLtf::X1, 800, 4000),
        (HeLtf::X2, 800, 7200),
        (HeLtf::X2, 1600, 8000),
        (HeLtf::X4, 800, 13_600),
        (HeLtf::X4, 3200, 16_000),
    ] {
        for (streams, n_ltf) in [(1, 1), (2, 2), (3, 4), (4, 4)] {
            assert_eq!(us(Some(ltf), gi_ns, streams), Ok(36_000 + n_ltf * lasts));
        }
    }
    assert_eq!([800, 1600, 3200].map(|gi| us(None, gi, 1)), [Ok(43_200), Ok(44_000), Ok(52_000)]);
}

#[test]
fn the_fields_before_the_data_are_in_the_standard_s_order() {
    let names =
        |mode: Mode| mode.front.fields.iter().map(|field| (field.name, field.lasts.ns() / 100)).collect::<Vec<_>>();
    let legacy = [("L-STF", 80), ("L-LTF", 80), ("L-SIG", 40)];
    let plain = |width| wave(width, 800, Coding::Ldpc);
    for (mode, behind) in [
        (Mode::ofdm(0), &[][..]),
        (Mode::ht(0, 3, plain(Width::Mhz20)).unwrap(), &[("HT-SIG", 80), ("HT-STF", 40), ("HT-LTF", 160)]),
        (
            Mode::vht(0, 2, plain(Width::Mhz80)).unwrap(),
            &[("VHT-SIG-A", 80), ("VHT-STF", 40), ("VHT-LTF", 80), ("VHT-SIG-B", 40)],
        ),
        (
            Mode::he(0, 1, plain(Width::Mhz160)).unwrap(),
            &[("RL-SIG", 40), ("HE-SIG-A", 80), ("HE-STF", 40), ("HE-LTF", 72)],
        ),
    ] {
        assert_eq!(names(mode), [&legacy, behind].concat());
        let lasts = mode.front.fields.iter().map(|field| field.lasts.ns()).sum();
        assert_eq!(mode.front.lasts(), Dur::from_ns(lasts));
    }
    assert_eq!(names(Mode::dsss(1)), [("SYNC", 1280), ("SFD", 160), ("PHY header", 480)]);
}

#[test]
fn at_2_4_ghz_six_microseconds_of_silence_follow() {
    for mode in [Mode::ht, Mode::he] {
        let [high, low] =
            [Band::Ghz5, Band::Ghz2_4].map(|band| mode(5, 2, Waveform { band, ..Waveform::PLAIN }).unwrap());
        assert_eq!(airtime(low, Bytes(1536)), airtime(high, Bytes(1536)) + Dur::from_us(6));
        assert_ne!(low.format, high.format);
    }
}

#[test]
fn twenty_eight_mpdus_of_1472_bytes_of_udp_are_the_most_at_65_megabits() {
    // An MPDU: 26 + 8 + 20 + 8 + 1472 + 4 = 1538 B, its subframe 1542, padded to 1544 but for the last.
    let mode = Mode::ht(7, 1, Waveform::PLAIN).unwrap();
    let us = |mpdus: u64| airtime(mode, Bytes(1544 * (mpdus - 1) + 1542)).ns() / 1000;
    // 36 + 4 · ⌈(22 + 8 · 43230) / 260⌉ = 36 + 4 · 1331 = 5360; a 29th: 36 + 4 · 1378 = 5548.
    assert_eq!((us(28), us(29), LONGEST_PPDU), (5360, 5548, Dur::from_us(5484)));
    assert_eq!((us(20), us(21)), (3840, 4028), "within 4 ms");
}

/// Format and MCS, width, octets, symbols: a selection by every branch of the rule, worked out by a program that shares nothing with
/// this one. The first row is IEEE's own example.
#[rustfmt::skip]
const LDPC: [(&str, u64, u64); 26] = [
    ("HT4 20 800", 100, 6), ("HT0 20 800", 1458, 450), ("HT1 20 800", 1458, 225), ("HT2 20 800", 1458, 151),
    ("HT3 20 800", 1458, 113), ("HT4 20 800", 1458, 76), ("HT5 20 800", 1458, 57), ("HT6 20 800", 1458, 51),
    ("HT7 20 800", 1458, 45), ("HT7 20 800", 32, 2), ("HT7 40 800", 1458, 22),
    ("VHT0 20 800", 1458, 450), ("VHT5 20 800", 1458, 57), ("VHT8 20 800", 1458, 38), ("VHT9 80 800", 1458, 8),
    ("VHT0 20 800", 101, 33),
    ("HE0 20 800", 1458, 100), ("HE7 20 800", 1458, 10), ("HE9 20 800", 1458, 8), ("HE11 20 800", 1458, 6),
    ("HE4 40 800", 1458, 9), ("HE0 80 800", 1458, 24), ("HE9 80 800", 1458, 3), ("HE11 80 800", 1458, 2),
    ("HE11 80 800", 3000, 3), ("HE8 20 800", 500, 3),
];

#[test]
fn ldpc_has_as_many_symbols_as_its_rule_of_encoding_asks_for() {
    let mut with_one_more = 0;
    for (name, octets, symbols) in LDPC {
        let mode = named(name, Coding::Ldpc, |it| it);
        let got = (airtime(mode, Bytes(octets)) - mode.front.lasts()).ns() / mode.symbols.lasts.ns();
        assert_eq!(got, symbols, "{name}, {octets} B");
        with_one_more += u64::from(symbols > (2 * (16 + 8 * octets)).div_ceil(mode.symbols.bits_in_two.get()));
    }
    assert!(with_one_more >= 4, "{with_one_more}");
}

#[test]
fn a_preamble_is_indicated_after_the_delay_of_its_format() {
    // aRxPHYStartDelay: @80211-2020 tables 19-25 and 21-28 (36 + 4 · N_LTF + 4), 802.11ax-2021 table 27-54.
    let plain = Waveform::PLAIN;
    for (streams, vht) in [(1, 44), (2, 48), (3, 56), (4, 56)] {
        let delays = [Mode::ht, Mode::vht, Mode::he].map(|mode| mode(0, streams, plain).unwrap().rx_phy_start_delay);
        assert_eq!(delays, [28, vht, 32].map(Dur::from_us));
    }
}
