//! Stations of 802.11n, ac and ax: control frames go in legacy modes. SIFS 16, slot 9. Times are µs.

use crate::harness::{A, B, Build, Net};
use mac::{Config, ControlModes, Kind};
use phy::{Coding, Mode, Standard, Waveform, Width};
use units::{Bytes, Dur};

/// A station of 802.11n with two streams, that sends data in one mode.
fn station(mode: Mode) -> Config {
    let mut config = Config::of(Standard::N, mode);
    config.modes = Standard::N.radio_modes(2, Waveform::PLAIN).unwrap();
    config.control_modes = ControlModes::of(&config.modes, &Standard::N.mandatory().collect::<Vec<_>>());
    config
}

/// HT in 20 MHz: this MCS in each of so many streams.
fn ht(mcs: u8, streams: u8) -> Mode {
    Mode::ht(mcs, streams, Waveform::PLAIN).unwrap()
}

#[test]
fn two_modes_of_one_bit_rate_have_exchanges_of_their_own() {
    // 1536 B: 36 + 4 · ⌈12310 / 104⌉ = 512, with two streams 4 more. MCS 3 is 16-QAM 1/2 and responded to at 24 Mb/s, 20 + 4 ·
    // ⌈134 / 96⌉ = 28; MCS 9 is QPSK 1/2 in each stream and responded to at 12: 20 + 4 · ⌈134 / 48⌉ = 32.
    for (mode, airtime, ofdm, ack) in [(ht(3, 1), 512, 4, 28), (ht(1, 2), 516, 2, 32)] {
        let configs = [station(mode), station(mode)];
        let mut net = Net::build(&Build::of(&configs));
        net.enqueue(100, A, B, 1500);
        net.run(5000);
        let lines: Vec<_> = net.sent.iter().map(|it| (it.kind, it.frame.mode, it.start, it.end - it.start)).collect();
        let wanted = [(Kind::Data, mode, 100, airtime), (Kind::Ack, Mode::ofdm(ofdm), 100 + airtime + 16, ack)];
        assert_eq!(lines, wanted);
    }
}

#[test]
fn a_missing_response_is_missed_by_the_delay_of_its_own_format() {
    // The response is OFDM (25), not HT (28): SIFS + slot + aRxPHYStartDelay.
    let (mode, config) = (ht(1, 2), station(ht(1, 2)));
    assert_eq!(mode.rx_phy_start_delay, Dur::from_us(28));
    assert_eq!(config.response_timeout(config.control_modes.response_to(mode)), Dur::from_us(16 + 9 + 25));
}

#[test]
fn control_frames_follow_the_non_ht_reference_rate() {
    let basic = [Mode::ofdm(0), Mode::ofdm(2), Mode::ofdm(4)];
    let wide = Waveform { width: Width::Mhz80, coding: Coding::Ldpc, ..Waveform::PLAIN };
    for (standard, waveform) in [(Standard::N, Waveform::PLAIN), (Standard::Ac, wide), (Standard::Ax, wide)] {
        let modes: Vec<Mode> = (0..8).map(|mcs| standard.mcs(mcs, 2, waveform).unwrap()).collect();
        let around = |basic: &[Mode], table: &[Mode]| {
            let control = ControlModes::of(table, basic);
            modes.iter().map(|mode| (control.response_to(*mode), control.rts_before(*mode))).collect::<Vec<_>>()
        };
        // BPSK 1/2, QPSK 1/2 and 3/4, then 16-QAM and 64-QAM: of 6, 12, 24 Mb/s.
        let wanted = [0, 2, 2, 4, 4, 4, 4, 4].map(|ofdm| (Mode::ofdm(ofdm), Mode::ofdm(ofdm)));
        assert_eq!(around(&basic, &modes), wanted);
        assert_eq!(around(&basic, Standard::A.modes()), wanted, "a radio that has not got the mode responds alike");
        // Without a basic rate that is low enough: the highest mandatory rate of OFDM.
        let wanted = [0, 2, 2, 4, 4, 4, 7, 7].map(|ofdm| (Mode::ofdm(ofdm), Mode::ofdm(ofdm)));
        assert_eq!(around(&[Mode::ofdm(7)], &modes), wanted);
    }
}

#[test]
fn at_2_4_ghz_responses_are_erp_ofdm_and_an_rts_may_be_dsss() {
    let waveform = Waveform { band: phy::Band::Ghz2_4, ..Waveform::PLAIN };
    let mode = Mode::ht(4, 1, waveform).unwrap();
    let dsss = [Mode::dsss(0), Mode::dsss(1)];
    let control = ControlModes::of(&Standard::N2_4.radio_modes(1, waveform).unwrap(), &dsss);
    assert_eq!((control.response_to(mode), control.rts_before(mode)), (Mode::erp_ofdm(4), Mode::dsss(1)));
}

#[test]
fn above_the_threshold_rts_and_cts_are_legacy_frames() {
    let mut configs = [station(ht(1, 2)), station(ht(1, 2))];
    configs.iter_mut().for_each(|config| config.rts.threshold = Some(Bytes(0)));
    let mut net = Net::build(&Build::of(&configs));
    net.enqueue(100, A, B, 1500);
    net.run(5000);
    let sent: Vec<_> = net.sent.iter().map(|it| (it.kind, it.frame.mode)).collect();
    let legacy = Mode::ofdm(2);
    assert_eq!(sent, [(Kind::Rts, legacy), (Kind::Cts, legacy), (Kind::Data, ht(1, 2)), (Kind::Ack, legacy)]);
}
