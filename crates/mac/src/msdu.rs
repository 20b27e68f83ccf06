//! What a station's MAC is asked to deliver, what it says of it afterwards, and the ports a scheme can take.

use crate::frame::Class;
use queue::{DropTail, Space};
use units::{Bytes, Dur, NodeId, SimTime};
use wire::{Packets, Pkt};

/// Bytes of the MAC header's extension that schemes share. Room is reserved when the MSDU is queued, since airtime and
/// NAV depend on it; content is written per attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MacOptions {
    bytes: [u8; 31],
    len: u8,
}

impl MacOptions {
    /// Bytes there can be at most.
    pub const MAX: usize = 31;

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Appends `bytes`. `false`, and nothing written, if they do not fit.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let (start, end) = (usize::from(self.len), usize::from(self.len) + bytes.len());
        let fits = end <= MacOptions::MAX;
        if fits {
            self.bytes[start..end].copy_from_slice(bytes);
            self.len = end as u8;
        }
        fits
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

/// A packet in the care of a MAC.
#[must_use = "an MSDU owns its packet"]
#[derive(Debug)]
pub struct Msdu {
    /// The packet.
    pub pkt: Pkt,
    /// Receiver on this link.
    pub to: NodeId,
    /// Length of its data frame, header to FCS, options included.
    pub mpdu: Bytes,
    /// What it is.
    pub class: Class,
    /// Bytes of MAC options in `mpdu`.
    pub options_room: u8,
    /// MAC options as last written.
    pub options: MacOptions,
    /// Sequence number, once it has been transmitted. It keeps it when a queue takes it back.
    pub seq: Option<u16>,
    /// Transmissions of its data frame and of RTS for it, so far.
    pub attempts: u8,
    /// Whether its data frame has been on the air: the next one carries the retry bit. @80211-2020 9.2.4.1.6
    pub data_sent: bool,
    /// Failures that counted as short, and as long.
    pub failures: (u8, u8),
    /// Every attempt of it fails at its receiver (`errors.at = "msdu"`); drawn at the first.
    pub is_doomed: bool,
    /// When it was queued.
    pub enqueued: SimTime,
    /// When it came to the head of the queue.
    pub head: SimTime,
    /// When it was first transmitted.
    pub first: SimTime,
    /// Time its frames and their answers have taken on the air.
    pub airtime: Dur,
}

/// What became of an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Acknowledged; or sent, if to a group.
    Delivered,
    /// One attempt failed; more may follow.
    Attempt,
    /// All attempts failed: the MAC has dropped it.
    GivenUp,
    /// It found the queue full.
    QueueFull,
}

/// What a MAC tells of an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxReport {
    /// What became of it.
    pub fate: Fate,
    /// Receiver on this link.
    pub to: NodeId,
    /// Transmissions so far.
    pub attempts: u8,
    /// When it was queued.
    pub enqueued: SimTime,
    /// When it came to the head of the queue.
    pub head: SimTime,
    /// When it was first transmitted.
    pub first: SimTime,
    /// When this was found out.
    pub done: SimTime,
    /// Time its frames and their answers have taken on the air.
    pub airtime: Dur,
}

impl Msdu {
    /// A packet to be sent to `to`. `options_room` bytes of MAC options are part of `mpdu`.
    pub fn new(now: SimTime, pkt: Pkt, to: NodeId, mpdu: Bytes, class: Class, options_room: u8) -> Msdu {
        Msdu {
            pkt,
            to,
            mpdu,
            class,
            options_room,
            options: MacOptions::default(),
            seq: None,
            attempts: 0,
            data_sent: false,
            failures: (0, 0),
            is_doomed: false,
            enqueued: now,
            head: now,
            first: now,
            airtime: Dur::ZERO,
        }
    }

    /// The report of this fate.
    pub fn report(&self, now: SimTime, fate: Fate) -> TxReport {
        TxReport {
            fate,
            to: self.to,
            attempts: self.attempts,
            enqueued: self.enqueued,
            head: self.head,
            first: self.first,
            done: now,
            airtime: self.airtime,
        }
    }
}

/// What a queue decides about an MSDU whose attempt has failed.
#[derive(Debug)]
pub enum Next {
    /// The same again.
    Again(Msdu),
    /// The queue has taken it back; what it pops next is sent next.
    Yield,
    /// No more attempts.
    GiveUp(Msdu),
}

/// A station's transmit queue: what is sent next, and after a failure. A scheme may bring its own.
pub trait TxQueue: std::fmt::Debug {
    /// Takes an MSDU in.
    ///
    /// # Errors
    /// Gives it back if the queue is full.
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &Packets) -> Result<(), Msdu>;
    /// The MSDU to send now.
    fn pop(&mut self, now: SimTime, all: &Packets) -> Option<Msdu>;
    /// An attempt of `msdu` failed and the MAC's own limits allow another.
    fn failed(&mut self, now: SimTime, msdu: Msdu, all: &Packets) -> Next;
    /// What is left.
    fn space(&self) -> Space;
    /// Every MSDU in it, for a node that is killed and for the books at the end.
    fn drain(&mut self) -> Vec<Msdu>;
}

/// The interface queue every station has unless a scheme replaces it: drop-tail, the same MSDU again after a failure.
#[derive(Debug)]
pub struct Fifo {
    queue: DropTail<Msdu>,
    mtu: Bytes,
}

impl Fifo {
    /// A queue of this limit; `mtu` is the size of a full packet, for [`TxQueue::space`].
    pub fn new(limit: queue::Limit, mtu: Bytes) -> Fifo {
        Fifo { queue: DropTail::new(limit), mtu }
    }
}

impl TxQueue for Fifo {
    fn push(&mut self, _: SimTime, msdu: Msdu, all: &Packets) -> Result<(), Msdu> {
        let size = all.get(&msdu.pkt).ip_len();
        self.queue.push(msdu, size)
    }

    fn pop(&mut self, _: SimTime, _: &Packets) -> Option<Msdu> {
        self.queue.pop()
    }

    fn failed(&mut self, _: SimTime, msdu: Msdu, _: &Packets) -> Next {
        Next::Again(msdu)
    }

    fn space(&self) -> Space {
        self.queue.space(self.mtu)
    }

    fn drain(&mut self) -> Vec<Msdu> {
        std::iter::from_fn(|| self.queue.pop()).collect()
    }
}

/// Which access category a packet goes to. A scheme may bring its own; without one there is one category.
pub trait Classifier: std::fmt::Debug {
    /// The category, 0 the lowest, among `categories`.
    fn category(&self, packet: &wire::Packet, categories: u8) -> u8;
}
