//! The sending half: its variables, and what may be sent now. @RFC9293 sec. 3.3.1, 3.8.6.2.1

use super::Connection;
use super::local::Left;
use super::selective::{Pending, Tracking};
use super::undo::Memory;
use crate::cc::{CongestionControl, Window};
use crate::ecn::Reduction;
use crate::hystart::HyStart;
use crate::options::TIMESTAMPS_LEN;
use crate::recovery::{self, Evidence, Recovery};
use crate::timers::Timer;
use crate::{Config, RttEstimator};
use units::{Bytes, SimTime};
use wire::{Seq, SeqRange, SeqSet};

/// SND.* of @RFC9293 sec. 3.3.1, congestion state and the stream.
#[derive(Debug)]
pub(crate) struct Sender {
    /// ISS: initial number.
    pub iss: Seq,
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT; back at `una` after a timeout.
    pub nxt: Seq,
    /// One past the highest number ever sent.
    pub max: Seq,
    /// Offset of `una` in the application's stream.
    pub una_offset: u64,
    /// Length of the stream so far.
    pub written: u64,
    /// No more will be written: a FIN follows the stream.
    pub closing: bool,
    /// The FIN has been sent at least once.
    pub fin_sent: bool,
    /// A write was longer than the buffer.
    pub blocked: bool,
    /// Bytes the send buffer holds.
    pub buffer: u32,
    /// SND.WND, scaled.
    pub wnd: u32,
    /// The largest it ever was. @RFC9293 sec. 3.8.6.2.1
    pub max_wnd: u32,
    /// SND.WL1 and SND.WL2: SEQ and ACK of the segment that last set the window.
    pub wl1: Seq,
    /// See `wl1`.
    pub wl2: Seq,
    /// The window field of the last ACK, as it stood in the header. @RFC5681 sec. 2 (e)
    pub last_window: u16,
    /// The greatest ACK number that came from the peer. @RFC5681 sec. 2 (d)
    pub greatest_ack: Seq,
    /// Eff.snd.MSS.
    pub mss: u32,
    pub window: Window,
    pub cc: Box<dyn CongestionControl>,
    pub recovery: Box<dyn Recovery>,
    /// The scoreboard, if anything needs one.
    pub tracking: Option<Box<Tracking>>,
    /// The memory of the last loss, once there was one that may be undone.
    pub undo: Option<Box<Memory>>,
    /// The purpose that the retransmission timer is set for.
    pub pending: Pending,
    pub rtt: RttEstimator,
    /// The segment being timed: the number after it, and when it left. Karn: none once anything is retransmitted.
    pub timed: Option<(Seq, SimTime)>,
    /// Timeouts since the last progress.
    pub retries: u16,
    /// A SYN or SYN-ACK had to be repeated.
    pub syn_lost: bool,
    pub dup_acks: u32,
    /// Bytes in flight when limited transmit began. Only while it adds to the window.
    pub flight_before_dups: u32,
    /// Bytes that duplicate ACKs add to the window.
    pub inflation: u64,
    pub recovering: Option<Recovering>,
    /// "recover" of @RFC6582, after a timeout or recovery: duplicates up to here tell nothing.
    pub guard: Option<Seq>,
    /// The use of cwnd.
    pub usage: Usage,
    /// The last cut, as far as ECN is concerned.
    pub reduction: Reduction,
    /// To be sent again, whatever the window.
    pub resend: SeqSet,
    /// Limit of a scheme, in bytes.
    pub bound: u64,
    /// Limit of the configuration, in segments.
    max_window: Option<u32>,
    pub frozen: bool,
    /// The own host holds it back.
    pub held: Held,
    /// Bytes of payload in the host's queues.
    pub below: u32,
    /// The last segment that left, if the own host may refuse it.
    pub left: Option<Left>,
    /// The window was cut for local congestion: not again until more than this is acknowledged.
    pub cut_until: Option<Seq>,
    pub last_sent: SimTime,
    /// The start of the wait for an ACK: the last progress, or when the flight left an idle connection.
    pub waits_since: SimTime,
    /// A probe of the closed window is to be sent.
    pub probe_due: bool,
    /// Probes since the window closed, and since the peer was last heard.
    pub probes: u32,
    /// See `probes`.
    pub probes_unanswered: u32,
    nagle: bool,
}

