//! The medium: which signals stand at each station, and what a receiver makes of them.
//!
//! Two media behind one face (docs/design/air.md): [`UnitDisc`], in which a pair hears each other or not and two signals at one
//! station spoil each other, and [`Sinr`], in which signals have powers. The caller does not tell them apart: a
//! transmission goes through [`Medium::start`], [`Medium::arrive`], perhaps [`Medium::sense`], [`Medium::stop`],
//! [`Medium::leave`], in this order. At one instant ends come before starts; in which order the starts of one instant are
//! told makes no difference to what is received.

mod moving;
mod receiver;
mod sinr;
mod unit_disc;

pub use sinr::{Capture, Curve, Sinr, SinrConfig};
pub use unit_disc::UnitDisc;

use crate::{Mode, MpduSet, TxVector};
use units::{Bytes, Db, Dur, NodeId, Nodes, SimTime};

/// A PPDU as the medium sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ppdu<'a> {
    /// Transmitter.
    pub from: NodeId,
    /// Receiver, for what is asked of it alone; [`NodeId::BROADCAST`] for none.
    pub to: NodeId,
    /// Mode and power.
    pub tx: TxVector,
    /// Time on the air, preamble included.
    pub airtime: Dur,
    /// Parts of it that `to` is to judge one by one. `None`: it stands or falls as a whole.
    pub parts: Option<Parts<'a>>,
}

/// Parts of a PPDU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts<'a> {
    /// Spans of its MPDUs if each is judged by itself; empty: they stand and fall together.
    pub mpdus: &'a [Span],
    /// If the receiver is to say whether it could read so much of the beginning though the rest was lost: preamble, PHY
    /// header and the MAC header of the first MPDU. Zero: not asked.
    pub front: Dur,
}

impl Ppdu<'_> {
    /// One that stands or falls as a whole.
    pub fn whole(from: NodeId, to: NodeId, tx: TxVector, airtime: Dur) -> Ppdu<'static> {
        Ppdu { from, to, tx, airtime, parts: None }
    }
}

/// Time of a part of a PPDU on the air, counted from the PPDU's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its begin.
    pub from: Dur,
    /// Its end.
    pub until: Dur,
}

impl Span {
    /// Of the bytes `at..at + len` of a PSDU in this mode.
    pub fn of(mode: Mode, at: Bytes, len: Bytes) -> Span {
        let begin = |bytes: Bytes| mode.front.lasts() + bits_time(mode.symbols.service + bytes.bits(), mode);
        Span { from: begin(at), until: begin(at + len) }
    }
}

fn bits_time(bits: u64, mode: Mode) -> Dur {
    Dur::from_ns(2 * bits * mode.symbols.lasts.ns() / mode.symbols.bits_in_two)
}

/// Verdict of a listener on a signal that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It transmitted itself while the signal stood there: half duplex.
    HalfDuplex,
    /// It never locked on it because of other signals.
    NotLocked,
    /// It locked, and another signal spoilt the frame or drew the receiver away.
    Spoilt,
    /// Noise would have been enough: the signal was too weak to be locked on, or bits were hit that no other signal had
    /// a part in.
    Noise,
    /// It locked and received the frame, as far as the medium is concerned ([`crate::Errors`] has not been asked).
    Clear,
}

/// One listener of a signal that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// The listener's verdict.
    pub verdict: Verdict,
    /// True if the receiver was locked on it to its end, and so reports an error if there was one.
    pub is_locked: bool,
    /// True if those that waited for the end of the listener's reception need wait no longer: it was this signal, or the
    /// listener has lost what it was locked on.
    pub is_free: bool,
    /// True if the listener's carrier sense turns from busy to idle by this end.
    pub turns_idle: bool,
}

