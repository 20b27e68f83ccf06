//! A client that has gone over to another access point.

use super::{Conn, Counts, Limits};
use crate::{Cx, Toward};
use units::FlowId;

/// Times that all copies go after a client that has left by radio, at doubling intervals.
const ROUNDS: u32 = 8;

impl Conn {
    /// Its client has left: the copies go after it by whatever way leads to it now.
    pub(in crate::fastack) fn leaves(&mut self, flow: FlowId, limits: &Limits, counts: &mut Counts, cx: &mut Cx) {
        self.entries.retain(|entry| entry.copy.is_some());
        self.entries.iter_mut().for_each(|entry| entry.in_mac = 0);
        (self.is_away, self.backoff) = (true, 0);
        self.send_on(flow, limits, counts, cx);
    }

    /// It is here again.
    pub(in crate::fastack) fn returns(&mut self, flow: FlowId, limits: &Limits, cx: &mut Cx) {
        (self.is_away, self.backoff) = (false, 0);
        self.arm(flow, limits, cx);
    }

    /// All copies, once more.
    pub(super) fn send_on(&mut self, flow: FlowId, limits: &Limits, counts: &mut Counts, cx: &mut Cx) {
        if self.backoff >= ROUNDS {
            return;
        }
        self.backoff += 1;
        for entry in &self.entries {
            let Some(copy) = &entry.copy else { continue };
            let pkt = cx.copy(copy);
            self.renew(&pkt, cx);
            cx.inject(pkt, Toward::Route);
            counts.sent_on += 1;
        }
        self.arm(flow, limits, cx);
    }
}
