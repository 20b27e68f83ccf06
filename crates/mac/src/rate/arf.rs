//! ARF, automatic rate fallback: a faster mode after ten successes, a slower one after two failures.
//!
//! - **Source** @KM97, not at hand, as ns-3 3.37 and INET 4.5 have it: its timer counts frames.
//! - **Departs** the timer is due at the first success from its end on; ns-3 misses it where that attempt fails. A frame that fails
//!   behind a rise ends the probe: two further failures are a fall of their own, where ns-3 stays until a success.
//! - **Checked** the trace below; `crates/world/tests/all/rates.rs`; `validation/ns3/rates.py`.

use super::stepping::{Rule, SUCCESSES, Stepping, TIMER, Turn};
use super::{Given, RateControl, Unfit};
use plugin::{Info, Params};

/// Its declaration.
pub const INFO: Info = Info {
    id: "arf",
    summary: "ARF: a faster mode after ten successes, a slower one after two failures",
    source: "KM97",
    params: &[SUCCESSES, TIMER],
};

/// For a station with these parameters.
pub fn make(params: &Params, given: Given<'_>) -> Result<Box<dyn RateControl>, Unfit> {
    Ok(Box::new(Stepping::new(given, Arf::new(params))))
}

/// The rule of one receiver. AARF moves its thresholds.
#[derive(Debug, Clone)]
pub(super) struct Arf {
    /// Successes that it takes to rise.
    pub successes: u64,
    /// Attempts that it takes.
    pub timer: u64,
    /// Successes in a row.
    succeeded: u64,
    /// Failures in a row.
    failed: u64,
    /// Attempts since the last change of the mode or second failure.
    attempts: u64,
    /// The next attempt is the first after a rise.
    is_probing: bool,
}

/// The meaning of an attempt to [`Arf`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A faster mode is to be tried.
    Rise,
    /// The first attempt after a rise has failed.
    ProbeFailed,
    /// Two have failed in a row.
    Fall,
    /// Nothing yet.
    None,
}

impl Arf {
    pub fn new(params: &Params) -> Arf {
        let [successes, timer] = ["successes", "timer"].map(|key| params.int(key) as u64);
        Arf { successes, timer, succeeded: 0, failed: 0, attempts: 0, is_probing: false }
    }

    /// An attempt is over.
    pub fn attempt(&mut self, is_success: bool, may_rise: bool) -> Meaning {
        self.attempts += 1;
        let was_probing = std::mem::take(&mut self.is_probing);
        if is_success {
            self.succeeded += 1;
            self.failed = 0;
            if may_rise && (self.succeeded >= self.successes || self.attempts >= self.timer) {
                (self.succeeded, self.attempts, self.is_probing) = (0, 0, true);
                return Meaning::Rise;
            }
            return Meaning::None;
        }
        (self.succeeded, self.failed) = (0, self.failed + 1);
        if !was_probing && self.failed < 2 {
            return Meaning::None;
        }
        (self.failed, self.attempts) = (0, 0);
        if was_probing { Meaning::ProbeFailed } else { Meaning::Fall }
    }
}

impl Rule for Arf {
    fn outcome(&mut self, is_success: bool, may_rise: bool) -> Turn {
        match self.attempt(is_success, may_rise) {
            Meaning::Rise => Turn::Up,
            Meaning::ProbeFailed | Meaning::Fall => Turn::Down,
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
        let of = |outcomes: &str| steps(make, &[], &INFO, outcomes);
        // Ten successes: step 1. The first frame there fails: back to 0 at once. Ten more: 1; it holds, so one failure changes
        // nothing, and two in a row do.
        let probes = ["ssssssssss", "f", "ssssssssss", "s", "f", "s", "ff"];
        let expected = ["0000000001", "0", "0000000001", "1", "1", "1", "10"];
        assert_eq!(of(&probes.concat()), expected.concat());
        // The timer: of fifteen attempts every second has failed, so no more than one success stands in a row. The 15th, a success, raises.
        assert_eq!(of("sfsfsfsfsfsfsfs"), "000000000000001");
        // It has run out at a failure, the 15th: the next success is enough.
        assert_eq!(of("fsfsfsfsfsfsfsfs"), "0000000000000001");
        // There is no mode below the slowest; and two failures in a row begin the count of attempts anew, which 15 would end.
        assert_eq!(of("ffsffsffsffsffs"), "000000000000000");
        // An RTS in vain is no attempt of the mode: the two failures around it are in a row.
        assert_eq!(of("sssssssssssfrf"), "00000000011110");
    }

    #[test]
    fn thresholds_are_the_scenarios() {
        assert_eq!(steps(make, &[("successes", 3), ("timer", 4)], &INFO, "sssssssfsfs"), "00111222223");
    }
}
