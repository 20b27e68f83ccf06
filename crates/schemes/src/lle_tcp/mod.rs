//! LLE-TCP: the MAC's acknowledgment becomes the TCP ACK, so TCP ACKs of data never cross the air.
//!
//! - **Source** @KLI06: Kliazovich, "Cross-layer performance optimization in wireless local area networks", dissertation,
//!   University of Trento 2006, sec. 3.2-3.3. Patents read on access points that make ACKs for others, for
//!   example US 9794758.
//! - **Realism** no oracle: what it knows travelled in packets, MAC reports or the capabilities exchanged at association.
//!   Needs readable TCP headers. Breaks TCP's promise that an acknowledged byte has reached the other *host*: it has
//!   reached the other *station*. A station that dies holds at most the bytes of its `held` packets, see **Bound**.
//! - **Departs**
//!   (a) A piggybacked ACK that is stale is raised to the number already made, not cleared: a segment without the ACK bit
//!   is discarded by any real TCP (@RFC9293 sec. 3.10.7.4), though its data was acknowledged by the MAC; clearing loses
//!   data. `stale_piggyback = "clear"` is the letter of the paper.
//!   (b) An ACK whose window differs from the one announced last passes, not only window exhaustion: the generator repeats
//!   the last window and must know of every change.
//!   (c) Data that the receiver's host does not admit is held by its station until it does, since the generator has acknowledged
//!   it. A *notice* (an ACK with a closed window) goes to the generator at once and all windows are closed while anything is
//!   held; the generator makes no ACKs while it knows the window is closed. After the sender's FIN no notice is given: it has
//!   closed on an ACK made for that, and its resets do not reach a host while its data is held. What is released has the
//!   TSval, the ACK number and the window that its host was told last: an old TSval fails PAWS (@RFC7323 sec. 5), an ACK
//!   number more than a window old is taken for forged (@RFC5961 sec. 5.2), and the data with it would be lost.
//!   (d) None by default: duplicate ACKs made on FAILURE carry no SACK blocks, and a sender that negotiated SACK may ignore them
//!   (@RFC6675 sec. 2); it learns of the loss from those of its receiver, which pass. `sack = "strip"` takes SACK-permitted out of
//!   SYNs, so that they count, at the price of repairs one a round trip. `sack = "make"`, no word of the text's either: ACKs made while
//!   there is a hole have SACK blocks of what the MAC delivered beyond it, and each such delivery makes one. With `keep` the sender
//!   hears of a repair by the MAC's ACK, and of what was sent before it by ACKs that have still to cross the air, so that RACK
//!   (@RFC8985) takes that for lost.
//!   (e) The receiver's strategy is followed by name; its timer and count are taken to be the defaults.
//!   (f) At an access point ACKs are made for what it sends to the station they are for: the last hop (@KLI06 sec. 3.4). What a
//!   station sends through its access point to somebody else is acknowledged by that somebody.
//!   (g) Under block acknowledgment, which the text does not know, SUCCESS is what the receiver's reorder buffer has let go: all older
//!   numbers of its TID acknowledged, or the receiver told not to wait for them. What is acknowledged so late that the receiver may
//!   have lost patience and dropped it, is FAILURE.
//!   (h) With `advertise`, the window told is the least of the receiver's and what the transmit queue has free (@KLI06 sec.
//!   3.3), in bytes, but of the latter at least one segment, or a flow with nothing in flight would never be told more; all ACKs that
//!   pass are bounded alike, duplicates repeat the window told last. `free-buffer` tells each of n flows the whole room, as
//!   printed, so that together they may send n times as much; `free-buffer-share` divides it by the flows that are open.
//!   (i) Where the data of a flow begins to come by another relay, as among nodes that move, all ACKs pass until the MAC has confirmed
//!   one: that relay has heard neither the receiver's numbers nor its window. The text moves its nodes (its Fig. 3.12) and has no rule.
//! - **Bound** of what is acknowledged and never delivered if the receiving station dies, for each flow: what the station
//!   holds of it. Before the first hole that is what arrived between the first packet held and the generator's hearing of the
//!   notice; what was held beyond a hole, and is acknowledged in one go when that closes, lies within a window; so does
//!   what a slow host has not taken in yet, but for the last of it:
//!   `acked_undelivered_bytes` ≤ largest window + datagram + data rate · `slowest_notice_ns`, and datagram + data rate ·
//!   `host_delay` more if there is one.
//!   A *connection* that fails alone (its SYN or a segment sent in vain too often) is no better off: its station goes on
//!   acknowledging what its host answers with a reset.
//! - **Checked** tests in `tests/all/lle_tcp.rs`; `every_scheme`; `world/tests/all/lle_delivery.rs`; experiments `lle-fig-3.*`.

