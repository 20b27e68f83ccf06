//! A driver for stations on one channel: what `world` does, without hosts. Times are µs.
//!
//! 802.11b at 11 Mb/s with control frames at 1 Mb/s: SIFS 10, slot 20, DIFS 50, ACK and CTS 304, RTS 352, EIFS 364, ACK
//! and CTS timeout 10 + 20 + 192 = 222. A datagram of 1500 B is 1310 on the air.

use engine::{Class as When, Purpose, Slot, Stream, Streams, Timers};
use mac::{
    Access, Channel, Class, Config, Contention, Dcf, ErrorsAt, Fate, Fifo, Frame, Input, Kind, Msdu, Output, Station,
};
use phy::{ErrorModel, Errors, Hit, Medium, Standard};
use queue::Spec;
use std::net::Ipv4Addr;
use units::{BitRate, Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp};

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
pub const C: NodeId = NodeId(2);
pub const D: NodeId = NodeId(3);
/// An address that is on no station: what is sent to it is overheard by all and answered by none.
pub const NOBODY: NodeId = NodeId(99);

pub const SIFS: u64 = 10;
pub const SLOT: u64 = 20;
pub const DIFS: u64 = 50;
pub const ACK: u64 = 304;
pub const CTS: u64 = 304;
pub const RTS: u64 = 352;
pub const EIFS: u64 = 364;
pub const TIMEOUT: u64 = 222;
/// Airtime of a datagram of 1500 B.
pub const DATA: u64 = 1310;

const SEED: u64 = 11;

pub fn at(us: u64) -> SimTime {
    SimTime::ZERO + Dur::from_us(us)
}

pub fn us(time: SimTime) -> u64 {
    time.ns() / 1000
}

/// One transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub start: u64,
    pub end: u64,
    pub from: NodeId,
    pub kind: Kind,
    pub is_retry: bool,
}

/// What a MAC said of an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    pub when: u64,
    pub node: NodeId,
    pub fate: Fate,
    pub attempts: u8,
}

/// What the test makes happen.
#[derive(Debug)]
enum Stage {
    Enqueue {
        node: NodeId,
        to: NodeId,
        size: u32,
    },
    /// A frame of a station that has no MAC here.
    Air(Frame),
    Errors(ErrorModel, NodeId, NodeId),
}

pub struct Net {
    pub channel: Channel,
    pub stations: Vec<Station>,
    pub sent: Vec<Sent>,
    pub said: Vec<Said>,
    /// (when, at whom, from whom).
    pub delivered: Vec<(u64, NodeId, NodeId)>,
    timers: Timers,
    packets: Packets,
    script: Vec<(SimTime, Stage)>,
    is_scripted: Vec<bool>,
}

/// Parameters of a net; the default is 802.11b without RTS, everybody in reach, no errors.
pub struct Setup {
    pub nodes: usize,
    pub rts_threshold: Option<Bytes>,
    pub cw: (u16, u16),
    pub limit: queue::Limit,
    pub errors: ErrorModel,
    pub errors_at: ErrorsAt,
    pub deaf: Vec<(NodeId, NodeId)>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            nodes: 3,
            rts_threshold: None,
            cw: (31, 1023),
            limit: queue::Limit::Packets(50),
            errors: ErrorModel::One(Hit::NEVER),
            errors_at: ErrorsAt::Attempt,
            deaf: Vec::new(),
        }
    }
}

pub fn config() -> Config {
    let rate = |kbps| Standard::B.rate(BitRate::from_kbps(kbps)).expect("a rate of 802.11b");
    let mut config = Config::of(Standard::B, rate(11_000));
    config.control_rates = vec![rate(1000)];
    config
}

/// A frame of a station without a MAC.
pub fn frame(kind: Kind, from: NodeId, to: NodeId, duration: u64) -> Frame {
    let config = config();
    let (rate, mpdu) = match kind {
        Kind::Data => (config.data_rate, Bytes(1536)),
        _ => (config.basic_rate, kind.control_len()),
    };
    Frame {
        kind,
        from,
        to,
        rate,
        power: None,
        mpdu,
        airtime: phy::airtime(rate, mpdu, config.preamble),
        duration: Dur::from_us(duration),
        seq: 0,
        is_retry: false,
        is_doomed: false,
        class: Class::Udp,
        qos: None,
    }
}

const GRANT: Slot = Slot(0);
const NAV: Slot = Slot(1);
const SCRIPT: Slot = Slot(2);

impl Net {
    pub fn new(setup: &Setup) -> Net {
        let nodes = setup.nodes;
        let mut config = config();
        config.rts.threshold = setup.rts_threshold;
        let access = Access { cw_min: setup.cw.0, cw_max: setup.cw.1, ..config.accesses()[0] };
        let contention = Contention::new(nodes, |node| vec![(access, backoffs(node))]);
        let mut medium = Medium::new(nodes);
        for (from, to) in &setup.deaf {
            medium.set_reach(*from, *to, false);
        }
        let patience = config.rts_nav_patience(config.control_rate(config.data_rate));
        let errors = Errors::new(nodes, &Streams::new(SEED), |_, _| setup.errors);
        let channel = Channel::new(medium, contention, errors, setup.errors_at, nodes, patience);
        let station = |i: u32| {
            let node = NodeId(i);
            let queue = Box::new(Fifo::new(Spec::drop_tail(setup.limit), Bytes(1500), stream(Purpose::Queue, node)));
            let mut station = Station::new(
                node,
                &vec![0; nodes],
                channel.contention.first(node),
                config.clone(),
                vec![queue],
                Box::new(Dcf::default()),
            );
            station.report_attempts();
            station
        };
        Net {
            stations: (0..nodes as u32).map(station).collect(),
            channel,
            sent: Vec::new(),
            said: Vec::new(),
            delivered: Vec::new(),
            timers: Timers::new(3 + 2 * nodes),
            packets: Packets::default(),
            script: Vec::new(),
            is_scripted: vec![false; nodes],
        }
    }

