//! Models against their closed forms.

use crate::s;
use engine::{Purpose, Streams};
use motion::{Area, Leg, Model, Spec, Start, Stretch, model::Given};
use units::{Dur, SimTime};

const SQUARE: Area = Area { centre: [0.0, 0.0], width: 100.0, height: 100.0 };

fn make(spec: &Spec, node: u64) -> Box<dyn Model> {
    spec.make(Given { place: None, draws: Streams::new(11).get(Purpose::Mobility, node), trace: None })
}

fn waypoint(pause: Dur, start: Start) -> Spec {
    Spec::Waypoint { area: SQUARE, speeds: [1.0, 5.0], pauses: [pause, pause], start }
}

/// The leg of a model at each of these instants, in order.
fn legs_at(model: &mut dyn Model, instants: impl Iterator<Item = SimTime>) -> Vec<Leg> {
    let mut leg = model.first();
    let at = |now: SimTime| {
        while leg.ends <= now {
            leg = model.next(&leg);
        }
        leg
    };
    instants.map(at).collect()
}

fn length(leg: &Leg) -> f64 {
    let to = leg.to();
    (to[0] - leg.from[0]).hypot(to[1] - leg.from[1])
}

#[test]
fn complete_legs_of_a_waypoint_are_0_5214_of_the_side_long() {
    // (2 + √2 + 5 ln(1 + √2)) / 15 = 0.521405. Deviation 0.2479: of 20,000 legs the standard error is 0.00175; four of them.
    let mut sum = 0.0;
    for node in 0..200 {
        let mut model = make(&waypoint(Dur::ZERO, Start::Stationary), node);
        let mut leg = model.first();
        for _ in 0..100 {
            leg = model.next(&leg);
            sum += length(&leg) / 100.0;
        }
    }
    let mean = sum / 20_000.0;
    assert!((mean - 0.521_405).abs() < 0.007, "{mean}");
    assert!((SQUARE.mean_distance() - 52.140_5).abs() < 1e-4);
    // A rectangle of 3 by 1: 1.0892 (numerical integration by the midpoint rule over both differences, 2000 steps).
    let wide = Area { centre: [0.0; 2], width: 3.0, height: 1.0 };
    let n = 2000;
    let mut wanted = 0.0;
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let (u, v) = ((f64::from(i) + 0.5) / f64::from(n), (f64::from(j) + 0.5) / f64::from(n));
        // The difference of two uniform numbers has the density 2 (1 − u).
        wanted += 4.0 * (1.0 - u) * (1.0 - v) * (3.0 * u).hypot(v) / f64::from(n * n);
    }
    assert!((wide.mean_distance() / wanted - 1.0).abs() < 1e-5, "{} {wanted}", wide.mean_distance());
}

#[test]
fn a_waypoint_of_1_to_5_m_s_has_the_mean_speed_4_over_ln_5_from_the_first_second_on() {
    // Stationary density of speed 1/(v ln 5): mean 4/ln 5 = 2.4853, mean square 12/ln 5 = 7.4560, deviation √(7.456 − 6.177) = 1.131.
    // Of 20,000 nodes the standard error is 0.0080; four of them.
    let mean_at = |start: Start| -> Vec<f64> {
        let mut sums = vec![0.0; 3];
        for node in 0..20_000 {
            let mut model = make(&waypoint(Dur::ZERO, start), node);
            let legs = legs_at(&mut *model, [s(1.0), s(20.0), s(300.0)].into_iter());
            sums.iter_mut().zip(legs).for_each(|(sum, leg)| *sum += leg.speed() / 20_000.0);
        }
        sums
    };
    for mean in mean_at(Start::Stationary) {
        assert!((mean - 4.0 / libm::log(5.0)).abs() < 0.032, "{mean}");
    }
    // The start of the old papers is too fast at first: the mean of 1 to 5 m/s is 3.
    let old = mean_at(Start::Uniform);
    assert!((old[0] - 3.0).abs() < 0.04 && (old[2] - 4.0 / libm::log(5.0)).abs() < 0.04, "{old:?}");
}

