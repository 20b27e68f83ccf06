//! The common part of FTP and e-mail: one file or message after the other, each on a connection of its own.

use crate::{Conn, Input, Model, Output};
use engine::Stream;
use units::{Bytes, Dur, SimTime};

/// The time at which the next file or message is due.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    /// So long after the end of the last one, on the mean; exponential, or always the same.
    AfterTheLast(Dur, bool),
    /// At exponential intervals with this mean, whether or not the last one has ended; then it waits.
    Every(Dur),
}

/// A user that fetches one thing at a time.
#[derive(Debug)]
pub(super) struct Single {
    pub size: Bytes,
    pub request: Bytes,
    pub spread: Dur,
    pub next: Next,
    /// The number of files or messages to fetch.
    pub most: u64,
    draws: Stream,
    begun: u64,
    /// The time at which the one under way was begun.
    under_way: Option<SimTime>,
    /// Things that were due while another was under way.
    waiting: u64,
    wakeup: SimTime,
}

/// A user has one connection at a time.
const CONN: Conn = Conn(0);

impl Single {
    pub(super) fn new(size: Bytes, request: Bytes, spread: Dur, next: Next, most: u64, draws: Stream) -> Single {
        let (begun, under_way, waiting, wakeup) = (0, None, 0, SimTime::NEVER);
        Single { size, request, spread, next, most, draws, begun, under_way, waiting, wakeup }
    }

    fn begin(&mut self, now: SimTime, out: &mut Vec<Output>) {
        if self.begun < self.most {
            self.begun += 1;
            self.under_way = Some(now);
            out.push(Output::Open(CONN));
        }
    }

    /// One is due.
    fn due(&mut self, now: SimTime, out: &mut Vec<Output>) {
        if let Next::Every(mean) = self.next {
            self.wakeup = now + super::exponential_time(&mut self.draws, mean);
        }
        if self.under_way.is_some() {
            self.waiting += 1;
        } else {
            self.begin(now, out);
        }
    }

    /// The one under way has ended, well or not.
    fn ended(&mut self, now: SimTime, out: &mut Vec<Output>) {
        self.under_way = None;
        match self.next {
            Next::AfterTheLast(..) if self.begun >= self.most => {}
            Next::AfterTheLast(mean, is_exponential) => {
                let pause = if is_exponential { super::exponential_time(&mut self.draws, mean) } else { mean };
                self.wakeup = now + pause;
            }
            Next::Every(_) if self.waiting > 0 => {
                self.waiting -= 1;
                self.begin(now, out);
            }
            Next::Every(_) => {}
        }
    }
}

impl Model for Single {
    fn handle(&mut self, now: SimTime, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => self.wakeup = now + super::uniform_time(&mut self.draws, self.spread),
            Input::Timer if now >= self.wakeup => {
                self.wakeup = SimTime::NEVER;
                self.due(now, out);
            }
            Input::Timer => {}
            Input::Connected(conn) => {
                out.push(Output::Ask { conn, request: self.request, response: self.size });
            }
            Input::Got(conn) => {
                let began = self.under_way.unwrap_or(now);
                out.extend([Output::Done { began, bytes: self.size }, Output::Close(conn)]);
                self.ended(now, out);
            }
            Input::Lost(_) => self.ended(now, out),
            Input::Stop => (self.most, self.waiting, self.wakeup) = (self.begun, 0, SimTime::NEVER),
        }
    }

    fn next_wakeup(&self) -> SimTime {
        self.wakeup
    }
}
