//! Acknowledgment, seen from both ends of a link. Without one of these, a station sends one MPDU at a time and an Ack
//! follows each. @80211-2020 10.3.2.11; block acknowledgment 10.25, and whatever a scheme invents, take these seats.

use crate::config::Config;
use crate::contention::Outcome;
use crate::exchange::Response;
use crate::frame::Kind;
use crate::msdu::{MacOptions, Msdu};
use crate::psdu::{Cue, Frame, Load};
use crate::tx_queue::RaTid;
use phy::{Mode, MpduSet};
use units::{Bytes, NodeId, SimTime};
use wire::{Packets, Pkt};

/// The response that a PSDU solicits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solicited {
    /// Its kind.
    pub kind: Kind,
    /// Its length ([`Kind::control_len`]), for the Duration field of the data.
    pub len: Bytes,
}

impl Solicited {
    /// An Ack.
    pub const ACK: Solicited = Solicited { kind: Kind::Ack, len: crate::frame::ACK };

    /// The same, longer by so many bytes.
    #[must_use]
    pub(crate) fn longer_by(self, more: Bytes) -> Solicited {
        Solicited { len: self.len + more, ..self }
    }
}

/// Contents of a PSDU so far, while it is put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoFar {
    /// MPDUs in it.
    pub mpdus: usize,
    /// Its length as an A-MPDU, padding behind the last MPDU left out.
    pub len: Bytes,
    /// The sequence number of its first MPDU, if that was sent before. MSDUs without a number get consecutive ones when the exchange
    /// begins.
    pub first_seq: Option<u16>,
}

/// The originator's side: what may share a PSDU, which response it asks for, and what that says.
///
/// Call order, for each exchange: [`AckPolicy::admits`] until it declines, [`AckPolicy::solicits`], and
/// [`AckPolicy::judge`] if a frame of the receiver comes in time.
pub trait AckPolicy {
    /// The number of MPDUs the agreement with this receiver and TID lets share a PSDU: its window. [`MpduSet::MOST`] is the most.
    /// @80211-2020 10.25.2
    fn window(&self, _of: RaTid) -> usize {
        64
    }
    /// True if `next`, of the same receiver and TID ([`RaTid::of`]), joins a PSDU in this mode. Asked of those in service first, then of the queue's
    /// ([`crate::TxQueue::peek`]), up to the first `false`; not of the first of a PSDU, not for groups, and of no more than
    /// [`AckPolicy::window`], none of which would take the PSDU beyond the longest aggregate of its stage ([`crate::Stage::longest`]). Nothing
    /// else limits the length of a PSDU: neither a largest PSDU nor the TXOP limit is checked.
    fn admits(&mut self, _so_far: &SoFar, _next: &Msdu, _mode: Mode) -> bool {
        false
    }
    /// The response to a PSDU of `n` MPDUs for this receiver and TID; not for groups. Asked with 1, too, when a further exchange is announced. The receiver of several is one
    /// that `admits` let in; that of one may be any, so an Ack is solicited.
    fn solicits(&self, _of: RaTid, _n: usize) -> Solicited {
        Solicited::ACK
    }
    /// Verdict of `response` on a PSDU for this receiver and TID with these sequence numbers, in its order; asked for one MPDU too, with whatever frame of the
    /// receiver comes in time. `None`: it is no response to it, and the exchange has failed as by a timeout.
    ///
    /// `acknowledged`, empty before, takes the places of those that were received; the others have failed once more. The outcome is what
    /// that means for the contention window, if an MPDU was not acknowledged: `Success` resets it and an opportunity goes on; `Failure`
    /// doubles it, `Discard` resets it, and both end the opportunity.
    fn judge(&mut self, _of: RaTid, seqs: &[u16], response: &Frame, acknowledged: &mut MpduSet) -> Option<Outcome> {
        (response.kind == Kind::Ack).then(|| {
            acknowledged.set_first(seqs.len());
            Outcome::Success
        })
    }
}

units::debug_by_name!(AckPolicy);

