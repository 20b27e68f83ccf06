//! Packets and the arena they live in.

use crate::{Flags, Seq, SeqRange, Tcp};
use std::net::Ipv4Addr;
use std::sync::Arc;
use units::{Bytes, FlowId};

/// The IPv4 header without what is derived when bytes are made (lengths, checksum). @RFC791 sec. 3.1
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4 {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Differentiated services and ECN: the second byte of the header. @RFC2474, @RFC3168
    pub tos: u8,
    /// Time to live.
    pub ttl: u8,
    /// Identification.
    pub id: u16,
    /// The don't-fragment bit.
    pub dont_fragment: bool,
}

/// The ECN field of an IP header: the low two bits of its second byte. @RFC3168 sec. 5
pub mod ecn {
    /// The field's bits.
    pub const MASK: u8 = 0b11;
    /// The transport does not speak ECN.
    pub const NOT_ECT: u8 = 0b00;
    /// It does; the codepoint for experiments. @RFC8311 sec. 4.2
    pub const ECT_1: u8 = 0b01;
    /// It does.
    pub const ECT_0: u8 = 0b10;
    /// It does, and a router has marked the packet.
    pub const CE: u8 = 0b11;
}

impl Ipv4 {
    /// The ECN field, one of the codepoints of [`ecn`].
    pub fn ecn(&self) -> u8 {
        self.tos & ecn::MASK
    }

    /// True if the transport speaks ECN, so that a router may mark the packet: ECT(0), ECT(1), or CE, which was one of
    /// them before another router. @RFC3168 sec. 5
    pub fn is_ect(&self) -> bool {
        self.ecn() != ecn::NOT_ECT
    }

    /// True if a router has marked it.
    pub fn is_ce(&self) -> bool {
        self.ecn() == ecn::CE
    }

    /// Sends it as ECT(0), the codepoint for senders that use but one. @RFC3168 sec. 5
    pub fn set_ect(&mut self) {
        self.tos = self.tos & !ecn::MASK | ecn::ECT_0;
    }

    /// Marks a packet whose transport speaks ECN; on any other the mark would be a lie that no one reads.
    pub fn mark_ce(&mut self) {
        debug_assert!(self.is_ect(), "a packet that is not ECT is dropped, not marked (@RFC3168 sec. 5)");
        self.tos |= ecn::CE;
    }
}

impl Default for Ipv4 {
    fn default() -> Ipv4 {
        Ipv4 { src: Ipv4Addr::UNSPECIFIED, dst: Ipv4Addr::UNSPECIFIED, tos: 0, ttl: 64, id: 0, dont_fragment: true }
    }
}

/// A UDP header. @RFC768
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Udp {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
}

/// An ICMP echo request or reply. @RFC792
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Echo {
    /// Reply, or request.
    pub reply: bool,
    /// Identifier.
    pub id: u16,
    /// Sequence number.
    pub seq: u16,
}

/// The kind of an ICMP message about another datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// Type 3: it cannot be delivered; the code tells why. @RFC792 p. 4
    Unreachable,
    /// Type 4, source quench: it met congestion. Not to be sent nor heeded any more. @RFC792 p. 10, @RFC6633
    SourceQuench,
    /// Type 11: it was too long on its way. @RFC792 p. 6
    TimeExceeded,
    /// Type 253, for experiments: its users agree on its meaning. @RFC4727 sec. 3.2
    Experiment1,
    /// Type 254, likewise. @RFC4727 sec. 3.2
    Experiment2,
}

/// The IP header and the first 8 bytes of a TCP segment, as a notice quotes them. @RFC792 p. 4
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    /// Its IP header.
    pub ip: Ipv4,
    /// Length of the datagram, as its IP header says, in bytes.
    pub ip_len: u16,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: Seq,
}

impl Quote {
    /// Quotes a packet; `None` if it is no TCP, or longer than its length field can say.
    pub fn of(packet: &Packet) -> Option<Quote> {
        let tcp = packet.tcp()?;
        let ip_len = u16::try_from(packet.ip_len().0).ok()?;
        Some(Quote { ip: packet.ip, ip_len, src_port: tcp.src_port, dst_port: tcp.dst_port, seq: tcp.seq })
    }
}

