//! The sender. @RFC5348 sec. 4

use crate::{Feedback, throughput};
use units::{Bytes, Dur, SimTime};

/// A packet of data. Sec. 3.2.1
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Data {
    /// Counts up by one.
    pub number: u64,
    /// The time stamp.
    pub sent: SimTime,
    /// The sender's estimate of the round trip; none before the first report.
    pub rtt: Option<Dur>,
    /// Length of the datagram.
    pub len: Bytes,
}

/// q: the weight of the old RTT against a new sample. Sec. 4.3
const SMOOTHING: f64 = 0.9;
/// t_mbi: the longest time between packets. Sec. 4.3
const LONGEST: f64 = 64.0;

/// A sender that always has something to send.
#[derive(Debug)]
pub struct Sender {
    len: Bytes,
    number: u64,
    /// X, in bytes per second.
    rate: f64,
    rtt: Option<Dur>,
    /// tld: when the rate was last doubled.
    doubled_at: SimTime,
    /// X_recv_set: the last reports and when they came. Sec. 4.3
    received: Vec<(SimTime, f64)>,
    loss_rate: f64,
    send_at: SimTime,
    no_feedback: SimTime,
}

impl Sender {
    /// Sends datagrams of `len` from `now` on: one per second, until a report comes. Sec. 4.2
    pub fn new(now: SimTime, len: Bytes) -> Sender {
        Sender {
            len,
            number: 0,
            rate: len.0 as f64,
            rtt: None,
            doubled_at: now,
            received: Vec::new(),
            loss_rate: 0.0,
            send_at: now,
            no_feedback: now + Dur::from_secs(2),
        }
    }

    /// X, in bytes per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The time at which [`Sender::poll`] has something, or the rate changes.
    pub fn next_wakeup(&self) -> SimTime {
        self.send_at.min(self.no_feedback)
    }

    /// W_init over the RTT. Sec. 4.2
    fn initial(&self, rtt: Dur) -> f64 {
        let s = self.len.0;
        (4 * s).min((2 * s).max(4380)) as f64 / rtt.as_secs_f64()
    }

    /// The least rate: a packet in 64 seconds.
    fn least(&self) -> f64 {
        self.len.0 as f64 / LONGEST
    }

    /// A report. Sec. 4.3
    pub fn feedback(&mut self, now: SimTime, report: &Feedback) {
        let sample = now.since(report.stamp).saturating_sub(report.delay).max(Dur::from_us(1));
        let first = self.rtt.is_none();
        let rtt = match self.rtt {
            None => sample,
            Some(rtt) => {
                let smooth = SMOOTHING * rtt.ns() as f64 + (1.0 - SMOOTHING) * sample.ns() as f64;
                Dur::from_ns(smooth as u64)
            }
        };
        self.rtt = Some(rtt);
        self.loss_rate = report.loss_rate;
        if first {
            (self.rate, self.doubled_at) = (self.initial(rtt), now);
        } else {
            // Reports of two round trips. Sec. 4.3, "Update X_recv_set"
            self.received.retain(|(at, _)| now.since(*at) <= rtt * 2);
            self.received.push((now, report.received));
            let limit = 2.0 * self.received.iter().map(|(_, x)| *x).fold(0.0, f64::max);
            if report.loss_rate > 0.0 {
                self.rate = throughput(self.len, rtt, report.loss_rate).min(limit).max(self.least());
            } else if now.since(self.doubled_at) >= rtt {
                self.rate = (2.0 * self.rate).min(limit).max(self.initial(rtt));
                self.doubled_at = now;
            }
        }
        self.restart(now, rtt);
        self.send_at = self.send_at.min(now + self.gap());
    }

    /// The timer of missing reports: four round trips, or two packets. Sec. 4.3 step 3
    fn restart(&mut self, now: SimTime, rtt: Dur) {
        self.no_feedback = now + (rtt * 4).max(self.gap() * 2);
    }

    /// t_ipi: between two packets. Sec. 4.6
    fn gap(&self) -> Dur {
        Dur::from_ns((self.len.0 as f64 / self.rate * 1e9) as u64)
    }

