//! The sender that keeps a scoreboard: the news of an ACK, the losses, the next segment. @RFC6675, @RFC8985

use super::Connection;
use super::sender::{Chosen, Recovering, Sender};
use crate::cc::Congestion;
use crate::options::timestamps;
use crate::prr::{Progress, Prr};
use crate::rack::{self, Probe, ProbeResult, Rack};
use crate::rate::{Rate, RateSample};
use crate::recovery::Evidence;
use crate::scoreboard::{Scoreboard, Segment};
use crate::timers::Timer;
use crate::{Ack, Config};
use units::{Bytes, Dur, SimTime};
use wire::{Seq, SeqRange, Tcp};

/// The additional state of a sender with a scoreboard.
#[derive(Debug)]
pub(crate) struct Tracking {
    pub board: Scoreboard,
    pub rate: Rate,
    /// Losses are found and repaired by the board. Otherwise it is there for the rate samples alone.
    pub selective: bool,
    /// The least RTT of segments sent once.
    pub min_rtt: Option<Dur>,
    /// RescueRxt. @RFC6675 sec. 2
    rescue: Option<Seq>,
    /// The first repair of a recovery leaves whatever the pipe. @RFC6675 sec. 5 step 4.3
    forced: bool,
    /// While a recovery that cut the window lasts, or a reduction without a loss.
    prr: Option<Prr>,
    /// RecoveryPoint of a reduction without a loss: it lasts until that is acknowledged.
    pub reducing: Option<Seq>,
    rack: Option<Rack>,
    probe: Option<Probe>,
    /// The time when something that is out of order will be lost.
    reorder: Option<SimTime>,
    /// The time when the retransmission timer would expire, while its slot is another's.
    timeout_at: SimTime,
}

/// The purpose that the retransmission timer is set for. @RFC8985 sec. 7.2: one at a time
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Pending {
    #[default]
    Timeout,
    Probe,
    Reorder,
}

/// The news of one ACK for the scoreboard, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// Newly SACKed.
    pub sacked: u32,
    /// Newly SACKed, or acknowledged and not SACKed before.
    pub delivered: u32,
    /// The range that came twice.
    pub dsack: Option<SeqRange>,
    pub rate: Option<RateSample>,
    /// The RTT of a segment that was sent once.
    pub rtt: Option<Dur>,
    /// True if data sent before the last timeout, and not repeated, has arrived.
    pub fresh: bool,
}

impl Told {
    /// The news of an ACK that no scoreboard has read.
    pub const NOTHING: Told = Told { sacked: 0, delivered: 0, dsack: None, rate: None, rtt: None, fresh: false };
}

impl Tracking {
    /// Returns the tracking that the configuration, the peer and the controller make necessary, if any.
    pub fn new(config: &Config, snd: &Sender, sack: bool) -> Option<Box<Tracking>> {
        let selective = sack && snd.recovery.evidence() == Evidence::Scoreboard;
        (selective || snd.cc.needs_rate() || snd.cc.needs_rtt() || config.hystart).then(|| {
            Box::new(Tracking {
                board: Scoreboard::default(),
                rate: Rate::default(),
                selective,
                min_rtt: None,
                rescue: None,
                forced: false,
                prr: None,
                reducing: None,
                rack: (selective && config.rack).then(Rack::default),
                probe: (selective && config.tlp).then(Probe::default),
                reorder: None,
                timeout_at: SimTime::NEVER,
            })
        })
    }

    /// The recovery that lasted is over, or was none.
    pub fn end_recovery(&mut self) {
        (self.prr, self.reducing, self.rescue, self.forced, self.reorder) = (None, None, None, false, None);
    }

    /// Returns (3) a segment that may be lost, below the highest SACKed; or (4) once, the last that is missing, since
    /// nobody tells of the loss of the tail. The second value is true for (4): the rescue. @RFC6675 sec. 4, NextSeg
    fn doubtful(&self, una: Seq) -> Option<(SeqRange, bool)> {
        let below = self.board.next_doubtful().map(|range| (range, false));
        let may_rescue = self.rescue.is_none_or(|rescue| rescue.lt(una));
        below.or_else(|| self.board.last_missing().filter(|_| may_rescue).map(|range| (range, true)))
    }

