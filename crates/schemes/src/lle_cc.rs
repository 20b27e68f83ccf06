//! LLE-TCP's congestion control module: at the sender of a path of several hops TCP is acknowledged for the first hop, and sends
//! when it is told to; copies of what it sent are kept until the other end acknowledges them.
//!
//! - **Source** @KLI06 section 3.4, one paragraph.
//! - **Realism** no oracle: packets, MAC reports, TCP headers. Breaks TCP's promise that an acknowledged byte has reached the other
//!   host: it has reached the first relay, and a copy is kept here. If this node dies, what the copies hold may be lost.
//! - **Departs**
//!   (a) The text keeps copies and does not say what repeats them. Here: three duplicate ACKs from the path or a timer (@RFC6298 on RTTs
//!   from end to end) repeat the first copy; until all that had been sent then is acknowledged, each further ACK repeats the next
//!   (@RFC6582). After `max_timeouts` in a row the connection is reset at its host.
//!   (b) What is on its way is also kept below the window that the other end advertises.
//!   (c) The window is steered behind the handshake: the first flight goes as TCP sends it.
//!   (d) Where the next hop is the destination it does nothing (`lle-tcp` acknowledges there).
//!   (e) SACK-permitted is taken out of SYNs sent here: local duplicates carry no blocks.
//!   (f) While TCP holds an order to stop, its probes of the closed window are answered here.
//! - **Checked** `tests/all/lle_cc.rs`; `every_scheme`; `world/tests/all/strings.rs`.

use crate::rtt::Smoothed;
use crate::window::{Answer, Scale};
use crate::{Agent, Cx, Field, Info, Key, Kind, Param, Params, Place, Refusal, Site, Toward, Value, What};
use mac::{Fate, TxReport};
use std::collections::{BTreeMap, VecDeque};
use tcp::FlowFacts;
use units::{Dur, FlowId, SimTime};
use wire::{DropWhy, Flags, Packet, Pkt, Seq, Tcp};

/// Its declaration.
pub const INFO: Info = Info {
    id: "lle-cc",
    summary: "TCP is acknowledged for the first hop and paced by its window; copies wait for the end-to-end ACK",
    source: "KLI06 section 3.4",
    params: PARAMS,
};

const PARAMS: &[Param] = &[
    Param {
        key: "buffer",
        kind: Kind::Int { min: 1, max: 100_000 },
        default: Value::Int(20), // the text has no number; ns-2's TCP has a window of 20
        doc: "copies kept of each flow; while there are as many TCP is told to stop",
    },
    Param {
        key: "min_timeout",
        kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(60) },
        default: Value::Time(MIN_TIMEOUT),
        doc: "least time without an advance before the first copy is repeated",
    },
    Param {
        key: "max_timeouts",
        kind: Kind::Int { min: 1, max: 100 },
        default: Value::Int(MAX_TIMEOUTS),
        doc: "timeouts in a row after which the connection is reset at its host",
    },
];

/// See [`crate::Install`].
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || !site.node.starts_flows {
        return Ok(());
    }
    let limits = Limits {
        buffer: params.int("buffer") as usize,
        min_timeout: params.time("min_timeout"),
        max_timeouts: params.int("max_timeouts") as u32,
        spares_last_hop: true,
    };
    take_seat(site, limits);
    Ok(())
}

/// An agent that steers the TCPs of this node: of this scheme, or of one that needs it.
pub(crate) fn take_seat(site: &mut Site, limits: Limits) {
    site.reads_tcp();
    site.exclusive(What("acknowledgment of TCP at its sender"));
    let agent = LleCc { limits, opened: BTreeMap::new(), flows: BTreeMap::new(), counted: Counted::default() };
    let seat = site.agent(agent).listen([Place::FromHost, Place::ToHost]).reports().needs_facts();
    seat.makes_packets().rewrites(Field::Window).rewrites(Field::Numbers).rewrites(Field::Options);
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub buffer: usize,
    pub min_timeout: Dur,
    pub max_timeouts: u32,
    /// Nothing is done for a flow whose next hop is its destination.
    pub spares_last_hop: bool,
}

/// A packet that was sent and that the other end has not acknowledged.
#[derive(Debug)]
struct Copy {
    packet: Packet,
    start: Seq,
    end: Seq,
    sent: SimTime,
    is_repeated: bool,
}

