//! A driver for stations on one channel: what `world` does, without hosts. Script times are µs. The medium has no powers
//! unless a test gives it some.

use engine::{Class as When, Purpose, Slot, Stream, Streams, Timers};
use mac::{
    Aggregation, AtAddressee, Body, Carried, Channel, Config, Contention, Data, Dcf, ErrorsAt, Fate, Fifo, Frame,
    Input, Kind, Label, Links, MacOptions, Mpdu, Msdu, Msdus, Output, Overlap, Plan, Psdu, PsduReport, Qos, RaTid,
    Reception, Receptions, RtsPatience, Station, TxQueue, TxReport, Wrap,
};
use phy::{ErrorModel, Errors, Hit, Medium, Mode, TxPower, TxVector};
use queue::{Limit, Spec};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Dbm, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp};

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
pub const C: NodeId = NodeId(2);
pub const D: NodeId = NodeId(3);
/// An address that is on no station: what is sent to it is overheard by all and no station responds.
pub const NOBODY: NodeId = NodeId(99);

pub const SEED: u64 = 11;

pub const HIT: ErrorModel = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 1.0 });
pub const CLEAN: ErrorModel = ErrorModel::One(Hit::NEVER);

pub fn at(us: u64) -> SimTime {
    SimTime::ZERO + Dur::from_us(us)
}

pub fn us(time: SimTime) -> u64 {
    time.ns() / 1000
}

/// The stream that a category of `node` draws its backoffs from: a test that draws the same knows them beforehand.
pub fn backoffs_of(node: NodeId, category: u8) -> Stream {
    Streams::new(SEED).get(Purpose::Backoff, u64::from(category) << 32 | u64::from(node.0))
}

/// A frame as tests write and compare it: of one MPDU, without what it carries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    pub kind: Kind,
    pub from: NodeId,
    pub to: NodeId,
    pub mode: Mode,
    pub power: Option<Dbm>,
    pub mpdu: Bytes,
    pub airtime: Dur,
    pub duration: Dur,
    pub seq: u16,
    pub is_retry: bool,
    pub qos: Option<Qos>,
    pub label: Label,
    /// MSDUs in its MPDU, if it is data; of several an A-MSDU.
    pub msdus: usize,
}

impl Shown {
    pub fn of(frame: &Frame) -> Shown {
        let data = frame.data();
        Shown {
            kind: frame.kind,
            from: frame.from,
            to: frame.to,
            mode: frame.tx.mode,
            power: frame.tx.power.level(),
            mpdu: frame.psdu.len(),
            airtime: frame.airtime,
            duration: frame.duration,
            seq: data.map_or(0, |data| data.seq),
            is_retry: data.is_some_and(|data| data.is_retry),
            qos: data.and_then(|data| data.qos),
            label: frame.label,
            msdus: data.map_or(0, |data| data.msdus.each().len()),
        }
    }

    /// The frame, with packets of nobody's if it is data.
    pub fn made(self, packets: &mut Packets) -> Frame {
        let body = if self.kind == Kind::Data {
            let mut carried = || {
                let pkt = packets.put(datagram(100, 0, 0));
                let carried = Carried { packet: packets.share(&pkt), options: MacOptions::within(0) };
                packets.free(pkt, DropWhy::Delivered);
                carried
            };
            let Shown { seq, is_retry, qos, .. } = self;
            let msdus = match self.msdus {
                1 => Msdus::One(carried()),
                several => Msdus::Many((0..several).map(|_| carried()).collect()),
            };
            Body::Data(Data {
                seq,
                fragment: 0,
                more_fragments: false,
                is_retry,
                attempt: 1,
                is_doomed: false,
                cue: None,
                qos,
                msdus,
            })
        } else {
            Body::Nothing
        };
        let Shown { kind, from, to, mode, power, airtime, duration, label, .. } = self;
        let psdu = Psdu::One(Mpdu { len: self.mpdu, body });
        let power = power.map_or(TxPower::OWN, TxPower::of);
        Frame { kind, from, to, tx: TxVector { power, ..mode.into() }, airtime, duration, label, psdu }
    }
}

