//! One receiver among signals with powers: what stands there, what it is locked on, what that has suffered.
//!
//! Whatever is decided at a start depends on the set of signals that stand, not on the order in which those of one instant
//! were told: signals are kept in order of transmitter, and sums are taken over them anew. All powers are those in the primary channel.

use super::Curve;
use crate::Mode;
use crate::curves::interference::{Interference, weight};
use crate::curves::{self, Part};
use units::{Db, Dur, NodeId, SimTime};

/// Facts that a receiver needs of itself and its kind; ratios and milliwatts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Energy at which the medium is busy.
    pub cca_ed_mw: f64,
    /// Time for which a preamble stands before it is detected.
    pub latency: Dur,
    /// SINR at which a preamble is locked on.
    pub preamble_sinr: f64,
    /// SINR at which a locked receiver turns to another signal, if it ever does: the one it is locked on could still be
    /// decoded, or not.
    pub capture: Option<[f64; 2]>,
    /// Power of noise that a frame counts as at a receiver of another.
    pub interference: Interference,
    /// Probability that so many bits survive.
    pub curve: Curve,
}

/// Time and parts of a frame on the air.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub mode: Mode,
    pub started: SimTime,
    pub airtime: Dur,
    /// The number of its mode among those that the medium has seen.
    pub number: u32,
    /// SINR from which it is [`surely`] received.
    pub sure: f64,
    /// Its receiver judges it part by part: what stood against it is kept segment by segment.
    pub is_in_parts: bool,
}

/// SINR from which no curve of this rate leaves a doubt that a number in 53 bits could hold, however long the frame: 10⁶
/// bits and more survive with probability 1. Infinite, if that takes more than 60 dB.
pub(super) fn surely(curve: Curve, mode: Mode) -> f64 {
    let bits = f64::from(1 << 20);
    let parts = [Part::Preamble, Part::Header, Part::Payload];
    let is_sure = |sinr: f64| parts.iter().map(|part| curve(mode, *part, sinr, bits)).sum::<f64>() > -1e-17;
    (0..=240)
        .map(|quarter_db| Db(f64::from(quarter_db) / 4.0).ratio())
        .find(|sinr| is_sure(*sinr))
        .unwrap_or(f64::INFINITY)
}

impl Sent {
    /// Logarithm of the probability that nothing of the frame between two instants is hit at this SINR.
    pub fn ln_survival(&self, rules: &Rules, from: SimTime, to: SimTime, sinr: f64) -> f64 {
        if sinr >= self.sure {
            return 0.0;
        }
        let mut ln = 0.0;
        let mut begin = self.started;
        let end = self.started + self.airtime;
        let front = curves::front(self.mode);
        let payload_end = SimTime::from_ns(end.ns() - self.mode.signal_extension.ns().min(self.airtime.ns()));
        let payload = (Part::Payload, payload_end.since(begin + self.mode.front.lasts()));
        for (part, lasts) in front.into_iter().chain([payload]) {
            let end = begin + lasts;
            let span = to.min(end).since(from.max(begin));
            if span > Dur::ZERO {
                ln += (rules.curve)(self.mode, part, sinr, curves::bits(self.mode, part, span));
            }
            begin = end;
        }
        ln
    }
}

/// A signal at a receiver.
#[derive(Debug, Clone, Copy)]
struct Standing {
    from: NodeId,
    mw: f64,
    started: SimTime,
    /// The receiver heard its preamble begin, and may lock on it while that lasts.
    is_eligible: bool,
    /// Its preamble was detected: busy to its end.
    is_detected: bool,
    /// The receiver was locked on it and left it for a stronger one.
    is_left: bool,
}

/// A frame that the receiver follows.
#[derive(Debug, Clone, Copy)]
struct Lock {
    from: NodeId,
    mw: f64,
    started: SimTime,
    /// Until when `ln` counts.
    since: SimTime,
    /// Logarithm of the probability that nothing was hit.
    ln: f64,
    /// Nothing has overlapped it.
    is_clean: bool,
}

/// SINR over some time of a frame that is judged part by part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    from: NodeId,
    since: SimTime,
    until: SimTime,
    sinr: f64,
}

