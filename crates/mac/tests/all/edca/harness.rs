//! A driver for stations on one channel, each with a configuration of its own. Script times are µs, what happened is told
//! in ns.
//!
//! 802.11a at 54 Mb/s, ACK at 24 Mb/s: SIFS 16, slot 9, DIFS 34, ACK 28, ACK timeout 16 + 9 + 25 = 50. A datagram of 1500 B is
//! 1536 B of plain data, 248 µs, and 1538 B of QoS data: ⌈(22 + 12304) / 216⌉ = 58 symbols, 252 µs. EIFS - DIFS is SIFS and an
//! ACK at 6 Mb/s: 16 + 44 = 60.

use engine::{Class as When, Purpose, Slot, Stream, Streams, Timers};
use mac::{
    Category, Channel, Class, Config, Contention, Dcf, Edca, ErrorsAt, Fate, Fifo, Frame, Input, Kind, Msdu, Output,
    Plan, Qos, Station, TxQueue, TxReport, TxopLimits,
};
use phy::{ErrorModel, Errors, Hit, Medium, Standard};
use queue::{Limit, Spec};
use units::{BitRate, Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp};

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
pub const C: NodeId = NodeId(2);
pub const D: NodeId = NodeId(3);
/// An address that is on no station: what is sent to it is overheard by all and answered by none.
pub const NOBODY: NodeId = NodeId(99);

pub const SIFS: u64 = 16;
pub const SLOT: u64 = 9;
pub const DIFS: u64 = 34;
pub const ACK: u64 = 28;
pub const TIMEOUT: u64 = 50;
pub const PLAIN: u64 = 248;
pub const QOS: u64 = 252;
/// AIFS of BK, BE, VI, VO.
pub const AIFS: [u64; 4] = [79, 43, 34, 34];
pub const EXCHANGE: u64 = QOS + SIFS + ACK;

pub const BK: u8 = 0;
pub const BE: u8 = 1;
pub const VI: u8 = 2;
pub const VO: u8 = 3;

const SEED: u64 = 11;

/// What is sent in a category: its TOS field.
pub const fn tos(category: u8) -> u8 {
    [0x20, 0x00, 0xa0, 0xe0][category as usize]
}

pub fn at(us: u64) -> SimTime {
    SimTime::ZERO + Dur::from_us(us)
}

pub fn dcf() -> Config {
    Config::of(Standard::A, Standard::A.rate(BitRate::from_kbps(54_000)).expect("a rate of 802.11a"))
}

/// The standard's categories without TXOP limits, changed by `change`.
pub fn edca(change: impl FnOnce(&mut Edca)) -> Config {
    let config = dcf();
    let mut edca = Edca::standard(Standard::A, &config.timing, TxopLimits::Zero);
    change(&mut edca);
    edca.check().expect("parameters that can be");
    config.with_edca(edca)
}

/// The same, every backoff drawn from 0 … `cw` at first.
pub fn edca_cw(cw: u16) -> Config {
    edca(|edca| edca.categories.iter_mut().for_each(|category| category.cw_min = cw))
}

pub fn category(config: &mut Config, i: u8) -> &mut Category {
    &mut config.edca.as_mut().expect("a QoS station").categories[usize::from(i)]
}

/// The stream that a category of `node` draws its backoffs from: a test that draws the same knows them beforehand.
pub fn backoffs(node: NodeId, category: u8) -> Stream {
    Streams::new(SEED).get(Purpose::Backoff, u64::from(category) << 32 | u64::from(node.0))
}

/// A frame of a station without a MAC.
pub fn frame(kind: Kind, from: NodeId, to: NodeId, duration: u64) -> Frame {
    let config = dcf();
    let (rate, mpdu) = match kind {
        Kind::Data => (config.data_rate, Bytes(1536)),
        _ => (config.control_rate(config.data_rate), kind.control_len()),
    };
    let airtime = phy::airtime(rate, mpdu, config.preamble);
    let duration = Dur::from_us(duration);
    let class = Class::Udp;
    Frame {
        kind,
        from,
        to,
        rate,
        power: None,
        mpdu,
        airtime,
        duration,
        seq: 0,
        is_retry: false,
        is_doomed: false,
        class,
        qos: None,
    }
}

pub const HIT: ErrorModel = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 1.0 });
pub const CLEAN: ErrorModel = ErrorModel::One(Hit::NEVER);

/// One transmission, in µs; what does not fall on one fails the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    pub start: u64,
    pub from: NodeId,
    pub frame: Frame,
}

enum Stage {
    Enqueue { node: NodeId, to: NodeId, size: u32, tos: u8 },
    Air(Frame),
    Errors(ErrorModel, NodeId, NodeId),
    Kill(NodeId),
}

