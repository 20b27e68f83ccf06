//! A bench for one scheme: a node without a world. Tests install it at a [`Ground`], put packets and reports in and look at
//! what comes out.

use crate::{
    Action, Agent, Capability, Chosen, Claims, Cx, Info, Install, Key, NodeFacts, NodeView, Params, PeerEvent, Place,
    Port, Powers, Radio, Signal, Stack, Toward, Value,
};
use engine::{Purpose, Streams};
use mac::{
    Aggregation, Bitmap, Body, Carried, Config, Cue, Data, Edca, Fate, Fifo, Frame, Kind, Label, Load, Loaded,
    MacOptions, Mpdu, MpduSet, Msdus, Piggyback, Psdu, Qos, Request, Response, TxQueue, TxReport, TxopLimits,
};
use net::LinkSample;
use phy::Standard;
use plugin::Entry;
use queue::{Limit, Space, Spec};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use tcp::{FlowFacts, SenderCommand};
use units::{Bytes, Dbm, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, Ipv4, L4, Packet, Packets, Payload, Seq, SeqRange, Tcp};

/// This node, in tests.
pub const HERE: NodeId = NodeId(0);
/// Its neighbour, in tests.
pub const THERE: NodeId = NodeId(1);
/// Data from here to there.
pub const OUT: FlowId = FlowId(0);
/// Data from there to here.
pub const IN: FlowId = FlowId(1);

/// The report of the MAC on a packet with serial 0 to there: this fate, at the first attempt, when the run began.
pub fn report(fate: Fate) -> TxReport {
    TxReport {
        fate,
        serial: 0,
        to: THERE,
        category: 0,
        attempts: 1,
        ppdu: None,
        in_order: None,
        enqueued: SimTime::ZERO,
        head: SimTime::ZERO,
        first: SimTime::ZERO,
        done: SimTime::ZERO,
        airtime: Dur::ZERO,
    }
}

/// An ACK as the hook of a sender hears it: of `acked` bytes, all that were in flight, when the run began. Without RTT.
pub fn heard(number: u32, acked: u64) -> tcp::Ack {
    tcp::Ack {
        now: SimTime::ZERO,
        number: Seq(number),
        acked: Bytes(acked),
        counted: Bytes(acked),
        prior_flight: Bytes(acked),
        rtt: None,
        duplicate: false,
        local: false,
        flags: Flags::ACK,
        sacked: Bytes::ZERO,
        lost: Bytes::ZERO,
        rate: None,
        timestamps: None,
    }
}

/// A plain station among `nodes`, with a radio of 802.11b and one flow in and out.
pub fn node(id: NodeId, nodes: usize) -> NodeFacts<'static> {
    NodeFacts {
        id,
        name: "node",
        nodes,
        has_air: true,
        address: address(id),
        forwards: false,
        starts_flows: true,
        ends_flows: true,
        carries_tcp: true,
        access_point: None,
        receiver: None,
        standard: Standard::B,
        queue: Limit::Packets(100),
        mtu: Bytes(1500),
    }
}

/// The MAC of a standard's radio at its highest rate, under DCF.
pub fn dcf(standard: Standard) -> Config {
    Config::of(standard, standard.modes()[standard.modes().len() - 1])
}

/// The same under EDCA: BK, BE, VI, VO, without transmit opportunities.
pub fn edca(standard: Standard) -> Config {
    let config = dcf(standard);
    let categories = Edca::standard(standard, &config.timing, TxopLimits::Zero);
    config.with_edca(categories)
}

/// The same with agreements of block acknowledgment.
pub fn aggregating(standard: Standard) -> Config {
    Config { aggregation: Some(Aggregation::of(standard)), ..edca(standard) }
}

/// A registered scheme with these parameters.
///
/// # Panics
/// If there is none of that id.
pub fn scheme(id: &str, set: &[(&str, Value)]) -> Chosen<Install> {
    let chosen = crate::find(id).unwrap_or_else(|| panic!("no scheme \"{id}\""));
    with(chosen.info, chosen.plugin, set)
}

/// A scheme that is not registered, with these parameters.
pub fn with(info: &'static Info, install: Install, set: &[(&str, Value)]) -> Chosen<Install> {
    let mut params = Params::defaults(info.params);
    set.iter().for_each(|(key, value)| params.set(key, *value));
    Entry::new(info, install).with(params)
}

/// A node on which schemes are installed.
#[derive(Debug)]
pub struct Ground {
    /// The facts about it that schemes see.
    pub node: NodeFacts<'static>,
    /// The measured powers of signals, if they have powers.
    pub powers: Option<Box<dyn Powers>>,
    /// The schemes installed, and the radio as they left it.
    pub stack: Stack,
}

