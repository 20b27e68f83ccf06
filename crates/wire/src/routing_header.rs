//! A header of a routing protocol between IP header and transport: DSR's. @RFC4728 sec. 6
//!
//! It is part of the packet and of its length, and no part of its payload: agents and hosts see the transport as if it were not there. No
//! packet has two. What is done here is done for packets of such a protocol alone, and stands out of the way of all others.

use crate::{Content, Packet, Payload};
use std::sync::Arc;

/// The content of a payload behind a header, after the header's bytes: a place in a stream, or bytes.
const STREAM: u8 = 0;
const BYTES: u8 = 1;

impl Packet {
    /// The routing header, if there is one. Its first byte is written as the number of what follows.
    pub fn routing_header(&self) -> Option<&[u8]> {
        self.payload.header_and_rest().map(|(header, _)| header)
    }

    /// True if there is one.
    #[inline]
    pub fn has_routing_header(&self) -> bool {
        self.payload.behind > 0
    }

    /// Puts a routing header before the transport's, in place of one that is there.
    #[cold]
    #[inline(never)]
    pub fn set_routing_header(&mut self, header: &[u8]) {
        self.remove_routing_header();
        let (kind, rest) = match &self.payload.content {
            Content::Virtual { offset } => (STREAM, &offset.to_be_bytes()[..]),
            Content::Bytes(bytes) => (BYTES, &bytes[..]),
        };
        let all = [header, &[kind], rest].concat();
        self.payload.behind = header.len() as u32;
        self.payload.content = Content::Bytes(Arc::from(all));
    }

    /// Takes the routing header off.
    #[cold]
    #[inline(never)]
    pub fn remove_routing_header(&mut self) {
        if let Some(content) = self.payload.own_content() {
            self.payload = Payload::new(self.payload.len, content);
        }
    }
}

impl Payload {
    /// The header, and the bytes that stand for the content.
    fn header_and_rest(&self) -> Option<(&[u8], &[u8])> {
        match &self.content {
            Content::Bytes(bytes) if self.behind > 0 => bytes.split_at_checked(self.behind as usize),
            _ => None,
        }
    }

    /// The content without a routing header; `None` if there is none before it.
    #[cold]
    #[inline(never)]
    pub(crate) fn own_content(&self) -> Option<Content> {
        let (kind, rest) = self.header_and_rest()?.1.split_first()?;
        Some(match (*kind, rest.first_chunk()) {
            (STREAM, Some(offset)) => Content::Virtual { offset: u64::from_be_bytes(*offset) },
            _ => Content::Bytes(Arc::from(rest)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, Ipv4, L4, Tcp, Udp};
    use std::net::Ipv4Addr;
    use units::{Bytes, FlowId};

    /// A DSR header with a source route over 10.1.0.2. @RFC4728 sec. 6.1, 6.7
    const HEADER: [u8; 12] = [0, 0, 0, 8, 96, 6, 0, 1, 10, 1, 0, 2];

    fn datagram(payload: Payload) -> Packet {
        let ip = Ipv4 { src: Ipv4Addr::new(10, 1, 0, 1), dst: Ipv4Addr::new(10, 1, 0, 3), ..Ipv4::default() };
        Packet { ip, l4: L4::Udp(Udp { src_port: 9, dst_port: 9 }), payload, flow: FlowId::forward(0) }
    }

    fn emitted(packet: &Packet) -> Vec<u8> {
        let mut out = Vec::new();
        packet.emit(&mut out).expect("it has bytes");
        out
    }

    #[test]
    fn the_header_stands_between_ip_and_transport_and_names_the_transport() {
        let plain = datagram(Payload::stream(7, 4));
        let mut packet = plain.clone();
        packet.set_routing_header(&HEADER);
        let (bytes, without) = (emitted(&packet), emitted(&plain));
        // IP: total length 44, protocol 48; UDP is 17, and its checksum the same as ever.
        assert_eq!((bytes.len(), &bytes[2..4], bytes[9]), (44, &[0, 44][..], 48));
        assert_eq!((&bytes[20..32], &bytes[32..]), (&[&[17], &HEADER[1..]].concat()[..], &without[20..]));
        assert_eq!(crate::verify(&bytes), Ok(crate::Integrity::HeaderOnly));
    }

    #[test]
    fn the_length_of_a_packet_has_it_and_that_of_its_payload_has_not() {
        for content in [Payload::stream(7, 4), Payload::new(4, Content::Bytes(Arc::from([1, 2, 3, 4])))] {
            let mut packet = datagram(content);
            let plain = packet.clone();
            packet.set_routing_header(&HEADER);
            assert_eq!((packet.ip_len(), packet.payload.len), (Bytes(28 + 12 + 4), 4));
            assert_eq!((packet.routing_header(), packet.payload.check()), (Some(&HEADER[..]), Ok(())));
            // Another in its place.
            packet.set_routing_header(&HEADER[..8]);
            assert_eq!((packet.ip_len(), packet.routing_header()), (Bytes(28 + 8 + 4), Some(&HEADER[..8])));
            packet.remove_routing_header();
            assert_eq!((&packet, packet.routing_header()), (&plain, None));
            packet.remove_routing_header();
            assert_eq!(packet, plain);
        }
    }

    #[test]
    fn agents_see_the_transport_as_if_it_were_not_there() {
        let mut packet = Packet { l4: L4::Tcp(Tcp::default()), ..datagram(Payload::stream(1, 1000)) };
        let plain = packet.clone();
        packet.set_routing_header(&HEADER);
        assert_eq!((packet.tcp_range(), packet.five_tuple()), (plain.tcp_range(), plain.five_tuple()));
        assert_eq!((Class::of(&packet), packet.tcp_data().is_some()), (Class::TcpData, true));
    }

    #[test]
    fn a_packet_with_nothing_behind_it_is_of_routing_and_says_59() {
        let mut packet = Packet { l4: L4::Nothing, flow: FlowId::NONE, ..datagram(Payload::EMPTY) };
        packet.set_routing_header(&HEADER);
        let bytes = emitted(&packet);
        assert_eq!((Class::of(&packet), packet.ip_len(), bytes.len()), (Class::Routing, Bytes(32), 32));
        assert_eq!((bytes[9], bytes[20], &bytes[21..]), (48, 59, &HEADER[1..]));
    }
}
