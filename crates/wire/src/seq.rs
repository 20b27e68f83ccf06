//! TCP sequence numbers: they order modulo 2³² and so have no total order. @RFC9293 sec. 3.4

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A TCP sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// `self` precedes `other`: the way from one to the other is shorter than 2³¹.
    pub const fn lt(self, other: Seq) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// `self` precedes or equals `other`.
    pub const fn le(self, other: Seq) -> bool {
        !other.lt(self)
    }

    /// The later of the two.
    pub const fn max(self, other: Seq) -> Seq {
        if self.lt(other) { other } else { self }
    }

    /// The earlier of the two.
    pub const fn min(self, other: Seq) -> Seq {
        if self.lt(other) { self } else { other }
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    fn add(self, n: u32) -> Seq {
        Seq(self.0.wrapping_add(n))
    }
}

impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, n: u32) {
        *self = *self + n;
    }
}

impl Sub<u32> for Seq {
    type Output = Seq;
    fn sub(self, n: u32) -> Seq {
        Seq(self.0.wrapping_sub(n))
    }
}

impl Sub for Seq {
    type Output = u32;
    /// Bytes from `other` up to `self`, modulo 2³².
    fn sub(self, other: Seq) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Sequence numbers from `start` up to, not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeqRange {
    /// The first.
    pub start: Seq,
    /// The one after the last.
    pub end: Seq,
}

impl SeqRange {
    /// From `start`, `len` numbers.
    pub fn new(start: Seq, len: u32) -> SeqRange {
        SeqRange { start, end: start + len }
    }

    /// The number of sequence numbers in it.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// True if it holds none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// True if `seq` lies in it.
    pub fn contains(self, seq: Seq) -> bool {
        self.start.le(seq) && seq.lt(self.end)
    }
}

/// A set of sequence numbers as disjoint ranges in order, for reassembly and scoreboards. All members lie within 2³¹
/// of each other, as everything inside a window does.
#[derive(Debug, Clone, Default)]
pub struct SeqSet {
    ranges: Vec<SeqRange>,
}

impl SeqSet {
    /// The ranges in order; neighbours do not touch.
    pub fn ranges(&self) -> &[SeqRange] {
        &self.ranges
    }

    /// True if it has no member.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> u32 {
        self.ranges.iter().map(|r| r.len()).sum()
    }

    /// True if `seq` is a member.
    pub fn contains(&self, seq: Seq) -> bool {
        self.ranges.iter().any(|r| r.contains(seq))
    }

    /// Adds `range`; what it overlaps or touches becomes one range.
    pub fn insert(&mut self, range: SeqRange) {
        if range.is_empty() {
            return;
        }
        let first = self.ranges.iter().position(|r| range.start.le(r.end)).unwrap_or(self.ranges.len());
        let mut merged = range;
        let mut last = first;
        while last < self.ranges.len() && self.ranges[last].start.le(range.end) {
            merged.start = merged.start.min(self.ranges[last].start);
            merged.end = merged.end.max(self.ranges[last].end);
            last += 1;
        }
        self.ranges.splice(first..last, [merged]);
    }

    /// Takes the numbers of `range` out.
    pub fn remove(&mut self, range: SeqRange) {
        let Some(first) = self.ranges.iter().position(|r| range.start.lt(r.end)) else { return };
        let n = self.ranges[first..].iter().take_while(|r| r.start.lt(range.end)).count();
        if n == 0 || range.is_empty() {
            return;
        }
        let before = SeqRange { start: self.ranges[first].start, end: range.start };
        let after = SeqRange { start: range.end, end: self.ranges[first + n - 1].end };
        let left = [before, after].into_iter().filter(|r| r.start.lt(r.end));
        self.ranges.splice(first..first + n, left);
    }

    /// Forgets all members before `seq`.
    pub fn forget_before(&mut self, seq: Seq) {
        self.ranges.retain(|r| seq.lt(r.end));
        if let Some(first) = self.ranges.first_mut() {
            first.start = first.start.max(seq);
        }
    }

    /// If the set continues at `seq`, removes that range and returns where it ends; otherwise `seq`.
    pub fn take_from(&mut self, seq: Seq) -> Seq {
        self.forget_before(seq);
        if self.ranges.first().is_some_and(|r| r.start == seq) { self.ranges.remove(0).end } else { seq }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u32, end: u32) -> SeqRange {
        SeqRange { start: Seq(start), end: Seq(end) }
    }

    #[test]
    fn order_wraps_at_two_to_the_thirty_second() {
        assert!(Seq(u32::MAX).lt(Seq(3)));
        assert!(!Seq(3).lt(Seq(u32::MAX)));
        assert_eq!(Seq(3) - Seq(u32::MAX), 4);
        assert_eq!(Seq(u32::MAX).max(Seq(0)), Seq(0));
    }

    #[test]
    fn ranges_that_touch_become_one_also_across_the_wrap() {
        let mut set = SeqSet::default();
        set.insert(SeqRange::new(Seq(u32::MAX - 9), 5));
        set.insert(range(5, 10));
        assert_eq!(set.ranges().len(), 2);
        set.insert(SeqRange::new(Seq(u32::MAX - 4), 10));
        assert_eq!(set.ranges(), [SeqRange { start: Seq(u32::MAX - 9), end: Seq(10) }]);
        assert_eq!(set.len(), 20);
    }

    #[test]
    fn what_is_removed_leaves_what_lies_before_and_behind_it() {
        let mut set = SeqSet::default();
        for (start, end) in [(100, 200), (300, 400), (500, 600)] {
            set.insert(range(start, end));
        }
        set.remove(range(200, 300)); // touches two and is in neither
        set.remove(range(700, 800));
        set.remove(range(350, 350));
        assert_eq!(set.len(), 300);
        set.remove(range(120, 130));
        assert_eq!(set.ranges()[..2], [range(100, 120), range(130, 200)]);
        set.remove(range(150, 550));
        assert_eq!(set.ranges(), [range(100, 120), range(130, 150), range(550, 600)]);
        set.remove(SeqRange { start: Seq(u32::MAX - 5), end: Seq(1000) }); // across the wrap, all of it
        assert!(set.is_empty());
    }

    #[test]
    fn the_front_is_taken_when_the_hole_before_it_closes() {
        let mut set = SeqSet::default();
        set.insert(range(200, 300));
        set.insert(range(400, 500));
        assert_eq!(set.take_from(Seq(100)), Seq(100));
        assert_eq!(set.take_from(Seq(200)), Seq(300));
        assert_eq!(set.take_from(Seq(450)), Seq(500));
        assert!(set.is_empty());
    }
}
