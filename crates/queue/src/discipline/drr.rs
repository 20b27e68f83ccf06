//! A queue per flow, served in turn: deficit round robin.
//!
//! - **Source** @SV96: Shreedhar & Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM Transactions on
//!   Networking 4(3), 1996, fig. 4. When it is full the longest queue loses its newest entry: @McK90, McKenney, "Stochastic
//!   Fairness Queueing", INFOCOM 1990, the policy that @SV96 sec. III-A takes over.
//! - **Departs** a flow has a queue of its own, and shares it with no other flow by a collision of hashes.
//! - **Checked** tests below and in `lib.rs`; `tests/all/books.rs`.

use super::{Discipline, Outlet, Unsound};
use crate::{Arrival, FlowKey, Limit, List, Mark, Queued, Refused, Slot};
use plugin::{Info, Params};
use std::collections::VecDeque;
use units::{Bytes, SimTime};

/// Its declaration.
pub static INFO: Info = Info {
    id: "drr",
    summary: "A queue for each flow, served by deficit round robin, a full packet's bytes a turn; what is full takes from the longest.",
    source: "SV96",
    params: &[],
};

/// One of them. The quantum is a full packet, so that each turn sends one.
///
/// # Errors
/// None.
pub fn make(_: &Params, outlet: Outlet) -> Result<Box<dyn Discipline>, Unsound> {
    Ok(Box::new(Lanes::new(outlet.mtu)))
}

/// The queue of one flow.
#[derive(Debug)]
struct Lane {
    flow: FlowKey,
    packets: List,
    /// Bytes it may still send in this turn.
    deficit: Bytes,
}

/// The queues of all flows that have something queued. Those of others are kept for reuse.
#[derive(Debug)]
struct Lanes {
    lanes: Vec<Lane>,
    /// The queue of each flow that has something queued, by flow: a sorted table, which allocates nothing once it is large enough.
    of: Vec<(FlowKey, usize)>,
    /// Queues with something in them, in the order of their turns. The first has had its quantum.
    turns: VecDeque<usize>,
    free: Vec<usize>,
    quantum: Bytes,
}

impl Lanes {
    /// `quantum`: bytes a flow may send in a turn; at least a full packet, so that each turn sends one.
    fn new(quantum: Bytes) -> Lanes {
        Lanes {
            lanes: Vec::new(),
            of: Vec::new(),
            turns: VecDeque::new(),
            free: Vec::new(),
            quantum: quantum.max(Bytes(1)),
        }
    }

    /// The place of a flow in the table, or the place where it belongs.
    fn place(&self, flow: FlowKey) -> Result<usize, usize> {
        self.of.binary_search_by_key(&flow, |(known, _)| *known)
    }

    /// A queue for a flow that has none: last in turn, or first of all with its quantum.
    fn open(&mut self, flow: FlowKey, place: usize) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            self.lanes.push(Lane { flow, packets: List::default(), deficit: Bytes::ZERO });
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

    /// The queue with the most bytes.
    fn longest(&self) -> Option<usize> {
        self.turns.iter().copied().max_by_key(|at| self.lanes[*at].packets.bytes())
    }

    fn take(&mut self, at: usize, slot: Slot, queued: &mut Queued) {
        queued.unlink(&mut self.lanes[at].packets, slot);
        if self.lanes[at].packets.is_empty() {
            self.close(at);
        }
    }
}

impl Discipline for Lanes {
    /// The newest packet of the queue with the most bytes goes, if that would still be longer than the arrival's own and the packet
    /// has bytes enough.
    fn full(&mut self, _: SimTime, packet: &Arrival, queued: &mut Queued) -> bool {
        let short = match queued.limit() {
            Limit::Packets(_) => Bytes::ZERO,
            Limit::Bytes(most) => (queued.bytes() + packet.size).saturating_sub(most),
        };
        let Some(longest) = self.longest() else { return false };
        let of_flow = |place: usize| self.lanes[self.of[place].1].packets.bytes();
        let own = self.place(packet.flow).map_or(Bytes::ZERO, of_flow) + packet.size;
        let lane = &self.lanes[longest];
        let newest = lane.packets.last().filter(|slot| lane.packets.bytes() > own && queued.size(*slot) >= short);
        let Some(newest) = newest else { return false };
        self.take(longest, newest, queued);
        queued.drop(newest, Refused::Full);
        true
    }

    fn push(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        let flow = queued.flow(slot);
        let at = match self.place(flow) {
            Ok(place) => self.of[place].1,
            Err(place) => self.open(flow, place),
        };
        queued.push_back(&mut self.lanes[at].packets, slot);
    }

