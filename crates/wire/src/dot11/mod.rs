//! 802.11 MAC frames as bytes. @80211-2020 clause 9
//!
//! Models the frames an exchange is made of: data and QoS data with up to three addresses, A-MSDUs, Ack, compressed Block Ack and
//! its request, RTS, CTS, and the beacon. All else is [`FrameError::Unsupported`]: no fourth address, no Control Wrapper but around a Block Ack, no encryption beyond carrying a
//! protected body as it is, no A-MPDU delimiters. Frames include their FCS; [`Frame::parse_without_fcs`] is for
//! captures that lack it. Fields are little-endian, as the standard sends them (@80211-2020 9.2.2).
//!
//! A frame that parses is emitted byte by byte as it was; every field is kept verbatim, reserved bits too.

mod addr;
mod amsdu;
mod beacon;
mod block_ack;
mod control;
mod data;
pub mod fcs;
mod fields;

pub use addr::MacAddr;
pub use amsdu::{Amsdu, Subframe};
pub use beacon::{Beacon, Capability, element, rate};
pub use block_ack::{BlockAck, BlockAckReq};
pub use control::{Ack, CfEnd, Cts, Rts};
pub use data::{Body, Data, DataHeader, LLC_SNAP_IPV4};
pub use fields::{AckPolicy, DurationField, FrameFlags, HtControl, QosControl, SequenceControl};

use crate::cursor::Cursor;
use crate::{EmitError, FrameError};

/// Lengths of frames and their parts.
pub mod len {
    use units::Bytes;

    /// MAC header of data frames with three addresses. @80211-2020 9.3.2.1
    pub const DATA_HEADER: Bytes = Bytes(24);
    /// MAC header of QoS data frames with three addresses: two bytes of QoS Control more. @80211-2020 9.2.4.5
    pub const QOS_HEADER: Bytes = Bytes(26);
    /// Frame check sequence. @80211-2020 9.2.4.8
    pub const FCS: Bytes = Bytes(4);
    /// LLC and SNAP header before an IP packet. @RFC1042
    pub const LLC_SNAP: Bytes = Bytes(8);
    /// A whole Ack frame, FCS included. @80211-2020 9.3.1.4
    pub const ACK: Bytes = Bytes(14);
    /// A whole CTS frame, FCS included. @80211-2020 9.3.1.3
    pub const CTS: Bytes = Bytes(14);
    /// A whole RTS frame, FCS included. @80211-2020 9.3.1.2
    pub const RTS: Bytes = Bytes(20);
    /// A whole Block Ack Request, FCS included. @80211-2020 9.3.1.7
    pub const BLOCK_ACK_REQ: Bytes = Bytes(24);
    /// Header of a subframe of an A-MSDU. @80211-2020 9.3.2.2.2
    pub const SUBFRAME_HEADER: Bytes = Bytes(14);
}

/// First bytes of Frame Control: version 0, type, subtype. @80211-2020 9.2.4.1.3, Table 9-1
mod kind {
    pub(super) const BEACON: u8 = 0x80; // management, 1000
    pub(super) const CONTROL_WRAPPER: u8 = 0x74; // control, 0111
    pub(super) const BLOCK_ACK_REQ: u8 = 0x84; // control, 1000
    pub(super) const BLOCK_ACK: u8 = 0x94; // control, 1001
    pub(super) const RTS: u8 = 0xB4; // control, 1011
    pub(super) const CTS: u8 = 0xC4; // control, 1100
    pub(super) const ACK: u8 = 0xD4; // control, 1101
    pub(super) const CF_END: u8 = 0xE4; // control, 1110
    pub(super) const DATA: u8 = 0x08; // data, 0000
    pub(super) const QOS_DATA: u8 = 0x88; // data, 1000
    pub(super) const EXTENDED_DATA: u8 = 0xD8; // data, 1101: reserved; here a data frame with MAC options
}

