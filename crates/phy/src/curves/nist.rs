//! OFDM: the NIST model, as in ns-3's `NistErrorRateModel`.
//!
//! - **Source** @MIL03: Miller, "Validation of 802.11a/UWB Coexistence Simulation", NIST 2003; @PEI10: Pei & Henderson,
//!   "Validation of OFDM error rate model in ns-3", 2010. Uncoded bit error rate of the constellation; then the union bound
//!   of hard-decision Viterbi decoding, with Chernoff's bound for each weight. SINR counts as E_s/N0 of a subcarrier.
//! - **Departs** none; the bound is held at 1 where it exceeds it, as ns-3 does.

/// A constellation's uncoded bit error rate, errors to nearest neighbours in Gray mapping: f · ½ erfc √(E_s / d N0). @MIL03
#[derive(Debug, Clone, Copy)]
pub struct Constellation {
    /// f: neighbours per bit.
    factor: f64,
    /// d: symbol energy over the squared half distance.
    divisor: f64,
}

/// One bit a symbol.
pub const BPSK: Constellation = Constellation { factor: 1.0, divisor: 1.0 };
/// A bit per quadrature, with half the energy each.
pub const QPSK: Constellation = Constellation { factor: 1.0, divisor: 2.0 };
/// Four bits a symbol.
pub const QAM16: Constellation = Constellation { factor: 0.75, divisor: 10.0 };
/// Six bits a symbol.
pub const QAM64: Constellation = Constellation { factor: 7.0 / 12.0, divisor: 42.0 };

/// E_s / d N0 from which on nothing is lost: ½ erfc √22 < ½ e⁻²² = 1.4·10⁻¹⁰, D = 2.4·10⁻⁵, and the weakest code's 7 D⁵
/// leaves a frame of 10⁵ bits a loss of 5·10⁻¹⁸, below the last bit of 1. Most frames of a good link end here.
const QUIET: f64 = 22.0;

impl Constellation {
    fn error_rate(self, x: f64) -> f64 {
        self.factor * 0.5 * libm::erfc(libm::sqrt(x))
    }
}

/// A convolutional code with generators 133 and 171 (octal), punctured or not: information weights of its error events.
/// @80211-2020 17.3.5.6
#[derive(Debug)]
pub struct Code {
    /// Information bits of a puncturing period.
    period: f64,
    /// Least distance.
    least: u32,
    /// Steps of the distance.
    step: u32,
    /// Information weight at each distance. Worked out from the trellis in validation/phy.
    weights: [f64; 10],
}

/// Rate 1/2. The unpunctured code has events of even weight only; its tenth weight is not in the source.
pub const HALF: Code = Code {
    period: 1.0,
    least: 10,
    step: 2,
    weights: [36.0, 211.0, 1404.0, 11633.0, 77433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0, 0.0],
};

/// Rate 2/3.
pub const TWO_THIRDS: Code = Code {
    period: 2.0,
    least: 6,
    step: 1,
    weights: [3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0],
};

/// Rate 3/4.
pub const THREE_QUARTERS: Code = Code {
    period: 3.0,
    least: 5,
    step: 1,
    weights: [
        42.0,
        201.0,
        1492.0,
        10469.0,
        62935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
};

impl Code {
    /// Logarithm of a decoded bit's survival: P_b ≤ 1/2k Σ c_d D^d, D = √(4 p (1 − p)). @MIL03
    fn survival(&self, p: f64) -> f64 {
        let square = 4.0 * p * (1.0 - p);
        let d = libm::sqrt(square);
        let x = if self.step == 2 { square } else { d };
        let sum = self.weights.iter().rev().fold(0.0, |sum, weight| sum * x + weight);
        let mut least = 1.0;
        for _ in 0..self.least / 2 {
            least *= square;
        }
        if self.least % 2 == 1 {
            least *= d;
        }
        libm::log1p(-(sum * least / (2.0 * self.period)).min(1.0))
    }
}

/// Logarithm of a bit's survival of a SINR: a ratio, per subcarrier.
pub fn survival(constellation: Constellation, code: &Code, sinr: f64) -> f64 {
    let x = sinr / constellation.divisor;
    if x >= QUIET { 0.0 } else { code.survival(constellation.error_rate(x)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn union_bounds_worked_by_hand() {
        // p = 0.01: D² = 0.0396, D = 0.198997.
        // Rate 1/2: ½ (36 D¹⁰ + 211 D¹² + 1404 D¹⁴ + 11633 D¹⁶ + …), in units of D¹⁰ = 9.7382·10⁻⁸:
        // 36 + 8.3556 + 2.2017 + 0.72240 + 0.19042 + 0.04895 + 0.01281 + 0.00325 + 0.00081 = 47.5359; · D¹⁰ / 2 = 2.3146·10⁻⁶.
        assert!((HALF.survival(0.01) + 2.314_6e-6).abs() < 1e-10);
        // p = 10⁻⁴: D² = 3.9996·10⁻⁴, D = 0.019999. Rate 3/4: ⅙ D⁵ (42 + 201 D + 1492 D² + 10469 D³ + 62935 D⁴ + …)
        // = ⅙ · 3.1992·10⁻⁹ (42 + 4.01980 + 0.59674 + 0.08374 + 0.01007 + 0.00121 + 0.00014 + 0.00002) = 2.4907·10⁻⁸.
        assert!((THREE_QUARTERS.survival(1e-4) + 2.490_7e-8).abs() < 1e-12);
        // Rate 2/3: ¼ D⁶ (3 + 70 D + 285 D² + 1276 D³ + 6160 D⁴ + …)
        // = ¼ · 6.3981·10⁻¹¹ (3 + 1.39993 + 0.11399 + 0.01021 + 0.00099 + 0.00009 + 0.00001) = 7.2382·10⁻¹¹.
        assert!((TWO_THIRDS.survival(1e-4) + 7.238_2e-11).abs() < 1e-14);
    }

    #[test]
    fn constellations_worked_by_hand() {
        // erfc(1) = 0.157299 (tables). BPSK at 0 dB, QPSK at 2 (3 dB), 16-QAM at 10, 64-QAM at 42: the argument is 1 in each.
        let half = 0.157_299_2 / 2.0;
        let at = |constellation: Constellation, sinr: f64| constellation.error_rate(sinr / constellation.divisor);
        let expected = [
            (at(BPSK, 1.0), half),
            (at(QPSK, 2.0), half),
            (at(QAM16, 10.0), 0.75 * half),
            (at(QAM64, 42.0), 7.0 / 12.0 * half),
        ];
        for (got, wanted) in expected {
            assert!((got - wanted).abs() < 1e-7, "{got} {wanted}");
        }
    }

    #[test]
    fn where_nothing_is_lost_a_frame_of_a_hundred_thousand_bits_rounds_to_certainty() {
        for code in [&HALF, &TWO_THIRDS, &THREE_QUARTERS] {
            let just_before = code.survival(BPSK.error_rate(QUIET));
            assert!(just_before < 0.0);
            assert_eq!(libm::exp(just_before * 1e5), 1.0);
        }
    }
}
