//! SINR in pieces: what a frame suffers while others overlap it, part by part.

use super::*;
use crate::fading::FadingModel;
use crate::fading::block::Block;
use crate::medium::receiver::{End, Receiver, Rules, Sent};

/// ln P = −10⁻³ · bits / SINR, whichever part: sums can be done by hand.
fn by_hand(_: Mode, _: Part, sinr: f64, bits: f64) -> f64 {
    -1e-3 * bits / sinr
}

/// The receiver's reckoning of X, at −60 dBm over noise of −90 dBm (SNR 1000) from 0 on for so many µs, while Y at
/// −70 dBm (SINR 10⁻⁶ / (10⁻⁷ + 10⁻⁹) = 1 / 0.101) stands for some of it.
fn ln_survival(rate: Mode, airtime: u64, overlap: (u64, u64)) -> f64 {
    let rules = Rules {
        cca_ed_mw: 1.0,
        latency: Dur::from_us(4),
        preamble_sinr: Db(4.0).ratio(),
        capture: None,
        interference: Interference::Noise,
        curve: by_hand,
    };
    let mut receiver = Receiver::new(4, 1e-9);
    let (airtime_us, sure) = (airtime, f64::INFINITY);
    let airtime = Dur::from_us(airtime);
    let sent = |start: u64| Sent { mode: rate, started: us(start), airtime, number: 0, sure, is_in_parts: false };
    let all = [sent(0), sent(0), sent(overlap.0)];
    receiver.arrive(us(0), X, 1e-6, &all, &rules);
    receiver.arrive(us(overlap.0), Y, 1e-7, &all, &rules);
    receiver.leave(us(overlap.1), Y, &all, &rules);
    let (end, _) = receiver.leave(us(airtime_us), X, &all, &rules);
    let End::Overlapped { ln } = end else { panic!("{end:?}") };
    ln
}

#[test]
fn a_frame_overlapped_for_its_first_half_survives_both_halves() {
    // 1 Mb/s: 144 bits of preamble, 48 of header, 1000 of payload, all at 1 Mb/s: 596 bits in either half.
    // First half 596 · 10⁻³ · 0.101 = 0.060196, second 596 · 10⁻³ / 1000 = 0.000596.
    let ln = ln_survival(rate(Standard::B, 1), 1192, (0, 596));
    assert!((ln + 0.060792).abs() < 1e-12, "{ln}");
}

#[test]
fn bits_are_counted_at_the_rate_of_their_part() {
    // 11 Mb/s, overlapped from the middle of the header (168 µs) to the middle of a payload of 100 µs (242 µs).
    // Alone: 144 + 24 bits before, 50 · 11 = 550 after. Overlapped: 24 + 550.
    // 718 · 10⁻³ / 1000 + 574 · 10⁻³ · 0.101 = 0.000718 + 0.057974.
    let ln = ln_survival(rate(Standard::B, 11), 292, (168, 242));
    assert!((ln + 0.058692).abs() < 1e-12, "{ln}");
    // OFDM at 54 Mb/s: training has no bits; 24 bits of SIGNAL in 4 µs; 180 µs of payload, overlapped from 10 to 110 µs:
    // 24 + 90 · 54 = 4884 overlapped, 90 · 54 = 4860 alone. 4884 · 10⁻³ · 0.101 + 0.00486 = 0.493284 + 0.00486.
    let ln = ln_survival(rate(Standard::A, 54), 200, (10, 110));
    assert!((ln + 0.498144).abs() < 1e-12, "{ln}");
    // The last 6 µs of ERP-OFDM are silence: hit there, nothing is lost. 24 + 174 · 54 = 9420 bits alone.
    let ln = ln_survival(rate(Standard::G, 54), 200, (194, 200));
    assert!((ln + 0.00942).abs() < 1e-12, "{ln}");
}

#[test]
fn chance_decides_as_often_as_reckoned_and_blames_noise_for_its_own_share() {
    // As above, but noise of −80 dBm: SNR 100, SINR 1 / 0.11. ln P = −0.596 · 0.11 − 0.596 / 100 = −0.07152: P = 0.93098.
    // Noise alone: −1.192 / 100: 0.98815. So 1.185 % are lost to noise, 5.717 % to Y. Four standard errors of 40,000
    // draws: 0.22 %, 0.47 %.
    let config = SinrConfig { noise: Dbm(-80.0), curve: by_hand, ..config(None) };
    let mut medium = medium(&config, &[(X, -60.0), (Y, -70.0)]);
    let rate = rate(Standard::B, 1);
    let mut counts = [0u32; 3];
    for i in 0..40_000 {
        let at = i * 2000;
        let said = play(&mut medium, &[tx(X, at, at + 1192, rate), tx(Y, at, at + 596, rate)]);
        match said.verdict(R, X) {
            Verdict::Clear => counts[0] += 1,
            Verdict::Noise => counts[1] += 1,
            Verdict::Spoilt => counts[2] += 1,
            other => panic!("{other:?}"),
        }
    }
    let share = counts.map(|n| f64::from(n) / 40_000.0);
    assert!((share[1] - 0.01185).abs() < 0.0022 && (share[2] - 0.05717).abs() < 0.0047, "{share:?}");
}

