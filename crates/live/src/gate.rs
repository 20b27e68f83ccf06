//! The gate between real hosts and a driven world: packets as bytes in, packets as bytes out.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use units::{FlowId, NodeId, SimTime};
use wire::bytes::{checksum::checksum, protocol};
use wire::{L4, Packet};
use world::{Arrived, Drive, DriveError};

/// Bytes of an IPv6 header. @RFC8200 sec. 3
const HEADER6: usize = 40;

/// Conversations that are counted by name; what comes after them is counted together. Our choice: more than anybody reads.
const MOST_CONVERSATIONS: usize = 4096;

/// The fate of a packet that a host has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// The world has it, and schemes may read it.
    Entered,
    /// The world carries it and does not read it: another protocol, IPv6, a fragment, a wrong checksum, a source that is not the host's.
    Opaque,
    /// It is for nobody here: multicast, a router that is asked for, an address that no node has.
    Nobody,
    /// No packet: cut short, lengths that contradict each other, a wrong IPv4 header checksum (@RFC1812 sec. 5.2.2).
    Malformed,
    /// Longer than the MTU.
    TooLong,
    /// The node has died, or the run is over.
    Dead,
}

impl Fate {
    /// All of them.
    pub const ALL: [Fate; 6] =
        [Fate::Entered, Fate::Opaque, Fate::Nobody, Fate::Malformed, Fate::TooLong, Fate::Dead];

    /// As results call it.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Entered => "entered",
            Fate::Opaque => "opaque",
            Fate::Nobody => "for_nobody",
            Fate::Malformed => "malformed",
            Fate::TooLong => "too_long",
            Fate::Dead => "dead",
        }
    }
}

/// Packets and bytes of IP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, headers included.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// One direction between two ends, as its packets went in and came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// `tcp`, `udp`, `icmp` or `other`: what crosses unread is counted by nodes alone.
    pub protocol: &'static str,
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// The ports; 0 where there are none.
    pub ports: [u16; 2],
    /// The packets that its host has sent.
    pub sent: Count,
    /// Those that have arrived. Schemes make packets of their own and take others off, so it may be more.
    pub arrived: Count,
    /// The first packet in.
    pub first: SimTime,
    /// The last packet in or out.
    pub last: SimTime,
}

/// The key of a conversation: a flow has its direction in its id, what is of none goes by its nodes.
type Key = (FlowId, Option<NodeId>, NodeId);

fn key(flow: FlowId, from: Option<NodeId>, to: NodeId) -> Key {
    (flow, from.filter(|_| flow == FlowId::NONE), to)
}

/// A driven world whose ends are hosts with bytes. It knows no clock: each call says what time it is.
#[derive(Debug)]
pub struct Gate {
    drive: Drive,
    nodes: usize,
    /// By fate, of all hosts.
    fates: [u64; Fate::ALL.len()],
    conversations: BTreeMap<Key, Conversation>,
    out: Vec<u8>,
}

impl Gate {
    /// A gate to `drive`.
    pub fn new(drive: Drive, nodes: usize) -> Gate {
        Gate { drive, nodes, fates: [0; Fate::ALL.len()], conversations: BTreeMap::new(), out: Vec::new() }
    }

    /// The world.
    pub fn drive(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// The world, at the end.
    pub fn into_drive(self) -> Drive {
        self.drive
    }

    /// The packets that hosts have sent, by what became of them.
    pub fn fates(&self) -> impl Iterator<Item = (Fate, u64)> + '_ {
        Fate::ALL.into_iter().zip(self.fates)
    }

    /// The conversations, in order of their flows.
    pub fn conversations(&self) -> impl Iterator<Item = &Conversation> {
        self.conversations.values()
    }

    /// The host of `node` has sent `bytes` at `at`. Nothing that it sends is an error: what cannot go on is counted and dropped, as an access
    /// point drops it.
    ///
    /// The world goes on to the last instant before `at`: whether a node is dead by then, and which connection is the oldest, does not hang
    /// on when the driver has looked at it.
    pub fn enter(&mut self, node: NodeId, bytes: &[u8], at: SimTime) -> Fate {
        let before = SimTime::from_ns(at.ns().saturating_sub(1));
        if before > self.drive.now() {
            // It is not past.
            _ = self.drive.advance(before);
        }
        let fate = match bytes.first().map(|first| first >> 4) {
            Some(4) => self.enter4(node, bytes, at),
            Some(6) => self.enter6(node, bytes, at),
            _ => Fate::Malformed,
        };
        self.fates[fate as usize] += 1;
        fate
    }

