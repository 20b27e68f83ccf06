//! Users: what a flow keeps of one, and what a connection of theirs keeps of its user. docs/design/traffic.md

use crate::latency::Histogram;
use crate::record::mean_s;
use engine::Stream;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tcp::{Connection, Counters};
use traffic::{Conn, Model};
use units::{Bytes, Dur, FlowId};
use wire::Seq;

/// The facts that a connection has of its user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Child {
    /// The place of the user's flow.
    pub user: u32,
    /// Its number at the user; `None` once the user has closed it.
    pub conn: Option<Conn>,
    /// Bytes of the request that the server has not got yet.
    pub request: u64,
    /// Bytes of the response to it.
    pub response: u64,
    /// Bytes of the response that the client has not got yet.
    pub missing: u64,
}

/// Files, pages or messages that ended.
#[derive(Debug)]
struct Transfers {
    times: Histogram,
    count: u64,
    sum: Dur,
    bytes: Bytes,
}

impl Transfers {
    fn new() -> Transfers {
        Transfers { times: Histogram::new(), count: 0, sum: Dur::ZERO, bytes: Bytes::ZERO }
    }
}

/// A user.
#[derive(Debug)]
pub(crate) struct User {
    pub model: Box<dyn Model>,
    /// The flow of each of its connections, by number; [`FlowId::NONE`] where there is none.
    pub conns: Vec<FlowId>,
    config: Arc<tcp::Config>,
    /// The sums of the counters of its connections: at the clients' ends, and at the servers'.
    counters: [Rc<RefCell<Counters>>; 2],
    /// For initial sequence numbers.
    draws: Stream,
    opened: u64,
    lost: u64,
    open: u32,
    most_open: u32,
    transfers: Transfers,
    /// The counters of the servers' ends at the end of warm-up.
    warm: Counters,
}

impl User {
    /// One whose connections have this configuration.
    pub fn new(model: Box<dyn Model>, config: Arc<tcp::Config>, draws: Stream) -> User {
        User {
            model,
            conns: Vec::new(),
            config,
            counters: Default::default(),
            draws,
            opened: 0,
            lost: 0,
            open: 0,
            most_open: 0,
            transfers: Transfers::new(),
            warm: Counters::default(),
        }
    }

    /// Sets which flow a connection is.
    pub fn set(&mut self, conn: Conn, flow: FlowId) {
        if self.conns.len() <= conn.index() {
            self.conns.resize(conn.index() + 1, FlowId::NONE);
        }
        self.conns[conn.index()] = flow;
    }

    /// The flow of a connection, which is none's then.
    pub fn take(&mut self, conn: Conn) -> FlowId {
        self.conns.get_mut(conn.index()).map_or(FlowId::NONE, |flow| core::mem::replace(flow, FlowId::NONE))
    }

    /// The number of connections that there have been.
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// The ends of one connection more: the client's, which opens it, and the server's.
    pub fn open(&mut self, ports: [u16; 2]) -> Box<[Connection; 2]> {
        self.opened += 1;
        self.open += 1;
        self.most_open = self.most_open.max(self.open);
        let mut ends = Box::new([
            Connection::open(Arc::clone(&self.config), ports[0], ports[1]),
            Connection::listen(Arc::clone(&self.config), ports[1], ports[0]),
        ]);
        for (end, counters) in ends.iter_mut().zip(&self.counters) {
            end.set_initial_sequence(Seq(self.draws.below(1 << 16) << 16 | self.draws.below(1 << 16)));
            end.count_with(Rc::clone(counters));
        }
        ends
    }

    /// A connection has closed; `has_failed`: not as it should.
    pub fn closed(&mut self, has_failed: bool) {
        self.open -= 1;
        self.lost += u64::from(has_failed);
    }

    /// A file, page or message is complete.
    pub fn done(&mut self, took: Dur, bytes: Bytes) {
        self.transfers.times.put(took);
        self.transfers.count += 1;
        self.transfers.sum += took;
        self.transfers.bytes += bytes;
    }

    /// Begins to measure: the counts before belong to warm-up.
    pub fn note_warm(&mut self) {
        self.warm = *self.counters[1].borrow();
        self.transfers = Transfers::new();
    }

    /// The sums of the counters of the servers' ends, which send the data: now, and at the end of warm-up.
    pub fn servers(&self) -> [Counters; 2] {
        [*self.counters[1].borrow(), self.warm]
    }
}

impl Transfers {
    fn rate_bps(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { 8.0 * self.bytes.0 as f64 / self.sum.as_secs_f64() }
    }
}

columns! { impl User, |it| {
    "transfers": "users: files, pages or messages that ended" => it.transfers.count,
    "transfer_time_mean_s": "users: from the first SYN or request to the last byte" =>
        mean_s(it.transfers.sum, it.transfers.count),
    "transfer_time_p50_s": "users: its median" => it.transfers.times.quantile(0.5),
    "transfer_time_p95_s": "users: its 95th percentile" => it.transfers.times.quantile(0.95),
    "transfer_time_p99_s": "users: its 99th percentile" => it.transfers.times.quantile(0.99),
    "transfer_bytes": whole, "users: bytes of all transfers" => it.transfers.bytes.0,
    "transfer_rate_bps": "users: bytes of all transfers over the time that they took" => it.transfers.rate_bps(),
    "connections_total": "users: connections opened, of the whole run" => it.opened,
    "connections_lost_total": "users: connections that failed, of the whole run" => it.lost,
    "connections_open_most_total": "users: the most connections open at once, of the whole run" =>
        u64::from(it.most_open),
} }
