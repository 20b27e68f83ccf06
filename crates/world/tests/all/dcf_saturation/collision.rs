//! The collision probability of 2 to 50 saturated stations: Fig. 3.3 of the FTCA thesis, after @VS06.
//!
//! Truths, in `validation/dcf/collision.csv`: the exact chain of two stations; from three on a fixed point that tells the slot
//! after a busy period from the others, as @VS06 asks (validation/dcf/after_busy.py: only the paper's abstract could be had);
//! and the slot simulation, which shows what the fixed point leaves out. Deviation of the slot simulation from the fixed point:
//!
//! | | three stations | four and more |
//! |---|---|---|
//! | all on one grid, as it assumes | +2.9 % (CWmin 15), +2.5 % (31) | -1.1 to +1.8 % |
//! | by the letter | +2.6 %, +1.9 % | -3.4 (50 stations, CWmin 15) to +2.0 % |
//!
//! By the letter the transmitters of a collision count slots before the listeners do, and cannot meet them there.

use super::harness::*;

const REFERENCE: &str = include_str!("../../../../../validation/dcf/collision.csv");

/// One row of the file, in one reading.
struct Curve {
    row: Row,
    /// Exact for two stations, the fixed point from three on.
    model_p: f64,
}

/// All rows from two stations on.
fn curve(timeout_ifs: &'static str) -> Vec<Curve> {
    let mut lines = REFERENCE.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let read = |line: &'static str| {
        let cells: Vec<&'static str> = line.split(',').collect();
        let text = |name: &str| cells[header.iter().position(|h| *h == name).expect("a column of the file")];
        let real = |name: &str| text(name).parse::<f64>().expect("a number");
        let (standard, stations) = (text("standard"), real("stations") as u32);
        // For the length of the run alone: about what that many stations deliver.
        let throughput_bps = if standard == "a" { 25e6 } else { 5.5e6 };
        let row = Row {
            standard,
            rts: false,
            timeout_ifs,
            stations,
            payload: 1500,
            model_throughput_bps: f64::NAN,
            model_p: real("bianchi_p"),
            throughput_bps,
            p: real(&format!("slotsim_{timeout_ifs}_p")),
        };
        Curve { row, model_p: real(if stations <= 2 { "exact_p" } else { "after_busy_p" }) }
    };
    let curve: Vec<Curve> = lines.map(read).filter(|point| point.row.stations > 1).collect();
    assert_eq!(curve.len(), 2 * 49);
    curve
}

/// The deviations allowed: `slotsim` from the slot simulation, sampling alone; `model` from the model.
struct Bands {
    slotsim: f64,
    model: fn(&Row) -> f64,
}

fn assert_meets(points: &[Curve], collisions: f64, bands: &Bands) {
    let rows: Vec<Row> = points.iter().map(|point| point.row.clone()).collect();
    for (Curve { row, model_p }, got) in points.iter().zip(measure(&sized(&rows, collisions))) {
        let (p, model, bianchi) = (off(got.p, row.p), off(got.p, *model_p), off(got.p, row.model_p));
        println!(
            "{} {} n={:2}: p {:.4} (se {:.2} %), slotsim {:+.2} %, model {:+.2} %, Bianchi {:+.2} %",
            row.standard,
            row.timeout_ifs,
            row.stations,
            got.p,
            got.p_error * 100.0,
            p * 100.0,
            model * 100.0,
            bianchi * 100.0
        );
        assert!(p.abs() < bands.slotsim, "{row:?}: {p:+.4} from slotsim: {got:?}");
        assert!(model.abs() < (bands.model)(row), "{row:?}: {model:+.4} from {model_p}: {got:?}");
        assert!(got.p_error < bands.slotsim / 2.0, "the run is too short to tell: {row:?}: {got:?}");
    }
}

#[test]
fn p_of_2_stations_is_exact_and_of_6_to_9_within_3_percent_of_the_curve_that_knows_the_slot_after_a_busy_period() {
    // Half the collisions tell p to 0.5 %: three standard errors for slotsim and the exact chain, and as much for the curve
    // beside its own 1.3 %.
    let bands = Bands { slotsim: 0.015, model: |row| if row.stations == 2 { 0.015 } else { 0.03 } };
    for (timeout_ifs, stations) in [("letter", &[2, 6, 7, 8, 9][..]), ("aligned", &[6, 9])] {
        let mut some = curve(timeout_ifs);
        some.retain(|point| point.row.standard == "a" && stations.contains(&point.row.stations));
        assert_eq!(some.len(), stations.len());
        assert_meets(&some, COLLISIONS / 2.0, &bands);
    }
}

#[test]
#[ignore = "make validate"]
fn p_of_2_to_50_stations_is_the_slot_simulations_within_1_percent_and_follows_the_curve() {
    // Its own part of the deviation as in the table above, and 1 % for sampling, of slotsim's too.
    let model = |row: &Row| match (row.stations, row.timeout_ifs) {
        (2, _) => 0.01,
        (3, _) => 0.04,
        (_, "aligned") => 0.03,
        _ => 0.045,
    };
    let bands = Bands { slotsim: 0.012, model };
    for timeout_ifs in ["letter", "aligned"] {
        for part in curve(timeout_ifs).chunks(7) {
            assert_meets(part, 2.0 * COLLISIONS, &bands);
        }
    }
}
