//! HighSpeed TCP: Reno whose growth and cuts depend on the window, so that large windows need fewer losses.
//!
//! - **Source** @RFC3649 sec. 5, 7 and app. B: a(w), b(w).
//! - **Sits** sender. **Reads** acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) a(w) and b(w) are computed as the program of app. B does, for windows in whole segments; Linux and ns-3 look
//!   them up in its table; (b) beyond the last row of the table, 94717 segments, they are those of that row; (c) limited slow start
//!   (@RFC3742), which sec. 7 recommends beside it, is not here.
//! - **Checked** tests below (table 12, table 6); `every_cc`; `senders`.

use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;

/// Its declaration.
pub const INFO: Info = Info {
    id: "highspeed",
    summary: "Reno that grows faster and cuts less the larger its window is",
    source: "RFC3649",
    params: &[],
};

const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;
const LAST_ROW: f64 = 94_717.0;

/// a(w) and b(w): segments per round trip, and what a cut takes. App. B, table 13
fn parameters(window: f64) -> (f64, f64) {
    if window <= LOW_WINDOW {
        return (1.0, 0.5);
    }
    let window = window.min(LAST_ROW);
    let share = libm::log(window / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    let b = (HIGH_DECREASE - 0.5) * share + 0.5;
    let a = libm::pow(window, 0.8) * 2.0 * b / ((2.0 - b) * 12.8);
    (a.max(1.0), b)
}

/// The controller.
#[derive(Debug)]
pub struct HighSpeed {
    /// The window that the parameters are of, in segments.
    window: u64,
    a: f64,
    b: f64,
}

/// Makes one.
pub fn make(_: &Params) -> Box<dyn CongestionControl> {
    Box::new(HighSpeed { window: 0, a: 1.0, b: 0.5 })
}

impl HighSpeed {
    fn look_up(&mut self, win: &Window) {
        let window = win.cwnd.0 / win.mss().0;
        if window != self.window {
            self.window = window;
            (self.a, self.b) = parameters(window as f64);
        }
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if win.in_slow_start() {
            reno::slow_start(ack, win);
        } else {
            self.look_up(win);
            reno::additive_increase(ack, self.a, win);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        self.look_up(win);
        reno::cut_to(why, 1.0 - self.b, win);
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("highspeed.a", "segments", self.a);
        out.gauge("highspeed.b", "1", self.b);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    /// @RFC3649 table 12: rows begin where a(w) is a whole number, rounded down; b(w) to two digits.
    #[test]
    fn the_parameters_are_those_of_the_table() {
        for (w, a, b) in [
            (38, 1, 0.50),
            (118, 2, 0.44),
            (221, 3, 0.41),
            (1058, 8, 0.33),
            (2378, 13, 0.28),
            (5036, 20, 0.25),
            (10_661, 30, 0.21),
            (30_975, 50, 0.15),
            (64_851, 66, 0.11),
            (84_035, 71, 0.10),
            (94_717, 73, 0.09),
        ] {
            let (got_a, got_b) = parameters(f64::from(w));
            // "Where a(w) exceeds the last row's by more than one", so rows may lag by what was skipped.
            assert!((f64::from(a)..f64::from(a) + 1.0).contains(&got_a), "a({w}) = {got_a}");
            assert!((got_b - b).abs() <= 0.005 + 1e-9, "b({w}) = {got_b}");
        }
        assert_eq!(parameters(1e7), parameters(LAST_ROW));
    }

    /// @RFC3649 table 6: from one segment, after 100, 500, 1000 and 2000 round trips.
    #[test]
    fn the_window_grows_as_in_table_6() {
        let mut window = 1.0;
        for rtt in 1..=2000 {
            if let Some((_, row)) = [(100, 131), (500, 3601), (1000, 17_409), (2000, 72_754)].iter().find(|(at, _)| *at == rtt)
            {
                assert_eq!(window as u64, *row, "after {rtt}");
            }
            window += parameters(window).0;
        }
    }

    /// The same by ACKs: a round trip adds a(w), less what the growth within it makes of 1/w.
    #[test]
    fn a_round_trip_of_acks_adds_a_of_w() {
        let mut highspeed = make(&Params::default());
        let mut win = Window::new(Bytes(1000), 1058, Some(Bytes(1000)));
        Acks::new(1000).round(highspeed.as_mut(), &mut win);
        let (a, _) = parameters(1058.0); // 8.0
        let added = win.segments() - 1058.0;
        assert!((a * 0.99..a).contains(&added), "{added} of {a}");
    }

    #[test]
    fn a_loss_at_1058_segments_takes_a_third() {
        let mut highspeed = make(&Params::default());
        let mut win = Window::new(Bytes(1000), 1058, Some(Bytes(1000)));
        win.observe(win.cwnd, false);
        highspeed.on_congestion(Congestion::FastRetransmit, &mut win);
        // b = 0.5 - 0.4 ln(1058/38) / ln(83000/38) = 0.5 - 0.4 * 3.3265 / 7.6890 = 0.32695: 712.09 segments are left.
        assert!((712_050..712_150).contains(&win.cwnd.0), "{}", win.cwnd);
    }
}
