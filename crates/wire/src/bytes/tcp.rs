//! The TCP header. @RFC9293 sec. 3.1

use super::checksum::pseudo_header;
use super::protocol;
use crate::cursor::Cursor;
use crate::{EmitError, Flags, Ipv4, Payload, Seq, Tcp, TcpOptions};

/// Offset of the checksum, in bytes.
const CHECKSUM_AT: usize = 16;

/// The checksum we would write over a segment, whatever stands in its checksum field. None if it is too short.
fn own_checksum(ip: &Ipv4, segment: &[u8]) -> Option<u16> {
    let len = u16::try_from(segment.len()).ok()?;
    let (before, after) = (segment.get(..CHECKSUM_AT)?, segment.get(CHECKSUM_AT + 2..)?);
    Some(pseudo_header(ip.src, ip.dst, protocol::TCP, len).bytes(before).bytes(after).checksum())
}

/// Appends header and payload.
pub(super) fn emit(tcp: &Tcp, ip: &Ipv4, payload: &Payload, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let start = out.len();
    out.extend(tcp.src_port.to_be_bytes());
    out.extend(tcp.dst_port.to_be_bytes());
    out.extend(tcp.seq.0.to_be_bytes());
    out.extend(tcp.ack.0.to_be_bytes());
    let words = (tcp.header_len() / 4) as u16;
    out.extend((words << 12 | tcp.flags.0 & Flags::ALL.0).to_be_bytes());
    out.extend(tcp.window.to_be_bytes());
    out.extend([0, 0]);
    out.extend(tcp.urgent.to_be_bytes());
    out.extend_from_slice(tcp.options.bytes());
    payload.emit(out)?;
    if let Some(sum) = own_checksum(ip, &out[start..]) {
        out[start + CHECKSUM_AT..][..2].copy_from_slice(&sum.to_be_bytes());
    }
    Ok(())
}

/// Reads header and payload. None for what cannot be represented: a data offset outside the segment or below five
/// words, a checksum other than ours.
pub(super) fn parse<'a>(ip: &Ipv4, segment: &'a [u8]) -> Option<(Tcp, &'a [u8])> {
    let mut cursor = Cursor(segment);
    let src_port = cursor.be16()?;
    let dst_port = cursor.be16()?;
    let seq = Seq(cursor.be32()?);
    let ack = Seq(cursor.be32()?);
    let offset_and_flags = cursor.be16()?;
    let (words, flags) = (usize::from(offset_and_flags >> 12), Flags(offset_and_flags & Flags::ALL.0));
    let window = cursor.be16()?;
    let found = cursor.be16()?;
    let urgent = cursor.be16()?;
    let options = TcpOptions::from_bytes(cursor.take((words * 4).checked_sub(20)?)?)?;
    if found != own_checksum(ip, segment)? {
        return None;
    }
    Some((Tcp { src_port, dst_port, seq, ack, flags, window, urgent, options }, cursor.0))
}
