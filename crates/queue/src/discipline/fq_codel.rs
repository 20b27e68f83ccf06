//! FQ-CoDel: a queue for each flow, served by deficits, new flows first, CoDel in each.
//!
//! - **Source** @RFC8290: Hoeiland-Joergensen, McKenney, Taht, Gettys & Dumazet, "The Flow Queue CoDel Packet Scheduler and Active Queue
//!   Management Algorithm", RFC 8290, 2018. Enqueue: sec. 4.1; dequeue: sec. 4.2; parameters: sec. 5.2. CoDel: @RFC8289.
//! - **Departs** (a) sizes are those of IP packets: the quantum of 1514 B is a full packet and 14 B more. (b) the hash is a fixed mix of
//!   the five-tuple and of a salt drawn from the seed, once. (c) a packet that its owner takes out of turn (a later one for the same
//!   receiver
//!   that shares a PSDU) is not charged to its flow and is no dequeue of CoDel. (d) see `codel.rs`.
//! - **Checked** tests below; `tests/all/books.rs`; `validation/queue` against ns-3.

use super::codel::{CE_THRESHOLD, Control, INTERVAL, Law, TARGET, ecn};
use super::{Discipline, Outlet, Turns, Unsound};
use crate::{Arrival, FlowKey, List, Mark, Queued, Refused, Slot};
use plugin::{Info, Kind, Param, Params, Value};
use std::collections::VecDeque;
use units::{Bytes, SimTime};

/// Its declaration. Defaults: @RFC8290 sec. 5.2.
pub static INFO: Info = Info {
    id: "fq-codel",
    summary: "A queue for each flow, new flows before old ones, controlled delay in each; what is full takes from the longest.",
    source: "RFC8290",
    params: &[
        TARGET,
        INTERVAL,
        ecn(true),
        CE_THRESHOLD,
        QUANTUM,
        FLOWS,
        DROP_BATCH,
        MEMORY_LIMIT,
    ],
};

pub(super) const QUANTUM: Param = Param {
    key: "quantum",
    kind: Kind::Size { min: Bytes(1), max: Bytes(1_000_000) },
    default: Value::Size(Bytes(1514)),
    doc: "Bytes that a flow may send in a turn.",
};

pub(super) const FLOWS: Param = Param {
    key: "flows",
    kind: Kind::Int { min: 1, max: 65_536 },
    default: Value::Int(1024),
    doc: "Queues that flows are hashed to.",
};

pub(super) const DROP_BATCH: Param = Param {
    key: "drop_batch",
    kind: Kind::Int { min: 1, max: 1_000_000 },
    default: Value::Int(64),
    doc: "The most packets that the longest queue loses at once when all are full: half of it at most.",
};

pub(super) const MEMORY_LIMIT: Param = Param {
    key: "memory_limit",
    kind: Kind::Size { min: Bytes(0), max: Bytes(1_000_000_000_000) },
    default: Value::Size(Bytes(0)),
    doc: "Bytes that all hold at most, beside the limit; 0 B: none.",
};

/// One of them.
///
/// # Errors
/// `target` is not below `interval`.
pub fn make(params: &Params, outlet: Outlet) -> Result<Box<dyn Discipline>, Unsound> {
    Ok(Box::new(of(params, outlet)?))
}

/// The flows of one queue, by these parameters.
pub(super) fn of(params: &Params, mut outlet: Outlet) -> Result<FqCodel, Unsound> {
    let mut half = || u64::from(outlet.draws.below(u32::MAX));
    let salt = half() << 32 | half();
    FqCodel::new(params, outlet.mtu, salt)
}

/// The list that a queue is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// None.
    Inactive,
    New,
    Old,
}

/// A queue.
#[derive(Debug)]
struct Flow {
    packets: List,
    control: Control,
    /// Bytes it may still send in its turn.
    credit: i64,
    status: Status,
}

