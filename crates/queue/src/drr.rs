//! A queue per flow, served in turn: deficit round robin.
//!
//! - **Source** @SV96: Shreedhar & Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM Transactions on
//!   Networking 4(3), 1996, fig. 4. When it is full the longest queue loses its newest entry: @McK90, McKenney, "Stochastic
//!   Fairness Queueing", INFOCOM 1990, the policy that @SV96 sec. III-A takes over.
//! - **Departs** a flow has a queue of its own, and shares it with no other flow by a collision of hashes.
//! - **Checked** tests below; `tests/all/books.rs`.

use crate::{Entry, FlowKey};
use std::collections::VecDeque;
use units::Bytes;

/// The queue of one flow.
#[derive(Debug)]
struct Lane<T> {
    flow: FlowKey,
    entries: VecDeque<Entry<T>>,
    bytes: Bytes,
    /// Bytes it may still send in this turn.
    deficit: Bytes,
}

/// The queues of all flows that have something queued. Those of others are kept for reuse.
#[derive(Debug)]
pub(crate) struct Lanes<T> {
    lanes: Vec<Lane<T>>,
    /// Where the queue of a flow is that has something queued, by flow: a sorted table, which allocates nothing once it is large enough.
    of: Vec<(FlowKey, usize)>,
    /// Queues with something in them, in the order of their turns. The first has had its quantum.
    turns: VecDeque<usize>,
    free: Vec<usize>,
    quantum: Bytes,
    len: usize,
}

