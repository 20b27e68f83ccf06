//! The packets of a queue, as a discipline sees them: a place for each packet, and lists of places.
//!
//! A packet keeps its place from when it is taken in until it leaves. Places are used again, so that a queue that has been as
//! long as it gets allocates nothing any more.

use crate::{FlowKey, Limit, Refused};
use units::{Bytes, SimTime};

/// The place of a queued packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// No place.
const NONE: u32 = u32::MAX;

/// The facts about a packet that a discipline may use, and its neighbours in its list.
#[derive(Debug, Clone, Copy)]
struct Place {
    size: Bytes,
    since: SimTime,
    flow: FlowKey,
    is_ect: bool,
    before: u32,
    after: u32,
}

/// Packets in an order that a discipline gives them. A packet is in one list at most.
#[derive(Debug, Clone, Copy)]
pub struct List {
    first: u32,
    last: u32,
    len: u32,
    bytes: Bytes,
}

impl Default for List {
    fn default() -> List {
        List { first: NONE, last: NONE, len: 0, bytes: Bytes::ZERO }
    }
}

impl List {
    /// Packets in it.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Their bytes.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The first.
    pub fn first(&self) -> Option<Slot> {
        (self.first != NONE).then_some(Slot(self.first))
    }

    /// The last.
    pub fn last(&self) -> Option<Slot> {
        (self.last != NONE).then_some(Slot(self.last))
    }
}

/// The packets of a queue.
#[derive(Debug)]
pub struct Queued {
    places: Vec<Place>,
    free: Vec<u32>,
    len: u32,
    bytes: Bytes,
    limit: Limit,
    mtu: Bytes,
    /// The packets that the discipline has dropped, until the queue has taken note.
    dropped: Vec<(Slot, Refused)>,
}

impl Queued {
    pub(crate) fn new(limit: Limit, mtu: Bytes, room: usize) -> Queued {
        let (places, free) = (Vec::with_capacity(room), Vec::with_capacity(room));
        Queued { places, free, len: 0, bytes: Bytes::ZERO, limit, mtu, dropped: Vec::new() }
    }

    /// Packets queued.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// True while none is queued.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Their bytes.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The limit of the queue.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Size of a full packet.
    pub fn mtu(&self) -> Bytes {
        self.mtu
    }

    /// True if a packet of this size fits.
    pub fn fits(&self, size: Bytes) -> bool {
        match self.limit {
            Limit::Packets(n) => self.len < n,
            Limit::Bytes(most) => self.bytes + size <= most,
        }
    }

    /// True while there is more than the limit: after a packet was taken in for which a discipline makes room.
    pub fn is_over(&self) -> bool {
        match self.limit {
            Limit::Packets(n) => self.len > n,
            Limit::Bytes(most) => self.bytes > most,
        }
    }

    /// Size of a packet.
    pub fn size(&self, slot: Slot) -> Bytes {
        self.places[slot.index()].size
    }

    /// The arrival time of a packet.
    pub fn since(&self, slot: Slot) -> SimTime {
        self.places[slot.index()].since
    }

    /// Its flow.
    pub fn flow(&self, slot: Slot) -> FlowKey {
        self.places[slot.index()].flow
    }

    /// True if it may be marked.
    pub fn is_ect(&self, slot: Slot) -> bool {
        self.places[slot.index()].is_ect
    }

    /// Puts a packet that is in no list at the end of this one.
    pub fn push_back(&mut self, list: &mut List, slot: Slot) {
        let place = &mut self.places[slot.index()];
        (place.before, place.after) = (list.last, NONE);
        list.bytes += place.size;
        match list.last {
            NONE => list.first = slot.0,
            last => self.places[last as usize].after = slot.0,
        }
        list.last = slot.0;
        list.len += 1;
    }

    /// Takes a packet out of its list.
    pub fn unlink(&mut self, list: &mut List, slot: Slot) {
        let Place { before, after, size, .. } = self.places[slot.index()];
        match before {
            NONE => list.first = after,
            before => self.places[before as usize].after = after,
        }
        match after {
            NONE => list.last = before,
            after => self.places[after as usize].before = before,
        }
        list.len -= 1;
        list.bytes -= size;
    }

    /// Takes the first packet out of a list.
    pub fn pop_front(&mut self, list: &mut List) -> Option<Slot> {
        let first = list.first()?;
        self.unlink(list, first);
        Some(first)
    }

    /// The packets of a list, the first first.
    pub fn iter(&self, list: &List) -> impl Iterator<Item = Slot> {
        core::iter::successors(list.first(), |slot| {
            let after = self.places[slot.index()].after;
            (after != NONE).then_some(Slot(after))
        })
    }

    /// Drops a packet that is in no list any more. The queue counts it by `why` and hands it to its owner.
    pub fn drop(&mut self, slot: Slot, why: Refused) {
        self.leave(slot);
        self.dropped.push((slot, why));
    }

    pub(crate) fn add(&mut self, size: Bytes, since: SimTime, flow: FlowKey, is_ect: bool) -> Slot {
        let place = Place { size, since, flow, is_ect, before: NONE, after: NONE };
        self.len += 1;
        self.bytes += size;
        match self.free.pop() {
            Some(index) => {
                self.places[index as usize] = place;
                Slot(index)
            }
            None => {
                self.places.push(place);
                Slot(self.places.len() as u32 - 1)
            }
        }
    }

    /// It is not queued any more; its place is still its own.
    pub(crate) fn leave(&mut self, slot: Slot) {
        self.len -= 1;
        self.bytes -= self.size(slot);
    }

    /// Its place may be used again.
    pub(crate) fn free(&mut self, slot: Slot) {
        self.free.push(slot.0);
    }

    #[inline]
    pub(crate) fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    pub(crate) fn next_dropped(&mut self) -> Option<(Slot, Refused)> {
        // Few are dropped at a time, and most of the time none.
        if self.dropped.is_empty() { None } else { Some(self.dropped.remove(0)) }
    }
}
