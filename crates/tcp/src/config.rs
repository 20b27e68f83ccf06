//! Every parameter of an endpoint, its default and where the default comes from.

use crate::{ack, cc, recovery};
use plugin::{Chosen, Params};
use units::{Bytes, Dur};
use wire::Seq;

/// The parameters of one end. The default is a plain RFC host with nothing optional on: what the papers compare with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Largest payload of a segment this end takes, announced in the SYN, and sends; options count against it. Default
    /// 1460 B, a datagram of 1500 B less two headers. @RFC9293 sec. 3.7.1
    pub mss: u16,
    /// The congestion control. Default NewReno. See [`cc::registry`].
    pub congestion: Chosen<cc::Make>,
    /// The repair of losses. Default `None`: as the controller does by itself, or by SACK if both ends agreed on that. See
    /// [`recovery::registry`].
    pub recovery: Option<Chosen<recovery::Make>>,
    /// Proportional rate reduction: while SACK recovery lasts, and after a mark of ECN for a round trip. Default off. @RFC9937
    pub prr: bool,
    /// Losses by time, not by count, in SACK recovery. Default off. @RFC8985 sec. 6
    pub rack: bool,
    /// A probe for a loss at the tail, in SACK recovery. Default off. @RFC8985 sec. 7
    pub tlp: bool,
    /// The detection of a spurious loss, whose cut is then undone. Default none. @RFC3522, @RFC3708, @RFC5682, @RFC4015
    pub undo: Undo,
    /// HyStart++: the first slow start ends when the RTT rises. Default off. @RFC9406
    pub hystart: bool,
    /// Segments leave at a rate and not in bursts, also if the controller names none: a window per RTT, times 2 in slow start
    /// and 1.2 after it. Default off.
    pub pacing: bool,
    /// The receiver's acknowledgment policy. Default delayed. See [`ack::registry`].
    pub ack_policy: Chosen<ack::Make>,
    /// Initial window in segments. Default 2; @RFC5681 eq. 1 allows 3 for this MSS, @RFC6928 10, the papers use 1 or 2.
    pub initial_window_segments: u32,
    /// Initial slow-start threshold; `None` (default) is "arbitrarily high". @RFC5681 sec. 3.1
    pub initial_ssthresh: Option<Bytes>,
    /// The sender's own limit on what is in flight, in segments (`window_` of ns-2, where it is 20). Default none.
    pub max_window_segments: Option<u32>,
    /// Bytes sent and not acknowledged, or written and not sent, that this end can hold; at least one segment. Default
    /// 131072 B, as ns-3.
    pub send_buffer: Bytes,
    /// Bytes received that this end can hold. Default 65535 B, the largest window without scaling.
    pub receive_buffer: Bytes,
    /// Least RTO. Default 1 s, @RFC6298 (2.4); ns-2 and Linux 0.2 s.
    pub min_rto: Dur,
    /// True if the handshake's RTT is a sample. Default on, as every host does. Off, the first RTO of data is `initial_rto`:
    /// ns-3 of 2011 times data alone, and its delayed ACK of a first lone segment does not meet an RTO as short.
    pub handshake_rtt: bool,
    /// RTO before the first sample. Default 1 s, @RFC6298 (2.1); 3 s before 2011 (@RFC2988) and in all ns-3.
    pub initial_rto: Dur,
    /// Largest RTO, backoff included. Default 60 s, @RFC6298 (2.5).
    pub max_rto: Dur,
    /// Clock granularity G: least variance term of the RTO. Default 10 ms; OPNET and BSD 500 ms. @RFC6298 (2.2)
    pub granularity: Dur,
    /// Longest delay of an ACK, from the first segment not acknowledged. Default 200 ms; at most 500 ms.
    /// @RFC1122 4.2.3.2
    pub delayed_ack_timeout: Dur,
    /// Segments after which a delayed ACK goes out. Default 2, the most @RFC5681 sec. 4.2 allows.
    pub delayed_ack_count: u32,
    /// Quick ACKs as in Linux: the first 16 segments of a stream, after a pause of an RTO and after a duplicate are
    /// acknowledged at once; then the delay of an ACK follows the gaps between segments, from 40 ms to the greater of that and
    /// the RTT, and at most `delayed_ack_timeout`. For the policy `delayed-ack`. Default off: the first segment waits as well.
    pub quickack: bool,
    /// Nagle's algorithm. Default on, @RFC896, @RFC9293 sec. 3.7.4.
    pub nagle: bool,
    /// Offer timestamps, and use them if the peer does. Default off. @RFC7323 sec. 3
    pub timestamps: bool,
    /// One tick of the timestamp clock, from 1 us to 1 s. Default 1 ms; @RFC7323 sec. 5.4 has at least that.
    pub timestamp_tick: Dur,
    /// Offer SACK, and use it if the peer does: the receiver reports what lies beyond a gap and what came twice, and unless
    /// `recovery` says otherwise (or the controller is Tahoe) the sender repairs what is missing. Default off. @RFC2018, @RFC2883
    pub sack: bool,
    /// Offer this shift count. Default none: no scaling. @RFC7323 sec. 2
    pub window_scale: Option<u8>,
    /// Send a new segment on each of the first two duplicate ACKs. Default off. @RFC3042
    pub limited_transmit: bool,
    /// Count bytes, not ACKs, with this limit L in segments. Default none: one step per ACK, @RFC5681 eq. 2 and 3, as
    /// ns-2 and ns-3 do; `Some(2)` is @RFC3465.
    pub byte_counting: Option<u8>,
    /// Growth counts what an ACK of new data newly delivers, in SACK recovery: what it acknowledges or SACKs and no ACK has before. Default
    /// off: what it acknowledges, of which limited transmit has had its answer already. As Linux (tcp_cong_avoid).
    pub count_delivered: bool,
    /// Duplicate ACKs that make a loss. Default 3. @RFC5681 sec. 3.2
    pub dup_ack_threshold: u32,
    /// After an idle RTO fall back to the initial window. Default on. @RFC5681 sec. 4.1
    pub idle_restart: bool,
    /// Let cwnd grow only while it is what limits the sender: while it was full in the last round trip, or in slow start more
    /// than half full. Default on, as Linux; @RFC5681 says nothing.
    pub validate_cwnd: bool,
    /// Initial send sequence number. Default 0. See [`crate::Connection::set_initial_sequence`].
    pub initial_sequence: Seq,
    /// A segment that the queue of the own host refuses was not sent: it goes later, and the window is cut as for a mark, once a window of
    /// data. Default off: it is lost, and the network's loss. As Linux (tcp_transmit_skb). See [`crate::Input::Refused`].
    pub local_congestion: bool,
    /// The data that may wait in the queues of the own host. Default off: as much as the window lets go. See [`crate::Input::Queued`].
    pub small_queue: SmallQueue,
    /// Offer ECN, and use it if the peer does: data is sent as [`crate::Output::Segment`] `ect`, marks are echoed and
    /// answered. A repeated SYN offers it again. Default off. @RFC3168 sec. 6.1
    pub ecn: bool,
    /// The time that TIME-WAIT lasts. Default 60 s, as Linux; @RFC9293 says 2 MSL = 240 s.
    pub time_wait: Dur,
    /// The number of times that a SYN (or SYN-ACK) is sent again. Default 6, as Linux.
    pub syn_retries: u32,
    /// R2: how often the same segment is sent again by timer before the connection fails. Default 15, as Linux.
    /// @RFC9293 sec. 3.8.3
    pub max_retries: u32,
    /// The time for which data may stay unacknowledged before the connection fails, however often it was sent again. Probes of a
    /// closed window that the peer answers do not count. Default none. @RFC9293 sec. 3.9.1.1, @RFC5482
    pub user_timeout: Option<Dur>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mss: 1460,
            congestion: Chosen { info: &cc::newreno::INFO, plugin: cc::newreno::make, params: Params::default() },
            recovery: None,
            prr: false,
            rack: false,
            tlp: false,
            undo: Undo::None,
            hystart: false,
            pacing: false,
            ack_policy: Chosen { info: &ack::delayed::INFO, plugin: ack::delayed::make, params: Params::default() },
            initial_window_segments: 2,
            initial_ssthresh: None,
            max_window_segments: None,
            send_buffer: Bytes(131_072),
            receive_buffer: Bytes(65_535),
            min_rto: Dur::from_secs(1),
            handshake_rtt: true,
            initial_rto: Dur::from_secs(1),
            max_rto: Dur::from_secs(60),
            granularity: Dur::from_ms(10),
            delayed_ack_timeout: Dur::from_ms(200),
            delayed_ack_count: 2,
            quickack: false,
            nagle: true,
            timestamps: false,
            timestamp_tick: Dur::from_ms(1),
            sack: false,
            window_scale: None,
            limited_transmit: false,
            byte_counting: None,
            count_delivered: false,
            dup_ack_threshold: 3,
            idle_restart: true,
            validate_cwnd: true,
            initial_sequence: Seq(0),
            local_congestion: false,
            small_queue: SmallQueue::Off,
            ecn: false,
            time_wait: Dur::from_secs(60),
            syn_retries: 6,
            max_retries: 15,
            user_timeout: None,
        }
    }
}

