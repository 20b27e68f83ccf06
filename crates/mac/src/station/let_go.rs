//! MSDUs that a category's queue lets go of: dropped, expired, recalled.

use super::{Cx, Output, Presence, State, Station};
use crate::air::Air;
use crate::contention::Outcome;
use crate::exchange::Txop;
use crate::msdu::Msdu;
use crate::report::Fate;
use crate::tx_queue::{Next, RaTid, Sought};
use engine::Class as When;
use units::{NodeId, SimTime};
use wire::{Packets, Pkt};

impl Station {
    /// MSDUs that the queue of a category has dropped are done with, as if they had been refused.
    #[inline(always)]
    pub(super) fn note_dropped(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        if self.edcafs[i].lets_go {
            self.note_each_dropped(cx, i);
        }
    }

    #[inline(never)]
    fn note_each_dropped(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        while let Some(msdu) = self.edcafs[i].queue.dropped(cx.all) {
            self.edcafs[i].counters.msdus_refused += 1;
            self.let_go(cx, msdu, Fate::QueueFull);
        }
    }

    /// MSDUs that have expired in the queue of a category are done with.
    #[inline(never)]
    pub(super) fn note_expired(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        while let Some(msdu) = self.edcafs[i].queue.expired(cx.now, cx.all) {
            self.edcafs[i].counters.msdus_expired += 1;
            self.let_go(cx, msdu, Fate::Expired);
        }
    }

    fn let_go(&mut self, cx: &mut Cx<impl Air>, msdu: Msdu, fate: Fate) {
        if let Some(seq) = msdu.seq {
            self.links.abandon(cx.now, RaTid::of(&msdu), seq);
        }
        let report = msdu.report(cx.now, fate, None);
        cx.out.push(Output::Done(msdu.pkt, report));
    }

    /// Takes all MSDUs for `to` out of its queues, since that neighbour has gone: lowest category first, each in its order. What has been
    /// tried is tried to its end; the one that contends for its first attempt comes back too, if its category sends one by one.
    pub fn recall(&mut self, now: SimTime, to: NodeId, all: &mut Packets) -> Vec<Pkt> {
        let mut recalled = Vec::new();
        for i in 0..self.edcafs.len() {
            if self.presence == Presence::Away {
                recalled.extend(self.recall_in_service(i, to));
            }
            let is_untried = self.presence == Presence::Here && self.is_untried(i, to);
            if is_untried {
                recalled.extend(self.edcafs[i].in_service.pop_front().into_iter().flat_map(Msdu::into_packets));
            }
            while let Some(msdu) = self.edcafs[i].queue.withdraw(now, Sought::To(to), all) {
                if let Some(seq) = msdu.seq {
                    self.links.abandon(now, RaTid::of(&msdu), seq);
                }
                recalled.extend(msdu.into_packets());
            }
            if is_untried {
                let edcaf = &mut self.edcafs[i];
                let mut next = edcaf.queue.pop(now, all);
                if let Some(msdu) = &mut next {
                    msdu.head = now;
                }
                edcaf.in_service.begin(next);
                self.has_recalled |= edcaf.in_service.is_empty();
            }
        }
        self.own.msdus_abandoned += recalled.len() as u64;
        recalled
    }

    /// Takes back what a category of a station that is away has taken out of its queue: nothing of it was tried.
    fn recall_in_service(&mut self, i: usize, to: NodeId) -> Vec<Pkt> {
        let in_service = &mut self.edcafs[i].in_service;
        let all: Vec<Msdu> = std::iter::from_fn(|| in_service.pop_front()).collect();
        let (recalled, others): (Vec<Msdu>, Vec<Msdu>) = all.into_iter().partition(|msdu| msdu.to == to);
        others.into_iter().for_each(|msdu| in_service.push_back(msdu));
        recalled.into_iter().flat_map(Msdu::into_packets).collect()
    }

