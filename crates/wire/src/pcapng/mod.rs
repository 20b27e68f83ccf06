//! Capture files: pcapng, version 1.0. @PCAPNG draft-ietf-opsawg-pcapng
//!
//! Writes section header, interface descriptions with nanosecond timestamps, name resolution and enhanced packet blocks
//! through any [`std::io::Write`]; reads the same of either byte order but for names, for tests. All other blocks and
//! options are skipped, `if_tsoffset` among them. Virtual time zero is written as the epoch, 1970-01-01.
//!
//! The crate `pcap-file` does not do: its stable 2.0.0 reads every timestamp as nanoseconds, whatever `if_tsresol` says;
//! 3.0.0-rc.3 does it right, but is a release candidate that needs Rust 1.93 (ours is 1.88), and rc1 brings syn 1, syn 2 and a
//! second thiserror to every build. For four blocks out of a dozen that is too much.

mod reader;
mod writer;

pub use reader::{Capture, Captured, InterfaceInfo, PcapngError};
pub use writer::{Description, Interface, Named, Writer};

/// The kind of header that an interface's packets begin with. @PCAPNG sec. 4.2, tcpdump.org/linktypes
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkType(pub u16);

impl LinkType {
    /// A raw IP packet: wired links.
    pub const RAW_IP: LinkType = LinkType(101);
    /// A radiotap header and an 802.11 frame.
    pub const RADIOTAP: LinkType = LinkType(127);
}

/// Block types. @PCAPNG sec. 4.1, 4.2, 4.3, 4.5
mod block {
    pub(super) const SECTION_HEADER: u32 = 0x0A0D_0D0A;
    pub(super) const INTERFACE_DESCRIPTION: u32 = 1;
    pub(super) const NAME_RESOLUTION: u32 = 4;
    pub(super) const ENHANCED_PACKET: u32 = 6;
}

/// Option codes. @PCAPNG sec. 3.5, 4.1, 4.2
mod option {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;
    pub(super) const IF_NAME: u16 = 2;
    pub(super) const IF_DESCRIPTION: u16 = 3;
    pub(super) const SHB_USERAPPL: u16 = 4;
    pub(super) const IF_IPV4_ADDR: u16 = 4;
    pub(super) const IF_MAC_ADDR: u16 = 6;
    pub(super) const IF_TSRESOL: u16 = 9;
}

/// Records of a name resolution block. @PCAPNG sec. 4.5
mod record {
    pub(super) const END: u16 = 0;
    pub(super) const IPV4: u16 = 1;
    pub(super) const EUI_48: u16 = 3;
}

/// The magic number that tells a section's byte order. @PCAPNG sec. 4.1
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
/// `if_tsresol` of nanoseconds: 10⁻⁹ s. @PCAPNG sec. 4.2
const NANOSECONDS: u8 = 9;
/// `if_tsresol` where none is given: 10⁻⁶ s. @PCAPNG sec. 4.2
const MICROSECONDS: u8 = 6;

#[cfg(test)]
mod tests;
