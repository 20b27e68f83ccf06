//! Links that break and heal, nodes that move.

use super::World;
use crate::scenario::EventKind;
use engine::Class;
use motion::Leg;
use net::{LinkSample, Routes};
use node::{Input, Node};
use phy::Medium;
use schemes::PeerEvent;
use units::{ChannelId, InterfaceId, LinkId, NodeId, SimTime};
use wire::DropWhy;

/// A network whose links break and whose nodes move: where they stand, and what is between them.
///
/// Call order: [`Topology::change`] at an event, then [`Topology::settle`], now and whenever a frame has left the air, until it returns
/// true. What is heard of a transmitter changes while it is silent, so that a frame ends where it has begun.
pub(crate) trait Topology {
    /// The change that an event of the scenario makes, by its index.
    fn event(&self, event: u32) -> EventKind;

    /// Something changes.
    fn change(&mut self, now: SimTime, what: &EventKind) -> Wires;

    /// True if a medium is not yet what it should be.
    fn is_stale(&self) -> bool;

    /// Tells the medium of each channel who hears whom now, of those transmitters that are silent.
    fn settle(&mut self, now: SimTime, media: &mut [&mut Medium]) -> Settled;

    /// The ways over what stands now.
    fn ways(&mut self, now: SimTime, media: &[&Medium]) -> Ways;

    /// The time at which nodes begin another leg, meet or part; [`SimTime::NEVER`] if nobody moves.
    fn next_wakeup(&mut self) -> SimTime;

    /// Makes what changes at `now`, and tells of legs that begin. [`Topology::settle`] follows.
    fn advance(&mut self, now: SimTime, begins: &mut dyn FnMut(NodeId, &Leg));

    /// The legs of nodes that move.
    fn legs(&self) -> Vec<(NodeId, Leg)>;

    /// True if gains are to be [renewed](Topology::renew).
    fn renews(&self) -> bool;

    /// `from` is about to transmit: the medium of its channel learns what has changed since it last did.
    fn renew(&mut self, now: SimTime, channel: ChannelId, from: NodeId, medium: &mut Medium);

    /// Stations that leave an access point or join one at `now`, as the media are.
    fn roam(&mut self, now: SimTime, media: &[&Medium]) -> Vec<Roam>;

    /// True if it takes measurements of links.
    fn weighs(&self) -> bool;

    /// Takes a measurement of the link between two nodes. Returns true if [`Topology::ways`] are to be asked for.
    fn weigh(&mut self, now: SimTime, from: NodeId, to: NodeId, sample: LinkSample) -> bool;

    /// Least-cost routes over those who have met and parted; `None` if nobody moves.
    fn reroute(&mut self, met: &[Met], media: &[&Medium]) -> Option<Rerouted<'_>>;
}

units::debug_by_name!(Topology);

/// The state of media after [`Topology::settle`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// They know all that an event has changed: all ways are to be told anew.
    All,
    /// These have become neighbours, or are so no more. None, as long as an event's change is not known everywhere.
    Pairs(Vec<Met>),
}

/// Two nodes that are neighbours now, or are so no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met {
    pub channel: ChannelId,
    /// The lower id first.
    pub pair: [NodeId; 2],
    pub is_up: bool,
}

/// A step of a station from one access point to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Roam {
    /// It falls silent.
    Leaves { channel: ChannelId, station: NodeId },
    /// It is there.
    Joins {
        channel: ChannelId,
        station: NodeId,
        /// The access point to which it belonged.
        from: Option<NodeId>,
        to: NodeId,
        /// Packets that wait for it there go on by the new routes; otherwise they are lost.
        forwards: bool,
    },
}

/// Least-cost routes after nodes have moved.
#[derive(Debug)]
pub(crate) struct Rerouted<'a> {
    pub routes: &'a Routes,
    /// Nodes whose hops are others than before.
    pub others: Vec<NodeId>,
    /// Saturating flows of each interface.
    pub saturators: Vec<Vec<u32>>,
}

/// The ways between nodes.
#[derive(Debug)]
pub(crate) struct Ways {
    pub routes: Routes,
    /// Radio neighbours at each interface, in order of id.
    pub neighbours: Vec<Vec<NodeId>>,
    /// Saturating flows of each interface.
    pub saturators: Vec<Vec<u32>>,
}

