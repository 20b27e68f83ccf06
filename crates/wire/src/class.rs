//! Rough classes of packets: for statistics, and for schemes that treat kinds of traffic differently.

use crate::{L4, Packet};
use units::FlowId;

/// UDP port of AODV. @RFC3561 sec. 5.1 (IANA)
pub const AODV_PORT: u16 = 654;

/// A kind of packet.
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
    /// A control packet of a routing protocol.
    Routing,
    /// Anything else.
    Other,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 6] =
        [Class::TcpData, Class::TcpAck, Class::TcpControl, Class::Udp, Class::Routing, Class::Other];

    /// As results name it.
    pub const fn name(self) -> &'static str {
        match self {
            Class::TcpData => "tcp-data",
            Class::TcpAck => "tcp-ack",
            Class::TcpControl => "tcp-control",
            Class::Udp => "udp",
            Class::Routing => "routing",
            Class::Other => "other",
        }
    }

    /// The class of a packet.
    pub fn of(packet: &Packet) -> Class {
        match &packet.l4 {
            L4::Tcp(_) if packet.payload.len > 0 => Class::TcpData,
            L4::Tcp(_) if packet.pure_ack().is_some() => Class::TcpAck,
            L4::Tcp(_) => Class::TcpControl,
            L4::Udp(header) if header.dst_port == AODV_PORT && packet.flow == FlowId::NONE => Class::Routing,
            L4::Udp(_) => Class::Udp,
            L4::Nothing => Class::Routing,
            L4::Echo(_) | L4::Notice(_) | L4::Opaque => Class::Other,
        }
    }

    /// True if it carries an application's bytes, which most statistics call data.
    pub const fn is_data(self) -> bool {
        matches!(self, Class::TcpData | Class::Udp)
    }
}
