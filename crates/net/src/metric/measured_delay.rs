//! ΣT: the sum of the delays of links, as a scheme measures them.

use super::{LEARNS, Learning, RouteMetric, Way};
use plugin::{Info, Params};

/// Its declaration.
pub const INFO: Info = Info {
    id: "measured-delay",
    summary: "sum of the links' delays, as a scheme measures them",
    source: "KLI06 equation 4.7",
    params: &LEARNS,
};

/// The metric.
pub fn make(params: &Params) -> Box<dyn RouteMetric> {
    Box::new(MeasuredDelay(Learning::of(params)))
}

#[derive(Debug)]
struct MeasuredDelay(Learning);

impl RouteMetric for MeasuredDelay {
    fn weight(&self, way: &Way) -> u64 {
        way.delay.ns()
    }

    fn learning(&self) -> Option<Learning> {
        Some(self.0)
    }
}