impl Segment {
    /// One segment from the begin to the end of a frame that nothing overlapped.
    pub fn whole(from: NodeId, sent: &Sent, snr: f64) -> Segment {
        Segment { from, since: sent.started, until: sent.started + sent.airtime, sinr: snr }
    }
}

impl Sent {
    /// Logarithm of the probability that nothing between two instants is hit, with these segments.
    pub fn ln_survival_in(&self, rules: &Rules, from: SimTime, to: SimTime, segments: &[Segment]) -> f64 {
        let meets = segments.iter().filter(|segment| segment.since < to && from < segment.until);
        meets.map(|it| self.ln_survival(rules, from.max(it.since), to.min(it.until), it.sinr)).sum()
    }
}

/// End of a signal, before chance has spoken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum End {
    /// The receiver transmitted.
    HalfDuplex,
    /// It never was locked on it; nothing but noise was needed for that, or something was.
    NotLocked { by_noise: bool },
    /// It left it for a stronger one.
    Left,
    /// It followed it to its end, and nothing overlapped.
    Alone,
    /// It followed it to its end; something overlapped. Logarithm of the probability that nothing was hit.
    Overlapped { ln: f64 },
}

/// Below this logarithm a probability is 0 in 64 bits: what else happens to the frame does not matter.
const HOPELESS: f64 = -746.0;

/// One receiver.
#[derive(Debug)]
pub(super) struct Receiver {
    signals: Vec<Standing>,
    /// Of the frames it is locked on, if they are judged part by part.
    segments: Vec<Segment>,
    pub noise_mw: f64,
    pub is_transmitting: bool,
    /// End of its own last transmission.
    pub stopped: SimTime,
    /// Start of the last frame that it locked on, `fresh` not counted.
    last_start: SimTime,
    /// Signals that stand and whose preamble it detected.
    detected: u32,
    /// The frame whose preamble is over.
    held: Option<Lock>,
    /// The frame it turns to once this preamble is over, unless a further signal reopens the question.
    fresh: Option<Lock>,
    /// Frames it left for stronger ones.
    pub relocks: u64,
}

impl Receiver {
    /// Bytes for a signal that stands here.
    pub const SIGNAL_BYTES: usize = size_of::<Standing>();

    pub fn new(nodes: usize, noise_mw: f64) -> Receiver {
        Receiver {
            signals: Vec::with_capacity(nodes.min(16)),
            segments: Vec::new(),
            noise_mw,
            is_transmitting: false,
            stopped: SimTime::ZERO,
            last_start: SimTime::ZERO,
            detected: 0,
            held: None,
            fresh: None,
            relocks: 0,
        }
    }

    pub fn hears_any(&self) -> bool {
        !self.signals.is_empty()
    }

    /// The frame that it receives, as things stand.
    fn locked(&self) -> Option<&Lock> {
        self.fresh.as_ref().or(self.held.as_ref())
    }

    pub fn locked_on(&self) -> Option<NodeId> {
        self.locked().map(|lock| lock.from)
    }

    fn energy_mw(&self) -> f64 {
        self.signals.iter().map(|signal| signal.mw).sum()
    }

    pub fn is_busy(&self, rules: &Rules) -> bool {
        self.is_transmitting || self.detected > 0 || self.energy_mw() >= rules.cca_ed_mw
    }

    /// Noise and all signals but that of `but`.
    fn against_mw(&self, but: NodeId) -> f64 {
        self.noise_mw + self.signals.iter().filter(|signal| signal.from != but).map(|signal| signal.mw).sum::<f64>()
    }

    /// Power by which interference counts less than noise for a frame that is followed. The strongest signal alone is weighed: the sum of several
    /// is nearer to noise, and was not measured.
    #[inline(never)]
    fn spared_mw(&self, lock: &Lock, sent: &[Sent]) -> f64 {
        let others = self.signals.iter().filter(|signal| signal.from != lock.from);
        let strongest = others.max_by(|one, other| one.mw.total_cmp(&other.mw));
        strongest.map_or(0.0, |it| {
            let [own, other] = [lock.from, it.from].map(|node| sent[node.index()].mode);
            it.mw * (1.0 - weight(own, other, lock.mw / it.mw))
        })
    }

    fn find(&mut self, from: NodeId) -> Option<&mut Standing> {
        self.signals.iter_mut().find(|signal| signal.from == from)
    }

