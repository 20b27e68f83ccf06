//! An ACK's way through the sender: the peer's window, RTT samples, new ACKs and duplicates. @RFC5681 sec. 2, 3.2
//!
//! The scoreboard's part is in `selective`; the response to a loss in `loss`.

use super::Connection;
use super::selective::Told;
use crate::options::timestamps;
use crate::timers::Timer;
use crate::{Ack, RttSample};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Seq, Tcp};

impl Connection {
    /// The ACK field of a segment of `seg_len` numbers, in ESTABLISHED and later. Returns whether the segment is worth
    /// more processing. @RFC9293 sec. 3.10.7.4, "fifth, check the ACK field"
    pub(crate) fn ack_arrives(&mut self, now: SimTime, tcp: &Tcp, seg_len: u32) -> bool {
        // What was never sent, or lies more than a window before what the peer has said (SND.UNA, but for local ACKs): forged.
        // @RFC5961 sec. 5.2
        if self.snd.max.lt(tcp.ack) || tcp.ack.lt(self.snd.greatest_ack - self.snd.max_wnd) {
            self.challenge(now);
            return false;
        }
        self.record_timestamp(now, tcp);
        self.counters.borrow_mut().pure_acks_received += u64::from(seg_len == 0);
        self.snd.probes_unanswered = 0;
        let marked = self.options.ecn && tcp.flags.has(Flags::ECE);
        let prior_flight = if marked { self.snd.pipe_to_cut() } else { 0 };
        let prior_cwnd = self.snd.window.cwnd;
        let tracked;
        let mut told = &Told::NOTHING;
        if self.snd.tracking.is_some() {
            tracked = self.track(now, tcp.ack, Some(tcp));
            told = &tracked;
        }
        if self.snd.una.lt(tcp.ack) {
            self.new_ack(now, tcp.ack, Some(tcp), told);
        } else {
            let duplicate = self.is_duplicate(tcp, seg_len);
            if self.snd.keeps_more() {
                self.finish_duplicate(now, tcp, duplicate, told);
            } else if duplicate {
                self.duplicate_ack(now, tcp, told);
            }
        }
        self.update_window(tcp);
        if self.snd.greatest_ack.lt(tcp.ack) {
            self.snd.greatest_ack = tcp.ack;
        }
        self.snd.last_window = tcp.window;
        if marked {
            self.mark_echoed(now, prior_flight, prior_cwnd, told);
        }
        true
    }

    /// The five conditions of @RFC5681 sec. 2.
    fn is_duplicate(&self, tcp: &Tcp, seg_len: u32) -> bool {
        self.snd.nxt != self.snd.una // (a) something is outstanding
            && seg_len == 0 // (b) no data, (c) no SYN, no FIN
            && tcp.ack == self.snd.una && tcp.ack == self.snd.greatest_ack // (d)
            && tcp.window == self.snd.last_window // (e)
    }

    /// SND.WND, unless an older segment says it. @RFC9293 sec. 3.10.7.4
    fn update_window(&mut self, tcp: &Tcp) {
        let snd = &mut self.snd;
        let newer = snd.wl1.lt(tcp.seq) || (snd.wl1 == tcp.seq && snd.wl2.le(tcp.ack));
        if snd.una.le(tcp.ack) && newer {
            snd.wnd = u32::from(tcp.window) << self.options.snd_shift;
            snd.max_wnd = snd.max_wnd.max(snd.wnd);
            (snd.wl1, snd.wl2) = (tcp.seq, tcp.ack);
        }
    }

    /// The RTT an ACK of `ack` tells: by timestamp if there are any (@RFC7323 sec. 4.1), else if it covers the timed
    /// segment.
    fn measure(&mut self, now: SimTime, ack: Seq, tcp: Option<&Tcp>) -> Option<Dur> {
        let timed = self.snd.timed.filter(|(end, _)| end.le(ack));
        if timed.is_some() {
            self.snd.timed = None;
        }
        let tcp = tcp?; // a local ACK has come no way
        if self.options.timestamps {
            timestamps(tcp).and_then(|(_, tsecr)| self.options.rtt(now, tsecr))
        } else {
            timed.map(|(_, sent)| now - sent)
        }
    }

