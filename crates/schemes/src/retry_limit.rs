//! The common part of schemes that set retry limits: a transmit queue that gives up by a limit of its own.

use mac::{Msdu, Next, TxQueue, Wrap};
use units::SimTime;
use wire::{Packet, Packets};

/// The number of times that a packet may be sent.
pub(crate) trait Limit {
    /// Transmissions in all. `None`: as the MAC says.
    fn transmissions(&self, packet: &Packet) -> Option<u8>;
}

units::debug_by_name!(Limit);

/// A limit around the queue that stands there. An MSDU is given up when either of its counters has reached it
/// (@80211-2020 10.3.4.4); a CTS resets the short one, with or without a scheme.
#[derive(Debug)]
pub(crate) struct Limited<L>(pub L);

impl<L: Limit> Wrap for Limited<L> {
    fn failed(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        let most = msdu.failures.0.max(msdu.failures.1);
        let is_last = self.0.transmissions(all.get(&msdu.pkt)).map_or(is_last, |limit| most >= limit);
        inner.failed(now, msdu, is_last, all)
    }
}
