//! The radiotap header: what a capture says about a frame's reception. @RADIOTAP www.radiotap.org
//!
//! Writes and reads TSFT, flags, rate, channel, antenna signal, A-MPDU status, and the modulation of HT, VHT and HE. Each field stands
//! at a multiple of its alignment, counted from the header's first byte; integers are little-endian. Reads headers of others too:
//! what else they say is skipped, with any further bitmaps.

mod modulation;
#[cfg(test)]
mod tests;

pub use modulation::{Coding, Format, Modulation};

use crate::FrameError;
use crate::cursor::Cursor;
use core::ops::BitOr;
use units::{BitRate, Dbm, SimTime};

/// Bits of the first bitmap, which is also the order of the fields. @RADIOTAP "defined fields"
mod present {
    pub(super) const TSFT: u32 = 1 << 0;
    pub(super) const FLAGS: u32 = 1 << 1;
    pub(super) const RATE: u32 = 1 << 2;
    pub(super) const CHANNEL: u32 = 1 << 3;
    pub(super) const SIGNAL: u32 = 1 << 5;
    pub(super) const MCS: u32 = 1 << 19;
    pub(super) const A_MPDU: u32 = 1 << 20;
    pub(super) const VHT: u32 = 1 << 21;
    pub(super) const HE: u32 = 1 << 23;
    /// Another bitmap follows this one.
    pub(super) const MORE: u32 = 1 << 31;
}

/// Alignment and length of the fields, by their bits, as far as there are some that are read here. @RADIOTAP "defined fields"
#[rustfmt::skip]
const FIELDS: [(usize, usize); 24] = [
    (8, 8), (1, 1), (1, 1), (2, 4), (1, 2), (1, 1), // TSFT, flags, rate, channel, FHSS, antenna signal
    (1, 1), (2, 2), (2, 2), (2, 2), (1, 1), (1, 1), // noise, lock quality, attenuation twice, transmit power, antenna
    (1, 1), (1, 1), (2, 2), (2, 2), (1, 1), (1, 1), // signal and noise in dB, RX flags, TX flags, RTS and data retries
    (4, 8), (1, 3), (4, 8), (2, 12), (8, 12), (2, 12), // extended channel, MCS, A-MPDU status, VHT, timestamp, HE
];

/// The flags field. @RADIOTAP "Flags"
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RadiotapFlags(pub u8);

impl RadiotapFlags {
    /// Sent with the short preamble.
    pub const SHORT_PREAMBLE: RadiotapFlags = RadiotapFlags(0x02);
    /// The frame ends with its FCS.
    pub const FCS_AT_END: RadiotapFlags = RadiotapFlags(0x10);
    /// The frame failed its FCS check.
    pub const BAD_FCS: RadiotapFlags = RadiotapFlags(0x40);

    /// True if all bits of `other` are set.
    pub const fn has(self, other: RadiotapFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for RadiotapFlags {
    type Output = RadiotapFlags;
    fn bitor(self, other: RadiotapFlags) -> RadiotapFlags {
        RadiotapFlags(self.0 | other.0)
    }
}

/// The channel field. @RADIOTAP "Channel"
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Centre frequency, in MHz.
    pub frequency_mhz: u16,
    /// Kind of channel, such as [`Channel::CCK_2GHZ`].
    pub flags: u16,
}

impl Channel {
    /// 2.4 GHz, DSSS and CCK: 802.11b.
    pub const CCK_2GHZ: u16 = 0x0080 | 0x0020;
    /// 2.4 GHz, OFDM and CCK mixed: 802.11g.
    pub const DYNAMIC_2GHZ: u16 = 0x0080 | 0x0400;
    /// 5 GHz, OFDM: 802.11a.
    pub const OFDM_5GHZ: u16 = 0x0100 | 0x0040;
}

/// The A-MPDU status field: the frame came in an A-MPDU. @RADIOTAP "A-MPDU status"
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmpduStatus {
    /// The same number for all MPDUs of one A-MPDU, another for the next.
    pub reference: u32,
    /// True for its last MPDU; `None`: unknown.
    pub is_last: Option<bool>,
}

impl AmpduStatus {
    const LAST_KNOWN: u16 = 0x0004;
    const IS_LAST: u16 = 0x0008;

    fn emit(&self, out: &mut Vec<u8>) {
        let flags = self
            .is_last
            .map_or(0, |is_last| AmpduStatus::LAST_KNOWN | if is_last { AmpduStatus::IS_LAST } else { 0 });
        out.extend(self.reference.to_le_bytes());
        out.extend(flags.to_le_bytes());
        out.extend([0; 2]); // delimiter CRC, unknown; reserved
    }

    fn parse(field: &mut Cursor<'_>) -> Option<AmpduStatus> {
        let (reference, flags) = (field.le32()?, field.le16()?);
        let is_last = (flags & AmpduStatus::LAST_KNOWN != 0).then_some(flags & AmpduStatus::IS_LAST != 0);
        Some(AmpduStatus { reference, is_last })
    }
}

/// A radiotap header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Radiotap {
    /// The time when the first bit of the MPDU arrived at the MAC, in microseconds of its TSF timer. @RADIOTAP "TSFT"
    pub tsft_us: Option<u64>,
    /// Properties of the frame.
    pub flags: Option<RadiotapFlags>,
    /// Data rate, in units of 500 kb/s. @RADIOTAP "Rate"
    pub rate_500kbps: Option<u8>,
    /// The channel.
    pub channel: Option<Channel>,
    /// Power at the antenna, in dBm. @RADIOTAP "Antenna signal"
    pub signal_dbm: Option<i8>,
    /// Of a frame that came in an A-MPDU.
    pub a_mpdu: Option<AmpduStatus>,
    /// Modulation of an HT, VHT or HE PPDU; such frames have no rate.
    pub modulation: Option<Modulation>,
}

