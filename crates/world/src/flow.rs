//! One flow of a scenario: its two transport ends, what its applications write and read, what is measured.

use crate::ack_gaps::AckGaps;
use crate::latency::Latency;
use crate::scenario::{Reader, Traffic};
use crate::users::{Child, User};
use engine::Stream;
use node::FlowIds;
use schemes::Hooks;
use std::ops::{Deref, DerefMut};
use tcp::Connection;
use units::{BitRate, Bytes, Dur, FlowId, NodeId, SimTime};

/// An application that writes on its side of a flow.
#[derive(Debug)]
pub(crate) struct Source {
    pub traffic: Traffic,
    pub draws: Stream,
    /// Bytes given to the transport.
    pub written: u64,
    /// Its next write.
    pub next: SimTime,
    /// The end of its present burst; before its first write the start of time.
    burst_end: SimTime,
    /// It writes no more.
    pub is_done: bool,
    /// Bytes a bulk source hands down at once.
    chunk: u64,
}

impl Source {
    /// `buffer`: what the transport holds of what it is given. A bulk source gives it more at a time, since it is told when
    /// what had to wait is gone.
    pub fn new(traffic: Traffic, draws: Stream, buffer: Bytes) -> Source {
        Source {
            traffic,
            draws,
            written: 0,
            next: SimTime::NEVER,
            burst_end: SimTime::ZERO,
            is_done: false,
            chunk: (2 * buffer.0).max(1 << 20),
        }
    }

    /// The bytes to write while there is room: bulk only.
    pub fn bulk(&mut self) -> u64 {
        let Traffic::Bulk { bytes } = self.traffic else { return 0 };
        if self.is_done {
            return 0;
        }
        let n = bytes.map_or(self.chunk, |all| (all.0 - self.written).min(self.chunk));
        self.written += n;
        self.is_done = bytes.is_some_and(|all| self.written == all.0);
        n
    }

    /// All it will ever write, if that is known.
    pub fn total(&self) -> Option<u64> {
        if let Traffic::Bulk { bytes: Some(bytes) } = self.traffic { Some(bytes.0) } else { None }
    }

    /// The bytes to write at `next`, which moves on. `unit`: bytes of one datagram or segment, for rates.
    pub fn timed(&mut self, unit: u64) -> u64 {
        let (n, gap) = match self.traffic {
            Traffic::Cbr { rate } => (unit, interval(unit, rate)),
            Traffic::Poisson { rate } => (unit, self.exponential(interval(unit, rate))),
            Traffic::OnOff { rate, on, off } => {
                if self.burst_end == SimTime::ZERO {
                    self.burst_end = self.next + self.exponential(on);
                }
                let mut next = self.next + interval(unit, rate);
                if next >= self.burst_end {
                    next = next.max(self.burst_end + self.exponential(off));
                    self.burst_end = next + self.exponential(on);
                }
                (unit, next.since(self.next))
            }
            Traffic::Chunks { size, every } => (size.0, every),
            Traffic::None | Traffic::Bulk { .. } | Traffic::Saturated => return 0,
        };
        self.next += gap;
        self.written += n;
        n
    }

    /// A time drawn from an exponential distribution of this mean.
    fn exponential(&mut self, mean: Dur) -> Dur {
        Dur::from_ns((self.draws.exponential() * mean.ns() as f64) as u64 + 1)
    }

    /// True if it writes by the clock.
    pub fn is_timed(&self) -> bool {
        use Traffic::{Cbr, Chunks, OnOff, Poisson};
        matches!(self.traffic, Cbr { .. } | Poisson { .. } | OnOff { .. } | Chunks { .. })
    }
}

fn interval(bytes: u64, rate: BitRate) -> Dur {
    Bytes(bytes) / rate
}

/// An application that empties its receive buffer.
#[derive(Debug)]
pub(crate) struct Sink {
    pub reader: Reader,
    /// In order, not read yet.
    pub unread: u64,
    /// Its next read.
    pub next: SimTime,
    pub is_on: bool,
}

/// Bytes a reader at a constant rate takes at once.
const SIP: u64 = 512;

impl Sink {
    pub fn new(reader: Reader) -> Sink {
        Sink { reader, unread: 0, next: SimTime::NEVER, is_on: true }
    }

    /// `len` bytes came in order. Returns how many are read at once.
    pub fn arrived(&mut self, now: SimTime, len: u64) -> u64 {
        match self.reader {
            Reader::Instant => len,
            Reader::OnOff { on, .. } => {
                if self.next == SimTime::NEVER {
                    self.next = now + on;
                }
                if self.is_on {
                    return len;
                }
                self.unread += len;
                0
            }
            Reader::Rate { rate } => {
                self.unread += len;
                if self.next == SimTime::NEVER {
                    self.next = now + interval(SIP, rate);
                }
                0
            }
        }
    }

