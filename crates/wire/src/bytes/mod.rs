//! IP packets to and from bytes.
//!
//! [`Packet::parse`] types a packet only if [`Packet::emit`] gives the same bytes back; all others are
//! [`L4::Opaque`] and keep their bytes. So a header with options, a fragment, the reserved flag, a UDP packet without checksum, an
//! ICMP message that quotes anything but TCP, a checksum that is wrong (emitting would repair the damage unseen), and
//! bytes behind the IP total length all make a packet opaque. [`verify`] tells damaged packets from foreign ones.

pub mod checksum;
mod icmp;
mod ipv4;
mod payload;
mod tcp;
mod udp;
mod verify;

pub use verify::{Integrity, verify};

use crate::{Content, EmitError, L4, Packet, ParseError, Payload};
use std::sync::Arc;
use units::FlowId;

/// Protocol numbers of the IP header. @RFC790, now the IANA registry
pub mod protocol {
    /// ICMP. @RFC792
    pub const ICMP: u8 = 1;
    /// TCP. @RFC9293
    pub const TCP: u8 = 6;
    /// UDP. @RFC768
    pub const UDP: u8 = 17;
    /// DSR. @RFC4728 sec. 10
    pub const DSR: u8 = 48;
    /// Nothing follows. @RFC8200 sec. 4.7
    pub const NONE: u8 = 59;
}

impl Packet {
    /// Appends the packet's bytes, checksums computed, to `out`. An opaque packet is written as it came: what is in
    /// `ip` is only a copy of its header for routing. On an error `out` stays as it was.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let protocol = match &self.l4 {
            L4::Tcp(_) => protocol::TCP,
            L4::Udp(_) => protocol::UDP,
            L4::Echo(_) | L4::Notice(_) => protocol::ICMP,
            L4::Nothing => protocol::NONE,
            L4::Opaque => return self.payload.emit(out),
        };
        let len = self.ip_len().0;
        let len = u16::try_from(len).map_err(|_| EmitError::TooLong(len))?;
        self.payload.check()?;
        out.reserve(usize::from(len));
        match self.routing_header() {
            None => ipv4::emit(&self.ip, protocol, len, out),
            Some(header) => {
                ipv4::emit(&self.ip, protocol::DSR, len, out);
                out.extend([protocol]);
                out.extend_from_slice(header.get(1..).unwrap_or_default());
            }
        }
        match &self.l4 {
            L4::Tcp(header) => tcp::emit(header, &self.ip, &self.payload, out),
            L4::Udp(header) => udp::emit(header, &self.ip, &self.payload, out),
            L4::Echo(header) => icmp::emit(header, &self.payload, out),
            L4::Notice(header) => icmp::emit_notice(header, &self.payload, out),
            L4::Nothing | L4::Opaque => Ok(()),
        }
    }

    /// Reads one IP packet. Fails only if the bytes hold no IPv4 header (cut short, another version, lengths that
    /// contradict each other or the bytes); whatever else cannot be represented is [`L4::Opaque`].
    ///
    /// `bytes` must end where the packet does: a link layer's padding is the link layer's to remove, and left in place
    /// makes the packet opaque.
    pub fn parse(bytes: &[u8], flow: FlowId) -> Result<Packet, ParseError> {
        let header = ipv4::parse(bytes)?;
        let typed = if header.plain && header.total_len == bytes.len() {
            transport(&header, &bytes[ipv4::HEADER_LEN..])
        } else {
            None
        };
        let (l4, payload) = typed.unwrap_or((L4::Opaque, bytes));
        let len = u32::try_from(payload.len()).map_err(|_| ParseError::TooLong)?;
        let payload = if len == 0 { Payload::EMPTY } else { Payload::new(len, Content::Bytes(Arc::from(payload))) };
        Ok(Packet { ip: header.ip, l4, payload, flow })
    }
}

/// The transport header and the payload behind it, if they can be represented.
fn transport<'a>(header: &ipv4::Header, segment: &'a [u8]) -> Option<(L4, &'a [u8])> {
    match header.protocol {
        protocol::TCP => tcp::parse(&header.ip, segment).map(|(tcp, payload)| (L4::Tcp(tcp), payload)),
        protocol::UDP => udp::parse(&header.ip, segment).map(|(udp, payload)| (L4::Udp(udp), payload)),
        protocol::ICMP => icmp::parse(segment),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