/// The minimum RTO of ns-2.28, the text's simulator, and of Linux.
pub(crate) const MIN_TIMEOUT: Dur = Dur::from_ms(200);
/// Linux's tcp_retries2.
pub(crate) const MAX_TIMEOUTS: i64 = 15;
/// Before the first sample. @RFC6298 section 2.1
const FIRST_TIMEOUT: Dur = Dur::from_secs(1);
/// @RFC6298 section 2.5
const LONGEST_TIMEOUT: Dur = Dur::from_secs(60);
/// @RFC5681 section 3.2
const DUPLICATES: u32 = 3;

/// A flow of data that starts at this node.
#[derive(Debug)]
struct Flow {
    copies: VecDeque<Copy>,
    /// The number up to which TCP has been acknowledged.
    local: Seq,
    /// The number up to which the other end has acknowledged.
    end: Seq,
    /// Data that the first hop has delivered beyond a hole.
    beyond: Vec<(Seq, Seq)>,
    /// The first hop gave a packet up: no further duplicates until all that had been sent then is acknowledged here.
    gave_up_until: Option<Seq>,
    /// The other end's window, as written last.
    window: u32,
    scale: Scale,
    tsval: Option<u32>,
    /// The other end's next number, as far as it has been heard: what its own ACK would carry.
    next: Option<Seq>,
    /// The window field that TCP was shown last, and whether it was closed by this module.
    shown: u16,
    is_stopped: bool,
    duplicates: u32,
    /// Copies are repeated until this is acknowledged.
    recover: Option<Seq>,
    rtt: Smoothed,
    timeouts: u32,
    /// An answer to the data that TCP sent last: ACKs are made from it.
    answer: Option<Answer>,
    /// The header that TCP sent last. A copy says the same: an old timestamp (@RFC7323 section 5.3) or ACK number (@RFC5961 section 5.2)
    /// would be refused.
    said: Option<Tcp>,
}

#[derive(Debug, Default)]
struct Counted {
    acks_made: u64,
    duplicates_made: u64,
    stops: u64,
    repeated: u64,
    timeouts: u64,
    resets: u64,
}

#[derive(Debug)]
struct LleCc {
    limits: Limits,
    /// Window scales of flows that the other end opened, of whose data none can have left.
    opened: BTreeMap<FlowId, Scale>,
    flows: BTreeMap<FlowId, Flow>,
    counted: Counted,
}

impl Flow {
    fn new(opened: Seq) -> Flow {
        Flow {
            copies: VecDeque::new(),
            local: opened,
            end: opened,
            beyond: Vec::new(),
            gave_up_until: None,
            window: 0,
            scale: Scale::default(),
            tsval: None,
            next: None,
            shown: 0,
            is_stopped: false,
            duplicates: 0,
            recover: None,
            rtt: Smoothed::default(),
            timeouts: 0,
            answer: None,
            said: None,
        }
    }

    /// One past what was sent last.
    fn highest(&self) -> Seq {
        self.copies.back().map_or(self.end, |copy| copy.end)
    }

    /// One past the payload sent last, whether a copy is left or not.
    fn sent(&self) -> Seq {
        self.highest().max(self.local)
    }

    /// Keeps a copy, unless one copy has all that it carries. Copies are in order of number and none lies within another. What TCP sent and
    /// this module took for a probe leaves a hole between them until TCP sends it again.
    fn keep(&mut self, now: SimTime, packet: &Packet, start: Seq, end: Seq) {
        if let Some(copy) = self.copies.iter_mut().find(|copy| copy.start.le(start) && end.le(copy.end)) {
            copy.is_repeated = true;
            return;
        }
        if end.le(self.end) {
            return;
        }
        let before = self.copies.len();
        self.copies.retain(|copy| !(start.le(copy.start) && copy.end.le(end)));
        let is_repeated = self.copies.len() < before || start.lt(self.highest());
        let place = self.copies.partition_point(|copy| copy.start.lt(start));
        self.copies.insert(place, Copy { packet: packet.clone(), start, end, sent: now, is_repeated });
    }