    /// Start of the last frame that it locked on.
    pub fn last_start(&self) -> SimTime {
        self.fresh.map_or(self.last_start, |lock| lock.started)
    }

    /// Brings everything up to `now`: segments end, and a preamble that is over has decided.
    fn settle(&mut self, now: SimTime, sent: &[Sent], rules: &Rules) {
        let (mut held, mut fresh) = (self.held, self.fresh);
        for lock in [&mut held, &mut fresh].into_iter().flatten().filter(|lock| !lock.is_clean && lock.since < now) {
            let frame = &sent[lock.from.index()];
            if lock.ln > HOPELESS || frame.is_in_parts {
                let against = self.against_mw(lock.from);
                let spared = match rules.interference {
                    Interference::Noise => 0.0,
                    Interference::Modem => self.spared_mw(lock, sent),
                };
                let sinr = lock.mw / (against - spared);
                lock.ln += frame.ln_survival(rules, lock.since, now, sinr);
                if frame.is_in_parts {
                    self.segments.push(Segment { from: lock.from, since: lock.since, until: now, sinr });
                }
            }
            lock.since = now;
        }
        if let Some(lock) = fresh.take_if(|lock| now >= lock.started + rules.latency) {
            if let Some(left) = held {
                self.leave_for_stronger(left.from);
            }
            self.last_start = lock.started;
            held = Some(lock);
        }
        (self.held, self.fresh) = (held, fresh);
    }

    fn leave_for_stronger(&mut self, from: NodeId) {
        self.relocks += 1;
        if let Some(signal) = self.find(from) {
            signal.is_left = true;
        }
    }

    /// A signal begins. Returns whether carrier sense turns busy by its energy.
    #[inline]
    pub fn arrive(&mut self, now: SimTime, from: NodeId, mw: f64, sent: &[Sent], rules: &Rules) -> bool {
        if !self.signals.is_empty() {
            return self.join(now, from, mw, sent, rules);
        }
        let is_eligible = !self.is_transmitting;
        self.signals.push(Standing { from, mw, started: now, is_eligible, is_detected: false, is_left: false });
        let is_locked = is_eligible && mw >= rules.preamble_sinr * self.noise_mw;
        self.held = None;
        self.fresh = is_locked.then_some(Lock { from, mw, started: now, since: now, ln: 0.0, is_clean: true });
        is_eligible && mw >= rules.cca_ed_mw
    }

    /// A signal begins while others stand.
    fn join(&mut self, now: SimTime, from: NodeId, mw: f64, sent: &[Sent], rules: &Rules) -> bool {
        let was_busy = self.is_busy(rules);
        self.settle(now, sent, rules);
        self.close_clean(now, sent, rules);
        let is_eligible = !self.is_transmitting && (self.held.is_none() || rules.capture.is_some());
        let place = self.signals.iter().position(|signal| signal.from > from).unwrap_or(self.signals.len());
        let standing = Standing { from, mw, started: now, is_eligible, is_detected: false, is_left: false };
        self.signals.insert(place, standing);
        if is_eligible {
            self.choose(now, rules);
        }
        !was_busy && self.energy_mw() >= rules.cca_ed_mw
    }

    /// Frames followed alone so far get their segment up to now: something begins to overlap them.
    fn close_clean(&mut self, now: SimTime, sent: &[Sent], rules: &Rules) {
        let noise_mw = self.noise_mw;
        for lock in [&mut self.held, &mut self.fresh].into_iter().flatten().filter(|lock| lock.is_clean) {
            let frame = &sent[lock.from.index()];
            let sinr = lock.mw / noise_mw;
            lock.is_clean = false;
            lock.ln = frame.ln_survival(rules, lock.since, now, sinr);
            if frame.is_in_parts {
                self.segments.push(Segment { from: lock.from, since: lock.since, until: now, sinr });
            }
            lock.since = now;
        }
    }

