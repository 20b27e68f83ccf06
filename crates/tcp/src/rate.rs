//! The delivery rate of a flow, told with each ACK. @DRAFT-DRE: Cheng, Cardwell, Hassas Yeganeh & Jacobson, "Delivery
//! Rate Estimation", draft-cheng-iccrg-delivery-rate-estimation-02.
//!
//! Counts bytes, where Linux counts packets.

use units::{BitRate, Bytes, Dur, SimTime};

/// The sample of the delivery rate that one ACK tells. @DRAFT-DRE sec. 3.3
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSample {
    /// Delivered in the interval, SACKed data included.
    pub delivered: Bytes,
    /// The longer of the time in which it was sent and that in which its ACKs came.
    pub interval: Dur,
    /// Bytes that had been delivered when the youngest segment that this ACK delivers left: tells rounds apart.
    pub prior_delivered: Bytes,
    /// True if the sender had no more to send at that time: the rate may be less than the path's.
    pub app_limited: bool,
}

impl RateSample {
    /// The rate, if the interval tells one.
    pub fn rate(&self) -> Option<BitRate> {
        (self.interval > Dur::ZERO).then(|| self.delivered / self.interval)
    }
}

/// The connection's state when a segment left, kept with the segment. P.* of @DRAFT-DRE sec. 3.1.2
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamp {
    delivered: u64,
    delivered_at: SimTime,
    first_sent: SimTime,
    app_limited: bool,
}

/// The connection's part. C.* of @DRAFT-DRE sec. 3.1.1
#[derive(Debug, Default)]
pub(crate) struct Rate {
    /// All that was delivered, in bytes.
    pub delivered: u64,
    delivered_at: SimTime,
    first_sent: SimTime,
    /// The sample is limited by the application until more than this is delivered; zero if it is not.
    app_limited: u64,
}

