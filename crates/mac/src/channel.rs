//! One channel: its medium, its contention, what is in the air, and what noise does to it.
//!
//! One pass over the listeners of a transmission when it starts and one when it ends, 64 of them at a time; stations that only
//! overhear are dealt with here, as sets (carrier sense, EIFS) and in arrays (NAV), and their machines are not called.

mod ending;
mod navs;

use crate::air::Air;
use crate::contention::{ContenderId, Contention, Outcome};
use crate::frame::Kind;
use crate::overlaps::{Airing, Overlap, Overlaps};
use crate::psdu::{Frame, Psdu};
use crate::rts_patience::RtsPatience;
use ending::{Noise, Rest, Sender};
use navs::Navs;
use phy::{Blocks, Errors, Format, Medium, MediumKind, MpduSet, OneBlock, Parts, Pass, Powers, Ppdu, Span};
use units::{Bytes, Dur, NodeId, Nodes, SimTime};

/// The instants at which frame errors are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorsAt {
    /// For each transmission: the MAC retries what is hit.
    Attempt,
    /// Once for each MSDU: every attempt of a hit one fails, so the MAC reports a failure. A paper's residual loss.
    Msdu,
}

/// The reason for which a frame was lost at its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Hit by noise.
    Noise,
    /// Spoilt by another transmission, or begun under one.
    Collision,
    /// The receiver transmitted itself.
    HalfDuplex,
}

/// The fate of a frame at its addressee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtAddressee {
    /// It has none, or did not reach it.
    Unheard,
    /// Received without error: of several MPDUs, one at least.
    Received,
    /// Not received.
    Lost(Loss),
}

/// The part of a frame that a station's machine is told of when it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got<'a> {
    /// These MPDUs of a frame addressed to it, or to all, without error.
    Mpdus(&'a MpduSet),
    /// Of a frame addressed to it, the MAC header alone: for stations that asked for this.
    Header,
    /// Nothing: some frame has ended that it waited out.
    Nothing,
}

/// A machine that must be told of the end of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reception<'a> {
    /// The node of the machine.
    pub node: NodeId,
    /// The part that it got.
    pub got: Got<'a>,
}

/// The part of a frame that a machine got.
#[derive(Debug, Clone, Copy)]
enum Extent {
    Mpdus,
    Header,
    Nothing,
}

/// The machines that must be told of the end of a frame. Its memory is for the next frame too.
#[derive(Debug, Default)]
pub struct Receptions {
    nodes: Vec<(NodeId, Extent)>,
    /// The MPDUs that those of them got who got any: the addressee, or all of a group.
    mpdus: MpduSet,
}

impl Receptions {
    /// With memory for so many machines.
    pub fn with_capacity(nodes: usize) -> Receptions {
        Receptions { nodes: Vec::with_capacity(nodes), mpdus: MpduSet::NONE }
    }

    /// Each of them, in the order in which they are to be told.
    pub fn iter(&self) -> impl Iterator<Item = Reception<'_>> {
        self.nodes.iter().map(|&(node, extent)| {
            let got = match extent {
                Extent::Mpdus => Got::Mpdus(&self.mpdus),
                Extent::Header => Got::Header,
                Extent::Nothing => Got::Nothing,
            };
            Reception { node, got }
        })
    }
}

/// One channel.
#[derive(Debug)]
pub struct Channel {
    /// Signals, and the nodes that hear them.
    pub medium: Medium,
    /// Carrier sense and backoffs.
    pub contention: Contention,
    /// Noise.
    pub errors: Errors,
    errors_at: ErrorsAt,
    /// The frame that each station has on the air, or is about to put there.
    frames: Vec<Option<Frame>>,
    overlaps: Overlaps,
    /// Stations that wait for the end of whatever they hear, by block.
    waits_for_end: Vec<u64>,
    /// Stations that are told of damaged frames, by block; empty if none is.
    heeds_damage: Vec<u64>,
    /// Formats that some stations do not know; empty if all know all.
    strange: Vec<Strange>,
    navs: Navs,
    /// Times at which the MPDUs of the frame at hand are on the air, if it has several.
    spans: Vec<Span>,
}

