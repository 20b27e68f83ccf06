//! The sending station's half: ACKs out of the MAC's reports.

use crate::flow_map::FlowMap;
use crate::passing::keep_later;
use crate::window::{Answer, Scale, Show, Shown};
use crate::{Cx, Key, Toward};
use tcp::SackBlocks;
use tcp::ack::{self, AckPolicy, AckTiming, Arrival};
use units::{Dur, FlowId, SimTime};
use wire::{DropWhy, Flags, Packet, Pkt, Seq, SeqRange, Tcp};

/// An acknowledgment as its sender was told it: the ACK number, and the window as the header shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub ack: Seq,
    pub window: u16,
}

impl Told {
    /// Returns the one that acknowledges more; of equals the second.
    pub(crate) fn later(a: Option<Told>, b: Option<Told>) -> Option<Told> {
        match (a, b) {
            (Some(a), Some(b)) if b.ack.lt(a.ack) => Some(a),
            (a, b) => b.or(a),
        }
    }
}

/// The agent's knowledge of the receiver of one flow of data that it transmits.
#[derive(Debug)]
struct Generator {
    /// Everything before this number has reached the receiving station, or was acknowledged by its host. `None` until
    /// the connection's numbers are known: from a SYN-ACK sent here, or an ACK number heard.
    delivered: Option<Seq>,
    /// The ranges delivered beyond a hole, one for each segment, in order of delivery.
    beyond: Vec<SeqRange>,
    /// The same as blocks, if ACKs made here have them.
    blocks: SackBlocks,
    /// The data's sender, and its receiver, permit SACK.
    permits: (bool, bool),
    /// A hole was reported; no further duplicates until all that had been handed to the MAC by then is delivered.
    run_until: Option<Seq>,
    /// One past the highest number handed to the MAC; `None` before the first.
    highest: Option<Seq>,
    /// The receiver's next sequence number, as far as it has been heard: what its own ACK would carry. `None` at a relay by which its SYN
    /// did not go, until it hears more.
    next_seq: Option<Seq>,
    /// The receiver's window in bytes, as the sender was told last.
    window: u32,
    scale: Scale,
    /// The window that the sender was told, where that is bounded by this node's own buffer.
    shown: Shown,
    /// The largest payload seen, which is the least a bounded window tells, and the length of its datagram.
    full: (u32, u32),
    /// It has carried data and is not over: it has a share of the buffer.
    is_active: bool,
    /// TSval of the receiver's last segment. Never invented: PAWS would discard what follows. @RFC7323 sec. 5
    tsval: Option<u32>,
    policy: Box<dyn AckPolicy>,
    /// Segments delivered in order, for the policy.
    segments: u64,
    /// The answer to the last packet delivered, while its ACK is delayed.
    waiting: Option<Answer>,
}

/// The bound on the windows told to senders, beside what the receivers advertise. @KLI06 sec. 3.3
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Advertise {
    /// The free room of the transmit queue.
    FreeBuffer,
    /// The same, divided by the number of flows.
    Share,
}

impl Advertise {
    /// The most that the sender of one of `flows` may be told, in bytes. A window counts payload and a queue whole datagrams: `full` has
    /// both of a full segment.
    fn bound(self, flows: u32, full: (u32, u32), cx: &Cx) -> u32 {
        let share = match self {
            Advertise::FreeBuffer => 1,
            Advertise::Share => u64::from(flows.max(1)),
        };
        let payload = cx.room().free.0 * u64::from(full.0) / u64::from(full.1.max(1));
        u32::try_from(payload / share).unwrap_or(u32::MAX)
    }
}

/// The ways in which ACKs are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ways {
    /// "follow", or a receiver policy.
    pub strategy: &'static str,
    /// A stale number on reverse data is cleared, not raised.
    pub clears_stale: bool,
    /// ACKs made here have SACK blocks.
    pub makes_sack: bool,
}

