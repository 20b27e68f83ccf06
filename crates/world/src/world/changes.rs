//! Links that break and heal, nodes that move.

use super::World;
use crate::scenario::EventKind;
use net::Routes;
use node::Input;
use phy::Medium;
use schemes::PeerEvent;
use units::{InterfaceId, LinkId, NodeId, SimTime};
use wire::DropWhy;

/// A network whose links break and whose nodes move: where they stand, and what is between them.
///
/// Call order: [`Topology::change`] at an event, then [`Topology::settle`], now and whenever a frame has left the air, until it returns
/// true. What is heard of a transmitter changes while it is silent, so that a frame ends where it has begun.
pub(crate) trait Topology: std::fmt::Debug {
    /// The change that an event of the scenario makes, by its index.
    fn event(&self, event: u32) -> EventKind;

    /// Something changes.
    fn change(&mut self, what: &EventKind) -> Wires;

    /// True if a medium is not yet what it should be.
    fn is_stale(&self) -> bool;

    /// Tells the medium of each channel who hears whom now, of those transmitters that are silent. Returns whether they know all.
    fn settle(&mut self, media: &mut [&mut Medium]) -> bool;

    /// The ways over what stands now.
    fn ways(&self, media: &[&Medium]) -> Ways;
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
        match topology.change(what) {
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
        if topology.settle(&mut media) {
            let media: Vec<&Medium> = self.airs.iter().map(|air| &air.channel.medium).collect();
            let Ways { routes, neighbours, saturators } = topology.ways(&media);
            self.saturators = saturators;
            for node in self.ids() {
                if !self.is_dead(node) {
                    self.tell(now, node, Input::Routes(routes.row(node)));
                }
            }
            self.meet(now, neighbours);
            self.interface_ids().for_each(|id| self.refill(now, id));
        }
        self.topology = Some(topology);
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
