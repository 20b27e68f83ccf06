//! The UDP header. @RFC768

use super::checksum::pseudo_header;
use super::protocol;
use crate::cursor::Cursor;
use crate::{EmitError, Ipv4, Payload, Udp};

/// Length in bytes.
const HEADER_LEN: usize = 8;
/// Offset of the checksum, in bytes.
const CHECKSUM_AT: usize = 6;

/// The checksum we would write over a datagram, whatever stands in its checksum field. A computed zero is written as
/// 0xFFFF, since zero says that there is none. @RFC768
fn own_checksum(ip: &Ipv4, datagram: &[u8]) -> Option<u16> {
    let len = u16::try_from(datagram.len()).ok()?;
    let (before, after) = (datagram.get(..CHECKSUM_AT)?, datagram.get(HEADER_LEN..)?);
    match pseudo_header(ip.src, ip.dst, protocol::UDP, len).bytes(before).bytes(after).checksum() {
        0 => Some(0xFFFF),
        sum => Some(sum),
    }
}

/// Appends header and payload. The caller has checked that the IP packet fits 16 bits.
pub(super) fn emit(udp: &Udp, ip: &Ipv4, payload: &Payload, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let start = out.len();
    out.extend(udp.src_port.to_be_bytes());
    out.extend(udp.dst_port.to_be_bytes());
    out.extend((HEADER_LEN as u16 + payload.len as u16).to_be_bytes());
    out.extend([0, 0]);
    payload.emit(out)?;
    if let Some(sum) = own_checksum(ip, &out[start..]) {
        out[start + CHECKSUM_AT..][..2].copy_from_slice(&sum.to_be_bytes());
    }
    Ok(())
}

/// Reads header and payload. None for what cannot be represented: a length other than the IP payload's, no checksum, a
/// checksum other than ours.
pub(super) fn parse<'a>(ip: &Ipv4, datagram: &'a [u8]) -> Option<(Udp, &'a [u8])> {
    let mut cursor = Cursor(datagram);
    let src_port = cursor.be16()?;
    let dst_port = cursor.be16()?;
    let len = usize::from(cursor.be16()?);
    let found = cursor.be16()?;
    if len != datagram.len() || found != own_checksum(ip, datagram)? {
        return None;
    }
    Some((Udp { src_port, dst_port }, cursor.0))
}