#[test]
fn certain_receptions_draw_nothing() {
    // Ten frames whose fate is certain between two that are left to chance: the second draw is the same without them.
    let outcomes = |between: u64| {
        let config = SinrConfig { noise: Dbm(-80.0), curve: even, ..config(None) };
        let mut medium = medium(&config, &[(X, -60.0), (Y, -60.0)]);
        let mut fates = Vec::new();
        for i in 0..40 {
            for n in 0..between {
                let at = i * 100_000 + n * 2000;
                // One alone, and one that Y spoils for certain.
                play(&mut medium, &[tx(X, at, at + 300, rate(Standard::B, 11))]);
                let two = [
                    tx(X, at + 500, at + 900, rate(Standard::B, 11)),
                    tx(Y, at + 600, at + 800, rate(Standard::B, 11)),
                ];
                assert_eq!(play(&mut medium, &two).verdict(R, X), Verdict::Spoilt);
            }
            let at = i * 100_000 + 50_000;
            fates.push(play(&mut medium, &[tx(X, at, at + 1000, rate(Standard::B, 1))]).verdict(R, X));
        }
        fates
    };
    /// Even odds at 1 Mb/s; no doubt at 11, and no hope there below 3 dB.
    fn even(rate: Mode, part: Part, sinr: f64, _: f64) -> f64 {
        let is_slow = rate.bit_rate().bps() == 1_000_000;
        match part {
            Part::Payload if is_slow => -core::f64::consts::LN_2,
            Part::Payload if sinr < 2.0 => f64::NEG_INFINITY,
            _ => 0.0,
        }
    }
    let fates = outcomes(0);
    assert!(fates.contains(&Verdict::Clear) && fates.contains(&Verdict::Noise));
    assert_eq!(fates, outcomes(10));
}

#[test]
fn fading_moves_the_level_of_frames_only_from_one_coherence_time_to_the_next() {
    // A level 10 dB above what a payload needs: with Rayleigh fading one in 1 − e^−0.1 = 9.5 % of the intervals is too
    // deep, and all frames of an interval fare alike. 4,000 intervals, four standard errors: 1.9 %.
    let coherence = Dur::from_ms(10);
    let config = SinrConfig { fading: Some(FadingModel::Block(coherence)), ..config(None) };
    let mut medium = medium(&config, &[(X, -95.0)]);
    let fading = Block::of_pair(&Streams::new(1), X, R, coherence);
    let (mut lost, mut intervals) = (0u32, Vec::new());
    for i in 0..16_000 {
        let at = i * 2500;
        let fate = play(&mut medium, &[tx(X, at, at + 1000, rate(Standard::A, 6))]).verdict(R, X);
        intervals.push((fading.interval(us(at)), fate));
        lost += u32::from(fate != Verdict::Clear);
    }
    assert!((f64::from(lost) / 16_000.0 - 0.0952).abs() < 0.019, "{lost}");
    assert!(intervals.windows(2).all(|two| two[0].0 != two[1].0 || two[0].1 == two[1].1));
}

#[test]
fn what_is_known_of_one_frame_is_not_taken_for_another() {
    // SNR 10 dB: 6 Mb/s is received, 54 is not, in turn.
    let mut medium = medium(&config(None), &[(X, -100.0)]);
    for i in 0..20 {
        let (mbps, verdict) = if i % 2 == 0 { (6, Verdict::Clear) } else { (54, Verdict::Noise) };
        let said = play(&mut medium, &[tx(X, 1000 * i, 1000 * i + 500, rate(Standard::A, mbps))]);
        assert_eq!(said.verdict(R, X), verdict);
    }
    // Nor of one power for another: 10⁶ bits and more over SINR 10⁷ (70 dB) and 10: e^−0.0001, e^−110.
    let config = SinrConfig { curve: by_hand, ..config(None) };
    let mut medium = super::medium(&config, &[(X, -100.0)]);
    let mut clear = [0; 2];
    for i in 0..40u64 {
        let (at, power) = (us(100_000 * i), if i % 2 == 0 { TxPower::of(Dbm(60.0)) } else { TxPower::OWN });
        let tx = TxVector { power, ..rate(Standard::B, 11).into() };
        let ppdu = Ppdu::whole(X, R, tx, Dur::from_ms(99));
        medium.start(at, X);
        medium.arrive(at, &ppdu, |_| {});
        let end = at + Dur::from_ms(99);
        medium.stop(end, X);
        medium.leave(end, &ppdu, |heard| clear[(i % 2) as usize] += heard.clear.count_ones());
    }
    assert_eq!(clear, [20, 0]);
}
