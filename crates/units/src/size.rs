//! Sizes in bytes.

use crate::{BitRate, Dur};
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A number of bytes (octets).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// Eight bits a byte.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, b: Bytes) -> Bytes {
        Bytes(self.0 + b.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, b: Bytes) {
        self.0 += b.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, b: Bytes) -> Bytes {
        Bytes(self.0 - b.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, b: Bytes) {
        self.0 -= b.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, n: u64) -> Bytes {
        Bytes(self.0 * n)
    }
}

impl Div for Bytes {
    type Output = f64;
    /// Returns the number of times that `b` fits, as a real number: segments of a window, say.
    fn div(self, b: Bytes) -> f64 {
        self.0 as f64 / b.0 as f64
    }
}

impl Div<Dur> for Bytes {
    type Output = BitRate;
    /// The rate that carries `self` in `d`, rounded down to whole bit/s; zero for no time.
    fn div(self, d: Dur) -> BitRate {
        if d == Dur::ZERO {
            return BitRate::from_bps(0);
        }
        let bps = u128::from(self.bits()) * 1_000_000_000 / u128::from(d.ns());
        BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
    }
}

impl Div<BitRate> for Bytes {
    type Output = Dur;
    /// Time to send `self` at `rate`, rounded up to whole nanoseconds. A link that sends many packets in a row keeps
    /// the residue itself (`net::Wire`), or it would drift.
    fn div(self, rate: BitRate) -> Dur {
        assert!(rate.bps() > 0, "a rate of zero never delivers");
        let ns = (u128::from(self.bits()) * 1_000_000_000).div_ceil(u128::from(rate.bps()));
        Dur::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}