/// The use of cwnd in the round trip that lasts: cwnd that was not needed must not grow. As Linux (tcp_cwnd_validate,
/// tcp_is_cwnd_limited). @RFC7661 sec. 4.1 has another measure of the same.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// The round trip is over when this is acknowledged.
    end: Seq,
    /// The greatest flight in it, in bytes.
    greatest: u32,
    /// The window was full in it: no whole segment more fitted.
    full: bool,
}

impl Usage {
    /// A segment has left: `una` to `nxt` is in flight now.
    #[inline]
    pub fn sent(&mut self, una: Seq, nxt: Seq, mss: u32, cwnd: Bytes) {
        let flight = nxt - una;
        let full = u64::from(flight) + u64::from(mss) > cwnd.0;
        if full || self.end.le(una) || !self.full && flight > self.greatest {
            *self = Usage { end: nxt, greatest: flight, full };
        }
    }

    /// True if cwnd kept the sender back. In slow start more than half of it is enough: a round trip doubles it.
    #[inline]
    pub fn limits(&self, window: &Window) -> bool {
        self.full || window.in_slow_start() && window.cwnd.0 < 2 * u64::from(self.greatest)
    }
}

/// Fast recovery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recovering {
    /// It ends when this is acknowledged (NewReno).
    pub recover: Seq,
    /// The window was cut.
    pub cut: bool,
    /// A partial ACK has come.
    pub partial: bool,
    /// It began with a segment of which a hook had sent a copy before.
    pub repaired: bool,
}

/// The reasons for which a connection's own host holds it back.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Held {
    /// Its queue has refused a segment: nothing leaves before the next input.
    pub refused: bool,
    /// As much waits there as may, when last looked.
    pub queue: bool,
    /// They are a radio's.
    pub by_radio: bool,
}

impl Held {
    #[inline(always)]
    fn is_held(self) -> bool {
        self.refused | self.queue
    }
}

/// A segment to send: `len` bytes of the stream at `seq`, and perhaps a FIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub seq: Seq,
    pub len: u32,
    pub fin: bool,
    /// SND.NXT follows it. Not for repairs and probes.
    pub advances: bool,
}

impl Sender {
    pub fn new(config: &Config) -> Sender {
        let mut window =
            Window::new(Bytes(u64::from(config.mss)), config.initial_window_segments, config.initial_ssthresh);
        window.byte_counting = config.byte_counting;
        window.timestamp_tick = config.timestamp_tick;
        window.hystart = config.hystart.then(|| Box::new(HyStart::new(config.pacing)));
        let cc = (config.congestion.plugin)(&config.congestion.params);
        let mut sender = Sender {
            iss: Seq(0),
            una: Seq(0),
            nxt: Seq(0),
            max: Seq(0),
            una_offset: 0,
            written: 0,
            closing: false,
            fin_sent: false,
            blocked: false,
            buffer: (config.send_buffer.0 as u32).max(u32::from(config.mss)),
            wnd: 0,
            max_wnd: 0,
            wl1: Seq(0),
            wl2: Seq(0),
            last_window: 0,
            greatest_ack: Seq(0),
            mss: u32::from(config.mss),
            window,
            recovery: recovery::natural(cc.recovery(), false),
            tracking: None,
            undo: None,
            pending: Pending::Timeout,
            cc,
            rtt: RttEstimator::new(config.initial_rto, config.min_rto, config.max_rto, config.granularity),
            timed: None,
            retries: 0,
            syn_lost: false,
            dup_acks: 0,
            flight_before_dups: 0,
            inflation: 0,
            recovering: None,
            guard: None,
            usage: Usage::default(),
            reduction: Reduction::default(),
            resend: SeqSet::default(),
            bound: u64::MAX,
            max_window: config.max_window_segments,
            frozen: false,
            held: Held::default(),
            below: 0,
            left: None,
            cut_until: None,
            last_sent: SimTime::ZERO,
            waits_since: SimTime::ZERO,
            probe_due: false,
            probes: 0,
            probes_unanswered: 0,
            nagle: config.nagle,
        };
        sender.set_initial_sequence(config.initial_sequence);
        sender
    }

