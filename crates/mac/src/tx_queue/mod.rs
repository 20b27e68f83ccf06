//! The transmit queue: what is sent next, and what follows a failure; and which access category a packet goes to.

mod around;
mod fair;
mod fifo;
mod links;

use crate::msdu::Msdu;
use crate::report::PsduReport;
use queue::Space;
use units::{Dur, NodeId, SimTime};
use wire::Packets;

pub use around::{Around, Wrap};
pub use fifo::Fifo;
pub use links::Links;

/// Receiver and traffic identifier of MSDUs: those that have both in common may share a PSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaTid {
    /// Receiver.
    pub to: NodeId,
    /// Traffic identifier; `None` without QoS Control.
    pub tid: Option<u8>,
}

impl RaTid {
    /// Of an MSDU.
    pub fn of(msdu: &Msdu) -> RaTid {
        RaTid { to: msdu.to, tid: msdu.qos.map(|qos| qos.user_priority) }
    }
}

/// An MSDU that is to be taken out of a queue; see [`TxQueue::withdraw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// That of the packet with this serial.
    Serial(u64),
    /// The first for this receiver.
    To(NodeId),
}

impl Sought {
    /// True of such an MSDU.
    pub fn is(self, msdu: &Msdu) -> bool {
        match self {
            Sought::Serial(serial) => msdu.serial == serial,
            Sought::To(receiver) => msdu.to == receiver,
        }
    }
}

/// Decision of a queue about an MSDU whose attempt has failed.
#[derive(Debug)]
pub enum Next {
    /// The same again.
    Again(Msdu),
    /// The queue has taken it back; what it pops next is sent next.
    Yield,
    /// No more attempts.
    GiveUp(Msdu),
}