    /// Its timer went off. Returns how many bytes are read.
    pub fn tick(&mut self, now: SimTime) -> u64 {
        match self.reader {
            Reader::Instant => 0,
            Reader::Rate { rate } => {
                let n = self.unread.min(SIP);
                self.unread -= n;
                self.next = if self.unread > 0 { now + interval(SIP, rate) } else { SimTime::NEVER };
                n
            }
            Reader::OnOff { on, off } => {
                self.is_on = !self.is_on;
                self.next = now + if self.is_on { on } else { off };
                if self.is_on { std::mem::take(&mut self.unread) } else { 0 }
            }
        }
    }
}

/// The deliveries of one direction of a flow, to be read at the end of warm-up and at the end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Delivered {
    /// Payload in order.
    pub payload: u64,
    /// IP bytes of the packets that brought payload for the first time.
    pub datagram: u64,
    /// Those packets.
    pub packets: u64,
}

impl Delivered {
    /// A packet of so many bytes has brought payload for the first time.
    pub fn packet(&mut self, ip_len: u64) {
        self.datagram += ip_len;
        self.packets += 1;
    }
}

/// The transport of a flow.
#[derive(Debug)]
pub(crate) enum Transport {
    /// Two ends: the one that opens, the one that waits.
    Tcp(Box<[Connection; 2]>),
    /// Nothing to keep but a counter of datagrams sent.
    Udp { sent: u64 },
    /// A user at the second end, who opens connections that are flows of their own.
    User(Box<User>),
    /// Nothing to keep: both ends are outside, at a driver.
    Outside,
    /// The flow has closed: nothing is kept of its ends.
    Closed,
}

/// A flow: what its packets need. There may be very many, so what only those of the scenario have stands elsewhere.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The node that opens it, and the other.
    pub ends: [NodeId; 2],
    pub ports: [u16; 2],
    pub ip_id: [u16; 2],
    /// The TOS field of its packets, ECN apart.
    pub tos: u8,
    /// Its connection was lost.
    pub has_failed: bool,
    pub transport: Transport,
    pub owner: Owner,
}

/// The owner of a flow.
#[derive(Debug)]
pub(crate) enum Owner {
    /// The scenario's.
    Scenario(Box<Stated>),
    /// A user's, who opened it. Its first end is the client's.
    User(Child),
    /// A driver's.
    Driver,
}

/// The part of a flow of the scenario that a connection of a user has not: applications, and measurements.
#[derive(Debug)]
pub(crate) struct Stated {
    pub name: String,
    /// Size of a full datagram.
    pub datagram: Bytes,
    /// The writers of the two ends.
    pub sources: [Source; 2],
    /// The readers of the two ends.
    pub sinks: [Sink; 2],
    pub stop: SimTime,
    /// The deliveries at the second end (payload forward), and at the first.
    pub delivered: [Delivered; 2],
    /// The same when warm-up ended.
    pub warm: [Delivered; 2],
    pub warm_counters: [tcp::Counters; 2],
    pub warm_windows: tcp::WindowTime,
    pub is_started: bool,
    /// The time when the second end had all that the first will ever write.
    pub finished: Option<SimTime>,
    /// From sending to the application, forward.
    pub latency: Latency,
    /// The spacing of its ACKs, if that is asked for.
    pub ack_gaps: Option<Box<AckGaps>>,
}

/// All flows of a world, each at its place. A place that is free again is used again, with another generation.
#[derive(Debug)]
pub(crate) struct Flows {
    list: Vec<Flow>,
    ids: FlowIds,
}

impl Flows {
    /// The flows that stand in the scenario: of the first generation, in its order.
    pub fn new(list: Vec<Flow>) -> Flows {
        let ids = FlowIds::first(list.len() as u32);
        Flows { list, ids }
    }

    /// The flow of this direction; `None` if it has closed, or is none of ours.
    pub fn get(&self, id: FlowId) -> Option<&Flow> {
        self.ids.is_open(id).then(|| &self.list[id.connection()])
    }

    /// See [`Flows::get`].
    pub fn get_mut(&mut self, id: FlowId) -> Option<&mut Flow> {
        self.ids.is_open(id).then(|| &mut self.list[id.connection()])
    }

    /// The forward direction of the flow at `place`.
    pub fn id(&self, place: u32) -> FlowId {
        self.ids.at(place)
    }

    /// True if the next flow needs a place of its own.
    pub fn is_full(&self) -> bool {
        self.ids.is_full()
    }

    /// Opens a flow. `make` is told its forward direction. `None` if there is no number for it.
    pub fn open(&mut self, make: impl FnOnce(FlowId) -> Flow) -> Option<FlowId> {
        let id = self.ids.open()?;
        let (place, flow) = (id.connection(), make(id));
        if place < self.list.len() {
            self.list[place] = flow;
            return Some(id);
        }
        if self.list.len() == self.list.capacity() {
            // Not twice as many: there may be very many, and all are there twice while they move.
            self.list.reserve_exact(self.list.len() / 8 + 8);
        }
        self.list.push(flow);
        Some(id)
    }

    /// Closes a flow: packets of it that are still under way belong to nobody. Returns whether it was open.
    pub fn close(&mut self, id: FlowId) -> bool {
        if !self.ids.close(id) {
            return false;
        }
        self.list[id.connection()].transport = Transport::Closed;
        true
    }
}

