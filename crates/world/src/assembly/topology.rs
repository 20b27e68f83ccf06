//! The positions of nodes and the links between them, while links break and heal and nodes move: the [`Topology`] of a run.

use super::moving::Moving;
use super::network;
use super::radio::{self, Tuned};
use super::weights::Weights;
use crate::scenario::{Cut, EventKind};
use crate::shared::Shared;
use crate::world::{Met, Rerouted, Roam, Settled, Topology, Ways, Wires};
use engine::Streams;
use motion::Leg;
use net::LinkSample;
use phy::Medium;
use std::collections::BTreeSet;
use units::{ChannelId, LinkId, NodeId, SimTime};

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
    /// Something has changed since all ways were told.
    has_changed: bool,
    moving: Option<Moving>,
    weights: Weights,
}

impl Standing {
    /// The network as a run begins.
    pub fn new(shared: &Shared, streams: Streams, places: Vec<[f64; 2]>, moving: Option<Moving>) -> Standing {
        let stale = vec![Vec::new(); shared.scenario.channels.iter().count()];
        let (weights, cut_wires, cut_air) = (Weights::new(shared), Vec::new(), BTreeSet::new());
        let shared = shared.clone();
        Standing { shared, streams, places, cut_wires, cut_air, stale, has_changed: false, moving, weights }
    }
}

impl Topology for Standing {
    fn event(&self, event: u32) -> EventKind {
        self.shared.scenario.events[event as usize].what.clone()
    }

    fn change(&mut self, now: SimTime, what: &EventKind) -> Wires {
        self.has_changed = true;
        let scenario = &self.shared.scenario;
        let is_break = matches!(what, EventKind::Break(_));
        match what {
            EventKind::Kill(_) | EventKind::Restart(_) => Wires::None,
            EventKind::Move(node, to) => {
                self.places[node.index()] = *to;
                self.moving.iter_mut().for_each(|moving| moving.put(*node, *to, now));
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
        self.stale.iter().any(|stale| !stale.is_empty()) || self.moving.as_ref().is_some_and(Moving::is_stale)
    }

    fn settle(&mut self, now: SimTime, media: &mut [&mut Medium]) -> Settled {
        let Standing { shared, streams, places, cut_air, stale, moving, .. } = self;
        let is_cut = |a: NodeId, b: NodeId| cut_air.contains(&(a.min(b), a.max(b)));
        if let Some(moving) = moving {
            moving.settle(&shared.scenario, streams, places, cut_air, media);
            if stale.iter().any(|stale| !stale.is_empty()) {
                moving.places(now, places);
            }
        }
        for ((on, medium), stale) in Tuned::all(&shared.scenario, streams).zip(media.iter_mut()).zip(stale.iter_mut())
        {
            stale.retain(|from| {
                let is_sending = medium.is_transmitting(*from);
                if !is_sending {
                    match moving {
                        Some(moving) if on.channel.powers.is_none() => {
                            moving.heard(on, places, is_cut, *from, medium)
                        }
                        _ => {
                            radio::heard(on, places, is_cut, *from, medium);
                            moving.iter_mut().for_each(|moving| moving.forget_gains(on.id, *from));
                        }
                    }
                }
                is_sending
            });
        }
        let is_known = stale.iter().all(Vec::is_empty);
        if self.has_changed && is_known {
            self.has_changed = false;
            return Settled::All;
        }
        let media: Vec<&Medium> = media.iter().map(|medium| &**medium).collect();
        let cut_air = &self.cut_air;
        let met = self.moving.as_mut().map_or_else(Vec::new, |moving| moving.met(&media, cut_air));
        Settled::Pairs(met)
    }

    fn ways(&mut self, now: SimTime, media: &[&Medium]) -> Ways {
        if let Some(moving) = &self.moving {
            moving.places(now, &mut self.places);
        }
        let belongs = self.moving.as_ref().map_or_else(Default::default, |moving| moving.handoffs.belongs());
        let state = network::Standing { cut: &self.cut_wires, belongs: &belongs, weights: &self.weights };
        let network = network::standing(&self.shared, &self.places, media, &self.streams, &state);
        if let Some(moving) = &mut self.moving {
            moving.set_near(network.near.clone(), network.routes.clone());
            moving.look(now, &self.shared.scenario, &self.streams, &self.cut_air, None);
        }
        network.into_ways(&self.shared.scenario)
    }

    fn next_wakeup(&mut self) -> SimTime {
        self.moving.as_mut().map_or(SimTime::NEVER, Moving::next_wakeup)
    }

    fn advance(&mut self, now: SimTime, begins: &mut dyn FnMut(NodeId, &Leg)) {
        let Standing { shared, streams, cut_air, moving: Some(moving), .. } = self else { return };
        let mut begun = Vec::new();
        moving.advance(now, &mut |node, leg| {
            begins(node, leg);
            begun.push(node);
        });
        for node in begun {
            moving.look(now, &shared.scenario, streams, cut_air, Some(node));
        }
    }

    fn roam(&mut self, now: SimTime, media: &[&Medium]) -> Vec<Roam> {
        let Standing { shared, streams, cut_air, moving: Some(moving), .. } = self else { return Vec::new() };
        moving.roam(now, &shared.scenario, streams, cut_air, media)
    }

    fn legs(&self) -> Vec<(NodeId, Leg)> {
        let moving = self.moving.iter();
        moving.flat_map(Moving::legs).map(|(node, leg)| (node, *leg)).collect()
    }

    fn renews(&self) -> bool {
        self.moving.is_some() && self.shared.scenario.channels.have_powers()
    }

    fn renew(&mut self, now: SimTime, channel: ChannelId, from: NodeId, medium: &mut Medium) {
        let Standing { shared, streams, places, cut_air, moving: Some(moving), .. } = self else { return };
        if let Some(on) = Tuned::all(&shared.scenario, streams).nth(channel.index()) {
            moving.renew(now, on, from, places, cut_air, medium);
        }
    }

    fn weighs(&self) -> bool {
        self.shared.learns
    }

    fn weigh(&mut self, now: SimTime, from: NodeId, to: NodeId, sample: LinkSample) -> bool {
        self.weights.take(now, from, to, sample)
    }

    fn reroute(&mut self, met: &[Met], media: &[&Medium]) -> Option<Rerouted<'_>> {
        let Standing { shared, cut_wires, moving: Some(moving), weights, .. } = self else { return None };
        let (routes, others) = match weights.costs(shared, media) {
            None => moving.reroute(shared, cut_wires, met),
            Some(costs) => moving.reroute_by(shared, cut_wires, &costs),
        };
        let saturators = network::saturators(&shared.scenario, routes);
        Some(Rerouted { routes, others, saturators })
    }
}
