//! A medium in which signals have powers: path gains, noise, carrier sense by energy and by preamble, capture, SINR.
//!
//! Powers are milliwatts in the primary channel of 20 MHz, ratios plain numbers. A PPDU of 80 MHz has a quarter of its power there: over
//! the whole of its width it meets four times the noise. Interference adds up and counts as noise, or as measured ([`Interference`]). What a receiver decides is in
//! `receiver.rs`; here is who hears whom how loud, and chance.

use super::moving::Kept;
use super::receiver::{End, Receiver, Rules, Segment, Sent, surely};
use super::{Heard, Hearing, Parts, Ppdu, Verdict};
use crate::Mode;
use crate::curves::interference::Interference;
use crate::curves::{Part, bits, front};
use crate::fading::{Fading, FadingModel};
use crate::{MpduSet, Span};
use engine::{Purpose, Stream, Streams};
use units::{Bytes, Db, Dbm, Dur, NodeId, Nodes, SimTime};

/// An error curve: the natural logarithm of the probability that so many bits of a part of a frame in a mode survive a
/// SINR (a ratio). [`crate::ln_survival`] is one.
pub type Curve = fn(Mode, Part, f64, f64) -> f64;

/// Conditions on which a locked receiver turns to a stronger frame that begins ("message in message").
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capture {
    /// SINR it takes while the frame in reception has lived so far with probability 1/2 at least.
    pub clear: Db,
    /// SINR it takes otherwise.
    pub garbled: Db,
}

/// Sinr and thresholds of a radio.
#[derive(Debug, Clone, Copy)]
pub struct SinrConfig {
    /// Transmit power of every node; [`Sinr::set_power`] changes one's.
    pub power: Dbm,
    /// Noise at every receiver, in the primary channel of 20 MHz.
    pub noise: Dbm,
    /// Distance below the noise of the weakest signal that is reckoned with at all.
    pub floor: Db,
    /// Energy in the primary channel at which the medium is busy. @80211-2020 17.3.10.6: 20 dB above the sensitivity of the lowest rate
    pub cca_ed: Dbm,
    /// Time from its start until a preamble is sensed. 1 ns at least, so that starts of one instant do not hear each other;
    /// shorter than any frame. @80211-2020 table 17-21: aCCATime below 4 µs
    pub cca_preamble_latency: Dur,
    /// SINR at which a preamble is locked on.
    pub preamble_sinr: Db,
    /// The rule by which a receiver leaves one frame for another.
    pub capture: Option<Capture>,
    /// Power of noise that a frame counts as at a receiver of another.
    pub interference: Interference,
    /// The error curve.
    pub curve: Curve,
    /// Rayleigh fading; `None`: none.
    pub fading: Option<FadingModel>,
}

/// A receiver that a transmitter reaches, and the power there now.
#[derive(Debug, Clone, Copy)]
struct Link {
    to: NodeId,
    mw: f64,
}

/// Sources of the power of a link.
#[derive(Debug, Clone)]
pub(super) struct Path {
    pub(super) gain: f64,
    fading: Option<Fading>,
    /// The fading factor, and when it ends.
    factor: (f64, SimTime),
}

/// Chance on a link: a cache line.
#[derive(Debug)]
pub(super) struct Chance {
    draws: Stream,
    known: [Known; 2],
}

/// A frame that nothing overlaps survives with this probability: data and answers of a pair are the same again and again.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Number of the mode ([`Sent::number`]) and airtime, in one.
    frame: u64,
    mw: f64,
    p: f64,
}

const UNKNOWN: Known = Known { frame: 0, mw: 0.0, p: 0.0 };

