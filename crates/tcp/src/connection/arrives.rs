//! SEGMENT ARRIVES. @RFC9293 sec. 3.10.7

use super::Connection;
use crate::ack::{AckTiming, Arrival};
use crate::facts::Arrived;
use crate::options::timestamps;
use crate::receiver::AckDue;
use crate::timers::Timer;
use crate::{State, Why};
use units::{Dur, SimTime};
use wire::{Content, Flags, Payload, Seq, SeqRange, Tcp};

/// SEG.LEN: SYN and FIN count one each.
fn seg_len(tcp: &Tcp, payload: &Payload) -> u32 {
    payload.len + u32::from(tcp.flags.has(Flags::SYN)) + u32::from(tcp.flags.has(Flags::FIN))
}

/// The limit on ACKs that forged segments may provoke: ten in five seconds. @RFC5961 sec. 7
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    /// The start of the five seconds.
    since: SimTime,
    count: u32,
}

impl Throttle {
    const INTERVAL: Dur = Dur::from_secs(5);
    const MOST: u32 = 10;

    /// Counts one more. Returns true if it may go.
    fn take(&mut self, now: SimTime) -> bool {
        if now.since(self.since) >= Self::INTERVAL {
            *self = Throttle { since: now, count: 0 };
        }
        self.count += 1;
        self.count <= Self::MOST
    }
}

impl Connection {
    pub(crate) fn segment_arrives(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload, ce: bool) {
        match self.state {
            State::Closed => self.refuse(tcp, payload),
            State::Listen => self.arrives_in_listen(now, tcp, payload),
            State::SynSent => self.arrives_in_syn_sent(now, tcp, payload),
            _ => self.arrives_synchronized(now, tcp, payload, ce),
        }
    }

    /// Answers a segment that belongs to no connection with a reset, unless it is one. @RFC9293 sec. 3.10.7.1
    fn refuse(&mut self, tcp: &Tcp, payload: &Payload) {
        self.counters.borrow_mut().segments_discarded += 1;
        if !tcp.flags.has(Flags::RST) {
            self.reset = Some(if tcp.flags.has(Flags::ACK) {
                self.reset_at(tcp.ack, None)
            } else {
                self.reset_at(Seq(0), Some(tcp.seq + seg_len(tcp, payload)))
            });
        }
    }

    /// @RFC9293 sec. 3.10.7.2
    fn arrives_in_listen(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload) {
        if tcp.flags.has(Flags::RST) {
            return;
        }
        if tcp.flags.has(Flags::ACK) {
            return self.refuse(tcp, payload);
        }
        if tcp.flags.has(Flags::SYN) {
            self.peer_syn(now, tcp);
            self.state = State::SynReceived;
        }
    }

    /// @RFC9293 sec. 3.10.7.3
    fn arrives_in_syn_sent(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload) {
        let has_ack = tcp.flags.has(Flags::ACK);
        let acks_syn = has_ack && self.snd.iss.lt(tcp.ack) && tcp.ack.le(self.snd.max);
        if has_ack && !acks_syn {
            return self.refuse(tcp, payload);
        }
        if tcp.flags.has(Flags::RST) {
            if acks_syn {
                self.enter_closed(Some(Why::Refused));
            }
            return;
        }
        if !tcp.flags.has(Flags::SYN) {
            return;
        }
        self.peer_syn(now, tcp);
        if acks_syn {
            self.establish(now, tcp);
            self.rcv.ack_now();
        } else {
            // Simultaneous open: the same SYN again, with an ACK. @RFC9293 fig. 8
            self.state = State::SynReceived;
            self.snd.nxt = self.snd.iss;
        }
    }

    /// Takes the peer's initial number and options. Data on a SYN is left for the peer to send again.
    fn peer_syn(&mut self, now: SimTime, tcp: &Tcp) {
        self.rcv.synchronize(tcp.seq);
        self.options.meet(now, &tcp.options);
        self.agree_on_ecn(tcp.flags);
    }

