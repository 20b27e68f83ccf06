//! A hash over what a layer did, in order: two runs that agree did the same.

/// A running 64-bit hash of words. Not cryptographic; a difference anywhere changes it with near certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Takes in one word.
    pub fn add(&mut self, word: u64) {
        // Multiply and fold, so that high bits reach low ones before the next word comes.
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ ((product >> 64) as u64).wrapping_add(0xf39c_c060_5ced_c835);
    }

    /// The hash so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_every_bit_matter() {
        let of = |words: &[u64]| {
            let mut print = Fingerprint::default();
            words.iter().for_each(|&w| print.add(w));
            print.value()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[]));
        let base = of(&[42, 7]);
        for bit in 0..64 {
            assert_ne!(of(&[42 ^ (1 << bit), 7]), base);
        }
    }
}
