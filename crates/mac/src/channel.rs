//! One channel: its medium, its contention, what is in the air, and what noise does to it.
//!
//! One pass over the listeners of a transmission when it starts and one when it ends, 64 of them at a time; stations that only
//! overhear are dealt with here, as sets (carrier sense, EIFS) and in arrays (NAV), and their machines are not called.

use crate::contention::Contention;
use crate::frame::{Class, Frame, Kind};
use phy::{Errors, Hearing, Medium, Pass, Signal, Verdict};
use units::{Bytes, Dur, NodeId, Nodes, SimTime};

/// When frame errors are drawn (design.md section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorsAt {
    /// For each transmission: the MAC retries what is hit.
    Attempt,
    /// Once for each MSDU: every attempt of a hit one fails, so the MAC reports a failure. A paper's residual loss.
    Msdu,
}

/// How a frame fared at its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Hit by noise.
    Noise,
    /// Spoilt by another transmission, or begun under one.
    Collision,
    /// The receiver transmitted itself.
    Deaf,
}

/// What became of a frame at its addressee, in the terms of [`Tally`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtAddressee {
    /// It has none, or did not reach it.
    Unheard,
    /// Received without error.
    Received,
    /// Not received.
    Lost(Loss),
}

/// The transmission that overlapped a frame first at its addressee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// From when on.
    pub since: SimTime,
    /// Who transmitted it.
    pub by: NodeId,
    /// What, as an index into [`FRAME_CLASSES`].
    pub class: usize,
}

/// A machine that must be told of the end of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reception {
    /// Whose machine.
    pub node: NodeId,
    /// Whether it received the frame, addressed to it or to all, without error. Otherwise some frame has ended there
    /// that it waited out.
    pub is_for_me: bool,
}

/// Kinds of frames, for statistics: data by class, and control frames.
pub const FRAME_CLASSES: [&str; 8] = ["tcp-data", "tcp-ack", "tcp-control", "udp", "other", "rts", "cts", "ack"];

/// Why frames are lost, in the terms of design.md section 4: *data* carries a payload (TCP or UDP), *ack* is a pure TCP
/// ACK; the first is what was lost, the second what overlapped it first. RTS or CTS on either side make `rts`, all other
/// pairs (MAC ACKs, SYN, FIN) `other`.
pub const LOSS_CAUSES: [&str; 8] =
    ["noise", "data-ack", "ack-data", "data-data", "ack-ack", "rts", "other", "transmitter-busy"];

/// Which of [`LOSS_CAUSES`] it is that a frame of `class` is spoilt by one of class `with`.
pub fn collision_cause(class: usize, with: usize) -> usize {
    let is_data = |class: usize| matches!(class, 0 | 3);
    match (class, with) {
        (5 | 6, _) | (_, 5 | 6) => 5,
        (1, 1) => 4,
        (_, 1) if is_data(class) => 1,
        (1, _) if is_data(with) => 2,
        _ if is_data(class) && is_data(with) => 3,
        _ => 6,
    }
}

/// Frames lost by each of [`LOSS_CAUSES`], over all classes.
pub fn losses_by_cause(tallies: &[Tally; 8]) -> [u64; 8] {
    let mut losses = [0; 8];
    for (class, tally) in tallies.iter().enumerate() {
        losses[0] += tally.noise;
        losses[7] += tally.deaf;
        for (with, count) in tally.collided_with.iter().enumerate() {
            losses[collision_cause(class, with)] += count;
        }
    }
    losses
}

/// How many of a kind of frame fared how at their receivers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Transmissions.
    pub sent: u64,
    /// Received without error.
    pub received: u64,
    /// Hit by noise.
    pub noise: u64,
    /// Spoilt by another transmission, or begun under one.
    pub collision: u64,
    /// Of those, by the class ([`FRAME_CLASSES`]) of the transmission that overlapped first at the receiver; of several
    /// that did so at one instant, the strongest.
    pub collided_with: [u64; 8],
    /// Not heard: the receiver transmitted itself.
    pub deaf: u64,
    /// Received although another transmission overlapped: capture.
    pub captured: u64,
    /// Time on the air.
    pub airtime: Dur,
}

impl Tally {
    /// What was counted after `then`.
    #[must_use]
    pub fn since(&self, then: &Tally) -> Tally {
        Tally {
            sent: self.sent - then.sent,
            received: self.received - then.received,
            noise: self.noise - then.noise,
            collision: self.collision - then.collision,
            collided_with: std::array::from_fn(|i| self.collided_with[i] - then.collided_with[i]),
            deaf: self.deaf - then.deaf,
            captured: self.captured - then.captured,
            airtime: self.airtime - then.airtime,
        }
    }
}

