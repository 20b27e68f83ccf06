//! What schemes of retry limits share: a transmit queue that gives up by a limit of its own.

use mac::{Msdu, Next, RaTid, TxQueue};
use queue::Space;
use units::SimTime;
use wire::{Packet, Packets};

/// How often a packet may be sent.
pub(crate) trait Limit: std::fmt::Debug {
    /// Transmissions in all. `None`: as the MAC says.
    fn transmissions(&self, packet: &Packet) -> Option<u8>;
}

/// The queue that stands there, with a limit. An MSDU is given up when either of its counters has reached it
/// (@80211-2020 10.3.4.4); a CTS resets the short one, with or without a scheme.
#[derive(Debug)]
pub(crate) struct Limited<L> {
    inner: Box<dyn TxQueue>,
    limit: L,
}

impl<L: Limit> Limited<L> {
    /// Around this queue.
    pub fn new(inner: Box<dyn TxQueue>, limit: L) -> Limited<L> {
        Limited { inner, limit }
    }
}

impl<L: Limit> TxQueue for Limited<L> {
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        self.inner.push(now, msdu, all)
    }

    fn pop(&mut self, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        self.inner.pop(now, all)
    }

    fn dropped(&mut self, all: &Packets) -> Option<Msdu> {
        self.inner.dropped(all)
    }

    fn peek(&self, of: RaTid) -> Option<&Msdu> {
        self.inner.peek(of)
    }

    fn pop_for(&mut self, now: SimTime, of: RaTid, all: &Packets) -> Option<Msdu> {
        self.inner.pop_for(now, of, all)
    }

    fn withdraw(&mut self, now: SimTime, serial: u64, all: &Packets) -> Option<Msdu> {
        self.inner.withdraw(now, serial, all)
    }

    fn expired(&mut self, now: SimTime, all: &Packets) -> Option<Msdu> {
        self.inner.expired(now, all)
    }

    fn failed(&mut self, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        let most = msdu.failures.0.max(msdu.failures.1);
        let is_last = self.limit.transmissions(all.get(&msdu.pkt)).map_or(is_last, |limit| most >= limit);
        self.inner.failed(now, msdu, is_last, all)
    }

    fn next_wakeup(&self) -> SimTime {
        self.inner.next_wakeup()
    }

    fn space(&self) -> Space {
        self.inner.space()
    }

    fn drain(&mut self, now: SimTime) -> Vec<Msdu> {
        self.inner.drain(now)
    }

    fn stats(&self, now: SimTime) -> Option<queue::Stats> {
        self.inner.stats(now)
    }
}
