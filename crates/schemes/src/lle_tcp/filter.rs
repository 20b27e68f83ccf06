//! The receiving station's half: ACKs that its partner has made already stay off the air, and data its host has no room
//! for yet is kept, since the partner has acknowledged it.
//!
//! Partner and filter agree on one thing: while no ACK crosses the air, the window is what it was in the last one
//! that did. The filter lets every ACK pass that says otherwise, and all of them until the MAC confirms that it
//! arrived. What comes in beyond the host's window meanwhile is held and answered with a closed window, a *notice*.

use super::generator::{Generators, Told, later};
use crate::flow_map::FlowMap;
use crate::window::Scale;
use crate::{Cx, Toward};
use mac::Fate;
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, Ipv4, L4, Packet, Pkt, Seq, SeqRange, SeqSet, Tcp, ecn};

/// The agent's knowledge of its own host as receiver of one flow of data.
#[derive(Debug, Default)]
struct Guard {
    /// The neighbour that its data comes through, and that makes its ACKs.
    partner: Option<NodeId>,
    /// The last ACK number its host sent, suppressed or not; before that, the number of the peer's SYN.
    acked: Option<Seq>,
    /// The window that went out last, in bytes; `None` if it may have been lost, or went to another partner.
    sent: Option<u32>,
    /// The number of segments with a window that the MAC has not reported on, and the number of those reports until the
    /// partner is known to have `sent` and nothing else.
    in_flight: u32,
    unconfirmed: u32,
    scale: Scale,
    /// The end of the data that has reached this station in order, and the data beyond a hole: the partner acknowledges
    /// both.
    received: Option<Seq>,
    beyond: SeqSet,
    /// One past the peer's FIN, once that has been seen.
    fin: Option<Seq>,
    /// One past the last number its host admits.
    edge: Option<Seq>,
    /// Data beyond the edge, in order of arrival.
    held: Vec<Pkt>,
    /// The notice is made of it.
    written: Option<Written>,
    /// The time since which the partner should know that the window is closed, and whether a notice is on its way.
    closing: Option<SimTime>,
    notice_in_flight: bool,
    /// The latest TSval of the partner's side: what comes late gets it, or PAWS would discard it. @RFC7323 sec. 5.3
    tsval: Option<u32>,
    /// The latest acknowledgment of its host's own data: a late one is given the same number and window.
    told: Option<Told>,
    /// The latest TSval of its own host, for notices.
    host_tsval: Option<u32>,
}

/// A pure ACK as a host would have written it when it last wrote anything, by what differs from ACK to ACK.
#[derive(Debug, Clone, Copy)]
struct Written {
    flow: FlowId,
    ip: Ipv4,
    ports: (u16, u16),
    seq: Seq,
    ack: Seq,
    window: u16,
    /// TSval and TSecr.
    stamps: Option<(u32, u32)>,
}

/// All flows of data this station receives from partners, and what was counted.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    flows: FlowMap<Guard>,
    suppressed: u64,
    passed: u64,
    held_ever: u64,
    notices: u64,
    slowest_notice: Dur,
}