impl Ground {
    /// A node with a radio of its standard under EDCA, 16 dBm, where signals have no powers.
    pub fn new(node: NodeFacts<'static>) -> Ground {
        let radio = Radio { mac: edca(node.standard), tx_power: Dbm(16.0) };
        Ground { node, powers: None, stack: Stack::new(radio) }
    }

    /// The same with another MAC.
    #[must_use]
    pub fn with_mac(mut self, mac: Config) -> Ground {
        self.stack.radio.mac = mac;
        self
    }

    /// Installs a scheme. Returns whether it sits here.
    ///
    /// # Errors
    /// See [`Stack::install`].
    pub fn install(&mut self, scheme: &Chosen<Install>) -> Result<bool, String> {
        self.stack.install(scheme, self.node, self.powers.as_deref(), Streams::new(1))
    }

    /// The queue of its interface, with what schemes put around it. Each call is the next category, the first call the lowest. A
    /// test of a queue and an agent takes the queue first, then `Bench::new(ground.stack)`.
    pub fn queue(&mut self) -> Box<dyn TxQueue> {
        let draws = Streams::new(1).get(Purpose::Queue, 0);
        let queue = Box::new(Fifo::new(&Spec::drop_tail(self.node.queue), self.node.mtu, draws));
        self.stack.queue(queue)
    }
}

/// A bench for a registered scheme at a node with a radio under EDCA; `None` if it does not sit there.
///
/// # Panics
/// If it refuses to be there.
pub fn bench(id: &str, node: NodeFacts<'static>, set: &[(&str, Value)]) -> Option<Bench> {
    bench_of(&scheme(id, set), node)
}

/// The same for any scheme.
///
/// # Panics
/// If it refuses to be there.
pub fn bench_of(scheme: &Chosen<Install>, node: NodeFacts<'static>) -> Option<Bench> {
    let mut ground = Ground::new(node);
    let sits = ground.install(scheme).unwrap_or_else(|refusal| panic!("{refusal}"));
    sits.then(|| Bench::new(ground.stack))
}

/// The address of a node, in tests.
pub fn address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node.0 as u8 + 1)
}

/// The answers of a bench's node.
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
    claims: Claims,
    announced: Option<Capability>,
    /// Everything else that was installed: queues, hooks, classifiers.
    pub stack: Stack,
    piggyback: Option<Box<dyn Piggyback>>,
    packets: Packets,
    actions: VecDeque<Action>,
    timers: BTreeMap<Key, SimTime>,
    view: View,
    /// The instant; tests move it.
    pub now: SimTime,
    /// The packets injected since the last look, in order.
    pub injected: Vec<(Packet, Toward)>,
    /// Their serials.
    pub injected_serials: Vec<u64>,
    /// Commands to TCP senders since the last look.
    pub commands: Vec<(FlowId, SenderCommand)>,
    /// Measurements of links for the router since the last look.
    pub measured: Vec<(NodeId, LinkSample)>,
    /// The serial of the packet that was shown last.
    pub serial: u64,
}