    /// A segment leaves: `advances` if it is the next of the stream, `repeats` if it was sent before.
    pub fn sent(&mut self, now: SimTime, range: SeqRange, flight: u32, advances: bool, repeats: bool) {
        let stamp = self.rate.send(now, flight == 0);
        if advances {
            self.board.push(range, now, stamp, repeats);
        } else {
            self.board.sent_again(range, now, stamp);
        }
        if let Some(prr) = &mut self.prr {
            prr.sent(range.len());
        }
    }
}

impl Tracking {
    /// `range`, the last segment that left, was not sent after all; `advanced` if it was the next of the stream.
    pub fn take_back(&mut self, range: SeqRange, advanced: bool) {
        if advanced {
            self.board.pop(range);
        } else {
            self.board.take_back(range);
            self.forced |= self.board.next_lost().is_some_and(|lost| lost.start == range.start); // the first repair, perhaps
        }
        if let Some(prr) = &mut self.prr {
            prr.unsent(range.len());
        }
    }
}

/// The first block is no news but a duplicate: below the ACK, or within the second. @RFC2883 sec. 4
fn duplicate(first: SeqRange, second: Option<SeqRange>, ack: Seq) -> bool {
    first.end.le(ack) || second.is_some_and(|second| second.start.le(first.start) && first.end.le(second.end))
}

impl Connection {
    /// Reads an ACK of everything before `ack` into the scoreboard, if there is one. Without a header it is a scheme's local ACK.
    #[inline(never)]
    pub(crate) fn track(&mut self, now: SimTime, ack: Seq, tcp: Option<&Tcp>) -> Told {
        let options = &self.options;
        let Some(tracking) = self.snd.tracking.as_deref_mut() else { return Told::NOTHING };
        let Tracking { board, rate, min_rtt, rack, .. } = tracking;
        if let Some(rack) = rack {
            rack.begin();
        }
        let echoed = tcp.filter(|_| options.timestamps).and_then(timestamps).map(|(_, tsecr)| tsecr);
        let (mut sacked, mut delivered, mut dsack) = (0, 0, None);
        let (mut once, mut fresh, guard) = (None, false, self.snd.guard);
        let mut newest = None;
        let mut deliver = |segment: &Segment| {
            let len = segment.range.len();
            delivered += len;
            rate.deliver(len, segment.sent, segment.stamp, &mut newest);
            if !segment.repeated {
                let rtt = now.since(segment.sent);
                *min_rtt = Some(min_rtt.map_or(rtt, |least| least.min(rtt)));
                once = Some(once.map_or(rtt, |least: Dur| least.min(rtt)));
                fresh |= guard.is_some_and(|guard| segment.range.end.le(guard));
            }
            if let Some(rack) = rack {
                let original =
                    echoed.is_some_and(|tsecr| (tsecr.wrapping_sub(options.tsval(segment.sent)) as i32) < 0);
                rack.deliver(now, segment, original, min_rtt.unwrap_or(Dur::ZERO));
            }
        };
        if let Some(tcp) = tcp.filter(|_| options.sack) {
            let mut blocks = tcp.options.sack_blocks().peekable();
            if let Some(first) = blocks.next() {
                if duplicate(first, blocks.peek().copied(), ack) {
                    dsack = Some(first);
                } else {
                    board.sack(first, |segment| {
                        sacked += segment.range.len();
                        deliver(segment);
                    });
                }
                for block in blocks {
                    board.sack(block, |segment| {
                        sacked += segment.range.len();
                        deliver(segment);
                    });
                }
            }
        }
        board.acknowledge(ack, deliver);
        if cfg!(debug_assertions) {
            board.check_at(ack);
        }
        let rate = newest.and_then(|(sent, stamp)| rate.sample(now, *min_rtt, sent, stamp));
        if let (Some(rack), Some(_)) = (rack, dsack) {
            rack.duplicate_seen(ack, self.snd.nxt);
        }
        self.snd.window.app_limited = tracking.rate.is_limited();
        Told { sacked, delivered, dsack, rate, rtt: once, fresh }
    }

