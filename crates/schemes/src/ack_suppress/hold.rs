//! Rules that hold the latest ACK of a flow back for a while.

use super::{Books, plain_ack};
use crate::{Agent, Cx, Key, Place, Toward};
use units::{Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, Packet, Pkt, Seq, Tcp};

/// The conditions under which a held ACK gives way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// One ACK goes out of so many. dhd_ip.c, `dhd_tcpack_hold`
    Broadcom { ratio: u32 },
    /// No more than so many in a row are dropped. tcp_ack.c, `tcp_ack_handle`
    Unisoc { most: u32, timestamps: bool },
}

impl Rule {
    /// Flows in its table.
    fn flows(self) -> usize {
        match self {
            Rule::Broadcom { .. } => 4, // TCPACK_INFO_MAXNUM
            Rule::Unisoc { .. } => 32,  // SPRD_TCP_ACK_NUM
        }
    }
}

/// A flow that was not heard of for so long makes room for another. SPRD_ACK_OLD_TIME
const OLD: Dur = Dur::from_secs(4);

/// The ACKs of one flow.
#[derive(Debug)]
struct Slot {
    /// `None`: free.
    flow: Option<FlowId>,
    /// The latest ACK, and the neighbour that it goes to.
    held: Option<(Pkt, Option<NodeId>)>,
    /// Broadcom: ACKs since the last that went out, this one too. Unisoc: those dropped or held since then.
    count: u32,
    /// The number of the latest.
    number: Seq,
    /// The start of the last segment received with PSH, until it is acknowledged.
    push: Option<Seq>,
    /// The timer runs.
    waits: bool,
    used: SimTime,
}

/// The agent of a node.
#[derive(Debug)]
pub(super) struct Holder {
    rule: Rule,
    delay: Dur,
    slots: Vec<Slot>,
    books: Books,
    timed_out: u64,
}

/// The verdict on an ACK.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Hold,
    Drop,
}

impl Holder {
    pub(super) fn new(rule: Rule, delay: Dur) -> Holder {
        Holder { rule, delay, slots: Vec::with_capacity(rule.flows()), books: Books::default(), timed_out: 0 }
    }

    fn find(&self, flow: FlowId) -> Option<usize> {
        self.slots.iter().position(|slot| slot.flow == Some(flow))
    }

    /// A slot for a new flow: a free one, a new one, or that of a flow of old.
    fn slot_for(&mut self, flow: FlowId, number: Seq, now: SimTime) -> Option<usize> {
        let is_free = |slot: &Slot| slot.flow.is_none() || slot.held.is_none() && now.since(slot.used) > OLD;
        let slot = Slot { flow: Some(flow), held: None, count: 0, number, push: None, waits: false, used: now };
        if let Some(i) = self.slots.iter().position(is_free) {
            self.slots[i] = slot;
            return Some(i);
        }
        if self.slots.len() == self.rule.flows() {
            return None;
        }
        self.slots.push(slot);
        Some(self.slots.len() - 1)
    }

    /// Drops what slot `i` holds, if anything: a later one takes its place.
    fn supersede(&mut self, i: usize, cx: &mut Cx) {
        if let Some((pkt, _)) = self.slots[i].held.take() {
            self.books.suppressed += 1;
            cx.drop(pkt, DropWhy::Suppressed);
        }
    }

    fn stop_timer(&mut self, i: usize, cx: &mut Cx) {
        if std::mem::take(&mut self.slots[i].waits) {
            cx.timer(Key(i as u64), SimTime::NEVER);
        }
    }

    /// A slot of DHD's lives as long as it holds something.
    fn broadcom(&mut self, flow: FlowId, tcp: &Tcp, ratio: u32, cx: &mut Cx) -> (Verdict, usize) {
        let Some(i) = self.find(flow) else {
            let Some(i) = self.slot_for(flow, tcp.ack, cx.now) else { return (Verdict::Pass, 0) };
            self.slots[i].count = 1;
            return (Verdict::Hold, i);
        };
        if tcp.ack.lt(self.slots[i].number) {
            return (Verdict::Drop, i);
        }
        self.slots[i].count += 1;
        self.supersede(i, cx);
        if self.slots[i].count >= ratio {
            self.stop_timer(i, cx);
            self.slots[i].flow = None;
            return (Verdict::Pass, i);
        }
        self.slots[i].number = tcp.ack;
        (Verdict::Hold, i)
    }