/// All flows of data this station transmits to partners, and what was counted.
#[derive(Debug)]
pub(crate) struct Generators {
    ways: Ways,
    /// `None`: senders are told whatever their receivers say.
    advertises: Option<Advertise>,
    flows: FlowMap<Generator>,
    /// The number of active flows.
    active: u32,
    windows_lowered: u64,
    acks_made: u64,
    duplicates_made: u64,
    sacks_made: u64,
    segments_delivered: u64,
    segments_acknowledged: u64,
    stale_piggybacks: u64,
}

impl Generators {
    pub(crate) fn new(ways: Ways, advertise: &str) -> Generators {
        let advertises = match advertise {
            "free-buffer" => Some(Advertise::FreeBuffer),
            "free-buffer-share" => Some(Advertise::Share),
            _ => None,
        };
        Generators {
            ways,
            advertises,
            flows: FlowMap::default(),
            active: 0,
            windows_lowered: 0,
            acks_made: 0,
            duplicates_made: 0,
            sacks_made: 0,
            segments_delivered: 0,
            segments_acknowledged: 0,
            stale_piggybacks: 0,
        }
    }

    /// The generator of `flow`, whose receiver sits behind a partner that announced `policy`.
    #[inline(always)]
    fn generator(&mut self, flow: FlowId, policy: u32) -> &mut Generator {
        let strategy = self.ways.strategy;
        self.flows.get_or_insert_with(flow, || Generator::new(strategy, policy))
    }