impl Filter {
    /// A segment of its own host on the way to a partner. `makes` is the other half of this station, if it has one.
    pub(crate) fn leaves(&mut self, pkt: Pkt, makes: Option<&Generators>, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(tcp) = packet.tcp() else { return Some(pkt) };
        let (flags, ack) = (tcp.flags, tcp.ack);
        let guard = self.flows.get_or_insert_with(packet.flow.reverse(), Guard::default);
        if flags.has(Flags::SYN) {
            guard.scale.saw_receivers_syn(tcp);
        }
        let stamps = tcp.options.timestamps();
        later(&mut guard.host_tsval, stamps);
        if !flags.any(Flags::ACK | Flags::SYN) || flags.has(Flags::RST) {
            return Some(pkt);
        }
        let window = guard.scale.bytes(tcp);
        if !flags.has(Flags::ACK) {
            guard.send(window);
            return Some(pkt);
        }
        let is_pure = packet.pure_ack().is_some();
        let advances = guard.acked.is_some_and(|acked| acked.lt(ack));
        guard.acked = Some(guard.acked.map_or(ack, |acked| acked.max(ack)));
        guard.note(packet, tcp, stamps);
        if guard.received != Some(ack) {
            guard.receive(SeqRange { start: ack, end: ack });
        }
        if !guard.held.is_empty() {
            guard.told = Told::later(guard.told, makes.and_then(|makes| makes.told(packet.flow)));
        }
        guard.open_to(ack + window, cx);
        // While acknowledged data waits at this station the window is closed, whatever its host still admits.
        let window = if guard.is_closed(cx) { 0 } else { window };
        if window == 0
            && let Some(header) = cx.get_mut(&pkt).tcp_mut()
        {
            header.window = 0;
        }
        let is_known = guard.unconfirmed == 0 && guard.is_same(window);
        // What goes another way than the data came does not pass its partner.
        let comes_by = guard.partner == cx.peer;
        let signals = flags.any(Flags::ECE | Flags::CWR | Flags::URG);
        if is_pure && advances && is_known && window > 0 && !signals && comes_by {
            self.suppressed += 1;
            cx.drop(pkt, DropWhy::Suppressed);
            return None;
        }
        guard.send(window);
        self.passed += u64::from(is_pure);
        Some(pkt)
    }

    /// True where data of `flow` has come by a partner.
    pub(crate) fn has_partner(&self, flow: FlowId) -> bool {
        self.flows.get(flow).is_some_and(|guard| guard.partner.is_some())
    }

    /// A segment from a partner, which acknowledges it in this host's name once it hears the MAC's ACK.
    pub(crate) fn arrives(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return Some(pkt) };
        let guard = self.flows.get_or_insert_with(packet.flow, Guard::default);
        if guard.partner.is_some() && guard.partner != cx.peer {
            guard.sent = None; // another partner knows neither the numbers nor the window until an ACK has reached it
        }
        guard.partner = cx.peer;
        let stamps = tcp.options.timestamps();
        later(&mut guard.tsval, stamps);
        if tcp.flags.has(Flags::SYN) {
            guard.scale.saw_senders_syn(tcp);
            guard.acked = Some(tcp.seq);
            guard.received = Some(range.end);
            return Some(pkt);
        }
        if tcp.flags.has(Flags::RST) {
            // The peer's FIN was acknowledged in this host's name, and it may have forgotten the connection since: what
            // it answers to a window is no reason for the host to lose what is held.
            if guard.is_over() && guard.is_closed(cx) {
                cx.drop(pkt, DropWhy::Suppressed);
                return None;
            }
            return Some(pkt);
        }
        if tcp.flags.has(Flags::ACK) {
            guard.told = Told::later(guard.told, Some(Told { ack: tcp.ack, window: tcp.window }));
        }
        if tcp.flags.has(Flags::FIN) {
            guard.fin = Some(range.end);
        }
        // A FIN needs no room, but its place.
        let data = SeqRange::new(tcp.seq, packet.payload.len);
        let is_beyond = guard.edge.is_some_and(|edge| edge.lt(data.end)) && !range.is_empty();
        guard.receive(range);
        let passed = if !is_beyond {
            // A link that repeats out of order delivers what was sent earlier behind what was sent later.
            let (tsval, told) = guard.since(tcp, stamps);
            if !range.is_empty() && (tsval.is_some() || told.is_some()) {
                renew(&pkt, (tsval, told), cx);
            }
            Some(pkt)
        } else if guard.holds(range, cx) {
            cx.drop(pkt, DropWhy::Scheme);
            None
        } else {
            // Of what is admitted in part the host takes what it can: it might see no reason to write before it does.
            let part = guard.edge.filter(|edge| data.start.lt(*edge)).map(|_| cx.copy(&pkt));
            guard.held.push(pkt);
            self.held_ever += 1;
            part
        };
        if guard.is_closed(cx) {
            let since = *guard.closing.get_or_insert(cx.now);
            self.slowest_notice = self.slowest_notice.max(cx.now.since(since));
            if !guard.notice_in_flight && !guard.is_over() {
                self.notices += u64::from(guard.give_notice(cx));
            }
        }
        passed
    }

    /// Takes the MAC's report on a segment of its host, or a notice: the partner has received its window, or nothing is
    /// known.
    pub(crate) fn report(&mut self, packet: &Packet, fate: Fate, done: SimTime) {
        let Some(tcp) = packet.tcp().filter(|tcp| tcp.flags.any(Flags::ACK | Flags::SYN)) else { return };
        let Some(guard) = self.flows.get_mut(packet.flow.reverse()) else { return };
        if tcp.flags.has(Flags::RST) || fate == Fate::Attempt {
            return;
        }
        guard.in_flight = guard.in_flight.saturating_sub(1);
        guard.unconfirmed = guard.unconfirmed.saturating_sub(1);
        if fate != Fate::Delivered {
            guard.sent = None;
        }
        if tcp.window > 0 {
            return;
        }
        guard.notice_in_flight = false;
        if fate == Fate::Delivered
            && let Some(since) = guard.closing.take()
        {
            self.slowest_notice = self.slowest_notice.max(done.since(since));
        }
    }

    /// Both directions of a connection are over.
    pub(crate) fn closed(&mut self, flow: FlowId, cx: &mut Cx) {
        for way in [flow, flow.reverse()] {
            for pkt in self.flows.remove(way).map(|guard| guard.held).unwrap_or_default() {
                cx.drop(pkt, DropWhy::Suppressed);
            }
        }
    }

    pub(crate) fn release(&mut self, cx: &mut Cx) {
        for guard in self.flows.values_mut() {
            for pkt in guard.held.drain(..) {
                cx.drop(pkt, DropWhy::NodeDown);
            }
        }
    }

    pub(crate) fn held(&self) -> u64 {
        self.flows.values().map(|guard| guard.held.len() as u64).sum()
    }

    pub(crate) fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("acks_suppressed", self.suppressed);
        out("acks_passed", self.passed);
        out("segments_held", self.held_ever);
        out("notices_sent", self.notices);
        out("slowest_notice_ns", self.slowest_notice.ns());
    }
}

