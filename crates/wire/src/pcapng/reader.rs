//! Reading a capture back.

use super::{BYTE_ORDER_MAGIC, LinkType, MICROSECONDS, block, option};
use crate::cursor::Cursor;
use thiserror::Error;
use units::SimTime;

/// The reason why bytes are no capture that we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PcapngError {
    /// It does not begin with a section header.
    #[error("not a pcapng file: no section header at its start")]
    NotPcapng,
    /// A block is cut short, its lengths contradict each other, or one is no multiple of four.
    #[error("byte {at}: a block whose length does not fit")]
    BlockLength {
        /// Offset of the block in the file.
        at: usize,
    },
    /// A block is too short for its fields, or a section is of a version we do not know.
    #[error("byte {at}: malformed {what}")]
    Malformed {
        /// Offset of the block in the file.
        at: usize,
        /// The block or field.
        what: &'static str,
    },
    /// A packet names an interface that its section has not described.
    #[error("byte {at}: a packet of interface {id}, which is not described")]
    NoInterface {
        /// Offset of the block in the file.
        at: usize,
        /// The interface it names.
        id: u32,
    },
}

/// An interface description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceInfo<'a> {
    /// The kind of header that its packets begin with.
    pub link_type: LinkType,
    /// Its name, if it has one.
    pub name: Option<&'a [u8]>,
    /// Resolution of its times, as `if_tsresol` spells it: n for 10⁻ⁿ s, or 128 + n for 2⁻ⁿ s. @PCAPNG sec. 4.2
    pub tsresol: u8,
}

/// A packet of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured<'a> {
    /// Index into [`Capture::interfaces`].
    pub interface: usize,
    /// The time since the epoch. Parts below a nanosecond are cut off, and a time too late for a [`SimTime`] (2554) is
    /// its end.
    pub at: SimTime,
    /// Length on the wire, in bytes.
    pub original_len: u32,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
    /// The first comment.
    pub comment: Option<&'a [u8]>,
}

/// A whole capture.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture<'a> {
    /// The interfaces of all sections, in order.
    pub interfaces: Vec<InterfaceInfo<'a>>,
    /// The packets, in order.
    pub packets: Vec<Captured<'a>>,
}

/// The byte order of a section.
#[derive(Debug, Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn u16(self, cursor: &mut Cursor<'_>) -> Option<u16> {
        match self {
            Order::Little => cursor.le16(),
            Order::Big => cursor.be16(),
        }
    }

    fn u32(self, cursor: &mut Cursor<'_>) -> Option<u32> {
        match self {
            Order::Little => cursor.le32(),
            Order::Big => cursor.be32(),
        }
    }

    /// The options at the end of a block's body; ends at the end mark or at the first malformed one.
    fn options<'a>(self, mut cursor: Cursor<'a>) -> impl Iterator<Item = (u16, &'a [u8])> {
        core::iter::from_fn(move || {
            let code = self.u16(&mut cursor).filter(|code| *code != option::END)?;
            let len = usize::from(self.u16(&mut cursor)?);
            let value = cursor.take(len)?;
            cursor.take(len.next_multiple_of(4) - len)?;
            Some((code, value))
        })
    }

    fn option<'a>(self, cursor: Cursor<'a>, code: u16) -> Option<&'a [u8]> {
        self.options(cursor).find(|(found, _)| *found == code).map(|(_, value)| value)
    }
}