/// Stations that do not know a format, by block.
#[derive(Debug)]
struct Strange {
    format: &'static Format,
    /// To them it is energy: no preamble of theirs begins it.
    undetected: Vec<u64>,
    /// They read its L-SIG and nothing behind it: a frame in error.
    unread: Vec<u64>,
}

impl Strange {
    /// Of the stations of a block, those that detect it, and those that could read it.
    fn knowing(&self, block: u32) -> (u64, u64) {
        (!self.undetected[block as usize], !self.unread[block as usize])
    }
}

impl Channel {
    /// A silent channel.
    pub fn new(
        medium: Medium,
        contention: Contention,
        errors: Errors,
        errors_at: ErrorsAt,
        nodes: usize,
        rts_patience: RtsPatience,
    ) -> Channel {
        Channel {
            medium,
            contention,
            errors,
            errors_at,
            frames: (0..nodes).map(|_| None).collect(),
            overlaps: Overlaps::new(nodes),
            waits_for_end: vec![0; Nodes::blocks(nodes)],
            navs: Navs::new(nodes, rts_patience),
            spans: Vec::new(),
            heeds_damage: Vec::new(),
            strange: Vec::new(),
        }
    }

    /// `node` does not know this format. If it detects what begins it (the legacy preamble and L-SIG), it defers to its end and takes it
    /// for a frame in error, which an EIFS follows; if not, it is energy that it senses. @80211-2020 17.3.12, 10.3.2.3.7
    pub fn set_unknown(&mut self, node: NodeId, format: &'static Format, is_detected: bool) {
        let one = Nodes::from(node);
        let blocks = self.waits_for_end.len();
        let place = self.strange.iter().position(|it| it.format == format).unwrap_or_else(|| {
            let none = vec![0; blocks];
            self.strange.push(Strange { format, undetected: none.clone(), unread: none });
            self.strange.len() - 1
        });
        let Strange { undetected, unread, .. } = &mut self.strange[place];
        let those = if is_detected { unread } else { undetected };
        those[one.index()] |= one.bits;
    }

    /// Frames that receivers have left for a stronger one that began later, those of others included.
    pub fn relocks(&self) -> u64 {
        self.medium.relocks()
    }

