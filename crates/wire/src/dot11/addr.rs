//! MAC addresses. @80211-2020 9.2.4.3

use crate::FrameError;
use crate::cursor::Cursor;
use core::fmt;
use units::{ChannelId, NodeId};

/// A MAC address, first byte first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// The broadcast address. @80211-2020 9.2.4.3.3
    pub const BROADCAST: MacAddr = MacAddr([0xFF; 6]);

    /// The address of a node: locally administered, `02:00:` and the number, so 02:00:00:00:hi:lo for the first 65536.
    /// [`NodeId::BROADCAST`] has the broadcast address. @80211-2020 9.2.4.3.2
    pub const fn of_node(node: NodeId) -> MacAddr {
        if node.0 == NodeId::BROADCAST.0 {
            return MacAddr::BROADCAST;
        }
        let [a, b, c, d] = node.0.to_be_bytes();
        MacAddr([0x02, 0, a, b, c, d])
    }

    /// The address of a node's interface on a channel: that of the node on the first, on another the channel's number in place of the
    /// second octet.
    pub const fn of_interface(node: NodeId, channel: ChannelId) -> MacAddr {
        let MacAddr([first, _, a, b, c, d]) = MacAddr::of_node(node);
        if node.0 == NodeId::BROADCAST.0 {
            return MacAddr::BROADCAST;
        }
        MacAddr([first, channel.0 as u8, a, b, c, d])
    }

    /// The node whose address this is; none for an address that [`MacAddr::of_node`] does not give.
    pub fn node(self) -> Option<NodeId> {
        let [_, _, a, b, c, d] = self.0;
        let node = NodeId(u32::from_be_bytes([a, b, c, d]));
        (MacAddr::of_node(node) == self).then_some(node)
    }

    /// The BSSID of the independent BSS with a number: locally administered, individual, and never a node's, since its
    /// first byte is 06. @80211-2020 9.2.4.3.4
    pub const fn ibss(number: u32) -> MacAddr {
        let [a, b, c, d] = number.to_be_bytes();
        MacAddr([0x06, 0, a, b, c, d])
    }

    /// True if it is a group address: the lowest bit of the first byte. @80211-2020 9.2.4.3.2
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<MacAddr, FrameError> {
        cursor.array().map(MacAddr).ok_or(FrameError::Truncated("an address"))
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_a_locally_administered_address_and_back() {
        assert_eq!(MacAddr::of_node(NodeId(0x0102)).to_string(), "02:00:00:00:01:02");
        for node in [NodeId(0), NodeId(65_536), NodeId::BROADCAST] {
            assert_eq!(MacAddr::of_node(node).node(), Some(node));
        }
        assert!(MacAddr::BROADCAST.is_group() && !MacAddr::of_node(NodeId(1)).is_group());
        assert_eq!(MacAddr::ibss(1).node(), None);
        assert_eq!(MacAddr([2, 0, 0xff, 0xff, 0xff, 0xff]).node(), None);
    }
}
