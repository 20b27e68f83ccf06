//! PPDUs of 20 to 160 MHz: powers are those of the primary channel. Payloads need 5 dB, preambles 4.

use super::*;
use crate::{Coding, Waveform, Width};

fn five(_: Mode, part: Part, sinr: f64, bits: f64) -> f64 {
    let need = if part == Part::Payload { 5.0 } else { 4.0 };
    if bits == 0.0 || sinr >= Db(need).ratio() { 0.0 } else { f64::NEG_INFINITY }
}

fn he(width: Width) -> Mode {
    Mode::he(3, 1, Waveform { width, coding: Coding::Ldpc, ..Waveform::PLAIN }).expect("a mode of HE")
}

fn hears(levels: &[(NodeId, f64)]) -> Medium {
    medium(&SinrConfig { curve: five, ..config(None) }, levels)
}

#[test]
fn a_ppdu_of_80_mhz_meets_four_times_the_noise_of_one_in_20() {
    // −110 dBm in 20 MHz, −106.99, −103.98, −100.97 in 40, 80, 160: 5 dB above it, 0.1 dB more or less.
    for (width, noise) in
        [(Width::Mhz20, -110.0), (Width::Mhz40, -106.99), (Width::Mhz80, -103.98), (Width::Mhz160, -100.97)]
    {
        for (more, verdict) in [(-0.1, Verdict::Noise), (0.1, Verdict::Clear)] {
            let mut medium = hears(&[(X, noise + 5.0 + more)]);
            let said = play(&mut medium, &[tx(X, 0, 100, he(width))]);
            assert_eq!(said.verdict(R, X), verdict, "{width}, {more} dB");
        }
    }
}

#[test]
fn a_frame_in_20_mhz_after_one_in_80_has_all_of_its_power_in_the_primary_channel_again() {
    let mut medium = hears(&[(X, -104.0)]);
    for (i, width) in [Width::Mhz20, Width::Mhz80, Width::Mhz20, Width::Mhz80].into_iter().enumerate() {
        let at = 1000 * i as u64;
        let said = play(&mut medium, &[tx(X, at, at + 100, he(width))]);
        let wanted = if width == Width::Mhz20 { Verdict::Clear } else { Verdict::Noise };
        assert_eq!(said.verdict(R, X), wanted);
        // In all its width it stands with the same power.
        let dbm = 10.0 * libm::log10(medium.power_mw(R, X).expect("signals have powers"));
        assert!((dbm + 104.0).abs() < 1e-9, "{dbm}");
    }
}

#[test]
fn a_quarter_of_the_power_of_80_mhz_is_sensed_and_interferes_in_20() {
    // −56 dBm in 80 MHz is −62.02 in the primary channel: below the threshold of energy, sensed with its preamble.
    for (level, sensed) in [(-55.9, 10), (-56.0, 14)] {
        let said = play(&mut hears(&[(X, level)]), &[tx(X, 10, 100, he(Width::Mhz80))]);
        assert_eq!(said.sensed_at_r(), [('+', sensed), ('-', 100)], "{level} dBm");
    }
    // X in 20 MHz under Y: equal powers are 6 dB apart if Y has 80 MHz.
    for (width, verdict) in [(Width::Mhz20, Verdict::Spoilt), (Width::Mhz80, Verdict::Clear)] {
        let all = [tx(X, 0, 100, he(Width::Mhz20)), tx(Y, 50, 150, he(width))];
        assert_eq!(play(&mut hears(&[(X, -80.0), (Y, -80.0)]), &all).verdict(R, X), verdict, "{width}");
    }
    // X in 80 MHz, −86.02 in the primary channel, under Y with all of its power there: 5 dB apart, 0.1 more or less.
    for (level, verdict) in [(-90.9, Verdict::Spoilt), (-91.1, Verdict::Clear)] {
        let all = [tx(X, 0, 100, he(Width::Mhz80)), tx(Y, 50, 150, he(Width::Mhz20))];
        assert_eq!(play(&mut hears(&[(X, -80.0), (Y, level)]), &all).verdict(R, X), verdict, "{level} dBm");
    }
}
