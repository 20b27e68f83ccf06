//! The recipient: what a station makes of others' frames. @80211-2020 10.3.2.9, 10.3.2.11, 10.3.2.14

use super::originator::Failure;
use super::reassembly::Fragment;
use super::{Cx, Output, State, Station};
use crate::ack::Delivery;
use crate::aggregation::longest_psdu;
use crate::air::Air;
use crate::block_ack::{Held, Inbound};
use crate::counters::Counters;
use crate::exchange::Response;
use crate::frame::{Kind, block_ack};
use crate::psdu::{Bitmap, Body, Carried, Frame, Loaded, Mpdu, Msdus, Psdu};
use engine::Class as When;
use phy::MpduSet;
use units::{Bytes, NodeId, SimTime};
use wire::Packets;

impl Station {
    pub(super) fn received(&mut self, cx: &mut Cx<impl Air>, frame: &Frame, got: &MpduSet) {
        if matches!(self.state, State::Awaiting | State::Hearing | State::Yielded | State::Yielding) {
            if matches!(self.state, State::Yielded | State::Yielding) {
                self.meet_burst(cx, frame);
            } else {
                if self.is_from_peer(frame) && self.answered(cx, frame) {
                    return;
                }
                // Another frame instead of the response: the exchange has failed. @80211-2020 10.3.2.11
                self.fail(cx, Failure::Unanswered);
            }
        }
        // A reserved subtype means nothing to a station that does not know it. @80211-2020 9.2.4.1.3, @KLI06 section 4.4.3
        if self.extended.is_none() && frame.is_extended() {
            return;
        }
        if let Some(response) = self.response_to(cx, frame, got) {
            self.respond(cx, frame, response);
        }
        match frame.kind {
            Kind::Data => self.take_in(cx, frame, got),
            Kind::BlockAckReq => self.move_window(cx, frame),
            _ => {}
        }
    }

    /// A frame for this station was lost behind its MAC header.
    pub(super) fn damaged(&mut self, cx: &mut Cx<impl Air>, frame: &Frame) {
        self.waited_out(cx);
        let response = self.recipient.as_mut().and_then(|recipient| recipient.damaged(&self.config, frame));
        if let Some(response) = response {
            self.respond(cx, frame, response);
        }
    }

    /// A frame has ended that this station waited out, and it was none for it.
    pub(super) fn waited_out(&mut self, cx: &mut Cx<impl Air>) {
        if matches!(self.state, State::Hearing | State::Yielded) {
            if self.state == State::Hearing { self.fail(cx, Failure::Unanswered) } else { self.end_yield(cx) }
        }
    }

    fn is_from_peer(&self, frame: &Frame) -> bool {
        frame.to == self.node && self.psdu().next().is_some_and(|msdu| msdu.to == frame.from)
    }

    /// The response that follows this frame a SIFS later.
    #[inline(always)]
    pub(super) fn response_to(&mut self, cx: &mut Cx<impl Air>, frame: &Frame, got: &MpduSet) -> Option<Response> {
        if frame.to != self.node {
            return None;
        }
        let mut response = self.plan.respond(&self.config, frame, cx.air.nav() <= cx.now);
        if self.recipient.is_some() || self.links.aggregates() {
            response = response.and_then(|proposed| self.amend(cx, frame, got, proposed));
        }
        response
    }

    /// The response in place of the one that the plan proposes: a recipient's own, or one of block acknowledgment.
    #[inline(never)]
    fn amend(&mut self, cx: &mut Cx<impl Air>, frame: &Frame, got: &MpduSet, proposed: Response) -> Option<Response> {
        match &mut self.recipient {
            Some(recipient) if frame.kind == Kind::Data => recipient.respond(&self.config, frame, got, proposed),
            Some(_) => Some(proposed),
            None => self.block_ack(cx.now, frame, got, proposed, cx.all),
        }
    }

