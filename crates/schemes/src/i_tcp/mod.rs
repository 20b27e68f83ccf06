//! I-TCP: the base station ends every connection between a wired host and a mobile, and goes on with one of its own.
//!
//! - **Source** @BB95: Bakre & Badrinath, "I-TCP: Indirect TCP for Mobile Hosts", ICDCS 1995; @KLI06 sec. 2.4.2 and
//!   tables 2.2, 2.3. Of the paper only the abstract and summaries were at hand.
//! - **Realism** no oracle. Needs readable TCP headers. Breaks TCP's promise: a byte is acknowledged to its sender before
//!   its receiver has it (`acked_not_delivered_bytes`), and is lost if the base station dies (`acked_lost_bytes`).
//!   Costs memory (`buffer`, each way of each connection) and two TCPs' work for every segment.
//! - **Departs**
//!   (a) The split is transparent: both halves use the addresses and ports of the connection. In the paper the mobile's
//!   library asks the Mobility Support Router (MSR) to open it; the fixed host sees no difference.
//!   (b) The opener's SYN is answered when the other end has answered the base station's, so that a refusal stays a
//!   refusal. The SYN to the other end is repeated by the base station's timer, not by the opener's.
//!   (c) No handoff: the paper moves both halves' state to the next MSR. An access point whose neighbour leaves goes on
//!   sending until its timers give up; where stations go over to other access points it is refused.
//!   (d) The wireless half is a plain TCP with the controller `congestion` and the timer bound `min_rto`; the wired half is
//!   the default of `tcp::Config`, whatever the hosts use. Both offer what the opener's SYN offered of timestamps, SACK, scaling and
//!   ECN, and each agrees with its own host.
//!   (e) What the halves send is seen only by schemes listed after this one, and ACKs that those make for a half pass it by:
//!   `snoop` and `eln` belong after it, `lle-tcp` before it.
//!   (f) Streams are virtual. A segment that does not fit the stream, such as one of real bytes, is refused.
//! - **Bound** of what is acknowledged and never delivered if the base station dies: `buffer` for each direction.
//! - **Checked** tests in `tests/all/i_tcp.rs`, `tests/allocations.rs`; `every_scheme`; `world/tests/all/i_tcp.rs`;
//!   docs/schemes/i-tcp.md.
//!
//! The connections taken over are those whose SYN crosses between the radio and a wire. A SYN that came by radio was seen at
//! `FromAir`; its next hop is a radio neighbour if that one was announced (`PeerEvent::Up`). Two stations of one access
//! point, or two wires, are left alone. So is every segment of a connection whose SYN was not taken over: to answer it
//! would end connections that work. One that *was* taken over is never forgotten while the base station lives, and what
//! comes when it is over is answered as by a closed port: were it let through, the two ends, whose numbers have nothing to
//! do with each other, would answer each other's ACKs for ever.

mod split;

use crate::{Agent, Cx, Info, Key, Kind, Param, Params, PeerEvent, Place, Refusal, Site, Value};
use plugin::Chosen;
use split::Split;
use std::collections::{BTreeMap, BTreeSet};
use tcp::{Config, cc};
use units::{Bytes, Dur, FlowId, NodeId, SimTime};
use wire::{DropWhy, Flags, Pkt, Seq, Tcp};

/// Least MSS the base station announces: a datagram of 1500 B, as `tcp::Config`. An opener that announces more is believed
/// to know its network.
const MSS: u16 = 1460;

/// Its declaration.
pub const INFO: Info = Info {
    id: "i-tcp",
    summary: "the base station splits connections between wires and radio into two, each with its own recovery",
    source: "BB95",
    params: &[
        Param {
            key: "buffer",
            // Each half of it is a TCP buffer. @RFC7323 sec. 2.3: at most 1 GiB
            kind: Kind::Size { min: Bytes::ZERO, max: Bytes(2 << 30) },
            default: Value::Size(Bytes(131_072)),
            doc: "bytes held at most between the two halves of a connection, each direction: half of it received, half of \
                  it sent and not acknowledged; at least two full segments",
        },
        Param {
            key: "congestion",
            kind: Kind::Choice(cc::NAMES),
            default: Value::Choice("reno"),
            doc: "congestion control of the half that faces the radio",
        },
        Param {
            key: "min_rto",
            // tcp::Config: the greatest RTO is 60 s.
            kind: Kind::Time { min: Dur::from_ns(1), max: Dur::from_secs(60) },
            default: Value::Time(Dur::from_secs(1)),
            doc: "least retransmission timeout of the half that faces the radio",
        },
    ],
};

