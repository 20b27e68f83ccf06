//! One ACK for each batch of segments that a host takes in at one instant, as a Linux host behind GRO.
//!
//! - **Source** @CORBET09; Linux 6.x: net/core/gro.c joins the segments of a flow that a driver hands up in one poll, up to 65,535 bytes
//!   (`GRO_LEGACY_MAX_SIZE`), and TCP sees one. That is acknowledged as any segment: at once if more than one full segment waits
//!   (`__tcp_ack_snd_check`), else after the delay.
//! - **Here** a batch is what comes at one instant: the MSDUs that a PPDU, or a reorder buffer, hands up together. A segment alone is
//!   acknowledged as by `delayed-ack`, whose keys count.
//! - **Departs** a segment with PSH ends no batch. A driver that polls later than it is handed frames would join those of several PPDUs.
//! - **Checked** tests below, `tests/all/scripts/receiver.rs`, `crates/world/tests/all/airtime.rs`.

use super::delayed::{self, Delayed};
use super::{AckPolicy, AckTiming, Arrival, Delay, Info, Params};
use units::SimTime;

/// Its declaration.
pub const INFO: Info = Info {
    id: "gro",
    summary: "one ACK for all segments that come at one instant, up to 64 kB (a host behind GRO); else as delayed-ack",
    source: "CORBET09",
    params: &[],
};

/// Bytes of one batch at most.
const MOST: u32 = 65_535;

/// The policy: the batch, and the segments that wait.
#[derive(Debug)]
struct Gro {
    inner: Delayed,
    at: SimTime,
    bytes: u32,
}

/// Makes one with the connection's count and timeout.
pub fn make(_: &Params, delay: Delay) -> Box<dyn AckPolicy> {
    Box::new(Gro { inner: delayed::of(delay), at: SimTime::ZERO, bytes: 0 })
}

impl AckPolicy for Gro {
    fn on_data(&mut self, arrival: &Arrival) -> AckTiming {
        if self.at != arrival.now {
            (self.at, self.bytes) = (arrival.now, 0);
        }
        self.bytes += arrival.len;
        let timing = self.inner.on_data(arrival);
        // The next one would not fit.
        if self.bytes + arrival.len > MOST {
            self.bytes = 0;
            return AckTiming::Now;
        }
        if timing == AckTiming::Now { AckTiming::AfterAll } else { timing }
    }

    fn on_ack_sent(&mut self, now: SimTime) {
        self.inner.on_ack_sent(now);
    }

    fn on_duplicate(&mut self) {
        self.inner.on_duplicate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use units::Dur;

    #[test]
    fn a_batch_is_acknowledged_once_and_at_the_latest_after_64_kb() {
        let mut policy = make(&Params::default(), Config::default().delay());
        let now = SimTime::ZERO + Dur::from_ms(1);
        let arrival = Arrival { number: 1, len: 1448, push: false, now, srtt: None, rto: Dur::from_secs(1) };
        let timings: Vec<AckTiming> = (0..46).map(|_| policy.on_data(&arrival)).collect();
        // One waits, as a segment alone does; from the second on an ACK is due behind the batch. 45 · 1448 = 65,160: a 46th does not fit.
        assert!(matches!(timings[0], AckTiming::Within(_)));
        assert!(timings[1..44].iter().all(|timing| *timing == AckTiming::AfterAll));
        assert_eq!(timings[44], AckTiming::Now);
    }
}
