//! RTS, CTS and Ack. @80211-2020 9.3.1

use super::{DurationField, FrameFlags, MacAddr, kind};
use crate::FrameError;
use crate::cursor::Cursor;

/// Request to send. @80211-2020 9.3.1.2
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rts {
    /// Flags of Frame Control.
    pub flags: FrameFlags,
    /// Reserves the medium for CTS, data, Ack and three SIFS. @80211-2020 9.3.1.2
    pub duration: DurationField,
    /// The station that is to respond.
    pub ra: MacAddr,
    /// The transmitter.
    pub ta: MacAddr,
}

/// Clear to send. @80211-2020 9.3.1.3
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cts {
    /// Flags of Frame Control.
    pub flags: FrameFlags,
    /// The RTS's duration, less a SIFS and this frame. @80211-2020 9.3.1.3
    pub duration: DurationField,
    /// The transmitter of the frame that asked.
    pub ra: MacAddr,
}

/// Acknowledgment. @80211-2020 9.3.1.4
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// Flags of Frame Control.
    pub flags: FrameFlags,
    /// Zero, unless more fragments follow. @80211-2020 9.3.1.4
    pub duration: DurationField,
    /// The transmitter of the frame that is acknowledged.
    pub ra: MacAddr,
}

/// The end of a contention-free period, and of a transmit opportunity that ends before the time it reserved. @80211-2020 9.3.1.6
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CfEnd {
    /// Flags of Frame Control.
    pub flags: FrameFlags,
    /// Zero.
    pub duration: DurationField,
    /// All stations.
    pub ra: MacAddr,
    /// The BSSID.
    pub bssid: MacAddr,
}

fn emit(kind: u8, flags: FrameFlags, duration: DurationField, addresses: &[MacAddr], out: &mut Vec<u8>) {
    out.extend([kind, flags.0]);
    out.extend(duration.us().to_le_bytes());
    out.extend(addresses.iter().flat_map(|addr| addr.0));
}

fn end(cursor: Cursor<'_>) -> Result<(), FrameError> {
    if cursor.left() == 0 { Ok(()) } else { Err(FrameError::Trailing(cursor.left())) }
}

impl Rts {
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        emit(kind::RTS, self.flags, self.duration, &[self.ra, self.ta], out);
    }

    /// Reads what follows the first byte.
    pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<Rts, FrameError> {
        let flags = FrameFlags::parse(&mut cursor)?;
        let duration = DurationField::parse(&mut cursor)?;
        let ra = MacAddr::parse(&mut cursor)?;
        let ta = MacAddr::parse(&mut cursor)?;
        end(cursor)?;
        Ok(Rts { flags, duration, ra, ta })
    }
}

impl CfEnd {
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        emit(kind::CF_END, self.flags, self.duration, &[self.ra, self.bssid], out);
    }

    /// Reads what follows the first byte: the format is the RTS's.
    pub(super) fn parse(cursor: Cursor<'_>) -> Result<CfEnd, FrameError> {
        let Rts { flags, duration, ra, ta } = Rts::parse(cursor)?;
        Ok(CfEnd { flags, duration, ra, bssid: ta })
    }
}

impl Cts {
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        emit(kind::CTS, self.flags, self.duration, &[self.ra], out);
    }

    /// Reads what follows the first byte.
    pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<Cts, FrameError> {
        let flags = FrameFlags::parse(&mut cursor)?;
        let duration = DurationField::parse(&mut cursor)?;
        let ra = MacAddr::parse(&mut cursor)?;
        end(cursor)?;
        Ok(Cts { flags, duration, ra })
    }
}

impl Ack {
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        emit(kind::ACK, self.flags, self.duration, &[self.ra], out);
    }

    /// Reads what follows the first byte: the format is the CTS's.
    pub(super) fn parse(cursor: Cursor<'_>) -> Result<Ack, FrameError> {
        let Cts { flags, duration, ra } = Cts::parse(cursor)?;
        Ok(Ack { flags, duration, ra })
    }
}
