//! A deadline that moves on more often than it comes.

use crate::{Cx, Key};
use units::SimTime;

/// A deadline and the agent's timer behind it, which is set anew only where it would go off too late.
#[derive(Debug)]
pub(crate) struct Deadline {
    at: SimTime,
    timer_at: SimTime,
}

impl Default for Deadline {
    fn default() -> Deadline {
        Deadline { at: SimTime::NEVER, timer_at: SimTime::NEVER }
    }
}

impl Deadline {
    pub fn is_set(&self) -> bool {
        self.at != SimTime::NEVER
    }

    pub fn set(&mut self, at: SimTime, key: Key, cx: &mut Cx) {
        self.at = at;
        if at < self.timer_at {
            self.timer_at = at;
            cx.timer(key, at);
        }
    }

    /// The timer, if it runs, finds nothing to do.
    pub fn clear(&mut self) {
        self.at = SimTime::NEVER;
    }

    /// The timer went off. True if the deadline has come, which is none any more then.
    pub fn has_come(&mut self, key: Key, cx: &mut Cx) -> bool {
        self.timer_at = SimTime::NEVER;
        if cx.now < self.at {
            if self.is_set() {
                self.set(self.at, key, cx);
            }
            return false;
        }
        self.clear();
        true
    }
}
