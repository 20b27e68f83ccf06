//! Packets and frames, typed in memory and as bytes on the wire.
//! Inside a run a packet is a [`Packet`] in an arena ([`Packets`]) and travels as a handle ([`Pkt`]); bytes exist only
//! in captures and, later, in the live arm. Models IPv4 without options or fragments, TCP (RFC 9293) with its options
//! kept in the order and spelling they came in, UDP, ICMP echo, and the 802.11-2020 MAC frames an exchange is made of.
//! What it cannot parse is [`L4::Opaque`] and is carried unchanged. Leaves out: IPv6, fragments, encryption.

pub mod bytes;
mod cursor;
pub mod dot11;
mod error;
pub mod packet;
pub mod radiotap;
pub mod seq;
pub mod tcp;

pub use bytes::{Integrity, verify};
pub use error::{EmitError, FrameError, ParseError};
pub use packet::{Content, DropWhy, Echo, Ipv4, L4, Packet, Packets, Payload, Pkt, Udp};
pub use seq::{Seq, SeqRange, SeqSet};
pub use tcp::{Flags, Tcp, TcpOptions};
