//! Times that frames announce beyond their own exchange, and their return. @80211-2020 9.2.5.2

use super::{Cx, Station};
use crate::air::Air;
use crate::config::TxopProtection;
use crate::exchange::Step;
use crate::frame::{CF_END, Kind, Label};
use crate::msdu::Msdu;
use crate::psdu::{Body, Frame, Mpdu, Psdu};
use engine::Class as When;
use phy::airtime;
use units::{Dur, NodeId};

impl Station {
    /// The time that the Duration field of a fragment covers beyond its own exchange: the next fragment and its ACK. @80211-2020 10.3.2.12
    #[cold]
    pub(super) fn announce_fragment(&mut self, cx: &Cx<impl Air>) -> Dur {
        let Some(len) = self.edcafs[self.active].current().map(Msdu::further) else { return Dur::ZERO };
        let tx = self.expected_tx_vector(self.active, 0, cx.all);
        let job = self.job(self.active, 0, len, 1, tx, true);
        self.config.timing.sifs + self.plan.exchange(&self.config, &job).length()
    }

    /// The time that the Duration field of a frame of an opportunity covers beyond its own exchange. @80211-2020 9.2.5.2
    pub(super) fn announce(&mut self, cx: &mut Cx<impl Air>, step: &Step) -> Dur {
        let own_end = cx.now + step.airtime + step.duration;
        if let Some(grant) = self.grant(step, own_end) {
            return grant;
        }
        // An opportunity that is counted in exchanges has no limit to reserve.
        if self.config.txop_protection != TxopProtection::Single && self.txop.ends > own_end {
            self.txop.reserved = self.txop.ends;
            return self.txop.ends - own_end;
        }
        if step.kind == Kind::Data { self.announce_next(cx, step) } else { Dur::ZERO }
    }

    /// A CF-End gives back what the opportunity has reserved and will not use, if that is long enough for it. @80211-2020 10.23.2.10
    #[cold]
    pub(super) fn give_back(&mut self, cx: &Cx<impl Air>) {
        let mode = self.config.control_modes.rts_before(self.tx.mode);
        let (airtime, begins) = (airtime(mode, CF_END), cx.now + self.config.timing.sifs);
        let is_worth_it = begins + airtime < self.txop.reserved;
        let gives_back = self.config.txop_protection == TxopProtection::MultipleCfEnd || self.reverse.is_on;
        if gives_back && is_worth_it && self.response.is_none() {
            self.response = Some(Frame {
                kind: Kind::CfEnd,
                from: self.node,
                to: NodeId::BROADCAST,
                tx: mode.into(),
                airtime,
                duration: Dur::ZERO,
                label: Label::default(),
                psdu: Psdu::One(Mpdu { len: CF_END, body: Body::Nothing }),
            });
            self.wakeup = (begins, When::Start);
        }
    }

    /// The next exchange of the opportunity, if there is one and it fits: single protection.
    fn announce_next(&mut self, cx: &mut Cx<impl Air>, step: &Step) -> Dur {
        let i = self.active;
        let place = self.edcafs[i].in_psdu;
        if self.edcafs[i].in_service.len() == place {
            if self.edcafs[i].lets_go {
                self.note_expired(cx, i);
            }
            let popped = self.edcafs[i].queue.pop(cx.now, cx.all);
            popped.into_iter().for_each(|msdu| self.edcafs[i].in_service.push_back(msdu));
            self.note_dropped(cx, i);
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
