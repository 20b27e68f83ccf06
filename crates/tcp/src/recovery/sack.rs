//! SACK: the scoreboard tells what is missing and how much is in the network.
//!
//! - **Source** @RFC6675; blocks are @RFC2018's. With `prr` @RFC9937 says how much leaves, with `rack` @RFC8985 what is
//!   lost.
//! - **Departs** (a) a segment is SACKed as a whole or not at all; (b) limited transmit (step 3) is part of it, whatever
//!   `limited_transmit` says; (c) cwnd stays at ssthresh at the end, which leaves no burst since the pipe is full;
//!   (d) after a timeout what is SACKed is kept, and only what is not is sent again (sec. 5.1 allows both); (e) a repair is
//!   the segment that was lost, not up to a full segment of what is missing; (f) no rescue (sec. 4, NextSeg (4)) of a
//!   segment of which a copy is in flight.
//! - **Checked** `tests/all/scripts/sack.rs`, `tests/all/pipe.rs`.

use super::{Evidence, Info, Params, Recovery};
use wire::Seq;

/// Its declaration.
pub const INFO: Info = Info {
    id: "sack",
    summary: "repairs what SACK blocks leave out, as long as the pipe allows",
    source: "RFC6675",
    params: &[],
};

/// The recovery. Its state is the sender's scoreboard.
#[derive(Debug)]
pub struct Sack;

/// Makes one.
pub fn make(_: &Params) -> Box<dyn Recovery> {
    Box::new(Sack)
}

impl Recovery for Sack {
    fn evidence(&self) -> Evidence {
        Evidence::Scoreboard
    }

    fn ends(&mut self, ack: Seq, recover: Seq) -> bool {
        recover.le(ack)
    }
}