/// An agent wherever packets are forwarded by radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.forwards && site.node.has_air {
        site.reads_tcp();
        site.ends_connections();
        site.agent(ITcp::new(params)).listen([Place::Transit, Place::FromAir]).makes_packets();
    }
    Ok(())
}

/// The counters.
#[derive(Debug, Default)]
struct Books {
    connections_split: u64,
    connections_failed: u64,
    forwarded_bytes: u64,
    segments_consumed: u64,
    segments_refused: u64,
    segments_made: u64,
    acked_not_delivered_bytes: u64,
    highest_acked_not_delivered_bytes: u64,
    acked_lost_bytes: u64,
    /// Timeouts of connections that are forgotten: wireless halves, wired halves.
    timeouts: [u64; 2],
    /// See `timeouts`.
    retransmissions: [u64; 2],
}

impl Books {
    /// Keeps what the machines of a connection that is forgotten have counted.
    fn close(&mut self, split: &Split) {
        for (at, machine) in split.machines().into_iter().enumerate() {
            self.timeouts[at] += machine.counters().timeouts;
            self.retransmissions[at] += machine.counters().retransmissions;
        }
    }
}

/// The base station's end of all connections it has split.
#[derive(Debug)]
struct ITcp {
    /// The buffer of each half.
    buffer: Bytes,
    congestion: Chosen<cc::Make>,
    min_rto: Dur,
    /// Connections by their even direction.
    splits: BTreeMap<FlowId, Split>,
    /// The last SYN of each direction that came by radio, by its serial.
    by_air: BTreeMap<FlowId, u64>,
    /// Neighbours by radio.
    in_reach: BTreeSet<NodeId>,
    books: Books,
}

/// True for a SYN that opens a connection.
fn opens(tcp: &Tcp) -> bool {
    tcp.flags.has(Flags::SYN) && !tcp.flags.any(Flags::ACK | Flags::RST)
}

/// An initial number of the direction `flow`: the clock of 4 µs and something of the connection's. @RFC9293 sec. 3.4.1
fn initial_sequence(now: SimTime, flow: FlowId) -> Seq {
    // Fibonacci hashing (Knuth vol. 3 sec. 6.4): neighbouring ids lie far apart.
    Seq((now.ns() / 4000) as u32) + (flow.0 + 1).wrapping_mul(0x9e37_79b9)
}

impl ITcp {
    fn new(params: &Params) -> ITcp {
        let congestion = cc::find(params.choice("congestion")).expect("the parameter is one of the names");
        ITcp {
            buffer: Bytes(params.size("buffer").0 / 2),
            congestion,
            min_rto: params.time("min_rto"),
            splits: BTreeMap::new(),
            by_air: BTreeMap::new(),
            in_reach: BTreeSet::new(),
            books: Books::default(),
        }
    }

    /// The half that sends on `flow` of a connection that `syn` opens.
    fn config(&self, syn: &Tcp, is_wireless: bool, flow: FlowId, now: SimTime) -> Config {
        let mss = syn.options.mss().unwrap_or(MSS).clamp(MSS, 65_495);
        let buffer = self.buffer.max(Bytes(u64::from(mss)));
        // The smallest shift that tells the whole buffer. @RFC7323 sec. 2.2
        let shift = (0..14).find(|shift| buffer.0 >> shift <= 0xffff).unwrap_or(14);
        let plain = Config {
            mss,
            send_buffer: buffer,
            receive_buffer: buffer,
            timestamps: syn.options.timestamps().is_some(),
            sack: syn.options.sack_permitted(),
            ecn: syn.flags.has(Flags::ECE | Flags::CWR), // @RFC3168 sec. 6.1.1
            window_scale: syn.options.window_scale().map(|_| shift),
            initial_sequence: initial_sequence(now, flow),
            ..Config::default()
        };
        if is_wireless {
            Config { congestion: self.congestion.clone(), min_rto: self.min_rto, ..plain }
        } else {
            plain
        }
    }

