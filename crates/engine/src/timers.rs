//! The event queue: one replaceable timer per slot, under an indexed heap.

use units::SimTime;

/// What goes first among timers of one instant. At one instant ends come before starts, and starts do not hear each
/// other: two stations whose backoff ends together do collide (design.md section 4).
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

/// Time, class and order of setting, packed so that one comparison of two words decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    at: SimTime,
    class_and_order: u64,
}

const NOWHERE: u32 = u32::MAX;
const ARITY: usize = 4;

/// All timers of a run. Ties break by (time, class, order of setting).
#[derive(Debug, Default)]
pub struct Timers {
    heap: Vec<(Key, u32)>,
    place: Vec<u32>,
    order: u64,
    now: SimTime,
}

impl Timers {
    /// A table of `slots` timers, none set.
    pub fn new(slots: usize) -> Timers {
        Timers { heap: Vec::with_capacity(slots), place: vec![NOWHERE; slots], order: 0, now: SimTime::ZERO }
    }

    /// The instant of the timer that went off last. Never goes back.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Sets, replaces or ([`SimTime::NEVER`]) clears the timer of `slot`.
    pub fn set(&mut self, slot: Slot, at: SimTime, class: Class) {
        let place = self.place[slot.0 as usize];
        if at == SimTime::NEVER {
            if place != NOWHERE {
                self.remove(place as usize);
            }
            return;
        }
        debug_assert!(at >= self.now, "a timer of the past: {at} set at {}", self.now);
        self.order += 1;
        let key = Key { at, class_and_order: (class as u64) << 56 | self.order };
        if place == NOWHERE {
            self.heap.push((key, slot.0));
            self.up(self.heap.len() - 1);
        } else {
            let place = place as usize;
            let before = self.heap[place].0;
            self.heap[place].0 = key;
            if key < before {
                self.up(place);
            } else {
                self.down(place);
            }
        }
    }

    /// When the timer of `slot` goes off; [`SimTime::NEVER`] if it is not set.
    pub fn at(&self, slot: Slot) -> SimTime {
        match self.place[slot.0 as usize] {
            NOWHERE => SimTime::NEVER,
            place => self.heap[place as usize].0.at,
        }
    }

    /// Takes the next timer off and moves the clock to it; `None` if none is set.
    pub fn pop(&mut self) -> Option<(SimTime, Slot)> {
        let &(key, slot) = self.heap.first()?;
        self.remove(0);
        debug_assert!(key.at >= self.now);
        self.now = key.at;
        Some((key.at, Slot(slot)))
    }

    fn remove(&mut self, place: usize) {
        let (_, slot) = self.heap.swap_remove(place);
        self.place[slot as usize] = NOWHERE;
        if place < self.heap.len() {
            self.place[self.heap[place].1 as usize] = place as u32;
            // It came from the end of the heap: it may belong further up or down, never both.
            let moved = self.heap[place].1;
            self.up(place);
            self.down(self.place[moved as usize] as usize);
        }
    }

    fn up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent].0 <= entry.0 {
                break;
            }
            self.heap[at] = self.heap[parent];
            self.place[self.heap[at].1 as usize] = at as u32;
            at = parent;
        }
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }

    fn down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let first = at * ARITY + 1;
            let children = self.heap.get(first..(first + ARITY).min(self.heap.len())).unwrap_or(&[]);
            let Some((offset, least)) = children.iter().enumerate().min_by_key(|(_, child)| child.0) else { break };
            if entry.0 <= least.0 {
                break;
            }
            self.heap[at] = *least;
            self.place[self.heap[at].1 as usize] = at as u32;
            at = first + offset;
        }
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
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
