//! The originator: the exchanges that a station conducts. @80211-2020 10.3.4, 10.23.2

use super::compose::mpdu;
use super::{Cx, Edcaf, Output, State, Station};
use crate::AfterTimeout;
use crate::air::Air;
use crate::contention::{Countdown, Outcome};
use crate::exchange::{Counter, Exchange, Step, Txop};
use crate::frame::Kind;
use crate::link::Order;
use crate::msdu::Msdu;
use crate::psdu::{Body, Frame, Mpdu, Psdu};
use crate::report::{Fate, InOrder, InPpdu, PsduReport, TxReport};
use crate::tx_queue::{Next, RaTid};
use engine::Class as When;
use phy::{MpduSet, TxPower, TxVector};
use units::{Dur, NodeId, SimTime};
use wire::Pkt;

/// The reason for which an exchange, or its beginning, came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// A step was not answered.
    Unanswered,
    /// A higher category of this station was granted at the same instant. @80211-2020 10.23.2.4
    Internal,
}

/// The MPDUs of a PSDU that were acknowledged.
#[derive(Debug, Clone, Copy)]
enum Acked<'a> {
    None,
    These(&'a MpduSet),
    All,
}

/// The step at which an exchange has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    /// Nothing was on the air: it was no attempt.
    Nothing,
    /// A frame before the data, an RTS for example.
    Rts,
    /// The data.
    Data,
}

impl Station {
    /// Takes the next MSDU of a category into service. Returns whether there is one.
    pub(super) fn take_next(&mut self, cx: &mut Cx<impl Air>, i: usize) -> bool {
        if self.edcafs[i].in_service.is_empty() {
            if self.edcafs[i].lets_go {
                self.note_expired(cx, i);
            }
            let edcaf = &mut self.edcafs[i];
            edcaf.in_service.begin(edcaf.queue.pop(cx.now, cx.all));
            let is_empty = edcaf.in_service.is_empty();
            edcaf.held_until = if is_empty { edcaf.queue.next_wakeup() } else { SimTime::NEVER };
            self.has_timers |= edcaf.held_until != SimTime::NEVER;
            self.note_dropped(cx, i);
        }
        let edcaf = &mut self.edcafs[i];
        edcaf.in_psdu = 1;
        let Some(msdu) = edcaf.in_service.front_mut() else { return false };
        if msdu.attempts == 0 {
            msdu.head = cx.now;
        }
        if self.transmit.is_some() {
            self.line_up(cx, i);
        }
        true
    }

    /// The interframe space of a category is that of the MSDU at the head of its line, if a scheme says so.
    fn line_up(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        let (Some(transmit), Some(msdu)) = (&mut self.transmit, self.edcafs[i].current()) else { return };
        let own = self.edcafs[i].aifsn;
        let aifsn = transmit.aifsn(msdu, cx.all.get(&msdu.pkt), own).max(1);
        let contender = self.contender(i);
        let access = &mut self.edcafs[i].access;
        let ifs = self.config.timing.sifs + self.config.timing.slot * u64::from(aifsn);
        if ifs != access.ifs {
            access.eifs = access.eifs - access.ifs + ifs;
            access.ifs = ifs;
            cx.air.set_ifs(cx.now, contender, access.ifs, access.eifs);
        }
    }

    /// Contention is won, by several categories perhaps: the highest of them transmits. @80211-2020 10.23.2.4
    pub(super) fn granted(&mut self, cx: &mut Cx<impl Air>) {
        debug_assert!(self.state == State::Idle && self.response.is_none(), "granted while {:?}", self.state);
        if self.has_recalled && !self.pass_over(cx) {
            return;
        }
        self.txop = Txop::default();
        if self.has_categories() {
            let mut highest = None;
            for i in (0..self.edcafs.len()).rev() {
                if !cx.air.is_granted(self.contender(i)) {
                    continue;
                }
                if highest.is_none() {
                    highest = Some(i);
                    continue;
                }
                self.active = i;
                let tx = self.next_tx_vector(cx, i);
                self.plan(i, tx, false);
                self.fail(cx, Failure::Internal);
            }
            self.active = highest.expect("one of its contenders was granted");
        }
        let edcaf = &mut self.edcafs[self.active];
        edcaf.counters.txops += 1;
        self.txop.ends = cx.now + edcaf.txop_limit;
        self.txop.least = edcaf.txop_exchanges;
        self.begin(cx);
    }

