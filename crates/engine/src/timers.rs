//! The event queue: one replaceable timer per slot.
//!
//! Timers of a frame on the air are set, moved and cleared several times a frame and go off before any timer of a
//! transport. So the timers before all those in the heap wait in a short list beside it, the next one last: there are two
//! or three as a rule. Below them stands a copy of the heap's first timer, so the last of the list is the next of all.

use units::SimTime;

/// The order of timers of one instant. Ends come before starts, and starts do not hear each other: two stations whose
/// backoff ends together do collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Bookkeeping of the run itself: warm-up, a node's death.
    Run,
    /// A transmission ends.
    End,
    /// Everything between: protocol timers, applications, answers after SIFS.
    Between,
    /// Transmissions start.
    Start,
}

/// A timer's place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub u32);

/// Time, class, order of setting and slot of a timer in one word: one comparison decides, and a copy moves it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    const SLOT_BITS: u32 = 22;
    const CLASS_BITS: u32 = 2;
    /// From the order of one timer to that of the next.
    const STEP: u64 = 1 << Entry::SLOT_BITS;
    /// Later than any.
    const LAST: Entry = Entry(u128::MAX);

    /// `order` counts in steps of [`Entry::STEP`].
    fn new(at: SimTime, class: Class, order: u64, slot: Slot) -> Entry {
        let low = (class as u64) << (64 - Entry::CLASS_BITS) | order | u64::from(slot.0);
        Entry(u128::from(at.ns()) << 64 | u128::from(low))
    }

    fn at(self) -> SimTime {
        SimTime::from_ns((self.0 >> 64) as u64)
    }

    fn slot(self) -> usize {
        (self.0 as usize) & ((1 << Entry::SLOT_BITS) - 1)
    }
}

/// No order is as high: 10¹² timers can be set in one run, and of 0.1 µs each they are 30 hours of computing.
const MOST_ORDER: u64 = 1 << (64 - Entry::CLASS_BITS);

const NOWHERE: u32 = u32::MAX;
/// Somewhere in the list.
const IN_LIST: u32 = 1 << 31;
/// Room for timers and the copy below them. Where it is full, the last timer goes into the heap.
const LIST_ROOM: usize = 8;
const ARITY: usize = 4;

/// The timers that go off before all those in the heap, the next one last.
#[derive(Debug)]
struct List {
    /// The lowest is the first of the heap, [`Entry::LAST`] while that is empty. Those beyond `len` mean nothing.
    entries: [Entry; LIST_ROOM],
    /// At least 1.
    len: usize,
}

impl Default for List {
    fn default() -> List {
        List { entries: [Entry::LAST; LIST_ROOM], len: 1 }
    }
}

impl List {
    /// The next timer: the heap's, if the list has none.
    #[inline]
    fn next(&self) -> Entry {
        self.entries[self.len - 1]
    }

    /// The time of the timer of `slot`.
    fn at(&self, slot: Slot) -> SimTime {
        let is_it = |entry: &&Entry| entry.slot() == slot.0 as usize;
        self.entries[..self.len].iter().rfind(is_it).expect("what is said to be in the list is there").at()
    }

    /// Puts a timer that goes off before those of the heap before those that go off earlier. There must be room.
    #[inline]
    fn insert(&mut self, entry: Entry) {
        let mut at = self.len;
        while self.entries[at - 1] < entry {
            self.entries[at] = self.entries[at - 1];
            at -= 1;
        }
        self.entries[at] = entry;
        self.len += 1;
    }

    /// Takes the timer of `slot` out; those that go off before it move up.
    #[inline]
    fn remove(&mut self, slot: Slot) {
        self.len -= 1;
        let (mut at, mut taken) = (self.len, self.entries[self.len]);
        while taken.slot() != slot.0 as usize {
            at -= 1;
            std::mem::swap(&mut taken, &mut self.entries[at]);
        }
    }
}

/// All timers of a run. Ties break by (time, class, order of setting).
#[derive(Debug, Default)]
pub struct Timers {
    list: List,
    heap: Vec<Entry>,
    /// The place of each slot's timer: an index into the heap, the list, or nowhere.
    place: Vec<u32>,
    order: u64,
    now: SimTime,
}

impl Timers {
    /// A table of `slots` timers, none set.
    pub fn new(slots: usize) -> Timers {
        assert!(slots <= 1 << Entry::SLOT_BITS, "{slots} timers are more than an entry can name");
        let heap = Vec::with_capacity(slots);
        Timers { list: List::default(), heap, place: vec![NOWHERE; slots], order: 0, now: SimTime::ZERO }
    }

    /// Adds `more` timers, none set, during the run. Returns the first of their slots, which follow each other; `None` if the table cannot
    /// name as many. What a slot is used for again costs nothing: who gives slots away keeps those that come back.
    pub fn add(&mut self, more: usize) -> Option<Slot> {
        let first = self.place.len();
        if more > (1 << Entry::SLOT_BITS) - first {
            return None;
        }
        self.place.resize(first + more, NOWHERE);
        self.heap.reserve(self.place.len() - self.heap.len());
        Some(Slot(first as u32))
    }