/// A frame of a station without a MAC: 1536 B of data, or a control frame.
pub fn frame_of(config: &Config, kind: Kind, from: NodeId, to: NodeId, duration: u64) -> Shown {
    let (mode, mpdu) = match kind {
        Kind::Data => (config.data_rate, Bytes(1536)),
        _ => (config.control_modes.response_to(config.data_rate), kind.control_len()),
    };
    let (airtime, duration) = (phy::airtime(mode, mpdu), Dur::from_us(duration));
    let (seq, is_retry, qos, power, label) = (0, false, None, None, Label::default());
    let msdus = usize::from(kind == Kind::Data);
    Shown { msdus, kind, from, to, mode, power, mpdu, airtime, duration, seq, is_retry, qos, label }
}

/// Datagrams of one size are a flow, to queues that tell flows apart.
fn datagram(size: u32, tos: u8, nth: u32) -> Packet {
    let ip = Ipv4 { tos, ..Ipv4::default() };
    let udp = Udp { src_port: size as u16, ..Udp::default() };
    Packet { ip, l4: L4::Udp(udp), payload: Payload::stream(0, size - 28), flow: FlowId(nth) }
}

/// One transmission, in µs; for tests whose times are whole ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    pub start: u64,
    pub end: u64,
    pub from: NodeId,
    pub kind: Kind,
    pub is_retry: bool,
    pub frame: Shown,
}

/// Report of a MAC on an MSDU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    pub when: u64,
    pub node: NodeId,
    pub fate: Fate,
    pub attempts: u8,
    pub report: TxReport,
}

/// A packet that was handed up: when, at whom, from whom, and the frame it came in if it was handed up at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delivered {
    pub when: u64,
    pub node: NodeId,
    pub from: NodeId,
    pub serial: u64,
    /// Number of the packet: those that were handed down are counted from 0 on.
    pub nth: u32,
    pub frame: Option<Shown>,
}

/// Fate of a frame at its addressee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    pub frame: Shown,
    pub fate: AtAddressee,
    pub overlap: Option<Overlap>,
}

enum Stage {
    Enqueue { node: NodeId, to: NodeId, size: u32, tos: u8 },
    Air(Shown),
    Errors(ErrorModel, NodeId, NodeId),
    Kill(NodeId),
}

/// One queue for all links.
pub fn fifo(spec: &Spec, streams: Streams) -> Box<dyn TxQueue> {
    Box::new(Fifo::new(spec, Bytes(1500), streams.get(Purpose::Queue, 0)))
}

/// A queue for each link.
pub fn links(spec: &Spec, streams: Streams) -> Box<dyn TxQueue> {
    Box::new(Links::new(spec, Bytes(1500), streams))
}

/// Report to a queue on an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub link: RaTid,
    /// In µs.
    pub airtime: u64,
    /// MPDUs that went out.
    pub sent: usize,
    /// Places of those that were acknowledged.
    pub acknowledged: Vec<usize>,
}

impl Told {
    pub fn of(report: &PsduReport<'_>) -> Told {
        let PsduReport { link, ppdu, airtime, mpdus, acknowledged, .. } = *report;
        let acknowledged = (0..mpdus).filter(|place| acknowledged.contains(*place)).collect();
        Told { link, airtime: us(SimTime::ZERO + airtime), sent: ppdu.map_or(0, |_| mpdus), acknowledged }
    }
}

/// Notes what a queue is told of attempts, and passes it on.
#[derive(Debug, Default, Clone)]
pub struct Ears(pub Rc<RefCell<Vec<Told>>>);

impl Wrap for Ears {
    fn attempted(&mut self, inner: &mut dyn TxQueue, now: SimTime, report: &PsduReport<'_>) {
        self.0.borrow_mut().push(Told::of(report));
        inner.attempted(now, report);
    }

    fn heeds_attempts(&self, _: &dyn TxQueue) -> bool {
        true
    }
}

/// Parts that a net is built from.
pub struct Build<'a> {
    pub configs: &'a [Config],
    pub seed: u64,
    pub limit: Limit,
    pub errors: ErrorModel,
    pub errors_at: ErrorsAt,
    pub plan: &'a dyn Fn(NodeId) -> Box<dyn Plan>,
    /// The queue of each category, of this limit, and streams for its draws.
    pub queue: &'a dyn Fn(&Spec, Streams) -> Box<dyn TxQueue>,
}

