//! Explicit Congestion Notification: what the two SYNs say, the receiver's echo, the sender's answer. @RFC3168 sec. 6.1
//!
//! Choices the RFC leaves open: a repeated SYN offers ECN again, and a reset in answer to the offer is a refusal
//! (sec. 6.1.1.1 allows to try without; here paths lose SYNs, no middlebox eats them). Marks and CWR are read from data
//! within the window only (sec. 6.1.5), out of order or not.

use wire::{Flags, Seq};

/// True if a SYN or SYN-ACK speaks for ECN: an ECN-setup packet. A SYN-ACK that has both bits set only reflects those of
/// the SYN. @RFC3168 sec. 6.1.1, 6.1.1.2
pub(crate) fn is_setup(flags: Flags) -> bool {
    flags.has(Flags::ECE) && flags.has(Flags::ACK) != flags.has(Flags::CWR)
}

/// The receiver's side.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    /// ECE goes on everything that acknowledges.
    on: bool,
}

impl Echo {
    /// A data segment within the window. CWR ends the echo also if a mark still waits for its delayed ACK: what was
    /// marked left before the cut that CWR tells of (@RFC3168 sec. 6.1.3), and a second cut for it would be one too many.
    /// So do ns-2 and Linux.
    pub fn data(&mut self, flags: Flags, ce: bool) {
        self.on = ce || self.on && !flags.has(Flags::CWR);
    }

    /// The flags of an acknowledgment. A mark hastens none: classic ECN, unlike DCTCP, needs no count of them.
    pub fn flags(&self) -> Flags {
        if self.on { Flags::ECE } else { Flags::default() }
    }
}

/// The peer's knowledge of the last cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Told {
    /// It has, or there was none.
    #[default]
    Yes,
    /// The first new data will say so.
    Due,
    /// The segment that begins here says so, and is not acknowledged.
    From(Seq),
}

/// The sender's side: one answer per window of data.
#[derive(Debug, Default)]
pub(crate) struct Reduction {
    told: Told,
    by_mark: bool,
}

impl Reduction {
    /// True if the peer knows of the last cut.
    pub fn is_told(&self) -> bool {
        self.told == Told::Yes
    }

    /// The window was cut.
    pub fn made(&mut self, by_mark: bool) {
        *self = Reduction { told: Told::Due, by_mark };
    }

    /// The segment at `seq` was not sent after all.
    pub fn taken_back(&mut self, seq: Seq) {
        if self.told == Told::From(seq) {
            self.told = Told::Due;
        }
    }

    /// The flags of new data that begins at `seq`: CWR on the first after a cut. @RFC3168 sec. 6.1.2
    pub fn flags_of(&mut self, seq: Seq) -> Flags {
        if self.told != Told::Due {
            return Flags::default();
        }
        self.told = Told::From(seq);
        Flags::CWR
    }

    /// Data up to `ack` has arrived.
    #[inline]
    pub fn acknowledged(&mut self, ack: Seq) {
        if let Told::From(seq) = self.told
            && seq.lt(ack)
        {
            self.told = Told::Yes;
        }
    }

    /// True if a mark has cut the window since the segment at `seq` left: its loss tells nothing new.
    pub fn answered(&self, seq: Seq) -> bool {
        self.by_mark
            && match self.told {
                Told::Yes => false,
                Told::Due => true,
                Told::From(first) => seq.lt(first),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_bits_speak_for_ecn() {
        let (syn, both) = (Flags::SYN, Flags::ECE | Flags::CWR);
        let syn_ack = Flags::SYN | Flags::ACK;
        let setup = [syn | both, syn_ack | Flags::ECE];
        assert!(setup.into_iter().all(is_setup));
        let plain = [syn, syn | Flags::ECE, syn | Flags::CWR, syn_ack, syn_ack | both, syn_ack | Flags::CWR];
        assert!(!plain.into_iter().any(is_setup));
    }

    #[test]
    fn cwr_ends_an_echo_and_a_mark_on_the_same_segment_begins_another() {
        let mut echo = Echo::default();
        echo.data(Flags::CWR, false);
        assert_eq!(echo.flags(), Flags::default());
        echo.data(Flags::ACK, true);
        echo.data(Flags::ACK, false);
        assert_eq!(echo.flags(), Flags::ECE);
        echo.data(Flags::ACK | Flags::CWR, true);
        assert_eq!(echo.flags(), Flags::ECE);
        echo.data(Flags::ACK | Flags::CWR, false);
        assert_eq!(echo.flags(), Flags::default());
    }

    #[test]
    fn a_cut_is_told_once_and_holds_until_the_telling_segment_is_acknowledged() {
        let mut cut = Reduction::default();
        assert!(!cut.answered(Seq(0)));
        cut.made(true);
        assert!(cut.answered(Seq(u32::MAX)));
        assert_eq!((cut.flags_of(Seq(10)), cut.flags_of(Seq(20))), (Flags::CWR, Flags::default()));
        cut.acknowledged(Seq(10));
        assert!(cut.answered(Seq(u32::MAX)) && !cut.answered(Seq(10)));
        cut.acknowledged(Seq(11));
        assert_eq!(cut.told, Told::Yes);
        cut.made(false);
        assert!(!cut.answered(Seq(0)), "a loss may follow a loss");
    }
}
