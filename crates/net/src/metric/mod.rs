//! Metrics of routes: of two ways the one of less weight is taken.
//!
//! A metric is one function from what adds up along a way ([`Way`]) to its weight. It knows neither radios nor modes: the driver tells the
//! [`Link`] of each hop, and schemes may measure it ([`Measured`](crate::Measured)). Left out: metrics that are a node's own, and loss rates.

use crate::{Costs, Hop};
use plugin::{Kind, Param, Params, Value};
use std::cmp::Ordering;
use units::{Dur, NodeId};

/// The properties of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The time that a full packet takes with all its overhead, at the rate that is set.
    pub medium: Dur,
    /// The delay of a packet, as measured.
    pub delay: Dur,
    /// Bytes per second, as measured.
    pub bytes_per_s: u64,
    /// True if nobody has measured it, and it counts as [free](Unmeasured::Free).
    pub is_free: bool,
}

impl Link {
    /// The product of bandwidth and delay, in thousandths of a byte.
    fn product(&self) -> u64 {
        product(self.bytes_per_s, self.delay)
    }
}

/// Bandwidth times delay, in thousandths of a byte.
fn product(bytes_per_s: u64, delay: Dur) -> u64 {
    u64::try_from(u128::from(bytes_per_s) * u128::from(delay.ns()) / 1_000_000).unwrap_or(u64::MAX)
}

/// The sums along a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Hops.
    pub hops: u32,
    /// The sum of [`Link::medium`].
    pub medium: Dur,
    /// The sum of [`Link::delay`].
    pub delay: Dur,
    /// The least [`Link::bytes_per_s`].
    pub bytes_per_s: u64,
    /// The sum of bandwidth times delay of each hop, in thousandths of a byte.
    pub products: u64,
    /// Hops that are [free](Link::is_free).
    pub free: u32,
}

impl Way {
    /// A way that is at its end.
    pub const NONE: Way =
        Way { hops: 0, medium: Dur::ZERO, delay: Dur::ZERO, bytes_per_s: u64::MAX, products: 0, free: 0 };

    /// A way that begins with this link.
    #[must_use]
    pub fn over(self, link: &Link) -> Way {
        Way {
            hops: self.hops + 1,
            medium: self.medium + link.medium,
            delay: self.delay + link.delay,
            bytes_per_s: self.bytes_per_s.min(link.bytes_per_s),
            products: self.products.saturating_add(link.product()),
            free: self.free + u32::from(link.is_free),
        }
    }

    /// Its least bandwidth times its delay, in thousandths of a byte.
    pub fn product(&self) -> u64 {
        product(self.bytes_per_s, self.delay)
    }
}

/// The properties of a hop that nobody has measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmeasured {
    /// No delay and no end of bandwidth: each way is tried once.
    Free,
    /// Its medium time is its delay, and a full packet in that time its bandwidth.
    Medium,
}

/// The use of measurements by a metric: see [`Measured`](crate::Measured).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learning {
    /// The share of a new measurement in the smoothed one.
    pub gain: f64,
    /// The share by which a smoothed measurement must differ from the one that routes were found with.
    pub change: f64,
    /// The least time between two searches.
    pub hold: Dur,
    /// The age at which a measurement is forgotten.
    pub forget: Dur,
    /// Hops that nobody has measured.
    pub unmeasured: Unmeasured,
}

impl Learning {
    /// As these parameters say: those of [`LEARNS`].
    pub fn of(params: &Params) -> Learning {
        Learning {
            gain: params.float("gain"),
            change: params.float("change"),
            hold: params.time("hold"),
            forget: params.time("forget"),
            unmeasured: if params.choice("unmeasured") == "free" { Unmeasured::Free } else { Unmeasured::Medium },
        }
    }
}

/// The longest time of a parameter.
const LONGEST: Dur = Dur::from_secs(1_000_000);