impl<'a> Build<'a> {
    /// Stations of these configurations, queues of nine MSDUs, no errors.
    pub fn of(configs: &'a [Config]) -> Build<'a> {
        let (errors, errors_at) = (CLEAN, ErrorsAt::Attempt);
        Build {
            configs,
            seed: SEED,
            limit: Limit::Packets(9),
            errors,
            errors_at,
            plan: &|_| Box::new(Dcf),
            queue: &fifo,
        }
    }
}

pub struct Net {
    pub channel: Channel,
    pub stations: Vec<Station>,
    pub packets: Packets,
    pub sent: Vec<Sent>,
    pub said: Vec<Said>,
    pub delivered: Vec<Delivered>,
    /// Packets that a MAC is done with: which of them, and their fate.
    pub finished: Vec<(u32, Fate)>,
    pub ended: Vec<Ended>,
    /// Delivered to anybody from each station, by category; 7: without QoS Control.
    pub counts: Vec<[u64; 8]>,
    /// Packets handed down in all.
    handed_down: u32,
    /// Packets handed up in all.
    pub handed_up: u64,
    /// Off for long runs.
    pub keeps_log: bool,
    /// Bytes of MAC options that each MSDU asks for.
    pub options_room: u8,
    timers: Timers,
    script: Vec<(SimTime, Stage)>,
    is_scripted: Vec<bool>,
    /// Refill of each station's categories.
    saturated: Vec<Vec<(u8, NodeId, u32)>>,
}

const GRANT: Slot = Slot(0);
const NAV: Slot = Slot(1);
const SCRIPT: Slot = Slot(2);

impl Net {
    pub fn build(build: &Build) -> Net {
        let nodes = build.configs.len();
        let configs = build.configs;
        let streams = Streams::new(build.seed);
        let contention = Contention::new(nodes, |node| configs[node.index()].contenders(&streams, node));
        let announced: Rc<[Option<Aggregation>]> = configs.iter().map(|config| config.aggregation).collect();
        let patience = RtsPatience::of(&configs[..1]);
        let errors = Errors::new(nodes, &streams, |_, _| build.errors);
        let channel = Channel::new(Medium::new(nodes), contention, errors, build.errors_at, nodes, patience);
        let peers: Vec<u8> = configs.iter().map(Config::categories).collect();
        let station = |(i, config): (usize, &Config)| {
            let node = NodeId(i as u32);
            let queue = |_| (build.queue)(&Spec::drop_tail(build.limit), streams.within(Purpose::Queue, i as u64));
            let queues = config.accesses().into_iter().map(queue).collect();
            let first = channel.contention.first(node);
            let mut station = Station::new(node, &peers, first, config.clone(), queues, (build.plan)(node));
            station.report_attempts();
            station.aggregate_with(announced.clone());
            station
        };
        Net {
            stations: configs.iter().enumerate().map(station).collect(),
            channel,
            packets: Packets::default(),
            sent: Vec::new(),
            said: Vec::new(),
            delivered: Vec::new(),
            finished: Vec::new(),
            ended: Vec::new(),
            counts: vec![[0; 8]; nodes],
            handed_down: 0,
            handed_up: 0,
            keeps_log: true,
            options_room: 0,
            timers: Timers::new(3 + 2 * nodes),
            script: Vec::new(),
            is_scripted: vec![false; nodes],
            saturated: vec![Vec::new(); nodes],
        }
    }

    /// At `when`, `node` is handed a datagram of `size` bytes.
    pub fn enqueue(&mut self, when: u64, node: NodeId, to: NodeId, size: u32) -> &mut Net {
        self.script.push((at(when), Stage::Enqueue { node, to, size, tos: 0 }));
        self
    }

    /// At `when`, `node` is handed a datagram of 1500 B with this TOS field.
    pub fn offer(&mut self, when: u64, node: NodeId, to: NodeId, tos: u8) -> &mut Net {
        self.offer_sized(when, node, to, tos, 1500)
    }

    /// The same, of `size` bytes.
    pub fn offer_sized(&mut self, when: u64, node: NodeId, to: NodeId, tos: u8, size: u32) -> &mut Net {
        self.script.push((at(when), Stage::Enqueue { node, to, size, tos }));
        self
    }

    /// At `when`, a frame is on the air whose transmitter's MAC knows nothing of it.
    pub fn air(&mut self, when: u64, frame: Shown) -> &mut Net {
        self.script.push((at(when), Stage::Air(frame)));
        self
    }

    /// From `when` on, frames from `from` to `to` suffer so; those of other pairs nothing.
    pub fn errors(&mut self, when: u64, from: NodeId, to: NodeId, model: ErrorModel) -> &mut Net {
        self.script.push((at(when), Stage::Errors(model, from, to)));
        self
    }

