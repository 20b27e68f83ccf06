//! Integer nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// An instant of virtual time, in nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimTime(u64);

/// A length of time, in nanoseconds. Never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dur(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than any event: "not scheduled".
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> SimTime {
        SimTime(ns)
    }

    /// Nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for reports.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time since `earlier`; zero if that lies in the future.
    pub const fn since(self, earlier: SimTime) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

impl Dur {
    /// No time.
    pub const ZERO: Dur = Dur(0);
    /// Longer than any run.
    pub const MAX: Dur = Dur(u64::MAX);

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Dur {
        Dur(ns)
    }

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Dur {
        Dur(us * 1_000)
    }

    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Dur {
        Dur(ms * 1_000_000)
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Dur {
        Dur(s * 1_000_000_000)
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Microseconds, rounded up: how 802.11 writes a Duration field.
    pub const fn as_us_ceil(self) -> u64 {
        self.0.div_ceil(1_000)
    }

    /// Seconds, for reports and estimators.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }

    /// `self + other`, at most the longest there is.
    #[must_use]
    pub const fn saturating_add(self, other: Dur) -> Dur {
        Dur(self.0.saturating_add(other.0))
    }

    /// `self * n`, or the longest duration.
    pub const fn saturating_mul(self, n: u64) -> Dur {
        Dur(self.0.saturating_mul(n))
    }
}

impl Add<Dur> for SimTime {
    type Output = SimTime;
    /// Saturates at [`SimTime::NEVER`].
    fn add(self, d: Dur) -> SimTime {
        SimTime(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Dur> for SimTime {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}

impl Sub for SimTime {
    type Output = Dur;
    /// Time from `earlier` to `self`. The order is an invariant of the caller; see [`SimTime::since`] for the other case.
    fn sub(self, earlier: SimTime) -> Dur {
        debug_assert!(self >= earlier, "time goes back: {self} - {earlier}");
        self.since(earlier)
    }
}

impl Sub<Dur> for SimTime {
    type Output = SimTime;
    /// Saturates at the start of the run.
    fn sub(self, d: Dur) -> SimTime {
        SimTime(self.0.saturating_sub(d.0))
    }
}

impl Add for Dur {
    type Output = Dur;
    fn add(self, d: Dur) -> Dur {
        Dur(self.0 + d.0)
    }
}

impl AddAssign for Dur {
    fn add_assign(&mut self, d: Dur) {
        self.0 += d.0;
    }
}

impl Sub for Dur {
    type Output = Dur;
    fn sub(self, d: Dur) -> Dur {
        Dur(self.0 - d.0)
    }
}

impl SubAssign for Dur {
    fn sub_assign(&mut self, d: Dur) {
        self.0 -= d.0;
    }
}

impl Mul<u64> for Dur {
    type Output = Dur;
    fn mul(self, n: u64) -> Dur {
        Dur(self.0 * n)
    }
}

impl Div<u64> for Dur {
    type Output = Dur;
    fn div(self, n: u64) -> Dur {
        Dur(self.0 / n)
    }
}

impl Div for Dur {
    type Output = u64;
    /// Whole times `d` fits into `self`.
    fn div(self, d: Dur) -> u64 {
        self.0 / d.0
    }
}

impl Rem for Dur {
    type Output = Dur;
    fn rem(self, d: Dur) -> Dur {
        Dur(self.0 % d.0)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == SimTime::NEVER {
            return f.write_str("never");
        }
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Display for Dur {
    /// The largest unit that leaves a whole number: `20 ms`, `192 us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, ns) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
            if self.0 > 0 && self.0.is_multiple_of(ns) {
                return write!(f, "{} {unit}", self.0 / ns);
            }
        }
        write!(f, "{} ns", self.0)
    }
}
