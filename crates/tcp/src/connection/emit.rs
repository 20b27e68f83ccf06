//! The segments that go out, in order: ACKs that must be alone, data and FIN, other ACKs, resets, SYNs. @RFC9293 sec.
//! 3.1, 3.5

use super::Reset;
use super::local::Left;
use super::sender::Chosen;
use super::{Connection, Output};
use crate::State;
use crate::receiver::AckDue;
use crate::timers::Timer;
use units::{BitRate, Bytes, Dur, SimTime};
use wire::{Flags, Payload, Seq, SeqRange, Tcp, TcpOptions};

impl Connection {
    /// The next segment to send now, if any.
    #[inline(always)]
    pub(crate) fn next_segment(&mut self, now: SimTime) -> Option<Output> {
        if self.state.sends() {
            if self.rcv.due == AckDue::Alone {
                return Some(self.pure_ack(now));
            }
            if let Some(chosen) = self.choose(now) {
                return Some(self.data(now, chosen));
            }
        }
        // SYN-RECEIVED owes ACKs too, but a SYN-ACK that is due acknowledges as well. @RFC9293 sec. 3.10.7.4, "first"
        if matches!(self.rcv.due, AckDue::Now | AckDue::Alone)
            && (self.state.is_synchronized() || self.state == State::SynReceived && self.snd.nxt != self.snd.iss)
        {
            return Some(self.pure_ack(now));
        }
        if let Some(reset) = self.reset.take() {
            return Some(self.reset_segment(now, reset));
        }
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        (opening && self.snd.nxt == self.snd.iss).then(|| self.syn(now))
    }

    /// Puts a header together: in one go, since one that is filled in piece by piece is slow to copy.
    #[inline(always)]
    fn segment(&self, seq: Seq, ack: Seq, flags: Flags, window: u16, options: TcpOptions) -> Tcp {
        Tcp { src_port: self.local_port, dst_port: self.remote_port, seq, ack, flags, window, urgent: 0, options }
    }

    /// Returns the window and the options that every acknowledgment carries beside its number, for a segment with `room`
    /// bytes left. Settles what was owed.
    #[inline(always)]
    fn acknowledge(&mut self, now: SimTime, room: u32) -> (u16, TcpOptions) {
        let window = self.rcv.announce(self.options.rcv_shift.unwrap_or(0));
        let mut options = TcpOptions::default();
        if self.options.timestamps {
            options.push_timestamps(self.options.tsval(now), self.options.ts_recent);
        }
        // As many blocks as fit while there are gaps. @RFC2018 sec. 3
        if self.options.sack && self.rcv.has_blocks() {
            let (blocks, n) = self.rcv.sack_blocks();
            let fit = n.min(room.saturating_sub(4) as usize / 8);
            options.push_sack(&blocks[..fit]);
            if fit > 0 {
                self.rcv.duplicate_reported();
            }
        }
        self.timers.stop(Timer::DelayedAck);
        self.rcv.policy.on_ack_sent(now);
        (window, options)
    }

    fn pure_ack(&mut self, now: SimTime) -> Output {
        let (window, options) = self.acknowledge(now, u32::MAX);
        self.counters.borrow_mut().ack_sent(core::mem::take(&mut self.rcv.window_update));
        let flags = Flags::ACK | self.rcv.echo.flags();
        let tcp = self.segment(self.snd.max, self.rcv.nxt, flags, window, options);
        Output::Segment { tcp, payload: Payload::EMPTY, retransmission: false, ect: false }
    }