    /// `node` dies.
    pub fn kill(&mut self, when: u64, node: NodeId) -> &mut Net {
        self.script.push((at(when), Stage::Kill(node)));
        self
    }

    /// `node` always has datagrams of `size` for `to`, of which it is handed three first, with the TOS field of this category.
    pub fn saturate(&mut self, node: NodeId, to: NodeId, of: (u8, u8), size: u32) -> &mut Net {
        self.saturate_with(3, node, to, of, size)
    }

    /// The same, of which it has so many at any time.
    pub fn saturate_with(&mut self, n: u32, node: NodeId, to: NodeId, of: (u8, u8), size: u32) -> &mut Net {
        let (category, tos) = of;
        self.saturated[node.index()].push((category, to, size));
        for _ in 0..n {
            self.script.push((at(1), Stage::Enqueue { node, to, size, tos }));
        }
        self
    }

    /// Runs until `until` µs.
    pub fn run(&mut self, until: u64) -> &mut Net {
        self.script.sort_by_key(|(when, _)| *when);
        self.script.reverse();
        self.set_script();
        let (mut receptions, mut winners, mut starters) = (Receptions::default(), Vec::new(), Vec::new());
        loop {
            let Some((now, slot)) = self.timers.pop_before(at(until) + Dur::from_ns(1)) else { return self };
            let nodes = self.stations.len() as u32;
            match slot.0 {
                0 => {
                    winners.clear();
                    self.channel.contention.winners(now, &mut winners);
                    for id in &winners {
                        let node = self.channel.contention.node(*id);
                        self.tell(now, node, Input::Granted, &mut starters);
                    }
                }
                1 => self.channel.check_navs(now),
                2 => self.play(now, &mut starters),
                n if n < 3 + nodes => self.end(now, NodeId(n - 3), &mut receptions, &mut starters),
                n => self.tell(now, NodeId(n - 3 - nodes), Input::Timer, &mut starters),
            }
            for from in starters.drain(..) {
                self.put_on_air(now, from);
            }
            self.timers.set(GRANT, self.channel.contention.next_grant(), When::Start);
            self.timers.set(NAV, self.channel.next_nav_check(), When::Between);
        }
    }

    fn end(&mut self, now: SimTime, from: NodeId, receptions: &mut Receptions, starters: &mut Vec<NodeId>) {
        let fate = self.channel.end(now, from, receptions);
        let frame = self.channel.unload(from).expect("it was on the air");
        if self.keeps_log {
            let overlap = self.channel.first_overlap(from);
            self.ended.push(Ended { frame: Shown::of(&frame), fate, overlap });
        }
        if !std::mem::take(&mut self.is_scripted[from.index()]) {
            self.tell(now, from, Input::Sent, starters);
        }
        for Reception { node, got } in receptions.iter() {
            let before = self.handed_up;
            self.tell(now, node, Input::Ended(&frame, got), starters);
            let handed_up = self.handed_up - before;
            let category = frame.data().and_then(|data| data.qos).map_or(7, |qos| usize::from(qos.category));
            self.counts[from.index()][category] += handed_up;
            for it in self.delivered.iter_mut().rev().take(handed_up as usize) {
                it.frame = Some(Shown::of(&frame));
            }
        }
        frame.release(&mut self.packets);
    }

    fn set_script(&mut self) {
        let next = self.script.last().map_or(SimTime::NEVER, |(when, _)| *when);
        self.timers.set(SCRIPT, next, When::Start);
    }

    fn play(&mut self, now: SimTime, starters: &mut Vec<NodeId>) {
        match self.script.pop().expect("the script has a stage for its timer").1 {
            Stage::Enqueue { node, to, size, tos } => self.hand_down(now, node, to, size, tos, starters),
            Stage::Air(frame) => {
                self.is_scripted[frame.from.index()] = true;
                self.channel.load(frame.made(&mut self.packets));
                starters.push(frame.from);
            }
            Stage::Kill(node) => {
                for pkt in self.stations[node.index()].kill(now, &mut self.channel.at(node), &mut self.packets) {
                    self.packets.free(pkt, DropWhy::NodeDown);
                }
                self.set_timer(node);
            }
            Stage::Errors(model, from, to) => {
                let nodes = self.stations.len();
                let of = |f, t| if (f, t) == (from, to) { model } else { CLEAN };
                self.channel.errors = Errors::new(nodes, &Streams::new(SEED), of);
            }
        }
        self.set_script();
    }