/// A transmit queue, of a station or of one of its categories: what is sent next, and what follows a failure. A scheme may bring its own,
/// or one [`Around`] that which stands there.
///
/// Call order: [`TxQueue::push`] for each MSDU. When a category has nothing in service (an MSDU was pushed, an exchange ended,
/// [`TxQueue::next_wakeup`] came) and when an opportunity takes one MSDU ahead: [`TxQueue::expired`] until it gives none, then
/// [`TxQueue::pop`]. [`TxQueue::dropped`] after each push, pop and peek. What was popped is in service and in no queue until
/// [`TxQueue::failed`] gives it back. A queue may write [`Msdu::spares_rts`] and no other field of an MSDU.
pub trait TxQueue {
    /// Takes an MSDU in.
    ///
    /// # Errors
    /// Gives back the MSDU that is lost because the queue is full, or drops early: this one, or one that was queued and made room
    /// for it. A queue that drops more than one tells it by [`TxQueue::dropped`]; one that marks sets CE in the packet's IP header.
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu>;
    /// The MSDU to send now. `None`: nothing, or nothing yet, see [`TxQueue::next_wakeup`]. A queue may drop others before it
    /// ([`TxQueue::dropped`]), and marks it by setting CE in the packet's IP header.
    fn pop(&mut self, now: SimTime, all: &mut Packets) -> Option<Msdu>;
    /// An MSDU that the queue has dropped as congestion after it had taken it in. Asked after each push, pop and peek until there is none.
    fn dropped(&mut self, all: &Packets) -> Option<Msdu>;
    /// The next MSDU of this receiver and TID, if it may go out with one that was popped. Asked when the mode of a PSDU is
    /// known; a wrapper may ask whenever it is asked itself. `None` from a queue that does not look for them. It may drop others before it, and mark it, as [`TxQueue::pop`] does.
    fn peek(&mut self, _now: SimTime, _of: RaTid, _all: &mut Packets) -> Option<&Msdu> {
        None
    }
    /// Takes out what [`TxQueue::peek`] has shown for this link; not to be called before.
    fn pop_for(&mut self, _now: SimTime, _of: RaTid, _all: &mut Packets) -> Option<Msdu> {
        None
    }
    /// Takes out an MSDU that is queued, for a queue around this one that will not send it, or since its receiver has gone
    /// ([`crate::Station::recall`]). The queue around hands it out by [`TxQueue::expired`]; until then it counts in `entries` and `used` and
    /// need not take room. `None`: none such is queued here (it may be in service), or the queue does not look for it.
    fn withdraw(&mut self, _now: SimTime, _sought: Sought, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// An MSDU that is not worth sending any more. Asked before [`TxQueue::pop`] until there is none; not before
    /// [`TxQueue::pop_for`]. It is reported as [`crate::Fate::Expired`].
    fn expired(&mut self, _now: SimTime, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// False if it never gives anything by [`TxQueue::dropped`] or [`TxQueue::expired`]: then it is not asked. Asked once.
    fn lets_go(&self) -> bool {
        true
    }
    /// The attempt of a PSDU is over: told before [`TxQueue::failed`] asks about its MSDUs, and before anything else is popped. An
    /// attempt that a higher category of this station forestalled was none. Only if it [`TxQueue::heeds_attempts`].
    fn attempted(&mut self, _now: SimTime, _report: &PsduReport<'_>) {}
    /// A data frame, or those of an A-MPDU, came from this station to this one, in the category of this queue, and took so long on the air.
    /// Only if it [`TxQueue::heeds_attempts`].
    fn heard(&mut self, _from: NodeId, _airtime: Dur) {}
    /// True if it wants to be told of attempts, and of frames that are heard. Asked once.
    fn heeds_attempts(&self) -> bool {
        false
    }
    /// An attempt of `msdu` failed: asked for every MSDU of an exchange that failed, and for every MPDU that a response does not
    /// acknowledge. `is_last`: the MAC's limit is reached; the queue may go beyond it or stay below it. A category that loses to a
    /// higher one of its station is asked too: `msdu.failures` rises, `msdu.attempts` stays, and nothing was on the air. Of a fragmented
    /// MSDU the fragment at hand is meant; after [`Next::Yield`] its burst goes on where it stopped, and others may go between.
    fn failed(&mut self, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next;
    /// An MSDU that was popped ahead of its time, and has not been sent, comes back because the one before it failed and
    /// [`Next::Yield`] was said: the queue decides anew what is next. Of several the last comes first. Gives back what it does not take,
    /// which then goes next with those before it.
    fn put_back(&mut self, _now: SimTime, msdu: Msdu, _all: &Packets) -> Option<Msdu> {
        Some(msdu)
    }
    /// Time at which a queue that holds something back wants to be popped again: asked when [`TxQueue::pop`] gave nothing with nothing in
    /// service, and not again before the next `pop`.
    fn next_wakeup(&self) -> SimTime {
        SimTime::NEVER
    }
    /// MSDUs that wait, and room that is left. The books of a run are checked against `entries`: every MSDU held, none in service.
    fn space(&self) -> Space;
    /// Every MSDU in it, for a node that is killed.
    fn drain(&mut self, now: SimTime) -> Vec<Msdu>;
    /// Its counts up to now; `None` from a queue that does not count.
    fn stats(&self, _now: SimTime) -> Option<queue::Stats> {
        None
    }
}

units::debug_by_name!(TxQueue);

/// Choice of the access category of a packet. A scheme may bring its own. A station under EDCA asks it once for each MSDU, when
/// that is queued; one under DCF has one category and asks nobody.
pub trait Classifier {
    /// The category of a packet to `to`: an index into the station's categories by rising priority (0 … 3 are BK, BE, VI,
    /// VO unless told otherwise); one that is not there is the highest. `default` is what its TOS field asks for
    /// ([`crate::Edca::of_tos`]).
    fn category(&mut self, packet: &wire::Packet, to: NodeId, default: u8) -> u8;
}

units::debug_by_name!(Classifier);
