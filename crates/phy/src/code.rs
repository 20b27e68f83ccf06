//! Block codes over the bits of a PSDU: forward error correction beside that of the modulation.

use core::num::NonZeroU16;
use units::Bytes;

/// A binary block code: each k bits travel as n, and up to t wrong ones of these n are mended, such as those of Bose, Chaudhuri and
/// Hocquenghem. The last block is filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockCode {
    /// Not zero, so that `Option<BlockCode>` is no larger: every frame has one.
    n: NonZeroU16,
    k: u16,
    t: u8,
}

impl BlockCode {
    /// The code with these parameters. `None` if there is none: k is 0 or more than n, or t errors of n bits have more patterns than
    /// n - k check bits can tell apart (the Hamming bound, which is necessary and not sufficient).
    pub fn new(n: u16, k: u16, t: u8) -> Option<BlockCode> {
        let has_room = 0 < k && k <= n && u16::from(t) <= n;
        // log2 of the number of patterns of up to t errors, in parts of 2^(n - k) so that nothing overflows.
        let checks = f64::from(n.saturating_sub(k));
        let patterns: f64 = (0..=t).map(|i| libm::exp2(log2_choose(n, u16::from(i)) - checks)).sum();
        (has_room && patterns <= 1.0 + 1e-9).then_some(BlockCode { n: NonZeroU16::new(n)?, k, t })
    }

    /// Bits that `payload` has on the air.
    pub fn bits(self, payload: Bytes) -> u64 {
        self.blocks(payload) * u64::from(self.n.get())
    }

    /// Blocks that `payload` fills.
    pub fn blocks(self, payload: Bytes) -> u64 {
        payload.bits().div_ceil(u64::from(self.k))
    }

    /// Probability that `payload` survives bits that err independently with probability `ber`: that every block has at most t wrong
    /// ones.
    pub fn survival(self, payload: Bytes, ber: f64) -> f64 {
        if ber <= 0.0 {
            return 1.0;
        }
        if ber >= 1.0 {
            return if u16::from(self.t) < self.n.get() { 0.0 } else { 1.0 };
        }
        // The binomial distribution, term by term: C(n, i + 1) / C(n, i) = (n - i) / (i + 1).
        let odds = ber / (1.0 - ber);
        let mut term = libm::exp(f64::from(self.n.get()) * libm::log1p(-ber));
        let mut sum = term;
        for i in 0..u16::from(self.t) {
            term *= odds * f64::from(self.n.get() - i) / f64::from(i + 1);
            sum += term;
        }
        libm::pow(sum.min(1.0), self.blocks(payload) as f64)
    }
}

/// log2 of n over i.
fn log2_choose(n: u16, i: u16) -> f64 {
    (0..i).map(|j| libm::log2(f64::from(n.saturating_sub(j)) / f64::from(j + 1))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(n: u16, k: u16, t: u8) -> BlockCode {
        BlockCode::new(n, k, t).expect("there is such a code")
    }

    #[test]
    fn codes_beyond_the_hamming_bound_do_not_exist() {
        // The Hamming code (7, 4): 1 + 7 = 8 patterns, 3 check bits: it meets the bound. The Golay code (23, 12): 1 + 23 + 253 + 1771 =
        // 2048 = 2^11.
        assert!(BlockCode::new(7, 4, 1).is_some() && BlockCode::new(23, 12, 3).is_some());
        assert!(BlockCode::new(7, 4, 2).is_none() && BlockCode::new(23, 12, 4).is_none());
        assert!(BlockCode::new(7, 5, 1).is_none(), "8 patterns, 2 check bits");
        assert!(BlockCode::new(255, 223, 4).is_some(), "BCH; 1.7e8 patterns of 4.3e9");
        assert!(BlockCode::new(255, 223, 5).is_none(), "8.7e9 patterns");
        assert!(BlockCode::new(8, 8, 0).is_some(), "no check bits, nothing mended");
        for (n, k, t) in [(7, 0, 0), (7, 8, 0), (0, 0, 0), (4, 1, 5)] {
            assert!(BlockCode::new(n, k, t).is_none());
        }
    }

    #[test]
    fn the_last_block_is_filled_up() {
        // 1536 B are 12288 bits: 55.1 blocks of 223, so 56, 14280 bits on the air.
        assert_eq!((code(255, 223, 4).blocks(Bytes(1536)), code(255, 223, 4).bits(Bytes(1536))), (56, 14_280));
        assert_eq!(code(7, 4, 1).bits(Bytes(1)), 14);
        assert_eq!(code(8, 8, 0).bits(Bytes(1536)), 12_288);
    }

    #[test]
    fn survival_is_the_binomial_worked_by_hand() {
        // (7, 4, 1) at 0.1: 0.9^7 + 7 * 0.1 * 0.9^6 = 0.4782969 + 0.3720087 = 0.8503056; a byte is two blocks: 0.7230196.
        let hamming = code(7, 4, 1);
        assert!((hamming.survival(Bytes(1), 0.1) - 0.850_305_6 * 0.850_305_6).abs() < 1e-12);
        // A code that mends nothing: (1 - ber)^bits.
        assert!((code(8, 8, 0).survival(Bytes(3), 0.01) - libm::pow(0.99, 24.0)).abs() < 1e-12);
        assert_eq!((hamming.survival(Bytes(100), 0.0), hamming.survival(Bytes(100), 1.0)), (1.0, 0.0));
        // Worse channels, worse chances.
        let chances: Vec<f64> =
            (1..50).map(|i| code(255, 223, 4).survival(Bytes(1536), f64::from(i) * 2e-4)).collect();
        assert!(chances.windows(2).all(|pair| pair[1] < pair[0]), "{chances:?}");
    }
}
