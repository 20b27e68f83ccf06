//! TCP ACK agent: the access point makes the TCP ACKs of downloads from MAC ACKs, stations drop the real ones.
//!
//! - **Source** @PLL05: Pang, Liew, Leung, "Performance improvement of 802.11 wireless access network with TCP ACK agent and
//!   auto-zoom backoff algorithm", VTC 2005-Spring; its first half, as its abstract and @SAN14 section 4.3 tell it.
//! - **Realism** no oracle: MAC reports, TCP headers, what is announced at association. Breaks TCP's promise as [`crate::lle_tcp`]
//!   does, with the same bound: an acknowledged byte has reached the station, not its host. Nothing for encrypted traffic.
//! - **Departs**
//!   (a) The auto-zoom backoff is left out: neither source says how the window shrinks and returns.
//!   (b) Both halves are LLE-TCP's own, with what makes them safe there: only an ACK that advances and repeats the last
//!   window is dropped, data beyond the host's window is kept by its station, a stale number on upload data is raised.
//!   (c) "A TCP ACK for each data packet" holds whatever the receiver's strategy; SYN-ACK and FIN, which occupy a number,
//!   are acknowledged alike, so of an upload one ACK is made and one dropped, that of its handshake.
//!   (d) On a failure of the MAC nothing is made: the text names MAC ACKs only. The receiver's duplicate ACKs pass.
//!   (e) Under block acknowledgment an ACK is made once the station's reorder buffer has let the segment go.
//! - **Bound** it does nothing for uploads, nor between stations of which none forwards.
//! - **Checked** `tests/all/ack_agent.rs`; `every_scheme`; `world/tests/all/ack_return.rs` (against `lle-tcp`).

use crate::in_order::Reports;
use crate::lle_tcp::filter::Filter;
use crate::lle_tcp::generator::{Generators, Ways};
use crate::{Agent, Cx, Field, Info, Key, Params, PeerEvent, Place, Refusal, Site, What};
use mac::{Fate, TxReport};
use std::net::Ipv4Addr;
use units::NodeId;
use wire::{Packet, Pkt};

/// Its declaration.
pub const INFO: Info = Info {
    id: "ack-agent",
    summary: "the access point makes TCP ACKs of downloads, stations drop theirs; without the paper's auto-zoom backoff",
    source: "PLL05, in SAN14 section 4.3",
    params: &[],
};

/// The two announcements; a partner makes the other one.
const MAKES: u32 = 1;
const DROPS: u32 = 2;

/// The generator where packets are forwarded, the filter at every other radio.
pub fn install(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let (peers, address) = (vec![false; site.node.nodes], site.node.address);
    site.reads_tcp();
    site.exclusive(What::ACKS);
    if site.node.forwards {
        site.announce(MAKES);
        // One ACK for each data packet; receivers' windows as they are; stale numbers raised.
        let ways = Ways { strategy: "every", clears_stale: false, makes_sack: false };
        let agent = AccessPoint { peers, reports: Reports::default(), generators: Generators::new(ways, "receiver") };
        let seat = site.agent(agent).listen([Place::ToAir, Place::FromAir]).reports();
        seat.makes_packets().rewrites(Field::Numbers);
    } else {
        site.announce(DROPS);
        let agent = Station { peers, address, reports: Reports::default(), filter: Filter::default() };
        let seat = site.agent(agent).listen([Place::FromHost, Place::FromAir]).reports();
        seat.makes_packets().rewrites(Field::Window);
    }
    Ok(())
}

/// The agent of an access point.
#[derive(Debug)]
struct AccessPoint {
    /// The neighbours that drop their ACKs.
    peers: Vec<bool>,
    reports: Reports,
    generators: Generators,
}

/// The policy in a partner's announcement of its receiver: none, an ACK is made of each segment.
const NO_POLICY: u32 = 0;

impl Agent for AccessPoint {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let Some(peer) = cx.peer.filter(|peer| self.peers[peer.index()]) else { return Some(pkt) };
        let (packet, station) = (cx.get(&pkt), cx.address(peer));
        if packet.tcp().is_none() {
            return Some(pkt);
        }
        match at {
            Place::ToAir if packet.ip.dst == station => self.generators.sends(packet, NO_POLICY),
            Place::FromAir if packet.ip.src == station => return self.generators.hears(pkt, NO_POLICY, cx),
            _ => {}
        }
        Some(pkt)
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, cx: &mut Cx) {
        if !self.peers[report.to.index()] {
            return;
        }
        if self.reports.hears(packet, report) == Some(Fate::Delivered) {
            self.generators.delivered(packet, cx);
        }
        while let Some((packet, report)) = self.reports.next() {
            if report.fate == Fate::Delivered {
                self.generators.delivered(&packet, cx);
            }
        }
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        self.generators.timer(units::FlowId(key.0 as u32), cx);
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.peers[node.index()] = event.announced(INFO.id) == Some(DROPS);
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        // What only a failure or a bounded window would count is none of this scheme's.
        self.generators.counters(&mut |name, value| {
            if !matches!(name, "dup_acks_made" | "sacks_made" | "windows_lowered") {
                out(name, value);
            }
        });
    }
}

/// The agent of a station.
#[derive(Debug)]
struct Station {
    /// The neighbours that make its ACKs.
    peers: Vec<bool>,
    address: Ipv4Addr,
    reports: Reports,
    filter: Filter,
}

impl Station {
    fn has_generator(&self, peer: Option<NodeId>) -> bool {
        peer.is_some_and(|peer| self.peers[peer.index()])
    }
}

impl Agent for Station {
    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        if !self.has_generator(cx.peer) || packet.tcp().is_none() {
            return Some(pkt);
        }
        match at {
            Place::FromHost => self.filter.leaves(pkt, None, cx),
            Place::FromAir if packet.ip.dst == self.address => self.filter.arrives(pkt, cx),
            _ => Some(pkt),
        }
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        if !self.has_generator(Some(report.to)) {
            return;
        }
        if let Some(fate) = self.reports.hears(packet, report) {
            self.filter.report(packet, fate, report.done);
        }
        while let Some((packet, report)) = self.reports.next() {
            self.filter.report(&packet, report.fate, report.done);
        }
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.peers[node.index()] = event.announced(INFO.id) == Some(MAKES);
    }

    fn release(&mut self, cx: &mut Cx) {
        self.filter.release(cx);
    }

    fn held(&self) -> u64 {
        self.filter.held()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.filter.counters(out);
    }
}
