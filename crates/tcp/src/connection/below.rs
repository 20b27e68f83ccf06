//! Small queues: a connection keeps little data below itself, in the queues of its own host, so that what waits, waits where it
//! costs no delay. As in Linux (tcp_small_queue_check, tcp_tso_autosize).
//!
//! Linux hands down packets of many segments, and counts the memory of their buffers. Both are here bytes of payload: the limit is
//! that of such packets, but segments leave one by one; the buffers of segments that a radio's queue holds have half as much again,
//! which is left out, as is the packet that goes beyond the limit. A timeout repeats what may still wait in the host's queue.

use super::Connection;
use super::sender::Chosen;
use crate::SmallQueue;
use units::Dur;

/// The shift where a driver says nothing: the data of about a millisecond. As Linux (sk_pacing_shift).
const SHIFT: u8 = 10;
/// The shift of radios, which aggregate: about 8 ms. As Linux (mac80211, tx_sk_pacing_shift).
const RADIO_SHIFT: u8 = 7;
/// The longest packet that TCP hands down: sk_gso_max_size.
const LONGEST: u64 = 65_536;
/// A packet may be longer by [`LONGEST`], halved for each so much of the least RTT: tcp_tso_rtt_log.
const HALVED_EACH: Dur = Dur::from_us(512);

/// The segments that may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum May {
    Nothing,
    Repair,
    All,
}

impl Connection {
    /// So much of this connection's data entered the queues of its host.
    pub(crate) fn queued(&mut self, bytes: u32, by_radio: bool) {
        self.snd.below = self.snd.below.saturating_add(bytes);
        self.snd.held.by_radio = by_radio;
        self.snd.held.queue = self.may() != May::All;
    }

    /// It left them.
    pub(crate) fn left(&mut self, bytes: u32) {
        self.snd.below = self.snd.below.saturating_sub(bytes);
    }

    /// Two packets, or the pacing rate times 2^-shift seconds; a repair may have twice as much below it. Whatever it is, one segment may
    /// be out: a report that comes late does not stop a connection.
    fn may(&self) -> May {
        let shift = match self.config.small_queue {
            SmallQueue::Off => return May::All,
            SmallQueue::Shift(shift) => shift,
            SmallQueue::Linux if self.snd.held.by_radio => RADIO_SHIFT,
            SmallQueue::Linux => SHIFT,
        };
        let paced = self.rate().map_or(u64::MAX, |rate| (rate.bps() / 8) >> shift);
        let limit = paced.max(2 * self.packet(paced));
        match u64::from(self.snd.below) {
            bytes if bytes <= limit || self.snd.flight() <= self.snd.mss => May::All,
            bytes if bytes / 2 <= limit => May::Repair,
            _ => May::Nothing,
        }
    }

    /// The length of a packet of Linux: what leaves in 2^-shift seconds, more where the round trip is short, and two segments at least.
    fn packet(&self, paced: u64) -> u64 {
        let least = self.snd.tracking.as_ref().and_then(|tracking| tracking.min_rtt);
        let halvings = least.map_or(u64::MAX, |rtt| rtt.ns() / HALVED_EACH.ns());
        let near = if halvings < 32 { LONGEST >> halvings } else { 0 };
        paced.saturating_add(near).min(LONGEST).max(2 * u64::from(self.snd.mss))
    }

    /// As [`Connection::choose`], of a connection that is held back.
    #[cold]
    #[inline(never)]
    pub(crate) fn choose_held(&mut self, now: units::SimTime) -> Option<Chosen> {
        if self.snd.frozen || self.snd.held.refused {
            return None;
        }
        match self.may() {
            May::Nothing => None,
            May::Repair => self.repair_of_loss(),
            May::All => {
                self.snd.held.queue = false;
                self.choose(now)
            }
        }
    }
}
