//! Local congestion: the queue of this very host has no room for the segment that has just left. As in Linux (tcp_transmit_skb,
//! tcp_enter_cwr) it was never sent, nothing more leaves until something happens, and the window comes down as for a mark.
//!
//! Left out: a pure ACK that is refused cuts nothing; the repair of a timeout that is refused waits for the next timeout, not half a
//! second; what a hook was told of a repetition ([`crate::SenderHook::resent`]) stays told.

use super::Connection;
use super::selective::{Pending, Told};
use super::sender::Chosen;
use crate::cc::Congestion;
use crate::timers::Timer;
use units::{Bytes, SimTime};
use wire::SeqRange;

/// The last segment with data or a FIN that left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    chosen: Chosen,
    /// It had been sent before.
    again: bool,
}

impl Left {
    pub fn new(chosen: Chosen, again: bool) -> Left {
        Left { chosen, again }
    }

    fn range(&self) -> SeqRange {
        SeqRange::new(self.chosen.seq, self.chosen.len + u32::from(self.chosen.fin))
    }
}

impl Connection {
    /// The host's queue has refused the segment with these numbers. Believed of the last that left, and only as long as nothing has
    /// happened to it since; any other is for the network to lose, a pure ACK from before it with the number that it begins with too.
    pub(crate) fn refused(&mut self, now: SimTime, range: SeqRange) {
        let snd = &mut self.snd;
        let Some(left) = snd.left.take_if(|left| left.range() == range) else { return };
        if !self.state.sends() || range.start.lt(snd.una) || left.chosen.advances && snd.nxt != range.end {
            return;
        }
        let tracked = snd.tracking.as_deref_mut();
        let selective = tracked.as_ref().is_some_and(|tracking| tracking.selective);
        if let Some(tracking) = tracked {
            tracking.take_back(range, left.chosen.advances);
        }
        if left.chosen.advances {
            snd.nxt = range.start;
        } else if !selective {
            snd.resend.insert(range);
        }
        if !left.again {
            snd.max = range.start;
            snd.fin_sent &= !left.chosen.fin;
            snd.timed = snd.timed.filter(|(end, _)| *end != range.end);
            snd.reduction.taken_back(range.start);
        }
        self.counters.borrow_mut().refused(left.chosen.len, left.again);
        snd.held.refused = true;
        if snd.nxt == snd.una {
            // No ACK will come to try it again.
            self.timers.stop(Timer::Retransmit);
            snd.pending = Pending::Timeout;
            self.timers.set(Timer::Pace, now + snd.rtt.rto());
        }
        self.cut_for_local_congestion();
    }

    /// Cuts the window once for a window of data, and not while a recovery lasts. As in Linux the cut is of cwnd: the
    /// flight says little of a window of which the host has refused a part.
    fn cut_for_local_congestion(&mut self) {
        let snd = &mut self.snd;
        let lasts = snd.recovering.is_some() || snd.window.timeout_lasts || snd.is_reducing();
        let answered = snd.cut_until.is_some_and(|until| snd.una.le(until) && until.le(snd.max));
        if lasts || answered || snd.cc.owns_window() {
            return;
        }
        snd.cut_until = Some(snd.max);
        let prior = snd.window.cwnd;
        self.cut_without_loss(prior.0, prior, &Told::NOTHING);
        self.counters.borrow_mut().local_cuts += 1;
    }

    /// Cuts the window though nothing was lost: for a mark, or for local congestion. `flight` is the flight before,
    /// `prior` a bound on cwnd afterwards.
    pub(crate) fn cut_without_loss(&mut self, flight: u64, prior: Bytes, told: &Told) {
        let window = &mut self.snd.window;
        let most = window.cwnd.min(prior).max(window.mss); // whatever the least ssthresh of the controller
        window.flight_size = Bytes(flight);
        window.hystart = None;
        self.snd.cc.on_congestion(Congestion::EcnMark, window);
        debug_assert!(window.cwnd >= window.mss, "cwnd {} < one segment", window.cwnd);
        window.cwnd = window.cwnd.min(most);
        if self.options.ecn {
            self.snd.reduction.made(true);
        }
        if most > self.snd.window.mss {
            self.reduce_in_a_round(most, told);
        }
    }
}