    /// Feeds the estimator, and returns what the controller gets. `told`: the RTT that the scoreboard was told by this ACK.
    pub(crate) fn sample_rtt(&mut self, now: SimTime, ack: Seq, tcp: Option<&Tcp>, told: Option<Dur>) -> Option<Dur> {
        let measured = self.measure(now, ack, tcp);
        if let Some(measured) = measured {
            self.counters.borrow_mut().rtt(measured);
        }
        let (timer, controller) = self.judge_rtt(now, ack, measured, told);
        if let Some(timer) = timer {
            // With timestamps every ACK brings one: @RFC7323 app. G, ExpectedSamples.
            let per_rtt =
                if self.options.timestamps { self.snd.flight().div_ceil(self.snd.mss * 2).max(1) } else { 1 };
            self.snd.rtt.sample(timer, u64::from(per_rtt));
        }
        controller
    }

    /// Returns the RTTs that timer and controller get, from the RTT `measured` and the one that this ACK told the
    /// scoreboard. A hook may change them.
    fn judge_rtt(
        &mut self,
        now: SimTime,
        ack: Seq,
        measured: Option<Dur>,
        told: Option<Dur>,
    ) -> (Option<Dur>, Option<Dur>) {
        let controller = told.or(measured);
        if controller.is_none() || self.hook.is_none() {
            return (measured, controller);
        }
        let sample = RttSample { now, ack, timer: measured, controller };
        let taken = self.ask(|hook, facts| hook.rtt_sample(sample, facts)).unwrap_or(sample);
        (taken.timer, taken.controller)
    }

    /// `ack` lies beyond SND.UNA. Without a header it is a scheme's local ACK.
    pub(crate) fn new_ack(&mut self, now: SimTime, ack: Seq, tcp: Option<&Tcp>, told: &Told) {
        let rtt = self.sample_rtt(now, ack, tcp, told.rtt);
        let prior_flight = u64::from(self.snd.flight());
        // The number of a FIN is no data.
        let acked = u64::from(ack - self.snd.una).min(self.snd.written - self.snd.una_offset);
        let counted = if self.config.count_delivered && self.snd.is_selective() {
            u64::from(told.delivered).saturating_sub(u64::from(ack - self.snd.una) - acked)
        } else {
            acked
        };
        let mut facts = Ack {
            now,
            number: ack,
            acked: Bytes(acked),
            counted: Bytes(counted),
            prior_flight: Bytes(prior_flight),
            rtt,
            duplicate: false,
            local: tcp.is_none(),
            flags: tcp.map_or(Flags::ACK, |tcp| tcp.flags),
            sacked: Bytes(u64::from(told.sacked)),
            lost: Bytes::ZERO,
            rate: told.rate,
            timestamps: if self.options.timestamps { tcp.and_then(timestamps) } else { None },
        };
        self.ask(|hook, flow| hook.on_ack(&facts, flow));

        let snd = &mut self.snd;
        let una = core::mem::replace(&mut snd.una, ack);
        snd.una_offset += acked;
        snd.nxt = snd.nxt.max(ack); // what is acknowledged is not sent again
        snd.retries = 0;
        snd.waits_since = now;
        snd.reduction.acknowledged(ack);
        if snd.guard.is_some_and(|recover| recover.lt(ack) || recover == ack && snd.is_selective()) {
            snd.guard = None;
            if core::mem::take(&mut snd.window.timeout_lasts) {
                self.end_timeout();
            }
        }
        let snd = &mut self.snd;
        if !snd.resend.is_empty() {
            snd.resend.forget_before(ack);
        }
        if snd.blocked && snd.written - snd.una_offset <= u64::from(snd.buffer) {
            snd.blocked = false;
            self.events.send_space();
        }

        let selective = self.snd.is_selective();
        if selective {
            facts.lost = Bytes(u64::from(self.find_losses(now, self.config.dup_ack_threshold)));
        }
        let snd = &mut self.snd;
        let marked = self.options.ecn && facts.flags.has(Flags::ECE); // nothing grows. @RFC3168 sec. 6.1.2
        let reducing = selective && snd.is_reducing();
        let pipe = if selective { snd.pipe() } else { snd.nxt - snd.una };
        let window = &mut snd.window;
        window.limited = !marked && !reducing && (!self.config.validate_cwnd || snd.usage.limits(window));
        window.after_timeout &= window.in_slow_start();
        window.flight_size = Bytes(u64::from(pipe));
        if let Some(hystart) = window.hystart.as_mut()
            && window.cwnd < window.ssthresh
            && hystart.on_ack(ack, snd.nxt, rtt)
        {
            window.ssthresh = window.cwnd; // @RFC9406 sec. 4.2
        }
        snd.cc.on_ack(&facts, window);

        let restart_timer = match snd.recovering {
            None => {
                (snd.dup_acks, snd.inflation) = (0, 0);
                true
            }
            Some(r) if snd.recovery.ends(ack, r.recover) => {
                self.leave_recovery(r);
                true
            }
            Some(r) => {
                self.partial_ack(r, acked);
                !r.partial || selective // impatient: only the first. @RFC6582 sec. 3.2 step 3
            }
        };
        if self.snd.nxt == self.snd.una {
            self.timers.stop(Timer::Retransmit); // @RFC6298 (5.2)
        } else if restart_timer {
            self.arm_rto(now); // @RFC6298 (5.3)
        }
        if self.snd.keeps_more() {
            self.finish_ack(&facts, una, tcp, told);
        }
    }

