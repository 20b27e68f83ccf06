//! Who may send when: carrier sense, interframe spaces and backoff of all stations of a channel, in sets and arrays.
//!
//! One contender is one backoff entity: a station under DCF, one access category of a station under EDCA. Nothing ticks:
//! a contender's grant is the end of its interframe space plus its remaining slots, so an event queue sees one timer for the
//! whole channel. It is withdrawn when its medium turns busy, and counted anew after that turned idle when somebody asks.
//!
//! Follows @80211-2020 10.3.4 (DCF) and 10.23.2 (EDCA). A station's contenders stand in order of rising priority. A
//! contender that wins at the instant another station's signal starts transmits all the same: starts of one instant do not
//! hear each other.

use engine::Stream;
use units::{Dur, NodeId, Nodes, SimTime};

/// Which backoff entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContenderId(pub u32);

/// When a backoff counts one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Countdown {
    /// After each slot that was idle throughout. @80211-2020 10.3.4.3
    Dcf,
    /// At each slot boundary, the one that ends AIFS included and though somebody starts there: each idle period longer
    /// than AIFS counts one more than under DCF. A frame for a medium long idle waits for the next boundary.
    /// @80211-2020 10.23.2.4
    Edca,
}

/// Whether a frame draws a backoff that is queued while physical and virtual carrier sense are idle, though the
/// interframe space is not over: in the SIFS gap of a responder, for instance. With the medium busy it always draws; with
/// the space over and the medium idle it never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessInGap {
    /// Only if the medium turns busy before the space is over. @80211-2020 10.3.4.2
    DcfLetter,
    /// It does not: neither carrier sense was busy when it was queued. It goes at the end of the next interframe space.
    /// @80211-2020 10.23.2.2 a)
    EdcaLetter,
    /// It does, at once: ns-3 from 3.26 to 3.30.
    AlwaysDraw,
}

/// The parameters of one contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// DIFS, or AIFS of the category.
    pub ifs: Dur,
    /// What replaces it after a frame received in error: EIFS, or EIFS - DIFS + AIFS. @80211-2020 10.3.2.3.7, 10.23.2.4
    pub eifs: Dur,
    /// aSlotTime.
    pub slot: Dur,
    /// First contention window.
    pub cw_min: u16,
    /// Largest contention window.
    pub cw_max: u16,
    /// When a backoff counts.
    pub countdown: Countdown,
    /// What a frame draws that is queued in a gap.
    pub in_gap: AccessInGap,
}

/// What a contender is about. Those that a grant waits for come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// No backoff under way and nothing to send.
    Off,
    /// Granted: the station transmits or waits for a response.
    Granted,
    /// Counting down with nothing to send. @80211-2020 10.3.4.3
    PostBackoff,
    /// Something to send, and counting down.
    Backoff,
    /// Something to send, found the medium idle: no backoff unless it turns busy before the interframe space ends.
    /// @80211-2020 10.3.4.2
    Immediate,
}

#[derive(Debug)]
struct Contender {
    node: NodeId,
    access: Access,
    phase: Phase,
    cw: u16,
    /// Slots that remain as of the last change.
    slots: u32,
    /// The countdown does not begin earlier, though the interframe space be over: then this is its first slot boundary.
    not_before: SimTime,
    /// When the countdown begins (began) in the current idle period, as of the last change.
    counts_from: SimTime,
    draws: Stream,
}

/// What the carrier sense of 64 stations says, a bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Carrier {
    /// For good where there is no station.
    busy: u64,
    /// The last frame received was in error: EIFS applies.
    after_error: u64,
    /// Those that turned idle at `idle_at`, the last time that any did. What [`Place::idle_from`] would say of them is not
    /// written while they may be busy again before anybody asks: in the gap before a response, for instance.
    recent: u64,
    idle_at: SimTime,
    /// Those whose NAV ends at `nav_at`, since one frame set it. What [`Place::nav`] would say of them is not written.
    navs: u64,
    nav_at: SimTime,
    /// No NAV ends later.
    latest_nav: SimTime,
}

impl Carrier {
    /// Until when virtual carrier sense holds a station back, its `bit` here.
    #[inline]
    fn nav(&self, bit: u64, place: &Place) -> SimTime {
        if self.navs & bit != 0 { self.nav_at } else { place.nav }
    }

    /// Since when the medium of a station, its `bit` here, is idle, or will be once its NAV ends.
    #[inline]
    fn idle_from(&self, bit: u64, place: &Place) -> SimTime {
        if self.recent & bit != 0 { self.idle_at.max(self.nav(bit, place)) } else { place.idle_from }
    }
}

/// A station's place among the arrays.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Since when its medium is idle, or will be once the NAV ends. Of no meaning while busy, or [`Carrier::recent`].
    idle_from: SimTime,
    /// Of no meaning for [`Carrier::navs`].
    nav: SimTime,
    /// Its contenders: the first, and the first of the next station.
    contenders: (u32, u32),
}

