//! Rayleigh block fading: the power of a pair is multiplied by an exponential number of mean 1 (@RAP02 eq. 5.49: the
//! square of a Rayleigh amplitude), constant for a coherence time, then drawn anew and independently.
//!
//! The factor is a pure function of (seed, pair, index of the interval), not the next number of a stream: it is the same
//! whoever asks first, how often, and however many intervals pass unasked, so that neither the order of events nor a
//! medium that looks less often changes anybody's channel. A stateful stream would have to draw every skipped interval
//! to promise that.
//!
//! Each pair's intervals begin at a phase of its own, or all channels of the world would change at the same instants.
//! Leaves out: the correlation of successive intervals (Doppler spectrum), line of sight (Rice).

use crate::propagation::pair;
use engine::{Purpose, Streams};
use units::{Dur, NodeId, SimTime};

/// The fading of one unordered pair.
#[derive(Debug, Clone, Copy)]
pub struct Fading {
    draws: Streams,
    coherence: Dur,
    phase: Dur,
}

/// The stream of a pair that is not an interval's: intervals count from 0.
const PHASE: u64 = u64::MAX;

impl Fading {
    /// The fading of a pair, the same in both directions. A coherence time of 0 is taken as 1 ns.
    pub fn of_pair(streams: &Streams, one: NodeId, other: NodeId, coherence: Dur) -> Fading {
        let draws = streams.within(Purpose::Fading, pair(one, other));
        let coherence = coherence.max(Dur::from_ns(1));
        let phase = Dur::from_ns((draws.get(Purpose::Fading, PHASE).unit() * coherence.ns() as f64) as u64);
        Fading { draws, coherence, phase }
    }

    /// The interval that `now` lies in.
    pub fn interval(&self, now: SimTime) -> u64 {
        now.ns().saturating_add(self.phase.ns()) / self.coherence.ns()
    }

    /// The first instant after that interval; `NEVER` if it is beyond the range of time.
    pub fn ends(&self, interval: u64) -> SimTime {
        let end = interval.saturating_add(1).checked_mul(self.coherence.ns());
        end.map_or(SimTime::NEVER, |end| SimTime::from_ns(end - self.phase.ns()))
    }

    /// The factor on the power during that interval: exponential, mean 1 (0 once in 2⁵³).
    pub fn power(&self, interval: u64) -> f64 {
        self.draws.get(Purpose::Fading, interval).exponential()
    }
}
