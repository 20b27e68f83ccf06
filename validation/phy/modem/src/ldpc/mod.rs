//! The LDPC codes of 648, 1296 and 1944 bits: encoding by back substitution, decoding by normalised min-sum.
//!
//! 19.3.11.7, Annex F. A codeword is its data bits, then its parity bits. A layer is one row of the base matrix: its Z checks share no bit,
//! so that they are worked on side by side.
//!
//! All checks answer to the LLRs of the iteration before (flooding).

mod matrices;

use crate::Rate;
use matrices::Base;

/// Iterations before a codeword is given up.
pub const ITERATIONS: usize = 12;
/// What the magnitude of a check's message is multiplied by, since the minimum overrates it.
pub const NORMALISATION: f32 = 0.8;
/// The LLR of a bit that is known.
pub const CERTAIN: f32 = 1e9;

/// Which of the twelve base matrices.
fn base(len: usize, rate: Rate) -> Base {
    let rates = match len {
        648 => [matrices::N648_R1_2, matrices::N648_R2_3, matrices::N648_R3_4, matrices::N648_R5_6],
        1296 => [matrices::N1296_R1_2, matrices::N1296_R2_3, matrices::N1296_R3_4, matrices::N1296_R5_6],
        1944 => [matrices::N1944_R1_2, matrices::N1944_R2_3, matrices::N1944_R3_4, matrices::N1944_R5_6],
        _ => panic!("no LDPC code of {len} bits"),
    };
    match rate {
        Rate::HALF => rates[0],
        Rate::TWO_THIRDS => rates[1],
        Rate::THREE_QUARTERS => rates[2],
        Rate::FIVE_SIXTHS => rates[3],
        _ => panic!("LDPC has four rates"),
    }
}

/// A Z × Z block that is not zero.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The first bit of its column.
    first: usize,
    shift: usize,
}

/// A code with the memory that its decoder needs.
#[derive(Debug)]
pub struct Code {
    len: usize,
    z: usize,
    /// Before a codeword is given up.
    iterations: usize,
    /// Its blocks, by layer.
    layers: Vec<Vec<Block>>,
    /// Messages of the checks to their bits, block by block in order of layers.
    messages: Vec<f32>,
    /// Of one layer: messages of the bits to their checks.
    to_checks: Vec<f32>,
    /// The LLRs of the bits, with what the checks say.
    beliefs: Vec<f32>,
}

impl Code {
    /// With so many iterations at most, usually [`ITERATIONS`].
    pub fn new(len: usize, rate: Rate, iterations: usize) -> Self {
        let z = len / 24;
        let layer = |row: &[i8; 24]| {
            let block = |(column, &shift): (usize, &i8)| {
                usize::try_from(shift).ok().map(|shift| Block { first: column * z, shift })
            };
            row.iter().enumerate().filter_map(block).collect::<Vec<_>>()
        };
        let layers: Vec<_> = base(len, rate).iter().map(layer).collect();
        let widest = layers.iter().map(Vec::len).max().unwrap_or(0);
        let blocks: usize = layers.iter().map(Vec::len).sum();
        Self {
            len,
            z,
            iterations,
            layers,
            messages: vec![0.0; blocks * z],
            to_checks: vec![0.0; widest * z],
            beliefs: vec![0.0; len],
        }
    }

    /// Bits of a codeword.
    pub fn word_len(&self) -> usize {
        self.len
    }

    /// Data bits of a codeword.
    pub fn data_len(&self) -> usize {
        self.len - self.layers.len() * self.z
    }

    /// Appends the parity bits to the data bits.
    ///
    /// The first parity column has three blocks, shifted by 1, 0 and 1; the others are two diagonals. So the sum of all layers leaves the
    /// first block of parity bits alone, and each layer then gives the next block.
    pub fn encode(&self, word: &mut Vec<u8>) {
        let (z, k) = (self.z, self.data_len());
        assert_eq!(word.len(), k, "as many data bits as the code has");
        word.resize(self.len, 0);
        let mut sums = vec![vec![0_u8; z]; self.layers.len()];
        for (sum, layer) in sums.iter_mut().zip(&self.layers) {
            layer.iter().filter(|block| block.first < k).for_each(|block| add(sum, rotated(word, block, z)));
        }
        for sum in &sums {
            sum.iter().zip(&mut word[k..]).for_each(|(bit, parity)| *parity ^= bit);
        }
        for (i, sum) in sums.iter_mut().enumerate().take(self.layers.len() - 1) {
            let next = k + (i + 1) * z;
            let known = self.layers[i].iter().filter(|block| (k..next).contains(&block.first));
            known.for_each(|block| add(sum, rotated(word, block, z)));
            word[next..next + z].copy_from_slice(sum);
        }
    }

