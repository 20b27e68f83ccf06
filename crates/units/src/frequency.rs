//! Frequencies and bandwidths.

use crate::Db;
use core::fmt;

/// A frequency or a bandwidth in hertz.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Hertz(pub f64);

impl fmt::Display for Hertz {
    /// As scenarios spell it, in the base unit: `2400000000 Hz`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

impl Hertz {
    /// The wavelength in vacuum, in metres: c / f, c = 299,792,458 m/s by definition of the metre.
    pub fn wavelength_m(self) -> f64 {
        299_792_458.0 / self.0
    }

    /// 10 log₁₀ of the number of hertz.
    pub fn in_db(self) -> Db {
        Db::from_ratio(self.0)
    }
}
