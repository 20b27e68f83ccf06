//! The duties of every registered scheme to its node, on random histories: it never panics, owns up to every packet it keeps,
//! does the same twice, leaves alone what is not TCP and, if it negotiates, whoever has not answered.
//!
//! The histories are worse than any network's: segments of no connection, announcements of nonsense, reports without
//! order. A new line in the registry is tested by being there.

use engine::{Purpose, Streams};
use mac::exchange::Job;
use mac::{Config, Cue, Fate, Fifo, MacOptions, Msdu, Next, Plan, Solicited, TxQueue, TxReport};
use phy::Standard;
use proptest::prelude::*;
use queue::{Limit, Space, Spec};
use schemes::testing::{Bench, Ground, HERE, OUT, THERE, aggregating, frame, heard, node, segment};
use schemes::{
    Capability, Chosen, Install, Kind, NAMES, NodeFacts, Params, PeerEvent, Place, Powers, Signal, Stack, Toward,
    Value, find,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::Ipv4Addr;
use tcp::{Connection, FlowFacts, Loss, RttSample, SenderHook};
use units::{Bytes, Dbm, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Echo, Flags, L4, NoticeKind, Packet, Packets, Payload, Seq, SeqRange, Udp};

/// The events at a node.
#[derive(Debug, Clone)]
enum Event {
    /// Its host sends a packet.
    Sends(Packet),
    /// A packet comes in by radio and, if it passes, goes up to the host.
    Receives(Packet),
    /// The same packet comes in once more, or with this window: a duplicate ACK or an update, if it is an ACK.
    ReceivesAgain(Option<u16>),
    /// Its host acknowledges the packet that came in last, as a TCP would.
    Acknowledges,
    /// A packet is forwarded.
    Forwards(Packet),
    /// The MAC is done with the packet it has had longest.
    Reports(Fate),
    /// The far end of the last segment the scheme sent answers it as a TCP would, and has this much to say; or it resets.
    Answers { len: u32, resets: bool },
    /// The next timer goes off.
    Timer,
    /// Time passes, in microseconds.
    Waits(u64),
    /// The neighbour announces something: this scheme, with this detail.
    Comes(u32),
    /// The neighbour goes.
    Goes,
    /// The transmit queue holds this many packets of 1500 B, of 50.
    Queues(u32),
}

/// Numbers near each other and near the wrap, half of them where segments of 1000 bytes begin: what happens to one number
/// twice would else hardly happen.
fn number() -> impl Strategy<Value = Seq> {
    prop_oneof![0u32..20_000, (0u32..20).prop_map(|n| n * 1000)].prop_map(|n| Seq(n.wrapping_sub(10_000)))
}

fn tcp() -> impl Strategy<Value = Packet> {
    let flags = prop_oneof![
        8 => Just(Flags::ACK),
        2 => Just(Flags::ACK | Flags::PSH),
        1 => Just(Flags::SYN),
        1 => Just(Flags::SYN | Flags::ACK),
        1 => Just(Flags::FIN | Flags::ACK),
        1 => (0..=Flags::ALL.0).prop_map(Flags),
    ];
    let len = prop_oneof![Just(0u32), Just(1000), 1u32..3000];
    let window = prop_oneof![Just(0u16), Just(10_000), any::<u16>()];
    let options =
        (proptest::option::of((number(), number())), 0u8..20, any::<bool>(), proptest::option::of(number()));
    // Most of it is one connection's.
    let flow = prop_oneof![3 => 0u32..2, 1 => 0u32..4];
    (flow, flags, number(), len, number(), window, options).prop_map(
        |(flow, flags, seq, len, ack, window, (stamps, shift, sack, block))| {
            let mut packet = segment(FlowId(flow), flags, seq, len, ack, window);
            let options = &mut packet.tcp_mut().unwrap().options;
            if flags.has(Flags::SYN) {
                options.push_window_scale(shift);
                if sack {
                    options.push_sack_permitted();
                }
            }
            if let Some((tsval, tsecr)) = stamps {
                options.push_timestamps(tsval.0, tsecr.0);
            }
            if let Some(start) = block {
                let blocks = [
                    SeqRange::new(start, 1000),
                    SeqRange::new(start + 2000, 1000),
                    SeqRange::new(start + 4000, 1000),
                ];
                options.push_sack(&blocks[..1 + usize::from(shift) % 3]);
            }
            packet
        },
    )
}

/// Packets that no scheme has anything to do with.
fn foreign() -> impl Strategy<Value = Packet> {
    let kinds = [NoticeKind::Unreachable, NoticeKind::Experiment1, NoticeKind::Experiment2];
    (0u32..4, 0u32..1500, 0usize..6).prop_map(move |(flow, len, which)| {
        let udp = Udp { src_port: 9, dst_port: 10 };
        if let Some(kind) = which.checked_sub(3) {
            // About a segment of a connection that has no end here.
            let segment = segment(FlowId(flow), Flags::ACK, Seq(0), len, Seq(0), 0);
            return segment.notice_of(Ipv4Addr::new(10, 0, 0, 9), kinds[kind], 0).unwrap();
        }
        let l4 = [L4::Udp(udp), L4::Echo(Echo::default()), L4::Opaque][which];
        Packet { l4, payload: Payload::stream(0, len), ..segment(FlowId(flow), Flags(0), Seq(0), 0, Seq(0), 0) }
    })
}

fn event() -> impl Strategy<Value = Event> {
    let fate = prop_oneof![
        6 => Just(Fate::Delivered),
        2 => Just(Fate::GivenUp),
        1 => Just(Fate::QueueFull),
        1 => Just(Fate::Expired),
        1 => Just(Fate::Attempt),
    ];
    prop_oneof![
        6 => tcp().prop_map(Event::Sends),
        6 => tcp().prop_map(Event::Receives),
        4 => proptest::option::of(any::<u16>()).prop_map(Event::ReceivesAgain),
        2 => Just(Event::Acknowledges),
        1 => tcp().prop_map(Event::Forwards),
        6 => fate.prop_map(Event::Reports),
        4 => (prop_oneof![Just(0u32), Just(1000)], prop::bool::weighted(0.1))
            .prop_map(|(len, resets)| Event::Answers { len, resets }),
        1 => Just(Event::Timer),
        2 => (0u64..300_000).prop_map(Event::Waits),
        1 => any::<u32>().prop_map(Event::Comes),
        1 => (0u32..5).prop_map(Event::Comes),
        1 => Just(Event::Goes),
        1 => (0u32..=50).prop_map(Event::Queues),
    ]
}

fn history() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 1..120)
}

