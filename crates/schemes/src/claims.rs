//! The claims of a scheme at a node: recorded while it is installed, listed to users and checked in debug builds.

/// A position on a packet's path through a node. Positions, not roles: a station, a relay and an access point have the
/// same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Leaving this node's own transport.
    FromHost,
    /// About to reach it.
    ToHost,
    /// Being forwarded: for somebody else, between reception and the next transmission.
    Transit,
    /// About to be queued at the radio, from this host or forwarded.
    ToAir,
    /// Just received by the radio, for this host or to be forwarded.
    FromAir,
}

impl Place {
    /// All of them.
    pub const ALL: [Place; 5] = [Place::FromHost, Place::ToHost, Place::Transit, Place::ToAir, Place::FromAir];
    /// The number of places.
    pub const COUNT: usize = Place::ALL.len();

    /// True where packets move away from the host: agents are asked in the file's order there, elsewhere in reverse.
    pub const fn is_outward(self) -> bool {
        matches!(self, Place::FromHost | Place::Transit | Place::ToAir)
    }
}

/// A signal that a scheme may read besides the packets at the places it listens at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Reports of the MAC on the final fate of MSDUs. [`crate::Seat::reports`]
    TxReport,
    /// Reports on each failed attempt as well. [`crate::Seat::attempts`]
    TxAttempt,
    /// Headers of TCP. A scheme without it works on encrypted traffic. [`crate::Site::reads_tcp`]
    TcpHeader,
    /// State of TCP connections that end at this node. [`crate::Seat::facts`]
    FlowFacts,
    /// Free room of the transmit queue. [`crate::Seat::room`]
    QueueRoom,
    /// Announcements of neighbours when they associated. [`crate::Site::announce`]
    Capabilities,
    /// MAC options of received frames. [`crate::Seat::reads_options`]
    MacOptions,
    /// Mean powers of stations at their access point. [`crate::Site::powers`]
    Powers,
    /// Packets that a wire lost behind this node. [`crate::Seat::wire_losses`]
    WireLoss,
}

impl Signal {
    /// All of them.
    pub const ALL: [Signal; 9] = [
        Signal::TxReport,
        Signal::TxAttempt,
        Signal::TcpHeader,
        Signal::FlowFacts,
        Signal::QueueRoom,
        Signal::Capabilities,
        Signal::MacOptions,
        Signal::Powers,
        Signal::WireLoss,
    ];
}

/// A control that a scheme may turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Packets of its own, packets withheld, held back or ended. [`crate::Seat::makes_packets`]
    Packets,
    /// Flag bits of TCP. [`crate::Seat::rewrites`]
    TcpFlags,
    /// Sequence and acknowledgment numbers of TCP. [`crate::Seat::rewrites`]
    TcpNumbers,
    /// Options of TCP. [`crate::Seat::rewrites`]
    TcpOptions,
    /// The advertised window. [`crate::Seat::rewrites`]
    Rwnd,
    /// Commands to TCP senders at this node. [`crate::Seat::commands`]
    Sender,
    /// MAC options of frames sent. [`crate::Seat::writes_options`]
    MacOptions,
    /// The RTT measurement of TCP senders at this node, and their response to a loss. [`crate::Site::hook_sender`]
    SenderHook,
    /// The access category of a packet. [`crate::Site::classify`]
    Classifier,
    /// Parameters of the radio: categories, contention windows, rates, transmit power. [`crate::Site::radio`]
    Radio,
    /// Interframe space, rate and power of each frame. [`crate::Site::transmit`]
    Transmit,
    /// The transmit queue and its order of retransmission. [`crate::Site::wrap_queue`]
    TxQueue,
    /// The sequence of frames in an exchange, and responses. [`crate::Site::wrap_plan`]
    Plan,
    /// The mode of each data frame. [`crate::Site::rate_control`]
    RateControl,
    /// The MPDUs that share a PSDU, and their acknowledgment. [`crate::Site::acknowledge`]
    AckPolicy,
    /// The response to data received, and its delivery to the host. [`crate::Site::receive`]
    Recipient,
    /// Packets that ride in Block Acks. [`crate::Site::load_block_acks`]
    Piggyback,
    /// Something that only one scheme of a node can hold. [`crate::Site::exclusive`]
    Exclusive,
    /// TCP connections that lead through this node: it ends them here. [`crate::Site::ends_connections`]
    Connections,
    /// The weights of routes, by measurements of links. [`crate::Seat::feeds_routes`]
    Routes,
}