    /// The response that is due becomes the first step of an exchange, if the plan has one for it and virtual carrier sense
    /// would let this station send an RTS. It is an opportunity of one exchange.
    pub(super) fn reply(&mut self, cx: &mut Cx<impl Air>, response: &Frame) -> bool {
        if cx.air.nav() > cx.now {
            return false;
        }
        for i in (0..self.edcafs.len()).rev() {
            self.shape(cx.now, i);
            let Some(len) = self.edcafs[i].current().filter(|msdu| msdu.to == response.to).map(|it| it.mpdu) else {
                continue;
            };
            let tx = self.next_tx_vector(cx, i);
            let job = self.job(i, 0, len, 1, tx, true);
            if let Some(exchange) = self.plan.reply(&self.config, response, &job) {
                (self.active, self.tx, self.exchange, self.planned) = (i, tx, Some(exchange), None);
                self.edcafs[i].in_psdu = 1;
                self.txop = Txop::default();
                cx.air.seize(self.contender(i));
                self.start_exchange(cx);
                return true;
            }
        }
        false
    }

    /// The next exchange of the opportunity.
    pub(super) fn begin(&mut self, cx: &mut Cx<impl Air>) {
        if self.edcafs[self.active].requests() {
            self.begin_request(cx);
            return;
        }
        self.compose(cx, self.active);
        self.plan(self.active, self.tx, self.txop.exchanges > 0);
        self.start_exchange(cx);
    }

    /// The first step of the exchange that is written goes out.
    #[inline(always)]
    pub(super) fn start_exchange(&mut self, cx: &mut Cx<impl Air>) {
        self.txop.exchanges += 1;
        let Edcaf { counters, in_service, in_psdu, airtime, .. } = &mut self.edcafs[self.active];
        counters.exchanges += 1;
        *airtime = Dur::ZERO;
        for place in 0..*in_psdu {
            let Some(msdu) = in_service.get_mut(place) else { break };
            if msdu.seq.is_none() {
                msdu.seq = Some(self.links.number(RaTid::of(msdu)));
                msdu.first = cx.now;
                msdu.is_doomed = cx.air.dooms(cx.now, msdu.to, msdu.mpdu);
            }
            msdu.attempts = msdu.attempts.saturating_add(1);
        }
        self.send_step(cx);
    }

    fn step(&self) -> &Step {
        self.exchange.as_ref().expect("an exchange is under way").step()
    }