/// The effect of an event on wires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wires {
    /// None of them.
    None,
    /// These break.
    Break(Vec<LinkId>),
    /// These stand again.
    Heal(Vec<LinkId>),
}

impl World {
    /// An event of the scenario: wires at once; what is heard of a transmitter as soon as it is silent. Routes follow when all is known.
    pub(super) fn change(&mut self, now: SimTime, event: u32) {
        let Some(topology) = &self.topology else { return };
        let what = topology.event(event);
        self.change_to(now, &what);
    }

    /// A driver changes the network, between events.
    pub(crate) fn change_now(&mut self, what: &EventKind) {
        let now = self.now();
        match what {
            EventKind::Kill(node) => self.kill(now, *node),
            EventKind::Restart(node) => self.restart(now, *node),
            EventKind::Break(_) | EventKind::Heal(_) | EventKind::Move(..) => self.change_to(now, what),
        }
    }

    fn change_to(&mut self, now: SimTime, what: &EventKind) {
        let Some(topology) = &mut self.topology else { return };
        match topology.change(now, what) {
            Wires::None => {}
            Wires::Break(wires) => wires.into_iter().for_each(|link| self.sever(now, link)),
            Wires::Heal(wires) => wires.into_iter().for_each(|link| self.wires[link.index()].mend()),
        }
        self.settle_air(now);
    }

    /// A frame has left the air, or something has changed: the medium learns what it can.
    pub(super) fn settle_air(&mut self, now: SimTime) {
        let Some(mut topology) = self.topology.take() else { return };
        let mut media: Vec<&mut Medium> = self.airs.iter_mut().map(|air| &mut air.channel.medium).collect();
        match topology.settle(now, &mut media) {
            Settled::All => self.tell_ways(now, &mut *topology),
            Settled::Pairs(met) if !met.is_empty() => self.have_met(now, &mut *topology, &met),
            Settled::Pairs(_) => {}
        }
        let media: Vec<&Medium> = self.airs.iter().map(|air| &air.channel.medium).collect();
        let roams = topology.roam(now, &media);
        for roam in roams.iter().copied() {
            self.roam(now, &mut *topology, roam);
        }
        self.topology = Some(topology);
        self.set_motion();
    }

    /// Tells all nodes the ways over what stands now.
    fn tell_ways(&mut self, now: SimTime, topology: &mut dyn Topology) {
        let media: Vec<&Medium> = self.airs.iter().map(|air| &air.channel.medium).collect();
        let Ways { routes, neighbours, saturators } = topology.ways(now, &media);
        self.saturators = saturators;
        for node in self.ids() {
            if !self.is_dead(node) {
                self.tell(now, node, Input::Routes(routes.row(node)));
            }
        }
        self.meet(now, neighbours);
        self.interface_ids().for_each(|id| self.refill(now, id));
    }

    /// A node's router has measurements of links for the computed routes.
    #[cold]
    pub(super) fn weigh(&mut self, now: SimTime, id: NodeId) {
        while let Some((_, to, sample)) = self.nodes[id.index()].next_sample() {
            let Some(mut topology) = self.topology.take() else { continue };
            if topology.weigh(now, id, to, sample) {
                self.tell_ways(now, &mut *topology);
            }
            self.topology = Some(topology);
        }
    }

    /// A station falls silent between two access points; or it is there, is told so, and then packets are: its own go to the new one, those
    /// that wait for it at the old one are lost or go on by the new routes.
    fn roam(&mut self, now: SimTime, topology: &mut dyn Topology, roam: Roam) {
        match roam {
            Roam::Leaves { channel, station } => {
                let id = self.airs[channel.index()].interface(station);
                self.roams(now, id, false);
            }
            Roam::Joins { channel, station, from, to, forwards } => {
                let ways = from.map(|ap| (ap, false)).into_iter().chain([(to, true)]);
                let met = ways.map(|(ap, is_up)| Met { channel, pair: [station.min(ap), station.max(ap)], is_up });
                self.have_met(now, topology, &met.collect::<Vec<_>>());
                let own = self.airs[channel.index()].interface(station);
                if let Some(from) = from {
                    self.take_back(now, own, from, None);
                    let old = self.airs[channel.index()].interface(from);
                    self.take_back(now, old, station, (!forwards).then_some(DropWhy::Handoff));
                }
                self.roams(now, own, true);
            }
        }
    }