    /// The next packet, if it is time. A report that does not come halves the rate. Sec. 4.4
    pub fn poll(&mut self, now: SimTime) -> Option<Data> {
        if now >= self.no_feedback {
            self.rate = (self.rate / 2.0).max(self.least());
            self.received.iter_mut().for_each(|(_, x)| *x /= 2.0);
            self.restart(now, self.rtt.unwrap_or(Dur::from_ms(500)));
        }
        if now < self.send_at {
            return None;
        }
        self.send_at = self.send_at.max(now) + self.gap();
        let data = Data { number: self.number, sent: now, rtt: self.rtt, len: self.len };
        self.number += 1;
        Some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Receiver;
    use std::collections::VecDeque;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn the_first_report_gives_the_initial_window_and_each_round_doubles_up_to_twice_what_arrives() {
        let mut sender = Sender::new(at(0), Bytes(1000));
        assert_eq!(sender.poll(at(0)).unwrap().number, 0);
        assert_eq!((sender.poll(at(500)), sender.next_wakeup()), (None, at(1000)));
        let report =
            |stamp, received, loss_rate| Feedback { stamp: at(stamp), delay: Dur::ZERO, received, loss_rate };
        // min(4000, max(2000, 4380)) = 4000 B in 100 ms.
        sender.feedback(at(100), &report(0, 0.0, 0.0));
        assert!((sender.rate() - 40_000.0).abs() < 1e-6);
        sender.feedback(at(200), &report(100, 40_000.0, 0.0));
        assert!((sender.rate() - 80_000.0).abs() < 1e-6);
        sender.feedback(at(300), &report(200, 45_000.0, 0.0));
        assert!((sender.rate() - 90_000.0).abs() < 1e-6, "twice what arrives: {}", sender.rate());
        // A loss: the equation at p = 0.01 and 100 ms is 112332, more than twice 45000.
        sender.feedback(at(400), &report(300, 44_000.0, 0.01));
        assert!((sender.rate() - 90_000.0).abs() < 1e-6);
        // At p = 0.04: 1000 / (0.1 * 0.163299 + 0.4 * 3 * 0.122474 * 0.04 * 1.0512) = 44425.
        sender.feedback(at(500), &report(400, 60_000.0, 0.04));
        assert!((sender.rate() - 44_425.0).abs() < 2.0, "{}", sender.rate());
    }

    #[test]
    fn without_reports_the_rate_is_halved_every_four_round_trips() {
        let mut sender = Sender::new(at(0), Bytes(1000));
        sender.poll(at(0));
        let report = Feedback { stamp: at(0), delay: Dur::ZERO, received: 0.0, loss_rate: 0.0 };
        sender.feedback(at(100), &report);
        let mut rates = Vec::new();
        for ms in 100..1400 {
            sender.poll(at(ms));
            rates.push(sender.rate());
        }
        rates.dedup();
        assert_eq!(rates, [40_000.0, 20_000.0, 10_000.0, 5000.0]); // at 500, 900, 1300 ms
    }

    /// Sender and receiver with this delay each way; every `lose`-th packet is lost. Bytes per second that arrive in the second half.
    fn run(lose: u64, delay: Dur, seconds: u64) -> f64 {
        let mut sender = Sender::new(at(0), Bytes(1000));
        let mut receiver = Receiver::default();
        let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
        let (mut now, mut arrived) = (at(0), 0);
        let end = at(seconds * 1000);
        while now < end {
            while let Some(data) = sender.poll(now) {
                if data.number % lose != lose - 1 {
                    there.push_back((now + delay, data));
                }
            }
            while there.front().is_some_and(|(due, _)| *due <= now) {
                let (_, data) = there.pop_front().unwrap();
                receiver.data(now, &data);
                arrived += if now > at(seconds * 500) { 1000 } else { 0 };
            }
            if let Some(report) = receiver.poll(now) {
                back.push_back((now + delay, report));
            }
            while back.front().is_some_and(|(due, _)| *due <= now) {
                let (_, report) = back.pop_front().unwrap();
                sender.feedback(now, &report);
            }
            now = sender.next_wakeup().min(receiver.next_wakeup());
            now = there.front().map_or(now, |(due, _)| now.min(*due));
            now = back.front().map_or(now, |(due, _)| now.min(*due));
        }
        f64::from(arrived) / (seconds as f64 / 2.0)
    }

    #[test]
    fn over_a_path_that_loses_every_nth_packet_it_sends_what_the_equation_says() {
        // Each loss is an event of its own (more than an RTT apart), so p = 1 / n. What arrives is 1 - p of that.
        for n in [50, 100, 400] {
            let rate = run(n, Dur::from_ms(25), 200);
            let p = 1.0 / n as f64;
            let wanted = throughput(Bytes(1000), Dur::from_ms(50), p) * (1.0 - p);
            assert!((rate / wanted - 1.0).abs() < 0.05, "every {n}th: {rate:.0}, equation {wanted:.0}");
        }
    }
}
