//! Writing a capture.

use super::{BYTE_ORDER_MAGIC, LinkType, NANOSECONDS, block, option, record};
use crate::dot11::MacAddr;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use units::SimTime;

/// An interface of a [`Writer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface(u32);

/// The description of an interface. @PCAPNG sec. 4.2
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description<'a> {
    /// Short, as an operating system calls it.
    pub name: &'a str,
    /// For people; empty: none is written.
    pub text: &'a str,
    /// The kind of header that its packets begin with.
    pub link_type: LinkType,
    /// Its address; the mask is written as /32.
    pub ipv4: Option<Ipv4Addr>,
    /// Its MAC address.
    pub mac: Option<MacAddr>,
}

impl<'a> Description<'a> {
    /// An interface of which no more is known.
    pub fn new(name: &'a str, link_type: LinkType) -> Description<'a> {
        Description { name, text: "", link_type, ipv4: None, mac: None }
    }
}

/// The name of a host and its addresses. @PCAPNG sec. 4.5
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named<'a> {
    /// Without a zero byte.
    pub name: &'a str,
    /// Its IPv4 address.
    pub ipv4: Ipv4Addr,
    /// The MAC address of its radio, if it has one.
    pub mac: Option<MacAddr>,
}

/// A capture file being written. Unbuffered: give it a [`io::BufWriter`] for a file.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    interfaces: u32,
    /// The body of the block at hand; kept, so that writing a packet allocates nothing.
    body: Vec<u8>,
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

impl<W: Write> Writer<W> {
    /// Begins a capture: writes the section header, with a comment if there is something to say. @PCAPNG sec. 4.1
    pub fn new(to: W, comment: Option<&str>) -> io::Result<Writer<W>> {
        let mut writer = Writer { to, interfaces: 0, body: Vec::new() };
        writer.body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        writer.body.extend(1u16.to_le_bytes()); // version 1.0
        writer.body.extend(0u16.to_le_bytes());
        writer.body.extend(u64::MAX.to_le_bytes()); // section length not given
        if let Some(comment) = comment {
            writer.option(option::COMMENT, comment.as_bytes())?;
        }
        writer.option(option::SHB_USERAPPL, b"interlayer")?;
        writer.option(option::END, &[])?;
        writer.block(block::SECTION_HEADER)?;
        Ok(writer)
    }

    /// Says what hosts are called. It stands before the first packet of theirs. Fails, with nothing written, for a name
    /// that holds a zero byte or is too long. @PCAPNG sec. 4.5
    pub fn names(&mut self, hosts: &[Named<'_>]) -> io::Result<()> {
        self.body.clear();
        for Named { name, ipv4, mac } in hosts {
            if name.contains('\0') {
                return Err(invalid("a name with a zero byte"));
            }
            let mut put = |code, address: &[u8]| self.option(code, &[address, name.as_bytes(), &[0]].concat());
            put(record::IPV4, &ipv4.octets())?;
            if let Some(mac) = mac {
                put(record::EUI_48, &mac.0)?;
            }
        }
        self.option(record::END, &[])?;
        self.block(block::NAME_RESOLUTION)
    }

    /// Adds an interface, whose times are in nanoseconds. @PCAPNG sec. 4.2
    pub fn interface(&mut self, interface: Description<'_>) -> io::Result<Interface> {
        let Description { name, text, link_type, ipv4, mac } = interface;
        self.body.clear();
        self.body.extend(link_type.0.to_le_bytes());
        self.body.extend([0; 2]); // reserved
        self.body.extend([0; 4]); // no limit to a packet's length
        self.option(option::IF_NAME, name.as_bytes())?;
        if !text.is_empty() {
            self.option(option::IF_DESCRIPTION, text.as_bytes())?;
        }
        if let Some(address) = ipv4 {
            self.option(option::IF_IPV4_ADDR, &[address.octets(), [0xFF; 4]].concat())?;
        }
        if let Some(mac) = mac {
            self.option(option::IF_MAC_ADDR, &mac.0)?;
        }
        self.option(option::IF_TSRESOL, &[NANOSECONDS])?;
        self.option(option::END, &[])?;
        self.block(block::INTERFACE_DESCRIPTION)?;
        self.interfaces += 1;
        Ok(Interface(self.interfaces - 1))
    }

    /// Writes one packet as it passed `interface` at `at`, with a comment if there is something to say. Fails, with
    /// nothing written, if the interface is another writer's or packet or comment exceed their length fields.
    /// @PCAPNG sec. 4.3
    pub fn packet(
        &mut self,
        interface: Interface,
        at: SimTime,
        bytes: &[u8],
        comment: Option<&str>,
    ) -> io::Result<()> {
        if interface.0 >= self.interfaces {
            return Err(invalid("this capture has no such interface"));
        }
        let len = u32::try_from(bytes.len()).map_err(|_| invalid("a packet of more than 2^32 - 1 bytes"))?;
        self.body.clear();
        self.body.extend(interface.0.to_le_bytes());
        self.body.extend(((at.ns() >> 32) as u32).to_le_bytes());
        self.body.extend((at.ns() as u32).to_le_bytes());
        self.body.extend(len.to_le_bytes()); // captured
        self.body.extend(len.to_le_bytes()); // original
        self.padded(bytes);
        if let Some(comment) = comment {
            self.option(option::COMMENT, comment.as_bytes())?;
            self.option(option::END, &[])?;
        }
        self.block(block::ENHANCED_PACKET)
    }

    /// Ends the capture: flushes, and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }

    /// Appends one option, or one record of names, to the body. @PCAPNG sec. 3.5, 4.5
    fn option(&mut self, code: u16, value: &[u8]) -> io::Result<()> {
        let len = u16::try_from(value.len()).map_err(|_| invalid("an option of more than 65535 bytes"))?;
        self.body.extend(code.to_le_bytes());
        self.body.extend(len.to_le_bytes());
        self.padded(value);
        Ok(())
    }

    /// Appends bytes and zeros up to a multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// Writes the body as a block. @PCAPNG sec. 3.1
    fn block(&mut self, kind: u32) -> io::Result<()> {
        let total =
            u32::try_from(self.body.len() + 12).map_err(|_| invalid("a block of more than 2^32 - 1 bytes"))?;
        self.to.write_all(&kind.to_le_bytes())?;
        self.to.write_all(&total.to_le_bytes())?;
        self.to.write_all(&self.body)?;
        self.to.write_all(&total.to_le_bytes())
    }
}
