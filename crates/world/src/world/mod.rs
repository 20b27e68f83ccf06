//! The running world: events in order, and the layers they go to. It wires layers and decides nothing about them.
//!
//! Every event is a timer of some entity; what an event sets in motion at the same instant is a queue of jobs that is
//! emptied before the next event. Nodes move packets one step for each job, in the order in which they were woken, so nobody is
//! re-entered.

mod air;
mod changes;
mod connections;
mod hosts;
mod layout;
mod nodes;
mod outside;
mod users;
mod wires;

pub(crate) use changes::{Met, Rerouted, Roam, Settled, Topology, Ways, Wires};
pub use outside::Arrived;

use crate::flow::{Flow, Flows, Owner, Transport};
use crate::frames::FrameStats;
use crate::interface::Interface;
use crate::taps::Taps;
use crate::windows::Windows;
use engine::{Class, Timers};
use layout::{Event, Layout};
use mac::{Channel, Input, Output, Receptions, Station};
use net::{Addresses, Wire};
use node::Node;
use outside::Outside;
use schemes::Hooks;
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tcp::Input as TcpInput;
use units::{ChannelId, Dur, FlowId, InterfaceId, NodeId, SimTime};
use wire::{DropWhy, Packets};

/// The events that happen once, at a time known from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appointment {
    Start(u32),
    Stop(u32),
    WarmupEnds,
    Kill(NodeId),
    Restart(NodeId),
    /// An event of the scenario that changes who is joined to whom, by its index.
    Change(u32),
    Sample,
    /// A bucket of this window ends, or its first begins.
    Bucket(u32),
    End,
}

/// Something to be done before the instant is over.
#[derive(Debug, Clone, Copy)]
enum Job {
    /// A node moves one packet.
    Step(NodeId),
    /// A TCP end has outputs.
    Pump(u32, u8),
    /// A job that most runs never have.
    Seldom(Seldom),
}

/// See [`Job::Seldom`].
#[derive(Debug, Clone, Copy)]
enum Seldom {
    /// A node's router wants packets back from transmit queues.
    Recall(NodeId),
    /// A node's router has measurements of links for computed routes.
    Weigh(NodeId),
}

/// A channel, and the interfaces on it.
#[derive(Debug)]
pub(crate) struct Air {
    id: ChannelId,
    pub channel: Channel,
    /// The interface of each node; [`InterfaceId::NONE`] for one that has none here.
    interfaces: Vec<InterfaceId>,
    grant_at: SimTime,
    nav_check_at: SimTime,
}

impl Air {
    fn new(id: ChannelId, channel: Channel, interfaces: &[Interface], nodes: usize) -> Air {
        let mut of_nodes = vec![InterfaceId::NONE; nodes];
        for (own, interface) in (0..).map(InterfaceId).zip(interfaces).filter(|(_, it)| it.channel == id) {
            of_nodes[interface.node.index()] = own;
        }
        Air { id, channel, interfaces: of_nodes, grant_at: SimTime::NEVER, nav_check_at: SimTime::NEVER }
    }

    /// Sets the timers of the channel. Returns whether its next grant is another.
    #[inline]
    fn set_timers(&mut self, timers: &mut Timers) -> bool {
        let mut is_other = false;
        if self.channel.contention.has_changed_by(|| timers.next_at()) {
            let at = self.channel.contention.next_grant();
            debug_assert_eq!(timers.at(Layout::grant(self.id)), self.grant_at);
            if at != self.grant_at {
                self.grant_at = at;
                timers.set(Layout::grant(self.id), at, Class::Start);
                is_other = true;
            }
        }
        let at = self.channel.next_nav_check();
        if at != self.nav_check_at {
            self.nav_check_at = at;
            timers.set(Layout::nav(self.id), at, Class::Between);
        }
        is_other
    }

    /// The interface that `node` has here.
    fn interface(&self, node: NodeId) -> InterfaceId {
        self.interfaces[node.index()]
    }
}