    /// Takes segments for lost by the ACK at hand, or by time. Returns their bytes.
    pub(crate) fn find_losses(&mut self, now: SimTime, threshold: u32) -> u32 {
        let snd = &mut self.snd;
        let Some(tracking) = snd.tracking.as_deref_mut().filter(|tracking| tracking.selective) else { return 0 };
        let Some(rack) = &tracking.rack else { return tracking.board.judge(threshold, snd.mss) };
        let window = rack.window(&rack::Context {
            min_rtt: tracking.min_rtt.unwrap_or(Dur::ZERO),
            srtt: snd.rtt.srtt(),
            recovering: snd.recovering.is_some() || snd.guard.is_some(),
            enough_sacked: tracking.board.sacked_segments() >= threshold,
        });
        let mut wait = Dur::ZERO;
        let lost = tracking.board.lose_if(|segment| match rack.remaining(segment, window, now) {
            // What follows left later still, unless this one was sent again out of turn.
            None => segment.repeated.then_some(false),
            Some(Dur::ZERO) => Some(true),
            Some(remaining) => {
                wait = wait.max(remaining);
                Some(false)
            }
        });
        tracking.reorder = (wait > Dur::ZERO).then(|| now + wait);
        lost
    }

    /// An ACK that acknowledges nothing, but tells of SACKed data. @RFC6675 sec. 2, 5
    pub(crate) fn selective_duplicate(&mut self, now: SimTime, mut facts: Ack, told: &Told) {
        self.counters.borrow_mut().dup_acks_received += 1;
        self.ask(|hook, flow| hook.on_ack(&facts, flow));
        let configured = self.config.dup_ack_threshold;
        let threshold = match self.snd.recovering {
            None => self.ask(|hook, flow| hook.dup_ack_threshold(configured, flow)).unwrap_or(configured),
            Some(_) => configured,
        };
        if self.snd.dup_acks == 0 {
            self.snd.flight_before_dups = self.snd.flight();
        }
        self.snd.dup_acks += 1;
        facts.lost = Bytes(u64::from(self.find_losses(now, threshold)));
        let counted = self.snd.dup_acks >= threshold && self.snd.tracking.as_ref().is_some_and(|t| t.rack.is_none());
        self.begin_if_lost(now, 0, counted, told);
        let snd = &mut self.snd;
        snd.window.flight_size = Bytes(u64::from(snd.pipe()));
        snd.cc.on_dup_ack(&facts, &mut snd.window);
        self.reduce(false, told);
        self.arm_again(now);
    }

    /// Begins recovery if something is lost (or `counted`: enough duplicates) and none lasts. `acked` bytes were acknowledged
    /// by the ACK at hand.
    pub(crate) fn begin_if_lost(&mut self, now: SimTime, acked: u32, counted: bool, told: &Told) {
        let snd = &mut self.snd;
        let Some(tracking) = snd.tracking.as_deref_mut() else { return };
        if snd.recovering.is_some() || snd.guard.is_some() || !(counted || tracking.board.next_lost().is_some()) {
            return;
        }
        // What is lost instead of the first, if a hook knows that a copy of that one is under way.
        let lost = tracking.board.next_lost();
        let in_repair = self.first_in_repair().is_some();
        if in_repair && lost.is_none() {
            return; // duplicates alone
        }
        let snd = &mut self.snd;
        let Some(tracking) = snd.tracking.as_deref_mut() else { return };
        // Duplicates tell of the first. RACK has told what is lost, and of the first a copy may be under way. @RFC8985 sec. 6.2
        let by_time = tracking.rack.is_some();
        if !in_repair && !by_time {
            tracking.board.lose_first();
        }
        (tracking.forced, tracking.rescue) = (true, None);
        // RecoverFS. @RFC9937 sec. 6.1
        let flight = (snd.nxt - snd.una) + acked + told.sacked - tracking.board.sacked().min(snd.nxt - snd.una);
        self.counters.borrow_mut().fast_retransmits += 1;
        self.counters.borrow_mut().loss_found(now);
        let cut = match lost.filter(|_| in_repair || by_time) {
            Some(other) => self.judge_loss_of(other, Congestion::FastRetransmit, 0),
            None => self.judge_loss(Congestion::FastRetransmit),
        };
        let snd = &mut self.snd;
        snd.recovering = Some(Recovering { recover: snd.max, cut, partial: false, repaired: false });
        snd.window.in_recovery = true;
        if let Some(tracking) = snd.tracking.as_deref_mut() {
            let reduces = cut && self.config.prr && !snd.cc.owns_window();
            // A reduction that lasts goes on: the loss has not cut the window.
            if tracking.reducing.take().is_none() {
                tracking.prr = reduces.then(|| Prr::begin(u64::from(flight)));
            }
        }
        self.arm_rto(now);
    }