impl Guard {
    /// True if a header would show this window as it showed the last one.
    fn is_same(&self, window: u32) -> bool {
        self.sent.is_some_and(|sent| sent == window || self.scale.field(sent) == self.scale.field(window))
    }

    /// A segment goes out with this window. Reports come in the order of sending ([`crate::in_order`]).
    fn send(&mut self, window: u32) {
        self.in_flight += 1;
        if !self.is_same(window) {
            self.sent = Some(window);
            self.unconfirmed = self.in_flight;
        }
    }

    /// Its host has written `packet`: a pure ACK of it now would stand after its highest number.
    fn note(&mut self, packet: &Packet, tcp: &Tcp, stamps: Option<(u32, u32)>) {
        let seq = packet.tcp_range().map_or(tcp.seq, |range| range.end);
        let (ack, window) = (tcp.ack, tcp.window);
        match &mut self.written {
            Some(last) if !tcp.flags.has(Flags::SYN) => {
                (last.seq, last.ack, last.window, last.stamps) = (last.seq.max(seq), ack, window, stamps);
            }
            last => {
                // No pure ACK is ECN-capable, whatever its host's data is. @RFC3168 sec. 6.1.4
                let ip = Ipv4 { tos: packet.ip.tos & !ecn::MASK, ..packet.ip };
                let ports = (tcp.src_port, tcp.dst_port);
                *last = Some(Written { flow: packet.flow, ip, ports, seq, ack, window, stamps });
            }
        }
    }

    /// `range` has reached this station; its host may say so first.
    fn receive(&mut self, range: SeqRange) {
        let received = self.received.unwrap_or(range.start);
        if range.start.le(received) {
            self.received = Some(self.beyond.take_from(received.max(range.end)));
        } else {
            self.beyond.insert(range);
        }
    }

    /// True while something is held that the partner acknowledges: data before the first hole.
    fn is_closed(&self, cx: &Cx) -> bool {
        let is_acknowledged = |pkt: &Pkt| {
            let start = cx.get(pkt).tcp().map(|tcp| tcp.seq);
            start.zip(self.received).is_some_and(|(start, received)| start.lt(received))
        };
        self.held.iter().any(is_acknowledged)
    }