    /// A segment is about to be queued for a partner.
    pub(crate) fn sends(&mut self, packet: &Packet, policy: u32) {
        let (Some(tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return };
        if range.is_empty() || tcp.flags.has(Flags::RST) {
            return;
        }
        let is_bounded = self.advertises.is_some() && packet.payload.len > 0;
        let generator = self.generator(packet.flow, policy);
        let mut begins = false;
        if is_bounded {
            generator.full = generator.full.max((packet.payload.len, packet.ip_len().0 as u32));
            begins = !std::mem::replace(&mut generator.is_active, true);
        }
        if tcp.flags.has(Flags::SYN) {
            generator.scale.saw_senders_syn(tcp);
            // A SYN-ACK opens the numbers; a SYN is acknowledged by the peer's SYN-ACK alone.
            generator.delivered = tcp.flags.has(Flags::ACK).then_some(range.start);
            generator.highest = Some(range.end);
            generator.beyond.clear();
            generator.blocks = SackBlocks::default();
            generator.permits.0 = tcp.options.sack_permitted();
            generator.run_until = None;
            generator.waiting = None;
        }
        generator.highest = Some(latest(generator.highest, range.end));
        self.active += u32::from(begins);
    }

    /// Bounds the window of `pkt`, a segment of the receiver made here or passing, by this node's own buffer, if that is to bound it. Ends
    /// it if it would tell the sender nothing and look like a duplicate.
    #[inline]
    fn bound(&mut self, flow: FlowId, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        match self.advertises {
            None => Some(pkt),
            Some(advertises) => self.bound_by(advertises, flow, pkt, cx),
        }
    }

    fn bound_by(&mut self, advertises: Advertise, flow: FlowId, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        // The window of a SYN is never scaled, and the first flight is small.
        if !cx.get(&pkt).tcp().is_some_and(|tcp| tcp.flags.has(Flags::ACK) && !tcp.flags.has(Flags::SYN)) {
            return Some(pkt);
        }
        let Some(generator) = self.flows.get_mut(flow) else { return Some(pkt) };
        let most = advertises.bound(self.active, generator.full, cx);
        match generator.shown.show(cx.get(&pkt), most, generator.full.0, &generator.scale) {
            Show::Window(field) | Show::Again(field) => {
                if let Some(header) = cx.get_mut(&pkt).tcp_mut() {
                    self.windows_lowered += u64::from(field < header.window);
                    header.window = field;
                }
                Some(pkt)
            }
            Show::Nothing => {
                cx.drop(pkt, DropWhy::Suppressed);
                None
            }
        }
    }

    /// Hands ACKs to the sender of the segment that this is the answer to.
    fn tell(&mut self, answer: &Answer, copies: u32, cx: &mut Cx) {
        let flow = answer.flow.reverse();
        for _ in 0..copies {
            let made = self.flows.get_mut(flow).and_then(|generator| generator.ack(answer, cx.now));
            let Some(made) = made.map(|ack| cx.make(ack)) else { return };
            if let Some(ack) = self.bound(flow, made, cx) {
                cx.inject(ack, Toward::Route);
            }
        }
    }

    /// The same, for the sender of `segment`.
    fn answer(&mut self, segment: &Packet, copies: u32, cx: &mut Cx) {
        if let Some(answer) = Answer::to(segment) {
            self.tell(&answer, copies, cx);
        }
    }

    /// All of a flow has been delivered, or it was reset.
    fn over(&mut self, flow: FlowId) {
        if let Some(generator) = self.flows.get_mut(flow)
            && std::mem::take(&mut generator.is_active)
        {
            self.active -= 1;
        }
    }

    /// A segment from a partner: what its host says of the flow that runs the other way.
    pub(crate) fn hears(&mut self, pkt: Pkt, policy: u32, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return Some(pkt) };
        let flow = packet.flow.reverse();
        if tcp.flags.has(Flags::RST) {
            self.over(flow);
        }
        let generator = self.generator(flow, policy);
        if tcp.flags.has(Flags::SYN) {
            generator.scale.saw_receivers_syn(tcp);
            generator.permits.1 = tcp.options.sack_permitted();
            generator.next_seq = Some(range.end);
            generator.window = generator.scale.bytes(tcp);
        }
        generator.next_seq = Some(latest(generator.next_seq, range.end));
        later(&mut generator.tsval, tcp.options.timestamps());
        if !tcp.flags.has(Flags::ACK) || tcp.flags.any(Flags::RST) {
            return Some(pkt);
        }
        let window = generator.scale.bytes(tcp);
        let delivered = generator.delivered.unwrap_or(tcp.ack);
        if delivered.le(tcp.ack) {
            generator.window = window;
            if generator.delivered != Some(tcp.ack) {
                generator.advance_to(tcp.ack);
            }
            return self.bound(flow, pkt, cx);
        }
        let is_pure = packet.pure_ack().is_some();
        if is_pure && generator.scale.field(window) == generator.scale.field(generator.window) {
            // Its host had not seen yet what was acknowledged in its name when it wrote this. TCP ignores a number that is
            // acknowledged already.
        } else {
            // The number is raised; the window stands, as the partner's half takes it to (`filter`).
            generator.window = window;
            self.stale_piggybacks += u64::from(!is_pure);
            if let Some(header) = cx.get_mut(&pkt).tcp_mut() {
                if self.ways.clears_stale && !is_pure {
                    header.flags = header.flags.without(Flags::ACK);
                } else {
                    header.ack = delivered;
                }
            }
        }
        self.bound(flow, pkt, cx)
    }

    /// The acknowledgment that the sender of `flow` was told last.
    pub(crate) fn told(&self, flow: FlowId) -> Option<Told> {
        let generator = self.flows.get(flow)?;
        let window = generator.shown.written().unwrap_or(generator.scale.field(generator.window));
        Some(Told { ack: generator.delivered?, window })
    }