/// One channel.
#[derive(Debug)]
pub struct Channel {
    /// Who hears whom.
    pub medium: Medium,
    /// Who may send when.
    pub contention: Contention,
    /// Noise.
    pub errors: Errors,
    errors_at: ErrorsAt,
    air: Vec<Option<Frame>>,
    overlaps: Overlaps,
    /// Stations that wait for the end of whatever they hear, by block.
    waits_for_end: Vec<u64>,
    navs: Navs,
    tallies: [Tally; 8],
    /// What became of the frame that ended last.
    last: AtAddressee,
}

/// Which transmission first overlapped a frame at its addressee, for the frames in the air.
#[derive(Debug)]
struct Overlaps {
    airing: Vec<Airing>,
    /// Of each transmitter's frame: since when, by whom, of which class.
    first: Vec<Option<(SimTime, NodeId, usize)>>,
}

/// A frame in the air, as far as others may overlap it.
#[derive(Debug, Clone, Copy)]
struct Airing {
    from: NodeId,
    to: NodeId,
    class: usize,
}

impl Overlaps {
    fn of(nodes: usize) -> Overlaps {
        Overlaps { airing: Vec::with_capacity(nodes), first: vec![None; nodes] }
    }

    /// A frame has reached its listeners.
    #[inline]
    fn start(&mut self, now: SimTime, new: Airing, medium: &Medium) {
        self.first[new.from.index()] = None;
        for i in 0..self.airing.len() {
            let other = self.airing[i];
            self.note(now, other, new, medium);
            self.note(now, new, other, medium);
        }
        self.airing.push(new);
    }

    /// `other` overlaps `frame` from `now` on, if it is heard where that is received.
    fn note(&mut self, now: SimTime, frame: Airing, other: Airing, medium: &Medium) {
        let at = frame.to;
        if at.index() >= self.first.len() || !medium.overlaps(at, other.from) {
            return;
        }
        let first = &mut self.first[frame.from.index()];
        let is_first = first.is_none_or(|(when, by, _)| {
            // In order of strength, then of id, whichever is told first.
            let is_weaker = medium.is_stronger(at, by, other.from);
            now == when && !is_weaker && (medium.is_stronger(at, other.from, by) || other.from < by)
        });
        if is_first {
            *first = Some((now, other.from, other.class));
        }
    }

    /// A frame ends. The class of what overlapped it first.
    #[inline]
    fn end(&mut self, from: NodeId) -> Option<usize> {
        if let Some(i) = self.airing.iter().position(|airing| airing.from == from) {
            self.airing.swap_remove(i);
        }
        self.first[from.index()].map(|(_, _, class)| class)
    }
}

/// NAVs that rest on an RTS: they fall if no CTS follows.
#[derive(Debug)]
struct Navs {
    /// Whose NAV rests on one, by block.
    by_rts: Vec<u64>,
    /// Of those stations, when it ended.
    rts_ended: Vec<SimTime>,
    next_check: SimTime,
    /// How long after its end a station may conclude that no CTS came.
    patience: Dur,
}

impl Navs {
    /// A frame for somebody else sets the NAV of `nodes`. @80211-2020 10.3.2.4
    #[inline]
    fn overhear(&mut self, now: SimTime, nodes: Nodes, frame: &Frame, contention: &mut Contention) {
        if frame.duration == Dur::ZERO {
            return;
        }
        let set = contention.set_nav(nodes, now + frame.duration);
        self.by_rts[set.index()] &= !set.bits;
        if frame.kind == Kind::Rts && !set.is_empty() {
            self.by_rts[set.index()] |= set.bits;
            self.next_check = self.next_check.min(now + self.patience);
            set.for_each(|node| self.rts_ended[node.index()] = now);
        }
    }
}

impl Channel {
    /// A silent channel. `rts_nav_patience` is [`crate::Config::rts_nav_patience`].
    pub fn new(
        medium: Medium,
        contention: Contention,
        errors: Errors,
        errors_at: ErrorsAt,
        nodes: usize,
        rts_nav_patience: Dur,
    ) -> Channel {
        Channel {
            medium,
            contention,
            errors,
            errors_at,
            air: vec![None; nodes],
            overlaps: Overlaps::of(nodes),
            waits_for_end: vec![0; Nodes::blocks(nodes)],
            navs: Navs {
                by_rts: vec![0; Nodes::blocks(nodes)],
                rts_ended: vec![SimTime::ZERO; nodes],
                next_check: SimTime::NEVER,
                patience: rts_nav_patience,
            },
            tallies: [Tally::default(); 8],
            last: AtAddressee::Unheard,
        }
    }

