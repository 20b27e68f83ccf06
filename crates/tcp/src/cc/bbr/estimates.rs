//! The estimates of BBR: the bandwidth of the path, and the ACKs that come in bursts.

use units::{Bytes, Dur, SimTime};

/// BtlBwFilterLen, in rounds. Sec. 4.1.1.4
const BANDWIDTH_ROUNDS: u64 = 10;
/// Rounds that each of the two slots of the aggregation filter lasts. Linux
const AGGREGATION_ROUNDS: u32 = 5;
/// The most that aggregation adds, as a time at the estimated bandwidth. Linux
const AGGREGATION_MOST: Dur = Dur::from_ms(100);

/// The greatest value of this round and of the ten before. Rounds pass only when there is a value: an idle application forgets
/// nothing. Sec. 4.1.1.5
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Greatest {
    /// The greatest of each round, at its number modulo the length.
    rounds: [f64; BANDWIDTH_ROUNDS as usize + 1],
    last: u64,
    greatest: f64,
}

impl Greatest {
    pub fn get(&self) -> f64 {
        self.greatest
    }

    pub fn update(&mut self, round: u64, value: f64) {
        let len = self.rounds.len() as u64;
        for old in (self.last + 1).max((round + 1).saturating_sub(len))..=round {
            self.rounds[(old % len) as usize] = 0.0;
        }
        let slot = &mut self.rounds[(round % len) as usize];
        *slot = slot.max(value);
        self.last = round;
        self.greatest = self.rounds.iter().copied().fold(0.0, f64::max);
    }
}

/// The bytes that ACKs brought beyond the estimated bandwidth. Linux, bbr_update_ack_aggregation
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aggregation {
    pub on: bool,
    since: SimTime,
    acked: u64,
    /// The greatest excess of these rounds and of those before.
    extra: [u64; 2],
    slot: usize,
    rounds: u32,
}

impl Aggregation {
    pub fn new(on: bool) -> Aggregation {
        Aggregation { on, ..Aggregation::default() }
    }

    /// `delivered` bytes came at `now`, where `bandwidth` was expected; a window of `cwnd`.
    pub fn update(&mut self, now: SimTime, delivered: u64, bandwidth: f64, round_starts: bool, cwnd: Bytes) {
        if !self.on {
            return;
        }
        if round_starts {
            self.rounds += 1;
            if self.rounds >= AGGREGATION_ROUNDS {
                (self.rounds, self.slot) = (0, 1 - self.slot);
                self.extra[self.slot] = 0;
            }
        }
        let mut expected = (bandwidth * seconds(now.since(self.since))) as u64;
        if self.acked <= expected {
            (self.acked, self.since, expected) = (0, now, 0);
        }
        self.acked += delivered;
        let extra = (self.acked - expected).min(cwnd.0);
        self.extra[self.slot] = self.extra[self.slot].max(extra);
    }

    /// Begins anew at `now`: nothing has come since then.
    pub fn restart(&mut self, now: SimTime) {
        (self.acked, self.since) = (0, now);
    }

    /// Bytes that the window should hold beyond two bandwidth-delay products.
    pub fn room(&self, bandwidth: f64) -> f64 {
        let extra = self.extra[0].max(self.extra[1]) as f64;
        extra.min(bandwidth * seconds(AGGREGATION_MOST))
    }
}

pub(super) fn seconds(time: Dur) -> f64 {
    time.ns() as f64 / 1e9
}
