//! Which connection a packet from outside belongs to.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use units::{FlowId, SimTime};
use wire::{Flags, L4, Packet};

/// Protocol, then the two ends, the smaller first: one key for both directions. For TCP, UDP and echoes; the identifier of an
/// echo stands in place of both ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Tuple(u8, [(Ipv4Addr, u16); 2]);

/// The directed 5-tuple of a packet: protocol, from, to.
type Directed = (u8, (Ipv4Addr, u16), (Ipv4Addr, u16));

#[derive(Debug, Clone, Copy)]
struct Entry {
    flow: FlowId,
    /// Who sent the first packet: the forward direction runs away from it.
    opener: (Ipv4Addr, u16),
    used: SimTime,
    /// A SYN may open the connection anew: the old one was reset, or both ends have said FIN.
    is_over: bool,
    finished: [bool; 2],
}

/// Connections by 5-tuple. It is asked where packets enter from outside, as bytes; inside, [`Packet::flow`] is the handle.
///
/// A packet of an unseen connection opens an entry, whatever it is: the capture may have begun in the middle. Its direction
/// is forward, unless it is a SYN with ACK. A SYN after FINs of both ends or a reset opens a new generation.
#[derive(Debug)]
pub struct Demux {
    entries: BTreeMap<Tuple, Entry>,
    limit: usize,
    /// Of each place: how many connections it had.
    generations: Vec<u16>,
    free: Vec<u32>,
}

impl Demux {
    /// A table of at most `limit` connections, at least one. Beyond it, the one that was used longest ago makes room.
    pub fn new(limit: usize) -> Demux {
        let limit = limit.clamp(1, FlowId::MOST_CONNECTIONS);
        Demux { entries: BTreeMap::new(), limit, generations: Vec::new(), free: Vec::new() }
    }

    /// Connections it knows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The direction of the connection that `packet` belongs to; [`FlowId::NONE`] for what has no ports
    /// ([`L4::Opaque`]). A message about a segment belongs to the reverse of the segment's direction, and opens nothing.
    pub fn flow_of(&mut self, now: SimTime, packet: &Packet) -> FlowId {
        let (src, dst) = (packet.ip.src, packet.ip.dst);
        let directed = match &packet.l4 {
            L4::Tcp(tcp) => (wire::bytes::protocol::TCP, (src, tcp.src_port), (dst, tcp.dst_port)),
            L4::Udp(udp) => (wire::bytes::protocol::UDP, (src, udp.src_port), (dst, udp.dst_port)),
            L4::Echo(echo) => (wire::bytes::protocol::ICMP, (src, echo.id), (dst, echo.id)),
            L4::Notice(notice) => {
                let quote = &notice.quote;
                let of = (wire::bytes::protocol::TCP, (quote.ip.src, quote.src_port), (quote.ip.dst, quote.dst_port));
                return self.find(of).map_or(FlowId::NONE, FlowId::reverse);
            }
            L4::Opaque => return FlowId::NONE,
        };
        let flags = packet.tcp().map_or(Flags::default(), |tcp| tcp.flags);
        let key = key(directed);
        let is_first = flags.has(Flags::SYN) && !flags.has(Flags::ACK);
        if self.entries.get(&key).is_some_and(|entry| entry.is_over && is_first) {
            self.close(key);
        }
        if !self.entries.contains_key(&key) {
            let opener = if flags.has(Flags::SYN) && flags.has(Flags::ACK) { directed.2 } else { directed.1 };
            self.open(now, key, opener);
        }
        let entry = self.entries.get_mut(&key).expect("it was opened if it was not there");
        entry.used = now;
        let is_forward = entry.opener == directed.1;
        entry.finished[usize::from(!is_forward)] |= flags.has(Flags::FIN);
        entry.is_over |= flags.has(Flags::RST) || entry.finished == [true; 2];
        if is_forward { entry.flow } else { entry.flow.reverse() }
    }

    /// Forgets connections unused since `since`. Returns them: their forward directions, in order of their addresses.
    pub fn expire(&mut self, since: SimTime) -> Vec<FlowId> {
        let old: Vec<Tuple> = self.entries.iter().filter(|(_, it)| it.used < since).map(|(key, _)| *key).collect();
        old.into_iter().filter_map(|key| self.close(key)).collect()
    }

    fn find(&self, directed: Directed) -> Option<FlowId> {
        let entry = self.entries.get(&key(directed))?;
        Some(if entry.opener == directed.1 { entry.flow } else { entry.flow.reverse() })
    }

    fn open(&mut self, now: SimTime, key: Tuple, opener: (Ipv4Addr, u16)) {
        if self.entries.len() == self.limit {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            oldest.and_then(|oldest| self.close(oldest));
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.generations.push(0);
            self.generations.len() as u32 - 1
        });
        let flow = FlowId::of_generation(place, self.generations[place as usize]);
        self.entries.insert(key, Entry { flow, opener, used: now, is_over: false, finished: [false; 2] });
    }

    fn close(&mut self, key: Tuple) -> Option<FlowId> {
        let flow = self.entries.remove(&key)?.flow;
        let place = flow.connection();
        self.generations[place] = self.generations[place].wrapping_add(1);
        self.free.push(place as u32);
        Some(flow)
    }
}

