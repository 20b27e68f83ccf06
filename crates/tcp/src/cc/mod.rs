//! Congestion controls, one file each, and the port they plug into.
//!
//! A controller decides cwnd and ssthresh. What is retransmitted and when is the sender's business (`recovery`); the
//! inflation of the window by duplicate ACKs during fast recovery is the sender's too and never shows in `cwnd`.

use crate::Ack;
use crate::hystart::HyStart;
use units::{BitRate, Bytes, Dur, SimTime};

mod ack_train;
mod rounds;
#[cfg(test)]
mod testing;

pub use plugin::{Info, Params};

/// Makes a controller with these parameters: those that its [`Info`] declares.
pub type Make = fn(&Params) -> Box<dyn CongestionControl>;

/// The reason why the window is to be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Congestion {
    /// Duplicate ACKs told of a loss. Once per recovery.
    FastRetransmit,
    /// The receiver echoed a congestion mark. Once per window of data, not during recovery; it never opens the window,
    /// and may leave one segment. @RFC3168 sec. 6.1.2
    EcnMark,
    /// The retransmission timer expired.
    Rto {
        /// Again, for the same segment.
        repeated: bool,
    },
}

/// The recovery of a controller's sender, if the configuration does not say. See [`crate::recovery`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// No fast recovery: go back to the first byte not acknowledged and send from there in slow start.
    Tahoe,
    /// Fast recovery until the first ACK of new data. @RFC2581 sec. 3.2
    Reno,
    /// Fast recovery until all that was in flight is acknowledged; partial ACKs retransmit. @RFC6582 sec. 3.2
    NewReno,
}

/// The sink of a controller's inner values when a series is recorded.
pub trait Probe {
    /// A value now: `name` as `controller.quantity`, with its unit.
    fn gauge(&mut self, name: &'static str, unit: &'static str, value: f64);
}

/// Sender-side congestion control of one direction of one connection. @RFC5681
///
/// Call order: `on_congestion` when a loss is found (then `on_dup_ack` for each further duplicate, `on_ack` for each
/// partial ACK, `on_recovered` at the end), `on_ack` for each ACK of new data otherwise.
pub trait CongestionControl {
    /// An ACK of new data. Also called during recovery ([`Window::in_recovery`]), when nothing should grow.
    fn on_ack(&mut self, ack: &Ack, win: &mut Window);

    /// The window is to be cut. [`Window::flight_size`] is what was in flight (for a mark: before the ACK that echoes
    /// it, whose [`CongestionControl::on_ack`] came first).
    fn on_congestion(&mut self, why: Congestion, win: &mut Window);

    /// A segment with `bytes` of payload leaves.
    fn on_sent(&mut self, _now: SimTime, _bytes: Bytes, _win: &mut Window) {}

    /// A duplicate ACK, before or in recovery.
    fn on_dup_ack(&mut self, _ack: &Ack, _win: &mut Window) {}

    /// Nothing was sent for more than an RTO; something is about to be. @RFC5681 sec. 4.1
    fn on_idle_restart(&mut self, win: &mut Window) {
        win.cwnd = win.cwnd.min(win.initial());
    }

    /// Fast recovery is over. The default is [`Window::deflate`].
    fn on_recovered(&mut self, win: &mut Window) {
        win.deflate();
    }

    /// The last cut was a mistake: cwnd and ssthresh are restored. For what a controller remembers of its own.
    fn on_undo(&mut self, _win: &mut Window) {}

    /// True if the sender is to measure the delivery rate: [`Ack::rate`].
    fn needs_rate(&self) -> bool {
        false
    }

    /// True if each ACK of segments sent once is to tell an RTT ([`Ack::rtt`]), and not one ACK per window.
    fn needs_rtt(&self) -> bool {
        self.needs_rate()
    }

    /// True if cwnd is this controller's business in recovery too: proportional rate reduction and HyStart++ leave it
    /// alone, and marks of ECN are not told.
    fn owns_window(&self) -> bool {
        false
    }

    /// The recovery from losses unless the configuration says otherwise. @RFC6582 by default.
    fn recovery(&self) -> Recovery {
        Recovery::NewReno
    }

    /// The rate segments should leave at; `None`, the default, is as fast as the window allows.
    fn pacing_rate(&self, _win: &Window) -> Option<BitRate> {
        None
    }

    /// Shows inner values.
    fn probe(&self, _out: &mut dyn Probe) {}
}

