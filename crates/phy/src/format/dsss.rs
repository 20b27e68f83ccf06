//! DSSS and CCK, with the curves of ns-3's `DsssErrorRateModel`, as its report derives them. @80211-2020 clauses 15, 16; @PEI09
//!
//! - **Source** @PEI09: Pei & Henderson, "Validation of ns-3 802.11b PHY model", 2009. It takes DBPSK from @PRO01 eq.
//!   5.2-69, DQPSK from @FER04 eq. 8, CCK from @PUR09 eqs. 17 and 18. SINR is counted over 22 MHz.
//! - **Departs** the approximation of DQPSK exceeds 1/2 below a SINR of −14 dB, where a bit is guessed: held there.
//! - **Note** @PEI09 halves the energy that coherent detection of 16 biorthogonal signals would have (@PRO01 sec. 5.2.3),
//!   which costs CCK 3 dB; the report does not say why, ns-3 has it, and so have we.
//! - **Checked** tests below; tests/all/curves.rs against validation/phy.

use super::Format;
use crate::curves::Part;
use crate::mode::{Field, Front, Mode, Preamble, Row, Symbols};
use units::{BitRate, Dur, Hertz};

/// DSSS and CCK. @80211-2020 clauses 15, 16
///
/// TXTIME = preamble + header + 8 · bytes / rate, the body rounded up to whole µs. @80211-2020 16.3.4
pub static DSSS: Format = Format {
    name: "DSSS",
    // @80211-2020 15.4.4.2, 16.3.3
    mandatory: &[Mode::dsss(0), Mode::dsss(1), Mode::dsss(2), Mode::dsss(3)],
    delimits_one: false,
    survival,
};

/// 1, 2, 5.5, 11 Mb/s. @80211-2020 16.2.3.4
const KBPS: [u64; 4] = [1000, 2000, 5500, 11_000];

/// @80211-2020 16.2.2.2
const LONG_FIELDS: [Field; 3] = [
    Field::us("SYNC", Part::Preamble, 128),
    Field::us("SFD", Part::Preamble, 16),
    Field::us("PHY header", Part::Header, 48),
];

/// @80211-2020 16.2.2.3
const SHORT_FIELDS: [Field; 3] = [
    Field::us("SYNC", Part::Preamble, 56),
    Field::us("SFD", Part::Preamble, 16),
    Field::us("PHY header", Part::Header, 24),
];

static LONG: [Row; 4] = [
    row(0, Preamble::Long, Mode::of(&LONG[0]), None),
    row(1, Preamble::Long, Mode::of(&LONG[1]), Some(Mode::of(&SHORT[0]))),
    row(2, Preamble::Long, Mode::of(&LONG[2]), Some(Mode::of(&SHORT[1]))),
    row(3, Preamble::Long, Mode::of(&LONG[3]), Some(Mode::of(&SHORT[2]))),
];

static SHORT: [Row; 3] = [
    row(1, Preamble::Short, Mode::of(&SHORT[0]), Some(Mode::dsss(1))),
    row(2, Preamble::Short, Mode::of(&SHORT[1]), Some(Mode::dsss(2))),
    row(3, Preamble::Short, Mode::of(&SHORT[2]), Some(Mode::dsss(3))),
];

impl Mode {
    /// DSSS or CCK behind a long preamble: 1, 2, 5.5, 11 Mb/s, counted from 0. By rate: [`crate::Standard::mode`].
    pub const fn dsss(index: u8) -> Mode {
        Mode::of(&LONG[index as usize])
    }
}

const fn row(rate: u8, preamble: Preamble, this: Mode, twin: Option<Mode>) -> Row {
    let kbps = KBPS[rate as usize];
    // The header's rate, the delay: @80211-2020 16.2.2.2, 16.2.2.3, tables 15-4, 16-4. SYNC and SFD go at 1 Mb/s, whichever the
    // preamble.
    let (fields, header_kbps, delay_us): (&[Field], _, _) = match preamble {
        Preamble::Long => (&LONG_FIELDS, 1000, 192),
        Preamble::Short => (&SHORT_FIELDS, 2000, 96),
    };
    Row {
        format: &DSSS,
        mcs: rate,
        streams: 1,
        bandwidth: Hertz(BANDWIDTH),
        primary_share: 1.0,
        coding: None,
        guard_interval: Dur::ZERO,
        preamble,
        twin,
        bit_rate: BitRate::from_kbps(kbps),
        reference: this,
        front: Front::of(fields, BitRate::from_kbps(1000), BitRate::from_kbps(header_kbps)),
        rx_phy_start_delay: Dur::from_us(delay_us),
        // TXTIME counts whole µs, whatever the length of a symbol: 1, 2, 5.5, 11 bits each.
        symbols: Symbols::new(Dur::from_us(1), 2 * kbps / 1000, 0, 0),
        signal_extension: Dur::ZERO,
    }
}

