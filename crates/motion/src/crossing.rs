//! The instants at which the distance of two nodes crosses a radius.

use crate::Leg;
use units::{Dur, SimTime};

/// The next instant, not before `now`, at which two nodes on these legs come within `radius` metres of each other, or if they are
/// (`is_near`) leave it. [`SimTime::NEVER`] if not before one of the legs ends.
///
/// With p and v the relative place and velocity, |p + v t|² = r² is a quadratic: t = (−p·v ± √D) / |v|², where
/// D = |v|² r² − (p × v)² (Lagrange's identity; p·p − r² would cancel where nodes graze). Who meets is near from the first nanosecond on at
/// which the distance is at most the radius, and parts at the first at which it is more. `is_near` is the caller's: what a root's
/// rounding leaves of a picometre turns nobody back.
pub fn crossing(a: &Leg, b: &Leg, radius: f64, is_near: bool, now: SimTime) -> SimTime {
    let v = [0, 1].map(|axis| b.velocity[axis] - a.velocity[axis]);
    let square = v[0] * v[0] + v[1] * v[1];
    if square == 0.0 {
        return SimTime::NEVER;
    }
    let (one, other) = (a.place(now), b.place(now));
    let p = [0, 1].map(|axis| other[axis] - one[axis]);
    let closing = -(p[0] * v[0] + p[1] * v[1]);
    if !is_near && closing <= 0.0 {
        return SimTime::NEVER;
    }
    let cross = p[0] * v[1] - p[1] * v[0];
    let root = square * radius * radius - cross * cross;
    let after = if is_near {
        // Beside the disc they are near by rounding only.
        let seconds = if root > 0.0 { (closing + libm::sqrt(root)) / square } else { 0.0 };
        let ns = libm::floor(seconds.max(0.0) * 1e9);
        if ns >= FAR_NS { return SimTime::NEVER } else { Dur::from_ns(ns as u64 + 1) }
    } else if root > 0.0 {
        // The nearer root is a difference of two near numbers where they are close: it is the product of the roots over the other.
        let inside = p[0] * p[0] + p[1] * p[1] - radius * radius;
        let ns = libm::ceil((inside / (closing + libm::sqrt(root))).max(0.0) * 1e9);
        if ns >= FAR_NS { return SimTime::NEVER } else { Dur::from_ns(ns as u64) }
    } else {
        return SimTime::NEVER;
    };
    let at = now + after;
    if at < a.ends.min(b.ends) { at } else { SimTime::NEVER }
}

/// Beyond 10⁹ s no run goes.
const FAR_NS: f64 = 1e18;