/// Any of the parameters a scheme declares, by a number each.
fn params(scheme: &Chosen<Install>, choices: u64) -> Params {
    let mut params = scheme.params.clone();
    let mut rest = choices;
    for param in scheme.info.params {
        let (n, half) = (rest as usize, rest.is_multiple_of(2));
        rest = rest.rotate_right(7);
        let value = match param.kind {
            Kind::Choice(words) => Value::Choice(words[n % words.len()]),
            Kind::Bool => Value::Bool(half),
            Kind::Int { min, max } => Value::Int(if half { min } else { max }),
            Kind::Float { min, max } => Value::Float(if half { min } else { max }),
            Kind::Time { min, max } => Value::Time(if half { min } else { max }),
            Kind::Size { min, max } => Value::Size(if half { min } else { max }),
            Kind::Power { min, max } => Value::Power(if half { min } else { max }),
        };
        params.set(param.key, value);
    }
    params
}

/// The neighbour is an access point that hears its stations at these levels.
#[derive(Debug)]
struct Levels;

impl Powers for Levels {
    fn mean(&self, from: NodeId, _: NodeId) -> Dbm {
        Dbm(-60.0 - f64::from(from.0))
    }

    fn stations(&self, _: NodeId) -> Vec<NodeId> {
        vec![HERE, NodeId(2)]
    }
}

/// A station, a station that forwards, and an access point, with some receiver's policy.
fn nodes(choices: u64) -> [NodeFacts<'static>; 3] {
    let receiver =
        [None, Some("every"), Some("delayed-ack"), Some("dynamic-delayed-ack")][(choices >> 60) as usize % 4];
    // A node that forwards is neither end of what it forwards.
    let forwarder = Ipv4Addr::new(10, 0, 0, 9);
    [(false, Some(THERE)), (true, Some(THERE)), (true, None)].map(|(forwards, access_point)| {
        let station = node(HERE, 3);
        let address = if forwards { forwarder } else { station.address };
        NodeFacts { receiver, forwards, address, access_point, ..station }
    })
}