    /// Sets the window by an ACK in recovery. `safe` if it acknowledges something and tells of no further loss: SafeACK.
    /// @RFC9937 sec. 6.2
    pub(crate) fn reduce(&mut self, safe: bool, told: &Told) {
        let snd = &mut self.snd;
        let (pipe, mss) = (u64::from(snd.pipe()), snd.window.mss.0);
        if snd.tracking.as_ref().is_none_or(|tracking| tracking.prr.is_none()) {
            return;
        }
        let safe = safe && !self.calls_for_rescue(); // which may be a further loss
        let snd = &mut self.snd;
        let Some(prr) = snd.tracking.as_deref_mut().and_then(|tracking| tracking.prr.as_mut()) else { return };
        let progress =
            Progress { delivered: u64::from(told.delivered), pipe, safe, ssthresh: snd.window.ssthresh.0, mss };
        if let Some(window) = prr.window(progress) {
            snd.window.cwnd = Bytes(window.max(mss));
        }
    }

    /// The controller has cut the window from `prior` for another reason than a loss: with proportional rate reduction cwnd comes down to
    /// ssthresh in a round trip, by the ACK at hand and those that follow. Not where the cut goes below ssthresh: to one segment.
    /// @RFC9937 sec. 4, 6.1
    pub(crate) fn reduce_in_a_round(&mut self, prior: Bytes, told: &Told) {
        let snd = &mut self.snd;
        let flight = snd.nxt - snd.una;
        let Some(tracking) = snd.tracking.as_deref_mut().filter(|tracking| tracking.selective) else { return };
        if !self.config.prr || snd.cc.owns_window() || snd.window.cwnd < snd.window.ssthresh || flight == 0 {
            return;
        }
        let flight = flight - tracking.board.sacked().min(flight) + told.delivered; // RecoverFS
        (tracking.prr, tracking.reducing) = (Some(Prr::begin(u64::from(flight))), Some(snd.max));
        let prior = prior.max(snd.window.mss);
        snd.window.cwnd = prior;
        self.reduce(false, told);
        let window = &mut self.snd.window;
        window.cwnd = window.cwnd.min(prior); // copies in flight may lift the pipe beyond it
    }

    /// An ACK of everything before `ack` may end a reduction without a loss.
    fn end_reduction(&mut self, ack: Seq) {
        let snd = &mut self.snd;
        let Some(tracking) = snd.tracking.as_deref_mut() else { return };
        if tracking.reducing.is_some_and(|end| end.le(ack)) {
            (tracking.prr, tracking.reducing) = (None, None);
            snd.window.cwnd = snd.window.ssthresh; // @RFC9937 sec. 6.4
        }
    }

