//! NewReno: fast recovery until all that was in flight is acknowledged; a partial ACK repairs the next hole.
//!
//! - **Source** @RFC6582 sec. 3.2.
//! - **Departs** of the two timer variants the impatient one (only the first partial ACK restarts the timer).
//! - **Checked** `tests/all/scripts/recovery.rs`, `tests/all/pipe.rs`.

use super::{Info, Params, Recovery};
use wire::Seq;

/// Its declaration.
pub const INFO: Info = Info {
    id: "newreno",
    summary: "fast recovery until the window is repaired, a hole per partial ACK",
    source: "RFC6582",
    params: &[],
};

/// The recovery. It has no state.
#[derive(Debug)]
pub struct NewReno;

/// Makes one.
pub fn make(_: &Params) -> Box<dyn Recovery> {
    Box::new(NewReno)
}

impl Recovery for NewReno {
    fn ends(&mut self, ack: Seq, recover: Seq) -> bool {
        recover.le(ack)
    }

    fn guards(&self) -> bool {
        true
    }
}
