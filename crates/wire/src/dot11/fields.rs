//! The fields that frames share: flags of Frame Control, Duration, Sequence Control, QoS Control. @80211-2020 9.2.4

use crate::FrameError;
use crate::cursor::Cursor;
use core::ops::BitOr;
use units::Dur;

/// The second byte of Frame Control. @80211-2020 9.2.4.1
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameFlags(pub u8);

impl FrameFlags {
    /// None set: what an independent BSS and control frames use.
    pub const NONE: FrameFlags = FrameFlags(0);
    /// On its way to the distribution system: a station's frame to its access point. @80211-2020 9.2.4.1.4
    pub const TO_DS: FrameFlags = FrameFlags(0x01);
    /// From the distribution system: an access point's frame to a station. @80211-2020 9.2.4.1.4
    pub const FROM_DS: FrameFlags = FrameFlags(0x02);
    /// More fragments of this MSDU follow. @80211-2020 9.2.4.1.5
    pub const MORE_FRAGMENTS: FrameFlags = FrameFlags(0x04);
    /// A retransmission. @80211-2020 9.2.4.1.6
    pub const RETRY: FrameFlags = FrameFlags(0x08);
    /// The sender will doze after this exchange. @80211-2020 9.2.4.1.7
    pub const POWER_MANAGEMENT: FrameFlags = FrameFlags(0x10);
    /// More frames wait for the dozing receiver. @80211-2020 9.2.4.1.8
    pub const MORE_DATA: FrameFlags = FrameFlags(0x20);
    /// The body is encrypted. @80211-2020 9.2.4.1.9
    pub const PROTECTED: FrameFlags = FrameFlags(0x40);
    /// +HTC: in QoS data and management frames, an HT Control field follows. @80211-2020 9.2.4.1.10
    pub const HTC: FrameFlags = FrameFlags(0x80);

    /// True if all bits of `other` are set.
    pub const fn has(self, other: FrameFlags) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<FrameFlags, FrameError> {
        cursor.u8().map(FrameFlags).ok_or(FrameError::Truncated("Frame Control"))
    }
}

impl BitOr for FrameFlags {
    type Output = FrameFlags;
    fn bitor(self, other: FrameFlags) -> FrameFlags {
        FrameFlags(self.0 | other.0)
    }
}

/// The Duration/ID field as a duration: 0 to 32767 µs. @80211-2020 9.2.4.2
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct DurationField(u16);

impl DurationField {
    /// No reservation.
    pub const ZERO: DurationField = DurationField(0);
    /// The longest. @80211-2020 9.2.4.2
    pub const MAX: DurationField = DurationField(32_767);

    /// `us` microseconds; none above 32767, which the field cannot say.
    pub const fn from_us(us: u16) -> Option<DurationField> {
        if us <= DurationField::MAX.0 { Some(DurationField(us)) } else { None }
    }

    /// The field that covers `dur`: fractions of a microsecond are rounded up (@80211-2020 9.2.5.1), and what is longer
    /// than the field can say becomes its longest.
    pub fn covering(dur: Dur) -> DurationField {
        u16::try_from(dur.as_us_ceil()).ok().and_then(DurationField::from_us).unwrap_or(DurationField::MAX)
    }

    /// In microseconds.
    pub const fn us(self) -> u16 {
        self.0
    }

    /// As a length of time.
    pub const fn dur(self) -> Dur {
        Dur::from_us(self.0 as u64)
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<DurationField, FrameError> {
        let raw = cursor.le16().ok_or(FrameError::Truncated("Duration/ID"))?;
        DurationField::from_us(raw).ok_or(FrameError::Unsupported("a Duration/ID above 32767"))
    }
}

/// The Sequence Control field. @80211-2020 9.2.4.4
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SequenceControl(u16);

impl SequenceControl {
    /// Sequence number modulo 4096 and fragment number modulo 16. @80211-2020 9.2.4.4.2, 9.2.4.4.3
    pub const fn new(number: u16, fragment: u8) -> SequenceControl {
        SequenceControl(number << 4 | fragment as u16 & 0x0F)
    }

    /// The sequence number, 0 to 4095.
    pub const fn number(self) -> u16 {
        self.0 >> 4
    }

    /// The fragment number, 0 to 15.
    pub const fn fragment(self) -> u8 {
        (self.0 & 0x0F) as u8
    }

    pub(super) const fn raw(self) -> u16 {
        self.0
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<SequenceControl, FrameError> {
        cursor.le16().map(SequenceControl).ok_or(FrameError::Truncated("Sequence Control"))
    }
}

/// The response of the receiver of a QoS data frame. @80211-2020 9.2.4.5.4
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckPolicy {
    /// An Ack, or a BlockAck if the frame came in an A-MPDU: implicit Block Ack Request.
    Normal,
    /// None.
    NoAck,
    /// No Ack of its own.
    NoExplicitAck,
    /// A BlockAck, when a BlockAckReq asks for it.
    BlockAck,
}

/// The QoS Control field, whole: bits without an accessor stay what they were. @80211-2020 9.2.4.5
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QosControl(pub u16);

impl QosControl {
    /// A QoS Control field with TID modulo 16 and ack policy; all else zero. @80211-2020 9.2.4.5.2, 9.2.4.5.4
    pub const fn new(tid: u8, policy: AckPolicy) -> QosControl {
        let policy = match policy {
            AckPolicy::Normal => 0,
            AckPolicy::NoAck => 1,
            AckPolicy::NoExplicitAck => 2,
            AckPolicy::BlockAck => 3,
        };
        QosControl(tid as u16 & 0x0F | policy << 5)
    }

