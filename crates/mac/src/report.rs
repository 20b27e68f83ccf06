//! Reports of a MAC on MSDUs and PSDUs once their fate is known.

use crate::block_ack::is_before;
use crate::tx_queue::RaTid;
use phy::{Mode, MpduSet};
use units::{Dur, NodeId, SimTime};

/// Fate of an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Acknowledged; or sent, if to a group.
    Delivered,
    /// One attempt failed; more may follow.
    Attempt,
    /// The last attempt failed: the MAC, or its queue, has dropped it.
    GivenUp,
    /// The queue has dropped it before any (further) attempt: it had expired.
    Expired,
    /// The queue refused it: full, or RED's early drop.
    QueueFull,
}

/// Place of an MSDU in the PPDU that carried it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InPpdu {
    /// Number of the PPDU: its station counts those with data, from 1 on and modulo 2³².
    pub number: u32,
    /// Place of its MPDU in the PSDU, the first 0.
    pub place: u16,
    /// MPDUs in the PSDU.
    pub mpdus: u16,
    /// Mode of the PPDU.
    pub mode: Mode,
}

/// The place of an MSDU in the order of its agreement of block acknowledgment, in which its receiver hands up. @80211-2020 10.25.6.6
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InOrder {
    /// Its TID.
    pub tid: u8,
    /// Its sequence number; that of all in its A-MSDU.
    pub seq: u16,
    /// The oldest number of its receiver and TID, behind this outcome, that is open: not acknowledged, and for all that is known its
    /// receiver waits for it. What was acknowledged of the numbers before it has been handed up; what stands behind it may be held.
    pub open: u16,
    /// It was acknowledged so long after its first transmission that its receiver may have lost patience before it came, and dropped it.
    pub is_late: bool,
}

impl InOrder {
    /// True once its receiver has handed it up, unless it came late.
    pub fn is_handed_up(&self) -> bool {
        self.is_before(self.open)
    }

    /// True if it stands before this number.
    pub fn is_before(&self, seq: u16) -> bool {
        is_before(self.seq, seq)
    }
}

/// Report of a MAC on an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxReport {
    /// Its fate.
    pub fate: Fate,
    /// The packet's serial in the arena.
    pub serial: u64,
    /// Receiver on this link.
    pub to: NodeId,
    /// Its access category, lowest 0; 0 under DCF.
    pub category: u8,
    /// Exchanges begun for it so far, whether they failed at the RTS or at the data frame.
    pub attempts: u8,
    /// The PPDU whose outcome this tells. `None`: its last exchange ended at the RTS, or it was dropped without an exchange.
    pub ppdu: Option<InPpdu>,
    /// Its place in the order in which its receiver hands up. `None`: as it comes, since no agreement stands with it; or nothing of it was
    /// settled, since this is an attempt, or its queue has dropped it.
    pub in_order: Option<InOrder>,
    /// Time at which it was queued.
    pub enqueued: SimTime,
    /// Time at which it first came to the head of the queue. One that a queue took back keeps it, so the time since then holds
    /// the service of others too.
    pub head: SimTime,
    /// Start of its first exchange: of its RTS, if it had one.
    pub first: SimTime,
    /// Time at which this was found out.
    pub done: SimTime,
    /// Time its frames and their answers have taken on the air, gaps not counted.
    pub airtime: Dur,
}

/// The attempt of a PSDU, once it is over: of one MPDU or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PsduReport<'a> {
    /// Its receiver and TID.
    pub link: RaTid,
    /// Number of the PPDU that carried it, as in [`InPpdu`]. `None`: the RTS before it was not answered, so none of it went out, and
    /// nothing is known of the mode.
    pub ppdu: Option<u32>,
    /// Mode of the data frame after [`crate::Transmit`], whether or not it went out.
    pub mode: Mode,
    /// The stage of its chain, counted from 0; 0 of a group's.
    pub stage: u8,
    /// Number of the attempt in that stage, counted from 1; 0 of a group's.
    pub nth: u8,
    /// Time on the air of all frames of the exchange, responses among them, gaps not counted.
    pub airtime: Dur,
    /// MPDUs in it.
    pub mpdus: usize,
    /// Of those, by their places, acknowledged. None of a group's: it is not asked.
    pub acknowledged: &'a MpduSet,
}
