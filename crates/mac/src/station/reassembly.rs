//! MSDUs that arrive in fragments. @80211-2020 10.5

use crate::link::LinkId;
use units::{Dur, SimTime};

/// The time that the fragments of an MSDU may take from the first to the last: aMaxReceiveLifetime, 512 TU. @80211-2020 10.5, annex C
const LIFETIME: Dur = Dur::from_us(512 * 1024);
/// MSDUs under way at once: beyond it the oldest is forgotten. A station must manage three (10.5); a queue that yields may have more
/// under way.
const MOST: usize = 16;

/// An MSDU of which some fragments have arrived.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// Whose.
    link: LinkId,
    seq: u16,
    /// The fragment that is due.
    next: u8,
    began: SimTime,
}

/// The role of a fragment that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fragment {
    /// The one that was due: more are to come.
    Taken,
    /// The last one: the MSDU is whole.
    Last,
    /// It had arrived before.
    Duplicate,
    /// One of an MSDU whose earlier fragments are not here: they were given up, or took too long.
    Stray,
}

/// MSDUs of which some fragments have arrived, oldest first.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    parts: Vec<Part>,
}

impl Reassembly {
    /// Fragment number `number` of the MSDU `seq` has arrived. `is_whole`: that MSDU is known to have arrived.
    pub fn arrives(
        &mut self,
        now: SimTime,
        link: LinkId,
        seq: u16,
        number: u8,
        has_further: bool,
        is_whole: bool,
    ) -> Fragment {
        self.parts.retain(|part| now.since(part.began) <= LIFETIME);
        let at = self.parts.iter().position(|part| (part.link, part.seq) == (link, seq));
        match at {
            Some(i) if number < self.parts[i].next => Fragment::Duplicate,
            Some(i) if number == self.parts[i].next => {
                if has_further {
                    self.parts[i].next += 1;
                    Fragment::Taken
                } else {
                    self.parts.remove(i);
                    Fragment::Last
                }
            }
            None if is_whole => Fragment::Duplicate,
            None if number == 0 => {
                if self.parts.len() == MOST {
                    self.parts.remove(0);
                }
                self.parts.push(Part { link, seq, next: 1, began: now });
                Fragment::Taken
            }
            _ => Fragment::Stray,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: SimTime = SimTime::from_ns(1_000_000_000);
    const ONE: LinkId = LinkId(3);
    const OTHER: LinkId = LinkId(4);

    #[test]
    fn fragments_in_order_make_an_msdu_and_repetitions_are_duplicates() {
        let mut reassembly = Reassembly::default();
        let mut arrives =
            |number, has_further, is_whole| reassembly.arrives(AT, ONE, 7, number, has_further, is_whole);
        assert_eq!(arrives(0, true, false), Fragment::Taken);
        assert_eq!(arrives(0, true, false), Fragment::Duplicate);
        assert_eq!(arrives(2, false, false), Fragment::Stray, "the second is missing");
        assert_eq!(arrives(1, true, false), Fragment::Taken);
        assert_eq!(arrives(2, false, false), Fragment::Last);
        assert_eq!(arrives(2, false, true), Fragment::Duplicate, "its acknowledgment was lost");
        assert_eq!(reassembly.arrives(AT, ONE, 8, 1, true, false), Fragment::Stray);
    }

    #[test]
    fn msdus_of_several_stations_and_numbers_are_told_apart_and_the_oldest_gives_way() {
        let mut reassembly = Reassembly::default();
        for seq in 0..MOST as u16 {
            assert_eq!(reassembly.arrives(AT, ONE, seq, 0, true, false), Fragment::Taken);
        }
        assert_eq!(reassembly.arrives(AT, OTHER, 5, 0, true, false), Fragment::Taken);
        assert_eq!(reassembly.arrives(AT, ONE, 0, 1, false, false), Fragment::Stray, "gone");
        assert_eq!(reassembly.arrives(AT, ONE, 5, 1, false, false), Fragment::Last);
        assert_eq!(reassembly.arrives(AT, OTHER, 5, 1, false, false), Fragment::Last);
    }

    #[test]
    fn what_takes_too_long_is_forgotten() {
        let mut reassembly = Reassembly::default();
        reassembly.arrives(AT, ONE, 7, 0, true, false);
        assert_eq!(reassembly.arrives(AT + LIFETIME, ONE, 7, 1, true, false), Fragment::Taken);
        assert_eq!(reassembly.arrives(AT + LIFETIME + Dur::from_ns(1), ONE, 7, 2, false, false), Fragment::Stray);
    }
}
