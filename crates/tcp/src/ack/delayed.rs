//! Delayed ACKs: every second segment, or after a time.
//!
//! - **Source** @RFC1122 4.2.3.2, @RFC5681 sec. 4.2.
//! - **Departs** None. Segments are counted whatever their size (as BSD, ns-2 and ns-3 do), so small ones are
//!   acknowledged sooner than "every second full-sized segment" asks. The timer runs from the first segment that
//!   waits. No quick ACKs at the start as in Linux.
//! - **Checked** tests below, `tests/all/scripts/receiver.rs`.

use super::{AckPolicy, Arrival, Info, Params, Verdict};
use crate::Config;
use units::Dur;

/// What the list says.
pub const INFO: Info =
    Info { id: "delayed-ack", summary: "acknowledges every n-th segment (2), or after a time", source: "RFC1122", params: &[] };

/// The policy: how many segments wait.
#[derive(Debug)]
pub struct Delayed {
    count: u32,
    timeout: Dur,
    waiting: u32,
}

/// Makes one with the configuration's count and timeout.
pub fn make(_: &Params, config: &Config) -> Box<dyn AckPolicy> {
    Box::new(Delayed { count: config.delayed_ack_count, timeout: config.delayed_ack_timeout, waiting: 0 })
}

impl AckPolicy for Delayed {
    fn on_data(&mut self, _: &Arrival) -> Verdict {
        self.waiting += 1;
        if self.waiting >= self.count { Verdict::Now } else { Verdict::Within(self.timeout) }
    }

    fn on_ack_sent(&mut self) {
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_segment_is_acknowledged_and_any_ack_starts_the_count_anew() {
        let mut policy = make(&Params::default(), &Config::default());
        let arrival = Arrival { number: 1, len: 1460, push: false };
        let later = Verdict::Within(Dur::from_ms(200));
        assert_eq!(policy.on_data(&arrival), later);
        assert_eq!(policy.on_data(&arrival), Verdict::Now);
        policy.on_ack_sent();
        assert_eq!(policy.on_data(&arrival), later);
        policy.on_ack_sent(); // it rode on data
        assert_eq!(policy.on_data(&arrival), later);
    }
}
