//! The RTT estimator and the retransmission timeout. @RFC6298

use units::Dur;

/// SRTT, RTTVAR and RTO of one direction, in nanoseconds.
#[derive(Debug, Clone)]
pub struct RttEstimator {
    srtt: Option<Dur>,
    rttvar: Dur,
    rto: Dur,
    min_rto: Dur,
    max_rto: Dur,
    granularity: Dur,
}

impl RttEstimator {
    /// An estimator without a sample. Initial, least and largest RTO, clock granularity G.
    pub fn new(initial_rto: Dur, min_rto: Dur, max_rto: Dur, granularity: Dur) -> RttEstimator {
        RttEstimator { srtt: None, rttvar: Dur::ZERO, rto: initial_rto.min(max_rto), min_rto, max_rto, granularity }
    }

    /// Smoothed RTT; `None` before the first sample.
    pub fn srtt(&self) -> Option<Dur> {
        self.srtt
    }

    /// RTT variation; zero before the first sample.
    pub fn rttvar(&self) -> Dur {
        self.rttvar
    }

    /// The timeout now, backoff included.
    pub fn rto(&self) -> Dur {
        self.rto
    }

    /// Takes a sample; `per_rtt` is how many of them a window brings, at least one. With more than one the gains shrink
    /// in proportion, so that the memory stays some eight round trips long (@RFC7323 app. G). Ends a backoff.
    pub fn sample(&mut self, r: Dur, per_rtt: u64) {
        let (srtt, rttvar) = match self.srtt {
            None => (r, r / 2), // @RFC6298 (2.2)
            Some(srtt) => {
                // @RFC6298 (2.3): alpha 1/8, beta 1/4; RTTVAR first, with the old SRTT.
                let n = per_rtt as i64;
                let (s, v, r) = (srtt.ns() as i64, self.rttvar.ns() as i64, r.ns() as i64);
                let v = v + ((s - r).abs() - v) / (4 * n);
                let s = s + (r - s) / (8 * n);
                (Dur::from_ns(s as u64), Dur::from_ns(v as u64))
            }
        };
        (self.srtt, self.rttvar) = (Some(srtt), rttvar);
        let rto = srtt + self.granularity.max(rttvar * 4); // @RFC6298 (2.3)
        self.rto = rto.max(self.min_rto).min(self.max_rto); // @RFC6298 (2.4), (2.5)
    }

    /// The timer expired: doubles the RTO until the next sample. @RFC6298 (5.5)
    pub fn back_off(&mut self) {
        self.rto = self.rto.saturating_mul(2).min(self.max_rto);
    }

    /// A handshake that lost a SYN is over: without a sample, at least 3 s for the first data. @RFC6298 (5.7)
    pub fn after_lost_syn(&mut self) {
        if self.srtt.is_none() {
            self.rto = Dur::from_secs(3).max(self.min_rto).min(self.max_rto);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> RttEstimator {
        RttEstimator::new(Dur::from_secs(1), Dur::from_ms(1), Dur::from_secs(60), Dur::from_ms(10))
    }

    #[test]
    fn the_first_two_samples_are_those_of_rfc_6298() {
        let mut e = estimator();
        e.sample(Dur::from_ms(100), 1);
        // SRTT 100, RTTVAR 50, RTO 100 + 4 * 50 = 300 ms.
        assert_eq!((e.srtt(), e.rttvar(), e.rto()), (Some(Dur::from_ms(100)), Dur::from_ms(50), Dur::from_ms(300)));
        e.sample(Dur::from_ms(180), 1);
        // RTTVAR 3/4 * 50 + 1/4 * 80 = 57.5; SRTT 7/8 * 100 + 1/8 * 180 = 110; RTO 110 + 230 = 340 ms.
        assert_eq!(e.srtt(), Some(Dur::from_ms(110)));
        assert_eq!((e.rttvar(), e.rto()), (Dur::from_us(57_500), Dur::from_ms(340)));
    }

    #[test]
    fn a_steady_rtt_leaves_srtt_plus_the_granularity() {
        let mut e = estimator();
        for _ in 0..200 {
            e.sample(Dur::from_ms(100), 1);
        }
        assert_eq!(e.rto(), Dur::from_ms(110));
    }

    #[test]
    fn backoff_doubles_up_to_the_largest_and_a_sample_ends_it() {
        let mut e = RttEstimator::new(Dur::from_secs(1), Dur::from_secs(1), Dur::from_secs(60), Dur::from_ms(10));
        let seen: Vec<u64> = (0..8)
            .map(|_| {
                e.back_off();
                e.rto() / Dur::from_secs(1)
            })
            .collect();
        assert_eq!(seen, [2, 4, 8, 16, 32, 60, 60, 60]);
        e.sample(Dur::from_ms(20), 1);
        assert_eq!(e.rto(), Dur::from_secs(1));
    }

    #[test]
    fn many_samples_per_round_trip_weigh_less_each() {
        let mut e = estimator();
        e.sample(Dur::from_ms(100), 1);
        e.sample(Dur::from_ms(180), 10);
        // SRTT 100 + 80 / 80 = 101; RTTVAR 50 + (80 - 50) / 40 = 50.75 ms.
        assert_eq!((e.srtt(), e.rttvar()), (Some(Dur::from_ms(101)), Dur::from_us(50_750)));
    }
}
