//! ICMP echo request and reply. @RFC792 p. 14

use super::checksum::Sum;
use crate::cursor::Cursor;
use crate::{Echo, EmitError, Payload};

/// The type of an echo reply.
const REPLY: u8 = 0;
/// The type of an echo request.
const REQUEST: u8 = 8;
/// Where the checksum stands.
const CHECKSUM_AT: usize = 2;

/// The checksum we would write over a message, whatever stands in its checksum field.
fn own_checksum(message: &[u8]) -> Option<u16> {
    let (before, after) = (message.get(..CHECKSUM_AT)?, message.get(CHECKSUM_AT + 2..)?);
    Some(Sum::default().bytes(before).bytes(after).checksum())
}

/// Appends header and payload.
pub(super) fn emit(echo: &Echo, payload: &Payload, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let start = out.len();
    out.extend([if echo.reply { REPLY } else { REQUEST }, 0, 0, 0]);
    out.extend(echo.id.to_be_bytes());
    out.extend(echo.seq.to_be_bytes());
    payload.emit(out)?;
    if let Some(sum) = own_checksum(&out[start..]) {
        out[start + CHECKSUM_AT..][..2].copy_from_slice(&sum.to_be_bytes());
    }
    Ok(())
}

/// Reads header and payload. None for other types and codes and for a checksum other than ours.
pub(super) fn parse(message: &[u8]) -> Option<(Echo, &[u8])> {
    let mut cursor = Cursor(message);
    let reply = match cursor.u8()? {
        REPLY => true,
        REQUEST => false,
        _ => return None,
    };
    let code = cursor.u8()?;
    let found = cursor.be16()?;
    let (id, seq) = (cursor.be16()?, cursor.be16()?);
    (code == 0 && found == own_checksum(message)?).then_some((Echo { reply, id, seq }, cursor.0))
}
