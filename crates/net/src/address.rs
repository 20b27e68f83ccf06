//! Addresses: one private network holds all nodes, 10.1.0.1 the first (@RFC1918); prefixes stand for what lies behind nodes.
//!
//! A node has one address, whatever its interfaces: a host of the weak model (@RFC1122 sec. 3.3.4.2). So no flow's ends hang on
//! the way between them, which may change.

use crate::prefix::{Prefix, Table};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use units::NodeId;

const FIRST: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);

/// The address of a node.
pub fn address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(FIRST) + node.0)
}

/// The node of an address among `nodes`; `None` for one that is not ours.
pub fn node_of(address: Ipv4Addr, nodes: usize) -> Option<NodeId> {
    let index = u32::from(address).checked_sub(u32::from(FIRST))?;
    ((index as usize) < nodes).then_some(NodeId(index))
}

/// A unique local prefix (@RFC4193 sec. 3), drawn once for all networks of ours.
const FIRST6: Ipv6Addr = Ipv6Addr::new(0xfd5b, 0x1a7e, 0x4c0d, 0, 0, 0, 0, 1);

/// The IPv6 address of a node, in [`PREFIX6_LEN`] bits that all share. Packets of IPv6 cross the network unread.
pub fn address6(node: NodeId) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(FIRST6) + u128::from(node.0))
}

/// Length of the prefix of all addresses that [`address6`] gives.
pub const PREFIX6_LEN: u8 = 64;

/// The node of an IPv6 address among `nodes`; `None` for one that is not ours.
pub fn node_of6(address: Ipv6Addr, nodes: usize) -> Option<NodeId> {
    let index = u128::from(address).checked_sub(u128::from(FIRST6))?;
    (index < nodes as u128).then_some(NodeId(index as u32))
}

/// The addresses of a network: one of each node, and prefixes that some nodes stand for. A clone is cheap: all nodes share one.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    nodes: usize,
    behind: Arc<Table<NodeId>>,
}

impl Addresses {
    /// Those of so many nodes; packets for a prefix end at its node.
    pub fn new(nodes: usize, behind: impl IntoIterator<Item = (Prefix, NodeId)>) -> Addresses {
        let mut table = Table::default();
        behind.into_iter().for_each(|(prefix, node)| _ = table.insert(prefix, node));
        Addresses { nodes, behind: Arc::new(table) }
    }

    /// The node at which packets to an address end: its own, or that of its longest prefix. `None` if no prefix holds it.
    #[inline]
    pub fn node(&self, address: Ipv4Addr) -> Option<NodeId> {
        node_of(address, self.nodes).or_else(|| self.behind(address))
    }

    #[cold] // Packets inside the network have addresses of nodes.
    fn behind(&self, address: Ipv4Addr) -> Option<NodeId> {
        self.behind.find(address.into()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_node_is_the_longest_prefix_of_all() {
        let prefixes = [("0.0.0.0/0", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 0)];
        let behind = prefixes.map(|(prefix, node)| (prefix.parse().expect("a prefix"), NodeId(node)));
        let addresses = Addresses::new(3, behind);
        let found = [[10, 1, 0, 1], [10, 1, 0, 4], [192, 0, 2, 9], [203, 0, 113, 5]];
        assert_eq!(found.map(|it| addresses.node(it.into()).map(|node| node.0)), [0, 2, 0, 1].map(Some));
        assert_eq!(Addresses::new(3, []).node(Ipv4Addr::new(10, 1, 0, 4)), None);
    }

    #[test]
    fn an_address_leads_back_to_its_node_and_a_foreign_one_to_none() {
        assert_eq!(address(NodeId(0)), Ipv4Addr::new(10, 1, 0, 1));
        assert_eq!(address(NodeId(255)), Ipv4Addr::new(10, 1, 1, 0));
        assert_eq!(node_of(address(NodeId(7)), 8), Some(NodeId(7)));
        assert_eq!(node_of(address(NodeId(8)), 8), None);
        assert_eq!(node_of(Ipv4Addr::new(10, 0, 255, 255), 8), None);
        assert_eq!(address6(NodeId(1)).to_string(), "fd5b:1a7e:4c0d::2");
        assert_eq!(node_of6(address6(NodeId(7)), 8), Some(NodeId(7)));
        assert_eq!([address6(NodeId(8)), Ipv6Addr::LOCALHOST].map(|it| node_of6(it, 8)), [None; 2]);
    }
}