/// Verdicts of 64 neighbouring nodes on a signal that has ended, a bit each: sets of those of them that listened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hearing<'a> {
    /// Index of the block of nodes.
    pub block: u32,
    /// Stations at which the signal stood.
    pub listeners: u64,
    /// As [`Heard::is_locked`].
    pub locked: u64,
    /// [`Verdict::Clear`]; some of `locked`.
    pub clear: u64,
    /// [`Verdict::Spoilt`].
    pub spoilt: u64,
    /// [`Verdict::HalfDuplex`].
    pub half_duplex: u64,
    /// [`Verdict::Noise`]. All other listeners have not locked on it: [`Verdict::NotLocked`].
    pub noise: u64,
    /// As [`Heard::is_free`].
    pub free: u64,
    /// As [`Heard::turns_idle`].
    pub turns_idle: u64,
    /// True if the receiver could read the beginning, where that was asked ([`Parts::front`]). Some of `locked`.
    pub front: u64,
    /// MPDUs that the receiver got, if each was to be judged by itself ([`Parts::mpdus`]) and there is one; it is in `clear`
    /// then.
    pub mpdus: Option<&'a MpduSet>,
}

impl<'a> Hearing<'a> {
    /// Of one listener.
    fn of(node: NodeId, heard: Heard) -> Hearing<'a> {
        let Nodes { block, bits } = Nodes::from(node);
        let of = |is_so: bool| if is_so { bits } else { 0 };
        Hearing {
            block,
            listeners: bits,
            locked: of(heard.is_locked),
            clear: of(heard.verdict == Verdict::Clear),
            spoilt: of(heard.verdict == Verdict::Spoilt),
            half_duplex: of(heard.verdict == Verdict::HalfDuplex),
            noise: of(heard.verdict == Verdict::Noise),
            free: of(heard.is_free),
            turns_idle: of(heard.turns_idle),
            ..Hearing::default()
        }
    }

    /// Those of a set of this block, by its bits.
    pub fn nodes(&self, bits: u64) -> Nodes {
        Nodes { block: self.block, bits }
    }

    /// Verdict on the signal at a node; `None` if that is no listener of this block.
    #[inline]
    pub fn verdict(&self, node: Nodes) -> Option<Verdict> {
        let is_in = |bits| self.block == node.block && bits & node.bits != 0;
        if !is_in(self.listeners) {
            None
        } else if is_in(self.clear) {
            Some(Verdict::Clear)
        } else if is_in(self.spoilt) {
            Some(Verdict::Spoilt)
        } else if is_in(self.half_duplex) {
            Some(Verdict::HalfDuplex)
        } else if is_in(self.noise) {
            Some(Verdict::Noise)
        } else {
            Some(Verdict::NotLocked)
        }
    }

    /// Listener by listener, in order of id.
    pub fn each(self) -> impl Iterator<Item = (NodeId, Heard)> + 'a {
        self.nodes(self.listeners).map(move |node| {
            let is_in = |bits| self.nodes(bits).contains(node);
            let verdict = self.verdict(node.into()).unwrap_or(Verdict::NotLocked);
            let (is_locked, is_free) = (is_in(self.locked), is_in(self.free));
            (node, Heard { verdict, is_locked, is_free, turns_idle: is_in(self.turns_idle) })
        })
    }
}

/// Steps of one kind of medium at the listeners of a signal. A caller with a long closure has a function that is generic over the kind
/// and not in line, and calls that of [`Medium::kind`]: one closure called from several places is not inlined into any loop, which costs a
/// tenth of a whole run of 50 stations, and what one function holds for several kinds leaves none of them its registers.
///
/// Each panics if asked of another kind of medium.
pub trait Pass {
    /// A node of the medium as one of its block; none of them for what is no node.
    fn one(node: NodeId) -> Nodes;
    /// As [`Medium::start`].
    fn start(medium: &mut Medium, now: SimTime, node: NodeId);
    /// As [`Medium::arrive`].
    fn arrive(medium: &mut Medium, now: SimTime, ppdu: &Ppdu, broken: impl FnMut(Nodes)) -> SimTime;
    /// As [`Medium::stop`].
    fn stop(medium: &mut Medium, now: SimTime, node: NodeId) -> bool;
    /// As [`Medium::leave`].
    fn leave(medium: &mut Medium, now: SimTime, ppdu: &Ppdu, heard: impl FnMut(Hearing<'_>));
}

/// The kinds of media: what a signal passes through differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediumKind {
    /// [`OneBlock`].
    OneBlock,
    /// [`Blocks`].
    Blocks,
    /// [`Powers`].
    Powers,
}

/// A unit disc: with `ONE`, of at most 64 stations, the bits of one word. What is compiled for those has no loop, and prepares nothing for
/// one.
#[derive(Debug)]
pub enum Disc<const ONE: bool> {}

/// A unit disc of one word.
pub type OneBlock = Disc<true>;

/// A unit disc of any number of stations.
pub type Blocks = Disc<false>;

/// A medium in which signals have powers.
#[derive(Debug)]
pub enum Powers {}

impl<const ONE: bool> Disc<ONE> {
    #[inline(always)]
    fn blocks(disc: &UnitDisc) -> usize {
        if ONE { 1 } else { disc.blocks() }
    }
}

impl<const ONE: bool> Pass for Disc<ONE> {
    #[inline(always)]
    fn one(node: NodeId) -> Nodes {
        if ONE { Nodes { block: 0, bits: 1_u64.checked_shl(node.0).unwrap_or(0) } } else { node.into() }
    }