    /// The instant of the timer that went off last, or the one that the clock was moved to since. Never goes back.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Moves the clock to `to`, at which no timer goes off. Nothing earlier may be set: those timers go off first.
    pub fn advance(&mut self, to: SimTime) {
        debug_assert!(to >= self.now, "time goes back: {to} after {}", self.now);
        debug_assert!(to <= self.next_at(), "a timer of {} is passed over on the way to {to}", self.next_at());
        self.now = to;
    }

    /// Sets, replaces or ([`SimTime::NEVER`]) clears the timer of `slot`.
    // What most do needs few registers, and saves none: a timer that is not set is set before all those in the heap.
    pub fn set(&mut self, slot: Slot, at: SimTime, class: Class) {
        let place = &mut self.place[slot.0 as usize];
        if *place != NOWHERE || at == SimTime::NEVER {
            return self.replace(slot, at, class);
        }
        debug_assert!(at >= self.now, "a timer of the past: {at} set at {}", self.now);
        self.order += Entry::STEP;
        debug_assert!(self.order < MOST_ORDER);
        let entry = Entry::new(at, class, self.order, slot);
        if entry < self.list.entries[0] {
            *place = IN_LIST;
            self.list.insert(entry);
            if self.list.len == LIST_ROOM {
                self.spill();
            }
        } else {
            self.push(entry);
        }
    }

    /// As [`Timers::set`], of a timer that is set, or is to be cleared.
    #[inline(never)]
    fn replace(&mut self, slot: Slot, at: SimTime, class: Class) {
        debug_assert!(at >= self.now, "a timer of the past: {at} set at {}", self.now);
        let entry = Entry::new(at, class, self.order + Entry::STEP, slot);
        match self.place[slot.0 as usize] {
            IN_LIST => self.list.remove(slot),
            place if place < IN_LIST && at != SimTime::NEVER && entry > self.list.entries[0] => {
                self.order += Entry::STEP;
                self.move_to(place as usize, entry);
                return self.note_first();
            }
            place if place < IN_LIST => self.remove(place as usize),
            _ => {}
        }
        self.place[slot.0 as usize] = NOWHERE;
        if at != SimTime::NEVER {
            self.set(slot, at, class);
        }
    }

    /// The time of the timer of `slot`; [`SimTime::NEVER`] if it is not set.
    pub fn at(&self, slot: Slot) -> SimTime {
        match self.place[slot.0 as usize] {
            NOWHERE => SimTime::NEVER,
            IN_LIST => self.list.at(slot),
            place => self.heap[place as usize].at(),
        }
    }

    /// The time of the next timer; [`SimTime::NEVER`] if none is set.
    pub fn next_at(&self) -> SimTime {
        self.list.next().at()
    }

    /// Takes the next timer off and moves the clock to it; `None` if none is set.
    pub fn pop(&mut self) -> Option<(SimTime, Slot)> {
        self.pop_before(SimTime::NEVER)
    }

    /// Takes the next timer off and moves the clock to it; `None`, and the clock stands still, if none goes off before `end`.
    pub fn pop_before(&mut self, end: SimTime) -> Option<(SimTime, Slot)> {
        let next = self.list.next();
        if next.at() >= end {
            return None;
        }
        if self.list.len > 1 {
            self.list.len -= 1;
        } else {
            self.remove(0);
        }
        self.place[next.slot()] = NOWHERE;
        debug_assert!(next.at() >= self.now);
        self.now = next.at();
        Some((next.at(), Slot(next.slot() as u32)))
    }

    /// Puts the last timer of the list into the heap, before all that are there.
    #[cold]
    fn spill(&mut self) {
        let List { entries, len } = &mut self.list;
        let last = entries[1];
        entries.copy_within(1..*len, 0);
        *len -= 1;
        self.push(last);
    }

    /// Puts a timer into the heap.
    #[inline(never)]
    fn push(&mut self, entry: Entry) {
        self.heap.push(entry);
        self.up(self.heap.len() - 1, entry);
    }

    /// Replaces the timer at this place of the heap.
    #[inline(never)]
    fn move_to(&mut self, place: usize, entry: Entry) {
        if entry < self.heap[place] { self.up(place, entry) } else { self.down(place, entry) }
    }

    /// Takes the timer at this place out of the heap.
    #[inline(never)]
    fn remove(&mut self, place: usize) {
        let last = self.heap.pop().expect("what is removed is there");
        if place < self.heap.len() {
            // The last of the heap fills the gap: it may belong further up or down, never both.
            self.move_to(place, last);
        }
        self.note_first();
    }

    /// Another timer may be the first of the heap.
    fn note_first(&mut self) {
        self.list.entries[0] = self.heap.first().copied().unwrap_or(Entry::LAST);
    }

