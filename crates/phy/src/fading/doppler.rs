//! Rayleigh fading correlated by Doppler: a sum of sinusoids for each pair.
//!
//! - **Source** Clarke's isotropic scattering (@CLA68, @JAK74): autocorrelation of the complex gain J₀(2π f_d τ). The sum is of the kind of @ZX03 and
//!   @PB01: stratified angles of arrival, and phases drawn for each wave.
//! - **Law** g(t) = √(2/M) Σ e^(jψₙ) cos(2π f_d cos αₙ t + φₙ), αₙ = (2πn − π + θₙ) / 4M, n = 1 … M = 16; φₙ, ψₙ, θₙ uniform in [−π, π), each drawn
//!   once for each pair. Since αₙ lies uniformly in the n-th of M parts of a quarter circle, the mean of gₜ g*ₜ₊τ over pairs is J₀ exactly, and the mean power is 1.
//! - **Departs** one phase for each wave where @ZX03 has one for all, which would have them all in step at time 0; E|g|⁴ is then 2 − 1/2M at all times, 1.97 for the
//!   2 of a Gaussian process. Deep fades are 1.6 % rarer: the density of the power at 0 is 1 − 1/4M. Parameters are kept in 32 bits.
//! - **Leaves out** the motion of nodes: the shift is what the scenario states.

use crate::propagation::pair;
use core::f64::consts::TAU;
use engine::{Purpose, Streams};
use units::{Hertz, NodeId, SimTime};

/// M: waves of a sum.
const WAVES: usize = 16;

/// The stream of a pair that has its waves; blocks have theirs at 0, 1, … and the last.
const WAVES_OF_PAIR: u64 = u64::MAX - 1;

/// A wave, and its counterpart of the opposite shift.
#[derive(Debug, Clone, Copy, Default)]
struct Wave {
    /// Doppler shift in hertz.
    shift: f32,
    /// Phase at time 0 in turns.
    phase: f32,
    /// Its part in the gain, √(2/M) e^(jψ).
    re: f32,
    im: f32,
}

/// The fading of one unordered pair.
#[derive(Debug, Clone)]
pub struct Doppler {
    waves: [Wave; WAVES],
}

impl Doppler {
    /// The fading of a pair, the same in both directions, with this maximum Doppler shift.
    pub fn of_pair(streams: &Streams, one: NodeId, other: NodeId, shift: Hertz) -> Doppler {
        let mut draws = streams.within(Purpose::Fading, pair(one, other)).get(Purpose::Fading, WAVES_OF_PAIR);
        let share = libm::sqrt(2.0 / WAVES as f64);
        let mut waves = [Wave::default(); WAVES];
        for (n, wave) in waves.iter_mut().enumerate() {
            // A quarter of a circle is a quarter of a turn: (n + unit) / 4M of one.
            let arrival = TAU * (n as f64 + draws.unit()) / (4 * WAVES) as f64;
            let (phase, turn) = (draws.unit(), TAU * draws.unit());
            *wave = Wave {
                shift: (shift.0 * libm::cos(arrival)) as f32,
                phase: phase as f32,
                re: (share * libm::cos(turn)) as f32,
                im: (share * libm::sin(turn)) as f32,
            };
        }
        Doppler { waves }
    }