    /// Turns the receiver to one of the signals whose preamble lasts: the strongest, if it is strong enough against all
    /// the rest.
    fn choose(&mut self, now: SimTime, rules: &Rules) {
        // Where nothing is ever captured, a locked receiver has not heard the preamble.
        let [clear, garbled] = rules.capture.unwrap_or([f64::INFINITY; 2]);
        let threshold = match &self.held {
            None => rules.preamble_sinr,
            Some(held) if held.ln >= -core::f64::consts::LN_2 => clear,
            Some(_) => garbled,
        };
        let lasts = |signal: &&Standing| signal.is_eligible && signal.started + rules.latency > now;
        let mut best: Option<&Standing> = None;
        let mut is_tie = false;
        for signal in self.signals.iter().filter(lasts) {
            match best {
                Some(other) if signal.mw < other.mw => {}
                Some(other) if signal.mw == other.mw => is_tie = true,
                _ => (best, is_tie) = (Some(signal), false),
            }
        }
        let Some(best) = best.filter(|best| !is_tie && best.mw >= threshold * self.against_mw(best.from)) else {
            self.fresh = None;
            return;
        };
        if self.fresh.is_none_or(|lock| lock.from != best.from) {
            // One that the question was reopened for has begun a preamble earlier; of that, nothing is counted.
            let Standing { from, mw, started, .. } = *best;
            self.fresh = Some(Lock { from, mw, started, since: now, ln: 0.0, is_clean: false });
        }
    }

    /// The preamble of `from` is over. Returns whether carrier sense turns busy by it.
    pub fn sense(&mut self, from: NodeId, now: SimTime, rules: &Rules) -> bool {
        if self.is_transmitting || self.locked_on() != Some(from) {
            return false;
        }
        let was_busy = self.is_busy(rules);
        let latency = rules.latency;
        let Some(signal) = self.find(from).filter(|signal| signal.started + latency <= now) else { return false };
        if !std::mem::replace(&mut signal.is_detected, true) {
            self.detected += 1;
        }
        !was_busy
    }

    /// Begins to transmit.
    pub fn start(&mut self, now: SimTime, sent: &[Sent], rules: &Rules) {
        self.settle(now, sent, rules);
        self.is_transmitting = true;
        (self.held, self.fresh) = (None, None);
        self.signals.iter_mut().for_each(|signal| signal.is_eligible = false);
    }

    /// The signal of `from` ends. Returns what came of it and whether carrier sense turns idle.
    #[inline]
    pub fn leave(&mut self, now: SimTime, from: NodeId, sent: &[Sent], rules: &Rules) -> (End, bool) {
        if let &[alone] = self.signals.as_slice()
            && self.locked().is_some_and(|lock| lock.is_clean)
        {
            self.signals.clear();
            (self.held, self.fresh, self.detected) = (None, None, 0);
            self.last_start = alone.started;
            return (End::Alone, alone.is_detected || alone.mw >= rules.cca_ed_mw);
        }
        self.part(now, from, sent, rules)
    }

    /// Segments of the frame of `from` here, if that is judged part by part.
    pub fn segments(&self, from: NodeId) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(move |segment| segment.from == from)
    }

    /// The frame of `from` is over.
    pub fn forget_segments(&mut self, from: NodeId) {
        self.segments.retain(|segment| segment.from != from);
    }

    /// The signal of `from` ends and it was not the only one, or the receiver did not follow it alone.
    fn part(&mut self, now: SimTime, from: NodeId, sent: &[Sent], rules: &Rules) -> (End, bool) {
        let was_busy = self.is_busy(rules);
        self.settle(now, sent, rules);
        let place = self.signals.iter().position(|signal| signal.from == from).expect("what ends has stood here");
        let followed = self.locked().filter(|lock| lock.from == from).copied();
        if self.held.is_some_and(|lock| lock.from == from) {
            self.held = None;
            if self.fresh.is_some() {
                self.leave_for_stronger(from);
            }
        } else if followed.is_some() {
            self.fresh = None;
        }
        let signal = self.signals.remove(place);
        self.detected -= u32::from(signal.is_detected);
        let end = match followed {
            Some(Lock { is_clean: true, .. }) => End::Alone,
            Some(Lock { ln, .. }) => End::Overlapped { ln },
            None if self.is_transmitting || self.stopped > signal.started => End::HalfDuplex,
            None if signal.is_left => End::Left,
            None => End::NotLocked { by_noise: signal.mw < rules.preamble_sinr * self.noise_mw },
        };
        (end, was_busy && !self.is_busy(rules))
    }
}
