//! Saturated DCF against `validation/dcf`: an independent slot-level simulation, a finite-retry Bianchi model, and the
//! closed form for one station (@BIA00, @WPL02; validation/dcf/README.md says what each assumes).
//!
//! Sample sizes. A tolerance of 1 % wants a standard error of a third of that, so that a right program is refused once
//! in 400 and a wrong one is not hidden by luck. For the collision probability p that takes some 110,000 collisions
//! (each strikes two openers or more at once, so the relative error is about one over the root of their number):
//! 220,000 / (p · openers a second) simulated seconds. Every row is run as replications, and the test asserts the
//! standard error *measured* from them beside the deviation. Throughput depends on p weakly and is then known to
//! 0.05 % or better.

mod collision;
mod harness;

use harness::*;

/// The same rules as slotsim's: only sampling differs. For p 1 % (validation/dcf/README.md, Tolerances). Throughput is
/// known better, and 1 % is not enough: an EIFS kept too long by some transmitters of a collision cost 0.7 % with 50
/// stations and once passed. 0.4 % is four times the largest standard error of these runs.
fn assert_meets_slotsim(row: &Row, got: &Measured) {
    assert_meets_slotsim_within(0.01, 0.006, row, got);
}

/// As above with another band of p, and the standard error that it asks for.
fn assert_meets_slotsim_within(band: f64, error: f64, row: &Row, got: &Measured) {
    let (s, p) = (off(got.throughput_bps, row.throughput_bps), off(got.p, row.p));
    println!(
        "{} rts={} {} n={:2} {}B: throughput {:+.2} % (se {:.2}), p {:+.2} % (se {:.2}); model {:+.2}, {:+.2}",
        row.standard,
        row.rts,
        row.timeout_ifs,
        row.stations,
        row.payload,
        s * 100.0,
        got.throughput_error * 100.0,
        p * 100.0,
        got.p_error * 100.0,
        off(got.throughput_bps, row.model_throughput_bps) * 100.0,
        off(got.p, row.model_p) * 100.0
    );
    assert!(s.abs() < 0.004, "{row:?}: throughput {s:+.4}: {got:?}");
    assert!(p.abs() < band, "{row:?}: collision probability {p:+.4}: {got:?}");
    // Twice what was planned for: the standard error is itself known to a quarter only, from eight replications.
    assert!(got.throughput_error < 0.002 && got.p_error < error, "the run is too short to tell: {row:?}: {got:?}");
}

/// Against Bianchi: 2 %; p 6 % for two stations and 5 % for more, the model's independence assumption.
fn assert_meets_the_model(row: &Row, got: &Measured) {
    let (s, p) = (off(got.throughput_bps, row.model_throughput_bps), off(got.p, row.model_p));
    assert!(s.abs() < 0.02, "{row:?}: throughput {s:+.4} from the model: {got:?}");
    let most = if row.stations == 2 { 0.06 } else { 0.05 };
    assert!(p.abs() < most, "{row:?}: collision probability {p:+.4} from the model: {got:?}");
}

#[test]
fn one_station_alone_sends_a_frame_every_difs_backoff_data_sifs_and_ack() {
    // 802.11b: 50 + 31/2 · 20 + 1310 + 10 + 304 = 1984 µs; 802.11a: 34 + 15/2 · 9 + 248 + 16 + 28 = 393.5 µs.
    // 0.5 %: the mean backoff of the 25,000 (126,000) frames of 50 s is known to 0.6 % of itself (0.2 %), which is
    // 0.09 % (0.03 %) of the whole: 0.5 % is five standard errors.
    for (standard, us) in [("b", 1984.0), ("a", 393.5)] {
        let alone = reference()
            .into_iter()
            .find(|r| (r.standard, r.rts, r.payload, r.stations) == (standard, false, 1500, 1))
            .expect("the reference has one station");
        let got = &measure(&[(alone.clone(), 50.0 / REPLICATIONS as f64)])[0];
        let truth = 1500.0 * 8.0 / (us * 1e-6);
        assert!(off(alone.model_throughput_bps, truth).abs() < 1e-6, "the formula here is that of validation/dcf");
        assert!(off(got.throughput_bps, truth).abs() < 0.005, "{standard}: {got:?}");
        assert_eq!(got.p, 0.0);
    }
}

#[test]
fn dot11b_by_the_letter_meets_slotsim_and_finite_retry_bianchi_within_2_percent() {
    let rows = sized(&rows("b", false, "letter"), COLLISIONS);
    for ((row, _), got) in rows.iter().zip(measure(&rows)) {
        assert_meets_slotsim(row, &got);
        assert_meets_the_model(row, &got);
    }
}