    #[inline(always)]
    pub(super) fn send_step(&mut self, cx: &mut Cx<impl Air>) {
        let step = *self.step();
        let is_data = step.kind == Kind::Data;
        let further = match is_data {
            true if self.has_further() => self.announce_fragment(cx),
            _ if self.txop.may_go_on(cx.now) => self.announce(cx, &step),
            _ => Dur::ZERO,
        };
        let edcaf = &mut self.edcafs[self.active];
        edcaf.counters.airtime += step.airtime;
        spend(edcaf, step.airtime);
        let first = edcaf.current().expect("an exchange under way has its MSDU");
        let label = first.label;
        // A CTS that begins something is for its transmitter. @80211-2020 9.3.1.3
        let to = if step.kind == Kind::Cts { self.node } else { first.to };
        let mut psdu = match step.kind {
            Kind::Data => {
                self.ppdus = self.ppdus.wrapping_add(1);
                let Edcaf { in_service, in_psdu, every, counters, .. } = edcaf;
                match in_service.front_mut() {
                    Some(one) if *in_psdu == 1 => Psdu::One(mpdu(one, cx.all, counters)),
                    _ => {
                        counters.a_mpdus.add(*in_psdu, step.psdu);
                        let several = in_service.iter_mut().take(*in_psdu);
                        let mpdus = several.map(|msdu| mpdu(msdu, cx.all, counters)).collect();
                        Psdu::Many { mpdus, every: *every }
                    }
                }
            }
            kind => {
                edcaf.counters.rts_sent += u64::from(kind == Kind::Rts);
                let body = match kind {
                    Kind::BlockAckReq => edcaf.request(cx.now, cx.all),
                    Kind::BlockAck => self.reverse.block_ack.take().unwrap_or(Body::Nothing),
                    _ => Body::Nothing,
                };
                Psdu::One(Mpdu { len: step.psdu, body })
            }
        };
        if is_data
            && self.links.aggregates()
            && let Some(of) = edcaf.current().map(RaTid::of)
        {
            let (mpdus, is_stalled) = (edcaf.in_psdu, std::mem::take(&mut edcaf.is_stalled));
            self.links.note_sent(of, mpdus, step.airtime, is_stalled);
            if let Some(own) = &self.piggyback {
                psdu.give_cue(own.cue(to, edcaf.has_more));
            }
            if std::mem::take(&mut self.reverse.grants) {
                psdu.grant();
            }
        }
        if let (Some(extended), true) = (&mut self.extended, is_data) {
            let asking = edcaf.psdu_mut().find(|msdu| msdu.is_extended);
            asking.into_iter().for_each(|msdu| extended.asked(cx.now, msdu.to));
        }
        let at_its_power = matches!(step.kind, Kind::Data | Kind::Rts | Kind::Cts);
        let power = if at_its_power { self.tx.power } else { TxPower::OWN };
        let frame = Frame {
            kind: step.kind,
            from: self.node,
            to,
            tx: TxVector { mode: step.mode, power, code: self.tx.code.filter(|_| is_data) },
            airtime: step.airtime,
            duration: step.duration + further,
            label,
            psdu,
        };
        self.state = State::Sending;
        self.announced = frame.duration;
        cx.air.transmit(frame);
    }

    /// True if the data frame at hand carries a fragment that others follow.
    pub(super) fn has_further(&self) -> bool {
        self.edcafs[self.active].current().is_some_and(|msdu| msdu.unacknowledged > 0 && msdu.has_further())
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<impl Air>) {
        if self.state != State::Sending {
            return;
        }
        match self.step().response {
            Some(response) => {
                self.state = State::Awaiting;
                self.sent_at = cx.now;
                self.wakeup = (cx.now + response.timeout, When::Between);
                if self.has_categories() {
                    let frame_end = (self.config.after_timeout == AfterTimeout::Eifs).then_some(cx.now);
                    let contender = self.contender(self.active);
                    cx.air.hold_others(contender, cx.now + response.timeout, frame_end);
                }
            }
            None => match self.exchange.as_mut().and_then(Exchange::advance) {
                Some(next) => {
                    self.wakeup = (cx.now + next.gap, When::Start);
                    self.state = State::Gap;
                }
                None => self.succeed(cx),
            },
        }
    }

    /// A frame of the receiver came while its response was awaited. Returns whether it is that.
    pub(super) fn answered(&mut self, cx: &mut Cx<impl Air>, frame: &Frame) -> bool {
        let Step { kind, response, .. } = *self.step();
        let is_last = matches!(kind, Kind::Data | Kind::BlockAckReq);
        let judged = if is_last { self.judge(frame) } else { None };
        let is_awaited = response.is_some_and(|response| response.kind == frame.kind);
        if judged.is_none() && (is_last || !is_awaited) {
            return false;
        }
        spend(&mut self.edcafs[self.active], frame.airtime);
        if self.edcafs[self.active].current().is_some_and(|msdu| msdu.is_withdrawn) {
            self.told_gap(cx, frame);
            return true;
        }
        if let Some((outcome, is_whole)) = judged {
            self.concluded(cx, frame, outcome, is_whole);
            return true;
        }
        let exchange = self.exchange.as_mut().expect("an exchange is under way");
        let gap = exchange.advance().map(|step| step.gap).expect("a step that is no data is followed by another");
        // A CTS resets the short counter: the reservation worked. @80211-2020 10.3.4.4
        self.edcafs[self.active].psdu_mut().for_each(|msdu| msdu.failures.0 = 0);
        self.state = State::Gap;
        self.wakeup = (cx.now + gap, When::Start);
        true
    }

