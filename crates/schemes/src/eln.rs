//! ELN: the base station marks ACKs that still wait for what the radio lost, and the TCP sender repeats it without a cut.
//!
//! - **Source** @BK98: Balakrishnan & Katz, "Explicit Loss Notification and Wireless Web Performance", IEEE Globecom
//!   Internet Mini-Conference, 1998; as @KLI06 sec. 2.4.2 tells it; the paper itself was not at hand. What a
//!   sender does with a mark: as `tcp_eln` of ns-2's `Agent/TCP` (`eln_rxmit_thresh_` 1, a number repeated once).
//! - **Realism** no oracle; costs one reserved flag bit ([`Flags::LOSS_NOTICE`]), which firewalls of today may clear, and a
//!   look at every TCP header: nothing is marked where headers are encrypted.
//! - **Departs**
//!   (a) The paper serves data *from* the mobile: numbers missing in what arrives by radio are the radio's losses. Towards
//!   the mobile the station knows better, from its own MAC's reports; that half is ours (`direction = "downlink"`, and by
//!   default both). A packet that found the queue full is congestion and is not marked.
//!   (b) What was missing and has since come in (or was delivered since) is missing no longer. The paper keeps it until it
//!   is acknowledged; then the loss of its repetition on the wire would be marked as the radio's.
//!   (c) Every ACK that waits for a lost number is marked, not duplicates alone: a partial ACK (@RFC6582) is how a sender
//!   hears of the second loss of a window. A mark on anything but a duplicate starts nothing.
//!   (d) The endpoint's own fast recovery does the repair: duplicates inflate the window, where ns-2's sends nothing new.
//! - **Bound** A packet that the *mobile's* own queue had no room for is missing just so, and is marked: the base station
//!   cannot tell. The same holds for a relay behind it.
//! - **Checked** `tests/all/eln.rs`; `every_scheme`; `world/tests/all/notices.rs`; figures in docs/schemes/eln.md.

use crate::{Agent, Cx, Field, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use mac::{Fate, TxReport};
use std::collections::BTreeMap;
use tcp::{FlowFacts, Loss, SenderHook};
use units::FlowId;
use wire::{Flags, Packet, Pkt, Seq, SeqRange, SeqSet};

/// Its declaration.
pub const INFO: Info = Info {
    id: "eln",
    summary: "the base station marks ACKs for what the radio lost; the sender repeats it without a window cut",
    source: "BK98",
    params: &[
        Param {
            key: "direction",
            kind: Kind::Choice(&["uplink", "downlink", "both"]),
            default: Value::Choice("both"),
            doc: "whose data is watched: from the mobile (the paper), towards it (by the MAC's reports), or both",
        },
        Param {
            key: "duplicates",
            kind: Kind::Int { min: 1, max: 3 },
            default: Value::Int(1),
            doc: "marked duplicate ACKs after which a sender repeats; never more than it waits for without marks",
        },
    ],
};

/// The marker at a node with a radio that forwards; the sender's half at a node where flows have an end.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    let marks = site.node.forwards && site.node.has_air;
    let obeys = site.node.starts_flows || site.node.ends_flows;
    if marks || obeys {
        site.reads_tcp();
    }
    if marks {
        let direction = params.choice("direction");
        let (watches_up, watches_down) = (direction != "downlink", direction != "uplink");
        let eln = Eln { watches_up, watches_down, losses: BTreeMap::new(), holes: 0, given_up: 0, marked: 0 };
        let seat = site.agent(eln).listen([Place::ToAir, Place::FromAir]).rewrites(Field::Flags);
        if watches_down {
            seat.reports();
        }
    }
    if obeys {
        let duplicates = params.int("duplicates") as u32;
        site.hook_sender(move |_| Some(Box::new(Obey { marked: None, duplicates })));
    }
    Ok(())
}

/// The losses of one flow of data on the radio.
#[derive(Debug, Default)]
struct Losses {
    /// One past the highest number that has come in by radio.
    top: Option<Seq>,
    /// Numbers before it that have not.
    holes: SeqSet,
    /// Numbers that this node's MAC has given up on.
    given_up: SeqSet,
}

/// A gap no window can leave: the numbers are of another connection. @RFC7323 sec. 2.3
const NO_GAP: u32 = 1 << 30;