    /// The traffic identifier, 0 to 15; below 8 it is the user priority.
    pub const fn tid(self) -> u8 {
        (self.0 & 0x0F) as u8
    }

    /// The ack policy, bits 5 and 6.
    pub const fn ack_policy(self) -> AckPolicy {
        match self.0 >> 5 & 3 {
            0 => AckPolicy::Normal,
            1 => AckPolicy::NoAck,
            2 => AckPolicy::NoExplicitAck,
            _ => AckPolicy::BlockAck,
        }
    }

    /// True if the body is an A-MSDU, bit 7. @80211-2020 9.2.4.5.9
    pub const fn amsdu_present(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// The same of a frame whose body is an A-MSDU. @80211-2020 9.2.4.5.9
    #[must_use]
    pub const fn with_amsdu(self) -> QosControl {
        QosControl(self.0 | 0x80)
    }

    /// The upper byte, whose meaning depends on the frame. @80211-2020 table 9-10
    pub const fn upper(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// The same with this upper byte.
    #[must_use]
    pub const fn with_upper(self, byte: u8) -> QosControl {
        QosControl(self.0 & 0xFF | (byte as u16) << 8)
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<QosControl, FrameError> {
        cursor.le16().map(QosControl).ok_or(FrameError::Truncated("QoS Control"))
    }
}

/// The HT Control field, whole: bits without an accessor stay what they were. @80211-2020 9.2.4.6; the HE variant by IEEE Std 802.11ax-2021
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HtControl(pub u32);

impl HtControl {
    /// RDG/More PPDU of the HT and the VHT variant. @80211-2020 9.2.4.6.1
    const MORE_PPDU: u32 = 1 << 31;
    /// The lowest two bits of the HE variant.
    const HE: u32 = 0b11;
    /// Its first Control subfield: Control ID 6, command and status, whose second bit is RDG/More PPDU.
    const STATUS: u32 = 6 << 2;
    const MORE_PPDU_OF_STATUS: u32 = 1 << 7;

    /// The HT variant, without feedback (MFB 127); or the VHT variant, without feedback (VHT-MCS 15 for 7 space-time streams).
    /// @80211-2020 9.2.4.6.2, 9.2.4.6.3
    pub const fn ht(is_vht: bool, more_ppdu: bool) -> HtControl {
        let variant = if is_vht { 1 | 0x7F << 9 } else { 0x7F << 9 };
        HtControl(variant | if more_ppdu { HtControl::MORE_PPDU } else { 0 })
    }

    /// The HE variant with command and status alone.
    pub const fn he(more_ppdu: bool) -> HtControl {
        HtControl(HtControl::HE | HtControl::STATUS | if more_ppdu { HtControl::MORE_PPDU_OF_STATUS } else { 0 })
    }

    /// RDG/More PPDU. Of an HE variant it is read if command and status come first.
    pub const fn more_ppdu(self) -> bool {
        if self.0 & HtControl::HE != HtControl::HE {
            return self.0 & HtControl::MORE_PPDU != 0;
        }
        self.0 >> 2 & 0xF == HtControl::STATUS >> 2 && self.0 & HtControl::MORE_PPDU_OF_STATUS != 0
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<HtControl, FrameError> {
        let (low, high) = (cursor.le16(), cursor.le16());
        let both = low.zip(high).ok_or(FrameError::Truncated("HT Control"))?;
        Ok(HtControl(u32::from(both.0) | u32::from(both.1) << 16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_round_up_and_stop_at_the_fields_end() {
        assert_eq!(DurationField::covering(Dur::from_ns(44_001)).us(), 45);
        assert_eq!(DurationField::covering(Dur::from_us(32_767)), DurationField::MAX);
        assert_eq!(DurationField::covering(Dur::MAX), DurationField::MAX);
        assert_eq!(DurationField::from_us(32_768), None);
    }

    #[test]
    fn the_bit_of_the_reverse_direction_stands_in_each_variant() {
        for of in [|on| HtControl::ht(false, on), |on| HtControl::ht(true, on), HtControl::he] {
            assert_eq!([of(false), of(true)].map(HtControl::more_ppdu), [false, true]);
        }
        assert_eq!(HtControl::ht(false, true).0, 0x8000_FE00);
        assert_eq!(HtControl::ht(true, true).0, 0x8000_FE01);
        // Bits from the lowest: 11, Control ID 6 (0110), AC Constraint 0, RDG/More PPDU 1.
        assert_eq!(HtControl::he(true).0, 0b1001_1011);
    }

    #[test]
    fn sequence_numbers_wrap_at_4096_and_fragments_at_16() {
        let control = SequenceControl::new(4097, 18);
        assert_eq!((control.number(), control.fragment()), (1, 2));
    }

    #[test]
    fn tid_and_ack_policy_stand_in_their_bits() {
        let control = QosControl::new(6, AckPolicy::NoAck);
        assert_eq!(control.0, 0b0010_0110);
        for policy in [AckPolicy::Normal, AckPolicy::NoAck, AckPolicy::NoExplicitAck, AckPolicy::BlockAck] {
            assert_eq!(QosControl::new(15, policy).ack_policy(), policy);
            assert_eq!(QosControl::new(15, policy).with_amsdu().ack_policy(), policy);
        }
        assert_eq!(QosControl::new(6, AckPolicy::Normal).with_amsdu().0, 0b1000_0110);
        assert!(!control.amsdu_present() && control.with_amsdu().amsdu_present());
    }
}
