//! The table that finds the connection of a packet from outside.

use crate::FlowIds;
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
    /// The sender of the first packet: the forward direction runs away from it.
    opener: (Ipv4Addr, u16),
    used: SimTime,
    /// A SYN may open the connection anew: the old one was reset, or both ends have said FIN.
    is_over: bool,
    finished: [bool; 2],
}

/// The table that connections have their numbers from. Everybody who opens connections in a network shares one.
pub trait Numbers {
    /// Opens a connection for a packet from outside, which runs forward or back. Returns the forward direction; `None` if there is no
    /// room.
    fn open(&mut self, is_forward: bool) -> Option<FlowId>;

    /// Closes the connection of this forward direction: it is forgotten.
    fn close(&mut self, flow: FlowId);
}

impl Numbers for FlowIds {
    fn open(&mut self, _: bool) -> Option<FlowId> {
        FlowIds::open(self)
    }

    fn close(&mut self, flow: FlowId) {
        FlowIds::close(self, flow);
    }
}

/// Connections by 5-tuple. It is asked where packets enter from outside, as bytes; inside, [`Packet::flow`] is the handle. It gives no
/// numbers: each is of the caller's [`Numbers`].
///
/// A packet of an unseen connection opens an entry, whatever it is: the capture may have begun in the middle. Its direction
/// is forward, unless it is a SYN with ACK. A SYN after FINs of both ends or a reset opens a new generation.
#[derive(Debug)]
pub struct Demux {
    entries: BTreeMap<Tuple, Entry>,
    limit: usize,
}

impl Demux {
    /// A table of at most `limit` connections, at least one. Beyond it, the one that was used longest ago makes room.
    pub fn new(limit: usize) -> Demux {
        let limit = limit.clamp(1, FlowId::MOST_CONNECTIONS);
        Demux { entries: BTreeMap::new(), limit }
    }