impl Deref for Flows {
    type Target = [Flow];

    fn deref(&self) -> &[Flow] {
        &self.list
    }
}

impl DerefMut for Flows {
    fn deref_mut(&mut self) -> &mut [Flow] {
        &mut self.list
    }
}

impl Flow {
    /// One with both ends outside.
    pub fn outside(ends: [NodeId; 2]) -> Flow {
        Flow {
            ends,
            ports: [0; 2],
            ip_id: [0; 2],
            tos: 0,
            has_failed: false,
            transport: Transport::Outside,
            owner: Owner::Driver,
        }
    }

    /// Its part as a flow of the scenario; `None` if a user opened it.
    pub fn stated(&self) -> Option<&Stated> {
        match &self.owner {
            Owner::Scenario(stated) => Some(stated),
            Owner::User(_) | Owner::Driver => None,
        }
    }

    /// See [`Flow::stated`].
    pub fn stated_mut(&mut self) -> Option<&mut Stated> {
        match &mut self.owner {
            Owner::Scenario(stated) => Some(stated),
            Owner::User(_) | Owner::Driver => None,
        }
    }

    /// Its part as a user's connection; `None` if it is the scenario's.
    pub fn child_mut(&mut self) -> Option<&mut Child> {
        match &mut self.owner {
            Owner::Scenario(_) | Owner::Driver => None,
            Owner::User(child) => Some(child),
        }
    }

    /// True if both of its ends are outside.
    pub fn is_outside(&self) -> bool {
        matches!(self.transport, Transport::Outside)
    }

    /// One end of its TCP connection.
    pub fn connection(&self, end: usize) -> Option<&Connection> {
        match &self.transport {
            Transport::Tcp(ends) => Some(&ends[end]),
            Transport::Udp { .. } | Transport::User(_) | Transport::Outside | Transport::Closed => None,
        }
    }

    /// True of a user's connection on which nobody will send any more. TIME-WAIT is not waited for: it only keeps late segments
    /// from a connection of the same name, and there is none.
    pub fn is_over(&self) -> bool {
        let (Owner::User(_), Transport::Tcp(ends)) = (&self.owner, &self.transport) else { return false };
        self.has_failed || ends.iter().all(|end| matches!(end.state(), tcp::State::Closed | tcp::State::TimeWait))
    }

    /// Lets the schemes of its two nodes have their say in its senders. `id`: its forward direction; `hooks`: of each node.
    pub fn hook(&mut self, id: FlowId, hooks: &mut [Hooks]) {
        let Transport::Tcp(connections) = &mut self.transport else { return };
        for ((connection, node), way) in connections.iter_mut().zip(self.ends).zip([id, id.reverse()]) {
            if let Some(hook) = hooks[node.index()].sender_hook(way) {
                connection.set_hook(hook);
            }
        }
    }

    /// Bytes of the stream that `from_end` writes, which its TCP holds for acknowledged and the other end has not got.
    /// A negative difference (delivered, not yet acknowledged) is the ordinary case and counts as none.
    pub fn acked_undelivered(&self, from_end: usize) -> u64 {
        match &self.transport {
            Transport::Tcp(ends) => {
                ends[from_end].acknowledged().saturating_sub(ends[1 - from_end].counters().delivered_bytes)
            }
            Transport::Udp { .. } | Transport::User(_) | Transport::Outside | Transport::Closed => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Purpose, Streams};

    #[test]
    fn bursts_and_silences_last_as_long_as_is_drawn() {
        // A datagram of 1000 B each 8 ms while it is on, 1 s of each 3 s.
        let (rate, on, off) = (BitRate::from_kbps(1000), Dur::from_secs(1), Dur::from_secs(2));
        let draws = Streams::new(7).get(Purpose::Traffic, 0);
        let mut source = Source::new(Traffic::OnOff { rate, on, off }, draws, Bytes::ZERO);
        source.next = SimTime::ZERO;
        let times: Vec<f64> = (0..1_000_000)
            .map(|_| {
                let at = source.next.as_secs_f64();
                assert_eq!(source.timed(1000), 1000);
                at
            })
            .collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let silent: Vec<f64> = gaps.iter().copied().filter(|gap| *gap > 0.008_001).collect();
        assert!(gaps.iter().all(|gap| *gap > 0.007_999), "never faster than the rate");
        // Each silence begins somewhere in the interval of the last datagram.
        let mean = silent.iter().sum::<f64>() / silent.len() as f64;
        let deviation =
            libm::sqrt(silent.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / silent.len() as f64);
        assert!((mean - 2.004).abs() < 0.1 && (deviation / mean - 1.0).abs() < 0.05, "{mean} {deviation}");
        let burst = times.len() as f64 / silent.len() as f64 * 0.008;
        assert!(
            (burst - 1.004).abs() < 0.05,
            "a burst has the time drawn and what is left of its last interval: {burst}"
        );
    }
}