/// The medium of one channel.
#[derive(Debug)]
pub struct Sinr {
    pub(super) nodes: usize,
    rules: Rules,
    pub(super) floor: f64,
    fading: Option<FadingModel>,
    streams: Streams,
    pub(super) powers_mw: Vec<f64>,
    /// Of each ordered pair.
    pub(super) gains: Vec<Db>,
    /// Of each transmitter: whom it reaches, in order of id.
    pub(super) listeners: Vec<Vec<NodeId>>,
    links: Vec<Vec<Link>>,
    pub(super) paths: Vec<Vec<Path>>,
    chances: Vec<Vec<Chance>>,
    /// SINR from which frames of a mode are surely received, for the modes that were used.
    sure: Vec<(Mode, f64)>,
    /// Of each transmitter the power to which those in `links` are set, if nothing fades: its own, or that of its last frame.
    pub(super) set_to_mw: Vec<f64>,
    sent: Vec<Sent>,
    pub(super) receivers: Vec<Receiver>,
    /// Of the frame that ends, if it is judged part by part.
    segments: Vec<Segment>,
    /// MPDUs that the receiver got of the PPDU at hand, if that is judged part by part.
    got: MpduSet,
    /// Chance on links that nodes have moved out of.
    pub(super) kept: Option<Kept>,
}

impl Sinr {
    /// A medium in which nobody hears anybody until gains are set.
    pub fn new(nodes: usize, config: &SinrConfig, streams: &Streams) -> Sinr {
        let rules = Rules {
            cca_ed_mw: config.cca_ed.milliwatt().0,
            latency: config.cca_preamble_latency.max(Dur::from_ns(1)),
            preamble_sinr: config.preamble_sinr.ratio(),
            capture: config.capture.map(|capture| [capture.clear.ratio(), capture.garbled.ratio()]),
            interference: config.interference,
            curve: config.curve,
        };
        let noise_mw = config.noise.milliwatt().0;
        let (mode, started, airtime) = (Mode::dsss(0), SimTime::ZERO, Dur::ZERO);
        let silence = Sent { mode, started, airtime, number: 0, sure: f64::INFINITY, is_in_parts: false };
        Sinr {
            nodes,
            rules,
            floor: (-config.floor).ratio(),
            fading: config.fading,
            streams: *streams,
            powers_mw: vec![config.power.milliwatt().0; nodes],
            gains: vec![Db(f64::NEG_INFINITY); nodes * nodes],
            listeners: vec![Vec::new(); nodes],
            links: vec![Vec::new(); nodes],
            paths: vec![Vec::new(); nodes],
            chances: (0..nodes).map(|_| Vec::new()).collect(),
            sure: Vec::with_capacity(16),
            set_to_mw: vec![config.power.milliwatt().0; nodes],
            sent: vec![silence; nodes],
            receivers: (0..nodes).map(|_| Receiver::new(nodes, noise_mw)).collect(),
            segments: Vec::new(),
            got: MpduSet::NONE,
            kept: None,
        }
    }

    /// The memory in bytes that one of so many nodes takes at most: everybody is above the floor everywhere, and all transmit.
    pub const fn bytes(nodes: usize) -> usize {
        let link = size_of::<NodeId>() + size_of::<Link>() + size_of::<Path>() + size_of::<Chance>();
        nodes * nodes * (size_of::<Db>() + link + Receiver::SIGNAL_BYTES)
    }

    /// Sets a node's transmit power.
    pub fn set_power(&mut self, node: NodeId, power: Dbm) {
        self.powers_mw[node.index()] = power.milliwatt().0;
        self.list(node.index());
    }

    /// Sets the gain from `from` to `to` (negative: a loss; −∞: out of reach).
    pub fn set_gain(&mut self, from: NodeId, to: NodeId, gain: Db) {
        self.gains[from.index() * self.nodes + to.index()] = gain;
        self.list(from.index());
    }

    /// Sets the gains from `from` to all others; `gain` is told each one's and its present gain.
    pub fn set_gains(&mut self, from: NodeId, gain: impl Fn(NodeId, Db) -> Db) {
        for (to, own) in self.gains[from.index() * self.nodes..][..self.nodes].iter_mut().enumerate() {
            *own = gain(NodeId(to as u32), *own);
        }
        self.list(from.index());
    }

