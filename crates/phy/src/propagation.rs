//! Power between two antennas: path loss, shadowing, and the noise in which it arrives.
//!
//! Antenna gains and cable losses are part of the transmit power (EIRP at an isotropic receiver). Links are reciprocal.

use engine::{Purpose, Stream, Streams};
use units::{Db, Dbm, Hertz, NodeId};

/// Fall of the mean gain with the distance. No gain is above 0 dB: the far-field formulae exceed it near the antenna.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathLoss {
    /// (λ / 4πd)². @FRIIS46 eq. 1 with isotropic antennas (@RAP02 eq. 4.1). 0 dB for d ≤ λ / 4π, d = 0 included.
    FreeSpace {
        /// Carrier frequency.
        frequency: Hertz,
    },
    /// L₀ + 10 n log₁₀(d / d₀) dB of loss. @RAP02 eq. 4.68. L₀ for d ≤ d₀, d = 0 included.
    LogDistance {
        /// n.
        exponent: f64,
        /// d₀ in metres.
        reference_m: f64,
        /// L₀ in dB, positive.
        reference_loss_db: f64,
    },
    /// Free space up to the cross-over distance 4π h_t h_r / λ, then h_t² h_r² / d⁴, where the two meet. @RAP02
    /// eq. 4.52; the cross-over as in ns-2's manual (section "Two-ray ground reflection model"). Near the antenna as
    /// in free space.
    TwoRayGround {
        /// Carrier frequency.
        frequency: Hertz,
        /// Heights of both antennas over the ground, in metres.
        heights_m: (f64, f64),
    },
    /// The scenario states the gain of each pair; no distance tells it.
    Matrix,
}

impl PathLoss {
    /// ns-3's default, `LogDistancePropagationLossModel`: exponent 3, and 46.6777 dB at 1 m, which its documentation
    /// calls free space at 5.15 GHz (46.6779 dB with c = 3·10⁸ m/s, 46.6839 with c as it is).
    pub const NS3_LOG_DISTANCE: PathLoss =
        PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_loss_db: 46.6777 };

    /// The gain (0 dB or less) at so many metres; `None` for `Matrix`. A negative distance and one that is no number
    /// count as 0.
    pub fn gain(&self, distance_m: f64) -> Option<Db> {
        let distance = distance_m.max(0.0);
        let ratio = match *self {
            PathLoss::FreeSpace { frequency } => free_space(frequency, distance),
            PathLoss::TwoRayGround { frequency, heights_m: (one, other) } => {
                let cross_over = 4.0 * core::f64::consts::PI * one * other / frequency.wavelength_m();
                if distance <= cross_over {
                    free_space(frequency, distance)
                } else {
                    let amplitude = one * other / (distance * distance);
                    amplitude * amplitude
                }
            }
            PathLoss::LogDistance { exponent, reference_m, reference_loss_db } => {
                let beyond = Db::from_ratio((distance / reference_m).max(1.0)).0;
                return Some(Db((-reference_loss_db - exponent * beyond).min(0.0)));
            }
            PathLoss::Matrix => return None,
        };
        Some(Db::from_ratio(ratio.min(1.0)))
    }
}

fn free_space(frequency: Hertz, distance: f64) -> f64 {
    let amplitude = frequency.wavelength_m() / (4.0 * core::f64::consts::PI * distance);
    amplitude * amplitude
}

/// The name of an unordered pair among the streams: the same for both directions.
pub(crate) fn pair(one: NodeId, other: NodeId) -> u64 {
    u64::from(one.0.min(other.0)) << 32 | u64::from(one.0.max(other.0))
}

/// Log-normal shadowing of a pair: a gain in dB from the normal distribution of mean 0 and deviation `sigma`, the same
/// in both directions and for the whole run. @RAP02 eq. 4.69a
///
/// Depends on seed and pair alone: a new station changes nobody's, and other deviations scale it.
pub fn shadowing(streams: &Streams, one: NodeId, other: NodeId, sigma: Db) -> Db {
    first(&mut streams.get(Purpose::Shadowing, pair(one, other)), sigma)
}

/// The first draw of a pair's stream.
fn first(stream: &mut Stream, sigma: Db) -> Db {
    // Box & Muller (Ann. Math. Stat. 29, 1958): the square of the radius is twice an exponential of mean 1.
    let radius = libm::sqrt(2.0 * stream.exponential());
    Db(sigma.0 * radius * libm::cos(core::f64::consts::TAU * stream.unit()))
}

/// Steps of [`Shadow`] in a decorrelation distance. Within a step the gain stays. Our choice: from step to step the correlation is
/// exp(-1 / 32) = 0.97, so that a gain of sigma 6 dB changes by 6 √(2 - 2 · 0.97) = 1.5 dB (root mean square).
const STEPS: f64 = 32.0;

/// Shadowing of a pair whose ends move: it begins with [`shadowing`], and its autocorrelation over a way of d metres is
/// exp(-d / d_corr), a process of first order. @GUD91
///
/// The way is the path of both ends together, so that the correlation is the product of that of each. A node that turns back
/// meets new obstacles: this is a process along the path, not a map.
#[derive(Debug, Clone)]
pub struct Shadow {
    draws: Stream,
    gain: Db,
    steps: u64,
}

