//! min B: the bandwidth of the narrowest link, as a scheme measures it.

use super::{LEARNS, Learning, RouteMetric, Way};
use plugin::{Info, Params};

/// Its declaration.
pub const INFO: Info = Info {
    id: "measured-bandwidth",
    summary: "bandwidth of the narrowest link, as a scheme measures it; the widest way wins",
    source: "KLI06 equation 4.6",
    params: &LEARNS,
};

/// The metric.
pub fn make(params: &Params) -> Box<dyn RouteMetric> {
    Box::new(MeasuredBandwidth(Learning::of(params)))
}

#[derive(Debug)]
struct MeasuredBandwidth(Learning);

impl RouteMetric for MeasuredBandwidth {
    /// Picoseconds that a byte takes.
    fn weight(&self, way: &Way) -> u64 {
        1_000_000_000_000 / way.bytes_per_s.max(1)
    }

    fn learning(&self) -> Option<Learning> {
        Some(self.0)
    }
}
