//! What a scenario is once it has been read: plain data, with node names resolved.

use schemes::Params;
use units::{BitRate, Bytes, Db, Dbm, Dur, Hertz, NodeId};

/// Everything a run needs to know, apart from defaults that belong to other crates (`None`).
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// What reports call it; empty when the file does not say, and then reports take the file's name.
    pub name: String,
    /// Of the whole run, warm-up included. More than zero, at most 10⁶ s.
    pub duration: Dur,
    /// Rates and counters are taken after it; shorter than `duration`.
    pub warmup: Dur,
    /// Of the first run; further replications derive theirs.
    pub seed: u64,
    /// What all radios have in common.
    pub radio: Radio,
    /// Who hears whom, and how well.
    pub channel: Channel,
    /// At least two; [`NodeId`] indexes them. Names are unique.
    pub nodes: Vec<Node>,
    /// Names are unique; no direction is given twice.
    pub links: Vec<Link>,
    /// At least one, names unique.
    pub flows: Vec<Flow>,
    /// In the order of the file, which is the order of the chain.
    pub schemes: Vec<SchemeUse>,
    /// In the order of the file, not of time.
    pub events: Vec<TimedEvent>,
    /// Of nodes without a position; `None`: at the origin.
    pub layout: Option<Layout>,
}

/// `[layout]`: lengths in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    /// On a circle of this radius.
    Star(f64),
    /// On a grid of this spacing.
    Grid(f64),
    /// Anywhere on a disc of this radius.
    Disc(f64),
    /// On a line with this spacing.
    Line(f64),
}

/// Which entry of the file something comes from: one entry may make several. Two scenarios that mean the same are equal,
/// however they are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry(pub usize);

impl PartialEq for Entry {
    fn eq(&self, _: &Entry) -> bool {
        true
    }
}

/// `[radio]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Radio {
    /// Which amendment.
    pub standard: Standard,
    /// Of data frames, unless a node has its own.
    pub data_rate: BitRate,
    /// The only basic rate; `None`: all mandatory rates of the standard.
    pub basic_rate: Option<BitRate>,
    /// Of ACK and CTS.
    pub control_rate: ControlRate,
    /// Of DSSS and CCK rates; `None` for 802.11a, which has neither.
    pub preamble: Option<Preamble>,
    /// Size of the MPDU above which RTS/CTS is used; `None`: never.
    pub rts_threshold: Option<Bytes>,
    /// Which MSDUs may use it.
    pub rts_for: RtsFor,
    /// Transmissions in all of a frame up to the RTS threshold.
    pub max_attempts: u8,
    /// Transmissions in all of a frame above it, once its RTS was answered.
    pub max_attempts_long: u8,
    /// When the backoff after an unanswered frame begins to count down.
    pub after_timeout: AfterTimeout,
    /// In slots; `None`: the standard's.
    pub cw_min: Option<u16>,
    /// In slots; `None`: the standard's.
    pub cw_max: Option<u16>,
    /// `Some` for 802.11g, the only one with a choice.
    pub slot: Option<Slot>,
    /// Interface queue of every station, one for each access category.
    pub queue: Queue,
    /// Where powers decide ([`Channel::propagation`]).
    pub levels: Levels,
    /// When a frame queued in an interframe gap draws a backoff; `None`: as the access method has it.
    pub access_in_gap: Option<AccessInGap>,
    /// Whether the boundary that ends AIFS counts; `None`: as the access method has it.
    pub countdown: Option<Access>,
}

/// Powers and thresholds of radios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Energy at which the medium is busy at once. @80211-2020 17.3.10.6
    pub cca_ed: Dbm,
    /// Until a weaker preamble is sensed. @80211-2020 17.3.10.6
    pub cca_preamble_latency: Dur,
    /// Least SINR of a preamble to lock on.
    pub preamble_sinr: Db,
    /// How much stronger a later frame must be to be taken instead: than one that could be decoded, than one that could
    /// not. `None`: never.
    pub capture: Option<(Db, Db)>,
}

/// How a station accesses the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// One queue.
    Dcf,
    /// A queue and a backoff for each access category.
    Edca,
}

/// Readings of immediate access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessInGap {
    /// @80211-2016 10.3.4.2
    DcfLetter,
    /// @80211-2016 10.22.2.2
    EdcaLetter,
    /// Always a backoff.
    AlwaysDraw,
}

/// Parameters of an access category; `None`: the standard's.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Category {
    /// Slots of AIFS beyond SIFS.
    pub aifsn: Option<u8>,
    /// In slots.
    pub cw_min: Option<u16>,
    /// In slots.
    pub cw_max: Option<u16>,
    /// Zero: one exchange.
    pub txop_limit: Option<Dur>,
}

