//! HT, VHT and HE: curves fitted to the project's own modem, in `validation/phy/modem`.
//!
//! - **Source** Monte Carlo of a PPDU's data field over AWGN with ideal synchronisation: BCC with soft Viterbi decoding and a traceback of
//!   2.5 (K − 1) / (1 − R) bits, or LDPC with 12 iterations of normalised min-sum; max-log LLRs. Samples: `validation/phy/modem.csv`. Within
//!   0.1 dB of them, and 0.3 dB of ns-3's tables at a PER of 10 % (`validation/phy/README.md`).
//! - **Noise bandwidth**: the SNR is E_s/N0 of a data subcarrier, in every format; noise between and beside the occupied subcarriers does not
//!   count. A SINR over the whole channel passes for it, as in [`nist`](super::nist) and ns-3. That is cautious, since a receiver's filter
//!   leaves such noise out: by 0.58 dB in HT and VHT at 20 MHz (56 of 64 subcarriers), by 0.24 dB in HE (242 of 256).
//! - **Length**: PER(L) = 1 − (1 − PER_ref)^(L / L_ref) with L_ref = 1458 B, whatever the length: 32 B with BCC come out within
//!   0.3 dB. So there is no second reference for short PSDUs with BCC, which ns-3 has.

/// The forward error correction of a PPDU. FEC_CODING, @80211-2020 table 19-1
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// The binary convolutional code of clause 17, up to MCS 9. @80211-2020 19.3.11.6
    Bcc,
    /// Low-density parity check codes of 648, 1296 or 1944 bits, up to MCS 11. @80211-2020 19.3.11.7
    Ldpc,
}

/// A data bit's loss: −ln p = ln 2 · e^(−y), y = Y (snr / reference)^steepness. At SNR 0 it is guessed.
#[derive(Debug, Clone, Copy)]
struct Curve {
    /// The SNR, a ratio, at which one PSDU of 1458 B in ten is lost.
    reference: f64,
    steepness: f64,
}

/// Y = ln(ln 2 · 8 · 1458 / −ln 0.9): one PSDU of 1458 B in ten is lost.
const AT_REFERENCE: f64 = 11.248_116_860_979_22;

/// snr / reference from which on nothing is lost: y exceeds 60 on each curve, so that 10⁸ bits have a loss of 10⁻¹⁸ at most. Most frames of a good
/// link end here.
const QUIET: f64 = 8.0;

const fn curve(reference: f64, steepness: f64) -> Curve {
    Curve { reference, steepness }
}

// What `validation/phy/fit.py` prints.
/// By MCS; behind each its reference in decibels.
static BCC: [Curve; 10] = [
    curve(1.2322, 1.328), // bcc 0: 0.91 dB
    curve(2.4657, 1.324), // bcc 1: 3.92 dB
    curve(4.3627, 1.270), // bcc 2: 6.40 dB
    curve(9.2889, 1.083), // bcc 3: 9.68 dB
    curve(18.904, 1.110), // bcc 4: 12.77 dB
    curve(51.192, 0.941), // bcc 5: 17.09 dB
    curve(68.219, 0.969), // bcc 6: 18.34 dB
    curve(90.717, 0.989), // bcc 7: 19.58 dB
    curve(234.20, 0.873), // bcc 8: 23.70 dB
    curve(325.11, 0.921), // bcc 9: 25.12 dB
];

/// By MCS; behind each its reference in decibels.
static LDPC: [Curve; 12] = [
    curve(0.89524, 2.643), // ldpc 0: -0.48 dB
    curve(1.7875, 2.657),  // ldpc 1: 2.52 dB
    curve(3.0406, 3.610),  // ldpc 2: 4.83 dB
    curve(6.4146, 2.354),  // ldpc 3: 8.07 dB
    curve(12.366, 3.233),  // ldpc 4: 10.92 dB
    curve(32.941, 2.778),  // ldpc 5: 15.18 dB
    curve(44.716, 2.830),  // ldpc 6: 16.50 dB
    curve(62.741, 2.681),  // ldpc 7: 17.98 dB
    curve(147.67, 2.595),  // ldpc 8: 21.69 dB
    curve(221.18, 2.422),  // ldpc 9: 23.45 dB
    curve(482.82, 2.262),  // ldpc 10: 26.84 dB
    curve(766.26, 2.183),  // ldpc 11: 28.84 dB
];

/// The SNR, a ratio, at which one PSDU of 1458 B in ten is lost.
///
/// # Panics
/// As [`survival`].
pub fn reference(coding: Coding, mcs: u8) -> f64 {
    of(coding, mcs).reference
}

fn of(coding: Coding, mcs: u8) -> Curve {
    match coding {
        Coding::Bcc => BCC[usize::from(mcs)],
        Coding::Ldpc => LDPC[usize::from(mcs)],
    }
}

/// Logarithm of the probability that one data bit of the payload survives an SNR, a ratio and not negative: 0 where nothing is lost,
/// −ln 2 without signal. Rises with the SNR.
///
/// # Panics
/// If the coding lacks that MCS (of one stream, 0 to 11).
pub fn survival(coding: Coding, mcs: u8, snr: f64) -> f64 {
    let curve = of(coding, mcs);
    let relative = snr / curve.reference;
    if relative >= QUIET {
        return 0.0;
    }
    -core::f64::consts::LN_2 * libm::exp(-AT_REFERENCE * libm::pow(relative, curve.steepness))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_worked_by_hand() {
        // At the reference: 1458 B are lost once in ten: ln p = ln 0.9 / 11664 = −9.0330·10⁻⁶.
        for (coding, curves) in [(Coding::Bcc, BCC.as_slice()), (Coding::Ldpc, &LDPC)] {
            for (mcs, curve) in (0_u8..).zip(curves) {
                let ln_p = survival(coding, mcs, curve.reference);
                assert!((ln_p + 9.033_0e-6).abs() < 1e-9, "{coding:?} {mcs}: {ln_p}");
                assert_eq!(survival(coding, mcs, 0.0), -core::f64::consts::LN_2);
            }
        }
    }

    #[test]
    fn where_nothing_is_lost_a_psdu_of_ten_megabytes_rounds_to_certainty() {
        for (coding, curves) in [(Coding::Bcc, BCC.as_slice()), (Coding::Ldpc, &LDPC)] {
            for (mcs, curve) in (0_u8..).zip(curves) {
                let just_before = survival(coding, mcs, curve.reference * QUIET * (1.0 - 1e-9));
                assert_eq!(libm::exp(just_before * 1e8), 1.0, "{coding:?} {mcs}");
            }
        }
    }
}
