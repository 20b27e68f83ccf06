//! Packets and frames, typed in memory and as bytes on the wire.
//!
//! Inside a run a packet is a [`Packet`] in an arena ([`Packets`]) and travels as a handle ([`Pkt`]); bytes exist only
//! in captures and where a driver carries packets from outside. Models IPv4 without options or fragments, TCP (RFC 9293) with its options
//! kept in the order and spelling they came in, UDP, ICMP (echo, and messages that quote a TCP segment), a routing header before them (written, not read), and the 802.11-2020 MAC frames an
//! exchange is made of.
//! A packet that it cannot parse is [`L4::Opaque`] and is carried unchanged. Leaves out: IPv6, IP fragments, encryption.
//!
//! Bytes: [`Packet::emit`] and [`Packet::parse`] for IP, [`dot11::Frame`] for the air, [`radiotap`] and [`pcapng`] for
//! captures. No parser panics on any input; what a parser accepts, its emitter writes back byte by byte (radiotap and
//! pcapng, which have many spellings for one meaning, excepted).

pub mod bytes;
mod class;
mod cursor;
pub mod dot11;
mod error;
pub mod packet;
pub mod pcapng;
pub mod radiotap;
mod routing_header;
pub mod seq;
pub mod tcp;

pub use bytes::{Integrity, verify};
pub use class::{AODV_PORT, Class};
pub use cursor::Cursor;
pub use error::{EmitError, FrameError, ParseError};
pub use packet::{
    Content, DropWhy, Echo, Ipv4, L4, Notice, NoticeKind, Packet, Packets, Payload, Pkt, Quote, Shared, Udp, ecn,
};
pub use seq::{Seq, SeqRange, SeqSet};
pub use tcp::{Flags, Tcp, TcpOptions};
