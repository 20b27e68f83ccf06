//! Scoreboard context: which numbers a Block Ack names. Full state: it is kept as long as the agreement. @80211-2020 10.25.6.3

use super::{HALF, ahead};
use crate::psdu::Bitmap;
use phy::MpduSet;

/// Numbers received, from WinStart_R on.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    start: u16,
    window: u16,
    /// By their distance from the start.
    received: MpduSet,
}

impl Scoreboard {
    /// Empty, from number 0 on.
    pub fn new(window: u16) -> Scoreboard {
        Scoreboard { start: 0, window, received: MpduSet::with_width(usize::from(window)) }
    }

    /// An MPDU with this number was received. One beyond the window becomes its last. One from before it is not noted, but it cannot be
    /// from before if it was not sent before.
    pub fn note(&mut self, seq: u16, is_retry: bool) {
        let at = ahead(seq, self.start);
        if at >= HALF && is_retry {
            return;
        }
        if at >= self.window {
            self.advance(at - self.window + 1);
        }
        self.received.insert(usize::from(ahead(seq, self.start)));
    }

    /// A Block Ack Request says that everything before this number is settled.
    pub fn move_to(&mut self, start: u16) {
        let by = ahead(start, self.start);
        if by < HALF {
            self.advance(by);
        }
    }

    fn advance(&mut self, by: u16) {
        self.start = (self.start + by) % crate::link::NUMBERS;
        self.received.shift(usize::from(by));
    }

    /// The bitmap of a Block Ack.
    pub fn bitmap(&self) -> Bitmap {
        Bitmap::of(self.start, usize::from(self.window), &self.received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(board: &Scoreboard) -> (u16, Vec<usize>) {
        (board.bitmap().start(), board.bitmap().numbers().iter().collect())
    }

    #[test]
    fn a_number_beyond_the_window_becomes_its_last() {
        let mut board = Scoreboard::new(64);
        [0, 2, 63].into_iter().for_each(|seq| board.note(seq, false));
        assert_eq!(numbers(&board), (0, vec![0, 2, 63]));
        board.note(64, false);
        assert_eq!(numbers(&board), (1, vec![1, 62, 63]));
        board.note(0, true);
        assert_eq!(numbers(&board), (1, vec![1, 62, 63]), "from before the window");
        board.move_to(60);
        assert_eq!(numbers(&board), (60, vec![3, 4]));
        board.move_to(10);
        assert_eq!(numbers(&board), (60, vec![3, 4]), "a request from the past moves nothing");
        board.note(60 + HALF, true);
        assert_eq!(numbers(&board), (60, vec![3, 4]), "sent before: from the past");
        board.note(60 + HALF, false);
        assert_eq!(numbers(&board), (60 + HALF - 63, vec![63]), "its originator has given up what was between");
    }

    #[test]
    fn numbers_wrap_inside_a_window_of_each_width() {
        for window in [1, 64, 100, 256, 1024] {
            let mut board = Scoreboard::new(window);
            for seq in 0..4090 {
                board.note(seq, false);
            }
            let last: Vec<u16> = (4090..4106).map(|seq| seq % 4096).collect();
            last.iter().for_each(|seq| board.note(*seq, false));
            let bitmap = board.bitmap();
            assert_eq!(bitmap.start(), (4106 - window) % 4096);
            assert!(last.iter().rev().take(usize::from(window)).all(|seq| bitmap.contains(*seq)), "{window}");
            assert_eq!(bitmap.numbers().len(), usize::from(window));
        }
    }
}