    /// Nodes begin legs, meet and part.
    pub(super) fn move_nodes(&mut self, now: SimTime) {
        let Some(topology) = &mut self.topology else { return };
        let taps = &mut self.taps;
        topology.advance(now, &mut |node, leg| taps.leg(node, leg));
        self.settle_air(now);
    }

    /// Sets the timer of nodes that move.
    pub(super) fn set_motion(&mut self) {
        let Some(topology) = &mut self.topology else { return };
        let at = topology.next_wakeup();
        if at != SimTime::NEVER && at != self.timers.at(self.layout.motion()) {
            self.timers.set(self.layout.motion(), at, Class::Run);
        }
    }

    /// Some nodes have become neighbours, some are so no more: those are told who asked for it, and routers that follow computed routes.
    fn have_met(&mut self, now: SimTime, topology: &mut dyn Topology, all: &[Met]) {
        let media: Vec<&Medium> = self.airs.iter().map(|air| &air.channel.medium).collect();
        if self.nodes.iter().any(Node::is_routed)
            && let Some(Rerouted { routes, others, saturators }) = topology.reroute(all, &media)
        {
            self.saturators = saturators;
            for node in others {
                if !self.is_dead(node) && self.nodes[node.index()].is_routed() {
                    self.tell(now, node, Input::Routes(routes.row(node)));
                }
            }
        }
        for Met { channel, pair: [a, b], is_up } in all.iter().copied() {
            self.taps.met(now, channel, [a, b], is_up);
            for (node, peer) in [(a, b), (b, a)] {
                let id = self.airs[channel.index()].interface(node);
                let list = &mut self.neighbours[id.index()];
                match (list.binary_search(&peer), is_up) {
                    (Err(place), true) => list.insert(place, peer),
                    (Ok(place), false) => _ = list.remove(place),
                    _ => {}
                }
                if self.is_dead(node) || !self.nodes[node.index()].wants_peers() {
                    continue;
                }
                if is_up {
                    let can = self.nodes[peer.index()].chain().capabilities().to_vec();
                    self.tell(now, node, Input::Peer(id, peer, PeerEvent::Up(&can)));
                } else {
                    self.tell(now, node, Input::Peer(id, peer, PeerEvent::Down));
                }
            }
        }
        self.interface_ids().for_each(|id| self.refill(now, id));
    }

    /// Notes who has become whose neighbour by an event, or is so no more.
    fn note_meetings(&mut self, now: SimTime, before: &[Vec<NodeId>]) {
        if !self.taps.has_paths() {
            return;
        }
        for ((it, old), new) in self.interfaces.iter().zip(before).zip(&self.neighbours) {
            for (list, other, is_up) in [(old, new, false), (new, old, true)] {
                let changed = list.iter().filter(|peer| **peer > it.node && other.binary_search(peer).is_err());
                changed.for_each(|peer| self.taps.met(now, it.channel, [it.node, *peer], is_up));
            }
        }
    }

    fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    fn interface_ids(&self) -> impl Iterator<Item = InterfaceId> + use<> {
        (0..self.interfaces.len() as u32).map(InterfaceId)
    }

    /// A wire breaks: what is on it and in its queue is lost.
    fn sever(&mut self, now: SimTime, link: LinkId) {
        for pkt in self.wires[link.index()].sever(now) {
            self.packets.free(pkt, DropWhy::LinkLoss);
        }
        self.await_arrival(link);
    }

    /// Tells nodes that are neighbours no more so, and has new neighbours tell each other what they can do.
    fn meet(&mut self, now: SimTime, neighbours: Vec<Vec<NodeId>>) {
        let capabilities = self.capabilities();
        let before = std::mem::replace(&mut self.neighbours, neighbours);
        self.note_meetings(now, &before);
        for id in self.interface_ids() {
            let node = self.interfaces[id.index()].node;
            if self.is_dead(node) || !self.nodes[node.index()].wants_peers() {
                continue;
            }
            let (old, new) = (&before[id.index()], self.neighbours[id.index()].clone());
            for peer in old.iter().filter(|peer| new.binary_search(peer).is_err()) {
                self.tell(now, node, Input::Peer(id, *peer, PeerEvent::Down));
            }
            for peer in new.iter().filter(|peer| old.binary_search(peer).is_err()) {
                let can = &capabilities[peer.index()];
                self.tell(now, node, Input::Peer(id, *peer, PeerEvent::Up(can)));
            }
        }
    }
}
