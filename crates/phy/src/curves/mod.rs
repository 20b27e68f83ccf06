//! Error curves: how likely a run of bits survives a constant SINR.
//!
//! `dsss.rs` has the rates of clauses 15 and 16, `ofdm.rs` those of 17 and 18. Both take the SINR over the bandwidth of
//! their own channel ([`bandwidth`]). A curve gives the survival of one bit (of one symbol, for CCK), and a run survives
//! with its power: pieces of a frame multiply, whatever they are cut into. Gaussian noise; interference counts as noise.
//!
//! Leaves out: channel estimation, synchronisation and the error propagation of the descrambler.

mod dsss;
mod ofdm;

use crate::standard::Standard;
use crate::tx_vector::{Format, Mode, Preamble};
use units::{Dur, Hertz};

/// A part of a frame that has a rate and a modulation of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// SYNC and SFD: DBPSK at 1 Mb/s, whichever the preamble (@80211-2020 16.2.3). OFDM: training symbols, no bits.
    Preamble,
    /// The PLCP header: DBPSK at 1 Mb/s after a long preamble, DQPSK at 2 Mb/s after a short one (@80211-2020
    /// 16.2.2.2, 16.2.2.3). OFDM: SIGNAL, 24 bits at 6 Mb/s in either case (@80211-2020 17.3.4).
    Header,
    /// What follows, at the frame's rate.
    Payload,
}

/// How long preamble and header of a frame last, in this order; the payload has the rest. @80211-2020 16.2.2, table 17-5
pub fn front(mode: Mode) -> [(Part, Dur); 2] {
    let (preamble_us, header_us) = match (mode.format, mode.preamble) {
        (Format::Dsss, Preamble::Short) => (72, 24),
        (Format::Dsss, Preamble::Long) => (144, 48),
        (Format::Ofdm | Format::ErpOfdm, _) => (16, 4),
    };
    [(Part::Preamble, Dur::from_us(preamble_us)), (Part::Header, Dur::from_us(header_us))]
}

/// Silence counted in a frame's airtime behind its last symbol: 6 µs of signal extension in ERP-OFDM, else none.
/// @80211-2020 18.3.2.4
pub const fn silent_end(mode: Mode) -> Dur {
    match mode.format {
        Format::ErpOfdm => Dur::from_us(6),
        Format::Dsss | Format::Ofdm => Dur::ZERO,
    }
}

/// Bits in that much of a part: a fraction, if it ends within one.
pub fn bits(mode: Mode, part: Part, span: Dur) -> f64 {
    let bps = match (part, mode.format) {
        (Part::Payload, _) => mode.bit_rate().bps() as f64,
        (Part::Preamble, Format::Dsss) => 1e6,
        (Part::Header, Format::Dsss) => {
            if mode.preamble == Preamble::Short {
                2e6
            } else {
                1e6
            }
        }
        (Part::Preamble, _) => 0.0,
        (Part::Header, _) => 6e6,
    };
    bps * span.ns() as f64 / 1e9
}

/// The bandwidth over which a standard's curves count noise and interference: 22 MHz for DSSS and CCK (@PEI09), 20 MHz
/// for OFDM. In 802.11g one receiver hears both: 20 MHz, with which the DSSS rates do 0.4 dB better than in 802.11b.
pub const fn bandwidth(standard: Standard) -> Hertz {
    match standard {
        Standard::Dsss | Standard::B => Hertz(22e6),
        Standard::A | Standard::G => Hertz(20e6),
    }
}

/// Natural logarithm of the probability that so many bits of a part survive a SINR (a ratio, not dB): 0 for no bits,
/// −∞ where the curve leaves no hope. A SINR that is negative or no number counts as 0.
///
/// Additive in `bits`: the pieces of a run add up to the run. Costs 1 to 3 ns where nothing is lost and 20 to 130 ns
/// where something may be; allocates nothing.
pub fn ln_survival(mode: Mode, part: Part, sinr: f64, bits: f64) -> f64 {
    // Also for 0 · −∞, which is no number.
    if bits.is_nan() || bits <= 0.0 {
        return 0.0;
    }
    let sinr = sinr.max(0.0);
    let per_bit = match (mode.format, part) {
        (Format::Dsss, Part::Preamble) => dsss::dbpsk(sinr),
        (Format::Dsss, Part::Header) if mode.preamble == Preamble::Short => dsss::dqpsk(sinr),
        (Format::Dsss, Part::Header) => dsss::dbpsk(sinr),
        (Format::Dsss, Part::Payload) => dsss::payload(mode.mcs, sinr),
        (_, Part::Preamble) => return 0.0,
        (_, Part::Header) => ofdm::signal(sinr),
        (_, Part::Payload) => ofdm::payload(mode.mcs, sinr),
    };
    per_bit * bits
}
