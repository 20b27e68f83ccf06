//! The number of hops.

use super::{RouteMetric, Way};
use plugin::{Info, Params};

/// Its declaration.
pub const INFO: Info = Info {
    id: "hop-count",
    summary: "the number of hops, whatever their rates",
    source: "DIJ59",
    params: &[],
};

/// The metric.
pub fn make(_: &Params) -> Box<dyn RouteMetric> {
    Box::new(HopCount)
}

#[derive(Debug)]
struct HopCount;

impl RouteMetric for HopCount {
    fn weight(&self, way: &Way) -> u64 {
        u64::from(way.hops)
    }
}