/// Channel bandwidth over which the source counts the SINR, in Hz.
const BANDWIDTH: f64 = 22e6;

fn survival(mode: Mode, part: Part, sinr: f64) -> f64 {
    match (part, mode.preamble) {
        (Part::Payload, _) => payload(mode.mcs, sinr),
        (Part::Header, Preamble::Short) => dqpsk(sinr),
        (Part::Preamble, _) | (Part::Header, Preamble::Long) => dbpsk(sinr),
        (Part::Training, _) => 0.0,
    }
}

/// Logarithm of a bit's survival in a payload: 1, 2, 5.5, 11 Mb/s.
fn payload(mcs: u8, sinr: f64) -> f64 {
    match mcs {
        0 => dbpsk(sinr),
        1 => dqpsk(sinr),
        2 => cck(sinr, 1.0, 4.0),
        _ => cck(sinr, 2.0, 8.0),
    }
}

/// 1 Mb/s: BER = ½ e^(−Eb/N0). @PRO01 eq. 5.2-69
fn dbpsk(sinr: f64) -> f64 {
    let eb_n0 = sinr * (BANDWIDTH / 1e6);
    libm::log1p(-0.5 * libm::exp(-eb_n0))
}

/// 2 Mb/s: BER ≈ (√2 + 1) / √(8π√2) · e^(−(2 − √2) Eb/N0) / √(Eb/N0). @FER04 eq. 8
fn dqpsk(sinr: f64) -> f64 {
    const ROOT: f64 = core::f64::consts::SQRT_2;
    let eb_n0 = sinr * (BANDWIDTH / 2e6);
    let scale = (ROOT + 1.0) / libm::sqrt(8.0 * core::f64::consts::PI * ROOT * eb_n0);
    libm::log1p(-(scale * libm::exp(-(2.0 - ROOT) * eb_n0)).min(0.5))
}

/// 5.5 Mb/s: a symbol of 4 bits is one of 16 biorthogonal signals, received if its correlation exceeds the absolute
/// values of 7 others: P = ∫_(−β)^∞ (2Φ(x + β) − 1)⁷ φ(x) dx, β = √(2 e). @PUR09 eq. 18. 11 Mb/s: a symbol of 8 bits is
/// two such halves, each with half the energy. @PUR09 eq. 17. @PEI09 puts e = E_s / 2 N0, with 1.375 Msymbol/s in 22 MHz:
/// e = 8 SINR at 5.5 Mb/s, 4 SINR for each half at 11 Mb/s.
///
/// If the 14 neighbours were mistaken independently, P would be (1 − Q(β/√2))¹⁴. They are not (all share the noise of
/// the right one), which makes them fewer than 14: [`NEIGHBOURS`].
fn cck(sinr: f64, halves: f64, bits: f64) -> f64 {
    let energy = sinr * (BANDWIDTH / 1.375e6) / 2.0 / halves;
    // From here on 14 · ½ e^(−52) is below the last bit of 1 in a frame of 10⁵ symbols. (β/2)² = e/2.
    if energy >= 104.0 {
        return 0.0;
    }
    let beta = libm::sqrt(2.0 * energy);
    neighbours(beta) * halves / bits * libm::log1p(-0.5 * libm::erfc(beta / 2.0))
}

/// ln P / ln(1 − Q(β/√2)) at β = 0, ¼, ½ … 14, by quadrature: from 4 (P = 1/16) to 14, which it is beyond. A test works
/// each out again.
#[rustfmt::skip]
const NEIGHBOURS: [f64; 57] = [
    4.00000, 4.18110, 4.38472, 4.61368, 4.87094, 5.15943, 5.48191, 5.84062, 6.23701, 6.67123,
    7.14177, 7.64502, 8.17505, 8.72366, 9.28067, 9.83465, 10.37384, 10.88720, 11.36533, 11.80114,
    12.19019, 12.53063, 12.82294, 13.06944, 13.27377, 13.44039, 13.57413, 13.67987, 13.76226, 13.82553,
    13.87347, 13.90929, 13.93571, 13.95495, 13.96878, 13.97860, 13.98549, 13.99027, 13.99354, 13.99576,
    13.99725, 13.99823, 13.99887, 13.99929, 13.99956, 13.99973, 13.99983, 13.99990, 13.99994, 13.99996,
    13.99998, 13.99999, 13.99999, 14.00000, 14.00000, 14.00000, 14.00000,
];