    /// The verdict of a frame on the data that was sent: what the contention window makes of it, and whether all was acknowledged; `None` if it
    /// is no response to them.
    fn judge(&mut self, frame: &Frame) -> Option<(Outcome, bool)> {
        let edcaf = &self.edcafs[self.active];
        let Some(policy) = &mut self.ack_policy else {
            if edcaf.in_psdu == 1 && edcaf.requests_left == 0 {
                let awaited = if edcaf.requests() { Kind::BlockAck } else { Kind::Ack };
                return (frame.kind == awaited).then_some((Outcome::Success, true));
            }
            return self.judge_block_ack(frame);
        };
        self.seqs.clear();
        self.seqs.extend(edcaf.psdu().map(|msdu| msdu.seq.unwrap_or_default()));
        self.acknowledged.clear();
        let outcome = policy.judge(RaTid::of(edcaf.current()?), &self.seqs, frame, &mut self.acknowledged)?;
        Some((outcome, self.acknowledged.is_first(edcaf.in_psdu)))
    }

    /// The response to the data came: the exchange is over.
    fn concluded(&mut self, cx: &mut Cx<impl Air>, frame: &Frame, outcome: Outcome, is_whole: bool) {
        if self.has_categories() {
            cx.air.release_others(self.contender(self.active));
            self.unload(cx, frame);
        }
        self.edcafs[self.active].requests_left = 0;
        if !is_whole {
            self.partly_succeed(cx, outcome);
            return;
        }
        // A response repeats what is left of the Duration it responds to; one that announces more has something to ask.
        let asks = frame.duration > self.announced.saturating_sub(cx.now.since(self.sent_at));
        let response = if asks { self.response_to(cx, frame, &MpduSet::ONE) } else { None };
        if response.is_some() {
            // What was asked for goes before the rest of the opportunity.
            self.txop = Txop::default();
        }
        self.succeed(cx);
        if let Some(response) = response {
            self.respond(cx, frame, response);
        }
    }

    /// An attempt is over. Rate control and the queue are told, if they heed that. In line: what was received is a constant where all or
    /// nothing was.
    #[inline(always)]
    fn attempted(&mut self, cx: &Cx<impl Air>, acknowledged: Acked<'_>, went_out: bool) {
        let edcaf = &mut self.edcafs[self.active];
        let place = edcaf.walk.attempted();
        if edcaf.is_heeding || self.rates_heed {
            self.tell_attempt(cx.now, place, acknowledged, went_out);
        }
    }

    #[inline(never)]
    fn tell_attempt(&mut self, now: SimTime, (stage, nth): (u8, u8), acked: Acked<'_>, went_out: bool) {
        let mut all = MpduSet::NONE;
        let edcaf = &mut self.edcafs[self.active];
        let Some(link) = edcaf.current().map(RaTid::of) else { return };
        let ppdu = went_out.then_some(self.ppdus);
        let (mode, airtime, mpdus) = (self.tx.mode, edcaf.airtime, edcaf.in_psdu);
        let acknowledged = match acked {
            Acked::None => &MpduSet::NONE,
            Acked::These(these) => these,
            Acked::All => {
                all.set_first(mpdus);
                &all
            }
        };
        let of_one = PsduReport { link, ppdu, mode, stage, nth, airtime, mpdus, acknowledged };
        let of_group = PsduReport { stage: 0, nth: 0, acknowledged: &MpduSet::NONE, ..of_one };
        let is_group = link.to == NodeId::BROADCAST;
        if edcaf.is_heeding {
            edcaf.queue.attempted(now, if is_group { &of_group } else { &of_one });
        }
        if self.rates_heed && !is_group {
            self.rates.attempted(now, &of_one);
        }
    }