    /// At `when`, `node` is handed a datagram of `size` bytes.
    pub fn enqueue(&mut self, when: u64, node: NodeId, to: NodeId, size: u32) -> &mut Net {
        self.script.push((at(when), Stage::Enqueue { node, to, size }));
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

    /// Runs for `until` µs.
    pub fn run(&mut self, until: u64) -> &mut Net {
        self.script.sort_by_key(|(when, _)| *when);
        self.script.reverse();
        self.set_script();
        let mut receptions = Vec::new();
        loop {
            let (now, slot) = match self.timers.pop() {
                Some((now, slot)) if now <= at(until) => (now, slot),
                _ => return self,
            };
            let nodes = self.stations.len() as u32;
            match slot.0 {
                0 => {
                    let mut winners = Vec::new();
                    self.channel.contention.winners(now, &mut winners);
                    let mut frames = Vec::new();
                    for id in winners {
                        let node = self.channel.contention.node(id);
                        self.tell(now, node, Input::Granted, &mut frames);
                    }
                    self.put_on_air(now, &frames);
                }
                1 => self.channel.check_navs(now),
                2 => self.play(now),
                n if n < 3 + nodes => {
                    let from = NodeId(n - 3);
                    receptions.clear();
                    let frame = self.channel.end(now, from, &mut receptions);
                    let mut frames = Vec::new();
                    if !std::mem::take(&mut self.is_scripted[from.index()]) {
                        self.tell(now, from, Input::Sent, &mut frames);
                    }
                    for reception in &receptions {
                        let input = if reception.is_for_me { Input::Received(frame) } else { Input::WaitedOut };
                        self.tell(now, reception.node, input, &mut frames);
                    }
                    self.put_on_air(now, &frames);
                }
                n => {
                    let mut frames = Vec::new();
                    self.tell(now, NodeId(n - 3 - nodes), Input::Timer, &mut frames);
                    self.put_on_air(now, &frames);
                }
            }
            self.timers.set(GRANT, self.channel.contention.next_grant(), When::Start);
            self.timers.set(NAV, self.channel.next_nav_check(), When::Between);
        }
    }

    fn set_script(&mut self) {
        let next = self.script.last().map_or(SimTime::NEVER, |(when, _)| *when);
        self.timers.set(SCRIPT, next, When::Start);
    }

    fn play(&mut self, now: SimTime) {
        let mut frames = Vec::new();
        match self.script.pop().expect("the script has a stage for its timer").1 {
            Stage::Enqueue { node, to, size } => {
                let ip = Ipv4 { src: Ipv4Addr::LOCALHOST, dst: Ipv4Addr::LOCALHOST, ..Ipv4::default() };
                let payload = Payload::stream(0, size - 28);
                let packet = Packet { ip, l4: L4::Udp(Udp::default()), payload, flow: FlowId(0) };
                let pkt = self.packets.put(packet);
                let msdu = Msdu::new(now, pkt, &self.packets, to, 0);
                self.tell(now, node, Input::Enqueue(msdu), &mut frames);
            }
            Stage::Air(frame) => {
                self.is_scripted[frame.from.index()] = true;
                frames.push(frame);
            }
            Stage::Errors(model, from, to) => {
                let nodes = self.stations.len();
                let never = ErrorModel::One(Hit::NEVER);
                self.channel.errors =
                    Errors::new(nodes, &Streams::new(SEED), |f, t| if (f, t) == (from, to) { model } else { never });
            }
        }
        self.put_on_air(now, &frames);
        self.set_script();
    }

    fn put_on_air(&mut self, now: SimTime, frames: &[Frame]) {
        for frame in frames {
            self.channel.start(now, *frame);
            let end = now + frame.airtime;
            self.timers.set(Slot(3 + frame.from.0), end, When::End);
            let (start, end) = (us(now), us(end));
            self.sent.push(Sent { start, end, from: frame.from, kind: frame.kind, is_retry: frame.is_retry });
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
                Output::Deliver(frame) => self.delivered.push((us(now), node, frame.from)),
                Output::Attempt(_, r) => {
                    self.said.push(Said { when: us(now), node, fate: r.fate, attempts: r.attempts });
                }
                Output::Done(msdu, r) => {
                    self.said.push(Said { when: us(now), node, fate: r.fate, attempts: r.attempts });
                    self.packets.free(msdu.pkt, DropWhy::MacDone);
                }
            }
        }
    }

    /// Transmissions of `from` of this kind.
    pub fn of(&self, from: NodeId, kind: Kind) -> Vec<Sent> {
        self.sent.iter().copied().filter(|s| (s.from, s.kind) == (from, kind)).collect()
    }

    /// When `from` began to send data.
    pub fn data_starts(&self, from: NodeId) -> Vec<u64> {
        self.of(from, Kind::Data).iter().map(|s| s.start).collect()
    }

    /// Fates of the MSDUs of `node` that its MAC is done with, and their attempts.
    pub fn done(&self, node: NodeId) -> Vec<(Fate, u8)> {
        let done = self.said.iter().filter(|s| s.node == node && s.fate != Fate::Attempt);
        done.map(|s| (s.fate, s.attempts)).collect()
    }
}

/// The stream that `node` draws its backoffs from: a test that draws the same knows them beforehand.
pub fn backoffs(node: NodeId) -> Stream {
    stream(Purpose::Backoff, node)
}

fn stream(purpose: Purpose, node: NodeId) -> Stream {
    Streams::new(SEED).get(purpose, u64::from(node.0))
}
