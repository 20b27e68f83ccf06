//! A-MSDUs: several MSDUs in the body of one QoS data frame. @80211-2020 9.3.2.2.2
//!
//! A subframe is DA, SA and length, the fields in the order of IEEE 802.3 (so the length has its high byte first), then the MSDU,
//! which begins with LLC and SNAP. All but the last are padded to a multiple of four bytes.
//!
//! - **Leaves out** Dynamic A-MSDUs and the short format, which has no addresses.

use super::{LLC_SNAP_IPV4, MacAddr};
use crate::cursor::Cursor;
use crate::{EmitError, FrameError, Packet};

/// One MSDU of an A-MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subframe<'a> {
    /// Its final destination.
    pub da: MacAddr,
    /// Its first source.
    pub sa: MacAddr,
    /// LLC, SNAP and what follows.
    pub msdu: &'a [u8],
}

impl<'a> Subframe<'a> {
    /// The IPv4 packet, if it is one.
    pub fn ip(&self) -> Option<&'a [u8]> {
        self.msdu.strip_prefix(&LLC_SNAP_IPV4)
    }
}

/// The subframes of a frame body, in order. After an error there are no more.
#[derive(Debug, Clone, Copy)]
pub struct Amsdu<'a>(Cursor<'a>);

impl<'a> Amsdu<'a> {
    /// Of the body of a frame whose QoS Control says that it has one ([`super::QosControl::amsdu_present`]).
    pub fn of(body: &'a [u8]) -> Amsdu<'a> {
        Amsdu(Cursor(body))
    }

    fn read(&mut self) -> Result<Subframe<'a>, FrameError> {
        let cursor = &mut self.0;
        let da = MacAddr::parse(cursor)?;
        let sa = MacAddr::parse(cursor)?;
        let len = usize::from(cursor.be16().ok_or(FrameError::Truncated("an A-MSDU subframe's length"))?);
        let msdu = cursor.take(len).ok_or(FrameError::Truncated("an A-MSDU subframe"))?;
        let padding = padding(len);
        // The last one has none.
        if cursor.left() > 0 && cursor.take(padding).is_none() {
            return Err(FrameError::Truncated("the padding of an A-MSDU subframe"));
        }
        Ok(Subframe { da, sa, msdu })
    }
}

impl<'a> Iterator for Amsdu<'a> {
    type Item = Result<Subframe<'a>, FrameError>;

    fn next(&mut self) -> Option<Result<Subframe<'a>, FrameError>> {
        if self.0.left() == 0 {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.0 = Cursor(&[]);
        }
        Some(read)
    }
}

/// Bytes behind a subframe whose MSDU has so many, unless it is the last.
fn padding(msdu: usize) -> usize {
    let len = super::len::SUBFRAME_HEADER.0 as usize + msdu;
    len.next_multiple_of(4) - len
}

/// Appends packets as an A-MSDU, each behind its DA and SA.
pub(super) fn emit<'p>(
    msdus: impl Iterator<Item = (MacAddr, MacAddr, &'p Packet)>,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let mut owed = 0;
    for (da, sa, packet) in msdus {
        out.resize(out.len() + owed, 0);
        out.extend([da, sa].iter().flat_map(|addr| addr.0));
        let at = out.len();
        out.extend([0; 2]);
        out.extend(LLC_SNAP_IPV4);
        packet.emit(out)?;
        let len = out.len() - at - 2;
        let field = u16::try_from(len).map_err(|_| EmitError::Unsupported("an MSDU above 65535 bytes"))?;
        out[at..at + 2].copy_from_slice(&field.to_be_bytes());
        owed = padding(len);
    }
    Ok(())
}
