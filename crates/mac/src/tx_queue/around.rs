//! A queue around another: what a scheme changes, and everything else passed on.

use super::{Next, RaTid, Sought, TxQueue};
use crate::msdu::Msdu;
use crate::report::PsduReport;
use queue::Space;
use units::{Dur, NodeId, SimTime};
use wire::Packets;

/// The methods of a queue that stands around another, as [`TxQueue`] has them, each with that other: `inner`. One that is not
/// written passes the call on.
///
/// It may take MSDUs out of the inner queue and order them anew. What it holds itself the inner queue does not know of: it refuses in
/// `push` what would exceed the limit together with that, counts it in `space`, and gives it up in `drain`. `stats` stay the inner
/// queue's. The inner `push` may give back an MSDU that was queued before, so a wrapper that counts compares serials. The inner `failed`
/// may be asked about an MSDU that the inner queue never held; after [`Next::Yield`] it holds it.
pub trait Wrap {
    /// See [`TxQueue::push`].
    ///
    /// # Errors
    /// The MSDU that is lost.
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        inner.push(now, msdu, all)
    }
    /// See [`TxQueue::pop`].
    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        inner.pop(now, all)
    }
    /// See [`TxQueue::dropped`].
    fn dropped(&mut self, inner: &mut dyn TxQueue, all: &Packets) -> Option<Msdu> {
        inner.dropped(all)
    }
    /// See [`TxQueue::peek`].
    fn peek<'q>(
        &'q mut self,
        inner: &'q mut dyn TxQueue,
        now: SimTime,
        of: RaTid,
        all: &mut Packets,
    ) -> Option<&'q Msdu> {
        inner.peek(now, of, all)
    }
    /// See [`TxQueue::pop_for`].
    fn pop_for(&mut self, inner: &mut dyn TxQueue, now: SimTime, of: RaTid, all: &mut Packets) -> Option<Msdu> {
        inner.pop_for(now, of, all)
    }
    /// See [`TxQueue::withdraw`].
    fn withdraw(&mut self, inner: &mut dyn TxQueue, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        inner.withdraw(now, sought, all)
    }
    /// See [`TxQueue::expired`].
    fn expired(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) -> Option<Msdu> {
        inner.expired(now, all)
    }
    /// See [`TxQueue::attempted`].
    fn attempted(&mut self, inner: &mut dyn TxQueue, now: SimTime, report: &PsduReport<'_>) {
        inner.attempted(now, report);
    }
    /// See [`TxQueue::heard`].
    fn heard(&mut self, inner: &mut dyn TxQueue, from: NodeId, airtime: Dur) {
        inner.heard(from, airtime);
    }
    /// See [`TxQueue::heeds_attempts`]. Written with [`Wrap::attempted`], to say true: by default the queue inside decides.
    fn heeds_attempts(&self, inner: &dyn TxQueue) -> bool {
        inner.heeds_attempts()
    }
    /// See [`TxQueue::failed`].
    fn failed(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        inner.failed(now, msdu, is_last, all)
    }
    /// See [`TxQueue::put_back`]. One that holds MSDUs itself gives back those that the inner queue has not popped.
    fn put_back(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &Packets) -> Option<Msdu> {
        inner.put_back(now, msdu, all)
    }
    /// See [`TxQueue::next_wakeup`].
    fn next_wakeup(&self, inner: &dyn TxQueue) -> SimTime {
        inner.next_wakeup()
    }
    /// See [`TxQueue::space`].
    fn space(&self, inner: &dyn TxQueue) -> Space {
        inner.space()
    }
    /// See [`TxQueue::drain`].
    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        inner.drain(now)
    }
    /// See [`TxQueue::stats`].
    fn stats(&self, inner: &dyn TxQueue, now: SimTime) -> Option<queue::Stats> {
        inner.stats(now)
    }
}

/// A queue with another around it.
#[derive(Debug)]
pub struct Around<W> {
    inner: Box<dyn TxQueue>,
    own: W,
}

impl<W: Wrap> Around<W> {
    /// `own` around `inner`.
    pub fn new(inner: Box<dyn TxQueue>, own: W) -> Around<W> {
        Around { inner, own }
    }
}

