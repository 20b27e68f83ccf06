//! A bench for one agent: a node without a world. Tests put packets and reports in and look at what comes out.

use crate::{Action, Agent, Cx, Key, NodeView, PeerEvent, Place, Port, Signal, Site, Toward};
use mac::{Body, Fate, Frame, Kind, Label, MacOptions, Mpdu, Psdu, TxReport};
use queue::Space;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use tcp::{FlowFacts, SenderCommand};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, Ipv4, L4, Packet, Packets, Payload, Seq, SeqRange, Tcp};

/// This node, in tests.
pub const HERE: NodeId = NodeId(0);
/// Its neighbour, in tests.
pub const THERE: NodeId = NodeId(1);
/// Data from here to there.
pub const OUT: FlowId = FlowId(0);
/// Data from there to here.
pub const IN: FlowId = FlowId(1);

/// A plain station among `nodes`, with a radio and one flow in and out.
pub fn site(node: NodeId, nodes: usize) -> Site {
    Site {
        node,
        nodes,
        has_air: true,
        address: address(node),
        forwards: false,
        starts_flows: true,
        ends_flows: true,
        max_attempts: 7,
        categories: 4,
        timing: phy::Standard::B.timing(),
        receiver: None,
    }
}

/// The address of a node, in tests.
pub fn address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node.0 as u8 + 1)
}

/// What the node of a bench can be asked.
#[derive(Debug)]
struct View {
    facts: BTreeMap<u32, FlowFacts>,
    room: Space,
}

impl NodeView for View {
    fn facts(&self, flow: FlowId) -> Option<FlowFacts> {
        self.facts.get(&flow.0).copied()
    }

    fn room(&self) -> Space {
        self.room
    }

    fn address(&self, neighbour: NodeId) -> Ipv4Addr {
        address(neighbour)
    }
}

/// One agent on a bench.
#[derive(Debug)]
pub struct Bench {
    agent: Box<dyn Agent>,
    packets: Packets,
    actions: Vec<Action>,
    timers: BTreeMap<Key, SimTime>,
    view: View,
    /// The instant; tests move it.
    pub now: SimTime,
    /// What was injected since the last look, in order.
    pub injected: Vec<(Packet, Toward)>,
    /// Commands to TCP senders since the last look.
    pub commands: Vec<(FlowId, SenderCommand)>,
}

