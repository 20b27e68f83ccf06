//! Stations that go over from one access point to another.

use super::network::Near;
use super::radio::{self, Tuned};
use crate::scenario::{HandoffQueue, Role, Scenario};
use crate::world::Roam;
use engine::Streams;
use motion::{Heard, Motion, exceeds};
use phy::Medium;
use std::collections::{BTreeMap, BTreeSet};
use units::{ChannelId, Db, Dur, NodeId, SimTime};

/// The access point to which each station belongs on a channel, of those that may go over to another.
pub(super) type Belongs = BTreeMap<(ChannelId, NodeId), Option<NodeId>>;

/// A network at one instant.
#[derive(Clone, Copy)]
pub(super) struct Instant<'a> {
    pub now: SimTime,
    pub scenario: &'a Scenario,
    pub streams: &'a Streams,
    pub motion: &'a Motion,
    /// The lower id first.
    pub cut: &'a BTreeSet<(NodeId, NodeId)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It belongs to an access point; the next one is so much stronger from then on. [`SimTime::NEVER`]: not on these legs.
    Stays(SimTime, NodeId),
    /// It has left: the access point that it goes to, and when it is there.
    Away(SimTime, NodeId),
}

/// A station that moves, or whose access points do.
#[derive(Debug)]
struct Station {
    channel: ChannelId,
    node: NodeId,
    own: Option<NodeId>,
    state: State,
    /// An access point has come into its reach or has left it.
    is_due: bool,
}

/// The handoffs of a run.
#[derive(Debug)]
pub(super) struct Handoffs {
    time: Dur,
    excess: f64,
    forwards: bool,
    /// Of each channel; none of a channel with fewer than two.
    access_points: Vec<Vec<NodeId>>,
    /// mW of each node on each channel; none where a pair is in reach or not.
    powers_mw: Vec<Vec<f64>>,
    stations: Vec<Station>,
}

impl Handoffs {
    pub fn new(scenario: &Scenario, streams: &Streams, motion: &Motion, media: &[Medium], near: &[Near]) -> Handoffs {
        let radio = &scenario.radio;
        // Without powers the nearest is the strongest, and reach alone decides.
        let excess = radio.levels.map_or(Db(0.0), |levels| levels.hysteresis());
        let nodes = || (0..scenario.nodes.len() as u32).map(NodeId);
        let moves = |node: &NodeId| motion.movers().binary_search(node).is_ok();
        let (mut access_points, mut powers_mw, mut stations) = (Vec::new(), Vec::new(), Vec::new());
        for ((on, medium), near) in Tuned::all(scenario, streams).zip(media).zip(near) {
            let is_ap = |node: &NodeId| on.has(*node) && scenario.nodes[node.index()].entry.role == Role::Ap;
            let mut own: Vec<NodeId> = nodes().filter(is_ap).collect();
            if own.len() < 2 {
                own.clear();
            }
            let some_moves = own.iter().any(moves);
            let roams = |node: &NodeId| on.has(*node) && !is_ap(node) && (some_moves || moves(node));
            for node in nodes().filter(roams).filter(|_| !own.is_empty()) {
                let at = near.access_point[node.index()];
                let state = State::Stays(SimTime::ZERO, node);
                stations.push(Station { channel: on.id, node, own: at, state, is_due: true });
            }
            access_points.push(own);
            powers_mw.push(match medium {
                Medium::Sinr(levels) => nodes().map(|node| levels.transmit_mw(node)).collect(),
                Medium::UnitDisc(_) => Vec::new(),
            });
        }
        Handoffs {
            time: radio.handoff_lasts(),
            excess: excess.0,
            forwards: radio.handoff_queue == Some(HandoffQueue::Forward),
            access_points,
            powers_mw,
            stations,
        }
    }

    /// The access points between which stations may go.
    pub fn access_points(&self) -> impl Iterator<Item = NodeId> {
        let is_of = |channel: usize| self.stations.iter().any(move |it| it.channel.index() == channel);
        let channels = self.access_points.iter().enumerate().filter(move |(channel, _)| is_of(*channel));
        channels.flat_map(|(_, all)| all.iter().copied())
    }

    /// The access points of stations that may go over to another.
    pub fn belongs(&self) -> Belongs {
        self.stations.iter().map(|it| ((it.channel, it.node), it.own)).collect()
    }

    /// The time at which a station leaves or joins next.
    pub fn next_wakeup(&self) -> SimTime {
        let next = self.stations.iter().map(|station| match station.state {
            State::Stays(at, _) | State::Away(at, _) => at,
        });
        next.fold(SimTime::NEVER, SimTime::min)
    }

    /// These have met or parted.
    pub fn met(&mut self, channel: ChannelId, pair: [NodeId; 2]) {
        let of = |it: &&mut Station| it.channel == channel && pair.contains(&it.node);
        self.stations.iter_mut().filter(of).for_each(|it| it.is_due = true);
    }