    /// ISS, and what begins there.
    pub fn set_initial_sequence(&mut self, iss: Seq) {
        (self.iss, self.una, self.nxt, self.max) = (iss, iss, iss, iss);
        (self.wl2, self.greatest_ack) = (iss, iss);
    }

    /// The handshake is over: the segment size is known, and with it the initial window.
    pub fn established(&mut self, config: &Config, peer_mss: u16, timestamps: bool, sack: bool) {
        let options = if timestamps { TIMESTAMPS_LEN } else { 0 };
        // @RFC9293 sec. 3.7.1: Eff.snd.MSS. However little the peer names, a byte fits beside the options.
        self.mss = u32::from(config.mss.min(peer_mss)).max(options + 1) - options;
        // A lost SYN leaves an initial window of one segment. @RFC5681 sec. 3.1
        let segments = if self.syn_lost { 1 } else { config.initial_window_segments };
        self.window.mss = Bytes(u64::from(self.mss));
        self.window.initial = self.window.mss * u64::from(segments);
        self.window.cwnd = self.window.initial;
        if self.syn_lost {
            self.rtt.after_lost_syn();
        }
        self.window.handshake_rtt = self.rtt.srtt();
        if self.cc.owns_window() {
            self.window.hystart = None;
        }
        let natural = || recovery::natural(self.cc.recovery(), sack);
        self.recovery = match &config.recovery {
            None => natural(),
            Some(chosen) => {
                let recovery = (chosen.plugin)(&chosen.params);
                // The peer does not speak SACK.
                if recovery.evidence() == Evidence::Scoreboard && !sack { natural() } else { recovery }
            }
        };
        self.tracking = Tracking::new(config, self, sack);
        self.window.selective = self.is_selective();
    }

    /// True if losses are found and repaired by a scoreboard.
    #[inline]
    pub fn is_selective(&self) -> bool {
        self.tracking.as_ref().is_some_and(|tracking| tracking.selective)
    }

    /// True while the window comes down without a loss, in a round trip.
    #[inline]
    pub fn is_reducing(&self) -> bool {
        self.tracking.as_ref().is_some_and(|tracking| tracking.reducing.is_some())
    }

    /// True if it keeps more than the plain state.
    #[inline(always)]
    pub fn keeps_more(&self) -> bool {
        self.tracking.is_some() || self.undo.is_some()
    }

    /// Bytes in the network: the flight, less the bytes that a scoreboard knows to have left it. @RFC6675 sec. 4, SetPipe
    #[inline]
    pub fn pipe(&self) -> u32 {
        match &self.tracking {
            Some(tracking) if tracking.selective => tracking.board.pipe(self.flight()),
            _ => self.flight(),
        }
    }

    /// Back to the first number that is not acknowledged: all is sent again.
    pub fn go_back(&mut self) {
        self.nxt = self.una;
        if let Some(tracking) = &mut self.tracking {
            tracking.board.clear();
        }
    }

    /// The application adds to its stream.
    pub fn write(&mut self, bytes: u64) {
        if !self.closing {
            self.written = self.written.saturating_add(bytes);
            self.blocked = self.written - self.una_offset > u64::from(self.buffer);
        }
    }

    /// FlightSize, as far as it is not taken for lost: SND.NXT - SND.UNA. @RFC5681 sec. 2
    pub fn flight(&self) -> u32 {
        self.nxt - self.una
    }

    /// FlightSize as a cut takes it (@RFC5681 eq. 4): data beyond cwnd that duplicate ACKs let out does not count. Before
    /// fast recovery limited transmit let it out (sec. 3.2 step 2). In fast recovery, as much has left the network: the
    /// timeout of a lost retransmission cuts a second time (sec. 4.3), not to half of an inflated flight, which may be
    /// more than ssthresh.
    pub fn flight_to_cut(&self) -> u64 {
        let flight = u64::from(self.flight());
        let kept = match self.inflation {
            0 if self.dup_acks > 0 && self.is_selective() => u64::from(self.flight_before_dups),
            0 => flight,
            left if self.recovering.is_some() => flight.saturating_sub(left),
            _ => u64::from(self.flight_before_dups),
        };
        flight.min(kept.max(self.window.cwnd.0))
    }