pub struct Net {
    pub channel: Channel,
    pub stations: Vec<Station>,
    pub sent: Vec<Sent>,
    /// Final reports, and failed attempts.
    pub said: Vec<(NodeId, TxReport)>,
    pub delivered: Vec<(NodeId, Frame)>,
    /// Delivered to anybody from each station, by category.
    pub counts: Vec<[u64; 8]>,
    /// Off for long runs.
    pub keeps_log: bool,
    timers: Timers,
    packets: Packets,
    script: Vec<(SimTime, Stage)>,
    is_scripted: Vec<bool>,
    /// Where each station's categories are refilled to.
    saturated: Vec<Vec<(u8, NodeId, u32)>>,
}

const GRANT: Slot = Slot(0);
const NAV: Slot = Slot(1);
const SCRIPT: Slot = Slot(2);

impl Net {
    pub fn new(configs: &[Config]) -> Net {
        Net::with_seed(configs, SEED)
    }

    pub fn with_seed(configs: &[Config], seed: u64) -> Net {
        Net::with_plans(configs, seed, |_| Box::new(Dcf::default()))
    }

    /// Stations with frame sequences of their own.
    pub fn with_plans(configs: &[Config], seed: u64, plan: impl Fn(NodeId) -> Box<dyn Plan>) -> Net {
        let nodes = configs.len();
        let streams = Streams::new(seed);
        let contention = Contention::new(nodes, |node| configs[node.index()].contenders(&streams, node));
        let patience = dcf().rts_nav_patience(dcf().control_rate(dcf().data_rate));
        let errors = Errors::new(nodes, &streams, |_, _| CLEAN);
        let channel = Channel::new(Medium::new(nodes), contention, errors, ErrorsAt::Attempt, nodes, patience);
        let peers: Vec<u8> = configs.iter().map(Config::categories).collect();
        let station = |(i, config): (usize, &Config)| {
            let node = NodeId(i as u32);
            let queue = |_| {
                let draws = streams.get(Purpose::Queue, i as u64);
                Box::new(Fifo::new(Spec::drop_tail(Limit::Packets(9)), Bytes(1500), draws)) as Box<dyn TxQueue>
            };
            let queues = config.accesses().into_iter().map(queue).collect();
            let first = channel.contention.first(node);
            let mut station = Station::new(node, &peers, first, config.clone(), queues, plan(node));
            station.report_attempts();
            station
        };
        Net {
            stations: configs.iter().enumerate().map(station).collect(),
            channel,
            sent: Vec::new(),
            said: Vec::new(),
            delivered: Vec::new(),
            counts: vec![[0; 8]; nodes],
            keeps_log: true,
            timers: Timers::new(3 + 2 * nodes),
            packets: Packets::default(),
            script: Vec::new(),
            is_scripted: vec![false; nodes],
            saturated: vec![Vec::new(); nodes],
        }
    }

    /// At `when`, `node` is handed a datagram of 1500 B for a category.
    pub fn enqueue(&mut self, when: u64, node: NodeId, to: NodeId, category: u8) -> &mut Net {
        self.script.push((at(when), Stage::Enqueue { node, to, size: 1500, tos: tos(category) }));
        self
    }

    /// At `when`, a frame is on the air whose transmitter's MAC knows nothing of it.
    pub fn air(&mut self, when: u64, frame: Frame) -> &mut Net {
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

    /// `node` always has datagrams of `size` for `to` in this category.
    pub fn saturate(&mut self, node: NodeId, to: NodeId, category: u8, size: u32) -> &mut Net {
        self.saturated[node.index()].push((category, to, size));
        for _ in 0..3 {
            self.script.push((at(1), Stage::Enqueue { node, to, size, tos: tos(category) }));
        }
        self
    }

    /// Runs until `until` µs.
    pub fn run(&mut self, until: u64) -> &mut Net {
        self.script.sort_by_key(|(when, _)| *when);
        self.script.reverse();
        self.set_script();
        let (mut receptions, mut winners, mut frames) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let (now, slot) = match self.timers.pop() {
                Some((now, slot)) if now <= at(until) => (now, slot),
                _ => return self,
            };
            let nodes = self.stations.len() as u32;
            frames.clear();
            match slot.0 {
                0 => {
                    winners.clear();
                    self.channel.contention.winners(now, &mut winners);
                    for id in &winners {
                        let node = self.channel.contention.node(*id);
                        self.tell(now, node, Input::Granted, &mut frames);
                    }
                }
                1 => self.channel.check_navs(now),
                2 => self.play(now, &mut frames),
                n if n < 3 + nodes => {
                    let from = NodeId(n - 3);
                    receptions.clear();
                    let frame = self.channel.end(now, from, &mut receptions);
                    if !std::mem::take(&mut self.is_scripted[from.index()]) {
                        self.tell(now, from, Input::Sent, &mut frames);
                    }
                    for reception in &receptions {
                        let input = if reception.is_for_me { Input::Received(frame) } else { Input::WaitedOut };
                        self.tell(now, reception.node, input, &mut frames);
                    }
                }
                n => self.tell(now, NodeId(n - 3 - nodes), Input::Timer, &mut frames),
            }
            for frame in &frames {
                self.put_on_air(now, frame);
            }
            self.timers.set(GRANT, self.channel.contention.next_grant(), When::Start);
            self.timers.set(NAV, self.channel.next_nav_check(), When::Between);
        }
    }

