//! FastACK: the access point acknowledges a download to its sender when the MAC has delivered it, keeps a copy until the client's own ACK
//! covers it, and drops that ACK behind itself.
//!
//! - **Source** @BHA17: Bhartia, Chen, Wang, Pallas, Musaloiu-E, Lai & Ma, "Measurement-based, Practical Techniques to Improve 802.11ac
//!   Performance", ACM IMC 2017. Its abstract and the claims of US 10299167 were at hand, not its body: the idea, the copies and the
//!   treatment of the client's ACKs are theirs, every number and rule below is ours.
//! - **Realism** no oracle: MAC reports, TCP headers that pass, the room in its own queue. The client is any client. Nothing for encrypted
//!   headers, UDP, or the access point's own connections. Breaks TCP's promise that an acknowledged byte has reached the other host; it
//!   lies in a copy until it has. Costs `memory` and an ACK on the wire for each `ack_every` segments of a Block Ack.
//! - **Departs**
//!   (a) Nothing is acknowledged without a copy, whatever the client's reorder buffer holds; so one Ack does as well as a Block Ack, and
//!   the scheme works on radios without block acknowledgment, too. Where `memory` is full, what comes is left to the client's own ACKs.
//!   (b) A SYN and a FIN are left to the client: a connection that has closed has delivered everything.
//!   (c) The window told is the client's right edge less what it was told (`told`), so that data of which the client has acknowledged
//!   nothing still counts against its buffer. Data beyond that edge, a probe, goes to the client, and its answer passes.
//!   (d) A client's ACK passes if it says more than was told; with the number told and that window if it brings data, FIN, a change of ECE,
//!   CWR or URG, the answer to a probe, or opens a window that has become small (two segments; or half of the largest, by a quarter).
//!   Duplicates, with SACK blocks or without, are dropped while their hole is in the MAC's hands or in a copy, and pass otherwise, or if
//!   the sender has sent the segment again itself. What the sender repeats of that, and has not been told yet, is dropped the first
//!   time: ACKs made have no SACK blocks, and outrun the client's. Again it goes to the client: what stands before it may have been
//!   acknowledged by way of another access point. ECE stands on ACKs made while the client's last one had it: fractions that count ACKs (DCTCP)
//!   are not kept.
//!   (e) Repairs: what the MAC gave up goes out again at once (`retransmissions` times, unless four exchanges in a row gave up); a copy on
//!   three duplicates that come a round trip after its delivery, and then each further hole of that flight (@RFC6582); the first copy after
//!   a timeout over which the client's ACK stood still (@RFC6298, doubling up to 60 s), for as long as it takes. A copy gets TSval, ACK
//!   number and window of later segments where its own would have it refused (@RFC7323 sec. 5.3, @RFC5961 sec. 5.2). What the queue refuses
//!   is congestion, for the sender to see.
//!   (f) Timestamps: an ACK made echoes the first segment that it answers and has the client's last TSval (@RFC7323 sec. 4.3).
//!   (g) A client that goes over to another access point: the copies go after it over the wire, at once and then seven times one by one over
//!   doubling intervals, since nobody tells this node that they have arrived, and stay here. The new access point acknowledges nothing before the client has; of a
//!   connection with scaled windows whose SYNs it has not heard, hardly anything.
//! - **Bound** of what is acknowledged and never delivered: nothing while the access points live and the client can be reached, unless all
//!   eight rounds of (g) get lost. If this one dies, its copies die with it: at most `memory` a connection, and `acked_lost_bytes` counts
//!   it. A connection that this strikes stands still: after a restart nothing is known here, and nobody can send that data again. What a
//!   client that dies has not acknowledged stays in `acked_held_bytes`.
//! - **Checked** `tests/all/fastack.rs`; `every_scheme`; `world/tests/all/{fastack,lle_delivery}.rs`.

mod conn;

