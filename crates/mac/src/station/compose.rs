//! What is sent next, and how: the mode by the chain of rate control, the MSDUs that share the PSDU, the sequence that delivers it.

use super::{Cx, Edcaf, Station};
use crate::ack::{SoFar, Solicited};
use crate::air::Air;
use crate::exchange::{Exchange, Job};
use crate::msdu::Msdu;
use crate::psdu::appended;
use crate::rate::Head;
use crate::tx_queue::RaTid;
use phy::{Mode, MpduSet, TxVector, airtime_coded};
use units::{Bytes, Dur, NodeId, SimTime};
use wire::Packets;

impl Station {
    /// The TX vector of a frame with the MSDU at this place that has no chain yet, as far as can be told.
    pub(super) fn expected_tx_vector(&mut self, i: usize, place: usize, all: &Packets) -> TxVector {
        let msdu = self.edcafs[i].in_service.get(place).expect("whoever asks knows that it is there");
        let is_group = msdu.to == NodeId::BROADCAST;
        let mode = if is_group { self.config.basic_rate } else { self.rates.expected(msdu.to) };
        if self.transmit.is_some() { self.say(i, place, mode, all) } else { mode.into() }
    }

    /// The TX vector of the next attempt of the MSDU in service.
    pub(super) fn next_tx_vector(&mut self, now: SimTime, i: usize, all: &Packets) -> TxVector {
        let mode = self.next_mode(now, i);
        if self.transmit.is_some() { self.say(i, 0, mode, all) } else { mode.into() }
    }

    /// Its mode: of the chain that it has, or of a new one; of a group's the lowest basic rate. What else the stage says is noted.
    #[inline(always)]
    pub(super) fn next_mode(&mut self, now: SimTime, i: usize) -> Mode {
        let Edcaf { walk, in_service, .. } = &mut self.edcafs[i];
        let msdu = in_service.front().expect("a contender that wants has an MSDU in service");
        if msdu.to == NodeId::BROADCAST {
            walk.end();
            self.asks_rts = false;
            return self.config.basic_rate;
        }
        if !walk.goes_on(msdu) {
            let head = Head { link: RaTid::of(msdu), mpdu: msdu.mpdu, attempts: msdu.attempts };
            self.rates.chain(now, &head, walk.begin(msdu));
        }
        let stage = walk.stage();
        self.asks_rts = stage.rts;
        stage.mode
    }

    /// What [`crate::Transmit`] makes of a frame with the MSDU at this place that would go out in this mode: of one for a group
    /// the power alone.
    #[cold]
    pub(super) fn say(&mut self, i: usize, place: usize, mode: Mode, all: &Packets) -> TxVector {
        let own = TxVector::from(mode);
        let (Some(transmit), Some(msdu)) = (&mut self.transmit, self.edcafs[i].in_service.get(place)) else {
            return own;
        };
        let asked = transmit.tx_vector(msdu, all.get(&msdu.pkt), own);
        if msdu.to == NodeId::BROADCAST { TxVector { mode, code: None, ..asked } } else { asked }
    }

    /// What an exchange is built from that sends `n` MSDUs in service, `psdu` bytes, beginning at this one.
    pub(super) fn job(&self, i: usize, place: usize, psdu: Bytes, n: usize, tx: TxVector, is_protected: bool) -> Job {
        let msdu = self.edcafs[i].in_service.get(place).expect("whoever asks knows that it is there");
        let policy = self.ack_policy.as_ref().filter(|_| msdu.to != NodeId::BROADCAST);
        let solicits = policy.map_or(Solicited::ACK, |policy| policy.solicits(RaTid::of(msdu), n));
        let TxVector { mode, code, .. } = tx;
        Job {
            to: msdu.to,
            psdu,
            mode,
            code,
            solicits,
            asks_rts: self.asks_rts,
            spares_rts: msdu.spares_rts,
            is_protected,
        }
    }

