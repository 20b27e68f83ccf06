//! New Jersey: Jersey whose bandwidth is estimated by the receiver's clock, where lost and compressed ACKs do not show.
//!
//! - **Source** @XTA05: Xu, Tian & Ansari, "Improving TCP Performance in Integrated Wireless Communications Networks", Computer
//!   Networks 47(2), 2005: only its abstract. Here eq. 4.4 of @SAN14 with the receiver's timestamp (@RFC7323) as t_n.
//! - **Sits** sender. **Reads** and **turns** as [`super::jersey`], and TSval.
//! - **Departs** (a) everything but the clock is Jersey's; (b) the sender takes the receiver's tick to be its own,
//!   `timestamp_tick`, which should be 1 ms at most; (c) without timestamps it is Jersey.
//! - **Checked** tests of [`super::jersey`]; `every_cc`; `senders` (the error of both estimates where ACKs are lost or compressed).

use super::{CongestionControl, Info, Params, jersey};

/// Its declaration.
pub const INFO: Info = Info {
    id: "new-jersey",
    summary: "Jersey with the receiver's timestamps for the bandwidth",
    source: "XTA05",
    params: jersey::PARAMS,
};

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(jersey::from_params(params, true))
}
