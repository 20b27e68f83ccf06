//! C³TCP: every hop measures its bandwidth and delay, frames carry the path's, the sender's window is what fits in it.
//!
//! - **Source** seed 000, section 4.4: equations 4.1 to 4.7.
//! - **Realism** no oracle; 14 bytes of MAC options per TCP frame; a neighbour that does not announce C³TCP gets none.
//! - **Departs** (a) a frame carries what its link showed for the *previous* packet: at transmission the contract does
//!   not tell when this one was queued; (b) `done - enqueued` stands for Tout - Tin + Ttr: it ends with the MAC ACK, is
//!   DIFS shorter than eq. 4.3 and includes repeated attempts; (c) echo on pure ACKs only, not on data that acknowledges;
//!   (d) never below one MSS; duplicate ACKs repeat the window written last, or TCP would not count them.
//! - **Checked** tests below.

use mac::{Fate, MacOptions, TxReport};
use schemes::{Agent, Capability, Cx, Info, Params, PeerEvent, Place, Port, Signal, Site};
use std::collections::{BTreeMap, BTreeSet};
use units::{FlowId, NodeId};
use wire::{Flags, Packet, Pkt, Seq};

pub const INFO: Info = Info {
    id: "c3tcp",
    summary: "window = bandwidth times delay, measured hop by hop in the MAC",
    source: "seed 000 section 4.4",
    sits: &[Place::FromHost, Place::ToHost, Place::ToAir],
    reads: &[Signal::TxReport, Signal::TcpHeader, Signal::FlowFacts, Signal::MacOptions, Signal::Capabilities],
    turns: &[Port::MacOptions, Port::Rwnd],
    params: &[],
};

pub fn build(site: &Site, _: &Params) -> Option<Box<dyn Agent>> {
    site.has_air.then(|| Box::new(C3Tcp::default()) as Box<dyn Agent>)
}

/// What a path has shown: least bandwidth, sum of delays. On ACKs the delay back is added on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path {
    bytes_per_s: u32,
    there_us: u32,
    back_us: u32,
}

/// Type of our option; nobody hands these numbers out.
const KIND: u8 = 0xc3;
const LEN: usize = 14;

impl Path {
    const START: Path = Path { bytes_per_s: u32::MAX, there_us: 0, back_us: 0 };

    /// Ours among type-length-value options that schemes share.
    fn read(options: &MacOptions) -> Option<Path> {
        let value = each(options).find(|o| o[0] == KIND && o.len() == LEN)?;
        let word = |at: usize| u32::from_be_bytes([value[at], value[at + 1], value[at + 2], value[at + 3]]);
        Some(Path { bytes_per_s: word(2), there_us: word(6), back_us: word(10) })
    }

    /// Writes ours in place of what an earlier attempt wrote; the others' stay.
    fn write(self, options: &mut MacOptions) {
        let mut rewritten = MacOptions::default();
        each(options).filter(|o| o[0] != KIND).for_each(|o| assert!(rewritten.push(o), "they fitted before"));
        let mut option = [0; LEN];
        option[..2].copy_from_slice(&[KIND, LEN as u8]);
        let words = [self.bytes_per_s, self.there_us, self.back_us].map(u32::to_be_bytes);
        option[2..].copy_from_slice(words.as_flattened());
        if rewritten.push(&option) {
            *options = rewritten;
        }
    }

    /// Bytes that fit into it: B D.
    fn fits(self) -> u64 {
        u64::from(self.bytes_per_s) * (u64::from(self.there_us) + u64::from(self.back_us)) / 1_000_000
    }
}

fn each(options: &MacOptions) -> impl Iterator<Item = &[u8]> {
    let mut rest = options.bytes();
    std::iter::from_fn(move || {
        let len = usize::from(*rest.get(1)?);
        let (option, after) = rest.split_at_checked(len).filter(|_| len >= 2)?;
        rest = after;
        Some(option)
    })
}

/// The link to one neighbour, as the last packets found it.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    /// Bandwidth, and delay without queueing, of data.
    data: Option<(u32, u32)>,
    /// Delay with queueing of ACKs.
    ack_us: Option<u32>,
}

/// Which packet this is: a handle is not shown where options are. Segments sent twice share what they carry.
type Name = (FlowId, u32, u32);

