//! Queues: one home for those of interfaces, access points and wired links.
//!
//! So far the drop-tail queue. What is queued is the caller's (`T`): an MSDU at an interface, a packet on a wire.

use std::collections::VecDeque;
use units::Bytes;

/// How much a queue holds at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many entries, whatever their size.
    Packets(u32),
    /// So many bytes in all.
    Bytes(Bytes),
}

/// What is left of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that still fit. For a limit in packets: as many full-sized packets (`mtu`) as still fit.
    pub free: Bytes,
    /// Bytes queued now.
    pub used: Bytes,
    /// Entries queued now.
    pub entries: u32,
}

/// First in, first out; what finds it full is refused.
#[derive(Debug)]
pub struct DropTail<T> {
    entries: VecDeque<(T, Bytes)>,
    bytes: Bytes,
    limit: Limit,
}

impl<T> DropTail<T> {
    /// An empty queue. Its memory for a limit in packets is taken at once.
    pub fn new(limit: Limit) -> DropTail<T> {
        let room = match limit {
            Limit::Packets(n) => n.min(4096) as usize,
            Limit::Bytes(_) => 64,
        };
        DropTail { entries: VecDeque::with_capacity(room), bytes: Bytes::ZERO, limit }
    }

    /// Appends an entry of `size`.
    ///
    /// # Errors
    /// Gives the entry back if it does not fit.
    pub fn push(&mut self, entry: T, size: Bytes) -> Result<(), T> {
        let fits = match self.limit {
            Limit::Packets(n) => self.entries.len() < n as usize,
            Limit::Bytes(most) => self.bytes + size <= most,
        };
        if !fits {
            return Err(entry);
        }
        self.bytes += size;
        self.entries.push_back((entry, size));
        Ok(())
    }

    /// Takes the oldest entry.
    pub fn pop(&mut self) -> Option<T> {
        let (entry, size) = self.entries.pop_front()?;
        self.bytes -= size;
        Some(entry)
    }

    /// Entries queued.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is queued.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is left, with `mtu` the size of a full packet.
    pub fn space(&self, mtu: Bytes) -> Space {
        let free = match self.limit {
            Limit::Packets(n) => mtu * u64::from(n).saturating_sub(self.entries.len() as u64),
            Limit::Bytes(most) => most.saturating_sub(self.bytes),
        };
        Space { free, used: self.bytes, entries: self.entries.len() as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_in_packets_counts_packets_and_one_in_bytes_counts_bytes() {
        let mut packets = DropTail::new(Limit::Packets(2));
        assert_eq!(packets.push('a', Bytes(1500)), Ok(()));
        assert_eq!(packets.push('b', Bytes(40)), Ok(()));
        assert_eq!(packets.push('c', Bytes(40)), Err('c'));
        let mut bytes = DropTail::new(Limit::Bytes(Bytes(1540)));
        assert_eq!(bytes.push('a', Bytes(1500)), Ok(()));
        assert_eq!(bytes.push('b', Bytes(41)), Err('b'));
        assert_eq!(bytes.push('c', Bytes(40)), Ok(()));
        assert_eq!(bytes.space(Bytes(1500)), Space { free: Bytes(0), used: Bytes(1540), entries: 2 });
    }

    #[test]
    fn entries_leave_in_the_order_they_came() {
        let mut queue = DropTail::new(Limit::Packets(3));
        for entry in 1..=3 {
            assert_eq!(queue.push(entry, Bytes(10)), Ok(()));
        }
        assert_eq!(queue.pop(), Some(1));
        assert_eq!(queue.space(Bytes(100)), Space { free: Bytes(100), used: Bytes(20), entries: 2 });
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(2), Some(3), None));
    }
}