    /// SUCCESS: the MAC has delivered a segment. @KLI06 sec. 3.2.3
    pub(crate) fn delivered(&mut self, packet: &Packet, cx: &mut Cx) {
        let (Some(tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return };
        let Some(generator) = self.flows.get_mut(packet.flow) else { return };
        let opens = tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK);
        if range.is_empty() || opens || tcp.flags.has(Flags::RST) {
            return;
        }
        self.segments_delivered += 1;
        // While the window is known to be closed the host may refuse what arrives: its own answer counts.
        if generator.window == 0 {
            return;
        }
        // Beyond a hole, or old: the host's own duplicate ACK says so, once it has crossed the air.
        let joined = generator.take(range);
        if joined == 0 {
            if self.ways.makes_sack && generator.reports(range) {
                generator.waiting = None;
                self.sacks_made += 1;
                self.answer(packet, 1, cx);
            }
            return;
        }
        self.segments_acknowledged += joined;
        generator.segments += 1;
        // A generator of ACKs times no segments: quick ACKs know no round trip, and the initial RTO.
        let (now, push, rto) = (cx.now, tcp.flags.has(Flags::PSH), Dur::from_secs(1));
        let arrival = Arrival { number: generator.segments, len: packet.payload.len, push, now, srtt: None, rto };
        // What every receiver acknowledges at once. @RFC5681 sec. 4.2
        let at_once = joined > 1 || packet.payload.len == 0 || tcp.flags.has(Flags::FIN);
        match if at_once { AckTiming::Now } else { generator.policy.on_data(&arrival) } {
            AckTiming::Now => {
                self.acks_made += 1;
                generator.waiting = None;
                if tcp.flags.has(Flags::FIN) {
                    self.over(packet.flow);
                }
                self.answer(packet, 1, cx);
            }
            AckTiming::AfterAll => {
                cx.timer(key(packet.flow), cx.now);
                generator.waiting = Answer::to(packet);
            }
            // An agent's timers cannot be asked: the first that waits says how long.
            AckTiming::Within(delay) | AckTiming::NoLaterThan(delay) => {
                if generator.waiting.is_none() {
                    cx.timer(key(packet.flow), cx.now + delay);
                }
                generator.waiting = Answer::to(packet);
            }
        }
    }

    /// FAILURE: the MAC has dropped a segment. Three duplicate ACKs, for the first loss of a run only. @KLI06 sec. 3.2.3
    pub(crate) fn given_up(&mut self, packet: &Packet, cx: &mut Cx) {
        let Some(range) = packet.tcp_range() else { return };
        let Some(generator) = self.flows.get_mut(packet.flow) else { return };
        let is_old = generator.delivered.is_none_or(|delivered| range.end.le(delivered));
        // Without payload there is nothing that duplicates could make TCP send again: SYN and FIN have their timer.
        if packet.payload.len == 0 || is_old || generator.run_until.is_some() {
            return;
        }
        generator.run_until = generator.highest;
        // What waits for its delayed ACK is told first, or the duplicates would be none.
        if let Some(last) = generator.waiting.take() {
            self.acks_made += 1;
            self.tell(&last, 1, cx);
        }
        self.duplicates_made += 3;
        self.answer(packet, 3, cx);
    }

    /// The delayed ACK of `flow` is due, if it was not made meanwhile: its timer is left standing then.
    pub(crate) fn timer(&mut self, flow: FlowId, cx: &mut Cx) {
        if let Some(generator) = self.flows.get_mut(flow)
            && let Some(answer) = generator.waiting.take()
        {
            self.acks_made += 1;
            self.tell(&answer, 1, cx);
        }
    }

    /// Both directions of a connection are over.
    pub(crate) fn closed(&mut self, flow: FlowId) {
        for way in [flow, flow.reverse()] {
            self.active -= u32::from(self.flows.remove(way).is_some_and(|generator| generator.is_active));
        }
    }

    pub(crate) fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("acks_made", self.acks_made);
        out("dup_acks_made", self.duplicates_made);
        out("sacks_made", self.sacks_made);
        out("segments_delivered", self.segments_delivered);
        out("segments_acknowledged", self.segments_acknowledged);
        out("stale_piggybacks", self.stale_piggybacks);
        out("windows_lowered", self.windows_lowered);
    }
}