    /// Streams and fading of a link are named by its pair: lists made anew are as they were. Links that were there go on in their
    /// streams. Not to be called while `from` transmits.
    pub(super) fn list(&mut self, from: usize) {
        let (streams, fading, power) = (&self.streams, self.fading, self.powers_mw[from]);
        let row = &self.gains[from * self.nodes..][..self.nodes];
        let ratios = row.iter().map(|gain| gain.ratio()).enumerate();
        let reached: Vec<(usize, f64)> = ratios
            .filter(|(to, gain)| *to != from && power * gain >= self.floor * self.receivers[*to].noise_mw)
            .collect();
        let were = std::mem::take(&mut self.listeners[from]);
        let mut draws_of: Vec<Option<Chance>> =
            std::mem::take(&mut self.chances[from]).into_iter().map(Some).collect();
        self.listeners[from] = reached.iter().map(|(to, _)| NodeId(*to as u32)).collect();
        self.links[from] =
            reached.iter().map(|(to, gain)| Link { to: NodeId(*to as u32), mw: power * gain }).collect();
        let path = |&(to, gain): &(usize, f64)| {
            let (one, other) = (NodeId(from as u32), NodeId(to as u32));
            let fading = fading.map(|model| Fading::of_pair(streams, one, other, model));
            Path { gain, fading, factor: (1.0, SimTime::ZERO) }
        };
        let mut chance = |&(to, _): &(usize, f64)| {
            let place = were.binary_search(&NodeId(to as u32)).ok();
            let kept = &mut self.kept;
            let was = place.and_then(|place| draws_of.get_mut(place)?.take());
            if let Some(chance) = was.or_else(|| kept.as_mut()?.take(from, to)) {
                return chance;
            }
            let draws = streams.get(Purpose::Reception, (from as u64) << 32 | to as u64);
            Chance { draws, known: [UNKNOWN; 2] }
        };
        self.set_to_mw[from] = power;
        self.paths[from] = reached.iter().map(path).collect();
        self.chances[from] = reached.iter().map(&mut chance).collect();
        if let Some(kept) = &mut self.kept {
            let gone = were.iter().zip(draws_of).filter_map(|(to, chance)| Some((to.index(), chance?)));
            gone.for_each(|(to, chance)| kept.put(from, to, chance));
        }
    }

    /// The gain from `from` to `to`.
    pub fn gain(&self, from: NodeId, to: NodeId) -> Db {
        self.gains[from.index() * self.nodes + to.index()]
    }

    /// The transmit power of a node in mW.
    pub fn transmit_mw(&self, node: NodeId) -> f64 {
        self.powers_mw[node.index()]
    }

    /// The ratio of the power of `from` at `to` to the noise there, fading and other signals aside.
    pub fn mean_snr(&self, from: NodeId, to: NodeId) -> f64 {
        self.transmit_mw(from) * self.gain(from, to).ratio() / self.receivers[to.index()].noise_mw
    }

    /// Stations at which `from` is above the floor, in order of id.
    pub fn listeners(&self, from: NodeId) -> &[NodeId] {
        &self.listeners[from.index()]
    }

    /// True if `from`, with its own power and mean gain, can be locked on by `to`.
    pub fn hears(&self, to: NodeId, from: NodeId) -> bool {
        self.hears_at(to, from, self.gain(from, to))
    }

    /// The same with this gain.
    pub fn hears_at(&self, to: NodeId, from: NodeId, gain: Db) -> bool {
        let mean_mw = self.powers_mw[from.index()] * gain.ratio();
        to != from && mean_mw >= self.rules.preamble_sinr * self.receivers[to.index()].noise_mw
    }

    /// True if a frame of `from` in this mode, with its own power and mean gain and alone, is received: it is locked on, and 1000
    /// bytes survive with probability 0.9 at least. That is how the standard defines a receiver's sensitivity for OFDM, and all
    /// but defines it for DSSS and CCK (1024 bytes, 8 %). @80211-2020 17.3.10.2, 16.3.8.2
    pub fn decodes(&self, to: NodeId, from: NodeId, mode: Mode) -> bool {
        self.decodes_at(to, from, mode, self.gain(from, to))
    }

