//! Frame errors that are not collisions: what noise does to a frame on its way from one station to another.
//!
//! A model is a distribution; [`Errors`] holds its state for every ordered pair of stations, with a random stream each,
//! so that no pair's fate depends on another's. A frame in error is heard as energy and costs its listeners an EIFS; where it was
//! struck tells whether its receiver could read the addresses.

use crate::BlockCode;
use engine::{Purpose, Stream, Streams};
use units::{Bytes, Dur, NodeId, SimTime};

/// Probability that a frame is hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hit {
    /// Each frame with this probability, whatever its size.
    Packet {
        /// Of a frame that carries an MSDU.
        per: f64,
        /// Of RTS, CTS and ACK.
        control_per: f64,
    },
    /// Each bit with this probability, independently: a frame of n bits survives with (1 − ber)ⁿ.
    Bit {
        /// Bit error rate.
        ber: f64,
        /// True if RTS, CTS and ACK are hit too.
        control: bool,
    },
}

/// The part of a frame that was hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Struck {
    /// Not at all.
    Nowhere,
    /// Behind the MAC header: its addresses can be read.
    Body,
    /// In the MAC header.
    Header,
}

/// Length of a QoS data header: what a bit error must spare for the addresses to be readable.
const HEADER: Bytes = Bytes(26);

impl Hit {
    /// Nothing is ever hit.
    pub const NEVER: Hit = Hit::Packet { per: 0.0, control_per: 0.0 };

    /// Probability that an MPDU of this size is hit, in a way that its code does not mend.
    fn probability(&self, mpdu: Bytes, is_control: bool, code: Option<BlockCode>) -> f64 {
        match *self {
            Hit::Packet { per, control_per } => {
                if is_control {
                    control_per
                } else {
                    per
                }
            }
            Hit::Bit { control: false, .. } if is_control => 0.0,
            Hit::Bit { ber, .. } => match code {
                Some(code) => 1.0 - code.survival(mpdu, ber),
                None if ber > 0.0 => -libm::expm1(mpdu.bits() as f64 * libm::log1p(-ber)),
                None => 0.0,
            },
        }
    }

    /// Probability that the header of such an MPDU is hit. A fixed probability strikes bodies only: our choice, since
    /// whoever states one says nothing of headers.
    fn header_probability(&self, mpdu: Bytes, is_control: bool, code: Option<BlockCode>) -> f64 {
        match *self {
            Hit::Packet { .. } => 0.0,
            Hit::Bit { .. } => self.probability(mpdu.min(HEADER), is_control, code),
        }
    }
}

/// Frames that advance a state that lasts for a number of frames. Frames that collide never do: they are not asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// All.
    All,
    /// Those that carry MSDUs. RTS, CTS and ACK meet the state and leave it as it is.
    Data,
}

/// Law by which a two-state channel stays in a state and leaves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sojourn {
    /// Exponentially distributed times of these means, running whether frames are sent or not. A frame meets the state
    /// of the instant it starts.
    Time {
        /// Mean stay in the good state.
        good: Dur,
        /// Mean stay in the bad state.
        bad: Dur,
    },
    /// Geometrically distributed numbers of frames of these means (at least one each).
    Frame {
        /// Mean stay in the good state, in frames.
        good: f64,
        /// Mean stay in the bad state, in frames.
        bad: f64,
        /// Frames that count.
        step: Step,
    },
}

/// A model of frame errors. @GIL60, @ELL63 for the two-state one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ErrorModel {
    /// One state for ever.
    One(Hit),
    /// A good and a bad state in turn; the run begins in either with its stationary probability.
    Two {
        /// In the good state.
        good: Hit,
        /// In the bad state.
        bad: Hit,
        /// Stays in both states.
        sojourn: Sojourn,
        /// True if both directions of a pair share one state.
        shared: bool,
    },
}

/// The two-state part of a pair.
#[derive(Debug)]
struct State {
    is_bad: bool,
    until: SimTime,
    stream: Stream,
}

impl State {
    /// Brings the state up to the frame that starts `now`.
    fn advance(&mut self, now: SimTime, sojourn: Sojourn, is_control: bool) {
        match sojourn {
            Sojourn::Time { good, bad } => {
                while self.until <= now {
                    self.is_bad = !self.is_bad;
                    let mean = if self.is_bad { bad } else { good };
                    self.until += exponential(&mut self.stream, mean);
                }
            }
            Sojourn::Frame { step: Step::Data, .. } if is_control => {}
            Sojourn::Frame { good, bad, .. } => {
                let mean = if self.is_bad { bad } else { good };
                if self.stream.chance(1.0 / mean.max(1.0)) {
                    self.is_bad = !self.is_bad;
                }
            }
        }
    }
}

