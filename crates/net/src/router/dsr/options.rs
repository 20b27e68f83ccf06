//! The DSR Options header as bytes. @RFC4728 sec. 6

use std::net::Ipv4Addr;
use wire::Cursor;

/// Addresses that a source route or a reply can list: an option has at most 255 bytes. @RFC4728 sec. 6.3, 6.7
pub const MOST_LISTED: usize = 63;
/// Addresses that a request can list: it has five bytes more before them. @RFC4728 sec. 6.2
pub const MOST_RECORDED: usize = 62;
/// Length of the part of the header that is always there.
const FIXED: usize = 4;

/// An option of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Asks for a route. @RFC4728 sec. 6.2
    Request(Request),
    /// Gives one. @RFC4728 sec. 6.3
    Reply(Reply),
    /// Tells of a link that is broken, or of an option that is not known. @RFC4728 sec. 6.4
    Error(Error),
    /// Asks the next hop for an acknowledgement. @RFC4728 sec. 6.5
    AckRequest(u16),
    /// Acknowledges. @RFC4728 sec. 6.6
    Ack(Ack),
    /// The way of a packet. @RFC4728 sec. 6.7
    Route(SourceRoute),
    /// One of another type, with its data. @RFC4728 sec. 6.1, 8.1.6
    Unknown(u8, Vec<u8>),
}

/// A route request (RREQ).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Names the request together with its initiator and its target.
    pub id: u16,
    /// The address that is sought.
    pub target: Ipv4Addr,
    /// The nodes that have passed it on, the first first.
    pub hops: Vec<Ipv4Addr>,
}

/// A route reply (RREP).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The L bit: the last hop is a way through another network.
    pub is_last_external: bool,
    /// The way from behind the initiator to the target, which is the last.
    pub hops: Vec<Ipv4Addr>,
}

/// A route error (RERR).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Times that the packet that failed had been salvaged.
    pub salvage: u8,
    /// The node that found the error.
    pub source: Ipv4Addr,
    /// The node that is to be told.
    pub destination: Ipv4Addr,
    /// The error.
    pub kind: ErrorKind,
}

/// The kind of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The next hop of `source` that it does not reach.
    Unreachable(Ipv4Addr),
    /// The type of an option that `source` does not know.
    NotSupported(u8),
    /// Another, with what it says.
    Other(u8, Vec<u8>),
}

/// An acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// That of the request.
    pub id: u16,
    /// The node that acknowledges.
    pub source: Ipv4Addr,
    /// The node that asked.
    pub destination: Ipv4Addr,
}

/// A source route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRoute {
    /// The F and L bits: first and last hop are ways through other networks.
    pub external: [bool; 2],
    /// Times that the packet was salvaged, 15 at most.
    pub salvage: u8,
    /// Nodes of the list that the packet has still to reach.
    pub left: u8,
    /// The nodes between source and destination. Of a salvaged packet the first is the one that salvaged it.
    pub hops: Vec<Ipv4Addr>,
}

impl SourceRoute {
    /// A new one over these nodes.
    pub fn over(hops: &[Ipv4Addr]) -> SourceRoute {
        SourceRoute { external: [false; 2], salvage: 0, left: hops.len() as u8, hops: hops.to_vec() }
    }

    /// The node that the packet goes to now; `None` for its destination.
    pub fn toward(&self) -> Option<Ipv4Addr> {
        self.hops.get(self.passed()).copied().filter(|_| self.left > 0)
    }

    /// The node of the list that sent it on last; `None` for its source.
    pub fn sender(&self) -> Option<Ipv4Addr> {
        self.passed().checked_sub(1).and_then(|at| self.hops.get(at).copied())
    }

    /// Nodes of the list that it has passed.
    pub fn passed(&self) -> usize {
        self.hops.len().saturating_sub(usize::from(self.left))
    }
}

const PAD_N: u8 = 0;
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;
const ACK: u8 = 32;
const ROUTE: u8 = 96;
const ACK_REQUEST: u8 = 160;
const PAD_1: u8 = 224;
const NODE_UNREACHABLE: u8 = 1;
const OPTION_NOT_SUPPORTED: u8 = 3;

/// The options of a header, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header(pub Vec<Choice>);

impl Header {
    /// The header's bytes. The first, the number of what follows, is left to [`wire::Packet::emit`]. Padded to four bytes.
    /// @RFC4728 sec. 6
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0; FIXED];
        self.0.iter().for_each(|option| option.write(&mut out));
        match out.len().next_multiple_of(4) - out.len() {
            0 => {}
            1 => out.push(PAD_1),
            more => {
                out.extend([PAD_N, more as u8 - 2]);
                out.resize(out.len() + more - 2, 0);
            }
        }
        let len = (out.len() - FIXED) as u16;
        out[2..FIXED].copy_from_slice(&len.to_be_bytes());
        out
    }

    /// Reads a header; `None` if it is cut, contradicts itself, has an option twice that may stand there once, or is one of flow state
    /// (@RFC4728 sec. 7), which is not known here. Padding is passed over.
    pub fn read(bytes: &[u8]) -> Option<Header> {
        let mut rest = Cursor(bytes);
        let [_, flags] = rest.array()?;
        if flags & 0x80 != 0 || usize::from(rest.be16()?) != rest.left() {
            return None;
        }
        let mut options = Vec::new();
        while let Some([kind]) = rest.array() {
            if kind == PAD_1 {
                continue;
            }
            let [len] = rest.array()?;
            let mut data = Cursor(rest.take(usize::from(len))?);
            if kind != PAD_N {
                options.push(Choice::read(kind, &mut data)?);
            }
        }
        let header = Header(options);
        let count = |is: fn(&Choice) -> bool| header.0.iter().filter(|option| is(option)).count();
        let is_single = count(|it| matches!(it, Choice::Request(_))) <= 1
            && count(|it| matches!(it, Choice::Route(_))) <= 1
            && count(|it| matches!(it, Choice::AckRequest(_))) <= 1;
        is_single.then_some(header)
    }

    /// Its request, if it has one.
    pub fn request(&self) -> Option<&Request> {
        self.0.iter().find_map(|option| if let Choice::Request(it) = option { Some(it) } else { None })
    }

    /// Its source route, if it has one.
    pub fn route(&self) -> Option<&SourceRoute> {
        self.0.iter().find_map(|option| if let Choice::Route(it) = option { Some(it) } else { None })
    }

    /// Its replies.
    pub fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.0.iter().filter_map(|option| if let Choice::Reply(it) = option { Some(it) } else { None })
    }

    /// Its errors.
    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.0.iter().filter_map(|option| if let Choice::Error(it) = option { Some(it) } else { None })
    }

    /// The same with this source route in place of its own.
    #[must_use]
    pub fn with_route(&self, route: SourceRoute) -> Header {
        let others = self.0.iter().filter(|option| !matches!(option, Choice::Route(_))).cloned();
        Header(std::iter::once(Choice::Route(route)).chain(others).collect())
    }
}