/// The amendments whose rates and timing are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// The DSSS radio of 1997.
    Dot11,
    /// CCK.
    Dot11b,
    /// OFDM at 5 GHz.
    Dot11a,
    /// ERP-OFDM with the rates of 802.11b.
    Dot11g,
}

/// When the backoff after an unanswered frame begins to count down; see `mac::AfterTimeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterTimeout {
    /// At the timeout, if a DIFS of idle has passed by then.
    Letter,
    /// A DIFS after the timeout.
    FreshIfs,
    /// An EIFS after the end of the frame.
    Eifs,
}

/// Rate of ACK and CTS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlRate {
    /// The highest basic rate not above that of the frame they answer.
    Basic,
    /// This one, always.
    Fixed(BitRate),
}

/// PHY preamble of DSSS and CCK rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// 144 + 48 us.
    Long,
    /// 72 + 24 us; frames at 1 Mb/s keep the long one.
    Short,
}

/// Which MSDUs may be preceded by RTS/CTS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RtsFor {
    /// Any above the threshold.
    All,
    /// Those that carry TCP or UDP payload.
    Data,
}

/// Slot time of 802.11g.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// 9 us.
    Short,
    /// 20 us, as 802.11b.
    Long,
}

/// A queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// What it holds.
    pub limit: QueueLimit,
    /// What becomes of packets before it is full.
    pub discipline: Discipline,
}

/// What becomes of packets before a queue is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Discipline {
    /// Nothing.
    DropTail,
    /// Random early detection. @FJ93
    Red {
        /// In packets, or in bytes where the limit is.
        min_th: f64,
        /// More than `min_th`.
        max_th: f64,
        /// More than zero.
        max_p: f64,
        /// More than zero.
        weight: f64,
        /// From `max_p` to 1 between `max_th` and twice that.
        gentle: bool,
        /// Mark rather than drop.
        ecn: bool,
    },
}

/// What a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// At least one.
    Packets(u32),
    /// At least the largest datagram of any flow.
    Bytes(Bytes),
}

/// `[channel]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Reach of every station in metres; `None`: everyone hears everyone.
    pub range_m: Option<f64>,
    /// Between all pairs that have none of their own.
    pub errors: ErrorSpec,
    /// Exceptions; no direction of a pair is given twice.
    pub pairs: Vec<Pair>,
    /// `None`: a pair is in reach or not.
    pub propagation: Option<Propagation>,
}

/// What becomes of powers between antennas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Propagation {
    /// By distance.
    pub loss: PathLoss,
    /// Standard deviation of log-normal shadowing.
    pub shadowing: Db,
    /// Coherence time of Rayleigh fading.
    pub coherence: Option<Dur>,
    /// At receivers.
    pub noise: Noise,
}

/// Path loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathLoss {
    /// Friis.
    FreeSpace {
        /// Of the carrier.
        frequency: Hertz,
    },
    /// A power of the distance.
    LogDistance {
        /// Of the distance.
        exponent: f64,
        /// In metres.
        reference_m: f64,
        /// At that distance.
        reference_loss: Db,
    },
    /// Free space, and the fourth power beyond the cross-over distance.
    TwoRayGround {
        /// Of the carrier.
        frequency: Hertz,
        /// Of all antennas, in metres.
        height_m: f64,
    },
    /// As [`Pair::gain`] says.
    Matrix,
}

/// Noise at receivers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Thermal, and what the receiver adds.
    Figure(Db),
    /// As stated.
    Level(Dbm),
}

/// `[[channel.pair]]`: an exception for one pair of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The transmitter.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// Written with `between`: it holds for the other direction too.
    pub both_ways: bool,
    /// Whether `to` hears `from`; `None`: as their distance says.
    pub reach: Option<bool>,
    /// `None`: as the propagation model has it.
    pub gain: Option<Db>,
    /// `None`: the channel's.
    pub errors: Option<ErrorSpec>,
}

/// How frames are lost to noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ErrorSpec {
    /// Never.
    None,
    /// With a fixed probability, whatever their length.
    Packet {
        /// Of data frames.
        per: f64,
        /// Of RTS, CTS and ACK.
        control_per: f64,
        /// Where it is drawn.
        at: ErrorAt,
    },
    /// Independent bit errors.
    Bit {
        /// Probability that a bit is wrong.
        ber: f64,
        /// RTS, CTS and ACK are hit too.
        control: bool,
        /// Where it is drawn.
        at: ErrorAt,
    },
    /// Gilbert and Elliott's two states.
    TwoState {
        /// Losses in the good state.
        good: StateError,
        /// Losses in the bad state.
        bad: StateError,
        /// How long a state lasts.
        sojourn: Sojourn,
        /// What has a state of its own.
        shared: Shared,
        /// RTS, CTS and ACK are hit too.
        control: bool,
        /// Where it is drawn.
        at: ErrorAt,
    },
}

