//! The binary convolutional code: generators 133 and 171, punctured, soft Viterbi decoding. 17.3.5.6, 19.3.11.6
//!
//! A state is the last six bits, the newest lowest. Both generators tap the newest and the oldest bit, so that of the four branches of a
//! butterfly (states `j`, `j + 32` to `2 j`, `2 j + 1`) two have the opposite output of the other two.

use crate::Rate;

/// Bits of memory, and of the tail that empties it.
pub const TAIL: usize = 6;
const STATES: usize = 1 << TAIL;
/// Taps from the newest bit (lowest) to the oldest: 133 = 1011011, 171 = 1111001, mirrored.
const A: usize = 0b110_1101;
const B: usize = 0b100_1111;

fn parity(word: usize) -> u8 {
    (word.count_ones() & 1) as u8
}

/// The bits that are sent of a period: of each input bit, whether A's and B's are. 17.3.5.6, 19.3.11.6
fn puncturing(rate: Rate) -> &'static [(bool, bool)] {
    match rate {
        Rate::HALF => &[(true, true)],
        Rate::TWO_THIRDS => &[(true, true), (true, false)],
        Rate::THREE_QUARTERS => &[(true, true), (true, false), (false, true)],
        Rate::FIVE_SIXTHS => &[(true, true), (true, false), (false, true), (true, false), (false, true)],
        _ => unreachable!("BCC has four rates"),
    }
}

/// The coded bits of these data bits, from state 0.
pub fn encode(rate: Rate, data: &[u8], coded: &mut Vec<u8>) {
    coded.clear();
    let mut register = 0;
    for (&bit, &(a, b)) in data.iter().zip(puncturing(rate).iter().cycle()) {
        register = (register << 1 | usize::from(bit)) & (2 * STATES - 1);
        if a {
            coded.push(parity(register & A));
        }
        if b {
            coded.push(parity(register & B));
        }
    }
}

/// Steps of the trellis that a decision looks ahead: 2.5 (K − 1) / (1 − R), which is 30 at rate 1/2 (B. Moision, "A truncation depth rule
/// of thumb for convolutional codes", ITA 2008).
pub fn traceback(rate: Rate) -> usize {
    (5 * TAIL * rate.coded).div_ceil(2 * (rate.coded - rate.data))
}

/// A soft Viterbi decoder with a finite traceback, as receivers have it: a bit is decided by the best path some steps later. The
/// last ones are decided from the end, which is state 0.
#[derive(Debug)]
pub struct Viterbi {
    rate: Rate,
    traceback: usize,
    /// Of the branch from state j to 2 j: 1 for an output of 0, −1 for 1.
    signs: [[f32; STATES / 2]; 2],
    /// Of each step and state: whether the better predecessor is the upper one, j + 32.
    upper: Vec<[u8; STATES]>,
    /// The states of the best path, as far back as it was last followed; older ones are those of the best path then.
    path: Vec<u8>,
}

impl Viterbi {
    /// With a traceback of so many steps, usually [`traceback`].
    pub fn new(rate: Rate, traceback: usize) -> Self {
        let sign = |taps: usize, j: usize| if parity((2 * j) & taps) == 0 { 1.0 } else { -1.0 };
        let signs = [A, B].map(|taps| std::array::from_fn(|j| sign(taps, j)));
        Self { rate, traceback, signs, upper: Vec::new(), path: Vec::new() }
    }

    /// The data bits, the tail with them. An LLR is positive for a 0; its scale is free.
    pub fn decode(&mut self, llrs: &[f32], data: &mut [u8]) {
        let mut metrics = [f32::MIN / 2.0; STATES];
        metrics[0] = 0.0;
        self.upper.resize(data.len(), [0; STATES]);
        self.path.clear();
        self.path.resize(data.len(), NOBODY);
        let mut next = llrs.iter().copied();
        let mut take = |is_sent: bool| if is_sent { next.next().expect("an LLR for each coded bit") } else { 0.0 };
        for (step, &(a, b)) in (0..data.len()).zip(puncturing(self.rate).iter().cycle()) {
            let (a, b) = (take(a), take(b));
            metrics = advance(&self.signs, &metrics, a, b, &mut self.upper[step]);
            let (state, best) = best(&metrics);
            if step % 64 == 63 {
                // Metrics stay small enough for their 24 bits.
                metrics.iter_mut().for_each(|metric| *metric -= best);
            }
            if let Some(decided) = (step + 1).checked_sub(self.traceback) {
                self.follow(step, decided, state);
                data[decided] = self.path[decided] & 1;
            }
        }
        let rest = (data.len() + 1).saturating_sub(self.traceback);
        if let Some(last) = data.len().checked_sub(1) {
            self.follow(last, rest, 0);
        }
        data[rest..].iter_mut().zip(&self.path[rest..]).for_each(|(bit, state)| *bit = state & 1);
    }

    /// Follows the path that ends in a state after step `from`, back to step `to` or to where it joins the one followed before.
    fn follow(&mut self, from: usize, to: usize, mut state: usize) {
        for step in (to..=from).rev() {
            if usize::from(self.path[step]) == state {
                return;
            }
            self.path[step] = state as u8;
            state = state >> 1 | usize::from(self.upper[step][state]) << 5;
        }
    }
}

/// No state.
const NOBODY: u8 = u8::MAX;

/// As `f32::max`, but one instruction: no metric is NaN.
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The best state and its metric.
fn best(metrics: &[f32; STATES]) -> (usize, f32) {
    let mut lanes = [f32::MIN; 8];
    for chunk in metrics.chunks_exact(lanes.len()) {
        lanes.iter_mut().zip(chunk).for_each(|(lane, metric)| *lane = greater(*lane, *metric));
    }
    let best = lanes.into_iter().fold(f32::MIN, greater);
    (metrics.iter().position(|metric| *metric == best).unwrap_or(0), best)
}

/// One step of the trellis: the metrics behind it, and which predecessor each state took.
fn advance(
    signs: &[[f32; STATES / 2]; 2],
    metrics: &[f32; STATES],
    a: f32,
    b: f32,
    upper: &mut [u8; STATES],
) -> [f32; STATES] {
    let (low, high) = metrics.split_at(STATES / 2);
    let mut out = [[0.0; 2]; STATES / 2];
    for j in 0..STATES / 2 {
        let branch = signs[0][j] * a + signs[1][j] * b;
        let zero = (low[j] + branch, high[j] - branch);
        let one = (low[j] - branch, high[j] + branch);
        out[j] = [greater(zero.0, zero.1), greater(one.0, one.1)];
        upper[2 * j] = u8::from(zero.1 > zero.0);
        upper[2 * j + 1] = u8::from(one.1 > one.0);
    }
    std::array::from_fn(|state| out[state / 2][state % 2])
}