    /// Plans the exchange of a category's PSDU as it stands, as the next of the opportunity if `is_protected`. The same job has the same
    /// sequence: the last one is begun again.
    #[inline(always)]
    pub(super) fn plan(&mut self, i: usize, tx: TxVector, is_protected: bool) -> &Exchange {
        let edcaf = &self.edcafs[i];
        let job = self.job(i, 0, edcaf.psdu_len(), edcaf.in_psdu, tx, is_protected);
        match &mut self.exchange {
            Some(last) if self.planned == Some(job) => last.restart(),
            exchange => {
                *exchange = Some(self.plan.exchange(&self.config, &job));
                self.planned = Some(job);
            }
        }
        self.exchange.as_ref().expect("it has been planned")
    }

    /// The TX vector of the attempt that begins now is chosen, and with it which MSDUs it carries.
    pub(super) fn compose(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        self.shape(cx.now, i);
        let mode = self.next_mode(cx.now, i);
        self.tx = if self.transmit.is_some() { self.say(i, 0, mode, cx.all) } else { mode.into() };
        if self.ack_policy.is_some() {
            self.aggregate(cx, i);
        }
    }

    /// The next data frames of all MSDUs in service get their format.
    #[inline]
    pub(super) fn shape(&mut self, now: SimTime, i: usize) {
        if self.extended.is_some() {
            self.shape_extended(now, i);
        }
    }

    #[inline(never)]
    pub(super) fn shape_extended(&mut self, now: SimTime, i: usize) {
        if let Some(extended) = &self.extended {
            self.edcafs[i].in_service.iter_mut().for_each(|msdu| extended.shape(now, msdu));
        }
    }

    /// Further MSDUs for the same receiver and TID join the first one: those in service, then those of the queue.
    pub(super) fn aggregate(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        let Some(policy) = &mut self.ack_policy else { return };
        let edcaf = &mut self.edcafs[i];
        let Some(first) = edcaf.current().filter(|msdu| msdu.to != NodeId::BROADCAST) else { return };
        let (of, tx) = (RaTid::of(first), self.tx);
        let (most, longest) = (policy.window(of).min(MpduSet::MOST), edcaf.walk.stage().longest);
        let fits = |so_far: &SoFar, next: &Msdu| {
            longest == Dur::MAX || airtime_coded(tx.mode, appended(so_far.len, next.mpdu), tx.code) <= longest
        };
        let mut so_far = SoFar { mpdus: 0, len: Bytes::ZERO, first_seq: None };
        let grow = |so_far: &mut SoFar, msdu: &Msdu| {
            so_far.first_seq = if so_far.mpdus == 0 { msdu.seq } else { so_far.first_seq };
            so_far.mpdus += 1;
            so_far.len = appended(so_far.len, msdu.mpdu);
        };
        for msdu in edcaf.in_service.iter() {
            let joins = so_far.mpdus == 0
                || RaTid::of(msdu) == of && fits(&so_far, msdu) && policy.admits(&so_far, msdu, tx.mode);
            if !joins || so_far.mpdus == most {
                break;
            }
            grow(&mut so_far, msdu);
        }
        while so_far.mpdus == edcaf.in_service.len() && so_far.mpdus < most {
            let joins = edcaf
                .queue
                .peek(cx.now, of, cx.all)
                .is_some_and(|next| fits(&so_far, next) && policy.admits(&so_far, next, tx.mode));
            let Some(mut msdu) = (if joins { edcaf.queue.pop_for(cx.now, of, cx.all) } else { None }) else { break };
            msdu.head = cx.now;
            if let Some(extended) = &self.extended {
                extended.shape(cx.now, &mut msdu);
            }
            grow(&mut so_far, &msdu);
            edcaf.in_service.push_back(msdu);
        }
        edcaf.in_psdu = so_far.mpdus;
        self.note_dropped_ahead(cx, i);
    }
}
