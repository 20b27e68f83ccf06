//! The originator of agreements: what a Block Ack says, and Block Ack Requests. @80211-2020 10.25.6.4, 10.25.6.5

use super::originator::Reached;
use super::{Cx, Station};
use crate::aggregation::{AfterSilence, Agreement};
use crate::air::Air;
use crate::contention::Outcome;
use crate::frame::Kind;
use crate::link::Order;
use crate::psdu::Frame;
use crate::tx_queue::RaTid;
use units::{Dur, SimTime};

impl Station {
    /// A Block Ack Request goes out: no attempt of any MSDU but of what was withdrawn, whose limit it counts against.
    #[cold]
    pub(super) fn begin_request(&mut self, cx: &mut Cx<impl Air>) {
        self.plan_request(self.active);
        self.txop.exchanges += 1;
        let edcaf = &mut self.edcafs[self.active];
        edcaf.counters.exchanges += 1;
        edcaf.counters.block_ack_requests += 1;
        edcaf.airtime = Dur::ZERO;
        self.send_step(cx);
        self.note_dropped(cx, self.active);
    }

    /// The verdict of a Block Ack on the PSDU. However empty, it resets the contention window: the frame has arrived.
    pub(super) fn judge_block_ack(&mut self, frame: &Frame) -> Option<(Outcome, bool)> {
        let bitmap = frame.psdu.mpdus()[0].bitmap()?;
        if frame.kind != Kind::BlockAck {
            return None;
        }
        self.reverse.follows = bitmap.is_before_a_ppdu();
        let edcaf = &self.edcafs[self.active];
        self.acknowledged.clear();
        let received = edcaf.psdu().enumerate().filter(|(_, msdu)| msdu.seq.is_some_and(|seq| bitmap.contains(seq)));
        self.acknowledged.extend(received.map(|(place, _)| place));
        Some((Outcome::Success, self.acknowledged.is_first(edcaf.in_psdu)))
    }

    /// The receiver knows that the MSDUs at the head of the line are not sent any more: they are given up.
    #[cold]
    pub(super) fn told_gap(&mut self, cx: &mut Cx<impl Air>, frame: &Frame) {
        if self.has_categories() {
            cx.air.release_others(self.contender(self.active));
        }
        self.unload(cx, frame);
        let edcaf = &self.edcafs[self.active];
        let of = edcaf.current().map(RaTid::of);
        let order = of.and_then(|of| self.links.told(of, edcaf.requested));
        self.give_up_withdrawn(cx, order);
        let wants = self.take_next(cx, self.active);
        self.go_on(cx, wants);
    }

    /// `order` is that of which the receiver was told, if it was.
    fn give_up_withdrawn(&mut self, cx: &mut Cx<impl Air>, order: Option<Order>) {
        for _ in 0..self.edcafs[self.active].in_psdu {
            if let Some(msdu) = self.edcafs[self.active].in_service.pop_front() {
                self.give_up(cx, msdu, None, order);
            }
        }
    }

    /// The agreement under which the PSDU at hand goes, unless a scheme acknowledges its own way.
    #[inline]
    pub(super) fn agreement(&mut self) -> Option<Agreement> {
        if !self.links.aggregates() || self.ack_policy.is_some() {
            return None;
        }
        let of = RaTid::of(self.edcafs[self.active].current()?);
        self.links.agreement(of)
    }

    /// The order of that agreement, as the PSDU at hand finds it.
    pub(super) fn order(&mut self, now: SimTime) -> Option<Order> {
        let first = self.edcafs[self.active].current().filter(|_| self.ack_policy.is_none())?;
        let (of, seq) = (RaTid::of(first), first.seq?);
        self.links.order(now, of, seq)
    }

    /// After a failure under an agreement, if a Block Ack Request goes next, for the first time or again, or was given up: what that
    /// means for the contention window, and whether there is something to send.
    #[inline(never)]
    pub(super) fn settle_request(&mut self, cx: &mut Cx<impl Air>, reached: Reached) -> Option<(Outcome, bool)> {
        let agreement = self.agreement()?;
        let most = self.config.max_attempts;
        let edcaf = &mut self.edcafs[self.active];
        let msdu = edcaf.in_service.front_mut()?;
        if msdu.is_withdrawn {
            msdu.failures.0 += u8::from(reached != Reached::Nothing);
            if msdu.failures.0 < most {
                return Some((Outcome::Failure, true));
            }
            // Nobody answers: the receiver finds the gap by itself.
            self.give_up_withdrawn(cx, None);
            return Some((Outcome::Discard, self.take_next(cx, self.active)));
        }
        let asks = agreement.after_silence == AfterSilence::Request && !agreement.ends(msdu, cx.now);
        edcaf.requests_left = match edcaf.requests_left {
            _ if !asks => 0,
            0 if reached == Reached::Data && edcaf.in_psdu > 1 => most,
            left => left - u8::from(left > 0 && reached == Reached::Data),
        };
        (edcaf.requests_left > 0).then_some((Outcome::Failure, true))
    }
}
