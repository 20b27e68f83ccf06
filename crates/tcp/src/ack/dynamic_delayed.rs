//! Dynamic delayed ACKs: the farther the transfer, the fewer ACKs.
//!
//! - **Source** @AJ03: Altman & Jiménez, "Novel Delayed ACK Techniques for Improving TCP Performance in Multihop
//!   Wireless Networks", PWC 2003.
//! - **Departs** the segment number is the place in the stream divided by the longest segment seen, since TCP counts
//!   bytes; the timer is the scenario's `delayed_ack_timeout`, as for the plain policy.
//! - **Checked** tests below, `tests/all/scripts/receiver.rs`.

use super::{AckPolicy, AckTiming, Arrival, Delay, Info, Params};
use units::{Dur, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "dynamic-delayed-ack",
    summary: "one ACK per 1, 2, 3, then 4 segments as the transfer goes on, or after a time",
    source: "AJ03",
    params: &[],
};

/// Segment numbers l1, l2, l3 from which d is 2, 3, 4.
pub const THRESHOLDS: [u64; 3] = [2, 5, 9];

/// The policy: how many segments wait.
#[derive(Debug)]
pub struct DynamicDelayed {
    timeout: Dur,
    waiting: u32,
}

/// Makes one with the connection's timeout.
pub fn make(_: &Params, delay: Delay) -> Box<dyn AckPolicy> {
    Box::new(DynamicDelayed { timeout: delay.timeout, waiting: 0 })
}

/// d: how many segments one ACK is for when segment `number` comes.
pub fn coefficient(number: u64) -> u32 {
    1 + THRESHOLDS.iter().filter(|threshold| number >= **threshold).count() as u32
}

impl AckPolicy for DynamicDelayed {
    fn on_data(&mut self, arrival: &Arrival) -> AckTiming {
        self.waiting += 1;
        if self.waiting >= coefficient(arrival.number) { AckTiming::Now } else { AckTiming::Within(self.timeout) }
    }

    fn on_ack_sent(&mut self, _: SimTime) {
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_is_1_2_3_4_from_segments_1_2_5_9() {
        let d: Vec<u32> = (1..=10).map(coefficient).collect();
        assert_eq!(d, [1, 2, 2, 2, 3, 3, 3, 3, 4, 4]);
    }

    #[test]
    fn one_ack_goes_out_at_1_3_6_10_14_18() {
        // Segment 1 alone; 2, 3; then 4 waits (d = 2), 5 (d = 3) waits, 6 is the third; 7, 8, 9: at 9 d = 4, three
        // wait; 10 is the fourth; then every fourth.
        let mut policy = make(&Params::default(), crate::Config::default().delay());
        let mut acked = Vec::new();
        for number in 1..=18 {
            let (now, rto) = (SimTime::ZERO, Dur::from_secs(1));
            if policy.on_data(&Arrival { number, len: 1460, push: false, now, srtt: None, rto }) == AckTiming::Now {
                acked.push(number);
                policy.on_ack_sent(now);
            }
        }
        assert_eq!(acked, [1, 3, 6, 10, 14, 18]);
    }
}