    /// `is_bare`: it may be dropped. All that carries an acknowledgment is shown.
    fn unisoc(&mut self, flow: FlowId, tcp: &Tcp, is_bare: bool, most: u32, cx: &mut Cx) -> (Verdict, usize) {
        let Some(i) = self.find(flow) else {
            // A connection begins with one that passes.
            self.slot_for(flow, tcp.ack, cx.now);
            return (Verdict::Pass, 0);
        };
        self.slots[i].used = cx.now;
        if !self.slots[i].number.lt(tcp.ack) {
            return (Verdict::Pass, i);
        }
        self.slots[i].number = tcp.ack;
        if !is_bare {
            if self.slots[i].held.is_some() {
                self.supersede(i, cx);
                self.slots[i].count = 0;
                self.stop_timer(i, cx);
            }
            return (Verdict::Pass, i);
        }
        self.supersede(i, cx);
        let slot = &mut self.slots[i];
        slot.count += 1;
        let is_pushed = slot.push.is_some_and(|start| start.le(tcp.ack));
        if is_pushed {
            slot.push = None;
        }
        if is_pushed || slot.count > most {
            slot.count = 0;
            self.stop_timer(i, cx);
            return (Verdict::Pass, i);
        }
        (Verdict::Hold, i)
    }
}

/// True if it has no options but timestamps, where those do not count. tcp_ack.c, `tcp_ack_check` and `tcp_ack_is_drop`
fn is_bare(packet: &Packet, tcp: &Tcp, timestamps: bool) -> bool {
    let is_allowed = |kind: u8| timestamps && kind == wire::tcp::kind::TIMESTAMPS;
    let is_ack = tcp.flags == Flags::ACK && packet.payload.len == 0;
    is_ack && (tcp.options.is_empty() || timestamps && tcp.options.iter().all(|(kind, _)| is_allowed(kind)))
}

impl Agent for Holder {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(&tcp) = packet.tcp().filter(|tcp| tcp.flags.has(Flags::ACK)) else { return Some(pkt) };
        let (flow, is_pure) = (packet.flow, packet.pure_ack().is_some());
        let (verdict, i) = match (self.rule, at) {
            (Rule::Unisoc { .. }, Place::FromAir) => {
                let pushed = self.find(flow.reverse()).filter(|_| tcp.flags.has(Flags::PSH));
                if let Some(i) = pushed {
                    self.slots[i].push = Some(tcp.seq);
                }
                return Some(pkt);
            }
            (_, Place::FromAir) => return Some(pkt),
            (Rule::Broadcom { ratio }, _) if plain_ack(packet).is_some() => self.broadcom(flow, &tcp, ratio, cx),
            (Rule::Broadcom { .. }, _) => (Verdict::Pass, 0),
            (Rule::Unisoc { most, timestamps }, _) => {
                let is_bare = is_bare(packet, &tcp, timestamps);
                self.unisoc(flow, &tcp, is_bare, most, cx)
            }
        };
        match verdict {
            Verdict::Pass => {
                self.books.passed += u64::from(is_pure);
                return Some(pkt);
            }
            Verdict::Drop => {
                self.books.suppressed += 1;
                cx.drop(pkt, DropWhy::Suppressed);
            }
            Verdict::Hold => {
                let (slot, peer) = (&mut self.slots[i], cx.peer);
                slot.held = Some((pkt, peer));
                // It runs from the first that waits.
                if !std::mem::replace(&mut slot.waits, true) {
                    cx.timer(Key(i as u64), cx.now + self.delay);
                }
            }
        }
        None
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        let slot = &mut self.slots[key.0 as usize];
        slot.waits = false;
        let Some((pkt, peer)) = slot.held.take() else { return };
        slot.count = 0;
        if matches!(self.rule, Rule::Broadcom { .. }) {
            slot.flow = None;
        }
        self.timed_out += 1;
        cx.inject(pkt, Toward::Onward(Place::ToAir, peer));
    }

    fn closed(&mut self, flow: FlowId, cx: &mut Cx) {
        for way in [flow, flow.reverse()] {
            if let Some(i) = self.find(way) {
                self.supersede(i, cx);
                self.stop_timer(i, cx);
                self.slots[i].flow = None;
            }
        }
    }

    fn release(&mut self, cx: &mut Cx) {
        for i in 0..self.slots.len() {
            if let Some((pkt, _)) = self.slots[i].held.take() {
                cx.drop(pkt, DropWhy::NodeDown);
            }
            self.stop_timer(i, cx);
            self.slots[i].flow = None;
        }
    }

    fn held(&self) -> u64 {
        self.slots.iter().filter(|slot| slot.held.is_some()).count() as u64
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.books.tell(out);
        out("acks_timed_out", self.timed_out);
    }
}