impl<W: Wrap> TxQueue for Around<W> {
    fn push(&mut self, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        self.own.push(&mut *self.inner, now, msdu, all)
    }

    fn pop(&mut self, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        self.own.pop(&mut *self.inner, now, all)
    }

    fn dropped(&mut self, all: &Packets) -> Option<Msdu> {
        self.own.dropped(&mut *self.inner, all)
    }

    fn peek(&mut self, now: SimTime, of: RaTid, all: &mut Packets) -> Option<&Msdu> {
        self.own.peek(&mut *self.inner, now, of, all)
    }

    fn pop_for(&mut self, now: SimTime, of: RaTid, all: &mut Packets) -> Option<Msdu> {
        self.own.pop_for(&mut *self.inner, now, of, all)
    }

    fn withdraw(&mut self, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        self.own.withdraw(&mut *self.inner, now, sought, all)
    }

    fn expired(&mut self, now: SimTime, all: &Packets) -> Option<Msdu> {
        self.own.expired(&mut *self.inner, now, all)
    }

    fn attempted(&mut self, now: SimTime, report: &PsduReport<'_>) {
        self.own.attempted(&mut *self.inner, now, report);
    }

    fn heard(&mut self, from: NodeId, airtime: Dur) {
        self.own.heard(&mut *self.inner, from, airtime);
    }

    fn heeds_attempts(&self) -> bool {
        self.own.heeds_attempts(&*self.inner)
    }

    fn failed(&mut self, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        self.own.failed(&mut *self.inner, now, msdu, is_last, all)
    }

    fn put_back(&mut self, now: SimTime, msdu: Msdu, all: &Packets) -> Option<Msdu> {
        self.own.put_back(&mut *self.inner, now, msdu, all)
    }

    fn next_wakeup(&self) -> SimTime {
        self.own.next_wakeup(&*self.inner)
    }

    fn space(&self) -> Space {
        self.own.space(&*self.inner)
    }

    fn drain(&mut self, now: SimTime) -> Vec<Msdu> {
        self.own.drain(&mut *self.inner, now)
    }

