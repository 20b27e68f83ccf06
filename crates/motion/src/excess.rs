//! The instant from which on one node is so much stronger at a place than another.

use crate::{Leg, Point};
use units::{Dur, SimTime};

/// A transmitter as a node hears it: its leg, and its power in dB at a distance in metres, which must not grow with it.
pub type Heard<'a> = (&'a Leg, &'a dyn Fn(f64) -> f64);

/// An excess of so short a duration may pass unseen.
const FINEST: Dur = Dur::from_ms(1);

/// The first instant, not before `now` and before `until` and the end of any leg, at which `other` is more than `excess` dB stronger than `own`
/// at a node; [`SimTime::NEVER`] if there is none.
///
/// Over a span the distance to a transmitter lies between those at the point of closest approach and at the farther end. Since power falls
/// with distance, the excess is at most that of the least distance to `other` over the greatest to `own`: spans in which that is not enough
/// are left out, others halved. No law is asked for more than that, and nothing is stepped.
pub fn exceeds(node: &Leg, own: Heard<'_>, other: Heard<'_>, excess: f64, now: SimTime, until: SimTime) -> SimTime {
    let ends = [node, own.0, other.0].iter().fold(until, |first, leg| first.min(leg.ends));
    if ends <= now {
        return SimTime::NEVER;
    }
    let at = |leg: &Leg, at: SimTime| -> Point {
        let (here, there) = (node.place(at), leg.place(at));
        [0, 1].map(|axis| there[axis] - here[axis])
    };
    let is_above = |instant: SimTime| {
        let strength = |(leg, power): Heard<'_>| power(length(at(leg, instant)));
        strength(other) - strength(own) > excess
    };
    if is_above(now) {
        return now;
    }
    let may_be = |from: SimTime, to: SimTime| {
        let least = nearest(at(other.0, from), at(other.0, to));
        let greatest = length(at(own.0, from)).max(length(at(own.0, to)));
        (other.1)(least) - (own.1)(greatest) > excess
    };
    // Spans that are left, the first last. At the begin of each there is no excess.
    let mut spans = vec![(now, SimTime::from_ns(ends.ns() - 1))];
    while let Some((from, to)) = spans.pop() {
        if !may_be(from, to) {
            continue;
        }
        let lasts = to.since(from);
        if lasts <= FINEST {
            if is_above(to) {
                return first(from, to, is_above);
            }
            continue;
        }
        let middle = from + lasts / 2;
        if is_above(middle) {
            // Before it there may be an earlier one, but not later than it.
            spans.clear();
            spans.push((from, middle));
        } else {
            spans.push((middle, to));
            spans.push((from, middle));
        }
    }
    SimTime::NEVER
}

/// The first nanosecond at which it holds, of a span at whose end it does and at whose begin it does not.
fn first(from: SimTime, to: SimTime, holds: impl Fn(SimTime) -> bool) -> SimTime {
    let (mut low, mut high) = (from, to);
    while high.since(low) > Dur::from_ns(1) {
        let middle = low + high.since(low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

fn length(p: Point) -> f64 {
    libm::hypot(p[0], p[1])
}

/// The least distance of the origin from a straight way.
fn nearest(from: Point, to: Point) -> f64 {
    let way = [0, 1].map(|axis| to[axis] - from[axis]);
    let square = way[0] * way[0] + way[1] * way[1];
    if square == 0.0 {
        return length(from);
    }
    let along = (-(from[0] * way[0] + from[1] * way[1]) / square).clamp(0.0, 1.0);
    length([0, 1].map(|axis| from[axis] + along * way[axis]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log-distance of exponent 3.
    fn power(metres: f64) -> f64 {
        -30.0 * libm::log10(metres.max(1.0))
    }

    fn at(node: &Leg, other: Point, excess: f64, until: u64) -> SimTime {
        let (one, two) = (Leg::rest(SimTime::ZERO, [0.0, 0.0]), Leg::rest(SimTime::ZERO, other));
        exceeds(node, (&one, &power), (&two, &power), excess, SimTime::ZERO, SimTime::from_ns(until))
    }

    #[test]
    fn on_the_line_between_two_it_is_where_the_distances_have_the_ratio_of_the_excess() {
        // 30 log₁₀(x / (100 − x)) = 8 dB: x = 100 k / (1 + k), k = 10^(8/30).
        let k = libm::pow(10.0, 8.0 / 30.0);
        let ns = 100.0 * k / (1.0 + k) / 2.0 * 1e9;
        let node = Leg::away(SimTime::ZERO, [0.0, 0.0], [2.0, 0.0]);
        let got = at(&node, [100.0, 0.0], 8.0, 60_000_000_000);
        assert!((got.ns() as f64 - ns).abs() <= 2.0, "{got:?} {ns}");
        assert_eq!(at(&node, [100.0, 0.0], 8.0, ns as u64 - 10), SimTime::NEVER, "not before the end");
    }

    #[test]
    fn an_excess_that_lasts_for_a_short_time_of_a_long_leg_is_found_and_one_that_is_missed_is_none() {
        // It passes the other at a distance of 10 m, 1000 m from its own: 60 dB over 30 log₁₀(10), 30 dB to each side of the closest approach.
        let node = Leg::away(SimTime::ZERO, [1000.0, -5000.0], [0.0, 10.0]);
        let got = at(&node, [1010.0, 0.0], 59.9, u64::MAX / 2);
        // 30 log₁₀(√(1000² + y²) / √(10² + y²)) = 59.9: y² (r − 1) = 1000² − 100 r, r = 10^(2 · 59.9 / 30).
        let r = libm::pow(10.0, 2.0 * 59.9 / 30.0);
        let y = libm::sqrt((1e6 - 100.0 * r) / (r - 1.0));
        assert!((got.ns() as f64 - (500.0 - y / 10.0) * 1e9).abs() <= 10.0, "{got:?} {y}");
        assert_eq!(at(&node, [1010.0, 0.0], 60.1, u64::MAX / 2), SimTime::NEVER);
    }
}