    /// The first hop has delivered this range. Returns whether TCP can be acknowledged further.
    fn crossed(&mut self, start: Seq, end: Seq) -> bool {
        if end.le(self.local) {
            return false;
        }
        self.beyond.push((start, end));
        let before = self.local;
        while let Some(next) = self.beyond.iter().position(|(start, _)| start.le(self.local)) {
            let (_, end) = self.beyond.swap_remove(next);
            self.local = self.local.max(end);
        }
        if self.gave_up_until.is_some_and(|until| until.le(self.local)) {
            self.gave_up_until = None;
        }
        before.lt(self.local)
    }

    /// The window that TCP is shown: a segment, or nothing. While nothing is on its way the other end may open less than a segment.
    fn permits(&mut self, buffer: usize, mss: u32, counted: &mut Counted) -> u32 {
        let on_the_way = self.local.0.wrapping_sub(self.end.0);
        let most = if self.copies.is_empty() { mss.min(self.window) } else { mss };
        let fits = self.copies.len() < buffer && on_the_way.saturating_add(most) <= self.window;
        let was_stopped = std::mem::replace(&mut self.is_stopped, !fits || most == 0);
        counted.stops += u64::from(self.is_stopped && !was_stopped);
        if fits { most } else { 0 }
    }

    fn rto(&self, least: Dur) -> Dur {
        let base = self.rtt.timeout().map_or(FIRST_TIMEOUT, |timeout| timeout.max(least));
        (base * (1 << self.timeouts.min(16))).min(LONGEST_TIMEOUT)
    }

    /// The other end has acknowledged up to `ack`. Returns whether that is news.
    fn acknowledged(&mut self, now: SimTime, ack: Seq) -> bool {
        if ack.le(self.end) || (self.sent() + 1).lt(ack) {
            return false;
        }
        self.end = ack;
        // What has waited beyond a hole tells nothing of the path (@RFC6298 section 3).
        let (mut rtt, mut any_repeated) = (None, self.recover.is_some());
        while let Some(copy) = self.copies.front().filter(|copy| copy.end.le(ack)) {
            rtt = Some(now.since(copy.sent));
            any_repeated |= copy.is_repeated;
            self.copies.pop_front();
        }
        if let Some(rtt) = rtt.filter(|_| !any_repeated) {
            self.rtt.sample(rtt);
        }
        (self.duplicates, self.timeouts) = (0, 0);
        if self.recover.is_some_and(|recover| recover.le(ack)) {
            self.recover = None;
        }
        true
    }

    /// The number of an ACK in the other end's name. TCP takes no window from one that is older than the last segment it saw, in order
    /// or not (SND.WL1, @RFC9293 section 3.10.7.4), and no ACK from beyond its own window, where a probe of the other end stood.
    fn others_next(&self, facts: &FlowFacts) -> Seq {
        let edge = facts.rcv_nxt + facts.rcv_wnd.0 as u32;
        self.next.filter(|next| facts.rcv_nxt.le(*next) && next.le(edge)).unwrap_or(facts.rcv_nxt)
    }

    /// A segment to TCP in the other end's name.
    fn segment(&self, seq: Seq, flags: Flags) -> Option<Packet> {
        let says = Tcp { seq, ack: self.local, flags, window: self.shown, ..Tcp::default() };
        Some(self.answer?.segment(self.tsval, says))
    }
}

/// Sequence space of its payload: SYN and FIN have none of it.
fn payload(packet: &Packet) -> Option<(Seq, Seq)> {
    let (tcp, range) = (packet.tcp_data()?, packet.tcp_range()?);
    (!tcp.flags.any(Flags::SYN | Flags::RST)).then_some((range.start, range.start + packet.payload.len))
}

fn key(flow: FlowId) -> Key {
    Key(u64::from(flow.0))
}

impl LleCc {
    /// Hands TCP ACKs of what has crossed the first hop, or repeats the one it was given last.
    fn tell(&mut self, id: FlowId, copies: u32, cx: &mut Cx) {
        let Some(facts) = cx.facts(id) else { return };
        let buffer = self.limits.buffer;
        let Some(flow) = self.flows.get_mut(&id) else { return };
        if copies == 1 {
            let window = flow.permits(buffer, facts.mss.0 as u32, &mut self.counted);
            flow.shown = flow.scale.field_for(window);
        }
        for _ in 0..copies {
            let Some(ack) = flow.segment(flow.others_next(&facts), Flags::ACK) else { return };
            let made = cx.make(ack);
            cx.inject(made, Toward::Host);
        }
    }

