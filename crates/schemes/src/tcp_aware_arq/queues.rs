//! Three queues by reattempts, each in the order of RTO. @MFHA07 algorithm 1

use super::estimate::Estimates;
use mac::{Msdu, Next, RaTid, Sought, TxQueue, Wrap};
use queue::{Limit, Space};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;
use units::{Bytes, Dur, FlowId, SimTime};
use wire::Packets;

/// Q1, Q2, Q3.
pub(super) const QUEUES: usize = 3;
/// The inner queue, which holds fresh data and packets without data, among the places of an order.
const INNER: usize = QUEUES;
/// Places in the order of their service: Q1, Q2, Q3 and [`INNER`].
type Order = [usize; QUEUES + 1];

/// Returns the service order with fresh data at the place `fresh`; repeated data keep the order that the text gives them.
pub(super) fn order(fresh: &str) -> Order {
    match fresh {
        "first" => [INNER, 0, 1, 2],
        "behind-q2" => [0, 1, INNER, 2],
        "last" => [0, 1, 2, INNER],
        _ => [0, INNER, 1, 2],
    }
}

/// Greatest RTO in a weight, in milliseconds: a weight of 10⁴ n + RTO must not reach the next n. @MFHA07 equation 1
const MOST: Dur = Dur::from_ms(9999);

/// The rules of the service.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// RTO is the time left.
    pub is_left: bool,
    pub reattempts: u32,
    pub by_fragment: bool,
    /// Fresh data stand in Q1; what is no data takes turns with that.
    pub fresh_beside: bool,
    pub order: Order,
    /// The first queue whose head may be urgent.
    pub urgent_from: usize,
    pub in_turn: bool,
    pub drops_expired: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    /// Repetitions that others overtook.
    pub reordered: u64,
    pub urgent: u64,
    pub expired: u64,
}

#[derive(Debug)]
struct Entry {
    /// RTO when it came, capped; or when its timer goes off.
    rank: u64,
    /// Order of arrival among equals.
    number: u64,
    flow: FlowId,
    expires: SimTime,
    size: Bytes,
    msdu: Msdu,
}