/// [`NEIGHBOURS`] between its points, linearly: within 0.1 %, which is 0.001 dB.
fn neighbours(beta: f64) -> f64 {
    let position = beta * 4.0;
    if position >= (NEIGHBOURS.len() - 1) as f64 {
        return 14.0;
    }
    let index = position as usize;
    let (low, high) = (NEIGHBOURS[index], NEIGHBOURS[index + 1]);
    low + (high - low) * (position - index as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln P of [`cck`], by Simpson's rule on y = x + β from 0 on: what is missing from 1 is Φ(−β) and the integral of
    /// (1 − (1 − erfc(y/√2))⁷) φ(y − β).
    fn ln_survival_of_a_half(beta: f64) -> f64 {
        let missing = |y: f64| {
            let x = y - beta;
            let density = libm::exp(-x * x / 2.0) / libm::sqrt(core::f64::consts::TAU);
            -libm::expm1(7.0 * libm::log1p(-libm::erfc(y / core::f64::consts::SQRT_2))) * density
        };
        let (steps, end) = (4000, beta + 14.0);
        let h = end / f64::from(steps);
        // At y = 0 nothing survives: log1p(−1) is −∞ and the integrand its density, as it should be.
        let inner: f64 = (1..steps).map(|i| missing(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        let integral = (missing(0.0) + inner + missing(end)) * h / 3.0;
        libm::log1p(-(0.5 * libm::erfc(beta / core::f64::consts::SQRT_2) + integral))
    }

    #[test]
    fn the_table_of_neighbours_is_the_integral_of_the_source_and_holds_between_its_points() {
        for (quarter, in_table) in NEIGHBOURS.iter().enumerate() {
            let beta = quarter as f64 / 4.0;
            let alone = libm::log1p(-0.5 * libm::erfc(beta / 2.0));
            let exact = ln_survival_of_a_half(beta) / alone;
            assert!((exact - in_table).abs() < 1e-5, "β = {beta}: {exact}");
            let between = beta + 0.125;
            let exact = ln_survival_of_a_half(between) / libm::log1p(-0.5 * libm::erfc(between / 2.0));
            assert!((neighbours(between) / exact - 1.0).abs() < 1e-3, "β = {between}: {exact}");
        }
        // Without energy 1 of 16 is right: ln 16 / ln 2 = 4.
        assert_eq!(NEIGHBOURS[0], 4.0);
    }

    #[test]
    fn bit_error_rates_worked_by_hand() {
        // 1 Mb/s at Eb/N0 = 10, a SINR of 10/22: ½ e^−10 = 2.270·10⁻⁵.
        assert!((dbpsk(10.0 / 22.0) + 2.270_0e-5).abs() < 1e-9);
        // 2 Mb/s at Eb/N0 = 10, a SINR of 10/11: 2.41421 / √(35.5431 · 10) = 0.128055; e^−5.85786 = 2.85735·10⁻³;
        // their product is 3.6590·10⁻⁴, and −ln(1 − that) 3.6597·10⁻⁴.
        assert!((dqpsk(10.0 / 11.0) + 3.659_7e-4).abs() < 1e-8);
        // No signal: a bit is guessed.
        assert_eq!(dbpsk(0.0), -core::f64::consts::LN_2);
        assert_eq!(dqpsk(0.0), -core::f64::consts::LN_2);
        // 5.5 Mb/s: 1 of 16 symbols, 4 bits each; 11 Mb/s: 1 of 256, 8 bits each.
        assert_eq!(payload(2, 0.0), -core::f64::consts::LN_2);
        assert_eq!(payload(3, 0.0), -core::f64::consts::LN_2);
    }

    #[test]
    fn where_cck_loses_nothing_a_frame_of_a_hundred_thousand_bits_rounds_to_certainty() {
        // e = 104: a SINR of 13 at 5.5 Mb/s and 26 at 11 Mb/s.
        for (mcs, sinr) in [(2, 13.0), (3, 26.0)] {
            let before = payload(mcs, sinr * (1.0 - 1e-9));
            assert!(before < 0.0 && libm::exp(before * 1e5) == 1.0, "{before}");
            assert_eq!(payload(mcs, sinr), 0.0);
        }
    }
}
