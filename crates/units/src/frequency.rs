//! Frequencies and bandwidths.

use crate::Db;

/// A frequency or a bandwidth in hertz.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Hertz(pub f64);

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
