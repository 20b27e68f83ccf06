//! The end of a frame at its listeners: its receivers, what noise does to it, carrier sense, EIFS and NAV.

use super::navs::Navs;
use super::{AtAddressee, ErrorsAt, Extent, Loss, Strange};
use crate::contention::Contention;
use crate::frame::Kind;
use crate::overlaps::Overlap;
use crate::psdu::Frame;
use phy::{Errors, Hearing, Medium, MpduSet, Pass, Ppdu, Struck, Verdict};
use units::{NodeId, Nodes, SimTime};

/// A transmitter that is dealt with together with the listeners of its block, or alone if there are none.
pub(super) struct Sender(pub Nodes);

impl Sender {
    /// Its bit, if it is in this block and has not been asked for before.
    #[inline]
    pub fn within(&mut self, block: u32) -> u64 {
        if block == self.0.block { std::mem::take(&mut self.0.bits) } else { 0 }
    }
}

/// The things that the end of a frame changes beside the medium.
pub(super) struct Rest<'a> {
    pub contention: &'a mut Contention,
    pub waits_for_end: &'a mut [u64],
    pub heeds_damage: &'a [u64],
    /// The nodes that do not know the frame's format, if there are any.
    pub strange: Option<&'a Strange>,
    pub navs: &'a mut Navs,
    pub fate: &'a mut AtAddressee,
    pub overlap: Option<Overlap>,
    pub sender: Sender,
    /// True if the sender hears nothing.
    pub is_silent: bool,
}

/// The effect of noise on the frame.
pub(super) struct Noise<'a> {
    pub errors: &'a mut Errors,
    pub at: ErrorsAt,
    /// True if it does nothing.
    pub are_none: bool,
    /// The MPDUs that its addressee got: all of them, unless told otherwise.
    pub mpdus: &'a mut MpduSet,
}

/// The receivers of a frame, noise included.
#[derive(Debug, Clone, Copy)]
struct Received {
    /// Without error, or with an MPDU at least that is.
    nodes: u64,
    /// True if the addressee can read the MAC header of the frame, if it is not among `nodes`.
    header: bool,
}

impl Rest<'_> {
    /// A frame ends at its listeners.
    #[inline(always)]
    pub fn leave<M: Pass>(
        mut self,
        now: SimTime,
        medium: &mut Medium,
        frame: &Frame,
        ppdu: &Ppdu,
        mut noise: Noise<'_>,
        told: &mut Vec<(NodeId, Extent)>,
    ) {
        let addressee = M::one(frame.to);
        M::leave(medium, now, ppdu, |mut heard| {
            if let Some(strange) = self.strange {
                let (known, read) = strange.knowing(heard.block);
                heard.locked &= known;
                heard.clear &= known & read;
                heard.spoilt &= known;
                heard.front &= known & read;
            }
            let received = noise.received(now, &heard, frame);
            let addressees = match frame.to {
                NodeId::BROADCAST => heard.listeners,
                _ if addressee.block == heard.block => heard.listeners & addressee.bits,
                _ => 0,
            };
            if let Some(verdict) = heard.verdict(addressee) {
                *self.fate = self.fate(verdict, received.nodes & addressees != 0);
            }
            let whole = received.nodes;
            let sender = self.sender.within(heard.block);
            self.navs.overhear(now, heard.nodes(whole & !addressees), frame, self.contention);
            let turns_idle = heard.turns_idle | if self.is_silent { sender } else { 0 };
            if frame.kind == Kind::CfEnd {
                self.navs.forget(now, heard.nodes(whole), self.contention);
            }
            ended_at(now, heard.nodes(whole | sender), heard.locked & !whole, turns_idle, self.contention);
            let waits = &mut self.waits_for_end[heard.block as usize];
            let have_waited = *waits & heard.free;
            *waits &= !heard.free;
            let mine = whole & addressees;
            let is_readable = received.header && frame.to != NodeId::BROADCAST;
            let heeds = self.heeds_damage.get(heard.block as usize).copied().unwrap_or(0);
            let damaged = if is_readable { addressees & !mine & heeds } else { 0 };
            for node in heard.nodes(mine | have_waited | damaged) {
                let extent = if heard.nodes(mine).contains(node) {
                    Extent::Mpdus
                } else if heard.nodes(damaged).contains(node) {
                    Extent::Header
                } else {
                    Extent::Nothing
                };
                told.push((node, extent));
            }
        });
        let sender = self.sender.0;
        if !sender.is_empty() {
            ended_at(now, sender, 0, if self.is_silent { sender.bits } else { 0 }, self.contention);
        }
    }

    /// The fate of the frame at its receiver.
    fn fate(&self, verdict: Verdict, is_received: bool) -> AtAddressee {
        match (verdict, self.overlap) {
            (Verdict::Clear, _) if is_received => AtAddressee::Received,
            (Verdict::NotLocked | Verdict::Spoilt, Some(_)) => AtAddressee::Lost(Loss::Collision),
            (Verdict::HalfDuplex, _) => AtAddressee::Lost(Loss::HalfDuplex),
            // Signals below the noise, each for itself, are noise.
            (Verdict::Clear | Verdict::Noise | Verdict::NotLocked | Verdict::Spoilt, _) => {
                AtAddressee::Lost(Loss::Noise)
            }
        }
    }
}