    /// How frames of each of [`FRAME_CLASSES`] fared so far.
    pub fn tallies(&self) -> &[Tally; 8] {
        &self.tallies
    }

    /// Frames that receivers have left for a stronger one that began later, those of others included.
    pub fn relocks(&self) -> u64 {
        self.medium.relocks()
    }

    /// What `node` has in the air.
    pub fn on_air(&self, node: NodeId) -> Option<&Frame> {
        self.air[node.index()].as_ref()
    }

    /// Whether an MSDU is lost whatever its attempts; asked once for each. False where errors strike attempts.
    pub fn dooms(&mut self, now: SimTime, from: NodeId, to: NodeId, mpdu: Bytes) -> bool {
        self.errors_at == ErrorsAt::Msdu && to != NodeId::BROADCAST && self.errors.hits(now, from, to, mpdu, false)
    }

    /// What became of the frame that ended last.
    pub fn last_ended(&self) -> AtAddressee {
        self.last
    }

    /// What overlapped the last frame of `node` first at its addressee, while it is in the air and until the next.
    pub fn first_overlap(&self, node: NodeId) -> Option<Overlap> {
        self.overlaps.first[node.index()].map(|(since, by, class)| Overlap { since, by, class })
    }

    /// `node`'s machine is to be called at the end of the frame it is locked on. Returns whether it is locked on one.
    pub fn wait_for_end(&mut self, node: NodeId) -> bool {
        let is_locked = self.medium.is_locked(node);
        let one = Nodes::from(node);
        let waits = &mut self.waits_for_end[one.index()];
        *waits = if is_locked { *waits | one.bits } else { *waits & !one.bits };
        is_locked
    }

    /// A transmission starts. Returns when [`Channel::sense`] is due for it; `NEVER` if it is not.
    pub fn start(&mut self, now: SimTime, frame: Frame) -> SimTime {
        let from = frame.from;
        self.air[from.index()] = Some(frame);
        let class = tally_index(&frame);
        let tally = &mut self.tallies[class];
        tally.sent += 1;
        tally.airtime += frame.airtime;
        self.medium.start(now, from);
        self.contention.busy(now, from);
        let contention = &mut self.contention;
        let signal = Signal { from, rate: frame.rate, airtime: frame.airtime, power: frame.power };
        let sensed = self.medium.arrive(now, &signal, |nodes| contention.busy(now, nodes));
        self.overlaps.start(now, Airing { from, to: frame.to, class }, &self.medium);
        sensed
    }

    /// The preamble of `from` is over: it makes the medium busy where its energy did not. To be called before the grants of
    /// that instant; who is granted at it transmits all the same.
    pub fn sense(&mut self, now: SimTime, from: NodeId) {
        let contention = &mut self.contention;
        self.medium.sense(now, from, |nodes| contention.busy(now, nodes));
    }

    /// The transmission of `from` ends. Appends the machines to be told to `receptions`; whoever else heard it has its
    /// carrier sense, EIFS and NAV up to date when this returns.
    pub fn end(&mut self, now: SimTime, from: NodeId, receptions: &mut Vec<Reception>) -> Frame {
        let frame = self.air[from.index()].take().expect("who ends a transmission has begun it");
        let Channel { medium, contention, errors, errors_at, overlaps, waits_for_end, navs, tallies, last, .. } =
            self;
        let is_silent = medium.stop(now, from);
        // Who was granted has waited its EIFS out, and heard nothing since: whether or not others still transmit, the
        // next idle period asks for a DIFS. @80211-2020 10.3.2.3.7
        contention.note_reception(from, false);
        if is_silent {
            contention.idle(now, from);
        }
        let overlapped = overlaps.end(from);
        let tally = &mut tallies[tally_index(&frame)];
        *last = AtAddressee::Unheard;
        let rest = Rest { contention, errors, errors_at: *errors_at, waits_for_end, navs, tally, last, overlapped };
        match medium {
            Medium::Reach(reach) => rest.leave(now, reach, &frame, receptions),
            Medium::Levels(levels) => rest.leave(now, &mut **levels, &frame, receptions),
        }
        frame
    }

    /// When [`Channel::check_navs`] is due.
    pub fn next_nav_check(&self) -> SimTime {
        self.navs.next_check
    }

