//! Data beyond a gap, as a receiver's SACK option reports it. @RFC2018 sec. 4

use wire::{Seq, SeqRange, SeqSet};

/// The blocks of one receiver: `tcp::Connection` reports them, and so does who acknowledges in a receiver's name.
#[derive(Debug, Default)]
pub struct SackBlocks {
    /// The ranges beyond a gap.
    beyond: SeqSet,
    /// A number of each of the last blocks that changed, the latest first.
    recent: [Seq; 4],
    recent_len: usize,
}

impl SackBlocks {
    /// The ranges beyond a gap, from the left.
    pub fn ranges(&self) -> &[SeqRange] {
        self.beyond.ranges()
    }

    /// True if there is no gap.
    pub fn is_empty(&self) -> bool {
        self.beyond.is_empty()
    }

    /// `range` lies beyond a gap. Returns false if it was there already.
    pub fn insert(&mut self, range: SeqRange) -> bool {
        let before = self.beyond.len();
        self.beyond.insert(range);
        // Most recent first; older entries that now fall into the same block are found equal when blocks are made.
        if !self.recent[..self.recent_len].first().is_some_and(|seq| *seq == range.start) {
            self.recent.rotate_right(1);
            self.recent[0] = range.start;
            self.recent_len = (self.recent_len + 1).min(self.recent.len());
        }
        self.beyond.len() != before
    }

    /// Everything before `next` has arrived: forgets what lies there, and returns the end of what joins it.
    pub fn take_from(&mut self, next: Seq) -> Seq {
        self.beyond.take_from(next)
    }

    /// The blocks to report, and their number: `duplicate`, a range that came twice (@RFC2883 sec. 4), then the block that changed last.
    pub fn report(&self, duplicate: Option<SeqRange>) -> ([SeqRange; 4], usize) {
        let mut blocks = [SeqRange::default(); 4];
        let mut n = 0;
        if let Some(twice) = duplicate {
            blocks[0] = twice;
            n = 1;
        }
        let first = n;
        for seq in &self.recent[..self.recent_len] {
            let block = self.beyond.ranges().iter().find(|block| block.contains(*seq));
            if let Some(block) = block.filter(|block| n < blocks.len() && !blocks[first..n].contains(block)) {
                blocks[n] = *block;
                n += 1;
            }
        }
        // Filled up with blocks not reported lately, from the left.
        for block in self.beyond.ranges() {
            if n < blocks.len() && !blocks[first..n].contains(block) {
                blocks[n] = *block;
                n += 1;
            }
        }
        (blocks, n)
    }
}
