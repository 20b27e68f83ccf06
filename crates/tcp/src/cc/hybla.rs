//! Hybla: a long path grows as fast per time as a short one.
//!
//! - **Source** @CF04: Caini & Firrincieli, "TCP Hybla: a TCP Enhancement for Heterogeneous Networks", International Journal of
//!   Satellite Communications and Networking 22, 2004: rho = RTT / RTT_0, at least 1; an ACK adds 2^rho - 1 segments in slow
//!   start, rho^2 / W in congestion avoidance.
//! - **Sits** sender. **Reads** RTT, acked bytes, flight size. **Turns** cwnd, ssthresh.
//! - **Departs** (a) rho is of the least RTT, as Linux, which computes it anew at a new least; (b) real numbers, but rho is 16 at
//!   most and slow start ends at 65535 segments, Linux's bound; (c) slow start does not go beyond ssthresh, as Linux; (d) initial
//!   window and ssthresh are not multiplied by rho: they are the configuration's; (e) pacing, which the paper asks for, is
//!   `pacing`.
//! - **Checked** tests below; `every_cc`; `senders`.

use super::{Congestion, CongestionControl, Info, Params, Probe, Window, reno};
use crate::Ack;
use plugin::{Kind, Param, Value};
use units::Dur;

/// Its declaration.
pub const INFO: Info = Info {
    id: "hybla",
    summary: "Reno whose growth per time is that of a path of 25 ms",
    source: "CF04",
    params: &[Param {
        key: "rtt_0",
        kind: Kind::Time { min: Dur::from_us(100), max: Dur::from_secs(10) },
        default: Value::Time(Dur::from_ms(25)),
        doc: "RTT of the path whose growth is the measure.",
    }],
};

const MOST_RHO: f64 = 16.0;
const MOST_SEGMENTS: u64 = 65_535;

/// The controller.
#[derive(Debug)]
pub struct Hybla {
    rtt_0: f64,
    least: Option<Dur>,
    rho: f64,
    /// 2^rho - 1.
    step: f64,
}

/// Makes one.
pub fn make(params: &Params) -> Box<dyn CongestionControl> {
    Box::new(Hybla { rtt_0: params.time("rtt_0").as_secs_f64(), least: None, rho: 1.0, step: 1.0 })
}

impl CongestionControl for Hybla {
    fn on_ack(&mut self, ack: &Ack, win: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Dur::ZERO && self.least.is_none_or(|least| *rtt < least)) {
            self.least = Some(rtt);
            self.rho = (rtt.as_secs_f64() / self.rtt_0).clamp(1.0, MOST_RHO);
            self.step = libm::exp2(self.rho) - 1.0;
        }
        if !win.in_slow_start() {
            reno::additive_increase(ack, self.rho * self.rho, win);
        } else if win.may_grow() {
            let bytes = ack.counted.min(win.slow_start_limit()).0 / win.slow_start_divisor();
            let most = win.ssthresh.min(win.mss() * MOST_SEGMENTS).max(win.cwnd);
            win.grow(bytes as f64 * self.step);
            win.cwnd = win.cwnd.min(most);
        }
    }

    fn on_congestion(&mut self, why: Congestion, win: &mut Window) {
        reno::cut(why, win);
    }

    fn needs_rtt(&self) -> bool {
        true
    }

    fn probe(&self, out: &mut dyn Probe) {
        out.gauge("hybla.rho", "1", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Acks;
    use super::*;
    use units::Bytes;

    fn hybla() -> Box<dyn CongestionControl> {
        make(&Params::defaults(INFO.params))
    }

    #[test]
    fn an_ack_of_a_path_of_50_ms_adds_three_segments_or_four_over_the_window() {
        let (mut acks, mut hybla) = (Acks::new(1000), hybla());
        let mut win = Window::new(Bytes(1000), 10, None);
        win.observe(win.cwnd, false);
        hybla.on_ack(&acks.rtt_ms(50).next(1), &mut win); // rho = 2: 2^2 - 1
        assert_eq!(win.cwnd, Bytes(13_000));
        win.ssthresh = Bytes(14_000);
        hybla.on_ack(&acks.rtt_ms(200).next(1), &mut win); // the least RTT counts; ssthresh bounds
        assert_eq!(win.cwnd, Bytes(14_000));
        win.cwnd = Bytes(20_000);
        hybla.on_ack(&acks.next(1), &mut win); // 4 / 20
        assert_eq!(win.cwnd, Bytes(20_200));
    }

    #[test]
    fn a_path_of_25_ms_and_less_is_renos() {
        for rtt in [10, 25] {
            let (mut acks, mut hybla) = (Acks::new(1000), hybla());
            let mut win = Window::new(Bytes(1000), 10, None);
            win.observe(win.cwnd, false);
            hybla.on_ack(&acks.rtt_ms(rtt).next(1), &mut win);
            assert_eq!(win.cwnd, Bytes(11_000));
        }
    }

    #[test]
    fn two_paths_grow_by_as_much_in_the_same_time() {
        // 100 ms: rho² = 16 segments per round trip; 25 ms: 1 in each of four. Per second 160 and 40 segments, over windows
        // four times as large: the rates grow alike.
        let (mut acks, mut hybla) = (Acks::new(1000), hybla());
        let mut win = Window::new(Bytes(1000), 400, Some(Bytes(1000)));
        acks.rtt_ms(100).round(hybla.as_mut(), &mut win);
        assert!((win.segments() - 416.0).abs() < 0.5, "{}", win.segments());
    }

    #[test]
    fn a_path_of_a_second_does_not_run_away() {
        let (mut acks, mut hybla) = (Acks::new(1000), hybla());
        let mut win = Window::new(Bytes(1000), 2, None);
        win.observe(win.cwnd, false);
        for _ in 0..10 {
            hybla.on_ack(&acks.rtt_ms(1000).next(1), &mut win);
        }
        assert_eq!(win.cwnd, Bytes(1000) * MOST_SEGMENTS);
    }
}
