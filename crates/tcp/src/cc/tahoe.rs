//! Tahoe: fast retransmit, then slow start.
//!
//! - **Source** @JAC88: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; as restated by @FF96: Fall & Floyd,
//!   "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996.
//! - **Sits** sender. **Reads** acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** cuts from the flight size (@RFC5681 eq. 4), not from cwnd; sends again everything from the loss on, as
//!   ns-2 does (4.3BSD went back to where it was after the one segment), with ns-2's `bugfix_`: duplicates that this
//!   itself provokes trigger nothing.
//! - **Checked** `every_cc`; `tests/all/scripts/recovery.rs`.

use super::{Congestion, CongestionControl, Info, Params, Recovery, Window, reno};
use crate::Ack;

/// Its declaration.
pub const INFO: Info =
    Info { id: "tahoe", summary: "slow start after every loss, no fast recovery", source: "JAC88", params: &[] };

/// The controller. It has no state beyond the window.
#[derive(Debug, Default)]
pub struct Tahoe;

/// Makes one.
pub fn make(_: &Params) -> Box<dyn CongestionControl> {
    Box::new(Tahoe)
}

impl CongestionControl for Tahoe {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        reno::grow(ack, win);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        match why {
            Congestion::FastRetransmit => reno::rto(false, win),
            Congestion::EcnMark => win.mark_flight_to(0.5), // no slow start: nothing is lost
            Congestion::Rto { repeated } => reno::rto(repeated, win),
        }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Tahoe
    }
}