impl Bench {
    /// `agent` at a node with room for 100 full packets and nothing queued.
    pub fn new(agent: Box<dyn Agent>) -> Bench {
        let room = Space { free: Bytes(150_000), used: Bytes::ZERO, entries: 0 };
        Bench {
            agent,
            packets: Packets::default(),
            actions: Vec::new(),
            timers: BTreeMap::new(),
            view: View { facts: BTreeMap::new(), room },
            now: SimTime::ZERO,
            injected: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// The room its transmit queue reports from now on.
    pub fn set_room(&mut self, room: Space) {
        self.view.room = room;
    }

    /// The facts of a flow that ends here, from now on.
    pub fn set_facts(&mut self, flow: FlowId, facts: FlowFacts) {
        self.view.facts.insert(flow.0, facts);
    }

    fn with<R>(&mut self, peer: Option<NodeId>, ask: impl FnOnce(&mut dyn Agent, &mut Cx) -> R) -> R {
        let info = self.agent.info();
        let mut cx = Cx::new(self.now, HERE, peer, info, &mut self.packets, &self.view, &mut self.actions);
        let answer = ask(&mut *self.agent, &mut cx);
        for action in std::mem::take(&mut self.actions) {
            match action {
                Action::Inject(pkt, toward) => {
                    self.injected.push((self.packets.free(pkt, DropWhy::Delivered).clone(), toward))
                }
                Action::Timer(key, SimTime::NEVER) => _ = self.timers.remove(&key),
                Action::Timer(key, at) => _ = self.timers.insert(key, at),
                Action::Command(flow, command) => self.commands.push((flow, command)),
            }
        }
        answer
    }

    /// The neighbour comes up with the capability of this very agent.
    pub fn pair(&mut self) {
        let own = self.agent.capability();
        let can: Vec<_> = own.into_iter().collect();
        self.with(None, |agent, cx| agent.peer(THERE, PeerEvent::Up(&can), cx));
    }

    /// Shows a packet at a place, if the agent sits there. What it lets pass, or `None`.
    pub fn pass(&mut self, at: Place, packet: Packet) -> Option<Packet> {
        if !self.agent.info().sits_at(at) {
            return Some(packet);
        }
        let pkt = self.packets.put(packet);
        let passed = self.with(Some(THERE), |agent, cx| agent.packet(at, pkt, cx));
        passed.map(|pkt| self.packets.free(pkt, DropWhy::Delivered).clone())
    }

    /// Shows one packet, under one serial, at several places with the neighbour of each, as a relay's path does: the way
    /// ends where the agent keeps it. Places it does not sit at are left out.
    pub fn relay(&mut self, way: &[(Place, Option<NodeId>)], packet: Packet) -> Option<Packet> {
        let mut pkt = self.packets.put(packet);
        for (at, peer) in way {
            if self.agent.info().sits_at(*at) {
                pkt = self.with(*peer, |agent, cx| agent.packet(*at, pkt, cx))?;
            }
        }
        Some(self.packets.free(pkt, DropWhy::Delivered).clone())
    }

    /// Reports on a packet: this fate, at the first attempt, now.
    pub fn report(&mut self, packet: &Packet, fate: Fate) {
        let report = TxReport {
            fate,
            serial: 0,
            to: THERE,
            attempts: 1,
            enqueued: self.now,
            head: self.now,
            first: self.now,
            done: self.now,
            airtime: Dur::ZERO,
            category: 0,
        };
        self.report_with(packet, &report);
    }

    /// Reports on a packet, with everything the MAC would say.
    pub fn report_with(&mut self, packet: &Packet, report: &TxReport) {
        let info = self.agent.info();
        let signal = if report.fate == Fate::Attempt { Signal::TxAttempt } else { Signal::TxReport };
        if info.reads(signal) {
            self.with(Some(report.to), |agent, cx| agent.report(packet, report, cx));
        }
    }

    /// The MAC options of a frame with `packet` to `to`, as the agent writes them at this attempt.
    pub fn options_out(&mut self, packet: &Packet, attempt: &TxReport) -> MacOptions {
        let mut options = MacOptions::within(self.agent.mac_room(packet, attempt.to));
        if self.agent.info().turns(Port::MacOptions) {
            self.with(Some(attempt.to), |agent, cx| agent.write_options(packet, attempt, &mut options, cx));
        }
        options
    }

    /// A frame with these MAC options and `packet` was received.
    pub fn options_in(&mut self, packet: &Packet, serial: u64, options: &MacOptions) {
        if self.agent.info().reads(Signal::MacOptions) {
            self.with(Some(THERE), |agent, cx| agent.read_options(packet, serial, options, cx));
        }
    }

    /// A neighbour comes or goes.
    pub fn peer(&mut self, node: NodeId, event: PeerEvent<'_>) {
        self.with(None, |agent, cx| agent.peer(node, event, cx));
    }

    /// The node dies: the agent lets go of what it holds.
    pub fn release(&mut self) {
        self.with(None, |agent, cx| agent.release(cx));
    }

    /// The agent, for its ports.
    pub fn agent_mut(&mut self) -> &mut dyn Agent {
        &mut *self.agent
    }

    /// Sends a packet to the air and reports its fate.
    pub fn send(&mut self, packet: Packet, fate: Fate) {
        let from_host = self.pass(Place::FromHost, packet);
        if let Some(packet) = from_host.and_then(|packet| self.pass(Place::ToAir, packet)) {
            self.report(&packet, fate);
        }
    }

    /// When the next timer goes off; `NEVER` if none is set.
    pub fn next_wakeup(&self) -> SimTime {
        self.timers.values().copied().min().unwrap_or(SimTime::NEVER)
    }

    /// Moves on to the next timer, or stays if it is overdue, and lets it go off. `false` if none is set.
    pub fn next_timer(&mut self) -> bool {
        let Some((&key, &at)) = self.timers.iter().min_by_key(|(_, at)| **at) else { return false };
        self.timers.remove(&key);
        self.now = self.now.max(at);
        self.with(None, |agent, cx| agent.timer(key, cx));
        true
    }

    /// What was injected since the last call.
    pub fn take_injected(&mut self) -> Vec<(Packet, Toward)> {
        std::mem::take(&mut self.injected)
    }

    /// A counter of the agent.
    ///
    /// # Panics
    /// If it has none of that name.
    pub fn counter(&self, name: &str) -> u64 {
        let mut found = None;
        self.agent.counters(&mut |n, value| {
            if n == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no counter \"{name}\""))
    }

    /// Packets the agent holds, which are all the bench's arena has left.
    pub fn held(&self) -> u64 {
        assert_eq!(self.packets.live(), self.agent.held(), "an agent owns up to every packet it keeps");
        self.agent.held()
    }
}

/// A segment of `flow` with everything a test may want to set.
pub fn segment(flow: FlowId, flags: Flags, seq: Seq, len: u32, ack: Seq, window: u16) -> Packet {
    let addresses = [address(HERE), address(THERE)];
    let ports = [40_000, 5_000];
    let back = (flow.0 % 2) as usize;
    let tcp = Tcp { src_port: ports[back], dst_port: ports[1 - back], seq, ack, flags, window, ..Tcp::default() };
    let ip = Ipv4 { src: addresses[back], dst: addresses[1 - back], ..Ipv4::default() };
    Packet { ip, l4: L4::Tcp(tcp), payload: Payload::stream(u64::from(seq.0), len), flow }
}

/// Data of `flow` that acknowledges number 1.
pub fn data(flow: FlowId, range: std::ops::Range<u32>) -> Packet {
    let range = SeqRange { start: Seq(range.start), end: Seq(range.end) };
    segment(flow, Flags::ACK, range.start, range.len(), Seq(1), 65_535)
}

/// A pure ACK that travels on `flow`.
pub fn ack(flow: FlowId, number: u32, window: u16) -> Packet {
    segment(flow, Flags::ACK, Seq(1), 0, Seq(number), window)
}

/// A frame as plans see it: what it carries is not there.
pub fn frame(kind: Kind, (from, to): (NodeId, NodeId), mode: phy::Mode, len: Bytes, duration: Dur) -> Frame {
    let psdu = Psdu::One(Mpdu { len, body: Body::Nothing });
    let airtime = phy::airtime(mode, len);
    Frame { kind, from, to, tx: mode.into(), airtime, duration, label: Label::default(), psdu }
}
