//! Receive reordering buffer: MPDUs go up in the order of their numbers. @80211-2020 10.25.6.6

use super::{HALF, ahead};
use crate::ack::Delivery;
use std::collections::VecDeque;
use units::{Dur, SimTime};

/// The content of an MPDU, in the recipient's care: an MSDU, or those of an A-MSDU.
#[derive(Debug)]
pub(crate) enum Held {
    One(Delivery),
    Many(Vec<Delivery>),
}

impl Held {
    /// MSDUs in it.
    fn len(&self) -> u64 {
        match self {
            Held::One(_) => 1,
            Held::Many(many) => many.len() as u64,
        }
    }

    /// Hands each of them on.
    pub fn each(self, mut to: impl FnMut(Delivery)) {
        match self {
            Held::One(one) => to(one),
            Held::Many(many) => many.into_iter().for_each(to),
        }
    }
}

/// The buffer of one agreement.
#[derive(Debug)]
pub(crate) struct Reorder {
    /// The number that is due: WinStart_B.
    start: u16,
    window: u16,
    /// The time for which what stands behind a gap waits.
    patience: Dur,
    /// By distance from the start; the first is a gap, or there is none.
    held: VecDeque<Option<(SimTime, Held)>>,
    /// MSDUs in it.
    msdus: u64,
    /// The longest time that one was in it.
    longest: Dur,
}

impl Reorder {
    /// Empty, with number 0 due.
    pub fn new(window: u16, patience: Dur) -> Reorder {
        Reorder { start: 0, window, patience, held: VecDeque::new(), msdus: 0, longest: Dur::ZERO }
    }

    /// MSDUs in it.
    pub fn msdus(&self) -> u64 {
        self.msdus
    }

    /// The longest time that an MPDU was in it.
    pub fn longest(&self) -> Dur {
        self.longest
    }

    /// True if an MPDU with this number is new: neither from before the window nor held. One that was not sent before is never old: its
    /// originator has given up half of all numbers or more, unheard.
    pub fn is_new(&self, seq: u16, is_retry: bool) -> bool {
        let at = ahead(seq, self.start);
        (at < HALF || !is_retry) && !self.held.get(usize::from(at)).is_some_and(Option::is_some)
    }

    /// A new MPDU has arrived: it and what stood behind it goes up, or it is held. One beyond the window becomes its last.
    pub fn arrives(&mut self, now: SimTime, seq: u16, what: Held, up: &mut impl FnMut(Held)) {
        debug_assert!(self.is_new(seq, false), "{seq} is known");
        let at = ahead(seq, self.start);
        if at == 0 && self.held.is_empty() {
            self.start = (self.start + 1) % crate::link::NUMBERS;
            up(what);
            return;
        }
        if at >= self.window {
            self.skip(now, at - self.window + 1, up);
        }
        let at = usize::from(ahead(seq, self.start));
        if at >= self.held.len() {
            self.held.resize_with(at + 1, || None);
        }
        self.msdus += what.len();
        self.held[at] = Some((now, what));
        self.release(now, up);
        self.expire(now, up);
    }

    /// A Block Ack Request says that everything before this number is settled: what is held of it goes up.
    pub fn move_to(&mut self, now: SimTime, start: u16, up: &mut impl FnMut(Held)) {
        let by = ahead(start, self.start);
        if by < HALF {
            self.skip(now, by, up);
            self.release(now, up);
            self.expire(now, up);
        }
    }

    /// Instant at which the first gap is given up; `NEVER` without one.
    pub fn due(&self) -> SimTime {
        let first = self.held.iter().flatten().next();
        first.map_or(SimTime::NEVER, |(since, _)| *since + self.patience)
    }

    /// Gaps before what has waited long enough are given up. Returns how many numbers they are.
    pub fn expire(&mut self, now: SimTime, up: &mut impl FnMut(Held)) -> u64 {
        let mut given_up = 0;
        while self.due() <= now {
            let gap = self.held.iter().take_while(|place| place.is_none()).count();
            self.skip(now, gap as u16, up);
            self.release(now, up);
            given_up += gap as u64;
        }
        given_up
    }