fn name(packet: &Packet) -> Option<Name> {
    packet.tcp().map(|tcp| (packet.flow, tcp.seq.0, tcp.ack.0))
}

/// A flow of data that ends here, as receiver: what came with its packets and is not echoed yet.
#[derive(Debug, Default)]
struct Echo {
    arrived: Vec<(Seq, Path)>,
    echoed: Option<Path>,
}

/// ACKs for a flow that starts here: number, window as received, window as written.
type Last = (Seq, u16, u16);

#[derive(Debug, Default)]
struct C3Tcp {
    able: BTreeSet<NodeId>,
    links: BTreeMap<NodeId, Link>,
    /// Where packets of a flow go next, for [`Agent::mac_room`], which is not told.
    next: BTreeMap<FlowId, NodeId>,
    /// What the packets now in this node came with.
    carried: BTreeMap<Name, Path>,
    echoes: BTreeMap<FlowId, Echo>,
    scales: BTreeMap<FlowId, Option<u8>>,
    last: BTreeMap<FlowId, Last>,
}

impl C3Tcp {
    /// The option of this frame, if the way to here and the link ahead have both been measured.
    fn ahead(&self, packet: &Packet, peer: NodeId) -> Option<Path> {
        let (path, link) = (*self.carried.get(&name(packet)?)?, self.links.get(&peer)?);
        if packet.payload.len > 0 {
            let (bytes_per_s, delay_us) = link.data?;
            let there_us = path.there_us.saturating_add(delay_us);
            Some(Path { bytes_per_s: path.bytes_per_s.min(bytes_per_s), there_us, ..path })
        } else {
            Some(Path { back_us: path.back_us.saturating_add(link.ack_us?), ..path })
        }
    }

    /// Shift count of windows in segments of `flow`: both ends must have offered one. @RFC7323 sec. 2.2
    fn shift(&self, flow: FlowId) -> u8 {
        let offer = |flow| self.scales.get(&flow).copied().flatten();
        offer(flow.reverse()).and(offer(flow)).unwrap_or(0)
    }

    /// The window field to write into an ACK that came with `path`.
    fn window(&mut self, packet: &Packet, path: Option<Path>, mss: u64) -> Option<u16> {
        let tcp = *packet.tcp()?;
        let last = self.last.get(&packet.flow);
        let repeated = last
            .filter(|(ack, received, _)| packet.pure_ack().is_some() && (*ack, *received) == (tcp.ack, tcp.window));
        let written = match (repeated, path) {
            (Some((.., written)), _) => *written,
            (None, Some(path)) => {
                let shift = self.shift(packet.flow);
                let field = (path.fits() >> shift).max(mss.div_ceil(1 << shift));
                field.min(u64::from(tcp.window)) as u16
            }
            (None, None) => tcp.window,
        };
        self.last.insert(packet.flow, (tcp.ack, tcp.window, written));
        (written != tcp.window).then_some(written)
    }

    /// SYNs tell the scale; true for them.
    fn saw_syn(&mut self, packet: &Packet) -> bool {
        let syn = packet.tcp().filter(|tcp| tcp.flags.has(Flags::SYN));
        syn.is_some_and(|tcp| {
            self.scales.insert(packet.flow, tcp.options.window_scale());
            true
        })
    }
}

impl Agent for C3Tcp {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn packet(&mut self, at: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let packet = cx.get(&pkt);
        let (flow, Some(name)) = (packet.flow, name(packet)) else { return Some(pkt) };
        match at {
            Place::ToAir => _ = cx.peer.map(|peer| self.next.insert(flow, peer)),
            _ if self.saw_syn(packet) => {}
            Place::FromHost if packet.payload.len > 0 => _ = self.carried.insert(name, Path::START),
            Place::FromHost => {
                let (Some(ack), Some(echo)) = (packet.pure_ack(), self.echoes.get_mut(&flow.reverse())) else {
                    return Some(pkt);
                };
                let acked = echo.arrived.extract_if(.., |(end, _)| end.le(ack.ack)).last();
                echo.echoed = acked.map(|(_, path)| path).or(echo.echoed);
                echo.echoed.map(|path| self.carried.insert(name, path));
            }
            Place::ToHost => {
                let path = self.carried.remove(&name);
                if let (Some(path), Some(_), Some(range)) = (path, packet.tcp_data(), packet.tcp_range()) {
                    self.echoes.entry(flow).or_default().arrived.push((range.end, path));
                    return Some(pkt);
                }
                let mss = cx.facts(flow.reverse()).map_or(0, |facts| facts.mss.0);
                if let (Some(field), Some(tcp)) = (self.window(packet, path, mss), cx.get_mut(&pkt).tcp_mut()) {
                    tcp.window = field;
                }
            }
            _ => {}
        }
        Some(pkt)
    }

