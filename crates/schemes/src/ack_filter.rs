//! CAKE's ACK filter: a pure ACK that waits leaves its queue when later ones of its flow say all that it says.
//!
//! - **Source** @HTM18; Linux, net/sched/sch_cake.c (`cake_ack_filter`, `cake_tcph_may_drop`, `cake_tcph_sack_compare`); the idea @RFC3449 sec. 5.2.1.
//! - **Realism** no oracle; a look at TCP headers, so nothing for encrypted traffic. CAKE is a queue of the IP layer, which
//!   mac80211 passes by: on a real host it acts where a shaper stands before the radio.
//! - **Departs** (a) Its seat is the transmit queue of each category, where ACKs wait that really are sent by radio: the best place it could have.
//!   (b) A flow is a connection's direction; CAKE hashes, and takes collisions for one flow. (c) An ACK that is in service stays.
//!   (d) Where the newer ACK is refused, the older goes back to the end of the queue.
//! - **Bound** it drops nothing of which no later ACK of the flow is queued. If that is lost on the air, the sender waits for the next. Around
//!   a queue that withdraws nothing it does nothing.
//! - **Checked** `tests/all/ack_filter.rs` (by hand; random ACKs); `every_scheme`; `world/tests/all/ack_relatives.rs`.

use crate::covered::Covered;
use crate::{Agent, Info, Kind, Param, Params, Refusal, Site, Value};
use mac::{Around, Msdu, RaTid, Sought, TxQueue, Wrap};
use queue::Space;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::{FlowId, SimTime};
use wire::{Flags, Packet, Packets, Seq, Tcp, tcp::kind};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ack-filter",
    summary: "queues drop TCP ACKs that later ones cover, by the rule of CAKE",
    source: "HTM18",
    params: &[Param {
        key: "mode",
        kind: Kind::Choice(&["conservative", "aggressive"]),
        default: Value::Choice("conservative"),
        doc: "two ACKs of a flow stay in the queue beside the newest data or ACK, or one if nothing stands between",
    }],
};

/// At every node with a radio whose packets are TCP's.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air || !site.node.carries_tcp {
        return Ok(());
    }
    let is_aggressive = params.choice("mode") == "aggressive";
    let books = Rc::new(RefCell::new(Books::default()));
    site.reads_tcp();
    site.agent(Teller(Rc::clone(&books)));
    site.wrap_queue(move |inner| Box::new(Around::new(inner, Filter::new(is_aggressive, Rc::clone(&books)))));
    Ok(())
}

#[derive(Debug, Default)]
struct Books {
    filtered: u64,
    queued: u64,
}

/// Tells the counts of all queues of the node.
#[derive(Debug)]
struct Teller(Rc<RefCell<Books>>);

impl Agent for Teller {
    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let books = self.0.borrow();
        out("acks_filtered", books.filtered);
        out("acks_queued", books.queued);
    }
}

/// The flags that may differ between an ACK and one that covers it; a change of them is news.
const ECHOES: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// Flows of which nothing waits that keep their place: the lists of a few are not made anew.
const KEPT: usize = 64;

/// The kind of an MD5 signature. TCPOPT_MD5SIG
const MD5: u8 = 19;

/// A segment of a flow in the queue.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    serial: u64,
    tcp: Tcp,
    has_data: bool,
}

impl Waiting {
    fn of(serial: u64, packet: &Packet) -> Option<Waiting> {
        Some(Waiting { serial, tcp: *packet.tcp()?, has_data: packet.payload.len > 0 })
    }

    fn echoes(&self) -> Flags {
        Flags(self.tcp.flags.0 & ECHOES.0)
    }

    /// True if its header is one that may be dropped before one with these timestamps. `cake_tcph_may_drop`
    fn may_go(&self, (tsval, tsecr): (u32, u32)) -> bool {
        let is_later = |a: u32, b: u32| Seq(b).lt(Seq(a));
        let is_known = |(kind, option): (u8, &[u8])| match kind {
            MD5 => true,
            kind::SACK => option.len() % 8 == 2,
            kind::TIMESTAMPS => {
                let stamps = self.tcp.options.timestamps();
                stamps.is_some_and(|(val, ecr)| !is_later(val, tsval) && !is_later(ecr, tsecr))
            }
            _ => false,
        };
        let is_ack = self.tcp.flags.without(ECHOES) == Flags::ACK && !self.has_data;
        is_ack && self.tcp.options.iter().all(is_known)
    }

    /// True if `newer` says all that this ACK says, and more. `cake_ack_filter`
    fn is_covered_by(&self, newer: &Tcp) -> bool {
        let more = sacks_more(&self.tcp, newer);
        !newer.ack.lt(self.tcp.ack) && more.is_some_and(|more| more || self.tcp.ack != newer.ack)
    }
}