pub(crate) mod filter;
pub(crate) mod generator;

use crate::in_order::Reports;
use crate::{Agent, Cx, Field, Info, Key, Kind, Param, Params, PeerEvent, Place, Refusal, Site, Value, What};
use filter::Filter;
use generator::{Generators, Ways};
use mac::{Fate, TxReport};
use std::net::Ipv4Addr;
use tcp::ack;
use units::{FlowId, NodeId};
use wire::{Flags, Ipv4, Packet, Pkt};

/// To follow the receiving station, or one of the receiver policies.
const STRATEGIES: &[&str] = &{
    let mut all = ["follow"; 1 + ack::NAMES.len()];
    all.split_at_mut(1).1.copy_from_slice(ack::NAMES);
    all
};

/// Its declaration.
pub const INFO: Info = Info {
    id: "lle-tcp",
    summary: "TCP ACKs are made from MAC ACKs at the sending station and suppressed at the receiving one",
    source: "KLI06 sec. 3.2",
    params: &[
        Param {
            key: "strategy",
            kind: Kind::Choice(STRATEGIES),
            default: Value::Choice("follow"),
            doc: "how often an ACK is made: as the receiving station announced, or one of the receiver policies",
        },
        Param {
            key: "stale_piggyback",
            kind: Kind::Choice(&["raise", "clear"]),
            default: Value::Choice("raise"),
            doc: "what happens to an older ACK number on reverse data: raised to the made one, or the ACK flag cleared",
        },
        Param {
            key: "advertise",
            kind: Kind::Choice(&["receiver", "free-buffer", "free-buffer-share"]),
            default: Value::Choice("receiver"),
            doc: "the window told to senders: the receiver's, or no more than the transmit queue has free, in all or by flow",
        },
        Param {
            key: "sack",
            kind: Kind::Choice(&["keep", "make", "strip"]),
            default: Value::Choice("keep"),
            doc: "SACK of sender and receiver is kept; kept, and ACKs that are made have blocks too; or taken out of SYNs",
        },
    ],
};

/// An agent wherever there is a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let announced = site.node.receiver.and_then(|name| ack::NAMES.iter().position(|n| *n == name));
    site.reads_tcp();
    site.announce(announced.map_or(0, |i| i as u32 + 1));
    site.exclusive(What::ACKS);
    let agent = LleTcp::new(site.node.address, site.node.nodes, params);
    let bounds = params.choice("advertise") != "receiver";
    let seat = site.agent(agent).listen([Place::FromHost, Place::ToAir, Place::FromAir]).reports();
    let seat = seat.makes_packets().rewrites(Field::Numbers).rewrites(Field::Window);
    let seat = if bounds { seat.room() } else { seat };
    let seat = if params.choice("sack") == "strip" { seat.rewrites(Field::Options) } else { seat };
    if params.choice("stale_piggyback") == "clear" {
        seat.rewrites(Field::Flags);
    }
    Ok(())
}

/// The ARQ agent of one node: generator of ACKs for data that it sends, filter of ACKs for data that it receives.
#[derive(Debug)]
pub struct LleTcp {
    strips_sack: bool,
    /// The address of this node.
    address: Ipv4Addr,
    /// The neighbours that have an agent of their own, with the policy of their receivers: 1 + its index in
    /// [`ack::NAMES`]; 0 if they have none in common.
    peers: Vec<Option<u32>>,
    reports: Reports,
    generators: Generators,
    filter: Filter,
}

impl LleTcp {
    fn new(address: Ipv4Addr, nodes: usize, params: &Params) -> LleTcp {
        let ways = Ways {
            strategy: params.choice("strategy"),
            clears_stale: params.choice("stale_piggyback") == "clear",
            makes_sack: params.choice("sack") == "make",
        };
        LleTcp {
            strips_sack: params.choice("sack") == "strip",
            address,
            peers: vec![None; nodes],
            generators: Generators::new(ways, params.choice("advertise")),
            filter: Filter::default(),
            reports: Reports::default(),
        }
    }

