//! One direction of data to a client, as its access point sees it.
//!
//! The invariant: every byte from the client's own ACK number (`acked`) up to the one that its sender was told (`told`) lies in a copy.
//! `told` moves on only over copies, and a copy goes only when the client's own ACK covers it.

mod away;

use super::{Counts, Limits};
use crate::deadline::Deadline;
use crate::lle_tcp::generator::{Told, later};
use crate::passing::{is_of_another, keep_later, renew_tsval, signals};
use crate::rtt::Smoothed;
use crate::window::{Answer, Scale};
use crate::{Cx, Key, Toward};
use mac::Fate;
use std::collections::VecDeque;
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, Packet, Pkt, Seq, SeqRange, Tcp, tcp::kind};

/// The timeout before the first sample, and the greatest. @RFC6298 sec. 2
const FIRST_TIMEOUT: Dur = Dur::from_secs(1);
const LAST_TIMEOUT: Dur = Dur::from_secs(60);
/// Duplicate ACKs that start a local retransmission of what the MAC has delivered. @RFC5681 sec. 3.2
const DUP_ACKS: u32 = 3;
/// Instants in a row at which the MAC gives MSDUs up until the client counts as gone: what fails then waits for its timer.
const FAILURES: u32 = 4;
/// Timeouts for which a segment may stand in the transmit queue before it is sent beside that.
const PATIENCE: u32 = 4;

/// A segment that was handed to the radio, until the client acknowledges it.
#[derive(Debug)]
struct Entry {
    range: SeqRange,
    /// One past its payload: a FIN is left to the client's own ACK.
    end: Seq,
    /// Made when the MAC has delivered it, of this length.
    copy: Option<Pkt>,
    len: Bytes,
    /// Times it was handed to the MAC without a report since.
    in_mac: u32,
    /// The MAC's last word that the client's station has it.
    delivered: Option<SimTime>,
    /// Times it was sent again here.
    repeats: u32,
    /// Its sender has sent it late or again: the hole is its business, and it needs the client's duplicates and SACK blocks.
    is_senders: bool,
    /// Its sender has sent it again although a copy is here.
    is_asked: bool,
}

impl Entry {
    /// True if its sender need not hear that it is missing: it is on its way or can be sent again.
    fn is_repaired(&self) -> bool {
        !self.is_senders && (self.in_mac > 0 || self.copy.is_some())
    }
}

/// The reason why a segment is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    DupAck,
    Timer,
    Report,
}

/// The access point's state of one direction of data.
#[derive(Debug, Default)]
pub(super) struct Conn {
    /// The neighbour that its data goes to, and whether it has left.
    peer: Option<NodeId>,
    is_away: bool,
    /// The place of the next copy that goes after it.
    next_on: usize,
    /// By rising number.
    entries: VecDeque<Entry>,
    /// The copies' size.
    bytes: Bytes,
    /// The client's own ACK number; `None` before the first that was heard.
    acked: Option<Seq>,
    /// The number that the sender was told, and the window with it: the field and the right edge that it meant.
    told: Seq,
    told_field: u16,
    told_edge: Seq,
    /// The client's last ACK: right edge, window field, signals; its largest window; its next number; its last TSval.
    edge: Seq,
    field: u16,
    signals: Flags,
    full: u32,
    next_seq: Option<Seq>,
    tsval: Option<u32>,
    scale: Scale,
    /// The latest TSval that the client has echoed, and what the sender has told it last: a late copy gets them.
    echoed: Option<u32>,
    sender: Option<Told>,
    /// The largest payload seen.
    mss: u32,
    /// The answer to the first segment of which the sender has not been told yet, and how many there are.
    unsaid: Option<Answer>,
    segments: u32,
    /// The sender has probed a window or a silent connection: the client's next ACK answers it.
    is_probed: bool,
    /// Duplicate ACKs since the last advance.
    dups: u32,
    /// Duplicates to come for what was sent twice, until the client has acknowledged more than this.
    echoes: u32,
    echoes_until: Seq,
    /// The end of what had been delivered when a hole was repaired: what is missing before it is lost, too. @RFC6582
    recover: Option<Seq>,
    /// Instants in a row at which MSDUs were given up, and the last.
    failures: u32,
    failed_at: Option<SimTime>,
    rtt: Smoothed,
    /// Timeouts since the last advance, or rounds.
    backoff: u32,
    /// The time at which the first copy is sent again.
    deadline: Deadline,
}

