//! The symbols that LDPC needs for a PPDU: the rule by which it is encoded. @80211-2020 19.3.11.7.5, 21.3.10.5.4; HE: 802.11ax-2021
//! 27.3.12.5.2
//!
//! The bits of a PPDU are divided among codewords of 648, 1296 or 1944 bits. Information bits
//! that a codeword lacks are zeros that are not sent (shortening); parity bits that the symbols have no room for are left out
//! (puncturing). If too many would have to be left out, the PPDU gets a symbol more.
//!
//! - **Departs** in nothing that a duration shows. HE counts quarters of its last symbol: if less than all of it is filled, what more
//!   LDPC needs fits behind it.

/// The numbers of a mode that the rule needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ldpc {
    /// N_DBPS.
    pub n_dbps: u32,
    /// N_CBPS.
    pub n_cbps: u32,
    /// q of the code rate q / (q + 1): 1, 2, 3 or 5.
    pub q: u8,
    /// The bits that codewords are made for are those of whole symbols (VHT, HE), or of the PPDU itself (HT).
    pub fills_symbols: bool,
    /// So many data bits in the last symbol leave it room for more coded ones: three quarters of it for HE, none for HT and VHT.
    pub spare_up_to: u32,
}

impl Ldpc {
    /// 1 if a PPDU with so many service and data bits needs a symbol more than the `symbols` that carry these, else 0.
    pub fn extra_symbols(&self, bits: u64, symbols: u64) -> u64 {
        let [n_dbps, n_cbps, spare] = [self.n_dbps, self.n_cbps, self.spare_up_to].map(u64::from);
        let in_last = bits - (symbols - 1) * n_dbps;
        if in_last <= spare {
            return 0;
        }
        let (n_pld, n_avbits) = (if self.fills_symbols { symbols * n_dbps } else { bits }, symbols * n_cbps);
        let q = u64::from(self.q);
        let (n_cw, l_ldpc) = codewords(n_pld, n_avbits, q);
        let parity = n_cw * (l_ldpc / (q + 1));
        let n_shrt = (parity * q).saturating_sub(n_pld);
        let n_punc = (n_cw * l_ldpc).saturating_sub(n_avbits + n_shrt);
        let is_much = 10 * n_punc > parity && 10 * n_shrt < 12 * n_punc * q;
        u64::from(is_much || 10 * n_punc > 3 * parity)
    }
}

/// Codewords and the length of each. @80211-2020 table 19-16
fn codewords(n_pld: u64, n_avbits: u64, q: u64) -> (u64, u64) {
    // Whether the symbols have room for so many bits · (1 − R) more than the payload.
    let has_room = |bits: u64| n_avbits >= n_pld + bits / (q + 1);
    match n_avbits {
        ..=648 => (1, if has_room(912) { 1296 } else { 648 }),
        649..=1296 => (1, if has_room(1464) { 1944 } else { 1296 }),
        1297..=1944 => (1, 1944),
        1945..=2592 => (2, if has_room(2916) { 1944 } else { 1296 }),
        _ => (n_pld.div_ceil(1944 / (q + 1) * q), 1944),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ieee_s_example_worked_by_hand() {
        // 100 octets in HT MCS 4, 20 MHz (16-QAM 3/4): N_pld = 816, 6 symbols, N_avbits = 1248: one codeword. 816 + 1464 / 4 = 1182 is
        // less: 1944 bits, 1458 of information, 486 of parity. N_shrt = 642, N_punc = 1944 - 1248 - 642 = 54. 540 > 486, but 6420 is not
        // below 12 · 54 · 3 = 1944. No more symbols. @80211-2020 annex I, example of LDPC
        let mcs4 = Ldpc { n_dbps: 156, n_cbps: 208, q: 3, fills_symbols: false, spare_up_to: 0 };
        assert_eq!((codewords(816, 1248, 3), mcs4.extra_symbols(816, 6)), ((1, 1944), 0));
    }
}
