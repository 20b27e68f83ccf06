//! The compressed Block Ack and its request. @80211-2020 9.3.1.7, 9.3.1.8; bitmaps of 256 by IEEE Std 802.11ax-2021, of 512 and
//! 1024 by 802.11be

use super::{DurationField, FrameFlags, HtControl, MacAddr, SequenceControl, kind};
use crate::cursor::Cursor;
use crate::{EmitError, FrameError};

/// BA Type of BA Control and BAR Type of BAR Control: compressed. @80211-2020 9.3.1.7.1, 9.3.1.8.1, tables 9-26, 9-28
const COMPRESSED: u16 = 2 << 1;
/// The bits of either that stand for its type.
const TYPE: u16 = 0b1_1110;

/// The Fragment Number subfield of the Starting Sequence Control and the length of the bitmap in octets that it stands for, without
/// fragments. @80211-2020 9.3.1.8.2 has the first, 802.11ax the second, 802.11be the others
const BITMAPS: [(u8, usize); 4] = [(0b0000, 8), (0b0100, 32), (0b1000, 64), (0b1010, 128)];

/// Acknowledgment of several MPDUs of one TID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockAck<'a> {
    /// Flags of Frame Control.
    pub flags: FrameFlags,
    /// Zero, unless the exchange goes on.
    pub duration: DurationField,
    /// With it, it stands in a Control Wrapper: the first six octets behind Address 1 are its own Frame Control, with the same flags, and this.
    /// @80211-2020 9.3.1.9
    pub ht_control: Option<HtControl>,
    /// The originator.
    pub ra: MacAddr,
    /// The recipient, which transmits it.
    pub ta: MacAddr,
    /// The traffic identifier, modulo 16.
    pub tid: u8,
    /// The sequence number of the lowest bit, modulo 4096.
    pub start: u16,
    /// A bit for each number from there on, the first in the lowest bit of the first octet. 8, 32, 64 or 128 octets.
    pub bitmap: &'a [u8],
    /// Octets between the bitmap and the FCS. In no standard: schemes put them there. Empty as a rule.
    pub behind: &'a [u8],
}

impl<'a> BlockAck<'a> {
    pub(super) fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let format = BITMAPS.iter().find(|(_, octets)| *octets == self.bitmap.len());
        let Some((fragment, _)) = format else {
            return Err(EmitError::Unsupported("a Block Ack bitmap of this length"));
        };
        let BlockAck { flags, duration, ra, ta, tid, start, ht_control, .. } = *self;
        Start { flags, duration, ht_control, ra, ta, tid, sequence: SequenceControl::new(start, *fragment) }
            .emit(kind::BLOCK_ACK, out);
        out.extend(self.bitmap);
        out.extend(self.behind);
        Ok(())
    }

    /// Reads what follows the first byte.
    pub(super) fn parse(mut cursor: Cursor<'a>, is_wrapped: bool) -> Result<BlockAck<'a>, FrameError> {
        let words = Words {
            control: "BA Control",
            reserved: "BA Control with a reserved bit",
            other: "a Block Ack that is not compressed",
        };
        let start = Start::parse(&mut cursor, is_wrapped.then_some(kind::BLOCK_ACK), &words)?;
        let Start { flags, duration, ht_control, ra, ta, tid, sequence } = start;
        let format = BITMAPS.iter().find(|(fragment, _)| *fragment == sequence.fragment());
        let Some((_, octets)) = format else {
            return Err(FrameError::Unsupported("a Block Ack bitmap of fragments"));
        };
        let bitmap = cursor.take(*octets).ok_or(FrameError::Truncated("the Block Ack bitmap"))?;
        let start = sequence.number();
        Ok(BlockAck { flags, duration, ht_control, ra, ta, tid, start, bitmap, behind: cursor.0 })
    }
}