    /// The same with this gain.
    pub fn decodes_at(&self, to: NodeId, from: NodeId, mode: Mode, gain: Db) -> bool {
        if !self.hears_at(to, from, gain) {
            return false;
        }
        let mean_mw = self.powers_mw[from.index()] * mode.primary_share * gain.ratio();
        let sinr = mean_mw / self.receivers[to.index()].noise_mw;
        let bits_of = |(part, lasts): (Part, Dur)| (part, bits(mode, part, lasts));
        let payload = (Part::Payload, Bytes(1000).bits() as f64);
        let parts = front(mode).map(bits_of).into_iter().chain([payload]);
        let survival: f64 = parts.map(|(part, bits)| (self.rules.curve)(mode, part, sinr, bits)).sum();
        survival >= libm::log(0.9)
    }

    /// The power in the primary channel with which the last frame of `from` stood, or stands, at `to`; nothing below the floor.
    pub(super) fn primary_mw(&self, from: NodeId, to: NodeId) -> f64 {
        self.listeners(from).binary_search(&to).map_or(0.0, |i| self.links[from.index()][i].mw)
    }

    /// The same in the whole width of that frame.
    pub(super) fn power_mw(&self, from: NodeId, to: NodeId) -> f64 {
        self.primary_mw(from, to) / self.sent[from.index()].mode.primary_share
    }

    pub(super) fn is_above_noise(&self, from: NodeId, to: NodeId) -> bool {
        self.primary_mw(from, to) >= self.receivers[to.index()].noise_mw
    }

    pub(super) fn is_transmitting(&self, node: NodeId) -> bool {
        self.receivers[node.index()].is_transmitting
    }

    pub(super) fn hears_any(&self, node: NodeId) -> bool {
        self.receivers[node.index()].hears_any()
    }

    pub(super) fn is_locked(&self, node: NodeId) -> bool {
        self.receivers[node.index()].locked_on().is_some()
    }

    pub(super) fn has_heard_since(&self, instant: SimTime, node: NodeId) -> bool {
        self.receivers[node.index()].last_start() >= instant
    }

    pub(super) fn relocks(&self) -> u64 {
        self.receivers.iter().map(|receiver| receiver.relocks).sum()
    }

    pub(super) fn start(&mut self, now: SimTime, node: NodeId) {
        let receiver = &mut self.receivers[node.index()];
        debug_assert!(!receiver.is_transmitting, "{node} transmits twice at once");
        receiver.start(now, &self.sent, &self.rules);
    }

    pub(super) fn arrive(&mut self, now: SimTime, ppdu: &Ppdu, mut broken: impl FnMut(Nodes)) -> SimTime {
        let from = ppdu.from.index();
        let (mode, airtime, is_in_parts) = (ppdu.tx.mode, ppdu.airtime, ppdu.parts.is_some());
        let (number, sure) = self.sure(mode);
        self.sent[from] = Sent { mode, started: now, airtime, number, sure, is_in_parts };
        let own_mw = ppdu.tx.power.level().map_or(self.powers_mw[from], |power| power.milliwatt().0);
        let power_mw = own_mw * mode.primary_share;
        if self.fading.is_some() || power_mw != self.set_to_mw[from] {
            self.set_levels(now, from, power_mw);
        }
        let Sinr { rules, sent, receivers, links, .. } = self;
        let mut can_be_sensed_later = false;
        for link in &links[from] {
            if receivers[link.to.index()].arrive(now, ppdu.from, link.mw, sent, rules) {
                broken(link.to.into());
            }
            can_be_sensed_later |= link.mw < rules.cca_ed_mw;
        }
        if can_be_sensed_later { now + rules.latency } else { SimTime::NEVER }
    }

