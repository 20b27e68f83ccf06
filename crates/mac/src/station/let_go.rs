//! MSDUs that a category's queue lets go of: popped ahead of their time, dropped, expired.

use super::{Cx, Output, Station};
use crate::air::Air;
use crate::msdu::Msdu;
use crate::report::Fate;
use crate::tx_queue::RaTid;

impl Station {
    /// The next MSDU of a category's queue, after that has dropped what expired, ahead of its time.
    pub(super) fn pop_ahead(&mut self, cx: &mut Cx<impl Air>, i: usize) -> Option<Msdu> {
        if self.edcafs[i].lets_go {
            self.note_expired(cx, i);
        }
        let popped = self.edcafs[i].queue.pop(cx.now, cx.all);
        self.note_dropped(cx, i);
        popped
    }

    /// MSDUs that the queue of a category has dropped are done with, as if they had been refused.
    #[inline(always)]
    pub(super) fn note_dropped(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        if self.edcafs[i].lets_go {
            self.note_each_dropped(cx, i);
        }
    }

    #[inline(never)]
    fn note_each_dropped(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        let edcaf = &mut self.edcafs[i];
        while let Some(msdu) = edcaf.queue.dropped(cx.all) {
            edcaf.counters.msdus_refused += 1;
            if let Some(seq) = msdu.seq {
                self.links.abandon(cx.now, RaTid::of(&msdu), seq);
            }
            let report = msdu.report(cx.now, Fate::QueueFull, None);
            cx.out.push(Output::Done(msdu.pkt, report));
        }
    }

    #[inline(never)]
    pub(super) fn note_expired(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        let edcaf = &mut self.edcafs[i];
        while let Some(msdu) = edcaf.queue.expired(cx.now, cx.all) {
            edcaf.counters.msdus_expired += 1;
            if let Some(seq) = msdu.seq {
                self.links.abandon(cx.now, RaTid::of(&msdu), seq);
            }
            let report = msdu.report(cx.now, Fate::Expired, None);
            cx.out.push(Output::Done(msdu.pkt, report));
        }
    }
}