impl Place {
    fn range(&self) -> std::ops::Range<usize> {
        self.contenders.0 as usize..self.contenders.1 as usize
    }
}

/// What one station's carrier sense says.
#[derive(Debug, Clone, Copy)]
struct Sense {
    is_busy: bool,
    /// Whether the last frame it received was in error: EIFS applies.
    after_error: bool,
    /// As in [`Place`].
    idle_from: SimTime,
}

/// How an exchange ended, as far as the next backoff is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Answered, or nothing to be answered: CW falls back. @80211-2020 10.3.3
    Success,
    /// Not answered: CW doubles.
    Failure,
    /// Given up: CW falls back as well.
    Discard,
    /// CW is that of a frame that has failed so often.
    Failures(u8),
}

/// CW after so many failures.
fn doubled(access: Access, failures: u8) -> u16 {
    let cw = (u32::from(access.cw_min) + 1) << failures.min(16);
    (cw - 1).min(u32::from(access.cw_max)) as u16
}

/// All contenders of one channel.
#[derive(Debug)]
pub struct Contention {
    /// By block of stations.
    carriers: Vec<Carrier>,
    places: Vec<Place>,
    contenders: Vec<Contender>,
    /// When each contender is granted; apart, so that the search for the next winner reads nothing else.
    grants: Vec<SimTime>,
    /// Whether a grant may stand where the medium is busy: that of a contender granted at the instant it turned so.
    may_stand: bool,
    has_changed: bool,
    /// By block, stations that have turned idle and whose grants nobody has asked for since: none of their contenders is in
    /// [`Phase::Immediate`]. In the gap before an answer nobody asks.
    uncounted: Vec<u64>,
    /// Before which none of theirs is granted.
    uncounted_until: SimTime,
    /// The least of all grants, where that is known.
    least: Option<SimTime>,
    /// The shortest interframe space of all.
    least_ifs: Dur,
    /// Whether each station has one contender, in its own place, and all count alike: then passes over many of them need not look for
    /// them, nor divide for each.
    is_plain: bool,
}

impl Contention {
    /// The contenders of `nodes` stations, in order of node. `access` gives those of a node, with a stream for each.
    pub fn new(nodes: usize, mut access: impl FnMut(NodeId) -> Vec<(Access, Stream)>) -> Contention {
        let (mut places, mut contenders) = (Vec::with_capacity(nodes), Vec::new());
        for node in (0..nodes as u32).map(NodeId) {
            let first = contenders.len() as u32;
            for (access, draws) in access(node) {
                let cw = access.cw_min;
                let not_before = SimTime::ZERO;
                let (phase, slots, counts_from) = (Phase::Off, 0, SimTime::ZERO + access.ifs);
                contenders.push(Contender { node, access, phase, cw, slots, not_before, counts_from, draws });
            }
            let (idle_from, nav) = (SimTime::ZERO, SimTime::ZERO);
            let contenders = (first, contenders.len() as u32);
            places.push(Place { idle_from, nav, contenders });
        }
        let spaces = contenders.iter().map(|contender: &Contender| contender.access.ifs.min(contender.access.eifs));
        let of_each = |contender: &Contender| (contender.access.slot, contender.access.countdown);
        let are_alike = contenders.iter().all(|contender| of_each(contender) == of_each(&contenders[0]));
        let is_plain =
            are_alike && (0..).zip(&places).all(|(i, place): (u32, &Place)| place.contenders == (i, i + 1));
        let mut carriers = vec![Carrier::default(); Nodes::blocks(nodes)];
        if let (Some(last), some @ 1..) = (carriers.last_mut(), nodes % Nodes::BLOCK) {
            last.busy = u64::MAX << some;
        }
        Contention {
            carriers,
            may_stand: false,
            places,
            grants: vec![SimTime::NEVER; contenders.len()],
            has_changed: false,
            uncounted: vec![0; Nodes::blocks(nodes)],
            uncounted_until: SimTime::NEVER,
            least: None,
            least_ifs: spaces.min().unwrap_or(Dur::ZERO),
            is_plain,
            contenders,
        }
    }

    fn sense(&self, node: NodeId) -> Sense {
        let one = Nodes::from(node);
        let carrier = &self.carriers[one.index()];
        let (is_busy, after_error) = (carrier.busy & one.bits != 0, carrier.after_error & one.bits != 0);
        Sense { is_busy, after_error, idle_from: carrier.idle_from(one.bits, &self.places[node.index()]) }
    }

    /// The first contender of a station, of its lowest category; the only one under DCF. The others follow it.
    pub fn first(&self, node: NodeId) -> ContenderId {
        ContenderId(self.places[node.index()].contenders.0)
    }

    /// The parameters of a contender.
    pub fn access(&self, id: ContenderId) -> &Access {
        &self.contenders[id.0 as usize].access
    }

