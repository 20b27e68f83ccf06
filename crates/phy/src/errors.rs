//! Frame errors that are not collisions: what noise does to a frame on its way from one station to another.
//!
//! A model is a distribution; [`Errors`] holds its state for every ordered pair of stations, with a random stream each,
//! so that no pair's fate depends on another's. A frame in error is heard as energy and costs its listeners an EIFS; where it was
//! struck tells whether its receiver could read the addresses.

use crate::BlockCode;
use engine::{Purpose, Stream, Streams};
use units::{Bytes, Dur, NodeId, SimTime};

/// How likely a frame is hit.
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
        /// Whether RTS, CTS and ACK are hit too.
        control: bool,
    },
}

/// How far a frame was hit.
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

/// How the state of a two-state channel goes on.
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
        /// How long either lasts.
        sojourn: Sojourn,
        /// Whether both directions of a pair share one state.
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
    fn advance(&mut self, now: SimTime, sojourn: Sojourn) {
        match sojourn {
            Sojourn::Time { good, bad } => {
                while self.until <= now {
                    self.is_bad = !self.is_bad;
                    let mean = if self.is_bad { bad } else { good };
                    self.until += exponential(&mut self.stream, mean);
                }
            }
            Sojourn::Frame { good, bad } => {
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

    /// Whether no pair ever errs.
    pub fn is_none(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether a frame that starts `now` is hit on its way. Draws only if the probability is neither 0 nor 1.
    #[inline]
    pub fn hits(&mut self, now: SimTime, from: NodeId, to: NodeId, mpdu: Bytes, is_control: bool) -> bool {
        !self.is_none() && self.strikes(now, from, to, mpdu, is_control, None) != Struck::Nowhere
    }

    /// How far a frame that starts `now`, with this code, is hit. One draw decides of all and of its header, which is a part of it.
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
                state.advance(now, sojourn);
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
        Sojourn::Frame { good, bad } => (good.max(1.0), bad.max(1.0)),
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
        let frame = Sojourn::Frame { good: 45.0, bad: 5.0 };
        for sojourn in [time, frame] {
            let model = ErrorModel::Two { good: Hit::NEVER, bad, sojourn, shared: false };
            // Stationary 10 %. 400,000 frames hold at least 8,000 independent cycles: four standard errors below 0.6 %.
            let measured = rate(model, 400_000, Bytes(1000), false);
            assert!((measured - 0.1).abs() < 0.006, "{sojourn:?}: {measured}");
        }
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