    #[inline(always)]
    fn start(medium: &mut Medium, _now: SimTime, node: NodeId) {
        medium.disc().start(node);
    }

    #[inline(always)]
    fn arrive(medium: &mut Medium, now: SimTime, ppdu: &Ppdu, broken: impl FnMut(Nodes)) -> SimTime {
        let disc = medium.disc();
        disc.arrive(Self::blocks(disc), now, ppdu, broken);
        SimTime::NEVER
    }

    #[inline(always)]
    fn stop(medium: &mut Medium, _now: SimTime, node: NodeId) -> bool {
        medium.disc().stop(node)
    }

    #[inline(always)]
    fn leave(medium: &mut Medium, now: SimTime, ppdu: &Ppdu, heard: impl FnMut(Hearing<'_>)) {
        let disc = medium.disc();
        disc.leave(Self::blocks(disc), now, ppdu, heard);
    }
}

impl Pass for Powers {
    #[inline(always)]
    fn one(node: NodeId) -> Nodes {
        node.into()
    }

    #[inline(always)]
    fn start(medium: &mut Medium, now: SimTime, node: NodeId) {
        medium.levels().start(now, node);
    }

    #[inline(always)]
    fn arrive(medium: &mut Medium, now: SimTime, ppdu: &Ppdu, broken: impl FnMut(Nodes)) -> SimTime {
        medium.levels().arrive(now, ppdu, broken)
    }

    #[inline(always)]
    fn stop(medium: &mut Medium, now: SimTime, node: NodeId) -> bool {
        medium.levels().stop(now, node)
    }

    #[inline(always)]
    fn leave(medium: &mut Medium, now: SimTime, ppdu: &Ppdu, heard: impl FnMut(Hearing<'_>)) {
        medium.levels().leave(now, ppdu, heard);
    }
}

/// The shared medium of one channel.
#[derive(Debug)]
pub enum Medium {
    /// Pairs hear each other or not.
    UnitDisc(UnitDisc),
    /// Pairs have gains.
    Sinr(Box<Sinr>),
}

/// The same call to whichever it is.
macro_rules! each {
    ($medium:expr, $it:ident => $call:expr) => {
        match $medium {
            Medium::UnitDisc($it) => $call,
            Medium::Sinr($it) => $call,
        }
    };
}

impl Medium {
    /// A medium without powers in which everybody hears everybody.
    pub fn new(nodes: usize) -> Medium {
        Medium::UnitDisc(UnitDisc::new(nodes))
    }

    /// Its kind, whose [`Pass`] is to be asked.
    #[inline]
    pub fn kind(&self) -> MediumKind {
        match self {
            Medium::UnitDisc(disc) if disc.blocks() == 1 => MediumKind::OneBlock,
            Medium::UnitDisc(_) => MediumKind::Blocks,
            Medium::Sinr(_) => MediumKind::Powers,
        }
    }

    #[inline(always)]
    fn disc(&mut self) -> &mut UnitDisc {
        let Medium::UnitDisc(disc) = self else { unreachable!("it has powers") };
        disc
    }

    #[inline(always)]
    fn levels(&mut self) -> &mut Sinr {
        let Medium::Sinr(levels) = self else { unreachable!("it has none") };
        levels
    }

