//! A medium in which a pair is in reach or not.
//!
//! A station locks on a signal that starts while nothing else is in the air around it and it does not transmit. Any
//! second signal spoils the first, one that starts at the same instant included, and cannot be locked on. A station that
//! transmits hears nothing.
//!
//! A station may sense a signal that it cannot decode ([`UnitDisc::set_senses`], ns-2's carrier sense range): the signal makes
//! its medium busy and spoils others there. Whether the receiver locks on it, receives it in error and waits an EIFS, as in ns-2 and as a
//! preamble that reaches farther than its data would have it, is a parameter; else it is energy and no more.
//!
//! All of that is a matter of sets, so what happens at 64 stations is a few operations on words.

use super::{Hearing, Parts, Ppdu};
use crate::MpduSet;
use units::{Dur, NodeId, Nodes, SimTime};

/// The receivers of 64 stations, a bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Ears {
    transmitting: u64,
    /// A signal of another stands there.
    hearing: u64,
    /// The frame they are locked on is spoilt. Of no meaning elsewhere.
    spoilt: u64,
}

/// A transmitter's signal at 64 stations.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    /// Stations that hear it, while it stands and otherwise.
    listeners: u64,
    /// Stations at which it stands: the listeners, and those that sense it only.
    sensing: u64,
    /// Stations that are locked on it.
    locked: u64,
    /// Stations that have transmitted since it began.
    half_duplex: u64,
}

/// Reach of every station, and the signals that stand at each.
#[derive(Debug)]
pub struct UnitDisc {
    nodes: usize,
    receivers: Vec<Ears>,
    /// Of each transmitter, a block after the other.
    reached: Vec<Reached>,
    /// Transmitters of the signals that stand, in no order.
    airing: Vec<NodeId>,
    /// Start of each transmitter's last signal.
    started: Vec<SimTime>,
    /// Transmitter of the signal that began last.
    latest: NodeId,
    /// PPDUs in the air that are judged part by part.
    parted: Vec<Parted>,
    /// MPDUs that the receiver got of the PPDU at hand, if that is judged part by part.
    got: MpduSet,
    /// A signal that is sensed and not decoded is received in error.
    locks_on_sensed: bool,
}

/// Times of other signals at the receiver of a PPDU that is judged part by part.
#[derive(Debug, Clone, Copy)]
struct Parted {
    from: NodeId,
    to: NodeId,
    since: SimTime,
    /// The last of them ended; earlier than `since` while one stands.
    until: SimTime,
}

impl UnitDisc {
    /// A medium in which everybody hears everybody.
    pub fn new(nodes: usize) -> UnitDisc {
        let blocks = Nodes::blocks(nodes);
        let mut medium = UnitDisc {
            nodes,
            receivers: vec![Ears::default(); blocks],
            reached: vec![Reached::default(); nodes * blocks],
            airing: Vec::with_capacity(nodes),
            started: vec![SimTime::ZERO; nodes],
            latest: NodeId(0),
            parted: Vec::new(),
            got: MpduSet::NONE,
            locks_on_sensed: false,
        };
        (0..nodes as u32).for_each(|from| medium.set_reaches(NodeId(from), |_| true));
        medium
    }

    /// The memory in bytes that one of so many nodes takes.
    pub const fn bytes(nodes: usize) -> usize {
        nodes * Nodes::blocks(nodes) * size_of::<Reached>()
    }

    fn row(&self, from: NodeId) -> &[Reached] {
        &self.reached[from.index() * self.receivers.len()..][..self.receivers.len()]
    }

    /// State of the signal of `from` at a station, and the station's bit.
    fn at(&self, from: NodeId, to: NodeId) -> (&Reached, u64) {
        let one = Nodes::from(to);
        (&self.reached[from.index() * self.receivers.len() + one.index()], one.bits)
    }

    /// Sets whether `to` hears `from`. A node that does not hear it does not sense it either.
    pub fn set_reach(&mut self, from: NodeId, to: NodeId, in_reach: bool) {
        let one = Nodes::from(to);
        let at = &mut self.reached[from.index() * self.receivers.len() + one.index()];
        let with = |set: u64| if in_reach && from != to { set | one.bits } else { set & !one.bits };
        (at.listeners, at.sensing) = (with(at.listeners), with(at.sensing));
    }