impl Ord for Entry {
    /// The greatest goes first: that with the least rank.
    fn cmp(&self, other: &Entry) -> Ordering {
        (other.rank, other.number).cmp(&(self.rank, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// The three queues, around the inner one. That holds packets without TCP data; and fresh data, unless these stand in Q1.
#[derive(Debug)]
pub(super) struct Ordered {
    rules: Rules,
    limit: Limit,
    mtu: Bytes,
    estimates: Rc<RefCell<Estimates>>,
    counted: Rc<RefCell<Counted>>,
    queues: [BinaryHeap<Entry>; QUEUES],
    bytes: Bytes,
    number: u64,
    /// The queue whose turn it is, as a place in the order.
    turn: usize,
    last_failed: Option<u64>,
}

/// True if the MSDU is data of TCP.
fn is_data(msdu: &Msdu, all: &Packets) -> bool {
    all.get(&msdu.pkt).tcp_data().is_some()
}

impl Ordered {
    pub fn new(
        rules: Rules,
        (limit, mtu): (Limit, Bytes),
        estimates: Rc<RefCell<Estimates>>,
        counted: Rc<RefCell<Counted>>,
    ) -> Ordered {
        let queues = [(); QUEUES].map(|()| BinaryHeap::new());
        let (bytes, number, turn, last_failed) = (Bytes::ZERO, 0, 0, None);
        Ordered { rules, limit, mtu, estimates, counted, queues, bytes, number, turn, last_failed }
    }

    fn entries(&self) -> u64 {
        self.queues.iter().map(|queue| queue.len() as u64).sum()
    }

    /// The room that the three queues take.
    fn taken(&self) -> Bytes {
        match self.limit {
            Limit::Packets(_) => self.mtu * self.entries(),
            Limit::Bytes(_) => self.bytes,
        }
    }

    fn put(&mut self, queue: usize, msdu: Msdu, all: &Packets) {
        let packet = all.get(&msdu.pkt);
        let (flow, size) = (packet.flow, packet.ip_len());
        let (_, rto) = self.estimates.borrow().rtt_and_rto(flow);
        let rto = rto.min(MOST);
        let expires = msdu.enqueued + rto;
        let rank = if self.rules.is_left { expires.ns() } else { rto.ns() };
        self.bytes += size;
        self.number += 1;
        self.queues[queue].push(Entry { rank, number: self.number, flow, expires, size, msdu });
    }

    fn take(&mut self, queue: usize) -> Option<Msdu> {
        let entry = self.queues[queue].pop()?;
        self.bytes -= entry.size;
        Some(entry.msdu)
    }

    /// The queue whose head must go first: its RTO is below 2 RTT. Algorithm 1, line 9.
    fn urgent(&self, now: SimTime) -> Option<usize> {
        let heads = (self.rules.urgent_from..QUEUES).filter_map(|i| Some((i, self.queues[i].peek()?)));
        let is_urgent = |entry: &Entry| {
            let (rtt, _) = self.estimates.borrow().rtt_and_rto(entry.flow);
            let rto = if self.rules.is_left {
                entry.expires.since(now.min(entry.expires))
            } else {
                Dur::from_ns(entry.rank)
            };
            rtt.is_some_and(|rtt| rto < rtt * 2)
        };
        heads.filter(|(_, entry)| is_urgent(entry)).min_by_key(|(_, entry)| entry.rank).map(|(i, _)| i)
    }

    /// The queue to serve next: one of the three, or the inner queue.
    fn next(&self, inner: &dyn TxQueue, now: SimTime) -> Option<usize> {
        let has = |place: usize| match place {
            INNER => inner.space().entries > 0,
            queue => !self.queues[queue].is_empty(),
        };
        if let Some(urgent) = self.urgent(now) {
            return Some(urgent);
        }
        let order = self.rules.order;
        let turns = if self.rules.in_turn { order.len() } else { usize::from(self.rules.fresh_beside) * 2 };
        // Queues with turns are asked first, in turn; the others behind them, in order.
        (0..turns).map(|i| order[(self.turn + i) % turns]).chain(order).find(|place| has(*place))
    }
}

impl Wrap for Ordered {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        let needs = match self.limit {
            Limit::Packets(_) => self.mtu,
            Limit::Bytes(_) => all.get(&msdu.pkt).ip_len(),
        };
        if self.entries() > 0 && self.space(inner).free < needs {
            return Err(msdu);
        }
        if self.rules.fresh_beside && is_data(&msdu, all) {
            self.put(0, msdu, all);
            return Ok(());
        }
        inner.push(now, msdu, all)
    }

    fn pop(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &mut Packets) -> Option<Msdu> {
        let is_urgent = self.urgent(now);
        let place = self.next(inner, now)?;
        let msdu = if place == INNER { inner.pop(now, all)? } else { self.take(place)? };
        self.turn = self.rules.order.iter().position(|it| *it == place).map_or(0, |i| i + 1);
        let mut counted = self.counted.borrow_mut();
        counted.urgent += u64::from(is_urgent == Some(place));
        if let Some(failed) = self.last_failed.take() {
            counted.reordered += u64::from(failed != msdu.serial);
        }
        Some(msdu)
    }

    fn withdraw(&mut self, inner: &mut dyn TxQueue, now: SimTime, sought: Sought, all: &Packets) -> Option<Msdu> {
        for queue in &mut self.queues {
            let those = queue.iter().enumerate().filter(|(_, entry)| sought.is(&entry.msdu));
            if let Some((place, _)) = those.min_by_key(|(_, entry)| entry.msdu.serial) {
                let mut entries = std::mem::take(queue).into_vec();
                let entry = entries.swap_remove(place);
                *queue = entries.into();
                self.bytes -= entry.size;
                return Some(entry.msdu);
            }
        }
        inner.withdraw(now, sought, all)
    }

    fn expired(&mut self, inner: &mut dyn TxQueue, now: SimTime, all: &Packets) -> Option<Msdu> {
        if self.rules.drops_expired
            && let Some(place) = self.next(inner, now).filter(|place| *place != INNER)
            && self.queues[place].peek().is_some_and(|entry| entry.expires < now)
        {
            self.counted.borrow_mut().expired += 1;
            return self.take(place);
        }
        inner.expired(now, all)
    }

    fn failed(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, is_last: bool, all: &Packets) -> Next {
        if !is_data(&msdu, all) {
            return inner.failed(now, msdu, is_last, all);
        }
        let failures = if self.rules.by_fragment {
            u32::from(msdu.failures.0) + u32::from(msdu.failures.1)
        } else {
            u32::from(msdu.attempts).saturating_sub(u32::from(msdu.fragment))
        };
        let reattempts = failures.saturating_sub(1);
        if reattempts >= self.rules.reattempts {
            return Next::GiveUp(msdu);
        }
        self.last_failed = Some(msdu.serial);
        self.put((reattempts as usize).min(QUEUES - 1), msdu, all);
        Next::Yield
    }

    fn peek<'q>(
        &'q mut self,
        _: &'q mut dyn TxQueue,
        _: SimTime,
        _: RaTid,
        _: &mut Packets,
    ) -> Option<&'q Msdu> {
        None
    }

    fn space(&self, inner: &dyn TxQueue) -> Space {
        let inner = inner.space();
        Space {
            free: inner.free.saturating_sub(self.taken()),
            used: inner.used + self.bytes,
            entries: inner.entries + self.entries() as u32,
        }
    }

    fn drain(&mut self, inner: &mut dyn TxQueue, now: SimTime) -> Vec<Msdu> {
        self.bytes = Bytes::ZERO;
        let mut all: Vec<Msdu> = Vec::new();
        for queue in &mut self.queues {
            all.extend(std::mem::take(queue).into_sorted_vec().into_iter().rev().map(|entry| entry.msdu));
        }
        all.extend(inner.drain(now));
        all
    }
}
