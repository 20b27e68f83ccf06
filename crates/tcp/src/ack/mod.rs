//! Receiver policies: when data that came in order is acknowledged. One file each.
//!
//! Data that every receiver must acknowledge at once (a segment beyond a gap, one that fills a gap, a duplicate, a FIN)
//! never reach a policy. @RFC5681 sec. 4.2

use units::{Dur, SimTime};

pub use plugin::{Info, Params};

/// The keys of a connection about delayed acknowledgments: those of [`crate::Config`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// The longest delay: `delayed_ack_timeout`.
    pub timeout: Dur,
    /// Segments that one acknowledgment is for: `delayed_ack_count`.
    pub count: u32,
    /// `quickack`.
    pub quickack: bool,
}

/// Makes a policy with these parameters, those that its [`Info`] declares.
pub type Make = fn(&Params, Delay) -> Box<dyn AckPolicy>;

/// A data segment that came in order while nothing was missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The number of the segment in the stream, from 1, if all are as long as the longest so far.
    pub number: u64,
    /// Payload in bytes.
    pub len: u32,
    /// True if it carries PSH.
    pub push: bool,
    /// The time it came.
    pub now: SimTime,
    /// This end's smoothed RTT, if it has one: that of the handshake, unless it sends data as well.
    pub srtt: Option<Dur>,
    /// This end's retransmission timeout.
    pub rto: Dur,
}

/// The time of the ACK for an [`Arrival`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckTiming {
    /// Acknowledge at once.
    Now,
    /// Acknowledge once, when all segments of this instant have been taken in.
    AfterAll,
    /// Acknowledge with the next segment that says so, or this long after the first that waited.
    Within(Dur),
    /// Acknowledge with the next segment that says so, or this long from now, whatever those before have said that is later.
    NoLaterThan(Dur),
}

/// A policy that tells when to acknowledge.
pub trait AckPolicy {
    /// Judges a segment.
    fn on_data(&mut self, arrival: &Arrival) -> AckTiming;

    /// An ACK went out, alone or with data: nothing waits any more.
    fn on_ack_sent(&mut self, _now: SimTime) {}

    /// A segment that had come before: its ACK was lost or late. It is acknowledged at once in any case.
    fn on_duplicate(&mut self) {}
}

units::debug_by_name!(AckPolicy);

plugin::registry! { "receiver", Make:
    "delayed-ack" => delayed,
    "dynamic-delayed-ack" => dynamic_delayed,
    "every" => every,
    "gro" => gro,
    "tack" => tack,
}