    /// Block acknowledgment: it notes what was received, and answers an A-MPDU or a request by a Block Ack.
    /// @80211-2020 10.25.6.3, 10.25.6.5
    fn block_ack(
        &mut self,
        now: SimTime,
        frame: &Frame,
        got: &MpduSet,
        proposed: Response,
        all: &mut Packets,
    ) -> Option<Response> {
        let mpdus = frame.psdu.mpdus();
        let tid = match &mpdus[0].body {
            Body::Data(data) => data.qos.map(|qos| qos.user_priority),
            Body::Request(request) => Some(request.tid),
            Body::Nothing | Body::Bitmap(_) | Body::Loaded(_) => return Some(proposed),
        };
        let id = self.links.find_or_add(frame.from, tid);
        let Some(inbound) = self.links.get_mut(id).inbound() else {
            return (frame.kind == Kind::Data).then_some(proposed);
        };
        if let Body::Request(request) = mpdus[0].body {
            inbound.board.move_to(request.start);
        }
        for data in got.iter().filter_map(|place| mpdus[place].data()) {
            inbound.board.note(data.seq, data.is_retry);
        }
        if frame.kind == Kind::Data {
            if mpdus.len() == 1 {
                if let Some(piggyback) = &mut self.piggyback {
                    _ = piggyback.load(frame, got, Bytes::ZERO, all);
                }
                return Some(proposed);
            }
            // They go up together at the end of the PPDU, in the standard each at its own: what the stack answers to any but the last is
            // queued while the medium is busy, and draws a backoff. @80211-2020 10.25.6.6, 10.23.2.2 a)
            if got.iter().any(|place| place + 1 < mpdus.len()) {
                self.taken_in = now;
            }
            self.reverse.note_grant(now, frame, got);
        }
        let bitmap = inbound.board.bitmap().for_tid(tid.unwrap_or_default());
        let body = if self.piggyback.is_some() { self.loaded(bitmap, frame, got, all) } else { Body::Bitmap(bitmap) };
        Some(Response::to(&self.config, frame.tx.mode, frame.duration, Kind::BlockAck, body))
    }

    /// The content of a Block Ack that ends within what this frame has announced.
    fn loaded(&mut self, bitmap: Bitmap, frame: &Frame, got: &MpduSet, all: &mut Packets) -> Body {
        let mode = self.config.control_modes.response_to(frame.tx.mode);
        let longest = longest_psdu(mode, frame.duration.saturating_sub(self.config.timing.sifs));
        let room = Bytes(longest.0.saturating_sub(block_ack(bitmap.width()).0));
        let piggyback = self.piggyback.as_mut();
        match piggyback.and_then(|piggyback| piggyback.load(frame, got, room, all)) {
            Some(load) => {
                debug_assert!(load.bytes.len() as u64 <= room.0, "a load beyond what was announced");
                Loaded::body(bitmap, load)
            }
            None => Body::Bitmap(bitmap),
        }
    }

    /// Hands up the packets that a Block Ack brought beside its bitmap.
    #[inline(always)]
    pub(super) fn unload(&mut self, cx: &mut Cx<impl Air>, frame: &Frame) {
        if self.piggyback.is_some() && frame.kind == Kind::BlockAck {
            self.unload_block_ack(cx, frame);
        }
    }

    #[cold]
    #[inline(never)]
    fn unload_block_ack(&mut self, cx: &mut Cx<impl Air>, frame: &Frame) {
        let Some(piggyback) = &mut self.piggyback else { return };
        let out = &mut *cx.out;
        piggyback.unload(frame, cx.all, &mut |delivery| out.push(Output::Deliver(delivery)));
    }

    pub(super) fn respond(&mut self, cx: &Cx<impl Air>, to: &Frame, response: Response) {
        debug_assert!(self.response.is_none(), "two responses at once");
        let Response { kind, mode, airtime, duration, len, body } = response;
        let psdu = Psdu::One(Mpdu { len, body });
        let (from, to, tx, label) = (self.node, to.from, mode.into(), to.label);
        self.response = Some(Frame { kind, from, to, tx, airtime, duration, label, psdu });
        self.wakeup = (cx.now + self.config.timing.sifs, When::Start);
    }

    /// A Block Ack Request: what is before its number is settled.
    #[cold]
    fn move_window(&mut self, cx: &mut Cx<impl Air>, frame: &Frame) {
        let Body::Request(request) = frame.psdu.mpdus()[0].body else { return };
        let id = self.links.find_or_add(frame.from, Some(request.tid));
        if let (Some(inbound), None) = (self.links.get_mut(id).inbound(), &self.recipient) {
            inbound.reorder.move_to(cx.now, request.start, &mut up(cx.out, &mut self.own));
            self.gaps_due = self.gaps_due.min(inbound.reorder.due());
        }
    }