    /// This end's SYN is acknowledged by `tcp`, whose window is the first to count.
    fn establish(&mut self, now: SimTime, tcp: &Tcp) {
        self.sample_rtt(now, tcp.ack, Some(tcp), None);
        self.timers.stop(Timer::Retransmit);
        let snd = &mut self.snd;
        snd.una = tcp.ack;
        snd.nxt = snd.nxt.max(tcp.ack);
        snd.retries = 0;
        snd.greatest_ack = tcp.ack;
        // The window of a SYN is not scaled. @RFC7323 sec. 2.2
        let shift = if tcp.flags.has(Flags::SYN) { 0 } else { self.options.snd_shift };
        snd.wnd = u32::from(tcp.window) << shift;
        (snd.max_wnd, snd.last_window, snd.wl1, snd.wl2) = (snd.wnd, tcp.window, tcp.seq, tcp.ack);
        snd.established(&self.config, self.options.peer_mss, self.options.timestamps, self.options.sack);
        self.state = if snd.closing { State::FinWait1 } else { State::Established };
        self.events.connected();
    }

    /// @RFC9293 sec. 3.10.7.4
    fn arrives_synchronized(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload, ce: bool) {
        let (mut seq, mut len) = (tcp.seq, seg_len(tcp, payload));
        let mut syn = tcp.flags.has(Flags::SYN);
        if self.state == State::SynReceived && syn && seq == self.rcv.irs {
            self.agree_on_ecn(tcp.flags);
            if !tcp.flags.has(Flags::ACK) {
                // Our SYN-ACK was lost; say it again at once, as BSD and Linux do, rather than a bare ACK.
                self.snd.nxt = self.snd.iss;
                self.snd.syn_lost = true;
                return;
            }
            // Simultaneous open: the SYN is known, what counts is its ACK.
            (seq, len, syn) = (seq + 1, len - 1, false);
        }
        if !self.passes_paws(now, tcp, payload) {
            return;
        }
        // First: the sequence number. As in Linux the edge itself is acceptable: an ACK from a peer that has filled
        // the window stands there. Not once the peer has sent its FIN: no data of its can fill the window then.
        let within = seq.lt(self.rcv.edge)
            || seq == self.rcv.edge && !(len == 0 && self.state.has_all() && self.rcv.nxt.lt(self.rcv.edge));
        let acceptable = within && if len == 0 { self.rcv.nxt.le(seq) } else { self.rcv.nxt.lt(seq + len) };
        if !acceptable {
            // What ends where this end has acknowledged is the last segment once more: its ACK was lost, and the next one
            // is to tell the RTT of this copy, not the time since the first. @RFC7323 sec. 4.3 (2) asks for no more than
            // SEG.SEQ <= Last.ACK.sent; like Linux (tcp_sequence) this asks that the segment reaches up to there as well.
            if self.rcv.last_ack_sent.le(seq + len) {
                self.record_timestamp(now, tcp);
            }
            return self.discard_unacceptable(now, tcp, payload);
        }
        // Second: RST, believed only where it is exactly due, and beyond the window dropped in silence: there the edge, which
        // is acceptable above, is outside. @RFC5961 sec. 3.2
        if tcp.flags.has(Flags::RST) {
            if seq == self.rcv.nxt {
                self.reset_arrives();
            } else if seq.lt(self.rcv.edge) {
                self.challenge(now);
            } else {
                self.counters.borrow_mut().segments_discarded += 1;
            }
            return;
        }
        // Fourth: a SYN here is old or forged. @RFC5961 sec. 4.2
        if syn {
            return self.challenge(now);
        }
        // Fifth: the ACK field.
        if !tcp.flags.has(Flags::ACK) {
            self.counters.borrow_mut().segments_discarded += 1;
            return;
        }
        if self.state == State::SynReceived {
            if !(self.snd.una.lt(tcp.ack) && tcp.ack.le(self.snd.max)) {
                return self.refuse(tcp, payload);
            }
            self.record_timestamp(now, tcp);
            self.establish(now, tcp);
        } else {
            self.ask(|hook, facts| hook.on_segment(tcp, facts));
            if !self.ack_arrives(now, tcp, len) {
                return;
            }
            if self.hook.is_some() {
                self.repair_corrupted(now);
            }
        }
        if self.snd.closing && self.fin_acknowledged() && self.after_fin_acknowledged(now) {
            return;
        }
        // The peer's FIN once more, though in the window: its ACK was lost. @RFC9293 sec. 3.10.7.4, "fifth", TIME-WAIT
        if self.state == State::TimeWait && tcp.flags.has(Flags::FIN) {
            self.rcv.ack_now();
            self.timers.set(Timer::TimeWait, now + self.config.time_wait);
        }
        // Seventh and eighth: text and FIN.
        if payload.len > 0 && self.state.receives() {
            self.text(now, tcp, payload, ce);
        }
        if tcp.flags.has(Flags::FIN) && self.state.receives() {
            let fin = tcp.seq + payload.len;
            if fin.le(self.rcv.edge) {
                self.rcv.fin = Some(fin);
                self.rcv.ack_now();
            }
        }
        if self.rcv.fin == Some(self.rcv.nxt) && self.state.receives() {
            self.peer_fin(now);
        }
    }

