//! Four parts for Interlayer from outside of it: a PPDU format, a rate control, a scheme, a transmit queue.

pub mod airtime_turns;
pub mod mpdu_fates;
pub mod step_down;
pub mod toy_ht;

use std::sync::atomic::AtomicBool;
use units::SimTime;
use world::{Record, Registries, Run, Timeline, Window};

/// The built-in plug-ins and those of this crate.
///
/// # Panics
/// If a name is taken.
#[must_use]
pub fn registries() -> Registries {
    let Registries { schemes, rate_controls, .. } = Registries::builtin();
    let schemes = schemes
        .with(&toy_ht::INFO, toy_ht::install)
        .and_then(|all| all.with(&step_down::COUNTED, step_down::install))
        .and_then(|all| all.with(&mpdu_fates::INFO, mpdu_fates::install))
        .and_then(|all| all.with(&airtime_turns::INFO, airtime_turns::install))
        .expect("the names are free");
    let rate_controls = rate_controls.with(&step_down::INFO, step_down::make).expect("the name is free");
    Registries { schemes, rate_controls, ..Registries::builtin() }
}

/// Runs a scenario with the timeline of the whole run.
///
/// # Panics
/// If the scenario is wrong or the run fails.
#[must_use]
pub fn run(text: &str) -> (Run, Timeline) {
    let blueprint = world::parse_with(text, &[], registries()).expect("the scenario is right");
    let window = Window { from: SimTime::ZERO, until: SimTime::NEVER };
    let record = Record { timeline: Some(window), ..Record::default() };
    let mut run = world::run(&blueprint, 1, &record, &AtomicBool::new(false)).expect("the run ends");
    assert!(run.books.balance());
    let timeline = run.timeline.take().expect("it was asked for");
    (run, timeline)
}
