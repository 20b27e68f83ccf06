//! The messages of AODV as bytes. @RFC3561 sec. 5 and 9

use super::number::Number;
use std::net::Ipv4Addr;
use units::Dur;
use wire::Cursor;

/// Destinations in one RERR that this router writes: the message stays below 1500 B. Of others it reads up to 255.
pub const MOST_UNREACHABLE: usize = 100;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Asks for a route. @RFC3561 sec. 5.1
    Request(Request),
    /// Gives one. @RFC3561 sec. 5.2
    Reply(Reply),
    /// Takes some back. @RFC3561 sec. 5.3
    Error(Error),
    /// Acknowledges a reply. @RFC3561 sec. 5.4
    ReplyAck,
}

/// A route request (RREQ).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The G flag: a relay that answers tells the destination too.
    pub gratuitous: bool,
    /// The D flag: the destination alone may answer.
    pub destination_only: bool,
    /// Hops from the originator to the sender of this copy.
    pub hops: u8,
    /// Names the request together with its originator.
    pub id: u32,
    /// The destination that is sought.
    pub destination: Ipv4Addr,
    /// The last number known of it; `None` for the U flag.
    pub destination_number: Option<Number>,
    /// The node that seeks.
    pub originator: Ipv4Addr,
    /// Its own number.
    pub originator_number: Number,
}

/// A route reply (RREP); with a broadcast address and no hops, a Hello message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The A flag: its receiver shall acknowledge it.
    pub wants_ack: bool,
    /// Bits of the destination's prefix; 0 for a host.
    pub prefix: u8,
    /// Hops from the sender of this copy to the destination.
    pub hops: u8,
    /// The destination that is found.
    pub destination: Ipv4Addr,
    /// Its number.
    pub destination_number: Number,
    /// The node that sought it.
    pub originator: Ipv4Addr,
    /// The validity of the route, in ms.
    pub lifetime_ms: u32,
    /// The interval of Hello messages, in ms, if the message tells it. @RFC3561 sec. 9.1
    pub hello_interval_ms: Option<u32>,
}

/// A route error (RERR).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The N flag: the route was repaired and stays.
    pub no_delete: bool,
    /// Destinations that cannot be reached over the sender any more, and their numbers.
    pub unreachable: Vec<(Ipv4Addr, Number)>,
}

const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;
const REPLY_ACK: u8 = 4;
const HELLO_INTERVAL: u8 = 1;
/// Extensions of this type and above must be understood. @RFC3561 sec. 9
const MANDATORY: u8 = 128;

impl Message {
    /// The bytes of the message, behind the UDP header.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Message::Request(it) => {
                let unknown = it.destination_number.is_none();
                let flags = u8::from(it.gratuitous) << 5 | u8::from(it.destination_only) << 4 | u8::from(unknown) << 3;
                let number = it.destination_number.unwrap_or_default();
                [
                    [REQUEST, flags, 0, it.hops],
                    it.id.to_be_bytes(),
                    it.destination.octets(),
                    number.to_be_bytes(),
                    it.originator.octets(),
                    it.originator_number.to_be_bytes(),
                ]
                .concat()
            }
            Message::Reply(it) => {
                let mut bytes = [
                    [REPLY, u8::from(it.wants_ack) << 6, it.prefix & 31, it.hops],
                    it.destination.octets(),
                    it.destination_number.to_be_bytes(),
                    it.originator.octets(),
                    it.lifetime_ms.to_be_bytes(),
                ]
                .concat();
                if let Some(ms) = it.hello_interval_ms {
                    bytes.extend([HELLO_INTERVAL, 4]);
                    bytes.extend(ms.to_be_bytes());
                }
                bytes
            }
            Message::Error(it) => {
                let count = it.unreachable.len().min(usize::from(u8::MAX));
                let mut bytes = vec![ERROR, u8::from(it.no_delete) << 7, 0, count as u8];
                for (address, number) in &it.unreachable[..count] {
                    bytes.extend(address.octets());
                    bytes.extend(number.to_be_bytes());
                }
                bytes
            }
            Message::ReplyAck => vec![REPLY_ACK, 0],
        }
    }

    /// Reads a message; `None` if it is cut, of no known type, or has an extension that must be understood and is not. Reserved bits
    /// and what follows the last extension are passed over.
    pub fn read(bytes: &[u8]) -> Option<Message> {
        let mut rest = Cursor(bytes);
        let [kind, flags] = rest.array()?;
        match kind {
            REQUEST => {
                let [_, hops] = rest.array()?;
                let id = rest.be32()?;
                let destination = rest.ipv4()?;
                let sought = number(&mut rest)?;
                let (originator, originator_number) = (rest.ipv4()?, number(&mut rest)?);
                extensions(&mut rest)?;
                Some(Message::Request(Request {
                    gratuitous: flags >> 5 & 1 == 1,
                    destination_only: flags >> 4 & 1 == 1,
                    hops,
                    id,
                    destination,
                    destination_number: (flags >> 3 & 1 == 0).then_some(sought),
                    originator,
                    originator_number,
                }))
            }
            REPLY => {
                let [prefix, hops] = rest.array()?;
                let (destination, destination_number) = (rest.ipv4()?, number(&mut rest)?);
                let (originator, lifetime_ms) = (rest.ipv4()?, rest.be32()?);
                let hello_interval_ms = extensions(&mut rest)?;
                Some(Message::Reply(Reply {
                    wants_ack: flags >> 6 & 1 == 1,
                    prefix: prefix & 31,
                    hops,
                    destination,
                    destination_number,
                    originator,
                    lifetime_ms,
                    hello_interval_ms,
                }))
            }
            ERROR => {
                let [_, count] = rest.array()?;
                let one = |_| Some((rest.ipv4()?, number(&mut rest)?));
                let unreachable = (0..count).map(one).collect::<Option<Vec<_>>>()?;
                (count > 0).then_some(Message::Error(Error { no_delete: flags >> 7 == 1, unreachable }))
            }
            REPLY_ACK => Some(Message::ReplyAck),
            _ => None,
        }
    }
}

fn number(rest: &mut Cursor<'_>) -> Option<Number> {
    rest.be32().map(Number)
}

/// Reads extensions to the end. Returns the Hello interval, if one says it; `None` if one must be understood and is not, or is cut.
#[expect(clippy::option_option, reason = "an interval that is not told is no mistake")]
fn extensions(rest: &mut Cursor<'_>) -> Option<Option<u32>> {
    let mut interval = None;
    while rest.left() > 0 {
        let [kind, len] = rest.array()?;
        match (kind, rest.take(usize::from(len))?) {
            (HELLO_INTERVAL, [a, b, c, d]) => interval = Some(u32::from_be_bytes([*a, *b, *c, *d])),
            (MANDATORY.., _) => return None,
            _ => {}
        }
    }
    Some(interval)
}

/// A time in whole milliseconds, as messages carry it.
pub(super) fn ms(time: Dur) -> u32 {
    u32::try_from(time.ns() / 1_000_000).unwrap_or(u32::MAX)
}
