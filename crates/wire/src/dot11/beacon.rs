//! The beacon. @80211-2020 9.3.3, elements 9.4.2

use super::{DurationField, FrameFlags, MacAddr, SequenceControl, kind};
use crate::cursor::Cursor;
use crate::{EmitError, FrameError};
use core::ops::BitOr;
use units::BitRate;

/// Element identifiers. @80211-2020 9.4.2.1
pub mod element {
    use crate::EmitError;

    /// SSID. @80211-2020 9.4.2.2
    pub const SSID: u8 = 0;
    /// Supported Rates and BSS Membership Selectors. @80211-2020 9.4.2.3
    pub const SUPPORTED_RATES: u8 = 1;
    /// DSSS Parameter Set: one byte, the channel. @80211-2020 9.4.2.4
    pub const DSSS_PARAMETER_SET: u8 = 3;
    /// IBSS Parameter Set: the ATIM window, two bytes, in TU. @80211-2020 9.4.2.6
    pub const IBSS_PARAMETER_SET: u8 = 6;
    /// Extended Supported Rates: those after the eighth. @80211-2020 9.4.2.13
    pub const EXTENDED_RATES: u8 = 50;

    /// Appends one element: identifier, length, content. Fails above 255 bytes of content. @80211-2020 9.4.2.1
    pub fn push(id: u8, content: &[u8], out: &mut Vec<u8>) -> Result<(), EmitError> {
        let len = content.len();
        let byte = u8::try_from(len).map_err(|_| EmitError::Element { what: "an element", len, min: 0, max: 255 })?;
        out.extend([id, byte]);
        out.extend_from_slice(content);
        Ok(())
    }
}

/// A rate as elements write it: units of 500 kb/s in seven bits, the eighth bit for a basic rate. None for what that
/// cannot say. @80211-2020 9.4.2.3
pub fn rate(rate: BitRate, basic: bool) -> Option<u8> {
    let units = u8::try_from(rate.bps() / 500_000).ok()?;
    let exact = rate.bps().is_multiple_of(500_000);
    (exact && (1..=127).contains(&units)).then_some(if basic { units | 0x80 } else { units })
}

/// The Capability Information field. @80211-2020 9.4.1.4
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capability(pub u16);

impl Capability {
    /// Sent by an access point.
    pub const ESS: Capability = Capability(0x0001);
    /// Sent in an independent BSS.
    pub const IBSS: Capability = Capability(0x0002);
    /// Short preambles are allowed.
    pub const SHORT_PREAMBLE: Capability = Capability(0x0020);
    /// Short slots are in use.
    pub const SHORT_SLOT_TIME: Capability = Capability(0x0400);

    /// True if all bits of `other` are set.
    pub const fn has(self, other: Capability) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Capability {
    type Output = Capability;
    fn bitor(self, other: Capability) -> Capability {
        Capability(self.0 | other.0)
    }
}

/// A beacon whose first elements are SSID and supported rates, in the standard's order. @80211-2020 9.3.3
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// Flags of Frame Control.
    pub flags: FrameFlags,
    /// Zero: it goes to a group. @80211-2020 9.2.5
    pub duration: DurationField,
    /// Address 1: the receiver, usually the broadcast address.
    pub da: MacAddr,
    /// Address 2: the transmitter.
    pub sa: MacAddr,
    /// Address 3: the BSS.
    pub bssid: MacAddr,
    /// Sequence number.
    pub sequence: SequenceControl,
    /// The sender's TSF timer, in microseconds. @80211-2020 9.4.1.10
    pub timestamp_us: u64,
    /// From one beacon to the next, in TU of 1024 µs. @80211-2020 9.4.1.3
    pub interval_tu: u16,
    /// Capability Information.
    pub capability: Capability,
    /// The network's name, 0 to 32 bytes. @80211-2020 9.4.2.2
    pub ssid: &'a [u8],
    /// One to eight rates as [`rate`] writes them. @80211-2020 9.4.2.3
    pub rates: &'a [u8],
    /// All further elements, verbatim; [`element::push`] makes them.
    pub elements: &'a [u8],
}

