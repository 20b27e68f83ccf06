//! The duplicate cache: which sequence numbers have been received. @80211-2020 10.3.2.14

use units::SimTime;

/// The clock by which numbers are forgotten: 2^20 ns a tick. It goes round in 52 days.
const TICK_NS: u64 = 1 << 20;
/// For how many ticks numbers before the newest are remembered: dot11MaxTransmitMSDULifetime, 512 TU by default, @80211-2020 annex C. In
/// this time a transmitter uses all of its 4096 numbers only if an MSDU takes it less than 128 us: short ones in a TXOP.
const LIFETIME: u32 = (512 * 1024 * 1000 / TICK_NS) as u32;

/// Sequence numbers of one link that were received: the newest, and those of the 64 before it. More than the one the standard
/// asks for, since a queue that yields lets MSDUs overtake each other.
///
/// Of data without QoS Control the transmitter counts its MSDUs to all receivers in one counter. To a receiver that heard nothing for
/// long, a number may look old that is new. So there the 64 are forgotten after [`LIFETIME`]; the newest is kept, as the standard asks,
/// and one new retry of 4096 after a silence is taken for it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Received {
    newest: Option<u16>,
    /// Time at which the newest was received, in ticks.
    at: u32,
    before: u64,
}

/// MSDUs that a transmitter counts with the numbers of a link. @80211-2020 table 10-5
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// MSDUs of this link alone: QoS data.
    Alone,
    /// MSDUs to all receivers: data without QoS Control.
    Together,
}

impl Received {
    /// True if a frame with this number is a repetition of one that was received; nothing is noted.
    pub(crate) fn has(&self, now: SimTime, of: Counted, seq: u16, is_retry: bool) -> bool {
        let mut copy = *self;
        copy.is_duplicate(now, of, seq, is_retry)
    }

    /// Notes a sequence number. Returns whether the frame is a duplicate: a retry of one that was received.
    pub(crate) fn is_duplicate(&mut self, now: SimTime, of: Counted, seq: u16, is_retry: bool) -> bool {
        let at = (now.ns() / TICK_NS) as u32;
        let Some(newest) = self.newest else {
            *self = Received { newest: Some(seq), at, before: 0 };
            return false;
        };
        // Sequence numbers count modulo 4096; the shorter way tells ahead from behind.
        let ahead = seq.wrapping_sub(newest) % 4096;
        if ahead == 0 {
            return is_retry;
        }
        if of == Counted::Together && at.wrapping_sub(self.at) > LIFETIME {
            *self = Received { newest: Some(seq), at, before: 0 };
            return false;
        }
        if ahead < 2048 {
            self.before = self.before.checked_shl(u32::from(ahead)).unwrap_or(0);
            if let Some(bit) = 1u64.checked_shl(u32::from(ahead) - 1) {
                self.before |= bit;
            }
            (self.newest, self.at) = (Some(seq), at);
            return false;
        }
        let Some(bit) = 1u64.checked_shl(u32::from(4096 - ahead) - 1) else { return false };
        let was_seen = self.before & bit != 0;
        self.before |= bit;
        was_seen && is_retry
    }
}

#[cfg(test)]
mod tests {
    use super::Counted::{Alone, Together};
    use super::{LIFETIME, Received, TICK_NS};
    use units::{Dur, SimTime};

    const NOW: SimTime = SimTime::ZERO;

    #[test]
    fn a_retry_of_what_was_received_is_a_duplicate_also_when_others_came_between() {
        let mut received = Received::default();
        assert!(!received.is_duplicate(NOW, Together, 4095, false));
        assert!(!received.is_duplicate(NOW, Together, 0, false), "the number wraps");
        assert!(received.is_duplicate(NOW, Together, 4095, true) && received.is_duplicate(NOW, Together, 0, true));
        assert!(!received.is_duplicate(NOW, Together, 3, true), "a retry whose first attempts were all lost");
        assert!(!received.is_duplicate(NOW, Together, 2, true), "overtaken and not received yet");
        assert!(
            received.is_duplicate(NOW, Together, 2, true)
                && received.is_duplicate(NOW, Together, 3, true)
                && !received.is_duplicate(NOW, Together, 1, true)
        );
        assert!(
            !received.is_duplicate(NOW, Together, 80, false) && !received.is_duplicate(NOW, Together, 3, true),
            "too long ago to be known"
        );
    }

    #[test]
    fn a_receiver_that_heard_nothing_while_the_counter_went_round_takes_no_new_number_for_an_old_one() {
        let mut received = Received::default();
        for seq in 300..400 {
            assert!(!received.is_duplicate(NOW, Together, seq, false));
        }
        // 4060 MSDUs to others later: 360 was received a round ago, and this is a retry of another.
        let lifetime = Dur::from_ns(u64::from(LIFETIME) * TICK_NS);
        assert_eq!((lifetime, size_of::<Received>()), (Dur::from_us(512 * 1024), 16));
        let later = NOW + lifetime + Dur::from_ns(TICK_NS);
        assert!(
            !received.is_duplicate(later, Together, 359, false) && !received.is_duplicate(later, Together, 360, true)
        );
        assert!(
            received.is_duplicate(later, Together, 360, true) && received.is_duplicate(later, Together, 359, true)
        );
        assert!(!received.has(later, Together, 361, true) && received.has(later + lifetime, Together, 359, true));
        assert!(
            !received.has(later + lifetime * 2, Together, 359, true)
                && received.has(later + lifetime * 2, Together, 360, true)
        );
    }

    #[test]
    fn a_link_of_its_own_forgets_nothing() {
        let mut received = Received::default();
        for seq in 300..400 {
            assert!(!received.is_duplicate(NOW, Alone, seq, false));
        }
        let later = NOW + Dur::from_secs(3600);
        assert!(received.has(later, Alone, 399, true) && received.has(later, Alone, 360, true));
        assert!(!received.has(later, Alone, 300, true), "further back than 64");
        assert!(!received.is_duplicate(later, Alone, 400, true), "new, though its first attempts were lost");
    }
}