#[test]
fn with_a_pause_of_10_s_in_100_m_by_100_m_32_3_percent_of_nodes_stand() {
    // A leg lasts 52.1405 · ln 5 / 4 = 20.979 s: 10 / 30.979 = 32.28 %. Standard error of 20,000: 0.33 %; four of them.
    let spec = waypoint(Dur::from_secs(10), Start::Stationary);
    let mut standing = [0u32; 4];
    let mut rests = 0.0;
    for node in 0..20_000 {
        let mut model = make(&spec, node);
        let first = model.first();
        rests += if first.is_stand() { first.ends.as_secs_f64() } else { 0.0 };
        let mut model = make(&spec, node);
        let legs = legs_at(&mut *model, [s(0.0), s(3.0), s(30.0), s(300.0)].into_iter());
        standing.iter_mut().zip(legs).for_each(|(n, leg)| *n += u32::from(leg.is_stand()));
    }
    for n in standing {
        assert!((f64::from(n) / 20_000.0 - 0.3228).abs() < 0.0133, "{standing:?}");
    }
    // Of a pause of 10 s half is left on average; deviation 2.89 s of 6456 nodes: 0.036; four.
    let mean = rests / f64::from(standing[0]);
    assert!((mean - 5.0).abs() < 0.144, "{mean}");
}

#[test]
fn a_walk_stays_in_its_area_is_found_everywhere_in_it_and_turns_as_often_as_it_says() {
    let stretch = Stretch::Time(Dur::from_secs(30));
    let spec = Spec::Walk { area: SQUARE, speeds: [1.0, 5.0], stretch };
    let mut cells = [0u32; 16];
    for node in 0..4000 {
        let mut model = make(&spec, node);
        for leg in legs_at(&mut *model, [s(500.0)].into_iter()) {
            let at = leg.place(s(500.0));
            assert!(SQUARE.holds(at), "{at:?}");
            let cell = at.map(|x| (((x + 50.0) / 25.0) as usize).min(3));
            cells[cell[0] * 4 + cell[1]] += 1;
            assert!((0.999..5.001).contains(&leg.speed()), "{}", leg.speed());
        }
    }
    // Sixteen cells of 250 each: chi-square with 15 degrees of freedom exceeds 37.70 once in a thousand.
    let statistic: f64 = cells.iter().map(|n| libm::pow(f64::from(*n) - 250.0, 2.0) / 250.0).sum();
    assert!(statistic < 37.7, "{statistic} {cells:?}");
    // Without a border in reach: a leg for each draw, of 30 s or of 60 m.
    let wide = Area { centre: [0.0; 2], width: 1e6, height: 1e6 };
    for (stretch, metres) in [(stretch, None), (Stretch::Metres(60.0), Some(60.0))] {
        let spec = Spec::Walk { area: wide, speeds: [1.0, 5.0], stretch };
        let mut model = make(&spec, 3);
        let mut leg = model.first();
        for _ in 0..100 {
            match metres {
                None => assert_eq!(leg.ends - leg.begins, Dur::from_secs(30)),
                Some(metres) => assert!((length(&leg) - metres).abs() < 1e-6),
            }
            leg = model.next(&leg);
        }
    }
}

#[test]
fn a_line_goes_on_for_ever_or_to_its_last_point() {
    let given = || Given { place: Some([1.0, 2.0]), draws: Streams::new(1).get(Purpose::Mobility, 0), trace: None };
    let mut away = Spec::Away { velocity: [1.5, 0.0], after: Dur::from_secs(5) }.make(given());
    let first = away.first();
    assert_eq!((first.ends, first.place(s(4.0))), (s(5.0), [1.0, 2.0]));
    let second = away.next(&first);
    assert_eq!((second.ends, second.place(s(15.0))), (SimTime::NEVER, [16.0, 2.0]));
    let points = vec![[4.0, 6.0], [4.0, 0.0]];
    let mut through = Spec::Through { points, speed: 2.0, after: Dur::ZERO }.make(given());
    // 5 m and 6 m at 2 m/s.
    let one = through.first();
    let two = through.next(&one);
    let three = through.next(&two);
    assert_eq!((one.ends, two.ends, three.ends), (s(2.5), s(5.5), SimTime::NEVER));
    assert_eq!((one.place(s(1.25)), two.place(s(3.5)), three.place(s(99.0))), ([2.5, 4.0], [4.0, 4.0], [4.0, 0.0]));
}

#[test]
fn a_node_more_changes_nobody_s_way() {
    let spec = waypoint(Dur::from_secs(1), Start::Stationary);
    let legs = |node| legs_at(&mut *make(&spec, node), (0..50).map(|i| s(f64::from(i))));
    assert_eq!(legs(3), legs(3));
    assert_ne!(legs(3), legs(4));
}
