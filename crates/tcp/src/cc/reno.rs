//! Reno, and the arithmetic that everything descended from it shares.
//!
//! - **Source** @RFC5681 sec. 3.1, 3.2; fast recovery ends at the first new ACK, as in @RFC2581.
//! - **Sits** sender. **Reads** acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** growth counts ACKs by default (eq. 2 and 3, "another common formula"), as ns-2 and ns-3 do and the
//!   papers assume: a delayed-ACK receiver then halves the growth of congestion avoidance. The recommended byte
//!   counting is `byte_counting` (@RFC3465). cwnd keeps fractions of a byte where eq. 3 rounds. A second fast retransmit
//!   in one window cuts again from the flight (eq. 4), which after the first is more than cwnd: 4.3BSD and ns-2 halve
//!   cwnd and come lower. After a timeout duplicates of what had been sent before trigger nothing, a case @RFC5681
//!   sec. 3.1 leaves open (@RFC6582 sec. 3.2 step 4; `bugfix_` in ns-2). A mark (@RFC3168 sec. 6.1.2) cuts from the
//!   flight like a loss, but down to one segment.
//! - **Checked** tests below; `every_cc`; `tests/all/scripts/recovery.rs`.

use super::{Congestion, CongestionControl, Info, Params, Recovery, Window};
use crate::Ack;
use units::Bytes;

/// Its declaration.
pub const INFO: Info =
    Info { id: "reno", summary: "fast recovery that ends at the first new ACK", source: "RFC5681", params: &[] };

/// The controller. It has no state beyond the window.
#[derive(Debug, Default)]
pub struct Reno;

/// Makes one.
pub fn make(_: &Params) -> Box<dyn CongestionControl> {
    Box::new(Reno)
}

/// Slow start: cwnd grows by `min(N, L * SMSS)` for N bytes acknowledged; see [`Window::slow_start_limit`].
pub fn slow_start(ack: &Ack, win: &mut Window) {
    if win.may_grow() {
        win.cwnd += Bytes(ack.counted.min(win.slow_start_limit()).0 / win.slow_start_divisor());
    }
}

/// Congestion avoidance: `per_rtt` segments per round trip. `SMSS * SMSS / cwnd` per ACK (@RFC5681 eq. 3), or in
/// proportion to the bytes acknowledged if those are counted (@RFC3465 sec. 2.1).
pub fn additive_increase(ack: &Ack, per_rtt: f64, win: &mut Window) {
    if win.may_grow() {
        let step = if win.byte_counting().is_some() { ack.counted } else { win.mss() };
        win.grow(per_rtt * (step.0 as f64) * (win.mss() / win.cwnd));
    }
}

/// Slow start below ssthresh, congestion avoidance from there on.
pub fn grow(ack: &Ack, win: &mut Window) {
    if win.in_slow_start() { slow_start(ack, win) } else { additive_increase(ack, 1.0, win) }
}

/// After a timeout: ssthresh from the flight (@RFC5681 eq. 4) unless the same segment timed out before, cwnd the loss
/// window of one segment. @RFC5681 sec. 3.1
pub fn rto(repeated: bool, win: &mut Window) {
    if !repeated {
        win.cut_flight_to(0.5);
    }
    win.cwnd = win.mss();
}

/// Halves the flight. @RFC5681 eq. 4, @RFC3168 sec. 6.1.2
pub fn cut(why: Congestion, win: &mut Window) {
    cut_to(why, 0.5, win);
}

/// Cuts to `factor` of the flight; after a timeout cwnd is one segment all the same.
pub fn cut_to(why: Congestion, factor: f64, win: &mut Window) {
    match why {
        Congestion::FastRetransmit => win.cut_flight_to(factor),
        Congestion::EcnMark => win.mark_flight_to(factor),
        Congestion::Rto { repeated } => {
            if !repeated {
                win.cut_flight_to(factor);
            }
            win.cwnd = win.mss();
        }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        grow(ack, win);
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        cut(why, win);
    }

    fn on_recovered(&mut self, win: &mut Window) {
        win.cwnd = win.ssthresh; // @RFC5681 sec. 3.2 step 6
    }

    fn recovery(&self) -> Recovery {
        Recovery::Reno
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::ack;
    use super::*;

    const MSS: Bytes = Bytes(1000);

    #[test]
    fn slow_start_adds_what_is_acknowledged_but_at_most_a_segment() {
        let mut win = Window::new(MSS, 2, None);
        slow_start(&ack(400), &mut win);
        slow_start(&ack(2000), &mut win);
        assert_eq!(win.cwnd, Bytes(2000 + 400 + 1000));
        win.byte_counting = Some(2);
        slow_start(&ack(3000), &mut win);
        assert_eq!(win.cwnd, Bytes(3400 + 2000));
        win.after_timeout = true; // RFC 3465 sec. 2.3
        slow_start(&ack(3000), &mut win);
        assert_eq!(win.cwnd, Bytes(5400 + 1000));
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_per_window_of_acks() {
        let mut win = Window::new(MSS, 10, Some(Bytes(1)));
        additive_increase(&ack(1000), 1.0, &mut win);
        assert_eq!(win.cwnd, Bytes(10_100)); // 1000 * 1000 / 10000
        for _ in 1..10 {
            additive_increase(&ack(1000), 1.0, &mut win);
        }
        // sqrt(10² + 2 * 10) = 10.954 segments; the sum of 1/W.. is a little less than one.
        assert!((10_950..=10_960).contains(&win.cwnd.0), "{}", win.cwnd);
    }

    #[test]
    fn with_byte_counting_one_ack_for_two_segments_counts_twice() {
        let mut win = Window::new(MSS, 10, Some(Bytes(1)));
        win.byte_counting = Some(2);
        additive_increase(&ack(2000), 1.0, &mut win);
        assert_eq!(win.cwnd, Bytes(10_200));
    }

    #[test]
    fn a_timeout_halves_the_flight_once_and_leaves_one_segment() {
        let mut win = Window::new(MSS, 20, None);
        win.flight_size = Bytes(20_000);
        rto(false, &mut win);
        assert_eq!((win.ssthresh, win.cwnd), (Bytes(10_000), MSS));
        win.flight_size = MSS;
        rto(true, &mut win);
        assert_eq!((win.ssthresh, win.cwnd), (Bytes(10_000), MSS));
        rto(false, &mut win);
        assert_eq!(win.ssthresh, Bytes(2000)); // never below two segments
    }

    #[test]
    fn nothing_grows_in_recovery_or_when_the_window_is_not_the_limit() {
        let mut win = Window::new(MSS, 2, None);
        win.in_recovery = true;
        grow(&ack(1000), &mut win);
        (win.in_recovery, win.limited) = (false, false);
        grow(&ack(1000), &mut win);
        assert_eq!(win.cwnd, Bytes(2000));
    }
}
