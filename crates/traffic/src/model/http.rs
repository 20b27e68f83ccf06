//! HTTP 1.1: pages of several objects at exponential intervals, over persistent connections.
//!
//! - **Source** the traffic of @MFHA07 sec. IV: pages every 60 s, 7 objects a page, 5 kB an object, all exponential. Persistent and
//!   parallel
//!   connections: @RFC9112 sec. 9.
//! - **Departs** no pipelining. The first object of a page comes alone, since the others are named in it. A number of objects is an
//!   exponential
//!   number rounded, one at least: with a mean of 7 they are 7.07 on the mean. What the paper leaves open are readings: one persistent
//!   connection,
//!   requests of 300 B, no time to think within a page.
//! - **Checked** tests below; `crates/world/tests/all/users.rs`.

use super::{REQUEST, SPREAD, every, exponential_size, exponential_time, size, time, uniform_time};
use crate::{Conn, Given, Input, Model, Output};
use engine::Stream;
use plugin::{Info, Kind, Param, Value};
use std::collections::VecDeque;
use units::{Bytes, Dur, SimTime};

/// Its declaration.
pub static INFO: Info = Info {
    id: "http",
    summary: "Pages of several objects over TCP at exponential intervals, on persistent and parallel connections.",
    source: "MFHA07 sec. IV",
    params: &[
        every("page_every", Dur::from_secs(60), "Mean time between two pages."),
        Param {
            key: "objects",
            kind: Kind::Float { min: 0.0, max: 10_000.0 },
            default: Value::Float(7.0),
            doc: "Mean number of objects of a page before it is rounded; a page has one at least.",
        },
        size("object_size", 5000, "Mean of an object."),
        Param {
            key: "connections",
            kind: Kind::Int { min: 1, max: 64 },
            default: Value::Int(1),
            doc: "The most that are open at once.",
        },
        Param {
            key: "persistent",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "Whether a connection carries one object after the other; if not, each has its own.",
        },
        time("idle", Dur::from_secs(10), "A persistent connection is closed after so long without a request."),
        REQUEST,
        SPREAD,
    ],
};

/// One user.
pub fn make(given: Given<'_>) -> Box<dyn Model> {
    let Given { params, draws } = given;
    Box::new(Http {
        page_every: params.time("page_every"),
        objects: params.float("objects"),
        object_size: params.size("object_size"),
        is_persistent: params.bool("persistent"),
        idle: params.time("idle"),
        request: params.size("request"),
        spread: params.time("spread"),
        draws,
        conns: vec![State::Closed; params.int("connections") as usize],
        page: None,
        due: VecDeque::new(),
        next_page: SimTime::NEVER,
        is_over: false,
    })
}

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    /// The handshake is under way; then this object is asked for.
    Opening(Bytes),
    /// This object is on its way.
    Busy(Bytes),
    /// Nothing has been asked for since then.
    Idle(SimTime),
}

/// A page that is due or comes.
#[derive(Debug)]
struct Page {
    began: SimTime,
    /// Objects that have not been asked for.
    left: VecDeque<Bytes>,
    /// Objects under way.
    under_way: u32,
    /// True once the first object has come.
    has_first: bool,
    bytes: Bytes,
}

#[derive(Debug)]
struct Http {
    page_every: Dur,
    objects: f64,
    object_size: Bytes,
    is_persistent: bool,
    idle: Dur,
    request: Bytes,
    spread: Dur,
    draws: Stream,
    conns: Vec<State>,
    page: Option<Page>,
    /// Pages that were due while another came.
    due: VecDeque<VecDeque<Bytes>>,
    next_page: SimTime,
    is_over: bool,
}

impl Http {
    /// A page is due: its objects are drawn, and when the next is.
    fn draw(&mut self, now: SimTime) {
        let count = libm::round(self.draws.exponential() * self.objects).max(1.0) as u64;
        let objects = (0..count).map(|_| exponential_size(&mut self.draws, self.object_size)).collect();
        self.due.push_back(objects);
        self.next_page = now + exponential_time(&mut self.draws, self.page_every);
    }