impl<T> Lanes<T> {
    /// `quantum`: bytes a flow may send in a turn; at least a full packet, so that each turn sends one.
    pub(crate) fn new(quantum: Bytes) -> Lanes<T> {
        Lanes {
            lanes: Vec::new(),
            of: Vec::new(),
            turns: VecDeque::new(),
            free: Vec::new(),
            quantum: quantum.max(Bytes(1)),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, flow: FlowKey, entry: Entry<T>) {
        let at = match self.place(flow) {
            Ok(place) => self.of[place].1,
            Err(place) => self.open(flow, place),
        };
        let lane = &mut self.lanes[at];
        lane.bytes += entry.size;
        lane.entries.push_back(entry);
        self.len += 1;
    }

    /// Where a flow stands in the table, or belongs.
    fn place(&self, flow: FlowKey) -> Result<usize, usize> {
        self.of.binary_search_by_key(&flow, |(known, _)| *known)
    }

    /// A queue for a flow that has none: last in turn, or first of all with its quantum.
    fn open(&mut self, flow: FlowKey, place: usize) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            self.lanes.push(Lane { flow, entries: VecDeque::new(), bytes: Bytes::ZERO, deficit: Bytes::ZERO });
            self.lanes.len() - 1
        });
        let lane = &mut self.lanes[at];
        lane.flow = flow;
        lane.deficit = if self.turns.is_empty() { self.quantum } else { Bytes::ZERO };
        self.of.insert(place, (flow, at));
        self.turns.push_back(at);
        at
    }

    /// A queue ran empty: it loses its turn and what it might still have sent. @SV96 fig. 4
    fn close(&mut self, at: usize) {
        self.lanes[at].deficit = Bytes::ZERO;
        if let Ok(place) = self.place(self.lanes[at].flow) {
            self.of.remove(place);
        }
        let was_first = self.turns.front() == Some(&at);
        self.turns.retain(|turn| *turn != at);
        self.free.push(at);
        if was_first {
            self.begin_turn();
        }
    }

    fn begin_turn(&mut self) {
        if let Some(first) = self.turns.front() {
            self.lanes[*first].deficit += self.quantum;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Entry<T>> {
        loop {
            let at = *self.turns.front()?;
            let lane = &mut self.lanes[at];
            // A queue in `turns` is never empty.
            let size = lane.entries.front()?.size;
            if size <= lane.deficit {
                lane.deficit -= size;
                return self.remove(at, 0);
            }
            self.turns.rotate_left(1);
            self.begin_turn();
        }
    }

    fn remove(&mut self, at: usize, place: usize) -> Option<Entry<T>> {
        let lane = &mut self.lanes[at];
        let entry = lane.entries.remove(place)?;
        lane.bytes -= entry.size;
        self.len -= 1;
        if self.lanes[at].entries.is_empty() {
            self.close(at);
        }
        Some(entry)
    }

    /// All entries: flow by flow in the order of their turns, of a flow the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.turns.iter().flat_map(|at| self.lanes[*at].entries.iter())
    }

    /// Takes out the first entry, in the order of [`Lanes::iter`], of which `is_it` holds. It is not charged to its flow's turn.
    pub(crate) fn take(&mut self, is_it: impl Fn(&T) -> bool) -> Option<Entry<T>> {
        let found = self.turns.iter().find_map(|at| {
            self.lanes[*at].entries.iter().position(|entry| is_it(&entry.what)).map(|place| (*at, place))
        });
        let (at, place) = found?;
        self.remove(at, place)
    }

    /// For an arrival of `flow`: takes out the newest entry of the queue with the most bytes, if that would still be longer than
    /// the arrival's own and the entry has `short` bytes at least.
    pub(crate) fn push_out(&mut self, flow: FlowKey, size: Bytes, short: Bytes) -> Option<Entry<T>> {
        let longest = *self.turns.iter().max_by_key(|at| self.lanes[**at].bytes)?;
        let own = self.place(flow).map_or(Bytes::ZERO, |place| self.lanes[self.of[place].1].bytes) + size;
        let lane = &self.lanes[longest];
        let newest = lane.entries.back()?;
        if lane.bytes <= own || newest.size < short {
            return None;
        }
        self.remove(longest, lane.entries.len() - 1)
    }

    pub(crate) fn drain(&mut self) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len);
        while let Some(entry) = self.turns.front().copied().and_then(|at| self.remove(at, 0)) {
            all.push(entry.what);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::SimTime;

    fn entry(what: &'static str, size: u64) -> Entry<&'static str> {
        Entry { what, size: Bytes(size), since: SimTime::ZERO }
    }

    fn lanes(queued: &[(u64, &'static str, u64)]) -> Lanes<&'static str> {
        let mut lanes = Lanes::new(Bytes(1000));
        for (flow, what, size) in queued {
            lanes.push(FlowKey::of(u128::from(*flow)), entry(what, *size));
        }
        lanes
    }

    fn order(lanes: &mut Lanes<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| lanes.pop().map(|entry| entry.what)).collect()
    }

    #[test]
    fn flows_share_bytes_and_not_packets() {
        // Quantum 1000. First turn of a: a1 (600), 400 left, a2 does not fit. b: b1 b2 b3 (300 each), 100 left, b4 does not fit.
        // Second turn of a: 1400, a2 a3 (600 each), 200 left. b: 1100, b4. a: 1200, a4.
        let queued = [
            (1, "a1", 600),
            (1, "a2", 600),
            (1, "a3", 600),
            (1, "a4", 600),
            (2, "b1", 300),
            (2, "b2", 300),
            (2, "b3", 300),
            (2, "b4", 300),
        ];
        assert_eq!(order(&mut lanes(&queued)), ["a1", "b1", "b2", "b3", "a2", "a3", "b4", "a4"]);
    }

    #[test]
    fn a_flow_that_ran_empty_keeps_no_credit() {
        let mut lanes = lanes(&[(1, "a1", 100), (2, "b1", 1000), (2, "b2", 1000)]);
        assert_eq!(lanes.pop().map(|entry| entry.what), Some("a1"), "900 of its quantum are forgotten");
        lanes.push(FlowKey::of(1), entry("a2", 1000));
        lanes.push(FlowKey::of(1), entry("a3", 900));
        assert_eq!(order(&mut lanes), ["b1", "a2", "b2", "a3"]);
    }

    #[test]
    fn the_longest_queue_loses_its_newest_entry_to_a_shorter_one() {
        let mut lanes = lanes(&[(1, "a1", 500), (1, "a2", 500), (2, "b1", 600)]);
        let mut out =
            |flow, size, short| lanes.push_out(FlowKey::of(flow), Bytes(size), Bytes(short)).map(|entry| entry.what);
        assert_eq!(out(1, 1, 0), None, "the longest is the arrival's own");
        assert_eq!(out(2, 400, 0), None, "with the arrival b would be as long");
        assert_eq!(out(3, 100, 501), None, "a2 leaves too little room");
        let lost = out(3, 100, 500);
        assert_eq!(lost, Some("a2"));
        assert_eq!((lanes.len(), order(&mut lanes)), (2, vec!["a1", "b1"]));
    }

    #[test]
    fn what_is_taken_out_of_turn_leaves_the_turns_as_they_were() {
        let mut lanes = lanes(&[(1, "a1", 1000), (1, "a2", 1000), (2, "b1", 1000), (3, "c1", 1000)]);
        assert_eq!(lanes.take(|what| *what == "b1").map(|entry| entry.what), Some("b1"));
        assert_eq!(lanes.take(|what| *what == "b1").map(|entry| entry.what), None);
        assert_eq!(order(&mut lanes), ["a1", "c1", "a2"]);
    }
}