/// Request for the acknowledgment of MPDUs of one TID. What is before its number is settled. @80211-2020 9.3.1.7.2
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockAckReq {
    /// Flags of Frame Control.
    pub flags: FrameFlags,
    /// Reserves the medium for a SIFS and the Block Ack.
    pub duration: DurationField,
    /// The recipient, which answers.
    pub ra: MacAddr,
    /// The originator.
    pub ta: MacAddr,
    /// The traffic identifier, modulo 16.
    pub tid: u8,
    /// The sequence number from which the Block Ack is to begin, modulo 4096.
    pub start: u16,
}

impl BlockAckReq {
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let BlockAckReq { flags, duration, ra, ta, tid, start } = *self;
        let sequence = SequenceControl::new(start, 0);
        Start { flags, duration, ht_control: None, ra, ta, tid, sequence }.emit(kind::BLOCK_ACK_REQ, out);
    }

    /// Reads what follows the first byte.
    pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<BlockAckReq, FrameError> {
        let words = Words {
            control: "BAR Control",
            reserved: "BAR Control with an ack policy or a reserved bit",
            other: "a Block Ack Request that is not compressed",
        };
        let Start { flags, duration, ra, ta, tid, sequence, .. } = Start::parse(&mut cursor, None, &words)?;
        if sequence.fragment() != 0 {
            return Err(FrameError::Unsupported("a Block Ack Request of fragments"));
        }
        match cursor.left() {
            0 => Ok(BlockAckReq { flags, duration, ra, ta, tid, start: sequence.number() }),
            left => Err(FrameError::Trailing(left)),
        }
    }
}

/// Fields that both begin with: up to the Starting Sequence Control.
struct Start {
    flags: FrameFlags,
    duration: DurationField,
    ht_control: Option<HtControl>,
    ra: MacAddr,
    ta: MacAddr,
    tid: u8,
    sequence: SequenceControl,
}

/// Words for errors.
struct Words {
    control: &'static str,
    reserved: &'static str,
    other: &'static str,
}

impl Start {
    fn emit(&self, kind: u8, out: &mut Vec<u8>) {
        out.extend([if self.ht_control.is_some() { kind::CONTROL_WRAPPER } else { kind }, self.flags.0]);
        out.extend(self.duration.us().to_le_bytes());
        out.extend(self.ra.0);
        if let Some(control) = self.ht_control {
            out.extend([kind, self.flags.0]);
            out.extend(control.0.to_le_bytes());
        }
        out.extend(self.ta.0);
        out.extend((COMPRESSED | u16::from(self.tid) << 12).to_le_bytes());
        out.extend(self.sequence.raw().to_le_bytes());
    }

    /// Reads what follows the first byte: of a wrapper, if a frame that begins with `carried` is in it.
    fn parse(cursor: &mut Cursor<'_>, carried: Option<u8>, words: &Words) -> Result<Start, FrameError> {
        let flags = FrameFlags::parse(cursor)?;
        let duration = DurationField::parse(cursor)?;
        let ra = MacAddr::parse(cursor)?;
        let ht_control = carried.map(|kind| Start::parse_wrapped(cursor, [kind, flags.0])).transpose()?;
        let ta = MacAddr::parse(cursor)?;
        let control = cursor.le16().ok_or(FrameError::Truncated(words.control))?;
        if control & !(0xF << 12) != COMPRESSED {
            let is_compressed = control & TYPE == COMPRESSED;
            return Err(FrameError::Unsupported(if is_compressed { words.reserved } else { words.other }));
        }
        let sequence = SequenceControl::parse(cursor)?;
        Ok(Start { flags, duration, ht_control, ra, ta, tid: (control >> 12) as u8, sequence })
    }

    /// Carried Frame Control and HT Control.
    fn parse_wrapped(cursor: &mut Cursor<'_>, carried: [u8; 2]) -> Result<HtControl, FrameError> {
        let control = cursor.le16().ok_or(FrameError::Truncated("Carried Frame Control"))?;
        if control.to_le_bytes() != carried {
            return Err(FrameError::Unsupported("a Control Wrapper around anything but a Block Ack with its flags"));
        }
        HtControl::parse(cursor)
    }
}