    /// Whether a contender has been granted and not finished yet.
    pub fn is_granted(&self, id: ContenderId) -> bool {
        self.contenders[id.0 as usize].phase == Phase::Granted
    }

    /// The first slot boundary of a contender from `now` on, if the medium stays idle. Under DCF every instant is one once
    /// the interframe space is over.
    pub fn next_boundary(&self, now: SimTime, id: ContenderId) -> SimTime {
        let contender = &self.contenders[id.0 as usize];
        next_boundary(contender, &self.sense(contender.node), now)
    }

    /// Which station a contender belongs to.
    pub fn node(&self, id: ContenderId) -> NodeId {
        self.contenders[id.0 as usize].node
    }

    /// When the next contender is granted; `NEVER` if none counts.
    pub fn next_grant(&mut self) -> SimTime {
        self.count();
        self.has_changed = false;
        let is_silent = |(carrier, uncounted): (&Carrier, &u64)| carrier.busy | uncounted != u64::MAX;
        let least = match self.least {
            Some(least) => least,
            None if !self.may_stand && !self.carriers.iter().zip(&self.uncounted).any(is_silent) => SimTime::NEVER,
            // By reference: of copies the compiler makes a vector loop that is slower, since SSE2 cannot compare 64-bit words.
            None => self.grants.iter().min().copied().unwrap_or(SimTime::NEVER),
        };
        debug_assert_eq!(least, self.grants.iter().min().copied().unwrap_or(SimTime::NEVER));
        self.least = Some(least);
        least
    }

    /// Whether [`Contention::next_grant`] may say something else than it did last, if the next thing to happen happens at
    /// `next`. Stations that will be busy again by then need not be counted.
    pub fn has_changed_by(&self, next: impl FnOnce() -> SimTime) -> bool {
        self.has_changed || self.uncounted_until != SimTime::NEVER && self.uncounted_until <= next()
    }

    /// Counts the grants of the stations that have turned idle. They had none.
    fn count(&mut self) {
        if self.uncounted_until == SimTime::NEVER {
            return;
        }
        self.uncounted_until = SimTime::NEVER;
        self.has_changed = true;
        let mut least = SimTime::NEVER;
        for (block, carrier) in (0..).zip(&self.carriers) {
            let bits = std::mem::take(&mut self.uncounted[block as usize]);
            for (bits, after_error) in [(bits & !carrier.after_error, false), (bits & carrier.after_error, true)] {
                let nodes = Nodes { block, bits };
                if self.is_plain {
                    let Contention { places, contenders, grants, .. } = self;
                    least = least.min(count_each(nodes, after_error, carrier, places, contenders, grants));
                    continue;
                }
                for node in nodes {
                    let place = &self.places[node.index()];
                    let idle_from = carrier.idle_from(Nodes::from(node).bits, place);
                    let sense = Sense { is_busy: false, after_error, idle_from };
                    for i in place.range() {
                        self.grants[i] = self.contenders[i].recount(&sense);
                        least = least.min(self.grants[i]);
                    }
                }
            }
        }
        self.least = self.least.map(|others| others.min(least));
    }

    /// A contender's grant is another now.
    fn set_grant(&mut self, i: usize, grant: SimTime) {
        let before = std::mem::replace(&mut self.grants[i], grant);
        self.least = match self.least {
            Some(least) if grant <= least => Some(grant),
            // Perhaps another has the same, or the next.
            Some(least) if before == least => None,
            least => least,
        };
    }

    /// All contenders granted at `now` are; of each station the highest goes into `winners`, in order of id. Its others have
    /// collided internally: [`Contention::is_granted`] tells which. @80211-2020 10.23.2.4
    pub fn winners(&mut self, now: SimTime, winners: &mut Vec<ContenderId>) {
        (self.has_changed, self.may_stand, self.least) = (true, false, None);
        for (id, grant) in (0..).map(ContenderId).zip(&mut self.grants) {
            if *grant > now {
                continue;
            }
            *grant = SimTime::NEVER;
            let contender = &mut self.contenders[id.0 as usize];
            contender.phase = Phase::Granted;
            let node = contender.node;
            match winners.last_mut() {
                Some(lower) if self.contenders[lower.0 as usize].node == node => *lower = id,
                _ => winners.push(id),
            }
        }
    }

