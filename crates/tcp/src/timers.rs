//! The timers of one connection: an enum and a table. Setting one again replaces it.

use units::SimTime;

/// A timer. The order is the order in which those due at one instant run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Something sent is not acknowledged. @RFC6298 sec. 5
    Retransmit,
    /// The peer's window keeps everything back. @RFC9293 sec. 3.8.6.1
    Persist,
    /// An acknowledgment waits for company. @RFC1122 4.2.3.2
    DelayedAck,
    /// 2 MSL. @RFC9293 sec. 3.4.2
    TimeWait,
    /// The controller paces, or a mark met a window of one segment; the next segment may leave.
    Pace,
}

/// The expiry of each timer; [`SimTime::NEVER`] if it is off.
#[derive(Debug)]
pub(crate) struct Timers([SimTime; 5]);

impl Default for Timers {
    fn default() -> Timers {
        Timers([SimTime::NEVER; 5])
    }
}

impl Timers {
    pub(crate) fn set(&mut self, timer: Timer, at: SimTime) {
        self.0[timer as usize] = at;
    }

    /// The time when it expires.
    pub(crate) fn at(&self, timer: Timer) -> SimTime {
        self.0[timer as usize]
    }

    pub(crate) fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = SimTime::NEVER;
    }

    pub(crate) fn stop_all(&mut self) {
        *self = Timers::default();
    }

    pub(crate) fn is_set(&self, timer: Timer) -> bool {
        self.0[timer as usize] != SimTime::NEVER
    }

    /// Returns true if `timer` has expired; if so it is off afterwards.
    pub(crate) fn take_due(&mut self, timer: Timer, now: SimTime) -> bool {
        let due = self.0[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }

    /// The earliest.
    pub(crate) fn next(&self) -> SimTime {
        self.0.iter().copied().fold(SimTime::NEVER, SimTime::min)
    }
}
