//! At a base station: what the MAC has given up on stands aside and is sent again, and others overtake it.

use mac::{Msdu, Next, Sought, TxQueue, Wrap};
use queue::{Limit, Space};
use std::collections::VecDeque;
use units::{Bytes, Dur, SimTime};
use wire::Packets;

/// The number of repetitions of an MSDU, and the pause between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    /// The times an MSDU is sent again after the MAC has given up on it.
    pub rounds: u32,
    pub pause: Dur,
    /// The MAC's limits of short and long failures, which make a round.
    pub attempts: [u8; 2],
}

impl Rounds {
    /// True of an MSDU whose failures have brought it to the end of a round, and of its last.
    fn ends(self, failures: (u8, u8)) -> (bool, bool) {
        let (n, limit) =
            if failures.1 > failures.0 { (failures.1, self.attempts[1]) } else { (failures.0, self.attempts[0]) };
        let (n, limit) = (u32::from(n), u32::from(limit.max(1)));
        // A counter stands still at 255.
        let is_last = n >= limit * (self.rounds + 1) || n >= u32::from(u8::MAX);
        (n.is_multiple_of(limit) || is_last, is_last)
    }
}

/// An MSDU that stands aside.
#[derive(Debug)]
struct Waits {
    msdu: Msdu,
    size: Bytes,
    until: SimTime,
}

/// The MSDUs that were given up, beside the inner queue.
#[derive(Debug)]
pub(super) struct Aside {
    how: Rounds,
    limit: Limit,
    mtu: Bytes,
    /// The MSDUs, in the order in which they may go.
    waits: VecDeque<Waits>,
    bytes: Bytes,
}

impl Aside {
    pub fn new(how: Rounds, limit: Limit, mtu: Bytes) -> Aside {
        Aside { how, limit, mtu, waits: VecDeque::new(), bytes: Bytes::ZERO }
    }

    /// The room that the MSDUs set aside take.
    fn taken(&self) -> Bytes {
        match self.limit {
            Limit::Packets(_) => self.mtu * self.waits.len() as u64,
            Limit::Bytes(_) => self.bytes,
        }
    }

    fn take(&mut self, place: usize) -> Option<Waits> {
        let waits = self.waits.remove(place)?;
        self.bytes -= waits.size;
        Some(waits)
    }
}

impl Wrap for Aside {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let needs = match self.limit {
            Limit::Packets(_) => self.mtu,
            Limit::Bytes(_) => all.get(&msdu.pkt).ip_len(),
        };
        if !self.waits.is_empty() && self.space(inner).free < needs {
            return Err(msdu);
        }
        inner.push(now, msdu, all)
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        if self.waits.front().is_some_and(|first| first.until <= now)
            && let Some(Waits { msdu, .. }) = self.take(0)
        {
            return Some(msdu);
        }
        inner.pop(now, all)
    }

    fn withdraw(&mut self, inner: &mut dyn TxQueue, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        match self.waits.iter().position(|waits| sought.is(&waits.msdu)) {
            Some(place) => self.take(place).map(|waits| waits.msdu),
            None => inner.withdraw(now, sought, all),
        }
    }

    fn failed(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        let (ends, is_done) = self.how.ends(msdu.failures);
        match inner.failed(now, msdu, is_last && ends, all) {
            Next::GiveUp(msdu) if !is_done => {
                let size = all.get(&msdu.pkt).ip_len();
                self.bytes += size;
                self.waits.push_back(Waits { msdu, size, until: now + self.how.pause });
                Next::Yield
            }
            next => next,
        }
    }

    fn next_wakeup(&self, inner: &dyn TxQueue) -> SimTime {
        let aside = self.waits.front().map_or(SimTime::NEVER, |first| first.until);
        inner.next_wakeup().min(aside)
    }

    fn space(&self, inner: &dyn TxQueue) -> Space {
        let inner = inner.space();
        Space {
            free: inner.free.saturating_sub(self.taken()),
            used: inner.used + self.bytes,
            entries: inner.entries + self.waits.len() as u32,
        }
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        self.bytes = Bytes::ZERO;
        let mut all: Vec<Msdu> = self.waits.drain(..).map(|waits| waits.msdu).collect();
        all.extend(inner.drain(now));
        all
    }
}