    /// The number of a mode here, and from which SINR its frames are surely received.
    fn sure(&mut self, mode: Mode) -> (u32, f64) {
        let place = self.sure.iter().position(|(known, _)| *known == mode).unwrap_or_else(|| {
            self.sure.push((mode, surely(self.rules.curve, mode)));
            self.sure.len() - 1
        });
        (place as u32, self.sure[place].1)
    }

    /// The powers of a frame with this one at its listeners, if they are not those of the last one.
    fn set_levels(&mut self, now: SimTime, from: usize, power_mw: f64) {
        self.set_to_mw[from] = power_mw;
        for (link, path) in self.links[from].iter_mut().zip(&mut self.paths[from]) {
            if let Some(fading) = &path.fading
                && now >= path.factor.1
            {
                path.factor = fading.power(now);
            }
            link.mw = power_mw * path.gain * path.factor.0;
        }
    }

    pub(super) fn sense(&mut self, now: SimTime, from: NodeId, mut broken: impl FnMut(Nodes)) {
        for link in &self.links[from.index()] {
            // A node that senses its energy senses it to its end anyway.
            if link.mw < self.rules.cca_ed_mw && self.receivers[link.to.index()].sense(from, now, &self.rules) {
                broken(link.to.into());
            }
        }
    }

    pub(super) fn stop(&mut self, now: SimTime, node: NodeId) -> bool {
        let receiver = &mut self.receivers[node.index()];
        debug_assert!(receiver.is_transmitting, "{node} ends what it did not begin");
        receiver.is_transmitting = false;
        receiver.stopped = now;
        !receiver.is_busy(&self.rules)
    }

    pub(super) fn leave(&mut self, now: SimTime, ppdu: &Ppdu, mut heard: impl FnMut(Hearing<'_>)) {
        let from = ppdu.from;
        let Sinr { rules, sent, receivers, links, chances, segments, got, .. } = self;
        let frame = sent[from.index()];
        debug_assert_eq!(frame.started, now - ppdu.airtime, "what ends is what has begun last");
        let has_mpdus = ppdu.parts.is_some_and(|parts| !parts.mpdus.is_empty());
        for (link, chance) in links[from.index()].iter().zip(&mut chances[from.index()]) {
            let receiver = &mut receivers[link.to.index()];
            let (end, turns_idle) = receiver.leave(now, from, sent, rules);
            let snr = link.mw / receiver.noise_mw;
            let (mut is_front_read, mut is_judged) = (false, false);
            let (verdict, is_locked) = match end {
                End::HalfDuplex => (Verdict::HalfDuplex, false),
                End::NotLocked { by_noise: false } => (Verdict::NotLocked, false),
                End::NotLocked { by_noise: true } => (Verdict::Noise, false),
                End::Left => (Verdict::Spoilt, false),
                End::Alone if has_mpdus && snr >= frame.sure => {
                    got.set_first(ppdu.parts.map_or(0, |parts| parts.mpdus.len()));
                    (is_judged, is_front_read) = (link.to == ppdu.to, true);
                    (Verdict::Clear, true)
                }
                End::Alone | End::Overlapped { .. } if frame.is_in_parts && (link.to == ppdu.to || has_mpdus) => {
                    segments.clear();
                    if end == End::Alone {
                        segments.push(Segment::whole(from, &frame, snr));
                    }
                    segments.extend(receiver.segments(from));
                    let asked = ppdu.parts.expect("whose receiver judges it in parts has parts");
                    is_judged = link.to == ppdu.to;
                    let is_received = if is_judged {
                        chance.in_parts(&frame, &asked, segments, (got, &mut is_front_read), rules)
                    } else {
                        chance.in_any_part(&frame, &asked, segments, rules)
                    };
                    match (is_received, end == End::Alone) {
                        (true, _) => (Verdict::Clear, true),
                        (false, true) => (Verdict::Noise, true),
                        (false, false) => (Verdict::Spoilt, true),
                    }
                }
                End::Alone if snr >= frame.sure => (Verdict::Clear, true),
                End::Alone => (chance.alone(&frame, link.mw, snr, rules), true),
                End::Overlapped { ln } => (chance.overlapped(&frame, ln, link.mw, snr, rules), true),
            };
            if frame.is_in_parts {
                receiver.forget_segments(from);
            }
            let is_free = is_locked || receiver.locked_on().is_none();
            let mut said = Hearing::of(link.to, Heard { verdict, is_locked, is_free, turns_idle });
            if is_judged {
                said.mpdus = (!got.is_empty()).then_some(&*got);
                said.front = if is_front_read { said.listeners } else { 0 };
            }
            heard(said);
        }
    }
}

impl Chance {
    /// The probability that noise alone spares a frame.
    #[inline]
    fn survival(&mut self, frame: &Sent, mw: f64, snr: f64, rules: &Rules) -> f64 {
        let key = u64::from(frame.number) << 32 ^ frame.airtime.ns();
        let is_this = |known: &&Known| known.mw == mw && known.frame == key;
        if let Some(known) = self.known.iter().find(is_this) {
            return known.p;
        }
        let p = libm::exp(frame.ln_survival(rules, frame.started, frame.started + frame.airtime, snr));
        self.known = [Known { frame: key, mw, p }, self.known[0]];
        p
    }