    #[inline(always)]
    fn data(&mut self, now: SimTime, chosen: Chosen) -> Output {
        let Chosen { seq, len, fin, advances } = chosen;
        let data_end = seq + len;
        let end = data_end + u32::from(fin);
        let retransmission = seq.lt(self.snd.max);

        if self.snd.una == self.snd.max {
            self.snd.waits_since = now;
        }
        // A probe may begin with what was never sent, and is no new data.
        let ect = self.options.ecn && len > 0 && advances && !retransmission;

        let mut flags = Flags::ACK | self.rcv.echo.flags();
        if ect {
            flags |= self.snd.reduction.flags_of(seq);
        }
        if fin {
            flags |= Flags::FIN;
        }
        if len > 0 && data_end == self.snd.data_end() {
            flags |= Flags::PSH; // the buffer is empty after it. @RFC9293 sec. 3.9.1.2
        }
        let (window, options) = self.acknowledge(now, self.snd.mss - len);
        self.rcv.window_update = false;

        if retransmission {
            self.counters.borrow_mut().retransmissions += 1;
            self.ask(|hook, facts| hook.resent(SeqRange { start: seq, end }, now, facts));
            self.snd.timed = None; // Karn: an ACK could be for either. @RFC6298 sec. 3
            if self.snd.recovering.is_some() || self.snd.guard.is_some() {
                let tsval = self.options.timestamps.then(|| self.options.tsval(now));
                if let Some(memory) = self.snd.undo.as_deref_mut() {
                    memory.repeated(tsval);
                }
            }
        } else if self.snd.timed.is_none() {
            self.snd.timed = Some((end, now));
        }
        let payload = Payload::stream(self.snd.offset(seq), len);
        if let Some(tracking) = self.snd.tracking.as_deref_mut() {
            let flight = self.snd.nxt - self.snd.una;
            tracking.sent(now, SeqRange { start: seq, end }, flight, advances, retransmission);
        }
        if advances {
            let snd = &mut self.snd;
            snd.nxt = end;
            snd.usage.sent(snd.una, end, snd.mss, snd.window.cwnd);
        }
        self.snd.max = self.snd.max.max(end);
        self.snd.fin_sent |= fin;
        // A probe is the persist timer's business.
        if self.snd.nxt != self.snd.una && !self.timers.is_set(Timer::Retransmit) {
            self.arm_rto(now); // @RFC6298 (5.1)
        }
        if self.snd.tracking.is_some() && !retransmission {
            self.arm_again(now);
        }
        self.snd.last_sent = now;
        if self.config.local_congestion && (advances || retransmission) {
            self.snd.left = Some(Left::new(chosen, retransmission));
        }
        self.counters.borrow_mut().sent(len);
        if len > 0 {
            let bytes = Bytes(u64::from(len));
            self.snd.cc.on_sent(now, bytes, &mut self.snd.window);
            if let Some(rate) = self.pacing_rate() {
                self.timers.set(Timer::Pace, now + bytes / rate);
            }
        }
        Output::Segment { tcp: self.segment(seq, self.rcv.nxt, flags, window, options), payload, retransmission, ect }
    }

    /// The controller's rate, or with `pacing` a window per RTT and somewhat more, so that the window stays the limit: twice
    /// in slow start, 1.2 times after it. As Linux (tcp_update_pacing_rate).
    #[inline]
    fn pacing_rate(&self) -> Option<BitRate> {
        if self.config.pacing { self.rate() } else { self.snd.cc.pacing_rate(&self.snd.window) }
    }

    /// As [`Connection::pacing_rate`] with `pacing`, whether segments leave at it or not; `None` before a round trip is known.
    #[inline]
    pub(crate) fn rate(&self) -> Option<BitRate> {
        let window = &self.snd.window;
        self.snd.cc.pacing_rate(window).or_else(|| {
            let share =
                if window.cwnd.0 < window.ssthresh.0 / 2 { window.cwnd * 2 } else { Bytes(window.cwnd.0 / 5 * 6) };
            self.snd.rtt.srtt().filter(|srtt| *srtt > Dur::ZERO).map(|srtt| share / srtt)
        })
    }

    /// The SYN, or in SYN-RECEIVED the SYN-ACK. Its window is never scaled. @RFC7323 sec. 2.2
    fn syn(&mut self, now: SimTime) -> Output {
        let (flags, ack, window) = if self.state == State::SynReceived {
            (Flags::SYN | Flags::ACK, self.rcv.nxt, self.rcv.announce(0))
        } else {
            (Flags::SYN, Seq(0), self.config.receive_buffer.0.min(0xffff) as u16)
        };
        let options = self.options.syn_options(self.config.mss, now);
        let retransmission = self.snd.max != self.snd.iss;
        if retransmission {
            self.counters.borrow_mut().retransmissions += 1;
            self.snd.timed = None;
        } else {
            self.snd.timed = self.config.handshake_rtt.then_some((self.snd.iss + 1, now));
            self.snd.waits_since = now;
        }
        self.snd.nxt = self.snd.iss + 1;
        self.snd.max = self.snd.nxt;
        self.snd.last_sent = now;
        self.arm_rto(now);
        self.counters.borrow_mut().segments_sent += 1;
        let tcp = self.segment(self.snd.iss, ack, flags | self.ecn_setup(), window, options);
        Output::Segment { tcp, payload: Payload::EMPTY, retransmission, ect: false }
    }

    fn reset_segment(&mut self, now: SimTime, Reset { seq, ack, stamped }: Reset) -> Output {
        let mut options = TcpOptions::default();
        if stamped {
            options.push_timestamps(self.options.tsval(now), self.options.ts_recent);
        }
        let flags = if ack.is_some() { Flags::RST | Flags::ACK } else { Flags::RST };
        self.counters.borrow_mut().segments_sent += 1;
        let tcp = self.segment(seq, ack.unwrap_or_default(), flags, 0, options);
        Output::Segment { tcp, payload: Payload::EMPTY, retransmission: false, ect: false }
    }
}