/// An ICMP message about a TCP segment. What follows its quote (@RFC1812 sec. 4.3.2.3 allows more than 8 bytes) is the
/// packet's payload.
///
/// It runs to the segment's source, so its [`Packet::flow`] is the reverse of the segment's. An endpoint ignores it; an agent on
/// its way to the host takes it up and ends it with [`DropWhy::Consumed`]. No notice is about a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// Its type.
    pub kind: NoticeKind,
    /// Its code.
    pub code: u8,
    /// The four bytes between checksum and quote: zero in @RFC792, meant by the kind where later RFCs fill them.
    pub word: u32,
    /// The segment that it is about.
    pub quote: Quote,
}

/// The transport layer of an IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum L4 {
    /// A TCP segment.
    Tcp(Tcp),
    /// A UDP datagram.
    Udp(Udp),
    /// An ICMP echo.
    Echo(Echo),
    /// An ICMP message about a TCP segment.
    Notice(Notice),
    /// Something else. The payload is the whole IP packet as it came, header included; agents never see it.
    Opaque,
    /// None: nothing follows a routing header ([`Packet::routing_header`]). @RFC8200 sec. 4.7, @RFC4728 sec. 6.1
    Nothing,
}

/// The content of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Bytes that exist only as their place in the sender's stream (or count): `offset` of the first. In a capture the
    /// byte at offset `o` is written as `o mod 251`.
    Virtual {
        /// Offset of the first byte in the stream of its flow.
        offset: u64,
    },
    /// Bytes as they came from outside. Of a packet with a routing header: the header, and then what the content is without it.
    // No variant of its own: three of them would not fit into the pointer's niche, and every copy and end of a packet would cost more.
    Bytes(Arc<[u8]>),
}

/// The payload of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// Length in bytes, a routing header's apart.
    pub len: u32,
    /// Length of the routing header that stands before the transport's; 0 without one.
    pub(crate) behind: u32,
    /// The bytes.
    pub content: Content,
}

impl Payload {
    /// No payload.
    pub const EMPTY: Payload = Payload::stream(0, 0);

    /// `len` bytes of a flow's stream from `offset`.
    pub const fn stream(offset: u64, len: u32) -> Payload {
        Payload { len, behind: 0, content: Content::Virtual { offset } }
    }

    /// So many bytes of this content.
    pub const fn new(len: u32, content: Content) -> Payload {
        Payload { len, behind: 0, content }
    }
}

/// An IP packet in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The IP header.
    pub ip: Ipv4,
    /// The transport header.
    pub l4: L4,
    /// The bytes after it.
    pub payload: Payload,
    /// The connection and direction it belongs to.
    pub flow: FlowId,
}

const _: () = assert!(core::mem::size_of::<Packet>() <= 128, "a packet takes at most 128 B in memory");

impl Packet {
    /// Length of the IP packet, headers included.
    pub fn ip_len(&self) -> Bytes {
        let header = match &self.l4 {
            L4::Tcp(tcp) => 20 + tcp.header_len() as u64,
            L4::Udp(_) | L4::Echo(_) => 28,
            L4::Notice(_) => 56, // IP 20, ICMP 8, quote 28
            L4::Nothing => 20,
            L4::Opaque => 0,
        };
        Bytes(header + u64::from(self.payload.behind) + u64::from(self.payload.len))
    }

    /// The key that tells flows apart, as bits: addresses, protocol, ports. Messages about a segment and packets that are
    /// not understood have no ports.
    pub fn five_tuple(&self) -> u128 {
        let (protocol, src_port, dst_port): (u8, u16, u16) = match &self.l4 {
            L4::Tcp(tcp) => (6, tcp.src_port, tcp.dst_port),
            L4::Udp(udp) => (17, udp.src_port, udp.dst_port),
            L4::Echo(_) | L4::Notice(_) => (1, 0, 0),
            L4::Nothing | L4::Opaque => (0, 0, 0),
        };
        let addresses = u128::from(self.ip.src.to_bits()) << 32 | u128::from(self.ip.dst.to_bits());
        addresses << 40 | u128::from(protocol) << 32 | u128::from(src_port) << 16 | u128::from(dst_port)
    }

