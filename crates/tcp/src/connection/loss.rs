//! Losses: fast retransmit and recovery, the retransmission timeout.
//! @RFC5681 sec. 3.2, @RFC6582 sec. 3.2, @RFC6298 sec. 5

use super::Connection;
use super::selective::Pending;
use super::sender::Recovering;
use crate::cc::Congestion;
use crate::recovery::Begins;
use crate::timers::Timer;
use crate::{Loss, State, Why};
use units::{Bytes, SimTime};
use wire::{Seq, SeqRange};

impl Connection {
    /// The first segment not acknowledged.
    fn first_segment(&self) -> SeqRange {
        SeqRange { start: self.snd.una, end: (self.snd.una + self.snd.mss).min(self.snd.max) }
    }

    /// Returns true if the loss of the first segment is one of congestion. Then the controller cuts the window, unless an echoed
    /// mark has cut it since that segment left. A timeout is answered in any case.
    pub(crate) fn judge_loss(&mut self, why: Congestion) -> bool {
        self.judge_loss_of(self.first_segment(), why, 0)
    }

    /// As [`Connection::judge_loss`], of the segment `lost`; the ACK at hand has taken `acked` bytes out of the flight.
    pub(crate) fn judge_loss_of(&mut self, lost: SeqRange, why: Congestion, acked: u64) -> bool {
        let cut = self.ask(|hook, facts| hook.loss(Loss::Congestion, lost, facts)) != Some(Loss::Corruption);
        let snd = &mut self.snd;
        if cut && !(why == Congestion::FastRetransmit && (snd.is_reducing() || snd.reduction.answered(lost.start))) {
            let of_flight = why == Congestion::FastRetransmit;
            snd.window.flight_size =
                Bytes(acked + if of_flight { snd.flight_to_cut() } else { snd.flight_at_timeout() });
            snd.window.pipe = Bytes(u64::from(snd.pipe()));
            snd.window.hystart = None;
            self.remember_window(!of_flight);
            let snd = &mut self.snd;
            snd.cc.on_congestion(why, &mut snd.window);
            debug_assert!(snd.window.cwnd >= snd.window.mss, "cwnd {} < one segment", snd.window.cwnd);
            snd.reduction.made(false);
        }
        cut
    }

    /// If a hook knows that a copy of the first segment is under way: what had been sent before it.
    pub(crate) fn first_in_repair(&mut self) -> Option<Seq> {
        let first = self.first_segment();
        self.ask(|hook, facts| hook.in_repair(first, facts)).flatten()
    }

    /// Sends again the segments that hooks know to be corrupted, whatever the congestion window.
    pub(crate) fn repair_corrupted(&mut self, now: SimTime) {
        while let Some(range) = self.ask(|hook, facts| hook.corrupted(facts)).flatten() {
            let snd = &mut self.snd;
            let edge = snd.una + snd.wnd;
            let start = range.start.max(snd.una);
            let mut range = SeqRange { start, end: range.end.min(snd.nxt) };
            if !start.lt(range.end) || edge.lt(range.end) || !self.state.sends() {
                continue;
            }
            if let Some(tracking) = snd.tracking.as_deref_mut().filter(|tracking| tracking.selective) {
                let Some(whole) = tracking.board.lose_at(start, edge) else { continue };
                range = whole;
            }
            snd.resend.insert(range);
            if range.start == snd.una {
                self.arm_rto(now); // as at a fast retransmit: the timer is that of the copy
            }
        }
    }

    /// Enough duplicates. @RFC5681 sec. 3.2 steps 2 and 3
    pub(crate) fn fast_retransmit(&mut self, now: SimTime) {
        if let Some(recover) = self.first_in_repair() {
            let snd = &mut self.snd;
            snd.recovering = Some(Recovering { recover, cut: false, partial: false, repaired: true });
            snd.window.in_recovery = true;
            snd.inflation = u64::from(snd.dup_acks) * u64::from(snd.mss);
            return;
        }
        self.counters.borrow_mut().fast_retransmits += 1;
        self.counters.borrow_mut().loss_found(now);
        let cut = self.judge_loss(Congestion::FastRetransmit);
        let first = self.first_segment();
        let snd = &mut self.snd;
        if snd.recovery.begins() == Begins::SlowStart && cut {
            snd.guard = Some(snd.max);
            snd.go_back();
            snd.inflation = 0;
            snd.window.cwnd = snd.window.mss; // also where a mark has cut already
            self.timers.stop(Timer::Retransmit); // sending starts it
            return;
        }
        snd.recovering = Some(Recovering { recover: snd.max, cut, partial: false, repaired: false });
        snd.window.in_recovery = true;
        snd.inflation = u64::from(snd.dup_acks) * u64::from(snd.mss); // as many have left the network
        snd.resend.insert(first);
        // As BSD and Linux; @RFC6298 alone would let the timer of the lost segment run on.
        self.arm_rto(now);
    }

