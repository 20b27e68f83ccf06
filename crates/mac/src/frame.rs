//! Frames as the simulation sends them. Their bytes are `wire`'s.

use phy::Rate;
use units::{Bytes, Dbm, Dur, NodeId};

/// MAC header of a data frame: frame control, Duration, three addresses, sequence control. @80211-2020 9.3.2.1
pub const DATA_HEADER: Bytes = Bytes(24);
/// What QoS Control adds to it. @80211-2020 9.2.4.5
pub const QOS_CONTROL: Bytes = Bytes(2);
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

/// What a frame is.
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
}

impl Kind {
    /// Length of a control frame.
    pub const fn control_len(self) -> Bytes {
        match self {
            Kind::Rts => RTS,
            Kind::Cts => CTS,
            Kind::Ack => ACK,
            Kind::Data => Bytes::ZERO,
        }
    }
}

/// What a data frame carries, for statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A TCP segment with payload.
    TcpData,
    /// A TCP segment without: pure ACK.
    TcpAck,
    /// SYN, FIN or RST without payload.
    TcpControl,
    /// A UDP datagram.
    Udp,
    /// Anything else.
    Other,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 5] = [Class::TcpData, Class::TcpAck, Class::TcpControl, Class::Udp, Class::Other];

    /// As results name it.
    pub const fn name(self) -> &'static str {
        match self {
            Class::TcpData => "tcp-data",
            Class::TcpAck => "tcp-ack",
            Class::TcpControl => "tcp-control",
            Class::Udp => "udp",
            Class::Other => "other",
        }
    }

    /// The class of a packet.
    pub fn of(packet: &wire::Packet) -> Class {
        match &packet.l4 {
            wire::L4::Tcp(_) if packet.payload.len > 0 => Class::TcpData,
            wire::L4::Tcp(_) if packet.pure_ack().is_some() => Class::TcpAck,
            wire::L4::Tcp(_) => Class::TcpControl,
            wire::L4::Udp(_) => Class::Udp,
            wire::L4::Echo(_) | wire::L4::Notice(_) | wire::L4::Opaque => Class::Other,
        }
    }
}

/// What the QoS Control field of a data frame tells of it. @80211-2020 9.2.4.5
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Qos {
    /// The access category, as an index into those of its transmitter.
    pub category: u8,
    /// The user priority: TID 0 … 7.
    pub user_priority: u8,
}

impl Qos {
    /// Which of its transmitter's sequence number spaces it belongs to: 0 is that of frames without QoS Control. One for
    /// each category, where the standard has one for each TID. @80211-2020 10.3.2.14.2
    pub fn space(self) -> usize {
        1 + usize::from(self.category)
    }
}

/// One transmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// What it is.
    pub kind: Kind,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; [`NodeId::BROADCAST`] for all.
    pub to: NodeId,
    /// Rate of its body.
    pub rate: Rate,
    /// Its transmit power; `None`: its transmitter's own. Of no meaning where signals have no powers.
    pub power: Option<Dbm>,
    /// Length from header to FCS.
    pub mpdu: Bytes,
    /// Time on the air.
    pub airtime: Dur,
    /// Its Duration field: how long the exchange goes on after its end. @80211-2020 9.2.5
    pub duration: Dur,
    /// Sequence number of its MSDU, modulo 4096.
    pub seq: u16,
    /// The retry bit.
    pub is_retry: bool,
    /// The MSDU was drawn to be lost: its receiver finds an error in every attempt (`errors.at = "msdu"`).
    pub is_doomed: bool,
    /// What it carries.
    pub class: Class,
    /// Of a QoS data frame: between stations that both have categories. Its two bytes are in `mpdu`.
    pub qos: Option<Qos>,
}