fn key((protocol, from, to): Directed) -> Tuple {
    Tuple(protocol, if from <= to { [from, to] } else { [to, from] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Echo, Ipv4, NoticeKind, Payload, Tcp};

    const A: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
    const B: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);

    fn packet(src: Ipv4Addr, dst: Ipv4Addr, l4: L4) -> Packet {
        Packet { ip: Ipv4 { src, dst, ..Ipv4::default() }, l4, payload: Payload::EMPTY, flow: FlowId::NONE }
    }

    fn tcp(src: Ipv4Addr, dst: Ipv4Addr, ports: (u16, u16), flags: Flags) -> Packet {
        packet(src, dst, L4::Tcp(Tcp { src_port: ports.0, dst_port: ports.1, flags, ..Tcp::default() }))
    }

    fn at(s: u64) -> SimTime {
        SimTime::ZERO + units::Dur::from_secs(s)
    }

    #[test]
    fn both_directions_of_a_connection_are_one_flow_and_its_opener_sends_forward() {
        let mut demux = Demux::new(10);
        let syn = demux.flow_of(at(0), &tcp(A, B, (4_000, 80), Flags::SYN));
        let syn_ack = demux.flow_of(at(0), &tcp(B, A, (80, 4_000), Flags::SYN | Flags::ACK));
        assert_eq!((syn, syn_ack), (FlowId::forward(0), FlowId::forward(0).reverse()));
        assert_eq!(demux.flow_of(at(0), &tcp(A, B, (4_001, 80), Flags::SYN)), FlowId::forward(1));
        let udp = L4::Udp(wire::Udp { src_port: 4_000, dst_port: 80 });
        assert_eq!(demux.flow_of(at(0), &packet(A, B, udp)), FlowId::forward(2), "a protocol of its own");
        assert_eq!(demux.flow_of(at(0), &packet(A, B, L4::Opaque)), FlowId::NONE);
    }

    #[test]
    fn a_connection_that_is_seen_from_its_syn_ack_on_was_opened_by_the_other_end() {
        let mut demux = Demux::new(10);
        let syn_ack = demux.flow_of(at(0), &tcp(B, A, (80, 4_000), Flags::SYN | Flags::ACK));
        assert_eq!(syn_ack, FlowId::forward(0).reverse());
        assert_eq!(demux.flow_of(at(0), &tcp(A, B, (4_000, 80), Flags::ACK)), FlowId::forward(0));
    }

    #[test]
    fn ports_used_again_after_both_fins_or_a_reset_are_a_new_generation_and_a_repeated_syn_is_none() {
        let mut demux = Demux::new(10);
        let old = demux.flow_of(at(0), &tcp(A, B, (4_000, 80), Flags::SYN));
        assert_eq!(demux.flow_of(at(1), &tcp(A, B, (4_000, 80), Flags::SYN)), old);
        demux.flow_of(at(2), &tcp(A, B, (4_000, 80), Flags::FIN | Flags::ACK));
        assert_eq!(demux.flow_of(at(2), &tcp(A, B, (4_000, 80), Flags::SYN)), old, "one end has not finished");
        demux.flow_of(at(3), &tcp(B, A, (80, 4_000), Flags::FIN | Flags::ACK));
        let last = demux.flow_of(at(3), &tcp(A, B, (4_000, 80), Flags::ACK));
        let new = demux.flow_of(at(4), &tcp(A, B, (4_000, 80), Flags::SYN));
        assert_eq!((last, new), (old, FlowId::of_generation(0, 1)));
        demux.flow_of(at(5), &tcp(B, A, (80, 4_000), Flags::RST));
        assert_eq!(demux.flow_of(at(6), &tcp(A, B, (4_000, 80), Flags::SYN)), FlowId::of_generation(0, 2));
    }

    #[test]
    fn a_full_table_forgets_what_was_used_longest_ago_and_age_forgets_the_rest() {
        let mut demux = Demux::new(2);
        let [a, b] = [1, 2].map(|port| demux.flow_of(at(u64::from(port)), &tcp(A, B, (port, 80), Flags::ACK)));
        demux.flow_of(at(3), &tcp(A, B, (1, 80), Flags::ACK));
        let c = demux.flow_of(at(4), &tcp(A, B, (3, 80), Flags::ACK));
        assert_eq!((c.connection(), c.generation(), demux.len()), (b.connection(), 1, 2));
        assert_eq!(demux.flow_of(at(5), &tcp(A, B, (1, 80), Flags::ACK)), a);
        assert_eq!(demux.expire(at(5)), [c]);
        assert_eq!((demux.expire(at(9)), demux.is_empty()), (vec![a], true));
    }

    #[test]
    fn a_message_about_a_segment_runs_against_it_and_one_about_a_stranger_belongs_to_nothing() {
        let mut demux = Demux::new(10);
        let segment = tcp(A, B, (4_000, 80), Flags::ACK);
        let notice = segment.notice_of(B, NoticeKind::Unreachable, 3).expect("it is about TCP");
        assert_eq!((demux.flow_of(at(0), &notice), demux.len()), (FlowId::NONE, 0));
        let flow = demux.flow_of(at(0), &segment);
        assert_eq!(demux.flow_of(at(0), &notice), flow.reverse());
        let [request, reply] = [false, true].map(|reply| L4::Echo(Echo { reply, id: 7, seq: 1 }));
        let there = demux.flow_of(at(0), &packet(A, B, request));
        assert_eq!(demux.flow_of(at(0), &packet(B, A, reply)), there.reverse());
    }
}