    fn enter4(&mut self, node: NodeId, bytes: &[u8], at: SimTime) -> Fate {
        let Ok(found) = wire::verify(bytes) else { return Fate::Malformed };
        // Behind the end of the packet is padding of a link: a host's device has none, and whoever writes it means nothing by it.
        let total = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
        let bytes = &bytes[..total.min(bytes.len())];
        let address = |at: usize| Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
        let (from, to) = (address(12), address(16));
        if found == wire::Integrity::BadHeader {
            return Fate::Malformed;
        }
        let Some(end) = self.drive.destination_of(to).filter(|end| *end != node) else { return Fate::Nobody };
        let is_own = self.drive.destination_of(from) == Some(node);
        let entered = match found {
            wire::Integrity::BadTransport => None,
            _ if is_own => match self.drive.inject_bytes(node, bytes, at) {
                Err(DriveError::Full) => None,
                other => Some(other),
            },
            _ => None,
        };
        match entered {
            Some(Ok(flow)) if flow != FlowId::NONE => {
                self.count_in(flow, node, end, bytes, at);
                Fate::Entered
            }
            Some(Ok(_)) => {
                self.count_in(FlowId::NONE, node, end, bytes, at);
                Fate::Opaque
            }
            Some(Err(error)) => refused(&error),
            None => self.carry(node, end, bytes[1], bytes, at),
        }
    }

    fn enter6(&mut self, node: NodeId, bytes: &[u8], at: SimTime) -> Fate {
        let Some(header) = bytes.get(..HEADER6) else { return Fate::Malformed };
        let total = HEADER6 + usize::from(u16::from_be_bytes([header[4], header[5]]));
        let Some(bytes) = bytes.get(..total) else { return Fate::Malformed };
        let mut to = [0; 16];
        to.copy_from_slice(&header[24..40]);
        let end = net::node_of6(Ipv6Addr::from(to), self.nodes).filter(|end| *end != node);
        let Some(end) = end else { return Fate::Nobody };
        let class = header[0] << 4 | header[1] >> 4;
        self.carry(node, end, class, bytes, at)
    }

    /// Bytes that are carried and not read.
    fn carry(&mut self, node: NodeId, end: NodeId, tos: u8, bytes: &[u8], at: SimTime) -> Fate {
        match self.drive.inject_opaque(node, end, tos, bytes, at) {
            Ok(()) => {
                self.count_in(FlowId::NONE, node, end, bytes, at);
                Fate::Opaque
            }
            Err(error) => refused(&error),
        }
    }

    fn count_in(&mut self, flow: FlowId, from: NodeId, to: NodeId, bytes: &[u8], at: SimTime) {
        let is_full = self.conversations.len() >= MOST_CONVERSATIONS;
        let mut place = key(flow, Some(from), to);
        if is_full && !self.conversations.contains_key(&place) {
            place = key(FlowId::NONE, Some(from), to);
        }
        let found = self.conversations.entry(place).or_insert_with(|| {
            let (protocol, ports) = if place.0 == FlowId::NONE { ("other", [0; 2]) } else { named(bytes) };
            let (sent, arrived) = (Count::default(), Count::default());
            Conversation { protocol, from, to, ports, sent, arrived, first: at, last: at }
        });
        found.sent.add(bytes.len());
        found.last = at;
    }

    /// Takes out what has arrived at the host of `node`, the oldest first: gives `write` the time of each and its bytes.
    pub fn leave(&mut self, node: NodeId, mut write: impl FnMut(SimTime, &[u8])) {
        let Gate { drive, conversations, out, nodes, .. } = self;
        for Arrived { at, packet } in drive.drain(node) {
            out.clear();
            // What was parsed can be written; what schemes have made of it, too (their tests say so).
            if packet.emit(out).is_err() {
                continue;
            }
            if packet.l4 == L4::Opaque {
                mark(&packet, out);
            }
            let from = net::node_of(packet.ip.src, *nodes);
            if let Some(found) = conversations.get_mut(&key(packet.flow, from, node)) {
                found.arrived.add(out.len());
                found.last = at;
            }
            write(at, out);
        }
    }
}

/// The fate of a packet that the world does not take.
fn refused(error: &DriveError) -> Fate {
    match error {
        DriveError::TooLong { .. } => Fate::TooLong,
        DriveError::Dead(_) | DriveError::Over { .. } => Fate::Dead,
        DriveError::NoWay(_) | DriveError::NoNode { .. } => Fate::Nobody,
        _ => Fate::Malformed,
    }
}

/// Protocol and ports of a packet that has them.
fn named(bytes: &[u8]) -> (&'static str, [u16; 2]) {
    let at = usize::from(bytes[0] & 15) * 4;
    let port = |at: usize| bytes.get(at..at + 2).map_or(0, |word| u16::from_be_bytes([word[0], word[1]]));
    match bytes[9] {
        protocol::TCP => ("tcp", [port(at), port(at + 2)]),
        protocol::UDP => ("udp", [port(at), port(at + 2)]),
        protocol::ICMP => ("icmp", [0; 2]),
        _ => ("other", [0; 2]),
    }
}

/// Writes a congestion mark that the network has set into bytes that it has not read. @RFC3168 sec. 5
fn mark(packet: &Packet, bytes: &mut [u8]) {
    if !packet.ip.is_ce() {
        return;
    }
    match bytes.first().map(|first| first >> 4) {
        Some(4) if bytes.len() >= 20 && bytes[1] & 3 != 3 => {
            bytes[1] |= 3;
            let header = usize::from(bytes[0] & 15) * 4;
            bytes[10..12].fill(0);
            let sum = checksum(&bytes[..header.min(bytes.len())]);
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        Some(6) if bytes.len() >= HEADER6 => bytes[1] |= 3 << 4,
        _ => {}
    }
}