    fn arm(&self, id: FlowId, cx: &mut Cx) {
        let Some(flow) = self.flows.get(&id) else { return cx.timer(key(id), SimTime::NEVER) };
        let at = if flow.copies.is_empty() { SimTime::NEVER } else { cx.now + flow.rto(self.limits.min_timeout) };
        cx.timer(key(id), at);
    }

    /// The first copy goes out once more.
    fn repeat(&mut self, id: FlowId, cx: &mut Cx) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let recover = flow.highest();
        let Some(copy) = flow.copies.front_mut() else { return };
        copy.is_repeated = true;
        flow.recover.get_or_insert(recover);
        self.counted.repeated += 1;
        let mut again = copy.packet.clone();
        if let (Some(again), Some(said)) = (again.tcp_mut(), flow.said) {
            (again.ack, again.window) = (said.ack, said.window);
            if let Some((tsval, _)) = said.options.timestamps() {
                again.options.set_tsval(tsval);
            }
        }
        let again = cx.make(again);
        cx.inject(again, Toward::Route);
    }

    fn end(&mut self, id: FlowId, cx: &mut Cx) {
        self.flows.remove(&id);
        cx.timer(key(id), SimTime::NEVER);
    }

    /// A segment of this node's TCP.
    fn leaves(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let id = packet.flow;
        let (Some(&tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return Some(pkt) };
        if tcp.flags.has(Flags::RST) {
            self.end(id, cx);
            return Some(pkt);
        }
        if tcp.flags.has(Flags::SYN) {
            self.end(id, cx);
            let destination = cx.get(&pkt).ip.dst;
            let is_last_hop = cx.peer.is_some_and(|peer| cx.address(peer) == destination);
            if !(is_last_hop && self.limits.spares_last_hop) {
                let mut flow = Flow::new(range.end);
                flow.scale = self.opened.get(&id).copied().unwrap_or_default();
                flow.scale.saw_senders_syn(&tcp);
                self.flows.insert(id, flow);
                if let Some(syn) = cx.get_mut(&pkt).tcp_mut() {
                    syn.options.blank(wire::tcp::kind::SACK_PERMITTED);
                }
            }
            return Some(pkt);
        }
        let Some(flow) = self.flows.get_mut(&id) else { return Some(pkt) };
        flow.said = Some(tcp);
        let Some((start, end)) = payload(packet) else { return Some(pkt) };
        flow.answer = Answer::to(packet);
        // What it sends while it is stopped is a probe, which the path must see if nothing else is on its way. What is acknowledged
        // already it has timed out for.
        let is_probe = flow.is_stopped && flow.sent().le(start) && !flow.copies.is_empty();
        if is_probe || end.le(flow.local) && !tcp.flags.has(Flags::FIN) {
            cx.drop(pkt, DropWhy::Consumed);
            self.tell(id, 1, cx);
            return None;
        }
        let is_first = flow.copies.is_empty();
        flow.keep(cx.now, packet, start, end);
        if is_first {
            self.arm(id, cx);
        }
        Some(pkt)
    }

    /// A segment from the other end, of the flow `id` of data of this node.
    fn hears(&mut self, id: FlowId, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(&tcp) = packet.tcp() else { return Some(pkt) };
        let is_pure = packet.pure_ack().is_some();
        if tcp.flags.has(Flags::RST) {
            self.end(id, cx);
            return Some(pkt);
        }
        if tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK) {
            self.opened.entry(id).or_default().saw_receivers_syn(&tcp);
        }
        let Some(flow) = self.flows.get_mut(&id) else { return Some(pkt) };
        crate::lle_tcp::generator::later(&mut flow.tsval, tcp.options.timestamps());
        if let Some(range) = packet.tcp_range() {
            flow.next = Some(flow.next.map_or(range.end, |next| next.max(range.end)));
        }
        if tcp.flags.has(Flags::SYN) {
            flow.scale.saw_receivers_syn(&tcp);
            flow.window = flow.scale.bytes(&tcp);
            flow.shown = flow.scale.field(flow.window);
            return Some(pkt);
        }
        if !tcp.flags.has(Flags::ACK) {
            return Some(pkt);
        }
        let window = flow.scale.bytes(&tcp);
        let is_duplicate = is_pure && tcp.ack == flow.end && window == flow.window && !flow.copies.is_empty();
        if flow.end.le(tcp.ack) {
            flow.window = window;
        }
        // Beyond all payload only the FIN is left to acknowledge.
        let is_over = flow.sent().lt(tcp.ack);
        if flow.acknowledged(cx.now, tcp.ack) {
            if is_over {
                self.end(id, cx);
                return Some(pkt);
            }
            let goes_on = flow.recover.is_some();
            self.arm(id, cx);
            if goes_on {
                self.repeat(id, cx);
            }
        } else if is_duplicate {
            flow.duplicates += 1;
            if flow.duplicates == DUPLICATES && flow.recover.is_none() {
                self.repeat(id, cx);
            }
        }
        self.pass_on(id, pkt, tcp.ack, is_pure, cx)
    }

    /// TCP sees what it does not know yet: data, and ACKs beyond its own.
    fn pass_on(&mut self, id: FlowId, pkt: Pkt, ack: Seq, is_pure: bool, cx: &mut Cx) -> Option<Pkt> {
        let mss = cx.facts(id).map_or(0, |facts| facts.mss.0 as u32);
        let (buffer, flow) = (self.limits.buffer, self.flows.get_mut(&id)?);
        if is_pure && ack.le(flow.local) {
            let was_stopped = flow.is_stopped;
            cx.drop(pkt, DropWhy::Suppressed);
            // "Resumed by a single duplicate ACK with a positive window."
            if was_stopped && flow.permits(buffer, mss, &mut self.counted) > 0 {
                self.tell(id, 1, cx);
            }
            return None;
        }
        flow.local = flow.local.max(ack);
        let window = flow.permits(buffer, mss, &mut self.counted);
        flow.shown = flow.scale.field_for(window);
        let (local, shown) = (flow.local, flow.shown);
        if let Some(tcp) = cx.get_mut(&pkt).tcp_mut() {
            (tcp.ack, tcp.window) = (local, shown);
        }
        Some(pkt)
    }
}

