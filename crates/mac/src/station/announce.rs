//! What a data frame announces beyond its own exchange. @80211-2020 9.2.5.2

use super::{Cx, Station};
use crate::air::Air;
use crate::exchange::Step;
use crate::msdu::Msdu;
use units::Dur;

impl Station {
    /// What the Duration field of a fragment covers beyond its own exchange: the next fragment and its ACK. @80211-2020 10.3.2.12
    #[cold]
    pub(super) fn announce_fragment(&mut self, cx: &Cx<impl Air>) -> Dur {
        let Some(len) = self.edcafs[self.active].current().map(Msdu::further) else { return Dur::ZERO };
        let tx = self.expected_tx_vector(self.active, 0, cx.all);
        let job = self.job(self.active, 0, len, 1, tx, true);
        self.config.timing.sifs + self.plan.exchange(&self.config, &job).length()
    }

    /// What the Duration field of a data frame covers beyond its own exchange: the next one of the opportunity, if there is
    /// one and it fits. @80211-2020 9.2.5.2 (single protection)
    pub(super) fn announce(&mut self, cx: &mut Cx<impl Air>, step: &Step) -> Dur {
        let i = self.active;
        let place = self.edcafs[i].in_psdu;
        if self.edcafs[i].in_service.len() == place {
            let popped = self.pop(cx, i);
            popped.into_iter().for_each(|msdu| self.edcafs[i].in_service.push_back(msdu));
        }
        self.shape(cx.now, i);
        let Some(next) = self.edcafs[i].in_service.get(place) else { return Dur::ZERO };
        let len = next.mpdu;
        let tx = self.expected_tx_vector(i, place, cx.all);
        let own_end = cx.now + step.airtime + step.duration;
        let (len, n) = if self.links.aggregates() {
            let begins = own_end + self.config.timing.sifs;
            let psdu = self.grow(cx, i, place, tx, (begins, true));
            psdu.map_or(
                (len, 1),
                |psdu| if psdu.so_far.mpdus > 1 { (psdu.so_far.len, psdu.so_far.mpdus) } else { (len, 1) },
            )
        } else {
            (len, 1)
        };
        let job = self.job(i, place, len, n, tx, true);
        let further = self.config.timing.sifs + self.plan.exchange(&self.config, &job).length();
        if self.txop.has_room_until(own_end + further) { further } else { Dur::ZERO }
    }
}
