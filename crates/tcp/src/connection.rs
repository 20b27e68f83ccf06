//! The machine: inputs, outputs, timers. @RFC9293 sec. 3.9, 3.10

mod acks;
mod arrives;
mod below;
mod emit;
mod local;
mod loss;
mod marks;
mod persist;
mod selective;
mod sender;
mod undo;

use crate::options::Negotiated;
use crate::receiver::{AckDue, Receiver};
use crate::timers::{Timer, Timers};
use crate::{Config, Counters, FlowFacts, SenderCommand, SenderHook, State, Why, WindowTime, cc};
use arrives::Throttle;
use selective::Pending;
use sender::Sender;
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use units::{Bytes, Dur, SimTime};
use wire::{Payload, Seq, SeqRange, Tcp};

/// An event of a connection.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A segment of this connection arrived.
    Segment {
        /// Its header.
        tcp: &'a Tcp,
        /// Its payload.
        payload: &'a Payload,
        /// True if its IP header carried a congestion mark (codepoint CE). Ignored unless ECN was agreed on. @RFC3168
        /// sec. 5
        ce: bool,
    },
    /// The time of [`Connection::next_wakeup`] has come. Harmless if it has not.
    Timer,
    /// The application adds this many bytes to its stream. What the send buffer does not hold waits in the application,
    /// as in a blocking `write`; [`Output::SendSpace`] tells when all of it was taken. Ignored after `Close`.
    Write(u64),
    /// The application takes this many bytes of what was reported readable.
    Read(u64),
    /// The application will write no more: a FIN follows what is written. Before the connection stands it is kept until
    /// then.
    Close,
    /// The application gives up: a reset is sent and all is forgotten.
    Abort,
    /// A scheme's wish.
    Command(SenderCommand),
    /// The queue of this end's own host has refused a segment that was polled, with these numbers. To be told before the next poll: of
    /// any but the last segment with numbers it means nothing. Ignored without `local_congestion`.
    Refused(SeqRange),
    /// A segment that was polled waits in the queues of this end's own host. Ignored without `small_queue`.
    Queued {
        /// Its payload: what a packet weighs may change on its way, what it carries does not.
        bytes: u32,
        /// True if the host sends by radio.
        by_radio: bool,
    },
    /// A segment with so many bytes of payload has left them: the MAC has reported on it for the last time, the wire has sent it, or it was
    /// dropped.
    Left(u32),
}

/// An action that a connection wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this segment.
    Segment {
        /// Its header.
        tcp: Tcp,
        /// Its payload: a range of the stream.
        payload: Payload,
        /// True if it begins with something sent before.
        retransmission: bool,
        /// True if its IP header is to say ECT(0), so that it may be marked: new data of a connection with ECN, never a
        /// retransmission, a probe or a pure ACK. @RFC3168 sec. 6.1.2, 6.1.4 to 6.1.6
        ect: bool,
    },
    /// The handshake is complete.
    Connected,
    /// Bytes of the peer's stream are newly available in order.
    Readable {
        /// Offset of the first of them in the stream.
        offset: u64,
        /// Their number.
        len: u32,
    },
    /// The send buffer has taken everything written, after some had to wait.
    SendSpace,
    /// The peer has sent all it will, and all of it is readable.
    PeerClosed,
    /// Both ends are done; nothing follows.
    Closed,
    /// The connection is lost; nothing follows.
    Failed(Why),
}

/// Outputs that wait to be polled, segments excepted. The bit order is the order of delivery.
#[derive(Debug, Default)]
pub(crate) struct Events {
    bits: u8,
    readable_from: u64,
    readable_len: u32,
    failed: Option<Why>,
}

impl Events {
    const CONNECTED: u8 = 1;
    const READABLE: u8 = 2;
    const PEER_CLOSED: u8 = 4;
    const SEND_SPACE: u8 = 8;

    pub(crate) fn connected(&mut self) {
        self.bits |= Self::CONNECTED;
    }

