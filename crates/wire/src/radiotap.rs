//! The radiotap header: what a capture says about a frame's reception. @RADIOTAP www.radiotap.org
//!
//! Writes and reads TSFT, flags, rate, channel and antenna signal. Each field stands at a multiple of its alignment,
//! counted from the header's first byte; integers are little-endian. Reads headers of others too: fields it does not
//! know stand behind those it knows, and are skipped by the header's length, with any further bitmaps.

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
    pub(super) const FHSS: u32 = 1 << 4;
    pub(super) const SIGNAL: u32 = 1 << 5;
    /// Another bitmap follows this one.
    pub(super) const MORE: u32 = 1 << 31;
}

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
            | bit(self.signal_dbm.is_some(), present::SIGNAL);
        out.extend([0; 4]); // version 0, padding; the length follows below
        out.extend(bitmap.to_le_bytes());
        // TSFT wants a multiple of 8 and stands at 8; the only hole is before the channel, which wants one of 2.
        out.extend(self.tsft_us.iter().flat_map(|us| us.to_le_bytes()));
        out.extend(self.flags.iter().map(|flags| flags.0));
        out.extend(self.rate_500kbps);
        if let Some(channel) = self.channel {
            out.resize(out.len() + (out.len() - start) % 2, 0);
            out.extend(channel.frequency_mhz.to_le_bytes());
            out.extend(channel.flags.to_le_bytes());
        }
        out.extend(self.signal_dbm.iter().map(|dbm| *dbm as u8));
        let len = (out.len() - start) as u16; // at most 23
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
    let has = |bit: u32| bitmap & bit != 0;
    let align = |cursor: &mut Cursor<'_>, to: usize| {
        let at = header.len() - cursor.left();
        cursor.take(at.next_multiple_of(to) - at).map(|_| ())
    };
    let mut found = Radiotap::default();
    if has(present::TSFT) {
        align(&mut cursor, 8)?;
        found.tsft_us = Some(cursor.le64()?);
    }
    if has(present::FLAGS) {
        found.flags = Some(RadiotapFlags(cursor.u8()?));
    }
    if has(present::RATE) {
        found.rate_500kbps = Some(cursor.u8()?);
    }
    if has(present::CHANNEL) {
        align(&mut cursor, 2)?;
        found.channel = Some(Channel { frequency_mhz: cursor.le16()?, flags: cursor.le16()? });
    }
    if has(present::FHSS) {
        cursor.take(2)?; // two single bytes: no alignment
    }
    if has(present::SIGNAL) {
        found.signal_dbm = Some(cursor.u8()? as i8);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emitted(header: &Radiotap) -> Vec<u8> {
        let mut out = vec![0xEE; 3]; // alignment counts from the header, not from the buffer
        header.emit(&mut out);
        out.split_off(3)
    }

    #[test]
    fn a_full_header_byte_by_byte() {
        let header = Radiotap {
            flags: Some(RadiotapFlags::FCS_AT_END | RadiotapFlags::SHORT_PREAMBLE),
            channel: Some(Channel { frequency_mhz: 2412, flags: Channel::CCK_2GHZ }),
            ..Radiotap::default()
        }
        .with_time(SimTime::from_ns(258_999))
        .with_rate(BitRate::from_kbps(5_500))
        .with_signal(Dbm(-61.6));
        #[rustfmt::skip]
        let expected = [
            0, 0, 23, 0, 0x2f, 0, 0, 0, // version, padding, length; bits 0 1 2 3 5
            2, 1, 0, 0, 0, 0, 0, 0, // 258 us
            0x12, 11, 0x6c, 0x09, 0xa0, 0x00, 0xc2, // flags, 11 x 500 kb/s, 2412 MHz, 2 GHz CCK, -62 dBm
        ];
        assert_eq!(emitted(&header), expected);
        assert_eq!(Radiotap::parse(&expected), Ok((header, [].as_slice())));
    }

    #[test]
    fn the_channel_stands_at_an_even_offset() {
        let channel = Some(Channel { frequency_mhz: 5180, flags: Channel::OFDM_5GHZ });
        let bytes = emitted(&Radiotap { rate_500kbps: Some(108), channel, ..Radiotap::default() });
        assert_eq!(bytes[8..], [108, 0, 0x3c, 0x14, 0x40, 0x01]);
    }

    #[test]
    fn fields_behind_several_bitmaps_are_found_and_unknown_ones_skipped() {
        // Two bitmaps, so TSFT is aligned from 12 to 16; antenna (bit 11) follows the signal.
        let mut bytes =
            vec![0, 0, 27, 0, 0x21, 0x08, 0, 0x80, 0, 0, 0, 0, 9, 9, 9, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0xd8, 3, 7];
        assert_eq!(bytes.len(), 27);
        bytes.push(0x42);
        let (header, frame) = Radiotap::parse(&bytes).unwrap();
        assert_eq!(header, Radiotap { tsft_us: Some(1), signal_dbm: Some(-40), ..Radiotap::default() });
        assert_eq!(frame, [0x42]);
    }

    #[test]
    fn what_the_fields_cannot_say_is_held_or_left_out() {
        let none = Radiotap::default();
        assert_eq!(none.with_rate(BitRate::from_kbps(600_000)).rate_500kbps, None);
        assert_eq!(none.with_signal(Dbm(-500.0)).signal_dbm, Some(-128));
        assert_eq!(none.with_signal(Dbm(f64::NAN)).signal_dbm, None);
    }

    fn header() -> impl Strategy<Value = Radiotap> {
        use proptest::option::of;
        let channel = any::<(u16, u16)>().prop_map(|(frequency_mhz, flags)| Channel { frequency_mhz, flags });
        (of(any::<u64>()), of(any::<u8>()), of(any::<u8>()), of(channel), of(any::<i8>())).prop_map(
            |(tsft_us, flags, rate_500kbps, channel, signal_dbm)| Radiotap {
                tsft_us,
                flags: flags.map(RadiotapFlags),
                rate_500kbps,
                channel,
                signal_dbm,
            },
        )
    }

    proptest! {
        #[test]
        fn every_header_survives_its_bytes(header in header(), frame in proptest::collection::vec(any::<u8>(), 0..9)) {
            let bytes = [emitted(&header), frame.clone()].concat();
            prop_assert_eq!(Radiotap::parse(&bytes), Ok((header, frame.as_slice())));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..64), plausible in any::<bool>()) {
            if plausible && bytes.len() >= 4 {
                bytes[0] = 0;
                bytes[3] = 0;
            }
            let _ = Radiotap::parse(&bytes);
        }
    }
}