    /// As [`Sender::flight_to_cut`], for a timeout. With a scoreboard, SACKed data counts before fast recovery (@RFC5681
    /// sec. 2: sent and not acknowledged). In fast recovery it has let other data out and does not count. After a
    /// timeout, data lost then does not count either, as if the sender had gone back. Each lowers ssthresh a second time
    /// (sec. 4.3).
    pub fn flight_at_timeout(&self) -> u64 {
        let flight = self.flight_to_cut();
        match &self.tracking {
            Some(tracking) if tracking.selective && self.recovering.is_some() => {
                flight.min(u64::from(self.flight().saturating_sub(tracking.board.sacked())))
            }
            Some(tracking) if tracking.selective && self.window.timeout_lasts => flight.min(u64::from(self.pipe())),
            _ => flight,
        }
    }

    /// As [`Sender::flight_to_cut`], where a scoreboard knows what has left the network: for a mark.
    pub fn pipe_to_cut(&self) -> u64 {
        self.flight_to_cut().min(u64::from(self.pipe()))
    }

    /// One past the last byte the send buffer holds.
    pub fn data_end(&self) -> Seq {
        self.una + (self.written - self.una_offset).min(u64::from(self.buffer)) as u32
    }

    /// True if the buffer holds all that was written.
    fn holds_all(&self) -> bool {
        self.written - self.una_offset <= u64::from(self.buffer)
    }

    /// True while all that was written is acknowledged, and no FIN is wanted: there is nothing to choose from.
    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.una == self.max && self.nxt == self.una && self.written == self.una_offset && !self.closing
    }

    /// Bytes written that were never sent.
    pub fn unsent(&self) -> u64 {
        (self.written - self.una_offset).saturating_sub(u64::from(self.max - self.una))
    }

    /// Offset in the stream of `seq`, which is not acknowledged.
    pub fn offset(&self, seq: Seq) -> u64 {
        self.una_offset + u64::from(seq - self.una)
    }

    /// Bytes that may be in the network, leaving the peer's window aside.
    #[inline(always)]
    pub fn own_window(&self) -> u64 {
        let max = self.max_window.map_or(u64::MAX, |segments| u64::from(segments) * u64::from(self.mss));
        (self.window.cwnd.0 + self.inflation).min(self.bound).min(max)
    }

    /// The part of `range` up to a full segment: what a repair sends.
    fn repair(&self, range: SeqRange) -> Chosen {
        let data_end = self.data_end();
        let end = range.end.min(range.start + self.mss);
        let len = end.min(data_end) - range.start;
        Chosen { seq: range.start, len, fin: data_end.lt(end), advances: false }
    }

    /// The first of the ranges to be sent again whatever the window, up to a full segment.
    #[inline(always)]
    pub fn next_repair(&mut self) -> Option<Chosen> {
        let chosen = self.repair(*self.resend.ranges().first()?);
        self.resend.forget_before(chosen.seq + chosen.len + u32::from(chosen.fin));
        Some(chosen)
    }

    /// The segment `range` as it was sent.
    pub fn whole(&self, range: SeqRange) -> Chosen {
        let data_end = self.data_end();
        let len = range.end.min(data_end) - range.start;
        Chosen { seq: range.start, len, fin: data_end.lt(range.end), advances: false }
    }

    /// The segment at SND.NXT, if the peer's window alone allows one: a probe of the tail.
    pub fn next_beyond(&self) -> Option<Chosen> {
        let data_end = self.data_end();
        let queued = if self.nxt.lt(data_end) { data_end - self.nxt } else { 0 };
        let len = queued.min(self.mss).min(self.wnd.saturating_sub(self.flight()));
        let fin = self.closing && self.holds_all() && len == queued && len < self.wnd.saturating_sub(self.flight());
        (len > 0 && (len == self.mss || len == queued)).then_some(Chosen { seq: self.nxt, len, fin, advances: true })
    }

    /// The segment at SND.NXT, if the windows, silly-window avoidance and Nagle allow one.
    #[inline(always)]
    fn next(&self) -> Option<Chosen> {
        let data_end = self.data_end();
        let flight = self.flight();
        let queued = if self.nxt.lt(data_end) { data_end - self.nxt } else { 0 };
        let fin_follows = self.closing && self.holds_all();
        let theirs = self.wnd.saturating_sub(flight);
        if queued == 0 {
            // Its number is the peer's window's to allow, but no own window's. @RFC9293 sec. 3.4: FIN counts in SEG.LEN
            let fin = fin_follows && self.nxt == data_end && theirs > 0;
            return fin.then_some(Chosen { seq: self.nxt, len: 0, fin, advances: true });
        }
        let usable = self.own_window().saturating_sub(u64::from(self.pipe())).min(u64::from(theirs)) as u32;
        let len = queued.min(usable).min(self.mss);
        let last = len == queued && self.holds_all();
        // @RFC9293 sec. 3.8.6.2.1: (1) a full segment, (2) all there is, (3) half the largest window. Nagle
        // (@RFC896, sec. 3.7.4) holds (2) and (3) back while anything is in flight; a FIN that follows lets go.
        let quiet = flight == 0 || !self.nagle;
        let send = len == self.mss
            || (len > 0 && last && (quiet || fin_follows))
            || (len > 0 && len == theirs && quiet && len >= self.max_wnd.div_ceil(2));
        send.then_some(Chosen { seq: self.nxt, len, fin: last && fin_follows && len < theirs, advances: true })
    }

    /// True while data or a FIN waits that only the peer's window keeps back, with nothing in flight whose ACK could open
    /// it.
    pub fn waits_for_window(&self) -> bool {
        self.nxt == self.una
            && if self.nxt.lt(self.data_end()) {
                u64::from(self.wnd) < u64::from(self.mss).min(self.own_window())
            } else {
                self.closing && self.wnd == 0
            }
    }
}

