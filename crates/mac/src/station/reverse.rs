//! The reverse direction: the holder of an opportunity grants the rest of what it announces to the station that it has sent an A-MPDU to, which
//! answers with a burst, Block Ack and data of its own. @80211-2020 10.29
//!
//! - The initiator keeps time free behind its A-MPDU, announces it, and says so in HT Control. If the Block Ack says that a PPDU follows, it waits for that,
//!   answers it, and takes the rest of the opportunity back; a CF-End gives back what it does not use. If nothing follows in time, or what follows is lost, the
//!   opportunity ends as it is.
//! - The responder sends one PPDU a grant, with what stands first in a category, if that is for the initiator. It does not contend: its category draws a new backoff
//!   afterwards, as after any transmission.
//! - The standard lets a burst have several PPDUs, a Block Ack share the A-MPDU of the data, and an Ack begin a burst. None of these is modelled.

use super::{Cx, State, Station};
use crate::air::Air;
use crate::config::TxopProtection;
use crate::contention::Outcome;
use crate::exchange::{Step, Txop};
use crate::frame::{CONTROL_WRAPPER, HtControl, Kind};
use crate::msdu::Msdu;
use crate::psdu::{Body, Frame, Psdu};
use engine::Class as When;
use phy::{MpduSet, airtime};
use units::{Dur, NodeId, SimTime};

/// The part that a station takes in the reverse direction.
#[derive(Debug)]
pub(super) struct Reverse {
    /// Its plan grants, and takes grants.
    pub is_on: bool,
    /// The initiator: the PPDU that goes out grants the rest of its Duration.
    pub grants: bool,
    /// The initiator: the Block Ack at hand says that a PPDU follows.
    pub follows: bool,
    /// The responder: the end of the grant that the response at hand may fill; zero: there is none.
    pub granted: SimTime,
    /// The responder: the Block Ack that begins the burst.
    pub block_ack: Option<Body>,
}

impl Reverse {
    pub fn new(is_on: bool) -> Reverse {
        Reverse { is_on, grants: false, follows: false, granted: SimTime::ZERO, block_ack: None }
    }

    /// Its station has fallen silent.
    pub fn forget(&mut self) {
        *self = Reverse::new(self.is_on);
    }

    /// An A-MPDU of which these MPDUs arrived grants the time that it announces, or nothing.
    pub fn note_grant(&mut self, now: SimTime, frame: &Frame, got: &MpduSet) {
        if self.is_on {
            let data = got.iter().find_map(|place| frame.psdu.mpdus().get(place)?.data());
            let grants = data.and_then(|data| data.qos?.ht_control).is_some_and(|it| it.more_ppdu);
            self.granted = if grants { now + frame.duration } else { SimTime::ZERO };
        }
    }
}

impl Station {
    /// The HT Control field of this MSDU's QoS data. MAC options stand in its place.
    #[inline(always)]
    pub(super) fn ht_control(&self, msdu: &Msdu) -> Option<HtControl> {
        let has_it = self.reverse.is_on && msdu.options_room == 0 && self.plan.reverses_with(msdu.to);
        has_it.then_some(HtControl { more_ppdu: false })
    }

    /// The time that an A-MPDU to this neighbour leaves free for its burst.
    pub(super) fn kept_free(&self, to: NodeId) -> Dur {
        if self.reverse.is_on { self.plan.keeps_free(to) } else { Dur::ZERO }
    }

    /// The same for the MSDU in service: what its exchange needs behind it to be worth beginning.
    pub(super) fn kept_free_behind(&self, i: usize) -> Dur {
        let first = self.edcafs[i].current().filter(|msdu| msdu.qos.is_some_and(|qos| qos.ht_control.is_some()));
        first.map_or(Dur::ZERO, |msdu| self.kept_free(msdu.to))
    }

    /// The time that the data of this step grant beyond their Block Ack, which ends at `own_end`; `None`: they grant nothing. Without it nothing is
    /// reserved, unless the opportunity always is.
    pub(super) fn grant(&mut self, step: &Step, own_end: SimTime) -> Option<Dur> {
        if !self.reverse.is_on || step.kind != Kind::Data || self.txop.ends <= own_end {
            return None;
        }
        let edcaf = &self.edcafs[self.active];
        let first = edcaf.current().filter(|_| edcaf.in_psdu > 1)?;
        first.qos?.ht_control?;
        let left = self.txop.ends - own_end;
        let mut grant = self.plan.grant(first.to, left);
        if grant == Dur::ZERO {
            return None;
        }
        // A grant is what the Duration says. @80211-2020 10.29.3
        if self.config.txop_protection != TxopProtection::Single {
            grant = left;
        }
        self.reverse.grants = true;
        self.txop.reserved = own_end + grant;
        Some(grant)
    }