    /// The air as `node` has it.
    pub fn at(&mut self, node: NodeId) -> At<'_> {
        At { channel: self, node, transmits: false }
    }

    /// A station hands over the frame that it wants on the air. The channel keeps it until it is off.
    pub fn load(&mut self, frame: Frame) {
        let place = &mut self.frames[frame.from.index()];
        debug_assert!(place.is_none(), "a station has one frame at a time");
        *place = Some(frame);
    }

    /// The frame of `node` that has ended. Its packets are to be given back ([`Frame::release`]).
    pub fn unload(&mut self, node: NodeId) -> Option<Frame> {
        self.frames[node.index()].take()
    }

    /// The frame that `node` has on the air, or is about to put there.
    pub fn frame(&self, node: NodeId) -> Option<&Frame> {
        self.frames[node.index()].as_ref()
    }

    /// The same, to write its MAC options before it starts.
    pub fn frame_mut(&mut self, node: NodeId) -> Option<&mut Frame> {
        self.frames[node.index()].as_mut()
    }

    /// True if an MSDU is lost whatever its attempts; asked once for each. False where errors strike attempts.
    pub fn dooms(&mut self, now: SimTime, from: NodeId, to: NodeId, mpdu: Bytes) -> bool {
        self.errors_at == ErrorsAt::Msdu && to != NodeId::BROADCAST && self.errors.hits(now, from, to, mpdu, false)
    }

    /// The transmission that overlapped the last frame of `node` first at its addressee, while it is in the air and until the next.
    pub fn first_overlap(&self, node: NodeId) -> Option<Overlap> {
        self.overlaps.first[node.index()]
    }

    /// `node`'s machine is told of frames for it that were lost behind their MAC header, from now on.
    pub fn heed_damage(&mut self, node: NodeId) {
        let one = Nodes::from(node);
        self.heeds_damage.resize(self.waits_for_end.len(), 0);
        self.heeds_damage[one.index()] |= one.bits;
    }

    /// `node`'s machine is to be called at the end of the frame it is locked on. Returns whether it is locked on one.
    pub fn wait_for_end(&mut self, node: NodeId) -> bool {
        let is_locked = self.medium.is_locked(node);
        let one = Nodes::from(node);
        let waits = &mut self.waits_for_end[one.index()];
        *waits = if is_locked { *waits | one.bits } else { *waits & !one.bits };
        is_locked
    }

    /// The transmission of `from` starts: of the frame that it has loaded, which is returned, with the time at which
    /// [`Channel::sense`] is due for it; `NEVER` if it is not.
    #[inline]
    pub fn start(&mut self, now: SimTime, from: NodeId) -> (&Frame, SimTime) {
        match self.medium.kind() {
            MediumKind::OneBlock => self.start_in::<OneBlock>(now, from),
            MediumKind::Blocks => self.start_in::<Blocks>(now, from),
            MediumKind::Powers => self.start_in::<Powers>(now, from),
        }
    }

    #[inline(always)]
    fn start_in<M: Pass>(&mut self, now: SimTime, from: NodeId) -> (&Frame, SimTime) {
        let Channel { medium, contention, overlaps, spans, frames, heeds_damage, .. } = self;
        M::start(medium, now, from);
        let frame = frames[from.index()].as_ref().expect("who starts a transmission has loaded it");
        let ppdu = ppdu(frame, heeds_damage, spans);
        let mut sender = Sender(M::one(from));
        let sensed = M::arrive(medium, now, &ppdu, |nodes| {
            contention.busy(now, nodes.with_bits(nodes.bits | sender.within(nodes.block)));
        });
        if !sender.0.is_empty() {
            contention.busy(now, sender.0);
        }
        overlaps.start(now, Airing { from, to: frame.to, kind: frame.kind, label: frame.label }, medium);
        (frame, sensed)
    }

    /// The preamble of `from` is over: it makes the medium busy where its energy did not. To be called before the grants of
    /// that instant; a station granted at it transmits all the same.
    pub fn sense(&mut self, now: SimTime, from: NodeId) {
        let contention = &mut self.contention;
        self.medium.sense(now, from, |nodes| contention.busy(now, nodes));
    }

    /// The transmission of `from` ends. Writes the machines to be told to `receptions`; whoever else heard it has its
    /// carrier sense, EIFS and NAV up to date when this returns. Returns what became of the frame at its addressee. The frame
    /// itself is to be taken off the air then, while `receptions` are told ([`Channel::unload`]).
    #[inline]
    pub fn end(&mut self, now: SimTime, from: NodeId, receptions: &mut Receptions) -> AtAddressee {
        match self.medium.kind() {
            MediumKind::OneBlock => self.end_in::<OneBlock>(now, from, receptions),
            MediumKind::Blocks => self.end_in::<Blocks>(now, from, receptions),
            MediumKind::Powers => self.end_in::<Powers>(now, from, receptions),
        }
    }

    // Not in line: what its caller holds would leave it no registers.
    #[inline(never)]
    fn end_in<M: Pass>(&mut self, now: SimTime, from: NodeId, receptions: &mut Receptions) -> AtAddressee {
        let Channel {
            medium,
            contention,
            errors,
            errors_at,
            frames,
            overlaps,
            waits_for_end,
            heeds_damage,
            strange,
            navs,
            spans,
        } = self;
        let frame = frames[from.index()].as_ref().expect("who ends a transmission has begun it");
        let Receptions { nodes: told, mpdus } = receptions;
        told.clear();
        mpdus.set_first(frame.psdu.mpdus().len());
        let is_silent = M::stop(medium, now, from);
        let overlap = overlaps.end(from);
        let mut fate = AtAddressee::Unheard;
        let are_none = *errors_at == ErrorsAt::Attempt && errors.is_none();
        let noise = Noise { are_none, errors, at: *errors_at, mpdus };
        let rest = Rest {
            contention,
            waits_for_end,
            heeds_damage,
            strange: if strange.is_empty() {
                None
            } else {
                strange.iter().find(|it| it.format == frame.tx.mode.format)
            },
            navs,
            fate: &mut fate,
            overlap,
            sender: Sender(M::one(from)),
            is_silent,
        };
        rest.leave::<M>(now, medium, frame, &ppdu(frame, heeds_damage, spans), noise, told);
        fate
    }

    /// The instant at which [`Channel::check_navs`] is due.
    pub fn next_nav_check(&self) -> SimTime {
        self.navs.next_check
    }

    /// Stations that set their NAV by an RTS and have heard nothing begin since drop it. @80211-2020 10.3.2.4
    pub fn check_navs(&mut self, now: SimTime) {
        self.navs.check(now, &self.medium, &mut self.contention);
    }
}

