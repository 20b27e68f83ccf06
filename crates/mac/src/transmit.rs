//! How a station's frames go out, where a scheme has a say in each: interframe space, rate, power.

use crate::msdu::Msdu;
use phy::Rate;
use units::Dbm;
use wire::Packet;

/// Rate and power of one attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sending {
    /// Rate of the data frame's body. Not asked for groups, whose frames go at the basic rate.
    pub rate: Rate,
    /// Transmit power of RTS and data frame; `None`: the node's own. Of no meaning where signals have no powers.
    pub power: Option<Dbm>,
}

/// How the frames of a station go out. A scheme may bring its own; a station without one uses its [`crate::Config`].
pub trait Transmit: std::fmt::Debug {
    /// Slots of the interframe space beyond SIFS while `msdu` is the next of its category: asked when it comes to the head of
    /// the line. `own` is the category's AIFSN, under DCF 2. At least 1 is taken.
    fn aifsn(&mut self, _msdu: &Msdu, _packet: &Packet, own: u8) -> u8 {
        own
    }

    /// Rate and power of an exchange of `msdu`: asked each time one is planned, which may be more than once an attempt; so
    /// the answer depends on the attempts so far, not on how often it was asked.
    fn sending(&mut self, _msdu: &Msdu, _packet: &Packet, own: Sending) -> Sending {
        own
    }
}