    /// Returns the facts of a duplicate ACK.
    pub(crate) fn duplicate_facts(&mut self, now: SimTime, tcp: &Tcp, told: &Told) -> Ack {
        let (_, rtt) = self.judge_rtt(now, tcp.ack, None, told.rtt);
        Ack {
            now,
            number: tcp.ack,
            acked: Bytes::ZERO,
            counted: Bytes::ZERO,
            prior_flight: Bytes(u64::from(self.snd.flight())),
            rtt,
            duplicate: true,
            local: false,
            flags: tcp.flags,
            sacked: Bytes(u64::from(told.sacked)),
            lost: Bytes::ZERO,
            rate: told.rate,
            timestamps: if self.options.timestamps { timestamps(tcp) } else { None },
        }
    }

    pub(crate) fn duplicate_ack(&mut self, now: SimTime, tcp: &Tcp, told: &Told) {
        self.counters.borrow_mut().dup_acks_received += 1;
        let facts = self.duplicate_facts(now, tcp, told);
        self.ask(|hook, flow| hook.on_ack(&facts, flow));

        let configured = self.config.dup_ack_threshold;
        let threshold = match self.snd.recovering {
            None => self.ask(|hook, flow| hook.dup_ack_threshold(configured, flow)).unwrap_or(configured),
            Some(_) => configured,
        };

        let snd = &mut self.snd;
        let mss = u64::from(snd.mss);
        snd.dup_acks += 1;
        if snd.recovering.is_some() {
            snd.inflation += mss; // one has left the network. @RFC5681 sec. 3.2 step 4
        } else if snd.dup_acks >= threshold && snd.guard.is_none() {
            self.fast_retransmit(now);
        } else if self.config.limited_transmit && snd.dup_acks <= 2 && snd.guard.is_none() {
            if snd.dup_acks == 1 {
                snd.flight_before_dups = snd.flight();
            }
            snd.inflation = u64::from(snd.dup_acks) * mss; // @RFC3042 sec. 2
        }
        self.snd.cc.on_dup_ack(&facts, &mut self.snd.window);
    }
}