    /// @RFC7323 sec. 5.3 R1, sec. 3.2: whether the timestamp is there and not old.
    fn passes_paws(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload) -> bool {
        if !self.options.timestamps || tcp.flags.has(Flags::RST) {
            return true;
        }
        let stamp = timestamps(tcp);
        let passes = stamp.is_some_and(|(tsval, _)| !self.options.is_old(now, tsval));
        if !passes {
            self.counters.borrow_mut().segments_discarded += 1;
            if stamp.is_some() {
                self.disagree(now, tcp, payload);
            }
        }
        passes
    }

    /// TS.Recent, of a segment that begins no later than the last ACK said. PAWS has seen that its timestamp is not older.
    /// A segment that its ACK number gives away comes not so far: with a forged timestamp of the future in TS.Recent, PAWS
    /// would drop the peer. @RFC7323 sec. 4.3 (2)
    pub(crate) fn record_timestamp(&mut self, now: SimTime, tcp: &Tcp) {
        if self.options.timestamps
            && tcp.seq.le(self.rcv.last_ack_sent)
            && let Some((tsval, _)) = timestamps(tcp)
        {
            self.options.set_ts_recent(now, tsval);
        }
    }

    /// An old duplicate, or beyond the window: only an ACK. @RFC9293 sec. 3.10.7.4, "first"
    fn discard_unacceptable(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload) {
        self.counters.borrow_mut().segments_discarded += 1;
        if tcp.flags.has(Flags::RST) {
            return;
        }
        if payload.len > 0 && tcp.seq.lt(self.rcv.nxt) {
            self.counters.borrow_mut().duplicate_segments += 1;
            self.rcv.policy.on_duplicate();
            self.rcv.came_twice(SeqRange::new(tcp.seq, payload.len));
        }
        self.disagree(now, tcp, payload);
        if self.state == State::TimeWait && tcp.flags.has(Flags::FIN) {
            self.timers.set(Timer::TimeWait, now + self.config.time_wait);
        }
    }

    /// Drops a segment that may be forged, and tells the peer, if it lives, where this end stands. @RFC5961
    pub(crate) fn challenge(&mut self, now: SimTime) {
        self.counters.borrow_mut().segments_discarded += 1;
        if self.challenges.take(now) {
            self.rcv.due = AckDue::Alone;
        }
    }

    /// Acknowledges a segment that is not accepted. Data and FINs are always answered: the peer repeats them until it is
    /// told better. The other answers are limited: the peer may disagree with the ACK in turn, and so on for ever.
    fn disagree(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload) {
        let repeats = payload.len > 0 || tcp.flags.has(Flags::FIN);
        if repeats || self.challenges.take(now) {
            self.rcv.due = AckDue::Alone;
        }
    }