impl Shadow {
    /// That of a pair whose ends have not moved yet.
    pub fn of_pair(streams: &Streams, one: NodeId, other: NodeId, sigma: Db) -> Shadow {
        let mut draws = streams.get(Purpose::Shadowing, pair(one, other));
        let gain = first(&mut draws, sigma);
        Shadow { draws, gain, steps: 0 }
    }

    /// The gain after both ends have gone so far together; never less than when it was asked last.
    pub fn after(&mut self, metres: f64, decorrelation_m: f64, sigma: Db) -> Db {
        let steps = (metres / decorrelation_m * STEPS) as u64;
        let kept = libm::exp(-1.0 / STEPS);
        let new = sigma.0 * libm::sqrt(1.0 - kept * kept);
        while self.steps < steps {
            self.gain = Db(kept * self.gain.0 + new * self.draws.normal());
            self.steps += 1;
        }
        self.gain
    }
}

/// The noise a receiver hears when nobody sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoiseFloor {
    /// Thermal noise of a bandwidth and what the receiver adds.
    Thermal {
        /// Noise bandwidth: that of the error curves, [`crate::curves::bandwidth`].
        bandwidth: Hertz,
        /// Noise figure.
        noise_figure: Db,
    },
    /// As stated.
    Constant(Dbm),
}

/// Thermal noise at 290 K in 1 Hz, in dBm: 10 log₁₀(k T / 1 mW) = −173.98, by convention −174. @RAP02 appendix B
pub const THERMAL_DBM_PER_HZ: Dbm = Dbm(-174.0);

