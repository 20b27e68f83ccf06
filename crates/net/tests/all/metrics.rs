//! Metrics of routes over a narrow short way and a wide long one, with weights worked by hand.
//!
//! Source 0, relay 1, destination 2. A packet of 1500 B takes 13 ms on the narrow hop from 0 to 2, and 2 ms on each of the wide ones over 1.

use net::measured::{known, unmeasured};
use net::metric::{self, Learning};
use net::{Hop, Link, LinkSample, Links, Measured, RouteMetric, Routes, Unmeasured, Way, Weighed};
use plugin::Value;
use units::{Bytes, Dur, InterfaceId, NodeId, SimTime};

const PACKET: Bytes = Bytes(1500);
const NARROW: Dur = Dur::from_ms(13);
const WIDE: Dur = Dur::from_ms(2);

fn air(to: u32) -> Hop {
    Hop::Air(InterfaceId(0), NodeId(to))
}

fn triangle() -> Vec<Vec<Hop>> {
    vec![vec![air(1), air(2)], vec![air(0), air(2)], vec![air(0), air(1)]]
}

/// The time of a packet on each hop; nothing is measured, or all is and takes that time.
struct Times {
    direct: Dur,
    each: Dur,
    measured: Option<Measured>,
    is_measured: bool,
}

impl Times {
    fn all(direct: Dur, each: Dur) -> Times {
        Times { direct, each, measured: None, is_measured: true }
    }

    fn of(&self, from: NodeId, to: NodeId) -> Dur {
        if from.0 + to.0 == 2 { self.direct } else { self.each }
    }
}

impl Links for Times {
    fn link(&self, from: NodeId, hop: Hop) -> Link {
        let time = self.of(from, hop.node());
        match &self.measured {
            Some(measured) => measured.link(from, hop.node(), time, PACKET),
            None if self.is_measured => known(time, time, PACKET),
            None => unmeasured(Unmeasured::Free, time, PACKET),
        }
    }
}

fn made(id: &str, set: &[(&str, Value)]) -> Box<dyn RouteMetric> {
    let mut chosen = metric::find(id).expect("a metric");
    for (key, value) in set {
        chosen.params.set(key, *value);
    }
    (chosen.plugin)(&chosen.params)
}

/// The neighbour over which 0 reaches 2.
fn takes(metric: &dyn RouteMetric, links: Times) -> u32 {
    let routes = Routes::least_cost(&triangle(), [NodeId(2)], &Weighed { metric, links });
    routes.next(NodeId(0), NodeId(2)).expect("a way").node().0
}

const SHORT: u32 = 2;
const LONG: u32 = 1;

#[test]
fn hop_count_takes_the_narrow_short_way_and_the_other_metrics_the_wide_long_one() {
    // MTM and sum of delays: 13 ms against 2 + 2. Least bandwidth: 1500 B / 13 ms = 115 kB/s against 750.
    for (id, way) in [("hop-count", SHORT), ("mtm", LONG), ("measured-delay", LONG), ("measured-bandwidth", LONG)] {
        assert_eq!(takes(&*made(id, &[]), Times::all(NARROW, WIDE)), way, "{id}");
    }
}

#[test]
fn where_the_short_way_is_the_wider_one_all_take_it() {
    for id in ["hop-count", "mtm", "measured-delay", "measured-bandwidth", "bdp"] {
        assert_eq!(takes(&*made(id, &[]), Times::all(WIDE, NARROW)), SHORT, "{id}");
    }
    // 3 ms against 2 + 2: the sum says short, the bottleneck long.
    let near = || Times::all(Dur::from_ms(3), WIDE);
    assert_eq!(takes(&*made("mtm", &[]), near()), SHORT);
    assert_eq!(takes(&*made("measured-delay", &[]), near()), SHORT);
    assert_eq!(takes(&*made("measured-bandwidth", &[]), near()), LONG);
}

#[test]
fn the_product_of_one_hop_is_the_packet_whatever_its_rate_so_the_letter_does_not_see_the_width() {
    let way = |times: &[Dur]| times.iter().fold(Way::NONE, |way, time| way.over(&known(*time, *time, PACKET)));
    // 1500 B in thousandths, but for the whole bytes per second: 1500 / 0.013 = 115384.6.
    assert_eq!(way(&[NARROW]).product(), 115_384 * 13);
    assert_eq!(way(&[WIDE]).product(), 1_500_000);
    // min B sum T = 1500 B * (2 + 2) / 2.
    assert_eq!(way(&[WIDE, WIDE]).product(), 3_000_000);
    assert_eq!(way(&[WIDE, WIDE]).products, 3_000_000);
    let word = |key, word| (key, Value::Choice(word));
    let readings = [
        (vec![], SHORT),
        (vec![word("over", "hops")], SHORT),
        (vec![word("prefer", "most")], LONG),
        (vec![word("prefer", "most"), word("over", "hops")], LONG),
    ];
    for (set, taken) in readings {
        for (direct, each) in [(NARROW, WIDE), (NARROW, Dur::from_ms(12))] {
            // 12 + 12 ms are worse than 13; the reading does not notice.
            assert_eq!(takes(&*made("bdp", &set), Times::all(direct, each)), taken, "{set:?} {each:?}");
        }
    }
}

#[test]
fn a_hop_that_nobody_has_measured_is_free_so_that_the_fewest_hops_come_first() {
    for id in ["measured-delay", "measured-bandwidth", "bdp"] {
        let nothing = Times { is_measured: false, ..Times::all(NARROW, WIDE) };
        assert_eq!(takes(&*made(id, &[]), nothing), SHORT, "{id}");
    }
}

