//! Powers and power ratios. Levels in dBm do not add; powers in milliwatt do.

use core::ops::{Add, AddAssign, Sub, SubAssign};

/// A power ratio in decibel.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Db(pub f64);

/// A power level in decibel relative to one milliwatt.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

/// A power in milliwatt.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct MilliWatt(pub f64);

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
