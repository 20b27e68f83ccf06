//! A driver for tests: a network in which everything takes as long as it should, and fits of distributions.

use crate::{Conn, Given, Input, Model, Output, find};
use engine::{Purpose, Streams};
use plugin::Value;
use std::collections::BTreeMap;
use units::{Bytes, Dur, SimTime};

/// Connecting takes a millisecond, a request with its response two.
pub(crate) struct Driver {
    model: Box<dyn Model>,
    now: SimTime,
    /// The next event of each connection.
    due: BTreeMap<u16, (SimTime, Input)>,
    /// Connections whose handshake fails.
    pub lose_next: u64,
    pub stop_at: SimTime,
    pub opened: u64,
    pub lost: u64,
    pub open: u64,
    pub most_open: u64,
    /// Everything that was done: the time it was begun, its duration and its bytes.
    pub done: Vec<(SimTime, Dur, Bytes)>,
    /// Size of each request's response, in order.
    pub responses: Vec<Bytes>,
    /// The number of responses of each file, page or message that is done.
    pub objects: Vec<u32>,
    since_done: u32,
}

impl Driver {
    pub(crate) fn new(id: &str, set: &[(&str, Value)]) -> Driver {
        let mut chosen = find(id).expect("it is in the list");
        set.iter().for_each(|(key, value)| chosen.params.set(key, *value));
        let draws = Streams::new(7).get(Purpose::Traffic, 3);
        Driver {
            model: (chosen.plugin)(Given { params: &chosen.params, draws }),
            now: SimTime::ZERO,
            due: BTreeMap::new(),
            lose_next: 0,
            stop_at: SimTime::NEVER,
            opened: 0,
            lost: 0,
            open: 0,
            most_open: 0,
            done: Vec::new(),
            responses: Vec::new(),
            objects: Vec::new(),
            since_done: 0,
        }
    }

    /// An entry of `done`, from milliseconds and bytes.
    pub(crate) fn done((began, took, bytes): (u64, u64, u64)) -> (SimTime, Dur, Bytes) {
        (SimTime::ZERO + Dur::from_ms(began), Dur::from_ms(took), Bytes(bytes))
    }

    fn tell(&mut self, input: Input) {
        let mut out = Vec::new();
        self.model.handle(self.now, input, &mut out);
        for output in out {
            self.carry_out(output);
        }
    }

    fn carry_out(&mut self, output: Output) {
        let after = |ms| self.now + Dur::from_ms(ms);
        match output {
            Output::Open(conn) => {
                let input = if self.lose_next > 0 { Input::Lost(conn) } else { Input::Connected(conn) };
                self.lose_next = self.lose_next.saturating_sub(1);
                assert!(self.due.insert(conn.0, (after(1), input)).is_none(), "{conn:?} is open");
                self.opened += 1;
                self.open += 1;
                self.most_open = self.most_open.max(self.open);
            }
            Output::Ask { conn, request, response } => {
                assert_eq!(request, Bytes(300));
                assert!(self.due.insert(conn.0, (after(2), Input::Got(conn))).is_none(), "one request at a time");
                self.responses.push(response);
            }
            Output::Close(Conn(conn)) => {
                assert!(!self.due.contains_key(&conn), "something is under way on it");
                self.open -= 1;
            }
            Output::Done { began, bytes } => {
                self.done.push((began, self.now - began, bytes));
                self.objects.push(std::mem::take(&mut self.since_done));
            }
        }
    }

    /// Runs up to this instant, or until nothing happens any more.
    pub(crate) fn run(&mut self, end: SimTime) {
        self.tell(Input::Start);
        loop {
            let next = self.due.iter().map(|(conn, (at, input))| (*at, *conn, *input)).min_by_key(|it| (it.0, it.1));
            let (timer, of_conn) = (self.model.next_wakeup(), next.map_or(SimTime::NEVER, |it| it.0));
            let at = timer.min(of_conn).min(self.stop_at);
            if at > end || at == SimTime::NEVER {
                return;
            }
            self.now = at;
            if at == self.stop_at {
                self.stop_at = SimTime::NEVER;
                self.tell(Input::Stop);
            } else if let Some((_, conn, input)) = next.filter(|it| it.0 == at) {
                self.due.remove(&conn);
                match input {
                    Input::Lost(_) => {
                        self.lost += 1;
                        self.open -= 1;
                    }
                    Input::Got(_) => self.since_done += 1,
                    _ => {}
                }
                self.tell(input);
            } else {
                self.tell(Input::Timer);
            }
        }
    }
}

/// Kolmogorov and Smirnov: the greatest distance from the exponential distribution is below 1.63/√n with probability 0.99.
pub(crate) fn exponential_fits(values: &[f64], mean: f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let distance = sorted.iter().enumerate().map(|(i, x)| {
        let p = 1.0 - libm::exp(-x.max(0.0) / mean);
        (p - i as f64 / n).abs().max((p - (i as f64 + 1.0) / n).abs())
    });
    let most = distance.fold(0.0, f64::max);
    assert!(n > 1000.0 && most < 1.63 / libm::sqrt(n), "{most} of {n}");
}

/// Pearson: the sum lies below its mean and 3.1 deviations with probability 0.998, about.
pub(crate) fn chi_square_fits(counts: &[f64], shares: &[f64]) {
    let n: f64 = counts.iter().sum();
    let terms = counts.iter().zip(shares).map(|(count, share)| {
        assert!(n * share > 5.0, "too few are expected");
        (count - n * share) * (count - n * share) / (n * share)
    });
    let (sum, freedom) = (terms.sum::<f64>(), counts.len() as f64 - 1.0);
    assert!(sum < freedom + 3.1 * libm::sqrt(2.0 * freedom), "{sum} with {freedom} degrees of freedom");
}