fn exponential(stream: &mut Stream, mean: Dur) -> Dur {
    // At least 1 ns, or a mean of zero would never end.
    Dur::from_ns((stream.exponential() * mean.ns() as f64) as u64 + 1)
}

/// One ordered pair.
#[derive(Debug)]
struct Pair {
    model: ErrorModel,
    draws: Stream,
    state: Option<u32>,
}

/// The errors of all ordered pairs of stations.
#[derive(Debug)]
pub struct Errors {
    nodes: usize,
    /// Empty where no pair ever errs: the common case costs one comparison.
    pairs: Vec<Pair>,
    states: Vec<State>,
}

impl Errors {
    /// `model` gives the model of frames from the first to the second node.
    pub fn new(nodes: usize, streams: &Streams, model: impl Fn(NodeId, NodeId) -> ErrorModel) -> Errors {
        let ids = || (0..nodes as u32).map(NodeId);
        let never = ErrorModel::One(Hit::NEVER);
        if ids().all(|from| ids().all(|to| from == to || model(from, to) == never)) {
            return Errors { nodes, pairs: Vec::new(), states: Vec::new() };
        }
        let mut states: Vec<State> = Vec::new();
        let mut pairs: Vec<Pair> = Vec::with_capacity(nodes * nodes);
        for from in ids() {
            for to in ids() {
                let model = model(from, to);
                let entity = u64::from(from.0) << 32 | u64::from(to.0);
                let state = match model {
                    ErrorModel::Two { shared: true, .. } if to < from => {
                        pairs[to.index() * nodes + from.index()].state
                    }
                    ErrorModel::Two { sojourn, .. } if from != to => {
                        states.push(start(sojourn, streams.get(Purpose::ChannelState, entity)));
                        Some((states.len() - 1) as u32)
                    }
                    _ => None,
                };
                pairs.push(Pair { model, draws: streams.get(Purpose::FrameError, entity), state });
            }
        }
        Errors { nodes, pairs, states }
    }

    /// The memory in bytes of the errors of so many nodes, if any pair ever errs; and if pairs have states, of those.
    pub const fn bytes(nodes: usize, have_states: bool) -> usize {
        nodes * nodes * (size_of::<Pair>() + if have_states { size_of::<State>() } else { 0 })
    }

    /// True if no pair ever errs.
    pub fn is_none(&self) -> bool {
        self.pairs.is_empty()
    }

    /// True if a frame that starts `now` is hit on its way. Draws only if the probability is neither 0 nor 1.
    #[inline]
    pub fn hits(&mut self, now: SimTime, from: NodeId, to: NodeId, mpdu: Bytes, is_control: bool) -> bool {
        !self.is_none() && self.strikes(now, from, to, mpdu, is_control, None) != Struck::Nowhere
    }

    /// Draws the part of a frame, starting `now` with this code, that is hit. One draw decides of all and of its header, a part of it.
    pub fn strikes(
        &mut self,
        now: SimTime,
        from: NodeId,
        to: NodeId,
        mpdu: Bytes,
        is_control: bool,
        code: Option<BlockCode>,
    ) -> Struck {
        if self.is_none() {
            return Struck::Nowhere;
        }
        let pair = &mut self.pairs[from.index() * self.nodes + to.index()];
        let hit = match (pair.model, pair.state) {
            (ErrorModel::One(hit), _) => hit,
            (ErrorModel::Two { good, bad, sojourn, .. }, Some(state)) => {
                let state = &mut self.states[state as usize];
                state.advance(now, sojourn, is_control);
                if state.is_bad { bad } else { good }
            }
            (ErrorModel::Two { good, .. }, None) => good,
        };
        let p = hit.probability(mpdu, is_control, code);
        if p <= 0.0 {
            return Struck::Nowhere;
        }
        let draw = if p >= 1.0 { 0.0 } else { pair.draws.unit() };
        if draw >= p {
            Struck::Nowhere
        } else if draw < hit.header_probability(mpdu, is_control, code) {
            Struck::Header
        } else {
            Struck::Body
        }
    }
}

