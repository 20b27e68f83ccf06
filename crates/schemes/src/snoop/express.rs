//! Repetitions go ahead of what waits: @BSAK95 sec. 4 sends them at higher priority.

use mac::{Msdu, Next, RaTid, Sought, TxQueue, Wrap};
use queue::Space;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::{Bytes, FlowId, SimTime};
use wire::Packets;

/// The messages between agent and queue.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The serial of the repetition that comes next, if it gets here.
    urgent: Option<u64>,
    /// Packets with data that wait behind a repetition, by flow.
    waiting: BTreeMap<FlowId, u64>,
}

/// An agent's link to its queue, if it has one.
#[derive(Debug, Clone, Default)]
pub(super) struct Word(Rc<RefCell<Shared>>);

impl Word {
    /// Marks the packet of this serial, which is queued next, as the first to go.
    pub(super) fn mark_urgent(&self, serial: u64) {
        self.0.borrow_mut().urgent = Some(serial);
    }

    /// Packets of `flow` that a repetition would overtake.
    pub(super) fn waiting(&self, flow: FlowId) -> u64 {
        self.0.borrow().waiting.get(&flow).copied().unwrap_or(0)
    }

    /// Both directions of a connection are over; what still waits of it is not counted any more.
    pub(super) fn forget(&self, flow: FlowId) {
        for way in [flow, flow.reverse()] {
            self.0.borrow_mut().waiting.remove(&way);
        }
    }

    fn takes(&self, serial: u64) -> bool {
        self.0.borrow_mut().urgent.take_if(|urgent| *urgent == serial).is_some()
    }

    /// One packet more, or less, waits: of this flow, if it brings data.
    fn count(&self, data: Option<FlowId>, by: i64) {
        if let Some(flow) = data {
            let shared = &mut *self.0.borrow_mut();
            // Nothing to count down where a flow has been forgotten.
            if by > 0 || shared.waiting.contains_key(&flow) {
                let waiting = shared.waiting.entry(flow).or_default();
                *waiting = waiting.saturating_add_signed(by);
            }
        }
    }
}

/// The flow of an MSDU that the receiver answers if it is out of order.
fn data(msdu: &Msdu, all: &Packets) -> Option<FlowId> {
    let packet = all.get(&msdu.pkt);
    packet.tcp_range().filter(|range| !range.is_empty()).map(|_| packet.flow)
}

/// A lane for repetitions beside the interface's queue.
#[derive(Debug)]
pub(super) struct Express {
    word: Word,
    first: VecDeque<Msdu>,
    bytes: Bytes,
}

impl Express {
    pub(super) fn new(word: Word) -> Express {
        Express { word, first: VecDeque::new(), bytes: Bytes::ZERO }
    }
}

