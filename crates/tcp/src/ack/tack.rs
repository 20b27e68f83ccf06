//! TACK: acknowledges by bytes while the path holds little, and by time once it holds much.
//!
//! - **Source** @LZX20, as its authors' draft-li-quic-optimizing-ack-in-wlan-07, section 3.1, has it: ACKs at a rate of
//!   min(bw / (L MSS), beta / RTT_min), L at least 2 full segments, beta 4 recommended, 2 the least.
//! - **Here** an ACK goes out once L full segments wait and RTT_min / beta has passed since the last one, for all that has come by
//!   then. Fewer than L wait for `delayed_ack_timeout`, as by `delayed-ack`.
//! - **Departs** (a) It is the receiver's half alone, at any TCP sender. The sender's half of the paper, which makes few ACKs bearable, is not
//!   here: losses that the receiver reports with instant ACKs, the delivery rate and the RTT_min that it measures, and the sender's pacing by them.
//!   (b) RTT_min is the least smoothed RTT of this end: of its handshake, unless it sends data too. In the paper the sender
//!   measures it from one-way delays, and tells the receiver. Without one it counts bytes alone. (c) Beyond a gap every segment is acknowledged at
//!   once (@RFC5681 sec. 4.2); the paper has one ACK for each loss.
//! - **Checked** tests below, `tests/all/scripts/receiver.rs`, `crates/world/tests/all/ack_relatives.rs`.

use super::{AckPolicy, AckTiming, Arrival, Delay, Info, Params};
use plugin::{Kind, Param, Value};
use units::{Dur, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "tack",
    summary: "one ACK for packets full segments, but no more than beta in the least RTT; the sender's half of TACK is not there",
    source: "LZX20",
    params: &[
        Param {
            key: "packets",
            kind: Kind::Int { min: 2, max: 64 },
            default: Value::Int(2),
            doc: "full segments that one ACK is for at least: L",
        },
        Param {
            key: "beta",
            kind: Kind::Int { min: 1, max: 64 },
            default: Value::Int(4),
            doc: "ACKs in the least RTT at most",
        },
    ],
};

/// The policy: what waits, and when the last ACK went out.
#[derive(Debug)]
struct Tack {
    packets: u32,
    beta: u64,
    timeout: Dur,
    waiting: u32,
    /// The longest segment so far.
    segment: u32,
    least_rtt: Option<Dur>,
    last: SimTime,
}

/// Makes one with the connection's timeout.
pub fn make(params: &Params, delay: Delay) -> Box<dyn AckPolicy> {
    let (packets, beta) = (params.int("packets") as u32, params.int("beta") as u64);
    let (waiting, segment, last) = (0, 0, SimTime::ZERO);
    Box::new(Tack { packets, beta, timeout: delay.timeout, waiting, segment, least_rtt: None, last })
}

impl AckPolicy for Tack {
    fn on_data(&mut self, arrival: &Arrival) -> AckTiming {
        self.waiting += arrival.len;
        self.segment = self.segment.max(arrival.len);
        self.least_rtt = self.least_rtt.into_iter().chain(arrival.srtt).min();
        if self.waiting < self.packets * self.segment {
            return AckTiming::Within(self.timeout);
        }
        let due = self.last + self.least_rtt.map_or(Dur::ZERO, |rtt| rtt / self.beta);
        if arrival.now >= due { AckTiming::AfterAll } else { AckTiming::NoLaterThan(due - arrival.now) }
    }

    fn on_ack_sent(&mut self, now: SimTime) {
        (self.waiting, self.last) = (0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn tack() -> Box<dyn AckPolicy> {
        make(&Params::defaults(INFO.params), Config::default().delay())
    }

    fn arrival(us: u64, len: u32, srtt_ms: Option<u64>) -> Arrival {
        let now = SimTime::ZERO + Dur::from_us(us);
        Arrival { number: 1, len, push: false, now, srtt: srtt_ms.map(Dur::from_ms), rto: Dur::from_secs(1) }
    }

    #[test]
    fn it_acknowledges_beta_times_in_the_least_rtt_and_not_less_than_two_segments() {
        // 1 MSS each 300 us, RTT 8 ms: 2 ms an ACK. From 10 ms on: the second at 10.3 ms is due; the next ACK not before 12.3 ms.
        let mut policy = tack();
        let mut acks = Vec::new();
        for i in 0..30 {
            let arrival = arrival(10_000 + 300 * i, 1000, Some(8));
            if policy.on_data(&arrival) == AckTiming::AfterAll {
                acks.push(300 * i);
                policy.on_ack_sent(arrival.now);
            }
        }
        // 300, then the first arrival 2000 or more later, which is 2100: the seventh after it.
        assert_eq!(acks, [300, 2400, 4500, 6600, 8700]);
        // 1 MSS each 3 ms: each second one.
        let mut policy = tack();
        let timings: Vec<_> = (0..4)
            .map(|i| {
                let arrival = arrival(100_000 + 3000 * i, 1000, Some(8));
                let timing = policy.on_data(&arrival);
                if timing == AckTiming::AfterAll {
                    policy.on_ack_sent(arrival.now);
                }
                timing
            })
            .collect();
        let waits = AckTiming::Within(Dur::from_ms(200));
        assert_eq!(timings, [waits, AckTiming::AfterAll, waits, AckTiming::AfterAll]);
    }

    #[test]
    fn what_waits_for_the_interval_alone_goes_when_that_has_passed() {
        let mut policy = tack();
        policy.on_ack_sent(SimTime::ZERO + Dur::from_us(10_000));
        // The least RTT counts: 4 ms, of which a quarter is 1 ms.
        assert_eq!(policy.on_data(&arrival(10_200, 1000, Some(4))), AckTiming::Within(Dur::from_ms(200)));
        assert_eq!(policy.on_data(&arrival(10_400, 1000, Some(9))), AckTiming::NoLaterThan(Dur::from_us(600)));
        assert_eq!(policy.on_data(&arrival(11_000, 1000, Some(9))), AckTiming::AfterAll);
    }

    #[test]
    fn without_a_round_trip_it_counts_bytes_and_short_segments_are_no_full_ones() {
        let mut policy = tack();
        let timings = [1000, 400, 400, 200].map(|len| policy.on_data(&arrival(10, len, None)) == AckTiming::AfterAll);
        assert_eq!(timings, [false, false, false, true]);
    }
}