    /// The TCP header, if it is TCP.
    pub fn tcp(&self) -> Option<&Tcp> {
        if let L4::Tcp(tcp) = &self.l4 { Some(tcp) } else { None }
    }

    /// The TCP header, to rewrite.
    pub fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        if let L4::Tcp(tcp) = &mut self.l4 { Some(tcp) } else { None }
    }

    /// The ICMP message, if it is one about a TCP segment.
    pub fn notice(&self) -> Option<&Notice> {
        if let L4::Notice(notice) = &self.l4 { Some(notice) } else { None }
    }

    /// The sequence numbers a TCP segment occupies: payload, and one each for SYN and FIN. @RFC9293 sec. 3.4
    pub fn tcp_range(&self) -> Option<SeqRange> {
        let tcp = self.tcp()?;
        let control = u32::from(tcp.flags.has(Flags::SYN)) + u32::from(tcp.flags.has(Flags::FIN));
        Some(SeqRange::new(tcp.seq, self.payload.len + control))
    }

    /// The header, if it is a TCP segment with payload.
    pub fn tcp_data(&self) -> Option<&Tcp> {
        self.tcp().filter(|_| self.payload.len > 0)
    }

    /// The header, if it is a pure ACK: ACK set, no SYN, FIN or RST, no payload.
    pub fn pure_ack(&self) -> Option<&Tcp> {
        let control = Flags::SYN | Flags::FIN | Flags::RST;
        self.tcp().filter(|tcp| self.payload.len == 0 && tcp.flags.has(Flags::ACK) && !tcp.flags.any(control))
    }

    /// An ICMP message about this TCP segment, from `from` to the segment's source. `None` if it is no TCP segment.
    pub fn notice_of(&self, from: Ipv4Addr, kind: NoticeKind, code: u8) -> Option<Packet> {
        let notice = Notice { kind, code, word: 0, quote: Quote::of(self)? };
        let ip = Ipv4 { src: from, dst: self.ip.src, ..Ipv4::default() };
        Some(Packet { ip, l4: L4::Notice(notice), payload: Payload::EMPTY, flow: self.flow.reverse() })
    }

    /// A pure ACK of `flow` with the given header fields, for schemes and tests.
    pub fn ack(ip: Ipv4, flow: FlowId, ports: (u16, u16), seq: Seq, ack: Seq, window: u16) -> Packet {
        let tcp = Tcp { src_port: ports.0, dst_port: ports.1, seq, ack, flags: Flags::ACK, window, ..Tcp::default() };
        Packet { ip, l4: L4::Tcp(tcp), payload: Payload::EMPTY, flow }
    }
}

/// The handle of a packet in [`Packets`]. Its holder owns the packet and must pass it on or free it; it cannot be
/// copied, so no packet is delivered twice by mistake.
#[must_use = "a packet is passed on, or freed with a reason"]
#[derive(Debug, PartialEq, Eq)]
pub struct Pkt(u32);

/// A second handle that only reads a packet. A frame on the air holds one, so that a receiver gets the packet as it was
/// sent, whatever has become of the sender. The packet stays readable until the last of them is given back with
/// [`Packets::release`], though its owner may have ended it long before.
#[must_use = "a shared packet is given back"]
#[derive(Debug, PartialEq, Eq)]
pub struct Shared(u32);

/// The reason why a packet ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropWhy {
    /// It arrived: consumed by its endpoint. (Not a loss; counted so that the books balance.)
    Delivered,
    /// The MAC has reported on it for the last time.
    MacDone,
    /// A queue was full.
    QueueFull,
    /// A scheme took it off the air on purpose, such as an ACK made elsewhere.
    Suppressed,
    /// A scheme refused it.
    Scheme,
    /// A scheme kept it as a copy and needs it no longer.
    CopyDone,
    /// A scheme took over what it carried.
    Consumed,
    /// No endpoint or no route.
    NoRoute,
    /// Its node was killed.
    NodeDown,
    /// It was lost on a wire.
    LinkLoss,
    /// Its time to live had run out.
    TtlExpired,
    /// It waited at an access point for a station that went over to another.
    Handoff,
}

impl DropWhy {
    /// The number of reasons.
    pub const COUNT: usize = 12;
}

