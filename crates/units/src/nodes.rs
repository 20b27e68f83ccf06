//! Nodes by the block: sets of 64 neighbouring nodes as the bits of a word.

use crate::NodeId;

/// Some of 64 neighbouring nodes. With a word for each block, one operation serves many nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nodes {
    /// The number of the block: nodes 0 … 63 are block 0.
    pub block: u32,
    /// A bit for each node, the lowest id lowest.
    pub bits: u64,
}

impl Nodes {
    /// The number of nodes in a block.
    pub const BLOCK: usize = 64;

    /// Blocks that so many nodes fill or begin.
    pub const fn blocks(nodes: usize) -> usize {
        nodes.div_ceil(Nodes::BLOCK)
    }

    /// The block as an index into a table of all of them.
    pub const fn index(self) -> usize {
        self.block as usize
    }

    /// True if `node` is one of them.
    pub fn contains(self, node: NodeId) -> bool {
        let one = Nodes::from(node);
        self.block == one.block && self.bits & one.bits != 0
    }

    /// True if there are none.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Others of the same block.
    #[must_use]
    pub const fn with_bits(self, bits: u64) -> Nodes {
        Nodes { block: self.block, bits }
    }
}

impl From<NodeId> for Nodes {
    fn from(node: NodeId) -> Nodes {
        Nodes { block: node.0 / Nodes::BLOCK as u32, bits: 1 << (node.0 % Nodes::BLOCK as u32) }
    }
}

/// The nodes, in order of id.
impl Iterator for Nodes {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        if self.bits == 0 {
            return None;
        }
        let lowest = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(NodeId(self.block * Nodes::BLOCK as u32 + lowest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_in_its_block_and_nodes_come_in_order() {
        let one = Nodes::from(NodeId(131));
        assert_eq!(one, Nodes { block: 2, bits: 0b1000 });
        let some = one.with_bits(1 << 63 | 0b1001);
        assert_eq!(some.collect::<Vec<_>>(), [128, 131, 191].map(NodeId));
        assert!(some.contains(NodeId(191)) && !some.contains(NodeId(63)) && !some.contains(NodeId(129)));
        assert!(!some.contains(NodeId::BROADCAST));
        assert_eq!([0, 1, 64, 65].map(Nodes::blocks), [0, 1, 1, 2]);
    }
}