    /// A SYN of a connection that is not split, or whose split is over: takes it over if it crosses from the radio to a
    /// wire or back.
    fn opening(&mut self, pkt: &Pkt, syn: &Tcp, cx: &Cx) {
        let packet = cx.get(pkt);
        let flow = packet.flow;
        let came_by_air = self.by_air.remove(&flow) == Some(cx.serial(pkt));
        let goes_by_air = cx.peer.is_some_and(|peer| self.in_reach.contains(&peer));
        if let Some(last) = self.splits.remove(&even(flow)) {
            self.books.close(&last);
        }
        if came_by_air != goes_by_air {
            let near = self.config(syn, came_by_air, flow.reverse(), cx.now);
            let far = self.config(syn, goes_by_air, flow, cx.now);
            self.splits.insert(even(flow), Split::new(packet, syn, [near, far], came_by_air));
            self.books.connections_split += 1;
        }
    }

    fn forwarded(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let Some(tcp) = packet.tcp().filter(|_| packet.flow != FlowId::NONE) else { return Some(pkt) };
        let connection = even(packet.flow);
        if opens(tcp) && self.splits.get(&connection).is_none_or(Split::is_over) {
            self.opening(&pkt, tcp, cx);
        }
        let Some(split) = self.splits.get_mut(&connection) else { return Some(pkt) };
        if split.segment(packet, tcp, cx.now, &mut self.books) {
            self.books.segments_consumed += 1;
        } else {
            self.books.segments_refused += 1;
        }
        cx.drop(pkt, DropWhy::Consumed);
        split.settle(cx, &mut self.books);
        None
    }
}

/// The even direction of a connection, by which both are known.
fn even(flow: FlowId) -> FlowId {
    FlowId(flow.0 & !1)
}

impl Agent for ITcp {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        if at == Place::Transit {
            return self.forwarded(pkt, cx);
        }
        let packet = cx.get(&pkt);
        if packet.tcp().is_some_and(opens) {
            self.by_air.insert(packet.flow, cx.serial(&pkt));
        }
        Some(pkt)
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        let flow = FlowId(key.0 as u32);
        if let Some(split) = self.splits.get_mut(&even(flow)) {
            split.timer(flow, cx.now);
            split.settle(cx, &mut self.books);
        }
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        match event {
            PeerEvent::Up(_) => _ = self.in_reach.insert(node),
            PeerEvent::Down => _ = self.in_reach.remove(&node),
        }
    }

    fn release(&mut self, _: &mut Cx) {
        for split in self.splits.values_mut() {
            if !split.is_over() {
                split.lose(&mut self.books);
            }
            self.books.close(split);
        }
        self.splits.clear();
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let books = &self.books;
        let sum = |of: fn(&tcp::Counters) -> u64, done: [u64; 2]| {
            self.splits.values().map(Split::machines).fold(done, |sum, machines| {
                [sum[0] + of(&machines[0].counters()), sum[1] + of(&machines[1].counters())]
            })
        };
        let timeouts = sum(|counters| counters.timeouts, books.timeouts);
        let retransmissions = sum(|counters| counters.retransmissions, books.retransmissions);
        out("connections_split", books.connections_split);
        out("connections_failed", books.connections_failed);
        out("forwarded_bytes", books.forwarded_bytes);
        out("segments_consumed", books.segments_consumed);
        out("segments_refused", books.segments_refused);
        out("segments_made", books.segments_made);
        out("acked_not_delivered_bytes", books.acked_not_delivered_bytes);
        out("highest_acked_not_delivered_bytes", books.highest_acked_not_delivered_bytes);
        out("acked_lost_bytes", books.acked_lost_bytes);
        out("wireless_timeouts", timeouts[0]);
        out("wired_timeouts", timeouts[1]);
        out("wireless_retransmissions", retransmissions[0]);
        out("wired_retransmissions", retransmissions[1]);
    }
}