impl Wrap for Express {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        if !self.word.takes(msdu.serial) {
            let (own, serial) = (data(&msdu, all), msdu.serial);
            let pushed = inner.push(now, msdu, all);
            // What is lost may be another that was queued before.
            let lost = pushed.as_ref().err().filter(|lost| lost.serial != serial);
            if pushed.is_ok() || lost.is_some() {
                self.word.count(own, 1);
                self.word.count(lost.and_then(|lost| data(lost, all)), -1);
            }
            return pushed;
        }
        let size = all.get(&msdu.pkt).ip_len();
        // The lane has no room of its own.
        if self.space(inner).free < size {
            return Err(msdu);
        }
        self.bytes += size;
        self.first.push_back(msdu);
        Ok(())
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        if let Some(msdu) = self.first.pop_front() {
            self.bytes -= all.get(&msdu.pkt).ip_len();
            return Some(msdu);
        }
        let msdu = inner.pop(now, all)?;
        self.word.count(data(&msdu, all), -1);
        Some(msdu)
    }

    fn dropped(&mut self, inner: &mut dyn TxQueue, all: &Packets) -> Option<Msdu> {
        let msdu = inner.dropped(all)?;
        self.word.count(data(&msdu, all), -1);
        Some(msdu)
    }

    fn peek<'q>(
        &'q mut self,
        inner: &'q mut dyn TxQueue,
        now: SimTime,
        of: RaTid,
        all: &mut Packets,
    ) -> Option<&'q Msdu> {
        if self.first.is_empty() { inner.peek(now, of, all) } else { None }
    }

    fn pop_for(&mut self, inner: &mut dyn TxQueue, now: SimTime, of: RaTid, all: &mut Packets) -> Option<Msdu> {
        let msdu = inner.pop_for(now, of, all)?;
        self.word.count(data(&msdu, all), -1);
        Some(msdu)
    }

    fn withdraw(&mut self, inner: &mut dyn TxQueue, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        if let Some(place) = self.first.iter().position(|msdu| sought.is(msdu)) {
            let msdu = self.first.remove(place)?;
            self.bytes -= all.get(&msdu.pkt).ip_len();
            return Some(msdu);
        }
        let msdu = inner.withdraw(now, sought, all)?;
        self.word.count(data(&msdu, all), -1);
        Some(msdu)
    }

    fn expired(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) -> Option<Msdu> {
        let msdu = inner.expired(now, all)?;
        self.word.count(data(&msdu, all), -1);
        Some(msdu)
    }

    fn failed(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        let data = data(&msdu, all);
        let next = inner.failed(now, msdu, is_last, all);
        if matches!(next, Next::Yield) {
            self.word.count(data, 1);
        }
        next
    }

    fn put_back(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &Packets) -> Option<Msdu> {
        let data = data(&msdu, all);
        let refused = inner.put_back(now, msdu, all);
        if refused.is_none() {
            self.word.count(data, 1);
        }
        refused
    }

    fn space(&self, inner: &dyn TxQueue) -> Space {
        let rest = inner.space();
        Space {
            free: rest.free.saturating_sub(self.bytes),
            used: rest.used + self.bytes,
            entries: rest.entries + self.first.len() as u32,
        }
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        self.bytes = Bytes::ZERO;
        self.word.0.borrow_mut().waiting.clear();
        let mut all: Vec<Msdu> = self.first.drain(..).collect();
        all.extend(inner.drain(now));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{OUT, THERE, ack, data};
    use engine::{Purpose, Streams};
    use mac::{Around, Fifo};
    use queue::{Limit, Spec};
    use wire::{DropWhy, Packet};

    struct Radio {
        packets: Packets,
        word: Word,
        queue: Around<Express>,
    }

    /// A queue with room for three packets.
    fn radio() -> Radio {
        let spec = Spec::drop_tail(Limit::Packets(3));
        let fifo = Fifo::new(&spec, Bytes(1500), Streams::new(1).get(Purpose::Queue, 0));
        let word = Word::default();
        Radio { packets: Packets::default(), queue: Around::new(Box::new(fifo), Express::new(word.clone())), word }
    }

    impl Radio {
        /// Puts `packet` in the queue. Returns true if it is taken.
        fn push(&mut self, packet: Packet, is_urgent: bool) -> bool {
            let pkt = self.packets.put(packet);
            if is_urgent {
                self.word.mark_urgent(self.packets.serial(&pkt));
            }
            let msdu = Msdu::new(SimTime::ZERO, pkt, &self.packets, THERE, 0);
            let refused = self.queue.push(SimTime::ZERO, msdu, &mut self.packets).err();
            let is_taken = refused.is_none();
            if let Some(msdu) = refused {
                self.packets.free(msdu.pkt, DropWhy::QueueFull);
            }
            is_taken
        }

        /// Takes the next packet out, and returns its first number.
        fn pop(&mut self) -> Option<u32> {
            let msdu = self.queue.pop(SimTime::ZERO, &mut self.packets)?;
            self.packets.free(msdu.pkt, DropWhy::MacDone).tcp().map(|tcp| tcp.seq.0)
        }
    }

    #[test]
    fn a_repetition_goes_first_and_what_it_overtakes_is_counted() {
        let mut radio = radio();
        for start in [1001, 2001] {
            assert!(radio.push(data(OUT, start..start + 1000), false));
        }
        assert_eq!(radio.word.waiting(OUT), 2);
        assert!(radio.push(data(OUT, 1..1001), true));
        assert_eq!(radio.word.waiting(OUT), 2);
        assert_eq!([(); 4].map(|()| radio.pop()), [Some(1), Some(1001), Some(2001), None]);
        assert_eq!(radio.word.waiting(OUT), 0);
    }

    #[test]
    fn only_the_packet_that_was_named_goes_first_and_acks_bring_no_duplicates() {
        let mut radio = radio();
        assert!(radio.push(data(OUT, 1001..2001), false));
        radio.word.mark_urgent(99);
        assert!(radio.push(ack(OUT, 1, 1000), false));
        assert_eq!((radio.word.waiting(OUT), radio.pop()), (1, Some(1001)));
    }

    #[test]
    fn what_is_withdrawn_waits_no_longer_whichever_lane_it_was_in() {
        let mut radio = radio();
        assert!(radio.push(data(OUT, 1001..2001), false) && radio.push(data(OUT, 1..1001), true));
        for (serial, used, waiting) in [(1, 1040, 0), (2, 0, 0)] {
            let msdu = radio.queue.withdraw(SimTime::ZERO, Sought::Serial(serial), &radio.packets).unwrap();
            radio.packets.free(msdu.pkt, DropWhy::Suppressed);
            assert_eq!((radio.queue.space().used, radio.word.waiting(OUT)), (Bytes(used), waiting));
        }
        assert!(radio.queue.withdraw(SimTime::ZERO, Sought::Serial(1), &radio.packets).is_none());
    }

    #[test]
    fn the_lane_has_no_room_of_its_own() {
        let mut radio = radio();
        assert!(radio.push(data(OUT, 1..1001), true) && radio.push(data(OUT, 1001..2001), false));
        let space = radio.queue.space();
        // Room for two more of 1500 bytes, less the 1040 in the lane.
        assert_eq!((space.free, space.used, space.entries), (Bytes(3000 - 1040), Bytes(2080), 2));
        assert!(radio.push(data(OUT, 2001..3001), false));
        assert!(!radio.push(data(OUT, 1..1001), true), "460 bytes are left");
    }

    #[test]
    fn a_node_that_dies_gives_both_lanes_back() {
        let mut radio = radio();
        assert!(radio.push(data(OUT, 1001..2001), false) && radio.push(data(OUT, 1..1001), true));
        for msdu in radio.queue.drain(SimTime::ZERO) {
            radio.packets.free(msdu.pkt, DropWhy::NodeDown);
        }
        assert_eq!((radio.packets.live(), radio.word.waiting(OUT), radio.queue.space().used), (0, 0, Bytes::ZERO));
    }
}
