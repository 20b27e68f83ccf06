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
        (self.is_away, self.backoff, self.next_on) = (true, 0, 0);
        self.send_on(flow, limits, counts, cx);
    }

    /// It is here again.
    pub(in crate::fastack) fn returns(&mut self, flow: FlowId, limits: &Limits, cx: &mut Cx) {
        (self.is_away, self.backoff) = (false, 0);
        self.arm(flow, limits, cx);
    }

    /// All copies, once more: the first time at once, then one after the other over the time until the next round. A queue on the way that
    /// is too short for all would refuse the same ones each time.
    pub(super) fn send_on(&mut self, flow: FlowId, limits: &Limits, counts: &mut Counts, cx: &mut Cx) {
        if self.next_on == 0 {
            if self.backoff >= ROUNDS {
                return;
            }
            self.backoff += 1;
        }
        let (copies, is_first) = (self.entries.len(), self.backoff == 1);
        let end = if is_first { copies } else { (self.next_on + 1).min(copies) };
        for place in self.next_on..end {
            let Some(copy) = self.entries[place].copy.as_ref() else { continue };
            let pkt = cx.copy(copy);
            self.renew(&pkt, cx);
            cx.inject(pkt, Toward::Route);
            counts.sent_on += 1;
        }
        self.next_on = if end < copies { end } else { 0 };
        self.arm_after(if is_first { 1 } else { copies as u64 }, flow, limits, cx);
    }
}