    /// Noise alone decides.
    #[inline]
    fn alone(&mut self, frame: &Sent, mw: f64, snr: f64, rules: &Rules) -> Verdict {
        let p = self.survival(frame, mw, snr, rules);
        if self.draws.chance(p) { Verdict::Clear } else { Verdict::Noise }
    }

    /// Noise and others decide, by one draw; it is noise that lost the frame if the same draw had lost it without them.
    fn overlapped(&mut self, frame: &Sent, ln: f64, mw: f64, snr: f64, rules: &Rules) -> Verdict {
        let p = libm::exp(ln);
        if p >= 1.0 {
            return Verdict::Clear;
        }
        let draw = if p > 0.0 { self.draws.unit() } else { 0.0 };
        if draw < p {
            return Verdict::Clear;
        }
        let by_noise = draw >= self.survival(frame, mw, snr, rules);
        if by_noise { Verdict::Noise } else { Verdict::Spoilt }
    }

    /// Somebody overhears a PSDU of several MPDUs: whether any of them was received, which tells the Duration of all.
    fn in_any_part(&mut self, frame: &Sent, asked: &Parts, segments: &[Segment], rules: &Rules) -> bool {
        let started = frame.started;
        let survival =
            |from: Dur, until: Dur| libm::exp(frame.ln_survival_in(rules, started + from, started + until, segments));
        let first = asked.mpdus.first().map_or(Dur::ZERO, |first| first.from);
        self.draws.chance(survival(Dur::ZERO, first))
            && asked.mpdus.iter().any(|mpdu| self.draws.chance(survival(mpdu.from, mpdu.until)))
    }

    /// Each MPDU has its own draw behind one for what comes before them all. A frame of one MPDU has one draw for the whole,
    /// which its front is a part of. Notes which MPDUs were received, and whether the front was. Returns whether any of it was.
    fn in_parts(
        &mut self,
        frame: &Sent,
        asked: &Parts,
        segments: &[Segment],
        (got, is_front_read): (&mut MpduSet, &mut bool),
        rules: &Rules,
    ) -> bool {
        got.clear();
        let started = frame.started;
        let survival =
            |from: Dur, until: Dur| libm::exp(frame.ln_survival_in(rules, started + from, started + until, segments));
        match asked.mpdus {
            [] => {
                let draw = self.draws.unit();
                *is_front_read = draw < survival(Dur::ZERO, asked.front);
                draw < survival(Dur::ZERO, frame.airtime)
            }
            [first, ..] => {
                *is_front_read = self.draws.chance(survival(Dur::ZERO, first.from));
                if *is_front_read {
                    let survives = |(_, mpdu): &(usize, &Span)| self.draws.chance(survival(mpdu.from, mpdu.until));
                    got.extend(asked.mpdus.iter().enumerate().filter(survives).map(|(place, _)| place));
                }
                !got.is_empty()
            }
        }
    }
}
