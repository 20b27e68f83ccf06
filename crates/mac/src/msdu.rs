//! What a station's MAC is asked to deliver, what it says of it afterwards, and the ports a scheme can take.

use crate::frame::{Class, DATA_HEADER, FCS, LLC_SNAP, Qos};
use queue::{Mark, Queue, Space, Spec};
use units::{Bytes, Dur, NodeId, SimTime};
use wire::{Packets, Pkt};

/// The MAC header's extension that schemes share: entries of kind, length, content. Room is reserved when the MSDU is
/// queued, since airtime and NAV depend on it; content is written at each attempt, into an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacOptions {
    bytes: [u8; 31],
    len: u8,
    room: u8,
}

impl Default for MacOptions {
    fn default() -> MacOptions {
        MacOptions::within(MacOptions::MAX as u8)
    }
}

impl MacOptions {
    /// Bytes there can be at most.
    pub const MAX: usize = 31;
    /// What an entry takes beside its content.
    pub const OVERHEAD: u8 = 2;

    /// None yet, and no more than `room` bytes of them.
    pub fn within(room: u8) -> MacOptions {
        MacOptions { bytes: [0; 31], len: 0, room: room.min(MacOptions::MAX as u8) }
    }

    /// All entries, as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Where the entry of `kind` stands.
    fn find(&self, kind: u8) -> Option<(usize, usize)> {
        let mut at = 0;
        while let Some([k, len]) = self.bytes().get(at..at + 2) {
            let end = at + 2 + usize::from(*len);
            if *k == kind {
                return Some((at, end));
            }
            at = end;
        }
        None
    }

    /// The content of the entry of `kind`.
    pub fn get(&self, kind: u8) -> Option<&[u8]> {
        self.find(kind).map(|(start, end)| &self.bytes[start + 2..end])
    }

    /// Removes the entry of `kind`.
    pub fn remove(&mut self, kind: u8) {
        if let Some((start, end)) = self.find(kind) {
            self.bytes.copy_within(end..usize::from(self.len), start);
            self.len -= (end - start) as u8;
        }
    }

    /// Writes the entry of `kind`, in place of the one it had. `false`, and nothing changed, if it does not fit
    /// into the room that was reserved.
    pub fn set(&mut self, kind: u8, content: &[u8]) -> bool {
        let mut others = *self;
        others.remove(kind);
        let (start, end) = (usize::from(others.len), usize::from(others.len) + 2 + content.len());
        if end > usize::from(self.room) {
            return false;
        }
        others.bytes[start] = kind;
        others.bytes[start + 1] = content.len() as u8;
        others.bytes[start + 2..end].copy_from_slice(content);
        others.len = end as u8;
        *self = others;
        true
    }
}

/// A packet in the care of a MAC.
#[must_use = "an MSDU owns its packet"]
#[derive(Debug)]
pub struct Msdu {
    /// The packet.
    pub pkt: Pkt,
    /// Its serial in the arena.
    pub serial: u64,
    /// Receiver on this link.
    pub to: NodeId,
    /// Length of its data frame, header to FCS, options included; and QoS Control, once a MAC has queued it.
    pub mpdu: Bytes,
    /// What it is.
    pub class: Class,
    /// Its access category, lowest 0; chosen when a MAC queues it.
    pub category: u8,
    /// What its QoS Control field says, if its frame has one.
    pub qos: Option<Qos>,
    /// Bytes of MAC options in `mpdu`.
    pub options_room: u8,
    /// MAC options as last written.
    pub options: MacOptions,
    /// Sequence number, once it has been transmitted. It keeps it when a queue takes it back.
    pub seq: Option<u16>,
    /// Exchanges begun for it so far, whether they failed at the RTS or at the data frame.
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
    /// The last attempt failed: the MAC, or its queue, has dropped it.
    GivenUp,
    /// The queue has dropped it before any (further) attempt: it had expired.
    Expired,
    /// The queue refused it: full, or RED's early drop.
    QueueFull,
}

