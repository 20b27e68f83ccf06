//! Delayed ACKs: every second segment, or after a time.
//!
//! - **Source** @RFC1122 4.2.3.2, @RFC5681 sec. 4.2. With `quickack` also Linux: tcp_input.c (tcp_event_data_recv,
//!   tcp_enter_quickack_mode), tcp_output.c (tcp_send_delayed_ack).
//! - **Departs** Segments are counted whatever their size (as BSD, ns-2 and ns-3 do), so small ones are
//!   acknowledged sooner than "every second full-sized segment" asks. The timer runs from the first segment that
//!   waits. With `quickack`: always 16 quick ACKs, where Linux takes fewer if the window is small; no "pingpong" mode,
//!   in which an end that answers each request delays its ACKs from the start.
//! - **Checked** tests below, `tests/all/scripts/receiver.rs`.

use super::{AckPolicy, AckTiming, Arrival, Delay, Info, Params};
use units::{Dur, SimTime};

/// Its declaration.
pub const INFO: Info = Info {
    id: "delayed-ack",
    summary: "acknowledges every n-th segment (2), or after a time",
    source: "RFC1122",
    params: &[],
};

/// The policy: how many segments wait.
#[derive(Debug)]
pub struct Delayed {
    count: u32,
    timeout: Dur,
    waiting: u32,
    quick: Option<Quick>,
}

/// Linux's quick ACKs and its adaptive delay.
#[derive(Debug)]
struct Quick {
    /// ACKs that still go out at once.
    left: u32,
    /// The delay that the arrivals suggest; none before the first.
    delay: Option<Dur>,
    last: SimTime,
}

/// TCP_MAX_QUICKACKS.
const QUICK_ACKS: u32 = 16;
/// TCP_DELACK_MIN and TCP_ATO_MIN.
const LEAST_DELAY: Dur = Dur::from_ms(40);

impl Quick {
    /// The delay of an ACK for what came now; none for an ACK at once.
    fn judge(&mut self, arrival: &Arrival, most: Dur) -> Option<Dur> {
        let gap = arrival.now.since(self.last);
        self.last = arrival.now;
        let delay = match self.delay {
            None => {
                self.left = QUICK_ACKS;
                LEAST_DELAY
            }
            Some(delay) if gap <= LEAST_DELAY / 2 => delay / 2 + LEAST_DELAY / 2,
            Some(delay) if gap < delay => (delay / 2 + gap).min(arrival.rto),
            Some(delay) => {
                if gap > arrival.rto {
                    self.left = QUICK_ACKS; // the sender may have begun anew with a small window
                }
                delay
            }
        };
        self.delay = Some(delay);
        let round_trip = arrival.srtt.unwrap_or(most).max(LEAST_DELAY);
        (self.left == 0).then(|| delay.min(round_trip).min(most))
    }
}

/// Makes one with the connection's count and timeout.
pub fn make(_: &Params, delay: Delay) -> Box<dyn AckPolicy> {
    Box::new(of(delay))
}

/// One with these keys.
pub(super) fn of(delay: Delay) -> Delayed {
    let quick = delay.quickack.then_some(Quick { left: 0, delay: None, last: SimTime::ZERO });
    Delayed { count: delay.count, timeout: delay.timeout, waiting: 0, quick }
}

impl AckPolicy for Delayed {
    fn on_data(&mut self, arrival: &Arrival) -> AckTiming {
        self.waiting += 1;
        let delay = match &mut self.quick {
            None => Some(self.timeout),
            Some(quick) => quick.judge(arrival, self.timeout),
        };
        delay.filter(|_| self.waiting < self.count).map_or(AckTiming::Now, AckTiming::Within)
    }

    fn on_ack_sent(&mut self, _: SimTime) {
        self.waiting = 0;
        if let Some(quick) = &mut self.quick {
            quick.left = quick.left.saturating_sub(1);
        }
    }

    fn on_duplicate(&mut self) {
        if let Some(quick) = &mut self.quick {
            quick.left = QUICK_ACKS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn arrival(ms: u64) -> Arrival {
        let (now, rto) = (SimTime::ZERO + Dur::from_ms(ms), Dur::from_ms(300));
        Arrival { number: 1, len: 1460, push: false, now, srtt: Some(Dur::from_ms(100)), rto }
    }

    #[test]
    fn the_delay_follows_the_gaps_between_40_ms_and_the_round_trip() {
        let delay = Delay { quickack: true, count: 100, ..Config::default().delay() };
        let mut policy = make(&Params::default(), delay);
        for i in 0..16 {
            assert_eq!(policy.on_data(&arrival(i)), AckTiming::Now);
            policy.on_ack_sent(arrival(i).now);
        }
        let mut seen = Vec::new();
        // Gaps of 30: 40 / 2 + 30 = 50, then 25 + 30, 27.5 + 30; of 1: 57.5 / 2 + 20.
        for at in [45, 75, 105, 106] {
            seen.push(policy.on_data(&arrival(at)));
        }
        let wait = |us| AckTiming::Within(Dur::from_us(us));
        assert_eq!(seen, [wait(50_000), wait(55_000), wait(57_500), wait(48_750)]);
        // After an RTO without data 16 ACKs are quick again.
        assert_eq!(policy.on_data(&arrival(500)), AckTiming::Now);
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_any_ack_starts_the_count_anew() {
        let mut policy = make(&Params::default(), Config::default().delay());
        let arrival = arrival(0);
        let later = AckTiming::Within(Dur::from_ms(200));
        assert_eq!(policy.on_data(&arrival), later);
        assert_eq!(policy.on_data(&arrival), AckTiming::Now);
        policy.on_ack_sent(arrival.now);
        assert_eq!(policy.on_data(&arrival), later);
        policy.on_ack_sent(arrival.now); // it rode on data
        assert_eq!(policy.on_data(&arrival), later);
    }
}