    /// A contender has something to send and had not before.
    pub fn want(&mut self, now: SimTime, id: ContenderId) {
        self.count();
        let i = id.0 as usize;
        let node = self.contenders[i].node;
        let (sense, nav) = (self.sense(node), self.nav(node));
        let contender = &mut self.contenders[i];
        match contender.phase {
            Phase::PostBackoff if !is_over(contender, &sense, now) => contender.phase = Phase::Backoff,
            Phase::Off | Phase::PostBackoff => {
                contender.slots = 0;
                let is_idle = !sense.is_busy && nav <= now;
                let is_in_gap = || now < count_from(contender, &sense);
                match contender.access.in_gap {
                    _ if !is_idle => contender.draw(),
                    AccessInGap::AlwaysDraw if is_in_gap() => contender.draw(),
                    in_gap => {
                        contender.not_before = contender.not_before.max(next_boundary(contender, &sense, now));
                        contender.phase = match in_gap {
                            AccessInGap::DcfLetter => Phase::Immediate,
                            AccessInGap::EdcaLetter | AccessInGap::AlwaysDraw => Phase::Backoff,
                        };
                    }
                }
            }
            Phase::Immediate | Phase::Backoff | Phase::Granted => return,
        }
        self.recount_one(i, &sense);
    }

    /// A contender transmits without having waited: its station answers, and goes on from there.
    pub fn seize(&mut self, id: ContenderId) {
        self.has_changed = true;
        self.contenders[id.0 as usize].phase = Phase::Granted;
        self.set_grant(id.0 as usize, SimTime::NEVER);
    }

    /// What a granted contender attempted has ended. It draws its next backoff (post-backoff follows every
    /// transmission, successful or not, @80211-2020 10.3.4.3), counts it down not before `not_before`, and goes on
    /// wanting or not.
    pub fn finish(&mut self, id: ContenderId, outcome: Outcome, wants: bool, not_before: SimTime) {
        let i = id.0 as usize;
        let node = self.contenders[i].node;
        let sense = self.sense(node);
        let contender = &mut self.contenders[i];
        contender.cw = match outcome {
            Outcome::Failure => (contender.cw * 2 + 1).min(contender.access.cw_max),
            Outcome::Success | Outcome::Discard => contender.access.cw_min,
            Outcome::Failures(n) => doubled(contender.access, n),
        };
        contender.draw();
        contender.phase = if wants { Phase::Backoff } else { Phase::PostBackoff };
        contender.not_before = not_before;
        if !self.is_uncounted(node) {
            self.recount_one(i, &sense);
        }
    }

    /// A contender takes another interframe space: that of the frame now at its head. A countdown under way keeps the slots
    /// it has counted and its boundaries.
    pub fn set_ifs(&mut self, now: SimTime, id: ContenderId, ifs: Dur, eifs: Dur) {
        self.count();
        self.has_changed = true;
        self.least_ifs = self.least_ifs.min(ifs);
        let i = id.0 as usize;
        let sense = self.sense(self.contenders[i].node);
        let contender = &mut self.contenders[i];
        if let (Phase::Backoff | Phase::PostBackoff, false) = (contender.phase, sense.is_busy) {
            let from = contender.counts_from;
            if from <= now {
                let left = contender.slots - elapsed(contender, from, now).min(contender.slots);
                contender.not_before = from + contender.access.slot * u64::from(contender.slots - left);
                contender.slots = left;
            }
        }
        (contender.access.ifs, contender.access.eifs) = (ifs, eifs);
        let grant = contender.recount(&sense);
        self.set_grant(i, grant);
    }

    /// The other contenders of the same station stand back while it waits for an answer in the exchange that `id` was
    /// granted: their interframe spaces begin at `until`, or end an EIFS after `frame_end` where that is
    /// given and later. @80211-2020 10.23.2.4 c)
    pub fn hold_others(&mut self, id: ContenderId, until: SimTime, frame_end: Option<SimTime>) {
        self.stay_others(id, |access| {
            let eifs = frame_end.map_or(SimTime::ZERO, |end| end + access.eifs);
            (until + access.ifs).max(eifs)
        });
    }

    /// The answer came: only the interframe space after it counts. @80211-2020 10.23.2.4 c)
    pub fn release_others(&mut self, id: ContenderId) {
        self.stay_others(id, |_| SimTime::ZERO);
    }

    fn stay_others(&mut self, id: ContenderId, not_before: impl Fn(&Access) -> SimTime) {
        let node = self.contenders[id.0 as usize].node;
        for i in self.places[node.index()].range().filter(|i| *i != id.0 as usize) {
            let contender = &mut self.contenders[i];
            contender.not_before = not_before(&contender.access);
        }
        self.recount(node);
    }

    /// A contender gives up its claim without having been heard: its station was killed.
    pub fn silence(&mut self, id: ContenderId) {
        self.has_changed = true;
        self.contenders[id.0 as usize].phase = Phase::Off;
        self.set_grant(id.0 as usize, SimTime::NEVER);
    }

