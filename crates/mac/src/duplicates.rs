//! The duplicate cache: which sequence numbers have been received. @80211-2020 10.3.2.14

/// Which sequence numbers of one transmitter and category have been received: the newest, and which of the 64 before it. More than
/// the one the standard asks for, since a queue that yields lets MSDUs overtake each other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Received {
    newest: Option<u16>,
    before: u64,
}

impl Received {
    /// Whether a frame with this number is a repetition of one that was received; nothing is noted.
    pub(crate) fn has(&self, seq: u16, is_retry: bool) -> bool {
        let mut copy = *self;
        copy.newest.is_some() && copy.is_duplicate(seq, is_retry)
    }

    /// Notes a sequence number. Returns whether the frame is a duplicate: a retry of one that was received.
    pub(crate) fn is_duplicate(&mut self, seq: u16, is_retry: bool) -> bool {
        let Some(newest) = self.newest else {
            self.newest = Some(seq);
            return false;
        };
        // Sequence numbers count modulo 4096; the shorter way tells ahead from behind.
        let ahead = seq.wrapping_sub(newest) % 4096;
        if ahead == 0 {
            return is_retry;
        }
        if ahead < 2048 {
            self.before = self.before.checked_shl(u32::from(ahead)).unwrap_or(0);
            if let Some(bit) = 1u64.checked_shl(u32::from(ahead) - 1) {
                self.before |= bit;
            }
            self.newest = Some(seq);
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
    use super::Received;

    #[test]
    fn a_retry_of_what_was_received_is_a_duplicate_also_when_others_came_between() {
        let mut received = Received::default();
        assert!(!received.is_duplicate(4095, false));
        assert!(!received.is_duplicate(0, false), "the number wraps");
        assert!(received.is_duplicate(4095, true) && received.is_duplicate(0, true));
        assert!(!received.is_duplicate(3, true), "a retry whose first attempts were all lost");
        assert!(!received.is_duplicate(2, true), "overtaken and not received yet");
        assert!(received.is_duplicate(2, true) && received.is_duplicate(3, true) && !received.is_duplicate(1, true));
        assert!(!received.is_duplicate(80, false) && !received.is_duplicate(3, true), "too long ago to be known");
    }
}