/// True if the blocks of `newer` have those of `older` and more bytes in all, false if they have no more; `None`: they lack some.
/// A block below the ACK number is news that must not go (@RFC2883). `cake_tcph_sack_compare`
fn sacks_more(older: &Tcp, newer: &Tcp) -> Option<bool> {
    let mut bytes = 0u32;
    for block in older.options.sack_blocks() {
        let has = newer.options.sack_blocks().any(|it| it.start.le(block.start) && block.end.le(it.end));
        if block.start.lt(older.ack) || !has {
            return None;
        }
        bytes = bytes.wrapping_add(block.len());
    }
    let newest = newer.options.sack_blocks().fold(0u32, |sum, block| sum.wrapping_add(block.len()));
    Some(newest > bytes)
}

/// The segment of this flow that goes when `newer` comes behind them all. `cake_ack_filter`
fn victim(queued: &VecDeque<Waiting>, newer: &Waiting, is_aggressive: bool) -> Option<u64> {
    if !newer.tcp.flags.has(Flags::ACK) || newer.tcp.flags.has(Flags::SYN) {
        return None;
    }
    let stamps = newer.tcp.options.timestamps().unwrap_or_default();
    let mut found: Option<(usize, &Waiting)> = None;
    let mut count = 0;
    for (place, it) in queued.iter().enumerate() {
        // The one found was the last with its flags.
        if found.is_some_and(|(_, first)| first.echoes() != it.echoes()) {
            found = None;
            count -= 1;
        }
        if !it.may_go(stamps) || !it.is_covered_by(&newer.tcp) {
            continue;
        }
        let (_, first) = *found.get_or_insert((place, it));
        count += 1;
        if count > 1 {
            return Some(first.serial);
        }
    }
    let (place, only) = found?;
    let is_last = place + 1 == queued.len();
    (is_aggressive && is_last && only.echoes() == newer.echoes()).then_some(only.serial)
}

/// A queue around another.
#[derive(Debug)]
struct Filter {
    is_aggressive: bool,
    /// Segments that wait, in order.
    flows: BTreeMap<FlowId, VecDeque<Waiting>>,
    covered: Covered,
    books: Rc<RefCell<Books>>,
}

impl Filter {
    fn new(is_aggressive: bool, books: Rc<RefCell<Books>>) -> Filter {
        Filter { is_aggressive, flows: BTreeMap::new(), covered: Covered::default(), books }
    }

    /// It has left the queue.
    fn forget(&mut self, msdu: &Msdu, all: &Packets) {
        let flow = all.get(&msdu.pkt).flow;
        let Some(queued) = self.flows.get_mut(&flow) else { return };
        if let Some(place) = queued.iter().position(|it| it.serial == msdu.serial) {
            queued.remove(place);
        }
        if queued.is_empty() && self.flows.len() > KEPT {
            self.flows.remove(&flow);
        }
    }
}

impl Wrap for Filter {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let packet = all.get(&msdu.pkt);
        let Some(new) = Waiting::of(msdu.serial, packet) else {
            return inner.push(now, msdu, all).inspect_err(|lost| self.forget(lost, all));
        };
        let (flow, is_ack) = (packet.flow, packet.pure_ack().is_some());
        let queued = self.flows.entry(flow).or_default();
        // The covered one makes room.
        let older = victim(queued, &new, self.is_aggressive)
            .and_then(|serial| inner.withdraw(now, Sought::Serial(serial), all));
        if let Some(older) = &older {
            queued.retain(|it| it.serial != older.serial);
        }
        let pushed = inner.push(now, msdu, all);
        if let Err(lost) = &pushed {
            self.forget(lost, all);
        }
        let is_in = pushed.as_ref().err().is_none_or(|lost| lost.serial != new.serial);
        if is_in {
            self.flows.entry(flow).or_default().push_back(new);
            self.books.borrow_mut().queued += u64::from(is_ack);
        }
        let Some(older) = older else { return pushed };
        if is_in {
            self.books.borrow_mut().filtered += 1;
            self.covered.push(older, all);
            return pushed;
        }
        // The newer one was refused: the older is still needed.
        let again = Waiting::of(older.serial, all.get(&older.pkt));
        match inner.push(now, older, all) {
            Ok(()) => self.flows.entry(flow).or_default().extend(again),
            Err(lost) => self.covered.push(lost, all),
        }
        pushed
    }

    fn dropped(&mut self, inner: &mut dyn TxQueue, all: &Packets) -> Option<Msdu> {
        inner.dropped(all).inspect(|msdu| self.forget(msdu, all))
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        inner.pop(now, all).inspect(|msdu| self.forget(msdu, all))
    }

    fn pop_for(&mut self, inner: &mut dyn TxQueue, now: SimTime, of: RaTid, all: &mut Packets) -> Option<Msdu> {
        inner.pop_for(now, of, all).inspect(|msdu| self.forget(msdu, all))
    }

    fn withdraw(&mut self, inner: &mut dyn TxQueue, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        inner.withdraw(now, sought, all).inspect(|msdu| self.forget(msdu, all))
    }

    fn expired(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) -> Option<Msdu> {
        self.covered.pop().or_else(|| inner.expired(now, all).inspect(|msdu| self.forget(msdu, all)))
    }

    fn space(&self, inner: &dyn TxQueue) -> Space {
        self.covered.within(inner.space())
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        self.flows.clear();
        let mut out: Vec<Msdu> = std::iter::from_fn(|| self.covered.pop()).collect();
        out.extend(inner.drain(now));
        out
    }
}