/// A scheme at each kind of node where it sits: with parameters drawn at will, or with its defaults where those contradict
/// each other.
fn stacks(id: &str, choices: u64) -> impl Iterator<Item = Stack> {
    let defaults = find(id).unwrap();
    let drawn = Chosen { params: params(&defaults, choices), ..defaults.clone() };
    nodes(choices).into_iter().filter_map(move |node| {
        let ground = || Ground { powers: Some(Box::new(Levels)), ..Ground::new(node) };
        let (mut one, mut other) = (ground(), ground());
        match one.install(&drawn) {
            Ok(sits) => return sits.then_some(one.stack),
            // Without agreements of block acknowledgment it may not be at all.
            Err(_) if other.install(&defaults).is_err() => {}
            Err(_) => return Some(other.stack).filter(|stack| !stack.claims.is_empty()),
        }
        let mut third = ground().with_mac(aggregating(Standard::Ax));
        third.install(&drawn).unwrap().then_some(third.stack)
    })
}

/// Schemes of which some part reads this, at the nodes of [`stacks`].
fn that_read(signal: Signal, choices: u64) -> impl Iterator<Item = (&'static str, Stack)> {
    let all = NAMES.iter().flat_map(move |id| stacks(id, choices).map(move |stack| (*id, stack)));
    all.filter(move |(_, stack)| stack.claims[0].reads(signal))
}

/// The host's sender: half of all numbers are in flight, and its window is one segment.
fn facts() -> FlowFacts {
    let (snd_una, snd_nxt, cwnd) = (Seq(0), Seq(10_000), Bytes(1000));
    let idle = Connection::listen(tcp::Config::default(), 1, 2).facts();
    FlowFacts { snd_una, snd_nxt, snd_max: snd_nxt, cwnd, mss: cwnd, ..idle }
}

/// A node's life: an agent on its bench, and what its MAC has to report on.
struct Node {
    bench: Bench,
    scheme: &'static str,
    /// Handed to the MAC, in order, with serials.
    queued: Vec<(Packet, u64)>,
    /// Its frame sequences, with what the scheme puts around them.
    plan: Box<dyn Plan>,
    /// The hook of its schemes on a TCP sender of its own.
    hook: Option<Box<dyn SenderHook>>,
    /// The last packet received.
    received: Option<Packet>,
    /// Segments the scheme sent, not answered yet.
    unanswered: Vec<Packet>,
    /// The beginnings of the streams of answers.
    begins: BTreeMap<FlowId, Seq>,
    log: String,
    /// Packets injected and commands given.
    asked: usize,
    /// Packets that passed some place: the serial of the last.
    passed: u64,
    /// The MAC options of its last frame.
    options: MacOptions,
    /// The numbers that the neighbour says in cues, now and once it has what was loaded last.
    numbers: (u8, u8),
    line: Line,
}

/// A transmit queue with what the scheme puts around it, and an arena of its own: its MAC serves one MSDU after the other.
struct Line {
    queue: Box<dyn TxQueue>,
    all: Packets,
    in_service: Option<Msdu>,
}

impl Line {
    fn new(stack: &mut Stack) -> Line {
        let draws = Streams::new(1).get(Purpose::Queue, 0);
        let fifo = Fifo::new(&Spec::drop_tail(Limit::Packets(5)), Bytes(1500), draws);
        Line { queue: stack.queue(Box::new(fifo)), all: Packets::default(), in_service: None }
    }

    fn end(&mut self, msdu: Msdu) {
        self.all.free(msdu.pkt, DropWhy::Delivered);
    }

    fn push(&mut self, now: SimTime, packet: Packet) {
        let pkt = self.all.put(packet);
        let msdu = Msdu::new(now, pkt, &self.all, THERE, 0);
        if let Err(lost) = self.queue.push(now, msdu, &mut self.all) {
            self.end(lost);
        }
        self.dropped();
    }

    fn dropped(&mut self) {
        while let Some(msdu) = self.queue.dropped(&self.all) {
            self.end(msdu);
        }
    }