    /// Sets whether `to` hears `from`, and with it whether it senses it. Where signals have powers, a pair out of reach has no gain at all, for good.
    pub fn set_reach(&mut self, from: NodeId, to: NodeId, in_reach: bool) {
        match self {
            Medium::UnitDisc(reach) => reach.set_reach(from, to, in_reach),
            Medium::Sinr(_) if in_reach => {}
            Medium::Sinr(levels) => levels.set_gain(from, to, Db(f64::NEG_INFINITY)),
        }
    }

    /// Sets whether `to` hears and senses `from`, which does not transmit: two nodes have met or parted. Where signals have powers that
    /// is a matter of gains ([`Sinr::renew`]), and this does nothing.
    pub fn set_pair(&mut self, from: NodeId, to: NodeId, hears: bool, senses: bool) {
        if let Medium::UnitDisc(reach) = self {
            reach.set_pair(from, to, hears, senses);
        }
    }

    /// True if a node that senses a signal and cannot decode it receives it in error. As [`Medium::set_senses`].
    pub fn set_locks_on_sensed(&mut self, locks: bool) {
        if let Medium::UnitDisc(reach) = self {
            reach.set_locks_on_sensed(locks);
        }
    }

    /// Signals of `from` make the medium busy, and spoil others, also at those who cannot decode them. Where signals have powers
    /// that is a matter of powers, and this does nothing.
    pub fn set_senses(&mut self, from: NodeId, senses: impl Fn(NodeId) -> bool) {
        if let Medium::UnitDisc(reach) = self {
            reach.set_senses(from, senses);
        }
    }

    /// Sets who hears `from`, all at once; as [`Medium::set_reach`].
    pub fn set_reaches(&mut self, from: NodeId, in_reach: impl Fn(NodeId) -> bool) {
        match self {
            Medium::UnitDisc(reach) => reach.set_reaches(from, in_reach),
            Medium::Sinr(levels) => {
                levels.set_gains(from, |to, gain| if in_reach(to) { gain } else { Db(f64::NEG_INFINITY) });
            }
        }
    }

    /// True if `to` can receive `from`: it is in reach, or its mean power alone is enough to be locked on.
    pub fn hears(&self, to: NodeId, from: NodeId) -> bool {
        each!(self, medium => medium.hears(to, from))
    }

    /// True if `to` receives a data frame of `from` in this mode that nothing overlaps, at mean power: it is in reach, or the
    /// power is at least the receiver's sensitivity in that mode. Whoever is heard is not decoded at every rate.
    pub fn decodes(&self, to: NodeId, from: NodeId, mode: Mode) -> bool {
        match self {
            Medium::UnitDisc(reach) => reach.hears(to, from),
            Medium::Sinr(levels) => levels.decodes(to, from, mode),
        }
    }

    /// The mean SNR of `from` at `to`, as a ratio of its whole power to the noise of 20 MHz; `None` where signals have no powers.
    pub fn mean_snr(&self, from: NodeId, to: NodeId) -> Option<f64> {
        match self {
            Medium::UnitDisc(_) => None,
            Medium::Sinr(levels) => Some(levels.mean_snr(from, to)),
        }
    }

    /// True if a signal of `from` counts as one that overlaps another's at `to`: it is in reach, or not below the noise.
    pub fn overlaps(&self, to: NodeId, from: NodeId) -> bool {
        match self {
            Medium::UnitDisc(reach) => reach.senses(to, from),
            Medium::Sinr(levels) => to != from && levels.is_above_noise(from, to),
        }
    }

    /// True if the signal of `one` is stronger at `to` than that of `other`. Never where a pair is in reach or not.
    pub fn is_stronger(&self, to: NodeId, one: NodeId, other: NodeId) -> bool {
        match self {
            Medium::UnitDisc(_) => false,
            Medium::Sinr(levels) => levels.primary_mw(one, to) > levels.primary_mw(other, to),
        }
    }