    /// Sets whether `to` hears `from`, and whether it senses it; who hears senses. Not while `from` transmits.
    pub fn set_pair(&mut self, from: NodeId, to: NodeId, hears: bool, senses: bool) {
        debug_assert!(!self.is_transmitting(from), "a frame ends where it has begun");
        self.set_reach(from, to, hears);
        if senses && from != to {
            let one = Nodes::from(to);
            self.reached[from.index() * self.receivers.len() + one.index()].sensing |= one.bits;
        }
    }

    /// A node that senses a signal and cannot decode it locks on it and receives it in error, or takes it for energy.
    pub fn set_locks_on_sensed(&mut self, locks: bool) {
        self.locks_on_sensed = locks;
    }

    /// Signals of `from` stand also at those who cannot decode them but sense them. Nobody who hears them is changed.
    pub fn set_senses(&mut self, from: NodeId, senses: impl Fn(NodeId) -> bool) {
        let blocks = self.receivers.len();
        for to in (0..self.nodes as u32).map(NodeId).filter(|to| *to != from && senses(*to)) {
            let one = Nodes::from(to);
            self.reached[from.index() * blocks + one.index()].sensing |= one.bits;
        }
    }

    /// True if signals of `from` stand at `to`: it hears them, or senses them.
    pub fn senses(&self, to: NodeId, from: NodeId) -> bool {
        let (at, bit) = self.at(from, to);
        at.sensing & bit != 0
    }

    /// Sets who hears `from`, all at once.
    pub fn set_reaches(&mut self, from: NodeId, in_reach: impl Fn(NodeId) -> bool) {
        for to in (0..self.nodes as u32).map(NodeId) {
            self.set_reach(from, to, in_reach(to));
        }
    }

    /// True if `to` hears `from`.
    pub fn hears(&self, to: NodeId, from: NodeId) -> bool {
        let (at, bit) = self.at(from, to);
        at.listeners & bit != 0
    }

    /// At whom signals of `from` stand, in order of id.
    pub fn listeners(&self, from: NodeId) -> Vec<NodeId> {
        (0..).zip(self.row(from)).flat_map(|(block, at)| Nodes { block, bits: at.sensing }).collect()
    }

    /// True if `node` transmits now.
    pub fn is_transmitting(&self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        self.receivers[one.index()].transmitting & one.bits != 0
    }

    /// True if a signal of another station stands at `node` now.
    pub fn hears_any(&self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        self.receivers[one.index()].hearing & one.bits != 0
    }

    /// True if `node` is locked on a frame now.
    pub fn is_locked(&self, node: NodeId) -> bool {
        self.airing.iter().any(|from| {
            let (at, bit) = self.at(*from, node);
            at.locked & bit != 0
        })
    }

    /// True if a signal has begun at `node` at `instant` or later.
    pub fn has_heard_since(&self, instant: SimTime, node: NodeId) -> bool {
        let is_one = |from: NodeId| self.started[from.index()] >= instant && self.hears(node, from);
        is_one(self.latest)
            || self.started[self.latest.index()] >= instant && (0..self.nodes as u32).map(NodeId).any(is_one)
    }

    /// `node` begins to transmit: it cannot receive (half-duplex), and what it was receiving is lost to it.
    pub fn start(&mut self, node: NodeId) {
        let one = Nodes::from(node);
        debug_assert!(!self.is_transmitting(node), "{node} transmits twice at once");
        self.receivers[one.index()].transmitting |= one.bits;
        for from in &self.airing {
            let at = &mut self.reached[from.index() * self.receivers.len() + one.index()];
            at.locked &= !one.bits;
            at.half_duplex |= one.bits;
        }
    }

    /// The number of words that have a bit for each station.
    #[inline]
    pub fn blocks(&self) -> usize {
        self.receivers.len()
    }