impl NoiseFloor {
    /// Its level: −174 dBm/Hz + 10 log₁₀(bandwidth) + noise figure, unless stated.
    pub fn level(&self) -> Dbm {
        match *self {
            NoiseFloor::Thermal { bandwidth, noise_figure } => THERMAL_DBM_PER_HZ + bandwidth.in_db() + noise_figure,
            NoiseFloor::Constant(level) => level,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    fn gain(loss: PathLoss, metres: f64) -> f64 {
        loss.gain(metres).expect("a function of distance").0
    }

    fn near(got: f64, wanted: f64, tolerance: f64) {
        assert!((got - wanted).abs() <= tolerance, "{got} {wanted}");
    }

    #[test]
    fn free_space_is_friis() {
        let loss = PathLoss::FreeSpace { frequency: Hertz(2.4e9) };
        // λ = 0.124914 m; 4π · 100 / λ = 10060.1; 20 log₁₀ = 80.052.
        near(gain(loss, 100.0), -80.052, 0.001);
        // Twice as far: 20 log₁₀ 2 = 6.0206 dB less.
        near(gain(loss, 200.0) - gain(loss, 100.0), -6.0206, 1e-4);
    }

    #[test]
    fn ns3_s_log_distance_is_46_67_db_at_one_metre_and_thirty_more_at_ten() {
        near(gain(PathLoss::NS3_LOG_DISTANCE, 1.0), -46.6777, 1e-12);
        near(gain(PathLoss::NS3_LOG_DISTANCE, 10.0), -76.6777, 1e-12);
        // Where the reference loss is from: 20 log₁₀(4π · 5.15·10⁹ / 3·10⁸) = 46.6779, here with c = 299,792,458 m/s.
        let free = PathLoss::FreeSpace { frequency: Hertz(5.15e9) };
        near(gain(free, 1.0) + 20.0 * libm::log10(3e8 / 299_792_458.0), -46.6779, 1e-4);
    }

    #[test]
    fn two_ray_ground_with_ns2_s_defaults_reaches_250_and_550_metres() {
        // ns-2's tcl/lib/ns-default.tcl: 0.28183815 W, antennas 1.5 m high, 914 MHz, thresholds 3.652·10⁻¹⁰ and
        // 1.559·10⁻¹¹ W. (1.5² / 250²)² = 1.296·10⁻⁹, times the power 3.6526·10⁻¹⁰; at 550 m 1.5593·10⁻¹¹.
        let loss = PathLoss::TwoRayGround { frequency: Hertz(914e6), heights_m: (1.5, 1.5) };
        let watt = |metres| Db(gain(loss, metres)).ratio() * 0.281_838_15;
        near(watt(250.0), 3.6526e-10, 1e-14);
        near(watt(550.0), 1.5593e-11, 1e-15);
        // Cross-over 4π · 2.25 / 0.328000 = 86.20 m: free space below, and no step.
        let free = PathLoss::FreeSpace { frequency: Hertz(914e6) };
        near(gain(loss, 86.0), gain(free, 86.0), 0.0);
        near(gain(loss, 86.19), gain(loss, 86.22), 0.01);
        assert!(gain(loss, 87.0) < gain(free, 87.0));
    }

    #[test]
    fn no_distance_amplifies_and_none_is_without_an_answer() {
        let models = [
            (PathLoss::FreeSpace { frequency: Hertz(2.4e9) }, 0.0),
            (PathLoss::TwoRayGround { frequency: Hertz(2.4e9), heights_m: (1.5, 2.0) }, 0.0),
            (PathLoss::TwoRayGround { frequency: Hertz(2.4e9), heights_m: (0.0, 0.0) }, 0.0),
            (PathLoss::NS3_LOG_DISTANCE, -46.6777),
            (PathLoss::LogDistance { exponent: 2.0, reference_m: 0.0, reference_loss_db: 40.0 }, -40.0),
        ];
        for (model, at_zero) in models {
            for metres in [0.0, -1.0, f64::NAN] {
                assert_eq!(gain(model, metres), at_zero, "{model:?} {metres}");
            }
            let mut last = 0.0;
            for step in 1..400 {
                let here = gain(model, f64::from(step) * 0.5);
                assert!(here <= last, "{model:?} at step {step}");
                last = here;
            }
        }
        // Inside the reference distance the reference loss.
        assert_eq!(gain(PathLoss::NS3_LOG_DISTANCE, 0.3), -46.6777);
        assert_eq!(PathLoss::Matrix.gain(10.0), None);
    }

    #[test]
    fn shadowing_is_normal_reciprocal_and_a_matter_of_the_pair_alone() {
        let streams = Streams::new(1);
        let sigma = Db(6.0);
        assert_eq!(shadowing(&streams, A, B, sigma), shadowing(&streams, B, A, sigma));
        assert_ne!(shadowing(&streams, A, B, sigma), shadowing(&Streams::new(12), A, B, sigma));
        assert_eq!(shadowing(&streams, A, B, Db(0.0)), Db(0.0));
        near(shadowing(&streams, A, B, Db(12.0)).0, 2.0 * shadowing(&streams, A, B, sigma).0, 1e-12);
        // 40,000 pairs. Standard errors: mean 6/200 = 0.03; variance 36 √(2/40,000) = 0.255; a share of 5 % 0.11 %,
        // of 31.73 % 0.23 %. Four of each.
        let draws: Vec<f64> = (0..200)
            .flat_map(|one| (200..400).map(move |other| (NodeId(one), NodeId(other))))
            .map(|(one, other)| shadowing(&streams, one, other, sigma).0)
            .collect();
        let n = draws.len() as f64;
        let share = |beyond: f64| draws.iter().filter(|gain| gain.abs() > beyond * 6.0).count() as f64 / n;
        near(draws.iter().sum::<f64>() / n, 0.0, 0.12);
        near(draws.iter().map(|gain| gain * gain).sum::<f64>() / n, 36.0, 1.02);
        near(share(1.959_964), 0.05, 0.0044);
        near(share(1.0), 0.317_311, 0.0093);
    }

    #[test]
    fn shadowing_along_a_way_correlates_as_the_exponential_of_its_length() {
        // 10,000 pairs, sigma 6 dB, d_corr 20 m. The product of two normal numbers of correlation r has the variance 1 + r²: the standard error of the
        // correlation is √(1 + r²) / 100 ≤ 0.0142. Four of each.
        let (streams, sigma, far) = (Streams::new(1), Db(6.0), 20.0);
        let mut pairs: Vec<Shadow> =
            (0..10_000).map(|i| Shadow::of_pair(&streams, NodeId(i % 100), NodeId(100 + i / 100), sigma)).collect();
        let mut at = |metres: f64| -> Vec<f64> {
            pairs.iter_mut().map(|pair| pair.after(metres, far, sigma).0 / sigma.0).collect()
        };
        let begin = at(0.0);
        assert_eq!(begin[0], shadowing(&streams, NodeId(0), NodeId(100), sigma).0 / sigma.0);
        for (metres, expected) in [(2.5, 0.8825), (10.0, 0.606_53), (20.0, 0.367_88), (60.0, 0.049_79)] {
            let now = at(metres);
            let mean = |of: &dyn Fn(usize) -> f64| (0..now.len()).map(of).sum::<f64>() / now.len() as f64;
            near(mean(&|i| begin[i] * now[i]), expected, 4.0 * 0.0142);
            near(mean(&|i| now[i]), 0.0, 0.04);
            near(mean(&|i| now[i] * now[i]), 1.0, 4.0 * 0.0142);
        }
        // However often it is asked on the way it is the same.
        let mut asked = Shadow::of_pair(&streams, NodeId(0), NodeId(100), sigma);
        (0..=600).for_each(|dm| _ = asked.after(f64::from(dm) / 10.0, far, sigma));
        assert_eq!(asked.gain, pairs[0].gain);
    }

    #[test]
    fn the_noise_floor_is_thermal_noise_and_the_receiver_s_own_unless_stated() {
        // −174 + 10 log₁₀(20·10⁶) + 7 = −174 + 73.0103 + 7; 22 MHz: 73.4242.
        let floor = |mhz: f64| NoiseFloor::Thermal { bandwidth: Hertz(mhz * 1e6), noise_figure: Db(7.0) }.level().0;
        near(floor(20.0), -93.9897, 1e-4);
        near(floor(22.0), -93.5758, 1e-4);
        assert_eq!(NoiseFloor::Constant(Dbm(-99.0)).level(), Dbm(-99.0));
    }
}