    /// The PSDU is delivered. The next one comes into service: in the same opportunity, if it fits.
    fn succeed(&mut self, cx: &mut Cx<impl Air>) {
        let n = self.edcafs[self.active].in_psdu;
        self.attempted(cx, Acked::All, true);
        let order = if self.links.aggregates() { self.order(cx.now) } else { None };
        if self.has_further() {
            // The burst goes on, whatever the opportunity: it is one MSDU. @80211-2020 10.3.2.12, 10.23.2.9
            let edcaf = &mut self.edcafs[self.active];
            edcaf.psdu_mut().for_each(Msdu::advance);
            edcaf.walk.end();
            self.state = State::BetweenExchanges;
            self.wakeup = (cx.now + self.config.timing.sifs, When::Start);
            return;
        }
        // All but the last of several are reported at once; the last, or the only one, when its successor is in service.
        for place in 0..n - 1 {
            if let Some((pkt, report)) = self.delivered(cx, place, order) {
                cx.out.push(Output::Done(pkt, report));
            }
        }
        let last = self.delivered(cx, n - 1, order);
        let wants = self.take_next(cx, self.active);
        self.go_on(cx, wants);
        if let Some((pkt, report)) = last {
            cx.out.push(Output::Done(pkt, report));
        }
    }

    /// The first MSDU in service was delivered: that at this place of the PSDU.
    #[inline]
    fn delivered(&mut self, cx: &mut Cx<impl Air>, place: usize, order: Option<Order>) -> Option<(Pkt, TxReport)> {
        let ppdu = self.in_ppdu(place);
        let edcaf = &mut self.edcafs[self.active];
        edcaf.counters.msdus_delivered += 1;
        if let (Some(extended), Some(msdu)) =
            (&mut self.extended, edcaf.in_service.front_mut().filter(|it| it.is_extended))
        {
            extended.answered(msdu.to);
        }
        // Reported where it stands: what is taken out is its packet.
        let msdu = edcaf.in_service.front()?;
        let in_order = order.and_then(|order| order.place(msdu));
        let report = msdu.report_in_order(cx.now, Fate::Delivered, Some(ppdu), in_order);
        let Msdu { pkt, mates, .. } = edcaf.in_service.pop_front()?;
        if let Some(mates) = mates.some() {
            edcaf.counters.msdus_delivered += mates.len() as u64;
            tell_mates(mates, report, cx.out);
        }
        Some((pkt, report))
    }

    /// After a success: the next exchange of the opportunity, if there is room, or back to contention.
    #[inline(always)]
    pub(super) fn go_on(&mut self, cx: &mut Cx<impl Air>, wants: bool) {
        if self.reverse.follows {
            self.yield_to_burst(cx);
        } else if wants && self.txop.may_go_on(cx.now) && self.next_fits(cx) {
            // No category of this station can be granted before: an AIFS is longer.
            self.state = State::BetweenExchanges;
            self.wakeup = (cx.now + self.config.timing.sifs, When::Start);
        } else {
            self.rest(cx, Outcome::Success, cx.now, wants);
            if self.txop.reserved > cx.now {
                self.give_back(cx);
            }
        }
    }

    fn next_fits(&mut self, cx: &Cx<impl Air>) -> bool {
        let i = self.active;
        let length = if self.edcafs[i].requests() {
            self.plan_request(i).length()
        } else {
            let tx = self.next_tx_vector(cx, i);
            self.plan(i, tx, self.txop.exchanges > 0).length()
        };
        let length = if self.reverse.is_on { length + self.kept_free_behind(i) } else { length };
        self.txop.has_room_until(cx.now + self.config.timing.sifs + length)
    }

    /// Some MPDUs of the PSDU were received, or none and the receiver says so.
    fn partly_succeed(&mut self, cx: &mut Cx<impl Air>, outcome: Outcome) {
        let counter = self.step().counter;
        let acknowledged = std::mem::take(&mut self.acknowledged);
        self.attempted(cx, Acked::These(&acknowledged), true);
        let (_, last) = self.sort_out(cx, &acknowledged, counter, Reached::Data);
        self.acknowledged = acknowledged;
        let wants = self.take_next(cx, self.active);
        match outcome {
            Outcome::Success => self.go_on(cx, wants),
            outcome => self.rest(cx, outcome, cx.now, wants),
        }
        if let Some((msdu, ppdu)) = last {
            self.give_up(cx, msdu, ppdu, None);
        }
    }