/// A MAC frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Data or QoS data.
    Data(Data<'a>),
    /// A beacon.
    Beacon(Beacon<'a>),
    /// Request to send.
    Rts(Rts),
    /// Clear to send.
    Cts(Cts),
    /// Acknowledgment.
    Ack(Ack),
    /// Acknowledgment of several MPDUs.
    BlockAck(BlockAck<'a>),
    /// Request for it.
    BlockAckReq(BlockAckReq),
    /// The end of what an opportunity has reserved.
    CfEnd(CfEnd),
}

impl<'a> Frame<'a> {
    /// Appends the frame, FCS last. On an error `out` stays as it was.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let start = out.len();
        let done = match self {
            Frame::Data(data) => data.emit(out),
            Frame::Beacon(beacon) => beacon.emit(out),
            Frame::Rts(rts) => {
                rts.emit(out);
                Ok(())
            }
            Frame::Cts(cts) => {
                cts.emit(out);
                Ok(())
            }
            Frame::Ack(ack) => {
                ack.emit(out);
                Ok(())
            }
            Frame::BlockAck(block_ack) => block_ack.emit(out),
            Frame::BlockAckReq(request) => {
                request.emit(out);
                Ok(())
            }
            Frame::CfEnd(end) => {
                end.emit(out);
                Ok(())
            }
        };
        match done {
            Ok(()) => fcs::append(out, start),
            Err(_) => out.truncate(start),
        }
        done
    }

    /// Reads a frame that ends with its FCS, which must be right.
    pub fn parse(bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
        Frame::parse_without_fcs(fcs::strip(bytes)?)
    }

    /// Reads a frame whose FCS the capture left out.
    pub fn parse_without_fcs(bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
        let mut cursor = Cursor(bytes);
        let kind = cursor.u8().ok_or(FrameError::Truncated("Frame Control"))?;
        match kind {
            kind::DATA => Data::parse(cursor, false, false).map(Frame::Data),
            kind::QOS_DATA => Data::parse(cursor, true, false).map(Frame::Data),
            kind::EXTENDED_DATA => Data::parse(cursor, true, true).map(Frame::Data),
            kind::BEACON => Beacon::parse(cursor).map(Frame::Beacon),
            kind::RTS => Rts::parse(cursor).map(Frame::Rts),
            kind::CTS => Cts::parse(cursor).map(Frame::Cts),
            kind::ACK => Ack::parse(cursor).map(Frame::Ack),
            kind::BLOCK_ACK => BlockAck::parse(cursor, false).map(Frame::BlockAck),
            kind::CONTROL_WRAPPER => BlockAck::parse(cursor, true).map(Frame::BlockAck),
            kind::BLOCK_ACK_REQ => BlockAckReq::parse(cursor).map(Frame::BlockAckReq),
            kind::CF_END => CfEnd::parse(cursor).map(Frame::CfEnd),
            _ => Err(FrameError::Unsupported("this type and subtype")),
        }
    }

    /// The Duration field: for how long after its end the frame reserves the medium.
    pub fn duration(&self) -> DurationField {
        match self {
            Frame::Data(data) => data.header.duration,
            Frame::Beacon(beacon) => beacon.duration,
            Frame::Rts(rts) => rts.duration,
            Frame::Cts(cts) => cts.duration,
            Frame::Ack(ack) => ack.duration,
            Frame::BlockAck(block_ack) => block_ack.duration,
            Frame::BlockAckReq(request) => request.duration,
            Frame::CfEnd(end) => end.duration,
        }
    }

    /// Address 1: the receiver.
    pub fn receiver(&self) -> MacAddr {
        match self {
            Frame::Data(data) => data.header.addr1,
            Frame::Beacon(beacon) => beacon.da,
            Frame::Rts(rts) => rts.ra,
            Frame::Cts(cts) => cts.ra,
            Frame::Ack(ack) => ack.ra,
            Frame::BlockAck(block_ack) => block_ack.ra,
            Frame::BlockAckReq(request) => request.ra,
            Frame::CfEnd(end) => end.ra,
        }
    }
}

#[cfg(test)]
mod tests;
