//! The receiving half: reassembly, the offered window, when an ACK is due. @RFC9293 sec. 3.8.6

use crate::Config;
use crate::ack::AckPolicy;
use crate::blocks::SackBlocks;
use crate::ecn::Echo;
use crate::facts::Arrived;
use wire::{Seq, SeqRange};

/// The acknowledgment that is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AckDue {
    /// None.
    No,
    /// One when the delayed-ACK timer expires, or with data.
    Later,
    /// One now, alone or with data.
    Now,
    /// One now and alone: the peer counts duplicates, and one with data does not count. @RFC5681 sec. 2 (b)
    Alone,
}

/// RCV.* of @RFC9293 sec. 3.3.1, and what has arrived.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// IRS: the peer's initial number.
    pub irs: Seq,
    /// RCV.NXT.
    pub nxt: Seq,
    /// The right edge offered to the peer; it never moves left.
    pub edge: Seq,
    /// Offset of `nxt` in the peer's stream.
    pub offset: u64,
    /// Number of the FIN, once one has arrived (in order or not).
    pub fin: Option<Seq>,
    /// The acknowledgment that is owed.
    pub due: AckDue,
    /// The ACK is owed only because the application read.
    pub window_update: bool,
    /// Last.ACK.sent of @RFC7323 sec. 4.3.
    pub last_ack_sent: Seq,
    /// The echo of congestion marks.
    pub echo: Echo,
    /// The policy that acknowledges data that comes in order.
    pub policy: Box<dyn AckPolicy>,
    /// Bytes in order, not read by the application.
    unread: u64,
    buffer: u64,
    /// The longest payload so far: the segment size of @RFC9293 sec. 3.8.6.2.2.
    segment: u32,
    /// The data that did not come in order, once there is some.
    disorder: Option<Box<Disorder>>,
}

/// Data that came out of order or twice.
#[derive(Debug, Default)]
struct Disorder {
    blocks: SackBlocks,
    /// The range that came twice and is not reported yet. @RFC2883
    duplicate: Option<SeqRange>,
}

impl Disorder {
    /// Notes the part of `range`, which has come in the window, that came twice. Of several parts the first is told: the one before
    /// RCV.NXT. @RFC2883 sec. 4.2
    fn note_twice(&mut self, range: SeqRange) {
        let known = self.blocks.ranges().iter().find(|known| known.start.lt(range.end) && range.start.lt(known.end));
        let twice =
            known.map(|known| SeqRange { start: known.start.max(range.start), end: known.end.min(range.end) });
        let first = self.duplicate.filter(|before| before.end == range.start);
        self.duplicate = first.or(twice).or(self.duplicate);
    }
}

impl Receiver {
    pub fn new(config: &Config) -> Receiver {
        Receiver {
            irs: Seq(0),
            nxt: Seq(0),
            edge: Seq(0),
            offset: 0,
            fin: None,
            due: AckDue::No,
            window_update: false,
            last_ack_sent: Seq(0),
            echo: Echo::default(),
            policy: (config.ack_policy.plugin)(&config.ack_policy.params, config.delay()),
            unread: 0,
            buffer: config.receive_buffer.0,
            segment: 0,
            disorder: None,
        }
    }

    /// The peer's SYN has come.
    pub fn synchronize(&mut self, irs: Seq) {
        (self.irs, self.nxt, self.edge, self.last_ack_sent) = (irs, irs + 1, irs + 1, irs + 1);
    }

    /// The part of the offered window that is left: RCV.WND.
    pub fn wnd(&self) -> u32 {
        self.edge - self.nxt
    }

    /// Bytes in order that the application has not read.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// The number of the segment of the stream that ends at RCV.NXT, counted from 1 in segments of the longest length
    /// seen.
    pub fn segment_number(&self) -> u64 {
        self.offset.div_ceil(u64::from(self.segment.max(1)))
    }

    /// Takes the payload at `range`, which lies between RCV.NXT and the right edge.
    pub fn take(&mut self, range: SeqRange) -> Arrived {
        debug_assert!(self.nxt.le(range.start) && range.end.le(self.edge), "{range:?} is not in the window");
        self.segment = self.segment.max(range.len());
        let is_next = range.start == self.nxt;
        if is_next && self.disorder.as_ref().is_none_or(|disorder| disorder.blocks.is_empty()) {
            self.advance(range.end);
            return Arrived::InOrder;
        }
        let disorder = self.disorder.get_or_insert_default();
        disorder.note_twice(range);
        if !is_next {
            return if disorder.blocks.insert(range) { Arrived::OutOfOrder } else { Arrived::Duplicate };
        }
        let nxt = disorder.blocks.take_from(range.end);
        self.advance(nxt);
        Arrived::FilledGap
    }

    /// All before `nxt` has come.
    fn advance(&mut self, nxt: Seq) {
        let new = u64::from(nxt - self.nxt);
        self.nxt = nxt;
        self.offset += new;
        self.unread += new;
    }

    /// `range` came twice, and is to be reported. @RFC2883
    pub fn came_twice(&mut self, range: SeqRange) {
        self.disorder.get_or_insert_default().duplicate = Some(range);
    }

    /// Notes that the range that came twice has been reported.
    pub fn duplicate_reported(&mut self) {
        if let Some(disorder) = &mut self.disorder {
            disorder.duplicate = None;
        }
    }

    /// True while there is a block to report: something beyond a gap, or something that came twice.
    pub fn has_blocks(&self) -> bool {
        self.disorder.as_ref().is_some_and(|disorder| !disorder.blocks.is_empty() || disorder.duplicate.is_some())
    }