/// A state begun with its stationary probability. The time to the first change is that of a whole stay: the
/// exponential has no memory.
fn start(sojourn: Sojourn, mut stream: Stream) -> State {
    let (good, bad) = match sojourn {
        Sojourn::Time { good, bad } => (good.ns() as f64, bad.ns() as f64),
        Sojourn::Frame { good, bad, .. } => (good.max(1.0), bad.max(1.0)),
    };
    let is_bad = stream.chance(bad / (good + bad).max(1.0));
    let until = match sojourn {
        Sojourn::Time { good, bad } => SimTime::ZERO + exponential(&mut stream, if is_bad { bad } else { good }),
        Sojourn::Frame { .. } => SimTime::NEVER,
    };
    State { is_bad, until, stream }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    fn rate(model: ErrorModel, frames: u32, mpdu: Bytes, is_control: bool) -> f64 {
        let mut errors = Errors::new(2, &Streams::new(5), |_, _| model);
        let hits =
            (0..frames).filter(|&i| errors.hits(SimTime::from_ns(u64::from(i) * 2_000_000), A, B, mpdu, is_control));
        hits.count() as f64 / f64::from(frames)
    }

    #[test]
    fn bit_errors_follow_the_size_of_the_frame() {
        // (1 − 10⁻⁵)^(8·1536) = e^−0.12288: 11.56 % are hit; four standard errors of 100,000 draws are 0.4 %.
        let model = ErrorModel::One(Hit::Bit { ber: 1e-5, control: true });
        assert!((rate(model, 100_000, Bytes(1536), false) - 0.11563).abs() < 0.004);
        // An ACK of 112 bits: 0.112 %.
        assert!((rate(model, 100_000, Bytes(14), true) - 0.00112).abs() < 0.0005);
        let spared = ErrorModel::One(Hit::Bit { ber: 1e-3, control: false });
        assert_eq!(rate(spared, 1000, Bytes(14), true), 0.0);
    }

    #[test]
    fn a_code_mends_up_to_t_bits_of_a_block_of_independent_errors_and_nothing_of_others() {
        // (7, 4, 1) at 0.01: a block survives with 0.99^7 + 7 * 0.01 * 0.99^6 = 0.9979690; 100 B are 200 blocks: 0.6660 survive, and
        // 0.0003 without the code. 26 B of header are 52 blocks: 0.8997. Four standard errors of 40,000 draws are 0.0095.
        let code = BlockCode::new(7, 4, 1);
        let model = ErrorModel::One(Hit::Bit { ber: 0.01, control: true });
        let mut errors = Errors::new(2, &Streams::new(5), |_, _| model);
        let (mut whole, mut headers) = (0, 0);
        for i in 0..40_000 {
            let struck = errors.strikes(SimTime::from_ns(i), A, B, Bytes(100), false, code);
            whole += u32::from(struck == Struck::Nowhere);
            headers += u32::from(struck != Struck::Header);
        }
        assert!((f64::from(whole) / 4e4 - 0.6660).abs() < 0.0095, "{whole}");
        assert!((f64::from(headers) / 4e4 - 0.8997).abs() < 0.0061, "{headers}");
        let fixed = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 0.0 });
        let mut errors = Errors::new(2, &Streams::new(5), |_, _| fixed);
        assert_eq!(errors.strikes(SimTime::ZERO, A, B, Bytes(100), false, code), Struck::Body);
    }

    #[test]
    fn a_two_state_channel_errs_at_its_stationary_rate() {
        let bad = Hit::Packet { per: 1.0, control_per: 1.0 };
        let time = Sojourn::Time { good: Dur::from_ms(90), bad: Dur::from_ms(10) };
        let frame = |step| Sojourn::Frame { good: 45.0, bad: 5.0, step };
        for sojourn in [time, frame(Step::All), frame(Step::Data)] {
            let model = ErrorModel::Two { good: Hit::NEVER, bad, sojourn, shared: false };
            // Stationary 10 %. 400,000 frames hold at least 8,000 independent cycles: four standard errors below 0.6 %.
            let measured = rate(model, 400_000, Bytes(1000), false);
            assert!((measured - 0.1).abs() < 0.006, "{sojourn:?}: {measured}");
        }
    }

    /// Lengths of the runs of bad frames and of good ones, the first and the last run left out, which are cut.
    fn runs(struck: &[bool]) -> [Vec<u64>; 2] {
        let mut lengths = [Vec::new(), Vec::new()];
        struck.chunk_by(|a, b| a == b).for_each(|run| lengths[usize::from(!run[0])].push((run[0], run.len() as u64)));
        lengths.map(|all| all[1..all.len() - 1].iter().map(|(_, len)| *len).collect())
    }

    /// Pearson's statistic of lengths against a geometric distribution of this mean, over 1, 2, … and classes that end at these
    /// lengths, and one above: as many degrees of freedom as ends.
    fn chi_square(lengths: &[u64], mean: f64, ends: &[u64]) -> f64 {
        let beyond = |length: u64| libm::pow(1.0 - 1.0 / mean, length as f64);
        let classes = [0].iter().chain(ends).zip(ends.iter().chain([&u64::MAX]));
        let terms = classes.map(|(after, end)| {
            let found = lengths.iter().filter(|length| *length > after && *length <= end).count() as f64;
            let end = if *end == u64::MAX { 0.0 } else { beyond(*end) };
            let expected = lengths.len() as f64 * (beyond(*after) - end);
            assert!(expected > 20.0, "classes are too small: {expected}");
            (found - expected) * (found - expected) / expected
        });
        terms.sum()
    }

    /// Chi-square with eight degrees of freedom exceeds it once in a thousand.
    const CHI_SQUARE_8: f64 = 26.12;
    const BURSTS: [u64; 8] = [1, 2, 3, 4, 6, 8, 11, 16];
    const GAPS: [u64; 8] = [4, 9, 15, 22, 32, 45, 62, 90];

    /// Hits of the data frames of exchanges of RTS, CTS, data and ACK; hits of all their frames.
    fn exchanges(step: Step) -> [Vec<bool>; 2] {
        let bad = Hit::Packet { per: 1.0, control_per: 1.0 };
        let sojourn = Sojourn::Frame { good: 45.0, bad: 5.0, step };
        let model = ErrorModel::Two { good: Hit::NEVER, bad, sojourn, shared: true };
        let mut errors = Errors::new(2, &Streams::new(7), |_, _| model);
        let [mut data, mut all] = [Vec::new(), Vec::new()];
        for i in 0..400_000 {
            let mut frame = |from, to, is_control| {
                let is_struck = errors.hits(SimTime::from_ns(i), from, to, Bytes(100), is_control);
                all.push(is_struck);
                is_struck
            };
            let (_, _) = (frame(A, B, true), frame(B, A, true));
            data.push(frame(A, B, false));
            frame(B, A, true);
        }
        [data, all]
    }

    #[test]
    fn lengths_of_bursts_and_gaps_counted_in_frames_are_geometric_in_the_frames_that_count() {
        let fits = |struck: &[bool]| {
            let [bursts, gaps] = runs(struck);
            assert!(bursts.len() > 5_000 && gaps.len() > 5_000);
            [chi_square(&bursts, 5.0, &BURSTS), chi_square(&gaps, 45.0, &GAPS)]
                .map(|statistic| statistic < CHI_SQUARE_8)
        };
        let [data, _] = exchanges(Step::Data);
        assert_eq!(fits(&data), [true; 2]);
        let [data, all] = exchanges(Step::All);
        assert_eq!(fits(&all), [true; 2]);
        // Counted in data frames, of which four frames are one, they are not: the statistic can tell.
        assert_eq!(fits(&data), [false; 2]);
    }

    #[test]
    fn where_data_frames_count_the_others_meet_the_state_and_leave_it() {
        let [data, all] = exchanges(Step::Data);
        // RTS and CTS meet the state that the data frame before has left, the ACK that of its own.
        for (i, exchange) in all.chunks(4).enumerate().skip(1) {
            assert_eq!(exchange, [data[i - 1], data[i - 1], data[i], data[i]]);
        }
    }

    #[test]
    fn lengths_of_bursts_and_gaps_in_time_are_exponential() {
        let (good, bad) = (Dur::from_ms(3), Dur::from_ms(1));
        let struck = Hit::Packet { per: 1.0, control_per: 1.0 };
        let model =
            ErrorModel::Two { good: Hit::NEVER, bad: struck, sojourn: Sojourn::Time { good, bad }, shared: true };
        let mut errors = Errors::new(2, &Streams::new(7), |_, _| model);
        // Looked at every microsecond, by frames that change nothing: RTS in one direction, data in the other.
        let struck: Vec<bool> = (0..8_000_000u64)
            .map(|us| {
                let (from, to, is_control) = if us % 2 == 0 { (A, B, false) } else { (B, A, true) };
                errors.hits(SimTime::from_ns(1000 * us), from, to, Bytes(100), is_control)
            })
            .collect();
        // Kolmogorov and Smirnov: the greatest distance of the distribution functions, times the root of the number; it exceeds 1.95
        // once in a thousand. A microsecond of a millisecond moves it by 0.001 times the root, 0.05.
        let distance = |lengths: &[u64], mean: Dur| {
            let (n, mut sorted) = (lengths.len() as f64, lengths.to_vec());
            sorted.sort_unstable();
            let at = |(i, us): (usize, &u64)| {
                let expected = -libm::expm1(-(*us as f64) * 1000.0 / mean.ns() as f64);
                (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
            };
            libm::sqrt(n) * sorted.iter().enumerate().map(at).fold(0.0, f64::max)
        };
        let [bursts, gaps] = runs(&struck);
        assert!(bursts.len() > 1_800 && gaps.len() > 1_800, "{}", bursts.len());
        assert!(distance(&bursts, bad) < 1.95 && distance(&gaps, good) < 1.95);
        // A mean that is a tenth off is found out.
        assert!(distance(&bursts, bad * 11 / 10) > 1.95 && distance(&gaps, good * 11 / 10) > 1.95);
    }

    #[test]
    fn a_shared_state_strikes_both_directions_together() {
        let bad = Hit::Packet { per: 1.0, control_per: 1.0 };
        let sojourn = Sojourn::Time { good: Dur::from_ms(10), bad: Dur::from_ms(10) };
        for (shared, alike) in [(true, true), (false, false)] {
            let model = ErrorModel::Two { good: Hit::NEVER, bad, sojourn, shared };
            let mut errors = Errors::new(2, &Streams::new(5), |_, _| model);
            let same = (0..1000).all(|i| {
                let now = SimTime::from_ns(i * 5_000_000);
                errors.hits(now, A, B, Bytes(100), false) == errors.hits(now, B, A, Bytes(100), false)
            });
            assert_eq!(same, alike);
        }
    }

    #[test]
    fn directions_and_pairs_have_their_own_models() {
        let mut errors = Errors::new(3, &Streams::new(1), |from, to| {
            let per = if (from, to) == (A, B) { 1.0 } else { 0.0 };
            ErrorModel::One(Hit::Packet { per, control_per: 0.0 })
        });
        assert!(errors.hits(SimTime::ZERO, A, B, Bytes(100), false));
        assert!(!errors.hits(SimTime::ZERO, A, B, Bytes(14), true));
        assert!(!errors.hits(SimTime::ZERO, B, A, Bytes(100), false));
        assert!(!errors.hits(SimTime::ZERO, A, NodeId(2), Bytes(100), false));
    }

    #[test]
    fn one_draw_decides_of_the_frame_and_of_its_header() {
        // 26 of 1536 bytes: 1 − (1 − 10⁻⁵)^208 = 0.208 % of frames lose the header, 11.35 % something else.
        let model = ErrorModel::One(Hit::Bit { ber: 1e-5, control: true });
        let mut errors = Errors::new(2, &Streams::new(5), |_, _| model);
        let mut again = Errors::new(2, &Streams::new(5), |_, _| model);
        let (mut header, mut body) = (0u32, 0u32);
        for i in 0..200_000 {
            let now = SimTime::from_ns(i);
            let struck = errors.strikes(now, A, B, Bytes(1536), false, None);
            assert_eq!(struck != Struck::Nowhere, again.hits(now, A, B, Bytes(1536), false));
            header += u32::from(struck == Struck::Header);
            body += u32::from(struck == Struck::Body);
        }
        // Four standard errors: 0.041 % and 0.29 %.
        assert!((f64::from(header) / 2e5 - 0.00208).abs() < 0.00041, "{header}");
        assert!((f64::from(body) / 2e5 - 0.1135).abs() < 0.0029, "{body}");
        let fixed = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 1.0 });
        let mut errors = Errors::new(2, &Streams::new(5), |_, _| fixed);
        assert_eq!(errors.strikes(SimTime::ZERO, A, B, Bytes(14), true, None), Struck::Body);
    }
}
