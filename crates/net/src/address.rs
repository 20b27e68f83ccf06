//! Addresses: one private network holds all nodes, 10.1.0.1 the first. @RFC1918

use std::net::Ipv4Addr;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_node_and_a_foreign_one_to_none() {
        assert_eq!(address(NodeId(0)), Ipv4Addr::new(10, 1, 0, 1));
        assert_eq!(address(NodeId(255)), Ipv4Addr::new(10, 1, 1, 0));
        assert_eq!(node_of(address(NodeId(7)), 8), Some(NodeId(7)));
        assert_eq!(node_of(address(NodeId(8)), 8), None);
        assert_eq!(node_of(Ipv4Addr::new(10, 0, 255, 255), 8), None);
    }
}
