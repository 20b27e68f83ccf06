//! What goes out, in order: resets, SYNs, ACKs that must be alone, data and FIN, ACKs. @RFC9293 sec. 3.1, 3.5

use crate::receiver::AckDue;
use crate::sender::Chosen;
use crate::timers::Timer;
use crate::{Connection, Output, State};
use units::{Bytes, SimTime};
use wire::{Flags, Payload, Seq, Tcp};

impl Connection {
    /// The next segment to send now, if any.
    pub(crate) fn next_segment(&mut self, now: SimTime) -> Option<Output> {
        if self.state.sends() {
            if self.rcv.due == AckDue::Alone {
                return Some(self.pure_ack(now));
            }
            if let Some(chosen) = self.choose(now) {
                return Some(self.data(now, chosen));
            }
        }
        if matches!(self.rcv.due, AckDue::Now | AckDue::Alone) && self.state.is_synchronized() {
            return Some(self.pure_ack(now));
        }
        if let Some((seq, ack)) = self.reset.take() {
            return Some(self.reset_segment(seq, ack));
        }
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        (opening && self.snd.nxt == self.snd.iss).then(|| self.syn(now))
    }

    fn header(&self, seq: Seq, flags: Flags) -> Tcp {
        Tcp { src_port: self.local_port, dst_port: self.remote_port, seq, flags, ..Tcp::default() }
    }

    /// A segment that acknowledges: fills in ACK, window and timestamps, and settles what was owed.
    fn acknowledging(&mut self, now: SimTime, seq: Seq, flags: Flags) -> Tcp {
        let mut tcp = self.header(seq, flags | Flags::ACK);
        tcp.ack = self.rcv.nxt;
        tcp.window = self.rcv.announce(self.options.rcv_shift.unwrap_or(0));
        if self.options.timestamps {
            tcp.options.push_timestamps(self.options.tsval(now), self.options.ts_recent);
        }
        self.timers.stop(Timer::DelayedAck);
        self.rcv.policy.on_ack_sent();
        tcp
    }

    fn pure_ack(&mut self, now: SimTime) -> Output {
        let mut tcp = self.acknowledging(now, self.snd.max, Flags::default());
        self.push_sack(&mut tcp, usize::MAX);
        self.counters.segments_sent += 1;
        self.counters.acks_sent += 1;
        self.counters.window_updates_sent += u64::from(core::mem::take(&mut self.rcv.window_update));
        Output::Segment { tcp, payload: Payload::EMPTY, retransmission: false }
    }

    /// Adds SACK blocks while there are gaps, as many as fit into `room` bytes. @RFC2018 sec. 3
    fn push_sack(&self, tcp: &mut Tcp, room: usize) {
        if self.options.sack && self.rcv.has_gap() {
            let (blocks, n) = self.rcv.sack_blocks();
            let fit = room.saturating_sub(4) / 8;
            tcp.options.push_sack(&blocks[..n.min(fit)]);
        }
    }

    fn data(&mut self, now: SimTime, chosen: Chosen) -> Output {
        let Chosen { seq, len, fin, advances } = chosen;
        let data_end = seq + len;
        let end = data_end + u32::from(fin);
        let retransmission = seq.lt(self.snd.max);

        let mut flags = Flags::default();
        if fin {
            flags |= Flags::FIN;
        }
        if len > 0 && data_end == self.snd.data_end() {
            flags |= Flags::PSH; // the buffer is empty after it. @RFC9293 sec. 3.9.1.2
        }
        let mut tcp = self.acknowledging(now, seq, flags);
        self.push_sack(&mut tcp, (self.snd.mss - len) as usize);
        self.rcv.window_update = false;

        if retransmission {
            self.counters.retransmissions += 1;
            self.snd.timed = None; // Karn: an ACK could be for either. @RFC6298 sec. 3
        } else if self.snd.timed.is_none() {
            self.snd.timed = Some((end, now));
        }
        let payload = Payload::stream(self.snd.offset(seq), len);
        if advances {
            self.snd.nxt = end;
        }
        self.snd.max = self.snd.max.max(end);
        self.snd.fin_sent |= fin;
        // A probe is the persist timer's business.
        if self.snd.nxt != self.snd.una && !self.timers.is_set(Timer::Retransmit) {
            self.timers.set(Timer::Retransmit, now + self.snd.rtt.rto()); // @RFC6298 (5.1)
        }
        self.snd.last_sent = now;
        self.counters.segments_sent += 1;
        if len > 0 {
            let bytes = Bytes(u64::from(len));
            self.counters.data_segments_sent += 1;
            self.counters.bytes_sent += bytes.0;
            self.snd.cc.on_sent(now, bytes, &mut self.snd.window);
            if let Some(rate) = self.snd.cc.pacing_rate(&self.snd.window) {
                self.timers.set(Timer::Pace, now + bytes / rate);
            }
        }
        Output::Segment { tcp, payload, retransmission }
    }

    /// The SYN, or in SYN-RECEIVED the SYN-ACK. Its window is never scaled. @RFC7323 sec. 2.2
    fn syn(&mut self, now: SimTime) -> Output {
        let mut tcp = self.header(self.snd.iss, Flags::SYN);
        if self.state == State::SynReceived {
            tcp.flags |= Flags::ACK;
            tcp.ack = self.rcv.nxt;
            tcp.window = self.rcv.announce(0);
        } else {
            tcp.window = self.config.receive_buffer.0.min(0xffff) as u16;
        }
        tcp.options = self.options.syn_options(self.config.mss, now);
        let retransmission = self.snd.max != self.snd.iss;
        if retransmission {
            self.counters.retransmissions += 1;
            self.snd.timed = None;
        } else {
            self.snd.timed = Some((self.snd.iss + 1, now));
        }
        self.snd.nxt = self.snd.iss + 1;
        self.snd.max = self.snd.nxt;
        self.snd.last_sent = now;
        self.timers.set(Timer::Retransmit, now + self.snd.rtt.rto());
        self.counters.segments_sent += 1;
        Output::Segment { tcp, payload: Payload::EMPTY, retransmission }
    }

    fn reset_segment(&mut self, seq: Seq, ack: Option<Seq>) -> Output {
        let mut tcp = self.header(seq, Flags::RST);
        if let Some(ack) = ack {
            tcp.flags |= Flags::ACK;
            tcp.ack = ack;
        }
        self.counters.segments_sent += 1;
        Output::Segment { tcp, payload: Payload::EMPTY, retransmission: false }
    }
}