impl Port {
    /// All of them.
    pub const ALL: [Port; 20] = [
        Port::Packets,
        Port::TcpFlags,
        Port::TcpNumbers,
        Port::TcpOptions,
        Port::Rwnd,
        Port::Sender,
        Port::MacOptions,
        Port::SenderHook,
        Port::Classifier,
        Port::Radio,
        Port::Transmit,
        Port::TxQueue,
        Port::Plan,
        Port::RateControl,
        Port::AckPolicy,
        Port::Recipient,
        Port::Piggyback,
        Port::Exclusive,
        Port::Connections,
        Port::Routes,
    ];
}

/// A part of a TCP header that an agent may rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Flag bits.
    Flags,
    /// Sequence and acknowledgment number.
    Numbers,
    /// Options.
    Options,
    /// The advertised window.
    Window,
}

impl Field {
    /// The port that rewriting it turns.
    pub(crate) const fn port(self) -> Port {
        match self {
            Field::Flags => Port::TcpFlags,
            Field::Numbers => Port::TcpNumbers,
            Field::Options => Port::TcpOptions,
            Field::Window => Port::Rwnd,
        }
    }
}

/// The claims of one scheme at one node, or of one of its seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    /// The scheme's id.
    pub scheme: &'static str,
    sits: u8,
    reads: u16,
    turns: u32,
    /// It cannot work without what only our own TCP ends tell.
    own_tcp: bool,
}

impl Claims {
    /// Nothing yet.
    pub const fn none(scheme: &'static str) -> Claims {
        Claims { scheme, sits: 0, reads: 0, turns: 0, own_tcp: false }
    }

    pub(crate) fn sit(&mut self, place: Place) {
        self.sits |= 1 << place as u8;
    }

    pub(crate) fn read(&mut self, signal: Signal) {
        self.reads |= 1 << signal as u16;
    }

    pub(crate) fn turn(&mut self, port: Port) {
        self.turns |= 1 << port as u32;
    }

    pub(crate) fn need_own_tcp(&mut self) {
        self.own_tcp = true;
    }

    /// True if it works beside our own TCP ends alone, and not where those of an operating system are at its node: it commands senders,
    /// hooks into them, or asks for their state and cannot do without.
    pub const fn needs_own_tcp(&self) -> bool {
        self.own_tcp || self.turns(Port::Sender) || self.turns(Port::SenderHook)
    }

    /// Returns the claims of both.
    #[must_use]
    pub const fn with(self, other: Claims) -> Claims {
        Claims {
            sits: self.sits | other.sits,
            reads: self.reads | other.reads,
            turns: self.turns | other.turns,
            own_tcp: self.own_tcp || other.own_tcp,
            ..self
        }
    }

    /// True if packets at `place` are shown to it.
    pub const fn sits_at(&self, place: Place) -> bool {
        self.sits & 1 << place as u8 != 0
    }

    /// True if it asked to read `signal`.
    pub const fn reads(&self, signal: Signal) -> bool {
        self.reads & 1 << signal as u16 != 0
    }

    /// True if it asked to turn `port`.
    pub const fn turns(&self, port: Port) -> bool {
        self.turns & 1 << port as u32 != 0
    }

    /// True if it is shown the frames that the radio sends or receives.
    pub const fn watches_radio(&self) -> bool {
        self.sits_at(Place::ToAir) || self.sits_at(Place::FromAir)
    }

    /// The places where it sits, in the order of [`Place::ALL`].
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let claims = *self;
        Place::ALL.into_iter().filter(move |place| claims.sits_at(*place))
    }

    /// The signals that it reads, in the order of [`Signal::ALL`].
    pub fn signals(&self) -> impl Iterator<Item = Signal> + use<> {
        let claims = *self;
        Signal::ALL.into_iter().filter(move |signal| claims.reads(*signal))
    }

    /// The ports that it turns, in the order of [`Port::ALL`].
    pub fn ports(&self) -> impl Iterator<Item = Port> + use<> {
        let claims = *self;
        Port::ALL.into_iter().filter(move |port| claims.turns(*port))
    }
}
