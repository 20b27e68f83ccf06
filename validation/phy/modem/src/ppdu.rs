//! How many bits a PPDU has where: symbols, pads, and LDPC's shortening, puncturing and repetition.
//!
//! 19.3.11.7.5 with tables 19-15 and 19-16; VHT 21.3.10.5.4; HE 802.11ax-2021 27.3.12.5. One stream, one user, no STBC.

use crate::bcc::TAIL;
use crate::{Coding, Mcs, Rate};

/// Bits of SERVICE.
pub const SERVICE: usize = 16;

/// A format in a channel width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    pub kind: Kind,
    /// N_SD: data subcarriers.
    pub n_sd: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ht,
    Vht,
    /// With N_SD,short: data subcarriers in a quarter of a symbol.
    He {
        n_sd_short: usize,
    },
}

/// HT in 20 MHz.
pub const HT20: Format = Format { kind: Kind::Ht, n_sd: 52 };
/// VHT in 20 MHz.
pub const VHT20: Format = Format { kind: Kind::Vht, n_sd: 52 };
/// HE in 20 MHz: a resource unit of 242 tones.
pub const HE20: Format = Format { kind: Kind::He { n_sd_short: 60 }, n_sd: 234 };

/// The data field of a PPDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// N_CBPS: coded bits of a symbol.
    pub n_cbps: usize,
    pub n_sym: usize,
    /// N_pld: SERVICE, PSDU and pad bits before coding; of BCC the tail too.
    pub n_pld: usize,
    /// N_avbits: coded bits that are sent.
    pub n_avbits: usize,
    /// HE: quarters of the last symbol that are used, before LDPC's extra symbol segment; 0 in other formats.
    pub a_init: usize,
    /// LDPC's, `None` of BCC.
    pub words: Option<Words>,
}

/// The codewords of a PPDU. Each sort of bits is spread evenly over them, what remains over the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    pub count: usize,
    /// L_LDPC: bits of a codeword.
    pub len: usize,
    /// Zeros behind the data bits, not sent.
    pub shortened: usize,
    /// Parity bits that are not sent.
    pub punctured: usize,
    /// Bits that are sent again.
    pub repeated: usize,
}

impl Words {
    /// So many of a sort in codeword `i`.
    pub fn share(self, total: usize, i: usize) -> usize {
        total / self.count + usize::from(i < total % self.count)
    }
}

/// The layout of a PSDU of so many octets.
pub fn layout(format: Format, coding: Coding, mcs: Mcs, octets: usize) -> Layout {
    let n_cbps = format.n_sd * mcs.bits;
    let n_dbps = mcs.rate.of(n_cbps);
    let tail = if coding == Coding::Bcc { TAIL } else { 0 };
    let bits = SERVICE + 8 * octets + tail;
    let symbols = bits.div_ceil(n_dbps);
    let (mut n_pld, mut n_avbits, mut a_init) = (symbols * n_dbps, symbols * n_cbps, 0);
    let mut segment = n_cbps;
    match format.kind {
        // LDPC fills by shortening, not by pads.
        Kind::Ht if coding == Coding::Ldpc => n_pld = bits,
        Kind::Ht | Kind::Vht => {}
        Kind::He { n_sd_short } => {
            let short_cbps = n_sd_short * mcs.bits;
            let short_dbps = mcs.rate.of(short_cbps);
            let excess = bits % n_dbps;
            a_init = if excess == 0 { 4 } else { excess.div_ceil(short_dbps).min(4) };
            if a_init < 4 {
                n_pld = (symbols - 1) * n_dbps + a_init * short_dbps;
                n_avbits = (symbols - 1) * n_cbps + a_init * short_cbps;
            }
            segment = if a_init == 3 { n_cbps - 3 * short_cbps } else { short_cbps };
        }
    }
    let words = (coding == Coding::Ldpc).then(|| words(mcs.rate, n_pld, segment, &mut n_avbits));
    Layout { n_cbps, n_sym: n_avbits.div_ceil(n_cbps), n_pld, n_avbits, a_init, words }
}

/// Codewords for so many bits; `n_avbits` grows by an extra symbol (HE: segment) if too much would be punctured.
fn words(rate: Rate, n_pld: usize, segment: usize, n_avbits: &mut usize) -> Words {
    let fits = |least: usize, short, long| if *n_avbits >= n_pld + least / rate.coded { long } else { short };
    let redundant = rate.coded - rate.data;
    let (count, len) = match *n_avbits {
        ..=648 => (1, fits(912 * redundant, 648, 1296)),
        649..=1296 => (1, fits(1464 * redundant, 1296, 1944)),
        1297..=1944 => (1, 1944),
        1945..=2592 => (2, fits(2916 * redundant, 1296, 1944)),
        _ => (n_pld.div_ceil(rate.of(1944)), 1944),
    };
    let (all, parity) = (count * len, count * (len - rate.of(len)));
    let shortened = rate.of(all).saturating_sub(n_pld);
    let punctured = |n_avbits: usize| all.saturating_sub(n_avbits + shortened);
    let n_punc = punctured(*n_avbits);
    let is_short_of_zeros = 10 * shortened * redundant < 12 * n_punc * rate.data;
    if 10 * n_punc > parity && is_short_of_zeros || 10 * n_punc > 3 * parity {
        *n_avbits += segment;
    }
    let repeated = n_avbits.saturating_sub(parity + n_pld);
    Words { count, len, shortened, punctured: punctured(*n_avbits), repeated }
}
