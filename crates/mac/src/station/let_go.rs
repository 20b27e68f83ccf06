//! MSDUs that a category's queue lets go of: dropped, expired, recalled.

use super::{Cx, Output, Station};
use crate::air::Air;
use crate::msdu::Msdu;
use crate::report::Fate;
use crate::tx_queue::{RaTid, Sought};
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

    /// Takes all MSDUs for `to` out of its queues, since that neighbour has gone: lowest category first, each in its order. What is in
    /// service is tried to its end.
    pub fn recall(&mut self, now: SimTime, to: NodeId, all: &Packets) -> Vec<Pkt> {
        let mut recalled = Vec::new();
        for i in 0..self.edcafs.len() {
            while let Some(msdu) = self.edcafs[i].queue.withdraw(now, Sought::To(to), all) {
                if let Some(seq) = msdu.seq {
                    self.links.abandon(now, RaTid::of(&msdu), seq);
                }
                recalled.extend(msdu.into_packets());
            }
        }
        self.own.msdus_abandoned += recalled.len() as u64;
        recalled
    }
}
