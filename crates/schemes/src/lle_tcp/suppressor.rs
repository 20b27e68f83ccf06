//! The receiving station's half: ACKs that its partner has made already stay off the air, and data its host has no room
//! for yet is kept, since the partner has acknowledged it.

use crate::{Cx, Toward};
use mac::Fate;
use std::collections::BTreeMap;
use units::FlowId;
use wire::{DropWhy, Flags, Packet, Pkt, Seq, Tcp};

/// What the agent knows of its own host as receiver of one flow of data.
#[derive(Debug, Default)]
struct Guard {
    /// The last ACK number its host sent, suppressed or not; before that, the number of the peer's SYN.
    acked: Option<Seq>,
    /// The window that went out last, and the one the partner is known to have got, in bytes. An ACK is suppressed only
    /// if it changes neither.
    sent: Option<u32>,
    announced: Option<u32>,
    /// Shift counts in the SYNs of the two sides; they apply only if both are there. @RFC7323 sec. 2.2
    host_shift: Option<u8>,
    peer_shift: Option<u8>,
    /// One past the last number its host admits.
    edge: Option<Seq>,
    /// Data beyond the edge, in order of arrival.
    held: Vec<Pkt>,
    /// The last pure ACK its host sent, to be repeated when data is held.
    last_ack: Option<Packet>,
}

/// All flows of data this station receives from partners, and what was counted.
#[derive(Debug, Default)]
pub(super) struct Suppressor {
    flows: BTreeMap<FlowId, Guard>,
    suppressed: u64,
    passed: u64,
    held_ever: u64,
}

impl Suppressor {
    /// A segment of its own host on the way to a partner.
    pub(super) fn leaves(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(&tcp) = packet.tcp() else { return Some(pkt) };
        let is_pure = packet.pure_ack().is_some();
        let guard = self.flows.entry(packet.flow.reverse()).or_default();
        if tcp.flags.has(Flags::SYN) {
            guard.host_shift = tcp.options.window_scale();
        }
        if !tcp.flags.has(Flags::ACK) || tcp.flags.has(Flags::RST) {
            return Some(pkt);
        }
        let window = guard.bytes(&tcp);
        let advances = guard.acked.is_some_and(|acked| acked.lt(tcp.ack));
        let is_known = guard.same(guard.sent, window) && guard.same(guard.announced, window);
        let signals = tcp.flags.any(Flags::ECE | Flags::CWR | Flags::URG);
        guard.acked = Some(guard.acked.map_or(tcp.ack, |acked| acked.max(tcp.ack)));
        let edge = tcp.ack + window;
        guard.edge = Some(guard.edge.map_or(edge, |old| old.max(edge)));
        if is_pure {
            guard.last_ack = Some(packet.clone());
        }
        guard.release(cx);
        if is_pure && advances && is_known && !signals {
            self.suppressed += 1;
            cx.drop(pkt, DropWhy::Suppressed);
            return None;
        }
        guard.sent = Some(window);
        self.passed += u64::from(is_pure);
        Some(pkt)
    }

    /// A segment from a partner, which acknowledges it in this host's name once it hears the MAC's ACK.
    pub(super) fn arrives(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(&tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return Some(pkt) };
        let guard = self.flows.entry(packet.flow).or_default();
        if tcp.flags.has(Flags::SYN) {
            guard.peer_shift = tcp.options.window_scale();
            guard.acked = Some(tcp.seq);
            return Some(pkt);
        }
        let is_beyond = guard.edge.is_some_and(|edge| edge.lt(range.end));
        let partner_knows_zero = guard.announced == Some(0);
        if packet.payload.len == 0 || !is_beyond || partner_knows_zero {
            return Some(pkt);
        }
        guard.held.push(pkt);
        self.held_ever += 1;
        // The host would have answered such a segment with what it admits. @RFC9293 sec. 3.10.7.4
        if let (Some(ack), Some(peer)) = (&guard.last_ack, cx.peer) {
            let again = cx.make(ack.clone());
            cx.inject(again, Toward::Air(peer));
        }
        None
    }

    /// The MAC's word on a segment of its host: the partner has heard its window, or nothing is known any more.
    pub(super) fn report(&mut self, packet: &Packet, fate: Fate) {
        let Some(tcp) = packet.tcp().filter(|tcp| tcp.flags.any(Flags::ACK | Flags::SYN)) else { return };
        let Some(guard) = self.flows.get_mut(&packet.flow.reverse()) else { return };
        match fate {
            Fate::Delivered => {
                let window = guard.bytes(tcp);
                guard.announced = Some(window);
                // A SYN's own window passes here only; segments with an ACK have set it on their way out.
                guard.sent = guard.sent.or(Some(window));
            }
            Fate::GivenUp | Fate::QueueFull => guard.announced = None,
            Fate::Attempt => {}
        }
    }

    pub(super) fn release(&mut self, cx: &mut Cx) {
        for guard in self.flows.values_mut() {
            for pkt in guard.held.drain(..) {
                cx.drop(pkt, DropWhy::Scheme);
            }
        }
    }

    pub(super) fn held(&self) -> u64 {
        self.flows.values().map(|guard| guard.held.len() as u64).sum()
    }

    pub(super) fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("acks_suppressed", self.suppressed);
        out("acks_passed", self.passed);
        out("segments_held", self.held_ever);
    }
}

impl Guard {
    fn shift(&self) -> u8 {
        if self.peer_shift.is_some() { self.host_shift.unwrap_or(0) } else { 0 }
    }

    /// The window a segment of its host means. That of a SYN is never scaled.
    fn bytes(&self, tcp: &Tcp) -> u32 {
        let shift = if tcp.flags.has(Flags::SYN) { 0 } else { self.shift() };
        u32::from(tcp.window) << shift
    }

    /// Whether two windows look alike in a header.
    fn same(&self, one: Option<u32>, other: u32) -> bool {
        one.is_some_and(|one| one >> self.shift() == other >> self.shift())
    }

    /// Gives its host what it admits now, in order of arrival.
    fn release(&mut self, cx: &mut Cx) {
        let Some(edge) = self.edge.filter(|_| !self.held.is_empty()) else { return };
        let mut kept = Vec::new();
        for pkt in self.held.drain(..) {
            if cx.get(&pkt).tcp_range().is_some_and(|range| range.end.le(edge)) {
                cx.inject(pkt, Toward::Host);
            } else {
                kept.push(pkt);
            }
        }
        self.held = kept;
    }
}
