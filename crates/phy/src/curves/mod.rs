//! Error curves: how likely a run of bits survives a constant SINR.
//!
//! Each format has its own ([`Format::survival`](crate::Format)); [`nist`] is what those of OFDM have in common, [`awgn`] those of HT, VHT and HE. All take
//! the SINR over the bandwidth of their own channel ([`bandwidth`]). A curve gives the survival of one bit (of one symbol, for CCK), and a run
//! survives with its power: pieces of a frame multiply, whatever they are cut into. Gaussian noise; interference counts as noise, or as [`interference`] says.
//!
//! Leaves out: channel estimation, synchronisation and the error propagation of the descrambler.

pub mod awgn;
pub mod interference;
pub mod nist;

use crate::Mode;
use crate::mode::Front;
use crate::standard::Standard;
use units::{Dur, Hertz};

/// A part of a frame that has a rate and a modulation of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Synchronisation. DSSS: SYNC and SFD, DBPSK at 1 Mb/s, whichever the preamble (@80211-2020 16.2.3). OFDM: training symbols, no
    /// bits.
    Preamble,
    /// DSSS: the PLCP header, DBPSK at 1 Mb/s after a long preamble, DQPSK at 2 Mb/s after a short one (@80211-2020 16.2.2.2,
    /// 16.2.2.3). OFDM: SIGNAL, 24 bits at 6 Mb/s in either case (@80211-2020 17.3.4).
    Header,
    /// Training fields behind the header, without bits: HT-STF and HT-LTFs (@80211-2020 19.3.9.4). No legacy frame has them.
    Training,
    /// The rest, at the frame's rate.
    Payload,
}

/// Durations of the parts before the payload, in order; the payload has the rest.
pub fn front(mode: Mode) -> [(Part, Dur); 3] {
    let Front { preamble, header, training, .. } = mode.front;
    [(Part::Preamble, preamble), (Part::Header, header), (Part::Training, training)]
}

/// Bits in that much of a part: a fraction, if it ends within one.
pub fn bits(mode: Mode, part: Part, span: Dur) -> f64 {
    let symbols = &mode.symbols;
    let bps = match part {
        Part::Preamble => mode.front.preamble_rate.bps() as f64,
        Part::Header => mode.front.header_rate.bps() as f64,
        Part::Training => 0.0,
        // The nominal rate of a mode with a short guard interval is rounded.
        Part::Payload => symbols.bits_in_two.get() as f64 * 1e9 / (2 * symbols.lasts.ns()) as f64,
    };
    bps * span.ns() as f64 / 1e9
}

/// The bandwidth over which a standard's curves count noise and interference: 22 MHz for DSSS and CCK (@PEI09), 20 MHz
/// for OFDM, of wider PPDUs their primary channel. In 802.11g one receiver hears both: 20 MHz, with which the DSSS rates do 0.4 dB
/// better than in 802.11b.
pub const fn bandwidth(standard: Standard) -> Hertz {
    match standard {
        Standard::Dsss | Standard::B => Hertz(22e6),
        _ => Hertz(20e6),
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
    (mode.format.survival)(mode, part, sinr.max(0.0)) * bits
}
