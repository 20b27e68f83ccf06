//! The frames that are sent next: the mode by the chain of rate control, the MSDUs that share the PSDU, the sequence that delivers it.

use super::{Cx, Edcaf, Station};
use crate::ack::{AckPolicy, SoFar, Solicited};
use crate::aggregation::{Agreement, longest_psdu, spaced};
use crate::air::Air;
use crate::counters::CategoryCounters;
use crate::exchange::{Exchange, Job, block_ack_request};
use crate::link::NUMBERS;
use crate::msdu::{MacOptions, Msdu};
use crate::psdu::{Body, Carried, Data, Mpdu, Msdus, Subframes};
use crate::rate::Head;
use crate::tx_queue::RaTid;
use phy::{BlockCode, Mode, MpduSet, TxVector, airtime_coded};
use units::{Bytes, Dur, NodeId, SimTime};
use wire::Packets;

impl Station {
    /// The TX vector of a frame with the MSDU at this place that has no chain yet, as far as can be told.
    pub(super) fn expected_tx_vector(&mut self, i: usize, place: usize, all: &Packets) -> TxVector {
        let msdu = self.edcafs[i].in_service.get(place).expect("whoever asks knows that it is there");
        let is_group = msdu.to == NodeId::BROADCAST;
        let mode = if is_group { self.config.basic_rate } else { self.rates.expected(msdu.to) };
        if self.transmit.is_some() { self.shaped_vector(i, place, mode, all) } else { mode.into() }
    }

    /// The TX vector of the next attempt of the MSDU in service.
    pub(super) fn next_tx_vector(&mut self, cx: &Cx<impl Air>, i: usize) -> TxVector {
        let mode = self.next_mode(cx, i);
        if self.transmit.is_some() { self.shaped_vector(i, 0, mode, cx.all) } else { mode.into() }
    }

    /// Its mode: of the chain that it has, or of a new one; of a group's the lowest basic rate. What else the stage says is noted.
    #[inline(always)]
    pub(super) fn next_mode(&mut self, cx: &Cx<impl Air>, i: usize) -> Mode {
        let Edcaf { walk, in_service, .. } = &mut self.edcafs[i];
        let msdu = in_service.front().expect("a contender that wants has an MSDU in service");
        if msdu.to == NodeId::BROADCAST {
            walk.end();
            self.asks_rts = false;
            return self.config.basic_rate;
        }
        if !walk.goes_on(msdu) {
            let head = Head { link: RaTid::of(msdu), mpdu: msdu.mpdu, attempts: msdu.attempts };
            if self.rates_heed_snr {
                self.rates.mean_snr(msdu.to, cx.air.mean_snr(msdu.to));
            }
            self.rates.chain(cx.now, &head, walk.begin(msdu));
        }
        let stage = walk.stage();
        self.asks_rts = stage.rts;
        stage.mode
    }

    /// The TX vector that [`crate::Transmit`] gives a frame with the MSDU at this place that would go out in this mode: of one for a group
    /// the power alone.
    #[cold]
    pub(super) fn shaped_vector(&mut self, i: usize, place: usize, mode: Mode, all: &Packets) -> TxVector {
        let own = TxVector::from(mode);
        let (Some(transmit), Some(msdu)) = (&mut self.transmit, self.edcafs[i].in_service.get(place)) else {
            return own;
        };
        let asked = transmit.tx_vector(msdu, all.get(&msdu.pkt), own);
        if msdu.to == NodeId::BROADCAST { TxVector { mode, code: None, ..asked } } else { asked }
    }

    /// The facts from which an exchange is built that sends `n` MSDUs in service, `psdu` bytes, beginning at this one.
    // In line: they are compared where they are found, and written nowhere as a rule.
    #[inline(always)]
    pub(super) fn job(
        &mut self,
        i: usize,
        place: usize,
        psdu: Bytes,
        n: usize,
        tx: TxVector,
        is_protected: bool,
    ) -> Job {
        let msdu = self.edcafs[i].in_service.get(place).expect("whoever asks knows that it is there");
        let is_group = msdu.to == NodeId::BROADCAST;
        let solicits = match &self.ack_policy {
            Some(policy) if !is_group => policy.solicits(RaTid::of(msdu), n),
            None if n > 1 => {
                let plain = self.links.block_ack(RaTid::of(msdu));
                self.piggyback.as_ref().map_or(plain, |own| plain.longer_by(own.room(msdu.to)))
            }
            _ => Solicited::ACK,
        };
        let TxVector { mode, code, .. } = tx;
        let psdu = if n == 1 && mode.format.delimits_one { Subframes::new(Bytes::ZERO).next() + psdu } else { psdu };
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
        let (len, n) = (self.edcafs[i].psdu_len(), self.edcafs[i].in_psdu);
        let job = self.job(i, 0, len, n, tx, is_protected);
        match &mut self.exchange {
            Some(last) if self.planned == Some(job) => last.restart(),
            exchange => {
                *exchange = Some(self.plan.exchange(&self.config, &job));
                self.planned = Some(job);
            }
        }
        self.exchange.as_ref().expect("it has been planned")
    }

