//! Runs in the background: none takes another with it, and what is not wanted any more ends.

use schemes::{Agent, Cx, Params, Place, Refusal, Site};
use std::time::Duration;
use wire::Pkt;
use world::{Blueprint, Record, Registries, RunError, Runner};

static INFO: plugin::Info = plugin::Info { id: "unlucky", summary: "panics", source: "none", params: &[] };

/// Panics at the first packet of a run whose seed has drawn it. Registered with a context, it fails with that.
#[derive(Debug)]
struct Unlucky(bool, Option<&'static str>);

impl Agent for Unlucky {
    fn packet(&mut self, _: Place, pkt: Pkt, _: &mut Cx) -> Option<Pkt> {
        if let (true, Some(why)) = (self.0, self.1) {
            plugin::Failure { message: "unlucky".to_owned(), cause: Box::new(why) }.end_run();
        }
        assert!(!self.0, "no luck");
        Some(pkt)
    }
}

fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    let unlucky = Unlucky(site.stream(0).chance(0.2), params.context::<&str>().copied());
    site.agent(unlucky).listen([Place::FromHost]);
    Ok(())
}

static FAILS: plugin::Info = plugin::Info { id: "fails", ..INFO };

fn scenario(duration: &str, scheme: &str) -> Blueprint {
    let Registries { schemes, .. } = Registries::builtin();
    let schemes = schemes.with(&INFO, install).unwrap().with_context(&FAILS, install, &"no fortune").unwrap();
    let registries = Registries { schemes, ..Registries::builtin() };
    let text = format!(
        "scenario = {{ duration = '{duration}' }}\n[radio]\nstandard = '802.11a'\n\
         [[node]]\nname = 'a'\n[[node]]\nname = 'b'\n[[flow]]\nfrom = 'a'\nto = 'b'\n{scheme}"
    );
    world::parse_with(&text, &[], registries).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_run_that_panics_is_an_error_of_that_run_alone_and_says_where() {
    let (well, ill) = (scenario("1 s", ""), scenario("1 s", "[[scheme]]\nname = 'unlucky'\n"));
    let tasks: Vec<_> = (1..=20).flat_map(|seed| [(&well, seed), (&ill, seed)]).collect();
    let results = world::run_batch(&tasks, 2, &Record::default());
    let failed: Vec<usize> = (0..40).filter(|i| results[*i].is_err()).collect();
    assert!(failed.iter().all(|i| i % 2 == 1), "those without the scheme are as ever: {failed:?}");
    assert!((1..20).contains(&failed.len()), "some seeds draw it and some do not: {failed:?}");
    for i in failed {
        let Err(RunError::Panicked(said)) = &results[i] else { panic!("{:?}", results[i]) };
        assert!(said.starts_with("no luck (") && said.contains("runner.rs:"), "{said}");
        // By itself it fails in the same way: its seed repeats it.
        let alone = world::run_batch(&tasks[i..=i], 1, &Record::default());
        assert_eq!(alone[0].as_ref().unwrap_err().to_string(), results[i].as_ref().unwrap_err().to_string());
    }
}

#[test]
fn a_plug_in_of_a_program_that_cannot_go_on_ends_its_run_with_its_own_words() {
    let fails = scenario("1 s", "[[scheme]]\nname = 'fails'\n");
    let tasks: Vec<_> = (1..=20).map(|seed| (&fails, seed)).collect();
    let results = world::run_batch(&tasks, 2, &Record::default());
    let failed = results.iter().filter_map(|result| result.as_ref().err()).collect::<Vec<_>>();
    assert!((1..20).contains(&failed.len()), "{failed:?}");
    for error in failed {
        assert_eq!(error.to_string(), "unlucky");
        let RunError::Plugin(failure) = error else { panic!("{error:?}") };
        assert_eq!(failure.cause.downcast_ref(), Some(&"no fortune"));
    }
}

#[test]
fn runs_come_as_they_finish_and_those_not_wanted_any_more_end() {
    let (long, short) = (scenario("100000 s", ""), scenario("10 ms", ""));
    let mut runner = Runner::new(2, Record::default());
    assert!(runner.next(Duration::MAX).is_none(), "nothing is pending");
    assert_eq!(runner.submit(long, 1).unwrap(), 0);
    for seed in 1..=5 {
        assert_eq!(runner.submit(short.clone(), seed).unwrap(), seed);
        let done = runner.next(Duration::MAX).unwrap();
        assert_eq!((done.task, done.result.unwrap().seed), (seed, seed));
        assert_eq!(runner.pending(), 1, "the long one goes on");
    }
    assert!(runner.next(Duration::from_millis(1)).is_none());
    runner.stop(); // returns, though the long run would take hours
    assert_eq!(runner.pending(), 0);
    assert!(runner.next(Duration::MAX).is_none());
}