    pub(crate) fn peer_closed(&mut self) {
        self.bits |= Self::PEER_CLOSED;
    }

    pub(crate) fn send_space(&mut self) {
        self.bits |= Self::SEND_SPACE;
    }

    /// `len` bytes up to stream offset `end`.
    pub(crate) fn readable(&mut self, end: u64, len: u32) {
        self.bits |= Self::READABLE;
        self.readable_len += len;
        self.readable_from = end - u64::from(self.readable_len);
    }

    fn take(&mut self) -> Output {
        let bit = 1 << self.bits.trailing_zeros();
        self.bits &= !bit;
        match bit {
            Self::CONNECTED => Output::Connected,
            Self::READABLE => {
                Output::Readable { offset: self.readable_from, len: core::mem::take(&mut self.readable_len) }
            }
            Self::PEER_CLOSED => Output::PeerClosed,
            _ => Output::SendSpace,
        }
    }
}

/// A reset to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reset {
    pub seq: Seq,
    pub ack: Option<Seq>,
    /// It belongs to a connection with timestamps. @RFC7323 sec. 3.2
    pub stamped: bool,
}

/// One end of one connection.
///
/// Call order: after every [`Connection::handle`], [`Connection::poll`] at the same instant until it returns `None`
/// (each duplicate ACK is a segment of its own, and merges with the next if it is not fetched); then
/// [`Connection::next_wakeup`]. Instants never go back. Several inputs at one instant are handled in the order given;
/// timers due at one instant run in the order of the table: retransmission, persist, delayed ACK, TIME-WAIT, pacing.
#[derive(Debug)]
pub struct Connection {
    pub(crate) config: Arc<Config>,
    pub(crate) state: State,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) passive: bool,
    pub(crate) snd: Sender,
    pub(crate) rcv: Receiver,
    pub(crate) options: Negotiated,
    pub(crate) timers: Timers,
    pub(crate) counters: Rc<RefCell<Counters>>,
    pub(crate) events: Events,
    pub(crate) hook: Option<Box<dyn SenderHook>>,
    pub(crate) reset: Option<Reset>,
    /// The limit on ACKs that forged segments provoke.
    pub(crate) challenges: Throttle,
    over: bool,
    /// Its windows over time, if somebody wants to know.
    windows: Option<Box<Windows>>,
}

/// The windows of an end, integrated.
#[derive(Debug, Default)]
struct Windows {
    sum: WindowTime,
    /// The end of the time that is integrated.
    until: SimTime,
}

impl Connection {
    /// An active end: the SYN goes out at the first poll. `config` has passed [`Config::check`]; connections can share one.
    pub fn open(config: impl Into<Arc<Config>>, local_port: u16, remote_port: u16) -> Connection {
        Connection::new(config.into(), State::SynSent, local_port, remote_port)
    }

    /// A passive end that waits for this one peer's SYN. `config` has passed [`Config::check`]; connections can share one.
    pub fn listen(config: impl Into<Arc<Config>>, local_port: u16, remote_port: u16) -> Connection {
        Connection::new(config.into(), State::Listen, local_port, remote_port)
    }

    fn new(config: Arc<Config>, state: State, local_port: u16, remote_port: u16) -> Connection {
        debug_assert_eq!(config.check(), Ok(()), "the caller checks the configuration");
        Connection {
            state,
            local_port,
            remote_port,
            passive: state == State::Listen,
            snd: Sender::new(&config),
            rcv: Receiver::new(&config),
            options: Negotiated::offer(&config),
            timers: Timers::default(),
            counters: Rc::default(),
            events: Events::default(),
            hook: None,
            reset: None,
            challenges: Throttle::default(),
            over: false,
            windows: None,
            config,
        }
    }

    /// Replaces the initial sequence number of the configuration, for ends that share one. Before the first segment.
    pub fn set_initial_sequence(&mut self, iss: Seq) {
        self.snd.set_initial_sequence(iss);
    }

