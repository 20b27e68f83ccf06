//! A mobile and a fixed host, TCP machines both, and the agent between them: 5 ms by radio, 20 ms by wire each way.

use schemes::Place;
use schemes::testing::{Bench, THERE};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use tcp::{Config, Connection, Input, Output, Why};
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{Ipv4, L4, Packet, Tcp};

/// The end behind the radio.
pub const MOBILE: usize = 0;
/// The end behind the wire.
pub const FIXED: usize = 1;
/// The next hop towards the fixed host.
pub const WIRE: NodeId = NodeId(9);

/// The end of a connection, as one side saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    Closed,
    Failed(Why),
}

/// A host.
#[derive(Debug)]
pub struct End {
    pub conn: Connection,
    /// Takes at once what is readable.
    pub is_reading: bool,
    readable: u64,
    pub read: u64,
    pub peer_closed: bool,
    pub over: Option<Over>,
}

/// A packet on one of the two links.
#[derive(Debug)]
pub struct Seen {
    /// The side that the link belongs to.
    pub end: usize,
    /// From that end to the base station, or back.
    pub is_from_end: bool,
    pub packet: Packet,
}

impl Seen {
    pub fn tcp(&self) -> &Tcp {
        self.packet.tcp().unwrap()
    }
}

/// The effect of a link on packets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weather {
    pub loss_percent: u64,
    pub duplicate_percent: u64,
    pub jitter_us: u64,
}

/// The three of them.
#[derive(Debug)]
pub struct Net {
    pub bench: Bench,
    pub ends: [End; 2],
    pub log: Vec<Seen>,
    opener: usize,
    now: SimTime,
    queue: BTreeMap<(SimTime, u64), Seen>,
    made: u64,
    is_cut: [bool; 2],
    lose_to: [u32; 2],
    lose_from: [u32; 2],
    mark_from: [bool; 2],
    mark_to: [bool; 2],
    weather: [Weather; 2],
    dice: u64,
}

fn ends(configs: [Config; 2], opener: usize) -> [End; 2] {
    [MOBILE, FIXED].map(|end| {
        let make = if end == opener { Connection::open } else { Connection::listen };
        let ports = if end == opener { (40_000, 80) } else { (80, 40_000) };
        let conn = make(configs[end].clone(), ports.0, ports.1);
        End { conn, is_reading: true, readable: 0, read: 0, peer_closed: false, over: None }
    })
}

impl Net {
    pub fn new(bench: Bench, configs: [Config; 2], opener: usize) -> Net {
        Net {
            bench,
            ends: ends(configs, opener),
            log: Vec::new(),
            opener,
            now: SimTime::ZERO,
            queue: BTreeMap::new(),
            made: 0,
            is_cut: [false; 2],
            lose_to: [0; 2],
            lose_from: [0; 2],
            mark_from: [false; 2],
            mark_to: [false; 2],
            weather: [Weather::default(); 2],
            dice: 0,
        }
    }

    /// The same weather on both ways of each link from now on.
    pub fn set_weather(&mut self, weather: [Weather; 2], seed: u64) {
        (self.weather, self.dice) = (weather, seed);
    }

    /// Two new connections of the same ports at the same hosts.
    pub fn reopen(&mut self, configs: [Config; 2], opener: usize) {
        (self.ends, self.opener) = (ends(configs, opener), opener);
    }

    pub fn write(&mut self, end: usize, bytes: u64) {
        self.ends[end].conn.handle(self.now, Input::Write(bytes));
    }

    pub fn close(&mut self, end: usize) {
        self.ends[end].conn.handle(self.now, Input::Close);
    }

    /// Reads what waits, and at once from now on.
    pub fn read_all(&mut self, end: usize) {
        let end = &mut self.ends[end];
        end.is_reading = true;
        end.conn.handle(self.now, Input::Read(end.readable - end.read));
        end.read = end.readable;
    }

    /// The next `n` packets to this end get lost.
    pub fn lose_next_to(&mut self, end: usize, n: u32) {
        self.lose_to[end] = n;
    }

    /// The next `n` packets from this end get lost.
    pub fn lose_next_from(&mut self, end: usize, n: u32) {
        self.lose_from[end] = n;
    }

    /// The next packet that may be marked on its way from this end, or to it, is.
    pub fn mark_next(&mut self, end: usize, is_from_end: bool) {
        let marks = if is_from_end { &mut self.mark_from } else { &mut self.mark_to };
        marks[end] = true;
    }

    /// Nothing goes either way on this end's link.
    pub fn cut(&mut self, end: usize) {
        self.is_cut[end] = true;
    }

    pub fn mend(&mut self, end: usize) {
        self.is_cut[end] = false;
    }

