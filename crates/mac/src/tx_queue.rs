//! The transmit queue: what is sent next, and what follows a failure; and which access category a packet goes to.

use crate::msdu::Msdu;
use queue::{Arrival, FlowKey, Mark, Queue, Space, Spec};
use units::{Bytes, NodeId, SimTime};
use wire::Packets;

/// Whose MSDUs may share a PSDU with one another: those for one receiver with one traffic identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaTid {
    /// Receiver.
    pub to: NodeId,
    /// Traffic identifier; `None` without QoS Control.
    pub tid: Option<u8>,
}

impl RaTid {
    /// Of an MSDU.
    pub fn of(msdu: &Msdu) -> RaTid {
        RaTid { to: msdu.to, tid: msdu.qos.map(|qos| qos.user_priority) }
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
    /// Gives back the MSDU that is lost because the queue is full, or drops early: this one, or one that was queued and made room
    /// for it. A queue that marks sets CE in the packet's IP header.
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu>;
    /// The MSDU to send now. `None`: nothing, or nothing yet, see [`TxQueue::next_wakeup`].
    fn pop(&mut self, now: SimTime, all: &Packets) -> Option<Msdu>;
    /// The next MSDU of this receiver and TID, if it may go out with one that was popped. Asked when the mode of a PSDU is
    /// known. `None` from a queue that does not look for them.
    fn peek(&self, _of: RaTid) -> Option<&Msdu> {
        None
    }
    /// Takes out what [`TxQueue::peek`] showed.
    fn pop_for(&mut self, _now: SimTime, _of: RaTid, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// Takes out the queued MSDU whose packet has this serial, for a queue around this one that will not send it: it hands it out by
    /// [`TxQueue::expired`]. `None`: it is not queued here, or the queue does not look for it.
    fn withdraw(&mut self, _now: SimTime, _serial: u64, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// An MSDU that is not worth sending any more. Asked before [`TxQueue::pop`] until there is none.
    fn expired(&mut self, _now: SimTime, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// An attempt of `msdu` failed. `is_last`: the MAC's limit is reached; the queue may go beyond it.
    fn failed(&mut self, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next;
    /// When a queue that holds something back wants to be popped again: asked when [`TxQueue::pop`] gave nothing.
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

/// The interface queue every station has unless a scheme replaces it: drop-tail, RED or deficit round robin, the same MSDU again
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
        let flow = FlowKey::of(packet.five_tuple());
        let arrival = Arrival { size: packet.ip_len(), is_ect: packet.ip.is_ect(), flow };
        let mark = self.queue.push(now, msdu, arrival).map_err(|(lost, _)| lost)?;
        if let (Mark::Ce, Some(msdu)) = (mark, self.queue.newest()) {
            all.get_mut(&msdu.pkt).ip.mark_ce();
        }
        Ok(())
    }

    fn pop(&mut self, now: SimTime, _: &Packets) -> Option<Msdu> {
        self.queue.pop(now)
    }

    fn peek(&self, of: RaTid) -> Option<&Msdu> {
        self.queue.find(|msdu| RaTid::of(msdu) == of)
    }

    fn pop_for(&mut self, now: SimTime, of: RaTid, _: &Packets) -> Option<Msdu> {
        self.queue.take(now, |msdu| RaTid::of(msdu) == of)
    }

    fn withdraw(&mut self, now: SimTime, serial: u64, _: &Packets) -> Option<Msdu> {
        self.queue.withdraw(now, |msdu| msdu.serial == serial)
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
    use units::{Dur, FlowId};
    use wire::{Ipv4, L4, Packet, Payload, Udp, ecn};

    fn fifo() -> Fifo {
        let spec = Spec::drop_tail(Limit::Packets(9));
        Fifo::new(spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0))
    }

    fn packet(tos: u8) -> Packet {
        let ip = Ipv4 { tos, ..Ipv4::default() };
        Packet { ip, l4: L4::Udp(Udp::default()), payload: Payload::stream(0, 72), flow: FlowId(0) }
    }

    #[test]
    fn further_msdus_are_taken_out_by_receiver_and_tid_and_the_rest_keeps_its_order() {
        let (mut all, mut fifo, now) = (Packets::default(), fifo(), SimTime::ZERO);
        for to in [1, 2, 1, 3, 1] {
            let msdu = Msdu::new(now, all.put(packet(0)), &all, NodeId(to), 0);
            assert!(fifo.push(now, msdu, &mut all).is_ok());
        }
        let one = RaTid { to: NodeId(1), tid: None };
        let first = fifo.pop(now, &all).expect("five are queued");
        assert_eq!((first.serial, fifo.peek(one).map(|msdu| msdu.serial)), (1, Some(3)));
        assert_eq!(fifo.pop_for(now, one, &all).map(|msdu| msdu.serial), Some(3));
        assert!(fifo.peek(RaTid { tid: Some(0), ..one }).is_none(), "without QoS Control there is no TID");
        let rest: Vec<u64> = std::iter::from_fn(|| fifo.pop(now, &all)).map(|msdu| msdu.serial).collect();
        assert_eq!(rest, [2, 4, 5]);
        assert_eq!((fifo.space().entries, fifo.space().used), (0, Bytes::ZERO));
    }

    #[test]
    fn an_msdu_is_withdrawn_by_its_serial_and_counts_neither_as_sent_nor_as_queued() {
        // RED that never drops, and drop-tail.
        let (min_th, max_th, max_p, weight) = (8.0, 9.0, 1.0, 1.0);
        let red = Red { min_th, max_th, max_p, weight, gentle: true, ecn: false, idle_packet: Dur::from_ms(1) };
        for discipline in [Discipline::DropTail, Discipline::Red(red)] {
            let spec = Spec { limit: Limit::Packets(3), discipline };
            let mut fifo = Fifo::new(spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0));
            let (mut all, now) = (Packets::default(), SimTime::ZERO);
            for to in [1, 2, 3] {
                let msdu = Msdu::new(now, all.put(packet(0)), &all, NodeId(to), 0);
                assert!(fifo.push(now, msdu, &mut all).is_ok());
            }
            let later = SimTime::from_ns(40);
            assert_eq!(fifo.withdraw(later, 2, &all).map(|msdu| msdu.to), Some(NodeId(2)));
            assert!(fifo.withdraw(later, 2, &all).is_none() && fifo.withdraw(later, 7, &all).is_none());
            assert_eq!((fifo.space().entries, fifo.space().used), (2, Bytes(200)));
            let rest: Vec<u64> = std::iter::from_fn(|| fifo.pop(later, &all)).map(|msdu| msdu.serial).collect();
            assert_eq!(rest, [1, 3]);
            let stats = fifo.stats(later).expect("it counts");
            assert_eq!((stats.offered, stats.departed, stats.withdrawn, stats.dropped()), (3, 2, 1, 1));
            assert_eq!((stats.entry_time, stats.wait), (3 * 40, Dur::from_ns(2 * 40)));
        }
    }

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
}
