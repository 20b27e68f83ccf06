//! Writing a capture.

use super::{BYTE_ORDER_MAGIC, LinkType, NANOSECONDS, block, option};
use std::io::{self, Write};
use units::SimTime;

/// An interface of a [`Writer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface(u32);

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
    /// Begins a capture: writes the section header. @PCAPNG sec. 4.1
    pub fn new(to: W) -> io::Result<Writer<W>> {
        let mut writer = Writer { to, interfaces: 0, body: Vec::new() };
        writer.body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        writer.body.extend(1u16.to_le_bytes()); // version 1.0
        writer.body.extend(0u16.to_le_bytes());
        writer.body.extend(u64::MAX.to_le_bytes()); // section length not given
        writer.option(option::SHB_USERAPPL, b"interlayer")?;
        writer.option(option::END, &[])?;
        writer.block(block::SECTION_HEADER)?;
        Ok(writer)
    }

    /// Adds an interface: its packets are of `link_type`, its times in nanoseconds. @PCAPNG sec. 4.2
    pub fn interface(&mut self, name: &str, link_type: LinkType) -> io::Result<Interface> {
        self.body.clear();
        self.body.extend(link_type.0.to_le_bytes());
        self.body.extend([0; 2]); // reserved
        self.body.extend([0; 4]); // no limit to a packet's length
        self.option(option::IF_NAME, name.as_bytes())?;
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

    /// Appends one option to the body. @PCAPNG sec. 3.5
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
