//! Random streams: one per (purpose, entity), derived from the seed, so that a new station or a new draw elsewhere
//! changes nobody's numbers.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The purpose of a stream's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Backoff of one contender.
    Backoff = 1,
    /// Frame errors from one station to another.
    FrameError = 2,
    /// The state of a two-state channel.
    ChannelState = 3,
    /// Arrivals of one traffic source.
    Traffic = 4,
    /// Initial sequence numbers, ports, jitter of one transport end.
    Transport = 5,
    /// Positions of nodes.
    Layout = 6,
    /// A scheme's own draws.
    Scheme = 7,
    /// Early drops or marks of a queue.
    Queue = 8,
    /// Losses of one direction of a wired link.
    Link = 9,
    /// Shadowing of one unordered pair of stations.
    Shadowing = 10,
    /// Fading of one unordered pair of stations.
    Fading = 11,
    /// Receptions by one station of another's frames, where their SINR leaves them to chance.
    Reception = 12,
    /// A station's rate control.
    RateControl = 13,
    /// The ends of one flow, if they are drawn.
    Ends = 14,
    /// The delay of one link, if it is drawn.
    Delay = 15,
    /// All streams of a further channel; the first has those of the run.
    Channel = 16,
    /// A node's router: jitter.
    Routing = 17,
    /// A node's way through the plane.
    Mobility = 18,
}

/// The source of all streams of a run.
#[derive(Debug, Clone, Copy)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Streams of `seed`.
    pub fn new(seed: u64) -> Streams {
        Streams { seed }
    }

    /// The stream of `purpose` for `entity`: the same numbers for the same (seed, purpose, entity), wherever asked.
    pub fn get(&self, purpose: Purpose, entity: u64) -> Stream {
        let state = self.name(purpose, entity);
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&state.to_le_bytes());
        seed[8..].copy_from_slice(&mix(state).to_le_bytes());
        Stream(Pcg64Mcg::from_seed(seed))
    }

    /// A source of its own for `entity`, for what needs a stream per (entity, index): no number that fits one word
    /// names both.
    pub fn within(&self, purpose: Purpose, entity: u64) -> Streams {
        Streams { seed: self.name(purpose, entity) }
    }

    fn name(&self, purpose: Purpose, entity: u64) -> u64 {
        // Two rounds of SplitMix64's finaliser over each word: neighbouring seeds and entities share no bit pattern.
        let state = mix(self.seed ^ 0x6a09_e667_f3bc_c908);
        let state = mix(state ^ mix(purpose as u64));
        mix(state ^ mix(entity.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }
}

/// SplitMix64's finaliser (Steele, Lea & Flood, OOPSLA 2014, fig. 16; constants by D. Stafford).
fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One stream of random numbers.
#[derive(Debug, Clone)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// A whole number from 0 to `n` - 1, each equally likely: the widening multiplication of Lemire (ACM TOMACS 2019)
    /// without its rejection step, whose bias for n ≤ 2¹⁶ is below 2⁻⁴⁸.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u32
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`. Draws only if `p` is neither 0 nor 1.
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && (p >= 1.0 || self.unit() < p)
    }

    /// A normally distributed number of mean 0 and deviation 1, by Box and Muller (Ann. Math. Stat. 29, 1958).
    pub fn normal(&mut self) -> f64 {
        libm::sqrt(2.0 * self.exponential()) * libm::cos(core::f64::consts::TAU * self.unit())
    }

    /// An exponentially distributed number of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_gives_the_same_numbers_and_another_gives_others() {
        let draw = |seed, purpose, entity| -> Vec<u32> {
            let mut stream = Streams::new(seed).get(purpose, entity);
            (0..8).map(|_| stream.below(1 << 20)).collect()
        };
        let base = draw(1, Purpose::Backoff, 0);
        assert_eq!(base, draw(1, Purpose::Backoff, 0));
        for other in [draw(2, Purpose::Backoff, 0), draw(1, Purpose::FrameError, 0), draw(1, Purpose::Backoff, 1)] {
            assert!(base.iter().zip(&other).filter(|(a, b)| a == b).count() <= 1);
        }
    }

    #[test]
    fn a_source_within_another_is_named_by_purpose_and_entity() {
        let draw = |outer: u64, inner: u64| {
            let streams = Streams::new(1).within(Purpose::Fading, outer);
            streams.get(Purpose::Fading, inner).below(u32::MAX)
        };
        assert_eq!(draw(3, 4), draw(3, 4));
        for other in [draw(4, 3), draw(3, 5), draw(4, 4), Streams::new(1).get(Purpose::Fading, 4).below(u32::MAX)] {
            assert_ne!(draw(3, 4), other);
        }
    }

    #[test]
    fn backoff_draws_are_uniform() {
        // 32 cells, 320,000 draws: chi-square with 31 degrees of freedom stays below 61.1 with probability 0.999.
        let mut stream = Streams::new(7).get(Purpose::Backoff, 3);
        let mut cells = [0u32; 32];
        for _ in 0..320_000 {
            cells[stream.below(32) as usize] += 1;
        }
        let chi: f64 = cells.iter().map(|&n| (f64::from(n) - 1e4) * (f64::from(n) - 1e4) / 1e4).sum();
        assert!(chi < 61.1, "{chi}");
    }

    #[test]
    fn certain_outcomes_draw_nothing() {
        let mut stream = Streams::new(1).get(Purpose::FrameError, 0);
        let untouched = stream.clone().below(1000);
        assert!(!stream.chance(0.0) && stream.chance(1.0));
        assert_eq!(stream.below(1000), untouched);
    }

    #[test]
    fn normal_draws_lie_within_one_deviation_with_probability_0_683_and_below_the_mean_as_often_as_above() {
        let mut stream = Streams::new(3).get(Purpose::Delay, 0);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let share = |is: fn(f64) -> bool| draws.iter().filter(|x| is(**x)).count() as f64 / 1e5;
        // Four standard errors of 100,000 draws: 0.0063 at most.
        for (found, expected) in [
            (share(|x| x.abs() < 1.0), 0.682_69),
            (share(|x| x.abs() < 2.0), 0.954_50),
            (share(|x| x < 0.0), 0.5),
            (share(|x| x < -1.0), 0.158_66),
        ] {
            assert!((found - expected).abs() < 0.0063, "{found} {expected}");
        }
    }

    #[test]
    fn exponential_draws_have_mean_one() {
        let mut stream = Streams::new(3).get(Purpose::Traffic, 0);
        let mean = (0..100_000).map(|_| stream.exponential()).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 4.0 / libm::sqrt(1e5), "{mean}");
    }
}