    /// The medium around `nodes` turns busy, where it was not: countdowns freeze.
    #[inline]
    pub fn busy(&mut self, now: SimTime, nodes: impl Into<Nodes>) {
        let nodes = nodes.into();
        if self.uncounted_until <= now {
            self.count();
        }
        let (carrier, uncounted) = (&mut self.carriers[nodes.index()], &mut self.uncounted[nodes.index()]);
        // Where nothing has been counted nothing was to be: no interframe space is over.
        let counted = nodes.with_bits(nodes.bits & !carrier.busy & !*uncounted);
        carrier.busy |= nodes.bits;
        carrier.recent &= !nodes.bits;
        *uncounted &= !nodes.bits;
        if counted.is_empty() {
            return;
        }
        (self.has_changed, self.least) = (true, None);
        if self.is_plain {
            self.may_stand |= freeze_each(now, counted, &mut self.contenders, &mut self.grants);
            return;
        }
        for node in counted {
            for i in self.places[node.index()].range() {
                // Granted at this very instant: it starts too and hears nothing of it.
                if self.grants[i] == now {
                    self.may_stand = true;
                } else {
                    self.grants[i] = SimTime::NEVER;
                    self.contenders[i].freeze(now);
                }
            }
        }
    }

    /// The medium around `nodes`, which was busy, turns idle.
    #[inline]
    pub fn idle(&mut self, now: SimTime, nodes: impl Into<Nodes>) {
        let nodes = nodes.into();
        if nodes.is_empty() {
            return;
        }
        let carrier = &mut self.carriers[nodes.index()];
        debug_assert!(nodes.bits & !carrier.busy == 0, "what turns idle was busy");
        carrier.busy &= !nodes.bits;
        if carrier.idle_at != now {
            for node in nodes.with_bits(carrier.recent) {
                let place = &mut self.places[node.index()];
                place.idle_from = carrier.idle_at.max(carrier.nav(Nodes::from(node).bits, place));
            }
            (carrier.recent, carrier.idle_at) = (0, now);
        }
        carrier.recent |= nodes.bits;
        self.uncounted[nodes.index()] |= nodes.bits;
        self.uncounted_until = self.uncounted_until.min(now + self.least_ifs);
    }

    /// A frame in error, or a correct one, has ended at `nodes`. To be told before [`Contention::idle`]; other signals may
    /// still stand there.
    pub fn note_reception(&mut self, nodes: impl Into<Nodes>, in_error: bool) {
        let nodes = nodes.into();
        let after_error = &mut self.carriers[nodes.index()].after_error;
        *after_error = if in_error { *after_error | nodes.bits } else { *after_error & !nodes.bits };
    }

    /// `nodes` overheard a Duration: their NAV, where that ends later than the current one. Returns where it does.
    /// @80211-2020 10.3.2.4
    ///
    /// To be called at the end of the frame, before [`Contention::idle`].
    #[inline]
    pub fn set_nav(&mut self, nodes: impl Into<Nodes>, until: SimTime) -> Nodes {
        let nodes = nodes.into();
        let carrier = &mut self.carriers[nodes.index()];
        let mut set = nodes;
        if until > carrier.latest_nav {
            for node in nodes.with_bits(carrier.navs & !nodes.bits) {
                self.places[node.index()].nav = carrier.nav_at;
            }
            (carrier.navs, carrier.nav_at, carrier.latest_nav) = (nodes.bits, until, until);
        } else {
            for node in nodes {
                let (bit, place) = (Nodes::from(node).bits, &mut self.places[node.index()]);
                if until > carrier.nav(bit, place) {
                    place.nav = until;
                    carrier.navs &= !bit;
                } else {
                    set.bits &= !bit;
                }
            }
        }
        debug_assert!(set.bits & !carrier.busy == 0, "a Duration is heard at the end of a frame");
        set
    }

    /// `node` forgets its NAV: no CTS followed the RTS that set it. @80211-2020 10.3.2.4
    pub fn reset_nav(&mut self, now: SimTime, node: NodeId) {
        let is_busy = self.sense(node).is_busy;
        if self.nav(node) > now {
            let (one, place) = (Nodes::from(node), &mut self.places[node.index()]);
            self.carriers[one.index()].navs &= !one.bits;
            place.nav = now;
            if !is_busy {
                place.idle_from = now;
                self.recount(node);
            }
        }
    }

    /// Until when virtual carrier sense holds `node` back.
    pub fn nav(&self, node: NodeId) -> SimTime {
        let one = Nodes::from(node);
        self.carriers[one.index()].nav(one.bits, &self.places[node.index()])
    }

    fn is_uncounted(&self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        self.uncounted[one.index()] & one.bits != 0
    }

    /// Something has changed at a station or in its contenders.
    fn recount(&mut self, node: NodeId) {
        if self.is_uncounted(node) {
            return;
        }
        let sense = self.sense(node);
        for i in self.places[node.index()].range() {
            self.recount_one(i, &sense);
        }
    }

    fn recount_one(&mut self, i: usize, sense: &Sense) {
        let grant = self.contenders[i].recount(sense);
        self.has_changed |= grant != self.grants[i];
        self.set_grant(i, grant);
    }
}