    fn pop(&mut self, _: SimTime, queued: &mut Queued) -> Option<(Slot, Mark)> {
        loop {
            let at = *self.turns.front()?;
            let lane = &mut self.lanes[at];
            // A queue in `turns` is never empty.
            let slot = lane.packets.first()?;
            let size = queued.size(slot);
            if size <= lane.deficit {
                lane.deficit -= size;
                self.take(at, slot, queued);
                return Some((slot, Mark::None));
            }
            self.turns.rotate_left(1);
            self.begin_turn();
        }
    }

    /// It is not charged to its flow's turn.
    fn remove(&mut self, _: SimTime, slot: Slot, queued: &mut Queued) {
        if let Ok(place) = self.place(queued.flow(slot)) {
            self.take(self.of[place].1, slot, queued);
        }
    }

    /// Flow by flow in the order of their turns, of a flow the oldest first.
    fn find(&self, queued: &Queued, is_it: &mut dyn FnMut(Slot) -> bool) -> Option<Slot> {
        let mut lanes = self.turns.iter().map(|at| &self.lanes[*at]);
        lanes.find_map(|lane| queued.iter(&lane.packets).find(|slot| is_it(*slot)))
    }

    fn surplus(&self, _: &Queued) -> Option<Slot> {
        self.lanes[self.longest()?].packets.last()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{arrival_of, drain, queue};
    use crate::{Limit, Mark, Queue, Refused};
    use units::{Bytes, SimTime};

    const NOW: SimTime = SimTime::ZERO;

    fn drr(limit: Limit, queued: &[(u64, &'static str, u64)]) -> Queue<&'static str> {
        let mut drr = queue("drr", &[], limit, 1000);
        for (flow, what, size) in queued {
            assert_eq!(drr.push(NOW, *what, arrival_of(*flow, *size)), Ok(Mark::None));
        }
        drr
    }

    fn order(drr: &mut Queue<&'static str>) -> Vec<&'static str> {
        drain(drr, NOW).into_iter().map(|(what, _)| what).collect()
    }

    const MANY: Limit = Limit::Packets(100);

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
        assert_eq!(order(&mut drr(MANY, &queued)), ["a1", "b1", "b2", "b3", "a2", "a3", "b4", "a4"]);
    }

    #[test]
    fn a_flow_that_ran_empty_keeps_no_credit() {
        let mut drr = drr(MANY, &[(1, "a1", 100), (2, "b1", 1000), (2, "b2", 1000)]);
        assert_eq!(drr.pop(NOW), Some(("a1", Mark::None)), "900 of its quantum are forgotten");
        assert_eq!(drr.push(NOW, "a2", arrival_of(1, 1000)), Ok(Mark::None));
        assert_eq!(drr.push(NOW, "a3", arrival_of(1, 900)), Ok(Mark::None));
        assert_eq!(order(&mut drr), ["b1", "a2", "b2", "a3"]);
    }

    #[test]
    fn the_longest_queue_loses_its_newest_entry_to_a_shorter_one() {
        // 1600 B of 1650 are queued: 1000 of a, 600 of b.
        let mut drr = drr(Limit::Bytes(Bytes(1650)), &[(1, "a1", 500), (1, "a2", 500), (2, "b1", 600)]);
        assert_eq!(drr.push(NOW, "a3", arrival_of(1, 51)), Err(("a3", Refused::Full)), "the longest is the arrival's own");
        assert_eq!(
            drr.push(NOW, "b2", arrival_of(2, 400)),
            Err(("b2", Refused::Full)),
            "with the arrival b would be as long"
        );
        assert_eq!(drr.push(NOW, "c0", arrival_of(3, 551)), Err(("c0", Refused::Full)), "a2 leaves too little room");
        assert_eq!((drr.push(NOW, "c1", arrival_of(3, 550)), drr.dropped()), (Ok(Mark::None), Some("a2")));
        assert_eq!((drr.dropped(), order(&mut drr)), (None, vec!["a1", "b1", "c1"]));
    }

    #[test]
    fn what_is_taken_out_of_turn_leaves_the_turns_as_they_were() {
        let queued = [(1, "a1", 1000), (1, "a2", 1000), (2, "b1", 1000), (3, "c1", 1000)];
        let mut drr = drr(MANY, &queued);
        assert_eq!(drr.take(NOW, |what| *what == "b1"), Some("b1"));
        assert_eq!(drr.take(NOW, |what| *what == "b1"), None);
        assert_eq!(order(&mut drr), ["a1", "c1", "a2"]);
    }
}
