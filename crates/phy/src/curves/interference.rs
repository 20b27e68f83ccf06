//! An OFDM frame under another one: the noise that the other counts as.
//!
//! - **Source** Monte Carlo of HT frames with BCC under a second frame of the same constellation, whose symbols and carrier are its own, by the
//!   project's modem: the rows `loose` of `validation/phy/capture.csv`, MCS 0 to 7. Each point is within its interval of 99 %.
//! - **Law** As interference of bounded amplitude it costs less than Gaussian noise of its power: 0.5 to 0.8 dB less where frames are lost one in ten, and more
//!   below that for BPSK and QPSK. So the interferer's power counts with a weight 10^(−gain / 10), gain = a + b x² in dB, x the decibels that
//!   the SIR lies below the SNR at which noise loses 1458 B once in ten, from 0 to 3.4. Two numbers for each MCS (`validation/phy/fit.py`).
//! - **Covers** HT, VHT to MCS 7 and OFDM of clauses 17 and 18, each with BCC: symbols of 64 points. A curve of another decoder ([`nist`](super::nist)) is shifted
//!   by the same decibels.
//! - **Leaves out** BPSK 3/4 (9 Mb/s), MCS 8 and more, LDPC, HE, DSSS: there interference counts as noise. Interferers of another constellation were
//!   measured at single points: within 0.3 dB at PER 10 %, 0.4 dB at 50 %. Both frames on one carrier, begun within a guard interval (`aligned`), which cost 0.6 to 2.6 dB less: oscillators
//!   20 ppm apart undo that. Synchronisation, which the modem takes as given: a preamble's SINR counts interference as noise.

use super::awgn;
use crate::format::{ERP_OFDM, HT, HT_2_4, OFDM, VHT};
use crate::mode::{Coding, Mode};

/// Power of noise that a frame counts as at the receiver of another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Interference {
    /// Its own.
    #[default]
    Noise,
    /// The law that the project's modem measured of two OFDM frames; noise for all others.
    Modem,
}

/// Decibels by which interference costs less than noise: a + b x².
#[derive(Debug, Clone, Copy)]
struct Gain {
    a: f64,
    b: f64,
}

const fn gain(a: f64, b: f64) -> Gain {
    Gain { a, b }
}

/// The largest x that the samples reach.
const FARTHEST_DB: f64 = 3.4;

// What `validation/phy/fit.py` prints.
/// By MCS of HT.
static LOOSE: [Gain; 8] = [
    gain(0.48, 0.10), // 0
    gain(0.58, 0.09), // 1
    gain(0.61, 0.13), // 2
    gain(0.54, 0.00), // 3
    gain(0.75, 0.00), // 4
    gain(0.49, 0.00), // 5
    gain(0.55, 0.00), // 6
    gain(0.64, 0.00), // 7
];

/// MCS of HT with the constellation and code of a rate of clause 17, 6 to 54 Mb/s; BPSK 3/4 has none. @80211-2020 tables 17-4, 19-27
const OF_LEGACY: [Option<u8>; 8] = [Some(0), None, Some(1), Some(2), Some(3), Some(4), Some(5), Some(6)];

/// The measured MCS that a mode's payload is like.
fn measured(mode: Mode) -> Option<u8> {
    if mode.coding != Some(Coding::Bcc) {
        return None;
    }
    if mode.format == &OFDM || mode.format == &ERP_OFDM {
        OF_LEGACY[usize::from(mode.mcs)]
    } else if mode.format == &HT || mode.format == &HT_2_4 {
        Some(mode.mcs % 8)
    } else {
        (mode.format == &VHT && mode.mcs < 8).then_some(mode.mcs)
    }
}

/// True of a mode whose symbols have 64 points in 20 MHz.
fn is_ofdm_64(mode: Mode) -> bool {
    [&OFDM, &ERP_OFDM, &HT, &HT_2_4, &VHT].contains(&mode.format)
}

/// Factor on the power of `by`, a frame over one in `mode`, with which it counts as noise: 1 at most. `sir` is a ratio: the power of the frame over
/// that of the interferer.
pub fn weight(mode: Mode, by: Mode, sir: f64) -> f64 {
    let Some(mcs) = measured(mode).filter(|_| is_ofdm_64(by)) else { return 1.0 };
    let Gain { a, b } = LOOSE[usize::from(mcs)];
    let below_db = 10.0 * libm::log10(awgn::reference(Coding::Bcc, mcs) / sir);
    let x = below_db.clamp(0.0, FARTHEST_DB);
    libm::pow(10.0, -(a + b * x * x) / 10.0)
}