    /// Connections it knows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if it knows none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The direction of the connection that `packet` belongs to; [`FlowId::NONE`] for what has no ports
    /// ([`L4::Opaque`]), and where there is no number for it. A message about a segment belongs to the reverse of the segment's
    /// direction, and opens nothing.
    pub fn flow_of(&mut self, now: SimTime, packet: &Packet, numbers: &mut impl Numbers) -> FlowId {
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
            L4::Nothing | L4::Opaque => return FlowId::NONE,
        };
        let flags = packet.tcp().map_or(Flags::default(), |tcp| tcp.flags);
        let key = key(directed);
        let is_first = flags.has(Flags::SYN) && !flags.has(Flags::ACK);
        if self.entries.get(&key).is_some_and(|entry| entry.is_over && is_first) {
            self.close(key, numbers);
        }
        if !self.entries.contains_key(&key) {
            self.make_room(numbers);
            let is_forward = !(flags.has(Flags::SYN) && flags.has(Flags::ACK));
            let Some(flow) = numbers.open(is_forward) else { return FlowId::NONE };
            let opener = if is_forward { directed.1 } else { directed.2 };
            self.entries.insert(key, Entry { flow, opener, used: now, is_over: false, finished: [false; 2] });
        }
        let entry = self.entries.get_mut(&key).expect("it was opened if it was not there");
        entry.used = now;
        let is_forward = entry.opener == directed.1;
        entry.finished[usize::from(!is_forward)] |= flags.has(Flags::FIN);
        entry.is_over |= flags.has(Flags::RST) || entry.finished == [true; 2];
        if is_forward { entry.flow } else { entry.flow.reverse() }
    }

    /// Forgets connections unused since `since`. Returns them: their forward directions, in order of their addresses.
    pub fn expire(&mut self, since: SimTime, numbers: &mut impl Numbers) -> Vec<FlowId> {
        let old: Vec<Tuple> = self.entries.iter().filter(|(_, it)| it.used < since).map(|(key, _)| *key).collect();
        old.into_iter().filter_map(|key| self.close(key, numbers)).collect()
    }

    /// Forgets the connection of this direction, which somebody else has closed.
    pub fn forget(&mut self, flow: FlowId) {
        self.entries.retain(|_, entry| entry.flow != flow.opened());
    }

    fn find(&self, directed: Directed) -> Option<FlowId> {
        let entry = self.entries.get(&key(directed))?;
        Some(if entry.opener == directed.1 { entry.flow } else { entry.flow.reverse() })
    }

    /// Closes the connection that was used longest ago, if the table is full.
    fn make_room(&mut self, numbers: &mut impl Numbers) {
        if self.entries.len() == self.limit {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            oldest.and_then(|oldest| self.close(oldest, numbers));
        }
    }

    fn close(&mut self, key: Tuple, numbers: &mut impl Numbers) -> Option<FlowId> {
        let flow = self.entries.remove(&key)?.flow;
        numbers.close(flow);
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
        let (mut demux, mut ids) = (Demux::new(10), FlowIds::default());
        let syn = demux.flow_of(at(0), &tcp(A, B, (4_000, 80), Flags::SYN), &mut ids);
        let syn_ack = demux.flow_of(at(0), &tcp(B, A, (80, 4_000), Flags::SYN | Flags::ACK), &mut ids);
        assert_eq!((syn, syn_ack), (FlowId::forward(0), FlowId::forward(0).reverse()));
        assert_eq!(demux.flow_of(at(0), &tcp(A, B, (4_001, 80), Flags::SYN), &mut ids), FlowId::forward(1));
        let udp = L4::Udp(wire::Udp { src_port: 4_000, dst_port: 80 });
        assert_eq!(demux.flow_of(at(0), &packet(A, B, udp), &mut ids), FlowId::forward(2), "a protocol of its own");
        assert_eq!(demux.flow_of(at(0), &packet(A, B, L4::Opaque), &mut ids), FlowId::NONE);
    }

    #[test]
    fn a_connection_that_is_seen_from_its_syn_ack_on_was_opened_by_the_other_end() {
        let (mut demux, mut ids) = (Demux::new(10), FlowIds::default());
        let syn_ack = demux.flow_of(at(0), &tcp(B, A, (80, 4_000), Flags::SYN | Flags::ACK), &mut ids);
        assert_eq!(syn_ack, FlowId::forward(0).reverse());
        assert_eq!(demux.flow_of(at(0), &tcp(A, B, (4_000, 80), Flags::ACK), &mut ids), FlowId::forward(0));
    }

    #[test]
    fn ports_used_again_after_both_fins_or_a_reset_are_a_new_generation_and_a_repeated_syn_is_none() {
        let (mut demux, mut ids) = (Demux::new(10), FlowIds::default());
        let old = demux.flow_of(at(0), &tcp(A, B, (4_000, 80), Flags::SYN), &mut ids);
        assert_eq!(demux.flow_of(at(1), &tcp(A, B, (4_000, 80), Flags::SYN), &mut ids), old);
        demux.flow_of(at(2), &tcp(A, B, (4_000, 80), Flags::FIN | Flags::ACK), &mut ids);
        assert_eq!(
            demux.flow_of(at(2), &tcp(A, B, (4_000, 80), Flags::SYN), &mut ids),
            old,
            "one end has not finished"
        );
        demux.flow_of(at(3), &tcp(B, A, (80, 4_000), Flags::FIN | Flags::ACK), &mut ids);
        let last = demux.flow_of(at(3), &tcp(A, B, (4_000, 80), Flags::ACK), &mut ids);
        let new = demux.flow_of(at(4), &tcp(A, B, (4_000, 80), Flags::SYN), &mut ids);
        assert_eq!((last, new), (old, FlowId::of_generation(0, 1)));
        demux.flow_of(at(5), &tcp(B, A, (80, 4_000), Flags::RST), &mut ids);
        assert_eq!(demux.flow_of(at(6), &tcp(A, B, (4_000, 80), Flags::SYN), &mut ids), FlowId::of_generation(0, 2));
    }

    #[test]
    fn a_full_table_forgets_what_was_used_longest_ago_and_age_forgets_the_rest() {
        let (mut demux, mut ids) = (Demux::new(2), FlowIds::default());
        let [a, b] =
            [1, 2].map(|port| demux.flow_of(at(u64::from(port)), &tcp(A, B, (port, 80), Flags::ACK), &mut ids));
        demux.flow_of(at(3), &tcp(A, B, (1, 80), Flags::ACK), &mut ids);
        let c = demux.flow_of(at(4), &tcp(A, B, (3, 80), Flags::ACK), &mut ids);
        assert_eq!((c.connection(), c.generation(), demux.len()), (b.connection(), 1, 2));
        assert_eq!(demux.flow_of(at(5), &tcp(A, B, (1, 80), Flags::ACK), &mut ids), a);
        assert_eq!(demux.expire(at(5), &mut ids), [c]);
        assert_eq!((demux.expire(at(9), &mut ids), demux.is_empty()), (vec![a], true));
    }

    #[test]
    fn a_message_about_a_segment_runs_against_it_and_one_about_a_stranger_belongs_to_nothing() {
        let (mut demux, mut ids) = (Demux::new(10), FlowIds::default());
        let segment = tcp(A, B, (4_000, 80), Flags::ACK);
        let notice = segment.notice_of(B, NoticeKind::Unreachable, 3).expect("it is about TCP");
        assert_eq!((demux.flow_of(at(0), &notice, &mut ids), demux.len()), (FlowId::NONE, 0));
        let flow = demux.flow_of(at(0), &segment, &mut ids);
        assert_eq!(demux.flow_of(at(0), &notice, &mut ids), flow.reverse());
        let [request, reply] = [false, true].map(|reply| L4::Echo(Echo { reply, id: 7, seq: 1 }));
        let there = demux.flow_of(at(0), &packet(A, B, request), &mut ids);
        assert_eq!(demux.flow_of(at(0), &packet(B, A, reply), &mut ids), there.reverse());
    }

    #[test]
    fn numbers_come_from_a_table_that_others_use_too_and_without_one_a_packet_belongs_to_nothing() {
        let (mut demux, mut ids) = (Demux::new(10), FlowIds::first(3));
        let others = ids.open();
        let ours = demux.flow_of(at(0), &tcp(A, B, (1, 80), Flags::SYN), &mut ids);
        assert_eq!((others, ours), (Some(FlowId::forward(3)), FlowId::forward(4)));
        // Closed by somebody else: the next packet of these ports opens another one.
        assert!(FlowIds::close(&mut ids, ours));
        demux.forget(ours.reverse());
        let again = demux.flow_of(at(1), &tcp(A, B, (1, 80), Flags::ACK), &mut ids);
        assert_eq!((again, demux.len()), (FlowId::of_generation(4, 1), 1));
        let mut full = FlowIds::first(FlowId::MOST_CONNECTIONS as u32);
        assert_eq!(demux.flow_of(at(2), &tcp(A, B, (2, 80), Flags::SYN), &mut full), FlowId::NONE);
        assert_eq!(demux.len(), 1);
    }
}