/// Where an error is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorAt {
    /// For each transmission: the MAC retries it.
    Attempt,
    /// Once for the MSDU: every attempt fails and the MAC gives up.
    Msdu,
}

/// Losses within one state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StateError {
    /// Of frames.
    Per(f64),
    /// Of bits.
    Ber(f64),
}

/// Mean stay in each of two states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sojourn {
    /// Exponential, in time.
    Time {
        /// In the good state; more than zero.
        mean_good: Dur,
        /// In the bad state; more than zero.
        mean_bad: Dur,
    },
    /// Geometric, in frames.
    Frames {
        /// In the good state; at least one.
        mean_good: f64,
        /// In the bad state; at least one.
        mean_bad: f64,
    },
}

/// What has a state of its own in a two-state model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// A pair: both directions are good or bad together.
    Link,
    /// Each direction.
    Direction,
}

/// `[[node]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Unique.
    pub name: String,
    /// Which entry of the file made it.
    pub entry: Entry,
    /// In metres; `None`: as the layout says. Meaningless without a radio.
    pub position_m: Option<[f64; 2]>,
    /// Transmit power, antenna gains included.
    pub tx_power: Dbm,
    /// How it accesses the medium.
    pub access: Access,
    /// BK, BE, VI, VO under EDCA.
    pub categories: [Category; 4],
    /// Whether it has one.
    pub has_radio: bool,
    /// What it is in its cell.
    pub role: Role,
    /// Of the data frames it sends: its own, or the radio's.
    pub data_rate: BitRate,
    /// Between reception and the stack's answer.
    pub host_delay: Dur,
}

/// What a node is in its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A station.
    Station,
    /// An access point: all frames of its stations go to it or come from it.
    Ap,
}

/// `[[link]]`: a wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Unique; `link<index>` by default.
    pub name: String,
    /// The sender.
    pub from: NodeId,
    /// The receiver, another node.
    pub to: NodeId,
    /// Written with `between`: the same in the other direction too.
    pub both_ways: bool,
    /// Of IP bytes, more than zero.
    pub rate: BitRate,
    /// From the end of a packet's transmission to its arrival.
    pub delay: Dur,
    /// Probability that a packet is lost on the way.
    pub loss: f64,
    /// Of each direction.
    pub queue: Queue,
}

impl Link {
    /// The directions it has.
    pub fn directions(&self) -> impl Iterator<Item = (NodeId, NodeId)> + use<> {
        [(self.from, self.to)].into_iter().chain(self.both_ways.then_some((self.to, self.from)))
    }
}

/// `[[flow]]`: one connection or stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Which entry of the file made it.
    pub entry: Entry,
    /// Differentiated services codepoint of its packets, both ways.
    pub dscp: u8,
    /// Unique; `flow<index>` by default.
    pub name: String,
    /// Opens the connection and sends.
    pub from: NodeId,
    /// Another node.
    pub to: NodeId,
    /// Before the end of the run.
    pub start: Dur,
    /// After `start`, at most the run's duration.
    pub stop: Dur,
    /// TCP or UDP.
    pub transport: Transport,
    /// What `from` writes. One that the transport can carry.
    pub traffic: Traffic,
    /// What `to` writes on the same TCP connection; [`Traffic::None`] for UDP.
    pub reverse: Traffic,
    /// How the application at `to` reads; [`Reader::Instant`] for UDP.
    pub reader: Reader,
    /// Whether the spacing of its ACKs is measured; never for UDP.
    pub ack_gaps: bool,
}

/// How a flow is carried.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // One per flow, read once.
pub enum Transport {
    /// Over a TCP connection.
    Tcp(TcpSpec),
    /// In UDP datagrams.
    Udp(UdpSpec),
}

impl Transport {
    /// IP datagram of a full segment or UDP message.
    pub fn datagram(&self) -> Bytes {
        match self {
            Transport::Tcp(tcp) => tcp.datagram,
            Transport::Udp(udp) => udp.datagram,
        }
    }
}

