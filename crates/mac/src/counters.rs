//! Counters of a station.

use units::{Bytes, Dur};

/// PPDUs of several MPDUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AMpdus {
    /// These PPDUs.
    pub sent: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// Their PSDUs, delimiters and padding included.
    pub bytes: Bytes,
}

impl AMpdus {
    /// One more.
    pub(crate) fn add(&mut self, mpdus: usize, bytes: Bytes) {
        *self = self.with(AMpdus { sent: 1, mpdus: mpdus as u64, bytes });
    }

    /// The PPDUs of so many MPDUs, those that are not in A-MPDUs alone in theirs.
    fn ppdus_of(self, mpdus: u64) -> u64 {
        mpdus - self.mpdus + self.sent
    }

    fn with(self, other: AMpdus) -> AMpdus {
        AMpdus { sent: self.sent + other.sent, mpdus: self.mpdus + other.mpdus, bytes: self.bytes + other.bytes }
    }

    fn since(self, then: AMpdus) -> AMpdus {
        AMpdus { sent: self.sent - then.sent, mpdus: self.mpdus - then.mpdus, bytes: self.bytes - then.bytes }
    }
}

/// Counters of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// MSDUs handed down.
    pub msdus_offered: u64,
    /// MSDUs acknowledged, or sent to a group.
    pub msdus_delivered: u64,
    /// MSDUs dropped after the last attempt.
    pub msdus_given_up: u64,
    /// MSDUs that a queue dropped on purpose before any (further) attempt: [`crate::TxQueue::expired`]. No loss of the radio's.
    pub msdus_expired: u64,
    /// MSDUs refused by the queue: full, or RED's early drops.
    pub msdus_refused: u64,
    /// MSDUs that died with their node, or were taken back since their receiver has gone: [`crate::Station::recall`].
    pub msdus_abandoned: u64,
    /// Data frames sent, retries included.
    pub data_frames_sent: u64,
    /// Of those, with the retry bit.
    pub data_frames_retried: u64,
    /// RTS sent.
    pub rts_sent: u64,
    /// Exchanges begun, and those that failed.
    pub exchanges: u64,
    /// Steps that were not answered.
    pub failures: u64,
    /// Categories that lost to a higher one of the same station. @80211-2020 10.23.2.4
    pub internal_collisions: u64,
    /// MSDUs received, duplicates not counted.
    pub msdus_received: u64,
    /// Data frames received again.
    pub duplicates: u64,
    /// Time its frames have spent on the air.
    pub airtime: Dur,
    /// Of the data frames sent: those in A-MPDUs.
    pub a_mpdus: AMpdus,
    /// Block Ack Requests sent.
    pub block_ack_requests: u64,
    /// Numbers that its reorder buffers have stopped waiting for, since what stood behind them had waited long enough.
    pub gaps_given_up: u64,
    /// The longest time that an MPDU was in a reorder buffer, since the beginning.
    pub longest_hold: Dur,
}

impl Counters {
    /// The same with those of a category.
    #[must_use]
    pub(crate) fn with(self, category: &CategoryCounters) -> Counters {
        Counters {
            msdus_offered: self.msdus_offered + category.msdus_offered,
            msdus_delivered: self.msdus_delivered + category.msdus_delivered,
            msdus_given_up: self.msdus_given_up + category.msdus_given_up,
            msdus_expired: self.msdus_expired + category.msdus_expired,
            msdus_refused: self.msdus_refused + category.msdus_refused,
            data_frames_sent: self.data_frames_sent + category.data_frames_sent,
            data_frames_retried: self.data_frames_retried + category.data_frames_retried,
            rts_sent: self.rts_sent + category.rts_sent,
            exchanges: self.exchanges + category.exchanges,
            failures: self.failures + category.failures,
            internal_collisions: self.internal_collisions + category.internal_collisions,
            airtime: self.airtime + category.airtime,
            a_mpdus: self.a_mpdus.with(category.a_mpdus),
            block_ack_requests: self.block_ack_requests + category.block_ack_requests,
            ..self
        }
    }

    /// PPDUs with data that it has sent.
    pub fn data_ppdus(&self) -> u64 {
        self.a_mpdus.ppdus_of(self.data_frames_sent)
    }