impl Agent for LleCc {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        match at {
            Place::FromHost => self.leaves(pkt, cx),
            _ => {
                let id = cx.get(&pkt).flow.reverse();
                self.hears(id, pkt, cx)
            }
        }
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, cx: &mut Cx) {
        let Some((start, end)) = payload(packet) else { return };
        let Some(flow) = self.flows.get_mut(&packet.flow) else { return };
        match report.fate {
            Fate::Delivered if flow.crossed(start, end) => {
                self.counted.acks_made += 1;
                self.tell(packet.flow, 1, cx);
            }
            Fate::GivenUp if flow.local.lt(end) && flow.gave_up_until.is_none() => {
                flow.gave_up_until = Some(flow.highest());
                self.counted.duplicates_made += u64::from(DUPLICATES);
                self.tell(packet.flow, DUPLICATES, cx);
            }
            _ => {}
        }
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        let id = FlowId(key.0 as u32);
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.timeouts += 1;
        self.counted.timeouts += 1;
        if flow.timeouts > self.limits.max_timeouts {
            self.counted.resets += 1;
            // A reset counts at exactly the number that is due. @RFC5961 section 3.2
            let due = cx.facts(id).map(|facts| facts.rcv_nxt);
            if let Some(reset) = due.and_then(|due| flow.segment(due, Flags::RST | Flags::ACK)) {
                let made = cx.make(reset);
                cx.inject(made, Toward::Host);
            }
            return self.end(id, cx);
        }
        flow.recover = None;
        self.repeat(id, cx);
        self.arm(id, cx);
    }

    fn closed(&mut self, flow: FlowId, cx: &mut Cx) {
        for flow in [flow, flow.reverse()] {
            self.opened.remove(&flow);
            self.end(flow, cx);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let Counted { acks_made, duplicates_made, stops, repeated, timeouts, resets } = self.counted;
        out("acks_made", acks_made);
        out("dup_acks_made", duplicates_made);
        out("stops", stops);
        out("repeated", repeated);
        out("timeouts", timeouts);
        out("resets", resets);
    }
}
