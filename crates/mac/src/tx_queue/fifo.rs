//! One queue for all links of a category: the interface queue of a station that says nothing else.

use super::{Next, RaTid, Sought, TxQueue};
use crate::msdu::Msdu;
use queue::{Arrival, Mark, Queue, Space, Spec};
use units::{Bytes, SimTime};
use wire::Packets;

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
        let flow = self.queue.flow_key(|| packet.five_tuple());
        let arrival = Arrival { size: packet.ip_len(), is_ect: packet.ip.is_ect(), flow };
        let mark = self.queue.push(now, msdu, arrival).map_err(|(lost, _)| lost)?;
        if mark == Mark::Ce
            && let Some(msdu) = self.queue.newest()
        {
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

    fn lets_go(&self) -> bool {
        !self.queue.only_refuses()
    }

    fn peek(&mut self, _: SimTime, of: RaTid, _: &mut Packets) -> Option<&Msdu> {
        self.queue.find(|msdu| RaTid::of(msdu) == of)
    }

    fn pop_for(&mut self, now: SimTime, of: RaTid, _: &mut Packets) -> Option<Msdu> {
        self.queue.take(now, |msdu| RaTid::of(msdu) == of)
    }

    fn withdraw(&mut self, now: SimTime, sought: Sought, _: &Packets) -> Option<Msdu> {
        self.queue.withdraw(now, |msdu| sought.is(msdu))
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

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};
    use plugin::Value;
    use queue::Limit;
    use units::{Dur, FlowId, NodeId};
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
        assert_eq!((first.serial, fifo.peek(now, one, &mut all).map(|msdu| msdu.serial)), (1, Some(3)));
        assert_eq!(fifo.pop_for(now, one, &mut all).map(|msdu| msdu.serial), Some(3));
        assert!(
            fifo.peek(now, RaTid { tid: Some(0), ..one }, &mut all).is_none(),
            "without QoS Control there is no TID"
        );
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
            assert_eq!(fifo.withdraw(later, Sought::Serial(2), &all).map(|msdu| msdu.to), Some(NodeId(2)));
            assert!(
                fifo.withdraw(later, Sought::Serial(2), &all).is_none()
                    && fifo.withdraw(later, Sought::Serial(7), &all).is_none()
            );
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
