//! HE SU: 802.11ax, to one user. 802.11ax-2021 clause 27
//!
//! TXTIME = 36 + N_LTF · T_HE-LTF + T_SYM · ⌈(16 + 8 · bytes + tail) / N_DBPS⌉ µs, and 6 µs of signal extension at 2.4 GHz.
//! 802.11ax-2021 27.4.3
//!
//! - **Leaves out** HE ER SU, HE MU and HE TB PPDUs, DCM, packet extension (0 to 16 µs by the receiver's wish), midambles, five to eight
//!   streams, 80 + 80 MHz.

use super::amendment::{Amendment, LEGACY};
use super::{Format, numerology};
use crate::curves::Part;
use crate::format::waveform::{HeLtf, Refusal, TxTime, Waveform, Width};
use crate::mode::{Coding, Field, Mode};
use units::Dur;

/// HE SU at 5 GHz. Mandatory for data: MCS 0 to 7 with one stream, with BCC at 20 MHz and LDPC above (802.11ax-2021 27.1.1).
pub static HE: Format = Format { name: "HE", mandatory: &[], delimits_one: true, survival };

/// HE SU at 2.4 GHz.
pub static HE_2_4: Format = Format { name: "HE", mandatory: &[], delimits_one: true, survival };

pub(crate) static AMENDMENT: Amendment = Amendment {
    name: "HE",
    formats: (&HE, Some(&HE_2_4)),
    most_mcs: 11,
    counts_streams: false,
    // Of RUs of 242, 484, 996 and 2x996 tones. 802.11ax-2021 tables 27-13, 27-15
    n_sd: &[234, 468, 980, 1960],
    n_sd_short: [60, 120, 240, 492],
    symbol: Dur::from_ns(12_800),
    guard_intervals: &[Dur::from_ns(800), Dur::from_ns(1600), Dur::from_ns(3200)],
    n_es: |_, _, _, _| 1,
    rounds_bits: true,
    fills_symbols: true,
    check,
    fields,
    rx_phy_start_delay: |_| Dur::from_us(32), // 802.11ax-2021 table 27-54
};

impl Mode {
    /// HE with MCS 0 to 11 in each of 1 to 4 streams.
    ///
    /// # Errors
    /// The standard lacks it.
    pub fn he(mcs: u8, streams: u8, waveform: Waveform) -> Result<Mode, Refusal> {
        AMENDMENT.mode(mcs, streams, waveform)
    }
}

/// The HE-LTF by its guard interval (802.11ax-2021 table 27-1, GI_TYPE and HE_LTF_TYPE); LDPC above 20 MHz (27.1.1).
fn check(waveform: Waveform) -> Result<Waveform, Refusal> {
    let Waveform { width, guard_interval, coding, .. } = waveform;
    if coding == Coding::Bcc && width != Width::Mhz20 {
        return Err(Refusal::BccWidth(width));
    }
    let allowed: &[HeLtf] = match guard_interval.ns() {
        800 => &[HeLtf::X2, HeLtf::X1, HeLtf::X4],
        1600 => &[HeLtf::X2],
        _ => &[HeLtf::X4],
    };
    let he_ltf = waveform.he_ltf.unwrap_or(allowed[0]);
    if !allowed.contains(&he_ltf) {
        return Err(Refusal::HeLtf(he_ltf, guard_interval));
    }
    Ok(Waveform { he_ltf: Some(he_ltf), ..waveform })
}

/// 802.11ax-2021 27.3.4, figure 27-8
fn fields(n_ltf: u64, waveform: &Waveform) -> Vec<Field> {
    let ltf = match (waveform.tx_time, waveform.he_ltf) {
        (TxTime::Ns3, _) => Dur::from_us(8),
        (_, Some(HeLtf::X1)) => Dur::from_ns(3200) + waveform.guard_interval,
        (_, Some(HeLtf::X2)) => Dur::from_ns(6400) + waveform.guard_interval,
        (_, Some(HeLtf::X4) | None) => Dur::from_ns(12_800) + waveform.guard_interval,
    };
    let mut fields = LEGACY.to_vec();
    fields.extend([
        Field::us("RL-SIG", Part::Header, 4),
        Field::us("HE-SIG-A", Part::Header, 8),
        Field::us("HE-STF", Part::Training, 4),
        Field { name: "HE-LTF", part: Part::Training, lasts: ltf * n_ltf },
    ]);
    fields
}

fn survival(mode: Mode, part: Part, sinr: f64) -> f64 {
    numerology::survival(mode.coding, mode.mcs, part, sinr)
}