    /// The blocks to report, and their number: the range that came twice, once (@RFC2883 sec. 4), then the block that
    /// changed last (@RFC2018 sec. 4).
    pub fn sack_blocks(&self) -> ([SeqRange; 4], usize) {
        self.disorder.as_ref().map_or_else(Default::default, |disorder| disorder.blocks.report(disorder.duplicate))
    }

    /// The window that would be offered now: the window that is offered already, or, once it is worth the while, all that
    /// is free.
    /// Silly window avoidance: the edge moves by a segment or half the buffer. @RFC9293 sec. 3.8.6.2.2
    fn offer(&self, shift: u8) -> u32 {
        let offered = u64::from(self.wnd());
        let free = self.buffer.saturating_sub(self.unread).min(0xffff << shift);
        let step = u64::from(self.segment.max(1)).min(self.buffer.div_ceil(2));
        if free >= offered + step { free as u32 } else { offered as u32 }
    }

    /// The window field of a segment about to leave; moves the right edge. Rounded down to what the shift can say, but
    /// never so that the edge moves left (@RFC9293 sec. 3.8.6: "shrinking the window" is discouraged).
    pub fn announce(&mut self, shift: u8) -> u16 {
        let window = self.offer(shift);
        let mut field = window >> shift;
        if (self.edge - self.nxt) > field << shift {
            field = (self.edge - self.nxt).div_ceil(1 << shift);
        }
        let field = field.min(0xffff);
        self.edge = self.edge.max(self.nxt + (field << shift));
        self.last_ack_sent = self.nxt;
        self.due = AckDue::No;
        field as u16
    }

    /// The application took `n` bytes. Returns whether the peer should hear of it at once: the window it could be
    /// offered is at least twice what it has left (Linux's rule; BSD's two segments would undo delayed ACKs).
    pub fn read(&mut self, n: u64, shift: u8) -> bool {
        debug_assert!(n <= self.unread, "the application reads {n} bytes of {}", self.unread);
        self.unread = self.unread.saturating_sub(n);
        let left = self.wnd();
        // The first condition follows from the last; it spares the rest while the window is wide.
        u64::from(left) * 2 <= self.buffer && {
            let offer = self.offer(shift) >> shift << shift;
            offer > left && offer >= left.saturating_mul(2)
        }
    }

    /// An ACK may wait until `at`. Returns whether the timer is to be started.
    pub fn ack_later(&mut self) -> bool {
        let first = self.due == AckDue::No;
        if first {
            self.due = AckDue::Later;
        }
        first
    }

    /// An ACK is due now; one that must be alone stays so.
    pub fn ack_now(&mut self) {
        if self.due != AckDue::Alone {
            self.due = AckDue::Now;
        }
    }

    /// Stream offset that sequence number `seq` must have, for the check of virtual payloads.
    pub fn expected_offset(&self, seq: Seq) -> u64 {
        self.offset.wrapping_add_signed(i64::from((seq - self.nxt) as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn receiver(buffer: u64) -> Receiver {
        let mut r = Receiver::new(&Config { receive_buffer: Bytes(buffer), ..Config::default() });
        r.synchronize(Seq(u32::MAX));
        r.announce(0);
        r
    }

    fn range(start: u32, len: u32) -> SeqRange {
        SeqRange::new(Seq(start), len)
    }

    #[test]
    fn the_block_that_changed_last_comes_first() {
        let mut r = receiver(10_000);
        for start in [200, 600, 400] {
            assert_eq!(r.take(range(start, 100)), Arrived::OutOfOrder);
        }
        assert_eq!(r.sack_blocks(), ([range(400, 100), range(600, 100), range(200, 100), SeqRange::default()], 3));
        assert_eq!(r.take(range(300, 100)), Arrived::OutOfOrder);
        let (blocks, n) = r.sack_blocks();
        assert_eq!(blocks[..n], [range(200, 300), range(600, 100)]);
        assert_eq!(r.take(range(210, 20)), Arrived::Duplicate);
        assert_eq!(r.take(range(0, 200)), Arrived::FilledGap);
        // What came twice is reported first, once.
        let (blocks, n) = r.sack_blocks();
        assert_eq!((r.nxt, &blocks[..n], r.unread()), (Seq(500), &[range(210, 20), range(600, 100)][..], 500));
    }

    #[test]
    fn the_edge_moves_only_by_a_segment_or_half_the_buffer() {
        let mut r = receiver(1000);
        assert_eq!(r.wnd(), 1000);
        r.take(range(0, 400));
        r.take(range(400, 400));
        r.take(range(800, 200));
        assert_eq!(r.announce(0), 0);
        assert!(!r.read(399, 0)); // less than a segment of 400
        assert_eq!(r.announce(0), 0);
        assert!(r.read(1, 0));
        assert_eq!(r.announce(0), 400);
    }

    #[test]
    fn a_scaled_window_never_moves_the_edge_left() {
        let mut r = Receiver::new(&Config { receive_buffer: Bytes(1003), ..Config::default() });
        r.synchronize(Seq(0));
        assert_eq!(r.announce(3), 125); // 1000 of 1003 bytes
        let edge = r.edge;
        r.take(range(1, 501)); // 499 left: 62.4 units of 8
        assert_eq!(r.announce(3), 63);
        assert!(edge.le(r.edge) && r.edge - edge < 8);
    }
}
