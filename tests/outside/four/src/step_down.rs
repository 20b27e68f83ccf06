//! A rate control that steps down with the attempts of an MSDU: three modes, so many tries in each.
//!
//! - **Source** none; the form of mac80211's chains.
//! - **Departs** it learns nothing from what it is told; it counts it.
//! - **Checked** `tests/outside/four/tests/rate_control.rs`.

use mac::rate::{Given, Unfit};
use mac::{Chain, Head, PsduReport, RateControl, Stage};
use phy::Mode;
use schemes::{Agent, Info, Kind, Param, Params, Refusal, Site, Value};
use std::cell::RefCell;
use std::rc::Rc;
use units::{NodeId, SimTime};

const PARAMS: &[Param] = &[
    Param { key: "tries", kind: Kind::Int { min: 1, max: 7 }, default: Value::Int(2), doc: "attempts in each mode" },
    Param {
        key: "rts",
        kind: Kind::Bool,
        default: Value::Bool(false),
        doc: "whether RTS/CTS precedes the slowest mode",
    },
];

/// Declaration of the rate control.
pub const INFO: Info = Info {
    id: "step-down",
    summary: "the fastest mode, one in the middle, the slowest",
    source: "none",
    params: PARAMS,
};

/// Declaration of the scheme that puts it at every radio and shows its counters.
pub const COUNTED: Info =
    Info { id: "step-down-counted", summary: "step-down, with its attempts counted", source: "none", params: PARAMS };

/// For a station with these parameters.
pub fn make(params: &Params, given: Given<'_>) -> Result<Box<dyn RateControl>, Unfit> {
    Ok(Box::new(StepDown::new(params, &given.config.modes, Rc::default())))
}

/// At all radios.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.has_air {
        let told = Rc::new(RefCell::new(Told::default()));
        let control = StepDown::new(params, &site.mac().modes, told.clone());
        site.rate_control(|_| Box::new(control));
        site.agent(Teller(told));
    }
    Ok(())
}

/// The attempts that the rate control was told of.
#[derive(Debug, Default)]
struct Told {
    in_stage: [u64; 3],
    out_of_tries: u64,
    rts_unanswered: u64,
    acknowledged: u64,
}

#[derive(Debug)]
struct StepDown {
    stages: [Stage; 3],
    tries: u8,
    told: Rc<RefCell<Told>>,
}

impl StepDown {
    /// For a radio with these modes, slowest first.
    fn new(params: &Params, modes: &[Mode], told: Rc<RefCell<Told>>) -> StepDown {
        let tries = u8::try_from(params.int("tries")).expect("within its bounds");
        let [fast, middle, slow] = [modes.len() - 1, modes.len() / 2, 0].map(|i| Stage::of(modes[i]).tries(tries));
        let slow = if params.bool("rts") { slow.behind_rts() } else { slow };
        StepDown { stages: [fast, middle, slow], tries, told }
    }
}

impl RateControl for StepDown {
    fn chain(&mut self, _: SimTime, _: &Head, chain: &mut Chain) {
        chain.set(self.stages);
    }

    fn expected(&self, _: NodeId) -> Mode {
        self.stages[0].mode
    }

    fn heeds_attempts(&self) -> bool {
        true
    }

    fn attempted(&mut self, _: SimTime, report: &PsduReport<'_>) {
        let mut told = self.told.borrow_mut();
        told.in_stage[usize::from(report.stage)] += 1;
        told.out_of_tries += u64::from(report.nth > self.tries);
        told.rts_unanswered += u64::from(report.ppdu.is_none());
        told.acknowledged += report.acknowledged.len() as u64;
    }
}

/// Shows the counters.
#[derive(Debug)]
struct Teller(Rc<RefCell<Told>>);

impl Agent for Teller {
    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let told = self.0.borrow();
        let [first, second, third] = told.in_stage;
        out("attempts_in_stage_1", first);
        out("attempts_in_stage_2", second);
        out("attempts_in_stage_3", third);
        out("attempts_beyond_tries", told.out_of_tries);
        out("rts_unanswered", told.rts_unanswered);
        out("acknowledged", told.acknowledged);
    }
}