impl Rate {
    /// A segment leaves; `idle` if nothing else is out: sent and not acknowledged, whether it is taken for lost or not, for that is a
    /// guess. @DRAFT-DRE sec. 3.2
    pub fn send(&mut self, now: SimTime, idle: bool) -> Stamp {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited != 0,
        }
    }

    /// `bytes` that left at `sent` with `stamp` have arrived. `newest`: the youngest segment that the ACK at hand delivers.
    /// @DRAFT-DRE sec. 3.3, UpdateRateSample
    pub fn deliver(&mut self, bytes: u32, sent: SimTime, stamp: Stamp, newest: &mut Option<(SimTime, Stamp)>) {
        self.delivered += u64::from(bytes);
        if newest.is_none_or(|(newest, _)| newest <= sent) {
            *newest = Some((sent, stamp));
        }
    }

    /// The sample of an ACK: the youngest segment that it delivers left at `sent` with `stamp`. A sample within less than `min_rtt` is none: ACKs were
    /// compressed, or the segment was not what arrived. @DRAFT-DRE sec. 3.3, GenerateRateSample
    pub fn sample(&mut self, now: SimTime, min_rtt: Option<Dur>, sent: SimTime, stamp: Stamp) -> Option<RateSample> {
        self.delivered_at = now;
        self.first_sent = sent;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let interval = sent.since(stamp.first_sent).max(now.since(stamp.delivered_at));
        let sample = RateSample {
            delivered: Bytes(self.delivered - stamp.delivered),
            interval,
            prior_delivered: Bytes(stamp.delivered),
            app_limited: stamp.app_limited,
        };
        min_rtt.is_none_or(|least| interval >= least).then_some(sample)
    }

    /// True if the samples of segments that leave now are limited by the application.
    pub fn is_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// The application has nothing to send while `pipe` bytes are in flight and more could be. @DRAFT-DRE sec. 3.4
    pub fn limited_by_application(&mut self, pipe: u64) {
        self.app_limited = (self.delivered + pipe).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection's part, and the youngest segment of the ACK at hand.
    #[derive(Default)]
    struct Bench {
        rate: Rate,
        newest: Option<(SimTime, Stamp)>,
    }

    impl Bench {
        fn send(&mut self, now: SimTime, idle: bool) -> Stamp {
            self.rate.send(now, idle)
        }

        fn deliver(&mut self, bytes: u32, sent: SimTime, stamp: Stamp) {
            self.rate.deliver(bytes, sent, stamp, &mut self.newest);
        }

        fn sample(&mut self, now: SimTime, min_rtt: Option<Dur>) -> Option<RateSample> {
            let (sent, stamp) = self.newest.take()?;
            self.rate.sample(now, min_rtt, sent, stamp)
        }
    }

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn the_longer_of_sending_and_acknowledging_makes_the_interval() {
        let mut rate = Bench::default();
        // Two segments of 1000 B leave at 0 and 10 ms, both ACKs come at 100 ms and 105 ms.
        let first = rate.send(at(0), true);
        let second = rate.send(at(10), false);
        rate.deliver(1000, at(0), first);
        let sample = rate.sample(at(100), None).unwrap();
        assert_eq!((sample.delivered, sample.interval), (Bytes(1000), Dur::from_ms(100)));
        rate.deliver(1000, at(10), second);
        let sample = rate.sample(at(105), None).unwrap();
        // Since 0, when nothing was delivered: 2000 B in 105 ms.
        assert_eq!((sample.delivered, sample.interval), (Bytes(2000), Dur::from_ms(105)));
        assert_eq!(sample.rate(), Some(Bytes(2000) / Dur::from_ms(105)));
    }

    #[test]
    fn acks_that_come_at_once_do_not_tell_more_than_was_sent() {
        let mut rate = Bench::default();
        let first = rate.send(at(0), true);
        rate.deliver(1000, at(0), first);
        rate.sample(at(100), None).unwrap();
        // Ten segments at 100, 110 … 190 ms; their ACKs all come at 300 ms.
        let stamps: Vec<_> = (0..10).map(|i| (at(100 + 10 * i), rate.send(at(100 + 10 * i), i == 0))).collect();
        let mut last = None;
        for (sent, stamp) in stamps {
            rate.deliver(1000, sent, stamp);
            last = rate.sample(at(300), None);
        }
        // The tenth left when none of the ten was delivered: 10000 B, sent in 90 ms, acknowledged in 200 ms.
        let last = last.unwrap();
        assert_eq!((last.delivered, last.interval), (Bytes(10_000), Dur::from_ms(200)));
    }

    #[test]
    fn an_idle_application_marks_the_samples_of_what_is_in_flight() {
        let mut rate = Bench::default();
        let first = rate.send(at(0), true);
        rate.rate.limited_by_application(1000);
        let second = rate.send(at(1), false);
        rate.deliver(1000, at(0), first);
        assert!(!rate.sample(at(100), None).unwrap().app_limited);
        let third = rate.send(at(101), false);
        rate.deliver(1000, at(1), second);
        assert!(rate.sample(at(101), None).unwrap().app_limited, "2000 delivered are more than 1000");
        let fourth = rate.send(at(102), false);
        rate.deliver(1000, at(101), third);
        assert!(rate.sample(at(201), None).unwrap().app_limited, "it left while the mark stood");
        rate.deliver(1000, at(102), fourth);
        assert!(!rate.sample(at(202), None).unwrap().app_limited);
    }

    #[test]
    fn what_is_taken_for_lost_is_still_out() {
        // Two segments leave at 0. After a timeout at 1 s, which takes both for lost, the first leaves again: the clock runs on, for
        // they may yet arrive. What they tell is the rate over all that time.
        let mut rate = Bench::default();
        rate.send(at(0), true);
        let second = rate.send(at(0), false);
        let again = rate.send(at(1000), false);
        rate.deliver(1000, at(0), second);
        assert_eq!(rate.sample(at(1050), None).unwrap().interval, Dur::from_ms(1050));
        rate.deliver(1000, at(1000), again);
        assert_eq!(rate.sample(at(1100), None).unwrap().interval, Dur::from_ms(1100));
    }

    #[test]
    fn a_sample_faster_than_the_least_rtt_is_none() {
        let mut rate = Bench::default();
        let first = rate.send(at(0), true);
        rate.deliver(1000, at(0), first);
        assert!(rate.sample(at(5), Some(Dur::from_ms(10))).is_none());
    }
}
