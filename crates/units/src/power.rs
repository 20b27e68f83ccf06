//! Powers and power ratios. Levels in dBm do not add; powers in milliwatt do.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A power ratio in decibel.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Db(pub f64);

/// A power level in decibel relative to one milliwatt.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

/// A power in milliwatt.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct MilliWatt(pub f64);

impl fmt::Display for Db {
    /// As scenarios spell it: `10 dB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

impl fmt::Display for Dbm {
    /// As scenarios spell it: `-62 dBm`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dBm", self.0)
    }
}

impl Add<Db> for Dbm {
    type Output = Dbm;
    fn add(self, gain: Db) -> Dbm {
        Dbm(self.0 + gain.0)
    }
}

impl Sub<Db> for Dbm {
    type Output = Dbm;
    fn sub(self, loss: Db) -> Dbm {
        Dbm(self.0 - loss.0)
    }
}

impl Sub for Dbm {
    type Output = Db;
    fn sub(self, other: Dbm) -> Db {
        Db(self.0 - other.0)
    }
}

impl Add for Db {
    type Output = Db;
    fn add(self, other: Db) -> Db {
        Db(self.0 + other.0)
    }
}

impl Add for MilliWatt {
    type Output = MilliWatt;
    fn add(self, other: MilliWatt) -> MilliWatt {
        MilliWatt(self.0 + other.0)
    }
}

impl AddAssign for MilliWatt {
    fn add_assign(&mut self, other: MilliWatt) {
        self.0 += other.0;
    }
}

impl SubAssign for MilliWatt {
    fn sub_assign(&mut self, other: MilliWatt) {
        self.0 -= other.0;
    }
}

impl AddAssign for Db {
    fn add_assign(&mut self, other: Db) {
        self.0 += other.0;
    }
}

impl Neg for Db {
    type Output = Db;
    fn neg(self) -> Db {
        Db(-self.0)
    }
}

impl Mul<f64> for MilliWatt {
    type Output = MilliWatt;
    fn mul(self, ratio: f64) -> MilliWatt {
        MilliWatt(self.0 * ratio)
    }
}

impl Db {
    /// The ratio of powers, 10^(dB/10): 0 for −∞ dB.
    pub fn ratio(self) -> f64 {
        libm::exp10(self.0 / 10.0)
    }

    /// 10 log₁₀ of a ratio of powers: −∞ dB for 0.
    pub fn from_ratio(ratio: f64) -> Db {
        Db(10.0 * libm::log10(ratio))
    }
}

impl Dbm {
    /// The power, 10^(dBm/10) mW.
    pub fn milliwatt(self) -> MilliWatt {
        MilliWatt(Db(self.0).ratio())
    }
}

impl MilliWatt {
    /// The level; −∞ dBm for no power.
    pub fn dbm(self) -> Dbm {
        Dbm(Db::from_ratio(self.0).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_decibel_are_a_factor_of_ten_and_nothing_is_minus_infinity() {
        assert_eq!(Db(10.0).ratio(), 10.0);
        assert_eq!(Db(-20.0).ratio(), 0.01);
        // 3 dB: 10^0.3 = 1.99526…
        assert!((Db(3.0).ratio() - 1.995_262_314_968_88).abs() < 1e-14);
        assert_eq!(Dbm(20.0).milliwatt(), MilliWatt(100.0));
        assert_eq!(MilliWatt(0.001).dbm(), Dbm(-30.0));
        assert_eq!(MilliWatt(0.0).dbm(), Dbm(f64::NEG_INFINITY));
        assert_eq!(Db(f64::NEG_INFINITY).ratio(), 0.0);
    }
}
