//! The instants at which nodes meet and part.

use crate::{Stated, pairs, s};
use engine::{Purpose, Streams};
use motion::{Area, Leg, Motion, Spec, Start, model::Given};
use units::{Dur, NodeId, SimTime};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

#[test]
fn two_nodes_on_crossing_lines_meet_and_part_at_the_roots_to_the_nanosecond() {
    // A from (0, −30) north at 3 m/s, B from (−40, 0) east at 4 m/s: both are at the origin at 10 s. Their distance is 5 |t − 10|,
    // so that of 22.5 m is at 10 ± 4.5 s: near from 5.5 s to 14.5 s, both included.
    let legs = [([0.0, -30.0], [0.0, 3.0]), ([-40.0, 0.0], [4.0, 0.0])];
    let models = legs.map(|(from, velocity)| Stated::of(vec![Leg::away(SimTime::ZERO, from, velocity)]));
    let mut motion = Motion::new(&[[0.0; 2]; 2], models.into(), 1, |_, _, _| Some(22.5));
    let parts = SimTime::from_ns(14_500_000_001);
    assert_eq!(pairs(&mut motion, s(100.0)), [(s(5.5), [A, B], true), (parts, [A, B], false)]);

    // B passes beside A: A stands at the origin, B runs along y = 7 m at 2 m/s from x = −50 m: |x| ≤ √(22.5² − 7²) = √457.25.
    // (50 − 21.383405…) / 2 and (50 + 21.383405…) / 2 seconds.
    let models = vec![None, Stated::of(vec![Leg::away(SimTime::ZERO, [-50.0, 7.0], [2.0, 0.0])])];
    let mut motion = Motion::new(&[[0.0; 2]; 2], models, 1, |_, _, _| Some(22.5));
    let half = 457.25f64.sqrt();
    let wanted = [(50.0 - half) / 2.0, (50.0 + half) / 2.0];
    let found = pairs(&mut motion, s(100.0));
    let ns = wanted.map(|seconds| (seconds * 1e9).ceil() as u64);
    assert_eq!(found, [(SimTime::from_ns(ns[0]), [A, B], true), (SimTime::from_ns(ns[1]), [A, B], false)]);
}

#[test]
fn a_pair_that_grazes_or_stays_beside_its_radius_does_not_meet() {
    for beside in [22.5, 22.500_000_1, 30.0] {
        let models = vec![None, Stated::of(vec![Leg::away(SimTime::ZERO, [-50.0, beside], [2.0, 0.0])])];
        let mut motion = Motion::new(&[[0.0; 2]; 2], models, 1, |_, _, _| Some(22.5));
        assert_eq!(pairs(&mut motion, s(1000.0)), [], "{beside}");
    }
    // Within it by 10⁻⁹ m: 2 √(2 · 22.5 · 10⁻⁹) = 0.42 mm of the way, 0.21 ms at 2 m/s.
    let models = vec![None, Stated::of(vec![Leg::away(SimTime::ZERO, [-50.0, 22.5 - 1e-9], [2.0, 0.0])])];
    let mut motion = Motion::new(&[[0.0; 2]; 2], models, 1, |_, _, _| Some(22.5));
    let found = pairs(&mut motion, s(1000.0));
    assert_eq!(found.len(), 2);
    let lasts = (found[1].0 - found[0].0).as_secs_f64();
    assert!((lasts - 212.1e-6).abs() < 1e-6, "{lasts}");
}

#[test]
fn nodes_that_move_together_and_nodes_that_turn_on_the_border_do_not_flicker() {
    // Both run east: their distance, exactly the radius, stays.
    let run = |y| Stated::of(vec![Leg::away(SimTime::ZERO, [0.0, y], [3.0, 0.0])]);
    let mut motion = Motion::new(&[[0.0; 2]; 2], vec![run(0.0), run(22.5)], 1, |_, _, _| Some(22.5));
    assert_eq!(pairs(&mut motion, s(100.0)), []);
    assert!(motion.is_near(0, A, B) && motion.is_near(0, B, A));
    // B comes to 22.5 m, stands, goes away, comes again half way, goes: from 30 m at 1 m/s.
    let mut at = SimTime::ZERO;
    let mut legs = Vec::new();
    for (from, to) in [(30.0_f64, 22.5), (22.5, 22.5), (22.5, 40.0), (40.0, 10.0), (10.0, 40.0)] {
        let lasts: f64 = if from == to { 5.0 } else { (to - from).abs() };
        let ends = at + Dur::from_ns((lasts * 1e9) as u64);
        legs.push(Leg::until(at, ends, [from, 0.0], [to, 0.0]));
        at = ends;
    }
    legs.push(Leg::rest(at, [40.0, 0.0]));
    let mut motion = Motion::new(&[[0.0; 2]; 2], vec![None, Stated::of(legs)], 1, |_, _, _| Some(22.5));
    // It stands on the border from 7.5 s to 12.5 s, which is no meeting, as a graze is none; it comes within 22.5 m at 30 + 17.5 = 47.5 s, is
    // at 10 m at 60 s, and beyond 22.5 m after 72.5 s.
    let parts = SimTime::from_ns(72_500_000_001);
    assert_eq!(pairs(&mut motion, s(1000.0)), [(s(47.5), [A, B], true), (parts, [A, B], false)]);
}