/// The bit of [`Slot::sharers`] that says that somebody waits for the packet's end.
const WATCHED: u32 = 1 << 31;

/// The place of a packet.
#[derive(Debug)]
struct Slot {
    serial: u64,
    /// [`Shared`] handles given out, and [`WATCHED`].
    sharers: u32,
    /// True if the packet has ended while shared; the slot is free when the last sharer is gone.
    lingers: bool,
    packet: Packet,
}

impl Slot {
    /// A watched packet has left.
    #[cold]
    #[inline(never)]
    fn unwatch(&mut self, left: &mut Vec<(FlowId, u32)>) {
        self.sharers &= !WATCHED;
        left.push((self.packet.flow, self.packet.payload.len));
    }
}

/// The arena of all packets of a run. Freed slots are reused; in the steady state nothing is allocated.
#[derive(Debug, Default)]
pub struct Packets {
    /// A handle's packet is in its slot until it is freed, and stays there until the slot is reused.
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Slots that linger.
    lingering: u64,
    /// Of the watched packets that have ended, or left: their flows, and the lengths of their payloads.
    left: Vec<(FlowId, u32)>,
    made: u64,
    ended: [u64; DropWhy::COUNT],
}

impl Packets {
    /// An arena with room for `n` packets before it grows.
    pub fn with_capacity(n: usize) -> Packets {
        Packets { slots: Vec::with_capacity(n), free: Vec::with_capacity(n), ..Packets::default() }
    }

    /// Puts a packet in.
    // In line: it is made where it will lie.
    #[inline(always)]
    pub fn put(&mut self, packet: Packet) -> Pkt {
        self.made += 1;
        if let Some(free) = self.free.pop() {
            let slot = &mut self.slots[free as usize];
            (slot.serial, slot.packet) = (self.made, packet);
            return Pkt(free);
        }
        self.slots.push(Slot { serial: self.made, sharers: 0, lingers: false, packet });
        Pkt((self.slots.len() - 1) as u32)
    }

    /// A handle that reads this packet, beside its owner's.
    pub fn share(&mut self, pkt: &Pkt) -> Shared {
        self.slots[pkt.0 as usize].sharers += 1;
        Shared(pkt.0)
    }

    /// Looks at a shared packet.
    pub fn read(&self, shared: &Shared) -> &Packet {
        &self.slots[shared.0 as usize].packet
    }

    /// The serial of a shared packet.
    pub fn shared_serial(&self, shared: &Shared) -> u64 {
        self.slots[shared.0 as usize].serial
    }

    /// A packet with the content of a shared one, owned by the caller.
    pub fn copy_shared(&mut self, shared: &Shared) -> Pkt {
        self.duplicate(shared.0)
    }

    /// Gives a shared handle back.
    #[inline(always)]
    pub fn release(&mut self, shared: Shared) {
        let slot = &mut self.slots[shared.0 as usize];
        slot.sharers -= 1;
        if slot.sharers == 0 && slot.lingers {
            slot.lingers = false;
            self.lingering -= 1;
            self.free.push(shared.0);
        }
    }

    /// Looks at a packet.
    pub fn get(&self, pkt: &Pkt) -> &Packet {
        &self.slots[pkt.0 as usize].packet
    }

    /// The packet's number among all that were ever put in, by which it is known again. A copy has its own.
    pub fn serial(&self, pkt: &Pkt) -> u64 {
        self.slots[pkt.0 as usize].serial
    }

    /// Rewrites a packet in place.
    pub fn get_mut(&mut self, pkt: &Pkt) -> &mut Packet {
        &mut self.slots[pkt.0 as usize].packet
    }

    /// A second packet with the same content, owned by the caller.
    pub fn copy(&mut self, pkt: &Pkt) -> Pkt {
        self.duplicate(pkt.0)
    }

    /// A packet with the content of this slot: from one slot into the other, if there is a free one.
    fn duplicate(&mut self, of: u32) -> Pkt {
        let Some(free) = self.free.pop() else {
            let packet = self.slots[of as usize].packet.clone();
            return self.put(packet);
        };
        self.made += 1;
        let [slot, source] = self
            .slots
            .get_disjoint_mut([free as usize, of as usize])
            .expect("a packet that is copied is in no free slot");
        slot.serial = self.made;
        slot.packet.clone_from(&source.packet);
        Pkt(free)
    }