    /// True if nothing is left to send but the rescue. @RFC6675 sec. 4, NextSeg (4)
    fn calls_for_rescue(&mut self) -> bool {
        let (una, new) = (self.snd.una, self.snd.next_beyond());
        let Some(tracking) = self.snd.tracking.as_deref_mut().filter(|tracking| tracking.rack.is_none()) else {
            return false;
        };
        new.is_none()
            && tracking.board.next_lost().is_none()
            && tracking.doubtful(una).is_some_and(|(_, is_rescue)| is_rescue)
    }

    /// All that had been sent at the last timeout is acknowledged.
    pub(crate) fn end_timeout(&mut self) {
        if let Some(rack) = self.snd.tracking.as_deref_mut().and_then(|tracking| tracking.rack.as_mut()) {
            rack.recovered();
        }
    }

    /// Recovery is over.
    pub(crate) fn end_tracking(&mut self, cut: bool) {
        let snd = &mut self.snd;
        let Some(tracking) = snd.tracking.as_deref_mut() else { return };
        if tracking.prr.is_some() && cut {
            snd.window.cwnd = snd.window.ssthresh; // @RFC9937 sec. 6.4
        }
        tracking.end_recovery();
        if let Some(rack) = &mut tracking.rack {
            rack.recovered();
        }
    }

    /// Finishes an ACK of new data for a sender that keeps more than the plain state: `una` was the first number not
    /// acknowledged.
    #[inline(never)]
    pub(crate) fn finish_ack(&mut self, facts: &Ack, una: Seq, tcp: Option<&Tcp>, told: &Told) {
        let (now, ack, acked) = (facts.now, facts.number, facts.acked.0);
        self.note_limit();
        if self.snd.is_selective() {
            self.judge_probe(ack, acked, false, told);
            self.end_reduction(ack);
            self.begin_if_lost(now, ack - una, false, told);
            self.reduce(facts.lost == Bytes::ZERO, told);
            self.arm_again(now);
        }
        if self.snd.undo.is_some() {
            self.undo_if_spurious(now, tcp, acked, false, told);
        }
    }

    /// Finishes an ACK that acknowledges nothing, likewise; `duplicate` in the sense of @RFC5681 sec. 2.
    #[inline(never)]
    pub(crate) fn finish_duplicate(&mut self, now: SimTime, tcp: &Tcp, duplicate: bool, told: &Told) {
        let sacked = told.sacked;
        if self.snd.is_selective() {
            self.judge_probe(tcp.ack, 0, duplicate, told);
            if sacked > 0 {
                let facts = self.duplicate_facts(now, tcp, told);
                self.selective_duplicate(now, facts, told);
            } else {
                self.counters.borrow_mut().dup_acks_received += u64::from(duplicate);
            }
        } else if duplicate {
            self.duplicate_ack(now, tcp, told);
        }
        self.note_limit();
        if self.snd.undo.is_some() {
            self.undo_if_spurious(now, Some(tcp), 0, duplicate || sacked > 0, told);
        }
    }

    /// Handles a timeout. Returns whether the sender with a scoreboard stays where it is, and sends again only segments
    /// that are not SACKed. With `doubt` that is the first segment, until it is known whether the timeout was a mistake.
    pub(crate) fn timeout_tracked(&mut self, now: SimTime, doubt: bool) -> bool {
        let snd = &mut self.snd;
        let closed = snd.wnd == 0; // taken back: only probes may go
        let srtt = snd.rtt.srtt();
        let Some(tracking) = snd.tracking.as_deref_mut() else { return false };
        tracking.end_recovery();
        if let Some(probe) = &mut tracking.probe {
            (probe.end, probe.due) = (None, false);
        }
        if !tracking.selective || closed {
            return false;
        }
        tracking.forced = true; // the first goes whatever else is in flight
        if doubt {
            tracking.board.lose_first();
            return true;
        }
        let reneged = tracking.board.reneged();
        if reneged {
            tracking.board.renege();
        }
        match &tracking.rack {
            Some(rack) if !reneged => {
                let min_rtt = tracking.min_rtt.unwrap_or(Dur::ZERO);
                let window = rack.window(&rack::Context { min_rtt, srtt, recovering: true, enough_sacked: false });
                tracking.board.lose_first();
                tracking.board.lose_if(|segment| Some(rack.timed_out(segment, window, now)));
            }
            _ => tracking.board.lose_all(),
        }
        true
    }