    /// Gaps that have lasted too long are given up, in all reorder buffers.
    #[cold]
    pub(super) fn expire_gaps(&mut self, cx: &mut Cx<impl Air>) {
        self.gaps_due = SimTime::NEVER;
        for inbound in self.links.inbound() {
            let gaps = inbound.reorder.expire(cx.now, &mut up(cx.out, &mut self.own));
            self.own.gaps_given_up += gaps;
            self.gaps_due = self.gaps_due.min(inbound.reorder.due());
        }
    }

    /// The queue of a frame's category is told of its airtime.
    #[inline(never)]
    fn tell_heard(&mut self, frame: &Frame) {
        let first = frame.psdu.mpdus().first().and_then(|mpdu| mpdu.data());
        let category = first.and_then(|data| data.qos).map_or(0, |qos| usize::from(qos.category));
        let last = self.edcafs.len() - 1;
        let edcaf = &mut self.edcafs[category.min(last)];
        if edcaf.is_heeding {
            edcaf.queue.heard(frame.from, frame.airtime);
        }
    }

    /// The MSDUs of a data frame go up, past the duplicate cache or whatever the recipient does with them.
    fn take_in(&mut self, cx: &mut Cx<impl Air>, frame: &Frame, got: &MpduSet) {
        if self.hears_airtime && frame.to == self.node {
            self.tell_heard(frame);
        }
        if let Some(recipient) = &mut self.recipient {
            let (counters, out) = (&mut self.own, &mut *cx.out);
            recipient.receive(cx.now, frame, got, cx.all, &mut |delivery| {
                counters.msdus_received += 1;
                out.push(Output::Deliver(delivery));
            });
            return;
        }
        for (_, mpdu) in frame.psdu.mpdus().iter().enumerate().filter(|(place, _)| got.contains(*place)) {
            let Some(data) = mpdu.data() else { continue };
            // Duplicates are acknowledged and filtered. @80211-2020 10.3.2.14
            let id = self.links.find_or_add(frame.from, data.qos.map(|qos| qos.user_priority));
            let link = self.links.get_mut(id);
            if let Some(Inbound { reorder, .. }) = link.inbound() {
                if !reorder.is_new(data.seq, data.is_retry) {
                    self.own.duplicates += 1;
                    continue;
                }
                let what = held(&data.msdus, frame.from, cx.all);
                reorder.arrives(cx.now, data.seq, what, &mut up(cx.out, &mut self.own));
                self.gaps_due = self.gaps_due.min(reorder.due());
                continue;
            }
            if data.fragment > 0 || data.more_fragments {
                let is_whole = link.has(cx.now, data.seq, data.is_retry);
                match self.reassembly.arrives(cx.now, id, data.seq, data.fragment, data.more_fragments, is_whole) {
                    Fragment::Last => _ = link.is_duplicate(cx.now, data.seq, false),
                    Fragment::Duplicate => {
                        self.own.duplicates += 1;
                        continue;
                    }
                    Fragment::Taken | Fragment::Stray => continue,
                }
            } else if link.is_duplicate(cx.now, data.seq, data.is_retry) {
                self.own.duplicates += 1;
                continue;
            }
            self.own.msdus_received += data.msdus.each().len() as u64;
            hand_up(&data.msdus, frame.from, cx);
        }
    }
}

/// The MSDUs of an MPDU, in this station's care.
fn held(msdus: &Msdus, from: NodeId, all: &mut Packets) -> Held {
    let mut delivery =
        |carried: &Carried| Delivery { pkt: all.copy_shared(&carried.packet), from, options: carried.options };
    match msdus {
        Msdus::One(one) => Held::One(delivery(one)),
        Msdus::Many(many) => Held::Many(many.iter().map(delivery).collect()),
    }
}

/// Hands up what a reorder buffer releases.
fn up(out: &mut Vec<Output>, counters: &mut Counters) -> impl FnMut(Held) {
    move |what| {
        what.each(|delivery| {
            counters.msdus_received += 1;
            out.push(Output::Deliver(delivery));
        });
    }
}

fn hand_up(msdus: &Msdus, from: NodeId, cx: &mut Cx<impl Air>) {
    for carried in msdus.each() {
        let pkt = cx.all.copy_shared(&carried.packet);
        cx.out.push(Output::Deliver(Delivery { pkt, from, options: carried.options }));
    }
}