    /// Begins the next page if none comes, and asks for what can be asked for.
    fn go_on(&mut self, now: SimTime, out: &mut Vec<Output>) {
        if self.page.is_none() {
            let Some(left) = self.due.pop_front() else { return };
            let bytes = left.iter().fold(Bytes::ZERO, |all, object| all + *object);
            self.page = Some(Page { began: now, left, under_way: 0, has_first: false, bytes });
        }
        while let Some(page) = self.page.as_mut().filter(|page| page.has_first || page.under_way == 0) {
            // One that is open is taken before one is opened.
            let is_idle = |state: &State| matches!(state, State::Idle(_));
            let place = self.conns.iter().position(is_idle);
            let Some(place) = place.or_else(|| self.conns.iter().position(|state| *state == State::Closed)) else {
                return;
            };
            let Some(object) = page.left.pop_front() else { return };
            page.under_way += 1;
            let conn = Conn(place as u16);
            if is_idle(&self.conns[place]) {
                self.ask(conn, object, out);
            } else {
                self.conns[place] = State::Opening(object);
                out.push(Output::Open(conn));
            }
        }
    }

    fn ask(&mut self, conn: Conn, object: Bytes, out: &mut Vec<Output>) {
        self.conns[conn.index()] = State::Busy(object);
        out.push(Output::Ask { conn, request: self.request, response: object });
    }

    /// An object has come, or will not: the page is over with its last.
    fn object(&mut self, now: SimTime, has_come: bool, out: &mut Vec<Output>) {
        if let Some(page) = &mut self.page {
            page.under_way -= 1;
            if has_come {
                page.has_first = true;
            } else {
                // A page that lacks something is given up: what is under way comes, and nothing more is asked for.
                page.left.clear();
                page.bytes = Bytes::ZERO;
            }
            if page.under_way == 0 && page.left.is_empty() {
                if page.bytes > Bytes::ZERO {
                    out.push(Output::Done { began: page.began, bytes: page.bytes });
                }
                self.page = None;
            }
        }
        self.go_on(now, out);
        if self.is_over && self.page.is_none() {
            self.close_idle(SimTime::NEVER, out);
        }
    }

    /// Closes connections that have been idle since before `now` less their time.
    fn close_idle(&mut self, now: SimTime, out: &mut Vec<Output>) {
        for (i, state) in self.conns.iter_mut().enumerate() {
            if let State::Idle(since) = *state
                && now - since >= self.idle
            {
                *state = State::Closed;
                out.push(Output::Close(Conn(i as u16)));
            }
        }
    }
}