/// Everything of one run.
#[derive(Debug)]
pub(crate) struct World {
    pub timers: Timers,
    pub events: Vec<Event>,
    pub agenda: Vec<(SimTime, Appointment)>,
    pub next_appointment: usize,
    pub packets: Packets,
    /// [`ChannelId`] indexes them.
    pub airs: Vec<Air>,
    /// [`InterfaceId`] indexes them: in order of their nodes, those of one node in its own.
    pub interfaces: Vec<Interface>,
    pub nodes: Vec<Node>,
    pub addresses: Addresses,
    pub flows: Flows,
    /// The say of each node's schemes in its TCP senders.
    hooks: Vec<Hooks>,
    pub wires: Vec<Wire>,
    /// Radio neighbours at each interface.
    pub neighbours: Vec<Vec<NodeId>>,
    /// If links break or nodes move.
    pub topology: Option<Box<dyn Topology>>,
    /// Flows that keep the queue of each interface from running empty.
    pub saturators: Vec<Vec<u32>>,
    /// RTS/CTS is for MSDUs that carry payload: TCP ACKs and handshakes go without, whatever their length.
    spares_rts_without_payload: bool,
    pub frames: FrameStats,
    pub taps: Taps,
    pub handled: u64,
    /// Counters of stations, frames and queues when warm-up ended.
    pub warm: Warm,
    /// The measurements in parts of the run.
    pub windows: Windows,
    pub outside: Outside,
    layout: Layout,
    jobs: Vec<Job>,
    /// True if a radio may hand up several packets at once: one of them aggregates.
    hands_up_several: bool,
    /// True if nodes move where signals have powers.
    renews_gains: bool,
    /// Routes depend on what schemes measure.
    weighs_links: bool,
    /// The requests of users, and the news that they have not been told yet.
    wishes: Vec<traffic::Output>,
    news: Vec<(u32, traffic::Input)>,
    /// Connections of users that have ended, of which agents are to be told.
    ended: VecDeque<(SimTime, FlowId)>,
    /// Flows of the scenario: the first in the list. Those behind them are users' connections.
    stated_flows: usize,
    /// Of the frame that has ended; `None` while they are told.
    receptions: Option<Box<Receptions>>,
    outputs: Vec<Output>,
    winners: Vec<mac::ContenderId>,
    /// The agenda has come to its end.
    is_over: bool,
}

/// The counters at the end of warm-up.
#[derive(Debug, Default)]
pub(crate) struct Warm {
    pub stations: Vec<mac::Counters>,
    /// PPDUs that each sent to each of its partners.
    pub sent: Vec<BTreeMap<NodeId, mac::Sent>>,
    pub frames: FrameStats,
    /// Of the categories of each interface; `None` for a queue that keeps no statistics.
    pub queues: Vec<Vec<Option<queue::Stats>>>,
    pub wires: Vec<(queue::Stats, net::WireStats)>,
}

/// The run was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// The parts that a world is put together from; see `build`.
pub(crate) struct Parts {
    pub channels: Vec<Channel>,
    pub interfaces: Vec<Interface>,
    pub nodes: Vec<Node>,
    pub addresses: Addresses,
    pub flows: Vec<Flow>,
    /// The say of each node's schemes in its TCP senders.
    pub hooks: Vec<Hooks>,
    pub agenda: Vec<(SimTime, Appointment)>,
    pub taps: Taps,
    pub windows: Windows,
    pub wires: Vec<Wire>,
    /// Radio neighbours at each interface, in order of id.
    pub neighbours: Vec<Vec<NodeId>>,
    /// Flows that keep the queue of each interface from running empty.
    pub saturators: Vec<Vec<u32>>,
    /// If links break or nodes move.
    pub topology: Option<Box<dyn Topology>>,
    pub spares_rts_without_payload: bool,
}

