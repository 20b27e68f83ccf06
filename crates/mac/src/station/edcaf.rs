//! One access category of a station: its queue, and the MSDUs that it is about to send. @80211-2020 10.23.2

use super::line::Line;
use crate::contention::Access;
use crate::counters::CategoryCounters;
use crate::link::NUMBERS;
use crate::msdu::Msdu;
use crate::psdu::{Body, Request, a_mpdu_len};
use crate::rate::Walk;
use crate::tx_queue::{RaTid, TxQueue};
use phy::Mode;
use units::{Bytes, Dur, SimTime};
use wire::Packets;

/// An EDCA function; the DCF of a station that has no categories.
#[derive(Debug)]
pub(super) struct Edcaf {
    pub access: Access,
    pub aifsn: u8,
    pub txop_limit: Dur,
    pub txop_exchanges: u16,
    pub queue: Box<dyn TxQueue>,
    /// True if the queue is told of attempts.
    pub is_heeding: bool,
    /// True if the queue may drop, or let expire, what it has taken in.
    pub lets_go: bool,
    /// MSDUs in service: first those of the PSDU that is sent or tried next, then what was taken out of the queue ahead of its
    /// time so that a Duration field could cover it.
    pub in_service: Line,
    /// The number of them that the PSDU at hand carries.
    pub in_psdu: usize,
    /// Bytes from the start of one of its MPDUs to that of the next at least.
    pub every: Bytes,
    /// The window has kept an MSDU out of that PSDU.
    pub is_stalled: bool,
    /// Another MSDU of its receiver and TID waits.
    pub has_more: bool,
    /// Block Ack Requests that may still go out for that PSDU before it is sent again: it was not answered. 0: none goes.
    pub requests_left: u8,
    /// The number of the last request: everything before this number is settled.
    pub requested: u16,
    /// The way of the first of them along its chain of modes.
    pub walk: Walk,
    /// Time on the air of the exchange at hand so far.
    pub airtime: Dur,
    /// The time at which a queue that holds something back wants to be popped again.
    pub held_until: SimTime,
    pub counters: CategoryCounters,
}

impl Edcaf {
    pub fn new(
        access: Access,
        aifsn: u8,
        txop_limit: Dur,
        txop_exchanges: u16,
        queue: Box<dyn TxQueue>,
        mode: Mode,
    ) -> Edcaf {
        Edcaf {
            access,
            aifsn,
            txop_limit,
            txop_exchanges,
            is_heeding: queue.heeds_attempts(),
            lets_go: queue.lets_go(),
            queue,
            in_service: Line::default(),
            in_psdu: 1,
            every: Bytes::ZERO,
            is_stalled: false,
            has_more: false,
            requests_left: 0,
            requested: 0,
            walk: Walk::new(mode),
            airtime: Dur::ZERO,
            held_until: SimTime::NEVER,
            counters: CategoryCounters::default(),
        }
    }

    /// The MSDU in service.
    pub fn current(&self) -> Option<&Msdu> {
        self.in_service.front()
    }

    /// The MSDUs of the PSDU at hand.
    pub fn psdu(&self) -> impl Iterator<Item = &Msdu> {
        self.in_service.iter().take(self.in_psdu)
    }

    /// The same, to note what happens to them.
    pub fn psdu_mut(&mut self) -> impl Iterator<Item = &mut Msdu> {
        self.in_service.iter_mut().take(self.in_psdu)
    }

    /// Length of that PSDU.
    #[inline]
    pub fn psdu_len(&self) -> Bytes {
        match self.current() {
            Some(one) if self.in_psdu == 1 => one.mpdu,
            _ => a_mpdu_len(self.psdu().map(|msdu| msdu.mpdu), self.every),
        }
    }

    /// True if a Block Ack Request is what it sends next: of a PSDU that was not answered, or for what was withdrawn.
    pub fn requests(&self) -> bool {
        self.requests_left > 0 || self.current().is_some_and(|msdu| msdu.is_withdrawn)
    }

    /// The content of a Block Ack Request: the oldest number that is not settled, be it in service or back in the queue.
    pub fn request(&mut self, now: SimTime, all: &mut Packets) -> Body {
        let oldest = self.in_service.iter().find(|msdu| !msdu.is_withdrawn && msdu.seq.is_some());
        let of = self.current();
        let oldest = oldest.filter(|msdu| of.is_some_and(|of| RaTid::of(of) == RaTid::of(msdu)));
        // Behind all that was withdrawn, if nothing else is open.
        let behind = || self.psdu().last().and_then(|msdu| msdu.seq).map_or(0, |seq| (seq + 1) % NUMBERS);
        let start = oldest.and_then(|msdu| msdu.seq).unwrap_or_else(behind);
        let of = of.map(RaTid::of);
        let yielded = of.and_then(|of| self.queue.peek(now, of, all)).and_then(|msdu| msdu.seq);
        let start = yielded.filter(|seq| start.wrapping_sub(*seq) % NUMBERS < NUMBERS / 2).unwrap_or(start);
        let tid = of.and_then(|of| of.tid).unwrap_or_default();
        self.requested = start;
        Body::Request(Request { tid, start })
    }

    /// MSDUs in its care.
    pub fn backlog(&self) -> u64 {
        u64::from(self.queue.space().entries) + self.in_service.msdus() as u64
    }
}