/// Packets that ride in Block Acks, at both ends of a link: a recipient loads the Block Ack that answers data or a request, the originator
/// unloads it. In no standard; for schemes. Both ends must have it.
///
/// The Duration of the data, or of the request, covers the longest Block Ack that the originator expects ([`Piggyback::room`]); a recipient
/// has that and no more. So NAVs cover a load, and an opportunity its limit. A Block Ack that is lost, is lost with its load: the originator's
/// next data frame says what it has ([`Piggyback::cue`]).
///
/// Call order: at the originator [`Piggyback::room`] whenever an exchange is planned that a Block Ack may answer, [`Piggyback::cue`] when its
/// data go out, [`Piggyback::unload`] when a Block Ack came in time; at the recipient [`Piggyback::load`] for each frame, before what it brought
/// is handed up.
pub trait Piggyback {
    /// Originator: the bytes by which a Block Ack of this neighbour may be longer.
    fn room(&self, to: NodeId) -> Bytes;
    /// Originator: the fields for its recipient in each MPDU of a PSDU that goes out; `None`: they stay zero. `more_data`: what the first would
    /// say.
    fn cue(&self, to: NodeId, more_data: bool) -> Option<Cue>;
    /// Recipient: the load of the Block Ack that answers this frame (data of which these MPDUs were received, or a request), at most `room`
    /// bytes. Asked of data that an Ack answers too, with a room of zero. [`Packets::share`] makes what a load holds.
    fn load(&mut self, frame: &Frame, got: &MpduSet, room: Bytes, all: &mut Packets) -> Option<Load>;
    /// Originator: a Block Ack came, with a load ([`crate::Mpdu::load`]) or without. Hands up what it carried and this station has not had yet
    /// ([`Packets::copy_shared`] makes its packet).
    fn unload(&mut self, frame: &Frame, all: &mut Packets, up: &mut dyn FnMut(Delivery));
}

units::debug_by_name!(Piggyback);

/// A packet that a recipient hands up.
#[derive(Debug)]
pub struct Delivery {
    /// A packet of this station's own.
    pub pkt: Pkt,
    /// The neighbour it came from.
    pub from: NodeId,
    /// The MAC options that came with it.
    pub options: MacOptions,
}

/// The recipient's side: the response to data, and what is handed up when. It may hold packets back; what it holds it counts.
pub trait Recipient {
    /// The response to a data frame for this station of which these MPDUs were received, at least one. `proposed` is the
    /// Ack that would follow otherwise: not asked if [`crate::Plan::respond`] proposed none. Asked before [`Recipient::receive`] at the
    /// same instant. [`Response::to`] makes another. `None`: no response.
    fn respond(&mut self, _config: &Config, _frame: &Frame, _got: &MpduSet, proposed: Response) -> Option<Response> {
        Some(proposed)
    }
    /// Takes the MPDUs received from a frame for this station or a group, duplicates included, and hands up what may go
    /// ([`Packets::copy_shared`] makes its packet). Each sender and TID has sequence numbers of its own, and all frames of a
    /// sender without QoS Control have one counter. A hole may be an MSDU that was given up, or without QoS Control one for another
    /// station, so a reorder buffer needs a patience.
    fn receive(
        &mut self,
        now: SimTime,
        frame: &Frame,
        got: &MpduSet,
        all: &mut Packets,
        up: &mut dyn FnMut(Delivery),
    );
    /// True if [`Recipient::damaged`] is to be asked at all.
    fn heeds_damage(&self) -> bool {
        false
    }
    /// The response to a data frame for this station that was lost behind its MAC header. Neither `respond` nor `receive` is asked
    /// about it.
    fn damaged(&mut self, _config: &Config, _frame: &Frame) -> Option<Response> {
        None
    }
    /// Time at which [`Recipient::timer`] is due. Read after each input of the station; an agent cannot make it hand up what it holds.
    fn next_wakeup(&self) -> SimTime {
        SimTime::NEVER
    }
    /// Its timer went off.
    fn timer(&mut self, _now: SimTime, _up: &mut dyn FnMut(Delivery)) {}
    /// Packets it holds.
    fn held(&self) -> u64 {
        0
    }
    /// Gives up all it holds: its node died.
    fn drain(&mut self) -> Vec<Pkt> {
        Vec::new()
    }
}

units::debug_by_name!(Recipient);