impl World {
    pub fn new(parts: Parts) -> World {
        let spares_rts_without_payload = parts.spares_rts_without_payload;
        let Parts {
            channels,
            interfaces,
            nodes,
            addresses,
            flows,
            hooks,
            mut agenda,
            taps,
            windows,
            wires,
            neighbours,
            saturators,
            topology,
            ..
        } = parts;
        let count = interfaces.len();
        let hands_up_several = interfaces.iter().any(|it| it.station.config().aggregation.is_some());
        // Stable: what is listed first at one instant happens first.
        agenda.sort_by_key(|(at, _)| *at);
        let layout = Layout::new(channels.len(), count, nodes.len(), wires.len(), flows.len());
        let air = |(id, channel)| Air::new(id, channel, &interfaces, nodes.len());
        let airs = (0..).map(ChannelId).zip(channels).map(air).collect();
        let events = layout.events();
        let mut world = World {
            timers: Timers::new(events.len()),
            events,
            next_appointment: 0,
            packets: Packets::with_capacity(1024),
            airs,
            interfaces,
            nodes,
            addresses,
            stated_flows: flows.len(),
            flows: Flows::new(flows),
            wishes: Vec::new(),
            news: Vec::new(),
            ended: VecDeque::new(),
            hooks,
            saturators,
            spares_rts_without_payload,
            frames: FrameStats::default(),
            taps,
            handled: 0,
            wires,
            neighbours,
            warm: Warm::default(),
            windows,
            outside: Outside::default(),
            layout,
            jobs: Vec::with_capacity(256),
            hands_up_several,
            renews_gains: topology.as_ref().is_some_and(|topology| topology.renews()),
            weighs_links: topology.as_ref().is_some_and(|topology| topology.weighs()),
            receptions: Some(Box::new(Receptions::with_capacity(count))),
            outputs: Vec::with_capacity(16),
            winners: Vec::with_capacity(count),
            is_over: false,
            agenda,
            topology,
        };
        world.note_warm();
        world.set_agenda();
        for (id, node) in (0..).map(NodeId).zip(&world.nodes) {
            world.timers.set(layout.node(id), node.next_wakeup(), Class::Between);
        }
        world.note_paths();
        world.set_motion();
        world.introduce();
        world
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn now(&self) -> SimTime {
        self.timers.now()
    }

    /// The time of the next event, unless more is handed in.
    pub(crate) fn next_at(&self) -> SimTime {
        if self.jobs.is_empty() { self.timers.next_at() } else { self.now() }
    }

    /// True once the agenda has come to its end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    fn set_agenda(&mut self) {
        let at = self.agenda.get(self.next_appointment).map_or(SimTime::NEVER, |(at, _)| *at);
        self.timers.set(Layout::AGENDA, at, Class::Run);
    }

    /// The capabilities that schemes at each node announce.
    fn capabilities(&self) -> Vec<Vec<schemes::Capability>> {
        self.nodes.iter().map(|node| node.chain().capabilities().to_vec()).collect()
    }

    /// Notes where nodes that move begin, and who is whose neighbour from the first.
    fn note_paths(&mut self) {
        if !self.taps.has_paths() {
            return;
        }
        if let Some(topology) = &self.topology {
            topology.legs().iter().for_each(|(node, leg)| self.taps.leg(*node, leg));
        }
        for (id, peers) in self.interfaces.iter().zip(&self.neighbours) {
            let further = peers.iter().filter(|peer| **peer > id.node);
            further.for_each(|peer| self.taps.met(SimTime::ZERO, id.channel, [id.node, *peer], true));
        }
    }

    /// Radio neighbours exchange what they can do: association is implied.
    fn introduce(&mut self) {
        let capabilities = self.capabilities();
        for id in (0..self.interfaces.len() as u32).map(InterfaceId) {
            let node = self.interfaces[id.index()].node;
            if !self.nodes[node.index()].wants_peers() {
                continue;
            }
            for peer in self.neighbours[id.index()].clone() {
                let can = &capabilities[peer.index()];
                self.tell(SimTime::ZERO, node, node::Input::Peer(id, peer, schemes::PeerEvent::Up(can)));
            }
        }
        self.run_jobs();
    }

    /// Runs to the end of the agenda; see [`World::advance`].
    ///
    /// # Errors
    /// `stop` was set.
    pub fn run(&mut self, stop: &AtomicBool, reached: &AtomicU64) -> Result<(), Interrupted> {
        self.advance(SimTime::NEVER, stop, reached)
    }