    /// True if it heeds what its own host says of each segment of data: [`Input::Refused`], or [`Input::Queued`]. Its next output is polled
    /// after that was told.
    #[inline]
    pub fn minds_host(&self) -> bool {
        self.config.local_congestion || self.config.counts_queued()
    }

    /// Lets it count where others do, too, so that all connections of one user are asked together. Before the first segment.
    pub fn count_with(&mut self, counters: Rc<RefCell<Counters>>) {
        self.counters = counters;
    }

    /// Replaces the congestion control, for one with parameters of its own. Before the first segment.
    pub fn set_congestion(&mut self, controller: Box<dyn cc::CongestionControl>) {
        self.snd.cc = controller;
    }

    /// Lets a scheme listen to this sender and judge its losses. Replaces the last one.
    pub fn set_hook(&mut self, hook: Box<dyn SenderHook>) {
        self.hook = Some(hook);
    }

    /// Tells the machine what happened.
    // In line, as `poll`: who drives a connection knows what has happened to it, and puts what it says where it goes.
    #[inline(always)]
    pub fn handle(&mut self, now: SimTime, input: Input<'_>) {
        if self.windows.is_some() {
            self.integrate_windows(now);
        }
        if !matches!(input, Input::Queued { .. } | Input::Left(_)) {
            self.snd.held.refused = false; // news of its queue do not make the host try a refused segment again
        }
        match input {
            Input::Segment { tcp, payload, ce } => self.segment_arrives(now, tcp, payload, ce),
            Input::Timer => self.run_timers(now),
            Input::Write(bytes) => self.snd.write(bytes),
            Input::Read(bytes) => self.read(bytes),
            Input::Close => self.close(),
            Input::Abort => self.abort(),
            Input::Command(command) => self.command(now, command),
            Input::Refused(range) => self.refused(now, range),
            Input::Queued { bytes, by_radio } => self.queued(bytes, by_radio),
            Input::Left(bytes) => self.left(bytes),
        }
    }

    /// The next thing to do; `None` if there is nothing until the next input.
    #[inline(always)]
    pub fn poll(&mut self, now: SimTime) -> Option<Output> {
        if self.events.bits != 0 {
            return Some(self.events.take());
        }
        if let Some(segment) = self.next_segment(now) {
            return Some(segment);
        }
        if self.state == State::Closed && !self.over {
            self.over = true;
            return Some(self.events.failed.take().map_or(Output::Closed, Output::Failed));
        }
        None
    }

    /// The time when [`Input::Timer`] is due; [`SimTime::NEVER`] if no timer runs.
    pub fn next_wakeup(&self) -> SimTime {
        self.timers.next()
    }

    fn run_timers(&mut self, now: SimTime) {
        if self.timers.take_due(Timer::Retransmit, now) {
            match self.snd.pending {
                Pending::Timeout => self.retransmission_timeout(now),
                Pending::Probe => self.probe_timeout(now),
                Pending::Reorder => self.reorder_timeout(now),
            }
        }
        if self.timers.take_due(Timer::Persist, now) {
            self.persist_timeout();
        }
        if self.timers.take_due(Timer::DelayedAck, now) {
            self.rcv.ack_now();
        }
        if self.timers.take_due(Timer::TimeWait, now) {
            self.enter_closed(None);
        }
        self.timers.take_due(Timer::Pace, now);
    }

    fn read(&mut self, bytes: u64) {
        let shift = self.options.rcv_shift.unwrap_or(0);
        if self.rcv.read(bytes, shift) && self.state.receives() {
            self.rcv.window_update = matches!(self.rcv.due, AckDue::No | AckDue::Later);
            self.rcv.ack_now();
        }
    }

    /// CLOSE. @RFC9293 sec. 3.10.4, which deletes the TCB in LISTEN and SYN-SENT; here that is `Abort`.
    fn close(&mut self) {
        self.snd.closing = true;
        match self.state {
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            _ => {} // before ESTABLISHED it is kept; after a close it says nothing new
        }
    }

