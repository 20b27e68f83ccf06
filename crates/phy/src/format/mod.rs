//! Formats: a file each, with the table of its modes, its error curve, and how frames in it are responded to.
//!
//! A crate of its own may bring another one, as tests/outside/four/src/toy_ht.rs does:
//!
//! 1. a `static` [`Format`]: its name, its curve, and the modes in which its control frames go;
//! 2. a `static` table of [`Row`](crate::mode::Row)s, and of each row its [`Mode`] (`Mode::of(&ROWS[i])`); where there are thousands,
//!    each row made when it is asked for, leaked, and found again ever after: a mode is its row's address;
//! 3. tests: airtimes worked by hand, the curve against its source.
//!
//! Format, rows and modes are `static`s (a `const` of one in its own table is a cycle): in `mandatory` write `Mode::of(&ROWS[i])`.
//!
//! A radio that has it is a MAC configuration whose modes include these, in order of rate.

pub(crate) mod amendment;
mod dsss;
mod erp_ofdm;
pub(crate) mod he;
pub(crate) mod ht;
mod numerology;
mod ofdm;
pub(crate) mod vht;
mod waveform;

pub use dsss::DSSS;
pub use erp_ofdm::ERP_OFDM;
pub use he::{HE, HE_2_4};
pub use ht::{HT, HT_2_4};
pub use ofdm::OFDM;
pub use vht::VHT;
pub use waveform::{Band, HeLtf, Refusal, TxTime, Waveform, Width};

use crate::Mode;
use crate::curves::Part;
use core::fmt;

/// A PPDU format, and with it a modulation class. @80211-2020 10.6.9
pub struct Format {
    /// The standard's word for it.
    pub name: &'static str,
    /// The mandatory modes in which control frames of the class go, slowest first: none where these are of another class, as all
    /// later than 802.11g are ([`Row::reference`](crate::mode::Row)).
    pub mandatory: &'static [Mode],
    /// True if an MPDU alone goes behind a delimiter, as an A-MPDU of one: VHT and later. @80211-2020 10.12.7
    pub delimits_one: bool,
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
