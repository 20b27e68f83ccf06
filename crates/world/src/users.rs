//! Users: what a flow keeps of one, and what a connection of theirs keeps of its user. docs/design/traffic.md

use crate::latency::Histogram;
use crate::record::{Cell, Record};
use engine::Stream;
use tcp::Counters;
use traffic::{Conn, Model};
use units::{Bytes, Dur, FlowId};
use wire::Seq;

/// What a connection knows of its user.
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

/// What the servers' ends of a user's connections have counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    segments: u64,
    retransmissions: u64,
    timeouts: u64,
    fast_retransmits: u64,
    rtt_samples: u64,
    rtt_sum: Dur,
}

impl Totals {
    /// Those of one more.
    #[must_use]
    pub fn with(self, counters: &Counters) -> Totals {
        Totals {
            segments: self.segments + counters.data_segments_sent,
            retransmissions: self.retransmissions + counters.retransmissions,
            timeouts: self.timeouts + counters.timeouts,
            fast_retransmits: self.fast_retransmits + counters.fast_retransmits,
            rtt_samples: self.rtt_samples + counters.rtt_samples,
            rtt_sum: self.rtt_sum + counters.rtt_sum,
        }
    }

    fn since(self, then: Totals) -> Totals {
        Totals {
            segments: self.segments - then.segments,
            retransmissions: self.retransmissions - then.retransmissions,
            timeouts: self.timeouts - then.timeouts,
            fast_retransmits: self.fast_retransmits - then.fast_retransmits,
            rtt_samples: self.rtt_samples - then.rtt_samples,
            rtt_sum: self.rtt_sum - then.rtt_sum,
        }
    }
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
    config: tcp::Config,
    /// For initial sequence numbers.
    draws: Stream,
    opened: u64,
    lost: u64,
    open: u32,
    most_open: u32,
    transfers: Transfers,
    /// Of connections that have closed.
    closed: Totals,
    /// Of all, when warm-up ended.
    warm: Totals,
}

impl User {
    /// One whose connections have this configuration.
    pub fn new(model: Box<dyn Model>, config: tcp::Config, draws: Stream) -> User {
        User {
            model,
            conns: Vec::new(),
            config,
            draws,
            opened: 0,
            lost: 0,
            open: 0,
            most_open: 0,
            transfers: Transfers::new(),
            closed: Totals::default(),
            warm: Totals::default(),
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

    /// One connection more: how many there were before it, and a configuration for each of its ends.
    pub fn opens(&mut self) -> (u64, [tcp::Config; 2]) {
        let before = self.opened;
        self.opened += 1;
        self.open += 1;
        self.most_open = self.most_open.max(self.open);
        let configs = [(); 2].map(|()| {
            let drawn = self.draws.below(1 << 16) << 16 | self.draws.below(1 << 16);
            tcp::Config { initial_sequence: Seq(drawn), ..self.config.clone() }
        });
        (before, configs)
    }

    /// A connection has closed; `has_failed`: not as it should.
    pub fn closed(&mut self, server: &Counters, has_failed: bool) {
        self.open -= 1;
        self.lost += u64::from(has_failed);
        self.closed = self.closed.with(server);
    }

    /// A file, page or message is complete.
    pub fn done(&mut self, took: Dur, bytes: Bytes) {
        self.transfers.times.put(took);
        self.transfers.count += 1;
        self.transfers.sum += took;
        self.transfers.bytes += bytes;
    }

    /// Of connections that have closed.
    pub fn totals(&self) -> Totals {
        self.closed
    }

    /// What is counted from now on is measured; `all`: by all connections so far.
    pub fn note_warm(&mut self, all: Totals) {
        (self.warm, self.transfers) = (all, Transfers::new());
    }

    /// The columns of its flow; `all`: of all connections.
    pub fn record(&self, all: Totals) -> Record {
        let now = all.since(self.warm);
        let Transfers { times, count, sum, bytes } = &self.transfers;
        let mean = |sum: Dur, n: u64| Cell::Real(if n == 0 { f64::NAN } else { sum.as_secs_f64() / n as f64 });
        vec![
            ("transfers", Cell::Count(*count)),
            ("transfer_time_mean_s", mean(*sum, *count)),
            ("transfer_time_p50_s", Cell::Real(times.quantile(0.5))),
            ("transfer_time_p95_s", Cell::Real(times.quantile(0.95))),
            ("transfer_time_p99_s", Cell::Real(times.quantile(0.99))),
            ("transfer_bytes", Cell::Count(bytes.0)),
            ("connections_total", Cell::Count(self.opened)),
            ("connections_lost_total", Cell::Count(self.lost)),
            ("connections_open_most_total", Cell::Count(u64::from(self.most_open))),
            ("segments_sent", Cell::Count(now.segments)),
            ("retransmissions", Cell::Count(now.retransmissions)),
            ("retransmissions_total", Cell::Count(all.retransmissions)),
            ("timeouts", Cell::Count(now.timeouts)),
            ("fast_retransmits", Cell::Count(now.fast_retransmits)),
            ("rtt_samples", Cell::Count(now.rtt_samples)),
            ("rtt_mean_s", mean(now.rtt_sum, now.rtt_samples)),
        ]
    }
}