    /// Plans the Block Ack Request that goes next: for the PSDU that was not answered, or for what was withdrawn at the head of the line.
    #[cold]
    pub(super) fn plan_request(&mut self, i: usize) -> &Exchange {
        let edcaf = &mut self.edcafs[i];
        if edcaf.requests_left == 0 {
            edcaf.in_psdu = edcaf.in_service.iter().take_while(|msdu| msdu.is_withdrawn).count();
        }
        let of = RaTid::of(edcaf.current().expect("who requests has an MSDU in service"));
        let solicits = self.links.block_ack(of);
        let solicits = self.piggyback.as_ref().map_or(solicits, |own| solicits.longer_by(own.room(of.to)));
        self.planned = None;
        self.exchange.insert(block_ack_request(&self.config, self.tx.mode, solicits))
    }

    /// The TX vector of the attempt that begins now is chosen, and with it which MSDUs it carries.
    pub(super) fn compose(&mut self, cx: &mut Cx<impl Air>, i: usize) {
        self.shape(cx.now, i);
        let mode = self.next_mode(cx, i);
        self.tx = if self.transmit.is_some() { self.shaped_vector(i, 0, mode, cx.all) } else { mode.into() };
        if self.ack_policy.is_some() || self.links.aggregates() {
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
        self.aggregate_from(cx, i, self.tx, (cx.now, self.txop.exchanges > 0));
    }

    /// The same in this TX vector, for an exchange that begins then.
    pub(super) fn aggregate_from(&mut self, cx: &mut Cx<impl Air>, i: usize, tx: TxVector, begins: (SimTime, bool)) {
        if let Some(psdu) = self.grow(cx, i, 0, tx, begins) {
            let edcaf = &mut self.edcafs[i];
            (edcaf.in_psdu, edcaf.every, edcaf.is_stalled) = (psdu.so_far.mpdus, psdu.limits.every, psdu.is_stalled);
            edcaf.has_more = psdu.has_more;
        }
    }

    /// The content of a PSDU in this TX vector that begins with the MSDU at this place of the line, and whose exchange begins then. What it
    /// takes from the queue stands in the line. `None`: one MPDU.
    pub(super) fn grow(
        &mut self,
        cx: &mut Cx<impl Air>,
        i: usize,
        place: usize,
        tx: TxVector,
        begins: (SimTime, bool),
    ) -> Option<Growing> {
        let first = self.edcafs[i].in_service.get(place).filter(|msdu| msdu.to != NodeId::BROADCAST)?;
        let of = RaTid::of(first);
        let limits = self.limits(i, place, tx, begins)?;
        let fresh = self.links.next_number(of);
        let Station { ack_policy, transmit, extended, edcafs, .. } = self;
        let Edcaf { in_service, queue, .. } = &mut edcafs[i];
        let mut psdu = Growing::new(limits, fresh, tx.mode);
        // A PPDU has one TX vector: who has a say in frames has it in what joins.
        let own = TxVector::from(tx.mode);
        let mut goes_alike = |msdu: &Msdu, all: &Packets| {
            transmit.as_mut().is_none_or(|transmit| transmit.tx_vector(msdu, all.get(&msdu.pkt), own) == tx)
        };
        for msdu in in_service.iter().skip(place) {
            let is_first = psdu.so_far.mpdus == 0;
            let mut joins = || RaTid::of(msdu) == of && psdu.admits(msdu, ack_policy) && goes_alike(msdu, cx.all);
            if !is_first && !joins() {
                psdu.has_more = RaTid::of(msdu) == of && !msdu.is_withdrawn;
                break;
            }
            psdu.take(msdu);
        }
        while place + psdu.so_far.mpdus == in_service.len() {
            let Some(next) = queue.peek(cx.now, of, cx.all) else { break };
            // Unless it is taken.
            psdu.has_more = true;
            if !goes_alike(next, cx.all) {
                break;
            }
            // It shares the last MPDU, if that has not been sent; or it has one of its own.
            let joined = if limits.amsdu > Bytes::ZERO { psdu.joins(in_service.last(), next) } else { None };
            if joined.is_none() && !psdu.admits(next, ack_policy) {
                break;
            }
            let Some(mut msdu) = queue.pop_for(cx.now, of, cx.all) else { break };
            psdu.has_more = false;
            msdu.head = cx.now;
            if let Some(len) = joined {
                in_service.join_last(msdu);
                psdu.extend_last(len);
                continue;
            }
            if let Some(extended) = extended {
                extended.shape(cx.now, &mut msdu);
            }
            psdu.take(&msdu);
            in_service.push_back(msdu);
        }
        self.note_dropped(cx, i);
        Some(psdu)
    }

    /// The bounds of the PSDU of an exchange that begins then with this MSDU; `None`: one MPDU is all that it has.
    fn limits(&mut self, i: usize, place: usize, tx: TxVector, begins: (SimTime, bool)) -> Option<Limits> {
        let of = RaTid::of(self.edcafs[i].in_service.get(place)?);
        let (TxVector { mode, code, .. }, longest) = (tx, self.edcafs[i].walk.stage().longest);
        if let Some(policy) = &self.ack_policy {
            let window = policy.window(of).min(MpduSet::MOST) as u16;
            let longest = if longest == Dur::MAX { Limit::None } else { Limit::Time(longest, code) };
            let (mpdu, every, amsdu) = (Bytes(u64::MAX), Bytes::ZERO, Bytes::ZERO);
            return Some(Limits { mpdus: window, window: NUMBERS, longest, mpdu, amsdu, every });
        }
        let agreement = self.links.agreement(of)?;
        // What is coded has no format that aggregates.
        if code.is_some() {
            return None;
        }
        let longest = longest.min(agreement.time).min(self.left_of_txop(i, place, tx, begins));
        let longest = Limit::Length(agreement.bytes.min(longest_psdu(mode, longest)));
        let Agreement { mpdus, window, longest_mpdu: mpdu, spacing, amsdu, .. } = agreement;
        Some(Limits { mpdus, window, longest, mpdu, amsdu, every: spaced(mode, spacing) })
    }

    /// The longest PPDU whose exchange begins then, to end within the opportunity; of one without a limit any time.
    /// @80211-2020 10.23.2.9
    fn left_of_txop(&mut self, i: usize, place: usize, tx: TxVector, (begins, is_protected): (SimTime, bool)) -> Dur {
        let granted = self.reverse.granted;
        if self.edcafs[i].txop_limit == Dur::ZERO && granted == SimTime::ZERO {
            return Dur::MAX;
        }
        let Some(len) = self.edcafs[i].in_service.get(place).map(|msdu| msdu.mpdu) else { return Dur::MAX };
        let job = self.job(i, place, len, 2, tx, is_protected);
        let around = self.plan.exchange(&self.config, &job).length() - airtime_coded(tx.mode, len, tx.code);
        let (ends, kept) =
            if granted > SimTime::ZERO { (granted, Dur::ZERO) } else { (self.txop.ends, self.kept_free(job.to)) };
        (ends.max(begins) - begins).saturating_sub(around + kept)
    }
}

/// The bounds of a PSDU.
#[derive(Debug, Clone, Copy)]
struct Limits {
    mpdus: u16,
    /// Numbers from that of its first MPDU on.
    window: u16,
    longest: Limit,
    /// The longest MPDU that joins others.
    mpdu: Bytes,
    /// The longest A-MSDU; 0: none.
    amsdu: Bytes,
    /// Bytes from start to start of its MPDUs at least.
    every: Bytes,
}

/// The limit on the length of a PSDU of several MPDUs.
#[derive(Debug, Clone, Copy)]
enum Limit {
    None,
    Length(Bytes),
    Time(Dur, Option<BlockCode>),
}

/// A PSDU while it is put together.
#[derive(Debug)]
pub(super) struct Growing {
    limits: Limits,
    mode: Mode,
    pub so_far: SoFar,
    subframes: Subframes,
    /// The same without its last MPDU.
    before_last: Subframes,
    /// Number of its first MPDU.
    start: Option<u16>,
    /// The number that the next MSDU gets that has none.
    fresh: u16,
    /// The window has kept out an MSDU that would have gone.
    is_stalled: bool,
    /// Another MSDU of its receiver and TID waits.
    has_more: bool,
}

impl Growing {
    fn new(limits: Limits, fresh: u16, mode: Mode) -> Growing {
        let so_far = SoFar { mpdus: 0, len: Bytes::ZERO, first_seq: None };
        let subframes = Subframes::new(limits.every);
        Growing {
            limits,
            mode,
            so_far,
            subframes,
            before_last: subframes,
            start: None,
            fresh,
            is_stalled: false,
            has_more: false,
        }
    }