/// The bounds of the SSID's length, in bytes. @80211-2020 9.4.2.2
const SSID_LEN: (usize, usize) = (0, 32);
/// The bounds of the number of rates in the first element. @80211-2020 9.4.2.3
const RATES_LEN: (usize, usize) = (1, 8);
/// Flags that change a management frame's format.
const UNSUPPORTED: FrameFlags = FrameFlags(FrameFlags::PROTECTED.0 | FrameFlags::HTC.0);

fn bounded(what: &'static str, (min, max): (usize, usize), content: &[u8]) -> Result<(), EmitError> {
    let len = content.len();
    if (min..=max).contains(&len) { Ok(()) } else { Err(EmitError::Element { what, len, min, max }) }
}

/// Reads one element that must have identifier `id`.
fn read<'a>(
    cursor: &mut Cursor<'a>,
    id: u8,
    what: &'static str,
    (min, max): (usize, usize),
) -> Result<&'a [u8], FrameError> {
    let truncated = FrameError::Truncated(what);
    if cursor.u8().ok_or(truncated)? != id {
        return Err(FrameError::Unsupported("a beacon that does not begin with SSID and supported rates"));
    }
    let len = usize::from(cursor.u8().ok_or(truncated)?);
    let content = cursor.take(len).ok_or(truncated)?;
    if (min..=max).contains(&len) { Ok(content) } else { Err(FrameError::Malformed(what)) }
}

impl<'a> Beacon<'a> {
    pub(super) fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        if self.flags.0 & UNSUPPORTED.0 != 0 {
            return Err(EmitError::Unsupported("a beacon with HT Control or protection"));
        }
        bounded("the SSID", SSID_LEN, self.ssid)?;
        bounded("supported rates", RATES_LEN, self.rates)?;
        out.extend([kind::BEACON, self.flags.0]);
        out.extend(self.duration.us().to_le_bytes());
        out.extend([self.da, self.sa, self.bssid].iter().flat_map(|addr| addr.0));
        out.extend(self.sequence.raw().to_le_bytes());
        out.extend(self.timestamp_us.to_le_bytes());
        out.extend(self.interval_tu.to_le_bytes());
        out.extend(self.capability.0.to_le_bytes());
        element::push(element::SSID, self.ssid, out)?;
        element::push(element::SUPPORTED_RATES, self.rates, out)?;
        out.extend_from_slice(self.elements);
        Ok(())
    }

    /// Reads what follows the first byte.
    pub(super) fn parse(mut cursor: Cursor<'a>) -> Result<Beacon<'a>, FrameError> {
        let flags = FrameFlags::parse(&mut cursor)?;
        if flags.0 & UNSUPPORTED.0 != 0 {
            return Err(FrameError::Unsupported("a beacon with HT Control or protection"));
        }
        let duration = DurationField::parse(&mut cursor)?;
        let da = MacAddr::parse(&mut cursor)?;
        let sa = MacAddr::parse(&mut cursor)?;
        let bssid = MacAddr::parse(&mut cursor)?;
        let sequence = SequenceControl::parse(&mut cursor)?;
        let timestamp_us = cursor.le64().ok_or(FrameError::Truncated("the timestamp"))?;
        let interval_tu = cursor.le16().ok_or(FrameError::Truncated("the beacon interval"))?;
        let capability = Capability(cursor.le16().ok_or(FrameError::Truncated("Capability Information"))?);
        let ssid = read(&mut cursor, element::SSID, "the SSID", SSID_LEN)?;
        let rates = read(&mut cursor, element::SUPPORTED_RATES, "supported rates", RATES_LEN)?;
        let elements = cursor.0;
        Ok(Beacon {
            flags,
            duration,
            da,
            sa,
            bssid,
            sequence,
            timestamp_us,
            interval_tu,
            capability,
            ssid,
            rates,
            elements,
        })
    }
}