    /// The power in mW with which the last frame of `from` stood, or stands, at `to` in all its width: nothing below the floor. `None`
    /// where a pair is in reach or not.
    pub fn power_mw(&self, to: NodeId, from: NodeId) -> Option<f64> {
        match self {
            Medium::UnitDisc(_) => None,
            Medium::Sinr(levels) => Some(levels.power_mw(from, to)),
        }
    }

    /// Sets the gain from `from` to `to` (negative: a loss). Of no meaning where a pair is in reach or not.
    pub fn set_gain(&mut self, from: NodeId, to: NodeId, gain: Db) {
        if let Medium::Sinr(levels) = self {
            levels.set_gain(from, to, gain);
        }
    }

    /// At whom signals of `from` stand, in order of id: who is in reach or senses them, or where they are above the floor.
    pub fn listeners(&self, from: NodeId) -> Vec<NodeId> {
        match self {
            Medium::UnitDisc(reach) => reach.listeners(from),
            Medium::Sinr(levels) => levels.listeners(from).to_vec(),
        }
    }

    /// True if `node` transmits now.
    pub fn is_transmitting(&self, node: NodeId) -> bool {
        each!(self, medium => medium.is_transmitting(node))
    }

    /// True if a signal of another station stands at `node` now.
    pub fn hears_any(&self, node: NodeId) -> bool {
        each!(self, medium => medium.hears_any(node))
    }

    /// True if `node` is locked on a frame now.
    pub fn is_locked(&self, node: NodeId) -> bool {
        each!(self, medium => medium.is_locked(node))
    }

    /// True if a signal has begun at `instant` or later that `node` could take notice of.
    pub fn has_heard_since(&self, instant: SimTime, node: NodeId) -> bool {
        each!(self, medium => medium.has_heard_since(instant, node))
    }

    /// Frames that receivers have left for a stronger one ("message in message").
    pub fn relocks(&self) -> u64 {
        match self {
            Medium::UnitDisc(_) => 0,
            Medium::Sinr(levels) => levels.relocks(),
        }
    }

    /// `node` begins to transmit: it cannot receive (half-duplex), and what it was receiving is lost to it.
    #[inline]
    pub fn start(&mut self, now: SimTime, node: NodeId) {
        match self {
            Medium::UnitDisc(reach) => reach.start(node),
            Medium::Sinr(levels) => levels.start(now, node),
        }
    }

    /// A signal reaches its listeners. `broken` is told of those whose carrier sense turns busy by it at
    /// once. Returns when [`Medium::sense`] is due; `NEVER` if nobody can sense the signal later.
    #[inline]
    pub fn arrive(&mut self, now: SimTime, ppdu: &Ppdu, broken: impl FnMut(Nodes)) -> SimTime {
        match self.kind() {
            MediumKind::OneBlock => OneBlock::arrive(self, now, ppdu, broken),
            MediumKind::Blocks => Blocks::arrive(self, now, ppdu, broken),
            MediumKind::Powers => Powers::arrive(self, now, ppdu, broken),
        }
    }

    /// The preamble of `from` is over: `broken` is told of those who detect it and sensed nothing before. To be called
    /// before the starts of that instant.
    pub fn sense(&mut self, now: SimTime, from: NodeId, broken: impl FnMut(Nodes)) {
        if let Medium::Sinr(levels) = self {
            levels.sense(now, from, broken);
        }
    }

    /// `node` ends its transmission. Returns whether its carrier sense is idle now.
    #[inline]
    pub fn stop(&mut self, now: SimTime, node: NodeId) -> bool {
        match self {
            Medium::UnitDisc(reach) => reach.stop(node),
            Medium::Sinr(levels) => levels.stop(now, node),
        }
    }

    /// A PPDU, the same that [`Medium::arrive`] was told of, ends at its listeners. `heard` is told what they made of it, in
    /// order of id.
    #[inline]
    pub fn leave(&mut self, now: SimTime, ppdu: &Ppdu, heard: impl FnMut(Hearing<'_>)) {
        match self.kind() {
            MediumKind::OneBlock => OneBlock::leave(self, now, ppdu, heard),
            MediumKind::Blocks => Blocks::leave(self, now, ppdu, heard),
            MediumKind::Powers => Powers::leave(self, now, ppdu, heard),
        }
    }
}

#[cfg(test)]
mod tests;
