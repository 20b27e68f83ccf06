//! Which mode a control response goes in.

use phy::{Mode, Preamble};

/// The mode of the control response to a frame in each mode, worked out once: the highest of a set that is not above the
/// frame's. @80211-2020 10.6.6.5.2
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlModes {
    of: [Mode; Mode::COUNT],
}

impl ControlModes {
    /// Of the modes of `set`, slowest first; the slowest, if all are above the frame's.
    ///
    /// # Panics
    /// If the set is empty.
    pub fn of(set: &[Mode]) -> ControlModes {
        let response = |to: Mode| {
            let not_above = set.iter().rev().find(|mode| mode.bit_rate() <= to.bit_rate());
            *not_above.unwrap_or(&set[0])
        };
        ControlModes { of: Mode::all().map(response) }
    }

    /// The same behind this preamble, where there is a choice.
    #[must_use]
    pub fn with_preamble(&self, preamble: Preamble) -> ControlModes {
        ControlModes { of: self.of.map(|mode| mode.with_preamble(preamble)) }
    }

    /// In response to a frame in this mode.
    pub fn response_to(&self, mode: Mode) -> Mode {
        self.of[mode.index()]
    }
}
