//! Every segment is acknowledged at once.
//!
//! - **Source** @RFC9293 sec. 3.8.6.3 (an ACK need not be delayed).
//! - **Departs** None.
//! - **Checked** `tests/all/scripts/receiver.rs`.

use super::{AckPolicy, AckTiming, Arrival, Delay, Info, Params};

/// Its declaration.
pub const INFO: Info =
    Info { id: "every", summary: "acknowledges every segment at once", source: "RFC9293", params: &[] };

/// The policy. It has no state.
#[derive(Debug)]
pub struct Every;

/// Makes one.
pub fn make(_: &Params, _: Delay) -> Box<dyn AckPolicy> {
    Box::new(Every)
}

impl AckPolicy for Every {
    fn on_data(&mut self, _: &Arrival) -> AckTiming {
        AckTiming::Now
    }
}