/// The means to find out spurious losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undo {
    /// None.
    #[default]
    None,
    /// Timestamps (@RFC3522) and, with SACK recovery, reported duplicates (@RFC3708).
    Eifel,
    /// For timeouts, the ACKs that follow them (@RFC5682); with SACK recovery, reported duplicates too.
    FRto,
    /// All of these, as Linux.
    All,
}

/// The limit of the data that a connection keeps in the queues of its own host (TCP small queues).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SmallQueue {
    /// None.
    #[default]
    Off,
    /// As Linux: two packets, each with the data of 2^-10 s at the pacing rate, of 2^-7 s by radio.
    Linux,
    /// The same with 2^-shift s.
    Shift(u8),
}

impl Undo {
    pub(crate) fn by_timestamps(self) -> bool {
        matches!(self, Undo::Eifel | Undo::All)
    }

    pub(crate) fn by_acks(self) -> bool {
        matches!(self, Undo::FRto | Undo::All)
    }
}

/// The reason why a configuration cannot work. The message names the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Beyond what a shift can mean.
    #[error("window_scale: {0} is more than 14")]
    WindowScale(u8),
    /// Beyond 1 GiB, the largest window that sequence numbers allow.
    #[error("{0}: more than 1 GiB")]
    Buffer(&'static str),
    /// A parameter that must be at least one is zero.
    #[error("{0}: must not be zero")]
    Zero(&'static str),
    /// A timestamp clock that wraps within a round trip, or is slower than any RTT.
    #[error("timestamp_tick: {0} is not between 1 us and 1 s")]
    Tick(Dur),
    /// SACK recovery without SACK.
    #[error("recovery: \"sack\" needs sack = true")]
    Recovery,
    /// A mechanism that works by a scoreboard, without one.
    #[error("{0}: needs sack = true and recovery = \"sack\"")]
    Sack(&'static str),
    /// Nothing would tell that a loss was none.
    #[error("undo: \"eifel\" needs timestamps = true, or sack = true")]
    Eifel,
    /// `min_rto` above `max_rto`.
    #[error("min_rto: {min} is more than max_rto, {max}")]
    Rto {
        /// The lower bound.
        min: Dur,
        /// The upper bound.
        max: Dur,
    },
}

/// Largest window: sequence numbers compare only within 2³¹. @RFC7323 sec. 2.3
const MAX_BUFFER: Bytes = Bytes(1 << 30);

impl Config {
    /// The part of it that a receiver policy is made with.
    pub fn delay(&self) -> ack::Delay {
        ack::Delay { timeout: self.delayed_ack_timeout, count: self.delayed_ack_count, quickack: self.quickack }
    }

    /// True if recovery is by SACK, once both ends agree on it.
    fn wants_scoreboard(&self) -> bool {
        match &self.recovery {
            Some(chosen) => (chosen.plugin)(&chosen.params).evidence() == recovery::Evidence::Scoreboard,
            None => (self.congestion.plugin)(&self.congestion.params).recovery() != cc::Recovery::Tahoe,
        }
    }

    /// True if [`crate::Input::Queued`] and [`crate::Input::Left`] mean something.
    pub fn counts_queued(&self) -> bool {
        self.small_queue != SmallQueue::Off
    }

    /// True if losses are repaired by a scoreboard, once the peer agrees on SACK: `prr`, `rack` and `tlp` need it.
    pub fn repairs_by_sack(&self) -> bool {
        self.sack && self.wants_scoreboard()
    }

    /// Checks that a connection can be made of it. [`crate::Connection::open`] and `listen` assume so.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.mss == 0 {
            return Err(ConfigError::Zero("mss"));
        }
        if let Some(shift @ 15..) = self.window_scale {
            return Err(ConfigError::WindowScale(shift));
        }
        for (name, size) in [("send_buffer", self.send_buffer), ("receive_buffer", self.receive_buffer)] {
            if size > MAX_BUFFER {
                return Err(ConfigError::Buffer(name));
            }
        }
        let zero = [
            ("receive_buffer", self.receive_buffer == Bytes::ZERO),
            ("initial_window_segments", self.initial_window_segments == 0),
            ("max_window_segments", self.max_window_segments == Some(0)),
            ("initial_rto", self.initial_rto == Dur::ZERO),
            ("min_rto", self.min_rto == Dur::ZERO),
            ("delayed_ack_count", self.delayed_ack_count == 0),
            ("byte_counting", self.byte_counting == Some(0)),
            ("dup_ack_threshold", self.dup_ack_threshold == 0),
            ("user_timeout", self.user_timeout == Some(Dur::ZERO)),
        ];
        if let Some((name, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(ConfigError::Zero(name));
        }
        if !(Dur::from_us(1)..=Dur::from_secs(1)).contains(&self.timestamp_tick) {
            return Err(ConfigError::Tick(self.timestamp_tick));
        }
        let wanted = self.wants_scoreboard();
        if self.recovery.is_some() && wanted && !self.sack {
            return Err(ConfigError::Recovery);
        }
        let needs = [("prr", self.prr), ("rack", self.rack), ("tlp", self.tlp)];
        if let Some((name, _)) = needs.into_iter().find(|(_, on)| *on && !(wanted && self.sack)) {
            return Err(ConfigError::Sack(name));
        }
        if self.undo == Undo::Eifel && !self.timestamps && !self.sack {
            return Err(ConfigError::Eifel);
        }
        if self.min_rto > self.max_rto {
            return Err(ConfigError::Rto { min: self.min_rto, max: self.max_rto });
        }
        Ok(())
    }
}
