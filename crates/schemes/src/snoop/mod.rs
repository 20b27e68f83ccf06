//! Snoop: the base station keeps copies of TCP data on its way to mobiles, repeats what the air lost and hides the loss
//! from the sender.
//!
//! - **Source** @BSAK95: Balakrishnan, Seshan, Amir & Katz, "Improving TCP/IP Performance over Wireless Networks", ACM
//!   MobiCom 1995; @BPSK97: Balakrishnan, Padmanabhan, Seshan & Katz, "A Comparison of Mechanisms for Improving TCP
//!   Performance over Wireless Links", IEEE/ACM ToN 5(6), 1997 (@KLI06 sec. 2.4.1). Numbers the papers leave open are those of the
//!   first author's own module in ns-2.35 (`tcp/snoop.{h,cc}`, `tcl/lan/ns-ll.tcl`), cited as @NS2.
//! - **Realism** no oracle: it reads IP and TCP headers that pass and the room in its own queue. Encrypted traffic, UDP and
//!   the base station's own connections pass untouched. All its state is soft: what is lost of it costs speed, not data.
//! - **Departs**
//!   (a) A repetition goes ahead of what waits in the transmit queue, as in @BSAK95; the duplicates to expect are those for
//!   what had left the queue by then (with `priority = false`, of all that was sent behind the lost packet).
//!   (b) A duplicate beyond those expected was sent for a packet *behind* the repetition, so that is lost too and goes out
//!   again; @NS2 lets such duplicates pass.
//!   (c) A packet that arrived twice is answered with a duplicate as well. As many as there were repetitions do not
//!   start one, until data sent after them is acknowledged: one spurious repetition would beget the next for ever.
//!   (d) A duplicate is one by @RFC5681 sec. 2. What changes the window or the echo of congestion (ECE) passes; so does
//!   everything while the window is closed, and nothing is kept then: probes of a closed window are the two ends' business.
//!   (e) SACK blocks that show a hole about to be repaired here are blanked in ACKs that pass (`sack = "hide"`): the
//!   papers' senders had none, and today's retransmit on three blocks above a hole (@RFC6675 sec. 5) without a duplicate.
//!   (f) What its own queue has no room for is not kept (as @NS2), nor repeated: congestion must stay visible.
//!   (g) One timer a connection for the packet after the last ACK, restarted by every advance (as @NS2); the RTT is
//!   sampled by every ACK of packets sent once, gains as @RFC6298. @BSAK95 has a second, coarse timer for idle connections.
//!   (h) Old data from the sender is answered with the last ACK, as in @BSAK95; a probe (one byte at most) passes.
//!   (i) Data *from* the mobile is left alone. The 1995 paper has the base station write SACKs to the mobile: a SACK for what
//!   is later lost on the wire leaves that loss to a timeout, and the mobile cuts its window all the same. The 1997 one
//!   replaced it by explicit loss notification, which is a scheme of its own and can sit beside this one.
//!   (j) A copy goes out with the latest timestamp that the mobile has echoed, if its own is older: where the sender has repeated an
//!   earlier loss since, the mobile refuses older ones (@RFC7323 sec. 5.3). The papers' TCPs had no timestamps.
//!   (k) `on_report = true`, off by default: repeats at once what the MAC has given up, and forgets what its queue refused.
//! - **Checked** tests in `tests/all/snoop.rs`; `every_scheme`; `world/tests/all/snoop.rs`.

mod conn;
mod express;

use crate::{Agent, Cx, Field, Info, Key, Kind, Param, Params, PeerEvent, Place, Refusal, Site, Value};
use conn::{Conn, Counts, Limits};
use express::{Express, Word};
use mac::{Around, Fate, TxReport};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use units::{Dur, FlowId, NodeId};
use wire::{DropWhy, Flags, Packet, Pkt};

const PARAMS: &[Param] = &[
    Param {
        key: "cache",
        kind: Kind::Int { min: 1, max: 100_000 },
        default: Value::Int(100), // @NS2: SNOOP_MAXWIND
        doc: "packets kept for each connection; later ones go uncached until there is room",
    },
    Param {
        key: "dup_ack_threshold",
        kind: Kind::Int { min: 1, max: 3 },
        default: Value::Int(1),
        doc: "which duplicate ACK starts a local retransmission; those before it reach the sender",
    },
    Param {
        key: "min_timeout",
        kind: Kind::Time { min: Dur::from_us(100), max: Dur::from_secs(60) },
        default: Value::Time(Dur::from_ms(100)), // @NS2: snoopTick_
        doc: "least time without an advance before the local timer retransmits",
    },
    Param {
        key: "max_retransmissions",
        kind: Kind::Int { min: 1, max: 100 },
        default: Value::Int(10), // @NS2: SNOOP_MAX_RXMIT
        doc: "local retransmissions of a packet before the connection's loss is left to its sender",
    },
    Param {
        key: "sack",
        kind: Kind::Choice(&["hide", "keep"]),
        default: Value::Choice("hide"),
        doc: "whether SACK blocks are blanked while the hole they show is repaired here",
    },
    Param {
        key: "priority",
        kind: Kind::Bool,
        default: Value::Bool(true),
        doc: "whether local retransmissions go ahead of what waits in the transmit queue",
    },
    Param {
        key: "on_report",
        kind: Kind::Bool,
        default: Value::Bool(false),
        doc: "retransmit as soon as the MAC gives a packet up; not part of the published Snoop",
    },
];

