//! AARF, adaptive ARF: as ARF, but a probe that fails doubles the successes that the next one takes.
//!
//! - **Source** @LMT04, not at hand: from 10 doubled, and 10 again once two failures in a row lower the rate, as ns-3 3.37 and INET 4.5 have
//!   it; the limit of 50 is INET's, ns-3 has 60.
//! - **Departs** from the paper in what nobody here has read. The timer doubles with the successes, without an end, as in ns-3: one of 15
//!   would undo what 50 successes are for. The rest as ARF departs.
//! - **Checked** the trace below; `crates/world/tests/all/rates.rs`; `validation/ns3/rates.py`.

use super::arf::{Arf, Meaning};
use super::stepping::{Rule, SUCCESSES, Stepping, TIMER, Turn};
use super::{Given, RateControl, Unfit};
use plugin::{Info, Kind, Param, Params, Value};

/// Its declaration.
pub const INFO: Info = Info {
    id: "aarf",
    summary: "ARF with probes that become rarer as they fail",
    source: "LMT04",
    params: &[
        SUCCESSES,
        TIMER,
        Param {
            key: "most_successes",
            kind: Kind::Int { min: 1, max: 10_000 },
            default: Value::Int(50),
            doc: "Successes in a row that a rise takes at most, however many probes have failed. ns-3 has 60.",
        },
    ],
};

/// For a station with these parameters.
pub fn make(params: &Params, given: Given<'_>) -> Result<Box<dyn RateControl>, Unfit> {
    let arf = Arf::new(params);
    let most = (params.int("most_successes") as u64).max(arf.successes);
    Ok(Box::new(Stepping::new(given, Aarf { least: (arf.successes, arf.timer), most, arf })))
}

#[derive(Debug, Clone)]
struct Aarf {
    arf: Arf,
    /// Successes and attempts that a rise takes after a fall.
    least: (u64, u64),
    most: u64,
}

impl Rule for Aarf {
    fn outcome(&mut self, is_success: bool, may_rise: bool) -> Turn {
        match self.arf.attempt(is_success, may_rise) {
            Meaning::Rise => Turn::Up,
            Meaning::ProbeFailed => {
                self.arf.successes = (2 * self.arf.successes).min(self.most);
                self.arf.timer = self.arf.timer.saturating_mul(2);
                Turn::Down
            }
            Meaning::Fall => {
                (self.arf.successes, self.arf.timer) = self.least;
                Turn::Down
            }
            Meaning::None => Turn::Stay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stepping::steps;
    use super::*;

    #[test]
    fn the_choices_after_a_sequence_of_outcomes_are_those_worked_by_hand() {
        let of = |set: &[(&str, i64)], outcomes: &str| steps(make, set, &INFO, outcomes);
        let [s10, s20, s40, s50] = [10, 20, 40, 50].map(|n| "s".repeat(n));
        let rises_after = |n: usize| "0".repeat(n - 1) + "1";
        // Probes after 10, 20, 40 and, at most, 50 successes; each fails at once.
        let outcomes = format!("{s10}f{s20}f{s40}f{s50}f{s50}");
        let expected = [10, 20, 40, 50, 50].map(rises_after).join("0");
        assert_eq!(of(&[], &outcomes), expected);
        // The timer is 30 after one failed probe: of 29 attempts 14 have failed, one at a time, and the 29th is a success. The 30th
        // fails, the 31st is the success that raises.
        let mixed = "sf".repeat(15) + "s";
        assert_eq!(of(&[], &format!("{s10}f{mixed}")), format!("{}0{}", rises_after(10), rises_after(31)));
        // Two failures in a row at step 1, which was held: the next probe takes 10 again.
        assert_eq!(of(&[], &format!("{s10}f{s20}sff{s10}")), format!("{}0{}110{}", rises_after(10), rises_after(20), rises_after(10)));
        // ns-3's limit.
        let outcomes = format!("{s10}f{s20}f{s40}f{s50}{s10}");
        let expected = [10, 20, 40, 60].map(rises_after).join("0");
        assert_eq!(of(&[("most_successes", 60)], &outcomes), expected);
    }
}
