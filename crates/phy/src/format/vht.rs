//! VHT: 802.11ac, to one user. @80211-2020 clause 21
//!
//! TXTIME = 40 + 4 · (N_LTF − 1) + T_SYM · ⌈(16 + 8 · bytes + 6 · N_ES) / N_DBPS⌉ µs, with the short guard interval in whole 4 µs.
//! @80211-2020 21.4.3
//!
//! - **Leaves out** 80 + 80 MHz, five to eight streams, MU, STBC, beamforming.

use super::amendment::{Amendment, LEGACY};
use super::{Format, numerology};
use crate::curves::Part;
use crate::format::waveform::{Refusal, TxTime, Waveform, Width};
use crate::mode::{Field, Mode};
use units::Dur;

/// VHT. Mandatory for data: MCS 0 to 7 with one stream in 20, 40 and 80 MHz with BCC and 0.8 µs (@80211-2020 21.1.1).
pub static VHT: Format = Format { name: "VHT", mandatory: &[], delimits_one: true, survival };

pub(crate) static AMENDMENT: Amendment = Amendment {
    name: "VHT",
    formats: (&VHT, None),
    most_mcs: 9,
    counts_streams: false,
    n_sd: &[52, 108, 234, 468],
    n_sd_short: [0; 4],
    symbol: Dur::from_ns(3200),
    guard_intervals: &[Dur::from_ns(400), Dur::from_ns(800)],
    n_es,
    rounds_bits: false,
    fills_symbols: true,
    check,
    fields,
    // 36 + 4 N_VHT-LTF + 4 µs, of the PPDU at hand instead of the most that the receiver supports. @80211-2020 table 21-28
    rx_phy_start_delay: |n_ltf| Dur::from_us(40 + 4 * n_ltf),
};

impl Mode {
    /// VHT with MCS 0 to 9 in each of 1 to 4 streams.
    ///
    /// # Errors
    /// The standard lacks it, such as MCS 9 at 20 MHz with one stream.
    pub fn vht(mcs: u8, streams: u8, waveform: Waveform) -> Result<Mode, Refusal> {
        AMENDMENT.mode(mcs, streams, waveform)
    }
}

/// An encoder for each 600 Mb/s at the short guard interval, 2160 bits in 3.6 µs. Where their number does not divide the bits of a
/// symbol there is no such mode, but for one that the tables give an encoder more. @80211-2020 tables 21-30 to 21-61
fn n_es(mcs: u8, streams: u8, width: Width, n_dbps: u32) -> u32 {
    if (mcs, streams, width) == (7, 4, Width::Mhz160) { 6 } else { n_dbps.div_ceil(2160) }
}

fn check(waveform: Waveform) -> Result<Waveform, Refusal> {
    if waveform.he_ltf.is_some() { Err(Refusal::NoHeLtf("VHT")) } else { Ok(waveform) }
}

/// @80211-2020 21.3.4, figure 21-4. VHT-SIG-B tells a single user nothing that is needed: it is no header here.
fn fields(n_ltf: u64, waveform: &Waveform) -> Vec<Field> {
    let mut fields = LEGACY.to_vec();
    fields.extend([
        Field::us("VHT-SIG-A", Part::Header, 8),
        Field::us("VHT-STF", Part::Training, 4),
        Field::us("VHT-LTF", Part::Training, 4 * n_ltf),
    ]);
    if waveform.tx_time == TxTime::Standard {
        fields.push(Field::us("VHT-SIG-B", Part::Training, 4));
    }
    fields
}

fn survival(mode: Mode, part: Part, sinr: f64) -> f64 {
    numerology::survival(mode.coding, mode.mcs, part, sinr)
}
