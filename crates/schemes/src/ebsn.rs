//! EBSN: while the radio fails, the base station keeps telling the TCP source, which puts its retransmission timer off.
//!
//! - **Source** @BKVP97: Bakshi, Krishna, Vaidya & Pradhan, "Improving performance of TCP over wireless networks", Proc.
//!   17th ICDCS, 1997; as @KLI06 sec. 2.4.2 tells it. The paper itself was not at hand.
//! - **Realism** no oracle; needs readable TCP headers at the base station and a way back for ICMP, which firewalls may
//!   not give. Any host that can guess a connection can keep its timer from expiring: nothing authenticates a notice.
//! - **Departs**
//!   (a) The notice is an ICMP message of a type for experiments, 253 with code 0 (@RFC4727 sec. 3.2), since none was ever
//!   assigned; it quotes the segment as an error message does (@RFC792).
//!   (b) The paper's link repeats until it succeeds or a generous limit is reached. An 802.11 MAC gives up after a few
//!   attempts (`max_attempts`), and what it gave up on is still TCP's to repeat, by duplicate ACKs or by the timer. With
//!   many holes over a long path that costs more than the timeout would have: docs/schemes/ebsn.md.
//!   (c) `min_interval` spaces the notices of a flow. Zero, the default, is the paper's rule: one for each failure.
//! - **Bound** A source that is itself the station with the radio gets no notice: the scheme is between a base station and
//!   a source elsewhere. Nor does a failure of SYN or ACK, which carry no data, cause one; nor that of a notice.
//! - **Checked** `tests/all/ebsn.rs`; `every_scheme`; `world/tests/all/notices.rs`; figures in docs/schemes/ebsn.md.

use crate::{Agent, Cx, Info, Kind, Param, Params, Place, Refusal, Site, Toward, Value};
use mac::TxReport;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use tcp::SenderCommand;
use units::{Dur, FlowId, SimTime};
use wire::{DropWhy, NoticeKind, Packet, Pkt};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ebsn",
    summary: "a message to the source for each failed attempt of its data by radio; the source re-arms its timer",
    source: "BKVP97",
    params: &[Param {
        key: "min_interval",
        kind: Kind::Time { min: Dur::ZERO, max: Dur::from_secs(1000) },
        default: Value::Time(Dur::ZERO),
        doc: "least time between two notices about a flow; zero: one for each failed attempt",
    }],
};

/// The type and code of a notice.
const NOTICE: (NoticeKind, u8) = (NoticeKind::Experiment1, 0);

/// The notifier at a node with a radio that forwards; the source's half at a node where flows have an end.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    let gives_notice = site.node.forwards && site.node.has_air;
    let heeds = site.node.starts_flows || site.node.ends_flows;
    if !gives_notice && !heeds {
        return Ok(());
    }
    let (address, min_interval) = (site.node.address, params.time("min_interval"));
    site.reads_tcp();
    let ebsn = Ebsn { gives_notice, address, min_interval, last: BTreeMap::new(), notices: 0 };
    let mut seat = site.agent(ebsn).makes_packets();
    if gives_notice {
        seat = seat.attempts();
    }
    if heeds {
        seat.listen([Place::ToHost]).facts().commands();
    }
    Ok(())
}

/// At a base station it gives notice, at a host it heeds; a node may be both.
#[derive(Debug)]
struct Ebsn {
    gives_notice: bool,
    address: Ipv4Addr,
    min_interval: Dur,
    /// The time of the latest notice about a flow of data.
    last: BTreeMap<FlowId, SimTime>,
    notices: u64,
}

impl Ebsn {
    /// Takes the turn of a notice about `flow`; the next one is due `min_interval` later at the earliest. Returns true if it was due.
    fn take_turn(&mut self, now: SimTime, flow: FlowId) -> bool {
        let is_due = self.last.get(&flow).is_none_or(|last| *last + self.min_interval <= now);
        if is_due {
            self.last.insert(flow, now);
        }
        is_due
    }
}

impl Agent for Ebsn {
    fn report(&mut self, packet: &Packet, _: &TxReport, cx: &mut Cx) {
        // Of all reports only those of failed attempts were asked for; the last of them comes before the MAC gives up.
        let is_ours = packet.tcp_data().is_some() && packet.ip.src != self.address;
        if !is_ours || !self.take_turn(cx.now, packet.flow) {
            return;
        }
        let (kind, code) = NOTICE;
        if let Some(notice) = packet.notice_of(self.address, kind, code) {
            let pkt = cx.make(notice);
            cx.inject(pkt, Toward::Route);
            self.notices += 1;
        }
    }

    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let is_notice = packet.notice().is_some_and(|notice| (notice.kind, notice.code) == NOTICE);
        // A notice runs against the data it is about.
        let data = packet.flow.reverse();
        if !is_notice || cx.facts(data).is_none() {
            return Some(pkt);
        }
        cx.command(data, SenderCommand::RearmRto);
        cx.drop(pkt, DropWhy::Consumed);
        None
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        if self.gives_notice {
            out("notices", self.notices);
        }
    }
}
