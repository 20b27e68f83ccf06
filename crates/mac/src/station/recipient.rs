//! The recipient: what a station makes of others' frames. @80211-2020 10.3.2.9, 10.3.2.11, 10.3.2.14

use super::originator::Failure;
use super::reassembly::Fragment;
use super::{Cx, Output, State, Station};
use crate::ack::Delivery;
use crate::air::Air;
use crate::exchange::Response;
use crate::frame::Kind;
use crate::psdu::{Frame, Mpdu, Msdus, Psdu};
use engine::Class as When;
use phy::MpduSet;
use units::NodeId;

impl Station {
    pub(super) fn received(&mut self, cx: &mut Cx<impl Air>, frame: &Frame, got: &MpduSet) {
        if matches!(self.state, State::Awaiting | State::Hearing) {
            if self.is_from_peer(frame) && self.answered(cx, frame) {
                return;
            }
            // Another frame instead of the response: the exchange has failed. @80211-2020 10.3.2.11
            self.fail(cx, Failure::Unanswered);
        }
        // A reserved subtype means nothing to a station that does not know it. @80211-2020 9.2.4.1.3, @KLI06 section 4.4.3
        if self.extended.is_none() && frame.is_extended() {
            return;
        }
        if let Some(response) = self.response_to(cx, frame, got) {
            self.respond(cx, frame, response);
        }
        if frame.kind == Kind::Data {
            self.take_in(cx, frame, got);
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
        if self.state == State::Hearing {
            self.fail(cx, Failure::Unanswered);
        }
    }

    fn is_from_peer(&self, frame: &Frame) -> bool {
        frame.to == self.node && self.psdu().next().is_some_and(|msdu| msdu.to == frame.from)
    }

    /// What follows this frame a SIFS later.
    #[inline(always)]
    pub(super) fn response_to(&mut self, cx: &Cx<impl Air>, frame: &Frame, got: &MpduSet) -> Option<Response> {
        if frame.to != self.node {
            return None;
        }
        let proposed = self.plan.respond(&self.config, frame, cx.air.nav() <= cx.now)?;
        match &mut self.recipient {
            Some(recipient) if frame.kind == Kind::Data => recipient.respond(&self.config, frame, got, proposed),
            _ => Some(proposed),
        }
    }

    pub(super) fn respond(&mut self, cx: &Cx<impl Air>, to: &Frame, response: Response) {
        debug_assert!(self.response.is_none(), "two responses at once");
        let Response { kind, mode, airtime, duration, len, body } = response;
        let psdu = Psdu::One(Mpdu { len, body });
        let (from, to, tx, label) = (self.node, to.from, mode.into(), to.label);
        self.response = Some(Frame { kind, from, to, tx, airtime, duration, label, psdu });
        self.wakeup = (cx.now + self.config.timing.sifs, When::Start);
    }

    /// The MSDUs of a data frame go up, past the duplicate cache or whatever the recipient does with them.
    fn take_in(&mut self, cx: &mut Cx<impl Air>, frame: &Frame, got: &MpduSet) {
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
            let id = self.links.of(frame.from, data.qos.map(|qos| qos.user_priority));
            let link = self.links.get_mut(id);
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

fn hand_up(msdus: &Msdus, from: NodeId, cx: &mut Cx<impl Air>) {
    for carried in msdus.each() {
        let pkt = cx.all.copy_shared(&carried.packet);
        cx.out.push(Output::Deliver(Delivery { pkt, from, options: carried.options }));
    }
}