    fn stats(&self, now: SimTime) -> Option<queue::Stats> {
        self.own.stats(&*self.inner, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phy::MpduSet;
    use std::cell::RefCell;
    use std::rc::Rc;
    use units::{Bytes, Dur, FlowId, NodeId};
    use wire::{DropWhy, Ipv4, L4, Packet, Payload, Udp};

    #[derive(Debug)]
    struct Nothing;

    impl Wrap for Nothing {}

    /// A queue that notes what it is asked, and gives something to tell from the trait's defaults.
    #[derive(Debug)]
    struct Asked {
        calls: Rc<RefCell<Vec<&'static str>>>,
        held: Option<Msdu>,
    }

    impl Asked {
        fn is_asked(&self, what: &'static str) {
            self.calls.borrow_mut().push(what);
        }
    }

    type Take = fn(&mut Around<Nothing>, &mut Packets) -> Option<Msdu>;

    const LATER: SimTime = SimTime::from_ns(7);
    const SPACE: Space = Space { free: Bytes(1), used: Bytes(2), entries: 3 };

    impl TxQueue for Asked {
        fn push(&mut self, _: SimTime, msdu: Msdu, _: &mut Packets) -> Result<(), Msdu> {
            self.is_asked("push");
            Err(msdu)
        }

        fn pop(&mut self, _: SimTime, _: &mut Packets) -> Option<Msdu> {
            self.is_asked("pop");
            self.held.take()
        }

        fn dropped(&mut self, _: &Packets) -> Option<Msdu> {
            self.is_asked("dropped");
            self.held.take()
        }

        fn peek(&mut self, _: SimTime, _: RaTid, _: &mut Packets) -> Option<&Msdu> {
            self.is_asked("peek");
            self.held.as_ref()
        }

        fn pop_for(&mut self, _: SimTime, _: RaTid, _: &mut Packets) -> Option<Msdu> {
            self.is_asked("pop_for");
            self.held.take()
        }

        fn withdraw(&mut self, _: SimTime, _: Sought, _: &Packets) -> Option<Msdu> {
            self.is_asked("withdraw");
            self.held.take()
        }

        fn expired(&mut self, _: SimTime, _: &Packets) -> Option<Msdu> {
            self.is_asked("expired");
            self.held.take()
        }

        fn attempted(&mut self, _: SimTime, _: &PsduReport<'_>) {
            self.is_asked("attempted");
        }

        fn heeds_attempts(&self) -> bool {
            self.is_asked("heeds_attempts");
            true
        }

        fn failed(&mut self, _: SimTime, msdu: Msdu, _: bool, _: &Packets) -> Next {
            self.is_asked("failed");
            self.held = Some(msdu);
            Next::Yield
        }

        fn put_back(&mut self, _: SimTime, msdu: Msdu, _: &Packets) -> Option<Msdu> {
            self.is_asked("put_back");
            self.held = Some(msdu);
            None
        }

        fn next_wakeup(&self) -> SimTime {
            self.is_asked("next_wakeup");
            LATER
        }

        fn space(&self) -> Space {
            self.is_asked("space");
            SPACE
        }

        fn drain(&mut self, _: SimTime) -> Vec<Msdu> {
            self.is_asked("drain");
            self.held.take().into_iter().collect()
        }

        fn stats(&self, _: SimTime) -> Option<queue::Stats> {
            self.is_asked("stats");
            Some(queue::Stats { offered: 5, ..queue::Stats::default() })
        }
    }

    #[test]
    fn a_wrapper_that_changes_nothing_passes_every_call_on_and_hands_back_what_it_gave() {
        let (mut all, now, calls) = (Packets::default(), SimTime::ZERO, Rc::default());
        let asked = Asked { calls: Rc::clone(&calls), held: None };
        // Around a wrapper too.
        let inner: Box<dyn TxQueue> = Box::new(Around::new(Box::new(asked), Nothing));
        let mut queue = Around::new(inner, Nothing);
        let (ip, l4) = (Ipv4::default(), L4::Udp(Udp::default()));
        let pkt = all.put(Packet { ip, l4, payload: Payload::stream(0, 72), flow: FlowId(0) });
        let msdu = Msdu::new(now, pkt, &all, NodeId(1), 0);
        let (of, serial) = (RaTid::of(&msdu), msdu.serial);
        let refused = queue.push(now, msdu, &mut all).expect_err("it gives back what it gets");
        assert!(matches!(queue.failed(now, refused, false, &all), Next::Yield));
        assert_eq!(queue.peek(now, of, &mut all).map(|msdu| msdu.serial), Some(serial));
        let taken: [Take; 6] = [
            |queue, all| queue.pop(SimTime::ZERO, all),
            |queue, all| queue.dropped(all),
            |queue, all| queue.pop_for(SimTime::ZERO, RaTid { to: NodeId(1), tid: None }, all),
            |queue, all| queue.withdraw(SimTime::ZERO, Sought::Serial(1), all),
            |queue, all| queue.expired(SimTime::ZERO, all),
            |queue, _| queue.drain(SimTime::ZERO).pop(),
        ];
        let mut msdu = queue.pop(now, &mut all).expect("the inner one holds it");
        for take in taken {
            assert!(matches!(queue.failed(now, msdu, false, &all), Next::Yield));
            msdu = take(&mut queue, &mut all).expect("the inner one holds it");
        }
        assert!(queue.put_back(now, msdu, &all).is_none());
        let msdu = queue.pop(now, &mut all).expect("the inner one holds it");
        all.free(msdu.pkt, DropWhy::Scheme);
        let (mode, acknowledged) = (phy::Mode::dsss(0), &MpduSet::NONE);
        let (ppdu, stage, nth, airtime, mpdus) = (Some(1), 0, 1, Dur::ZERO, 1);
        queue.attempted(now, &PsduReport { link: of, ppdu, mode, stage, nth, airtime, mpdus, acknowledged });
        assert_eq!((queue.next_wakeup(), queue.space(), queue.heeds_attempts()), (LATER, SPACE, true));
        assert_eq!(queue.stats(now).map(|stats| stats.offered), Some(5));
        let mut calls = calls.borrow().clone();
        calls.sort_unstable();
        calls.dedup();
        assert_eq!(calls.len(), 15, "{calls:?}");
    }
}
