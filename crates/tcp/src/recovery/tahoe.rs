//! Tahoe: back to the loss, and slow start.
//!
//! - **Source** @JAC88; as restated by @FF96.
//! - **Departs** sends again everything from the loss on, as ns-2 does (4.3BSD went back to where it was after the one
//!   segment), with ns-2's `bugfix_`: duplicates that this itself provokes trigger nothing.
//! - **Checked** `tests/all/scripts/recovery.rs`, `tests/all/pipe.rs`.

use super::{Begins, Info, Params, Recovery};
use wire::Seq;

/// Its declaration.
pub const INFO: Info =
    Info { id: "tahoe", summary: "back to the loss and slow start, no fast recovery", source: "JAC88", params: &[] };

/// The recovery. It has no state.
#[derive(Debug)]
pub struct Tahoe;

/// Makes one.
pub fn make(_: &Params) -> Box<dyn Recovery> {
    Box::new(Tahoe)
}

impl Recovery for Tahoe {
    fn begins(&self) -> Begins {
        Begins::SlowStart
    }

    /// A loss that a scheme takes for no congestion is repaired in fast recovery; the first ACK ends it.
    fn ends(&mut self, _ack: Seq, _recover: Seq) -> bool {
        true
    }
}
