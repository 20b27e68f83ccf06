//! Stations of a format that `phy` does not know: the toy HT of crates/phy/tests/all/toy_ht/format.rs beside the modes of 802.11a. SIFS
//! 16, slot 9. Times are µs.

#[path = "../../../phy/tests/all/toy_ht/format.rs"]
mod format;

use crate::harness::{A, B, Build, Net};
use format::{HT, MCS3, MCS7, MCS7_SHORT, MCS9};
use mac::{Config, ControlModes, Kind};
use phy::{Mode, Standard};
use units::{Bytes, Dur};

/// A station of 802.11a and HT, that sends data in one mode.
fn station(mode: Mode) -> Config {
    let mut config = Config::of(Standard::A, mode);
    config.modes.extend([MCS3, MCS9, MCS7, MCS7_SHORT]);
    config.modes.sort_by_key(|mode| mode.bit_rate());
    config.control_modes = ControlModes::of(&config.modes, &Standard::A.mandatory().collect::<Vec<_>>());
    config
}

#[test]
fn two_modes_of_one_bit_rate_have_exchanges_of_their_own() {
    // 1536 B: 36 + 4 · ⌈12310 / 104⌉ = 512, with two streams 4 more. MCS 3 is 16-QAM 1/2 and responded to at 24 Mb/s, 20 + 4 ·
    // ⌈134 / 96⌉ = 28; MCS 9 is QPSK 1/2 in each stream and responded to at 12: 20 + 4 · ⌈134 / 48⌉ = 32.
    for (mode, airtime, ofdm, ack) in [(MCS3, 512, 4, 28), (MCS9, 516, 2, 32)] {
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
    // The response is OFDM (25), not HT (33): SIFS + slot + aRxPHYStartDelay.
    let config = station(MCS9);
    let response = config.control_modes.response_to(MCS9);
    assert_eq!(config.response_timeout(response), Dur::from_us(16 + 9 + 25));
    assert_eq!((response.format == &HT, MCS9.rx_phy_start_delay), (false, Dur::from_us(33)));
}

#[test]
fn control_frames_of_ht_follow_its_reference_rates() {
    let around = |basic: &[Mode], mode| {
        let modes = ControlModes::of(&station(MCS3).modes, basic);
        (modes.response_to(mode), modes.rts_before(mode))
    };
    let both = |ofdm| (Mode::ofdm(ofdm), Mode::ofdm(ofdm));
    let basic = [Mode::ofdm(0), Mode::ofdm(2), Mode::ofdm(4)];
    assert_eq!([MCS3, MCS9, MCS7, MCS7_SHORT].map(|mode| around(&basic, mode)), [both(4), both(2), both(4), both(4)]);
    // Without a basic rate that is low enough: the highest mandatory rate of OFDM.
    assert_eq!(around(&[Mode::ofdm(7)], MCS9), both(2));
    assert_eq!(around(&[Mode::ofdm(7)], MCS7), both(7));
}

#[test]
fn above_the_threshold_rts_and_cts_are_legacy_frames() {
    let mut configs = [station(MCS9), station(MCS9)];
    configs.iter_mut().for_each(|config| config.rts.threshold = Some(Bytes(0)));
    let mut net = Net::build(&Build::of(&configs));
    net.enqueue(100, A, B, 1500);
    net.run(5000);
    let sent: Vec<_> = net.sent.iter().map(|it| (it.kind, it.frame.mode)).collect();
    let legacy = Mode::ofdm(2);
    assert_eq!(sent, [(Kind::Rts, legacy), (Kind::Cts, legacy), (Kind::Data, MCS9), (Kind::Ack, legacy)]);
}