units::debug_by_name!(CongestionControl);

/// The windows of a sender: some that a controller may set, and others that it may only read.
#[derive(Debug, Clone)]
pub struct Window {
    /// Congestion window. Never left below one segment.
    pub cwnd: Bytes,
    /// Slow-start threshold; `u64::MAX` while unlimited.
    pub ssthresh: Bytes,
    pub(crate) mss: Bytes,
    pub(crate) initial: Bytes,
    pub(crate) flight_size: Bytes,
    pub(crate) in_recovery: bool,
    pub(crate) limited: bool,
    /// The first slow start, if it may end before a loss.
    pub(crate) hystart: Option<Box<HyStart>>,
    /// Losses are known segment by segment.
    pub(crate) selective: bool,
    pub(crate) byte_counting: Option<u8>,
    /// One tick of the timestamp clocks, if there are any.
    pub(crate) timestamp_tick: Dur,
    /// Slow start follows a timeout.
    pub(crate) after_timeout: bool,
    /// Not everything that had been sent at the last timeout is acknowledged.
    pub(crate) timeout_lasts: bool,
    /// Bytes in the network when a loss is found.
    pub(crate) pipe: Bytes,
    /// The RTT of the handshake.
    pub(crate) handshake_rtt: Option<Dur>,
    /// The flight is smaller than it might be, since the application had no more.
    pub(crate) app_limited: bool,
    /// The controller says so itself.
    pub(crate) mark_app_limited: bool,
    /// The part of growth below one byte.
    fraction: f64,
}

impl Window {
    /// An initial window of `segments` segments of `mss`.
    pub fn new(mss: Bytes, segments: u32, ssthresh: Option<Bytes>) -> Window {
        let initial = mss * u64::from(segments);
        Window {
            cwnd: initial,
            ssthresh: ssthresh.unwrap_or(Bytes(u64::MAX)),
            mss,
            initial,
            flight_size: Bytes::ZERO,
            in_recovery: false,
            limited: true,
            hystart: None,
            selective: false,
            byte_counting: None,
            timestamp_tick: Dur::from_ms(1),
            after_timeout: false,
            timeout_lasts: false,
            pipe: Bytes::ZERO,
            handshake_rtt: None,
            app_limited: false,
            mark_app_limited: false,
            fraction: 0.0,
        }
    }

    /// Sets the values that a controller only reads. The sender's to call; public for the tests of controllers.
    pub fn observe(&mut self, flight_size: Bytes, in_recovery: bool) {
        (self.flight_size, self.in_recovery) = (flight_size, in_recovery);
    }

    /// Payload of a full segment: SMSS.
    pub fn mss(&self) -> Bytes {
        self.mss
    }

    /// The initial window, which is also the restart window's bound.
    pub fn initial(&self) -> Bytes {
        self.initial
    }

    /// cwnd in segments.
    pub fn segments(&self) -> f64 {
        self.cwnd / self.mss
    }

    /// One tick of the timestamp clocks: this end's, and the peer's is taken to be the same.
    pub fn timestamp_tick(&self) -> Dur {
        self.timestamp_tick
    }

    /// Bytes in flight; after an ACK, those left of it. New data that limited transmit let out is not counted.
    pub fn flight_size(&self) -> Bytes {
        self.flight_size
    }

    /// True while fast recovery lasts.
    pub fn in_recovery(&self) -> bool {
        self.in_recovery
    }

    /// True while a timeout's repairs last: not all that had been sent at the last one is acknowledged.
    pub fn after_timeout_lasts(&self) -> bool {
        self.timeout_lasts
    }

    /// Bytes in the network as far as the sender knows, lost segments left out. For [`CongestionControl::on_congestion`]
    /// of a loss. @RFC6675 sec. 4, SetPipe
    pub fn pipe(&self) -> Bytes {
        self.pipe
    }

    /// The RTT of the handshake, if it was measured.
    pub fn handshake_rtt(&self) -> Option<Dur> {
        self.handshake_rtt
    }

    /// True while the flight is smaller than it might be, since the application had no more. Known only if
    /// [`CongestionControl::needs_rate`] or recovery is by SACK. @DRAFT-DRE sec. 3.4
    pub fn app_limited(&self) -> bool {
        self.app_limited
    }

    /// Samples of what is in flight now are to be taken as limited by the application: the controller itself keeps it low.
    pub fn mark_app_limited(&mut self) {
        self.mark_app_limited = true;
    }

