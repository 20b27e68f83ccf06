//! The bandwidth-delay product of a way, by the letter of the dissertation.
//!
//! - **Source** @KLI06 section 4.4.6: "As an extension of MTM metric, we propose to differentiate different routes according to their
//!   bandwidth-delay product." No formula and no direction is given, and no figure shows it.
//! - **Departs** nothing to depart from: parameters are readings. The default is a weight, as MTM's is, of the whole way: the least wins.
//!   Equations 4.1 and 4.2 take both quantities of one link over one time where T_in is the same, so that their product is the packet's
//!   length, whatever the rate: over hops the metric is the hop count. Over the way it is the length times ΣT / max T.
//! - **Checked** `tests/all/metrics.rs`; `world/tests/all/route_metric.rs`.

use super::{LEARNS, Learning, RouteMetric, Way};
use plugin::{Info, Kind, Param, Params, Value};

const PREFER: Param = Param {
    key: "prefer",
    kind: Kind::Choice(&["least", "most"]),
    default: Value::Choice("least"),
    doc: "the product that wins: the text has no direction",
};
const OVER: Param = Param {
    key: "over",
    kind: Kind::Choice(&["way", "hops"]),
    default: Value::Choice("way"),
    doc: "min B times sum of T of the way, or the sum of each hop's product",
};

/// Its declaration.
pub const INFO: Info = Info {
    id: "bdp",
    summary: "bandwidth-delay product of the way, as a scheme measures it; without a formula in its source",
    source: "KLI06 section 4.4.6",
    params: &[PREFER, OVER, LEARNS[0], LEARNS[1], LEARNS[2], LEARNS[3], LEARNS[4]],
};

/// The metric.
pub fn make(params: &Params) -> Box<dyn RouteMetric> {
    let prefers_most = params.choice("prefer") == "most";
    let is_over_hops = params.choice("over") == "hops";
    Box::new(Bdp { prefers_most, is_over_hops, learning: Learning::of(params) })
}

#[derive(Debug)]
struct Bdp {
    prefers_most: bool,
    is_over_hops: bool,
    learning: Learning,
}

impl RouteMetric for Bdp {
    /// A way with a hop that counts as free has no product yet: it is tried before all others.
    fn weight(&self, way: &Way) -> u64 {
        let product = if self.is_over_hops { way.products } else { way.product() };
        match (way.free, self.prefers_most) {
            (0, true) => u64::MAX - product,
            (0, false) => product,
            _ => 0,
        }
    }

    fn grows(&self) -> bool {
        self.is_over_hops && !self.prefers_most && self.learning.unmeasured != super::Unmeasured::Free
    }

    fn learning(&self) -> Option<Learning> {
        Some(self.learning)
    }
}
