//! The scoreboard: a record per segment in flight, and the pipe. @RFC6675 sec. 3, 4
//!
//! Records stand in sequence and cover SND.UNA to SND.NXT without gaps. A SACK block counts for the segments that it covers
//! wholly. What is SACKed, lost and sent again is counted as it changes.

use crate::rate::Stamp;
use std::collections::VecDeque;
use units::SimTime;
use wire::{Seq, SeqRange};

/// A segment in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub range: SeqRange,
    /// The time it last left.
    pub sent: SimTime,
    /// The state of the delivery rate then.
    pub stamp: Stamp,
    /// The receiver has it.
    pub sacked: bool,
    /// Taken for lost, at least once, and not SACKed.
    pub lost: bool,
    /// Sent again since it was last taken for lost: a copy is in flight.
    pub again: bool,
    /// Sent more than once.
    pub repeated: bool,
}

/// The records of all that is in flight.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    ring: VecDeque<Segment>,
    /// Bytes SACKed.
    sacked: u32,
    /// Segments SACKed.
    sacked_segments: u32,
    /// Bytes lost, sent again or not.
    lost: u32,
    /// Bytes of which a copy is in flight.
    again: u32,
    /// The end of the highest segment SACKed; SND.UNA or before if there is none.
    top: Seq,
    /// The number before which nothing is lost without having been sent again.
    repaired: Seq,
    /// The number before which every segment that is not SACKed is lost, by the rule of RFC 6675.
    judged: Seq,
    /// The blocks of the last ACKs.
    known: [SeqRange; 4],
}

