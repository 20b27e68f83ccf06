//! Questions of an interface about the air around it, and no more: its driver answers. The world does with a [`crate::Channel`].

use crate::contention::{ContenderId, Outcome};
use crate::psdu::Frame;
use units::{Bytes, Dur, NodeId, SimTime};

/// The air around one interface. Contenders are its own: the first that it was made with, and those that follow.
pub trait Air {
    /// The frame goes out now. Of one call of an interface it is the last that happens.
    fn transmit(&mut self, frame: Frame);

    /// Until when virtual carrier sense holds this interface back.
    fn nav(&self) -> SimTime;

    /// True if it is receiving a frame. If so, its end is told: [`crate::Input::Ended`].
    fn is_receiving(&mut self) -> bool;

    /// True if an MSDU is lost whatever its attempts; asked once for each. [`crate::ErrorsAt::Msdu`]
    fn dooms(&mut self, now: SimTime, to: NodeId, mpdu: Bytes) -> bool;

    /// The mean SNR of this interface's frames at `to`, as a ratio over 20 MHz, fading aside; `None` where signals have no powers.
    fn mean_snr(&self, _to: NodeId) -> Option<f64> {
        None
    }

    /// [`crate::Contention::want`]
    fn want(&mut self, now: SimTime, id: ContenderId, was_busy: bool);

    /// [`crate::Contention::finish`]
    fn finish(&mut self, id: ContenderId, outcome: Outcome, wants: bool, not_before: SimTime);

    /// [`crate::Contention::is_granted`]
    fn is_granted(&self, id: ContenderId) -> bool;

    /// [`crate::Contention::next_boundary`]
    fn next_boundary(&self, now: SimTime, id: ContenderId) -> SimTime;

    /// [`crate::Contention::set_ifs`]
    fn set_ifs(&mut self, now: SimTime, id: ContenderId, ifs: Dur, eifs: Dur);

    /// [`crate::Contention::seize`]
    fn seize(&mut self, id: ContenderId);

    /// [`crate::Contention::silence`]
    fn silence(&mut self, id: ContenderId);

    /// [`crate::Contention::hold_others`]
    fn hold_others(&mut self, id: ContenderId, until: SimTime, frame_end: Option<SimTime>);

    /// [`crate::Contention::release_others`]
    fn release_others(&mut self, id: ContenderId);
}