#[test]
fn dot11a_by_the_letter_meets_slotsim() {
    // Not the model: its slots are aligned, those of the letter are not, and from 20 stations on the transmitters of a
    // collision gain by it (validation/dcf/README.md, finding 2).
    let rows = sized(&rows("a", false, "letter"), COLLISIONS);
    for ((row, _), got) in rows.iter().zip(measure(&rows)) {
        assert_meets_slotsim(row, &got);
    }
}

#[test]
fn dot11a_in_the_reading_the_model_assumes_meets_finite_retry_bianchi_within_2_percent() {
    let rows = sized(&rows("a", false, "aligned"), COLLISIONS);
    for ((row, _), got) in rows.iter().zip(measure(&rows)) {
        assert_meets_slotsim(row, &got);
        assert_meets_the_model(row, &got);
    }
}

/// Throughput within 2 % of the model, p within the bands that hold without RTS: it depends on neither RTS nor payload
/// (validation/dcf/README.md, finding 4). Not p of 802.11a by the letter, where the transmitters of a collision count ahead
/// of the listeners (finding 2).
fn assert_meets_the_model_with_rts(row: &Row, got: &Measured) {
    if (row.standard, row.timeout_ifs) != ("a", "letter") {
        return assert_meets_the_model(row, got);
    }
    let s = off(got.throughput_bps, row.model_throughput_bps);
    assert!(s.abs() < 0.02, "{row:?}: throughput {s:+.4} from the model: {got:?}");
}

/// A collision of RTS frames differs from one of data frames: it lasts an RTS, the listeners could read no Duration and wait
/// an EIFS, and its transmitters wait for a CTS in vain. A quarter of the collisions, which throughput hardly depends on:
/// p is known to 0.6 %, and its band is four of that; `make validate` holds it to 1 %. 802.11a, two stations, is
/// 5.2 % from the model's p by right and is run at full length, lest 6 % refuse it.
fn assert_rts_rows_are_met(standard: &str, timeout_ifs: &str) {
    let of = |row: &Row| if (standard, row.stations) == ("a", 2) { COLLISIONS } else { COLLISIONS / 4.0 };
    let rows = rows(standard, true, timeout_ifs).into_iter();
    let rows: Vec<(Row, f64)> = rows.map(|row| (row.clone(), seconds_for(&row, of(&row)))).collect();
    for ((row, _), got) in rows.iter().zip(measure(&rows)) {
        assert_meets_slotsim_within(0.024, 0.012, row, &got);
        assert_meets_the_model_with_rts(row, &got);
    }
}

#[test]
fn dot11b_with_rts_by_the_letter_meets_slotsim_and_finite_retry_bianchi_within_2_percent() {
    assert_rts_rows_are_met("b", "letter");
}

#[test]
fn dot11a_with_rts_by_the_letter_meets_slotsim_and_the_models_throughput_within_2_percent() {
    assert_rts_rows_are_met("a", "letter");
}

#[test]
fn dot11a_with_rts_in_the_reading_the_model_assumes_meets_finite_retry_bianchi_within_2_percent() {
    assert_rts_rows_are_met("a", "aligned");
}

#[test]
#[ignore = "make validate"]
fn with_rts_every_reading_meets_slotsim_within_1_percent_and_the_model() {
    for (standard, timeout_ifs) in [("b", "letter"), ("b", "aligned"), ("a", "letter"), ("a", "aligned")] {
        let rows = sized(&rows(standard, true, timeout_ifs), COLLISIONS);
        for ((row, _), got) in rows.iter().zip(measure(&rows)) {
            assert_meets_slotsim(row, &got);
            assert_meets_the_model_with_rts(row, &got);
        }
    }
}

#[test]
#[ignore = "make validate"]
fn every_row_of_the_reference_is_met_within_1_percent() {
    // All readings, with and without RTS, datagrams of 1500 and 100 B: three times the collisions, so that the worst of
    // 240 deviations still lies within 1 % (5 standard errors).
    let rows: Vec<Row> = reference().into_iter().filter(|row| row.stations > 1).collect();
    for part in rows.chunks(10) {
        let part = sized(part, 3.0 * COLLISIONS);
        for ((row, _), got) in part.iter().zip(measure(&part)) {
            assert_meets_slotsim(row, &got);
        }
    }
}

#[test]
#[ignore = "make validate"]
fn one_station_alone_meets_the_closed_form_within_a_thousandth() {
    // validation/dcf/README.md: 0.1 % against the closed form; 2000 s know it to 0.015 % (b).
    let alone: Vec<(Row, f64)> =
        reference().into_iter().filter(|r| r.stations == 1).map(|row| (row, 2000.0 / REPLICATIONS as f64)).collect();
    for ((row, _), got) in alone.iter().zip(measure(&alone)) {
        let s = off(got.throughput_bps, row.model_throughput_bps);
        assert!(s.abs() < 0.001, "{row:?}: {s:+.5}");
        assert_eq!(got.p, 0.0);
    }
}