impl Connection {
    /// Returns the segment to send now: data, FIN, repair or probe.
    #[inline(always)]
    pub(crate) fn choose(&mut self, now: SimTime) -> Option<Chosen> {
        if self.snd.frozen || self.snd.held.is_held() {
            return self.choose_held(now);
        }
        if let Some(repair) = self.snd.next_repair() {
            return Some(repair);
        }
        if self.snd.keeps_more() {
            return self.choose_tracked(now);
        }
        if self.timers.is_set(Timer::Pace) {
            return None;
        }
        self.choose_new(now)
    }

    /// As [`Connection::choose`], of a sender that keeps more than the plain state. Out of the way of one that does not.
    #[inline(never)]
    fn choose_tracked(&mut self, now: SimTime) -> Option<Chosen> {
        if let Some(new) = self.segment_of_doubt() {
            return Some(new);
        }
        let chosen = if self.snd.is_selective() {
            self.choose_selective(now)
        } else if self.timers.is_set(Timer::Pace) {
            return None;
        } else {
            self.choose_new(now)
        };
        if chosen.is_none() && self.snd.tracking.is_some() {
            self.note_idle_application();
        }
        chosen
    }

    /// The next of the stream, or a probe of the peer's window.
    #[inline(always)]
    pub(crate) fn choose_new(&mut self, now: SimTime) -> Option<Chosen> {
        if self.snd.is_idle() {
            self.timers.stop(Timer::Persist);
            self.snd.probes = 0;
            return None;
        }
        if self.snd.nxt == self.snd.una && self.snd.una == self.snd.max {
            self.restart_after_idle(now);
        }
        let chosen = self.snd.next();
        if chosen.is_none() && self.snd.nxt == self.snd.una {
            return self.persist(now);
        }
        self.timers.stop(Timer::Persist);
        self.snd.probes = 0;
        chosen
    }

    /// @RFC5681 sec. 4.1: nothing sent for an RTO, and now something will be.
    #[inline(always)]
    fn restart_after_idle(&mut self, now: SimTime) {
        let snd = &mut self.snd;
        if self.config.idle_restart && snd.nxt.lt(snd.data_end()) && now.since(snd.last_sent) > snd.rtt.rto() {
            snd.cc.on_idle_restart(&mut snd.window);
        }
    }
}