    /// True while cwnd is below ssthresh. (If equal, either would do; here congestion avoidance.) @RFC5681 sec. 3.1
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// True while growth makes sense: not in recovery, and cwnd is what keeps the sender back.
    pub fn may_grow(&self) -> bool {
        !self.in_recovery && self.limited
    }

    /// The limit L of byte counting in segments, if bytes are counted. @RFC3465
    pub fn byte_counting(&self) -> Option<u8> {
        self.byte_counting
    }

    /// The most that one ACK may add in slow start: a segment, or the limit of byte counting, but never more than a
    /// segment after a timeout: its ACKs cover what had arrived before it. @RFC5681 eq. 2, @RFC3465 sec. 2.3
    pub fn slow_start_limit(&self) -> Bytes {
        let hystart = self.hystart.as_deref().map(HyStart::limit);
        let segments = self.byte_counting.or(hystart).filter(|_| !self.after_timeout).unwrap_or(1);
        self.mss * u64::from(segments)
    }

    /// The divisor of growth in slow start: one, but for the conservative phase of HyStart++. @RFC9406 sec. 4.2
    pub fn slow_start_divisor(&self) -> u64 {
        self.hystart.as_deref().map_or(1, HyStart::divisor)
    }

    /// As [`Window::cut_flight_to`], but cwnd goes down to one segment and never up: the answer to a mark.
    /// @RFC3168 sec. 6.1.2
    pub fn mark_flight_to(&mut self, factor: f64) {
        let before = self.cwnd;
        let flight = Bytes((self.flight_size.0 as f64 * factor) as u64);
        self.ssthresh = flight.max(self.mss * 2);
        self.cwnd = flight.max(self.mss).min(before);
    }

    /// Adds to cwnd; what is below one byte is kept for the next time.
    pub fn grow(&mut self, bytes: f64) {
        let sum = self.fraction + bytes;
        let whole = sum as u64;
        self.fraction = sum - whole as f64;
        self.cwnd = Bytes(self.cwnd.0.saturating_add(whole));
    }

    /// ssthresh becomes `bytes`, at least two segments, and cwnd no more than that: the cut of a controller that knows what the
    /// path holds.
    pub fn cut_to(&mut self, bytes: f64) {
        self.ssthresh = Bytes(bytes as u64).max(self.mss * 2);
        self.cwnd = self.cwnd.min(self.ssthresh);
    }

    /// As [`Window::cut_to`], but cwnd may go down to one segment: the answer to a mark. @RFC3168 sec. 6.1.2
    pub fn mark_to(&mut self, bytes: f64) {
        let before = self.cwnd;
        self.cut_to(bytes);
        self.cwnd = Bytes(bytes as u64).max(self.mss).min(before);
    }

    /// The end of fast recovery: cwnd is ssthresh, less what would leave in one burst since the flight is short (@RFC6582
    /// sec. 3.2 step 3, 1). With SACK there is no such burst (@RFC6675 sec. 5).
    pub fn deflate(&mut self) {
        let burst = if self.selective { Bytes(u64::MAX) } else { self.flight_size.max(self.mss) + self.mss };
        self.cwnd = self.ssthresh.min(burst);
    }

    /// ssthresh and cwnd become `factor` of what is in flight, at least two segments. @RFC5681 eq. 4 for one half
    pub fn cut_flight_to(&mut self, factor: f64) {
        self.ssthresh = Bytes((self.flight_size.0 as f64 * factor) as u64).max(self.mss * 2);
        self.cwnd = self.ssthresh;
    }
}

plugin::registry! { "congestion control", Make:
    "bbr" => bbr,
    "bic" => bic,
    "compound" => compound,
    "cubic" => cubic,
    "h-tcp" => htcp,
    "highspeed" => highspeed,
    "hybla" => hybla,
    "illinois" => illinois,
    "jersey" => jersey,
    "new-jersey" => new_jersey,
    "newreno" => newreno,
    "reno" => reno,
    "scalable" => scalable,
    "tahoe" => tahoe,
    "vegas" => vegas,
    "vegas-dynamic" => vegas_dynamic,
    "veno" => veno,
    "westwood" => westwood,
    "westwood+" => westwood_plus,
    "yeah" => yeah,
}

/// The sender that `interlayer new sender` writes, tested as it stands.
#[cfg(test)]
#[path = "../../../../python/interlayer/templates/sender.rs"]
mod my_sender;