    /// Stations that set their NAV by an RTS and have heard nothing begin since drop it. @80211-2020 10.3.2.4
    pub fn check_navs(&mut self, now: SimTime) {
        let Navs { by_rts, rts_ended, next_check, patience } = &mut self.navs;
        *next_check = SimTime::NEVER;
        for (block, resting) in (0..).zip(by_rts) {
            for node in (Nodes { block, bits: *resting }) {
                let rts_end = rts_ended[node.index()];
                let check = rts_end + *patience;
                if check > now {
                    *next_check = (*next_check).min(check);
                    continue;
                }
                *resting &= !Nodes::from(node).bits;
                if !self.medium.has_heard_since(rts_end, node) {
                    self.contention.reset_nav(now, node);
                }
            }
        }
    }
}

/// What the end of a frame changes beside the medium.
struct Rest<'a> {
    contention: &'a mut Contention,
    errors: &'a mut Errors,
    errors_at: ErrorsAt,
    waits_for_end: &'a mut [u64],
    navs: &'a mut Navs,
    tally: &'a mut Tally,
    last: &'a mut AtAddressee,
    overlapped: Option<usize>,
}

impl Rest<'_> {
    /// A frame ends at its listeners.
    fn leave(mut self, now: SimTime, medium: &mut impl Pass, frame: &Frame, receptions: &mut Vec<Reception>) {
        let started = now - frame.airtime;
        medium.leave(now, frame.from, started, |heard| {
            let received = self.received(started, &heard, frame);
            let addressee = Nodes::from(frame.to);
            let addressees = match frame.to {
                NodeId::BROADCAST => heard.listeners,
                _ if addressee.block == heard.block => heard.listeners & addressee.bits,
                _ => 0,
            };
            if let Some(verdict) = heard.verdict(frame.to) {
                self.count(verdict, received & addressees != 0);
            }
            self.navs.overhear(now, heard.nodes(received & !addressees), frame, self.contention);
            self.contention.note_reception(heard.nodes(received), false);
            self.contention.note_reception(heard.nodes(heard.locked & !received), true);
            self.contention.idle(now, heard.nodes(heard.turns_idle));
            let waits = &mut self.waits_for_end[heard.block as usize];
            let have_waited = *waits & heard.free;
            *waits &= !heard.free;
            let mine = received & addressees;
            for node in heard.nodes(mine | have_waited) {
                receptions.push(Reception { node, is_for_me: heard.nodes(mine).contains(node) });
            }
        });
    }

    /// Who receives the frame, noise included.
    #[inline]
    fn received(&mut self, started: SimTime, heard: &Hearing, frame: &Frame) -> u64 {
        let Frame { from, to, mpdu, .. } = *frame;
        match self.errors_at {
            ErrorsAt::Attempt if self.errors.is_none() => heard.clear,
            ErrorsAt::Attempt => {
                let is_control = frame.kind != Kind::Data;
                let hit =
                    heard.nodes(heard.clear).filter(|at| self.errors.hits(started, from, *at, mpdu, is_control));
                hit.fold(heard.clear, |all, at| all & !Nodes::from(at).bits)
            }
            ErrorsAt::Msdu if frame.is_doomed && heard.nodes(heard.clear).contains(to) => {
                heard.clear & !Nodes::from(to).bits
            }
            ErrorsAt::Msdu => heard.clear,
        }
    }

    /// How the frame fared at its receiver.
    fn count(&mut self, verdict: Verdict, is_received: bool) {
        let tally = &mut *self.tally;
        *self.last = match (verdict, self.overlapped) {
            (Verdict::Clear, by) if is_received => {
                tally.received += 1;
                tally.captured += u64::from(by.is_some());
                AtAddressee::Received
            }
            (Verdict::NotLocked | Verdict::Spoilt, Some(by)) => {
                tally.collision += 1;
                tally.collided_with[by] += 1;
                AtAddressee::Lost(Loss::Collision)
            }
            (Verdict::Deaf, _) => {
                tally.deaf += 1;
                AtAddressee::Lost(Loss::Deaf)
            }
            // Signals below the noise, each for itself, are noise.
            (Verdict::Clear | Verdict::Noise | Verdict::NotLocked | Verdict::Spoilt, _) => {
                tally.noise += 1;
                AtAddressee::Lost(Loss::Noise)
            }
        };
    }
}

/// Where a frame is counted: its index into [`FRAME_CLASSES`].
pub fn tally_index(frame: &Frame) -> usize {
    match frame.kind {
        Kind::Data => match frame.class {
            Class::TcpData => 0,
            Class::TcpAck => 1,
            Class::TcpControl => 2,
            Class::Udp => 3,
            Class::Other => 4,
        },
        Kind::Rts => 5,
        Kind::Cts => 6,
        Kind::Ack => 7,
    }
}