/// The air of a channel as one of its stations has it.
#[derive(Debug)]
pub struct At<'a> {
    channel: &'a mut Channel,
    node: NodeId,
    /// True if it has put a frame into the channel that is to go on the air now: [`Channel::start`].
    pub transmits: bool,
}

impl Air for At<'_> {
    #[inline]
    fn transmit(&mut self, frame: Frame) {
        self.channel.load(frame);
        self.transmits = true;
    }

    #[inline]
    fn nav(&self) -> SimTime {
        self.channel.contention.nav(self.node)
    }

    #[inline]
    fn is_receiving(&mut self) -> bool {
        self.channel.wait_for_end(self.node)
    }

    #[inline]
    fn dooms(&mut self, now: SimTime, to: NodeId, mpdu: Bytes) -> bool {
        self.channel.dooms(now, self.node, to, mpdu)
    }

    fn mean_snr(&self, to: NodeId) -> Option<f64> {
        self.channel.medium.mean_snr(self.node, to)
    }

    #[inline]
    fn want(&mut self, now: SimTime, id: ContenderId, was_busy: bool) {
        self.channel.contention.want(now, id, was_busy);
    }

    #[inline]
    fn finish(&mut self, id: ContenderId, outcome: Outcome, wants: bool, not_before: SimTime) {
        self.channel.contention.finish(id, outcome, wants, not_before);
    }

    #[inline]
    fn is_granted(&self, id: ContenderId) -> bool {
        self.channel.contention.is_granted(id)
    }

    #[inline]
    fn next_boundary(&self, now: SimTime, id: ContenderId) -> SimTime {
        self.channel.contention.next_boundary(now, id)
    }

    #[inline]
    fn set_ifs(&mut self, now: SimTime, id: ContenderId, ifs: Dur, eifs: Dur) {
        self.channel.contention.set_ifs(now, id, ifs, eifs);
    }

    #[inline]
    fn seize(&mut self, id: ContenderId) {
        self.channel.contention.seize(id);
    }

    #[inline]
    fn silence(&mut self, id: ContenderId) {
        self.channel.contention.silence(id);
    }

    #[inline]
    fn hold_others(&mut self, id: ContenderId, until: SimTime, frame_end: Option<SimTime>) {
        self.channel.contention.hold_others(id, until, frame_end);
    }

    #[inline]
    fn release_others(&mut self, id: ContenderId) {
        self.channel.contention.release_others(id);
    }
}

/// The frame as the medium sees it.
#[inline(always)]
fn ppdu<'a>(frame: &Frame, heeds_damage: &[u64], spans: &'a mut Vec<Span>) -> Ppdu<'a> {
    let is_in = |to: Nodes| heeds_damage.get(to.index()).is_some_and(|block| block & to.bits != 0);
    let heeds = !heeds_damage.is_empty() && is_in(frame.to.into());
    let is_whole = matches!(frame.psdu, Psdu::One(_)) && !heeds;
    let parts = if is_whole { None } else { Some(parts(frame, heeds, spans)) };
    Ppdu { parts, ..Ppdu::whole(frame.from, frame.to, frame.tx, frame.airtime) }
}

/// The parts of a frame that its receiver judges one by one: its MPDUs, if it has several; its beginning up to the end of the MAC header, if
/// the receiver wants to know the fate of that.
#[cold]
fn parts<'a>(frame: &Frame, heeds: bool, spans: &'a mut Vec<Span>) -> Parts<'a> {
    spans.clear();
    frame.psdu.spans(frame.tx.mode, spans);
    let header = crate::frame::DATA_HEADER + crate::frame::QOS_CONTROL;
    let front = match frame.kind {
        Kind::Data if heeds => Span::of(frame.tx.mode, Bytes::ZERO, header).until,
        _ => Dur::ZERO,
    };
    Parts { mpdus: spans, front }
}
