//! One contender: its parameters, its phase and backoff, and the arithmetic of one countdown.

use super::*;

/// The state of a contender. Those with a grant to come are last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// No backoff under way and nothing to send.
    Off,
    /// Granted: the station transmits or waits for a response.
    Granted,
    /// Counting down with nothing to send. @80211-2020 10.3.4.3
    PostBackoff,
    /// Something to send, and counting down.
    Backoff,
    /// Something to send, found the medium idle: no backoff unless it turns busy before the interframe space ends.
    /// @80211-2020 10.3.4.2
    Immediate,
}

#[derive(Debug)]
pub(super) struct Contender {
    pub(super) node: NodeId,
    pub(super) access: Access,
    pub(super) phase: Phase,
    pub(super) cw: u16,
    /// Slots that remain as of the last change.
    pub(super) slots: u32,
    /// The countdown does not begin earlier, though the interframe space be over: then this is its first slot boundary.
    pub(super) not_before: SimTime,
    /// The beginning of the countdown in the current idle period, as of the last change.
    pub(super) counts_from: SimTime,
    pub(super) draws: Stream,
}

/// The carrier sense of one station.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sense {
    pub(super) is_busy: bool,
    /// True if the last frame it received was in error: EIFS applies.
    pub(super) after_error: bool,
    /// As in [`Place`].
    pub(super) idle_from: SimTime,
}

/// The end of an exchange, as far as the next backoff is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Answered, or nothing to be answered: CW falls back. @80211-2020 10.3.3
    Success,
    /// Not answered: CW doubles.
    Failure,
    /// Given up: CW falls back as well.
    Discard,
    /// CW is that of a frame that has failed so often.
    Failures(u8),
}

/// CW after so many failures.
pub(super) fn doubled(access: Access, failures: u8) -> u16 {
    let cw = (u32::from(access.cw_min) + 1) << failures.min(16);
    (cw - 1).min(u32::from(access.cw_max)) as u16
}

impl Contender {
    /// A fresh backoff, uniform over 0 … CW. @80211-2020 10.3.3
    pub(super) fn draw(&mut self) {
        self.slots = self.draws.below(u32::from(self.cw) + 1);
        self.phase = Phase::Backoff;
    }

    /// An idle period is over.
    #[inline]
    pub(super) fn freeze(&mut self, now: SimTime) {
        match self.phase {
            Phase::Immediate => self.draw(),
            Phase::Backoff | Phase::PostBackoff if self.counts_from <= now => {
                self.slots -= elapsed(self, self.counts_from, now).min(self.slots);
                if self.phase == Phase::PostBackoff && self.slots == 0 {
                    self.phase = Phase::Off;
                }
            }
            _ => {}
        }
    }

    /// Counts anew after a change at its station or in itself. Returns its grant, if nothing turns busy.
    #[inline]
    pub(super) fn recount(&mut self, sense: &Sense) -> SimTime {
        self.counts_from = count_from(self, sense);
        // A station that transmits without a backoff has no slots left.
        if self.phase < Phase::Backoff || sense.is_busy {
            return SimTime::NEVER;
        }
        // Neither is anywhere near the end of time: no need to saturate.
        SimTime::from_ns(self.counts_from.ns() + self.access.slot.ns() * u64::from(self.slots))
    }
}

/// The beginning of a contender's countdown in the current idle period.
pub(super) fn count_from(contender: &Contender, sense: &Sense) -> SimTime {
    let ifs = if sense.after_error { contender.access.eifs } else { contender.access.ifs };
    SimTime::from_ns(sense.idle_from.ns() + ifs.ns()).max(contender.not_before)
}

/// The first slot boundary from `now` on; under DCF any instant will do.
pub(super) fn next_boundary(contender: &Contender, sense: &Sense, now: SimTime) -> SimTime {
    let from = count_from(contender, sense);
    match contender.access.countdown {
        Countdown::Edca if from < now => {
            let (gone, slot) = (now - from, contender.access.slot);
            from + slot * (gone.ns().div_ceil(slot.ns().max(1)))
        }
        Countdown::Edca | Countdown::Dcf => now,
    }
}

/// Slots counted down by `now`, `from` being over.
pub(super) fn elapsed(contender: &Contender, from: SimTime, now: SimTime) -> u32 {
    let first = match contender.access.countdown {
        Countdown::Dcf => 0,
        Countdown::Edca => 1,
    };
    let counted = (now - from) / contender.access.slot + first;
    u32::try_from(counted).unwrap_or(u32::MAX)
}

/// True if a countdown with nothing to send has ended by `now` in this idle period; one that ended before has left
/// [`Phase::PostBackoff`] when the medium turned busy. Under the standard's DCF rule a backoff of zero slots still waits for the
/// interframe space; elsewhere a timer of 0 is over. @80211-2020 10.23.2.2 a)
pub(super) fn is_over(contender: &Contender, sense: &Sense, now: SimTime) -> bool {
    if contender.slots == 0 && contender.access.in_gap != AccessInGap::DcfLetter {
        return true;
    }
    !sense.is_busy && count_from(contender, sense) + contender.access.slot * u64::from(contender.slots) <= now
}