    /// An ACK within fast recovery that leaves a hole. @RFC6582 sec. 3.2 step 3, "Partial acknowledgments"
    pub(crate) fn partial_ack(&mut self, r: Recovering, acked: u64) {
        let in_repair = self.first_in_repair();
        let cut = r.cut || in_repair.is_none() && self.judge_loss(Congestion::FastRetransmit);
        let hole = self.first_segment();
        let snd = &mut self.snd;
        // What left before a copy did is told by the ACK of that copy.
        let recover = in_repair.map_or(r.recover, |sent| sent.max(r.recover));
        snd.recovering = Some(Recovering { recover, cut, partial: true, ..r });
        if snd.is_selective() {
            return; // the scoreboard tells what is missing
        }
        if in_repair.is_none() {
            snd.resend.insert(hole);
        }
        let mss = u64::from(snd.mss);
        snd.inflation = snd.inflation.saturating_sub(acked) + if acked >= mss { mss } else { 0 };
    }

    pub(crate) fn leave_recovery(&mut self, r: Recovering) {
        let snd = &mut self.snd;
        snd.recovering = None;
        snd.window.in_recovery = false;
        (snd.dup_acks, snd.inflation) = (0, 0);
        self.end_tracking(r.cut);
        let snd = &mut self.snd;
        if r.cut {
            snd.cc.on_recovered(&mut snd.window);
        }
        // A recovery that has repeated nothing has no duplicates of its own to fear.
        if snd.recovery.guards() && snd.una.le(r.recover) && (r.cut || !r.repaired) {
            snd.guard = Some(r.recover); // until more than "recover" is covered. @RFC6582 sec. 3.2 step 2
        }
    }

    /// Starts the retransmission timer anew; not while frozen.
    pub(crate) fn arm_rto(&mut self, now: SimTime) {
        if !self.snd.frozen {
            let at = now + self.snd.rtt.rto();
            let at = match self.config.user_timeout {
                None => at,
                Some(most) => at.min((self.snd.waits_since + most).max(now)),
            };
            self.timers.set(Timer::Retransmit, at);
            self.snd.pending = Pending::Timeout;
        }
    }

    /// The retransmission timer expired. @RFC6298 (5.4) to (5.7), @RFC5681 sec. 3.1
    pub(crate) fn retransmission_timeout(&mut self, now: SimTime) {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        self.snd.retries = self.snd.retries.saturating_add(1);
        let limit = if opening { self.config.syn_retries } else { self.config.max_retries };
        let too_long = self.config.user_timeout.is_some_and(|most| now.since(self.snd.waits_since) >= most);
        if u32::from(self.snd.retries) > limit || too_long {
            return self.enter_closed(Some(Why::TimedOut)); // R2. @RFC9293 sec. 3.8.3
        }
        {
            let mut counters = self.counters.borrow_mut();
            counters.timeouts += 1;
            if self.snd.retries == 1 {
                counters.timeout_sequences += 1;
                counters.first_rto_sum += self.snd.rtt.rto();
            }
        }
        self.snd.rtt.back_off();
        if opening {
            self.snd.syn_lost = true;
            self.snd.nxt = self.snd.iss;
            return;
        }
        if self.snd.retries == 1 {
            self.counters.borrow_mut().loss_found(now);
        }
        self.ask(|hook, flow| hook.on_timeout(flow));
        let repeated = self.snd.retries > 1;
        let recovering = self.snd.recovering.is_some() || self.snd.guard.is_some();
        if !self.judge_loss(Congestion::Rto { repeated }) {
            // Not congestion: repeat the one segment and leave the rest in flight.
            self.snd.resend.insert(self.first_segment());
            self.arm_rto(now);
            return;
        }
        let doubt = self.doubts_timeout(repeated, recovering);
        let snd = &mut self.snd;
        snd.recovering = None;
        snd.window.in_recovery = false;
        (snd.window.after_timeout, snd.window.timeout_lasts) = (true, true);
        (snd.dup_acks, snd.inflation) = (0, 0);
        snd.guard = Some(snd.max); // @RFC6582 sec. 3.2 step 4
        snd.resend.clear();
        if self.timeout_tracked(now, doubt) {
            self.arm_rto(now);
        } else if doubt {
            self.snd.resend.insert(self.first_segment());
            self.arm_rto(now);
        } else {
            self.snd.go_back();
        }
        self.snd.probe_due = self.snd.wnd == 0; // into a window taken back: only a probe may go
    }
}