#[test]
fn straight_paths_are_in_contact_for_pi_r_over_two_v_on_average() {
    // The mean chord of a circle over all distances from its centre is π R / 2: R = 22.5 m, v = 2 m/s, 17.67 s.
    const PATHS: usize = 2000;
    let path = |i: usize| {
        let beside = 22.5 * (2.0 * (i as f64 + 0.5) / PATHS as f64 - 1.0);
        Stated::of(vec![Leg::away(SimTime::ZERO, [-100.0, beside], [2.0, 0.0])])
    };
    let models = core::iter::once(None).chain((0..PATHS).map(path)).collect();
    let mut motion = Motion::new(&[[0.0; 2]; PATHS + 1], models, 1, |_, a, _| (a == A).then_some(22.5));
    let mut sum = 0.0;
    for (at, _, is_near) in pairs(&mut motion, s(1000.0)) {
        sum += if is_near { -at.as_secs_f64() } else { at.as_secs_f64() };
    }
    let mean = sum / PATHS as f64;
    let wanted = core::f64::consts::PI * 22.5 / (2.0 * 2.0);
    assert!((wanted - 17.67).abs() < 0.005 && (mean / wanted - 1.0).abs() < 0.01, "{mean} {wanted}");
}

#[test]
fn the_queue_knows_at_every_instant_who_is_near_as_a_look_at_all_places_does() {
    let area = Area { centre: [50.0, 50.0], width: 100.0, height: 100.0 };
    let spec = Spec::Waypoint {
        area,
        speeds: [1.0, 5.0],
        pauses: [Dur::ZERO, Dur::from_secs(10)],
        start: Start::Stationary,
    };
    let streams = Streams::new(7);
    let model = |i: u64| {
        (i % 3 != 2).then(|| spec.make(Given { place: None, draws: streams.get(Purpose::Mobility, i), trace: None }))
    };
    let radii = [22.5, 49.5];
    let places: Vec<_> = (0..20).map(|i| [5.0 * f64::from(i), 37.0]).collect();
    let mut motion = Motion::new(&places, (0..20).map(model).collect(), 2, |range, _, _| Some(radii[range]));
    let mut seen = 0;
    for look in 1..2000u64 {
        let now = SimTime::from_ns(look * 173_000_003);
        while motion.next_wakeup() <= now {
            let at = motion.next_wakeup();
            while motion.advance(at).is_some() {}
        }
        for (a, b) in (0..20).flat_map(|a| (a + 1..20).map(move |b| (NodeId(a), NodeId(b)))) {
            if a.0 % 3 == 2 && b.0 % 3 == 2 {
                continue;
            }
            let distance = motion.distance(a, b, now);
            for (range, radius) in radii.into_iter().enumerate() {
                let is_near = motion.is_near(range, a, b);
                assert!(is_near == (distance <= radius) || (distance - radius).abs() < 1e-6, "{a} {b} {distance}");
                seen += u64::from(is_near);
            }
        }
    }
    assert!(seen > 10_000);
}

#[test]
fn a_node_that_is_put_elsewhere_is_near_who_is_there_and_is_met_from_there() {
    // B runs east along y = 0 at 1 m/s from the origin; A stands 100 m north of it, and is put to (50, 0) at 10 s: B comes within 22.5 m of
    // it at 27.5 s and leaves at 72.5 s. Put to (80, 0) at 30 s it is not near: it is met at 57.5 s and left at 102.5 s.
    let models = vec![None, Stated::of(vec![Leg::away(SimTime::ZERO, [0.0, 0.0], [1.0, 0.0])])];
    let mut motion = Motion::new(&[[0.0, 100.0], [0.0; 2]], models, 1, |_, _, _| Some(22.5));
    assert_eq!(pairs(&mut motion, s(10.0)), []);
    motion.put(A, [50.0, 0.0], s(10.0));
    assert_eq!(pairs(&mut motion, s(30.0)), [(s(27.5), [A, B], true)]);
    motion.put(A, [80.0, 0.0], s(30.0));
    assert!(!motion.is_near(0, A, B));
    let left = SimTime::from_ns(102_500_000_001);
    assert_eq!(pairs(&mut motion, s(200.0)), [(s(57.5), [A, B], true), (left, [A, B], false)]);
    // What moves by itself is not put anywhere.
    motion.put(B, [0.0, 0.0], s(200.0));
    assert_eq!(motion.place(B, s(201.0)), [201.0, 0.0]);
}