    /// One attempt of what is in service; what it was, for the log.
    fn serve(&mut self, now: SimTime, fate: Fate) -> Option<(u64, Fate)> {
        while let Some(msdu) = self.queue.expired(now, &self.all) {
            self.end(msdu);
        }
        let next = self.in_service.take().or_else(|| self.queue.pop(now, &mut self.all));
        self.dropped();
        let mut msdu = next?;
        let serial = msdu.serial;
        if matches!(fate, Fate::GivenUp | Fate::Attempt) {
            msdu.attempts = msdu.attempts.saturating_add(1);
            msdu.failures.0 = msdu.failures.0.saturating_add(1);
            match self.queue.failed(now, msdu, fate == Fate::GivenUp, &self.all) {
                Next::Again(msdu) => self.in_service = Some(msdu),
                Next::Yield => {}
                Next::GiveUp(msdu) => self.end(msdu),
            }
        } else {
            self.end(msdu);
        }
        Some((serial, fate))
    }

    /// The node dies: nothing is left of what it had.
    fn close(&mut self, now: SimTime) -> u64 {
        let left = self.queue.drain(now).into_iter().chain(self.in_service.take());
        left.for_each(|msdu| _ = self.all.free(msdu.pkt, DropWhy::NodeDown));
        self.all.live()
    }
}

impl Node {
    fn new(mut stack: Stack) -> Node {
        let (scheme, plan, hook) = (stack.claims[0].scheme, stack.plan(), stack.sender_hook(OUT));
        let line = Line::new(&mut stack);
        Node {
            line,
            bench: Bench::new(stack),
            scheme,
            queued: Vec::new(),
            plan,
            hook,
            received: None,
            unanswered: Vec::new(),
            begins: BTreeMap::new(),
            log: String::new(),
            asked: 0,
            passed: 0,
            options: MacOptions::within(0),
            numbers: (u8::MAX, u8::MAX),
        }
    }

    fn pass(&mut self, at: Place, packet: Packet) -> Option<Packet> {
        self.passed += 1;
        let passed = self.bench.pass(at, packet);
        _ = writeln!(self.log, "{at:?} {passed:?}");
        passed
    }

    /// Up to the MAC.
    fn leaves(&mut self, at: Place, packet: Packet) {
        let serial = self.passed + 1;
        if let Some(packet) = self.pass(at, packet).and_then(|packet| self.pass(Place::ToAir, packet)) {
            let report = self.reported(Fate::Attempt, serial);
            self.options = self.bench.options_out(&packet, &report);
            self.line.push(self.bench.now, packet.clone());
            self.queued.push((packet, self.bench.serial));
        }
    }

    fn receives(&mut self, packet: Packet) {
        self.received = Some(packet.clone());
        // With what its own last frame carried: another node's would look like it. `ToHost` is the second place it passes.
        self.bench.options_in(&packet, self.passed + 2, &self.options);
        self.answers_frames();
        self.loads_block_acks(&packet);
        self.acknowledged(&packet);
        let up = self.pass(Place::FromAir, packet).and_then(|packet| self.pass(Place::ToHost, packet));
        if let (Some(hook), Some(tcp)) = (&mut self.hook, up.as_ref().and_then(Packet::tcp)) {
            let facts = facts();
            hook.on_segment(tcp, &facts);
            while let Some(range) = hook.corrupted(&facts) {
                _ = writeln!(self.log, "{range:?} {:?}", hook.in_repair(range, &facts));
            }
        }
    }