/// The grants of these stations, which have turned idle; each has one contender in its own place. Returns the least.
fn count_each(
    nodes: Nodes,
    after_error: bool,
    carrier: &Carrier,
    places: &[Place],
    contenders: &mut [Contender],
    grants: &mut [SimTime],
) -> SimTime {
    let mut least = SimTime::NEVER;
    // Most turned idle at one instant, and one frame set the NAV of most.
    let alike = nodes.bits & carrier.recent & carrier.navs;
    let idle_from = carrier.idle_at.max(carrier.nav_at);
    for node in nodes {
        let (i, bit) = (node.index(), 1 << (node.index() % Nodes::BLOCK));
        let contender = &mut contenders[i];
        // Nothing to count; and no grant stands.
        if contender.phase < Phase::PostBackoff {
            debug_assert!(grants[i] == SimTime::NEVER);
            continue;
        }
        let idle_from = if alike & bit != 0 { idle_from } else { carrier.idle_from(bit, &places[i]) };
        grants[i] = contender.recount(&Sense { is_busy: false, after_error, idle_from });
        least = least.min(grants[i]);
    }
    least
}

/// The countdowns of these stations freeze, each of which has one contender in its own place; all count alike. Returns whether one
/// was granted at this very instant: it starts too and hears nothing of it.
fn freeze_each(now: SimTime, nodes: Nodes, contenders: &mut [Contender], grants: &mut [SimTime]) -> bool {
    let mut some_stand = false;
    // Most began to count at one instant.
    let mut counted = (SimTime::NEVER, 0);
    for node in nodes {
        let i = node.index();
        let contender = &mut contenders[i];
        if grants[i] == now {
            some_stand = true;
            continue;
        }
        grants[i] = SimTime::NEVER;
        if contender.phase < Phase::PostBackoff {
            continue;
        }
        if contender.phase == Phase::Immediate {
            contender.draw();
            continue;
        }
        if contender.counts_from > now {
            continue;
        }
        if contender.counts_from != counted.0 {
            counted = (contender.counts_from, elapsed(contender, contender.counts_from, now));
        }
        contender.slots -= counted.1.min(contender.slots);
        if contender.phase == Phase::PostBackoff && contender.slots == 0 {
            contender.phase = Phase::Off;
        }
    }
    some_stand
}

impl Contender {
    /// A fresh backoff, uniform over 0 … CW. @80211-2020 10.3.3
    fn draw(&mut self) {
        self.slots = self.draws.below(u32::from(self.cw) + 1);
        self.phase = Phase::Backoff;
    }

    /// An idle period is over.
    #[inline]
    fn freeze(&mut self, now: SimTime) {
        match self.phase {
            Phase::Immediate => self.draw(),
            Phase::Backoff | Phase::PostBackoff if self.counts_from <= now => {
                self.slots -= elapsed(self, self.counts_from, now).min(self.slots);
                if self.phase == Phase::PostBackoff && self.slots == 0 {
                    self.phase = Phase::Off;
                }
            }
            _ => {}
        }
    }

    /// Something has changed, at its station or in itself. When it is granted if nothing turns busy.
    #[inline]
    fn recount(&mut self, sense: &Sense) -> SimTime {
        self.counts_from = count_from(self, sense);
        // A station that transmits without a backoff has no slots left.
        if self.phase < Phase::Backoff || sense.is_busy {
            return SimTime::NEVER;
        }
        // Neither is anywhere near the end of time: no need to saturate.
        SimTime::from_ns(self.counts_from.ns() + self.access.slot.ns() * u64::from(self.slots))
    }
}

/// When the countdown of a contender begins (began) in the current idle period.
fn count_from(contender: &Contender, sense: &Sense) -> SimTime {
    let ifs = if sense.after_error { contender.access.eifs } else { contender.access.ifs };
    SimTime::from_ns(sense.idle_from.ns() + ifs.ns()).max(contender.not_before)
}

/// The first slot boundary from `now` on; under DCF any instant will do.
fn next_boundary(contender: &Contender, sense: &Sense, now: SimTime) -> SimTime {
    let from = count_from(contender, sense);
    match contender.access.countdown {
        Countdown::Edca if from < now => {
            let (gone, slot) = (now - from, contender.access.slot);
            from + slot * (gone.ns().div_ceil(slot.ns().max(1)))
        }
        Countdown::Edca | Countdown::Dcf => now,
    }
}

/// Slots counted down by `now`, `from` being over.
fn elapsed(contender: &Contender, from: SimTime, now: SimTime) -> u32 {
    let first = match contender.access.countdown {
        Countdown::Dcf => 0,
        Countdown::Edca => 1,
    };
    let counted = (now - from) / contender.access.slot + first;
    u32::try_from(counted).unwrap_or(u32::MAX)
}