impl Radiotap {
    /// With TSFT: whole microseconds of virtual time.
    #[must_use]
    pub fn with_time(self, at: SimTime) -> Radiotap {
        Radiotap { tsft_us: Some(at.ns() / 1_000), ..self }
    }

    /// With a rate, rounded down to 500 kb/s; left out above 127.5 Mb/s, which the field cannot say.
    #[must_use]
    pub fn with_rate(self, rate: BitRate) -> Radiotap {
        Radiotap { rate_500kbps: u8::try_from(rate.bps() / 500_000).ok(), ..self }
    }

    /// With the power at the antenna, rounded to whole dBm and held within -128 to 127; left out if it is no number.
    #[must_use]
    pub fn with_signal(self, power: Dbm) -> Radiotap {
        Radiotap { signal_dbm: (!power.0.is_nan()).then(|| power.0.round() as i8), ..self }
    }

    /// Appends the header; the frame comes right behind it.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let bit = |is_present: bool, bit: u32| if is_present { bit } else { 0 };
        let bitmap = bit(self.tsft_us.is_some(), present::TSFT)
            | bit(self.flags.is_some(), present::FLAGS)
            | bit(self.rate_500kbps.is_some(), present::RATE)
            | bit(self.channel.is_some(), present::CHANNEL)
            | bit(self.signal_dbm.is_some(), present::SIGNAL)
            | bit(self.a_mpdu.is_some(), present::A_MPDU)
            | self.modulation.map_or(0, |modulation| modulation.format.bit());
        let align = |out: &mut Vec<u8>, to: usize| out.resize(start + (out.len() - start).next_multiple_of(to), 0);
        out.extend([0; 4]); // version 0, padding; the length follows below
        out.extend(bitmap.to_le_bytes());
        out.extend(self.tsft_us.iter().flat_map(|us| us.to_le_bytes())); // at 8, as it wants
        out.extend(self.flags.iter().map(|flags| flags.0));
        out.extend(self.rate_500kbps);
        if let Some(channel) = self.channel {
            align(out, 2);
            out.extend(channel.frequency_mhz.to_le_bytes());
            out.extend(channel.flags.to_le_bytes());
        }
        out.extend(self.signal_dbm.iter().map(|dbm| *dbm as u8));
        // MCS stands before A-MPDU status, VHT and HE behind it.
        let (before, behind) = match self.modulation {
            Some(modulation) if modulation.format == Format::Ht => (Some(modulation), None),
            other => (None, other),
        };
        if let Some(modulation) = before {
            modulation.emit(out);
        }
        if let Some(a_mpdu) = self.a_mpdu {
            align(out, 4);
            a_mpdu.emit(out);
        }
        if let Some(modulation) = behind {
            align(out, 2);
            modulation.emit(out);
        }
        let len = (out.len() - start) as u16; // at most 52
        out[start + 2..start + 4].copy_from_slice(&len.to_le_bytes());
    }

    /// Reads a header and returns the bytes behind it, the frame.
    pub fn parse(bytes: &[u8]) -> Result<(Radiotap, &[u8]), FrameError> {
        let truncated = FrameError::Truncated("the radiotap header");
        let mut start = Cursor(bytes);
        let version = start.u8().ok_or(truncated)?;
        start.u8().ok_or(truncated)?;
        let len = usize::from(start.le16().ok_or(truncated)?);
        if version != 0 {
            return Err(FrameError::Unsupported("a radiotap version other than 0"));
        }
        let (header, frame) = bytes.split_at_checked(len).ok_or(truncated)?;
        let fields = fields(header).ok_or(FrameError::Malformed("radiotap header"))?;
        Ok((fields, frame))
    }
}

/// Reads the fields of a header cut to its length. None if a bitmap or field runs over it.
fn fields(header: &[u8]) -> Option<Radiotap> {
    let mut cursor = Cursor(header);
    cursor.take(4)?;
    let bitmap = cursor.le32()?;
    let mut last = bitmap;
    while last & present::MORE != 0 {
        last = cursor.le32()?;
    }
    let mut found = Radiotap::default();
    for (bit, (align, len)) in FIELDS.iter().enumerate().map(|(place, field)| (1 << place, field)) {
        if bitmap & bit == 0 {
            continue;
        }
        let at = header.len() - cursor.left();
        cursor.take(at.next_multiple_of(*align) - at)?;
        let mut field = Cursor(cursor.take(*len)?);
        match bit {
            present::TSFT => found.tsft_us = Some(field.le64()?),
            present::FLAGS => found.flags = Some(RadiotapFlags(field.u8()?)),
            present::RATE => found.rate_500kbps = Some(field.u8()?),
            present::CHANNEL => found.channel = Some(Channel { frequency_mhz: field.le16()?, flags: field.le16()? }),
            present::SIGNAL => found.signal_dbm = Some(field.u8()? as i8),
            present::A_MPDU => found.a_mpdu = Some(AmpduStatus::parse(&mut field)?),
            _ => {
                let format = Format::ALL.into_iter().find(|format| format.bit() == bit);
                if let Some(format) = format {
                    found.modulation = found.modulation.or(Modulation::parse(format, &mut field)?);
                }
            }
        }
    }
    Some(found)
}