    /// "Second, check the RST bit".
    fn reset_arrives(&mut self) {
        match self.state {
            State::SynReceived if self.passive => {
                // Back to LISTEN, for the next SYN.
                self.timers.stop_all();
                self.rcv.due = AckDue::No;
                self.state = State::Listen;
                self.snd.nxt = self.snd.iss;
                self.snd.max = self.snd.iss;
                self.snd.retries = 0;
                self.options = crate::options::Negotiated::offer(&self.config);
            }
            State::SynReceived => self.enter_closed(Some(Why::Refused)),
            State::TimeWait => self.enter_closed(None),
            // Also where only a FIN is not acknowledged: @RFC9293 sec. 3.10.7.4 tells the user nothing in CLOSING and LAST-ACK, Linux
            // (tcp_reset) tells him that the connection was reset, and what it sent may be lost.
            _ => self.enter_closed(Some(Why::Reset)),
        }
    }

    fn fin_acknowledged(&self) -> bool {
        // All written is acknowledged, and the one number after it too.
        self.snd.una == self.snd.max && self.snd.fin_sent && self.snd.una_offset == self.snd.written
    }

    /// The ACK of this end's FIN. Returns whether the connection is over.
    fn after_fin_acknowledged(&mut self, now: SimTime) -> bool {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => {
                self.enter_closed(None);
                return true;
            }
            _ => {}
        }
        false
    }

    /// "Seventh, process the segment text".
    fn text(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload, ce: bool) {
        if let Content::Virtual { offset } = payload.content {
            debug_assert_eq!(offset, self.rcv.expected_offset(tcp.seq), "stream offset at {}", tcp.seq);
        }
        // What is left of it inside the window.
        let start = tcp.seq.max(self.rcv.nxt);
        let end = (tcp.seq + payload.len).min(self.rcv.edge);
        if tcp.seq.lt(start) {
            self.rcv.came_twice(SeqRange { start: tcp.seq, end: start.min(tcp.seq + payload.len) });
        }
        if !start.lt(end) {
            if tcp.seq.lt(self.rcv.nxt) {
                self.counters.borrow_mut().duplicate_segments += 1;
            } else {
                self.counters.borrow_mut().segments_discarded += 1; // a probe of the closed window
            }
            self.rcv.due = AckDue::Alone;
            return;
        }
        self.read_marks(tcp.flags, ce);
        let before = self.rcv.nxt;
        let arrived = self.rcv.take(SeqRange { start, end });
        let new = self.rcv.nxt - before;
        self.counters.borrow_mut().received(arrived, new);
        if new > 0 {
            self.events.readable(self.rcv.offset, new);
        }
        match arrived {
            Arrived::InOrder => self.acknowledge_in_order(now, tcp, payload),
            Arrived::FilledGap => self.rcv.ack_now(), // @RFC5681 sec. 4.2
            Arrived::OutOfOrder | Arrived::Duplicate => self.rcv.due = AckDue::Alone, // @RFC5681 sec. 4.2: immediately
        }
    }

    fn acknowledge_in_order(&mut self, now: SimTime, tcp: &Tcp, payload: &Payload) {
        let arrival = Arrival {
            number: self.rcv.segment_number(),
            len: payload.len,
            push: tcp.flags.has(Flags::PSH),
            now,
            srtt: self.snd.rtt.srtt(),
            rto: self.snd.rtt.rto(),
        };
        match self.rcv.policy.on_data(&arrival) {
            AckTiming::Now => self.rcv.ack_now(),
            AckTiming::AfterAll => {
                self.rcv.ack_later();
                self.timers.set(Timer::DelayedAck, now);
            }
            AckTiming::Within(wait) => {
                if self.rcv.ack_later() {
                    self.timers.set(Timer::DelayedAck, now + wait);
                }
            }
            AckTiming::NoLaterThan(wait) => {
                self.rcv.ack_later();
                self.timers.set(Timer::DelayedAck, self.timers.at(Timer::DelayedAck).min(now + wait));
            }
        }
    }

    /// "Eighth, check the FIN bit": everything before it has arrived.
    fn peer_fin(&mut self, now: SimTime) {
        self.rcv.nxt += 1;
        self.rcv.edge = self.rcv.edge.max(self.rcv.nxt);
        self.rcv.ack_now();
        self.events.peer_closed();
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            _ => self.enter_time_wait(now),
        }
    }

    fn enter_time_wait(&mut self, now: SimTime) {
        self.state = State::TimeWait;
        self.timers.stop_all();
        self.timers.set(Timer::TimeWait, now + self.config.time_wait);
    }
}
