//! One direction of one connection, as the base station sees it: `snoop_data` and `snoop_ack` of @BSAK95 sec. 4.

use super::FlowId;
use super::express::Word;
use crate::deadline::Deadline;
use crate::passing::{SPAN, is_of_another, keep_later, renew_tsval, signals};
use crate::rtt::Smoothed;
use crate::{Cx, Key, Toward};
use std::collections::VecDeque;
use units::{Dur, NodeId, SimTime};
use wire::{DropWhy, Flags, Packet, Pkt, Seq, SeqRange, Tcp, tcp::kind};

/// The timeout before the RTT of the air was measured: 100 ms and four times 250. @NS2: srtt_, rttvar_
const FIRST_TIMEOUT: Dur = Dur::from_ms(1100);

/// The scenario's settings, and the way to the queue.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) cache: usize,
    pub(super) dup_acks: u32,
    pub(super) min_timeout: Dur,
    pub(super) retransmissions: u32,
    pub(super) hides_sack: bool,
    pub(super) word: Word,
}

/// The counters, over all connections.
#[derive(Debug, Default)]
pub(super) struct Counts {
    cached: u64,
    uncached: u64,
    evicted: u64,
    local_dup: u64,
    local_timer: u64,
    pub(super) local_report: u64,
    absorbed: u64,
    spurious: u64,
    passed: u64,
    repeated_acks: u64,
    by_sender: u64,
}

impl Counts {
    pub(super) fn tell(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("cached", self.cached);
        out("uncached", self.uncached);
        out("evicted", self.evicted);
        out("local_retransmissions_dup", self.local_dup);
        out("local_retransmissions_timer", self.local_timer);
        out("dup_acks_absorbed", self.absorbed);
        out("spurious_acks_dropped", self.spurious);
        out("acks_passed", self.passed);
        out("acks_repeated", self.repeated_acks);
        out("sender_retransmissions", self.by_sender);
    }
}

/// A packet that is not known to have arrived.
#[derive(Debug)]
struct Entry {
    pkt: Pkt,
    range: SeqRange,
    /// The time it was handed to the radio, and its number among the connection's packets.
    sent_at: SimTime,
    nth: u64,
    /// Times it was repeated here.
    repeated: u32,
    /// Times it went out again, from the sender or from here, and the end of all sent by then.
    doubles: u32,
    doubles_until: Seq,
    /// Duplicate ACKs that are still to come for what was sent between it and its repetition.
    echoes: u64,
    /// The sender sent it again: it counts the duplicates for it and must get them.
    by_sender: bool,
}

/// The base station's state of one direction of data.
#[derive(Debug, Default)]
pub(super) struct Conn {
    peer: Option<NodeId>,
    /// In the order of their numbers.
    cache: VecDeque<Entry>,
    /// Packets with data handed to the radio.
    sent: u64,
    highest: Option<Seq>,
    /// The last ACK, and the first that is known to be this connection's.
    acked: Option<Seq>,
    floor: Seq,
    /// Window and signals of the last ACK, as its header shows them.
    window: u16,
    signals: Flags,
    /// Duplicates since.
    dups: u64,
    /// Copies that may have arrived a second time without having brought their duplicate ACK yet, and the end of all data
    /// sent by the last repetition of these.
    doubles: u32,
    doubles_until: Seq,
    /// The last pure ACK.
    last_ack: Option<Packet>,
    /// The latest timestamp that the mobile has echoed: no segment with an older one is accepted. @RFC7323 sec. 5.3
    echoed: Option<u32>,
    /// One past the sender's FIN, and whether it was acknowledged.
    fin: Option<Seq>,
    /// The RTT over the air.
    rtt: Smoothed,
    /// The time at which the next packet in line is repeated, unless an ACK advances before.
    deadline: Deadline,
}

/// The reason why a packet is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    DupAck,
    Timer,
    Report,
}

impl Conn {
    /// The neighbour its data goes to.
    pub(super) fn peer(&self) -> Option<NodeId> {
        self.peer
    }

    pub(super) fn held(&self) -> u64 {
        self.cache.len() as u64
    }

