//! Reading from the front of a slice without a way to panic.

use std::net::Ipv4Addr;

/// The bytes that are still to be read.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next `n` bytes, or none if there are fewer; then nothing is consumed.
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[b]| b)
    }

    /// Two bytes, most significant first: the Internet's order.
    pub fn be16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four bytes, most significant first.
    pub fn be32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// An address of IPv4.
    pub fn ipv4(&mut self) -> Option<Ipv4Addr> {
        self.array::<4>().map(Ipv4Addr::from)
    }

    /// Two bytes, least significant first: 802.11's order.
    pub fn le16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes, least significant first.
    pub fn le32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes, least significant first.
    pub fn le64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The number of bytes left.
    pub fn left(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_beyond_the_end_consumes_nothing() {
        let mut cursor = Cursor(&[1, 2, 3]);
        assert_eq!(cursor.be16(), Some(0x0102));
        assert_eq!((cursor.le16(), cursor.take(2), cursor.left()), (None, None, 1));
        assert_eq!((cursor.u8(), cursor.u8()), (Some(3), None));
    }
}
