//! The MSDUs that an access category has in service.

use crate::msdu::Msdu;
use std::collections::VecDeque;

/// A queue of MSDUs whose first stands by itself, since most of the time it is alone: who asks for it looks into one place and
/// goes no way around a ring.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// `None`: the line is empty.
    head: Option<Msdu>,
    others: VecDeque<Msdu>,
    /// MSDUs that share the MPDU of another.
    mates: usize,
}

impl Line {
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    pub fn len(&self) -> usize {
        usize::from(self.head.is_some()) + self.others.len()
    }

    /// The number of MSDUs, those in A-MSDUs counted one by one.
    pub fn msdus(&self) -> usize {
        self.len() + self.mates
    }

    /// An MSDU shares the MPDU of the last.
    pub fn join_last(&mut self, msdu: Msdu) {
        self.mates += 1 + msdu.mates.len();
        if let Some(last) = self.others.back_mut().or(self.head.as_mut()) {
            last.join(msdu);
        }
    }

    pub fn front(&self) -> Option<&Msdu> {
        self.head.as_ref()
    }

    pub fn front_mut(&mut self) -> Option<&mut Msdu> {
        self.head.as_mut()
    }

    pub fn last(&self) -> Option<&Msdu> {
        self.others.back().or(self.head.as_ref())
    }

    pub fn get(&self, place: usize) -> Option<&Msdu> {
        if place == 0 { self.head.as_ref() } else { self.others.get(place - 1) }
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut Msdu> {
        if place == 0 { self.head.as_mut() } else { self.others.get_mut(place - 1) }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Msdu> {
        self.head.iter().chain(&self.others)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Msdu> {
        self.head.iter_mut().chain(&mut self.others)
    }

    /// The first of a line that is empty, if there is one: written where it will stand.
    #[inline(always)]
    pub fn begin(&mut self, first: Option<Msdu>) {
        debug_assert!(self.is_empty(), "what begins a line is its first");
        self.mates = first.as_ref().map_or(0, |msdu| msdu.mates.len());
        self.head = first;
    }

    pub fn push_back(&mut self, msdu: Msdu) {
        self.mates += msdu.mates.len();
        if self.head.is_none() {
            self.head = Some(msdu);
        } else {
            self.others.push_back(msdu);
        }
    }

    pub fn pop_front(&mut self) -> Option<Msdu> {
        let head = self.head.take();
        self.mates -= head.as_ref().map_or(0, |msdu| msdu.mates.len());
        if !self.others.is_empty() {
            self.head = self.others.pop_front();
        }
        head
    }

    pub fn pop_back(&mut self) -> Option<Msdu> {
        let last = self.others.pop_back().or_else(|| self.head.take());
        self.mates -= last.as_ref().map_or(0, |msdu| msdu.mates.len());
        last
    }

    /// The last `n` go before the others, all in their order.
    pub fn move_to_front(&mut self, n: usize) {
        if n == 0 || n == self.len() {
            return;
        }
        if let Some(head) = self.head.take() {
            self.others.push_front(head);
        }
        self.others.rotate_right(n);
        self.head = self.others.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, FlowId, NodeId, SimTime};
    use wire::{Ipv4, L4, Packet, Packets, Payload, Udp};

    #[test]
    fn it_keeps_its_order_whatever_stands_alone_and_what_is_moved_to_the_front_keeps_its_own() {
        let mut all = Packets::default();
        let mut line = Line::default();
        for _ in 0..5 {
            let packet = Packet {
                ip: Ipv4::default(),
                l4: L4::Udp(Udp::default()),
                payload: Payload::stream(0, 9),
                flow: FlowId(0),
            };
            line.push_back(Msdu::new(SimTime::ZERO, all.put(packet), &all, NodeId(1), 0));
        }
        let serials = |line: &Line| line.iter().map(|msdu| msdu.serial).collect::<Vec<u64>>();
        assert_eq!((serials(&line), line.len()), (vec![1, 2, 3, 4, 5], 5));
        line.move_to_front(2);
        assert_eq!(serials(&line), [4, 5, 1, 2, 3]);
        line.iter_mut().for_each(|msdu| msdu.mpdu = Bytes(msdu.serial));
        assert_eq!(
            (0..6).map(|place| line.get(place).map(|msdu| msdu.mpdu.0)).collect::<Vec<_>>(),
            [Some(4), Some(5), Some(1), Some(2), Some(3), None]
        );
        line.move_to_front(0);
        line.move_to_front(5);
        let popped: Vec<u64> = std::iter::from_fn(|| line.pop_front()).map(|msdu| msdu.serial).collect();
        assert_eq!((popped, line.is_empty(), line.front().is_none()), (vec![4, 5, 1, 2, 3], true, true));
    }
}