    fn live(&mut self, event: &Event) {
        match event.clone() {
            Event::Sends(packet) => self.leaves(Place::FromHost, packet),
            Event::Forwards(packet) => self.leaves(Place::Transit, packet),
            Event::Receives(packet) => self.receives(packet),
            Event::ReceivesAgain(window) => {
                if let Some(mut packet) = self.received.clone() {
                    if let (Some(window), Some(tcp)) = (window, packet.tcp_mut()) {
                        tcp.window = window;
                    }
                    self.receives(packet);
                }
            }
            Event::Acknowledges => {
                if let Some((tcp, end)) = self.received.as_ref().and_then(|p| Some((*p.tcp()?, p.tcp_range()?.end))) {
                    let flow = self.received.as_ref().map_or(FlowId(0), |packet| packet.flow.reverse());
                    self.leaves(Place::FromHost, segment(flow, Flags::ACK, tcp.ack, 0, end, 65_535));
                }
            }
            Event::Reports(fate) => {
                let served = self.line.serve(self.bench.now, fate);
                _ = writeln!(self.log, "{served:?}");
                self.report(fate);
            }
            Event::Answers { len, resets } => self.answer(len, resets),
            Event::Timer => _ = self.bench.next_timer(),
            Event::Waits(us) => self.bench.now += Dur::from_us(us),
            Event::Comes(detail) => {
                self.bench.peer(THERE, PeerEvent::Up(&[Capability { scheme: self.scheme, detail }]));
            }
            Event::Goes => self.bench.peer(THERE, PeerEvent::Down),
            Event::Queues(entries) => {
                let bytes = |packets: u32| Bytes(1500) * u64::from(packets);
                self.bench.set_room(Space { free: bytes(50 - entries), used: bytes(entries), entries });
            }
        }
        let serials = self.bench.injected_serials.clone();
        for ((packet, toward), serial) in self.bench.take_injected().into_iter().zip(serials) {
            self.asked += 1;
            _ = writeln!(self.log, "{toward:?} {packet:?}");
            if packet.tcp().is_some() {
                self.unanswered.push(packet.clone());
            }
            // What it sends by radio is reported on like anything else.
            if matches!(toward, Toward::Air(_) | Toward::Onward(Place::ToAir, _)) {
                self.queued.push((packet, serial));
            }
        }
        let commands = std::mem::take(&mut self.bench.commands);
        self.asked += commands.len();
        _ = writeln!(self.log, "{commands:?} {}", self.bench.held());
    }

    /// Its own sender takes what came for an ACK of its data, with some RTT, and for a loss of what follows.
    fn acknowledged(&mut self, packet: &Packet) {
        let (Some(hook), Some(tcp)) = (&mut self.hook, packet.tcp().filter(|_| packet.flow == OUT.reverse())) else {
            return;
        };
        let next = SeqRange::new(tcp.ack, 1000);
        let idle = Connection::listen(tcp::Config::default(), 1, 2).facts();
        let facts = FlowFacts { snd_una: tcp.ack - 1000, snd_nxt: next.end, snd_max: next.end, ..idle };
        hook.on_segment(tcp, &facts);
        let rtt = Some(Dur::from_ms(100 + u64::from(tcp.seq.0 % 8) * 50));
        let now = self.bench.now;
        let taken = hook.rtt_sample(RttSample { now, ack: tcp.ack, timer: rtt, controller: rtt }, &facts);
        let ack = tcp::Ack { now, rtt: taken.controller, flags: tcp.flags, ..heard(tcp.ack.0, 1000) };
        hook.on_ack(&ack, &facts);
        let threshold = hook.dup_ack_threshold(3, &facts);
        let verdict = hook.loss(Loss::Congestion, next, &facts);
        hook.on_timeout(&facts);
        _ = writeln!(self.log, "{taken:?} {threshold} {verdict:?}");
    }

    /// Its MAC responds to a frame of each kind from the neighbour, for whom something is at the head of its line.
    fn answers_frames(&mut self) {
        let plan = &mut self.plan;
        let config = Config::of(Standard::B, Standard::B.modes()[0]);
        let (mode, psdu, sifs) = (config.data_rate, Bytes(100), config.timing.sifs);
        let solicits = Solicited::ACK;
        let (asks_rts, spares_rts, is_protected) = (false, false, false);
        let job = Job { to: THERE, psdu, mode, code: None, solicits, asks_rts, spares_rts, is_protected };
        for kind in [mac::Kind::Data, mac::Kind::Rts, mac::Kind::Ack, mac::Kind::Cts] {
            let duration = sifs + phy::airtime(mode, mac::frame::ACK);
            let heard = frame(kind, (THERE, HERE), mode, psdu, duration);
            let Some(response) = plan.respond(&config, &heard, true) else { continue };
            let own = frame(response.kind, (HERE, THERE), mode, psdu, response.duration);
            let reply = plan.reply(&config, &own, &job);
            let length = reply.map(|exchange| exchange.length());
            _ = writeln!(self.log, "{response:?} {length:?}");
        }
        // An opportunity is lent: to the neighbour, and by it.
        let (left, lent) = (Dur::from_ms(1), Dur::from_ms(20));
        let granted = [plan.reverses_with(THERE).then(|| plan.keeps_free(THERE)), Some(plan.grant(THERE, left))];
        let block_ack = frame(mac::Kind::BlockAck, (HERE, THERE), mode, mac::frame::BLOCK_ACK, lent);
        let burst = plan.burst(&config, &block_ack, &job).map(|exchange| exchange.length());
        _ = writeln!(self.log, "{granted:?} {burst:?}");
    }

