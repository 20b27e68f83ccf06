//! A scenario in which my-part runs, as `interlayer run` would.

use std::sync::atomic::AtomicBool;
use world::{Record, Registries};

#[test]
fn a_scenario_knows_it() {
    let all = my_crate::add(Registries::builtin()).expect("no other plug-in is called so");
    let change = ("KEY".to_owned(), "VALUE".to_owned());
    let text = include_str!("../scenario.toml");
    let blueprint = world::parse_with(text, &[change], all).expect("the scenario is sound");
    let run = world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false))
        .expect("it runs, and its books balance");
    assert_eq!(run.flows.len(), 2);
}
