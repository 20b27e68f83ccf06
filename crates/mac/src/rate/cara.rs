//! CARA, collision-aware rate adaptation: after a failure an RTS goes first, so that a failure behind it is the channel's.
//!
//! - **Source** @KKCQ06, not at hand, as ns-3 3.37 has it: RTS probing after 1 failure (P_th), a slower mode after 2 (N_th), a faster one after 10 successes (M_th) or the
//!   timer of 15.
//!   RTSs go at the slowest basic rate: at a faster one the channel would lose them, too, and the mode would stay for good.
//! - **Departs** its detection of collisions by carrier sense (CARA-2) is left out, as in ns-3.
//! - **Checked** the trace below; `crates/world/tests/all/rates.rs`; `validation/ns3/rates.py`.

use super::stepping::{Rule, SUCCESSES, Stepping, TIMER, Turn};
use super::{Given, RateControl, Unfit};
use plugin::{Info, Kind, Param, Params, Value};

/// Its declaration.
pub const INFO: Info = Info {
    id: "cara",
    summary: "as ARF, with an RTS on the second try to tell collisions from channel errors",
    source: "KKCQ06",
    params: &[
        SUCCESSES,
        TIMER,
        Param {
            key: "rts_after",
            kind: Kind::Int { min: 0, max: 100 },
            default: Value::Int(1),
            doc: "Failures in a row after which an RTS goes before data.",
        },
        Param {
            key: "failures",
            kind: Kind::Int { min: 1, max: 100 },
            default: Value::Int(2),
            doc: "Failures in a row after which the next slower mode is taken.",
        },
    ],
};

/// For a station with these parameters.
pub fn make(params: &Params, given: Given<'_>) -> Result<Box<dyn RateControl>, Unfit> {
    let [successes, timer, rts_after, failures] =
        ["successes", "timer", "rts_after", "failures"].map(|key| params.int(key) as u64);
    let rule = Cara { successes, timer, rts_after, failures, succeeded: 0, failed: 0, attempts: 0 };
    Ok(Box::new(Stepping::new(given, rule)))
}

#[derive(Debug, Clone)]
struct Cara {
    successes: u64,
    timer: u64,
    rts_after: u64,
    failures: u64,
    /// Successes in a row.
    succeeded: u64,
    /// Failures in a row.
    failed: u64,
    /// Attempts since the last change of the mode.
    attempts: u64,
}

impl Rule for Cara {
    fn outcome(&mut self, is_success: bool, _: bool) -> Turn {
        self.attempts += 1;
        if is_success {
            (self.succeeded, self.failed) = (self.succeeded + 1, 0);
            if self.succeeded < self.successes && self.attempts < self.timer {
                return Turn::Stay;
            }
            (self.succeeded, self.attempts) = (0, 0);
            return Turn::Up;
        }
        (self.succeeded, self.failed) = (0, self.failed + 1);
        if self.failed < self.failures {
            return Turn::Stay;
        }
        (self.failed, self.attempts) = (0, 0);
        Turn::Down
    }

    fn asks_rts(&self) -> bool {
        self.failed >= self.rts_after
    }

    const PROBES_BY_RTS: bool = true;
}

#[cfg(test)]
mod tests {
    use super::super::stepping::trace;
    use super::*;

    #[test]
    fn the_choices_after_a_sequence_of_outcomes_are_those_worked_by_hand() {
        let of = |outcomes: &str| {
            let digit = |(step, rts): &(u8, bool)| format!("{step}{}", if *rts { "r" } else { "" });
            trace(make, &[], &INFO, outcomes).iter().map(digit).collect::<Vec<_>>().concat()
        };
        // Ten successes: step 1. A failure there, though the first after the rise, is answered with an RTS and not with a fall. RTSs in
        // vain are collisions: the mode stays, and the next frame has an RTS, too. Data behind one that fail are the channel's doing.
        assert_eq!(of("ssssssssssfrrrf"), "0000000001".to_owned() + "1r1r1r1r0");
        // Data behind an RTS that get through leave the mode where it is, and the next goes without.
        assert_eq!(of("ssssssssssfs"), "0000000001".to_owned() + "1r1");
        // The timer: the 15th attempt is a success.
        assert_eq!(of("sfsfsfsfsfsfsfs"), "00r00r00r00r00r00r00r1");
    }
}