impl Conn {
    /// The neighbour its data goes to.
    pub(super) fn peer(&self) -> Option<NodeId> {
        self.peer
    }

    /// The number of copies.
    pub(super) fn held(&self) -> u64 {
        self.entries.iter().filter(|entry| entry.copy.is_some()).count() as u64
    }

    /// Bytes acknowledged to the sender and not by the client, as far as copies have them.
    pub(super) fn held_bytes(&self) -> u64 {
        let (mut at, mut bytes) = (self.acked.unwrap_or(self.told), 0);
        for entry in self.entries.iter().filter(|entry| entry.copy.is_some()) {
            let (start, end) = (entry.range.start.max(at), entry.end.min(self.told));
            if start.lt(end) {
                bytes += u64::from(end - start);
                at = end;
            }
        }
        bytes
    }

    /// Gives up all that is known of segments.
    pub(super) fn clear(&mut self, why: DropWhy, cx: &mut Cx) {
        for entry in self.entries.drain(..) {
            if let Some(copy) = entry.copy {
                cx.drop(copy, why);
            }
        }
        self.bytes = Bytes::ZERO;
        self.deadline.clear();
    }

    /// Begins anew, for what is evidently another connection of the same name. The timer, if set, finds nothing to do.
    fn restart(&mut self, counts: &mut Counts, cx: &mut Cx) {
        counts.acked_lost_bytes += self.held_bytes();
        self.clear(DropWhy::CopyDone, cx);
        *self = Conn { deadline: std::mem::take(&mut self.deadline), ..Conn::default() };
    }

    /// A segment of the sender on its way to the radio.
    pub(super) fn sends(&mut self, pkt: Pkt, counts: &mut Counts, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(&tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return Some(pkt) };
        let payload = packet.payload.len;
        if tcp.flags.has(Flags::ACK) {
            self.sender = Told::later(self.sender, Some(Told { ack: tcp.ack, window: tcp.window }));
        }
        if tcp.flags.has(Flags::SYN) {
            self.scale.saw_senders_syn(&tcp);
            return Some(pkt);
        }
        let Some(acked) = self.acked else { return Some(pkt) };
        if is_of_another(range.start, acked) {
            self.restart(counts, cx);
            return Some(pkt);
        }
        // One byte at most that is old, or beyond the window: a question to the client, who answers it. @RFC9293 sec. 3.8.4, 3.8.6.1
        let is_old = range.end.le(self.told);
        if is_old && payload <= 1 && tcp.seq.lt(self.told) || payload > 0 && self.edge.lt(tcp.seq + payload) {
            self.is_probed = true;
            return Some(pkt);
        }
        if range.is_empty() {
            return Some(pkt);
        }
        if is_old {
            // The ACK was lost behind this node.
            self.unsaid = Answer::to(packet);
            self.say(cx);
            counts.acks_repeated += 1;
            cx.drop(pkt, DropWhy::Suppressed);
            return None;
        }
        if self.peer != cx.peer {
            (self.peer, self.is_away) = (cx.peer, false);
        }
        self.mss = self.mss.max(payload);
        if self.note(range, tcp.seq + payload) {
            return Some(pkt);
        }
        counts.repeats_dropped += 1;
        cx.drop(pkt, DropWhy::Suppressed);
        None
    }

    /// Takes note of a segment that goes to the MAC. `false` if it need not: a copy of it is here.
    fn note(&mut self, range: SeqRange, end: Seq) -> bool {
        let at = self.entries.partition_point(|entry| entry.range.start.lt(range.start));
        let is_senders = at < self.entries.len();
        let new =
            Entry { range, end, copy: None, len: Bytes::ZERO, in_mac: 1, delivered: None, repeats: 0, is_senders, is_asked: false };
        let Some(old) = self.entries.get_mut(at).filter(|old| old.range.start == range.start) else {
            self.entries.insert(at, new);
            return true;
        };
        if old.copy.is_some() {
            // Twice: what is before it has been acknowledged where this node does not hear it, and the client's answer is needed.
            let is_again = std::mem::replace(&mut old.is_asked, true);
            return is_again || old.range.end.lt(range.end);
        }
        if old.range.end.le(range.end) {
            *old = new;
        }
        true
    }

