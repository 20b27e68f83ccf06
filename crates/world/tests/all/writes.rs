//! The writes and reads of applications in random scenarios.

/// The time at which flows that write by the clock stop.
pub const STOP_MS: u64 = 1500;

/// The readers of a flow.
pub const READERS: [&str; 4] = [
    "{ model = \"instant\" }",
    "{ model = \"instant\" }",
    "{ model = \"rate\", rate = \"400 kb/s\" }",
    "{ model = \"on-off\", on = \"200 ms\", off = \"700 ms\" }",
];

/// The writes of an application; all but the first two stop with their flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    Nothing,
    Bulk(u64),
    Chunks,
    Poisson,
    Cbr,
    Saturated,
}

impl Writes {
    /// As a scenario has it.
    pub fn text(self) -> String {
        match self {
            Writes::Nothing => "{ model = \"none\" }".into(),
            Writes::Bulk(bytes) => format!("{{ model = \"bulk\", bytes = \"{bytes} B\" }}"),
            Writes::Chunks => "{ model = \"chunks\", size = \"100 B\", every = \"10 ms\" }".into(),
            Writes::Poisson => "{ model = \"poisson\", rate = \"300 kb/s\" }".into(),
            Writes::Cbr => "{ model = \"cbr\", rate = \"200 kb/s\" }".into(),
            Writes::Saturated => "{ model = \"saturated\" }".into(),
        }
    }

    /// The most it can have written at the end, if that is known beforehand.
    pub fn at_most(self) -> Option<u64> {
        match self {
            Writes::Nothing => Some(0),
            Writes::Bulk(bytes) => Some(bytes),
            Writes::Chunks => Some(100 * (STOP_MS / 10 + 1)),
            // 25 B a millisecond, a segment at a time.
            Writes::Cbr => Some(25 * STOP_MS + 1460),
            Writes::Poisson | Writes::Saturated => None,
        }
    }

    /// True if it is stopped by the clock.
    pub fn is_stopped(self) -> bool {
        !matches!(self, Writes::Nothing | Writes::Bulk(_))
    }
}
