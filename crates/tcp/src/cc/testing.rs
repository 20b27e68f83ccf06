//! ACKs for the tests of controllers.

use super::{CongestionControl, Window};
use crate::Ack;
use units::{Bytes, Dur, SimTime};
use wire::{Flags, Seq};

/// An ACK at the start of time that acknowledges `bytes`, all that was in flight.
pub(crate) fn ack(bytes: u64) -> Ack {
    Ack {
        now: SimTime::ZERO,
        number: Seq(0),
        acked: Bytes(bytes),
        counted: Bytes(bytes),
        prior_flight: Bytes(bytes),
        rtt: None,
        duplicate: false,
        local: false,
        flags: Flags::ACK,
        sacked: Bytes::ZERO,
        lost: Bytes::ZERO,
        rate: None,
        timestamps: None,
    }
}

/// ACKs of a stream: each has the last one's flight, RTT and gap.
pub(crate) struct Acks {
    ack: Ack,
    mss: u64,
    flight: u64,
    gap: Dur,
}

impl Acks {
    /// ACKs of segments of `mss` bytes, one in flight, 1 ms apart, without RTT.
    pub fn new(mss: u64) -> Acks {
        Acks { ack: ack(0), mss, flight: 1, gap: Dur::from_ms(1) }
    }

    /// Sets the RTT of the ACKs that follow; 0 is none.
    pub fn rtt_ms(&mut self, ms: u64) -> &mut Acks {
        self.ack.rtt = (ms > 0).then(|| Dur::from_ms(ms));
        self
    }

    /// Sets the segments in flight after the ACKs that follow.
    pub fn flight(&mut self, segments: u64) -> &mut Acks {
        self.flight = segments;
        self
    }

    /// Sets the time between the ACKs that follow.
    pub fn gap(&mut self, gap: Dur) -> &mut Acks {
        self.gap = gap;
        self
    }

    /// Sets the TSval of the ACKs that follow.
    pub fn stamp(&mut self, value: u32) -> &mut Acks {
        self.ack.timestamps = Some((value, 0));
        self
    }

    /// The next, of `segments`.
    pub fn next(&mut self, segments: u64) -> Ack {
        let acked = segments * self.mss;
        self.ack.now += self.gap;
        self.ack.number += acked as u32;
        (self.ack.acked, self.ack.counted) = (Bytes(acked), Bytes(acked));
        self.ack.prior_flight = Bytes(acked + self.flight * self.mss);
        self.ack.duplicate = segments == 0;
        self.ack
    }

    /// A window's worth of ACKs, one per segment, each with what `rtt_ms` is in flight.
    pub fn round(&mut self, cc: &mut dyn CongestionControl, win: &mut Window) {
        for _ in 0..win.cwnd.0 / self.mss {
            win.observe(win.cwnd, false);
            self.flight(win.cwnd.0 / self.mss - 1);
            cc.on_ack(&self.next(1), win);
        }
    }
}
