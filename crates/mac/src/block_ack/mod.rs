//! The recipient's side of block acknowledgment: what it has received, and what it holds until it can go up in order.
//! @80211-2020 10.25.6

mod reorder;
mod scoreboard;

pub(crate) use reorder::{Held, Reorder};
pub(crate) use scoreboard::Scoreboard;

use units::Dur;

/// Half of all numbers: what is ahead by less is new, what is ahead by as much or more is old. @80211-2020 10.25.6.3
const HALF: u16 = crate::link::NUMBERS / 2;

/// How far `seq` is ahead of `start`, modulo 4096.
pub(crate) fn ahead(seq: u16, start: u16) -> u16 {
    seq.wrapping_sub(start) % crate::link::NUMBERS
}

/// True if `seq` is older than `other`.
pub(crate) fn is_before(seq: u16, other: u16) -> bool {
    (1..HALF).contains(&ahead(other, seq))
}

/// What a recipient keeps of an agreement.
#[derive(Debug)]
pub(crate) struct Inbound {
    pub board: Scoreboard,
    pub reorder: Reorder,
}

impl Inbound {
    /// Of an agreement with a window of so many numbers, whose gaps are given up after `patience`.
    pub fn new(window: u16, patience: Dur) -> Inbound {
        Inbound { board: Scoreboard::new(window), reorder: Reorder::new(window, patience) }
    }
}
