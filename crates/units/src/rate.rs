//! Bit rates.

use core::fmt;

/// A rate in whole bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(u64);

impl BitRate {
    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> BitRate {
        BitRate(bps)
    }

    /// `kbps` times 1000 bits per second.
    pub const fn from_kbps(kbps: u64) -> BitRate {
        BitRate(kbps * 1_000)
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
}

impl fmt::Display for BitRate {
    /// As scenarios spell it: `5.5 Mb/s`, `250 kb/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, scale) in [("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)] {
            if self.0 as f64 >= scale {
                return write!(f, "{} {unit}", self.0 as f64 / scale);
            }
        }
        write!(f, "{} b/s", self.0)
    }
}