    fn admits(&mut self, msdu: &Msdu, policy: &mut Option<Box<dyn AckPolicy>>) -> bool {
        let Limits { mpdus, window, mpdu, .. } = self.limits;
        let distance = msdu.seq.unwrap_or(self.fresh).wrapping_sub(self.start.unwrap_or_default()) % NUMBERS;
        let has_room = self.so_far.mpdus < usize::from(mpdus)
            && msdu.mpdu <= mpdu
            && !msdu.is_withdrawn
            && self.has_room_for(self.subframes.next() + msdu.mpdu);
        // A PSDU of a window's length is as long as it may be.
        self.is_stalled |= has_room && distance >= window && self.so_far.mpdus < usize::from(window);
        has_room
            && distance < window
            && policy.as_mut().is_none_or(|policy| policy.admits(&self.so_far, msdu, self.mode))
    }

    /// True if it may be so long.
    fn has_room_for(&self, len: Bytes) -> bool {
        match self.limits.longest {
            Limit::None => true,
            Limit::Length(most) => len <= most,
            Limit::Time(most, code) => airtime_coded(self.mode, len, code) <= most,
        }
    }

    /// The length of the last MPDU with `next` in it, if they may be an A-MSDU: of MSDUs that have not been sent, within all limits.
    fn joins(&self, last: Option<&Msdu>, next: &Msdu) -> Option<Bytes> {
        let last = last.filter(|last| last.seq.is_none() && next.seq.is_none() && next.mates.is_empty())?;
        if last.options_room > 0 || next.options_room > 0 {
            return None;
        }
        let len = last.joined_by(next);
        // HT limits an MPDU by its A-MSDU where it stands alone. @80211-2020 table 9-34
        let is_short_enough = self.limits.mpdus == 1 || len <= self.limits.mpdu;
        let fits = last.a_msdu_with(next) <= self.limits.amsdu && is_short_enough;
        (fits && self.has_room_for(self.before_last.next() + len)).then_some(len)
    }