    /// Data come that a Block Ack answers, and one of the neighbour's, with the same load. Whether the neighbour had the last one, and has more
    /// data, depends on the packet.
    fn loads_block_acks(&mut self, packet: &Packet) {
        let Some(tcp) = packet.tcp() else { return };
        if tcp.seq.0.is_multiple_of(2) {
            self.numbers.0 = self.numbers.1;
        }
        let cue = Cue { more_data: !tcp.flags.has(Flags::PSH), number: self.numbers.0 };
        let room = Bytes(u64::from(tcp.ack.0 % 100));
        let load = self.bench.load(Some(cue).filter(|_| tcp.window > 5_000), room);
        if let Some(([first, n, ..], _)) = load.as_ref().map(|(bytes, packets)| (&bytes[..], packets)) {
            self.numbers.1 = first.wrapping_add(*n).wrapping_sub(1);
        }
        _ = writeln!(self.log, "{load:?} {:?} {:?}", self.bench.room(), self.bench.cue(true));
        for packet in self.bench.unload(load) {
            self.pass(Place::FromAir, packet).and_then(|packet| self.pass(Place::ToHost, packet));
        }
    }

    /// An answer comes by the way of what is forwarded. (Most of what else comes belongs to no connection.)
    fn answer(&mut self, len: u32, resets: bool) {
        let Some(sent) = self.unanswered.pop() else { return };
        let (tcp, end, flow) = (*sent.tcp().unwrap(), sent.tcp_range().unwrap().end, sent.flow.reverse());
        let opens = tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK);
        let seq = if tcp.flags.has(Flags::ACK) { tcp.ack } else { Seq(5_000) };
        if tcp.flags.has(Flags::SYN) {
            self.begins.insert(flow, seq + u32::from(opens));
        }
        let begin = self.begins.get(&flow).copied().unwrap_or(seq);
        let (flags, len) = match (resets, opens) {
            (true, _) => (Flags::RST | Flags::ACK, 0),
            (false, true) => (Flags::SYN | Flags::ACK, 0),
            (false, false) => (Flags::ACK, len),
        };
        let mut packet = segment(flow, flags, seq, len, end, 65_535);
        packet.payload = Payload::stream(u64::from(seq - begin), len);
        self.leaves(Place::Transit, packet);
    }

    fn reported(&self, fate: Fate, serial: u64) -> TxReport {
        let now = self.bench.now;
        TxReport {
            fate,
            serial,
            to: THERE,
            attempts: 1,
            ppdu: None,
            in_order: None,
            enqueued: SimTime::ZERO,
            head: now,
            first: now,
            done: now,
            airtime: Dur::ZERO,
            category: 0,
        }
    }

    fn report(&mut self, fate: Fate) {
        if self.queued.is_empty() {
            return;
        }
        let (packet, serial) = self.queued[0].clone();
        let report = self.reported(fate, serial);
        let options = self.bench.options_out(&packet, &report);
        self.bench.options_in(&packet, 0, &options);
        self.bench.report_with(&packet, &report);
        if fate == Fate::Expired {
            self.bench.lost_on_wire(&packet, 0); // it might as well have gone by a wire
        }
        if fate != Fate::Attempt {
            self.queued.remove(0);
        }
    }

    fn counters(&mut self) -> Vec<(&'static str, u64)> {
        let mut all = Vec::new();
        self.bench.agent_mut().counters(&mut |name, value| all.push((name, value)));
        all
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_balance_the_books_and_replay(history in history(), choices in any::<u64>()) {
        for id in NAMES {
            let ends: Vec<_> = stacks(id, choices).zip(stacks(id, choices)).collect();
            prop_assert!(!ends.is_empty(), "{} sits at no kind of node", id);
            for (one, other) in ends {
                let (mut one, mut other) = (Node::new(one), Node::new(other));
                for event in &history {
                    one.live(event);
                    other.live(event);
                    prop_assert_eq!(&one.log, &other.log, "{}", id);
                    one.log.clear();
                    other.log.clear();
                }
                prop_assert_eq!(one.counters(), other.counters());
                // `held` compares what the agent says with the arena.
                one.bench.release();
                prop_assert_eq!(one.bench.held(), 0, "{} keeps packets of a dead node", id);
                prop_assert_eq!(one.line.close(one.bench.now), 0, "{} has lost an MSDU", id);
            }
        }
    }

    #[test]
    fn what_is_not_tcp_passes_a_scheme_of_tcp_as_it_is(
        history in history(),
        foreign in prop::collection::vec(foreign(), 1..20),
        choices in any::<u64>(),
    ) {
        for (id, stack) in that_read(Signal::TcpHeader, choices) {
            let mut node = Node::new(stack);
            node.bench.pair();
            history.iter().for_each(|event| node.live(event));
            let counters = node.counters();
            for packet in &foreign {
                for at in Place::ALL {
                    let passed = node.bench.pass(at, packet.clone());
                    prop_assert_eq!(passed.as_ref(), Some(packet), "{} {:?}", id, at);
                }
                for fate in [Fate::Attempt, Fate::Delivered, Fate::GivenUp, Fate::QueueFull] {
                    node.bench.report(packet, fate);
                }
            }
            prop_assert_eq!(node.bench.take_injected(), vec![]);
            prop_assert_eq!(node.counters(), counters, "{}", id);
        }
    }

    #[test]
    fn a_scheme_that_negotiates_does_nothing_without_a_partner(history in history(), choices in any::<u64>()) {
        for (id, stack) in that_read(Signal::Capabilities, choices) {
            let mut node = Node::new(stack);
            // Somebody else has it, and the neighbour has something else.
            let own = Capability { scheme: id, detail: 1 };
            node.bench.peer(NodeId(2), PeerEvent::Up(&[own]));
            node.bench.peer(THERE, PeerEvent::Up(&[Capability { scheme: "other", detail: 1 }]));
            let counters = node.counters();
            for event in history.iter().filter(|event| !matches!(event, Event::Comes(_))) {
                let packet = match event {
                    Event::Sends(packet) | Event::Receives(packet) | Event::Forwards(packet) => Some(packet),
                    _ => None,
                };
                if let Some(packet) = packet {
                    for at in Place::ALL {
                        let passed = node.bench.pass(at, packet.clone());
                        prop_assert_eq!(passed.as_ref(), Some(packet), "{} {:?}", id, at);
                    }
                }
                node.live(event);
                prop_assert_eq!(node.bench.held(), 0);
            }
            prop_assert_eq!(node.asked, 0);
            prop_assert!(!node.bench.next_timer(), "{} has set a timer", id);
            prop_assert_eq!(node.counters(), counters, "{}", id);
        }
    }
}

#[test]
fn the_histories_reach_what_the_schemes_do() {
    // A property over histories in which nothing happens would hold of anything. Every counter of every scheme moves.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (histories, mut moved) = (history(), std::collections::BTreeMap::new());
    let mut waiting = NAMES.to_vec();
    // As many as it takes: what one scheme needs is rarer the more the histories know to do for others. A scheme of which all moved waits no more.
    for choices in 0..10_000u64 {
        let history = proptest::strategy::ValueTree::current(&histories.new_tree(&mut runner).unwrap());
        waiting.retain(|id| {
            for stack in stacks(id, choices << 58 | choices) {
                let mut node = Node::new(stack);
                node.bench.pair();
                history.iter().for_each(|event| node.live(event));
                for (name, value) in node.counters() {
                    *moved.entry((*id, name)).or_insert(0) += value;
                }
            }
            moved.iter().any(|((of, _), value)| of == id && *value == 0)
        });
        if waiting.is_empty() {
            return;
        }
    }
    let still: Vec<_> = moved.iter().filter(|(_, value)| **value == 0).collect();
    panic!("{still:?} of {moved:?}");
}
