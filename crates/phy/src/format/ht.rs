//! HT: 802.11n, behind a preamble that legacy stations read ("HT-mixed"). @80211-2020 clause 19
//!
//! TXTIME = 36 + 4 · (N_LTF − 1) + T_SYM · ⌈(16 + 8 · bytes + 6 · N_ES) / N_DBPS⌉ µs, with the short guard interval in whole 4 µs, and
//! 6 µs of signal extension at 2.4 GHz. @80211-2020 19.4.3
//!
//! - **Leaves out** HT-greenfield, MCS 32, unequal modulation, STBC, extension LTFs.

use super::amendment::{Amendment, LEGACY};
use super::{Format, numerology};
use crate::curves::Part;
use crate::format::waveform::{Refusal, Waveform};
use crate::mode::{Field, Mode};
use units::Dur;

/// HT at 5 GHz. Mandatory for data: MCS 0 to 7 in 20 MHz with BCC and 0.8 µs (@80211-2020 19.1.1).
pub static HT: Format = Format { name: "HT", mandatory: &[], delimits_one: false, survival };

/// HT at 2.4 GHz.
pub static HT_2_4: Format = Format { name: "HT", mandatory: &[], delimits_one: false, survival };

pub(crate) static AMENDMENT: Amendment = Amendment {
    name: "HT",
    formats: (&HT, Some(&HT_2_4)),
    most_mcs: 7,
    counts_streams: true,
    n_sd: &[52, 108],
    n_sd_short: [0; 4],
    symbol: Dur::from_ns(3200),
    guard_intervals: &[Dur::from_ns(400), Dur::from_ns(800)],
    // An encoder for each 300 Mb/s at the short guard interval: 1080 bits in 3.6 µs. @80211-2020 tables 19-27 to 19-36
    n_es: |_, _, _, n_dbps| n_dbps.div_ceil(1080),
    rounds_bits: false,
    fills_symbols: false,
    check,
    fields,
    rx_phy_start_delay: |_| Dur::from_us(28), // @80211-2020 table 19-25
};

impl Mode {
    /// HT with MCS 0 to 7 in each of 1 to 4 streams: the standard's MCS 8 (streams − 1) + `mcs`.
    ///
    /// # Errors
    /// The standard lacks it.
    pub fn ht(mcs: u8, streams: u8, waveform: Waveform) -> Result<Mode, Refusal> {
        AMENDMENT.mode(mcs, streams, waveform)
    }
}

fn check(waveform: Waveform) -> Result<Waveform, Refusal> {
    if waveform.he_ltf.is_some() { Err(Refusal::NoHeLtf("HT")) } else { Ok(waveform) }
}

/// @80211-2020 19.3.9
fn fields(n_ltf: u64, _: &Waveform) -> Vec<Field> {
    let mut fields = LEGACY.to_vec();
    fields.extend([
        Field::us("HT-SIG", Part::Header, 8),
        Field::us("HT-STF", Part::Training, 4),
        Field::us("HT-LTF", Part::Training, 4 * n_ltf),
    ]);
    fields
}

fn survival(mode: Mode, part: Part, sinr: f64) -> f64 {
    numerology::survival(mode.coding, mode.mcs % 8, part, sinr)
}
