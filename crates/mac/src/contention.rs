//! Contention: carrier sense, interframe spaces and backoff of all stations of a channel, in sets and arrays.
//!
//! One contender is one backoff entity: a station under DCF, one access category of a station under EDCA. Nothing ticks:
//! a contender's grant is the end of its interframe space plus its remaining slots, so an event queue sees one timer for the
//! whole channel. It is withdrawn when its medium turns busy, and counted anew after that turned idle when somebody asks.
//!
//! Follows @80211-2020 10.3.4 (DCF) and 10.23.2 (EDCA). A station's contenders stand in order of rising priority. A
//! contender that wins at the instant another station's signal starts transmits all the same: starts of one instant do not
//! hear each other.

mod contender;
mod wait;

pub use contender::Outcome;
use contender::{Contender, Phase, Sense, count_from, doubled, elapsed, is_over, next_boundary};
use engine::Stream;
use units::{Dur, NodeId, Nodes, SimTime};
pub use wait::Wait;

/// A backoff entity of a channel, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContenderId(pub u32);

/// The rule by which a backoff counts its slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Countdown {
    /// After each slot that was idle throughout. @80211-2020 10.3.4.3
    Dcf,
    /// At each slot boundary, the one that ends AIFS included and though somebody starts there: each idle period longer
    /// than AIFS counts one more than under DCF. A frame for a medium long idle waits for the next boundary.
    /// @80211-2020 10.23.2.4
    Edca,
}

/// The backoff of a frame that is queued while physical and virtual carrier sense are idle and the interframe space is not
/// over: in the SIFS gap of a responder, for instance. With the medium busy a frame always draws a backoff; with the space
/// over and the medium idle it never does.
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
    /// The space after a frame received in error: EIFS, or EIFS - DIFS + AIFS. @80211-2020 10.3.2.3.7, 10.23.2.4
    pub eifs: Dur,
    /// aSlotTime.
    pub slot: Dur,
    /// First contention window.
    pub cw_min: u16,
    /// Largest contention window.
    pub cw_max: u16,
    /// The rule of its countdown.
    pub countdown: Countdown,
    /// The backoff of a frame that is queued in a gap.
    pub in_gap: AccessInGap,
}

/// The carrier sense of 64 stations, a bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Carrier {
    /// For good where there is no station.
    busy: u64,
    /// The last frame received was in error: EIFS applies.
    after_error: u64,
    /// All stations with a contender in [`Phase::PostBackoff`] or beyond, and perhaps others: they are taken out when a countdown would
    /// freeze. Nobody else has a grant.
    counting: u64,
    /// Stations that turned idle at `idle_at`, the last time that any did. Their [`Place::idle_from`] is not written: they may
    /// be busy again before a grant is counted, in the gap before a response for instance.
    recent: u64,
    idle_at: SimTime,
    /// Stations whose NAV ends at `nav_at`, since one frame set it. Their [`Place::nav`] is not written.
    navs: u64,
    nav_at: SimTime,
    /// No NAV ends later.
    latest_nav: SimTime,
}

impl Carrier {
    /// The end of the NAV of a station, its `bit` here.
    #[inline]
    fn nav(&self, bit: u64, place: &Place) -> SimTime {
        if self.navs & bit != 0 { self.nav_at } else { place.nav }
    }

    /// The instant from which the medium of a station, its `bit` here, is idle: after its NAV, if that ends later.
    #[inline]
    fn idle_from(&self, bit: u64, place: &Place) -> SimTime {
        if self.recent & bit != 0 { self.idle_at.max(self.nav(bit, place)) } else { place.idle_from }
    }
}

/// A station's place among the arrays.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The instant from which its medium is idle, NAV included. Of no meaning while busy, or [`Carrier::recent`].
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

/// All contenders of one channel.
#[derive(Debug)]
pub struct Contention {
    /// By block of stations.
    carriers: Vec<Carrier>,
    places: Vec<Place>,
    contenders: Vec<Contender>,
    /// The grant of each contender; apart, so that the search for the next winner reads nothing else.
    grants: Vec<SimTime>,
    /// True if a grant may stand where the medium is busy: that of a contender granted at the instant at which it turned busy.
    may_stand: bool,
    has_changed: bool,
    /// By block, stations that have turned idle and whose grants are not counted yet; none of their contenders is in
    /// [`Phase::Immediate`]. Between a frame and its response no contender can be granted, so nothing is counted there.
    uncounted: Vec<u64>,
    /// No contender of theirs is granted before this instant.
    uncounted_until: SimTime,
    /// The least of all grants, where that is known.
    least: Option<SimTime>,
    /// The shortest interframe space of all.
    least_ifs: Dur,
    /// True if each station has one contender, in its own place, and all count alike: passes over many of them then need not look for
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

    /// True while a contender is granted and its exchange not finished.
    pub fn is_granted(&self, id: ContenderId) -> bool {
        self.contenders[id.0 as usize].phase == Phase::Granted
    }

    /// The first slot boundary of a contender from `now` on, if the medium stays idle. Under DCF every instant is one once
    /// the interframe space is over.
    pub fn next_boundary(&self, now: SimTime, id: ContenderId) -> SimTime {
        let contender = &self.contenders[id.0 as usize];
        next_boundary(contender, &self.sense(contender.node), now)
    }

    /// The station that a contender belongs to.
    pub fn node(&self, id: ContenderId) -> NodeId {
        self.contenders[id.0 as usize].node
    }