impl Noise<'_> {
    #[inline(always)]
    fn received(&mut self, now: SimTime, heard: &Hearing<'_>, frame: &Frame) -> Received {
        if self.are_none && heard.mpdus.is_none() && heard.front == 0 {
            return Received { nodes: heard.clear, header: false };
        }
        let front = heard.nodes(heard.front).contains(frame.to);
        self.struck(now - frame.airtime, heard.nodes(heard.clear), front, heard.mpdus, frame)
    }

    /// As [`Noise::received`], with errors to be drawn or parts to be judged. The hearing comes in pieces, so that it need not lie in memory.
    #[inline(never)]
    fn struck(
        &mut self,
        started: SimTime,
        clear: Nodes,
        front: bool,
        parts: Option<&MpduSet>,
        frame: &Frame,
    ) -> Received {
        let (from, to) = (frame.from, frame.to);
        let is_control = frame.kind != Kind::Data;
        let is_addressee = |at: NodeId| at == to;
        let mut all = Received { nodes: clear.bits, header: front };
        let stands = |place: usize| parts.is_some_and(|mpdus| mpdus.contains(place));
        let lose = |nodes: &mut u64, at: NodeId| *nodes &= !Nodes::from(at).bits;
        let mpdus = frame.psdu.mpdus();
        match self.at {
            ErrorsAt::Attempt => {
                for at in clear {
                    if mpdus.len() > 1 && is_addressee(at) {
                        self.mpdus.clear();
                        for (place, mpdu) in mpdus.iter().enumerate() {
                            let struck = self.errors.strikes(started, from, at, mpdu.len, is_control, frame.tx.code);
                            if struck == Struck::Nowhere && stands(place) {
                                self.mpdus.insert(place);
                            }
                        }
                        if self.mpdus.is_empty() {
                            lose(&mut all.nodes, at);
                        }
                        continue;
                    }
                    let mut strikes = |len| self.errors.strikes(started, from, at, len, is_control, frame.tx.code);
                    if mpdus.len() > 1 {
                        // Who overhears it reads what concerns him in any MPDU.
                        if !mpdus.iter().any(|mpdu| strikes(mpdu.len) == Struck::Nowhere) {
                            lose(&mut all.nodes, at);
                        }
                        continue;
                    }
                    match strikes(frame.psdu.len()) {
                        Struck::Nowhere => {}
                        struck => {
                            lose(&mut all.nodes, at);
                            if is_addressee(at) {
                                all.header = struck == Struck::Body;
                            }
                        }
                    }
                }
            }
            ErrorsAt::Msdu if clear.contains(to) => {
                let is_whole = mpdus.len() == 1;
                let survives = |place: usize| {
                    let is_doomed = mpdus[place].data().is_some_and(|data| data.is_doomed);
                    !is_doomed && (is_whole || stands(place))
                };
                self.mpdus.clear();
                self.mpdus.extend((0..mpdus.len()).filter(|place| survives(*place)));
                if self.mpdus.is_empty() {
                    lose(&mut all.nodes, to);
                    all.header = true;
                }
            }
            ErrorsAt::Msdu => {}
        }
        all
    }
}

/// Tells carrier sense of the end of a frame at some nodes, its sender perhaps among them. That was granted, so it
/// has waited its EIFS out, and has heard nothing since: whether or not others still transmit, its next idle period asks for
/// a DIFS. @80211-2020 10.3.2.3.7
#[inline(always)]
fn ended_at(now: SimTime, correct: Nodes, in_error: u64, turns_idle: u64, contention: &mut Contention) {
    contention.note_reception(correct, false);
    contention.note_reception(correct.with_bits(in_error), true);
    contention.idle(now, correct.with_bits(turns_idle));
}