/// `transport = { protocol = "tcp" }`. `None`: as `tcp::Config` has it.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpSpec {
    /// IP datagram of a full segment: 40 B of headers and the options included.
    pub datagram: Bytes,
    /// One of [`super::Names::congestion`].
    pub congestion: Option<String>,
    /// One of [`super::Names::receivers`].
    pub receiver: Option<String>,
    /// Of the delayed acknowledgement.
    pub delayed_ack_timeout: Option<Dur>,
    /// Segments per acknowledgement.
    pub delayed_ack_count: Option<u8>,
    /// In segments.
    pub initial_window: Option<u32>,
    /// Of slow start.
    pub initial_ssthresh: Option<Ssthresh>,
    /// The sender's own limit in segments; `None`: none.
    pub max_window: Option<u32>,
    /// At the sender.
    pub send_buffer: Option<Bytes>,
    /// At the receiver.
    pub receive_buffer: Option<Bytes>,
    /// Least retransmission timeout.
    pub min_rto: Option<Dur>,
    /// Before the first RTT sample, the SYN's included.
    pub initial_rto: Option<Dur>,
    /// Greatest retransmission timeout.
    pub max_rto: Option<Dur>,
    /// Of the clock that measures RTT and fires the RTO.
    pub granularity: Option<Dur>,
    /// Small writes wait for an acknowledgement.
    pub nagle: Option<bool>,
    /// RFC 7323.
    pub timestamps: Option<bool>,
    /// RFC 2018.
    pub sack: Option<bool>,
    /// RFC 7323.
    pub window_scale: Option<WindowScale>,
    /// RFC 3168.
    pub ecn: Option<bool>,
    /// RFC 3042.
    pub limited_transmit: Option<bool>,
    /// Whether the RTT of the SYN is a sample.
    pub handshake_rtt: Option<bool>,
    /// `None`: drawn from the seed.
    pub initial_sequence: Option<u32>,
}

/// Slow-start threshold at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ssthresh {
    /// Slow start until the first loss.
    Unlimited,
    /// Up to this window.
    Bytes(Bytes),
}

/// The window scale option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowScale {
    /// Not offered.
    Off,
    /// The least that can tell the whole receive buffer.
    Auto,
    /// This shift, 0 to 14.
    Shift(u8),
}

/// `transport = { protocol = "udp" }`.
#[derive(Debug, Clone, PartialEq)]
pub struct UdpSpec {
    /// 28 B of headers included.
    pub datagram: Bytes,
}

/// What an application writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Traffic {
    /// Nothing.
    None,
    /// As much as TCP takes.
    Bulk {
        /// Then it closes; `None`: it never ends.
        bytes: Option<Bytes>,
    },
    /// At a constant rate of UDP payload or TCP bytes.
    Cbr {
        /// More than zero.
        rate: BitRate,
    },
    /// The same on average, at exponential intervals.
    Poisson {
        /// More than zero.
        rate: BitRate,
    },
    /// UDP: the interface queue never runs empty.
    Saturated,
    /// TCP application writes.
    Chunks {
        /// Of one write; more than zero.
        size: Bytes,
        /// More than zero.
        every: Dur,
    },
}

/// How an application reads what TCP received.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reader {
    /// Everything at once.
    Instant,
    /// At a constant rate.
    Rate(BitRate),
    /// Instantly during `on`, not at all during `off`.
    OnOff {
        /// More than zero.
        on: Dur,
        /// More than zero.
        off: Dur,
    },
}

/// `[[scheme]]`: one cross-layer system, and where it sits.
#[derive(Debug, Clone)]
pub struct SchemeUse {
    /// One of [`super::Names::schemes`].
    pub name: &'static str,
    /// `None`: wherever the scheme sits. Never empty, no node twice.
    pub at: Option<Vec<NodeId>>,
    /// All that the scheme declares: what the file sets, and defaults.
    pub params: Params,
}

impl PartialEq for SchemeUse {
    fn eq(&self, other: &SchemeUse) -> bool {
        self.name == other.name && self.at == other.at && self.params.iter().eq(other.params.iter())
    }
}

/// `[[event]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedEvent {
    /// Not after the end of the run.
    pub at: Dur,
    /// What happens.
    pub what: EventKind,
}

/// What happens at an instant of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The node falls silent: radio, wires, stack, timers.
    Kill(NodeId),
}

impl Standard {
    /// As the file spells it.
    pub fn word(self) -> &'static str {
        match self {
            Standard::Dot11 => "802.11",
            Standard::Dot11b => "802.11b",
            Standard::Dot11a => "802.11a",
            Standard::Dot11g => "802.11g",
        }
    }

    /// Its data rates, ascending, in kb/s. @80211-2020 15.2.3, 16.3, 17.2.3, 18
    pub fn rates_kbps(self) -> &'static [u64] {
        match self {
            Standard::Dot11 => &[1000, 2000],
            Standard::Dot11b => &[1000, 2000, 5500, 11000],
            Standard::Dot11a => &[6000, 9000, 12000, 18000, 24000, 36000, 48000, 54000],
            Standard::Dot11g => &[1000, 2000, 5500, 6000, 9000, 11000, 12000, 18000, 24000, 36000, 48000, 54000],
        }
    }
}
