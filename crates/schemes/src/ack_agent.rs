//! TCP ACK agent: the access point makes the TCP ACKs of downloads from MAC ACKs, stations drop the real ones.
//!
//! - **Source** @PLL05: Pang, Liew, Leung, "Performance improvement of 802.11 wireless access network with TCP ACK agent and
//!   auto-zoom backoff algorithm", VTC 2005-Spring; its first half, as its abstract and seed 002 section 4.3 tell it.
//! - **Realism** no oracle: MAC reports, TCP headers, what is announced at association. Breaks TCP's promise as [`crate::lle_tcp`]
//!   does, with the same bound: an acknowledged byte has reached the station, not its host. Nothing for encrypted traffic.
//! - **Departs**
//!   (a) The auto-zoom backoff is left out: neither source says how the window shrinks and returns.
//!   (b) Both halves are LLE-TCP's own, with what makes them safe there: only an ACK that advances and repeats the last
//!   window is dropped, data beyond the host's window is kept by its station, a stale number on upload data is raised.
//!   (c) "A TCP ACK for each data packet" holds whatever the receiver's strategy; SYN-ACK and FIN, which occupy a number,
//!   are acknowledged alike, so of an upload one ACK is made and one dropped, that of its handshake.
//!   (d) On a failure of the MAC nothing is made: the text names MAC ACKs only. The receiver's duplicate ACKs pass.
//! - **Bound** it does nothing for uploads, nor between stations of which none forwards.
//! - **Checked** `tests/all/ack_agent.rs`; `every_scheme`; `world/tests/all/ack_return.rs` (against `lle-tcp`).

use crate::lle_tcp::maker::Makers;
use crate::lle_tcp::suppressor::Suppressor;
use crate::{Agent, Capability, Cx, Info, Key, Params, PeerEvent, Place, Port, Signal, Site};
use mac::{Fate, TxReport};
use std::net::Ipv4Addr;
use units::NodeId;
use wire::{Packet, Pkt};

/// What it sits at, reads and turns.
pub const INFO: Info = Info {
    id: "ack-agent",
    summary: "the access point makes TCP ACKs of downloads from MAC ACKs, stations drop the real ones",
    source: "PLL05, in seed 002 section 4.3",
    sits: &[Place::FromHost, Place::ToAir, Place::FromAir],
    reads: &[Signal::TxReport, Signal::TcpHeader, Signal::Capabilities],
    turns: &[Port::Packets, Port::Acks, Port::TcpNumbers, Port::Rwnd],
    params: &[],
};

/// The half that an access point has.
const AT_ACCESS_POINT: Info =
    Info { sits: &[Place::ToAir, Place::FromAir], turns: &[Port::Packets, Port::Acks, Port::TcpNumbers], ..INFO };
/// The half that a station has.
const AT_STATION: Info =
    Info { sits: &[Place::FromHost, Place::FromAir], turns: &[Port::Packets, Port::Acks, Port::Rwnd], ..INFO };

/// What each says of itself; a partner is who has the other half.
const MAKES: u32 = 1;
const DROPS: u32 = 2;

/// The maker's half where packets are forwarded, the other at every other radio.
pub fn build(site: &Site, _: &Params) -> Option<Box<dyn Agent>> {
    let peers = vec![false; site.nodes];
    if !site.has_air {
        None
    } else if site.forwards {
        // One ACK for each data packet; receivers' windows as they are; stale numbers raised.
        Some(Box::new(Maker { peers, makers: Makers::new("every", false, "receiver") }))
    } else {
        Some(Box::new(Station { peers, address: site.address, suppressor: Suppressor::default() }))
    }
}

/// Whether a neighbour has the half that goes with ours.
fn is_partner(event: PeerEvent<'_>, half: u32) -> bool {
    match event {
        PeerEvent::Up(can) => can.iter().any(|it| it.scheme == INFO.id && it.detail == half),
        PeerEvent::Down => false,
    }
}

/// The agent of an access point.
#[derive(Debug)]
struct Maker {
    /// Which neighbours drop their ACKs.
    peers: Vec<bool>,
    makers: Makers,
}

/// What a partner announces of its receiver: nothing, an ACK is made of each segment.
const NO_POLICY: u32 = 0;

impl Agent for Maker {
    fn info(&self) -> &'static Info {
        &AT_ACCESS_POINT
    }

    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let Some(peer) = cx.peer.filter(|peer| self.peers[peer.index()]) else { return Some(pkt) };
        let (packet, station) = (cx.get(&pkt), cx.address(peer));
        if packet.tcp().is_none() {
            return Some(pkt);
        }
        match at {
            Place::ToAir if packet.ip.dst == station => self.makers.sends(packet, NO_POLICY),
            Place::FromAir if packet.ip.src == station => return self.makers.hears(pkt, NO_POLICY, cx),
            _ => {}
        }
        Some(pkt)
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, cx: &mut Cx) {
        if self.peers[report.to.index()] && report.fate == Fate::Delivered && packet.tcp().is_some() {
            self.makers.delivered(packet, cx);
        }
    }

    fn timer(&mut self, key: Key, cx: &mut Cx) {
        self.makers.timer(units::FlowId(key.0 as u32), cx);
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.peers[node.index()] = is_partner(event, DROPS);
    }

    fn capability(&self) -> Option<Capability> {
        Some(Capability { scheme: INFO.id, detail: MAKES })
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        // What only a failure or a bounded window would count is none of this scheme's.
        self.makers.counters(&mut |name, value| {
            if !matches!(name, "duplicate_acks_made" | "windows_lowered") {
                out(name, value);
            }
        });
    }
}

/// The agent of a station.
#[derive(Debug)]
struct Station {
    /// Which neighbours make its ACKs.
    peers: Vec<bool>,
    address: Ipv4Addr,
    suppressor: Suppressor,
}

impl Station {
    fn has_maker(&self, peer: Option<NodeId>) -> bool {
        peer.is_some_and(|peer| self.peers[peer.index()])
    }
}

impl Agent for Station {
    fn info(&self) -> &'static Info {
        &AT_STATION
    }

    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        if !self.has_maker(cx.peer) || packet.tcp().is_none() {
            return Some(pkt);
        }
        match at {
            Place::FromHost => self.suppressor.leaves(pkt, cx),
            Place::FromAir if packet.ip.dst == self.address => self.suppressor.arrives(pkt, cx),
            _ => Some(pkt),
        }
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        if self.has_maker(Some(report.to)) && packet.tcp().is_some() {
            self.suppressor.report(packet, report);
        }
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.peers[node.index()] = is_partner(event, MAKES);
    }

    fn capability(&self) -> Option<Capability> {
        Some(Capability { scheme: INFO.id, detail: DROPS })
    }

    fn release(&mut self, cx: &mut Cx) {
        self.suppressor.release(cx);
    }

    fn held(&self) -> u64 {
        self.suppressor.held()
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        self.suppressor.counters(out);
    }
}
