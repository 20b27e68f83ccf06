//! The positions of nodes and the links between them, while links break and heal and nodes move: the [`Topology`] of a run.

use super::network;
use super::radio::{self, Tuned};
use crate::scenario::{Cut, EventKind};
use crate::shared::Shared;
use crate::world::{Topology, Ways, Wires};
use engine::Streams;
use phy::Medium;
use std::collections::BTreeSet;
use units::{LinkId, NodeId};

/// A scenario's network. A run has one if links break in it or nodes move.
#[derive(Debug)]
pub(super) struct Standing {
    shared: Shared,
    streams: Streams,
    places: Vec<[f64; 2]>,
    cut_wires: Vec<LinkId>,
    /// The lower id first.
    cut_air: BTreeSet<(NodeId, NodeId)>,
    /// Transmitters of which others hear something else than the medium of a channel says, by channel.
    stale: Vec<Vec<NodeId>>,
}

impl Standing {
    /// The network as a run begins.
    pub fn new(shared: &Shared, streams: Streams, places: Vec<[f64; 2]>) -> Standing {
        let stale = vec![Vec::new(); shared.scenario.channels.iter().count()];
        Standing { shared: shared.clone(), streams, places, cut_wires: Vec::new(), cut_air: BTreeSet::new(), stale }
    }
}

impl Topology for Standing {
    fn event(&self, event: u32) -> EventKind {
        self.shared.scenario.events[event as usize].what.clone()
    }

    fn change(&mut self, what: &EventKind) -> Wires {
        let scenario = &self.shared.scenario;
        let is_break = matches!(what, EventKind::Break(_));
        match what {
            EventKind::Kill(_) | EventKind::Restart(_) => Wires::None,
            EventKind::Move(node, to) => {
                self.places[node.index()] = *to;
                // Others hear it differently, and it hears others differently.
                self.stale.fill((0..scenario.nodes.len() as u32).map(NodeId).collect());
                Wires::None
            }
            EventKind::Break(cut) | EventKind::Heal(cut) => {
                let links = scenario.links_of(cut);
                let wires: Vec<LinkId> = links.iter().flat_map(|link| network::wires_of(scenario, *link)).collect();
                if let (true, Cut::Between(a, b)) = (wires.is_empty(), cut) {
                    let (a, b) = (*a, *b);
                    let pair = (a.min(b), a.max(b));
                    if is_break {
                        self.cut_air.insert(pair)
                    } else {
                        self.cut_air.remove(&pair)
                    };
                    for stale in &mut self.stale {
                        let new = [a, b].into_iter().filter(|node| !stale.contains(node)).collect::<Vec<_>>();
                        stale.extend(new);
                    }
                    return Wires::None;
                }
                self.cut_wires.retain(|wire| !wires.contains(wire));
                if is_break {
                    self.cut_wires.extend(&wires);
                    Wires::Break(wires)
                } else {
                    Wires::Heal(wires)
                }
            }
        }
    }

    fn is_stale(&self) -> bool {
        self.stale.iter().any(|stale| !stale.is_empty())
    }

    fn settle(&mut self, media: &mut [&mut Medium]) -> bool {
        let Standing { shared, streams, places, cut_air, stale, .. } = self;
        let is_cut = |a: NodeId, b: NodeId| cut_air.contains(&(a.min(b), a.max(b)));
        for ((on, medium), stale) in Tuned::all(&shared.scenario, streams).zip(media).zip(stale) {
            stale.retain(|from| {
                let is_sending = medium.is_transmitting(*from);
                if !is_sending {
                    radio::heard(on, places, is_cut, *from, medium);
                }
                is_sending
            });
        }
        !self.is_stale()
    }

    fn ways(&self, media: &[&Medium]) -> Ways {
        let network = network::standing(&self.shared, &self.places, media, &self.streams, &self.cut_wires);
        network.into_ways(&self.shared.scenario)
    }
}
