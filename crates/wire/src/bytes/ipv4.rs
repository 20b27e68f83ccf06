//! The IPv4 header. @RFC791 sec. 3.1

use super::checksum::checksum;
use crate::cursor::Cursor;
use crate::{Ipv4, ParseError};

/// Length of a header without options, in bytes. @RFC791 sec. 3.1
pub(super) const HEADER_LEN: usize = 20;
/// Version 4, header of five words: the first byte of every header we make.
const VERSION_IHL: u8 = 0x45;
/// The don't-fragment bit among flags and fragment offset; all others of that word must be zero to be plain.
const DONT_FRAGMENT: u16 = 0x4000;
/// Offset of the checksum, in bytes.
const CHECKSUM_AT: usize = 10;

/// A header, and the fields of it that [`Ipv4`] does not hold.
#[derive(Debug)]
pub(super) struct Header {
    /// The fields that a packet keeps.
    pub(super) ip: Ipv4,
    /// The transport's number.
    pub(super) protocol: u8,
    /// Header length with options, in bytes.
    pub(super) len: usize,
    /// Length of the packet as the header says, in bytes.
    pub(super) total_len: usize,
    /// True if it is one piece of a fragmented packet.
    pub(super) fragment: bool,
    /// True if [`emit`] would write exactly these bytes: no options, no fragment, reserved flag zero, right checksum.
    pub(super) plain: bool,
}

/// Appends a header for a packet of `total_len` bytes.
pub(super) fn emit(ip: &Ipv4, protocol: u8, total_len: u16, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([VERSION_IHL, ip.tos]);
    out.extend(total_len.to_be_bytes());
    out.extend(ip.id.to_be_bytes());
    out.extend((if ip.dont_fragment { DONT_FRAGMENT } else { 0 }).to_be_bytes());
    out.extend([ip.ttl, protocol, 0, 0]);
    out.extend(ip.src.octets());
    out.extend(ip.dst.octets());
    let sum = checksum(&out[start..]);
    out[start + CHECKSUM_AT..][..2].copy_from_slice(&sum.to_be_bytes());
}

/// Reads a header; fails if it does not fit.
pub(super) fn parse(bytes: &[u8]) -> Result<Header, ParseError> {
    let truncated = ParseError::Truncated { have: bytes.len() };
    if let Some(first) = bytes.first()
        && first >> 4 != 4
    {
        return Err(ParseError::Version(first >> 4));
    }
    if bytes.len() < HEADER_LEN {
        return Err(truncated);
    }
    let header = fields(bytes).ok_or(truncated)?;
    if header.len < HEADER_LEN || header.len > header.total_len {
        return Err(ParseError::HeaderLength { header: header.len, total: header.total_len });
    }
    if header.total_len > bytes.len() {
        return Err(ParseError::TotalLength { total: header.total_len, have: bytes.len() });
    }
    Ok(header)
}

/// The fields of a header, whatever follows it. None if it is cut short.
pub(super) fn fields(bytes: &[u8]) -> Option<Header> {
    let mut cursor = Cursor(bytes);
    let version_ihl = cursor.u8()?;
    let tos = cursor.u8()?;
    let total_len = usize::from(cursor.be16()?);
    let id = cursor.be16()?;
    let flags_offset = cursor.be16()?;
    let ttl = cursor.u8()?;
    let protocol = cursor.u8()?;
    let found = cursor.be16()?;
    let src = cursor.ipv4()?;
    let dst = cursor.ipv4()?;
    let ip = Ipv4 { src, dst, tos, ttl, id, dont_fragment: flags_offset & DONT_FRAGMENT != 0 };
    let plain = version_ihl == VERSION_IHL && flags_offset & !DONT_FRAGMENT == 0 && found == own_checksum(bytes)?;
    let fragment = flags_offset & 0x3FFF != 0; // more fragments, or an offset
    Some(Header { ip, protocol, len: usize::from(version_ihl & 0x0F) * 4, total_len, fragment, plain })
}

/// The checksum we would write into a header without options.
fn own_checksum(bytes: &[u8]) -> Option<u16> {
    let mut header: [u8; HEADER_LEN] = *bytes.first_chunk()?;
    header[CHECKSUM_AT..CHECKSUM_AT + 2].fill(0);
    Some(checksum(&header))
}