    /// Runs all events up to `until`, its own among them, and moves the clock there; to the end of the agenda if that comes first,
    /// and not beyond. Every few thousand events it writes the simulated time in ns to `reached`. In how many parts a run is made
    /// changes none of its bits: between events nothing is asked of anybody.
    ///
    /// # Errors
    /// `stop` was set; looked at as often.
    pub fn advance(&mut self, until: SimTime, stop: &AtomicBool, reached: &AtomicU64) -> Result<(), Interrupted> {
        if self.is_over {
            return Ok(());
        }
        let end = until + Dur::from_ns(1);
        loop {
            // First: something may have been handed in since the last event.
            self.run_jobs();
            self.set_contention();
            let Some((now, slot)) = self.timers.pop_before(end) else { break };
            self.handled += 1;
            if self.handled.is_multiple_of(8192) {
                reached.store(now.ns(), Ordering::Relaxed);
                if stop.load(Ordering::Relaxed) {
                    return Err(Interrupted);
                }
            }
            match self.events[slot.0 as usize] {
                Event::Agenda => {
                    if self.keep_appointment(now) {
                        self.is_over = true;
                        return Ok(());
                    }
                }
                Event::Grant(channel) => self.grant(now, channel),
                Event::NavCheck(channel) => self.airs[channel.index()].channel.check_navs(now),
                Event::AirEnd(id) => self.air_end(now, id),
                Event::Station(id) => self.station(now, id, Input::Timer),
                Event::Sensed(id) => {
                    let Interface { node, channel, .. } = self.interfaces[id.index()];
                    self.airs[channel.index()].channel.sense(now, node);
                }
                Event::Node(node) => self.wake_node(now, node),
                Event::Wire(link) => self.wire(now, link),
                Event::Motion => self.move_nodes(now),
                Event::Tcp(flow, end) => {
                    self.tcp(now, flow, end, TcpInput::Timer);
                }
                Event::Source(flow, end) => self.source(now, flow, end),
                Event::Sink(flow, end) => self.sink(now, flow, end),
            }
        }
        self.timers.advance(until);
        Ok(())
    }

    #[inline]
    fn set_contention(&mut self) {
        let World { airs, timers, .. } = self;
        match &mut airs[..] {
            [only] => _ = only.set_timers(timers),
            several => set_all(several, timers),
        }
    }

    /// Keeps the next appointment. Returns true if the run is over.
    fn keep_appointment(&mut self, now: SimTime) -> bool {
        let (_, what) = self.agenda[self.next_appointment];
        self.next_appointment += 1;
        self.set_agenda();
        match what {
            Appointment::Start(flow) => self.start_flow(now, flow),
            Appointment::Stop(flow) => self.stop_flow(now, flow),
            Appointment::WarmupEnds => self.note_warm(),
            Appointment::Kill(node) => self.kill(now, node),
            Appointment::Restart(node) => self.restart(now, node),
            Appointment::Change(event) => self.change(now, event),
            Appointment::Sample => {
                self.settle_wires(now);
                self.taps.sample(now, &self.flows[..self.stated_flows], &self.interfaces, &self.wires);
            }
            Appointment::Bucket(window) => {
                self.settle_wires(now);
                let flows = &self.flows[..self.stated_flows];
                self.windows.tick(window, now, flows, &self.nodes, &self.interfaces, &self.wires);
            }
            Appointment::End => {
                self.close_accounts(now);
                return true;
            }
        }
        false
    }

