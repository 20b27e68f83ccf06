//! ICMP: echo request and reply, and messages that quote a TCP segment. @RFC792

use super::checksum::Sum;
use super::{ipv4, protocol};
use crate::cursor::Cursor;
use crate::{Echo, EmitError, L4, Notice, NoticeKind, Payload, Quote, Seq};

/// The type of an echo reply.
const REPLY: u8 = 0;
/// The type of an echo request.
const REQUEST: u8 = 8;
/// Offset of the checksum, in bytes.
const CHECKSUM_AT: usize = 2;

/// The checksum we would write over a message, whatever stands in its checksum field.
fn own_checksum(message: &[u8]) -> Option<u16> {
    let (before, after) = (message.get(..CHECKSUM_AT)?, message.get(CHECKSUM_AT + 2..)?);
    Some(Sum::default().bytes(before).bytes(after).checksum())
}

/// The number of a notice's type. @RFC792, @RFC4727 sec. 3.2
const fn number(kind: NoticeKind) -> u8 {
    match kind {
        NoticeKind::Unreachable => 3,
        NoticeKind::SourceQuench => 4,
        NoticeKind::TimeExceeded => 11,
        NoticeKind::Experiment1 => 253,
        NoticeKind::Experiment2 => 254,
    }
}

fn kind(number: u8) -> Option<NoticeKind> {
    Some(match number {
        3 => NoticeKind::Unreachable,
        4 => NoticeKind::SourceQuench,
        11 => NoticeKind::TimeExceeded,
        253 => NoticeKind::Experiment1,
        254 => NoticeKind::Experiment2,
        _ => return None,
    })
}

/// Appends the payload to a message that began at `start`, then writes its checksum.
fn finish(start: usize, payload: &Payload, out: &mut Vec<u8>) -> Result<(), EmitError> {
    payload.emit(out)?;
    if let Some(sum) = own_checksum(&out[start..]) {
        out[start + CHECKSUM_AT..][..2].copy_from_slice(&sum.to_be_bytes());
    }
    Ok(())
}

/// Appends an echo's header and payload. @RFC792 p. 14
pub(super) fn emit(echo: &Echo, payload: &Payload, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let start = out.len();
    out.extend([if echo.reply { REPLY } else { REQUEST }, 0, 0, 0]);
    out.extend(echo.id.to_be_bytes());
    out.extend(echo.seq.to_be_bytes());
    finish(start, payload, out)
}

/// Appends a notice's header, its quote, and what follows that. @RFC792 p. 4
pub(super) fn emit_notice(notice: &Notice, payload: &Payload, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let start = out.len();
    out.extend([number(notice.kind), notice.code, 0, 0]);
    out.extend(notice.word.to_be_bytes());
    let quote = &notice.quote;
    ipv4::emit(&quote.ip, protocol::TCP, quote.ip_len, out);
    out.extend(quote.src_port.to_be_bytes());
    out.extend(quote.dst_port.to_be_bytes());
    out.extend(quote.seq.0.to_be_bytes());
    finish(start, payload, out)
}

/// Reads header and payload. None for other types, for an echo with a code, for a quote of anything but a TCP segment
/// behind an IP header we could have written, and for a checksum other than ours.
pub(super) fn parse(message: &[u8]) -> Option<(L4, &[u8])> {
    let mut cursor = Cursor(message);
    let number = cursor.u8()?;
    let code = cursor.u8()?;
    if cursor.be16()? != own_checksum(message)? {
        return None;
    }
    if let REPLY | REQUEST = number {
        let echo = Echo { reply: number == REPLY, id: cursor.be16()?, seq: cursor.be16()? };
        return (code == 0).then_some((L4::Echo(echo), cursor.0));
    }
    let (kind, word) = (kind(number)?, cursor.be32()?);
    let quote = quote(&mut cursor)?;
    Some((L4::Notice(Notice { kind, code, word, quote }), cursor.0))
}

fn quote(cursor: &mut Cursor<'_>) -> Option<Quote> {
    let header = ipv4::fields(cursor.take(ipv4::HEADER_LEN)?)?;
    let (src_port, dst_port, seq) = (cursor.be16()?, cursor.be16()?, Seq(cursor.be32()?));
    let is_tcp = header.plain && header.protocol == protocol::TCP;
    let ip_len = u16::try_from(header.total_len).ok()?;
    is_tcp.then_some(Quote { ip: header.ip, ip_len, src_port, dst_port, seq })
}