    /// All that it holds, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Held> {
        self.msdus = 0;
        self.held.drain(..).flatten().map(|(_, what)| what)
    }

    /// The window moves on by so many numbers, with or without gaps.
    fn skip(&mut self, now: SimTime, by: u16, up: &mut impl FnMut(Held)) {
        for _ in 0..by {
            if let Some((since, what)) = self.held.pop_front().flatten() {
                self.msdus -= what.len();
                self.longest = self.longest.max(now.since(since));
                up(what);
            }
        }
        self.start = (self.start + by) % crate::link::NUMBERS;
    }

    /// Hands up what is due.
    fn release(&mut self, now: SimTime, up: &mut impl FnMut(Held)) {
        while matches!(self.held.front(), Some(Some(_))) {
            self.skip(now, 1, up);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msdu::MacOptions;
    use units::{FlowId, NodeId};
    use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp};

    const PATIENCE: Dur = Dur::from_ms(100);

    struct Bench {
        all: Packets,
        reorder: Reorder,
        went_up: Vec<u64>,
    }

    impl Bench {
        fn new(window: u16) -> Bench {
            Bench { all: Packets::default(), reorder: Reorder::new(window, PATIENCE), went_up: Vec::new() }
        }

        /// An MPDU arrives, of which the packet's length is the number. Returns whether it was new.
        fn arrives(&mut self, ms: u64, seq: u16) -> bool {
            if !self.reorder.is_new(seq, true) {
                return false;
            }
            let (ip, l4, flow) = (Ipv4::default(), L4::Udp(Udp::default()), FlowId(0));
            let pkt = self.all.put(Packet { ip, l4, payload: Payload::stream(0, u32::from(seq)), flow });
            let what = Held::One(Delivery { pkt, from: NodeId(0), options: MacOptions::within(0) });
            let Bench { all, reorder, went_up } = self;
            reorder.arrives(at(ms), seq, what, &mut |what| what.each(|it| went_up.push(gone(all, it))));
            true
        }

        fn expire(&mut self, ms: u64) -> u64 {
            let Bench { all, reorder, went_up } = self;
            reorder.expire(at(ms), &mut |what| what.each(|it| went_up.push(gone(all, it))))
        }

        fn move_to(&mut self, ms: u64, start: u16) {
            let Bench { all, reorder, went_up } = self;
            reorder.move_to(at(ms), start, &mut |what| what.each(|it| went_up.push(gone(all, it))));
        }

        fn up(&mut self) -> Vec<u64> {
            std::mem::take(&mut self.went_up)
        }
    }

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(ms)
    }

    fn gone(all: &mut Packets, delivery: Delivery) -> u64 {
        u64::from(all.free(delivery.pkt, DropWhy::Delivered).payload.len)
    }

    #[test]
    fn numbers_go_up_in_order_and_once() {
        let mut bench = Bench::new(64);
        assert!([0, 1, 3, 5].into_iter().all(|seq| bench.arrives(0, seq)));
        assert!(!bench.arrives(0, 1) && !bench.arrives(0, 3), "from before the window, and held");
        assert_eq!((bench.up(), bench.reorder.msdus()), (vec![0, 1], 2));
        bench.arrives(1, 2);
        assert_eq!((bench.up(), bench.reorder.msdus()), (vec![2, 3], 1));
        bench.arrives(1, 4);
        assert_eq!((bench.up(), bench.reorder.due()), (vec![4, 5], SimTime::NEVER));
    }

    #[test]
    fn a_number_beyond_the_window_and_a_request_move_it() {
        let mut bench = Bench::new(4);
        [1, 3].into_iter().for_each(|seq| assert!(bench.arrives(0, seq)));
        bench.arrives(0, 5); // the window is 2 … 5
        assert_eq!(bench.up(), [1]);
        bench.move_to(0, 3);
        assert_eq!(bench.up(), [3]);
        bench.move_to(0, 2);
        assert_eq!((bench.up(), bench.reorder.msdus()), (vec![], 1));
        bench.arrives(0, 100);
        assert_eq!((bench.up(), bench.reorder.msdus()), (vec![5], 1), "97 … 100");
    }

    #[test]
    fn a_gap_is_given_up_when_the_first_behind_it_has_waited_long_enough() {
        let mut bench = Bench::new(64);
        bench.arrives(10, 2);
        bench.arrives(20, 4);
        bench.arrives(30, 1);
        assert_eq!((bench.up(), bench.reorder.due()), (vec![], at(130)), "the first behind the gap is 1");
        assert_eq!((bench.expire(129), bench.up()), (0, vec![]));
        assert_eq!(bench.expire(130), 2, "0 and 3");
        assert_eq!(bench.reorder.longest(), Dur::from_ms(120), "2, since 10");
        assert_eq!((bench.up(), bench.reorder.due()), (vec![1, 2, 4], SimTime::NEVER), "4 has waited since 20");
        assert!(!bench.arrives(131, 3), "too late");
    }

    #[test]
    fn what_stands_behind_the_next_gap_goes_up_with_what_was_before_it_if_it_has_waited_long_enough() {
        for is_told in [false, true] {
            let mut bench = Bench::new(64);
            bench.arrives(10, 4);
            bench.arrives(90, 2);
            if is_told {
                bench.move_to(120, 2)
            } else {
                [1, 0].into_iter().for_each(|seq| _ = bench.arrives(120, seq))
            }
            let before = if is_told { 0 } else { 2 };
            assert_eq!((bench.up().split_off(before), bench.reorder.due()), (vec![2, 4], SimTime::NEVER));
        }
    }

    #[test]
    fn what_was_never_sent_before_is_new_whatever_its_number() {
        let mut bench = Bench::new(64);
        [0, 1].into_iter().for_each(|seq| assert!(bench.arrives(0, seq)));
        assert!(!bench.reorder.is_new(3000, true) && bench.reorder.is_new(3000, false));
        assert!(!bench.reorder.is_new(1, true) && bench.reorder.is_new(2, true));
    }

    #[test]
    fn numbers_wrap_inside_a_window() {
        let mut bench = Bench::new(64);
        [2000, 4000, 4094].into_iter().for_each(|start| bench.move_to(0, start));
        [4095, 1, 0].into_iter().for_each(|seq| assert!(bench.arrives(0, seq)));
        assert_eq!(bench.up(), []);
        bench.arrives(0, 4094);
        assert_eq!(bench.up(), [4094, 4095, 0, 1]);
        assert!(!bench.arrives(0, 4095));
    }
}
