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
///
/// Call order: [`TxQueue::push`] for each MSDU. When a category has nothing in service (an MSDU was pushed, an exchange ended,
/// [`TxQueue::next_wakeup`] came) and when an opportunity takes one MSDU ahead: [`TxQueue::expired`] until it gives none, then
/// [`TxQueue::pop`]. [`TxQueue::dropped`] after each push and pop. What was popped is in service and in no queue until
/// [`TxQueue::failed`] gives it back. A queue may write [`Msdu::spares_rts`] and no other field of an MSDU.
///
/// A queue around another keeps the inner one and hands on every method that it does not change. It may take MSDUs out and order
/// them anew. What it holds itself the inner queue does not know of: it refuses in `push` what would exceed the limit together with
/// that, counts it in `space`, and gives it up in `drain`. `stats` stay the inner queue's. The inner `push` may give back an MSDU
/// that was queued before, so a wrapper that counts compares serials. The inner `failed` may be asked about an MSDU that the inner
/// queue never held; after [`Next::Yield`] it holds it.
pub trait TxQueue: std::fmt::Debug {
    /// Takes an MSDU in.
    ///
    /// # Errors
    /// Gives back the MSDU that is lost because the queue is full, or drops early: this one, or one that was queued and made room
    /// for it. A queue that drops more than one tells it by [`TxQueue::dropped`]; one that marks sets CE in the packet's IP header.
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu>;
    /// The MSDU to send now. `None`: nothing, or nothing yet, see [`TxQueue::next_wakeup`]. A queue may drop others before it
    /// ([`TxQueue::dropped`]), and marks it by setting CE in the packet's IP header.
    fn pop(&mut self, now: SimTime, all: &mut Packets) -> Option<Msdu>;
    /// An MSDU that the queue has dropped as congestion after it had taken it in. Asked after each push and pop until there is none.
    /// A queue around another hands on what that tells.
    fn dropped(&mut self, all: &Packets) -> Option<Msdu>;
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
    /// [`TxQueue::expired`]. Until then it counts in `entries` and `used` and need not take room. `None`: it is not queued here (it may
    /// be in service), or the queue does not look for it.
    fn withdraw(&mut self, _now: SimTime, _serial: u64, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// An MSDU that is not worth sending any more. Asked before [`TxQueue::pop`] until there is none; not before
    /// [`TxQueue::pop_for`]. It is reported as [`crate::Fate::Expired`].
    fn expired(&mut self, _now: SimTime, _all: &Packets) -> Option<Msdu> {
        None
    }
    /// An attempt of `msdu` failed: asked for every MSDU of an exchange that failed, and for every MPDU that a response does not
    /// acknowledge. `is_last`: the MAC's limit is reached; the queue may go beyond it or stay below it. A category that loses to a
    /// higher one of its station is asked too: `msdu.failures` rises, `msdu.attempts` stays, and nothing was on the air. Of a fragmented
    /// MSDU the fragment at hand is meant; after [`Next::Yield`] its burst goes on where it stopped, and others may go between.
    fn failed(&mut self, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next;
    /// When a queue that holds something back wants to be popped again: asked when [`TxQueue::pop`] gave nothing with nothing in
    /// service, and not again before the next `pop`.
    fn next_wakeup(&self) -> SimTime {
        SimTime::NEVER
    }
    /// What waits, and what is left. The books of a run are checked against `entries`: every MSDU held, none in service.
    fn space(&self) -> Space;
    /// Every MSDU in it, for a node that is killed.
    fn drain(&mut self, now: SimTime) -> Vec<Msdu>;
    /// What it has counted up to now; `None` from a queue that does not count.
    fn stats(&self, _now: SimTime) -> Option<queue::Stats> {
        None
    }
}

/// The interface queue every station has unless a scheme replaces it: a discipline of crate `queue`, the same MSDU again after a failure.
/// It counts bytes of IP packets, and not the MSDU in service.
#[derive(Debug)]
pub struct Fifo {
    queue: Queue<Msdu>,
}

impl Fifo {
    /// A queue of this kind; `mtu` is the size of a full packet, for [`TxQueue::space`] and disciplines, which draw from `draws`.
    pub fn new(spec: &Spec, mtu: Bytes, draws: engine::Stream) -> Fifo {
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

    fn pop(&mut self, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        let (msdu, mark) = self.queue.pop(now)?;
        if mark == Mark::Ce {
            all.get_mut(&msdu.pkt).ip.mark_ce();
        }
        Some(msdu)
    }

    fn dropped(&mut self, _: &Packets) -> Option<Msdu> {
        self.queue.dropped()
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
    use plugin::Value;
    use queue::Limit;
    use units::{Dur, FlowId};
    use wire::{Ipv4, L4, Packet, Payload, Udp, ecn};

    fn fifo() -> Fifo {
        let spec = Spec::drop_tail(Limit::Packets(9));
        Fifo::new(&spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0))
    }

    /// RED with these thresholds, greatest probability and weight.
    fn red(limit: Limit, [min_th, max_th, max_p, weight]: [f64; 4], ecn: bool) -> Spec {
        let mut chosen = queue::find("red").expect("it is in the list");
        let floats = [("min_th", min_th), ("max_th", max_th), ("max_p", max_p), ("weight", weight)];
        floats.into_iter().for_each(|(key, value)| chosen.params.set(key, Value::Float(value)));
        chosen.params.set("ecn", Value::Bool(ecn));
        Spec::new(limit, chosen)
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
        let first = fifo.pop(now, &mut all).expect("five are queued");
        assert_eq!((first.serial, fifo.peek(one).map(|msdu| msdu.serial)), (1, Some(3)));
        assert_eq!(fifo.pop_for(now, one, &all).map(|msdu| msdu.serial), Some(3));
        assert!(fifo.peek(RaTid { tid: Some(0), ..one }).is_none(), "without QoS Control there is no TID");
        let rest: Vec<u64> = std::iter::from_fn(|| fifo.pop(now, &mut all)).map(|msdu| msdu.serial).collect();
        assert_eq!(rest, [2, 4, 5]);
        assert_eq!((fifo.space().entries, fifo.space().used), (0, Bytes::ZERO));
    }

    #[test]
    fn an_msdu_is_withdrawn_by_its_serial_and_counts_neither_as_sent_nor_as_queued() {
        // RED that never drops, and drop-tail.
        for spec in [Spec::drop_tail(Limit::Packets(3)), red(Limit::Packets(3), [8.0, 9.0, 1.0, 1.0], false)] {
            let mut fifo = Fifo::new(&spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0));
            let (mut all, now) = (Packets::default(), SimTime::ZERO);
            for to in [1, 2, 3] {
                let msdu = Msdu::new(now, all.put(packet(0)), &all, NodeId(to), 0);
                assert!(fifo.push(now, msdu, &mut all).is_ok());
            }
            let later = SimTime::from_ns(40);
            assert_eq!(fifo.withdraw(later, 2, &all).map(|msdu| msdu.to), Some(NodeId(2)));
            assert!(fifo.withdraw(later, 2, &all).is_none() && fifo.withdraw(later, 7, &all).is_none());
            assert_eq!((fifo.space().entries, fifo.space().used), (2, Bytes(200)));
            let rest: Vec<u64> = std::iter::from_fn(|| fifo.pop(later, &mut all)).map(|msdu| msdu.serial).collect();
            assert_eq!(rest, [1, 3]);
            let stats = fifo.stats(later).expect("it counts");
            assert_eq!((stats.offered, stats.departed, stats.withdrawn, stats.dropped()), (3, 2, 1, 1));
            assert_eq!((stats.entry_time, stats.wait), (3 * 40, Dur::from_ns(2 * 40)));
        }
    }

    #[test]
    fn a_packet_that_red_marks_carries_ce_in_its_ip_header_and_one_without_ecn_is_refused() {
        // The average is the queue; from one queued packet on p_b is 1, and only from two on everybody is dropped.
        let spec = red(Limit::Packets(9), [0.0, 1.0, 1.0, 1.0], true);
        for field in [ecn::NOT_ECT, ecn::ECT_0, ecn::ECT_1, ecn::CE] {
            let mut all = Packets::default();
            let mut fifo = Fifo::new(&spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0));
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
    fn codel_at_an_interface_marks_the_msdu_that_leaves_or_drops_it_and_says_so() {
        for (field, marked) in [(ecn::NOT_ECT, 0), (ecn::ECT_0, 1)] {
            let mut codel = queue::find("codel").expect("it is in the list");
            codel.params.set("ecn", Value::Bool(true));
            let draws = Streams::new(1).get(Purpose::Queue, 0);
            let mut fifo = Fifo::new(&Spec::new(Limit::Packets(99), codel), Bytes(100), draws);
            let mut all = Packets::default();
            for _ in 0..9 {
                let msdu = Msdu::new(SimTime::ZERO, all.put(packet(field)), &all, NodeId(1), 0);
                assert!(fifo.push(SimTime::ZERO, msdu, &mut all).is_ok());
            }
            // Too long for an interval at 110 ms: the second of nine.
            let mut pop = |ms| {
                let popped = fifo.pop(SimTime::ZERO + Dur::from_ms(ms), &mut all).expect("nine are queued");
                let dropped: Vec<u64> = std::iter::from_fn(|| fifo.dropped(&all)).map(|msdu| msdu.serial).collect();
                (popped.serial, all.get(&popped.pkt).ip.tos, dropped)
            };
            assert_eq!(pop(10), (1, field, vec![]));
            assert_eq!(pop(110), if marked == 1 { (2, ecn::CE, vec![]) } else { (3, field, vec![2]) });
            let stats = fifo.stats(SimTime::ZERO + Dur::from_ms(110)).expect("it counts");
            assert_eq!((stats.marked, stats.dropped_early, stats.departed), (marked, 1 - marked, 2));
        }
    }
}