/// The parameters of metrics that schemes measure. All defaults are our choice: no paper has them.
pub const LEARNS: [Param; 5] = [
    Param {
        key: "gain",
        kind: Kind::Float { min: 0.001, max: 1.0 },
        default: Value::Float(0.125),
        doc: "share of a new measurement of a link in the smoothed one",
    },
    Param {
        key: "change",
        kind: Kind::Float { min: 0.0, max: 10.0 },
        default: Value::Float(0.25),
        doc: "share by which a link must have changed for routes to be found anew",
    },
    Param {
        key: "hold",
        kind: Kind::Time { min: Dur::ZERO, max: LONGEST },
        default: Value::Time(Dur::from_secs(1)),
        doc: "least time between two searches for routes",
    },
    Param {
        key: "forget",
        kind: Kind::Time { min: Dur::from_ms(1), max: LONGEST },
        default: Value::Time(Dur::from_secs(60)),
        doc: "age at which the measurement of a link is forgotten, so that its way is tried again",
    },
    Param {
        key: "unmeasured",
        kind: Kind::Choice(&["free", "medium"]),
        default: Value::Choice("free"),
        doc: "a link that nobody has measured: free, so that its way is tried, or of its medium time",
    },
];

/// The weight of ways.
pub trait RouteMetric {
    /// The weight of a way: less is better. Of two next hops whose ways have one weight the one of fewer hops is taken. Where a weight is no
    /// sum (the narrowest link) the rest of a way was chosen by its own weight, so that the whole need not have the fewest.
    fn weight(&self, way: &Way) -> u64;

    /// True if the weight never falls as a way grows. Otherwise a node takes hops alone that lead nearer to the destination by medium time.
    fn grows(&self) -> bool {
        true
    }

    /// The use of measurements; `None` if it needs none.
    fn learning(&self) -> Option<Learning> {
        None
    }
}

units::debug_by_name!(RouteMetric);

/// The source of the properties of hops.
pub trait Links {
    /// The hop from `from`.
    fn link(&self, from: NodeId, hop: Hop) -> Link;
}

/// The costs of ways by a metric.
#[derive(Debug)]
pub struct Weighed<'a, L> {
    /// The metric.
    pub metric: &'a dyn RouteMetric,
    /// The hops.
    pub links: L,
}

/// A way and its weight. Compared by the weight, then by hops.
#[derive(Debug, Clone, Copy)]
pub struct WeighedWay {
    weight: u64,
    way: Way,
}

impl WeighedWay {
    fn key(&self) -> (u64, u32) {
        (self.weight, self.way.hops)
    }
}

impl PartialEq for WeighedWay {
    fn eq(&self, other: &WeighedWay) -> bool {
        self.key() == other.key()
    }
}

impl Eq for WeighedWay {}

impl PartialOrd for WeighedWay {
    fn partial_cmp(&self, other: &WeighedWay) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WeighedWay {
    fn cmp(&self, other: &WeighedWay) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<L: Links> Costs for Weighed<'_, L> {
    type Cost = WeighedWay;

    fn none(&self) -> WeighedWay {
        // A way that is at its end is better than any that goes on, whatever the metric says of it.
        WeighedWay { weight: 0, way: Way::NONE }
    }

    fn over(&self, from: NodeId, hop: Hop, rest: WeighedWay) -> WeighedWay {
        let way = rest.way.over(&self.links.link(from, hop));
        WeighedWay { weight: self.metric.weight(&way), way }
    }

    fn grows(&self) -> bool {
        self.metric.grows()
    }

    fn length(&self, from: NodeId, hop: Hop) -> u64 {
        self.links.link(from, hop).medium.ns()
    }
}

/// The constructor of a metric.
pub type Make = fn(&Params) -> Box<dyn RouteMetric>;

/// The metric of scenarios that name none.
pub const DEFAULT: &str = hop_count::INFO.id;

plugin::registry! { "route metric", Make:
    "bdp" => bdp,
    "hop-count" => hop_count,
    "measured-bandwidth" => measured_bandwidth,
    "measured-delay" => measured_delay,
    "mtm" => mtm,
}