    /// An entry that is needed no longer.
    fn let_go(&mut self, entry: Entry, cx: &mut Cx) {
        if let Some(copy) = entry.copy {
            self.bytes -= entry.len;
            cx.drop(copy, DropWhy::CopyDone);
        }
    }

    /// A segment of the client.
    pub(super) fn hears(
        &mut self,
        flow: FlowId,
        pkt: Pkt,
        limits: &Limits,
        counts: &mut Counts,
        cx: &mut Cx,
    ) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(&tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return Some(pkt) };
        let is_pure = packet.pure_ack().is_some();
        if self.acked.is_some_and(|acked| tcp.flags.has(Flags::ACK) && is_of_another(tcp.ack, acked)) {
            self.restart(counts, cx);
        }
        if tcp.flags.has(Flags::SYN) {
            self.scale.saw_receivers_syn(&tcp);
        }
        later(&mut self.tsval, tcp.options.timestamps());
        self.next_seq = Some(self.next_seq.map_or(range.end, |next| next.max(range.end)));
        if !tcp.flags.has(Flags::ACK) {
            return Some(pkt);
        }
        if let Some((_, tsecr)) = tcp.options.timestamps() {
            keep_later(&mut self.echoed, tsecr);
        }
        let Some(acked) = self.acked else {
            self.acked = Some(tcp.ack);
            self.heard(&tcp);
            self.passes(&tcp);
            return Some(pkt);
        };
        if tcp.flags.has(Flags::SYN) {
            return Some(pkt);
        }
        self.is_away = false;
        if tcp.ack.lt(acked) {
            // Overtaken by a later one.
            return if is_pure { self.suppress(pkt, counts, cx) } else { self.raise(pkt, cx) };
        }
        let is_dup = is_pure && tcp.ack == acked && tcp.window == self.field;
        let has_signal = signals(&tcp) != self.signals;
        self.heard(&tcp);
        if acked.lt(tcp.ack) {
            self.advance(flow, tcp.ack, limits, counts, cx);
        }
        if self.told.lt(tcp.ack) {
            self.told = tcp.ack;
            self.passes(&tcp);
            counts.acks_passed += u64::from(is_pure);
            self.hide_sack(&pkt, tcp.ack, cx);
            return Some(pkt);
        }
        if !is_pure {
            return self.raise(pkt, cx);
        }
        let has_sack = tcp.options.sack_blocks().next().is_some();
        let is_settled = if is_dup || has_sack { self.settles(flow, &tcp, limits, counts, cx) } else { true };
        if has_signal || std::mem::take(&mut self.is_probed) || self.moves() {
            counts.acks_passed += 1;
            self.hide_sack(&pkt, tcp.ack, cx);
            return self.raise(pkt, cx);
        }
        if is_settled || tcp.ack.lt(self.told) {
            return self.suppress(pkt, counts, cx);
        }
        counts.acks_passed += 1;
        if !is_dup {
            return self.raise(pkt, cx);
        }
        // A duplicate is one for its sender if it repeats the window. @RFC5681 sec. 2
        if tcp.window != self.told_field
            && let Some(header) = cx.get_mut(&pkt).tcp_mut()
        {
            header.window = self.told_field;
        }
        Some(pkt)
    }

    /// Takes window and signals of an ACK.
    fn heard(&mut self, tcp: &Tcp) {
        let window = self.scale.bytes(tcp);
        self.edge = tcp.ack + window;
        self.full = self.full.max(window);
        (self.field, self.signals) = (tcp.window, signals(tcp));
        if tcp.flags.has(Flags::SYN) {
            // Its window is not scaled; later ones are.
            self.field = self.scale.field(window);
        }
    }

    /// The sender hears this ACK as it stands.
    fn passes(&mut self, tcp: &Tcp) {
        self.told = tcp.ack;
        (self.told_field, self.told_edge) = (self.field, self.edge);
        (self.unsaid, self.segments) = (None, 0);
    }

    /// Bytes from the number told up to an edge.
    fn room(&self, edge: Seq) -> u32 {
        if edge.lt(self.told) { 0 } else { edge - self.told }
    }

    /// The sender hears the number told, with what of the client's window it leaves. Returns the field.
    fn tells(&mut self) -> u16 {
        self.told_field = self.scale.field(self.room(self.edge));
        self.told_edge = self.told + self.room(self.edge);
        (self.unsaid, self.segments) = (None, 0);
        self.told_field
    }

    /// True if the client's window has opened so far that its sender, who may stand before the old edge, should know; or if it has shrunk,
    /// by more than the rounding of its field.
    fn moves(&self) -> bool {
        let (now, last) = (self.room(self.edge), self.room(self.told_edge));
        if now <= last {
            return u32::from(self.scale.field(now)) + 1 < u32::from(self.scale.field(last));
        }
        let is_small = last < 2 * self.mss.max(1);
        let is_news = self.scale.field(now) > self.told_field;
        is_news && (is_small || last < self.full / 2 && now - last >= self.full / 4)
    }

    /// Passes a segment of the client with the number that its sender was told already, and the window behind it.
    fn raise(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let (ack, window) = (self.told, self.tells());
        if let Some(header) = cx.get_mut(&pkt).tcp_mut()
            && !header.flags.has(Flags::RST)
        {
            (header.ack, header.window) = (ack, window);
        }
        Some(pkt)
    }

    fn suppress(&self, pkt: Pkt, counts: &mut Counts, cx: &mut Cx) -> Option<Pkt> {
        counts.acks_suppressed += 1;
        cx.drop(pkt, DropWhy::Suppressed);
        None
    }

    /// Blanks SACK blocks that show a hole which is repaired here.
    fn hide_sack(&self, pkt: &Pkt, ack: Seq, cx: &mut Cx) {
        if self.entry(ack).is_some_and(Entry::is_repaired)
            && cx.get(pkt).tcp().is_some_and(|tcp| tcp.options.sack_blocks().next().is_some())
            && let Some(header) = cx.get_mut(pkt).tcp_mut()
        {
            header.options.blank(kind::SACK);
        }
    }

    /// The first segment, if the client waits for it at `ack`.
    fn entry(&self, ack: Seq) -> Option<&Entry> {
        self.entries.front().filter(|entry| entry.range.contains(ack))
    }

    /// Takes a duplicate ACK, or one with SACK blocks. Returns true if its hole is repaired here, or there is none.
    fn settles(&mut self, flow: FlowId, tcp: &Tcp, limits: &Limits, counts: &mut Counts, cx: &mut Cx) -> bool {
        let is_dsack = tcp.options.sack_blocks().next().is_some_and(|block| block.end.le(tcp.ack));
        let Some(head) = self.entry(tcp.ack).filter(|head| head.in_mac > 0 || head.copy.is_some()) else {
            // Something arrived twice that was sent twice here.
            let is_echo = self.echoes > 0;
            self.echoes = self.echoes.saturating_sub(1);
            return is_echo;
        };
        let is_repaired = head.is_repaired();
        // Until a round trip after its delivery duplicates were written before it arrived.
        let since = head.delivered.filter(|_| head.in_mac == 0 && !is_dsack);
        if since.is_some_and(|since| cx.now >= since + self.timeout()) {
            self.dups += 1;
            if self.dups >= DUP_ACKS && self.repeat(0, Why::DupAck, None, counts, cx) {
                (self.dups, self.recover) = (0, self.last_delivered());
                self.arm(flow, limits, cx);
            }
        }
        is_repaired
    }

    /// The time from a segment's delivery within which its client's ACK should have come. @RFC6298 sec. 2
    fn timeout(&self) -> Dur {
        self.rtt.timeout().unwrap_or(FIRST_TIMEOUT)
    }

    /// The end of what the MAC has delivered.
    fn last_delivered(&self) -> Option<Seq> {
        self.entries.iter().rev().find(|entry| entry.delivered.is_some()).map(|entry| entry.range.end)
    }

    /// A new ACK of the client: what it covers has arrived.
    fn advance(&mut self, flow: FlowId, ack: Seq, limits: &Limits, counts: &mut Counts, cx: &mut Cx) {
        self.acked = Some(ack);
        (self.dups, self.backoff) = (0, 0);
        let mut sample = None;
        while self.entries.front().is_some_and(|entry| entry.range.end.le(ack))
            && let Some(entry) = self.entries.pop_front()
        {
            if let (Some(since), 0) = (entry.delivered, entry.repeats) {
                sample = Some(cx.now.since(since));
            }
            self.let_go(entry, cx);
        }
        if let Some(rtt) = sample {
            self.rtt.sample(rtt);
        }
        if self.echoes_until.lt(ack) {
            self.echoes = 0;
        }
        self.recover = self.recover.filter(|end| ack.lt(*end));
        let is_lost = |entry: &Entry| entry.in_mac == 0 && entry.copy.is_some();
        if self.recover.is_some() && self.entry(ack).is_some_and(is_lost) {
            self.repeat(0, Why::DupAck, None, counts, cx);
        }
        self.arm(flow, limits, cx);
    }

    /// Sends a segment again: its copy, or `else_this`. `false` if there is nothing to send, or no room.
    fn repeat(
        &mut self,
        at: usize,
        why: Why,
        else_this: Option<&Packet>,
        counts: &mut Counts,
        cx: &mut Cx,
    ) -> bool {
        let (Some(entry), Some(peer)) = (self.entries.get_mut(at), self.peer) else { return false };
        let len = entry.copy.as_ref().map(|copy| cx.get(copy).ip_len()).or(else_this.map(Packet::ip_len));
        // A queue without room refuses it: congestion.
        if self.is_away || len.is_none_or(|len| cx.room().free < len) {
            return false;
        }
        let pkt = match (&entry.copy, else_this) {
            (Some(copy), _) => cx.copy(copy),
            (None, Some(packet)) => cx.make(packet.clone()),
            (None, None) => return false,
        };
        entry.repeats += 1;
        entry.in_mac += 1;
        if entry.delivered.is_some() {
            self.echoes += 1;
            self.echoes_until = self.entries.back().map_or(self.told, |last| last.range.end);
        }
        self.renew(&pkt, cx);
        cx.inject(pkt, Toward::Air(peer));
        match why {
            Why::DupAck => counts.repeated_dup += 1,
            Why::Timer => counts.repeated_timer += 1,
            Why::Report => counts.repeated_report += 1,
        }
        true
    }

    /// Brings a late copy up to date, or its host would discard it: a TSval older than one that it has taken (PAWS, @RFC7323 sec. 5.3), an
    /// ACK number more than a window old (@RFC5961 sec. 5.2).
    fn renew(&self, pkt: &Pkt, cx: &mut Cx) {
        renew_tsval(pkt, self.echoed, cx);
        let is_behind = |sender: &Told| {
            cx.get(pkt).tcp().is_some_and(|tcp| tcp.flags.has(Flags::ACK) && tcp.ack.lt(sender.ack))
        };
        if let Some(sender) = self.sender.filter(is_behind)
            && let Some(header) = cx.get_mut(pkt).tcp_mut()
        {
            (header.ack, header.window) = (sender.ack, sender.window);
        }
    }

    /// The segment of this very range.
    fn position(&self, range: SeqRange) -> Option<usize> {
        let at = self.entries.partition_point(|entry| entry.range.start.lt(range.start));
        self.entries.get(at).filter(|entry| entry.range == range).map(|_| at)
    }

    /// The MAC has delivered a segment: it is copied, and acknowledged if all before it is.
    pub(super) fn delivered(
        &mut self,
        flow: FlowId,
        packet: &Packet,
        range: SeqRange,
        limits: &Limits,
        counts: &mut Counts,
        cx: &mut Cx,
    ) {
        self.failures = 0;
        let Some(at) = self.position(range) else { return };
        let len = packet.ip_len();
        let has_room = self.bytes + len <= limits.memory;
        let entry = &mut self.entries[at];
        entry.in_mac = entry.in_mac.saturating_sub(1);
        entry.delivered = Some(cx.now);
        if entry.copy.is_none() && packet.payload.len > 0 {
            if has_room {
                entry.copy = Some(cx.make(packet.clone()));
                entry.len = len;
                self.bytes += len;
                counts.highest_copies_bytes = counts.highest_copies_bytes.max(self.bytes.0);
            } else {
                counts.uncopied += 1;
            }
        }
        let joined = self.join();
        if joined > 0 {
            self.segments += joined;
            if self.unsaid.is_none() {
                // Of several the first is echoed, of what closes a hole that. @RFC7323 sec. 4.3
                self.unsaid = Answer::to(packet);
            }
            counts.segments_acknowledged += u64::from(joined);
            if self.segments >= limits.ack_every {
                counts.fast_acks += u64::from(self.say(cx));
            } else {
                cx.timer(say_key(flow), cx.now);
            }
        }
        if !self.deadline.is_set() {
            self.arm(flow, limits, cx);
        }
    }

    /// Moves the number told over copies. Returns how many segments that acknowledges.
    fn join(&mut self) -> u32 {
        let next = self.entries.partition_point(|entry| entry.range.start.lt(self.told));
        let mut joined = 0;
        for entry in self.entries.range(next.saturating_sub(1)..) {
            if self.told.lt(entry.range.start) || self.edge.lt(entry.end) {
                break;
            }
            if self.told.lt(entry.end) && entry.copy.is_some() {
                self.told = entry.end;
                joined += 1;
            }
        }
        joined
    }

    /// Acknowledges what is told in the client's name, if that has not been said yet. Returns true if it was.
    fn say(&mut self, cx: &mut Cx) -> bool {
        let (Some(answer), Some(seq)) = (self.unsaid, self.next_seq) else { return false };
        let flags = if self.signals.has(Flags::ECE) { Flags::ACK | Flags::ECE } else { Flags::ACK };
        let says = Tcp { seq, ack: self.told, flags, window: self.tells(), ..Tcp::default() };
        let ack = cx.make(answer.segment(self.tsval, says));
        cx.inject(ack, Toward::Route);
        true
    }

    /// All reports of this instant have been heard.
    pub(super) fn says_rest(&mut self, counts: &mut Counts, cx: &mut Cx) {
        counts.fast_acks += u64::from(self.say(cx));
    }

    /// The MAC has dropped a segment without delivering it. What its queue refused is congestion, for the sender to see.
    pub(super) fn dropped(
        &mut self,
        packet: &Packet,
        range: SeqRange,
        fate: Fate,
        limits: &Limits,
        counts: &mut Counts,
        cx: &mut Cx,
    ) {
        if fate == Fate::GivenUp && self.failed_at != Some(cx.now) {
            (self.failures, self.failed_at) = (self.failures.saturating_add(1), Some(cx.now));
        }
        let Some(at) = self.position(range) else { return };
        let entry = &mut self.entries[at];
        entry.in_mac = entry.in_mac.saturating_sub(1);
        let may = entry.in_mac == 0 && entry.repeats < limits.retransmissions && self.failures < FAILURES;
        if may && fate != Fate::QueueFull {
            self.repeat(at, Why::Report, Some(packet), counts, cx);
        }
    }

    /// Its timer went off.
    pub(super) fn timer(&mut self, flow: FlowId, limits: &Limits, counts: &mut Counts, cx: &mut Cx) {
        if !self.deadline.has_come(repair_key(flow), cx) {
            return;
        }
        if self.is_away {
            self.send_on(flow, limits, counts, cx);
            return;
        }
        // What it waits for may be its sender's to send: that was not acknowledged.
        let Some(head) = self.acked.and_then(|acked| self.entry(acked)).filter(|head| head.copy.is_some()) else {
            return;
        };
        if head.in_mac == 0 || self.backoff >= PATIENCE {
            self.recover = self.last_delivered();
            self.repeat(0, Why::Timer, None, counts, cx);
        }
        self.backoff += 1;
        self.arm(flow, limits, cx);
    }

    /// Sets the deadline, if there are copies.
    fn arm(&mut self, flow: FlowId, limits: &Limits, cx: &mut Cx) {
        self.arm_after(1, flow, limits, cx);
    }

    /// The same, after one of so many `parts` of the timeout.
    fn arm_after(&mut self, parts: u64, flow: FlowId, limits: &Limits, cx: &mut Cx) {
        if self.bytes == Bytes::ZERO {
            self.deadline.clear();
            return;
        }
        let timeout = self.timeout().max(limits.min_timeout) * (1 << self.backoff.min(16));
        let timeout = timeout.min(LAST_TIMEOUT.max(limits.min_timeout)) / parts.max(1);
        self.deadline.set(cx.now + timeout, repair_key(flow), cx);
    }
}

/// The timers of a flow: the sender is told at the end of an instant; the client is given its first copy again.
fn say_key(flow: FlowId) -> Key {
    Key(2 * u64::from(flow.0))
}

fn repair_key(flow: FlowId) -> Key {
    Key(2 * u64::from(flow.0) + 1)
}

/// The flow of a timer, and whether it is the one that repairs.
pub(super) fn flow_of(key: Key) -> (FlowId, bool) {
    (FlowId((key.0 / 2) as u32), key.0 % 2 == 1)
}