    /// The response that is due begins a sequence. Of one to a burst the end is noted.
    #[cold]
    pub(super) fn begins_with(&mut self, cx: &mut Cx<impl Air>, response: &mut Frame) -> bool {
        let granted = std::mem::replace(&mut self.reverse.granted, SimTime::ZERO);
        if self.state == State::Yielded {
            (self.state, self.wakeup) = (State::TakingBack, (cx.now + response.airtime, When::Between));
        }
        self.state == State::Idle
            && (self.reverse.is_on && self.burst(cx, response, granted)
                || self.plan.replies() && self.reply(cx, response))
    }

    /// The Block Ack that is due begins a burst, if the data that it answers granted one, and there is something for their sender.
    fn burst(&mut self, cx: &mut Cx<impl Air>, block_ack: &mut Frame, granted: SimTime) -> bool {
        // As the Block Ack it does not ask the NAV, which the initiator itself may have set in the exchange before.
        if granted <= cx.now || block_ack.kind != Kind::BlockAck {
            return false;
        }
        for i in (0..self.edcafs.len()).rev() {
            let edcaf = &self.edcafs[i];
            if edcaf.requests() || edcaf.current().is_none_or(|msdu| msdu.to != block_ack.to) {
                continue;
            }
            self.shape(cx.now, i);
            let tx = self.next_tx_vector(cx, i);
            let wrapped_len = block_ack.psdu.len() + CONTROL_WRAPPER;
            let begins = cx.now + airtime(block_ack.tx.mode, wrapped_len) + self.config.timing.sifs;
            self.reverse.granted = granted;
            self.edcafs[i].in_psdu = 1;
            self.aggregate_from(cx, i, tx, (begins, true));
            self.reverse.granted = SimTime::ZERO;
            let (len, n) = (self.edcafs[i].psdu_len(), self.edcafs[i].in_psdu);
            let job = self.job(i, 0, len, n, tx, true);
            let Some(exchange) = self.plan.burst(&self.config, block_ack, &job) else {
                self.edcafs[i].in_psdu = 1;
                continue;
            };
            (self.active, self.tx, self.exchange, self.planned) = (i, tx, Some(exchange), None);
            self.txop = Txop::default();
            self.reverse.block_ack = wrapped(block_ack);
            cx.air.seize(self.contender(i));
            self.start_exchange(cx);
            return true;
        }
        false
    }

    /// True if this category has lent its opportunity, and so does not contend.
    #[inline(always)]
    pub(super) fn yields(&self, i: usize) -> bool {
        self.reverse.is_on
            && i == self.active
            && matches!(self.state, State::Yielding | State::Yielded | State::TakingBack)
    }

    /// The receiver of the exchange that is over sends a PPDU a SIFS later.
    #[cold]
    pub(super) fn yield_to_burst(&mut self, cx: &mut Cx<impl Air>) {
        let until = cx.now + self.config.response_timeout(self.tx.mode);
        (self.reverse.follows, self.state) = (false, State::Yielding);
        self.wakeup = (until, When::Between);
        cx.air.hold_others(self.contender(self.active), until, None);
    }

    /// A frame is received: that for which this station waits, if it is data for it, which will be answered.
    #[cold]
    pub(super) fn meet_burst(&mut self, cx: &mut Cx<impl Air>, frame: &Frame) {
        if frame.to != self.node || frame.kind != Kind::Data || frame.is_extended() {
            self.end_yield(cx);
            return;
        }
        cx.air.release_others(self.contender(self.active));
        self.state = State::Yielded;
    }

    /// The burst is over: the opportunity goes on.
    #[cold]
    pub(super) fn take_back(&mut self, cx: &mut Cx<impl Air>) {
        let wants = self.take_next(cx, self.active);
        self.go_on(cx, wants);
    }

    /// The burst did not come, or could not be read: the opportunity ends.
    #[cold]
    pub(super) fn end_yield(&mut self, cx: &mut Cx<impl Air>) {
        let wants = self.take_next(cx, self.active);
        self.rest(cx, Outcome::Success, cx.now, wants);
    }
}

/// The content of a Block Ack in its wrapper.
fn wrapped(block_ack: &mut Frame) -> Option<Body> {
    let Psdu::One(mpdu) = &mut block_ack.psdu else { return None };
    match std::mem::replace(&mut mpdu.body, Body::Nothing) {
        Body::Bitmap(bitmap) => Some(Body::Bitmap(bitmap.before_a_ppdu())),
        other => Some(other),
    }
}
