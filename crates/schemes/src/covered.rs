//! MSDUs that a queue around another has taken out of it, since a later one says all that they say.

use mac::Msdu;
use queue::Space;
use std::collections::VecDeque;
use units::Bytes;
use wire::Packets;

/// MSDUs that wait to be handed out by `expired`. Until then they count as queued, and take no room.
#[derive(Debug, Default)]
pub(crate) struct Covered {
    msdus: VecDeque<(Msdu, Bytes)>,
    bytes: Bytes,
}

impl Covered {
    pub(crate) fn push(&mut self, msdu: Msdu, all: &Packets) {
        let len = all.get(&msdu.pkt).ip_len();
        self.bytes += len;
        self.msdus.push_back((msdu, len));
    }

    pub(crate) fn pop(&mut self) -> Option<Msdu> {
        let (msdu, len) = self.msdus.pop_front()?;
        self.bytes -= len;
        Some(msdu)
    }

    /// The space of a queue in which they are counted too.
    pub(crate) fn within(&self, inner: Space) -> Space {
        Space { used: inner.used + self.bytes, entries: inner.entries + self.msdus.len() as u32, ..inner }
    }
}