impl Model for Http {
    fn handle(&mut self, now: SimTime, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => self.next_page = now + uniform_time(&mut self.draws, self.spread),
            Input::Timer => {
                if now >= self.next_page {
                    self.draw(now);
                    self.go_on(now, out);
                }
                self.close_idle(now, out);
            }
            Input::Connected(conn) => {
                if let State::Opening(object) = self.conns[conn.index()] {
                    self.ask(conn, object, out);
                }
            }
            Input::Got(conn) => {
                if self.is_persistent {
                    self.conns[conn.index()] = State::Idle(now);
                } else {
                    self.conns[conn.index()] = State::Closed;
                    out.push(Output::Close(conn));
                }
                self.object(now, true, out);
            }
            Input::Lost(conn) => {
                let was = core::mem::replace(&mut self.conns[conn.index()], State::Closed);
                if matches!(was, State::Opening(_) | State::Busy(_)) {
                    self.object(now, false, out);
                }
            }
            Input::Stop => {
                self.is_over = true;
                self.next_page = SimTime::NEVER;
                self.due.clear();
                if self.page.is_none() {
                    self.close_idle(SimTime::NEVER, out);
                }
            }
        }
    }

    fn next_wakeup(&self) -> SimTime {
        let idle = |state: &State| match state {
            State::Idle(since) => Some(*since + self.idle),
            _ => None,
        };
        self.conns.iter().filter_map(idle).min().unwrap_or(SimTime::NEVER).min(self.next_page)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Driver, chi_square_fits, exponential_fits};
    use plugin::Value;
    use units::{Bytes, Dur, SimTime};

    fn secs(n: u64) -> SimTime {
        SimTime::ZERO + Dur::from_secs(n)
    }

    #[test]
    fn pages_objects_and_sizes_follow_their_distributions() {
        let mut http = Driver::new("http", &[]);
        http.run(secs(600_000));
        let began: Vec<f64> = http.done.iter().map(|(began, ..)| began.as_secs_f64()).collect();
        // 10,000 pages are expected, with a deviation of 100; five of them.
        assert!(began.len().abs_diff(10_000) < 500, "{}", began.len());
        exponential_fits(&began.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>(), 60.0);
        let sizes: Vec<f64> = http.responses.iter().map(|bytes| bytes.0 as f64 - 0.5).collect();
        exponential_fits(&sizes, 5000.0);
        // An exponential number with mean 7, rounded: 1 has what is below 1.5, n what is within a half of it.
        let below = |x: f64| 1.0 - libm::exp(-x / 7.0);
        let share = |n: usize| if n == 1 { below(1.5) } else { below(n as f64 + 0.5) - below(n as f64 - 0.5) };
        let mut counts = [0.0; 21];
        http.objects.iter().for_each(|n| counts[(*n as usize).min(20)] += 1.0);
        let mut shares: Vec<f64> = (0..20).map(|n| if n == 0 { 0.0 } else { share(n) }).collect();
        shares.push(1.0 - below(19.5));
        chi_square_fits(&counts[1..], &shares[1..]);
    }

    #[test]
    fn one_persistent_connection_carries_a_page_and_is_closed_when_it_has_been_idle() {
        let objects = ("objects", Value::Float(4.0));
        let set =
            [objects, ("idle", Value::Time(Dur::from_secs(1))), ("page_every", Value::Time(Dur::from_secs(100)))];
        let mut http = Driver::new("http", &set);
        http.run(secs(100_000));
        assert_eq!((http.most_open, http.open), (1, 0));
        // A page takes 1 ms to connect and 2 ms an object, unless the one before was less than a second ago.
        let took =
            http.done.iter().zip(&http.objects).map(|((_, took, _), n)| took.ns() / 1_000_000 - 2 * u64::from(*n));
        let afresh = took.filter(|connecting| *connecting == 1).count() as u64;
        assert_eq!(http.opened, afresh);
        assert!(afresh > 950 && http.done.len() as u64 > afresh, "{afresh} of {}", http.done.len());
    }

    #[test]
    fn parallel_connections_carry_what_follows_the_first_object() {
        let set = [("objects", Value::Float(40.0)), ("connections", Value::Int(4))];
        let mut http = Driver::new("http", &set);
        http.run(secs(60_000));
        assert_eq!(http.most_open, 4);
        // The first object takes 2 ms, the others 2 ms for each four. To connect takes a millisecond before the first, and again before
        // three of four
        // that follow, unless connections of the page before are still open.
        for ((_, took, _), n) in http.done.iter().zip(&http.objects).filter(|(_, n)| **n >= 8) {
            let (took, fastest) = (took.ns() / 1_000_000, 2 + 2 * u64::from((*n - 1).div_ceil(4)));
            assert!((fastest..=fastest + 2).contains(&took), "{n} objects in {took} ms, not {fastest}");
        }
    }

    #[test]
    fn without_persistence_each_object_has_its_own_connection() {
        let mut http = Driver::new("http", &[("persistent", Value::Bool(false))]);
        http.run(secs(60_000));
        assert_eq!(http.opened, http.objects.iter().map(|n| u64::from(*n)).sum::<u64>());
        assert_eq!((http.most_open, http.open), (1, 0));
    }

    #[test]
    fn a_page_that_loses_a_connection_is_given_up_and_what_it_draws_does_not_depend_on_that() {
        let run = |lose| {
            let mut http = Driver::new("http", &[("connections", Value::Int(3))]);
            http.lose_next = lose;
            http.run(secs(6_000));
            http
        };
        let (whole, hurt) = (run(0), run(5));
        assert_eq!((hurt.lost, whole.done.len() - hurt.done.len()), (5, 5));
        assert_eq!(
            whole.done[5..].iter().map(|page| page.2).collect::<Vec<_>>(),
            hurt.done.iter().map(|page| page.2).collect::<Vec<_>>()
        );
        assert!(hurt.done.iter().all(|(_, _, bytes)| *bytes > Bytes::ZERO));
    }

    #[test]
    fn after_the_end_the_page_under_way_comes_and_connections_are_closed() {
        let mut http = Driver::new("http", &[("page_every", Value::Time(Dur::from_ms(20)))]);
        http.stop_at = secs(1);
        http.run(secs(100));
        let last = http.done.last().expect("there were pages");
        assert!(last.0 <= secs(1) && last.0 + last.1 >= secs(1) - Dur::from_ms(200));
        assert_eq!(http.open, 0);
    }
}