impl Choice {
    fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let list = |out: &mut Vec<u8>, hops: &[Ipv4Addr]| hops.iter().for_each(|hop| out.extend(hop.octets()));
        match self {
            Choice::Request(it) => {
                out.extend([REQUEST, 0]);
                out.extend(it.id.to_be_bytes());
                out.extend(it.target.octets());
                list(out, &it.hops);
            }
            Choice::Reply(it) => {
                out.extend([REPLY, 0, u8::from(it.is_last_external) << 7]);
                list(out, &it.hops);
            }
            Choice::Error(it) => {
                out.extend([ERROR, 0, it.kind.number(), it.salvage & 15]);
                out.extend(it.source.octets());
                out.extend(it.destination.octets());
                match &it.kind {
                    ErrorKind::Unreachable(node) => out.extend(node.octets()),
                    ErrorKind::NotSupported(option) => out.push(*option),
                    ErrorKind::Other(_, said) => out.extend(said),
                }
            }
            Choice::AckRequest(id) => {
                out.extend([ACK_REQUEST, 0]);
                out.extend(id.to_be_bytes());
            }
            Choice::Ack(it) => {
                out.extend([ACK, 0]);
                out.extend(it.id.to_be_bytes());
                out.extend(it.source.octets());
                out.extend(it.destination.octets());
            }
            Choice::Route(it) => {
                let [first, last] = it.external.map(u16::from);
                let word = first << 15 | last << 14 | u16::from(it.salvage & 15) << 6 | u16::from(it.left & 63);
                out.extend([ROUTE, 0]);
                out.extend(word.to_be_bytes());
                list(out, &it.hops);
            }
            Choice::Unknown(kind, data) => {
                out.extend([*kind, 0]);
                out.extend(data);
            }
        }
        debug_assert!(out.len() - start <= 257, "an option has 255 bytes of data at most");
        out[start + 1] = (out.len() - start - 2) as u8;
    }

    fn read(kind: u8, data: &mut Cursor<'_>) -> Option<Choice> {
        Some(match kind {
            REQUEST => Choice::Request(Request { id: data.be16()?, target: data.ipv4()?, hops: addresses(data)? }),
            REPLY => {
                let [flags] = data.array()?;
                let hops = addresses(data)?;
                (!hops.is_empty()).then_some(())?;
                Choice::Reply(Reply { is_last_external: flags >> 7 == 1, hops })
            }
            ERROR => {
                let [number, salvage] = data.array()?;
                let (source, destination) = (data.ipv4()?, data.ipv4()?);
                let kind = match number {
                    NODE_UNREACHABLE => ErrorKind::Unreachable(data.ipv4()?),
                    OPTION_NOT_SUPPORTED => ErrorKind::NotSupported(data.array::<1>()?[0]),
                    other => ErrorKind::Other(other, data.0.to_vec()),
                };
                Choice::Error(Error { salvage: salvage & 15, source, destination, kind })
            }
            ACK_REQUEST => Choice::AckRequest(data.be16()?),
            ACK => Choice::Ack(Ack { id: data.be16()?, source: data.ipv4()?, destination: data.ipv4()? }),
            ROUTE => {
                let word = data.be16()?;
                let hops = addresses(data)?;
                let (salvage, left) = ((word >> 6 & 15) as u8, (word & 63) as u8);
                let external = [word >> 15 == 1, word >> 14 & 1 == 1];
                // More are left than there are: an ICMP message in the RFC. @RFC4728 sec. 8.1.5
                (usize::from(left) <= hops.len()).then_some(())?;
                Choice::Route(SourceRoute { external, salvage, left, hops })
            }
            other => Choice::Unknown(other, data.0.to_vec()),
        })
    }
}

impl ErrorKind {
    fn number(&self) -> u8 {
        match self {
            ErrorKind::Unreachable(_) => NODE_UNREACHABLE,
            ErrorKind::NotSupported(_) => OPTION_NOT_SUPPORTED,
            ErrorKind::Other(number, _) => *number,
        }
    }
}

/// Addresses to the end.
fn addresses(data: &Cursor<'_>) -> Option<Vec<Ipv4Addr>> {
    let (all, rest) = data.0.as_chunks::<4>();
    rest.is_empty().then(|| all.iter().map(|octets| Ipv4Addr::from(*octets)).collect())
}