    /// MSDUs that ended, in whatever way.
    pub fn msdus_ended(&self) -> u64 {
        self.msdus_delivered + self.msdus_given_up + self.msdus_expired + self.msdus_refused + self.msdus_abandoned
    }

    /// Returns the counts after `then`.
    #[must_use]
    pub fn since(&self, then: &Counters) -> Counters {
        Counters {
            msdus_offered: self.msdus_offered - then.msdus_offered,
            msdus_delivered: self.msdus_delivered - then.msdus_delivered,
            msdus_given_up: self.msdus_given_up - then.msdus_given_up,
            msdus_expired: self.msdus_expired - then.msdus_expired,
            msdus_refused: self.msdus_refused - then.msdus_refused,
            msdus_abandoned: self.msdus_abandoned - then.msdus_abandoned,
            data_frames_sent: self.data_frames_sent - then.data_frames_sent,
            data_frames_retried: self.data_frames_retried - then.data_frames_retried,
            rts_sent: self.rts_sent - then.rts_sent,
            exchanges: self.exchanges - then.exchanges,
            failures: self.failures - then.failures,
            internal_collisions: self.internal_collisions - then.internal_collisions,
            msdus_received: self.msdus_received - then.msdus_received,
            duplicates: self.duplicates - then.duplicates,
            airtime: self.airtime - then.airtime,
            a_mpdus: self.a_mpdus.since(then.a_mpdus),
            block_ack_requests: self.block_ack_requests - then.block_ack_requests,
            gaps_given_up: self.gaps_given_up - then.gaps_given_up,
            longest_hold: self.longest_hold,
        }
    }
}

/// Counters of one access category of a station; under DCF there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CategoryCounters {
    /// MSDUs that were put into it.
    pub msdus_offered: u64,
    /// MSDUs acknowledged, or sent to a group.
    pub msdus_delivered: u64,
    /// MSDUs dropped after the last attempt.
    pub msdus_given_up: u64,
    /// MSDUs that its queue dropped on purpose.
    pub msdus_expired: u64,
    /// MSDUs refused by its queue.
    pub msdus_refused: u64,
    /// Transmit opportunities it was granted.
    pub txops: u64,
    /// Exchanges begun in them.
    pub exchanges: u64,
    /// Steps that were not answered.
    pub failures: u64,
    /// Grants it lost to a higher category of the same station. @80211-2020 10.23.2.4
    pub internal_collisions: u64,
    /// Data frames sent, retries included.
    pub data_frames_sent: u64,
    /// Of those, with the retry bit.
    pub data_frames_retried: u64,
    /// RTS sent.
    pub rts_sent: u64,
    /// Time its frames have spent on the air, responses not counted.
    pub airtime: Dur,
    /// Of the data frames sent: those in A-MPDUs.
    pub a_mpdus: AMpdus,
    /// Block Ack Requests sent.
    pub block_ack_requests: u64,
}

impl CategoryCounters {
    /// PPDUs with data that it has sent.
    pub fn data_ppdus(&self) -> u64 {
        self.a_mpdus.ppdus_of(self.data_frames_sent)
    }

    /// Returns the counts after `then`.
    #[must_use]
    pub fn since(&self, then: &CategoryCounters) -> CategoryCounters {
        CategoryCounters {
            msdus_offered: self.msdus_offered - then.msdus_offered,
            msdus_delivered: self.msdus_delivered - then.msdus_delivered,
            msdus_given_up: self.msdus_given_up - then.msdus_given_up,
            msdus_expired: self.msdus_expired - then.msdus_expired,
            msdus_refused: self.msdus_refused - then.msdus_refused,
            txops: self.txops - then.txops,
            exchanges: self.exchanges - then.exchanges,
            failures: self.failures - then.failures,
            internal_collisions: self.internal_collisions - then.internal_collisions,
            data_frames_sent: self.data_frames_sent - then.data_frames_sent,
            data_frames_retried: self.data_frames_retried - then.data_frames_retried,
            rts_sent: self.rts_sent - then.rts_sent,
            airtime: self.airtime - then.airtime,
            a_mpdus: self.a_mpdus.since(then.a_mpdus),
            block_ack_requests: self.block_ack_requests - then.block_ack_requests,
        }
    }
}
