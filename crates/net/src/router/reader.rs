//! Numbers and addresses off the front of a message.

use std::net::Ipv4Addr;

/// The bytes that are not read yet. Each method is `None` where too few are left.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn half(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    pub(super) fn address(&mut self) -> Option<Ipv4Addr> {
        self.word().map(Ipv4Addr::from)
    }
}