    /// The instant of the next grant; `NEVER` if none counts.
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
        if cfg!(debug_assertions) {
            self.check_least(least);
        }
        self.least = Some(least);
        least
    }

    /// Of few contenders always; of many at one instant in sixteen, drawn from its digits: it would be a sixth of what a run of fifty users
    /// with debug assertions costs.
    fn check_least(&self, least: SimTime) {
        if self.grants.len() <= 16 || least.ns().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 == 0 {
            assert_eq!(least, self.grants.iter().min().copied().unwrap_or(SimTime::NEVER));
        }
    }

    /// True if [`Contention::next_grant`] may differ from the last one, the next event being at `next`. Stations that will be busy
    /// again by then need not be counted.
    pub fn has_changed_by(&self, next: impl FnOnce() -> SimTime) -> bool {
        self.has_changed || self.uncounted_until != SimTime::NEVER && self.uncounted_until <= next()
    }

    /// Counts the grants of the stations that have turned idle. They had none.
    #[inline]
    fn count(&mut self) {
        if self.uncounted_until != SimTime::NEVER {
            self.count_all();
        }
    }

    #[inline(never)]
    fn count_all(&mut self) {
        self.uncounted_until = SimTime::NEVER;
        self.has_changed = true;
        let mut least = SimTime::NEVER;
        for (block, carrier) in (0..).zip(&self.carriers) {
            let bits = std::mem::take(&mut self.uncounted[block as usize]) & carrier.counting;
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

    /// A contender has something to send and had not before; with `was_busy` it had it while the medium was busy, whatever that is now.
    pub fn want(&mut self, now: SimTime, id: ContenderId, was_busy: bool) {
        self.count();
        let i = id.0 as usize;
        let node = self.contenders[i].node;
        let (sense, nav) = (self.sense(node), self.nav(node));
        let contender = &mut self.contenders[i];
        match contender.phase {
            Phase::PostBackoff if !is_over(contender, &sense, now) => contender.phase = Phase::Backoff,
            Phase::Off | Phase::PostBackoff => {
                contender.slots = 0;
                let is_idle = !sense.is_busy && nav <= now && !was_busy;
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
        self.note_counting(node);
        self.recount_one(i, &sense);
    }

    /// A contender transmits without having waited: its station answers, and goes on from there.
    pub fn seize(&mut self, id: ContenderId) {
        self.has_changed = true;
        self.contenders[id.0 as usize].phase = Phase::Granted;
        self.set_grant(id.0 as usize, SimTime::NEVER);
    }

    /// Ends the exchange of a granted contender, which draws its next backoff (post-backoff follows every
    /// transmission, successful or not, @80211-2020 10.3.4.3), counts it down not before `not_before`, and goes on
    /// wanting or not.
    #[inline]
    pub fn finish(&mut self, id: ContenderId, outcome: Outcome, wants: bool, not_before: SimTime) {
        let i = id.0 as usize;
        let contender = &mut self.contenders[i];
        let node = contender.node;
        contender.cw = match outcome {
            Outcome::Failure => (contender.cw * 2 + 1).min(contender.access.cw_max),
            Outcome::Success | Outcome::Discard => contender.access.cw_min,
            Outcome::Failures(n) => doubled(contender.access, n),
        };
        contender.draw();
        contender.phase = if wants { Phase::Backoff } else { Phase::PostBackoff };
        contender.not_before = not_before;
        self.note_counting(node);
        if !self.is_uncounted(node) {
            self.recount_one(i, &self.sense(node));
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
        // The gap before a response is over, and nobody is left to be counted.
        if *uncounted == 0 && self.uncounted_until != SimTime::NEVER && self.uncounted.iter().all(|bits| *bits == 0) {
            self.uncounted_until = SimTime::NEVER;
        }
        if counted.is_empty() {
            return;
        }
        (self.has_changed, self.least) = (true, None);
        let counting = counted.with_bits(counted.bits & carrier.counting);
        if self.is_plain {
            let (some_stand, over) = freeze_each(now, counting, &mut self.contenders, &mut self.grants);
            self.may_stand |= some_stand;
            carrier.counting &= !over;
            return;
        }
        for node in counting {
            let range = self.places[node.index()].range();
            for i in range.clone() {
                // Granted at this very instant: it starts too and hears nothing of it.
                if self.grants[i] == now {
                    self.may_stand = true;
                } else {
                    self.grants[i] = SimTime::NEVER;
                    self.contenders[i].freeze(now);
                }
            }
            if self.contenders[range].iter().all(|contender| contender.phase < Phase::PostBackoff) {
                carrier.counting &= !Nodes::from(node).bits;
            }
        }
    }

    /// The medium around `nodes`, which was busy, turns idle.
    #[inline(always)]
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
    #[inline(always)]
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

    /// A contender of this station counts, or will when its medium is idle.
    fn note_counting(&mut self, node: NodeId) {
        let one = Nodes::from(node);
        self.carriers[one.index()].counting |= one.bits;
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
        let idle_from = if alike & bit != 0 { idle_from } else { carrier.idle_from(bit, &places[i]) };
        grants[i] = contender.recount(&Sense { is_busy: false, after_error, idle_from });
        least = least.min(grants[i]);
    }
    least
}

/// The countdowns of these stations freeze, each of which has one contender in its own place; all count alike. Returns whether one
/// was granted at this very instant: it starts too and hears nothing of it; and those, by their bits, that do not count, or no more.
fn freeze_each(now: SimTime, nodes: Nodes, contenders: &mut [Contender], grants: &mut [SimTime]) -> (bool, u64) {
    let (mut some_stand, mut over) = (false, 0);
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
            over |= Nodes::from(node).bits;
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
            over |= Nodes::from(node).bits;
        }
    }
    (some_stand, over)
}

#[cfg(test)]
mod tests;
