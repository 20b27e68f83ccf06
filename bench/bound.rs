//! The bound: what an exchange costs where nobody but the channel, contention and the timers does anything. `bound STATIONS EXCHANGES` plays
//! saturated 802.11a, data of 1536 B at 54 Mb/s and ACKs of 24 Mb/s, by the same grants, starts and ends as a world of that many
//! stations and one sink in reach of each other: without stations' machines, queues, nodes, TCP or results. It prints the exchanges
//! granted. `make bound` counts its instructions; docs/design/performance.md has them beside those of the world.
#![allow(clippy::print_stdout, reason = "its answer")]

use engine::{Class, Purpose, Slot, Streams, Timers};
use mac::{
    Body, Channel, Config, Contention, ErrorsAt, Frame, Kind, Label, Mpdu, Outcome, Psdu, Receptions, RtsPatience,
};
use phy::{ErrorModel, Errors, Hit, Medium, Mode, Standard};
use units::{BitRate, Bytes, Dur, NodeId, SimTime};

const SINK: NodeId = NodeId(0);
const DATA: Dur = Dur::from_us(248);
const ACK: Dur = Dur::from_us(28);
const DATA_LEN: Bytes = Bytes(1536);
const ACK_LEN: Bytes = Bytes(14);
/// After which a frame is given up: dot11ShortRetryLimit.
const ATTEMPTS: u32 = 7;
/// The next grant; the ACK; from here on the end of each station's frame and its timeout, in turn.
const GRANT: Slot = Slot(0);
const RESPONSE: Slot = Slot(1);

struct Bound {
    channel: Channel,
    timers: Timers,
    sifs: Dur,
    /// From the end of data to the end of waiting for its ACK.
    timeout: Dur,
    mode: Mode,
    control: Mode,
    /// Whose data the sink acknowledges next.
    served: NodeId,
    /// Attempts of each station's frame that nobody acknowledged.
    failed: Vec<u32>,
    /// Stations on the air at once, for whether they collide.
    on_air: u32,
    collided: bool,
}

fn end_of(node: NodeId) -> Slot {
    Slot(2 + 2 * node.0)
}

fn timeout_of(node: NodeId) -> Slot {
    Slot(3 + 2 * node.0)
}

impl Bound {
    fn new(stations: usize) -> Bound {
        let nodes = stations + 1;
        let rate = |mbps: u64| Standard::A.mode(BitRate::from_kbps(mbps * 1000)).expect("a rate of 802.11a");
        let (mode, control) = (rate(54), rate(24));
        let config = Config::of(Standard::A, mode);
        let streams = Streams::new(1);
        let access = config.accesses()[0];
        let contention =
            Contention::new(nodes, |node| vec![(access, streams.get(Purpose::Backoff, u64::from(node.0)))]);
        let errors = Errors::new(nodes, &streams, |_, _| ErrorModel::One(Hit::NEVER));
        let patience = RtsPatience::always(Dur::from_us(1000));
        Bound {
            channel: Channel::new(Medium::new(nodes), contention, errors, ErrorsAt::Attempt, nodes, patience),
            timers: Timers::new(2 + 2 * nodes),
            sifs: config.timing.sifs,
            timeout: config.timing.sifs + access.slot + ACK,
            mode,
            control,
            served: SINK,
            failed: vec![0; nodes],
            on_air: 0,
            collided: false,
        }
    }

    fn start(&mut self, now: SimTime, from: NodeId, to: NodeId) {
        let (kind, mode, airtime, len) = if from == SINK {
            (Kind::Ack, self.control, ACK, ACK_LEN)
        } else {
            (Kind::Data, self.mode, DATA, DATA_LEN)
        };
        let duration = if from == SINK { Dur::ZERO } else { self.sifs + ACK };
        let psdu = Psdu::One(Mpdu { len, body: Body::Nothing });
        self.channel.load(Frame { kind, from, to, tx: mode.into(), airtime, duration, label: Label(0), psdu });
        self.channel.start(now, from);
        self.on_air += 1;
        self.collided |= self.on_air > 1;
        self.timers.set(end_of(from), now + airtime, Class::End);
    }

    /// Plays until so many exchanges have been granted.
    fn play(&mut self, stations: u32, exchanges: u64) {
        for station in (1..=stations).map(NodeId) {
            let id = self.channel.contention.first(station);
            self.channel.contention.want(SimTime::ZERO, id, false);
        }
        let (mut granted, mut winners, mut receptions) = (0, Vec::new(), Receptions::default());
        while granted < exchanges {
            if self.channel.contention.has_changed_by(|| self.timers.next_at()) {
                let next = self.channel.contention.next_grant();
                self.timers.set(GRANT, next, Class::Start);
            }
            let Some((now, slot)) = self.timers.pop() else { break };
            match slot {
                GRANT => {
                    self.channel.contention.winners(now, &mut winners);
                    granted += winners.len() as u64;
                    for id in winners.drain(..) {
                        let from = self.channel.contention.node(id);
                        self.start(now, from, SINK);
                    }
                }
                RESPONSE => self.start(now, SINK, self.served),
                slot if slot.0 % 2 == 0 => {
                    let from = NodeId((slot.0 - 2) / 2);
                    self.channel.end(now, from, &mut receptions);
                    self.channel.unload(from);
                    self.on_air -= 1;
                    self.ended(now, from);
                }
                slot => {
                    let from = NodeId((slot.0 - 3) / 2);
                    let failed = &mut self.failed[from.index()];
                    *failed = (*failed + 1) % ATTEMPTS;
                    let outcome = if *failed == 0 { Outcome::Discard } else { Outcome::Failure };
                    let id = self.channel.contention.first(from);
                    self.channel.contention.finish(id, outcome, true, now);
                }
            }
        }
    }

    fn ended(&mut self, now: SimTime, from: NodeId) {
        if from == SINK {
            let id = self.channel.contention.first(self.served);
            self.failed[self.served.index()] = 0;
            self.timers.set(timeout_of(self.served), SimTime::NEVER, Class::End);
            self.channel.contention.finish(id, Outcome::Success, true, now);
        } else {
            self.timers.set(timeout_of(from), now + self.timeout, Class::End);
            if !self.collided {
                self.served = from;
                self.timers.set(RESPONSE, now + self.sifs, Class::Start);
            }
            self.collided &= self.on_air > 0;
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let (Some(stations), Some(exchanges)) = (arguments.next(), arguments.next()) else {
        println!("bound: no number of stations and exchanges given; `make bound` gives them");
        return;
    };
    let stations: u32 = stations.parse().expect("stations: a number");
    let exchanges: u64 = exchanges.parse().expect("exchanges: a number");
    Bound::new(stations as usize).play(stations, exchanges);
    println!("{exchanges}");
}
