//! Reno: fast recovery until the first ACK of new data.
//!
//! - **Source** @RFC5681 sec. 3.2; ends as in @RFC2581.
//! - **Departs** None.
//! - **Checked** `tests/all/scripts/recovery.rs`, `tests/all/pipe.rs`.

use super::{Info, Params, Recovery};
use wire::Seq;

/// Its declaration.
pub const INFO: Info =
    Info { id: "reno", summary: "fast recovery until the first new ACK", source: "RFC5681", params: &[] };

/// The recovery. It has no state.
#[derive(Debug)]
pub struct Reno;

/// Makes one.
pub fn make(_: &Params) -> Box<dyn Recovery> {
    Box::new(Reno)
}

impl Recovery for Reno {
    fn ends(&mut self, _ack: Seq, _recover: Seq) -> bool {
        true
    }
}