    /// The station goes over to another access point: it is silent and deaf until [`Station::join`]. Its exchange ends here, and what was
    /// tried is given up; a frame in the air ends in its time. What is handed down waits in its queue. Outputs are appended to `out`.
    #[cold]
    pub fn leave(&mut self, now: SimTime, air: &mut impl Air, all: &mut Packets, out: &mut Vec<Output>) {
        if self.presence != Presence::Here {
            return;
        }
        let cx = &mut Cx { now, air, all, out };
        self.presence = Presence::Away;
        self.wakeup = (SimTime::NEVER, When::Between);
        (self.state, self.exchange, self.planned) = (State::Idle, None, None);
        self.response.take().into_iter().for_each(|frame| frame.release(cx.all));
        self.txop = Txop::default();
        self.reverse.forget();
        for i in 0..self.edcafs.len() {
            cx.air.silence(self.contender(i));
            self.active = i;
            let edcaf = &mut self.edcafs[i];
            (edcaf.requests_left, edcaf.in_psdu, edcaf.is_stalled) = (0, 1, false);
            for _ in 0..edcaf.in_service.len() {
                let edcaf = &mut self.edcafs[i];
                let Some(msdu) = edcaf.in_service.pop_front() else { break };
                if msdu.attempts == 0 && !msdu.is_withdrawn {
                    edcaf.in_service.push_back(msdu);
                    continue;
                }
                match edcaf.queue.failed(cx.now, msdu, true, cx.all) {
                    Next::Again(msdu) | Next::GiveUp(msdu) => self.give_up(cx, msdu, None, None),
                    Next::Yield => {}
                }
            }
        }
    }

    /// The station that was away is there: it contends again. Outputs are appended to `out`.
    #[cold]
    pub fn join(&mut self, now: SimTime, air: &mut impl Air, all: &mut Packets, out: &mut Vec<Output>) {
        if self.presence != Presence::Away {
            return;
        }
        let cx = &mut Cx { now, air, all, out };
        self.presence = Presence::Here;
        for i in 0..self.edcafs.len() {
            if self.take_next(cx, i) {
                cx.air.want(cx.now, self.contender(i), false);
            }
        }
    }

    /// An MSDU is handed down to a station that is dead or away.
    #[cold]
    pub(super) fn enqueue_silent(&mut self, cx: &mut Cx<impl Air>, msdu: Msdu) {
        if self.presence == Presence::Away {
            self.admit(cx, msdu);
            return;
        }
        self.own.msdus_offered += 1;
        self.own.msdus_abandoned += 1;
        let report = msdu.report(cx.now, Fate::GivenUp, None);
        cx.out.push(Output::Done(msdu.pkt, report));
    }

    /// The timer of a station that is dead or away goes off. What a queue has held back goes out when the station is there.
    #[cold]
    pub(super) fn timer_silent(&mut self, cx: &mut Cx<impl Air>) {
        if self.presence == Presence::Away {
            let due = self.edcafs.iter_mut().filter(|edcaf| edcaf.held_until <= cx.now);
            due.for_each(|edcaf| edcaf.held_until = SimTime::NEVER);
            self.others_timer(cx);
        }
    }

    /// True if the MSDU in service of a category is for `to` and contends for its first attempt.
    fn is_untried(&self, i: usize, to: NodeId) -> bool {
        let edcaf = &self.edcafs[i];
        let is_plain = !edcaf.lets_go && self.transmit.is_none() && !self.links.aggregates();
        let is_first = |msdu: &Msdu| msdu.to == to && msdu.attempts == 0 && msdu.seq.is_none();
        self.state == State::Idle && is_plain && edcaf.in_service.len() == 1 && edcaf.current().is_some_and(is_first)
    }

    /// Categories that were granted have nothing to send: what contended was recalled. Returns true if another one has.
    #[cold]
    pub(super) fn pass_over(&mut self, cx: &mut Cx<impl Air>) -> bool {
        self.has_recalled = false;
        let mut sends = false;
        for i in 0..self.edcafs.len() {
            let contender = self.contender(i);
            let (is_granted, is_empty) = (cx.air.is_granted(contender), self.edcafs[i].in_service.is_empty());
            match (is_granted, is_empty) {
                (true, true) => cx.air.finish(contender, Outcome::Discard, false, cx.now),
                (true, false) => sends = true,
                (false, _) => self.has_recalled |= is_empty,
            }
        }
        sends
    }
}