    /// True if every check is even.
    pub fn is_codeword(&self, word: &[u8]) -> bool {
        self.layers.iter().all(|layer| {
            let mut sum = [0; MOST_Z];
            layer.iter().for_each(|block| add(&mut sum[..self.z], rotated(word, block, self.z)));
            sum.iter().all(|&bit| bit == 0)
        })
    }

    /// The bits of a codeword from its LLRs (positive for a 0, of any scale), at best; true if they are a codeword.
    pub fn decode(&mut self, llrs: &[f32], word: &mut [u8]) -> bool {
        self.messages.fill(0.0);
        self.beliefs.copy_from_slice(llrs);
        for _ in 0..self.iterations {
            harden(&self.beliefs, word);
            if self.is_codeword(word) {
                return true;
            }
            self.iterate(llrs);
        }
        harden(&self.beliefs, word);
        self.is_codeword(word)
    }

    /// One pass over all checks.
    fn iterate(&mut self, llrs: &[f32]) {
        let z = self.z;
        let before = std::mem::replace(&mut self.beliefs, llrs.to_vec());
        let mut messages = self.messages.as_mut_slice();
        for layer in &self.layers {
            let own;
            (own, messages) = messages.split_at_mut(layer.len() * z);
            let mut least = [f32::MAX; MOST_Z];
            let mut second = [f32::MAX; MOST_Z];
            let mut signs = [0_u32; MOST_Z];
            let (least, second, signs) = (&mut least[..z], &mut second[..z], &mut signs[..z]);
            let checks = self.to_checks.chunks_exact_mut(z);
            for ((block, to_check), message) in layer.iter().zip(checks).zip(own.chunks_exact(z)) {
                let (first, behind) = before[block.first..][..z].split_at(block.shift);
                to_check[..z - block.shift].copy_from_slice(behind);
                to_check[z - block.shift..].copy_from_slice(first);
                for r in 0..z {
                    let value = to_check[r] - message[r];
                    to_check[r] = value;
                    let size = value.abs();
                    // Not f32::min and f32::max, which mind NaN and are slower.
                    let larger = if size > least[r] { size } else { least[r] };
                    second[r] = if larger < second[r] { larger } else { second[r] };
                    least[r] = if size < least[r] { size } else { least[r] };
                    signs[r] ^= value.to_bits();
                }
            }
            let checks = self.to_checks.chunks_exact(z);
            for ((block, to_check), message) in layer.iter().zip(checks).zip(own.chunks_exact_mut(z)) {
                for r in 0..z {
                    let value = to_check[r];
                    let size = if value.abs() == least[r] { second[r] } else { least[r] };
                    let sign = (signs[r] ^ value.to_bits()) & SIGN;
                    message[r] = f32::from_bits((NORMALISATION * size).to_bits() | sign);
                }
                let (behind, first) = message.split_at(z - block.shift);
                let beliefs = &mut self.beliefs[block.first..][..z];
                beliefs[block.shift..].iter_mut().zip(behind).for_each(|(belief, message)| *belief += message);
                beliefs[..block.shift].iter_mut().zip(first).for_each(|(belief, message)| *belief += message);
            }
        }
    }
}

/// The largest Z.
const MOST_Z: usize = 81;
const SIGN: u32 = 1 << 31;

/// The bits of a block's column, in the order of its checks.
fn rotated<'a>(word: &'a [u8], block: &Block, z: usize) -> impl Iterator<Item = &'a u8> {
    let (before, behind) = word[block.first..][..z].split_at(block.shift);
    behind.iter().chain(before)
}

fn add<'a>(sum: &mut [u8], bits: impl Iterator<Item = &'a u8>) {
    sum.iter_mut().zip(bits).for_each(|(sum, bit)| *sum ^= bit);
}

fn harden(llrs: &[f32], word: &mut [u8]) {
    word.iter_mut().zip(llrs).for_each(|(bit, llr)| *bit = u8::from(*llr < 0.0));
}