impl Scoreboard {
    /// The records in order.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.ring.iter()
    }

    /// Bytes that are SACKed.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// The number of segments that are SACKed.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Bytes of `flight` in the network: less those that arrived and those that are lost, and the copies. @RFC6675 sec.
    /// 4, SetPipe
    pub fn pipe(&self, flight: u32) -> u32 {
        (flight + self.again).saturating_sub(self.sacked + self.lost)
    }

    /// The end of the highest segment SACKed, if there is one.
    pub fn top(&self) -> Option<Seq> {
        (self.sacked > 0).then_some(self.top)
    }

    /// The segment that follows has left; `repeated` if it was sent before.
    pub fn push(&mut self, range: SeqRange, sent: SimTime, stamp: Stamp, repeated: bool) {
        debug_assert!(self.ring.back().is_none_or(|last| last.range.end == range.start), "a gap before {range:?}");
        if self.ring.is_empty() {
            (self.top, self.repaired, self.judged) = (range.start, range.start, range.start);
            self.known = [SeqRange::default(); 4];
        }
        if self.ring.capacity() == 0 {
            self.ring.reserve_exact(1); // many a connection never has more than one in flight
        }
        self.ring.push_back(Segment { range, sent, stamp, sacked: false, lost: false, again: false, repeated });
    }

    /// `range`, the last that was pushed, has not left after all.
    pub fn pop(&mut self, range: SeqRange) {
        if self.ring.back().is_some_and(|last| last.range == range && !last.sacked && !last.lost) {
            self.ring.pop_back();
        }
    }

    /// The copy of `range` has not left after all.
    pub fn take_back(&mut self, range: SeqRange) {
        let first = self.place(range.start);
        for segment in self.ring.range_mut(first..).take_while(|segment| segment.range.start.lt(range.end)) {
            if segment.again {
                segment.again = false;
                self.again -= segment.range.len();
                self.repaired = self.repaired.min(segment.range.start);
            }
        }
    }

    /// All is forgotten: the sender goes back.
    pub fn clear(&mut self) {
        self.ring.clear();
        (self.sacked, self.sacked_segments, self.lost, self.again) = (0, 0, 0, 0);
    }

    /// Everything before `ack` has arrived. Each segment that leaves and was not SACKed is shown.
    pub fn acknowledge(&mut self, ack: Seq, mut delivered: impl FnMut(&Segment)) {
        while let Some(first) = self.ring.front_mut() {
            if ack.le(first.range.start) {
                break;
            }
            let end = first.range.end.min(ack);
            let part = Segment { range: SeqRange { start: first.range.start, end }, ..*first };
            let len = part.range.len();
            self.sacked -= if part.sacked { len } else { 0 };
            self.lost -= if part.lost { len } else { 0 };
            self.again -= if part.again { len } else { 0 };
            if !part.sacked {
                delivered(&part);
            }
            if end == first.range.end {
                self.sacked_segments -= u32::from(part.sacked);
                self.ring.pop_front();
            } else {
                first.range.start = end;
            }
        }
        self.top = self.top.max(ack);
        self.repaired = self.repaired.max(ack);
        self.judged = self.judged.max(ack);
    }

    /// The place of the first record that ends after `seq`.
    fn place(&self, seq: Seq) -> usize {
        self.ring.partition_point(|segment| segment.range.end.le(seq))
    }

    /// Marks the segments in `block`, which the receiver has. Shows each that is newly SACKed, as it was.
    pub fn sack(&mut self, block: SeqRange, mut delivered: impl FnMut(&Segment)) {
        let (Some(first), Some(last)) = (self.ring.front(), self.ring.back()) else { return };
        let (una, nxt) = (first.range.start, last.range.end);
        // What is acknowledged or was never sent says nothing.
        if !(una.lt(block.end) && block.end.le(nxt) && block.start.lt(block.end)) {
            return;
        }
        let block = SeqRange { start: block.start.max(una), end: block.end };
        // A block that was told before is not walked again.
        let known = self
            .known
            .iter()
            .position(|known| block.start.le(known.start) && known.end.le(block.end) && !known.is_empty());
        match known.map(|i| (i, self.known[i])) {
            Some((_, known)) if known == block => {}
            Some((i, known)) => {
                self.known[i] = block;
                self.walk(SeqRange { start: block.start, end: known.start }, block, &mut delivered);
                self.walk(SeqRange { start: known.end, end: block.end }, block, &mut delivered);
            }
            None => {
                self.known.rotate_right(1);
                self.known[0] = block;
                self.walk(block, block, &mut delivered);
            }
        }
    }

    /// Marks the segments that touch `part` and lie in `block`.
    fn walk(&mut self, part: SeqRange, block: SeqRange, delivered: &mut impl FnMut(&Segment)) {
        if !part.start.lt(part.end) {
            return;
        }
        let first = self.place(part.start);
        for segment in self.ring.range_mut(first..) {
            if !segment.range.end.le(block.end) || !segment.range.start.lt(part.end) {
                break;
            }
            if segment.sacked || segment.range.start.lt(block.start) {
                continue;
            }
            delivered(segment);
            let len = segment.range.len();
            self.sacked += len;
            self.sacked_segments += 1;
            self.lost -= if segment.lost { len } else { 0 };
            self.again -= if segment.again { len } else { 0 };
            (segment.sacked, segment.lost, segment.again) = (true, false, false);
            self.top = self.top.max(segment.range.end);
        }
    }

    /// Takes segments for lost by the rule of RFC 6675: those with `threshold` ranges SACKed beyond them, or more than
    /// `threshold - 1` segments' worth. Returns the bytes newly lost. @RFC6675 sec. 4, IsLost, Update
    pub fn judge(&mut self, threshold: u32, mss: u32) -> u32 {
        if self.sacked == 0 {
            return 0;
        }
        let enough = u64::from(threshold.saturating_sub(1)) * u64::from(mss);
        let (mut bytes, mut ranges, mut in_range) = (0, 0, false);
        // From the highest SACKed down to where there is enough beyond: everything before that is lost.
        let from = self.place(self.judged);
        let until = self.place(self.top - 1);
        let mut edge = None;
        for place in (from..=until).rev() {
            let segment = &self.ring[place];
            if segment.sacked {
                bytes += u64::from(segment.range.len());
                ranges += u32::from(!in_range);
            }
            in_range = segment.sacked;
            if bytes > enough || ranges >= threshold {
                edge = Some(place);
                break;
            }
        }
        let Some(edge) = edge else { return 0 };
        self.judged = self.ring[edge].range.start;
        (from..edge)
            .map(|place| {
                // What was sent again already is not lost a second time: HighRxt.
                let segment = &mut self.ring[place];
                let news = if segment.sacked || segment.lost { 0 } else { segment.range.len() };
                segment.lost |= !segment.sacked;
                self.lost += news;
                self.repaired = if news > 0 { self.repaired.min(segment.range.start) } else { self.repaired };
                news
            })
            .sum()
    }

    /// Takes the record at `place` for lost, if it is neither SACKed nor lost already. Returns the bytes.
    fn lose(&mut self, place: usize) -> u32 {
        let segment = &mut self.ring[place];
        let len = segment.range.len();
        if segment.sacked || segment.lost && !segment.again {
            return 0;
        }
        self.lost += if segment.lost { 0 } else { len };
        self.again -= if segment.again { len } else { 0 };
        (segment.lost, segment.again) = (true, false);
        self.repaired = self.repaired.min(segment.range.start);
        len
    }

    /// Takes the segments in flight for lost of which `is_lost` is true. Stops where it says `None`. Returns the bytes.
    pub fn lose_if(&mut self, mut is_lost: impl FnMut(&Segment) -> Option<bool>) -> u32 {
        let mut lost = 0;
        for place in 0..self.ring.len() {
            let segment = &self.ring[place];
            if segment.sacked || segment.lost && !segment.again {
                continue;
            }
            match is_lost(segment) {
                Some(true) => lost += self.lose(place),
                Some(false) => {}
                None => break,
            }
        }
        lost
    }

    /// Takes the segment that holds `seq` for lost, a copy of it too. Returns it, unless it is SACKed, not in flight, or reaches
    /// beyond `edge`.
    pub fn lose_at(&mut self, seq: Seq, edge: Seq) -> Option<SeqRange> {
        let place = self.place(seq);
        let Segment { range, sacked, .. } = *self.ring.get(place)?;
        if sacked || !range.start.le(seq) || !range.end.le(edge) {
            return None;
        }
        self.lose(place);
        Some(range)
    }

    /// Takes the first segment that is not SACKed for lost. Returns the bytes; none if it is already.
    pub fn lose_first(&mut self) -> u32 {
        let first = self.ring.iter().position(|segment| !segment.sacked);
        first.map_or(0, |place| self.lose(place))
    }

    /// Takes everything that is not SACKed for lost after a timeout, copies too.
    pub fn lose_all(&mut self) {
        for place in 0..self.ring.len() {
            self.lose(place);
        }
    }

    /// Takes nothing for lost any more: all is in flight still.
    pub fn restore(&mut self) {
        for segment in &mut self.ring {
            (segment.lost, segment.again) = (false, false);
        }
        (self.lost, self.again) = (0, 0);
    }

    /// Forgets all SACKs: the receiver has thrown away the data it had. @RFC2018 sec. 8
    pub fn renege(&mut self) {
        for segment in &mut self.ring {
            segment.sacked = false;
        }
        (self.sacked, self.sacked_segments) = (0, 0);
        self.known = [SeqRange::default(); 4];
        if let Some(first) = self.ring.front() {
            (self.top, self.judged) = (first.range.start, first.range.start);
        }
    }

    /// True if the first segment is SACKed, though it is not acknowledged.
    pub fn reneged(&self) -> bool {
        self.ring.front().is_some_and(|first| first.sacked)
    }

    /// The first segment that is lost and was not sent again since. @RFC6675 sec. 4, NextSeg (1)
    pub fn next_lost(&mut self) -> Option<SeqRange> {
        if self.lost == 0 {
            return None;
        }
        let first = self.place(self.repaired);
        let found = self.ring.range(first..).find(|segment| segment.lost && !segment.again);
        match found {
            Some(segment) => {
                self.repaired = segment.range.start;
                Some(segment.range)
            }
            None => {
                self.repaired = self.ring.back().map_or(self.repaired, |last| last.range.end);
                None
            }
        }
    }

    /// The first segment below the highest SACKed that is neither SACKed nor lost nor sent again. @RFC6675 sec. 4, NextSeg (3)
    pub fn next_doubtful(&self) -> Option<SeqRange> {
        let top = self.top()?;
        let found = self.ring.iter().take_while(|segment| segment.range.start.lt(top));
        found.clone().find(|segment| !segment.sacked && !segment.lost && !segment.again).map(|segment| segment.range)
    }

    /// The last segment that is not SACKed, unless a copy of it is in flight. @RFC6675 sec. 4, NextSeg (4)
    pub fn last_missing(&self) -> Option<SeqRange> {
        let last = self.ring.iter().rev().find(|segment| !segment.sacked);
        last.filter(|segment| !segment.again).map(|segment| segment.range)
    }

    /// `range` has left once more.
    pub fn sent_again(&mut self, range: SeqRange, now: SimTime, stamp: Stamp) {
        let first = self.place(range.start);
        for segment in self.ring.range_mut(first..) {
            if range.end.le(segment.range.start) {
                break;
            }
            (segment.sent, segment.stamp, segment.repeated) = (now, stamp, true);
            if !segment.sacked && !segment.again {
                segment.again = true;
                self.again += segment.range.len();
            }
        }
    }

    /// [`Scoreboard::check`] at each ACK of a short list, and at one in 64 of a long one: at all of them it would be most of what a run with
    /// debug assertions costs.
    pub fn check_at(&self, ack: Seq) {
        let spread = ack.0.wrapping_mul(0x9E37_79B9); // by the golden ratio: numbers a segment apart fall everywhere
        if self.ring.len() <= 64 || spread >> 26 == 0 {
            self.check();
        }
    }

    /// Checks the counters against the records.
    pub fn check(&self) {
        let sum = |which: fn(&Segment) -> bool| -> u32 {
            self.ring.iter().filter(|segment| which(segment)).map(|segment| segment.range.len()).sum()
        };
        assert_eq!((self.sacked, self.lost, self.again), (sum(|s| s.sacked), sum(|s| s.lost), sum(|s| s.again)));
        assert!(self.ring.iter().all(|s| !(s.sacked && (s.lost || s.again))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 100;

    /// Ten segments of 100, from a number just before the wrap.
    fn ten() -> (Scoreboard, Seq) {
        let (mut board, base) = (Scoreboard::default(), Seq(u32::MAX - 350));
        for i in 0..10 {
            board.push(SeqRange::new(base + i * MSS, MSS), SimTime::ZERO, Stamp::default(), false);
        }
        (board, base)
    }

    fn segments(base: Seq, from: u32, to: u32) -> SeqRange {
        SeqRange { start: base + from * MSS, end: base + to * MSS }
    }

    /// SACKs segments `from` to `to`; returns how many were news.
    fn sack(board: &mut Scoreboard, range: SeqRange) -> u32 {
        let mut news = 0;
        board.sack(range, |_| news += 1);
        board.check();
        news
    }

    #[test]
    fn a_block_counts_once_and_for_whole_segments() {
        let (mut board, base) = ten();
        assert_eq!(sack(&mut board, segments(base, 2, 4)), 2);
        assert_eq!(sack(&mut board, segments(base, 2, 4)), 0);
        assert_eq!(sack(&mut board, segments(base, 2, 6)), 2);
        assert_eq!(sack(&mut board, SeqRange { start: base + 650, end: base + 850 }), 1);
        assert_eq!(sack(&mut board, segments(base, 1, 9)), 3);
        assert_eq!((board.sacked(), board.pipe(1000)), (800, 200));
        // What is not in flight says nothing.
        assert_eq!(sack(&mut board, segments(base, 9, 11)), 0);
    }

    #[test]
    fn lost_is_what_has_three_ranges_or_more_than_two_segments_sacked_beyond_it() {
        let (mut board, base) = ten();
        sack(&mut board, segments(base, 3, 5));
        assert_eq!(board.judge(3, MSS), 0); // two segments are not more than two
        sack(&mut board, segments(base, 3, 6));
        assert_eq!(board.judge(3, MSS), 300);
        board.check();
        assert_eq!(board.pipe(1000), 400); // 1000 - 300 - 300
        assert_eq!(board.judge(3, MSS), 0); // once
        // Small segments: three ranges.
        let (mut board, base) = ten();
        for i in [1, 3] {
            sack(&mut board, segments(base, i, i + 1));
            assert_eq!(board.judge(3, 500), 0);
        }
        sack(&mut board, segments(base, 5, 6));
        assert_eq!(board.judge(3, 500), 100); // the first; the third has two beyond it
        sack(&mut board, segments(base, 7, 8));
        assert_eq!(board.judge(3, 500), 100);
        board.check();
    }

    #[test]
    fn what_is_lost_is_repaired_in_order_and_counts_in_the_pipe_again() {
        let (mut board, base) = ten();
        sack(&mut board, segments(base, 1, 3));
        sack(&mut board, segments(base, 4, 8));
        assert_eq!(board.judge(3, MSS), 200);
        assert_eq!(board.next_lost(), Some(segments(base, 0, 1)));
        board.sent_again(segments(base, 0, 1), SimTime::ZERO, Stamp::default());
        assert_eq!(board.next_lost(), Some(segments(base, 3, 4)));
        board.sent_again(segments(base, 3, 4), SimTime::ZERO, Stamp::default());
        assert_eq!((board.next_lost(), board.pipe(1000)), (None, 400));
        assert_eq!(board.last_missing(), Some(segments(base, 9, 10)));
        let mut arrived = 0;
        board.acknowledge(base + 3 * MSS, |_| arrived += 1);
        board.check();
        assert_eq!((arrived, board.pipe(700)), (1, 300));
    }

    #[test]
    fn part_of_a_segment_may_be_acknowledged() {
        let (mut board, base) = ten();
        let mut bytes = 0;
        board.acknowledge(base + 150, |part| bytes += part.range.len());
        board.acknowledge(base + 200, |part| bytes += part.range.len());
        board.check();
        assert_eq!((bytes, board.segments().count()), (200, 8));
    }

    #[test]
    fn after_a_timeout_all_is_lost_but_what_is_sacked_and_reneging_loses_that_too() {
        let (mut board, base) = ten();
        sack(&mut board, segments(base, 5, 8));
        board.sent_again(segments(base, 0, 1), SimTime::ZERO, Stamp::default());
        board.lose_all();
        board.check();
        assert_eq!((board.pipe(1000), board.next_lost()), (0, Some(segments(base, 0, 1))));
        sack(&mut board, segments(base, 0, 1)); // a peer that SACKs what it does not acknowledge
        assert!(board.reneged());
        board.renege();
        board.lose_all();
        board.check();
        assert_eq!((board.sacked(), board.pipe(1000)), (0, 0));
        assert_eq!(sack(&mut board, segments(base, 5, 8)), 3, "blocks count anew");
    }
}