impl Bench {
    /// The first agent of a stack, at a node with room for 100 full packets and nothing queued.
    ///
    /// # Panics
    /// If no scheme sits there.
    pub fn new(mut stack: Stack) -> Bench {
        assert!(!stack.members.is_empty(), "a scheme sits at the node");
        let first = stack.members.remove(0);
        let announced = stack.capabilities.iter().copied().find(|it| it.scheme == first.claims.scheme);
        let room = Space { free: Bytes(150_000), used: Bytes::ZERO, entries: 0 };
        Bench {
            agent: first.agent,
            claims: first.claims,
            announced,
            piggyback: stack.piggyback(),
            stack,
            packets: Packets::default(),
            actions: VecDeque::new(),
            timers: BTreeMap::new(),
            view: View { facts: BTreeMap::new(), room },
            now: SimTime::ZERO,
            injected: Vec::new(),
            injected_serials: Vec::new(),
            commands: Vec::new(),
            measured: Vec::new(),
            serial: 0,
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
        let mut cx = Cx::new(self.now, HERE, peer, &self.claims, &mut self.packets, &self.view, &mut self.actions);
        let answer = ask(&mut *self.agent, &mut cx);
        for action in std::mem::take(&mut self.actions) {
            match action {
                Action::Inject(pkt, toward) => {
                    self.injected_serials.push(self.packets.serial(&pkt));
                    self.injected.push((self.packets.free(pkt, DropWhy::Delivered).clone(), toward))
                }
                Action::Timer(key, SimTime::NEVER) => _ = self.timers.remove(&key),
                Action::Timer(key, at) => _ = self.timers.insert(key, at),
                Action::Command(flow, command) => self.commands.push((flow, command)),
                Action::Measured(to, sample) => self.measured.push((to, sample)),
            }
        }
        answer
    }

    /// The claims of its seat.
    pub fn claims(&self) -> Claims {
        self.claims
    }

    /// The announcement of its scheme.
    pub fn announced(&self) -> Option<u32> {
        self.announced.map(|it| it.detail)
    }

    /// The neighbour comes up with the capability of this very scheme.
    pub fn pair(&mut self) {
        let can: Vec<_> = self.announced.into_iter().collect();
        self.with(None, |agent, cx| agent.peer(THERE, PeerEvent::Up(&can), cx));
    }

    /// Shows a packet at a place, if the agent listens there. Returns the packet that it lets pass, or `None`.
    pub fn pass(&mut self, at: Place, packet: Packet) -> Option<Packet> {
        if !self.claims.sits_at(at) {
            return Some(packet);
        }
        let pkt = self.packets.put(packet);
        self.serial = self.packets.serial(&pkt);
        let passed = self.with(Some(THERE), |agent, cx| agent.packet(at, pkt, cx));
        passed.map(|pkt| self.packets.free(pkt, DropWhy::Delivered).clone())
    }

    /// Shows one packet, under one serial, at several places with the neighbour of each, as a relay's path does: the way
    /// ends where the agent keeps it. Places it does not listen at are left out.
    pub fn relay(&mut self, way: &[(Place, Option<NodeId>)], packet: Packet) -> Option<Packet> {
        let mut pkt = self.packets.put(packet);
        for (at, peer) in way {
            if self.claims.sits_at(*at) {
                pkt = self.with(*peer, |agent, cx| agent.packet(*at, pkt, cx))?;
            }
        }
        Some(self.packets.free(pkt, DropWhy::Delivered).clone())
    }

    /// An A-MPDU of two segments with this cue comes from the neighbour, or a request without one. Returns the load of the Block Ack that answers it,
    /// which has this room: its bytes, and its packets.
    pub fn load(&mut self, cue: Option<Cue>, room: Bytes) -> Option<(Vec<u8>, Vec<Packet>)> {
        let (mode, link) = (Standard::A.modes()[0], (THERE, HERE));
        let all = &mut self.packets;
        let (frame, got) = if cue.is_some() {
            let mut mpdus: Vec<Mpdu> = (0..2).map(|seq| mpdu(all, data(IN, 0..1448), seq, false)).collect();
            for mpdu in &mut mpdus {
                if let Body::Data(data) = &mut mpdu.body {
                    data.cue = cue;
                }
            }
            (psdu(link, mode, Dur::ZERO, mpdus), MpduSet::first(2))
        } else {
            let mut frame = frame(Kind::BlockAckReq, link, mode, mac::frame::BLOCK_ACK_REQUEST, Dur::ZERO);
            frame.psdu.mpdus_mut()[0].body = Body::Request(Request { tid: 0, start: 0 });
            (frame, MpduSet::first(1))
        };
        let load = self.piggyback.as_mut().and_then(|piggyback| piggyback.load(&frame, &got, room, all));
        frame.release(all);
        load.map(|Load { bytes, packets }| {
            let read = packets.iter().map(|packet| all.read(packet).clone()).collect();
            packets.into_iter().for_each(|packet| all.release(packet));
            (bytes.into_vec(), read)
        })
    }

    /// A Block Ack of the neighbour comes, with this load if it has one. Returns the packets that are handed up, before any agent has seen them.
    pub fn unload(&mut self, load: Option<(Vec<u8>, Vec<Packet>)>) -> Vec<Packet> {
        let all = &mut self.packets;
        let mut answer =
            frame(Kind::BlockAck, (THERE, HERE), Standard::A.modes()[0], mac::frame::BLOCK_ACK, Dur::ZERO);
        let bitmap = Bitmap::new(0, 64);
        answer.psdu.mpdus_mut()[0].body = match load {
            None => Body::Bitmap(bitmap),
            Some((bytes, packets)) => {
                let shared = packets.into_iter().map(|packet| {
                    let pkt = all.put(packet);
                    let shared = all.share(&pkt);
                    all.free(pkt, DropWhy::MacDone);
                    shared
                });
                Loaded::body(bitmap, Load { bytes: bytes.into(), packets: shared.collect() })
            }
        };
        let mut up = Vec::new();
        if let Some(piggyback) = &mut self.piggyback {
            piggyback.unload(&answer, all, &mut |delivery| up.push(delivery.pkt));
        }
        answer.release(all);
        up.into_iter().map(|pkt| all.free(pkt, DropWhy::Delivered).clone()).collect()
    }

    /// Bytes that a Block Ack of the neighbour may be longer by, if a scheme loads them.
    pub fn room(&self) -> Bytes {
        self.piggyback.as_ref().map_or(Bytes::ZERO, |piggyback| piggyback.room(THERE))
    }

    /// The cue in data to the neighbour.
    pub fn cue(&self, more_data: bool) -> Option<Cue> {
        self.piggyback.as_ref().and_then(|piggyback| piggyback.cue(THERE, more_data))
    }

    /// Reports on a packet: this fate, at the first attempt, now.
    pub fn report(&mut self, packet: &Packet, fate: Fate) {
        let now = self.now;
        self.report_with(packet, &TxReport { enqueued: now, head: now, first: now, done: now, ..report(fate) });
    }

    /// Reports on a packet, with everything the MAC would say.
    pub fn report_with(&mut self, packet: &Packet, report: &TxReport) {
        let signal = if report.fate == Fate::Attempt { Signal::TxAttempt } else { Signal::TxReport };
        if self.claims.reads(signal) {
            self.with(Some(report.to), |agent, cx| agent.report(packet, report, cx));
        }
    }

    /// A packet was lost on the wire to its neighbour, if the agent hears of it.
    pub fn lost_on_wire(&mut self, packet: &Packet, serial: u64) {
        if self.claims.reads(Signal::WireLoss) {
            self.with(Some(THERE), |agent, cx| agent.lost_on_wire(packet, serial, cx));
        }
    }

    /// The MAC options of a frame with `packet` to `to`, as the agent writes them at this attempt.
    pub fn options_out(&mut self, packet: &Packet, attempt: &TxReport) -> MacOptions {
        let writes = self.claims.turns(Port::MacOptions);
        let room = if writes { self.agent.mac_room(packet, attempt.to) } else { 0 };
        let mut options = MacOptions::within(room);
        if writes {
            self.with(Some(attempt.to), |agent, cx| agent.write_options(packet, attempt, &mut options, cx));
        }
        options
    }

    /// A frame with these MAC options and `packet` was received.
    pub fn options_in(&mut self, packet: &Packet, serial: u64, options: &MacOptions) {
        if self.claims.reads(Signal::MacOptions) {
            self.with(Some(THERE), |agent, cx| agent.read_options(packet, serial, options, cx));
        }
    }

    /// A neighbour comes or goes.
    pub fn peer(&mut self, node: NodeId, event: PeerEvent<'_>) {
        self.with(None, |agent, cx| agent.peer(node, event, cx));
    }

    /// Both ends of a user's connection have closed, and the agent is told: [`Agent::closed`].
    pub fn closed(&mut self, flow: FlowId) {
        self.with(None, |agent, cx| agent.closed(flow, cx));
    }

    /// The node dies: the agent lets go of what it holds.
    pub fn release(&mut self) {
        self.with(None, |agent, cx| agent.release(cx));
    }

    /// The agent itself.
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

    /// The time of the next timer; `NEVER` if none is set.
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

    /// Takes the packets injected since the last call.
    pub fn take_injected(&mut self) -> Vec<(Packet, Toward)> {
        self.injected_serials.clear();
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

/// A data MPDU with this sequence number as a recipient sees it: QoS data of best effort, user priority 0, and no MAC options. The
/// packet is freed when the frame is released ([`Frame::release`]).
pub fn mpdu(all: &mut Packets, packet: Packet, seq: u16, is_retry: bool) -> Mpdu {
    let pkt = all.put(packet);
    let packet = all.share(&pkt);
    let len = mac::frame::DATA_HEADER
        + mac::frame::QOS_CONTROL
        + mac::frame::LLC_SNAP
        + all.free(pkt, DropWhy::MacDone).ip_len()
        + mac::frame::FCS;
    let data = Data {
        seq,
        fragment: 0,
        more_fragments: false,
        is_retry,
        attempt: 1 + u8::from(is_retry),
        is_doomed: false,
        cue: None,
        qos: Some(Qos { category: 1, user_priority: 0, ht_control: None }),
        msdus: Msdus::One(Carried { packet, options: MacOptions::within(0) }),
    };
    Mpdu { len, body: Body::Data(data) }
}

/// A data frame with these MPDUs: an A-MPDU if they are not one.
pub fn psdu((from, to): (NodeId, NodeId), mode: phy::Mode, duration: Dur, mpdus: Vec<Mpdu>) -> Frame {
    let psdu = match <[Mpdu; 1]>::try_from(mpdus) {
        Ok([one]) => Psdu::One(one),
        Err(several) => Psdu::Many { mpdus: several.into(), every: Bytes::ZERO },
    };
    let airtime = phy::airtime(mode, psdu.len());
    Frame { kind: Kind::Data, from, to, tx: mode.into(), airtime, duration, label: Label::default(), psdu }
}

/// The frame that a response becomes, as policies see it.
pub fn response(response: Response, (from, to): (NodeId, NodeId)) -> Frame {
    let Response { kind, mode, airtime, duration, len, body } = response;
    let psdu = Psdu::One(Mpdu { len, body });
    Frame { kind, from, to, tx: mode.into(), airtime, duration, label: Label::default(), psdu }
}
