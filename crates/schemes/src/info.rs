//! What a scheme declares of itself: once, in its `INFO`, listed to users and checked in debug builds.

use crate::Param;

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
    /// About to be queued at the radio, whoever it comes from.
    ToAir,
    /// Just received by the radio, whoever it is for.
    FromAir,
}

impl Place {
    /// How many there are.
    pub const COUNT: usize = 5;

    /// Whether packets here move away from the host: agents are asked in the file's order, elsewhere in reverse.
    pub const fn is_outward(self) -> bool {
        matches!(self, Place::FromHost | Place::Transit | Place::ToAir)
    }
}

/// What a scheme may read besides the packets at the places it sits at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Reports of the MAC on the final fate of MSDUs.
    TxReport,
    /// Reports on each failed attempt as well.
    TxAttempt,
    /// Headers of TCP. A scheme without it works on encrypted traffic.
    TcpHeader,
    /// State of TCP connections that end at this node.
    FlowFacts,
    /// Free room of the transmit queue.
    QueueRoom,
    /// What peers announced when they associated.
    Capabilities,
    /// MAC options of received frames.
    MacOptions,
    /// Mean powers of stations at their access point.
    Powers,
}

/// What a scheme may turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Packets of its own, packets withheld, held back or ended.
    Packets,
    /// Flag bits of TCP.
    TcpFlags,
    /// Sequence and acknowledgment numbers of TCP.
    TcpNumbers,
    /// Which ACKs there are: makes them in a receiver's name and drops the receiver's own.
    Acks,
    /// Options of TCP.
    TcpOptions,
    /// The advertised window.
    Rwnd,
    /// How TCP senders at this node answer a loss.
    LossResponse,
    /// RTT samples of TCP senders at this node.
    RttSample,
    /// Commands to TCP senders at this node.
    Sender,
    /// Which access category a packet takes.
    Classifier,
    /// Parameters of the radio, once before the run: categories, contention windows, transmit power.
    Parameters,
    /// Interframe space, rate and power of each frame.
    Transmit,
    /// The transmit queue and its order of retransmission.
    TxQueue,
    /// MAC options of frames sent.
    MacOptions,
    /// The sequence of frames in an exchange.
    Exchange,
    /// TCP connections that lead through this node: it ends them here. It stands before whoever watches the radio, or
    /// that one would not see what it sends.
    Connections,
}

/// A scheme's declaration: that of a plug-in, and what it does at a node.
#[derive(Debug)]
pub struct Info {
    /// As scenarios name it.
    pub id: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Where on the path it wants to see packets.
    pub sits: &'static [Place],
    /// What else it reads.
    pub reads: &'static [Signal],
    /// What it turns.
    pub turns: &'static [Port],
    /// Its own keys in a scenario.
    pub params: &'static [Param],
}

impl Info {
    /// Its declaration as a plug-in.
    pub const fn plugin(&self) -> plugin::Info {
        plugin::Info { id: self.id, summary: self.summary, source: self.source, params: self.params }
    }

    /// Whether it declares to read `signal`.
    pub fn reads(&self, signal: Signal) -> bool {
        self.reads.contains(&signal)
    }

    /// Whether it declares to turn `port`.
    pub fn turns(&self, port: Port) -> bool {
        self.turns.contains(&port)
    }

    /// Whether packets at `place` are shown to it.
    pub fn sits_at(&self, place: Place) -> bool {
        self.sits.contains(&place)
    }
}
