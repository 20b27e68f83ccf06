//! A transmit opportunity: exchanges of one category, a SIFS apart, for as long as its limit lasts. @80211-2020 10.23.2.8
//!
//! The first exchange goes whatever it takes: what exceeds the limit would have to be fragmented (10.23.2.9), which is not
//! modelled. A failed exchange ends the opportunity: recovery is by backoff (10.23.2.2), not after a PIFS (10.23.2.8).

use units::SimTime;

/// The opportunity under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Txop {
    /// Instant at which the limit is reached. With a limit of zero there is room for nothing but the first exchange.
    pub ends: SimTime,
    /// Exchanges begun in it.
    pub exchanges: u16,
    /// The number that it may have however long they take: [`crate::Category::txop_exchanges`].
    pub least: u16,
    /// The end of what it has reserved beyond its exchanges, if it has.
    pub reserved: SimTime,
}

impl Txop {
    /// True if there may be a further exchange at all, `now` being the instant of a step of this one.
    pub fn may_go_on(&self, now: SimTime) -> bool {
        now < self.ends || self.exchanges < self.least
    }

    /// True if a further exchange that is over at `end` belongs to it.
    pub fn has_room_until(&self, end: SimTime) -> bool {
        end <= self.ends || self.exchanges < self.least
    }
}