/// Its declaration.
pub const INFO: Info = Info {
    id: "snoop",
    summary: "the base station repeats data the air lost and absorbs the duplicate ACKs",
    source: "BSAK95; BPSK97 sec. III-B",
    params: PARAMS,
};

/// An agent wherever packets are forwarded to or from a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !(site.node.forwards && site.node.has_air) {
        return Ok(());
    }
    let snoop = Snoop::new(site.node.address, params);
    let word = snoop.limits.word.clone();
    site.reads_tcp();
    let seat = site.agent(snoop).listen([Place::ToAir, Place::FromAir]);
    let seat = seat.room().makes_packets().rewrites(Field::Options);
    if params.bool("on_report") {
        seat.reports();
    }
    if params.bool("priority") {
        site.wrap_queue(move |inner| Box::new(Around::new(inner, Express::new(word.clone()))));
    }
    Ok(())
}

/// The agent of one base station.
#[derive(Debug)]
pub struct Snoop {
    /// True if it hears the MAC's reports.
    on_report: bool,
    address: Ipv4Addr,
    limits: Limits,
    /// By the direction of the data, which goes to the air.
    conns: BTreeMap<FlowId, Conn>,
    counts: Counts,
}

impl Snoop {
    fn new(address: Ipv4Addr, params: &Params) -> Snoop {
        let count = |key| u32::try_from(params.int(key)).unwrap_or(u32::MAX);
        Snoop {
            on_report: params.bool("on_report"),
            address,
            limits: Limits {
                cache: count("cache") as usize,
                dup_acks: count("dup_ack_threshold"),
                min_timeout: params.time("min_timeout"),
                retransmissions: count("max_retransmissions"),
                hides_sack: params.choice("sack") == "hide",
                word: Word::default(),
            },
            conns: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    /// Forgets both directions of a connection.
    fn forget(&mut self, flow: FlowId, cx: &mut Cx) {
        for flow in [flow, flow.reverse()] {
            if let Some(mut conn) = self.conns.remove(&flow) {
                conn.clear(DropWhy::CopyDone, cx);
            }
        }
    }

    fn data(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (flow, is_data) = (packet.flow, packet.tcp_range().is_some_and(|range| !range.is_empty()));
        let Some(tcp) = packet.tcp() else { return Some(pkt) };
        // A connection begins, perhaps under an old one's name, or ends.
        if tcp.flags.any(Flags::SYN | Flags::RST) {
            self.forget(flow, cx);
            return Some(pkt);
        }
        if !is_data {
            return Some(pkt);
        }
        self.conns.entry(flow).or_default().sends(flow, pkt, &self.limits, &mut self.counts, cx)
    }

    fn ack(&mut self, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let flow = packet.flow.reverse();
        let Some(&tcp) = packet.tcp() else { return Some(pkt) };
        if tcp.flags.any(Flags::SYN | Flags::RST) {
            self.forget(flow, cx);
        }
        if !tcp.flags.has(Flags::ACK) || tcp.flags.has(Flags::RST) {
            return Some(pkt);
        }
        let conn = self.conns.entry(flow).or_default();
        let passed = conn.hears(flow, pkt, &self.limits, &mut self.counts, cx);
        if conn.is_over() {
            self.conns.remove(&flow);
        }
        passed
    }
}

impl Agent for Snoop {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let is_in_transit = packet.ip.src != self.address && packet.ip.dst != self.address;
        match at {
            Place::ToAir if is_in_transit => self.data(pkt, cx),
            Place::FromAir if is_in_transit => self.ack(pkt, cx),
            _ => Some(pkt),
        }
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, cx: &mut Cx) {
        let (Some(tcp), Some(conn)) = (packet.tcp(), self.conns.get_mut(&packet.flow)) else { return };
        match report.fate {
            Fate::GivenUp => conn.was_given_up(packet.flow, tcp.seq, &self.limits, &mut self.counts, cx),
            Fate::QueueFull | Fate::Expired => conn.was_refused(tcp.seq, &mut self.counts, cx),
            Fate::Delivered | Fate::Attempt => {}
        }
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        let flow = FlowId(key.0 as u32);
        if let Some(conn) = self.conns.get_mut(&flow) {
            conn.timer(flow, &self.limits, &mut self.counts, cx);
        }
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, cx: &mut Cx) {
        if event != PeerEvent::Down {
            return;
        }
        self.conns.retain(|_, conn| {
            let stays = conn.peer() != Some(node);
            if !stays {
                conn.clear(DropWhy::CopyDone, cx);
            }
            stays
        });
    }

    fn closed(&mut self, flow: FlowId, cx: &mut Cx) {
        self.forget(flow, cx);
        self.limits.word.forget(flow);
    }

    fn release(&mut self, cx: &mut Cx) {
        for (_, mut conn) in std::mem::take(&mut self.conns) {
            conn.clear(DropWhy::NodeDown, cx);
        }
    }

    fn held(&self) -> u64 {
        self.conns.values().map(Conn::held).sum()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.counts.tell(out);
        if self.on_report {
            out("local_retransmissions_report", self.counts.local_report);
        }
    }
}
