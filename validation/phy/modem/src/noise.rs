//! Random bits and Gaussian noise.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// One generator for a whole point of a curve.
#[derive(Debug)]
pub struct Random {
    source: Pcg64Mcg,
    spare: Option<f32>,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { source: Pcg64Mcg::seed_from_u64(seed), spare: None }
    }

    /// Overwrites with independent fair bits.
    pub fn bits(&mut self, bits: &mut [u8]) {
        for chunk in bits.chunks_mut(64) {
            let word = self.source.next_u64();
            chunk.iter_mut().enumerate().for_each(|(i, bit)| *bit = (word >> i & 1) as u8);
        }
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f32 {
        (self.source.next_u64() >> 40) as f32 * (1.0 / 16_777_216.0)
    }

    /// Standard normal, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f32 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let word = self.source.next_u64();
            let half = |word: u64| (word as u32 as i32) as f32 * (1.0 / 2_147_483_648.0);
            let (u, v) = (half(word), half(word >> 32));
            let square = u * u + v * v;
            if square < 1.0 && square > 0.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }

    /// Adds noise of that standard deviation.
    pub fn add(&mut self, deviation: f32, values: &mut [f32]) {
        values.iter_mut().for_each(|value| *value += deviation * self.normal());
    }
}
