//! An OFDM frame under another one, against what the modem counted (`validation/phy/capture.csv`).

use phy::curves::awgn;
use phy::curves::interference::weight;
use phy::{Coding, Mode, Standard, Waveform};
use units::Db;

const CAPTURE: &str = include_str!("../../../../validation/phy/capture.csv");

fn ht(mcs: u8) -> Mode {
    Mode::ht(mcs, 1, Waveform::PLAIN).unwrap()
}

fn legacy(rate: usize) -> Mode {
    Standard::A.modes()[rate]
}

/// A row: MCS, SIR in dB, packets, errors.
type Row = (u8, f64, f64, f64);

fn rows(interferer: &str) -> Vec<Row> {
    let own = CAPTURE.lines().skip(1).filter_map(|line| line.strip_prefix(interferer)?.strip_prefix(','));
    own.map(|line| {
        let field = |i: usize| line.split(',').nth(i).unwrap().parse::<f64>().unwrap();
        (field(0) as u8, field(1), field(2), field(3))
    })
    .collect()
}

/// The PER of 1458 B of HT at a SIR, with an interferer that counts with this weight.
fn per(mcs: u8, sir_db: f64, weight: impl Fn(f64) -> f64) -> f64 {
    let sir = Db(sir_db).ratio();
    -libm::expm1(8.0 * 1458.0 * awgn::survival(Coding::Bcc, mcs, sir / weight(sir)))
}

/// Twice the logarithm of the ratio of likelihoods: of the counted share and of `p`.
fn deviance(packets: f64, errors: f64, p: f64) -> f64 {
    let term = |count: f64, expected: f64| if count > 0.0 { count * libm::log(count / expected) } else { 0.0 };
    2.0 * (term(errors, packets * p) + term(packets - errors, packets * (1.0 - p)))
}

/// 99 % of χ² with one degree of freedom.
const ONE: f64 = 6.635;

#[test]
fn each_point_of_the_modem_is_within_its_interval() {
    let loose = rows("loose");
    assert_eq!(loose.len(), 32);
    let mut sum = 0.0;
    for &(mcs, sir_db, packets, errors) in &loose {
        let p = per(mcs, sir_db, |sir| weight(ht(mcs), ht(mcs), sir));
        let own = deviance(packets, errors, p);
        assert!(own < ONE, "MCS {mcs} at {sir_db} dB: {errors} of {packets} lost, PER {p}");
        sum += own;
    }
    // 32 points, 8 numbers a and three b that are not 0: χ² with 21 degrees of freedom is below 38.93 in 99 % of cases.
    assert!(sum < 38.93, "{sum}");
}

#[test]
fn taken_for_noise_interference_loses_more_than_the_modem_counted() {
    // The test above can fail: with a weight of 1, as noise has it, half of the points and more are beyond their intervals, all on one side.
    let beyond = |(mcs, sir_db, packets, errors): &Row| {
        let p = per(*mcs, *sir_db, |_| 1.0);
        (deviance(*packets, *errors, p) > ONE).then_some(p > errors / packets)
    };
    let beyond: Vec<bool> = rows("loose").iter().filter_map(beyond).collect();
    assert!(beyond.len() >= 16 && beyond.iter().all(|is_cautious| *is_cautious), "{beyond:?}");
    // Of Gaussian interference the same modem counted what the curve of noise says, within the 0.1 dB of that curve.
    for (mcs, sir_db, packets, errors) in rows("gaussian") {
        let [low, high] = [0.1, -0.1].map(|db| per(mcs, sir_db + db, |_| 1.0));
        let within = deviance(packets, errors, (errors / packets).clamp(low, high));
        assert!(within < ONE, "MCS {mcs} at {sir_db} dB: {errors} of {packets} lost, PER {low} to {high}");
    }
}

#[test]
fn a_frame_fares_better_the_stronger_it_is() {
    for mcs in 0..8 {
        let snr = |step: i32| {
            let sir = Db(f64::from(step) / 10.0).ratio();
            let weight = weight(ht(mcs), ht(mcs), sir);
            assert!(weight > 0.1 && weight < 1.0);
            sir / weight
        };
        assert!((-300..400).all(|step| snr(step) < snr(step + 1)), "MCS {mcs}");
        assert_eq!(weight(ht(mcs), ht(mcs), 0.0), weight(ht(mcs), ht(mcs), 1e-6));
    }
}

#[test]
fn clause_17_is_weighed_as_the_mcs_of_its_constellation_and_code() {
    // 6, 12, 18, 24, 36, 48, 54 Mb/s are BPSK 1/2, QPSK 1/2 and 3/4, 16-QAM 1/2 and 3/4, 64-QAM 2/3 and 3/4. @80211-2020 table 17-4
    for (rate, mcs) in [(0, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6)] {
        let all = [-5.0, 0.0, 3.0, 10.0, 20.0].map(|db| Db(db).ratio());
        assert_eq!(all.map(|sir| weight(legacy(rate), legacy(0), sir)), all.map(|sir| weight(ht(mcs), ht(7), sir)));
    }
}

#[test]
fn what_was_not_measured_counts_as_noise() {
    let plain = Waveform::PLAIN;
    let ldpc = Waveform { coding: Coding::Ldpc, ..plain };
    let (vht, he) = (|mcs| Mode::vht(mcs, 1, plain).unwrap(), |mcs| Mode::he(mcs, 1, plain).unwrap());
    let not_ours = [legacy(1), vht(8), he(3), Mode::ht(3, 1, ldpc).unwrap(), Mode::dsss(0)];
    for mode in not_ours {
        assert_eq!(weight(mode, legacy(4), 10.0), 1.0, "{mode:?}");
    }
    for by in [he(3), Mode::dsss(3)] {
        assert_eq!(weight(legacy(4), by, 10.0), 1.0, "{by:?}");
    }
    assert!(weight(vht(7), legacy(1), 10.0) < 1.0);
}