    /// Returns the segment to send next, by the scoreboard. @RFC6675 sec. 4, NextSeg
    pub(crate) fn choose_selective(&mut self, now: SimTime) -> Option<Chosen> {
        if let Some(probe) = self.probe_segment() {
            return Some(probe);
        }
        if self.timers.is_set(Timer::Pace) {
            return None;
        }
        // (1) what is lost, in order.
        if let Some(range) = self.snd.tracking.as_deref_mut()?.board.next_lost() {
            return self.choose_lost(range);
        }
        // (2) new data.
        if let Some(new) = self.choose_new(now) {
            return Some(new);
        }
        let room = self.snd.own_window().saturating_sub(u64::from(self.snd.pipe()));
        let mss = u64::from(self.snd.mss);
        let tracking = self.snd.tracking.as_deref_mut()?;
        let recover = self.snd.recovering.map(|r| r.recover);
        if let (Some(recover), None, true) = (recover, &tracking.rack, mss <= room)
            && let Some((range, is_rescue)) = tracking.doubtful(self.snd.una)
        {
            if is_rescue {
                tracking.rescue = Some(recover);
            }
            return Some(self.snd.whole(range));
        }
        None
    }

    /// The lost segment with these numbers, if the window has room for it, or if it is owed whatever the window.
    fn choose_lost(&mut self, range: SeqRange) -> Option<Chosen> {
        let room = self.snd.own_window().saturating_sub(u64::from(self.snd.pipe()));
        let repair = self.snd.whole(range);
        let tracking = self.snd.tracking.as_deref_mut()?;
        let may = u64::from(repair.len) <= room || tracking.forced;
        tracking.forced &= !may;
        may.then_some(repair)
    }

    /// The segment to send where new data may not leave.
    pub(crate) fn repair_of_loss(&mut self) -> Option<Chosen> {
        if let Some(repair) = self.snd.next_repair() {
            return Some(repair);
        }
        if !self.snd.is_selective() || self.timers.is_set(Timer::Pace) {
            return None;
        }
        let range = self.snd.tracking.as_deref_mut()?.board.next_lost()?;
        self.choose_lost(range)
    }

    /// Notes that nothing is left to send though more might have been: samples of the flight tell the application's rate.
    /// @DRAFT-DRE sec. 3.4
    pub(crate) fn note_idle_application(&mut self) {
        let snd = &mut self.snd;
        let (pipe, unsent) = (u64::from(snd.pipe()), snd.unsent());
        let window = snd.window.cwnd.0;
        if let Some(tracking) = snd.tracking.as_deref_mut()
            && unsent < u64::from(snd.mss)
            && pipe < window
            && tracking.board.next_lost().is_none()
        {
            tracking.rate.limited_by_application(pipe);
            snd.window.app_limited = true;
        }
    }

    /// Notes that the controller keeps less in flight than the path holds, to measure it: as if the application were the
    /// limit.
    fn note_limit(&mut self) {
        let snd = &mut self.snd;
        if core::mem::take(&mut snd.window.mark_app_limited) {
            let pipe = u64::from(snd.pipe());
            if let Some(tracking) = snd.tracking.as_deref_mut() {
                tracking.rate.limited_by_application(pipe);
            }
        }
    }