/// Whether a countdown with nothing to send has ended by `now` in this idle period; one that ended before has left
/// [`Phase::PostBackoff`] when the medium turned busy. Only DCF's letter takes a backoff of no slots for one that still waits
/// for its interframe space: a timer of 0 is over. @80211-2020 10.23.2.2 a)
fn is_over(contender: &Contender, sense: &Sense, now: SimTime) -> bool {
    if contender.slots == 0 && contender.access.in_gap != AccessInGap::DcfLetter {
        return true;
    }
    !sense.is_busy && count_from(contender, sense) + contender.access.slot * u64::from(contender.slots) <= now
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    fn us(n: u64) -> SimTime {
        SimTime::ZERO + Dur::from_us(n)
    }

    /// 802.11b: DIFS 50, EIFS 364, slot 20 µs. `cw` = 0 makes every draw 0.
    fn two(cw: u16) -> Contention {
        let access = Access {
            ifs: Dur::from_us(50),
            eifs: Dur::from_us(364),
            slot: Dur::from_us(20),
            cw_min: cw,
            cw_max: 1023,
            countdown: Countdown::Dcf,
            in_gap: AccessInGap::DcfLetter,
        };
        let streams = Streams::new(1);
        Contention::new(2, |node| vec![(access, streams.get(Purpose::Backoff, u64::from(node.0)))])
    }

    fn with_slots(contention: &mut Contention, now: SimTime, node: NodeId, slots: u32) {
        let id = contention.first(node);
        contention.finish(id, Outcome::Success, true, now);
        contention.contenders[id.0 as usize].slots = slots;
        contention.recount(node);
    }

    #[test]
    fn an_idle_medium_is_entered_after_difs_without_backoff() {
        let mut contention = two(31);
        let id = contention.first(A);
        // Idle since 0: at 200 µs the space is long over; at 20 µs it lasts until 50.
        contention.want(us(200), id);
        assert_eq!(contention.next_grant(), us(200));
        let mut contention = two(31);
        contention.want(us(20), id);
        assert_eq!(contention.next_grant(), us(50));
    }

    #[test]
    fn a_medium_that_turns_busy_within_difs_costs_a_backoff() {
        let mut contention = two(31);
        let id = contention.first(A);
        contention.want(us(20), id);
        contention.busy(us(40), A);
        assert_eq!(contention.next_grant(), SimTime::NEVER);
        let slots = u64::from(contention.contenders[0].slots);
        contention.note_reception(A, false);
        contention.idle(us(100), A);
        assert_eq!(contention.next_grant(), us(150 + 20 * slots));
        assert!(slots > 0, "seed 1 draws something else than zero");
    }

    #[test]
    fn backoff_freezes_on_busy_and_resumes_after_difs_with_whole_slots_only() {
        let mut contention = two(31);
        with_slots(&mut contention, us(0), A, 5);
        assert_eq!(contention.next_grant(), us(50 + 100));
        // 2.5 slots are over at 100 µs: two count.
        contention.busy(us(100), A);
        contention.note_reception(A, false);
        contention.idle(us(1000), A);
        assert_eq!(contention.next_grant(), us(1000 + 50 + 60));
    }

    #[test]
    fn who_turns_idle_is_counted_when_a_grant_could_come_before_the_next_event() {
        let mut contention = two(31);
        with_slots(&mut contention, us(0), A, 5);
        contention.busy(us(10), A);
        assert_eq!(contention.next_grant(), SimTime::NEVER);
        contention.idle(us(100), A);
        // DIFS, the shortest space here, ends at 150 µs.
        assert!(!contention.has_changed_by(|| us(149)));
        assert!(contention.has_changed_by(|| us(150)));
        // An answer begins in the gap: nothing has been counted, and nothing was to be.
        contention.busy(us(110), A);
        assert!(!contention.has_changed);
        contention.idle(us(200), A);
        assert_eq!(contention.next_grant(), us(200 + 50 + 100));
        assert!(!contention.has_changed_by(|| us(300)), "asked for already");
    }

    #[test]
    fn eifs_follows_a_frame_in_error_until_a_correct_one() {
        let mut contention = two(31);
        with_slots(&mut contention, us(0), A, 5);
        contention.busy(us(10), A);
        contention.note_reception(A, true);
        contention.idle(us(500), A);
        assert_eq!(contention.next_grant(), us(500 + 364 + 100));
        contention.busy(us(600), A);
        contention.note_reception(A, false);
        contention.idle(us(700), A);
        assert_eq!(contention.next_grant(), us(700 + 50 + 100));
    }

    #[test]
    fn a_nav_extends_the_busy_time_and_only_a_later_one_counts() {
        let mut contention = two(31);
        with_slots(&mut contention, us(0), A, 2);
        contention.busy(us(10), A);
        contention.set_nav(A, us(900));
        contention.set_nav(A, us(800));
        contention.note_reception(A, false);
        contention.idle(us(500), A);
        assert_eq!(contention.next_grant(), us(900 + 50 + 40));
        // Something to send that arrives under the NAV finds the medium busy: B draws.
        contention.busy(us(10), B);
        contention.set_nav(B, us(900));
        contention.note_reception(B, false);
        contention.idle(us(500), B);
        let id = contention.first(B);
        contention.want(us(880), id);
        assert_eq!(contention.contenders[1].phase, Phase::Backoff);
        contention.reset_nav(us(890), A);
        assert_eq!(contention.grants[0], us(890 + 50 + 40));
    }

    #[test]
    fn winners_of_one_instant_do_not_hear_each_other() {
        let mut contention = two(31);
        with_slots(&mut contention, us(0), A, 3);
        with_slots(&mut contention, us(0), B, 3);
        assert_eq!(contention.next_grant(), us(110));
        // An answer of A starts at the same instant; B's grant stands.
        contention.busy(us(110), B);
        let mut winners = Vec::new();
        contention.winners(us(110), &mut winners);
        assert_eq!(winners, [ContenderId(0), ContenderId(1)]);
    }

    #[test]
    fn another_interframe_space_keeps_the_slots_and_boundaries_of_a_countdown_under_way() {
        for (countdown, in_gap) in
            [(Countdown::Dcf, AccessInGap::DcfLetter), (Countdown::Edca, AccessInGap::EdcaLetter)]
        {
            let mut contention = two(31);
            let id = contention.first(A);
            (contention.contenders[0].access.countdown, contention.contenders[0].access.in_gap) = (countdown, in_gap);
            with_slots(&mut contention, us(0), A, 5);
            // Inside the space, the new one is waited for.
            contention.set_ifs(us(20), id, Dur::from_us(90), Dur::from_us(404));
            assert_eq!(contention.next_grant(), us(90 + 100));
            contention.set_ifs(us(40), id, Dur::from_us(50), Dur::from_us(364));
            assert_eq!(contention.next_grant(), us(50 + 100));
            // 2.5 slots into the countdown, a shorter or a longer space that is over changes nothing any more ...
            contention.set_ifs(us(100), id, Dur::from_us(30), Dur::from_us(344));
            assert_eq!(contention.next_grant(), us(150));
            // ... one that lasts longer than that is waited for.
            contention.set_ifs(us(100), id, Dur::from_us(190), Dur::from_us(504));
            let counted = if countdown == Countdown::Dcf { 2 } else { 3 };
            assert_eq!(contention.next_grant(), us(190 + 20 * (5 - counted)));
        }
    }

    #[test]
    fn cw_may_follow_the_failures_of_a_frame() {
        let mut contention = two(31);
        let a = contention.first(NodeId(0));
        for (failures, cw) in [(2, 127), (0, 31), (4, 511), (200, 1023), (1, 63)] {
            contention.finish(a, Outcome::Failures(failures), true, SimTime::ZERO);
            assert_eq!(contention.contenders[0].cw, cw);
        }
    }

    #[test]
    fn cw_doubles_on_failure_up_to_its_bound_and_falls_back_on_success_and_discard() {
        let mut contention = two(31);
        let id = contention.first(A);
        for cw in [63, 127, 255, 511, 1023, 1023] {
            contention.finish(id, Outcome::Failure, true, us(0));
            assert_eq!(contention.contenders[0].cw, cw);
        }
        contention.finish(id, Outcome::Discard, true, us(0));
        assert_eq!(contention.contenders[0].cw, 31);
    }

    #[test]
    fn post_backoff_with_nothing_to_send_runs_on_and_frees_the_next_frame_of_its_own() {
        let mut contention = two(31);
        let id = contention.first(A);
        contention.finish(id, Outcome::Success, false, us(0));
        contention.contenders[0].slots = 4;
        assert_eq!(contention.next_grant(), SimTime::NEVER);
        // Inside the countdown: what remains of it. 50 + 80 µs.
        contention.want(us(100), id);
        assert_eq!(contention.next_grant(), us(130));
        // Long after: at once.
        contention.winners(us(130), &mut Vec::new());
        contention.finish(id, Outcome::Success, false, us(200));
        contention.contenders[0].slots = 4;
        contention.want(us(5000), id);
        assert_eq!(contention.next_grant(), us(5000));
    }

    #[test]
    fn a_timeout_counts_from_itself_when_its_difs_is_over() {
        let mut contention = two(0);
        let id = contention.first(A);
        contention.want(us(100), id);
        contention.winners(us(100), &mut Vec::new());
        contention.busy(us(100), A);
        contention.idle(us(1100), A);
        // ACK timeout 222 µs after the end of the frame; a DIFS of idle has passed since.
        contention.finish(id, Outcome::Failure, true, us(1322));
        let slots = u64::from(contention.contenders[0].slots);
        assert_eq!(contention.next_grant(), us(1322 + 20 * slots));
    }
}
