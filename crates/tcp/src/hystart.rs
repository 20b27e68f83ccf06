//! HyStart++: leaves slow start when the RTT rises, and goes back if it was a spike. @RFC9406 sec. 4.2
//!
//! For the first slow start of a connection (sec. 4.3 recommends no other).

use units::Dur;
use wire::Seq;

/// N_RTT_SAMPLE.
const SAMPLES: u32 = 8;
/// CSS_ROUNDS.
const ROUNDS: u32 = 5;
/// CSS_GROWTH_DIVISOR.
const DIVISOR: u64 = 4;
/// L, in segments, without pacing; with pacing there is none.
const LIMIT: u8 = 8;
/// MIN_RTT_THRESH and MAX_RTT_THRESH.
const THRESHOLD: (Dur, Dur) = (Dur::from_ms(4), Dur::from_ms(16));

/// Conservative slow start.
#[derive(Debug, Clone, Copy)]
struct Conservative {
    /// cssBaselineMinRtt.
    baseline: Dur,
    rounds: u32,
}

/// The state of a slow start.
#[derive(Debug, Clone, Default)]
pub(crate) struct HyStart {
    /// windowEnd: the round is over when this is acknowledged. None before the first ACK.
    end: Option<Seq>,
    /// lastRoundMinRTT, currentRoundMinRTT.
    last: Option<Dur>,
    current: Option<Dur>,
    /// rttSampleCount.
    samples: u32,
    css: Option<Conservative>,
    paced: bool,
}

impl HyStart {
    /// The state for a sender that paces, or not.
    pub fn new(paced: bool) -> HyStart {
        HyStart { paced, ..HyStart::default() }
    }

    /// An ACK up to `una` in slow start, with `nxt` sent; `rtt` if it measured one. Returns whether slow start is over.
    pub fn on_ack(&mut self, una: Seq, nxt: Seq, rtt: Option<Dur>) -> bool {
        if let Some(rtt) = rtt {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        match (&mut self.css, self.current, self.last) {
            (None, Some(current), Some(last)) if self.samples >= SAMPLES => {
                let threshold = (last / 8).max(THRESHOLD.0).min(THRESHOLD.1);
                if current >= last + threshold {
                    self.css = Some(Conservative { baseline: current, rounds: 0 });
                }
            }
            // It was a spike: slow start goes on.
            (Some(css), Some(current), _) if self.samples >= SAMPLES && current < css.baseline => self.css = None,
            _ => {}
        }
        if self.end.is_none_or(|end| end.le(una)) {
            let first = self.end.is_none();
            self.end = Some(nxt);
            if !first {
                (self.last, self.current, self.samples) = (self.current.or(self.last), None, 0);
                if let Some(css) = &mut self.css {
                    css.rounds += 1;
                    return css.rounds >= ROUNDS;
                }
            }
        }
        false
    }

    /// The divisor of growth.
    pub fn divisor(&self) -> u64 {
        if self.css.is_some() { DIVISOR } else { 1 }
    }

    /// The limit L of what one ACK adds, in segments.
    pub fn limit(&self) -> u8 {
        if self.paced { u8::MAX } else { LIMIT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of `n` ACKs with this RTT; ends when `end` is acknowledged.
    fn round(hystart: &mut HyStart, una: u32, n: u32, rtt_ms: u64) -> bool {
        let mut over = false;
        for i in 1..=n {
            over |= hystart.on_ack(Seq(una + i), Seq(una + 2 * n), Some(Dur::from_ms(rtt_ms)));
        }
        over
    }

    #[test]
    fn a_rise_by_an_eighth_ends_slow_start_after_five_conservative_rounds() {
        let mut hystart = HyStart::default();
        hystart.on_ack(Seq(0), Seq(10), None);
        assert!(!round(&mut hystart, 0, 10, 100));
        assert_eq!(hystart.divisor(), 1);
        assert!(!round(&mut hystart, 10, 10, 112)); // 12.5 ms would be enough
        assert_eq!(hystart.divisor(), 1);
        hystart = HyStart::default();
        hystart.on_ack(Seq(0), Seq(10), None);
        round(&mut hystart, 0, 10, 100);
        assert!(!round(&mut hystart, 10, 10, 113));
        assert_eq!(hystart.divisor(), 4);
    }

    #[test]
    fn the_threshold_is_from_4_to_16_ms() {
        for (base, rise, left) in [(8, 3, false), (8, 4, true), (400, 15, false), (400, 16, true)] {
            let mut hystart = HyStart::default();
            hystart.on_ack(Seq(0), Seq(10), None);
            round(&mut hystart, 0, 10, base);
            round(&mut hystart, 10, 9, base + rise);
            assert_eq!(hystart.divisor() == 4, left, "{base} + {rise}");
        }
    }

    #[test]
    fn an_rtt_below_the_baseline_resumes_slow_start() {
        let mut hystart = HyStart::default();
        hystart.on_ack(Seq(0), Seq(10), None);
        round(&mut hystart, 0, 10, 100);
        round(&mut hystart, 10, 9, 120);
        assert_eq!(hystart.divisor(), 4);
        hystart.on_ack(Seq(20), Seq(40), Some(Dur::from_ms(120))); // the round ends
        round(&mut hystart, 20, 8, 119);
        assert_eq!(hystart.divisor(), 1);
    }

    #[test]
    fn fewer_than_eight_samples_tell_nothing() {
        let mut hystart = HyStart::default();
        hystart.on_ack(Seq(0), Seq(10), None);
        round(&mut hystart, 0, 10, 100);
        round(&mut hystart, 10, 7, 200);
        assert_eq!(hystart.divisor(), 1);
    }

    #[test]
    fn the_fifth_conservative_round_ends_it() {
        let mut hystart = HyStart::default();
        hystart.on_ack(Seq(0), Seq(10), None);
        round(&mut hystart, 0, 10, 100);
        let mut rounds = 0;
        let mut una = 10;
        loop {
            rounds += 1;
            let mut over = false;
            for _ in 0..10 {
                una += 1;
                over |= hystart.on_ack(Seq(una), Seq(una + 10), Some(Dur::from_ms(150)));
            }
            if over {
                break;
            }
            assert!(rounds < 10);
        }
        // The RTT rises in the first of them, which counts; each round of ten ends with its tenth ACK.
        assert_eq!(rounds, 5);
    }
}
