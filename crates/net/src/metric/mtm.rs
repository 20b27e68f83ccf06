//! MTM: the time on the medium that a packet takes along the way, overhead included.
//!
//! - **Source** @AHR06: Awerbuch, Holmer & Rubens, "The Medium Time Metric: High Throughput Route Selection in Multi-Rate Ad Hoc Wireless
//!   Networks", Mobile Networks and Applications 11(2), 2006.
//! - **Departs** the paper, which was not at hand, divides by the reliability of a link; here every frame arrives. Under EDCA it waits
//!   DIFS and the first backoff of the DCF, whatever the category. The rate is the one that is set or, under a rate
//!   control, the highest at which both ends decode each other.
//! - **Checked** `tests/all/metrics.rs`; `world/tests/all/route_metric.rs`.

use super::{RouteMetric, Way};
use plugin::{Info, Params};

/// Its declaration.
pub const INFO: Info = Info {
    id: "mtm",
    summary: "time that a packet takes on the medium, overhead included, at the rates of the links; summed up",
    source: "AHR06",
    params: &[],
};

/// The metric.
pub fn make(_: &Params) -> Box<dyn RouteMetric> {
    Box::new(Mtm)
}

#[derive(Debug)]
struct Mtm;

impl RouteMetric for Mtm {
    fn weight(&self, way: &Way) -> u64 {
        way.medium.ns()
    }
}
