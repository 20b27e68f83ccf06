//! The receiver. @RFC5348 sec. 6

use crate::{Data, History, loss_rate};
use units::{Bytes, Dur, SimTime};

/// A report. Sec. 3.2.2
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feedback {
    /// t_recvdata: the time stamp of the last packet.
    pub stamp: SimTime,
    /// t_delay: how long ago that came.
    pub delay: Dur,
    /// X_recv, in bytes per second.
    pub received: f64,
    /// p.
    pub loss_rate: f64,
}

/// The measurement at the far end.
#[derive(Debug)]
pub struct Receiver {
    history: History,
    last: Option<(Data, SimTime)>,
    bytes: u64,
    reported_at: SimTime,
    due: SimTime,
    loss_rate: f64,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            history: History::default(),
            last: None,
            bytes: 0,
            reported_at: SimTime::ZERO,
            due: SimTime::NEVER,
            loss_rate: 0.0,
        }
    }
}

impl Receiver {
    /// A packet came. Sec. 6.1, 6.3
    pub fn data(&mut self, now: SimTime, data: &Data) {
        let rtt = data.rtt.unwrap_or(Dur::ZERO);
        if self.last.is_none() {
            (self.reported_at, self.due) = (now, now); // the first is reported at once
        }
        self.bytes += data.len.0;
        let since = now.since(self.reported_at).max(rtt).max(Dur::from_us(1));
        let (bytes, len) = (self.bytes, data.len);
        let first = || 1.0 / loss_rate(len, rtt.max(Dur::from_us(1)), bytes as f64 / since.as_secs_f64());
        let event = self.history.receive(now, data.number, rtt, first);
        self.last = Some((*data, now));
        if event && self.history.rate() > self.loss_rate {
            self.due = now;
        }
    }

    /// The time at which [`Receiver::poll`] has something.
    pub fn next_wakeup(&self) -> SimTime {
        self.due
    }

    /// The report that is due. Sec. 6.2
    pub fn poll(&mut self, now: SimTime) -> Option<Feedback> {
        if now < self.due {
            return None;
        }
        let (data, came) = self.last?;
        let rtt = data.rtt.unwrap_or(Dur::ZERO);
        self.due = now + rtt.max(Dur::from_ms(1));
        if self.bytes == 0 {
            return None; // nothing came since the last
        }
        let since = now.since(self.reported_at);
        let received = if since == Dur::ZERO { 0.0 } else { self.bytes as f64 / since.max(rtt).as_secs_f64() };
        (self.bytes, self.reported_at) = (0, now);
        self.loss_rate = self.history.rate();
        Some(Feedback { stamp: data.sent, delay: now.since(came), received, loss_rate: self.loss_rate })
    }

    /// Bytes of a full report, for counters. None here: a datagram carries it.
    pub fn pending(&self) -> Bytes {
        Bytes(self.bytes)
    }
}