    fn set_script(&mut self) {
        let next = self.script.last().map_or(SimTime::NEVER, |(when, _)| *when);
        self.timers.set(SCRIPT, next, When::Start);
    }

    fn play(&mut self, now: SimTime, frames: &mut Vec<Frame>) {
        match self.script.pop().expect("the script has a stage for its timer").1 {
            Stage::Enqueue { node, to, size, tos } => self.hand_down(now, node, to, size, tos, frames),
            Stage::Air(frame) => {
                self.is_scripted[frame.from.index()] = true;
                frames.push(frame);
            }
            Stage::Kill(node) => {
                for msdu in self.stations[node.index()].kill(now, &mut self.channel) {
                    self.packets.free(msdu.pkt, DropWhy::NodeDown);
                }
                let (when, class) = self.stations[node.index()].next_wakeup();
                self.timers.set(Slot(3 + self.stations.len() as u32 + node.0), when, class);
            }
            Stage::Errors(model, from, to) => {
                let nodes = self.stations.len();
                let of = |f, t| if (f, t) == (from, to) { model } else { CLEAN };
                self.channel.errors = Errors::new(nodes, &Streams::new(SEED), of);
            }
        }
        self.set_script();
    }

    fn hand_down(&mut self, now: SimTime, node: NodeId, to: NodeId, size: u32, tos: u8, frames: &mut Vec<Frame>) {
        let ip = Ipv4 { tos, ..Ipv4::default() };
        let payload = Payload::stream(0, size - 28);
        let packet = Packet { ip, l4: L4::Udp(Udp::default()), payload, flow: FlowId(0) };
        let pkt = self.packets.put(packet);
        let msdu = Msdu::new(now, pkt, &self.packets, to, 0);
        self.tell(now, node, Input::Enqueue(msdu), frames);
    }

    fn put_on_air(&mut self, now: SimTime, frame: &Frame) {
        self.channel.start(now, *frame);
        self.timers.set(Slot(3 + frame.from.0), now + frame.airtime, When::End);
        if self.keeps_log {
            assert_eq!(now.ns() % 1000, 0, "all times are whole µs");
            self.sent.push(Sent { start: now.ns() / 1000, from: frame.from, frame: *frame });
        }
    }

    fn tell(&mut self, now: SimTime, node: NodeId, input: Input, frames: &mut Vec<Frame>) {
        let mut outputs = Vec::new();
        let station = &mut self.stations[node.index()];
        station.handle(now, input, &mut self.channel, &mut self.packets, &mut outputs);
        let (when, class) = station.next_wakeup();
        self.timers.set(Slot(3 + self.stations.len() as u32 + node.0), when, class);
        for output in outputs {
            match output {
                Output::Transmit(frame) => frames.push(frame),
                Output::Deliver(frame) => {
                    self.counts[frame.from.index()][frame.qos.map_or(7, |qos| usize::from(qos.category))] += 1;
                    if self.keeps_log {
                        self.delivered.push((node, frame));
                    }
                }
                Output::Attempt(_, report) if self.keeps_log => self.said.push((node, report)),
                Output::Attempt(..) => {}
                Output::Done(msdu, report) => {
                    if self.keeps_log {
                        self.said.push((node, report));
                    }
                    let category = msdu.category;
                    self.packets.free(msdu.pkt, DropWhy::MacDone);
                    let refill = self.saturated[node.index()].iter().find(|(c, _, _)| *c == category).copied();
                    if let Some((category, to, size)) = refill {
                        self.hand_down(now, node, to, size, tos(category), frames);
                    }
                }
            }
        }
    }

    /// When `node` began to send data, and in which category (7: without QoS Control).
    pub fn data(&self, node: NodeId) -> Vec<(u64, u8)> {
        let data = self.sent.iter().filter(|sent| (sent.from, sent.frame.kind) == (node, Kind::Data));
        data.map(|sent| (sent.start, sent.frame.qos.map_or(7, |qos| qos.category))).collect()
    }

    /// When `node` began to send data.
    pub fn starts(&self, node: NodeId) -> Vec<u64> {
        self.data(node).iter().map(|(start, _)| *start).collect()
    }

    /// Final fates of the MSDUs of `node`: category, fate, attempts.
    pub fn done(&self, node: NodeId) -> Vec<(u8, Fate, u8)> {
        let done = self.said.iter().filter(|(at, report)| *at == node && report.fate != Fate::Attempt);
        done.map(|(_, report)| (report.category, report.fate, report.attempts)).collect()
    }
}

/// QoS Control of a category with its own user priority.
pub fn qos(category: u8) -> Option<Qos> {
    Some(Qos { category, user_priority: tos(category) >> 5 })
}
