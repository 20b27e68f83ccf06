//! DSSS and CCK: the curves of ns-3's `DsssErrorRateModel`, as its report derives them. @PEI09
//!
//! - **Source** @PEI09: Pei & Henderson, "Validation of ns-3 802.11b PHY model", 2009. It takes DBPSK from @PRO01 eq.
//!   5.2-69, DQPSK from @FER04 eq. 8, CCK from @PUR09 eqs. 17 and 18. SINR is counted over 22 MHz.
//! - **Departs** (a) CCK: the bound below for the source's integral. By Jensen's inequality it never promises more; the
//!   SINR at any frame error rate from 1 to 90 % is TODO dB higher at most (validation/phy). (b) the approximation of
//!   DQPSK exceeds 1/2 below −14 dB, where a bit is guessed: held there; CCK likewise stays a probability by itself.

/// Channel bandwidth over which the source counts the SINR, in Hz.
const BANDWIDTH: f64 = 22e6;

/// Logarithm of a bit's survival in a payload at that many bit/s.
pub(super) fn payload(bps: u64, sinr: f64) -> f64 {
    match bps {
        1_000_000 => dbpsk(sinr),
        2_000_000 => dqpsk(sinr),
        5_500_000 => cck(sinr, 1.0, 4.0),
        _ => cck(sinr, 2.0, 8.0),
    }
}

/// 1 Mb/s: BER = ½ e^(−Eb/N0). @PRO01 eq. 5.2-69
pub(super) fn dbpsk(sinr: f64) -> f64 {
    let eb_n0 = sinr * (BANDWIDTH / 1e6);
    libm::log1p(-0.5 * libm::exp(-eb_n0))
}

/// 2 Mb/s: BER ≈ (√2 + 1) / √(8π√2) · e^(−(2 − √2) Eb/N0) / √(Eb/N0). @FER04 eq. 8
pub(super) fn dqpsk(sinr: f64) -> f64 {
    const ROOT: f64 = core::f64::consts::SQRT_2;
    let eb_n0 = sinr * (BANDWIDTH / 2e6);
    let scale = (ROOT + 1.0) / libm::sqrt(8.0 * core::f64::consts::PI * ROOT * eb_n0);
    libm::log1p(-(scale * libm::exp(-(2.0 - ROOT) * eb_n0)).min(0.5))
}

/// 5.5 Mb/s: a symbol of 4 bits is one of 16 biorthogonal signals, received if its correlation exceeds the absolute
/// values of 7 others: P = ∫_(−β)^∞ (2Φ(x + β) − 1)⁷ φ(x) dx, β = √(2 e). @PUR09 eq. 18. 11 Mb/s: a symbol of 8 bits is
/// two such halves, each with half the energy. @PUR09 eq. 17. @PEI09 puts e = E_s / 2 N0, with 1.375 Msymbol/s in 22 MHz:
/// e = 8 SINR for one half of one, 4 SINR for each half of two.
///
/// The mean of a seventh power is at least the seventh power of the mean, and the mean is QPSK's (1 − Q(β/√2))²:
/// P ≥ (1 − ½ erfc(β/2))¹⁴, which is also what P tends to.
fn cck(sinr: f64, halves: f64, bits: f64) -> f64 {
    let energy = sinr * (BANDWIDTH / 1.375e6) / 2.0 / halves;
    let beta = libm::sqrt(2.0 * energy);
    14.0 * halves / bits * libm::log1p(-0.5 * libm::erfc(beta / 2.0))
}
