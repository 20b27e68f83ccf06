//! NewReno: Reno whose fast recovery lasts until every loss of the window is repaired.
//!
//! - **Source** @RFC6582; growth and cuts are those of @RFC5681.
//! - **Sits** sender. **Reads** acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** growth per ACK as in [`super::reno`]; at the end of recovery the variant without a burst (step 3, 1);
//!   of the two timer variants the impatient one (only the first partial ACK restarts the timer). A partial ACK never
//!   deflates the window below ssthresh (as `dupwnd_` in ns-2), a case the RFC leaves to underflow.
//! - **Checked** `every_cc`; `tests/all/scripts/recovery.rs`.

use super::{Congestion, CongestionControl, Info, Params, Window, reno};
use crate::Ack;

/// Its declaration.
pub const INFO: Info = Info {
    id: "newreno",
    summary: "Reno that repairs all losses of a window in one recovery",
    source: "RFC6582",
    params: &[],
};

/// The controller. It has no state beyond the window; partial ACKs are the sender's.
#[derive(Debug, Default)]
pub struct NewReno;

/// Makes one.
pub fn make(_: &Params) -> Box<dyn CongestionControl> {
    Box::new(NewReno)
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        reno::grow(ack, win);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        match why {
            Congestion::FastRetransmit => win.cut_flight_to(0.5), // @RFC5681 eq. 4
            Congestion::EcnMark => win.mark_flight_to(0.5),
            Congestion::Rto { repeated } => reno::rto(repeated, win),
        }
    }
}