/// The later of the number known and another: numbers run modulo 2³², and none is earlier than all.
fn latest(known: Option<Seq>, number: Seq) -> Seq {
    known.map_or(number, |known| known.max(number))
}

/// The timer of a flow's delayed ACK.
pub(crate) fn key(flow: FlowId) -> Key {
    Key(u64::from(flow.0))
}

impl Generator {
    fn new(strategy: &'static str, announced: u32) -> Generator {
        let followed = ack::NAMES.get((announced as usize).wrapping_sub(1)).copied().unwrap_or("every");
        // A policy is followed with its default parameters: a station announces its name only.
        let config = tcp::Config::default();
        let policy = ack::find(if strategy == "follow" { followed } else { strategy })
            .expect("every strategy but \"follow\" is a receiver policy");
        Generator {
            delivered: None,
            beyond: Vec::new(),
            blocks: SackBlocks::default(),
            permits: (false, false),
            run_until: None,
            highest: None,
            next_seq: None,
            window: 0,
            scale: Scale::default(),
            shown: Shown::default(),
            full: (0, 0),
            is_active: false,
            tsval: None,
            policy: (policy.plugin)(&policy.params, config.delay()),
            segments: 0,
            waiting: None,
        }
    }

    /// The receiver's host has acknowledged up to `number`.
    fn advance_to(&mut self, number: Seq) {
        self.delivered = Some(number);
        self.join();
    }

    /// `range` was delivered. Returns how many delivered segments that puts before the first hole, itself included.
    fn take(&mut self, range: SeqRange) -> u64 {
        let Some(delivered) = self.delivered else { return 0 };
        if range.end.le(delivered) {
            return 0;
        }
        if delivered.lt(range.start) {
            self.beyond.push(range);
            return 0;
        }
        self.delivered = Some(range.end);
        1 + self.join()
    }

    /// `range` was delivered beyond a hole: it is a block from now on. Returns false for what is old or was one, and without SACK.
    fn reports(&mut self, range: SeqRange) -> bool {
        let is_beyond = self.delivered.is_some_and(|delivered| delivered.lt(range.start));
        self.permits == (true, true) && is_beyond && self.blocks.insert(range)
    }

    /// Joins what was beyond a hole that has closed, and ends the run of losses if all of it has been made up for.
    fn join(&mut self) -> u64 {
        let Some(mut delivered) = self.delivered else { return 0 };
        let before = self.beyond.len();
        while let Some(next) = self.beyond.iter().position(|range| range.start.le(delivered)) {
            delivered = delivered.max(self.beyond.swap_remove(next).end);
        }
        self.delivered = Some(delivered);
        if !self.blocks.is_empty() {
            self.blocks.take_from(delivered);
        }
        if self.run_until.is_some_and(|until| until.le(delivered)) {
            self.run_until = None;
        }
        (before - self.beyond.len()) as u64
    }

    /// An ACK of everything delivered, as the receiver would have written it.
    fn ack(&mut self, answer: &Answer, now: SimTime) -> Option<Packet> {
        let (delivered, seq) = self.delivered.zip(self.next_seq)?;
        self.policy.on_ack_sent(now);
        let window = self.scale.field(self.window);
        let says = Tcp { seq, ack: delivered, flags: Flags::ACK, window, ..Tcp::default() };
        let mut made = answer.segment(self.tsval, says);
        if !self.blocks.is_empty()
            && let Some(tcp) = made.tcp_mut()
        {
            let (blocks, n) = self.blocks.report(None);
            tcp.options.push_sack(&blocks[..n]);
        }
        Some(made)
    }
}

/// Keeps the later of the TSval known and the one in `stamps`, TSval and TSecr of a segment.
pub(crate) fn later(known: &mut Option<u32>, stamps: Option<(u32, u32)>) {
    if let Some((tsval, _)) = stamps {
        keep_later(known, tsval);
    }
}
