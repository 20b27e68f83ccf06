//! Windows as headers show them: what every scheme that reads or writes them needs to know of a connection's SYNs.

use wire::{Flags, Tcp};

/// The window scale of one receiver, learned from both SYNs. @RFC7323 sec. 2.2
#[derive(Debug, Clone, Copy, Default)]
pub struct Scale {
    receiver: Option<u8>,
    sender: Option<u8>,
}

impl Scale {
    /// The SYN (or SYN-ACK) of the side that receives the data: its windows are meant.
    pub fn saw_receivers_syn(&mut self, syn: &Tcp) {
        self.receiver = syn.options.window_scale();
    }

    /// The SYN (or SYN-ACK) of the side that sends the data.
    pub fn saw_senders_syn(&mut self, syn: &Tcp) {
        self.sender = syn.options.window_scale();
    }

    /// The shift in force: the receiver's own, if both sides offered one.
    fn shift(&self) -> u8 {
        self.sender.and(self.receiver).unwrap_or(0)
    }

    /// The window that a segment of the receiver means, in bytes. That of a SYN is never scaled.
    pub fn bytes(&self, tcp: &Tcp) -> u32 {
        let shift = if tcp.flags.has(Flags::SYN) { 0 } else { self.shift() };
        u32::from(tcp.window) << shift
    }

    /// The field that shows a window in a segment that is no SYN, rounded down.
    pub fn field(&self, bytes: u32) -> u16 {
        u16::try_from(bytes >> self.shift()).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receivers_shift_counts_only_if_both_sides_offered_one() {
        let mut syn = Tcp { window: 40_000, flags: Flags::SYN, ..Tcp::default() };
        syn.options.push_window_scale(3);
        let later = Tcp { window: 5_000, ..Tcp::default() };
        let mut scale = Scale::default();
        scale.saw_receivers_syn(&syn);
        assert_eq!(scale.bytes(&later), 5_000);
        scale.saw_senders_syn(&syn);
        assert_eq!((scale.bytes(&syn), scale.bytes(&later)), (40_000, 40_000));
        assert_eq!((scale.field(40_000), scale.field(40_007), scale.field(u32::MAX)), (5_000, 5_000, u16::MAX));
    }
}