use crate::{Agent, Cx, Field, Info, Key, Kind, Param, Params, PeerEvent, Place, Refusal, Site, Value, What};
use conn::{Conn, flow_of};
use mac::{Fate, TxReport};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use units::{Bytes, Dur, FlowId, NodeId};
use wire::{DropWhy, Flags, Packet, Pkt};

const PARAMS: &[Param] = &[
    Param {
        key: "memory",
        kind: Kind::Size { min: Bytes(3000), max: Bytes(1 << 30) },
        default: Value::Size(Bytes(4_000_000)), // what Linux has under way at most: tcp_wmem, 4 MiB
        doc: "size of the copies kept for each connection; what finds no room is not acknowledged here",
    },
    Param {
        key: "ack_every",
        kind: Kind::Int { min: 1, max: 64 },
        default: Value::Int(2), // @RFC5681 sec. 4.2
        doc: "segments for which one ACK is made; the rest of a Block Ack gets one, too",
    },
    Param {
        key: "min_timeout",
        kind: Kind::Time { min: Dur::from_us(100), max: Dur::from_secs(60) },
        default: Value::Time(Dur::from_ms(250)), // more than ACKs are delayed
        doc: "least time for which the client's ACK stands still before its first copy is sent again",
    },
    Param {
        key: "retransmissions",
        kind: Kind::Int { min: 1, max: 100 },
        default: Value::Int(3),
        doc: "times a segment that the MAC has given up is sent again at once",
    },
];

/// Its declaration.
pub const INFO: Info = Info {
    id: "fastack",
    summary: "the access point acknowledges downloads when the MAC has delivered them, keeps copies and drops the client's ACKs",
    source: "BHA17",
    params: PARAMS,
};

/// An agent wherever packets of TCP are forwarded to or from a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !(site.node.forwards && site.node.has_air) {
        return Ok(());
    }
    site.reads_tcp();
    site.exclusive(What::ACKS);
    let count = |key| u32::try_from(params.int(key)).unwrap_or(u32::MAX);
    let agent = FastAck {
        address: site.node.address,
        limits: Limits {
            memory: params.size("memory"),
            ack_every: count("ack_every"),
            min_timeout: params.time("min_timeout"),
            retransmissions: count("retransmissions"),
        },
        conns: BTreeMap::new(),
        counts: Counts::default(),
    };
    let seat = site.agent(agent).listen([Place::ToAir, Place::FromAir]).reports().room().makes_packets();
    seat.rewrites(Field::Numbers).rewrites(Field::Window).rewrites(Field::Options);
    Ok(())
}

/// The scenario's settings.
#[derive(Debug)]
struct Limits {
    memory: Bytes,
    ack_every: u32,
    min_timeout: Dur,
    retransmissions: u32,
}

/// The counters, over all connections.
#[derive(Debug, Default)]
struct Counts {
    fast_acks: u64,
    segments_acknowledged: u64,
    acks_repeated: u64,
    repeats_dropped: u64,
    acks_suppressed: u64,
    acks_passed: u64,
    repeated_report: u64,
    repeated_dup: u64,
    repeated_timer: u64,
    sent_on: u64,
    uncopied: u64,
    highest_copies_bytes: u64,
    acked_lost_bytes: u64,
}

/// The agent of one access point.
#[derive(Debug)]
struct FastAck {
    address: Ipv4Addr,
    limits: Limits,
    /// By the direction of the data, which goes to the air.
    conns: BTreeMap<FlowId, Conn>,
    counts: Counts,
}

impl FastAck {
    /// Forgets both directions of a connection, which has ended before its copies were needed no longer if it `is_cut`.
    fn forget(&mut self, flow: FlowId, is_cut: bool, cx: &mut Cx) {
        for flow in [flow, flow.reverse()] {
            if let Some(mut conn) = self.conns.remove(&flow) {
                self.counts.acked_lost_bytes += if is_cut { conn.held_bytes() } else { 0 };
                conn.clear(DropWhy::CopyDone, cx);
            }
        }
    }

