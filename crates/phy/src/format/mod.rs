//! Formats: a file each, with the table of its modes, its error curve, and how frames in it are responded to.
//!
//! A crate of its own may bring another one, as tests/all/toy_ht/format.rs does:
//!
//! 1. a `static` [`Format`]: its name, its curve, and in which format its frames are responded to;
//! 2. a `static` table of [`Row`](crate::mode::Row)s, and of each row its [`Mode`] (`Mode::of(&ROWS[i])`);
//! 3. tests: airtimes worked by hand, the curve against its source.
//!
//! Format, rows and modes are `static`s (a `const` of one in its own table is a cycle): in `mandatory` write `Mode::of(&ROWS[i])`.
//!
//! A radio that has it is a MAC configuration whose modes include these, in order of rate.

mod dsss;
mod erp_ofdm;
mod ofdm;

pub use dsss::DSSS;
pub use erp_ofdm::ERP_OFDM;
pub use ofdm::OFDM;

use crate::Mode;
use crate::curves::Part;
use core::fmt;

/// A PPDU format, and with it a modulation class. @80211-2020 10.6.9
pub struct Format {
    /// The standard's word for it.
    pub name: &'static str,
    /// The mandatory rates of the class, slowest first: what every station that has the class can receive.
    pub mandatory: &'static [Mode],
    /// The class of control responses to its frames: its own, or one that legacy stations read too. @80211-2020 10.6.6.5.2
    pub responses: &'static Format,
    /// Natural logarithm of the probability that one bit of a part survives a SINR: a ratio of 0 or more, not dB. Not above 0, and
    /// 0 for parts without bits.
    pub survival: fn(Mode, Part, f64) -> f64,
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
