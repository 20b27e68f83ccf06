//! The air of one interface, played by hand. Tests grant it, look at its frames and make up what it hears.

use crate::{Air, ContenderId, Frame, Outcome};
use units::{Bytes, Dur, NodeId, SimTime};

/// A request of an interface to its contention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Asked {
    /// It wants to transmit.
    Want(ContenderId),
    /// Its exchange is over, thus; true if it wants to transmit again.
    Finish(Outcome, bool),
}

/// An air that grants nothing by itself, has no NAV and dooms no MSDU. It keeps what the interface asked for and sent.
#[derive(Debug, Default)]
pub struct ByHand {
    /// The requests so far.
    pub asked: Vec<Asked>,
    /// The frames that were put on the air.
    pub sent: Vec<Frame>,
    /// The answer to [`Air::is_receiving`].
    pub is_receiving: bool,
}

impl Air for ByHand {
    fn transmit(&mut self, frame: Frame) {
        self.sent.push(frame);
    }
    fn nav(&self) -> SimTime {
        SimTime::ZERO
    }
    fn is_receiving(&mut self) -> bool {
        self.is_receiving
    }
    fn dooms(&mut self, _: SimTime, _: NodeId, _: Bytes) -> bool {
        false
    }
    fn want(&mut self, _: SimTime, id: ContenderId, _: bool) {
        self.asked.push(Asked::Want(id));
    }
    fn finish(&mut self, _: ContenderId, outcome: Outcome, wants: bool, _: SimTime) {
        self.asked.push(Asked::Finish(outcome, wants));
    }
    fn is_granted(&self, _: ContenderId) -> bool {
        true
    }
    fn next_boundary(&self, now: SimTime, _: ContenderId) -> SimTime {
        now
    }
    fn set_ifs(&mut self, _: SimTime, _: ContenderId, _: Dur, _: Dur) {}
    fn seize(&mut self, _: ContenderId) {}
    fn silence(&mut self, _: ContenderId) {}
    fn hold_others(&mut self, _: ContenderId, _: SimTime, _: Option<SimTime>) {}
    fn release_others(&mut self, _: ContenderId) {}
}