    /// Puts `entry` at `at` or above.
    fn up(&mut self, mut at: usize, entry: Entry) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            let above = self.heap[parent];
            if above <= entry {
                break;
            }
            self.heap[at] = above;
            self.place[above.slot()] = at as u32;
            at = parent;
        }
        self.heap[at] = entry;
        self.place[entry.slot()] = at as u32;
    }

    /// Puts `entry` at `at` or below.
    fn down(&mut self, mut at: usize, entry: Entry) {
        loop {
            let first = at * ARITY + 1;
            let children = self.heap.get(first..(first + ARITY).min(self.heap.len())).unwrap_or_default();
            let Some((&head, tail)) = children.split_first() else { break };
            let (mut least, mut place) = (head, first);
            for (i, &child) in tail.iter().enumerate() {
                if child < least {
                    (least, place) = (child, first + 1 + i);
                }
            }
            if entry <= least {
                break;
            }
            self.heap[at] = least;
            self.place[least.slot()] = at as u32;
            at = place;
        }
        self.heap[at] = entry;
        self.place[entry.slot()] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(n: u64) -> SimTime {
        SimTime::from_ns(n)
    }

    #[test]
    fn ends_come_before_starts_and_ties_keep_the_order_of_setting() {
        let mut timers = Timers::new(4);
        timers.set(Slot(0), ns(5), Class::Start);
        timers.set(Slot(1), ns(5), Class::Between);
        timers.set(Slot(2), ns(5), Class::End);
        timers.set(Slot(3), ns(5), Class::Between);
        let order: Vec<u32> = core::iter::from_fn(|| timers.pop()).map(|(_, slot)| slot.0).collect();
        assert_eq!(order, [2, 1, 3, 0]);
    }

    #[test]
    fn setting_a_timer_again_replaces_it_and_never_clears_it() {
        let mut timers = Timers::new(2);
        timers.set(Slot(0), ns(5), Class::Between);
        timers.set(Slot(1), ns(6), Class::Between);
        timers.set(Slot(0), ns(9), Class::Between);
        timers.set(Slot(1), SimTime::NEVER, Class::Between);
        timers.set(Slot(1), SimTime::NEVER, Class::Between);
        assert_eq!(timers.pop(), Some((ns(9), Slot(0))));
        assert_eq!(timers.pop(), None);
        assert_eq!(timers.now(), ns(9));
    }

    #[test]
    fn the_clock_moves_between_timers_and_what_is_set_then_may_be_for_that_instant() {
        let mut timers = Timers::new(2);
        timers.set(Slot(0), ns(9), Class::Between);
        assert_eq!((timers.pop_before(ns(9)), timers.now()), (None, ns(0)));
        timers.advance(ns(6));
        timers.set(Slot(1), ns(6), Class::Between);
        assert_eq!((timers.now(), timers.next_at()), (ns(6), ns(6)));
        assert_eq!(timers.pop_before(ns(7)), Some((ns(6), Slot(1))));
        assert_eq!((timers.pop_before(ns(10)), timers.pop_before(ns(10))), (Some((ns(9), Slot(0))), None));
        timers.advance(ns(12));
        assert_eq!((timers.now(), timers.pop()), (ns(12), None));
    }

    #[test]
    fn timers_are_added_while_others_run_until_no_slot_can_be_named() {
        let mut timers = Timers::new(2);
        timers.set(Slot(1), ns(5), Class::Between);
        assert_eq!(timers.add(3), Some(Slot(2)));
        timers.set(Slot(4), ns(4), Class::Between);
        assert_eq!((timers.pop(), timers.pop()), (Some((ns(4), Slot(4))), Some((ns(5), Slot(1)))));
        assert_eq!(timers.add(1 << 22), None);
        assert_eq!(timers.add((1 << 22) - 5), Some(Slot(5)));
        assert_eq!(timers.add(1), None);
    }

    #[test]
    fn a_random_history_comes_out_as_a_sorted_table_would() {
        let mut timers = Timers::new(40);
        let mut table = [None::<(u64, u64)>; 40];
        let (mut state, mut order, mut now) = (1u64, 0u64, 0u64);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let slot = (state >> 33) % 40;
            match (state >> 20) % 4 {
                0 => {
                    let expected = (0..40).filter_map(|i| table[i].map(|key| (key, i))).min();
                    let got = timers.pop();
                    assert_eq!(
                        got.map(|(at, slot)| (at.ns(), slot.0 as usize)),
                        expected.map(|((at, _), i)| (at, i))
                    );
                    if let Some(((at, _), i)) = expected {
                        table[i] = None;
                        now = at;
                    }
                }
                1 => {
                    timers.set(Slot(slot as u32), SimTime::NEVER, Class::End);
                    table[slot as usize] = None;
                }
                _ => {
                    order += 1;
                    let at = now + (state >> 45) % 50;
                    timers.set(Slot(slot as u32), ns(at), Class::Between);
                    table[slot as usize] = Some((at, order));
                }
            }
        }
    }
}