/// What a MAC tells of an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxReport {
    /// What became of it.
    pub fate: Fate,
    /// The packet's serial in the arena.
    pub serial: u64,
    /// Receiver on this link.
    pub to: NodeId,
    /// Its access category, lowest 0; 0 under DCF.
    pub category: u8,
    /// Exchanges begun for it so far, whether they failed at the RTS or at the data frame.
    pub attempts: u8,
    /// When it was queued.
    pub enqueued: SimTime,
    /// When it first came to the head of the queue. One that a queue took back keeps it, so the time since then holds
    /// the service of others too.
    pub head: SimTime,
    /// When its first exchange began: its RTS, if it had one.
    pub first: SimTime,
    /// When this was found out.
    pub done: SimTime,
    /// Time its frames and their answers have taken on the air, gaps not counted.
    pub airtime: Dur,
}

impl Msdu {
    /// A packet of `all` to be sent to `to`, with `options_room` bytes of MAC options behind its header.
    pub fn new(now: SimTime, pkt: Pkt, all: &Packets, to: NodeId, options_room: u8) -> Msdu {
        let packet = all.get(&pkt);
        let mpdu = DATA_HEADER + LLC_SNAP + packet.ip_len() + FCS + Bytes(u64::from(options_room));
        let (class, serial) = (Class::of(packet), all.serial(&pkt));
        Msdu {
            pkt,
            serial,
            to,
            mpdu,
            class,
            category: 0,
            qos: None,
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
            serial: self.serial,
            to: self.to,
            category: self.category,
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

/// A transmit queue, of a station or of one of its categories: what is sent next, and what follows a failure. A scheme may bring its own.
pub trait TxQueue: std::fmt::Debug {
    /// Takes an MSDU in.
    ///
    /// # Errors
    /// Gives it back if the queue is full, or drops it early. A queue that marks sets CE in the packet's IP header.
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu>;
    /// The MSDU to send now. `None`: nothing, or nothing yet, see [`TxQueue::next_wakeup`].
    fn pop(&mut self, now: SimTime, all: &Packets) -> Option<Msdu>;
    /// An MSDU that is not worth sending any more. Asked before [`TxQueue::pop`] until there is none.
    fn expired(&mut self, _now: SimTime, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// An attempt of `msdu` failed. `is_last`: the MAC's limit is reached; the queue may go beyond it.
    fn failed(&mut self, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next;
    /// When a queue that holds something back wants to be popped again.
    fn next_wakeup(&self) -> SimTime {
        SimTime::NEVER
    }
    /// What is left.
    fn space(&self) -> Space;
    /// Every MSDU in it, for a node that is killed.
    fn drain(&mut self, now: SimTime) -> Vec<Msdu>;
    /// What it has counted up to now; `None` from a queue that does not count.
    fn stats(&self, _now: SimTime) -> Option<queue::Stats> {
        None
    }
}

/// The interface queue every station has unless a scheme replaces it: in order, drop-tail or RED, the same MSDU again
/// after a failure. It counts bytes of IP packets, and not the MSDU in service.
#[derive(Debug)]
pub struct Fifo {
    queue: Queue<Msdu>,
}

impl Fifo {
    /// A queue of this kind; `mtu` is the size of a full packet, for [`TxQueue::space`] and RED in bytes; RED draws
    /// from `draws`.
    pub fn new(spec: Spec, mtu: Bytes, draws: engine::Stream) -> Fifo {
        Fifo { queue: Queue::new(spec, mtu, draws) }
    }
}

impl TxQueue for Fifo {
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let packet = all.get(&msdu.pkt);
        let (size, is_ect) = (packet.ip_len(), packet.ip.is_ect());
        let mark = self.queue.push(now, msdu, size, is_ect).map_err(|(msdu, _)| msdu)?;
        if let (Mark::Ce, Some(msdu)) = (mark, self.queue.newest()) {
            all.get_mut(&msdu.pkt).ip.mark_ce();
        }
        Ok(())
    }

    fn pop(&mut self, now: SimTime, _: &Packets) -> Option<Msdu> {
        self.queue.pop(now)
    }

    fn failed(&mut self, _: SimTime, msdu: Msdu, is_last: bool, _: &Packets) -> Next {
        if is_last { Next::GiveUp(msdu) } else { Next::Again(msdu) }
    }

    fn space(&self) -> Space {
        self.queue.space()
    }

    fn drain(&mut self, now: SimTime) -> Vec<Msdu> {
        self.queue.drain(now)
    }

    fn stats(&self, now: SimTime) -> Option<queue::Stats> {
        Some(self.queue.stats(now))
    }
}

/// Which access category a packet goes to. A scheme may bring its own. A station under EDCA asks it once for each MSDU, when
/// that is queued; one under DCF has one category and asks nobody.
pub trait Classifier: std::fmt::Debug {
    /// The category of a packet to `to`: an index into the station's categories by rising priority (0 … 3 are BK, BE, VI,
    /// VO unless told otherwise); one that is not there is the highest. `default` is what its TOS field asks for
    /// ([`crate::Edca::of_tos`]).
    fn category(&mut self, packet: &wire::Packet, to: NodeId, default: u8) -> u8;
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};
    use queue::{Discipline, Limit, Red};
    use units::FlowId;
    use wire::{Ipv4, L4, Packet, Payload, Udp, ecn};

    #[test]
    fn a_packet_that_red_marks_carries_ce_in_its_ip_header_and_one_without_ecn_is_refused() {
        // The average is the queue; from one queued packet on p_b is 1, and only from two on everybody is dropped.
        let (min_th, max_th, max_p, weight) = (0.0, 1.0, 1.0, 1.0);
        let red = Red { min_th, max_th, max_p, weight, gentle: true, ecn: true, idle_packet: Dur::from_ms(1) };
        for field in [ecn::NOT_ECT, ecn::ECT_0, ecn::ECT_1, ecn::CE] {
            let mut all = Packets::default();
            let spec = Spec { limit: Limit::Packets(9), discipline: Discipline::Red(red) };
            let mut fifo = Fifo::new(spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0));
            let ip = Ipv4 { tos: 0xb8 | field, ..Ipv4::default() };
            let packet = Packet { ip, l4: L4::Udp(Udp::default()), payload: Payload::stream(0, 72), flow: FlowId(0) };
            let mut pass = |now| {
                let msdu = Msdu::new(now, all.put(packet.clone()), &all, NodeId(1), 0);
                fifo.push(now, msdu, &mut all)
            };
            let (first, second) = (pass(SimTime::ZERO), pass(SimTime::from_ns(40)));
            assert!(first.is_ok());
            assert_eq!(second.is_ok(), field != ecn::NOT_ECT);
            let now = SimTime::from_ns(100);
            let stats = fifo.stats(now).expect("it counts");
            let marked = u64::from(field != ecn::NOT_ECT);
            assert_eq!((stats.offered, stats.marked, stats.dropped_early), (2, marked, 1 - marked));
            assert_eq!((stats.bytes_offered, stats.entry_time), (Bytes(200), 100 + 60 * u128::from(marked)));
            let queued = fifo.drain(now);
            let fields: Vec<u8> = queued.iter().map(|msdu| all.get(&msdu.pkt).ip.tos).collect();
            assert_eq!(fields, [0xb8 | field, 0xb8 | ecn::CE][..queued.len()], "the first came as it was");
        }
    }

    #[test]
    fn mac_options_of_several_kinds_are_kept_apart_and_replaced() {
        let mut options = MacOptions::default();
        assert!(options.set(1, b"abc") && options.set(2, b"") && options.set(1, b"defg"));
        assert_eq!((options.get(1), options.get(2), options.get(3)), (Some(&b"defg"[..]), Some(&b""[..]), None));
        assert_eq!(options.bytes().len(), 2 + 4 + 2);
        assert!(!options.set(3, &[0; 22]), "8 + 2 + 22 is more than 31");
        assert!(!MacOptions::within(4).set(1, b"abc"), "2 + 3 is more than the room reserved");
        options.remove(1);
        assert_eq!((options.get(1), options.get(2)), (None, Some(&b""[..])));
    }
}