const LEARNING: Learning = Learning {
    gain: 0.125,
    change: 0.25,
    hold: Dur::from_secs(1),
    forget: Dur::from_secs(60),
    unmeasured: Unmeasured::Free,
};

fn sample(delay: Dur) -> LinkSample {
    LinkSample { delay, bytes_per_s: PACKET.0 * 1_000_000_000 / delay.ns() }
}

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Dur::from_ms(ms)
}

/// The way after these measurements, each with whether routes are to be found anew.
fn after(id: &str, samples: &[(u64, u32, u32, Dur, bool)]) -> u32 {
    let mut measured = Measured::new(LEARNING);
    for (ms, from, to, delay, anew) in samples {
        assert_eq!(measured.take(at(*ms), NodeId(*from), NodeId(*to), sample(*delay)), *anew, "{id} at {ms} ms");
    }
    takes(&*made(id, &[]), Times { measured: Some(measured), ..Times::all(NARROW, WIDE) })
}

#[test]
fn measured_metrics_try_the_short_way_then_the_long_one_and_stay_there() {
    for id in ["measured-delay", "measured-bandwidth"] {
        let first = (10, 0, 2, NARROW, true);
        assert_eq!(after(id, &[first]), LONG, "{id}: what is not measured is tried");
        // Within the hold of 1 s nothing is found anew; then all that was measured counts.
        let wide = [first, (500, 0, 1, WIDE, false), (600, 1, 2, WIDE, false), (1010, 0, 1, WIDE, true)];
        assert_eq!(after(id, &wide), LONG, "{id}");
        // Were the long way found to be no better, the short one would be taken again.
        let slow = Dur::from_ms(14);
        let not_wide = [first, (500, 0, 1, slow, false), (600, 1, 2, slow, false), (1010, 0, 1, slow, true)];
        assert_eq!(after(id, &not_wide), SHORT, "{id}");
    }
}

#[test]
fn a_link_counts_as_before_until_it_has_changed_by_a_quarter() {
    let mut measured = Measured::new(LEARNING);
    let mut take = |ms, delay| measured.take(at(ms), NodeId(0), NodeId(2), sample(Dur::from_us(delay)));
    assert!(take(0, 2000));
    assert!(!take(2000, 4000), "2.25 ms after one of 4 ms: 2 + (4 - 2) / 8");
    assert!(!take(2001, 4000), "2.469 ms after two");
    assert!(take(2002, 4000), "2.660 ms after three, more than 2.5");
    let used = measured.link(NodeId(0), NodeId(2), WIDE, PACKET).delay;
    assert_eq!(used.ns() / 1000, 2660, "4 - 2 * 0.875^3 = 2.66016");
    // Its other direction, which nobody has measured, counts as it does.
    assert_eq!(measured.link(NodeId(2), NodeId(0), WIDE, PACKET).delay, used);
}

#[test]
fn a_measurement_that_is_too_old_is_forgotten_and_its_link_is_tried_again() {
    let mut measured = Measured::new(LEARNING);
    assert!(measured.take(at(0), NodeId(0), NodeId(2), sample(NARROW)));
    assert!(measured.take(at(2000), NodeId(0), NodeId(1), sample(WIDE)));
    assert!(!measured.take(at(59_000), NodeId(0), NodeId(1), sample(WIDE)));
    assert!(!measured.link(NodeId(0), NodeId(2), NARROW, PACKET).is_free);
    assert!(measured.take(at(60_001), NodeId(0), NodeId(1), sample(WIDE)));
    assert!(measured.link(NodeId(0), NodeId(2), NARROW, PACKET).is_free);
}

#[test]
fn no_metric_makes_a_loop_whatever_links_measure() {
    // A grid of 4 x 4, with delays and bandwidths that have nothing to do with each other.
    struct Wild(u64);
    impl Links for Wild {
        fn link(&self, from: NodeId, hop: Hop) -> Link {
            let mixed =
                (u64::from(from.0) * 131 + u64::from(hop.node().0) * 31 + self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let part = |shift: u32, most: u64| (mixed >> shift) % most + 1;
            Link {
                medium: Dur::from_us(part(8, 9000)),
                delay: Dur::from_us(part(20, 9000)),
                bytes_per_s: part(33, 1_000_000),
                is_free: part(45, 5) == 1,
            }
        }
    }
    let near = |a: u32, b: u32| (a / 4).abs_diff(b / 4) + (a % 4).abs_diff(b % 4) == 1;
    let hops: Vec<Vec<Hop>> = (0..16).map(|a| (0..16).filter(|b| near(a, *b)).map(air).collect()).collect();
    let most = [("prefer", Value::Choice("most"))];
    for id in metric::NAMES {
        for set in [&[][..], &most] {
            if !set.is_empty() && *id != "bdp" {
                continue;
            }
            for seed in 0..50 {
                let metric = made(id, set);
                let routes =
                    Routes::least_cost(&hops, (0..16).map(NodeId), &Weighed { metric: &*metric, links: Wild(seed) });
                for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (NodeId(from), NodeId(to)))) {
                    if from != to {
                        assert!(routes.between(from, to).len() < 15, "{id} from {from} to {to}");
                        let last = routes.between(from, to).last().copied().unwrap_or(from);
                        assert_eq!(routes.next(last, to).map(Hop::node), Some(to), "{id} from {from} to {to}");
                    }
                }
            }
        }
    }
}
