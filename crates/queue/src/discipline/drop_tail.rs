//! Drop-tail: first in, first out; what finds the queue full is dropped.
//!
//! - **Source** the queue of every router before active queue management; @RFC7567 sec. 1.
//! - **Departs** none.
//! - **Checked** tests in `lib.rs`; `tests/all/books.rs`.

use super::fifo::Fifo;
use super::{Discipline, Outlet, Unsound};
use crate::{Mark, Queued, Slot};
use plugin::{Info, Params};
use units::SimTime;

/// Its declaration.
pub static INFO: Info =
    Info { id: "drop-tail", summary: "What finds it full is dropped.", source: "RFC7567 sec. 1", params: &[] };

/// One of them.
///
/// # Errors
/// None.
pub fn make(_: &Params, _: Outlet) -> Result<Box<dyn Discipline>, Unsound> {
    Ok(Box::new(DropTail::default()))
}

#[derive(Debug, Default)]
struct DropTail(Fifo);

impl Discipline for DropTail {
    fn push(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        self.0.push(slot, queued);
    }

    fn pop(&mut self, _: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)> {
        Some((self.0.pop(queued)?, Mark::None))
    }

    fn remove(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        self.0.remove(slot, queued);
    }

    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        self.0.find(queued, is_it)
    }

    fn only_refuses(&self) -> bool {
        true
    }

    fn surplus(&self, _: &Queued) -> Option<Slot> {
        self.0.0.last()
    }
}
