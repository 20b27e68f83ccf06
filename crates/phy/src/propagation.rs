//! What becomes of a power between two antennas: path loss, shadowing, and the noise it arrives in.
//!
//! Antenna gains and cable losses are part of the transmit power (EIRP at an isotropic receiver). Links are reciprocal.

use engine::{Purpose, Streams};
use units::{Db, Dbm, Hertz, NodeId};

/// How the mean gain falls with the distance. No gain is above 0 dB: the far-field formulae exceed it near the antenna.
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
    /// ns-3's default, `LogDistancePropagationLossModel`: exponent 3, and at 1 m the free-space loss of 5.15 GHz,
    /// 46.6777 dB (20 log₁₀(4π · 5.15·10⁹ / c) = 46.68: ns-3 says where it comes from). @NS3-PROP
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
    let mut stream = streams.get(Purpose::Shadowing, pair(one, other));
    // Box & Muller (Ann. Math. Stat. 29, 1958): the square of the radius is twice an exponential of mean 1.
    let radius = libm::sqrt(2.0 * stream.exponential());
    Db(sigma.0 * radius * libm::cos(core::f64::consts::TAU * stream.unit()))
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