    /// A segment of a connection that begins, perhaps under an old one's name, or is reset.
    fn turns(&mut self, flow: FlowId, flags: Flags, cx: &mut Cx) {
        if flags.has(Flags::RST) || flags.has(Flags::SYN) && !flags.has(Flags::ACK) {
            self.forget(flow, true, cx);
        }
    }
}

impl Agent for FastAck {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(tcp), Some(peer)) = (packet.tcp(), cx.peer) else { return Some(pkt) };
        let (flow, flags) = (packet.flow, tcp.flags);
        match at {
            Place::ToAir if packet.ip.src != self.address && packet.ip.dst == cx.address(peer) => {
                self.turns(flow, flags, cx);
                if flags.has(Flags::RST) {
                    return Some(pkt);
                }
                self.conns.entry(flow).or_default().sends(pkt, &mut self.counts, cx)
            }
            Place::FromAir if packet.ip.dst != self.address && packet.ip.src == cx.address(peer) => {
                self.turns(flow, flags, cx);
                if flags.has(Flags::RST) {
                    return Some(pkt);
                }
                let (flow, limits) = (flow.reverse(), &self.limits);
                self.conns.entry(flow).or_default().hears(flow, pkt, limits, &mut self.counts, cx)
            }
            _ => Some(pkt),
        }
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, cx: &mut Cx) {
        let Some(range) = packet.tcp_range().filter(|range| !range.is_empty()) else { return };
        let (flow, limits) = (packet.flow, &self.limits);
        let Some(conn) = self.conns.get_mut(&flow) else { return };
        match report.fate {
            Fate::Attempt => {}
            // What went another way has not reached the client.
            Fate::Delivered if packet.ip.dst != cx.address(report.to) => {}
            Fate::Delivered => conn.delivered(flow, packet, range, limits, &mut self.counts, cx),
            fate => conn.dropped(packet, range, fate, limits, &mut self.counts, cx),
        }
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        let (flow, repairs) = flow_of(key);
        let Some(conn) = self.conns.get_mut(&flow) else { return };
        if repairs {
            conn.timer(flow, &self.limits, &mut self.counts, cx);
        } else {
            conn.says_rest(&mut self.counts, cx);
        }
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, cx: &mut Cx) {
        for (flow, conn) in self.conns.iter_mut().filter(|(_, conn)| conn.peer() == Some(node)) {
            if event == PeerEvent::Down {
                conn.leaves(*flow, &self.limits, &mut self.counts, cx);
            } else {
                conn.returns(*flow, &self.limits, cx);
            }
        }
    }

    fn closed(&mut self, flow: FlowId, cx: &mut Cx) {
        self.forget(flow, false, cx);
    }

    fn release(&mut self, cx: &mut Cx) {
        for (_, mut conn) in std::mem::take(&mut self.conns) {
            self.counts.acked_lost_bytes += conn.held_bytes();
            conn.clear(DropWhy::NodeDown, cx);
        }
    }

    fn held(&self) -> u64 {
        self.conns.values().map(Conn::held).sum()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        let counts = &self.counts;
        out("fast_acks", counts.fast_acks);
        out("segments_acknowledged", counts.segments_acknowledged);
        out("acks_repeated", counts.acks_repeated);
        out("sender_retransmissions_dropped", counts.repeats_dropped);
        out("acks_suppressed", counts.acks_suppressed);
        out("acks_passed", counts.acks_passed);
        out("local_retransmissions_report", counts.repeated_report);
        out("local_retransmissions_dup", counts.repeated_dup);
        out("local_retransmissions_timer", counts.repeated_timer);
        out("copies_sent_on", counts.sent_on);
        out("segments_uncopied", counts.uncopied);
        out("highest_copies_bytes", counts.highest_copies_bytes);
        out("acked_held_bytes", self.conns.values().map(Conn::held_bytes).sum());
        out("acked_lost_bytes", counts.acked_lost_bytes);
    }
}