/// No queue.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct FqCodel {
    law: Law,
    quantum: i64,
    batch: u32,
    memory_limit: Option<Bytes>,
    salt: u64,
    /// The queue of each hash value; each gets one when it first needs it.
    buckets: Vec<u32>,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// The turns of receivers, of which each has such queues.
    turns: Turns,
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014, fig. 16; constants by D. Stafford): each bit of the result depends on
/// all of `z`.
fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl FqCodel {
    fn new(params: &Params, mtu: Bytes, salt: u64) -> Result<FqCodel, Unsound> {
        let quantum = params.size("quantum").0 as i64;
        Ok(FqCodel {
            law: Law::new(params, mtu)?,
            quantum,
            batch: params.int("drop_batch") as u32,
            memory_limit: Some(params.size("memory_limit")).filter(|limit| *limit > Bytes::ZERO),
            salt,
            buckets: vec![NONE; params.int("flows") as usize],
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            turns: Turns::Round,
        })
    }

    /// The same of one receiver of a radio, with these turns.
    pub(super) fn with_turns(self, turns: Turns) -> FqCodel {
        FqCodel { turns, ..self }
    }

    /// The hash value of a flow. @RFC8290 sec. 4.1.1
    fn bucket(&self, flow: FlowKey) -> usize {
        let FlowKey(bits) = flow;
        let hash = mix(mix(self.salt ^ bits as u64) ^ (bits >> 64) as u64);
        (hash % self.buckets.len() as u64) as usize
    }

    /// The queue of a flow.
    fn queue_of(&mut self, flow: FlowKey) -> u32 {
        let bucket = self.bucket(flow);
        if self.buckets[bucket] == NONE {
            self.buckets[bucket] = self.flows.len() as u32;
            let (packets, control) = (List::default(), Control::default());
            self.flows.push(Flow { packets, control, credit: 0, status: Status::Inactive });
        }
        self.buckets[bucket]
    }

    /// The queue whose turn it is. One without credit gets its quantum and goes to the end of the old ones. @RFC8290 sec. 4.2
    fn turn(&mut self) -> Option<u32> {
        loop {
            let from_new = self.new.front().copied();
            let at = from_new.or_else(|| self.old.front().copied())?;
            let flow = &mut self.flows[at as usize];
            if flow.credit > 0 {
                return Some(at);
            }
            flow.credit += self.quantum;
            self.pass(at);
        }
    }

    /// The first queue goes to the end of the old ones.
    fn pass(&mut self, at: u32) {
        let flow = &mut self.flows[at as usize];
        match flow.status {
            Status::New => _ = self.new.pop_front(),
            Status::Old | Status::Inactive => _ = self.old.pop_front(),
        }
        flow.status = Status::Old;
        self.old.push_back(at);
    }

    /// The first queue is found empty: a new one becomes an old one, so that it cannot come back as a new one before all old ones had
    /// their turn; an old one is not served any more. @RFC8290 sec. 4.2
    fn found_empty(&mut self, at: u32) {
        if self.flows[at as usize].status == Status::New {
            self.pass(at);
        } else {
            self.old.pop_front();
            self.flows[at as usize].status = Status::Inactive;
        }
    }

    fn is_over(&self, queued: &Queued) -> bool {
        queued.is_over() || self.memory_limit.is_some_and(|most| queued.bytes() > most)
    }

    /// The queue with the most bytes, the first of several.
    fn fattest(&self) -> Option<usize> {
        let bytes = |at: &usize| self.flows[*at].packets.bytes();
        (0..self.flows.len()).rev().max_by_key(bytes)
    }

    /// Drops half of the packets of the queue with the most bytes, at most a batch, from its head. @RFC8290 sec. 4.1
    fn shed(&mut self, queued: &mut Queued) {
        let Some(fattest) = self.fattest() else { return };
        let fattest = &mut self.flows[fattest];
        for _ in 0..fattest.packets.len().div_ceil(2).min(self.batch) {
            if let Some(slot) = queued.pop_front(&mut fattest.packets) {
                queued.drop(slot, Refused::Full);
            }
        }
    }

    /// All queues that have or had a packet, in the order of their turns.
    fn in_turn(&self) -> impl Iterator<Item = &Flow> {
        self.new.iter().chain(&self.old).map(|at| &self.flows[*at as usize])
    }
}

