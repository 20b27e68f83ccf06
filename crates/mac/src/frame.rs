//! Kinds of frames and their lengths. Their bytes are `wire`'s.

use units::Bytes;

/// MAC header of a data frame: frame control, Duration, three addresses, sequence control. @80211-2020 9.3.2.1
pub const DATA_HEADER: Bytes = Bytes(24);
/// Length that QoS Control adds to it. @80211-2020 9.2.4.5
pub const QOS_CONTROL: Bytes = Bytes(2);
/// HT Control, of QoS data and of control frames in a wrapper. @80211-2020 9.2.4.6
pub const HT_CONTROL: Bytes = Bytes(4);
/// Length that a Control Wrapper adds to a control frame: its Frame Control, which is carried, and HT Control. @80211-2020 9.3.1.9
pub const CONTROL_WRAPPER: Bytes = Bytes(6);
/// Frame check sequence. @80211-2020 9.2.4.8
pub const FCS: Bytes = Bytes(4);
/// LLC and SNAP headers that say "IPv4". @80211-2020 annex M / @RFC1042
pub const LLC_SNAP: Bytes = Bytes(8);
/// ACK. @80211-2020 9.3.1.4
pub const ACK: Bytes = Bytes(14);
/// CTS. @80211-2020 9.3.1.3
pub const CTS: Bytes = Bytes(14);
/// RTS. @80211-2020 9.3.1.2
pub const RTS: Bytes = Bytes(20);
/// A compressed Block Ack with a bitmap of 64. @80211-2020 9.3.1.8.2
pub const BLOCK_ACK: Bytes = block_ack(64);

/// A compressed Block Ack with a bitmap of so many numbers ([`crate::Bitmap::WIDTHS`]). @80211-2020 9.3.1.8.2
pub const fn block_ack(width: usize) -> Bytes {
    Bytes(24 + width as u64 / 8)
}

/// Block Ack Request, compressed. @80211-2020 9.3.1.7
pub const BLOCK_ACK_REQUEST: Bytes = Bytes(24);

/// CF-End. @80211-2020 9.3.1.6
pub const CF_END: Bytes = Bytes(20);

/// Kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Data: carries an MSDU.
    Data,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgment.
    Ack,
    /// Acknowledgment of several MPDUs.
    BlockAck,
    /// Request for a Block Ack. @80211-2020 9.3.1.7
    BlockAckReq,
    /// The end of what an opportunity has reserved: who hears it forgets its NAV. @80211-2020 10.23.2.10
    CfEnd,
    /// Negative acknowledgment: what it names was not received. In no standard; for schemes.
    Nack,
}

impl Kind {
    /// Length of a control frame; with a bitmap of 64, if it has one.
    pub const fn control_len(self) -> Bytes {
        match self {
            Kind::Rts => RTS,
            Kind::Cts => CTS,
            Kind::Ack => ACK,
            Kind::BlockAck | Kind::Nack => BLOCK_ACK,
            Kind::BlockAckReq => BLOCK_ACK_REQUEST,
            Kind::CfEnd => CF_END,
            Kind::Data => Bytes::ZERO,
        }
    }
}

/// Contents of a frame, for the counters of results. The MAC passes it on and never reads it: a control frame has the
/// label of the data that it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Label(pub u8);

/// Facts of a data frame in its QoS Control field. @80211-2020 9.2.4.5
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Qos {
    /// The access category, as an index into those of its transmitter.
    pub category: u8,
    /// The user priority: TID 0 … 7.
    pub user_priority: u8,
    /// The HT Control field behind it, if there is one.
    pub ht_control: Option<HtControl>,
}

impl Qos {
    /// Length of these fields.
    #[inline]
    pub fn len(self) -> Bytes {
        if self.ht_control.is_some() { QOS_CONTROL + HT_CONTROL } else { QOS_CONTROL }
    }
}

/// The HT Control field between stations that grant each other the reverse direction. @80211-2020 9.2.4.6, 10.29
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HtControl {
    /// RDG/More PPDU: of the initiator, the rest of what it announces is the responder's; of the responder, a PPDU follows.
    pub more_ppdu: bool,
}