impl Losses {
    /// Notes that these numbers have come in by radio. Returns whether some before them have not.
    fn arrived(&mut self, range: SeqRange) -> bool {
        self.holes.remove(range);
        let gap = match self.top {
            Some(top) if top.lt(range.start) => SeqRange { start: top, end: range.start },
            Some(top) if range.end.lt(top) => return false,
            _ => SeqRange { start: range.start, end: range.start },
        };
        self.top = Some(range.end);
        if gap.len() > NO_GAP {
            *self = Losses { top: self.top, ..Losses::default() };
            return false;
        }
        self.holes.insert(gap);
        !gap.is_empty()
    }
}

/// At a base station: marks.
#[derive(Debug)]
struct Eln {
    watches_up: bool,
    watches_down: bool,
    /// By the flow of the data.
    losses: BTreeMap<FlowId, Losses>,
    holes: u64,
    given_up: u64,
    marked: u64,
}

impl Eln {
    /// Takes note of the segment's own numbers, as far as they tell of losses.
    fn data(&mut self, at: Place, packet: &Packet, range: SeqRange, is_syn: bool) {
        if is_syn {
            self.losses.remove(&packet.flow); // a new connection, or the same SYN again
        }
        if at == Place::FromAir && self.watches_up && !range.is_empty() {
            let hole = self.losses.entry(packet.flow).or_default().arrived(range);
            self.holes += u64::from(hole);
        }
    }

    /// Forgets the losses that this ACK acknowledges. Returns true if the radio has lost the segment that it waits for.
    fn note_ack(&mut self, at: Place, data: FlowId, ack: Seq) -> bool {
        let Some(losses) = self.losses.get_mut(&data) else { return false };
        // The mobile's ACKs come in by radio and tell of data towards it; those to it go out and tell of its own.
        let lost = if at == Place::FromAir { &mut losses.given_up } else { &mut losses.holes };
        lost.forget_before(ack);
        lost.contains(ack)
    }
}

impl Agent for Eln {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (Some(tcp), Some(range)) = (packet.tcp(), packet.tcp_range()) else { return Some(pkt) };
        let data = packet.flow.reverse();
        if tcp.flags.has(Flags::RST) {
            self.losses.remove(&packet.flow);
            self.losses.remove(&data);
            return Some(pkt);
        }
        self.data(at, packet, range, tcp.flags.has(Flags::SYN));
        if tcp.flags.has(Flags::ACK)
            && self.note_ack(at, data, tcp.ack)
            && let Some(tcp) = cx.get_mut(&pkt).tcp_mut()
        {
            tcp.flags |= Flags::LOSS_NOTICE;
            self.marked += 1;
        }
        Some(pkt)
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        let (true, Some(_), Some(range)) = (self.watches_down, packet.tcp_data(), packet.tcp_range()) else { return };
        if report.fate == Fate::GivenUp {
            self.losses.entry(packet.flow).or_default().given_up.insert(range);
            self.given_up += 1;
        } else if let Some(losses) = self.losses.get_mut(&packet.flow) {
            // Delivered at last; or its repetition was lost to a queue, and from now on that is why it is missing.
            losses.given_up.remove(range);
        }
    }

    fn closed(&mut self, flow: FlowId, _: &mut Cx) {
        for way in [flow, flow.reverse()] {
            self.losses.remove(&way);
        }
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("uplink_losses", self.holes);
        out("downlink_losses", self.given_up);
        out("acks_marked", self.marked);
    }
}

/// At the sender: believes the latest ACK.
#[derive(Debug)]
struct Obey {
    /// The number that the latest ACK waits for, if it was marked.
    marked: Option<Seq>,
    duplicates: u32,
}

impl SenderHook for Obey {
    fn on_ack(&mut self, ack: &tcp::Ack, _: &FlowFacts) {
        if !ack.local {
            self.marked = ack.flags.has(Flags::LOSS_NOTICE).then_some(ack.number);
        }
    }

    fn on_timeout(&mut self, _: &FlowFacts) {
        self.marked = None; // the repetition is lost too, or the mark came too late: a timeout like any other
    }

    fn dup_ack_threshold(&mut self, configured: u32, _: &FlowFacts) -> u32 {
        if self.marked.is_some() { configured.min(self.duplicates) } else { configured }
    }

    fn loss(&mut self, verdict: Loss, range: SeqRange, _: &FlowFacts) -> Loss {
        if self.marked == Some(range.start) { Loss::Corruption } else { verdict }
    }
}
