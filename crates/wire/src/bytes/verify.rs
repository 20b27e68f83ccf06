//! The check of a packet's checksums that a receiving host makes, and [`Packet::parse`] does not.

use super::checksum::{Sum, pseudo_header};
use super::{ipv4, protocol};
use crate::ParseError;
#[cfg(doc)]
use crate::{L4, Packet};

/// The result of checking an IP packet's checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// Header and transport checksum are right. Such a packet may still be [`L4::Opaque`] for other reasons.
    Good,
    /// The header's is right and the transport has none to check: a UDP checksum of zero, a fragment, a protocol we do
    /// not know.
    HeaderOnly,
    /// The IP header is damaged. A host or router drops it. @RFC1122 sec. 3.2.1.2
    BadHeader,
    /// The header is sound; the transport's checksum is wrong, or its header does not fit. A host drops it, a router
    /// does not look. (A sending kernel that leaves checksums to the interface makes such packets too.)
    BadTransport,
}

/// Checks the checksums of an IP packet; fails exactly where [`Packet::parse`] does. Bytes behind the total length are
/// not looked at.
pub fn verify(bytes: &[u8]) -> Result<Integrity, ParseError> {
    let header = ipv4::parse(bytes)?;
    // The parser has compared these lengths: neither slice can fail.
    let (head, segment) = (&bytes[..header.len], &bytes[header.len..header.total_len]);
    if Sum::default().bytes(head).checksum() != 0 {
        return Ok(Integrity::BadHeader);
    }
    if header.fragment {
        return Ok(Integrity::HeaderOnly);
    }
    let pseudo = |len: usize| pseudo_header(header.ip.src, header.ip.dst, header.protocol, len as u16);
    let sum = match header.protocol {
        protocol::TCP if segment.len() >= 20 => pseudo(segment.len()).bytes(segment),
        protocol::ICMP if segment.len() >= 4 => Sum::default().bytes(segment),
        protocol::UDP if segment.len() >= 8 => {
            if segment[6..8] == [0, 0] {
                return Ok(Integrity::HeaderOnly);
            }
            // The datagram may be shorter than the IP payload; the checksum covers the datagram. @RFC768
            match segment.get(..usize::from(u16::from_be_bytes([segment[4], segment[5]]))) {
                Some(datagram) if datagram.len() >= 8 => pseudo(datagram.len()).bytes(datagram),
                _ => return Ok(Integrity::BadTransport),
            }
        }
        protocol::TCP | protocol::UDP | protocol::ICMP => return Ok(Integrity::BadTransport),
        _ => return Ok(Integrity::HeaderOnly),
    };
    Ok(if sum.checksum() == 0 { Integrity::Good } else { Integrity::BadTransport })
}