    fn report(&mut self, packet: &Packet, report: &TxReport, _: &mut Cx) {
        name(packet).map(|name| self.carried.remove(&name));
        if report.fate != Fate::Delivered || packet.tcp().is_none() {
            return;
        }
        let us = |dur: units::Dur| u32::try_from(dur.as_us_ceil()).unwrap_or(u32::MAX);
        let link = self.links.entry(report.to).or_default();
        let queued_us = us(report.done - report.enqueued).max(1);
        if packet.payload.len > 0 {
            let bytes_per_s = packet.ip_len().0 * 1_000_000 / u64::from(queued_us);
            link.data = Some((u32::try_from(bytes_per_s).unwrap_or(u32::MAX), us(report.done - report.head)));
        } else {
            link.ack_us = Some(queued_us);
        }
    }

    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        match event {
            PeerEvent::Up(can) if can.iter().any(|c| c.scheme == INFO.id) => _ = self.able.insert(node),
            PeerEvent::Up(_) | PeerEvent::Down => _ = self.able.remove(&node),
        }
    }

    fn mac_room(&self, packet: &Packet) -> u8 {
        let next = packet.tcp().and_then(|_| self.next.get(&packet.flow));
        if next.is_some_and(|next| self.able.contains(next)) { LEN as u8 } else { 0 }
    }

    fn mac_options(&mut self, at: Place, packet: &Packet, options: &mut MacOptions, cx: &mut Cx) {
        if at == Place::ToAir {
            let peer = cx.peer.filter(|peer| self.able.contains(peer));
            peer.and_then(|peer| self.ahead(packet, peer)).into_iter().for_each(|path| path.write(options));
        } else if let (Some(path), Some(name)) = (Path::read(options), name(packet)) {
            self.carried.insert(name, path);
        }
    }

    fn capability(&self) -> Option<Capability> {
        Some(Capability { scheme: INFO.id, detail: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Node;
    use schemes::testing::{OUT, ack, data, segment};
    use units::{Bytes, Dur};

    const BACK: FlowId = OUT.reverse();
    const SENDER: NodeId = NodeId(10);
    const RELAY: NodeId = NodeId(11);
    const RECEIVER: NodeId = NodeId(12);

    /// Sender, relay, receiver; each with C³TCP, introduced to its neighbours, its links warmed by one packet each way.
    fn chain() -> [Node; 3] {
        let can = [Capability { scheme: "c3tcp", detail: 0 }];
        let [mut s, mut r, mut d] = [(); 3].map(|()| Node::new(build(&crate::STATION, &Params::default()).unwrap()));
        [&mut s, &mut d].into_iter().for_each(|end| end.up(RELAY, &can));
        [SENDER, RECEIVER].into_iter().for_each(|end| r.up(end, &can));
        let ms = Dur::from_ms;
        let (full, pure) = (data(OUT, 1..1461), ack(BACK, 1, 65_535)); // 1500 B of IP
        s.delivered(RELAY, &full, ms(2), ms(1)); // 1500 B / 3 ms = 500 kB/s, 1 ms
        r.delivered(RECEIVER, &full, ms(0), ms(6)); // 250 kB/s, 6 ms
        d.delivered(RELAY, &pure, ms(1), ms(1)); // 2 ms with the queue
        r.delivered(SENDER, &pure, ms(0), ms(1)); // 1 ms
        [s, r, d]
    }

    /// Data goes down the chain, its ACK comes back: the ACK as the sender's TCP sees it.
    fn round_trip([s, r, d]: &mut [Node; 3], data: &Packet, ack: &Packet) -> Packet {
        s.pass(Place::FromHost, RELAY, data);
        let (room, options) = s.transmit(RELAY, data);
        assert_eq!((usize::from(room), options.bytes().len()), (LEN, LEN));
        r.receive(SENDER, data, options);
        let (_, options) = r.transmit(RECEIVER, data);
        assert_eq!(Path::read(&options), Some(Path { bytes_per_s: 250_000, there_us: 7_000, back_us: 0 }));
        d.receive(RELAY, data, options);
        d.pass(Place::ToHost, RELAY, data);
        d.pass(Place::FromHost, RELAY, ack);
        let (_, options) = d.transmit(RELAY, ack);
        r.receive(RECEIVER, ack, options);
        let (_, options) = r.transmit(SENDER, ack);
        s.receive(RELAY, ack, options);
        s.pass(Place::ToHost, RELAY, ack)
    }

    fn window(packet: &Packet) -> u16 {
        packet.tcp().unwrap().window
    }

    #[test]
    fn the_window_is_the_least_bandwidth_times_the_sum_of_delays() {
        // min(500, 250) kB/s x (1 + 6 + 2 + 1) ms = 2500 B
        let mut chain = chain();
        let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
        assert_eq!(window(&seen), 2_500);
        // A duplicate keeps the window it repeats, though it came with none: else it would be none.
        let duplicate = chain[0].pass(Place::ToHost, RELAY, &ack(BACK, 1461, 65_535));
        assert_eq!(window(&duplicate), 2_500);
    }

    #[test]
    fn it_is_never_above_the_receivers_nor_below_one_segment() {
        let mut chain = chain();
        let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 2_000));
        assert_eq!(window(&seen), 2_000);
        let closed = round_trip(&mut chain, &data(OUT, 1461..2921), &ack(BACK, 2921, 0));
        assert_eq!(window(&closed), 0);
        chain[0].set_facts(OUT, facts(Bytes(4_000)));
        let floor = round_trip(&mut chain, &data(OUT, 2921..4381), &ack(BACK, 4381, 65_535));
        assert_eq!(window(&floor), 4_000);
    }

    #[test]
    fn the_field_is_shifted_by_the_scale_of_the_receivers_syn() {
        for (scale, field) in [(Some(2), 625), (None, 2_500)] {
            let mut chain = chain();
            let mut syn = segment(OUT, Flags::SYN, Seq(0), 0, Seq(0), 65_535);
            syn.tcp_mut().unwrap().options.push_window_scale(7);
            chain[0].pass(Place::FromHost, RELAY, &syn);
            let mut syn_ack = segment(BACK, Flags::SYN | Flags::ACK, Seq(0), 0, Seq(1), 65_535);
            scale.map(|shift| syn_ack.tcp_mut().unwrap().options.push_window_scale(shift));
            assert_eq!(chain[0].pass(Place::ToHost, RELAY, &syn_ack), syn_ack);
            let seen = round_trip(&mut chain, &data(OUT, 1..1461), &ack(BACK, 1461, 65_535));
            assert_eq!(window(&seen), field);
        }
    }

    #[test]
    fn a_neighbour_without_it_gets_plain_frames() {
        let [mut sender, ..] = chain();
        sender.up(RELAY, &[]);
        sender.pass(Place::FromHost, RELAY, &data(OUT, 1..1461));
        let (room, options) = sender.transmit(RELAY, &data(OUT, 1..1461));
        assert_eq!((room, options.bytes().len()), (0, 0));
    }

    /// Facts of a flow of which only the MSS matters.
    fn facts(mss: Bytes) -> tcp::FlowFacts {
        tcp::FlowFacts {
            snd_una: Seq(1),
            snd_nxt: Seq(1),
            snd_max: Seq(1),
            rcv_nxt: Seq(1),
            cwnd: mss,
            ssthresh: mss,
            flight_size: Bytes::ZERO,
            inflation: Bytes::ZERO,
            mss,
            snd_wnd: mss,
            rcv_wnd: mss,
            srtt: None,
            rttvar: Dur::ZERO,
            rto: Dur::from_secs(1),
            dup_acks: 0,
            in_recovery: false,
            frozen: false,
            unsent: Bytes::ZERO,
        }
    }
}