    /// SplitMix64.
    fn roll(&mut self) -> u64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.dice;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A packet sets out on a link, and may not get far.
    fn transmit(&mut self, mut seen: Seen) {
        let marks = if seen.is_from_end { &mut self.mark_from } else { &mut self.mark_to };
        if seen.packet.ip.is_ect() && std::mem::take(&mut marks[seen.end]) {
            seen.packet.ip.mark_ce();
        }
        let (end, weather) = (seen.end, self.weather[seen.end]);
        let left = if seen.is_from_end { &mut self.lose_from[end] } else { &mut self.lose_to[end] };
        let is_next = *left > 0;
        *left -= u32::from(is_next);
        let copies = if self.is_cut[end] || is_next || self.roll() % 100 < weather.loss_percent {
            0
        } else {
            1 + u64::from(self.roll() % 100 < weather.duplicate_percent)
        };
        for _ in 0..copies {
            let late = Dur::from_us(self.roll() % (weather.jitter_us + 1));
            self.made += 1;
            let at = self.now + Dur::from_ms([5, 20][end]) + late;
            self.queue.insert((at, self.made), Seen { packet: seen.packet.clone(), ..seen });
        }
        self.log.push(seen);
    }

    fn address(end: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, end as u8, 1)
    }

    /// A packet from an end sets out.
    pub fn put_in(&mut self, end: usize, packet: Packet) {
        self.transmit(Seen { end, is_from_end: true, packet });
    }

    /// A packet that the base station sends goes by its address.
    fn leaves_base_station(&mut self, packet: Packet) {
        let end = usize::from(packet.ip.dst == Net::address(FIXED));
        self.transmit(Seen { end, is_from_end: false, packet });
    }

    fn arrives(&mut self, seen: Seen) {
        let Seen { end, is_from_end, packet } = seen;
        if !is_from_end {
            let ce = packet.ip.is_ce();
            let input = Input::Segment { tcp: packet.tcp().unwrap(), payload: &packet.payload, ce };
            return self.ends[end].conn.handle(self.now, input);
        }
        let by_air = [(Place::FromAir, Some(THERE)), (Place::Transit, Some(WIRE))];
        let by_wire = [(Place::Transit, Some(THERE))];
        let way = if end == MOBILE { &by_air[..] } else { &by_wire };
        if let Some(packet) = self.bench.relay(way, packet) {
            self.leaves_base_station(packet);
        }
    }

    fn poll(&mut self) {
        for at in [MOBILE, FIXED] {
            while let Some(output) = self.ends[at].conn.poll(self.now) {
                let end = &mut self.ends[at];
                match output {
                    Output::Segment { tcp, payload, ect, .. } => {
                        let mut ip = Ipv4 { src: Net::address(at), dst: Net::address(1 - at), ..Ipv4::default() };
                        if ect {
                            ip.set_ect();
                        }
                        let flow = if at == self.opener { FlowId(0) } else { FlowId(1) };
                        self.put_in(at, Packet { ip, l4: L4::Tcp(tcp), payload, flow });
                    }
                    Output::Readable { offset, len } => {
                        assert_eq!(offset, end.readable, "in order, once");
                        end.readable += u64::from(len);
                        if end.is_reading {
                            self.read_all(at);
                        }
                    }
                    Output::PeerClosed => end.peer_closed = true,
                    Output::Closed => end.over = Some(Over::Closed),
                    Output::Failed(why) => end.over = Some(Over::Failed(why)),
                    Output::Connected | Output::SendSpace => {}
                }
            }
        }
        for (packet, toward) in self.bench.take_injected() {
            assert_eq!(toward, schemes::Toward::Route);
            self.leaves_base_station(packet);
        }
        assert_eq!(self.bench.held(), 0, "it keeps numbers, not packets");
    }

    /// The time of the next event.
    pub fn next(&self) -> SimTime {
        let wakeups = self.ends.iter().map(|end| end.conn.next_wakeup());
        let arrival = self.queue.first_key_value().map_or(SimTime::NEVER, |((at, _), _)| *at);
        wakeups.fold(arrival.min(self.bench.next_wakeup()), SimTime::min)
    }

    /// Everything up to and including `until` happens.
    pub fn run_until(&mut self, until: SimTime) {
        for step in 0.. {
            assert!(step < 1_000_000, "it does not end");
            self.poll();
            let next = self.next();
            if next > until {
                break;
            }
            self.now = next;
            self.bench.now = next;
            if self.bench.next_wakeup() == next {
                assert!(self.bench.next_timer());
            } else if let Some(end) = self.ends.iter_mut().find(|end| end.conn.next_wakeup() == next) {
                end.conn.handle(next, Input::Timer);
            } else {
                let (_, seen) = self.queue.pop_first().unwrap();
                self.arrives(seen);
            }
        }
        self.now = until;
        self.bench.now = until;
    }
}