    /// The signal of `from` reaches its listeners, in so many blocks of stations: all there are. `broken` is told of those whose silence
    /// it broke.
    #[inline(always)]
    pub(super) fn arrive(&mut self, blocks: usize, now: SimTime, ppdu: &Ppdu, mut broken: impl FnMut(Nodes)) {
        debug_assert_eq!(blocks, self.receivers.len());
        let from = ppdu.from;
        if ppdu.parts.is_some() || !self.parted.is_empty() {
            self.overlap(now, from, ppdu.to, ppdu.parts.is_some());
        }
        self.airing.push(from);
        self.started[from.index()] = now;
        self.latest = from;
        let row = &mut self.reached[from.index() * blocks..][..blocks];
        for (block, (receivers, at)) in (0..).zip(self.receivers[..blocks].iter_mut().zip(row)) {
            let broke = at.sensing & !receivers.hearing & !receivers.transmitting;
            at.locked = if self.locks_on_sensed { broke } else { at.listeners & broke };
            at.half_duplex = at.listeners & receivers.transmitting;
            receivers.spoilt = (receivers.spoilt | at.sensing & receivers.hearing) & !at.locked;
            receivers.hearing |= at.sensing;
            broken(Nodes { block, bits: broke });
        }
    }

    /// A PPDU begins to overlap those that are judged part by part, and perhaps is one. It comes in pieces, so that it need not lie in memory.
    #[cold]
    fn overlap(&mut self, now: SimTime, from: NodeId, to: NodeId, is_parted: bool) {
        for i in 0..self.parted.len() {
            if self.senses(self.parted[i].to, from) {
                let other = &mut self.parted[i];
                (other.since, other.until) = (other.since.min(now), SimTime::ZERO);
            }
        }
        if is_parted {
            self.parted.push(Parted { from, to, since: SimTime::NEVER, until: SimTime::ZERO });
        }
    }

    /// A PPDU ends: it overlaps no other any more, and its own parts are judged. Notes which MPDUs its receiver got, as far
    /// as other signals are concerned, and returns whether it read the front.
    #[cold]
    fn part(&mut self, now: SimTime, from: NodeId, airtime: Dur, parts: Option<Parts<'_>>) -> bool {
        let sender = from;
        self.got.clear();
        for i in 0..self.parted.len() {
            let Parted { from, to, .. } = self.parted[i];
            if from != sender && self.senses(to, sender) {
                self.parted[i].until = now;
            }
        }
        let (Some(i), Some(parts)) = (self.parted.iter().position(|it| it.from == sender), parts) else {
            return false;
        };
        let Parted { since, until, .. } = self.parted.swap_remove(i);
        let started = now - airtime;
        let until = if until < since { now } else { until };
        let is_free = |from: SimTime, end: SimTime| end <= since || until <= from;
        // Without its preamble and PHY header there is no PPDU, whatever follows.
        let begins = parts.mpdus.first().map_or(Dur::ZERO, |first| first.from);
        if is_free(started, started + begins) {
            let spans = (0..).zip(parts.mpdus).filter(|(_, span)| is_free(started + span.from, started + span.until));
            self.got.extend(spans.map(|(place, _)| place));
        }
        is_free(started, started + parts.front)
    }

    /// The signal of `from` is not in the air any more, and others are.
    #[inline(never)]
    fn leave_to_others(&mut self, from: NodeId) {
        self.airing.retain(|other| *other != from);
        let blocks = self.receivers.len();
        for (block, receivers) in self.receivers.iter_mut().enumerate() {
            let heard = self.airing.iter().map(|from| self.reached[from.index() * blocks + block].sensing);
            receivers.hearing = heard.fold(0, |all, some| all | some);
        }
    }

    /// `node` ends its transmission. Returns whether the air around it is silent.
    pub fn stop(&mut self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        debug_assert!(self.is_transmitting(node), "{node} ends what it did not begin");
        self.receivers[one.index()].transmitting &= !one.bits;
        !self.hears_any(node)
    }

