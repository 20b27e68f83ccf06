//! Gray QAM, BPSK to 1024-QAM, and its max-log LLRs. 17.3.5.8, 21.3.10.9; 802.11ax-2021 27.3.12.9

/// A constellation: the first half of its bits gives I, the second Q (BPSK has I alone). Levels are odd numbers, lowest for all zeros.
#[derive(Debug)]
pub struct Qam {
    /// Bits of one axis.
    half: usize,
    axes: usize,
    /// The level of a word of bits, the first bit highest.
    levels: Vec<f32>,
    /// By place of a level from the lowest on, then by bit: its value there, and the nearest levels with the other value, below and above.
    others: Vec<Other>,
}

#[derive(Debug, Clone, Copy)]
struct Other {
    bit: u8,
    below: f32,
    above: f32,
}

/// A level that is nearest to nothing.
const NOWHERE: f32 = 1e4;

impl Qam {
    /// With so many bits a subcarrier.
    pub fn new(bits: usize) -> Self {
        let (axes, half) = if bits == 1 { (1, 1) } else { (2, bits / 2) };
        let size = 1_usize << half;
        let gray = |place: usize| place ^ place >> 1;
        let level = |place: usize| (2 * place + 1) as f32 - size as f32;
        let mut levels = vec![0.0; size];
        (0..size).for_each(|place| levels[gray(place)] = level(place));
        let bit_at = |place: usize, bit: usize| (gray(place) >> (half - 1 - bit) & 1) as u8;
        let other = |place: usize, bit: usize| {
            let value = bit_at(place, bit);
            let differs = |&other: &usize| bit_at(other, bit) != value;
            Other {
                bit: value,
                below: (0..place).rev().find(differs).map_or(-NOWHERE, level),
                above: (place..size).find(differs).map_or(NOWHERE, level),
            }
        };
        let others = (0..size).flat_map(|place| (0..half).map(move |bit| other(place, bit))).collect();
        Self { half, axes, levels, others }
    }

    /// Bits a subcarrier.
    pub fn bits(&self) -> usize {
        self.half * self.axes
    }

    /// Levels a subcarrier: 1 for BPSK, 2 otherwise.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// Standard deviation of the noise of one axis, in units of half a level's distance, at E_s/N0 `snr` (a ratio): √(E_s / 2 snr).
    pub fn deviation(&self, snr: f64) -> f32 {
        let mean = self.levels.iter().map(|level| level * level).sum::<f32>() / self.levels.len() as f32;
        (self.axes as f64 * f64::from(mean) / (2.0 * snr)).sqrt() as f32
    }

    /// The levels of these bits, axis by axis.
    pub fn map(&self, bits: &[u8], levels: &mut Vec<f32>) {
        let word = |bits: &[u8]| bits.iter().fold(0, |word, &bit| word << 1 | usize::from(bit));
        levels.clear();
        levels.extend(bits.chunks_exact(self.half).map(|bits| self.levels[word(bits)]));
    }

    /// Max-log LLRs, positive for a 0, in units of the distances' squares (the scale is the same for all, and no decoder here needs it):
    /// the squared distance to the nearest 1 less that to the nearest 0.
    pub fn demap(&self, received: &[f32], llrs: &mut Vec<f32>) {
        llrs.clear();
        let size = self.levels.len();
        for &y in received {
            let place = (((y + size as f32) * 0.5).max(0.0) as usize).min(size - 1);
            let nearest = y - ((2 * place + 1) as f32 - size as f32);
            for other in &self.others[place * self.half..][..self.half] {
                let (below, above) = (y - other.below, other.above - y);
                let distance = (below * below).min(above * above) - nearest * nearest;
                llrs.push(if other.bit == 0 { distance } else { -distance });
            }
        }
    }
}