    /// Ends a packet and says why. What it was can be read until another is put in, or as long as it is shared.
    pub fn free(&mut self, pkt: Pkt, why: DropWhy) -> &Packet {
        self.ended[why as usize] += 1;
        let slot = &mut self.slots[pkt.0 as usize];
        if slot.sharers & WATCHED != 0 {
            slot.unwatch(&mut self.left);
        }
        if slot.sharers == 0 {
            self.free.push(pkt.0);
        } else {
            slot.lingers = true;
            self.lingering += 1;
        }
        &slot.packet
    }

    /// Lets [`Packets::take_left`] tell when this packet ends, or [`Packets::unwatch`] says that it has left. Copies are not watched.
    pub fn watch(&mut self, pkt: &Pkt) {
        self.slots[pkt.0 as usize].sharers |= WATCHED;
    }

    /// A watched packet has left those who wait for it, and goes on. Of another this means nothing.
    pub fn unwatch(&mut self, pkt: &Pkt) {
        let slot = &mut self.slots[pkt.0 as usize];
        if slot.sharers & WATCHED != 0 {
            slot.unwatch(&mut self.left);
        }
    }

    /// True if watched packets have left that were not taken yet.
    pub fn has_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// The flow and the length of the payload of a watched packet that has left; the last one first.
    pub fn take_left(&mut self) -> Option<(FlowId, u32)> {
        self.left.pop()
    }

    /// Packets that somebody owns now. One that has ended and is still shared is none of them.
    pub fn live(&self) -> u64 {
        (self.slots.len() - self.free.len()) as u64 - self.lingering
    }

    /// Shared handles that were not given back yet: the books of a run count the frames that are still in the air.
    pub fn shared(&self) -> u64 {
        self.slots.iter().map(|slot| u64::from(slot.sharers & !WATCHED)).sum()
    }

    /// Packets ever put in. Equals [`Packets::live`] plus the sum of [`Packets::ended`].
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Packets that ended for `why`.
    pub fn ended(&self, why: DropWhy) -> u64 {
        self.ended[why as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(len: u32) -> Packet {
        Packet { ip: Ipv4::default(), l4: L4::Udp(Udp::default()), payload: Payload::stream(0, len), flow: FlowId(0) }
    }

    #[test]
    fn a_shared_packet_stays_readable_after_its_end_and_its_slot_is_used_again_after_the_last_sharer() {
        let mut all = Packets::default();
        let pkt = all.put(datagram(7));
        let (one, other) = (all.share(&pkt), all.share(&pkt));
        all.free(pkt, DropWhy::NodeDown);
        assert_eq!((all.live(), all.shared(), all.made()), (0, 2, 1));
        let next = all.put(datagram(8));
        assert_eq!((all.read(&one).payload.len, all.shared_serial(&other), all.get(&next).payload.len), (7, 1, 8));
        all.release(one);
        let copy = all.copy_shared(&other);
        assert_eq!((all.get(&copy).payload.len, all.serial(&copy), all.live()), (7, 3, 2));
        all.release(other);
        assert_eq!(all.shared(), 0);
        let reused = all.put(datagram(9));
        assert_eq!(all.slots.len(), 3, "the fourth packet lies where the first did");
        for pkt in [next, copy, reused] {
            all.free(pkt, DropWhy::Delivered);
        }
        assert_eq!((all.live(), all.made()), (0, 4));
    }

    #[test]
    fn a_ce_mark_replaces_either_ect_and_leaves_the_differentiated_services_alone() {
        for (tos, is_ect, is_ce) in
            [(0xb8, false, false), (0xb9, true, false), (0xba, true, false), (0xbb, true, true)]
        {
            let mut ip = Ipv4 { tos, ..Ipv4::default() };
            assert_eq!((ip.is_ect(), ip.is_ce()), (is_ect, is_ce), "{tos:#x}");
            if is_ect {
                ip.mark_ce();
                assert_eq!((ip.tos, ip.is_ce()), (0xbb, true));
            }
            ip.set_ect();
            assert_eq!((ip.tos, ip.ecn()), (0xba, ecn::ECT_0));
        }
    }
}
