//! One list, first in, first out: what several disciplines do with packets that they let pass.

use crate::{List, Queued, Slot};

/// Packets in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Fifo(pub List);

impl Fifo {
    pub(super) fn push(&mut self, slot: Slot, queued: &mut Queued) {
        queued.push_back(&mut self.0, slot);
    }

    pub(super) fn pop(&mut self, queued: &mut Queued) -> Option<Slot> {
        queued.pop_front(&mut self.0)
    }

    pub(super) fn remove(&mut self, slot: Slot, queued: &mut Queued) {
        queued.unlink(&mut self.0, slot);
    }

    pub(super) fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        queued.iter(&self.0).find(|slot| is_it(*slot))
    }
}