    /// True once all its data was acknowledged, the FIN included.
    pub(super) fn is_over(&self) -> bool {
        self.fin.zip(self.acked).is_some_and(|(fin, acked)| fin.le(acked)) && self.cache.is_empty()
    }

    /// Gives up all copies.
    pub(super) fn clear(&mut self, why: DropWhy, cx: &mut Cx) {
        for entry in self.cache.drain(..) {
            cx.drop(entry.pkt, why);
        }
        self.deadline.clear();
    }

    /// Begins anew, for what is evidently another connection of the same name. The timer, if set, finds nothing to do.
    fn restart(&mut self, cx: &mut Cx) {
        self.clear(DropWhy::CopyDone, cx);
        *self = Conn { deadline: std::mem::take(&mut self.deadline), ..Conn::default() };
    }

    /// Data of the sender on its way to the radio.
    pub(super) fn sends(
        &mut self,
        flow: FlowId,
        pkt: Pkt,
        limits: &Limits,
        counts: &mut Counts,
        cx: &mut Cx,
    ) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(tcp), Some(range), Some(peer)) = (packet.tcp(), packet.tcp_range(), cx.peer) else {
            return Some(pkt);
        };
        let (len, is_fin) = (packet.ip_len(), tcp.flags.has(Flags::FIN));
        if let Some(acked) = self.acked {
            if is_of_another(range.start, acked) {
                self.restart(cx);
            } else if range.end.le(acked) {
                return self.is_old(range, pkt, counts, cx);
            }
        }
        self.peer = Some(peer);
        self.sent += 1;
        if is_fin {
            self.fin = Some(range.end);
        }
        let is_new = self.highest.is_none_or(|highest| highest.le(range.start));
        self.highest = Some(self.highest.map_or(range.end, |highest| highest.max(range.end)));
        counts.by_sender += u64::from(!is_new);
        let at = if is_new {
            self.cache.len()
        } else {
            self.cache.partition_point(|entry| entry.range.start.lt(range.start))
        };
        // A copy kept of an older transmission gives way: it may be cut differently and has an older timestamp.
        let mut doubles = 0;
        if self.cache.get(at).is_some_and(|entry| entry.range.start == range.start)
            && let Some(entry) = self.cache.remove(at)
        {
            cx.drop(entry.pkt, DropWhy::CopyDone);
            doubles = entry.doubles + 1;
        }
        if self.is_closed() {
            return Some(pkt);
        }
        // A queue without room will refuse it: that is congestion, and for the sender to see.
        if self.cache.len() >= limits.cache || cx.room().free < len {
            counts.uncached += 1;
            return Some(pkt);
        }
        let copy = cx.copy(&pkt);
        self.cache.insert(
            at,
            Entry {
                pkt: copy,
                range,
                sent_at: cx.now,
                nth: self.sent,
                repeated: 0,
                doubles,
                doubles_until: self.highest.unwrap_or(range.end),
                echoes: 0,
                by_sender: !is_new,
            },
        );
        counts.cached += 1;
        if !self.deadline.is_set() {
            self.arm(flow, limits, cx);
        }
        Some(pkt)
    }

    /// The sender repeats what the mobile has acknowledged: that ACK was lost behind this node.
    fn is_old(&self, range: SeqRange, pkt: Pkt, counts: &mut Counts, cx: &mut Cx) -> Option<Pkt> {
        let says_so = |ack: &&Packet| ack.tcp().map(|tcp| tcp.ack) == self.acked;
        let Some(ack) = self.last_ack.as_ref().filter(says_so).filter(|_| range.len() > 1) else { return Some(pkt) };
        let ack = cx.make(ack.clone());
        cx.inject(ack, Toward::Route);
        cx.drop(pkt, DropWhy::Suppressed);
        counts.repeated_acks += 1;
        None
    }

    /// A segment of the mobile that acknowledges.
    pub(super) fn hears(
        &mut self,
        flow: FlowId,
        pkt: Pkt,
        limits: &Limits,
        counts: &mut Counts,
        cx: &mut Cx,
    ) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(&tcp) = packet.tcp() else { return Some(pkt) };
        let is_pure = packet.pure_ack().is_some();
        let is_known = self.acked.is_some_and(|acked| self.floor.le(tcp.ack) && !is_of_another(tcp.ack, acked));
        if !is_known {
            if self.acked.is_some() {
                self.restart(cx);
            }
            self.floor = tcp.ack;
            self.advance(flow, tcp.ack, limits, cx);
        }
        let acked = self.acked.unwrap_or(tcp.ack);
        if let Some((_, tsecr)) = tcp.options.timestamps() {
            keep_later(&mut self.echoed, tsecr);
        }
        if tcp.ack.lt(acked) {
            if !is_pure {
                return Some(pkt);
            }
            counts.spurious += 1;
            cx.drop(pkt, DropWhy::Suppressed);
            return None;
        }
        if acked.lt(tcp.ack) {
            self.advance(flow, tcp.ack, limits, cx);
        } else if is_known && is_pure && self.is_repeated(&tcp) && self.repairs(flow, &tcp, limits, counts, cx) {
            counts.absorbed += 1;
            cx.drop(pkt, DropWhy::Suppressed);
            return None;
        }
        let was_closed = self.is_closed();
        (self.window, self.signals) = (tcp.window, signals(&tcp));
        if self.is_closed() {
            self.deadline.clear();
        } else if was_closed && !self.cache.is_empty() {
            self.arm(flow, limits, cx);
        }
        if limits.hides_sack
            && self.repairable(tcp.ack).is_some()
            && tcp.options.sack_blocks().next().is_some()
            && let Some(header) = cx.get_mut(&pkt).tcp_mut()
        {
            header.options.blank(kind::SACK);
        }
        if is_pure {
            counts.passed += 1;
            self.last_ack = Some(cx.get(&pkt).clone());
        }
        Some(pkt)
    }

    /// A new ACK: what it covers has arrived.
    fn advance(&mut self, flow: FlowId, ack: Seq, limits: &Limits, cx: &mut Cx) {
        self.acked = Some(ack);
        self.dups = 0;
        if ack - self.floor > SPAN {
            self.floor = ack - SPAN;
        }
        let (mut sample, mut is_plain) = (None, true);
        while self.cache.front().is_some_and(|entry| entry.range.end.le(ack))
            && let Some(entry) = self.cache.pop_front()
        {
            // Of what was sent twice nobody knows which arrived, and what waited behind it waited for that. @BSAK95
            is_plain &= entry.repeated == 0 && !entry.by_sender;
            if entry.doubles > 0 {
                self.doubles += entry.doubles;
                self.doubles_until = entry.doubles_until;
            }
            sample = Some(cx.now.since(entry.sent_at));
            cx.drop(entry.pkt, DropWhy::CopyDone);
        }
        // What was sent after a repetition has been answered, so it has, too.
        if self.doubles_until.lt(ack) {
            self.doubles = 0;
        }
        if let Some(rtt) = sample.filter(|_| is_plain) {
            self.rtt.sample(rtt);
        }
        self.deadline.clear();
        if !self.cache.is_empty() {
            self.arm(flow, limits, cx);
        }
    }

    /// True if an ACK of the same number tells nothing else that is new. @RFC5681 sec. 2
    fn is_repeated(&self, tcp: &Tcp) -> bool {
        tcp.window == self.window && tcp.window > 0 && signals(tcp) == self.signals
    }

    fn is_closed(&self) -> bool {
        self.acked.is_some() && self.window == 0
    }

    /// The packet that the mobile waits for at `ack`, if it is here and not the sender's own business.
    fn repairable(&self, ack: Seq) -> Option<&Entry> {
        self.cache.front().filter(|entry| entry.range.contains(ack) && !entry.by_sender)
    }

    /// Settles a duplicate ACK here, so that the sender need not know, and returns true: the loss is repaired, or the duplicate
    /// was expected.
    fn repairs(&mut self, flow: FlowId, tcp: &Tcp, limits: &Limits, counts: &mut Counts, cx: &mut Cx) -> bool {
        let Some(head) = self.repairable(tcp.ack) else { return false };
        let (echoes, repeated) = (head.echoes, head.repeated);
        // Its first block is behind the ACK: something arrived twice, nothing is missing. @RFC2883 sec. 4
        let is_dsack = tcp.options.sack_blocks().next().is_some_and(|block| block.end.le(tcp.ack));
        if echoes > 0 && !is_dsack {
            self.cache[0].echoes -= 1;
            self.dups += 1;
            return true;
        }
        if self.doubles > 0 {
            self.doubles -= 1;
            return true;
        }
        if is_dsack {
            return false;
        }
        self.dups += 1;
        if repeated == 0 && self.dups < u64::from(limits.dup_acks) {
            return false;
        }
        let is_sent = self.repeat(flow, 0, Why::DupAck, limits, counts, cx);
        if is_sent {
            self.arm(flow, limits, cx);
        }
        is_sent
    }

    /// Sends a cached packet again. `false` if it has been often enough, or there is no room.
    fn repeat(
        &mut self,
        flow: FlowId,
        at: usize,
        why: Why,
        limits: &Limits,
        counts: &mut Counts,
        cx: &mut Cx,
    ) -> bool {
        let (Some(entry), Some(peer)) = (self.cache.get_mut(at), self.peer) else { return false };
        if entry.repeated >= limits.retransmissions || cx.room().free < cx.get(&entry.pkt).ip_len() {
            return false;
        }
        entry.repeated += 1;
        entry.doubles += 1;
        entry.doubles_until = self.highest.unwrap_or(entry.range.end);
        // What went to the radio after it and is not overtaken arrives before the repetition, and brings a duplicate each.
        let seen = if at == 0 { self.dups } else { 0 };
        entry.echoes = (self.sent - entry.nth).saturating_sub(seen + limits.word.waiting(flow));
        let copy = cx.copy(&entry.pkt);
        // The sender may have repeated something before it since, with a later timestamp.
        renew_tsval(&copy, self.echoed, cx);
        limits.word.mark_urgent(cx.serial(&copy));
        cx.inject(copy, Toward::Air(peer));
        match why {
            Why::DupAck => counts.local_dup += 1,
            Why::Timer => counts.local_timer += 1,
            Why::Report => counts.local_report += 1,
        }
        true
    }

    /// Its timer went off.
    pub(super) fn timer(&mut self, flow: FlowId, limits: &Limits, counts: &mut Counts, cx: &mut Cx) {
        if !self.deadline.has_come(key(flow), cx) {
            return;
        }
        // What the mobile waits for never came by: the sender alone can repeat it.
        let (Some(head), Some(acked)) = (self.cache.front(), self.acked) else { return };
        if !head.range.contains(acked) {
            return;
        }
        if head.repeated >= limits.retransmissions {
            counts.evicted += self.held();
            self.clear(DropWhy::CopyDone, cx);
            return;
        }
        self.repeat(flow, 0, Why::Timer, limits, counts, cx);
        self.arm(flow, limits, cx);
    }

    /// The MAC has given the packet at `seq` up.
    pub(super) fn was_given_up(&mut self, flow: FlowId, seq: Seq, limits: &Limits, counts: &mut Counts, cx: &mut Cx) {
        if let Some(at) = self.position(seq)
            && self.repeat(flow, at, Why::Report, limits, counts, cx)
        {
            self.arm(flow, limits, cx);
        }
    }

    /// The queue has refused the packet at `seq`: congestion, which is not hidden.
    pub(super) fn was_refused(&mut self, seq: Seq, counts: &mut Counts, cx: &mut Cx) {
        if let Some(at) = self.position(seq)
            && let Some(entry) = self.cache.remove(at)
        {
            cx.drop(entry.pkt, DropWhy::CopyDone);
            counts.evicted += 1;
        }
    }

    fn position(&self, seq: Seq) -> Option<usize> {
        let at = self.cache.partition_point(|entry| entry.range.start.lt(seq));
        self.cache.get(at).filter(|entry| entry.range.start == seq).map(|_| at)
    }

    fn arm(&mut self, flow: FlowId, limits: &Limits, cx: &mut Cx) {
        let timeout = self.rtt.timeout().unwrap_or(FIRST_TIMEOUT).max(limits.min_timeout);
        self.deadline.set(cx.now + timeout, key(flow), cx);
    }
}

/// The timer of a flow.
fn key(flow: FlowId) -> Key {
    Key(u64::from(flow.0))
}