impl<'a> Capture<'a> {
    /// Reads a capture; blocks it does not know are skipped.
    pub fn read(bytes: &'a [u8]) -> Result<Capture<'a>, PcapngError> {
        let mut capture = Capture::default();
        let mut order = None;
        let mut section = 0; // index of the section's first interface
        let mut rest = Cursor(bytes);
        while rest.left() > 0 {
            let at = bytes.len() - rest.left();
            let malformed = |what| PcapngError::Malformed { at, what };
            // The section header reads the same in both orders, and holds the order of its own length.
            if rest.0.starts_with(&block::SECTION_HEADER.to_be_bytes()) {
                order = Some(section_order(rest).ok_or(malformed("section header"))?);
                section = capture.interfaces.len();
            }
            let order = order.ok_or(PcapngError::NotPcapng)?;
            let (kind, body) = next_block(order, &mut rest).ok_or(PcapngError::BlockLength { at })?;
            match kind {
                block::SECTION_HEADER => check_version(order, body).ok_or(malformed("section version"))?,
                block::INTERFACE_DESCRIPTION => {
                    capture.interfaces.push(interface(order, body).ok_or(malformed("interface description"))?);
                }
                block::ENHANCED_PACKET => {
                    let (id, packet) = packet(order, body).ok_or(malformed("enhanced packet"))?;
                    let interface = section.saturating_add(id as usize);
                    let info = capture.interfaces.get(interface).ok_or(PcapngError::NoInterface { at, id })?;
                    let at = SimTime::from_ns(nanoseconds(packet.at.ns(), info.tsresol));
                    capture.packets.push(Captured { interface, at, ..packet });
                }
                _ => {}
            }
        }
        if order.is_some() { Ok(capture) } else { Err(PcapngError::NotPcapng) }
    }
}

fn section_order(mut block: Cursor<'_>) -> Option<Order> {
    block.take(8)?;
    match block.be32()? {
        BYTE_ORDER_MAGIC => Some(Order::Big),
        magic if magic == BYTE_ORDER_MAGIC.swap_bytes() => Some(Order::Little),
        _ => None,
    }
}

/// Takes one block: its type and its body. @PCAPNG sec. 3.1
fn next_block<'a>(order: Order, rest: &mut Cursor<'a>) -> Option<(u32, Cursor<'a>)> {
    let kind = order.u32(rest)?;
    let total = order.u32(rest)?;
    if total % 4 != 0 {
        return None;
    }
    let body = rest.take(usize::try_from(total).ok()?.checked_sub(12)?)?;
    (order.u32(rest)? == total).then_some((kind, Cursor(body)))
}

fn check_version(order: Order, mut body: Cursor<'_>) -> Option<()> {
    body.take(4)?;
    let version = order.u16(&mut body)?;
    body.take(10)?; // minor version, section length
    (version == 1).then_some(())
}

fn interface<'a>(order: Order, mut body: Cursor<'a>) -> Option<InterfaceInfo<'a>> {
    let link_type = LinkType(order.u16(&mut body)?);
    body.take(6)?; // reserved, snap length
    let name = order.option(body, option::IF_NAME);
    let tsresol = order.option(body, option::IF_TSRESOL).and_then(|value| value.first().copied());
    Some(InterfaceInfo { link_type, name, tsresol: tsresol.unwrap_or(MICROSECONDS) })
}

/// The interface's number in its section, and the packet with its time still in ticks.
fn packet<'a>(order: Order, mut body: Cursor<'a>) -> Option<(u32, Captured<'a>)> {
    let id = order.u32(&mut body)?;
    let (high, low) = (order.u32(&mut body)?, order.u32(&mut body)?);
    let captured = usize::try_from(order.u32(&mut body)?).ok()?;
    let original_len = order.u32(&mut body)?;
    let bytes = body.take(captured)?;
    body.take(captured.checked_next_multiple_of(4)? - captured)?;
    let comment = order.option(body, option::COMMENT);
    let at = SimTime::from_ns(u64::from(high) << 32 | u64::from(low));
    Some((id, Captured { interface: 0, at, original_len, bytes, comment }))
}

/// Ticks of a resolution in nanoseconds. @PCAPNG sec. 4.2
fn nanoseconds(ticks: u64, tsresol: u8) -> u64 {
    let exponent = u32::from(tsresol & 0x7F);
    let scaled = u128::from(ticks) * 1_000_000_000; // below 2^94
    let ns = if tsresol & 0x80 != 0 {
        scaled >> exponent
    } else {
        10u128.checked_pow(exponent).map_or(0, |per_second| scaled / per_second)
    };
    u64::try_from(ns).unwrap_or(u64::MAX)
}