    /// The policy a neighbour announced, if it has an agent.
    fn partner(&self, peer: Option<NodeId>) -> Option<u32> {
        peer.and_then(|node| *self.peers.get(node.index())?)
    }

    /// Takes a packet on a link without a partner. A router that seeks a way knows no neighbour yet: what the host admits must be heard all
    /// the same.
    #[cold]
    fn strange(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let is_heard = at == Place::FromHost && self.filter.has_partner(cx.get(&pkt).flow.reverse());
        if is_heard { self.filter.leaves(pkt, Some(&self.generators), cx) } else { Some(pkt) }
    }

    /// Takes a packet that is about to be queued for a partner.
    #[inline(never)]
    fn goes_out(&mut self, pkt: Pkt, (peer, policy): (NodeId, u32), cx: &mut Cx) -> Option<Pkt> {
        if cx.get(&pkt).ip.dst == cx.address(peer) {
            if self.strips_sack {
                strip_sack(&pkt, cx);
            }
            self.generators.sends(cx.get(&pkt), policy);
        }
        Some(pkt)
    }

    /// Takes a packet that a partner has sent.
    #[inline(never)]
    fn comes_in(&mut self, pkt: Pkt, (peer, policy): (NodeId, u32), cx: &mut Cx) -> Option<Pkt> {
        let Ipv4 { src, dst, .. } = cx.get(&pkt).ip;
        let mut heard = pkt;
        if src == cx.address(peer) {
            if self.strips_sack {
                strip_sack(&heard, cx);
            }
            heard = self.generators.hears(heard, policy, cx)?;
        }
        if dst == self.address { self.filter.arrives(heard, cx) } else { Some(heard) }
    }

    /// Takes a fate as it can be believed: what was delivered has gone up at its receiver.
    fn told(&mut self, packet: &Packet, fate: Fate, report: &TxReport, cx: &mut Cx) {
        self.filter.report(packet, fate, report.done);
        // What went another way, to a relay, has not arrived.
        let is_last_hop = packet.ip.dst == cx.address(report.to);
        match fate {
            Fate::Delivered if is_last_hop => self.generators.delivered(packet, cx),
            Fate::GivenUp if is_last_hop => self.generators.given_up(packet, cx),
            Fate::Delivered | Fate::GivenUp => {}
            // A full queue is congestion: TCP must find it by itself.
            Fate::QueueFull | Fate::Expired | Fate::Attempt => {}
        }
    }
}

/// Takes SACK-permitted out of a SYN.
#[cold]
fn strip_sack(pkt: &Pkt, cx: &mut Cx) {
    if cx.get(pkt).tcp().is_some_and(|tcp| tcp.flags.has(Flags::SYN))
        && let Some(tcp) = cx.get_mut(pkt).tcp_mut()
    {
        tcp.options.blank(wire::tcp::kind::SACK_PERMITTED);
    }
}

impl Agent for LleTcp {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let Some((peer, policy)) = cx.peer.zip(self.partner(cx.peer)) else { return self.strange(at, pkt, cx) };
        match at {
            Place::FromHost => self.filter.leaves(pkt, Some(&self.generators), cx),
            Place::ToAir => self.goes_out(pkt, (peer, policy), cx),
            Place::FromAir => self.comes_in(pkt, (peer, policy), cx),
            Place::ToHost | Place::Transit => Some(pkt),
        }
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, cx: &mut Cx) {
        if self.partner(Some(report.to)).is_none() {
            return;
        }
        if let Some(fate) = self.reports.hears(packet, report) {
            self.told(packet, fate, report, cx);
        }
        while let Some((packet, report)) = self.reports.next() {
            self.told(&packet, report.fate, &report, cx);
        }
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        self.generators.timer(FlowId(key.0 as u32), cx);
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.peers[node.index()] = event.announced(INFO.id);
    }

    fn closed(&mut self, flow: FlowId, cx: &mut Cx) {
        self.generators.closed(flow);
        self.filter.closed(flow, cx);
    }

    fn release(&mut self, cx: &mut Cx) {
        self.filter.release(cx);
    }

    fn held(&self) -> u64 {
        self.filter.held()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.generators.counters(out);
        self.filter.counters(out);
    }
}