    /// Its last MPDU has become this long.
    fn extend_last(&mut self, len: Bytes) {
        self.subframes = self.before_last;
        self.subframes.append(len);
        self.so_far.len = self.subframes.len();
    }

    fn take(&mut self, msdu: &Msdu) {
        let seq = msdu.seq.unwrap_or(self.fresh);
        if msdu.seq.is_none() {
            self.fresh = (seq + 1) % NUMBERS;
        }
        if self.so_far.mpdus == 0 {
            (self.start, self.so_far.first_seq) = (Some(seq), msdu.seq);
        }
        self.before_last = self.subframes;
        self.subframes.append(msdu.mpdu);
        self.so_far.mpdus += 1;
        self.so_far.len = self.subframes.len();
    }
}

/// The MPDU of an MSDU, as it goes out now.
pub(super) fn mpdu(msdu: &mut Msdu, all: &mut Packets, counters: &mut CategoryCounters) -> Mpdu {
    counters.data_frames_sent += 1;
    counters.data_frames_retried += u64::from(msdu.data_sent);
    let options = MacOptions::within(if msdu.is_extended { msdu.options_room } else { 0 });
    let data = Data {
        seq: msdu.seq.unwrap_or_default(),
        fragment: msdu.fragment,
        more_fragments: msdu.has_further(),
        is_retry: std::mem::replace(&mut msdu.data_sent, true),
        attempt: msdu.attempts,
        is_doomed: msdu.is_doomed,
        qos: msdu.qos,
        cue: None,
        msdus: if msdu.mates.is_empty() {
            Msdus::One(Carried { packet: all.share(&msdu.pkt), options })
        } else {
            a_msdu(msdu, options, all)
        },
    };
    Mpdu { len: msdu.mpdu, body: Body::Data(data) }
}

#[cold]
fn a_msdu(msdu: &Msdu, options: MacOptions, all: &mut Packets) -> Msdus {
    let first = Carried { packet: all.share(&msdu.pkt), options };
    let mates = msdu.mates.each().iter().map(|mate| Carried { packet: all.share(&mate.pkt), options });
    Msdus::Many(std::iter::once(first).chain(mates).collect())
}
