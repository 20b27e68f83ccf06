//! Interframe space, rate and power of a station's frames, where a scheme has a say in each.

use crate::msdu::Msdu;
use phy::TxVector;
use wire::Packet;

/// Transmission of the frames of a station. A scheme may bring its own; a station without one uses its [`crate::Config`].
pub trait Transmit {
    /// Slots of the interframe space beyond SIFS while `msdu` is the next of its category: asked when it comes to the head of
    /// the line. `own` is the category's AIFSN, under DCF 2. At least 1 is taken.
    fn aifsn(&mut self, _msdu: &Msdu, _packet: &Packet, own: u8) -> u8 {
        own
    }

    /// The TX vector of an exchange of `msdu`; `own` is what rate control and the node's power say. Asked each time one is
    /// planned, which may be more than once an attempt; so the answer depends on the attempts so far, not on how often it was
    /// asked. The power is also that of the RTS; responses go at the responding node's own. The block code is that of the data frame
    /// alone. MSDUs share a PPDU if the answers for them are equal. Of a group's frames only the power is heeded.
    fn tx_vector(&mut self, _msdu: &Msdu, _packet: &Packet, own: TxVector) -> TxVector {
        own
    }
}

units::debug_by_name!(Transmit);