    fn hand_down(&mut self, now: SimTime, node: NodeId, to: NodeId, size: u32, tos: u8, starters: &mut Vec<NodeId>) {
        let pkt = self.packets.put(datagram(size, tos, self.handed_down));
        self.handed_down += 1;
        let msdu = Msdu::new(now, pkt, &self.packets, to, self.options_room);
        self.tell(now, node, Input::Enqueue(msdu), starters);
    }

    fn put_on_air(&mut self, now: SimTime, from: NodeId) {
        self.channel.start(now, from);
        let frame = self.channel.frame(from).expect("it was loaded");
        let end = now + frame.airtime;
        self.timers.set(Slot(3 + from.0), end, When::End);
        if self.keeps_log {
            let frame = Shown::of(frame);
            let Shown { from, kind, is_retry, .. } = frame;
            self.sent.push(Sent { start: us(now), end: us(end), from, kind, is_retry, frame });
        }
    }

    fn set_timer(&mut self, node: NodeId) {
        let (when, class) = self.stations[node.index()].next_wakeup();
        self.timers.set(Slot(3 + self.stations.len() as u32 + node.0), when, class);
    }

    fn tell(&mut self, now: SimTime, node: NodeId, input: Input, starters: &mut Vec<NodeId>) {
        let mut outputs = Vec::new();
        let station = &mut self.stations[node.index()];
        let mut air = self.channel.at(node);
        station.handle(now, input, &mut air, &mut self.packets, &mut outputs);
        let transmits = air.transmits;
        self.set_timer(node);
        for output in outputs {
            match output {
                Output::Deliver(delivery) => {
                    self.handed_up += 1;
                    let (from, serial) = (delivery.from, self.packets.serial(&delivery.pkt));
                    let nth = self.packets.get(&delivery.pkt).flow.0;
                    if self.keeps_log {
                        self.delivered.push(Delivered { when: us(now), node, from, serial, nth, frame: None });
                    }
                    self.packets.free(delivery.pkt, DropWhy::Delivered);
                }
                Output::Attempt(packet, report) => {
                    self.packets.release(packet);
                    self.say(now, node, report);
                }
                Output::Done(pkt, report) => {
                    self.say(now, node, report);
                    if self.keeps_log {
                        self.finished.push((self.packets.get(&pkt).flow.0, report.fate));
                    }
                    let tos = self.packets.free(pkt, DropWhy::MacDone).ip.tos;
                    let refill = self.saturated[node.index()]
                        .iter()
                        .find(|(c, to, _)| (*c, *to) == (report.category, report.to))
                        .copied();
                    if let Some((_, to, size)) = refill {
                        self.hand_down(now, node, to, size, tos, starters);
                    }
                }
            }
        }
        if transmits {
            starters.push(node);
        }
    }

    fn say(&mut self, now: SimTime, node: NodeId, report: TxReport) {
        if self.keeps_log {
            let TxReport { fate, attempts, .. } = report;
            self.said.push(Said { when: us(now), node, fate, attempts, report });
        }
    }

    /// Runs until then. Nobody may have a packet left.
    pub fn run_out(&mut self, until: u64) {
        self.run(until);
        let left: u64 = self.stations.iter().map(|station| station.backlog() + station.held()).sum();
        assert_eq!((left, self.packets.live(), self.packets.shared()), (0, 0, 0), "packets left");
    }

    /// Transmissions of these: kind, start, airtime, Duration.
    pub fn sent_by(&self, from: &[NodeId]) -> Vec<(Kind, u64, u64, u64)> {
        let sent = self.sent.iter().filter(|sent| from.contains(&sent.from));
        sent.map(|it| (it.kind, it.start, it.end - it.start, it.frame.duration.ns() / 1000)).collect()
    }

    /// Transmissions of `from` of this kind.
    pub fn of(&self, from: NodeId, kind: Kind) -> Vec<Sent> {
        self.sent.iter().copied().filter(|s| (s.from, s.kind) == (from, kind)).collect()
    }

    /// Starts of the data frames of `from`.
    pub fn data_starts(&self, from: NodeId) -> Vec<u64> {
        self.of(from, Kind::Data).iter().map(|s| s.start).collect()
    }

    /// Fates of the MSDUs of `node` that its MAC is done with, and their attempts.
    pub fn done(&self, node: NodeId) -> Vec<(Fate, u8)> {
        let done = self.said.iter().filter(|s| s.node == node && s.fate != Fate::Attempt);
        done.map(|s| (s.fate, s.attempts)).collect()
    }
}
