//! Inode numbers: which node, in which generation.
//!
//! Inode = generation << 53 | node id, ten bits and 53. An edit makes a new inode, so that the
//! kernel's pages of the old one stay what they were. Bit 63 is never set: some programs read inode
//! numbers as signed.

use fuser::INodeNo;
use musefs_core::vfs::{Generation, Node, NodeId};

const ID_MASK: u64 = (1 << NodeId::BITS) - 1;

/// The inode number of a node.
pub(crate) fn inode(node: Node) -> INodeNo {
    INodeNo((u64::from(node.generation.0) % Generation::COUNT) << NodeId::BITS | (node.id.0 & ID_MASK))
}

/// The inode number of a directory: directories have one generation only.
pub(crate) fn directory_inode(id: NodeId) -> INodeNo {
    inode(Node { id, generation: Generation(0) })
}

/// The node of an inode number.
pub(crate) fn node(inode: INodeNo) -> Node {
    let generation = (inode.0 >> NodeId::BITS) % Generation::COUNT;
    Node { id: NodeId(inode.0 & ID_MASK), generation: Generation(generation as u16) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inodes_and_nodes_are_the_same_thing() {
        for (id, generation, number) in [
            (1, 0, 1),
            (16, 0, 16),
            (16, 1, (1 << 53) + 16),
            (ID_MASK, 0, (1 << 53) - 1),
            (ID_MASK, 1023, i64::MAX as u64),
        ] {
            let it = Node { id: NodeId(id), generation: Generation(generation) };
            assert_eq!(inode(it).0, number);
            assert_eq!(node(INodeNo(number)), it);
        }
    }

    #[test]
    fn the_root_is_what_the_kernel_calls_root() {
        assert_eq!(directory_inode(NodeId::ROOT), INodeNo::ROOT);
    }
}