    /// Sets the timer for the reordering window, or for a probe of the tail, where the retransmission timeout would come later.
    /// @RFC8985 sec. 6.2 step 5, 7.2
    pub(crate) fn arm_again(&mut self, now: SimTime) {
        let snd = &mut self.snd;
        let Some(tracking) = snd.tracking.as_deref_mut() else { return };
        if snd.frozen || snd.nxt == snd.una {
            return;
        }
        let flight = snd.nxt - snd.una;
        let (at, pending) = if let Some(at) = tracking.reorder {
            (at, Pending::Reorder)
        } else if let Some(probe) = &tracking.probe
            && probe.end.is_none()
            && tracking.board.sacked() == 0
            && snd.recovering.is_none()
            && snd.guard.is_none()
        {
            (now + rack::probe_timeout(snd.rtt.srtt(), flight <= snd.mss), Pending::Probe)
        } else {
            if snd.pending != Pending::Timeout {
                self.arm_rto(now);
            }
            return;
        };
        if snd.pending == Pending::Timeout && self.timers.is_set(Timer::Retransmit) {
            tracking.timeout_at = self.timers.at(Timer::Retransmit);
        }
        let timeout = tracking.timeout_at;
        if at < timeout || pending == Pending::Probe {
            self.timers.set(Timer::Retransmit, at.min(timeout).max(now)); // TLP_calc_PTO: not later than the timeout
            snd.pending = pending;
        } else {
            self.timers.set(Timer::Retransmit, timeout.max(now));
            snd.pending = Pending::Timeout;
        }
    }

    /// The reordering window has passed. @RFC8985 sec. 6.2 step 5
    pub(crate) fn reorder_timeout(&mut self, now: SimTime) {
        self.arm_rto(now);
        self.find_losses(now, self.config.dup_ack_threshold);
        let lasted = self.snd.recovering.is_some();
        self.begin_if_lost(now, 0, false, &Told::NOTHING);
        if !lasted {
            // The recovery that time has begun reduces too. No ACK has delivered anything; that its first segment leaves, and no more,
            // counts for one that was, as in Linux (tcp_rack_reo_timeout). @RFC9937 sec. 6.2
            let one = Told { delivered: self.snd.mss, ..Told::NOTHING };
            self.reduce(false, &one);
        }
        self.arm_again(now);
    }

    /// The tail has been silent for the probe's time. @RFC8985 sec. 7.3
    pub(crate) fn probe_timeout(&mut self, now: SimTime) {
        if let Some(probe) = self.snd.tracking.as_deref_mut().and_then(|tracking| tracking.probe.as_mut()) {
            probe.due = true;
            self.counters.borrow_mut().tail_loss_probes += 1;
        }
        self.arm_rto(now);
    }

    /// The probe that is due: a new segment whatever the congestion window, or the last once more. @RFC8985 sec. 7.3
    fn probe_segment(&mut self) -> Option<Chosen> {
        let due = &mut self.snd.tracking.as_deref_mut()?.probe.as_mut()?.due;
        if !core::mem::take(due) {
            return None;
        }
        let new = self.snd.next_beyond();
        let last = self.snd.tracking.as_deref()?.board.segments().last().map(|segment| segment.range);
        let chosen = new.or_else(|| last.map(|range| self.snd.whole(range)))?;
        let end = self.snd.max.max(chosen.seq + chosen.len + u32::from(chosen.fin));
        let probe = self.snd.tracking.as_deref_mut()?.probe.as_mut()?;
        let range = SeqRange::new(chosen.seq, chosen.len + u32::from(chosen.fin));
        (probe.end, probe.range, probe.repeats) = (Some(end), range, new.is_none());
        Some(chosen)
    }

    /// Judges by an ACK the probe that is out. A loss that only the probe repaired cuts the window. @RFC8985 sec. 7.4
    pub(crate) fn judge_probe(&mut self, ack: Seq, acked: u64, duplicate: bool, told: &Told) {
        let Some(probe) = self.snd.tracking.as_deref_mut().and_then(|tracking| tracking.probe.as_mut()) else {
            return;
        };
        let lost = probe.range;
        let dsack = told.dsack.is_some_and(|range| probe.end == Some(range.end));
        if probe.judge(ack, duplicate && told.sacked == 0 && told.dsack.is_none(), dsack) == ProbeResult::Repaired
            && self.snd.recovering.is_none()
            && self.snd.guard.is_none()
            && self.judge_loss_of(lost, Congestion::FastRetransmit, acked)
        {
            self.snd.cc.on_recovered(&mut self.snd.window);
        }
    }
}