    /// ABORT. @RFC9293 sec. 3.10.5
    fn abort(&mut self) {
        if self.state == State::SynReceived || self.state.is_synchronized() && self.state != State::TimeWait {
            self.reset = Some(self.reset_at(self.snd.nxt, Some(self.rcv.nxt)));
        }
        self.enter_closed(None);
    }

    /// A reset with what the state allows: a connection that is no more has no timestamps.
    pub(crate) fn reset_at(&self, seq: Seq, ack: Option<Seq>) -> Reset {
        let agreed = self.state == State::SynReceived || self.state.is_synchronized();
        Reset { seq, ack, stamped: agreed && self.options.timestamps }
    }

    /// Deletes the TCB.
    pub(crate) fn enter_closed(&mut self, why: Option<Why>) {
        self.state = State::Closed;
        self.events.failed = why;
        self.timers.stop_all();
        self.rcv.due = AckDue::No;
    }

    fn command(&mut self, now: SimTime, command: SenderCommand) {
        match command {
            SenderCommand::Retransmit(range) => {
                let range = SeqRange { start: range.start.max(self.snd.una), end: range.end.min(self.snd.nxt) };
                if range.start.lt(range.end) && self.state.sends() {
                    self.snd.resend.insert(range);
                }
            }
            SenderCommand::Bound(bytes) => self.snd.bound = bytes.0,
            SenderCommand::Freeze => {
                self.snd.frozen = true;
                self.timers.stop(Timer::Retransmit);
                self.timers.stop(Timer::Persist);
            }
            SenderCommand::Thaw => {
                self.snd.frozen = false;
                if self.snd.nxt != self.snd.una {
                    self.arm_rto(now);
                }
            }
            SenderCommand::RearmRto => {
                if self.timers.is_set(Timer::Retransmit) {
                    self.arm_rto(now);
                }
            }
            SenderCommand::LocalAck(seq) => {
                let seq = seq.min(self.snd.data_end()); // a FIN is the peer's to acknowledge
                if self.state.sends() && self.snd.una.lt(seq) && seq.le(self.snd.max) {
                    let told = self.track(now, seq, None);
                    self.new_ack(now, seq, None, &told);
                }
            }
        }
    }

    /// Asks the hook, if there is one.
    pub(crate) fn ask<R>(&mut self, question: impl FnOnce(&mut dyn SenderHook, &FlowFacts) -> R) -> Option<R> {
        self.hook.as_ref()?;
        let facts = self.facts();
        self.hook.as_deref_mut().map(|hook| question(hook, &facts))
    }

