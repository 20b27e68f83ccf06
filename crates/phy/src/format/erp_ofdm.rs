//! OFDM in the 2.4 GHz band. @80211-2020 clause 18

use super::{Format, ofdm};
use crate::mode::{Mode, Row};
use units::Dur;

/// OFDM in the 2.4 GHz band: a PPDU of clause 17 with 6 µs of signal extension. @80211-2020 clause 18, eq. 18-1
pub static ERP_OFDM: Format = Format {
    name: "ERP-OFDM",
    // @80211-2020 18.2
    mandatory: &[Mode::erp_ofdm(0), Mode::erp_ofdm(2), Mode::erp_ofdm(4)],
    delimits_one: false,
    survival: ofdm::survival,
};

/// @80211-2020 18.3.2.4
pub(super) const SIGNAL_EXTENSION: Dur = Dur::from_us(6);

static ROWS: [Row; 8] = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];

const fn row(rate: u8) -> Row {
    ofdm::row(&ERP_OFDM, rate, SIGNAL_EXTENSION, Mode::erp_ofdm(rate))
}

impl Mode {
    /// ERP-OFDM: 6, 9, 12, 18, 24, 36, 48, 54 Mb/s, counted from 0. By rate: [`crate::Standard::mode`].
    pub const fn erp_ofdm(index: u8) -> Mode {
        Mode::of(&ROWS[index as usize])
    }
}