    /// The signal of `from` ends at its listeners, in so many blocks of stations: all there are. `heard` is told what they made of it.
    #[inline(always)]
    pub(super) fn leave(&mut self, blocks: usize, now: SimTime, ppdu: &Ppdu, mut heard: impl FnMut(Hearing<'_>)) {
        debug_assert_eq!(blocks, self.receivers.len());
        let from = ppdu.from;
        let is_front_free = !self.parted.is_empty() && self.part(now, from, ppdu.airtime, ppdu.parts);
        let to = if ppdu.parts.is_some() { Nodes::from(ppdu.to) } else { Nodes { block: u32::MAX, bits: 0 } };
        let is_alone = self.airing.len() == 1;
        if is_alone {
            self.airing.clear();
        } else {
            self.leave_to_others(from);
        }
        let row = &mut self.reached[from.index() * blocks..][..blocks];
        for (block, (receivers, at)) in (0..).zip(self.receivers[..blocks].iter_mut().zip(row)) {
            if is_alone {
                receivers.hearing = 0;
            }
            let locked = std::mem::take(&mut at.locked);
            let mut said = Hearing {
                block,
                listeners: at.sensing,
                locked,
                clear: locked & !receivers.spoilt & at.listeners,
                spoilt: locked & (receivers.spoilt | !at.listeners),
                half_duplex: at.listeners & at.half_duplex,
                noise: at.sensing & !at.listeners & !locked,
                free: locked,
                turns_idle: at.sensing & !receivers.hearing & !receivers.transmitting,
                front: 0,
                mpdus: None,
            };
            if to.block == said.block && locked & to.bits != 0 {
                said.front = if is_front_free { to.bits } else { 0 };
                if !self.got.is_empty() {
                    // It got some of it.
                    said.mpdus = Some(&self.got);
                    (said.clear, said.spoilt) = (said.clear | to.bits, said.spoilt & !to.bits);
                }
            }
            heard(said);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use crate::medium::{Heard, Span, Verdict};

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    fn start(medium: &mut UnitDisc, now: u64, from: NodeId) {
        medium.start(from);
        medium.arrive(1, at(now), &ppdu(from), |_| {});
    }

    fn ppdu(from: NodeId) -> Ppdu<'static> {
        Ppdu::whole(from, B, Mode::ofdm(0).into(), Dur::from_ns(10))
    }

    /// Verdict of `to` on the signal of `from`, which ends.
    fn leave(medium: &mut UnitDisc, from: NodeId, to: NodeId) -> Heard {
        let mut found = None;
        medium.leave(1, at(10), &ppdu(from), |heard| found = found.or(heard.each().find(|(node, _)| *node == to)));
        found.expect("a listener").1
    }

    #[test]
    fn of_three_nodes_the_one_out_of_reach_hears_nothing() {
        let mut medium = UnitDisc::new(3);
        for (x, y) in [(A, C), (C, A)] {
            medium.set_reach(x, y, false);
        }
        assert_eq!(medium.listeners(A), [B]);
        assert_eq!(medium.listeners(B), [A, C]);
        start(&mut medium, 0, A);
        assert!(medium.hears_any(B) && !medium.hears_any(C));
        assert_eq!(leave(&mut medium, A, B).verdict, Verdict::Clear);
    }

    #[test]
    fn hidden_transmitters_spoil_each_other_at_the_one_between() {
        let mut medium = UnitDisc::new(3);
        for (x, y) in [(A, C), (C, A)] {
            medium.set_reach(x, y, false);
        }
        start(&mut medium, 0, A);
        start(&mut medium, 5, C);
        assert_eq!(
            leave(&mut medium, A, B),
            Heard { verdict: Verdict::Spoilt, is_locked: true, is_free: true, turns_idle: false }
        );
        assert_eq!(
            leave(&mut medium, C, B),
            Heard { verdict: Verdict::NotLocked, is_locked: false, is_free: false, turns_idle: true }
        );
        // The air is clean again.
        assert!(medium.stop(A) && medium.stop(C));
        start(&mut medium, 9, A);
        assert_eq!(leave(&mut medium, A, B).verdict, Verdict::Clear);
    }

    /// Verdicts of station B on a frame of A, which it hears, and on one of C, which it senses, that begin at these instants,
    /// and whether the signal broke B's silence.
    fn sensed(starts: [u64; 2], locks: bool) -> [(Verdict, bool, bool); 2] {
        let mut medium = UnitDisc::new(3);
        medium.set_locks_on_sensed(locks);
        for (x, y) in [(A, C), (C, A), (B, C), (C, B)] {
            medium.set_reach(x, y, false);
        }
        medium.set_senses(C, |to| to == B);
        assert!(!medium.hears(B, C) && medium.senses(B, C) && !medium.senses(A, C) && !medium.senses(C, C));
        assert_eq!(medium.listeners(C), [B]);
        let mut order = [(starts[0], A, 0), (starts[1], C, 1)];
        order.sort_by_key(|(at, ..)| *at);
        let mut broke = [false; 2];
        for (now, from, i) in order {
            medium.start(from);
            medium.arrive(1, at(now), &ppdu(from), |nodes| broke[i] |= nodes.contains(B));
        }
        [(A, 0), (C, 1)].map(|(from, i)| {
            medium.stop(from);
            let heard = leave(&mut medium, from, B);
            assert_eq!(heard.turns_idle, from == C, "the medium is busy as long as either stands");
            (heard.verdict, heard.is_locked, broke[i])
        })
    }

    #[test]
    fn a_signal_that_is_sensed_only_makes_busy_and_spoils_and_is_never_received() {
        assert_eq!(sensed([0, 5], false), [(Verdict::Spoilt, true, true), (Verdict::Noise, false, false)]);
        // A node that senses something locks on nothing else.
        assert_eq!(sensed([5, 0], false), [(Verdict::NotLocked, false, false), (Verdict::Noise, false, true)]);
    }

    #[test]
    fn or_it_is_received_in_error() {
        assert_eq!(sensed([0, 5], true), [(Verdict::Spoilt, true, true), (Verdict::Noise, false, false)]);
        assert_eq!(sensed([5, 0], true), [(Verdict::NotLocked, false, false), (Verdict::Spoilt, true, true)]);
    }

    #[test]
    fn a_pair_set_out_of_reach_is_not_sensed_either() {
        let mut medium = UnitDisc::new(2);
        medium.set_senses(A, |_| true);
        medium.set_reach(A, B, false);
        assert!(!medium.senses(B, A) && !medium.senses(A, A));
    }

    #[test]
    fn who_transmits_is_deaf_until_the_next_signal_starts() {
        let mut medium = UnitDisc::new(2);
        start(&mut medium, 0, A);
        start(&mut medium, 0, B);
        // B ends first: A's signal still stands, but B missed its beginning.
        assert!(!medium.stop(B));
        assert!(!leave(&mut medium, B, A).turns_idle);
        assert!(medium.stop(A));
        assert_eq!(
            leave(&mut medium, A, B),
            Heard { verdict: Verdict::HalfDuplex, is_locked: false, is_free: false, turns_idle: true }
        );
    }

    #[test]
    fn of_three_mpdus_those_are_lost_that_another_signal_met_and_all_if_it_met_the_preamble() {
        let span = |from, until| Span { from: Dur::from_ns(from), until: Dur::from_ns(until) };
        let mpdus = [span(20, 40), span(40, 60), span(60, 80)];
        // The other signal stands from .. until; which MPDUs are received, whether the front is.
        for (from, until, received, front) in [
            (40, 60, &[0, 2][..], true),
            (41, 42, &[0, 2], true),
            (59, 61, &[0], true),
            (79, 200, &[0, 1], true),
            (20, 41, &[2], false),
            (10, 41, &[], false),
            (10, 20, &[], false),
            (0, 1, &[], false),
        ] {
            let mut medium = UnitDisc::new(3);
            for (x, y) in [(A, C), (C, A)] {
                medium.set_reach(x, y, false);
            }
            let tx = Mode::ofdm(0).into();
            let whole = Ppdu {
                parts: Some(Parts { mpdus: &mpdus, front: Dur::from_ns(25) }),
                ..Ppdu::whole(A, B, tx, Dur::from_ns(80))
            };
            let other = Ppdu::whole(C, B, tx, Dur::from_ns(until - from));
            medium.start(A);
            medium.arrive(1, at(0), &whole, |_| {});
            medium.start(C);
            medium.arrive(1, at(from), &other, |_| {});
            let mut said = None;
            let mut ends = [(80, &whole), (until, &other)];
            ends.sort_by_key(|(at, _)| *at);
            for (now, ends) in ends {
                medium.stop(ends.from);
                let places = |heard: Hearing<'_>| heard.mpdus.map_or(Vec::new(), |set| set.iter().collect());
                medium.leave(1, at(now), ends, |heard| {
                    if ends.from == A {
                        said = Some((places(heard), heard.front, heard.clear));
                    }
                });
            }
            let (mpdus, is_front, clear) = said.unwrap();
            let bit = 1 << B.0;
            assert_eq!((&mpdus[..], is_front == bit), (received, front), "{from} to {until}");
            assert_eq!(clear, if received.is_empty() { 0 } else { bit });
            assert!(medium.parted.is_empty());
        }
    }
}
