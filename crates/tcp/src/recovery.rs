//! Acknowledgments and losses: new ACKs, duplicates, fast retransmit and recovery, timeout.
//! @RFC5681 sec. 3.2, @RFC6582 sec. 3.2, @RFC6298 sec. 5

use crate::cc::{Congestion, Recovery};
use crate::options::timestamps;
use crate::sender::Recovering;
use crate::timers::Timer;
use crate::{Ack, Connection, Loss, State, Why};
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Seq, SeqRange, Tcp};

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
        self.counters.pure_acks_received += u64::from(seg_len == 0);
        self.snd.probes_unanswered = 0;
        let marked = self.options.ecn && tcp.flags.has(Flags::ECE);
        let prior_flight = if marked { self.snd.flight_to_cut() } else { 0 };
        if self.snd.una.lt(tcp.ack) {
            self.new_ack(now, tcp.ack, Some(tcp));
        } else if self.is_duplicate(tcp, seg_len) {
            self.duplicate_ack(now, tcp);
        }
        self.update_window(tcp);
        if self.snd.greatest_ack.lt(tcp.ack) {
            self.snd.greatest_ack = tcp.ack;
        }
        self.snd.last_window = tcp.window;
        if marked {
            self.mark_echoed(now, prior_flight);
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

    /// Feeds the estimator.
    pub(crate) fn sample_rtt(&mut self, now: SimTime, ack: Seq, tcp: Option<&Tcp>) -> Option<Dur> {
        let sample = self.measure(now, ack, tcp)?;
        self.counters.rtt(sample);
        let taken = self.ask(|hook, facts| hook.rtt_sample(sample, facts)).unwrap_or(sample);
        // With timestamps every ACK brings one: @RFC7323 app. G, ExpectedSamples.
        let per_rtt = if self.options.timestamps { self.snd.flight().div_ceil(self.snd.mss * 2).max(1) } else { 1 };
        self.snd.rtt.sample(taken, u64::from(per_rtt));
        Some(sample)
    }

    /// `ack` lies beyond SND.UNA. Without a header it is a scheme's local ACK.
    pub(crate) fn new_ack(&mut self, now: SimTime, ack: Seq, tcp: Option<&Tcp>) {
        let rtt = self.sample_rtt(now, ack, tcp);
        let prior_flight = u64::from(self.snd.flight());
        // The number of a FIN is no data.
        let acked = u64::from(ack - self.snd.una).min(self.snd.written - self.snd.una_offset);
        let facts = Ack {
            now,
            number: ack,
            acked: Bytes(acked),
            prior_flight: Bytes(prior_flight),
            rtt,
            duplicate: false,
            local: tcp.is_none(),
            flags: tcp.map_or(Flags::ACK, |tcp| tcp.flags),
        };
        self.ask(|hook, flow| hook.on_ack(&facts, flow));

        let snd = &mut self.snd;
        snd.una = ack;
        snd.una_offset += acked;
        snd.nxt = snd.nxt.max(ack); // what is acknowledged is not sent again
        snd.retries = 0;
        snd.waits_since = now;
        snd.reduction.acknowledged(ack);
        if snd.guard.is_some_and(|recover| recover.lt(ack)) {
            snd.guard = None;
        }
        if !snd.resend.is_empty() {
            snd.resend.forget_before(ack);
        }
        if snd.blocked && snd.written - snd.una_offset <= u64::from(snd.buffer) {
            snd.blocked = false;
            self.events.send_space();
        }

        let marked = self.options.ecn && facts.flags.has(Flags::ECE); // nothing grows. @RFC3168 sec. 6.1.2
        let window = &mut snd.window;
        window.limited = !marked && (!self.config.validate_cwnd || snd.usage.limits(window));
        window.after_timeout &= window.in_slow_start();
        window.flight_size = Bytes(u64::from(snd.nxt - snd.una));
        snd.cc.on_ack(&facts, window);

        let restart_timer = match snd.recovering {
            None => {
                (snd.dup_acks, snd.inflation) = (0, 0);
                true
            }
            Some(r) if snd.cc.recovery() != Recovery::NewReno || r.recover.le(ack) => {
                self.leave_recovery(r);
                true
            }
            Some(r) => {
                self.partial_ack(r, acked);
                !r.partial // impatient: only the first. @RFC6582 sec. 3.2 step 3
            }
        };
        if self.snd.nxt == self.snd.una {
            self.timers.stop(Timer::Retransmit); // @RFC6298 (5.2)
        } else if restart_timer {
            self.arm_rto(now); // @RFC6298 (5.3)
        }
    }

    fn duplicate_ack(&mut self, now: SimTime, tcp: &Tcp) {
        self.counters.dup_acks_received += 1;
        let facts = Ack {
            now,
            number: tcp.ack,
            acked: Bytes::ZERO,
            prior_flight: Bytes(u64::from(self.snd.flight())),
            rtt: None,
            duplicate: true,
            local: false,
            flags: tcp.flags,
        };
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

    /// The first segment not acknowledged.
    fn first_segment(&self) -> SeqRange {
        SeqRange { start: self.snd.una, end: (self.snd.una + self.snd.mss).min(self.snd.max) }
    }

    /// Whether the loss of the first segment is one of congestion; if so the controller cuts the window, unless an echoed
    /// mark has cut it since that segment left. A timeout is answered in any case.
    fn judge_loss(&mut self, why: Congestion) -> bool {
        let lost = self.first_segment();
        let cut = self.ask(|hook, facts| hook.loss(lost, facts)) != Some(Loss::Corruption);
        let snd = &mut self.snd;
        if cut && !(why == Congestion::FastRetransmit && snd.reduction.answered(lost.start)) {
            snd.window.flight_size = Bytes(snd.flight_to_cut());
            snd.cc.on_congestion(why, &mut snd.window);
            debug_assert!(snd.window.cwnd >= snd.window.mss, "cwnd {} < one segment", snd.window.cwnd);
            snd.reduction.made(false);
        }
        cut
    }

    /// Enough duplicates. @RFC5681 sec. 3.2 steps 2 and 3
    fn fast_retransmit(&mut self, now: SimTime) {
        self.counters.fast_retransmits += 1;
        self.counters.loss_found(now);
        let cut = self.judge_loss(Congestion::FastRetransmit);
        let first = self.first_segment();
        let snd = &mut self.snd;
        if snd.cc.recovery() == Recovery::Tahoe && cut {
            snd.guard = Some(snd.max);
            (snd.nxt, snd.inflation) = (snd.una, 0);
            snd.window.cwnd = snd.window.mss; // also where a mark has cut already
            self.timers.stop(Timer::Retransmit); // sending starts it
            return;
        }
        snd.recovering = Some(Recovering { recover: snd.max, cut, partial: false });
        snd.window.in_recovery = true;
        snd.inflation = u64::from(snd.dup_acks) * u64::from(snd.mss); // as many have left the network
        snd.resend.insert(first);
        // As BSD and Linux; @RFC6298 alone would let the timer of the lost segment run on.
        self.arm_rto(now);
    }

    /// An ACK within fast recovery that leaves a hole. @RFC6582 sec. 3.2 step 3, "Partial acknowledgments"
    fn partial_ack(&mut self, r: Recovering, acked: u64) {
        let cut = r.cut || self.judge_loss(Congestion::FastRetransmit);
        let hole = self.first_segment();
        let snd = &mut self.snd;
        snd.recovering = Some(Recovering { cut, partial: true, ..r });
        snd.resend.insert(hole);
        let mss = u64::from(snd.mss);
        snd.inflation = snd.inflation.saturating_sub(acked) + if acked >= mss { mss } else { 0 };
    }

    fn leave_recovery(&mut self, r: Recovering) {
        let snd = &mut self.snd;
        snd.recovering = None;
        snd.window.in_recovery = false;
        (snd.dup_acks, snd.inflation) = (0, 0);
        if r.cut {
            snd.cc.on_recovered(&mut snd.window);
        }
        if snd.cc.recovery() == Recovery::NewReno && snd.una.le(r.recover) {
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
        }
    }

    /// The retransmission timer expired. @RFC6298 (5.4) to (5.7), @RFC5681 sec. 3.1
    pub(crate) fn retransmission_timeout(&mut self, now: SimTime) {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        self.snd.retries += 1;
        let limit = if opening { self.config.syn_retries } else { self.config.max_retries };
        let too_long = self.config.user_timeout.is_some_and(|most| now.since(self.snd.waits_since) >= most);
        if self.snd.retries > limit || too_long {
            return self.enter_closed(Some(Why::TimedOut)); // R2. @RFC9293 sec. 3.8.3
        }
        self.counters.timeouts += 1;
        if self.snd.retries == 1 {
            self.counters.timeout_sequences += 1;
            self.counters.first_rto_sum += self.snd.rtt.rto();
        }
        self.snd.rtt.back_off();
        if opening {
            self.snd.syn_lost = true;
            self.snd.nxt = self.snd.iss;
            return;
        }
        if self.snd.retries == 1 {
            self.counters.loss_found(now);
        }
        self.ask(|hook, flow| hook.on_timeout(flow));
        let repeated = self.snd.retries > 1;
        if !self.judge_loss(Congestion::Rto { repeated }) {
            // Not congestion: repeat the one segment and leave the rest in flight.
            self.snd.resend.insert(self.first_segment());
            self.arm_rto(now);
            return;
        }
        let snd = &mut self.snd;
        snd.recovering = None;
        snd.window.in_recovery = false;
        snd.window.after_timeout = true;
        (snd.dup_acks, snd.inflation) = (0, 0);
        snd.guard = Some(snd.max); // @RFC6582 sec. 3.2 step 4
        snd.resend.clear();
        snd.nxt = snd.una; // go back N
        snd.probe_due = snd.wnd == 0; // into a window taken back: only a probe may go
    }
}