    /// The MSDUs of a PSDU of which these were received are delivered, tried again, taken back by their queue or given up. What is tried
    /// again stays in service, in order. Returns how many these are; and the MSDU that is given up of a PSDU of one, which is told when
    /// its successor is in service.
    fn sort_out(
        &mut self,
        cx: &mut Cx<impl Air>,
        acknowledged: &MpduSet,
        counter: Counter,
        reached: Reached,
    ) -> (usize, Option<(Msdu, Option<InPpdu>)>) {
        let n = self.edcafs[self.active].in_psdu;
        let agreement = self.agreement();
        let mut order = if agreement.is_some() { self.order(cx.now) } else { None };
        let (mut kept, mut last, mut yields) = (0, None, false);
        for place in 0..n {
            if acknowledged.contains(place) {
                if let Some((pkt, report)) = self.delivered(cx, place, order) {
                    cx.out.push(Output::Done(pkt, report));
                }
                continue;
            }
            let ppdu = if reached == Reached::Data { Some(self.in_ppdu(place)) } else { None };
            let edcaf = &mut self.edcafs[self.active];
            let mut msdu = edcaf.in_service.pop_front().expect("the PSDU has so many MSDUs");
            if let Some(order) = &mut order {
                order.stops_at(&msdu);
            }
            if self.reports_attempts && reached != Reached::Nothing {
                let report = msdu.report(cx.now, Fate::Attempt, ppdu);
                cx.out.push(Output::Attempt(cx.all.share(&msdu.pkt), report));
                for Msdu { pkt, serial, enqueued, head, .. } in msdu.mates.each() {
                    let report = TxReport { serial: *serial, enqueued: *enqueued, head: *head, ..report };
                    cx.out.push(Output::Attempt(cx.all.share(pkt), report));
                }
            }
            let is_last = count_failure(&mut msdu, counter, &self.config);
            let is_last = agreement.map_or(is_last, |it| it.ends(&msdu, cx.now));
            match edcaf.queue.failed(cx.now, msdu, is_last, cx.all) {
                Next::Again(msdu) => {
                    edcaf.in_service.push_back(msdu);
                    kept += 1;
                }
                Next::GiveUp(mut msdu) if agreement.is_some_and(|it| it.tells_gaps) && msdu.seq.is_some() => {
                    (msdu.is_withdrawn, msdu.failures) = (true, (0, 0));
                    edcaf.in_service.push_back(msdu);
                    kept += 1;
                }
                Next::Yield => yields = true,
                Next::GiveUp(msdu) if n == 1 => last = Some((msdu, ppdu)),
                Next::GiveUp(msdu) => self.give_up(cx, msdu, ppdu, None),
            }
        }
        // What is kept goes before what was taken ahead of its time.
        let edcaf = &mut self.edcafs[self.active];
        edcaf.in_service.move_to_front(kept);
        edcaf.in_psdu = kept.max(1);
        if yields {
            self.put_back(cx, kept);
        }
        (kept, last)
    }

    /// Gives MSDUs that were taken ahead of their time, behind the first `kept`, back to a queue that takes them, the last first: it
    /// decides anew which is next.
    #[cold]
    fn put_back(&mut self, cx: &mut Cx<impl Air>, kept: usize) {
        let Edcaf { in_service, queue, .. } = &mut self.edcafs[self.active];
        while in_service.len() > kept {
            let Some(msdu) = in_service.pop_back() else { return };
            if let Some(msdu) = queue.put_back(cx.now, msdu, cx.all) {
                in_service.push_back(msdu);
                return;
            }
        }
    }

    /// `told` is the order of which its receiver was told, if it was.
    pub(super) fn give_up(&mut self, cx: &mut Cx<impl Air>, msdu: Msdu, ppdu: Option<InPpdu>, told: Option<Order>) {
        let in_order = told.and_then(|told| told.place(&msdu)).filter(InOrder::is_handed_up);
        if let (None, Some(seq), true) = (in_order, msdu.seq, self.links.aggregates()) {
            self.links.abandon(cx.now, RaTid::of(&msdu), seq);
        }
        self.edcafs[self.active].counters.msdus_given_up += u64::from(msdu.msdus());
        // A reservation that was not answered says nothing of options.
        if let (Some(extended), true) = (&mut self.extended, msdu.is_extended && msdu.data_sent) {
            extended.gave_up(msdu.to);
        }
        let report = msdu.report_in_order(cx.now, Fate::GivenUp, ppdu, in_order);
        if let Some(mates) = msdu.mates.some() {
            tell_mates(mates, report, cx.out);
        }
        cx.out.push(Output::Done(msdu.pkt, report));
    }