impl Discipline for FqCodel {
    /// Room is made when it is in: what is dropped depends on whose it is.
    fn full(&mut self, _: SimTime, _: &Arrival, _: &mut Queued) -> bool {
        true
    }

    fn push(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        let at = self.queue_of(queued.flow(slot));
        let flow = &mut self.flows[at as usize];
        queued.push_back(&mut flow.packets, slot);
        if flow.status == Status::Inactive {
            (flow.status, flow.credit) = (Status::New, self.quantum);
            self.new.push_back(at);
        }
        while self.is_over(queued) && !queued.is_empty() {
            self.shed(queued);
        }
    }

    fn pop(&mut self, now: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)> {
        loop {
            let at = self.turn()?;
            let flow = &mut self.flows[at as usize];
            if let Some((slot, mark)) = flow.control.dequeue(&self.law, now, &mut flow.packets, queued) {
                flow.credit -= queued.size(slot).0 as i64;
                return Some((slot, mark));
            }
            self.found_empty(at);
        }
    }

    fn idle(&mut self) {
        while let Some(at) = self.turn() {
            self.flows[at as usize].control.idle();
            self.found_empty(at);
        }
    }

    fn remove(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        let at = self.queue_of(queued.flow(slot));
        queued.unlink(&mut self.flows[at as usize].packets, slot);
    }

    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        self.in_turn().find_map(|flow| queued.iter(&flow.packets).find(|slot| is_it(*slot)))
    }

    fn turns(&self) -> Turns {
        self.turns
    }

    /// One packet of the longest queue, from its head: a batch would take more than the room that is needed.
    fn surplus(&self, _: &Queued) -> Option<Slot> {
        self.flows[self.fattest()?].packets.first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{arrival_of, drain, queue};
    use crate::{Limit, Queue};
    use units::Dur;

    const NOW: SimTime = SimTime::ZERO;
    const MANY: Limit = Limit::Packets(10_240);
    /// A flow may send a full packet of 1000 B a turn.
    const TURN: (&str, Value) = ("quantum", Value::Size(Bytes(1000)));

    fn ms(n: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(n)
    }

    fn fq(limit: Limit, set: &[(&str, Value)]) -> Queue<&'static str> {
        queue("fq-codel", set, limit, 1000)
    }

    fn push(fq: &mut Queue<&'static str>, packets: &[(u64, &'static str, u64)]) {
        for (flow, what, size) in packets {
            assert_eq!(fq.push(NOW, *what, arrival_of(*flow, *size)), Ok(Mark::None));
        }
    }

    fn pop(fq: &mut Queue<&'static str>) -> Option<&'static str> {
        fq.pop(NOW).map(|(what, _)| what)
    }

    fn order(fq: &mut Queue<&'static str>) -> Vec<&'static str> {
        drain(fq, NOW).into_iter().map(|(what, _)| what).collect()
    }

    #[test]
    fn a_new_flow_is_served_before_old_ones() {
        let mut fq = fq(MANY, &[TURN]);
        push(&mut fq, &[(1, "a1", 1000), (1, "a2", 1000), (1, "a3", 1000), (2, "b1", 1000), (2, "b2", 1000)]);
        // a and b are both new: a1 uses up a's quantum. Its next turn finds no credit: a becomes old, b is the first of the new ones.
        assert_eq!((pop(&mut fq), pop(&mut fq)), (Some("a1"), Some("b1")));
        // Both are old now. c comes, and is served at once.
        push(&mut fq, &[(3, "c1", 100)]);
        assert_eq!(order(&mut fq), ["c1", "a2", "b2", "a3"]);
    }

    #[test]
    fn a_new_flow_that_empties_becomes_old_and_is_removed_only_when_it_is_found_empty_there() {
        let mut fq = fq(MANY, &[TURN]);
        push(&mut fq, &[(1, "a1", 1000), (1, "a2", 1000), (1, "a3", 1000)]);
        assert_eq!(pop(&mut fq), Some("a1"));
        push(&mut fq, &[(2, "b1", 100)]);
        assert_eq!(pop(&mut fq), Some("b1"), "a is still new, without credit: it becomes old");
        // b is empty, and new until its next turn. That makes it old, behind a; a sends.
        assert_eq!(pop(&mut fq), Some("a2"));
        // If it were not on any list, b would be new again and go before a. It is old: a has no credit, gets it, and goes behind b, which
        // has 900 B left.
        push(&mut fq, &[(2, "b2", 900), (2, "b3", 100)]);
        assert_eq!((pop(&mut fq), pop(&mut fq)), (Some("b2"), Some("a3")));
        assert_eq!(order(&mut fq), ["b3"]);
        // Nothing is left: both lists are empty, and b is new again.
        push(&mut fq, &[(1, "a4", 1000), (1, "a5", 1000), (2, "b4", 100)]);
        assert_eq!(order(&mut fq), ["a4", "b4", "a5"]);
    }

    #[test]
    fn flows_share_bytes_by_their_deficits() {
        // Quantum 1000. Credit is checked before a packet, not against it: a sends while it has any.
        // New: a1 (600, left 400), a2 (left -200); b1…b4 (300 each: 700, 400, 100, left -200). Old: a has 800 after its quantum, b 800.
        // a3 (left 200), a4 (left -400); b5 (left 500), b6 (left 200), b7 (left -100). Then a 600: a5. b 900: b8.
        let mut fq = fq(MANY, &[TURN]);
        let a = ["a1", "a2", "a3", "a4", "a5"].map(|what| (1, what, 600));
        let b = ["b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"].map(|what| (2, what, 300));
        push(&mut fq, &a);
        push(&mut fq, &b);
        let expected = ["a1", "a2", "b1", "b2", "b3", "b4", "a3", "a4", "b5", "b6", "b7", "a5", "b8"];
        assert_eq!(order(&mut fq), expected);
    }

    #[test]
    fn a_sparse_flow_never_waits_for_more_than_the_packet_in_service() {
        // Three flows keep 100 packets queued each; a sparse one sends 100 B every fourth packet: it leaves at once, each time.
        let mut fq = fq(MANY, &[TURN]);
        for flow in 1..=3 {
            push(&mut fq, &[(flow, "bulk", 1000); 100]);
        }
        for _ in 0..50 {
            assert_eq!([(); 4].map(|()| pop(&mut fq)), [Some("bulk"); 4]);
            push(&mut fq, &[(9, "sparse", 100)]);
            assert_eq!(pop(&mut fq), Some("sparse"));
        }
    }

    #[test]
    fn what_is_full_loses_half_of_its_fattest_queue_from_the_head_and_a_batch_at_most() {
        // 12 packets of a, 8 of b, which are fewer bytes though it comes last: a has the most bytes.
        for (batch, lost) in [(64, vec!["a0", "a1", "a2", "a3", "a4", "a5"]), (4, vec!["a0", "a1", "a2", "a3"])] {
            let mut fq = fq(Limit::Packets(19), &[TURN, ("drop_batch", Value::Int(batch))]);
            let a =
                ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11"].map(|what| (1, what, 500));
            push(&mut fq, &a);
            push(&mut fq, &[(2, "b", 600); 7]);
            assert_eq!(fq.dropped(), None);
            push(&mut fq, &[(2, "last", 600)]);
            assert_eq!(core::iter::from_fn(|| fq.dropped()).collect::<Vec<_>>(), lost);
            let stats = fq.stats(NOW);
            assert_eq!((stats.dropped_full, stats.dropped_early, fq.len()), (lost.len() as u64, 0, 20 - lost.len()));
        }
        // 200 packets of one flow and a limit of 199: 64 go, not 100.
        let mut fq = fq(Limit::Packets(199), &[]);
        push(&mut fq, &[(1, "a", 500); 200]);
        assert_eq!((core::iter::from_fn(|| fq.dropped()).count(), fq.len()), (64, 136));
    }

    #[test]
    fn bytes_are_limited_beside_packets() {
        let mut fq = fq(Limit::Packets(99), &[("memory_limit", Value::Size(Bytes(3000)))]);
        push(&mut fq, &[(1, "a1", 1000), (1, "a2", 1000), (2, "b1", 1000)]);
        assert_eq!(fq.dropped(), None);
        push(&mut fq, &[(3, "c1", 1)]);
        assert_eq!((fq.dropped(), fq.dropped(), fq.space().used), (Some("a1"), None, Bytes(2001)));
    }

    #[test]
    fn flows_of_one_hash_value_share_a_queue_and_others_do_not() {
        // One queue for all: first in, first out. With 1024, the flows take turns.
        let packets = [(1, "a1", 1000), (1, "a2", 1000), (2, "b1", 1000), (2, "b2", 1000)];
        let mut shared = fq(MANY, &[TURN, ("flows", Value::Int(1))]);
        push(&mut shared, &packets);
        assert_eq!(order(&mut shared), ["a1", "a2", "b1", "b2"]);
        let mut apart = fq(MANY, &[TURN]);
        push(&mut apart, &packets);
        assert_eq!(order(&mut apart), ["a1", "b1", "a2", "b2"]);
    }

    #[test]
    fn the_hash_spreads_flows_evenly_and_differently_for_each_salt() {
        let fq = |salt| FqCodel::new(&Params::defaults(INFO.params), Bytes(1500), salt).expect("defaults are sound");
        let values = |fq: &FqCodel| (0..20_480u128).map(|n| fq.bucket(FlowKey::from_bits(n << 64 | n))).collect::<Vec<_>>();
        let (one, other) = (values(&fq(1)), values(&fq(2)));
        // 20 flows a bucket are expected: chi-square with 1023 degrees of freedom, deviation sqrt(2 · 1023) = 45; five of them.
        let mut counts = [0f64; 1024];
        one.iter().for_each(|bucket| counts[*bucket] += 1.0);
        let chi_square: f64 = counts.iter().map(|count| (count - 20.0) * (count - 20.0) / 20.0).sum();
        assert!((chi_square - 1023.0).abs() < 226.0, "{chi_square}");
        // By chance 20 of 20,480 are the same; five deviations of that are 22.
        let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(same < 42, "{same}");
    }

    #[test]
    fn each_queue_has_a_controlled_delay_of_its_own() {
        // Bulk stands in its queue, 4 ms a packet; a sparse flow has one packet each 20 ms. Drops hit bulk alone, the first 100 ms after it
        // exceeded 5 ms at 8 ms.
        let mut fq = fq(MANY, &[]);
        push(&mut fq, &[(1, "bulk", 1000); 1000]);
        let (mut lost, mut first) = (Vec::new(), None);
        for n in 1..200 {
            if n % 5 == 0 {
                assert_eq!(fq.push(ms(4 * n), "sparse", arrival_of(2, 100)), Ok(Mark::None));
            }
            fq.pop(ms(4 * n));
            lost.extend(core::iter::from_fn(|| fq.dropped()));
            first = first.or((!lost.is_empty()).then_some(4 * n));
        }
        assert!(lost.len() > 5 && lost.iter().all(|what| *what == "bulk"), "{lost:?}");
        assert_eq!(first, Some(108));
    }

    #[test]
    fn what_is_taken_out_of_turn_leaves_the_order_of_the_others() {
        let mut fq = fq(MANY, &[TURN]);
        push(&mut fq, &[(1, "a1", 1000), (1, "a2", 1000), (2, "b1", 1000), (2, "b2", 1000)]);
        assert_eq!(fq.find(|what| what.starts_with('b')), Some(&"b1"));
        assert_eq!(fq.take(NOW, |what| *what == "b1"), Some("b1"));
        assert_eq!(fq.withdraw(NOW, |what| *what == "a2"), Some("a2"));
        assert_eq!(order(&mut fq), ["a1", "b2"]);
        assert_eq!(fq.stats(NOW).withdrawn, 1);
    }
}
