//! One channel: its medium, its contention, what is in the air, and what noise does to it.
//!
//! One pass over the listeners of a transmission when it starts and one when it ends; stations that only overhear are
//! dealt with here, in arrays (carrier sense, EIFS, NAV), and their machines are not called.

use crate::contention::Contention;
use crate::frame::{Class, Frame, Kind};
use phy::{Errors, Medium, Pass, Signal, Verdict};
use units::{Bytes, Dur, NodeId, SimTime};

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
    /// Stations that wait for the end of whatever they hear.
    waits_for_end: Vec<bool>,
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
        self.airing.retain(|airing| airing.from != from);
        self.first[from.index()].map(|(_, _, class)| class)
    }
}

/// NAVs that rest on an RTS: they fall if no CTS follows.
#[derive(Debug)]
struct Navs {
    /// Of each station: when the RTS ended, and when it may conclude that no CTS came.
    rts_heard: Vec<Option<(SimTime, SimTime)>>,
    next_check: SimTime,
    patience: Dur,
}

impl Navs {
    /// A frame for somebody else sets the NAV of `node`. @80211-2020 10.3.2.4
    fn overhear(&mut self, now: SimTime, node: NodeId, frame: &Frame, contention: &mut Contention) {
        let until = now + frame.duration;
        if frame.duration == Dur::ZERO || until <= contention.nav(node) {
            return;
        }
        contention.set_nav(node, until);
        self.rts_heard[node.index()] = (frame.kind == Kind::Rts).then(|| {
            let check = now + self.patience;
            self.next_check = self.next_check.min(check);
            (now, check)
        });
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
            waits_for_end: vec![false; nodes],
            navs: Navs { rts_heard: vec![None; nodes], next_check: SimTime::NEVER, patience: rts_nav_patience },
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
        self.waits_for_end[node.index()] = is_locked;
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
        let sensed = self.medium.arrive(now, &signal, |to| contention.busy(now, to));
        self.overlaps.start(now, Airing { from, to: frame.to, class }, &self.medium);
        sensed
    }

    /// The preamble of `from` is over: it makes the medium busy where its energy did not. To be called before the grants of
    /// that instant; who is granted at it transmits all the same.
    pub fn sense(&mut self, now: SimTime, from: NodeId) {
        let contention = &mut self.contention;
        self.medium.sense(now, from, |to| contention.busy(now, to));
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
            contention.idle(now, from, None);
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
        self.navs.next_check = SimTime::NEVER;
        for (i, heard) in self.navs.rts_heard.iter_mut().enumerate() {
            let Some((rts_end, check)) = *heard else { continue };
            if check > now {
                self.navs.next_check = self.navs.next_check.min(check);
                continue;
            }
            *heard = None;
            let node = NodeId(i as u32);
            if self.medium.last_start(node) < rts_end {
                self.contention.reset_nav(now, node);
            }
        }
    }
}

/// What the end of a frame changes beside the medium.
struct Rest<'a> {
    contention: &'a mut Contention,
    errors: &'a mut Errors,
    errors_at: ErrorsAt,
    waits_for_end: &'a mut [bool],
    navs: &'a mut Navs,
    tally: &'a mut Tally,
    last: &'a mut AtAddressee,
    overlapped: Option<usize>,
}

impl Rest<'_> {
    /// A frame ends at its listeners.
    fn leave(self, now: SimTime, medium: &mut impl Pass, frame: &Frame, receptions: &mut Vec<Reception>) {
        let Rest { contention, errors, errors_at, waits_for_end, navs, tally, last, overlapped } = self;
        let from = frame.from;
        let is_control = frame.kind != Kind::Data;
        let started = now - frame.airtime;
        medium.leave(now, from, started, |to, heard| {
            let is_addressee = frame.to == to;
            let is_for_me = is_addressee || frame.to == NodeId::BROADCAST;
            let loss = match heard.verdict {
                Verdict::Deaf => Some(Loss::Deaf),
                Verdict::NotLocked | Verdict::Spoilt => Some(Loss::Collision),
                Verdict::Noise => Some(Loss::Noise),
                Verdict::Clear => {
                    let is_hit = match errors_at {
                        ErrorsAt::Attempt => errors.hits(started, from, to, frame.mpdu, is_control),
                        ErrorsAt::Msdu => is_addressee && frame.is_doomed,
                    };
                    is_hit.then_some(Loss::Noise)
                }
            };
            if is_addressee {
                *last = match (loss, overlapped) {
                    (None, by) => {
                        tally.received += 1;
                        tally.captured += u64::from(by.is_some());
                        AtAddressee::Received
                    }
                    (Some(Loss::Collision), Some(by)) => {
                        tally.collision += 1;
                        tally.collided_with[by] += 1;
                        AtAddressee::Lost(Loss::Collision)
                    }
                    // Signals below the noise, each for itself, are noise.
                    (Some(Loss::Noise | Loss::Collision), _) => {
                        tally.noise += 1;
                        AtAddressee::Lost(Loss::Noise)
                    }
                    (Some(Loss::Deaf), _) => {
                        tally.deaf += 1;
                        AtAddressee::Lost(Loss::Deaf)
                    }
                };
            }
            if loss.is_none() && !is_for_me {
                navs.overhear(now, to, frame, contention);
            }
            let in_error = heard.is_locked.then_some(loss.is_some());
            if heard.turns_idle {
                contention.idle(now, to, in_error);
            } else if let Some(in_error) = in_error {
                contention.note_reception(to, in_error);
            }
            let is_mine = loss.is_none() && is_for_me;
            let has_waited = heard.is_free && std::mem::take(&mut waits_for_end[to.index()]);
            if is_mine || has_waited {
                receptions.push(Reception { node: to, is_for_me: is_mine });
            }
        });
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