    /// Begins to measure: the counts before belong to warm-up.
    fn note_warm(&mut self) {
        let now = self.now();
        self.settle_wires(now);
        self.warm = Warm {
            stations: self.stations().map(Station::counters).collect(),
            sent: self.stations().map(|it| it.partners().map(|to| (to, it.sent_to(to))).collect()).collect(),
            frames: self.frames,
            queues: self.stations().map(|s| s.queues().map(|queue| queue.stats(now)).collect()).collect(),
            wires: self.wires.iter().map(|wire| (wire.queue().stats(now), *wire.stats())).collect(),
        };
        for flow in self.flows.iter_mut() {
            if let Transport::User(user) = &mut flow.transport {
                user.note_warm();
            }
            let Owner::Scenario(stated) = &mut flow.owner else { continue };
            stated.warm = stated.delivered;
            stated.latency.restart();
            if let Some(gaps) = &mut stated.ack_gaps {
                gaps.restart();
            }
            if let Transport::Tcp(ends) = &flow.transport {
                stated.warm_counters = [*ends[0].counters(), *ends[1].counters()];
                stated.warm_windows = ends[0].window_time(now);
            }
        }
    }

    /// Counts what lasts at the end of a run up to it.
    fn close_accounts(&mut self, now: SimTime) {
        self.settle_wires(now);
        self.cut_air();
    }

    /// The run ends now, before its agenda says so.
    pub(crate) fn end(&mut self) {
        if !self.is_over {
            self.close_accounts(self.now());
            self.is_over = true;
        }
    }

    /// A node dies: its radio falls silent, its packets are lost, its transport ends stand still.
    fn kill(&mut self, now: SimTime, node: NodeId) {
        if self.nodes[node.index()].is_dead() {
            return;
        }
        let layout = self.layout();
        let mut stop = vec![layout.node(node)];
        let World { interfaces, airs, packets, .. } = self;
        for (id, own) in (0..).map(InterfaceId).zip(interfaces).filter(|(_, it)| it.node == node) {
            stop.push(layout.station(id));
            for pkt in own.station.kill(now, &mut airs[own.channel.index()].channel.at(node), packets) {
                packets.free(pkt, DropWhy::NodeDown);
            }
        }
        for wire in self.wires.iter_mut().filter(|wire| wire.config().from == node) {
            for pkt in wire.cut(now) {
                self.packets.free(pkt, DropWhy::NodeDown);
            }
        }
        self.node(now, node, |node, packets, host| node.kill(now, packets, host));
        for (i, flow) in self.flows.iter().enumerate() {
            for end in 0..2u8 {
                if flow.ends[usize::from(end)] == node {
                    stop.extend(layout.of_end(i as u32, end));
                }
            }
        }
        for slot in stop {
            self.timers.set(slot, SimTime::NEVER, Class::Between);
        }
    }

    /// A node that was killed is there again; one that lives dies first. Its queues are empty and its router knows nothing; its transport
    /// ends and applications go on from where they stood.
    fn restart(&mut self, now: SimTime, node: NodeId) {
        self.kill(now, node);
        self.interfaces.iter_mut().filter(|it| it.node == node).for_each(|it| it.station.revive());
        self.node(now, node, |node, packets, host| node.restart(now, packets, host));
        for index in 0..self.flows.len() as u32 {
            for end in 0..2 {
                if self.flows[index as usize].ends[usize::from(end)] == node {
                    self.resume(now, index, end);
                }
            }
        }
    }

    pub(crate) fn is_dead(&self, node: NodeId) -> bool {
        self.nodes[node.index()].is_dead()
    }

    /// The stations of all interfaces.
    pub(crate) fn stations(&self) -> impl Iterator<Item = &Station> {
        self.interfaces.iter().map(|interface| &interface.station)
    }

    /// Packets in somebody's care, by what each part of the world says of itself.
    pub fn in_care(&self) -> u64 {
        let queued: u64 = self.stations().map(|station| station.backlog() + station.held()).sum();
        let held: u64 = self.nodes.iter().map(Node::held).sum();
        let on_wires: u64 = self.wires.iter().map(Wire::backlog).sum();
        queued + held + on_wires
    }
}

/// Sets the timers of several channels. Where one channel's grant is put off, the next may be that of another, which has not been
/// counted yet: they are asked until none changes.
#[cold]
fn set_all(airs: &mut [Air], timers: &mut Timers) {
    let mut is_other = true;
    while is_other {
        is_other = false;
        for air in airs.iter_mut() {
            is_other |= air.set_timers(timers);
        }
    }
}