    /// A snapshot of this end.
    pub fn facts(&self) -> FlowFacts {
        let snd = &self.snd;
        FlowFacts {
            snd_una: snd.una,
            snd_nxt: snd.nxt,
            snd_max: snd.max,
            rcv_nxt: self.rcv.nxt,
            cwnd: snd.window.cwnd,
            ssthresh: snd.window.ssthresh,
            flight_size: Bytes(u64::from(snd.flight())),
            inflation: Bytes(snd.inflation),
            mss: Bytes(u64::from(snd.mss)),
            snd_wnd: Bytes(u64::from(snd.wnd)),
            rcv_wnd: Bytes(u64::from(self.rcv.wnd())),
            srtt: snd.rtt.srtt(),
            rttvar: snd.rtt.rttvar(),
            rto: snd.rtt.rto(),
            dup_acks: snd.dup_acks,
            in_recovery: snd.window.in_recovery,
            frozen: snd.frozen,
            unsent: Bytes(snd.unsent()),
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The counters of this end, or of all ends that count with it.
    pub fn counters(&self) -> Ref<'_, Counters> {
        self.counters.borrow()
    }

    /// From now on its windows are integrated over time.
    pub fn watch_windows(&mut self) {
        self.windows = Some(Box::default());
    }

    /// Its windows since its application first wrote, integrated up to `now`, if [`Connection::watch_windows`] was asked for before. They
    /// change with an input only.
    pub fn window_time(&self, now: SimTime) -> WindowTime {
        self.windows.as_ref().map_or_else(WindowTime::default, |windows| {
            let mut sum = windows.sum;
            if self.sends_data() {
                sum.stay(now.since(windows.until), self.cwnd(), self.rwnd(), self.srtt());
            }
            sum
        })
    }

    fn integrate_windows(&mut self, now: SimTime) {
        let (sends, cwnd, peers, srtt) = (self.sends_data(), self.cwnd(), self.rwnd(), self.srtt());
        if let Some(windows) = self.windows.as_deref_mut() {
            if sends {
                windows.sum.stay(now.since(windows.until), cwnd, peers, srtt);
            }
            windows.until = now;
        }
    }

    /// True if the application has had data to send, and may go on.
    fn sends_data(&self) -> bool {
        self.snd.written > 0 && matches!(self.state, State::Established | State::CloseWait)
    }

    /// The parameters it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// True if both ends speak ECN; before the peer's SYN, if this end offers it. @RFC3168 sec. 6.1.1
    pub fn ecn(&self) -> bool {
        self.options.ecn
    }

    /// Its own port.
    pub fn local_port(&self) -> u16 {
        self.local_port
    }

    /// The peer's port.
    pub fn remote_port(&self) -> u16 {
        self.remote_port
    }

    /// SND.UNA: oldest number not acknowledged.
    pub fn snd_una(&self) -> Seq {
        self.snd.una
    }

    /// SND.NXT: next number to send.
    pub fn snd_nxt(&self) -> Seq {
        self.snd.nxt
    }

    /// RCV.NXT: next number expected.
    pub fn rcv_nxt(&self) -> Seq {
        self.rcv.nxt
    }

    /// Congestion window, without the inflation of fast recovery.
    pub fn cwnd(&self) -> Bytes {
        self.snd.window.cwnd
    }

    /// Slow-start threshold; `u64::MAX` while unlimited.
    pub fn ssthresh(&self) -> Bytes {
        self.snd.window.ssthresh
    }

    /// The peer's window, counted from SND.UNA.
    pub fn rwnd(&self) -> Bytes {
        Bytes(u64::from(self.snd.wnd))
    }

    /// Bytes that are sent and not acknowledged, up to SND.NXT.
    pub fn flight_size(&self) -> Bytes {
        Bytes(u64::from(self.snd.flight()))
    }

    /// Bytes in the network, as far as is known: the flight, less the bytes that left it by SACK blocks and losses.
    /// @RFC6675 sec. 4
    pub fn pipe(&self) -> Bytes {
        Bytes(u64::from(self.snd.pipe()))
    }

    /// Smoothed RTT; `None` before the first sample.
    pub fn srtt(&self) -> Option<Dur> {
        self.snd.rtt.srtt()
    }

    /// Retransmission timeout, backoff included.
    pub fn rto(&self) -> Dur {
        self.snd.rtt.rto()
    }

    /// Payload of a full segment to the peer, options deducted.
    pub fn mss(&self) -> Bytes {
        Bytes(u64::from(self.snd.mss))
    }

    /// Bytes of the application's stream that the peer has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.snd.una_offset
    }

    /// The room left in the send buffer. Zero while a [`Input::Write`] waits.
    pub fn send_space(&self) -> Bytes {
        Bytes(u64::from(self.snd.buffer).saturating_sub(self.snd.written - self.snd.una_offset))
    }

    /// Bytes in order that the application has not read.
    pub fn unread(&self) -> Bytes {
        Bytes(self.rcv.unread())
    }

    /// Shows the controller's inner values.
    pub fn probe(&self, out: &mut dyn cc::Probe) {
        self.snd.cc.probe(out);
    }
}