    /// The complex gain at an instant, real and imaginary part: mean power 1.
    pub fn gain(&self, now: SimTime) -> [f64; 2] {
        let seconds = now.ns() as f64 * 1e-9;
        let mut sum = [0.0; 2];
        for wave in &self.waves {
            let turns = f64::from(wave.shift) * seconds + f64::from(wave.phase);
            let cos = libm::cos(TAU * (turns - libm::floor(turns)));
            sum[0] += f64::from(wave.re) * cos;
            sum[1] += f64::from(wave.im) * cos;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Dur;

    const SHIFT: f64 = 10.0;

    fn of(seed: u64, other: u32) -> Doppler {
        Doppler::of_pair(&Streams::new(seed), NodeId(0), NodeId(other), Hertz(SHIFT))
    }

    /// An instant, in 1 / f_d.
    fn at(periods: f64) -> SimTime {
        SimTime::from_ns((periods / SHIFT * 1e9) as u64)
    }

    /// Mean of one number for each pair, and its standard error.
    fn mean(of_pairs: &[f64]) -> (f64, f64) {
        let n = of_pairs.len() as f64;
        let mean = of_pairs.iter().sum::<f64>() / n;
        let square = of_pairs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        (mean, libm::sqrt(square / n))
    }

    fn power(gain: [f64; 2]) -> f64 {
        gain[0] * gain[0] + gain[1] * gain[1]
    }

    #[test]
    fn the_gain_correlates_as_the_bessel_function_of_the_lag() {
        // g(t) g*(t + τ) at eight instants of 1500 pairs; imaginary part 0.
        for lag in [0.0, 0.1, 0.25, 0.3827, 0.61, 0.8785, 1.3, 3.0] {
            let product = |other: u32| {
                let doppler = of(1, other);
                let one = |i: u32| {
                    let start = 1.7 * f64::from(i) + 0.03 * f64::from(other);
                    let ([a, b], [c, d]) = (doppler.gain(at(start)), doppler.gain(at(start + lag)));
                    [a * c + b * d, b * c - a * d]
                };
                let sum = (0..8).map(one).fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
                sum.map(|it| it / 8.0)
            };
            let products: Vec<[f64; 2]> = (1..=1500).map(product).collect();
            let [real, imaginary] = [0, 1].map(|part| mean(&products.iter().map(|it| it[part]).collect::<Vec<_>>()));
            let expected = libm::j0(TAU * lag);
            assert!(real.1 < 0.012 && imaginary.1 < 0.012, "{real:?} {imaginary:?}");
            assert!((real.0 - expected).abs() < 4.0 * real.1.max(1e-6), "{lag}: {real:?}, {expected}");
            assert!(imaginary.0.abs() < 4.0 * imaginary.1.max(1e-6), "{lag}: {imaginary:?}");
        }
        // Zeros of J₀ are at 2.405 and 5.520: 0.3827 and 0.8785 of 1 / f_d.
        assert!(libm::j0(TAU * 0.3827).abs() < 1e-3 && libm::j0(TAU * 0.8785).abs() < 1e-3);
    }

    #[test]
    fn powers_have_mean_one_and_are_exponential_but_for_the_number_of_waves() {
        // 20,000 pairs at one instant each, independent. Exponential: P(power < x) = 1 − e^−x. With M waves the first term of the series in
        // Laguerre's polynomials adds −(1 / 4M) e^−x (x − x² / 2). Standard errors: mean 0.007, shares 0.0021 at 0.095 and 0.0034 at 0.632;
        // four of each.
        let powers: Vec<f64> =
            (1..=20_000).map(|other| power(of(2, other).gain(at(f64::from(other) * 0.37)))).collect();
        let share = |x: f64| powers.iter().filter(|p| **p < x).count() as f64 / 2e4;
        let expected = |x: f64| -libm::expm1(-x) - libm::exp(-x) * (x - x * x / 2.0) / (4 * WAVES) as f64;
        assert!((powers.iter().sum::<f64>() / 2e4 - 1.0).abs() < 0.028);
        for (x, tolerance) in [(0.1, 0.0083), (1.0, 0.0137), (3.0, 0.0062)] {
            assert!((share(x) - expected(x)).abs() < tolerance, "{x}: {} {}", share(x), expected(x));
        }
        // E|g|⁴ = 2 − 1/2M = 1.969, deviation √20: 0.032.
        let fourth = powers.iter().map(|p| p * p).sum::<f64>() / 2e4;
        assert!((fourth - 1.969).abs() < 0.127, "{fourth}");
    }

    #[test]
    fn levels_are_crossed_and_fades_last_as_rice_says() {
        // Upward crossings of ρ (over the root of the mean power) a second: √(2π) f_d ρ e^(−ρ²); mean time below: (e^(ρ²) − 1) / (ρ f_d √(2π)).
        // @RAP02 eqs. 5.80, 5.84. 300 pairs for 25 / f_d, looked at 80 times in 1 / f_d.
        let (pairs, periods, steps) = (300, 25, 80);
        for rho in [0.316, 0.5, 1.0] {
            let (mut rates, mut times) = (Vec::new(), Vec::new());
            for other in 1..=pairs {
                let doppler = of(3, other);
                let start = f64::from(other);
                let is_below = |i: i32| {
                    let now = at(start + f64::from(i) / f64::from(steps));
                    power(doppler.gain(now)) < rho * rho
                };
                let below: Vec<bool> = (0..=periods * steps).map(is_below).collect();
                let upward = below.windows(2).filter(|two| two[0] && !two[1]).count();
                rates.push(upward as f64 / f64::from(periods));
                times.push(below.iter().filter(|it| **it).count() as f64 / below.len() as f64);
            }
            let (rate, rate_error) = mean(&rates);
            let (time, _) = mean(&times);
            let root = libm::sqrt(TAU);
            let expected = root * rho * libm::exp(-rho * rho);
            assert!(
                rate_error < 0.03 * expected && (rate - expected).abs() < 4.0 * rate_error,
                "{rho}: {rate} {expected}"
            );
            // The time of a fade is a quotient of means: by the pairs' own deviations from it.
            let lasts = libm::expm1(rho * rho) / (rho * root);
            let residues: Vec<f64> =
                times.iter().zip(&rates).map(|(time, rate)| (time - lasts * rate) / expected).collect();
            let (off, error) = mean(&residues);
            assert!(error < 0.03 * lasts && off.abs() < 4.0 * error, "{rho}: {} {lasts}", time / rate);
        }
    }

    #[test]
    fn pairs_are_independent() {
        let gains: Vec<[f64; 2]> = (1..=4000).map(|other| of(4, other).gain(at(12.0))).collect();
        let products: Vec<f64> = gains.windows(2).map(|two| two[0][0] * two[1][0] + two[0][1] * two[1][1]).collect();
        // Each has mean 0 and deviation 1/√2: a standard error of 0.0112.
        let (mean, _) = mean(&products);
        assert!(mean.abs() < 4.0 * 0.0112, "{mean}");
    }

    #[test]
    fn a_gain_does_not_depend_on_who_asks_when_and_how_often() {
        let instants: Vec<SimTime> = (0..100).map(|i| SimTime::ZERO + Dur::from_us(7919) * i).collect();
        let forwards: Vec<[f64; 2]> = instants.iter().map(|now| of(5, 3).gain(*now)).collect();
        let kept = Doppler::of_pair(&Streams::new(5), NodeId(3), NodeId(0), Hertz(SHIFT));
        let backwards: Vec<[f64; 2]> = instants.iter().rev().map(|now| kept.gain(*now)).collect();
        assert!(forwards.iter().eq(backwards.iter().rev()));
        assert_ne!(of(5, 4).gain(instants[7]), forwards[7]);
        assert_ne!(of(6, 3).gain(instants[7]), forwards[7]);
    }

    #[test]
    fn no_shift_and_no_instant_is_too_large() {
        for shift in [0.0, 1e-300, 1e5] {
            let doppler = Doppler::of_pair(&Streams::new(1), NodeId(0), NodeId(1), Hertz(shift));
            for now in [SimTime::ZERO, SimTime::from_ns(1 << 60), SimTime::NEVER] {
                assert!(power(doppler.gain(now)).is_finite());
            }
        }
    }
}