    /// A node has begun a leg, or all may be otherwise.
    pub fn look(&mut self, at: Instant<'_>, node: Option<NodeId>) {
        for i in 0..self.stations.len() {
            let Station { node: own, channel, .. } = self.stations[i];
            let concerns = |node: NodeId| node == own || self.access_points[channel.index()].contains(&node);
            if node.is_none_or(concerns) {
                self.stations[i].is_due = true;
            }
        }
        self.look_ahead(at);
    }

    /// Finds when access points will be stronger, for those stations that are due.
    fn look_ahead(&mut self, at: Instant<'_>) {
        let Handoffs { stations, powers_mw, access_points, excess, .. } = self;
        for station in stations.iter_mut().filter(|it| it.is_due) {
            let powers_mw = &powers_mw[station.channel.index()];
            let (State::Stays(..), false) = (station.state, powers_mw.is_empty()) else { continue };
            station.is_due = false;
            station.state = stronger(at, station, powers_mw, &access_points[station.channel.index()], *excess);
        }
    }

    /// Stations that leave or join at `now`. Who hears whom is as the media have it.
    pub fn advance(&mut self, at: Instant<'_>, media: &[&Medium], near: &mut [Near]) -> Vec<Roam> {
        let now = at.now;
        let mut roams = Vec::new();
        self.look_ahead(at);
        for i in 0..self.stations.len() {
            let Station { channel, node, own, state, is_due } = self.stations[i];
            let mut leaves_for = |to: NodeId| {
                roams.push(Roam::Leaves { channel, station: node });
                State::Away(now + self.time, to)
            };
            match state {
                State::Away(then, to) if then <= now => {
                    let lists = &mut near[channel.index()];
                    lists.belong(node, to);
                    roams.push(Roam::Joins { channel, station: node, from: own, to, forwards: self.forwards });
                    self.stations[i].own = Some(to);
                    (self.stations[i].state, self.stations[i].is_due) = (State::Stays(now, node), true);
                }
                State::Stays(then, to) if then <= now && to != node => self.stations[i].state = leaves_for(to),
                State::Stays(..) if is_due => {
                    self.stations[i].is_due = false;
                    let medium = media[channel.index()];
                    let all = &self.access_points[channel.index()];
                    self.stations[i].state = match next_in_reach(at, node, own, all, medium) {
                        Some(to) => leaves_for(to),
                        None => State::Stays(SimTime::NEVER, node),
                    };
                }
                _ => {}
            }
        }
        roams
    }
}

/// The access point that will be stronger than a station's own first, and when.
fn stronger(at: Instant<'_>, station: &Station, powers_mw: &[f64], all: &[NodeId], excess: f64) -> State {
    let Instant { now, scenario, streams, motion, cut } = at;
    let (never, node) = (State::Stays(SimTime::NEVER, station.node), station.node);
    let Some(on) = Tuned::all(scenario, streams).nth(station.channel.index()) else { return never };
    let Some(powers) = &on.channel.powers else { return never };
    let power = |ap: NodeId| {
        let own = Db::from_ratio(powers_mw[ap.index()]).0;
        let is_cut = cut.contains(&(node.min(ap), node.max(ap)));
        let lost = if is_cut { f64::NEG_INFINITY } else { 0.0 };
        move |metres: f64| own + lost + radio::gain_at(on, powers, ap, node, metres).0
    };
    let nothing = |_: f64| f64::NEG_INFINITY;
    let until = SimTime::ZERO + scenario.duration;
    let mut first = (SimTime::NEVER, f64::NEG_INFINITY, node);
    for other in all.iter().copied().filter(|other| Some(*other) != station.own) {
        let (of_other, leg) = (power(other), motion.leg(node));
        let theirs: Heard<'_> = (motion.leg(other), &of_other);
        let then = match station.own {
            Some(own) => exceeds(leg, (motion.leg(own), &power(own)), theirs, excess, now, until),
            None => exceeds(leg, (leg, &nothing), theirs, excess, now, until),
        };
        // The strongest of those that are so at the same instant: at the begin of a run, say.
        let strength = of_other(motion.distance(node, other, now));
        if then < first.0 || then == first.0 && then != SimTime::NEVER && strength > first.1 {
            first = (then, strength, other);
        }
    }
    State::Stays(first.0, first.2)
}

/// The access point that a station goes to which its own has left: the nearest in reach. `None`: it stays.
fn next_in_reach(
    at: Instant<'_>,
    node: NodeId,
    own: Option<NodeId>,
    all: &[NodeId],
    medium: &Medium,
) -> Option<NodeId> {
    let is_in_reach = |ap: &NodeId| medium.hears(node, *ap) && medium.hears(*ap, node);
    if own.is_some_and(|own| is_in_reach(&own)) {
        return None;
    }
    let metres = |ap: &NodeId| at.motion.distance(node, *ap, at.now);
    let others = all.iter().copied().filter(|ap| Some(*ap) != own);
    others.filter(is_in_reach).min_by(|a, b| metres(a).total_cmp(&metres(b)))
}