    /// True once all that the peer will ever send has reached this station.
    fn is_over(&self) -> bool {
        self.fin.zip(self.received).is_some_and(|(fin, received)| fin.le(received))
    }

    fn holds(&self, range: SeqRange, cx: &Cx) -> bool {
        let covers = |h: SeqRange| h.start.le(range.start) && range.end.le(h.end);
        self.held.iter().any(|pkt| cx.get(pkt).tcp_range().is_some_and(covers))
    }

    /// Tells the partner that the host admits no more, as the host would have: an ACK, with a closed window.
    fn give_notice(&mut self, cx: &mut Cx) -> bool {
        let (Some(last), Some(peer)) = (self.written, cx.peer) else { return false };
        let Written { flow, ip, ports, seq, .. } = last;
        let (ack, window) = self.acked.map_or((last.ack, last.window), |acked| (acked, 0));
        let mut notice = Packet::ack(ip, flow, ports, seq, ack, window);
        if let (L4::Tcp(tcp), Some((tsval, tsecr))) = (&mut notice.l4, last.stamps) {
            let latest = self.host_tsval.filter(|_| self.acked.is_some());
            tcp.options.push_timestamps(latest.unwrap_or(tsval), tsecr);
        }
        let notice = cx.make(notice);
        cx.inject(notice, Toward::Air(peer));
        self.notice_in_flight = true;
        self.send(0);
        true
    }

    /// The news that the host had since `tcp`, with these timestamps, was sent: the latest TSval, and its ACK number and window.
    #[inline(always)]
    fn since(&self, tcp: &Tcp, stamps: Option<(u32, u32)>) -> (Option<u32>, Option<Told>) {
        let tsval = self.tsval.filter(|latest| stamps.is_some_and(|(tsval, _)| Seq(tsval).lt(Seq(*latest))));
        let told = self.told.filter(|told| tcp.flags.has(Flags::ACK) && tcp.ack.lt(told.ack));
        (tsval, told)
    }

    /// Its host admits everything before `edge`: it gets what is held and now admitted, in order of arrival. Of a packet
    /// that is admitted in part it gets a copy and takes what it can.
    fn open_to(&mut self, edge: Seq, cx: &mut Cx) {
        // Only news: what its host makes of a copy is an ACK that comes by here again.
        if self.edge.is_some_and(|old| edge.le(old)) {
            return;
        }
        self.edge = Some(edge);
        let mut i = 0;
        while i < self.held.len() {
            let packet = cx.get(&self.held[i]);
            let Some((range, tcp)) = packet.tcp_range().zip(packet.tcp()) else { break };
            let data = SeqRange::new(tcp.seq, packet.payload.len);
            if self.acked.is_some_and(|acked| range.end.le(acked)) {
                let copy = self.held.remove(i);
                cx.drop(copy, DropWhy::CopyDone);
                continue;
            }
            if edge.lt(data.start) || edge == data.start && !data.is_empty() {
                i += 1;
                continue;
            }
            let news = self.since(tcp, tcp.options.timestamps());
            renew(&self.held[i], news, cx);
            let pkt = if data.end.le(edge) {
                self.held.remove(i)
            } else {
                i += 1;
                cx.copy(&self.held[i - 1])
            };
            cx.inject(pkt, Toward::Host);
        }
    }
}

/// Brings acknowledged data that comes late up to date, or the host would discard it: with the latest TSval (PAWS), and with the
/// ACK number that the host was told meanwhile: one more than a window old passes for forged. @RFC5961 sec. 5.2
#[cold]
fn renew(pkt: &Pkt, (tsval, told): (Option<u32>, Option<Told>), cx: &mut Cx) {
    let Some(tcp) = cx.get_mut(pkt).tcp_mut() else { return };
    if let Some(tsval) = tsval {
        tcp.options.set_tsval(tsval);
    }
    if let Some(told) = told {
        (tcp.ack, tcp.window) = (told.ack, told.window);
    }
}