    /// The step was not answered, or a higher category went first. That counts as if it had collided, but nothing was on the
    /// air: it is no attempt, and none is reported.
    pub(super) fn fail(&mut self, cx: &mut Cx<impl Air>, why: Failure) {
        let Step { counter, kind, .. } = *self.step();
        let reached = match (why, kind) {
            (Failure::Internal, _) => Reached::Nothing,
            // A request asks for the outcome of data that went out.
            (Failure::Unanswered, Kind::Data | Kind::BlockAckReq) => Reached::Data,
            (Failure::Unanswered, _) => Reached::Rts,
        };
        let settled = if self.links.aggregates() { self.settle_request(cx, reached) } else { None };
        let edcaf = &mut self.edcafs[self.active];
        let not_before = match why {
            Failure::Unanswered => {
                edcaf.counters.failures += 1;
                let waited = cx.now.since(self.sent_at);
                let not_before = self.config.countdown_after_timeout(&edcaf.access, cx.now, waited);
                if settled.is_none() {
                    self.attempted(cx, Acked::None, reached == Reached::Data);
                }
                not_before
            }
            // This slot boundary was spent on the collision. @80211-2020 10.23.2.4
            Failure::Internal => {
                edcaf.counters.internal_collisions += 1;
                cx.now + edcaf.access.slot
            }
        };
        if let Some((outcome, wants)) = settled {
            self.rest(cx, outcome, not_before, wants);
            return;
        }
        let (kept, last) = self.sort_out(cx, &MpduSet::NONE, counter, reached);
        let wants = kept > 0 || self.take_next(cx, self.active);
        let outcome = if last.is_some() { Outcome::Discard } else { Outcome::Failure };
        self.rest(cx, outcome, not_before, wants);
        if let Some((msdu, ppdu)) = last {
            self.give_up(cx, msdu, ppdu, None);
        }
    }

    /// Back to contention. A backoff that may begin at once begins at the next slot boundary.
    pub(super) fn rest(&mut self, cx: &mut Cx<impl Air>, outcome: Outcome, not_before: SimTime, wants: bool) {
        self.state = State::Idle;
        self.wakeup = (SimTime::NEVER, When::Between);
        let contender = self.contender(self.active);
        let outcome = match self.edcafs[self.active].current() {
            Some(next) if self.config.cw_by_frame => {
                Outcome::Failures(next.failures.0.saturating_add(next.failures.1))
            }
            _ => outcome,
        };
        let is_free = not_before == cx.now && self.config.countdown == Countdown::Edca;
        let begin = if is_free { cx.air.next_boundary(cx.now, contender) } else { not_before };
        cx.air.finish(contender, outcome, wants, begin);
    }
}

/// Those who shared an MPDU have its fate.
fn tell_mates(mates: impl Iterator<Item = Msdu>, of: TxReport, out: &mut Vec<Output>) {
    for mate in mates {
        let Msdu { serial, enqueued, head, .. } = mate;
        out.push(Output::Done(mate.pkt, TxReport { serial, enqueued, head, ..of }));
    }
}

/// Time on the air of an exchange, which the MSDUs of its PSDU share.
#[inline(always)]
fn spend(edcaf: &mut Edcaf, airtime: Dur) {
    edcaf.airtime += airtime;
    if let (1, Some(msdu)) = (edcaf.in_psdu, edcaf.in_service.front_mut()) {
        msdu.airtime += airtime;
        return;
    }
    let share = airtime / edcaf.in_psdu as u64;
    edcaf.psdu_mut().for_each(|msdu| msdu.airtime += share);
}

/// One more failure of an MSDU. Returns whether it was its last.
fn count_failure(msdu: &mut Msdu, counter: Counter, config: &crate::Config) -> bool {
    let (failures, most) = match counter {
        Counter::Short => (&mut msdu.failures.0, config.max_attempts),
        Counter::Long => (&mut msdu.failures.1, config.max_attempts_long),
    };
    *failures = failures.saturating_add(1);
    *failures >= most
}
